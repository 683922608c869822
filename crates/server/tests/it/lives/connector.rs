//! Payments over a connector: the sample of `docs/connectors` in front of a bank with an API of its own,
//! with the faults of both; and callbacks, which are believed as far as a report of their rail.

use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};

use adapters::rails::connector::callback_secrets;
use adapters::webhooks;
use axum::Router;
use axum::http::StatusCode;
use domain::country::Country;
use domain::ids::PaymentId;
use domain::ports::Clock as _;
use domain::time::Span;
use domain::wallet_effects::AlertKind;
use http_api::rail_callbacks::REFUSED_PER_MINUTE;
use reqwest::Method;
use service::clock::WallClock;
use testkit::json_bank::{JsonBankFault, Transfer};
use testkit::wait::AT_MOST;
use tokio::sync::Notify;

use crate::harness::connector::{CALLBACK_SECRET, CONNECTOR_TOKEN, SampleConnector, connected};
use crate::harness::{Answer, Bank, Json, On, Setup, on_both_stores};

on_both_stores! {
    a_payment_is_paid_refused_and_returned_over_the_sample_connector
    every_fault_on_the_way_pays_once
    a_recall_over_the_sample_connector_stops_what_is_not_paid
    a_callback_is_believed_about_its_own_rail_alone
    a_callback_may_come_before_the_answer
    a_rail_whose_calls_fail_has_an_alert_until_it_answers
    reports_that_end_where_they_begin_are_a_fault_of_the_rail
}

const PAK: Country = Country::Pak;
const RAIL: &str = "pak-raast";
const OTHER_RAIL: &str = "pak-rtgs";
const OTHER_SECRET: &str = "whsec_c3VwZXJzZWNyZXRzdXBlcnNlY3JldA==";

/// A service over the sample connector.
async fn sample(on: On) -> (Bank, SampleConnector) {
    let connector = SampleConnector::start(RAIL).await;
    let bank = Bank::alone(on, connector.setup(RAIL)).await;
    connector.doorway.leads_to(&bank.running.url);
    (bank, connector)
}

async fn is_so<F: Future<Output = bool>>(what: &str, condition: impl Fn() -> F) {
    assert!(testkit::wait::until_async(AT_MOST, condition).await, "{what}");
}

fn reference(id: &str) -> String {
    id.replace('-', "")
}

async fn a_payment_is_paid_refused_and_returned_over_the_sample_connector(on: On) {
    let (bank, connector) = sample(on).await;
    let id = bank.paid(PAK, |order| order).await;
    let record = bank.reaches(PAK, &id, "succeeded").await;
    let [transfer] = &connector.bank.transfers()[..] else { panic!("one transfer") };
    assert_eq!(transfer.reference, reference(&id));
    let amount = format!("{}.{:02}", transfer.amount_minor / 100, transfer.amount_minor % 100);
    let paid = domain::decimal::Decimal::parse(record["response"]["amount"].number());
    assert_eq!(domain::decimal::Decimal::parse(&amount), paid, "{}", record["response"]);
    for (ending, reason) in [("0000", "AC01"), ("0001", "AC04")] {
        let id = bank.paid(PAK, |order| order.ending(PAK, ending)).await;
        let record = bank.reaches(PAK, &id, "rejected").await;
        let msg = record["response"]["msg"].text().to_owned();
        assert!(msg.contains(reason), "{msg}");
    }
    let statuses =
        connector.bank.changes(&reference(&id), "RETURNED", Some("ACCOUNT_CLOSED")).await;
    assert_eq!(statuses, [200]);
    bank.reaches(PAK, &id, "reversed").await;
    assert_eq!(connector.bank.transfers().len(), 1);
    bank.finish().await;
}

