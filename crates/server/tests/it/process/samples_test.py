"""docs/signers/signer.py and docs/connectors/connector.py against services that refuse tokens and redirect."""

import http.server
import importlib.util
import json
import pathlib
import threading
import unittest

DOCS = pathlib.Path(__file__).resolve().parents[5] / "docs"


def loaded(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


signer = loaded(DOCS / "signers" / "signer.py")
connector = loaded(DOCS / "connectors" / "connector.py")


class Service:
    """Answers with what `answer(request handler)` returns: (status, headers, object). Keeps the requests."""

    def __init__(self, answer):
        seen = self.seen = []

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                self.rfile.read(int(self.headers.get("Content-Length", 0)))
                seen.append((self.command, self.path, self.headers.get("Authorization")))
                status, headers, value = answer(self)
                body = json.dumps(value).encode()
                self.send_response(status)
                for header in {"Content-Length": str(len(body)), **headers}.items():
                    self.send_header(*header)
                self.end_headers()
                self.wfile.write(body)

            do_POST = do_GET

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


class Case(unittest.TestCase):
    def service(self, answer):
        service = Service(answer)
        self.addCleanup(service.close)
        return service


class SignerTest(Case):
    def tokens(self):
        """Access tokens that are numbered and valid for an hour."""
        self.issued = 0

        def issue():
            self.issued += 1
            return {"access_token": f"token-{self.issued}", "expires_in": 3600}

        return signer.Tokens(issue)

    def cloud(self, valid):
        """A key service that accepts one token."""

        def answer(request):
            if request.headers.get("Authorization") != f"Bearer {valid[0]}":
                return 401, {}, {"error": "unauthorized"}
            return 200, {}, {"value": "AA"}

        return self.service(answer)

    def test_a_refused_token_is_replaced_and_the_request_repeated_once(self):
        for body in (None, {"alg": "ES256K"}):
            with self.subTest(body=body):
                tokens, valid = self.tokens(), ["token-1"]
                cloud = self.cloud(valid)
                self.assertEqual(tokens.fetched(cloud.url, body), {"value": "AA"})
                valid[0] = "token-2"
                self.assertEqual(tokens.fetched(cloud.url, body), {"value": "AA"})
                self.assertEqual(tokens.fetched(cloud.url, body), {"value": "AA"})
                self.assertEqual((self.issued, len(cloud.seen)), (2, 4))

    def test_a_cloud_that_refuses_every_token_is_asked_twice_in_a_request(self):
        tokens, cloud = self.tokens(), self.cloud(["none"])
        for requests in (2, 4):
            with self.assertRaises(signer.Refused) as refused:
                tokens.fetched(cloud.url)
            self.assertEqual((refused.exception.status, len(cloud.seen)), (502, requests))
            self.assertIn("HTTP 401", refused.exception.reason)

    def test_other_refusals_are_not_repeated(self):
        for status in (400, 403, 404, 429, 500, 503):
            with self.subTest(status=status):
                tokens, cloud = self.tokens(), self.service(lambda _, status=status: (status, {}, {}))
                with self.assertRaises(signer.Refused) as refused:
                    tokens.fetched(cloud.url, {})
                self.assertIn(f"HTTP {status}", refused.exception.reason)
                self.assertEqual((self.issued, len(cloud.seen)), (1, 1))

    def test_redirects_are_refused_and_their_target_is_named(self):
        other = self.service(lambda _: (200, {}, {"value": "AA"}))
        for status in (301, 302, 303, 307, 308):
            location = f"{other.url}/keys?secret=1"
            cloud = self.service(lambda _, status=status: (status, {"Location": location}, {}))
            for body in (None, {"alg": "ES256K"}):
                with self.subTest(status=status, body=body), self.assertRaises(signer.Refused) as refused:
                    self.tokens().fetched(cloud.url, body)
                self.assertEqual(refused.exception.status, 502)
                self.assertIn(f"(HTTP {status}) to {other.url}, ", refused.exception.reason)
        self.assertEqual(other.seen, [])

    def test_a_connection_that_ends_without_an_answer_is_no_fault_of_the_signer(self):
        def hang_up(request):
            request.connection.close()
            raise ConnectionAbortedError

        cloud = self.service(hang_up)
        cloud.server.handle_error = lambda *_: None
        with self.assertRaises(signer.Refused) as refused:
            self.tokens().fetched(cloud.url)
        self.assertEqual(refused.exception.status, 503)


class ConnectorTest(Case):
    def test_the_bank_redirects_neither_tokens_nor_payments(self):
        other = self.service(lambda _: (200, {}, {"items": [], "access_token": "t", "expires_in": 60}))
        for status in (301, 302, 303, 307, 308):

            def answer(request, status=status):
                if request.path == "/token":
                    return 200, {}, {"access_token": "t", "expires_in": 3600}
                return status, {"Location": other.url + request.path}, {}

            bank = self.service(answer)
            settings = {"BANK_URL": bank.url, "BANK_CLIENT_ID": "c", "BANK_CLIENT_SECRET": "s"}
            client = connector.Bank({**settings, "BANK_TOKEN_URL": bank.url + "/token"})
            with self.subTest(status=status):
                with self.assertRaises(connector.Unclear):
                    client.find("a")
                with self.assertRaises(connector.Unclear):
                    client.pay({})
            client = connector.Bank({**settings, "BANK_TOKEN_URL": bank.url + "/elsewhere"})
            with self.subTest(status=status), self.assertRaises(connector.NotSent):
                client.pay({})
        self.assertEqual(other.seen, [])


if __name__ == "__main__":
    unittest.main()
