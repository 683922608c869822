//! The ledger's pages and reconciliation.

use domain::country::Country;
use domain::rail::RailId;
use domain::user::Role;
use testkit::bank::{Behaviour, Mistake};

use super::{has, officer};
use crate::harness::{Bank, On, Setup, on_both_stores};

on_both_stores! {
    the_trial_balance_sums_to_zero_and_leads_to_its_transfers
    the_trial_balance_is_that_of_its_time
    a_comparison_can_be_asked_for
    breaks_with_statements_and_strays_are_shown
}

async fn the_trial_balance_sums_to_zero_and_leads_to_its_transfers(on: On) {
    let bank = Bank::new(on).await;
    let id = bank.paid(Country::Pak, |order| order).await;
    bank.reaches(Country::Pak, &id, "succeeded").await;
    let treasury = officer(&bank, &[Role::Treasury]).await;
    let page = treasury.get("/ledger").await.page();
    has(
        &page,
        &[
            "sums to zero",
            "prefund:USDT",
            "external:USDT",
            "fx_position:PKR",
            "-1,000,000.000000 USDT",
        ],
    );
    assert!(!page.contains("does not sum to zero"), "{page}");
    let page = treasury.get("/ledger/account?code=prefund%3AUSDT").await.page();
    has(
        &page,
        &[
            "prefund.top_up",
            "payment.reserve",
            "payment.post",
            &format!("/payments/{id}"),
            "+1,000,000.000000 USDT",
        ],
    );
    let transfer = page
        .split_once("/ledger/transfers/")
        .expect("a link")
        .1
        .split_once('"')
        .expect("its end")
        .0;
    has(
        &treasury.get(&format!("/ledger/transfers/{transfer}")).await.page(),
        &[&id, "in_transit:USDT"],
    );
    // The page before the latest transfer has none, and leads on to it and those before it.
    let account = "/ledger/account?code=prefund%3AUSDT";
    let newer = treasury.get(&format!("{account}&before={transfer}")).await.page();
    assert!(!newer.contains("prefund.top_up") && !newer.contains("rel=\"prev\""), "{newer}");
    has(&newer, &[&format!("after={transfer}\" rel=\"next\""), "Back to the latest"]);
    let older = treasury.get(&format!("{account}&after={transfer}")).await.page();
    has(&older, &["prefund.top_up", "rel=\"prev\""]);
    treasury.get(&format!("{account}&before=nonsense")).await.refused(404);
    treasury.get("/ledger/account?code=prefund%3AUSDC").await.refused(404);
    treasury.get("/ledger/account?code=nonsense").await.refused(404);
}

async fn the_trial_balance_is_that_of_its_time(on: On) {
    let bank = Bank::new(on).await;
    bank.paid(Country::Pak, |order| order).await;
    let treasury = officer(&bank, &[Role::Treasury]).await;
    let page = treasury.get("/ledger?on=2020-01-01").await.page();
    has(&page, &["as of 2020-01-01 23:59:59", "sums to zero"]);
    assert!(!page.contains("1,000,000.000000 USDT"), "{page}");
    let page = treasury.get("/ledger?on=2999-01-01").await.page();
    has(&page, &["1,000,000.000000 USDT"]);
    treasury.get("/ledger?on=yesterday").await.refused(422);
    treasury.get("/ledger?on=2020-01-01&at=25:00").await.refused(422);
}

async fn a_comparison_can_be_asked_for(on: On) {
    let bank = Bank::new(on).await;
    let treasury = officer(&bank, &[Role::Treasury]).await;
    let to = treasury.post("/reconciliation/compare", &[]).await.done();
    let compared = testkit::wait::until_async(testkit::wait::AT_MOST, || async {
        treasury.fetch(&to).await.page().contains("No discrepancies.")
    });
    assert!(compared.await, "the service compares");
    has(
        &treasury.fetch(&to).await.page(),
        &["Accounts at rails", "No contradictory reports.", "bank statements match"],
    );
}

async fn breaks_with_statements_and_strays_are_shown(on: On) {
    let behaviour = Behaviour { statements: true, ..Behaviour::instant() };
    let bank = Bank::alone(on, Setup::new().bank(behaviour)).await;
    let id = bank.paid(Country::Pak, |order| order).await;
    bank.reaches(Country::Pak, &id, "succeeded").await;
    let treasury = officer(&bank, &[Role::Treasury]).await;
    has(&treasury.get("/reconciliation").await.page(), &["No bank statement (camt.053) received"]);
    let end_to_end = id.replace('-', "");
    assert!(
        bank.running.bank().close_statements(Some((Mistake::Twice, &end_to_end))).expect("made")
    );
    let kept = || async { !bank.running.store().covered().await.expect("read").is_empty() };
    assert!(
        testkit::wait::until_async(testkit::wait::AT_MOST, kept).await,
        "the statement is kept"
    );
    treasury.post("/reconciliation/compare", &[]).await.done();
    let shown =
        || async { treasury.get("/reconciliation").await.page().contains("is booked 2 times") };
    assert!(testkit::wait::until_async(testkit::wait::AT_MOST, shown).await, "the break is shown");
    let link = format!("/search?q={id}");
    has(
        &treasury.get("/reconciliation").await.page(),
        &[
            "Bank statement discrepancies: 1",
            &link,
            "Every report matches a payment.",
            "pak-raast",
            "PKR",
        ],
    );
    let alerts = treasury.get("/alerts").await.page();
    has(&alerts, &["rail mismatch", &link]);
    bank.running
        .store()
        .keep_strays(
            &RailId::new("pak-raast"),
            &["pain.002 B-9: <odd>".to_owned().into()],
            &[],
            bank.running.now(),
        )
        .await
        .expect("kept");
    has(
        &treasury.get("/reconciliation").await.page(),
        &["Unmatched reports: 1", "pain.002 B-9: &#60;odd&#62;"],
    );
    drop(treasury);
    bank.finish().await;
}
