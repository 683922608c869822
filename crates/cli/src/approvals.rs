//! `corridor approvals …`: proposals that one user made and another decides on, as in the console.
//! Opens the store itself and writes every decision to the audit log; the running service executes
//! what is approved.

use clap::{Args, Subcommand};
use domain::approval::{Approval, ApprovalState};
use domain::ids::{ApprovalId, TenantId};
use domain::time::Timestamp;
use domain::user::{Role, Scope, is_same_user};
use engine::console::{Console, Denied, scope_of};
use serde_json::{Value, json};
use uuid::Uuid;

use super::failure::Failure;
use super::output::{self, Output};
use super::people::ActingUser;
use super::store_commands::{ForCommand, Opened, open};
use super::table::{id, state, text, time};
use super::tenants::StoreArgs;
use super::{Context, ids, run_async};

/// Maximum number of the latest proposals among which the beginning of an id is looked up.
const LOOKED_UP_MAX: usize = 1_000;

#[derive(Subcommand, Debug)]
pub enum ApprovalsCommand {
    /// List proposals that wait for a second user or are being executed
    List(ListArgs),
    /// Show a proposal and what it changes
    Show(ShowArgs),
    /// Approve a proposal of another user
    Approve(ApproveArgs),
    /// Reject a proposal of another user
    Reject(RejectArgs),
    /// Withdraw your own proposal
    Withdraw(WithdrawArgs),
}

/// Options of `approvals list`.
#[derive(Args, Debug)]
#[command(after_help = "Example:
  corridor approvals list --tenant demobank

Refunds of deposits are proposed and approved on the chain: `corridor review refund show`.")]
pub struct ListArgs {
    /// Tenant tag [default: all tenants and the installation]
    #[arg(long)]
    tenant: Option<String>,
    /// List the latest proposals of every state, newest first
    #[arg(long)]
    all: bool,
    /// Maximum number of proposals
    #[arg(long, default_value_t = 100, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,
    #[command(flatten)]
    store: StoreArgs,
}

/// Options of `approvals show`.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  corridor approvals show 4b484e73")]
pub struct ShowArgs {
    #[command(flatten)]
    approval: ApprovalArgs,
}

/// Options of `approvals approve`.
#[derive(Args, Debug)]
#[command(after_help = "Example:
  corridor approvals approve --by omar --why 'passport seen, case 17' 4b484e73

--by is a user other than the proposer, with a role that may approve the action. The running service executes it within two
minutes; it is refused there if anything has changed since the proposal (`corridor approvals show`).")]
pub struct ApproveArgs {
    #[command(flatten)]
    decide: DecideArgs,
}

/// Options of `approvals reject`.
#[derive(Args, Debug)]
#[command(after_help = "Example:
  corridor approvals reject --by omar --why 'another person' 4b484e73")]
pub struct RejectArgs {
    #[command(flatten)]
    decide: DecideArgs,
}

/// Options of `approvals withdraw`.
#[derive(Args, Debug)]
#[command(after_help = "Example:
  corridor approvals withdraw --by ayesha --why 'wrong wallet' 4b484e73")]
pub struct WithdrawArgs {
    #[command(flatten)]
    decide: DecideArgs,
}

/// One proposal.
#[derive(Args, Debug)]
struct ApprovalArgs {
    /// Approval id, as shown by `corridor approvals list`
    #[arg(value_name = "ID")]
    approval: String,
    #[command(flatten)]
    store: StoreArgs,
}

/// One proposal, and the user who decides.
#[derive(Args, Debug)]
struct DecideArgs {
    #[command(flatten)]
    person: ActingUser,
    #[command(flatten)]
    approval: ApprovalArgs,
}

/// Runs `approvals …`.
pub fn run(command: &ApprovalsCommand, context: &Context) -> Result<(), Failure> {
    run_async(async {
        match command {
            ApprovalsCommand::List(args) => list(args, context).await,
            ApprovalsCommand::Show(args) => {
                let opened = open(&args.approval.store, context).await?;
                let desk = opened.approvals()?;
                let approval = found(&desk.service, &args.approval.approval).await?;
                show(&opened, &desk.service, &approval, context.output).await
            }
            ApprovalsCommand::Approve(args) => decide(&args.decide, true, context).await,
            ApprovalsCommand::Reject(args) => decide(&args.decide, false, context).await,
            ApprovalsCommand::Withdraw(args) => withdraw(&args.decide, context).await,
        }
    })
}

