//! The shapes of fields with their errors. A shape parses a single JSON value.

use domain::characters::{FORBIDDEN, is_blank, is_forbidden};
use domain::decimal::{Decimal, DecimalError};
use domain::fault::Fault;
use jiff::civil::Date;
use uuid::Uuid;

use crate::json::Value;

/// The required form of a field.
pub trait Shape {
    type Out;

    /// Parses a present value.
    ///
    /// # Errors
    /// The violated rule.
    fn read(&self, field: &'static str, value: &Value<'_>) -> Result<Self::Out, Fault>;

    /// Whether blank text in an optional field is parsed (and refused) rather than treated as
    /// absent: true for fields whose minimum length is part of the specification.
    fn judges_blank(&self) -> bool {
        false
    }
}

/// Text; see [`text`], [`text_between`].
#[derive(Clone, Copy, Debug)]
pub struct Text {
    min_chars: usize,
    max_chars: usize,
    multiline: bool,
}

/// Text of at most `max_chars` characters, trimmed, without control characters and characters that
/// mislead readers ([`is_forbidden`]); invisible text counts as empty.
pub const fn text(max_chars: usize) -> Text {
    Text { min_chars: 0, max_chars, multiline: false }
}

/// Text of at least `min_chars` and at most `max_chars` characters, trimmed, without control
/// characters.
pub const fn text_between(min_chars: usize, max_chars: usize) -> Text {
    Text { min_chars, max_chars, multiline: false }
}

impl Text {
    /// Allows tab and newline (`remarks`, `details`).
    #[must_use]
    pub const fn multiline(self) -> Text {
        Text { multiline: true, ..self }
    }

    /// Parses plain text from a query string or a path.
    ///
    /// # Errors
    /// Too short, too long, or a forbidden character.
    pub fn read_str(&self, field: &'static str, given: &str) -> Result<String, Fault> {
        let trimmed = if is_blank(given) { "" } else { given.trim() };
        let allowed = |c: char| !c.is_control() || (self.multiline && matches!(c, '\t' | '\n'));
        if !trimmed.chars().all(allowed) {
            return Err(Fault::new(
                field,
                "control_character",
                "String should not contain control characters",
            ));
        }
        // A remark may need direction marks; a name, an address or an id does not.
        if !self.multiline && trimmed.chars().any(is_forbidden) {
            let message = format!("String should not contain {FORBIDDEN}");
            return Err(Fault::new(field, "forbidden_character", message));
        }
        let chars = trimmed.chars().count();
        if chars < self.min_chars {
            let message = format!(
                "String should have at least {} character{}",
                self.min_chars,
                plural(self.min_chars)
            );
            return Err(
                Fault::new(field, "string_too_short", message).with("min_length", self.min_chars)
            );
        }
        if chars > self.max_chars {
            let message = format!(
                "String should have at most {} character{}",
                self.max_chars,
                plural(self.max_chars)
            );
            return Err(
                Fault::new(field, "string_too_long", message).with("max_length", self.max_chars)
            );
        }
        Ok(trimmed.to_owned())
    }
}

impl Shape for Text {
    type Out = String;

    fn read(&self, field: &'static str, value: &Value<'_>) -> Result<String, Fault> {
        let text = value
            .as_str()
            .ok_or_else(|| Fault::new(field, "string_type", "Input should be a valid string"))?;
        self.read_str(field, text)
    }

    fn judges_blank(&self) -> bool {
        self.min_chars > 0
    }
}

/// One of a closed set of names; see [`one_of`].
#[derive(Clone, Copy, Debug)]
pub struct OneOf<'a, T> {
    values: &'a [T],
    name: fn(T) -> &'static str,
}

/// One of `values`, in the exact spelling of `name`.
pub const fn one_of<T: Copy>(values: &[T], name: fn(T) -> &'static str) -> OneOf<'_, T> {
    OneOf { values, name }
}

impl<T: Copy> OneOf<'_, T> {
    /// Parses plain text from a query string.
    ///
    /// # Errors
    /// `enum`, with the allowed names.
    pub fn read_str(&self, field: &'static str, given: &str) -> Result<T, Fault> {
        let found = self.values.iter().copied().find(|value| (self.name)(*value) == given);
        found.ok_or_else(|| self.fault(field))
    }

    fn fault(&self, field: &'static str) -> Fault {
        let quoted: Vec<String> =
            self.values.iter().map(|value| format!("'{}'", (self.name)(*value))).collect();
        let expected = match quoted.split_last() {
            Some((last, [])) => last.clone(),
            Some((last, others)) => format!("{} or {last}", others.join(", ")),
            None => String::new(),
        };
        Fault::new(field, "enum", format!("Input should be {expected}")).with("expected", expected)
    }
}

