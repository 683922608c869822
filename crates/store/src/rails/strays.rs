//! Rail reports that match no attempt or cannot be parsed: stored with their message's name, so
//! that nothing a bank reports is lost.

use std::collections::BTreeSet;

use domain::ids::TenantId;
use domain::rail::RailId;
use domain::time::Timestamp;
use domain::wallet_effects::Alert;
use uuid::Uuid as Id;

use crate::driver::Step;
use crate::error::StoreError;
use crate::reads::page::most;
use crate::rows::chain::alert_digest;
use crate::sql::Kind::{Text, Uuid};
use crate::sql::{Columns, Stmt, rail_tables, wallet_tables};
use crate::store::Store;

static KNOWN: Stmt = Stmt::by_keys(
    "rail.known_strays",
    &[("rail", Text), ("digest", Uuid)],
    "SELECT s.digest FROM {{keys}} JOIN rail_stray s ON s.rail = k.rail AND s.digest = k.digest",
);
static INSERT: Stmt = Stmt::insert_if_absent("rail.insert_strays", &rail_tables::RAIL_STRAY);
static RAISE: Stmt = Stmt::insert_if_absent("rail.raise_stray_alerts", &wallet_tables::ALERT);
static NEWEST: Stmt = Stmt::written(
    "rail.newest_strays",
    "SELECT {{rail_stray s}} FROM rail_stray s ORDER BY s.at DESC, s.rail, s.digest LIMIT $1",
);

pub(crate) static STATEMENTS: &[&Stmt] = &[&KNOWN, &INSERT, &RAISE, &NEWEST];

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stray {
    /// When it was first received.
    pub at: Timestamp,
    pub rail: RailId,
    /// Its content, with the name of its message.
    pub what: String,
}

impl Store {
    /// The reports that are not stored for this rail yet.
    ///
    /// # Errors
    /// The database cannot be reached.
    pub async fn new_strays(
        &self,
        rail: &RailId,
        strays: &[String],
    ) -> Result<Vec<String>, StoreError> {
        let wanted: BTreeSet<&String> = strays.iter().collect();
        let mut columns = Columns::new([Text, Uuid].into_iter(), wanted.len());
        for what in &wanted {
            columns.text(rail.0.to_string()).uuid(alert_digest(what));
        }
        let known = self.query_keys(&KNOWN, columns).await?;
        let known = known
            .iter()
            .map(|row| row.fields().uuid())
            .collect::<Result<BTreeSet<Id>, StoreError>>()?;
        Ok(wanted
            .into_iter()
            .filter(|what| !known.contains(&alert_digest(what)))
            .cloned()
            .collect())
    }

    /// Stores reports and raises these alerts in the same commit.
    ///
    /// # Errors
    /// The database cannot be reached.
    pub async fn keep_strays(
        &self,
        rail: &RailId,
        strays: &[String],
        alerts: &[(TenantId, Alert)],
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let keys = self.id_keys().await?;
        let mut rows = Columns::new(rail_tables::RAIL_STRAY.row_columns(), strays.len());
        for what in strays {
            rows.text(rail.0.to_string()).uuid(alert_digest(what)).text(what.clone()).int(now.0);
        }
        let mut raised = Columns::new(wallet_tables::ALERT.row_columns(), alerts.len());
        for (tenant, alert) in alerts {
            raised.uuid(tenant.0).uuid(keys.stored(alert.subject)).text(alert.kind.name());
            raised.uuid(alert_digest(&alert.what)).text(alert.what.clone()).int(now.0);
        }
        let mut steps = vec![Step::rows(&INSERT, rows)];
        if !alerts.is_empty() {
            steps.push(Step::rows(&RAISE, raised));
        }
        self.write(steps).await.map(drop)
    }

    /// The latest unmatched reports of all rails.
    ///
    /// # Errors
    /// The database cannot be reached, or a row is not readable.
    pub async fn strays(&self, limit: usize) -> Result<Vec<Stray>, StoreError> {
        let rows = self.query(&NEWEST, vec![most(limit)]).await?;
        let read = |row: &crate::sql::Row| {
            let mut fields = row.fields();
            let rail = RailId::new(fields.text()?);
            fields.skip(1);
            let what = fields.text()?.to_owned();
            Ok(Stray { at: Timestamp(fields.int()?), rail, what })
        };
        rows.iter().map(read).collect()
    }
}
