//! `POST /v2/quote`: successful answers.

use domain::country::Country;
use domain::currency::{Currency, StableCoin};
use domain::decimal::{Decimal, Rounding};
use domain::time::Span;
use futures_util::StreamExt as _;

use crate::harness::client::instant;
use crate::harness::{Bank, Json, On, Quote, Setup, on_both_stores};

on_both_stores! {
    a_quote_has_the_members_of_the_specification_in_order
    a_quote_repeats_the_currency_of_the_request_and_its_exact_amount
    a_quote_shows_the_limits_of_its_corridor
    a_quote_is_valid_for_its_corridors_time
    the_margin_of_the_tenant_lies_in_the_rate
    hints_for_routing_change_nothing_in_the_answer
    the_four_decimal_rule_holds_for_every_corridor_and_currency
}

async fn a_quote_has_the_members_of_the_specification_in_order(on: On) {
    let bank = Bank::new(on).await;
    let answer = bank.quote_call(Country::Pak, Currency::Aed, "500").send().await;
    let quote = answer.ok();
    let id = quote["id"].text();
    let (from, until) = (quote["timestamp"].text(), quote["expires"].text());
    let expected = format!(
        "{{\"id\":\"{id}\",\"country\":\"PAK\",\"currency\":\"AED\",\"amount\":500,\"amount_destination\":37950,\
         \"rate\":75.9,\"timestamp\":\"{from}\",\"expires\":\"{until}\",\"wallet_rate\":278.75,\
         \"min_amount_destination\":1,\"max_amount_destination\":1000000000,\
         \"wallet_currency\":\"USDT\",\"wallet_amount\":136.143498,\"wallet_premium\":0.340359,\"wallet_txn_cost\":0.5}}"
    );
    assert_eq!(String::from_utf8_lossy(&answer.body), expected);
    assert_eq!(uuid::Uuid::parse_str(id).expect("a UUID").get_version_num(), 4);
    assert_eq!(instant(&quote["expires"]) - instant(&quote["timestamp"]), Span::secs(300));
    assert_eq!(answer.header("cache-control"), Some("no-store"));
}

async fn a_quote_repeats_the_currency_of_the_request_and_its_exact_amount(on: On) {
    let bank = Bank::new(on).await;
    for (currency, amount, shown) in [
        (Currency::Kwd, "10.125", "10.125"),
        (Currency::Eur, "1e2", "100"),
        (Currency::Try, "99.10", "99.1"),
    ] {
        let quote = bank.quote(Country::Phl, currency, amount).await;
        assert_eq!(quote.0["currency"].text(), currency.code());
        assert_eq!(quote.0["amount"].number(), shown);
    }
}

async fn a_quote_shows_the_limits_of_its_corridor(on: On) {
    let bank = Bank::new(on).await;
    for (country, min, max) in [
        (Country::Bgd, "1", "1000000000"),
        (Country::Egy, "1", "1000000000"),
        (Country::Ind, "1", "1000000000"),
        (Country::Npl, "100", "200000000"),
        (Country::Pak, "1", "1000000000"),
        (Country::Phl, "1", "10000000"),
        (Country::Vnm, "2000", "20000000000"),
    ] {
        let quote = bank.quote(country, Currency::Sar, "250").await;
        let shown = (
            quote.0["min_amount_destination"].number(),
            quote.0["max_amount_destination"].number(),
        );
        assert_eq!(shown, (min, max), "{country:?}");
    }
}

async fn a_quote_is_valid_for_its_corridors_time(on: On) {
    let setup = Setup::new()
        .set("corridors.PAK.quote_ttl_s", "30")
        .set("corridors.IND.quote_ttl_s", "1800");
    let bank = Bank::alone(on, setup).await;
    for (country, seconds) in [(Country::Pak, 30), (Country::Ind, 1_800), (Country::Vnm, 300)] {
        let quote = bank.quote(country, Currency::Aed, "100").await;
        assert_eq!(
            instant(&quote.0["expires"]) - instant(&quote.0["timestamp"]),
            Span::secs(seconds),
            "{country:?}"
        );
    }
    bank.finish().await;
}

