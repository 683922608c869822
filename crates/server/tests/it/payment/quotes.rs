//! `POST /v2/payment`: the order and its quote.

use std::collections::BTreeSet;

use domain::country::Country;
use domain::currency::Currency;
use domain::time::Span;
use futures_util::future::join_all;

use crate::harness::{Bank, On, Setup, on_both_stores};

on_both_stores! {
    an_unknown_quote_is_not_found
    a_quote_of_another_tenant_is_not_found
    an_expired_quote_is_refused
    a_used_quote_names_the_payment_that_used_it
    one_of_many_payments_at_once_gets_the_quote
    another_currency_than_the_quotes_is_a_mismatch
    another_country_than_the_quotes_is_a_mismatch
    all_mismatches_are_reported_at_once
    amounts_are_compared_to_four_decimals
    numbers_are_kept_exactly
    a_quote_made_with_an_account_binds_the_payment_to_it
    a_quote_made_with_a_branch_binds_the_payment_to_it
    a_refusal_never_uses_a_quote_up
    a_rejection_after_acceptance_does_not_free_the_quote
}

const UNKNOWN: &str = "\"6f0c7ac6-53b5-4d3a-9d9e-0123456789ab\"";

async fn an_unknown_quote_is_not_found(on: On) {
    let bank = Bank::new(on).await;
    let order = bank.any_quote().await.order().with("quote", UNKNOWN);
    bank.pay(&order).await.refused(400, "quote_not_found");
}

async fn a_quote_of_another_tenant_is_not_found(on: On) {
    let (bank, other) = (Bank::new(on).await, Bank::new(on).await);
    let quote = other.any_quote().await;
    bank.pay(&quote.order()).await.refused(400, "quote_not_found");
    other.pay(&quote.order()).await.ok();
    bank.pay(&quote.order()).await.refused(400, "quote_not_found");
}

async fn an_expired_quote_is_refused(on: On) {
    let bank = Bank::alone(on, Setup::new()).await;
    let (early, late) = (bank.any_quote().await, bank.any_quote().await);
    bank.advance(Span::secs(280)).await;
    bank.pay(&early.order()).await.ok();
    bank.advance(Span::secs(20)).await;
    bank.pay(&late.order()).await.refused(400, "quote_expired");
    // Stays expired, also after the expiry job has run.
    let swept = || async { bank.history(late.id()).await == ["quote.created", "quote.expired"] };
    assert!(testkit::wait::until_async(testkit::wait::AT_MOST, swept).await);
    bank.pay(&late.order()).await.refused(400, "quote_expired");
    bank.finish().await;
}

async fn a_used_quote_names_the_payment_that_used_it(on: On) {
    let bank = Bank::new(on).await;
    let quote = bank.any_quote().await;
    let paid = bank.pay(&quote.order()).await.ok();
    let refused = bank.pay(&quote.order()).await.refused(400, "quote_used");
    assert_eq!(refused["payment_id"], paid["id"]);
    assert_eq!(refused.names(), ["code", "message", "payment_id", "request_id"]);
    assert_eq!(bank.history(quote.id()).await, ["quote.created", "quote.used"]);
}

async fn one_of_many_payments_at_once_gets_the_quote(on: On) {
    let bank = Bank::new(on).await;
    let quote = bank.any_quote().await;
    let answers = join_all((0..24).map(|number| {
        let order = quote.order().text("remarks", &format!("try {number}"));
        let call = bank.pay_call(&order);
        call.send()
    }))
    .await;
    let accepted: Vec<_> = answers.iter().filter(|answer| answer.status == 200).collect();
    assert_eq!(accepted.len(), 1, "{answers:?}");
    let id = accepted[0].ok()["id"].text().to_owned();
    let told: BTreeSet<String> = answers
        .iter()
        .filter(|answer| answer.status != 200)
        .map(|answer| answer.refused(400, "quote_used")["payment_id"].text().to_owned())
        .collect();
    assert_eq!(told, BTreeSet::from([id.clone()]));
    bank.reaches(Country::Pak, &id, "succeeded").await;
    assert_eq!(bank.book(&id).await.len(), 1);
    let listed = bank.get("/v2/payments?country=PAK").send().await.ok();
    assert_eq!(listed.items().len(), 1);
}

async fn another_currency_than_the_quotes_is_a_mismatch(on: On) {
    let bank = Bank::new(on).await;
    let order = bank.any_quote().await.order().text("currency", "SAR");
    bank.pay(&order).await.fault("body.currency", "currency_mismatch");
}

async fn another_country_than_the_quotes_is_a_mismatch(on: On) {
    let bank = Bank::new(on).await;
    let to_pakistan = bank.any_quote().await;
    let to_india = bank.quote(Country::Ind, Currency::Aed, "100").await;
    let amount = to_pakistan.0["amount_destination"].number();
    let order = to_india.order().text("quote", to_pakistan.id()).with("amount", amount);
    bank.pay(&order).await.fault("body.country", "country_mismatch");
}

