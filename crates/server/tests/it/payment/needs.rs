//! `POST /v2/payment`: fields that the selected rail requires.

use domain::country::Country;
use domain::currency::Currency;

use crate::harness::{Bank, On, Setup, on_both_stores};

on_both_stores! {
    a_rail_that_needs_the_date_of_birth_asks_for_it
    a_rail_that_needs_the_documents_expiry_asks_for_it
    a_rail_that_needs_the_local_code_asks_for_it
    a_default_local_code_stands_in
    a_name_that_no_rail_can_say_is_refused
}

fn pakistan_needs(need: &str) -> Setup {
    ["pak-raast", "pak-ibft", "pak-rtgs"].into_iter().fold(Setup::new(), |setup, rail| {
        setup.set(&format!("rails.{rail}.needs"), &format!("[\"{need}\"]"))
    })
}

async fn a_rail_that_needs_the_date_of_birth_asks_for_it(on: On) {
    let bank = Bank::alone(on, pakistan_needs("sender_birthdate")).await;
    let order = bank.any_quote().await.order();
    bank.pay(&order.clone().without("sender_birthdate"))
        .await
        .fault("body.sender_birthdate", "missing");
    bank.pay(&order.clone().text("sender_birthdate", " "))
        .await
        .fault("body.sender_birthdate", "missing");
    bank.pay(&order).await.ok();
    bank.finish().await;
}

async fn a_rail_that_needs_the_documents_expiry_asks_for_it(on: On) {
    let bank = Bank::alone(on, pakistan_needs("sender_identity_doc_exp")).await;
    let order = bank.any_quote().await.order();
    let without = order.clone().without("sender_identity_doc_exp");
    bank.pay(&without).await.fault("body.sender_identity_doc_exp", "missing");
    bank.pay(&order).await.ok();
    bank.finish().await;
}

async fn a_rail_that_needs_the_local_code_asks_for_it(on: On) {
    let bank = Bank::new(on).await;
    let order = bank.quote(Country::Ind, Currency::Aed, "100").await.order();
    // A BIC that is not in the bank directory, and no default.
    let unknown = order.clone().text("bank_branch_code", "UTIBINBB");
    bank.pay(&unknown).await.fault("body.bank_branch_code", "branch_code_required");
    bank.pay(&order.text("bank_branch_code", "UTIB0000001")).await.ok();
}

async fn a_default_local_code_stands_in(on: On) {
    let bank =
        Bank::alone(on, Setup::new().set("corridors.IND.default_local_code", "hdfc0000240")).await;
    let id = bank.paid(Country::Ind, |order| order.text("bank_branch_code", "UTIBINBB")).await;
    let order = &bank.record(Country::Ind, &id).await["order"];
    assert_eq!(order["bank_branch_code"].text(), "HDFC0000240");
    bank.finish().await;
}

/// `corridors.md`, "Character sets": a payment whose names would be lost or garbled is refused.
async fn a_name_that_no_rail_can_say_is_refused(on: On) {
    let setup = Setup::new().set("rails.egy-ach.character_set", "unicode");
    let bank = Bank::alone(on, setup).await;
    let rare = "\u{3200C}";
    for field in ["beneficiary_name", "sender_name"] {
        let order = bank.any_quote().await.order();
        let refused = bank.pay(&order.clone().text(field, &format!("Asha {rare}"))).await;
        refused.fault(&format!("body.{field}"), "unsupported_characters");
        bank.pay(&order.text(field, "李小龍")).await.ok();
    }
    // If one rail supports the characters, that rail pays.
    bank.paid(Country::Egy, |order| order.text("beneficiary_name", rare)).await;
    bank.finish().await;
}
