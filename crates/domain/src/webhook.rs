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
#[derive(Clone, PartialEq, Eq)]
pub struct Endpoint {
    /// `{webhook_base}`: the paths of events are appended to it.
    pub url: String,
    /// What signs, newest first: one, or two while one takes the other's place.
    pub secrets: Vec<SecretText>,
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Endpoint").field("url", &shown_url(&self.url)).field("secrets", &self.secrets).finish()
    }
}

/// A receiver's address as people may see it: without user and password, and with the names but not the values of its
/// query, which are keys of gateways.
pub fn shown_url(url: &str) -> String {
    let url = url.split('#').next().unwrap_or_default();
    let (plain, query) = url.split_once('?').map_or((url, None), |(plain, query)| (plain, Some(query)));
    let plain = match plain.split_once("://") {
        None => plain.to_owned(),
        Some((scheme, rest)) => {
            let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
            format!("{scheme}://{}{path}", host.rsplit_once('@').map_or(host, |(_, host)| host))
        }
    };
    let Some(query) = query else { return plain };
    let masked =
        query.split('&').map(|pair| pair.split_once('=').map_or("…".to_owned(), |(name, _)| format!("{name}=…")));
    format!("{plain}?{}", masked.collect::<Vec<_>>().join("&"))
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

    #[test]
    fn an_address_is_shown_without_what_may_be_a_secret() {
        for (url, shown) in [
            ("https://bank.example/in", "https://bank.example/in"),
            ("https://fn.example/in?code=abc%3D%3D&sv=1", "https://fn.example/in?code=…&sv=…"),
            ("https://fn.example?abc", "https://fn.example?…"),
            ("https://u:p@fn.example/a@b?x=1#f", "https://fn.example/a@b?x=…"),
            ("", ""),
        ] {
            assert_eq!(shown_url(url), shown);
        }
        let endpoint = Endpoint { url: "https://fn.example?code=abc".to_owned(), secrets: Vec::new() };
        assert!(!format!("{endpoint:?}").contains("abc"));
    }
}
