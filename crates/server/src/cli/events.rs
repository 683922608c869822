//! `corridor events …`. Here: `tail`, the event log as JSON lines, resumed wherever the stream breaks.

mod sign;

use std::time::Duration;

use clap::{Args, Subcommand};

use super::api::{self, ApiArgs};
use super::failure::Failure;
use super::{Context, output};
use crate::client::{Client, ClientError};

/// How long is waited before a broken stream is opened again.
const RECONNECT_PAUSE: Duration = Duration::from_secs(1);
/// How often in a row opening may fail.
const MAX_FAILURES: u32 = 30;

/// `events …`
#[derive(Subcommand, Debug)]
pub enum EventsCommand {
    /// Print events as they happen, one JSON object a line
    Tail(TailArgs),
    /// Sign a webhook's body
    Sign(sign::SignArgs),
    /// Say whether a webhook is genuine
    Verify(sign::VerifyArgs),
}

/// Options of `events tail`.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  corridor events tail --after 0 --count 10
  corridor events tail | jq -r '[.seq, .type, .data.id] | @tsv'")]
pub struct TailArgs {
    /// Begin after the event of this seq; 0 = all that is kept. Left out: from now on
    #[arg(long, value_name = "SEQ")]
    after: Option<u64>,
    /// End after this many events
    #[arg(long, value_name = "N")]
    count: Option<u64>,
    #[command(flatten)]
    api: ApiArgs,
}

/// Runs `events …`.
pub fn run(command: &EventsCommand, context: &Context) -> Result<(), Failure> {
    match command {
        EventsCommand::Tail(args) => api::wait_for(tail(&args.api.client(&context.data_dir()?)?, args)),
        EventsCommand::Sign(args) => sign::sign(args, context),
        EventsCommand::Verify(args) => sign::verify(args, context),
    }
}

async fn tail(client: &Client, args: &TailArgs) -> Result<(), Failure> {
    let (mut after, mut left, mut failures) = (args.after, args.count, 0);
    while left != Some(0) {
        match follow(client, &mut after, &mut left, &mut failures).await {
            Ok(()) => {}
            Err(Lost::Stream(error)) if error.may_be_repeated() || failures > 0 => {
                failures += 1;
                if failures > MAX_FAILURES || matches!(error, ClientError::Refused { .. }) {
                    return Err(error.into());
                }
                output::remark(&format!("{error}; trying again"));
                tokio::time::sleep(RECONNECT_PAUSE).await;
            }
            Err(Lost::Stream(error)) => return Err(error.into()),
            Err(Lost::Output(failure)) => return Err(failure),
        }
    }
    Ok(())
}

enum Lost {
    Stream(ClientError),
    Output(Failure),
}

/// Prints one stream to its end.
async fn follow(
    client: &Client,
    after: &mut Option<u64>,
    left: &mut Option<u64>,
    failures: &mut u32,
) -> Result<(), Lost> {
    let mut stream = client.events(*after).await.map_err(Lost::Stream)?;
    while *left != Some(0) {
        let Some(event) = stream.next().await.map_err(Lost::Stream)? else { return Ok(()) };
        *failures = 0;
        output::line(&event.line).map_err(Lost::Output)?;
        *after = Some(event.seq);
        *left = left.map(|left| left - 1);
    }
    Ok(())
}
