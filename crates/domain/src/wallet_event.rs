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
    /// `event_type` of the envelope; the specification has the first six.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum WalletEventKind: "Name on the wire and in the store." {
        /// `payment.received`: funds have arrived in an escrow, at the policy's depth.
        PaymentReceived = "payment.received",
        /// `risk_check.complete`: screening or a reviewer decided about a deposit.
        RiskCheckComplete = "risk_check.complete",
        /// `transfer.complete`: funds have moved from escrow to the wallet.
        TransferComplete = "transfer.complete",
        /// `exchange.complete`: an exchange order was paid to the bank account.
        ExchangeComplete = "exchange.complete",
        /// `wallet.blocked`: the risk system or the bank blocked the wallet.
        WalletBlocked = "wallet.blocked",
        /// `transaction.failed`: a deposit failed or was rejected.
        TransactionFailed = "transaction.failed",
        /// `order.failed`: an exchange order was not settled; its tokens are back, or in suspense if the
        /// wallet was blacklisted.
        OrderFailed = "order.failed",
        /// `order.cancelled`: an exchange order was cancelled before its debit took effect.
        OrderCancelled = "order.cancelled",
        /// `payment_request.expired`: the request expired before it was paid.
        PaymentRequestExpired = "payment_request.expired",
        /// `wallet.unblocked`: the block was lifted, or its time ended.
        WalletUnblocked = "wallet.unblocked",
        /// `wallet.blacklisted`: a regulator's order was submitted, or took effect.
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
    pub fn optional() -> impl Iterator<Item = WalletEventKind> {
        WalletEventKind::ALL.into_iter().filter(|kind| kind.is_optional())
    }

    /// The last segment of the endpoint's path.
    pub fn segment(self) -> String {
        self.name().replace(['.', '_'], "-")
    }

    /// Whether it needs a subscription.
    pub fn is_optional(self) -> bool {
        !WalletEventKind::SPECIFIED.contains(&self)
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
                return Ok(WalletEventKind::optional().collect());
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

    /// The subscribed optional events, in the order of [`WalletEventKind::ALL`].
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
    /// `failure_reason` of `transaction.failed` (`decisions.md`, "failure_reason").
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum FailureReason: "Name on the wire and in the store." {
        /// `ON_CHAIN_REVERT`: our transaction failed on the chain for good.
        OnChainRevert = "ON_CHAIN_REVERT",
        /// `TRANSACTION_DROPPED`: the incoming transaction left the chain and did not return.
        TransactionDropped = "TRANSACTION_DROPPED",
        /// `TOKEN_PAUSED`: the issuer paused the token or changed its contract's code.
        TokenPaused = "TOKEN_PAUSED",
        /// `ADDRESS_BLACKLISTED`: the wallet is blacklisted, by a regulator's order or the token.
        AddressBlacklisted = "ADDRESS_BLACKLISTED",
        /// `UNSUPPORTED_ASSET`: defined for the API, and never written at present.
        UnsupportedAsset = "UNSUPPORTED_ASSET",
        /// `COMPLIANCE_REJECTED`: screening or a reviewer rejected the deposit.
        ComplianceRejected = "COMPLIANCE_REJECTED",
        /// `TIMEOUT`: defined for the API, and never written at present.
        Timeout = "TIMEOUT",
    }
}

/// Subject of an event; ids are unique across aggregates. The last two belong to the payment
/// service.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Aggregate {
    /// A payment request, with its deposits.
    Request(PaymentRequestId),
    /// An exchange order, with the event of its end.
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
    /// `wallet_id`: the recipient's wallet.
    pub wallet: WalletId,
    /// `customer_id`: the bank's own id, 1 to 128 characters.
    pub customer: String,
    /// The deposit: `transaction_id`, `tx_hash`. `None` for events of older versions, and for
    /// tokens that are not deposits.
    pub deposit: Option<AboutDeposit>,
}

/// The deposit of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AboutDeposit {
    /// `transaction_id`, derived from the log: [`crate::deposit::Deposit::id_of`].
    pub id: DepositId,
    /// `tx_hash`: the sender's transaction.
    pub tx: TxHash,
}

