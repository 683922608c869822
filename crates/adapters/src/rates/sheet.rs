//! What a source publishes, read into rates: the forms, what all of them share, and Corridor's own TOML
//! and CSV sheets. Numbers are read exactly from their text, never through a binary float. A document
//! is read completely or rejected.

use std::borrow::Cow;
use std::io::Read as _;

use domain::characters::one_line;
use domain::currency::Currency;
use domain::decimal::{Decimal, DecimalError, Rounding};
use domain::ports::Mid;
use domain::time::Timestamp;
use flate2::read::MultiGzDecoder;
use serde::Deserialize;

use super::book::is_peg;
use super::published::Published;
use super::source::MAX_SHEET_BYTES;
use super::table::{DirectRate, RateTable, Side, derived, leg};
use super::{ecb, json};

/// The least and the greatest rate of a pair; what lies outside is not a rate of our currencies.
pub const MIN_RATE: Decimal = Decimal::new(1, 8);
pub const MAX_RATE: Decimal = Decimal::from_int(100_000_000);
/// The greatest difference between ask and bid, in basis points of the bid.
pub const MAX_SPREAD_BPS: u32 = 1_000;
/// Maximum distance of a mid rate from its own bid and ask, outside of them, in basis points.
pub const MAX_OUTSIDE_BPS: u32 = 100;
/// Maximum difference between a rate and what the other rates of its document give, in basis points:
/// published rates are rounded.
pub const MAX_CONTRADICTION_BPS: u32 = 1_000;
/// The same of a stablecoin's price and its inverse, which are near 1, so that rounding explains little.
pub const MAX_PEG_CONTRADICTION_BPS: u32 = 100;
/// Decimals to which a rate is rounded, half-even: publishers print binary floats in full.
const RATE_DECIMALS: u32 = 12;
/// Characters of a document that are repeated in a fault.
const SHOWN_CHARS: usize = 60;

/// The form of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Form {
    /// Corridor's own CSV or TOML.
    Sheet,
    /// JSON with a base and an object of rates by currency.
    Rates,
    /// JSON with currency pairs, as names of members or in a list.
    Pairs,
    /// JSON with an object of prices for each currency or stablecoin.
    Coins,
    /// The European Central Bank's XML.
    Ecb,
}

impl Form {
    pub const fn name(self) -> &'static str {
        match self {
            Form::Sheet => "sheet",
            Form::Rates => "rates",
            Form::Pairs => "pairs",
            Form::Coins => "coins",
            Form::Ecb => "ecb",
        }
    }
}

/// Why a document was rejected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SheetError {
    #[error("{0}")]
    Form(String),
    /// A required member is missing.
    #[error("{0} is missing")]
    Missing(String),
    /// The source reports an error instead of rates.
    #[error("the source reports an error: {0}")]
    Reported(String),
    #[error("the document states no rate of a currency of this service")]
    NoRates,
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
    /// Beyond [`MIN_RATE`] or [`MAX_RATE`].
    #[error("{pair}: {rate} is not between {MIN_RATE} and {MAX_RATE}")]
    Absurd {
        /// The currency pair as `BASE/QUOTE`.
        pair: String,
        rate: Decimal,
    },
    /// The bid is above the ask, or too far below it.
    #[error(
        "{pair}: bid {bid} and ask {ask}: the bid must not be greater, nor the ask more than {MAX_SPREAD_BPS} bps above it, nor is either so far from the mid, nor the mid more than {MAX_OUTSIDE_BPS} bps outside of them"
    )]
    Spread {
        /// The currency pair as `BASE/QUOTE`.
        pair: String,
        bid: Decimal,
        ask: Decimal,
    },
    /// Rates of one document that exclude each other.
    #[error(
        "{pair}: {stated} differs by more than {limit_bps} bps from {implied}, which the document's other rates give"
    )]
    Contradiction {
        /// The currency pair as `BASE/QUOTE`.
        pair: String,
        stated: Decimal,
        implied: Decimal,
        /// The difference that is allowed, in basis points.
        limit_bps: u32,
    },
    /// A pair named twice.
    #[error("{pair} is named twice")]
    Twice {
        /// `BASE/QUOTE`, or a member's name.
        pair: String,
    },
    /// A time that cannot be read.
    #[error(
        "{0:?} is neither RFC 3339, a date that names its month or begins with the year, nor seconds since 1970"
    )]
    Time(String),
}

