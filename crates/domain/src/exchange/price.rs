//! Price of an exchange: the rate, the spread, and the payout.

use crate::currency::Currency;
use crate::decimal::{Decimal, Rounding};
use crate::money::Money;
use crate::time::{Span, Timestamp};

/// Duration of a rate lock (specification).
pub const LOCK: Span = Span::mins(15);
/// Validity of an unlocked quote.
pub const QUOTE_TTL: Span = Span::secs(60);
/// Permitted movement of an unlocked order's rate until its processing, in basis points.
pub const BAND_BPS: u32 = 100;
const BPS: i64 = 10_000;
/// Greatest amount that a request can state, in minor units of a token.
const AMOUNT_MAX: i64 = 999_999_999_999_999_999;

/// A rate and a spread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Price {
    /// Currency of the payout.
    pub to: Currency,
    /// Units of that currency per token, before the spread.
    pub rate: Decimal,
    /// Corridor's fee as a fraction of the amount.
    pub spread: Decimal,
}

/// A quote (GET exchange-rate).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateQuote {
    /// `rate` before the spread, and `spread` as a fraction.
    pub price: Price,
    /// `estimated_amount`: for the requested amount, else for one token.
    pub estimated: Money,
    /// `valid_until`: [`QUOTE_TTL`] after the quote was made.
    pub valid_until: Timestamp,
}

impl Price {
    /// The price at a mid-market rate.
    pub const fn new(to: Currency, mid: Decimal, spread_bps: u32) -> Price {
        Price { to, rate: mid, spread: Decimal::new(spread_bps as i128, 4) }
    }

    /// Payout: amount × rate × (1 − spread), rounded down to the currency's minor unit. `None` if it
    /// is zero or out of range.
    pub fn payout(&self, minor: i64) -> Option<Money> {
        let amount = Decimal::new(minor.into(), 6);
        let kept = Decimal::ONE.checked_sub(self.spread)?;
        let paid = amount.checked_mul(self.rate)?.checked_mul(kept)?;
        let paid = paid.round(self.to.minor_units(), Rounding::Floor);
        Money::exact(paid, self.to).filter(|paid| paid.minor > 0)
    }

    /// The lowest rate of six decimals at which `minor` units of a token pay out `payout`; `None` if
    /// that is of another currency, or out of range.
    pub fn rate_of(&self, minor: i64, payout: Money) -> Option<Decimal> {
        if payout.currency != self.to {
            return None;
        }
        let kept = Decimal::ONE.checked_sub(self.spread)?;
        let amount = Decimal::new(minor.into(), 6).checked_mul(kept)?;
        let paid = Decimal::new(payout.minor.into(), payout.currency.minor_units());
        let below = paid.checked_div(amount, 6, Rounding::Floor)?;
        let at = Price { rate: below, ..*self };
        let is_enough = at.payout(minor).is_some_and(|it: Money| it.minor >= payout.minor);
        if is_enough { Some(below) } else { below.checked_add(Decimal::new(1, 6)) }
    }

    /// Smallest amount of a token that pays out at least `payout`; `None` beyond what a request can
    /// state.
    pub fn amount_for(&self, payout: Money) -> Option<i64> {
        let pays = |minor| self.payout(minor).is_some_and(|paid: Money| paid.minor >= payout.minor);
        let (mut low, mut high) = (1, AMOUNT_MAX);
        if !pays(high) {
            return None;
        }
        while low < high {
            let middle = low + (high - low) / 2;
            if pays(middle) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        Some(low)
    }

    /// Smallest and greatest amount of a token whose payout is within these limits.
    pub fn amounts_within(&self, (least, most): (Money, Money)) -> Option<(i64, i64)> {
        let beyond = Money::new(most.minor.checked_add(1)?, most.currency);
        let most = self.amount_for(beyond).map_or(AMOUNT_MAX, |beyond| beyond - 1);
        Some((self.amount_for(least)?, most)).filter(|(least, most)| least <= most)
    }

    /// Corridor's fee in minor units of the token, rounded down.
    pub fn fee(&self, minor: i64) -> i64 {
        let fee = Decimal::new(minor.into(), 6).checked_mul(self.spread);
        fee.and_then(|fee| fee.round(6, Rounding::Floor).to_minor(6)).unwrap_or(0)
    }

    /// A quote for `minor` units of a token, or for one token.
    pub fn quote(self, minor: Option<i64>, now: Timestamp) -> Option<RateQuote> {
        const ONE_COIN: i64 = 1_000_000;
        let estimated = self.payout(minor.unwrap_or(ONE_COIN))?;
        Some(RateQuote { price: self, estimated, valid_until: now + QUOTE_TTL })
    }

    /// Whether `now` differs from the rate by more than an unlocked order permits.
    pub fn has_moved_to(&self, now: Decimal) -> bool {
        let apart =
            now.checked_sub(self.rate).and_then(|apart| apart.checked_mul(Decimal::from_int(BPS)));
        let allowed = self.rate.checked_mul(Decimal::from_int(BAND_BPS.into()));
        match (apart, allowed) {
            (Some(apart), Some(allowed)) => {
                let below = Decimal::ZERO.checked_sub(allowed);
                apart > allowed || below.is_none_or(|below| apart < below)
            }
            _ => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bounds_of_an_amount_are_those_of_its_payout() {
        let price = Price::new(Currency::Pkr, Decimal::new(27_850, 2), 50);
        let pkr = |minor| Money::new(minor, Currency::Pkr);
        let (least, most) = price.amounts_within((pkr(100), pkr(50_000_000))).expect("bounds");
        let paid = |minor| price.payout(minor).map(|paid| paid.minor);
        assert!(paid(least) >= Some(100) && paid(least - 1) < Some(100), "{least}");
        assert!(paid(most) <= Some(50_000_000) && paid(most + 1) > Some(50_000_000), "{most}");
        let all = price.amounts_within((pkr(1), pkr(i64::MAX - 1))).expect("bounds");
        assert_eq!(all.1, AMOUNT_MAX);
        assert_eq!(price.amounts_within((pkr(i64::MAX - 1), pkr(i64::MAX - 1))), None);
    }
}
