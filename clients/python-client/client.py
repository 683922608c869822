"""A payment and a payment request through the clients that openapi-python-client makes."""

import datetime
import os
import time
from uuid import UUID

from corridor_payment import AuthenticatedClient
from corridor_payment import models as pay
from corridor_payment.api.events import follow_events
from corridor_payment.api.payments import create_payment, get_payment, list_payments
from corridor_payment.api.quotes import create_quote
from corridor_wallet import AuthenticatedClient as WalletClient
from corridor_wallet import models as wal
from corridor_wallet.api.payment_requests import create_payment_request, list_payment_requests

WAIT_S = 60
env = os.environ


def of(kind, answer):
    assert isinstance(answer, kind), answer
    return answer


# What a later version may answer.
later = {"id": "0b9f6c1e-7f57-4a51-8f5d-2f6f0a4be0c3", "timestamp": "2026-11-30T08:00:00Z"}
read = pay.PaymentResponse.from_dict({**later, "status": "held", "recall_status": "partly"})
assert (read.status, read.recall_status) == ("held", "partly"), read
assert read.to_dict()["status"] == "held"
assert wal.TriggeredBy("REGULATOR") == "REGULATOR" and wal.TriggeredBy("MANUAL") is wal.TriggeredBy.MANUAL
for closed in (wal.ExchangedTransactionType, wal.IncomingTransactionType):
    try:
        raise AssertionError(closed("SENT"))
    except ValueError:
        pass

client = AuthenticatedClient(base_url=env["CORRIDOR_BASE_URL"], token=env["TOKEN"])
pakistan = pay.Country.PAK
quote = of(
    pay.Quote,
    create_quote.sync(
        client=client, body=pay.QuoteRequest(country=pakistan, currency=pay.SourceCurrency.AED, amount=123.45)
    ),
)
order = pay.PaymentOrderFields(
    country=pakistan,
    currency=pay.SourceCurrency.AED,
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
    sender_birthdate=datetime.date(1988, 4, 12),
    sender_identity_doc_type=pay.IdentityDocumentType.PASSPORT,
    sender_identity_doc="AB1234567",
    sender_city="Dubai",
    sender_address="2 Al Wasl Road",
    sender_country="ARE",
    sender_relation="brother",
)
accepted = of(pay.PaymentResponse, create_payment.sync(client=client, body=order))
deadline = time.monotonic() + WAIT_S
while True:
    record = of(pay.PaymentRecord, get_payment.sync(str(accepted.id), client=client, country=pakistan))
    status = record.response.status.value
    if status == "succeeded":
        break
    assert status in ("queued", "processing") and time.monotonic() < deadline, status
    time.sleep(0.5)
since = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(hours=1)
succeeded = [pay.PaymentState.SUCCEEDED]
listed = list_payments.sync(client=client, country=pakistan, start_ts=since, status=succeeded)
assert accepted.id in [record.id for record in of(list, listed)]
poll = pay.FollowEventsMode.POLL
page = of(pay.EventPage, follow_events.sync(client=client, mode=poll, after="0", limit=1000))
assert len(page.events) > 0
of(pay.EventPage, follow_events.sync(client=client, mode=poll, after=page.next_, limit=1))

wallets = WalletClient(base_url=env["CORRIDOR_BASE_URL"], token=env["CORRIDOR_WALLET_TOKEN"])
wallet_id = UUID(env["CORRIDOR_WALLET_ID"])
amount = wal.CryptoAmount(type_=wal.CryptoAmountType.CRYPTO, value="25.50", currency=wal.Coin.USDC)
draft = wal.PaymentRequestDraft(wallet_id=wallet_id, amount=amount, purpose="Rent")
made = of(wal.CreatedPaymentRequest, create_payment_request.sync(client=wallets, body=draft))
found = of(wal.PaymentRequestList, list_payment_requests.sync(client=wallets, wallet_id=wallet_id))
assert made.payment_request_id in [request.payment_request_id for request in found.payment_requests]
print(f"payment {accepted.id} succeeded, payment request {made.payment_request_id} made")
