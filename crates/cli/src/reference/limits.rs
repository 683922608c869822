//! Every limit that a client can meet, with its constant or default value.

use std::fmt::Write as _;

use domain::delivery::SCHEDULE;
use domain::time::Span;
use http_api::server::deadline;
use http_api::wallet_groups::{Group, GroupLimits};
use http_api::{address_windows, auth, json, payments_v2, rail_callbacks, request_id, server};

use super::{check, head};
use config::REFERENCE;

/// A configuration default, as written in the reference.
fn default(key: &str) -> String {
    let table: toml::Table = REFERENCE.parse().expect("TOML");
    let mut parts = key.split('.').peekable();
    let mut at = &table;
    loop {
        let part = parts.next().expect("a key");
        let value = at.get(part).unwrap_or_else(|| panic!("{key} is no key"));
        match value.as_table() {
            Some(inner) if parts.peek().is_some() => at = inner,
            _ => return value.to_string(),
        }
    }
}

fn words(span: Span) -> String {
    let seconds = span.0 / 1_000_000;
    match seconds {
        s if s % 86_400 == 0 && s > 86_400 => format!("{} days", s / 86_400),
        s if s % 3_600 == 0 && s > 0 => format!("{} h", s / 3_600),
        s if s % 60 == 0 && s > 0 => format!("{} min", s / 60),
        s => format!("{s} s"),
    }
}

fn table(out: &mut String, title: &str, rows: &[(&str, String)]) {
    write!(out, "\n## {title}\n\n| Limit | Value |\n|---|---|\n").expect("writing to a string");
    for (name, value) in rows {
        writeln!(out, "| {name} | {value} |").expect("writing to a string");
    }
}

const WORDS: &str = "
*Default* means that the operator can configure another value ([configuration](config.md)); everything else is fixed. A
limited request returns 429 with `Retry-After`; every response has `X-RateLimit-Limit`, `X-RateLimit-Remaining` and
`X-RateLimit-Reset` (in seconds).
";

fn requests() -> Vec<(&'static str, String)> {
    let of = |key: &str, unit: &str| {
        format!("{} {unit} (default, `{key}`)", default(key)).replace("  ", " ")
    };
    vec![
        ("Body", of("http.max_body_bytes", "bytes")),
        (
            "Request head",
            format!("{} bytes, {} headers", server::HEAD_MAX_BYTES, server::HEADERS_MAX),
        ),
        ("`authorization`", format!("{} bytes", auth::AUTHORIZATION_MAX_BYTES)),
        (
            "Accepted length of `X-Request-Id`",
            format!("{} characters", request_id::REQUEST_ID_MAX_CHARS),
        ),
        ("JSON nesting depth", json::DEPTH_MAX.to_string()),
        ("Time to send the head", of("http.header_timeout_s", "s")),
        ("Idle time of a connection", of("http.idle_timeout_s", "s")),
        ("Time to send the body", of("http.body_timeout_s", "s")),
        ("Streams of one HTTP/2 connection", server::HTTP2_STREAMS_MAX.to_string()),
        ("Connections", of("http.max_connections", "")),
        ("Connections from one address", of("http.max_connections_per_address", "")),
        (
            "Time until an answer, or a 503 if the database delays it",
            format!("{} s", deadline::ANSWER_WITHIN.as_secs()),
        ),
        (
            "Time that a request waits for an earlier one with its Idempotency-Key, before a 409",
            format!("{} s", payments_v2::PATIENCE.as_secs()),
        ),
        ("Tolerated clock skew for tokens", format!("{} s", auth::LEEWAY_S)),
        ("Token lifetime, payment API in production", of("security.token_max_age_s", "s")),
        ("Token lifetime, wallet API in production", of("wallets.token_max_age_s", "s")),
        ("Validity of an Idempotency-Key", words(store::IDEMPOTENCY_KEPT)),
        (
            "Callbacks of connectors that are refused with 401, per address",
            format!("{} in {} s", rail_callbacks::REFUSED_PER_MINUTE, address_windows::WINDOW_S),
        ),
    ]
}

