//! Actions through the API are in the tenant's audit log, in the same commit: the actor by key and
//! roles, the reason, the request.

use domain::audit::{Entry, Via};
use reqwest::Method;
use store::AuditFilter;

use crate::harness::{Json, On, WalletBank, on_both_stores};

on_both_stores! {
    blocks_and_unblocks_are_recorded_with_actor_and_request
    a_decision_is_noted_once_however_often_it_is_sent
    what_is_refused_is_not_noted
    a_repeated_blacklist_order_is_noted_once
    an_event_that_is_sent_again_is_noted
}

/// The tenant's entries after its creation, oldest first. Other tests move the clock, so the
/// service may have signed the chain in the meantime: its key is trusted.
async fn entries(bank: &WalletBank, action: &str) -> Vec<Entry> {
    let store = bank.bank.running.store();
    let tenant = Some(bank.bank.tenant.id);
    let key = store.audit_signer(None).await.expect("the service's key").public_key();
    let report = store.verify_audit(tenant, &[], &[key]).await.expect("read");
    assert!(report.is_whole(), "{report:?}");
    let filter = AuditFilter { tenant, action: Some(action.to_owned()), ..AuditFilter::default() };
    let mut entries = store.audit_entries(&filter, 100).await.expect("read");
    entries.reverse();
    entries
}

fn facts(text: Option<&String>) -> Json {
    Json::read(text.expect("recorded facts").as_bytes())
}

async fn blocks_and_unblocks_are_recorded_with_actor_and_request(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.wallet("noted").await;
    let path = |what: &str| format!("/v1/sdk/wallets/{wallet}/{what}");
    let block = r#"{"reason":"SUSPICIOUS_ACTIVITY","details":"asked by the branch","auto_unblock_hours":24}"#;
    let call = bank.call_as(
        &["compliance_officer", "auditor"],
        Method::POST,
        &path("block"),
        Some(block.to_owned()),
    );
    call.header("X-Request-Id", "r-block").send().await.ok();
    bank.post(&path("unblock"), r#"{"unblock_reason":"it was nothing"}"#).send().await.ok();
    let noted = entries(&bank, "wallet").await;
    let [blocked, unblocked] = &noted[..] else { panic!("{noted:?}") };
    assert_eq!((&blocked.note.action[..], &blocked.note.kind[..]), ("wallet.block", "wallet"));
    assert_eq!((&blocked.note.subject, blocked.deed.via), (&wallet, Via::Api));
    assert_eq!(blocked.deed.role.as_deref(), Some("compliance_officer,auditor"));
    assert_eq!(
        (blocked.deed.why.as_str(), blocked.deed.request_id.as_deref()),
        ("asked by the branch", Some("r-block"))
    );
    let key = &bank.key.access_key;
    assert!(bank_key(&blocked.deed.who, key), "{} is not the beginning of a key", blocked.deed.who);
    assert_eq!(facts(blocked.note.after.as_ref())["state"].text(), "BLOCKED");
    assert_eq!(facts(blocked.note.after.as_ref())["reason"].text(), "SUSPICIOUS_ACTIVITY");
    assert_eq!(facts(unblocked.note.before.as_ref())["state"].text(), "BLOCKED");
    assert_eq!(
        (&unblocked.note.action[..], &unblocked.deed.why[..]),
        ("wallet.unblock", "it was nothing")
    );
    assert!(unblocked.deed.request_id.is_some(), "each request has an id");
}

/// The prefix of one of the tenant's keys, and not the whole key.
fn bank_key(who: &str, key: &str) -> bool {
    let tag = key.split('-').next().expect("a tag");
    who.starts_with(tag) && who.matches('-').count() == 2 && who.len() < key.len()
}

async fn a_decision_is_noted_once_however_often_it_is_sent(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.wallet("decided").await;
    let request = bank.request(&wallet, "25.02", "USDC").await;
    bank.paid(&request, "").await;
    let review = bank.review(&wallet).await;
    let path = format!("/v1/sdk/reviews/{}", review["transaction_id"].text());
    for _ in 0..2 {
        let call = bank.post(&path, r#"{"decision":"approve","note":"another birth date"}"#);
        call.header("Idempotency-Key", "once").send().await.ok();
    }
    let noted = entries(&bank, "review").await;
    let [approved] = &noted[..] else { panic!("{noted:?}") };
    assert_eq!(
        (&approved.note.action[..], &approved.note.kind[..]),
        ("review.approve", "transaction")
    );
    assert_eq!(
        (&approved.note.subject[..], &approved.deed.why[..]),
        (review["transaction_id"].text(), "another birth date")
    );
    assert_eq!(facts(approved.note.before.as_ref())["state"].text(), "in_review");
    assert_ne!(approved.note.before, approved.note.after);
}

async fn what_is_refused_is_not_noted(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.in_use("refused").await;
    let answer = bank.post(&format!("/v1/sdk/wallets/{wallet}/unblock"), "{}").send().await;
    assert_eq!(answer.status, 409);
    assert_eq!(entries(&bank, "wallet").await, []);
}

async fn a_repeated_blacklist_order_is_noted_once(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.in_use("ordered").await;
    for date in ["2099-01-01", "2020-01-01"] {
        let order = format!(
            r#"{{"regulatory_authority":"FIA","regulatory_reference_number":"R-1","reason":"A test","effective_date":"{date}"}}"#
        );
        let call = bank.post(&format!("/v1/sdk/wallets/{wallet}/blacklist"), order);
        assert_eq!(call.send().await.ok()["effective_date"].text(), "2099-01-01");
    }
    let noted = entries(&bank, "wallet.blacklist").await;
    let [ordered] = &noted[..] else { panic!("{noted:?}") };
    let after = facts(ordered.note.after.as_ref());
    assert_eq!((after["state"].text(), after["effective_date"].text()), ("BLOCKED", "2099-01-01"));
}

async fn an_event_that_is_sent_again_is_noted(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.wallet("again").await;
    bank.post(
        &format!("/v1/sdk/wallets/{wallet}/block"),
        r#"{"reason":"SUSPICIOUS_ACTIVITY","details":"x"}"#,
    )
    .send()
    .await
    .ok();
    bank.webhooks(&wallet, 1).await;
    let found = bank.get("/v1/sdk/webhooks/deliveries").send().await.ok();
    let event = found["deliveries"][0]["delivery_id"].text().to_owned();
    bank.post(&format!("/v1/sdk/webhooks/deliveries/{event}/redeliver"), "").send().await.ok();
    let noted = entries(&bank, "webhook.redeliver").await;
    let subjects: Vec<&str> = noted.iter().map(|entry| entry.note.subject.as_str()).collect();
    assert_eq!(subjects, [event.as_str()]);
}
