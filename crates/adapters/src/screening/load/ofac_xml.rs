//! OFAC's SDN.XML (`sdnList`, also used for the consolidated non-SDN list), by its published schema.

use super::xml::{self, Element, Found};
use super::{Fault, Part, dates, family_first, limited};
use crate::screening::entry::{Kind, ListEntry, ListedAddress};

/// Prefix of digital-currency addresses among OFAC's identity documents.
pub(super) const ADDRESS_LABEL: &str = "Digital Currency Address - ";

pub(super) fn read(text: &str) -> Result<Part, Fault> {
    let mut part = Part::new("OFAC-SDN");
    // "publshInformation" is the schema's own spelling.
    xml::read(
        text,
        "sdnList",
        &["publshInformation", "publishInformation", "sdnEntry"],
        |found| {
            let Found::Element(element) = found else { return Ok(()) };
            if element.name != "sdnEntry" {
                part.published = dates::day(element.text_of("Publish_Date"));
                return Ok(());
            }
            limited(&part.entries, element.line)?;
            part.take(entry(&element).map(|entry| element.with_addresses(entry)));
            Ok(())
        },
    )?;
    Ok(part)
}

fn entry(element: &Element) -> Result<ListEntry, Fault> {
    let uid = element.text_of("uid");
    let is_person = element.text_of("sdnType") == "Individual";
    let name = full_name(element, is_person);
    if uid.is_empty() || name.is_empty() {
        return Err(Fault::new(element.line, "<sdnEntry> without <uid> or <lastName>"));
    }
    let kind = match element.text_of("sdnType") {
        "Individual" => Kind::Person,
        "Vessel" | "Aircraft" => Kind::Craft,
        _ => Kind::Organisation,
    };
    let mut entry = ListEntry::new(uid, kind, name);
    for alias in element.listed("akaList", "aka") {
        entry.add_name(&full_name(alias, is_person), alias.text_of("category") == "weak");
    }
    for item in element.listed("dateOfBirthList", "dateOfBirthItem") {
        entry.births.extend(dates::birth(item.text_of("dateOfBirth")));
    }
    for (list, item) in [
        ("nationalityList", "nationality"),
        ("citizenshipList", "citizenship"),
        ("addressList", "address"),
    ] {
        for place in element.listed(list, item) {
            entry.add_country(place.text_of("country"));
        }
    }
    for id in element.listed("idList", "id") {
        if let Some(asset) = id.text_of("idType").strip_prefix(ADDRESS_LABEL) {
            let address = id.text_of("idNumber");
            if address.is_empty() {
                return Err(Fault::new(
                    id.line,
                    format!("entry {uid}: a digital currency address without <idNumber>"),
                ));
            }
            entry
                .addresses
                .push(ListedAddress { asset: asset.to_owned(), address: address.to_owned() });
        }
    }
    Ok(entry)
}

fn full_name(element: &Element, is_person: bool) -> String {
    let (first, last) = (element.text_of("firstName"), element.text_of("lastName"));
    match is_person {
        true => family_first(last, first),
        false => format!("{first} {last}").trim().to_owned(),
    }
}
