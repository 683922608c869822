//! Quotes: how a price is made, and the rule that one quote serves one payment before it expires.

use crate::country::Country;
use crate::currency::{Currency, StableCoin};
use crate::decimal::{Decimal, Rounding};
use crate::fault::Fault;
use crate::ids::{PaymentId, QuoteId, TenantId};
use crate::money::Money;
use crate::time::Timestamp;

/// A base amount must be below this (10^8). Clients with binary floats are promised half of it (ADR 13).
pub const BASE_AMOUNT_LIMIT: i64 = 100_000_000;
/// An amount paid out must be below this (10^11): beyond it 12 decimals and binary floats no longer hold.
pub const DESTINATION_AMOUNT_LIMIT: i64 = 100_000_000_000;
/// Decimals of a rate.
pub const RATE_DECIMALS: u32 = 12;
/// Decimals to which a payment's amount must equal rate × quote amount (specification, POST /v2/payment rule 2).
pub const MATCH_DECIMALS: u32 = 4;

/// Where a quote is in its life: `active → used | expired`; nothing leaves `used` or `expired`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum QuoteState {
    /// May still be used.
    Active,
    /// A payment used it.
    Used,
    /// Its time ran out.
    Expired,
}

impl QuoteState {
    /// Every state.
    pub const ALL: [QuoteState; 3] = [QuoteState::Active, QuoteState::Used, QuoteState::Expired];

    /// The name in the store.
    pub const fn name(self) -> &'static str {
        match self {
            QuoteState::Active => "active",
            QuoteState::Used => "used",
            QuoteState::Expired => "expired",
        }
    }

    /// Reads the name.
    pub fn parse(name: &str) -> Option<QuoteState> {
        QuoteState::ALL.into_iter().find(|state| state.name() == name)
    }
}

/// What can happen to a quote.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum QuoteTrigger {
    /// POST quote made it.
    Created,
    /// A payment was accepted with it.
    Used,
    /// Its `expires` has come.
    TimeRanOut,
}

/// What a trigger does to a quote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuoteStep {
    /// It is in this state now.
    To(QuoteState),
    /// Nothing: it is at its end already.
    Stays,
    /// Nothing, and the caller is refused with this code.
    Refused(&'static str),
}

impl QuoteTrigger {
    /// Every trigger.
    pub const ALL: [QuoteTrigger; 3] = [QuoteTrigger::Created, QuoteTrigger::Used, QuoteTrigger::TimeRanOut];

    /// The words in `docs/states.md`.
    pub const fn name(self) -> &'static str {
        match self {
            QuoteTrigger::Created => "created",
            QuoteTrigger::Used => "used by a payment",
            QuoteTrigger::TimeRanOut => "time ran out",
        }
    }
}

impl QuoteState {
    /// The matrix state × trigger; `None` is a quote that does not exist yet, which no payment can use. A quote's id
    /// is fresh, so it is created once.
    pub const fn on(from: Option<QuoteState>, trigger: QuoteTrigger) -> QuoteStep {
        match (from, trigger) {
            (None, QuoteTrigger::Created) => QuoteStep::To(QuoteState::Active),
            (None, QuoteTrigger::Used) => QuoteStep::Refused("quote_not_found"),
            (None, QuoteTrigger::TimeRanOut) | (Some(_), QuoteTrigger::Created) => QuoteStep::Stays,
            (Some(QuoteState::Active), QuoteTrigger::Used) => QuoteStep::To(QuoteState::Used),
            (Some(QuoteState::Active), QuoteTrigger::TimeRanOut) => QuoteStep::To(QuoteState::Expired),
            (Some(QuoteState::Used), QuoteTrigger::Used) => QuoteStep::Refused("quote_used"),
            (Some(QuoteState::Expired), QuoteTrigger::Used) => QuoteStep::Refused("quote_expired"),
            (Some(QuoteState::Used | QuoteState::Expired), QuoteTrigger::TimeRanOut) => QuoteStep::Stays,
        }
    }
}

