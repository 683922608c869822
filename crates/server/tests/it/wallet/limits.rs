//! Rate limits of the wallet service (specification: "Limits"; `decisions.md`: "Rate limits: fixed
//! 60 s windows per tenant and group"): exactly at the limit, per group and tenant, with headers on
//! every response.

use domain::policy::Environment;
use domain::ports::Clock as _;
use futures_util::future::join_all;
use http_api::auth::mint::{Grant, Minter};
use reqwest::Method;
use service::clock::WallClock;
use service::tenancy::KeyService;

use super::table::{MISSING, Op};
use crate::harness::wallet_bank::refused;
use crate::harness::{Answer, On, Setup, WalletBank, on_both_stores, run};

on_both_stores! {
    each_group_grants_its_limit_exactly
    all_keys_of_a_tenant_share_a_window_and_no_other_tenant_does
    a_restart_grants_no_extra_requests
    strangers_are_counted_by_their_address_and_cost_no_tenant_anything
    every_answer_has_the_three_headers
}

const LIMIT: &str = "x-ratelimit-limit";
const REMAINING: &str = "x-ratelimit-remaining";
const RESET: &str = "x-ratelimit-reset";
const WINDOW_S: i64 = 60;
/// The part of a window that a test needs.
const ROOM_S: i64 = 25;
/// Longer than the part of a window that is too short for a test.
const NEXT_WINDOW: std::time::Duration = std::time::Duration::from_secs(40);
const RATE: &str = "/v1/sdk/orders/exchange-rate?from_currency=USDC&to_currency=PKR";

/// An operation of each group with the group's limit.
fn groups() -> [(String, u32); 7] {
    [
        (format!("/v1/sdk/wallets/{MISSING}"), 100),
        (format!("/v1/sdk/payment-requests?wallet_id={MISSING}"), 200),
        (RATE.to_owned(), 50),
        (format!("/v1/sdk/transactions?wallet_id={MISSING}"), 200),
        // Operations beyond the specification share a group.
        ("/v1/sdk/events".to_owned(), 200),
        ("/v1/sdk/reviews".to_owned(), 0),
        ("/v1/sdk/webhooks/deliveries".to_owned(), 0),
    ]
}

/// Waits for a window with enough time left.
async fn fresh_window() {
    let early = || async { WallClock.now().unix_seconds() % WINDOW_S < WINDOW_S - ROOM_S };
    assert!(testkit::wait::until_async(NEXT_WINDOW, early).await);
}

fn window() -> i64 {
    WallClock.now().unix_seconds() / WINDOW_S
}

fn number(answer: &Answer, name: &str) -> u32 {
    answer.header(name).unwrap_or_else(|| panic!("{name}: {answer:?}")).parse().expect("a number")
}

#[track_caller]
fn is_refused(answer: &Answer, limit: u32) {
    let body = refused(answer, 429, "RATE_LIMIT_EXCEEDED", None);
    assert_eq!(body.names(), ["error", "message", "details", "request_id", "timestamp"]);
    let details = &body["details"];
    assert_eq!(details.names(), ["limit", "window", "retry_after"]);
    assert_eq!(
        (details["limit"].number(), details["window"].text()),
        (limit.to_string().as_str(), "60s")
    );
    assert_eq!((number(answer, LIMIT), number(answer, REMAINING)), (limit, 0));
    let reset = number(answer, RESET);
    assert!((1..=60).contains(&reset), "{reset}");
    assert_eq!(details["retry_after"].number(), reset.to_string());
    assert_eq!(answer.header("retry-after"), answer.header(RESET));
}

async fn each_group_grants_its_limit_exactly(on: On) {
    let bank = WalletBank::new(on).await;
    for (path, limit) in groups() {
        if limit == 0 {
            // Exhausted by the first operation of the group.
            is_refused(&bank.get(&path).send().await, 200);
            continue;
        }
        fresh_window().await;
        let began = window();
        // All at once, and some beyond the limit.
        let answers = join_all((0..limit + 5).map(|_| bank.get(&path).send())).await;
        assert_eq!(window(), began, "too slow for a window");
        let (over, granted): (Vec<&Answer>, Vec<&Answer>) =
            answers.iter().partition(|answer| answer.status == 429);
        assert_eq!(
            (granted.len(), over.len()),
            (usize::try_from(limit).expect("fits"), 5),
            "{path}"
        );
        over.iter().for_each(|answer| is_refused(answer, limit));
        let mut remaining: Vec<u32> =
            granted.iter().map(|answer| number(answer, REMAINING)).collect();
        remaining.sort_unstable();
        assert_eq!(remaining, (0..limit).collect::<Vec<_>>(), "{path}: each call takes one");
        for answer in granted {
            assert!([200, 404].contains(&answer.status), "{answer:?}");
            assert_eq!(number(answer, LIMIT), limit);
            assert!((1..=60).contains(&number(answer, RESET)));
            assert_eq!(answer.header("retry-after"), None);
        }
    }
}

async fn all_keys_of_a_tenant_share_a_window_and_no_other_tenant_does(on: On) {
    let (bank, other) = (WalletBank::new(on).await, WalletBank::new(on).await);
    let second = bank.bank.another_key(Environment::Mock, KeyService::Wallet).await;
    let second = bank.bank.with_key(second);
    fresh_window().await;
    bank.get(RATE).send().await.ok();
    let by_second = second.get(RATE).send().await;
    by_second.ok();
    assert_eq!(number(&by_second, REMAINING), 48);
    join_all((0..48).map(|_| bank.get(RATE).send())).await;
    is_refused(&second.get(RATE).send().await, 50);
    is_refused(&bank.order_call(MISSING, "1.00", "").send().await, 50);
    let theirs = other.get(RATE).send().await;
    theirs.ok();
    assert_eq!(number(&theirs, REMAINING), 49);
    let wallets = bank.get(&format!("/v1/sdk/wallets/{MISSING}")).send().await;
    assert_eq!((wallets.status, number(&wallets, REMAINING)), (404, 99), "another group");
}

