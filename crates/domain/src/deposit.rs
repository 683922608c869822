//! An incoming transaction: money that arrived on the chain, from the first sight of it to its end.
//!
//! What the interface shows ([`DepositState::status`], [`Deposit::kind`]) is a function of a richer state. A deposit is
//! known by where its log stands in its transaction, so a reorganisation that moves the transaction never makes
//! another one of it.

use uuid::Uuid;

use crate::chain::{Address, TransferAt, TxHash, vault};
use crate::chain_tx::Place;
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
pub use sent_back::Asking;
pub use token::{Halt, TokenState};

/// Where a deposit is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DepositState {
    /// In a block that is not deep enough to count.
    Seen,
    /// Its block was reorganised away before it counted: nobody is shown it, unless it comes again.
    Orphaned,
    /// It counts, and is not worth a release: it holds nothing up and is not judged until it is released with more.
    Dust,
    /// It counts; the wallet is blocked, so it stays where it is until that ends.
    Held,
    /// It counts; its risk is to be assessed.
    Screening,
    /// A person decides about it.
    InReview,
    /// It may go to the wallet; the release is under way.
    Approved,
    /// It is in the wallet.
    Completed,
    /// Refused by compliance; it may be given back.
    Rejected,
    /// Refused by compliance; it is never given back.
    LegalHold,
    /// Refused, and on its way back to the sender.
    Refunding,
    /// Refused, and given back.
    Refunded,
    /// The release failed, or the transaction fell out of the chain for good.
    Failed,
    /// It counted, and then its block was reorganised away: its amount is in suspense.
    Suspended,
}

impl DepositState {
    /// Every state.
    pub const ALL: [DepositState; 14] = [
        DepositState::Seen,
        DepositState::Orphaned,
        DepositState::Dust,
        DepositState::Held,
        DepositState::Screening,
        DepositState::InReview,
        DepositState::Approved,
        DepositState::Completed,
        DepositState::Rejected,
        DepositState::LegalHold,
        DepositState::Refunding,
        DepositState::Refunded,
        DepositState::Failed,
        DepositState::Suspended,
    ];

    /// The name in the store.
    pub const fn name(self) -> &'static str {
        match self {
            DepositState::Seen => "seen",
            DepositState::Orphaned => "orphaned",
            DepositState::Dust => "dust",
            DepositState::Held => "held",
            DepositState::Screening => "screening",
            DepositState::InReview => "in_review",
            DepositState::Approved => "approved",
            DepositState::Completed => "completed",
            DepositState::Rejected => "rejected",
            DepositState::LegalHold => "legal_hold",
            DepositState::Refunding => "refunding",
            DepositState::Refunded => "refunded",
            DepositState::Failed => "failed",
            DepositState::Suspended => "suspended",
        }
    }

    /// Reads the name.
    pub fn parse(name: &str) -> Option<DepositState> {
        DepositState::ALL.into_iter().find(|state| state.name() == name)
    }
}

/// `status` of the specification's transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DepositStatus {
    /// Seen, not deep enough.
    Pending,
    /// It counts.
    ReceivedInEscrow,
    /// In the wallet.
    Completed,
    /// Failed.
    Failed,
    /// Rejected by compliance.
    Rejected,
}

impl DepositStatus {
    /// Every status.
    pub const ALL: [DepositStatus; 5] = [
        DepositStatus::Pending,
        DepositStatus::ReceivedInEscrow,
        DepositStatus::Completed,
        DepositStatus::Failed,
        DepositStatus::Rejected,
    ];

    /// The name on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            DepositStatus::Pending => "PENDING",
            DepositStatus::ReceivedInEscrow => "RECEIVED_IN_ESCROW",
            DepositStatus::Completed => "COMPLETED",
            DepositStatus::Failed => "FAILED",
            DepositStatus::Rejected => "REJECTED",
        }
    }
}

