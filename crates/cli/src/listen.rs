//! `corridor listen`: forwards events to a webhook endpoint on this machine. It reads the event
//! logs of both services through their APIs, delivers each event once, and stores nothing.

use std::cell::Cell;
use std::ops::ControlFlow;
use std::time::Duration;

use adapters::webhooks::{self, Post, Reach, Sender, Settings, WebhookSecret};
use clap::Args;
use domain::time::Timestamp;
use domain::webhook::{DeliveryAnswer, DeliveryResult};
use serde::Deserialize;
use serde_json::json;

use super::Context;
use super::api::{self, ApiArgs, WalletApiArgs};
use super::events::follow::follow;
use super::failure::Failure;
use super::output::{self, Output};
use super::webhook_secret::{self, SecretArgs};
use client::{Client, printable};

/// Poll interval of the wallet service's log, well below its rate limit.
const POLL_PAUSE: Duration = Duration::from_secs(1);
/// Consecutive failures after which listening ends.
const MAX_FAILURES: u32 = 30;

/// Options of `listen`.
#[derive(Args, Debug)]
#[command(after_help = "Example:
  corridor listen --forward-to http://127.0.0.1:9000

Each event goes to URL/webhooks/wallet/… or URL/webhooks/payment/…, signed with a secret that is generated for this session and
printed, unless one is given. Lines: --> type [id], <-- [200] POST url [id]. Failed deliveries are not retried. Ends with
--count or Ctrl-C: exit code 0, or 1 if the endpoint did not accept every event.")]
pub struct ListenArgs {
    /// Base URL of the endpoint
    #[arg(long, value_name = "URL")]
    forward_to: String,
    /// Also print each event as JSON
    #[arg(long)]
    print_json: bool,
    /// Exit after this many events
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    count: Option<u64>,
    #[command(flatten)]
    secret: SecretArgs,
    #[command(flatten)]
    api: ApiArgs,
    #[command(flatten)]
    wallet: WalletApiArgs,
}

/// Listens and forwards until the count or Ctrl-C ends it.
pub fn run(args: &ListenArgs, context: &Context) -> Result<(), Failure> {
    let data_dir = context.data_dir()?;
    let (payments, wallets) = either(args.api.client(&data_dir), args.wallet.client(&data_dir))?;
    let mut secrets = args.secret.given()?;
    if secrets.is_empty() {
        let (text, secret) = webhook_secret::fresh()?;
        output::remark(&format!("Signing with {text}"));
        secrets.push(secret);
    }
    // Printed before anything is awaited, not at the first event.
    check_base(&args.forward_to)?;
    let settings = Settings { reach: Reach::Sandbox, roots: Vec::new() };
    let forward = Forward {
        sender: Sender::new(settings).map_err(Failure::usage)?,
        base: args.forward_to.clone(),
        secrets,
        print_json: args.print_json,
        output: context.output,
        left: Cell::new(args.count),
        sent: Cell::new(0),
        missed: Cell::new(0),
    };
    api::wait_for(async {
        tokio::select! {
            ended = listen(payments.as_ref(), wallets.as_ref(), &forward) => ended?,
            _ = tokio::signal::ctrl_c() => {}
        }
        forward.ended()
    })
}

/// Refuses a base URL that no event could be sent to.
fn check_base(base: &str) -> Result<(), Failure> {
    let wrong = |fault: webhooks::UrlFault| Failure::Usage(format!("--forward-to: {fault}"));
    Reach::Sandbox.url(base, "").map(drop).map_err(wrong)
}

/// One service is enough: with keys of only one, events of that one are forwarded.
fn either(
    payments: Result<Client, Failure>,
    wallets: Result<Client, Failure>,
) -> Result<(Option<Client>, Option<Client>), Failure> {
    match (payments, wallets) {
        (Err(why), Err(_)) => Err(why),
        (payments, wallets) => {
            for why in [&payments, &wallets].into_iter().filter_map(|client| client.as_ref().err())
            {
                output::remark(&format!("{why}; listening to the other service only"));
            }
            Ok((payments.ok(), wallets.ok()))
        }
    }
}

async fn listen(
    payments: Option<&Client>,
    wallets: Option<&Client>,
    forward: &Forward,
) -> Result<(), Failure> {
    let payments = match payments {
        Some(client) => Some((client, end_of_payments(client).await?)),
        None => None,
    };
    let wallets = match wallets {
        Some(client) => end_of_wallets(client).await?.map(|after| (client, after)),
        None => None,
    };
    if payments.is_none() && wallets.is_none() {
        return Err(Failure::Unavailable("no event log is available".to_owned()));
    }
    output::remark(&format!("Listening; forwarding to {}", forward.base));
    tokio::select! {
        ended = payment_events(payments, forward) => ended,
        ended = wallet_events(wallets, forward) => ended,
    }
}

/// Follows the payment service's log.
async fn payment_events(from: Option<(&Client, u64)>, forward: &Forward) -> Result<(), Failure> {
    let Some((client, after)) = from else { return std::future::pending().await };
    follow(client, Some(after), async |event| {
        forward.send("payment", &event_id(&event.line)?, &event.kind, event.line).await
    })
    .await
}

