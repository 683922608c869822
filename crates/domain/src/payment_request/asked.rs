//! The requested amount: fixed at creation, and compared with the received amounts.

use super::{Asked, Received};
use crate::currency::{Currency, StableCoin};
use crate::decimal::{Decimal, Rounding};
use crate::fault::Fault;

/// Currencies of a `fiat` amount (`decisions.md`, "Payment request").
pub const FIAT: [Currency; 4] = [Currency::Pkr, Currency::Usd, Currency::Aed, Currency::Sar];

/// `amount` of a request; positive values in millionths of a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AmountAsked {
    /// Amount of a stablecoin.
    Crypto(StableCoin, i64),
    /// Stablecoins worth an amount of a currency.
    Fiat(Currency, i64),
    /// Any amount: the first payment completes the request.
    Flexible,
}

/// Reason for refusing an amount.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AmountRefusal {
    /// It cannot be paid in stablecoins.
    #[error("{0}")]
    Invalid(Fault),
    /// There is currently no rate between the stablecoin and the currency.
    #[error("no rate from {} to {}", .0.currency().code(), .1.code())]
    NoRate(StableCoin, Currency),
}

impl Asked {
    /// Fixes the requested amount for good. `has` tells which stablecoins the chain has: another one
    /// cannot be requested, and is no part of a `fiat` amount. `rate` returns units of a currency per
    /// stablecoin now; only `fiat` calls it.
    pub fn of(
        amount: AmountAsked,
        has: impl Fn(StableCoin) -> bool,
        rate: impl Fn(StableCoin, Currency) -> Option<Decimal>,
    ) -> Result<Asked, AmountRefusal> {
        let (currency, micros) = match amount {
            AmountAsked::Flexible => return Ok(Asked::Flexible),
            AmountAsked::Crypto(coin, minor) if has(coin) => {
                return Ok(Asked::Crypto { coin, minor });
            }
            AmountAsked::Crypto(coin, _) => {
                return Err(AmountRefusal::Invalid(coin.not_on_chain("amount.currency")));
            }
            AmountAsked::Fiat(currency, micros) => (currency, micros),
        };
        let coins = |coin| {
            if !has(coin) {
                return Ok(0);
            }
            let rate = rate(coin, currency).filter(|rate| rate.is_positive());
            let rate = rate.ok_or(AmountRefusal::NoRate(coin, currency))?;
            // Rounded up: the due amount is never worth less than the currency's amount.
            let exact = Decimal::new(micros.into(), 6).checked_div(rate, 6, Rounding::Ceil);
            exact.and_then(|coins| coins.to_minor(6)).filter(|minor| *minor > 0).ok_or_else(|| {
                AmountRefusal::Invalid(Fault::new(
                    "amount.value",
                    "invalid_amount",
                    "Input is too large to be paid in stablecoins",
                ))
            })
        };
        Ok(Asked::Fiat {
            currency,
            micros,
            usdc: coins(StableCoin::Usdc)?,
            usdt: coins(StableCoin::Usdt)?,
        })
    }

    /// `amount.type`: `crypto`, `fiat` or `flexible`.
    pub const fn kind(&self) -> &'static str {
        match self {
            Asked::Crypto { .. } => "crypto",
            Asked::Fiat { .. } => "fiat",
            Asked::Flexible => "flexible",
        }
    }

    /// Minor units of a stablecoin that would be enough alone; `None` if it does not count, or any
    /// amount does.
    pub const fn due(&self, coin: StableCoin) -> Option<i64> {
        match (self, coin) {
            (Asked::Crypto { coin: StableCoin::Usdc, minor }, StableCoin::Usdc)
            | (Asked::Crypto { coin: StableCoin::Usdt, minor }, StableCoin::Usdt) => Some(*minor),
            (Asked::Fiat { usdc: due, .. }, StableCoin::Usdc)
            | (Asked::Fiat { usdt: due, .. }, StableCoin::Usdt)
                if *due > 0 =>
            {
                Some(*due)
            }
            (Asked::Crypto { .. } | Asked::Fiat { .. } | Asked::Flexible, _) => None,
        }
    }

    /// Whether a stablecoin counts towards the request.
    pub const fn takes(&self, coin: StableCoin) -> bool {
        matches!(self, Asked::Flexible) || self.due(coin).is_some()
    }

    /// Compares the received amounts with the requested one. Stablecoins add up by their share of
    /// the due amount.
    pub fn compare(&self, received: &Received) -> Paid {
        let (usdc, usdt) = (i128::from(received.usdc), i128::from(received.usdt));
        let (have, need) = match self {
            Asked::Crypto { coin: StableCoin::Usdc, minor } => (usdc, i128::from(*minor)),
            Asked::Crypto { coin: StableCoin::Usdt, minor } => (usdt, i128::from(*minor)),
            Asked::Fiat { usdc: due, usdt: 0, .. } => (usdc, i128::from(*due)),
            Asked::Fiat { usdc: 0, usdt: due, .. } => (usdt, i128::from(*due)),
            Asked::Fiat { usdc: due_usdc, usdt: due_usdt, .. } => {
                let (due_usdc, due_usdt) = (i128::from(*due_usdc), i128::from(*due_usdt));
                (usdc * due_usdt + usdt * due_usdc, due_usdc * due_usdt)
            }
            // Any first payment completes a flexible request.
            Asked::Flexible => return if usdc + usdt > 0 { Paid::InFull } else { Paid::Nothing },
        };
        match have.cmp(&need) {
            _ if have == 0 => Paid::Nothing,
            std::cmp::Ordering::Less => Paid::InPart,
            std::cmp::Ordering::Equal => Paid::InFull,
            std::cmp::Ordering::Greater => Paid::Over,
        }
    }

    /// The outstanding amount if only this stablecoin is paid; `None` if it does not count, or any
    /// amount does.
    pub fn outstanding(&self, received: &Received, coin: StableCoin) -> Option<i64> {
        let due = self.due(coin)?;
        let (own, other) = match coin {
            StableCoin::Usdc => (received.usdc, (received.usdt, StableCoin::Usdt)),
            StableCoin::Usdt => (received.usdt, (received.usdc, StableCoin::Usdc)),
        };
        let covered = match self.due(other.1) {
            // Rounded down: the outstanding amount is never too low.
            Some(other_due) => i128::from(other.0) * i128::from(due) / i128::from(other_due.max(1)),
            None => 0,
        };
        let rest = i128::from(due) - i128::from(own) - covered;
        Some(i64::try_from(rest.max(0)).unwrap_or(due))
    }
}

/// The received amounts, compared with the requested one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Paid {
    /// Nothing that counts has been paid.
    Nothing,
    /// Something that counts has been paid, but less than requested.
    InPart,
    /// Exactly the requested amount.
    InFull,
    /// More than requested; never for a flexible request.
    Over,
}

impl Received {
    /// Adds an amount of a stablecoin; negative for a reversal. `None` beyond 64 bits.
    pub fn checked_add(self, coin: StableCoin, minor: i64) -> Option<Received> {
        let mut sums = self;
        let sum = match coin {
            StableCoin::Usdc => &mut sums.usdc,
            StableCoin::Usdt => &mut sums.usdt,
        };
        *sum = sum.checked_add(minor)?.max(0);
        Some(sums)
    }

    /// Amount of a stablecoin.
    pub const fn of(&self, coin: StableCoin) -> i64 {
        match coin {
            StableCoin::Usdc => self.usdc,
            StableCoin::Usdt => self.usdt,
        }
    }
}
