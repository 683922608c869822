//! Proposals for a second user: the list, and each proposal with its changes.

use askama::Template;
use domain::approval::{Approval, ApprovalState, Change};
use domain::characters::is_unshowable;
use domain::ids::ApprovalId;
use domain::user::User;
use engine::console::scope_of;

use super::answer::{Answer, Stop, html};
use super::approval_case::{self, Case};
use super::approval_changes;
use super::layout::Frame;
use super::parts::{Cell, Row, Table, Tone, when};
use super::routes::Routes;
use super::visit::Visit;

/// Maximum number of proposals in a list.
const LIST_MAX: usize = 200;
/// Maximum length of a decision's note.
const NOTE_MAX_CHARS: usize = 500;

pub(super) fn routes() -> Routes {
    Routes::new()
        .get("/console/approvals", list)
        .get("/console/approvals/{id}", show)
        .post("/console/approvals/{id}/approve", approve)
        .post("/console/approvals/{id}/reject", reject)
        .post("/console/approvals/{id}/withdraw", withdraw)
        .post("/console/approvals/{id}/again", again)
}

#[derive(Template)]
#[template(path = "console/approvals.html")]
struct ListPage {
    frame: Frame,
    open: Table,
    decided: Table,
}

#[derive(Template)]
#[template(path = "console/approval.html")]
struct ApprovalPage {
    frame: Frame,
    approval: Approval,
    facts: Vec<(&'static str, Cell)>,
    may: May,
    changes: Vec<Change>,
    /// What it is about.
    case: Option<Case>,
    /// Whether it is being executed, so that the page refreshes sooner.
    is_moving: bool,
}

/// What the viewing user may do about a proposal.
struct May {
    /// Approve or reject the proposal.
    decide: bool,
    /// Withdraw their own proposal.
    withdraw: bool,
    /// Retry an execution that failed.
    again: bool,
    /// Why the user may not decide on a waiting proposal; empty if they may.
    why_not: &'static str,
}

/// The label and tone of a proposal's state.
fn standing(approval: &Approval, visit: &Visit) -> (&'static str, Tone) {
    let now = visit.console().desk.now();
    match approval.state {
        ApprovalState::Waiting if approval.is_open(now) => ("waiting", Tone::Warn),
        ApprovalState::Waiting => ("expired", Tone::Plain),
        ApprovalState::Approved => ("approved, in progress", Tone::Busy),
        ApprovalState::Done => ("done", Tone::Good),
        ApprovalState::Failed => ("failed", Tone::Bad),
        ApprovalState::Rejected => ("rejected", Tone::Bad),
        ApprovalState::Withdrawn => ("withdrawn", Tone::Plain),
    }
}

/// The tenant that a proposal concerns, for display.
fn about(approval: &Approval, visit: &Visit) -> String {
    let Some(tenant) = approval.tenant else { return "the installation".to_owned() };
    let known = visit.tenants().iter().find(|known| known.id == tenant);
    known.map_or_else(|| tenant.to_string(), |known| known.name.clone())
}

fn row(approval: &Approval, visit: &Visit) -> Row {
    let (word, tone) = standing(approval, visit);
    vec![
        Cell::link(format!("/console/approvals/{}", approval.id), approval.deed.title()),
        Cell::id(approval.deed.subject()),
        Cell::text(about(approval, visit)),
        Cell::text(&approval.maker.login),
        Cell::When(approval.created_at),
        Cell::state(word, tone),
        Cell::maybe(approval.decided.as_ref().map(|(person, _)| person.login.clone())),
    ]
}

const HEAD: [&str; 7] =
    ["Action", "Subject", "Tenant", "Proposed by", "Proposed", "State", "Decided by"];

async fn list(visit: Visit) -> Answer {
    let (console, user) = (visit.console(), visit.user()?);
    let rows = |approvals: &[Approval]| -> Vec<Row> {
        approvals.iter().map(|it| row(it, &visit)).collect()
    };
    let open = rows(&console.desk.list(user.scope, true, LIST_MAX).await?);
    let mut decided = console.desk.list(user.scope, false, LIST_MAX).await?;
    decided.retain(|approval| !approval.is_open(console.desk.now()));
    let decided = rows(&decided);
    html(&ListPage {
        frame: visit.frame("Approvals"),
        open: Table::new("Open proposals", &HEAD, open).or("No proposal is waiting for approval."),
        decided: Table::new("Recently decided", &HEAD, decided).or("No decisions yet."),
    })
}

fn may_see(user: &User, approval: &Approval) -> bool {
    user.scope.covers_all_of(scope_of(approval))
}

/// The proposal of the path, if the user may see it.
async fn found(visit: &Visit) -> Result<Approval, Stop> {
    let approval =
        visit.console().desk.find(visit.id(ApprovalId::parse)?).await?.ok_or(Stop::NotFound)?;
    if may_see(visit.user()?, &approval) { Ok(approval) } else { Err(Stop::NotFound) }
}

fn may(approval: &Approval, user: &User, visit: &Visit) -> May {
    let open = approval.is_open(visit.console().desk.now());
    let own = approval.maker.id == user.id;
    let role = user.has_any(approval.deed.control().checkers);
    May {
        decide: open && !own && role && !approval.deed.is_about_user(user.id),
        withdraw: open && own,
        again: visit.console().desk.is_left(approval) && role,
        why_not: match () {
            () if !open => "",
            () if own => "You proposed this. Another user has to decide.",
            () if approval.deed.is_about_user(user.id) => {
                "This concerns your own account. Another user has to decide."
            }
            () if !role => "Your roles do not allow you to decide on this.",
            () => "",
        },
    }
}

async fn show(visit: Visit) -> Answer {
    let (approval, user) = (found(&visit).await?, visit.user()?);
    let (word, tone) = standing(&approval, &visit);
    let mut facts = vec![
        ("State", Cell::state(word, tone)),
        ("Tenant", Cell::text(about(&approval, &visit))),
        ("Proposed by", Cell::text(&approval.maker.login)),
        ("Reason", Cell::text(&approval.why)),
        ("Proposed", Cell::When(approval.created_at)),
    ];
    match &approval.decided {
        None => facts.push(("Expires", Cell::When(approval.expires_at))),
        Some((person, at)) => {
            facts.push(("Decided by", Cell::text(&person.login)));
            facts.push(("Decided", Cell::When(*at)));
        }
    }
    if !approval.outcome.is_empty() {
        facts.push((
            if approval.state == ApprovalState::Failed { "Failure" } else { "Note" },
            Cell::text(&approval.outcome),
        ));
    }
    let case = approval_case::of(&visit, &approval).await?;
    let may = may(&approval, user, &visit);
    let is_moving = approval.state == ApprovalState::Approved;
    html(&ApprovalPage {
        frame: visit.frame(approval.deed.title()),
        facts,
        may,
        is_moving,
        changes: approval
            .changes
            .iter()
            .map(|it| approval_changes::shown(&approval.deed, it))
            .collect(),
        case,
        approval,
    })
}

async fn approve(visit: Visit) -> Answer {
    decide(&visit, true).await
}

async fn reject(visit: Visit) -> Answer {
    decide(&visit, false).await
}

async fn decide(visit: &Visit, approve: bool) -> Answer {
    let approval = found(visit).await?;
    if !approval.is_open(visit.console().desk.now()) {
        let (word, _) = standing(&approval, visit);
        return Err(Stop::Refused(match &approval.decided {
            Some((person, at)) => {
                format!("{} decided this at {} UTC: {word}.", person.login, when(*at))
            }
            None => format!("This proposal is {word}."),
        }));
    }
    let note = visit.form().text("note");
    if note.chars().count() > NOTE_MAX_CHARS || note.chars().any(is_unshowable) {
        let words = format!("A note has at most {NOTE_MAX_CHARS} characters.");
        return Err(Stop::Wrong("note", words));
    }
    if !approve && note.is_empty() {
        return Err(Stop::wrong("note", "Please enter the reason for the rejection."));
    }
    let decided =
        visit.console().desk.decide(approval.id, approve, visit.user()?, visit.deed(note)).await?;
    let words = match decided.state {
        ApprovalState::Done => "Approved and executed.",
        ApprovalState::Failed => "Approved, but the execution failed.",
        ApprovalState::Rejected => "Rejected.",
        _ => "Approved. The change is being executed.",
    };
    Ok(visit.done(&format!("/console/approvals/{}", approval.id), words))
}

async fn withdraw(visit: Visit) -> Answer {
    let approval = found(&visit).await?;
    visit.console().desk.withdraw(approval.id, visit.user()?, visit.deed("")).await?;
    Ok(visit.done("/console/approvals", "Withdrawn."))
}

async fn again(visit: Visit) -> Answer {
    let approval = found(&visit).await?;
    if !visit.user()?.has_any(approval.deed.control().checkers) {
        return Err(Stop::Forbidden);
    }
    visit.console().desk.execute_again(&approval, visit.deed("")).await?;
    Ok(visit.done(&format!("/console/approvals/{}", approval.id), "Retried."))
}
