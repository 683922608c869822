#!/usr/bin/env bash
# Verifies a webhook: verify.sh <webhook-id> <webhook-timestamp> <webhook-signature> [now] < raw body
# CORRIDOR_WEBHOOK_SECRET holds one secret, or two separated by a space during a rotation.
set -feuo pipefail
readonly TOLERANCE_S=300

id=$1 sent=$2 signatures=$3 now=${4:-$(date +%s)}
body=$(mktemp)
trap 'rm -f "$body"' EXIT
cat >"$body"

case $sent in '' | *[!0-9]*) echo forged; exit 1 ;; esac
age=$((now - sent))
if [ "${age#-}" -gt "$TOLERANCE_S" ]; then echo forged; exit 1; fi

# Both sides are hashed again with a one-time key, so that the time of the comparison reveals nothing.
once=$(openssl rand -hex 32)
blind() { printf %s "$1" | openssl dgst -sha256 -mac HMAC -macopt "hexkey:$once" -r; }

for secret in $CORRIDOR_WEBHOOK_SECRET; do
    key=$(printf %s "${secret#whsec_}" | openssl base64 -A -d | od -An -v -tx1 | tr -d ' \n')
    expected="v1,$({ printf '%s.%s.' "$id" "$sent"; cat "$body"; } |
        openssl dgst -sha256 -mac HMAC -macopt "hexkey:$key" -binary | openssl base64 -A)"
    for given in $signatures; do
        if [ "$(blind "$given")" = "$(blind "$expected")" ]; then echo genuine; exit 0; fi
    done
done
echo forged
exit 1
