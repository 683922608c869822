//! Search: by any id, reference, address or transaction in full or by its beginning; payments and
//! wallet records also by the end of the account, amount, day, name, telephone number and e-mail
//! address. A single result opens directly, several are listed by kind. A search for a person is an
//! entry of the audit log.

use domain::audit::{Facts, Note};
use domain::chain::{Address, TxHash};
use domain::ledger::AccountCode;
use domain::payment_search::ID_START_CHARS;
use domain::user::Role;
use engine::backoffice::{Found, RECORDS_COMPARED_MAX, RECORDS_FOUND_MAX};
use engine::payments::AUDIT_SEARCHED_MAX;
use uuid::Uuid;

use super::asked::Asked;
use super::search_results::{self, place};
use crate::audit;
use crate::parts::when;
use crate::view::{Section, page};
use crate::{Answer, Cell, Stop, Table, Visit, encoded, see_other};

/// Maximum length of a search text.
const TEXT_MAX_CHARS: usize = 128;
/// Maximum number of records of a kind found by what is known about them.
const RESULTS_MAX: usize = 50;
/// Roles that may search for a person.
pub(crate) const FIND_PEOPLE: [Role; 5] =
    [Role::Operator, Role::Approver, Role::Compliance, Role::Treasury, Role::Auditor];
const HELP: &str = "Search for an id, reference, address on the chain, or transaction (6 or more characters of its beginning are enough), \
    for a part of an external id, or for a payment or a deposit by what you know: the last 4 digits of the account, the amount \
    (37,910 or 500 AED or about 37,910), the day (2026-11-25), a name, a telephone number, an e-mail address. Searches for people \
    are recorded.";

/// A UUID, with dashes or without (EndToEndId, InstrId).
fn uuid(text: &str) -> Option<Uuid> {
    [32, 36].contains(&text.len()).then(|| Uuid::try_parse(text).ok()).flatten()
}

/// Whether the text may be a request id.
fn may_be_request(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte))
}

/// Records with exactly this id, reference, address or transaction.
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
    Ok(found)
}

/// Records with an id, reference, address or transaction that begins with this text.
async fn find_start(visit: &Visit, text: &str) -> Result<Vec<Found>, Stop> {
    let (store, tenant) = (visit.console().store(), visit.tenant_id()?);
    if text.chars().count() < ID_START_CHARS {
        return Ok(Vec::new());
    }
    let mut found = store.find_reference_start(tenant, text).await?;
    let lower = text.to_ascii_lowercase();
    let id = lower.replace('-', "");
    let bytes = lower.strip_prefix("0x").unwrap_or(&lower);
    if is_start(&id) {
        found.extend(store.find_id_start(tenant, &id).await?);
    }
    if is_start(bytes) {
        found.extend(store.find_bytes_start(tenant, bytes).await?);
    }
    Ok(found)
}

/// Records with this text somewhere in a reference.
async fn find_part(visit: &Visit, text: &str) -> Result<Vec<Found>, Stop> {
    if text.chars().count() < ID_START_CHARS {
        return Ok(Vec::new());
    }
    Ok(visit.console().store().find_reference_part(visit.tenant_id()?, text).await?)
}

