//! Actions on the wallet side that require two users: proposers cannot approve, an approval takes
//! effect, and two approvals take effect once (`decisions.md`, "Four eyes").

use domain::deposit::DepositState;
use domain::exchange::ExchangeState;
use domain::user::Role;
use domain::wallet::{KycLevel, WalletState};

use super::Officer;
use super::orders::to_holder;
use crate::harness::{Json, On, WalletBank, on_both_stores};
use crate::wallet::acts::sender;
use crate::wallet::orders::order_to;

on_both_stores! {
    an_unblock_is_approved_by_another_user_once
    a_blacklisting_is_carried_out_when_approved
    a_release_above_the_limit_is_made_by_two
    a_withheld_order_above_the_limit_is_released_by_two
    a_legal_hold_is_lifted_by_two_as_they_saw_it
    an_unknown_payout_is_resolved_as_two_users_established
    the_webhook_endpoint_changes_with_a_second_users_approval
    payment_events_are_sent_with_a_second_users_approval
    a_policy_is_changed_by_two_and_only_as_they_saw_it
}

/// A user with every role, so that only the two-user rule stops them.
async fn anybody(bank: &WalletBank) -> Officer {
    Officer::of(
        bank,
        &[Role::Operator, Role::Compliance, Role::Treasury, Role::Admin, Role::Approver],
    )
    .await
}

/// Proposes with a form, checks that the proposer cannot approve, and approves as another user.
async fn by_two(bank: &WalletBank, path: &str, fields: &[(&str, &str)]) -> (Officer, Officer) {
    let (maker, checker) = (anybody(bank).await, anybody(bank).await);
    let proposal = maker.post(path, fields).await.done();
    let approve = format!("{proposal}/approve");
    maker.send(&approve, &[]).await.refused(409);
    checker.send(&approve, &[("note", "seen")]).await.done();
    (maker, checker)
}

async fn an_unblock_is_approved_by_another_user_once(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.in_use("unblock").await;
    let maker = anybody(&bank).await;
    let path = format!("/wallets/{wallet}");
    maker
        .post(&format!("{path}/block"), &[("reason", "PENDING_INVESTIGATION"), ("why", "a call")])
        .await
        .done();
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
    let late = maker.send(&format!("{proposal}/reject"), &[("note", "")]).await.refused(409);
    assert!(late.contains("decided this at"), "no reason is asked for: {late}");
}

async fn a_blacklisting_is_carried_out_when_approved(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.in_use("blacklist").await;
    let order =
        [("authority", "FMU"), ("reference", "FMU-7"), ("day", "2026-01-01"), ("why", "an order")];
    let (maker, _) = by_two(&bank, &format!("/wallets/{wallet}/blacklist"), &order).await;
    let stored = bank.stored_wallet(&wallet).await;
    let order = stored.blacklisting.expect("the order");
    assert_eq!((stored.state, order.reference.as_str()), (WalletState::Blacklisted, "FMU-7"));
    let page = maker.get(&format!("/wallets/{wallet}")).await.page();
    assert!(page.contains("FMU, FMU-7") && !page.contains("Propose to unblock"), "{page}");
}

async fn a_release_above_the_limit_is_made_by_two(on: On) {
    let bank =
        WalletBank::agreed(on, |policy| policy.wallet.second_person_above = 25_000_000).await;
    let wallet = bank.in_use("release").await;
    let request = bank.request(&wallet, "25.02", "USDC").await;
    bank.paid(&request, "").await;
    let deposit = bank.newest_is(&wallet, DepositState::InReview).await.id;
    let form = [("verdict", "approve"), ("why", "known to the branch")];
    let (maker, checker) = by_two(&bank, &format!("/deposits/{deposit}/decide"), &form).await;
    bank.newest(&wallet, "COMPLETED").await;
    assert_eq!(bank.balance(&wallet, "USDC").await, "25.02");
    let decision =
        bank.newest_is(&wallet, DepositState::Completed).await.decision.expect("a decision");
    assert!(
        decision.by.contains(&maker.login) && decision.by.contains(&checker.login),
        "{decision:?}"
    );
}

async fn a_withheld_order_above_the_limit_is_released_by_two(on: On) {
    let bank = WalletBank::agreed(on, |policy| policy.wallet.second_person_above = 9_990_000).await;
    let wallet = bank.funded("withheld").await;
    let (released, rejected) = (
        to_holder(&bank, &wallet, "Zorblax Qibbletan").await,
        to_holder(&bank, &wallet, "Zorblax Qibbletan").await,
    );
    let path = |order: &Json| format!("/orders/{}", order["order_id"].text());
    let decide = |order: &Json| format!("{}/decide", path(order));
    let approve = [("verdict", "approve"), ("why", "passport seen")];
    // A rejection needs one user, and leaves nothing for a second one to execute.
    let (officer, approver) = (anybody(&bank).await, anybody(&bank).await);
    assert!(officer.get(&path(&rejected)).await.page().contains("The amount exceeds 9.99"));
    let proposal = officer.post(&decide(&rejected), &approve).await.done();
    assert!(officer.get(&path(&rejected)).await.page().contains("passport seen"), "it is shown");
    officer.post(&decide(&rejected), &[("verdict", "reject"), ("why", "same")]).await.done();
    approver.send(&format!("{proposal}/approve"), &[("note", "seen")]).await.done();
    let page = approver.fetch(&proposal).await.page();
    for shown in ["Release a withheld exchange order", "10.00 USDC", "no decision about the order"]
    {
        assert!(page.contains(shown), "{shown}: {page}");
    }
    bank.order_is(&rejected, ExchangeState::Failed).await;
    let (maker, checker) = by_two(&bank, &decide(&released), &approve).await;
    bank.order_is(&released, ExchangeState::Settled).await;
    let page = maker.get(&path(&released)).await.page();
    for shown in ["review.approve", &maker.login, &checker.login] {
        assert!(page.contains(shown), "{shown}: {page}");
    }
    bank.books_are_right().await;
}

