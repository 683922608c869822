//! Every error code of both services: status and code from the documents, which tests compare with
//! the source; condition and remedy from the tables here, which must cover every code.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use serde_json::Value;

use super::super::codes::listed;
use super::super::{document, wallet::wallet_document};
use super::rules::RULES;
use super::{MARK, check};

/// Status, code, condition, remedy.
type Row = (u16, &'static str, &'static str, &'static str);

/// Payment Service v2, by status.
const PAYMENT: [Row; 25] = [
    (
        400,
        "corridor_unavailable",
        "the corridor is closed, or no rail into it can take the amount now",
        "ask for a quote later; [corridors and rails](../guides/corridors-and-rails.md) says what opens one",
    ),
    (
        400,
        "rate_unavailable",
        "there is no rate for the pair, or the last one is too old to quote from",
        "ask again in a minute; if it stays, tell the operator",
    ),
    (
        400,
        "open_quote_limit",
        "too many quotes are open in the corridor; `limit` says how many may be",
        "pay or let expire what is open",
    ),
    (
        400,
        "quote_not_found",
        "there is no such quote, or it is another country's or another client's",
        "check the id and `country`",
    ),
    (
        400,
        "quote_used",
        "the quote was paid before; `payment_id` says by which payment",
        "look at that payment: it may be your own first try",
    ),
    (400, "quote_expired", "its `expires` has come", "ask for a new quote"),
    (
        400,
        "insufficient_balance",
        "the prefund does not cover amount, premium and cost of the rail",
        "pay in, then send the same request again while the quote is valid",
    ),
    (
        400,
        "payment_not_found",
        "there is no such payment, or it is another country's or another client's",
        "check the id and `country`",
    ),
    (
        400,
        "cursor_ahead",
        "`after` (or `Last-Event-ID`) is beyond the newest event, `head`: a position of another tenant, environment or log, or of a log that was reset or restored",
        "begin with `after=0`, and bring your records up to date with GET /v2/payments",
    ),
    (
        400,
        "cursor_expired",
        "`after` names an event that is older than the log keeps (30 days)",
        "begin with `after=0`, and bring your records up to date with GET /v2/payments",
    ),
    (400, "body_incomplete", "the connection ended before the body did", "send it again with the same `external_id`"),
    (
        401,
        "unauthorized",
        "the token is missing or wrong; outside production the message names the claim",
        "`corridor token inspect` says what is wrong with a token; check the clock, the key's text, `aud` and `iss`",
    ),
    (403, "key_suspended", "the access key is suspended", "ask the operator"),
    (
        403,
        "address_not_allowed",
        "the access key may not be used from your address",
        "call from an agreed address, or agree on another",
    ),
    (403, "corridor_not_enabled", "the corridor is not agreed for you", "ask the operator"),
    (404, "not_found", "there is no such path", "check the path; ids that are unknown are 400"),
    (405, "method_not_allowed", "the path does not take this method", "check the method"),
    (408, "body_too_slow", "the body did not arrive in time", "send it again with the same `external_id`"),
    (
        409,
        "request_under_way",
        "the first request with this Idempotency-Key is still being worked on",
        "wait for `Retry-After`, send it again with the same key",
    ),
    (413, "body_too_large", "the body is larger than 64 KiB", "send less: no valid request is that large"),
    (
        415,
        "unsupported_media_type",
        "the body is not `application/json`, or is compressed",
        "set `content-type: application/json`, no `content-encoding`",
    ),
    (
        429,
        "rate_limited",
        "more requests than the access key may make",
        "wait for `Retry-After`; see [limits](limits.md)",
    ),
    (429, "too_many_streams", "too many event streams are open with this access key", "close one"),
    (
        500,
        "internal_error",
        "the service failed; whether something was done is not known",
        "look before you repeat: GET /v2/payments with `search_type=external_id`; tell the operator the `request_id`",
    ),
    (
        503,
        "unavailable",
        "the service is busy or cannot reach what it needs",
        "wait for `Retry-After`, send the same request again with the same `external_id`",
    ),
];

/// Wallet Service v1, by status.
const WALLET: [Row; 16] = [
    (
        400,
        "INVALID_REQUEST",
        "the request breaks a rule; `field`, `message` and `details.faults` say which",
        "mend the field",
    ),
    (
        401,
        "UNAUTHORIZED",
        "the token is missing or wrong; outside production the message names the claim",
        "`corridor token inspect` says what is wrong with a token",
    ),
    (
        403,
        "FORBIDDEN",
        "a role is missing (`details.required_role`), or the key is suspended or used from another address",
        "put the role into the token, or ask the operator",
    ),
    (
        403,
        "KYC_REQUIRED",
        "the customer's KYC level is too low; `required_kyc_level` says which would do",
        "identify the customer further, then provision with that level",
    ),
    (
        404,
        "NOT_FOUND",
        "there is no such thing (`field` says what), it is another client's, or no such path",
        "check the id",
    ),
    (405, "INVALID_REQUEST", "the path does not take this method", "check the method"),
    (408, "INVALID_REQUEST", "the body did not arrive in time", "send it again with the same Idempotency-Key"),
    (
        409,
        "CONFLICT",
        "its state does not allow it (`details.current_status`), or the first request with this Idempotency-Key is under way",
        "read it, then decide; with a key wait for `Retry-After`",
    ),
    (409, "WALLET_EXISTS", "the customer has a wallet: `existing_wallet_id`", "use that one"),
    (413, "INVALID_REQUEST", "the body is larger than 64 KiB", "send less"),
    (415, "INVALID_REQUEST", "the body has a `content-encoding`", "send it uncompressed"),
    (
        422,
        "VALIDATION_FAILED",
        "well-formed, but not as things stand: the wallet is blocked (`details.wallet_status`), or the Idempotency-Key had another body",
        "do not repeat: see `message`",
    ),
    (422, "INSUFFICIENT_BALANCE", "the wallet has less than asked for: `details.available_balance`", "ask for less"),
    (
        429,
        "RATE_LIMIT_EXCEEDED",
        "more requests in this minute than the group of operations has",
        "wait for `Retry-After`; see [limits](limits.md)",
    ),
    (
        500,
        "INTERNAL_ERROR",
        "the service failed; whether something was done is not known",
        "repeat a POST with the same Idempotency-Key only; tell the operator the `request_id`",
    ),
    (
        503,
        "SERVICE_UNAVAILABLE",
        "busy, or there is no current rate",
        "wait for `Retry-After`, send the same again with the same Idempotency-Key",
    ),
];

const HEAD: &str = "
Both services answer errors as JSON and always with the header `X-Request-Id`; the same id is in the body and in the
operator's log. Codes are stable: programs decide by status and code, never by the text of a message.

A POST that was answered with 500, 503, 408 or not at all may have been carried out. Send it again with the same
`external_id` (payments) or `Idempotency-Key` (both services): it is carried out once.

Errors are looked for in this order: 401, 403, 429, the shape of the request (422; 400 in the wallet service), then what
it names and whether it can be done.
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
    let coded =
        schemas.iter().filter(|(_, schema)| schema.pointer("/properties/detail/properties/code/enum").is_some());
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
    let missing: Vec<_> = of.iter().filter(|rule| !RULES.iter().any(|(known, _)| known == *rule)).collect();
    assert!(missing.is_empty(), "reference::rules::RULES lacks {missing:?}");
}

