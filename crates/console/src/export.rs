//! CSV exports for spreadsheets (RFC 4180), with formulas disarmed.

use ::csv::{Terminator, Writer, WriterBuilder};
use domain::audit::{Facts, Note};

use super::answer::{Answer, download};
use super::lists::hidden;
use super::payments::masked;
use super::visit::Visit;
use http_api::spreadsheet::guarded;

/// How a file is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// UTF-8 with commas (RFC 4180).
    Plain,
    /// UTF-16 with tabs, which Excel reads alike in every country.
    Excel,
}

/// Columns of amounts, rates and counts, with which users calculate. All others are texts, whatever
/// they look like: ids, references and account numbers may consist of digits.
const QUANTITIES: [&str; 15] = [
    "amount",
    "amount_destination",
    "attempts",
    "payout",
    "rate",
    "received_usdc",
    "received_usdt",
    "released_usdc",
    "released_usdt",
    "risk_score",
    "sequence",
    "spread",
    "wallet_amount",
    "wallet_premium",
    "wallet_txn_cost",
];

/// The value of `form` for Excel.
const EXCEL: &str = "excel";
/// Excel shows longer whole numbers rounded (`1.1E+15`).
const EXCEL_WHOLE_DIGITS_MAX: usize = 11;
/// Excel computes with no more digits than these.
const EXCEL_DIGITS_MAX: usize = 15;
/// Excel reads no longer text in a formula.
const EXCEL_TEXT_MAX: usize = 255;

impl Form {
    fn asked(visit: &Visit) -> Form {
        if visit.query().given("form") == Some(EXCEL) { Form::Excel } else { Form::Plain }
    }

    const fn content_type(self) -> &'static str {
        match self {
            Form::Plain => "text/csv; charset=utf-8",
            Form::Excel => "text/csv; charset=utf-16",
        }
    }

    fn cell(self, cell: String, is_quantity: bool) -> String {
        match self {
            Form::Plain => guarded(cell),
            Form::Excel => {
                let number = is_quantity.then(|| number(&cell)).flatten();
                number.unwrap_or_else(|| kept_as_text(cell))
            }
        }
    }

    fn bytes(self, text: Vec<u8>) -> Vec<u8> {
        match self {
            Form::Plain => text,
            Form::Excel => {
                let text = String::from_utf8_lossy(&text);
                "\u{feff}"
                    .encode_utf16()
                    .chain(text.encode_utf16())
                    .flat_map(u16::to_le_bytes)
                    .collect()
            }
        }
    }
}

/// A number as Excel reads it alike in every country: one with decimals as a fraction of whole
/// numbers, since a decimal point separates thousands in much of Europe, and days elsewhere. `None`
/// if Excel would not show the digits as they are.
fn number(cell: &str) -> Option<String> {
    let digits = cell.strip_prefix('-').unwrap_or(cell);
    let (whole, fraction) = digits.split_once('.').map_or((digits, None), |(a, b)| (a, Some(b)));
    let is_digits = |part: &str| !part.is_empty() && part.bytes().all(|it| it.is_ascii_digit());
    let most = if fraction.is_some() { EXCEL_DIGITS_MAX } else { EXCEL_WHOLE_DIGITS_MAX };
    let is_shown = is_digits(whole)
        && fraction.is_none_or(is_digits)
        && (whole == "0" || !whole.starts_with('0'))
        && whole.len() + fraction.map_or(0, str::len) <= most;
    let Some(fraction) = fraction.filter(|_| is_shown) else {
        return is_shown.then(|| cell.to_owned());
    };
    let sign = if cell.starts_with('-') { "-" } else { "" };
    let all = format!("{whole}{fraction}");
    let significant = all.trim_start_matches('0');
    let significant = if significant.is_empty() { "0" } else { significant };
    Some(format!("={sign}{significant}/1{}", "0".repeat(fraction.len())))
}

/// A formula of the text where Excel could take it for a number or a date, within whose quotes
/// nothing runs; otherwise the guarded text.
fn kept_as_text(cell: String) -> String {
    let is_safe = !cell.contains(char::is_numeric);
    if is_safe || cell.contains(char::is_control) || cell.encode_utf16().count() > EXCEL_TEXT_MAX {
        return guarded(cell);
    }
    format!("=\"{}\"", cell.replace('\x22', "\"\""))
}

/// The links to a tenant's list as a file, with the filters as a query; none for users who may not
/// download it.
pub fn links(visit: &Visit, list: &str, asked: &str) -> Vec<(String, String)> {
    if !visit.may_use("GET", &format!("/console/t/{{tenant}}/{list}/export.csv")) {
        return Vec::new();
    }
    Vec::from(links_to(&visit.href(&format!("/{list}/export.csv")), asked))
}

