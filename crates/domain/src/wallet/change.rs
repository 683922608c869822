//! Transitions of a wallet: provisioning, block, unblock, blacklisting, passing time, chain events.

use jiff::civil::Date;
use jiff::tz::TimeZone;

use super::states::{WalletStep, WalletTrigger};
use super::{Blacklisting, Block, BlockReason, KycLevel, TriggeredBy, Wallet, WalletState};
use crate::chain::ChainNumber;
use crate::chain::vault::{self, VaultKind};
use crate::decision::JobChange;
use crate::ids::{TenantId, WalletId};
use crate::job::JobKind;
use crate::names::state_phrase;
use crate::ports::Controller;
use crate::time::{Span, Timestamp};
use crate::wallet_effects::WalletEffects;
use crate::wallet_event::{AboutDeposit, Aggregate, NewWalletEvent, OptionalEvent, WalletEvent};

/// Permitted hours until a block ends automatically (`decisions.md`, "Bounds").
pub const AUTO_UNBLOCK_HOURS: std::ops::RangeInclusive<i64> = 1..=8_760;
/// Interval at which a wallet checks for a pending on-chain change.
pub const CHAIN_POLL: Span = Span::secs(2);
/// Details reported to the bank of a block until a future blacklist order.
pub const ORDER_DETAILS: &str = "Blocked until a regulatory order takes effect";

/// Reason for refusing to provision or change a wallet.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WalletRefusal {
    /// The customer's level is below the tenant's minimum.
    #[error("the customer's KYC level must be at least {}", .0.name())]
    KycRequired(KycLevel),
    /// The customer already has a wallet on this chain.
    #[error("the customer already has wallet {0}")]
    Exists(WalletId),
    /// A blacklist order takes effect on this date: the wallet stays blocked until then.
    #[error("a blacklist order takes effect on {0}")]
    Ordered(Date),
    /// The wallet's state does not permit it.
    #[error("the wallet {}", state_phrase(.0.name()))]
    Conflict(WalletState),
    /// The wallet is frozen and may not request anything.
    #[error("the wallet {}", state_phrase(.0.name()))]
    Frozen(WalletState),
}

/// Parameters of a new wallet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Provision {
    /// Id of the wallet.
    pub id: WalletId,
    /// Tenant of the customer.
    pub tenant: TenantId,
    /// The bank's customer id.
    pub customer_id: String,
    /// `customer_email`: address of valid form (RFC 5321).
    pub email: String,
    /// `customer_phone`: E.164, `+` and 7 to 15 digits.
    pub phone: String,
    /// Name of the chain in the API.
    pub blockchain: String,
    /// Number of that chain.
    pub chain: ChainNumber,
    /// KYC level according to the bank; BASIC by default.
    pub kyc_level: Option<KycLevel>,
    /// The tenant's controller contract, from which the wallet's address is derived.
    pub controller: Controller,
    /// Whether the controller is deployed.
    pub deployed: bool,
}

/// Provisions a wallet; `existing` is the customer's wallet on this chain, if any.
///
/// # Errors
/// [`WalletRefusal::KycRequired`], [`WalletRefusal::Exists`], in this order.
pub fn provision(
    asked: Provision,
    minimum: KycLevel,
    existing: Option<WalletId>,
    now: Timestamp,
) -> Result<(Wallet, WalletEffects), WalletRefusal> {
    let kyc_level = asked.kyc_level.unwrap_or(KycLevel::Basic);
    if kyc_level < minimum {
        return Err(WalletRefusal::KycRequired(minimum));
    }
    if let Some(wallet) = existing {
        return Err(WalletRefusal::Exists(wallet));
    }
    let Controller { address: controller, implementation, version } = asked.controller;
    let reference = vault::reference(VaultKind::Wallet, asked.tenant, asked.id.0);
    let wallet = Wallet {
        id: asked.id,
        tenant: asked.tenant,
        customer_id: asked.customer_id,
        email: asked.email,
        phone: asked.phone,
        blockchain: asked.blockchain,
        chain: asked.chain,
        // A wallet's vault pays the controller only, which holds exchanged tokens.
        address: vault::address(&controller, &implementation, &controller, &reference),
        controller,
        implementation,
        code_version: version,
        kyc_level,
        state: if asked.deployed { WalletState::Active } else { WalletState::Pending },
        created_at: now,
        last_activity_at: now,
        unblocked_at: None,
        unblock_reason: None,
        block: None,
        blacklisting: None,
        superseded: None,
        chain_blacklisted: false,
        frozen_on_chain: false,
        freeze: None,
        follow_up: false,
        events: 0,
        version: 1,
    };
    let mut effects = WalletEffects::default();
    if wallet.state == WalletState::Pending {
        // The first wallet deploys the controller at once.
        effects.jobs.push((wallet.id.0, JobChange::Set(JobKind::WalletTimer, now)));
    }
    Ok((wallet, effects))
}

