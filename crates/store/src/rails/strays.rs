//! Rail reports that match no attempt or cannot be parsed: stored with their message's name, so
//! that nothing a bank reports is lost.

use std::collections::BTreeSet;

use domain::ids::TenantId;
use domain::rail::RailId;
use domain::time::Timestamp;
use domain::wallet_effects::Alert;

use crate::driver::Step;
use crate::error::StoreError;
use crate::reads::page::most;
use crate::rows::chain::{alert_digest, write_alert};
use crate::rows::column::{Put as _, Raw};
use crate::sql::Kind::{Text, Uuid};
use crate::sql::{Columns, Stmt, tables};
use crate::store::Store;

static KNOWN: Stmt = Stmt::by_keys(
    "rail.known_strays",
    &[("rail", Text), ("digest", Uuid)],
    "SELECT s.digest FROM {{keys}} JOIN rail_stray s ON s.rail = k.rail AND s.digest = k.digest",
);
static INSERT: Stmt = Stmt::insert_if_absent("rail.insert_strays", &tables::RAIL_STRAY);
static RAISE: Stmt = Stmt::insert_if_absent("rail.raise_stray_alerts", &tables::ALERT);
static NEWEST: Stmt = Stmt::written(
    "rail.newest_strays",
    "SELECT {{rail_stray s}} FROM rail_stray s WHERE s.tenant IS NULL OR s.tenant = $1 \
     ORDER BY s.at DESC, s.rail, s.digest LIMIT $2",
);

pub(crate) static STATEMENTS: &[&Stmt] = &[&KNOWN, &INSERT, &RAISE, &NEWEST];

/// A stored report that matched no attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnmatchedReport {
    /// When it was first received.
    pub at: Timestamp,
    pub rail: RailId,
    pub report: UnmatchedContent,
}

/// A report that was not applied.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct UnmatchedContent {
    /// Its content, with the name of its message.
    pub what: String,
    /// The tenant of the payment that it is about; `None` = unknown.
    pub owner: Option<TenantId>,
}

impl From<String> for UnmatchedContent {
    fn from(what: String) -> UnmatchedContent {
        UnmatchedContent { what, owner: None }
    }
}

impl Store {
    /// The reports that are not stored for this rail yet.
    pub async fn new_strays(
        &self,
        rail: &RailId,
        strays: &[UnmatchedContent],
    ) -> Result<Vec<UnmatchedContent>, StoreError> {
        let wanted: BTreeSet<&UnmatchedContent> = strays.iter().collect();
        let keys = wanted.iter().map(|it| (rail, Raw(alert_digest(&it.what))));
        let known: Vec<Raw> = self.many_by(&KNOWN, keys).await?;
        Ok(wanted
            .into_iter()
            .filter(|it| !known.contains(&Raw(alert_digest(&it.what))))
            .cloned()
            .collect())
    }

    /// Stores reports and raises these alerts in the same commit.
    pub async fn keep_strays(
        &self,
        rail: &RailId,
        strays: &[UnmatchedContent],
        alerts: &[(TenantId, Alert)],
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let keys = self.id_keys().await?;
        let mut rows = Columns::new(tables::RAIL_STRAY.row_columns(), strays.len());
        for UnmatchedContent { what, owner } in strays {
            (rail, Raw(alert_digest(what)), what, now, *owner).put(&keys, &mut rows)?;
        }
        let mut raised = Columns::new(tables::ALERT.row_columns(), alerts.len());
        for (tenant, alert) in alerts {
            write_alert(*tenant, alert, now, &keys, &mut raised)?;
        }
        let mut steps = vec![Step::rows(&INSERT, rows.into_owned())];
        if !alerts.is_empty() {
            steps.push(Step::rows(&RAISE, raised.into_owned()));
        }
        self.write(steps).await.map(drop)
    }

    /// The latest unmatched reports of all rails that are about the tenant's payments, or of which
    /// it is not known whose they are about.
    pub async fn strays(
        &self,
        tenant: TenantId,
        limit: usize,
    ) -> Result<Vec<UnmatchedReport>, StoreError> {
        let strays: Vec<(RailId, Raw, String, Timestamp, Option<TenantId>)> =
            self.many(&NEWEST, (tenant, most(limit))).await?;
        let stray = |(rail, _, what, at, owner)| UnmatchedReport {
            at,
            rail,
            report: UnmatchedContent { what, owner },
        };
        Ok(strays.into_iter().map(stray).collect())
    }
}
