//! Follows the payment service's log of events to whoever wants each of them, opened again wherever the stream breaks.

use std::ops::ControlFlow;
use std::time::Duration;

use super::super::failure::Failure;
use super::super::output;
use client::{Client, ClientError, Event};

/// How long is waited before a broken stream is opened again.
const RECONNECT_PAUSE: Duration = Duration::from_secs(1);
/// How often in a row opening may fail.
const MAX_FAILURES: u32 = 30;

/// Hands on every event behind `after` (`None`: from now on) until `each` has enough.
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
                output::remark(&format!("{error}; trying again"));
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

/// One stream to its end.
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
