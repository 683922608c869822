// A payment and a payment request through the packaged clients.
package main

import (
	"context"
	"fmt"
	"os"
	"time"

	corridor "corridor.example/client"
	"corridor.example/client/payment"
	"corridor.example/client/wallet"
)

const wait = 60 * time.Second

func env(name string) string {
	value := os.Getenv("CORRIDOR_" + name)
	if value == "" {
		panic("CORRIDOR_" + name + " is not set")
	}
	return value
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func check(holds bool, shown any) {
	if !holds {
		panic(fmt.Sprint(shown))
	}
}

const id = "0b9f6c1e-7f57-4a51-8f5d-2f6f0a4be0c3"

// answers is a client of clients/answers.py.
func answers(kind string) *payment.APIClient {
	return corridor.Payments(env("ANSWERS_URL")+"/"+kind, "key", "secret")
}

// laterVersions reads further members, and values and events of types that this version does not know.
func laterVersions(ctx context.Context) {
	pay := answers("newer")
	accepted, _, err := pay.PaymentsAPI.CreatePayment(ctx).PaymentOrder(payment.PaymentOrder{}).Execute()
	check(err == nil && accepted.Status == "held" && !accepted.Status.IsValid(), err)
	record, _, err := pay.PaymentsAPI.GetPayment(ctx, id).Country(payment.COUNTRY_PAK).Execute()
	check(err == nil && record.Response.Get().Status == "held", err)
	page, _, err := pay.EventsAPI.FollowEvents(ctx).Mode("poll").After("0").Execute()
	check(err == nil && page.Next == "4" && len(page.Events) == 4, err)
	check(page.Events[0].Data.Quote.Rate == 75.7 && page.Events[0].Data.PaymentRecord == nil, page.Events[0])
	check(page.Events[1].Type == "payment.held" && page.Events[1].Data.PaymentRecord.Id == id, page.Events[1])
	check(page.Events[2].Type == "rate.changed" && page.Events[2].Data.PaymentRecord == nil, page.Events[2])
	check(page.Events[3].Data.PaymentRecord.Response.Get().Status == "held", page.Events[3])
	_, err = page.MarshalJSON()
	must(0, err)
	wallets := corridor.Wallets(env("ANSWERS_URL")+"/newer", "key", "secret", "auditor")
	log, _, err := wallets.EventsAPI.ListEvents(ctx).After("0").Execute()
	check(err == nil && log.Next == "4" && len(log.Events) == 4, err)
	check(log.Events[0].WalletUnblockedEvent.Data.TriggeredBy == "REGULATOR", log.Events[0])
	check(log.Events[1].GetActualInstance() == nil, log.Events[1])
	check(log.Events[2].WalletUnblockedEvent.Data.Status == "WATCHED", log.Events[2])
	check(log.Events[3].WalletUnblockedEvent.Data.TriggeredBy == wallet.TRIGGEREDBY_AUTOMATIC, log.Events[3])
}

// statuses are those of the answer, whatever its body: nothing is sent to another host, and nothing repeated.
func statuses(ctx context.Context) {
	for kind, expected := range map[string]int{"newer": 422, "limited": 429, "down": 503, "proxy": 502, "proxy503": 503, "redirect": 307} {
		begun := time.Now()
		ask := payment.NewQuoteRequest(payment.COUNTRY_PAK, payment.SOURCECURRENCY_AED, 123.45)
		_, response, err := answers(kind).QuotesAPI.CreateQuote(ctx).QuoteRequest(*ask).Execute()
		check(err != nil && response.StatusCode == expected && response.Header.Get("x-request-id") == "r-1", kind)
		if kind != "newer" {
			_, response, err = answers(kind).PaymentsAPI.GetPayment(ctx, id).Country(payment.COUNTRY_PAK).Execute()
			check(err != nil && response.StatusCode == expected, kind)
		}
		check(time.Since(begun) < 5*time.Second, kind)
	}
}

func main() {
	ctx := context.Background()
	laterVersions(ctx)
	statuses(ctx)
	pay := corridor.Payments(env("BASE_URL"), env("ACCESS_KEY"), env("SECRET_KEY"))

	ask := payment.NewQuoteRequest(payment.COUNTRY_PAK, payment.SOURCECURRENCY_AED, 123.45)
	quote, _, err := pay.QuotesAPI.CreateQuote(ctx).QuoteRequest(*ask).Execute()
	must(quote, err)
	// In binary floating point, and not rounded.
	amount := quote.Rate * quote.Amount
	order := payment.NewPaymentOrderPAK("PAK", payment.SOURCECURRENCY_AED, quote.Id, amount, "Standard Chartered", "SCBLPKKX",
		"Asha Khan", "Karachi", "1 Shahrah-e-Faisal", "PK36SCBL0000001123456702", "Omar Siddiqui",
		payment.IDENTITYDOCUMENTTYPE_PASSPORT, "AB1234567", "Dubai", "2 Al Wasl Road", "ARE", "brother")
	order.SetSenderBirthdate("1988-04-12")
	accepted, _, err := pay.PaymentsAPI.CreatePayment(ctx).PaymentOrder(payment.PaymentOrderPAKAsPaymentOrder(order)).Execute()
	must(accepted, err)
	deadline := time.Now().Add(wait)
	for {
		record, _, err := pay.PaymentsAPI.GetPayment(ctx, accepted.Id).Country(payment.COUNTRY_PAK).Execute()
		must(record, err)
		response := record.Response.Get()
		if response.Status == payment.PAYMENTSTATE_SUCCEEDED {
			break
		}
		open := response.Status == payment.PAYMENTSTATE_QUEUED || response.Status == payment.PAYMENTSTATE_PROCESSING
		check(open && time.Now().Before(deadline), response.Status)
		time.Sleep(500 * time.Millisecond)
	}
	listed, _, err := pay.PaymentsAPI.ListPayments(ctx).Country(payment.COUNTRY_PAK).StartTs(time.Now().Add(-time.Hour)).
		Status([]payment.PaymentState{payment.PAYMENTSTATE_SUCCEEDED}).Execute()
	must(listed, err)
	found := false
	for _, record := range listed {
		found = found || record.Id == accepted.Id
	}
	check(found, "the payment is not listed")
	page, _, err := pay.EventsAPI.FollowEvents(ctx).Mode("poll").After("0").Limit(1000).Execute()
	must(page, err)
	check(len(page.Events) > 0, "no events")
	_, _, err = pay.EventsAPI.FollowEvents(ctx).Mode("poll").After(page.Next).Limit(1).Execute()
	must(0, err)

	wallets := corridor.Wallets(env("WALLET_BASE_URL"), env("WALLET_ACCESS_KEY"), env("WALLET_SECRET_KEY"), "wallet_manager")
	crypto := wallet.NewCryptoAmount("crypto", "25.50", wallet.COIN_USDC)
	draft := wallet.NewPaymentRequestDraft(env("WALLET_ID"), wallet.CryptoAmountAsAmountDraft(crypto))
	draft.SetPurpose("Rent")
	made, _, err := wallets.PaymentRequestsAPI.CreatePaymentRequest(ctx).PaymentRequestDraft(*draft).Execute()
	must(made, err)
	requests, _, err := wallets.PaymentRequestsAPI.ListPaymentRequests(ctx).WalletId(env("WALLET_ID")).Execute()
	must(requests, err)
	found = false
	for _, request := range requests.PaymentRequests {
		found = found || request.PaymentRequestId == made.PaymentRequestId
	}
	check(found, "the payment request is not listed")
	fmt.Printf("payment %s succeeded, payment request %s made\n", accepted.Id, made.PaymentRequestId)
}
