//! `corridor ledger reconcile`: the ledger beside the chain and the rails (I14). The running service compares, because
//! only it can ask the chain; this asks it to through the store, waits for its report and shows it.

use clap::Args;
use domain::ports::Clock as _;
use domain::time::Span;
use engine::reconcile::{self, Break, Report};
use serde_json::json;
use store::Store;
use uuid::Uuid;

use super::super::Context;
use super::super::failure::Failure;
use super::super::output::{self, Output};
use super::super::store_commands::{Opened, open};
use super::super::tenants::StoreArgs;
use crate::service::clock::WallClock;

/// How often it is looked whether the report is there.
const LOOK_EVERY: Span = Span::millis(200);

/// Options of `ledger reconcile`.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  corridor ledger reconcile
  corridor ledger reconcile --last --output json

A running service compares every ten minutes, and at once when this command asks it to. What does not agree is listed
here, counted by the metric corridor_reconciliation_breaks, and lies open as an alert.

Exit codes: 0 everything agrees, 1 it does not, 3 no service answered in time.")]
pub struct ReconcileArgs {
    /// Show the last comparison; do not ask for another
    #[arg(long)]
    last: bool,
    /// How long to wait for the service
    #[arg(long, default_value_t = 120, value_name = "SECONDS", conflicts_with = "last")]
    timeout: u32,
    #[command(flatten)]
    store: StoreArgs,
}

/// Shows what agrees with what.
pub async fn run(args: &ReconcileArgs, context: &Context) -> Result<(), Failure> {
    let opened = open(&args.store, context).await?;
    let report = if args.last {
        let none = || Failure::Unavailable("nothing was compared yet: is a service running?".to_owned());
        reconcile::last(&opened.store).await.map_err(Failure::of_store)?.ok_or_else(none)?
    } else {
        let wish = reconcile::want(&opened.store).await.map_err(Failure::of_store)?;
        fulfilled(&opened.store, wish, Span::secs(args.timeout.into())).await?
    };
    show(&report, &opened, context.output).await?;
    if report.found == 0 {
        return Ok(());
    }
    Err(Failure::Refused(format!("the ledger does not agree in {} places", report.found)))
}

/// The report that names this wish.
async fn fulfilled(store: &Store, wish: Uuid, within: Span) -> Result<Report, Failure> {
    let until = WallClock.now() + within;
    loop {
        let report = reconcile::last(store).await.map_err(Failure::of_store)?;
        if let Some(report) = report.filter(|report| report.wanted == Some(wish)) {
            return Ok(report);
        }
        let now = WallClock.now();
        if now >= until {
            let message =
                "no service compared in time: is one running, and does its chain answer? --last shows the last";
            return Err(Failure::Unavailable(message.to_owned()));
        }
        WallClock.sleep_until(now + LOOK_EVERY).await;
    }
}

async fn show(report: &Report, opened: &Opened, output: Output) -> Result<(), Failure> {
    let tenants = opened.store.tenants().await.map_err(Failure::of_store)?;
    let tag = |it: &Break| {
        tenants.iter().find(|tenant| tenant.id == it.tenant).map_or_else(|| it.tenant.to_string(), |it| it.tag.clone())
    };
    match output {
        Output::Table => {
            output::line(&format!(
                "{}: {} balances on the chain, {} accounts at rails, {} breaks",
                report.at, report.vaults, report.rails, report.found
            ))?;
            report.breaks.iter().try_for_each(|it| output::line(&format!("BREAK: {}: {it}", tag(it))))
        }
        Output::Json => {
            let breaks: Vec<_> = report
                .breaks
                .iter()
                .map(|it| {
                    json!({
                        "tenant": tag(it),
                        "account": it.account.to_string(),
                        "currency": it.account.currency().code(),
                        "side": it.side.name(),
                        "said_minor": it.said,
                        "ledger_least_minor": it.least,
                        "ledger_most_minor": it.most,
                    })
                })
                .collect();
            output::json(&json!({
                "at": report.at.to_string(),
                "chain_balances": report.vaults,
                "rail_accounts": report.rails,
                "found": report.found,
                "breaks": breaks,
            }))
        }
    }
}
