//! Accounts and transfers as rows.

use domain::ids::{TenantId, TransferId};
use domain::ledger::{Account, AccountCode, Transfer, TransferKind};
use domain::money::Money;
use domain::time::Timestamp;
use uuid::Uuid;

use super::{Keys, currency};
use crate::error::StoreError;
use crate::sql::{Columns, Fields};

/// Accounts that every batch of their tenant may change, loaded with its head.
const CLASS_SHARED: &str = "shared";
/// Accounts of one payment request or wallet: loaded only by batches that name them.
const CLASS_OWN: &str = "own";

/// The class of an account: part of its key, so that shared accounts are stored together.
pub(crate) fn class(code: &AccountCode) -> &'static str {
    match code {
        AccountCode::Prefund(_)
        | AccountCode::InTransit(_)
        | AccountCode::Nostro(..)
        | AccountCode::FxPosition(_)
        | AccountCode::FeeIncome(_)
        | AccountCode::RailCost(_)
        | AccountCode::RailCharges(_)
        | AccountCode::Rounding(_)
        | AccountCode::External(_)
        | AccountCode::Unswept(_)
        | AccountCode::Treasury(_)
        | AccountCode::Exchanged(_)
        | AccountCode::PayoutSuspense(_)
        | AccountCode::Suspense(_) => CLASS_SHARED,
        AccountCode::Escrow(..) | AccountCode::Wallet(..) => CLASS_OWN,
    }
}

fn write_key(account: &Account, out: &mut Columns<'_>) {
    out.uuid(account.tenant.0).text(class(&account.code)).text(account.code.to_string());
}

fn write_sums(account: &Account, out: &mut Columns<'_>) {
    out.int(account.debits_pending).int(account.debits_posted);
    out.int(account.credits_pending).int(account.credits_posted);
}

pub(crate) fn write_account(account: &Account, out: &mut Columns<'_>) -> Result<(), StoreError> {
    write_key(account, out);
    write_sums(account, out);
    Ok(())
}

/// Writes key, new values and guards of an update.
pub(crate) fn write_account_change(
    old: &Account,
    new: &Account,
    out: &mut Columns<'_>,
) -> Result<(), StoreError> {
    write_key(new, out);
    write_sums(new, out);
    write_sums(old, out);
    Ok(())
}

pub(crate) fn read_account(fields: &mut Fields<'_>) -> Result<Account, StoreError> {
    let tenant = TenantId(fields.uuid()?);
    fields.skip(1);
    Ok(Account {
        tenant,
        code: fields.named("account", AccountCode::parse)?,
        debits_pending: fields.int()?,
        debits_posted: fields.int()?,
        credits_pending: fields.int()?,
        credits_posted: fields.int()?,
    })
}

pub(crate) fn write_transfer<'a>(transfer: &'a Transfer, keys: &Keys, out: &mut Columns<'a>) {
    out.uuid(transfer.tenant.0).uuid(keys.stored(transfer.id.0));
    out.text(transfer.debit.to_string()).text(transfer.credit.to_string());
    out.int(transfer.amount.minor).text(transfer.amount.currency.code()).text(transfer.kind.name());
    out.opt_uuid(transfer.pending.map(|pending| keys.stored(pending.0)))
        .uuid(keys.stored(transfer.set.0));
    out.text(transfer.reason)
        .opt_uuid(transfer.subject.map(|subject| keys.stored(subject)))
        .int(transfer.at.0);
}

/// A stored transfer: like the domain's, but its reason may be one that this version no longer
/// writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredTransfer {
    pub id: TransferId,
    /// The tenant that owns the books.
    pub tenant: TenantId,
    pub debit: AccountCode,
    pub credit: AccountCode,
    /// Amount, in the accounts' currency.
    pub amount: Money,
    /// Its effect on the sums.
    pub kind: TransferKind,
    /// The reservation that it ends.
    pub pending: Option<TransferId>,
    /// The first transfer of its linked set.
    pub set: TransferId,
    pub reason: String,
    /// The payment or other record that it belongs to.
    pub subject: Option<Uuid>,
    /// When it was booked.
    pub at: Timestamp,
}

pub(crate) fn read_transfer(
    fields: &mut Fields<'_>,
    keys: &Keys,
) -> Result<StoredTransfer, StoreError> {
    let tenant = TenantId(fields.uuid()?);
    let id = TransferId(keys.public(fields.uuid()?));
    let debit = fields.named("account", AccountCode::parse)?;
    let credit = fields.named("account", AccountCode::parse)?;
    let minor = fields.int()?;
    Ok(StoredTransfer {
        id,
        tenant,
        debit,
        credit,
        amount: Money::new(minor, currency(fields)?),
        kind: fields.named("transfer kind", TransferKind::parse)?,
        pending: fields.opt_uuid()?.map(|stored| TransferId(keys.public(stored))),
        set: TransferId(keys.public(fields.uuid()?)),
        reason: fields.text()?.to_owned(),
        subject: fields.opt_uuid()?.map(|stored| keys.public(stored)),
        at: Timestamp(fields.int()?),
    })
}
