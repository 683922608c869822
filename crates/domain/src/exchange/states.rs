//! The exchange order's state machine: what each trigger does in each state (`decisions.md`, "Order").

use super::ExchangeState;

/// What can happen to an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OrderTrigger {
    /// Its debit has a nonce.
    DebitTaken,
    /// Its debit is over without having been tried.
    DebitNotTried,
    /// The controller has the coins.
    DebitDone,
    /// The same, and meanwhile the order was called off.
    DebitDoneTooLate,
    /// The debit failed as often as it is tried.
    DebitFailed,
    /// The user calls it off.
    Cancel,
    /// The wallet is blocked or blacklisted now.
    WalletFrozen,
    /// The lock of its rate, or its day, has run out.
    TimedOut,
    /// The rate is too far from the quoted one.
    RateMoved,
    /// A rail is about to be called.
    PayoutBegun,
    /// The rail refused, and another one may be tried.
    PayoutRefused,
    /// The rail has paid.
    PayoutSettled,
    /// The pay-out certainly did not happen and will not.
    PayoutFailed,
    /// The rail had paid, and the money came back.
    PayoutReturned,
    /// The coins are back in the wallet.
    CoinsBack,
}

impl OrderTrigger {
    /// Every trigger.
    pub const ALL: [OrderTrigger; 15] = [
        OrderTrigger::DebitTaken,
        OrderTrigger::DebitNotTried,
        OrderTrigger::DebitDone,
        OrderTrigger::DebitDoneTooLate,
        OrderTrigger::DebitFailed,
        OrderTrigger::Cancel,
        OrderTrigger::WalletFrozen,
        OrderTrigger::TimedOut,
        OrderTrigger::RateMoved,
        OrderTrigger::PayoutBegun,
        OrderTrigger::PayoutRefused,
        OrderTrigger::PayoutSettled,
        OrderTrigger::PayoutFailed,
        OrderTrigger::PayoutReturned,
        OrderTrigger::CoinsBack,
    ];

    /// The words in `docs/states.md`.
    pub const fn name(self) -> &'static str {
        match self {
            OrderTrigger::DebitTaken => "debit has a nonce",
            OrderTrigger::DebitNotTried => "debit called off",
            OrderTrigger::DebitDone => "debit done",
            OrderTrigger::DebitDoneTooLate => "debit done, order was called off",
            OrderTrigger::DebitFailed => "debit failed",
            OrderTrigger::Cancel => "cancel",
            OrderTrigger::WalletFrozen => "wallet blocked or blacklisted",
            OrderTrigger::TimedOut => "lock or 24 h ran out",
            OrderTrigger::RateMoved => "rate moved",
            OrderTrigger::PayoutBegun => "pay-out begins",
            OrderTrigger::PayoutRefused => "rail refused, another may be tried",
            OrderTrigger::PayoutSettled => "rail paid",
            OrderTrigger::PayoutFailed => "pay-out failed",
            OrderTrigger::PayoutReturned => "pay-out came back",
            OrderTrigger::CoinsBack => "coins are back",
        }
    }
}

/// What a trigger does in a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OrderStep {
    /// It is in this state now.
    To(ExchangeState),
    /// Nothing: it is known already, or not yet decided by it.
    Stays,
    /// Nothing, and the caller is told 409 CONFLICT.
    Conflict,
    /// Nothing, and a person looks.
    Person,
}

impl ExchangeState {
    /// The matrix state × trigger. An order begins as `Pending`.
    pub const fn on(self, trigger: OrderTrigger) -> OrderStep {
        use ExchangeState::{Cancelled, Debited, Debiting, Failed, Paying, Pending, Returning, Settled};
        use OrderStep::{Conflict, Person, Stays, To};
        match (self, trigger) {
            (Pending, OrderTrigger::DebitTaken) => To(Debiting),
            (Debiting, OrderTrigger::DebitNotTried) => To(Pending),
            (Debiting, OrderTrigger::DebitDone) => To(Debited),
            (Debiting, OrderTrigger::DebitDoneTooLate) => To(Returning),
            // `Debited` and later: a reorganisation undid the debit, and it failed when it was done again.
            (Pending | Debiting | Debited, OrderTrigger::DebitFailed) => To(Failed),
            (Paying | Returning | Settled, OrderTrigger::DebitFailed) => Person,
            (Pending | Cancelled | Failed, OrderTrigger::DebitDone | OrderTrigger::DebitDoneTooLate) => Person,

            (Pending, OrderTrigger::Cancel | OrderTrigger::WalletFrozen | OrderTrigger::TimedOut) => To(Cancelled),
            (_, OrderTrigger::Cancel) => Conflict,
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
