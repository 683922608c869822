//! The retry budget, and pauses that servers ask for.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;
use crate::fetch::tests::serve;

/// Answers the first requests with these heads, and then 200; counts all of them.
async fn failing(heads: &'static [&'static str]) -> (String, Arc<AtomicUsize>) {
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let url = serve(move |_| {
        let head = heads.get(count.fetch_add(1, Ordering::SeqCst)).unwrap_or(&"200 OK");
        format!("HTTP/1.1 {head}\r\ncontent-length: 0\r\n\r\n")
    })
    .await;
    (url, asked)
}

#[tokio::test]
async fn only_requests_without_effect_are_repeated() {
    const BROKEN: &[&str] = &["503 Service Unavailable", "502 Bad Gateway", "504 Gateway Timeout"];
    let with = |retries| Settings { retries, ..Settings::default() };
    for (retries, status, requests) in [(0, 503, 1), (2, 504, 3), (3, 200, 4)] {
        let (url, asked) = failing(BROKEN).await;
        assert_eq!(get(&client(&with(retries), &url), &url).await, Ok(status));
        assert_eq!(asked.load(Ordering::SeqCst), requests);
        let (url, asked) = failing(BROKEN).await;
        assert_eq!(post(&client(&with(retries), &url), &url).await, Ok(503));
        assert_eq!(asked.load(Ordering::SeqCst), 1, "a POST is sent once");
    }
    let (url, asked) = failing(&["500 Internal Server Error"]).await;
    assert_eq!(get(&client(&with(2), &url), &url).await, Ok(500));
    assert_eq!(asked.load(Ordering::SeqCst), 1, "500 is an answer");
}

#[tokio::test]
async fn nothing_is_sent_during_a_pause() {
    for head in [
        "429 Too Many Requests\r\nretry-after: 60",
        "503 Service Unavailable\r\ndate: Sat, 21 Nov 2026 06:57:48 GMT\r\nretry-after: Sat, 21 Nov 2026 06:58:48 GMT",
    ] {
        let heads: &[&str] = vec![head].leak();
        let (url, asked) = failing(heads).await;
        let client = client(&Settings { retries: 2, ..Settings::default() }, &url);
        let status = head[..3].parse().expect("a status");
        assert_eq!(get(&client, &url).await, Ok(status), "too long to wait for");
        let fault = post(&client, &url).await.expect_err("a pause");
        assert!(
            matches!(fault, Fault::Paused { status: said, left } if said == status && left.as_secs() > 50),
            "{fault}"
        );
        assert!(fault.was_not_sent());
        assert_eq!(asked.load(Ordering::SeqCst), 1);
        // Another host is not meant.
        let (other, _) = failing(&[]).await;
        assert_eq!(get(&client, &other).await, Ok(200));
    }
}

#[tokio::test]
async fn a_destination_has_a_longest_pause_of_its_own() {
    for (pause_max, left) in [(3_600, 3_600), (300, 300)] {
        let (url, _) = failing(&["429 Too Many Requests\r\nretry-after: 86400"]).await;
        let pause_max = std::time::Duration::from_secs(pause_max);
        let client = client(&Settings { pause_max, ..Settings::default() }, &url);
        assert_eq!(get(&client, &url).await, Ok(429));
        let Err(Fault::Paused { left: rest, .. }) = post(&client, &url).await else {
            panic!("no pause")
        };
        assert!((left - 10..=left).contains(&rest.as_secs()), "{rest:?}");
    }
}

#[tokio::test]
async fn a_short_pause_is_waited_for() {
    let (url, asked) = failing(&["429 Too Many Requests\r\nretry-after: 0"]).await;
    let client = client(&Settings { retries: 1, ..Settings::default() }, &url);
    assert_eq!(get(&client, &url).await, Ok(200));
    assert_eq!(asked.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn credentials_are_not_sent_in_plain_text() {
    let authentication = Authentication::Bearer("s3cret".into());
    let settings = Settings { authentication, plain_http: true, ..Settings::default() };
    let refused = Client::new(&settings, "rails.x.url", &["http://bank.example"]);
    let refused = refused.expect_err("plain").to_string();
    assert!(refused.starts_with("rails.x.url: must be https: credentials"), "{refused}");
    assert!(Client::new(&settings, "rails.x.url", &["http://127.0.0.1:1"]).is_ok());
    let open = Settings { authentication: Authentication::None, ..settings };
    assert!(Client::new(&open, "rails.x.url", &["http://bank.example"]).is_ok());
}
