//! Cancelling and recalling payments in the console: each on a page that states the consequences.

use domain::country::Country;
use domain::currency::StableCoin;
use domain::ledger::AccountCode;
use domain::time::Span;
use domain::user::Role;
use testkit::wait::AT_MOST;

use super::{has, lacks, officer};
use crate::harness::client::PREFUND_MINOR;
use crate::harness::{Bank, On, Setup, on_both_stores};

on_both_stores! {
    an_operator_cancels_a_payment_that_no_rail_has
    an_operator_recalls_a_payment_and_sees_the_answer
    an_unanswered_recall_is_closed
}

/// A near match of the sample list: held for review, so that no rail gets it.
const ALIKE: &str = "Zorblax Qibbletan";

async fn reaches(bank: &Bank, id: &str, recall: &str) {
    let there = testkit::wait::until_async(AT_MOST, || async {
        let record = bank.record(Country::Pak, id).await;
        record["response"].get("recall_status").is_some_and(|it| it.text() == recall)
    });
    assert!(there.await, "{}", bank.record(Country::Pak, id).await["response"]);
}

/// What is reserved of the tenant's prefund, and whether anything of it is spent.
async fn prefund(bank: &Bank) -> (i64, bool) {
    let accounts = bank.running.store().accounts(bank.tenant.id).await.expect("read");
    let code = AccountCode::Prefund(StableCoin::Usdt);
    let account = accounts.iter().find(|it| it.code == code).expect("a prefund");
    let spent = account.available().minor + account.debits_pending < PREFUND_MINOR;
    (account.debits_pending, spent)
}

async fn an_operator_cancels_a_payment_that_no_rail_has(on: On) {
    let bank = Bank::new(on).await;
    let id = bank.paid(Country::Pak, |order| order.from(ALIKE)).await;
    let operator = officer(&bank, &[Role::Operator]).await;
    let story = operator.get(&format!("/payments/{id}")).await.page();
    has(&story, &["Cancel the payment", &format!("/payments/{id}/cancel")]);
    lacks(&story, &["Recall the payment"]);
    let page = operator.get(&format!("/payments/{id}/cancel")).await.page();
    has(&page, &["Cancel this payment?", "The reserved amount is released", "cannot be undone"]);
    let viewer = officer(&bank, &[Role::Viewer]).await;
    lacks(&viewer.get(&format!("/payments/{id}")).await.page(), &["Cancel the payment"]);
    viewer.get(&format!("/payments/{id}/cancel")).await.refused(403);
    viewer.post(&format!("/payments/{id}/cancel"), &[("why", "x")]).await.refused(403);
    operator.post(&format!("/payments/{id}/cancel"), &[("why", "")]).await.refused(422);
    operator.post(&format!("/payments/{id}/cancel"), &[("why", "ordered twice")]).await.done();
    let story = operator.get(&format!("/payments/{id}")).await.page();
    has(
        &story,
        &[
            "<span class=\"state bad\">Cancelled</span>",
            "It was cancelled before any rail had it, and nothing was paid.",
            "ordered twice",
            "payment.void",
        ],
    );
    lacks(&story, &["Cancel the payment", "Recall the payment", "In review"]);
    operator.get(&format!("/payments/{id}/cancel")).await.refused(409);
    let record = bank.record(Country::Pak, &id).await;
    assert_eq!(record["response"]["status"].text(), "reversed");
    assert_eq!(bank.history(&id).await, ["payment.queued", "payment.updated", "payment.reversed"]);
    assert_eq!(prefund(&bank).await, (0, false), "the hold is released");
    assert!(bank.book(&id).await.is_empty());
}

async fn an_operator_recalls_a_payment_and_sees_the_answer(on: On) {
    let bank = Bank::new(on).await;
    let operator = officer(&bank, &[Role::Operator]).await;
    let id = bank.paid(Country::Pak, |order| order.ending(Country::Pak, "0013")).await;
    bank.reaches(Country::Pak, &id, "succeeded").await;
    has(&operator.get(&format!("/payments/{id}")).await.page(), &["Recall the payment"]);
    let to = format!("/payments/{id}/recall");
    let page = operator.get(&to).await.page();
    has(&page, &["Recall this payment?", "Nothing is booked until the money is back", "FRAD"]);
    operator.post(&to, &[("why", "call of the payer")]).await.refused(422);
    let long = "x".repeat(106);
    operator.post(&to, &[("code", "FRAD"), ("text", &long), ("why", "x")]).await.refused(422);
    let form = [("code", "FRAD"), ("text", "The payer was deceived"), ("why", "call of the payer")];
    operator.post(&to, &form).await.done();
    reaches(&bank, &id, "refused").await;
    let story = operator.get(&format!("/payments/{id}")).await.page();
    has(
        &story,
        &[
            "refused the recall",
            "LEGL",
            "The payer was deceived",
            "call of the payer",
            "<span class=\"state good\">Paid</span></h1>",
            "<span class=\"state bad\">Refused</span>",
        ],
    );
    assert_eq!(bank.history(&id).await[3..], ["payment.updated", "payment.updated"]);
    assert_eq!(prefund(&bank).await, (0, true), "what was paid stays paid");
    let failed = bank.paid(Country::Pak, |order| order.ending(Country::Pak, "0001")).await;
    bank.reaches(Country::Pak, &failed, "failed").await;
    lacks(&operator.get(&format!("/payments/{failed}")).await.page(), &["Recall the payment"]);
    operator.get(&format!("/payments/{failed}/recall")).await.refused(409);
}

async fn an_unanswered_recall_is_closed(on: On) {
    let bank = Bank::alone(on, Setup::new()).await;
    let operator = officer(&bank, &[Role::Operator]).await;
    let id = bank.paid(Country::Pak, |order| order.ending(Country::Pak, "0015")).await;
    bank.reaches(Country::Pak, &id, "succeeded").await;
    let to = format!("/payments/{id}/recall");
    operator.post(&to, &[("code", "CUST"), ("why", "changed their mind")]).await.done();
    reaches(&bank, &id, "sent").await;
    // Nothing to close while the bank has time.
    let page = operator.get(&to).await.page();
    has(&page, &["Recall: waiting for the bank"]);
    lacks(&page, &["Close the recall"]);
    operator.post(&format!("{to}/close"), &[("why", "no use")]).await.refused(409);
    bank.advance(Span::days(15)).await;
    reaches(&bank, &id, "unanswered").await;
    has(&operator.get("/alerts").await.page(), &["has not been answered in time", &id]);
    // Advancing the clock may have ended the session's window: a new one acts.
    let operator = officer(&bank, &[Role::Operator]).await;
    has(&operator.get(&to).await.page(), &["Recall: no answer", "Close the recall"]);
    operator.post(&format!("{to}/close"), &[("why", "the bank says no")]).await.done();
    let story = operator.get(&format!("/payments/{id}")).await.page();
    has(&story, &["The recall is closed", "the bank says no", "Recall the payment"]);
    lacks(&operator.get("/alerts").await.page(), &["has not been answered in time"]);
    assert_eq!(prefund(&bank).await, (0, true), "a closed recall books nothing");
    bank.finish().await;
}