async fn every_fault_on_the_way_pays_once(on: On) {
    let (bank, connector) = sample(on).await;
    // The token expires.
    let first = bank.paid(PAK, |order| order).await;
    bank.reaches(PAK, &first, "succeeded").await;
    connector.bank.tokens().revoke();
    for fault in [None, Some(JsonBankFault::NotifiesTwice), Some(JsonBankFault::NotifiesFirst)] {
        connector.bank.set_fault(fault);
        let id = bank.paid(PAK, |order| order).await;
        bank.reaches(PAK, &id, "succeeded").await;
    }
    assert_eq!(connector.bank.tokens().issued(), 2);
    // The bank makes the transfer and its answer is lost: an inquiry finds it.
    connector.bank.set_completes(false);
    connector.bank.set_fault(Some(JsonBankFault::LosesAnswers));
    let id = bank.paid(PAK, |order| order).await;
    is_so("the transfer is made", || async { connector.bank.transfers().len() == 5 }).await;
    connector.bank.set_fault(None);
    is_so("an inquiry finds it", || async {
        bank.advance(Span::secs(6)).await;
        bank.record(PAK, &id).await["response"]["status"].text() == "processing"
    })
    .await;
    // Corridor cannot store the callback at first: the connector repeats it.
    connector.doorway.closes_for(2);
    let statuses = connector.bank.changes(&reference(&id), "COMPLETED", None).await;
    assert_eq!(statuses, [200]);
    is_so("the callback is stored at the third attempt", || async {
        let passed = connector.doorway.passed();
        let last: Vec<u16> = passed.iter().rev().take(3).map(|(_, status)| *status).collect();
        last == [204, 503, 503]
    })
    .await;
    bank.reaches(PAK, &id, "succeeded").await;
    // The bank is down: nothing is known, until it is up again and has nothing.
    connector.bank.set_fault(Some(JsonBankFault::Down));
    let id = bank.paid(PAK, |order| order).await;
    is_so("the outcome is unclear", || async { unclear(&bank, &id).await }).await;
    assert_eq!(connector.bank.transfers().len(), 5);
    connector.bank.set_fault(None);
    bank.advance(Span::mins(20)).await;
    bank.reaches(PAK, &id, "unknown").await;
    assert_eq!(connector.bank.transfers().len(), 5);
    bank.finish().await;
}

async fn unclear(bank: &Bank, id: &str) -> bool {
    let id = PaymentId::parse(id).expect("an id");
    let attempts = bank.running.store().attempts(bank.tenant.id, id).await.expect("read");
    attempts.iter().any(|it| it.state == domain::attempt::AttemptState::Indeterminate)
}

