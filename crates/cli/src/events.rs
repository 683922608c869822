//! `corridor events …`. Here: `tail`, the event logs as a story or as JSON lines.

mod deliveries;
mod follow;
pub mod logs;
mod sign;

pub(super) use deliveries::since;

use std::cell::Cell;
use std::ops::ControlFlow;

use clap::{Args, Subcommand};
use jiff::Timestamp;

use self::logs::{Logs, either_service, of_payments};
use super::Context;
use super::api::{self, ApiArgs, WalletApiArgs};
use super::failure::Failure;
use super::output::{self, Output};
use super::story::Logged;
use client::Client;

/// Maximum number of past events that are shown as a story.
const PAST_MAX: u64 = 200;

#[derive(Subcommand, Debug)]
pub enum EventsCommand {
    /// Show events as they occur
    Tail(TailArgs),
    /// List webhook deliveries and their last answers
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
  corridor events tail
  corridor events tail --since 1h
  corridor events tail --after 0 --output json | jq -r '[.seq, .type, .data.id] | @tsv'

Shows the events of both services, from now on, one line each. With --output json it prints the payment service's log, one
complete object per line; with --after it reads that log alone.")]
pub struct TailArgs {
    /// Start with the past: an instant, or a duration ago (90m, 6h, 2d); at most 200 events
    #[arg(long, value_name = "TIME", value_parser = since, conflicts_with = "after")]
    since: Option<Timestamp>,
    /// Start after the payment event with this seq; 0 starts with the oldest stored event
    #[arg(long, allow_negative_numbers = true, value_name = "SEQ")]
    after: Option<u64>,
    /// Exit after this many events
    #[arg(long, value_name = "N")]
    count: Option<u64>,
    #[command(flatten)]
    api: ApiArgs,
    #[command(flatten)]
    wallet: WalletApiArgs,
}

pub fn run(command: &EventsCommand, context: &Context) -> Result<(), Failure> {
    match command {
        EventsCommand::Tail(args) => tail(args, context),
        EventsCommand::List(args) => deliveries::list(args, context),
        EventsCommand::Resend(args) => deliveries::resend(args, context),
        EventsCommand::Recover(args) => deliveries::recover(args, context),
        EventsCommand::Sign(args) => sign::sign(args, context),
        EventsCommand::Verify(args) => sign::verify(args, context),
    }
}

fn tail(args: &TailArgs, context: &Context) -> Result<(), Failure> {
    let data_dir = context.data_dir()?;
    let shown = Shown { output: context.output, left: Cell::new(args.count) };
    if args.count == Some(0) {
        return Ok(());
    }
    if args.after.is_some() || context.output == Output::Json {
        let client = args.api.client(&data_dir)?;
        return api::wait_for(tail_payments(&client, args, &shown));
    }
    let (payments, wallets) =
        either_service(args.api.client(&data_dir), args.wallet.client(&data_dir))?;
    api::wait_for(async {
        let logs = Logs::end(payments.as_ref(), wallets.as_ref()).await?;
        if let Some(since) = args.since
            && shown.show_past(logs.past(PAST_MAX).await?, since)?.is_break()
        {
            return Ok(());
        }
        logs.follow(async |event| shown.next(&event)).await
    })
}

/// The payment service's log alone, which `--after` is a position of.
async fn tail_payments(client: &Client, args: &TailArgs, shown: &Shown) -> Result<(), Failure> {
    let mut after = args.after;
    if let Some(since) = args.since {
        let end = logs::end_of_payments(client).await?;
        let past = logs::payments_between(client, end.saturating_sub(PAST_MAX), end).await?;
        if shown.show_past(past, since)?.is_break() {
            return Ok(());
        }
        after = Some(end);
    }
    if let (Output::Table, Some(from), None) = (shown.output, after, args.count) {
        let start = logs::end_of_payments(client).await?.saturating_sub(PAST_MAX);
        if from < start {
            output::remark(&format!(
                "Only the last {PAST_MAX} past events; --count N and --output json show more."
            ));
            after = Some(start);
        }
    }
    follow::follow(client, after, async |event| shown.next(&of_payments(&event.line)?)).await
}

/// How events are shown, and how many more.
struct Shown {
    output: Output,
    /// Events still to come; `None` means no limit.
    left: Cell<Option<u64>>,
}

impl Shown {
    /// Shows the past events since this time. Breaks after the last one.
    fn show_past(&self, events: Vec<Logged>, since: Timestamp) -> Result<ControlFlow<()>, Failure> {
        let most = usize::try_from(PAST_MAX).unwrap_or(usize::MAX);
        let is_cut =
            events.first().is_some_and(|event| event.at() >= Some(since)) && events.len() >= most;
        let mut past: Vec<Logged> =
            events.into_iter().filter(|event| event.at() >= Some(since)).collect();
        let skipped = past.len().saturating_sub(most);
        past.drain(..skipped);
        if is_cut || skipped > 0 {
            output::remark(&format!(
                "Only the last {PAST_MAX} past events; for more: corridor events tail --after 0 --output json"
            ));
        }
        for event in &past {
            if self.next(event)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Shows one event. Breaks after the last one.
    fn next(&self, event: &Logged) -> Result<ControlFlow<()>, Failure> {
        match self.output {
            Output::Table => output::line(&event.line(output::width()))?,
            Output::Json => output::line(&event.json)?,
        }
        let left = self.left.get().map(|left| left - 1);
        self.left.set(left);
        Ok(if left == Some(0) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    }
}
