"""A payment and a payment request through the packaged clients."""

import datetime
import os
import time

import corridor
import corridor_payment as payment
import corridor_wallet as wallet

WAIT_S = 60
ID = "0b9f6c1e-7f57-4a51-8f5d-2f6f0a4be0c3"
env = os.environ


def answers(kind):
    """A client of clients/answers.py."""
    return corridor.payments(f"{env['CORRIDOR_ANSWERS_URL']}/{kind}", "key", "secret")


def refused(call):
    """The status of an answer that is an error; whatever its body, it comes at once."""
    begun = time.monotonic()
    try:
        call()
    except payment.ApiException as error:
        assert error.headers["x-request-id"] == "r-1" and time.monotonic() - begun < 5, error
        return error.status
    raise AssertionError("no error")


# Members, values and types of events that this version does not know.
newer = answers("newer")
held = payment.PaymentsApi(newer).get_payment(ID, "PAK")
assert held.response.status == "held" and held.response.status.value == "held", held
assert held.order.beneficiary_name == "عائشة خان" and held.quote.account_check.result == "perhaps", held
page = payment.EventsApi(newer).follow_events(mode="poll", after="0")
assert [event.type for event in page.events] == ["quote.created", "payment.held", "rate.changed", "payment.processing"], page
data = [event.data.actual_instance for event in page.events]
assert page.next == "4" and data[0].rate == 75.7 and data[1].response.status == "held" and data[2] == {"pair": "AED/PKR"}, data
assert page.to_dict()["events"][2]["data"] == {"pair": "AED/PKR"} and '"payment.held"' in page.to_json()
log = wallet.EventsApi(corridor.wallets(env["CORRIDOR_ANSWERS_URL"] + "/newer", "key", "secret")).list_events(after="0")
data = [event.actual_instance for event in log.events]
assert log.next == "4" and data[0].data.triggered_by == "REGULATOR" and data[1]["event_type"] == "wallet.renamed", log
assert data[2].data.status == "WATCHED" and data[3].data.triggered_by == wallet.TriggeredBy.AUTOMATIC, log
for kind, status in {"limited": 429, "down": 503, "proxy": 502, "proxy503": 503, "redirect": 307}.items():
    assert refused(lambda: payment.PaymentsApi(answers(kind)).get_payment(ID, "PAK")) == status, kind
for kind, status in {"newer": 422, "limited": 429, "down": 503, "proxy": 502, "proxy503": 503, "redirect": 307}.items():
    ask = payment.QuoteRequest(country="PAK", currency="AED", amount=123.45)
    assert refused(lambda: payment.QuotesApi(answers(kind)).create_quote(ask)) == status, kind

pay = corridor.payments(env["CORRIDOR_BASE_URL"], env["CORRIDOR_ACCESS_KEY"], env["CORRIDOR_SECRET_KEY"])
quotes, payments, events = payment.QuotesApi(pay), payment.PaymentsApi(pay), payment.EventsApi(pay)

quote = quotes.create_quote(payment.QuoteRequest(country="PAK", currency="AED", amount=123.45))
order = payment.PaymentOrderPAK(
    country="PAK",
    currency="AED",
    quote=quote.id,
    # In binary floating point, and not rounded.
    amount=quote.rate * quote.amount,
    bank_name="Standard Chartered",
    bank_branch_code="SCBLPKKX",
    beneficiary_name="Asha Khan",
    beneficiary_city="Karachi",
    beneficiary_address="1 Shahrah-e-Faisal",
    beneficiary_account_number="PK36SCBL0000001123456702",
    sender_name="Omar Siddiqui",
    sender_identity_doc_type="passport",
    sender_identity_doc="AB1234567",
    sender_city="Dubai",
    sender_address="2 Al Wasl Road",
    sender_country="ARE",
    sender_relation="brother",
    sender_birthdate=datetime.date(1988, 4, 12),
)
accepted = payments.create_payment(payment.PaymentOrder(order))
deadline = time.monotonic() + WAIT_S
while (status := payments.get_payment(str(accepted.id), "PAK").response.status) != "succeeded":
    assert status in ("queued", "processing") and time.monotonic() < deadline, status
    time.sleep(0.5)
# The generator writes the time as `…+0000`.
since = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(hours=1)
listed = payments.list_payments("PAK", start_ts=since, status=["succeeded"])
assert accepted.id in [record.id for record in listed], listed
page = events.follow_events(mode="poll", after="0", limit=1000)
assert len(page.events) > 0
again = events.follow_events(mode="poll", after=page.next, limit=1)
assert int(again.next) >= int(page.next)

wallets = corridor.wallets(
    env["CORRIDOR_WALLET_BASE_URL"], env["CORRIDOR_WALLET_ACCESS_KEY"], env["CORRIDOR_WALLET_SECRET_KEY"]
)
requests = wallet.PaymentRequestsApi(wallets)
amount = wallet.AmountDraft(wallet.CryptoAmount(type="crypto", value="25.50", currency="USDC"))
made = requests.create_payment_request(
    wallet.PaymentRequestDraft(wallet_id=env["CORRIDOR_WALLET_ID"], amount=amount, purpose="Rent")
)
found = requests.list_payment_requests(env["CORRIDOR_WALLET_ID"])
assert str(made.payment_request_id) in [str(request.payment_request_id) for request in found.payment_requests]
print(f"payment {accepted.id} succeeded, payment request {made.payment_request_id} made")
