// Signs one call to each service and sends it using only .NET. `dotnet run Sign.cs` (.NET 10), or the Program.cs of a console
// project (.NET 8 or later). The keys come from the environment.
using System;
using System.Globalization;
using System.Net.Http;
using System.Security.Cryptography;
using System.Text;
using System.Threading.Tasks;

internal static class Sign
{
    private static readonly HttpClient Client = new() { Timeout = TimeSpan.FromSeconds(30) };

    private static string Env(string name) =>
        Environment.GetEnvironmentVariable("CORRIDOR_" + name)
        ?? throw new InvalidOperationException($"CORRIDOR_{name} is not set");

    // The key is the text of the secret key, not its base64-decoded bytes.
    private static byte[] Mac(string secretKey, string text) =>
        HMACSHA256.HashData(Encoding.UTF8.GetBytes(secretKey), Encoding.UTF8.GetBytes(text));

    private static string Base64Url(byte[] data) =>
        Convert.ToBase64String(data).TrimEnd('=').Replace('+', '-').Replace('/', '_');

    // more: further claims as JSON, each with a leading comma.
    private static string Token(string accessKey, string secretKey, string apiUrl, string more)
    {
        long now = DateTimeOffset.UtcNow.ToUnixTimeSeconds();
        string iat = now.ToString(CultureInfo.InvariantCulture);
        string exp = (now + 60).ToString(CultureInfo.InvariantCulture);
        string header = "{\"alg\":\"HS256\",\"typ\":\"JWT\",\"kid\":\"" + accessKey + "\"}";
        string claims = "{\"sub\":\"" + accessKey + "\",\"aud\":\"" + apiUrl + "\",\"iss\":\"" + apiUrl
            + "\",\"iat\":" + iat + ",\"exp\":" + exp + more + "}";
        string signed = Base64Url(Encoding.UTF8.GetBytes(header)) + "." + Base64Url(Encoding.UTF8.GetBytes(claims));
        return signed + "." + Base64Url(Mac(secretKey, signed));
    }

    private static async Task<string> Send(HttpMethod method, string url, string bearer, string? body)
    {
        using var request = new HttpRequestMessage(method, url);
        request.Headers.TryAddWithoutValidation("authorization", "Bearer " + bearer);
        if (body != null)
        {
            request.Content = new StringContent(body, Encoding.UTF8, "application/json");
        }
        using HttpResponseMessage answer = await Client.SendAsync(request);
        string text = await answer.Content.ReadAsStringAsync();
        if (!answer.IsSuccessStatusCode)
        {
            throw new InvalidOperationException($"{(int)answer.StatusCode} {text}");
        }
        return text;
    }

    private static async Task Main()
    {
        // POST: the claim `hmac` covers exactly the bytes that are sent.
        string body = "{\"country\":\"PAK\",\"currency\":\"AED\",\"amount\":500}";
        string hmac = Convert.ToHexString(Mac(Env("SECRET_KEY"), body)).ToLowerInvariant();
        string bearer = Token(Env("ACCESS_KEY"), Env("SECRET_KEY"), Env("BASE_URL"), ",\"hmac\":\"" + hmac + "\"");
        Console.WriteLine(await Send(HttpMethod.Post, Env("BASE_URL") + "/v2/quote", bearer, body));

        // GET: no body, no hmac. Wallet tokens carry roles.
        string wallets = Env("WALLET_BASE_URL");
        bearer = Token(Env("WALLET_ACCESS_KEY"), Env("WALLET_SECRET_KEY"), wallets, ",\"roles\":[\"wallet_manager\"]");
        Console.WriteLine(await Send(HttpMethod.Get, wallets + "/v1/sdk/wallets/" + Env("WALLET_ID"), bearer, null));
    }
}
