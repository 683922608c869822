//! OFAC's CSV (data specification of 2023: no header, `-0-` for null, a closing SUB character):
//! SDN.CSV with ALT.CSV, ADD.CSV and SDN_COMMENTS.CSV, and the same four of the consolidated list.
//! Remarks beyond a thousand characters continue in the comments: they are joined before the remark
//! is parsed.

use std::collections::HashMap;

use super::ofac_xml::ADDRESS_LABEL;
use super::table::rows;
use super::{Fault, Part, dates, limited};
use crate::screening::entry::{Kind, ListEntry, ListedAddress};

/// ent_num, SDN_Name, SDN_Type, Program, Title, Call_Sign, Vess_type, Tonnage, GRT, Vess_flag, Vess_owner, Remarks.
pub(super) const MAIN_COLUMNS: usize = 12;
/// ent_num, alt_num, alt_type, alt_name, alt_remarks.
pub(super) const ALIAS_COLUMNS: usize = 5;
/// ent_num, add_num, address, city etc., country, add_remarks.
pub(super) const ADDRESS_COLUMNS: usize = 6;
/// ent_num, the rest of the remarks.
pub(super) const COMMENT_COLUMNS: usize = 2;
/// DOS end of file, which OFAC's files still contain.
const END_OF_FILE: char = '\u{1a}';

/// Number of columns of the first row if it starts like OFAC's rows, with a number.
pub(super) fn columns_of_first_row(head: &str) -> Option<usize> {
    let (first, _) = rows(head, b',').next()?.ok()?;
    first.get(0)?.trim().parse::<u64>().ok().map(|_| first.len())
}

/// Parses the main document; remarks stay in the entries until [`Entries::read_remarks`].
pub(super) fn read(text: &str) -> Result<Part, Fault> {
    let mut part = Part::new("OFAC-SDN");
    for read in rows(ended(text), b',') {
        part.unreadable.extend(long(&read));
        let read = checked(read, MAIN_COLUMNS).and_then(|(row, line)| {
            limited(&part.entries, line)?;
            entry(&row, line)
        });
        part.take(read);
    }
    Ok(part)
}

fn entry(row: &csv::StringRecord, line: u64) -> Result<ListEntry, Fault> {
    let name = field(row, 1);
    if name.is_empty() {
        return Err(Fault::new(line, "SDN_Name is empty"));
    }
    let kind = match field(row, 2) {
        "individual" => Kind::Person,
        "vessel" | "aircraft" => Kind::Craft,
        _ => Kind::Organisation,
    };
    let mut entry = ListEntry::new(number(row, line)?, kind, name);
    entry.remarks = if field(row, 11).is_empty() {
        String::new()
    } else {
        row.get(11).unwrap_or("").to_owned()
    };
    Ok(entry)
}

/// The entries of the main document, to which the others are joined.
pub(super) struct Entries<'a> {
    entries: &'a mut [ListEntry],
    places: HashMap<String, usize>,
}

