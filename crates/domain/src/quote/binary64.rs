//! Binary floating point emulated with integers, as used by clients that have only `double`. For
//! tests only.
//!
//! The house rules forbid floats even here, and an emulation that matches the output of Python,
//! JavaScript and Java proves more than one machine's floats.

/// A positive IEEE 754 binary64: `mantissa × 2^exponent`, the mantissa of exactly 53 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Binary64 {
    mantissa: u128,
    exponent: i32,
}

const MANTISSA_BITS: u32 = 53;
/// Digits that distinguish every binary64 from its neighbours.
const DIGITS_MAX: u32 = 17;
/// Decimals considered: 53 bits times that power of ten still fits into 128 bits.
const DECIMALS_MAX: i32 = 22;

impl Binary64 {
    /// The double nearest to a decimal number's text, as all languages parse it.
    pub(super) fn parse(text: &str) -> Binary64 {
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        let digits: u128 = format!("{whole}{fraction}").parse().expect("digits");
        nearest(digits, 10_u128.pow(u32::try_from(fraction.len()).expect("short")))
    }

    /// The product, rounded like the processor's.
    pub(super) fn times(self, other: Binary64) -> Binary64 {
        let Binary64 { mantissa, exponent } = nearest(self.mantissa * other.mantissa, 1);
        Binary64 { mantissa, exponent: exponent + self.exponent + other.exponent }
    }

    /// The shortest decimal that parses to this double: the output of `String(x)`, `repr(x)` and
    /// `Double.toString(x)`.
    pub(super) fn shortest(self) -> String {
        let exact = |digits: &u32| {
            let (number, decimals) = self.significant(*digits);
            let back = if decimals >= 0 {
                nearest(number, 10_u128.pow(decimals.unsigned_abs()))
            } else {
                nearest(number * 10_u128.pow(decimals.unsigned_abs()), 1)
            };
            back == self
        };
        self.text(
            (1..=DIGITS_MAX)
                .find(exact)
                .expect("17 digits distinguish every double from its neighbours"),
        )
    }

    /// The value to `digits` significant digits, ties to even.
    pub(super) fn text(self, digits: u32) -> String {
        let (number, decimals) = self.significant(digits);
        let number = number.to_string();
        if decimals <= 0 {
            return format!("{number}{}", "0".repeat(decimals.unsigned_abs() as usize));
        }
        let decimals = decimals.unsigned_abs() as usize;
        let padded = format!("{number:0>width$}", width = decimals + 1);
        let (whole, fraction) = padded.split_at(padded.len() - decimals);
        format!("{whole}.{fraction}")
    }

    /// An integer of `digits` digits, and how many of them are decimals. Valid for values with that
    /// many within 22 decimals.
    fn significant(self, digits: u32) -> (u128, i32) {
        let digits = i32::try_from(digits).expect("few");
        // From above: fewer decimals than the first digit needs would round it up.
        let mut decimals = DECIMALS_MAX;
        loop {
            let number = self.rounded(decimals);
            match i32::try_from(number.to_string().len()).expect("few") - digits {
                // Rounding up to the next power of ten yields one digit too many.
                1 if number == 10_u128.pow(digits.unsigned_abs()) => {
                    return (number / 10, decimals - 1);
                }
                0 => return (number, decimals),
                over => decimals -= over,
            }
        }
    }

    /// The value × 10^`decimals` as an integer, ties to even.
    pub(super) fn rounded(self, decimals: i32) -> u128 {
        let (mut numerator, mut denominator) = (self.mantissa, 1_u128);
        let ten = 10_u128.pow(decimals.unsigned_abs());
        if decimals >= 0 {
            numerator *= ten
        } else {
            denominator *= ten
        }
        if self.exponent >= 0 {
            numerator <<= self.exponent
        } else {
            denominator <<= self.exponent.unsigned_abs()
        }
        divided(numerator, denominator)
    }
}

fn nearest(numerator: u128, denominator: u128) -> Binary64 {
    assert!(numerator > 0 && denominator > 0);
    let bits = |value: u128| i64::from(u128::BITS - value.leading_zeros());
    // The quotient has this many bits or one fewer; a shift yields 53 or, once, one too many.
    let mut shift = i64::from(MANTISSA_BITS) + bits(denominator) - bits(numerator);
    let scaled = |shift: i64| {
        let by = u32::try_from(shift.unsigned_abs()).expect("small");
        if shift >= 0 { (numerator << by, denominator) } else { (numerator, denominator << by) }
    };
    let (mut above, mut below) = scaled(shift);
    if above / below >= 1 << MANTISSA_BITS {
        shift -= 1;
        (above, below) = scaled(shift);
    }
    let mantissa = divided(above, below);
    let exponent = i32::try_from(-shift).expect("small");
    match mantissa >> MANTISSA_BITS {
        0 => Binary64 { mantissa, exponent },
        _ => Binary64 { mantissa: mantissa >> 1, exponent: exponent + 1 },
    }
}

fn divided(numerator: u128, denominator: u128) -> u128 {
    let (quotient, rest) = (numerator / denominator, numerator % denominator);
    let up = rest > denominator - rest || (rest == denominator - rest && quotient % 2 == 1);
    quotient + u128::from(up)
}

/// Two numbers and their product as printed by Python 3.11 and Node 20 (and Java 17, which uses an
/// exponent above 10^7).
const PRINTED: [(&str, &str, &str); 14] = [
    ("75.812879708384", "123.45", "9359.100000000006"),
    ("85884.665561370311", "9999.99", "858845796.7670474"),
    ("0.1", "3", "0.30000000000000004"),
    ("1.7976", "0.01", "0.017976000000000002"),
    ("293.450000000001", "0.07", "20.541500000000074"),
    ("0.3", "0.3", "0.09"),
    ("36241.103", "7777.77", "281874963.68031"),
    ("3.100000000003", "1234.567", "3827.1577000037037"),
    ("409.299963", "5000.05", "2046520.27999815"),
    ("42446.167279807972", "6469.83", "274619486.45192003"),
    ("6329.902254243635", "8780.12", "55577301.38052963"),
    ("47932.062632597597", "8314.27", "398520110.38432723"),
    ("4915.477110510426", "6852.08", "33681242.39938628"),
    ("31545.605979998169", "6956.07", "219433443.38928586"),
];

#[test]
fn doubles_multiply_and_print_as_in_other_languages() {
    for (a, b, printed) in PRINTED {
        assert_eq!(Binary64::parse(a).times(Binary64::parse(b)).shortest(), printed, "{a} × {b}");
    }
}
