//! Verifies a chain in parts, for pages that must not read all of it at once.

use domain::audit::{ChainFault, Head, INSTALLATION, Mark, Walk};
use domain::ids::TenantId;
use domain::time::Timestamp;

use super::checkpoint::Checkpoint;
use super::verify::{Stopped, walk_on};
use crate::error::StoreError;
use crate::sql::Stmt;
use crate::store::Store;

// Entries are not scanned for owners that nothing else names: that would read every entry.
static NAMED: Stmt = Stmt::written(
    "audit.named",
    "SELECT t.id FROM tenant t UNION SELECT h.tenant FROM audit_head h UNION SELECT c.tenant FROM audit_checkpoint c",
);

pub(super) static STATEMENTS: &[&Stmt] = &[&NAMED];

/// The result of verifying a part of a chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditPart {
    /// The last intact entry.
    pub good: Mark,
    /// The chain's stored head; `None` = none.
    pub head: Option<Head>,
    /// Whether the end was reached and matches.
    pub whole: bool,
    /// The latest valid checkpoint, and when it was signed.
    pub signed: Option<(i64, Timestamp)>,
    /// The entry up to which a signature proves it; 0 = none does.
    pub proven: i64,
    /// The first fault; `None` if it is intact.
    pub fault: Option<ChainFault>,
}

impl Store {
    /// The owners that must have a chain: each tenant, the installation, and those that a head or a
    /// checkpoint names.
    pub async fn audit_owners(&self) -> Result<Vec<TenantId>, StoreError> {
        let mut owners = vec![INSTALLATION];
        owners.extend(self.many::<TenantId>(&NAMED, ()).await?);
        owners.sort_unstable();
        owners.dedup();
        Ok(owners)
    }

    /// Verifies up to `most` entries of a chain after one that is known to be intact
    /// ([`Mark::default`] is the chain's start), and compares them with the checkpoints of the
    /// store and of `outside`. Signatures by the keys in `trusted` are valid. At the end of the
    /// chain its head is compared too.
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
        let (good, bad): (Vec<_>, Vec<_>) =
            checkpoints.iter().partition(|it| it.is_signed_by(trusted));
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
