//! Events of the wallet service: what webhooks and `GET /v1/sdk/events` tell the bank, each with the data of the
//! specification's table.
//!
//! Each belongs to one aggregate (payment request, order or wallet), whose events are numbered from 1 without gaps and
//! are delivered in that order. Nothing here writes JSON.

use uuid::Uuid;

use crate::chain::vault;
use crate::chain::{Address, TxHash};
use crate::currency::StableCoin;
use crate::decimal::Decimal;
use crate::ids::{EventId, ExchangeId, PaymentId, PaymentRequestId, QuoteId, TenantId, WalletId};
use crate::money::Money;
use crate::payment_request::SenderDetails;
use crate::risk::{Check, NextAction, ReasonCode, RiskLevel, RiskResult};
use crate::time::Timestamp;
use crate::wallet::{BlockReason, TriggeredBy};

/// `event_type`
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WalletEventKind {
    /// `payment.received`
    PaymentReceived,
    /// `risk_check.complete`
    RiskCheckComplete,
    /// `transfer.complete`
    TransferComplete,
    /// `exchange.complete`
    ExchangeComplete,
    /// `wallet.blocked`
    WalletBlocked,
    /// `transaction.failed`
    TransactionFailed,
}

impl WalletEventKind {
    /// Every kind, in the specification's order.
    pub const ALL: [WalletEventKind; 6] = [
        WalletEventKind::PaymentReceived,
        WalletEventKind::RiskCheckComplete,
        WalletEventKind::TransferComplete,
        WalletEventKind::ExchangeComplete,
        WalletEventKind::WalletBlocked,
        WalletEventKind::TransactionFailed,
    ];

    /// The name on the wire and in the store.
    pub const fn name(self) -> &'static str {
        match self {
            WalletEventKind::PaymentReceived => "payment.received",
            WalletEventKind::RiskCheckComplete => "risk_check.complete",
            WalletEventKind::TransferComplete => "transfer.complete",
            WalletEventKind::ExchangeComplete => "exchange.complete",
            WalletEventKind::WalletBlocked => "wallet.blocked",
            WalletEventKind::TransactionFailed => "transaction.failed",
        }
    }

    /// The last segment of the receiver's path.
    pub const fn segment(self) -> &'static str {
        match self {
            WalletEventKind::PaymentReceived => "payment-received",
            WalletEventKind::RiskCheckComplete => "risk-check-complete",
            WalletEventKind::TransferComplete => "transfer-complete",
            WalletEventKind::ExchangeComplete => "exchange-complete",
            WalletEventKind::WalletBlocked => "wallet-blocked",
            WalletEventKind::TransactionFailed => "transaction-failed",
        }
    }

    /// Reads the name.
    pub fn parse(name: &str) -> Option<WalletEventKind> {
        WalletEventKind::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// `failure_reason` (`decisions.md`)
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FailureReason {
    /// `ON_CHAIN_REVERT`
    OnChainRevert,
    /// `TRANSACTION_DROPPED`
    TransactionDropped,
    /// `TOKEN_PAUSED`
    TokenPaused,
    /// `ADDRESS_BLACKLISTED`
    AddressBlacklisted,
    /// `UNSUPPORTED_ASSET`
    UnsupportedAsset,
    /// `COMPLIANCE_REJECTED`
    ComplianceRejected,
    /// `TIMEOUT`
    Timeout,
}

impl FailureReason {
    /// Every reason.
    pub const ALL: [FailureReason; 7] = [
        FailureReason::OnChainRevert,
        FailureReason::TransactionDropped,
        FailureReason::TokenPaused,
        FailureReason::AddressBlacklisted,
        FailureReason::UnsupportedAsset,
        FailureReason::ComplianceRejected,
        FailureReason::Timeout,
    ];

    /// The name on the wire and in the store.
    pub const fn name(self) -> &'static str {
        match self {
            FailureReason::OnChainRevert => "ON_CHAIN_REVERT",
            FailureReason::TransactionDropped => "TRANSACTION_DROPPED",
            FailureReason::TokenPaused => "TOKEN_PAUSED",
            FailureReason::AddressBlacklisted => "ADDRESS_BLACKLISTED",
            FailureReason::UnsupportedAsset => "UNSUPPORTED_ASSET",
            FailureReason::ComplianceRejected => "COMPLIANCE_REJECTED",
            FailureReason::Timeout => "TIMEOUT",
        }
    }

    /// Reads the name.
    pub fn parse(name: &str) -> Option<FailureReason> {
        FailureReason::ALL.into_iter().find(|reason| reason.name() == name)
    }
}

