//! Commands about on-chain actions.

use domain::chain::{ChainNumber, Fees, IntentKind, Plan, Signed, TxHash};
use domain::chain_tx::{self, ChainTx, Intent, Mined, Taking};
use domain::currency::StableCoin;
use domain::deposit::{Halt, UnsupportedAsset};
use domain::ids::{
    ChainTxId, DepositId, ExchangeId, IntentId, PaymentRequestId, SweepId, TenantId, WalletId,
};
use domain::sweep;
use domain::time::Timestamp;
use domain::wallet_event::FailureReason;
use store::need::Need;

use super::deposits::{DepositRef, need_of_asset};
use super::exchange::OrderKey;

/// What an intent is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    Deposit(DepositRef),
    Order(OrderKey),
    /// A sweep of a chain's coin.
    Sweep(SweepId, ChainNumber, StableCoin),
    /// Legal hold of a request's escrow, caused by a deposit.
    Hold(PaymentRequestId, DepositId),
    /// A sender's transfer for a payment request.
    Sponsored(PaymentRequestId),
    /// A record whose state does not depend on the intent: its owner polls for the result.
    Other,
}

/// An intent and its subject, as read by the caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IntentKey {
    pub intent: IntentId,
    /// What the intent is for.
    pub subject: Subject,
    /// The wallet whose funds it concerns.
    pub wallet: Option<WalletId>,
}

impl IntentKey {
    /// Returns the key of an intent.
    pub fn of(intent: &Intent) -> IntentKey {
        let subject = match (intent.kind(), intent.wallet, intent.coin) {
            // A cancelled refund leaves the deposit unchanged.
            (IntentKind::ProposeRefund, ..) if matches!(intent.plan, Plan::CancelRefund { .. }) => {
                Subject::Other
            }
            (
                IntentKind::Release | IntentKind::ProposeRefund | IntentKind::ExecuteRefund,
                Some(wallet),
                Some(coin),
            ) => Subject::Deposit(DepositRef {
                id: DepositId(intent.subject),
                wallet,
                request: intent.request,
                coin,
                intents: vec![intent.id],
                riders: intent.riders.clone(),
                accept_late: None,
            }),
            (IntentKind::Debit | IntentKind::ReturnDebit, Some(wallet), Some(coin)) => {
                Subject::Order(OrderKey {
                    order: ExchangeId(intent.subject),
                    wallet,
                    chain: Some(intent.chain),
                    coin,
                    intents: vec![intent.id],
                })
            }
            (IntentKind::SetLegalHold, ..) => match intent.request {
                Some(request) => Subject::Hold(request, DepositId(intent.subject)),
                None => Subject::Other,
            },
            (IntentKind::SponsoredTransfer, ..) => {
                intent.request.map_or(Subject::Other, Subject::Sponsored)
            }
            (IntentKind::Sweep, _, Some(coin)) => {
                Subject::Sweep(SweepId(intent.subject), intent.chain, coin)
            }
            _ => Subject::Other,
        };
        IntentKey { intent: intent.id, subject, wallet: intent.wallet }
    }

    fn need(&self, tenant: TenantId, need: &mut Need) {
        need.intents.insert((tenant, self.intent));
        need.wallets.extend(self.wallet.map(|wallet| (tenant, wallet)));
        match &self.subject {
            Subject::Deposit(key) => key.need(tenant, need),
            Subject::Order(key) => key.need(tenant, need),
            Subject::Sweep(id, chain, coin) => {
                need.sweeps.insert((tenant, *id));
                need.jobs.insert((tenant, sweep::lane(tenant, *chain, *coin)));
            }
            Subject::Hold(request, deposit) => {
                need.requests.insert((tenant, *request));
                need.jobs.insert((tenant, deposit.0));
            }
            Subject::Sponsored(request) => _ = need.requests.insert((tenant, *request)),
            Subject::Other => {}
        }
    }
}

/// A transaction and its intents, as read by the caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TxKey {
    pub tx: ChainTxId,
    pub intents: Vec<IntentKey>,
}

impl TxKey {
    /// Returns the key of a transaction read with its intents.
    pub fn of(tx: &ChainTx, intents: &[Intent]) -> TxKey {
        TxKey { tx: tx.id, intents: intents.iter().map(IntentKey::of).collect() }
    }

    fn need(&self, tenant: TenantId, need: &mut Need) {
        need.chain_txs.insert((tenant, self.tx));
        self.intents.iter().for_each(|intent| intent.need(tenant, need));
    }
}

/// A transaction of an earlier life of the installation that executed an intent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExecutedTx {
    pub hash: TxHash,
    /// What the token's contract kept of the amount, in minor units.
    pub fee: i64,
    /// Whether the controller executed it under an id that these books do not have.
    pub under_other_id: bool,
}

