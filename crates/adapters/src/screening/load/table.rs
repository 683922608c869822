//! CSV with a header: columns are found by name, in any order and among any others.

use std::collections::HashMap;

use super::{Fault, MAX_FIELD_BYTES, Part};

fn key(name: &str) -> String {
    name.trim().trim_start_matches('\u{feff}').to_lowercase()
}

/// A row with its line, or its error.
pub(super) type Read = Result<(csv::StringRecord, At), Fault>;

/// The place of a row.
#[derive(Clone, Copy)]
pub(super) struct At {
    pub(super) line: u64,
    /// Whether the document ends with it and without a line break.
    is_open: bool,
    /// Whether one of its fields was longer than [`MAX_FIELD_BYTES`], and is cut.
    is_long: bool,
}

impl At {
    /// The fault of a field that is cut.
    pub(super) fn long(self) -> Option<Fault> {
        let problem = || format!("a field has more than {MAX_FIELD_BYTES} bytes");
        self.is_long.then(|| Fault::of_field(self.line, problem()))
    }

    /// The fault of a row with too few columns, which is cut where the document ends.
    pub(super) fn short(self, columns: usize, needed: usize) -> Fault {
        match self.is_open && columns < needed {
            true => Fault::cut(self.line),
            false => Fault::new(self.line, format!("has {columns} columns instead of {needed}")),
        }
    }
}

/// The rows of a document. A malformed row is an error of that row only.
pub(super) fn rows(text: &str, delimiter: u8) -> impl Iterator<Item = Read> {
    let mut builder = csv::ReaderBuilder::new();
    let mut reader =
        builder.has_headers(false).flexible(true).delimiter(delimiter).from_reader(text.as_bytes());
    let mut row = csv::StringRecord::new();
    std::iter::from_fn(move || {
        let line_of = |position: Option<&csv::Position>| position.map_or(0, csv::Position::line);
        match reader.read_record(&mut row) {
            Ok(false) => return None,
            Ok(true) => {}
            Err(error) => {
                let line = line_of(error.position());
                return Some(Err(Fault::new(line, format!("is not CSV: {error}"))));
            }
        }
        let line = line_of(row.position());
        let is_last = reader.position().byte() >= text.len() as u64;
        let start = row.position().map_or(0, csv::Position::byte);
        let written = usize::try_from(start).ok().and_then(|start| text.get(start..));
        if is_last && written.is_some_and(|written| ends_in_quotes(written, delimiter)) {
            return Some(Err(Fault::cut(line)));
        }
        let is_open = is_last && !text.ends_with(['\n', '\r']);
        let is_long = row.iter().any(|field| field.len() > MAX_FIELD_BYTES);
        Some(Ok((if is_long { cut(&row) } else { row.clone() }, At { line, is_open, is_long })))
    })
}

/// The row without what its fields have beyond [`MAX_FIELD_BYTES`].
pub(super) fn cut(row: &csv::StringRecord) -> csv::StringRecord {
    row.iter().map(|field| &field[..field.floor_char_boundary(MAX_FIELD_BYTES)]).collect()
}

/// Whether a field's quotes are not closed.
fn ends_in_quotes(written: &str, delimiter: u8) -> bool {
    let (mut is_quoted, mut begins) = (false, true);
    let mut bytes = written.bytes().peekable();
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' if is_quoted && bytes.peek() == Some(&b'"') => _ = bytes.next(),
            b'"' if is_quoted || begins => is_quoted = !is_quoted,
            _ => {}
        }
        begins = !is_quoted && (byte == delimiter || matches!(byte, b'\n' | b'\r'));
    }
    is_quoted
}

/// A row below the heading.
pub(super) struct Row<'a> {
    /// Positions of the columns, by lower-case name.
    heading: &'a HashMap<String, usize>,
    fields: csv::StringRecord,
    pub line: u64,
}

impl Row<'_> {
    /// The texts that may name addresses.
    pub(super) fn remarks(&self) -> impl Iterator<Item = &str> {
        self.fields.iter().filter(|field| field.contains("0x"))
    }

    /// Whether all of its fields are empty.
    pub(super) fn is_blank(&self) -> bool {
        self.fields.iter().all(|field| field.trim().is_empty())
    }

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
    let fewest = |heading: &HashMap<String, usize>| {
        let places = needed.iter().filter_map(|name| heading.get(&key(name)));
        places.max().map_or(0, |last| last + 1)
    };
    for read in rows(text, delimiter) {
        match (&heading, read) {
            (_, Err(fault)) => part.unreadable.push(fault),
            (Some(heading), Ok((fields, at))) if fields.len() < fewest(heading) => {
                part.unreadable.push(at.short(fields.len(), fewest(heading)));
            }
            (Some(heading), Ok((fields, at))) if at.is_open && fields.len() < heading.len() => {
                part.unreadable.push(at.short(fields.len(), heading.len()));
            }
            (Some(heading), Ok((fields, at))) => {
                part.unreadable.extend(at.long());
                take(part, &Row { heading, fields, line: at.line })?;
            }
            (None, Ok((fields, _))) if is_above(part, &fields) => {}
            (None, Ok((fields, at))) => heading = Some(columns(&fields, needed, at.line)?),
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
    let read = rows(field, b';').map(|row| row.map(|(row, _)| row)).collect::<Result<Vec<_>, _>>();
    let values: Vec<&str> = match &read {
        Ok(rows) => rows.iter().flatten().collect(),
        // Quotes that are not closed belong to a name.
        Err(_) => field.split(';').map(|value| value.trim().trim_matches('"')).collect(),
    };
    let values = values.into_iter().map(str::trim).filter(|value| !value.is_empty());
    values.map(str::to_owned).collect()
}
