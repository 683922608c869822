//! The UK sanctions list, the United Kingdom's only one since January 2026: as XML (`Designations`)
//! and as CSV, where each name and each address of a designation is a row.

use std::collections::HashMap;

use super::table::Row;
use super::xml::{self, Element, Found};
use super::{Fault, Part, dates, family_first, limited, table};
use crate::screening::entry::{Kind, ListEntry};

/// The columns required for matching.
pub(super) const COLUMNS: [&str; 3] = ["Unique ID", "Name 6", "Name type"];
/// The parts of a name in order; the sixth is the family name or an entity's name.
const PARTS: [&str; 6] = ["1", "2", "3", "4", "5", "6"];

pub(super) fn read_xml(text: &str) -> Result<Part, Fault> {
    let mut part = Part::new("UK");
    xml::read(text, "Designations", &["DateGenerated", "Designation"], |found| {
        let Found::Element(element) = found else { return Ok(()) };
        if element.name == "DateGenerated" {
            part.published = dates::day_first(element.text.trim()).map(|span| span.from);
            return Ok(());
        }
        limited(&part.entries, element.line)?;
        part.take(designation(&element).map(|entry| element.with_addresses(entry)));
        Ok(())
    })?;
    Ok(part)
}

fn designation(element: &Element) -> Result<ListEntry, Fault> {
    let uid = element.text_of("UniqueID");
    let mut names: Vec<(String, &str, bool)> = Vec::new();
    for name in element.listed("Names", "Name") {
        let whole = joined(PARTS.map(|part| name.text_of(&format!("Name{part}"))));
        names.push((whole, name.text_of("NameType"), is_weak(name.text_of("AliasStrength"))));
    }
    for name in element.listed("NonLatinNames", "NonLatinName") {
        names.push((name.text_of("NameNonLatinScript").to_owned(), "", false));
    }
    let kind = kind(element.text_of("IndividualEntityShip"));
    let mut entry = named(uid, kind, names, element.line)?;
    for person in element.listed("IndividualDetails", "Individual") {
        for born in person.listed("DOBs", "DOB") {
            entry.births.extend(dates::day_first(born.text.trim()));
        }
        person
            .listed("Nationalities", "Nationality")
            .for_each(|it| entry.add_country(it.text.trim()));
    }
    element
        .listed("Addresses", "Address")
        .for_each(|it| entry.add_country(it.text_of("AddressCountry")));
    Ok(entry)
}

pub(super) fn read_csv(text: &str) -> Result<Part, Fault> {
    let mut part = Part::new("UK");
    let mut places: HashMap<String, usize> = HashMap::new();
    let mut entries: Vec<Rows> = Vec::new();
    table::read(&mut part, (text, b','), &COLUMNS, is_above, |part, row| {
        let uid = row.field("Unique ID").to_owned();
        if uid.is_empty() {
            // Rows of different designations would become one.
            let fault = || Fault::new(row.line, "a row without a unique id");
            part.unreadable.extend((!row.is_blank()).then(fault));
            return Ok(());
        }
        let at = *places.entry(uid.clone()).or_insert(entries.len());
        if at == entries.len() {
            entries.push(Rows { uid, line: row.line, ..Rows::default() });
        }
        entries[at].add(row);
        Ok(())
    })?;
    for rows in entries {
        limited(&part.entries, rows.line)?;
        part.take(rows.entry());
    }
    Ok(part)
}

/// "Report Date: 23-Sep-2026" and empty rows precede the heading.
fn is_above(part: &mut Part, row: &csv::StringRecord) -> bool {
    let first = row.get(0).unwrap_or("").trim();
    if let Some(date) = first.strip_prefix("Report Date:") {
        part.published = dates::day(&date.trim().replace('-', " "));
        return true;
    }
    row.len() < 2
}

/// The rows of one designation.
#[derive(Default)]
struct Rows {
    uid: String,
    line: u64,
    kind: String,
    names: Vec<(String, String, bool)>,
    births: Vec<String>,
    countries: Vec<String>,
    remarks: Vec<String>,
}

impl Rows {
    fn add(&mut self, row: &Row<'_>) {
        let field = |column: &str| row.field(column).to_owned();
        let whole = joined(PARTS.map(|part| row.field(&format!("Name {part}"))));
        self.names.push((whole, field("Name type"), is_weak(&field("Alias strength"))));
        self.names.push((field("Name non-latin script"), String::new(), false));
        let kinds = ["Individual, Entity, Ship", "Designation Type"].map(field);
        self.kind = kinds
            .into_iter()
            .find(|kind| !kind.is_empty())
            .unwrap_or_else(|| std::mem::take(&mut self.kind));
        self.births.extend(many(&field("D.O.B")));
        self.countries.extend(many(&field("Nationality(/ies)")));
        self.countries.push(field("Address Country"));
        self.remarks.extend(row.remarks().map(str::to_owned));
    }

    fn entry(self) -> Result<ListEntry, Fault> {
        let names = self
            .names
            .iter()
            .map(|(name, kind, weak)| (name.clone(), kind.as_str(), *weak))
            .collect();
        let mut entry = named(&self.uid, kind(&self.kind), names, self.line)?;
        entry.births.extend(self.births.iter().filter_map(|born| dates::day_first(born)));
        self.countries.iter().for_each(|country| entry.add_country(country));
        self.remarks.iter().for_each(|remark| entry.add_addresses_in(remark));
        Ok(entry)
    }
}

/// Several values of a field: "(1) 01/02/1970 (2) 00/00/1971", or with `;` or `|` between them.
fn many(field: &str) -> Vec<String> {
    let parts = field.split([';', '|', '(']).map(|part| {
        let (number, rest) = part.split_once(')').unwrap_or(("", part));
        if number.bytes().all(|byte| byte.is_ascii_digit()) { rest } else { part }
    });
    parts.map(|part| part.trim().to_owned()).filter(|part| !part.is_empty()).collect()
}

fn named(
    uid: &str,
    kind: Kind,
    names: Vec<(String, &str, bool)>,
    line: u64,
) -> Result<ListEntry, Fault> {
    let mut names: Vec<_> = names.into_iter().filter(|(name, ..)| !name.is_empty()).collect();
    names.sort_by_key(|(_, kind, _)| !kind.eq_ignore_ascii_case("primary name"));
    let Some((primary, ..)) = names.first().filter(|_| !uid.is_empty()) else {
        return Err(Fault::new(line, "a designation without a unique id or a name"));
    };
    let mut entry = ListEntry::new(uid, kind, primary);
    names.iter().skip(1).for_each(|(name, _, weak)| entry.add_name(name, *weak));
    Ok(entry)
}

fn kind(said: &str) -> Kind {
    match said.to_ascii_lowercase().as_str() {
        "individual" => Kind::Person,
        "ship" => Kind::Craft,
        _ => Kind::Organisation,
    }
}

fn is_weak(strength: &str) -> bool {
    strength.to_ascii_lowercase().starts_with("low")
}

fn joined([given @ .., family]: [&str; 6]) -> String {
    let given = given.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>();
    family_first(family, &given.join(" "))
}
