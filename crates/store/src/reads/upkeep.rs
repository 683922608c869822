//! Upkeep: what has run out, what is old enough to go, what lies open.

use domain::ids::{AttemptId, PaymentId, QuoteId, TenantId};
use domain::payment::Discrepancy;
use domain::time::{Span, Timestamp};

use crate::driver::Step;
use crate::error::StoreError;
use crate::sql::{Stmt, Value};
use crate::store::Store;

/// How long an idempotency record is kept (`decisions.md`: 72 h).
pub const IDEMPOTENCY_KEPT: Span = Span::hours(72);
/// How long an event is kept (`decisions.md`: 30 days).
pub const EVENTS_KEPT: Span = Span::days(30);
/// How long a batch's id is kept: longer than any commit can be in doubt.
pub const BATCHES_KEPT: Span = Span::hours(24);
/// Rows of a table that one run removes, so that it never holds up the others for long.
pub const PRUNE_ROWS_MAX: i64 = 5_000;

static EXPIRED: Stmt = Stmt::written(
    "upkeep.expired_quotes",
    "SELECT q.tenant, q.id FROM quote q WHERE q.state = 'active' AND q.expires_at <= $1 ORDER BY q.expires_at LIMIT $2",
);
static PRUNE_IDEMPOTENCY: Stmt = Stmt::written(
    "upkeep.prune_idempotency",
    "DELETE FROM idempotency WHERE (tenant, scope, idem_key) IN \
     (SELECT i.tenant, i.scope, i.idem_key FROM idempotency i WHERE i.at < $1 ORDER BY i.at LIMIT $2)",
);
static PRUNE_BATCHES: Stmt = Stmt::written(
    "upkeep.prune_batches",
    "DELETE FROM batch WHERE id IN (SELECT b.id FROM batch b WHERE b.at < $1 ORDER BY b.at LIMIT $2)",
);
// From the log's beginning, never leaving a hole.
static PRUNE_EVENTS: Stmt = Stmt::written(
    "upkeep.prune_events",
    "DELETE FROM event WHERE tenant = $3 AND at < $1 \
     AND seq < (SELECT MIN(e.seq) + $2 FROM event e WHERE e.tenant = $3)",
);
static WITHOUT_JOB: Stmt = Stmt::written(
    "upkeep.without_job",
    "SELECT p.tenant, p.id FROM payment p LEFT JOIN job j ON j.tenant = p.tenant AND j.subject = p.id \
     WHERE p.state IN ('queued', 'processing', 'pending', 'unknown') AND j.subject IS NULL ORDER BY p.id LIMIT $1",
);
static DISCREPANCIES: Stmt = Stmt::written(
    "upkeep.discrepancies",
    "SELECT d.payment, d.attempt, d.what, d.at FROM discrepancy d WHERE d.tenant = $1 \
     ORDER BY d.at DESC, d.attempt, d.digest LIMIT $2",
);

pub(crate) static STATEMENTS: &[&Stmt] =
    &[&EXPIRED, &PRUNE_IDEMPOTENCY, &PRUNE_BATCHES, &PRUNE_EVENTS, &WITHOUT_JOB, &DISCREPANCIES];

/// What one run of [`Store::prune`] removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pruned {
    /// Idempotency records.
    pub idempotency: u64,
    /// Ids of batches.
    pub batches: u64,
    /// Events.
    pub events: u64,
}

fn number(limit: usize) -> Value {
    Value::Int(i64::try_from(limit).unwrap_or(i64::MAX))
}

impl Store {
    /// Quotes that are still open although their time has run out, the longest first.
    ///
    /// # Errors
    /// The database cannot be reached.
    pub async fn expired_quotes(&self, now: Timestamp, limit: usize) -> Result<Vec<(TenantId, QuoteId)>, StoreError> {
        let keys = self.id_keys().await?;
        let rows = self.query(&EXPIRED, vec![now.0.into(), number(limit)]).await?;
        rows.iter()
            .map(|row| {
                let mut fields = row.fields();
                Ok((TenantId(fields.uuid()?), QuoteId(keys.public(fields.uuid()?))))
            })
            .collect()
    }

    /// Removes idempotency records, batch ids and events that are old enough, some thousands of each; call it again
    /// until nothing is left to do.
    ///
    /// # Errors
    /// The database cannot be reached.
    pub async fn prune(&self, now: Timestamp) -> Result<Pruned, StoreError> {
        let before = |kept: Span| Value::Int((now - kept).0);
        let most = Value::Int(PRUNE_ROWS_MAX);
        let idempotency = self.remove(&PRUNE_IDEMPOTENCY, vec![before(IDEMPOTENCY_KEPT), most.clone()]).await?;
        let batches = self.remove(&PRUNE_BATCHES, vec![before(BATCHES_KEPT), most.clone()]).await?;
        let mut events = 0;
        for tenant in self.tenants().await? {
            events += self.remove(&PRUNE_EVENTS, vec![before(EVENTS_KEPT), most.clone(), tenant.id.0.into()]).await?;
        }
        Ok(Pruned { idempotency, batches, events })
    }

    async fn remove(&self, stmt: &'static Stmt, params: Vec<Value>) -> Result<u64, StoreError> {
        Ok(self.write_counts(vec![Step::any(stmt, params)]).await?.into_iter().sum())
    }

    /// Payments that are not at their end and yet have no job: always none (`doctor`).
    ///
    /// # Errors
    /// The database cannot be reached.
    pub async fn payments_without_job(&self, limit: usize) -> Result<Vec<(TenantId, PaymentId)>, StoreError> {
        let keys = self.id_keys().await?;
        let answers = self.driver().snapshot(vec![(&WITHOUT_JOB, vec![number(limit)])]).await?;
        answers
            .iter()
            .flatten()
            .map(|row| {
                let mut fields = row.fields();
                Ok((TenantId(fields.uuid()?), PaymentId(keys.public(fields.uuid()?))))
            })
            .collect()
    }

    /// A tenant's discrepancies, the newest first, each with the time of its first report.
    ///
    /// # Errors
    /// The database cannot be reached.
    pub async fn discrepancies(
        &self,
        tenant: TenantId,
        limit: usize,
    ) -> Result<Vec<(Timestamp, Discrepancy)>, StoreError> {
        let keys = self.id_keys().await?;
        let rows = self.query(&DISCREPANCIES, vec![tenant.0.into(), number(limit)]).await?;
        rows.iter()
            .map(|row| {
                let mut fields = row.fields();
                let payment = PaymentId(keys.public(fields.uuid()?));
                let attempt = AttemptId(keys.public(fields.uuid()?));
                let what = fields.text()?.to_owned();
                Ok((Timestamp(fields.int()?), Discrepancy { payment, attempt, what }))
            })
            .collect()
    }
}
