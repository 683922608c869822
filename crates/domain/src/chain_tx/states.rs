//! The state machines of an intent and of a transaction of ours: what each trigger does in each state (`chain.md`,
//! "Sending").

use super::{IntentState, TxState};

/// What can happen to an intent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum IntentTrigger {
    /// A transaction takes it on.
    Taken,
    /// It took effect, at the depth that counts.
    Done,
    /// It failed, on the chain or in a simulation, and is tried again.
    Failed,
    /// It failed and is given up.
    FailedForGood,
    /// Its transaction is over without having tried it.
    NotTried,
    /// It is no longer wanted.
    Unwanted,
    /// A reorganisation undid it.
    Undone,
}

impl IntentTrigger {
    /// Every trigger.
    pub const ALL: [IntentTrigger; 7] = [
        IntentTrigger::Taken,
        IntentTrigger::Done,
        IntentTrigger::Failed,
        IntentTrigger::FailedForGood,
        IntentTrigger::NotTried,
        IntentTrigger::Unwanted,
        IntentTrigger::Undone,
    ];

    /// The words in `docs/states.md`.
    pub const fn name(self) -> &'static str {
        match self {
            IntentTrigger::Taken => "a transaction takes it on",
            IntentTrigger::Done => "done, deep enough",
            IntentTrigger::Failed => "failed, to be tried again",
            IntentTrigger::FailedForGood => "failed, given up",
            IntentTrigger::NotTried => "its transaction did nothing",
            IntentTrigger::Unwanted => "no longer wanted",
            IntentTrigger::Undone => "undone by a reorganisation",
        }
    }
}

/// What can happen to a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TxTrigger {
    /// Something was signed for it and saved.
    Signed,
    /// One of its attempts is in a block.
    Mined,
    /// That block was reorganised away.
    Lost,
    /// It is deep enough, and took effect.
    Succeeded,
    /// It is deep enough, and was reverted.
    Reverted,
    /// The attempt that does nothing is deep enough.
    Cancelled,
    /// Its nonce is used, deep enough, by something that is not ours.
    Superseded,
}

impl TxTrigger {
    /// Every trigger.
    pub const ALL: [TxTrigger; 7] = [
        TxTrigger::Signed,
        TxTrigger::Mined,
        TxTrigger::Lost,
        TxTrigger::Succeeded,
        TxTrigger::Reverted,
        TxTrigger::Cancelled,
        TxTrigger::Superseded,
    ];

    /// The words in `docs/states.md`.
    pub const fn name(self) -> &'static str {
        match self {
            TxTrigger::Signed => "signed and saved",
            TxTrigger::Mined => "in a block",
            TxTrigger::Lost => "its block is gone",
            TxTrigger::Succeeded => "deep enough, took effect",
            TxTrigger::Reverted => "deep enough, reverted",
            TxTrigger::Cancelled => "deep enough, does nothing",
            TxTrigger::Superseded => "its nonce is used by something else",
        }
    }
}

/// What a trigger does to an intent or a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Move<S> {
    /// It is in this state now.
    To(S),
    /// It is in this state now, and a person looks.
    Alarming(S),
    /// Nothing changes: it is known already, or not yet decided by it.
    Stays,
    /// The command is refused, nothing changes.
    Refused,
    /// Nothing changes, and a person looks: it contradicts what is known.
    Person,
}

impl IntentState {
    /// The matrix state × trigger. An intent begins as `Waiting`.
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
            // What a transaction has taken on is called off by that transaction.
            (Waiting, IntentTrigger::Unwanted) => To(Cancelled),
            (Waiting | Assigned | Done | Failed | Cancelled, _) => Stays,
        }
    }
}

impl TxState {
    /// The matrix state × trigger. A transaction begins as `Taken`.
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
