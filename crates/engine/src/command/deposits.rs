//! Commands about incoming transactions.

use domain::audit::AuditContext;
use domain::chain::Address;
use domain::chain_tx::BlockRef;
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

/// Reference to a deposit, with the keys of all related records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DepositRef {
    pub id: DepositId,
    pub wallet: WalletId,
    /// The request whose escrow received it.
    pub request: Option<PaymentRequestId>,
    pub coin: StableCoin,
    pub intents: Vec<IntentId>,
    /// Dust in the same vault that its release includes or may include.
    pub riders: Vec<DepositId>,
    /// How long after a request's expiry the tenant accepts payments; `None` = not at all.
    pub accept_late: Option<Span>,
}

impl DepositRef {
    /// Returns the reference of a deposit under this policy.
    pub fn of(deposit: &Deposit, accept_late: Option<Span>) -> DepositRef {
        let refund = deposit.refund.as_ref();
        let intents =
            [deposit.release, refund.map(|it| it.propose), refund.and_then(|it| it.execute)];
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
    /// Returns the reference of the deposit that a log describes.
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
        need.accounts.insert((tenant, AccountCode::Shortfall(self.wallet, self.coin)));
        if let Some(request) = self.request {
            need.requests.insert((tenant, request));
            need.streams.insert((tenant, request.0));
            need.accounts.insert((tenant, AccountCode::Escrow(request, self.coin)));
        }
        need.intents.extend(self.intents.iter().map(|intent| (tenant, *intent)));
    }
}

/// The state of a deposit's escrow when it was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EscrowSeen {
    /// The version of its request at that time. It increases with every hold placed or lifted
    /// there.
    pub version: Option<i64>,
    /// Whether another deposit in the escrow is on legal hold.
    pub others_hold: bool,
}

/// Actions on one deposit.
#[derive(Clone, Debug)]
pub enum DepositAction {
    /// Its log is in a block.
    Found(Found),
    /// Its block was reorganized away.
    Lost {
        block: BlockRef,
        /// Number of the chain's newest block.
        height: u64,
    },
    /// It has enough confirmations to count.
    Counted {
        /// Confirmations, its own block included.
        confirmations: u64,
        /// Minimum amount worth a release, in minor units.
        release_min: i64,
        /// Time of its block, as the required number of nodes state it.
        paid_at: Timestamp,
    },
    /// The vault's balance does not match the sum of its logs.
    Disputed(String),
    /// It may have been out of the chain for too long.
    Dropped {
        /// Number of the chain's newest block.
        height: u64,
    },
    /// A worker screened it.
    Screened {
        /// The fence under which the worker holds the job.
        fence: i64,
        assessment: Box<Assessment>,
        /// Assessments of the dust in its vault, listed in the reference.
        riders: Vec<(DepositId, Assessment)>,
        /// Minimum amount worth a release, in minor units.
        release_min: i64,
    },
    /// It cannot be screened now.
    PutOff {
        /// The fence under which the worker holds the job.
        fence: i64,
        until: Timestamp,
    },
    /// It is on legal hold, and the hold is not yet on the chain.
    KeepHeld {
        /// The fence under which the worker holds the job.
        fence: i64,
    },
    /// An approval was refused: the sender or the payer matches list entries that the reviewers have
    /// not seen.
    FoundMatch {
        found: Vec<Screened>,
        /// Actor and context for the audit log.
        by: Box<AuditContext>,
    },
    /// Two reviewers lift its legal hold.
    LiftHold {
        /// Since when it was in the state that they reviewed; `None` = any state.
        seen: Option<Timestamp>,
        /// Other holds on its escrow.
        escrow: EscrowSeen,
        /// Actor, reason and context for the audit log.
        by: Box<AuditContext>,
        /// Set for a request with an `Idempotency-Key`.
        idempotency: Option<Idempotency>,
    },
    /// No deposit in its escrow is on legal hold any more.
    EscrowFree,
    /// All other deposits in its escrow were notified that its hold is lifted.
    HoldFollowed {
        /// The fence under which the worker holds the job.
        fence: i64,
    },
    /// Its wallet has changed.
    WalletChanged,
    /// A reviewer decided on it.
    Reviewed {
        /// Since when it was in the state that was reviewed; `None` = any state.
        seen: Option<Timestamp>,
        verdict: ReviewVerdict,
        /// The screening of the sender and the payer that an approval rests on.
        screened: Option<Screened>,
        /// Actor, reason and context for the audit log.
        by: Box<AuditContext>,
        /// Set for a request with an `Idempotency-Key`.
        idempotency: Option<Idempotency>,
    },
    /// An operator proposes a refund.
    ProposeRefund {
        to: Address,
        /// The screening result of the address.
        screened: Screened,
        /// Actor and context for the audit log.
        by: Box<AuditContext>,
    },
    /// A second operator approves the refund.
    ApproveRefund {
        /// The proposal that they reviewed.
        seen: SeenRefund,
        /// The current screening result of its address.
        screened: Screened,
        /// Actor and context for the audit log.
        by: Box<AuditContext>,
    },
    /// The approval was refused: the address is now on a sanctions list.
    RefundListed {
        /// The screening result of the address.
        screened: Screened,
        /// Actor and context for the audit log.
        by: Box<AuditContext>,
    },
    /// The proposal is withdrawn.
    WithdrawRefund {
        /// Actor and context for the audit log.
        by: Box<AuditContext>,
    },
}

impl DepositAction {
    pub(super) fn need(&self, tenant: TenantId, named: &DepositRef, need: &mut Need) {
        named.need(tenant, need);
        if let DepositAction::Found(found) = self {
            let of = named.request.zip(found.vault.submission);
            need.senders.extend(of.map(|submission| (tenant, submission)));
        }
        if let DepositAction::Reviewed { idempotency, .. }
        | DepositAction::LiftHold { idempotency, .. } = self
        {
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
                | DepositAction::FoundMatch { .. }
                | DepositAction::WithdrawRefund { .. }
        )
    }
}

/// The rows needed to record an unsupported token.
pub(super) fn need_of_asset(asset: &UnsupportedAsset, tenant: TenantId, need: &mut Need) {
    need.wallets.insert((tenant, asset.vault.wallet));
    need.requests.extend(asset.vault.request.map(|request| (tenant, request)));
    need.streams.insert((tenant, asset.vault.subject()));
}
