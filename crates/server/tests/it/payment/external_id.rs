//! `POST /v2/payment`: the external id.

use domain::country::Country;

use crate::harness::{Bank, On, on_both_stores};

on_both_stores! {
    a_taken_external_id_names_the_payment_that_has_it
    an_external_id_is_taken_for_ever
    an_external_id_is_unique_per_tenant_only
    a_refused_order_takes_no_external_id
    external_ids_are_compared_exactly
    one_of_many_payments_at_once_gets_the_external_id
}

async fn a_taken_external_id_names_the_payment_that_has_it(on: On) {
    let bank = Bank::new(on).await;
    let first = bank.paid(Country::Pak, |order| order.text("external_id", "INV-1")).await;
    let quote = bank.quote(Country::Ind, domain::currency::Currency::Eur, "100").await;
    let fault = bank.pay(&quote.order().text("external_id", " INV-1 ")).await;
    let fault = fault.fault("body.external_id", "external_id_conflict");
    assert_eq!(fault.ctx["payment_id"].text(), first);
    bank.pay(&quote.order().text("external_id", "INV-2")).await.ok();
}

async fn an_external_id_is_taken_for_ever(on: On) {
    let bank = Bank::new(on).await;
    let edit = |order: crate::harness::Order| {
        order.text("external_id", "A/B C?&#%é").ending(Country::Pak, "0001")
    };
    let first = bank.paid(Country::Pak, edit).await;
    bank.reaches(Country::Pak, &first, "failed").await;
    let again = bank.pay(&bank.any_quote().await.order().text("external_id", "A/B C?&#%é")).await;
    again.fault("body.external_id", "external_id_conflict");
}

async fn an_external_id_is_unique_per_tenant_only(on: On) {
    let (bank, other) = (Bank::new(on).await, Bank::new(on).await);
    let mine = bank.paid(Country::Pak, |order| order.text("external_id", "same")).await;
    let theirs = other.paid(Country::Pak, |order| order.text("external_id", "same")).await;
    assert_ne!(mine, theirs);
    for (bank, id) in [(&bank, &mine), (&other, &theirs)] {
        let found = bank.get("/v2/payments/same?country=PAK&external=true").send().await.ok();
        assert_eq!(found["id"].text(), *id);
    }
}

async fn a_refused_order_takes_no_external_id(on: On) {
    let bank = Bank::new(on).await;
    let quote = bank.any_quote().await;
    let order = quote.order().text("external_id", "once");
    bank.pay(&order.clone().with("amount", "1")).await.fault("body.amount", "amount_mismatch");
    bank.get("/v2/payments/once?country=PAK&external=true")
        .send()
        .await
        .refused(400, "payment_not_found");
    bank.pay(&order).await.ok();
}

async fn external_ids_are_compared_exactly(on: On) {
    let bank = Bank::new(on).await;
    for id in ["inv", "INV", "in v", "inv%", "in_", "ınv", "e\u{301}", "é"] {
        let payment = bank.paid(Country::Pak, |order| order.text("external_id", id)).await;
        let path: String = id.bytes().map(|byte| format!("%{byte:02X}")).collect();
        let found =
            bank.get(&format!("/v2/payments/{path}?country=PAK&external=true")).send().await.ok();
        assert_eq!(found["id"].text(), payment, "{id}");
    }
}

async fn one_of_many_payments_at_once_gets_the_external_id(on: On) {
    let bank = Bank::new(on).await;
    let quotes = futures_util::future::join_all((0..8).map(|_| bank.any_quote())).await;
    let calls =
        quotes.iter().map(|quote| bank.pay_call(&quote.order().text("external_id", "race")).send());
    let answers = futures_util::future::join_all(calls).await;
    let accepted: Vec<_> = answers.iter().filter(|answer| answer.status == 200).collect();
    assert_eq!(accepted.len(), 1, "{answers:?}");
    let id = accepted[0].ok()["id"].clone();
    for answer in answers.iter().filter(|answer| answer.status != 200) {
        assert_eq!(answer.fault("body.external_id", "external_id_conflict").ctx["payment_id"], id);
    }
}
