//! `corridor review order …`: exchange orders that a rail left open or whose payout was returned.
//! Nothing is paid a second time: an order settles, or its tokens go back to the wallet.

use clap::{Args, Subcommand, ValueEnum};
use domain::coin_amount;
use domain::exchange::{ExchangeOrder, OrderRefusal};
use domain::ids::ExchangeId;
use domain::rail::RailStatus;
use serde_json::json;

use super::super::Context;
use super::super::failure::Failure;
use super::super::output::{self, Output};
use super::super::people::{OnePerson, TwoPeople};
use super::super::store_commands::open;
use super::super::tenants::TenantArgs;

/// `review order …`
#[derive(Subcommand, Debug)]
pub enum OrderCommand {
    /// Record the outcome of an unknown payout
    Resolve(ResolveArgs),
    /// Return the tokens of a settled order whose payout was returned
    Recredit(RecreditArgs),
}

/// The outcome of a payout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Became {
    /// The bank has it and will report
    Processing,
    /// Paid
    Settled,
    /// Never paid; the tokens go back to the wallet
    Failed,
    /// Paid and returned; the tokens go back to the wallet
    Returned,
}

/// Options of `review order resolve`.
#[derive(Args, Debug)]
#[command(after_help = "Example:
  corridor review order resolve --tenant demobank --to settled --maker ayesha --checker omar \\
    --why 'bank statement of 2026-11-20, line 14' c2a7d9e4-…

`corridor review alerts` lists the orders under kind payout.")]
pub struct ResolveArgs {
    /// Order id
    #[arg(value_name = "ID")]
    order: String,
    /// Outcome of its payout
    #[arg(long, value_enum)]
    to: Became,
    #[command(flatten)]
    people: TwoPeople,
    #[command(flatten)]
    tenant: TenantArgs,
}

/// Options of `review order recredit`.
#[derive(Args, Debug)]
#[command(after_help = "Example:
  corridor review order recredit --tenant demobank --by ayesha --why 'account closed, returned on 2026-11-20' \\
    c2a7d9e4-…

`corridor review alerts` lists the orders under kind payout.")]
pub struct RecreditArgs {
    /// Order id
    #[arg(value_name = "ID")]
    order: String,
    #[command(flatten)]
    person: OnePerson,
    #[command(flatten)]
    tenant: TenantArgs,
}

/// Runs `review order …`.
pub async fn run(command: &OrderCommand, context: &Context) -> Result<(), Failure> {
    match command {
        OrderCommand::Resolve(args) => resolve(args, context).await,
        OrderCommand::Recredit(args) => recredit(args, context).await,
    }
}

async fn resolve(args: &ResolveArgs, context: &Context) -> Result<(), Failure> {
    let evidence = args.people.evidence()?;
    let id = order_id(&args.order)?;
    let status = match args.to {
        Became::Processing => RailStatus::Accepted,
        Became::Settled => RailStatus::Settled,
        Became::Failed => RailStatus::Rejected,
        Became::Returned => RailStatus::Returned,
    };
    let opened = open(&args.tenant.store, context).await?;
    let caller = opened.caller(&args.tenant.tenant).await?;
    let wallets = opened.wallets()?;
    let by = args.people.deed(&opened.by);
    let order = wallets.service.find_order(&caller, id).await.map_err(Failure::refused)?;
    let seen = order.doubt().ok_or_else(|| Failure::refused(OrderRefusal::Conflict(order.state)))?;
    let resolved = wallets.service.resolve_order(&caller, id, seen, status, evidence, by).await;
    let resolved = resolved.map_err(Failure::refused)?.made;
    wallets.finish().await;
    output::remark("resolved");
    show(&resolved, context.output)
}

async fn recredit(args: &RecreditArgs, context: &Context) -> Result<(), Failure> {
    let id = order_id(&args.order)?;
    let opened = open(&args.tenant.store, context).await?;
    let caller = opened.caller(&args.tenant.tenant).await?;
    let wallets = opened.wallets()?;
    let given = wallets.service.recredit_order(&caller, id, args.person.deed(&opened.by)).await;
    let given = given.map_err(Failure::refused)?.made;
    wallets.finish().await;
    output::remark("the running service returns the tokens; the order stays settled");
    show(&given, context.output)
}

fn show(order: &ExchangeOrder, output: Output) -> Result<(), Failure> {
    let (amount, coin) = (coin_amount::show(order.minor), order.coin.currency().code());
    let why = order.failure.map(|why| why.name());
    let status = order.state.status().name();
    match output {
        Output::Table => output::members(&[
            ("order", order.id.to_string()),
            ("status", status.to_owned()),
            ("from", format!("{amount} {coin}")),
            ("to", order.payout.to_string()),
            ("reference", order.settlement_reference.clone().unwrap_or_default()),
            ("why", why.unwrap_or_default().to_owned()),
        ]),
        Output::Json => output::json(&json!({
            "order_id": order.id.to_string(),
            "status": status,
            "from_amount": amount,
            "from_currency": coin,
            "to_amount": order.payout.decimal().to_string(),
            "to_currency": order.payout.currency.code(),
            "settlement_reference": order.settlement_reference,
            "failure_reason": why,
        })),
    }
}

fn order_id(text: &str) -> Result<ExchangeId, Failure> {
    ExchangeId::parse(text).ok_or_else(|| Failure::Usage(format!("{text:?} is not an order id")))
}
