//! Amounts as text: the shortest exact form with at least two decimals (`decisions.md`, "Amounts").

use domain::coin_amount;
use domain::money::Money;

/// Minimum number of decimals.
const DECIMALS_MIN: usize = 2;

/// Minor units (10^-6) of a token.
pub fn coin(minor: i64) -> String {
    coin_amount::show(minor)
}

/// An amount of any currency.
pub fn money(value: Money) -> String {
    let mut text = value.decimal().to_string();
    let decimals = match text.split_once('.') {
        Some((_, fraction)) => fraction.len(),
        None => {
            text.push('.');
            0
        }
    };
    text.extend(std::iter::repeat_n('0', DECIMALS_MIN.saturating_sub(decimals)));
    text
}

#[cfg(test)]
mod tests {
    use domain::currency::Currency;

    use super::*;

    #[test]
    fn amounts_have_two_decimals_at_least_and_no_more_than_they_need() {
        for (minor, currency, text) in [
            (3_791_205, Currency::Pkr, "37912.05"),
            (3_791_200, Currency::Pkr, "37912.00"),
            (3_791_210, Currency::Pkr, "37912.10"),
            (1, Currency::Usdc, "0.000001"),
            (25_500_000, Currency::Usdt, "25.50"),
            (0, Currency::Usd, "0.00"),
        ] {
            assert_eq!(money(Money::new(minor, currency)), text);
        }
        assert_eq!(coin(25_000_000), "25.00");
    }
}