/// A request to block a wallet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockOrder {
    /// `reason`: one of the specification's five codes.
    pub reason: BlockReason,
    /// `details`: explanation for people, at most 2,000 characters.
    pub details: String,
    /// Hours until the block ends automatically.
    pub auto_unblock_hours: Option<i64>,
    /// Origin of the request.
    pub triggered_by: TriggeredBy,
}

/// A submitted blacklist order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlacklistOrder {
    /// `regulatory_authority`: name of the authority, at most 256 characters.
    pub authority: String,
    /// `regulatory_reference_number`: a repetition with the same number changes nothing.
    pub reference: String,
    /// `reason`: the authority's explanation, at most 2,000 characters.
    pub reason: String,
    /// `effective_date` (UTC): a future date blocks the wallet until then.
    pub effective_date: Date,
}

impl Wallet {
    /// Requires that it may request a payment or an exchange.
    ///
    /// # Errors
    /// [`WalletRefusal::Frozen`]
    pub const fn require_unfrozen(&self) -> Result<(), WalletRefusal> {
        if self.state.is_frozen() { Err(WalletRefusal::Frozen(self.state)) } else { Ok(()) }
    }

    /// Sets `last_activity_at`, and increases the row version.
    pub fn touch(&mut self, now: Timestamp) {
        self.last_activity_at = now;
        self.version += 1;
    }

    /// Number of the event that it writes next.
    pub const fn next_event(&mut self) -> i64 {
        self.events += 1;
        self.events
    }

    /// The controller is deployed.
    pub fn chain_ready(&mut self, now: Timestamp) -> WalletEffects {
        match self.state.on(WalletTrigger::ChainReady) {
            WalletStep::To(state) => self.enter(state, now),
            WalletStep::Stays | WalletStep::Conflict => self.waiting(now),
        }
    }

    /// Blocks it. A frozen wallet stays as it is if the risk system requests the block.
    ///
    /// # Errors
    /// [`WalletRefusal::Conflict`]
    pub fn block(
        &mut self,
        order: BlockOrder,
        now: Timestamp,
    ) -> Result<WalletEffects, WalletRefusal> {
        let trigger = match order.triggered_by {
            TriggeredBy::Manual => WalletTrigger::Block,
            TriggeredBy::Automatic => WalletTrigger::RiskBlock,
        };
        match self.state.on(trigger) {
            WalletStep::To(state) => Ok(self.blocked(state, order, None, now)),
            WalletStep::Stays => Ok(WalletEffects::default()),
            WalletStep::Conflict => Err(WalletRefusal::Conflict(self.state)),
        }
    }

    /// Blocks it because of a deposit, which the event names. A reviewer's block replaces an
    /// earlier one, whose automatic end no longer applies; a blacklisted wallet stays as it is.
    pub fn block_because_of(
        &mut self,
        deposit: Option<AboutDeposit>,
        order: BlockOrder,
        now: Timestamp,
    ) -> WalletEffects {
        let trigger = match order.triggered_by {
            TriggeredBy::Manual => WalletTrigger::ReviewBlock,
            TriggeredBy::Automatic => WalletTrigger::RiskBlock,
        };
        match self.state.on(trigger) {
            WalletStep::To(state) => self.blocked(state, order, deposit, now),
            WalletStep::Stays | WalletStep::Conflict => WalletEffects::default(),
        }
    }

    fn blocked(
        &mut self,
        state: WalletState,
        order: BlockOrder,
        deposit: Option<AboutDeposit>,
        now: Timestamp,
    ) -> WalletEffects {
        let block = Block {
            reason: order.reason,
            details: order.details,
            at: now,
            auto_unblock_at: order.auto_unblock_hours.map(|hours| now + Span::hours(hours)),
            triggered_by: order.triggered_by,
        };
        let event = WalletEvent::WalletBlocked {
            wallet: self.id,
            customer: self.customer_id.clone(),
            reason: block.reason,
            details: block.details.clone(),
            at: block.at,
            auto_unblock_at: block.auto_unblock_at,
            triggered_by: block.triggered_by,
            deposit,
        };
        self.block = Some(block);
        let version = self.next_event();
        let mut effects = self.enter(state, now);
        effects.events.push(NewWalletEvent {
            aggregate: Aggregate::Wallet(self.id),
            version,
            event,
        });
        effects
    }

