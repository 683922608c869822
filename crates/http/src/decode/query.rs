//! The query string (`application/x-www-form-urlencoded`), decoded strictly and taken apart name by name.
//!
//! A name that is asked for may occur once only, so two readers can never see two values; unknown names are ignored.

use domain::fault::Fault;
use domain::time::Timestamp;
use jiff::tz::TimeZone;

use super::shape::{digits, full_date};
use super::{Place, Rejection, missing};

/// More pairs than this are not looked at: the interfaces know ten names and nine values of `status`.
const PAIRS_MAX: usize = 128;

/// The pairs of a query string and the faults found in them so far.
#[derive(Debug, Default)]
pub struct Query {
    /// Name and value; no value where it is not percent-encoded UTF-8.
    pairs: Vec<(String, Option<String>)>,
    faults: Vec<Fault>,
}

impl Query {
    /// Takes a raw query string apart.
    pub fn of(raw: Option<&str>) -> Query {
        let split = |pair: &str| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            Some((percent_decoded(name)?, percent_decoded(value)))
        };
        let pairs = raw.unwrap_or("").split('&').filter(|pair| !pair.is_empty());
        Query { pairs: pairs.take(PAIRS_MAX).filter_map(split).collect(), faults: Vec::new() }
    }

    /// The value of a parameter that must be there.
    pub fn required<T>(
        &mut self,
        name: &'static str,
        read: impl FnOnce(&'static str, &str) -> Result<T, Fault>,
    ) -> Option<T> {
        if !self.pairs.iter().any(|(known, _)| known == name) {
            self.faults.push(missing(name));
            return None;
        }
        self.optional(name, read)
    }

    /// The value of a parameter that may be absent.
    pub fn optional<T>(
        &mut self,
        name: &'static str,
        read: impl FnOnce(&'static str, &str) -> Result<T, Fault>,
    ) -> Option<T> {
        let mut values = self.pairs.iter().filter(|(known, _)| known == name).map(|(_, value)| value);
        let first = values.next()?;
        let read = match (first, values.next()) {
            (_, Some(_)) => Err(Fault::new(name, "multiple_values", "Parameter should be given once")),
            (None, None) => Err(not_decodable(name)),
            (Some(value), None) => read(name, value),
        };
        read.map_err(|fault| self.faults.push(fault)).ok()
    }

    /// Every value of a parameter that may be repeated or hold several values between commas, at most `items_max`.
    pub fn list<T>(
        &mut self,
        name: &'static str,
        items_max: usize,
        read: impl Fn(&'static str, &str) -> Result<T, Fault>,
    ) -> Vec<T> {
        let given: Vec<&Option<String>> =
            self.pairs.iter().filter(|(known, _)| known == name).map(|(_, value)| value).collect();
        let items = given.iter().filter_map(|value| value.as_deref()).flat_map(|value| value.split(','));
        let items: Vec<&str> = items.map(str::trim).filter(|item| !item.is_empty()).collect();
        let mut faults = Vec::new();
        if given.iter().any(|value| value.is_none()) {
            faults.push(not_decodable(name));
        }
        if items.len() > items_max {
            let message = format!("List should have at most {items_max} items, not {}", items.len());
            faults.push(
                Fault::new(name, "too_long", message).with("max_length", items_max).with("actual_length", items.len()),
            );
        }
        let mut values = Vec::new();
        if faults.is_empty() {
            for item in items {
                match read(name, item) {
                    Ok(value) => values.push(value),
                    Err(fault) => faults.push(fault),
                }
            }
        }
        // One wrong item tells what all of them must be.
        self.faults.extend(faults.into_iter().take(1));
        values
    }

    /// Whether a parameter was given with anything but a blank value.
    pub fn has(&self, name: &str) -> bool {
        let given = |value: &Option<String>| value.as_deref().is_none_or(|value| !value.trim().is_empty());
        self.pairs.iter().any(|(known, value)| known == name && given(value))
    }

    /// Every pair that is percent-encoded UTF-8.
    pub fn into_pairs(self) -> impl Iterator<Item = (String, String)> {
        self.pairs.into_iter().filter_map(|(name, value)| Some((name, value?)))
    }

    /// Notes a fault that the caller found.
    pub fn refuse(&mut self, fault: Fault) {
        self.faults.push(fault);
    }

    /// The value that `build` makes of what was taken.
    ///
    /// # Errors
    /// Every fault, if there is one.
    pub fn finish<T>(self, build: impl FnOnce() -> Option<T>) -> Result<T, Rejection> {
        let faults = self.faults;
        if faults.is_empty()
            && let Some(value) = build()
        {
            return Ok(value);
        }
        Err(Rejection::Faults { place: Place::Query, faults })
    }
}

fn not_decodable(name: &'static str) -> Fault {
    Fault::new(name, "url_encoding", "Parameter should be percent-encoded UTF-8")
}

/// Resolves `%XX` and `+`; `None` for a broken escape or bytes that are not UTF-8.
fn percent_decoded(text: &str) -> Option<String> {
    let mut decoded = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        decoded.push(match byte {
            b'+' => b' ',
            b'%' => {
                let high = char::from(bytes.next()?).to_digit(16)?;
                let low = char::from(bytes.next()?).to_digit(16)?;
                u8::try_from(high * 16 + low).ok()?
            }
            other => other,
        });
    }
    String::from_utf8(decoded).ok()
}

/// A boolean as pydantic reads it from a query: `true`, `1`, `yes`, `on` … in any case.
///
/// # Errors
/// `bool_parsing`
pub fn flag(name: &'static str, given: &str) -> Result<bool, Fault> {
    match given.to_ascii_lowercase().as_str() {
        "true" | "t" | "1" | "yes" | "y" | "on" => Ok(true),
        "false" | "f" | "0" | "no" | "n" | "off" => Ok(false),
        _ => Err(Fault::new(name, "bool_parsing", "Input should be a valid boolean, true or false")),
    }
}

/// An instant as RFC 3339 writes it; without an offset it is UTC (`decisions.md`, "Time"). A `+` that came through
/// unencoded, and so arrived as a space, still counts as the offset's sign.
///
/// # Errors
/// `datetime_parsing`
pub fn instant(name: &'static str, given: &str) -> Result<Timestamp, Fault> {
    rfc_3339(given.trim().as_bytes()).ok_or_else(|| {
        let message = "Input should be a valid RFC 3339 date and time, such as 2026-01-31T23:59:59Z";
        Fault::new(name, "datetime_parsing", message)
            .with("error", "not of the form YYYY-MM-DDThh:mm:ss[.fff][Z|±hh:mm]")
    })
}

const MICROS_PER_SECOND: i64 = 1_000_000;
const MICROS_DIGITS: usize = 6;

fn rfc_3339(text: &[u8]) -> Option<Timestamp> {
    let (date, rest) = text.split_at_checked(10)?;
    let [b'T' | b't' | b' ', h1, h2, b':', m1, m2, b':', s1, s2, rest @ ..] = rest else {
        return None;
    };
    let (hour, minute, second) = (digits(&[*h1, *h2])?, digits(&[*m1, *m2])?, digits(&[*s1, *s2])?);
    // 60 is a leap second: the first instant of the next minute.
    if hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let (micros, rest) = fraction(rest)?;
    let midnight = full_date(date)?.to_zoned(TimeZone::UTC).ok()?.timestamp().as_second();
    let seconds = midnight + hour * 3_600 + minute * 60 + second - offset_seconds(rest)?;
    Some(Timestamp(seconds.checked_mul(MICROS_PER_SECOND)? + micros))
}

/// The fraction of a second in microseconds, cut, and what follows it.
fn fraction(text: &[u8]) -> Option<(i64, &[u8])> {
    let [b'.', rest @ ..] = text else {
        return Some((0, text));
    };
    let count = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    if count == 0 {
        return None;
    }
    let mut padded = [b'0'; MICROS_DIGITS];
    for (to, from) in padded.iter_mut().zip(&rest[..count]) {
        *to = *from;
    }
    Some((digits(&padded)?, &rest[count..]))
}

fn offset_seconds(text: &[u8]) -> Option<i64> {
    let [sign, h1, h2, b':', m1, m2] = text else {
        return matches!(text, [] | [b'Z' | b'z']).then_some(0);
    };
    let (hours, minutes) = (digits(&[*h1, *h2])?, digits(&[*m1, *m2])?);
    if hours > 23 || minutes > 59 {
        return None;
    }
    match sign {
        b'+' | b' ' => Some(hours * 3_600 + minutes * 60),
        b'-' => Some(-(hours * 3_600 + minutes * 60)),
        _ => None,
    }
}
