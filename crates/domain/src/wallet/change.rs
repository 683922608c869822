//! What happens to a wallet: it is made, blocked, unblocked, blacklisted; time passes; the chain says something.

use jiff::civil::Date;
use jiff::tz::TimeZone;

use super::states::{WalletStep, WalletTrigger};
use super::{Blacklisting, Block, BlockReason, KycLevel, TriggeredBy, Wallet, WalletState};
use crate::chain::vault::{self, VaultKind};
use crate::ids::{TenantId, WalletId};
use crate::job::JobKind;
use crate::payment::JobChange;
use crate::ports::Controller;
use crate::time::{Span, Timestamp};
use crate::wallet_effects::WalletEffects;
use crate::wallet_event::{AboutDeposit, Aggregate, NewWalletEvent, OptionalEvent, WalletEvent};

/// The most hours after which a block may end by itself, and the fewest (`decisions.md`, "Bounds").
pub const AUTO_UNBLOCK_HOURS: std::ops::RangeInclusive<i64> = 1..=8_760;
/// How often it is looked whether the chain has done what a wallet waits for.
pub const CHAIN_POLL: Span = Span::secs(2);
/// What the bank is told of a block that an order with a later date brings with it.
pub const ORDER_DETAILS: &str = "Blocked until a regulatory order takes effect";

/// Why a wallet is not made or not changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WalletRefusal {
    /// The customer's level is below the tenant's minimum.
    #[error("the customer's KYC level must be {} at least", .0.name())]
    KycRequired(KycLevel),
    /// The customer has a wallet on this chain.
    #[error("the customer has wallet {0}")]
    Exists(WalletId),
    /// A blacklisting waits for its day: the wallet stays blocked until then.
    #[error("a blacklisting is ordered for {0}")]
    Ordered(Date),
    /// The wallet's state does not allow it.
    #[error("the wallet is {}", .0.name())]
    Conflict(WalletState),
    /// The wallet is frozen: it asks for nothing.
    #[error("the wallet is {}", .0.name())]
    Frozen(WalletState),
}

/// What a wallet is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Provision {
    /// The id that it will have.
    pub id: WalletId,
    /// Whose customer's.
    pub tenant: TenantId,
    /// The bank's own id of the customer.
    pub customer_id: String,
    /// E-mail address.
    pub email: String,
    /// E.164.
    pub phone: String,
    /// The API's name of the chain.
    pub blockchain: String,
    /// What the bank says about the customer; BASIC where it says nothing.
    pub kyc_level: Option<KycLevel>,
    /// The tenant's controller.
    pub controller: Controller,
    /// Whether the controller is on the chain.
    pub deployed: bool,
}

/// Makes a wallet; `existing` is what the customer has on this chain already.
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
        // A wallet's vault pays nobody but the controller, which holds what is exchanged.
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
        chain_blacklisted: false,
        frozen_on_chain: false,
        freeze: None,
        follow_up: false,
        events: 0,
        version: 1,
    };
    let mut effects = WalletEffects::default();
    if wallet.state == WalletState::Pending {
        // The first wallet has the controller put on the chain: at once.
        effects.jobs.push((wallet.id.0, JobChange::Set(JobKind::WalletTimer, now)));
    }
    Ok((wallet, effects))
}

/// A block that is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockOrder {
    /// Why.
    pub reason: BlockReason,
    /// Why, in words.
    pub details: String,
    /// When it ends by itself.
    pub auto_unblock_hours: Option<i64>,
    /// Who asks.
    pub triggered_by: TriggeredBy,
}

/// An order to blacklist that is passed on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlacklistOrder {
    /// `regulatory_authority`
    pub authority: String,
    /// `regulatory_reference_number`
    pub reference: String,
    /// `reason`
    pub reason: String,
    /// `effective_date`
    pub effective_date: Date,
}

impl Wallet {
    /// Whether it may ask for a payment request or an exchange.
    ///
    /// # Errors
    /// [`WalletRefusal::Frozen`]
    pub const fn may_ask(&self) -> Result<(), WalletRefusal> {
        if self.state.is_frozen() { Err(WalletRefusal::Frozen(self.state)) } else { Ok(()) }
    }

    /// Something was done with it.
    pub fn touch(&mut self, now: Timestamp) {
        self.last_activity_at = now;
        self.version += 1;
    }

    /// The number of the event that it writes now.
    pub const fn next_event(&mut self) -> i64 {
        self.events += 1;
        self.events
    }

    /// The controller is on the chain.
    pub fn chain_ready(&mut self, now: Timestamp) -> WalletEffects {
        match self.state.on(WalletTrigger::ChainReady) {
            WalletStep::To(state) => self.enter(state, now),
            WalletStep::Stays | WalletStep::Conflict => self.waiting(now),
        }
    }

