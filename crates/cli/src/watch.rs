//! Watches one payment until it settles, over the event stream or, without one, by polling its
//! record.

use std::time::Duration;

use clap::Args;
use domain::country::Country;
use domain::names::state_phrase;
use serde::Deserialize;
use tokio::time::{Instant, timeout_at};

use super::colour::{Tone, dim};
use super::failure::Failure;
use super::output::{self, Output};
use super::{document, local_time};
use client::{Client, Event, EventStream, PaymentRecord, PaymentResponse, Seen};

/// Poll interval while no stream is available.
const POLL_INTERVAL: Duration = Duration::from_millis(500);
/// Where a line's message begins: behind the time and the status.
const MESSAGE_AT: usize = 22;
/// Stream silence about the payment after which its record is polled anyway.
const QUIET: Duration = Duration::from_secs(2);

#[derive(Args, Clone, Debug)]
pub struct WatchArgs {
    /// Seconds to wait for the end before giving up
    #[arg(long, value_name = "SECONDS", default_value_t = 120)]
    timeout: u64,
}

/// A payment being watched.
pub struct Watch<'a> {
    client: &'a Client,
    country: Country,
    id: String,
    output: Output,
    stream: Option<EventStream>,
    last: Option<Seen>,
}

/// Opens the event stream. Failing to open it is not an error: the record is polled instead.
pub async fn open_stream(client: &Client) -> Option<EventStream> {
    client.events(None).await.ok()
}

