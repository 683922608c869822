//! `corridor review refund …`: giving a refused deposit back. One person proposes where to, another one approves; the
//! running service carries out what they decided, each half with a key of its own.

use clap::{Args, Subcommand};
use domain::chain::Address;
use domain::coin_amount;
use domain::deposit::Deposit;
use domain::ids::{DepositId, TenantId};
use serde_json::json;

use super::super::Context;
use super::super::failure::Failure;
use super::super::output::{self, Output};
use super::super::people::{OnePerson, is_same};
use super::super::store_commands::{Opened, open};
use super::super::tenants::TenantArgs;

/// `review refund …`
#[derive(Subcommand, Debug)]
pub enum RefundCommand {
    /// Propose to give a deposit back that was rejected or failed
    Propose(ProposeArgs),
    /// Approve a refund that somebody else has proposed
    Approve(ApproveArgs),
    /// Take a proposal back that nobody has approved yet
    Withdraw(WithdrawArgs),
    /// Show how far a refund is
    Show(ShowArgs),
}

/// Options of `review refund propose`.
#[derive(Args, Debug)]
#[command(after_help = "Example:
  corridor review refund propose --tenant demobank --to 0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed --by ayesha \\
    --why 'asked for by e-mail of 2026-11-20' 0d7a1d0e-…

Exchanges pay from addresses that many people share: give back to the address that the sender names. It is screened.")]
pub struct ProposeArgs {
    /// The incoming transaction, as `corridor tx list` shows it
    #[arg(value_name = "ID")]
    transaction: String,
    /// Where to, as its sender has named it
    #[arg(long, value_name = "ADDRESS", value_parser = address)]
    to: Address,
    #[command(flatten)]
    person: OnePerson,
    #[command(flatten)]
    tenant: TenantArgs,
}

/// Options of `review refund approve`.
#[derive(Args, Debug)]
#[command(after_help = "Example:
  corridor review refund approve --tenant demobank --by omar --why 'the sender confirmed the address' 0d7a1d0e-…

Approved by somebody else than who proposed it. The proposal has to be on the chain first, which takes some blocks.")]
pub struct ApproveArgs {
    /// The incoming transaction
    #[arg(value_name = "ID")]
    transaction: String,
    #[command(flatten)]
    person: OnePerson,
    #[command(flatten)]
    tenant: TenantArgs,
}

/// Options of `review refund withdraw`.
#[derive(Args, Debug)]
#[command(after_help = "Example:
  corridor review refund withdraw --tenant demobank --by ayesha --why 'the sender named another address' 0d7a1d0e-…

The money stays where it is, and giving it back can be proposed again. A proposal that is on the chain is called off there.")]
pub struct WithdrawArgs {
    /// The incoming transaction
    #[arg(value_name = "ID")]
    transaction: String,
    #[command(flatten)]
    person: OnePerson,
    #[command(flatten)]
    tenant: TenantArgs,
}

/// Options of `review refund show`.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  corridor review refund show --tenant demobank 0d7a1d0e-…")]
pub struct ShowArgs {
    /// The incoming transaction
    #[arg(value_name = "ID")]
    transaction: String,
    #[command(flatten)]
    tenant: TenantArgs,
}

/// Runs `review refund …`.
pub async fn run(command: &RefundCommand, context: &Context) -> Result<(), Failure> {
    match command {
        RefundCommand::Propose(args) => propose(args, context).await,
        RefundCommand::Approve(args) => approve(args, context).await,
        RefundCommand::Withdraw(args) => withdraw(args, context).await,
        RefundCommand::Show(args) => {
            let id = transaction_id(&args.transaction)?;
            let opened = open(&args.tenant.store, context).await?;
            let tenant = opened.tenant(&args.tenant.tenant).await?;
            show(&found(&opened, tenant.id, id).await?, context.output)
        }
    }
}

async fn propose(args: &ProposeArgs, context: &Context) -> Result<(), Failure> {
    let id = transaction_id(&args.transaction)?;
    let opened = open(&args.tenant.store, context).await?;
    let caller = opened.caller(&args.tenant.tenant).await?;
    let wallets = opened.wallets_with_lists().await?;
    let proposed = wallets.service.propose_refund(&caller, id, args.to, args.person.deed(&opened.by)).await;
    let proposed = proposed.map_err(Failure::refused)?.made;
    wallets.finish().await;
    output::remark("proposed; somebody else approves it: `corridor review refund approve`");
    show(&proposed, context.output)
}

