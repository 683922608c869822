//! Every metric that this program exports: name, kind, labels and help. What is not listed here is not exported with a
//! help text nor from the start; a test keeps names in Prometheus' conventions (base units, `_total` for counters).

use domain::country::Country;

/// What kind of metric it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Only rises.
    Counter,
    /// Rises and falls.
    Gauge,
    /// Durations in seconds.
    Seconds,
    /// Sizes, in things.
    Sizes,
}

/// The values that a label has from the start.
#[derive(Clone, Copy, Debug)]
pub enum Values {
    /// These.
    Known(&'static [&'static str]),
    /// The destination countries.
    Countries,
    /// The configured rails.
    Rails,
    /// Addresses of keys that sign on the chain; none is known from the start.
    Signers,
    /// What the loaded sanction lists are called; none is known from the start.
    Lists,
}

/// One metric.
#[derive(Clone, Copy, Debug)]
pub struct Metric {
    /// Its name.
    pub name: &'static str,
    /// Its kind.
    pub kind: Kind,
    /// What it counts.
    pub help: &'static str,
    /// Its labels; one series for every combination is there from the start.
    pub labels: &'static [(&'static str, Values)],
}

const STATUSES: Values =
    Values::Known(&["queued", "processing", "succeeded", "failed", "rejected", "reversed", "unknown"]);
const OPERATIONS: Values = Values::Known(&[
    "create_quote",
    "get_quote",
    "create_payment",
    "get_payment",
    "list_payments",
    "stream_events",
    "provision_wallet",
    "get_wallet",
    "create_payment_request",
    "list_payment_requests",
    "list_transactions",
    "get_exchange_rate",
    "create_order",
    "list_orders",
    "block_wallet",
    "unblock_wallet",
    "blacklist_wallet",
    "cancel_payment_request",
    "get_payment_request",
    "get_transaction",
    "get_order",
    "cancel_order",
    "list_reviews",
    "get_review",
    "decide_review",
    "list_webhook_deliveries",
    "redeliver_webhook",
    "list_wallet_events",
]);

const JOBS: Values = Values::Known(&[
    "submit",
    "inquire",
    "review",
    "expire_request",
    "screen",
    "review_deposit",
    "send_intent",
    "sweep",
    "transmit",
    "exchange",
    "payout",
    "inquire_payout",
    "wallet_timer",
    "deliver",
]);
const ALERTS: Values = Values::Known(&[
    "delivery_dead",
    "receiver_gone",
    "deep_reorg",
    "token_changed",
    "unsupported_asset",
    "direct_deposit",
    "listed_dust",
    "transaction",
    "low_gas",
    "chain_mismatch",
    "chain_node",
    "payout",
    "blacklist_by_issuer",
    "discrepancy",
    "rail_mismatch",
]);
const SIGNER_ROLES: Values = Values::Known(&["operator", "compliance", "approver", "blacklister"]);
const ANALYSIS_OUTCOMES: Values = Values::Known(&["clean", "near", "listed", "silent", "nonsense"]);
const WEBHOOK_OUTCOMES: Values = Values::Known(&["received", "failed", "gone"]);

const fn metric(
    name: &'static str,
    kind: Kind,
    labels: &'static [(&'static str, Values)],
    help: &'static str,
) -> Metric {
    Metric { name, kind, help, labels }
}

