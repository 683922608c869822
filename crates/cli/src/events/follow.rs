//! Follows the payment service's event log and reopens the stream whenever it breaks.

use std::ops::ControlFlow;
use std::time::Duration;

use super::super::failure::Failure;
use super::super::output;
use super::logs::end_of_payments;
use client::{Client, ClientError, Event};

/// Delay before a broken stream is reopened.
const RECONNECT_PAUSE: Duration = Duration::from_secs(1);
/// Maximum number of consecutive failed attempts to open.
const MAX_FAILURES: u32 = 30;

/// Passes every event after `after` (`None`: from now on) to `each` until it breaks. "Now" is a
/// position read before the first stream: events that occur while a stream is reopened are not lost.
pub async fn follow(
    client: &Client,
    mut after: Option<u64>,
    mut each: impl AsyncFnMut(Event) -> Result<ControlFlow<()>, Failure>,
) -> Result<(), Failure> {
    let mut failures = 0;
    loop {
        match stream(client, &mut after, &mut failures, &mut each).await {
            Ok(ControlFlow::Break(())) => return Ok(()),
            // A service that stops ends its streams: the next one may end at once, too.
            Ok(ControlFlow::Continue(())) => tokio::time::sleep(RECONNECT_PAUSE).await,
            Err(Lost::Stream(error)) if error.may_be_repeated() || failures > 0 => {
                failures += 1;
                if failures > MAX_FAILURES || matches!(error, ClientError::Refused { .. }) {
                    return Err(error.into());
                }
                output::remark(&format!("{error}; retrying"));
                tokio::time::sleep(RECONNECT_PAUSE).await;
            }
            Err(Lost::Stream(error)) => return Err(error.into()),
            Err(Lost::Reader(failure)) => return Err(failure),
        }
    }
}

enum Lost {
    Stream(ClientError),
    Reader(Failure),
}

/// Reads one stream to its end.
async fn stream(
    client: &Client,
    after: &mut Option<u64>,
    failures: &mut u32,
    each: &mut impl AsyncFnMut(Event) -> Result<ControlFlow<()>, Failure>,
) -> Result<ControlFlow<()>, Lost> {
    let from = match *after {
        Some(after) => after,
        None => *after.insert(end_of_payments(client).await.map_err(Lost::Stream)?),
    };
    let mut stream = client.events(Some(from)).await.map_err(Lost::Stream)?;
    while let Some(event) = stream.next().await.map_err(Lost::Stream)? {
        *failures = 0;
        let seq = event.seq;
        if each(event).await.map_err(Lost::Reader)?.is_break() {
            return Ok(ControlFlow::Break(()));
        }
        *after = Some(seq);
    }
    Ok(ControlFlow::Continue(()))
}

#[cfg(test)]
mod tests {
    use client::Credentials;
    use config::Secret;
    use http_api::auth::Service;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpListener;

    use super::*;

    /// Answers one request per connection, in this order; returns the paths that were asked for.
    async fn serve(listener: TcpListener, answers: &[&str]) -> Vec<String> {
        let mut asked = Vec::new();
        for answer in answers {
            let (mut stream, _) = listener.accept().await.expect("a connection");
            let mut request = Vec::new();
            while !request.ends_with(b"\r\n\r\n") {
                request.push(stream.read_u8().await.expect("a request"));
            }
            let request = String::from_utf8(request).expect("UTF-8");
            asked.push(request.split(' ').nth(1).expect("a path").to_owned());
            let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close";
            let length = answer.len();
            let text = format!("{head}\r\ncontent-length: {length}\r\n\r\n{answer}");
            stream.write_all(text.as_bytes()).await.expect("answered");
        }
        asked
    }

    #[tokio::test]
    async fn a_stream_that_ends_before_its_first_event_is_continued_where_it_began() {
        drop(rustls::crypto::ring::default_provider().install_default());
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let client = Client::new(Credentials {
            service: Service::Pay,
            base_url: format!("http://{}", listener.local_addr().expect("an address")),
            audience: None,
            access_key: "a".to_owned(),
            secret_key: Secret::new("s"),
        });
        let event = r#"{"seq":8,"type":"payment.queued","data":{}}"#;
        let end = r#"{"events":[],"next":"7"}"#;
        let answers = [end, "", &format!("{event}\n")];
        let served = serve(listener, &answers);
        let client = client.expect("a client");
        let followed = follow(&client, None, async |_| Ok(ControlFlow::Break(())));
        let (asked, followed) = tokio::join!(served, followed);
        followed.expect("the event arrives");
        assert_eq!(asked, ["/v2/events?mode=poll", "/v2/events?after=7", "/v2/events?after=7"]);
    }
}
