// A payment and a payment request through the packaged clients.
using Corridor;
using Corridor.Payments.Api;
using Corridor.Payments.Model;
using Corridor.Wallets.Api;
using Corridor.Wallets.Model;

string Env(string name) => Environment.GetEnvironmentVariable("CORRIDOR_" + name) is { Length: > 0 } value
    ? value
    : throw new InvalidOperationException($"CORRIDOR_{name} is not set");

void Check(bool holds, object shown)
{
    if (!holds) throw new InvalidOperationException($"{shown}");
}

// As in a program with windows: synchronous calls block the only thread that continuations may run on.
SynchronizationContext.SetSynchronizationContext(new BlockedThread());

var wait = TimeSpan.FromSeconds(60);
// With a slash at its end, as a user may write it.
var (pay, payService) = Clients.Payments(Env("BASE_URL") + "/", Env("ACCESS_KEY"), Env("SECRET_KEY"));
var payments = new PaymentsApi(pay, payService);
var quote = new QuotesApi(pay, payService).CreateQuote(new QuoteRequest(Country.PAK, SourceCurrency.AED, 123.45m));
var order = new PaymentOrderPAK(
    country: PaymentOrderPAK.CountryEnum.PAK,
    currency: SourceCurrency.AED,
    quote: quote.Id,
    // Exact, and not rounded.
    amount: quote.Rate * quote.Amount,
    bankName: "Standard Chartered",
    bankBranchCode: "SCBLPKKX",
    beneficiaryName: "Asha Khan",
    beneficiaryCity: "Karachi",
    beneficiaryAddress: "1 Shahrah-e-Faisal",
    beneficiaryAccountNumber: "PK36SCBL0000001123456702",
    beneficiaryAccountType: BankAccountType.Savings,
    senderName: "Omar Siddiqui",
    senderBirthdate: new DateOnly(1988, 4, 12),
    senderIdentityDocType: IdentityDocumentType.Passport,
    senderIdentityDoc: "AB1234567",
    senderCity: "Dubai",
    senderAddress: "2 Al Wasl Road",
    senderCountry: "ARE",
    senderRelation: "brother");
var accepted = payments.CreatePayment(new PaymentOrder(order));
var deadline = DateTime.UtcNow + wait;
PaymentState status;
while ((status = payments.GetPayment(accepted.Id.ToString(), Country.PAK).Response.Status) != PaymentState.Succeeded)
{
    Check(status is PaymentState.Queued or PaymentState.Processing && DateTime.UtcNow < deadline, status);
    Thread.Sleep(500);
}
var listed = payments.ListPayments(Country.PAK, startTs: DateTime.UtcNow.AddHours(-1), endTs: DateTime.MaxValue,
    status: [PaymentState.Succeeded]);
Check(listed.Any(record => record.Id == accepted.Id), listed);
var events = new Corridor.Payments.Api.EventsApi(pay, payService);
var page = events.FollowEvents(mode: "poll", after: "0", limit: 1000);
Check(page.Events.Count > 0, page);
events.FollowEvents(mode: "poll", after: page.Next, limit: 1);

var (wallets, walletService) = Clients.Wallets(
    Env("WALLET_BASE_URL"), Env("WALLET_ACCESS_KEY"), Env("WALLET_SECRET_KEY"), "wallet_manager");
var requests = new PaymentRequestsApi(wallets, walletService);
var wallet = Guid.Parse(Env("WALLET_ID"));
var amount = new AmountDraft(new CryptoAmount(CryptoAmount.TypeEnum.Crypto, "25.50", Coin.USDC));
var made = requests.CreatePaymentRequest(new PaymentRequestDraft(wallet, amount, "Rent"));
Check(requests.ListPaymentRequests(wallet).PaymentRequests.Any(it => it.PaymentRequestId == made.PaymentRequestId), made);
Console.WriteLine($"payment {accepted.Id} succeeded, payment request {made.PaymentRequestId} made");

class BlockedThread : SynchronizationContext
{
    public override void Post(SendOrPostCallback next, object? state) =>
        throw new InvalidOperationException("a synchronous call waits for the thread that it blocks");
}
