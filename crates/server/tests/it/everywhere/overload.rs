//! More requests than the service accepts: some are refused, none is lost, and service continues as
//! before.

use std::collections::BTreeSet;

use domain::country::Country;
use domain::currency::Currency;
use futures_util::future::join_all;

use crate::harness::{Answer, Bank, On, Setup, on_both_stores};

on_both_stores! {
    a_full_queue_is_reported_and_accepted_requests_are_kept
}

/// Concurrent requests, against a queue of one.
const AT_ONCE: usize = 64;
const BURSTS_MAX: usize = 100;

async fn a_full_queue_is_reported_and_accepted_requests_are_kept(on: On) {
    let bank = Bank::alone(on, Setup::new().set("engine.queue_max", "1")).await;
    let ask = || async {
        let call = bank.quote_call(Country::Pak, Currency::Aed, "100");
        Answer::read("POST /v2/quote".to_owned(), call.open().await).await
    };
    let mut made = BTreeSet::new();
    let mut turned_away = 0;
    for _ in 0..BURSTS_MAX {
        for answer in join_all((0..AT_ONCE).map(|_| ask())).await {
            if answer.status == 200 {
                made.insert(answer.ok()["id"].text().to_owned());
            } else {
                answer.refused(503, "unavailable");
                assert_eq!(answer.header("retry-after"), Some("1"));
                turned_away += 1;
            }
        }
        if turned_away > 0 {
            break;
        }
    }
    assert!(turned_away > 0, "{} requests were taken and none turned away", made.len());
    // Retries succeed, and the log contains exactly the requests answered with 200.
    made.insert(ask().await.ok()["id"].text().to_owned());
    let (mut logged, mut after) = (BTreeSet::new(), 0);
    loop {
        let events = bank.events_after(after).await;
        let Some(last) = events.last() else { break };
        after = last["seq"].number().parse().expect("a number");
        logged.extend(events.iter().map(|event| event["data"]["id"].text().to_owned()));
    }
    assert_eq!(logged, made);
    bank.finish().await;
}
