//! `corridor review deposits …`: incoming stablecoin transfers held for review. Releasing more than
//! the tenant's limit requires a second user, as in the console.

use clap::{Args, Subcommand};
use domain::approval::DualControl;
use domain::coin_amount;
use domain::deposit::{Deposit, DepositState, ReviewVerdict};
use engine::command::Refused;
use engine::wallets::ReviewAsked;
use serde_json::json;
use store::Page;

use super::super::Context;
use super::super::failure::Failure;
use super::super::output::{self, Output};
use super::super::people::Deciders;
use super::super::store_commands::open;
use super::super::table::{amount as money, id, state, text, time};
use super::super::tenants::TenantArgs;
use super::decided;
use super::refund::{found, transaction_id};

/// Maximum number of listed deposits.
const LIST_MAX: u32 = 1_000;

#[derive(Subcommand, Debug)]
pub enum DepositsCommand {
    /// List deposits held for review, oldest first
    #[command(after_help = "Example:\n  corridor review deposits list --tenant demobank")]
    List(TenantArgs),
    /// Release a deposit to its wallet
    Approve(ApproveArgs),
    /// Reject a deposit; it can be refunded (`corridor review refund`)
    #[command(
        after_help = "Example:\n  corridor review deposits reject --tenant demobank --by ayesha --why 'no reply' 0d7a1d0e-…"
    )]
    Reject(DecideArgs),
    /// Reject a deposit and place it on legal hold
    #[command(
        after_help = "Example:\n  corridor review deposits hold --tenant demobank --by ayesha --why 'listed person' 0d7a1d0e-…"
    )]
    Hold(DecideArgs),
    /// Reject a deposit and block its wallet
    #[command(
        after_help = "Example:\n  corridor review deposits block --tenant demobank --by ayesha --why 'stolen account' 0d7a1d0e-…"
    )]
    Block(DecideArgs),
}

/// Options of `review deposits approve`.
#[derive(Args, Debug)]
#[command(after_help = "Example:
  corridor review deposits approve --tenant demobank --seen 3 --by ayesha --why 'passport seen, case 17' 0d7a1d0e-…
  corridor review deposits approve --tenant demobank --seen 3 --by ayesha --checker omar --why 'invoice seen' 0d7a1d0e-…

A release above the tenant's `second_person_above` requires --checker. `corridor review deposits list` shows the ids and the
number for --seen; the approval is refused if the deposit has changed since.")]
pub struct ApproveArgs {
    /// Version of the case that was reviewed, as listed under `seen`
    #[arg(long, value_name = "VERSION")]
    seen: i64,
    #[command(flatten)]
    decide: DecideArgs,
}

/// Options of every decision.
#[derive(Args, Debug)]
pub struct DecideArgs {
    /// Incoming transaction id, as shown by `corridor review deposits list`
    #[arg(value_name = "ID")]
    transaction: String,
    #[command(flatten)]
    people: Deciders,
    #[command(flatten)]
    tenant: TenantArgs,
}

/// Runs `review deposits …`.
pub async fn run(command: &DepositsCommand, context: &Context) -> Result<(), Failure> {
    match command {
        DepositsCommand::List(args) => list(args, context).await,
        DepositsCommand::Approve(ApproveArgs { seen, decide: args }) => {
            decide(args, ReviewVerdict::Approve, Some(*seen), context).await
        }
        DepositsCommand::Reject(args) => decide(args, ReviewVerdict::Reject, None, context).await,
        DepositsCommand::Hold(args) => decide(args, ReviewVerdict::LegalHold, None, context).await,
        DepositsCommand::Block(args) => decide(args, ReviewVerdict::Block, None, context).await,
    }
}

async fn list(args: &TenantArgs, context: &Context) -> Result<(), Failure> {
    let opened = open(&args.store, context).await?;
    let tenant = opened.tenant(&args.tenant).await?;
    let page = Page { page: 0, limit: LIST_MAX };
    let listed =
        opened.store.deposits_in_review(tenant.id, page).await.map_err(Failure::of_store)?;
    show(&listed.rows, context.output)
}

/// Approves the version that was seen, or rejects the deposit in one of the ways.
async fn decide(
    args: &DecideArgs,
    verdict: ReviewVerdict,
    seen: Option<i64>,
    context: &Context,
) -> Result<(), Failure> {
    let opened = open(&args.tenant.store, context).await?;
    let caller = opened.caller(&args.tenant.tenant).await?;
    let id = transaction_id(&opened, caller.tenant, &args.transaction).await?;
    let deposit = found(&opened, caller.tenant, id).await?;
    let release = (verdict == ReviewVerdict::Approve).then_some(deposit.minor);
    let of_tenant = (caller.tenant, &caller.policy.wallet);
    let by = args.people.deed(&opened, of_tenant, release, DualControl::RELEASE).await?;
    let asked = ReviewAsked { deposit: id, seen: Some(deposit.state_at), verdict, by };
    let is_waiting = deposit.state == DepositState::InReview;
    if is_waiting && seen.is_some_and(|seen| seen != deposit.version) {
        return Err(Failure::refused(Refused::NotAsSeen));
    }
    let wallets = opened.wallets_with_lists().await?;
    let decided = wallets.service.decide_review_without_node(&caller, asked).await;
    let decided = match decided {
        Ok(reply) => reply.made,
        Err(_) if !is_waiting => {
            return Err(decided::refusal(&opened, caller.tenant, id, deposit.state.name()).await);
        }
        Err(error) => return Err(Failure::refused(error)),
    };
    wallets.finish().await;
    output::remark(match verdict {
        ReviewVerdict::Approve => "approved; the running service releases it",
        ReviewVerdict::Reject => "rejected; to refund it, run `corridor review refund propose`",
        ReviewVerdict::LegalHold => "on legal hold; no funds move",
        ReviewVerdict::Block => "rejected; its wallet is blocked",
    });
    show(std::slice::from_ref(&decided), context.output)
}

fn show(deposits: &[Deposit], output: Output) -> Result<(), Failure> {
    let amount = |it: &Deposit| (coin_amount::show(it.minor), it.coin.currency().code());
    match output {
        Output::Table => {
            let row = |it: &Deposit| {
                let (minor, coin) = amount(it);
                let since = it.state_at.to_string();
                vec![
                    it.id.to_string(),
                    it.state.name().to_owned(),
                    format!("{minor} {coin}"),
                    it.version.to_string(),
                    since,
                    it.wallet.to_string(),
                ]
            };
            output::rows_or(
                &[
                    id("transaction"),
                    state("state"),
                    money("amount"),
                    text("seen"),
                    time("since"),
                    id("wallet"),
                ],
                deposits.iter().map(row).collect(),
                "No deposit waits for a decision. In a sandbox: `corridor trigger risk_check.manual_review`.",
            )
        }
        Output::Json => deposits.iter().try_for_each(|it| {
            let (minor, coin) = amount(it);
            let assessment = it.assessment.as_ref();
            output::json(&json!({
                "transaction_id": it.id.to_string(),
                "state": it.state.name(),
                "amount": minor,
                "currency": coin,
                "seen": it.version,
                "since": it.state_at.to_string(),
                "wallet_id": it.wallet.to_string(),
                "score": assessment.map(|assessment| assessment.score),
                "reason": assessment.map(|assessment| assessment.reason.decision_reason()),
                "evidence": assessment.map(|assessment| &assessment.evidence),
                "list_version": assessment.map(|assessment| &assessment.list_version),
            }))
        }),
    }
}
