//! The event logs of both services, followed together.

use std::ops::ControlFlow;
use std::time::Duration;

use serde::Deserialize;

use super::super::failure::Failure;
use super::super::story::{Logged, Service};
use super::super::{api, document, output};
use super::follow::follow;
use client::Client;

/// Poll interval of the wallet service's log, well below its rate limit.
const POLL_PAUSE: Duration = Duration::from_secs(1);
/// Consecutive failures after which following ends.
const MAX_FAILURES: u32 = 30;

/// A log and a position in it.
#[derive(Clone, Copy)]
pub struct Place<'a> {
    client: &'a Client,
    after: u64,
}

/// Positions in the logs of the services that are offered.
#[derive(Clone, Copy, Default)]
pub struct Logs<'a> {
    pub payments: Option<Place<'a>>,
    pub wallets: Option<Place<'a>>,
}

#[derive(Deserialize)]
struct Page {
    events: Vec<Box<serde_json::value::RawValue>>,
    next: String,
}

#[derive(Deserialize)]
struct Envelope {
    id: String,
    #[serde(rename = "type")]
    kind: String,
}

impl<'a> Logs<'a> {
    /// The logs from their current ends on.
    pub async fn end(
        payments: Option<&'a Client>,
        wallets: Option<&'a Client>,
    ) -> Result<Logs<'a>, Failure> {
        let payments = match payments {
            Some(client) => Some(Place { client, after: end_of_payments(client).await? }),
            None => None,
        };
        let wallets = match wallets {
            Some(client) => end_of_wallets(client).await?.map(|after| Place { client, after }),
            None => None,
        };
        if payments.is_none() && wallets.is_none() {
            return Err(Failure::Unavailable("no event log is available".to_owned()));
        }
        Ok(Logs { payments, wallets })
    }

    /// The events before these positions, at most `most` of each log, in their order.
    pub async fn past(&self, most: u64) -> Result<Vec<Logged>, Failure> {
        let mut past = Vec::new();
        if let Some(Place { client, after }) = self.payments {
            past.extend(payments_between(client, after.saturating_sub(most), after).await?);
        }
        if let Some(Place { client, after }) = self.wallets {
            let from = after.saturating_sub(most);
            let read = api::patiently(async || client.wallet_events(from).await).await;
            let (mut events, next) = match read {
                // Older events than the retained ones: the log is shorter than that.
                Err(error) if error.status() == Some(400) && from > 0 => {
                    api::patiently(async || client.wallet_events(0).await).await?
                }
                read => read?,
            };
            drop_newer(&mut events, next, after);
            past.extend(events.into_iter().map(of_wallet));
        }
        past.sort_by_key(Logged::at);
        Ok(past)
    }

    /// Passes every event after the positions to `each` until it breaks.
    pub async fn follow(
        self,
        each: impl AsyncFn(Logged) -> Result<ControlFlow<()>, Failure>,
    ) -> Result<(), Failure> {
        tokio::select! {
            ended = payment_events(self.payments, &each) => ended,
            ended = wallet_events(self.wallets, &each) => ended,
        }
    }
}

/// One service is enough: with keys of only one, its log is followed alone.
pub fn either_service(
    payments: Result<Client, Failure>,
    wallets: Result<Client, Failure>,
) -> Result<(Option<Client>, Option<Client>), Failure> {
    match (payments, wallets) {
        (Err(why), Err(_)) => Err(why),
        (payments, wallets) => {
            for why in [&payments, &wallets].into_iter().filter_map(|client| client.as_ref().err())
            {
                output::remark(&format!("{why}; following the other service only"));
            }
            Ok((payments.ok(), wallets.ok()))
        }
    }
}

fn of_wallet(event: client::WalletEvent) -> Logged {
    Logged { service: Service::Wallet, id: event.id, kind: event.kind, json: event.json }
}

/// An event of the payment service.
pub fn of_payments(json: &str) -> Result<Logged, Failure> {
    let Envelope { id, kind } = document::read(json)?;
    Ok(Logged { service: Service::Payment, id, kind, json: json.to_owned() })
}

async fn payment_events(
    from: Option<Place<'_>>,
    each: &impl AsyncFn(Logged) -> Result<ControlFlow<()>, Failure>,
) -> Result<(), Failure> {
    let Some(Place { client, after }) = from else { return std::future::pending().await };
    follow(client, Some(after), async |event| each(of_payments(&event.line)?).await).await
}

