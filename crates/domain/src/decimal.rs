//! Exact decimal numbers for rates, and for parsing and printing amounts.
//!
//! A value is `mantissa × 10^-scale` in 128 bits. Every operation is exact or returns `None`:
//! nothing is rounded unless the caller specifies digits and direction.

use std::cmp::Ordering;
use std::fmt;

/// An exact decimal number, kept in its shortest form (no trailing zeros after the point).
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Decimal {
    mantissa: i128,
    scale: u32,
}

/// Direction of a division or a rounding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounding {
    /// Towards minus infinity: never more than the exact value.
    Floor,
    /// Towards plus infinity: never less than the exact value.
    Ceil,
    /// To the nearest, ties to the even digit.
    HalfEven,
}

/// Reason why a text does not parse.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecimalError {
    /// Not in the form of a JSON number.
    #[error("is not a decimal number")]
    Malformed,
    /// More digits than are kept exactly.
    #[error(
        "has more than {} significant digits, {} decimals or an exponent beyond {}",
        Decimal::MAX_DIGITS,
        Decimal::MAX_DECIMALS,
        Decimal::MAX_EXPONENT
    )]
    OutOfRange,
    /// More digits than [`Decimal::parse_rounded`] accepts.
    #[error(
        "has more than {} significant digits or {} decimals, or is too large",
        Decimal::ROUNDED_MAX_DIGITS,
        Decimal::ROUNDED_MAX_DECIMALS
    )]
    OutOfRoundedRange,
}

const MAX_SCALE: u32 = 37;

impl Decimal {
    /// Maximum significant digits of [`Decimal::parse`].
    pub const MAX_DIGITS: usize = 20;
    /// Maximum decimals of [`Decimal::parse`].
    pub const MAX_DECIMALS: u32 = 12;
    /// Maximum magnitude of an exponent of [`Decimal::parse`].
    pub const MAX_EXPONENT: i32 = 20;
    /// Maximum significant digits of [`Decimal::parse_rounded`].
    pub const ROUNDED_MAX_DIGITS: usize = 40;
    /// Maximum decimals of [`Decimal::parse_rounded`].
    pub const ROUNDED_MAX_DECIMALS: i32 = 30;

    /// The number 0, with mantissa and scale 0.
    pub const ZERO: Decimal = Decimal { mantissa: 0, scale: 0 };
    /// The number 1, with scale 0.
    pub const ONE: Decimal = Decimal { mantissa: 1, scale: 0 };

    /// `mantissa × 10^-scale`; `scale` at most 37.
    pub const fn new(mantissa: i128, scale: u32) -> Decimal {
        assert!(scale <= MAX_SCALE);
        let (mut mantissa, mut scale) = (mantissa, scale);
        while scale > 0 && mantissa % 10 == 0 {
            mantissa /= 10;
            scale -= 1;
        }
        Decimal { mantissa, scale }
    }

    /// The integer `value`, with scale 0.
    pub const fn from_int(value: i64) -> Decimal {
        Decimal { mantissa: value as i128, scale: 0 }
    }

    /// Parses a JSON number (or the same text from elsewhere) within the API's bounds: at most 20
    /// significant digits, 12 decimals and an exponent of ±20 (`decisions.md`, "Body").
    pub fn parse(text: &str) -> Result<Decimal, DecimalError> {
        let Notation { negative, whole, fraction, exponent } =
            Notation::of(text, DecimalError::OutOfRange)?;
        Self::assemble(negative, whole, fraction, exponent)
    }

    /// Reads the output of `Display`, whatever its number of digits; [`Decimal::parse`] has a limit.
    pub fn parse_exact(text: &str) -> Option<Decimal> {
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        let scale = u32::try_from(fraction.len()).ok().filter(|scale| *scale <= MAX_SCALE)?;
        if fraction.bytes().any(|byte| !byte.is_ascii_digit()) {
            return None;
        }
        Some(Decimal::new(format!("{whole}{fraction}").parse().ok()?, scale))
    }

