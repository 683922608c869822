//! Relays: how late each is, and whether its broker would take events.

use std::collections::BTreeMap;

use config::{Config, RelayEntry};
use store::{RelayCursor, Store};

use super::{Finding, Level, now};

const NAME: &str = "relays";

/// A finding per relay that is configured or has sent events.
pub(super) async fn lags(config: &Config, store: Option<&Store>) -> Vec<Finding> {
    let cursors = match store {
        None => return Vec::new(),
        Some(store) => match store.relay_cursors().await {
            Ok(cursors) => cursors,
            Err(error) => return vec![Finding::new(NAME, Level::Wrong, error.to_string())],
        },
    };
    let mut relays: BTreeMap<&str, Vec<&RelayCursor>> =
        config.relay.keys().map(|name| (name.as_str(), Vec::new())).collect();
    for cursor in &cursors {
        relays.entry(&cursor.relay).or_default().push(cursor);
    }
    relays.into_iter().map(|(relay, logs)| lag(config, relay, &logs)).collect()
}

fn lag(config: &Config, relay: &str, logs: &[&RelayCursor]) -> Finding {
    if logs.is_empty() {
        let detail = format!("{relay} has sent nothing yet: start `corridor relay run {relay}`");
        return Finding::new(NAME, Level::Warning, detail);
    }
    let unsent: i64 = logs.iter().map(|cursor| cursor.unsent()).sum();
    let lag_s = logs.iter().map(|cursor| cursor.lag(now()).0 / 1_000_000).max().unwrap_or(0);
    let figures = format!("{relay}: {unsent} unsent events, the oldest {lag_s} s old");
    if lag_s <= i64::from(config.engine.relay_lag_max_s) {
        return Finding::new(NAME, Level::Ok, figures);
    }
    let advice = "is `corridor relay run` running? They stay in the log until they are sent; if the relay is gone for \
                  good: `corridor relay forget`";
    Finding::new(NAME, Level::Warning, format!("{figures}; {advice}"))
}

/// Connects to each broker and looks for the stream, without creating a missing one.
pub(super) async fn brokers(config: &Config) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (name, entry) in &config.relay {
        let looks = RelayEntry { create_stream: false, ..entry.clone() };
        let checked = match crate::relay::sink(name, &looks) {
            Ok(sink) => sink.check().await.map_err(anyhow::Error::from),
            Err(error) => Err(error),
        };
        let found = |()| format!("{name}: stream {} is there", entry.stream);
        findings.push(Finding::of("relay brokers", checked, found));
    }
    findings
}
