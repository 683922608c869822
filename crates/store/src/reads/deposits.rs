//! Incoming transactions: individually, of a request, held, waiting for the chain, in review, and
//! summed up.

use std::collections::{BTreeMap, BTreeSet};

use domain::deposit::{Deposit, DepositState, Pot};
use domain::ids::{DepositId, PaymentRequestId, TenantId, WalletId};
use domain::payment_request::{PaymentRequest, RequestMoney};
use domain::risk::Velocity;
use domain::time::{Span, Timestamp};

use super::page::{Listed, Page, most, total};
use crate::error::StoreError;
use crate::rows::{self, narrow, wide};
use crate::sql::Kind::Uuid;
use crate::sql::{Columns, Row, Stmt, Value};
use crate::store::Store;

/// The shorter window over which deposits are summed up.
const DAY: Span = Span::hours(24);
/// The longer of the two windows.
const MONTH: Span = Span::days(30);

static ONE: Stmt = Stmt::written(
    "deposit.one",
    "SELECT {{deposit d}} FROM deposit d WHERE d.tenant = $1 AND d.id = $2",
);
static OF_REQUEST: Stmt = Stmt::written(
    "deposit.of_request",
    "SELECT {{deposit d}} FROM deposit d WHERE d.wallet = $2 AND d.tenant = $1 AND d.request = $3 \
     ORDER BY d.seen_at, d.id",
);
static HELD: Stmt = Stmt::written(
    "deposit.held",
    "SELECT {{deposit d}} FROM deposit d WHERE d.wallet = $2 AND d.tenant = $1 AND d.state = 'held' \
     ORDER BY d.seen_at, d.id LIMIT $3",
);
// $3 holds the wanted states between commas.
static IN_STATES: Stmt = Stmt::written(
    "deposit.in_states",
    "SELECT {{deposit d}} FROM deposit d WHERE d.wallet = $2 AND d.tenant = $1 \
     AND $3 LIKE '%,' || d.state || ',%' ORDER BY d.seen_at, d.id LIMIT $4",
);
static WAITING: Stmt = Stmt::written(
    "deposit.waiting",
    "SELECT {{deposit d}} FROM deposit d WHERE d.state IN ('seen', 'suspended') AND d.height <= $1 \
     ORDER BY d.height, d.tenant, d.id LIMIT $2",
);
static FROM_HEIGHT: Stmt = Stmt::written(
    "deposit.from_height",
    "SELECT {{deposit d}} FROM deposit d WHERE d.height >= $1 ORDER BY d.height, d.tenant, d.id",
);
// The largest first: amounts of negligible value come last.
static DUST: Stmt = Stmt::written(
    "deposit.dust",
    "SELECT {{deposit d}} FROM deposit d WHERE d.wallet = $2 AND d.tenant = $1 AND d.state = 'dust' AND d.coin = $3 \
     AND (d.request = $4 OR (d.request IS NULL AND CAST($5 AS BIGINT) = 1)) AND COALESCE(d.submission, 0) = $6 AND d.id <> $7 \
     ORDER BY d.amount DESC, d.id LIMIT $8",
);
static IN_REVIEW: Stmt = Stmt::written(
    "deposit.in_review",
    "SELECT {{deposit d}} FROM deposit d WHERE d.state = 'in_review' AND d.tenant = $1 \
     ORDER BY d.seen_at, d.id LIMIT $2 OFFSET $3",
);
static IN_REVIEW_TOTAL: Stmt = Stmt::written(
    "deposit.in_review_total",
    "SELECT COUNT(*) FROM deposit d WHERE d.state = 'in_review' AND d.tenant = $1",
);
// A deposit counts no earlier than it is seen: the list's index finds those that may have counted
// since then, with a week's margin for blocks that became final late.
static COUNTED: Stmt = Stmt::written(
    "deposit.counted",
    "SELECT COUNT(*), CAST(COALESCE(SUM(d.amount), 0) AS BIGINT) FROM deposit d \
     WHERE d.wallet = $2 AND d.tenant = $1 AND d.seen_at >= $5 AND d.id <> $3 AND d.credited_at > $4 \
     AND d.state NOT IN ('seen', 'orphaned', 'suspended', 'dust')",
);
static REFUSED: Stmt = Stmt::written(
    "deposit.refused",
    "SELECT {{deposit d}} FROM deposit d WHERE d.wallet = $2 AND d.tenant = $1 AND d.seen_at >= $5 AND d.id <> $3 \
     AND d.credited_at > $4 AND d.state IN ('rejected', 'legal_hold', 'refunding', 'refunded')",
);
static MONEY: Stmt = Stmt::by_keys(
    "deposit.money",
    &[("tenant", Uuid), ("wallet", Uuid), ("request", Uuid)],
    "SELECT d.request, d.state, d.pot, d.coin, CAST(SUM(d.amount) AS BIGINT) FROM {{keys}} \
     JOIN deposit d ON d.wallet = k.wallet AND d.tenant = k.tenant AND d.request = k.request \
     WHERE d.state NOT IN ('seen', 'orphaned') GROUP BY d.request, d.state, d.pot, d.coin",
);

