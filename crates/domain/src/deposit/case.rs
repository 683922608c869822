//! A deposit with what belongs to it, and the one way in which its state changes: books, job and version with it.

use super::states::{Step, Trigger};
use super::{Deposit, DepositState, Pot};
use crate::chain::ChainConfig;
use crate::chain_tx::Intent;
use crate::ids::IntentId;
use crate::job::JobKind;
use crate::payment::{Cx, JobChange};
use crate::payment_request::PaymentRequest;
use crate::time::Span;
use crate::wallet::{Wallet, WalletState};
use crate::wallet_effects::{Alert, AlertKind, WalletEffects};
use crate::wallet_event::{About, AboutDeposit, Aggregate, FailureReason, NewWalletEvent, WalletEvent};

/// A deposit with what belongs to it, taken out of the books for one decision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// The deposit.
    pub deposit: Deposit,
    /// The wallet that it is for.
    pub wallet: Wallet,
    /// The request whose escrow it came to.
    pub request: Option<PaymentRequest>,
    /// The intents that it names, and those that the decision makes.
    pub intents: Vec<Intent>,
    /// Dust in the same vault: what its release takes along, or may take along.
    pub riders: Vec<Deposit>,
}

/// Why a change is not made: the world has moved on, or it is not allowed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DepositRefusal {
    /// The deposit is not in a state for it.
    #[error("the deposit is {}", .0.name())]
    State(DepositState),
    /// The wallet is frozen.
    #[error("the wallet is {}", .0.name())]
    Frozen(WalletState),
    /// Something in its escrow is on legal hold: nothing leaves that.
    #[error("the escrow is on legal hold")]
    EscrowHeld,
    /// Nothing of it is held in an escrow.
    #[error("nothing of the deposit is held in an escrow")]
    NothingHeld,
    /// The address that it is to be given back to is, or may be, on a list, or the lists are too old.
    #[error("the address cannot be paid")]
    AddressRefused,
    /// The address of a proposed refund is, or may be, on a list by now.
    #[error("the address that it goes back to is on a list by now: withdraw the proposal")]
    AddressListed,
    /// Another refund is proposed by now than the one that was looked at.
    #[error("the refund that is proposed goes to another address, or is of another amount: look at it again")]
    OtherRefund,
    /// Nobody can be cleared: the lists are too old.
    #[error("the sanction lists are too old to approve an address by")]
    ListsTooOld,
    /// Who proposed a refund cannot approve it too.
    #[error("another person has to approve the refund")]
    SamePerson,
    /// The proposal is not on the chain yet.
    #[error("the refund is not proposed yet")]
    NotProposed,
    /// The coin has no contract in the configuration.
    #[error("the coin is not configured")]
    NoToken,
}

/// What decisions about deposits are made by, beside what belongs to them.
#[derive(Clone, Copy, Debug)]
pub struct Terms<'a> {
    /// The chain.
    pub chain: &'a ChainConfig,
    /// How long after the expiry of a request a payment is still taken for it; `None` = not at all.
    pub accept_late: Option<Span>,
    /// Less than this is not worth a release, in minor units.
    pub release_min: i64,
    /// Whether the cents of an amount say what becomes of it (`decisions.md`, "Sandbox values").
    pub sandbox: bool,
}

impl Case {
    /// One of its intents.
    pub fn intent(&mut self, id: Option<IntentId>) -> Option<&mut Intent> {
        let id = id?;
        self.intents.iter_mut().find(|intent| intent.id == id)
    }

    /// The state that follows a trigger that may not fail.
    pub(super) fn next(&self, trigger: Trigger) -> Option<DepositState> {
        match self.deposit.state.on(trigger) {
            Step::To(state) => Some(state),
            Step::Back => self.deposit.back_to,
            Step::Stays | Step::Refused | Step::Person => None,
        }
    }

