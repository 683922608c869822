"""Hooks that describe these services to schemathesis: request signing, callers, existing ids.

The keys come from the environment: CORRIDOR_SERVICE (`payment` or `wallet`), CORRIDOR_BASE_URL, and CORRIDOR_KEYS, one
`<access key> <secret key>` per line. Each key belongs to another tenant: limits count per tenant, so a rate-limited
caller is replaced by the next one.
"""

import base64
import hashlib
import hmac
import json
import os
import time
import urllib.request
from itertools import count

import schemathesis

URL = os.environ["CORRIDOR_BASE_URL"]
WALLET = os.environ["CORRIDOR_SERVICE"] == "wallet"
TOKEN_TTL_S = 60
KYC = {"kyc_level": "COMPREHENSIVE", "customer_email": "customer@example.com", "customer_phone": "+923001234567"}


def b64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


class Tenant:
    """A caller, with a wallet, a payment request, or a quote of its own."""

    def __init__(self, line: str):
        self.access_key, self.secret_key = line.split(" ")
        self.ids = {}

    def token(self) -> str:
        now = int(time.time())
        header = {"alg": "HS256", "typ": "JWT", "kid": self.access_key}
        claims = {"sub": self.access_key, "aud": URL, "iss": URL, "iat": now, "exp": now + TOKEN_TTL_S}
        if WALLET:
            claims["roles"] = ["wallet_manager", "compliance_officer"]
        signed = b64url(json.dumps(header).encode()) + "." + b64url(json.dumps(claims).encode())
        return signed + "." + b64url(hmac.digest(self.secret_key.encode(), signed.encode(), hashlib.sha256))

    def post(self, path: str, body: dict) -> dict:
        headers = {"authorization": "Bearer " + self.token(), "content-type": "application/json"}
        request = urllib.request.Request(URL + path, json.dumps(body).encode(), headers)
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.load(answer)

    def prepare(self):
        """Creates the objects that its requests may name."""
        if not WALLET:
            self.ids["id"] = self.post("/v2/quote", {"country": "PAK", "currency": "AED", "amount": 500})["id"]
            return
        wallet = self.post("/v1/sdk/wallets/provision", {"customer_id": "fuzzed", **KYC})["wallet_id"]
        asked = {"wallet_id": wallet, "purpose": "Rent", "amount": {"type": "crypto", "currency": "USDC", "value": "25.00"}}
        request = self.post("/v1/sdk/payment-requests", asked)["payment_request_id"]
        self.ids.update(wallet_id=wallet, payment_request_id=request)


TENANTS = [Tenant(line) for line in os.environ["CORRIDOR_KEYS"].splitlines()]
turn, calls = 0, count()


def present() -> Tenant:
    tenant = TENANTS[turn % len(TENANTS)]
    if not tenant.ids:
        tenant.prepare()
    return tenant


def with_known_ids(given: dict, known: dict) -> dict:
    return {name: known.get(name, value) for name, value in given.items()}


def is_refused(mode) -> bool:
    """Whether this is a mode that no service knows: without a value, or with a blank one, it would be a stream."""
    is_blank = not isinstance(mode, (str, int)) or not any(char.isascii() and char.isalnum() for char in str(mode))
    return not is_blank and mode != "stream"


@schemathesis.hook
def before_call(context, case, kwargs):
    tenant = present()
    case.headers = {**(case.headers or {}), "authorization": "Bearer " + tenant.token()}
    # Two of three use existing ids; the third keeps the generated one.
    if next(calls) % 3:
        case.path_parameters = with_known_ids(case.path_parameters or {}, tenant.ids)
        case.query = with_known_ids(case.query or {}, tenant.ids)
        if isinstance(case.body, dict):
            case.body = with_known_ids(case.body, tenant.ids)
    # A stream ends after an hour, and a page may wait for events: request pages without waiting. Invalid modes stay.
    if case.operation.path == "/v2/events":
        query = dict(case.query or {})
        if not is_refused(query.get("mode")):
            query["mode"] = "poll"
        query["wait"] = 0 if isinstance(query.get("wait", 0), int) else query["wait"]
        case.query = query


@schemathesis.hook
def after_call(context, case, response):
    global turn
    if response.status_code == 429:
        turn += 1
