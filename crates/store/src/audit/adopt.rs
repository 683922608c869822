//! Starts the audit chains of an installation, once: entries that an older version wrote without
//! hashes become the first entries of the installation's chain, and each tenant's chain starts
//! empty (ADR 17).

use domain::audit::{AuditContext, Entry, Head, INSTALLATION, Note, Via};
use domain::ids::TenantId;
use domain::time::Timestamp;

use super::append;
use crate::driver::Step;
use crate::error::StoreError;
use crate::rows::record::Record as _;
use crate::save;
use crate::sql::{Columns, Fields, Stmt};
use crate::store::Store;

/// Name of the value that marks completion.
const BEGUN: &str = "audit_begun";

static OLD: Stmt = Stmt::written(
    "audit.old",
    "SELECT o.at, o.who, o.action, o.subject, o.detail FROM admin_log o ORDER BY o.id",
);
static CLEAR: Stmt = Stmt::written("audit.clear_old", "DELETE FROM admin_log");
static TENANTS: Stmt = Stmt::written("audit.tenants", "SELECT t.id FROM tenant t ORDER BY t.id");
// The second of two concurrent processes finds the first one's row.
static BEGIN: Stmt =
    Stmt::written("audit.begin", "INSERT INTO meta (name, value) VALUES ($1, '1')");

pub(super) static STATEMENTS: &[&Stmt] = &[&OLD, &CLEAR, &TENANTS, &BEGIN];

/// Starts the chains unless done.
pub(crate) async fn adopt(store: &Store) -> Result<(), StoreError> {
    if store.meta(BEGUN).await?.is_some() {
        return Ok(());
    }
    let mut head = Head::default();
    let mut entries = Vec::new();
    for row in store.query(&OLD, Vec::new()).await? {
        entries.push(adopted(&mut row.fields(), &mut head)?);
    }
    let keys = store.id_keys().await?;
    let tenants: Vec<TenantId> = store.many(&TENANTS, ()).await?;
    let mut heads = Columns::new(Head::table().row_columns(), tenants.len());
    let empty = Head::default();
    for tenant in &tenants {
        Head::write(tenant, &empty, &keys, &mut heads)?;
    }
    let mut steps = vec![Step::one(&BEGIN, vec![BEGUN.into()])];
    if !tenants.is_empty() {
        steps.push(Step::rows(&save::AUDIT_HEAD_INSERT, heads.into_owned()));
    }
    let cleared = u64::try_from(entries.len()).ok();
    steps.push(Step { rows: cleared, ..Step::any(&CLEAR, Vec::new()) });
    steps.extend(append::steps(INSTALLATION, &entries, None, head, &keys)?);
    match store.write(steps).await {
        // A concurrent migration has completed it.
        Err(StoreError::Conflict(_)) if store.meta(BEGUN).await?.is_some() => Ok(()),
        other => other.map(drop),
    }
}

/// A row of the older log, which named its user as `cli:name` and had no tenant.
fn adopted(fields: &mut Fields<'_>, head: &mut Head) -> Result<Entry, StoreError> {
    let at = Timestamp(fields.int()?);
    let who = fields.text()?;
    let (action, subject, detail) = (fields.text()?, fields.text()?, fields.text()?);
    let deed = match who.strip_prefix("cli:") {
        Some(user) => AuditContext::new(Via::Cli, user),
        None => AuditContext::new(Via::Program, who),
    };
    let kind = action.split_once('.').map_or(action, |(kind, _)| kind);
    Ok(head.append(INSTALLATION, at, deed.because(detail), Note::new(action, kind, subject)))
}
