//! The receiver's mind: what it answers to an arrival, and why. Time is handed in; nothing is drawn, slept or sent.

use std::collections::{BTreeMap, VecDeque};

use domain::time::{Span, Timestamp};
use serde::Deserialize;
use serde_json::json;

use super::book::{Book, Entry};
use super::proof::{self, Verdict};

/// The first event of a payment request; those that a hasty receiver cannot take without it.
const FIRST: &str = "payment.received";
const AFTER_IT: [&str; 3] = ["risk_check.complete", "transfer.complete", "transaction.failed"];
/// The events of the specification.
const KNOWN: [&str; 6] = [FIRST, AFTER_IT[0], AFTER_IT[1], AFTER_IT[2], "exchange.complete", "wallet.blocked"];

/// A request, as it came in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Arrival {
    /// The path below the receiver's own address.
    pub path: String,
    /// `webhook-id`
    pub id: Option<String>,
    /// `webhook-timestamp`
    pub timestamp: Option<String>,
    /// `webhook-signature`
    pub signature: Option<String>,
    /// `traceparent`
    pub traceparent: Option<String>,
    /// The raw body.
    pub body: Vec<u8>,
}

/// How the receiver reacts to a genuine webhook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reaction {
    /// 200, `received: true`.
    Take,
    /// 200, `received: true`, after a while.
    TakeLate(Span),
    /// 200, `received: false`.
    Deny,
    /// This status, with `Retry-After` where it is given.
    Refuse {
        /// HTTP status.
        status: u16,
        /// `Retry-After`
        retry_after: Option<String>,
    },
    /// 302 to somewhere else.
    Redirect(String),
    /// 200, and then a body that comes byte by byte and never ends.
    Drip,
    /// 200 with a body without end, as fast as it is read.
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

/// What a receiver does right, or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Temper {
    /// Refuses what no known secret signed.
    pub checks_signatures: bool,
    /// Refuses what is too old or too early.
    pub checks_age: bool,
    /// Takes a webhook again that it has already.
    pub takes_repeats: bool,
    /// Says of a repeated one when it was processed first, because it was not processed again.
    pub remembers: bool,
    /// Takes an event whose cause it was not told yet.
    pub takes_disorder: bool,
    /// Takes event types that it does not know.
    pub takes_unknown: bool,
    /// Answers as the specification says: `received` and `processed_at`.
    pub answers_in_shape: bool,
}

impl Temper {
    /// Does everything right.
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

/// How an answer goes out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manner {
    /// At once.
    AtOnce,
    /// After this time.
    Late(Span),
    /// Byte by byte, without end.
    Drip,
    /// Without end.
    Flood,
    /// Not at all.
    Close,
}

/// An answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// HTTP status.
    pub status: u16,
    /// Headers beside the content type.
    pub headers: Vec<(&'static str, String)>,
    /// The body.
    pub body: String,
    /// How it goes out.
    pub manner: Manner,
}

#[derive(Deserialize)]
struct Envelope {
    /// The payment service's events call it otherwise.
    #[serde(alias = "type")]
    event_type: String,
    data: Subject,
}

#[derive(Deserialize)]
struct Subject {
    payment_request_id: Option<String>,
    order_id: Option<String>,
    wallet_id: Option<String>,
    /// Of a payment or a quote.
    id: Option<String>,
}

/// A receiver without clock and socket.
#[derive(Clone, Debug)]
pub struct ReceiverCore {
    secrets: Vec<Vec<u8>>,
    temper: Temper,
    script: VecDeque<Reaction>,
    usual: Reaction,
    book: Book,
    /// When each id was processed.
    processed: BTreeMap<String, Timestamp>,
}

impl ReceiverCore {
    /// A careful receiver that knows these secrets (`whsec_…`); a text that is none is known to nobody.
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

    /// What it does right from now on.
    pub fn set_temper(&mut self, temper: Temper) {
        self.temper = temper;
    }

    /// Which secrets it knows from now on.
    pub fn set_secrets(&mut self, secrets: &[&str]) {
        self.secrets = secrets.iter().filter_map(|text| proof::secret_bytes(text)).collect();
    }

    /// How it reacts to the next arrivals, one each; genuine ones only, unless it cannot tell.
    pub fn script(&mut self, reactions: impl IntoIterator<Item = Reaction>) {
        self.script.extend(reactions);
    }

    /// How it reacts once the script is through.
    pub fn set_usual(&mut self, reaction: Reaction) {
        self.usual = reaction;
    }

    /// Everything that arrived.
    pub fn book(&self) -> &Book {
        &self.book
    }

    /// Takes an arrival in and answers it.
    pub fn receive(&mut self, arrival: Arrival, now: Timestamp) -> Reply {
        let verdict = proof::judge(&self.secrets, &arrival, now);
        let envelope = serde_json::from_slice::<Envelope>(&arrival.body).ok();
        let (event_type, subject) = envelope.map_or((String::new(), None), |envelope| {
            let Subject { payment_request_id, order_id, wallet_id, id } = envelope.data;
            (envelope.event_type, payment_request_id.or(order_id).or(wallet_id).or(id))
        });
        let id = arrival.id.clone().unwrap_or_default();
        let repeated = self.processed.contains_key(&id);
        let entry = Entry { arrival, event_type, subject, at: now, verdict, taken: false, repeated };
        let (reply, taken) = match self.objection(&entry) {
            Some(status) => (refusal(status), false),
            None => self.react(&id, now),
        };
        self.book.add(Entry { taken, ..entry });
        reply
    }

    /// The status of a refusal that the receiver has a reason for, good or bad.
    fn objection(&self, entry: &Entry) -> Option<u16> {
        let temper = &self.temper;
        let told = |subject: &str| self.book.taken_about(subject).iter().any(|told| told.event_type == FIRST);
        let too_early = AFTER_IT.contains(&entry.event_type.as_str()) && !entry.subject.as_deref().is_some_and(told);
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

    /// Reacts, and says whether the webhook was taken.
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
            Reaction::Redirect(to) => return (Reply { headers: vec![("location", to)], ..refusal(302) }, false),
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
