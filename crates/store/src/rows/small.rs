//! Small rows of a batch: heads, external ids, open-quote counters, idempotency records,
//! discrepancies, customer records.

use domain::country::Country;
use domain::ids::{
    DepositId, EventId, ExchangeId, PaymentId, PaymentRequestId, QuoteId, TenantId, WalletId,
};
use domain::payment::Discrepancy;
use domain::time::Timestamp;
use domain::wallet::KycLevel;
use sha2::{Digest, Sha256};
use uuid::Uuid;

use super::Keys;
use crate::admin::customers::CustomerRecord;
use crate::error::StoreError;
use crate::need::IdempotencyKey;
use crate::sql::{Columns, Fields};
use crate::working_set::{Head, IdempotencyRecord, Made};

pub(crate) fn read_head(fields: &mut Fields<'_>) -> Result<(TenantId, Head), StoreError> {
    let tenant = TenantId(fields.uuid()?);
    let (payment_seq, wallet_seq) = (fields.int()?, fields.int()?);
    Ok((tenant, Head { payment_seq, wallet_seq, payment_webhooks: fields.flag()? }))
}

pub(crate) fn read_external_id(
    fields: &mut Fields<'_>,
    keys: &Keys,
) -> Result<((TenantId, String), PaymentId), StoreError> {
    let key = (TenantId(fields.uuid()?), fields.text()?.to_owned());
    Ok((key, PaymentId(keys.public(fields.uuid()?))))
}

pub(crate) fn read_open_quotes(
    fields: &mut Fields<'_>,
) -> Result<((TenantId, Country), i64), StoreError> {
    let key = (TenantId(fields.uuid()?), fields.named("country", Country::parse)?);
    Ok((key, fields.int()?))
}

pub(crate) fn read_customer(fields: &mut Fields<'_>) -> Result<CustomerRecord, StoreError> {
    Ok(CustomerRecord {
        tenant: TenantId(fields.uuid()?),
        customer_id: fields.text()?.to_owned(),
        kyc_level: fields.named("kyc level", KycLevel::parse)?,
        changed_at: Timestamp(fields.int()?),
    })
}

const MADE_QUOTE: &str = "quote";
const MADE_PAYMENT: &str = "payment";
const MADE_WALLET: &str = "wallet";
const MADE_REQUEST: &str = "request";
const MADE_ORDER: &str = "order";
const MADE_DEPOSIT: &str = "deposit";
const MADE_EVENT: &str = "delivery";

pub(crate) fn write_idempotency<'a>(
    (tenant, key): &'a (TenantId, IdempotencyKey),
    record: &'a IdempotencyRecord,
    keys: &Keys,
    out: &mut Columns<'a>,
) {
    let (kind, id) = match record.made {
        Made::Quote(QuoteId(id)) => (MADE_QUOTE, id),
        Made::Payment(PaymentId(id)) => (MADE_PAYMENT, id),
        Made::Wallet(WalletId(id)) => (MADE_WALLET, id),
        Made::Request(PaymentRequestId(id)) => (MADE_REQUEST, id),
        Made::Exchange(ExchangeId(id)) => (MADE_ORDER, id),
        Made::Deposit(DepositId(id)) => (MADE_DEPOSIT, id),
        Made::Event(EventId(id)) => (MADE_EVENT, id),
    };
    write_idempotency_key(*tenant, key, out);
    out.bytes(&record.body_hash[..]).text(kind).uuid(keys.stored(id)).int(record.at.0);
}

pub(crate) fn write_idempotency_key<'a>(
    tenant: TenantId,
    key: &'a IdempotencyKey,
    out: &mut Columns<'a>,
) {
    out.uuid(tenant.0).text(key.scope.as_str()).text(key.key.as_str());
}

type Idempotent = ((TenantId, IdempotencyKey), IdempotencyRecord);

pub(crate) fn read_idempotency(
    fields: &mut Fields<'_>,
    keys: &Keys,
) -> Result<Idempotent, StoreError> {
    let tenant = TenantId(fields.uuid()?);
    let key = IdempotencyKey { scope: fields.text()?.to_owned(), key: fields.text()?.to_owned() };
    let body_hash = <[u8; 32]>::try_from(fields.bytes()?).map_err(|_| {
        StoreError::Corrupt("idempotency.body_hash does not have 32 bytes".to_owned())
    })?;
    let kind = fields.text()?;
    let id = keys.public(fields.uuid()?);
    let made = match kind {
        MADE_QUOTE => Made::Quote(QuoteId(id)),
        MADE_PAYMENT => Made::Payment(PaymentId(id)),
        MADE_WALLET => Made::Wallet(WalletId(id)),
        MADE_REQUEST => Made::Request(PaymentRequestId(id)),
        MADE_ORDER => Made::Exchange(ExchangeId(id)),
        MADE_DEPOSIT => Made::Deposit(DepositId(id)),
        MADE_EVENT => Made::Event(EventId(id)),
        other => return Err(StoreError::Corrupt(format!("unknown kind of record {other:?}"))),
    };
    Ok(((tenant, key), IdempotencyRecord { body_hash, made, at: Timestamp(fields.int()?) }))
}

/// Equal texts about the same attempt are one discrepancy.
pub(crate) fn write_discrepancy<'a>(
    tenant: TenantId,
    discrepancy: &'a Discrepancy,
    at: Timestamp,
    keys: &Keys,
    out: &mut Columns<'a>,
) {
    let digest: [u8; 32] = Sha256::digest(discrepancy.what.as_bytes()).into();
    let mut short = [0_u8; 16];
    short.copy_from_slice(&digest[..16]);
    out.uuid(tenant.0).uuid(keys.stored(discrepancy.attempt.0)).uuid(Uuid::from_bytes(short));
    out.uuid(keys.stored(discrepancy.payment.0)).text(discrepancy.what.as_str()).int(at.0);
}
