//! `corridor events …`. Here: `tail`, the event log as JSON lines.

mod deliveries;
pub mod follow;
mod sign;

pub(super) use deliveries::since;

use std::ops::ControlFlow;

use clap::{Args, Subcommand};

use super::api::{self, ApiArgs};
use super::failure::Failure;
use super::{Context, output};
use client::Client;

/// `events …`
#[derive(Subcommand, Debug)]
pub enum EventsCommand {
    /// Print events as they occur, one JSON object per line
    Tail(TailArgs),
    /// List webhook deliveries
    List(deliveries::ListArgs),
    /// Resend webhooks by event id
    Resend(deliveries::ResendArgs),
    /// Resend all webhooks that failed permanently since a time
    Recover(deliveries::RecoverArgs),
    /// Sign a webhook body
    Sign(sign::SignArgs),
    /// Verify a webhook signature
    Verify(sign::VerifyArgs),
}

/// Options of `events tail`.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  corridor events tail --after 0 --count 10
  corridor events tail | jq -r '[.seq, .type, .data.id] | @tsv'")]
pub struct TailArgs {
    /// Start after the event with this seq; 0 starts with the oldest stored event [default: new
    /// events only]
    #[arg(long, allow_negative_numbers = true, value_name = "SEQ")]
    after: Option<u64>,
    /// Exit after this many events
    #[arg(long, value_name = "N")]
    count: Option<u64>,
    #[command(flatten)]
    api: ApiArgs,
}

pub fn run(command: &EventsCommand, context: &Context) -> Result<(), Failure> {
    match command {
        EventsCommand::Tail(args) => {
            api::wait_for(tail(&args.api.client(&context.data_dir()?)?, args))
        }
        EventsCommand::List(args) => deliveries::list(args, context),
        EventsCommand::Resend(args) => deliveries::resend(args, context),
        EventsCommand::Recover(args) => deliveries::recover(args, context),
        EventsCommand::Sign(args) => sign::sign(args, context),
        EventsCommand::Verify(args) => sign::verify(args, context),
    }
}

async fn tail(client: &Client, args: &TailArgs) -> Result<(), Failure> {
    let mut left = args.count;
    if left == Some(0) {
        return Ok(());
    }
    follow::follow(client, args.after, async |event| {
        output::line(&event.line)?;
        left = left.map(|left| left - 1);
        Ok(if left == Some(0) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    })
    .await
}
