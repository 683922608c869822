//! Recomputes chains and compares them with their heads and with what was signed.

use std::collections::{BTreeMap, BTreeSet};

use domain::audit::{ChainFault, INSTALLATION, Walk};
use domain::ids::TenantId;

use super::checkpoint::Checkpoint;
use crate::error::StoreError;
use crate::rows;
use crate::sql::Stmt;
use crate::store::Store;

/// Entries that are read at a time.
const PAGE: i64 = 1_000;

static BEHIND: Stmt = Stmt::written(
    "audit.behind",
    "SELECT {{audit_entry a}} FROM audit_entry a WHERE a.tenant = $1 AND a.seq > $2 ORDER BY a.seq LIMIT $3",
);
static BEFORE: Stmt =
    Stmt::written("audit.before", "SELECT a.seq FROM audit_entry a WHERE a.tenant = $1 AND a.seq < 1 LIMIT 1");
static OWNERS: Stmt = Stmt::written(
    "audit.owners",
    "SELECT t.id FROM tenant t UNION SELECT h.tenant FROM audit_head h \
     UNION SELECT c.tenant FROM audit_checkpoint c UNION SELECT a.tenant FROM audit_entry a",
);

pub(super) static STATEMENTS: &[&Stmt] = &[&BEHIND, &BEFORE, &OWNERS];

/// What was found out about one chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditVerdict {
    /// Whose chain.
    pub tenant: TenantId,
    /// How many entries are as they were noted, from the first.
    pub entries: i64,
    /// Hash of the last of them.
    pub hash: domain::audit::Hash,
    /// Checkpoints that it was compared with.
    pub checkpoints: usize,
    /// Up to which entry a signature vouches for it; 0 = none does.
    pub proven: i64,
    /// The first thing that is wrong with it.
    pub fault: Option<ChainFault>,
}

/// What was found out about all of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditReport {
    /// Chain by chain.
    pub chains: Vec<AuditVerdict>,
}

impl AuditReport {
    /// Whether nothing is wrong.
    pub fn is_whole(&self) -> bool {
        self.chains.iter().all(|chain| chain.fault.is_none())
    }
}

/// Follows a chain to its end; `Err` inside = the first thing that is wrong with it, and how far it was well.
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
    /// At its end, which fits.
    End,
    /// At the first thing that is wrong.
    Fault(ChainFault),
    /// After as many entries as were to be looked at.
    Limit,
}

impl Stopped {
    /// What is wrong.
    pub(super) const fn fault(self) -> Option<ChainFault> {
        match self {
            Stopped::Fault(fault) => Some(fault),
            Stopped::End | Stopped::Limit => None,
        }
    }
}

/// The same over `most` entries, keeping how far it came.
pub(super) async fn walk_on(
    store: &Store,
    tenant: TenantId,
    walk: &mut Walk,
    begin: i64,
    most: i64,
) -> Result<Stopped, StoreError> {
    let mut last = begin;
    let mut said = None;
    loop {
        let page = PAGE.min(begin.saturating_add(most) - last);
        if page <= 0 {
            return Ok(Stopped::Limit);
        }
        let rows = store.query(&BEHIND, vec![tenant.0.into(), last.into(), page.into()]).await?;
        for row in &rows {
            // A row that this program cannot have written was written by somebody else.
            let passed = match rows::audit::read_entry(&mut row.fields()) {
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
        // Entries and head are one commit: a head that is read behind the last page is not behind it, and what was
        // added between the two is there when the page is read again.
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
    /// Recomputes the chain of one tenant, or every chain, and compares it with its head, with the checkpoints that the
    /// store has, and with those from `outside`. Good are signatures of the keys in `trusted`.
    ///
    /// # Errors
    /// The database cannot be reached.
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
                for row in self.query(&OWNERS, Vec::new()).await? {
                    owners.insert(TenantId(row.fields().uuid()?));
                }
                owners
            }
        };
        let mut chains = Vec::with_capacity(owners.len());
        for owner in owners {
            chains.push(self.verify_chain(owner, given.remove(&owner).unwrap_or_default(), trusted).await?);
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
        let (good, bad): (Vec<_>, Vec<_>) = checkpoints.iter().partition(|it| it.is_signed_by(trusted));
        let mut walk = Walk::new(good.iter().map(|it| it.mark()).collect());
        let mut fault = walk_on(self, tenant, &mut walk, 0, i64::MAX).await?.fault();
        fault = self.before_the_first(tenant).await?.or(fault);
        let unsigned = bad.iter().map(|it| it.seq).min().map(ChainFault::Signature);
        let (entries, hash, proven) = (walk.head().seq, walk.head().hash, walk.proven());
        Ok(AuditVerdict { tenant, entries, hash, checkpoints: good.len(), proven, fault: fault.or(unsigned) })
    }
    /// An entry that stands before the first one: none of ours does.
    pub(super) async fn before_the_first(&self, tenant: TenantId) -> Result<Option<ChainFault>, StoreError> {
        let rows = self.query(&BEFORE, vec![tenant.0.into()]).await?;
        rows.first().map(|row| Ok(ChainFault::Changed(row.fields().int()?))).transpose()
    }
}