    /// The bank unblocks it.
    ///
    /// # Errors
    /// [`WalletRefusal::Ordered`], [`WalletRefusal::Conflict`]
    pub fn unblock(&mut self, now: Timestamp) -> Result<WalletEffects, WalletRefusal> {
        self.unblock_because(None, now)
    }

    /// The same with the bank's reason.
    ///
    /// # Errors
    /// As [`Wallet::unblock`].
    pub fn unblock_because(
        &mut self,
        reason: Option<String>,
        now: Timestamp,
    ) -> Result<WalletEffects, WalletRefusal> {
        let ordered = self.ordered();
        let trigger = if ordered.is_some() {
            WalletTrigger::UnblockUnderOrder
        } else {
            WalletTrigger::Unblock
        };
        match self.state.on(trigger) {
            WalletStep::To(state) => Ok(self.unblocked(state, reason, TriggeredBy::Manual, now)),
            WalletStep::Stays | WalletStep::Conflict => {
                Err(ordered.unwrap_or(WalletRefusal::Conflict(self.state)))
            }
        }
    }

    /// The refusal while a blacklist order awaits its effective date.
    fn ordered(&self) -> Option<WalletRefusal> {
        let order = self.blacklisting.as_ref().filter(|order| order.at.is_none())?;
        Some(WalletRefusal::Ordered(order.effective_date))
    }

    fn unblocked(
        &mut self,
        state: WalletState,
        reason: Option<String>,
        triggered_by: TriggeredBy,
        now: Timestamp,
    ) -> WalletEffects {
        self.unblocked_at = Some(now);
        self.unblock_reason.clone_from(&reason);
        let mut effects = self.enter(state, now);
        effects.optional.push(self.optional(WalletEvent::WalletUnblocked {
            wallet: self.id,
            customer: self.customer_id.clone(),
            reason,
            at: now,
            triggered_by,
        }));
        effects
    }

    const fn optional(&self, event: WalletEvent) -> OptionalEvent {
        OptionalEvent { aggregate: Aggregate::Wallet(self.id), event }
    }

    /// Applies a regulator's order. `Ok(None)` means that the same reference number was applied
    /// before.
    ///
    /// # Errors
    /// [`WalletRefusal::Conflict`]
    pub fn blacklist(
        &mut self,
        order: BlacklistOrder,
        now: Timestamp,
    ) -> Result<Option<WalletEffects>, WalletRefusal> {
        self.take_order(order, true, now)
    }

    /// The same while the wallet's chain is not in use: it is blocked now, and blacklisted when the
    /// chain is used (again).
    ///
    /// # Errors
    /// As [`Wallet::blacklist`]
    pub fn blacklist_with_chain(
        &mut self,
        order: BlacklistOrder,
        now: Timestamp,
    ) -> Result<Option<WalletEffects>, WalletRefusal> {
        self.take_order(order, false, now)
    }

    fn take_order(
        &mut self,
        order: BlacklistOrder,
        chain_in_use: bool,
        now: Timestamp,
    ) -> Result<Option<WalletEffects>, WalletRefusal> {
        let mut known = self.blacklisting.iter().chain(&self.superseded);
        if known.any(|known| known.reference == order.reference) {
            return Ok(None);
        }
        let later = order.effective_date > now.date();
        let trigger = match later || !chain_in_use {
            true => WalletTrigger::BlacklistLater,
            false => WalletTrigger::BlacklistNow,
        };
        let step = self.state.on(trigger);
        if step == WalletStep::Conflict {
            return Err(WalletRefusal::Conflict(self.state));
        }
        if let (true, Some(refusal)) = (later, self.ordered()) {
            return Err(refusal);
        }
        self.superseded = self.blacklisting.take();
        self.blacklisting = Some(Blacklisting {
            authority: order.authority,
            reference: order.reference,
            reason: order.reason,
            effective_date: order.effective_date,
            ordered_at: now,
            at: None,
        });
        let mut effects = match step {
            WalletStep::To(WalletState::Blocked) => {
                let block = BlockOrder {
                    reason: BlockReason::PendingInvestigation,
                    details: ORDER_DETAILS.to_owned(),
                    auto_unblock_hours: None,
                    triggered_by: TriggeredBy::Manual,
                };
                self.blocked(WalletState::Blocked, block, None, now)
            }
            WalletStep::To(state) => return Ok(Some(self.blacklisted(state, now))),
            // Already blocked: the block no longer ends automatically.
            WalletStep::Stays | WalletStep::Conflict => {
                if let Some(block) = &mut self.block {
                    block.auto_unblock_at = None;
                }
                self.enter(self.state, now)
            }
        };
        effects.optional.extend(self.ordered_event());
        Ok(Some(effects))
    }

