//! Quotes: how a price is calculated, and the rule that one quote serves one payment before it
//! expires.

use crate::country::Country;
use crate::currency::{Currency, StableCoin};
use crate::decimal::{Decimal, Rounding};
use crate::fault::Fault;
use crate::ids::{PaymentId, QuoteId, TenantId};
use crate::money::Money;
use crate::time::Timestamp;

/// Exclusive limit of a base amount (10^8). Clients with binary floats are promised half of it (ADR
/// 13).
pub const BASE_AMOUNT_LIMIT: i64 = 100_000_000;
/// Exclusive limit of a payout (10^11): beyond it, 12 decimals and binary floats are no longer
/// exact enough.
pub const DESTINATION_AMOUNT_LIMIT: i64 = 100_000_000_000;
/// Decimals of a rate.
pub const RATE_DECIMALS: u32 = 12;
/// Decimals to which a payment's amount must equal rate × quote amount (specification, POST
/// /v2/payment rule 2).
pub const MATCH_DECIMALS: u32 = 4;

names! {
    /// Life cycle of a quote: `active → used | expired`; `used` and `expired` are final.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum QuoteState: "Name in the store." {
        /// One payment can use it until `expires_at`.
        Active = "active",
        /// Used by a payment.
        Used = "used",
        /// `expires_at` passed before a payment used it.
        Expired = "expired",
    }
}

names! {
    /// Trigger of a quote.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum QuoteTrigger: "Label in `docs/states.md`." {
        /// Created by POST quote.
        Created = "created",
        /// A payment was accepted with it.
        Used = "used by a payment",
        /// Its `expires` has passed.
        TimeRanOut = "expired",
    }
}

/// Effect of a trigger on a quote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuoteStep {
    /// The quote changes to this state, which its next event reports.
    To(QuoteState),
    /// Nothing changes: it is already final.
    Stays,
    /// Nothing changes, and the caller is refused with this code.
    Refused(&'static str),
}

impl QuoteState {
    /// The matrix state × trigger; `None` is a quote that does not exist yet, which no payment can
    /// use. A quote's id is fresh, so it is created once.
    pub const fn on(from: Option<QuoteState>, trigger: QuoteTrigger) -> QuoteStep {
        match (from, trigger) {
            (None, QuoteTrigger::Created) => QuoteStep::To(QuoteState::Active),
            (None, QuoteTrigger::Used) => QuoteStep::Refused("quote_not_found"),
            (None, QuoteTrigger::TimeRanOut) | (Some(_), QuoteTrigger::Created) => QuoteStep::Stays,
            (Some(QuoteState::Active), QuoteTrigger::Used) => QuoteStep::To(QuoteState::Used),
            (Some(QuoteState::Active), QuoteTrigger::TimeRanOut) => {
                QuoteStep::To(QuoteState::Expired)
            }
            (Some(QuoteState::Used), QuoteTrigger::Used) => QuoteStep::Refused("quote_used"),
            (Some(QuoteState::Expired), QuoteTrigger::Used) => QuoteStep::Refused("quote_expired"),
            (Some(QuoteState::Used | QuoteState::Expired), QuoteTrigger::TimeRanOut) => {
                QuoteStep::Stays
            }
        }
    }
}

/// Debit of the tenant's prefund account: the three parts of a payment's price in stablecoin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Charge {
    /// The payout in stablecoin at the wallet rate: ceil6(amount_destination / wallet_rate).
    pub amount: Money,
    /// Corridor's fee: `premium_bps` of `amount`, rounded up to 10^-6.
    pub premium: Money,
    /// Cost of the rail.
    pub cost: Money,
}

impl Charge {
    /// The sum of the three; `None` beyond 64 bits.
    pub fn total(&self) -> Option<Money> {
        self.amount.checked_add(self.premium)?.checked_add(self.cost)
    }
}

/// A price without id and time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offer {
    /// Destination country, which the payment has to repeat.
    pub country: Country,
    /// Amount that the payer pays, in the base currency.
    pub amount: Money,
    /// Amount that the beneficiary receives.
    pub amount_destination: Money,
    /// Destination units per base unit, to 12 decimals.
    pub rate: Decimal,
    /// Destination units per unit of the settlement stablecoin, at mid.
    pub wallet_rate: Decimal,
    /// Stablecoin that the payment is settled in.
    pub coin: StableCoin,
    /// Future debit of the prefund account.
    pub charge: Charge,
    /// Minor units of price × amount cut off by rounding to the payable step; zero if the step is
    /// one minor unit.
    pub remainder: Money,
    /// Minimum payout of the country's rails.
    pub min_destination: Money,
    /// Maximum payout of the country's rails.
    pub max_destination: Money,
    /// Beneficiary account that the quote is bound to.
    pub account: Option<String>,
    /// Branch that the quote is bound to.
    pub branch: Option<String>,
}

/// A quote (specification: Quote): a price that one payment can use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quote {
    /// Id of the quote.
    pub id: QuoteId,
    /// Tenant of the quote.
    pub tenant: TenantId,
    /// Price, limits and binding, fixed at creation.
    pub offer: Offer,
    /// `timestamp`: time of creation on the store's clock.
    pub created_at: Timestamp,
    /// Instant from which it can no longer be used.
    pub expires_at: Timestamp,
    /// State; whether an active quote has expired depends on the time ([`Quote::is_past`]).
    pub state: QuoteState,
    /// Payment that used it.
    pub payment: Option<PaymentId>,
}

/// A mid-market rate less a margin in basis points. `None` beyond 128 bits.
pub fn less_margin(mid: Decimal, margin_bps: u32) -> Option<Decimal> {
    mid.checked_mul(Decimal::new(10_000 - i128::from(margin_bps.min(10_000)), 4))
}

