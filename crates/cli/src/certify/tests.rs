//! Certification of correct endpoints, and of endpoints with one fault each.

use quick_xml::events::Event;
use testkit::receiver::{Reaction, ReceiverConfig, SimulatedReceiver, Temper};

use super::*;

const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

async fn receiver() -> SimulatedReceiver {
    let _ = rustls::crypto::ring::default_provider().install_default();
    SimulatedReceiver::start(ReceiverConfig::with(&[SECRET])).await.expect("a receiver")
}

async fn found(url: &str) -> Result<Vec<Found>, Failure> {
    let sender = Sender::new(Settings::direct(Reach::Sandbox, Vec::new())).expect("a sender");
    let (request, wallet) = (PaymentRequestId(Uuid::new_v4()), WalletId(Uuid::new_v4()));
    let subjects = Subjects { request, wallet, customer: "c".to_owned() };
    let known = adapters::webhooks::WebhookSecret::parse(SECRET).expect("a secret");
    let (_, stranger) = webhook_secret::fresh().expect("a secret");
    let mut probe = Probe::new(sender, url, [known, stranger], subjects, now);
    examine(&mut probe, &ProgressBar::hidden()).await
}

fn is_event(name: &str) -> bool {
    Check::all().iter().any(|check| matches!(check, Check::Event(_)) && check.name() == name)
}

/// The names of the checks that did not pass; warnings are marked.
async fn complaints(receiver: &SimulatedReceiver) -> Vec<String> {
    let found = found(&receiver.url()).await.expect("a result");
    let told = |found: &Found| match &found.outcome {
        checks::Outcome::Passed => None,
        checks::Outcome::Warned(_) => Some(format!("{}?", found.name)),
        checks::Outcome::Failed(_) => Some(found.name.to_owned()),
    };
    found.iter().filter_map(told).collect()
}

#[tokio::test]
async fn a_careful_receiver_is_certified() {
    let receiver = receiver().await;
    let found = found(&receiver.url()).await.expect("a result");
    assert!(verdict(&found).is_ok(), "{found:?}");
    assert_eq!(found.len(), Check::all().len());
    assert!(found.iter().all(|found| found.outcome == checks::Outcome::Passed), "{found:?}");
    let json = report::json("receiver", "http://x", &found);
    assert_eq!(
        (&json["certified"], &json["failed"], &json["warnings"]),
        (&true.into(), &0.into(), &0.into())
    );
    let book = receiver.book();
    let kinds: std::collections::BTreeSet<&str> = book
        .entries()
        .iter()
        .filter(|entry| entry.taken)
        .map(|entry| entry.event_type.as_str())
        .collect();
    for kind in domain::wallet_event::WalletEventKind::SPECIFIED {
        assert!(kinds.contains(kind.name()), "{} was not sent", kind.name());
    }
    for entry in book.entries().iter().filter(|entry| entry.taken) {
        assert!(entry.arrival.path.starts_with("/webhooks/wallet/"), "{}", entry.arrival.path);
    }
}

#[tokio::test]
async fn each_fault_of_a_receiver_is_found_and_no_other() {
    let careful = Temper::CAREFUL;
    for (temper, expected) in [
        (
            Temper { checks_signatures: false, ..careful },
            &[
                "signature.forged",
                "signature.missing",
                "signature.other_body",
                "signature.other_id",
            ][..],
        ),
        (Temper { checks_age: false, ..careful }, &["timestamp.old", "timestamp.future"]),
        (Temper { takes_repeats: false, ..careful }, &["repeat.retried", "repeat.at_once"]),
        (Temper { remembers: false, ..careful }, &["repeat.retried?"]),
        (Temper { takes_disorder: false, ..careful }, &["order.reversed"]),
        (Temper { takes_unknown: false, ..careful }, &["unknown.event_type"]),
        (Temper { answers_in_shape: false, ..careful }, &["answer.shape"]),
    ] {
        let receiver = receiver().await;
        receiver.set_temper(temper);
        assert_eq!(complaints(&receiver).await, expected, "{temper:?}");
    }
}

/// An endpoint that fails, or is not where it should be, has refused nothing.
#[test]
fn a_failure_is_no_refusal() {
    for (status, passes) in [
        (Some(401), true),
        (Some(400), true),
        (Some(200), false),
        (Some(404), false),
        (Some(429), false),
        (Some(500), false),
        (Some(302), false),
        (None, false),
    ] {
        let judged = checks::refusal(status, &[401, 400], || "no answer".to_owned());
        assert_eq!(judged.is_ok(), passes, "{status:?}: {judged:?}");
        assert!(passes || matches!(judged, Err(checks::Outcome::Failed(_))), "{status:?}");
    }
}

#[tokio::test]
async fn receivers_that_do_not_work_fail_wherever_events_should_be_taken() {
    for (reaction, mark) in [
        (Reaction::refuse(500), "HTTP 500"),
        (Reaction::refuse(410), "HTTP 410"),
        (Reaction::Deny, "\"received\": false"),
        (Reaction::Redirect("http://10.0.0.1/".to_owned()), "redirects are not followed"),
    ] {
        let receiver = receiver().await;
        receiver.with(|core| core.set_usual(reaction.clone()));
        let found = found(&receiver.url()).await.expect("a result");
        let failed = verdict(&found).expect_err("it does not work");
        assert_eq!(failed.exit_code(), 1);
        for found in found.iter().filter(|found| is_event(found.name)) {
            let told = found.row();
            assert!(told[1] == "FAILED" && told[2].contains(mark), "{reaction:?}: {told:?}");
        }
    }
}

#[tokio::test]
async fn a_receiver_that_is_not_there_is_no_result() {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let unused = tokio::net::TcpListener::bind("127.0.0.1:0")
        .await
        .expect("a port")
        .local_addr()
        .expect("bound");
    let failure = found(&format!("http://{unused}")).await.expect_err("nothing listens there");
    assert_eq!(failure.exit_code(), 3, "{failure}");
    assert_eq!(found("ftp://127.0.0.1").await.expect_err("no receiver").exit_code(), 3);
}

#[tokio::test]
async fn test_servers_can_read_the_result() {
    let receiver = receiver().await;
    receiver.with(|core| core.set_usual(Reaction::refuse(500)));
    let found = found(&receiver.url()).await.expect("a result");
    let xml = report::junit("http://a&b/\"<\u{1b}", &found);
    let mut reader = quick_xml::Reader::from_str(&xml);
    let (mut cases, mut failures, mut counted) = (0, 0, None);
    loop {
        match reader.read_event().expect("well-formed XML") {
            Event::Eof => break,
            Event::Start(tag) | Event::Empty(tag) => match tag.name().as_ref() {
                "testcase" => cases += 1,
                "failure" => failures += 1,
                "testsuite" => {
                    let attribute =
                        tag.try_get_attribute("failures").expect("attributes").expect("failures");
                    counted = Some(attribute.value.into_owned());
                }
                _ => {}
            },
            _ => {}
        }
    }
    assert_eq!(cases, Check::all().len());
    assert_eq!(counted, Some(failures.to_string()));
    assert!(failures > 6 && !xml.contains('\u{1b}'), "{xml}");
}
