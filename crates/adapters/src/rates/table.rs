//! Rates as sources state them, and the derivation of rates that no source states. It fetches
//! nothing and judges no age.

use domain::currency::Currency;
use domain::decimal::{Decimal, Rounding};
use domain::ports::Mid;
use domain::time::Timestamp;

/// Decimals of an inverted or crossed rate; the only rounding is half-even.
pub const DERIVED_DECIMALS: u32 = 12;

const CURRENCIES: usize = Currency::ALL.len();

/// The currencies over which a rate that no source states is crossed, in order of preference: most
/// publications state rates of the dollar or of the euro.
const CROSSES: [&[Currency]; 5] = [
    &[],
    &[Currency::Usd],
    &[Currency::Eur],
    &[Currency::Eur, Currency::Usd],
    &[Currency::Usd, Currency::Eur],
];

/// One pair as stated by a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DirectRate {
    /// One unit of this …
    pub base: Currency,
    /// … is worth `mid.rate` units of this.
    pub quote: Currency,
    pub mid: Mid,
    /// What the market pays for one unit of `base`; the mid rate where the source states none.
    pub bid: Decimal,
    /// What the market takes for one unit of `base`; the mid rate where the source states none.
    pub ask: Decimal,
}

impl DirectRate {
    /// A rate without bid and ask.
    pub fn at_mid(base: Currency, quote: Currency, mid: Mid) -> DirectRate {
        DirectRate { base, quote, mid, bid: mid.rate, ask: mid.rate }
    }

    pub fn pair(&self) -> (Currency, Currency) {
        (self.base, self.quote)
    }
}

/// Which of a rate's values counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Mid,
    /// That of a customer who pays the first currency.
    Bid,
}

/// The pairs that a source states.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RateTable {
    direct: Box<[Option<DirectRate>]>,
}

/// One leg of a cross: worth of one currency in another as numerator over denominator, unrounded.
#[derive(Clone, Copy, Debug)]
pub(super) struct Leg {
    numerator: Decimal,
    denominator: Decimal,
    as_of: Timestamp,
    is_weekend: bool,
    is_stated: bool,
}

/// A rate stated or derived.
#[derive(Clone, Copy, Debug)]
pub(super) struct Derived {
    pub(super) mid: Mid,
    pub(super) is_weekend: bool,
}

impl Default for RateTable {
    fn default() -> RateTable {
        RateTable { direct: vec![None; CURRENCIES * CURRENCIES].into_boxed_slice() }
    }
}

impl RateTable {
    /// The stated rate for exactly this pair.
    pub fn direct(&self, base: Currency, quote: Currency) -> Option<DirectRate> {
        self.direct[place(base, quote)]
    }

    /// Puts a pair in force.
    pub fn set(&mut self, rate: DirectRate) {
        self.direct[place(rate.base, rate.quote)] = Some(rate);
    }

    /// Every stated pair, by base and quote in alphabetical order.
    pub fn snapshot(&self) -> Vec<DirectRate> {
        self.direct.iter().flatten().copied().collect()
    }

    /// The time of the newest stated pair.
    pub fn newest(&self) -> Option<Timestamp> {
        self.direct.iter().flatten().map(|rate| rate.mid.as_of).max()
    }

    /// The mid rate of a pair: as stated, else [`derived`]. A currency against itself is 1, as of
    /// the newest rate.
    pub fn mid(&self, base: Currency, quote: Currency) -> Option<Mid> {
        if base == quote {
            return Some(Mid { rate: Decimal::ONE, as_of: self.newest()? });
        }
        let leg = |base, quote| leg(self, (base, quote), Side::Mid, |_| Some(false));
        derived(base, quote, leg).map(|derived| derived.mid)
    }
}

impl Leg {
    fn stated(rate: &DirectRate, side: Side) -> Leg {
        let numerator = if side == Side::Mid { rate.mid.rate } else { rate.bid };
        let as_of = rate.mid.as_of;
        Leg { numerator, denominator: Decimal::ONE, as_of, is_weekend: false, is_stated: true }
    }

    /// A customer who pays the second currency of a pair buys the first, at the ask.
    fn inverse(rate: &DirectRate, side: Side) -> Leg {
        let denominator = if side == Side::Mid { rate.mid.rate } else { rate.ask };
        let as_of = rate.mid.as_of;
        Leg { numerator: Decimal::ONE, denominator, as_of, is_weekend: false, is_stated: false }
    }

    fn followed_by(self, next: Leg) -> Option<Leg> {
        Some(Leg {
            numerator: self.numerator.checked_mul(next.numerator)?,
            denominator: self.denominator.checked_mul(next.denominator)?,
            as_of: self.as_of.min(next.as_of),
            is_weekend: self.is_weekend || next.is_weekend,
            is_stated: false,
        })
    }
}

/// The rate of a pair from its legs: stated, inverted, or crossed over [`CROSSES`]. It is one exact
/// fraction rounded once, half-even, to [`DERIVED_DECIMALS`]; its time is the oldest leg's. `None` if
/// there is no path, if a product exceeds 128 bits, or if a rate rounds to zero at 12 decimals.
pub(super) fn derived(
    base: Currency,
    quote: Currency,
    leg: impl Fn(Currency, Currency) -> Option<Leg>,
) -> Option<Derived> {
    let path = |over: &&[Currency]| {
        let mut at = base;
        let mut path: Option<Leg> = None;
        for next in over.iter().copied().chain([quote]) {
            let step = leg(at, next)?;
            path = Some(match path {
                Some(path) => path.followed_by(step)?,
                None => step,
            });
            at = next;
        }
        path
    };
    let leg = CROSSES.iter().find_map(path)?;
    let rate = match leg.is_stated {
        true => leg.numerator,
        false => {
            leg.numerator.checked_div(leg.denominator, DERIVED_DECIMALS, Rounding::HalfEven)?
        }
    };
    let mid = Mid { rate, as_of: leg.as_of };
    rate.is_positive().then_some(Derived { mid, is_weekend: leg.is_weekend })
}

/// The leg of a pair in a table: the stated rate, or the inverse of the stated opposite, if it is picked;
/// with whether its source rests.
pub(super) fn leg(
    table: &RateTable,
    (base, quote): (Currency, Currency),
    side: Side,
    pick: impl Fn(&DirectRate) -> Option<bool>,
) -> Option<Leg> {
    let stated = table
        .direct(base, quote)
        .and_then(|rate| Some(Leg { is_weekend: pick(&rate)?, ..Leg::stated(&rate, side) }));
    stated.or_else(|| {
        let rate = table.direct(quote, base)?;
        Some(Leg { is_weekend: pick(&rate)?, ..Leg::inverse(&rate, side) })
    })
}

fn place(base: Currency, quote: Currency) -> usize {
    base as usize * CURRENCIES + quote as usize
}
