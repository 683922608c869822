//! An incoming transaction: money that arrived on the chain, from its first sighting to its end.
//!
//! The values that the API shows ([`Deposit::status`], [`Deposit::kind`]) are a function of a
//! richer state. A deposit is identified by its transaction and its log's position there, so a
//! reorganisation that moves the transaction never creates a second deposit.

use uuid::Uuid;

use crate::chain::{Address, ChainNumber, TransferAt, TxHash, vault};
use crate::chain_tx::BlockRef;
use crate::currency::StableCoin;
use crate::ids::{DepositId, IntentId, PaymentRequestId, TenantId, TransferId, WalletId};
use crate::money::Money;
use crate::payment_request::SenderDetails;
use crate::risk::{Assessment, ReasonCode};
use crate::time::Timestamp;
use crate::wallet_event::FailureReason;

pub mod arrive;
mod booking;
pub mod case;
pub mod dust;
pub mod hold;
mod judge;
mod refund;
mod release;
mod sent_back;
pub mod states;
mod token;

pub use case::{Case, DepositRefusal, Terms};
pub use sent_back::{Asking, is_sender_asked};
pub use token::{Halt, TokenState};

names! {
    /// State of a deposit.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum DepositState: "Name in the store." {
        /// In a block that is not deep enough to count.
        Seen = "seen",
        /// Its block was reorganised away before it counted: hidden, unless it is included again.
        Orphaned = "orphaned",
        /// Counted, but not worth a release: it blocks nothing and stays undecided until it is released
        /// with more.
        Dust = "dust",
        /// Counted; the wallet is blocked, so it stays in its vault until the block ends.
        Held = "held",
        /// Counted; its risk is to be assessed.
        Screening = "screening",
        /// Waits for a reviewer's decision.
        InReview = "in_review",
        /// Approved for the wallet; the release is in progress.
        Approved = "approved",
        /// Credited to the wallet: its release is final, or the wallet was paid directly.
        Completed = "completed",
        /// Rejected by compliance; may be refunded.
        Rejected = "rejected",
        /// Rejected by compliance; never refunded.
        LegalHold = "legal_hold",
        /// Rejected, and being refunded to the sender.
        Refunding = "refunding",
        /// Rejected, and paid to the refund address; final.
        Refunded = "refunded",
        /// The release failed, or the transaction was dropped from the chain for good.
        Failed = "failed",
        /// Counted before its block was reorganised away: its amount is in suspense.
        Suspended = "suspended",
    }
}

names! {
    /// `status` of the specification's transaction.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum DepositStatus: "Name on the wire." {
        /// Seen, not deep enough.
        Pending = "PENDING",
        /// Counted at the policy's depth; held until it is released, rejected or failed.
        ReceivedInEscrow = "RECEIVED_IN_ESCROW",
        /// Credited to the recipient's wallet; spendable unless that is frozen.
        Completed = "COMPLETED",
        /// The release failed for good, or the transaction was dropped from the chain.
        Failed = "FAILED",
        /// Rejected by compliance; keeps this status while and after it is refunded.
        Rejected = "REJECTED",
    }
}

names! {
    /// `type` of the specification's transaction, as far as it applies to deposits.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum DepositKind: "Name on the wire and in the store." {
        /// `RECEIVED`: in the wallet, or on its way there through an escrow.
        Received = "RECEIVED",
        /// `BLOCKED`: frozen in its current place.
        Blocked = "BLOCKED",
    }
}

names! {
    /// Book account that holds a deposit's amount.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum DepositBucket: "Name in the store." {
        /// None: it has not counted, was refunded, or was dropped from the chain.
        Nowhere = "nowhere",
        /// `escrow:{request}:{coin}`: held in the escrow of its payment request.
        Escrow = "escrow",
        /// `suspense:{coin}`: paid directly to a wallet's address, or undone by a reorganisation.
        Suspense = "suspense",
        /// `wallet:{wallet}:{coin}`: credited to the customer.
        Wallet = "wallet",
    }
}

/// Refund of a rejected deposit: one user proposes, another executes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refund {
    /// Refund address: requested from the sender and screened. Never blindly the payer's address.
    pub to: Address,
    /// User who proposed it.
    pub proposed_by: String,
    /// Screening result of the address.
    pub screened: crate::screening::Screened,
    /// Intent of the on-chain proposal.
    pub propose: IntentId,
    /// Whether the proposal is on the chain.
    pub proposed: bool,
    /// User who approved it, never the proposer.
    pub approved_by: Option<String>,
    /// Screening result of the address at approval, with the lists of that time.
    pub screened_again: Option<crate::screening::Screened>,
    /// Intent of the on-chain execution.
    pub execute: Option<IntentId>,
    /// Transaction that paid it.
    pub tx: Option<TxHash>,
}

/// The refund as the approving user sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeenRefund {
    /// Refund address that the user saw; another one makes the approval fail.
    pub to: Address,
    /// Amount in minor units; `None` if the user did not name one.
    pub minor: Option<i64>,
}

