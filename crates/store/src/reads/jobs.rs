//! Jobs: leasing those that are due, and counting those that wait.

use std::collections::BTreeSet;

use domain::chain::{Address, ChainNumber};
use domain::job::{Job, JobKind};
use domain::time::{Span, Timestamp};

use super::page::most;
use crate::driver::Step;
use crate::error::StoreError;
use crate::sql::{Stmt, Value};
use crate::store::{Store, read};

// Rows are chosen and locked first, once: a worker skips those that another worker is leasing.
static LEASE: Stmt = Stmt::written(
    "job.lease",
    "WITH due AS (SELECT j.tenant, j.subject FROM job j WHERE j.kind = $2 AND j.run_at <= {{now}} \
     AND (j.leased_until IS NULL OR j.leased_until <= {{now}}) ORDER BY j.run_at LIMIT $3 {{skip_locked}}) \
     UPDATE job SET fence = fence + 1, leased_until = {{now}} + $4, leased_by = $5 \
     FROM due WHERE job.tenant = due.tenant AND job.subject = due.subject RETURNING {{job job}}",
);
// The signers whose transactions are due, longest first; and leasing those of one signer.
static LANES_DUE: Stmt = Stmt::written(
    "job.lanes_due",
    "SELECT t.chain, t.signer FROM job j JOIN chain_tx t ON t.tenant = j.tenant AND t.id = j.subject \
     WHERE j.kind = 'transmit' AND j.run_at <= {{now}} AND (j.leased_until IS NULL OR j.leased_until <= {{now}}) \
     GROUP BY t.chain, t.signer ORDER BY MIN(j.run_at), t.chain, t.signer LIMIT $2",
);
static LEASE_LANE: Stmt = Stmt::written(
    "job.lease_lane",
    "WITH due AS (SELECT j.tenant, j.subject FROM job j WHERE j.kind = 'transmit' AND j.run_at <= {{now}} \
     AND (j.leased_until IS NULL OR j.leased_until <= {{now}}) AND EXISTS (SELECT 1 FROM chain_tx t \
     WHERE t.tenant = j.tenant AND t.id = j.subject AND t.chain = $2 AND t.signer = $3) ORDER BY j.run_at LIMIT $4 {{skip_locked}}) \
     UPDATE job SET fence = fence + 1, leased_until = {{now}} + $5, leased_by = $6 \
     FROM due WHERE job.tenant = due.tenant AND job.subject = due.subject RETURNING {{job job}}",
);
static LANE_HOLDERS: Stmt = Stmt::written(
    "job.lane_holders",
    "SELECT DISTINCT t.chain, t.signer, j.leased_by FROM job j JOIN chain_tx t ON t.tenant = j.tenant AND t.id = j.subject \
     WHERE j.kind = 'transmit' AND j.leased_until > {{now}} AND j.leased_by IS NOT NULL ORDER BY t.chain, t.signer, j.leased_by",
);
static GIVE_BACK: Stmt = Stmt::written(
    "job.give_back",
    "UPDATE job SET leased_until = NULL, leased_by = NULL \
     WHERE kind = $2 AND leased_by = $3 AND leased_until > {{now}}",
);
static IS_DUE: Stmt = Stmt::written(
    "job.is_due",
    "SELECT j.run_at FROM job j WHERE j.kind = $2 AND j.run_at <= {{now}} \
     AND (j.leased_until IS NULL OR j.leased_until <= {{now}}) LIMIT 1",
);
// All kinds at once, each with one look into its index.
static KINDS_DUE: Stmt = Stmt::written(
    "job.kinds_due",
    "WITH k (kind) AS (VALUES ('submit'), ('inquire'), ('review'), ('expire_request'), ('screen'), ('review_deposit'), \
     ('recall'), ('send_intent'), ('sweep'), ('transmit'), ('exchange'), ('payout'), ('inquire_payout'), ('wallet_timer'), \
     ('deliver')) SELECT k.kind FROM k WHERE EXISTS (SELECT 1 FROM job j WHERE j.kind = k.kind \
     AND j.run_at <= {{now}} AND (j.leased_until IS NULL OR j.leased_until <= {{now}}))",
);
static NEXT_AT: Stmt = Stmt::written(
    "job.next_at",
    "SELECT j.run_at FROM job j WHERE j.kind = $2 AND (j.leased_until IS NULL OR j.leased_until <= {{now}}) \
     ORDER BY j.run_at LIMIT 1",
);
static COUNTS: Stmt = Stmt::written(
    "job.counts",
    "SELECT j.kind, COUNT(*), CAST(SUM(CASE WHEN j.run_at <= {{now}} THEN 1 ELSE 0 END) AS BIGINT), MIN(j.run_at) \
     FROM job j GROUP BY j.kind ORDER BY j.kind",
);