async fn the_margin_of_the_tenant_lies_in_the_rate(on: On) {
    let bank = Bank::agreed(on, |policy| {
        policy.margin_bps = 10;
        policy.margin_bps_by_country.insert(Country::Ind, 200);
    })
    .await;
    let to_pakistan = bank.quote(Country::Pak, Currency::Aed, "500").await;
    assert_eq!(to_pakistan.0["rate"].number(), "75.8241");
    // USD/INR 89.40 over USD/AED 3.6725, less 2 %: 23.856501…, truncated to whole paise.
    let to_india = bank.quote(Country::Ind, Currency::Aed, "1000").await;
    assert_eq!(to_india.0["amount_destination"].number(), "23856.22");
    assert_eq!(to_india.0["rate"].number(), "23.85622");
    assert_eq!(to_india.0["wallet_rate"].number(), "89.4", "the coin's rate is at mid");
}

async fn hints_for_routing_change_nothing_in_the_answer(on: On) {
    let bank = Bank::agreed(on, |policy| policy.settlement_coin = StableCoin::Usdc).await;
    let plain = bank.quote(Country::Ind, Currency::Aed, "100").await;
    let body = r#"{"country":"IND","currency":"AED","amount":100,"beneficiary_account_number":" 50100123456702 ",
                   "bank_branch_code":"hdfc0000001","unknown":{"a":[1]}}"#;
    let hinted = bank.post("/v2/quote", body).send().await.ok();
    assert_eq!(hinted.names(), plain.0.names());
    assert_eq!(
        (&hinted["rate"], &hinted["amount_destination"]),
        (&plain.0["rate"], &plain.0["amount_destination"])
    );
    for blank in ["null", "\"\"", "\"  \""] {
        let body = format!(
            r#"{{"country":"IND","currency":"AED","amount":100,"beneficiary_account_number":{blank},"bank_branch_code":{blank}}}"#
        );
        bank.post("/v2/quote", body).send().await.ok();
    }
}

/// Quotes per pair in this test; `domain` proves the rule on thousands.
const QUOTES_PER_PAIR: i64 = 5;

async fn the_four_decimal_rule_holds_for_every_corridor_and_currency(on: On) {
    let bank = Bank::agreed(on, |policy| policy.margin_bps = 37).await;
    let pairs = Country::ALL
        .into_iter()
        .flat_map(|country| Currency::SOURCES.map(|currency| (country, currency)));
    let asked = pairs.flat_map(|pair| (0..QUOTES_PER_PAIR).map(move |number| (pair, number)));
    let calls = asked.map(|((country, currency), number)| {
        let amount = Decimal::new(i128::from(4_000_019 + number * 7_777_777), 5)
            .round(2, Rounding::HalfEven);
        let bank = bank.clone();
        async move { bank.quote(country, currency, &amount.to_string()).await }
    });
    let quotes: Vec<Quote> = futures_util::stream::iter(calls).buffer_unordered(16).collect().await;
    assert_eq!(quotes.len(), 7 * 10 * 5);
    for quote in quotes {
        let number = |name: &str| Decimal::parse(quote.0[name].number()).expect("a number");
        let product = number("rate").checked_mul(number("amount")).expect("fits");
        assert_eq!(
            product.round(4, Rounding::HalfEven),
            number("amount_destination"),
            "{}",
            quote.0
        );
        assert!(number("rate").decimals() <= 12, "{}", quote.0);
        assert!(agrees_in_binary_floats(&quote.0), "{}", quote.0);
        let step = if quote.country() == Country::Vnm { 0 } else { 2 };
        assert!(number("amount_destination").decimals() <= step, "{}", quote.0);
    }
}

/// The result of a client that computes with binary floats.
#[expect(
    clippy::float_arithmetic,
    reason = "stands for a client that computes in binary floating point"
)]
fn agrees_in_binary_floats(quote: &Json) -> bool {
    let float = |name: &str| quote[name].number().parse::<f64>().expect("a number");
    format!("{:.4}", float("rate") * float("amount"))
        == format!("{:.4}", float("amount_destination"))
}
