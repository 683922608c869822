//! Cells of tables that users open in a spreadsheet.

/// Characters that begin a formula, also in the full width of East Asian input, and those that a
/// spreadsheet skips before one.
const FORMULA: [char; 11] = ['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠'];

/// Prefixes a text that a spreadsheet would run as a formula (OWASP, "CSV Injection") with an
/// apostrophe, and a text that has one already: a cell without its first apostrophe is the text.
/// For texts from outside; numbers of the service stay numbers.
///
/// ```
/// assert_eq!(http_api::spreadsheet::guarded("=1+1".to_owned()), "'=1+1");
/// assert_eq!(http_api::spreadsheet::guarded("\n＝1+1".to_owned()), "'\n＝1+1");
/// assert_eq!(http_api::spreadsheet::guarded("'=1+1".to_owned()), "''=1+1");
/// assert_eq!(http_api::spreadsheet::guarded("inv-1".to_owned()), "inv-1");
/// ```
pub fn guarded(cell: String) -> String {
    if cell.starts_with(FORMULA) || cell.starts_with('\'') { format!("'{cell}") } else { cell }
}
