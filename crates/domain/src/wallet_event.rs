//! Events of the wallet service: what webhooks and `GET /v1/sdk/events` tell the bank, each with the data of the
//! specification's table.
//!
//! Each belongs to one aggregate (payment request, order or wallet), whose events are numbered from 1 without gaps and
//! are delivered in that order. Nothing here writes JSON.

use std::collections::BTreeSet;
use std::fmt;

use jiff::civil::Date;
use uuid::Uuid;

use crate::chain::vault;
use crate::chain::{Address, TxHash};
use crate::currency::StableCoin;
use crate::decimal::Decimal;
use crate::exchange::OrderFailure;
use crate::ids::{DepositId, EventId, ExchangeId, PaymentId, PaymentRequestId, QuoteId, TenantId, WalletId};
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
    /// `order.failed`
    OrderFailed,
    /// `order.cancelled`
    OrderCancelled,
    /// `payment_request.expired`
    PaymentRequestExpired,
    /// `wallet.unblocked`
    WalletUnblocked,
    /// `wallet.blacklisted`
    WalletBlacklisted,
}

impl WalletEventKind {
    /// Every kind: those of the specification in its order, then the additions.
    pub const ALL: [WalletEventKind; 11] = [
        WalletEventKind::PaymentReceived,
        WalletEventKind::RiskCheckComplete,
        WalletEventKind::TransferComplete,
        WalletEventKind::ExchangeComplete,
        WalletEventKind::WalletBlocked,
        WalletEventKind::TransactionFailed,
        WalletEventKind::OrderFailed,
        WalletEventKind::OrderCancelled,
        WalletEventKind::PaymentRequestExpired,
        WalletEventKind::WalletUnblocked,
        WalletEventKind::WalletBlacklisted,
    ];

    /// Those of the specification, which every endpoint gets.
    pub const SPECIFIED: [WalletEventKind; 6] = [
        WalletEventKind::PaymentReceived,
        WalletEventKind::RiskCheckComplete,
        WalletEventKind::TransferComplete,
        WalletEventKind::ExchangeComplete,
        WalletEventKind::WalletBlocked,
        WalletEventKind::TransactionFailed,
    ];

    /// The additions to the specification: an endpoint gets them once it subscribes to them.
    pub const OPTIONAL: [WalletEventKind; 5] = [
        WalletEventKind::OrderFailed,
        WalletEventKind::OrderCancelled,
        WalletEventKind::PaymentRequestExpired,
        WalletEventKind::WalletUnblocked,
        WalletEventKind::WalletBlacklisted,
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
            WalletEventKind::OrderFailed => "order.failed",
            WalletEventKind::OrderCancelled => "order.cancelled",
            WalletEventKind::PaymentRequestExpired => "payment_request.expired",
            WalletEventKind::WalletUnblocked => "wallet.unblocked",
            WalletEventKind::WalletBlacklisted => "wallet.blacklisted",
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
            WalletEventKind::OrderFailed => "order-failed",
            WalletEventKind::OrderCancelled => "order-cancelled",
            WalletEventKind::PaymentRequestExpired => "payment-request-expired",
            WalletEventKind::WalletUnblocked => "wallet-unblocked",
            WalletEventKind::WalletBlacklisted => "wallet-blacklisted",
        }
    }

    /// Reads the name.
    pub fn parse(name: &str) -> Option<WalletEventKind> {
        WalletEventKind::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Whether an endpoint gets it only once it subscribes to it.
    pub fn is_optional(self) -> bool {
        WalletEventKind::OPTIONAL.contains(&self)
    }
}

/// The optional events that an endpoint subscribes to. Those of the specification it gets in any case.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Subscriptions(BTreeSet<WalletEventKind>);

impl Subscriptions {
    /// What stands for all optional events.
    pub const EVERYTHING: &'static str = "all";
    /// What stands for none of them.
    pub const NOTHING: &'static str = "none";

    /// Reads names between commas, or `all`, or `none`. Empty text is none.
    ///
    /// # Errors
    /// The name that is no optional event's.
    pub fn parse(text: &str) -> Result<Subscriptions, String> {
        let text = text.trim();
        match text {
            Subscriptions::EVERYTHING => return Ok(WalletEventKind::OPTIONAL.into_iter().collect()),
            "" | Subscriptions::NOTHING => return Ok(Subscriptions::default()),
            _ => {}
        }
        let kinds = text.split(',').map(str::trim).map(|name| {
            let kind = WalletEventKind::parse(name).filter(|kind| kind.is_optional());
            kind.ok_or_else(|| name.to_owned())
        });
        kinds.collect()
    }

    /// Whether an event of this kind is wanted.
    pub fn wants(&self, kind: WalletEventKind) -> bool {
        !kind.is_optional() || self.0.contains(&kind)
    }

    /// The optional events that are wanted, in the order of [`WalletEventKind::OPTIONAL`].
    pub fn kinds(&self) -> impl Iterator<Item = WalletEventKind> + '_ {
        self.0.iter().copied()
    }
}

impl FromIterator<WalletEventKind> for Subscriptions {
    fn from_iter<T: IntoIterator<Item = WalletEventKind>>(kinds: T) -> Subscriptions {
        Subscriptions(kinds.into_iter().filter(|kind| kind.is_optional()).collect())
    }
}

