//! What people did to one thing, for the thing's own page; and where a thing that an entry names is shown.

use domain::audit::{Deed, Entry};

use crate::wallets::view::Section;
use crate::{Cell, Stop, Table, Visit, encoded};

/// The page of one entry.
const ENTRY: &str = "/console/audit/entries/{chain}/{seq}";

/// The number of an entry, which leads to its page for whoever may read the log.
pub fn entry_cell(visit: &Visit, entry: &Entry) -> Cell {
    match visit.may_use("GET", ENTRY) {
        true => Cell::link(format!("/console/audit/entries/{}/{}", entry.tenant, entry.seq), entry.seq),
        false => Cell::text(entry.seq.to_string()),
    }
}

/// Who did it, and with whom.
pub fn people(deed: &Deed) -> String {
    match &deed.second {
        Some(second) => format!("{} with {second}", deed.person()),
        None => deed.person().to_owned(),
    }
}

/// Where a thing of the tenant of this tag is shown that entries name by kind and id; `None` where it has no page.
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

/// What was done to any of these things of the page's tenant, the first deed first.
///
/// # Errors
/// The store.
pub async fn about(visit: &Visit, subjects: &[String]) -> Result<Vec<Entry>, Stop> {
    let (store, tenant) = (visit.console().store(), visit.tenant_id()?);
    let mut found = Vec::new();
    for subject in subjects {
        // Whoever took a receipt has done nothing to the payment.
        let done = store.audit_about(tenant, subject).await?;
        found.extend(done.into_iter().filter(|entry| !entry.note.action.starts_with("export.")));
    }
    found.sort_by_key(|entry| entry.seq);
    Ok(found)
}

/// What was done to a thing and proposed about it, as a part of its page.
///
/// # Errors
/// The store.
pub async fn section(visit: &Visit, subject: &str) -> Result<Section, Stop> {
    let proposals = visit.console().store().approvals_about(Some(visit.tenant_id()?), subject).await?;
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
    let head = ["When", "Who", "What", "Why", "Request", "Entry"];
    let table = Table::new("What people did", &head, rows).or("No person has done anything about it.");
    Ok(Section { title: "What people did".to_owned(), table: Some(table), ..Section::default() })
}