async fn approve(args: &ApproveArgs, context: &Context) -> Result<(), Failure> {
    let id = transaction_id(&args.transaction)?;
    let opened = open(&args.tenant.store, context).await?;
    let caller = opened.caller(&args.tenant.tenant).await?;
    // The engine compares the names as they are written.
    let mut by = args.person.deed(&opened.by);
    if let Some(refund) = found(&opened, caller.tenant, id).await?.refund {
        by = by.together_with(&refund.proposed_by);
        if is_same(&refund.proposed_by, &args.person.by) {
            let message = format!("--by: must be somebody else than {}, who proposed it", refund.proposed_by);
            return Err(Failure::Refused(message));
        }
    }
    let wallets = opened.wallets_with_lists().await?;
    let approved = wallets.service.approve_refund(&caller, id, by).await;
    let approved = approved.map_err(Failure::refused)?.made;
    wallets.finish().await;
    output::remark("approved; the running service pays it back");
    show(&approved, context.output)
}

async fn withdraw(args: &WithdrawArgs, context: &Context) -> Result<(), Failure> {
    let id = transaction_id(&args.transaction)?;
    let opened = open(&args.tenant.store, context).await?;
    let caller = opened.caller(&args.tenant.tenant).await?;
    let wallets = opened.wallets_with_lists().await?;
    let withdrawn = wallets.service.withdraw_refund(&caller, id, args.person.deed(&opened.by)).await;
    let withdrawn = withdrawn.map_err(Failure::refused)?.made;
    wallets.finish().await;
    output::remark("withdrawn: nothing is given back");
    show(&withdrawn, context.output)
}

async fn found(opened: &Opened, tenant: TenantId, id: DepositId) -> Result<Deposit, Failure> {
    let deposit = opened.store.deposit(tenant, id).await.map_err(Failure::of_store)?;
    deposit.ok_or_else(|| Failure::Refused(format!("there is no incoming transaction {id}")))
}

fn show(deposit: &Deposit, output: Output) -> Result<(), Failure> {
    let refund = deposit.refund.as_ref();
    let (amount, coin) = (coin_amount::show(deposit.minor), deposit.coin.currency().code());
    let tx = refund.and_then(|refund| refund.tx).map(|tx| tx.to_string());
    match output {
        Output::Table => {
            let approved_by = refund.and_then(|refund| refund.approved_by.clone());
            let is_on_chain = refund.is_some_and(|refund| refund.proposed);
            output::members(&[
                ("transaction", deposit.id.to_string()),
                ("state", deposit.state.name().to_owned()),
                ("amount", format!("{amount} {coin}")),
                ("goes back to", refund.map_or_else(String::new, |refund| refund.to.to_string())),
                ("proposed by", refund.map_or_else(String::new, |refund| refund.proposed_by.clone())),
                ("on the chain", if is_on_chain { "yes".to_owned() } else { String::new() }),
                ("approved by", approved_by.unwrap_or_default()),
                ("paid back by", tx.unwrap_or_default()),
            ])
        }
        Output::Json => {
            let refund = refund.map(|refund| {
                json!({
                    "to": refund.to.to_string(),
                    "proposed_by": refund.proposed_by,
                    "on_chain": refund.proposed,
                    "approved_by": refund.approved_by,
                    "tx_hash": tx,
                })
            });
            output::json(&json!({
                "transaction_id": deposit.id.to_string(),
                "state": deposit.state.name(),
                "amount": amount,
                "currency": coin,
                "refund": refund,
            }))
        }
    }
}

fn transaction_id(text: &str) -> Result<DepositId, Failure> {
    DepositId::parse(text).ok_or_else(|| Failure::Usage(format!("{text:?} is no id of a transaction")))
}

/// Reads an address. Money is sent there: a checksum (EIP-55) that it carries has to be right.
fn address(text: &str) -> Result<Address, String> {
    Address::parse(text).ok_or("must be an address: 0x and 40 hexadecimal digits")?;
    Address::parse_checked(text).ok_or_else(|| "its checksum is wrong: is a digit mistyped?".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistyped_address_is_refused() {
        // The example of EIP-55.
        let right = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";
        let upper = right.to_uppercase().replacen('X', "x", 1);
        for text in [right, &right.to_lowercase(), &upper] {
            assert_eq!(address(text).map(|it| it.to_string()), Ok(right.to_owned()), "{text}");
        }
        for wrong in [
            "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAee",
            "0x5aaeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
            "5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
            "0x5aAe",
        ] {
            assert!(address(wrong).is_err(), "{wrong}");
        }
    }
}
