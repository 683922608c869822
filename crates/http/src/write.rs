//! Writes JSON straight into a buffer: no intermediate tree, no binary floats.
//!
//! Exact decimals become JSON numbers in their shortest form, instants RFC 3339 text with
//! milliseconds and `Z`. The output is always well-formed.

use std::fmt::Display;
use std::io::Write as _;

use domain::decimal::Decimal;
use domain::money::Money;
use domain::time::Timestamp;

/// An object document written by `fill`.
///
/// ```
/// let body = http_api::write::object(|out| {
///     out.text("status", "queued");
///     out.object("quote", |quote| quote.number("rate", "75.8241".parse().expect("a number")));
///     out.null("msg");
/// });
/// assert_eq!(body, br#"{"status":"queued","quote":{"rate":75.8241},"msg":null}"#);
/// ```
pub fn object(fill: impl FnOnce(&mut ObjectWriter<'_>)) -> Vec<u8> {
    let mut out = Vec::with_capacity(INITIAL_CAPACITY_BYTES);
    object_into(&mut out, fill);
    out
}

/// An array document written by `fill`.
pub fn array(fill: impl FnOnce(&mut ArrayWriter<'_>)) -> Vec<u8> {
    let mut out = Vec::with_capacity(INITIAL_CAPACITY_BYTES);
    array_into(&mut out, fill);
    out
}

/// Adds an object document to a buffer.
pub fn object_into(out: &mut Vec<u8>, fill: impl FnOnce(&mut ObjectWriter<'_>)) {
    out.push(b'{');
    fill(&mut ObjectWriter { out, empty: true });
    out.push(b'}');
}

fn array_into(out: &mut Vec<u8>, fill: impl FnOnce(&mut ArrayWriter<'_>)) {
    out.push(b'[');
    fill(&mut ArrayWriter { out, empty: true });
    out.push(b']');
}

/// A payment record fits.
const INITIAL_CAPACITY_BYTES: usize = 2_048;

/// Writes the members of one object. Names are the interface's own: ASCII without quotes.
#[derive(Debug)]
pub struct ObjectWriter<'a> {
    out: &'a mut Vec<u8>,
    empty: bool,
}

impl ObjectWriter<'_> {
    pub fn text(&mut self, name: &str, value: &str) {
        write_text(self.name(name), value);
    }

    pub fn text_or_null(&mut self, name: &str, value: Option<&str>) {
        match value {
            Some(value) => self.text(name, value),
            None => self.null(name),
        }
    }

    /// A value whose text is ASCII and needs no escaping: an id, a date, a code.
    pub fn plain(&mut self, name: &str, value: impl Display) {
        write_plain(self.name(name), value);
    }

    /// A plain value, or null.
    pub fn plain_or_null(&mut self, name: &str, value: Option<impl Display>) {
        match value {
            Some(value) => self.plain(name, value),
            None => self.null(name),
        }
    }

    /// An exact number in its shortest form.
    pub fn number(&mut self, name: &str, value: Decimal) {
        write_decimal(self.name(name), value);
    }

    /// An exact number, or null.
    pub fn number_or_null(&mut self, name: &str, value: Option<Decimal>) {
        match value {
            Some(value) => self.number(name, value),
            None => self.null(name),
        }
    }

    /// An amount in major units, as a number in its shortest exact form (`37912.05`).
    pub fn money(&mut self, name: &str, value: Money) {
        self.number(name, value.decimal());
    }

    pub fn integer(&mut self, name: &str, value: i64) {
        write_integer(self.name(name), value);
    }

    /// Writes `true` or `false`.
    pub fn flag(&mut self, name: &str, value: bool) {
        self.name(name).extend_from_slice(if value { b"true" } else { b"false" });
    }

    /// An instant: RFC 3339, UTC, milliseconds.
    pub fn time(&mut self, name: &str, value: Timestamp) {
        write_plain(self.name(name), value);
    }

    /// An instant, or null.
    pub fn time_or_null(&mut self, name: &str, value: Option<Timestamp>) {
        self.plain_or_null(name, value);
    }

    pub fn null(&mut self, name: &str) {
        self.name(name).extend_from_slice(b"null");
    }

    pub fn object(&mut self, name: &str, fill: impl FnOnce(&mut ObjectWriter<'_>)) {
        object_into(self.name(name), fill);
    }

    pub fn array(&mut self, name: &str, fill: impl FnOnce(&mut ArrayWriter<'_>)) {
        array_into(self.name(name), fill);
    }

    /// A document made earlier by this writer, unchanged (an event's stored data).
    pub fn document(&mut self, name: &str, json: &[u8]) {
        self.name(name).extend_from_slice(json);
    }

    fn name(&mut self, name: &str) -> &mut Vec<u8> {
        if !self.empty {
            self.out.push(b',');
        }
        self.empty = false;
        self.out.push(b'"');
        self.out.extend_from_slice(name.as_bytes());
        self.out.extend_from_slice(b"\":");
        self.out
    }
}

/// Writes the items of one array.
#[derive(Debug)]
pub struct ArrayWriter<'a> {
    out: &'a mut Vec<u8>,
    empty: bool,
}

impl ArrayWriter<'_> {
    pub fn text(&mut self, value: &str) {
        write_text(self.item(), value);
    }

    pub fn integer(&mut self, value: i64) {
        write_integer(self.item(), value);
    }

    pub fn object(&mut self, fill: impl FnOnce(&mut ObjectWriter<'_>)) {
        object_into(self.item(), fill);
    }

    /// A document made earlier by this writer, unchanged.
    pub fn document(&mut self, json: &[u8]) {
        self.item().extend_from_slice(json);
    }

    fn item(&mut self) -> &mut Vec<u8> {
        if !self.empty {
            self.out.push(b',');
        }
        self.empty = false;
        self.out
    }
}

fn write_plain(out: &mut Vec<u8>, value: impl Display) {
    out.push(b'"');
    write_display(out, value);
    out.push(b'"');
}

fn write_display(out: &mut Vec<u8>, value: impl Display) {
    // Writing into a Vec fails only if the value's own Display does, and the types used here never
    // fail.
    let written = write!(out, "{value}");
    debug_assert!(written.is_ok());
}

/// Writes `value` in quotes; escapes quotes, backslashes and control characters.
fn write_text(out: &mut Vec<u8>, value: &str) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    out.push(b'"');
    let bytes = value.as_bytes();
    let mut clean_from = 0;
    for (at, byte) in bytes.iter().copied().enumerate() {
        if !matches!(byte, b'"' | b'\\' | 0..=0x1F) {
            continue;
        }
        out.extend_from_slice(&bytes[clean_from..at]);
        clean_from = at + 1;
        match byte {
            b'"' => out.extend_from_slice(b"\\\""),
            b'\\' => out.extend_from_slice(b"\\\\"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            _ => {
                out.extend_from_slice(b"\\u00");
                out.extend([HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]]);
            }
        }
    }
    out.extend_from_slice(&bytes[clean_from..]);
    out.push(b'"');
}

fn write_integer(out: &mut Vec<u8>, value: i64) {
    write_decimal(out, Decimal::from_int(value));
}

/// Digits of the largest mantissa.
const DIGITS_MAX: usize = 40;

fn write_decimal(out: &mut Vec<u8>, value: Decimal) {
    let mut digits = [b'0'; DIGITS_MAX];
    let mut at = DIGITS_MAX;
    let mut rest = value.mantissa().unsigned_abs();
    while rest > 0 {
        at -= 1;
        // Almost every mantissa fits into 64 bits, where division is much faster.
        let digit = match u64::try_from(rest) {
            Ok(small) => {
                rest = u128::from(small / 10);
                small % 10
            }
            Err(_) => {
                let digit = rest % 10;
                rest /= 10;
                u64::try_from(digit).unwrap_or(0)
            }
        };
        digits[at] = b'0' + u8::try_from(digit).unwrap_or(0);
    }
    let decimals = value.decimals() as usize;
    // At least one digit before the point.
    let point = DIGITS_MAX - decimals;
    let from = at.min(point - 1);
    if value.mantissa() < 0 {
        out.push(b'-');
    }
    out.extend_from_slice(&digits[from..point]);
    if decimals > 0 {
        out.push(b'.');
        out.extend_from_slice(&digits[point..]);
    }
}

#[cfg(test)]
mod tests {
    use domain::currency::Currency;
    use proptest::prelude::*;

    use super::*;

    fn text_of(value: &str) -> String {
        let mut out = Vec::new();
        write_text(&mut out, value);
        String::from_utf8(out).expect("UTF-8")
    }

    fn number_of(value: Decimal) -> String {
        let mut out = Vec::new();
        write_decimal(&mut out, value);
        String::from_utf8(out).expect("UTF-8")
    }

    #[test]
    fn every_kind_of_member_is_written() {
        let body = object(|out| {
            out.text("t", "a\"b\\c\n\u{1}<é>");
            out.text_or_null("n", None);
            out.plain("p", 7);
            out.plain_or_null("pn", None::<u8>);
            out.money("m", Money::new(3_791_205, Currency::Pkr));
            out.number_or_null("mn", Some(Money::new(500_000, Currency::Usdt).decimal()));
            out.number_or_null("nn", None);
            out.integer("i", i64::MIN);
            out.flag("f", true);
            out.time("at", Timestamp(1_795_244_268_123_999));
            out.time_or_null("atn", None);
            out.array("a", |items| {
                items.text("x");
                items.integer(0);
                items.object(|_| {});
                items.document(b"[]");
            });
            out.object("o", |inner| inner.document("d", b"{}"));
        });
        let expected = r#"{"t":"a\"b\\c\n\u0001<é>","n":null,"p":"7","pn":null,"m":37912.05,"mn":0.5,"nn":null,"i":-9223372036854775808,"f":true,"at":"2026-11-21T06:57:48.123Z","atn":null,"a":["x",0,{},[]],"o":{"d":{}}}"#;
        assert_eq!(String::from_utf8(body).expect("UTF-8"), expected);
        assert_eq!(array(|_| {}), b"[]");
    }

    #[test]
    fn the_widest_numbers_are_written_whole() {
        assert_eq!(number_of(Decimal::new(i128::MIN, 0)), i128::MIN.to_string());
        assert_eq!(
            number_of(Decimal::new(i128::MAX, 37)),
            "17.0141183460469231731687303715884105727"
        );
        assert_eq!(number_of(Decimal::new(-1, 37)), format!("-0.{}1", "0".repeat(36)));
        assert_eq!(number_of(Decimal::ZERO), "0");
    }

    proptest! {
        #[test]
        fn text_reads_back_as_it_was(value: String) {
            prop_assert_eq!(serde_json::from_str::<String>(&text_of(&value)).expect("JSON"), value.clone());
            let ours = crate::json::parse(text_of(&value).as_bytes()).expect("JSON").as_str().map(str::to_owned);
            prop_assert_eq!(ours, Some(value));
        }

        #[test]
        fn numbers_are_written_as_they_print(mantissa: i128, scale in 0_u32..=37) {
            let value = Decimal::new(mantissa, scale);
            prop_assert_eq!(number_of(value), value.to_string());
        }
    }
}
