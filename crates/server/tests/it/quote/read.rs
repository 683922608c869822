//! `GET /v2/quote/{id}`

use domain::country::Country;
use domain::currency::Currency;
use domain::time::Span;

use crate::harness::{Bank, On, Setup, on_both_stores};

on_both_stores! {
    a_quote_is_shown_as_it_was_answered
    a_used_quote_is_still_shown
    an_expired_quote_is_still_shown
    an_unknown_quote_is_not_found
    a_quote_of_another_country_is_not_found
    path_and_query_are_held_to_their_rules
}

async fn a_quote_is_shown_as_it_was_answered(on: On) {
    let bank = Bank::new(on).await;
    let made = bank.quote_call(Country::Vnm, Currency::Omr, "12.345").send().await;
    let id = made.ok()["id"].text().to_owned();
    let shown = bank.get(&format!("/v2/quote/{id}?country=VNM")).send().await;
    assert_eq!((shown.status, &shown.body), (200, &made.body));
    let capitals = bank.get(&format!("/v2/quote/{}?country=VNM", id.to_uppercase())).send().await;
    assert_eq!((capitals.status, &capitals.body), (200, &made.body));
}

async fn a_used_quote_is_still_shown(on: On) {
    let bank = Bank::new(on).await;
    let quote = bank.any_quote().await;
    bank.pay(&quote.order()).await.ok();
    let shown = bank.get(&format!("/v2/quote/{}?country=PAK", quote.id())).send().await.ok();
    assert_eq!(shown, quote.0);
}

async fn an_expired_quote_is_still_shown(on: On) {
    let bank = Bank::alone(on, Setup::new()).await;
    let quote = bank.any_quote().await;
    bank.advance(Span::secs(3_600)).await;
    let shown = bank.get(&format!("/v2/quote/{}?country=PAK", quote.id())).send().await.ok();
    assert_eq!(shown, quote.0);
    bank.finish().await;
}

async fn an_unknown_quote_is_not_found(on: On) {
    let bank = Bank::new(on).await;
    let path = "/v2/quote/6f0c7ac6-53b5-4d3a-9d9e-0123456789ab?country=PAK";
    bank.get(path).send().await.refused(400, "quote_not_found");
}

async fn a_quote_of_another_country_is_not_found(on: On) {
    let bank = Bank::new(on).await;
    let quote = bank.any_quote().await;
    bank.get(&format!("/v2/quote/{}?country=IND", quote.id()))
        .send()
        .await
        .refused(400, "quote_not_found");
}

async fn path_and_query_are_held_to_their_rules(on: On) {
    let bank = Bank::new(on).await;
    let id = "6f0c7ac6-53b5-4d3a-9d9e-0123456789ab";
    for (path, expected) in [
        (format!("/v2/quote/{id}"), "query.country missing"),
        (format!("/v2/quote/{id}?country="), "query.country missing"),
        (format!("/v2/quote/{id}?country=USA"), "query.country enum"),
        (format!("/v2/quote/{id}?country=PAK&country=PAK"), "query.country multiple_values"),
        ("/v2/quote/12?country=PAK".to_owned(), "path.id uuid_parsing"),
        (
            "/v2/quote/6f0c7ac653b54d3a9d9e0123456789ab?country=PAK".to_owned(),
            "path.id uuid_parsing",
        ),
        ("/v2/quote/%00?country=PAK".to_owned(), "path.id uuid_parsing"),
        ("/v2/quote/x?country=USA".to_owned(), "query.country enum"),
    ] {
        assert_eq!(bank.get(&path).send().await.fault_kinds(), [expected], "{path}");
    }
}
