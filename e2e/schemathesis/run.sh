#!/usr/bin/env bash
# Tests a sandbox against its OpenAPI documents, with valid requests and many invalid ones: no 5xx,
# and no status, header or shape that they do not declare. Takes the program, and seconds per
# service:
#
#   e2e/schemathesis/run.sh target/debug/corridor [60]
#   e2e/schemathesis/run.sh --prepare              (only installs the requirements)
#
# Both services are tested concurrently.
#
# Needs Python 3.10 or later with the packages of requirements.txt, by default in a virtual
# environment that it creates.
set -euo pipefail

readonly USAGE="usage: run.sh <corridor> [seconds per service] | --prepare"
readonly HERE="$(cd "$(dirname "$0")" && pwd)"
readonly TENANTS=24
readonly READY_AT_MOST_S=60
readonly CHECKS=not_a_server_error,status_code_conformance,content_type_conformance,response_headers_conformance,response_schema_conformance

venv="${CORRIDOR_SCHEMATHESIS_VENV:-${CARGO_TARGET_DIR:-$HERE/../../target}/schemathesis}"
if ! cmp -s "$HERE/requirements.txt" "$venv/requirements.txt"; then
    python3 -m venv "$venv"
    "$venv/bin/pip" install --quiet --disable-pip-version-check -r "$HERE/requirements.txt"
    cp "$HERE/requirements.txt" "$venv/requirements.txt"
fi
if [ "${1:?$USAGE}" = --prepare ]; then exit 0; fi
readonly PROGRAM="$(realpath "$1")"
readonly SECONDS_EACH="${2:-60}"

work=$(mktemp -d)
sandbox=""
finish() {
    if [ -n "$sandbox" ]; then
        kill "$sandbox" 2>/dev/null || true
        wait "$sandbox" 2>/dev/null || true
    fi
    rm -rf "$work"
}
trap finish EXIT

for name in payment wallet; do
    "$venv/bin/openapi-spec-validator" "$HERE/../../docs/openapi/$name.json"
done

export CORRIDOR_DATA_DIR="$work/data"
unset CORRIDOR_CONFIG
"$PROGRAM" sandbox --port 0 --no-demo-data --output json >"$work/sandbox.json" 2>"$work/sandbox.log" &
sandbox=$!
for _ in $(seq $((READY_AT_MOST_S * 10))); do
    [ -s "$work/sandbox.json" ] && break
    kill -0 "$sandbox" || { cat "$work/sandbox.log" >&2; exit 1; }
    sleep 0.1
done

# Separate tenants, beside the demo bank: limits count for each.
keys() { # keys <pay|wallet>
    local tag key
    for number in $(seq "$TENANTS"); do
        tag="$1$number"
        "$PROGRAM" tenants create --tag "$tag" --name "Bank $number" >/dev/null
        key=$("$PROGRAM" keys create --tenant "$tag" --service "$1" --output json --set environment=mock)
        "$venv/bin/python" -c 'import json,sys; key = json.loads(sys.argv[1]); print(key["access_key"], key["secret_key"])' "$key"
    done
}

ask() ( # ask <payment|wallet>
    local name="$1" service=pay url
    [ "$name" = wallet ] && service=wallet
    CORRIDOR_KEYS=$(keys "$service")
    export CORRIDOR_KEYS
    url=$("$venv/bin/python" -c 'import json,sys; print(json.load(open(sys.argv[1]))["base_url"].rstrip("/"))' "$work/sandbox.json")
    mkdir "$work/$name"
    cd "$work/$name"
    CORRIDOR_SERVICE="$name" CORRIDOR_BASE_URL="$url" SCHEMATHESIS_HOOKS="$HERE/hooks.py" PYTHONDONTWRITEBYTECODE=1 \
        timeout "$((SECONDS_EACH * 10 + 300))" \
        "$venv/bin/schemathesis" run "$HERE/../../docs/openapi/$name.json" --url "$url" --phases examples,coverage,fuzzing \
        --checks "$CHECKS" --max-examples 50 --max-time "$SECONDS_EACH" --seed "${CORRIDOR_SEED:-1}" \
        --request-timeout 30 --continue-on-failure --warnings off --no-color
)

status=0
ask payment >"$work/payment.txt" 2>&1 &
asking=$!
ask wallet >"$work/wallet.txt" 2>&1 || status=1
wait "$asking" || status=1
for name in payment wallet; do
    echo "--- $name"
    cat "$work/$name.txt"
done
if ! kill -0 "$sandbox" 2>/dev/null; then
    echo "the sandbox ended by itself"
    status=1
fi
if grep -E '"level":"ERROR"' "$work/sandbox.log"; then
    echo "the service logged errors"
    status=1
fi
exit "$status"
