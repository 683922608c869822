//! Commands about wallets, payment requests and deliveries.

use domain::audit::AuditContext;
use domain::chain::{Address, ChainNumber};
use domain::chain_tx;
use domain::currency::StableCoin;
use domain::delivery::Delivery;
use domain::ids::{
    DepositId, EventId, IntentId, PaymentRequestId, RefundToId, SenderInfoId, TenantId, WalletId,
};
use domain::payment_request::{NewRequest, SenderDetails};
use domain::screening::Screened;
use domain::sponsor::{self, SponsorOrder, SponsorTerms};
use domain::time::Timestamp;
use domain::wallet::{BlacklistOrder, BlockOrder, KycLevel, Provision, Wallet};
use domain::wallet_event::Aggregate;
use domain::webhook::DeliveryAnswer;
use store::need::{Customer, Need};

use super::Idempotency;

/// A wallet to provision.
#[derive(Clone, Debug)]
pub struct NewWallet {
    pub provision: Provision,
    /// The minimum KYC level of its customer.
    pub minimum_kyc: KycLevel,
    /// Set for a request with an `Idempotency-Key`.
    pub idempotency: Option<Idempotency>,
}

/// Actions on one wallet.
#[derive(Clone, Debug)]
pub enum WalletAction {
    Block {
        /// The reason and the duration.
        order: BlockOrder,
        /// Actor and context for the audit log.
        by: Box<AuditContext>,
        /// Set for a request with an `Idempotency-Key`.
        idempotency: Option<Idempotency>,
    },
    Unblock {
        /// The start of the block that was reviewed; `None` = any block.
        seen: Option<Timestamp>,
        /// `unblock_reason` of the request.
        reason: Option<String>,
        /// Actor and context for the audit log.
        by: Box<AuditContext>,
        /// Set for a request with an `Idempotency-Key`.
        idempotency: Option<Idempotency>,
    },
    Blacklist {
        order: BlacklistOrder,
        /// The tokens whose blacklists our keys can write; `None`: the wallet's chain is not in use.
        tokens: Option<Vec<(StableCoin, Address)>>,
        /// Actor and context for the audit log.
        by: Box<AuditContext>,
        /// Set for a request with an `Idempotency-Key`.
        idempotency: Option<Idempotency>,
    },
    /// The USDC contract's blacklist state of its address.
    ChainSays {
        /// Whether the address is blacklisted.
        blacklisted: bool,
    },
    /// A worker synchronized its dependents with its state; time may have passed.
    Follow(Box<Followed>),
    /// Create a payment request for it.
    Request {
        new: Box<NewRequest>,
        /// Set for a request with an `Idempotency-Key`.
        idempotency: Option<Idempotency>,
    },
}

/// The result of a worker's pass over a wallet.
#[derive(Clone, Debug)]
pub struct Followed {
    /// The fence under which the worker holds the job.
    pub fence: i64,
    /// The wallet as read by the worker.
    pub seen: Wallet,
    /// Whether all its dependents are synchronized.
    pub in_line: bool,
    /// Whether its controller is deployed.
    pub chain_ready: bool,
    /// The tokens whose blacklists our keys can write.
    pub tokens: Vec<(StableCoin, Address)>,
}

/// Actions on one payment request.
#[derive(Clone, Debug)]
pub enum RequestAction {
    Cancel {
        /// Actor and context for the audit log; `None` = the bank's own system rather than a user.
        by: Option<Box<AuditContext>>,
        /// Set for a request with an `Idempotency-Key`.
        idempotency: Option<Idempotency>,
    },
    /// Its wallet has changed.
    WalletChanged(WalletId),
    /// It may have expired.
    Expire {
        /// The fence under which the worker holds the job.
        fence: i64,
        /// The wallet that it is for.
        wallet: WalletId,
    },
    /// A sender submitted their details.
    Sender {
        /// The id of the new submission.
        id: SenderInfoId,
        wallet: WalletId,
        details: Box<SenderDetails>,
    },
    /// A sender entered a refund address.
    RefundTo(Box<RefundAnswer>),
    /// A sender signed a transfer for the tenant to submit.
    Sponsor(Box<Sponsoring>),
}

/// A signed transfer that was checked.
#[derive(Clone, Debug)]
pub struct Sponsoring {
    /// Chain of the payment request.
    pub chain: ChainNumber,
    /// Number of the UTC day whose budget pays for it.
    pub day: i64,
    pub order: SponsorOrder,
    /// The chain's limits for sponsoring.
    pub terms: SponsorTerms,
    /// Actor and context for the audit log.
    pub by: AuditContext,
}

/// The refund address of a sender.
#[derive(Clone, Debug)]
pub struct RefundAnswer {
    /// The id of the new answer.
    pub id: RefundToId,
    /// The submission on whose page it was entered.
    pub sender: SenderInfoId,
    pub to: Address,
    /// The screening result of the address.
    pub screened: Screened,
    /// All deposits of the sender; at least one must still need an answer.
    pub deposits: Vec<DepositId>,
    /// Actor and context for the audit log.
    pub by: AuditContext,
}