    /// Moves the deposit, with all that this means for the books and its job.
    pub(super) fn enter(&mut self, to: DepositState, effects: &mut WalletEffects, cx: &mut Cx<'_>) {
        let deposit = &mut self.deposit;
        if to == DepositState::Completed {
            effects.transfers.extend(deposit.post_hold(cx));
        } else if to != DepositState::Approved {
            effects.transfers.extend(deposit.void_hold(cx));
        }
        let (pot, reason) = match to {
            DepositState::Seen | DepositState::Orphaned => (Pot::Nowhere, "deposit.unseen"),
            DepositState::Suspended => (Pot::Suspense, "deposit.suspend"),
            DepositState::Completed => (Pot::Wallet, "deposit.clear"),
            DepositState::Refunded => (Pot::Nowhere, "deposit.refund"),
            // Where a refund is paid from, and where a failure leaves it, is where it was.
            DepositState::Failed | DepositState::Refunding => (deposit.pot, "deposit.stays"),
            DepositState::Rejected if deposit.pot == Pot::Suspense && deposit.state == DepositState::Refunding => {
                (Pot::Suspense, "deposit.stays")
            }
            _ => (deposit.waiting_pot(), if deposit.pot == Pot::Nowhere { "deposit.credit" } else { "deposit.resume" }),
        };
        effects.transfers.extend(deposit.move_to(pot, reason, cx));
        if to == DepositState::Approved && deposit.pot == Pot::Escrow && deposit.hold.is_none() {
            effects.transfers.push(deposit.reserve(cx));
        }
        let had_job = matches!(
            deposit.state,
            DepositState::Dust | DepositState::Screening | DepositState::InReview | DepositState::Refunding
        );
        deposit.state = to;
        deposit.state_at = cx.now;
        deposit.version += 1;
        let job = match to {
            DepositState::Screening => Some(JobChange::Set(JobKind::Screen, cx.now)),
            DepositState::InReview => Some(JobChange::Set(JobKind::ReviewDeposit, cx.now)),
            DepositState::Dust if deposit.assessment.is_none() => Some(JobChange::Set(JobKind::Screen, cx.now)),
            _ => had_job.then_some(JobChange::Done),
        };
        effects.jobs.extend(job.map(|job| (deposit.id.0, job)));
        if to == DepositState::LegalHold {
            self.hold_escrow(effects, cx);
        }
    }

    /// What its events begin with.
    pub(super) fn about(&self) -> About {
        let deposit = &self.deposit;
        About {
            request: deposit.request,
            wallet: self.wallet.id,
            customer: self.wallet.customer_id.clone(),
            deposit: Some(AboutDeposit { id: deposit.id, tx: deposit.tx }),
        }
    }

    /// Adds an event to its request's, or to its wallet's where it has no request.
    pub(super) fn tell(&mut self, event: WalletEvent, effects: &mut WalletEffects) {
        let (aggregate, version) = match &mut self.request {
            Some(request) => {
                request.version += 1;
                (Aggregate::Request(request.id), request.next_event())
            }
            None => {
                self.wallet.version += 1;
                (Aggregate::Wallet(self.wallet.id), self.wallet.next_event())
            }
        };
        effects.events.push(NewWalletEvent { aggregate, version, event });
    }

    /// It failed, or was refused: the reason is kept and the bank is told.
    pub(super) fn fail(&mut self, reason: FailureReason, effects: &mut WalletEffects, cx: &Cx<'_>) {
        self.fail_saying(reason, message(reason), effects, cx);
    }

    /// The same in other words than the reason's own.
    pub(super) fn fail_saying(
        &mut self,
        reason: FailureReason,
        message: &str,
        effects: &mut WalletEffects,
        cx: &Cx<'_>,
    ) {
        self.deposit.failure = Some(reason);
        let message = message.to_owned();
        let event = WalletEvent::TransactionFailed { about: self.about(), reason, message, at: cx.now };
        self.tell(event, effects);
    }

    /// Calls a person.
    pub(super) fn alert(&self, kind: AlertKind, what: String, effects: &mut WalletEffects) {
        effects.alerts.push(Alert { kind, subject: self.deposit.id.0, what });
    }
}

/// `error_message`: neutral, the same for everybody.
pub const fn message(reason: FailureReason) -> &'static str {
    match reason {
        FailureReason::OnChainRevert => "the transfer failed on the chain",
        FailureReason::TransactionDropped => "the incoming transaction is no longer part of the chain",
        FailureReason::TokenPaused => "the coin's issuer has paused transfers",
        FailureReason::AddressBlacklisted => "the address cannot be paid",
        FailureReason::UnsupportedAsset => "the token is not supported",
        FailureReason::ComplianceRejected => "the transaction cannot be completed",
        FailureReason::Timeout => "the transaction was not completed in time",
    }
}