/// What the tenant's prefund account is debited: the three parts of a payment's price in coin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Charge {
    /// The amount paid out, in coin at the wallet rate: ceil6(amount_destination / wallet_rate).
    pub amount: Money,
    /// Our fee.
    pub premium: Money,
    /// What the rail costs.
    pub cost: Money,
}

impl Charge {
    /// The sum of the three, or `None` beyond 64 bits.
    pub fn total(&self) -> Option<Money> {
        self.amount.checked_add(self.premium)?.checked_add(self.cost)
    }
}

/// A price, before it has an id and a time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offer {
    /// Destination.
    pub country: Country,
    /// The amount that the payer pays, in the base currency.
    pub amount: Money,
    /// What the beneficiary gets.
    pub amount_destination: Money,
    /// Destination units per base unit, to 12 decimals.
    pub rate: Decimal,
    /// Destination units per settlement coin, at mid.
    pub wallet_rate: Decimal,
    /// The coin that the payment is settled in.
    pub coin: StableCoin,
    /// What the prefund account will be debited.
    pub charge: Charge,
    /// Whole minor units of price × amount that the payable step cut off; zero where the step is one minor unit.
    pub remainder: Money,
    /// The least that the country's rails pay out.
    pub min_destination: Money,
    /// The most that the country's rails pay out.
    pub max_destination: Money,
    /// The beneficiary account that the quote is bound to.
    pub account: Option<String>,
    /// The branch that the quote is bound to.
    pub branch: Option<String>,
}

/// A quote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quote {
    /// Its id.
    pub id: QuoteId,
    /// Whose it is.
    pub tenant: TenantId,
    /// The price.
    pub offer: Offer,
    /// When it was made.
    pub created_at: Timestamp,
    /// From this instant on it can no longer be used.
    pub expires_at: Timestamp,
    /// Where it is in its life.
    pub state: QuoteState,
    /// The payment that used it.
    pub payment: Option<PaymentId>,
}

/// A mid-market rate less a margin in basis points: what one unit is priced at. `None` beyond 128 bits.
pub fn less_margin(mid: Decimal, margin_bps: u32) -> Option<Decimal> {
    mid.checked_mul(Decimal::new(10_000 - i128::from(margin_bps.min(10_000)), 4))
}

/// Everything that a price is made of.
#[derive(Clone, Debug)]
pub struct Pricing {
    /// Destination.
    pub country: Country,
    /// Base currency.
    pub currency: Currency,
    /// Base amount as asked.
    pub amount: Decimal,
    /// Mid-market rate, destination units per base unit.
    pub mid: Decimal,
    /// Mid-market rate, destination units per coin.
    pub wallet_mid: Decimal,
    /// The tenant's own margin, in basis points of the rate.
    pub margin_bps: u32,
    /// Our fee, in basis points of the wallet amount.
    pub premium_bps: u32,
    /// The settlement coin.
    pub coin: StableCoin,
    /// Amounts paid out are multiples of this many minor units.
    pub step_minor: i64,
    /// Least and most that the country's rails pay out.
    pub limits: (Money, Money),
    /// The beneficiary account given for routing.
    pub account: Option<String>,
    /// The branch given for routing.
    pub branch: Option<String>,
}

const AMOUNT: &str = "amount";

impl Pricing {
    /// Makes the price. `cost_minor` answers what the rail that would pay an amount out costs, in coin units of 10^-6.
    pub fn offer(self, cost_minor: impl FnOnce(Money) -> i64) -> Result<Offer, Fault> {
        let amount = self.base_amount()?;
        let (destination, remainder) = self.payable(amount)?;
        self.check_limits(destination)?;
        let too_large = || Fault::new(AMOUNT, "amount_above_max", "The amount is too large to be priced exactly");
        let rate = destination
            .decimal()
            .checked_div(amount.decimal(), RATE_DECIMALS, Rounding::HalfEven)
            .ok_or_else(too_large)?;
        let charge = self.charge(destination, cost_minor(destination)).ok_or_else(too_large)?;
        Ok(Offer {
            country: self.country,
            amount,
            amount_destination: destination,
            rate,
            wallet_rate: self.wallet_mid,
            coin: self.coin,
            charge,
            remainder,
            min_destination: self.limits.0,
            max_destination: self.limits.1,
            account: self.account,
            branch: self.branch,
        })
    }

