//! The audit log: entries as sentences, searched by user, action, subject, request and day; an
//! entry with its hashes; verification of the hash chains.

mod deeds;
mod entry;
mod sentences;
mod verify;

use askama::Template;
use domain::audit::{Entry, INSTALLATION};
use domain::ids::TenantId;
use domain::time::{Span, Timestamp};
use domain::user::Scope;
use engine::payments::{AuditFilter, AuditPlace};

use super::payments::day;
use super::routes::Routes;
use super::{Answer, Pager, Stop, Visit};
use crate::export::{self, Csv};
use crate::lists::views;
use crate::view::{Field, FormView, Section, clock, day_words, latest, page_around, query};

pub(super) use deeds::{about, entry_cell, moments, people, place, proposed, section};
pub(super) use sentences::plain_sentence;
use sentences::{Part, sentence};

const LIST_MAX: usize = 100;
const FILTERS: [&str; 7] = ["by", "who", "action", "subject", "request", "from", "to"];
const VIEWS: [(&str, &str); 2] = [("Everything", ""), ("People only", "by=people")];
/// The page of all entries.
const LIST: &str = "/console/audit";
/// The entries as a file.
const FILE: &str = "/console/audit/export.csv";
/// Entries per read of an export.
const EXPORT_ROWS: usize = 1_000;
/// Maximum number of entries in an export; for more, use the command line.
const EXPORT_MAX: usize = 50_000;

pub(super) fn routes() -> Routes {
    Routes::new()
        .get(LIST, list)
        .get(FILE, export)
        .get("/console/audit/entries/{chain}/{seq}", entry::show)
        .get("/console/audit/verify", verify::show)
}

