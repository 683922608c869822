//! Commands about incoming transactions.

use domain::chain::Address;
use domain::chain_tx::Place;
use domain::currency::StableCoin;
use domain::deposit::arrive::Found;
use domain::deposit::{Deposit, ReviewVerdict, UnsupportedAsset};
use domain::ids::{DepositId, IntentId, PaymentRequestId, TenantId, WalletId};
use domain::ledger::AccountCode;
use domain::risk::Assessment;
use domain::screening::Screened;
use domain::time::Span;
use store::need::Need;

use super::Idempotency;

/// A deposit and what belongs to it, as whoever asks has read it. If it has changed since, the command is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DepositKey {
    /// The deposit.
    pub deposit: DepositId,
    /// The wallet that it is for.
    pub wallet: WalletId,
    /// The request whose escrow it came to.
    pub request: Option<PaymentRequestId>,
    /// Which coin.
    pub coin: StableCoin,
    /// The intents that it names.
    pub intents: Vec<IntentId>,
}

impl DepositKey {
    /// The key of a deposit that was read.
    pub fn of(deposit: &Deposit) -> DepositKey {
        let refund = deposit.refund.as_ref();
        let refund = refund.into_iter().flat_map(|refund| [Some(refund.propose), refund.execute]);
        DepositKey {
            deposit: deposit.id,
            wallet: deposit.wallet,
            request: deposit.request,
            coin: deposit.coin,
            intents: [deposit.release].into_iter().chain(refund).flatten().collect(),
        }
    }

    /// The key of a deposit that is seen.
    pub fn found(found: &Found) -> DepositKey {
        DepositKey {
            deposit: Deposit::id_of(found.chain_id, found.tx, found.ordinal),
            wallet: found.vault.wallet,
            request: found.vault.request,
            coin: found.coin,
            intents: Vec::new(),
        }
    }

    pub(super) fn need(&self, tenant: TenantId, need: &mut Need) {
        need.deposits.insert((tenant, self.deposit));
        need.wallets.insert((tenant, self.wallet));
        need.requests.extend(self.request.map(|request| (tenant, request)));
        need.intents.extend(self.intents.iter().map(|intent| (tenant, *intent)));
        let escrow = self.request.map(|request| AccountCode::Escrow(request, self.coin));
        let wallet = AccountCode::Wallet(self.wallet, self.coin);
        need.accounts.extend(escrow.into_iter().chain([wallet]).map(|code| (tenant, code)));
        need.streams.extend(self.request.map(|request| (tenant, request.0)));
        need.streams.insert((tenant, self.wallet.0));
    }
}

/// What is to be done about one deposit.
#[derive(Clone, Debug)]
pub enum DepositAction {
    /// Its log is in a block.
    Found(Found),
    /// The block that it was in was reorganised away.
    Lost {
        /// The block.
        block: Place,
        /// How high the chain is.
        height: u64,
    },
    /// It is deep enough to count.
    Counted {
        /// How deep, its own block included.
        confirmations: u64,
        /// How long after the expiry of a request the tenant still takes a payment for it.
        accept_late: Option<Span>,
    },
    /// The balance of its vault is not what the logs add up to.
    Disputed(String),
    /// It may have been out of the chain for too long.
    Dropped {
        /// How high the chain is.
        height: u64,
    },
    /// Screening has assessed it.
    Screened {
        /// The fence under which the worker holds the job.
        fence: i64,
        /// What it found.
        assessment: Box<Assessment>,
    },
    /// A person has decided.
    Review {
        /// What.
        verdict: ReviewVerdict,
        /// Who.
        by: String,
        /// Why.
        note: String,
        /// For a repeated request.
        idempotency: Option<Idempotency>,
    },
    /// The state of its wallet may be another one.
    WalletChanged,
    /// Compliance wants to give it back.
    ProposeRefund {
        /// Where to.
        to: Address,
        /// What screening that address found.
        screened: Screened,
        /// Who.
        by: String,
    },
    /// Another person approves that.
    ApproveRefund {
        /// Who.
        by: String,
    },
}

impl DepositAction {
    pub(super) const fn is_foreground(&self) -> bool {
        matches!(
            self,
            DepositAction::Review { .. } | DepositAction::ProposeRefund { .. } | DepositAction::ApproveRefund { .. }
        )
    }

    pub(super) fn need(&self, key: &DepositKey, tenant: TenantId, need: &mut Need) {
        key.need(tenant, need);
        match self {
            DepositAction::Found(_) => need.senders.extend(key.request.map(|request| (tenant, request))),
            DepositAction::Review { idempotency: Some(idempotency), .. } => {
                need.idempotency.insert((tenant, idempotency.key.clone()));
            }
            _ => {}
        }
    }
}

/// What a token that nobody supports needs.
pub(super) fn need_of_asset(asset: &UnsupportedAsset, tenant: TenantId, need: &mut Need) {
    need.wallets.insert((tenant, asset.vault.wallet));
    need.requests.extend(asset.vault.request.map(|request| (tenant, request)));
    need.streams.insert((tenant, asset.vault.subject()));
}
