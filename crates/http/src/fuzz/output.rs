//! Texts of outside parties on their way out: JSON, CSV.

use super::differential::quoted;
use crate::json::{self, Value};
use crate::spreadsheet::guarded;

/// Any text survives JSON and CSV, there with apostrophes at most, and no cell begins a formula.
pub(super) fn text(bytes: &[u8]) {
    let Some(text) = super::text(bytes) else { return };
    let json = quoted(text);
    assert_eq!(json::parse(&json), Ok(Value::String(text.into())));
    assert!(json.iter().all(|byte| *byte >= b' '), "a control character is not escaped");

    let cell = guarded(text.to_owned());
    let plain = |(at, part): (usize, &str)| {
        let begin = if at == 0 { part } else { part.trim_start_matches([' ', '"']) };
        assert!(
            !begin.starts_with(['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠']),
            "{cell:?}"
        );
        let skipped = &part[..part.len() - begin.len()];
        format!("{skipped}{}", begin.strip_prefix('\'').unwrap_or(begin))
    };
    let parts: Vec<String> = cell.split(';').enumerate().map(plain).collect();
    assert_eq!(parts.join(";"), text, "two texts have one cell");
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record([cell.as_str(), "end"]).expect("a record");
    let written = writer.into_inner().expect("a table");
    let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(written.as_slice());
    let records: Vec<csv::StringRecord> = reader.records().collect::<Result<_, _>>().expect("CSV");
    assert_eq!(records, [csv::StringRecord::from(vec![cell.as_str(), "end"])]);
}
