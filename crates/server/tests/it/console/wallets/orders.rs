//! Exchange orders: pages, orders that screening withholds, and payouts that a rail left open or
//! returned.

use std::path::Path;

use domain::exchange::ExchangeState;
use domain::time::Span;
use domain::user::Role;
use domain::wallet_effects::AlertKind;
use serde_json::json;
use testkit::bank::Faults;
use testkit::wait::AT_MOST;

use super::Officer;
use crate::harness::{Json, On, Setup, WalletBank, on_both_stores};
use crate::wallet::orders::order_to;

on_both_stores! {
    an_order_shows_its_attempts
    an_unknown_payout_is_resolved_by_two_users
    what_came_back_is_given_back_once
    a_withheld_order_is_released_or_rejected_by_compliance
    an_order_whose_holder_was_listed_since_can_only_be_rejected
    an_order_whose_holder_nearly_matches_by_its_payout_waits_for_a_reviewer
}

async fn an_order_shows_its_attempts(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.funded("settles").await;
    let order = bank.order_call(&wallet, "10.00", "").send().await.ok();
    let order = bank.order_reaches(&wallet, order["order_id"].text(), "SETTLED").await;
    let officer = Officer::of(&bank, &[Role::Viewer]).await;
    let page = officer.get(&format!("/orders/{}", order["order_id"].text())).await.page();
    for shown in [
        "10.00 USDC",
        "Paid out",
        "SETTLED",
        order["settlement_reference"].text(),
        "PKR",
        "PK36****************6702",
        &wallet,
    ] {
        assert!(page.contains(shown), "{shown}: {page}");
    }
    assert!(!page.contains("PK36SCBL0000001123456702"), "accounts are masked");
    let listed = officer.get("/orders?state=settled").await.page();
    assert!(listed.contains(order["order_id"].text()));
    assert!(officer.get("/orders?state=failed").await.page().contains("No orders match."));
    assert!(officer.get("/orders?to=2020-01-01").await.page().contains("No orders match."));
    officer.get("/orders/export.csv").await.refused(403);
    let operator = Officer::of(&bank, &[Role::Operator]).await;
    let file = operator.get("/orders/export.csv").await.page();
    assert!(
        file.contains(&format!(
            "{},{wallet},SETTLED,settled,10.00,USDC,",
            order["order_id"].text()
        )),
        "{file}"
    );
    let history = officer.get(&format!("/wallets/{wallet}")).await.page();
    assert!(history.contains(order["order_id"].text()) && history.contains("90.00 USDC"));
}

