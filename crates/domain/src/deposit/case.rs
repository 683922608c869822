//! A deposit with its related records, and the one place that changes its state together with
//! books, job and version.

use super::states::{Step, Trigger};
use super::{Deposit, DepositBucket, DepositState, DepositStatus};
use crate::chain::ChainConfig;
use crate::chain_tx::Intent;
use crate::decision::{Cx, JobChange};
use crate::ids::IntentId;
use crate::job::JobKind;
use crate::names::state_phrase;
use crate::payment_request::PaymentRequest;
use crate::time::Span;
use crate::wallet::{Wallet, WalletState};
use crate::wallet_effects::{Alert, AlertKind, WalletEffects};
use crate::wallet_event::{
    About, AboutDeposit, Aggregate, FailureReason, NewWalletEvent, WalletEvent,
};

/// A deposit with its related records, loaded for one decision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// Deposit that the decision changes.
    pub deposit: Deposit,
    /// Wallet that receives it.
    pub wallet: Wallet,
    /// Request whose escrow it was paid to.
    pub request: Option<PaymentRequest>,
    /// The intents that it refers to, and those that the decision creates.
    pub intents: Vec<Intent>,
    /// Dust in the same vault that its release includes or may include.
    pub riders: Vec<Deposit>,
}

/// Reason for refusing a change: its premise is outdated, or a rule forbids it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DepositRefusal {
    /// The deposit's state does not permit it.
    #[error("the deposit {}", state_phrase(state.name()))]
    State {
        /// The state that is in the way.
        state: DepositState,
        /// Its status in the API, which can differ from that of its state.
        shown: Option<DepositStatus>,
    },
    /// The wallet is frozen.
    #[error("the wallet {}", state_phrase(.0.name()))]
    Frozen(WalletState),
    /// Another deposit in its escrow is on legal hold: nothing leaves the escrow.
    #[error("the escrow is on legal hold")]
    EscrowHeld,
    /// The sender or the payer is on a list now: a reviewer can only reject it.
    #[error("the sender is on a sanctions list now: the deposit can only be rejected")]
    Listed,
    /// It matches another list entry than the reviewers saw, or one more closely.
    #[error("the deposit's match on the sanctions lists has changed: review it again")]
    OtherMatch,
    /// It was screened on later lists than those that the decision rests on.
    #[error(
        "the deposit was screened on later sanctions lists than this node has: try again later"
    )]
    OlderLists,
    /// No part of it is held in an escrow.
    #[error("no part of the deposit is held in an escrow")]
    NothingHeld,
    /// The refund address is or may be on a list, or the lists are outdated.
    #[error("the address cannot be paid")]
    AddressRefused,
    /// The address of a proposed refund is or may be on a list now.
    #[error("the refund address is now on a sanctions list: withdraw the proposal")]
    AddressListed,
    /// The proposed refund differs from the one that the user reviewed.
    #[error("the proposed refund has changed (address or amount): review it again")]
    OtherRefund,
    /// The lists are too old to clear an address.
    #[error("the sanctions lists are too old to approve an address")]
    ListsTooOld,
    /// The proposer of a refund cannot approve it.
    #[error("another user has to approve the refund")]
    SamePerson,
    /// The proposal is not on the chain yet.
    #[error("the proposed refund is not on the chain yet, which takes some blocks: try again then")]
    NotProposed,
    /// The stablecoin has no contract in the configuration.
    #[error("the token is not configured")]
    NoToken,
}

/// Configuration and rules for decisions about deposits.
#[derive(Clone, Copy, Debug)]
pub struct Terms<'a> {
    /// Tokens, depths and release minimum of the installation's chain.
    pub chain: &'a ChainConfig,
    /// How long after its expiry a request still accepts a payment; `None` means not at all.
    pub accept_late: Option<Span>,
    /// Smallest amount worth a release, in minor units.
    pub release_min: i64,
    /// Whether an amount's cents select its outcome (`decisions.md`, "Sandbox values").
    pub sandbox: bool,
}

impl Case {
    /// Finds one of its intents.
    pub fn intent(&mut self, id: Option<IntentId>) -> Option<&mut Intent> {
        let id = id?;
        self.intents.iter_mut().find(|intent| intent.id == id)
    }

    /// State after a trigger that must not fail.
    pub(super) fn next(&self, trigger: Trigger) -> Option<DepositState> {
        match self.deposit.state.on(trigger) {
            Step::To(state) => Some(state),
            Step::Back => self.deposit.back_to,
            Step::Stays | Step::Refused | Step::Person => None,
        }
    }

