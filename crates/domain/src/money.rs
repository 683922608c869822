//! Amounts: an integer number of minor units of one currency.

use std::fmt;

use crate::currency::Currency;
use crate::decimal::Decimal;

/// An amount of money. Minor units are those of [`Currency::minor_units`].
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Money {
    /// Number of minor units.
    pub minor: i64,
    /// Currency of the amount.
    pub currency: Currency,
}

impl Money {
    /// An amount of `minor` units of `currency`.
    pub const fn new(minor: i64, currency: Currency) -> Money {
        Money { minor, currency }
    }

    /// The exact amount of `value`; `None` if it has more decimals than the currency or is out of
    /// range.
    pub fn exact(value: Decimal, currency: Currency) -> Option<Money> {
        value.to_minor(currency.minor_units()).map(|minor| Money { minor, currency })
    }

    /// The amount as a decimal number of major units.
    pub fn decimal(self) -> Decimal {
        Decimal::new(self.minor.into(), self.currency.minor_units())
    }

    /// The sum; `None` for two currencies or beyond 64 bits.
    pub fn checked_add(self, other: Money) -> Option<Money> {
        if self.currency != other.currency {
            return None;
        }
        self.minor.checked_add(other.minor).map(|minor| Money { minor, ..self })
    }
}

impl fmt::Display for Money {
    /// The amount with all decimals of its currency and its code: `37912.05 PKR`.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = self.currency.minor_units() as usize;
        let digits = format!("{:0>width$}", self.minor.unsigned_abs(), width = units + 1);
        let (whole, fraction) = digits.split_at(digits.len() - units);
        let sign = if self.minor < 0 { "-" } else { "" };
        let point = if units == 0 { "" } else { "." };
        write!(out, "{sign}{whole}{point}{fraction} {}", self.currency.code())
    }
}

impl fmt::Debug for Money {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_print_with_the_decimals_of_their_currency() {
        for (minor, currency, printed) in [
            (3_791_205, Currency::Pkr, "37912.05 PKR"),
            (5, Currency::Kwd, "0.005 KWD"),
            (1_000, Currency::Vnd, "1000 VND"),
            (-1, Currency::Usdt, "-0.000001 USDT"),
        ] {
            assert_eq!(Money::new(minor, currency).to_string(), printed);
        }
    }

    #[test]
    fn a_value_with_too_many_decimals_is_not_an_amount() {
        let value = |text: &str| text.parse::<Decimal>().expect("a number");
        assert_eq!(Money::exact(value("1.001"), Currency::Aed), None);
        assert_eq!(
            Money::exact(value("1.001"), Currency::Kwd),
            Some(Money::new(1001, Currency::Kwd))
        );
        assert_eq!(Money::exact(value("0.5"), Currency::Vnd), None);
    }

    #[test]
    fn amounts_of_two_currencies_have_no_sum() {
        assert_eq!(Money::new(1, Currency::Aed).checked_add(Money::new(1, Currency::Eur)), None);
    }
}
