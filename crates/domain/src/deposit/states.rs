//! The incoming transaction's state machine: the effect of each trigger in each state
//! (`decisions.md`, "Incoming transaction").

use super::DepositState;

/// Trigger of a deposit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Trigger {
    /// Its log is in a block.
    Included,
    /// Its block was reorganised away.
    Lost,
    /// It has the policy's depth; the wallet is active.
    Counted,
    /// It has the policy's depth and is not worth a release, whatever the wallet's state.
    CountedDust,
    /// It has the policy's depth; the wallet is blocked.
    CountedBlocked,
    /// It has the policy's depth; the wallet is blacklisted.
    CountedBlacklisted,
    /// Screening approved it.
    RiskApproved,
    /// Screening requires a review.
    RiskReview,
    /// Screening rejected it; it may be refunded.
    RiskRejected,
    /// Screening rejected it; it is never refunded.
    RiskLegal,
    /// Screening blocked the wallet and did not decide about the deposit.
    RiskHeld,
    /// A reviewer approved it.
    ReviewApproved,
    /// A reviewer rejected it.
    ReviewRejected,
    /// A reviewer put it on legal hold.
    ReviewLegal,
    /// Two users lifted its legal hold.
    HoldLifted,
    /// Nothing in its escrow is on legal hold any more.
    EscrowFree,
    /// The wallet was blocked.
    WalletBlocked,
    /// The wallet was unblocked.
    WalletUnblocked,
    /// The wallet was blacklisted.
    WalletBlacklisted,
    /// Dust is released to the wallet, alone or with another deposit.
    Gathered,
    /// Dust is now worth a release and needs review.
    GatheredForReview,
    /// The release that would have included it does not happen.
    LeftBehind,
    /// The release took effect.
    ReleaseDone,
    /// The release failed at its last attempt.
    ReleaseFailed,
    /// The release certainly did not happen and never will; the wallet is active.
    ReleaseStopped,
    /// The release will not happen; another deposit in its escrow is on legal hold.
    ReleaseStoppedHeld,
    /// The release will not happen; the wallet is blocked.
    ReleaseStoppedBlocked,
    /// The release will not happen; the wallet is blacklisted.
    ReleaseStoppedBlacklisted,
    /// Compliance requested a refund.
    RefundAsked,
    /// It was refunded.
    RefundDone,
    /// The refund failed.
    RefundFailed,
    /// The proposal was withdrawn before its approval.
    RefundWithdrawn,
    /// It stayed out of the chain for longer than the limit.
    Dropped,
}

impl Trigger {
    /// All triggers.
    pub const ALL: [Trigger; 33] = [
        Trigger::Included,
        Trigger::Lost,
        Trigger::Counted,
        Trigger::CountedDust,
        Trigger::CountedBlocked,
        Trigger::CountedBlacklisted,
        Trigger::RiskApproved,
        Trigger::RiskReview,
        Trigger::RiskRejected,
        Trigger::RiskLegal,
        Trigger::RiskHeld,
        Trigger::ReviewApproved,
        Trigger::ReviewRejected,
        Trigger::ReviewLegal,
        Trigger::HoldLifted,
        Trigger::EscrowFree,
        Trigger::WalletBlocked,
        Trigger::WalletUnblocked,
        Trigger::WalletBlacklisted,
        Trigger::Gathered,
        Trigger::GatheredForReview,
        Trigger::LeftBehind,
        Trigger::ReleaseDone,
        Trigger::ReleaseFailed,
        Trigger::ReleaseStopped,
        Trigger::ReleaseStoppedHeld,
        Trigger::ReleaseStoppedBlocked,
        Trigger::ReleaseStoppedBlacklisted,
        Trigger::RefundAsked,
        Trigger::RefundDone,
        Trigger::RefundFailed,
        Trigger::RefundWithdrawn,
        Trigger::Dropped,
    ];

