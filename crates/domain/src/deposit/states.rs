//! The incoming transaction's state machine: what each trigger does in each state (`decisions.md`, "Incoming
//! transaction").

use super::DepositState;

/// What can happen to a deposit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Trigger {
    /// Its log is in a block.
    Included,
    /// The block that it was in was reorganised away.
    Lost,
    /// It is at the policy's depth; the wallet is in use.
    Counted,
    /// The same, and it is not worth a release, whatever the wallet is.
    CountedDust,
    /// It is at the policy's depth, and the wallet is blocked.
    CountedBlocked,
    /// The same, and the wallet is blacklisted.
    CountedBlacklisted,
    /// Screening approved it.
    RiskApproved,
    /// Screening wants a person.
    RiskReview,
    /// Screening refused it; it may be given back.
    RiskRejected,
    /// Screening refused it, and it may never be given back.
    RiskLegal,
    /// Screening had the wallet blocked, and has not decided about the deposit.
    RiskHeld,
    /// A person approved it.
    ReviewApproved,
    /// A person refused it.
    ReviewRejected,
    /// A person keeps it for the law.
    ReviewLegal,
    /// Two people have lifted its legal hold.
    HoldLifted,
    /// Nothing in its escrow is on legal hold any more.
    EscrowFree,
    /// The wallet is blocked now.
    WalletBlocked,
    /// The wallet is in use again.
    WalletUnblocked,
    /// The wallet is blacklisted now.
    WalletBlacklisted,
    /// Dust goes to the wallet, alone or with another deposit.
    Gathered,
    /// Dust is worth a release now, and a person is to look at it.
    GatheredForReview,
    /// The release that would have taken it along does not happen.
    LeftBehind,
    /// The release took effect.
    ReleaseDone,
    /// The release failed as often as it is tried.
    ReleaseFailed,
    /// The release certainly did not happen and will not; the wallet is in use.
    ReleaseStopped,
    /// The same, and something else in its escrow is on legal hold.
    ReleaseStoppedHeld,
    /// It did not happen, and the wallet is blocked.
    ReleaseStoppedBlocked,
    /// The same, and the wallet is blacklisted.
    ReleaseStoppedBlacklisted,
    /// Compliance wants to give it back.
    RefundAsked,
    /// It was given back.
    RefundDone,
    /// It could not be given back.
    RefundFailed,
    /// Whoever may propose it takes the proposal back, before anybody has approved it.
    RefundWithdrawn,
    /// It stayed out of the chain for longer than is waited for.
    Dropped,
}

impl Trigger {
    /// Every trigger.
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

    /// The words in `docs/states.md`.
    pub const fn name(self) -> &'static str {
        match self {
            Trigger::Included => "found in a block",
            Trigger::Lost => "its block is gone",
            Trigger::Counted => "deep enough",
            Trigger::CountedDust => "deep enough, not worth a release",
            Trigger::CountedBlocked => "deep enough, wallet blocked",
            Trigger::CountedBlacklisted => "deep enough, wallet blacklisted",
            Trigger::RiskApproved => "risk: approved",
            Trigger::RiskReview => "risk: a person",
            Trigger::RiskRejected => "risk: refused, refundable",
            Trigger::RiskLegal => "risk: refused, legal hold",
            Trigger::RiskHeld => "risk: wallet blocked",
            Trigger::ReviewApproved => "person approves",
            Trigger::ReviewRejected => "person rejects",
            Trigger::ReviewLegal => "person: legal hold",
            Trigger::HoldLifted => "two people lift the hold",
            Trigger::EscrowFree => "escrow off hold",
            Trigger::WalletBlocked => "wallet blocked",
            Trigger::WalletUnblocked => "wallet unblocked",
            Trigger::WalletBlacklisted => "wallet blacklisted",
            Trigger::Gathered => "dust: released",
            Trigger::GatheredForReview => "dust: a person",
            Trigger::LeftBehind => "dust: left out of a release",
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
            Trigger::Dropped => "stayed out of the chain",
        }
    }
}

/// What a trigger does in a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// It is in this state now.
    To(DepositState),
    /// It is in the state again that it had before it was suspended or refunded.
    Back,
    /// Nothing changes: it is known already, or not yet decided by it.
    Stays,
    /// The command is refused, nothing changes.
    Refused,
    /// The state stays, and a person looks: it contradicts what is known.
    Person,
}

impl DepositState {
    /// The matrix state × trigger. A deposit begins as `Seen`.
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
            // Only what waited for that, see `Case::escrow_free`.
            T::EscrowFree if matches!(self, InReview) => Step::To(Screening),
            T::EscrowFree => Step::Stays,

            T::Gathered if matches!(self, Dust) => Step::To(Approved),
            T::GatheredForReview if matches!(self, Dust) => Step::To(InReview),
            T::LeftBehind if matches!(self, Approved) => Step::To(Dust),
            T::Gathered | T::GatheredForReview | T::LeftBehind => Step::Stays,

            T::WalletBlocked if matches!(self, Screening) => Step::To(Held),
            T::WalletUnblocked if matches!(self, Held) => Step::To(Screening),
            T::WalletBlacklisted if matches!(self, Held | Screening | InReview) => Step::To(Rejected),
            // What is seen is decided when it counts, what is suspended when it is back, what is approved when the
            // chain has said what became of its release.
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
