//! Events of the wallet service for webhooks and `GET /v1/sdk/events`, each with the data of the
//! specification's table.
//!
//! Each belongs to one aggregate (payment request, order or wallet), whose events are numbered from
//! 1 without gaps and delivered in that order. Nothing here writes JSON.

use std::collections::BTreeSet;
use std::fmt;

use jiff::civil::Date;
use uuid::Uuid;

use crate::chain::vault;
use crate::chain::{Address, TxHash};
use crate::currency::StableCoin;
use crate::decimal::Decimal;
use crate::exchange::OrderFailure;
use crate::ids::{
    DepositId, EventId, ExchangeId, PaymentId, PaymentRequestId, QuoteId, TenantId, WalletId,
};
use crate::money::Money;
use crate::payment_request::SenderDetails;
use crate::risk::{Check, NextAction, ReasonCode, RiskLevel, RiskResult};
use crate::time::Timestamp;
use crate::wallet::{BlockReason, TriggeredBy};

names! {
    /// `event_type`
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum WalletEventKind: "Name on the wire and in the store." {
        /// `payment.received`
        PaymentReceived = "payment.received",
        /// `risk_check.complete`
        RiskCheckComplete = "risk_check.complete",
        /// `transfer.complete`
        TransferComplete = "transfer.complete",
        /// `exchange.complete`
        ExchangeComplete = "exchange.complete",
        /// `wallet.blocked`
        WalletBlocked = "wallet.blocked",
        /// `transaction.failed`
        TransactionFailed = "transaction.failed",
        /// `order.failed`
        OrderFailed = "order.failed",
        /// `order.cancelled`
        OrderCancelled = "order.cancelled",
        /// `payment_request.expired`
        PaymentRequestExpired = "payment_request.expired",
        /// `wallet.unblocked`
        WalletUnblocked = "wallet.unblocked",
        /// `wallet.blacklisted`
        WalletBlacklisted = "wallet.blacklisted",
    }
}

impl WalletEventKind {
    /// Events of the specification, which every endpoint receives.
    pub const SPECIFIED: [WalletEventKind; 6] = [
        WalletEventKind::PaymentReceived,
        WalletEventKind::RiskCheckComplete,
        WalletEventKind::TransferComplete,
        WalletEventKind::ExchangeComplete,
        WalletEventKind::WalletBlocked,
        WalletEventKind::TransactionFailed,
    ];

    /// Additions to the specification, which need a subscription.
    pub const OPTIONAL: [WalletEventKind; 5] = [
        WalletEventKind::OrderFailed,
        WalletEventKind::OrderCancelled,
        WalletEventKind::PaymentRequestExpired,
        WalletEventKind::WalletUnblocked,
        WalletEventKind::WalletBlacklisted,
    ];

    /// The last segment of the endpoint's path.
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

    /// Whether it needs a subscription.
    pub fn is_optional(self) -> bool {
        WalletEventKind::OPTIONAL.contains(&self)
    }
}

/// The optional events that an endpoint subscribes to, in addition to those of the specification.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Subscriptions(BTreeSet<WalletEventKind>);

impl Subscriptions {
    /// Text for all optional events.
    pub const EVERYTHING: &'static str = "all";
    /// Text for no optional events.
    pub const NOTHING: &'static str = "none";

    /// Parses comma-separated names, `all` or `none`. Empty text means none.
    ///
    /// # Errors
    /// The name that is not an optional event.
    pub fn parse(text: &str) -> Result<Subscriptions, String> {
        let text = text.trim();
        match text {
            Subscriptions::EVERYTHING => {
                return Ok(WalletEventKind::OPTIONAL.into_iter().collect());
            }
            "" | Subscriptions::NOTHING => return Ok(Subscriptions::default()),
            _ => {}
        }
        let kinds = text.split(',').map(str::trim).map(|name| {
            let kind = WalletEventKind::parse(name).filter(|kind| kind.is_optional());
            kind.ok_or_else(|| name.to_owned())
        });
        kinds.collect()
    }

    /// Whether an event of this kind is delivered.
    pub fn wants(&self, kind: WalletEventKind) -> bool {
        !kind.is_optional() || self.0.contains(&kind)
    }

