//! `X-Request-Id`: the caller's if valid, on every response and in every error body.

use reqwest::Method;

use crate::harness::{Bank, On, on_both_stores};

on_both_stores! {
    a_valid_id_is_echoed_and_stands_in_the_error
    another_id_is_replaced
    every_answer_has_one
}

async fn a_valid_id_is_echoed_and_stands_in_the_error(on: On) {
    let bank = Bank::new(on).await;
    for id in ["a", "req-1.2_B", &"x".repeat(128), "8e03978e-40d5-43dd-bc93-6894a57f9324"] {
        let good = bank.get("/v2/payments?country=PAK").header("x-request-id", id).send().await;
        assert_eq!(good.header("x-request-id"), Some(id));
        let unknown = "/v2/quote/6f0c7ac6-53b5-4d3a-9d9e-0123456789ab?country=PAK";
        let refused = bank.get(unknown).header("x-request-id", id).send().await;
        assert_eq!(refused.refused(400, "quote_not_found")["request_id"].text(), id);
    }
}

async fn another_id_is_replaced(on: On) {
    let bank = Bank::new(on).await;
    for id in ["", "a b", "a/b", "a\"b", "{}", "é", &"x".repeat(129), "<script>"] {
        let answer = bank.get("/v2/payments?country=PAK").header("x-request-id", id).send().await;
        let given = answer.header("x-request-id").expect("an id");
        assert!(given != id && uuid::Uuid::parse_str(given).is_ok(), "{given}");
    }
}

async fn every_answer_has_one(on: On) {
    let bank = Bank::new(on).await;
    for (method, path) in [
        (Method::GET, "/livez"),
        (Method::GET, "/readyz"),
        (Method::GET, "/metrics"),
        (Method::GET, "/none"),
        (Method::DELETE, "/v2/quote"),
        (Method::GET, "/sandbox/clock"),
        (Method::POST, "/v2/quote"),
    ] {
        let answer = bank.unsigned(method, path, None).header("x-request-id", "mine").send().await;
        assert_eq!(answer.header("x-request-id"), Some("mine"), "{path}");
    }
}
