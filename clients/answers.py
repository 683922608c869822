"""Answers for the tests of clients that a sandbox does not give. Prints the address, below which the first part of a path
chooses them:

    newer      those of a later version: with further members, statuses, types of events and codes of errors
    limited    429 with a Retry-After of more than two minutes
    down       503 with a Retry-After that is not valid
    proxy      502 with HTML
    proxy503   503, which the API documents, with HTML
    redirect   307 to another host, which would give the answers of `newer`
"""

import http.server
import json
import threading

ID = "0b9f6c1e-7f57-4a51-8f5d-2f6f0a4be0c3"
TIME = "2026-11-30T08:00:00Z"
NAME = "عائشة خان"
QUOTE = {
    "id": ID, "country": "PAK", "currency": "AED", "amount": 123.45, "amount_destination": 9345.1651, "rate": 75.7,
    "timestamp": TIME, "expires": TIME, "wallet_rate": 278.1, "account_check": {"result": "perhaps", "account_name": None},
    "later": {"a": [1]},
}
RESPONSE = {"id": ID, "timestamp": TIME, "status": "held", "recall_status": "partly", "later": 1}
ORDER = {
    "country": "PAK", "currency": "AED", "quote": ID, "amount": 9345.1651, "bank_name": "Standard Chartered",
    "bank_branch_code": "SCBLPKKX", "beneficiary_name": NAME, "beneficiary_city": "Karachi",
    "beneficiary_address": "1 Shahrah-e-Faisal", "beneficiary_account_number": "PK36SCBL0000001123456702",
    "sender_name": "Omar Siddiqui", "sender_identity_doc_type": "licence", "sender_identity_doc": "AB1234567",
    "sender_city": "Dubai", "sender_address": "2 Al Wasl Road", "sender_country": "ARE", "sender_relation": "brother", "later": [],
}
PAYMENT = {"id": ID, "order": ORDER, "response": RESPONSE, "quote": QUOTE, "later": None}
EVENTS = [("quote.created", QUOTE), ("payment.held", PAYMENT), ("rate.changed", {"pair": "AED/PKR"}), ("payment.processing", PAYMENT)]
DEBIT = {"wallet_id": ID, "customer_id": "c-1", "status": "ACTIVE", "unblock_reason": None, "unblocked_at": TIME}
WALLET_EVENTS = [
    ("wallet.unblocked", {**DEBIT, "triggered_by": "REGULATOR", "later": 1}),
    ("wallet.renamed", {"wallet_id": ID}),
    ("wallet.unblocked", {**DEBIT, "status": "WATCHED", "triggered_by": "AUTOMATIC"}),
    ("wallet.unblocked", {**DEBIT, "triggered_by": "AUTOMATIC"}),
]
NEWER = {
    "/v2/quote": (422, {"detail": [{"loc": ["body", "amount"], "msg": "Too odd", "type": "odd_amount", "later": 1}], "later": 1}),
    "/v2/payment": (200, RESPONSE),
    f"/v2/payments/{ID}": (200, PAYMENT),
    "/v2/events": (200, {"events": [
        {"id": ID, "seq": seq, "type": kind, "version": "1", "occurred_at": TIME, "data": data, "later": True}
        for seq, (kind, data) in enumerate(EVENTS, 1)], "next": "4", "later": 1}),
    "/v1/sdk/events": (200, {"events": [
        {"event_id": ID, "event_type": kind, "timestamp": TIME, "seq": seq, "data": data, "later": True}
        for seq, (kind, data) in enumerate(WALLET_EVENTS, 1)], "next": "4", "later": 1}),
}
HTML = "<html>Bad gateway</html>"


class Answers(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self, case, path):
        error = {"detail": {"code": "rate_limited", "message": "Later"}}
        if case == "newer":
            return *NEWER.get(path, (404, {"detail": {"code": "lost", "message": "Path not found"}})), {}
        return {
            "limited": (429, error, {"Retry-After": "125"}),
            "down": (503, error, {"Retry-After": "soon"}),
            "proxy": (502, HTML, {}),
            "proxy503": (503, HTML, {}),
            "redirect": (307, {}, {"Location": f"http://localhost:{self.server.server_port}/newer{path}"}),
        }[case]

    def respond(self):
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        case, _, path = self.path.partition("?")[0].lstrip("/").partition("/")
        status, value, headers = self.answer(case, "/" + path)
        body = (value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)).encode()
        self.send_response(status)
        kind = "text/html" if isinstance(value, str) else "application/json"
        for header in {"Content-Type": kind, "Content-Length": str(len(body)), "X-Request-Id": "r-1", **headers}.items():
            self.send_header(*header)
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST = respond

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answers)
threading.Thread(target=server.serve_forever).start()
print(f"http://127.0.0.1:{server.server_port}", flush=True)
