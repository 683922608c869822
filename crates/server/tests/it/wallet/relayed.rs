//! Events that a relay sends: the same bodies as in `GET /v1/sdk/events`.

use std::sync::Arc;

use domain::relay::{EventLog, SubjectTemplate};
use domain::time::Span;
use engine::relay::{Relay, RelaySettings, RelayStart};
use service::clock::BusinessClock;
use testkit::sink::MemorySink;

use crate::harness::{Json, On, Setup, WalletBank, on_both_stores};

on_both_stores! {
    a_relay_sends_what_the_event_log_returns
}

const BLOCK: &str = r#"{"reason":"SUSPICIOUS_ACTIVITY","details":"A test"}"#;

async fn a_relay_sends_what_the_event_log_returns(on: On) {
    let bank = WalletBank::alone(on, Setup::with_wallets()).await;
    let wallet = bank.wallet("relayed").await;
    bank.deposit(&wallet, "10.00", "COMPLETED").await;
    bank.post(&format!("/v1/sdk/wallets/{wallet}/block"), BLOCK).send().await.ok();
    let page = bank.get("/v1/sdk/events?limit=1000").send().await.ok();
    let logged = page["events"].items();
    assert!(logged.len() >= 4, "{page}");
    let settings = RelaySettings {
        name: "warehouse".to_owned(),
        subject: SubjectTemplate::parse("corridor.{service}.{tenant}.{type}").expect("valid"),
        logs: EventLog::ALL.to_vec(),
        tenants: Vec::new(),
        start: RelayStart::Oldest,
        batch: 3,
        lease: Span::mins(1),
        poll: Span::secs(1),
    };
    let sink = Arc::new(MemorySink::default());
    let (store, clock) = (bank.bank.running.store().clone(), Arc::new(BusinessClock::default()));
    let owner = "a relay".to_owned();
    let relay = Relay::new(store, sink.clone(), clock, owner, settings, service::relay::BODIES);
    relay.send_once().await.expect("sent");
    let stored = sink.stored();
    assert_eq!(stored.len(), logged.len(), "the tenant has made no payments");
    for event in logged {
        let id = event["event_id"].text();
        let sent = stored.iter().find(|it| it.id.to_string() == id).expect("every event is sent");
        assert_eq!(Json::read(&sent.body), *event, "with its members in the same order");
        let (tag, kind) = (&bank.bank.tenant.tag, event["event_type"].text());
        assert_eq!(sent.subject, format!("corridor.wallet.{tag}.{kind}"));
    }
    bank.finish().await;
}