    /// Label in `docs/states.md`.
    pub const fn name(self) -> &'static str {
        match self {
            Trigger::Included => "found in a block",
            Trigger::Lost => "block reorganised away",
            Trigger::Counted => "deep enough",
            Trigger::CountedDust => "deep enough, not worth a release",
            Trigger::CountedBlocked => "deep enough, wallet blocked",
            Trigger::CountedBlacklisted => "deep enough, wallet blacklisted",
            Trigger::RiskApproved => "risk: approved",
            Trigger::RiskReview => "risk: review",
            Trigger::RiskRejected => "risk: rejected, refundable",
            Trigger::RiskLegal => "risk: rejected, legal hold",
            Trigger::RiskHeld => "risk: wallet blocked",
            Trigger::ReviewApproved => "review: approved",
            Trigger::ReviewRejected => "review: rejected",
            Trigger::ReviewLegal => "review: legal hold",
            Trigger::HoldLifted => "hold lifted by two users",
            Trigger::EscrowFree => "escrow hold lifted",
            Trigger::WalletBlocked => "wallet blocked",
            Trigger::WalletUnblocked => "wallet unblocked",
            Trigger::WalletBlacklisted => "wallet blacklisted",
            Trigger::Gathered => "dust: released",
            Trigger::GatheredForReview => "dust: review",
            Trigger::LeftBehind => "dust: release did not happen",
            Trigger::ReleaseDone => "release done",
            Trigger::ReleaseFailed => "release failed",
            Trigger::ReleaseStopped => "release stopped",
            Trigger::ReleaseStoppedHeld => "release stopped, escrow on hold",
            Trigger::ReleaseStoppedBlocked => "release stopped, wallet blocked",
            Trigger::ReleaseStoppedBlacklisted => "release stopped, wallet blacklisted",
            Trigger::RefundAsked => "refund proposed",
            Trigger::RefundDone => "refund done",
            Trigger::RefundFailed => "refund failed",
            Trigger::RefundWithdrawn => "refund withdrawn",
            Trigger::Dropped => "dropped from the chain",
        }
    }
}

/// Effect of a trigger in a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Enters this state.
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
            T::RiskApproved | T::RiskReview | T::RiskRejected | T::RiskLegal | T::RiskHeld => Step::Refused,
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
            T::WalletBlacklisted if matches!(self, Held | Screening | InReview) => Step::To(Rejected),
            // A seen deposit is decided when it counts, a suspended one when it is back, an
            // approved one when the outcome of its release is known.
            T::WalletBlocked | T::WalletUnblocked | T::WalletBlacklisted => Step::Stays,
        }
    }

    const fn on_chain(self, trigger: Trigger) -> Step {
        use DepositState::{
            Approved, Completed, Dust, Failed, Held, InReview, LegalHold, Orphaned, Refunded, Refunding, Rejected,
            Screening, Seen, Suspended,
        };
        match (self, trigger) {
            (Orphaned, Trigger::Included) => Step::To(Seen),
            (Failed, Trigger::Included) => Step::To(Suspended),
            (_, Trigger::Included) => Step::Stays,

            (Seen, Trigger::Lost) => Step::To(Orphaned),
            (Dust | Held | Screening | InReview | Approved | Completed | Rejected | LegalHold, Trigger::Lost) => {
                Step::To(Suspended)
            }
            (Orphaned | Suspended, Trigger::Lost) => Step::Stays,
            (_, Trigger::Lost) => Step::Person,

            (Suspended, Trigger::Dropped) => Step::To(Failed),
            (_, Trigger::Dropped) => Step::Stays,

            (Suspended, _) => Step::Back,
            (Seen, Trigger::Counted) => Step::To(Screening),
            (Seen, Trigger::CountedDust) => Step::To(Dust),
            (Seen, Trigger::CountedBlocked) => Step::To(Held),
            (Seen, Trigger::CountedBlacklisted) => Step::To(Rejected),
            (Orphaned | Dust | Held | Screening | InReview | Approved | Completed, _) => Step::Stays,
            (Rejected | LegalHold | Refunding | Refunded | Failed | Seen, _) => Step::Stays,
        }
    }

    const fn on_transfer(self, trigger: Trigger) -> Step {
        use DepositState::{Approved, Completed, Failed, Held, InReview, Refunded, Refunding, Rejected, Suspended};
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
            (Refunding, Trigger::RefundDone) => Step::To(Refunded),
            (Refunding, Trigger::RefundFailed | Trigger::RefundWithdrawn) => Step::Back,
            (_, Trigger::RefundWithdrawn) => Step::Refused,
            (Refunded, Trigger::RefundDone) => Step::Stays,
            (_, Trigger::RefundDone) => Step::Person,
            _ => Step::Stays,
        }
    }
}
