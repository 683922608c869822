//! Jobs: taking those that are due, and looking at those that wait.

use domain::job::{Job, JobKind};
use domain::time::{Span, Timestamp};

use crate::driver::Step;
use crate::error::StoreError;
use crate::rows;
use crate::sql::{Stmt, Value};
use crate::store::Store;

// The rows are chosen and locked first, once: a worker passes over those that another worker is taking.
static LEASE: Stmt = Stmt::written(
    "job.lease",
    "WITH due AS (SELECT j.tenant, j.subject FROM job j WHERE j.kind = $2 AND j.run_at <= {{now}} \
     AND (j.leased_until IS NULL OR j.leased_until <= {{now}}) ORDER BY j.run_at LIMIT $3 {{skip_locked}}) \
     UPDATE job SET fence = fence + 1, leased_until = {{now}} + $4, leased_by = $5 \
     FROM due WHERE job.tenant = due.tenant AND job.subject = due.subject RETURNING {{job job}}",
);
static IS_DUE: Stmt = Stmt::written(
    "job.is_due",
    "SELECT j.run_at FROM job j WHERE j.kind = $2 AND j.run_at <= {{now}} \
     AND (j.leased_until IS NULL OR j.leased_until <= {{now}}) LIMIT 1",
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

pub(crate) static STATEMENTS: &[&Stmt] = &[&LEASE, &IS_DUE, &NEXT_AT, &COUNTS];

/// How many jobs of a kind there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JobCount {
    /// The kind.
    pub kind: JobKind,
    /// How many, due or not, taken or not.
    pub count: i64,
    /// How many of them are due, taken or not.
    pub due: i64,
    /// When the oldest of them is or was due.
    pub oldest: Timestamp,
}

impl Store {
    /// Takes up to `limit` due jobs of these kinds that nobody holds, for `lease`, across tenants, the longest due
    /// first; each kind gets its share. Taking a job raises its fence.
    ///
    /// # Errors
    /// The database cannot be reached.
    pub async fn lease_jobs(
        &self,
        kinds: &[JobKind],
        owner: &str,
        lease: Span,
        limit: usize,
    ) -> Result<Vec<Job>, StoreError> {
        let mut jobs = Vec::new();
        for (at, kind) in kinds.iter().enumerate() {
            // What one kind leaves of its share goes to those behind it.
            let share = (limit - jobs.len()).div_ceil(kinds.len() - at);
            jobs.extend(self.lease_kind(*kind, owner, lease, share).await?);
        }
        jobs.sort_by_key(|job| (job.run_at, job.tenant, job.subject));
        Ok(jobs)
    }

    async fn lease_kind(&self, kind: JobKind, owner: &str, lease: Span, limit: usize) -> Result<Vec<Job>, StoreError> {
        if limit == 0 {
            return Ok(Vec::new());
        }
        let keys = self.id_keys().await?;
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let (now, kind) = (self.now_param(), Value::from(kind.name()));
        let is_due = Step::any(&IS_DUE, vec![now.clone(), kind.clone()]);
        let lease = Step::any(&LEASE, vec![now, kind, limit.into(), lease.0.into(), owner.into()]);
        let rows = self.write_if(is_due, vec![lease]).await?.into_iter().flatten();
        rows.map(|row| rows::job::read(&mut row.fields(), &keys)).collect()
    }

    /// When the next job of these kinds that nobody holds is due; may be past.
    ///
    /// # Errors
    /// The database cannot be reached.
    pub async fn next_job_at(&self, kinds: &[JobKind]) -> Result<Option<Timestamp>, StoreError> {
        let mut next = None;
        for kind in kinds {
            let rows = self.query(&NEXT_AT, vec![self.now_param(), kind.name().into()]).await?;
            let Some(row) = rows.first() else { continue };
            let at = Timestamp(row.fields().int()?);
            next = Some(next.map_or(at, |sooner: Timestamp| sooner.min(at)));
        }
        Ok(next)
    }

    /// How many jobs wait, by kind.
    ///
    /// # Errors
    /// The database cannot be reached, or a row is not readable.
    pub async fn job_counts(&self) -> Result<Vec<JobCount>, StoreError> {
        let rows = self.query(&COUNTS, vec![self.now_param()]).await?;
        rows.iter()
            .map(|row| {
                let mut fields = row.fields();
                Ok(JobCount {
                    kind: fields.named("job kind", JobKind::parse)?,
                    count: fields.int()?,
                    due: fields.int()?,
                    oldest: Timestamp(fields.int()?),
                })
            })
            .collect()
    }
}
