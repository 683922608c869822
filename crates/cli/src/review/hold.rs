//! `corridor review hold …`: legal holds that were placed in error or that an authority lifted.
//! Lifting one requires two users; the running service lifts it on chain.

use clap::{Args, Subcommand};
use domain::approval::DualControl;
use domain::coin_amount;
use domain::deposit::Deposit;
use domain::names::words;
use domain::payment_request::EscrowHold;
use domain::user::Scope;
use serde_json::json;

use super::super::Context;
use super::super::failure::Failure;
use super::super::output::{self, Output};
use super::super::people::MakerAndChecker;
use super::super::store_commands::{Opened, open};
use super::super::tenants::TenantArgs;
use super::refund::{found, transaction_id};

#[derive(Subcommand, Debug)]
pub enum HoldCommand {
    /// Lift the legal hold of a deposit
    Lift(LiftArgs),
    /// Show whether a deposit and its escrow are on legal hold
    Show(ShowArgs),
}

/// Options of `review hold lift`.
#[derive(Args, Debug)]
#[command(after_help = "Example:
  corridor review hold lift --tenant demobank --maker ayesha --checker omar \\
    --why 'a different person of that name: passport seen, case 17' 0d7a1d0e-…

The deposit stays rejected, as reported to the bank, and can be refunded (`corridor review refund propose`). If nothing else
in its escrow is on hold, the running service lifts the hold on chain, then screens waiting deposits of the escrow again.")]
pub struct LiftArgs {
    /// Incoming transaction id, as shown by `corridor tx list`
    #[arg(value_name = "ID")]
    transaction: String,
    #[command(flatten)]
    people: MakerAndChecker,
    #[command(flatten)]
    tenant: TenantArgs,
}

/// Options of `review hold show`.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  corridor review hold show --tenant demobank 0d7a1d0e-…")]
pub struct ShowArgs {
    /// Incoming transaction id, as shown by `corridor tx list`
    #[arg(value_name = "ID")]
    transaction: String,
    #[command(flatten)]
    tenant: TenantArgs,
}

/// Runs `review hold …`.
pub async fn run(command: &HoldCommand, context: &Context) -> Result<(), Failure> {
    match command {
        HoldCommand::Lift(args) => lift(args, context).await,
        HoldCommand::Show(args) => {
            let opened = open(&args.tenant.store, context).await?;
            let tenant = opened.tenant(&args.tenant.tenant).await?;
            let id = transaction_id(&opened, tenant.id, &args.transaction).await?;
            let deposit = found(&opened, tenant.id, id).await?;
            show(&opened, &deposit, context.output).await
        }
    }
}

async fn lift(args: &LiftArgs, context: &Context) -> Result<(), Failure> {
    let opened = open(&args.tenant.store, context).await?;
    let caller = opened.caller(&args.tenant.tenant).await?;
    let id = transaction_id(&opened, caller.tenant, &args.transaction).await?;
    let deposit = found(&opened, caller.tenant, id).await?;
    if !deposit.has_hold_to_lift() {
        return Err(Failure::refused(deposit.refused()));
    }
    let wallets = opened.wallets_with_lists().await?;
    let scope = Scope::Tenant(caller.tenant);
    let by = args.people.deed(&opened, scope, DualControl::RELEASE).await?;
    let seen = Some(deposit.state_at);
    let lifted = wallets.service.lift_hold(&caller, id, seen, by, None).await;
    let lifted = lifted.map_err(Failure::refused)?.made;
    wallets.finish().await;
    output::remark("lifted; the deposit stays rejected and can be refunded");
    show(&opened, &lifted, context.output).await
}

async fn show(opened: &Opened, deposit: &Deposit, output: Output) -> Result<(), Failure> {
    let request = match deposit.request {
        Some(request) => {
            opened.store.request(deposit.tenant, request).await.map_err(Failure::of_store)?
        }
        None => None,
    };
    let hold = request.as_ref().map(|request| request.hold_of(&deposit.to));
    let escrow = hold.as_ref().map(escrow);
    let held_at = hold.and_then(|hold| hold.held_at).map(|at| at.to_string());
    let (amount, coin) = (coin_amount::show(deposit.minor), deposit.coin.currency().code());
    match output {
        Output::Table => output::members(&[
            ("transaction", deposit.id.to_string()),
            ("state", deposit.state.name().to_owned()),
            ("amount", format!("{amount} {coin}")),
            ("escrow", words(escrow.unwrap_or("none"))),
            ("escrow on hold since", held_at.unwrap_or_default()),
        ]),
        Output::Json => output::json(&json!({
            "transaction_id": deposit.id.to_string(),
            "state": deposit.state.name(),
            "amount": amount,
            "currency": coin,
            "escrow": escrow,
            "escrow_held_since": held_at,
        })),
    }
}

/// The state of an escrow's outgoing transfers.
const fn escrow(hold: &EscrowHold) -> &'static str {
    match (hold.held_at.is_some(), hold.lift.is_some()) {
        (true, true) => "being_lifted",
        (true, false) => "on_hold",
        (false, _) => "free",
    }
}