/// What an event is about; its aggregate's id alone tells aggregates apart. The last two are the payment service's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Aggregate {
    /// A payment request, with its deposits.
    Request(PaymentRequestId),
    /// An exchange order.
    Order(ExchangeId),
    /// A wallet, with what came straight to its address.
    Wallet(WalletId),
    /// A payment of the payment service.
    Payment(PaymentId),
    /// A quote of the payment service.
    Quote(QuoteId),
}

impl Aggregate {
    /// Its id.
    pub const fn id(self) -> Uuid {
        match self {
            Aggregate::Request(id) => id.0,
            Aggregate::Order(id) => id.0,
            Aggregate::Wallet(id) => id.0,
            Aggregate::Payment(id) => id.0,
            Aggregate::Quote(id) => id.0,
        }
    }

    /// What it is, for the store.
    pub const fn kind(self) -> &'static str {
        match self {
            Aggregate::Request(_) => "request",
            Aggregate::Order(_) => "order",
            Aggregate::Wallet(_) => "wallet",
            Aggregate::Payment(_) => "payment",
            Aggregate::Quote(_) => "quote",
        }
    }

    /// Reads what [`Aggregate::kind`] and [`Aggregate::id`] say.
    pub fn parse(kind: &str, id: Uuid) -> Option<Aggregate> {
        Some(match kind {
            "request" => Aggregate::Request(PaymentRequestId(id)),
            "order" => Aggregate::Order(ExchangeId(id)),
            "wallet" => Aggregate::Wallet(WalletId(id)),
            "payment" => Aggregate::Payment(PaymentId(id)),
            "quote" => Aggregate::Quote(QuoteId(id)),
            _ => return None,
        })
    }

    /// Whether its events are the payment service's.
    pub const fn is_of_payments(self) -> bool {
        matches!(self, Aggregate::Payment(_) | Aggregate::Quote(_))
    }

    /// The id of its event number `version`. Computed, so that the event behind a delivered one needs no search.
    /// Shaped as a version 4 UUID.
    pub fn event_id(self, tenant: TenantId, version: i64) -> EventId {
        let word = vault::hash(&[b"corridor.event", tenant.0.as_bytes(), self.id().as_bytes(), &version.to_be_bytes()]);
        let mut bytes = [0; 16];
        bytes.copy_from_slice(&word.0[..16]);
        EventId(uuid::Builder::from_random_bytes(bytes).into_uuid())
    }
}

/// What nearly every event's data begin with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct About {
    /// `payment_request_id`; `None` for what came straight to a wallet's address.
    pub request: Option<PaymentRequestId>,
    /// `wallet_id`
    pub wallet: WalletId,
    /// `customer_id`
    pub customer: String,
}

