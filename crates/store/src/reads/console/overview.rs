//! Figures of the console's overview page, each over the latest payments of a window.

use domain::country::Country;
use domain::currency::StableCoin;
use domain::ids::TenantId;
use domain::money::Money;
use domain::payment::PaymentState;
use domain::time::{Span, Timestamp};
use futures_util::future::try_join_all;
use uuid::Uuid;

use crate::error::StoreError;
use crate::reads::page::most;
use crate::rows::column::Raw;
use crate::sql::{Stmt, Value};
use crate::store::{Store, read};

/// Maximum number of payments counted per country: beyond it the window starts later, and the page
/// states so.
pub const COUNTED_MAX: usize = 10_000;

static VOLUME: Stmt = Stmt::written(
    "console.volume",
    "SELECT x.state, x.coin, COUNT(*), CAST(SUM(x.amount) AS BIGINT), CAST(SUM(x.charge) AS BIGINT), \
     MIN(x.accepted_at) FROM (SELECT p.state AS state, p.coin AS coin, p.amount AS amount, p.charge_amount AS charge, \
     p.accepted_at AS accepted_at FROM payment p \
     WHERE p.tenant = $1 AND p.country = $2 AND p.accepted_at >= $3 AND p.accepted_at < $4 \
     ORDER BY p.accepted_at DESC, p.id DESC LIMIT $5) x GROUP BY x.state, x.coin ORDER BY x.state, x.coin",
);
static TIMES: Stmt = Stmt::written(
    "console.settle_times",
    "SELECT x.took FROM (SELECT p.settled_at - p.accepted_at AS took FROM payment p \
     WHERE p.tenant = $1 AND p.country = $2 AND p.accepted_at >= $3 AND p.accepted_at < $4 \
     ORDER BY p.accepted_at DESC, p.id DESC LIMIT $5) x WHERE x.took IS NOT NULL",
);
// Days of 86,400 seconds from the start on.
static DAYS: Stmt = Stmt::written(
    "console.daily_volume",
    "SELECT x.day, x.state, x.coin, COUNT(*), CAST(SUM(x.charge) AS BIGINT) FROM \
     (SELECT (p.accepted_at - $3) / 86400000000 AS day, p.state AS state, p.coin AS coin, p.charge_amount AS charge \
     FROM payment p WHERE p.tenant = $1 AND p.country = $2 AND p.accepted_at >= $3 AND p.accepted_at < $4 \
     ORDER BY p.accepted_at DESC, p.id DESC LIMIT $5) x GROUP BY x.day, x.state, x.coin ORDER BY x.day, x.state, x.coin",
);
// The place of a payment among those of its day decides whether it is the percentile. The days are
// those of DAYS.
static DAY_TIMES: Stmt = Stmt::written(
    "console.daily_times",
    "SELECT z.day, COUNT(*), MAX(CASE WHEN z.place = (z.paid - 1) * 50 / 100 THEN z.took END), \
     MAX(CASE WHEN z.place = (z.paid - 1) * 95 / 100 THEN z.took END) FROM \
     (SELECT x.day AS day, x.took AS took, ROW_NUMBER() OVER (PARTITION BY x.day ORDER BY x.took) - 1 AS place, \
     COUNT(*) OVER (PARTITION BY x.day) AS paid FROM \
     (SELECT (p.accepted_at - $3) / 86400000000 AS day, p.settled_at - p.accepted_at AS took \
     FROM payment p WHERE p.tenant = $1 AND p.country = $2 AND p.accepted_at >= $3 AND p.accepted_at < $4 \
     ORDER BY p.accepted_at DESC, p.id DESC LIMIT $5) x WHERE x.took IS NOT NULL) z GROUP BY z.day ORDER BY z.day",
);
// Same predicate as the index, so that only open intents are read, across tenants. The condition
// with COALESCE on the tenant is always true: without it the planner would choose the tenant's
// index and read all its intents.
static UNRELEASED: Stmt = Stmt::written(
    "console.unreleased",
    "SELECT d.coin, COUNT(*), CAST(SUM(d.amount) AS BIGINT), MIN(i.created_at) FROM chain_intent i \
     JOIN deposit d ON d.tenant = i.tenant AND d.id = i.subject \
     WHERE i.wallet >= $2 AND i.state IN ('waiting', 'assigned') AND COALESCE(i.tenant, i.id) = $1 \
     AND i.kind = 'release' GROUP BY d.coin ORDER BY d.coin",
);

pub(super) static STATEMENTS: &[&Stmt] = &[&VOLUME, &TIMES, &DAYS, &DAY_TIMES, &UNRELEASED];

/// Payments of one state in one window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StateVolume {
    pub state: PaymentState,
    pub count: u64,
    /// What their beneficiaries receive.
    pub amount: Money,
    /// Same in the settlement coin.
    pub charge: Money,
}

/// A corridor's volume in a window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CorridorVolume {
    pub country: Country,
    /// By state and coin.
    pub states: Vec<StateVolume>,
    /// How long each paid payment took, from acceptance to settlement, shortest first.
    pub settled_in: Vec<Span>,
    /// Start of the counted period, if it was shortened.
    pub counted_since: Option<Timestamp>,
}