    /// Blocks it. One that is frozen already stays as it is if the risk system asks.
    ///
    /// # Errors
    /// [`WalletRefusal::Conflict`]
    pub fn block(&mut self, order: BlockOrder, now: Timestamp) -> Result<WalletEffects, WalletRefusal> {
        self.block_because_of(None, order, now)
    }

    /// The same for what a deposit brought about: its event names the deposit.
    ///
    /// # Errors
    /// [`WalletRefusal::Conflict`]
    pub fn block_because_of(
        &mut self,
        deposit: Option<AboutDeposit>,
        order: BlockOrder,
        now: Timestamp,
    ) -> Result<WalletEffects, WalletRefusal> {
        let trigger = match order.triggered_by {
            TriggeredBy::Manual => WalletTrigger::Block,
            TriggeredBy::Automatic => WalletTrigger::RiskBlock,
        };
        let state = match self.state.on(trigger) {
            WalletStep::To(state) => state,
            WalletStep::Stays => return Ok(WalletEffects::default()),
            WalletStep::Conflict => return Err(WalletRefusal::Conflict(self.state)),
        };
        Ok(self.blocked(state, order, deposit, now))
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
        effects.events.push(NewWalletEvent { aggregate: Aggregate::Wallet(self.id), version, event });
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
    pub fn unblock_because(&mut self, reason: Option<String>, now: Timestamp) -> Result<WalletEffects, WalletRefusal> {
        let ordered = self.ordered();
        let trigger = if ordered.is_some() { WalletTrigger::UnblockUnderOrder } else { WalletTrigger::Unblock };
        match self.state.on(trigger) {
            WalletStep::To(state) => Ok(self.unblocked(state, reason, TriggeredBy::Manual, now)),
            WalletStep::Stays | WalletStep::Conflict => Err(ordered.unwrap_or(WalletRefusal::Conflict(self.state))),
        }
    }

    /// The refusal of what a blacklisting that waits for its day forbids.
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

    /// A regulator's order. `Ok(None)`: it was carried out before, under the same reference number.
    ///
    /// # Errors
    /// [`WalletRefusal::Conflict`]
    pub fn blacklist(&mut self, order: BlacklistOrder, now: Timestamp) -> Result<Option<WalletEffects>, WalletRefusal> {
        if self.blacklisting.as_ref().is_some_and(|known| known.reference == order.reference) {
            return Ok(None);
        }
        let later = order.effective_date > now.date();
        let trigger = if later { WalletTrigger::BlacklistLater } else { WalletTrigger::BlacklistNow };
        let step = self.state.on(trigger);
        if step == WalletStep::Conflict {
            return Err(WalletRefusal::Conflict(self.state));
        }
        if let (true, Some(refusal)) = (later, self.ordered()) {
            return Err(refusal);
        }
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
            // Blocked already: the block ends no more by itself.
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

    fn blacklisted(&mut self, state: WalletState, now: Timestamp) -> WalletEffects {
        if let Some(order) = &mut self.blacklisting {
            order.at = Some(now);
        }
        let mut effects = self.enter(state, now);
        effects.optional.extend(self.ordered_event());
        effects
    }

    /// What the bank is told of a regulator's order: that it waits for its day, or that it took effect.
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

    /// Time has passed: a block ran out, or the day of an order has come.
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

    /// What USDC's contract says about its address.
    pub fn chain_says(&mut self, blacklisted: bool) {
        if self.chain_blacklisted != blacklisted {
            self.chain_blacklisted = blacklisted;
            self.version += 1;
        }
    }

    /// All that hangs on its state was brought in line with it as `seen`: done, unless the state has changed since.
    pub fn followed_up(&mut self, seen: &Wallet, now: Timestamp) -> WalletEffects {
        let standing = |wallet: &Wallet| {
            (wallet.state, wallet.unblocked_at, wallet.block.clone().map(|block| block.at), wallet.ordered_for())
        };
        if self.follow_up && standing(self) == standing(seen) {
            self.follow_up = false;
            self.version += 1;
        }
        self.waiting(now)
    }

    /// Nothing happened, or not yet: it waits on.
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

    /// When an order that waits for its day takes effect: its first moment, UTC.
    pub fn ordered_for(&self) -> Option<Timestamp> {
        let order = self.blacklisting.as_ref().filter(|order| order.at.is_none())?;
        let midnight = order.effective_date.to_zoned(TimeZone::UTC).ok()?;
        Some(Timestamp(midnight.timestamp().as_microsecond()))
    }

    fn block_ends(&self) -> Option<Timestamp> {
        self.block.as_ref().filter(|_| self.state == WalletState::Blocked)?.auto_unblock_at
    }

    /// The one job that it has: the earliest of what it waits for.
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