async fn a_recall_over_the_sample_connector_stops_what_is_not_paid(on: On) {
    let (bank, connector) = sample(on).await;
    let paid = bank.paid(PAK, |order| order).await;
    bank.reaches(PAK, &paid, "succeeded").await;
    connector.bank.set_completes(false);
    let open = bank.paid(PAK, |order| order).await;
    bank.reaches(PAK, &open, "processing").await;
    for (id, state) in [(&paid, "refused"), (&open, "accepted")] {
        let path = format!("/v2/payments/{id}/recalls?country=PAK");
        bank.post(&path, r#"{"reason":"FRAD"}"#).send().await.ok();
        is_so(state, || async {
            bank.get(&path).send().await.ok().items()[0]["status"].text() == state
                || bank.record(PAK, id).await["response"]["status"].text() == "reversed"
        })
        .await;
    }
    bank.reaches(PAK, &open, "reversed").await;
    bank.reaches(PAK, &paid, "succeeded").await;
    bank.finish().await;
}

/// The status and the body of the sample connector's answer.
async fn asked(connector: &SampleConnector, path: &str, body: serde_json::Value) -> (u16, String) {
    let client = reqwest::Client::builder().no_proxy().build().expect("a client");
    let call = client.post(format!("{}{path}", connector.url())).bearer_auth(CONNECTOR_TOKEN);
    let answer = call.body(body.to_string()).send().await.expect("an answer");
    let status = answer.status().as_u16();
    let body: serde_json::Value =
        serde_json::from_str(&answer.text().await.expect("a body")).expect("JSON");
    (status, body["status"].as_str().unwrap_or_default().to_owned())
}

fn payment(id: &str) -> serde_json::Value {
    serde_json::json!({
        "instruction_id": id,
        "amount": { "value": "100.50", "currency": "PKR" },
        "beneficiary_account": { "number": "PK36SCBL0000001123456702" },
        "beneficiary": { "name": "Asha Khan" },
    })
}

/// The bank has the payment, though the connector has not noted that it sent it.
#[tokio::test]
async fn the_sample_connector_takes_a_duplicate_reference_for_no_refusal() {
    let connector = SampleConnector::start(RAIL).await;
    connector.bank.set_completes(false);
    let (first, second) = ("0123456789abcdef0123456789abcdef", "fedcba9876543210fedcba9876543210");
    assert_eq!(asked(&connector, "/payments", payment(first)).await, (200, "accepted".to_owned()));
    let made = connector.bank.transfers().remove(0);
    let made = Transfer { id: "TRF9".into(), reference: second.into(), ..made };
    connector.bank.add(made);
    connector.bank.set_fault(Some(JsonBankFault::ForgetsTransfers));
    let (status, _) = asked(&connector, "/payments", payment(second)).await;
    assert_eq!(status, 503, "the bank has it and does not show it");
    connector.bank.set_fault(None);
    for path in ["/inquiries", "/payments"] {
        let known = asked(&connector, path, payment(second)).await;
        assert_eq!(known, (200, "accepted".to_owned()), "{path}");
    }
}

#[tokio::test]
async fn the_sample_connector_refuses_no_recall_of_what_it_may_have_cancelled_or_sent() {
    let connector = SampleConnector::start(RAIL).await;
    connector.bank.set_completes(false);
    let (sent, lost) = ("0123456789abcdef0123456789abcdef", "fedcba9876543210fedcba9876543210");
    let recall = |id| asked(&connector, "/recalls", serde_json::json!({ "instruction_id": id }));
    assert_eq!(asked(&connector, "/payments", payment(sent)).await.0, 200);
    // It cancels, and needs nothing else of the bank to say so.
    connector.bank.set_fault(Some(JsonBankFault::HidesTransfers));
    assert_eq!(recall(sent).await, (200, "recall_accepted".to_owned()));
    // Asked again, the bank refuses to cancel what is cancelled: what it has decides.
    assert_eq!(recall(sent).await.0, 502);
    connector.bank.set_fault(None);
    assert_eq!(recall(sent).await, (200, "recall_accepted".to_owned()));
    is_so("the cancellation is reported once", || async {
        let passed = connector.doorway.passed();
        passed.iter().any(|(id, _)| *id == format!("cancelled-{sent}"))
    })
    .await;
    // A payment whose answer was lost is on its way, though the bank does not show it.
    connector.bank.set_fault(Some(JsonBankFault::LosesAnswers));
    assert_eq!(asked(&connector, "/payments", payment(lost)).await.0, 502);
    connector.bank.set_fault(Some(JsonBankFault::ForgetsTransfers));
    assert_eq!(recall(lost).await.0, 503);
    connector.bank.set_fault(None);
    assert_eq!(recall(lost).await, (200, "recall_accepted".to_owned()));
    let never = "00000000000000000000000000000000";
    assert_eq!(recall(never).await, (200, "recall_refused".to_owned()));
}

/// A connector that accepts everything and reports nothing by itself. With a gate, it answers a payment
/// once the gate is opened.
async fn silent(gate: Option<Arc<Notify>>) -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    let router = Router::new().fallback(move || {
        let gate = gate.clone();
        async move {
            if let Some(gate) = gate {
                gate.notified().await;
            }
            StatusCode::ACCEPTED
        }
    });
    tokio::spawn(async move { axum::serve(listener, router).await });
    url
}

/// Sends a callback as a connector would.
struct Calling<'a> {
    bank: &'a Bank,
    rail: &'a str,
    secret: &'a str,
    id: &'a str,
    late_s: i64,
}