async fn all_mismatches_are_reported_at_once(on: On) {
    let bank = Bank::new(on).await;
    let body = r#"{"country":"PAK","currency":"AED","amount":100,"beneficiary_account_number":"PK36SCBL0000001123456702",
                   "bank_branch_code":"SCBLPKKX"}"#;
    let quote = bank.post("/v2/quote", body).send().await.ok();
    let other = bank.quote(Country::Ind, Currency::Sar, "100").await;
    let order = other.order().text("quote", quote["id"].text());
    assert_eq!(
        bank.pay(&order).await.fault_kinds(),
        [
            "body.country country_mismatch",
            "body.currency currency_mismatch",
            "body.amount amount_mismatch",
            "body.bank_branch_code beneficiary_mismatch",
            "body.beneficiary_account_number beneficiary_mismatch"
        ]
    );
}

async fn amounts_are_compared_to_four_decimals(on: On) {
    let bank = Bank::agreed(on, |policy| policy.margin_bps = 10).await;
    let quote = bank.quote(Country::Pak, Currency::Aed, "500").await;
    for amount in [
        "37912.0501",
        "37912.05006",
        "37912.0499",
        "37912.04994",
        "37912",
        "75.8241",
        "500",
        "37912.051",
    ] {
        let fault = bank
            .pay(&quote.order().with("amount", amount))
            .await
            .fault("body.amount", "amount_mismatch");
        assert_eq!(fault.ctx.to_string(), r#"{"expected":37912.05}"#);
    }
    for amount in [
        "37912.05",
        "37912.0500",
        "37912.05004",
        "37912.04996",
        "3.791205e4",
        "37912.0500000001",
        "37912.05000000000000000000000000001",
        "37912.0499999999999999999999999999",
        "3.79120500000000000000000E+4",
    ] {
        let quote = bank.quote(Country::Pak, Currency::Aed, "500").await;
        let paid = bank.pay(&quote.order().with("amount", amount)).await.ok();
        assert_eq!(
            paid["amount"].number(),
            "37912.05",
            "the quote's amount is paid out, whatever stands behind"
        );
    }
}

async fn numbers_are_kept_exactly(on: On) {
    let bank = Bank::new(on).await;
    let quote = bank.quote(Country::Pak, Currency::Aed, "500").await;
    // An amount is rounded to the four decimals used for comparison.
    let paid = bank.pay(&quote.order().with("amount", "37950.000000000001")).await.ok();
    let record = bank.record(Country::Pak, paid["id"].text()).await;
    assert_eq!(record["order"]["amount"].number(), "37950");
    assert_eq!(record["response"]["amount"].number(), "37950");
}

fn bound(member: &str) -> String {
    format!(r#"{{"country":"IND","currency":"AED","amount":100,{member}}}"#)
}

async fn a_quote_made_with_an_account_binds_the_payment_to_it(on: On) {
    let bank = Bank::new(on).await;
    let like = bank.quote(Country::Ind, Currency::Aed, "100").await.order();
    let quote = bank
        .post("/v2/quote", bound(r#""beneficiary_account_number":"50100123456702""#))
        .send()
        .await
        .ok();
    let order = like.text("quote", quote["id"].text());
    let other = order.clone().text("beneficiary_account_number", "50100123456703");
    bank.pay(&other).await.fault("body.beneficiary_account_number", "beneficiary_mismatch");
    bank.pay(&order).await.ok();
}

async fn a_quote_made_with_a_branch_binds_the_payment_to_it(on: On) {
    let bank = Bank::new(on).await;
    let like = bank.quote(Country::Ind, Currency::Aed, "100").await.order();
    let quote =
        bank.post("/v2/quote", bound(r#""bank_branch_code":"HDFC0000001""#)).send().await.ok();
    let order = like.text("quote", quote["id"].text());
    for other in ["HDFC0000240", "SBIN0000300", "SBININBB"] {
        let order = order.clone().text("bank_branch_code", other);
        bank.pay(&order).await.fault("body.bank_branch_code", "beneficiary_mismatch");
    }
    // The same branch in its other notation.
    bank.pay(&order.text("bank_branch_code", "HDFCINBBXXX")).await.ok();
}

async fn a_refusal_never_uses_a_quote_up(on: On) {
    let bank = Bank::new(on).await;
    let quote = bank.any_quote().await;
    bank.pay(&quote.order().with("amount", "1")).await.fault("body.amount", "amount_mismatch");
    bank.pay(&quote.order().text("sender_relation", "boss"))
        .await
        .fault("body.sender_relation", "invalid_relation");
    bank.pay(&quote.order().text("currency", "SAR"))
        .await
        .fault("body.currency", "currency_mismatch");
    bank.pay(&quote.order()).await.ok();
}

async fn a_rejection_after_acceptance_does_not_free_the_quote(on: On) {
    let bank = Bank::new(on).await;
    let quote = bank.any_quote().await;
    let paid = bank.pay(&quote.order().ending(Country::Pak, "0002")).await.ok();
    bank.reaches(Country::Pak, paid["id"].text(), "rejected").await;
    let refused = bank.pay(&quote.order()).await.refused(400, "quote_used");
    assert_eq!(refused["payment_id"], paid["id"]);
}
