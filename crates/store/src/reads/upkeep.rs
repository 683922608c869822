//! Maintenance: expired rows, prunable rows, open work.

use domain::ids::{AttemptId, PaymentId, QuoteId, TenantId};
use domain::payment::Discrepancy;
use domain::time::{Span, Timestamp};

use super::page::most;
use crate::driver::Step;
use crate::error::StoreError;
use crate::sql::{Stmt, Value};
use crate::store::{Store, read};

/// Retention of idempotency records (`decisions.md`: 72 h).
pub const IDEMPOTENCY_KEPT: Span = Span::hours(72);
/// Retention of events (`decisions.md`: 30 days).
pub const EVENTS_KEPT: Span = Span::days(30);
/// Retention of batch ids: longer than any commit can be unresolved.
pub const BATCHES_KEPT: Span = Span::hours(24);
/// Rows of a table that one run removes, so that it never blocks others for long.
pub const PRUNE_ROWS_MAX: i64 = 5_000;
/// Wallet events of a tenant that one run removes, while the tenant's batches wait.
const PRUNE_WALLET_EVENTS_MAX: i64 = 1_000;
/// Retention of the leases of nodes that have ended: longer than any outage of the database, so that
/// a node finds its own.
const NODES_KEPT: Span = Span::hours(24);
/// Retention of windows of drawn permits: longer than any window.
const WINDOWS_KEPT: Span = Span::hours(1);