    fn base_amount(&self) -> Result<Money, Fault> {
        let units = self.currency.minor_units();
        if self.amount.decimals() > units {
            let message = format!("{} has at most {units} decimals", self.currency.code());
            return Err(Fault::new(AMOUNT, "decimal_max_places", message).with("decimal_places", units));
        }
        Money::exact(self.amount, self.currency)
            .filter(|money| money.decimal() < Decimal::from_int(BASE_AMOUNT_LIMIT))
            .ok_or_else(|| {
                let message = format!("Input should be less than {BASE_AMOUNT_LIMIT}");
                Fault::new(AMOUNT, "less_than", message).with("lt", BASE_AMOUNT_LIMIT)
            })
    }

    /// price × amount, rounded down to the payable step; and the whole minor units that this cut off.
    fn payable(&self, amount: Money) -> Result<(Money, Money), Fault> {
        let currency = self.country.currency();
        let exact = less_margin(self.mid, self.margin_bps).and_then(|price| price.checked_mul(amount.decimal()));
        let minor = exact
            .map(|exact| exact.round(currency.minor_units(), Rounding::Floor))
            .and_then(|floored| Money::exact(floored, currency))
            .ok_or_else(|| Fault::new(AMOUNT, "amount_above_max", "The amount is too large to be priced exactly"))?;
        let cut = minor.minor % self.step_minor.max(1);
        Ok((Money::new(minor.minor - cut, currency), Money::new(cut, currency)))
    }

    fn check_limits(&self, destination: Money) -> Result<(), Fault> {
        let (min, max) = self.limits;
        if destination.minor < min.minor || destination.minor <= 0 {
            let message = format!("{destination} would be paid out; the least is {min}");
            return Err(Fault::new(AMOUNT, "amount_below_min", message).with("min", min.decimal()));
        }
        if destination.minor > max.minor || destination.decimal() >= Decimal::from_int(DESTINATION_AMOUNT_LIMIT) {
            let message = format!("{destination} would be paid out; the most is {max}");
            return Err(Fault::new(AMOUNT, "amount_above_max", message).with("max", max.decimal()));
        }
        Ok(())
    }

    fn charge(&self, destination: Money, cost_minor: i64) -> Option<Charge> {
        let coin = self.coin.currency();
        let units = coin.minor_units();
        let amount = destination.decimal().checked_div(self.wallet_mid, units, Rounding::Ceil)?;
        let premium = amount.checked_mul(Decimal::new(self.premium_bps.into(), 4))?.round(units, Rounding::Ceil);
        let charge = Charge {
            amount: Money::exact(amount, coin)?,
            premium: Money::exact(premium, coin)?,
            cost: Money::new(cost_minor, coin),
        };
        charge.total().map(|_| charge)
    }
}

impl Quote {
    /// The amount that a payment with this quote must name: rate × quote amount to 4 decimals, ties to even.
    pub fn expected_amount(&self) -> Decimal {
        // An offer is only made where this product fits; the fallback is the same number by construction.
        self.offer
            .rate
            .checked_mul(self.offer.amount.decimal())
            .map_or_else(|| self.offer.amount_destination.decimal(), |it| it.round(MATCH_DECIMALS, Rounding::HalfEven))
    }

    /// Whether `amount` is rate × quote amount, compared to 4 decimals (specification, POST /v2/payment rule 2).
    pub fn is_paid_by(&self, amount: Decimal) -> bool {
        amount.round(MATCH_DECIMALS, Rounding::HalfEven) == self.expected_amount()
    }

    /// Whether the quote's time has run out at `now`; `expires_at` itself is too late.
    pub fn is_past(&self, now: Timestamp) -> bool {
        now >= self.expires_at
    }
}

#[cfg(test)]
mod binary64;
#[cfg(test)]
mod client_tests;
#[cfg(test)]
mod tests;
