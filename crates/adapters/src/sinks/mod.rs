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
}

impl StreamFacts {
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
