//! Access to sandbox controls: open in `mock`, with a token in `test`, unavailable in production.

use domain::country::Country;
use reqwest::Method;

use crate::harness::{Bank, On, Setup, on_both_stores};

on_both_stores! {
    a_test_service_wants_a_token
    a_test_service_isolates_tenants_payments
    one_of_several_tenants_moves_no_clock
}

/// Environment `test`, with a rail that is always open.
fn testing() -> Setup {
    Setup::new().set("environment", "test").set("limits.enabled", "false")
}

async fn a_test_service_wants_a_token(on: On) {
    let bank = Bank::alone(on, testing()).await;
    let id = bank.paid(Country::Pak, |order| order).await;
    bank.reaches(Country::Pak, &id, "succeeded").await;
    for (method, path) in [
        (Method::GET, format!("/sandbox/bank/book?payment_id={id}")),
        (Method::POST, format!("/sandbox/payments/{id}/reversed")),
        (Method::GET, "/sandbox/clock".to_owned()),
        (Method::POST, "/sandbox/clock?seconds=1".to_owned()),
    ] {
        bank.unsigned(method.clone(), &path, None).send().await.refused(401, "unauthorized");
        bank.call(method, &path, None).send().await.ok();
    }
    bank.reaches(Country::Pak, &id, "reversed").await;
    bank.finish().await;
}

async fn a_test_service_isolates_tenants_payments(on: On) {
    let bank = Bank::alone(on, testing()).await;
    let other = Bank::at(&bank.running).await;
    let id = bank.paid(Country::Pak, |order| order.text("external_id", "mine")).await;
    bank.reaches(Country::Pak, &id, "succeeded").await;
    let by_id = format!("/sandbox/bank/book?payment_id={id}");
    let by_external = "/sandbox/bank/book?external_id=mine";
    other.get(&by_id).send().await.refused(400, "payment_not_found");
    assert_eq!(other.get(by_external).send().await.ok()["lines"].items(), []);
    let steer = format!("/sandbox/payments/{id}/reversed");
    other.call(Method::POST, &steer, None).send().await.refused(400, "payment_not_found");
    assert_eq!(bank.get(&by_id).send().await.ok()["lines"].items().len(), 1);
    assert_eq!(bank.get(by_external).send().await.ok()["lines"].items().len(), 1);
    drop(other);
    bank.finish().await;
}

/// A year ahead would end the payments of all.
async fn one_of_several_tenants_moves_no_clock(on: On) {
    let bank = Bank::alone(on, testing()).await;
    let advance = "/sandbox/clock?seconds=1";
    bank.call(Method::POST, advance, None).send().await.ok();
    let other = Bank::at(&bank.running).await;
    for caller in [&bank, &other] {
        caller.call(Method::POST, advance, None).send().await.refused(403, "shared_clock");
        caller.get("/sandbox/clock").send().await.ok();
    }
    drop(other);
    bank.finish().await;
}