pub(crate) static STATEMENTS: &[&Stmt] = &[
    &LEASE,
    &LANES_DUE,
    &LEASE_LANE,
    &LANE_HOLDERS,
    &GIVE_BACK,
    &IS_DUE,
    &KINDS_DUE,
    &NEXT_AT,
    &COUNTS,
];

/// The number of jobs of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JobCount {
    pub kind: JobKind,
    /// How many, due or not, leased or not.
    pub count: i64,
    /// How many of them are due, leased or not.
    pub due: i64,
    /// When the oldest of them is or was due.
    pub oldest: Timestamp,
}

impl Store {
    /// Leases up to `limit` due jobs of these kinds that are free, for `lease`, across tenants,
    /// longest due first; each kind gets its share. A lease increases the job's fence.
    pub async fn lease_jobs(
        &self,
        kinds: &[JobKind],
        owner: &str,
        lease: Span,
        limit: usize,
    ) -> Result<Vec<Job>, StoreError> {
        let mut jobs = Vec::new();
        for (at, kind) in kinds.iter().enumerate() {
            // What one kind leaves of its share goes to the following ones.
            let share = (limit - jobs.len()).div_ceil(kinds.len() - at);
            jobs.extend(self.lease_kind(*kind, owner, lease, share).await?);
        }
        jobs.sort_by_key(|job| (job.run_at, job.tenant, job.subject));
        Ok(jobs)
    }

    async fn lease_kind(
        &self,
        kind: JobKind,
        owner: &str,
        lease: Span,
        limit: usize,
    ) -> Result<Vec<Job>, StoreError> {
        if limit == 0 {
            return Ok(Vec::new());
        }
        let keys = self.id_keys().await?;
        let (now, kind) = (self.now_param(), Value::from(kind.name()));
        let is_due = Step::any(&IS_DUE, vec![now.clone(), kind.clone()]);
        let lease = Step::any(&LEASE, vec![now, kind, most(limit), lease.0.into(), owner.into()]);
        let rows = self.write_if(is_due, vec![lease]).await?;
        read(rows.iter().flatten(), &keys)
    }

    /// The chains and signers of up to `limit` lanes with a due transaction.
    pub async fn lanes_due(&self, limit: usize) -> Result<Vec<(ChainNumber, Address)>, StoreError> {
        self.many(&LANES_DUE, (self.now_param(), most(limit))).await
    }

    /// Leases up to `limit` due `transmit` jobs of one signer's transactions on a chain, as
    /// [`Store::lease_jobs`] does. The caller leads the lane for longer than `lease`.
    pub async fn lease_lane(
        &self,
        (chain, signer): (ChainNumber, Address),
        owner: &str,
        lease: Span,
        limit: usize,
    ) -> Result<Vec<Job>, StoreError> {
        let (chain, signer) = (Value::from(i64::from(chain.0)), Value::from(signer.0.to_vec()));
        let params =
            vec![self.now_param(), chain, signer, most(limit), lease.0.into(), owner.into()];
        let mut jobs: Vec<Job> = self.write_many(vec![Step::any(&LEASE_LANE, params)]).await?;
        jobs.sort_by_key(|job| (job.run_at, job.tenant, job.subject));
        Ok(jobs)
    }

    /// Releases the jobs of a kind that `owner` still holds, so that others can lease them at once.
    /// The owner must not be working on them.
    pub async fn give_back(&self, kind: JobKind, owner: &str) -> Result<(), StoreError> {
        let params = vec![self.now_param(), kind.name().into(), owner.into()];
        self.write(vec![Step::any(&GIVE_BACK, params)]).await.map(drop)
    }

    /// The current holders of `transmit` jobs, by chain and signer.
    pub async fn lane_holders(&self) -> Result<Vec<((ChainNumber, Address), String)>, StoreError> {
        self.many(&LANE_HOLDERS, self.now_param()).await
    }

    /// The kinds with a due job that is free.
    pub async fn kinds_due(&self) -> Result<BTreeSet<JobKind>, StoreError> {
        let kinds: Vec<JobKind> = self.many(&KINDS_DUE, self.now_param()).await?;
        Ok(kinds.into_iter().collect())
    }

    /// When the next free job of these kinds is due; may be in the past.
    pub async fn next_job_at(&self, kinds: &[JobKind]) -> Result<Option<Timestamp>, StoreError> {
        let mut next: Option<Timestamp> = None;
        for kind in kinds {
            let at = self.one(&NEXT_AT, (self.now_param(), *kind)).await?;
            next = [next, at].into_iter().flatten().min();
        }
        Ok(next)
    }

    /// The number of waiting jobs, by kind.
    pub async fn job_counts(&self) -> Result<Vec<JobCount>, StoreError> {
        let counts: Vec<(JobKind, i64, i64, Timestamp)> =
            self.many(&COUNTS, self.now_param()).await?;
        let count = |(kind, count, due, oldest)| JobCount { kind, count, due, oldest };
        Ok(counts.into_iter().map(count).collect())
    }
}
