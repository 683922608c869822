//! Decodes the query string (`application/x-www-form-urlencoded`) strictly.
//!
//! A requested name may occur only once, so that two readers cannot see different values. Unknown
//! names are ignored unless they resemble a known one: a misspelt filter would silently return too
//! much.

use domain::characters::is_blank;
use domain::fault::Fault;
use domain::time::Timestamp;

use super::misspelt::is_misspelt;
use super::shape::{digits, full_date};
use super::{Place, Rejection, missing};

/// Maximum number of pairs in a query string: the interfaces have ten names and nine values of
/// `status`.
const PAIRS_MAX: usize = 128;
/// Maximum length of an unknown name in a message.
const SHOWN_CHARS: usize = 64;

/// The pairs of a query string and the errors found so far.
#[derive(Debug, Default)]
pub struct Query {
    /// Name and value; no value if it is not percent-encoded UTF-8.
    pairs: Vec<(String, Option<String>)>,
    /// Whether there were too many pairs.
    overfull: bool,
    /// The names requested so far, and whether each is a list.
    known: Vec<(&'static str, bool)>,
    faults: Vec<Fault>,
}

impl Query {
    /// Parses a raw query string.
    pub fn of(raw: Option<&str>) -> Query {
        let split = |pair: &str| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            Some((percent_decoded(name)?, percent_decoded(value)))
        };
        let mut pairs = raw.unwrap_or("").split('&').filter(|pair| !pair.is_empty());
        let taken = pairs.by_ref().take(PAIRS_MAX).filter_map(split).collect();
        Query { pairs: taken, overfull: pairs.next().is_some(), ..Query::default() }
    }

