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

use super::Keys;
use super::delivery::aggregate;
use super::document::{self, document};
use super::stored::{Stored, stored_enum, stored_struct};
use crate::error::StoreError;
use crate::sql::{Columns, Fields};

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
document! {
    /// The fields of an event without a column.
    Rest of WalletEventEntry in "wallet_event.document" { event: WalletEvent }
}

pub(crate) fn write(
    entry: &WalletEventEntry,
    keys: &Keys,
    out: &mut Columns<'_>,
) -> Result<(), StoreError> {
    let document =
        document::seal::<Rest>(entry, entry.tenant, keys.stored(entry.id.0).as_bytes(), keys)?;
    out.uuid(entry.tenant.0)
        .int(entry.seq)
        .uuid(keys.stored(entry.id.0))
        .text(entry.event.kind().name());
    out.text(entry.aggregate.kind()).uuid(keys.stored(entry.aggregate.id()));
    out.int(entry.version).int(entry.at.0).bytes(document);
    Ok(())
}

pub(crate) fn read(fields: &mut Fields<'_>, keys: &Keys) -> Result<WalletEventEntry, StoreError> {
    let tenant = TenantId(fields.uuid()?);
    let seq = fields.int()?;
    let stored = fields.uuid()?;
    let kind = fields.named("wallet event", WalletEventKind::parse)?;
    let aggregate = aggregate(fields, keys)?;
    let (version, at) = (fields.int()?, Timestamp(fields.int()?));
    let rest: Rest = document::open(fields.bytes()?, tenant, stored.as_bytes(), keys)?;
    if rest.event.kind() != kind {
        return Err(StoreError::Corrupt(format!(
            "wallet_event.kind {} differs from its document",
            kind.name()
        )));
    }
    Ok(WalletEventEntry {
        id: EventId(keys.public(stored)),
        tenant,
        seq,
        aggregate,
        version,
        at,
        event: rest.event,
    })
}
