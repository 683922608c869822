//! Every exported metric: name, kind, labels and help. A metric that is not listed here has no help
//! text and no initial series; a test checks names against Prometheus' conventions (base units,
//! `_total` for counters).

use domain::country::Country;

/// The kind of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A number that only rises.
    Counter,
    /// A number that rises and falls.
    Gauge,
    /// A histogram of durations in seconds.
    Seconds,
    /// Sizes, as a count of items.
    Sizes,
}

/// The initial values of a label.
#[derive(Clone, Copy, Debug)]
pub enum Values {
    /// The values of this list.
    Known(&'static [&'static str]),
    /// The codes of the destination countries.
    Countries,
    /// The names of the configured rails.
    Rails,
    /// The names of the configured chains.
    Chains,
    /// Addresses of signing keys on the chain; unknown at startup.
    Signers,
    /// Names of the loaded sanction lists; unknown at startup.
    Lists,
    /// Names of the relays that have sent events; unknown at startup.
    Relays,
}

#[derive(Clone, Copy, Debug)]
pub struct Metric {
    pub name: &'static str,
    pub kind: Kind,
    pub help: &'static str,
    /// Its labels; one series for every combination exists from the start.
    pub labels: &'static [(&'static str, Values)],
}

/// A program that exports metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exporter {
    Service,
    Relay,
}

/// What a relay measures, apart from the metrics with the label `relay`.
const ALSO_OF_RELAYS: [&str; 3] = [
    "corridor_connections_refused_total",
    "corridor_trace_export_faults_total",
    "corridor_trace_rejected_spans_total",
];

/// Name and help of the metric whose label `version` is the running version.
pub const BUILD_INFO: (&str, &str) = ("corridor_build_info", "The running version; always 1");

const STATUSES: Values = Values::Known(&[
    "queued",
    "processing",
    "succeeded",
    "failed",
    "rejected",
    "reversed",
    "unknown",
]);
const OPERATIONS: Values = Values::Known(&[
    "create_quote",
    "get_quote",
    "create_payment",
    "get_payment",
    "list_payments",
    "stream_events",
    "cancel_payment",
    "create_recall",
    "list_recalls",
    "check_account",
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
    "recall",
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
    "controller_admin",
    "unsupported_asset",
    "direct_deposit",
    "listed_dust",
    "listed_names",
    "transaction",
    "low_gas",
    "chain_mismatch",
    "chain_node",
    "payout",
    "blacklist_by_issuer",
    "discrepancy",
    "recall",
    "rail_mismatch",
    "relay",
    "rate_source",
    "sanction_list",
    "rail_faults",
]);
const SIGNER_ROLES: Values = Values::Known(&["operator", "compliance", "approver", "blacklister"]);
const ANALYSIS_OUTCOMES: Values = Values::Known(&["clean", "near", "listed", "silent", "nonsense"]);
const SPONSOR_OUTCOMES: Values = Values::Known(&["accepted", "refused", "budget", "unavailable"]);
const ACCOUNT_RESULTS: Values = Values::Known(&[
    "match",
    "close_match",
    "no_match",
    "closed",
    "not_found",
    "not_supported",
    "unavailable",
]);
const WEBHOOK_OUTCOMES: Values = Values::Known(&["received", "failed", "gone"]);

