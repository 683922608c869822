//! `GET /v2/payments/{id}`

use domain::country::Country;

use crate::harness::{Bank, On, on_both_stores};

on_both_stores! {
    a_payment_is_found_by_its_id_and_by_the_callers
    an_unknown_payment_is_not_found
    a_payment_of_another_country_is_not_found
    an_id_is_no_external_id_and_the_other_way_round
    path_and_query_are_held_to_their_rules
    an_answer_repeats_until_something_changes
}

const UNKNOWN: &str = "6f0c7ac6-53b5-4d3a-9d9e-0123456789ab";

async fn a_payment_is_found_by_its_id_and_by_the_callers(on: On) {
    let bank = Bank::new(on).await;
    let id = bank.paid(Country::Pak, |order| order.text("external_id", "A/B 1?ü")).await;
    let record = bank.reaches(Country::Pak, &id, "succeeded").await;
    for path in [
        format!("/v2/payments/{id}?country=PAK"),
        format!("/v2/payments/{id}?country=PAK&external=false"),
        format!("/v2/payments/{}?external=0&country=PAK", id.to_uppercase()),
        "/v2/payments/A%2FB%201%3F%C3%BC?country=PAK&external=true".to_owned(),
        "/v2/payments/%20A%2FB%201%3F%C3%BC%20?country=PAK&external=1".to_owned(),
    ] {
        assert_eq!(bank.get(&path).send().await.ok(), record, "{path}");
    }
}

async fn an_unknown_payment_is_not_found(on: On) {
    let bank = Bank::new(on).await;
    for path in [
        format!("/v2/payments/{UNKNOWN}?country=PAK"),
        "/v2/payments/none?country=PAK&external=true".to_owned(),
    ] {
        bank.get(&path).send().await.refused(400, "payment_not_found");
    }
}

async fn a_payment_of_another_country_is_not_found(on: On) {
    let bank = Bank::new(on).await;
    let id = bank.paid(Country::Pak, |order| order.text("external_id", "mine")).await;
    for path in [
        format!("/v2/payments/{id}?country=IND"),
        "/v2/payments/mine?country=VNM&external=true".to_owned(),
    ] {
        bank.get(&path).send().await.refused(400, "payment_not_found");
    }
}

async fn an_id_is_no_external_id_and_the_other_way_round(on: On) {
    let bank = Bank::new(on).await;
    let id = bank.paid(Country::Pak, |order| order.text("external_id", UNKNOWN)).await;
    bank.get(&format!("/v2/payments/{UNKNOWN}?country=PAK"))
        .send()
        .await
        .refused(400, "payment_not_found");
    bank.get(&format!("/v2/payments/{id}?country=PAK&external=true"))
        .send()
        .await
        .refused(400, "payment_not_found");
    let found =
        bank.get(&format!("/v2/payments/{UNKNOWN}?country=PAK&external=true")).send().await.ok();
    assert_eq!(found["id"].text(), id);
}

async fn path_and_query_are_held_to_their_rules(on: On) {
    let bank = Bank::new(on).await;
    let long = "x".repeat(129);
    for (path, expected) in [
        (format!("/v2/payments/{UNKNOWN}"), &["query.country missing"][..]),
        (format!("/v2/payments/{UNKNOWN}?country=PK"), &["query.country enum"]),
        (
            format!("/v2/payments/{UNKNOWN}?country=PAK&external=yes-no"),
            &["query.external bool_parsing"],
        ),
        (
            format!("/v2/payments/{UNKNOWN}?external=2"),
            &["query.country missing", "query.external bool_parsing"],
        ),
        (
            format!("/v2/payments/{UNKNOWN}?country=PAK&country=IND"),
            &["query.country multiple_values"],
        ),
        ("/v2/payments/INV-1?country=PAK".to_owned(), &["path.id uuid_parsing"]),
        ("/v2/payments/%20?country=PAK&external=true".to_owned(), &["path.id string_too_short"]),
        (format!("/v2/payments/{long}?country=PAK&external=true"), &["path.id string_too_long"]),
        ("/v2/payments/a%00b?country=PAK&external=true".to_owned(), &["path.id control_character"]),
    ] {
        assert_eq!(bank.get(&path).send().await.fault_kinds(), expected, "{path}");
    }
}

async fn an_answer_repeats_until_something_changes(on: On) {
    let bank = Bank::new(on).await;
    let id = bank.paid(Country::Pak, |order| order.ending(Country::Pak, "0005")).await;
    let first = bank.reaches(Country::Pak, &id, "processing").await;
    assert_eq!(bank.record(Country::Pak, &id).await, first);
}
