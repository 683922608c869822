"""A connector: it translates between Corridor's contract (docs/openapi/connector.json) and the API of
one bank. The bank is made up; it stands for many: JSON, OAuth 2 with short tokens, ids and states of its
own, amounts in minor units, and notifications instead of answers.

Python 3.9 or later, without dependencies. Copy it, and replace the class Bank.

Rules that keep money safe, whatever the bank:
  1. A payment is noted (committed) before a byte goes to the bank, and sent to the bank once. A
     repetition from Corridor gets the current state, or an inquiry at the bank, never a second transfer.
  2. "not_sent" is answered only if the bank certainly has nothing. If that is unclear (a timeout, a
     connection that broke), the answer is an HTTP error, and Corridor inquires.
  3. What the bank notifies is stored before the bank gets its 200, and forwarded to Corridor until
     Corridor has answered 2xx, under the same id.
"""

import base64
import hashlib
import hmac
import http.client
import json
import os
import socket
import sqlite3
import sys
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

MAX_BODY_BYTES = 64 * 1024
BANK_TIMEOUT_S = float(os.environ.get("BANK_TIMEOUT_S", "15"))
FORWARD_EVERY_S = float(os.environ.get("FORWARD_EVERY_S", "5"))

# The bank's states and refusals, in the words of the contract and the codes of ISO 20022.
STATES = {"PENDING": "accepted", "COMPLETED": "paid", "FAILED": "rejected",
          "RETURNED": "returned", "CANCELLED": "cancelled"}
REASONS = {"ACCOUNT_UNKNOWN": "AC01", "ACCOUNT_CLOSED": "AC04", "INSUFFICIENT_FUNDS": "AM04",
           "NAME_MISMATCH": "BE01"}
MINOR_UNITS = {"PKR": 2, "INR": 2, "BDT": 2, "NPR": 2, "PHP": 2, "EGP": 2, "VND": 0}


class NotSent(Exception):
    """The bank certainly has nothing."""


class Unclear(Exception):
    """The bank may have it."""


class Refused(Exception):
    """The bank's definite refusal, with its code."""


class Known(Exception):
    """The bank has it already: no refusal, whatever the status says."""


class NoRedirects(urllib.request.HTTPRedirectHandler):
    """A redirect is an answer like others: another host gets no token, and says nothing about a payment."""

    def redirect_request(self, *_):
        return None


opener = urllib.request.build_opener(NoRedirects)


# --- the bank ---------------------------------------------------------------------------------------


class Bank:
    """The only part that knows the bank's API."""

    def __init__(self, settings):
        self.settings = settings
        self.lock = threading.Lock()
        self.token, self.token_until = None, 0.0

    def access_token(self, refused=None):
        """A token that is valid for a while. `refused` is one that the bank no longer accepts."""
        with self.lock:
            if self.token is None or self.token == refused or time.monotonic() > self.token_until:
                form = {"grant_type": "client_credentials"}
                basic = f"{self.settings['BANK_CLIENT_ID']}:{self.settings['BANK_CLIENT_SECRET']}"
                request = urllib.request.Request(
                    self.settings["BANK_TOKEN_URL"], urllib.parse.urlencode(form).encode(),
                    {"Authorization": "Basic " + base64.b64encode(basic.encode()).decode()})
                try:
                    with opener.open(request, timeout=BANK_TIMEOUT_S) as response:
                        answer = json.load(response)
                        self.token = answer["access_token"]
                        # Renewed before it expires on the way.
                        self.token_until = time.monotonic() + int(answer["expires_in"]) - 30
                except (OSError, ValueError, KeyError) as error:
                    self.token = None
                    raise NotSent(f"no access token: {type(error).__name__}") from error
            return self.token

    def call(self, method, path, body=None):
        """One call: (status, answer). A token that has expired is renewed once."""
        token = self.access_token()
        status, answer = self.call_with(token, method, path, body)
        if status == 401:
            # This bank checks the token before it reads anything else: a 401 did nothing.
            status, answer = self.call_with(self.access_token(refused=token), method, path, body)
        return status, answer

    def call_with(self, token, method, path, body):
        data = None if body is None else json.dumps(body).encode()
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        request = urllib.request.Request(
            self.settings["BANK_URL"] + path, data, headers, method=method)
        try:
            try:
                with opener.open(request, timeout=BANK_TIMEOUT_S) as response:
                    return response.status, read_json(response.read())
            except urllib.error.HTTPError as error:
                return error.code, read_json(error.read())
        except urllib.error.URLError as error:
            if isinstance(error.reason, (ConnectionRefusedError, socket.gaierror)):
                raise NotSent("there is no connection to the bank") from error
            raise Unclear(str(error.reason)) from error
        except (OSError, http.client.HTTPException) as error:
            raise Unclear(f"no answer: {type(error).__name__}") from error

    def order(self, payment):
        """A payment of the contract as the bank's order for a transfer."""
        return {
            "clientReference": payment["instruction_id"],
            "amountMinor": to_minor(payment["amount"]),
            "ccy": payment["amount"]["currency"],
            "creditAccount": payment["beneficiary_account"]["number"],
            "creditName": payment["beneficiary"]["name"],
            "narrative": payment.get("remittance_information", "remittance"),
        }

    def pay(self, order):
        """Makes a transfer; returns it in the words of the contract."""
        status, answer = self.call("POST", "/transfers", order)
        if status == 201:
            return report(answer)
        if status == 401:
            raise NotSent("the bank refuses the access token")
        if status == 422 and answer.get("code") == "DUPLICATE_REFERENCE":
            raise Known()
        if status == 422 and "code" in answer:
            raise Refused(answer["code"])
        raise Unclear(f"HTTP {status}")

    def find(self, instruction_id):
        """The transfer of an instruction; None if the bank has none."""
        query = urllib.parse.urlencode({"clientReference": instruction_id})
        status, answer = self.call("GET", f"/transfers?{query}")
        if status != 200 or not isinstance(answer.get("items"), list):
            raise Unclear(f"HTTP {status}")
        return report(answer["items"][0]) if answer["items"] else None

    def cancel(self, bank_reference):
        status, answer = self.call("POST", f"/transfers/{bank_reference}/cancel", {})
        if status == 200:
            return "recall_accepted"
        if status == 409:
            return "recall_refused"
        raise Unclear(f"HTTP {status}")

    def holder(self, account):
        """(state, name) of an account; None if the bank has none."""
        query = urllib.parse.urlencode({"account": account})
        status, answer = self.call("GET", f"/accounts/lookup?{query}")
        if status == 404:
            return None
        if status != 200:
            raise Unclear(f"HTTP {status}")
        return answer["status"], answer["holder"]