/// The links to a file in both forms.
pub fn links_to(file: &str, asked: &str) -> [(String, String); 2] {
    [
        (format!("{file}?{asked}"), "Download as CSV".to_owned()),
        (format!("{file}?form={EXCEL}&{asked}"), "Download for Excel".to_owned()),
    ]
}

/// A CSV file with a header row.
#[derive(Debug)]
pub struct Csv {
    writer: Writer<Vec<u8>>,
    form: Form,
    /// The columns that are left out, as indexes.
    omitted: Vec<usize>,
    /// The columns of quantities, as indexes.
    quantities: Vec<usize>,
    rows: i64,
}

/// The columns of a file that belong to hidden columns of its list. `shown` has the file's columns
/// of each of the list's; the first one of the list is never hidden.
fn omitted(head: &[&str], shown: &[&[&str]], hidden: &[usize]) -> Vec<usize> {
    let is_hidden = |column: usize| column > 0 && hidden.contains(&column);
    let belongs = |name: &str, to_hidden: bool| {
        let mut columns = shown.iter().enumerate().filter(|(at, _)| is_hidden(*at) == to_hidden);
        columns.any(|(_, names)| names.contains(&name))
    };
    let columns = head.iter().enumerate();
    let columns = columns.filter(|(_, name)| belongs(name, true) && !belongs(name, false));
    columns.map(|(at, _)| at).collect()
}

impl Csv {
    /// A file with these columns, in the form that was asked for.
    pub fn new(visit: &Visit, head: &[&str]) -> Csv {
        Csv::of(Form::asked(visit), head, Vec::new())
    }

    /// The same for a list whose columns can be hidden: without what they have in the file. `shown`
    /// has the file's columns of each of the list's.
    pub fn shown(visit: &Visit, head: &[&str], shown: &[&[&str]]) -> Csv {
        Csv::of(Form::asked(visit), head, omitted(head, shown, &hidden(visit)))
    }

    fn of(form: Form, head: &[&str], omitted: Vec<usize>) -> Csv {
        let delimiter = if form == Form::Excel { b'\t' } else { b',' };
        let writer = WriterBuilder::new()
            .flexible(true)
            .delimiter(delimiter)
            .terminator(Terminator::CRLF)
            .from_writer(Vec::new());
        // The header does not count as a row.
        let mut csv = Csv { writer, form, omitted, quantities: Vec::new(), rows: -1 };
        csv.row(head.iter().map(|name| (*name).to_owned()));
        let is_quantity = |name: &str| QUANTITIES.contains(&name);
        let quantities = head.iter().enumerate().filter(|(_, name)| is_quantity(name));
        csv.quantities = quantities.map(|(at, _)| at).collect();
        csv
    }

