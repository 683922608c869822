//! The United Nations Security Council's consolidated list (`CONSOLIDATED_LIST`), by its published schema.

use super::xml::{self, Element, Found};
use super::{Fault, Part, dates, limited};
use crate::screening::entry::{Kind, ListEntry};

pub(super) fn read(text: &str) -> Result<Part, Fault> {
    let mut part = Part::new("UN-SC");
    xml::read(text, "CONSOLIDATED_LIST", &["INDIVIDUAL", "ENTITY"], |found| {
        match found {
            Found::RootAttribute(name, value) => {
                if name == "dateGenerated" {
                    part.published = dates::day(&value);
                }
            }
            Found::Element(element) => {
                limited(&part.entries, element.line)?;
                part.take(entry(&element).map(|entry| element.with_addresses(entry)));
            }
        }
        Ok(())
    })?;
    Ok(part)
}

fn entry(element: &Element) -> Result<ListEntry, Fault> {
    let uid = element.text_of("DATAID");
    let names = ["FIRST_NAME", "SECOND_NAME", "THIRD_NAME", "FOURTH_NAME"];
    let name = names.map(|part| element.text_of(part)).join(" ");
    let name = name.split_whitespace().collect::<Vec<_>>().join(" ");
    if uid.is_empty() || name.is_empty() {
        return Err(Fault::new(
            element.line,
            format!("<{}> without <DATAID> or <FIRST_NAME>", element.name),
        ));
    }
    let kind = if element.name == "INDIVIDUAL" { Kind::Person } else { Kind::Organisation };
    let mut entry = ListEntry::new(uid, kind, name);
    for alias in element.all("INDIVIDUAL_ALIAS").chain(element.all("ENTITY_ALIAS")) {
        let weak = alias.text_of("QUALITY").eq_ignore_ascii_case("low");
        // Some aliases are lists: "a.k.a. One; Two".
        for name in alias.text_of("ALIAS_NAME").split(';') {
            entry.add_name(name, weak);
        }
    }
    entry.add_name(element.text_of("NAME_ORIGINAL_SCRIPT"), false);
    for born in element.all("INDIVIDUAL_DATE_OF_BIRTH") {
        entry.births.extend(birth(born));
    }
    for country in element.listed("NATIONALITY", "VALUE") {
        entry.add_country(country.text.trim());
    }
    for place in element.all("INDIVIDUAL_ADDRESS").chain(element.all("ENTITY_ADDRESS")) {
        entry.add_country(place.text_of("COUNTRY"));
    }
    Ok(entry)
}

fn birth(element: &Element) -> Option<crate::screening::entry::BirthSpan> {
    let approximate = element.text_of("TYPE_OF_DATE") == "APPROXIMATELY";
    let (from, to) = (element.text_of("FROM_YEAR"), element.text_of("TO_YEAR"));
    if !from.is_empty() && !to.is_empty() {
        return dates::years(from, to);
    }
    let day = element.text_of("DATE");
    let text = if day.is_empty() { element.text_of("YEAR") } else { day };
    if approximate { dates::birth(&format!("circa {text}")) } else { dates::birth(text) }
}
