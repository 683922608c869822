//! The audit entries of a record for its own page, and links from entries to records.

use domain::approval::{Approval, ApprovalState};
use domain::audit::{AuditContext, Entry};

use super::plain_sentence;
use crate::view::{Moment, Section};
use crate::{Cell, Stop, Table, Tone, Visit, encoded};

/// The page of an entry.
const ENTRY: &str = "/console/audit/entries/{chain}/{seq}";

/// The number of an entry, linked for users who may read the log.
pub fn entry_cell(visit: &Visit, entry: &Entry) -> Cell {
    match visit.may_use("GET", ENTRY) {
        true => {
            Cell::link(format!("/console/audit/entries/{}/{}", entry.tenant, entry.seq), entry.seq)
        }
        false => Cell::text(entry.seq.to_string()),
    }
}

/// The actor, and the second user.
pub fn people(deed: &AuditContext) -> String {
    match &deed.second {
        Some(second) => format!("{} with {second}", deed.person()),
        None => deed.person().to_owned(),
    }
}

/// The page of a record that entries name by kind and id, for the tenant with this tag; `None` if
/// it has no page.
pub fn place(tag: &str, kind: &str, subject: &str) -> Option<String> {
    let below = match kind {
        "payment" => "/payments/",
        "transaction" => "/deposits/",
        "order" => "/orders/",
        "wallet" => "/wallets/",
        "request" => "/requests/",
        "event" => "/webhooks/deliveries/",
        "approval" => return Some(format!("/console/approvals/{}", encoded(subject))),
        _ => return None,
    };
    Some(format!("/console/t/{tag}{below}{}", encoded(subject)))
}

/// Entries about any of these records of the page's tenant, oldest first.
pub async fn about(visit: &Visit, subjects: &[String]) -> Result<Vec<Entry>, Stop> {
    let (store, tenant) = (visit.console().store(), visit.tenant_id()?);
    let mut found = Vec::new();
    for subject in subjects {
        // Downloading a receipt is not an action on the payment.
        let done = store.audit_about(tenant, subject).await?;
        found.extend(done.into_iter().filter(|entry| !entry.note.action.starts_with("export.")));
    }
    found.sort_by_key(|entry| entry.seq);
    Ok(found)
}

/// A section with a record's audit entries and proposals.
pub async fn section(visit: &Visit, subject: &str) -> Result<Section, Stop> {
    let proposals =
        visit.console().store().approvals_about(Some(visit.tenant_id()?), subject).await?;
    let mut subjects = vec![subject.to_owned()];
    subjects.extend(proposals.iter().map(|proposal| proposal.id.to_string()));
    let row = |entry: &Entry| {
        vec![
            Cell::When(entry.at),
            Cell::text(plain_sentence(entry)),
            Cell::text(&entry.deed.why),
            entry.deed.request_id.as_ref().map_or(Cell::Empty, Cell::id),
            entry_cell(visit, entry),
        ]
    };
    let rows = about(visit, &subjects).await?.iter().map(row).collect();
    let head = ["Time", "Action", "Reason", "Request", "Entry"];
    let table = Table::new("Activity", &head, rows).or("No activity by users.");
    Ok(Section { title: "Activity".to_owned(), table: Some(table), ..Section::default() })
}

/// Actions as steps of a timeline, each with the entry that proves it. What an approved proposal
/// executed is a technical step: the approval stands before it.
pub fn moments(visit: &Visit, entries: &[Entry]) -> Vec<Moment> {
    let of = |entry: &Entry| {
        let text = plain_sentence(entry);
        let request = entry.deed.request_id.as_deref().unwrap_or_default();
        if request.starts_with("approval:") {
            let text = format!("{text}. {}", entry_reference(entry));
            return vec![Moment::technical(entry.at, 9, text)];
        }
        let step = Moment::new(entry.at, 9, Tone::Busy, text).detail(quoted(&entry.deed.why));
        let step = match visit.may_use("GET", ENTRY) {
            true => step.link(
                format!("/console/audit/entries/{}/{}", entry.tenant, entry.seq),
                "View the entry",
            ),
            false => step,
        };
        vec![step, Moment::technical(entry.at, 10, entry_reference(entry))]
    };
    entries.iter().flat_map(of).collect()
}

/// Where an action is recorded.
fn entry_reference(entry: &Entry) -> String {
    let request = entry.deed.request_id.as_deref().unwrap_or("none");
    format!("Audit entry {}, {}, request {request}", entry.seq, entry.note.action)
}

/// A reason in quotation marks; nothing without one.
fn quoted(why: &str) -> String {
    if why.is_empty() { String::new() } else { format!("“{why}”") }
}

/// Proposals about a record and the decisions on them as steps of a timeline.
pub async fn proposed(visit: &Visit, proposals: &[Approval]) -> Result<Vec<Moment>, Stop> {
    let of = |proposal: &Approval| {
        let (title, maker) = (proposal.deed.title(), &proposal.maker.login);
        let link = |moment: Moment| {
            moment.link(format!("/console/approvals/{}", proposal.id), "View the proposal")
        };
        let made =
            Moment::new(proposal.created_at, 7, Tone::Busy, format!("{maker} proposed: {title}"));
        let made = link(made.detail(quoted(&proposal.why)));
        let decided = proposal.decided.as_ref().map(|(checker, at)| {
            let (did, tone) = match proposal.state {
                ApprovalState::Rejected => ("rejected", Tone::Bad),
                _ => ("approved", Tone::Good),
            };
            let title = format!("{} {did}: {title}", checker.login);
            let detail = match proposal.state {
                ApprovalState::Failed => format!("It was not executed: {}", proposal.outcome),
                _ => quoted(&proposal.outcome),
            };
            link(Moment::new(*at, 8, tone, title).detail(detail))
        });
        [Some(made), decided]
    };
    let ids: Vec<String> = proposals.iter().map(|proposal| proposal.id.to_string()).collect();
    let entries = about(visit, &ids).await?;
    let proofs = entries.iter().map(|entry| Moment::technical(entry.at, 9, entry_reference(entry)));
    Ok(proposals.iter().flat_map(of).flatten().chain(proofs).collect())
}