/// `type` of the specification's transaction, as far as deposits go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DepositKind {
    /// `RECEIVED`
    Received,
    /// `BLOCKED`: frozen where it is.
    Blocked,
}

impl DepositKind {
    /// Both.
    pub const ALL: [DepositKind; 2] = [DepositKind::Received, DepositKind::Blocked];

    /// The name on the wire and in the store.
    pub const fn name(self) -> &'static str {
        match self {
            DepositKind::Received => "RECEIVED",
            DepositKind::Blocked => "BLOCKED",
        }
    }

    /// Reads the name.
    pub fn parse(name: &str) -> Option<DepositKind> {
        DepositKind::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// Where the books have a deposit's amount.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Pot {
    /// Nowhere: it has not counted, was given back, or fell out of the chain.
    Nowhere,
    /// `escrow:{request}:{coin}`
    Escrow,
    /// `suspense:{coin}`
    Suspense,
    /// `wallet:{wallet}:{coin}`
    Wallet,
}

impl Pot {
    /// Every pot.
    pub const ALL: [Pot; 4] = [Pot::Nowhere, Pot::Escrow, Pot::Suspense, Pot::Wallet];

    /// The name in the store.
    pub const fn name(self) -> &'static str {
        match self {
            Pot::Nowhere => "nowhere",
            Pot::Escrow => "escrow",
            Pot::Suspense => "suspense",
            Pot::Wallet => "wallet",
        }
    }

    /// Reads the name.
    pub fn parse(name: &str) -> Option<Pot> {
        Pot::ALL.into_iter().find(|pot| pot.name() == name)
    }
}

/// Giving a rejected deposit back: one person proposes, another one executes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refund {
    /// Where to: asked for from the sender, and screened. Never blindly the payer's address.
    pub to: Address,
    /// Who proposed it.
    pub proposed_by: String,
    /// What screening the address found.
    pub screened: crate::screening::Screened,
    /// The proposal on the chain.
    pub propose: IntentId,
    /// Whether the proposal is on the chain.
    pub proposed: bool,
    /// Who approved it: somebody else.
    pub approved_by: Option<String>,
    /// What screening the address found when it was approved, on the lists of then.
    pub screened_again: Option<crate::screening::Screened>,
    /// The execution on the chain.
    pub execute: Option<IntentId>,
    /// The transaction that paid it.
    pub tx: Option<TxHash>,
}

/// The refund that a person has before him when he approves it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeenRefund {
    /// Where it goes to.
    pub to: Address,
    /// How much, in minor units; `None` = he named none.
    pub minor: Option<i64>,
}

impl Refund {
    /// Whether nobody has approved it yet: it can be approved once it is on the chain, and withdrawn.
    pub const fn waits_for_approval(&self) -> bool {
        self.approved_by.is_none() && self.tx.is_none()
    }
}

/// What a person decided about a deposit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// What.
    pub verdict: ReviewVerdict,
    /// Who.
    pub by: String,
    /// Why.
    pub note: String,
    /// When.
    pub at: Timestamp,
}

/// What a person can decide about a deposit in review.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReviewVerdict {
    /// It goes to the wallet.
    Approve,
    /// It is refused, and may be given back.
    Reject,
    /// It is refused, and never given back.
    LegalHold,
    /// It is refused like a rejected one, and the wallet is blocked.
    Block,
}

impl ReviewVerdict {
    /// Every verdict.
    pub const ALL: [ReviewVerdict; 4] =
        [ReviewVerdict::Approve, ReviewVerdict::Reject, ReviewVerdict::LegalHold, ReviewVerdict::Block];

    /// The name on the wire and in the store.
    pub const fn name(self) -> &'static str {
        match self {
            ReviewVerdict::Approve => "approve",
            ReviewVerdict::Reject => "reject",
            ReviewVerdict::LegalHold => "legal_hold",
            ReviewVerdict::Block => "block",
        }
    }

    /// Reads the name.
    pub fn parse(name: &str) -> Option<ReviewVerdict> {
        ReviewVerdict::ALL.into_iter().find(|verdict| verdict.name() == name)
    }
}

