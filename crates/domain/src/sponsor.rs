//! Sponsored transfers: a sender signs the transfer of exactly the open amount to their escrow, and
//! the tenant submits it and pays its gas, within limits. Nothing is credited here: the deposit
//! counts once the watched chain shows it.

use crate::chain::{Address, Authorization, EcdsaSignature, Fees, Plan};
use crate::chain_tx::{self, Intent, IntentState};
use crate::currency::StableCoin;
use crate::payment_request::{PaymentRequest, RequestState};
use crate::time::{Span, Timestamp};

/// Upper limit of [`SponsorTerms::per_request`].
pub const PER_REQUEST_MAX: u8 = 10;
/// Validity of an authorization that a page asks for.
pub const VALID_FOR: Span = Span::mins(30);
/// An authorization that expires sooner than this may not be mined in time.
pub const VALID_FOR_MIN: Span = Span::mins(1);
/// Gas of a sponsored transfer to a new escrow, the most expensive measured case
/// (`contracts/README.md`). Offers are judged by it before there is a transfer to simulate.
pub const TRANSFER_GAS: u64 = 102_592;
/// Share of the simulated gas that is added for the gas limit.
const GAS_MARGIN: u64 = 4;
const PERCENT: u128 = 100;
const WEI: u128 = 1_000_000_000_000_000_000;

/// Limits of a chain's sponsored transfers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SponsorTerms {
    /// Smallest sponsored amount, in minor units.
    pub min_minor: i64,
    /// Maximum number of sponsored transfers per payment request, failed ones included.
    pub per_request: u8,
    /// Maximum sum of gas limits per tenant and day (UTC).
    pub daily_gas: u64,
    /// Maximum cost of the transaction, in percent of the amount.
    pub max_fee_percent: u8,
    /// Value of one unit of the chain's native currency, in millionths of a dollar.
    pub gas_coin_micros: i64,
}

impl SponsorTerms {
    /// Whether an amount is large enough to pay this much gas for it at these fees, with those in wei
    /// beside the gas for a transaction's data.
    pub fn is_worth(&self, minor: i64, gas: u64, (fees, data_fee): (&Fees, u128)) -> bool {
        if minor < self.min_minor {
            return false;
        }
        let cost = u128::from(gas).saturating_mul(fees.now()).saturating_add(data_fee);
        let cost = cost.saturating_mul(u128::from(self.gas_coin_micros.unsigned_abs()));
        let share = u128::from(minor.unsigned_abs()).saturating_mul(self.max_fee_percent.into());
        cost.div_ceil(WEI).saturating_mul(PERCENT) <= share
    }
}

/// The gas limit of a transfer that was simulated with this much gas.
pub const fn gas_limit(simulated: u64) -> u64 {
    simulated.saturating_add(simulated / GAS_MARGIN)
}

/// Number of the UTC day, from 1970: daily budgets are kept by it.
pub const fn day_of(now: Timestamp) -> i64 {
    now.unix_seconds().div_euclid(86_400)
}

/// A signed authorization that was checked against the chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SponsorOrder {
    /// Stablecoin of the token.
    pub coin: StableCoin,
    /// ERC-20 contract of the token.
    pub token: Address,
    /// Pays the submission's escrow.
    pub authorization: Authorization,
    /// Signature of `authorization` by its `from`.
    pub signature: EcdsaSignature,
    /// Gas limit of the transaction.
    pub gas_limit: u64,
}

/// Why a transfer is not sponsored, in order of precedence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SponsorRefusal {
    /// The request cannot be paid any more.
    #[error("the payment request is not open")]
    Closed,
    /// It is not the open amount.
    #[error("the value must be exactly the open amount")]
    Amount,
    /// It is valid for too short, or longer than the request.
    #[error("the authorization must be valid now, and expire before the payment request does")]
    Window,
    /// Another authorization of the request is being sent.
    #[error("another transfer of this payment request is being sent")]
    Busy,
    /// The request has used its number of sponsored transfers.
    #[error("the payment request has reached its limit of sponsored transfers")]
    PerRequest,
    /// The tenant's budget of the day does not allow it.
    #[error("today's gas budget is used up")]
    Budget,
}

/// The intent of an accepted order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sponsored {
    /// The same authorization was accepted before; its intent.
    Known(Box<Intent>),
    /// A new intent, and the gas that the tenant has spent today with it.
    New(Box<Intent>, u64),
}