/// Polls the wallet service's log.
async fn wallet_events(
    from: Option<Place<'_>>,
    each: &impl AsyncFn(Logged) -> Result<ControlFlow<()>, Failure>,
) -> Result<(), Failure> {
    let Some(Place { client, mut after }) = from else { return std::future::pending().await };
    let mut failures = 0;
    loop {
        match api::patiently(async || client.wallet_events(after).await).await {
            Ok((events, next)) => {
                failures = 0;
                for event in events {
                    if each(of_wallet(event)).await?.is_break() {
                        return Ok(());
                    }
                }
                after = next;
            }
            Err(error) if error.may_be_repeated() && failures < MAX_FAILURES => {
                failures += 1;
                output::remark(&format!("{error}; retrying"));
            }
            Err(error) => return Err(error.into()),
        }
        tokio::time::sleep(POLL_PAUSE).await;
    }
}

/// A page of the payment service's log: the given events, or with 0 those from the oldest on.
async fn page(client: &Client, query: &[(&str, String)]) -> Result<Page, client::ClientError> {
    let answer = client.get("/v2/events", query).await?;
    serde_json::from_str(&answer.body).map_err(|error| client::ClientError::Unavailable {
        message: format!("unexpected answer: {error}"),
        repeat: false,
    })
}

/// The events of the payment service from one position to another.
pub async fn payments_between(client: &Client, from: u64, to: u64) -> Result<Vec<Logged>, Failure> {
    let query = |after: u64| {
        [
            ("mode", "poll".to_owned()),
            ("after", after.to_string()),
            ("limit", to.saturating_sub(from).to_string()),
        ]
    };
    let mut page = match page(client, &query(from)).await {
        // Older events than the retained ones: the log is shorter than that.
        Err(error) if error.code() == Some("cursor_expired") => page(client, &query(0)).await?,
        page => page?,
    };
    drop_newer(&mut page.events, position(&page.next)?, to);
    page.events.iter().map(|event| of_payments(event.get())).collect()
}

/// The log position after the newest event of the payment service.
pub async fn end_of_payments(client: &Client) -> Result<u64, client::ClientError> {
    position(&page(client, &[("mode", "poll".to_owned())]).await?.next)
}

fn position(next: &str) -> Result<u64, client::ClientError> {
    next.parse().map_err(|_| client::ClientError::Unavailable {
        message: "unexpected answer: next is not a position".to_owned(),
        repeat: false,
    })
}

/// Removes the events after `end` from a page that was read up to `next`: they are followed.
fn drop_newer<T>(events: &mut Vec<T>, next: u64, end: u64) {
    let newer = usize::try_from(next.saturating_sub(end)).unwrap_or(usize::MAX);
    events.truncate(events.len().saturating_sub(newer));
}

/// The same for the wallet service; `None` where it is not offered.
async fn end_of_wallets(client: &Client) -> Result<Option<u64>, Failure> {
    match api::patiently(async || client.wallet_events_end().await).await {
        Ok(end) => Ok(Some(end)),
        Err(error) if error.status() == Some(404) => {
            output::remark("no wallet service here; payment events only");
            Ok(None)
        }
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use testkit::scripted::Scripted;

    use super::*;

    #[tokio::test]
    async fn the_past_ends_where_following_begins() {
        let payment = |seq: u32| {
            format!(
                r#"{{"id":"p-{seq}","seq":{seq},"type":"quote.used","occurred_at":"2026-11-21T00:00:0{seq}Z","data":{{}}}}"#
            )
        };
        let wallet = |seq: u32| {
            format!(
                r#"{{"event_id":"w-{seq}","event_type":"wallet.blocked","timestamp":"2026-11-21T00:00:0{seq}Z","data":{{}}}}"#
            )
        };
        let payments = format!(r#"{{"events":[{},{}],"next":"7"}}"#, payment(5), payment(7));
        let expired = r#"{"detail":{"code":"cursor_expired","message":"no longer kept"}}"#;
        let wallets = format!(r#"{{"events":[{},{}],"next":"5"}}"#, wallet(4), wallet(6));
        let server = Scripted::start(&[
            ("/v2/events", &[(400, expired), (200, &payments)]),
            ("/v1/sdk/events", &[(200, &wallets)]),
        ])
        .await;
        let client = Client::new(crate::scripted::credentials(&server)).expect("a client");
        // One event of each log came after its end was read.
        let logs = Logs {
            payments: Some(Place { client: &client, after: 6 }),
            wallets: Some(Place { client: &client, after: 4 }),
        };
        let past = logs.past(3).await.expect("the past");
        let ids: Vec<&str> = past.iter().map(|event| event.id.as_str()).collect();
        assert_eq!(ids, ["w-4", "p-5"], "in the order of time, without what is followed");
        let asked: Vec<String> = server.asked().into_iter().map(|asked| asked.query).collect();
        assert_eq!(
            asked,
            ["mode=poll&after=3&limit=3", "mode=poll&after=0&limit=3", "after=1&limit=1000"]
        );
    }
}
