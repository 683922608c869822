//! `Idempotency-Key` from outside: a repeated request gets the first response and has no second
//! effect.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use axum::middleware::from_fn;
use domain::country::Country;
use domain::currency::Currency;
use domain::policy::Environment;
use domain::time::Span;
use futures_util::future::join_all;
use http_api::auth::{Rules, Service};
use http_api::limits::Rates;
use http_api::payments_v2::{Api, Settings, router};
use http_api::server::body::BodyLimits;
use tokio::net::TcpListener;

use crate::harness::client::{Call, quote_body};
use crate::harness::{Answer, Bank, On, Setup, on_both_stores};

on_both_stores! {
    a_repeated_quote_request_is_answered_with_the_same_quote
    a_repeated_order_is_answered_with_the_same_payment
    the_answer_is_repeated_as_it_was_whatever_has_happened_since
    the_same_key_with_another_body_is_refused
    concurrent_repetitions_have_one_effect
    a_refused_outcome_is_not_remembered
    a_key_is_scoped_to_its_path_and_tenant
    a_key_that_is_not_printable_is_refused
    a_key_on_a_get_means_nothing
    an_expired_quote_is_still_repeated
    a_payment_is_repeated_though_its_document_has_expired_by_now
    a_payment_is_repeated_though_its_country_was_withdrawn
    answers_are_repeated_after_a_restart
    a_repetition_that_would_wait_too_long_gets_retry_after
}

fn keyed(call: Call, key: &str) -> Call {
    call.header("idempotency-key", key)
}

async fn quote(bank: &Bank, key: &str, amount: &str) -> Answer {
    keyed(bank.quote_call(Country::Pak, Currency::Aed, amount), key).send().await
}

fn is_replay(answer: &Answer) -> bool {
    answer.header("idempotent-replayed") == Some("true")
}

async fn a_repeated_quote_request_is_answered_with_the_same_quote(on: On) {
    let bank = Bank::new(on).await;
    let first = quote(&bank, "k", "100").await;
    let again = quote(&bank, "k", "100").await;
    assert!(!is_replay(&first) && is_replay(&again));
    assert_eq!((first.status, &first.body), (again.status, &again.body));
    assert_ne!(quote(&bank, "other", "100").await.ok()["id"], first.ok()["id"]);
    assert_eq!(bank.events_after(0).await.len(), 2, "two quotes were made, not three");
}

async fn a_repeated_order_is_answered_with_the_same_payment(on: On) {
    let bank = Bank::new(on).await;
    let order = bank.any_quote().await.order().text("external_id", "once");
    let first = keyed(bank.pay_call(&order), "k").send().await;
    let id = first.ok()["id"].text().to_owned();
    for _ in 0..3 {
        let again = keyed(bank.pay_call(&order), "k").send().await;
        assert!(is_replay(&again));
        assert_eq!((again.status, &again.body), (200, &first.body));
    }
    bank.reaches(Country::Pak, &id, "succeeded").await;
    assert_eq!(bank.book(&id).await.len(), 1);
}

async fn the_answer_is_repeated_as_it_was_whatever_has_happened_since(on: On) {
    let bank = Bank::new(on).await;
    let order = bank.any_quote().await.order().ending(Country::Pak, "0003");
    let first = keyed(bank.pay_call(&order), "k").send().await;
    bank.reaches(Country::Pak, first.ok()["id"].text(), "reversed").await;
    let again = keyed(bank.pay_call(&order), "k").send().await;
    assert_eq!((again.status, &again.body), (200, &first.body));
    assert_eq!(again.ok()["status"].text(), "queued");
}

async fn the_same_key_with_another_body_is_refused(on: On) {
    let bank = Bank::new(on).await;
    quote(&bank, "k", "100").await.ok();
    quote(&bank, "k", "100.0").await.fault("header.idempotency-key", "idempotency_mismatch");
    quote(&bank, "k", "101").await.fault("header.idempotency-key", "idempotency_mismatch");
    assert!(is_replay(&quote(&bank, "k", "100").await));
}

async fn concurrent_repetitions_have_one_effect(on: On) {
    let bank = Bank::new(on).await;
    let quotes = join_all((0..12).map(|_| quote(&bank, "q", "100"))).await;
    let order = bank.any_quote().await.order();
    let payments = join_all((0..12).map(|_| keyed(bank.pay_call(&order), "p").send())).await;
    for answers in [&quotes, &payments] {
        assert_eq!(answers.iter().filter(|answer| !is_replay(answer)).count(), 1, "{answers:?}");
        assert!(
            answers.iter().all(|answer| answer.status == 200 && answer.body == answers[0].body),
            "{answers:?}"
        );
    }
    let id = payments[0].ok()["id"].text().to_owned();
    bank.reaches(Country::Pak, &id, "succeeded").await;
    assert_eq!(bank.book(&id).await.len(), 1);
    assert_eq!(bank.get("/v2/payments?country=PAK").send().await.ok().items().len(), 1);
}

