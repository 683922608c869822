"""A remote signer for Corridor (docs/openapi/signer.json): keys stay in Azure Key Vault or in Google Cloud KMS.

Needs Python 3.9 or newer and nothing else. Run it beside Corridor, on an address that only Corridor reaches:

    python3 signer.py signer.json

signer.json:
    {"listen": "127.0.0.1:9100",
     "token_file": "signer.token",          what Corridor sends as its bearer token
     "chains": [1],                         only transactions of these chains are signed
     "targets": ["0x…"],                    only to these contracts; absent: to any. Corridor calls its controllers, the tokens and,
                                            once for each controller, the deployer 0x4e59b44847b379578588920cA78FbF26c0B4956C
     "keys": {"demobank-operator": {"azure": "https://bank.vault.azure.net/keys/demobank-operator/VERSION"},
              "demobank-approver": {"google": "projects/P/locations/L/keyRings/R/cryptoKeys/K/cryptoKeyVersions/1"}}}

Azure: key type EC or EC-HSM, curve P-256K; the identity needs "get" and "sign". Its token is that of the workload
identity (AZURE_FEDERATED_TOKEN_FILE and its companions) or of the machine's managed identity; AZURE_CLIENT_ID chooses
one of several user-assigned identities.
Google: algorithm EC_SIGN_SECP256K1_SHA256, protection level HSM; the service account needs cloudkms.signerVerifier.
"""

import base64
import hmac
import http.client
import json
import os
import sys
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

MAX_REQUEST = 600_000
TIMEOUT_S = 8
MAX_REASON = 300  # characters of the key service's own reason
RETRY_AFTER_S = "1"  # where the key service limits requests and does not say for how long


class Refused(Exception):
    """Nothing is signed; the status and the reason are the answer."""

    def __init__(self, status, reason, retry_after=None):
        super().__init__(reason)
        self.status, self.reason, self.retry_after = status, reason, retry_after


class TokenRefused(Refused):
    """The key service does not accept the access token (HTTP 401)."""


# ---- Keccak-256, which Python does not have (its SHA3-256 is padded otherwise) ----

ROUNDS = [
    0x0000000000000001, 0x0000000000008082, 0x800000000000808A, 0x8000000080008000, 0x000000000000808B, 0x0000000080000001,
    0x8000000080008081, 0x8000000000008009, 0x000000000000008A, 0x0000000000000088, 0x0000000080008009, 0x000000008000000A,
    0x000000008000808B, 0x800000000000008B, 0x8000000000008089, 0x8000000000008003, 0x8000000000008002, 0x8000000000000080,
    0x000000000000800A, 0x800000008000000A, 0x8000000080008081, 0x8000000000008080, 0x0000000080000001, 0x8000000080008008,
]
WORD = (1 << 64) - 1


def rotated(word, by):
    return ((word << by) | (word >> (64 - by))) & WORD if by else word


