//! Loads the bank directory from a CSV file, once, at startup.
//!
//! Columns: `country` (alpha-3), `bic`, `local_code`, `bank_name`, `branch_name`; lines that start
//! with `#` are comments. The first invalid row aborts the load and its line is reported: a
//! directory is never partially loaded.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use csv::{ReaderBuilder, StringRecord, Trim};
use domain::bank::{BankDirectory, Branch, BranchError};
use domain::bic::Bic;
use domain::country::Country;
use domain::order::is_local_branch_code;

/// The bundled sample; see the notes in the file.
const SAMPLE: &str = include_str!("../data/bank_directory_sample.csv");
/// Maximum file size: several times all branches of the seven countries.
const FILE_MAX_BYTES: u64 = 128 * 1024 * 1024;

const COLUMNS: [&str; 5] = ["country", "bic", "local_code", "bank_name", "branch_name"];

/// Why a directory could not be loaded.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The file could not be opened or read.
    #[error("the bank directory cannot be read")]
    Io(#[from] std::io::Error),
    /// Larger than any valid directory.
    #[error("the bank directory is {found} bytes; the limit is {FILE_MAX_BYTES}")]
    TooLarge {
        /// Its size, in bytes.
        found: u64,
    },
    /// The first line is not a CSV header.
    #[error("the bank directory is not a CSV file")]
    Csv(#[source] csv::Error),
    /// A column is missing from the first line.
    #[error("the bank directory has no column {column}; it needs {}", COLUMNS.join(","))]
    Column { column: &'static str },
    #[error("line {line} of the bank directory: {fault}")]
    Row {
        /// Line of the file, from 1.
        line: u64,
        /// What is wrong with it.
        fault: RowFault,
    },
}

/// Why a row is invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RowFault {
    /// The number of fields differs from the header.
    #[error("{found} fields, but the header names {expected}")]
    Fields {
        /// Number of columns in the header.
        expected: u64,
        /// Number of fields in the row.
        found: u64,
    },
    #[error("{0}")]
    Csv(String),
    /// Not a destination country.
    #[error("country {0:?} is not one of the destination countries")]
    Country(String),
    #[error("bic {0:?} is not a BIC of 8 or 11 characters")]
    Bic(String),
    /// Does not match the format of the country's branch codes.
    #[error("local_code {code:?} does not have the form of {country}'s branch codes")]
    LocalCode {
        /// The value in the row.
        code: String,
        /// Must be an ISO 3166-1 alpha-3 code.
        country: &'static str,
    },
    /// Rejected by the domain's directory.
    #[error(transparent)]
    Branch(#[from] BranchError),
}

/// The sample directory: at least one bank of each destination. For tests, demonstrations and the sandbox.
pub fn sample() -> Result<BankDirectory, LoadError> {
    read(SAMPLE)
}

/// Loads the file at `path`.
pub fn load(path: &Path) -> Result<BankDirectory, LoadError> {
    let file = File::open(path)?;
    let found = file.metadata()?.len();
    if found > FILE_MAX_BYTES {
        return Err(LoadError::TooLarge { found });
    }
    let mut text = String::new();
    file.take(FILE_MAX_BYTES).read_to_string(&mut text)?;
    read(&text)
}

/// Reads a directory in CSV.
pub fn read(text: &str) -> Result<BankDirectory, LoadError> {
    let text = text.trim_start_matches('\u{feff}');
    let mut reader =
        ReaderBuilder::new().comment(Some(b'#')).trim(Trim::All).from_reader(text.as_bytes());
    let headers = reader.headers().map_err(LoadError::Csv)?;
    let mut places = [0; COLUMNS.len()];
    for (place, column) in places.iter_mut().zip(COLUMNS) {
        *place =
            headers.iter().position(|name| name == column).ok_or(LoadError::Column { column })?;
    }
    let mut directory = BankDirectory::default();
    let mut record = StringRecord::new();
    loop {
        let start = reader.position().byte();
        let more = reader.read_record(&mut record).map_err(|error| fault_of(&error));
        let listed = more.and_then(|more| {
            if more {
                let row = places.map(|place| record.get(place).unwrap_or_default());
                directory.add(read_branch(row)?)?;
            }
            Ok(more)
        });
        if !listed.map_err(|fault| LoadError::Row { line: line_at(text, start), fault })? {
            return Ok(directory);
        }
    }
}

fn fault_of(error: &csv::Error) -> RowFault {
    match error.kind() {
        csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
            RowFault::Fields { expected: *expected_len, found: *len }
        }
        _ => RowFault::Csv(error.to_string()),
    }
}

/// The line, from 1, of the first row at or after `start`. The reader's own position stops before
/// the comments and blank lines that precede a row.
fn line_at(text: &str, start: u64) -> u64 {
    let start = usize::try_from(start).unwrap_or(usize::MAX);
    let (before, after) = text.split_at_checked(start).unwrap_or((text, ""));
    let skipped = after.lines().take_while(|line| line.is_empty() || line.starts_with('#')).count();
    (before.matches('\n').count() + skipped + 1) as u64
}

fn read_branch(
    [country, bic, local_code, bank_name, branch_name]: [&str; 5],
) -> Result<Branch, RowFault> {
    let country = Country::parse(country).ok_or_else(|| RowFault::Country(country.to_owned()))?;
    let bic = match bic {
        "" => None,
        text => Some(Bic::parse(text).ok_or_else(|| RowFault::Bic(text.to_owned()))?),
    };
    let local_code = filled(local_code).map(|code| code.to_ascii_uppercase());
    if let Some(code) = local_code.as_ref().filter(|code| !is_local_branch_code(country, code)) {
        return Err(RowFault::LocalCode { code: code.clone(), country: country.alpha3() });
    }
    Ok(Branch {
        country,
        bic,
        local_code,
        bank_name: bank_name.to_owned(),
        branch_name: filled(branch_name),
    })
}

fn filled(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use domain::currency::Currency;
    use domain::decimal::Decimal;
    use domain::ids::QuoteId;
    use domain::order::example;
    use domain::policy::Corridors;
    use domain::time::Span;

    use super::*;

    const HEAD: &str = "country,bic,local_code,bank_name,branch_name\n";

    fn message_of(rows: &str) -> String {
        read(&format!("{HEAD}{rows}")).expect_err(rows).to_string()
    }

    #[test]
    fn the_sample_holds_the_banks_that_corridors_md_names() {
        let sample = sample().expect("the sample loads");
        for bic in [
            "SCBLPKKX", "HABBPKKA", "DBBLBDDH", "BOPIPHMM", "NARBNPKA", "NBEGEGCX", "CIBEEGCX",
            "BFTVVNVX", "HDFCINBB",
        ] {
            let bic = Bic::parse(bic).expect("well-formed");
            assert!(sample.by_bic(&bic).is_some(), "{bic}");
        }
        assert!(sample.by_local_code(Country::Ind, "HDFC0000001").is_some());
        for country in Country::ALL {
            let banks = sample.branches().iter().filter(|branch| branch.country == country);
            assert!(
                banks
                    .map(|branch| &branch.bank_name)
                    .collect::<std::collections::BTreeSet<_>>()
                    .len()
                    > 1
            );
        }
    }

    #[test]
    fn the_examples_of_every_country_are_valid_under_the_sample() {
        let corridors = Corridors {
            corridors: BTreeMap::new(),
            rails: Vec::new(),
            relations: ["brother".to_owned()].into(),
            submit_deadline: Span::mins(30),
            return_window: Span::days(90),
            recall_answer_window: Span::days(15),
            recall_money_window: Span::days(5),
        };
        let directory = sample().expect("the sample loads");
        for country in Country::ALL {
            let quote = QuoteId(uuid::Uuid::nil());
            let order = example::order(country, quote, Currency::Aed, Decimal::from_int(100));
            let today = jiff::civil::date(2026, 11, 21);
            let order = order.check(&directory, &corridors, today).expect("a valid order");
            assert!(
                order.bank_branch_name.is_some(),
                "{country:?}: the directory knows the branch"
            );
            assert_eq!(order.branch_local_code.is_none(), country == Country::Phl, "{country:?}");
        }
    }

    #[test]
    fn columns_may_have_any_order_and_codes_lower_case() {
        let text = "bank_name, branch_name, country, local_code, bic\n# a note\nA Bank, , IND, hdfc0000001, hdfcinbb\n";
        let directory = read(text).expect("loads");
        let branch = directory.by_local_code(Country::Ind, "HDFC0000001").expect("listed");
        assert_eq!((branch.bank_name.as_str(), branch.branch_name.as_deref()), ("A Bank", None));
    }

    #[test]
    fn a_row_that_cannot_be_right_is_named_by_its_line() {
        for (rows, message) in [
            (
                "IND,HDFCINBB,,A,\nUSA,,,A,\n",
                r#"line 3 of the bank directory: country "USA" is not one of"#,
            ),
            ("# note\nIND,HDFC,,A,\n", r#"line 3 of the bank directory: bic "HDFC" is not a BIC"#),
            (
                "IND,,HDFC1,A,\n",
                r#"line 2 of the bank directory: local_code "HDFC1" does not have the form of IND's"#,
            ),
            (
                "PHL,BOPIPHMM,010040018,A,\n",
                r#"line 2 of the bank directory: local_code "010040018" does not"#,
            ),
            ("IND,SCBLPKKX,,A,\n", "line 2 of the bank directory: bic SCBLPKKX is not one of IN"),
            ("IND,HDFCINBB,,,\n", "line 2 of the bank directory: bank_name is empty"),
            ("IND,,,A,\n", "line 2 of the bank directory: bic and local_code are both empty"),
            (
                "IND,HDFCINBB,,A,\nIND,HDFCINBB,,A,\n",
                "line 3 of the bank directory: bic \"HDFCINBB\" with local_code",
            ),
            (
                "\n# note\nIND,HDFCINBB\n",
                "line 4 of the bank directory: 2 fields, but the header names 5",
            ),
            (
                "IND,HDFCINBB,,\"A\nBank\",\n\nIND,?,,A,\n",
                "line 5 of the bank directory: bic \"?\" is not",
            ),
            (
                "IND,HDFCINBB,,A,\r\n#\r\nIND,?,,A,\r\n",
                "line 4 of the bank directory: bic \"?\" is not",
            ),
        ] {
            let found = message_of(rows);
            assert!(found.starts_with(message), "{found}");
        }
        let headless = read("country,bic\n").expect_err("columns are missing").to_string();
        assert!(
            headless
                .starts_with("the bank directory has no column local_code; it needs country,bic,"),
            "{headless}"
        );
    }

    #[test]
    fn files_are_loaded_and_a_missing_one_is_an_error() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("directory.csv");
        assert!(matches!(load(&path), Err(LoadError::Io(_))));
        std::fs::write(&path, SAMPLE).expect("written");
        let loaded = load(&path).expect("loads");
        assert_eq!(loaded.branches(), sample().expect("loads").branches());
    }
}