    /// The wallet as the order with this reference number is answered: an order that another has
    /// superseded blocked the wallet until a date.
    #[must_use]
    pub fn as_ordered(mut self, reference: &str) -> Wallet {
        if self.superseded.as_ref().is_some_and(|it| it.reference == reference) {
            self.state = WalletState::Blocked;
            self.blacklisting = self.superseded.take();
        }
        self
    }

    fn blacklisted(&mut self, state: WalletState, now: Timestamp) -> WalletEffects {
        if let Some(order) = &mut self.blacklisting {
            order.at = Some(now);
        }
        let mut effects = self.enter(state, now);
        effects.optional.extend(self.ordered_event());
        effects
    }

    /// Event for a regulator's order: submitted with a future date, or in effect.
    fn ordered_event(&self) -> Option<OptionalEvent> {
        let order = self.blacklisting.as_ref()?;
        Some(self.optional(WalletEvent::WalletBlacklisted {
            wallet: self.id,
            customer: self.customer_id.clone(),
            authority: order.authority.clone(),
            reference: order.reference.clone(),
            effective_date: order.effective_date,
            at: order.at,
        }))
    }

    /// Checks the end of a block and the effective date of an order.
    pub fn time_passed(&mut self, now: Timestamp) -> WalletEffects {
        if self.ordered_for().is_some_and(|day| now >= day) {
            if let WalletStep::To(state) = self.state.on(WalletTrigger::DayCame) {
                return self.blacklisted(state, now);
            }
        } else if self.block_ends().is_some_and(|end| now >= end)
            && let WalletStep::To(state) = self.state.on(WalletTrigger::BlockRanOut)
        {
            return self.unblocked(state, None, TriggeredBy::Automatic, now);
        }
        self.waiting(now)
    }

    /// Records whether the USDC contract has blacklisted its address.
    pub fn chain_says(&mut self, blacklisted: bool) {
        if self.chain_blacklisted != blacklisted {
            self.chain_blacklisted = blacklisted;
            self.version += 1;
        }
    }

    /// Its dependents follow the state in `seen`: done, unless the state has changed since.
    pub fn followed_up(&mut self, seen: &Wallet, now: Timestamp) -> WalletEffects {
        let standing = |wallet: &Wallet| {
            (
                wallet.state,
                wallet.unblocked_at,
                wallet.block.clone().map(|block| block.at),
                wallet.ordered_for(),
            )
        };
        if self.follow_up && standing(self) == standing(seen) {
            self.follow_up = false;
            self.version += 1;
        }
        self.waiting(now)
    }

    /// Nothing has changed yet: schedules the next check.
    pub fn waiting(&self, now: Timestamp) -> WalletEffects {
        WalletEffects { jobs: vec![(self.id.0, self.next_job(now))], ..WalletEffects::default() }
    }

    fn enter(&mut self, state: WalletState, now: Timestamp) -> WalletEffects {
        self.state = state;
        self.follow_up = true;
        self.last_activity_at = now;
        self.version += 1;
        self.waiting(now)
    }

    /// Effective time of a pending order: the start of the day, UTC.
    pub fn ordered_for(&self) -> Option<Timestamp> {
        let order = self.blacklisting.as_ref().filter(|order| order.at.is_none())?;
        let midnight = order.effective_date.to_zoned(TimeZone::UTC).ok()?;
        Some(Timestamp(midnight.timestamp().as_microsecond()))
    }

    fn block_ends(&self) -> Option<Timestamp> {
        self.block.as_ref().filter(|_| self.state == WalletState::Blocked)?.auto_unblock_at
    }

    /// Its one job: the earliest of its due checks.
    fn next_job(&self, now: Timestamp) -> JobChange {
        let at = if self.follow_up {
            Some(now)
        } else if self.state == WalletState::Pending || self.freeze.is_some() {
            Some(now + CHAIN_POLL)
        } else {
            self.ordered_for().or_else(|| self.block_ends())
        };
        at.map_or(JobChange::Done, |at| JobChange::Set(JobKind::WalletTimer, at))
    }
}
