//! The endpoint's logic: its answer to an arrival, and the reason. Time is an argument; nothing is
//! random, sleeps or sends.

use std::collections::{BTreeMap, VecDeque};

use domain::time::{Span, Timestamp};
use serde::Deserialize;
use serde_json::json;

use super::book::{Book, Entry};
use super::proof::{self, Verdict};

/// The first event of a payment request; an impatient endpoint rejects the others without it.
const FIRST: &str = "payment.received";
const AFTER_IT: [&str; 3] = ["risk_check.complete", "transfer.complete", "transaction.failed"];
/// The events of the specification.
const KNOWN: [&str; 6] =
    [FIRST, AFTER_IT[0], AFTER_IT[1], AFTER_IT[2], "exchange.complete", "wallet.blocked"];

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Arrival {
    /// Path relative to the endpoint's URL.
    pub path: String,
    /// Value of the header `webhook-id`.
    pub id: Option<String>,
    /// Value of the header `webhook-timestamp`.
    pub timestamp: Option<String>,
    /// Value of the header `webhook-signature`.
    pub signature: Option<String>,
    pub traceparent: Option<String>,
    /// The body's bytes as received, before any parsing.
    pub body: Vec<u8>,
}

/// The endpoint's reaction to a genuine webhook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reaction {
    /// Status 200 with `received: true`.
    Take,
    /// 200, `received: true`, after a delay.
    TakeLate(Span),
    /// Status 200 with `received: false`.
    Deny,
    /// This status, with `Retry-After` if given.
    Refuse { status: u16, retry_after: Option<String> },
    /// 302 to another URL.
    Redirect(String),
    /// 200, then a body that arrives byte by byte and never ends.
    Drip,
    /// 200 with an endless body, as fast as it is read.
    Flood,
    /// The connection closes without an answer.
    Close,
}

impl Reaction {
    /// A refusal without `Retry-After`.
    pub const fn refuse(status: u16) -> Reaction {
        Reaction::Refuse { status, retry_after: None }
    }
}

/// Correct and incorrect behaviour of an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Temper {
    /// Refuses requests without a known secret's signature.
    pub checks_signatures: bool,
    /// Refuses requests that are too old or too early.
    pub checks_age: bool,
    /// Accepts a webhook that it already has.
    pub takes_repeats: bool,
    /// Answers a repeated webhook with its first processing time, because it was not processed
    /// again.
    pub remembers: bool,
    /// Accepts an event whose cause it has not received yet.
    pub takes_disorder: bool,
    /// Accepts unknown event types.
    pub takes_unknown: bool,
    /// Answers as specified: `received` and `processed_at`.
    pub answers_in_shape: bool,
}

impl Temper {
    pub const CAREFUL: Temper = Temper {
        checks_signatures: true,
        checks_age: true,
        takes_repeats: true,
        remembers: true,
        takes_disorder: true,
        takes_unknown: true,
        answers_in_shape: true,
    };
}

/// Transmission of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manner {
    AtOnce,
    /// The answer comes after this delay.
    Late(Span),
    /// Byte by byte, endless.
    Drip,
    /// The body of the answer never ends.
    Flood,
    /// The connection is closed without an answer.
    Close,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    pub status: u16,
    /// Headers in addition to the content type.
    pub headers: Vec<(&'static str, String)>,
    pub body: String,
    /// How the answer is sent.
    pub manner: Manner,
}

#[derive(Deserialize)]
struct Envelope {
    /// Named differently in the payment service's events.
    #[serde(alias = "type")]
    event_type: String,
    data: Subject,
}

#[derive(Deserialize)]
struct Subject {
    payment_request_id: Option<String>,
    order_id: Option<String>,
    wallet_id: Option<String>,
    /// Id of a payment or a quote.
    id: Option<String>,
}

/// An endpoint without clock and socket.
#[derive(Clone, Debug)]
pub struct ReceiverCore {
    secrets: Vec<Vec<u8>>,
    temper: Temper,
    script: VecDeque<Reaction>,
    usual: Reaction,
    book: Book,
    /// Processing time per id.
    processed: BTreeMap<String, Timestamp>,
}

impl ReceiverCore {
    /// A correct endpoint that knows these secrets (`whsec_…`); an invalid text matches nothing.
    pub fn new(secrets: &[&str]) -> ReceiverCore {
        ReceiverCore {
            secrets: secrets.iter().filter_map(|text| proof::secret_bytes(text)).collect(),
            temper: Temper::CAREFUL,
            script: VecDeque::new(),
            usual: Reaction::Take,
            book: Book::default(),
            processed: BTreeMap::new(),
        }
    }

