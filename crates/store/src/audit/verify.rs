//! Verifies chains against their heads and checkpoints.

use std::collections::{BTreeMap, BTreeSet};

use domain::audit::{ChainFault, Entry, INSTALLATION, Walk};
use domain::ids::TenantId;

use super::checkpoint::Checkpoint;
use crate::error::StoreError;
use crate::rows::column::Get as _;
use crate::sql::Stmt;
use crate::store::Store;

/// Entries read at once.
const PAGE: i64 = 1_000;

static BEHIND: Stmt = Stmt::written(
    "audit.behind",
    "SELECT {{audit_entry a}} FROM audit_entry a WHERE a.tenant = $1 AND a.seq > $2 ORDER BY a.seq LIMIT $3",
);
static BEFORE: Stmt = Stmt::written(
    "audit.before",
    "SELECT a.seq FROM audit_entry a WHERE a.tenant = $1 AND a.seq < 1 LIMIT 1",
);
static OWNERS: Stmt = Stmt::written(
    "audit.owners",
    "SELECT t.id FROM tenant t UNION SELECT h.tenant FROM audit_head h \
     UNION SELECT c.tenant FROM audit_checkpoint c UNION SELECT a.tenant FROM audit_entry a",
);

pub(super) static STATEMENTS: &[&Stmt] = &[&BEHIND, &BEFORE, &OWNERS];

/// The result of verifying one chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditVerdict {
    pub tenant: TenantId,
    /// Number of intact entries, from the first.
    pub entries: i64,
    /// Hash of the last intact entry.
    pub hash: domain::audit::Hash,
    /// Number of checkpoints compared.
    pub checkpoints: usize,
    /// The entry up to which a signature proves it; 0 = none does.
    pub proven: i64,
    /// The first fault; `None` if it is intact.
    pub fault: Option<ChainFault>,
}

/// The result of verifying all chains.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditReport {
    /// The result per chain.
    pub chains: Vec<AuditVerdict>,
}

impl AuditReport {
    /// Whether no fault was found.
    pub fn is_whole(&self) -> bool {
        self.chains.iter().all(|chain| chain.fault.is_none())
    }
}

/// Follows a chain to its end; the inner `Err` holds the first fault and the last intact position.
pub(super) async fn follow(
    store: &Store,
    tenant: TenantId,
    mut walk: Walk,
    begin: i64,
) -> Result<Result<Walk, ChainFault>, StoreError> {
    let stopped = walk_on(store, tenant, &mut walk, begin, i64::MAX).await?;
    Ok(match stopped {
        Stopped::End | Stopped::Limit => Ok(walk),
        Stopped::Fault(fault) => Err(fault),
    })
}

/// Where the walk along a chain stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stopped {
    /// At its end, which matches.
    End,
    /// At the first fault.
    Fault(ChainFault),
    /// After the maximum number of entries.
    Limit,
}

impl Stopped {
    /// The fault, if any.
    pub(super) const fn fault(self) -> Option<ChainFault> {
        match self {
            Stopped::Fault(fault) => Some(fault),
            Stopped::End | Stopped::Limit => None,
        }
    }
}

/// Same over `most` entries, tracking its position.
pub(super) async fn walk_on(
    store: &Store,
    tenant: TenantId,
    walk: &mut Walk,
    begin: i64,
    most: i64,
) -> Result<Stopped, StoreError> {
    let mut last = begin;
    let mut said = None;
    let keys = store.id_keys().await?;
    loop {
        let page = PAGE.min(begin.saturating_add(most) - last);
        if page <= 0 {
            return Ok(Stopped::Limit);
        }
        let rows = store.query(&BEHIND, vec![tenant.0.into(), last.into(), page.into()]).await?;
        for row in &rows {
            // A row that this program cannot have written was written by another party.
            let passed = match Entry::get(&mut row.fields(), &keys) {
                Ok(entry) => walk.pass(&entry),
                Err(StoreError::Corrupt(_)) => Err(ChainFault::Changed(walk.head().seq + 1)),
                Err(error) => return Err(error),
            };
            if let Err(fault) = passed {
                return Ok(Stopped::Fault(fault));
            }
        }
        last = walk.head().seq.max(begin);
        if !rows.is_empty() {
            continue;
        }
        // Entries and head are one commit: a head read after the last page cannot precede it, and
        // entries added in between appear when the page is read again.
        let (_, head) = store.audit_head_now(tenant).await?;
        let Some(head) = head else { return Ok(Stopped::Fault(ChainFault::Gone)) };
        if head.seq > last && said != Some(head) {
            said = Some(head);
            continue;
        }
        return Ok(walk.end(head).map_or_else(Stopped::Fault, |()| Stopped::End));
    }
}

impl Store {
    /// Verifies the chain of one tenant, or all chains, against the head, the stored checkpoints,
    /// and those from `outside`. Signatures by the keys in `trusted` are valid.
    pub async fn verify_audit(
        &self,
        tenant: Option<TenantId>,
        outside: &[Checkpoint],
        trusted: &[[u8; 32]],
    ) -> Result<AuditReport, StoreError> {
        let mut given: BTreeMap<TenantId, Vec<Checkpoint>> = BTreeMap::new();
        for checkpoint in outside {
            given.entry(checkpoint.tenant).or_default().push(checkpoint.clone());
        }
        let owners = match tenant {
            Some(tenant) => BTreeSet::from([tenant]),
            None => {
                let mut owners: BTreeSet<TenantId> = given.keys().copied().collect();
                owners.insert(INSTALLATION);
                owners.extend(self.many::<TenantId>(&OWNERS, ()).await?);
                owners
            }
        };
        let mut chains = Vec::with_capacity(owners.len());
        for owner in owners {
            chains.push(
                self.verify_chain(owner, given.remove(&owner).unwrap_or_default(), trusted).await?,
            );
        }
        Ok(AuditReport { chains })
    }

    async fn verify_chain(
        &self,
        tenant: TenantId,
        outside: Vec<Checkpoint>,
        trusted: &[[u8; 32]],
    ) -> Result<AuditVerdict, StoreError> {
        let mut checkpoints = self.audit_checkpoints(tenant).await?;
        checkpoints.extend(outside);
        let (good, bad): (Vec<_>, Vec<_>) =
            checkpoints.iter().partition(|it| it.is_signed_by(trusted));
        let mut walk = Walk::new(good.iter().map(|it| it.mark()).collect());
        let mut fault = walk_on(self, tenant, &mut walk, 0, i64::MAX).await?.fault();
        fault = self.before_the_first(tenant).await?.or(fault);
        let unsigned = bad.iter().map(|it| it.seq).min().map(ChainFault::Signature);
        let (entries, hash, proven) = (walk.head().seq, walk.head().hash, walk.proven());
        Ok(AuditVerdict {
            tenant,
            entries,
            hash,
            checkpoints: good.len(),
            proven,
            fault: fault.or(unsigned),
        })
    }
    /// An entry before the first one, which this program never writes.
    pub(super) async fn before_the_first(
        &self,
        tenant: TenantId,
    ) -> Result<Option<ChainFault>, StoreError> {
        Ok(self.one(&BEFORE, tenant).await?.map(ChainFault::Changed))
    }
}
