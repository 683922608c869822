//! Paths and methods that no operation has.

use reqwest::Method;

use crate::harness::{Bank, On, on_both_stores};

on_both_stores! {
    an_unknown_path_is_not_found
    another_method_is_not_allowed
}

async fn an_unknown_path_is_not_found(on: On) {
    let bank = Bank::new(on).await;
    for path in [
        "/",
        "/v2",
        "/v2/",
        "/v2/quotes",
        "/v2/quote/",
        "/v2/quote/1/2",
        "/v2/payment/1",
        "/v2/payments/1/2",
        "/V2/payments",
        "/v1/payments",
        "/v2/../v2/payments",
        "/v2//payments",
        "/v2/payments;x=1",
        "/wp-login.php",
    ] {
        for answer in [bank.get(path).send().await, bank.unsigned(Method::POST, path, None).send().await] {
            // The client folds dot segments before it sends.
            if path != "/v2/../v2/payments" {
                answer.refused(404, "not_found");
            }
        }
    }
}

async fn another_method_is_not_allowed(on: On) {
    let bank = Bank::new(on).await;
    let id = "6f0c7ac6-53b5-4d3a-9d9e-0123456789ab";
    for (method, path, allow) in [
        (Method::GET, "/v2/quote".to_owned(), "POST"),
        (Method::PUT, "/v2/quote".to_owned(), "POST"),
        (Method::GET, "/v2/payment".to_owned(), "POST"),
        (Method::PATCH, "/v2/payment".to_owned(), "POST"),
        (Method::DELETE, format!("/v2/quote/{id}"), "GET,HEAD"),
        (Method::POST, format!("/v2/payments/{id}"), "GET,HEAD"),
        (Method::POST, "/v2/payments".to_owned(), "GET,HEAD"),
        (Method::POST, "/v2/events".to_owned(), "GET,HEAD"),
        (Method::TRACE, "/v2/events".to_owned(), "GET,HEAD"),
        (Method::POST, "/livez".to_owned(), "GET,HEAD"),
    ] {
        let answer = bank.call(method, &path, None).send().await;
        answer.refused(405, "method_not_allowed");
        assert_eq!(answer.header("allow"), Some(allow), "{path}");
    }
}