    /// Changes the state, with its effects on books and job.
    pub(super) fn enter(&mut self, to: DepositState, effects: &mut WalletEffects, cx: &mut Cx<'_>) {
        let from = self.deposit.state;
        let deposit = &mut self.deposit;
        let was_in_wallet = deposit.pot == DepositBucket::Wallet;
        if to == DepositState::Completed {
            effects.transfers.extend(deposit.post_hold(cx));
        } else if to != DepositState::Approved {
            effects.transfers.extend(deposit.void_hold(cx));
        }
        let (pot, reason) = match to {
            DepositState::Seen | DepositState::Orphaned => {
                (DepositBucket::Nowhere, "deposit.unseen")
            }
            DepositState::Suspended => (DepositBucket::Suspense, "deposit.suspend"),
            DepositState::Completed => (DepositBucket::Wallet, "deposit.clear"),
            DepositState::Refunded => (DepositBucket::Nowhere, "deposit.refund"),
            // A refund is paid from the current book account, and a failure leaves the amount
            // there.
            DepositState::Failed | DepositState::Refunding => (deposit.pot, "deposit.stays"),
            DepositState::Rejected
                if deposit.pot == DepositBucket::Suspense
                    && deposit.state == DepositState::Refunding =>
            {
                (DepositBucket::Suspense, "deposit.stays")
            }
            _ => (
                deposit.waiting_pot(),
                if deposit.pot == DepositBucket::Nowhere {
                    "deposit.credit"
                } else {
                    "deposit.resume"
                },
            ),
        };
        if was_in_wallet && pot != DepositBucket::Wallet {
            effects.transfers.extend(deposit.fee(0, deposit.known_fee(), cx));
        }
        effects.transfers.extend(deposit.move_to(pot, reason, cx));
        if !was_in_wallet && pot == DepositBucket::Wallet {
            effects.transfers.extend(deposit.fee(deposit.known_fee(), 0, cx));
        }
        if to == DepositState::Approved
            && deposit.pot == DepositBucket::Escrow
            && deposit.hold.is_none()
        {
            effects.transfers.push(deposit.reserve(cx));
        }
        let had_job = matches!(
            deposit.state,
            DepositState::Dust
                | DepositState::Screening
                | DepositState::InReview
                | DepositState::Refunding
        );
        deposit.state = to;
        deposit.state_at = cx.now;
        deposit.version += 1;
        let job = match to {
            DepositState::Screening => Some(JobChange::Set(JobKind::Screen, cx.now)),
            DepositState::InReview => Some(JobChange::Set(JobKind::ReviewDeposit, cx.now)),
            DepositState::Dust if deposit.assessment.is_none() => {
                Some(JobChange::Set(JobKind::Screen, cx.now))
            }
            _ => had_job.then_some(JobChange::Done),
        };
        effects.jobs.extend(job.map(|job| (deposit.id.0, job)));
        if to == DepositState::Completed && deposit.request.is_none() && !deposit.is_dust {
            effects.closed.push(deposit.direct_alert());
        }
        if matches!(to, DepositState::Completed | DepositState::Refunded | DepositState::Orphaned) {
            self.end_alerts("", effects);
        }
        if to == DepositState::LegalHold {
            self.hold_escrow(effects, cx);
        }
        // It is not in its request's sums yet: see `Case::credit`.
        if from != DepositState::Seen {
            self.weigh_refusal();
        }
    }

    /// Keeps what its request counts in line with whether it is refused.
    pub(super) fn weigh_refusal(&mut self) {
        let Some(request) = self.request.as_mut() else { return };
        let deposit = &mut self.deposit;
        let paid = (deposit.coin, deposit.minor);
        let is_deducted = deposit.counts() && deposit.is_refused();
        match (std::mem::replace(&mut deposit.is_deducted, is_deducted), is_deducted) {
            (false, true) => request.payment_refused(paid),
            (true, false) => request.refusal_dropped(paid),
            _ => {}
        }
    }

    /// Common fields of its events.
    pub(super) fn about(&self) -> About {
        let deposit = &self.deposit;
        About {
            request: deposit.request,
            wallet: self.wallet.id,
            customer: self.wallet.customer_id.clone(),
            deposit: Some(AboutDeposit { id: deposit.id, tx: deposit.tx }),
        }
    }

    /// Adds an event to its request, or to its wallet if it has no request.
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

    /// It failed or was rejected: keeps the reason and notifies the bank.
    pub(super) fn fail(&mut self, reason: FailureReason, effects: &mut WalletEffects, cx: &Cx<'_>) {
        self.fail_saying(reason, message(reason), effects, cx);
    }

    /// Like [`Case::fail`], with a specific message.
    pub(super) fn fail_saying(
        &mut self,
        reason: FailureReason,
        message: &str,
        effects: &mut WalletEffects,
        cx: &Cx<'_>,
    ) {
        self.deposit.failure = Some(reason);
        let message = message.to_owned();
        let event =
            WalletEvent::TransactionFailed { about: self.about(), reason, message, at: cx.now };
        self.tell(event, effects);
    }

    /// Adds an alert whose subject is the deposit.
    pub(super) fn alert(&self, kind: AlertKind, what: String, effects: &mut WalletEffects) {
        effects.alerts.push(Alert { kind, subject: self.deposit.id.0, what });
    }

    /// Ends its alerts of the kind `transaction` that begin with this text: those about a release or a
    /// refund that failed end when its tokens have left the escrow.
    pub(super) fn end_alerts(&self, beginning: &str, effects: &mut WalletEffects) {
        let (subject, what) = (self.deposit.id.0, beginning.to_owned());
        effects.ended.push(Alert { kind: AlertKind::Transaction, subject, what });
    }
}

impl Deposit {
    /// The alert about one that was paid directly to a wallet, until its tokens are in the wallet.
    pub(super) fn direct_alert(&self) -> Alert {
        let what =
            "tokens were paid directly to a wallet's address: they are in suspense".to_owned();
        Alert { kind: AlertKind::DirectDeposit, subject: self.id.0, what }
    }
}

/// `error_message`: neutral, the same for all recipients.
pub const fn message(reason: FailureReason) -> &'static str {
    match reason {
        FailureReason::OnChainRevert => "the transfer failed on the chain",
        FailureReason::TransactionDropped => {
            "the incoming transaction is no longer part of the chain"
        }
        FailureReason::TokenPaused => "the token's issuer has paused transfers",
        FailureReason::AddressBlacklisted => "the address cannot be paid",
        FailureReason::UnsupportedAsset => "the token is not supported",
        FailureReason::ComplianceRejected => "the transaction cannot be completed",
        FailureReason::Timeout => "the transaction was not completed in time",
    }
}
