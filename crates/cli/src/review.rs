//! `corridor review …`: the review queue and alerts. Opens the store itself and writes every
//! decision to the audit log. Resolving an `unknown` payment or payout, lifting a legal hold and
//! refunding a deposit require two users.

mod alerts;
mod coin;
mod decided;
mod deposits;
mod discrepancies;
mod exchange;
mod hold;
mod outcome;
mod refund;

use clap::{Args, Subcommand};
use domain::approval::DualControl;
use domain::ids::{PaymentId, TenantId};
use domain::payment::{PaymentState, ReviewState};
use domain::user::Scope;
use serde_json::json;
use store::{Found, IdFrom, Record, Tenant};

use super::failure::Failure;
use super::output::{self, Output};
use super::people::{Deciders, MakerAndChecker};
use super::store_commands::{Opened, open};
use super::table::{amount, id, number, state, text, time};
use super::tenants::TenantArgs;
use super::{Context, run_async};

use alerts::AlertsArgs;
use coin::CoinCommand;
use deposits::DepositsCommand;
use exchange::OrderCommand;
use hold::HoldCommand;
use outcome::OutcomeArgs;
use refund::RefundCommand;

/// Payments per read of the list.
const PAGE_ROWS: usize = 1_000;

#[derive(Subcommand, Debug)]
pub enum ReviewCommand {
    /// List payments held by screening and payments with an unknown outcome
    #[command(after_help = "Example:\n  corridor review list --tenant demobank")]
    List(TenantArgs),
    /// List alerts: chain failures, discrepancies, webhook endpoints that are gone
    #[command(after_help = "Example:\n  corridor review alerts --tenant demobank --output json")]
    Alerts(AlertsArgs),
    /// List discrepancies: rail reports that contradict the books or match no payment; none was
    /// booked
    #[command(after_help = "Example:\n  corridor review discrepancies --tenant demobank")]
    Discrepancies(TenantArgs),
    /// Approve a payment held by screening
    Approve(ApproveArgs),
    /// Reject a payment held by screening
    Reject(RejectArgs),
    /// Record the outcome of an unknown or returned payment
    Resolve(ResolveArgs),
    /// Close a payment's recall that the bank did not answer, or accepted without returning the money
    CloseRecall(CloseRecallArgs),
    /// Decide on incoming stablecoin transfers held for review
    #[command(subcommand)]
    Deposits(DepositsCommand),
    /// Refund a rejected deposit: one user proposes, another approves
    #[command(subcommand)]
    Refund(RefundCommand),
    /// Lift the legal hold of a deposit (two users)
    #[command(subcommand)]
    Hold(HoldCommand),
    /// Decide on exchange orders: held by screening, payout unknown or returned
    #[command(subcommand)]
    Order(OrderCommand),
    /// Decide on tokens whose issuer changed their contract code
    #[command(subcommand)]
    Coin(CoinCommand),
}

/// Options of `review approve`.
#[derive(Args, Debug)]
#[command(after_help = "Example:
  corridor review approve --tenant demobank --seen 2 --by ayesha --why 'other birth date' 6f0c…
  corridor review approve --tenant demobank --seen 2 --by ayesha --checker omar --why 'passport seen' 6f0c…

A release above the tenant's `second_person_above` requires --checker. `corridor review list` shows the ids, the matches and
the number for --seen; the approval is refused if the case has changed since.")]
pub struct ApproveArgs {
    /// Version of the case that was reviewed, as listed under `seen`
    #[arg(long, value_name = "VERSION")]
    seen: i64,
    #[command(flatten)]
    decide: DecideArgs,
}

/// Options of `review reject`.
#[derive(Args, Debug)]
#[command(
    after_help = "Example:\n  corridor review reject --tenant demobank --by ayesha --why 'same person' 6f0c…"
)]
pub struct RejectArgs {
    #[command(flatten)]
    decide: DecideArgs,
}

/// Options of `review close-recall`.
#[derive(Args, Debug)]
#[command(
    after_help = "Example:\n  corridor review close-recall --tenant demobank --by ayesha --why 'bank called: no' 6f0c…"
)]
pub struct CloseRecallArgs {
    #[command(flatten)]
    decide: DecideArgs,
}

