//! Brokers that events are sent to, behind the port `EventSink`. Another broker is another file
//! here; no broker decides about order or about what has been sent.

#[cfg(feature = "nats")]
mod nats;
#[cfg(all(test, feature = "nats"))]
mod nats_tests;

#[cfg(feature = "nats")]
pub use nats::NatsSink;

use std::path::PathBuf;
use std::time::Duration;

use secrecy::SecretString;

/// Connection to a stream of NATS JetStream.
#[derive(Clone, Debug)]
pub struct NatsSettings {
    /// `nats://host:port` or `tls://host:port`, without credentials.
    pub servers: Vec<String>,
    /// Name of the client, as the servers show it.
    pub client: String,
    /// PEM file of the authorities to trust instead of the system's.
    pub authority_file: Option<PathBuf>,
    /// PEM files of the client certificate and its key; read again for each connection.
    pub client_certificate: Option<(PathBuf, PathBuf)>,
    pub login: NatsLogin,
    /// The stream that has to store the messages.
    pub stream: String,
    /// How to create the stream if there is none; `None` = it must exist.
    pub create: Option<NewStream>,
    /// Timeout of a connection, of a request, and of an acknowledgement.
    pub timeout: Duration,
}

/// How this program identifies itself to the servers.
#[derive(Clone, Debug)]
pub enum NatsLogin {
    None,
    User {
        user: String,
        password: SecretString,
    },
    Token(SecretString),
    /// The seed of an nkey.
    Nkey(SecretString),
    /// A file with a JWT and the seed of its nkey.
    CredentialsFile(PathBuf),
}

/// A stream that keeps its messages for less than this may lose some before they are consumed.
const AGE_MIN: Duration = Duration::from_hours(24);
/// As [`AGE_MIN`], in messages.
const MESSAGES_MIN: u64 = 100_000;
/// As [`AGE_MIN`], in bytes.
const BYTES_MIN: u64 = 100 * 1024 * 1024;

/// How long a stream keeps a message, apart from its limits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Retention {
    /// Until a limit of the stream deletes it.
    #[default]
    Limits,
    /// Until the consumers that it has at that moment have acknowledged it.
    Interest { consumers: usize },
    /// Until one consumer has acknowledged it.
    WorkQueue,
}

/// A stream as its broker describes it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StreamFacts {
    /// The subjects that it stores, with wildcards.
    pub subjects: Vec<String>,
    /// Whether it takes no more messages, for ever.
    pub is_sealed: bool,
    /// Whether it acknowledges what it stores.
    pub acknowledges: bool,
    /// Size of the largest message that it takes, in bytes; `None` = any.
    pub max_message_bytes: Option<u64>,
    pub retention: Retention,
    /// The most messages that it keeps; `None` = any number. The other limits likewise.
    pub max_messages: Option<u64>,
    /// The most messages of one subject that it keeps.
    pub max_messages_per_subject: Option<u64>,
    /// The most bytes that it keeps.
    pub max_bytes: Option<u64>,
    /// How long it keeps a message.
    pub max_age: Option<Duration>,
    /// Whether it refuses messages at a limit, instead of discarding the oldest ones.
    pub refuses_when_full: bool,
    /// Whether it does so at the limit of a subject, too.
    pub refuses_per_subject: bool,
    /// Whether its messages are in memory alone.
    pub is_in_memory: bool,
    /// Whether it acknowledges messages before they are on the disk.
    pub acknowledges_early: bool,
    /// Messages that it has.
    pub messages: u64,
    /// Bytes that it has.
    pub bytes: u64,
}

impl StreamFacts {
    /// Why it would not keep what the relay sends, or not take it, as a predicate.
    pub fn refusal(&self) -> Option<String> {
        if self.is_sealed {
            return Some("is sealed: it takes no messages".to_owned());
        }
        if !self.acknowledges {
            return Some("has no_ack: the relay would never know what is stored".to_owned());
        }
        if self.retention == (Retention::Interest { consumers: 0 }) {
            return Some(
                "has the retention interest and no consumer: it acknowledges every event and keeps \
                 none; create the consumers first, or use the retention limits"
                    .to_owned(),
            );
        }
        if self.max_messages_per_subject == Some(1) && !self.refuses_per_subject {
            return Some(
                "has max_msgs_per_subject 1: each event deletes the one before of its subject; \
                 remove the limit"
                    .to_owned(),
            );
        }
        let full = [
            (
                self.max_messages.is_some_and(|most| self.messages >= most),
                "max_msgs",
                self.max_messages,
            ),
            (self.max_bytes.is_some_and(|most| self.bytes >= most), "max_bytes", self.max_bytes),
        ];
        let full = full.into_iter().find(|(is_full, ..)| self.refuses_when_full && *is_full);
        full.and_then(|(_, limit, most)| {
            Some(format!("is full ({limit} {}) and has discard new: it takes no messages", most?))
        })
    }

