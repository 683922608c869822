//! The payment request's state machine: what each trigger does in each state (`decisions.md`, "Payment request").

use super::RequestState;

/// What can happen to a payment request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RequestTrigger {
    /// What was asked for is complete, with money from a block before the expiry.
    PaidInTime,
    /// It is complete, with money from a block after the expiry that the tenant's policy still takes.
    PaidLate,
    /// It would be complete, with money that came too late: a person decides about the money.
    PaidTooLate,
    /// A reviewer let money pass that came too late or in the other coin, and with it the request is complete.
    ReviewApproved,
    /// Money came, but not all.
    PartPaid,
    /// `expires_at` has come and nothing is confirming.
    TimeUp,
    /// `expires_at` has come; a payment from a block before it is still confirming.
    TimeUpConfirming,
    /// The bank cancels it.
    Cancel,
    /// The wallet was blacklisted.
    WalletBlacklisted,
}

impl RequestTrigger {
    /// Every trigger.
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

    /// The words in `docs/states.md`.
    pub const fn name(self) -> &'static str {
        match self {
            RequestTrigger::PaidInTime => "paid in full, in time",
            RequestTrigger::PaidLate => "paid in full, late",
            RequestTrigger::PaidTooLate => "paid in full, too late",
            RequestTrigger::ReviewApproved => "money in review approved, paid in full",
            RequestTrigger::PartPaid => "paid in part",
            RequestTrigger::TimeUp => "expires_at came",
            RequestTrigger::TimeUpConfirming => "expires_at came, a payment is confirming",
            RequestTrigger::Cancel => "cancel",
            RequestTrigger::WalletBlacklisted => "wallet blacklisted",
        }
    }
}

/// What a trigger does to a payment request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestStep {
    /// It is in this state now.
    To(RequestState),
    /// Nothing.
    Stays,
    /// Nothing, and the caller is told 409 CONFLICT.
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
