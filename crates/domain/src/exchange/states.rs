//! The exchange order's state machine: the effect of each trigger in each state (`decisions.md`,
//! "Order").

use super::ExchangeState;

/// Trigger of an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OrderTrigger {
    /// Its debit has a nonce.
    DebitTaken,
    /// Its debit ended without an attempt.
    DebitNotTried,
    /// The controller has the tokens.
    DebitDone,
    /// The controller has the tokens of a since cancelled order.
    DebitDoneTooLate,
    /// The debit failed at its last attempt.
    DebitFailed,
    /// The user cancelled it.
    Cancel,
    /// The wallet was blocked or blacklisted.
    WalletFrozen,
    /// Its rate lock or its maximum age ended.
    TimedOut,
    /// A reviewer rejected an order that screening withheld.
    ReviewRejected,
    /// The rate is too far from the quoted one.
    RateMoved,
    /// A payout attempt is about to begin.
    PayoutBegun,
    /// The rail refused, and another one may be tried.
    PayoutRefused,
    /// The rail paid.
    PayoutSettled,
    /// The payout certainly did not happen and never will.
    PayoutFailed,
    /// The payout was returned.
    PayoutReturned,
    /// The tokens are back in the wallet.
    CoinsBack,
}

impl OrderTrigger {
    /// All triggers.
    pub const ALL: [OrderTrigger; 16] = [
        OrderTrigger::DebitTaken,
        OrderTrigger::DebitNotTried,
        OrderTrigger::DebitDone,
        OrderTrigger::DebitDoneTooLate,
        OrderTrigger::DebitFailed,
        OrderTrigger::Cancel,
        OrderTrigger::WalletFrozen,
        OrderTrigger::TimedOut,
        OrderTrigger::ReviewRejected,
        OrderTrigger::RateMoved,
        OrderTrigger::PayoutBegun,
        OrderTrigger::PayoutRefused,
        OrderTrigger::PayoutSettled,
        OrderTrigger::PayoutFailed,
        OrderTrigger::PayoutReturned,
        OrderTrigger::CoinsBack,
    ];

    /// Label in `docs/states.md`.
    pub const fn name(self) -> &'static str {
        match self {
            OrderTrigger::DebitTaken => "debit has a nonce",
            OrderTrigger::DebitNotTried => "debit not attempted",
            OrderTrigger::DebitDone => "debit done",
            OrderTrigger::DebitDoneTooLate => "debit done, order already cancelled",
            OrderTrigger::DebitFailed => "debit failed",
            OrderTrigger::Cancel => "cancel",
            OrderTrigger::WalletFrozen => "wallet blocked or blacklisted",
            OrderTrigger::TimedOut => "lock or 24 h expired",
            OrderTrigger::ReviewRejected => "review rejected",
            OrderTrigger::RateMoved => "rate moved",
            OrderTrigger::PayoutBegun => "payout begins",
            OrderTrigger::PayoutRefused => "rail refused, another may be tried",
            OrderTrigger::PayoutSettled => "rail paid",
            OrderTrigger::PayoutFailed => "payout failed",
            OrderTrigger::PayoutReturned => "payout returned",
            OrderTrigger::CoinsBack => "tokens returned",
        }
    }
}

/// Effect of a trigger in a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OrderStep {
    /// Enters this state.
    To(ExchangeState),
    /// Nothing changes: already known, or not decided by this trigger.
    Stays,
    /// Nothing changes, and the caller gets 409 CONFLICT.
    Conflict,
    /// Nothing changes, and an alert is raised.
    Person,
}

impl ExchangeState {
    /// The matrix state × trigger. An order starts as `Pending`.
    pub const fn on(self, trigger: OrderTrigger) -> OrderStep {
        use ExchangeState::{Cancelled, Debited, Debiting, Failed, Paying, Pending, Returning, Settled};
        use OrderStep::{Conflict, Person, Stays, To};
        match (self, trigger) {
            (Pending, OrderTrigger::DebitTaken) => To(Debiting),
            (Debiting, OrderTrigger::DebitNotTried) => To(Pending),
            (Debiting, OrderTrigger::DebitDone) => To(Debited),
            (Debiting, OrderTrigger::DebitDoneTooLate) => To(Returning),
            // `Debited` and later: a reorganisation undid the debit, and it then failed.
            (Pending | Debiting | Debited, OrderTrigger::DebitFailed) => To(Failed),
            (Paying | Returning | Settled, OrderTrigger::DebitFailed) => Person,
            (Pending | Cancelled | Failed, OrderTrigger::DebitDone | OrderTrigger::DebitDoneTooLate) => Person,

            (Pending, OrderTrigger::Cancel | OrderTrigger::WalletFrozen | OrderTrigger::TimedOut) => To(Cancelled),
            (_, OrderTrigger::Cancel) => Conflict,
            (Pending, OrderTrigger::ReviewRejected) => To(Failed),
            (Debited, OrderTrigger::WalletFrozen | OrderTrigger::RateMoved | OrderTrigger::PayoutFailed) => {
                To(Returning)
            }

            (Debited, OrderTrigger::PayoutBegun) => To(Paying),
            (Paying, OrderTrigger::PayoutRefused) => To(Debited),
            (Paying, OrderTrigger::PayoutSettled) => To(Settled),
            (Paying, OrderTrigger::PayoutFailed | OrderTrigger::PayoutReturned) => To(Returning),
            (Settled, OrderTrigger::PayoutSettled) => Stays,
            (_, OrderTrigger::PayoutSettled | OrderTrigger::PayoutReturned) => Person,
            (Settled, OrderTrigger::PayoutFailed) => Person,

            (Returning, OrderTrigger::CoinsBack) => To(Failed),
            _ => Stays,
        }
    }
}