impl Refund {
    /// Whether it awaits approval: it can be approved once it is on the chain, or withdrawn.
    pub const fn waits_for_approval(&self) -> bool {
        self.approved_by.is_none() && self.tx.is_none()
    }
}

/// A reviewer's decision about a deposit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// What the reviewer chose; it decides the deposit's next state.
    pub verdict: ReviewVerdict,
    /// Person accountable for the decision, as in the audit log ([`crate::audit::AuditContext::person`]).
    pub by: String,
    /// The reviewer's reason, for the bank's own staff; never shown to senders.
    pub note: String,
    /// Time of the decision.
    pub at: Timestamp,
}

names! {
    /// Verdicts available for a deposit in review.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum ReviewVerdict: "Name on the wire and in the store." {
        /// Release it to the wallet.
        Approve = "approve",
        /// Reject it; it may be refunded.
        Reject = "reject",
        /// Reject it; it is never refunded.
        LegalHold = "legal_hold",
        /// Reject it and block the wallet.
        Block = "block",
    }
}

/// An incoming transaction: one transfer of a supported token into a watched vault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deposit {
    /// Derived from the chain, the transaction and the log's position: [`Deposit::id_of`].
    pub id: DepositId,
    /// Tenant of the deposit.
    pub tenant: TenantId,
    /// Chain that it was paid on.
    pub chain: ChainNumber,
    /// Wallet that receives it.
    pub wallet: WalletId,
    /// Request whose escrow it was paid to; `None` if it was paid directly to the wallet's address.
    pub request: Option<PaymentRequestId>,
    /// Submission of sender details whose escrow it was paid to; `None` if it was paid to the
    /// request's own escrow (sender unknown) or to the wallet.
    pub submission: Option<u32>,
    /// Stablecoin of the deposit.
    pub coin: StableCoin,
    /// Value of the log in minor units (10^-6).
    pub minor: i64,
    /// Payer that the token's `Transfer` log names, often an exchange's address.
    pub from: Address,
    /// Vault that it was paid to.
    pub to: Address,
    /// `tx_hash` of the sender's transaction, which may contain several deposits.
    pub tx: TxHash,
    /// Position of its log among the transaction's transfers.
    pub ordinal: u32,
    /// Block reference; `None` if it is not in the chain.
    pub place: Option<BlockRef>,
    /// Height of the chain when it dropped out.
    pub lost_at: Option<u64>,
    /// Timestamp of its block.
    pub paid_at: Timestamp,
    /// `timestamp`: time of the first sighting.
    pub seen_at: Timestamp,
    /// Sender details of the submission whose escrow it was paid to; empty if the sender is
    /// unknown.
    pub sender: SenderDetails,
    /// Internal state; the API shows [`Deposit::status`] and [`Deposit::kind`].
    pub state: DepositState,
    /// Time of the last state change.
    pub state_at: Timestamp,
    /// State before it was suspended or its refund began.
    pub back_to: Option<DepositState>,
    /// Book account of its amount.
    pub pot: DepositBucket,
    /// Reservation escrow → wallet while it is approved.
    pub hold: Option<TransferId>,
    /// Time at which it counted.
    pub credited_at: Option<Timestamp>,
    /// Whether its vault's balance differs from the sum of the logs: an alert is open.
    pub disputed: bool,
    /// Reason for a mandatory review, whatever screening finds.
    pub concern: Option<ReasonCode>,
    /// Newest risk assessment; `None` until it is screened for the first time.
    pub assessment: Option<Assessment>,
    /// Newest decision of a reviewer; `None` if no reviewer decided.
    pub decision: Option<Decision>,
    /// Whether the request's sums exclude it: it was not worth a release on arrival and has not
    /// been released since.
    pub is_dust: bool,
    /// Whether a sandbox wants its release to fail on the chain.
    pub spoiled: bool,
    /// Newest release: its own, or that of the deposit that it is released with.
    pub release: Option<IntentId>,
    /// Dust included in its newest release.
    pub riders: Vec<DepositId>,
    /// Transaction that moved it to the wallet.
    pub release_tx: Option<TxHash>,
    /// Whether its request's [`PaymentRequest::refused`] includes it.
    ///
    /// [`PaymentRequest::refused`]: crate::payment_request::PaymentRequest::refused
    pub is_deducted: bool,
    /// Fee that the token's contract deducted from its newest release, in minor units: booked as
    /// long as the deposit's amount is in the wallet. `None` of a release by a version that did not
    /// keep it: booked once, whatever it was.
    pub release_fee: Option<i64>,
    /// Time at which it reached the wallet.
    pub completed_at: Option<Timestamp>,
    /// Reason of its failure or rejection.
    pub failure: Option<FailureReason>,
    /// Refund in progress or done; `None` before a proposal, and again after its withdrawal or
    /// failure.
    pub refund: Option<Refund>,
    /// Intent that sets its escrow's legal hold on the chain; `None` once the hold is lifted.
    pub legal_hold: Option<IntentId>,
    /// Row version, increased by one with every change.
    pub version: i64,
}