async fn a_restart_grants_no_extra_requests(on: On) {
    let bank = WalletBank::alone(on, Setup::with_wallets()).await;
    fresh_window().await;
    let began = window();
    for _ in 0..30 {
        bank.get(RATE).send().await.ok();
    }
    let bank = bank.restart().await;
    let answers = join_all((0..50).map(|_| bank.get(RATE).send())).await;
    let granted = answers.iter().filter(|answer| answer.status == 200).count();
    assert_eq!(window(), began, "too slow for a window");
    // Permits that the first process drew and did not use are lost.
    assert!((1..=20).contains(&granted), "{granted}");
    bank.finish().await;
}

/// Reads are served while a batch holds SQLite's only writer.
#[test]
fn on_sqlite_reads_do_not_wait_for_the_writer() {
    run(On::Sqlite, reads_do_not_wait_for_the_writer);
}

async fn reads_do_not_wait_for_the_writer(on: On) {
    let bank = WalletBank::alone(on, Setup::with_wallets()).await;
    let store = bank.bank.running.store().clone();
    let tenant = store.tenants().await.expect("tenants").first().expect("a tenant").id;
    let (held, is_held) = std::sync::mpsc::sync_channel(1);
    let (release, released) = std::sync::mpsc::sync_channel::<()>(1);
    let holding = tokio::spawn(async move {
        let need = store::need::Need { tenants: [tenant].into(), ..store::need::Need::default() };
        let id = domain::ids::BatchId(uuid::Uuid::new_v4());
        let mut decide = move |_: &mut store::working_set::WorkingSet| {
            held.send(()).expect("the test waits");
            released.recv().expect("the test releases it");
        };
        store.execute(id, &need, &mut decide).await
    });
    let is_held = tokio::task::spawn_blocking(move || is_held.recv()).await.expect("no panic");
    is_held.expect("the writer is held");
    for (path, limit) in groups() {
        if limit > 0 {
            let answer = bank.get(&path).send().await;
            assert!([200, 404].contains(&answer.status), "{path}: {answer:?}");
        }
    }
    release.send(()).expect("the writer waits");
    holding.await.expect("no panic").expect("nothing was changed");
    bank.finish().await;
}

async fn strangers_are_counted_by_their_address_and_cost_no_tenant_anything(on: On) {
    let bank = WalletBank::alone(on, Setup::with_wallets()).await;
    let url = bank.bank.running.url.clone();
    // Access keys are not secret: a caller with a key but no secret is unauthenticated.
    let forger = Minter::new(bank.key.access_key.clone(), b"another secret", url);
    fresh_window().await;
    let began = window();
    for left in (0..50).rev() {
        let token = forger.authorization(Grant::new(WallClock.now(), 300));
        let answer = bank.get(RATE).header("authorization", &token).send().await;
        refused(&answer, 401, "UNAUTHORIZED", None);
        assert_eq!((number(&answer, LIMIT), number(&answer, REMAINING)), (50, left));
    }
    is_refused(&bank.bank.unsigned(Method::GET, RATE, None).send().await, 50);
    is_refused(
        &bank.bank.unsigned(Method::GET, "/v1/sdk/orders/none/at/all", None).send().await,
        50,
    );
    assert_eq!(window(), began, "too slow for a window");
    let ours = bank.get(RATE).send().await;
    ours.ok();
    assert_eq!(number(&ours, REMAINING), 49);
    bank.finish().await;
}

async fn every_answer_has_the_three_headers(on: On) {
    let bank = WalletBank::new(on).await;
    let mut statuses = std::collections::BTreeSet::new();
    for op in Op::all() {
        let with_body = |body: &str| (op.method == Method::POST).then(|| body.to_owned());
        let large = "x".repeat(70_000);
        for (roles, body) in
            [(&["wallet_manager"][..], "{"), (&[], "{}"), (&["wallet_manager"], large.as_str())]
        {
            let answer = bank
                .call_as(roles, op.method.clone(), &op.url(MISSING), with_body(body))
                .send()
                .await;
            headers(&answer);
            statuses.insert(answer.status);
        }
    }
    for (method, path) in [
        (Method::GET, "/v1/sdk/none"),
        (Method::DELETE, "/v1/sdk/orders"),
        (Method::GET, "/v1/sdk"),
    ] {
        let answer = bank.call_as(&[], method, path, None).send().await;
        headers(&answer);
        statuses.insert(answer.status);
    }
    let unsigned = bank.bank.unsigned(Method::GET, "/v1/sdk/events", None).send().await;
    headers(&unsigned);
    statuses.insert(unsigned.status);
    assert_eq!(statuses, [200, 400, 401, 403, 404, 405, 413].into());
}

#[track_caller]
fn headers(answer: &Answer) {
    let (limit, remaining) = (number(answer, LIMIT), number(answer, REMAINING));
    assert!([50, 100, 200].contains(&limit) && remaining <= limit, "{answer:?}");
    assert!((1..=60).contains(&number(answer, RESET)), "{answer:?}");
}
