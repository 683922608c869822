//! How many units a document's rates are of, and whether they are scaled numbers.

use domain::decimal::Decimal;

use super::super::names::joined;
use super::super::sheet::{SheetError, shown};
use super::node::{Node, number};

/// Names of the number of units that a rate is of.
const UNITS: [&str; 5] = ["amount", "base_amount", "per", "per_units", "lot_size"];
/// Other names of it contain one of these words, unless one of [`NO_UNIT`], too.
const UNIT_WORDS: [&str; 9] = [
    "unit",
    "units",
    "nominal",
    "quantity",
    "multiplier",
    "lot",
    "factor",
    "faktor",
    "denomination",
];
/// Names, without separators, of a number of units of the base currency, by which its rate is divided;
/// other names leave open what the number is of.
const BASE_UNITS: [&str; 12] = [
    "unit",
    "units",
    "nominal",
    "nominalvalue",
    "denomination",
    "per",
    "perunit",
    "perunits",
    "currencyunit",
    "currencyunits",
    "unitofcurrency",
    "baseunits",
];
/// Words of names of prices, limits, forms of numbers, and sizes of orders and trades.
const NO_UNIT: [&str; 23] = [
    "ask",
    "bid",
    "conversion",
    "last",
    "order",
    "trade",
    "traded",
    "volume",
    "price",
    "rate",
    "cost",
    "fee",
    "id",
    "code",
    "count",
    "precision",
    "decimals",
    "digits",
    "min",
    "max",
    "minimum",
    "maximum",
    "step",
];
/// Words of names of a number that every rate is multiplied with or divided by.
const SCALES: [&str; 6] = ["scale", "scaling", "pricescale", "divisor", "denominator", "divide"];
/// Words of names of an exponent that it has.
const EXPONENTS: [&str; 4] = ["exponent", "expo", "exp", "power"];
/// The greatest exponent; a greater number, such as the time of an expiry, is none.
const MAX_EXPONENT: u64 = 18;
/// Words of names of a number of decimals: the form of printed numbers, or how many digits of a whole
/// number are decimals.
const DECIMALS: [&str; 5] = ["decimals", "decimal", "precision", "digits", "fraction"];

/// The number of units that a rate is of; `None` = one. If they are not of its base (`is_of_base`), only
/// one is accepted.
pub(super) fn units_of(
    members: &[&(String, Node)],
    is_of_base: bool,
) -> Result<Option<Decimal>, SheetError> {
    if !is_of_base {
        return of_one_unit(members).map(|()| None);
    }
    let stated = members.iter().filter(|(name, _)| is_unit(name));
    let stated: Vec<_> = stated.filter_map(|(name, value)| Some((name, number(value)?))).collect();
    let Some((_, several)) = stated.iter().find(|(_, units)| !is_one_unit(units)) else {
        return Ok(None);
    };
    let is_of_base = |(name, value): &(&String, &str)| {
        value == several && BASE_UNITS.contains(&joined(name).as_str())
    };
    let count = Decimal::parse(several.trim()).ok().filter(|count| count.is_positive());
    let count = count.filter(|_| stated.iter().all(is_of_base));
    count.map(Some).ok_or_else(|| of_units(several))
}

/// Refuses an object that states a number of units other than one. A unit may also be a name.
pub(super) fn of_one_unit(members: &[&(String, Node)]) -> Result<(), SheetError> {
    let units = members.iter().filter(|(name, _)| is_unit(name));
    let mut units = units.filter_map(|(_, value)| number(value));
    units.find(|units| !is_one_unit(units)).map_or(Ok(()), |units| Err(of_units(units)))
}

fn of_units(units: &str) -> SheetError {
    SheetError::Form(format!("the rates are of {} units, not of one", shown(units)))
}

/// Whether a number of units is one, as in `1 USD`.
fn is_one_unit(units: &str) -> bool {
    let count = units.split_whitespace().next().unwrap_or_default();
    let (whole, fraction) = count.split_once('.').unwrap_or((count, ""));
    whole == "1" && fraction.bytes().all(|digit| digit == b'0')
}

/// What a member says about the scale of the rates beside it.
pub(super) enum Scale {
    None,
    /// It does if the rates are whole numbers.
    Perhaps,
    Certain,
}

pub(super) fn scale(name: &str, value: &str) -> Scale {
    let words = words(name);
    let has = |known: &[&str]| words.split('_').any(|word| known.contains(&word));
    let (whole, fraction) = value.split_once('.').unwrap_or((value, ""));
    let is_zero = |digits: &str| digits.bytes().all(|digit| digit == b'0');
    let is = |number: &str| whole == number && is_zero(fraction);
    let is_exponent = || whole.parse().is_ok_and(|it: i64| it.unsigned_abs() <= MAX_EXPONENT);
    if is("0") || is("-0") {
        Scale::None
    } else if has(&EXPONENTS) && is_exponent() || has(&SCALES) && !is("1") {
        Scale::Certain
    } else if has(&DECIMALS) || words == "scale" {
        Scale::Perhaps
    } else {
        Scale::None
    }
}

pub(super) fn scaled(says: &str) -> SheetError {
    SheetError::Form(format!("the rates are scaled numbers ({says}), not decimal numbers"))
}

/// Whether a member's name, such as `quoteUnits` or `unit_of_currency`, is one of a number of units.
fn is_unit(name: &str) -> bool {
    let words = words(name);
    let has = |known: &[&str]| words.split('_').any(|word| known.contains(&word));
    UNITS.contains(&words.as_str()) || has(&UNIT_WORDS) && !has(&NO_UNIT)
}

/// A member's name as words in small letters, separated by `_`.
fn words(name: &str) -> String {
    let mut words = String::new();
    let mut before = ' ';
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && before.is_ascii_lowercase() {
            words.push('_');
        }
        words.push(if letter.is_alphanumeric() { letter.to_ascii_lowercase() } else { '_' });
        before = letter;
    }
    words
}
