//! Cells of tables that people open in a spreadsheet. It knows no table.

/// A text that no spreadsheet runs as a formula (OWASP, "CSV Injection"): one that begins like a formula gets an
/// apostrophe in front. For what others wrote; numbers of ours stay numbers.
///
/// ```
/// assert_eq!(http_api::spreadsheet::guarded("=1+1".to_owned()), "'=1+1");
/// assert_eq!(http_api::spreadsheet::guarded("inv-1".to_owned()), "inv-1");
/// ```
pub fn guarded(cell: String) -> String {
    if cell.starts_with(['=', '+', '-', '@', '\t', '\r']) { format!("'{cell}") } else { cell }
}
