//! What the console's overview is counted from.

use domain::country::Country;
use domain::currency::StableCoin;
use domain::ids::TenantId;
use domain::money::Money;
use domain::payment::PaymentState;
use domain::time::{Span, Timestamp};
use futures_util::future::try_join_all;
use uuid::Uuid;

use crate::error::StoreError;
use crate::rows::column::Raw;
use crate::sql::Stmt;
use crate::store::Store;

/// Maximum number of payments counted per country: with more, its window starts later, and the page
/// states so.
pub const COUNTED_MAX: usize = 50_000;

// The oldest of the payments that are counted of a country, if there are as many.
static COUNTED_FROM: Stmt = Stmt::written(
    "console.counted_from",
    "SELECT p.accepted_at FROM payment p WHERE p.tenant = $1 AND p.country = $2 \
     AND p.accepted_at >= $3 AND p.accepted_at < $4 \
     ORDER BY p.accepted_at DESC, p.id DESC LIMIT 1 OFFSET $5",
);

/// Tallies of the payments from $3 on and before $4 by slices of $5 since $2. Microseconds, rounded
/// down as [`OverviewCount::took`] states.
macro_rules! tallies {
    ($name:literal, $countries:literal) => {
        Stmt::written(
            $name,
            concat!(
                "SELECT c.country, c.slice, c.state, c.coin, \
                 CASE WHEN c.took < 60000000 THEN c.took / 100000 * 100000 \
                 WHEN c.took < 3600000000 THEN c.took / 1000000 * 1000000 \
                 WHEN c.took < 86400000000 THEN c.took / 60000000 * 60000000 \
                 ELSE c.took / 3600000000 * 3600000000 END, \
                 COUNT(*), CAST(SUM(c.amount) AS BIGINT), CAST(SUM(c.charge) AS BIGINT) \
                 FROM (SELECT p.country AS country, (p.accepted_at - $2) / $5 AS slice, p.state AS state, \
                 p.coin AS coin, p.settled_at - p.accepted_at AS took, p.amount AS amount, \
                 p.charge_amount AS charge FROM payment p WHERE p.tenant = $1 AND ",
                $countries,
                " AND p.accepted_at >= $3 AND p.accepted_at < $4) c GROUP BY 1, 2, 3, 4, 5"
            ),
        )
    };
}
// All countries in one pass.
static TALLIES: Stmt =
    tallies!("console.tallies", "p.country IN ('PAK', 'IND', 'BGD', 'NPL', 'PHL', 'EGY', 'VNM')");
static TALLIES_OF: Stmt = tallies!("console.tallies_of", "p.country = $6");
// Same predicate as the index, so that only open intents are read, across tenants. The condition
// with COALESCE on the tenant is always true: without it the planner would choose the tenant's
// index and read all its intents.
static UNRELEASED: Stmt = Stmt::written(
    "console.unreleased",
    "SELECT u.coin, COUNT(*), CAST(SUM(u.amount) AS BIGINT), MIN(u.since) FROM \
     (SELECT d.coin AS coin, d.amount AS amount, i.created_at AS since FROM chain_intent i \
     JOIN deposit d ON d.tenant = i.tenant AND d.id = i.subject \
     WHERE i.wallet >= $2 AND i.state IN ('waiting', 'assigned') AND COALESCE(i.tenant, i.id) = $1 \
     AND i.kind = 'release' UNION ALL SELECT d.coin, d.amount, d.seen_at FROM deposit d \
     WHERE d.tenant = $1 AND d.state = 'failed' AND d.pot <> 'nowhere') u GROUP BY u.coin ORDER BY u.coin",
);

pub(super) static STATEMENTS: &[&Stmt] = &[&COUNTED_FROM, &TALLIES, &TALLIES_OF, &UNRELEASED];

/// What the overview counts of a period.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tallies {
    /// The countries of which only the payments since then are counted.
    pub shortened: Vec<(Country, Timestamp)>,
    pub tallies: Vec<OverviewCount>,
}

/// Payments that are alike in what the overview counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OverviewCount {
    pub country: Country,
    /// The slice of the period in which they were accepted, from 0.
    pub slice: usize,
    pub state: PaymentState,
    /// From acceptance to settlement, if they were paid: rounded down to a tenth of a second below a
    /// minute, to a second below an hour, to a minute below a day, else to an hour.
    pub took: Option<Span>,
    pub count: u64,
    /// Sum of what the beneficiaries receive.
    pub amount: Money,
    /// Same in the settlement coin.
    pub charge: Money,
}

type Row = (Country, usize, PaymentState, StableCoin, Option<i64>, u64, i64, i64);

/// Approved coins that are still in escrow: to be released, or their release failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unreleased {
    pub count: u64,
    /// Sum of the deposits' amounts.
    pub amount: Money,
    /// Since when the first of them is due for release; if that failed, since it was seen.
    pub oldest: Timestamp,
}

impl Store {
    /// Counts the payments that were accepted from `start` on and before `end`, by slice of this
    /// period: of each country the latest, at most `most`.
    pub async fn tallies(
        &self,
        tenant: TenantId,
        start: Timestamp,
        end: Timestamp,
        slice: Span,
        most: usize,
    ) -> Result<Tallies, StoreError> {
        let counted_from = async |country: Country| -> Result<_, StoreError> {
            let params = (tenant, country, start, end, most.saturating_sub(1));
            Ok((country, self.one::<Timestamp>(&COUNTED_FROM, params).await?))
        };
        let from = try_join_all(Country::ALL.map(counted_from)).await?;
        let shortened: Vec<(Country, Timestamp)> = from
            .iter()
            .filter_map(|(country, from)| Some((*country, from.filter(|from| *from > start)?)))
            .collect();
        let found: Vec<Row> = if shortened.is_empty() {
            self.many(&TALLIES, (tenant, start, start, end, slice.0)).await?
        } else {
            let of_country = async |(country, from): (Country, Option<Timestamp>)| {
                let from = from.unwrap_or(start);
                self.many(&TALLIES_OF, (tenant, start, from, end, slice.0, country)).await
            };
            let of_each: Vec<Vec<Row>> = try_join_all(from.into_iter().map(of_country)).await?;
            of_each.into_iter().flatten().collect()
        };
        let tally =
            |(country, slice, state, coin, took, count, amount, charge): Row| OverviewCount {
                country,
                slice,
                state,
                took: took.map(Span),
                count,
                amount: Money::new(amount, country.currency()),
                charge: Money::new(charge, coin.currency()),
            };
        Ok(Tallies { shortened, tallies: found.into_iter().map(tally).collect() })
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sql::Dialect;

    #[test]
    fn tallies_are_of_all_countries() {
        let sql = TALLIES.sql(Dialect::Sqlite);
        for country in Country::ALL {
            assert!(sql.contains(&format!("'{}'", country.alpha3())), "{country:?}: {sql}");
        }
    }
}
