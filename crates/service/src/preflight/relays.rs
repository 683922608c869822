//! Relays: how late each is, and whether its broker would take events.

use std::collections::BTreeMap;

use adapters::outbound;
use adapters::sinks::StreamFacts;
use config::{Config, RelayEntry};
use store::{RelayCursor, Store};

use super::{Finding, Level, now};

const NAME: &str = "relays";
const BROKERS: &str = "relay brokers";
/// Size that the JSON of an event stays below, in bytes.
const MESSAGE_BYTES: u64 = 65_536;

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

/// Connects to each broker and looks at the stream, without creating a missing one.
pub(super) async fn brokers(config: &Config) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (name, entry) in &config.relay {
        findings.push(match crate::relay::stream(name, entry).await {
            Ok(facts) => stream(name, entry, facts.as_ref()),
            Err(error) => Finding::new(BROKERS, Level::Wrong, format!("{error:#}")),
        });
    }
    findings
}

/// Whether a relay's stream would store all that it sends.
fn stream(name: &str, entry: &RelayEntry, facts: Option<&StreamFacts>) -> Finding {
    let what = format!("{name}: stream {}", entry.stream);
    let found = |level, rest: &str| Finding::new(BROKERS, level, format!("{what} {rest}"));
    let Some(facts) = facts else {
        return match entry.create_stream {
            true => found(Level::Ok, "does not exist: the relay will create it"),
            false => found(Level::Wrong, "does not exist: create it, or set create_stream"),
        };
    };
    if let Some(why) = facts.refusal() {
        return found(Level::Wrong, &why);
    }
    let subjects = entry.subjects();
    let own = match facts.subjects.is_empty() {
        true => "none".to_owned(),
        false => facts.subjects.join(", "),
    };
    if let Some(missing) = subjects.iter().find(|subjects| !facts.stores_some(subjects)) {
        let detail =
            format!("does not store {missing}, which the relay sends: its subjects are {own}");
        return found(Level::Wrong, &detail);
    }
    // Several filters may cover them together, in whatever the relay sends in fact.
    if let Some(partly) = subjects.iter().find(|subjects| !facts.stores(subjects)) {
        let detail = format!(
            "has no filter for all of {partly}, which the relay sends: the relay waits at the first event that none of its \
             subjects ({own}) admits"
        );
        return found(Level::Warning, &detail);
    }
    match facts.max_message_bytes {
        Some(most) if most < MESSAGE_BYTES => {
            let detail = format!(
                "takes messages of {most} bytes at most: events may have up to {MESSAGE_BYTES} bytes"
            );
            found(Level::Warning, &detail)
        }
        _ => match (facts.warnings(), facts.limits()) {
            (some, _) if !some.is_empty() => found(Level::Warning, &some.join("; ")),
            (_, Some(limits)) => found(Level::Ok, &format!("is there ({limits})")),
            _ => found(Level::Ok, "is there"),
        },
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use adapters::sinks::StreamFacts;

    use super::{files, listeners, stream};
    use crate::preflight::Level;
    use crate::preflight::tests::config;

    #[test]
    fn a_stream_that_would_not_store_all_events_is_found() {
        let of = |create: &str, facts: Option<&StreamFacts>| {
            let servers = "[\"nats://127.0.0.1:4222\"]";
            let config =
                config(&[("relay.one.servers", servers), ("relay.one.create_stream", create)]);
            let found = stream("one", &config.relay["one"], facts);
            (found.level, found.detail)
        };
        let good = StreamFacts {
            subjects: vec!["corridor.>".to_owned()],
            acknowledges: true,
            ..StreamFacts::default()
        };
        let several = |all: &[&str]| StreamFacts {
            subjects: all.iter().map(|it| (*it).to_owned()).collect(),
            ..good.clone()
        };
        let subjects = |it: &str| several(&[it]);
        let size = |most| StreamFacts { max_message_bytes: Some(most), ..good.clone() };
        for (facts, level, words) in [
            (good.clone(), Level::Ok, "is there"),
            (subjects("orders.>"), Level::Wrong, "its subjects are orders.>"),
            (subjects("corridor.payment.>"), Level::Wrong, "does not store corridor.wallet."),
            (StreamFacts { subjects: Vec::new(), ..good.clone() }, Level::Wrong, "are none"),
            (StreamFacts { is_sealed: true, ..good.clone() }, Level::Wrong, "sealed"),
            (StreamFacts { acknowledges: false, ..good.clone() }, Level::Wrong, "no_ack"),
            (subjects("corridor.*.*.payment.>"), Level::Warning, "no filter for all of corridor."),
            (several(&["corridor.payment.>", "corridor.wallet.>"]), Level::Ok, "is there"),
            (
                several(&["*.*.*.payment.>", "*.*.*.quote.>"]),
                Level::Warning,
                "(*.*.*.payment.>, *.*.*.quote.>)",
            ),
            (several(&["orders.>", "corridor.payment.>"]), Level::Wrong, "store corridor.wallet."),
            (size(1_024), Level::Warning, "1024 bytes at most"),
            (size(1_048_576), Level::Ok, "is there"),
            (
                StreamFacts { max_messages_per_subject: Some(1), ..good.clone() },
                Level::Wrong,
                "max_msgs_per_subject 1",
            ),
            (StreamFacts { max_messages: Some(6), ..good.clone() }, Level::Warning, "max_msgs 6"),
            (
                StreamFacts { max_age: Some(Duration::from_hours(720)), ..good.clone() },
                Level::Ok,
                "is there (max_age 2592000 s)",
            ),
        ] {
            for create in ["true", "false"] {
                let (found, detail) = of(create, Some(&facts));
                assert!(found == level && detail.contains(words), "{facts:?}: {detail}");
            }
        }
        assert_eq!(of("true", None).0, Level::Ok);
        assert_eq!(of("false", None).0, Level::Wrong);
    }

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