/// The locations of values in a JSON document (RFC 6901 pointers). What is not
/// given is found by the document's structure.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JsonShape {
    /// The base currency's code.
    pub base: Option<String>,
    /// The base if the document does not contain it; takes precedence over `base`.
    pub fixed_base: Option<String>,
    /// The second currency of every rate, if the document states what other currencies are worth in
    /// it: a code, as of `fixed_base`.
    pub fixed_quote: Option<String>,
    /// The time that the rates are of.
    pub as_of: Option<String>,
    /// The part of the document that contains the rates.
    pub rates: Option<String>,
}

/// The rates that a document contains, as they stand there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sheet {
    pub form: Form,
    pub rates: Vec<DirectRate>,
}

impl Sheet {
    /// The same, with no rate of a later time.
    pub fn not_after(mut self, now: Timestamp) -> Sheet {
        self.rates.iter_mut().for_each(|rate| rate.mid.as_of = rate.mid.as_of.min(now));
        self
    }
}

/// Reads a document of the given form, or of the one that its structure shows.
pub fn read(
    bytes: &[u8],
    form: Option<Form>,
    shape: &JsonShape,
    published: &Published,
    now: Timestamp,
) -> Result<Sheet, SheetError> {
    let bytes = unpacked(bytes)?;
    let text =
        std::str::from_utf8(&bytes).map_err(|_| SheetError::Form("is not UTF-8".to_owned()))?;
    let text = text.trim_start_matches('\u{feff}').trim_start();
    let read = Reading { published, now, rates: Vec::new() };
    let sheet = match text.bytes().next() {
        None => return Err(SheetError::Form("the document is empty".to_owned())),
        Some(b'{' | b'[') if !is_toml(text) => json::read(text, shape, read)?,
        Some(b'<') if is_page(text) => {
            return Err(SheetError::Form(
                "is a web page, as of a sign-in, an error or the publisher's site".to_owned(),
            ));
        }
        Some(b'<') => Sheet { form: Form::Ecb, rates: ecb::read(text, read)? },
        Some(_) if is_toml(text) => Sheet { form: Form::Sheet, rates: toml(text, read)? },
        Some(_) => Sheet { form: Form::Sheet, rates: csv(text, read)? },
    };
    match form {
        Some(wanted) if wanted != sheet.form => Err(SheetError::Form(format!(
            "the document has the form {:?}, not {:?}",
            sheet.form.name(),
            wanted.name()
        ))),
        _ if sheet.rates.is_empty() => Err(SheetError::NoRates),
        _ => contradiction(&sheet.rates).map_or(Ok(sheet), Err),
    }
}

/// The content of a document packed with gzip, which a file may be, or what a server sends unasked.
fn unpacked(bytes: &[u8]) -> Result<Cow<'_, [u8]>, SheetError> {
    if !bytes.starts_with(&[0x1F, 0x8B]) {
        return Ok(Cow::Borrowed(bytes));
    }
    let mut content = Vec::new();
    let mut gzip = MultiGzDecoder::new(bytes).take(MAX_SHEET_BYTES as u64 + 1);
    let failed = |error| SheetError::Form(format!("gzip: cannot be unpacked: {error}"));
    gzip.read_to_end(&mut content).map_err(failed)?;
    match content.len() {
        0..=MAX_SHEET_BYTES => Ok(Cow::Owned(content)),
        _ => Err(SheetError::Form(format!("gzip: unpacks to more than {MAX_SHEET_BYTES} bytes"))),
    }
}

/// A rate that the document's other rates exclude. Which of them is wrong is open, so none is used. The
/// price of a stablecoin is excluded by its own inverse alone: the others may not have followed it yet, and
/// it has to be known.
fn contradiction(rates: &[DirectRate]) -> Option<SheetError> {
    let mut table = RateTable::default();
    rates.iter().for_each(|rate| table.set(*rate));
    rates.iter().find_map(|rate| {
        let others = |it: &DirectRate| {
            let is_inverse = (it.quote, it.base) == rate.pair();
            let is_other = it.pair() != rate.pair() && !is_peg(*it) && !is_peg(*rate);
            (is_inverse || is_other).then_some(false)
        };
        let implied = derived(rate.base, rate.quote, |base, quote| {
            leg(&table, (base, quote), Side::Mid, others)
        })?;
        let limit_bps =
            if is_peg(*rate) { MAX_PEG_CONTRADICTION_BPS } else { MAX_CONTRADICTION_BPS };
        let (stated, implied) = (rate.mid.rate, implied.mid.rate);
        super::moved_beyond(implied, stated, limit_bps).then(|| SheetError::Contradiction {
            pair: pair(rate.base, rate.quote),
            stated,
            implied,
            limit_bps,
        })
    })
}

