//! A tenant's wallet records for its staff: wallets, payment requests, orders and deposits, newest
//! first, with filters. A page states whether more follow but has no total: a count would read all
//! rows.

use domain::deposit::{Deposit, DepositState};
use domain::exchange::{ExchangeOrder, ExchangeState};
use domain::ids::TenantId;
use domain::payment_request::{PaymentRequest, RequestState};
use domain::time::Timestamp;
use domain::wallet::{KycLevel, Wallet, WalletState};

use super::page::Page;
use crate::error::StoreError;
use crate::rows::column::Get;
use crate::sql::{Stmt, Value};
use crate::store::{Store, read};

// Stored ids grow with time: their order is the order of creation, and the primary key provides it.
// $2 … hold the wanted values between commas.
static WALLETS: Stmt = Stmt::written(
    "office.wallets",
    "SELECT {{wallet w}} FROM wallet w WHERE w.tenant = $1 AND $2 LIKE '%,' || w.state || ',%' \
     AND $3 LIKE '%,' || w.kyc_level || ',%' AND ($4 = '' OR w.customer_id = $4) \
     ORDER BY w.id DESC LIMIT $5 OFFSET $6",
);
static REQUESTS: Stmt = Stmt::written(
    "office.requests",
    "SELECT {{payment_request r}} FROM payment_request r WHERE r.tenant = $1 AND $2 LIKE '%,' || r.state || ',%' \
     AND r.created_at >= $3 AND r.created_at < $4 ORDER BY r.id DESC LIMIT $5 OFFSET $6",
);
static ORDERS: Stmt = Stmt::written(
    "office.orders",
    "SELECT {{exchange_order e}} FROM exchange_order e WHERE e.tenant = $1 AND $2 LIKE '%,' || e.state || ',%' \
     AND e.created_at >= $3 AND e.created_at < $4 ORDER BY e.id DESC LIMIT $5 OFFSET $6",
);
// A deposit's id is that of its log: only the time determines which is newer.
static DEPOSITS: Stmt = Stmt::written(
    "office.deposits",
    "SELECT {{deposit d}} FROM deposit d WHERE d.tenant = $1 AND $2 LIKE '%,' || d.state || ',%' \
     AND d.seen_at >= $3 AND d.seen_at < $4 ORDER BY d.seen_at DESC, d.id DESC LIMIT $5 OFFSET $6",
);

pub(crate) static STATEMENTS: &[&Stmt] = &[&WALLETS, &REQUESTS, &ORDERS, &DEPOSITS];

/// One page of a list without a total.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sheet<T> {
    /// Its rows; none beyond the end.
    pub rows: Vec<T>,
    /// Whether more rows follow.
    pub more: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WalletFilter {
    /// States; empty = all.
    pub states: Vec<WalletState>,
    /// KYC levels; empty = all.
    pub levels: Vec<KycLevel>,
    /// The bank's own customer id, exactly.
    pub customer_id: Option<String>,
}

/// Selects records by state and start time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted<S> {
    /// States; empty = all.
    pub states: Vec<S>,
    /// Started at or after.
    pub start: Option<Timestamp>,
    /// Started before this instant.
    pub end: Option<Timestamp>,
}

impl<S> Default for Wanted<S> {
    fn default() -> Wanted<S> {
        Wanted { states: Vec::new(), start: None, end: None }
    }
}

/// Names between commas; all names if none is wanted.
fn names<S: Copy>(wanted: &[S], all: &[S], name: impl Fn(S) -> &'static str) -> Value {
    let wanted = if wanted.is_empty() { all } else { wanted };
    let names: Vec<&str> = wanted.iter().map(|it| name(*it)).collect();
    format!(",{},", names.join(",")).into()
}

/// One row more than the page has, to detect whether more follow.
fn one_more(page: Page) -> [Value; 2] {
    let limit = i64::from(page.limit);
    [(limit + 1).into(), (i64::from(page.page) * limit).into()]
}

impl Store {
    /// A page of a tenant's wallets, newest first.
    pub async fn office_wallets(
        &self,
        tenant: TenantId,
        filter: &WalletFilter,
        page: Page,
    ) -> Result<Sheet<Wallet>, StoreError> {
        let params = vec![
            tenant.0.into(),
            names(&filter.states, &WalletState::ALL, WalletState::name),
            names(&filter.levels, &KycLevel::ALL, KycLevel::name),
            filter.customer_id.as_deref().unwrap_or_default().into(),
        ];
        self.sheet(&WALLETS, params, page).await
    }

    /// A page of a tenant's payment requests, newest first.
    pub async fn office_requests(
        &self,
        tenant: TenantId,
        wanted: &Wanted<RequestState>,
        page: Page,
    ) -> Result<Sheet<PaymentRequest>, StoreError> {
        let params = params(tenant, wanted, &RequestState::ALL, RequestState::name);
        self.sheet(&REQUESTS, params, page).await
    }

    /// A page of a tenant's exchange orders, newest first.
    pub async fn office_orders(
        &self,
        tenant: TenantId,
        wanted: &Wanted<ExchangeState>,
        page: Page,
    ) -> Result<Sheet<ExchangeOrder>, StoreError> {
        let params = params(tenant, wanted, &ExchangeState::ALL, ExchangeState::name);
        self.sheet(&ORDERS, params, page).await
    }

    /// A page of a tenant's deposits by when they were seen, newest first; orphaned ones only on
    /// request.
    pub async fn office_deposits(
        &self,
        tenant: TenantId,
        wanted: &Wanted<DepositState>,
        page: Page,
    ) -> Result<Sheet<Deposit>, StoreError> {
        let shown: Vec<DepositState> = DepositState::ALL
            .into_iter()
            .filter(|state| *state != DepositState::Orphaned)
            .collect();
        let params = params(tenant, wanted, &shown, DepositState::name);
        self.sheet(&DEPOSITS, params, page).await
    }

    async fn sheet<T: Get>(
        &self,
        stmt: &'static Stmt,
        mut params: Vec<Value>,
        page: Page,
    ) -> Result<Sheet<T>, StoreError> {
        params.extend(one_more(page));
        let keys = self.id_keys().await?;
        let mut rows = self.query(stmt, params).await?;
        let limit = usize::try_from(page.limit).unwrap_or(usize::MAX);
        let more = rows.len() > limit;
        rows.truncate(limit);
        Ok(Sheet { rows: read(&rows, &keys)?, more })
    }
}

fn params<S: Copy>(
    tenant: TenantId,
    wanted: &Wanted<S>,
    all: &[S],
    name: impl Fn(S) -> &'static str,
) -> Vec<Value> {
    vec![
        tenant.0.into(),
        names(&wanted.states, all, name),
        wanted.start.map_or(i64::MIN, |at| at.0).into(),
        wanted.end.map_or(i64::MAX, |at| at.0).into(),
    ]
}