/// Options of all of them.
#[derive(Args, Debug)]
struct DecideArgs {
    /// Payment id, as shown by `corridor review list`
    payment: String,
    #[command(flatten)]
    people: Deciders,
    #[command(flatten)]
    tenant: TenantArgs,
}

/// Options of `review resolve`.
#[derive(Args, Debug)]
#[command(
    after_help = "Example:\n  corridor review resolve --tenant demobank --to succeeded --maker ayesha --checker omar \
    --why 'bank statement of 2026-11-20, line 14' 6f0c…"
)]
pub struct ResolveArgs {
    /// Payment id, as shown by `corridor review list`
    payment: String,
    #[command(flatten)]
    outcome: OutcomeArgs,
    #[command(flatten)]
    people: MakerAndChecker,
    #[command(flatten)]
    tenant: TenantArgs,
}

pub fn run(command: &ReviewCommand, context: &Context) -> Result<(), Failure> {
    run_async(async {
        match command {
            ReviewCommand::List(args) => list(args, context).await,
            ReviewCommand::Alerts(args) => alerts::run(args, context).await,
            ReviewCommand::Discrepancies(args) => discrepancies::run(args, context).await,
            ReviewCommand::Approve(args) => decide(&args.decide, Some(args.seen), context).await,
            ReviewCommand::Reject(args) => decide(&args.decide, None, context).await,
            ReviewCommand::Resolve(args) => resolve(args, context).await,
            ReviewCommand::CloseRecall(args) => close_recall(&args.decide, context).await,
            ReviewCommand::Deposits(command) => deposits::run(command, context).await,
            ReviewCommand::Refund(command) => refund::run(command, context).await,
            ReviewCommand::Hold(command) => hold::run(command, context).await,
            ReviewCommand::Order(command) => exchange::run(command, context).await,
            ReviewCommand::Coin(command) => coin::run(command, context).await,
        }
    })
}

async fn list(args: &TenantArgs, context: &Context) -> Result<(), Failure> {
    let opened = open(&args.store, context).await?;
    let tenant = opened.tenant(&args.tenant).await?;
    let mut waiting: Vec<Record> = Vec::new();
    loop {
        let from = waiting.last().map(|record| IdFrom::After(record.payment.id));
        let page = opened.store.payments_in_review(tenant.id, from, PAGE_ROWS).await;
        let page = page.map_err(Failure::of_store)?;
        waiting.extend(page.rows);
        if !page.more {
            break;
        }
    }
    let asks = |record: &Record| {
        if record.payment.standing.state == PaymentState::Unknown {
            "outcome unknown"
        } else {
            "held by screening"
        }
    };
    match context.output {
        Output::Table => {
            let row = |record: &Record| {
                let payment = &record.payment;
                vec![
                    payment.id.to_string(),
                    asks(record).to_owned(),
                    payment.amount.to_string(),
                    payment.version.to_string(),
                    payment.screened.score.to_string(),
                    payment.screened.evidence.clone().unwrap_or_default(),
                    payment.accepted_at.to_string(),
                ]
            };
            let columns = [
                id("payment"),
                state("question"),
                amount("amount"),
                text("seen"),
                number("score"),
                text("evidence"),
                time("accepted"),
            ];
            let none = "No payment waits for a decision. `corridor review deposits list` and `corridor review order \
                list` show the rest of the queue.";
            output::rows_or(&columns, waiting.iter().map(row).collect(), none)
        }
        Output::Json => waiting.iter().try_for_each(|record| {
            let payment = &record.payment;
            output::json(&json!({
                "payment_id": payment.id.to_string(),
                "question": asks(record),
                "status": payment.standing.state.name(),
                "amount": payment.amount.decimal().to_string(),
                "currency": payment.amount.currency.code(),
                "accepted_at": payment.accepted_at.to_string(),
                "seen": payment.version,
                "score": payment.screened.score,
                "evidence": payment.screened.evidence,
                "list_version": payment.screened.list_version,
            }))
        }),
    }
}

