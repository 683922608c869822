//! Our on-chain actions: an [`Intent`] is one action to execute at most once, a [`ChainTx`] is one
//! nonce of a signer with everything that was signed for it.
//!
//! Two commits precede each broadcast: the first takes the nonce, the second saves the signed
//! bytes. Each verifies again that the money may still move. Nothing unsaved is ever broadcast. The
//! owner of the money (`deposit`, `exchange`) decides what an outcome means for it.

use uuid::Uuid;

use crate::chain::{Address, BlockHash, ChainNumber, Fees, IntentKind, KeyRole, Plan, TxHash};
use crate::currency::StableCoin;
use crate::ids::{ChainTxId, DepositId, IntentId, PaymentRequestId, TenantId, WalletId};
use crate::time::Timestamp;

mod intent;
mod lane;
mod sequence;
pub mod states;

pub use intent::{
    EXECUTED_ALREADY, PAUSE_TIMEOUT, RetryPolicy, TRIES_MAX, deploy_id, sponsored_id,
};
pub use lane::lane_of;
pub use sequence::{
    Ended, LOOK_EVERY, STUCK, Taking, TxRefusal, bytes_of, call, capped, fill, raised, take,
};

names! {
    /// State of an intent.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum IntentState: "Name in the store." {
        /// To be executed; its job sends it.
        Waiting = "waiting",
        /// Assigned to a transaction.
        Assigned = "assigned",
        /// Executed, at the required depth.
        Done = "done",
        /// Given up after the maximum number of attempts.
        Failed = "failed",
        /// No longer wanted, and certainly not executed.
        Cancelled = "cancelled",
    }
}

impl IntentState {
    /// Whether the state is final: the intent has no job.
    pub const fn is_terminal(self) -> bool {
        matches!(self, IntentState::Done | IntentState::Failed | IntentState::Cancelled)
    }
}

/// One on-chain action, executed at most once. At most one intent per kind and subject is neither
/// failed nor cancelled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Intent {
    /// Id; the controller knows it as `chain::intent_word`.
    pub id: IntentId,
    /// Tenant of the intent.
    pub tenant: TenantId,
    /// Chain to execute it on.
    pub chain: ChainNumber,
    /// Subject: a deposit, an order, a sweep, a wallet (blacklist), the tenant (deploy), or itself
    /// (freeze).
    pub subject: Uuid,
    /// Wallet whose money it concerns.
    pub wallet: Option<WalletId>,
    /// Payment request whose escrow it concerns.
    pub request: Option<PaymentRequestId>,
    /// Stablecoin that it moves.
    pub coin: Option<StableCoin>,
    /// Call to make, fixed at creation.
    pub plan: Plan,
    /// Dust that a release includes: deposits in the same vault, moved with it.
    pub riders: Vec<DepositId>,
    /// Whether it is sent although its simulation fails (used by the sandbox to show the failure).
    pub unchecked: bool,
    /// State; a deep reorganisation turns `Done` back into `Waiting`.
    pub state: IntentState,
    /// Transaction that executes it or did.
    pub tx: Option<ChainTxId>,
    /// Time of the decision that created it.
    pub created_at: Timestamp,
    /// Time of the last state change.
    pub state_at: Timestamp,
    /// Number of failed attempts, on the chain or in a simulation.
    pub tries: i32,
    /// The chain's reason for the last failure.
    pub failure: Option<String>,
    /// Since when it waits for tokens that a reorganisation took from its wallet; `None` if its last
    /// attempt did not lack them.
    pub short_since: Option<Timestamp>,
    /// Row version, increased by one with every change.
    pub version: i64,
}

impl Intent {
    /// Creates a waiting intent without wallet, request or stablecoin.
    pub const fn new(
        id: IntentId,
        tenant: TenantId,
        chain: ChainNumber,
        subject: Uuid,
        plan: Plan,
        now: Timestamp,
    ) -> Intent {
        Intent {
            id,
            tenant,
            chain,
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
            short_since: None,
            version: 1,
        }
    }