static EXPIRED: Stmt = Stmt::written(
    "upkeep.expired_quotes",
    "SELECT q.tenant, q.id FROM quote q WHERE q.state = 'active' AND q.expires_at <= $1 ORDER BY q.expires_at LIMIT $2",
);
static PRUNE_IDEMPOTENCY: Stmt = Stmt::written(
    "upkeep.prune_idempotency",
    "DELETE FROM idempotency WHERE (tenant, scope, idem_key) IN \
     (SELECT i.tenant, i.scope, i.idem_key FROM idempotency i WHERE i.at < $1 ORDER BY i.at LIMIT $2)",
);
static PRUNE_ANSWERS: Stmt = Stmt::written(
    "upkeep.prune_answers",
    "DELETE FROM kept_answer WHERE (tenant, scope, idem_key) IN \
     (SELECT a.tenant, a.scope, a.idem_key FROM kept_answer a WHERE a.at < $1 ORDER BY a.at LIMIT $2)",
);
static PRUNE_BATCHES: Stmt = Stmt::written(
    "upkeep.prune_batches",
    "DELETE FROM batch WHERE id IN (SELECT b.id FROM batch b WHERE b.at < $1 ORDER BY b.at LIMIT $2)",
);
// From the log's start, never leaving a gap, and no further than every relay has sent.
static PRUNE_EVENTS: Stmt = Stmt::written(
    "upkeep.prune_events",
    "DELETE FROM event WHERE tenant = $3 AND at < $1 \
     AND seq < (SELECT MIN(e.seq) + $2 FROM event e WHERE e.tenant = $3) \
     AND seq < COALESCE((SELECT MIN(p.seq) FROM delivery d \
     JOIN event p ON p.tenant = d.tenant AND p.subject = d.aggregate AND p.version = d.version \
     WHERE d.tenant = $3 AND d.state <> 'delivered' AND d.state = 'pending' \
     AND d.aggregate_kind IN ('payment', 'quote')), seq + 1) \
     AND seq <= COALESCE((SELECT MIN(c.seq) FROM relay_cursor c WHERE c.tenant = $3 AND c.log = 'payment'), seq)",
);
// A concurrent replay of one of these waits, and then finds nothing.
static LOCK_HEAD: Stmt = Stmt::written(
    "upkeep.lock_head",
    "SELECT wallet_seq FROM tenant_head WHERE tenant = $1 {{for_update}}",
);
// Deliveries of payment events are removed before the events, together with the payment's delivery
// position once all are complete: the next delivery starts over.
static OLD_PAYMENT_DELIVERY: Stmt = Stmt::written(
    "upkeep.old_payment_delivery",
    "SELECT d.created_at FROM delivery d WHERE d.tenant = $1 AND d.aggregate_kind IN ('payment', 'quote') \
     AND d.created_at < $2 AND d.state <> 'pending' LIMIT 1",
);
static PRUNE_PAYMENT_ATTEMPTS: Stmt = Stmt::written(
    "upkeep.prune_payment_attempts",
    "DELETE FROM delivery_attempt WHERE tenant = $1 AND event IN (SELECT d.event FROM delivery d WHERE d.tenant = $1 \
     AND d.aggregate_kind IN ('payment', 'quote') AND d.created_at < $2 AND d.state <> 'pending' \
     ORDER BY d.created_at, d.event LIMIT $3)",
);
static PRUNE_PAYMENT_STREAMS: Stmt = Stmt::written(
    "upkeep.prune_payment_streams",
    "DELETE FROM delivery_stream WHERE tenant = $1 AND open_version > newest_version \
     AND replays_due = '' AND replays_waiting = '' AND aggregate IN (SELECT d.aggregate FROM delivery d WHERE d.tenant = $1 \
     AND d.aggregate_kind IN ('payment', 'quote') AND d.created_at < $2 AND d.state <> 'pending' \
     ORDER BY d.created_at, d.event LIMIT $3)",
);
static PRUNE_PAYMENT_DELIVERIES: Stmt = Stmt::written(
    "upkeep.prune_payment_deliveries",
    "DELETE FROM delivery WHERE tenant = $1 AND event IN (SELECT d.event FROM delivery d WHERE d.tenant = $1 \
     AND d.aggregate_kind IN ('payment', 'quote') AND d.created_at < $2 AND d.state <> 'pending' \
     ORDER BY d.created_at, d.event LIMIT $3)",
);
// Same for wallet events, up to the first undelivered or unsent one, together with their deliveries.
static OLD_WALLET_EVENTS: Stmt = Stmt::written(
    "upkeep.old_wallet_events",
    "SELECT MAX(e.seq) FROM wallet_event e WHERE e.tenant = $1 AND e.at < $2 \
     AND e.seq < (SELECT MIN(f.seq) + $3 FROM wallet_event f WHERE f.tenant = $1) \
     AND e.seq < COALESCE((SELECT MIN(p.seq) FROM wallet_event p JOIN delivery d ON d.tenant = p.tenant \
     AND d.event = p.id WHERE p.tenant = $1 AND p.at < $2 AND d.state = 'pending'), e.seq + 1) \
     AND e.seq <= COALESCE((SELECT MIN(c.seq) FROM relay_cursor c WHERE c.tenant = $1 AND c.log = 'wallet'), e.seq)",
);
static PRUNE_DELIVERY_ATTEMPTS: Stmt = Stmt::written(
    "upkeep.prune_delivery_attempts",
    "DELETE FROM delivery_attempt WHERE tenant = $1 \
     AND event IN (SELECT e.id FROM wallet_event e WHERE e.tenant = $1 AND e.seq <= $2) \
     AND NOT EXISTS (SELECT 1 FROM wallet_event p JOIN delivery d ON d.tenant = p.tenant AND d.event = p.id \
     WHERE p.tenant = $1 AND p.seq <= $2 AND d.state = 'pending')",
);
static PRUNE_DELIVERIES: Stmt = Stmt::written(
    "upkeep.prune_deliveries",
    "DELETE FROM delivery WHERE tenant = $1 \
     AND event IN (SELECT e.id FROM wallet_event e WHERE e.tenant = $1 AND e.seq <= $2) \
     AND NOT EXISTS (SELECT 1 FROM wallet_event p JOIN delivery d ON d.tenant = p.tenant AND d.event = p.id \
     WHERE p.tenant = $1 AND p.seq <= $2 AND d.state = 'pending')",
);
static PRUNE_WALLET_EVENTS: Stmt = Stmt::written(
    "upkeep.prune_wallet_events",
    "DELETE FROM wallet_event WHERE tenant = $1 AND seq <= $2 \
     AND NOT EXISTS (SELECT 1 FROM wallet_event p JOIN delivery d ON d.tenant = p.tenant AND d.event = p.id \
     WHERE p.tenant = $1 AND p.seq <= $2 AND d.state = 'pending')",
);
static PRUNE_WINDOWS: Stmt = Stmt::written(
    "upkeep.prune_windows",
    "DELETE FROM rate_window WHERE tenant = $2 AND began_at < $1",
);
static PRUNE_NODES: Stmt = Stmt::written(
    "upkeep.prune_nodes",
    "DELETE FROM role_lease WHERE name LIKE 'node:%' AND leased_until < $1",
);
static WITHOUT_JOB: Stmt = Stmt::written(
    "upkeep.without_job",
    "SELECT p.tenant, p.id FROM payment p LEFT JOIN job j ON j.tenant = p.tenant AND j.subject = p.id \
     WHERE p.state IN ('queued', 'processing', 'pending', 'unknown') AND j.subject IS NULL ORDER BY p.id LIMIT $1",
);
// While an order's coins move on the chain, its intent has the job.
static WALLET_THINGS_WITHOUT_JOB: Stmt = Stmt::written(
    "upkeep.wallet_things_without_job",
    "SELECT x.what, x.tenant, x.id FROM (\
     SELECT 'payment_request' AS what, r.tenant AS tenant, r.id AS id FROM payment_request r WHERE r.state = 'ACTIVE' \
     UNION ALL SELECT 'deposit', d.tenant, d.id FROM deposit d WHERE d.state IN ('screening', 'in_review') \
     UNION ALL SELECT 'exchange_order', e.tenant, e.id FROM exchange_order e \
     WHERE e.state IN ('pending', 'debited', 'paying') \
     UNION ALL SELECT 'chain_intent', i.tenant, i.id FROM chain_intent i WHERE i.state = 'waiting' \
     UNION ALL SELECT 'chain_tx', t.tenant, t.id FROM chain_tx t WHERE t.state IN ('taken', 'broadcast', 'mined') \
     UNION ALL SELECT 'delivery', v.tenant, v.event FROM delivery v \
     JOIN delivery_stream s ON s.tenant = v.tenant AND s.aggregate = v.aggregate AND (s.open_version = v.version \
     OR ',' || s.replays_due || ',' LIKE '%,' || CAST(v.version AS TEXT) || ',%') WHERE v.state = 'pending') x \
     LEFT JOIN job j ON j.tenant = x.tenant AND j.subject = x.id WHERE j.subject IS NULL \
     ORDER BY x.what, x.id LIMIT $1",
);
static DISCREPANCIES: Stmt = Stmt::written(
    "upkeep.discrepancies",
    "SELECT d.payment, d.attempt, d.what, d.at FROM discrepancy d WHERE d.tenant = $1 \
     ORDER BY d.at DESC, d.attempt, d.digest LIMIT $2",
);

