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

const string id = "0b9f6c1e-7f57-4a51-8f5d-2f6f0a4be0c3";

// A client of clients/answers.py.
(HttpClient Http, Corridor.Payments.Client.Configuration Service) Answers(string kind) =>
    Clients.Payments(Env("ANSWERS_URL") + "/" + kind, "key", "secret");

// Whatever its body, an error has the status of the answer: nothing goes to another host or is repeated.
int Refused(Action call)
{
    try
    {
        call();
    }
    catch (Corridor.Payments.Client.ApiException error)
    {
        return error.ErrorCode;
    }
    catch (HttpRequestException error) when (error.StatusCode != null)
    {
        return (int)error.StatusCode.Value;
    }
    return 0;
}

// Members, values and types of events that this version does not know.
var (newer, newerService) = Answers("newer");
var held = new PaymentsApi(newer, newerService).GetPayment(id, Country.PAK);
Check(held.Response.Status == 0 && held.Order.BeneficiaryName == "عائشة خان", held);
var read = new Corridor.Payments.Api.EventsApi(newer, newerService).FollowEvents(mode: "poll", after: "0");
Check(read.Next == "4" && read.Events.Count == 4, read);
Check(read.Events[0].Data.GetQuote().Rate == 75.7m && read.Events[1].Type == 0 && read.Events[2].Data == null, read);
Check(read.Events[1].Data.GetPaymentRecord().Id == Guid.Parse(id), read);
var (newerWallets, newerWalletService) = Clients.Wallets(Env("ANSWERS_URL") + "/newer", "key", "secret", "auditor");
var log = new Corridor.Wallets.Api.EventsApi(newerWallets, newerWalletService).ListEvents(after: "0");
Check(log.Next == "4" && log.Events.Count == 4 && log.Events[1] == null, log);
Check(log.Events[0].GetWalletUnblockedEvent().Data.TriggeredBy == 0, log);
Check(log.Events[3].GetWalletUnblockedEvent().Data.TriggeredBy == TriggeredBy.AUTOMATIC, log);
var statuses = new Dictionary<string, int>
{
    ["newer"] = 422, ["limited"] = 429, ["down"] = 503, ["proxy"] = 502, ["proxy503"] = 503, ["redirect"] = 307,
};
foreach (var (kind, expected) in statuses)
{
    var (http, service) = Answers(kind);
    var ask = new QuoteRequest(Country.PAK, SourceCurrency.AED, 123.45m);
    Check(Refused(() => new QuotesApi(http, service).CreateQuote(ask)) == expected, kind);
    if (kind != "newer") Check(Refused(() => new PaymentsApi(http, service).GetPayment(id, Country.PAK)) == expected, kind);
}

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