#[derive(Deserialize)]
struct Page {
    next: String,
}

/// The log position after the newest event of the payment service.
async fn end_of_payments(client: &Client) -> Result<u64, Failure> {
    let answer = client.get("/v2/events", &[("mode", "poll".to_owned())]).await?;
    let page: Page = super::document::read(&answer.body)?;
    page.next
        .parse()
        .map_err(|_| Failure::Unavailable("unexpected answer: next is not a position".to_owned()))
}

/// The same for the wallet service; `None` where it is not offered.
async fn end_of_wallets(client: &Client) -> Result<Option<u64>, Failure> {
    match api::patiently(async || client.wallet_events_end().await).await {
        Ok(end) => Ok(Some(end)),
        Err(error) if error.status() == Some(404) => {
            output::remark("no wallet service here; forwarding payment events only");
            Ok(None)
        }
        Err(error) => Err(error.into()),
    }
}

/// Polls the wallet service's log.
async fn wallet_events(from: Option<(&Client, u64)>, forward: &Forward) -> Result<(), Failure> {
    let Some((client, mut after)) = from else { return std::future::pending().await };
    let mut failures = 0;
    loop {
        match api::patiently(async || client.wallet_events(after).await).await {
            Ok((events, next)) => {
                failures = 0;
                for event in events {
                    if forward.send("wallet", &event.id, &event.kind, event.json).await?.is_break()
                    {
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

#[derive(Deserialize)]
struct Envelope {
    id: String,
}

/// The id of an event of the payment service.
fn event_id(line: &str) -> Result<String, Failure> {
    Ok(super::document::read::<Envelope>(line)?.id)
}

/// The destination of events and the counts of deliveries.
struct Forward {
    sender: Sender,
    base: String,
    secrets: Vec<WebhookSecret>,
    print_json: bool,
    output: Output,
    /// Events still to come; `None` means no limit.
    left: Cell<Option<u64>>,
    sent: Cell<u64>,
    /// Events that the endpoint did not accept.
    missed: Cell<u64>,
}

impl Forward {
    /// Sends an event once and prints the result. Breaks after the last one.
    async fn send(
        &self,
        service: &str,
        id: &str,
        kind: &str,
        json: String,
    ) -> Result<ControlFlow<()>, Failure> {
        if self.output == Output::Table {
            output::line(&format!("--> {} [{}]", printable(kind), printable(id)))?;
        }
        if self.print_json {
            output::line(&json)?;
        }
        let path = format!("/webhooks/{service}/{}", kind.replace(['.', '_'], "-"));
        let now = Timestamp(jiff::Timestamp::now().as_microsecond());
        let body = json.into_bytes();
        let post = Post {
            id: id.to_owned(),
            timestamp: now.unix_seconds().to_string(),
            signature: webhooks::sign(&self.secrets, id, now.unix_seconds(), &body),
            traceparent: None,
            body,
        };
        let answer = self.sender.post(&self.base, &path, post, now).await;
        self.told(id, kind, &path, &answer)?;
        self.sent.set(self.sent.get() + 1);
        self.missed.set(self.missed.get() + u64::from(answer.result != DeliveryResult::Received));
        let left = self.left.get().map(|left| left - 1);
        self.left.set(left);
        Ok(if left == Some(0) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    }

    /// The result of the session.
    fn ended(&self) -> Result<(), Failure> {
        match (self.missed.get(), self.sent.get()) {
            (0, _) => Ok(()),
            (missed, sent) => {
                Err(Failure::Refused(format!("{missed} of {sent} events were not received")))
            }
        }
    }

    fn told(
        &self,
        id: &str,
        kind: &str,
        path: &str,
        answer: &DeliveryAnswer,
    ) -> Result<(), Failure> {
        let url = format!("{}{path}", self.base.trim_end_matches('/'));
        let fault = match &answer.result {
            DeliveryResult::Received => None,
            DeliveryResult::NotReceived(why) => Some(why.as_str()),
            DeliveryResult::Gone => Some("endpoint is gone (410)"),
        };
        match self.output {
            Output::Json => output::json(&json!({
                "event_id": id,
                "event_type": kind,
                "url": url,
                "status": answer.status,
                "received": fault.is_none(),
                "error": fault,
                "took_ms": answer.took.0 / 1_000,
            })),
            Output::Table => {
                let status =
                    answer.status.map_or_else(|| "ERR".to_owned(), |status| status.to_string());
                let fault = fault.map(|why| format!(": {}", printable(why))).unwrap_or_default();
                output::line(&format!(
                    "<-- [{status}] POST {} [{}]{fault}",
                    printable(&url),
                    printable(id)
                ))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use testkit::receiver::{Reaction, ReceiverConfig, SimulatedReceiver, Verdict};

    use super::*;
    use testkit::scripted::Scripted;

    async fn forwarding(count: u64) -> (SimulatedReceiver, Forward) {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let (text, secret) = webhook_secret::fresh().expect("a secret");
        let receiver =
            SimulatedReceiver::start(ReceiverConfig::with(&[&text])).await.expect("a receiver");
        let settings = Settings { reach: Reach::Sandbox, roots: Vec::new() };
        let forward = Forward {
            sender: Sender::new(settings).expect("a sender"),
            base: receiver.url(),
            secrets: vec![secret],
            print_json: false,
            output: Output::Table,
            left: Cell::new(Some(count)),
            sent: Cell::new(0),
            missed: Cell::new(0),
        };
        (receiver, forward)
    }

    fn payment(seq: u64, kind: &str) -> String {
        format!("{{\"id\":\"p-{seq}\",\"seq\":{seq},\"type\":\"{kind}\",\"data\":{{}}}}\n")
    }

    #[tokio::test]
    async fn both_logs_are_forwarded_signed_and_in_their_order() {
        let stream = [payment(8, "quote.used"), payment(9, "payment.queued")].concat();
        let wallet = |id: &str, kind: &str| {
            format!(
                r#"{{"event_id":"{id}","event_type":"{kind}","timestamp":"t","data":{{"payment_request_id":"r"}},"seq":1}}"#
            )
        };
        let two =
            [wallet("w-1", "payment.received"), wallet("w-2", "risk_check.complete")].join(",");
        let (empty, page) =
            (r#"{"events":[],"next":"0"}"#, format!(r#"{{"events":[{two}],"next":"2"}}"#));
        let server = Scripted::start(&[
            ("/v2/events", &[(200, r#"{"events":[],"next":"7"}"#), (200, &stream)]),
            // The log is empty when its end is read, and has two events after that.
            ("/v1/sdk/events", &[(200, empty), (200, &page)]),
        ])
        .await;
        let client = Client::new(crate::scripted::credentials(&server)).expect("a client");
        let (receiver, forward) = forwarding(4).await;
        listen(Some(&client), Some(&client), &forward).await.expect("listened");
        let book = receiver.book();
        assert!(book.entries().iter().all(|entry| entry.verdict == Verdict::Genuine), "{book:?}");
        let of = |service: &str| -> Vec<(&str, &str)> {
            let entries =
                book.entries().iter().map(|entry| (entry.id(), entry.arrival.path.as_str()));
            entries.filter(|(_, path)| path.starts_with(service)).collect()
        };
        assert_eq!(
            of("/webhooks/wallet/"),
            [
                ("w-1", "/webhooks/wallet/payment-received"),
                ("w-2", "/webhooks/wallet/risk-check-complete")
            ]
        );
        assert_eq!(
            of("/webhooks/payment/"),
            [("p-8", "/webhooks/payment/quote-used"), ("p-9", "/webhooks/payment/payment-queued")]
        );
        assert_eq!(book.entries()[0].arrival.body.last(), Some(&b'}'));
    }

    #[tokio::test]
    async fn without_a_wallet_service_payments_are_forwarded_and_nothing_is_tried_twice() {
        let stream = [payment(1, "payment.queued"), payment(2, "payment.failed")].concat();
        let server = Scripted::start(&[
            ("/v2/events", &[(200, r#"{"events":[],"next":"0"}"#), (200, &stream)]),
            ("/v1/sdk/events", &[(404, r#"{"error":"NOT_FOUND","message":"No such route"}"#)]),
        ])
        .await;
        let client = Client::new(crate::scripted::credentials(&server)).expect("a client");
        let (receiver, forward) = forwarding(2).await;
        receiver.script([Reaction::refuse(500)]);
        listen(Some(&client), Some(&client), &forward).await.expect("listened");
        assert_eq!(receiver.book().entries().len(), 2);
        assert_eq!(receiver.book().taken(), ["p-2"]);
        // The exit code reports the event that was not received.
        let missed = forward.ended().expect_err("one was not received");
        assert_eq!(
            (missed.exit_code(), missed.to_string().as_str()),
            (1, "1 of 2 events were not received")
        );
        let neither =
            listen(None, Some(&client), &forward).await.expect_err("nothing to listen to");
        assert_eq!(neither.exit_code(), 3);
    }

    #[test]
    fn an_address_that_takes_no_webhooks_is_refused_at_once() {
        for wrong in ["ftp://x", "x", "http://", "file:///tmp"] {
            assert_eq!(check_base(wrong).expect_err(wrong).exit_code(), 2, "{wrong}");
        }
        check_base("http://127.0.0.1:9000").expect("plain HTTP to this machine");
    }

    #[tokio::test]
    async fn keys_of_one_service_are_enough_and_none_are_not() {
        let server = Scripted::start(&[]).await;
        let client = || Client::new(crate::scripted::credentials(&server)).map_err(Failure::from);
        let none = || Err(Failure::Usage("no access key".to_owned()));
        assert!(matches!(either(client(), none()), Ok((Some(_), None))));
        assert!(matches!(either(none(), client()), Ok((None, Some(_)))));
        assert_eq!(either(none(), none()).expect_err("none").exit_code(), 2);
    }
}