    /// The subscribed optional events, in the order of [`WalletEventKind::OPTIONAL`].
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

names! {
    /// `failure_reason` (`decisions.md`)
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum FailureReason: "Name on the wire and in the store." {
        /// `ON_CHAIN_REVERT`
        OnChainRevert = "ON_CHAIN_REVERT",
        /// `TRANSACTION_DROPPED`
        TransactionDropped = "TRANSACTION_DROPPED",
        /// `TOKEN_PAUSED`
        TokenPaused = "TOKEN_PAUSED",
        /// `ADDRESS_BLACKLISTED`
        AddressBlacklisted = "ADDRESS_BLACKLISTED",
        /// `UNSUPPORTED_ASSET`
        UnsupportedAsset = "UNSUPPORTED_ASSET",
        /// `COMPLIANCE_REJECTED`
        ComplianceRejected = "COMPLIANCE_REJECTED",
        /// `TIMEOUT`
        Timeout = "TIMEOUT",
    }
}

/// Subject of an event; ids are unique across aggregates. The last two belong to the payment
/// service.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Aggregate {
    /// A payment request, with its deposits.
    Request(PaymentRequestId),
    /// An exchange order.
    Order(ExchangeId),
    /// A wallet, with direct payments to its address.
    Wallet(WalletId),
    /// A payment of the payment service.
    Payment(PaymentId),
    /// A quote of the payment service.
    Quote(QuoteId),
}

impl Aggregate {
    /// Id of the aggregate.
    pub const fn id(self) -> Uuid {
        match self {
            Aggregate::Request(id) => id.0,
            Aggregate::Order(id) => id.0,
            Aggregate::Wallet(id) => id.0,
            Aggregate::Payment(id) => id.0,
            Aggregate::Quote(id) => id.0,
        }
    }

    /// Stored name of the kind.
    pub const fn kind(self) -> &'static str {
        match self {
            Aggregate::Request(_) => "request",
            Aggregate::Order(_) => "order",
            Aggregate::Wallet(_) => "wallet",
            Aggregate::Payment(_) => "payment",
            Aggregate::Quote(_) => "quote",
        }
    }

    /// Parses [`Aggregate::kind`] and [`Aggregate::id`].
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

    /// Whether it belongs to the payment service.
    pub const fn is_of_payments(self) -> bool {
        matches!(self, Aggregate::Payment(_) | Aggregate::Quote(_))
    }

    /// Id of its event number `version`. Derived, so that the event after a delivered one needs no
    /// search. Has the form of a version 4 UUID.
    pub fn event_id(self, tenant: TenantId, version: i64) -> EventId {
        let word = vault::hash(&[
            b"corridor.event",
            tenant.0.as_bytes(),
            self.id().as_bytes(),
            &version.to_be_bytes(),
        ]);
        let mut bytes = [0; 16];
        bytes.copy_from_slice(&word.0[..16]);
        EventId(uuid::Builder::from_random_bytes(bytes).into_uuid())
    }
}

/// Common first fields of nearly all events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct About {
    /// `payment_request_id`; `None` for direct payments to a wallet's address.
    pub request: Option<PaymentRequestId>,
    /// `wallet_id`
    pub wallet: WalletId,
    /// `customer_id`
    pub customer: String,
    /// The deposit: `transaction_id`, `tx_hash`. `None` for events of older versions, and for
    /// tokens that are not deposits.
    pub deposit: Option<AboutDeposit>,
}

/// The deposit of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AboutDeposit {
    /// `transaction_id`
    pub id: DepositId,
    /// `tx_hash`: the sender's transaction.
    pub tx: TxHash,
}

