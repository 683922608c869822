//! Relays: how late each is, and whether its broker would take events.

use std::collections::BTreeMap;

use adapters::outbound;
use config::{Config, RelayEntry};
use store::{RelayCursor, Store};

use super::{Finding, Level, now};

const NAME: &str = "relays";

/// A warning per pair of listeners that cannot run on one machine: relays may be on machines of their
/// own.
pub(super) fn listeners(config: &Config) -> Vec<Finding> {
    let relays =
        config.relay.iter().map(|(name, entry)| (format!("relay.{name}.listen"), entry.listen));
    let mut known = vec![("http.listen".to_owned(), config.http.listen)];
    known.extend(config.ops_listen().map(|at| ("http.ops_listen".to_owned(), at)));
    let mut findings = Vec::new();
    for (key, at) in relays {
        let rival = known.iter().find(|(_, other)| config::clash(at, *other));
        findings.extend(rival.map(|(other, _)| {
            let detail =
                format!("{key} has the port of {other} ({at}): on one machine, give it another");
            Finding::new("listeners", Level::Warning, detail)
        }));
        known.push((key, at));
    }
    findings
}

/// A finding per file of a relay that cannot be read. Relays may be on machines of their own, which
/// have these files: only a warning.
pub(super) fn files(config: &Config) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (name, entry) in &config.relay {
        let files = [
            ("authority_file", &entry.authority_file),
            ("client_certificate_file", &entry.client_certificate_file),
            ("client_key_file", &entry.client_key_file),
            ("credentials_file", &entry.credentials_file),
        ];
        for (key, path) in files.into_iter().filter(|(_, path)| !path.as_os_str().is_empty()) {
            let read = match key {
                "authority_file" => outbound::authorities(path).map(drop),
                _ => std::fs::read(path)
                    .map(drop)
                    .map_err(|error| format!("{}: {error}", path.display())),
            };
            if let Err(why) = read {
                let detail = format!("relay.{name}.{key}: {why}");
                findings.push(Finding::new(NAME, Level::Warning, detail));
            }
        }
    }
    findings
}

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

#[cfg(test)]
mod tests {
    use super::{files, listeners};
    use crate::preflight::tests::config;

    #[test]
    fn relays_with_the_port_of_another_listener_are_named() {
        let config = config(&[
            ("relay.one.servers", "[\"nats://127.0.0.1:4222\"]"),
            ("relay.two.servers", "[\"nats://127.0.0.1:4222\"]"),
            ("relay.three.servers", "[\"nats://127.0.0.1:4222\"]"),
            ("relay.three.listen", "127.0.0.1:8480"),
        ]);
        let found: Vec<String> = listeners(&config).into_iter().map(|it| it.detail).collect();
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(
            found[0].starts_with("relay.three.listen has the port of http.listen"),
            "{found:?}"
        );
        assert!(
            found[1].starts_with("relay.two.listen has the port of relay.one.listen"),
            "{found:?}"
        );
    }

    #[test]
    fn files_of_relays_that_cannot_be_read_are_named() {
        let dir = tempfile::tempdir().expect("a directory");
        let at = |name: &str| dir.path().join(name).display().to_string();
        std::fs::write(at("one.creds"), "a credential").expect("written");
        let relay = |authority: &str, credentials: &str| {
            let config = config(&[
                ("relay.one.servers", "[\"tls://nats.example:4222\"]"),
                ("relay.one.authority_file", authority),
                ("relay.one.credentials_file", credentials),
            ]);
            files(&config).into_iter().map(|it| it.detail).collect::<Vec<_>>()
        };
        assert_eq!(relay("", &at("one.creds")), [""; 0]);
        let found = relay(&at("missing.pem"), &at("missing.creds"));
        assert_eq!(found.len(), 2, "{found:?}");
        let missing = format!("relay.one.authority_file: {}: ", at("missing.pem"));
        assert!(found[0].starts_with(&missing), "{found:?}");
        let missing = format!("relay.one.credentials_file: {}: ", at("missing.creds"));
        assert!(found[1].starts_with(&missing), "{found:?}");
        assert!(relay(&at("one.creds"), "")[0].contains("is not a PEM file"), "{found:?}");
    }
}