pub(crate) static STATEMENTS: &[&Stmt] = &[
    &MONEY,
    &ONE,
    &OF_REQUEST,
    &HELD,
    &IN_STATES,
    &WAITING,
    &DUST,
    &FROM_HEIGHT,
    &IN_REVIEW,
    &IN_REVIEW_TOTAL,
    &COUNTED,
    &REFUSED,
];

impl Store {
    /// A deposit.
    ///
    /// # Errors
    /// The database cannot be reached, or the row is not readable. The same for every read here.
    pub async fn deposit(
        &self,
        tenant: TenantId,
        id: DepositId,
    ) -> Result<Option<Deposit>, StoreError> {
        let keys = self.id_keys().await?;
        Ok(self.deposits(&ONE, vec![tenant.0.into(), keys.stored(id.0).into()]).await?.pop())
    }

    /// Deposits in the escrow of a wallet's request, in order, orphaned ones included.
    ///
    /// # Errors
    /// As [`Store::deposit`].
    pub async fn deposits_of_request(
        &self,
        tenant: TenantId,
        wallet: WalletId,
        request: PaymentRequestId,
    ) -> Result<Vec<Deposit>, StoreError> {
        let keys = self.id_keys().await?;
        let ids = [wallet.0, request.0].map(|id| Value::from(keys.stored(id)));
        self.deposits(&OF_REQUEST, [vec![tenant.0.into()], ids.into()].concat()).await
    }

    /// Where the funds received for a tenant's payment requests are. Requests without deposits are
    /// omitted.
    ///
    /// # Errors
    /// As [`Store::deposit`].
    pub async fn money_of_requests(
        &self,
        tenant: TenantId,
        requests: &[PaymentRequest],
    ) -> Result<BTreeMap<PaymentRequestId, RequestMoney>, StoreError> {
        let mut found: BTreeMap<PaymentRequestId, RequestMoney> = BTreeMap::new();
        if requests.is_empty() {
            return Ok(found);
        }
        let keys = self.id_keys().await?;
        let mut wanted = Columns::new([Uuid; 3].into_iter(), requests.len());
        for request in requests {
            wanted
                .uuid(tenant.0)
                .uuid(keys.stored(request.wallet.0))
                .uuid(keys.stored(request.id.0));
        }
        for row in &self.query_keys(&MONEY, wanted).await? {
            let mut fields = row.fields();
            let request = PaymentRequestId(keys.public(fields.uuid()?));
            let state = fields.named("deposit state", DepositState::parse)?;
            let pot = fields.named("pot", Pot::parse)?;
            let coin = rows::coin(&mut fields)?;
            found.entry(request).or_default().add((state, pot), coin, fields.int()?);
        }
        Ok(found)
    }

    /// Deposits that wait for their wallet to be unblocked, in order.
    ///
    /// # Errors
    /// As [`Store::deposit`].
    pub async fn held_deposits(
        &self,
        tenant: TenantId,
        wallet: WalletId,
        limit: usize,
    ) -> Result<Vec<Deposit>, StoreError> {
        let keys = self.id_keys().await?;
        self.deposits(&HELD, vec![tenant.0.into(), keys.stored(wallet.0).into(), most(limit)]).await
    }

    /// Other dust of the same coin in the vault of a deposit, largest first.
    ///
    /// # Errors
    /// As [`Store::deposit`].
    pub async fn dust_beside(
        &self,
        deposit: &Deposit,
        limit: usize,
    ) -> Result<Vec<Deposit>, StoreError> {
        let keys = self.id_keys().await?;
        let params = vec![
            deposit.tenant.0.into(),
            keys.stored(deposit.wallet.0).into(),
            deposit.coin.currency().code().to_owned().into(),
            keys.stored(deposit.request.map_or(deposit.wallet.0, |request| request.0)).into(),
            i64::from(deposit.request.is_none()).into(),
            i64::from(deposit.submission.unwrap_or_default()).into(),
            keys.stored(deposit.id.0).into(),
            most(limit),
        ];
        let mut dust = self.deposits(&DUST, params).await?;
        dust.retain(|it| it.to == deposit.to);
        Ok(dust)
    }