fn payments() -> Vec<(&'static str, String)> {
    let rate = |name: &str| {
        let (steady, burst) = (format!("limits.{name}_per_s"), format!("limits.{name}_burst"));
        format!(
            "{} a second, {} at once (default, `{steady}`, `{burst}`)",
            default(&steady),
            default(&burst)
        )
    };
    let streams = default("limits.streams_per_key");
    vec![
        ("POST /v2/quote, per access key", rate("quote")),
        ("POST /v2/payment, `cancel` and `recalls`, per access key", rate("payment")),
        (
            "GET /v2/quote/{id}, GET /v2/payments/{id} and its `recalls`, per access key",
            rate("get"),
        ),
        ("GET /v2/payments, GET /v2/events, per access key", rate("list")),
        ("POST /v2/account-checks, per tenant", rate("account_check")),
        (
            "Open event streams, per access key",
            format!("{streams} (default, `limits.streams_per_key`)"),
        ),
        ("Maximum duration of an event stream", words(Span::secs(payments_v2::STREAM_MAX_S))),
        ("Retention of events", words(store::EVENTS_KEPT)),
        (
            "Open quotes, per tenant and corridor",
            format!(
                "{} (default, `corridors.*.open_quote_cap`)",
                default("corridors.PAK.open_quote_cap")
            ),
        ),
    ]
}

/// Payout limits of the rails, as shipped: per payout and per sender.
fn rails() -> Vec<(&'static str, String)> {
    let table: toml::Table = REFERENCE.parse().expect("TOML");
    let entries =
        table["rails"].as_array().expect("rails").iter().filter_map(toml::Value::as_table);
    let of = |key: &str| {
        let given = |rail: &toml::Table| {
            let most = rail.get(key)?.as_str().filter(|most| !most.is_empty())?;
            Some(format!("`{}` {most}", rail["id"].as_str()?))
        };
        let known: Vec<String> = entries.clone().filter_map(given).collect();
        format!("{} (default, `rails.*.{key}`)", known.join(", "))
    };
    vec![
        (
            "One payout, minimum and maximum",
            "of each rail (default, `rails.*.min`, `rails.*.max`)".to_owned(),
        ),
        ("Payouts per sender and calendar day", of("daily_max")),
        ("Payouts per sender and calendar month", of("monthly_max")),
    ]
}

fn wallets() -> Vec<(&'static str, String)> {
    let (limits, window) = (GroupLimits::default(), address_windows::WINDOW_S);
    let name = |group: Group| match group {
        Group::Wallets => "/v1/sdk/wallets/*, per tenant",
        Group::PaymentRequests => "/v1/sdk/payment-requests/*, per tenant",
        Group::Orders => "/v1/sdk/orders/*, per tenant",
        Group::Transactions => "/v1/sdk/transactions/*, per tenant",
        Group::Additions => "Reviews, webhook deliveries and events together, per tenant",
    };
    let per_window = |group: Group| (name(group), format!("{} in {window} s", limits.of(group)));
    Group::ALL.into_iter().map(per_window).collect()
}

#[test]
fn limits_md_matches_the_code() {
    let mut out = head("Limits") + WORDS;
    table(&mut out, "Every request", &requests());
    table(&mut out, "Payment Service v2", &payments());
    out.push_str(
        "\nRate limits are off in the environment `mock`, as in a sandbox. Each node counts for itself: where a load balancer\n\
         distributes requests to several nodes, an access key gets up to these rates, and as many event streams, from each.\n",
    );
    table(&mut out, "Rails", &rails());
    out.push_str(
        "\nDays and months are those of the rail's time zone. A payment beyond a limit uses the next suitable rail; if there\n\
         is none, the payment is `rejected`, and its `msg` names the limit.\n",
    );
    table(&mut out, "Wallet Service v1", &wallets());
    out.push_str("\nThese apply in every environment. Unauthenticated calls count against the client's address.\n");
    let pauses: Vec<String> = SCHEDULE.iter().skip(1).map(|pause| words(*pause)).collect();
    let rows = [
        ("Attempts per event", SCHEDULE.len().to_string()),
        ("Pauses between attempts, ± 20 %", pauses.join(", ")),
    ];
    table(&mut out, "Webhooks", &rows);
    check("limits.md", &out);
}
