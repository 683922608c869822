//! Commands about incoming transactions.

use domain::audit::Deed;
use domain::chain::Address;
use domain::chain_tx::Place;
use domain::currency::StableCoin;
use domain::deposit::arrive::Found;
use domain::deposit::{Deposit, ReviewVerdict, SeenRefund, UnsupportedAsset};
use domain::ids::{DepositId, IntentId, PaymentRequestId, TenantId, WalletId};
use domain::ledger::AccountCode;
use domain::risk::Assessment;
use domain::screening::Screened;
use domain::time::{Span, Timestamp};
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
    /// Dust of the same vault: what its release takes along, or may take along.
    pub riders: Vec<DepositId>,
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
            riders: deposit.riders.clone(),
            accept_late,
        }
    }
}

impl DepositRef {
    /// How to name what a log says.
    pub fn found(found: &Found) -> DepositRef {
        DepositRef {
            id: Deposit::id_of(found.chain_id, found.tx, found.ordinal),
            wallet: found.vault.wallet,
            request: found.vault.request,
            coin: found.coin,
            intents: Vec::new(),
            riders: Vec::new(),
            accept_late: None,
        }
    }

    pub(super) fn need(&self, tenant: TenantId, need: &mut Need) {
        need.deposits.insert((tenant, self.id));
        need.deposits.extend(self.riders.iter().map(|rider| (tenant, *rider)));
        need.wallets.insert((tenant, self.wallet));
        need.streams.insert((tenant, self.wallet.0));
        need.accounts.insert((tenant, AccountCode::Wallet(self.wallet, self.coin)));
        if let Some(request) = self.request {
            need.requests.insert((tenant, request));
            need.streams.insert((tenant, request.0));
            need.accounts.insert((tenant, AccountCode::Escrow(request, self.coin)));
        }
        need.intents.extend(self.intents.iter().map(|intent| (tenant, *intent)));
    }
}

/// What was found in a deposit's escrow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EscrowSeen {
    /// The version of its request when that was found. It rises whenever something comes on hold there or off it.
    pub version: Option<i64>,
    /// Whether something else there is on legal hold.
    pub others_hold: bool,
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
        /// Less than this is not worth a release, in minor units.
        release_min: i64,
    },
    /// The balance of its vault is not what the logs add up to.
    Disputed(String),
    /// It may have been out of the chain for too long.
    Dropped {
        /// How high the chain is.
        height: u64,
    },
    /// A worker has screened it.
    Screened {
        /// The fence under which the worker holds the job.
        fence: i64,
        /// What came of it.
        assessment: Box<Assessment>,
        /// What came of the dust in its vault, which is named with it.
        riders: Vec<(DepositId, Assessment)>,
        /// Less than this is not worth a release, in minor units.
        release_min: i64,
    },
    /// It is on legal hold, and the chain has not been told.
    KeepHeld {
        /// The fence under which the worker holds the job.
        fence: i64,
    },
    /// Two people lift its legal hold.
    LiftHold {
        /// Since when it was in the state that was looked at; `None` = in whichever it is.
        seen: Option<Timestamp>,
        /// What else holds its escrow.
        escrow: EscrowSeen,
        /// Who, and why.
        by: Box<Deed>,
        /// For a repeated request.
        idempotency: Option<Idempotency>,
    },
    /// Nothing in its escrow is on legal hold any more.
    EscrowFree,
    /// Everything else in its escrow was told that its hold is lifted.
    HoldFollowed {
        /// The fence under which the worker holds the job.
        fence: i64,
    },
    /// Its wallet is another one than it was.
    WalletChanged,
    /// A person has decided about it.
    Reviewed {
        /// Since when it was in the state that was looked at; `None` = in whichever it is.
        seen: Option<Timestamp>,
        /// What.
        verdict: ReviewVerdict,
        /// Who, and why.
        by: Box<Deed>,
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
        by: Box<Deed>,
    },
    /// Another person agrees.
    ApproveRefund {
        /// The proposal that he has seen.
        seen: SeenRefund,
        /// What screening its address found now.
        screened: Screened,
        /// Who.
        by: Box<Deed>,
    },
    /// He was refused: the address is on a list by now.
    RefundListed {
        /// What screening the address found.
        screened: Screened,
        /// Who.
        by: Box<Deed>,
    },
    /// The proposal is taken back.
    WithdrawRefund {
        /// Who.
        by: Box<Deed>,
    },
}

impl DepositAction {
    pub(super) fn need(&self, tenant: TenantId, named: &DepositRef, need: &mut Need) {
        named.need(tenant, need);
        if let DepositAction::Found(found) = self {
            let of = named.request.zip(found.vault.submission);
            need.senders.extend(of.map(|submission| (tenant, submission)));
        }
        if let DepositAction::Reviewed { idempotency, .. } | DepositAction::LiftHold { idempotency, .. } = self {
            need.idempotency.extend(idempotency.iter().map(|it| (tenant, it.key.clone())));
        }
    }

    pub(super) const fn is_foreground(&self) -> bool {
        matches!(
            self,
            DepositAction::Reviewed { .. }
                | DepositAction::LiftHold { .. }
                | DepositAction::ProposeRefund { .. }
                | DepositAction::ApproveRefund { .. }
                | DepositAction::RefundListed { .. }
                | DepositAction::WithdrawRefund { .. }
        )
    }
}

/// What a token that nobody supports needs.
pub(super) fn need_of_asset(asset: &UnsupportedAsset, tenant: TenantId, need: &mut Need) {
    need.wallets.insert((tenant, asset.vault.wallet));
    need.requests.extend(asset.vault.request.map(|request| (tenant, request)));
    need.streams.insert((tenant, asset.vault.subject()));
}
