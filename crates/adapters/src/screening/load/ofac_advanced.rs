//! OFAC's SDN_ADVANCED.XML and CONS_ADVANCED.XML (`Sanctions`, the advanced sanctions list
//! standard): values are referenced by numbers that the document defines at its beginning.

use std::collections::HashMap;

use super::ofac_xml::ADDRESS_LABEL;
use super::xml::{self, Element, Found};
use super::{Fault, Part, dates, limited};
use crate::screening::entry::{BirthSpan, Kind, ListEntry, ListedAddress};

/// The definitions of the numbers.
#[derive(Default)]
struct Meaning {
    countries: HashMap<String, String>,
    features: HashMap<String, String>,
    details: HashMap<String, String>,
    subtypes: HashMap<String, (String, String)>,
    types: HashMap<String, String>,
    name_parts: HashMap<String, String>,
    /// The countries of a location.
    locations: HashMap<String, Vec<String>>,
}

pub(super) fn read(text: &str) -> Result<Part, Fault> {
    let mut part = Part::new("OFAC-SDN");
    let mut meaning = Meaning::default();
    let wanted = [
        "DateOfIssue",
        "Country",
        "FeatureType",
        "DetailReference",
        "NamePartType",
        "PartySubType",
        "PartyType",
        "Location",
        "DistinctParty",
    ];
    xml::read(text, "Sanctions", &wanted, |found| {
        let Found::Element(element) = found else { return Ok(()) };
        let (id, said) = (element.attribute("ID").to_owned(), element.text.trim().to_owned());
        match element.name.as_str() {
            "DateOfIssue" => part.published = day(&element),
            "Country" => drop(meaning.countries.insert(id, said)),
            "FeatureType" => drop(meaning.features.insert(id, said)),
            "DetailReference" => drop(meaning.details.insert(id, said)),
            "NamePartType" => drop(meaning.name_parts.insert(id, said)),
            "PartyType" => drop(meaning.types.insert(id, said)),
            "PartySubType" => {
                drop(
                    meaning
                        .subtypes
                        .insert(id, (said, element.attribute("PartyTypeID").to_owned())),
                );
            }
            "Location" => {
                let ids =
                    element.all("LocationCountry").map(|country| country.attribute("CountryID"));
                let names = ids.filter_map(|id| meaning.countries.get(id).cloned()).collect();
                drop(meaning.locations.insert(id, names));
            }
            _ => {
                limited(&part.entries, element.line)?;
                part.take(entry(&element, &meaning).map(|entry| element.with_addresses(entry)));
            }
        }
        Ok(())
    })?;
    Ok(part)
}

fn entry(party: &Element, meaning: &Meaning) -> Result<ListEntry, Fault> {
    let uid = party.attribute("FixedRef");
    let profile = party
        .child("Profile")
        .ok_or_else(|| Fault::new(party.line, "<DistinctParty> without <Profile>"))?;
    let mut names: Vec<(String, bool, bool)> = Vec::new();
    for identity in profile.all("Identity") {
        let families = family_groups(identity, meaning);
        for alias in identity.all("Alias") {
            let (primary, weak) =
                (alias.attribute("Primary") == "true", alias.attribute("LowQuality") == "true");
            let written = alias.all("DocumentedName").map(|name| full_name(name, &families));
            names.extend(written.map(|name| (name, primary, weak)));
        }
    }
    names.retain(|(name, ..)| !name.is_empty());
    // The primary name first, as the document marks it.
    names.sort_by_key(|(_, primary, _)| !primary);
    let Some((primary, ..)) = names.first().filter(|_| !uid.is_empty()) else {
        return Err(Fault::new(party.line, "<DistinctParty> without FixedRef or a name"));
    };
    let mut entry = ListEntry::new(uid, kind(profile, meaning), primary);
    names.iter().skip(1).for_each(|(name, _, weak)| entry.add_name(name, *weak));
    for feature in profile.all("Feature") {
        let label =
            meaning.features.get(feature.attribute("FeatureTypeID")).map_or("", String::as_str);
        for version in feature.all("FeatureVersion") {
            add_feature(&mut entry, label, version, meaning);
        }
    }
    Ok(entry)
}