pub(crate) static STATEMENTS: &[&Stmt] = &[
    &EXPIRED,
    &PRUNE_IDEMPOTENCY,
    &PRUNE_ANSWERS,
    &PRUNE_BATCHES,
    &PRUNE_EVENTS,
    &LOCK_HEAD,
    &OLD_PAYMENT_DELIVERY,
    &PRUNE_PAYMENT_ATTEMPTS,
    &PRUNE_PAYMENT_STREAMS,
    &PRUNE_PAYMENT_DELIVERIES,
    &OLD_WALLET_EVENTS,
    &PRUNE_DELIVERY_ATTEMPTS,
    &PRUNE_DELIVERIES,
    &PRUNE_WALLET_EVENTS,
    &PRUNE_WINDOWS,
    &PRUNE_NODES,
    &WITHOUT_JOB,
    &WALLET_THINGS_WITHOUT_JOB,
    &DISCREPANCIES,
];

/// The rows removed by one run of [`Store::prune`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pruned {
    /// Number of idempotency records.
    pub idempotency: u64,
    /// Answers stored for repetitions.
    pub answers: u64,
    /// Number of batch ids.
    pub batches: u64,
    pub events: u64,
    /// Wallet events, each with its delivery.
    pub wallet_events: u64,
    /// Windows of drawn permits.
    pub windows: u64,
    /// Whether it removed as much of anything as one run may: more may be left.
    pub is_full: bool,
}

impl Store {
    /// Open quotes that have expired, oldest first.
    pub async fn expired_quotes(
        &self,
        now: Timestamp,
        limit: usize,
    ) -> Result<Vec<(TenantId, QuoteId)>, StoreError> {
        self.many(&EXPIRED, (now, most(limit))).await
    }