async fn a_refused_outcome_is_not_remembered(on: On) {
    let bank = Bank::new(on).await;
    quote(&bank, "k", "0.001").await.fault("body.amount", "decimal_max_places");
    assert!(!is_replay(&quote(&bank, "k", "100").await));
    let first = bank.any_quote().await;
    bank.pay(&first.order()).await.ok();
    keyed(bank.pay_call(&first.order()), "p").send().await.refused(400, "quote_used");
    let paid = keyed(bank.pay_call(&bank.any_quote().await.order()), "p").send().await;
    assert!(!is_replay(&paid));
    paid.ok();
}

async fn a_key_is_scoped_to_its_path_and_tenant(on: On) {
    let (bank, other) = (Bank::new(on).await, Bank::new(on).await);
    let first = quote(&bank, "k", "100").await.ok();
    let theirs = quote(&other, "k", "100").await;
    assert!(!is_replay(&theirs));
    assert_ne!(theirs.ok()["id"], first["id"]);
    let order = bank.any_quote().await.order();
    let paid = keyed(bank.pay_call(&order), "k").send().await;
    assert!(!is_replay(&paid));
    paid.ok();
}

async fn a_key_that_is_not_printable_is_refused(on: On) {
    let bank = Bank::new(on).await;
    let body = quote_body(Country::Pak, Currency::Aed, "100");
    for key in ["", &"k".repeat(256), "a\tb", "schlüssel"] {
        let answer = keyed(bank.post("/v2/quote", body.clone()), key).send().await;
        answer.fault("header.idempotency-key", "invalid_idempotency_key");
    }
    for key in ["k", &"k".repeat(255), "a b~!\"#", "8e03978e-40d5-43dd-bc93-6894a57f9324"] {
        quote(&bank, key, "100").await.ok();
    }
}

async fn a_key_on_a_get_means_nothing(on: On) {
    let bank = Bank::new(on).await;
    quote(&bank, "k", "100").await.ok();
    let listed = keyed(bank.get("/v2/payments?country=PAK"), "k").send().await;
    assert!(!is_replay(&listed));
    listed.ok();
}

async fn an_expired_quote_is_still_repeated(on: On) {
    let bank = Bank::alone(on, Setup::new()).await;
    let first = quote(&bank, "k", "100").await;
    bank.advance(Span::hours(71)).await;
    let again = quote(&bank, "k", "100").await;
    assert_eq!((is_replay(&again), &again.body), (true, &first.body));
    // Valid for exactly 72 hours, whether or not the record was pruned; after that the key belongs
    // to the new quote.
    bank.advance(Span::hours(2)).await;
    let fresh = quote(&bank, "k", "100").await;
    assert!(!is_replay(&fresh));
    assert_ne!(fresh.ok()["id"], first.ok()["id"]);
    assert!(is_replay(&quote(&bank, "k", "100").await));
    bank.finish().await;
}

async fn a_payment_is_repeated_though_its_document_has_expired_by_now(on: On) {
    let bank = Bank::alone(on, Setup::new()).await;
    let today = jiff::Timestamp::now().strftime("%Y-%m-%d").to_string();
    let order = bank.any_quote().await.order().text("sender_identity_doc_exp", &today);
    let first = keyed(bank.pay_call(&order), "k").send().await;
    first.ok();
    bank.advance(Span::hours(48)).await;
    let late = bank.any_quote().await.order().text("sender_identity_doc_exp", &today);
    keyed(bank.pay_call(&late), "other")
        .send()
        .await
        .fault("body.sender_identity_doc_exp", "document_expired");
    let again = keyed(bank.pay_call(&order), "k").send().await;
    assert_eq!((is_replay(&again), again.status, &again.body), (true, 200, &first.body));
    // A client without a key, or with another one, learns that it was accepted.
    let refused = bank.pay(&order).await.refused(400, "quote_used");
    assert_eq!(refused["payment_id"], first.ok()["id"]);
    keyed(bank.pay_call(&order), "third").send().await.refused(400, "quote_used");
    let other = order.text("external_id", "of-another-order");
    bank.pay(&other).await.fault("body.sender_identity_doc_exp", "document_expired");
    let mismatch = keyed(bank.pay_call(&other), "k").send();
    mismatch.await.fault("header.idempotency-key", "idempotency_mismatch");
    bank.finish().await;
}

