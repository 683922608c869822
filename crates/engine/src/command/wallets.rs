//! Commands about wallets, payment requests and deliveries.

use domain::audit::Deed;
use domain::chain::Address;
use domain::currency::StableCoin;
use domain::delivery::Delivery;
use domain::ids::{DepositId, EventId, IntentId, PaymentRequestId, RefundToId, SenderInfoId, TenantId, WalletId};
use domain::payment_request::{NewRequest, SenderDetails};
use domain::screening::Screened;
use domain::time::Timestamp;
use domain::wallet::{BlacklistOrder, BlockOrder, KycLevel, Provision, Wallet};
use domain::wallet_event::Aggregate;
use domain::webhook::DeliveryAnswer;
use store::need::{Customer, Need};

use super::Idempotency;

/// A wallet that is to be made.
#[derive(Clone, Debug)]
pub struct NewWallet {
    /// What it is made of.
    pub provision: Provision,
    /// The least level that a customer must have.
    pub minimum_kyc: KycLevel,
    /// For a repeated request.
    pub idempotency: Option<Idempotency>,
}

/// What is to be done about one wallet.
#[derive(Clone, Debug)]
pub enum WalletAction {
    /// Block it.
    Block {
        /// Why and for how long.
        order: BlockOrder,
        /// Who asks for it.
        by: Box<Deed>,
        /// For a repeated request.
        idempotency: Option<Idempotency>,
    },
    /// Unblock it.
    Unblock {
        /// The block that was looked at, by its beginning; `None` = whichever there is.
        seen: Option<Timestamp>,
        /// `unblock_reason`
        reason: Option<String>,
        /// Who asks for it.
        by: Box<Deed>,
        /// For a repeated request.
        idempotency: Option<Idempotency>,
    },
    /// A regulator's order.
    Blacklist {
        /// The order.
        order: BlacklistOrder,
        /// The coins whose blacklists our keys can write.
        tokens: Vec<(StableCoin, Address)>,
        /// Who passes it on.
        by: Box<Deed>,
        /// For a repeated request.
        idempotency: Option<Idempotency>,
    },
    /// What USDC's contract says about its address.
    ChainSays {
        /// Whether it is on the blacklist.
        blacklisted: bool,
    },
    /// A worker has brought what hangs on it in line with its state; time may have passed.
    Follow(Box<Followed>),
    /// A payment request for it.
    Request {
        /// The request.
        new: Box<NewRequest>,
        /// For a repeated request.
        idempotency: Option<Idempotency>,
    },
}

/// What a worker has done for a wallet.
#[derive(Clone, Debug)]
pub struct Followed {
    /// The fence under which the worker holds the job.
    pub fence: i64,
    /// The wallet as the worker saw it.
    pub seen: Wallet,
    /// Whether all that hangs on it was brought in line with it.
    pub in_line: bool,
    /// Whether its controller is on the chain.
    pub chain_ready: bool,
    /// The coins whose blacklists our keys can write.
    pub tokens: Vec<(StableCoin, Address)>,
}

/// What is to be done about one payment request.
#[derive(Clone, Debug)]
pub enum RequestAction {
    /// It is called off.
    Cancel {
        /// Whose deed it is; `None` = the bank's own system's, which is no person's.
        by: Option<Box<Deed>>,
        /// For a repeated request.
        idempotency: Option<Idempotency>,
    },
    /// Its wallet is another one than it was.
    WalletChanged(WalletId),
    /// Its time may have run out.
    Expire {
        /// The fence under which the worker holds the job.
        fence: i64,
        /// The wallet that it is for.
        wallet: WalletId,
    },
    /// A sender has said who they are.
    Sender {
        /// The id that the submission will have.
        id: SenderInfoId,
        /// The request's wallet.
        wallet: WalletId,
        /// What was said.
        details: Box<SenderDetails>,
    },
    /// A sender has said where money of his is to be sent back to.
    RefundTo(Box<RefundAnswer>),
}

/// Where a sender wants his money back.
#[derive(Clone, Debug)]
pub struct RefundAnswer {
    /// The id that the answer will have.
    pub id: RefundToId,
    /// The submission on whose page it was given.
    pub sender: SenderInfoId,
    /// Where to.
    pub to: Address,
    /// What screening the address found.
    pub screened: Screened,
    /// The deposits about which he was asked: one of them still has to ask.
    pub deposits: Vec<DepositId>,
    /// Whose deed it is.
    pub by: Deed,
}

/// What is to be done about one delivery.
#[derive(Clone, Debug)]
pub enum DeliveryAction {
    /// It was tried.
    Tried {
        /// The fence under which the worker holds the job.
        fence: i64,
        /// What the receiver said.
        answer: Box<DeliveryAnswer>,
    },
    /// There is no receiver.
    NoReceiver {
        /// The fence under which the worker holds the job.
        fence: i64,
    },
    /// Somebody wants it delivered, again or after all.
    Replay {
        /// Who.
        by: Box<Deed>,
        /// For a repeated request.
        idempotency: Option<Idempotency>,
    },
}

/// A delivery as commands name it: with what is needed to find all that belongs to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeliveryRef {
    /// The event.
    pub event: EventId,
    /// What the event belongs to.
    pub aggregate: Aggregate,
    /// Its number there.
    pub version: i64,
}

impl DeliveryRef {
    /// How to name a delivery.
    pub const fn of(delivery: &Delivery) -> DeliveryRef {
        DeliveryRef { event: delivery.event, aggregate: delivery.aggregate, version: delivery.version }
    }
}

fn add(need: &mut Need, tenant: TenantId, idempotency: Option<&Idempotency>) {
    need.idempotency.extend(idempotency.map(|it| (tenant, it.key.clone())));
}

impl NewWallet {
    pub(super) fn need(&self, tenant: TenantId, need: &mut Need) {
        let (customer_id, blockchain) = (self.provision.customer_id.clone(), self.provision.blockchain.clone());
        need.customer_records.insert((tenant, customer_id.clone()));
        need.customers.insert((tenant, Customer { customer_id, blockchain }));
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
            RequestAction::RefundTo(answer) => need.deposits.extend(answer.deposits.iter().map(|id| (tenant, *id))),
        }
    }

    pub(super) const fn is_foreground(&self) -> bool {
        matches!(self, RequestAction::Cancel { .. } | RequestAction::Sender { .. } | RequestAction::RefundTo(_))
    }
}

impl DeliveryAction {
    pub(super) fn need(&self, tenant: TenantId, delivery: DeliveryRef, need: &mut Need) {
        need.deliveries.insert((tenant, delivery.event));
        need.streams.insert((tenant, delivery.aggregate.id()));
        // The next of its aggregate gets its job when this one is through.
        need.jobs.insert((tenant, delivery.aggregate.event_id(tenant, delivery.version + 1).0));
        if let DeliveryAction::Replay { idempotency, .. } = self {
            add(need, tenant, idempotency.as_ref());
        }
    }
}