/// All metrics.
pub const METRICS: &[Metric] = &[
    // HTTP
    metric(
        "corridor_http_requests_total",
        Kind::Counter,
        &[("operation", OPERATIONS), ("status", Values::Known(&["2xx", "4xx", "5xx"]))],
        "Requests answered, by operation and class of status",
    ),
    metric(
        "corridor_http_request_seconds",
        Kind::Seconds,
        &[("operation", OPERATIONS)],
        "Time from the head of a request to its answer",
    ),
    metric("corridor_http_requests_in_flight", Kind::Gauge, &[], "Requests under way"),
    metric("corridor_auth_failures_total", Kind::Counter, &[], "Requests refused with 401"),
    metric("corridor_rate_limited_total", Kind::Counter, &[("operation", OPERATIONS)], "Requests refused with 429"),
    metric("corridor_event_streams", Kind::Gauge, &[], "Event streams open"),
    // quotes and payments
    metric(
        "corridor_quotes_total",
        Kind::Counter,
        &[("country", Values::Countries), ("status", Values::Known(&["created", "used", "expired"]))],
        "Quotes that entered a state",
    ),
    metric(
        "corridor_payments_total",
        Kind::Counter,
        &[("country", Values::Countries), ("status", STATUSES)],
        "Payments that entered a state",
    ),
    metric(
        "corridor_payment_settle_seconds",
        Kind::Seconds,
        &[("country", Values::Countries)],
        "Time from acceptance of a payment to its success",
    ),
    metric("corridor_review_queue_items", Kind::Gauge, &[], "Payments and deposits that wait for a person's decision"),
    metric(
        "corridor_discrepancies_total",
        Kind::Counter,
        &[],
        "Reports that contradict what is booked, put aside for a person",
    ),
    metric(
        "corridor_screening_list_age_seconds",
        Kind::Gauge,
        &[("list", Values::Lists)],
        "Time since a sanction list was last read",
    ),
    metric("corridor_rate_age_seconds", Kind::Gauge, &[], "Age of the oldest mid-market rate in use"),
    // engine
    metric("corridor_batch_commands", Kind::Sizes, &[], "Commands in one batch"),
    metric(
        "corridor_batches_total",
        Kind::Counter,
        &[("rows", Values::Known(&["loaded", "remembered", "outdated"]))],
        "Batches by where their rows came from; `outdated`: decided on remembered rows, refused by the database, decided again",
    ),
    metric("corridor_commits_in_doubt_total", Kind::Counter, &[], "Commits whose outcome had to be asked for"),
    metric("corridor_queue_commands", Kind::Gauge, &[], "Commands that wait for a batch"),
    metric("corridor_queue_refusals_total", Kind::Counter, &[], "Commands refused because the queue was full"),
    metric("corridor_jobs", Kind::Gauge, &[("kind", JOBS)], "Jobs that are not done"),
    metric("corridor_job_oldest_seconds", Kind::Gauge, &[("kind", JOBS)], "How long the oldest job has waited"),
    // rails
    metric("corridor_rail_faults_total", Kind::Counter, &[("rail", Values::Rails)], "Calls to a rail that failed"),
    metric(
        "corridor_foreign_reports_total",
        Kind::Counter,
        &[("rail", Values::Rails)],
        "Reports of a rail about attempts that are not its own",
    ),
    metric(
        "corridor_bank_statements_total",
        Kind::Counter,
        &[("rail", Values::Rails), ("taken", Values::Known(&["new", "known", "other"]))],
        "Pages of banks' statements: kept, known already, or another content under a known id",
    ),
    metric(
        "corridor_unreadable_reports_total",
        Kind::Counter,
        &[("rail", Values::Rails)],
        "Messages of a rail that could not be understood",
    ),
    // wallets
    metric("corridor_alerts_total", Kind::Counter, &[("kind", ALERTS)], "Things found that a person has to look at"),
    metric(
        "corridor_chain_analysis_total",
        Kind::Counter,
        &[("outcome", ANALYSIS_OUTCOMES)],
        "Questions to the provider of chain analysis",
    ),
    metric(
        "corridor_webhook_tries_total",
        Kind::Counter,
        &[("outcome", WEBHOOK_OUTCOMES)],
        "Tries to deliver an event to a receiver",
    ),
    metric(
        "corridor_webhook_oldest_pending_seconds",
        Kind::Gauge,
        &[],
        "How long the oldest event has waited for its receiver",
    ),
    metric("corridor_chain_faults_total", Kind::Counter, &[], "Questions to the chain that were not answered"),
    metric("corridor_chain_head_lag_blocks", Kind::Gauge, &[], "Blocks of the chain that are not taken in yet"),
    metric(
        "corridor_signer_gas_microether",
        Kind::Gauge,
        &[("role", SIGNER_ROLES), ("signer", Values::Signers)],
        "What a key that signs on the chain had left to pay for gas when it was last used, in 10^-6 ETH",
    ),
    metric("corridor_chain_reorgs_total", Kind::Counter, &[], "Reorganisations of the chain that were followed"),
    // ledger
    metric(
        "corridor_reconciliation_breaks",
        Kind::Gauge,
        &[],
        "Accounts that the chain or a rail did not agree with at the last reconciliation; anything but 0 is an alarm",
    ),
    metric("corridor_reconciliation_age_seconds", Kind::Gauge, &[], "Age of the last reconciliation"),
    metric(
        "corridor_audit_faults_total",
        Kind::Counter,
        &[],
        "Times that a chain of the audit log was found broken when it was to be signed; anything but 0 is an alarm",
    ),
    metric(
        "corridor_ledger_imbalance",
        Kind::Gauge,
        &[],
        "Sum over all accounts of debits minus credits, in minor units; anything but 0 is an alarm",
    ),
];

