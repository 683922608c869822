//! The payment request's state machine: the effect of each trigger in each state (`decisions.md`,
//! "Payment request").

use super::RequestState;

names! {
    /// Trigger of a payment request.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum RequestTrigger: "Label in `docs/states.md`." {
        /// Completed by payments in blocks before the expiry.
        PaidInTime = "paid in full, in time",
        /// Completed by a payment after the expiry that the tenant's policy still accepts.
        PaidLate = "paid in full, late",
        /// A payment was too late: a reviewer decides whether it counts.
        PaidTooLate = "paid too late",
        /// Completed by a reviewer's approval of a payment that was too late or in the other
        /// stablecoin.
        ReviewApproved = "review approved, paid in full",
        /// A payment counts, but the requested amount is not reached.
        PartPaid = "paid in part",
        /// `expires_at` has passed, and nothing is confirming.
        TimeUp = "expired",
        /// `expires_at` has passed; a payment in an earlier block is still confirming.
        TimeUpConfirming = "expired, a payment is confirming",
        /// The bank cancelled it.
        Cancel = "cancel",
        /// The wallet was blacklisted.
        WalletBlacklisted = "wallet blacklisted",
    }
}

/// Effect of a trigger on a payment request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestStep {
    /// The request changes to this state, and its job ends.
    To(RequestState),
    /// Nothing changes: it is final, or the trigger does not decide.
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
                RequestTrigger::PaidInTime
                | RequestTrigger::PaidLate
                | RequestTrigger::ReviewApproved,
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
