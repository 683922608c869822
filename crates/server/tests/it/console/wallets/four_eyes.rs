//! What takes two people on the wallet side: nobody approves what he proposed, a second person's approval has its effect,
//! and two approvals have it once (`decisions.md`, "Four eyes").

use domain::deposit::DepositState;
use domain::exchange::ExchangeState;
use domain::user::Role;
use domain::wallet::WalletState;

use super::Officer;
use crate::harness::{On, WalletBank, on_both_stores};
use crate::wallet::orders::order_to;

on_both_stores! {
    an_unblock_is_approved_by_somebody_else_once
    a_blacklisting_is_carried_out_when_approved
    a_release_above_the_limit_is_made_by_two
    an_unknown_pay_out_becomes_what_two_people_say
    webhooks_go_elsewhere_when_a_second_person_says_so
}

/// Somebody who may do everything, so that only the rule of two people stops him.
async fn anybody(bank: &WalletBank) -> Officer {
    Officer::of(bank, &[Role::Operator, Role::Compliance, Role::Treasury, Role::Admin, Role::Approver]).await
}

/// Proposes with a form, sees that the maker cannot approve it, and approves it as somebody else.
async fn by_two(bank: &WalletBank, path: &str, fields: &[(&str, &str)]) -> (Officer, Officer) {
    let (maker, checker) = (anybody(bank).await, anybody(bank).await);
    let proposal = maker.post(path, fields).await.done();
    let approve = format!("{proposal}/approve");
    maker.send(&approve, &[]).await.refused(409);
    checker.send(&approve, &[("note", "seen")]).await.done();
    (maker, checker)
}

async fn an_unblock_is_approved_by_somebody_else_once(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.in_use("unblock").await;
    let maker = anybody(&bank).await;
    let path = format!("/wallets/{wallet}");
    maker.post(&format!("{path}/block"), &[("reason", "PENDING_INVESTIGATION"), ("why", "a call")]).await.done();
    let proposal = maker.post(&format!("{path}/unblock"), &[("why", "cleared")]).await.done();
    let approve = format!("{proposal}/approve");
    maker.send(&approve, &[]).await.refused(409);
    assert_eq!(bank.stored_wallet(&wallet).await.state, WalletState::Blocked);
    let other = WalletBank::new(on).await;
    anybody(&other).await.send(&approve, &[]).await.refused(404);
    let (one, two) = (anybody(&bank).await, anybody(&bank).await);
    let (first, second) = tokio::join!(one.send(&approve, &[]), two.send(&approve, &[]));
    let mut statuses = [first.status, second.status];
    statuses.sort_unstable();
    assert_eq!(statuses, [303, 409], "{first:?} {second:?}");
    bank.wallet_becomes(&wallet, "ACTIVE").await;
    assert_eq!(bank.stored_wallet(&wallet).await.unblock_reason.as_deref(), Some("cleared"));
    one.send(&approve, &[]).await.refused(409);
}

async fn a_blacklisting_is_carried_out_when_approved(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.in_use("blacklist").await;
    let order = [("authority", "FMU"), ("reference", "FMU-7"), ("day", "2026-01-01"), ("why", "an order")];
    let (maker, _) = by_two(&bank, &format!("/wallets/{wallet}/blacklist"), &order).await;
    let stored = bank.stored_wallet(&wallet).await;
    let order = stored.blacklisting.expect("the order");
    assert_eq!((stored.state, order.reference.as_str()), (WalletState::Blacklisted, "FMU-7"));
    let page = maker.get(&format!("/wallets/{wallet}")).await.page();
    assert!(page.contains("FMU, FMU-7") && !page.contains("Propose to unblock"), "{page}");
}

async fn a_release_above_the_limit_is_made_by_two(on: On) {
    let bank = WalletBank::agreed(on, |policy| policy.wallet.second_person_above = 25_000_000).await;
    let wallet = bank.in_use("release").await;
    let request = bank.request(&wallet, "25.02", "USDC").await;
    bank.paid(&request, "").await;
    let deposit = bank.newest_is(&wallet, DepositState::InReview).await.id;
    let form = [("verdict", "approve"), ("why", "known to the branch")];
    let (maker, checker) = by_two(&bank, &format!("/deposits/{deposit}/decide"), &form).await;
    bank.newest(&wallet, "COMPLETED").await;
    assert_eq!(bank.balance(&wallet, "USDC").await, "25.02");
    let decision = bank.newest_is(&wallet, DepositState::Completed).await.decision.expect("a decision");
    assert!(decision.by.contains(&maker.login) && decision.by.contains(&checker.login), "{decision:?}");
}

async fn an_unknown_pay_out_becomes_what_two_people_say(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.funded("resolve").await;
    let order = order_to(&bank, &wallet, "0004").await;
    bank.order_is(&order, ExchangeState::Paying).await;
    bank.is_alerted(domain::wallet_effects::AlertKind::Payout, "").await;
    let form = [("became", "settled"), ("why", "statement, line 14")];
    by_two(&bank, &format!("/orders/{}/resolve", order["order_id"].text()), &form).await;
    bank.order_is(&order, ExchangeState::Settled).await;
    bank.books_are_right().await;
}

async fn webhooks_go_elsewhere_when_a_second_person_says_so(on: On) {
    let bank = WalletBank::new(on).await;
    let url = "http://127.0.0.1:9/elsewhere";
    by_two(&bank, "/webhooks/url", &[("url", url), ("why", "moved")]).await;
    let (store, tenant) = (bank.bank.running.store(), bank.bank.tenant.id);
    let kept = store.webhook(tenant).await.expect("read").expect("there");
    assert_eq!(kept.url, url);
    let filter = store::AuditFilter { tenant: Some(tenant), action: Some("approval".into()), ..Default::default() };
    let entries = store.audit_entries(&filter, 9).await.expect("read");
    let actions: Vec<_> = entries.iter().map(|entry| entry.note.action.as_str()).collect();
    assert_eq!(actions, ["approval.done", "approval.approve", "approval.propose"]);
    let filter = store::AuditFilter { action: Some("webhook.set_url".into()), ..filter };
    let moved = store.audit_entries(&filter, 9).await.expect("read");
    let request = format!("approval:{}", entries[0].note.subject);
    assert_eq!(moved[0].deed.request_id.as_deref(), Some(request.as_str()), "the deed leads to its proposal");
}