impl Deposit {
    /// Id of the log at `ordinal` of a transaction. Derived, so that the same log is the same
    /// deposit in every block. Has the form of a version 4 UUID.
    pub fn id_of(chain_id: u64, tx: TxHash, ordinal: u32) -> DepositId {
        let word = vault::hash(&[
            b"corridor.deposit",
            &chain_id.to_be_bytes(),
            &tx.0,
            &ordinal.to_be_bytes(),
        ]);
        let mut bytes = [0; 16];
        bytes.copy_from_slice(&word.0[..16]);
        DepositId(uuid::Builder::from_random_bytes(bytes).into_uuid())
    }

    /// `status`; `None` if it is hidden. A suspended or refunding deposit keeps its previous
    /// status, unless a reorganisation took its money out of the wallet.
    pub fn status(&self) -> Option<DepositStatus> {
        let state = match (self.state, self.back_to) {
            (DepositState::Suspended, Some(DepositState::Completed)) => DepositState::Suspended,
            (
                DepositState::Suspended | DepositState::Refunding | DepositState::Refunded,
                Some(before),
            ) => before,
            (state, _) => state,
        };
        state.status()
    }

    /// Refuses a change that its state does not permit.
    pub fn refused(&self) -> DepositRefusal {
        DepositRefusal::State { state: self.state, shown: self.status() }
    }

    /// `type` in API responses, derived from the state and the vault.
    pub const fn kind(&self) -> DepositKind {
        match self.state {
            DepositState::Held | DepositState::Suspended => DepositKind::Blocked,
            DepositState::Completed => DepositKind::Received,
            _ if self.request.is_none() => DepositKind::Blocked,
            _ => DepositKind::Received,
        }
    }

    /// Amount of the deposit.
    pub const fn amount(&self) -> Money {
        Money::new(self.minor, self.coin.currency())
    }

    /// The transfer at `place`, for comparison with node answers; `token` is the contract of its coin.
    pub const fn transfer_at(&self, place: BlockRef, token: Address) -> TransferAt {
        TransferAt {
            block_number: place.number,
            block: place.block,
            tx: self.tx,
            ordinal: self.ordinal,
            token,
            from: self.from,
            to: self.to,
            value: self.minor.unsigned_abs(),
        }
    }

    /// Height that decides the next check: of its block, or of the chain when it dropped out.
    pub fn height(&self) -> Option<u64> {
        self.place.map(|place| place.number).or(self.lost_at)
    }
}

/// A vault that the watcher monitors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Watched {
    /// Address of the vault.
    pub address: Address,
    /// Tenant of the vault.
    pub tenant: TenantId,
    /// Chain of the wallet: only payments on this chain count.
    pub chain: ChainNumber,
    /// The wallet, or the wallet that the escrow pays.
    pub wallet: WalletId,
    /// Request of the escrow; `None` for a wallet.
    pub request: Option<PaymentRequestId>,
    /// Submission of sender details of the escrow; `None` for the request's own escrow or a wallet.
    pub submission: Option<u32>,
}

impl Watched {
    /// Id of the request or the wallet.
    pub fn subject(&self) -> Uuid {
        self.request.map_or(self.wallet.0, |request| request.0)
    }

    /// Kind of the vault.
    pub const fn kind(&self) -> vault::VaultKind {
        if self.request.is_some() { vault::VaultKind::Escrow } else { vault::VaultKind::Wallet }
    }
}

/// Log of a token transfer into or out of a watched vault; kept until its block is reorganised
/// away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VaultLog {
    /// Chain of the log.
    pub chain: ChainNumber,
    /// Block of the log; the log is dropped when this block is reorganised away.
    pub place: BlockRef,
    /// Position among the logs of the block.
    pub log_index: u32,
    /// Hash of the transaction that emitted the log.
    pub tx: TxHash,
    /// Position among the transaction's transfers.
    pub ordinal: u32,
    /// Watched vault whose balance the transfer changes.
    pub vault: Address,
    /// Stablecoin of the transfer.
    pub coin: StableCoin,
    /// Change of the vault's balance in minor units; negative for outgoing transfers.
    pub minor: i64,
}

/// An unsupported token sent to a watched vault, or any token on another chain than the vault's:
/// recorded, never credited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnsupportedAsset {
    /// Chain of the transfer, possibly not that of the vault.
    pub chain: ChainNumber,
    /// Vault that the token was sent to.
    pub vault: Watched,
    /// Contract that emitted the log; not among the configured tokens of the vault's chain.
    pub token: Address,
    /// Payer according to the log, which an unsupported contract can invent.
    pub from: Address,
    /// Value according to the log, in the token's own units; saturates at 64 bits.
    pub value: u64,
    /// Block that contains the log.
    pub place: BlockRef,
    /// Hash of the transaction that emitted the log.
    pub tx: TxHash,
    /// Position among the transaction's transfers.
    pub ordinal: u32,
    /// Time at which the watcher found it, not the block's timestamp.
    pub at: Timestamp,
}

#[cfg(test)]
pub(crate) mod tests;