impl<'a> Calling<'a> {
    fn new(bank: &'a Bank) -> Calling<'a> {
        Calling { bank, rail: RAIL, secret: CALLBACK_SECRET, id: "m-1", late_s: 0 }
    }

    async fn send(&self, body: &str) -> Answer {
        let at = WallClock.now().unix_seconds() - self.late_s;
        let secrets = callback_secrets(self.secret).expect("a secret");
        let signature = webhooks::sign(&secrets, self.id, at, body.as_bytes());
        let path = format!("/rails/{}/callbacks", self.rail);
        let call = self.bank.unsigned(Method::POST, &path, Some(body.into()));
        call.header("content-type", "application/json")
            .header("webhook-id", self.id)
            .header("webhook-timestamp", &at.to_string())
            .header("webhook-signature", &signature)
            .send()
            .await
    }
}

fn about(id: &str, status: &str) -> String {
    format!("{{\"status\":\"{status}\",\"end_to_end_id\":\"{}\"}}", reference(id))
}

async fn two_rails(on: On, gate: Option<Arc<Notify>>) -> Bank {
    let url = silent(gate).await;
    let setup = Setup::new().set("rails_enabled", &format!("[\"{RAIL}\", \"{OTHER_RAIL}\"]"));
    let setup = connected(setup, RAIL, &url, CALLBACK_SECRET);
    Bank::alone(on, connected(setup, OTHER_RAIL, &url, OTHER_SECRET)).await
}

async fn discrepancies(bank: &Bank) -> usize {
    let strays = bank.running.store().strays(bank.tenant.id, 100).await.expect("read");
    strays.len()
}

async fn a_callback_is_believed_about_its_own_rail_alone(on: On) {
    let bank = two_rails(on, None).await;
    let id = bank.paid(PAK, |order| order).await;
    is_so("it is sent", || async { has_attempt(&bank, &id).await }).await;
    let own = Calling::new(&bank);
    let state = || async { bank.record(PAK, &id).await["response"]["status"].text().to_owned() };
    let before = state().await;
    let mut refused = Vec::new();
    for wrong in [
        Calling { secret: OTHER_SECRET, ..Calling::new(&bank) },
        Calling { rail: OTHER_RAIL, ..Calling::new(&bank) },
        Calling { rail: "no-such-rail", ..Calling::new(&bank) },
        Calling { rail: "ind-imps", ..Calling::new(&bank) },
        Calling { late_s: 400, ..Calling::new(&bank) },
        Calling { late_s: -400, ..Calling::new(&bank) },
    ] {
        let answer = wrong.send(&about(&id, "paid")).await;
        let body = answer.refused(401, "unauthorized");
        refused.push(body["message"].text().to_owned());
    }
    assert!(refused.windows(2).all(|pair| pair[0] == pair[1]), "{refused:?}");
    for wrong in ["", "[]", "{\"status\":\"paid\"}"] {
        own.send(wrong).await.refused(400, "unreadable_report");
    }
    assert_eq!(own.send(&"x".repeat(70_000)).await.status, 413);
    // What it is about is unknown, and that it came is not lost.
    assert_eq!((state().await, discrepancies(&bank).await), (before.clone(), 3));
    // The other rail's connector, with its own secret, about this rail's payment.
    let other = Calling { rail: OTHER_RAIL, secret: OTHER_SECRET, ..Calling::new(&bank) };
    assert_eq!(other.send(&about(&id, "paid")).await.status, 204);
    assert_eq!((state().await, discrepancies(&bank).await), (before.clone(), 4));
    // Of no payment: a discrepancy, once, however often it is sent.
    let unknown = about("6f0c8a52-5d7e-4c57-9d3e-0a4f7f3f9f10", "paid");
    for _ in 0..2 {
        assert_eq!(own.send(&unknown).await.status, 204);
        assert_eq!(discrepancies(&bank).await, 5);
    }
    // An unknown status of its own payment: a discrepancy, and nothing moves.
    assert_eq!(own.send(&about(&id, "on_its_way")).await.status, 204);
    assert_eq!(state().await, before);
    for _ in 0..2 {
        assert_eq!(own.send(&about(&id, "paid")).await.status, 204);
        bank.reaches(PAK, &id, "succeeded").await;
    }
    let refused_later = Calling { id: "m-2", ..Calling::new(&bank) };
    assert_eq!(refused_later.send(&about(&id, "returned")).await.status, 204);
    bank.reaches(PAK, &id, "reversed").await;
    // An address that keeps failing is not listened to; a new minute may have begun in between.
    let stranger = Calling { secret: OTHER_SECRET, ..Calling::new(&bank) };
    let mut tried = 0;
    let limited = loop {
        let answer = stranger.send(&about(&id, "paid")).await;
        tried += 1;
        match answer.status {
            401 if tried <= 2 * REFUSED_PER_MINUTE => {}
            _ => break answer,
        }
    };
    limited.refused(429, "rate_limited");
    assert!(limited.header("retry-after").is_some());
    bank.finish().await;
}

async fn has_attempt(bank: &Bank, id: &str) -> bool {
    let id = PaymentId::parse(id).expect("an id");
    !bank.running.store().attempts(bank.tenant.id, id).await.expect("read").is_empty()
}

async fn a_callback_may_come_before_the_answer(on: On) {
    let gate = Arc::new(Notify::new());
    let bank = two_rails(on, Some(gate.clone())).await;
    let id = bank.paid(PAK, |order| order).await;
    is_so("it is sent", || async { has_attempt(&bank, &id).await }).await;
    assert_eq!(Calling::new(&bank).send(&about(&id, "paid")).await.status, 204);
    bank.reaches(PAK, &id, "succeeded").await;
    gate.notify_waiters();
    let record: Json = bank.reaches(PAK, &id, "succeeded").await;
    assert_eq!(record["response"]["status"].text(), "succeeded");
    bank.finish().await;
}

/// A connector that answers everything with this status and body.
async fn answering(status: Arc<AtomicU16>, body: &'static str) -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    let router = Router::new().fallback(move || {
        let status = status.load(Ordering::SeqCst);
        async move { (StatusCode::from_u16(status).expect("a status"), body) }
    });
    tokio::spawn(async move { axum::serve(listener, router).await });
    url
}

