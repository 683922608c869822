//! Rates, and price changes by two users.

use domain::country::Country;
use domain::currency::Currency;
use domain::user::Role;

use super::{has, lacks, officer};
use crate::harness::{Bank, On, on_both_stores};

on_both_stores! {
    rates_are_shown_with_their_age_and_margin
    prices_are_proposed_by_one_and_approved_by_another
    prices_have_bounds
}

async fn rates_are_shown_with_their_age_and_margin(on: On) {
    let bank =
        Bank::agreed(on, |policy| _ = policy.margin_bps_by_country.insert(Country::Ind, 123)).await;
    let viewer = officer(&bank, &[Role::Viewer]).await;
    let page = viewer.get("/rates").await.page();
    has(&page, &["embedded rates of the sandbox", "USDT → PKR", "in use"]);
    has(&viewer.get("/rates?country=IND").await.page(), &["AED → INR", "123"]);
    viewer.get("/rates?country=XXX").await.refused(404);
}

/// Form fields with these margins.
fn form<'a>(margin: &'a str, to_ind: &'a str, why: &'a str) -> [(&'a str, &'a str); 5] {
    [("premium", "30"), ("margin", margin), ("spread", "50"), ("margin_IND", to_ind), ("why", why)]
}

async fn prices_are_proposed_by_one_and_approved_by_another(on: On) {
    let bank = Bank::new(on).await;
    let (maker, checker) =
        (officer(&bank, &[Role::Treasury]).await, officer(&bank, &[Role::Approver]).await);
    let before = bank.quote(Country::Ind, Currency::Aed, "100").await.0["rate"].number().to_owned();
    has(&maker.get("/rates").await.page(), &["Propose new prices"]);
    let approval = maker.post("/rates/pricing", &form("10", "900", "new agreement")).await.done();
    assert!(approval.starts_with("/console/approvals/"), "{approval}");
    lacks(&maker.get("/rates").await.page(), &["Propose new prices"]);
    has(&maker.get("/rates").await.page(), &["Proposed by", "new agreement"]);
    let same = bank.quote(Country::Ind, Currency::Aed, "100").await.0["rate"].number().to_owned();
    assert_eq!(same, before, "nothing has changed yet");
    let approve = format!("{approval}/approve");
    let refused = maker.send(&approve, &[("why", "me too")]).await;
    assert!([403, 409].contains(&refused.status), "proposers cannot approve: {refused:?}");
    checker.send(&approve, &[("why", "agreed")]).await.done();
    let tenant = bank.running.store().tenant(bank.tenant.id).await.expect("read").expect("there");
    assert_eq!((tenant.policy.margin_bps, tenant.policy.margin_bps_for(Country::Ind)), (10, 900));
    has(&maker.get("/rates?country=IND").await.page(), &["900"]);
}

async fn prices_have_bounds(on: On) {
    let bank = Bank::new(on).await;
    let maker = officer(&bank, &[Role::Treasury]).await;
    for wrong in [
        form("10000", "", "x"),
        form("-1", "", "x"),
        form("", "", "x"),
        form("1", "9999999999", "x"),
        form("1", "2", ""),
    ] {
        maker.post("/rates/pricing", &wrong).await.refused(422);
    }
}
