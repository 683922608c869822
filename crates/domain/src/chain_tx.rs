//! What we do on the chain: an [`Intent`] is one thing to be done at most once, a [`ChainTx`] one place (nonce) in a
//! signer's sequence of transactions and all that was ever signed for it.
//!
//! Two commits stand before a byte leaves: the first takes the nonce, the second saves what was signed. Each asks again
//! whether the money may still move. Nothing that was not saved is ever broadcast. What an outcome means for the money
//! is decided where the money is (`deposit`, `exchange`).

use uuid::Uuid;

use crate::chain::{Address, BlockHash, Fees, KeyRole, LogEvent, Movement, TxHash, Word};
use crate::currency::StableCoin;
use crate::ids::{ChainTxId, DepositId, IntentId, PaymentRequestId, TenantId, WalletId};
use crate::time::Timestamp;

mod intent;
mod lane;
mod sequence;
pub mod states;

pub use intent::{PAUSE_PATIENCE, Patience, TRIES_MAX, deploy_id};
pub use lane::lane_of;
pub use sequence::{Ended, LOOK_EVERY, Taking, TxRefusal, call, capped, fill, raised, take};

/// What an intent is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum IntentKind {
    /// A deposit moves from its escrow to the wallet.
    Release,
    /// An order's coins move from the wallet to the controller.
    Debit,
    /// What a debit took goes back.
    ReturnDebit,
    /// Coins of settled orders move from the controller to the treasury.
    Sweep,
    /// The first half of giving a deposit back to its sender, or calling that off.
    ProposeRefund,
    /// The second half.
    ExecuteRefund,
    /// A vault is frozen or unfrozen.
    SetFrozen,
    /// An escrow is put on legal hold.
    SetLegalHold,
    /// An address goes on a coin's own blacklist.
    Blacklist(StableCoin),
    /// The tenant's controller is put on the chain.
    Deploy,
}

impl IntentKind {
    /// Every kind.
    pub const ALL: [IntentKind; 11] = [
        IntentKind::Release,
        IntentKind::Debit,
        IntentKind::ReturnDebit,
        IntentKind::Sweep,
        IntentKind::ProposeRefund,
        IntentKind::ExecuteRefund,
        IntentKind::SetFrozen,
        IntentKind::SetLegalHold,
        IntentKind::Blacklist(StableCoin::Usdc),
        IntentKind::Blacklist(StableCoin::Usdt),
        IntentKind::Deploy,
    ];

    /// The name in the store.
    pub const fn name(self) -> &'static str {
        match self {
            IntentKind::Release => "release",
            IntentKind::Debit => "debit",
            IntentKind::ReturnDebit => "return_debit",
            IntentKind::Sweep => "sweep",
            IntentKind::ProposeRefund => "propose_refund",
            IntentKind::ExecuteRefund => "execute_refund",
            IntentKind::SetFrozen => "set_frozen",
            IntentKind::SetLegalHold => "set_legal_hold",
            IntentKind::Blacklist(StableCoin::Usdc) => "blacklist_usdc",
            IntentKind::Blacklist(StableCoin::Usdt) => "blacklist_usdt",
            IntentKind::Deploy => "deploy",
        }
    }

    /// Reads the name.
    pub fn parse(name: &str) -> Option<IntentKind> {
        IntentKind::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Which of the tenant's keys signs it.
    pub const fn role(self) -> KeyRole {
        match self {
            IntentKind::Release
            | IntentKind::Debit
            | IntentKind::ReturnDebit
            | IntentKind::Sweep
            | IntentKind::Deploy => KeyRole::Operator,
            IntentKind::ProposeRefund | IntentKind::SetFrozen | IntentKind::SetLegalHold => KeyRole::Compliance,
            IntentKind::ExecuteRefund => KeyRole::Approver,
            IntentKind::Blacklist(_) => KeyRole::Blacklister,
        }
    }

    /// Whether many of this kind can share one transaction, each tried on its own.
    pub const fn is_batched(self) -> bool {
        matches!(self, IntentKind::Release | IntentKind::Debit)
    }

    /// Whether it gives a customer something to spend: such a thing is not signed for a frozen wallet.
    pub const fn stops_at_freeze(self) -> bool {
        matches!(self, IntentKind::Release | IntentKind::Debit)
    }
}

