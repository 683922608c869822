//! External references of transfers' owners: many at once, for statements.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use domain::chain::TxHash;
use domain::ids::{AttemptId, PaymentRequestId, TenantId};
use domain::ledger::{Funding, funding_subject};
use domain::time::{Span, Timestamp};
use serde::Deserialize;
use uuid::Uuid as Id;

use crate::error::StoreError;
use crate::rows::column::Get;
use crate::sql::Kind::Uuid;
use crate::sql::{Stmt, Value};
use crate::store::Store;

/// Keys queried at once.
const CHUNK: usize = 1_000;

static PAYMENTS: Stmt = Stmt::by_keys(
    "references.payments",
    &[("tenant", Uuid), ("id", Uuid)],
    "SELECT p.id, p.external_id, p.bank_reference FROM {{keys}} JOIN payment p ON p.tenant = k.tenant AND p.id = k.id",
);
// The attempt that was not rejected: there is at most one, and it is the one that paid.
static ATTEMPTS: Stmt = Stmt::by_keys(
    "references.attempts",
    &[("tenant", Uuid), ("id", Uuid)],
    "SELECT a.payment, a.id, a.bank_reference FROM {{keys}} \
     JOIN attempt a ON a.tenant = k.tenant AND a.payment = k.id AND a.slot = 0",
);
static DEPOSITS: Stmt = Stmt::by_keys(
    "references.deposits",
    &[("tenant", Uuid), ("id", Uuid)],
    "SELECT d.id, d.tx, d.request FROM {{keys}} JOIN deposit d ON d.tenant = k.tenant AND d.id = k.id",
);

// Transfers have the hash of a funding's reference; the audit entry of the same commit has its text.
static FUNDINGS: Stmt = Stmt::written(
    "references.fundings",
    "SELECT a.after_doc FROM audit_entry a WHERE a.subject = $2 AND a.tenant = $1 \
     AND a.at >= $3 AND a.at < $4 AND a.after_doc IS NOT NULL \
     AND (a.action = 'prefund.top_up' OR a.action = 'prefund.withdrawal' \
     OR a.action = 'controller.fund' OR a.action = 'controller.reverse_funding')",
);

pub(crate) static STATEMENTS: &[&Stmt] = &[&PAYMENTS, &ATTEMPTS, &DEPOSITS, &FUNDINGS];

/// The state after a funding, as its audit entry has it.
#[derive(Deserialize)]
struct Funded {
    reference: Option<String>,
}

/// External references of a payment, an exchange order, a deposit or a funding.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct References {
    /// The client's id of a payment.
    pub external_id: Option<String>,
    /// The attempt that pays, or paid, a payment or an order: its UUID is the UETR.
    pub attempt: Option<AttemptId>,
    /// The paying bank's reference; that of a funding as it was booked.
    pub bank_reference: Option<String>,
    /// The transaction of a deposit.
    pub tx: Option<TxHash>,
    /// The payment request of a deposit.
    pub request: Option<PaymentRequestId>,
}

impl Store {
    /// The references of payments, orders and deposits, by their id. Unknown ids are omitted.
    pub async fn references(
        &self,
        tenant: TenantId,
        payments: &BTreeSet<Id>,
        orders: &BTreeSet<Id>,
        deposits: &BTreeSet<Id>,
    ) -> Result<HashMap<Id, References>, StoreError> {
        type Of<T, U> = Vec<(Id, T, U)>;
        type Text = Option<String>;
        let mut found: HashMap<Id, References> = HashMap::new();
        let rows: Of<Text, Text> = self.rows_of(&PAYMENTS, tenant, payments).await?;
        for (id, external_id, bank_reference) in rows {
            let of = found.entry(id).or_default();
            (of.external_id, of.bank_reference) = (external_id, bank_reference);
        }
        for paid in [payments, orders] {
            let rows: Of<AttemptId, Text> = self.rows_of(&ATTEMPTS, tenant, paid).await?;
            for (id, attempt, reference) in rows {
                let of = found.entry(id).or_default();
                of.attempt = Some(attempt);
                of.bank_reference = of.bank_reference.take().or(reference);
            }
        }
        let rows: Of<TxHash, Option<PaymentRequestId>> =
            self.rows_of(&DEPOSITS, tenant, deposits).await?;
        for (id, tx, request) in rows {
            let of = found.entry(id).or_default();
            (of.tx, of.request) = (Some(tx), request);
        }
        Ok(found)
    }

    /// The references of fundings, by their [`funding_subject`] and the time of their transfer, as
    /// the audit log has them. Fundings that it does not have are omitted.
    pub async fn funding_references(
        &self,
        tenant: TenantId,
        booked: &BTreeMap<Id, Timestamp>,
    ) -> Result<HashMap<Id, References>, StoreError> {
        let (Some(first), Some(last)) = (booked.values().min(), booked.values().max()) else {
            return Ok(HashMap::new());
        };
        // A transfer's time is cut to milliseconds.
        let until = *last + Span::millis(1);
        let about = tenant.0.to_string();
        let params: Vec<Value> =
            vec![tenant.0.into(), about.into(), first.0.into(), until.0.into()];
        let documents: Vec<String> = self.many(&FUNDINGS, params).await?;
        let read = |document: &String| serde_json::from_str::<Funded>(document).ok()?.reference;
        let mut found = HashMap::new();
        for reference in documents.iter().filter_map(read) {
            for kind in Funding::KINDS {
                let subject = funding_subject(kind, tenant, &reference);
                if booked.contains_key(&subject) {
                    let bank_reference = Some(reference.clone());
                    found.insert(subject, References { bank_reference, ..References::default() });
                }
            }
        }
        Ok(found)
    }

    async fn rows_of<T: Get>(
        &self,
        stmt: &'static Stmt,
        tenant: TenantId,
        ids: &BTreeSet<Id>,
    ) -> Result<Vec<T>, StoreError> {
        let ids: Vec<Id> = ids.iter().copied().collect();
        let mut rows = Vec::with_capacity(ids.len());
        for chunk in ids.chunks(CHUNK) {
            let keys = chunk.iter().map(|id| (tenant, *id));
            rows.extend(self.many_by::<T>(stmt, keys).await?);
        }
        Ok(rows)
    }
}
