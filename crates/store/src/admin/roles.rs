//! Roles that one node holds at a time: a rail's collector, the quote expirer. A lease, renewed by
//! its owner, with a fence that increases whenever the owner changes. And the nodes that work: each
//! holds a lease of its own for as long as it does, whether or not it has any work.

use domain::time::{Span, Timestamp};

use crate::driver::Step;
use crate::error::StoreError;
use crate::sql::Stmt;
use crate::store::{Store, read};

// Saves a node that waits for a role a transaction that would change nothing.
static IS_FREE: Stmt = Stmt::written(
    "role.is_free",
    "SELECT CAST(1 AS BIGINT) WHERE NOT EXISTS (SELECT 1 FROM role_lease r \
     WHERE r.name = $2 AND r.owner <> $3 AND r.leased_until > {{now}})",
);
static LEASE: Stmt = Stmt::written(
    "role.lease",
    "INSERT INTO role_lease (name, owner, fence, leased_until) VALUES ($2, $3, 1, {{now}} + $4) \
     ON CONFLICT (name) DO UPDATE SET \
     fence = CASE WHEN role_lease.owner = excluded.owner THEN role_lease.fence ELSE role_lease.fence + 1 END, \
     owner = excluded.owner, leased_until = excluded.leased_until \
     WHERE role_lease.owner = excluded.owner OR role_lease.leased_until <= {{now}} RETURNING fence",
);
static ALL: Stmt = Stmt::written(
    "role.all",
    "SELECT name, owner, fence, leased_until FROM role_lease WHERE name NOT LIKE 'node:%' ORDER BY name",
);
static NODES: Stmt = Stmt::written(
    "role.nodes",
    "SELECT owner FROM role_lease WHERE name LIKE 'node:%' AND leased_until > {{now}} ORDER BY owner",
);

static RELEASE_JOBS: Stmt = Stmt::written(
    "role.release_jobs",
    "UPDATE job SET leased_until = NULL, leased_by = NULL WHERE leased_until > {{now}}",
);
static RELEASE_JOBS_OF: Stmt = Stmt::written(
    "role.release_jobs_of",
    "UPDATE job SET leased_until = NULL, leased_by = NULL WHERE leased_until > {{now}} AND leased_by = $2",
);
static RELEASE_ROLES_OF: Stmt = Stmt::written(
    "role.release_roles_of",
    "UPDATE role_lease SET leased_until = {{now}} WHERE leased_until > {{now}} AND owner = $2",
);
static RELEASE_ROLES: Stmt = Stmt::written(
    "role.release_roles",
    "UPDATE role_lease SET leased_until = {{now}} WHERE leased_until > {{now}}",
);

pub(crate) static STATEMENTS: &[&Stmt] = &[
    &IS_FREE,
    &LEASE,
    &ALL,
    &NODES,
    &RELEASE_JOBS,
    &RELEASE_ROLES,
    &RELEASE_JOBS_OF,
    &RELEASE_ROLES_OF,
];

/// The lease of a role.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoleLease {
    pub name: String,
    /// The node that holds it, or held it last.
    pub owner: String,
    /// Increases whenever the owner changes.
    pub fence: i64,
    /// Until when no other node may take it.
    pub leased_until: Timestamp,
}

/// The lease that a node holds while it works.
pub fn node_role(node: &str) -> String {
    format!("node:{node}")
}

impl Store {
    /// Takes or renews a role for `owner`; returns its fence, or `None` while another node holds
    /// it.
    pub async fn lease_role(
        &self,
        name: &str,
        owner: &str,
        lease: Span,
    ) -> Result<Option<i64>, StoreError> {
        let now = self.now_param();
        let is_free = Step::any(&IS_FREE, vec![now.clone(), name.into(), owner.into()]);
        let lease = Step::any(&LEASE, vec![now, name.into(), owner.into(), lease.0.into()]);
        let answers = self.write_if(is_free, vec![lease]).await?;
        Ok(read(answers.iter().flatten(), &*self.id_keys().await?)?.pop())
    }

    /// The leases of all roles that one node holds at a time, by name, expired ones included.
    pub async fn role_leases(&self) -> Result<Vec<RoleLease>, StoreError> {
        let leases: Vec<(String, String, i64, Timestamp)> = self.many(&ALL, ()).await?;
        let lease =
            |(name, owner, fence, leased_until)| RoleLease { name, owner, fence, leased_until };
        Ok(leases.into_iter().map(lease).collect())
    }

    /// Releases every role and job that any node holds. Only for callers that know that no node is
    /// running: the fences increase as on expiry, so a late result is stale.
    pub async fn release_leases(&self) -> Result<(), StoreError> {
        let steps =
            [&RELEASE_JOBS, &RELEASE_ROLES].map(|stmt| Step::any(stmt, vec![self.now_param()]));
        self.write(steps.into()).await.map(drop)
    }

    /// Releases every role and job that this node holds. Only for callers that know that it has ended.
    pub async fn release_leases_of(&self, node: &str) -> Result<(), StoreError> {
        let steps = [&RELEASE_JOBS_OF, &RELEASE_ROLES_OF]
            .map(|stmt| Step::any(stmt, vec![self.now_param(), node.into()]));
        self.write(steps.into()).await.map(drop)
    }

    /// The nodes that process jobs, whether or not there are any: those that hold their
    /// [`node_role`].
    pub async fn working_nodes(&self) -> Result<Vec<String>, StoreError> {
        self.many(&NODES, self.now_param()).await
    }
}
