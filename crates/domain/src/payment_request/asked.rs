//! What is asked for: read from a request's `amount`, and compared with what has come.

use super::{Asked, Received};
use crate::coin_amount;
use crate::currency::{Currency, StableCoin};
use crate::decimal::{Decimal, Rounding};
use crate::fault::Fault;

/// Currencies that a `fiat` amount may be in (`decisions.md`, "Payment request").
pub const FIAT: [Currency; 4] = [Currency::Pkr, Currency::Usd, Currency::Aed, Currency::Sar];

/// `amount` as a request has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AmountDraft<'a> {
    /// `amount.type`
    pub kind: &'a str,
    /// `amount.value`
    pub value: Option<&'a str>,
    /// `amount.currency`
    pub currency: Option<&'a str>,
}

/// Why an amount is not taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AmountRefusal {
    /// A field is missing or wrong.
    #[error("{0:?}")]
    Invalid(Fault),
    /// There is no rate between the coin and the currency now.
    #[error("no rate from {} to {}", .0.currency().code(), .1.code())]
    NoRate(StableCoin, Currency),
}

impl Asked {
    /// Reads an amount. `mid` gives units of a currency for one coin; only `fiat` asks it.
    ///
    /// # Errors
    /// [`AmountRefusal`]; the fields are looked at in the order type, value, currency.
    pub fn read(
        draft: &AmountDraft<'_>,
        mid: impl Fn(StableCoin, Currency) -> Option<Decimal>,
    ) -> Result<Asked, AmountRefusal> {
        let wrong = |field, rule, message: &str| Err(AmountRefusal::Invalid(Fault::new(field, rule, message)));
        let fiat = match draft.kind {
            "flexible" => return Ok(Asked::Flexible),
            "crypto" => false,
            "fiat" => true,
            _ => return wrong("amount.type", "enum", "must be crypto, fiat or flexible"),
        };
        let Some(value) = draft.value else {
            return wrong("amount.value", "missing", "is required");
        };
        let Some(units) = coin_amount::parse(value) else {
            let message = "must be more than zero, with at most 12 digits and 6 decimals";
            return wrong("amount.value", "amount", message);
        };
        let Some(code) = draft.currency else {
            return wrong("amount.currency", "missing", "is required");
        };
        if !fiat {
            return match StableCoin::parse(code) {
                Some(coin) => Ok(Asked::Crypto { coin, minor: units }),
                None => wrong("amount.currency", "enum", "must be USDC or USDT"),
            };
        }
        let Some(currency) = FIAT.into_iter().find(|currency| currency.code() == code) else {
            return wrong("amount.currency", "enum", "must be PKR, USD, AED or SAR");
        };
        let coins = |coin| {
            let mid = mid(coin, currency).filter(|mid| mid.is_positive());
            let mid = mid.ok_or(AmountRefusal::NoRate(coin, currency))?;
            // Rounded up: what is asked for is never less than the currency's amount.
            let exact = Decimal::new(units.into(), 6).checked_div(mid, 6, Rounding::Ceil);
            exact.and_then(|coins| coins.to_minor(6)).filter(|minor| *minor > 0).ok_or_else(|| {
                AmountRefusal::Invalid(Fault::new("amount.value", "amount", "is too large to be paid in coins"))
            })
        };
        Ok(Asked::Fiat { currency, micros: units, usdc: coins(StableCoin::Usdc)?, usdt: coins(StableCoin::Usdt)? })
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
