//! Rate limits: the three headers on every response, and 429 beyond the limit.

use domain::country::Country;
use domain::currency::Currency;
use domain::policy::Environment;
use reqwest::Method;
use service::tenancy::KeyService;
use testkit::wait::AT_MOST;

use crate::harness::{Answer, Bank, On, Setup, on_both_stores};

on_both_stores! {
    the_default_limits_are_those_of_the_decisions
    a_burst_is_granted_and_then_refused_until_time_has_passed
    keys_and_groups_of_operations_have_buckets_of_their_own
    what_is_not_authenticated_costs_no_key_anything
    mock_shows_full_buckets_and_refuses_no_request
}

const LIMIT: &str = "x-ratelimit-limit";
const REMAINING: &str = "x-ratelimit-remaining";
const RESET: &str = "x-ratelimit-reset";

fn limited() -> Setup {
    let setup = Setup::new().set("environment", "test");
    let setup = setup.set("limits.quote_per_s", "1").set("limits.quote_burst", "3");
    setup.set("limits.list_per_s", "1").set("limits.list_burst", "1")
}

fn shown(answer: &Answer) -> [&str; 3] {
    [LIMIT, REMAINING, RESET].map(|name| answer.header(name).expect("the header"))
}

async fn quote(bank: &Bank) -> Answer {
    bank.quote_call(Country::Pak, Currency::Aed, "100").send().await
}

async fn the_default_limits_are_those_of_the_decisions(on: On) {
    let bank = Bank::alone(on, Setup::new().set("environment", "test")).await;
    let answer = quote(&bank).await;
    assert_eq!(shown(&answer), ["60", "59", "1"]);
    let id = answer.ok()["id"].text().to_owned();
    assert_eq!(shown(&bank.post("/v2/payment", "{}").send().await), ["50", "49", "1"]);
    assert_eq!(
        shown(&bank.get(&format!("/v2/quote/{id}?country=PAK")).send().await),
        ["50", "49", "1"]
    );
    assert_eq!(shown(&bank.get("/v2/payments?country=PAK").send().await), ["5", "4", "1"]);
    bank.finish().await;
}

async fn a_burst_is_granted_and_then_refused_until_time_has_passed(on: On) {
    // A slow bucket: it does not refill during the burst.
    let bank = Bank::alone(on, limited().set("limits.quote_burst", "20")).await;
    let mut granted = 0;
    let refused = loop {
        let answer = quote(&bank).await;
        if answer.status == 429 {
            break answer;
        }
        answer.ok();
        granted += 1;
        assert!(granted < 1_000, "no limit");
    };
    assert!(granted >= 20, "{granted}");
    refused.refused(429, "rate_limited");
    assert_eq!((refused.header("retry-after"), refused.header(REMAINING)), (Some("1"), Some("0")));
    let reset: u32 = refused.header(RESET).expect("the header").parse().expect("seconds");
    assert!((19..=20).contains(&reset), "{reset}");
    let again = || async { quote(&bank).await.status == 200 };
    assert!(testkit::wait::until_async(AT_MOST, again).await);
    bank.finish().await;
}

async fn keys_and_groups_of_operations_have_buckets_of_their_own(on: On) {
    let bank = Bank::alone(on, limited().set("limits.list_per_s", "1")).await;
    while bank.get("/v2/payments?country=PAK").send().await.status != 429 {}
    quote(&bank).await.ok();
    let second = bank.with_key(bank.another_key(Environment::Test, KeyService::Pay).await);
    second.get("/v2/payments?country=PAK").send().await.ok();
    drop(second);
    bank.finish().await;
}

async fn what_is_not_authenticated_costs_no_key_anything(on: On) {
    let bank = Bank::alone(on, limited()).await;
    for _ in 0..10 {
        let unsigned = bank.unsigned(Method::POST, "/v2/quote", Some(b"{}".to_vec())).send().await;
        unsigned.refused(401, "unauthorized");
        assert_eq!(shown(&unsigned), ["3", "3", "0"]);
    }
    assert_eq!(shown(&quote(&bank).await), ["3", "2", "1"]);
    bank.finish().await;
}

async fn mock_shows_full_buckets_and_refuses_no_request(on: On) {
    let bank = Bank::new(on).await;
    for _ in 0..30 {
        let answer = bank.get("/v2/payments?country=PAK").send().await;
        answer.ok();
        assert_eq!(shown(&answer), ["5", "5", "0"]);
    }
}
