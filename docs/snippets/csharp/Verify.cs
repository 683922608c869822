// Verifies a webhook (.NET 10: `dotnet run Verify.cs -- …`; before: the Program.cs of a console project):
// Verify <webhook-id> <webhook-timestamp> <webhook-signature> [now] < raw body
using System;
using System.Globalization;
using System.IO;
using System.Security.Cryptography;
using System.Text;

internal static class Verify
{
    private const long ToleranceSeconds = 300;

    private static bool Genuine(string[] secrets, string id, string sent, string signatures, byte[] body, long now)
    {
        if (!long.TryParse(sent, NumberStyles.None, CultureInfo.InvariantCulture, out long at)
            || at > now + ToleranceSeconds || at < now - ToleranceSeconds)
        {
            return false;
        }
        byte[] head = Encoding.UTF8.GetBytes(id + "." + sent + ".");
        byte[] signed = new byte[head.Length + body.Length];
        head.CopyTo(signed, 0);
        body.CopyTo(signed, head.Length);
        bool found = false;
        foreach (string secret in secrets)
        {
            string encoded = secret.StartsWith("whsec_", StringComparison.Ordinal) ? secret["whsec_".Length..] : secret;
            byte[] mac = HMACSHA256.HashData(Convert.FromBase64String(encoded), signed);
            byte[] expected = Encoding.UTF8.GetBytes("v1," + Convert.ToBase64String(mac));
            foreach (string given in signatures.Split(' '))
            {
                found |= CryptographicOperations.FixedTimeEquals(Encoding.UTF8.GetBytes(given), expected);
            }
        }
        return found;
    }

    private static int Main(string[] args)
    {
        // One secret, or two separated by a space during a rotation.
        string[] secrets = (Environment.GetEnvironmentVariable("CORRIDOR_WEBHOOK_SECRET") ?? "")
            .Split(' ', StringSplitOptions.RemoveEmptyEntries);
        long now = args.Length > 3
            ? long.Parse(args[3], CultureInfo.InvariantCulture)
            : DateTimeOffset.UtcNow.ToUnixTimeSeconds();
        using var body = new MemoryStream();
        using (Stream input = Console.OpenStandardInput())
        {
            input.CopyTo(body);
        }
        bool verdict = Genuine(secrets, args[0], args[1], args[2], body.ToArray(), now);
        Console.WriteLine(verdict ? "genuine" : "forged");
        return verdict ? 0 : 1;
    }
}
