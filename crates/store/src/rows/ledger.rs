//! Accounts and transfers as rows.

use domain::currency::Currency;
use domain::ids::{TenantId, TransferId};
use domain::ledger::{Account, AccountCode, Transfer, TransferKind};
use domain::money::Money;
use domain::time::Timestamp;
use uuid::Uuid;

use super::record::record;

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
        | AccountCode::Unswept(..)
        | AccountCode::Treasury(..)
        | AccountCode::Exchanged(..)
        | AccountCode::PayoutSuspense(..)
        | AccountCode::Suspense(_) => CLASS_SHARED,
        AccountCode::Escrow(..) | AccountCode::Wallet(..) | AccountCode::Shortfall(..) => CLASS_OWN,
    }
}

record! {
    ACCOUNT = "account" of it: Account {
        Key { tenant: TenantId, code: AccountCode }
        Guard { debits_pending: i64, debits_posted: i64, credits_pending: i64, credits_posted: i64 }
    } computed {
        Key { class: String = class(&it.code) }
    }
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

record! {
    TRANSFER = "transfer" of it: Transfer read as StoredTransfer {
        Key { tenant: TenantId, id: TransferId }
        Kept {
            debit: AccountCode, credit: AccountCode, minor as amount: i64 = it.amount.minor,
            currency: Currency = it.amount.currency, kind: TransferKind, pending: Option<TransferId>,
            set as set_id: TransferId, reason: String, subject: Option<Uuid>, at: Timestamp,
        }
    } => {
        let amount = Money::new(minor, currency);
        StoredTransfer { id, tenant, debit, credit, amount, kind, pending, set, reason, subject, at }
    }
}
