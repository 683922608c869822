//! Small rows: tenant heads, idempotency records, discrepancies, customer records.

use domain::ids::{
    DepositId, EventId, ExchangeId, PaymentId, PaymentRequestId, QuoteId, TenantId, WalletId,
};
use domain::payment::Discrepancy;
use domain::time::Timestamp;
use domain::wallet::KycLevel;
use uuid::Uuid;

use super::Keys;
use super::chain::alert_digest;
use super::column::{Get, Put as _, Raw, Written};
use super::record::record;
use crate::admin::customers::CustomerRecord;
use crate::error::StoreError;
use crate::need::IdempotencyKey;
use crate::sql::{Columns, Fields};
use crate::working_set::{Head, IdempotencyRecord, Made};

record! {
    TENANT_HEAD = "tenant_head" of it: Head by tenant: TenantId { tenant: TenantId = tenant } {
        Guard { payment_seq: i64, wallet_seq: i64 }
        Verified { payment_webhooks: bool }
    }
}

record! {
    CUSTOMER = "customer" of it: CustomerRecord {
        Key { tenant: TenantId, customer_id: String }
        Kept { kyc_level: KycLevel, changed_at: Timestamp }
    }
}

record! {
    IDEMPOTENCY = "idempotency" of it: IdempotencyRecord
    by key: (TenantId, IdempotencyKey) {
        tenant: TenantId = key.0, scope: String = key.1.scope, idem_key: String = key.1.key,
    } {
        Kept {
            body_hash: [u8; 32], kind as made_kind: String = parts(it.made).0,
            id as made: Uuid = parts(it.made).1, at: Timestamp,
        }
    } => IdempotencyRecord { body_hash, made: made_of(&kind, id)?, at }
}

impl Get for IdempotencyKey {
    fn get(fields: &mut Fields<'_>, keys: &Keys) -> Result<IdempotencyKey, StoreError> {
        let (scope, key) = Get::get(fields, keys)?;
        Ok(IdempotencyKey { scope, key })
    }
}

const MADE_QUOTE: &str = "quote";
const MADE_PAYMENT: &str = "payment";
const MADE_WALLET: &str = "wallet";
const MADE_REQUEST: &str = "request";
const MADE_ORDER: &str = "order";
const MADE_DEPOSIT: &str = "deposit";
const MADE_EVENT: &str = "delivery";

const fn parts(made: Made) -> (&'static str, Uuid) {
    match made {
        Made::Quote(QuoteId(id)) => (MADE_QUOTE, id),
        Made::Payment(PaymentId(id)) => (MADE_PAYMENT, id),
        Made::Wallet(WalletId(id)) => (MADE_WALLET, id),
        Made::Request(PaymentRequestId(id)) => (MADE_REQUEST, id),
        Made::Exchange(ExchangeId(id)) => (MADE_ORDER, id),
        Made::Deposit(DepositId(id)) => (MADE_DEPOSIT, id),
        Made::Event(EventId(id)) => (MADE_EVENT, id),
    }
}

fn made_of(kind: &str, id: Uuid) -> Result<Made, StoreError> {
    Ok(match kind {
        MADE_QUOTE => Made::Quote(QuoteId(id)),
        MADE_PAYMENT => Made::Payment(PaymentId(id)),
        MADE_WALLET => Made::Wallet(WalletId(id)),
        MADE_REQUEST => Made::Request(PaymentRequestId(id)),
        MADE_ORDER => Made::Exchange(ExchangeId(id)),
        MADE_DEPOSIT => Made::Deposit(DepositId(id)),
        MADE_EVENT => Made::Event(EventId(id)),
        other => return Err(StoreError::Corrupt(format!("unknown kind of record {other:?}"))),
    })
}

/// Equal texts about the same attempt are one discrepancy.
pub(crate) fn write_discrepancy<'a>(
    tenant: TenantId,
    it: &'a Discrepancy,
    at: Timestamp,
    keys: &Keys,
    out: &mut Columns<'a>,
) -> Written {
    (tenant, it.attempt, Raw(alert_digest(&it.what)), it.payment, &it.what, at).put(keys, out)
}