    /// Parses a JSON number and rounds it half-even to `decimals` digits, at most 12, after the
    /// point. The text may have 40 significant digits and 30 decimals (without trailing zeros) in
    /// any notation: a client may send the product of a rate and an amount exactly as its own
    /// arithmetic prints it.
    pub fn parse_rounded(text: &str, decimals: u32) -> Result<Decimal, DecimalError> {
        let Notation { negative, whole, fraction, exponent } =
            Notation::of(text, DecimalError::OutOfRoundedRange)?;
        let all: Vec<u8> =
            whole.bytes().chain(fraction.bytes()).map(|digit| digit - b'0').collect();
        let Some(first) = all.iter().position(|digit| *digit != 0) else {
            return Ok(Decimal::ZERO);
        };
        let last = all.iter().rposition(|digit| *digit != 0).unwrap_or(first);
        let digits = &all[first..=last];
        // The value is 0.DIGITS × 10^point.
        let count = |length: usize| i64::try_from(length).unwrap_or(i64::MAX);
        let point = count(whole.len()) - count(first) + i64::from(exponent);
        let too_long = digits.len() > Self::ROUNDED_MAX_DIGITS;
        let too_fine = count(digits.len()) - point > i64::from(Self::ROUNDED_MAX_DECIMALS);
        if too_long || too_fine || decimals > Self::MAX_DECIMALS {
            return Err(DecimalError::OutOfRoundedRange);
        }
        let kept = point + i64::from(decimals);
        let mantissa = round_digits(digits, kept).ok_or(DecimalError::OutOfRoundedRange)?;
        Ok(Decimal::new(if negative { -mantissa } else { mantissa }, decimals))
    }

    fn assemble(
        negative: bool,
        whole: &str,
        fraction: &str,
        exponent: i32,
    ) -> Result<Decimal, DecimalError> {
        let is_long = whole.len() + fraction.len() > Self::MAX_DIGITS;
        let fraction = if is_long { fraction.trim_end_matches('0') } else { fraction };
        let significant = whole.len() + fraction.len();
        let leading = whole.bytes().chain(fraction.bytes()).take_while(|b| *b == b'0').count();
        if significant - leading.min(significant) > Self::MAX_DIGITS
            || exponent.abs() > Self::MAX_EXPONENT
        {
            return Err(DecimalError::OutOfRange);
        }
        let mut mantissa: i128 = 0;
        for digit in whole.bytes().chain(fraction.bytes()) {
            mantissa = mantissa * 10 + i128::from(digit - b'0');
        }
        let fraction_len = i32::try_from(fraction.len()).map_err(|_| DecimalError::OutOfRange)?;
        let signed = if negative { -mantissa } else { mantissa };
        let value = match fraction_len - exponent {
            scale if scale > MAX_SCALE as i32 => return Err(DecimalError::OutOfRange),
            scale if scale >= 0 => Decimal::new(signed, scale.unsigned_abs()),
            scale => {
                let factor = pow10(scale.unsigned_abs()).ok_or(DecimalError::OutOfRange)?;
                Decimal::new(signed.checked_mul(factor).ok_or(DecimalError::OutOfRange)?, 0)
            }
        };
        if value.scale > Self::MAX_DECIMALS {
            return Err(DecimalError::OutOfRange);
        }
        Ok(value)
    }

    /// Number of decimals in the shortest exact form.
    pub const fn decimals(self) -> u32 {
        self.scale
    }

    /// The digits without the point: the value is `mantissa() × 10^-decimals()`.
    pub const fn mantissa(self) -> i128 {
        self.mantissa
    }

    /// Whether the value is zero.
    pub const fn is_zero(self) -> bool {
        self.mantissa == 0
    }

    /// Whether the value is greater than zero.
    pub const fn is_positive(self) -> bool {
        self.mantissa > 0
    }

    /// The exact sum, or `None` beyond 128 bits.
    pub fn checked_add(self, other: Decimal) -> Option<Decimal> {
        let (a, b, scale) = self.aligned(other)?;
        Some(Decimal::new(a.checked_add(b)?, scale))
    }

    /// The exact difference, or `None` beyond 128 bits.
    pub fn checked_sub(self, other: Decimal) -> Option<Decimal> {
        let (a, b, scale) = self.aligned(other)?;
        Some(Decimal::new(a.checked_sub(b)?, scale))
    }

    /// The exact product, or `None` beyond 128 bits or 37 decimals.
    pub fn checked_mul(self, other: Decimal) -> Option<Decimal> {
        let scale = self.scale + other.scale;
        if scale > MAX_SCALE {
            return None;
        }
        Some(Decimal::new(self.mantissa.checked_mul(other.mantissa)?, scale))
    }