/// Whether there is an alert about a rail's faults, a minute later.
async fn is_alerted(bank: &Bank, what: &str) -> bool {
    bank.advance(Span::mins(1)).await;
    let alerts = bank.running.store().alerts(bank.tenant.id, 100).await.expect("read");
    alerts.iter().any(|(_, alert)| alert.kind == AlertKind::RailFaults && alert.what == what)
}

async fn a_rail_whose_calls_fail_has_an_alert_until_it_answers(on: On) {
    let status = Arc::new(AtomicU16::new(500));
    let url = answering(status.clone(), "").await;
    let setup = Setup::new().set("rails_enabled", &format!("[\"{RAIL}\"]"));
    let bank = Bank::alone(on, connected(setup, RAIL, &url, CALLBACK_SECRET)).await;
    bank.paid(PAK, |order| order).await;
    let what = format!("payments over the rail {RAIL} fail");
    is_so("an alert", || is_alerted(&bank, &what)).await;
    status.store(202, Ordering::SeqCst);
    is_so("it ends", || async { !is_alerted(&bank, &what).await }).await;
    bank.finish().await;
}

async fn reports_that_end_where_they_begin_are_a_fault_of_the_rail(on: On) {
    let page = "{\"reports\":[{}],\"cursor\":\"7\"}";
    let url = answering(Arc::new(AtomicU16::new(200)), page).await;
    let setup = Setup::new().set("rails_enabled", &format!("[\"{RAIL}\"]"));
    let setup = connected(setup, RAIL, &url, CALLBACK_SECRET);
    let setup = setup.set(&format!("rails.{RAIL}.poll_reports"), "true");
    let bank = Bank::alone(on, setup).await;
    let what = format!("the reports of the rail {RAIL} cannot be fetched");
    is_so("an alert", || is_alerted(&bank, &what)).await;
    bank.finish().await;
}