/// What exactly is to be called, fixed when the intent is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Plan {
    /// Out of a vault to its recipient: one item of a release or a debit.
    Move(Movement),
    /// Back to the vault that a debit took from.
    ReturnDebit {
        /// The debit, as the controller knows it.
        debit: Word,
        /// The return, as the controller will know it.
        intent: Word,
    },
    /// Out of the controller to its treasury.
    Sweep {
        /// The coin's contract.
        token: Address,
        /// Minor units.
        amount: u64,
    },
    /// Proposes to pay out of a vault to somebody else.
    ProposeRefund {
        /// What moves.
        movement: Movement,
        /// Where to.
        to: Address,
    },
    /// Calls off what was proposed.
    CancelRefund {
        /// The word that it was proposed under.
        intent: Word,
    },
    /// Does what was proposed.
    ExecuteRefund {
        /// The word that it was proposed under.
        intent: Word,
    },
    /// Freezes or unfreezes a vault.
    SetFrozen {
        /// Which.
        account: Address,
        /// Whether it is to be frozen.
        frozen: bool,
        /// The case.
        case: Word,
    },
    /// Puts a vault on legal hold, or takes it off.
    SetLegalHold {
        /// Which.
        vault: Address,
        /// Whether it is to be on hold.
        held: bool,
        /// The case.
        case: Word,
    },
    /// Puts an address on a coin's blacklist.
    Blacklist {
        /// The coin's contract.
        token: Address,
        /// Which address.
        account: Address,
    },
    /// Puts the controller on the chain.
    Deploy,
}

impl Plan {
    /// What the controller writes where it has carried this out. A call alone shows nothing: one to an address where no
    /// contract is succeeds. `None` = the controller has no part in it.
    pub const fn evidence(&self) -> Option<LogEvent> {
        match *self {
            Plan::Move(movement) | Plan::ProposeRefund { movement, .. } => Some(LogEvent::IntentDone(movement.intent)),
            Plan::ReturnDebit { intent, .. } | Plan::ExecuteRefund { intent } => Some(LogEvent::IntentDone(intent)),
            Plan::Sweep { token, amount } => Some(LogEvent::Swept { token, value: amount }),
            Plan::CancelRefund { intent } => Some(LogEvent::RefundCancelled(intent)),
            Plan::SetFrozen { account, frozen, .. } => Some(LogEvent::FrozenSet { account, frozen }),
            Plan::SetLegalHold { vault, held, .. } => Some(LogEvent::LegalHoldSet { vault, held }),
            Plan::Blacklist { .. } | Plan::Deploy => None,
        }
    }
}

/// Where an intent is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum IntentState {
    /// To be done; its job is to be sent.
    Waiting,
    /// A transaction is to do it.
    Assigned,
    /// Done, at the depth that counts.
    Done,
    /// Given up after as many tries as there are.
    Failed,
    /// No longer wanted, and certainly not done.
    Cancelled,
}

impl IntentState {
    /// Every state.
    pub const ALL: [IntentState; 5] =
        [IntentState::Waiting, IntentState::Assigned, IntentState::Done, IntentState::Failed, IntentState::Cancelled];

    /// The name in the store.
    pub const fn name(self) -> &'static str {
        match self {
            IntentState::Waiting => "waiting",
            IntentState::Assigned => "assigned",
            IntentState::Done => "done",
            IntentState::Failed => "failed",
            IntentState::Cancelled => "cancelled",
        }
    }

    /// Reads the name.
    pub fn parse(name: &str) -> Option<IntentState> {
        IntentState::ALL.into_iter().find(|state| state.name() == name)
    }

    /// Whether nothing more is owed: such an intent has no job.
    pub const fn is_terminal(self) -> bool {
        matches!(self, IntentState::Done | IntentState::Failed | IntentState::Cancelled)
    }
}

/// One thing to be done on the chain, at most once. Of one kind and subject there is at most one that is neither failed
/// nor cancelled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Intent {
    /// Its id; the controller knows it as `chain::intent_word`.
    pub id: IntentId,
    /// Whose.
    pub tenant: TenantId,
    /// What it is for.
    pub kind: IntentKind,
    /// What it is done for: a deposit, an order, a sweep, a wallet (blacklist), the tenant (deploy), itself (freeze).
    pub subject: Uuid,
    /// The wallet whose money it concerns.
    pub wallet: Option<WalletId>,
    /// The payment request whose escrow it concerns.
    pub request: Option<PaymentRequestId>,
    /// The coin that it moves.
    pub coin: Option<StableCoin>,
    /// What is called.
    pub plan: Plan,
    /// The dust that a release takes along: deposits of the same vault, whose amounts it moves too.
    pub riders: Vec<DepositId>,
    /// Whether it is sent although a simulation says that it fails (a sandbox shows what then happens).
    pub unchecked: bool,
    /// Where it is.
    pub state: IntentState,
    /// The transaction that is to do it, or did.
    pub tx: Option<ChainTxId>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When its state last changed.
    pub state_at: Timestamp,
    /// How often it was tried on the chain, or in a simulation, and failed.
    pub tries: i32,
    /// Why the last try failed, in the chain's words.
    pub failure: Option<String>,
    /// Rises by one with every change of the row.
    pub version: i64,
}