/// Whether the text is the beginning of an id or a hash.
fn is_start(text: &str) -> bool {
    text.len() >= ID_START_CHARS && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Payments, deposits, requests, orders and wallets about which all of this holds, and notes for the
/// user. A search for a person is recorded before its results are shown.
async fn find_known(visit: &Visit, mut asked: Asked) -> Result<(Vec<Found>, Vec<String>), Stop> {
    let mut notes = Vec::new();
    if !asked.is_usable() {
        if asked.unknown.len() < asked.words {
            let unknown = asked.unknown.join("”, “");
            notes.push(format!("“{unknown}” is not part of anything that can be searched for."));
        }
        return Ok((Vec::new(), notes));
    }
    if !asked.people.is_empty() && !visit.may(&FIND_PEOPLE) && !asked.forget_people() {
        notes.push(
            "Your roles do not allow searching by name, telephone number or e-mail address."
                .to_owned(),
        );
        return Ok((Vec::new(), notes));
    }
    let (store, tenant) = (visit.console().store(), visit.tenant_id()?);
    let found = store.find_payments(tenant, &asked.search, RESULTS_MAX).await?;
    let others = store.find_people(tenant, &asked.search, RESULTS_MAX).await?;
    if !asked.people.is_empty() || !asked.accounts.is_empty() {
        record(visit, &asked, found.records.len() + others.len()).await?;
        notes.push("This search by personal data is recorded in the audit log.".to_owned());
    }
    if found.records.len() == RESULTS_MAX {
        notes.push(format!(
            "The latest {RESULTS_MAX} payments are shown. Add an amount or a day to narrow the search."
        ));
    }
    if let Some(since) = found.searched_since {
        notes.push(format!(
            "Only payments since {} were searched. Add a day such as 2026-11-25 to search earlier ones.",
            when(since)
        ));
    }
    let payments = found.records.iter().map(|record| Found::Payment(record.payment.id));
    Ok((payments.chain(others).collect(), notes))
}

/// Records a search for a person, with the terms masked.
async fn record(visit: &Visit, asked: &Asked, found: usize) -> Result<(), Stop> {
    let join = |parts: Vec<&str>| parts.join(" ");
    let accounts = asked.accounts.iter().map(|masked| ("account", masked));
    let people = asked.people.iter().map(|(kind, masked)| (*kind, masked));
    let (kinds, terms) = people.chain(accounts).map(|(kind, term)| (kind, term.as_str())).unzip();
    let facts = Facts::new()
        .text("by", join(kinds))
        .number("found", i64::try_from(found).unwrap_or(i64::MAX));
    visit.took(Note::new("search.person", "search", join(terms)).after(facts)).await
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

pub(super) async fn show(visit: Visit) -> Answer {
    let text = visit.query().text("q");
    if text.is_empty() {
        let says = vec!["Enter what you know in the search box above.".to_owned(), HELP.to_owned()];
        return page(&visit, "Search", vec![Section { says, ..Section::default() }]);
    }
    if text.chars().count() > TEXT_MAX_CHARS || text.chars().any(char::is_control) {
        return Err(Stop::Invalid(format!("Enter at most {TEXT_MAX_CHARS} characters.")));
    }
    if AccountCode::parse(text).is_some() {
        return Ok(see_other(&visit.href(&format!("/ledger/account?code={}", encoded(text)))));
    }
    let (mut found, mut notes) = (find(&visit, text).await?, Vec::new());
    if Address::parse(text).is_some() && usize::try_from(RECORDS_FOUND_MAX) == Ok(found.len()) {
        notes.push(format!("The latest {RECORDS_FOUND_MAX} records of this address are shown."));
    }
    if found.is_empty() {
        found = find_start(&visit, text).await?;
        // Digits may be the beginning of an id by chance.
        if found.is_empty() || text.bytes().all(|byte| byte.is_ascii_digit()) {
            let asked = Asked::of(text, visit.console().now());
            let (payments, more) = find_known(&visit, asked).await?;
            found.extend(payments);
            found.extend(find_part(&visit, text).await?);
            notes = more;
        }
    }
    found.sort_unstable();
    found.dedup();
    if let [one] = found.as_slice() {
        return Ok(see_other(&place(&visit, one)));
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
    let mut says = match found.len() {
        0 => vec![
            format!("No results for “{text}” in this tenant."),
            HELP.to_owned(),
            format!(
                "Payment events are kept for 30 days. Of request ids, the latest {AUDIT_SEARCHED_MAX} actions of users were searched; \
                 of deposits, payment requests, orders and wallets by what is known, the latest {RECORDS_COMPARED_MAX} of each."
            ),
        ],
        count => vec![format!("{count} results for “{text}”.")],
    };
    says.extend(notes);
    let mut sections = vec![Section { says, ..Section::default() }];
    sections.extend(search_results::sections(&visit, &found).await?);
    page(&visit, "Search", sections)
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
