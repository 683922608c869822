//! The audit log: search by user, action, subject, request and day; entries with their hashes;
//! verification of the hash chains.

mod deeds;
mod entry;
mod verify;

use domain::audit::{Entry, INSTALLATION};
use domain::ids::TenantId;
use domain::time::{Span, Timestamp};
use domain::user::Scope;
use engine::payments::{AuditFilter, AuditPlace};

use super::payments::day;
use super::routes::Routes;
use super::{Answer, Cell, Pager, Row, Stop, Table, Visit};
use crate::view::{Field, FormView, Section, page, query};

pub(super) use deeds::{about, entry_cell, people, place, section};

const LIST_MAX: usize = 100;
const FILTERS: [&str; 6] = ["who", "action", "subject", "request", "from", "to"];
/// The page of all entries.
const LIST: &str = "/console/audit";

pub(super) fn routes() -> Routes {
    Routes::new()
        .get(LIST, list)
        .get("/console/audit/entries/{chain}/{seq}", entry::show)
        .get("/console/audit/verify", verify::show)
}

/// The owner of a chain, for display.
fn whose(tenant: TenantId, visit: &Visit) -> String {
    if tenant == INSTALLATION {
        return "the installation".to_owned();
    }
    let known = visit.tenants().iter().find(|known| known.id == tenant);
    known.map_or_else(|| tenant.to_string(), |known| known.name.clone())
}

/// The only chain that the user may access; `None` for all.
fn only(visit: &Visit) -> Result<Option<TenantId>, Stop> {
    Ok(match visit.user()?.scope {
        Scope::All => None,
        Scope::Tenant(tenant) => Some(tenant),
    })
}

/// Parses a position, `{microseconds}.{chain}.{number}`.
fn mark(text: &str) -> Option<AuditPlace> {
    let (at, rest) = text.split_once('.')?;
    let (tenant, seq) = rest.split_once('.')?;
    Some(AuditPlace {
        at: Timestamp(at.parse().ok()?),
        tenant: TenantId::parse(tenant)?,
        seq: seq.parse().ok()?,
    })
}

fn wanted(visit: &Visit) -> Result<AuditFilter, Stop> {
    let given = |name| visit.query().given(name).map(str::to_owned);
    let after =
        visit.query().given("after").map(|text| mark(text).ok_or(Stop::NotFound)).transpose()?;
    Ok(AuditFilter {
        tenant: only(visit)?,
        who: given("who"),
        action: given("action"),
        subject: given("subject"),
        request_id: given("request"),
        from: day(visit, "from")?,
        to: day(visit, "to")?.map(|end| end + Span::days(1)),
        after,
    })
}

fn row(entry: &Entry, visit: &Visit) -> Row {
    let (deed, note) = (&entry.deed, &entry.note);
    vec![
        entry_cell(visit, entry),
        Cell::When(entry.at),
        Cell::text(people(deed)),
        Cell::text(&note.action),
        Cell::id(&note.subject),
        Cell::text(whose(entry.tenant, visit)),
        Cell::text(&deed.why),
        Cell::maybe(note.before.clone()),
        Cell::maybe(note.after.clone()),
        Cell::text(deed.via.name()),
    ]
}

fn filters(visit: &Visit) -> FormView {
    let asked = |field: Field| field.optional().as_asked(visit.query());
    let fields = vec![
        asked(Field::line("who", "User")),
        asked(Field::line("action", "Action, for example key.rotate")),
        asked(Field::line("subject", "Subject")),
        asked(Field::line("request", "Request")),
        asked(Field::day("from", "From (UTC)")),
        asked(Field::day("to", "To (UTC)")),
    ];
    FormView { button: "Find", ..FormView::filters(fields) }
}

async fn list(visit: Visit) -> Answer {
    let wanted = wanted(&visit)?;
    let found = visit.console().store().audit_entries(&wanted, LIST_MAX).await?;
    let asked = query(&visit, &FILTERS);
    let next = found.last().filter(|_| found.len() == LIST_MAX).map(|last| {
        let place = AuditPlace::of(last);
        format!("{LIST}?{asked}&after={}.{}.{}", place.at.0, place.tenant, place.seq)
    });
    let rows: Vec<_> = found.iter().map(|entry| row(entry, &visit)).collect();
    let shown = if rows.is_empty() { String::new() } else { format!("{} entries", rows.len()) };
    let head = [
        "Entry", "Time", "User", "Action", "Subject", "Tenant", "Reason", "Before", "After",
        "Channel",
    ];
    let table = Table::new("Entries of the audit log", &head, rows)
        .or("No entries match.")
        .paged(Pager { previous: None, next, shown });
    let mut links = vec![("/console/audit/verify".to_owned(), "Verify the chains".to_owned())];
    if visit.query().given("after").is_some() {
        links.push((format!("{LIST}?{asked}"), "Back to the latest".to_owned()));
    }
    let section =
        Section { links, filters: Some(filters(&visit)), table: Some(table), ..Section::default() };
    page(&visit, "Audit log", vec![section])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_reads_back() {
        let tenant = TenantId(uuid::Uuid::from_u128(7));
        assert_eq!(
            mark(&format!("17.{tenant}.3")),
            Some(AuditPlace { at: Timestamp(17), tenant, seq: 3 })
        );
        for wrong in
            ["", "17", "17.x.3", "17.3", &format!("17.{tenant}."), &format!("x.{tenant}.3")]
        {
            assert_eq!(mark(wrong), None, "{wrong}");
        }
    }
}