async fn a_payment_is_repeated_though_its_country_was_withdrawn(on: On) {
    let bank = Bank::agreed(on, |_| {}).await;
    let order = bank.any_quote().await.order();
    let (quoted, paid) = (quote(&bank, "q", "100").await, keyed(bank.pay_call(&order), "k"));
    let paid = paid.send().await;
    let mut policy = bank.tenant.policy.clone();
    policy.countries.remove(&Country::Pak);
    let store = bank.running.store();
    store.set_tenant_policy(bank.tenant.id, &policy, "an operator").await.expect("set");
    // An accepted one would be repeated under its key.
    let asked = AtomicU32::new(0);
    let is_withdrawn = || async {
        let key = format!("new {}", asked.fetch_add(1, Ordering::Relaxed));
        quote(&bank, &key, "100").await.status == 403
    };
    assert!(testkit::wait::until_async(testkit::wait::AT_MOST, is_withdrawn).await);
    let again = quote(&bank, "q", "100").await;
    assert_eq!((again.status, is_replay(&again), &again.body), (200, true, &quoted.body));
    let again = keyed(bank.pay_call(&order), "k").send().await;
    assert_eq!((again.status, is_replay(&again), &again.body), (200, true, &paid.body));
    // A client without a key, or with another one, learns that it was accepted.
    let refused = bank.pay(&order).await.refused(400, "quote_used");
    assert_eq!(refused["payment_id"], paid.ok()["id"]);
    let other = order.text("external_id", "of-another-order");
    bank.pay(&other).await.refused(403, "corridor_not_enabled");
}

async fn answers_are_repeated_after_a_restart(on: On) {
    let bank = Bank::alone(on, Setup::new()).await;
    let order = bank.any_quote().await.order();
    let first = keyed(bank.pay_call(&order), "k").send().await;
    first.ok();
    let bank = bank.restart().await;
    let again = keyed(bank.pay_call(&order), "k").send().await;
    assert_eq!((is_replay(&again), again.status, &again.body), (true, 200, &first.body));
    keyed(bank.pay_call(&order.with("remarks", "1")), "k").send().await.faults();
    bank.finish().await;
}

/// The same operations at another address, where requests wait `patience` for the first one with
/// their key.
async fn with_patience(
    bank: &Bank,
    patience: Duration,
) -> (String, tokio::sync::watch::Sender<bool>) {
    let running = &bank.running;
    let (stop, stopping) = tokio::sync::watch::channel(false);
    let settings = Settings {
        rules: Rules::new(Environment::Mock, Service::Pay, running.url.clone()),
        rates: Rates { off: true, ..Rates::default() },
        streams_per_key: 1,
        heartbeat: Duration::from_secs(15),
        patience,
        body: BodyLimits { max_bytes: 65_536, read_timeout: Duration::from_secs(5) },
        stopping,
    };
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("bound"));
    let routes = router(Api::new(running.payments().clone(), settings))
        .layer(from_fn(http_api::request_id::layer));
    let service = routes.into_make_service_with_connect_info::<SocketAddr>();
    tokio::spawn(async move { axum::serve(listener, service).await });
    (url, stop)
}

/// Sends bursts of repeated requests until one meets the first in progress.
const BURSTS_MAX: usize = 200;

/// `decisions.md`: "409 with Retry-After after 10 s"; here without any wait.
async fn a_repetition_that_would_wait_too_long_gets_retry_after(on: On) {
    let bank = Bank::new(on).await;
    let (url, _stop) = with_patience(&bank, Duration::ZERO).await;
    for burst in 0..BURSTS_MAX {
        let key = format!("k-{burst}");
        let call =
            || keyed(bank.quote_call(Country::Pak, Currency::Aed, "100"), &key).at(&url).send();
        let answers = join_all((0..12).map(|_| call())).await;
        let (made, waiting): (Vec<Answer>, Vec<Answer>) =
            answers.into_iter().partition(|answer| answer.status == 200);
        assert!(made.iter().all(|answer| answer.body == made[0].body), "{made:?}");
        for answer in &waiting {
            answer.refused(409, "request_under_way");
            assert_eq!(answer.header("retry-after"), Some("1"));
        }
        if !waiting.is_empty() {
            // A retry gets the first response.
            let again = call().await;
            assert!(is_replay(&again));
            assert_eq!(again.ok()["id"], made[0].ok()["id"]);
            return;
        }
    }
    panic!("no repetition met the first of its key under way");
}
