//! CSV with a header: columns are found by name, in any order and among any others.

use std::collections::HashMap;

use super::{Fault, MAX_FIELD_BYTES, Part};

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

/// A row below the heading.
pub(super) struct Row<'a> {
    /// Positions of the columns, by lower-case name.
    heading: &'a HashMap<String, usize>,
    fields: csv::StringRecord,
    pub line: u64,
}

impl Row<'_> {
    /// The trimmed field of a column; empty if there is none.
    pub(super) fn field(&self, column: &str) -> &str {
        self.heading.get(&key(column)).and_then(|at| self.fields.get(*at)).unwrap_or("").trim()
    }
}

/// Reads a document into a part. Rows that `is_above` takes precede the heading, which has to name
/// the `needed` columns; rows that are not CSV are unreadable ones of the part.
pub(super) fn read(
    part: &mut Part,
    (text, delimiter): (&str, u8),
    needed: &[&str],
    is_above: impl Fn(&mut Part, &csv::StringRecord) -> bool,
    mut take: impl FnMut(&mut Part, &Row<'_>) -> Result<(), Fault>,
) -> Result<(), Fault> {
    let mut heading = None;
    for read in rows(text, delimiter) {
        match (&heading, read) {
            (_, Err(fault)) => part.unreadable.push(fault),
            (Some(heading), Ok((fields, line))) => take(part, &Row { heading, fields, line })?,
            (None, Ok((fields, _))) if is_above(part, &fields) => {}
            (None, Ok((fields, line))) => heading = Some(columns(&fields, needed, line)?),
        }
    }
    heading.map(drop).ok_or_else(|| lacks(needed, 1))
}

fn columns(
    row: &csv::StringRecord,
    needed: &[&str],
    line: u64,
) -> Result<HashMap<String, usize>, Fault> {
    let heading: HashMap<_, _> = row.iter().enumerate().map(|(at, name)| (key(name), at)).collect();
    let missing: Vec<&str> =
        needed.iter().filter(|name| !heading.contains_key(&key(name))).copied().collect();
    if missing.is_empty() { Ok(heading) } else { Err(lacks(&missing, line)) }
}

fn lacks(columns: &[&str], line: u64) -> Fault {
    Fault::new(line, format!("the heading lacks {}", columns.join(", ")))
}

/// For documents that begin with their heading.
pub(super) fn nothing_above(_: &mut Part, _: &csv::StringRecord) -> bool {
    false
}

/// The values of a multi-value field, as CSV within CSV.
pub(super) fn values(field: &str) -> Vec<String> {
    let rows = rows(field, b';').filter_map(Result::ok);
    let values = rows
        .flat_map(|(row, _)| row.iter().map(|value| value.trim().to_owned()).collect::<Vec<_>>());
    values.filter(|value| !value.is_empty()).collect()
}
