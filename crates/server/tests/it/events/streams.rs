//! `GET /v2/events`: endless streams as JSON lines and as server-sent events.

use std::time::Duration;

use domain::country::Country;
use domain::time::Span;
use reqwest::Response;
use testkit::wait::AT_MOST;

use crate::harness::client::Answer;
use crate::harness::{Bank, Json, On, Setup, on_both_stores};

on_both_stores! {
    json_lines_tell_what_happens_as_it_happens
    server_sent_events_carry_id_event_and_data
    a_stream_goes_on_behind_the_last_event_that_was_seen
    a_browser_that_reconnects_gets_no_event_twice
    a_stream_without_a_cursor_begins_now
    both_framings_and_pages_tell_the_same
    an_idle_stream_sends_heartbeats
    five_streams_per_key_and_no_more
    streams_end_when_the_service_stops
    a_stream_ends_cleanly_after_an_hour
}

/// An open stream, read line by line.
struct Lines {
    response: Response,
    rest: Vec<u8>,
}

impl Lines {
    async fn open(bank: &Bank, query: &str, headers: &[(&str, &str)]) -> Lines {
        let call = bank.get(&format!("/v2/events{query}"));
        let call = headers.iter().fold(call, |call, (name, value)| call.header(name, value));
        let response = call.open().await;
        assert_eq!(response.status().as_u16(), 200);
        assert_eq!(response.headers()["x-accel-buffering"], "no", "nginx would hold it back");
        Lines { response, rest: Vec::new() }
    }

    /// The next line; `None` at the end of the response.
    async fn next(&mut self) -> Option<String> {
        loop {
            if let Some(end) = self.rest.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.rest.drain(..=end).collect();
                return Some(String::from_utf8(line[..end].to_vec()).expect("UTF-8"));
            }
            let chunk = tokio::time::timeout(AT_MOST, self.response.chunk())
                .await
                .expect("something in time");
            self.rest.extend_from_slice(&chunk.expect("the stream does not break")?);
        }
    }

    /// The next events of JSON lines, skipping heartbeats.
    async fn events(&mut self, count: usize) -> Vec<Json> {
        let mut events = Vec::new();
        while events.len() < count {
            let line = self.next().await.expect("the stream goes on");
            if !line.is_empty() {
                events.push(Json::read(line.as_bytes()));
            }
        }
        events
    }

    /// The next server-sent event: its fields by name.
    async fn sent(&mut self) -> Vec<(String, String)> {
        let mut fields = Vec::new();
        loop {
            let line = self.next().await.expect("the stream goes on");
            match line.split_once(": ") {
                Some(("", _)) => {}
                Some((name, value)) => fields.push((name.to_owned(), value.to_owned())),
                None if fields.is_empty() => {}
                None => return fields,
            }
        }
    }
}

async fn json_lines_tell_what_happens_as_it_happens(on: On) {
    let bank = Bank::new(on).await;
    let mut lines = Lines::open(&bank, "?after=0", &[]).await;
    assert_eq!(lines.response.headers()["content-type"], "application/json");
    assert!(lines.response.headers().contains_key("x-request-id"));
    let quote = bank.any_quote().await;
    let created = lines.events(1).await.remove(0);
    assert_eq!((created["type"].text(), &created["data"]), ("quote.created", &quote.0));
    let accepted = bank.pay(&quote.order()).await.ok();
    let events = lines.events(4).await;
    let kinds: Vec<&str> = events.iter().map(|event| event["type"].text()).collect();
    assert_eq!(kinds, ["quote.used", "payment.queued", "payment.processing", "payment.succeeded"]);
    assert_eq!(events[1]["data"]["response"], accepted);
    assert_eq!(events[3]["data"], bank.record(Country::Pak, accepted["id"].text()).await);
}

async fn server_sent_events_carry_id_event_and_data(on: On) {
    let bank = Bank::new(on).await;
    let quote = bank.any_quote().await;
    let mut lines = Lines::open(&bank, "?after=0", &[("accept", "text/event-stream")]).await;
    assert_eq!(lines.response.headers()["content-type"], "text/event-stream");
    assert_eq!(lines.sent().await, [("retry".to_owned(), "2000".to_owned())]);
    let sent = lines.sent().await;
    let names: Vec<&str> = sent.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["id", "event", "data"]);
    assert_eq!((sent[0].1.as_str(), sent[1].1.as_str()), ("1", "quote.created"));
    let event = Json::read(sent[2].1.as_bytes());
    assert_eq!((event["seq"].integer(), &event["data"]), (1, &quote.0));
}

async fn a_stream_goes_on_behind_the_last_event_that_was_seen(on: On) {
    let bank = Bank::new(on).await;
    for _ in 0..4 {
        bank.any_quote().await;
    }
    let numbers =
        |events: Vec<Json>| events.iter().map(|event| event["seq"].integer()).collect::<Vec<_>>();
    let mut lines = Lines::open(&bank, "?after=2", &[]).await;
    assert_eq!(numbers(lines.events(2).await), [3, 4]);
    let mut lines = Lines::open(&bank, "", &[("last-event-id", "1")]).await;
    assert_eq!(numbers(lines.events(3).await), [2, 3, 4]);
    let mut sent =
        Lines::open(&bank, "", &[("last-event-id", "3"), ("accept", "text/event-stream")]).await;
    sent.sent().await;
    assert_eq!(sent.sent().await[0].1, "4");
}

