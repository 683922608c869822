// Verifies a webhook:
// java Verify.java <webhook-id> <webhook-timestamp> <webhook-signature> [now] < raw body
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.time.Instant;
import java.util.Base64;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

public class Verify {
    static final long TOLERANCE_S = 300;

    static boolean genuine(String[] secrets, String id, String sent, String signatures, byte[] body, long now)
            throws Exception {
        if (!sent.matches("[0-9]{1,15}") || Math.abs(now - Long.parseLong(sent)) > TOLERANCE_S) return false;
        boolean found = false;
        for (String secret : secrets) {
            String encoded = secret.startsWith("whsec_") ? secret.substring("whsec_".length()) : secret;
            Mac mac = Mac.getInstance("HmacSHA256");
            mac.init(new SecretKeySpec(Base64.getDecoder().decode(encoded), "HmacSHA256"));
            mac.update((id + "." + sent + ".").getBytes(StandardCharsets.UTF_8));
            String expected = "v1," + Base64.getEncoder().encodeToString(mac.doFinal(body));
            for (String given : signatures.split(" ")) {
                // Compares in constant time.
                found |= MessageDigest.isEqual(
                        given.getBytes(StandardCharsets.UTF_8), expected.getBytes(StandardCharsets.UTF_8));
            }
        }
        return found;
    }

    public static void main(String[] args) throws Exception {
        // One secret, or two separated by a space during a rotation.
        String[] secrets = System.getenv("CORRIDOR_WEBHOOK_SECRET").trim().split(" +");
        long now = args.length > 3 ? Long.parseLong(args[3]) : Instant.now().getEpochSecond();
        boolean verdict = genuine(secrets, args[0], args[1], args[2], System.in.readAllBytes(), now);
        System.out.println(verdict ? "genuine" : "forged");
        System.exit(verdict ? 0 : 1);
    }
}
