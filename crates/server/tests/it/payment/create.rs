//! `POST /v2/payment`: the response, and the stored order.

use domain::country::Country;
use domain::currency::{Currency, StableCoin};
use domain::order::{FIELDS, Role};

use crate::harness::client::instant;
use crate::harness::{Bank, On, on_both_stores};

on_both_stores! {
    an_accepted_payment_has_the_members_of_the_specification_in_order
    the_record_has_the_members_of_the_specification_in_order
    the_worked_example_holds_to_the_digit
    a_tenant_of_usdc_is_charged_in_usdc
    what_the_server_fills_in_is_ignored_in_a_request
    text_is_trimmed_and_kept_as_sent
    optional_fields_may_be_absent_null_or_blank
    the_smallest_order_is_accepted
}

async fn an_accepted_payment_has_the_members_of_the_specification_in_order(on: On) {
    let bank = Bank::new(on).await;
    let quote = bank.quote(Country::Pak, Currency::Aed, "500").await;
    let answer = bank.pay(&quote.order()).await;
    let accepted = answer.ok();
    let (id, at) = (accepted["id"].text(), accepted["timestamp"].text());
    let expected = format!(
        "{{\"id\":\"{id}\",\"timestamp\":\"{at}\",\"status\":\"queued\",\"msg\":null,\"amount\":37950,\
         \"amount_currency\":\"PKR\",\"base_amount\":500,\"base_currency\":\"AED\",\"wallet_amount\":136.143498,\
         \"wallet_currency\":\"USDT\",\"wallet_premium\":0.340359,\"wallet_txn_cost\":0.5,\"bank_reference\":null}}"
    );
    assert_eq!(String::from_utf8_lossy(&answer.body), expected);
    assert_eq!(uuid::Uuid::parse_str(id).expect("a UUID").get_version_num(), 4);
    assert!(instant(&accepted["timestamp"]) >= instant(&quote.0["timestamp"]));
    assert_eq!(answer.header("cache-control"), Some("no-store"));
    assert_eq!(answer.header("idempotent-replayed"), None);
}

async fn the_record_has_the_members_of_the_specification_in_order(on: On) {
    let bank = Bank::new(on).await;
    let quote = bank.quote(Country::Pak, Currency::Aed, "500").await;
    let order = quote.order().text("external_id", "INV-7");
    let accepted = bank.pay(&order).await.ok();
    let record = bank.reaches(Country::Pak, accepted["id"].text(), "succeeded").await;
    assert_eq!(record.names(), ["id", "order", "response", "quote"]);
    assert_eq!(record["id"], accepted["id"]);
    assert_eq!(record["quote"], quote.0);
    assert_eq!(record["response"].names(), accepted.names());
    assert_eq!(record["response"]["bank_reference"].text().len(), "SB2026112100000001".len());
    assert!(instant(&record["response"]["timestamp"]) >= instant(&accepted["timestamp"]));
    let expected = format!(
        "{{\"country\":\"PAK\",\"currency\":\"AED\",\"quote\":\"{}\",\"amount\":37950,\
         \"bank_name\":\"Standard Chartered Bank (Pakistan)\",\"bank_branch_code\":\"SCBL\",\
         \"bank_branch_name\":\"Main Branch, Karachi\",\"beneficiary_name\":\"Bilal Samplekhan\",\
         \"beneficiary_city\":\"Karachi\",\"beneficiary_address\":\"21 Example Road, Clifton\",\
         \"beneficiary_account_number\":\"PK36SCBL0000001123456702\",\"beneficiary_account_type\":\"savings\",\
         \"beneficiary_mobile\":\"+923001234567\",\"beneficiary_email\":\"beneficiary@example.com\",\
         \"remarks\":\"family support\",\"sender_name\":\"Omar Testwell\",\"sender_birthdate\":\"1988-04-12\",\
         \"sender_identity_doc_type\":\"passport\",\"sender_identity_doc\":\"N01234567\",\
         \"sender_identity_doc_exp\":\"2035-12-31\",\"sender_identity_doc_country\":\"PAK\",\"sender_city\":\"Dubai\",\
         \"sender_address\":\"12 Example Street\",\"sender_country\":\"ARE\",\"sender_mobile\":\"+971501234567\",\
         \"sender_relation\":\"brother\",\"external_id\":\"INV-7\",\"purpose_code\":null,\"timestamp\":{}}}",
        quote.id(),
        accepted["timestamp"]
    );
    assert_eq!(record["order"].to_string(), expected);
}