/// Whether a text is the number 1, however it is written.
pub(super) fn is_one(text: &str) -> bool {
    Decimal::parse_rounded(text.trim(), RATE_DECIMALS) == Ok(Decimal::from_int(1))
}

/// Whether a text is Corridor's TOML: a table, or `as_of =`.
fn is_toml(text: &str) -> bool {
    let mut lines = text.lines().map(str::trim_start);
    let first = lines.find(|line| !line.is_empty() && !line.starts_with('#'));
    first.is_some_and(|line| line.starts_with("[rates") || line.starts_with("as_of"))
}

/// Whether a text is HTML.
fn is_page(text: &str) -> bool {
    ["<!doctype html", "<html"].iter().any(|start| {
        text.get(..start.len()).is_some_and(|begins| begins.eq_ignore_ascii_case(start))
    })
}

/// What a reader has found so far, and how times are read.
pub(super) struct Reading<'a> {
    pub published: &'a Published,
    pub now: Timestamp,
    pub rates: Vec<DirectRate>,
}

/// The values of one pair, as texts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Price {
    pub mid: Option<String>,
    pub sides: Option<(String, String)>,
    /// Whether the document leaves open which side is the lower one.
    pub is_open: bool,
    /// How many units of the base the values are of; `None` = one.
    pub units: Option<Decimal>,
}

impl Price {
    pub fn mid(text: &str) -> Price {
        Price { mid: Some(text.to_owned()), ..Price::default() }
    }
}

impl Reading<'_> {
    pub fn time(&self, text: &str) -> Result<Timestamp, SheetError> {
        let time = self.published.time(text, self.now);
        time.map(|(time, _)| time).ok_or_else(|| SheetError::Time(shown(text)))
    }

    /// Adds a pair, unless its values are not those of a rate.
    pub fn add(
        &mut self,
        base: Currency,
        quote: Currency,
        price: &Price,
        as_of: Timestamp,
    ) -> Result<(), SheetError> {
        if base == quote {
            return Err(SheetError::Form(format!("{} is a currency in itself", pair(base, quote))));
        }
        if self.rates.iter().any(|known| known.pair() == (base, quote)) {
            return Err(SheetError::Twice { pair: pair(base, quote) });
        }
        let number = |text: &str| number(base, quote, text, price.units);
        let sides = price.sides.as_ref().map(|(bid, ask)| Ok((number(bid)?, number(ask)?)));
        // Beside a mid, what is named `buy` and `sell` may be something else, or empty.
        let may_be_others = price.is_open && price.mid.is_some();
        let sides = match sides.transpose() {
            Err(_) if may_be_others => None,
            // The lower one is what we would get.
            Ok(Some((buy, sell))) if price.is_open && buy > sell => Some((sell, buy)),
            sides => sides?,
        };
        let rate =
            match (&price.mid, sides) {
                (Some(mid), _) => number(mid)?,
                (None, Some((bid, ask))) => halfway(bid, ask)
                    .ok_or_else(|| SheetError::Spread { pair: pair(base, quote), bid, ask })?,
                (None, None) => return Err(SheetError::Missing(pair(base, quote))),
            };
        let sides = sides.filter(|sides| !may_be_others || are_sides(*sides, rate));
        let (bid, ask) = sides.unwrap_or((rate, rate));
        if !are_sides((bid, ask), rate) {
            return Err(SheetError::Spread { pair: pair(base, quote), bid, ask });
        }
        self.rates.push(DirectRate { base, quote, mid: Mid { rate, as_of }, bid, ask });
        Ok(())
    }
}

