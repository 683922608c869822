//! Discrepancies with bank statements: recorded once, closed when resolved or by an operator.

use std::collections::{BTreeMap, BTreeSet};

use domain::bank_statement::{BreakKind, RailBreak};
use domain::ids::TenantId;
use domain::time::Timestamp;
use domain::wallet_effects::{Alert, AlertKind};

use super::entries::{EntryPlace, close_entries};
use crate::driver::Step;
use crate::error::StoreError;
use crate::reads::page::most;
use crate::rows::Keys;
use crate::rows::chain::{alert_digest, write_alert};
use crate::rows::column::{Get, Put as _, Raw};
use crate::sql::Kind::Uuid;
use crate::sql::{Columns, Fields, Stmt, tables};
use crate::store::{Store, values};

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
static INSERT: Stmt = Stmt::insert_if_absent("rail.insert_breaks", &tables::RAIL_BREAK);
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
static RAISE: Stmt = Stmt::insert_if_absent("rail.raise_alerts", &tables::ALERT);
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
type Key = (TenantId, Raw, Raw);

fn key(tenant: TenantId, it: &RailBreak, keys: &Keys) -> Key {
    (tenant, Raw(keys.stored(it.subject)), Raw(alert_digest(&it.what)))
}

/// The alert of a discrepancy: a constant text per subject.
fn alert(it: &RailBreak) -> Alert {
    Alert { kind: AlertKind::RailMismatch, subject: it.subject, what: it.what.clone() }
}

impl Store {
    /// Records new findings with an alert each, and closes those that are resolved together with
    /// their alerts. A discrepancy closed by an operator stays closed.
    pub async fn note_rail_findings(
        &self,
        found: &RailFindings,
        now: Timestamp,
    ) -> Result<RailNoted, StoreError> {
        let keys = self.id_keys().await?;
        let wanted: BTreeMap<Key, (&RailBreak, Alert)> = found
            .breaks
            .iter()
            .map(|(tenant, it)| (key(*tenant, it, &keys), (it, alert(it))))
            .collect();
        let known = self.same_breaks(wanted.keys()).await?;
        let mut steps = Vec::new();
        let mut raised = Vec::new();
        let mut breaks = Columns::new(tables::RAIL_BREAK.row_columns(), 0);
        let mut alerts = Columns::new(tables::ALERT.row_columns(), 0);
        for (key, (it, alert)) in &wanted {
            match known.get(key) {
                Some(Closed::Not | Closed::ByPerson) => continue,
                Some(Closed::ByStatement) => {
                    steps.push(Step::any(&REOPEN, values((now, *key), &keys)?))
                }
                None => {
                    let open = (None::<Timestamp>, None::<&str>);
                    (*key, (&it.rail, it.kind, &it.what, now), open).put(&keys, &mut breaks)?;
                }
            }
            write_alert(key.0, alert, now, &keys, &mut alerts)?;
            raised.push(alert.clone());
        }
        if breaks.len() > 0 {
            steps.push(Step::rows(&INSERT, breaks.into_owned()));
        }
        if alerts.len() > 0 {
            steps.push(Step::rows(&RAISE, alerts.into_owned()));
        }
        if !found.told.is_empty() {
            steps.push(close_entries(&found.told, &keys)?);
        }
        let healed = self.healed(found, &wanted).await?;
        for key in &healed {
            steps.push(Step::any(&HEAL, values((now, *key), &keys)?));
            steps.push(Step::any(&FORGET_ALERT, values(*key, &keys)?));
        }
        if !steps.is_empty() {
            self.write(steps).await?;
        }
        Ok(RailNoted { raised, healed: healed.len() })
    }

    async fn same_breaks(
        &self,
        wanted: impl Iterator<Item = &Key> + Send,
    ) -> Result<BTreeMap<Key, Closed>, StoreError> {
        let read: Vec<ReadBreak> = self.many_by(&SAME, wanted.copied()).await?;
        let known = read.into_iter().map(|read| (read.key, read.closed)).collect();
        Ok(known)
    }

    /// Open discrepancies of the searched kinds that were not found again.
    async fn healed(
        &self,
        found: &RailFindings,
        wanted: &BTreeMap<Key, (&RailBreak, Alert)>,
    ) -> Result<Vec<Key>, StoreError> {
        let mut healed = Vec::new();
        for tenant in self.tenants().await? {
            let open: Vec<ReadBreak> = self.many(&OPEN, (tenant.id, most(usize::MAX))).await?;
            for read in open {
                if found.complete.contains(&read.it.kind) && !wanted.contains_key(&read.key) {
                    healed.push(read.key);
                }
            }
        }
        Ok(healed)
    }

    /// A tenant's open discrepancies with bank statements, newest first, each with the time at
    /// which it was found.
    pub async fn rail_breaks(
        &self,
        tenant: TenantId,
        limit: usize,
    ) -> Result<Vec<(Timestamp, RailBreak)>, StoreError> {
        let open: Vec<ReadBreak> = self.many(&OPEN, (tenant, most(limit))).await?;
        Ok(open.into_iter().map(|read| (read.at, read.it)).collect())
    }

    /// How many discrepancies with bank statements are open, across tenants.
    pub async fn rail_break_count(&self) -> Result<usize, StoreError> {
        self.only(&COUNT, ()).await
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

impl Get for ReadBreak {
    fn get(fields: &mut Fields<'_>, keys: &Keys) -> Result<ReadBreak, StoreError> {
        let (key, rail, kind, what, at): (Key, _, _, _, _) = Get::get(fields, keys)?;
        let closed = match fields.opt_int()? {
            None => Closed::Not,
            Some(_) => fields.named("closer of a break", Closed::parse)?,
        };
        let it = RailBreak { rail, kind, subject: keys.public(key.1.0), what };
        Ok(ReadBreak { key, at, it, closed })
    }
}
