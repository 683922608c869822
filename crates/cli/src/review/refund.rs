//! `corridor review refund …`: refunds a rejected deposit. One user proposes the address, another
//! approves; the running service executes both halves, each with its own key.

use clap::{Args, Subcommand};
use domain::approval::DualControl;
use domain::chain::Address;
use domain::coin_amount;
use domain::deposit::{Deposit, SeenRefund};
use domain::ids::{DepositId, TenantId};
use domain::payment_request::{Named, RefundTo};
use domain::user::Scope;
use serde_json::json;
use store::Found;

use super::super::Context;
use super::super::failure::Failure;
use super::super::output::{self, Output};
use super::super::people::ActingUser;
use super::super::store_commands::{Opened, open};
use super::super::tenants::TenantArgs;

#[derive(Subcommand, Debug)]
pub enum RefundCommand {
    /// Propose a refund of a rejected or failed deposit
    Propose(ProposeArgs),
    /// Approve a refund that another user proposed
    Approve(ApproveArgs),
    /// Withdraw a proposal that is not approved yet
    Withdraw(WithdrawArgs),
    /// Show the status of a refund
    Show(ShowArgs),
}

/// Options of `review refund propose`.
#[derive(Args, Debug)]
#[command(after_help = "Example:
  corridor review refund propose --tenant demobank --to-senders-address --by ayesha --why 'case 17' 0d7a1d0e-…
  corridor review refund propose --tenant demobank --to 0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed --by ayesha \\
    --why 'asked for by e-mail of 2026-11-20' 0d7a1d0e-…

Exchanges send from addresses that many customers share, so refund to the address that the sender enters on the payment page
(`corridor review refund show`) or confirms otherwise. It is screened, and screened again at the approval.")]
pub struct ProposeArgs {
    /// Incoming transaction id, as shown by `corridor tx list`
    #[arg(value_name = "ID")]
    transaction: String,
    /// Refund address, as stated by the sender
    #[arg(long, value_name = "ADDRESS", value_parser = address, required_unless_present = "to_senders_address")]
    to: Option<Address>,
    /// Refund to the address that the sender entered on the payment page; refused unless every
    /// possible sender has entered one
    #[arg(long, conflicts_with = "to")]
    to_senders_address: bool,
    #[command(flatten)]
    person: ActingUser,
    #[command(flatten)]
    tenant: TenantArgs,
}

/// Options of `review refund approve`.
#[derive(Args, Debug)]
#[command(after_help = "Example:
  corridor review refund approve --tenant demobank --to 0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed --by omar \\
    --why 'the sender confirmed the address' 0d7a1d0e-…

A user other than the proposer approves the refund for the address that they reviewed (`corridor review refund show`). The
approval is refused if the proposal now names another address, or is not on chain yet, which takes some blocks.")]
pub struct ApproveArgs {
    /// Incoming transaction id, as shown by `corridor tx list`
    #[arg(value_name = "ID")]
    transaction: String,
    /// Refund address, as reviewed
    #[arg(long, value_name = "ADDRESS", value_parser = address)]
    to: Address,
    /// Amount of the refund, as reviewed
    #[arg(long, value_name = "AMOUNT", value_parser = amount, allow_negative_numbers = true)]
    amount: Option<i64>,
    #[command(flatten)]
    person: ActingUser,
    #[command(flatten)]
    tenant: TenantArgs,
}

/// Options of `review refund withdraw`.
#[derive(Args, Debug)]
#[command(after_help = "Example:
  corridor review refund withdraw --tenant demobank --by ayesha --why 'the sender named another address' 0d7a1d0e-…

The funds stay in place, and a refund can be proposed again. A proposal that is on chain is cancelled there.")]
pub struct WithdrawArgs {
    /// Incoming transaction id, as shown by `corridor tx list`
    #[arg(value_name = "ID")]
    transaction: String,
    #[command(flatten)]
    person: ActingUser,
    #[command(flatten)]
    tenant: TenantArgs,
}

