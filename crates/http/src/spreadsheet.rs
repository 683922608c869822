//! Cells of tables that users open in a spreadsheet.

/// Characters that begin a formula, also in the full width of East Asian input, and those that a
/// spreadsheet skips before one.
const FORMULA: [char; 11] = ['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠'];

/// What a cell may begin with before a formula.
const SKIPPED: [char; 2] = [' ', '"'];

/// Prefixes a text that a spreadsheet would run as a formula (OWASP, "CSV Injection") with an
/// apostrophe, and a text that has one already: a cell without its first apostrophe is the text.
/// Where spreadsheets split cells at semicolons, as in much of Europe, one inside a text begins a
/// cell: a formula after it gets an apostrophe, too. For texts from outside; numbers of the service
/// stay numbers.
///
/// ```
/// assert_eq!(http_api::spreadsheet::guarded("=1+1".to_owned()), "'=1+1");
/// assert_eq!(http_api::spreadsheet::guarded("\n＝1+1".to_owned()), "'\n＝1+1");
/// assert_eq!(http_api::spreadsheet::guarded("'=1+1".to_owned()), "''=1+1");
/// assert_eq!(http_api::spreadsheet::guarded("inv-1; 2".to_owned()), "inv-1; 2");
/// assert_eq!(http_api::spreadsheet::guarded("x; \"=1+1;-2".to_owned()), "x; \"'=1+1;'-2");
/// ```
pub fn guarded(cell: String) -> String {
    let guard =
        |text: &str| if text.starts_with(FORMULA) || text.starts_with('\'') { "'" } else { "" };
    let mut parts = cell.split(';');
    let first = parts.next().unwrap_or_default();
    let mut out = format!("{}{first}", guard(first));
    for part in parts {
        let text = part.trim_start_matches(SKIPPED);
        let skipped = &part[..part.len() - text.len()];
        out.extend([";", skipped, guard(text), text]);
    }
    out
}
