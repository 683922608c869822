//! Lists audit log entries, newest first.

use domain::audit::Entry;
use domain::ids::TenantId;
use domain::time::Timestamp;
use uuid::Uuid;

use crate::error::StoreError;
use crate::reads::page::most;
use crate::sql::{Stmt, Value};
use crate::store::Store;

/// Maximum number of entries per page.
pub const AUDIT_LIST_MAX: usize = 1_000;

macro_rules! filtered {
    ($name:literal, $from:literal, $order:literal) => {
        Stmt::written(
            $name,
            concat!(
                "SELECT {{audit_entry a}} FROM audit_entry a WHERE ",
                $from,
                " AND (CAST($4 AS TEXT) IS NULL OR a.who = $4 OR a.behalf = $4 OR a.second = $4)",
                " AND (CAST($5 AS TEXT) IS NULL OR a.action = $5 OR SUBSTR(a.action, 1, LENGTH($5) + 1) = $5 || '.')",
                " AND (CAST($6 AS TEXT) IS NULL OR a.subject = $6)",
                " AND (CAST($10 AS TEXT) IS NULL OR a.request_id = $10)",
                " AND ($11 = '' OR a.via = 'console' OR a.via = 'cli')",
                " AND a.at >= $7 AND a.at < $8 ORDER BY ",
                $order,
                " LIMIT $9"
            ),
        )
    };
}

// Parameter 2 is not needed for a single chain: its numbers define its order.
static OF_TENANT: Stmt = filtered!(
    "audit.of_tenant",
    "a.tenant = $1 AND CAST($2 AS BIGINT) IS NOT NULL AND a.seq < $3",
    "a.seq DESC"
);
static OF_ALL: Stmt = filtered!(
    "audit.of_all",
    "(a.at, a.tenant, a.seq) < ($2, $1, $3)",
    "a.at DESC, a.tenant DESC, a.seq DESC"
);

static OF_TENANT_NEWER: Stmt = filtered!(
    "audit.of_tenant_newer",
    "a.tenant = $1 AND CAST($2 AS BIGINT) IS NOT NULL AND a.seq > $3",
    "a.seq"
);
static OF_ALL_NEWER: Stmt = filtered!(
    "audit.of_all_newer",
    "(a.at, a.tenant, a.seq) > ($2, $1, $3)",
    "a.at, a.tenant, a.seq"
);

static ONE: Stmt = Stmt::written(
    "audit.one",
    "SELECT {{audit_entry a}} FROM audit_entry a WHERE a.tenant = $1 AND a.seq = $2",
);
static ABOUT: Stmt = Stmt::written(
    "audit.about",
    "SELECT {{audit_entry a}} FROM audit_entry a WHERE a.subject = $2 AND a.tenant = $1 ORDER BY a.seq DESC LIMIT $3",
);
// Request ids are not indexed: a chain's latest entries are scanned.
static OF_REQUEST: Stmt = Stmt::written(
    "audit.of_request",
    "SELECT {{audit_entry x}} FROM (SELECT {{audit_entry a}} FROM audit_entry a WHERE a.tenant = $1 \
     ORDER BY a.seq DESC LIMIT $3) x WHERE x.request_id = $2 ORDER BY x.seq DESC",
);

pub(super) static STATEMENTS: &[&Stmt] =
    &[&OF_TENANT, &OF_ALL, &OF_TENANT_NEWER, &OF_ALL_NEWER, &ONE, &ABOUT, &OF_REQUEST];

/// Entries of a chain that are scanned for a request id, from the latest backwards.
pub const AUDIT_SEARCHED_MAX: usize = 20_000;

/// The place of an entry in the list of all entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AuditPlace {
    /// When it was made.
    pub at: Timestamp,
    /// The tenant of its chain.
    pub tenant: TenantId,
    /// Its number in the chain.
    pub seq: i64,
}

impl AuditPlace {
    /// The position of an entry.
    pub const fn of(entry: &Entry) -> AuditPlace {
        AuditPlace { at: entry.at, tenant: entry.tenant, seq: entry.seq }
    }
}

/// Selects entries. Every filter that is set must match; the default selects all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuditFilter {
    /// Only this chain ([`domain::audit::INSTALLATION`] is one); `None` = all.
    pub tenant: Option<TenantId>,
    /// By this user, on their behalf, or together with them.
    pub who: Option<String>,
    /// This action (`key.rotate`), or all with this prefix (`key`).
    pub action: Option<String>,
    /// The subject: an id, a tag, an access key.
    pub subject: Option<String>,
    pub request_id: Option<String>,
    /// Only by people, in the console or on the command line, and not by APIs or the program.
    pub people: bool,
    /// Not before this instant.
    pub from: Option<Timestamp>,
    /// Entries before this instant.
    pub to: Option<Timestamp>,
    /// Older entries than this one.
    pub after: Option<AuditPlace>,
    /// The next newer entries than this one; without `after`.
    pub before: Option<AuditPlace>,
}

impl Store {
    /// Audit log entries, newest first, at most `limit` and [`AUDIT_LIST_MAX`]. The next page
    /// starts after [`AuditPlace::of`] the last entry, the previous one ends before that of the first.
    pub async fn audit_entries(
        &self,
        filter: &AuditFilter,
        limit: usize,
    ) -> Result<Vec<Entry>, StoreError> {
        let end =
            AuditPlace { at: Timestamp(i64::MAX), tenant: TenantId(Uuid::max()), seq: i64::MAX };
        let is_upward = filter.after.is_none() && filter.before.is_some();
        let place = filter.after.or(filter.before).unwrap_or(end);
        let stmt = match (filter.tenant.is_some(), is_upward) {
            (true, false) => &OF_TENANT,
            (true, true) => &OF_TENANT_NEWER,
            (false, false) => &OF_ALL,
            (false, true) => &OF_ALL_NEWER,
        };
        let text = |value: &Option<String>| Value::from(value.clone());
        let params = vec![
            filter.tenant.unwrap_or(place.tenant).0.into(),
            place.at.0.into(),
            place.seq.into(),
            text(&filter.who),
            text(&filter.action),
            text(&filter.subject),
            filter.from.map_or(i64::MIN, |at| at.0).into(),
            filter.to.map_or(i64::MAX, |at| at.0).into(),
            most(limit.min(AUDIT_LIST_MAX)),
            text(&filter.request_id),
            (if filter.people { "set" } else { "" }).into(),
        ];
        let mut found: Vec<Entry> = self.many(stmt, params).await?;
        if is_upward {
            found.reverse();
        }
        Ok(found)
    }

    /// Returns one entry; `None` if the chain has no such number.
    pub async fn audit_entry(
        &self,
        tenant: TenantId,
        seq: i64,
    ) -> Result<Option<Entry>, StoreError> {
        self.one(&ONE, (tenant, seq)).await
    }

    /// Actions on one subject of a tenant, newest first, at most [`AUDIT_LIST_MAX`].
    pub async fn audit_about(
        &self,
        tenant: TenantId,
        subject: &str,
    ) -> Result<Vec<Entry>, StoreError> {
        self.many(&ABOUT, (tenant, subject, most(AUDIT_LIST_MAX))).await
    }

    /// Actions of one request, newest first, among the latest [`AUDIT_SEARCHED_MAX`] entries of a
    /// chain.
    pub async fn audit_of_request(
        &self,
        tenant: TenantId,
        request_id: &str,
    ) -> Result<Vec<Entry>, StoreError> {
        self.many(&OF_REQUEST, (tenant, request_id, most(AUDIT_SEARCHED_MAX))).await
    }
}
