"""docs/signers/signer.py and docs/connectors/connector.py against services that refuse tokens and redirect."""

import http.server
import importlib.util
import json
import os
import pathlib
import threading
import unittest
import unittest.mock
import urllib.error
import urllib.parse
import urllib.request

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

    def refused(self, status, headers, answer):
        """The refusal of a key service that answers so."""
        cloud = self.service(lambda _: (status, headers, answer))
        with self.assertRaises(signer.Refused) as refused:
            self.tokens().fetched(cloud.url, {})
        return refused.exception

    def test_the_clouds_own_reason_is_passed_on_in_one_line_and_without_the_token(self):
        azure = {"error": {"code": "Forbidden", "message": "Operation sign is\r\nnot allowed", "innererror": {"code": "KeyDisabled"}}}
        google = {"error": {"code": 400, "status": "FAILED_PRECONDITION", "message": "state is DESTROY_SCHEDULED"}}
        oauth = {"error": "invalid_client", "error_description": "AADSTS700213: no matching federated identity"}
        for status, answer, words in (
            (403, azure, "HTTP 403: Forbidden: KeyDisabled: Operation sign is  not allowed"),
            (400, google, "HTTP 400: FAILED_PRECONDITION: state is DESTROY_SCHEDULED"),
            (401, oauth, "HTTP 401: invalid_client: AADSTS700213: no matching federated identity"),
            (403, {"error": {"message": "Bearer token-1 is not valid"}}, "HTTP 403: Bearer … is not valid"),
            (500, ["?"], "HTTP 500"),
            (500, {"error": None}, "HTTP 500"),
        ):
            with self.subTest(answer=answer):
                refused = self.refused(status, {}, answer)
                self.assertEqual((refused.status, refused.retry_after), (502, None))
                self.assertEqual(refused.reason, f"the key service answered {words}")
        long = self.refused(400, {}, {"error": {"message": "x" * 5000}})
        self.assertLess(len(long.reason), 400)

    def test_a_limited_rate_is_said_with_its_time(self):
        for status, headers, after in (
            (429, {"Retry-After": "7"}, "7"),
            (503, {"Retry-After": "2"}, "2"),
            (429, {}, "1"),
            (429, {"Retry-After": "Wed, 21 Oct 2026 07:28:00 GMT"}, "1"),
        ):
            with self.subTest(status=status, headers=headers):
                refused = self.refused(status, headers, {"error": {"code": "Throttled", "message": "slow"}})
                self.assertEqual((refused.status, refused.retry_after), (503, after))

    def test_the_caller_gets_the_reason_and_the_time(self):
        class Key:
            def point(self):
                raise signer.Refused(503, "later", "7")

        handler = signer.handler({}, b"t" * 24, {"one": Key()})
        handler.log_message = lambda *_: None
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        url = f"http://127.0.0.1:{server.server_port}/v1/keys/one"
        request = urllib.request.Request(url, headers={"Authorization": "Bearer " + "t" * 24})
        with self.assertRaises(urllib.error.HTTPError) as answer:
            urllib.request.urlopen(request, timeout=5)
        with answer.exception as error:
            self.assertEqual((error.code, error.headers["Retry-After"], json.load(error)), (503, "7", {"error": "later"}))

    def test_one_of_several_user_assigned_identities_is_chosen(self):
        host = self.service(lambda _: (200, {}, {"access_token": "t", "expires_in": 60}))
        for client, sent in ((None, []), ("", []), ("2f1c&x", ["2f1c&x"])):
            environment = {"AZURE_POD_IDENTITY_AUTHORITY_HOST": host.url, **({} if client is None else {"AZURE_CLIENT_ID": client})}
            with self.subTest(client=client), unittest.mock.patch.dict(os.environ, environment, clear=True):
                signer.azure_token()
                query = urllib.parse.parse_qs(urllib.parse.urlsplit(host.seen[-1][1]).query)
                self.assertEqual(query.pop("client_id", []), sent)
                self.assertEqual(query, {"api-version": ["2018-02-01"], "resource": ["https://vault.azure.net"]})

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
