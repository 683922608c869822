//! Calls of the controllers and of token contracts: what an intent wants, and what a transaction
//! carries.

use std::slice;

use super::{Address, Authorization, EcdsaSignature, KeyRole, LogEvent, Word};
use crate::currency::StableCoin;

/// A movement out of a vault: to its fixed recipient, or as a refund.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Movement {
    /// Id under which the controller executes it at most once.
    pub intent: Word,
    /// Reference of the vault, see [`vault::reference`](super::vault::reference).
    pub reference: Word,
    /// Recipient that the vault's address commits to.
    pub recipient: Address,
    /// ERC-20 contract of the tokens.
    pub token: Address,
    /// Amount in minor units.
    pub amount: u64,
}

/// The exact call that an intent wants, fixed at its creation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Plan {
    /// Controller `releaseBatch`: from an escrow to the wallet that it commits to.
    Release(Movement),
    /// Controller `debitBatch`: from a wallet to the controller.
    Debit(Movement),
    /// Controller `returnDebit`: back to the vault that a debit took from.
    ReturnDebit {
        /// The controller's id of the debit.
        debit: Word,
        /// The controller's id of the return.
        intent: Word,
    },
    /// Controller `sweep`: from the controller to its treasury.
    Sweep {
        /// ERC-20 contract of the tokens.
        token: Address,
        /// Amount in minor units.
        amount: u64,
    },
    /// Controller `proposeRefund`: propose to pay out of a vault to another address.
    ProposeRefund {
        /// Movement out of the escrow; `recipient` is the escrow's own.
        movement: Movement,
        /// Address that is to be paid instead of the recipient.
        to: Address,
    },
    /// Controller `cancelRefund`: withdraw a refund proposal that is not executed.
    CancelRefund {
        /// Controller's id of the proposal.
        intent: Word,
    },
    /// Controller `executeRefund`: pay out a refund proposal after its approval.
    ExecuteRefund {
        /// Controller's id of the proposal.
        intent: Word,
    },
    /// Controller `setFrozen`: freeze or unfreeze a vault.
    SetFrozen {
        /// Vault to freeze or unfreeze.
        account: Address,
        /// Whether the vault is to be frozen.
        frozen: bool,
        /// Case reference for the log, see `wallet::case_of`.
        case: Word,
    },
    /// Controller `setLegalHold`: while it is set, nothing leaves the vault, not even a refund.
    SetLegalHold {
        /// Vault whose hold is set or lifted.
        vault: Address,
        /// Whether the vault is to be on hold.
        held: bool,
        /// Case reference for the log, derived from the deposit's id.
        case: Word,
    },
    /// Add an address to a token's blacklist.
    Blacklist {
        /// Stablecoin, whose issuers name the function differently.
        coin: StableCoin,
        /// ERC-20 contract that keeps the blacklist.
        token: Address,
        /// Address that goes on the blacklist.
        account: Address,
    },
    /// Token `transferWithAuthorization`: a sender's own transfer, whose gas the tenant pays.
    SponsoredTransfer {
        /// ERC-20 contract of the tokens.
        token: Address,
        /// The transfer that the sender authorized.
        authorization: Authorization,
        /// Signature of `authorization` by its `from`.
        signature: EcdsaSignature,
        /// Gas limit of the transaction, counted in the tenant's daily budget.
        gas_limit: u64,
    },
    /// Deploy the tenant's controller through the deterministic CREATE2 deployer.
    Deploy,
}

impl Plan {
    /// Whether it submits this authorization.
    pub fn authorizes(&self, wanted: &Authorization) -> bool {
        matches!(self, Plan::SponsoredTransfer { authorization, .. } if authorization == wanted)
    }

    /// Whether it takes a deposit's amount out of its escrow, or prepares that: never while the
    /// deposit is out of the chain, since it would be paid from the escrow's other deposits.
    pub const fn pays_from_escrow(&self) -> bool {
        matches!(self, Plan::Release(_) | Plan::ProposeRefund { .. } | Plan::ExecuteRefund { .. })
    }

    /// Purpose of the call.
    pub const fn kind(&self) -> IntentKind {
        match self {
            Plan::Release(_) => IntentKind::Release,
            Plan::Debit(_) => IntentKind::Debit,
            Plan::ReturnDebit { .. } => IntentKind::ReturnDebit,
            Plan::Sweep { .. } => IntentKind::Sweep,
            Plan::ProposeRefund { .. } | Plan::CancelRefund { .. } => IntentKind::ProposeRefund,
            Plan::ExecuteRefund { .. } => IntentKind::ExecuteRefund,
            Plan::SetFrozen { .. } => IntentKind::SetFrozen,
            Plan::SetLegalHold { .. } => IntentKind::SetLegalHold,
            Plan::Blacklist { coin: StableCoin::Usdc, .. } => IntentKind::BlacklistUsdc,
            Plan::Blacklist { coin: StableCoin::Usdt, .. } => IntentKind::BlacklistUsdt,
            Plan::SponsoredTransfer { .. } => IntentKind::SponsoredTransfer,
            Plan::Deploy => IntentKind::Deploy,
        }
    }

