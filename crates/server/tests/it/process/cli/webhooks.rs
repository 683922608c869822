//! `listen` and `trigger` against a running sandbox: triggered events arrive at an endpoint, signed
//! and in order.

use testkit::receiver::{ReceiverConfig, SimulatedReceiver, Verdict};
use testkit::wait;

use super::super::harness::{Installation, Process};
use super::super::sandbox::Sandbox;

/// An endpoint that knows the sandbox's secret, and a `listen` session that forwards to it.
async fn listening(installation: &Installation, sandbox: &Sandbox) -> (SimulatedReceiver, Process) {
    let receiver = SimulatedReceiver::start(ReceiverConfig::with(&[])).await.expect("a receiver");
    receiver.with(|core| core.set_secrets(&[sandbox.text("webhook_secret")]));
    let process = installation.start("listen", &["listen", "--forward-to", &receiver.url()], &[]);
    let ready = wait::until(wait::AT_MOST, || process.log().contains("Forwarding to"));
    assert!(ready, "{}", process.log_tail());
    let shown = format!("Secret  {}", sandbox.text("webhook_secret"));
    assert!(process.log().contains(&shown), "{}", process.log_tail());
    (receiver, process)
}

/// The types of the events about a resource, in order of receipt.
fn told(receiver: &SimulatedReceiver, about: &str) -> Vec<String> {
    let book = receiver.book();
    let about = book.entries().iter().filter(|entry| {
        assert_eq!(entry.verdict, Verdict::Genuine, "{entry:?}");
        String::from_utf8_lossy(&entry.arrival.body).contains(about)
    });
    about.map(|entry| entry.arrival.path.clone()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn triggered_events_are_forwarded_to_the_listener() {
    let installation = Installation::new();
    let sandbox = Sandbox::start(&installation, &["--no-demo-data"]);
    let (receiver, listen) = listening(&installation, &sandbox).await;
    for (scenario, expected) in [
        ("payment.failed", &["payment-queued", "payment-processing", "payment-failed"][..]),
        ("payment.updated", &["payment-queued", "payment-updated"]),
        ("payment.rejected", &["payment-queued", "payment-rejected"]),
    ] {
        let made = installation.json(&["trigger", scenario]);
        let payment =
            made.iter().find(|made| made["what"] == "payment").expect("a payment")["id"].clone();
        let payment = payment.as_str().expect("an id");
        let expected: Vec<String> =
            expected.iter().map(|segment| format!("/webhooks/payment/{segment}")).collect();
        wait::until(wait::AT_MOST, || told(&receiver, payment).len() >= expected.len());
        assert_eq!(told(&receiver, payment), expected, "{scenario}: {}", listen.log_tail());
    }
    let shown = listen.out();
    let lines: Vec<&str> = shown.lines().collect();
    let failed = lines.iter().position(|line| line.contains("  --> payment.failed  "));
    let answer = lines[failed.expect("a line") + 1];
    for part in ["  <-- 200  ", " ms", "POST /webhooks/payment/payment-failed"] {
        assert!(answer.contains(part), "{part:?} is not in {answer}");
    }
    assert!(lines.iter().all(|line| line.chars().count() <= 80), "{shown}");
}

/// A sandbox that delivers to `receiver`, which knows its secret.
fn delivering(installation: &Installation, receiver: &SimulatedReceiver) -> Sandbox {
    let sandbox =
        Sandbox::start(installation, &["--no-demo-data", "--webhook-base", &receiver.url()]);
    receiver.with(|core| core.set_secrets(&[sandbox.text("webhook_secret")]));
    sandbox
}

/// Runs a scenario, and returns the id of the object with this name.
fn triggered(installation: &Installation, scenario: &str, what: &str) -> String {
    let made = installation.json(&["trigger", scenario]);
    let made = made.iter().find(|made| made["what"] == what).expect(what);
    made["id"].as_str().expect("an id").to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn each_of_the_six_events_is_triggered_and_delivered_in_order() {
    let installation = Installation::new();
    let receiver = SimulatedReceiver::start(ReceiverConfig::with(&[])).await.expect("a receiver");
    let _sandbox = delivering(&installation, &receiver);
    let paths = |segments: &[&str]| -> Vec<String> {
        segments.iter().map(|segment| format!("/webhooks/wallet/{segment}")).collect()
    };
    let cases = [
        (
            triggered(&installation, "transfer.complete", "payment request"),
            paths(&["payment-received", "risk-check-complete", "transfer-complete"]),
        ),
        (
            triggered(&installation, "transaction.failed", "payment request"),
            paths(&["payment-received", "risk-check-complete", "transaction-failed"]),
        ),
        (triggered(&installation, "exchange.complete", "order"), paths(&["exchange-complete"])),
        (triggered(&installation, "wallet.blocked", "wallet"), paths(&["wallet-blocked"])),
    ];
    for (about, expected) in &cases {
        wait::until(wait::AT_MOST, || told(&receiver, about).len() >= expected.len());
        assert_eq!(told(&receiver, about), *expected, "{about}");
    }
    assert!(receiver.book().changed().is_empty());

    let blocked = receiver.book().taken_about(&cases[3].0)[0].id().to_owned();
    let entry = || {
        let list = ["events", "list", "--status", "delivered", "--limit", "1000"];
        let listed = installation.json(&list);
        listed.into_iter().find(|entry| entry["delivery_id"] == blocked.as_str())
    };
    // The receiver has it before its answer is stored.
    assert!(wait::until(wait::AT_MOST, || entry().is_some()), "{blocked} is not listed");
    let entry = entry().expect("it is listed");
    assert_eq!(
        (&entry["event_type"], &entry["last_status"]),
        (&"wallet.blocked".into(), &200.into()),
        "{entry}"
    );
    installation.ok(&["events", "resend", &blocked]);
    let again = wait::until(wait::AT_MOST, || {
        receiver.book().times_taken().get(blocked.as_str()) == Some(&2)
    });
    assert!(again, "{blocked} did not come again");
    assert_eq!(
        installation.run(&["events", "resend", "00000000-0000-4000-8000-000000000000"]).code,
        1
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn what_had_no_receiver_is_recovered() {
    let installation = Installation::new();
    let mut sandbox = Sandbox::start(&installation, &["--no-demo-data"]);
    let wallet = triggered(&installation, "wallet.blocked", "wallet");
    let about = |entry: &serde_json::Value| entry["subject"]["wallet_id"] == wallet.as_str();
    let disabled = || installation.json(&["events", "list", "--status", "disabled"]);
    assert!(wait::until(wait::AT_MOST, || disabled().iter().any(about)), "it has no receiver");
    sandbox.process.stop();

    let receiver = SimulatedReceiver::start(ReceiverConfig::with(&[])).await.expect("a receiver");
    let _sandbox = delivering(&installation, &receiver);
    assert_eq!(told(&receiver, &wallet), Vec::<String>::new());
    let dry = installation.json(&["events", "recover", "--since", "1h", "--dry-run"]);
    assert_eq!(dry[0]["sent_again"], false);
    installation.ok(&["events", "recover", "--since", "1h"]);
    assert!(
        wait::until(wait::AT_MOST, || !told(&receiver, &wallet).is_empty()),
        "it was not recovered"
    );
    assert!(!disabled().iter().any(about));
    let none = installation.json(&["events", "recover", "--since", "1h"]);
    assert_eq!(none[0]["deliveries"], serde_json::json!([]), "nothing is left");
}

#[tokio::test(flavor = "multi_thread")]
async fn payment_events_of_before_are_recovered() {
    let installation = Installation::new();
    let receiver = SimulatedReceiver::start(ReceiverConfig::with(&[])).await.expect("a receiver");
    let _sandbox = delivering(&installation, &receiver);
    let before = triggered(&installation, "payment.failed", "payment");
    // All of these events precede the subscription.
    let happened = installation.json(&["events", "tail", "--after", "0", "--count", "5"]);
    assert_eq!(happened[4]["type"], "payment.failed", "{happened:?}");
    let tenant = ["--tenant", "demobank"];
    let webhooks = |args: &[&str]| installation.run(&[&["webhooks"], args, &tenant].concat());
    assert_eq!(webhooks(&["payments", "on"]).code, 2, "it takes two people");
    assert_eq!(
        webhooks(&["payments", "on", "--by", "ayesha", "--approved-by", "Ayesha"]).code,
        1,
        "two different ones"
    );
    let shown = |is: bool| {
        installation.json(&[&["webhooks", "show"][..], &tenant].concat())[0]["payment_events"] == is
    };
    assert!(shown(false));
    let on = webhooks(&["payments", "on", "--by", "ayesha", "--approved-by", "omar"]);
    assert_eq!(on.code, 0, "{}", on.stderr);
    assert!(shown(true));
    let after = triggered(&installation, "payment.failed", "payment");
    let ends = ["payment-queued", "payment-processing", "payment-failed"];
    let expected: Vec<String> =
        ends.iter().map(|segment| format!("/webhooks/payment/{segment}")).collect();
    assert!(wait::until(wait::AT_MOST, || told(&receiver, &after).len() >= expected.len()));
    assert_eq!(told(&receiver, &after), expected);
    assert_eq!(told(&receiver, &before), Vec::<String>::new(), "of before, not by itself");

    let dry = installation.json(&[
        "webhooks",
        "recover",
        "--tenant",
        "demobank",
        "--since",
        "1h",
        "--dry-run",
    ]);
    assert_eq!((&dry[0]["sent_again"], &dry[0]["more"]), (&false.into(), &false.into()));
    let missing = dry[0]["deliveries"].as_array().expect("ids").len();
    assert!(missing >= ends.len(), "{dry:?}");
    let sent = installation.json(&["webhooks", "recover", "--tenant", "demobank", "--since", "1h"]);
    assert_eq!(sent[0]["deliveries"], dry[0]["deliveries"]);
    assert!(wait::until(wait::AT_MOST, || told(&receiver, &before).len() >= expected.len()));
    assert_eq!(told(&receiver, &before), expected, "in their order");
    let none = installation.json(&["webhooks", "recover", "--tenant", "demobank", "--since", "1h"]);
    assert_eq!(none[0]["deliveries"], serde_json::json!([]), "nothing is left");
    let listed = installation.json(&["events", "list", "--service", "payment", "--limit", "1000"]);
    assert!(
        listed.iter().any(|entry| entry["subject"]["payment_id"] == before.as_str()),
        "{listed:?}"
    );
    assert_eq!(webhooks(&["payments", "off"]).code, 0);
    assert!(shown(false));
}

#[test]
fn every_scenario_is_listed_and_others_are_refused() {
    let installation = Installation::new();
    let listed = installation.json(&["trigger", "--list"]);
    let names: Vec<&str> =
        listed.iter().map(|scenario| scenario["scenario"].as_str().expect("a name")).collect();
    for name in [
        "payment.reversed",
        "quote.expired",
        "payment.received",
        "exchange.complete",
        "wallet.blocked",
    ] {
        assert!(names.contains(&name), "{name} is not in {names:?}");
    }
    let refused = installation.run(&["trigger", "payment.celebrated"]);
    assert_eq!((refused.code, refused.stderr.contains("--list")), (2, true), "{}", refused.stderr);
    assert_eq!(installation.run(&["trigger", "payment.failed"]).code, 2, "it requires a sandbox");
}
