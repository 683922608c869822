//! What is asked for: fixed when the request is made, and compared with what has come.

use super::{Asked, Received};
use crate::currency::{Currency, StableCoin};
use crate::decimal::{Decimal, Rounding};
use crate::fault::Fault;

/// Currencies that a `fiat` amount may be in (`decisions.md`, "Payment request").
pub const FIAT: [Currency; 4] = [Currency::Pkr, Currency::Usd, Currency::Aed, Currency::Sar];

/// `amount` as a request has it; values in millionths of a unit, more than zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AmountAsked {
    /// So much of a coin.
    Crypto(StableCoin, i64),
    /// Coins worth so much of a currency.
    Fiat(Currency, i64),
    /// Whatever comes.
    Flexible,
}

/// Why an amount is not taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AmountRefusal {
    /// It cannot be paid in coins.
    #[error("{0:?}")]
    Invalid(Fault),
    /// There is no rate between the coin and the currency now.
    #[error("no rate from {} to {}", .0.currency().code(), .1.code())]
    NoRate(StableCoin, Currency),
}

impl Asked {
    /// What is asked for, for ever: `mid` gives units of a currency for one coin now; only `fiat` asks it.
    ///
    /// # Errors
    /// [`AmountRefusal`]
    pub fn of(
        amount: AmountAsked,
        mid: impl Fn(StableCoin, Currency) -> Option<Decimal>,
    ) -> Result<Asked, AmountRefusal> {
        let (currency, micros) = match amount {
            AmountAsked::Flexible => return Ok(Asked::Flexible),
            AmountAsked::Crypto(coin, minor) => return Ok(Asked::Crypto { coin, minor }),
            AmountAsked::Fiat(currency, micros) => (currency, micros),
        };
        let coins = |coin| {
            let mid = mid(coin, currency).filter(|mid| mid.is_positive());
            let mid = mid.ok_or(AmountRefusal::NoRate(coin, currency))?;
            // Rounded up: what is asked for is never less than the currency's amount.
            let exact = Decimal::new(micros.into(), 6).checked_div(mid, 6, Rounding::Ceil);
            exact.and_then(|coins| coins.to_minor(6)).filter(|minor| *minor > 0).ok_or_else(|| {
                AmountRefusal::Invalid(Fault::new("amount.value", "amount", "is too large to be paid in coins"))
            })
        };
        Ok(Asked::Fiat { currency, micros, usdc: coins(StableCoin::Usdc)?, usdt: coins(StableCoin::Usdt)? })
    }

    /// `amount.type`
    pub const fn kind(&self) -> &'static str {
        match self {
            Asked::Crypto { .. } => "crypto",
            Asked::Fiat { .. } => "fiat",
            Asked::Flexible => "flexible",
        }
    }

    /// How much of a coin would be enough by itself, in minor units; `None` = it is not asked for, or anything is.
    pub const fn due(&self, coin: StableCoin) -> Option<i64> {
        match (self, coin) {
            (Asked::Crypto { coin: StableCoin::Usdc, minor }, StableCoin::Usdc)
            | (Asked::Crypto { coin: StableCoin::Usdt, minor }, StableCoin::Usdt) => Some(*minor),
            (Asked::Fiat { usdc, .. }, StableCoin::Usdc) => Some(*usdc),
            (Asked::Fiat { usdt, .. }, StableCoin::Usdt) => Some(*usdt),
            (Asked::Crypto { .. } | Asked::Flexible, _) => None,
        }
    }

    /// Whether a coin counts towards what is asked for.
    pub const fn takes(&self, coin: StableCoin) -> bool {
        matches!(self, Asked::Flexible) || self.due(coin).is_some()
    }

    /// How what has come compares with what is asked for. Coins add up by the share of what is due that each is.
    pub fn compare(&self, received: &Received) -> Paid {
        let (usdc, usdt) = (i128::from(received.usdc), i128::from(received.usdt));
        let (have, need) = match self {
            Asked::Crypto { coin: StableCoin::Usdc, minor } => (usdc, i128::from(*minor)),
            Asked::Crypto { coin: StableCoin::Usdt, minor } => (usdt, i128::from(*minor)),
            Asked::Fiat { usdc: due_usdc, usdt: due_usdt, .. } => {
                let (due_usdc, due_usdt) = (i128::from(*due_usdc), i128::from(*due_usdt));
                (usdc * due_usdt + usdt * due_usdc, due_usdc * due_usdt)
            }
            // The first payment is what was asked for, whatever it is.
            Asked::Flexible => return if usdc + usdt > 0 { Paid::InFull } else { Paid::Nothing },
        };
        match have.cmp(&need) {
            _ if have == 0 => Paid::Nothing,
            std::cmp::Ordering::Less => Paid::InPart,
            std::cmp::Ordering::Equal => Paid::InFull,
            std::cmp::Ordering::Greater => Paid::Over,
        }
    }

    /// What is still to come of a coin if only that coin comes; `None` = the coin does not count, or anything does.
    pub fn outstanding(&self, received: &Received, coin: StableCoin) -> Option<i64> {
        let due = self.due(coin)?;
        let (own, other) = match coin {
            StableCoin::Usdc => (received.usdc, (received.usdt, StableCoin::Usdt)),
            StableCoin::Usdt => (received.usdt, (received.usdc, StableCoin::Usdc)),
        };
        let covered = match self.due(other.1) {
            // Rounded down: what is asked for still is never too little.
            Some(other_due) => i128::from(other.0) * i128::from(due) / i128::from(other_due.max(1)),
            None => 0,
        };
        let rest = i128::from(due) - i128::from(own) - covered;
        Some(i64::try_from(rest.max(0)).unwrap_or(due))
    }
}

/// How far something is paid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Paid {
    /// Nothing that counts has come.
    Nothing,
    /// Less than asked for.
    InPart,
    /// Exactly what was asked for.
    InFull,
    /// More than asked for.
    Over,
}

impl Received {
    /// Adds to a coin; negative where it was taken back. `None` beyond 64 bits.
    pub fn checked_add(self, coin: StableCoin, minor: i64) -> Option<Received> {
        let mut sums = self;
        let sum = match coin {
            StableCoin::Usdc => &mut sums.usdc,
            StableCoin::Usdt => &mut sums.usdt,
        };
        *sum = sum.checked_add(minor)?.max(0);
        Some(sums)
    }

    /// How much of a coin.
    pub const fn of(&self, coin: StableCoin) -> i64 {
        match coin {
            StableCoin::Usdc => self.usdc,
            StableCoin::Usdt => self.usdt,
        }
    }
}
