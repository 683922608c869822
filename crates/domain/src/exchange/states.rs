//! The exchange order's state machine: the effect of each trigger in each state (`decisions.md`,
//! "Order").

use super::ExchangeState;

names! {
    /// Trigger of an order.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum OrderTrigger: "Label in `docs/states.md`." {
        /// Its debit has a nonce.
        DebitTaken = "debit has a nonce",
        /// Its debit ended without an attempt.
        DebitNotTried = "debit not attempted",
        /// The controller has the tokens.
        DebitDone = "debit done",
        /// The controller has the tokens of a since cancelled order.
        DebitDoneTooLate = "debit done, order already cancelled",
        /// The debit failed at its last attempt.
        DebitFailed = "debit failed",
        /// The user cancelled it.
        Cancel = "cancel",
        /// The wallet was blocked or blacklisted.
        WalletFrozen = "wallet blocked or blacklisted",
        /// Its rate lock or its maximum age ended.
        TimedOut = "lock or 24 h expired",
        /// A reviewer rejected an order that screening withheld.
        ReviewRejected = "review rejected",
        /// The rate is too far from the quoted one.
        RateMoved = "rate moved",
        /// A payout attempt is about to begin.
        PayoutBegun = "payout begins",
        /// The rail refused, and another one may be tried.
        PayoutRefused = "rail refused, another may be tried",
        /// The rail paid the money to the bank account.
        PayoutSettled = "rail paid",
        /// The payout certainly did not happen and never will.
        PayoutFailed = "payout failed",
        /// The payout was returned.
        PayoutReturned = "payout returned",
        /// The tokens are back in the wallet.
        CoinsBack = "tokens returned",
        /// The tokens can never return: the wallet is blacklisted, and its address is on the token
        /// contract's blacklist.
        ReturnBarred = "return barred, wallet blacklisted",
    }
}

/// Effect of a trigger in a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OrderStep {
    /// The order changes to this state; the caller writes the effects.
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
        use ExchangeState::{
            Cancelled, Debited, Debiting, Failed, Paying, Pending, Returning, Settled,
        };
        use OrderStep::{Conflict, Person, Stays, To};
        match (self, trigger) {
            (Pending, OrderTrigger::DebitTaken) => To(Debiting),
            (Debiting, OrderTrigger::DebitNotTried) => To(Pending),
            (Debiting, OrderTrigger::DebitDone) => To(Debited),
            (Debiting, OrderTrigger::DebitDoneTooLate) => To(Returning),
            // `Debited` and later: a reorganisation undid the debit, and it then failed.
            (Pending | Debiting | Debited, OrderTrigger::DebitFailed) => To(Failed),
            (Paying | Returning | Settled, OrderTrigger::DebitFailed) => Person,
            (
                Pending | Cancelled | Failed,
                OrderTrigger::DebitDone | OrderTrigger::DebitDoneTooLate,
            ) => Person,

            (
                Pending,
                OrderTrigger::Cancel | OrderTrigger::WalletFrozen | OrderTrigger::TimedOut,
            ) => To(Cancelled),
            (_, OrderTrigger::Cancel) => Conflict,
            (Pending, OrderTrigger::ReviewRejected) => To(Failed),
            (
                Debited,
                OrderTrigger::WalletFrozen | OrderTrigger::RateMoved | OrderTrigger::PayoutFailed,
            ) => To(Returning),

            (Debited, OrderTrigger::PayoutBegun) => To(Paying),
            (Paying, OrderTrigger::PayoutRefused) => To(Debited),
            (Paying, OrderTrigger::PayoutSettled) => To(Settled),
            (Paying, OrderTrigger::PayoutFailed | OrderTrigger::PayoutReturned) => To(Returning),
            (Settled, OrderTrigger::PayoutSettled) => Stays,
            (_, OrderTrigger::PayoutSettled | OrderTrigger::PayoutReturned) => Person,
            (Settled, OrderTrigger::PayoutFailed) => Person,

            (Returning, OrderTrigger::CoinsBack | OrderTrigger::ReturnBarred) => To(Failed),
            _ => Stays,
        }
    }
}
