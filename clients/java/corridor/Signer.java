package corridor;

import java.io.ByteArrayOutputStream;
import java.net.http.HttpRequest;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.time.Instant;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Flow;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** Signs requests: each gets a JWT (HS256) that also covers its body. */
public final class Signer implements Consumer<HttpRequest.Builder> {
    private static final long TOKEN_LIFETIME_S = 60;

    private final String audience;
    private final String accessKey;
    private final byte[] key;
    private final List<String> roles;

    /** The key is the text of the secret key, not its base64-decoded bytes. */
    public Signer(String baseUrl, String accessKey, String secretKey, List<String> roles) {
        this.audience = baseUrl.replaceAll("/+$", "");
        this.accessKey = accessKey;
        this.key = secretKey.getBytes(StandardCharsets.UTF_8);
        this.roles = List.copyOf(roles);
    }

    /** Adds the token of a request that is complete otherwise. */
    @Override
    public void accept(HttpRequest.Builder request) {
        byte[] body = request.copy().build().bodyPublisher()
                .filter(publisher -> publisher.contentLength() != 0)
                .map(Signer::bytes)
                .orElse(null);
        request.setHeader("Authorization", "Bearer " + token(body));
    }

    /** The token of a request with this body; {@code null} means none. */
    public String token(byte[] body) {
        long now = Instant.now().getEpochSecond();
        // Without String.format, which writes numbers in the digits of the default locale.
        StringBuilder claims = new StringBuilder("{\"sub\":\"" + accessKey + "\",\"aud\":\"" + audience
                + "\",\"iss\":\"" + audience + "\",\"iat\":" + now + ",\"exp\":" + (now + TOKEN_LIFETIME_S));
        if (!roles.isEmpty()) {
            claims.append(roles.stream().collect(Collectors.joining("\",\"", ",\"roles\":[\"", "\"]")));
        }
        if (body != null) {
            claims.append(",\"hmac\":\"").append(hex(mac(body))).append('"');
        }
        claims.append('}');
        String header = "{\"alg\":\"HS256\",\"typ\":\"JWT\",\"kid\":\"" + accessKey + "\"}";
        String signed = base64Url(header.getBytes(StandardCharsets.UTF_8)) + "."
                + base64Url(claims.toString().getBytes(StandardCharsets.UTF_8));
        return signed + "." + base64Url(mac(signed.getBytes(StandardCharsets.UTF_8)));
    }

    private byte[] mac(byte[] data) {
        try {
            Mac mac = Mac.getInstance("HmacSHA256");
            mac.init(new SecretKeySpec(key, "HmacSHA256"));
            return mac.doFinal(data);
        } catch (GeneralSecurityException error) {
            throw new IllegalStateException("every JDK has HmacSHA256", error);
        }
    }

    private static byte[] bytes(HttpRequest.BodyPublisher publisher) {
        CompletableFuture<byte[]> collected = new CompletableFuture<>();
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        publisher.subscribe(new Flow.Subscriber<>() {
            @Override
            public void onSubscribe(Flow.Subscription subscription) {
                subscription.request(Long.MAX_VALUE);
            }

            @Override
            public void onNext(ByteBuffer part) {
                byte[] copy = new byte[part.remaining()];
                part.get(copy);
                bytes.writeBytes(copy);
            }

            @Override
            public void onError(Throwable error) {
                collected.completeExceptionally(error);
            }

            @Override
            public void onComplete() {
                collected.complete(bytes.toByteArray());
            }
        });
        return collected.join();
    }

    private static String base64Url(byte[] data) {
        return Base64.getUrlEncoder().withoutPadding().encodeToString(data);
    }

    private static String hex(byte[] data) {
        StringBuilder out = new StringBuilder();
        for (byte one : data) {
            out.append(Character.forDigit((one >> 4) & 0xf, 16)).append(Character.forDigit(one & 0xf, 16));
        }
        return out.toString();
    }
}
