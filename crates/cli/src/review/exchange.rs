//! `corridor review order …`: exchange orders that screening holds, that a rail left open or whose
//! payout was returned. Nothing is paid a second time: an order settles, or its tokens go back to
//! the wallet.

use clap::{Args, Subcommand};
use domain::approval::DualControl;
use domain::coin_amount;
use domain::exchange::ExchangeOrder;
use domain::ids::{ExchangeId, TenantId};
use domain::user::{Role, Scope};
use serde_json::json;
use store::{Found, IdFrom};

use super::super::Context;
use super::super::failure::Failure;
use super::super::output::{self, Output};
use super::super::people::{ActingUser, Deciders, MakerAndChecker};
use super::super::store_commands::{Opened, open};
use super::super::table::{amount, id, number, state, text, time};
use super::super::tenants::TenantArgs;
use super::decided;
use super::outcome::OutcomeArgs;

/// Orders per read of the list.
const PAGE_ROWS: usize = 1_000;

#[derive(Subcommand, Debug)]
pub enum OrderCommand {
    /// List orders held by screening and orders whose payout is unknown, oldest first
    #[command(after_help = "Example:\n  corridor review order list --tenant demobank")]
    List(TenantArgs),
    /// Release an order held by screening
    Approve(ApproveArgs),
    /// Reject an order held by screening; its tokens stay in the wallet
    Reject(RejectArgs),
    /// Record the outcome of an unknown payout, or the return of a settled one
    Resolve(ResolveArgs),
    /// Return the tokens of a settled order whose payout was returned
    Recredit(RecreditArgs),
}

/// Options of `review order approve`.
#[derive(Args, Debug)]
#[command(after_help = "Example:
  corridor review order approve --tenant demobank --seen 2 --by ayesha --why 'other birth date, passport seen' c2a7d9e4-…
  corridor review order approve --tenant demobank --seen 2 --by ayesha --checker omar --why 'passport seen' c2a7d9e4-…

A release above the tenant's `second_person_above` requires --checker, and the current lists must not match exactly.
`corridor review order list` shows the ids and the number for --seen; the approval is refused if the order has changed since.
An undecided order is cancelled after its rate lock or 24 hours.")]
pub struct ApproveArgs {
    /// Version of the order that was reviewed, as listed under `seen`
    #[arg(long, value_name = "VERSION")]
    seen: i64,
    #[command(flatten)]
    decide: DecideArgs,
}

/// Options of `review order reject`.
#[derive(Args, Debug)]
#[command(
    after_help = "Example:\n  corridor review order reject --tenant demobank --by ayesha --why 'same person' c2a7d9e4-…"
)]
pub struct RejectArgs {
    #[command(flatten)]
    decide: DecideArgs,
}

#[derive(Args, Debug)]
struct DecideArgs {
    /// Order id, as shown by `corridor review order list`
    #[arg(value_name = "ID")]
    order: String,
    #[command(flatten)]
    people: Deciders,
    #[command(flatten)]
    tenant: TenantArgs,
}

/// Options of `review order resolve`.
#[derive(Args, Debug)]
#[command(after_help = "Example:
  corridor review order resolve --tenant demobank --to succeeded --reference FT2611200014 --maker ayesha --checker omar \\
    --why 'bank statement of 2026-11-20, line 14' c2a7d9e4-…

`corridor review order list` shows the ids. If the payout was not made or was returned, the tokens go back to the wallet; those
of a settled order after `corridor review order recredit`.")]
pub struct ResolveArgs {
    /// Order id, as shown by `corridor review order list`
    #[arg(value_name = "ID")]
    order: String,
    #[command(flatten)]
    outcome: OutcomeArgs,
    #[command(flatten)]
    people: MakerAndChecker,
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
    /// Order id, as shown by `corridor review alerts`
    #[arg(value_name = "ID")]
    order: String,
    #[command(flatten)]
    person: ActingUser,
    #[command(flatten)]
    tenant: TenantArgs,
}

/// Runs `review order …`.
pub async fn run(command: &OrderCommand, context: &Context) -> Result<(), Failure> {
    match command {
        OrderCommand::List(args) => list(args, context).await,
        OrderCommand::Approve(args) => decide(&args.decide, Some(args.seen), context).await,
        OrderCommand::Reject(args) => decide(&args.decide, None, context).await,
        OrderCommand::Resolve(args) => resolve(args, context).await,
        OrderCommand::Recredit(args) => recredit(args, context).await,
    }
}

