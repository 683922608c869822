#!/usr/bin/env bash
# Generates clients from both OpenAPI documents as integrators do, compiles them, and makes payments
# and payment requests with each against its own sandbox. Takes the program, and the clients to test
# (default: all):
#
#   e2e/clients/run.sh target/debug/corridor [python python-client typescript java go csharp]
#
# Needs Python 3.10 or later, and a JDK (11 or later) for all but python-client and typescript. A
# client whose language is not installed is skipped and listed at the end; one that is named on the
# command line must run.
set -euo pipefail
shopt -s inherit_errexit

readonly USAGE="usage: run.sh <corridor> [client…]"
readonly HERE="$(cd "$(dirname "$0")" && pwd)"
readonly DOCUMENTS="$HERE/../../docs/openapi"
readonly READY_AT_MOST_S=60
readonly PROGRAM="$(realpath "${1:?$USAGE}")"
shift
readonly NAMED=("$@")

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

venv="${CORRIDOR_CLIENTS_VENV:-${CARGO_TARGET_DIR:-$HERE/../../target}/clients}"
if ! cmp -s "$HERE/requirements.txt" "$venv/requirements.txt"; then
    python3 -m venv "$venv"
    "$venv/bin/pip" install --quiet --disable-pip-version-check -r "$HERE/requirements.txt"
    cp "$HERE/requirements.txt" "$venv/requirements.txt"
fi
readonly JAR=$(find "$venv" -name openapi-generator.jar)

generate() { # generate <generator> <service> <directory> [option…]
    local generator="$1" service="$2" directory="$3"
    shift 3
    java -jar "$JAR" generate -g "$generator" -i "$DOCUMENTS/$service.json" -o "$directory" "$@" >"$work/generator.log" 2>&1 ||
        { cat "$work/generator.log" >&2; return 1; }
}

python() {
    local service
    for service in payment wallet; do
        generate python "$service" "$work/python-$service" --package-name "corridor_$service"
    done
    PYTHONPATH="$work/python-payment:$work/python-wallet" "$venv/bin/python" "$HERE/python/client.py"
}

python-client() {
    local service
    for service in payment wallet; do
        PATH="$venv/bin:$PATH" "$venv/bin/openapi-python-client" generate --path "$DOCUMENTS/$service.json" --meta none \
            --output-path "$work/python_client/corridor_$service" >"$work/generator.log" 2>&1 ||
            { cat "$work/generator.log" >&2; return 1; }
    done
    PYTHONPATH="$work/python_client" "$venv/bin/python" "$HERE/python_client/client.py"
}

typescript() {
    local service
    cp -r "$HERE/typescript" "$HERE/package.json" "$HERE/package-lock.json" "$work/"
    (cd "$work" && npm ci --no-audit --no-fund >npm.log 2>&1) || { cat "$work/npm.log" >&2; return 1; }
    for service in payment wallet; do
        (cd "$work" && npx openapi-typescript "$DOCUMENTS/$service.json" --default-non-nullable=false -o "typescript/$service.d.ts" >/dev/null 2>&1)
    done
    (cd "$work" && npx tsc --strict --target es2022 --module nodenext --types node --outDir compiled typescript/client.ts >&2)
    (cd "$work" && node compiled/client.js)
}

java-client() {
    local service sources="$work/sources.txt"
    for service in payment wallet; do
        generate java "$service" "$work/java-$service" --library native --additional-properties \
            "openApiNullable=false,invokerPackage=corridor.$service,apiPackage=corridor.$service.api,modelPackage=corridor.$service.model"
    done
    # The generator is written in Java and includes Jackson: no build tool and no other registry is
    # needed.
    find "$work/java-payment/src/main" "$work/java-wallet/src/main" "$HERE/java" -name '*.java' >"$sources"
    javac -nowarn -d "$work/classes" -cp "$JAR" "@$sources" 2>"$work/javac.log" || { cat "$work/javac.log" >&2; return 1; }
    java -cp "$JAR:$work/classes" Client
}