    /// The quotient to `decimals` digits after the point, or `None` beyond 128 bits or for a
    /// divisor of zero.
    pub fn checked_div(
        self,
        divisor: Decimal,
        decimals: u32,
        rounding: Rounding,
    ) -> Option<Decimal> {
        if decimals > MAX_SCALE {
            return None;
        }
        let up = decimals + divisor.scale;
        let (numerator, denominator) = if up >= self.scale {
            (self.mantissa.checked_mul(pow10(up - self.scale)?)?, divisor.mantissa)
        } else {
            (self.mantissa, divisor.mantissa.checked_mul(pow10(self.scale - up)?)?)
        };
        Some(Decimal::new(div_rounded(numerator, denominator, rounding)?, decimals))
    }

    /// The value rounded to `decimals` digits after the point.
    pub fn round(self, decimals: u32, rounding: Rounding) -> Decimal {
        if self.scale <= decimals {
            return self;
        }
        let divisor = pow10(self.scale - decimals).unwrap_or(i128::MAX);
        let mantissa = div_rounded(self.mantissa, divisor, rounding).unwrap_or(0);
        Decimal::new(mantissa, decimals)
    }

    /// The value as an integer number of `10^-decimals` units, if it is one and fits.
    pub fn to_minor(self, decimals: u32) -> Option<i64> {
        if self.scale > decimals {
            return None;
        }
        i64::try_from(self.mantissa.checked_mul(pow10(decimals - self.scale)?)?).ok()
    }

    fn aligned(self, other: Decimal) -> Option<(i128, i128, u32)> {
        let scale = self.scale.max(other.scale);
        let lift = |value: Decimal| value.mantissa.checked_mul(pow10(scale - value.scale)?);
        Some((lift(self)?, lift(other)?, scale))
    }

    fn floor(self) -> i128 {
        self.mantissa.div_euclid(pow10(self.scale).unwrap_or(i128::MAX))
    }
}

/// The parts of a JSON number's text.
struct Notation<'a> {
    negative: bool,
    whole: &'a str,
    fraction: &'a str,
    exponent: i32,
}

impl Notation<'_> {
    /// `beyond` is the error for an exponent beyond every bound.
    fn of(text: &str, beyond: DecimalError) -> Result<Notation<'_>, DecimalError> {
        let (negative, rest) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (number, exponent) = match rest.find(['e', 'E']) {
            Some(at) => (&rest[..at], parse_exponent(&rest[at + 1..], beyond)?),
            None => (rest, 0),
        };
        let (whole, fraction) = match number.split_once('.') {
            Some((_, "")) => return Err(DecimalError::Malformed),
            Some(parts) => parts,
            None => (number, ""),
        };
        let digits_only = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        let leading_zero = whole.len() > 1 && whole.starts_with('0');
        if whole.is_empty() || leading_zero || !digits_only(whole) || !digits_only(fraction) {
            return Err(DecimalError::Malformed);
        }
        Ok(Notation { negative, whole, fraction, exponent })
    }
}

fn parse_exponent(text: &str, beyond: DecimalError) -> Result<i32, DecimalError> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(DecimalError::Malformed);
    }
    text.strip_prefix('+').unwrap_or(text).parse().map_err(|_| beyond)
}

/// The integer written by the first `kept` of `digits` (padded with zeros), rounded half-even by
/// the rest; `None` beyond 128 bits.
fn round_digits(digits: &[u8], kept: i64) -> Option<i128> {
    let Ok(kept) = usize::try_from(kept) else { return Some(0) };
    let (whole, rest) = digits.split_at(kept.min(digits.len()));
    let mut mantissa = 0_i128;
    for digit in whole {
        mantissa = mantissa.checked_mul(10)?.checked_add(i128::from(*digit))?;
    }
    if mantissa != 0 {
        mantissa = mantissa.checked_mul(pow10(u32::try_from(kept - whole.len()).ok()?)?)?;
    }
    let up = match rest {
        [] | [0..=4, ..] => false,
        // The remaining digits end in one that is not zero.
        [5] => mantissa % 2 != 0,
        [_, ..] => true,
    };
    if up { mantissa.checked_add(1) } else { Some(mantissa) }
}

fn pow10(exponent: u32) -> Option<i128> {
    10_i128.checked_pow(exponent)
}

