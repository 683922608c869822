//! `corridor ledger …`: the ledger, read directly from the store.

mod reconcile;
pub mod statement;
mod sweeps;

use clap::Subcommand;
use domain::ledger::Account;
use serde_json::json;

use super::failure::Failure;
use super::output::{self, Output};
use super::store_commands::open;
use super::table::{amount, number, text};
use super::tenants::{StoreArgs, TenantArgs};
use super::{Context, run_async};
use service::books;

use reconcile::ReconcileArgs;
use statement::StatementArgs;

#[derive(Subcommand, Debug)]
pub enum LedgerCommand {
    /// Show a tenant's trial balance: every account, and each currency's zero sum
    #[command(after_help = "Example:\n  corridor ledger trial-balance --tenant demobank")]
    TrialBalance(TenantArgs),
    /// Print an account statement for a period as a table, JSON, CSV or camt.053
    Statement(StatementArgs),
    /// List sweeps from the controller to the treasury, newest first, and pending amounts
    #[command(after_help = "Example:\n  corridor ledger sweeps --tenant demobank")]
    Sweeps(TenantArgs),
    /// Recompute every balance from the transfers and compare
    #[command(
        after_help = "Example:\n  corridor ledger verify\n\nExit codes: 0 consistent, 1 discrepancies found."
    )]
    Verify(StoreArgs),
    /// Reconcile the ledger with the chain, the rails' reports and bank statements
    Reconcile(ReconcileArgs),
}

pub fn run(command: &LedgerCommand, context: &Context) -> Result<(), Failure> {
    run_async(async {
        match command {
            LedgerCommand::TrialBalance(args) => trial_balance(args, context).await,
            LedgerCommand::Statement(args) => statement::run(args, context).await,
            LedgerCommand::Sweeps(args) => sweeps::run(args, context).await,
            LedgerCommand::Verify(args) => verify(args, context).await,
            LedgerCommand::Reconcile(args) => reconcile::run(args, context).await,
        }
    })
}

async fn trial_balance(args: &TenantArgs, context: &Context) -> Result<(), Failure> {
    let opened = open(&args.store, context).await?;
    let tenant = opened.tenant(&args.tenant).await?;
    let mut accounts = opened.store.accounts(tenant.id).await.map_err(Failure::of_store)?;
    accounts.sort_by_key(|account| (account.code.currency(), account.code.to_string()));
    match context.output {
        Output::Table => {
            let row = |account: &Account| {
                let plain =
                    |minor| domain::money::Money::new(minor, account.code.currency()).to_string();
                vec![
                    account.code.to_string(),
                    account.balance().to_string(),
                    plain(account.debits_posted),
                    plain(account.credits_posted),
                    plain(account.debits_pending),
                    plain(account.credits_pending),
                ]
            };
            let columns = [
                text("account"),
                amount("balance"),
                number("debits"),
                number("credits"),
                number("pending debits"),
                number("pending credits"),
            ];
            output::rows(&columns, accounts.iter().map(row).collect())
        }
        Output::Json => accounts.iter().try_for_each(|account| {
            output::json(&json!({
                "account": account.code.to_string(),
                "currency": account.code.currency().code(),
                "balance": account.balance().decimal().to_string(),
                "available": account.available().decimal().to_string(),
                "debits_posted_minor": account.debits_posted,
                "credits_posted_minor": account.credits_posted,
                "debits_pending_minor": account.debits_pending,
                "credits_pending_minor": account.credits_pending,
            }))
        }),
    }
}

async fn verify(args: &StoreArgs, context: &Context) -> Result<(), Failure> {
    let opened = open(args, context).await?;
    let report = books::verify(&opened.store).await.map_err(Failure::of_store)?;
    match context.output {
        Output::Table => {
            let tenants = output::counted(report.tenants, "tenant");
            output::line(&format!("{tenants}, {}", output::counted(report.accounts, "account")))?;
            report
                .findings
                .iter()
                .try_for_each(|finding| output::line(&format!("WRONG: {finding}")))?;
            if report.findings.is_empty() {
                output::line(
                    "ok: every balance is the sum of its transfers, and every currency sums to zero",
                )?;
            }
        }
        Output::Json => output::json(&json!({
            "tenants": report.tenants,
            "accounts": report.accounts,
            "findings": report.findings,
        }))?,
    }
    if report.findings.is_empty() {
        return Ok(());
    }
    Err(Failure::Refused(format!(
        "the ledger has {}",
        output::counted(report.findings.len(), "discrepancy")
    )))
}