/// Payments of one corridor and state that were accepted on one day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DayVolume {
    pub country: Country,
    /// Days since the start.
    pub day: usize,
    pub state: PaymentState,
    pub count: u64,
    /// In the settlement coin.
    pub charge: Money,
}

/// How long the payments of one corridor and day took from acceptance to settlement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DayTimes {
    pub country: Country,
    /// Days since the start.
    pub day: usize,
    /// Paid payments.
    pub count: u64,
    pub half: Span,
    /// 95 of 100 were as fast.
    pub most: Span,
}

/// Approved coins that are still in escrow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unreleased {
    pub count: u64,
    /// Sum of the deposits' amounts.
    pub amount: Money,
    /// Since when the first of them is due for release.
    pub oldest: Timestamp,
}

/// The parameters of a corridor's statements.
fn window(tenant: TenantId, country: Country, start: Timestamp, end: Timestamp) -> Vec<Value> {
    let country = country.alpha3().into();
    vec![tenant.0.into(), country, start.0.into(), end.0.into(), most(COUNTED_MAX)]
}

type Volume = (PaymentState, StableCoin, u64, i64, i64, Timestamp);

impl Store {
    /// The volume of each corridor from `start` on and before `end`, of each as of one instant.
    pub async fn corridor_volumes(
        &self,
        tenant: TenantId,
        start: Timestamp,
        end: Timestamp,
    ) -> Result<Vec<CorridorVolume>, StoreError> {
        let of_country = async |country: Country| {
            let params = || window(tenant, country, start, end);
            let queries = vec![(&VOLUME, params()), (&TIMES, params())];
            Ok::<_, StoreError>(self.driver().snapshot(queries).await?)
        };
        let all = try_join_all(Country::ALL.map(of_country)).await?;
        let keys = self.id_keys().await?;
        let mut found = Vec::new();
        for (country, answers) in Country::ALL.into_iter().zip(&all) {
            let [volumes, times] = answers.as_slice() else {
                return Err(StoreError::Corrupt("expected two results".to_owned()));
            };
            let volumes: Vec<Volume> = read(volumes, &keys)?;
            let counted: u64 = volumes.iter().map(|(_, _, count, ..)| count).sum();
            let capped = usize::try_from(counted).is_ok_and(|counted| counted >= COUNTED_MAX);
            let since = volumes.iter().map(|(.., since)| *since).min().filter(|_| capped);
            let mut settled_in: Vec<Span> = read(times, &keys)?;
            settled_in.sort_unstable();
            let volume = |(state, coin, count, amount, charge, _): Volume| {
                let amount = Money::new(amount, country.currency());
                StateVolume { state, count, amount, charge: Money::new(charge, coin.currency()) }
            };
            let states = volumes.into_iter().map(volume).collect();
            found.push(CorridorVolume { country, states, settled_in, counted_since: since });
        }
        Ok(found)
    }

    /// The volume of each corridor on each day of a window. Of a country, only the latest
    /// [`COUNTED_MAX`] payments.
    pub async fn daily_volumes(
        &self,
        tenant: TenantId,
        start: Timestamp,
        end: Timestamp,
    ) -> Result<Vec<DayVolume>, StoreError> {
        let of_country = |country| self.query(&DAYS, window(tenant, country, start, end));
        let answers = try_join_all(Country::ALL.map(of_country)).await?;
        let keys = self.id_keys().await?;
        let mut found = Vec::new();
        for (country, rows) in Country::ALL.into_iter().zip(&answers) {
            let days: Vec<(i64, PaymentState, StableCoin, u64, i64)> = read(rows, &keys)?;
            found.extend(days.into_iter().map(|(day, state, coin, count, charge)| DayVolume {
                country,
                day: usize::try_from(day).unwrap_or(0),
                state,
                count,
                charge: Money::new(charge, coin.currency()),
            }));
        }
        Ok(found)
    }

    /// How long payments took on each day of a window, by corridor. Of a country, only the latest
    /// [`COUNTED_MAX`] payments.
    pub async fn daily_times(
        &self,
        tenant: TenantId,
        start: Timestamp,
        end: Timestamp,
    ) -> Result<Vec<DayTimes>, StoreError> {
        let of_country = |country| self.query(&DAY_TIMES, window(tenant, country, start, end));
        let answers = try_join_all(Country::ALL.map(of_country)).await?;
        let keys = self.id_keys().await?;
        let mut found = Vec::new();
        for (country, rows) in Country::ALL.into_iter().zip(&answers) {
            let days: Vec<(i64, u64, Span, Span)> = read(rows, &keys)?;
            found.extend(days.into_iter().map(|(day, count, half, most)| DayTimes {
                country,
                day: usize::try_from(day).unwrap_or(0),
                count,
                half,
                most,
            }));
        }
        Ok(found)
    }

    /// Coins that were approved and not released from escrow yet, by coin.
    pub async fn unreleased(&self, tenant: TenantId) -> Result<Vec<Unreleased>, StoreError> {
        let found: Vec<(StableCoin, u64, i64, Timestamp)> =
            self.many(&UNRELEASED, (tenant, Raw(Uuid::nil()))).await?;
        let unreleased = |(coin, count, minor, oldest): (StableCoin, _, _, _)| Unreleased {
            count,
            amount: Money::new(minor, coin.currency()),
            oldest,
        };
        Ok(found.into_iter().map(unreleased).collect())
    }
}