async fn list(args: &ListArgs, context: &Context) -> Result<(), Failure> {
    let opened = open(&args.store, context).await?;
    let scope = match &args.tenant {
        Some(tag) => Scope::Tenant(opened.tagged(tag).await?.id),
        None => Scope::All,
    };
    let limit = usize::try_from(args.limit).unwrap_or(usize::MAX);
    let desk = opened.approvals()?;
    let listed = desk.service.list(scope, !args.all, limit).await.map_err(refused)?;
    let (now, tags) = (desk.service.now(), Tags::of(&opened).await?);
    match context.output {
        Output::Table => {
            let row = |approval: &Approval| {
                vec![
                    approval.id.to_string(),
                    standing(approval, now).to_owned(),
                    approval.deed.title().to_owned(),
                    approval.maker.login.clone(),
                    approval.expires_at.to_string(),
                    tags.of_approval(approval),
                    approval.deed.subject(),
                    approval.why.clone(),
                ]
            };
            let columns = [
                id("approval"),
                state("state"),
                text("action"),
                text("proposed by"),
                time("expires"),
                text("tenant"),
                id("subject"),
                text("reason"),
            ];
            let none = match args.all {
                true => "No proposals yet.",
                false => "No proposals are waiting. `corridor review list` shows the review queue.",
            };
            output::rows_or(&columns, listed.iter().map(row).collect(), none)
        }
        Output::Json => {
            listed.iter().try_for_each(|approval| output::json(&document(approval, now, &tags)))
        }
    }
}

async fn decide(args: &DecideArgs, approve: bool, context: &Context) -> Result<(), Failure> {
    let opened = open(&args.approval.store, context).await?;
    let desk = opened.approvals()?;
    let approval = open_one(&desk, &args.approval.approval).await?;
    let maker = &approval.maker.login;
    if is_same_user(&args.person.by, maker) {
        return Err(Failure::Refused(format!(
            "--by: must be a different user than {maker}, who proposed it"
        )));
    }
    let checkers = approval.deed.control().checkers;
    let user = args.person.user(&opened, scope_of(&approval), checkers).await?;
    let by = args.person.context(&opened, &user);
    let decided = desk.service.record_decision(approval.id, approve, &user, by).await;
    let decided = decided.map_err(refused)?;
    output::remark(match approve {
        true => "approved; the running service executes it within two minutes",
        false => "rejected; nothing is changed",
    });
    show(&opened, &desk.service, &decided, context.output).await
}

async fn withdraw(args: &DecideArgs, context: &Context) -> Result<(), Failure> {
    let opened = open(&args.approval.store, context).await?;
    let desk = opened.approvals()?;
    let approval = open_one(&desk, &args.approval.approval).await?;
    let user = args.person.user(&opened, scope_of(&approval), &Role::ALL).await?;
    if user.id != approval.maker.id {
        let maker = &approval.maker.login;
        return Err(Failure::Refused(format!(
            "--by: only {maker}, who proposed it, may withdraw it"
        )));
    }
    let by = args.person.context(&opened, &user);
    desk.service.withdraw(approval.id, &user, by).await.map_err(refused)?;
    output::remark("withdrawn; nothing is changed");
    let withdrawn = found(&desk.service, &approval.id.to_string()).await?;
    show(&opened, &desk.service, &withdrawn, context.output).await
}

/// The proposal with this id, or with the only id that begins so.
async fn found(desk: &Console, text: &str) -> Result<Approval, Failure> {
    let id = match Uuid::try_parse(text) {
        Ok(id) => id,
        Err(_) => {
            let mut known = desk.list(Scope::All, false, LOOKED_UP_MAX).await.map_err(refused)?;
            known.extend(desk.list(Scope::All, true, LOOKED_UP_MAX).await.map_err(refused)?);
            let known = known.iter().map(|approval| approval.id.to_string());
            Uuid::try_parse(&ids::one_of(text, "proposal", known)?).map_err(Failure::unavailable)?
        }
    };
    let found = desk.find(ApprovalId(id)).await.map_err(refused)?;
    found.ok_or_else(|| Failure::Refused(format!("no proposal {text}")))
}