    /// What may lose events that it has acknowledged, or stop the relay, each as a predicate.
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        match self.retention {
            Retention::Limits => {}
            Retention::Interest { consumers } => warnings.push(format!(
                "has the retention interest: it keeps events for its {consumers} consumers alone, and \
                 a consumer that is created later gets none of them"
            )),
            Retention::WorkQueue => warnings.push(
                "has the retention workqueue: the first consumer that acknowledges an event deletes \
                 it for all others"
                    .to_owned(),
            ),
        }
        let end_of = |refuses: bool| match refuses {
            true => "then it takes no more, and the relay waits",
            false => "then it deletes the oldest ones",
        };
        if let Some(most) = self.max_messages_per_subject {
            let end = end_of(self.refuses_per_subject);
            warnings.push(format!("has max_msgs_per_subject {most}: {end}"));
        }
        let end = end_of(self.refuses_when_full);
        let is_watched = |most: u64, least: u64| self.refuses_when_full || most < least;
        if let Some(most) = self.max_messages.filter(|most| is_watched(*most, MESSAGES_MIN)) {
            warnings.push(format!("has max_msgs {most} (it has {}): {end}", self.messages));
        }
        if let Some(most) = self.max_bytes.filter(|most| is_watched(*most, BYTES_MIN)) {
            warnings.push(format!("has max_bytes {most} (it has {}): {end}", self.bytes));
        }
        if let Some(age) = self.max_age.filter(|age| *age < AGE_MIN) {
            warnings.push(format!("has max_age {} s: then it deletes an event", age.as_secs()));
        }
        if self.is_in_memory {
            warnings.push("is in memory: it loses its events when its servers restart".to_owned());
        }
        if self.acknowledges_early {
            warnings.push(
                "has persist_mode async: it acknowledges events before they are on the disk"
                    .to_owned(),
            );
        }
        warnings
    }

    /// What limits it, for people; `None` if nothing does.
    pub fn limits(&self) -> Option<String> {
        let number = |name: &str, most: Option<u64>| most.map(|most| format!("{name} {most}"));
        let limits: Vec<String> = [
            number("max_msgs", self.max_messages),
            number("max_bytes", self.max_bytes),
            self.max_age.map(|age| format!("max_age {} s", age.as_secs())),
        ]
        .into_iter()
        .flatten()
        .collect();
        (!limits.is_empty()).then(|| limits.join(", "))
    }

    /// Whether it stores every message of these subjects, in which `*` stands for any one token.
    pub fn stores(&self, subjects: &str) -> bool {
        self.subjects.iter().any(|own| covers(own, subjects))
    }

    /// Whether it stores some message of these subjects.
    pub fn stores_some(&self, subjects: &str) -> bool {
        self.subjects.iter().any(|own| overlaps(own, subjects))
    }
}

/// Whether a filter of subjects (`*` = one token, `>` = one or more at the end) admits all that these
/// are.
fn covers(filter: &str, subjects: &str) -> bool {
    let mut wanted = subjects.split('.');
    for token in filter.split('.') {
        match (token, wanted.next()) {
            (">", rest) => return rest.is_some(),
            ("*", Some(_)) => {}
            (own, Some(other)) if own == other => {}
            _ => return false,
        }
    }
    wanted.next().is_none()
}

/// Whether a filter admits some message of these subjects.
fn overlaps(filter: &str, subjects: &str) -> bool {
    let mut wanted = subjects.split('.');
    for token in filter.split('.') {
        match (token, wanted.next()) {
            (">", rest) => return rest.is_some(),
            ("*", Some(_)) | (_, Some("*")) => {}
            (own, Some(other)) if own == other => {}
            _ => return false,
        }
    }
    wanted.next().is_none()
}

