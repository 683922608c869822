// A payment and a payment request through the packaged clients.
import corridor.Corridor;
import corridor.payment.api.EventsApi;
import corridor.payment.api.PaymentsApi;
import corridor.payment.api.QuotesApi;
import corridor.payment.model.*;
import corridor.payment.ApiException;
import corridor.wallet.api.PaymentRequestsApi;
import corridor.wallet.model.AmountDraft;
import corridor.wallet.model.Coin;
import corridor.wallet.model.CreatedPaymentRequest;
import corridor.wallet.model.CryptoAmount;
import corridor.wallet.model.PaymentRequestDraft;
import corridor.wallet.model.TriggeredBy;
import corridor.wallet.model.WalletUnblockedEvent;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.Collectors;

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

    static final UUID ID = UUID.fromString("0b9f6c1e-7f57-4a51-8f5d-2f6f0a4be0c3");

    /** A client of clients/answers.py. */
    static corridor.payment.ApiClient answers(String kind) {
        return Corridor.payments(env("ANSWERS_URL") + "/" + kind, "key", "secret");
    }

    /** Members, values and types of events that this version does not know. */
    static void laterVersions() throws Exception {
        PaymentRecord held = new PaymentsApi(answers("newer")).getPayment(ID.toString(), Country.PAK, null, null);
        check(held.getResponse().getStatus() == PaymentState.UNKNOWN_DEFAULT_OPEN_API, held);
        check(held.getOrder().getBeneficiaryName().equals("\u0639\u0627\u0626\u0634\u0629 \u062e\u0627\u0646"), held);
        EventPage page = new EventsApi(answers("newer")).followEvents("poll", "0", null, null, null, null);
        List<Event> events = page.getEvents();
        check(page.getNext().equals("4") && events.size() == 4, page);
        Quote quote = events.get(0).getData().getQuote();
        check(events.get(0).getType() == EventType.QUOTE_CREATED && quote.getRate().equals(new BigDecimal("75.7")), page);
        check(events.get(1).getType() == EventType.UNKNOWN_DEFAULT_OPEN_API, page);
        check(events.get(1).getData().getPaymentRecord().getId().equals(ID), page);
        check(events.get(2).getData().getActualInstance() == null, page);
        check(events.get(3).getType() == EventType.PAYMENT_PROCESSING, page);
        corridor.wallet.ApiClient wallets = Corridor.wallets(env("ANSWERS_URL") + "/newer", "key", "secret", List.of("auditor"));
        corridor.wallet.model.EventPage log = new corridor.wallet.api.EventsApi(wallets).listEvents("0", null, null);
        check(log.getNext().equals("4") && log.getEvents().get(1).getActualInstance() == null, log);
        List<TriggeredBy> by = log.getEvents().stream()
                .filter(event -> event.getActualInstance() != null)
                .map(event -> ((WalletUnblockedEvent) event.getActualInstance()).getData().getTriggeredBy())
                .collect(Collectors.toList());
        check(by.equals(List.of(TriggeredBy.UNKNOWN_DEFAULT_OPEN_API, TriggeredBy.AUTOMATIC, TriggeredBy.AUTOMATIC)), log);
    }

    interface Call {
        Object run() throws ApiException;
    }

    /** Whatever its body, an error has the status of the answer and comes at once: nothing goes to another host or is repeated. */
    static void refused(String kind, int status, Call call) {
        Instant begun = Instant.now();
        try {
            throw new IllegalStateException(kind + " is an error: " + call.run());
        } catch (ApiException error) {
            check(error.getCode() == status, error);
            check(error.getResponseHeaders().firstValue("x-request-id").orElse("").equals("r-1"), error);
        }
        check(Duration.between(begun, Instant.now()).compareTo(Duration.ofSeconds(5)) < 0, kind);
    }

    static void statuses() {
        QuoteRequest ask = new QuoteRequest().country(Country.PAK).currency(SourceCurrency.AED).amount(new BigDecimal("123.45"));
        refused("newer", 422, () -> new QuotesApi(answers("newer")).createQuote(ask, null, null));
        Map.of("limited", 429, "down", 503, "proxy", 502, "proxy503", 503, "redirect", 307).forEach((kind, status) -> {
            refused(kind, status, () -> new QuotesApi(answers(kind)).createQuote(ask, null, null));
            refused(kind, status, () -> new PaymentsApi(answers(kind)).getPayment(ID.toString(), Country.PAK, null, null));
        });
    }

    public static void main(String[] args) throws Exception {
        laterVersions();
        statuses();
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
