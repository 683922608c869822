"""Clients of both Corridor services whose requests are signed.

>>> import corridor
>>> from corridor_payment import QuoteRequest, QuotesApi
>>> client = corridor.payments("http://127.0.0.1:8480", access_key, secret_key)
>>> quote = QuotesApi(client).create_quote(QuoteRequest(country="PAK", currency="AED", amount=500))
"""

import base64
import hashlib
import hmac
import json
import time

import corridor_payment
import corridor_wallet

__all__ = ["Signer", "payments", "wallets"]

TOKEN_LIFETIME_S = 60
# A poll for events takes up to `wait` seconds: ask for 25 at most.
TIMEOUT_S = 45


class Signer:
    """Makes the token of each request: a JWT (HS256) that also covers the body."""

    def __init__(self, base_url, access_key, secret_key, roles=()):
        self._audience = base_url.rstrip("/")
        self._access_key = access_key
        # The key is the text of the secret key, not its base64-decoded bytes.
        self._key = secret_key.encode()
        self._roles = list(roles)

    def token(self, body=None):
        now = int(time.time())
        header = {"alg": "HS256", "typ": "JWT", "kid": self._access_key}
        claims = {
            "sub": self._access_key,
            "aud": self._audience,
            "iss": self._audience,
            "iat": now,
            "exp": now + TOKEN_LIFETIME_S,
        }
        if self._roles:
            claims["roles"] = self._roles
        if body is not None:
            claims["hmac"] = hmac.new(self._key, body, hashlib.sha256).hexdigest()
        signed = _b64url(json.dumps(header).encode()) + "." + _b64url(json.dumps(claims).encode())
        return signed + "." + _b64url(hmac.digest(self._key, signed.encode(), hashlib.sha256))


def payments(base_url, access_key, secret_key):
    """An `ApiClient` of the payment service, for the classes of `corridor_payment`."""
    return _signed(corridor_payment, base_url, Signer(base_url, access_key, secret_key))


def wallets(base_url, access_key, secret_key, roles=("wallet_manager",)):
    """An `ApiClient` of the wallet service, for the classes of `corridor_wallet`."""
    return _signed(corridor_wallet, base_url, Signer(base_url, access_key, secret_key, roles))


class _SignedPool:
    """The connections of a generated client. Here, the bytes of a request are final."""

    def __init__(self, pool, signer):
        self._pool = pool
        self._signer = signer

    def request(self, method, url, body=None, headers=None, **options):
        if isinstance(body, str):
            body = body.encode()
        headers = {**(headers or {}), "Authorization": "Bearer " + self._signer.token(body)}
        # The generated code passes None if its caller names no timeout.
        if options.get("timeout") is None:
            options["timeout"] = TIMEOUT_S
        # A repetition would need a token of its own, and `Retry-After` can be longer than any token is valid. A redirect would
        # send the token to another host.
        options = {**options, "retries": False, "redirect": False}
        return self._pool.request(method, url, body=body, headers=headers, **options)


def _signed(package, base_url, signer):
    client = package.ApiClient(package.Configuration(host=base_url.rstrip("/")))
    client.rest_client.pool_manager = _SignedPool(client.rest_client.pool_manager, signer)
    return client


def _b64url(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()
