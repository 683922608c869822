//! Commands about incoming transactions.

use domain::chain::Address;
use domain::currency::StableCoin;
use domain::deposit::{Deposit, ReviewVerdict};
use domain::ids::{DepositId, IntentId, PaymentRequestId, TenantId, WalletId};
use domain::ledger::AccountCode;
use domain::risk::Assessment;
use domain::screening::Screened;
use domain::time::Span;
use store::need::Need;

use super::Idempotency;

/// A deposit as commands name it: with what is needed to find all that belongs to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DepositRef {
    /// The deposit.
    pub id: DepositId,
    /// The wallet that it is for.
    pub wallet: WalletId,
    /// The request whose escrow it came to.
    pub request: Option<PaymentRequestId>,
    /// Which coin.
    pub coin: StableCoin,
    /// The intents that it names.
    pub intents: Vec<IntentId>,
    /// How long after the expiry of a request the tenant still takes a payment for it; `None` = not at all.
    pub accept_late: Option<Span>,
}

impl DepositRef {
    /// How to name a deposit of a tenant with this policy.
    pub fn of(deposit: &Deposit, accept_late: Option<Span>) -> DepositRef {
        let refund = deposit.refund.as_ref();
        let intents = [deposit.release, refund.map(|it| it.propose), refund.and_then(|it| it.execute)];
        DepositRef {
            id: deposit.id,
            wallet: deposit.wallet,
            request: deposit.request,
            coin: deposit.coin,
            intents: intents.into_iter().flatten().collect(),
            accept_late,
        }
    }
}

/// What is to be done about one deposit.
#[derive(Clone, Debug)]
pub enum DepositAction {
    /// A worker has screened it.
    Screened {
        /// The fence under which the worker holds the job.
        fence: i64,
        /// What came of it.
        assessment: Box<Assessment>,
    },
    /// Its wallet is another one than it was.
    WalletChanged,
    /// A person has decided about it.
    Reviewed {
        /// What.
        verdict: ReviewVerdict,
        /// Who.
        by: String,
        /// Why.
        note: String,
        /// For a repeated request.
        idempotency: Option<Idempotency>,
    },
    /// A person wants it given back.
    ProposeRefund {
        /// Where to.
        to: Address,
        /// What screening the address found.
        screened: Screened,
        /// Who.
        by: String,
    },
    /// Another person agrees.
    ApproveRefund {
        /// Who.
        by: String,
    },
}

impl DepositAction {
    pub(super) fn need(&self, tenant: TenantId, named: &DepositRef, need: &mut Need) {
        need.deposits.insert((tenant, named.id));
        need.wallets.insert((tenant, named.wallet));
        need.streams.insert((tenant, named.wallet.0));
        need.accounts.insert((tenant, AccountCode::Wallet(named.wallet, named.coin)));
        if let Some(request) = named.request {
            need.requests.insert((tenant, request));
            need.streams.insert((tenant, request.0));
            need.accounts.insert((tenant, AccountCode::Escrow(request, named.coin)));
        }
        need.intents.extend(named.intents.iter().map(|intent| (tenant, *intent)));
        if let DepositAction::Reviewed { idempotency, .. } = self {
            need.idempotency.extend(idempotency.iter().map(|it| (tenant, it.key.clone())));
        }
    }

    pub(super) const fn is_foreground(&self) -> bool {
        !matches!(self, DepositAction::Screened { .. } | DepositAction::WalletChanged)
    }
}
