//! What is said to a bank's receiver of webhooks and what it says back (`decisions.md`, "Webhooks"). When to try again,
//! and what to give up, is not decided here.

use std::fmt;

use crate::ids::EventId;
use crate::time::{Span, Timestamp};

/// A secret that signs webhooks, as the bank has it: `whsec_<base64>`. Never printed.
#[derive(Clone, PartialEq, Eq)]
pub struct SecretText(pub String);

impl fmt::Debug for SecretText {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("SecretText(…)")
    }
}

/// Where a tenant's webhooks go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// `{webhook_base}`: the paths of events are appended to it.
    pub url: String,
    /// What signs, newest first: one, or two while one takes the other's place.
    pub secrets: Vec<SecretText>,
}

/// One event on its way to a receiver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// The event: `webhook-id`, the same at every try.
    pub id: EventId,
    /// The receiver's path for events of this kind (`/webhooks/wallet/payment-received`).
    pub path: String,
    /// When this try is made, on the wall: `webhook-timestamp`.
    pub at: Timestamp,
    /// The envelope as JSON, the same bytes at every try.
    pub body: Vec<u8>,
    /// W3C trace context of what caused the event.
    pub traceparent: Option<String>,
}

/// Whether a receiver has a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeliveryResult {
    /// A 2xx that does not say `"received": false`.
    Received,
    /// Anything else, in words: to be tried again.
    NotReceived(String),
    /// 410: the receiver wants no more.
    Gone,
}

/// What became of one try.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveryAnswer {
    /// Whether it has the message.
    pub result: DeliveryResult,
    /// The HTTP status, where there was an answer.
    pub status: Option<u16>,
    /// The beginning of the answer's body, 16 KiB at most; what is no UTF-8 is replaced.
    pub body: String,
    /// How long the receiver asks to be left alone (`Retry-After`).
    pub retry_after: Option<Span>,
    /// How long the try took.
    pub took: Span,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_never_printed() {
        let secrets = vec![SecretText("whsec_c2VjcmV0".to_owned())];
        let endpoint = Endpoint { url: "https://bank.example".to_owned(), secrets };
        let printed = format!("{endpoint:?}");
        assert!(printed.contains("bank.example") && !printed.contains("whsec_"), "{printed}");
    }
}