/// The upper bounds of the buckets of durations, in seconds.
pub const SECONDS_BUCKETS: &[f64] = &[
    0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0, 1800.0, 7200.0,
    86400.0,
];

/// The upper bounds of the buckets of sizes.
pub const SIZES_BUCKETS: &[f64] = &[1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0, 1024.0];

impl Metric {
    /// Every combination of its labels' values.
    pub fn series(&self, rails: &[String]) -> Vec<Vec<(&'static str, String)>> {
        let mut series = vec![Vec::new()];
        for (name, values) in self.labels {
            let values: Vec<String> = match values {
                Values::Known(known) => known.iter().map(|value| (*value).to_owned()).collect(),
                Values::Countries => Country::ALL.iter().map(|country| country.alpha3().to_owned()).collect(),
                Values::Rails => rails.to_vec(),
                Values::Signers | Values::Lists => Vec::new(),
            };
            let extend = |labels: Vec<(&'static str, String)>| {
                values
                    .iter()
                    .map(move |value| [labels.clone(), vec![(*name, value.clone())]].concat())
                    .collect::<Vec<_>>()
            };
            series = series.into_iter().flat_map(extend).collect();
        }
        series
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn names_follow_prometheus() {
        let mut names = BTreeSet::new();
        for metric in METRICS {
            let name = metric.name;
            assert!(names.insert(name), "{name} stands there twice");
            assert!(name.starts_with("corridor_"), "{name}");
            assert!(name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_'), "{name}");
            assert_eq!(name.ends_with("_total"), metric.kind == Kind::Counter, "{name}");
            assert!(metric.kind != Kind::Seconds || name.ends_with("_seconds"), "{name}");
            assert!(!["_ms", "_millis", "_minutes", "_kb"].iter().any(|unit| name.ends_with(unit)), "{name}");
            assert!(!metric.help.is_empty() && !metric.help.ends_with('.'), "{name}");
        }
    }

    #[test]
    fn labels_have_every_kind_of_job_and_alert_and_every_operation_of_wallets() {
        let values = |labels: Values| match labels {
            Values::Known(known) => known.to_vec(),
            Values::Countries | Values::Rails | Values::Signers | Values::Lists => Vec::new(),
        };
        assert_eq!(values(JOBS), domain::job::JobKind::ALL.map(domain::job::JobKind::name));
        assert_eq!(values(ALERTS), domain::wallet_effects::AlertKind::ALL.map(domain::wallet_effects::AlertKind::name));
        let wallets = http_api::wallet_v1::operations::ALL.iter().map(|operation| operation.name);
        assert_eq!(values(OPERATIONS)[6..], wallets.collect::<Vec<_>>());
    }

    /// The metrics that the sources of the other crates record, by the literal names of their macros.
    fn recorded(dir: &std::path::Path, names: &mut BTreeSet<String>) {
        for entry in std::fs::read_dir(dir).expect("a directory") {
            let path = entry.expect("an entry").path();
            if path.is_dir() && path.file_name().is_some_and(|name| name == "telemetry") {
                // The catalogue itself, and the recorder's own.
            } else if path.is_dir() {
                recorded(&path, names);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = std::fs::read_to_string(&path).expect("UTF-8");
                for call in ["counter!(", "gauge!(", "histogram!("].iter().flat_map(|call| text.split(call).skip(1)) {
                    let literal = call.trim_start().strip_prefix('"').and_then(|rest| rest.split_once('"'));
                    names.extend(literal.map(|(name, _)| name.to_owned()));
                }
            }
        }
    }

    #[test]
    fn what_is_recorded_is_listed() {
        let mut names = BTreeSet::new();
        let crates = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        for room in ["adapters/src", "console/src", "engine/src", "http/src", "service/src", "store/src"] {
            recorded(&crates.join(room), &mut names);
        }
        assert!(names.contains("corridor_batch_commands"), "the search itself works: {names:?}");
        let listed: BTreeSet<String> = METRICS.iter().map(|metric| metric.name.to_owned()).collect();
        let missing: Vec<&String> = names.difference(&listed).collect();
        assert!(missing.is_empty(), "recorded, but not in telemetry::catalogue: {missing:?}");
    }
}
