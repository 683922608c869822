//! CSV with a header: columns are found by name, in any order and among any others.

use std::collections::HashMap;

use super::{Fault, MAX_FIELD_BYTES};

/// A header, by lower-case name.
#[derive(Debug)]
pub(super) struct Heading(HashMap<String, usize>);

impl Heading {
    /// Parses a row as the header; the error names missing columns.
    pub(super) fn read(
        row: &csv::StringRecord,
        needed: &[&str],
        line: u64,
    ) -> Result<Heading, Fault> {
        let heading = Heading(row.iter().enumerate().map(|(at, name)| (key(name), at)).collect());
        let missing: Vec<&str> =
            needed.iter().filter(|name| !heading.0.contains_key(&key(name))).copied().collect();
        match &missing[..] {
            [] => Ok(heading),
            missing => Err(Fault::new(line, format!("the heading lacks {}", missing.join(", ")))),
        }
    }

    /// The trimmed field of a column; empty if there is none.
    pub(super) fn field<'a>(&self, row: &'a csv::StringRecord, column: &str) -> &'a str {
        self.0.get(&key(column)).and_then(|at| row.get(*at)).unwrap_or("").trim()
    }
}

fn key(name: &str) -> String {
    name.trim().trim_start_matches('\u{feff}').to_lowercase()
}

/// A row with its line, or its error.
pub(super) type Read = Result<(csv::StringRecord, u64), Fault>;

/// The rows of a document. A malformed row is an error of that row only.
pub(super) fn rows(text: &str, delimiter: u8) -> impl Iterator<Item = Read> {
    let mut builder = csv::ReaderBuilder::new();
    let reader =
        builder.has_headers(false).flexible(true).delimiter(delimiter).from_reader(text.as_bytes());
    reader.into_records().map(|row| {
        let line_of = |position: Option<&csv::Position>| position.map_or(0, csv::Position::line);
        let row = row.map_err(|error| {
            Fault::new(line_of(error.position()), format!("is not CSV: {error}"))
        })?;
        let line = line_of(row.position());
        if row.iter().any(|field| field.len() > MAX_FIELD_BYTES) {
            return Err(Fault::new(line, format!("a field has more than {MAX_FIELD_BYTES} bytes")));
        }
        Ok((row, line))
    })
}

/// The values of a multi-value field, as CSV within CSV.
pub(super) fn values(field: &str) -> Vec<String> {
    let rows = rows(field, b';').filter_map(Result::ok);
    let values = rows
        .flat_map(|(row, _)| row.iter().map(|value| value.trim().to_owned()).collect::<Vec<_>>());
    values.filter(|value| !value.is_empty()).collect()
}