/// An event's data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WalletEvent {
    /// Funds arrived in the escrow for a payment request.
    PaymentReceived {
        /// About what.
        about: About,
        /// `amount`, `currency`: minor units of the coin.
        minor: i64,
        /// Which coin.
        coin: StableCoin,
        /// `blockchain`
        blockchain: String,
        /// `tx_hash`
        tx: TxHash,
        /// `from_address`
        from: Address,
        /// `to_address`: the escrow.
        to: Address,
        /// `confirmations`
        confirmations: u64,
        /// `sender_info`
        sender: SenderDetails,
    },
    /// The risk assessment ended.
    RiskCheckComplete {
        /// About what.
        about: About,
        /// `risk_check_result`
        result: RiskResult,
        /// `risk_score`, 0 to 100
        score: u8,
        /// `risk_level`
        level: RiskLevel,
        /// `checks_performed`
        checks: Vec<Check>,
        /// `decision_reason`
        reason: ReasonCode,
        /// `next_action`
        next: NextAction,
    },
    /// Funds moved from escrow to the recipient's wallet.
    TransferComplete {
        /// About what.
        about: About,
        /// `amount`, `currency`: minor units of the coin.
        minor: i64,
        /// Which coin.
        coin: StableCoin,
        /// `transfer_tx_hash`
        tx: TxHash,
        /// `completed_at`
        at: Timestamp,
    },
    /// An exchange was settled to the bank account.
    ExchangeComplete {
        /// `order_id`
        order: ExchangeId,
        /// `wallet_id`
        wallet: WalletId,
        /// `customer_id`
        customer: String,
        /// `from_amount`, `from_currency`: minor units of the coin.
        minor: i64,
        /// Which coin.
        coin: StableCoin,
        /// `to_amount`, `to_currency`
        paid: Money,
        /// `exchange_rate`
        rate: Decimal,
        /// `settlement_reference`
        reference: String,
        /// `bank_account.iban`, whole
        iban: Option<String>,
        /// `bank_account.account_holder_name`
        holder: String,
        /// `settled_at`
        at: Timestamp,
    },
    /// The wallet was blocked.
    WalletBlocked {
        /// `wallet_id`
        wallet: WalletId,
        /// `customer_id`
        customer: String,
        /// `reason`
        reason: BlockReason,
        /// `details`
        details: String,
        /// `blocked_at`
        at: Timestamp,
        /// `auto_unblock_at`
        auto_unblock_at: Option<Timestamp>,
        /// `triggered_by`
        triggered_by: TriggeredBy,
    },
    /// An incoming transaction failed or was rejected.
    TransactionFailed {
        /// About what.
        about: About,
        /// `failure_reason`
        reason: FailureReason,
        /// `error_message`: neutral.
        message: String,
        /// `failed_at`
        at: Timestamp,
    },
}

impl WalletEvent {
    /// Which of the six it is.
    pub const fn kind(&self) -> WalletEventKind {
        match self {
            WalletEvent::PaymentReceived { .. } => WalletEventKind::PaymentReceived,
            WalletEvent::RiskCheckComplete { .. } => WalletEventKind::RiskCheckComplete,
            WalletEvent::TransferComplete { .. } => WalletEventKind::TransferComplete,
            WalletEvent::ExchangeComplete { .. } => WalletEventKind::ExchangeComplete,
            WalletEvent::WalletBlocked { .. } => WalletEventKind::WalletBlocked,
            WalletEvent::TransactionFailed { .. } => WalletEventKind::TransactionFailed,
        }
    }
}

/// An event to be added to the tenant's log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewWalletEvent {
    /// What it belongs to.
    pub aggregate: Aggregate,
    /// Its number among the aggregate's events, from 1 without gaps.
    pub version: i64,
    /// What happened.
    pub event: WalletEvent,
}

/// One entry of a tenant's log of wallet events, in the order of `seq`, which has no gaps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WalletEventEntry {
    /// `event_id`: [`Aggregate::event_id`].
    pub id: EventId,
    /// Whose log.
    pub tenant: TenantId,
    /// Its place in the log, from 1.
    pub seq: i64,
    /// What it belongs to.
    pub aggregate: Aggregate,
    /// Its number among the aggregate's events.
    pub version: i64,
    /// When: the envelope's `timestamp`.
    pub at: Timestamp,
    /// What happened.
    pub event: WalletEvent,
}
