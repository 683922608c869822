//! The current rates as one immutable table, and the derivation of rates that no source states. It
//! fetches nothing; the caller judges a rate's age, by `as_of`.

use domain::currency::Currency;
use domain::decimal::{Decimal, Rounding};
use domain::ports::Mid;
use domain::time::Timestamp;

/// Decimals of an inverted or crossed rate; the only rounding is half-even.
pub const DERIVED_DECIMALS: u32 = 12;

const CURRENCIES: usize = Currency::ALL.len();

/// One pair as stated by a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DirectRate {
    /// One unit of this …
    pub base: Currency,
    /// … is worth `mid.rate` units of this.
    pub quote: Currency,
    pub mid: Mid,
}

/// The pairs that sources state directly.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RateTable {
    direct: Box<[Option<Mid>]>,
}

/// One leg of a cross: worth of `base` in `quote` as numerator over denominator, unrounded.
struct Leg {
    numerator: Decimal,
    denominator: Decimal,
    as_of: Timestamp,
}

impl Default for RateTable {
    fn default() -> RateTable {
        RateTable { direct: vec![None; CURRENCIES * CURRENCIES].into_boxed_slice() }
    }
}

impl RateTable {
    /// The stated rate for exactly this pair.
    pub fn direct(&self, base: Currency, quote: Currency) -> Option<Mid> {
        self.direct[place(base, quote)]
    }

    /// Puts a pair in force.
    pub fn set(&mut self, base: Currency, quote: Currency, mid: Mid) {
        self.direct[place(base, quote)] = Some(mid);
    }

    /// Every stated pair, by base and quote in alphabetical order.
    pub fn snapshot(&self) -> Vec<DirectRate> {
        let pairs =
            Currency::ALL.into_iter().flat_map(|base| Currency::ALL.map(|quote| (base, quote)));
        pairs
            .filter_map(|(base, quote)| {
                Some(DirectRate { base, quote, mid: self.direct(base, quote)? })
            })
            .collect()
    }

    /// The time of the newest stated pair.
    pub fn newest(&self) -> Option<Timestamp> {
        self.direct.iter().flatten().map(|mid| mid.as_of).max()
    }

    /// The rate of a pair: as stated; else the inverse of the stated opposite; else crossed over
    /// USD from two legs of either kind. Derived rates are one exact fraction rounded once,
    /// half-even, to [`DERIVED_DECIMALS`]; their time is the older leg's. A currency against itself
    /// is 1, as of the newest rate. `None` if there is no path, if a product exceeds 128 bits, or if a rate rounds to zero at 12
    /// decimals.
    pub fn mid(&self, base: Currency, quote: Currency) -> Option<Mid> {
        if base == quote {
            return Some(Mid { rate: Decimal::ONE, as_of: self.newest()? });
        }
        if let Some(stated) = self.direct(base, quote) {
            return Some(stated);
        }
        let leg = match self.leg(base, quote) {
            Some(leg) => leg,
            None => self.leg(base, Currency::Usd)?.then(self.leg(Currency::Usd, quote)?)?,
        };
        let rate =
            leg.numerator.checked_div(leg.denominator, DERIVED_DECIMALS, Rounding::HalfEven)?;
        rate.is_positive().then_some(Mid { rate, as_of: leg.as_of })
    }

    fn leg(&self, base: Currency, quote: Currency) -> Option<Leg> {
        if let Some(Mid { rate, as_of }) = self.direct(base, quote) {
            return Some(Leg { numerator: rate, denominator: Decimal::ONE, as_of });
        }
        let Mid { rate, as_of } = self.direct(quote, base)?;
        Some(Leg { numerator: Decimal::ONE, denominator: rate, as_of })
    }
}

impl Leg {
    fn then(self, next: Leg) -> Option<Leg> {
        let numerator = self.numerator.checked_mul(next.numerator)?;
        let denominator = self.denominator.checked_mul(next.denominator)?;
        Some(Leg { numerator, denominator, as_of: self.as_of.min(next.as_of) })
    }
}

fn place(base: Currency, quote: Currency) -> usize {
    base as usize * CURRENCIES + quote as usize
}
