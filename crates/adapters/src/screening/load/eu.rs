//! The European Union's consolidated financial sanctions: as XML (`export`, facts are attributes)
//! and as CSV of version 1.1, where each fact of an entity is a row.

use std::collections::{BTreeSet, HashMap};

use super::table::nothing_above;
use super::xml::{self, Element, Found};
use super::{Fault, Part, dates, family_first, limited, table};
use crate::screening::entry::{BirthSpan, Kind, ListEntry};

/// The columns required for matching.
pub(super) const COLUMNS: [&str; 2] = ["Entity_LogicalId", "NameAlias_WholeName"];

pub(super) fn read_xml(text: &str) -> Result<Part, Fault> {
    let mut part = Part::new("EU-FSF");
    xml::read(text, "export", &["sanctionEntity"], |found| {
        match found {
            Found::RootAttribute(name, value) if name == "generationDate" => {
                part.published = dates::day(&value)
            }
            Found::RootAttribute(..) => {}
            Found::Element(element) => {
                limited(&part.entries, element.line)?;
                part.take(entity(&element).map(|entry| element.with_addresses(entry)));
            }
        }
        Ok(())
    })?;
    Ok(part)
}

fn entity(element: &Element) -> Result<ListEntry, Fault> {
    let subject = element.child("subjectType");
    let kinds = ["classificationCode", "code"]
        .map(|name| subject.map_or("", |subject| subject.attribute(name)));
    let mut facts = Facts {
        uid: element.attribute("logicalId").to_owned(),
        line: element.line,
        ..Facts::default()
    };
    facts.is_person = kinds.iter().any(|kind| is_person(kind));
    for alias in element.all("nameAlias") {
        let parts = ["firstName", "middleName", "lastName"].map(|part| alias.attribute(part));
        facts.add_name(alias.attribute("wholeName"), parts, alias.attribute("strong"));
    }
    for born in element.all("birthdate") {
        let of = |name: &str| born.attribute(name);
        facts.births.extend(birth(
            of("birthdate"),
            of("year"),
            (of("yearRangeFrom"), of("yearRangeTo")),
            of("circa"),
        ));
    }
    for place in element.all("citizenship").chain(element.all("address")) {
        facts.countries.push((
            place.attribute("countryIso2Code").to_owned(),
            place.attribute("countryDescription").to_owned(),
        ));
    }
    facts.entry()
}

pub(super) fn read_csv(text: &str) -> Result<Part, Fault> {
    let mut part = Part::new("EU-FSF");
    let mut places: HashMap<String, usize> = HashMap::new();
    let mut entities: Vec<Facts> = Vec::new();
    table::read(&mut part, (text, b';'), &COLUMNS, nothing_above, |part, row| {
        let field = |column: &str| row.field(column);
        if part.published.is_none() {
            part.published = dates::day_first(field("fileGenerationDate")).map(|span| span.from);
        }
        let uid = field("Entity_LogicalId");
        if uid.is_empty() {
            // Rows of different entities would become one.
            let fault = || Fault::new(row.line, "a row without a logical id");
            part.unreadable.extend((!row.is_blank()).then(fault));
            return Ok(());
        }
        let at = *places.entry(uid.to_owned()).or_insert(entities.len());
        if at == entities.len() {
            entities.push(Facts { uid: uid.to_owned(), line: row.line, ..Facts::default() });
        }
        let facts = &mut entities[at];
        facts.is_person |= ["Entity_SubjectType_ClassificationCode", "Entity_SubjectType"]
            .iter()
            .any(|it| is_person(field(it)));
        let parts =
            ["NameAlias_FirstName", "NameAlias_MiddleName", "NameAlias_LastName"].map(field);
        facts.add_name(field("NameAlias_WholeName"), parts, field("NameAlias_Strong"));
        let range = (field("BirthDate_YearRangeFrom"), field("BirthDate_YearRangeTo"));
        facts.births.extend(birth(
            field("BirthDate_BirthDate"),
            field("BirthDate_Year"),
            range,
            field("BirthDate_Circa"),
        ));
        for of in ["Citizenship", "Address"] {
            let columns = ["CountryIso2Code", "CountryDescription"]
                .map(|it| field(&format!("{of}_{it}")).to_owned());
            let [code, name] = columns;
            facts.countries.push((code, name));
        }
        facts.remarks.extend(row.remarks().map(str::to_owned));
        Ok(())
    })?;
    for facts in entities {
        limited(&part.entries, facts.line)?;
        part.take(facts.entry());
    }
    Ok(part)
}

/// The collected facts of one entity.
#[derive(Default)]
struct Facts {
    uid: String,
    line: u64,
    is_person: bool,
    names: Vec<(String, bool)>,
    births: Vec<BirthSpan>,
    countries: Vec<(String, String)>,
    remarks: Vec<String>,
}

impl Facts {
    fn add_name(&mut self, whole: &str, parts: [&str; 3], strong: &str) {
        let [given @ .., family] = parts.map(str::trim);
        let given = given.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ");
        let words =
            |text: &str| text.split_whitespace().map(str::to_lowercase).collect::<BTreeSet<_>>();
        let parts = family_first(family, &given);
        // The whole name may have more than its parts.
        let is_whole = words(whole).is_subset(&words(&format!("{given} {family}")));
        let name = if is_whole { parts } else { whole.trim().to_owned() };
        if !name.is_empty() {
            self.names.push((name, strong.eq_ignore_ascii_case("false")));
        }
    }

    fn entry(self) -> Result<ListEntry, Fault> {
        let kind = if self.is_person { Kind::Person } else { Kind::Organisation };
        // A strong name first: weak ones lead to manual review at most.
        let primary = self.names.iter().find(|(_, weak)| !weak).or(self.names.first());
        let Some((primary, _)) = primary.filter(|_| !self.uid.is_empty()) else {
            return Err(Fault::new(self.line, "an entity without a logical id or a name"));
        };
        let mut entry = ListEntry::new(&*self.uid, kind, primary);
        self.names.iter().for_each(|(name, weak)| entry.add_name(name, *weak));
        entry.births = self.births;
        self.remarks.iter().for_each(|remark| entry.add_addresses_in(remark));
        for (code, name) in &self.countries {
            if !entry.add_country_code(code) {
                entry.add_country(name);
            }
        }
        Ok(entry)
    }
}

fn is_person(kind: &str) -> bool {
    kind == "P" || kind.eq_ignore_ascii_case("person")
}

fn birth(day: &str, year: &str, (from, to): (&str, &str), circa: &str) -> Option<BirthSpan> {
    if !day.is_empty() {
        return dates::birth(day);
    }
    let is_year = |text: &str| !text.is_empty() && text != "0";
    if is_year(from) && is_year(to) {
        return dates::years(from, to);
    }
    let year = Some(year).filter(|year| is_year(year))?;
    if circa.eq_ignore_ascii_case("true") {
        dates::birth(&format!("circa {year}"))
    } else {
        dates::birth(year)
    }
}