/// The same, if a decision on it is pending.
async fn open_one(desk: &ForCommand<Console>, text: &str) -> Result<Approval, Failure> {
    let approval = found(&desk.service, text).await?;
    let now = desk.service.now();
    if approval.is_open(now) {
        return Ok(approval);
    }
    let state = standing(&approval, now);
    Err(Failure::Refused(match &approval.decided {
        Some((user, at)) => format!("{} decided this proposal at {at}: {state}", user.login),
        None => format!("this proposal is {state}"),
    }))
}

/// The state of a proposal, of which an undecided one also ends by time.
fn standing(approval: &Approval, now: Timestamp) -> &'static str {
    match approval.state {
        ApprovalState::Waiting if !approval.is_open(now) => "expired",
        // Approved, but not executed yet.
        ApprovalState::Approved => "pending",
        state => state.name(),
    }
}

fn refused(denied: Denied) -> Failure {
    match denied {
        Denied::Store(error) => Failure::of_store(error),
        other => Failure::refused(other),
    }
}

/// The tags of all tenants.
struct Tags(Vec<(TenantId, String)>);

impl Tags {
    async fn of(opened: &Opened) -> Result<Tags, Failure> {
        let tenants = opened.store.tenants().await.map_err(Failure::of_store)?;
        Ok(Tags(tenants.into_iter().map(|tenant| (tenant.id, tenant.tag)).collect()))
    }

    /// The tag of the tenant that a proposal concerns; empty = the installation.
    fn of_approval(&self, approval: &Approval) -> String {
        let found = self.0.iter().find(|(id, _)| Some(*id) == approval.tenant);
        found.map_or_else(String::new, |(_, tag)| tag.clone())
    }
}

async fn show(
    opened: &Opened,
    desk: &Console,
    approval: &Approval,
    output: Output,
) -> Result<(), Failure> {
    let (now, tags) = (desk.now(), Tags::of(opened).await?);
    if output == Output::Json {
        return output::json(&document(approval, now, &tags));
    }
    let has_failed = approval.state == ApprovalState::Failed;
    let is_waiting = approval.is_open(now);
    let (decided_by, decided_at) = match &approval.decided {
        Some((user, at)) => (user.login.clone(), at.to_string()),
        None => Default::default(),
    };
    let roles: Vec<&str> =
        approval.deed.control().checkers.iter().map(|role| role.name()).collect();
    output::members(&[
        ("approval", approval.id.to_string()),
        ("state", standing(approval, now).to_owned()),
        ("action", approval.deed.title().to_owned()),
        ("subject", approval.deed.subject()),
        ("tenant", tags.of_approval(approval)),
        ("proposed by", approval.maker.login.clone()),
        ("proposed at", approval.created_at.to_string()),
        ("reason", approval.why.clone()),
        ("expires", if is_waiting { approval.expires_at.to_string() } else { String::new() }),
        ("may approve", if is_waiting { roles.join(" or ") } else { String::new() }),
        ("decided by", decided_by),
        ("decided at", decided_at),
        (if has_failed { "failure" } else { "note" }, approval.outcome.clone()),
    ])?;
    output::line("")?;
    let changes = approval.changes.iter();
    let rows = changes.map(|it| vec![it.what.clone(), it.before.clone(), it.after.clone()]);
    output::rows_or(
        &[text("what"), text("before"), text("after")],
        rows.collect(),
        "This proposal lists no changes.",
    )
}

fn document(approval: &Approval, now: Timestamp, tags: &Tags) -> Value {
    let tag = Some(tags.of_approval(approval)).filter(|tag| !tag.is_empty());
    let decided = approval.decided.as_ref();
    let changes = approval.changes.iter();
    let changes = changes
        .map(|it| json!({ "what": it.what, "before": it.before, "after": it.after }))
        .collect::<Vec<_>>();
    let has_failed = approval.state == ApprovalState::Failed;
    let outcome = Some(&approval.outcome).filter(|outcome| !outcome.is_empty());
    json!({
        "approval_id": approval.id.to_string(),
        "state": standing(approval, now),
        "action": approval.deed.kind(),
        "title": approval.deed.title(),
        "subject": approval.deed.subject(),
        "tenant": tag,
        "proposed_by": approval.maker.login,
        "proposed_at": approval.created_at.to_string(),
        "expires_at": approval.expires_at.to_string(),
        "why": approval.why,
        "decided_by": decided.map(|(user, _)| &user.login),
        "decided_at": decided.map(|(_, at)| at.to_string()),
        "note": outcome.filter(|_| !has_failed),
        "failure": outcome.filter(|_| has_failed),
        "changes": changes,
    })
}
