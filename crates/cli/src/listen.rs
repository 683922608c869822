//! `corridor listen`: forwards events to a webhook endpoint on this machine. It reads the event
//! logs of both services through their APIs, delivers each event once, and stores nothing.

use std::cell::Cell;
use std::ops::ControlFlow;

use adapters::webhooks::{self, Post, Reach, Sender, Settings, WebhookSecret};
use clap::Args;
use domain::time::Timestamp;
use domain::webhook::{DeliveryAnswer, DeliveryResult};
use serde_json::json;

use super::api::{self, ApiArgs, WalletApiArgs};
use super::colour::{Tone, dim};
use super::events::logs::{Logs, either_service};
use super::failure::Failure;
use super::output::{self, Output};
use super::story::{KIND_WIDTH, Logged};
use super::table::short_id;
use super::webhook_secret::{self, SecretArgs};
use super::{Context, local_time};
use client::{Client, DataDir, printable};

#[derive(Args, Debug)]
#[command(after_help = "Example:
  corridor listen --forward-to http://127.0.0.1:9000

Each event goes to URL/webhooks/wallet/… or URL/webhooks/payment/…, signed with the secret given, else with the running
sandbox's own, which stays the same, else with one that is made for this session and printed. Lines: --> the event, <-- the
answer. Failed deliveries are not retried. Ends with --count or Ctrl-C: exit code 0, or 1 if the endpoint did not accept every
event.")]
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
    let (payments, wallets) =
        either_service(args.api.client(&data_dir), args.wallet.client(&data_dir))?;
    let secrets = secrets(&args.secret, &data_dir)?;
    // Printed before anything is awaited, not at the first event.
    check_base(&args.forward_to)?;
    let settings = Settings::direct(Reach::Sandbox, Vec::new());
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

/// The secrets to sign with: the given ones, else the running sandbox's, else a new one.
fn secrets(args: &SecretArgs, data_dir: &DataDir) -> Result<Vec<WebhookSecret>, Failure> {
    if args.is_given() {
        output::remark("Secret  the given one");
        return args.secrets(data_dir);
    }
    if let Some(text) = webhook_secret::of_sandbox(data_dir)? {
        output::remark(&format!("Secret  {text}  (the sandbox's)"));
        return args.secrets(data_dir);
    }
    let (text, secret) = webhook_secret::fresh()?;
    output::remark(&format!("Secret  {text}  (for this session)"));
    Ok(vec![secret])
}

/// Refuses a base URL that no event could be sent to.
fn check_base(base: &str) -> Result<(), Failure> {
    let wrong = |fault: webhooks::UrlFault| Failure::Usage(format!("--forward-to: {fault}"));
    Reach::Sandbox.url(base, "").map(drop).map_err(wrong)
}

async fn listen(
    payments: Option<&Client>,
    wallets: Option<&Client>,
    forward: &Forward,
) -> Result<(), Failure> {
    let logs = Logs::end(payments, wallets).await?;
    output::remark(&format!("Forwarding to {}", forward.base));
    logs.follow(async |event| forward.send(event).await).await
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
    async fn send(&self, event: Logged) -> Result<ControlFlow<()>, Failure> {
        let Logged { service, id, kind, json } = event;
        if self.output == Output::Table {
            self.print(&format!("--> {:<KIND_WIDTH$}  {}", printable(&kind), short(&id)))?;
        }
        if self.print_json {
            output::line(&json)?;
        }
        let path = format!("/webhooks/{}/{}", service.name(), kind.replace(['.', '_'], "-"));
        let now = Timestamp(jiff::Timestamp::now().as_microsecond());
        let body = json.into_bytes();
        let post = Post {
            id: id.clone(),
            timestamp: now.unix_seconds().to_string(),
            signature: webhooks::sign(&self.secrets, &id, now.unix_seconds(), &body),
            traceparent: None,
            body,
        };
        let answer = self.sender.post(&self.base, &path, post, now).await;
        self.report(&id, &kind, &path, &answer)?;
        self.sent.set(self.sent.get() + 1);
        self.missed.set(self.missed.get() + u64::from(answer.result != DeliveryResult::Received));
        let left = self.left.get().map(|left| left - 1);
        self.left.set(left);
        Ok(if left == Some(0) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    }

    /// Prints a line with the local time.
    fn print(&self, text: &str) -> Result<(), Failure> {
        output::line(&format!("{}  {text}", dim(&local_time::now())))
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

    fn report(
        &self,
        id: &str,
        kind: &str,
        path: &str,
        answer: &DeliveryAnswer,
    ) -> Result<(), Failure> {
        let fault = match &answer.result {
            DeliveryResult::Received => None,
            DeliveryResult::NotReceived(why) => Some(why.as_str()),
            DeliveryResult::Gone => Some("endpoint is gone (410)"),
        };
        let took_ms = answer.took.0 / 1_000;
        if self.output == Output::Json {
            return output::json(&json!({
                "event_id": id,
                "event_type": kind,
                "url": format!("{}{path}", self.base.trim_end_matches('/')),
                "status": answer.status,
                "received": fault.is_none(),
                "error": fault,
                "took_ms": took_ms,
            }));
        }
        let status = answer.status.map_or_else(|| "ERR".to_owned(), |status| status.to_string());
        let tone = if fault.is_none() { Tone::Done } else { Tone::Failed };
        let sent = format!("{}  {:<9}POST {path}", tone.paint(&status), format!("{took_ms} ms"));
        self.print(&format!("<-- {sent}"))?;
        let Some(why) = fault else { return Ok(()) };
        let indent = " ".repeat("14:32:11  <-- ".len());
        if answer.status.is_none() {
            return output::line(&format!("{indent}{}", printable(why)));
        }
        if matches!(answer.status, Some(401 | 403)) {
            output::line(&format!("{indent}the endpoint refused it: does it know this secret?"))?;
            output::line(&format!("{indent}check: corridor events verify --help"))?;
        }
        Ok(())
    }
}

fn short(id: &str) -> String {
    short_id(&printable(id)).to_owned()
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
        let settings = Settings::direct(Reach::Sandbox, Vec::new());
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

    #[test]
    fn the_sandboxs_own_secret_signs_at_every_start() {
        let dir = tempfile::tempdir().expect("a directory");
        let data_dir = DataDir::at(dir.path());
        let (text, own) = webhook_secret::fresh().expect("a secret");
        let file = format!(
            r#"{{"base_url":"http://x","payment_access_key":"a","payment_secret_key":"s","webhook_secret":"{text}"}}"#
        );
        std::fs::write(dir.path().join("sandbox.json"), file).expect("written");
        let signed = |secrets: &[WebhookSecret]| webhooks::sign(secrets, "e", 1, b"{}");
        for _ in 0..2 {
            let used = secrets(&SecretArgs::default(), &data_dir).expect("a secret");
            assert_eq!(signed(&used), signed(std::slice::from_ref(&own)));
        }
        std::fs::remove_file(dir.path().join("sandbox.json")).expect("removed");
        let other = secrets(&SecretArgs::default(), &data_dir).expect("a new one");
        assert_ne!(signed(&other), signed(&[own]));
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
        assert!(matches!(either_service(client(), none()), Ok((Some(_), None))));
        assert!(matches!(either_service(none(), client()), Ok((None, Some(_)))));
        assert_eq!(either_service(none(), none()).expect_err("none").exit_code(), 2);
    }
}
