#!/usr/bin/env bash
# Builds the client packages from both OpenAPI documents and the signing layers here, and makes payments and
# payment requests with each against its own sandbox. Takes the program, and the clients to build
# (default: all):
#
#   clients/run.sh target/debug/corridor [python python-client typescript java go csharp]
#
# The packages are left in target/clients/packages. Nothing is published. `python-client` is no package:
# it shows that openapi-python-client works, too.
#
# Needs Python 3.10 or later, and a JDK (11 or later) for all but python-client and typescript. A
# client whose language is not installed is skipped and listed at the end; one that is named on the
# command line must run.
set -euo pipefail
shopt -s inherit_errexit

readonly USAGE="usage: run.sh <corridor> [client…]"
readonly HERE="$(cd "$(dirname "$0")" && pwd)"
readonly DOCUMENTS="$HERE/../docs/openapi"
readonly READY_AT_MOST_S=60
readonly PROGRAM="$(realpath "${1:?$USAGE}")"
shift
readonly NAMED=("$@")

work=$(mktemp -d)
sandbox=""
answers=""
finish() {
    local process
    for process in $sandbox $answers; do
        kill "$process" 2>/dev/null || true
        wait "$process" 2>/dev/null || true
    done
    rm -rf "$work"
}
trap finish EXIT

venv="${CORRIDOR_CLIENTS_VENV:-${CARGO_TARGET_DIR:-$HERE/../target}/clients}"
mkdir -p "$venv"
venv=$(realpath "$venv")
if ! cmp -s "$HERE/requirements.txt" "$venv/requirements.txt"; then
    python3 -m venv "$venv"
    "$venv/bin/pip" install --quiet --disable-pip-version-check -r "$HERE/requirements.txt"
    cp "$HERE/requirements.txt" "$venv/requirements.txt"
fi
readonly JAR=$(find "$venv" -name openapi-generator.jar)

packages="$venv/packages"
rm -rf "$packages"
mkdir "$packages"

generate() { # generate <generator> <service> <directory> [option…]
    local generator="$1" service="$2" directory="$3"
    shift 3
    quietly java -jar "$JAR" generate -g "$generator" -i "$DOCUMENTS/$service.json" -o "$directory" "$@"
}

# The package of each language is built in $work/<language> from the generated code and clients/<language>, and installed from
# there as its users install it.

python() {
    local service build="$work/python"
    cp -r "$HERE/python" "$build"
    for service in payment wallet; do
        generate python "$service" "$work/python-$service" --package-name "corridor_$service"
        cp -r "$work/python-$service/corridor_$service" "$build/"
        tolerate_in_python "$build/corridor_$service/models"
    done
    quietly "$venv/bin/pip" wheel --quiet --disable-pip-version-check --no-deps --wheel-dir "$packages" "$build"
    quietly "$venv/bin/pip" install --quiet --disable-pip-version-check --force-reinstall --no-deps "$packages"/corridor_client-*.whl
    (cd "$work" && "$venv/bin/python" "$HERE/python/test_client.py")
}

# Values of enumerations that a later version adds are read as they are, and what is of no known variant as a dictionary. Variants
# are selected by enumerations of their own, which stay closed.
tolerate_in_python() {
    local variants='/(payment_order_.*|.*_event|.*_transaction|.*_amount)\.py$'
    grep -l '(str, Enum)' "$1"/*.py | xargs sed -i '/^    def from_json/{
        s/^/    def _missing_(cls, value):\n        if not isinstance(value, str):\n            return None\n/
        s/    def from_json/        member = str.__new__(cls, value)\n        member._name_ = member._value_ = value\n        return member\n\n    @classmethod\n&/
    }'
    grep -l 'must be one of enum values' "$1"/*.py | grep -vE "$variants" | xargs sed -i 's/raise ValueError("must be one of enum values.*/return value/'
    grep -l 'No match found when deserializing' "$1"/*.py | xargs sed -i \
        's/raise ValueError("No match found when deserializing.*/return cls.model_construct(actual_instance=json.loads(json_str))/'
}

