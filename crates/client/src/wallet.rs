//! Answers of the wallet service's event log and delivery list.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::error::ClientError;
use super::{Answer, Client};

/// `details.reason` of a rejected position beyond the end of the log.
const CURSOR_AHEAD: &str = "cursor_ahead";
/// Entries per request: the API's maximum `limit` of a list.
const PAGE: usize = 100;
/// The same for the event log.
const EVENTS_PAGE: usize = 1_000;

/// One event of the wallet service.
#[derive(Clone, Debug)]
pub struct WalletEvent {
    /// Sent as the member `event_id`.
    pub id: String,
    /// Sent as the member `event_type`.
    pub kind: String,
    /// The envelope as its webhook has it, without the log position.
    pub json: String,
}

#[derive(Deserialize, Serialize)]
struct Envelope {
    event_id: String,
    event_type: String,
    timestamp: String,
    data: Box<RawValue>,
}

#[derive(Deserialize)]
struct EventPage {
    events: Vec<Envelope>,
    next: String,
}

/// One entry of `GET /v1/sdk/webhooks/deliveries`.
#[derive(Clone, Debug, Deserialize)]
pub struct Delivery {
    pub delivery_id: String,
    pub event_type: String,
    /// `pending`, `delivered`, `dead`, `disabled`
    pub status: String,
    /// Number of delivery attempts so far.
    pub attempts: u64,
    /// When it was created.
    pub created_at: String,
    /// Time of the next attempt.
    pub next_attempt_at: Option<String>,
    /// HTTP status of the newest answer.
    pub last_status: Option<u16>,
    /// The error of the newest attempt.
    pub last_error: Option<String>,
}

#[derive(Deserialize)]
struct DeliveryPage {
    deliveries: Vec<Box<RawValue>>,
}

/// An id or a caller's own id as one path segment.
pub fn segment(id: &str) -> Result<String, ClientError> {
    let mut url =
        reqwest::Url::parse("http://x").map_err(|error| ClientError::Usage(error.to_string()))?;
    match url.path_segments_mut() {
        Ok(mut segments) => drop(segments.push(id)),
        Err(()) => {
            return Err(ClientError::Usage("the base URL cannot have path segments".to_owned()));
        }
    }
    // URLs resolve `.` and `..` away.
    let path = url.path().trim_start_matches('/').to_owned();
    if path.is_empty() {
        Err(ClientError::Usage(format!("{id:?} is not a valid id")))
    } else {
        Ok(path)
    }
}

impl Client {
    /// One payment request in its current state.
    pub async fn payment_request(&self, id: &str) -> Result<Answer, ClientError> {
        self.get(&format!("/v1/sdk/payment-requests/{}", segment(id)?), &[]).await
    }

    /// One exchange order in its current state.
    pub async fn order(&self, id: &str) -> Result<Answer, ClientError> {
        self.get(&format!("/v1/sdk/orders/{}", segment(id)?), &[]).await
    }

    /// One transaction in its current state: a deposit, or an exchange by its order's id.
    pub async fn transaction(&self, id: &str) -> Result<Answer, ClientError> {
        self.get(&format!("/v1/sdk/transactions/{}", segment(id)?), &[]).await
    }

    /// The wallet service's events after a position, and the next position.
    pub async fn wallet_events(&self, after: u64) -> Result<(Vec<WalletEvent>, u64), ClientError> {
        self.wallet_events_page(after, EVENTS_PAGE).await
    }

    async fn wallet_events_page(
        &self,
        after: u64,
        limit: usize,
    ) -> Result<(Vec<WalletEvent>, u64), ClientError> {
        let query = [("after", after.to_string()), ("limit", limit.to_string())];
        let answer = self.get("/v1/sdk/events", &query).await?;
        let page: EventPage = read(&answer)?;
        let next = page.next.parse().map_err(|_| strange("next is not a position"))?;
        let events = page.events.into_iter().map(|envelope| {
            let json =
                serde_json::to_string(&envelope).map_err(|error| strange(&error.to_string()))?;
            Ok(WalletEvent { id: envelope.event_id, kind: envelope.event_type, json })
        });
        Ok((events.collect::<Result<_, ClientError>>()?, next))
    }

    /// The position after the newest event of the wallet service.
    pub async fn wallet_events_end(&self) -> Result<u64, ClientError> {
        // Positions before the oldest retained event are rejected, except 0.
        let (oldest, next) = self.wallet_events_page(0, 1).await?;
        if oldest.is_empty() {
            return Ok(next);
        }
        let is_behind = async |after| match self.wallet_events_page(after, 1).await {
            Ok((events, _)) => Ok(!events.is_empty()),
            // A position beyond the end is rejected.
            Err(ClientError::Refused { message, .. }) if message.contains(CURSOR_AHEAD) => {
                Ok(false)
            }
            Err(error) => Err(error),
        };
        end_of_log(next, is_behind).await
    }

