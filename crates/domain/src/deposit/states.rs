//! The incoming transaction's state machine: the effect of each trigger in each state
//! (`decisions.md`, "Incoming transaction").

use super::{DepositRefusal, DepositState, DepositStatus};

names! {
    /// Trigger of a deposit.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum Trigger: "Label in `docs/states.md`." {
        /// Its log is in a block.
        Included = "found in a block",
        /// Its block was reorganised away.
        Lost = "block reorganised away",
        /// It has the policy's depth; the wallet is active.
        Counted = "deep enough",
        /// It has the policy's depth and is not worth a release, whatever the wallet's state.
        CountedDust = "deep enough, not worth a release",
        /// It has the policy's depth; the wallet is blocked.
        CountedBlocked = "deep enough, wallet blocked",
        /// It has the policy's depth; the wallet is blacklisted.
        CountedBlacklisted = "deep enough, wallet blacklisted",
        /// Screening found nothing against it: it may go to the wallet.
        RiskApproved = "risk: approved",
        /// Screening requires a review.
        RiskReview = "risk: review",
        /// Screening rejected it; it may be refunded.
        RiskRejected = "risk: rejected, refundable",
        /// Screening rejected it; it is never refunded.
        RiskLegal = "risk: rejected, legal hold",
        /// Screening blocked the wallet and did not decide about the deposit.
        RiskHeld = "risk: wallet blocked",
        /// A reviewer approved it.
        ReviewApproved = "review: approved",
        /// A reviewer rejected it.
        ReviewRejected = "review: rejected",
        /// A reviewer put it on legal hold.
        ReviewLegal = "review: legal hold",
        /// Two users lifted its legal hold.
        HoldLifted = "hold lifted by two users",
        /// Nothing in its escrow is on legal hold any more.
        EscrowFree = "escrow hold lifted",
        /// The wallet was blocked.
        WalletBlocked = "wallet blocked",
        /// The wallet was unblocked.
        WalletUnblocked = "wallet unblocked",
        /// The wallet was blacklisted.
        WalletBlacklisted = "wallet blacklisted",
        /// Dust is released to the wallet, alone or with another deposit.
        Gathered = "dust: released",
        /// Dust is now worth a release and needs review.
        GatheredForReview = "dust: review",
        /// The release that would have included it does not happen.
        LeftBehind = "dust: release did not happen",
        /// The release took effect.
        ReleaseDone = "release done",
        /// The release failed at its last attempt.
        ReleaseFailed = "release failed",
        /// The release certainly did not happen and never will; the wallet is active.
        ReleaseStopped = "release stopped",
        /// The release will not happen; another deposit in its escrow is on legal hold.
        ReleaseStoppedHeld = "release stopped, escrow on hold",
        /// The release will not happen; the wallet is blocked.
        ReleaseStoppedBlocked = "release stopped, wallet blocked",
        /// The release will not happen; the wallet is blacklisted.
        ReleaseStoppedBlacklisted = "release stopped, wallet blacklisted",
        /// Compliance requested a refund.
        RefundAsked = "refund proposed",
        /// The refund took effect on the chain: the money has left the escrow.
        RefundDone = "refund done",
        /// The refund was given up: the deposit returns to its earlier state.
        RefundFailed = "refund failed",
        /// The proposal was withdrawn before its approval.
        RefundWithdrawn = "refund withdrawn",
        /// It stayed out of the chain for longer than the limit.
        Dropped = "dropped from the chain",
    }
}

/// Effect of a trigger in a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The deposit changes to this state, with the effects on books and job.
    To(DepositState),
    /// Returns to the state before the suspension or refund.
    Back,
    /// Nothing changes: already known, or not decided by this trigger.
    Stays,
    /// The command is refused; nothing changes.
    Refused,
    /// Contradicts what is known: the state stays, and an alert is raised.
    Person,
}

impl DepositState {
    /// The API's status of a deposit in this state; `None` if it is hidden.
    pub const fn status(self) -> Option<DepositStatus> {
        Some(match self {
            DepositState::Orphaned => return None,
            DepositState::Seen => DepositStatus::Pending,
            DepositState::Dust
            | DepositState::Held
            | DepositState::Screening
            | DepositState::InReview
            | DepositState::Approved
            | DepositState::Suspended => DepositStatus::ReceivedInEscrow,
            DepositState::Completed => DepositStatus::Completed,
            DepositState::Rejected
            | DepositState::LegalHold
            | DepositState::Refunding
            | DepositState::Refunded => DepositStatus::Rejected,
            DepositState::Failed => DepositStatus::Failed,
        })
    }

    /// Refuses a change of a deposit that is in this state and has no earlier one to return to.
    pub const fn refused(self) -> DepositRefusal {
        DepositRefusal::State { state: self, shown: self.status() }
    }

