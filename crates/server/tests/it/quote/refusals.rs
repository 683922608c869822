//! `POST /v2/quote`: refusals that concern no field.

use domain::country::Country;
use domain::currency::Currency;
use domain::time::Span;
use testkit::wait::AT_MOST;

use crate::harness::{Bank, On, Order, Setup, on_both_stores};

on_both_stores! {
    a_closed_corridor_is_unavailable
    a_corridor_without_rails_is_unavailable
    a_country_that_the_tenant_did_not_agree_on_is_forbidden
    a_missing_rate_is_unavailable
    an_old_rate_is_unavailable
    a_service_that_can_read_no_rates_starts_and_quotes_once_it_can
    a_stablecoin_off_its_peg_is_not_quoted
    a_quote_is_repeated_though_its_rate_is_too_old_by_now
    too_many_open_quotes_are_refused
    the_mock_environment_has_no_cap_on_open_quotes
    an_expired_quote_makes_room_for_another
}

async fn a_closed_corridor_is_unavailable(on: On) {
    let bank = Bank::alone(on, Setup::new().set("corridors.EGY.open", "false")).await;
    bank.quote_call(Country::Egy, Currency::Aed, "100")
        .send()
        .await
        .refused(400, "corridor_unavailable");
    let order = Order::example(Country::Egy, Currency::Aed, bank.any_quote().await.id(), "100");
    bank.pay(&order).await.refused(400, "corridor_unavailable");
    bank.pay(&order.text("sender_name", "")).await.fault("body.sender_name", "missing");
    bank.finish().await;
}

async fn a_corridor_without_rails_is_unavailable(on: On) {
    let setup = Setup::new()
        .set("rails.phl-instapay.enabled", "false")
        .set("rails.phl-pesonet.enabled", "false");
    let bank = Bank::alone(on, setup).await;
    bank.quote_call(Country::Phl, Currency::Aed, "100")
        .send()
        .await
        .refused(400, "corridor_unavailable");
    bank.finish().await;
}

async fn a_country_that_the_tenant_did_not_agree_on_is_forbidden(on: On) {
    let bank =
        Bank::agreed(on, |policy| policy.countries.retain(|country| *country != Country::Npl))
            .await;
    bank.quote_call(Country::Npl, Currency::Aed, "100")
        .send()
        .await
        .refused(403, "corridor_not_enabled");
    let order = bank.any_quote().await.order().text("country", "NPL");
    bank.pay(&order).await.refused(403, "corridor_not_enabled");
}

fn rows(as_of: &str, usdt: &str) -> String {
    format!(
        "base,quote,rate,as_of\nAED,PKR,75.90,{as_of}\nUSD,PKR,278.75,{as_of}\nUSDT,USD,{usdt},{as_of}\n"
    )
}

/// Rates from a file, `as_of` an instant.
async fn with_rates(on: On, as_of: &str, usdt: &str) -> Bank {
    let dir = tempfile::tempdir().expect("a directory");
    let file = dir.path().join("rates.csv");
    std::fs::write(&file, rows(as_of, usdt)).expect("written");
    let sources = format!("[{{ location = \"{}\" }}]", file.display());
    let setup = Setup::new().set("rates.source", "live").set("rates.sources", &sources);
    Bank::alone(on, setup).await
}

async fn a_missing_rate_is_unavailable(on: On) {
    let now = jiff::Timestamp::now().to_string();
    let bank = with_rates(on, &now, "1").await;
    bank.quote_call(Country::Pak, Currency::Aed, "100").send().await.ok();
    bank.quote_call(Country::Ind, Currency::Aed, "100")
        .send()
        .await
        .refused(400, "rate_unavailable");
    bank.quote_call(Country::Pak, Currency::Eur, "100")
        .send()
        .await
        .refused(400, "rate_unavailable");
    bank.finish().await;
}

async fn a_stablecoin_off_its_peg_is_not_quoted(on: On) {
    for price in ["0.9949", "1.0051"] {
        let bank = with_rates(on, &jiff::Timestamp::now().to_string(), price).await;
        let answer = bank.quote_call(Country::Pak, Currency::Aed, "100").send().await;
        let refused = answer.refused(400, "rate_unavailable");
        let message =
            format!("USDT trades at {price} USD: quotes and exchanges with it are stopped");
        assert_eq!(refused["message"].text(), message);
        bank.finish().await;
    }
}

