//! One box for every id: payments, quotes, wallets, requests, deposits, orders, events, transfers, transactions,
//! addresses, references and accounts; and what a request did that a person made. One thing found is shown at once,
//! several as a list.

use domain::chain::{Address, TxHash};
use domain::ledger::AccountCode;
use engine::office::Found;
use engine::payments::AUDIT_SEARCHED_MAX;
use uuid::Uuid;

use crate::audit;
use crate::wallets::view::{Section, page};
use crate::{Answer, Cell, Stop, Table, Visit, encoded, see_other};

/// Longest text that is looked for.
const TEXT_MAX_CHARS: usize = 128;

/// A UUID as ids are written, with dashes or without (EndToEndId, InstrId).
fn uuid(text: &str) -> Option<Uuid> {
    [32, 36].contains(&text.len()).then(|| Uuid::try_parse(text).ok()).flatten()
}

/// Whether ids of requests can look so.
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

/// What a person's request of this id was about: what it did, to what, and where that is shown.
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

/// What it is, its id, and where it is shown.
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
        let says = vec!["Type an id, a reference, an address or a transaction into the box above.".to_owned()];
        return page(&visit, "Search", vec![Section { says, ..Section::default() }]);
    }
    if text.chars().count() > TEXT_MAX_CHARS || text.chars().any(char::is_control) {
        return Err(Stop::Invalid(format!("At most {TEXT_MAX_CHARS} characters are looked for.")));
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
            let says = vec![format!("The request “{text}” did this.")];
            let head = ["To what", "What", "When", "Who", "Entry of the audit log"];
            let table = Some(Table::new("Done by the request", &head, rows));
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
            format!("Nothing of this tenant is known by “{text}”."),
            "Ids, references and addresses are compared as a whole: a part of one finds nothing. Payment events are kept for 30 days."
                .to_owned(),
            format!("Ids of requests are kept with what people do; the newest {AUDIT_SEARCHED_MAX} such deeds were looked \
                 through."),
        ],
        count => vec![format!("{count} things are known by “{text}”.")],
    };
    let table = (!rows.is_empty()).then(|| Table::new("Found", &["Id", "What it is"], rows));
    page(&visit, "Search", vec![Section { says, table, ..Section::default() }])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uuid_is_written_in_two_ways() {
        let id = Uuid::from_u128(0x0123_4567_89ab_4cde_8f01_2345_6789_abcd);
        assert_eq!((uuid(&id.to_string()), uuid(&id.simple().to_string())), (Some(id), Some(id)));
        for wrong in ["", "x", &format!("{{{id}}}"), &format!("urn:uuid:{id}")] {
            assert_eq!(uuid(wrong), None, "{wrong}");
        }
    }
}