/// The owner of a chain, for display.
fn chain_owner(tenant: TenantId, visit: &Visit) -> String {
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
fn parse_place(text: &str) -> Option<AuditPlace> {
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
    let place = |name| {
        let text = visit.query().given(name);
        text.map(|text| parse_place(text).ok_or(Stop::NotFound)).transpose()
    };
    Ok(AuditFilter {
        tenant: only(visit)?,
        who: given("who"),
        action: given("action"),
        subject: given("subject"),
        request_id: given("request"),
        people: visit.query().text("by") == "people",
        from: day(visit, "from")?,
        to: day(visit, "to")?.map(|end| end + Span::days(1)),
        after: place("after")?,
        before: place("before")?,
    })
}

/// A page of entries with links to its neighbours, which keep the filters.
async fn found(visit: &Visit, wanted: &AuditFilter) -> Result<(Vec<Entry>, Pager), Stop> {
    let mut found = visit.console().store().audit_entries(wanted, LIST_MAX + 1).await?;
    let is_upward = wanted.after.is_none() && wanted.before.is_some();
    // One entry more than the page has tells whether there are further ones.
    let more = found.len() > LIST_MAX;
    if more {
        found.remove(if is_upward { 0 } else { LIST_MAX });
    }
    let asked = query(visit, &FILTERS);
    let link = |way: &str, place: AuditPlace| {
        format!("{LIST}?{asked}&{way}={}.{}.{}", place.at.0, place.tenant, place.seq)
    };
    let mark = wanted.after.or(wanted.before);
    let first = found.first().map(AuditPlace::of).or(mark);
    let last = found.last().map(AuditPlace::of).or(mark);
    let is_beyond = if is_upward { more } else { mark.is_some() };
    let pager = Pager {
        previous: first.filter(|_| is_beyond).map(|place| link("before", place)),
        next: last.filter(|_| is_upward || more).map(|place| link("after", place)),
        shown: match found.len() {
            0 => String::new(),
            count => format!("{count} entries"),
        },
    };
    Ok((found, pager))
}

/// The tag of a tenant that the user may access.
fn tag_of(visit: &Visit, tenant: TenantId) -> Option<&str> {
    visit.tenants().iter().find(|known| known.id == tenant).map(|known| known.tag.as_str())
}

/// The entries of a day, newest first.
struct Day {
    title: String,
    entries: Vec<Told>,
}

/// An entry as the list shows it.
struct Told {
    at: Timestamp,
    seq: i64,
    who: String,
    initials: String,
    parts: Vec<Part>,
    why: String,
    href: String,
    /// Details: names and values.
    record: Vec<(&'static str, String)>,
    /// Values before and after.
    changes: Vec<entry::Changed>,
}

impl Told {
    fn clock(&self) -> String {
        clock(self.at)
    }
}

#[derive(Template)]
#[template(path = "console/audit/list.html")]
struct List {
    is_live: bool,
    days: Vec<Day>,
    pager: Pager,
}

/// Two letters for a person.
fn initials(who: &str) -> String {
    let mut words = who.split(|letter: char| !letter.is_alphanumeric());
    let first: Vec<char> = words.next().unwrap_or_default().chars().take(2).collect();
    let second = words.next().and_then(|word| word.chars().next());
    let letters = match (first.as_slice(), second) {
        ([first, ..], Some(second)) => vec![*first, second],
        _ => first,
    };
    letters.into_iter().flat_map(char::to_uppercase).collect()
}

fn told(entry: &Entry, visit: &Visit) -> Told {
    let (deed, note) = (&entry.deed, &entry.note);
    let who = people(deed);
    let changes = entry::values(entry)
        .unwrap_or_else(|| vec![("Changes".to_owned(), note.before.clone(), note.after.clone())]);
    let record = [
        ("Action", Some(note.action.clone())),
        ("Subject", Some(note.subject.clone())),
        ("Tenant", Some(chain_owner(entry.tenant, visit))),
        ("Channel", Some(deed.via.name().to_owned())),
        ("Roles", deed.role.clone()),
        ("Request", deed.request_id.clone()),
    ];
    Told {
        at: entry.at,
        seq: entry.seq,
        initials: initials(deed.person()),
        parts: sentence(entry, tag_of(visit, entry.tenant)),
        why: deed.why.clone(),
        href: format!("/console/audit/entries/{}/{}", entry.tenant, entry.seq),
        record: record.into_iter().filter_map(|(name, value)| Some((name, value?))).collect(),
        changes,
        who,
    }
}

fn group_by_day(found: &[Entry], visit: &Visit) -> Vec<Day> {
    let mut days: Vec<Day> = Vec::new();
    for entry in found {
        let title = day_words(entry.at);
        if days.last().is_none_or(|day| day.title != title) {
            days.push(Day { title, entries: Vec::new() });
        }
        if let Some(day) = days.last_mut() {
            day.entries.push(told(entry, visit));
        }
    }
    days
}

fn filters(visit: &Visit) -> FormView {
    let asked = |field: Field| field.as_asked(visit.query());
    let fields = vec![
        asked(Field::choice("by", "By", &[("", "all"), ("people", "people only")])),
        asked(Field::line("who", "User")),
        asked(Field::line("action", "Action, for example key.rotate")),
        asked(Field::line("subject", "Subject")),
        asked(Field::line("request", "Request")),
        asked(Field::day("from", "From (UTC)")),
        asked(Field::day("to", "To (UTC)")),
    ];
    FormView { title: "Filter".to_owned(), button: "Find", ..FormView::filters(fields) }
}

async fn list(visit: Visit) -> Answer {
    let wanted = wanted(&visit)?;
    let (found, pager) = found(&visit, &wanted).await?;
    let days = group_by_day(&found, &visit);
    let mut links = vec![("/console/audit/verify".to_owned(), "Verify the chains".to_owned())];
    links.extend(export::links_to(FILE, &query(&visit, &FILTERS)));
    links.extend(latest(&visit, LIST, &FILTERS));
    let title = "Audit log";
    let views = views(&visit, LIST, &FILTERS, &VIEWS);
    let section = Section { links, views, filters: Some(filters(&visit)), ..Section::default() };
    // Older pages do not change.
    let is_live = wanted.after.is_none() && wanted.before.is_none();
    let list = List { is_live, days, pager };
    page_around(&visit, title, vec![section], &list)
}

/// The entries that the filters select as a file, newest first.
async fn export(visit: Visit) -> Answer {
    let head = [
        "at",
        "chain",
        "number",
        "tenant",
        "user",
        "on_behalf_of",
        "second_user",
        "roles",
        "channel",
        "action",
        "kind",
        "subject",
        "sentence",
        "reason",
        "before",
        "after",
        "request",
    ];
    let mut csv = Csv::new(&visit, &head);
    let mut wanted = AuditFilter { after: None, before: None, ..wanted(&visit)? };
    let mut count = 0;
    loop {
        let found = visit.console().store().audit_entries(&wanted, EXPORT_ROWS).await?;
        count += found.len();
        if count > EXPORT_MAX {
            let words = format!(
                "More than {EXPORT_MAX} entries match. Narrow the filter, or use corridor audit search."
            );
            return Err(Stop::Refused(words));
        }
        found.iter().for_each(|entry| csv.row(line(entry, &visit)));
        if found.len() < EXPORT_ROWS {
            return csv.taken(&visit, "audit.csv").await;
        }
        wanted.after = found.last().map(AuditPlace::of);
    }
}

/// An entry's row of the file.
fn line(entry: &Entry, visit: &Visit) -> [String; 17] {
    let (deed, note) = (&entry.deed, &entry.note);
    let text = |value: &Option<String>| value.clone().unwrap_or_default();
    [
        entry.at.to_string(),
        entry.tenant.to_string(),
        entry.seq.to_string(),
        chain_owner(entry.tenant, visit),
        deed.who.clone(),
        text(&deed.behalf),
        text(&deed.second),
        text(&deed.role),
        deed.via.name().to_owned(),
        note.action.clone(),
        note.kind.clone(),
        note.subject.clone(),
        plain_sentence(entry),
        deed.why.clone(),
        text(&note.before),
        text(&note.after),
        text(&deed.request_id),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_have_two_letters() {
        for (who, letters) in
            [("ayesha", "AY"), ("officer3.demobank", "OD"), ("x", "X"), ("", ""), ("émile z", "ÉZ")]
        {
            assert_eq!(initials(who), letters);
        }
    }

    #[test]
    fn a_mark_reads_back() {
        let tenant = TenantId(uuid::Uuid::from_u128(7));
        assert_eq!(
            parse_place(&format!("17.{tenant}.3")),
            Some(AuditPlace { at: Timestamp(17), tenant, seq: 3 })
        );
        for wrong in
            ["", "17", "17.x.3", "17.3", &format!("17.{tenant}."), &format!("x.{tenant}.3")]
        {
            assert_eq!(parse_place(wrong), None, "{wrong}");
        }
    }
}