async fn a_legal_hold_is_lifted_by_two_as_they_saw_it(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.in_use("hold").await;
    let request = bank.request(&wallet, "25.00", "USDC").await;
    bank.introduced(&request, sender("Zorblax", "Quibbleton")).await;
    bank.paid(&request, "").await;
    let held = bank.newest_is(&wallet, DepositState::LegalHold).await;
    let page = format!("/deposits/{}", held.id);
    let lift = format!("{page}/lift-hold");
    let officer = Officer::of(&bank, &[Role::Compliance]).await;
    let shown = officer.get(&page).await.page();
    assert!(
        shown.contains("Propose to lift the hold")
            && shown.contains("on legal hold. Nothing in the escrow"),
        "{shown}"
    );
    // Operators lack the role, and an approval needs the reviewed state.
    let clerk = Officer::of(&bank, &[Role::Operator]).await;
    assert!(!clerk.get(&page).await.page().contains("Propose to lift the hold"));
    let seen = held.state_at.0.to_string();
    clerk.post(&lift, &[("seen", &seen), ("why", "x")]).await.refused(403);
    officer.post(&lift, &[("seen", "1"), ("why", "x")]).await.refused(409);
    officer.post(&lift, &[("seen", &seen), ("why", " ")]).await.refused(422);
    let (maker, checker) =
        by_two(&bank, &lift, &[("seen", &seen), ("why", "another passport")]).await;
    bank.newest_is(&wallet, DepositState::Rejected).await;
    let freed = || async { officer.get(&page).await.page().contains("The hold was lifted") };
    assert!(testkit::wait::until_async(testkit::wait::AT_MOST, freed).await);
    let after = officer.get(&page).await.page();
    for said in
        ["hold.lift", "another passport", &maker.login, &checker.login, "Propose the refund"]
    {
        assert!(after.contains(said), "{said}: {after}");
    }
    assert!(!after.contains("Propose to lift the hold"), "{after}");
    officer.post(&lift, &[("seen", &seen), ("why", "again")]).await.refused(409);
    bank.books_are_right().await;
}

async fn an_unknown_payout_is_resolved_as_two_users_established(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.funded("resolve").await;
    let order = order_to(&bank, &wallet, "0004").await;
    bank.order_is(&order, ExchangeState::Paying).await;
    bank.is_alerted(domain::wallet_effects::AlertKind::Payout, "").await;
    let form =
        [("became", "succeeded"), ("reference", "FT2611200014"), ("why", "statement, line 14")];
    let path = format!("/orders/{}", order["order_id"].text());
    let (maker, _) = by_two(&bank, &format!("{path}/resolve"), &form).await;
    let settled = bank.order_reaches(&wallet, order["order_id"].text(), "SETTLED").await;
    assert_eq!(settled["settlement_reference"].text(), "FT2611200014");
    assert!(maker.get(&path).await.page().contains("FT2611200014"));
    // The bank returns it and explains the difference by letter only.
    let form = [("became", "returned"), ("charges", "250.00"), ("why", "letter")];
    by_two(&bank, &format!("{path}/resolve"), &form).await;
    let page = maker.get(&path).await.page();
    assert!(page.contains("was returned after settlement"), "{page}");
    bank.books_are_right().await;
}

async fn the_webhook_endpoint_changes_with_a_second_users_approval(on: On) {
    let bank = WalletBank::new(on).await;
    let url = "http://127.0.0.1:9/elsewhere";
    by_two(&bank, "/webhooks/url", &[("url", url), ("why", "moved")]).await;
    let (store, tenant) = (bank.bank.running.store(), bank.bank.tenant.id);
    let kept = store.webhook(tenant).await.expect("read").expect("there");
    assert_eq!(kept.url, url);
    let filter = store::AuditFilter {
        tenant: Some(tenant),
        action: Some("approval".into()),
        ..Default::default()
    };
    let entries = store.audit_entries(&filter, 9).await.expect("read");
    let actions: Vec<_> = entries.iter().map(|entry| entry.note.action.as_str()).collect();
    assert_eq!(actions, ["approval.done", "approval.approve", "approval.propose"]);
    let filter = store::AuditFilter { action: Some("webhook.set_url".into()), ..filter };
    let moved = store.audit_entries(&filter, 9).await.expect("read");
    let request = format!("approval:{}", entries[0].note.subject);
    assert_eq!(
        moved[0].deed.request_id.as_deref(),
        Some(request.as_str()),
        "the deed leads to its proposal"
    );
}

