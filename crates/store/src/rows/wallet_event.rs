//! Wallet events as rows. Their data name customers, senders and accounts, and are sealed
//! completely.

use domain::chain::{Address, TxHash};
use domain::currency::StableCoin;
use domain::decimal::Decimal;
use domain::exchange::OrderFailure;
use domain::ids::{DepositId, EventId, ExchangeId, PaymentRequestId, TenantId, WalletId};
use domain::money::Money;
use domain::payment_request::SenderDetails;
use domain::risk::{Check, NextAction, ReasonCode, RiskLevel, RiskResult};
use domain::time::Timestamp;
use domain::wallet::{BlockReason, TriggeredBy};
use domain::wallet_event::{
    About, AboutDeposit, FailureReason, WalletEvent, WalletEventEntry, WalletEventKind,
};
use jiff::civil::Date;
use uuid::Uuid;

use super::delivery::aggregate_of;
use super::record::record;
use super::stored::{Stored, stored_enum, stored_struct};
use crate::error::StoreError;

stored_struct! { AboutDeposit as AboutDepositDoc { id: DepositId, tx: TxHash } }
// Older events have no `deposit`.
stored_struct! {
    About as AboutDoc {
        request: Option<PaymentRequestId>, wallet: WalletId, customer: String, deposit: Option<AboutDeposit>,
    }
}
stored_enum! { WalletEvent as EventDoc {} {
    PaymentReceived {
        about: About, minor: i64, coin: StableCoin, blockchain: String, tx: TxHash, from: Address, to: Address,
        confirmations: u64, sender: SenderDetails,
    },
    RiskCheckComplete {
        about: About, result: RiskResult, score: u8, level: RiskLevel, checks: Vec<Check>, reason: ReasonCode,
        next: NextAction,
    },
    TransferComplete { about: About, minor: i64, coin: StableCoin, tx: TxHash, at: Timestamp },
    ExchangeComplete {
        order: ExchangeId, wallet: WalletId, customer: String, minor: i64, coin: StableCoin, paid: Money,
        rate: Decimal, reference: String, iban: Option<String>, holder: String, at: Timestamp,
    },
    WalletBlocked {
        wallet: WalletId, customer: String, reason: BlockReason, details: String, at: Timestamp,
        auto_unblock_at: Option<Timestamp>, triggered_by: TriggeredBy, deposit: Option<AboutDeposit>,
    },
    TransactionFailed { about: About, reason: FailureReason, message: String, at: Timestamp },
    OrderEnded {
        order: ExchangeId, wallet: WalletId, customer: String, minor: i64, coin: StableCoin, cancelled: bool,
        reason: OrderFailure, at: Timestamp,
    },
    RequestExpired { about: About, expires_at: Timestamp, at: Timestamp },
    WalletUnblocked {
        wallet: WalletId, customer: String, reason: Option<String>, at: Timestamp, triggered_by: TriggeredBy,
    },
    WalletBlacklisted {
        wallet: WalletId, customer: String, authority: String, reference: String, effective_date: Date,
        at: Option<Timestamp>,
    },
} }
record! {
    WALLET_EVENT = "wallet_event" of it: WalletEventEntry {
        Key { tenant: TenantId, seq: i64 }
        Kept {
            id: EventId, kind: WalletEventKind = it.event.kind(),
            of as aggregate_kind: String = it.aggregate.kind(), aggregate: Uuid = it.aggregate.id(),
            version: i64, at: Timestamp,
        }
    } document of tenant, id {
        event: WalletEvent,
    } => {
        if event.kind() != kind {
            let kind = kind.name();
            let why = format!("wallet_event.kind {kind} differs from its document");
            return Err(StoreError::Corrupt(why));
        }
        let aggregate = aggregate_of(&of, aggregate)?;
        WalletEventEntry { id, tenant, seq, aggregate, version, at, event }
    }
}
