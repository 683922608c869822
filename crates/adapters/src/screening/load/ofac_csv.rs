//! OFAC's SDN.CSV and ALT.CSV (data specification of 2023: no heading, `-0-` for null, a closing SUB character).

use std::collections::HashMap;

use super::ofac_xml::ADDRESS_LABEL;
use super::{Fault, MAX_FIELD_BYTES, Part, dates, limited};
use crate::screening::entry::{Kind, ListEntry, ListedAddress};

/// ent_num, SDN_Name, SDN_Type, Program, Title, Call_Sign, Vess_type, Tonnage, GRT, Vess_flag, Vess_owner, Remarks.
pub(super) const SDN_COLUMNS: usize = 12;
/// ent_num, alt_num, alt_type, alt_name, alt_remarks.
pub(super) const ALT_COLUMNS: usize = 5;
/// DOS end of file, which OFAC's files still carry.
const END_OF_FILE: char = '\u{1a}';

/// Number of columns of the first row if it begins as OFAC's rows do, with a number.
pub(super) fn columns_of_first_row(head: &str) -> Option<usize> {
    let mut rows = rows(head);
    let first = rows.next()?.ok()?;
    first.get(0)?.trim().parse::<u64>().ok().map(|_| first.len())
}

pub(super) fn read(text: &str) -> Result<Part, Fault> {
    let mut part = Part { name: "OFAC-SDN".to_owned(), published: None, sample: false, entries: Vec::new() };
    for row in rows(text.trim_end_matches(['\r', '\n', ' ', END_OF_FILE])) {
        let (row, line) = checked(row, SDN_COLUMNS)?;
        limited(&part.entries, line)?;
        let name = field(&row, 1);
        if name.is_empty() {
            return Err(Fault::new(line, "SDN_Name is empty"));
        }
        let kind = match field(&row, 2) {
            "individual" => Kind::Person,
            "vessel" | "aircraft" => Kind::Craft,
            _ => Kind::Organisation,
        };
        let mut entry = ListEntry::new(number(&row, line)?, kind, name);
        for remark in field(&row, 11).split(';') {
            add_remark(&mut entry, remark.trim().trim_end_matches('.'));
        }
        part.entries.push(entry);
    }
    Ok(part)
}

/// Adds the names of ALT.CSV to the entries they belong to.
pub(super) fn add_aliases(text: &str, entries: &mut [ListEntry]) -> Result<(), Fault> {
    let places: HashMap<String, usize> =
        entries.iter().enumerate().map(|(at, entry)| (entry.uid.clone(), at)).collect();
    for row in rows(text.trim_end_matches(['\r', '\n', ' ', END_OF_FILE])) {
        let (row, line) = checked(row, ALT_COLUMNS)?;
        let uid = number(&row, line)?;
        let entry = places.get(&uid).and_then(|at| entries.get_mut(*at));
        let entry = entry.ok_or_else(|| Fault::new(line, format!("ent_num {uid} is not in SDN.CSV")))?;
        entry.add_name(field(&row, 3), false);
    }
    Ok(())
}

/// One remark: "DOB 12 Jan 1970", "alt. DOB 1971", "nationality Iran", "a.k.a. 'NAME'" (a weak alias, which OFAC puts
/// nowhere else in this form), "Digital Currency Address - ETH 0x…". Others say nothing that is matched.
fn add_remark(entry: &mut ListEntry, remark: &str) {
    let remark = remark.strip_prefix("alt. ").unwrap_or(remark);
    if let Some(born) = remark.strip_prefix("DOB ") {
        entry.births.extend(dates::birth(born));
    } else if let Some(country) = remark.strip_prefix("nationality ").or_else(|| remark.strip_prefix("citizen ")) {
        entry.add_country(country);
    } else if let Some(alias) = remark.strip_prefix("a.k.a. ") {
        entry.add_name(alias.trim_matches(['\'', '"', ' ']), true);
    } else if let Some((asset, address)) = remark.strip_prefix(ADDRESS_LABEL).and_then(|rest| rest.split_once(' ')) {
        let address = address.trim().to_owned();
        entry.addresses.push(ListedAddress { asset: asset.to_owned(), address });
    }
}

fn rows(text: &str) -> impl Iterator<Item = Result<csv::StringRecord, csv::Error>> {
    let reader = csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(text.as_bytes());
    reader.into_records()
}

fn checked(row: Result<csv::StringRecord, csv::Error>, columns: usize) -> Result<(csv::StringRecord, u64), Fault> {
    let line_of = |position: Option<&csv::Position>| position.map_or(0, csv::Position::line);
    let row = row.map_err(|error| Fault::new(line_of(error.position()), format!("is not CSV: {error}")))?;
    let line = line_of(row.position());
    if row.len() != columns {
        return Err(Fault::new(line, format!("has {} columns instead of {columns}", row.len())));
    }
    if row.iter().any(|field| field.len() > MAX_FIELD_BYTES) {
        return Err(Fault::new(line, format!("a field has more than {MAX_FIELD_BYTES} bytes")));
    }
    Ok((row, line))
}

fn number(row: &csv::StringRecord, line: u64) -> Result<String, Fault> {
    let text = field(row, 0);
    let number = text.parse::<u64>().map_err(|_| Fault::new(line, format!("ent_num {text:?} is not a number")))?;
    Ok(number.to_string())
}

fn field(row: &csv::StringRecord, column: usize) -> &str {
    match row.get(column).unwrap_or("").trim() {
        "-0-" => "",
        text => text,
    }
}