const fn metric(
    name: &'static str,
    kind: Kind,
    labels: &'static [(&'static str, Values)],
    help: &'static str,
) -> Metric {
    Metric { name, kind, help, labels }
}

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
        "Time from the request head to its response",
    ),
    metric("corridor_http_requests_in_flight", Kind::Gauge, &[], "Requests in flight"),
    metric("corridor_auth_failures_total", Kind::Counter, &[], "Requests rejected with 401"),
    metric(
        "corridor_rate_limited_total",
        Kind::Counter,
        &[("operation", OPERATIONS)],
        "Requests rejected with 429",
    ),
    metric("corridor_event_streams", Kind::Gauge, &[], "Open event streams"),
    // quotes and payments
    metric(
        "corridor_quotes_total",
        Kind::Counter,
        &[
            ("country", Values::Countries),
            ("status", Values::Known(&["created", "used", "expired"])),
        ],
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
    metric(
        "corridor_review_queue_items",
        Kind::Gauge,
        &[],
        "Payments and deposits in the review queue",
    ),
    metric(
        "corridor_unknown_payments",
        Kind::Gauge,
        &[],
        "Payments whose outcome is unknown: their amounts are reserved",
    ),
    metric(
        "corridor_discrepancies_total",
        Kind::Counter,
        &[],
        "Reports that contradict a booking, set aside for review",
    ),
    metric(
        "corridor_screening_list_age_seconds",
        Kind::Gauge,
        &[("list", Values::Lists)],
        "Time since a sanction list was last read",
    ),
    metric(
        "corridor_rate_age_seconds",
        Kind::Gauge,
        &[],
        "Age of the oldest mid-market rate in use; absent until there is one",
    ),
    metric(
        "corridor_corridors_without_rate",
        Kind::Gauge,
        &[],
        "Open corridors with an enabled rail whose rate from USDT is missing, too old, or of a source that rests: no quotes",
    ),
    metric(
        "corridor_stablecoin_stopped",
        Kind::Gauge,
        &[("coin", Values::Known(&["USDC", "USDT"]))],
        "1 while a stablecoin has no price in USD or one too far from 1 (rates.max_depeg_bps): no quotes and no exchanges with it",
    ),
    metric(
        "corridor_ready",
        Kind::Gauge,
        &[("check", Values::Known(&crate::readiness::CHECKS))],
        "1 while the check succeeds: the store answers, it can be written, and its clock is this machine's. 0: /readyz says why",
    ),
    metric(
        "corridor_connections_refused_total",
        Kind::Counter,
        &[],
        "Connections closed at once because their address had too many (http.max_connections_per_address)",
    ),
    // engine
    metric("corridor_batch_commands", Kind::Sizes, &[], "Commands in one batch"),
    metric(
        "corridor_batches_total",
        Kind::Counter,
        &[("rows", Values::Known(&["loaded", "remembered", "outdated"]))],
        "Batches by the source of their rows; `outdated`: decided on cached rows, rejected by the database, decided again",
    ),
    metric(
        "corridor_commits_in_doubt_total",
        Kind::Counter,
        &[],
        "Commits whose outcome had to be looked up",
    ),
    metric("corridor_queue_commands", Kind::Gauge, &[], "Commands that wait for a batch"),
    metric(
        "corridor_queue_refusals_total",
        Kind::Counter,
        &[],
        "Commands rejected because the queue was full",
    ),
    metric("corridor_jobs", Kind::Gauge, &[("kind", JOBS)], "Unfinished jobs"),
    metric(
        "corridor_job_oldest_seconds",
        Kind::Gauge,
        &[("kind", JOBS)],
        "How long the oldest job has been due; one that is put off, as until a rail opens, is not due",
    ),
    // rails
    metric(
        "corridor_rail_faults_total",
        Kind::Counter,
        &[("rail", Values::Rails)],
        "Failed calls to a rail",
    ),
    metric(
        "corridor_foreign_reports_total",
        Kind::Counter,
        &[("rail", Values::Rails)],
        "Reports of a rail that match none of its attempts",
    ),
    metric(
        "corridor_rail_callbacks_total",
        Kind::Counter,
        &[
            ("rail", Values::Rails),
            ("outcome", Values::Known(&["taken", "refused", "unreadable", "not_stored"])),
        ],
        "Callbacks of connectors by outcome",
    ),
    metric(
        "corridor_account_checks_total",
        Kind::Counter,
        &[("rail", Values::Rails), ("result", ACCOUNT_RESULTS)],
        "Questions to banks about beneficiaries' accounts by result",
    ),
    metric(
        "corridor_bank_statements_total",
        Kind::Counter,
        &[
            ("rail", Values::Rails),
            ("taken", Values::Known(&["new", "known", "other", "rejected"])),
        ],
        "Pages of bank statements: new, already known, with other content under a known id, or not accepted by the database",
    ),
    metric(
        "corridor_unreadable_reports_total",
        Kind::Counter,
        &[("rail", Values::Rails)],
        "Messages of a rail that could not be parsed",
    ),
    // screening
    metric(
        "corridor_screening_older_lists_total",
        Kind::Counter,
        &[],
        "Screenings without effect, because the last one was on later lists than this node has",
    ),
    // wallets
    metric("corridor_alerts_total", Kind::Counter, &[("kind", ALERTS)], "Alerts for operators"),
    metric(
        "corridor_open_alerts",
        Kind::Gauge,
        &[("kind", ALERTS)],
        "Alerts for operators that are open, of all tenants",
    ),
    metric(
        "corridor_chain_analysis_total",
        Kind::Counter,
        &[("outcome", ANALYSIS_OUTCOMES)],
        "Requests to the chain analysis provider",
    ),
    metric(
        "corridor_webhook_tries_total",
        Kind::Counter,
        &[("outcome", WEBHOOK_OUTCOMES)],
        "Attempts to deliver an event to a webhook endpoint",
    ),
    metric(
        "corridor_webhook_oldest_pending_seconds",
        Kind::Gauge,
        &[],
        "Age of the oldest undelivered event",
    ),
    metric(
        "corridor_missing_keys",
        Kind::Gauge,
        &[],
        "Key-encryption keys that access keys, webhook secrets, one-time codes and permanent documents need and that are not configured",
    ),
    // relays
    metric(
        "corridor_relay_events_total",
        Kind::Counter,
        &[("relay", Values::Relays), ("log", Values::Known(&["payment", "wallet"]))],
        "Events that a broker has acknowledged",
    ),
    metric(
        "corridor_relay_faults_total",
        Kind::Counter,
        &[("relay", Values::Relays)],
        "Failed attempts to get a relay's lease, or to send its events to a broker",
    ),
    metric(
        "corridor_relay_unsent_events",
        Kind::Gauge,
        &[("relay", Values::Relays)],
        "Events that a relay has not sent, of all logs",
    ),
    metric(
        "corridor_relay_lag_seconds",
        Kind::Gauge,
        &[("relay", Values::Relays)],
        "Age of the oldest event that a relay has not sent",
    ),
    metric(
        "corridor_chain_faults_total",
        Kind::Counter,
        &[("chain", Values::Chains)],
        "Failed requests to the chain",
    ),
    metric(
        "corridor_chain_head_lag_blocks",
        Kind::Gauge,
        &[("chain", Values::Chains)],
        "Blocks of the chain that are not processed yet",
    ),
    metric(
        "corridor_chain_newest_block_timestamp_seconds",
        Kind::Gauge,
        &[("chain", Values::Chains)],
        "Time of the newest processed block, in seconds since 1970",
    ),
    metric(
        "corridor_signer_gas_microether",
        Kind::Gauge,
        &[("chain", Values::Chains), ("role", SIGNER_ROLES), ("signer", Values::Signers)],
        "Gas balance of a signing key at its last use, in 10^-6 of the chain's currency",
    ),
    metric(
        "corridor_sponsored_transfers_total",
        Kind::Counter,
        &[("chain", Values::Chains), ("outcome", SPONSOR_OUTCOMES)],
        "Signed transfers that senders asked to be sent; budget: the day's gas is used up, unavailable: they could not be checked",
    ),
    metric(
        "corridor_chain_reorgs_total",
        Kind::Counter,
        &[("chain", Values::Chains)],
        "Chain reorganisations that were followed",
    ),
    metric(
        "corridor_trace_export_faults_total",
        Kind::Counter,
        &[],
        "Batches of traces that the collector did not take (telemetry.otlp_endpoint)",
    ),
    metric(
        "corridor_trace_rejected_spans_total",
        Kind::Counter,
        &[],
        "Spans that the collector rejected from batches that it took otherwise (telemetry.otlp_endpoint)",
    ),
    // ledger
    metric(
        "corridor_reconciliation_breaks",
        Kind::Gauge,
        &[],
        "Accounts with a discrepancy against the chain or a rail at the last reconciliation; anything but 0 is an alarm",
    ),
    metric(
        "corridor_reconciliation_age_seconds",
        Kind::Gauge,
        &[],
        "Age of the last reconciliation",
    ),
    metric(
        "corridor_audit_faults_total",
        Kind::Counter,
        &[],
        "Times that signing the audit log failed or found a broken chain; anything but 0 is an alarm",
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
    0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0,
    300.0, 1800.0, 7200.0, 86400.0,
];

/// The upper bounds of the buckets of sizes.
pub const SIZES_BUCKETS: &[f64] =
    &[1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0, 1024.0];

impl Metric {
    /// Whether a program keeps it up. It does not export the others: an initial 0 that stays would be
    /// a measurement that was never made.
    pub fn is_exported_by(&self, exporter: Exporter) -> bool {
        match exporter {
            Exporter::Service => true,
            Exporter::Relay => {
                ALSO_OF_RELAYS.contains(&self.name)
                    || self.labels.iter().any(|(_, values)| matches!(values, Values::Relays))
            }
        }
    }

    /// Every combination of its labels' values.
    pub fn series(&self, rails: &[String], chains: &[String]) -> Vec<Vec<(&'static str, String)>> {
        let mut series = vec![Vec::new()];
        for (name, values) in self.labels {
            let values: Vec<String> = match values {
                Values::Known(known) => known.iter().map(|value| (*value).to_owned()).collect(),
                Values::Countries => {
                    Country::ALL.iter().map(|country| country.alpha3().to_owned()).collect()
                }
                Values::Rails => rails.to_vec(),
                Values::Chains => chains.to_vec(),
                Values::Signers | Values::Lists | Values::Relays => Vec::new(),
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
            assert!(names.insert(name), "{name} is listed twice");
            assert!(name.starts_with("corridor_"), "{name}");
            assert!(name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_'), "{name}");
            assert_eq!(name.ends_with("_total"), metric.kind == Kind::Counter, "{name}");
            assert!(metric.kind != Kind::Seconds || name.ends_with("_seconds"), "{name}");
            assert!(
                !["_ms", "_millis", "_minutes", "_kb"].iter().any(|unit| name.ends_with(unit)),
                "{name}"
            );
            assert!(!metric.help.is_empty() && !metric.help.ends_with('.'), "{name}");
        }
    }

    #[test]
    fn labels_have_every_kind_of_job_and_alert_and_every_operation_of_wallets() {
        let values = |labels: Values| match labels {
            Values::Known(known) => known.to_vec(),
            Values::Countries
            | Values::Rails
            | Values::Chains
            | Values::Signers
            | Values::Lists
            | Values::Relays => Vec::new(),
        };
        assert_eq!(values(JOBS), domain::job::JobKind::ALL.map(domain::job::JobKind::name));
        assert_eq!(
            values(ALERTS),
            domain::wallet_effects::AlertKind::ALL.map(domain::wallet_effects::AlertKind::name)
        );
        let wallets = http_api::wallet_v1::operations::ALL.iter().map(|operation| operation.name);
        assert_eq!(values(OPERATIONS)[10..], wallets.collect::<Vec<_>>());
    }

    #[test]
    fn the_alert_that_all_nodes_are_gone_asks_for_a_series_of_nodes_alone() {
        let rules = concat!(env!("CARGO_MANIFEST_DIR"), "/../../ops/monitoring/alerts.yml");
        let rules = std::fs::read_to_string(rules).expect("the alerts");
        let mut found = 0;
        for absent in rules.split("absent(").skip(1) {
            let name = absent.split(['{', ')']).next().unwrap_or_default();
            let metric = METRICS.iter().find(|metric| metric.name == name);
            let metric = metric.unwrap_or_else(|| panic!("{name} is exported by relays, too"));
            assert!(!metric.is_exported_by(Exporter::Relay), "{name} is exported by relays, too");
            found += 1;
        }
        assert!(found > 0, "no alert asks for an absent series");
    }

    /// The metrics recorded by the other crates, by the literal names in their macros.
    fn recorded(dir: &std::path::Path, names: &mut BTreeSet<String>) {
        for entry in std::fs::read_dir(dir).expect("a directory") {
            let path = entry.expect("an entry").path();
            if path.is_dir() && path.file_name().is_some_and(|name| name == "telemetry") {
                // Except the catalogue itself and the recorder.
            } else if path.is_dir() {
                recorded(&path, names);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = std::fs::read_to_string(&path).expect("UTF-8");
                for call in ["counter!(", "gauge!(", "histogram!("]
                    .iter()
                    .flat_map(|call| text.split(call).skip(1))
                {
                    let literal =
                        call.trim_start().strip_prefix('"').and_then(|rest| rest.split_once('"'));
                    names.extend(literal.map(|(name, _)| name.to_owned()));
                }
            }
        }
    }

    #[test]
    fn recorded_metrics_are_listed() {
        let mut names = BTreeSet::new();
        let crates = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        for room in
            ["adapters/src", "console/src", "engine/src", "http/src", "service/src", "store/src"]
        {
            recorded(&crates.join(room), &mut names);
        }
        assert!(names.contains("corridor_batch_commands"), "the search itself works: {names:?}");
        let listed: BTreeSet<String> =
            METRICS.iter().map(|metric| metric.name.to_owned()).collect();
        let missing: Vec<&String> = names.difference(&listed).collect();
        assert!(missing.is_empty(), "recorded, but not in telemetry::catalogue: {missing:?}");
    }
}