/// Options of `review refund show`.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  corridor review refund show --tenant demobank 0d7a1d0e-…")]
pub struct ShowArgs {
    /// Incoming transaction id, as shown by `corridor tx list`
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
            let opened = open(&args.tenant.store, context).await?;
            let tenant = opened.tenant(&args.tenant.tenant).await?;
            let id = transaction_id(&opened, tenant.id, &args.transaction).await?;
            let deposit = found(&opened, tenant.id, id).await?;
            show(&deposit, &wanted(&opened, &deposit).await?, context.output)
        }
    }
}

async fn propose(args: &ProposeArgs, context: &Context) -> Result<(), Failure> {
    let opened = open(&args.tenant.store, context).await?;
    let caller = opened.caller(&args.tenant.tenant).await?;
    let id = transaction_id(&opened, caller.tenant, &args.transaction).await?;
    let wanted = wanted(&opened, &found(&opened, caller.tenant, id).await?).await?;
    let to = if args.to_senders_address { None } else { args.to };
    let to = to.map_or_else(|| wanted.only(), Ok)?;
    let scope = Scope::Tenant(caller.tenant);
    let by = args.person.deed(&opened, scope, DualControl::RELEASE.makers).await?;
    let wallets = opened.wallets_with_lists().await?;
    let proposed = wallets.service.propose_refund(&caller, id, to, by).await;
    let proposed = proposed.map_err(Failure::refused)?.made;
    wallets.finish().await;
    output::remark("proposed; another user approves it with `corridor review refund approve`");
    show(&proposed, &wanted, context.output)
}

async fn approve(args: &ApproveArgs, context: &Context) -> Result<(), Failure> {
    let opened = open(&args.tenant.store, context).await?;
    let caller = opened.caller(&args.tenant.tenant).await?;
    let id = transaction_id(&opened, caller.tenant, &args.transaction).await?;
    let scope = Scope::Tenant(caller.tenant);
    let mut by = args.person.deed(&opened, scope, DualControl::RELEASE.checkers).await?;
    if let Some(refund) = found(&opened, caller.tenant, id).await?.refund {
        by = by.together_with(&refund.proposed_by);
    }
    let seen = SeenRefund { to: args.to, minor: args.amount };
    let wallets = opened.wallets_with_lists().await?;
    let approved = wallets.service.approve_refund(&caller, id, seen, by).await;
    let approved = approved.map_err(Failure::refused)?.made;
    wallets.finish().await;
    output::remark("approved; the running service refunds it");
    show(&approved, &wanted(&opened, &approved).await?, context.output)
}

async fn withdraw(args: &WithdrawArgs, context: &Context) -> Result<(), Failure> {
    let opened = open(&args.tenant.store, context).await?;
    let caller = opened.caller(&args.tenant.tenant).await?;
    let id = transaction_id(&opened, caller.tenant, &args.transaction).await?;
    let scope = Scope::Tenant(caller.tenant);
    let by = args.person.deed(&opened, scope, DualControl::RELEASE.makers).await?;
    let wallets = opened.wallets_with_lists().await?;
    let withdrawn = wallets.service.withdraw_refund(&caller, id, by).await;
    let withdrawn = withdrawn.map_err(Failure::refused)?.made;
    wallets.finish().await;
    output::remark("withdrawn; nothing is refunded");
    show(&withdrawn, &wanted(&opened, &withdrawn).await?, context.output)
}

pub(super) async fn found(
    opened: &Opened,
    tenant: TenantId,
    id: DepositId,
) -> Result<Deposit, Failure> {
    let deposit = opened.store.deposit(tenant, id).await.map_err(Failure::of_store)?;
    deposit.ok_or_else(|| Failure::Refused(format!("no incoming transaction {id}")))
}

/// The refund addresses that the deposit's senders entered.
struct Wanted {
    named: Named,
    /// Whether a possible sender has entered no address.
    somebody_silent: bool,
}

async fn wanted(opened: &Opened, deposit: &Deposit) -> Result<Wanted, Failure> {
    let Some(request) = deposit.request else {
        return Ok(Wanted { named: Named::Nothing, somebody_silent: false });
    };
    let (store, tenant) = (&opened.store, deposit.tenant);
    let given = store.refund_addresses(tenant, request).await.map_err(Failure::of_store)?;
    let senders = store.sender_infos(tenant, request).await.map_err(Failure::of_store)?;
    let somebody_silent = Named::is_somebody_silent(deposit, &senders, &given);
    Ok(Wanted { named: Named::of(deposit, &senders, &given), somebody_silent })
}