/// Accepts an order once. `known` are the request's earlier intents by number; `spent` is the gas
/// that the tenant has spent on this chain today.
pub fn accept(
    request: &PaymentRequest,
    order: &SponsorOrder,
    known: &[Intent],
    spent: u64,
    terms: &SponsorTerms,
    now: Timestamp,
) -> Result<Sponsored, SponsorRefusal> {
    let wanted = &order.authorization;
    if let Some(same) = known.iter().find(|it| it.plan.authorizes(wanted)) {
        return Ok(Sponsored::Known(Box::new(same.clone())));
    }
    if request.state != RequestState::Active || now >= request.expires_at {
        return Err(SponsorRefusal::Closed);
    }
    check(request, order.coin, wanted, now)?;
    if known.iter().any(|it| !it.state.is_terminal()) {
        return Err(SponsorRefusal::Busy);
    }
    let number = u8::try_from(known.len()).unwrap_or(PER_REQUEST_MAX);
    if number >= terms.per_request.min(PER_REQUEST_MAX) {
        return Err(SponsorRefusal::PerRequest);
    }
    let spent = spent.saturating_add(order.gas_limit);
    if spent > terms.daily_gas {
        return Err(SponsorRefusal::Budget);
    }
    let id = chain_tx::sponsored_id(request.tenant, request.id, number);
    let SponsorOrder { coin, token, authorization, signature, gas_limit } = *order;
    let plan = Plan::SponsoredTransfer { token, authorization, signature, gas_limit };
    let intent = Intent {
        request: Some(request.id),
        coin: Some(coin),
        ..Intent::new(id, request.tenant, request.chain, id.0, plan, now)
    };
    Ok(Sponsored::New(Box::new(intent), spent))
}

/// Checks what a sender authorized against their request: the whole open amount, valid from the
/// start and not longer than the request.
///
/// # Errors
/// [`SponsorRefusal::Amount`], [`SponsorRefusal::Window`]
pub fn check(
    request: &PaymentRequest,
    coin: StableCoin,
    authorization: &Authorization,
    now: Timestamp,
) -> Result<(), SponsorRefusal> {
    let open = request.asked.outstanding(&request.counted(), coin).filter(|open| *open > 0);
    if open.and_then(|open| u64::try_from(open).ok()) != Some(authorization.value) {
        return Err(SponsorRefusal::Amount);
    }
    let seconds = |at: Timestamp| u64::try_from(at.unix_seconds()).unwrap_or(0);
    let is_long_enough = authorization.valid_before >= seconds(now + VALID_FOR_MIN);
    let is_short_enough = authorization.valid_before <= seconds(request.expires_at);
    if authorization.valid_after != 0 || !is_long_enough || !is_short_enough {
        return Err(SponsorRefusal::Window);
    }
    Ok(())
}

/// When an authorization has to expire that is asked for now; in seconds since 1970.
pub fn valid_before(request: &PaymentRequest, now: Timestamp) -> u64 {
    let until = request.expires_at.min(now + VALID_FOR);
    u64::try_from(until.unix_seconds()).unwrap_or(0)
}

/// Whether an accepted transfer may still be signed by us: its request is open, nothing leaves or
/// enters an escrow on legal hold, and the token would accept it.
pub fn is_wanted(request: &PaymentRequest, authorization: &Authorization, now: Timestamp) -> bool {
    let now_s = u64::try_from(now.unix_seconds()).unwrap_or(u64::MAX);
    request.state == RequestState::Active
        && now_s < authorization.valid_before
        && !request.is_held(&authorization.to)
}

/// What a sender's page shows of their newest sponsored transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SponsoredState {
    /// It is being sent.
    Sending,
    /// It was not sent, or had no effect.
    Failed,
}

impl SponsoredState {
    /// Of the newest intent to this escrow. One that took effect shows as a payment instead.
    pub fn of(known: &[Intent], escrow: &Address) -> Option<SponsoredState> {
        let pays = |intent: &&Intent| match &intent.plan {
            Plan::SponsoredTransfer { authorization, .. } => authorization.to == *escrow,
            _ => false,
        };
        match known.iter().rfind(pays)?.state {
            IntentState::Waiting | IntentState::Assigned => Some(SponsoredState::Sending),
            IntentState::Failed | IntentState::Cancelled => Some(SponsoredState::Failed),
            IntentState::Done => None,
        }
    }
}

#[cfg(test)]
mod tests;
