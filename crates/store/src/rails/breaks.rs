//! Discrepancies with bank statements: recorded once, closed when resolved or by an operator.

use std::collections::{BTreeMap, BTreeSet};

use domain::bank_statement::{BreakKind, RailBreak};
use domain::ids::TenantId;
use domain::rail::RailId;
use domain::time::Timestamp;
use domain::wallet_effects::{Alert, AlertKind};
use uuid::Uuid as Id;

use super::entries::{EntryPlace, close_entries};
use crate::driver::Step;
use crate::error::StoreError;
use crate::reads::page::most;
use crate::rows::chain::alert_digest;
use crate::rows::{Keys, narrow};
use crate::sql::Kind::Uuid;
use crate::sql::{Columns, Fields, Stmt, Value, rail_tables, wallet_tables};
use crate::store::Store;

static OPEN: Stmt = Stmt::written(
    "rail.open_breaks",
    "SELECT {{rail_break b}} FROM rail_break b WHERE b.tenant = $1 AND b.closed_at IS NULL \
     ORDER BY b.at DESC, b.subject, b.digest LIMIT $2",
);
static COUNT: Stmt = Stmt::written(
    "rail.count_breaks",
    "SELECT COUNT(*) FROM rail_break b WHERE b.closed_at IS NULL",
);
static SAME: Stmt = Stmt::by_keys(
    "rail.same_breaks",
    &[("tenant", Uuid), ("subject", Uuid), ("digest", Uuid)],
    "SELECT {{rail_break b}} FROM {{keys}} JOIN rail_break b ON b.tenant = k.tenant AND b.subject = k.subject \
     AND b.digest = k.digest",
);
static INSERT: Stmt = Stmt::insert_if_absent("rail.insert_breaks", &rail_tables::RAIL_BREAK);
static REOPEN: Stmt = Stmt::written(
    "rail.reopen_break",
    "UPDATE rail_break SET closed_at = NULL, closed_by = NULL, at = $1 \
     WHERE tenant = $2 AND subject = $3 AND digest = $4 AND closed_by = 'statement'",
);
static HEAL: Stmt = Stmt::written(
    "rail.heal_break",
    "UPDATE rail_break SET closed_at = $1, closed_by = 'statement' \
     WHERE tenant = $2 AND subject = $3 AND digest = $4 AND closed_at IS NULL",
);
static FORGET_ALERT: Stmt = Stmt::written(
    "rail.forget_alert",
    "DELETE FROM alert WHERE tenant = $1 AND subject = $2 AND kind = 'rail_mismatch' AND digest = $3",
);
static RAISE: Stmt = Stmt::insert_if_absent("rail.raise_alerts", &wallet_tables::ALERT);
pub(crate) static CLOSE: Stmt = Stmt::written(
    "rail.close_break",
    "UPDATE rail_break SET closed_at = {{now}}, closed_by = 'person' \
     WHERE tenant = $2 AND subject = $3 AND digest = $4 AND closed_at IS NULL",
);

pub(crate) static STATEMENTS: &[&Stmt] =
    &[&OPEN, &COUNT, &SAME, &INSERT, &REOPEN, &HEAL, &FORGET_ALERT, &RAISE, &CLOSE];

/// The findings of one comparison with bank statements.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RailFindings {
    pub breaks: Vec<(TenantId, RailBreak)>,
    /// Kinds that were searched completely: those absent from `breaks` are resolved.
    pub complete: BTreeSet<BreakKind>,
    /// Unmatched entries that are among `breaks`.
    pub told: Vec<EntryPlace>,
}

/// The changes that findings caused.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RailNoted {
    /// New discrepancies, each of which is an open alert now.
    pub raised: Vec<Alert>,
    /// Number of resolved discrepancies.
    pub healed: usize,
}

/// Tenant, stored subject and digest.
type Key = (Id, Id, Id);

fn key(tenant: TenantId, it: &RailBreak, keys: &Keys) -> Key {
    (tenant.0, keys.stored(it.subject), alert_digest(&it.what))
}

fn keyed(at: Timestamp, (tenant, subject, digest): Key) -> Vec<Value> {
    vec![at.0.into(), tenant.into(), subject.into(), digest.into()]
}

/// The alert of a discrepancy: a constant text per subject.
fn alert(it: &RailBreak) -> Alert {
    Alert { kind: AlertKind::RailMismatch, subject: it.subject, what: it.what.clone() }
}

