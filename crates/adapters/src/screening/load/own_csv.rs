//! Corridor's own simple CSV, for an operator's lists and for the bundled sample.
//!
//! First line: `#corridor-sanctions name=<NAME> published=<YYYY-MM-DD> [sample=true]`. Then a
//! header with the columns `uid,kind,name,aliases,weak_aliases,birthdates,countries,addresses`;
//! several values in a field are separated by `;`. `kind` is `person` or `organisation`,
//! `countries` are ISO 3166-1 codes or English names, `addresses` are `ASSET:address`. A line that
//! begins with `#` and does not have these columns is a comment. A spreadsheet may have filled up
//! the first line with separators, and used `;` or tabs.

use std::borrow::Cow;

use super::{Fault, MAX_FIELD_BYTES, Part, dates, limited, table};
use crate::screening::entry::{Kind, ListEntry, ListedAddress};

/// Prefix of the first line.
pub(super) const MARK: &str = "#corridor-sanctions";
const COLUMNS: [&str; 8] =
    ["uid", "kind", "name", "aliases", "weak_aliases", "birthdates", "countries", "addresses"];

pub(super) fn read(text: &str) -> Result<Part, Fault> {
    let (first, rest) = text.trim_start().split_once('\n').unwrap_or((text, ""));
    let mut part = heading(first)?;
    let columns = rest.lines().find(|line| !line.is_empty() && !line.starts_with('#'));
    let delimiter = [b';', b'\t'].into_iter().find(|it| {
        columns.is_some_and(|line| line.split(char::from(*it)).count() >= COLUMNS.len())
    });
    let delimiter = delimiter.unwrap_or(b',');
    let rest = without_comments(rest, delimiter);
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .delimiter(delimiter)
        .from_reader(rest.as_bytes());
    for (at, row) in reader.records().enumerate() {
        let row = row.map_err(|error| {
            let line = error.position().map_or(0, csv::Position::line);
            Fault::new(line + 1, format!("is not CSV with {} columns: {error}", COLUMNS.len()))
        })?;
        let line = row.position().map_or(0, csv::Position::line) + 1;
        if at == 0 {
            if row.iter().ne(COLUMNS) {
                return Err(Fault::new(line, format!("the columns are not {}", COLUMNS.join(","))));
            }
            continue;
        }
        if row.iter().all(|field| field.trim().is_empty()) {
            continue;
        }
        limited(&part.entries, line)?;
        let mut faults = Vec::new();
        let read = entry(&row, line, &mut faults);
        part.unreadable.extend(faults);
        part.take(read);
    }
    Ok(part)
}

/// The text with its comments as empty lines, so that the lines keep their numbers.
fn without_comments(text: &str, delimiter: u8) -> Cow<'_, str> {
    if !text.lines().any(|line| line.starts_with('#')) {
        return Cow::Borrowed(text);
    }
    let mut kept = String::with_capacity(text.len());
    let mut is_quoted = false;
    for line in text.split_inclusive('\n') {
        let has_columns = || {
            let fields: Vec<&str> = line.split(char::from(delimiter)).collect();
            let kind = fields.get(1).map_or("", |kind| kind.trim());
            fields.len() >= COLUMNS.len() && !kind.is_empty() && !kind.contains(' ')
        };
        if !is_quoted && line.starts_with('#') && !has_columns() {
            kept.push('\n');
            continue;
        }
        is_quoted ^= line.matches('"').count() % 2 == 1;
        kept.push_str(line);
    }
    Cow::Owned(kept)
}

fn heading(line: &str) -> Result<Part, Fault> {
    let mut part = Part::new("");
    let line = line.trim_matches(|letter: char| letter.is_whitespace() || ",;\"".contains(letter));
    for pair in line.trim_start_matches(MARK).split_whitespace() {
        match pair.split_once('=') {
            Some(("name", name)) => part.name = name.to_owned(),
            Some(("published", date)) => {
                let date = dates::day(date)
                    .ok_or_else(|| Fault::new(1, format!("published={date} is not a date")))?;
                part.published = Some(date);
            }
            Some(("sample", "true")) => part.sample = true,
            Some(("sample", "false")) => part.sample = false,
            _ => {
                return Err(Fault::new(
                    1,
                    format!("{pair:?} is not name=, published= or sample=true|false"),
                ));
            }
        }
    }
    if part.name.is_empty() || part.published.is_none() {
        return Err(Fault::new(1, "the first line lacks name= or published="));
    }
    Ok(part)
}

/// The entry of a row. A field that cannot be read is a fault of its own: only the kind, the uid and
/// the name are needed for an entry.
fn entry(row: &csv::StringRecord, line: u64, faults: &mut Vec<Fault>) -> Result<ListEntry, Fault> {
    let mut fault = |problem: String| faults.push(Fault::of_field(line, problem));
    if row.iter().any(|field| field.len() > MAX_FIELD_BYTES) {
        fault(format!("a field has more than {MAX_FIELD_BYTES} bytes"));
    }
    let row = table::cut(row);
    let field = |column: usize| row.get(column).unwrap_or("").trim();
    let kind = match field(1).to_ascii_lowercase().as_str() {
        "person" | "individual" => Kind::Person,
        "organisation" | "organization" | "entity" | "company" => Kind::Organisation,
        other => {
            return Err(Fault::new(
                line,
                format!("kind {other:?} is neither person nor organisation"),
            ));
        }
    };
    if field(0).is_empty() || field(2).is_empty() {
        return Err(Fault::new(line, "uid or name is empty"));
    }
    let mut entry = ListEntry::new(field(0), kind, field(2));
    values(field(3)).for_each(|alias| entry.add_name(alias, false));
    values(field(4)).for_each(|alias| entry.add_name(alias, true));
    for born in values(field(5)) {
        match dates::birth(born).or_else(|| dates::day_first(born)) {
            Some(span) => entry.births.push(span),
            None => fault(format!("birthdate {born:?} is not a date")),
        }
    }
    for country in values(field(6)) {
        let before = entry.countries.len();
        if !entry.add_country_code(country) {
            entry.add_country(country);
            if entry.countries.len() == before {
                fault(format!("country {country:?} is not of ISO 3166-1"));
            }
        }
    }
    for pair in values(field(7)) {
        match pair.split_once(':') {
            Some((asset, address)) => {
                let (asset, address) = (asset.to_owned(), address.to_owned());
                entry.addresses.push(ListedAddress { asset, address });
            }
            None => fault(format!("address {pair:?} is not ASSET:address")),
        }
    }
    Ok(entry)
}

fn values(field: &str) -> impl Iterator<Item = &str> {
    field.split(';').map(str::trim).filter(|value| !value.is_empty())
}