async fn an_old_rate_is_unavailable(on: On) {
    let bank = with_rates(on, "2026-01-01T00:00:00Z", "1").await;
    bank.quote_call(Country::Pak, Currency::Aed, "100")
        .send()
        .await
        .refused(400, "rate_unavailable");
    bank.finish().await;
}

async fn a_service_that_can_read_no_rates_starts_and_quotes_once_it_can(on: On) {
    let dir = tempfile::tempdir().expect("a directory");
    let file = dir.path().join("rates.csv");
    let sources = format!("[{{ location = \"{}\" }}]", file.display());
    let setup = Setup::new().set("rates.source", "live").set("rates.sources", &sources);
    let bank = Bank::alone(on, setup.set("rates.refresh_s", "1")).await;
    let quote = || bank.quote_call(Country::Pak, Currency::Aed, "100").send();
    quote().await.refused(400, "rate_unavailable");
    std::fs::write(&file, rows(&jiff::Timestamp::now().to_string(), "1")).expect("written");
    let is_read =
        testkit::wait::until_async(AT_MOST, || async { quote().await.status == 200 }).await;
    assert!(is_read, "the rates are read once they are there");
    bank.finish().await;
}

async fn a_quote_is_repeated_though_its_rate_is_too_old_by_now(on: On) {
    let bank = with_rates(on, &jiff::Timestamp::now().to_string(), "1").await;
    let keyed =
        |key| bank.quote_call(Country::Pak, Currency::Aed, "100").header("idempotency-key", key);
    let first = keyed("k").send().await;
    first.ok();
    bank.advance(Span::hours(48)).await;
    keyed("other").send().await.refused(400, "rate_unavailable");
    let again = keyed("k").send().await;
    assert_eq!((again.header("idempotent-replayed"), &again.body), (Some("true"), &first.body));
    let changed = bank
        .quote_call(Country::Pak, Currency::Aed, "101")
        .header("idempotency-key", "k")
        .send()
        .await;
    changed.fault("header.idempotency-key", "idempotency_mismatch");
    bank.finish().await;
}

/// A limit of two open quotes, in environment `test` because mock has none.
fn capped() -> Setup {
    Setup::new()
        .set("environment", "test")
        .set("limits.enabled", "false")
        .set("corridors.PAK.open_quote_cap", "2")
}

async fn too_many_open_quotes_are_refused(on: On) {
    let bank = Bank::alone(on, capped()).await;
    let first = bank.any_quote().await;
    bank.any_quote().await;
    let refused = bank.quote_call(Country::Pak, Currency::Aed, "100").send().await;
    assert_eq!(refused.refused(400, "open_quote_limit")["limit"].text(), "2");
    // Another corridor and another tenant have their own limits; a used quote is not open.
    bank.quote(Country::Ind, Currency::Aed, "100").await;
    Bank::at(&bank.running).await.any_quote().await;
    bank.pay(&first.order()).await.ok();
    bank.any_quote().await;
    bank.quote_call(Country::Pak, Currency::Aed, "100")
        .send()
        .await
        .refused(400, "open_quote_limit");
    bank.finish().await;
}

async fn the_mock_environment_has_no_cap_on_open_quotes(on: On) {
    let bank = Bank::alone(on, capped().set("environment", "mock")).await;
    for _ in 0..5 {
        bank.any_quote().await;
    }
    bank.finish().await;
}

async fn an_expired_quote_makes_room_for_another(on: On) {
    let bank = Bank::alone(on, capped().set("corridors.PAK.max_rate_age_s", "86400")).await;
    let first = bank.any_quote().await;
    bank.any_quote().await;
    bank.advance(Span::secs(301)).await;
    let expired = || async { bank.history(first.id()).await.contains(&"quote.expired".to_owned()) };
    assert!(testkit::wait::until_async(AT_MOST, expired).await);
    bank.any_quote().await;
    bank.finish().await;
}
