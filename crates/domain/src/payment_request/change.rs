//! Transitions of a payment request: creation, payments, expiry, cancellation.

use super::asked::Paid;
use super::states::{RequestStep, RequestTrigger};
use super::{Asked, PaymentRequest, Received, RequestException, RequestState};
use crate::chain::vault::{self, VaultKind};
use crate::currency::StableCoin;
use crate::decision::JobChange;
use crate::ids::PaymentRequestId;
use crate::job::JobKind;
use crate::risk::ReasonCode;
use crate::time::{Span, Timestamp};
use crate::wallet::{Wallet, WalletRefusal};
use crate::wallet_effects::WalletEffects;
use crate::wallet_event::{About, Aggregate, OptionalEvent, WalletEvent};

/// Permitted validity of a link, in hours (`decisions.md`, "Bounds").
pub const EXPIRES_IN_HOURS: std::ops::RangeInclusive<i64> = 1..=720;
/// Default validity, in hours (specification).
pub const DEFAULT_EXPIRES_IN_HOURS: i64 = 24;
/// Interval between checks of an overdue request while a payment is confirming. It is also checked
/// as soon as none is.
const CONFIRMING_POLL: Span = Span::mins(1);

/// Parameters of a new request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewRequest {
    /// Id of the request.
    pub id: PaymentRequestId,
    /// At least 128 random bits as text.
    pub token: String,
    /// Requested amount, as [`Asked::of`] fixed it.
    pub asked: Asked,
    /// `purpose`, at most 256 characters; `None` if not given.
    pub purpose: Option<String>,
    /// `recipient_name`, at most 128 characters; `None` if not given.
    pub recipient_name: Option<String>,
    /// `expires_in_hours`: validity of the link, within [`EXPIRES_IN_HOURS`].
    pub expires_in_hours: i64,
}

/// Creates a request for a wallet. Its escrow can pay the wallet only.
///
/// # Errors
/// [`WalletRefusal::Frozen`]
pub fn create(
    new: NewRequest,
    wallet: &Wallet,
    now: Timestamp,
) -> Result<(PaymentRequest, WalletEffects), WalletRefusal> {
    wallet.require_unfrozen()?;
    let reference = vault::reference(VaultKind::Escrow, wallet.tenant, new.id.0);
    let request = PaymentRequest {
        id: new.id,
        tenant: wallet.tenant,
        wallet: wallet.id,
        chain: wallet.chain,
        token: new.token,
        escrow: vault::address(
            &wallet.controller,
            &wallet.implementation,
            &wallet.address,
            &reference,
        ),
        reference,
        submissions: 0,
        asked: new.asked,
        purpose: new.purpose,
        recipient_name: new.recipient_name,
        created_at: now,
        expires_at: now + Span::hours(new.expires_in_hours),
        state: RequestState::Active,
        received: Received::default(),
        paid_at: None,
        cancelled_at: None,
        late: false,
        wrong_asset: false,
        other_taken: None,
        too_late: Received::default(),
        refused: Received::default(),
        held_at: None,
        lift: None,
        submission_holds: Vec::new(),
        confirming: 0,
        events: 0,
        version: 1,
    };
    let effects = request.with_job(JobChange::Set(JobKind::ExpireRequest, request.expires_at));
    Ok((request, effects))
}

/// The request's state does not permit it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the payment request {}", crate::names::state_phrase(.0.name()))]
pub struct RequestConflict(pub RequestState);

/// When a payment arrived, by its block's timestamp.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Came {
    InTime,
    Late,
    TooLate,
}

impl PaymentRequest {
    /// Whether a payment in a block of this time is before the expiry.
    pub fn is_in_time(&self, block_at: Timestamp) -> bool {
        block_at < self.expires_at
    }

    /// Number of the event that it writes next.
    pub const fn next_event(&mut self) -> i64 {
        self.events += 1;
        self.events
    }

    /// Received amounts that count towards the request: what [`PaymentRequest::arrived`], without
    /// what was refused since. A PAID request stays PAID, and asks for nothing again.
    pub fn counted(&self) -> Received {
        match self.state {
            RequestState::Paid => self.arrived(),
            _ => self.arrived().minus(self.refused),
        }
    }

    /// Received amounts in the requested stablecoins, refused or not: the other stablecoin, where a
    /// reviewer accepted it, as the requested one; what came too late once a reviewer approved it.
    pub fn arrived(&self) -> Received {
        let in_time = self.received.minus(self.too_late);
        match (self.asked, self.other_taken) {
            (Asked::Crypto { coin, .. }, Some(taken)) => {
                in_time.checked_add(coin, taken).unwrap_or(in_time)
            }
            _ => in_time,
        }
    }

    /// `exception` without the outcome of the money: of several, the first of wrong asset, late,
    /// partial, overpaid.
    pub fn exception(&self) -> RequestException {
        match self.asked.compare(&self.counted()) {
            _ if self.wrong_asset => RequestException::WrongAsset,
            _ if self.late => RequestException::Late,
            Paid::InPart => RequestException::Partial,
            Paid::Over => RequestException::Overpaid,
            Paid::Nothing | Paid::InFull => RequestException::None,
        }
    }