/// Inputs of a price.
#[derive(Clone, Debug)]
pub struct Pricing {
    /// Destination country; its currency is the payout's.
    pub country: Country,
    /// Base currency: the payer's, in which `amount` is stated.
    pub currency: Currency,
    /// Base amount as requested; refused if it has more decimals than the currency.
    pub amount: Decimal,
    /// Rate before margins, destination units per base unit ([`crate::ports::RateBook::bid`]).
    pub mid: Decimal,
    /// The same, destination units per stablecoin unit.
    pub wallet_mid: Decimal,
    /// The tenant's own margin, in basis points of the rate.
    pub margin_bps: u32,
    /// Corridor's fee, in basis points of the wallet amount.
    pub premium_bps: u32,
    /// Stablecoin of the charge, from the tenant's policy.
    pub coin: StableCoin,
    /// Payouts are multiples of this many minor units.
    pub step_minor: i64,
    /// Minimum and maximum payout of the country's rails.
    pub limits: (Money, Money),
    /// Beneficiary account, for routing.
    pub account: Option<String>,
    /// Branch code of the beneficiary, for routing; it binds the quote.
    pub branch: Option<String>,
}

const AMOUNT: &str = "amount";

/// The `amount` of a quote request as money, if it has no more decimals than its currency and is less
/// than 10^8 (`decisions.md`, "Bounds").
///
/// # Errors
/// `decimal_max_places`, `less_than`
pub fn base_amount(currency: Currency, amount: Decimal) -> Result<Money, Fault> {
    let units = currency.minor_units();
    if amount.decimals() > units {
        let message = format!("{} has at most {units} decimals", currency.code());
        return Err(Fault::new(AMOUNT, "decimal_max_places", message).with("decimal_places", units));
    }
    Money::exact(amount, currency)
        .filter(|money| money.decimal() < Decimal::from_int(BASE_AMOUNT_LIMIT))
        .ok_or_else(|| {
            let message = format!("Input should be less than {BASE_AMOUNT_LIMIT}");
            Fault::new(AMOUNT, "less_than", message).with("lt", BASE_AMOUNT_LIMIT)
        })
}

impl Pricing {
    /// Calculates the price. `cost_minor` returns the cost of the rail that would pay out an
    /// amount, in stablecoin units of 10^-6.
    pub fn offer(self, cost_minor: impl FnOnce(Money) -> i64) -> Result<Offer, Fault> {
        let amount = base_amount(self.currency, self.amount)?;
        let (destination, remainder) = self.payable(amount)?;
        self.check_limits(destination)?;
        let too_large = || {
            Fault::new(AMOUNT, "amount_above_max", "The amount is too large to be priced exactly")
        };
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

    /// price × amount, rounded down to the payable step; and the minor units cut off by that.
    fn payable(&self, amount: Money) -> Result<(Money, Money), Fault> {
        let currency = self.country.currency();
        let exact = less_margin(self.mid, self.margin_bps)
            .and_then(|price| price.checked_mul(amount.decimal()));
        let minor = exact
            .map(|exact| exact.round(currency.minor_units(), Rounding::Floor))
            .and_then(|floored| Money::exact(floored, currency))
            .ok_or_else(|| {
                Fault::new(
                    AMOUNT,
                    "amount_above_max",
                    "The amount is too large to be priced exactly",
                )
            })?;
        let cut = minor.minor % self.step_minor.max(1);
        Ok((Money::new(minor.minor - cut, currency), Money::new(cut, currency)))
    }

    fn check_limits(&self, destination: Money) -> Result<(), Fault> {
        let (min, max) = self.limits;
        if destination.minor < min.minor || destination.minor <= 0 {
            let message = format!("{destination} would be paid out; the minimum is {min}");
            return Err(Fault::new(AMOUNT, "amount_below_min", message).with("min", min.decimal()));
        }
        if destination.minor > max.minor
            || destination.decimal() >= Decimal::from_int(DESTINATION_AMOUNT_LIMIT)
        {
            let message = format!("{destination} would be paid out; the maximum is {max}");
            return Err(Fault::new(AMOUNT, "amount_above_max", message).with("max", max.decimal()));
        }
        Ok(())
    }

    fn charge(&self, destination: Money, cost_minor: i64) -> Option<Charge> {
        let coin = self.coin.currency();
        let units = coin.minor_units();
        let amount = destination.decimal().checked_div(self.wallet_mid, units, Rounding::Ceil)?;
        let premium = amount
            .checked_mul(Decimal::new(self.premium_bps.into(), 4))?
            .round(units, Rounding::Ceil);
        let charge = Charge {
            amount: Money::exact(amount, coin)?,
            premium: Money::exact(premium, coin)?,
            cost: Money::new(cost_minor, coin),
        };
        charge.total().map(|_| charge)
    }
}

impl Quote {
    /// Amount that a payment with this quote must state: rate × quote amount to 4 decimals, ties to
    /// even.
    pub fn expected_amount(&self) -> Decimal {
        // An offer is made only if this product fits; the fallback is the same number by
        // construction.
        self.offer.rate.checked_mul(self.offer.amount.decimal()).map_or_else(
            || self.offer.amount_destination.decimal(),
            |it| it.round(MATCH_DECIMALS, Rounding::HalfEven),
        )
    }

    /// Whether `amount` is rate × quote amount, compared to 4 decimals (specification, POST /v2/payment rule 2).
    pub fn is_paid_by(&self, amount: Decimal) -> bool {
        amount.round(MATCH_DECIMALS, Rounding::HalfEven) == self.expected_amount()
    }

    /// Whether the quote has expired at `now`; `expires_at` itself is too late.
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
