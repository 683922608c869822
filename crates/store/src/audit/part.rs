//! Recomputes a chain in parts, for a page that may not read all of it at once.

use domain::audit::{ChainFault, Head, INSTALLATION, Mark, Walk};
use domain::ids::TenantId;
use domain::time::Timestamp;

use super::checkpoint::Checkpoint;
use super::verify::{Stopped, walk_on};
use crate::error::StoreError;
use crate::sql::Stmt;
use crate::store::Store;

// Entries are not looked through for owners that nothing else names: that would read every one of them.
static NAMED: Stmt = Stmt::written(
    "audit.named",
    "SELECT t.id FROM tenant t UNION SELECT h.tenant FROM audit_head h UNION SELECT c.tenant FROM audit_checkpoint c",
);

pub(super) static STATEMENTS: &[&Stmt] = &[&NAMED];

/// What was found out about a part of a chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditPart {
    /// The last entry that is as it was noted.
    pub good: Mark,
    /// What the chain's head says; `None` = there is none.
    pub head: Option<Head>,
    /// Whether the end was reached and fits.
    pub whole: bool,
    /// The newest good checkpoint, and when it was signed.
    pub signed: Option<(i64, Timestamp)>,
    /// Up to which entry a signature vouches for it; 0 = none does.
    pub proven: i64,
    /// The first thing that is wrong.
    pub fault: Option<ChainFault>,
}

impl Store {
    /// Whose chains there have to be: each tenant's, the installation's, and those that a head or a checkpoint names.
    ///
    /// # Errors
    /// The database cannot be reached.
    pub async fn audit_owners(&self) -> Result<Vec<TenantId>, StoreError> {
        let mut owners = vec![INSTALLATION];
        for row in self.query(&NAMED, Vec::new()).await? {
            owners.push(TenantId(row.fields().uuid()?));
        }
        owners.sort_unstable();
        owners.dedup();
        Ok(owners)
    }

    /// Recomputes at most `most` entries of a chain behind one that was found to be right ([`Mark::default`] is the
    /// chain's beginning), and compares them with the checkpoints of the store and of `outside`. Good are signatures of
    /// the keys in `trusted`. At the end of the chain its head is compared too.
    ///
    /// # Errors
    /// The database cannot be reached.
    pub async fn verify_audit_part(
        &self,
        tenant: TenantId,
        behind: Mark,
        outside: &[Checkpoint],
        trusted: &[[u8; 32]],
        most: i64,
    ) -> Result<AuditPart, StoreError> {
        let mut checkpoints = self.audit_checkpoints(tenant).await?;
        checkpoints.extend(outside.iter().filter(|it| it.tenant == tenant).cloned());
        let (good, bad): (Vec<_>, Vec<_>) = checkpoints.iter().partition(|it| it.is_signed_by(trusted));
        let mut walk = Walk::resumed(behind, good.iter().map(|it| it.mark()).collect());
        let stopped = walk_on(self, tenant, &mut walk, behind.seq, most).await?;
        let before = if behind.seq == 0 { self.before_the_first(tenant).await? } else { None };
        let unsigned = bad.iter().map(|it| it.seq).min().map(ChainFault::Signature);
        let fault = before.or(stopped.fault()).or(unsigned);
        let (_, head) = self.audit_head_now(tenant).await?;
        Ok(AuditPart {
            good: Mark { seq: walk.head().seq, hash: walk.head().hash },
            head,
            whole: stopped == Stopped::End && fault.is_none(),
            signed: good.iter().map(|it| (it.seq, it.at)).max(),
            proven: walk.proven(),
            fault,
        })
    }
}