    /// A payment in a block of this time was seen and does not count yet.
    pub fn seen(&mut self, block_at: Timestamp) {
        if self.is_in_time(block_at) {
            self.confirming += 1;
            self.version += 1;
        }
    }

    /// A payment that was [`PaymentRequest::seen`] in a block of one time has another time.
    pub fn seen_at(&mut self, known: Timestamp, block_at: Timestamp) {
        self.no_longer_confirming(known);
        self.seen(block_at);
    }

    /// A payment that was [`PaymentRequest::seen`] was reorganised away before it counted.
    pub fn lost(&mut self, block_at: Timestamp, now: Timestamp) -> WalletEffects {
        self.no_longer_confirming(block_at);
        self.overdue_job(now)
    }

    /// A payment that was [`PaymentRequest::seen`] counts now. Returns the reason for a mandatory
    /// review, if any, in addition to screening.
    pub fn credited(
        &mut self,
        (coin, minor): (StableCoin, i64),
        block_at: Timestamp,
        accept_late: Option<Span>,
        now: Timestamp,
    ) -> (Option<ReasonCode>, WalletEffects) {
        self.no_longer_confirming(block_at);
        self.gathered((coin, minor), block_at, accept_late, now)
    }

    /// Dust counts now; as [`PaymentRequest::credited`].
    pub fn gathered(
        &mut self,
        (coin, minor): (StableCoin, i64),
        block_at: Timestamp,
        accept_late: Option<Span>,
        now: Timestamp,
    ) -> (Option<ReasonCode>, WalletEffects) {
        let review = self.concern_about(coin, block_at, accept_late);
        let came = self.came(block_at, accept_late);
        let counts = self.asked.takes(coin);
        self.wrong_asset |= !counts;
        let is_over = self.state == RequestState::Cancelled;
        self.late |= (is_over || came != Came::InTime) && self.state != RequestState::Paid;
        // The total supply of both stablecoins is far below 64 bits.
        self.received = self.received.checked_add(coin, minor).unwrap_or(self.received);
        if review == Some(ReasonCode::TooLate) {
            self.too_late = self.too_late.checked_add(coin, minor).unwrap_or(self.too_late);
        }
        self.version += 1;
        let complete = matches!(self.asked.compare(&self.counted()), Paid::InFull | Paid::Over);
        let effects = self.step(
            match came {
                Came::TooLate => RequestTrigger::PaidTooLate,
                _ if !complete || !counts => RequestTrigger::PartPaid,
                Came::InTime => RequestTrigger::PaidInTime,
                Came::Late => RequestTrigger::PaidLate,
            },
            now,
        );
        (review, effects)
    }

    /// Reason for a mandatory review of a payment in this stablecoin from a block of this time, if
    /// any.
    pub fn concern_about(
        &self,
        coin: StableCoin,
        block_at: Timestamp,
        accept_late: Option<Span>,
    ) -> Option<ReasonCode> {
        match self.came(block_at, accept_late) {
            _ if !self.asked.takes(coin) => Some(ReasonCode::WrongAsset),
            Came::TooLate => Some(ReasonCode::TooLate),
            Came::InTime | Came::Late => None,
        }
    }

    /// A payment that was [`PaymentRequest::seen`] is deep enough, but dust.
    pub fn dust_counted(&mut self, block_at: Timestamp, now: Timestamp) -> WalletEffects {
        self.lost(block_at, now)
    }

    /// Whether this additional amount of a stablecoin would complete it.
    pub fn would_complete(&self, coin: StableCoin, minor: i64) -> bool {
        let so_far = self.counted();
        let with = so_far.checked_add(coin, minor).unwrap_or(so_far);
        let is_enough = |it: &Received| matches!(self.asked.compare(it), Paid::InFull | Paid::Over);
        let awaits = self.asked != Asked::Flexible && self.asked.takes(coin);
        awaits && !is_enough(&so_far) && is_enough(&with)
    }

    /// A received payment was reorganised away. A PAID request stays PAID: an alert is out. Its
    /// `concern` is why it needed a review; `taken` states whether a reviewer had approved it.
    pub fn uncredited(
        &mut self,
        (coin, minor): (StableCoin, i64),
        concern: Option<ReasonCode>,
        taken: bool,
    ) {
        let less = |sums: Received| sums.checked_add(coin, -minor).unwrap_or(sums);
        self.received = less(self.received);
        match concern {
            Some(ReasonCode::WrongAsset) if taken => {
                self.other_taken = self.other_taken.map(|sum| (sum - minor).max(0));
            }
            Some(ReasonCode::TooLate) if !taken => self.too_late = less(self.too_late),
            _ => {}
        }
        self.version += 1;
    }

