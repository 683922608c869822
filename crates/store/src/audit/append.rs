//! Appends an entry to a chain in the commit of an administrative change.

use domain::audit::{AuditContext, Entry, Hash, Head, Note};
use domain::ids::TenantId;
use domain::time::Timestamp;

use crate::driver::Step;
use crate::error::StoreError;
use crate::rows::Keys;
use crate::rows::record::{Record, whole_rows};
use crate::save;
use crate::sql::{Columns, Stmt};
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
    keys: &Keys,
) -> Result<Vec<Step>, StoreError> {
    let mut steps = Vec::with_capacity(2);
    if !entries.is_empty() {
        steps.push(Step::each(&save::AUDIT_ENTRY_INSERT, whole_rows(entries, keys)?));
    }
    let (kinds, stmt) = match old {
        Some(_) => (Head::table().update_columns().collect(), &save::AUDIT_HEAD_UPDATE),
        None => (Head::table().row_columns().collect::<Vec<_>>(), &save::AUDIT_HEAD_INSERT),
    };
    let mut head = Columns::new(kinds.into_iter(), 1);
    match &old {
        Some(old) => Head::write_change(&tenant, old, &new, keys, &mut head)?,
        None => Head::write(&tenant, &new, keys, &mut head)?,
    }
    steps.push(Step::each(stmt, head.into_owned()));
    Ok(steps)
}

fn too_many_writers() -> StoreError {
    StoreError::Unavailable("too many concurrent writes to the audit log".to_owned())
}

impl Store {
    /// The current time and the end of a chain; `None` = the chain has not started.
    pub(super) async fn audit_head_now(
        &self,
        tenant: TenantId,
    ) -> Result<(Timestamp, Option<Head>), StoreError> {
        let row = self.one(&HEAD_NOW, (self.now_param(), tenant)).await?;
        let (now, seq, hash): (_, Option<i64>, Option<Hash>) =
            row.ok_or_else(|| StoreError::Corrupt("the database returned no time".to_owned()))?;
        let head = seq.zip(hash).map(|(seq, hash)| Head { seq, hash });
        Ok((now, head))
    }

    /// Executes an administrative change and its audit entry in one commit.
    pub(crate) async fn noted(
        &self,
        tenant: TenantId,
        deed: AuditContext,
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
        Err(too_many_writers())
    }

    /// Same for an entry that quotes rows: `change` reads them after the end of the chain, and
    /// again if the chain grew in between.
    pub(crate) async fn noted_as_read<F>(
        &self,
        tenant: TenantId,
        deed: AuditContext,
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
        Err(too_many_writers())
    }

    /// One attempt; `false` = the chain grew in between, and nothing was changed.
    async fn note_once(
        &self,
        tenant: TenantId,
        (now, old): (Timestamp, Option<Head>),
        deed: AuditContext,
        note: Note,
        mut change: Vec<Step>,
    ) -> Result<bool, StoreError> {
        let mut head = old.unwrap_or_default();
        let entry = head.append(tenant, now, deed, note);
        change.extend(steps(tenant, &[entry], old, head, &*self.id_keys().await?)?);
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
    pub async fn append_audit(
        &self,
        tenant: TenantId,
        by: impl Into<AuditContext>,
        note: Note,
    ) -> Result<(), StoreError> {
        self.noted(tenant, by.into(), note, Vec::new()).await
    }
}
