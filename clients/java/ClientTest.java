// A payment and a payment request through the packaged clients.
import corridor.Corridor;
import corridor.payment.api.EventsApi;
import corridor.payment.api.PaymentsApi;
import corridor.payment.api.QuotesApi;
import corridor.payment.model.*;
import corridor.wallet.api.PaymentRequestsApi;
import corridor.wallet.model.AmountDraft;
import corridor.wallet.model.Coin;
import corridor.wallet.model.CreatedPaymentRequest;
import corridor.wallet.model.CryptoAmount;
import corridor.wallet.model.PaymentRequestDraft;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.UUID;

public class ClientTest {
    static final Duration WAIT = Duration.ofSeconds(60);

    static String env(String name) {
        String value = System.getenv("CORRIDOR_" + name);
        if (value == null || value.isEmpty()) throw new IllegalStateException("CORRIDOR_" + name + " is not set");
        return value;
    }

    static void check(boolean holds, Object shown) {
        if (!holds) throw new IllegalStateException(String.valueOf(shown));
    }

    public static void main(String[] args) throws Exception {
        // With a slash at its end, as a user may write it.
        corridor.payment.ApiClient pay = Corridor.payments(env("BASE_URL") + "/", env("ACCESS_KEY"), env("SECRET_KEY"));
        Quote quote = new QuotesApi(pay).createQuote(
                new QuoteRequest().country(Country.PAK).currency(SourceCurrency.AED).amount(new BigDecimal("123.45")),
                null, null);
        PaymentOrderPAK order = new PaymentOrderPAK()
                .country(PaymentOrderPAK.CountryEnum.PAK)
                .currency(SourceCurrency.AED)
                .quote(quote.getId())
                // Exact, and not rounded.
                .amount(quote.getRate().multiply(quote.getAmount()))
                .bankName("Standard Chartered")
                .bankBranchCode("SCBLPKKX")
                .beneficiaryName("Asha Khan")
                .beneficiaryCity("Karachi")
                .beneficiaryAddress("1 Shahrah-e-Faisal")
                .beneficiaryAccountNumber("PK36SCBL0000001123456702")
                .senderName("Omar Siddiqui")
                .senderBirthdate(LocalDate.of(1988, 4, 12))
                .senderIdentityDocType(IdentityDocumentType.PASSPORT)
                .senderIdentityDoc("AB1234567")
                .senderCity("Dubai")
                .senderAddress("2 Al Wasl Road")
                .senderCountry("ARE")
                .senderRelation("brother");
        PaymentsApi payments = new PaymentsApi(pay);
        PaymentResponse accepted = payments.createPayment(new PaymentOrder(order), null, null);
        Instant deadline = Instant.now().plus(WAIT);
        PaymentState status;
        while ((status = payments.getPayment(accepted.getId().toString(), Country.PAK, null, null).getResponse().getStatus())
                != PaymentState.SUCCEEDED) {
            check(status == PaymentState.QUEUED || status == PaymentState.PROCESSING, status);
            check(Instant.now().isBefore(deadline), status);
            Thread.sleep(500);
        }
        // At midnight, Java writes `…T00:00Z`.
        OffsetDateTime since = OffsetDateTime.now(ZoneOffset.UTC).minusDays(1).truncatedTo(ChronoUnit.DAYS);
        List<PaymentRecord> listed = payments.listPayments(
                Country.PAK, null, null, null, since, null, List.of(PaymentState.SUCCEEDED), null, null, null);
        check(listed.stream().anyMatch(record -> record.getId().equals(accepted.getId())), listed);
        EventsApi events = new EventsApi(pay);
        EventPage page = events.followEvents("poll", "0", 1000, null, null, null);
        check(!page.getEvents().isEmpty(), page);
        events.followEvents("poll", page.getNext(), 1, null, null, null);

        corridor.wallet.ApiClient wallets = Corridor.wallets(env("WALLET_BASE_URL"), env("WALLET_ACCESS_KEY"),
                env("WALLET_SECRET_KEY"), List.of("wallet_manager"));
        UUID wallet = UUID.fromString(env("WALLET_ID"));
        CryptoAmount amount = new CryptoAmount().type(CryptoAmount.TypeEnum.CRYPTO).value("25.50").currency(Coin.USDC);
        PaymentRequestsApi requests = new PaymentRequestsApi(wallets);
        CreatedPaymentRequest made = requests.createPaymentRequest(
                new PaymentRequestDraft().walletId(wallet).amount(new AmountDraft(amount)).purpose("Rent"), null, null);
        check(requests.listPaymentRequests(wallet, null, null, null, null).getPaymentRequests().stream()
                .anyMatch(request -> request.getPaymentRequestId().equals(made.getPaymentRequestId())), made);
        System.out.println("payment " + accepted.getId() + " succeeded, payment request " + made.getPaymentRequestId()
                + " made");
    }
}