python-client() {
    local service
    for service in payment wallet; do
        PATH="$venv/bin:$PATH" quietly "$venv/bin/openapi-python-client" generate --path "$DOCUMENTS/$service.json" --meta none \
            --custom-template-path "$HERE/python-client/templates" --output-path "$work/python_client/corridor_$service"
    done
    PYTHONPATH="$work/python_client" TOKEN=$("$PROGRAM" token mint) "$venv/bin/python" "$HERE/python-client/client.py"
}

typescript() {
    local service build="$work/typescript" user="$work/typescript-user"
    cp -r "$HERE/typescript" "$build"
    (
        cd "$build"
        quietly npm ci --no-audit --no-fund
        for service in payment wallet; do
            quietly npx openapi-typescript "$DOCUMENTS/$service.json" --default-non-nullable=false -o "$service.d.ts"
        done
        npx tsc "${TSC[@]}" --declaration --outDir dist index.ts >&2
        cp payment.d.ts wallet.d.ts dist/
        quietly npm pack --pack-destination "$packages"
    )
    mkdir "$user"
    cp "$HERE/typescript/test.ts" "$user/"
    (
        cd "$user"
        printf '{"private": true, "type": "module"}' >package.json
        quietly npm install --no-audit --no-fund "$packages"/corridor-client-*.tgz
        ln -s "$build/node_modules/@types" node_modules/@types
        "$build/node_modules/.bin/tsc" "${TSC[@]}" --outDir compiled test.ts >&2
        node compiled/test.js
    )
}
readonly OPEN_OBJECTS="disallowAdditionalPropertiesIfNotPresent=false"
readonly TSC=(--strict --target es2022 --module nodenext --types node)

java-client() {
    local service sources="$work/sources.txt"
    for service in payment wallet; do
        generate java "$service" "$work/java-$service" --library native --additional-properties \
            "openApiNullable=false,invokerPackage=corridor.$service,apiPackage=corridor.$service.api,modelPackage=corridor.$service.model,$OPEN_ENUMS"
        tolerate_in_java "$work/java-$service/src/main/java/corridor/$service"
    done
    # The generator is written in Java and includes Jackson: no build tool and no other registry is
    # needed.
    find "$work/java-payment/src/main" "$work/java-wallet/src/main" "$HERE/java/corridor" "$HERE/java/javax" -name '*.java' >"$sources"
    quietly javac -nowarn -d "$work/classes" -cp "$JAR" "@$sources"
    jar --create --file "$packages/corridor-client-0.1.0.jar" -C "$work/classes" .
    cp "$HERE/java/pom.xml" "$packages/corridor-client-0.1.0.pom"
    # Also where numbers have other digits, and where text is not UTF-8.
    java -Duser.language=ar -Duser.country=EG -Dfile.encoding=ISO-8859-1 -cp "$JAR:$packages/corridor-client-0.1.0.jar" "$HERE/java/ClientTest.java" >&2
    java -cp "$JAR:$packages/corridor-client-0.1.0.jar" "$HERE/java/ClientTest.java"
}

readonly OPEN_ENUMS="enumUnknownDefaultCase=true,useOneOfDiscriminatorLookup=true"

