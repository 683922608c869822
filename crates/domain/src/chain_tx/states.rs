//! The state machines of intents and transactions: the effect of each trigger in each state
//! (`chain.md`, "Sending").

use super::{IntentState, TxState};

/// Trigger of an intent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum IntentTrigger {
    /// Assigned to a transaction.
    Taken,
    /// It took effect at the required depth.
    Done,
    /// It failed on the chain or in a simulation, and is retried.
    Failed,
    /// It failed and is given up.
    FailedForGood,
    /// Its transaction ended without attempting it.
    NotTried,
    /// It is no longer wanted.
    Unwanted,
    /// A reorganisation undid it.
    Undone,
}

impl IntentTrigger {
    /// All triggers.
    pub const ALL: [IntentTrigger; 7] = [
        IntentTrigger::Taken,
        IntentTrigger::Done,
        IntentTrigger::Failed,
        IntentTrigger::FailedForGood,
        IntentTrigger::NotTried,
        IntentTrigger::Unwanted,
        IntentTrigger::Undone,
    ];

    /// Label in `docs/states.md`.
    pub const fn name(self) -> &'static str {
        match self {
            IntentTrigger::Taken => "assigned to a transaction",
            IntentTrigger::Done => "done, deep enough",
            IntentTrigger::Failed => "failed, will retry",
            IntentTrigger::FailedForGood => "failed, given up",
            IntentTrigger::NotTried => "not attempted",
            IntentTrigger::Unwanted => "no longer wanted",
            IntentTrigger::Undone => "undone by a reorganisation",
        }
    }
}

/// Trigger of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TxTrigger {
    /// A version was signed and saved.
    Signed,
    /// One of its attempts is in a block.
    Mined,
    /// That block was reorganised away.
    Lost,
    /// It is deep enough and took effect.
    Succeeded,
    /// It is deep enough and reverted.
    Reverted,
    /// The empty attempt is deep enough.
    Cancelled,
    /// A foreign transaction used its nonce and is deep enough.
    Superseded,
}

impl TxTrigger {
    /// All triggers.
    pub const ALL: [TxTrigger; 7] = [
        TxTrigger::Signed,
        TxTrigger::Mined,
        TxTrigger::Lost,
        TxTrigger::Succeeded,
        TxTrigger::Reverted,
        TxTrigger::Cancelled,
        TxTrigger::Superseded,
    ];

    /// Label in `docs/states.md`.
    pub const fn name(self) -> &'static str {
        match self {
            TxTrigger::Signed => "signed and saved",
            TxTrigger::Mined => "in a block",
            TxTrigger::Lost => "block reorganised away",
            TxTrigger::Succeeded => "deep enough, took effect",
            TxTrigger::Reverted => "deep enough, reverted",
            TxTrigger::Cancelled => "deep enough, empty",
            TxTrigger::Superseded => "nonce used by a foreign transaction",
        }
    }
}

/// Effect of a trigger on an intent or a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Move<S> {
    /// Enters this state.
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
