// Signs one call to each service and sends it using only the JDK (11 or later): `java Sign.java`.
// The keys come from the environment.
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

public class Sign {
    static String env(String name) {
        String value = System.getenv("CORRIDOR_" + name);
        if (value == null || value.isEmpty()) throw new IllegalStateException("CORRIDOR_" + name + " is not set");
        return value;
    }

    /** The key is the text of the secret key, not its base64-decoded bytes. */
    static byte[] mac(String secretKey, String text) throws Exception {
        Mac mac = Mac.getInstance("HmacSHA256");
        mac.init(new SecretKeySpec(secretKey.getBytes(StandardCharsets.UTF_8), "HmacSHA256"));
        return mac.doFinal(text.getBytes(StandardCharsets.UTF_8));
    }

    static String b64url(byte[] data) {
        return Base64.getUrlEncoder().withoutPadding().encodeToString(data);
    }

    static String hex(byte[] data) {
        StringBuilder out = new StringBuilder();
        for (byte one : data) out.append(Character.forDigit((one >> 4) & 0xf, 16)).append(Character.forDigit(one & 0xf, 16));
        return out.toString();
    }

    /** `more`: further claims as JSON, each with a comma in front. */
    static String token(String accessKey, String secretKey, String apiUrl, String more) throws Exception {
        long now = Instant.now().getEpochSecond();
        String header = "{\"alg\":\"HS256\",\"typ\":\"JWT\",\"kid\":\"" + accessKey + "\"}";
        // Without String.format, which writes numbers in the digits of the default locale.
        String claims = "{\"sub\":\"" + accessKey + "\",\"aud\":\"" + apiUrl + "\",\"iss\":\"" + apiUrl
                + "\",\"iat\":" + now + ",\"exp\":" + (now + 60) + more + "}";
        String signed = b64url(header.getBytes(StandardCharsets.UTF_8)) + "." + b64url(claims.getBytes(StandardCharsets.UTF_8));
        return signed + "." + b64url(mac(secretKey, signed));
    }

    static final HttpClient CLIENT = HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(10)).build();

    static String send(HttpRequest.Builder request, String bearer) throws Exception {
        HttpRequest sent = request.timeout(Duration.ofSeconds(30))
                .header("authorization", "Bearer " + bearer).header("content-type", "application/json").build();
        HttpResponse<String> answer = CLIENT.send(sent, HttpResponse.BodyHandlers.ofString());
        if (answer.statusCode() / 100 != 2) throw new IllegalStateException(answer.statusCode() + " " + answer.body());
        return answer.body();
    }

    public static void main(String[] args) throws Exception {
        // POST: the claim `hmac` covers exactly the bytes that are sent.
        String body = "{\"country\":\"PAK\",\"currency\":\"AED\",\"amount\":500}";
        String attested = ",\"hmac\":\"" + hex(mac(env("SECRET_KEY"), body)) + "\"";
        String bearer = token(env("ACCESS_KEY"), env("SECRET_KEY"), env("BASE_URL"), attested);
        HttpRequest.Builder quote = HttpRequest.newBuilder(URI.create(env("BASE_URL") + "/v2/quote"))
                .POST(HttpRequest.BodyPublishers.ofString(body));
        System.out.println(send(quote, bearer));

        // GET: no body, no hmac. Wallet tokens carry roles.
        String wallets = env("WALLET_BASE_URL");
        bearer = token(env("WALLET_ACCESS_KEY"), env("WALLET_SECRET_KEY"), wallets, ",\"roles\":[\"wallet_manager\"]");
        URI wallet = URI.create(wallets + "/v1/sdk/wallets/" + env("WALLET_ID"));
        System.out.println(send(HttpRequest.newBuilder(wallet).GET(), bearer));
    }
}