fn example(document: &Value, pointer: &str) -> String {
    let example = document.pointer(pointer).expect("an example");
    format!("\n```json\n{}\n```\n", serde_json::to_string_pretty(example).expect("JSON"))
}

#[test]
fn the_tables_name_every_code_and_no_other() {
    let (payment, wallet) = (document(), wallet_document());
    let told: BTreeSet<(u16, &str)> = PAYMENT.iter().map(|(status, code, ..)| (*status, *code)).collect();
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
        statuses
            .extend(answers.filter(|status| *status != "200").map(|status| status.parse::<u16>().expect("a status")));
    }
    assert_eq!(WALLET.iter().map(|(status, ..)| *status).collect::<BTreeSet<_>>(), statuses);
}

#[test]
fn errors_md_matches_the_documents() {
    let (payment, wallet) = (document(), wallet_document());
    let mut out = format!("# Errors\n\n{MARK}\n{HEAD}\n## Payment Service v2\n\nThe body is `{{\"detail\": …}}`:\n");
    out.push_str(&example(&payment, "/components/responses/BadRequest/content/application~1json/example"));
    table(&mut out, &PAYMENT);
    out.push_str(
        "\n### Faults of fields (422)\n\nAll faults of a request at once. `loc` says where, `type` is the rule:\n",
    );
    out.push_str(FAULTS);
    rules(&mut out, &listed(&payment["components"]["schemas"]["ValidationItem"]["properties"]["type"]));
    out.push_str("\n## Wallet Service v1\n");
    out.push_str(&example(&wallet, "/components/responses/InvalidRequest/content/application~1json/example"));
    table(&mut out, &WALLET);
    out.push_str("\n### Rules of `details.faults`\n");
    rules(&mut out, &listed(&wallet["components"]["schemas"]["FaultItem"]["properties"]["rule"]));
    check("errors.md", &out);
}