    /// A reviewer approved a payment that did not count by itself: it was too late, or in the other
    /// stablecoin, which is accepted one for one.
    pub fn review_approved(
        &mut self,
        (coin, minor): (StableCoin, i64),
        now: Timestamp,
    ) -> WalletEffects {
        if self.asked.takes(coin) {
            self.too_late = self.too_late.checked_add(coin, -minor).unwrap_or(self.too_late);
        } else {
            self.other_taken = Some(self.other_taken.unwrap_or(0).saturating_add(minor));
        }
        self.version += 1;
        match self.asked.compare(&self.counted()) {
            Paid::InFull | Paid::Over => self.step(RequestTrigger::ReviewApproved, now),
            Paid::Nothing | Paid::InPart => WalletEffects::default(),
        }
    }

    /// A later review decided otherwise about this payment. A PAID request stays PAID.
    pub fn review_withdrawn(&mut self, (coin, minor): (StableCoin, i64)) -> WalletEffects {
        if self.asked.takes(coin) {
            self.too_late = self.too_late.checked_add(coin, minor).unwrap_or(self.too_late);
        } else {
            self.other_taken = self.other_taken.map(|sum| (sum - minor).max(0));
        }
        self.version += 1;
        WalletEffects::default()
    }

    /// A payment that counts was refused: an open request asks for its amount again.
    pub fn payment_refused(&mut self, (coin, minor): (StableCoin, i64)) {
        let coin = self.counted_coin(coin);
        self.refused = self.refused.checked_add(coin, minor).unwrap_or(self.refused);
        self.version += 1;
    }

    /// A refused payment is out of the request's sums for another reason from now on.
    pub fn refusal_dropped(&mut self, (coin, minor): (StableCoin, i64)) {
        let coin = self.counted_coin(coin);
        self.refused = self.refused.checked_add(coin, -minor).unwrap_or(self.refused);
        self.version += 1;
    }

    /// The stablecoin as which this one counts.
    const fn counted_coin(&self, coin: StableCoin) -> StableCoin {
        match self.asked {
            Asked::Crypto { coin, .. } => coin,
            Asked::Fiat { .. } | Asked::Flexible => coin,
        }
    }

    /// Lets it expire if `expires_at` has passed, and sets or ends its job.
    pub fn time_passed(&mut self, now: Timestamp) -> WalletEffects {
        if self.state != RequestState::Active {
            return self.with_job(JobChange::Done);
        }
        if now < self.expires_at {
            return self.with_job(JobChange::Set(JobKind::ExpireRequest, self.expires_at));
        }
        let confirming = self.confirming > 0;
        self.step(
            if confirming { RequestTrigger::TimeUpConfirming } else { RequestTrigger::TimeUp },
            now,
        )
    }

    /// Event for a request that has just expired, if the bank's endpoint subscribes to it.
    pub fn expired(&self, customer: &str, now: Timestamp) -> OptionalEvent {
        let about = About {
            request: Some(self.id),
            wallet: self.wallet,
            customer: customer.to_owned(),
            deposit: None,
        };
        let event = WalletEvent::RequestExpired { about, expires_at: self.expires_at, at: now };
        OptionalEvent { aggregate: Aggregate::Request(self.id), event }
    }

    /// The bank cancels it.
    pub fn cancel(&mut self, now: Timestamp) -> Result<WalletEffects, RequestConflict> {
        if self.state.on(RequestTrigger::Cancel) == RequestStep::Conflict {
            return Err(RequestConflict(self.state));
        }
        Ok(self.step(RequestTrigger::Cancel, now))
    }

    /// The wallet was blacklisted.
    pub fn wallet_blacklisted(&mut self, now: Timestamp) -> WalletEffects {
        self.step(RequestTrigger::WalletBlacklisted, now)
    }

    fn came(&self, block_at: Timestamp, accept_late: Option<Span>) -> Came {
        if self.is_in_time(block_at) {
            Came::InTime
        } else if accept_late.is_some_and(|span| block_at < self.expires_at + span) {
            Came::Late
        } else {
            Came::TooLate
        }
    }

    fn no_longer_confirming(&mut self, block_at: Timestamp) {
        if self.is_in_time(block_at) && self.confirming > 0 {
            self.confirming -= 1;
            self.version += 1;
        }
    }

    fn step(&mut self, trigger: RequestTrigger, now: Timestamp) -> WalletEffects {
        match self.state.on(trigger) {
            RequestStep::To(state) => {
                self.state = state;
                self.version += 1;
                match state {
                    RequestState::Paid => self.paid_at = Some(now),
                    RequestState::Cancelled => self.cancelled_at = Some(now),
                    RequestState::Active | RequestState::Expired => {}
                }
                self.with_job(JobChange::Done)
            }
            RequestStep::Stays | RequestStep::Conflict => self.overdue_job(now),
        }
    }

    /// Schedules the next check of an overdue open request, at once if nothing is confirming.
    fn overdue_job(&self, now: Timestamp) -> WalletEffects {
        if self.state != RequestState::Active || now < self.expires_at {
            return WalletEffects::default();
        }
        let at = if self.confirming > 0 { now + CONFIRMING_POLL } else { now };
        self.with_job(JobChange::Set(JobKind::ExpireRequest, at))
    }

    fn with_job(&self, change: JobChange) -> WalletEffects {
        WalletEffects { jobs: vec![(self.id.0, change)], ..WalletEffects::default() }
    }
}