impl fmt::Display for Subscriptions {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.kinds().map(WalletEventKind::name).collect();
        out.write_str(&names.join(","))
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
    /// The deposit that it is about: `transaction_id`, `tx_hash`. `None` of an event that an older version wrote, and of
    /// a token that is no deposit.
    pub deposit: Option<AboutDeposit>,
}

/// The deposit that an event is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AboutDeposit {
    /// `transaction_id`
    pub id: DepositId,
    /// `tx_hash`: the transaction that the sender paid with.
    pub tx: TxHash,
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
        /// The deposit that caused it, if one did: `transaction_id`, `tx_hash`.
        deposit: Option<AboutDeposit>,
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
    /// An exchange order was not settled, or was called off; the coins are in the wallet.
    OrderEnded {
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
        /// Whether it was called off (`CANCELLED`) or failed (`FAILED`).
        cancelled: bool,
        /// `failure_reason`, `error_message`
        reason: OrderFailure,
        /// `failed_at` or `cancelled_at`
        at: Timestamp,
    },
    /// A payment request expired.
    RequestExpired {
        /// About what.
        about: About,
        /// `expires_at`
        expires_at: Timestamp,
        /// `expired_at`: when that was found.
        at: Timestamp,
    },
    /// The wallet was unblocked, or its block ran out.
    WalletUnblocked {
        /// `wallet_id`
        wallet: WalletId,
        /// `customer_id`
        customer: String,
        /// `unblock_reason`
        reason: Option<String>,
        /// `unblocked_at`
        at: Timestamp,
        /// `triggered_by`
        triggered_by: TriggeredBy,
    },
    /// A regulator's order was passed on, or took effect.
    WalletBlacklisted {
        /// `wallet_id`
        wallet: WalletId,
        /// `customer_id`
        customer: String,
        /// `regulatory_authority`
        authority: String,
        /// `regulatory_reference`
        reference: String,
        /// `effective_date`
        effective_date: Date,
        /// `blacklisted_at`; `None` = the day has not come, the wallet is BLOCKED until then.
        at: Option<Timestamp>,
    },
}

impl WalletEvent {
    /// Which kind it is.
    pub const fn kind(&self) -> WalletEventKind {
        match self {
            WalletEvent::PaymentReceived { .. } => WalletEventKind::PaymentReceived,
            WalletEvent::RiskCheckComplete { .. } => WalletEventKind::RiskCheckComplete,
            WalletEvent::TransferComplete { .. } => WalletEventKind::TransferComplete,
            WalletEvent::ExchangeComplete { .. } => WalletEventKind::ExchangeComplete,
            WalletEvent::WalletBlocked { .. } => WalletEventKind::WalletBlocked,
            WalletEvent::TransactionFailed { .. } => WalletEventKind::TransactionFailed,
            WalletEvent::OrderEnded { cancelled: false, .. } => WalletEventKind::OrderFailed,
            WalletEvent::OrderEnded { cancelled: true, .. } => WalletEventKind::OrderCancelled,
            WalletEvent::RequestExpired { .. } => WalletEventKind::PaymentRequestExpired,
            WalletEvent::WalletUnblocked { .. } => WalletEventKind::WalletUnblocked,
            WalletEvent::WalletBlacklisted { .. } => WalletEventKind::WalletBlacklisted,
        }
    }
}

/// An optional event: it is added to the log where the tenant's endpoint subscribes to its kind, as the newest of its
/// aggregate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OptionalEvent {
    /// What it belongs to.
    pub aggregate: Aggregate,
    /// What happened.
    pub event: WalletEvent,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subscription_names_optional_events_only() {
        let both = Subscriptions::parse(" order.failed, wallet.unblocked").expect("two names");
        assert_eq!(both.to_string(), "order.failed,wallet.unblocked");
        assert_eq!(Subscriptions::parse(&both.to_string()), Ok(both.clone()));
        assert!(both.wants(WalletEventKind::OrderFailed) && !both.wants(WalletEventKind::OrderCancelled));
        assert_eq!(Subscriptions::parse("all").map(|all| all.kinds().count()), Ok(WalletEventKind::OPTIONAL.len()));
        for nothing in ["", "none", " "] {
            assert_eq!(Subscriptions::parse(nothing), Ok(Subscriptions::default()), "{nothing:?}");
        }
        for (text, name) in [("order.failed,", ""), ("wallet.blocked", "wallet.blocked"), ("ALL", "ALL"), ("x", "x")] {
            assert_eq!(Subscriptions::parse(text), Err(name.to_owned()));
        }
    }

    #[test]
    fn the_events_of_the_specification_need_no_subscription() {
        let without: Vec<_> =
            WalletEventKind::ALL.into_iter().filter(|kind| Subscriptions::default().wants(*kind)).collect();
        assert_eq!(without, WalletEventKind::SPECIFIED);
        assert!(
            WalletEventKind::ALL
                .into_iter()
                .eq(WalletEventKind::SPECIFIED.into_iter().chain(WalletEventKind::OPTIONAL))
        );
    }
}