    /// Event that the controller emits on execution. A successful call alone proves nothing: a call
    /// to an address without a contract succeeds. `None` means that the controller is not involved.
    pub const fn evidence(&self) -> Option<LogEvent> {
        match *self {
            Plan::Release(movement)
            | Plan::Debit(movement)
            | Plan::ProposeRefund { movement, .. } => Some(LogEvent::IntentDone(movement.intent)),
            Plan::ReturnDebit { intent, .. } | Plan::ExecuteRefund { intent } => {
                Some(LogEvent::IntentDone(intent))
            }
            Plan::Sweep { token, amount } => Some(LogEvent::Swept { token, value: amount }),
            Plan::CancelRefund { intent } => Some(LogEvent::RefundCancelled(intent)),
            Plan::SetFrozen { account, frozen, .. } => {
                Some(LogEvent::FrozenSet { account, frozen })
            }
            Plan::SetLegalHold { vault, held, .. } => Some(LogEvent::LegalHoldSet { vault, held }),
            Plan::Blacklist { .. } | Plan::SponsoredTransfer { .. } | Plan::Deploy => None,
        }
    }
}

names! {
    /// Purpose of an intent.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum IntentKind: "Name in the store." {
        /// Move a deposit from its escrow to the wallet.
        Release = "release",
        /// Move an order's tokens from the wallet to the controller.
        Debit = "debit",
        /// Return the amount of a debit.
        ReturnDebit = "return_debit",
        /// Move tokens of settled orders from the controller to the treasury.
        Sweep = "sweep",
        /// First half of refunding a deposit to its sender, or its cancellation.
        ProposeRefund = "propose_refund",
        /// Second half of a refund.
        ExecuteRefund = "execute_refund",
        /// Freeze or unfreeze a vault.
        SetFrozen = "set_frozen",
        /// Set or lift an escrow's legal hold.
        SetLegalHold = "set_legal_hold",
        /// Add an address to USDC's own blacklist.
        BlacklistUsdc = "blacklist_usdc",
        /// Add an address to USDT's own blacklist.
        BlacklistUsdt = "blacklist_usdt",
        /// Submit a sender's own transfer and pay its gas.
        SponsoredTransfer = "sponsored_transfer",
        /// Deploy the tenant's controller.
        Deploy = "deploy",
    }
}

impl IntentKind {
    /// Role of the key that signs it.
    pub const fn role(self) -> KeyRole {
        match self {
            IntentKind::Release
            | IntentKind::Debit
            | IntentKind::ReturnDebit
            | IntentKind::Sweep
            | IntentKind::SponsoredTransfer
            | IntentKind::Deploy => KeyRole::Operator,
            IntentKind::ProposeRefund | IntentKind::SetFrozen | IntentKind::SetLegalHold => {
                KeyRole::Compliance
            }
            IntentKind::ExecuteRefund => KeyRole::Approver,
            IntentKind::BlacklistUsdc | IntentKind::BlacklistUsdt => KeyRole::Blacklister,
        }
    }

    /// Whether intents of this kind can share a transaction, each with its own result.
    pub const fn is_batched(self) -> bool {
        matches!(self, IntentKind::Release | IntentKind::Debit)
    }
}

/// What one of our transactions does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Call {
    /// Releases, each on its own.
    Release(Vec<Movement>),
    /// Debits, each on its own.
    Debit(Vec<Movement>),
    /// Any plan, by itself.
    One(Plan),
    /// Empty transaction from the signer to itself: fills a nonce that is no longer needed.
    Cancel,
}

impl Call {
    /// The movements of a batch, each of which has a result of its own; empty for other calls.
    pub fn batch(&self) -> &[Movement] {
        match self {
            Call::Release(movements) | Call::Debit(movements) => movements,
            Call::One(Plan::Release(movement) | Plan::Debit(movement)) => slice::from_ref(movement),
            Call::One(_) | Call::Cancel => &[],
        }
    }

    /// Gas limit that was fixed with the call; `None` = it follows from the simulation.
    pub const fn gas_limit(&self) -> Option<u64> {
        match self {
            Call::One(Plan::SponsoredTransfer { gas_limit, .. }) => Some(*gas_limit),
            _ => None,
        }
    }

    /// The one call for all plans, in this order; `None` if they do not fit into one.
    pub fn of(plans: &[Plan]) -> Option<Call> {
        let released = |plan: &Plan| match plan {
            Plan::Release(movement) => Some(*movement),
            _ => None,
        };
        let debited = |plan: &Plan| match plan {
            Plan::Debit(movement) => Some(*movement),
            _ => None,
        };
        match plans {
            [Plan::Release(_), ..] => {
                plans.iter().map(released).collect::<Option<_>>().map(Call::Release)
            }
            [Plan::Debit(_), ..] => {
                plans.iter().map(debited).collect::<Option<_>>().map(Call::Debit)
            }
            [plan] => Some(Call::One(*plan)),
            _ => None,
        }
    }
}
