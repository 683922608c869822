//! The audit entries of a record for its own page, and links from entries to records.

use domain::audit::{Deed, Entry};

use crate::view::Section;
use crate::{Cell, Stop, Table, Visit, encoded};

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
pub fn people(deed: &Deed) -> String {
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
            Cell::text(people(&entry.deed)),
            Cell::text(&entry.note.action),
            Cell::text(&entry.deed.why),
            entry.deed.request_id.as_ref().map_or(Cell::Empty, Cell::id),
            entry_cell(visit, entry),
        ]
    };
    let rows = about(visit, &subjects).await?.iter().map(row).collect();
    let head = ["Time", "User", "Action", "Reason", "Request", "Entry"];
    let table = Table::new("Activity", &head, rows).or("No activity by users.");
    Ok(Section { title: "Activity".to_owned(), table: Some(table), ..Section::default() })
}
