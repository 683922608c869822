//! `/livez`, `/readyz`, `/metrics`

use domain::country::Country;
use reqwest::Method;
use testkit::wait::AT_MOST;

use crate::harness::{Answer, Bank, On, on_both_stores};

on_both_stores! {
    a_running_service_is_alive_and_ready
    metrics_count_what_happens
    the_books_can_be_verified_while_payments_go_on
}

async fn get(bank: &Bank, path: &str) -> Answer {
    bank.unsigned(Method::GET, path, None).send().await
}

async fn a_running_service_is_alive_and_ready(on: On) {
    let bank = Bank::new(on).await;
    let alive = get(&bank, "/livez").await;
    assert_eq!((alive.status, alive.body.as_slice()), (200, &b"ok\n"[..]));
    let ready = get(&bank, "/readyz").await.ok();
    assert_eq!(ready["status"].text(), "ready");
    assert_eq!(ready["checks"]["store"].text(), "ok");
    assert_eq!(ready["checks"]["draining"].text(), "ok");
    assert_eq!(ready["lists"]["SAMPLE"].text(), "never ages");
}

/// The sum of a metric over its labels.
fn total(text: &str, name: &str) -> u64 {
    let lines = text.lines().filter(|line| {
        line.strip_prefix(name).is_some_and(|rest| rest.starts_with(' ') || rest.starts_with('{'))
    });
    lines
        .map(|line| {
            line.rsplit(' ').next().expect("a value").parse::<u64>().expect("a whole number")
        })
        .sum()
}

async fn metrics_count_what_happens(on: On) {
    let bank = Bank::new(on).await;
    let exposed = get(&bank, "/metrics").await;
    assert_eq!(
        (exposed.status, exposed.header("content-type")),
        (200, Some("text/plain; version=0.0.4"))
    );
    let before = String::from_utf8(exposed.body).expect("text");
    bank.paid(Country::Pak, |order| order.from("Zorblax Qibbletan")).await;
    bank.get("/v2/payments").without("authorization").send().await.refused(401, "unauthorized");
    // Other tests of this process count too, so the value is a lower bound.
    for metric in
        ["corridor_auth_failures_total", "corridor_payments_total", "corridor_http_requests_total"]
    {
        let counted = || async {
            let now = String::from_utf8(get(&bank, "/metrics").await.body).expect("text");
            total(&now, metric) > total(&before, metric)
        };
        assert!(testkit::wait::until_async(AT_MOST, counted).await, "{metric}");
    }
    let now = || async { String::from_utf8(get(&bank, "/metrics").await.body).expect("text") };
    let text = now().await;
    let failures = text
        .lines()
        .filter(|line| line.starts_with("corridor_http_requests_total") && line.contains("5xx"));
    // Another test of this process exceeds its rate limits (everywhere::overload).
    let failures = failures.filter(|line| !line.contains("operation=\"create_quote\""));
    let failures: Vec<&str> = failures.filter(|line| !line.ends_with(" 0")).collect();
    assert!(failures.is_empty(), "{failures:?}");
    // Gauges are process-wide: another service may write its value between reading and showing.
    let waits =
        |line: &str| line.starts_with("corridor_jobs{kind=\"review\"}") && !line.ends_with(" 0");
    let shown = || async { now().await.lines().any(waits) };
    assert!(testkit::wait::until_async(AT_MOST, shown).await, "the payment waits for a person");
}

async fn the_books_can_be_verified_while_payments_go_on(on: On) {
    let bank = Bank::new(on).await;
    let paying =
        futures_util::future::join_all((0..20).map(|_| bank.paid(Country::Pak, |order| order)));
    let verifying = async {
        for _ in 0..2 {
            bank.running.verify_books().await;
        }
    };
    tokio::join!(paying, verifying);
}