    /// Adds a row with a cell of every column; cells are guarded, and quoted where necessary.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        let cells = cells.into_iter().enumerate();
        let cells = cells.filter(|(at, _)| !self.omitted.contains(at));
        let cells = cells.map(|(at, cell)| self.form.cell(cell, self.quantities.contains(&at)));
        self.writer.write_record(cells).expect("memory takes every row");
        self.rows += 1;
    }

    fn into_bytes(self) -> Vec<u8> {
        self.form.bytes(self.writer.into_inner().expect("memory takes what is left"))
    }

    /// The file as a download with this name; the download is recorded in the audit log first.
    ///
    /// # Errors
    /// Recording fails; then there is no download.
    pub async fn taken(self, visit: &Visit, name: &str) -> Answer {
        let facts = Facts::new().number("rows", self.rows).text("asked", asked(visit));
        visit.took(Note::new("export.csv", "file", name).after(facts)).await?;
        Ok(download(name, self.form.content_type(), self.into_bytes().into()))
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
        let mut csv = Csv::of(Form::Plain, &["a", "b"], Vec::new());
        csv.row(["=HYPERLINK(\"x\")".to_owned(), "Ali, \"Jr\"\nKhan".to_owned()]);
        csv.row(["+971".to_owned(), "-1".to_owned()]);
        csv.row(["@x".to_owned(), "\tx".to_owned()]);
        csv.row(["plain".to_owned(), String::new()]);
        let expected = "a,b\r\n\"'=HYPERLINK(\"\"x\"\")\",\"Ali, \"\"Jr\"\"\nKhan\"\r\n'+971,'-1\r\n'@x,'\tx\r\nplain,\r\n";
        assert_eq!(String::from_utf8(csv.into_bytes()).expect("text"), expected);
    }

    #[test]
    fn hidden_columns_of_a_list_leave_its_file() {
        let head = ["id", "amount", "currency", "fee", "note"];
        let shown: [&[&str]; 3] = [&["id"], &["amount", "currency"], &["fee", "currency"]];
        for (hidden, expected) in [
            (&[][..], &[][..]),
            (&[1], &[1]),
            (&[2], &[3]),
            // The currency of both amounts goes with the last one.
            (&[1, 2], &[1, 2, 3]),
            // What the list does not have stays, as does its first column; others do not exist.
            (&[0, 9], &[]),
        ] {
            assert_eq!(omitted(&head, &shown, hidden), expected, "{hidden:?}");
        }
        let mut csv = Csv::of(Form::Plain, &head, vec![1, 2]);
        csv.row(["1", "9", "USD", "2", "x"].map(str::to_owned));
        let bytes = csv.into_bytes();
        assert_eq!(String::from_utf8(bytes).expect("text"), "id,fee,note\r\n1,2,x\r\n");
    }

    #[test]
    fn excel_opens_it_as_it_is() {
        let mut csv = Csv::of(Form::Excel, &["näme", "amount"], Vec::new());
        csv.row(["علی, \"Jr\"".to_owned(), "379.12".to_owned()]);
        let bytes = csv.into_bytes();
        assert_eq!(bytes[..8], [0xff, 0xfe, b'n', 0, 0xe4, 0, b'm', 0]);
        assert_eq!(bytes.len() % 2, 0);
        let units = bytes.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]]));
        let text = String::from_utf16(&units.collect::<Vec<_>>()).expect("UTF-16");
        assert_eq!(text, "\u{feff}näme\tamount\r\n\"علی, \"\"Jr\"\"\"\t=37912/100\r\n");
    }

    #[test]
    fn excel_keeps_identifiers_and_computes_with_amounts() {
        for (amount, shown) in [
            ("0", "0"),
            ("0.50", "=50/100"),
            ("0.000001", "=1/1000000"),
            ("0.00", "=0/100"),
            ("1.234", "=1234/1000"),
            ("379.12", "=37912/100"),
            ("-12.5", "=-125/10"),
            ("99999999999", "99999999999"),
            ("1234567890123.45", "=123456789012345/100"),
        ] {
            assert_eq!(Form::Excel.cell(amount.to_owned(), true), shown);
            assert_eq!(Form::Excel.cell(amount.to_owned(), false), format!("=\"{amount}\""));
        }
        for text in [
            "1100000000000000",
            "123456789012",
            "00112233",
            "12E5",
            "1-2",
            "3 Mar",
            "PK36SCBL0000001123456702",
            "2026-11-28T10:00:00Z",
            "1234567890123456.7",
            "1,5",
            ".5",
            "١٢",
        ] {
            for is_quantity in [true, false] {
                let cell = Form::Excel.cell(text.to_owned(), is_quantity);
                assert_eq!(cell, format!("=\"{text}\""));
            }
        }
        let long = format!("1{}", "x".repeat(EXCEL_TEXT_MAX));
        for text in ["", "Ali", "line 1\nline 2", long.as_str()] {
            assert_eq!(Form::Excel.cell(text.to_owned(), false), text);
        }
    }

    #[test]
    fn a_column_decides_whether_its_digits_are_a_text() {
        let head = ["external_id", "amount", "currency", "bank_reference"];
        let mut csv = Csv::of(Form::Excel, &head, vec![2]);
        csv.row(["1.50", "1.50", "AED", "42"].map(str::to_owned));
        let bytes = csv.into_bytes();
        let units = bytes.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]]));
        let text = String::from_utf16(&units.collect::<Vec<_>>()).expect("UTF-16");
        let row = text.lines().nth(1).expect("a row");
        assert_eq!(row, "\"=\"\"1.50\"\"\"\t=150/100\t\"=\"\"42\"\"\"");
    }

    #[test]
    fn no_formula_runs_and_two_texts_are_never_one_cell() {
        let long = format!("=1{}", "x".repeat(EXCEL_TEXT_MAX));
        for (text, plain, excel) in [
            ("=1", "'=1", "=\"=1\""),
            ("'=1", "''=1", "=\"'=1\""),
            ("''=1", "'''=1", "=\"''=1\""),
            ("=1+\"a\"", "'=1+\"a\"", "=\"=1+\"\"a\"\"\""),
            ("=\"1\"", "'=\"1\"", "=\"=\"\"1\"\"\""),
            ("+971", "'+971", "=\"+971\""),
            ("=a()", "'=a()", "'=a()"),
            ("'=a()", "''=a()", "''=a()"),
            ("'", "''", "''"),
            ("=1\n", "'=1\n", "'=1\n"),
            ("'=1\n", "''=1\n", "''=1\n"),
            (&long, &format!("'{long}"), &format!("'{long}")),
        ] {
            assert_eq!(Form::Plain.cell(text.to_owned(), false), plain);
            for is_quantity in [true, false] {
                assert_eq!(Form::Excel.cell(text.to_owned(), is_quantity), excel);
            }
        }
    }
}