/// Actions on one delivery.
#[derive(Clone, Debug)]
pub enum DeliveryAction {
    /// A delivery attempt was made.
    Tried {
        /// The fence under which the worker holds the job.
        fence: i64,
        answer: Box<DeliveryAnswer>,
    },
    /// No endpoint is configured.
    NoReceiver {
        /// The fence under which the worker holds the job.
        fence: i64,
    },
    /// A user requests a delivery or redelivery.
    Replay {
        /// Actor and context for the audit log.
        by: Box<AuditContext>,
        /// Set for a request with an `Idempotency-Key`.
        idempotency: Option<Idempotency>,
    },
}

/// Reference to a delivery, with the keys of all related records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeliveryRef {
    pub event: EventId,
    /// The aggregate of the event.
    pub aggregate: Aggregate,
    /// Its sequence number within the aggregate.
    pub version: i64,
}

impl DeliveryRef {
    /// Returns the reference of a delivery.
    pub const fn of(delivery: &Delivery) -> DeliveryRef {
        DeliveryRef {
            event: delivery.event,
            aggregate: delivery.aggregate,
            version: delivery.version,
        }
    }
}

fn add(need: &mut Need, tenant: TenantId, idempotency: Option<&Idempotency>) {
    need.idempotency.extend(idempotency.map(|it| (tenant, it.key.clone())));
}

impl NewWallet {
    pub(super) fn need(&self, tenant: TenantId, need: &mut Need) {
        let (customer_id, chain) = (self.provision.customer_id.clone(), self.provision.chain);
        need.customer_records.insert((tenant, customer_id.clone()));
        need.customers.insert((tenant, Customer { customer_id, chain }));
        add(need, tenant, self.idempotency.as_ref());
    }
}

impl WalletAction {
    pub(super) fn need(&self, tenant: TenantId, wallet: WalletId, need: &mut Need) {
        need.wallets.insert((tenant, wallet));
        need.streams.insert((tenant, wallet.0));
        match self {
            WalletAction::Block { idempotency, .. }
            | WalletAction::Unblock { idempotency, .. }
            | WalletAction::Blacklist { idempotency, .. }
            | WalletAction::Request { idempotency, .. } => add(need, tenant, idempotency.as_ref()),
            WalletAction::ChainSays { .. } => {}
            WalletAction::Follow(followed) => {
                need.intents.extend(followed.seen.freeze.map(|intent: IntentId| (tenant, intent)));
            }
        }
    }

    pub(super) const fn is_foreground(&self) -> bool {
        !matches!(self, WalletAction::ChainSays { .. } | WalletAction::Follow(_))
    }
}

impl RequestAction {
    pub(super) fn need(&self, tenant: TenantId, request: PaymentRequestId, need: &mut Need) {
        need.requests.insert((tenant, request));
        match self {
            RequestAction::Cancel { idempotency, .. } => add(need, tenant, idempotency.as_ref()),
            RequestAction::WalletChanged(wallet) => _ = need.wallets.insert((tenant, *wallet)),
            RequestAction::Expire { wallet, .. } => {
                need.wallets.insert((tenant, *wallet));
                need.streams.insert((tenant, request.0));
            }
            RequestAction::Sender { wallet, .. } => _ = need.wallets.insert((tenant, *wallet)),
            RequestAction::RefundTo(answer) => {
                need.deposits.extend(answer.deposits.iter().map(|id| (tenant, *id)))
            }
            RequestAction::Sponsor(sponsoring) => {
                let (chain, day) = (sponsoring.chain, sponsoring.day);
                let id = |number| (tenant, chain_tx::sponsored_id(tenant, request, number));
                need.intents.extend((0..sponsor::PER_REQUEST_MAX).map(id));
                need.sponsored_gas.insert((tenant, (chain, day)));
            }
        }
    }

    pub(super) const fn is_foreground(&self) -> bool {
        matches!(
            self,
            RequestAction::Cancel { .. }
                | RequestAction::Sender { .. }
                | RequestAction::RefundTo(_)
                | RequestAction::Sponsor(_)
        )
    }
}

impl DeliveryAction {
    pub(super) fn need(&self, tenant: TenantId, delivery: DeliveryRef, need: &mut Need) {
        need.deliveries.insert((tenant, delivery.event));
        need.streams.insert((tenant, delivery.aggregate.id()));
        // The aggregate's next delivery gets its job once this one is complete.
        need.jobs.insert((tenant, delivery.aggregate.event_id(tenant, delivery.version + 1).0));
        if let DeliveryAction::Replay { idempotency, .. } = self {
            add(need, tenant, idempotency.as_ref());
        }
    }
}
