//! CSV exports for spreadsheets (RFC 4180), with formulas disarmed.

use ::csv::{Terminator, Writer, WriterBuilder};
use domain::audit::{Facts, Note};

use super::answer::{Answer, download};
use super::payments::masked;
use super::visit::Visit;
use http_api::spreadsheet::guarded;

/// A CSV file with a header row.
#[derive(Debug)]
pub struct Csv {
    writer: Writer<Vec<u8>>,
    rows: i64,
}

impl Csv {
    /// A file with these columns.
    pub fn new(head: &[&str]) -> Csv {
        let writer = WriterBuilder::new()
            .flexible(true)
            .terminator(Terminator::CRLF)
            .from_writer(Vec::new());
        // The header does not count as a row.
        let mut csv = Csv { writer, rows: -1 };
        csv.row(head.iter().map(|name| (*name).to_owned()));
        csv
    }

    /// Adds a row; cells are guarded, and quoted where necessary.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.writer.write_record(cells.into_iter().map(guarded)).expect("memory takes every row");
        self.rows += 1;
    }

    fn into_bytes(self) -> Vec<u8> {
        self.writer.into_inner().expect("memory takes what is left")
    }

    /// The file as a download with this name; the download is recorded in the audit log first.
    ///
    /// # Errors
    /// Recording fails; then there is no download.
    pub async fn taken(self, visit: &Visit, name: &str) -> Answer {
        let facts = Facts::new().number("rows", self.rows).text("asked", asked(visit));
        visit.took(Note::new("export.csv", "file", name).after(facts)).await?;
        Ok(download(name, "text/csv; charset=utf-8", self.into_bytes().into()))
    }
}

/// What was asked for: the page and its filters, an account number masked.
fn asked(visit: &Visit) -> String {
    let (page, _) = visit.path().split_once('?').unwrap_or((visit.path(), ""));
    let filters = visit.query().pairs().filter(|(_, value)| !value.is_empty());
    let filter = |(name, value): (&str, &str)| match name {
        "account" => format!("{name}={}", masked::account(value)),
        _ => format!("{name}={value}"),
    };
    let filters: Vec<String> = filters.map(filter).collect();
    if filters.is_empty() { page.to_owned() } else { format!("{page}?{}", filters.join("&")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_quoted_and_run_nothing() {
        let mut csv = Csv::new(&["a", "b"]);
        csv.row(["=HYPERLINK(\"x\")".to_owned(), "Ali, \"Jr\"\nKhan".to_owned()]);
        csv.row(["+971".to_owned(), "-1".to_owned()]);
        csv.row(["@x".to_owned(), "\tx".to_owned()]);
        csv.row(["plain".to_owned(), String::new()]);
        let expected = "a,b\r\n\"'=HYPERLINK(\"\"x\"\")\",\"Ali, \"\"Jr\"\"\nKhan\"\r\n'+971,'-1\r\n'@x,'\tx\r\nplain,\r\n";
        assert_eq!(String::from_utf8(csv.into_bytes()).expect("text"), expected);
    }
}
