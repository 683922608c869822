//! `GET /sandbox/bank/book`: the simulated bank's own ledger.

use domain::country::Country;
use reqwest::Method;

use crate::harness::{Bank, Json, On, on_both_stores};

on_both_stores! {
    the_book_has_one_line_per_pay_out
    a_return_is_a_line_of_its_own
    the_book_is_found_by_external_id_too
    a_question_without_a_payment_is_refused
}

async fn the_book_has_one_line_per_pay_out(on: On) {
    let bank = Bank::new(on).await;
    let id = bank.paid(Country::Pak, |order| order).await;
    let record = bank.reaches(Country::Pak, &id, "succeeded").await;
    let book = bank.book(&id).await;
    assert_eq!(book.len(), 1);
    let names = [
        "kind",
        "rail",
        "end_to_end_id",
        "instruction_id",
        "uetr",
        "amount",
        "currency",
        "account",
        "beneficiary",
        "reference",
        "at",
    ];
    assert_eq!(book[0].names(), names);
    let text = |name: &str| book[0][name].text().to_owned();
    assert_eq!(
        (text("kind"), text("rail"), text("currency")),
        ("paid".into(), "pak-raast".into(), "PKR".into())
    );
    assert_eq!((text("end_to_end_id"), text("uetr")), (id.replace('-', ""), id.clone()));
    assert_eq!(book[0]["amount"], record["response"]["amount"]);
    assert_eq!(book[0]["reference"], record["response"]["bank_reference"]);
    assert_eq!(book[0]["account"], record["order"]["beneficiary_account_number"]);
}

async fn a_return_is_a_line_of_its_own(on: On) {
    let bank = Bank::new(on).await;
    let id = bank.paid(Country::Vnm, |order| order.ending(Country::Vnm, "0003")).await;
    bank.reaches(Country::Vnm, &id, "reversed").await;
    let kinds: Vec<String> =
        bank.book(&id).await.iter().map(|line| line["kind"].text().to_owned()).collect();
    assert_eq!(kinds, ["paid", "returned"]);
}

async fn the_book_is_found_by_external_id_too(on: On) {
    let bank = Bank::new(on).await;
    let external = format!("book of {}", bank.tenant.tag);
    let id = bank.paid(Country::Pak, |order| order.text("external_id", &external)).await;
    bank.reaches(Country::Pak, &id, "succeeded").await;
    let path = format!("/sandbox/bank/book?external_id={}", external.replace(' ', "%20"));
    let found = bank.unsigned(Method::GET, &path, None).send().await.ok();
    assert_eq!(found["lines"], Json::Array(bank.book(&id).await));
    let none = bank
        .unsigned(Method::GET, "/sandbox/bank/book?external_id=unknown", None)
        .send()
        .await
        .ok();
    assert_eq!(none.to_string(), r#"{"lines":[]}"#);
}

async fn a_question_without_a_payment_is_refused(on: On) {
    let bank = Bank::new(on).await;
    for (query, code) in [
        ("", "missing_query"),
        ("?payment_id=1", "payment_not_found"),
        ("?payment_id=a&payment_id=b", "invalid_query"),
    ] {
        bank.unsigned(Method::GET, &format!("/sandbox/bank/book{query}"), None)
            .send()
            .await
            .refused(400, code);
    }
}
