#nullable enable

using System;
using System.Collections.Generic;
using System.Net.Http;

namespace Corridor;

/// <summary>
/// What the generated classes of both services need: an HTTP client that signs requests, and the URL in a configuration.
/// <code>
/// var (http, service) = Clients.Payments("http://127.0.0.1:8480", accessKey, secretKey);
/// var quotes = new QuotesApi(http, service);
/// </code>
/// </summary>
public static class Clients
{
    // A poll for events takes up to wait seconds: ask for 25 at most.
    private static readonly TimeSpan Timeout = TimeSpan.FromSeconds(45);

    /// <summary>For the classes of <c>Corridor.Payments.Api</c>.</summary>
    public static (HttpClient Http, Corridor.Payments.Client.Configuration Service) Payments(
        string baseUrl, string accessKey, string secretKey)
    {
        string url = baseUrl.TrimEnd('/');
        return (Signed(url, accessKey, secretKey, Array.Empty<string>()), new() { BasePath = url });
    }

    /// <summary>For the classes of <c>Corridor.Wallets.Api</c>.</summary>
    public static (HttpClient Http, Corridor.Wallets.Client.Configuration Service) Wallets(
        string baseUrl, string accessKey, string secretKey, params string[] roles)
    {
        string url = baseUrl.TrimEnd('/');
        return (Signed(url, accessKey, secretKey, roles), new() { BasePath = url });
    }

    private static HttpClient Signed(string url, string accessKey, string secretKey, IReadOnlyList<string> roles) =>
        new(new Signer(url, accessKey, secretKey, roles)) { Timeout = Timeout };
}
