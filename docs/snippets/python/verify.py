"""Verifies a webhook: verify.py <webhook-id> <webhook-timestamp> <webhook-signature> [now] < raw body"""

import base64
import hashlib
import hmac
import os
import sys
import time

TOLERANCE_S = 300


def genuine(secrets: list[str], id: str, sent: str, signatures: str, body: bytes, now: int) -> bool:
    if not (sent.isascii() and sent.isdigit()) or abs(now - int(sent)) > TOLERANCE_S:
        return False
    found = False
    for secret in secrets:
        key = base64.b64decode(secret.removeprefix("whsec_"))
        mac = hmac.digest(key, f"{id}.{sent}.".encode() + body, hashlib.sha256)
        expected = b"v1," + base64.b64encode(mac)
        for given in signatures.split(" "):
            found |= hmac.compare_digest(expected, given.encode())
    return found


if __name__ == "__main__":
    id, sent, signatures = sys.argv[1:4]
    now = int(sys.argv[4]) if len(sys.argv) > 4 else int(time.time())
    # One secret, or two separated by a space during a rotation.
    secrets = os.environ["CORRIDOR_WEBHOOK_SECRET"].split()
    verdict = genuine(secrets, id, sent, signatures, sys.stdin.buffer.read(), now)
    print("genuine" if verdict else "forged")
    sys.exit(0 if verdict else 1)
