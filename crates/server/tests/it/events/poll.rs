//! `GET /v2/events?mode=poll`: finite pages.

use domain::time::Span;
use testkit::wait::AT_MOST;

use crate::harness::{Bank, On, Setup, on_both_stores};

on_both_stores! {
    a_page_goes_on_where_the_last_one_ended
    no_cursor_means_from_now
    a_wait_ends_with_the_first_event
    a_wait_without_events_ends_empty
    a_cursor_that_is_no_longer_kept_has_expired
    a_cursor_ahead_of_the_log_is_refused_with_its_head
    parameters_are_held_to_their_rules
}

async fn a_page_goes_on_where_the_last_one_ended(on: On) {
    let bank = Bank::new(on).await;
    for _ in 0..5 {
        bank.any_quote().await;
    }
    let mut after = "0".to_owned();
    for (expected, next) in [(&[1, 2][..], "2"), (&[3, 4], "4"), (&[5], "5"), (&[], "5")] {
        let answer = bank.get(&format!("/v2/events?mode=poll&after={after}&limit=2")).send().await;
        let page = answer.ok();
        assert_eq!(page.names(), ["events", "next"]);
        let numbers: Vec<i64> =
            page["events"].items().iter().map(|event| event["seq"].integer()).collect();
        assert_eq!(numbers, expected);
        page["next"].text().clone_into(&mut after);
        assert_eq!(after, next);
    }
    assert_eq!(
        bank.get("/v2/events?mode=poll&after=0&limit=0").send().await.ok()["next"].text(),
        "0"
    );
    let resumed = bank.get("/v2/events?mode=poll").header("last-event-id", "3").send().await.ok();
    assert_eq!(resumed["events"].items().len(), 2);
    let first = bank.get("/v2/events?mode=poll&after=3").header("last-event-id", "").send().await;
    assert_eq!(first.ok()["events"].items().len(), 2, "an empty one is not a position");
    for (after, seen, left) in [("4", "1", 1), ("0", "4", 1), ("2", "2", 3)] {
        let call = bank.get(&format!("/v2/events?mode=poll&after={after}"));
        let both = call.header("last-event-id", seen).send().await.ok();
        assert_eq!(both["events"].items().len(), left, "the later of {after} and {seen} counts");
    }
}

async fn no_cursor_means_from_now(on: On) {
    let bank = Bank::new(on).await;
    bank.any_quote().await;
    let page = bank.get("/v2/events?mode=poll").send().await.ok();
    assert_eq!((page["events"].items().len(), page["next"].text()), (0, "1"));
}

async fn a_wait_ends_with_the_first_event(on: On) {
    let bank = Bank::new(on).await;
    let started = std::time::Instant::now();
    let (page, quote) =
        tokio::join!(bank.get("/v2/events?mode=poll&after=0&wait=30").send(), bank.any_quote());
    assert_eq!(page.ok()["events"][0]["data"], quote.0);
    assert!(started.elapsed() < std::time::Duration::from_secs(30), "the whole wait");
}

async fn a_wait_without_events_ends_empty(on: On) {
    let bank = Bank::new(on).await;
    let page = bank.get("/v2/events?mode=poll&after=0&wait=1").send().await.ok();
    assert_eq!((page["events"].items().len(), page["next"].text()), (0, "0"));
}

async fn a_cursor_that_is_no_longer_kept_has_expired(on: On) {
    let bank = Bank::alone(on, Setup::new()).await;
    for _ in 0..3 {
        bank.any_quote().await;
    }
    bank.get("/v2/events?mode=poll&after=1").send().await.ok();
    bank.advance(Span::days(31)).await;
    // The quotes expire now: three new events, and the three old ones are pruned.
    let gone = || async {
        let kept = bank.events_after(0).await;
        kept.first().is_some_and(|event| event["seq"].integer() == 4) && kept.len() == 3
    };
    assert!(testkit::wait::until_async(AT_MOST, gone).await, "{:?}", bank.events_after(0).await);
    for after in [1, 2] {
        bank.get(&format!("/v2/events?mode=poll&after={after}"))
            .send()
            .await
            .refused(400, "cursor_expired");
        bank.get(&format!("/v2/events?after={after}")).send().await.refused(400, "cursor_expired");
    }
    let page = bank.get("/v2/events?mode=poll&after=3").send().await.ok();
    assert_eq!(page["events"].items().len(), 3, "nothing is missed behind the last that is gone");
    // Even with an empty log, an old cursor has missed events.
    bank.advance(Span::days(31)).await;
    let empty = || async { bank.events_after(0).await.is_empty() };
    assert!(testkit::wait::until_async(AT_MOST, empty).await);
    bank.get("/v2/events?mode=poll&after=3").send().await.refused(400, "cursor_expired");
    bank.get("/v2/events?mode=poll&after=6").send().await.ok();
    bank.finish().await;
}

async fn a_cursor_ahead_of_the_log_is_refused_with_its_head(on: On) {
    let bank = Bank::new(on).await;
    // A log that never had events: no cursor is ahead of it.
    let empty = bank.get("/v2/events?mode=poll&after=1").send().await;
    assert_eq!(empty.refused(400, "cursor_ahead")["head"].number(), "0");
    bank.any_quote().await;
    bank.any_quote().await;
    bank.get("/v2/events?mode=poll&after=2").send().await.ok();
    for after in ["3", "1000139", "9223372036854775807", "100000000000000000000"] {
        for mode in ["mode=poll&", ""] {
            let answer = bank.get(&format!("/v2/events?{mode}after={after}")).send().await;
            assert_eq!(answer.refused(400, "cursor_ahead")["head"].number(), "2", "{mode}{after}");
        }
    }
    let resumed = bank.get("/v2/events").header("last-event-id", "3").send().await;
    assert_eq!(resumed.refused(400, "cursor_ahead")["head"].number(), "2");
}

async fn parameters_are_held_to_their_rules(on: On) {
    let bank = Bank::new(on).await;
    for (query, expected) in [
        ("mode=push", &["query.mode enum"][..]),
        ("mode=poll&after=-1", &["query.after greater_than_equal"]),
        ("mode=poll&after=x", &["query.after int_parsing"]),
        ("mode=poll&limit=1001", &["query.limit less_than_equal"]),
        ("mode=poll&limit=-1", &["query.limit greater_than_equal"]),
        ("mode=poll&wait=31", &["query.wait less_than_equal"]),
        ("mode=poll&wait=x&limit=y", &["query.limit int_parsing", "query.wait int_parsing"]),
        ("mode=poll&mode=stream", &["query.mode multiple_values"]),
        (
            "mode=poll&Limit=2&after_id=1",
            &["query.limit extra_forbidden", "query.after extra_forbidden"],
        ),
    ] {
        assert_eq!(
            bank.get(&format!("/v2/events?{query}")).send().await.fault_kinds(),
            expected,
            "{query}"
        );
    }
    let seen = bank.get("/v2/events?mode=poll").header("last-event-id", "abc").send().await;
    assert_eq!(seen.fault_kinds(), ["header.last-event-id int_parsing"]);
}
