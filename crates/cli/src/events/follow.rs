//! Follows the payment service's event log and reopens the stream whenever it breaks.

use std::ops::ControlFlow;
use std::time::Duration;

use super::super::failure::Failure;
use super::super::output;
use client::{Client, ClientError, Event};

/// Delay before a broken stream is reopened.
const RECONNECT_PAUSE: Duration = Duration::from_secs(1);
/// Maximum number of consecutive failed attempts to open.
const MAX_FAILURES: u32 = 30;

/// Passes every event after `after` (`None`: from now on) to `each` until it breaks.
pub async fn follow(
    client: &Client,
    mut after: Option<u64>,
    mut each: impl AsyncFnMut(Event) -> Result<ControlFlow<()>, Failure>,
) -> Result<(), Failure> {
    let mut failures = 0;
    loop {
        match stream(client, &mut after, &mut failures, &mut each).await {
            Ok(ControlFlow::Break(())) => return Ok(()),
            Ok(ControlFlow::Continue(())) => {}
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
    let mut stream = client.events(*after).await.map_err(Lost::Stream)?;
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
