//! What the console's overview is counted from.

use domain::country::Country;
use domain::currency::StableCoin;
use domain::ids::TenantId;
use domain::money::Money;
use domain::payment::PaymentState;
use domain::time::Timestamp;
use futures_util::future::try_join_all;
use uuid::Uuid;

use crate::error::StoreError;
use crate::rows::column::Raw;
use crate::sql::Stmt;
use crate::store::Store;

/// Maximum number of payments counted per country: beyond it the window starts later, and the page
/// states so.
pub const COUNTED_MAX: usize = 10_000;

static ACCEPTED: Stmt = Stmt::written(
    "console.accepted",
    "SELECT p.accepted_at, p.settled_at, p.state, p.coin, p.amount, p.charge_amount FROM payment p \
     WHERE p.tenant = $1 AND p.country = $2 AND p.accepted_at >= $3 AND p.accepted_at < $4 \
     ORDER BY p.accepted_at DESC, p.id DESC LIMIT $5",
);
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

pub(super) static STATEMENTS: &[&Stmt] = &[&ACCEPTED, &UNRELEASED];

/// What the overview shows of a payment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Accepted {
    pub accepted_at: Timestamp,
    /// When it was paid, if it was.
    pub settled_at: Option<Timestamp>,
    pub state: PaymentState,
    /// What the beneficiary receives.
    pub amount: Money,
    /// Same in the settlement coin.
    pub charge: Money,
}

type Row = (Timestamp, Option<Timestamp>, PaymentState, StableCoin, i64, i64);

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
    /// The payments that were accepted from `start` on and before `end`, newest first, by country. Of
    /// a country, only the latest [`COUNTED_MAX`].
    pub async fn accepted(
        &self,
        tenant: TenantId,
        start: Timestamp,
        end: Timestamp,
    ) -> Result<Vec<(Country, Vec<Accepted>)>, StoreError> {
        let of_country = async |country: Country| {
            let params = (tenant, country, start, end, COUNTED_MAX);
            let found: Vec<Row> = self.many(&ACCEPTED, params).await?;
            let accepted = |(accepted_at, settled_at, state, coin, amount, charge): Row| Accepted {
                accepted_at,
                settled_at,
                state,
                amount: Money::new(amount, country.currency()),
                charge: Money::new(charge, coin.currency()),
            };
            Ok::<_, StoreError>((country, found.into_iter().map(accepted).collect()))
        };
        try_join_all(Country::ALL.map(of_country)).await
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
