#nullable enable

using System;
using System.Collections.Generic;
using System.Net.Http;
using System.Net.Http.Headers;
using System.Security.Cryptography;
using System.Text;
using System.Text.Json;
using System.Threading;
using System.Threading.Tasks;

namespace Corridor;

/// <summary>Signs requests: each gets a JWT (HS256) that also covers its body.</summary>
public sealed class Signer : DelegatingHandler
{
    private const int TokenLifetimeS = 60;

    private readonly string audience;
    private readonly string accessKey;
    private readonly byte[] key;
    private readonly IReadOnlyList<string> roles;

    /// <summary>The key is the text of <c>secretKey</c>, not its base64-decoded bytes.</summary>
    public Signer(string baseUrl, string accessKey, string secretKey, IReadOnlyList<string> roles)
        : base(new HttpClientHandler { AllowAutoRedirect = false })
    {
        audience = baseUrl.TrimEnd('/');
        this.accessKey = accessKey;
        key = Encoding.UTF8.GetBytes(secretKey);
        this.roles = roles;
    }

    /// <summary>The token of a request with this body; null means none.</summary>
    public string Token(byte[]? body)
    {
        long now = DateTimeOffset.UtcNow.ToUnixTimeSeconds();
        var header = new Dictionary<string, object> { ["alg"] = "HS256", ["typ"] = "JWT", ["kid"] = accessKey };
        var claims = new Dictionary<string, object>
        {
            ["sub"] = accessKey,
            ["aud"] = audience,
            ["iss"] = audience,
            ["iat"] = now,
            ["exp"] = now + TokenLifetimeS,
        };
        if (roles.Count > 0)
        {
            claims["roles"] = roles;
        }
        if (body != null)
        {
            claims["hmac"] = Convert.ToHexString(HMACSHA256.HashData(key, body)).ToLowerInvariant();
        }
        string signed = Base64Url(JsonSerializer.SerializeToUtf8Bytes(header)) + "."
            + Base64Url(JsonSerializer.SerializeToUtf8Bytes(claims));
        return signed + "." + Base64Url(HMACSHA256.HashData(key, Encoding.UTF8.GetBytes(signed)));
    }

    /// <inheritdoc/>
    // The generated synchronous methods block their thread until this ends: it must not continue there.
    protected override async Task<HttpResponseMessage> SendAsync(HttpRequestMessage request, CancellationToken cancel)
    {
        byte[]? body = request.Content == null
            ? null
            : await request.Content.ReadAsByteArrayAsync(cancel).ConfigureAwait(false);
        request.Headers.Authorization = new AuthenticationHeaderValue("Bearer", Token(body));
        HttpResponseMessage response = await base.SendAsync(request, cancel).ConfigureAwait(false);
        // The generated code takes an answer below 400 for a success.
        if ((int)response.StatusCode is >= 300 and < 400)
        {
            string to = $"HTTP {(int)response.StatusCode}: redirects are not followed, here to {response.Headers.Location}";
            response.Dispose();
            throw new HttpRequestException(to, null, response.StatusCode);
        }
        return response;
    }

    private static string Base64Url(byte[] data) =>
        Convert.ToBase64String(data).TrimEnd('=').Replace('+', '-').Replace('/', '_');
}