/// An incoming transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deposit {
    /// Its id: [`Deposit::id_of`].
    pub id: DepositId,
    /// Whose.
    pub tenant: TenantId,
    /// Who is to get it.
    pub wallet: WalletId,
    /// The request whose escrow it came to; `None` = it came straight to the wallet's address.
    pub request: Option<PaymentRequestId>,
    /// The submission of sender's details whose escrow it came to; `None` = it came to the request's own escrow, so that its
    /// sender is unknown, or to the wallet.
    pub submission: Option<u32>,
    /// Which coin.
    pub coin: StableCoin,
    /// How much: the log's value in minor units (10^-6).
    pub minor: i64,
    /// Who paid.
    pub from: Address,
    /// The vault that it came to.
    pub to: Address,
    /// Its transaction.
    pub tx: TxHash,
    /// The place of its log among the logs of the transaction.
    pub ordinal: u32,
    /// Where in the chain it is; `None` = not in the chain now.
    pub place: Option<Place>,
    /// Height of the chain when it fell out of it.
    pub lost_at: Option<u64>,
    /// The time that its block claims.
    pub paid_at: Timestamp,
    /// `timestamp`: when it was first seen.
    pub seen_at: Timestamp,
    /// What the submission says whose escrow it came to; nothing where the sender is unknown.
    pub sender: SenderDetails,
    /// Where it is.
    pub state: DepositState,
    /// When its state last changed.
    pub state_at: Timestamp,
    /// The state that it had when it was suspended or began to be refunded.
    pub back_to: Option<DepositState>,
    /// Where its amount is in the books.
    pub pot: Pot,
    /// The reservation escrow → wallet while it is approved.
    pub hold: Option<TransferId>,
    /// When it counted.
    pub credited_at: Option<Timestamp>,
    /// Whether the balance of its vault was found to differ from what the logs add up to: an alert is out.
    pub disputed: bool,
    /// Why a person must decide about it, whatever screening finds.
    pub concern: Option<ReasonCode>,
    /// The newest assessment of its risk.
    pub assessment: Option<Assessment>,
    /// What a person decided.
    pub decision: Option<Decision>,
    /// Whether its request's sums leave it out: it was not worth a release when it came, and has not been released since.
    pub is_dust: bool,
    /// Whether a sandbox wants its release to fail on the chain.
    pub spoiled: bool,
    /// The newest release: its own, or that of the deposit that it is released with.
    pub release: Option<IntentId>,
    /// The dust that its newest release takes along.
    pub riders: Vec<DepositId>,
    /// The transaction that brought it to the wallet.
    pub release_tx: Option<TxHash>,
    /// When it was in the wallet.
    pub completed_at: Option<Timestamp>,
    /// Why it failed or was rejected.
    pub failure: Option<FailureReason>,
    /// Giving it back.
    pub refund: Option<Refund>,
    /// The intent that puts its escrow on legal hold on the chain; `None` once its hold is lifted.
    pub legal_hold: Option<IntentId>,
    /// Rises by one with every change of the row.
    pub version: i64,
}

impl Deposit {
    /// The id of what the log at `ordinal` of a transaction says. Computed, so that the same log is the same deposit
    /// in whichever block it is found. Shaped as a version 4 UUID.
    pub fn id_of(chain_id: u64, tx: TxHash, ordinal: u32) -> DepositId {
        let word = vault::hash(&[b"corridor.deposit", &chain_id.to_be_bytes(), &tx.0, &ordinal.to_be_bytes()]);
        let mut bytes = [0; 16];
        bytes.copy_from_slice(&word.0[..16]);
        DepositId(uuid::Builder::from_random_bytes(bytes).into_uuid())
    }

