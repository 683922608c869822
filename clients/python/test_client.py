"""A payment and a payment request through the packaged clients."""

import datetime
import os
import time

import corridor
import corridor_payment as payment
import corridor_wallet as wallet

WAIT_S = 60
env = os.environ

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