impl Entries<'_> {
    pub(super) fn of(entries: &mut [ListEntry]) -> Entries<'_> {
        let places =
            entries.iter().enumerate().map(|(at, entry)| (entry.uid.clone(), at)).collect();
        Entries { entries, places }
    }

    /// Adds the names of ALT.CSV. Returns the rows that belong to no entry or cannot be read.
    pub(super) fn add_aliases(&mut self, text: &str) -> Vec<Fault> {
        self.join(text, ALIAS_COLUMNS, |entry, row| entry.add_name(field(row, 3), false))
    }

    /// Adds the countries of ADD.CSV.
    pub(super) fn add_addresses(&mut self, text: &str) -> Vec<Fault> {
        self.join(text, ADDRESS_COLUMNS, |entry, row| entry.add_country(field(row, 4)))
    }

    /// Adds the rest of the remarks from SDN_COMMENTS.CSV, without a separator: they are split at
    /// arbitrary positions.
    pub(super) fn add_comments(&mut self, text: &str) -> Vec<Fault> {
        self.join(text, COMMENT_COLUMNS, |entry, row| {
            if !field(row, 1).is_empty() {
                entry.remarks.push_str(row.get(1).unwrap_or(""));
            }
        })
    }

    fn join(
        &mut self,
        text: &str,
        columns: usize,
        add: impl Fn(&mut ListEntry, &csv::StringRecord),
    ) -> Vec<Fault> {
        let mut unreadable = Vec::new();
        for read in rows(ended(text), b',') {
            unreadable.extend(long(&read));
            let found = checked(read, columns).and_then(|(row, line)| {
                let uid = number(&row, line)?;
                let at = self.places.get(&uid).copied();
                let at =
                    at.ok_or_else(|| Fault::new(line, format!("ent_num {uid} is not in SDN.CSV")))?;
                Ok((at, row))
            });
            match found {
                Ok((at, row)) => add(&mut self.entries[at], &row),
                Err(fault) => unreadable.push(fault),
            }
        }
        unreadable
    }

    /// Parses the complete remarks of every entry.
    pub(super) fn read_remarks(self) {
        for entry in self.entries {
            let remarks = std::mem::take(&mut entry.remarks);
            for remark in remarks.split(';') {
                add_remark(entry, remark.trim().trim_end_matches('.'));
            }
            entry.add_addresses_in(&remarks);
        }
    }
}

/// The rows of a document, with the last one's line break if there is one: a document without it may
/// be truncated.
fn ended(text: &str) -> &str {
    let rows = text.trim_end_matches(['\r', '\n', ' ', END_OF_FILE]);
    let rest = text.get(rows.len()..).unwrap_or_default();
    let line_break = rest.find(['\n', END_OF_FILE]).filter(|at| rest[*at..].starts_with('\n'));
    &text[..rows.len() + line_break.map_or(0, |at| at + 1)]
}

/// One remark: "DOB 12 Jan 1970", "alt. DOB 1971", "nationality Iran", "a.k.a. 'NAME'" or
/// "f.k.a. 'NAME'" (a weak alias, which this format contains nowhere else), "Digital Currency Address - ETH 0x…". Others
/// are irrelevant to matching.
fn add_remark(entry: &mut ListEntry, remark: &str) {
    let remark = remark.strip_prefix("alt. ").unwrap_or(remark);
    if let Some(born) = remark.strip_prefix("DOB ") {
        entry.births.extend(dates::birth(born));
    } else if let Some(country) =
        remark.strip_prefix("nationality ").or_else(|| remark.strip_prefix("citizen "))
    {
        entry.add_country(country);
    } else if let Some(alias) =
        ["a.k.a. ", "f.k.a. ", "n.k.a. "].into_iter().find_map(|mark| remark.strip_prefix(mark))
    {
        entry.add_name(alias.trim_matches(['\'', '"', ' ']), true);
    } else if let Some((asset, address)) =
        remark.strip_prefix(ADDRESS_LABEL).and_then(|rest| rest.split_once(' '))
    {
        let address = address.trim().to_owned();
        entry.addresses.push(ListedAddress { asset: asset.to_owned(), address });
    }
}

/// The fault of a row's field that is cut.
fn long(read: &super::table::Read) -> Option<Fault> {
    read.as_ref().ok().and_then(|(_, at)| at.long())
}

fn checked(read: super::table::Read, columns: usize) -> Result<(csv::StringRecord, u64), Fault> {
    let (row, at) = read?;
    if row.len() != columns {
        return Err(at.short(row.len(), columns));
    }
    Ok((row, at.line))
}

fn number(row: &csv::StringRecord, line: u64) -> Result<String, Fault> {
    let text = field(row, 0);
    let number = text
        .parse::<u64>()
        .map_err(|_| Fault::new(line, format!("ent_num {text:?} is not a number")))?;
    Ok(number.to_string())
}

fn field(row: &csv::StringRecord, column: usize) -> &str {
    match row.get(column).unwrap_or("").trim() {
        "-0-" => "",
        text => text,
    }
}
