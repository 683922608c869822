using System;
using System.Collections.Generic;
using System.Net.Http;

namespace Corridor;

/// <summary>
/// HTTP clients for the generated classes of both services: <c>new QuotesApi(Clients.Payments(…), new Configuration { BasePath = … })</c>.
/// </summary>
public static class Clients
{
    // A poll for events takes up to wait seconds: ask for 25 at most.
    private static readonly TimeSpan Timeout = TimeSpan.FromSeconds(45);

    public static HttpClient Payments(string baseUrl, string accessKey, string secretKey) =>
        Signed(baseUrl, accessKey, secretKey, Array.Empty<string>());

    public static HttpClient Wallets(string baseUrl, string accessKey, string secretKey, params string[] roles) =>
        Signed(baseUrl, accessKey, secretKey, roles);

    private static HttpClient Signed(string baseUrl, string accessKey, string secretKey, IReadOnlyList<string> roles) =>
        new(new Signer(baseUrl, accessKey, secretKey, roles)) { Timeout = Timeout };
}