    /// Purpose, which determines the key's role and whether it is batched.
    pub const fn kind(&self) -> IntentKind {
        self.plan.kind()
    }

    /// Changes the state, and increases the row version.
    pub(crate) const fn enter(&mut self, state: IntentState, now: Timestamp) {
        self.state = state;
        self.state_at = now;
        self.version += 1;
    }
}

/// Block that contains a log or a transaction; the hash tells forks apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockRef {
    /// Height of the block.
    pub number: u64,
    /// Hash of the block.
    pub block: BlockHash,
}

names! {
    /// State of a transaction.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum TxState: "Name in the store." {
        /// Nonce taken; no signed bytes are saved.
        Taken = "taken",
        /// Signed bytes are saved and broadcast, possibly several times.
        Broadcast = "broadcast",
        /// In a block that is not deep enough yet.
        Mined = "mined",
        /// Final: it took effect.
        Succeeded = "succeeded",
        /// Final: it reverted as a whole.
        Reverted = "reverted",
        /// Final: its nonce was filled by an empty transaction.
        Cancelled = "cancelled",
    }
}

impl TxState {
    /// Whether the outcome is final: the transaction has no job.
    pub const fn is_final(self) -> bool {
        matches!(self, TxState::Succeeded | TxState::Reverted | TxState::Cancelled)
    }
}

/// One signed version of a transaction. All versions share the nonce, so at most one is ever mined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TxAttempt {
    /// Sequence number, from 1.
    pub number: i32,
    /// Whether it only fills the nonce.
    pub cancels: bool,
    /// Hash by which the chain knows this version.
    pub hash: TxHash,
    /// Signed transaction in EIP-2718 encoding, saved before its broadcast.
    pub raw: Vec<u8>,
    /// Limits of the gas price of this version, in wei per gas.
    pub fees: Fees,
    /// Time at which it was signed.
    pub at: Timestamp,
}

/// Inclusion of a transaction in a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mined {
    /// Block that contains the transaction.
    pub place: BlockRef,
    /// Number of the included attempt.
    pub attempt: i32,
    /// Whether it took effect; `false` means that it reverted as a whole.
    pub succeeded: bool,
    /// Intents that failed individually.
    pub failed: Vec<IntentId>,
}

/// One nonce of a signer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChainTx {
    /// Id of the transaction.
    pub id: ChainTxId,
    /// Tenant of the transaction.
    pub tenant: TenantId,
    /// Chain of the transaction.
    pub chain: ChainNumber,
    /// Role of the signing key.
    pub role: KeyRole,
    /// Address of the signing key.
    pub signer: Address,
    /// Controller contract of the tenant, which most calls address.
    pub controller: Address,
    /// Nonce: at most one transaction per chain, signer and nonce.
    pub nonce: u64,
    /// Its intents, in the order of the call.
    pub intents: Vec<IntentId>,
    /// Gas limit of the call; a transaction that only fills the nonce needs less.
    pub gas_limit: u64,
    /// Fees of the first signature.
    pub fees: Fees,
    /// State; a deep reorganisation turns a final one back into `Broadcast`.
    pub state: TxState,
    /// Whether an empty transaction is to replace it.
    pub cancel_wanted: bool,
    /// Signed versions, oldest first; append-only.
    pub attempts: Vec<TxAttempt>,
    /// Current block, if included.
    pub mined: Option<Mined>,
    /// Whether an alert was raised because it is stuck at the highest fee.
    pub paged: bool,
    /// Outcome already applied: a deep reorganisation may return the transaction to `Broadcast`
    /// afterwards.
    pub settled: Option<Mined>,
    /// Time at which the nonce was taken.
    pub created_at: Timestamp,
    /// Time of the last state change.
    pub state_at: Timestamp,
    /// Row version, increased by one with every change.
    pub version: i64,
}

#[cfg(test)]
mod tests;
