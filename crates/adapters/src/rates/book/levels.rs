//! What a first rate is compared with: the usual levels of the pairs, which are embedded.

use domain::decimal::{Decimal, Rounding};

use super::super::sandbox::LEVELS;
use super::super::table::{DERIVED_DECIMALS, DirectRate};

/// A first rate is held back if it is this many times the embedded level of its pair, or this fraction
/// of it: a currency moves less in years, a scale or a direction read wrongly moves it further. Levels
/// near 1 are compared with their inverse, see [`is_other_way_round`].
pub const MAX_FIRST_FACTOR: i64 = 5;

/// Whether a rate has another magnitude or direction than its pair usually has.
pub(super) fn is_off_level(rate: &DirectRate) -> bool {
    let Some(level) = LEVELS.mid(rate.base, rate.quote) else { return false };
    is_far(rate.mid.rate, level.rate)
        || is_other_way_round(rate.mid.rate, level.rate).unwrap_or(false)
}

/// Whether a rate is off its usual level, and its inverse is not.
pub(super) fn is_inverted(rate: &DirectRate) -> bool {
    let inverse = || Decimal::ONE.checked_div(rate.mid.rate, DERIVED_DECIMALS, Rounding::HalfEven);
    let level = || LEVELS.mid(rate.base, rate.quote);
    is_off_level(rate)
        && inverse().zip(level()).is_some_and(|(inverse, level)| !is_far(inverse, level.rate))
}

/// Whether one is more than [`MAX_FIRST_FACTOR`] times the other.
fn is_far(one: Decimal, other: Decimal) -> bool {
    let factor = Decimal::from_int(MAX_FIRST_FACTOR);
    let exceeds =
        |one: Decimal, other: Decimal| other.checked_mul(factor).is_some_and(|most| one > most);
    exceeds(one, other) || exceeds(other, one)
}

/// Whether a rate is beyond 1, seen from its usual level, and nearer to the inverse of that than to 1:
/// 1.16 of a pair at 0.86, although that is not 5 times as much. A level within a tenth of 1 says nothing. `None` if
/// a product exceeds 128 bits.
fn is_other_way_round(rate: Decimal, level: Decimal) -> Option<bool> {
    const ABOVE: Decimal = Decimal::new(11, 1);
    const BELOW: Decimal = Decimal::new(9, 1);
    let inverse = Decimal::ONE.checked_div(rate, DERIVED_DECIMALS, Rounding::HalfEven)?;
    let scaled = rate.checked_mul(level)?;
    Some((level > ABOVE && scaled < inverse) || (level < BELOW && scaled > inverse))
}
