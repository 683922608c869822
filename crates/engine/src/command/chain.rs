//! Commands about what we do on the chain.

use domain::chain::{Address, Fees, Signed, TxHash};
use domain::chain_tx::{self, ChainTx, Intent, IntentKind, Mined, Plan, Taking};
use domain::currency::StableCoin;
use domain::deposit::{Halt, UnsupportedAsset};
use domain::ids::{ChainTxId, DepositId, ExchangeId, IntentId, PaymentRequestId, SweepId, TenantId, WalletId};
use domain::sweep;
use domain::time::Timestamp;
use domain::wallet_event::FailureReason;
use store::need::Need;

use super::deposits::{DepositRef, need_of_asset};
use super::exchange::OrderKey;

/// What an intent is done for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A deposit.
    Deposit(DepositRef),
    /// An order.
    Order(OrderKey),
    /// A sweep of a coin.
    Sweep(SweepId, StableCoin),
    /// Whether the escrow of a request is on legal hold, said because of a deposit.
    Hold(PaymentRequestId, DepositId),
    /// Something whose state does not hang on it: whoever wanted it looks for himself.
    Other,
}

/// An intent and what it is done for, as whoever asks has read it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IntentKey {
    /// The intent.
    pub intent: IntentId,
    /// What it is done for.
    pub subject: Subject,
    /// The wallet whose money it concerns.
    pub wallet: Option<WalletId>,
}

impl IntentKey {
    /// The key of an intent that was read.
    pub fn of(intent: &Intent) -> IntentKey {
        let subject = match (intent.kind, intent.wallet, intent.coin) {
            // The deposit is what it was before: nothing of it hangs on this.
            (IntentKind::ProposeRefund, ..) if matches!(intent.plan, Plan::CancelRefund { .. }) => Subject::Other,
            (IntentKind::Release | IntentKind::ProposeRefund | IntentKind::ExecuteRefund, Some(wallet), Some(coin)) => {
                Subject::Deposit(DepositRef {
                    id: DepositId(intent.subject),
                    wallet,
                    request: intent.request,
                    coin,
                    intents: vec![intent.id],
                    riders: intent.riders.clone(),
                    accept_late: None,
                })
            }
            (IntentKind::Debit | IntentKind::ReturnDebit, Some(wallet), Some(coin)) => {
                Subject::Order(OrderKey { order: ExchangeId(intent.subject), wallet, coin, intents: vec![intent.id] })
            }
            (IntentKind::SetLegalHold, ..) => match intent.request {
                Some(request) => Subject::Hold(request, DepositId(intent.subject)),
                None => Subject::Other,
            },
            (IntentKind::Sweep, _, Some(coin)) => Subject::Sweep(SweepId(intent.subject), coin),
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
            Subject::Sweep(id, coin) => {
                need.sweeps.insert((tenant, *id));
                need.jobs.insert((tenant, sweep::lane(tenant, *coin)));
            }
            Subject::Hold(request, deposit) => {
                need.requests.insert((tenant, *request));
                need.jobs.insert((tenant, deposit.0));
            }
            Subject::Other => {}
        }
    }
}

/// A transaction and its intents, as whoever asks has read them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TxKey {
    /// The transaction.
    pub tx: ChainTxId,
    /// Its intents.
    pub intents: Vec<IntentKey>,
}

impl TxKey {
    /// The key of a transaction that was read with its intents.
    pub fn of(tx: &ChainTx, intents: &[Intent]) -> TxKey {
        TxKey { tx: tx.id, intents: intents.iter().map(IntentKey::of).collect() }
    }

    fn need(&self, tenant: TenantId, need: &mut Need) {
        need.chain_txs.insert((tenant, self.tx));
        self.intents.iter().for_each(|intent| intent.need(tenant, need));
    }
}

