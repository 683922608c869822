//! `/sandbox/clock`: the business clock.

use domain::country::Country;
use domain::time::Span;
use reqwest::Method;

use crate::harness::client::instant;
use crate::harness::{Bank, On, Setup, on_both_stores};

on_both_stores! {
    quotes_run_out_when_the_clock_is_moved
    the_clock_shows_how_far_it_is_ahead
    rates_are_fresh_after_a_leap
    the_clock_stays_ahead_over_a_restart
    the_clock_moves_forward_and_not_too_far
}

async fn quotes_run_out_when_the_clock_is_moved(on: On) {
    let bank = Bank::alone(on, Setup::new()).await;
    let quote = bank.any_quote().await;
    bank.advance(Span::secs(300)).await;
    bank.pay(&quote.order()).await.refused(400, "quote_expired");
    assert_eq!(
        bank.get(&format!("/v2/quote/{}?country=PAK", quote.id())).send().await.ok(),
        quote.0
    );
    bank.finish().await;
}

async fn the_clock_shows_how_far_it_is_ahead(on: On) {
    let bank = Bank::alone(on, Setup::new()).await;
    let before = bank.unsigned(Method::GET, "/sandbox/clock", None).send().await.ok();
    assert_eq!(
        (before.names(), before["ahead_seconds"].integer()),
        (vec!["now", "ahead_seconds"], 0)
    );
    let moves = (0..5).map(|_| bank.advance(Span::secs(100)));
    futures_util::future::join_all(moves).await;
    let after = bank.unsigned(Method::GET, "/sandbox/clock", None).send().await.ok();
    assert_eq!(after["ahead_seconds"].integer(), 500);
    assert!(instant(&after["now"]) - instant(&before["now"]) >= Span::secs(500));
    let quote = bank.any_quote().await;
    assert!(
        instant(&quote.0["timestamp"]) >= instant(&after["now"]),
        "quotes are made at the moved time"
    );
    bank.finish().await;
}

async fn rates_are_fresh_after_a_leap(on: On) {
    let bank = Bank::alone(on, Setup::new()).await;
    for seconds in [301, 3_600, 86_400] {
        bank.advance(Span::secs(seconds)).await;
        bank.paid(Country::Pak, |order| order).await;
    }
    bank.finish().await;
}

async fn the_clock_stays_ahead_over_a_restart(on: On) {
    let bank = Bank::alone(on, Setup::new()).await;
    bank.advance(Span::hours(5)).await;
    let quote = bank.any_quote().await;
    let running = bank.restart().await;
    let again = running.unsigned(Method::GET, "/sandbox/clock", None).send().await.ok();
    assert_eq!(again["ahead_seconds"].integer(), 5 * 3_600);
    assert!(instant(&again["now"]) >= instant(&quote.0["timestamp"]));
    running.pay(&quote.order()).await.ok();
    running.finish().await;
}

async fn the_clock_moves_forward_and_not_too_far(on: On) {
    let bank = Bank::new(on).await;
    for (query, code) in [
        ("?seconds=0", "invalid_seconds"),
        ("?seconds=-5", "invalid_seconds"),
        ("?seconds=34560001", "invalid_seconds"),
        ("?seconds=x", "invalid_seconds"),
        ("?seconds=1.5", "invalid_seconds"),
        ("", "invalid_query"),
    ] {
        bank.unsigned(Method::POST, &format!("/sandbox/clock{query}"), None)
            .send()
            .await
            .refused(400, code);
    }
}