/// A stream that is created.
#[derive(Clone, Debug)]
pub struct NewStream {
    /// The subjects that it stores.
    pub subject: String,
    pub replicas: usize,
    /// How long a message is kept; zero = for ever.
    pub max_age: Duration,
    /// How long an id is remembered, so that a repetition is not stored.
    pub duplicate_window: Duration,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_that_does_not_keep_what_it_acknowledges_is_refused_or_warned_of() {
        let good = StreamFacts { acknowledges: true, ..StreamFacts::default() };
        let with = |change: &dyn Fn(&mut StreamFacts)| {
            let mut facts = good.clone();
            change(&mut facts);
            facts
        };
        assert_eq!((good.refusal(), good.warnings(), good.limits()), (None, Vec::new(), None));
        for (facts, words) in [
            (with(&|it| it.is_sealed = true), "sealed"),
            (with(&|it| it.acknowledges = false), "no_ack"),
            (with(&|it| it.retention = Retention::Interest { consumers: 0 }), "no consumer"),
            (with(&|it| it.max_messages_per_subject = Some(1)), "max_msgs_per_subject 1"),
            // This limit has a switch of its own.
            (
                with(&|it| {
                    (it.max_messages_per_subject, it.refuses_when_full) = (Some(1), true);
                }),
                "max_msgs_per_subject 1",
            ),
            (
                with(&|it| {
                    (it.refuses_when_full, it.max_messages, it.messages) = (true, Some(6), 6);
                }),
                "is full (max_msgs 6)",
            ),
            (
                with(&|it| (it.refuses_when_full, it.max_bytes, it.bytes) = (true, Some(1), 2)),
                "is full (max_bytes 1)",
            ),
        ] {
            assert!(facts.refusal().is_some_and(|why| why.contains(words)), "{facts:?}");
        }
        let hour = Duration::from_hours(1);
        for (facts, words) in [
            (with(&|it| it.retention = Retention::Interest { consumers: 2 }), "its 2 consumers"),
            (with(&|it| it.retention = Retention::WorkQueue), "workqueue"),
            (
                with(&|it| {
                    (it.max_messages_per_subject, it.refuses_when_full) = (Some(5), true);
                }),
                "max_msgs_per_subject 5: then it deletes",
            ),
            (
                with(&|it| {
                    (it.max_messages_per_subject, it.refuses_per_subject) = (Some(1), true);
                }),
                "max_msgs_per_subject 1: then it takes no more",
            ),
            (with(&|it| it.max_messages = Some(6)), "max_msgs 6 (it has 0): then it deletes"),
            (
                with(&|it| (it.refuses_when_full, it.max_messages) = (true, Some(1_000_000))),
                "max_msgs 1000000 (it has 0): then it takes no more",
            ),
            (with(&|it| it.max_bytes = Some(4_096)), "max_bytes 4096"),
            (with(&|it| it.max_age = Some(hour)), "max_age 3600 s"),
            (with(&|it| it.is_in_memory = true), "in memory"),
            (with(&|it| it.acknowledges_early = true), "persist_mode async"),
        ] {
            assert_eq!(facts.refusal(), None, "{facts:?}");
            let warnings = facts.warnings();
            assert!(warnings.len() == 1 && warnings[0].contains(words), "{facts:?}: {warnings:?}");
        }
        let wide = with(&|it| {
            it.max_messages = Some(10_000_000);
            it.max_age = Some(hour * 720);
        });
        assert_eq!((wide.refusal(), wide.warnings()), (None, Vec::new()));
        assert_eq!(wide.limits().as_deref(), Some("max_msgs 10000000, max_age 2592000 s"));
    }

    #[test]
    fn a_stream_stores_what_one_of_its_filters_admits() {
        // All, some of them, or none.
        let (all, some, none) = ((true, true), (false, true), (false, false));
        for (filters, subjects, expected) in [
            (vec!["corridor.>"], "corridor.*.*.*.*", all),
            (vec![">"], "corridor.*.*.*.*", all),
            (vec!["corridor.*.*.*.*"], "corridor.*.*.*.*", all),
            (vec!["x.>", "corridor.*.*.payment.*"], "corridor.payment.*.payment.*", all),
            (vec!["bank.events"], "bank.events", all),
            (vec!["corridor.payment.>"], "corridor.*.*.*.*", some),
            (vec!["*.*.*.payment.>", "*.*.*.quote.>"], "corridor.payment.*.*.*", some),
            (vec!["corridor.*.*.payment.created"], "corridor.payment.*.*.*", some),
            (vec![], "corridor.*.*.*.*", none),
            (vec!["corridor"], "corridor.*.*.*.*", none),
            (vec!["corridor.*.*.*"], "corridor.*.*.*.*", none),
            (vec!["corridor.*.*.*.*.*"], "corridor.*.*.*.*", none),
            (vec!["corridor.*.*.*.*.>"], "corridor.*.*.*.*", none),
            (vec!["corridor.payment.>"], "corridor.wallet.*.*.*", none),
            (vec!["Corridor.>"], "corridor.*.*.*.*", none),
        ] {
            let facts = StreamFacts {
                subjects: filters.iter().map(|it| (*it).to_owned()).collect(),
                ..StreamFacts::default()
            };
            let found = (facts.stores(subjects), facts.stores_some(subjects));
            assert_eq!(found, expected, "{filters:?} {subjects}");
        }
    }
}
