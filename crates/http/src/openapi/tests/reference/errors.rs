//! Every error code of both services: status and code from the documents, which tests compare with
//! the source; condition and remedy from the tables here, which must cover every code.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use serde_json::Value;

use super::super::codes::listed;
use super::super::{document, wallet::wallet_document};
use super::rules::RULES;
use super::{MARK, check, derived};

/// Status, code, condition, remedy.
type Row = (u16, &'static str, &'static str, &'static str);

/// Payment Service v2, by status.
const PAYMENT: [Row; 29] = [
    (
        400,
        "corridor_unavailable",
        "the corridor is closed, or no rail is available for the amount now",
        "retry later; see [corridors and rails](../guides/corridors-and-rails.md)",
    ),
    (
        400,
        "rate_unavailable",
        "the pair has no rate, or its last rate is too old for a quote",
        "retry in a minute; if it persists, contact the operator",
    ),
    (
        400,
        "open_quote_limit",
        "too many quotes are open in the corridor; `limit` is the maximum",
        "pay open quotes or let them expire",
    ),
    (
        400,
        "quote_not_found",
        "the quote does not exist, or belongs to another country or client",
        "check the id and `country`",
    ),
    (
        400,
        "quote_used",
        "the quote was already paid by the payment `payment_id`",
        "check that payment: it may be your own first attempt",
    ),
    (400, "quote_expired", "its `expires` has passed", "request a new quote"),
    (
        400,
        "insufficient_balance",
        "the prefund does not cover the amount, premium and rail cost",
        "top up the prefund, then repeat the request while the quote is valid",
    ),
    (
        400,
        "payment_not_found",
        "the payment does not exist, or belongs to another country or client",
        "check the id and `country`",
    ),
    (
        400,
        "cursor_ahead",
        "`after` (or `Last-Event-ID`) is beyond the newest event, `head`: a position of another tenant, environment or log, or of a log that was reset or restored",
        "start with `after=0`, and update your records with GET /v2/payments",
    ),
    (
        400,
        "cursor_expired",
        "`after` is older than the stored events (30 days)",
        "start with `after=0`, and update your records with GET /v2/payments",
    ),
    (
        400,
        "body_incomplete",
        "the connection ended before the body was complete",
        "repeat it with the same `external_id`",
    ),
    (
        401,
        "unauthorized",
        "the token is missing or wrong; outside production the message names the claim",
        "run `corridor token inspect`; check the clock, the key, `aud` and `iss`",
    ),
    (403, "key_suspended", "the access key is suspended", "contact the operator"),
    (
        403,
        "address_not_allowed",
        "the access key may not be used from your address",
        "call from an allowed address, or have yours allowed",
    ),
    (403, "corridor_not_enabled", "the corridor is not agreed for you", "contact the operator"),
    (404, "not_found", "the path does not exist", "check the path; unknown ids are 400"),
    (405, "method_not_allowed", "the path does not support the method", "check the method"),
    (
        408,
        "body_too_slow",
        "the body did not arrive in time",
        "repeat it with the same `external_id`",
    ),
    (
        409,
        "payment_not_cancellable",
        "a bank may have the payment, or it has ended; `status` says so",
        "request a recall of a payment that was sent",
    ),
    (
        409,
        "payment_not_recallable",
        "the payment was not sent yet, or nothing is left to return",
        "cancel a payment that was not sent",
    ),
    (
        409,
        "recall_open",
        "the payment is being recalled by `recall_id`",
        "wait for the bank's answer to that one",
    ),
    (409, "rail_cannot_recall", "the rail `rail` accepts no recalls", "contact the operator"),
    (
        409,
        "request_under_way",
        "the first request with this Idempotency-Key is still in progress",
        "wait for `Retry-After`, then repeat it with the same key",
    ),
    (
        413,
        "body_too_large",
        "the body is larger than 64 KiB",
        "send less: no valid request is that large",
    ),
    (
        415,
        "unsupported_media_type",
        "the body is not `application/json`, or is compressed",
        "set `content-type: application/json`, no `content-encoding`",
    ),
    (
        429,
        "rate_limited",
        "the access key's rate limit is exceeded",
        "wait for `Retry-After`; see [limits](limits.md)",
    ),
    (429, "too_many_streams", "too many event streams are open with this access key", "close one"),
    (
        500,
        "internal_error",
        "the service failed; the outcome is unknown",
        "check before you repeat: GET /v2/payments with `search_type=external_id`; give the operator the `request_id`",
    ),
    (
        503,
        "unavailable",
        "the service is busy, or a dependency is unavailable",
        "wait for `Retry-After`, then repeat it with the same `external_id`",
    ),
];

/// Wallet Service v1, by status.
const WALLET: [Row; 16] = [
    (
        400,
        "INVALID_REQUEST",
        "the request violates a rule; see `field`, `message` and `details.faults`",
        "correct the field",
    ),
    (
        401,
        "UNAUTHORIZED",
        "the token is missing or wrong; outside production the message names the claim",
        "run `corridor token inspect`",
    ),
    (
        403,
        "FORBIDDEN",
        "a role is missing (`details.required_role`), or the key is suspended or used from another address",
        "add the role to the token, or contact the operator",
    ),
    (
        403,
        "KYC_REQUIRED",
        "the customer's KYC level is below `required_kyc_level`",
        "verify the customer, then provision with that level",
    ),
    (
        404,
        "NOT_FOUND",
        "the resource named by `field` does not exist or belongs to another client, or the path does not exist",
        "check the id",
    ),
    (405, "INVALID_REQUEST", "the path does not support the method", "check the method"),
    (
        408,
        "INVALID_REQUEST",
        "the body did not arrive in time",
        "repeat it with the same Idempotency-Key",
    ),
    (
        409,
        "CONFLICT",
        "its state does not allow it (`details.current_status`), or the first request with this Idempotency-Key is in progress",
        "read it, then decide; with a key, wait for `Retry-After`",
    ),
    (
        409,
        "WALLET_EXISTS",
        "the customer already has a wallet: `existing_wallet_id`",
        "use that one",
    ),
    (413, "INVALID_REQUEST", "the body is larger than 64 KiB", "send less"),
    (415, "INVALID_REQUEST", "the body has a `content-encoding`", "send it uncompressed"),
    (
        422,
        "VALIDATION_FAILED",
        "the current state does not allow it: the wallet is blocked (`details.wallet_status`), the amount cannot be paid out (`details.min`, `details.max`, or the rails' limit of one customer in `message`), or the Idempotency-Key was used with a different body",
        "do not repeat: see `message`",
    ),
    (
        422,
        "INSUFFICIENT_BALANCE",
        "the wallet's balance is too low: `details.available_balance`",
        "reduce the amount",
    ),
    (
        429,
        "RATE_LIMIT_EXCEEDED",
        "the rate limit of the group of operations is exceeded",
        "wait for `Retry-After`; see [limits](limits.md)",
    ),
    (
        500,
        "INTERNAL_ERROR",
        "the service failed; the outcome is unknown",
        "repeat a POST only with the same Idempotency-Key; give the operator the `request_id`",
    ),
    (
        503,
        "SERVICE_UNAVAILABLE",
        "busy, or no current rate is available",
        "wait for `Retry-After`, then repeat it with the same Idempotency-Key",
    ),
];

/// Before the head of a request is read, by status.
const UNREAD: [Row; 4] = [
    (
        400,
        "malformed_request",
        "the request is not valid HTTP, or contains a framing header twice",
        "check the HTTP client and the proxies between",
    ),
    (408, "head_too_slow", "the head of the request did not arrive in time", "repeat it"),
    (
        414,
        "uri_too_long",
        "HTTP/1.1: the head is larger than 16 KiB, and its first line, with the path and the query, is larger than 8 KiB",
        "shorten the query",
    ),
    (
        431,
        "head_too_large",
        "the head is larger than 16 KiB, or has too many headers; HTTP/2: also if the path is too long, without a body",
        "send fewer headers and cookies",
    ),
];

const UNREAD_HEAD: &str = "
## Requests that are not read

Neither service sees these requests; the connection is closed after the response, which has the form of the
service that the path belongs to. Below `/v1/sdk` the code is `INVALID_REQUEST`, with the same statuses.
";

const HEAD: &str = "
Both services return errors as JSON with the header `X-Request-Id`. The same id is in the operator's log and in the
body, except in a 422 of the payment service, where only the header has it. Codes are stable: programs rely on
status and code, never on the text of a message.

A POST that returned 500, 503, 408 or no response may have been executed. Repeat it with the same
`external_id` (payments) or `Idempotency-Key` (both services): it is executed once.

Checks run in this order: 401, 403, 429, the structure of the request (422; 400 in the wallet service), then the
named resources and their state. A request whose Idempotency-Key has a stored response gets that one, whatever has
changed since: a corridor that was closed or withdrawn refuses new requests only.
";

const FAULTS: &str = "
```json
{
  \"detail\": [
    {\"loc\": [\"body\", \"amount\"], \"msg\": \"Input should be greater than 0\", \"type\": \"greater_than\", \"ctx\": {\"gt\": 0}}
  ]
}
```
";

/// The status of a component, by its name.
fn status(name: &str) -> u16 {
    match name {
        "BadRequest" => 400,
        "Unauthorized" => 401,
        "Forbidden" => 403,
        "NotFound" => 404,
        "MethodNotAllowed" => 405,
        "RequestTimeout" => 408,
        "Conflict" => 409,
        "BodyTooLarge" => 413,
        "UnsupportedMediaType" => 415,
        "TooManyRequests" => 429,
        "InternalError" => 500,
        "Unavailable" => 503,
        other => panic!("{other} has no status here"),
    }
}

/// Status and code of every error in the payment service's document.
fn payment_codes(document: &Value) -> BTreeSet<(u16, &str)> {
    let schemas = document["components"]["schemas"].as_object().expect("an object");
    let coded = schemas
        .iter()
        .filter(|(_, schema)| schema.pointer("/properties/detail/properties/code/enum").is_some());
    coded
        .flat_map(|(name, schema)| {
            let codes = listed(&schema["properties"]["detail"]["properties"]["code"]);
            codes.into_iter().map(move |code| (status(name), code))
        })
        .collect()
}

fn table(out: &mut String, rows: &[Row]) {
    out.push_str("\n| Status | Code | When | What to do |\n|---|---|---|---|\n");
    for (status, code, when, what) in rows {
        writeln!(out, "| {status} | `{code}` | {when} | {what} |").expect("writing to a string");
    }
}

fn rules(out: &mut String, of: &BTreeSet<&str>) {
    out.push_str("\n| Rule | What it wants |\n|---|---|\n");
    for (rule, wants) in RULES.iter().filter(|(rule, _)| of.contains(rule)) {
        writeln!(out, "| `{rule}` | {wants} |").expect("writing to a string");
    }
    let missing: Vec<_> =
        of.iter().filter(|rule| !RULES.iter().any(|(known, _)| known == *rule)).collect();
    assert!(missing.is_empty(), "reference::rules::RULES lacks {missing:?}");
}

fn example(document: &Value, pointer: &str) -> String {
    let example = document.pointer(pointer).expect("an example");
    format!("\n```json\n{}\n```\n", serde_json::to_string_pretty(example).expect("JSON"))
}

#[test]
fn each_rule_is_one_of_a_service() {
    let (payment, wallet) = (derived::document(), wallet_document());
    let schemas = [&payment, &wallet].map(|document| &document["components"]["schemas"]);
    let mut named = listed(&schemas[0]["ValidationItem"]["properties"]["type"]);
    named.extend(listed(&schemas[1]["FaultItem"]["properties"]["rule"]));
    assert_eq!(named, RULES.iter().map(|(rule, _)| *rule).collect());
}

#[test]
fn the_tables_name_every_code_and_no_other() {
    let (payment, wallet) = (document(), wallet_document());
    let told: BTreeSet<(u16, &str)> =
        PAYMENT.iter().map(|(status, code, ..)| (*status, *code)).collect();
    assert_eq!(told, payment_codes(&payment));
    let told: BTreeSet<&str> = WALLET.iter().map(|(_, code, ..)| *code).collect();
    assert_eq!(told, listed(&wallet["components"]["schemas"]["Error"]["properties"]["error"]));
    // Every error status of the wallet service's operations, and those outside operations.
    let mut statuses = BTreeSet::from([405]);
    for operation in wallet["paths"]
        .as_object()
        .expect("an object")
        .values()
        .flat_map(|item| item.as_object().expect("an object").values())
    {
        let answers = operation["responses"].as_object().expect("an object").keys();
        statuses.extend(
            answers
                .filter(|status| *status != "200")
                .map(|status| status.parse::<u16>().expect("a status")),
        );
    }
    assert_eq!(WALLET.iter().map(|(status, ..)| *status).collect::<BTreeSet<_>>(), statuses);
}

#[test]
fn the_codes_of_unread_requests_are_those_of_the_source() {
    let source = include_str!("../../../server/refusal.rs");
    let named = source.split("(\"").skip(1).filter_map(|rest| rest.split('"').next());
    let is_code = |text: &&str| {
        text.contains('_') && text.bytes().all(|it| it.is_ascii_lowercase() || it == b'_')
    };
    let named: BTreeSet<&str> = named.filter(is_code).collect();
    assert_eq!(UNREAD.iter().map(|(_, code, ..)| *code).collect::<BTreeSet<_>>(), named);
}

#[test]
fn errors_md_matches_the_documents() {
    let (payment, wallet) = (derived::document(), wallet_document());
    let mut out = format!(
        "# Errors\n\n{MARK}\n{HEAD}\n## Payment Service v2\n\nThe body is `{{\"detail\": …}}`:\n"
    );
    out.push_str(&example(
        &payment,
        "/components/responses/BadRequest/content/application~1json/example",
    ));
    table(&mut out, &PAYMENT);
    out.push_str(
        "\n### Field errors (422)\n\nAll errors of a body at once, in field order, or all of a query string. `loc` is the location, `type` the rule:\n",
    );
    out.push_str(FAULTS);
    rules(
        &mut out,
        &listed(&payment["components"]["schemas"]["ValidationItem"]["properties"]["type"]),
    );
    out.push_str("\n## Wallet Service v1\n");
    out.push_str(&example(
        &wallet,
        "/components/responses/InvalidRequest/content/application~1json/example",
    ));
    table(&mut out, &WALLET);
    out.push_str("\n### Rules of `details.faults`\n");
    rules(&mut out, &listed(&wallet["components"]["schemas"]["FaultItem"]["properties"]["rule"]));
    out.push_str(UNREAD_HEAD);
    table(&mut out, &UNREAD);
    check("errors.md", &out);
}
