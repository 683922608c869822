//! `POST /sandbox/payments/{id}/{state}`: setting a payment's outcome.

use domain::country::Country;
use reqwest::Method;

use crate::harness::{Answer, Bank, On, on_both_stores};

on_both_stores! {
    a_payment_on_its_way_can_be_made_to_end_in_every_way
    a_payment_that_succeeded_can_be_returned
    an_unknown_payment_can_be_cleared_up
    what_a_bank_cannot_do_is_refused
}

async fn steer(bank: &Bank, id: &str, state: &str) -> Answer {
    bank.unsigned(Method::POST, &format!("/sandbox/payments/{id}/{state}"), None).send().await
}

/// A payment that is pending at the bank.
async fn waiting(bank: &Bank) -> String {
    let id = bank.paid(Country::Pak, |order| order.ending(Country::Pak, "0005")).await;
    bank.reaches(Country::Pak, &id, "processing").await;
    id
}

async fn a_payment_on_its_way_can_be_made_to_end_in_every_way(on: On) {
    let bank = Bank::new(on).await;
    for (state, reached, lines) in [
        ("succeeded", "succeeded", 1),
        ("failed", "failed", 0),
        ("canceled", "reversed", 0),
        ("unknown", "unknown", 0),
    ] {
        let id = waiting(&bank).await;
        assert_eq!(steer(&bank, &id, state).await.ok().names(), ["bank_status"]);
        bank.reaches(Country::Pak, &id, reached).await;
        assert_eq!(bank.book(&id).await.len(), lines, "{state}");
    }
}

async fn a_payment_that_succeeded_can_be_returned(on: On) {
    let bank = Bank::new(on).await;
    let id = bank.paid(Country::Pak, |order| order).await;
    bank.reaches(Country::Pak, &id, "succeeded").await;
    steer(&bank, &id, "reversed").await.ok();
    bank.reaches(Country::Pak, &id, "reversed").await;
    assert_eq!(
        bank.history(&id).await,
        ["payment.queued", "payment.processing", "payment.succeeded", "payment.reversed"]
    );
}

async fn an_unknown_payment_can_be_cleared_up(on: On) {
    let bank = Bank::new(on).await;
    for (state, reached) in
        [("succeeded", "succeeded"), ("failed", "failed"), ("canceled", "reversed")]
    {
        let id = bank.paid(Country::Pak, |order| order.ending(Country::Pak, "0004")).await;
        bank.reaches(Country::Pak, &id, "unknown").await;
        steer(&bank, &id, state).await.ok();
        bank.reaches(Country::Pak, &id, reached).await;
    }
}

async fn what_a_bank_cannot_do_is_refused(on: On) {
    let bank = Bank::new(on).await;
    let id = bank.paid(Country::Pak, |order| order).await;
    bank.reaches(Country::Pak, &id, "succeeded").await;
    for state in ["succeeded", "failed", "canceled", "unknown"] {
        steer(&bank, &id, state).await.refused(409, "illegal_move");
    }
    steer(&bank, &id, "paid").await.refused(400, "unknown_state");
    steer(&bank, "1", "failed").await.refused(400, "payment_not_found");
    let nowhere = steer(&bank, "6f0c7ac6-53b5-4d3a-9d9e-0123456789ab", "failed").await;
    nowhere.refused(409, "not_at_the_bank");
    assert_eq!(nowhere.header("retry-after"), Some("1"));
}