def report(transfer):
    """A transfer of the bank as a report of the contract."""
    it = {
        "status": STATES.get(transfer["state"], "unknown"),
        "instruction_id": transfer["clientReference"],
        "bank_reference": transfer["transferId"],
        "amount": from_minor(transfer["amountMinor"], transfer["ccy"]),
    }
    if transfer.get("failureCode"):
        it.update(reasons=[REASONS.get(transfer["failureCode"], "NARR")], info=transfer["failureCode"])
    return it


def rejection(code):
    return {"status": "rejected", "reasons": [REASONS.get(code, "NARR")], "info": code}


def to_minor(amount):
    """An amount as an integer, exactly: never through a float."""
    whole, _, fraction = amount["value"].partition(".")
    units = MINOR_UNITS[amount["currency"]]
    if len(fraction) > units or not (whole + fraction).isdigit():
        raise ValueError("amount")
    return int(whole + fraction.ljust(units, "0"))


def from_minor(minor, currency):
    units = MINOR_UNITS[currency]
    digits = str(int(minor)).rjust(units + 1, "0")
    value = f"{digits[:-units]}.{digits[-units:]}" if units else digits
    return {"value": value, "currency": currency}


def masked(name):
    """A name as this bank allows it to be shown: A*** K***."""
    return " ".join(word[:1] + "***" for word in name.split())


def alike(given, known):
    """match, close_match or no_match of two names."""
    words = [set(name.upper().replace(",", " ").split()) for name in (given, known)]
    if words[0] == words[1]:
        return "match"
    return "close_match" if words[0] & words[1] else "no_match"


# --- what must not be forgotten -----------------------------------------------------------------------


