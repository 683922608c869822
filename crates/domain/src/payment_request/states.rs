//! The payment request's state machine: the effect of each trigger in each state (`decisions.md`,
//! "Payment request").

use super::RequestState;

/// Trigger of a payment request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RequestTrigger {
    /// Completed by payments in blocks before the expiry.
    PaidInTime,
    /// Completed by a payment after the expiry that the tenant's policy still accepts.
    PaidLate,
    /// It would be completed by a payment that was too late: a reviewer decides.
    PaidTooLate,
    /// Completed by a reviewer's approval of a payment that was too late or in the other
    /// stablecoin.
    ReviewApproved,
    /// Paid in part.
    PartPaid,
    /// `expires_at` has passed, and nothing is confirming.
    TimeUp,
    /// `expires_at` has passed; a payment in an earlier block is still confirming.
    TimeUpConfirming,
    /// The bank cancelled it.
    Cancel,
    /// The wallet was blacklisted.
    WalletBlacklisted,
}

impl RequestTrigger {
    /// All triggers.
    pub const ALL: [RequestTrigger; 9] = [
        RequestTrigger::PaidInTime,
        RequestTrigger::PaidLate,
        RequestTrigger::PaidTooLate,
        RequestTrigger::ReviewApproved,
        RequestTrigger::PartPaid,
        RequestTrigger::TimeUp,
        RequestTrigger::TimeUpConfirming,
        RequestTrigger::Cancel,
        RequestTrigger::WalletBlacklisted,
    ];

    /// Label in `docs/states.md`.
    pub const fn name(self) -> &'static str {
        match self {
            RequestTrigger::PaidInTime => "paid in full, in time",
            RequestTrigger::PaidLate => "paid in full, late",
            RequestTrigger::PaidTooLate => "paid in full, too late",
            RequestTrigger::ReviewApproved => "review approved, paid in full",
            RequestTrigger::PartPaid => "paid in part",
            RequestTrigger::TimeUp => "expired",
            RequestTrigger::TimeUpConfirming => "expired, a payment is confirming",
            RequestTrigger::Cancel => "cancel",
            RequestTrigger::WalletBlacklisted => "wallet blacklisted",
        }
    }
}

/// Effect of a trigger on a payment request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestStep {
    /// Enters this state.
    To(RequestState),
    /// Nothing changes.
    Stays,
    /// Nothing changes, and the caller gets 409 CONFLICT.
    Conflict,
}

impl RequestState {
    /// The matrix state × trigger.
    pub const fn on(self, trigger: RequestTrigger) -> RequestStep {
        use RequestState::{Active, Cancelled, Expired, Paid};
        use RequestStep::{Conflict, Stays, To};
        match (trigger, self) {
            (
                RequestTrigger::PaidInTime | RequestTrigger::PaidLate | RequestTrigger::ReviewApproved,
                Active | Expired,
            ) => To(Paid),
            (RequestTrigger::TimeUp, Active) => To(Expired),
            (RequestTrigger::Cancel | RequestTrigger::WalletBlacklisted, Active) => To(Cancelled),
            (RequestTrigger::Cancel, Paid | Expired | Cancelled) => Conflict,
            (
                RequestTrigger::PaidInTime
                | RequestTrigger::PaidLate
                | RequestTrigger::PaidTooLate
                | RequestTrigger::ReviewApproved
                | RequestTrigger::PartPaid
                | RequestTrigger::TimeUp
                | RequestTrigger::TimeUpConfirming
                | RequestTrigger::WalletBlacklisted,
                _,
            ) => Stays,
        }
    }
}