    /// `status`; `None` = it is not shown. What is suspended or refunded shows what it showed before, but for money that a
    /// reorganisation took out of the wallet: it is in the wallet no longer.
    pub fn status(&self) -> Option<DepositStatus> {
        let state = match (self.state, self.back_to) {
            (DepositState::Suspended, Some(DepositState::Completed)) => DepositState::Suspended,
            (DepositState::Suspended | DepositState::Refunding | DepositState::Refunded, Some(before)) => before,
            (state, _) => state,
        };
        Some(match state {
            DepositState::Orphaned => return None,
            DepositState::Seen => DepositStatus::Pending,
            DepositState::Dust
            | DepositState::Held
            | DepositState::Screening
            | DepositState::InReview
            | DepositState::Approved
            | DepositState::Suspended => DepositStatus::ReceivedInEscrow,
            DepositState::Completed => DepositStatus::Completed,
            DepositState::Rejected | DepositState::LegalHold | DepositState::Refunding | DepositState::Refunded => {
                DepositStatus::Rejected
            }
            DepositState::Failed => DepositStatus::Failed,
        })
    }

    /// `type`
    pub const fn kind(&self) -> DepositKind {
        match self.state {
            DepositState::Held | DepositState::Suspended => DepositKind::Blocked,
            DepositState::Completed => DepositKind::Received,
            _ if self.request.is_none() => DepositKind::Blocked,
            _ => DepositKind::Received,
        }
    }

    /// Its amount.
    pub const fn amount(&self) -> Money {
        Money::new(self.minor, self.coin.currency())
    }

    /// Its transfer as the block at `place` has it, to be compared with what nodes report; `token` is the contract of its coin.
    pub const fn transfer_at(&self, place: Place, token: Address) -> TransferAt {
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

    /// The height that decides when it is looked at again: of its block, or of the chain when it fell out of it.
    pub fn height(&self) -> Option<u64> {
        self.place.map(|place| place.number).or(self.lost_at)
    }
}

/// A vault that the watcher knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Watched {
    /// Where it is.
    pub address: Address,
    /// Whose.
    pub tenant: TenantId,
    /// The wallet, or the wallet that the escrow pays.
    pub wallet: WalletId,
    /// The request whose escrow it is; `None` = it is the wallet itself.
    pub request: Option<PaymentRequestId>,
    /// The submission of sender's details whose escrow it is; `None` = it is the request's own, or the wallet itself.
    pub submission: Option<u32>,
}

impl Watched {
    /// The request or the wallet.
    pub fn subject(&self) -> Uuid {
        self.request.map_or(self.wallet.0, |request| request.0)
    }

    /// Which of the two.
    pub const fn kind(&self) -> vault::VaultKind {
        if self.request.is_some() { vault::VaultKind::Escrow } else { vault::VaultKind::Wallet }
    }
}

/// A log of a coin that moved into or out of a watched vault; kept until its block is reorganised away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VaultLog {
    /// Where in the chain it is.
    pub place: Place,
    /// Its place among the logs of the block.
    pub log_index: u32,
    /// Its transaction.
    pub tx: TxHash,
    /// Its place among the logs of its transaction.
    pub ordinal: u32,
    /// The vault.
    pub vault: Address,
    /// Which coin.
    pub coin: StableCoin,
    /// What it adds to the vault, in minor units; negative where it takes away.
    pub minor: i64,
}

/// A token that nobody supports, sent to a watched vault: recorded, never a credit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnsupportedAsset {
    /// The vault.
    pub vault: Watched,
    /// The token's contract.
    pub token: Address,
    /// Who sent it.
    pub from: Address,
    /// As the log says, in the token's own units; cut to 64 bits.
    pub value: u64,
    /// Where in the chain it is.
    pub place: Place,
    /// Its transaction.
    pub tx: TxHash,
    /// Its place among the logs of its transaction.
    pub ordinal: u32,
    /// When it was found.
    pub at: Timestamp,
}

#[cfg(test)]
pub(crate) mod tests;
