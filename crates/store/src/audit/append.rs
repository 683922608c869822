//! Appends an entry to a chain in the commit of an administrative change.

use domain::audit::{Deed, Entry, Head, Note};
use domain::ids::TenantId;
use domain::time::Timestamp;

use crate::driver::{Step, StepParams};
use crate::error::StoreError;
use crate::rows;
use crate::save;
use crate::sql::{Columns, Stmt, audit_tables as tables};
use crate::store::Store;

/// Attempts at a change while other nodes or batches write to the same chain.
const TRIES_MAX: u32 = 8;

// The store's own time, as in every commit.
static HEAD_NOW: Stmt = Stmt::written(
    "audit.head_now",
    "SELECT {{now}}, h.seq, h.hash FROM (SELECT 1 AS one) o LEFT JOIN audit_head h ON h.tenant = $2",
);

pub(super) static STATEMENTS: &[&Stmt] = &[&HEAD_NOW];

/// The steps that append an entry: the entry, then the head, which is the last row that a
/// transaction locks.
pub(super) fn steps(
    tenant: TenantId,
    entries: &[Entry],
    old: Option<Head>,
    new: Head,
) -> Vec<Step> {
    let mut rows = Columns::new(tables::AUDIT_ENTRY.row_columns(), entries.len());
    entries.iter().for_each(|entry| rows::audit::write_entry(entry, &mut rows));
    let mut head = Columns::new(tables::AUDIT_HEAD.row_columns(), 1);
    let stmt = match old {
        Some(old) => {
            head = Columns::new(tables::AUDIT_HEAD.update_columns(), 1);
            rows::audit::write_head_change(tenant, &old, &new, &mut head);
            &save::AUDIT_HEAD_UPDATE
        }
        None => {
            rows::audit::write_head(tenant, &new, &mut head);
            &save::AUDIT_HEAD_INSERT
        }
    };
    let mut steps = Vec::with_capacity(2);
    if !entries.is_empty() {
        let affected = u64::try_from(entries.len()).ok();
        steps.push(Step {
            stmt: &save::AUDIT_ENTRY_INSERT,
            params: StepParams::Rows(rows),
            rows: affected,
        });
    }
    steps.push(Step { stmt, params: StepParams::Rows(head), rows: Some(1) });
    steps
}

fn busy() -> StoreError {
    StoreError::Unavailable("too many concurrent writes to the audit log".to_owned())
}

impl Store {
    /// The current time and the end of a chain; `None` = the chain has not started.
    pub(super) async fn audit_head_now(
        &self,
        tenant: TenantId,
    ) -> Result<(Timestamp, Option<Head>), StoreError> {
        let rows = self.query(&HEAD_NOW, vec![self.now_param(), tenant.0.into()]).await?;
        let row = rows
            .first()
            .ok_or_else(|| StoreError::Corrupt("the database returned no time".to_owned()))?;
        let mut fields = row.fields();
        let now = Timestamp(fields.int()?);
        let head = match fields.opt_int()? {
            Some(seq) => Some(Head { seq, hash: rows::fixed(&mut fields)? }),
            None => None,
        };
        Ok((now, head))
    }

    /// Executes an administrative change and its audit entry in one commit.
    pub(crate) async fn noted(
        &self,
        tenant: TenantId,
        deed: Deed,
        note: Note,
        change: Vec<Step>,
    ) -> Result<(), StoreError> {
        let _turn = self.turn_to_note().await;
        for _ in 0..TRIES_MAX {
            let seen = self.audit_head_now(tenant).await?;
            if self.note_once(tenant, seen, deed.clone(), note.clone(), change.clone()).await? {
                return Ok(());
            }
        }
        Err(busy())
    }

    /// Same for an entry that quotes rows: `change` reads them after the end of the chain, and
    /// again if the chain grew in between.
    pub(crate) async fn noted_as_read<F>(
        &self,
        tenant: TenantId,
        deed: Deed,
        change: impl Fn() -> F + Send + Sync,
    ) -> Result<(), StoreError>
    where
        F: Future<Output = Result<(Note, Vec<Step>), StoreError>> + Send,
    {
        let _turn = self.turn_to_note().await;
        for _ in 0..TRIES_MAX {
            let seen = self.audit_head_now(tenant).await?;
            let (note, steps) = change().await?;
            if self.note_once(tenant, seen, deed.clone(), note, steps).await? {
                return Ok(());
            }
        }
        Err(busy())
    }

    /// One attempt; `false` = the chain grew in between, and nothing was changed.
    async fn note_once(
        &self,
        tenant: TenantId,
        (now, old): (Timestamp, Option<Head>),
        deed: Deed,
        note: Note,
        mut change: Vec<Step>,
    ) -> Result<bool, StoreError> {
        let mut head = old.unwrap_or_default();
        let entry = head.append(tenant, now, deed, note);
        change.extend(steps(tenant, &[entry], old, head));
        match self.write(change).await {
            // If the chain is unchanged, the change itself caused the conflict.
            Err(StoreError::Conflict(why)) if self.audit_head_now(tenant).await?.1 == old => {
                Err(StoreError::Conflict(why))
            }
            Err(StoreError::Conflict(_)) => Ok(false),
            other => other.map(|_| true),
        }
    }

    /// Records an action that changes nothing else in the store: a sign-in, an export.
    ///
    /// # Errors
    /// The database cannot be reached.
    pub async fn note_deed(
        &self,
        tenant: TenantId,
        by: impl Into<Deed>,
        note: Note,
    ) -> Result<(), StoreError> {
        self.noted(tenant, by.into(), note, Vec::new()).await
    }
}
