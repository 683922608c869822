//! `corridor ledger reconcile`: compares the ledger with the chain, the rails' reports and bank
//! statements (I14). Only the running service can query the chain, so this command requests a
//! report through the store, waits for it and shows it.

use clap::Args;
use domain::bank_statement::RailBreak;
use domain::names::words;
use domain::ports::Clock as _;
use domain::time::{Span, Timestamp};
use engine::reconcile::{self, Break, NAMED_MAX, Report};
use serde_json::{Value, json};
use store::{Covered, Store, StoreError, Tenant};
use uuid::Uuid;

use super::super::Context;
use super::super::failure::Failure;
use super::super::output::{self, Output};
use super::super::store_commands::{Opened, open};
use super::super::table::{text, time};
use super::super::tenants::StoreArgs;
use service::clock::WallClock;

/// Poll interval for the report.
const LOOK_EVERY: Span = Span::millis(200);

/// Indent of a discrepancy's further lines.
const HANG: usize = 2;

/// Options of `ledger reconcile`.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  corridor ledger reconcile
  corridor ledger reconcile --last --output json

A running service reconciles every ten minutes, and when this command requests it. Discrepancies are listed here, counted
by the metric corridor_reconciliation_breaks, and open an alert. A discrepancy with a bank statement ends when a later
statement or report resolves it, or when its alert is closed (`corridor review alerts close`).

Exit codes: 0 reconciled, 1 discrepancies found, 3 no service answered in time.")]
pub struct ReconcileArgs {
    /// Show the last report without requesting a new one
    #[arg(long)]
    last: bool,
    /// Seconds to wait for the service
    #[arg(long, default_value_t = 120, value_name = "SECONDS", conflicts_with = "last")]
    timeout: u32,
    #[command(flatten)]
    store: StoreArgs,
}

pub async fn run(args: &ReconcileArgs, context: &Context) -> Result<(), Failure> {
    let opened = open(&args.store, context).await?;
    let report = if args.last {
        let none = || {
            Failure::Unavailable("no reconciliation report yet; is a service running?".to_owned())
        };
        reconcile::last(&opened.store).await.map_err(Failure::of_store)?.ok_or_else(none)?
    } else {
        let wish = reconcile::want(&opened.store).await.map_err(Failure::of_store)?;
        fulfilled(&opened.store, wish, Span::secs(args.timeout.into())).await?
    };
    let statements = Statements::of(&opened).await.map_err(Failure::of_store)?;
    show(&report, &statements, context.output)?;
    match report.found + statements.found {
        0 => Ok(()),
        found => Err(Failure::Refused(format!(
            "reconciliation found {}",
            output::counted(found, "discrepancy")
        ))),
    }
}

/// The report that started after this request.
async fn fulfilled(store: &Store, wish: Uuid, within: Span) -> Result<Report, Failure> {
    let until = WallClock.now() + within;
    loop {
        if let Some(report) = reconcile::fulfilled(store, wish).await.map_err(Failure::of_store)? {
            return Ok(report);
        }
        let now = WallClock.now();
        if now >= until {
            let message = "no service reported in time; check that one is running and its chain answers, or use --last";
            return Err(Failure::Unavailable(message.to_owned()));
        }
        WallClock.sleep_until(now + LOOK_EVERY).await;
    }
}

/// The bank statements of the report.
struct Statements {
    tenants: Vec<Tenant>,
    covered: Vec<Covered>,
    found: usize,
    /// Statements with their tenants' tags.
    breaks: Vec<(String, Timestamp, RailBreak)>,
}

impl Statements {
    async fn of(opened: &Opened) -> Result<Statements, StoreError> {
        let tenants = opened.store.tenants().await?;
        let mut breaks = Vec::new();
        for tenant in &tenants {
            let found = opened.store.rail_breaks(tenant.id, NAMED_MAX).await?;
            breaks.extend(found.into_iter().map(|(since, it)| (tenant.tag.clone(), since, it)));
        }
        let (covered, found) =
            (opened.store.covered().await?, opened.store.rail_break_count().await?);
        Ok(Statements { tenants, covered, found, breaks })
    }

    fn tag(&self, it: &Break) -> String {
        let tenant = self.tenants.iter().find(|tenant| tenant.id == it.tenant);
        tenant.map_or_else(|| it.tenant.to_string(), |it| it.tag.clone())
    }
}

fn show(report: &Report, statements: &Statements, output: Output) -> Result<(), Failure> {
    match output {
        Output::Table => show_lines(report, statements),
        Output::Json => output::json(&document(report, statements)),
    }
}

fn show_lines(report: &Report, statements: &Statements) -> Result<(), Failure> {
    output::members(&[
        ("at", report.at.to_string()),
        ("on the chain", output::counted(report.vaults, "balance")),
        ("at rails", output::counted(report.rails, "account")),
        ("with statements", output::counted(statements.covered.len(), "account")),
        ("found", output::counted(report.found + statements.found, "discrepancy")),
    ])?;
    if !statements.covered.is_empty() {
        let columns = [text("rail"), text("currency"), time("statements from"), time("until")];
        let row = |it: &Covered| {
            vec![
                it.rail.to_string(),
                it.currency.code().to_owned(),
                it.from.to_string(),
                it.to.to_string(),
            ]
        };
        output::rows(&columns, statements.covered.iter().map(row).collect())?;
    }
    for it in &report.breaks {
        output::sentence(&format!("DISCREPANCY: {}: {it}", statements.tag(it)), HANG)?;
    }
    for (tag, since, it) in &statements.breaks {
        let kind = words(it.kind.name());
        output::sentence(&format!("DISCREPANCY: {tag}: {kind} since {since}: {}", it.what), HANG)?;
    }
    Ok(())
}

fn document(report: &Report, statements: &Statements) -> Value {
    let account = |it: &Break| {
        json!({
            "tenant": statements.tag(it),
            "account": it.account.to_string(),
            "currency": it.account.currency().code(),
            "side": it.side.name(),
            "said_minor": it.said,
            "ledger_least_minor": it.least,
            "ledger_most_minor": it.most,
        })
    };
    let of_statement = |(tag, since, it): &(String, Timestamp, RailBreak)| {
        json!({
            "tenant": tag,
            "rail": &*it.rail.0,
            "kind": it.kind.name(),
            "about": it.subject.to_string(),
            "since": since.to_string(),
            "what": it.what,
        })
    };
    let covered = |it: &Covered| {
        json!({
            "rail": &*it.rail.0,
            "currency": it.currency.code(),
            "from": it.from.to_string(),
            "to": it.to.to_string(),
        })
    };
    json!({
        "at": report.at.to_string(),
        "chain_balances": report.vaults,
        "rail_accounts": report.rails,
        "statements": statements.covered.iter().map(covered).collect::<Vec<_>>(),
        "found": report.found + statements.found,
        "breaks": report.breaks.iter().map(account).collect::<Vec<_>>(),
        "statement_breaks": statements.breaks.iter().map(of_statement).collect::<Vec<_>>(),
    })
}