impl Wanted {
    /// The single address entered by all possible senders.
    fn only(&self) -> Result<Address, Failure> {
        let refused = |why: String| Err(Failure::Refused(why));
        match (&self.named, self.named.address()) {
            (_, Some(to)) if self.somebody_silent => refused(format!(
                "other possible senders identified themselves before the deposit arrived and have entered no address: {to} may \
                 not belong to the payer; confirm it and use --to"
            )),
            (_, Some(to)) => Ok(to),
            (Named::Several(answers), None) => {
                let addresses = answers
                    .iter()
                    .map(|answer| answer.to.to_string())
                    .collect::<Vec<_>>()
                    .join(", ");
                refused(format!(
                    "senders entered different addresses ({addresses}); confirm with them and use --to"
                ))
            }
            (_, None) => {
                refused("the sender entered no address on the payment page; use --to".to_owned())
            }
        }
    }
}

/// An answer as text.
fn told(answer: &RefundTo) -> String {
    let (to, at, version) = (answer.to, answer.at, &answer.screened.list_version);
    let found = answer.screened.verdict().name();
    format!("{to} (given at {at}, screened against list version {version}: {found})")
}

/// An answer as JSON.
fn asked(answer: &RefundTo) -> serde_json::Value {
    json!({
        "to": answer.to.to_string(),
        "given_at": answer.at.to_string(),
        "list_version": answer.screened.list_version,
        "screening": answer.screened.verdict().name(),
    })
}

fn show(deposit: &Deposit, wanted: &Wanted, output: Output) -> Result<(), Failure> {
    let named = &wanted.named;
    if wanted.somebody_silent && *named != Named::Nothing {
        output::remark(
            "other possible senders opened the link before the deposit arrived and have not answered; confirm who paid",
        );
    }
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
                (
                    "sender's address",
                    named.answers().iter().map(told).collect::<Vec<_>>().join("; "),
                ),
                ("refund address", refund.map_or_else(String::new, |refund| refund.to.to_string())),
                (
                    "proposed by",
                    refund.map_or_else(String::new, |refund| refund.proposed_by.clone()),
                ),
                ("on chain", if is_on_chain { "yes".to_owned() } else { String::new() }),
                ("approved by", approved_by.unwrap_or_default()),
                ("refund transaction", tx.unwrap_or_default()),
            ])
        }
        Output::Json => {
            let refund = refund.map(|refund| {
                json!({
                    "to": refund.to.to_string(),
                    "proposed_by": refund.proposed_by,
                    "on_chain": refund.proposed,
                    "approved_by": refund.approved_by,
                    "list_version": refund.screened.list_version,
                    "list_version_at_approval": refund.screened_again.as_ref().map(|it| &it.list_version),
                    "tx_hash": tx,
                })
            });
            output::json(&json!({
                "transaction_id": deposit.id.to_string(),
                "state": deposit.state.name(),
                "amount": amount,
                "currency": coin,
                "asked_by_sender": named.answers().iter().map(asked).collect::<Vec<_>>(),
                "others_have_not_answered": wanted.somebody_silent,
                "refund": refund,
            }))
        }
    }
}

pub(super) async fn transaction_id(
    opened: &Opened,
    tenant: TenantId,
    text: &str,
) -> Result<DepositId, Failure> {
    let deposit = |found| match found {
        Found::Deposit(DepositId(id)) => Some(id),
        _ => None,
    };
    opened.id(tenant, text, "transaction", deposit).await.map(DepositId)
}

/// Parses an address. Funds are sent to it, so a checksum (EIP-55) that it carries must be valid.
fn address(text: &str) -> Result<Address, String> {
    Address::parse(text).ok_or("must be an address: 0x and 40 hexadecimal digits")?;
    Address::parse_checked(text)
        .ok_or_else(|| "invalid checksum; check for a mistyped digit".to_owned())
}

/// Parses an amount of tokens as minor units.
fn amount(text: &str) -> Result<i64, String> {
    coin_amount::parse(text)
        .ok_or_else(|| "must be an amount with at most six decimals, for example 25.01".to_owned())
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
