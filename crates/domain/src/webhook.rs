//! Requests to a bank's webhook endpoint and its answers (`decisions.md`, "Webhooks"). Retries are
//! decided elsewhere.

use std::fmt;

use crate::ids::EventId;
use crate::time::{Span, Timestamp};

/// A webhook signing secret in the bank's format: `whsec_<base64>`. Never printed.
#[derive(Clone, PartialEq, Eq)]
pub struct SecretText(pub String);

impl fmt::Debug for SecretText {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("SecretText(…)")
    }
}

/// A tenant's webhook endpoint.
#[derive(Clone, PartialEq, Eq)]
pub struct Endpoint {
    /// `{webhook_base}`: the events' paths are appended to it.
    pub url: String,
    /// Signing secrets, newest first: one, or two during a rotation.
    pub secrets: Vec<SecretText>,
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Endpoint")
            .field("url", &shown_url(&self.url))
            .field("secrets", &self.secrets)
            .finish()
    }
}

/// An endpoint's URL for display: without user and password, and with the names but not the values
/// of its query, which are gateway keys.
pub fn shown_url(url: &str) -> String {
    let url = url.split('#').next().unwrap_or_default();
    let (plain, query) =
        url.split_once('?').map_or((url, None), |(plain, query)| (plain, Some(query)));
    let plain = match plain.split_once("://") {
        None => plain.to_owned(),
        Some((scheme, rest)) => {
            let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
            format!("{scheme}://{}{path}", host.rsplit_once('@').map_or(host, |(_, host)| host))
        }
    };
    let Some(query) = query else { return plain };
    let masked = query
        .split('&')
        .map(|pair| pair.split_once('=').map_or("…".to_owned(), |(name, _)| format!("{name}=…")));
    format!("{plain}?{}", masked.collect::<Vec<_>>().join("&"))
}

/// One event to deliver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// The event: `webhook-id`, the same in every attempt.
    pub id: EventId,
    /// The endpoint's path for events of this kind (`/webhooks/wallet/payment-received`).
    pub path: String,
    /// Wall-clock time of this attempt: `webhook-timestamp`.
    pub at: Timestamp,
    /// The envelope as JSON, the same bytes in every attempt.
    pub body: Vec<u8>,
    /// W3C trace context of the event's cause.
    pub traceparent: Option<String>,
}

/// Whether an endpoint received a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeliveryResult {
    /// A 2xx without `"received": false`.
    Received,
    /// Any other result, as text: to be retried.
    NotReceived(String),
    /// 410: the endpoint wants no more events.
    Gone,
}

/// Result of one attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveryAnswer {
    /// Whether the endpoint received the message.
    pub result: DeliveryResult,
    /// HTTP status, if there was an answer.
    pub status: Option<u16>,
    /// The beginning of the answer's body, at most 16 KiB; invalid UTF-8 is replaced.
    pub body: String,
    /// The endpoint's requested delay (`Retry-After`).
    pub retry_after: Option<Span>,
    /// Duration of the attempt.
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
    fn a_url_is_shown_without_possible_secrets() {
        for (url, shown) in [
            ("https://bank.example/in", "https://bank.example/in"),
            ("https://fn.example/in?code=abc%3D%3D&sv=1", "https://fn.example/in?code=…&sv=…"),
            ("https://fn.example?abc", "https://fn.example?…"),
            ("https://u:p@fn.example/a@b?x=1#f", "https://fn.example/a@b?x=…"),
            ("", ""),
        ] {
            assert_eq!(shown_url(url), shown);
        }
        let endpoint =
            Endpoint { url: "https://fn.example?code=abc".to_owned(), secrets: Vec::new() };
        assert!(!format!("{endpoint:?}").contains("abc"));
    }
}