# What is of no known variant has no instance. Each of the variants of an event's data can be read as a payment record, as no member is
# required. Bodies are UTF-8 wherever the program runs.
tolerate_in_java() {
    local data="$1/model/EventData.java"
    sed -i -E 's/log\.log\(Level\.WARNING, .*Failed to lookup discriminator value .* for (\w+)\. Possible.*/if (discriminatorValue != null) return new\1;/' \
        "$1"/model/*.java
    if [ -f "$data" ]; then
        sed -i -E -e 's/^( +)(deserialized = .*\(PaymentRecord\.class\);)$/\1if (!tree.has("order")) throw new IOException("no payment");\n\1\2/' \
            -e 's/^( +)(deserialized = .*\(Quote\.class\);)$/\1if (!tree.has("rate")) throw new IOException("no quote");\n\1\2/' \
            -e 's/throw new IOException\("Failed deserialization for EventData.*/return new EventData();/' "$data"
    fi
    sed -i 's/\.readAllBytes())/.readAllBytes(), java.nio.charset.StandardCharsets.UTF_8)/' "$1"/api/*.java
}

go-client() {
    local service build="$work/go"
    cp -r "$HERE/go" "$build"
    for service in payment wallet; do
        # Without the mapping the generator uses 32 bits for a number: too few for money. Without the lookup the code
        # needs a library besides Go's own.
        # Members that a later version adds are no errors.
        generate go "$service" "$build/$service" --type-mappings=number=float64 --additional-properties \
            "packageName=$service,withGoMod=false,enumClassPrefix=true,useOneOfDiscriminatorLookup=true,$OPEN_OBJECTS"
        rm -rf "${build:?}/$service/test"
        # Nor are its values of enumerations, which stay as they are, and its types of events, which have no variant.
        sed -i -E \
            -e 's/^\treturn fmt.Errorf\("%\+v is not a valid .*", value\)$/\t*v = enumTypeValue\n\treturn nil/' \
            -e 's/^\treturn fmt.Errorf\("data failed to match schemas in anyOf\(EventData\)"\)$/\treturn nil/' \
            -e 's|^\treturn nil, nil (// no data in ...Of schemas)$|\treturn []byte("null"), nil \1|' "$build/$service"/model_*.go
        if [ "$service" = payment ]; then sed -i '/^\t"fmt"$/d' "$build/payment/model_event_data.go"; fi
    done
    (cd "$build" && quietly go vet . ./test && go run ./test)
    tar --create --gzip --file "$packages/corridor-client-go-0.1.0.tar.gz" --directory "$build" .
}

csharp() {
    local service build="$work/csharp"
    cp -r "$HERE/csharp" "$build"
    for service in payment wallet; do
        # The plural, as the wallet service has a type Wallet: no namespace may have its name.
        generate csharp "$service" "$build/$service" --library httpclient \
            --additional-properties="packageName=Corridor.${service^}s,targetFramework=net8.0"
        tolerate_in_csharp "$build/$service/src/Corridor.${service^}s/Model"
    done
    (cd "$build/corridor" && quietly dotnet pack --output "$packages")
    # NuGet takes a version that it has unpacked before from there.
    rm -rf "$venv/nuget/corridor.client"
    (
        cd "$build/test"
        export NUGET_PACKAGES="$venv/nuget"
        quietly dotnet build --property:RestoreAdditionalProjectSources="$packages"
        dotnet run --no-build
    )
}

# Values of enumerations and members that a later version adds are no errors, and what is of no known variant is null. Variants are
# selected by enumerations of their own, which stay closed.
tolerate_in_csharp() {
    local variants='/(PaymentOrder[A-Z]+|[A-Za-z]+Event|[A-Za-z]+Transaction|[A-Za-z]+Amount)\.cs$'
    grep -l 'typeof(StringEnumConverter)' "$1"/*.cs | grep -vE "$variants" | xargs sed -i 's/typeof(StringEnumConverter)/typeof(global::Corridor.OpenEnumConverter)/'
    sed -i 's/MissingMemberHandling\.Error/MissingMemberHandling.Ignore/' "$1/AbstractOpenAPISchema.cs"
    grep -l 'cannot be deserialized into any schema' "$1"/*.cs | xargs sed -i \
        's/throw new InvalidDataException(.*cannot be deserialized into any schema defined\.");/return null;/'
}

# Shows the output of a command only if it fails.
quietly() {
    "$@" >"$work/quiet.log" 2>&1 || { cat "$work/quiet.log" >&2; return 1; }
}

missing() { # missing <client>: what it needs and is not there
    case "$1" in
    python) needs java ;;
    python-client) ;;
    typescript) needs node npm ;;
    java) needs java javac jar ;;
    go) needs java go ;;
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
# What a sandbox does not answer: later versions, limits, redirects.
python3 "$HERE/answers.py" >"$work/answers" &
answers=$!
for _ in $(seq $((READY_AT_MOST_S * 10))); do
    [ -s "$work/answers" ] && break
    sleep 0.1
done
CORRIDOR_ANSWERS_URL=$(cat "$work/answers")
export CORRIDOR_ANSWERS_URL

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