/// What is to be done about intents and transactions.
#[derive(Clone, Debug)]
pub enum ChainAction {
    /// A worker has simulated intents and is about to sign one transaction for all of them.
    Take {
        /// How.
        taking: Box<Taking>,
        /// The intents, each with the fence under which the worker holds its job.
        intents: Vec<(IntentKey, i64)>,
    },
    /// The chain waits for a nonce that no transaction of ours has, and ours wait after it: it is filled by one that does
    /// nothing.
    Fill {
        /// How; its `chain_nonce` is the nonce.
        taking: Box<Taking>,
    },
    /// An intent cannot be tried now.
    PutOff {
        /// The intent.
        intent: IntentKey,
        /// The fence under which the worker holds the job.
        fence: i64,
        /// When to look again.
        until: Timestamp,
        /// Why its coin moves nothing: not waited for beyond a day. `None` = it waits for something else.
        halt: Option<Halt>,
    },
    /// A simulation says that an intent fails.
    Fails {
        /// The intent.
        intent: IntentKey,
        /// The fence under which the worker holds the job.
        fence: i64,
        /// Why, in the chain's words.
        why: String,
        /// What its subject is told if it is given up.
        reason: FailureReason,
        /// Whether trying again is of no use.
        at_once: bool,
    },
    /// What a deposit's release is to move was moved by the release of another deposit of the same escrow and amount, which
    /// a reorganisation took away after that was signed.
    ReleasedBefore {
        /// The release that is still to be sent.
        intent: IntentKey,
        /// The fence under which the worker holds its job.
        fence: i64,
        /// The deposit that is in the chain no more.
        lost: DepositRef,
        /// The transaction that released it.
        tx: TxHash,
    },
    /// Somebody else has done what an intent is for.
    Needless {
        /// The intent.
        intent: IntentKey,
        /// The fence under which the worker holds the job.
        fence: i64,
    },
    /// Coins of settled orders are to go to the treasury, if there are any and that is not under way.
    Sweep {
        /// The id that the sweep will have.
        id: SweepId,
        /// Which coin.
        coin: StableCoin,
        /// What the controller holds of it on the chain, in minor units.
        held: i64,
        /// The fence under which the worker holds the job.
        fence: i64,
    },
    /// The tenant's controller is to be put on the chain, if that is not under way.
    Deploy,
    /// A worker has signed something for a transaction; it is not broadcast before this is committed.
    Signed {
        /// The transaction.
        tx: TxKey,
        /// The fence under which the worker holds the job.
        fence: i64,
        /// What was signed.
        signed: Box<Signed>,
        /// What it pays for gas.
        fees: Fees,
        /// Whether it does nothing but fill the nonce.
        cancels: bool,
    },
    /// A transaction is not mined: is it still wanted? It is looked at again later.
    Look {
        /// The transaction.
        tx: TxKey,
        /// The fence under which the worker holds the job.
        fence: i64,
        /// Whether it waits at the highest fee: a person is called.
        stuck: bool,
        /// Whether the watcher has taken in all that the chain has: what is not in the chain now fell out of it.
        abreast: bool,
    },
    /// An attempt of a transaction is in a block.
    Mined {
        /// The transaction.
        tx: TxKey,
        /// Where, and what came of it.
        mined: Box<Mined>,
        /// Whether the block is deep enough to count. It does only where this very block was saved before: whoever finds
        /// a block gone asks for what is saved there, and can miss what was found meanwhile.
        over: bool,
        /// Why those of its intents failed that failed alone, in the controller's words.
        refusals: Vec<(IntentId, String)>,
        /// What coins' contracts kept of releases for their issuers, in minor units.
        fees: Vec<(IntentId, i64)>,
    },
    /// The block that a transaction was in was reorganised away.
    Lost {
        /// The transaction.
        tx: TxKey,
    },
    /// The nonce of a transaction is used by something that is not ours.
    Superseded {
        /// The transaction.
        tx: TxKey,
    },
    /// A token that nobody supports was sent to a vault.
    Unsupported {
        /// Which, and where.
        asset: Box<UnsupportedAsset>,
        /// Whether an operator is alerted: it is the first one of the tenant.
        tell: bool,
    },
}

impl ChainAction {
    pub(super) fn need(&self, tenant: TenantId, need: &mut Need) {
        match self {
            ChainAction::Take { taking, intents } => {
                let signer: Address = taking.signer;
                need.signers.insert((tenant, signer));
                intents.iter().for_each(|(intent, _)| intent.need(tenant, need));
            }
            ChainAction::PutOff { intent, .. }
            | ChainAction::Fails { intent, .. }
            | ChainAction::Needless { intent, .. } => intent.need(tenant, need),
            ChainAction::ReleasedBefore { intent, lost, .. } => {
                intent.need(tenant, need);
                lost.need(tenant, need);
            }
            ChainAction::Fill { taking, .. } => _ = need.signers.insert((tenant, taking.signer)),
            ChainAction::Sweep { coin, .. } => _ = need.jobs.insert((tenant, sweep::lane(tenant, *coin))),
            ChainAction::Deploy => _ = need.intents.insert((tenant, chain_tx::deploy_id(tenant))),
            ChainAction::Signed { tx, .. }
            | ChainAction::Look { tx, .. }
            | ChainAction::Mined { tx, .. }
            | ChainAction::Lost { tx }
            | ChainAction::Superseded { tx } => tx.need(tenant, need),
            ChainAction::Unsupported { asset, .. } => need_of_asset(asset, tenant, need),
        }
    }
}