/// `EventSource` calls its first address again, with the last id in the header.
async fn a_browser_that_reconnects_gets_no_event_twice(on: On) {
    let bank = Bank::new(on).await;
    for _ in 0..4 {
        bank.any_quote().await;
    }
    for (query, seen, next) in [("?after=0", "2", "3"), ("?after=3", "1", "4")] {
        let headers = [("last-event-id", seen), ("accept", "text/event-stream")];
        let mut stream = Lines::open(&bank, query, &headers).await;
        stream.sent().await;
        assert_eq!(stream.sent().await[0].1, next, "{query}, {seen} seen");
    }
    let mut lines = Lines::open(&bank, "?after=0", &[("last-event-id", "3")]).await;
    assert_eq!(lines.events(1).await[0]["seq"].integer(), 4);
}

async fn a_stream_without_a_cursor_begins_now(on: On) {
    let bank = Bank::new(on).await;
    bank.any_quote().await;
    let mut lines = Lines::open(&bank, "", &[]).await;
    let quote = bank.any_quote().await;
    let first = lines.events(1).await.remove(0);
    assert_eq!((first["seq"].integer(), &first["data"]), (2, &quote.0));
}

async fn both_framings_and_pages_tell_the_same(on: On) {
    let bank = Bank::new(on).await;
    let id = bank.paid(Country::Pak, |order| order).await;
    bank.reaches(Country::Pak, &id, "succeeded").await;
    let page = bank.events_after(0).await;
    assert_eq!(Lines::open(&bank, "?after=0", &[]).await.events(page.len()).await, page);
    let mut lines =
        Lines::open(&bank, "?after=0", &[("accept", "application/json, text/event-stream")]).await;
    lines.sent().await;
    for event in page {
        assert_eq!(Json::read(lines.sent().await[2].1.as_bytes()), event);
    }
}

async fn an_idle_stream_sends_heartbeats(on: On) {
    let bank = Bank::alone(on, Setup::new().set("http.heartbeat_s", "1")).await;
    let mut lines = Lines::open(&bank, "?after=0", &[]).await;
    let mut sent = Lines::open(&bank, "?after=0", &[("accept", "text/event-stream")]).await;
    assert_eq!(sent.sent().await.len(), 1, "how soon to come back, and no event");
    assert_eq!(lines.next().await.as_deref(), Some(""));
    assert_eq!(sent.next().await.as_deref(), Some(": heartbeat"));
    assert_eq!(sent.next().await.as_deref(), Some(""));
    // The stream is alive: the next event arrives as usual.
    let quote = bank.any_quote().await;
    assert_eq!(lines.events(1).await[0]["data"], quote.0);
    assert_eq!(sent.sent().await[1].1, "quote.created");
    drop((lines, sent));
    bank.finish().await;
}

async fn five_streams_per_key_and_no_more(on: On) {
    let bank = Bank::new(on).await;
    let mut open = Vec::new();
    for _ in 0..5 {
        open.push(Lines::open(&bank, "?after=0", &[]).await);
    }
    let sixth = bank.get("/v2/events?after=0").send().await;
    sixth.refused(429, "too_many_streams");
    assert_eq!(sixth.header("retry-after"), Some("1"));
    // A page is not a stream, and another key has its own five.
    bank.events_after(0).await;
    let other = Bank::new(on).await;
    Lines::open(&other, "?after=0", &[]).await;
    open.pop();
    let again = || async { bank.get("/v2/events?after=0").open().await.status().as_u16() == 200 };
    assert!(testkit::wait::until_async(AT_MOST, again).await, "a stream that ended makes room");
}

async fn streams_end_when_the_service_stops(on: On) {
    let bank = Bank::alone(on, Setup::new()).await;
    let mut lines = Lines::open(&bank, "?after=0", &[]).await;
    let mut sent = Lines::open(&bank, "?after=0", &[("accept", "text/event-stream")]).await;
    bank.any_quote().await;
    lines.events(1).await;
    sent.sent().await;
    sent.sent().await;
    let waiting = tokio::spawn(bank.get("/v2/events?mode=poll&after=1&wait=30").open());
    // Once others are answered, it is waiting.
    for _ in 0..3 {
        bank.get("/v2/payments?country=PAK").send().await.ok();
    }
    let started = std::time::Instant::now();
    let stopped = bank.running.begin_stop();
    assert_eq!(lines.next().await, None, "the answer ends in order");
    assert_eq!(sent.next().await, None);
    let page =
        Answer::read("GET /v2/events".to_owned(), waiting.await.expect("an answer")).await.ok();
    assert_eq!(page["events"].items().len(), 0);
    assert!(started.elapsed() < Duration::from_secs(15), "the stop does not wait for a timeout");
    drop(bank);
    stopped.await.expect("stopped");
}

async fn a_stream_ends_cleanly_after_an_hour(on: On) {
    let bank = Bank::alone(on, Setup::new()).await;
    let mut lines = Lines::open(&bank, "?after=0", &[]).await;
    bank.any_quote().await;
    lines.events(1).await;
    bank.advance(Span::secs(3_600)).await;
    // Events in between may still arrive, then the stream ends; the next one continues there.
    while let Some(line) = lines.next().await {
        assert!(line.is_empty() || line.contains("quote.expired"), "{line}");
    }
    bank.get("/v2/events?mode=poll&after=1").send().await.ok();
    bank.finish().await;
}