/// Data of an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WalletEvent {
    /// Funds arrived in the escrow for a payment request.
    PaymentReceived {
        /// Request, wallet and customer of the payment.
        about: About,
        /// `amount`, `currency`: minor units of the stablecoin.
        minor: i64,
        /// Stablecoin of the amount.
        coin: StableCoin,
        /// `blockchain`: the chain's name in the API (`ethereum`).
        blockchain: String,
        /// `tx_hash`: the sender's transaction, `0x` and 64 hexadecimal digits.
        tx: TxHash,
        /// `from_address`: the payer, `0x` and 40 hexadecimal digits.
        from: Address,
        /// `to_address`: the escrow, never the wallet.
        to: Address,
        /// `confirmations`: number of blocks from its own to the newest.
        confirmations: u64,
        /// `sender_info`: details of the escrow's submission; empty if unknown.
        sender: SenderDetails,
    },
    /// The risk assessment ended.
    RiskCheckComplete {
        /// Request, wallet and customer of the payment.
        about: About,
        /// `risk_check_result`: what happens to the payment.
        result: RiskResult,
        /// `risk_score`, 0 to 100
        score: u8,
        /// `risk_level`, which follows from the score.
        level: RiskLevel,
        /// `checks_performed`, in the order of [`Check::ALL`].
        checks: Vec<Check>,
        /// `decision_reason`: the code, to which a neutral text is added.
        reason: ReasonCode,
        /// `next_action`, which follows from the result.
        next: NextAction,
    },
    /// Funds moved from escrow to the recipient's wallet.
    TransferComplete {
        /// Request, wallet and customer of the payment.
        about: About,
        /// `amount`, `currency`: minor units of the stablecoin.
        minor: i64,
        /// Stablecoin of the amount.
        coin: StableCoin,
        /// `transfer_tx_hash`: our transaction from the escrow to the wallet.
        tx: TxHash,
        /// `completed_at`: time at which the transfer was final.
        at: Timestamp,
    },
    /// An exchange was settled to the bank account.
    ExchangeComplete {
        /// `order_id` of the settled order.
        order: ExchangeId,
        /// `wallet_id`: wallet that the tokens came from.
        wallet: WalletId,
        /// `customer_id`: the bank's own id, 1 to 128 characters.
        customer: String,
        /// `from_amount`, `from_currency`: minor units of the stablecoin.
        minor: i64,
        /// Stablecoin of the amount.
        coin: StableCoin,
        /// `to_amount`, `to_currency`: paid to the bank account.
        paid: Money,
        /// `exchange_rate`: units of `to_currency` per token, before the spread.
        rate: Decimal,
        /// `settlement_reference`: the bank's, else the attempt's InstrId.
        reference: String,
        /// `bank_account.iban`, complete; `None` if the order has an account number.
        iban: Option<String>,
        /// `bank_account.account_holder_name`, as in the order.
        holder: String,
        /// `settled_at`: time at which the rail's payment was recorded.
        at: Timestamp,
    },
    /// The wallet was blocked.
    WalletBlocked {
        /// `wallet_id` of the blocked wallet.
        wallet: WalletId,
        /// `customer_id`: the bank's own id, 1 to 128 characters.
        customer: String,
        /// `reason`: one of the specification's five codes.
        reason: BlockReason,
        /// `details`: explanation for people, from the bank or neutral.
        details: String,
        /// `blocked_at`: start of the block.
        at: Timestamp,
        /// `auto_unblock_at`: end of the block; `None` if it has no automatic end.
        auto_unblock_at: Option<Timestamp>,
        /// `triggered_by`: the risk system or the bank.
        triggered_by: TriggeredBy,
        /// The deposit that caused it, if any: `transaction_id`, `tx_hash`.
        deposit: Option<AboutDeposit>,
    },
    /// An incoming transaction failed or was rejected.
    TransactionFailed {
        /// Request, wallet and customer of the payment.
        about: About,
        /// `failure_reason`: code from `decisions.md`.
        reason: FailureReason,
        /// `error_message`: neutral text that discloses no finding.
        message: String,
        /// `failed_at`: time at which the failure was recorded.
        at: Timestamp,
    },
    /// An exchange order was cancelled or not settled; the tokens are in the wallet, unless it was blacklisted and they cannot return.
    OrderEnded {
        /// `order_id` of the order that ended.
        order: ExchangeId,
        /// `wallet_id`: wallet that has the tokens again.
        wallet: WalletId,
        /// `customer_id`: the bank's own id, 1 to 128 characters.
        customer: String,
        /// `from_amount`, `from_currency`: minor units of the stablecoin.
        minor: i64,
        /// Stablecoin of the amount.
        coin: StableCoin,
        /// Whether it was cancelled (`CANCELLED`) or failed (`FAILED`).
        cancelled: bool,
        /// `failure_reason` is its name, `error_message` its text.
        reason: OrderFailure,
        /// `failed_at` or `cancelled_at`, depending on `cancelled`.
        at: Timestamp,
    },
    /// A payment request expired.
    RequestExpired {
        /// Request, wallet and customer; never a deposit.
        about: About,
        /// `expires_at` of the request, which has passed.
        expires_at: Timestamp,
        /// `expired_at`: time of detection.
        at: Timestamp,
    },
    /// The wallet was unblocked, or its block ended.
    WalletUnblocked {
        /// `wallet_id` of the unblocked wallet.
        wallet: WalletId,
        /// `customer_id`: the bank's own id, 1 to 128 characters.
        customer: String,
        /// `unblock_reason`; `None` if not given or if the block's time ended.
        reason: Option<String>,
        /// `unblocked_at`: end of the block.
        at: Timestamp,
        /// `triggered_by`: AUTOMATIC if the block's time ended, else MANUAL.
        triggered_by: TriggeredBy,
    },
    /// A regulator's order was submitted, or took effect.
    WalletBlacklisted {
        /// `wallet_id` of the blacklisted wallet.
        wallet: WalletId,
        /// `customer_id`: the bank's own id, 1 to 128 characters.
        customer: String,
        /// `regulatory_authority`: name as the bank submitted it.
        authority: String,
        /// `regulatory_reference`: the order's number at the authority.
        reference: String,
        /// `effective_date` (UTC), from which the wallet is BLACKLISTED.
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
    /// `event_id`, which is derived: [`Aggregate::event_id`].
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
            Ok(WalletEventKind::optional().count())
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
    }
}