/// The groups of name parts that are family names.
fn family_groups<'a>(identity: &'a Element, meaning: &Meaning) -> Vec<&'a str> {
    let masters = identity.listed("NamePartGroups", "MasterNamePartGroup");
    let groups = masters.flat_map(|master| master.all("NamePartGroup"));
    let is_family = |group: &&Element| {
        let kind = meaning.name_parts.get(group.attribute("NamePartTypeID"));
        kind.is_some_and(|kind| kind == "Last Name")
    };
    groups.filter(is_family).map(|group| group.attribute("ID")).collect()
}

/// The parts of a name in their order, with a comma behind a family name that precedes others.
fn full_name(name: &Element, families: &[&str]) -> String {
    let parts = name.all("DocumentedNamePart").filter_map(|part| part.child("NamePartValue"));
    let parts: Vec<(&str, bool)> = parts
        .map(|part| (part.text.trim(), families.contains(&part.attribute("NamePartGroupID"))))
        .filter(|(part, _)| !part.is_empty())
        .collect();
    let is_first = parts.first().is_some_and(|(_, is_family)| *is_family);
    let mut text = String::new();
    for (at, (part, is_family)) in parts.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|before| parts.get(before));
        text.push_str(match before {
            None => "",
            Some((_, true)) if is_first && !is_family => ", ",
            Some(_) => " ",
        });
        text.push_str(part);
    }
    text
}

fn kind(profile: &Element, meaning: &Meaning) -> Kind {
    let subtype = meaning.subtypes.get(profile.attribute("PartySubTypeID"));
    let (said, of) = subtype.map_or(("", ""), |(said, of)| (said.as_str(), of.as_str()));
    let of = meaning.types.get(of).map_or("", String::as_str);
    match (said, of) {
        ("Vessel" | "Aircraft", _) | (_, "Transport") => Kind::Craft,
        (_, "Individual") => Kind::Person,
        _ => Kind::Organisation,
    }
}

fn add_feature(entry: &mut ListEntry, label: &str, version: &Element, meaning: &Meaning) {
    match label {
        "Birthdate" => entry.births.extend(version.all("DatePeriod").filter_map(span)),
        "Nationality Country" | "Citizenship Country" | "Location" => {
            let places = version.all("VersionLocation").map(|place| place.attribute("LocationID"));
            for name in places.filter_map(|id| meaning.locations.get(id)).flatten() {
                entry.add_country(name);
            }
            let details =
                version.all("VersionDetail").map(|detail| detail.attribute("DetailReferenceID"));
            for name in details.filter_map(|id| meaning.details.get(id)) {
                entry.add_country(name);
            }
        }
        _ => {
            let Some(asset) = label.strip_prefix(ADDRESS_LABEL) else { return };
            for address in version
                .all("VersionDetail")
                .map(|detail| detail.text.trim())
                .filter(|it| !it.is_empty())
            {
                entry
                    .addresses
                    .push(ListedAddress { asset: asset.to_owned(), address: address.to_owned() });
            }
        }
    }
}

/// From the first day of a period's start to the last day of its end.
fn span(period: &Element) -> Option<BirthSpan> {
    let of = |side: &str, end: &str| period.child(side)?.child(end).and_then(day);
    let from = of("Start", "From").or_else(|| of("Start", "To"))?;
    let to =
        of("End", "To").or_else(|| of("End", "From")).or_else(|| of("Start", "To")).unwrap_or(from);
    (from <= to).then_some(BirthSpan { from, to })
}

fn day(date: &Element) -> Option<jiff::civil::Date> {
    let number = |name: &str| date.text_of(name);
    dates::day(&format!("{}-{:0>2}-{:0>2}", number("Year"), number("Month"), number("Day")))
}
