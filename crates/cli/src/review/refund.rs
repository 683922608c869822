//! `corridor review refund …`: giving a refused deposit back. One person proposes where to, another one approves; the
//! running service carries out what they decided, each half with a key of its own.

use clap::{Args, Subcommand};
use domain::chain::Address;
use domain::coin_amount;
use domain::deposit::{Deposit, SeenRefund};
use domain::ids::{DepositId, TenantId};
use domain::payment_request::{Named, RefundTo};
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
  corridor review refund propose --tenant demobank --to-senders-address --by ayesha --why 'case 17' 0d7a1d0e-…
  corridor review refund propose --tenant demobank --to 0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed --by ayesha \\
    --why 'asked for by e-mail of 2026-11-20' 0d7a1d0e-…

Exchanges pay from addresses that many people share: give back to the address that the sender names, on the page behind his
payment link (`corridor review refund show`) or otherwise. It is screened, and again when somebody else approves it.")]
pub struct ProposeArgs {
    /// The incoming transaction, as `corridor tx list` shows it
    #[arg(value_name = "ID")]
    transaction: String,
    /// Where to, as its sender has named it
    #[arg(long, value_name = "ADDRESS", value_parser = address, required_unless_present = "to_senders_address")]
    to: Option<Address>,
    /// To the address that its sender has named on the page behind the payment link; refused where not everybody who may
    /// have paid has named one
    #[arg(long, conflicts_with = "to")]
    to_senders_address: bool,
    #[command(flatten)]
    person: OnePerson,
    #[command(flatten)]
    tenant: TenantArgs,
}

/// Options of `review refund approve`.
#[derive(Args, Debug)]
#[command(after_help = "Example:
  corridor review refund approve --tenant demobank --to 0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed --by omar \\
    --why 'the sender confirmed the address' 0d7a1d0e-…

Approved by somebody else than who proposed it, for the address that he has seen (`corridor review refund show`): if another one
is proposed by then, nothing is approved. The proposal has to be on the chain first, which takes some blocks.")]
pub struct ApproveArgs {
    /// The incoming transaction
    #[arg(value_name = "ID")]
    transaction: String,
    /// The address that the refund goes to, as it was looked at
    #[arg(long, value_name = "ADDRESS", value_parser = address)]
    to: Address,
    /// The amount, as it was looked at
    #[arg(long, value_name = "AMOUNT", value_parser = amount)]
    amount: Option<i64>,
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
            let deposit = found(&opened, tenant.id, id).await?;
            show(&deposit, &wanted(&opened, &deposit).await?, context.output)
        }
    }
}

async fn propose(args: &ProposeArgs, context: &Context) -> Result<(), Failure> {
    let id = transaction_id(&args.transaction)?;
    let opened = open(&args.tenant.store, context).await?;
    let caller = opened.caller(&args.tenant.tenant).await?;
    let wanted = wanted(&opened, &found(&opened, caller.tenant, id).await?).await?;
    let to = if args.to_senders_address { None } else { args.to };
    let to = to.map_or_else(|| wanted.only(), Ok)?;
    let wallets = opened.wallets_with_lists().await?;
    let proposed = wallets.service.propose_refund(&caller, id, to, args.person.deed(&opened.by)).await;
    let proposed = proposed.map_err(Failure::refused)?.made;
    wallets.finish().await;
    output::remark("proposed; somebody else approves it: `corridor review refund approve`");
    show(&proposed, &wanted, context.output)
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
    let seen = SeenRefund { to: args.to, minor: args.amount };
    let wallets = opened.wallets_with_lists().await?;
    let approved = wallets.service.approve_refund(&caller, id, seen, by).await;
    let approved = approved.map_err(Failure::refused)?.made;
    wallets.finish().await;
    output::remark("approved; the running service pays it back");
    show(&approved, &wanted(&opened, &approved).await?, context.output)
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
    show(&withdrawn, &wanted(&opened, &withdrawn).await?, context.output)
}

pub(super) async fn found(opened: &Opened, tenant: TenantId, id: DepositId) -> Result<Deposit, Failure> {
    let deposit = opened.store.deposit(tenant, id).await.map_err(Failure::of_store)?;
    deposit.ok_or_else(|| Failure::Refused(format!("there is no incoming transaction {id}")))
}

/// Where the deposit's senders want it back.
struct Wanted {
    named: Named,
    /// Whether somebody who may have paid it has named nothing.
    somebody_silent: bool,
}

async fn wanted(opened: &Opened, deposit: &Deposit) -> Result<Wanted, Failure> {
    let Some(request) = deposit.request else { return Ok(Wanted { named: Named::Nothing, somebody_silent: false }) };
    let (store, tenant) = (&opened.store, deposit.tenant);
    let given = store.refund_addresses(tenant, request).await.map_err(Failure::of_store)?;
    let senders = store.sender_infos(tenant, request).await.map_err(Failure::of_store)?;
    let somebody_silent = Named::is_somebody_silent(deposit, &senders, &given);
    Ok(Wanted { named: Named::of(deposit, &senders, &given), somebody_silent })
}

impl Wanted {
    /// The one address that is named, by all who may have paid.
    fn only(&self) -> Result<Address, Failure> {
        let refused = |why: String| Err(Failure::Refused(why));
        match (&self.named, self.named.address()) {
            (_, Some(to)) if self.somebody_silent => refused(format!(
                "others had opened the link and said who they are before it came, and have not answered: {to} may not be \
                 the address of whoever paid: find out, and use --to"
            )),
            (_, Some(to)) => Ok(to),
            (Named::Several(answers), None) => {
                let addresses = answers.iter().map(|answer| answer.to.to_string()).collect::<Vec<_>>().join(", ");
                refused(format!("senders have named different addresses ({addresses}): ask them, and use --to"))
            }
            (_, None) => refused("its sender has named no address on the payment page: use --to".to_owned()),
        }
    }
}

/// An answer in words.
fn told(answer: &RefundTo) -> String {
    let (to, at, version) = (answer.to, answer.at, &answer.screened.list_version);
    let found = answer.screened.verdict().name();
    format!("{to} (given at {at}, screened against list version {version}: {found})")
}

/// The same for programs.
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
            "others had opened the link before it came and have not answered: whose money it is has to be found out",
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
                ("the sender asks for", named.answers().iter().map(told).collect::<Vec<_>>().join("; ")),
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

pub(super) fn transaction_id(text: &str) -> Result<DepositId, Failure> {
    DepositId::parse(text).ok_or_else(|| Failure::Usage(format!("{text:?} is no id of a transaction")))
}

/// Reads an address. Money is sent there: a checksum (EIP-55) that it carries has to be right.
fn address(text: &str) -> Result<Address, String> {
    Address::parse(text).ok_or("must be an address: 0x and 40 hexadecimal digits")?;
    Address::parse_checked(text).ok_or_else(|| "its checksum is wrong: is a digit mistyped?".to_owned())
}

/// Reads an amount of coins as minor units.
fn amount(text: &str) -> Result<i64, String> {
    coin_amount::parse(text).ok_or_else(|| "must be an amount with at most six decimals, as 25.01".to_owned())
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
