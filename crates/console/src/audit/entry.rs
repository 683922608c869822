//! An entry with all fields, its hash and the previous entry's, and whether the hashes match.

use std::collections::BTreeSet;

use domain::audit::Entry;
use domain::hex::hex;
use domain::ids::TenantId;
use serde_json::{Map, Value};

use super::sentences::plain_sentence;
use super::{chain_owner, only, people, place, tag_of};
use crate::view::{Section, page};
use crate::{Answer, Cell, Stop, Table, Tone, Visit};

pub(super) async fn show(visit: Visit) -> Answer {
    let chain = TenantId::parse(visit.param("chain")).ok_or(Stop::NotFound)?;
    let seq: i64 = visit.param("seq").parse().map_err(|_| Stop::NotFound)?;
    if only(&visit)?.is_some_and(|own| own != chain) {
        return Err(Stop::NotFound);
    }
    let store = visit.console().store();
    let entry = store.audit_entry(chain, seq).await?.ok_or(Stop::NotFound)?;
    let before = store.audit_entry(chain, seq - 1).await?;
    let after = store.audit_entry(chain, seq + 1).await?;
    let near = [(before.as_ref(), "Previous entry"), (after.as_ref(), "Next entry")];
    let mut links: Vec<_> = near
        .into_iter()
        .filter_map(|(near, words)| {
            Some((format!("/console/audit/entries/{chain}/{}", near?.seq), words.to_owned()))
        })
        .collect();
    links.push((format!("/console/audit/verify?chain={chain}"), "Verify this chain".to_owned()));
    let mut sections = vec![
        Section {
            says: vec![format!("{}.", plain_sentence(&entry))],
            links,
            facts: facts(&entry, &visit),
            ..Section::default()
        },
        Section {
            title: "Hashes".to_owned(),
            facts: hashes(&entry, before.as_ref()),
            ..Section::default()
        },
    ];
    sections.extend(changes(&entry));
    page(&visit, &format!("Audit entry {seq} of {}", chain_owner(chain, &visit)), sections)
}

fn facts(entry: &Entry, visit: &Visit) -> Vec<(&'static str, Cell)> {
    let (deed, note) = (&entry.deed, &entry.note);
    let subject =
        match tag_of(visit, entry.tenant).and_then(|tag| place(tag, &note.kind, &note.subject)) {
            Some(href) => Cell::id_link(href, &note.subject),
            None => Cell::id(&note.subject),
        };
    let request = deed
        .request_id
        .as_ref()
        .map(|id| Cell::id_link(format!("/console/audit?request={id}"), id));
    vec![
        ("When", Cell::When(entry.at)),
        ("Microseconds", Cell::text(entry.at.0.to_string())),
        ("Who", Cell::text(people(deed))),
        ("User", Cell::text(&deed.who)),
        ("Roles", Cell::maybe(deed.role.clone())),
        ("Channel", Cell::text(deed.via.name())),
        ("What", Cell::text(&note.action)),
        ("Subject", subject),
        ("Kind of subject", Cell::text(&note.kind)),
        ("Reason", Cell::text(&deed.why)),
        ("Request", request.unwrap_or(Cell::Empty)),
        ("Chain", Cell::id(entry.tenant)),
        ("Number", Cell::number(entry.seq)),
    ]
}

fn hashes(entry: &Entry, before: Option<&Entry>) -> Vec<(&'static str, Cell)> {
    // The first entry follows thirty-two zero bytes.
    let previous = if entry.seq == 1 { Some([0; 32]) } else { before.map(|before| before.hash) };
    let follows = match previous {
        Some(previous) if entry.hash_after(&previous) == entry.hash => {
            Cell::state("follows", Tone::Good)
        }
        Some(_) => Cell::state("does not match: the entry was altered", Tone::Bad),
        None => Cell::state("the previous entry is missing", Tone::Bad),
    };
    vec![
        ("Hash", Cell::id(hex(&entry.hash))),
        ("Previous hash", previous.map_or(Cell::Empty, |previous| Cell::id(hex(&previous)))),
        ("Hash check", follows),
    ]
}

/// The changes by name; the stored text if it is not a JSON object.
fn changes(entry: &Entry) -> Option<Section> {
    let (before, after) = (&entry.note.before, &entry.note.after);
    if before.is_none() && after.is_none() {
        return None;
    }
    let title = "Changes".to_owned();
    let Some(changed) = values(entry) else {
        let as_stored = [("Before", before), ("After", after)];
        let exact =
            as_stored.into_iter().filter_map(|(name, text)| Some((name.to_owned(), text.clone()?)));
        return Some(Section { title, exact: exact.collect(), ..Section::default() });
    };
    let row = |(name, before, after): Changed| {
        vec![Cell::Text(name), Cell::maybe(before), Cell::maybe(after)]
    };
    let rows = changed.into_iter().map(row).collect();
    let table = Table::new("Changes", &["Field", "Before", "After"], rows);
    Some(Section { title, table: Some(table), ..Section::default() })
}

/// A value's name, and the value before and after the action.
pub(super) type Changed = (String, Option<String>, Option<String>);

/// Each value's name, with the value before and after; `None` if they are not stored as JSON
/// objects.
pub(super) fn values(entry: &Entry) -> Option<Vec<Changed>> {
    let (old, new) = (object(&entry.note.before)?, object(&entry.note.after)?);
    let names: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    let of = |name: &String| (name.clone(), old.get(name).map(shown), new.get(name).map(shown));
    Some(names.into_iter().map(of).collect())
}

fn object(text: &Option<String>) -> Option<Map<String, Value>> {
    text.as_ref().map_or_else(|| Some(Map::new()), |text| serde_json::from_str(text).ok())
}

fn shown(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use domain::audit::{AuditContext, Facts, Head, Note, Via};
    use domain::time::Timestamp;

    use super::*;

    #[test]
    fn an_entry_shows_whether_its_hash_matches() {
        let note = Note::new("key.rotate", "access_key", "k")
            .after(Facts::new().text("name", "a").number("count", 2));
        let mut head = Head::default();
        let mut next = || {
            head.append(
                TenantId(uuid::Uuid::nil()),
                Timestamp(1),
                AuditContext::new(Via::Cli, "op"),
                note.clone(),
            )
        };
        let (first, mut second) = (next(), next());
        let said = |entry: &Entry, before: Option<&Entry>| match &hashes(entry, before)[2].1 {
            Cell::State { tone, .. } => *tone,
            other => panic!("{other:?}"),
        };
        assert_eq!((said(&first, None), said(&second, Some(&first))), (Tone::Good, Tone::Good));
        assert_eq!(
            (said(&second, None), said(&second, Some(&second.clone()))),
            (Tone::Bad, Tone::Bad)
        );
        let table = changes(&first).and_then(|section| section.table).expect("a table");
        assert_eq!(table.rows.len(), 2);
        assert_eq!(table.rows[0], [Cell::text("count"), Cell::Empty, Cell::text("2")]);
        second.note.after = Some("no object".to_owned());
        assert_eq!(
            changes(&second).expect("changes").exact,
            [("After".to_owned(), "no object".to_owned())]
        );
    }
}
