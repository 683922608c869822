//! Search by any id: payments, quotes, wallets, requests, deposits, orders, events, transfers,
//! transactions, addresses, references and accounts; also the actions of a user's request. A single
//! result opens directly, several are listed.

use domain::chain::{Address, TxHash};
use domain::ledger::AccountCode;
use engine::office::Found;
use engine::payments::AUDIT_SEARCHED_MAX;
use uuid::Uuid;

use crate::audit;
use crate::view::{Section, page};
use crate::{Answer, Cell, Stop, Table, Visit, encoded, see_other};

/// Maximum length of a search text.
const TEXT_MAX_CHARS: usize = 128;

/// A UUID, with dashes or without (EndToEndId, InstrId).
fn uuid(text: &str) -> Option<Uuid> {
    [32, 36].contains(&text.len()).then(|| Uuid::try_parse(text).ok()).flatten()
}

/// Whether the text may be a request id.
fn may_be_request(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte))
}

async fn find(visit: &Visit, text: &str) -> Result<Vec<Found>, Stop> {
    let (store, tenant) = (visit.console().store(), visit.tenant_id()?);
    let mut found = store.find_reference(tenant, text).await?;
    if let Some(id) = uuid(text) {
        found.extend(store.find_uuid(tenant, id).await?);
    }
    if let Some(address) = Address::parse(text) {
        found.extend(store.find_address(tenant, &address).await?);
    }
    if let Some(hash) = TxHash::parse(text) {
        found.extend(store.find_hash(tenant, &hash).await?);
    }
    found.sort_unstable();
    found.dedup();
    Ok(found)
}

/// The actions of the request with this id: action, subject and its page.
async fn done_by(visit: &Visit, request: &str) -> Result<Vec<Vec<Cell>>, Stop> {
    let tenant = visit.tenant()?;
    let entries = visit.console().store().audit_of_request(tenant.id, request).await?;
    let row = |entry: &domain::audit::Entry| {
        let note = &entry.note;
        let thing = match audit::place(&tenant.tag, &note.kind, &note.subject) {
            Some(href) => Cell::id_link(href, &note.subject),
            None => Cell::id(&note.subject),
        };
        vec![
            thing,
            Cell::text(&note.action),
            Cell::When(entry.at),
            Cell::text(audit::people(&entry.deed)),
            audit::entry_cell(visit, entry),
        ]
    };
    Ok(entries.iter().map(row).collect())
}

/// The kind, id and page of a result.
fn place(found: &Found) -> (&'static str, Uuid, String) {
    match found {
        Found::Payment(id) => ("Payment", id.0, format!("/payments/{id}")),
        Found::Quote(id) => ("Quote", id.0, format!("/quotes/{id}")),
        Found::Wallet(id) => ("Wallet", id.0, format!("/wallets/{id}")),
        Found::Request(id) => ("Payment request", id.0, format!("/requests/{id}")),
        Found::Deposit(id) => ("Deposit", id.0, format!("/deposits/{id}")),
        Found::Order(id) => ("Order", id.0, format!("/orders/{id}")),
        Found::Delivery(id) => ("Wallet event", id.0, format!("/webhooks/deliveries/{id}")),
        Found::Transfer(id) => ("Transfer", id.0, format!("/ledger/transfers/{id}")),
    }
}

pub(super) async fn show(visit: Visit) -> Answer {
    let text = visit.query().text("q");
    if text.is_empty() {
        let says = vec![
            "Enter an id, a reference, an address or a transaction in the search box above."
                .to_owned(),
        ];
        return page(&visit, "Search", vec![Section { says, ..Section::default() }]);
    }
    if text.chars().count() > TEXT_MAX_CHARS || text.chars().any(char::is_control) {
        return Err(Stop::Invalid(format!("Enter at most {TEXT_MAX_CHARS} characters.")));
    }
    if AccountCode::parse(text).is_some() {
        return Ok(see_other(&visit.href(&format!("/ledger/account?code={}", encoded(text)))));
    }
    let found = find(&visit, text).await?;
    if let [one] = found.as_slice() {
        return Ok(see_other(&visit.href(&place(one).2)));
    }
    if found.is_empty() && may_be_request(text) {
        let rows = done_by(&visit, text).await?;
        if !rows.is_empty() {
            let says = vec![format!("Actions of the request “{text}”.")];
            let head = ["Subject", "Action", "Time", "User", "Audit entry"];
            let table = Some(Table::new("Actions of the request", &head, rows));
            return page(&visit, "Search", vec![Section { says, table, ..Section::default() }]);
        }
    }
    let row = |found: &Found| {
        let (what, id, path) = place(found);
        vec![Cell::id_link(visit.href(&path), id), Cell::text(what)]
    };
    let rows: Vec<_> = found.iter().map(row).collect();
    let says = match rows.len() {
        0 => vec![
            format!("No results for “{text}” in this tenant."),
            "Enter complete ids, references and addresses. Payment events are kept for 30 days."
                .to_owned(),
            format!(
                "Request ids are stored with users' actions; the latest {AUDIT_SEARCHED_MAX} of these were searched."
            ),
        ],
        count => vec![format!("{count} results for “{text}”.")],
    };
    let table = (!rows.is_empty()).then(|| Table::new("Found", &["Id", "Kind"], rows));
    page(&visit, "Search", vec![Section { says, table, ..Section::default() }])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uuid_has_two_spellings() {
        let id = Uuid::from_u128(0x0123_4567_89ab_4cde_8f01_2345_6789_abcd);
        assert_eq!((uuid(&id.to_string()), uuid(&id.simple().to_string())), (Some(id), Some(id)));
        for wrong in ["", "x", &format!("{{{id}}}"), &format!("urn:uuid:{id}")] {
            assert_eq!(uuid(wrong), None, "{wrong}");
        }
    }
}