    /// The value of a required parameter.
    pub fn required<T>(
        &mut self,
        name: &'static str,
        read: impl FnOnce(&'static str, &str) -> Result<T, Fault>,
    ) -> Option<T> {
        if !self.has(name) {
            self.known.push((name, false));
            self.faults.push(missing(name));
            return None;
        }
        self.optional(name, read)
    }

    /// The value of an optional parameter. A blank one counts as absent, as in a body.
    pub fn optional<T>(
        &mut self,
        name: &'static str,
        read: impl FnOnce(&'static str, &str) -> Result<T, Fault>,
    ) -> Option<T> {
        self.known.push((name, false));
        let mut values =
            self.pairs.iter().filter(|(known, _)| known == name).map(|(_, value)| value);
        let first = values.next()?;
        let read = match (first, values.next()) {
            (_, Some(_)) => {
                Err(Fault::new(name, "multiple_values", "Parameter should be given once"))
            }
            (None, None) => Err(not_decodable(name)),
            (Some(value), None) if is_blank(value) => return None,
            // Trimmed as texts in a body are.
            (Some(value), None) => read(name, value.trim()),
        };
        read.map_err(|fault| self.faults.push(fault)).ok()
    }

    /// Same for a position, which a caller has or has not: a blank one is refused, because what is
    /// after the wrong position is lost.
    pub fn position<T>(
        &mut self,
        name: &'static str,
        read: impl FnOnce(&'static str, &str) -> Result<T, Fault>,
    ) -> Option<T> {
        let is_blank_position =
            self.pairs.iter().any(|(known, _)| known == name) && !self.has(name);
        if is_blank_position {
            self.known.push((name, false));
            return read(name, "").map_err(|fault| self.faults.push(fault)).ok();
        }
        self.optional(name, read)
    }

    /// All values of a parameter that may be repeated or comma-separated, at most `items_max`. The
    /// item names of PHP and JavaScript (`status[]`, `status[0]`) are accepted too.
    pub fn list<T>(
        &mut self,
        name: &'static str,
        items_max: usize,
        read: impl Fn(&'static str, &str) -> Result<T, Fault>,
    ) -> Vec<T> {
        self.known.push((name, true));
        let given: Vec<&Option<String>> = self
            .pairs
            .iter()
            .filter(|(given, _)| is_item_of(given, name))
            .map(|(_, value)| value)
            .collect();
        let items =
            given.iter().filter_map(|value| value.as_deref()).flat_map(|value| value.split(','));
        let items: Vec<&str> = items.map(str::trim).filter(|item| !item.is_empty()).collect();
        let mut faults = Vec::new();
        if given.iter().any(|value| value.is_none()) {
            faults.push(not_decodable(name));
        }
        if items.len() > items_max {
            let message =
                format!("List should have at most {items_max} items, not {}", items.len());
            faults.push(
                Fault::new(name, "too_long", message)
                    .with("max_length", items_max)
                    .with("actual_length", items.len()),
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
        // One invalid item describes the rule for all.
        self.faults.extend(faults.into_iter().take(1));
        values
    }

    /// Whether a parameter was given with a non-blank value.
    pub fn has(&self, name: &str) -> bool {
        let given = |value: &Option<String>| value.as_deref().is_none_or(|value| !is_blank(value));
        self.pairs.iter().any(|(known, value)| known == name && given(value))
    }

    /// Every pair of percent-encoded UTF-8.
    pub fn into_pairs(self) -> impl Iterator<Item = (String, String)> {
        self.pairs.into_iter().filter_map(|(name, value)| Some((name, value?)))
    }

    fn refuse_unseen(&mut self) {
        if self.overfull {
            let message = format!("Query should have at most {PAIRS_MAX} parameters");
            self.faults.push(Fault::new("", "too_long", message).with("max_length", PAIRS_MAX));
        }
        for (given, _) in &self.pairs {
            let is_known =
                |(name, list): &(&str, bool)| given == name || (*list && is_item_of(given, name));
            if self.known.iter().any(is_known) {
                continue;
            }
            let meant = self.known.iter().filter(|(name, _)| is_misspelt(given, name));
            if let Some((name, _)) = meant.min_by_key(|(name, _)| !given.eq_ignore_ascii_case(name))
            {
                let shown: String = given.chars().take(SHOWN_CHARS).collect();
                let message = format!("Unknown parameter {shown}; did you mean {name}?");
                self.faults.push(Fault::new(name, "extra_forbidden", message).with("given", shown));
            }
        }
    }

    /// Adds an error that the caller found.
    pub fn refuse(&mut self, fault: Fault) {
        self.faults.push(fault);
    }

    /// The value that `build` creates.
    ///
    /// # Errors
    /// Every error, if any; also too many pairs, and unknown names that resemble requested ones.
    pub fn finish<T>(mut self, build: impl FnOnce() -> Option<T>) -> Result<T, Rejection> {
        self.refuse_unseen();
        let faults = self.faults;
        if faults.is_empty()
            && let Some(value) = build()
        {
            return Ok(value);
        }
        Err(Rejection::Faults { place: Place::Query, faults })
    }
}

/// Whether `given` is an item name of the list `name` in PHP (`name[]`) or JavaScript (`name[0]`).
fn is_item_of(given: &str, name: &str) -> bool {
    let Some(rest) = given.strip_prefix(name) else { return false };
    let index = rest.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    rest.is_empty() || index.is_some_and(|index| index.bytes().all(|byte| byte.is_ascii_digit()))
}

fn not_decodable(name: &'static str) -> Fault {
    Fault::new(name, "url_encoding", "Parameter should be percent-encoded UTF-8")
}

/// Decodes `%XX` and `+`; `None` for an invalid escape or invalid UTF-8.
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

/// Parses a boolean as pydantic does in a query: `true`, `1`, `yes`, `on` … in any case.
///
/// # Errors
/// `bool_parsing`
pub fn flag(name: &'static str, given: &str) -> Result<bool, Fault> {
    match given.to_ascii_lowercase().as_str() {
        "true" | "t" | "1" | "yes" | "y" | "on" => Ok(true),
        "false" | "f" | "0" | "no" | "n" | "off" => Ok(false),
        _ => {
            Err(Fault::new(name, "bool_parsing", "Input should be a valid boolean, true or false"))
        }
    }
}

/// Parses an instant as in RFC 3339 and in formats of common clients: without an offset it is UTC,
/// `±hhmm` and `±hh` are offsets too, seconds are optional, a bare date is its midnight in UTC, and
/// anything later than the year 9999 becomes its last instant, anything before the year 0 the first one
/// (`decisions.md`, "Time"). An unencoded `+`, which arrives as a space, still counts as the offset's
/// sign.
///
/// # Errors
/// `datetime_parsing`
pub fn instant(name: &'static str, given: &str) -> Result<Timestamp, Fault> {
    let text = given.trim().as_bytes();
    rfc_3339(text).ok_or_else(|| {
        let message =
            "Input should be a valid RFC 3339 date and time, such as 2026-01-31T23:59:59Z";
        // With valid numbers in their places.
        let numbered: Vec<u8> =
            text.iter().map(|byte| if byte.is_ascii_digit() { b'0' } else { *byte }).collect();
        let is_formed = numbered
            .strip_prefix(b"0000-00-00")
            .is_some_and(|rest| rest.is_empty() || time_of_day(rest).is_some());
        let error = match is_formed {
            true => "no such date or time",
            false => "not of the form YYYY-MM-DD[Thh:mm[:ss[.fff]][Z|±hh:mm]]",
        };
        Fault::new(name, "datetime_parsing", message).with("error", error)
    })
}

const MICROS_PER_SECOND: i64 = 1_000_000;
const MICROS_DIGITS: usize = 6;
const SECONDS_PER_DAY: i64 = 86_400;
/// 9999-12-31T23:59:59.999Z: later instants have no four-digit year.
const LAST_INSTANT: Timestamp = Timestamp(253_402_300_799_999_000);

/// 0000-01-01T00:00:00Z: earlier instants have a sign.
const FIRST_INSTANT: Timestamp = Timestamp(-62_167_219_200_000_000);

fn rfc_3339(text: &[u8]) -> Option<Timestamp> {
    far_away(text).or_else(|| of_four_digits(text))
}

/// The bound of an instant before the year 0 or after 9999, as the greatest and least dates of Java
/// and JavaScript are. A `+` that was not encoded is missing here.
fn far_away(text: &[u8]) -> Option<Timestamp> {
    let (bound, text) = match text {
        [b'-', rest @ ..] => (FIRST_INSTANT, rest),
        [b'+', rest @ ..] => (LAST_INSTANT, rest),
        text => (LAST_INSTANT, text),
    };
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let significant = digits - text.iter().take_while(|byte| **byte == b'0').count().min(digits);
    if digits < 4 || significant == 0 || (significant <= 4 && bound == LAST_INSTANT) {
        return None;
    }
    // Any leap year has every day.
    of_four_digits(&[&b"2000"[..], &text[digits..]].concat()).map(|_| bound)
}

fn of_four_digits(text: &[u8]) -> Option<Timestamp> {
    let (date, rest) = text.split_at_checked(10)?;
    let midnight = full_date(date)?.duration_since(jiff::civil::date(1970, 1, 1)).as_hours() / 24
        * SECONDS_PER_DAY;
    let (of_day, micros) = if rest.is_empty() { (0, 0) } else { time_of_day(rest)? };
    let instant = Timestamp((midnight + of_day).checked_mul(MICROS_PER_SECOND)? + micros);
    Some(instant.clamp(FIRST_INSTANT, LAST_INSTANT))
}

/// Seconds since midnight in UTC, and microseconds.
fn time_of_day(text: &[u8]) -> Option<(i64, i64)> {
    let [b'T' | b't' | b' ', h1, h2, b':', m1, m2, rest @ ..] = text else {
        return None;
    };
    let (hour, minute) = (digits(&[*h1, *h2])?, digits(&[*m1, *m2])?);
    let (second, (micros, rest)) = match rest {
        [b':', s1, s2, rest @ ..] => (digits(&[*s1, *s2])?, fraction(rest)?),
        rest => (0, (0, rest)),
    };
    // 60 is a leap second: the first instant of the next minute.
    if hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    Some((hour * 3_600 + minute * 60 + second - offset_seconds(rest)?, micros))
}

/// The fraction of a second in microseconds, truncated, and the rest of the text.
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
    let (sign, hours, minutes) = match text {
        [] | [b'Z' | b'z'] => return Some(0),
        [sign, h1, h2] => (sign, [*h1, *h2], [b'0', b'0']),
        [sign, h1, h2, m1, m2] | [sign, h1, h2, b':', m1, m2] => (sign, [*h1, *h2], [*m1, *m2]),
        _ => return None,
    };
    let (hours, minutes) = (digits(&hours)?, digits(&minutes)?);
    if hours > 23 || minutes > 59 {
        return None;
    }
    match sign {
        b'+' | b' ' => Some(hours * 3_600 + minutes * 60),
        b'-' => Some(-(hours * 3_600 + minutes * 60)),
        _ => None,
    }
}