    /// A page of a service's webhook deliveries in this state, each with its original JSON; newest
    /// first. Empty after the last page.
    pub async fn deliveries(
        &self,
        service: &str,
        status: Option<&str>,
        page: usize,
    ) -> Result<Vec<(Delivery, String)>, ClientError> {
        let mut query = vec![("page", page.to_string()), ("limit", PAGE.to_string())];
        query.extend(status.map(|status| ("status", status.to_owned())));
        query.push(("service", service.to_owned()));
        let answer = self.get("/v1/sdk/webhooks/deliveries", &query).await?;
        let page: DeliveryPage = read(&answer)?;
        let entries = page.deliveries.into_iter().map(|entry| {
            let delivery =
                serde_json::from_str(entry.get()).map_err(|error| strange(&error.to_string()))?;
            Ok((delivery, entry.get().to_owned()))
        });
        entries.collect()
    }
}

/// The end of a log without gaps, at `from` or later, by binary search: `is_behind(n)` states
/// whether an entry follows position n.
async fn end_of_log<E>(
    mut from: u64,
    is_behind: impl AsyncFn(u64) -> Result<bool, E>,
) -> Result<u64, E> {
    let mut step = 1;
    while is_behind(from + step).await? {
        from += step;
        step *= 2;
    }
    let mut end = from + step;
    // The end lies between the two, both inclusive.
    while from < end {
        let middle = from + (end - from) / 2;
        if is_behind(middle).await? {
            from = middle + 1;
        } else {
            end = middle;
        }
    }
    Ok(from)
}

fn read<'a, T: Deserialize<'a>>(answer: &'a Answer) -> Result<T, ClientError> {
    serde_json::from_str(&answer.body).map_err(|error| strange(&error.to_string()))
}

fn strange(why: &str) -> ClientError {
    ClientError::Unavailable {
        message: format!("an answer of an unknown shape: {why}"),
        repeat: false,
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;
    use testkit::scripted::Scripted;

    #[tokio::test]
    async fn the_end_of_a_log_is_found_in_few_steps() {
        for (kept, newest) in
            (0..70).map(|newest| (0, newest)).chain([(0, 1_000_000), (7, 7), (7, 8), (900, 12_345)])
        {
            let asked = std::cell::Cell::new(0);
            let is_behind = async |after: u64| {
                assert!(after >= kept, "{after} is no longer kept");
                asked.set(asked.get() + 1);
                Ok::<_, Infallible>(after < newest)
            };
            assert_eq!(end_of_log(kept, is_behind).await, Ok(newest));
            assert!(
                asked.get() <= 2 + 2 * (64 - newest.leading_zeros()),
                "{newest}: {} questions",
                asked.get()
            );
        }
    }

    #[tokio::test]
    async fn one_object_is_read_by_its_id() {
        let thing = r#"{"order_id":"o-1"}"#;
        let found: &[(u16, &str)] = &[(200, thing)];
        let server = Scripted::start(&[
            ("/v1/sdk/payment-requests/r-1", found),
            ("/v1/sdk/orders/o-1", found),
            ("/v1/sdk/transactions/t%2F1", found),
        ])
        .await;
        let client = Client::new(crate::scripted::credentials(&server)).expect("a client");
        for answer in [
            client.payment_request("r-1").await,
            client.order("o-1").await,
            client.transaction("t/1").await,
        ] {
            assert_eq!(answer.expect("found").body, thing);
        }
        assert!(matches!(client.order("..").await, Err(ClientError::Usage(_))), "no other path");
    }

    #[tokio::test]
    async fn an_empty_log_ends_where_it_begins() {
        let server =
            Scripted::start(&[("/v1/sdk/events", &[(200, r#"{"events":[],"next":"0"}"#)])]).await;
        let client = Client::new(crate::scripted::credentials(&server)).expect("a client");
        assert_eq!(client.wallet_events_end().await.expect("an end"), 0);
        assert_eq!(server.asked().len(), 1);
    }

    #[tokio::test]
    async fn events_equal_their_webhooks_and_deliveries_keep_their_json() {
        let event = r#"{"event_id":"e-1","event_type":"wallet.blocked","timestamp":"t","data":{"b":"ü", "a":1.50}}"#;
        let logged = event.replacen("}}", r#"},"seq":7}"#, 1);
        let page = format!(r#"{{"events":[{logged}],"next":"7"}}"#);
        let entry = r#"{"delivery_id":"e-1","event_id":"e-1","event_type":"wallet.blocked","status":"dead","attempts":12,
            "created_at":"2026-11-21T06:57:48.123Z","next_attempt_at":null,"last_status":500,"last_error":"HTTP 500"}"#;
        let deliveries = format!(r#"{{"deliveries":[{entry}]}}"#);
        let server = Scripted::start(&[
            ("/v1/sdk/events", &[(200, &page)]),
            ("/v1/sdk/webhooks/deliveries", &[(200, &deliveries)]),
        ])
        .await;
        let client = Client::new(crate::scripted::credentials(&server)).expect("a client");
        let (events, next) = client.wallet_events(6).await.expect("events");
        assert_eq!(
            (events[0].id.as_str(), events[0].kind.as_str(), next),
            ("e-1", "wallet.blocked", 7)
        );
        assert_eq!(events[0].json, event);
        let found = client.deliveries("payment", Some("dead"), 2).await.expect("deliveries");
        assert_eq!(
            (found[0].0.attempts, found[0].0.last_status, found[0].1.as_str()),
            (12, Some(500), entry)
        );
        let asked: Vec<String> = server.asked().into_iter().map(|asked| asked.query).collect();
        assert_eq!(asked, ["after=6&limit=1000", "page=2&limit=100&status=dead&service=payment"]);
    }
}