    /// Removes prunable idempotency records, batch ids, windows and events of both services, some
    /// thousands of each; repeat while it is full.
    pub async fn prune(&self, now: Timestamp) -> Result<Pruned, StoreError> {
        let before = |kept: Span| Value::Int((now - kept).0);
        let rows = Value::Int(PRUNE_ROWS_MAX);
        let answers =
            self.remove(&PRUNE_ANSWERS, vec![before(IDEMPOTENCY_KEPT), rows.clone()]).await?;
        let idempotency =
            self.remove(&PRUNE_IDEMPOTENCY, vec![before(IDEMPOTENCY_KEPT), rows.clone()]).await?;
        let batches = self.remove(&PRUNE_BATCHES, vec![before(BATCHES_KEPT), rows.clone()]).await?;
        self.remove(&PRUNE_NODES, vec![before(NODES_KEPT)]).await?;
        let most = PRUNE_ROWS_MAX.unsigned_abs();
        let most_of_wallets = PRUNE_WALLET_EVENTS_MAX.unsigned_abs();
        let mut pruned = Pruned { idempotency, answers, batches, ..Pruned::default() };
        pruned.is_full = [idempotency, answers, batches].iter().any(|count| *count >= most);
        for tenant in self.tenants().await? {
            let deliveries = self.prune_payment_deliveries(tenant.id, now - EVENTS_KEPT).await?;
            let events = self
                .remove(&PRUNE_EVENTS, vec![before(EVENTS_KEPT), rows.clone(), tenant.id.0.into()])
                .await?;
            let wallet_events = self.prune_wallet_events(tenant.id, now - EVENTS_KEPT).await?;
            pruned.is_full |= events >= most || deliveries.max(wallet_events) >= most_of_wallets;
            pruned.events += events;
            pruned.wallet_events += wallet_events;
            pruned.windows +=
                self.remove(&PRUNE_WINDOWS, vec![before(WINDOWS_KEPT), tenant.id.0.into()]).await?;
        }
        Ok(pruned)
    }

    /// Returns the number of deliveries.
    async fn prune_payment_deliveries(
        &self,
        tenant: TenantId,
        before: Timestamp,
    ) -> Result<u64, StoreError> {
        let old = || vec![tenant.0.into(), before.0.into()];
        if self.query(&OLD_PAYMENT_DELIVERY, old()).await?.is_empty() {
            return Ok(0);
        }
        let some = || [old(), vec![PRUNE_WALLET_EVENTS_MAX.into()]].concat();
        let steps = vec![
            Step::one(&LOCK_HEAD, vec![tenant.0.into()]),
            Step::any(&PRUNE_PAYMENT_ATTEMPTS, some()),
            Step::any(&PRUNE_PAYMENT_STREAMS, some()),
            Step::any(&PRUNE_PAYMENT_DELIVERIES, some()),
        ];
        Ok(self.write_counts(steps).await?.last().copied().unwrap_or(0))
    }

    async fn prune_wallet_events(
        &self,
        tenant: TenantId,
        before: Timestamp,
    ) -> Result<u64, StoreError> {
        let last: Option<Option<i64>> =
            self.one(&OLD_WALLET_EVENTS, (tenant, before, PRUNE_WALLET_EVENTS_MAX)).await?;
        let Some(last) = last.flatten() else { return Ok(0) };
        let upto = || vec![tenant.0.into(), last.into()];
        let steps = vec![
            Step::one(&LOCK_HEAD, vec![tenant.0.into()]),
            Step::any(&PRUNE_DELIVERY_ATTEMPTS, upto()),
            Step::any(&PRUNE_DELIVERIES, upto()),
            Step::any(&PRUNE_WALLET_EVENTS, upto()),
        ];
        Ok(self.write_counts(steps).await?.last().copied().unwrap_or(0))
    }

    async fn remove(&self, stmt: &'static Stmt, params: Vec<Value>) -> Result<u64, StoreError> {
        Ok(self.write_counts(vec![Step::any(stmt, params)]).await?.into_iter().sum())
    }

    /// Open payments without a job: always none (`doctor`).
    pub async fn payments_without_job(
        &self,
        limit: usize,
    ) -> Result<Vec<(TenantId, PaymentId)>, StoreError> {
        let queries = vec![(&WITHOUT_JOB, vec![most(limit)])];
        let answers = self.driver().snapshot(queries).await?;
        read(answers.iter().flatten(), &*self.id_keys().await?)
    }

    /// Open records of the wallet service without a job, with their tables' names: always none
    /// (`doctor`).
    pub async fn wallet_things_without_job(
        &self,
        limit: usize,
    ) -> Result<Vec<(String, TenantId, uuid::Uuid)>, StoreError> {
        let queries = vec![(&WALLET_THINGS_WITHOUT_JOB, vec![most(limit)])];
        let answers = self.driver().snapshot(queries).await?;
        read(answers.iter().flatten(), &*self.id_keys().await?)
    }

    /// A tenant's discrepancies, newest first, each with the time of its first report.
    pub async fn discrepancies(
        &self,
        tenant: TenantId,
        limit: usize,
    ) -> Result<Vec<(Timestamp, Discrepancy)>, StoreError> {
        let found: Vec<(PaymentId, AttemptId, String, Timestamp)> =
            self.many(&DISCREPANCIES, (tenant, most(limit))).await?;
        let discrepancy =
            |(payment, attempt, what, at)| (at, Discrepancy { payment, attempt, what });
        Ok(found.into_iter().map(discrepancy).collect())
    }
}
