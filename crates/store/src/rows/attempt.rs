//! Attempts as rows.

use domain::attempt::{Attempt, AttemptState};
use domain::currency::Currency;
use domain::ids::{AttemptId, PaymentId, TenantId};
use domain::money::Money;
use domain::rail::RailId;
use domain::sender_limit::{Sender, SenderUsage, UsageKey, Window};
use domain::time::Timestamp;

use super::Keys;
use super::column::{Get, Put as _, Written};
use super::record::record;
use crate::error::StoreError;
use crate::sql::{Columns, Fields};

/// The slot of a payment's only attempt that is not rejected; a rejected one uses its number.
const LIVE: i32 = 0;

record! {
    ATTEMPT = "attempt" of it: Attempt {
        Key { tenant: TenantId, id: AttemptId }
        Kept {
            payment: PaymentId, number: i32, created_at: Timestamp,
        }
        Guard { state: AttemptState, state_at: Timestamp }
        Changed {
            rail: RailId, minor as amount: i64 = it.amount.minor,
            currency: Currency = it.amount.currency, sender: Option<Sender>,
            charges: i64, reason: Option<String>, info: Option<String>,
            bank_reference: Option<String>, source: Option<String>, booking: Option<String>,
            sent_again: bool,
        }
    } computed {
        Changed { slot: i32 = if it.state.is_refused() { it.number } else { LIVE } }
    } => Attempt {
        id, tenant, payment, number, rail, state, amount: Money::new(minor, currency), charges, sender,
        created_at, state_at, reason, info, bank_reference, source, booking, sent_again,
    }
}

/// The bank's references of the payout and its return that `new` adds to `old`.
pub(crate) fn write_reference<'a>(
    old: Option<&Attempt>,
    new: &'a Attempt,
    keys: &Keys,
    out: &mut Columns<'a>,
) -> Written {
    let known: Vec<&str> = old.map(references).unwrap_or_default();
    let added = references(new).into_iter().filter(|reference| !known.contains(reference));
    added.map(|reference| (new.tenant, reference, new.payment)).try_for_each(|it| it.put(keys, out))
}

/// The bank's references by which an attempt is found.
fn references(attempt: &Attempt) -> Vec<&str> {
    attempt.bank_reference.as_deref().into_iter().chain(attempt.return_references()).collect()
}

/// A usage query, as answered by [`SPENT`](crate::load::SPENT), with its answer.
pub(crate) type Usage = ((TenantId, UsageKey), SenderUsage);

/// The key of a usage query.
pub(crate) fn tally_key(
    (tenant, usage_key): &(TenantId, UsageKey),
) -> (TenantId, Sender, &RailId, Timestamp, Timestamp, Timestamp) {
    let Window { day, month, end } = usage_key.window;
    (*tenant, usage_key.sender, &usage_key.rail, day, month, end)
}

impl Get for UsageKey {
    fn get(fields: &mut Fields<'_>, keys: &Keys) -> Result<UsageKey, StoreError> {
        let (sender, rail, day, month, end) = Get::get(fields, keys)?;
        Ok(UsageKey { rail, sender, window: Window { day, month, end } })
    }
}

impl Get for SenderUsage {
    fn get(fields: &mut Fields<'_>, keys: &Keys) -> Result<SenderUsage, StoreError> {
        let (day, month) = Get::get(fields, keys)?;
        Ok(SenderUsage { day, month })
    }
}