fn div_rounded(numerator: i128, denominator: i128, rounding: Rounding) -> Option<i128> {
    let quotient = numerator.checked_div_euclid(denominator)?;
    let remainder = numerator.checked_rem_euclid(denominator)?;
    // Euclid's quotient is the floor for a positive divisor and the ceiling for a negative one.
    let (floor, rest, size) = if denominator > 0 {
        (quotient, remainder, denominator)
    } else if remainder == 0 {
        (quotient, 0, denominator.checked_neg()?)
    } else {
        (quotient - 1, denominator.checked_neg()? - remainder, denominator.checked_neg()?)
    };
    let up = match rounding {
        Rounding::Floor => false,
        Rounding::Ceil => rest > 0,
        Rounding::HalfEven => match rest.cmp(&(size - rest)) {
            Ordering::Less => false,
            Ordering::Greater => true,
            Ordering::Equal => floor % 2 != 0,
        },
    };
    if up { floor.checked_add(1) } else { Some(floor) }
}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Decimal) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Decimal {
    fn cmp(&self, other: &Decimal) -> Ordering {
        match self.aligned(*other) {
            Some((a, b, _)) => a.cmp(&b),
            // One value is too large for the other's scale: the whole parts differ.
            None => self.floor().cmp(&other.floor()),
        }
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = self.mantissa.unsigned_abs().to_string();
        let scale = self.scale as usize;
        let sign = if self.mantissa < 0 { "-" } else { "" };
        if scale == 0 {
            return write!(out, "{sign}{digits}");
        }
        let padded = format!("{digits:0>width$}", width = scale + 1);
        let (whole, fraction) = padded.split_at(padded.len() - scale);
        write!(out, "{sign}{whole}.{fraction}")
    }
}

impl fmt::Debug for Decimal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, out)
    }
}