async fn list(args: &TenantArgs, context: &Context) -> Result<(), Failure> {
    let opened = open(&args.store, context).await?;
    let tenant = opened.tenant(&args.tenant).await?;
    let mut orders: Vec<ExchangeOrder> = Vec::new();
    loop {
        let from = orders.last().map(|order| IdFrom::After(order.id));
        let page = opened.store.orders_in_review(tenant.id, from, PAGE_ROWS).await;
        let page = page.map_err(Failure::of_store)?;
        orders.extend(page.rows);
        if !page.more {
            break;
        }
    }
    let question = |order: &ExchangeOrder| {
        if order.is_withheld() { "held by screening" } else { "outcome unknown" }
    };
    match context.output {
        Output::Table => {
            let row = |order: &ExchangeOrder| {
                let (score, evidence) = found(order);
                vec![
                    order.id.to_string(),
                    question(order).to_owned(),
                    order.payout.to_string(),
                    order.version.to_string(),
                    score.map(|score| score.to_string()).unwrap_or_default(),
                    evidence.unwrap_or_default(),
                    order.created_at.to_string(),
                ]
            };
            let columns = [
                id("order"),
                state("question"),
                amount("amount"),
                text("seen"),
                number("score"),
                text("evidence"),
                time("created"),
            ];
            let none = "No order waits for a decision.";
            output::rows_or(&columns, orders.iter().map(row).collect(), none)
        }
        Output::Json => orders.iter().try_for_each(|order| {
            let (score, evidence) = found(order);
            output::json(&json!({
                "order_id": order.id.to_string(),
                "question": question(order),
                "status": order.state.status().name(),
                "amount": order.payout.decimal().to_string(),
                "currency": order.payout.currency.code(),
                "created_at": order.created_at.to_string(),
                "seen": order.version,
                "times_out_at": order.undecided_until().map(|until| until.to_string()),
                "score": score,
                "evidence": evidence,
                "list_version": order.screened.as_ref().map(|screened| &screened.list_version),
            }))
        }),
    }
}

/// The score of the account holder's name, and the entry of a list that it resembles.
fn found(order: &ExchangeOrder) -> (Option<u8>, Option<String>) {
    let screened = order.screened.as_ref();
    (screened.map(|it| it.score), screened.and_then(|it| it.evidence.clone()))
}

/// Releases the version that was seen, or rejects the order.
async fn decide(args: &DecideArgs, seen: Option<i64>, context: &Context) -> Result<(), Failure> {
    let approve = seen.is_some();
    let opened = open(&args.tenant.store, context).await?;
    let caller = opened.caller(&args.tenant.tenant).await?;
    let id = order_id(&opened, caller.tenant, &args.order).await?;
    let wallets = opened.wallets_with_lists().await?;
    let order = wallets.service.find_order(&caller, id).await.map_err(Failure::refused)?;
    let release = approve.then_some(order.minor);
    let of_tenant = (caller.tenant, &caller.policy.wallet);
    let by = args.people.deed(&opened, of_tenant, release, DualControl::RELEASE).await?;
    if !order.is_withheld() {
        return Err(decided::refusal(&opened, caller.tenant, id, order.state.name()).await);
    }
    let decided = wallets.service.review_order(&caller, id, approve, seen, by).await;
    let decided = decided.map_err(Failure::refused)?.made;
    wallets.finish().await;
    output::remark(if approve {
        "approved; the order continues"
    } else {
        "rejected; the tokens stay in the wallet"
    });
    show(&decided, context.output)
}

async fn resolve(args: &ResolveArgs, context: &Context) -> Result<(), Failure> {
    let opened = open(&args.tenant.store, context).await?;
    let caller = opened.caller(&args.tenant.tenant).await?;
    let id = order_id(&opened, caller.tenant, &args.order).await?;
    let wallets = opened.wallets()?;
    let scope = Scope::Tenant(caller.tenant);
    let by = args.people.deed(&opened, scope, DualControl::OUTCOME).await?;
    let order = wallets.service.find_order(&caller, id).await.map_err(Failure::refused)?;
    let finding = args.outcome.finding(order.payout)?;
    let Some(seen) = order.open_to(&finding) else {
        return Err(decided::refusal(&opened, caller.tenant, id, order.state.name()).await);
    };
    let resolved =
        wallets.service.resolve_order(&caller, id, seen, finding, args.people.evidence(), by).await;
    let resolved = resolved.map_err(Failure::refused)?.made;
    wallets.finish().await;
    output::remark("resolved");
    show(&resolved, context.output)
}

async fn recredit(args: &RecreditArgs, context: &Context) -> Result<(), Failure> {
    let opened = open(&args.tenant.store, context).await?;
    let caller = opened.caller(&args.tenant.tenant).await?;
    let id = order_id(&opened, caller.tenant, &args.order).await?;
    let wallets = opened.wallets()?;
    let roles = [Role::Operator, Role::Treasury];
    let by = args.person.deed(&opened, Scope::Tenant(caller.tenant), &roles).await?;
    let given = wallets.service.recredit_order(&caller, id, by).await;
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

async fn order_id(opened: &Opened, tenant: TenantId, text: &str) -> Result<ExchangeId, Failure> {
    let order = |found| match found {
        Found::Order(ExchangeId(id)) => Some(id),
        _ => None,
    };
    opened.id(tenant, text, "order", order).await.map(ExchangeId)
}