/// decisions.md, "Worked example": AED 500 to PKR with a margin of 0.10 %.
async fn the_worked_example_holds_to_the_digit(on: On) {
    let bank = Bank::agreed(on, |policy| policy.margin_bps = 10).await;
    let quote = bank.quote(Country::Pak, Currency::Aed, "500").await;
    assert_eq!(quote.0["rate"].number(), "75.8241");
    assert_eq!(quote.0["amount_destination"].number(), "37912.05");
    assert_eq!(quote.0["wallet_rate"].number(), "278.75");
    let payment = bank.pay(&quote.order()).await.ok();
    assert_eq!(payment["wallet_amount"].number(), "136.007355");
    assert_eq!(payment["wallet_premium"].number(), "0.340019");
    assert_eq!(payment["wallet_txn_cost"].number(), "0.5");
}

async fn a_tenant_of_usdc_is_charged_in_usdc(on: On) {
    let bank = Bank::agreed(on, |policy| {
        policy.settlement_coin = StableCoin::Usdc;
        policy.premium_bps = 0;
    })
    .await;
    let payment = bank.pay(&bank.any_quote().await.order()).await.ok();
    assert_eq!(payment["wallet_currency"].text(), "USDC");
    assert_eq!(payment["wallet_premium"].number(), "0");
}

async fn what_the_server_fills_in_is_ignored_in_a_request(on: On) {
    let bank = Bank::new(on).await;
    let id = bank
        .paid(Country::Pak, |order| {
            let order = order.with("timestamp", "[\"not a time\"]").with("bank_branch_name", "17");
            order.with("status", "\"succeeded\"").with("id", "{}")
        })
        .await;
    let record = bank.record(Country::Pak, &id).await;
    assert_eq!(record["order"]["bank_branch_name"].text(), "Main Branch, Karachi");
    assert!(instant(&record["order"]["timestamp"]) <= bank.running.now());
    assert!(record["order"].get("status").is_none());
}

async fn text_is_trimmed_and_kept_as_sent(on: On) {
    let bank = Bank::new(on).await;
    let texts = [
        ("beneficiary_name", "আশা খান"),
        ("beneficiary_city", "=HYPERLINK(\"x\")"),
        ("beneficiary_address", "<script>alert(1)</script>"),
        ("bank_name", "بنک الحبیب \u{200D}۲"),
        ("sender_name", "Zoë 👩‍👧 O'Neill"),
        ("sender_address", "\\ \" / 12"),
        ("sender_identity_doc", "'; DROP TABLE payment; --"),
    ];
    let id = bank
        .paid(Country::Pak, |order| {
            let order = texts
                .iter()
                .fold(order, |order, (field, text)| order.text(field, &format!("  {text}\t ")));
            order.text("remarks", "\n one\n\ttwo \n").text("sender_relation", "BroTher")
        })
        .await;
    let record = bank.record(Country::Pak, &id).await;
    for (field, text) in texts {
        assert_eq!(record["order"][field].text(), text, "{field}");
    }
    assert_eq!(record["order"]["remarks"].text(), "one\n\ttwo");
    assert_eq!(record["order"]["sender_relation"].text(), "brother");
}

/// The fields that a request may lack.
fn optional() -> impl Iterator<Item = &'static str> {
    FIELDS.iter().filter(|field| field.role == Role::Optional).map(|field| field.name)
}

async fn optional_fields_may_be_absent_null_or_blank(on: On) {
    let bank = Bank::new(on).await;
    for field in optional() {
        for raw in [None, Some("null"), Some("\"\""), Some("\" \"")] {
            // The specification sets a minimum length for these two: blank is too short, not
            // absent.
            let counted = ["sender_identity_doc_country", "external_id"].contains(&field);
            if counted && raw.is_some_and(|raw| raw != "null") {
                continue;
            }
            let edit = |order: crate::harness::Order| match raw {
                Some(raw) => order.with(field, raw),
                None => order.without(field),
            };
            let id = bank.paid(Country::Pak, edit).await;
            let shown = bank.record(Country::Pak, &id).await["order"][field].to_string();
            let expected = if field == "beneficiary_account_type" { "\"savings\"" } else { "null" };
            assert_eq!(shown, expected, "{field} = {raw:?}");
        }
    }
}

async fn the_smallest_order_is_accepted(on: On) {
    let bank = Bank::new(on).await;
    let id = bank
        .paid(Country::Pak, |order| optional().fold(order, |order, field| order.without(field)))
        .await;
    bank.reaches(Country::Pak, &id, "succeeded").await;
}