    /// Deposits of a wallet in one of these states, in order.
    ///
    /// # Errors
    /// As [`Store::deposit`].
    pub async fn deposits_in(
        &self,
        tenant: TenantId,
        wallet: WalletId,
        states: &[DepositState],
        limit: usize,
    ) -> Result<Vec<Deposit>, StoreError> {
        let keys = self.id_keys().await?;
        let states: Vec<&str> = states.iter().map(|state| state.name()).collect();
        let states = Value::from(format!(",{},", states.join(",")));
        self.deposits(
            &IN_STATES,
            vec![tenant.0.into(), keys.stored(wallet.0).into(), states, most(limit)],
        )
        .await
    }

    /// Deposits of all tenants that wait for the chain, because they do not count yet or were
    /// reorganized away, up to this height: lowest first.
    ///
    /// # Errors
    /// As [`Store::deposit`].
    pub async fn waiting_deposits(
        &self,
        height: u64,
        limit: usize,
    ) -> Result<Vec<Deposit>, StoreError> {
        self.deposits(&WAITING, vec![wide(height, "block height")?.into(), most(limit)]).await
    }

    /// Deposits of all tenants, in any state, from this height on: a reorganization may affect
    /// them.
    ///
    /// # Errors
    /// As [`Store::deposit`].
    pub async fn deposits_from_height(&self, height: u64) -> Result<Vec<Deposit>, StoreError> {
        self.deposits(&FROM_HEIGHT, vec![wide(height, "block height")?.into()]).await
    }

    /// A page of the deposits that wait for review, longest waiting first.
    ///
    /// # Errors
    /// As [`Store::deposit`].
    pub async fn deposits_in_review(
        &self,
        tenant: TenantId,
        page: Page,
    ) -> Result<Listed<Deposit>, StoreError> {
        let total = total(&self.query(&IN_REVIEW_TOTAL, vec![tenant.0.into()]).await?)?;
        let rows = self
            .deposits(&IN_REVIEW, [vec![tenant.0.into()], page.params().into()].concat())
            .await?;
        Ok(Listed { rows, total })
    }

    /// A wallet's recent receipts and rejections, without `except`. Rejections of one payment
    /// request count once, and those of `except`'s own request do not count: anyone with the link
    /// could repeat them.
    ///
    /// # Errors
    /// As [`Store::deposit`].
    pub async fn velocity(
        &self,
        tenant: TenantId,
        wallet: WalletId,
        (except, request): (DepositId, Option<PaymentRequestId>),
        now: Timestamp,
    ) -> Result<Velocity, StoreError> {
        const MARGIN: Span = Span::days(7);
        let keys = self.id_keys().await?;
        let params = |window: Span| {
            let ids = [tenant.0, keys.stored(wallet.0), keys.stored(except.0)].map(Value::from);
            [ids.as_slice(), &[(now - window).0.into(), (now - window - MARGIN).0.into()]].concat()
        };
        let (day_count, day_minor) = counted(&self.query(&COUNTED, params(DAY)).await?)?;
        let (_, month_minor) = counted(&self.query(&COUNTED, params(MONTH)).await?)?;
        let refused = self.deposits(&REFUSED, params(MONTH)).await?;
        let by_screening = refused.iter().filter(|deposit| deposit.decision.is_none());
        let (of_requests, others): (Vec<_>, Vec<_>) =
            by_screening.partition(|deposit| deposit.request.is_some());
        let requests: BTreeSet<_> =
            of_requests.iter().filter_map(|deposit| deposit.request).collect();
        let counted = requests.iter().filter(|of| Some(**of) != request).count() + others.len();
        let month_rejections = u32::try_from(counted).unwrap_or(u32::MAX);
        Ok(Velocity { day_count, day_minor, month_minor, month_rejections })
    }

    async fn deposits(
        &self,
        stmt: &'static Stmt,
        params: Vec<Value>,
    ) -> Result<Vec<Deposit>, StoreError> {
        let keys = self.id_keys().await?;
        let rows = self.query(stmt, params).await?;
        rows.iter().map(|row| rows::deposit::read(&mut row.fields(), &keys)).collect()
    }
}

fn counted(rows: &[Row]) -> Result<(u32, i64), StoreError> {
    let row =
        rows.first().ok_or_else(|| StoreError::Corrupt("the count returned no row".to_owned()))?;
    let mut fields = row.fields();
    Ok((narrow(fields.int()?, "number of deposits")?, fields.int()?))
}
