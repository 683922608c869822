//! The state machines of intents and transactions: the effect of each trigger in each state.

use super::{IntentState, TxState};

names! {
    /// Trigger of an intent.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum IntentTrigger: "Label in `docs/states.md`." {
        /// Assigned to a transaction.
        Taken = "assigned to a transaction",
        /// It took effect at the required depth.
        Done = "done, deep enough",
        /// It failed on the chain or in a simulation, and is retried.
        Failed = "failed, will retry",
        /// It failed and is given up.
        FailedForGood = "failed, given up",
        /// Its transaction ended without attempting it.
        NotTried = "not attempted",
        /// It is no longer wanted.
        Unwanted = "no longer wanted",
        /// A reorganisation undid it.
        Undone = "undone by a reorganisation",
        /// A reorganisation restored the transaction in which it takes effect.
        Restored = "restored by a reorganisation",
    }
}

names! {
    /// Trigger of a transaction.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum TxTrigger: "Label in `docs/states.md`." {
        /// A version was signed and saved.
        Signed = "signed and saved",
        /// One of its attempts is in a block.
        Mined = "in a block",
        /// That block was reorganised away.
        Lost = "block reorganised away",
        /// It is deep enough and took effect.
        Succeeded = "deep enough, took effect",
        /// It is deep enough and reverted.
        Reverted = "deep enough, reverted",
        /// The empty attempt is deep enough.
        Cancelled = "deep enough, empty",
        /// A foreign transaction used its nonce and is deep enough.
        Superseded = "nonce used by a foreign transaction",
    }
}

/// Effect of a trigger on an intent or a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Move<S> {
    /// The record changes to this state.
    To(S),
    /// Enters this state and raises an alert.
    Alarming(S),
    /// Nothing changes: already known, or not decided by this trigger.
    Stays,
    /// The command is refused; nothing changes.
    Refused,
    /// Contradicts what is known: nothing changes, and an alert is raised.
    Person,
}

impl IntentState {
    /// The matrix state × trigger. An intent starts as `Waiting`.
    pub const fn on(self, trigger: IntentTrigger) -> Move<IntentState> {
        use IntentState::{Assigned, Cancelled, Done, Failed, Waiting};
        use Move::{Person, Refused, Stays, To};
        match (self, trigger) {
            (Waiting, IntentTrigger::Taken) => To(Assigned),
            (_, IntentTrigger::Taken) => Refused,

            (Assigned, IntentTrigger::Done) => To(Done),
            (Done, IntentTrigger::Done) => Stays,
            (_, IntentTrigger::Done) => Person,

            (Assigned, IntentTrigger::Failed | IntentTrigger::NotTried) => To(Waiting),
            (Waiting | Assigned, IntentTrigger::FailedForGood) => To(Failed),
            (Done, IntentTrigger::Undone) => Move::Alarming(Waiting),
            (Waiting | Assigned | Failed | Cancelled, IntentTrigger::Restored) => To(Done),
            // An intent assigned to a transaction is cancelled by that transaction.
            (Waiting, IntentTrigger::Unwanted) => To(Cancelled),
            (Waiting | Assigned | Done | Failed | Cancelled, _) => Stays,
        }
    }
}

impl TxState {
    /// The matrix state × trigger. A transaction starts as `Taken`.
    pub const fn on(self, trigger: TxTrigger) -> Move<TxState> {
        use Move::{Alarming, Refused, Stays, To};
        use TxState::{Broadcast, Cancelled, Mined, Reverted, Succeeded, Taken};
        match (self, trigger) {
            (Taken | Broadcast, TxTrigger::Signed) => To(Broadcast),
            (Mined | Succeeded | Reverted | Cancelled, TxTrigger::Signed) => Refused,

            (Broadcast | Mined, TxTrigger::Mined) => To(Mined),
            (Mined, TxTrigger::Lost) => To(Broadcast),
            (Succeeded | Reverted | Cancelled, TxTrigger::Lost) => Alarming(Broadcast),
            (Mined, TxTrigger::Succeeded) => To(Succeeded),
            (Mined, TxTrigger::Reverted) => To(Reverted),
            (Mined, TxTrigger::Cancelled) => To(Cancelled),
            (Taken | Broadcast, TxTrigger::Superseded) => Alarming(Cancelled),
            _ => Stays,
        }
    }
}