    pub fn set_temper(&mut self, temper: Temper) {
        self.temper = temper;
    }

    /// Changes its known secrets.
    pub fn set_secrets(&mut self, secrets: &[&str]) {
        self.secrets = secrets.iter().filter_map(|text| proof::secret_bytes(text)).collect();
    }

    /// Sets its reactions to the next arrivals, one each; genuine ones only, unless it cannot tell.
    pub fn script(&mut self, reactions: impl IntoIterator<Item = Reaction>) {
        self.script.extend(reactions);
    }

    /// Sets its reaction after the script.
    pub fn set_usual(&mut self, reaction: Reaction) {
        self.usual = reaction;
    }

    pub fn book(&self) -> &Book {
        &self.book
    }

    /// Processes an arrival and returns the answer.
    pub fn receive(&mut self, arrival: Arrival, now: Timestamp) -> Reply {
        let verdict = proof::judge(&self.secrets, &arrival, now);
        let envelope = serde_json::from_slice::<Envelope>(&arrival.body).ok();
        let (event_type, subject) = envelope.map_or((String::new(), None), |envelope| {
            let Subject { payment_request_id, order_id, wallet_id, id } = envelope.data;
            (envelope.event_type, payment_request_id.or(order_id).or(wallet_id).or(id))
        });
        let id = arrival.id.clone().unwrap_or_default();
        let repeated = self.processed.contains_key(&id);
        let entry =
            Entry { arrival, event_type, subject, at: now, verdict, taken: false, repeated };
        let (reply, taken) = match self.objection(&entry) {
            Some(status) => (refusal(status), false),
            None => self.react(&id, now),
        };
        self.book.add(Entry { taken, ..entry });
        reply
    }

    /// Status of a refusal, if the endpoint has a reason for one, good or bad.
    fn objection(&self, entry: &Entry) -> Option<u16> {
        let temper = &self.temper;
        let told = |subject: &str| {
            self.book.taken_about(subject).iter().any(|told| told.event_type == FIRST)
        };
        let too_early = AFTER_IT.contains(&entry.event_type.as_str())
            && !entry.subject.as_deref().is_some_and(told);
        match entry.verdict {
            Verdict::Unreadable if temper.checks_signatures => Some(400),
            Verdict::Forged if temper.checks_signatures => Some(401),
            Verdict::Stale if temper.checks_age => Some(400),
            _ if entry.repeated && !temper.takes_repeats => Some(409),
            _ if too_early && !temper.takes_disorder => Some(422),
            _ if !KNOWN.contains(&entry.event_type.as_str()) && !temper.takes_unknown => Some(400),
            _ => None,
        }
    }

    /// Reacts, and returns whether the webhook was accepted.
    fn react(&mut self, id: &str, now: Timestamp) -> (Reply, bool) {
        let reaction = self.script.pop_front().unwrap_or_else(|| self.usual.clone());
        let manner = match reaction {
            Reaction::Take => Manner::AtOnce,
            Reaction::TakeLate(span) => Manner::Late(span),
            Reaction::Drip => Manner::Drip,
            Reaction::Flood => Manner::Flood,
            Reaction::Close => return (Reply { manner: Manner::Close, ..refusal(503) }, false),
            Reaction::Deny => return (body(&json!({ "received": false })), false),
            Reaction::Refuse { status, retry_after } => {
                let headers = retry_after.map(|value| ("retry-after", value)).into_iter().collect();
                return (Reply { headers, ..refusal(status) }, false);
            }
            Reaction::Redirect(to) => {
                return (Reply { headers: vec![("location", to)], ..refusal(302) }, false);
            }
        };
        let remembered = self.processed.get(id).copied().filter(|_| self.temper.remembers);
        let processed_at = remembered.unwrap_or(now);
        self.processed.insert(id.to_owned(), processed_at);
        let said = match self.temper.answers_in_shape {
            true => json!({ "received": true, "processed_at": processed_at.to_string() }),
            false => json!({ "ok": 1 }),
        };
        (Reply { manner, ..body(&said) }, true)
    }
}

fn body(said: &serde_json::Value) -> Reply {
    Reply { status: 200, headers: Vec::new(), body: said.to_string(), manner: Manner::AtOnce }
}

fn refusal(status: u16) -> Reply {
    Reply { status, ..body(&json!({ "error": status })) }
}