impl<T: Copy> Shape for OneOf<'_, T> {
    type Out = T;

    fn read(&self, field: &'static str, value: &Value<'_>) -> Result<T, Fault> {
        match value.as_str() {
            Some(text) => self.read_str(field, text.trim()),
            None => Err(self.fault(field)),
        }
    }
}

/// An exact JSON number greater than zero within the limits of [`Decimal::parse`]. Text is not
/// accepted.
#[derive(Clone, Copy, Debug)]
pub struct PositiveNumber;

impl Shape for PositiveNumber {
    type Out = Decimal;

    fn read(&self, field: &'static str, value: &Value<'_>) -> Result<Decimal, Fault> {
        let decimal =
            Decimal::parse(number(field, value)?).map_err(|error| number_fault(field, error))?;
        positive(field, decimal)
    }
}

/// A JSON number greater than zero, first rounded half-even to this many decimals, within the
/// limits of [`Decimal::parse_rounded`]. Text is not accepted.
#[derive(Clone, Copy, Debug)]
pub struct RoundedNumber(pub u32);

impl Shape for RoundedNumber {
    type Out = Decimal;

    fn read(&self, field: &'static str, value: &Value<'_>) -> Result<Decimal, Fault> {
        let rounded = Decimal::parse_rounded(number(field, value)?, self.0);
        positive(field, rounded.map_err(|error| number_fault(field, error))?)
    }
}

fn number<'v>(field: &'static str, value: &'v Value<'_>) -> Result<&'v str, Fault> {
    match value {
        Value::Number(number) => Ok(number),
        _ => Err(Fault::new(field, "decimal_type", "Input should be a valid number")),
    }
}

fn positive(field: &'static str, value: Decimal) -> Result<Decimal, Fault> {
    if value.is_positive() {
        return Ok(value);
    }
    Err(Fault::new(field, "greater_than", "Input should be greater than 0").with("gt", 0))
}

fn number_fault(field: &'static str, error: DecimalError) -> Fault {
    let message = format!("Input {error}");
    match error {
        DecimalError::Malformed => Fault::new(field, "decimal_parsing", message),
        DecimalError::OutOfRange => Fault::new(field, "decimal_max_digits", message)
            .with("max_digits", Decimal::MAX_DIGITS)
            .with("decimal_places", Decimal::MAX_DECIMALS),
        DecimalError::OutOfRoundedRange => Fault::new(field, "decimal_max_digits", message)
            .with("max_digits", Decimal::ROUNDED_MAX_DIGITS)
            .with("decimal_places", Decimal::ROUNDED_MAX_DECIMALS),
    }
}

/// A JSON integer from `min` to `max`, inclusive.
#[derive(Clone, Copy, Debug)]
pub struct Integer {
    pub min: i64,
    pub max: i64,
}

impl Integer {
    /// Parses plain text from a query string.
    ///
    /// # Errors
    /// `int_parsing`, `greater_than_equal`, `less_than_equal`.
    pub fn read_str(&self, field: &'static str, given: &str) -> Result<i64, Fault> {
        let digits = given.strip_prefix('-').unwrap_or(given);
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(Fault::new(field, "int_parsing", "Input should be a valid integer"));
        }
        // All digits: a number too large for 64 bits exceeds the maximum anyway.
        let beyond = if given.starts_with('-') { i64::MIN } else { i64::MAX };
        self.bounded(field, given.parse().unwrap_or(beyond))
    }

    fn bounded(&self, field: &'static str, value: i64) -> Result<i64, Fault> {
        let (min, max) = (self.min, self.max);
        if value < min {
            let message = format!("Input should be greater than or equal to {min}");
            return Err(Fault::new(field, "greater_than_equal", message).with("ge", min));
        }
        if value > max {
            let message = format!("Input should be less than or equal to {max}");
            return Err(Fault::new(field, "less_than_equal", message).with("le", max));
        }
        Ok(value)
    }
}

