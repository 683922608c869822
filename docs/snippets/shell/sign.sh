#!/usr/bin/env bash
# Signs one call to each service with OpenSSL and sends it with curl. The keys come from the environment.
set -euo pipefail

b64url() { openssl base64 -A | tr '+/' '-_' | tr -d '='; }

# The key reaches OpenSSL as an argument: fine for a test, but not on a machine with other users.
mac() { openssl dgst -sha256 -hmac "$1" -binary; }

# token <access key> <secret key> <API URL> <more claims, each with a leading comma>
token() {
    local now header claims
    now=$(date +%s)
    header=$(printf '{"alg":"HS256","typ":"JWT","kid":"%s"}' "$1" | b64url)
    claims=$(printf '{"sub":"%s","aud":"%s","iss":"%s","iat":%d,"exp":%d%s}' "$1" "$3" "$3" "$now" "$((now + 60))" "$4" | b64url)
    printf '%s.%s.%s' "$header" "$claims" "$(printf %s "$header.$claims" | mac "$2" | b64url)"
}

# POST: the claim `hmac` covers exactly the bytes that are sent.
body='{"country":"PAK","currency":"AED","amount":500}'
hmac=$(printf %s "$body" | mac "$CORRIDOR_SECRET_KEY" | od -An -v -tx1 | tr -d ' \n')
curl -sS --fail-with-body "$CORRIDOR_BASE_URL/v2/quote" -H 'content-type: application/json' -d "$body" \
    -H "authorization: Bearer $(token "$CORRIDOR_ACCESS_KEY" "$CORRIDOR_SECRET_KEY" "$CORRIDOR_BASE_URL" ",\"hmac\":\"$hmac\"")"
echo

# GET: no body, no hmac. Wallet tokens carry roles.
curl -sS --fail-with-body "$CORRIDOR_WALLET_BASE_URL/v1/sdk/wallets/$CORRIDOR_WALLET_ID" \
    -H "authorization: Bearer $(token "$CORRIDOR_WALLET_ACCESS_KEY" "$CORRIDOR_WALLET_SECRET_KEY" "$CORRIDOR_WALLET_BASE_URL" ',"roles":["wallet_manager"]')"
echo
