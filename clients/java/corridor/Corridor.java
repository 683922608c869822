package corridor;

import java.time.Duration;
import java.util.List;

/**
 * Clients of both services whose requests are signed, for the classes of {@code corridor.payment.api} and
 * {@code corridor.wallet.api}.
 *
 * <pre>{@code
 * QuotesApi quotes = new QuotesApi(Corridor.payments("http://127.0.0.1:8480", accessKey, secretKey));
 * }</pre>
 */
public final class Corridor {
    /** A poll for events takes up to {@code wait} seconds: ask for 25 at most. */
    private static final Duration TIMEOUT = Duration.ofSeconds(45);

    private Corridor() {}

    public static corridor.payment.ApiClient payments(String baseUrl, String accessKey, String secretKey) {
        corridor.payment.ApiClient client = new corridor.payment.ApiClient();
        client.updateBaseUri(baseUrl.replaceAll("/+$", ""));
        client.setReadTimeout(TIMEOUT);
        client.setRequestInterceptor(new Signer(baseUrl, accessKey, secretKey, List.of()));
        return client;
    }

    public static corridor.wallet.ApiClient wallets(
            String baseUrl, String accessKey, String secretKey, List<String> roles) {
        corridor.wallet.ApiClient client = new corridor.wallet.ApiClient();
        client.updateBaseUri(baseUrl.replaceAll("/+$", ""));
        client.setReadTimeout(TIMEOUT);
        client.setRequestInterceptor(new Signer(baseUrl, accessKey, secretKey, roles));
        return client;
    }
}
