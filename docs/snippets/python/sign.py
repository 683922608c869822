"""Signs one call to each service and sends it using only Python's standard library. Keys come from the environment."""

import base64
import hashlib
import hmac
import json
import os
import time
import urllib.error
import urllib.request


def env(name: str) -> str:
    return os.environ["CORRIDOR_" + name]


def b64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def token(access_key: str, secret_key: str, api_url: str, **more) -> str:
    now = int(time.time())
    header = {"alg": "HS256", "typ": "JWT", "kid": access_key}
    claims = {"sub": access_key, "aud": api_url, "iss": api_url, "iat": now, "exp": now + 60, **more}
    signed = b64url(json.dumps(header).encode()) + "." + b64url(json.dumps(claims).encode())
    # The key is the text of the secret key, not its base64-decoded bytes.
    return signed + "." + b64url(hmac.digest(secret_key.encode(), signed.encode(), hashlib.sha256))


def send(url: str, bearer: str, body: bytes | None = None) -> str:
    headers = {"authorization": "Bearer " + bearer, "content-type": "application/json"}
    try:
        with urllib.request.urlopen(urllib.request.Request(url, body, headers), timeout=30) as answer:
            return answer.read().decode()
    except urllib.error.HTTPError as refused:
        raise SystemExit(f"{refused.code}: {refused.read().decode()}") from None


# POST: the claim `hmac` covers exactly the bytes that are sent.
body = json.dumps({"country": "PAK", "currency": "AED", "amount": 500}).encode()
attested = hmac.new(env("SECRET_KEY").encode(), body, hashlib.sha256).hexdigest()
bearer = token(env("ACCESS_KEY"), env("SECRET_KEY"), env("BASE_URL"), hmac=attested)
print(send(env("BASE_URL") + "/v2/quote", bearer, body))

# GET: no body, no hmac. Wallet tokens carry roles.
bearer = token(env("WALLET_ACCESS_KEY"), env("WALLET_SECRET_KEY"), env("WALLET_BASE_URL"), roles=["wallet_manager"])
print(send(env("WALLET_BASE_URL") + "/v1/sdk/wallets/" + env("WALLET_ID"), bearer))
