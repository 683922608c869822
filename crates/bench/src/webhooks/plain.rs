//! The reference for deliveries: a plain HTTP client sends the same bytes with the same headers to
//! the same receiver, with the service's concurrency, and stores nothing.

use std::time::{Duration, Instant};

use adapters::webhooks::{ID_HEADER, SIGNATURE_HEADER, TIMESTAMP_HEADER};
use anyhow::Context as _;
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use http::header;
use reqwest::Client;

use super::receiver::{Received, Receiver, Request};

/// Maximum number of concurrent requests.
const AT_ONCE: usize = 64;

/// How many were sent, and how long it took.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plain {
    pub(super) sent: u64,
    pub(super) took: Duration,
}

/// Sends all requests again.
pub(super) async fn send(receiver: &Receiver, received: &Received) -> anyhow::Result<Plain> {
    let client =
        Client::builder().no_proxy().tls_certs_only([]).pool_max_idle_per_host(AT_ONCE).build()?;
    let began = Instant::now();
    let each = |request| send_one(&client, &receiver.url, request);
    stream::iter(&received.requests)
        .map(each)
        .buffer_unordered(AT_ONCE)
        .try_collect::<()>()
        .await?;
    Ok(Plain { sent: received.requests.len() as u64, took: began.elapsed() })
}

async fn send_one(client: &Client, url: &str, request: &Request) -> anyhow::Result<()> {
    let post = client
        .post(format!("{url}{}", request.path))
        .header(header::CONTENT_TYPE, "application/json")
        .header(ID_HEADER, &request.id)
        .header(TIMESTAMP_HEADER, &request.timestamp)
        .header(SIGNATURE_HEADER, &request.signature)
        .body(request.body.clone());
    let answer = post.send().await.context("the plain client")?;
    anyhow::ensure!(
        answer.status().is_success(),
        "the receiver answered the plain client {}",
        answer.status()
    );
    answer.bytes().await.context("the plain client")?;
    Ok(())
}