/// Data of an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WalletEvent {
    /// Funds arrived in the escrow for a payment request.
    PaymentReceived {
        /// Common fields.
        about: About,
        /// `amount`, `currency`: minor units of the stablecoin.
        minor: i64,
        /// Stablecoin of the amount.
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
        /// Common fields.
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
        /// Common fields.
        about: About,
        /// `amount`, `currency`: minor units of the stablecoin.
        minor: i64,
        /// Stablecoin of the amount.
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
        /// `from_amount`, `from_currency`: minor units of the stablecoin.
        minor: i64,
        /// Stablecoin of the amount.
        coin: StableCoin,
        /// `to_amount`, `to_currency`
        paid: Money,
        /// `exchange_rate`
        rate: Decimal,
        /// `settlement_reference`
        reference: String,
        /// `bank_account.iban`, complete
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
        /// The deposit that caused it, if any: `transaction_id`, `tx_hash`.
        deposit: Option<AboutDeposit>,
    },
    /// An incoming transaction failed or was rejected.
    TransactionFailed {
        /// Common fields.
        about: About,
        /// `failure_reason`
        reason: FailureReason,
        /// `error_message`: neutral.
        message: String,
        /// `failed_at`
        at: Timestamp,
    },
    /// An exchange order was cancelled or not settled; the tokens are in the wallet.
    OrderEnded {
        /// `order_id`
        order: ExchangeId,
        /// `wallet_id`
        wallet: WalletId,
        /// `customer_id`
        customer: String,
        /// `from_amount`, `from_currency`: minor units of the stablecoin.
        minor: i64,
        /// Stablecoin of the amount.
        coin: StableCoin,
        /// Whether it was cancelled (`CANCELLED`) or failed (`FAILED`).
        cancelled: bool,
        /// `failure_reason`, `error_message`
        reason: OrderFailure,
        /// `failed_at` or `cancelled_at`
        at: Timestamp,
    },
    /// A payment request expired.
    RequestExpired {
        /// Common fields.
        about: About,
        /// `expires_at`
        expires_at: Timestamp,
        /// `expired_at`: time of detection.
        at: Timestamp,
    },
    /// The wallet was unblocked, or its block ended.
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
    /// A regulator's order was submitted, or took effect.
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
        /// `blacklisted_at`; `None` before the effective date, while the wallet is BLOCKED.
        at: Option<Timestamp>,
    },
}

impl WalletEvent {
    /// Kind of the event.
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

/// An optional event: added to the log as the newest of its aggregate if the tenant's endpoint
/// subscribes to its kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OptionalEvent {
    /// Aggregate of the event.
    pub aggregate: Aggregate,
    /// Data of the event.
    pub event: WalletEvent,
}

/// An event to add to the tenant's log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewWalletEvent {
    /// Aggregate of the event.
    pub aggregate: Aggregate,
    /// Number within the aggregate, from 1 without gaps.
    pub version: i64,
    /// Data of the event.
    pub event: WalletEvent,
}

/// One entry of a tenant's log of wallet events, in the order of `seq`, which has no gaps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WalletEventEntry {
    /// `event_id`: [`Aggregate::event_id`].
    pub id: EventId,
    /// Tenant of the log.
    pub tenant: TenantId,
    /// Position in the log, from 1.
    pub seq: i64,
    /// Aggregate of the event.
    pub aggregate: Aggregate,
    /// Number within the aggregate.
    pub version: i64,
    /// Time: the envelope's `timestamp`.
    pub at: Timestamp,
    /// Data of the event.
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
        assert!(
            both.wants(WalletEventKind::OrderFailed)
                && !both.wants(WalletEventKind::OrderCancelled)
        );
        assert_eq!(
            Subscriptions::parse("all").map(|all| all.kinds().count()),
            Ok(WalletEventKind::OPTIONAL.len())
        );
        for nothing in ["", "none", " "] {
            assert_eq!(Subscriptions::parse(nothing), Ok(Subscriptions::default()), "{nothing:?}");
        }
        for (text, name) in [
            ("order.failed,", ""),
            ("wallet.blocked", "wallet.blocked"),
            ("ALL", "ALL"),
            ("x", "x"),
        ] {
            assert_eq!(Subscriptions::parse(text), Err(name.to_owned()));
        }
    }

    #[test]
    fn the_events_of_the_specification_need_no_subscription() {
        let without: Vec<_> = WalletEventKind::ALL
            .into_iter()
            .filter(|kind| Subscriptions::default().wants(*kind))
            .collect();
        assert_eq!(without, WalletEventKind::SPECIFIED);
        assert!(
            WalletEventKind::ALL
                .into_iter()
                .eq(WalletEventKind::SPECIFIED.into_iter().chain(WalletEventKind::OPTIONAL))
        );
    }
}
