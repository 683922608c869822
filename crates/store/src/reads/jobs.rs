//! Jobs: leasing those that are due, and counting those that wait.

use std::collections::BTreeSet;

use domain::chain::{Address, ChainNumber};
use domain::ids::TenantId;
use domain::job::{Job, JobKind};
use domain::time::{Span, Timestamp};

use uuid::Uuid;

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
/// The chain of a job's record; the records of other kinds need no chain, or do not name it.
macro_rules! chain_of_job {
    () => {
        "CASE j.kind \
         WHEN 'screen' THEN (SELECT r.chain FROM deposit r WHERE r.tenant = j.tenant AND r.id = j.subject) \
         WHEN 'wallet_timer' THEN (SELECT r.chain FROM wallet r WHERE r.tenant = j.tenant AND r.id = j.subject) \
         WHEN 'send_intent' THEN (SELECT r.chain FROM chain_intent r WHERE r.tenant = j.tenant AND r.id = j.subject) \
         WHEN 'transmit' THEN (SELECT r.chain FROM chain_tx r WHERE r.tenant = j.tenant AND r.id = j.subject) END"
    };
}
static LEASE_ON: Stmt = Stmt::written(
    "job.lease_on",
    concat!(
        "WITH due AS (SELECT j.tenant, j.subject FROM job j WHERE j.kind = $2 AND j.run_at <= {{now}} \
         AND (j.leased_until IS NULL OR j.leased_until <= {{now}}) AND $6 LIKE '%,' || CAST(",
        chain_of_job!(),
        " AS TEXT) || ',%' ORDER BY j.run_at LIMIT $3 {{skip_locked}}) \
         UPDATE job SET fence = fence + 1, leased_until = {{now}} + $4, leased_by = $5 \
         FROM due WHERE job.tenant = due.tenant AND job.subject = due.subject RETURNING {{job job}}"
    ),
);
static IS_DUE_ON: Stmt = Stmt::written(
    "job.is_due_on",
    concat!(
        "SELECT j.run_at FROM job j WHERE j.kind = $2 AND j.run_at <= {{now}} \
         AND (j.leased_until IS NULL OR j.leased_until <= {{now}}) AND $3 LIKE '%,' || CAST(",
        chain_of_job!(),
        " AS TEXT) || ',%' LIMIT 1"
    ),
);
static COUNTS_ON: Stmt = Stmt::written(
    "job.counts_on",
    concat!(
        "SELECT x.chain, COUNT(*) FROM (SELECT ",
        chain_of_job!(),
        " AS chain FROM job j WHERE j.kind IN ('screen', 'wallet_timer', 'send_intent', 'transmit')) x \
         WHERE x.chain IS NOT NULL GROUP BY x.chain ORDER BY x.chain"
    ),
);
static HAS: Stmt = Stmt::written(
    "job.has",
    "SELECT COUNT(*) FROM job j WHERE j.tenant = $1 AND j.subject = $2 AND j.kind = $3",
);
// Their subjects name tenant, chain and coin, which only the caller can tell.
static SWEEPS_DUE: Stmt = Stmt::written(
    "job.sweeps_due",
    "SELECT j.tenant, j.subject FROM job j WHERE j.kind = 'sweep' AND j.run_at <= {{now}} \
     AND (j.leased_until IS NULL OR j.leased_until <= {{now}}) ORDER BY j.run_at",
);
static LEASE_ONE: Stmt = Stmt::written(
    "job.lease_one",
    "UPDATE job SET fence = fence + 1, leased_until = {{now}} + $5, leased_by = $6 \
     WHERE job.kind = $2 AND job.tenant = $3 AND job.subject = $4 AND job.run_at <= {{now}} \
     AND (job.leased_until IS NULL OR job.leased_until <= {{now}}) RETURNING {{job job}}",
);
// The signers whose transactions are due, longest first; and leasing those of one signer.
static LANES_DUE: Stmt = Stmt::written(
    "job.lanes_due",
    "SELECT t.chain, t.signer FROM job j JOIN chain_tx t ON t.tenant = j.tenant AND t.id = j.subject \
     WHERE j.kind = 'transmit' AND j.run_at <= {{now}} AND (j.leased_until IS NULL OR j.leased_until <= {{now}}) \
     AND $3 LIKE '%,' || CAST(t.chain AS TEXT) || ',%' \
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
// The tenants whose deliveries are due, longest first, each with one look into the index; and leasing
// those of one tenant.
static TENANTS_DUE: Stmt = Stmt::written(
    "job.tenants_due",
    "SELECT x.tenant FROM (SELECT t.id AS tenant, (SELECT j.run_at FROM job j WHERE j.tenant = t.id AND j.kind = 'deliver' \
     AND j.run_at <= {{now}} AND (j.leased_until IS NULL OR j.leased_until <= {{now}}) ORDER BY j.run_at LIMIT 1) AS at \
     FROM tenant t) x WHERE x.at IS NOT NULL ORDER BY x.at, x.tenant",
);
static LEASE_OF_TENANT: Stmt = Stmt::written(
    "job.lease_of_tenant",
    "WITH due AS (SELECT j.tenant, j.subject FROM job j WHERE j.tenant = $2 AND j.kind = 'deliver' AND j.run_at <= {{now}} \
     AND (j.leased_until IS NULL OR j.leased_until <= {{now}}) ORDER BY j.run_at LIMIT $3 {{skip_locked}}) \
     UPDATE job SET fence = fence + 1, leased_until = {{now}} + $4, leased_by = $5 \
     FROM due WHERE job.tenant = due.tenant AND job.subject = due.subject RETURNING {{job job}}",
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
    concat!(
        "WITH k (kind) AS (VALUES ('submit'), ('inquire'), ('review'), ('expire_request'), ('screen'), ('review_deposit'), \
     ('recall'), ('send_intent'), ('sweep'), ('transmit'), ('exchange'), ('payout'), ('inquire_payout'), ('wallet_timer'), \
     ('deliver')) SELECT k.kind FROM k WHERE EXISTS (SELECT 1 FROM job j WHERE j.kind = k.kind \
     AND j.run_at <= {{now}} AND (j.leased_until IS NULL OR j.leased_until <= {{now}}) \
     AND $2 LIKE '%,' || CAST(COALESCE(",
        chain_of_job!(),
        ", 0) AS TEXT) || ',%')"
    ),
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
    &LEASE_ON,
    &IS_DUE_ON,
    &COUNTS_ON,
    &HAS,
    &SWEEPS_DUE,
    &LEASE_ONE,
    &LANES_DUE,
    &LEASE_LANE,
    &LANE_HOLDERS,
    &TENANTS_DUE,
    &LEASE_OF_TENANT,
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

    /// Leases due jobs of one kind about records of these chains, as [`Store::lease_jobs`] does.
    pub async fn lease_jobs_on(
        &self,
        kind: JobKind,
        chains: &[ChainNumber],
        owner: &str,
        lease: Span,
        limit: usize,
    ) -> Result<Vec<Job>, StoreError> {
        let keys = self.id_keys().await?;
        let (now, kind, chains) = (self.now_param(), Value::from(kind.name()), listed(chains));
        let is_due = Step::any(&IS_DUE_ON, vec![now.clone(), kind.clone(), chains.clone()]);
        let params = vec![now, kind, most(limit), lease.0.into(), owner.into(), chains];
        let rows = self.write_if(is_due, vec![Step::any(&LEASE_ON, params)]).await?;
        let mut jobs: Vec<Job> = read(rows.iter().flatten(), &keys)?;
        jobs.sort_by_key(|job| (job.run_at, job.tenant, job.subject));
        Ok(jobs)
    }

    /// The tenants and subjects of the due `sweep` jobs, longest due first.
    pub async fn sweeps_due(&self) -> Result<Vec<(TenantId, Uuid)>, StoreError> {
        self.many(&SWEEPS_DUE, self.now_param()).await
    }

    /// Leases one job, as [`Store::lease_jobs`] does; `None` = it is not due or not free.
    pub async fn lease_job(
        &self,
        (tenant, subject): (TenantId, Uuid),
        kind: JobKind,
        owner: &str,
        lease: Span,
    ) -> Result<Option<Job>, StoreError> {
        let subject = self.id_keys().await?.stored(subject);
        let params = vec![
            self.now_param(),
            kind.name().into(),
            tenant.0.into(),
            subject.into(),
            lease.0.into(),
            owner.into(),
        ];
        Ok(self.write_many(vec![Step::any(&LEASE_ONE, params)]).await?.pop())
    }

    /// The number of waiting jobs about a chain's records, due or not. Sweeps are not among them.
    pub async fn job_counts_by_chain(&self) -> Result<Vec<(ChainNumber, i64)>, StoreError> {
        self.many(&COUNTS_ON, ()).await
    }

    /// Whether there is a job of this kind, due or not.
    pub async fn has_job(
        &self,
        (tenant, subject): (TenantId, Uuid),
        kind: JobKind,
    ) -> Result<bool, StoreError> {
        Ok(self.only::<i64>(&HAS, (tenant, subject, kind)).await? > 0)
    }

    /// The signers of up to `limit` lanes on these chains with a due transaction.
    pub async fn lanes_due(
        &self,
        chains: &[ChainNumber],
        limit: usize,
    ) -> Result<Vec<(ChainNumber, Address)>, StoreError> {
        self.many(&LANES_DUE, (self.now_param(), most(limit), listed(chains))).await
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

    /// The tenants that have due `deliver` jobs, longest due first.
    pub async fn tenants_with_deliveries(&self) -> Result<Vec<TenantId>, StoreError> {
        self.many(&TENANTS_DUE, self.now_param()).await
    }

    /// Leases due `deliver` jobs of these tenants, at most so many of each, as
    /// [`Store::lease_jobs`] does.
    pub async fn lease_deliveries(
        &self,
        shares: &[(TenantId, usize)],
        owner: &str,
        lease: Span,
    ) -> Result<Vec<Job>, StoreError> {
        let step = |(tenant, limit): &(TenantId, usize)| {
            let params =
                vec![self.now_param(), tenant.0.into(), most(*limit), lease.0.into(), owner.into()];
            Step::any(&LEASE_OF_TENANT, params)
        };
        let mut jobs: Vec<Job> = self.write_many(shares.iter().map(step).collect()).await?;
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

    /// The kinds with a due job that is free and needs none but these chains.
    pub async fn kinds_due(&self, chains: &[ChainNumber]) -> Result<BTreeSet<JobKind>, StoreError> {
        let chains = listed(&[&[ChainNumber::NONE], chains].concat());
        let kinds: Vec<JobKind> = self.many(&KINDS_DUE, (self.now_param(), chains)).await?;
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

/// The chains' numbers between commas.
fn listed(chains: &[ChainNumber]) -> Value {
    let numbers: String = chains.iter().map(|chain| format!("{},", chain.0)).collect();
    format!(",{numbers}").into()
}