    /// The matrix state × trigger. A deposit starts as `Seen`.
    pub const fn on(self, trigger: Trigger) -> Step {
        use DepositState::{Approved, Dust, Held, InReview, LegalHold, Rejected, Screening};
        use Trigger as T;
        match trigger {
            T::Included
            | T::Lost
            | T::Counted
            | T::CountedDust
            | T::CountedBlocked
            | T::CountedBlacklisted
            | T::Dropped => self.on_chain(trigger),
            T::ReleaseDone
            | T::ReleaseFailed
            | T::ReleaseStopped
            | T::ReleaseStoppedHeld
            | T::ReleaseStoppedBlocked
            | T::ReleaseStoppedBlacklisted
            | T::RefundAsked
            | T::RefundDone
            | T::RefundFailed
            | T::RefundWithdrawn => self.on_transfer(trigger),

            T::RiskApproved if matches!(self, Screening) => Step::To(Approved),
            T::RiskReview if matches!(self, Screening) => Step::To(InReview),
            T::RiskRejected if matches!(self, Screening) => Step::To(Rejected),
            T::RiskLegal if matches!(self, Screening) => Step::To(LegalHold),
            T::RiskHeld if matches!(self, Screening) => Step::To(Held),
            T::ReviewApproved if matches!(self, InReview) => Step::To(Approved),
            T::ReviewRejected if matches!(self, InReview) => Step::To(Rejected),
            T::ReviewLegal if matches!(self, InReview | Rejected) => Step::To(LegalHold),
            T::HoldLifted if matches!(self, LegalHold) => Step::To(Rejected),
            T::RiskApproved | T::RiskReview | T::RiskRejected | T::RiskLegal | T::RiskHeld => {
                Step::Refused
            }
            T::ReviewApproved | T::ReviewRejected | T::ReviewLegal | T::HoldLifted => Step::Refused,
            // Only deposits that waited for that, see `Case::escrow_free`.
            T::EscrowFree if matches!(self, InReview) => Step::To(Screening),
            T::EscrowFree => Step::Stays,

            T::Gathered if matches!(self, Dust) => Step::To(Approved),
            T::GatheredForReview if matches!(self, Dust) => Step::To(InReview),
            T::LeftBehind if matches!(self, Approved) => Step::To(Dust),
            T::Gathered | T::GatheredForReview | T::LeftBehind => Step::Stays,

            T::WalletBlocked if matches!(self, Screening) => Step::To(Held),
            T::WalletUnblocked if matches!(self, Held) => Step::To(Screening),
            T::WalletBlacklisted if matches!(self, Held | Screening | InReview) => {
                Step::To(Rejected)
            }
            // A seen deposit is decided when it counts, a suspended one when it is back, an
            // approved one when the outcome of its release is known.
            T::WalletBlocked | T::WalletUnblocked | T::WalletBlacklisted => Step::Stays,
        }
    }

    const fn on_chain(self, trigger: Trigger) -> Step {
        use DepositState::{
            Approved, Completed, Dust, Failed, Held, InReview, LegalHold, Orphaned, Refunded,
            Refunding, Rejected, Screening, Seen, Suspended,
        };
        match (self, trigger) {
            (Orphaned, Trigger::Included) => Step::To(Seen),
            (Failed, Trigger::Included) => Step::To(Suspended),
            (_, Trigger::Included) => Step::Stays,

            (Seen, Trigger::Lost) => Step::To(Orphaned),
            (
                Dust | Held | Screening | InReview | Approved | Completed | Rejected | LegalHold,
                Trigger::Lost,
            ) => Step::To(Suspended),
            (Orphaned | Suspended, Trigger::Lost) => Step::Stays,
            (_, Trigger::Lost) => Step::Person,

            (Suspended, Trigger::Dropped) => Step::To(Failed),
            (_, Trigger::Dropped) => Step::Stays,

            (Suspended, _) => Step::Back,
            (Seen, Trigger::Counted) => Step::To(Screening),
            (Seen, Trigger::CountedDust) => Step::To(Dust),
            (Seen, Trigger::CountedBlocked) => Step::To(Held),
            (Seen, Trigger::CountedBlacklisted) => Step::To(Rejected),
            (Orphaned | Dust | Held | Screening | InReview | Approved | Completed, _) => {
                Step::Stays
            }
            (Rejected | LegalHold | Refunding | Refunded | Failed | Seen, _) => Step::Stays,
        }
    }

    const fn on_transfer(self, trigger: Trigger) -> Step {
        use DepositState::{
            Approved, Completed, Failed, Held, InReview, Refunded, Refunding, Rejected, Suspended,
        };
        match (self, trigger) {
            (Approved | Suspended, Trigger::ReleaseDone) => Step::To(Completed),
            (Completed, Trigger::ReleaseDone) => Step::Stays,
            (_, Trigger::ReleaseDone) => Step::Person,

            (Approved, Trigger::ReleaseFailed) => Step::To(Failed),
            (Approved, Trigger::ReleaseStoppedHeld) => Step::To(InReview),
            (Approved, Trigger::ReleaseStoppedBlocked) => Step::To(Held),
            (Approved, Trigger::ReleaseStoppedBlacklisted) => Step::To(Rejected),

            (Rejected | Failed, Trigger::RefundAsked) => Step::To(Refunding),
            (_, Trigger::RefundAsked) => Step::Refused,
            // Others than `Refunding`: it was given up, and a reorganisation restored it.
            (Refunding | Rejected | Failed, Trigger::RefundDone) => Step::To(Refunded),
            (Refunding, Trigger::RefundFailed | Trigger::RefundWithdrawn) => Step::Back,
            (_, Trigger::RefundWithdrawn) => Step::Refused,
            (Refunded, Trigger::RefundDone) => Step::Stays,
            (_, Trigger::RefundDone) => Step::Person,
            _ => Step::Stays,
        }
    }
}