/// Whether these may be the bid and ask of a mid rate.
fn are_sides((bid, ask): (Decimal, Decimal), mid: Decimal) -> bool {
    // The last trade may be a little outside of what is bid and asked now.
    let nearest = mid.clamp(bid.min(ask), ask.max(bid));
    let spreads = [(bid, ask), (mid, bid), (mid, ask)];
    bid <= ask
        && !spreads.iter().any(|(from, to)| super::moved_beyond(*from, *to, MAX_SPREAD_BPS))
        && !super::moved_beyond(nearest, mid, MAX_OUTSIDE_BPS)
}

fn halfway(bid: Decimal, ask: Decimal) -> Option<Decimal> {
    bid.checked_add(ask)?.checked_div(Decimal::from_int(2), RATE_DECIMALS, Rounding::HalfEven)
}

fn number(
    base: Currency,
    quote: Currency,
    text: &str,
    units: Option<Decimal>,
) -> Result<Decimal, SheetError> {
    let pair = || pair(base, quote);
    let wrong = |error| SheetError::Number { pair: pair(), text: shown(text), error };
    let mut rate = Decimal::parse_rounded(text.trim(), RATE_DECIMALS).map_err(wrong)?;
    if let Some(units) = units {
        rate = rate
            .checked_div(units, RATE_DECIMALS, Rounding::HalfEven)
            .ok_or_else(|| wrong(DecimalError::OutOfRange))?;
    }
    match rate {
        rate if !rate.is_positive() => Err(SheetError::NotPositive { pair: pair() }),
        rate if !(MIN_RATE..=MAX_RATE).contains(&rate) => {
            Err(SheetError::Absurd { pair: pair(), rate })
        }
        rate => Ok(rate),
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TomlSheet {
    as_of: String,
    rates: std::collections::BTreeMap<String, std::collections::BTreeMap<String, String>>,
}

/// Reads TOML: `as_of = "…"`, then tables `[rates.<BASE>]` with `<QUOTE> = "<number>"`. Rates are
/// strings, because a TOML number with a decimal point is a binary float.
fn toml(text: &str, mut read: Reading<'_>) -> Result<Vec<DirectRate>, SheetError> {
    let sheet: TomlSheet =
        toml::from_str(text).map_err(|error| SheetError::Form(error.to_string()))?;
    let as_of = read.time(&sheet.as_of)?;
    for (base, quotes) in &sheet.rates {
        let base = currency("rates", base)?;
        for (quote, number) in quotes {
            read.add(base, currency("rates", quote)?, &Price::mid(number), as_of)?;
        }
    }
    Ok(read.rates)
}

/// Reads CSV with the columns `base`, `quote`, `as_of`, and `rate` or `bid` and `ask`.
fn csv(text: &str, mut read: Reading<'_>) -> Result<Vec<DirectRate>, SheetError> {
    const HEADING: &str = "the heading is not base,quote,rate,as_of or base,quote,bid,ask,as_of";
    let form = |error: csv::Error| SheetError::Form(error.to_string());
    let mut reader = csv::ReaderBuilder::new()
        .comment(Some(b'#'))
        .trim(csv::Trim::All)
        .from_reader(text.as_bytes());
    let has_sides = match reader.headers().map_err(form)? {
        heads if heads.iter().eq(["base", "quote", "rate", "as_of"]) => false,
        heads if heads.iter().eq(["base", "quote", "bid", "ask", "as_of"]) => true,
        _ => return Err(SheetError::Form(HEADING.to_owned())),
    };
    for row in reader.records() {
        let row = row.map_err(form)?;
        let field = |column: usize| row.get(column).unwrap_or("");
        let (base, quote) = (currency("base", field(0))?, currency("quote", field(1))?);
        let (price, as_of) = match has_sides {
            false => (Price::mid(field(2)), field(3)),
            true => {
                let sides = Some((field(2).to_owned(), field(3).to_owned()));
                (Price { sides, ..Price::default() }, field(4))
            }
        };
        read.add(base, quote, &price, read.time(as_of)?)?;
    }
    Ok(read.rates)
}

/// Writes the pair as `BASE/QUOTE`.
pub(super) fn pair(base: Currency, quote: Currency) -> String {
    format!("{}/{}", base.code(), quote.code())
}

/// The beginning of a text of the document.
pub(super) fn shown(text: &str) -> String {
    one_line(text, SHOWN_CHARS)
}

pub(super) fn currency(field: &str, code: &str) -> Result<Currency, SheetError> {
    let error = || SheetError::Currency { field: field.to_owned(), code: shown(code) };
    Currency::parse(code).ok_or_else(error)
}