async fn an_unknown_payout_is_resolved_by_two_users(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.funded("unknown").await;
    let order = order_to(&bank, &wallet, "0004").await;
    bank.order_is(&order, ExchangeState::Paying).await;
    let officer = Officer::of(&bank, &[Role::Operator, Role::Approver]).await;
    let path = format!("/orders/{}", order["order_id"].text());
    let resolve = format!("{path}/resolve");
    bank.is_alerted(AlertKind::Payout, "").await;
    officer.post(&resolve, &[("became", "vanished"), ("why", "statement")]).await.refused(422);
    let page = officer.get(&path).await.page();
    let shown = page
        .split_once(r#"name="seen" value=""#)
        .and_then(|(_, rest)| rest.split_once('"'))
        .expect("a field")
        .0;
    for (fields, why) in [
        ([("became", "failed"), ("reference", "FT-1")], "requires the outcome that it was paid"),
        ([("became", "succeeded"), ("charges", "1")], "require the outcome that it was returned"),
        ([("became", "returned"), ("charges", "1000000")], "less than the amount"),
    ] {
        let words = officer
            .post(&resolve, &[&fields[..], &[("why", "statement")]].concat())
            .await
            .refused(422);
        assert!(words.contains(why), "{words}");
    }
    let stale = [("became", "succeeded"), ("why", "statement"), ("seen", "another attempt")];
    let words = officer.post(&resolve, &stale).await.refused(409);
    assert!(words.contains("was modified after this page was loaded"), "{words}");
    let form = [("became", "succeeded"), ("why", "statement, line 14"), ("seen", shown)];
    let proposal = officer.post(&resolve, &form).await.done();
    assert!(proposal.starts_with("/console/approvals/"), "{proposal}");
    bank.order_is(&order, ExchangeState::Paying).await;
    assert!(officer.get(&path).await.page().contains("statement, line 14"));
    officer.post(&format!("{path}/recredit"), &[("why", "no")]).await.refused(409);
}

async fn what_came_back_is_given_back_once(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.funded("returned").await;
    let order = order_to(&bank, &wallet, "0003").await;
    bank.order_is(&order, ExchangeState::Settled).await;
    bank.is_alerted(AlertKind::Payout, "").await;
    let officer = Officer::of(&bank, &[Role::Treasury]).await;
    let path = format!("/orders/{}", order["order_id"].text());
    assert!(officer.get("/alerts").await.page().contains(&path), "the alert leads to the order");
    let came_back =
        || async { officer.get(&path).await.page().contains("was returned after settlement") };
    assert!(testkit::wait::until_async(AT_MOST, came_back).await);
    let recredit = format!("{path}/recredit");
    officer.post(&recredit, &[("why", "account closed")]).await.done();
    bank.balanced(&wallet, "USDC", "100.00").await;
    officer.post(&recredit, &[("why", "again")]).await.refused(409);
    bank.books_are_right().await;
}

/// An order to an account whose holder is on the sample list.
pub(super) async fn to_holder(bank: &WalletBank, wallet: &str, holder: &str) -> Json {
    let account = json!({"iban": "PK36SCBL0000001123456702", "account_holder_name": holder});
    let body = json!({"order_type": "EXCHANGE", "wallet_id": wallet, "amount": "10.00", "from_currency": "USDC",
        "to_currency": "PKR", "bank_account": account});
    bank.post("/v1/sdk/orders", body.to_string()).send().await.ok()
}

async fn a_withheld_order_is_released_or_rejected_by_compliance(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.funded("withheld").await;
    let released = to_holder(&bank, &wallet, "Zorblax Qibbletan").await;
    let rejected = to_holder(&bank, &wallet, "Zorblax Quibbleton").await;
    let path = |order: &Json| format!("/orders/{}", order["order_id"].text());
    let (officer, clerk) = (
        Officer::of(&bank, &[Role::Compliance]).await,
        Officer::of(&bank, &[Role::Operator, Role::Treasury]).await,
    );
    let queue = officer.get("/review").await.page();
    for shown in ["Exchange orders: 2", "Held by screening", &path(&released), &path(&rejected)] {
        assert!(queue.contains(shown), "{shown}: {queue}");
    }
    // A page starts after the order that its link names.
    let rest = officer.get(&format!("/review?orders_after={}", released["order_id"].text())).await;
    let rest = rest.page();
    assert!(rest.contains(&path(&rejected)) && !rest.contains(&path(&released)), "{rest}");
    let before = format!("orders_before={}", rejected["order_id"].text());
    assert!(rest.contains(&format!("{before}\" rel=\"prev\"")), "{rest}");
    let back = officer.get(&format!("/review?{before}")).await.page();
    assert!(back.contains(&path(&released)) && !back.contains(&path(&rejected)), "{back}");
    officer.get("/review?orders_after=1").await.refused(422);
    officer.get("/review?orders_before=1").await.refused(422);
    bank.is_alerted(AlertKind::Payout, "withheld").await;
    let page = officer.get(&path(&released)).await.page();
    for shown in [
        "Held by screening",
        "Zorblax Quibbleton",
        "Account holder and list entry S-1",
        "name=\"verdict\" value=\"approve\"",
        "The order continues.",
        "The decision takes effect at once.",
    ] {
        assert!(page.contains(shown), "{shown}: {page}");
    }
    assert!(!clerk.get(&path(&released)).await.page().contains("name=\"verdict\""));
    let decide = |order: &Json| format!("{}/decide", path(order));
    let approve = [("verdict", "approve"), ("why", "other birth date, passport seen")];
    clerk.post(&decide(&released), &approve).await.refused(403);
    officer.post(&decide(&released), &[("verdict", "approve"), ("why", " ")]).await.refused(422);
    officer.post(&decide(&released), &[("verdict", "perhaps"), ("why", "x")]).await.refused(422);
    bank.order_is(&released, ExchangeState::Pending).await;
    officer.post(&decide(&released), &approve).await.done();
    bank.order_is(&released, ExchangeState::Settled).await;
    let page = officer.get(&path(&rejected)).await.page();
    assert!(!page.contains("name=\"verdict\" value=\"approve\""), "{page}");
    officer.post(&decide(&rejected), &approve).await.refused(409);
    officer
        .post(&decide(&rejected), &[("verdict", "reject"), ("why", "the same person")])
        .await
        .done();
    let failed = bank.order_reaches(&wallet, rejected["order_id"].text(), "FAILED").await;
    assert_eq!(
        failed["failure_reason"].text(),
        "PAYOUT_FAILED",
        "the customer's bank learns nothing"
    );
    for order in [&released, &rejected] {
        officer.post(&decide(order), &approve).await.refused(409);
    }
    assert!(bank.bank.book(rejected["order_id"].text()).await.is_empty());
    assert_eq!(bank.balance(&wallet, "USDC").await, "90.00");
    let queue = officer.get("/review").await.page();
    assert!(
        queue.contains("No orders need a review") && queue.contains("Alerts: 0 open"),
        "{queue}"
    );
    let page = officer.get(&path(&released)).await.page();
    assert!(page.contains("review.approve") && page.contains("passport seen"), "{page}");
    bank.books_are_right().await;
}

/// Publishes a list with these entries in a file.
fn publish(file: &Path, day: &str, entries: &str) {
    let head = "uid,kind,name,aliases,weak_aliases,birthdates,countries,addresses";
    let list = format!("#corridor-sanctions name=TEST published={day}\n{head}\n{entries}");
    std::fs::write(file, list).expect("written");
}

async fn an_order_whose_holder_was_listed_since_can_only_be_rejected(on: On) {
    let dir = tempfile::tempdir().expect("a directory");
    let file = dir.path().join("list.csv");
    let near = "T-1,person,Zorblax Quibbleton,,,,,\n";
    publish(&file, "2026-11-01", near);
    let lists = format!("[{{ locations = [\"{}\"] }}]", file.display());
    let bank = WalletBank::alone(on, Setup::with_wallets().set("screening.lists", &lists)).await;
    let wallet = bank.funded("since").await;
    let order = to_holder(&bank, &wallet, "Zorblax Qibbletan").await;
    publish(&file, "2026-11-02", &format!("{near}T-2,person,Zorblax Qibbletan,,,,,\n"));
    let bank = bank.restart().await;
    let officer = Officer::of(&bank, &[Role::Compliance]).await;
    let path = format!("/orders/{}", order["order_id"].text());
    let decide = format!("{path}/decide");
    let approve = "The order continues.";
    assert!(officer.get(&path).await.page().contains(approve), "as screened at its creation");
    let form = [("verdict", "approve"), ("why", "passport seen")];
    let words = officer.post(&decide, &form).await.refused(409);
    assert!(words.contains("can only be rejected"), "{words}");
    let page = officer.get(&path).await.page();
    assert!(page.contains("100 of 100") && !page.contains(approve), "{page}");
    bank.is_alerted(AlertKind::Payout, "scored 100").await;
    officer.post(&decide, &[("verdict", "reject"), ("why", "the same person")]).await.done();
    bank.order_is(&order, ExchangeState::Failed).await;
    assert_eq!(
        (bank.alerts().await, bank.balance(&wallet, "USDC").await),
        (vec![], "100.00".to_owned())
    );
    bank.finish().await;
}

async fn an_order_whose_holder_nearly_matches_by_its_payout_waits_for_a_reviewer(on: On) {
    let dir = tempfile::tempdir().expect("a directory");
    let file = dir.path().join("list.csv");
    publish(&file, "2026-11-01", "T-1,person,Unrelated Person,,,,,\n");
    let lists = format!("[{{ locations = [\"{}\"] }}]", file.display());
    let bank = WalletBank::alone(on, Setup::with_wallets().set("screening.lists", &lists)).await;
    let faults = Faults { down: true, ..Faults::NONE };
    bank.bank.running.bank().set_faults(faults).expect("the bank runs");
    let wallet = bank.funded("late").await;
    let order = to_holder(&bank, &wallet, "Zorblax Qibbletan").await;
    let clean = to_holder(&bank, &wallet, "Ayesha Khan").await;
    bank.order_is(&order, ExchangeState::Debited).await;
    bank.order_is(&clean, ExchangeState::Debited).await;
    publish(&file, "2026-11-02", "T-2,person,Zorblax Quibbleton,,,,,\n");
    let bank = bank.restart().await;
    bank.bank.running.bank().set_faults(Faults::NONE).expect("the bank runs");
    let officer = Officer::of(&bank, &[Role::Compliance]).await;
    let path = format!("/orders/{}", order["order_id"].text());
    let is_held = async || {
        bank.bank.advance(Span::secs(15)).await;
        officer.get(&path).await.page().contains("Held by screening")
    };
    assert!(testkit::wait::until_async(AT_MOST, is_held).await);
    bank.is_alerted(AlertKind::Payout, "withheld").await;
    let page = officer.get(&path).await.page();
    for shown in ["order.screened", "Zorblax Quibbleton", "The order continues."] {
        assert!(page.contains(shown), "{shown}: {page}");
    }
    assert!(officer.get("/review").await.page().contains(&path), "it is in the queue");
    assert!(bank.bank.book(order["order_id"].text()).await.is_empty());
    let form = [("verdict", "approve"), ("why", "passport seen"), ("seen", "1")];
    let words = officer.post(&format!("{path}/decide"), &form).await.refused(409);
    assert!(words.contains("was modified after this page was loaded"), "{words}");
    officer.post(&format!("{path}/decide"), &form[..2]).await.done();
    bank.order_is(&order, ExchangeState::Settled).await;
    // What found nothing is recorded as well.
    bank.order_is(&clean, ExchangeState::Settled).await;
    let page = officer.get(&format!("/orders/{}", clean["order_id"].text())).await.page();
    assert!(page.contains("order.screened") && page.contains("scored 0"), "{page}");
    assert!(bank.alerts().await.is_empty());
    bank.finish().await;
}