class Journal:
    """Payments and reports on disk. Each change is committed before anything else happens."""

    def __init__(self, path):
        self.lock = threading.Lock()
        self.db = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
        self.db.execute("PRAGMA synchronous = FULL")
        self.db.execute("CREATE TABLE IF NOT EXISTS payment (instruction_id TEXT PRIMARY KEY,"
                        " state TEXT NOT NULL, bank_reference TEXT, refusal TEXT)")
        self.db.execute("CREATE TABLE IF NOT EXISTS callback (id TEXT PRIMARY KEY, body TEXT NOT NULL,"
                        " number INTEGER NOT NULL, is_taken INTEGER NOT NULL DEFAULT 0)")

    def run(self, sql, *values):
        with self.lock:
            cursor = self.db.execute(sql, values)
            return cursor.rowcount if cursor.description is None else cursor.fetchall()

    def begin(self, instruction_id):
        """Notes a payment before it is sent; False if it was noted before, and may be at the bank."""
        return self.run("INSERT INTO payment VALUES (?, 'sending', NULL, NULL) ON CONFLICT (instruction_id)"
                        " DO UPDATE SET state = 'sending' WHERE state = 'not_sent'",
                        instruction_id) == 1

    def end(self, instruction_id, state, bank_reference=None, refusal=None):
        self.run("UPDATE payment SET state = ?, bank_reference = COALESCE(?, bank_reference), refusal = ?"
                 " WHERE instruction_id = ?", state, bank_reference, refusal, instruction_id)

    def known(self, instruction_id):
        """(state, bank_reference, refusal) of a payment, as far as it has them."""
        rows = self.run("SELECT state, bank_reference, refusal FROM payment WHERE instruction_id = ?",
                        instruction_id)
        return rows[0] if rows else (None, None, None)

    def keep(self, callback_id, body):
        """Stores a report for Corridor. The same id again changes nothing."""
        self.run("INSERT OR IGNORE INTO callback SELECT ?, ?, COUNT(*) + 1, 0 FROM callback",
                 callback_id, json.dumps(body))

    def waiting(self):
        return self.run("SELECT id, body FROM callback WHERE is_taken = 0 ORDER BY number LIMIT 100")

    def taken(self, callback_id):
        self.run("UPDATE callback SET is_taken = 1 WHERE id = ?", callback_id)


# --- Corridor ------------------------------------------------------------------------------------------