impl Intent {
    /// One that waits to be sent, with neither wallet, request nor coin.
    pub const fn new(
        id: IntentId,
        tenant: TenantId,
        kind: IntentKind,
        subject: Uuid,
        plan: Plan,
        now: Timestamp,
    ) -> Intent {
        Intent {
            id,
            tenant,
            kind,
            subject,
            wallet: None,
            request: None,
            coin: None,
            plan,
            riders: Vec::new(),
            unchecked: false,
            state: IntentState::Waiting,
            tx: None,
            created_at: now,
            state_at: now,
            tries: 0,
            failure: None,
            version: 1,
        }
    }

    /// It is in this state now.
    pub(crate) const fn enter(&mut self, state: IntentState, now: Timestamp) {
        self.state = state;
        self.state_at = now;
        self.version += 1;
    }
}

/// Where in the chain something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Height of the block.
    pub number: u64,
    /// The block.
    pub block: BlockHash,
}

/// Where a transaction is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TxState {
    /// It has its nonce; nothing that was signed for it is saved.
    Taken,
    /// Signed bytes are saved and broadcast, once or again.
    Broadcast,
    /// In a block that is not deep enough yet.
    Mined,
    /// Over: it took effect.
    Succeeded,
    /// Over: it was reverted as a whole.
    Reverted,
    /// Over: its nonce was filled without doing anything.
    Cancelled,
}

impl TxState {
    /// Every state.
    pub const ALL: [TxState; 6] =
        [TxState::Taken, TxState::Broadcast, TxState::Mined, TxState::Succeeded, TxState::Reverted, TxState::Cancelled];

    /// The name in the store.
    pub const fn name(self) -> &'static str {
        match self {
            TxState::Taken => "taken",
            TxState::Broadcast => "broadcast",
            TxState::Mined => "mined",
            TxState::Succeeded => "succeeded",
            TxState::Reverted => "reverted",
            TxState::Cancelled => "cancelled",
        }
    }

    /// Reads the name.
    pub fn parse(name: &str) -> Option<TxState> {
        TxState::ALL.into_iter().find(|state| state.name() == name)
    }

    /// Whether its outcome counts: such a transaction has no job.
    pub const fn is_final(self) -> bool {
        matches!(self, TxState::Succeeded | TxState::Reverted | TxState::Cancelled)
    }
}

/// Something that was signed for a transaction. All of one transaction have its nonce, so one at most is ever mined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TxAttempt {
    /// From 1.
    pub number: i32,
    /// Whether it does nothing but fill the nonce.
    pub cancels: bool,
    /// Its hash.
    pub hash: TxHash,
    /// The bytes that are broadcast.
    pub raw: Vec<u8>,
    /// What it pays for gas.
    pub fees: Fees,
    /// When it was signed.
    pub at: Timestamp,
}

/// A transaction of ours that is in a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mined {
    /// Where.
    pub place: Place,
    /// Which of the attempts.
    pub attempt: i32,
    /// Whether it took effect; `false` = reverted as a whole.
    pub succeeded: bool,
    /// Those of its intents that failed alone.
    pub failed: Vec<IntentId>,
}

/// One place in a signer's sequence of transactions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChainTx {
    /// Its id.
    pub id: ChainTxId,
    /// Whose.
    pub tenant: TenantId,
    /// Which of the tenant's keys.
    pub role: KeyRole,
    /// The address of that key.
    pub signer: Address,
    /// The tenant's controller.
    pub controller: Address,
    /// The place: one transaction at most per signer and nonce.
    pub nonce: u64,
    /// What it is for, in the order of its call.
    pub intents: Vec<IntentId>,
    /// Most gas that it may use.
    pub gas_limit: u64,
    /// What it pays for gas when it is first signed.
    pub fees: Fees,
    /// Where it is.
    pub state: TxState,
    /// Whether it is to be replaced by one that does nothing.
    pub cancel_wanted: bool,
    /// What was signed for it, oldest first; only ever added to.
    pub attempts: Vec<TxAttempt>,
    /// The block that it is in.
    pub mined: Option<Mined>,
    /// Whether somebody was called because it is stuck at the highest fee.
    pub paged: bool,
    /// The outcome that was applied: a deep reorganisation may bring it back to `Broadcast` after that. What failed or was
    /// undone before stands in it as failed for good.
    pub settled: Option<Mined>,
    /// When its nonce was taken.
    pub created_at: Timestamp,
    /// When its state last changed.
    pub state_at: Timestamp,
    /// Rises by one with every change of the row.
    pub version: i64,
}

#[cfg(test)]
mod tests;
