//! Parses a source's publication into rates: Corridor's TOML and CSV files, and JSON of a
//! configurable shape. Numbers are parsed exactly from their text, never through a binary float. A
//! sheet is read completely or rejected.

use std::fmt;

use domain::currency::Currency;
use domain::decimal::{Decimal, DecimalError};
use domain::time::Timestamp;
use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::table::DirectRate;
use domain::ports::Mid;

/// Why a sheet was rejected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SheetError {
    #[error("{0}")]
    Form(String),
    /// A required member is missing.
    #[error("{0} is missing")]
    Missing(String),
    /// An unknown currency where a known one is required.
    #[error("{field}: {code:?} is not a currency of this service")]
    Currency { field: String, code: String },
    /// A rate that is not a number within the interface's bounds.
    #[error("{pair}: {text} {error}")]
    Number {
        /// The currency pair as `BASE/QUOTE`.
        pair: String,
        /// The text of the number.
        text: String,
        error: DecimalError,
    },
    /// A rate must be greater than zero.
    #[error("{pair}: a rate must be greater than zero")]
    NotPositive {
        /// The currency pair as `BASE/QUOTE`.
        pair: String,
    },
    /// A pair named twice.
    #[error("{pair} is named twice")]
    Twice {
        /// `BASE/QUOTE`, or a member's name.
        pair: String,
    },
    /// A time that cannot be read.
    #[error("as_of: {0:?} is neither RFC 3339, a date, nor seconds since 1970")]
    Time(String),
}

/// The locations of values in a JSON document (RFC 6901 pointers through objects only).
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct JsonShape {
    /// The base currency's code.
    pub base: String,
    /// The base if the document does not contain it; takes precedence over `base`.
    pub fixed_base: Option<String>,
    /// The time: RFC 3339, a date, or seconds since 1970.
    pub as_of: String,
    /// The object of rates: code of the quote currency → number or string.
    pub rates: String,
}

impl Default for JsonShape {
    fn default() -> JsonShape {
        JsonShape {
            base: "/base".into(),
            fixed_base: None,
            as_of: "/as_of".into(),
            rates: "/rates".into(),
        }
    }
}