go-client() {
    local service gopath="$work/gopath"
    for service in payment wallet; do
        # Without the mapping the generator uses 32 bits for a number: too few for money.
        generate go "$service" "$gopath/src/corridor/$service" --type-mappings=number=float64 \
            --additional-properties="packageName=$service,withGoMod=false,enumClassPrefix=true"
        rm -rf "$gopath/src/corridor/$service/test"
    done
    cp -r "$HERE/go" "$gopath/src/corridor/client"
    # Dependencies of generated code besides Go itself, as in Debian
    # (golang-gopkg-validator.v2-dev).
    (cd "$gopath/src/corridor/client" && GO111MODULE=off GOPATH="$gopath:/usr/share/gocode" go run .)
}

csharp() {
    local service
    for service in payment wallet; do
        generate csharp "$service" "$work/csharp-$service" --library httpclient \
            --additional-properties="packageName=Corridor.${service^},targetFramework=net8.0"
    done
    cp -r "$HERE/csharp" "$work/csharp"
    (cd "$work/csharp" && dotnet run)
}

missing() { # missing <client>: what it needs and is not there
    case "$1" in
    python) needs java ;;
    python-client) ;;
    typescript) needs node npm ;;
    java) needs java javac ;;
    go)
        needs java go
        [ -d /usr/share/gocode/src/gopkg.in/validator.v2 ] || echo golang-gopkg-validator.v2-dev
        ;;
    csharp) needs java dotnet ;;
    *)
        echo "unknown client $1; $USAGE" >&2
        exit 2
        ;;
    esac
}

needs() {
    local tool
    for tool in "$@"; do command -v "$tool" >/dev/null || echo "$tool"; done
}

token() { # token <access key> <secret key> <api url> [claims]
    "$venv/bin/python" - "$@" <<'PYTHON'
import base64, hashlib, hmac, json, sys, time

access, secret, url, *more = sys.argv[1:]
part = lambda value: base64.urlsafe_b64encode(value).rstrip(b"=")
now = int(time.time())
claims = {"sub": access, "aud": url, "iss": url, "iat": now, "exp": now + 3600, **json.loads(more[0] if more else "{}")}
signed = b".".join(part(json.dumps(it).encode()) for it in ({"alg": "HS256", "typ": "JWT", "kid": access}, claims))
print((signed + b"." + part(hmac.digest(secret.encode(), signed, hashlib.sha256))).decode())
PYTHON
}

export CORRIDOR_DATA_DIR="$work/data"
unset CORRIDOR_CONFIG
"$PROGRAM" sandbox --port 0 --no-demo-data --output json >"$work/sandbox.json" 2>"$work/sandbox.log" &
sandbox=$!
for _ in $(seq $((READY_AT_MOST_S * 10))); do
    [ -s "$work/sandbox.json" ] && break
    kill -0 "$sandbox" || { cat "$work/sandbox.log" >&2; exit 1; }
    sleep 0.1
done
environment=$("$PROGRAM" env)
eval "$environment"
export BASE_URL="$CORRIDOR_BASE_URL" WALLET_ID="$CORRIDOR_WALLET_ID"
TOKEN=$(token "$CORRIDOR_ACCESS_KEY" "$CORRIDOR_SECRET_KEY" "$BASE_URL" '{"hmac": null}')
WALLET_TOKEN=$(token "$CORRIDOR_WALLET_ACCESS_KEY" "$CORRIDOR_WALLET_SECRET_KEY" "$BASE_URL" '{"roles": ["wallet_manager"]}')
export TOKEN WALLET_TOKEN

clients=("${NAMED[@]}")
if [ ${#clients[@]} = 0 ]; then clients=(python python-client typescript java go csharp); fi
ran=0
left_out=()
for client in "${clients[@]}"; do
    lacking=$(missing "$client" | paste -sd ' ')
    if [ -n "$lacking" ]; then
        if [ ${#NAMED[@]} != 0 ]; then
            echo "$client needs $lacking" >&2
            exit 1
        fi
        left_out+=("$client (no $lacking)")
        continue
    fi
    case "$client" in
    java | go) run="$client-client" ;;
    *) run="$client" ;;
    esac
    output=$("$run")
    echo "$client: $output"
    ran=$((ran + 1))
done
for client in "${left_out[@]}"; do echo "left out: $client"; done
echo "$ran clients made a payment and a payment request"
[ "$ran" -gt 0 ]