impl<'a> Watch<'a> {
    /// Watches the payment over a stream opened before its last state was read, so nothing is
    /// missed.
    pub fn new(
        client: &'a Client,
        country: Country,
        id: impl Into<String>,
        output: Output,
        stream: Option<EventStream>,
    ) -> Watch<'a> {
        Watch { client, country, id: id.into(), output, stream, last: None }
    }

    /// Prints each state from `first` on until the payment settles; fails unless it succeeded.
    pub async fn follow(
        mut self,
        first: &PaymentResponse,
        args: &WatchArgs,
    ) -> Result<(), Failure> {
        let deadline = Instant::now() + Duration::from_secs(args.timeout);
        self.report(Seen::from(first))?;
        loop {
            if let Some(seen) = self.last.as_ref().filter(|seen| seen.is_settled()) {
                return verdict(&self.id, seen);
            }
            match timeout_at(deadline, self.step()).await {
                Ok(step) => step?,
                Err(_) => {
                    let status = self.last.map_or_else(String::new, |seen| seen.status);
                    let (id, timeout) = (self.id, args.timeout);
                    return Err(Failure::NotSucceeded(format!(
                        "payment {id} is still {status} after {timeout} s"
                    )));
                }
            }
        }
    }

    /// Waits for any news and processes it.
    async fn step(&mut self) -> Result<(), Failure> {
        let Some(stream) = &mut self.stream else {
            tokio::time::sleep(POLL_INTERVAL).await;
            return self.ask().await;
        };
        match tokio::time::timeout(QUIET, stream.next()).await {
            Ok(Ok(Some(event))) => match response_in(&event, &self.id) {
                Some(seen) => self.report(seen),
                None => Ok(()),
            },
            Ok(Ok(None) | Err(_)) => {
                self.stream = None;
                Ok(())
            }
            Err(_) => self.ask().await,
        }
    }

    async fn ask(&mut self) -> Result<(), Failure> {
        let query = [("country", self.country.alpha3().to_owned())];
        match self.client.get(&format!("/v2/payments/{}", self.id), &query).await {
            Ok(answer) => {
                let record: PaymentRecord = document::read(&answer.body)?;
                record
                    .response
                    .as_ref()
                    .map_or(Ok(()), |response| self.report(Seen::from(response)))
            }
            // A restart of the service is tolerated; the deadline ends the watch.
            Err(error) if error.may_be_repeated() => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    fn report(&mut self, seen: Seen) -> Result<(), Failure> {
        let is_news = self
            .last
            .as_ref()
            .is_none_or(|last| seen.status != last.status && seen.timestamp >= last.timestamp);
        if !is_news {
            return Ok(());
        }
        print(&self.id, &seen, self.output)?;
        self.last = Some(seen);
        Ok(())
    }
}

fn print(id: &str, seen: &Seen, output: Output) -> Result<(), Failure> {
    if output == Output::Json {
        return output::json(&serde_json::json!({
            "id": id,
            "status": seen.status,
            "timestamp": seen.timestamp,
            "msg": seen.message,
            "bank_reference": seen.bank_reference,
        }));
    }
    let reference =
        seen.bank_reference.as_ref().map(|reference| format!("  bank reference {reference}"));
    let message = seen
        .message
        .as_ref()
        .filter(|message| !message.is_empty())
        .map(|message| format!("  {message}"));
    let at = local_time::on_the_clock(&seen.timestamp);
    let status = Tone::of_state(&seen.status).paint(&format!("{:<10}", seen.status));
    let line = format!(
        "{}  {status}{}{}",
        dim(&at),
        reference.unwrap_or_default(),
        message.unwrap_or_default()
    );
    output::sentence(line.trim_end(), MESSAGE_AT)
}

fn verdict(id: &str, seen: &Seen) -> Result<(), Failure> {
    match seen.status.as_str() {
        "succeeded" => Ok(()),
        status => Err(Failure::NotSucceeded(format!("payment {id} {}", state_phrase(status)))),
    }
}

#[derive(Deserialize)]
struct Data {
    id: String,
    #[serde(default)]
    response: Option<PaymentResponse>,
}

fn response_in(event: &Event, id: &str) -> Option<Seen> {
    if !event.kind.starts_with("payment.") {
        return None;
    }
    let data: Data = serde_json::from_str(&event.data).ok()?;
    data.response.filter(|_| data.id == id).as_ref().map(Seen::from)
}

#[cfg(test)]
mod tests {
    use super::*;
    use testkit::scripted::Scripted;

    fn event(kind: &str, data: &str) -> Event {
        Event { seq: 1, kind: kind.to_owned(), data: data.to_owned(), line: String::new() }
    }

    #[test]
    fn only_events_of_the_payment_are_news() {
        let data = r#"{"id":"p","order":{},"response":{"id":"p","timestamp":"t","status":"succeeded","bank_reference":"B1"}}"#;
        let seen = response_in(&event("payment.succeeded", data), "p").expect("news");
        assert_eq!(
            (seen.status.as_str(), seen.bank_reference.as_deref()),
            ("succeeded", Some("B1"))
        );
        assert_eq!(response_in(&event("payment.succeeded", data), "q"), None);
        assert_eq!(response_in(&event("quote.used", data), "p"), None);
        assert_eq!(
            response_in(&event("payment.queued", r#"{"id":"p","response":null}"#), "p"),
            None
        );
    }

    #[test]
    fn only_success_is_success() {
        for (status, settled, code) in [
            ("queued", false, 4),
            ("processing", false, 4),
            ("succeeded", true, 0),
            ("failed", true, 4),
            ("rejected", true, 4),
            ("reversed", true, 4),
            ("unknown", true, 4),
        ] {
            let seen = Seen {
                status: status.to_owned(),
                timestamp: String::new(),
                message: None,
                bank_reference: None,
            };
            assert_eq!(seen.is_settled(), settled, "{status}");
            assert_eq!(
                verdict("p", &seen).map_or_else(|failure| failure.exit_code(), |()| 0),
                code,
                "{status}"
            );
        }
    }

    fn response(status: &str, second: u32) -> String {
        format!(
            r#"{{"id":"p","timestamp":"2026-11-21T06:57:0{second}.000Z","status":"{status}","bank_reference":"B1"}}"#
        )
    }

    async fn watched(answers: &[(&str, &[(u16, &str)])]) -> (Result<(), Failure>, Vec<String>) {
        let server = Scripted::start(answers).await;
        let client = Client::new(crate::scripted::credentials(&server)).expect("a client");
        let stream = open_stream(&client).await;
        let first: PaymentResponse = document::read(&response("queued", 1)).expect("a response");
        let watch = Watch::new(&client, Country::Pak, "p", Output::Json, stream);
        let outcome = watch.follow(&first, &WatchArgs { timeout: 10 }).await;
        (outcome, server.asked().into_iter().map(|asked| asked.path).collect())
    }

    #[tokio::test]
    async fn the_stream_reports_the_end() {
        let line = |kind: &str, status: &str, second: u32| {
            let response = response(status, second);
            format!(
                "{{\"seq\":{second},\"type\":\"payment.{kind}\",\"data\":{{\"id\":\"p\",\"response\":{response}}}}}\n"
            )
        };
        let lines = [
            line("queued", "queued", 1),
            line("processing", "processing", 2),
            line("failed", "failed", 3),
        ]
        .concat();
        let (outcome, asked) = watched(&[("/v2/events", &[(200, &lines)])]).await;
        assert_eq!(outcome.expect_err("failed").to_string(), "payment p has failed");
        assert_eq!(asked, ["/v2/events"], "the record need not be asked for");
    }

    #[tokio::test]
    async fn without_a_stream_the_record_is_asked_for() {
        let record = |status: &str, second: u32| {
            let quote = r#"{"id":"q","country":"PAK","currency":"AED","amount":500,"amount_destination":37912.05,
                "rate":75.8241,"expires":"t","wallet_rate":278.75}"#;
            format!(
                r#"{{"id":"p","order":{{"country":"PAK"}},"response":{},"quote":{quote}}}"#,
                response(status, second)
            )
        };
        let (queued, succeeded) = (record("queued", 1), record("succeeded", 3));
        let (outcome, asked) =
            watched(&[("/v2/payments/p", &[(200, &queued), (503, "{}"), (200, &succeeded)])]).await;
        assert!(outcome.is_ok(), "{outcome:?}");
        assert_eq!(asked, ["/v2/events", "/v2/payments/p", "/v2/payments/p", "/v2/payments/p"]);
    }
}