impl Store {
    /// Records new findings with an alert each, and closes those that are resolved together with
    /// their alerts. A discrepancy closed by an operator stays closed.
    ///
    /// # Errors
    /// The database cannot be reached, or a row is not readable.
    pub async fn note_rail_findings(
        &self,
        found: &RailFindings,
        now: Timestamp,
    ) -> Result<RailNoted, StoreError> {
        let keys = self.id_keys().await?;
        let wanted: BTreeMap<Key, (TenantId, &RailBreak)> = found
            .breaks
            .iter()
            .map(|(tenant, it)| (key(*tenant, it, &keys), (*tenant, it)))
            .collect();
        let known = self.same_breaks(wanted.keys(), &keys).await?;
        let mut steps = Vec::new();
        let mut raised = Vec::new();
        let mut breaks = Columns::new(rail_tables::RAIL_BREAK.row_columns(), 0);
        let mut alerts = Columns::new(wallet_tables::ALERT.row_columns(), 0);
        for (key, (_, it)) in &wanted {
            match known.get(key) {
                Some(Closed::Not | Closed::ByPerson) => continue,
                Some(Closed::ByStatement) => steps.push(Step::any(&REOPEN, keyed(now, *key))),
                None => write_break(*key, it, now, &mut breaks),
            }
            write_alert(*key, &alert(it), now, &mut alerts);
            raised.push(alert(it));
        }
        if breaks.len() > 0 {
            steps.push(Step::rows(&INSERT, breaks));
        }
        if alerts.len() > 0 {
            steps.push(Step::rows(&RAISE, alerts));
        }
        if !found.told.is_empty() {
            steps.push(close_entries(&found.told));
        }
        let healed = self.healed(found, &wanted, &keys).await?;
        for key in &healed {
            steps.push(Step::any(&HEAL, keyed(now, *key)));
            steps.push(Step::any(&FORGET_ALERT, vec![key.0.into(), key.1.into(), key.2.into()]));
        }
        if !steps.is_empty() {
            self.write(steps).await?;
        }
        Ok(RailNoted { raised, healed: healed.len() })
    }

    async fn same_breaks(
        &self,
        wanted: impl ExactSizeIterator<Item = &Key>,
        keys: &Keys,
    ) -> Result<BTreeMap<Key, Closed>, StoreError> {
        let mut columns = Columns::new([Uuid, Uuid, Uuid].into_iter(), wanted.len());
        for (tenant, subject, digest) in wanted {
            columns.uuid(*tenant).uuid(*subject).uuid(*digest);
        }
        let mut known = BTreeMap::new();
        for row in &self.query_keys(&SAME, columns).await? {
            let read = read_break(&mut row.fields(), keys)?;
            known.insert(read.key, read.closed);
        }
        Ok(known)
    }

    /// Open discrepancies of the searched kinds that were not found again.
    async fn healed(
        &self,
        found: &RailFindings,
        wanted: &BTreeMap<Key, (TenantId, &RailBreak)>,
        keys: &Keys,
    ) -> Result<Vec<Key>, StoreError> {
        let mut healed = Vec::new();
        for tenant in self.tenants().await? {
            for row in &self.query(&OPEN, vec![tenant.id.0.into(), most(usize::MAX)]).await? {
                let read = read_break(&mut row.fields(), keys)?;
                if found.complete.contains(&read.it.kind) && !wanted.contains_key(&read.key) {
                    healed.push(read.key);
                }
            }
        }
        Ok(healed)
    }

    /// A tenant's open discrepancies with bank statements, newest first, each with the time at
    /// which it was found.
    ///
    /// # Errors
    /// The database cannot be reached, or a row is not readable.
    pub async fn rail_breaks(
        &self,
        tenant: TenantId,
        limit: usize,
    ) -> Result<Vec<(Timestamp, RailBreak)>, StoreError> {
        let keys = self.id_keys().await?;
        let rows = self.query(&OPEN, vec![tenant.0.into(), most(limit)]).await?;
        rows.iter()
            .map(|row| read_break(&mut row.fields(), &keys).map(|read| (read.at, read.it)))
            .collect()
    }

    /// How many discrepancies with bank statements are open, across tenants.
    ///
    /// # Errors
    /// The database cannot be reached.
    pub async fn rail_break_count(&self) -> Result<usize, StoreError> {
        let rows = self.query(&COUNT, Vec::new()).await?;
        rows.first().map_or(Ok(0), |row| narrow(row.fields().int()?, "count"))
    }
}

/// How a discrepancy was closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Closed {
    Not,
    ByStatement,
    ByPerson,
}

impl Closed {
    fn parse(name: &str) -> Option<Closed> {
        match name {
            "statement" => Some(Closed::ByStatement),
            "person" => Some(Closed::ByPerson),
            _ => None,
        }
    }
}

struct ReadBreak {
    key: Key,
    at: Timestamp,
    it: RailBreak,
    closed: Closed,
}

fn write_alert(
    (tenant, subject, digest): Key,
    alert: &Alert,
    now: Timestamp,
    out: &mut Columns<'static>,
) {
    out.uuid(tenant)
        .uuid(subject)
        .text(alert.kind.name())
        .uuid(digest)
        .text(alert.what.clone())
        .int(now.0);
}

fn write_break(
    (tenant, subject, digest): Key,
    it: &RailBreak,
    now: Timestamp,
    out: &mut Columns<'static>,
) {
    out.uuid(tenant).uuid(subject).uuid(digest).text(it.rail.0.to_string()).text(it.kind.name());
    out.text(it.what.clone()).int(now.0).opt_int(None).opt_text(None::<&str>);
}

fn read_break(fields: &mut Fields<'_>, keys: &Keys) -> Result<ReadBreak, StoreError> {
    let key = (fields.uuid()?, fields.uuid()?, fields.uuid()?);
    let rail = RailId::new(fields.text()?);
    let kind = fields.named("kind of break", BreakKind::parse)?;
    let what = fields.text()?.to_owned();
    let at = Timestamp(fields.int()?);
    let closed = match fields.opt_int()? {
        None => Closed::Not,
        Some(_) => fields.named("closer of a break", Closed::parse)?,
    };
    Ok(ReadBreak {
        key,
        at,
        it: RailBreak { rail, kind, subject: keys.public(key.1), what },
        closed,
    })
}