impl Shape for Integer {
    type Out = i64;

    fn read(&self, field: &'static str, value: &Value<'_>) -> Result<i64, Fault> {
        match value {
            // In JSON Schema, 24.0 and 1e2 are integers.
            Value::Number(number) => match Decimal::parse(number) {
                Ok(whole) if whole.decimals() == 0 => self.read_str(field, &whole.to_string()),
                _ => self.read_str(field, number),
            },
            _ => Err(Fault::new(field, "int_type", "Input should be a valid integer")),
        }
    }
}

/// A UUID in its hyphenated form.
#[derive(Clone, Copy, Debug)]
pub struct AnyUuid;

impl AnyUuid {
    /// Parses plain text from a path.
    ///
    /// # Errors
    /// `uuid_parsing`
    pub fn read_str(&self, field: &'static str, given: &str) -> Result<Uuid, Fault> {
        let fault = |error: &str| {
            let message = "Input should be a valid UUID in its hyphenated form";
            Err(Fault::new(field, "uuid_parsing", message).with("error", error))
        };
        if given.len() != UUID_CHARS {
            return fault("not 36 characters");
        }
        Uuid::try_parse(given).or_else(|_| fault("not 8-4-4-4-12 hexadecimal digits"))
    }
}

const UUID_CHARS: usize = 36;

impl Shape for AnyUuid {
    type Out = Uuid;

    fn read(&self, field: &'static str, value: &Value<'_>) -> Result<Uuid, Fault> {
        let text = value
            .as_str()
            .ok_or_else(|| Fault::new(field, "uuid_type", "Input should be a valid UUID"))?;
        self.read_str(field, text.trim())
    }
}

/// A calendar day, `YYYY-MM-DD` (RFC 3339 `full-date`).
#[derive(Clone, Copy, Debug)]
pub struct Day;

impl Shape for Day {
    type Out = Date;

    fn read(&self, field: &'static str, value: &Value<'_>) -> Result<Date, Fault> {
        let text = value
            .as_str()
            .ok_or_else(|| Fault::new(field, "date_type", "Input should be a valid date"))?;
        let text = text.trim().as_bytes();
        full_date(text).ok_or_else(|| {
            let is_formed = text.len() == "YYYY-MM-DD".len()
                && text.iter().enumerate().all(|(at, byte)| match at {
                    4 | 7 => *byte == b'-',
                    _ => byte.is_ascii_digit(),
                });
            let (message, error) = match is_formed {
                true => ("Input should be a date that exists", "no such date"),
                false => (
                    "Input should be a valid date in the form YYYY-MM-DD",
                    "not of the form YYYY-MM-DD",
                ),
            };
            Fault::new(field, "date_parsing", message).with("error", error)
        })
    }
}

/// Parses a date in the form `YYYY-MM-DD`.
pub(super) fn full_date(text: &[u8]) -> Option<Date> {
    let [y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2] = text else {
        return None;
    };
    let year = i16::try_from(digits(&[*y1, *y2, *y3, *y4])?).ok()?;
    let (month, day) =
        (i8::try_from(digits(&[*m1, *m2])?).ok()?, i8::try_from(digits(&[*d1, *d2])?).ok()?);
    Date::new(year, month, day).ok()
}

/// The value of ASCII digits; `None` for anything else.
pub(super) fn digits(text: &[u8]) -> Option<i64> {
    text.iter().try_fold(0_i64, |value, byte| match byte {
        b'0'..=b'9' => value.checked_mul(10)?.checked_add(i64::from(byte - b'0')),
        _ => None,
    })
}

/// Accepts `true` or `false`.
#[derive(Clone, Copy, Debug)]
pub struct Flag;

impl Shape for Flag {
    type Out = bool;

    fn read(&self, field: &'static str, value: &Value<'_>) -> Result<bool, Fault> {
        match value {
            Value::Bool(flag) => Ok(*flag),
            _ => Err(Fault::new(field, "bool_type", "Input should be a valid boolean")),
        }
    }
}

fn plural(count: usize) -> &'static str {
    if count == 1 { "" } else { "s" }
}
