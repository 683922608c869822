//! OFAC's SDN_ENHANCED.XML and CONS_ENHANCED.XML (`sanctionsData`).

use super::ofac_xml::ADDRESS_LABEL;
use super::xml::{self, Element, Found};
use super::{Fault, Part, dates, family_first, limited};
use crate::screening::entry::{BirthSpan, Kind, ListEntry, ListedAddress};

pub(super) fn read(text: &str) -> Result<Part, Fault> {
    let mut part = Part::new("OFAC-SDN");
    xml::read(text, "sanctionsData", &["publicationInfo", "entity"], |found| {
        let Found::Element(element) = found else { return Ok(()) };
        if element.name == "publicationInfo" {
            part.published = dates::day(element.text_of("dataAsOf"));
            return Ok(());
        }
        limited(&part.entries, element.line)?;
        part.take(entry(&element).map(|entry| element.with_addresses(entry)));
        Ok(())
    })?;
    Ok(part)
}

fn entry(element: &Element) -> Result<ListEntry, Fault> {
    let uid = element.attribute("id");
    let mut names: Vec<(String, bool, bool)> = Vec::new();
    for name in element.listed("names", "name") {
        let (primary, weak) =
            (name.text_of("isPrimary") == "true", name.text_of("isLowQuality") == "true");
        for translation in name.listed("translations", "translation") {
            let latin = translation.text_of("isPrimary") == "true";
            names.push((full_name(translation), primary && latin, weak));
        }
    }
    names.retain(|(name, ..)| !name.is_empty());
    names.sort_by_key(|(_, primary, _)| !primary);
    let Some((primary, ..)) = names.first().filter(|_| !uid.is_empty()) else {
        return Err(Fault::new(element.line, "<entity> without id or a name"));
    };
    let kind = match element.child("generalInfo").map_or("", |info| info.text_of("entityType")) {
        "Individual" => Kind::Person,
        "Vessel" | "Aircraft" => Kind::Craft,
        _ => Kind::Organisation,
    };
    let mut entry = ListEntry::new(uid, kind, primary);
    names.iter().skip(1).for_each(|(name, _, weak)| entry.add_name(name, *weak));
    element
        .listed("addresses", "address")
        .for_each(|address| entry.add_country(address.text_of("country")));
    for feature in element.listed("features", "feature") {
        add_feature(&mut entry, feature);
    }
    for document in element.listed("identityDocuments", "identityDocument") {
        if let Some(asset) = document.text_of("type").strip_prefix(ADDRESS_LABEL) {
            add_address(&mut entry, asset, document.text_of("documentNumber"));
        }
    }
    Ok(entry)
}

fn full_name(translation: &Element) -> String {
    let whole = translation.text_of("formattedFullName");
    if !whole.is_empty() {
        return whole.to_owned();
    }
    family_first(
        translation.text_of("formattedLastName"),
        translation.text_of("formattedFirstName"),
    )
}

fn add_feature(entry: &mut ListEntry, feature: &Element) {
    let value = feature.text_of("value");
    match feature.text_of("type") {
        "Birthdate" => {
            let exact = feature.child("valueDate").and_then(span);
            entry.births.extend(exact.or_else(|| dates::birth(value)));
        }
        "Nationality Country" | "Citizenship Country" => entry.add_country(value),
        other => {
            if let Some(asset) = other.strip_prefix(ADDRESS_LABEL) {
                add_address(entry, asset, value);
            }
        }
    }
}

fn add_address(entry: &mut ListEntry, asset: &str, address: &str) {
    if !address.is_empty() {
        entry
            .addresses
            .push(ListedAddress { asset: asset.to_owned(), address: address.to_owned() });
    }
}

fn span(date: &Element) -> Option<BirthSpan> {
    let of = |name: &str| dates::day(date.text_of(name));
    let from = of("fromDateBegin").or_else(|| of("fromDateEnd"))?;
    let to =
        of("toDateEnd").or_else(|| of("toDateBegin")).or_else(|| of("fromDateEnd")).unwrap_or(from);
    (from <= to).then_some(BirthSpan { from, to })
}