def permuted(a):
    for constant in ROUNDS:
        c = [a[x] ^ a[x + 5] ^ a[x + 10] ^ a[x + 15] ^ a[x + 20] for x in range(5)]
        d = [c[(x - 1) % 5] ^ rotated(c[(x + 1) % 5], 1) for x in range(5)]
        a = [a[i] ^ d[i % 5] for i in range(25)]
        x, y, moving = 1, 0, a[1]
        for step in range(24):
            x, y = y, (2 * x + 3 * y) % 5
            moving, a[x + 5 * y] = a[x + 5 * y], rotated(moving, (step + 1) * (step + 2) // 2 % 64)
        a = [a[i] ^ (~a[i - i % 5 + (i + 1) % 5] & WORD & a[i - i % 5 + (i + 2) % 5]) for i in range(25)]
        a[0] ^= constant
    return a


def keccak256(data):
    rate = 136
    padded = bytearray(data) + b"\x01" + b"\x00" * (-(len(data) + 1) % rate)
    padded[-1] |= 0x80
    state = [0] * 25
    for start in range(0, len(padded), rate):
        for i in range(rate // 8):
            state[i] ^= int.from_bytes(padded[start + 8 * i : start + 8 * i + 8], "little")
        state = permuted(state)
    return b"".join(word.to_bytes(8, "little") for word in state[:4])


# ---- The rules: what is signed at all ----


def rlp(data, at):
    """The item at a position and the position after it; lists become lists."""
    first = data[at]
    if first < 0x80:
        return data[at : at + 1], at + 1
    is_list, short = first >= 0xC0, first - (0xC0 if first >= 0xC0 else 0x80)
    at += 1
    if short > 55:
        size = int.from_bytes(data[at : at + short - 55], "big")
        at += short - 55
    else:
        size = short
    end = at + size
    if end > len(data):
        raise ValueError("too short")
    if not is_list:
        return data[at:end], end
    items = []
    while at < end:
        item, at = rlp(data, at)
        items.append(item)
    return items, end


def checked(rules, order, own):
    """The digest of a transaction that the rules allow. An empty one to the key's own account fills a gap of its numbers."""
    try:
        transaction = bytes.fromhex(order["transaction"].removeprefix("0x"))
        given = bytes.fromhex(order["digest"].removeprefix("0x"))
        fields, end = rlp(transaction, 1)
        if transaction[0] != 2 or end != len(transaction) or len(fields) != 9:
            raise ValueError("not of EIP-1559")
        chain, target, value = int.from_bytes(fields[0], "big"), "0x" + fields[5].hex(), int.from_bytes(fields[6], "big")
    except (KeyError, TypeError, AttributeError, ValueError, IndexError) as error:
        raise Refused(422, f"transaction: not readable ({error})") from None
    digest = keccak256(transaction)
    if not hmac.compare_digest(digest, given):
        raise Refused(422, "digest: not that of the transaction")
    if chain not in rules["chains"]:
        raise Refused(403, f"chain {chain} is not allowed")
    targets = rules.get("targets")
    fills = target == own and not fields[7]
    if targets is not None and not fills and target not in [each.lower() for each in targets]:
        raise Refused(403, f"transactions to {target} are not allowed")
    if value:
        raise Refused(403, "transactions that send ether are not allowed")
    return digest


# ---- The clouds ----


class NoRedirects(urllib.request.HTTPRedirectHandler):
    """Requests carry the access token: they go to the configured host and to no other."""

    def http_error_302(self, request, answer, code, message, headers):
        target = urllib.parse.urlsplit(urllib.parse.urljoin(request.full_url, headers.get("Location", "")))
        raise Refused(502, f"the key service redirects (HTTP {code}) to {target.scheme}://{target.netloc}, which is not followed")

    http_error_301 = http_error_303 = http_error_307 = http_error_308 = http_error_302


opener = urllib.request.build_opener(NoRedirects)


def reason_of(body, secrets):
    """The code and message of a key service's refusal as one line, without what the request proves itself with."""
    try:
        answer = json.loads(body)
    except ValueError:
        return ""
    answer = answer if isinstance(answer, dict) else {}
    error = answer.get("error")
    if isinstance(error, dict):
        # Azure has details in an inner error, Google a status.
        inner = error.get("innererror")
        parts = [error.get("status") or error.get("code"), inner.get("code") if isinstance(inner, dict) else None, error.get("message")]
    else:
        parts = [error, answer.get("error_description")]
    text = ": ".join(str(part) for part in parts if isinstance(part, (str, int)))
    for secret in secrets:
        text = text.replace(secret, "…")
    text = "".join(letter if letter.isprintable() else " " for letter in text)
    return text if len(text) <= MAX_REASON else text[:MAX_REASON] + "…"


def refusal(error, secrets):
    try:
        body = error.read(MAX_REQUEST)
    except (OSError, http.client.HTTPException):
        body = b""
    reason = reason_of(body, secrets)
    reason = f"the key service answered HTTP {error.code}" + (f": {reason}" if reason else "")
    if error.code in (429, 503):
        after = error.headers.get("Retry-After", "").strip()
        return Refused(503, reason, after if after.isascii() and after.isdigit() and len(after) < 6 else RETRY_AFTER_S)
    return (TokenRefused if error.code == 401 else Refused)(502, reason)


def fetched(url, body=None, headers=None, secrets=()):
    if isinstance(body, dict):
        body, headers = json.dumps(body).encode(), {"Content-Type": "application/json", **(headers or {})}
    try:
        with opener.open(urllib.request.Request(url, body, headers or {}), timeout=TIMEOUT_S) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as error:
        raise refusal(error, secrets) from None
    except (OSError, http.client.HTTPException, ValueError):
        raise Refused(503, "the key service cannot be reached") from None


class Tokens:
    """An access token, kept until a minute before its end, or until the key service refuses it."""

    def __init__(self, fetch):
        self.fetch, self.lock, self.token, self.until = fetch, threading.Lock(), "", 0.0

    def current(self):
        with self.lock:
            if time.time() >= self.until:
                answer = self.fetch()
                self.token, self.until = answer["access_token"], time.time() + int(answer["expires_in"]) - 60
            return self.token

    def drop(self, token):
        with self.lock:
            if self.token == token:
                self.until = 0.0

    def fetched(self, url, body=None):
        """An answer of the key service. A refused token is replaced once: access may have been withdrawn and given again."""
        token = self.current()
        try:
            return fetched(url, body, {"Authorization": "Bearer " + token}, [token])
        except TokenRefused:
            self.drop(token)
        token = self.current()
        return fetched(url, body, {"Authorization": "Bearer " + token}, [token])


def azure_token():
    env = os.environ
    if "AZURE_FEDERATED_TOKEN_FILE" in env:
        with open(env["AZURE_FEDERATED_TOKEN_FILE"], encoding="ascii") as file:
            assertion = file.read().strip()
        authority = env.get("AZURE_AUTHORITY_HOST", "https://login.microsoftonline.com/").rstrip("/")
        form = {
            "grant_type": "client_credentials",
            "client_id": env["AZURE_CLIENT_ID"],
            "client_assertion_type": "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
            "client_assertion": assertion,
            "scope": "https://vault.azure.net/.default",
        }
        url = f"{authority}/{env['AZURE_TENANT_ID']}/oauth2/v2.0/token"
        return fetched(url, urllib.parse.urlencode(form).encode(), None, [assertion])
    host = env.get("AZURE_POD_IDENTITY_AUTHORITY_HOST", "http://169.254.169.254").rstrip("/")
    query = {"api-version": "2018-02-01", "resource": "https://vault.azure.net"}
    if env.get("AZURE_CLIENT_ID"):
        query["client_id"] = env["AZURE_CLIENT_ID"]
    return fetched(f"{host}/metadata/identity/oauth2/token?{urllib.parse.urlencode(query)}", None, {"Metadata": "true"})


def google_token():
    host = os.environ.get("GCE_METADATA_HOST", "metadata.google.internal")
    path = "/computeMetadata/v1/instance/service-accounts/default/token"
    return fetched(f"http://{host}{path}", None, {"Metadata-Flavor": "Google"})


def unpadded(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


class Azure:
    tokens = Tokens(azure_token)

    def __init__(self, key):
        self.key = key

    def point(self):
        jwk = self.tokens.fetched(self.key + "?api-version=7.4")["key"]
        if jwk.get("crv") not in ("P-256K", "SECP256K1"):
            raise Refused(502, "the key is on another curve than P-256K")
        return b"\x04" + unpadded(jwk["x"]).rjust(32, b"\0") + unpadded(jwk["y"]).rjust(32, b"\0")

    def sign(self, digest):
        value = base64.urlsafe_b64encode(digest).decode().rstrip("=")
        body = {"alg": "ES256K", "value": value}
        return unpadded(self.tokens.fetched(self.key + "/sign?api-version=7.4", body)["value"])


class Google:
    tokens = Tokens(google_token)
    host = os.environ.get("CLOUDKMS_ENDPOINT", "https://cloudkms.googleapis.com")

    def __init__(self, key):
        self.url = f"{self.host}/v1/{key}"

    def point(self):
        answer = self.tokens.fetched(self.url + "/publicKey")
        if answer.get("algorithm") != "EC_SIGN_SECP256K1_SHA256":
            raise Refused(502, "the key has another algorithm than EC_SIGN_SECP256K1_SHA256")
        lines = [line for line in answer["pem"].splitlines() if not line.startswith("-----")]
        return base64.b64decode("".join(lines))[-65:]

    def sign(self, digest):
        # "sha256" is the name of its field for 32 bytes; they are signed as they are.
        body = {"digest": {"sha256": base64.b64encode(digest).decode()}}
        der = base64.b64decode(self.tokens.fetched(self.url + ":asymmetricSign", body)["signature"])
        numbers, at = [], 2
        for _ in range(2):
            size = der[at + 1]
            numbers.append(der[at + 2 : at + 2 + size].lstrip(b"\0").rjust(32, b"\0"))
            at += 2 + size
        return b"".join(numbers)


KINDS = {"azure": Azure, "google": Google}


def account(key):
    """The address of a key, which is asked for once."""
    if not hasattr(key, "address"):
        key.address = "0x" + keccak256(key.point()[1:])[12:].hex()
    return key.address


# ---- The service ----


def handler(rules, token, keys):
    class Handler(BaseHTTPRequestHandler):
        def answer(self):
            if not hmac.compare_digest(self.headers.get("Authorization", "").encode(), b"Bearer " + token):
                raise Refused(401, "unknown caller")
            parts = [urllib.parse.unquote(part) for part in self.path.split("/")]
            key = keys.get(parts[3]) if parts[:3] == ["", "v1", "keys"] and len(parts) > 3 else None
            if key is None:
                raise Refused(404, "no such key")
            if self.command == "GET" and len(parts) == 4:
                return {"public_key": "0x" + key.point().hex()}
            if self.command == "POST" and parts[4:] == ["signatures"]:
                size = int(self.headers.get("Content-Length", 0))
                if not 0 <= size <= MAX_REQUEST:
                    raise Refused(413, "too large")
                try:
                    order = json.loads(self.rfile.read(size))
                except ValueError:
                    raise Refused(422, "not JSON") from None
                return {"signature": "0x" + key.sign(checked(rules, order, account(key))).hex()}
            raise Refused(404, "no such operation")

        def respond(self):
            retry_after = None
            try:
                status, answer = 200, self.answer()
            except Refused as refused:
                status, answer, retry_after = refused.status, {"error": refused.reason}, refused.retry_after
                if status >= 500:
                    self.log_error("%s", refused.reason)
            except Exception as error:  # the reason stays here, the caller gets none
                self.log_error("%r", error)
                status, answer = 500, {"error": "the signer failed"}
            body = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            if retry_after:
                self.send_header("Retry-After", retry_after)
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_POST = respond

    return Handler


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        rules = json.load(file)
    with open(rules["token_file"], "rb") as file:
        token = file.read().strip()
    if len(token) < 20:
        sys.exit("token_file: a token of at least 20 characters")
    keys = {name: KINDS[kind](where) for name, key in rules["keys"].items() for kind, where in key.items()}
    host, port = rules["listen"].rsplit(":", 1)
    server = ThreadingHTTPServer((host, int(port)), handler(rules, token, keys))
    print(f"signs for {len(keys)} keys on {host}:{server.server_port}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