async fn payment_events_are_sent_with_a_second_users_approval(on: On) {
    let bank = WalletBank::new(on).await;
    let (store, tenant) = (bank.bank.running.store(), bank.bank.tenant.id);
    let sent = async || store.webhook(tenant).await.expect("read").expect("there").payment_events;
    let before = bank.bank.any_quote().await;
    let (maker, checker) = by_two(&bank, "/webhooks/payments", &[("why", "agreed")]).await;
    assert!(sent().await);
    let filter = store::AuditFilter {
        tenant: Some(tenant),
        action: Some("webhook.set_payment_events".into()),
        ..Default::default()
    };
    assert_eq!(store.audit_entries(&filter, 9).await.expect("read").len(), 1);
    let after = bank.bank.any_quote().await;
    assert_eq!(bank.webhooks(after.id(), 1).await, ["quote.created"]);
    assert_eq!(bank.receiver.book().taken_about(before.id()).len(), 0);
    checker
        .post("/webhooks/recover", &[("since", "2020-01-01"), ("why", "from the beginning")])
        .await
        .done();
    assert_eq!(bank.webhooks(before.id(), 1).await, ["quote.created"]);
    let listed = maker.get("/webhooks?service=payment&event=quote.created").await.page();
    assert!(
        listed.contains("quote.created") && !listed.contains("No deliveries match."),
        "{listed}"
    );
    let event = bank.receiver.book().taken_about(after.id())[0].id().to_owned();
    let shown = maker.get(&format!("/webhooks/deliveries/{event}")).await.page();
    assert!(shown.contains(after.id()) && shown.contains("quote.created"), "{shown}");
    assert!(
        maker.get("/webhooks").await.page().contains("No deliveries yet."),
        "of the wallet service there is none"
    );
    maker.get("/webhooks?service=payment&event=wallet.blocked").await.refused(422);
    // One user is enough to turn it off.
    maker.post("/webhooks/payments", &[("why", "too many")]).await.done();
    assert!(!sent().await);
}

async fn a_policy_is_changed_by_two_and_only_as_they_saw_it(on: On) {
    let bank = WalletBank::new(on).await;
    let (store, tenant) = (bank.bank.running.store(), bank.bank.tenant.id);
    let now = async || store.tenant(tenant).await.expect("read").expect("there").policy;
    let form =
        [("seen", "1"), ("minimum_kyc", "ENHANCED"), ("velocity", "3/100"), ("why", "agreed")];
    let (maker, checker) = by_two(&bank, "/policy/propose", &form).await;
    let agreed = now().await;
    assert_eq!((agreed.wallet.minimum_kyc, agreed.wallet.version), (KycLevel::Enhanced, 2));
    assert_eq!(
        agreed.wallet.velocity.map(|limit| (limit.count, limit.minor)),
        Some((3, 100_000_000))
    );
    let page = checker.get("/policy").await.page();
    assert!(
        page.contains("ENHANCED")
            && page.contains("3/100.00")
            && page.contains("Propose a policy change"),
        "{page}"
    );
    // The page shows an older version of the policy.
    maker.post("/policy/propose", &form).await.refused(409);
    // A proposal is not executed once another user has changed the policy.
    let other = [("seen", "2"), ("strict_roles", "true"), ("why", "agreed")];
    let proposal = maker.post("/policy/propose", &other).await.done();
    assert!(!maker.get("/policy").await.page().contains("Propose a policy change"), "one waits");
    let mut meanwhile = agreed.clone();
    meanwhile.require_hmac = true;
    store.set_tenant_policy(tenant, &meanwhile, "another operator").await.expect("set");
    checker.send(&format!("{proposal}/approve"), &[("note", "seen")]).await;
    let page = checker.fetch(&proposal).await.page();
    assert!(page.contains("it has changed since it was proposed"), "{page}");
    assert_eq!(
        (now().await.wallet.strict_roles, now().await.wallet.version),
        (meanwhile.wallet.strict_roles, 3)
    );
    // A viewer sees the policy without a form; invalid values are reported by field and rule.
    let viewer = Officer::of(&bank, &[Role::Viewer]).await;
    assert!(!viewer.get("/policy").await.page().contains("Propose a policy change"));
    viewer.post("/policy/propose", &other).await.refused(403);
    let wrong = [("seen", "3"), ("minimum_kyc", "LOW"), ("auto_approve_max", "0"), ("why", "x")];
    let page = maker.post("/policy/propose", &wrong).await;
    assert!(
        page.text.contains("Minimum KYC level of a wallet: must be BASIC")
            && page.text.contains("Review above: must be"),
        "{page:?}"
    );
    page.refused(422);
    // Only treasury proposes prices, on the rates page.
    let price = [("seen", "3"), ("premium_bps", "1"), ("why", "x")];
    maker.post("/policy/propose", &price).await.refused(409);
}