impl std::str::FromStr for Decimal {
    type Err = DecimalError;
    fn from_str(text: &str) -> Result<Decimal, DecimalError> {
        Decimal::parse(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn dec(text: &str) -> Decimal {
        text.parse().expect(text)
    }

    #[test]
    fn numbers_parse_exactly_and_print_in_their_shortest_form() {
        for (text, printed) in [
            ("0", "0"),
            ("-0", "0"),
            ("500", "500"),
            ("500.00", "500"),
            ("75.8241", "75.8241"),
            ("1e2", "100"),
            ("1.5E-3", "0.0015"),
            ("12345678901234567890", "12345678901234567890"),
            ("0.000000000001", "0.000000000001"),
            ("-12.50", "-12.5"),
            ("1E+20", "100000000000000000000"),
        ] {
            assert_eq!(dec(text).to_string(), printed, "{text}");
        }
    }

    #[test]
    fn numbers_beyond_the_bounds_of_the_interface_are_refused() {
        use DecimalError::{Malformed, OutOfRange};
        for (text, error) in [
            ("", Malformed),
            ("-", Malformed),
            (".5", Malformed),
            ("5.", Malformed),
            ("01", Malformed),
            ("+1", Malformed),
            ("1e", Malformed),
            ("NaN", Malformed),
            ("1_000", Malformed),
            ("1e21", OutOfRange),
            ("1e-21", OutOfRange),
            ("1e999999999999", OutOfRange),
            ("0.0000000000001", OutOfRange),
            ("123456789012345678901", OutOfRange),
        ] {
            assert_eq!(Decimal::parse(text), Err(error), "{text}");
        }
        let zeros = "0".repeat(30);
        assert_eq!(Decimal::parse(&format!("500.{zeros}")), Decimal::parse("500"));
        assert_eq!(Decimal::parse(&format!("-0.25{zeros}")), Decimal::parse("-0.25"));
        assert_eq!(Decimal::parse(&format!("500{zeros}")), Err(OutOfRange));
    }

    #[test]
    fn numbers_of_any_length_are_rounded_once_and_to_the_even_digit() {
        for (text, rounded) in [
            ("9359.10000000000480", "9359.1"),
            ("9359.100000000004E+0", "9359.1"),
            ("9.35910000000000480e3", "9359.1"),
            ("935910000000000480e-14", "9359.1"),
            ("0.00005", "0"),
            ("0.00015", "0.0002"),
            ("0.000050000000000000000000000001", "0.0001"),
            // To 5 digits first, and then to 4, this would be 0.0002.
            ("0.00014999999999999999999999999", "0.0001"),
            ("-0.00015", "-0.0002"),
            ("0.99995", "1"),
            ("0.000000000000000000000000000001", "0"),
            ("1e-30", "0"),
            ("1e33", "1000000000000000000000000000000000"),
            ("1.5000000000000000000000000000000000000000000000000000", "1.5"),
            ("0.0000000000000000000000000000000000000", "0"),
            ("1234567890123456.789012345678901234567890", "1234567890123456.789"),
        ] {
            let read = Decimal::parse_rounded(text, 4).map(|value| value.to_string());
            assert_eq!(read.as_deref(), Ok(rounded), "{text}");
        }
        for text in [
            "1e-31",
            "1e35",
            "1e999999999999",
            "1e-999999999999",
            "12345678901234567890123456789012345678901",
            "0.1234567890123456789012345678901",
        ] {
            assert_eq!(
                Decimal::parse_rounded(text, 4),
                Err(DecimalError::OutOfRoundedRange),
                "{text}"
            );
        }
        for text in ["", "-", ".5", "5.", "01", "+1", "1e", "NaN", "1_000"] {
            assert_eq!(Decimal::parse_rounded(text, 4), Err(DecimalError::Malformed), "{text}");
        }
    }

    #[test]
    fn a_printed_number_of_any_size_is_read_back() {
        for (mantissa, scale) in
            [(0, 0), (-5, 1), (99_999_999_999_999_123_456_789_012, 12), (i128::MAX / 10, 37)]
        {
            let value = Decimal::new(mantissa, scale);
            assert_eq!(Decimal::parse_exact(&value.to_string()), Some(value));
        }
        for wrong in ["", ".", "1.+2", "1e5", "x", "1.2.3"] {
            assert_eq!(Decimal::parse_exact(wrong), None, "{wrong:?}");
        }
    }

    #[test]
    fn division_rounds_in_the_given_direction() {
        let (one, three) = (dec("1"), dec("3"));
        assert_eq!(one.checked_div(three, 4, Rounding::Floor), Some(dec("0.3333")));
        assert_eq!(one.checked_div(three, 4, Rounding::Ceil), Some(dec("0.3334")));
        assert_eq!(dec("0.5").checked_div(one, 0, Rounding::HalfEven), Some(dec("0")));
        assert_eq!(dec("1.5").checked_div(one, 0, Rounding::HalfEven), Some(dec("2")));
        assert_eq!(dec("-1").checked_div(three, 0, Rounding::Floor), Some(dec("-1")));
        assert_eq!(dec("1").checked_div(dec("-3"), 0, Rounding::Floor), Some(dec("-1")));
        assert_eq!(one.checked_div(Decimal::ZERO, 4, Rounding::Floor), None);
    }

    #[test]
    fn overflow_returns_none() {
        let huge = Decimal::new(i128::MAX, 0);
        assert_eq!(huge.checked_mul(dec("10")), None);
        assert_eq!(huge.checked_add(Decimal::ONE), None);
        assert!(huge > dec("0.000000000001"));
        assert_eq!(huge.to_minor(0), None);
    }

    proptest! {
        #[test]
        fn printed_numbers_parse_back(mantissa in -10_i128.pow(19)..10_i128.pow(19), scale in 0_u32..=12) {
            let value = Decimal::new(mantissa, scale);
            prop_assert_eq!(value.to_string().parse::<Decimal>(), Ok(value));
        }

        #[test]
        fn rounding_while_parsing_equals_rounding_afterwards(
            mantissa in -10_i128.pow(19)..10_i128.pow(19),
            scale in 0_u32..=12,
            decimals in 0_u32..=12,
        ) {
            let value = Decimal::new(mantissa, scale);
            let read = Decimal::parse_rounded(&value.to_string(), decimals);
            prop_assert_eq!(read, Ok(value.round(decimals, Rounding::HalfEven)));
        }

        #[test]
        fn sums_and_products_agree_with_integers(a in -1_000_000_i64..1_000_000, b in -1_000_000_i64..1_000_000) {
            let (x, y) = (Decimal::new(a.into(), 3), Decimal::new(b.into(), 3));
            prop_assert_eq!(x.checked_add(y), Some(Decimal::new(i128::from(a) + i128::from(b), 3)));
            prop_assert_eq!(x.checked_mul(y), Some(Decimal::new(i128::from(a) * i128::from(b), 6)));
            prop_assert_eq!(x.cmp(&y), a.cmp(&b));
        }

        #[test]
        fn a_rounded_quotient_is_within_one_unit(a in 1_i64..1_000_000_000, b in 1_i64..1_000_000) {
            let (x, y) = (Decimal::from_int(a), Decimal::from_int(b));
            let low = x.checked_div(y, 6, Rounding::Floor).expect("fits");
            let high = x.checked_div(y, 6, Rounding::Ceil).expect("fits");
            prop_assert!(low.checked_mul(y).expect("fits") <= x && high.checked_mul(y).expect("fits") >= x);
            prop_assert!(high.checked_sub(low).expect("fits") <= Decimal::new(1, 6));
        }
    }
}