/// Actions on intents and transactions.
#[derive(Clone, Debug)]
pub enum ChainAction {
    /// A worker simulated intents and is about to sign one transaction for all of them.
    Take {
        /// Nonce, signer and fees of the transaction.
        taking: Box<Taking>,
        /// The intents, each with the fence under which the worker holds its job.
        intents: Vec<(IntentKey, i64)>,
    },
    /// The chain expects a nonce that none of our transactions has, and ours wait after it: fill it
    /// with a no-op transaction.
    Fill {
        /// As in `Take`; its `chain_nonce` is the nonce to fill.
        taking: Box<Taking>,
    },
    /// An intent cannot be attempted now.
    PutOff {
        intent: IntentKey,
        /// The fence under which the worker holds the job.
        fence: i64,
        until: Timestamp,
        /// Why the token is halted, which is waited for one day at most. `None` = another reason.
        halt: Option<Halt>,
    },
    /// A simulation reports that an intent fails.
    Fails {
        intent: IntentKey,
        /// The fence under which the worker holds the job.
        fence: i64,
        /// The chain's error message.
        why: String,
        /// The reason reported to its subject if it is given up.
        reason: FailureReason,
        /// Whether a retry is useless.
        at_once: bool,
    },
    /// The amount of a deposit's release was already moved by the release of another deposit of the
    /// same escrow and amount, which a reorganization removed after that release was signed.
    ReleasedBefore {
        /// The release that is not yet sent.
        intent: IntentKey,
        /// The fence under which the worker holds its job.
        fence: i64,
        /// The deposit that is no longer in the chain.
        lost: DepositRef,
        /// The transaction that released it.
        tx: TxHash,
    },
    /// The controller has executed the intent in a transaction that these books do not have.
    ExecutedBefore {
        intent: IntentKey,
        /// The fence under which the worker holds the job.
        fence: i64,
        /// The transaction, if its log is found, deep enough, and agrees with the books. `None` = the
        /// intent is held until `until`.
        tx: Option<ExecutedTx>,
        until: Timestamp,
    },
    /// Another party has already done what the intent is for.
    Needless {
        intent: IntentKey,
        /// The fence under which the worker holds the job.
        fence: i64,
    },
    /// Sweep the coins of settled orders to the treasury, unless there are none or a sweep is under
    /// way.
    Sweep {
        /// The id of the new sweep.
        id: SweepId,
        chain: ChainNumber,
        coin: StableCoin,
        /// The controller's on-chain balance in minor units.
        held: i64,
        /// The fence under which the worker holds the job.
        fence: i64,
    },
    /// Deploy the tenant's controller on a chain, unless that is under way.
    Deploy(ChainNumber),
    /// A worker signed a transaction. It is not broadcast before this command commits.
    Signed {
        tx: TxKey,
        /// The fence under which the worker holds the job.
        fence: i64,
        signed: Box<Signed>,
        fees: Fees,
        /// Whether it only fills the nonce.
        cancels: bool,
    },
    /// A transaction is not mined: check whether it is still wanted, and retry later.
    Look {
        tx: TxKey,
        /// The fence under which the worker holds the job.
        fence: i64,
        /// Whether it waits at the maximum fee, which alerts an operator.
        stuck: bool,
        /// Whether the watcher has ingested the whole chain: anything absent now was reorganized
        /// away.
        abreast: bool,
    },
    /// An attempt of a transaction was mined.
    Mined {
        tx: TxKey,
        /// The block reference and the receipt's result.
        mined: Box<Mined>,
        /// Whether the block is deep enough to count. True only if this very block was saved
        /// before: a check for a vanished block reads what is saved there and could miss a
        /// concurrent write.
        over: bool,
        /// The controller's errors for intents that failed individually.
        refusals: Vec<(IntentId, String)>,
        /// Fees that token contracts kept from releases for their issuers, in minor units.
        fees: Vec<(IntentId, i64)>,
        /// Intents that failed because the controller had executed them before.
        executed: Vec<IntentId>,
    },
    /// The block of a transaction was reorganized away.
    Lost { tx: TxKey },
    /// The nonce of a transaction was used by a foreign transaction.
    Superseded {
        tx: TxKey,
        /// Its intents that the controller had executed before.
        executed: Vec<IntentId>,
    },
    /// An unsupported token was sent to a vault.
    Unsupported {
        /// The token and the vault.
        asset: Box<UnsupportedAsset>,
        /// Whether to alert an operator: it is the tenant's first one.
        tell: bool,
    },
}

impl ChainAction {
    pub(super) fn need(&self, tenant: TenantId, need: &mut Need) {
        match self {
            ChainAction::Take { taking, intents } => {
                need.signers.insert((tenant, (taking.chain, taking.signer)));
                intents.iter().for_each(|(intent, _)| intent.need(tenant, need));
            }
            ChainAction::PutOff { intent, .. }
            | ChainAction::Fails { intent, .. }
            | ChainAction::ExecutedBefore { intent, .. }
            | ChainAction::Needless { intent, .. } => intent.need(tenant, need),
            ChainAction::ReleasedBefore { intent, lost, .. } => {
                intent.need(tenant, need);
                lost.need(tenant, need);
            }
            ChainAction::Fill { taking, .. } => {
                _ = need.signers.insert((tenant, (taking.chain, taking.signer)))
            }
            ChainAction::Sweep { chain, coin, .. } => {
                _ = need.jobs.insert((tenant, sweep::lane(tenant, *chain, *coin)))
            }
            ChainAction::Deploy(chain) => {
                _ = need.intents.insert((tenant, chain_tx::deploy_id(tenant, *chain)))
            }
            ChainAction::Signed { tx, .. }
            | ChainAction::Look { tx, .. }
            | ChainAction::Mined { tx, .. }
            | ChainAction::Lost { tx }
            | ChainAction::Superseded { tx, .. } => tx.need(tenant, need),
            ChainAction::Unsupported { asset, .. } => need_of_asset(asset, tenant, need),
        }
    }
}