async fn payment_id(opened: &Opened, tenant: TenantId, text: &str) -> Result<PaymentId, Failure> {
    let payment = |found| match found {
        Found::Payment(PaymentId(id)) => Some(id),
        _ => None,
    };
    opened.id(tenant, text, "payment", payment).await.map(PaymentId)
}

fn no_payment(tenant: &Tenant, id: PaymentId) -> Failure {
    Failure::Refused(format!("{} has no payment {id}", tenant.tag))
}

/// Approves the version that was seen, or rejects the payment.
async fn decide(args: &DecideArgs, seen: Option<i64>, context: &Context) -> Result<(), Failure> {
    let approve = seen.is_some();
    let opened = open(&args.tenant.store, context).await?;
    let tenant = opened.tenant(&args.tenant.tenant).await?;
    let id = payment_id(&opened, tenant.id, &args.payment).await?;
    let payments = opened.payments()?;
    let record = opened.store.payment_record(tenant.id, id).await.map_err(Failure::of_store)?;
    let payment = record.ok_or_else(|| no_payment(&tenant, id))?.payment;
    let release = approve.then_some(payment.charge.amount.minor);
    let of_tenant = (tenant.id, &tenant.policy.wallet);
    let by = args.people.deed(&opened, of_tenant, release, DualControl::RELEASE).await?;
    if payment.review != ReviewState::Waiting {
        return Err(decided::refusal(&opened, tenant.id, id, payment.standing.state.name()).await);
    }
    payments.service.review(tenant.id, id, approve, seen, by).await.map_err(Failure::refused)?;
    payments.finish().await;
    let sentence = if approve { "approved; the payment continues" } else { "rejected" };
    let document = json!({ "id": id.to_string(), "approved": approve });
    output::done(context.output, sentence, &document)
}

async fn close_recall(args: &DecideArgs, context: &Context) -> Result<(), Failure> {
    let opened = open(&args.tenant.store, context).await?;
    let tenant = opened.tenant(&args.tenant.tenant).await?;
    let id = payment_id(&opened, tenant.id, &args.payment).await?;
    let of_tenant = (tenant.id, &tenant.policy.wallet);
    let by = args.people.deed(&opened, of_tenant, None, DualControl::OUTCOME).await?;
    let payments = opened.payments()?;
    let recalls = opened.store.recalls(tenant.id, id).await.map_err(Failure::of_store)?;
    let no_recall = || Failure::Refused(format!("payment {id} of {} has no recall", tenant.tag));
    let newest = recalls.first().ok_or_else(no_recall)?.id;
    let closed = payments.service.close_recall(tenant.id, id, newest, by).await;
    closed.map_err(Failure::refused)?;
    payments.finish().await;
    let document =
        json!({ "id": newest.to_string(), "payment_id": id.to_string(), "closed": true });
    output::done(context.output, "closed; the payment stays as it is", &document)
}

async fn resolve(args: &ResolveArgs, context: &Context) -> Result<(), Failure> {
    let opened = open(&args.tenant.store, context).await?;
    let tenant = opened.tenant(&args.tenant.tenant).await?;
    let id = payment_id(&opened, tenant.id, &args.payment).await?;
    let payments = opened.payments()?;
    let scope = Scope::Tenant(tenant.id);
    let by = args.people.deed(&opened, scope, DualControl::OUTCOME).await?;
    let record = opened.store.payment_record(tenant.id, id).await.map_err(Failure::of_store)?;
    let record = record.ok_or_else(|| no_payment(&tenant, id))?;
    let finding = args.outcome.finding(record.payment.amount)?;
    let Some(seen) = record.payment.open_to(&finding) else {
        let state = record.payment.standing.state.name();
        return Err(decided::refusal(&opened, tenant.id, id, state).await);
    };
    payments
        .service
        .resolve(tenant.id, id, seen, finding, args.people.evidence(), by)
        .await
        .map_err(Failure::refused)?;
    payments.finish().await;
    output::done(context.output, "resolved", &json!({ "id": id.to_string(), "resolved": true }))
}