/// Parses JSON of the given shape. Unsupported currencies are skipped.
pub fn from_json(text: &str, shape: &JsonShape) -> Result<Vec<DirectRate>, SheetError> {
    let as_of = time(&plain(find(text, &shape.as_of)?)?)?;
    let code = match &shape.fixed_base {
        Some(code) => code.clone(),
        None => plain(find(text, &shape.base)?)?,
    };
    let base = currency("base", &code)?;
    let mut rates = Vec::new();
    for (code, number) in members(find(text, &shape.rates)?, &shape.rates)? {
        // A source may list its base as 1, which is not a pair.
        let Some(quote) = Currency::parse(&code).filter(|quote| *quote != base) else { continue };
        rates.push(rate(base, quote, &plain(number.get())?, as_of)?);
    }
    Ok(rates)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TomlSheet {
    as_of: String,
    rates: std::collections::BTreeMap<String, std::collections::BTreeMap<String, String>>,
}

/// Parses TOML: `as_of = "…"`, then tables `[rates.<BASE>]` with `<QUOTE> = "<number>"`. Rates are
/// strings, because a TOML number with a decimal point is a binary float.
pub fn from_toml(text: &str) -> Result<Vec<DirectRate>, SheetError> {
    let sheet: TomlSheet =
        toml::from_str(text).map_err(|error| SheetError::Form(error.to_string()))?;
    let as_of = time(&sheet.as_of)?;
    let mut rates = Vec::new();
    for (base, quotes) in &sheet.rates {
        let base = currency("rates", base)?;
        for (quote, number) in quotes {
            rates.push(rate(base, currency("rates", quote)?, number, as_of)?);
        }
    }
    Ok(rates)
}

/// Parses CSV with the header `base,quote,rate,as_of`.
pub fn from_csv(text: &str) -> Result<Vec<DirectRate>, SheetError> {
    let form = |error: csv::Error| SheetError::Form(error.to_string());
    let mut reader = csv::ReaderBuilder::new()
        .comment(Some(b'#'))
        .trim(csv::Trim::All)
        .from_reader(text.as_bytes());
    if reader.headers().map_err(form)?.iter().ne(["base", "quote", "rate", "as_of"]) {
        return Err(SheetError::Form("the heading is not base,quote,rate,as_of".to_owned()));
    }
    let mut rates: Vec<DirectRate> = Vec::new();
    for row in reader.records() {
        let row = row.map_err(form)?;
        let field = |column: usize| row.get(column).unwrap_or("");
        let (base, quote) = (currency("base", field(0))?, currency("quote", field(1))?);
        if rates.iter().any(|known| (known.base, known.quote) == (base, quote)) {
            return Err(SheetError::Twice { pair: pair(base, quote) });
        }
        rates.push(rate(base, quote, field(2), time(field(3))?)?);
    }
    Ok(rates)
}

fn rate(
    base: Currency,
    quote: Currency,
    text: &str,
    as_of: Timestamp,
) -> Result<DirectRate, SheetError> {
    let rate = Decimal::parse(text).map_err(|error| {
        let text = text.chars().take(60).collect();
        SheetError::Number { pair: pair(base, quote), text, error }
    })?;
    if !rate.is_positive() {
        return Err(SheetError::NotPositive { pair: pair(base, quote) });
    }
    if base == quote {
        return Err(SheetError::Form(format!("{} is a currency in itself", pair(base, quote))));
    }
    Ok(DirectRate { base, quote, mid: Mid { rate, as_of } })
}

/// Writes the pair as `BASE/QUOTE`.
pub(super) fn pair(base: Currency, quote: Currency) -> String {
    format!("{}/{}", base.code(), quote.code())
}

fn currency(field: &str, code: &str) -> Result<Currency, SheetError> {
    let error = || SheetError::Currency { field: field.to_owned(), code: code.to_owned() };
    Currency::parse(code).ok_or_else(error)
}

fn time(text: &str) -> Result<Timestamp, SheetError> {
    const MICROS: i64 = 1_000_000;
    let read = if let Ok(seconds) = text.parse::<i64>() {
        seconds.checked_mul(MICROS)
    } else if let Ok(instant) = text.parse::<jiff::Timestamp>() {
        Some(instant.as_microsecond())
    } else if let Ok(day) = text.parse::<jiff::civil::Date>() {
        format!("{day}T00:00:00Z")
            .parse::<jiff::Timestamp>()
            .ok()
            .map(jiff::Timestamp::as_microsecond)
    } else {
        None
    };
    read.map(Timestamp).ok_or_else(|| SheetError::Time(text.chars().take(60).collect()))
}

/// The text of a JSON string or number.
fn plain(raw: &str) -> Result<String, SheetError> {
    if raw.starts_with('"') {
        return serde_json::from_str(raw).map_err(|error| SheetError::Form(error.to_string()));
    }
    if raw.starts_with(|first: char| first == '-' || first.is_ascii_digit()) {
        return Ok(raw.to_owned());
    }
    Err(SheetError::Form(format!(
        "{} is neither a number nor a string",
        raw.chars().take(60).collect::<String>()
    )))
}

fn find<'a>(text: &'a str, pointer: &str) -> Result<&'a str, SheetError> {
    let mut value = text;
    for step in pointer.split('/').skip(1) {
        let step = step.replace("~1", "/").replace("~0", "~");
        let member = members(value, pointer)?.into_iter().find(|(name, _)| *name == step);
        value = member.ok_or_else(|| SheetError::Missing(pointer.to_owned()))?.1.get();
    }
    Ok(value)
}

fn members<'a>(object: &'a str, pointer: &str) -> Result<Vec<(String, &'a RawValue)>, SheetError> {
    let read = serde_json::from_str::<Members<'a>>(object);
    let Members(members) = read.map_err(|error| SheetError::Form(format!("{pointer}: {error}")))?;
    for (at, (name, _)) in members.iter().enumerate() {
        if members[..at].iter().any(|(known, _)| known == name) {
            return Err(SheetError::Twice { pair: name.clone() });
        }
    }
    Ok(members)
}

/// The members of an object in order, values as text; unlike a map it keeps duplicates, so that
/// they can be rejected.
struct Members<'a>(Vec<(String, &'a RawValue)>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Members<'de>, D::Error> {
        struct Collect;
        impl<'de> Visitor<'de> for Collect {
            type Value = Members<'de>;
            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members<'de>, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry::<String, &'de RawValue>()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(Collect)
    }
}
