//! `GET /v2/events`: the contents of the log.

use domain::country::Country;
use domain::time::Span;
use testkit::wait::AT_MOST;

use crate::harness::client::instant;
use crate::harness::{Bank, Json, On, Setup, on_both_stores};

on_both_stores! {
    an_event_has_its_envelope_and_the_record_of_that_instant
    each_ending_has_its_exact_sequence_of_events
    an_unused_quote_expires_in_the_log
    the_log_has_no_gaps_under_concurrent_work
    a_tenant_sees_its_own_log_only
}

async fn an_event_has_its_envelope_and_the_record_of_that_instant(on: On) {
    let bank = Bank::new(on).await;
    let quote = bank.any_quote().await;
    let accepted = bank.pay(&quote.order()).await.ok();
    let id = accepted["id"].text();
    let last = bank.reaches(Country::Pak, id, "succeeded").await;
    let events = bank.events_after(0).await;
    let kinds: Vec<&str> = events.iter().map(|event| event["type"].text()).collect();
    assert_eq!(
        kinds,
        [
            "quote.created",
            "quote.used",
            "payment.queued",
            "payment.processing",
            "payment.succeeded"
        ]
    );
    for (at, event) in events.iter().enumerate() {
        assert_eq!(event.names(), ["id", "seq", "type", "version", "occurred_at", "data"]);
        assert_eq!(event["seq"].integer(), i64::try_from(at).expect("few") + 1);
        assert_eq!(event["version"].text(), "1");
        assert!(uuid::Uuid::parse_str(event["id"].text()).is_ok());
        assert!(instant(&event["occurred_at"]) <= bank.running.now());
    }
    assert_eq!((&events[0]["data"], &events[1]["data"]), (&quote.0, &quote.0));
    assert_eq!(events[0]["occurred_at"], quote.0["timestamp"]);
    assert_eq!(events[2]["data"]["response"], accepted, "as the payment was accepted");
    for event in &events[2..] {
        assert_eq!(
            (&event["data"]["id"], &event["data"]["order"], &event["data"]["quote"]),
            (&last["id"], &last["order"], &quote.0)
        );
        assert_eq!(event["data"]["response"]["timestamp"], event["occurred_at"]);
    }
    assert_eq!(events[3]["data"]["response"]["status"].text(), "processing");
    assert_eq!(events[4]["data"], last, "the last event shows what GET shows");
}

/// The account's last four digits, and the resulting events of the payment.
const ENDINGS: [(&str, &str, &[&str]); 8] = [
    ("6702", "succeeded", &["queued", "processing", "succeeded"]),
    ("0001", "failed", &["queued", "processing", "failed"]),
    ("0002", "rejected", &["queued", "rejected"]),
    ("0003", "reversed", &["queued", "processing", "succeeded", "reversed"]),
    ("0004", "unknown", &["queued", "unknown"]),
    ("0005", "processing", &["queued", "processing"]),
    ("0007", "succeeded", &["queued", "processing", "succeeded"]),
    ("0008", "succeeded", &["queued", "processing", "succeeded"]),
];

async fn each_ending_has_its_exact_sequence_of_events(on: On) {
    let bank = Bank::new(on).await;
    let mut made = Vec::new();
    for (ending, state, expected) in ENDINGS {
        let id = bank.paid(Country::Ind, |order| order.ending(Country::Ind, ending)).await;
        made.push((id, ending, state, expected));
    }
    for (id, ending, state, expected) in made {
        let record = bank.reaches(Country::Ind, &id, state).await;
        let history: Vec<String> = expected.iter().map(|kind| format!("payment.{kind}")).collect();
        assert_eq!(bank.history(&id).await, history, "{ending}");
        let events = bank.events_after(0).await;
        let last = events.iter().rfind(|event| event["data"]["id"].text() == id).expect("an event");
        assert_eq!(last["data"], record, "{ending}");
    }
}

async fn an_unused_quote_expires_in_the_log(on: On) {
    let bank = Bank::alone(on, Setup::new()).await;
    let quote = bank.any_quote().await;
    bank.advance(Span::secs(300)).await;
    let expired = || async { bank.history(quote.id()).await == ["quote.created", "quote.expired"] };
    assert!(testkit::wait::until_async(AT_MOST, expired).await);
    let events = bank.events_after(1).await;
    assert_eq!(events[0]["data"], quote.0);
    assert!(instant(&events[0]["occurred_at"]) >= instant(&quote.0["expires"]));
    bank.finish().await;
}

async fn the_log_has_no_gaps_under_concurrent_work(on: On) {
    let bank = Bank::new(on).await;
    let paying =
        futures_util::future::join_all((0..20).map(|_| bank.paid(Country::Pak, |order| order)));
    let mut seen: Vec<Json> = Vec::new();
    let reading = async {
        while seen.len() < 20 * 5 {
            let after = seen.last().map_or(0, |event| event["seq"].integer());
            let path = format!("/v2/events?mode=poll&after={after}&limit=7&wait=10");
            let page = bank.get(&path).send().await.ok();
            seen.extend(page["events"].items().iter().cloned());
        }
    };
    let (ids, ()) = tokio::join!(paying, reading);
    let numbers: Vec<i64> = seen.iter().map(|event| event["seq"].integer()).collect();
    assert_eq!(numbers, (1..=100).collect::<Vec<i64>>());
    for id in ids {
        let about: Vec<&str> = seen
            .iter()
            .filter(|event| event["data"]["id"].text() == id)
            .map(|event| event["type"].text())
            .collect();
        assert_eq!(about, ["payment.queued", "payment.processing", "payment.succeeded"]);
    }
    let times: Vec<_> = seen.iter().map(|event| instant(&event["occurred_at"])).collect();
    assert!(times.is_sorted(), "{times:?}");
}

async fn a_tenant_sees_its_own_log_only(on: On) {
    let (bank, other) = (Bank::new(on).await, Bank::new(on).await);
    let quote = bank.any_quote().await;
    assert_eq!(other.events_after(0).await, Vec::<Json>::new());
    assert_eq!(bank.events_after(0).await[0]["data"]["id"].text(), quote.id());
}