class Connector:
    def __init__(self, settings):
        self.settings = settings
        self.bank = Bank(settings)
        self.journal = Journal(settings["JOURNAL"])
        self.news = threading.Event()

    def submit(self, payment):
        """POST /payments: (HTTP status, answer)."""
        instruction_id = payment["instruction_id"]
        order = self.bank.order(payment)  # a payment that cannot be read is refused before it is noted
        if not self.journal.begin(instruction_id):
            return self.sent_before(payment)
        try:
            answer = self.bank.pay(order)
        except NotSent as why:
            self.journal.end(instruction_id, "not_sent")
            return 200, {"status": "not_sent", "info": str(why)}
        except Known:
            return self.sent_before(payment)
        except Refused as refusal:
            code = str(refusal)
            self.journal.end(instruction_id, "refused", refusal=code)
            return 200, rejection(code)
        except Unclear as why:
            return 502, {"message": str(why)}
        self.journal.end(instruction_id, "sent", answer["bank_reference"])
        return 200, answer

    def sent_before(self, payment):
        # The bank may not show it yet: that is no answer.
        return self.inquire(payment, unknown=(503, {"message": "sent before, not found yet"}))

    def inquire(self, inquiry, unknown=(200, {"status": "not_found"})):
        """POST /inquiries."""
        _, _, refusal = self.journal.known(inquiry["instruction_id"])
        if refusal is not None:
            return 200, rejection(refusal)
        try:
            answer = self.bank.find(inquiry["instruction_id"])
        except (NotSent, Unclear) as why:
            return 502, {"message": str(why)}
        if answer is None:
            return unknown
        self.journal.end(inquiry["instruction_id"], "sent", answer["bank_reference"])
        return 200, answer

    def recall(self, recall):
        """POST /recalls. A cancelled transfer is reported as such, in a callback of its own."""
        instruction_id = recall["instruction_id"]
        try:
            state, reference, _ = self.journal.known(instruction_id)
            if reference is None:
                found = self.bank.find(instruction_id)
                if found is None and state in ("sending", "sent"):
                    # The bank may not show it yet: that is no refusal.
                    return 503, {"message": "sent before, not found yet"}
                if found is None:
                    return 200, {"status": "recall_refused", "reasons": ["NOOR"]}
                reference = found["bank_reference"]
            status = self.bank.cancel(reference)
            if status == "recall_refused" and self.is_cancelled(instruction_id):
                # An earlier request has cancelled it, and its answer was lost.
                status = "recall_accepted"
        except (NotSent, Unclear) as why:
            return 502, {"message": str(why)}
        if status == "recall_accepted":
            self.keep(f"cancelled-{instruction_id}", {
                "status": "cancelled", "instruction_id": instruction_id, "bank_reference": reference})
        return 200, {"status": status}

    def is_cancelled(self, instruction_id):
        found = self.bank.find(instruction_id)
        return found is not None and found["status"] == "cancelled"

    def check_account(self, asked):
        """POST /account-checks."""
        try:
            found = self.bank.holder(asked["account"])
        except (NotSent, Unclear) as why:
            return 502, {"message": str(why)}
        if found is None:
            return 200, {"result": "not_found"}
        state, name = found
        if state != "ACTIVE":
            return 200, {"result": "closed"}
        result = alike(asked["name"], name)
        return 200, {"result": result, "name": masked(name)} if result == "close_match" else {"result": result}

    def notified(self, event):
        """POST /bank/notifications, authenticated: stored before it is acknowledged."""
        self.keep(event["eventId"], report(event))
        return 200, {"received": True}

    def keep(self, callback_id, body):
        self.journal.keep(callback_id, body)
        self.news.set()

    def forward_all(self):
        """Forwards stored reports to Corridor, in order, until each has been stored there."""
        while True:
            self.news.clear()
            for callback_id, body in self.journal.waiting():
                status = self.forward(callback_id, body.encode())
                if status is not None and (200 <= status < 300 or status == 400):
                    if status == 400:
                        print(f"Corridor cannot read callback {callback_id}", file=sys.stderr)
                    self.journal.taken(callback_id)
                else:
                    print(f"callback {callback_id}: {status}, will retry", file=sys.stderr)
                    break
            self.news.wait(FORWARD_EVERY_S)

    def forward(self, callback_id, body):
        """Sends one report, signed by the Standard Webhooks specification; returns the HTTP status."""
        timestamp = str(int(time.time()))
        key = base64.b64decode(self.settings["CALLBACK_SECRET"].removeprefix("whsec_"))
        signed = b".".join([callback_id.encode(), timestamp.encode(), body])
        signature = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
        request = urllib.request.Request(self.settings["CALLBACK_URL"], body, {
            "Content-Type": "application/json", "webhook-id": callback_id,
            "webhook-timestamp": timestamp, "webhook-signature": f"v1,{signature}"})
        try:
            with opener.open(request, timeout=30) as response:
                return response.status
        except urllib.error.HTTPError as error:
            return error.code
        except (OSError, http.client.HTTPException, ValueError) as error:
            print(f"callback {callback_id}: {error}", file=sys.stderr)
            return None


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    connector = None

    def do_GET(self):
        if not self.is_corridor():
            return self.answer(401, {"message": "unauthorized"})
        if self.path == "/health":
            return self.answer(200, {"status": "ok"})
        return self.answer(404, {"message": "not found"})

    def do_POST(self):
        body = self.body()
        if body is None:
            return self.answer(413, {"message": "too large"})
        connector = self.connector
        if self.path == "/bank/notifications":
            return self.handle_json(connector.notified, body, self.is_bank(body))
        operations = {"/payments": connector.submit, "/inquiries": connector.inquire,
                      "/recalls": connector.recall, "/account-checks": connector.check_account}
        operation = operations.get(self.path)
        if operation is None:
            return self.answer(404, {"message": "not found"})
        return self.handle_json(operation, body, self.is_corridor())

    def handle_json(self, operation, body, is_known):
        if not is_known:
            return self.answer(401, {"message": "unauthorized"})
        try:
            status, answer = operation(json.loads(body))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            status, answer = 400, {"message": f"cannot be read: {type(error).__name__} {error}"}
        return self.answer(status, answer)

    def is_corridor(self):
        given = self.headers.get("Authorization", "")
        expected = "Bearer " + self.connector.settings["CONNECTOR_TOKEN"]
        return hmac.compare_digest(given.encode(), expected.encode())

    def is_bank(self, body):
        secret = self.connector.settings["BANK_NOTIFICATION_SECRET"].encode()
        expected = hmac.new(secret, body, hashlib.sha256).hexdigest()
        return hmac.compare_digest(self.headers.get("X-Bank-Signature", "").encode(), expected.encode())

    def body(self):
        length = int(self.headers.get("Content-Length") or 0)
        if not 0 <= length <= MAX_BODY_BYTES:
            self.close_connection = True
            return None
        return self.rfile.read(length)

    def answer(self, status, body):
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, form, *values):
        # Paths and statuses only: bodies have names and accounts.
        print(form % values, file=sys.stderr)


def read_json(data):
    """An answer's object; empty if it is none."""
    try:
        value = json.loads(data)
        return value if isinstance(value, dict) else {}
    except ValueError:
        return {}


def main():
    names = ["BANK_URL", "BANK_TOKEN_URL", "BANK_CLIENT_ID", "BANK_CLIENT_SECRET",
             "BANK_NOTIFICATION_SECRET", "CONNECTOR_TOKEN", "CALLBACK_URL", "CALLBACK_SECRET", "JOURNAL"]
    missing = [name for name in names if not os.environ.get(name)]
    if missing:
        sys.exit(f"set {', '.join(missing)}")
    Handler.connector = Connector({name: os.environ[name] for name in names})
    host, _, port = os.environ.get("LISTEN", "127.0.0.1:8090").rpartition(":")
    server = ThreadingHTTPServer((host, int(port)), Handler)
    threading.Thread(target=Handler.connector.forward_all, daemon=True).start()
    print(f"listening on {server.server_address[0]}:{server.server_address[1]}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
