//! A tenant's wallet records for its staff: wallets, payment requests, orders and deposits, newest
//! first, with filters. A page names its neighbours but has no total: a count would read all rows.

use domain::deposit::{Deposit, DepositState};
use domain::exchange::{ExchangeOrder, ExchangeState};
use domain::ids::TenantId;
use domain::payment_request::{PaymentRequest, RequestState};
use domain::time::Timestamp;
use domain::wallet::{KycLevel, Wallet, WalletState};

use super::keyset::{KeysetPage, KeysetWanted, Mark, Marked, both_ways};
use crate::error::StoreError;
use crate::sql::{Stmt, Value};
use crate::store::Store;

// Stored ids grow with time: their order is the order of creation, and the primary key provides it.
// $2 … hold the wanted values between commas.
static WALLETS: [Stmt; 2] = both_ways!(
    "office.wallets",
    "SELECT {{wallet w}} FROM wallet w WHERE w.tenant = $1 AND $2 LIKE '%,' || w.state || ',%' \
     AND $3 LIKE '%,' || w.kyc_level || ',%' AND ($4 = '' OR w.customer_id = $4)",
    "w.id",
    "$5",
    "w.id DESC",
    "w.id",
    "$6"
);
static REQUESTS: [Stmt; 2] = both_ways!(
    "office.requests",
    "SELECT {{payment_request r}} FROM payment_request r WHERE r.tenant = $1 AND $2 LIKE '%,' || r.state || ',%' \
     AND r.created_at >= $3 AND r.created_at < $4",
    "r.id",
    "$5",
    "r.id DESC",
    "r.id",
    "$6"
);
static ORDERS: [Stmt; 2] = both_ways!(
    "office.orders",
    "SELECT {{exchange_order e}} FROM exchange_order e WHERE e.tenant = $1 AND $2 LIKE '%,' || e.state || ',%' \
     AND e.created_at >= $3 AND e.created_at < $4",
    "e.id",
    "$5",
    "e.id DESC",
    "e.id",
    "$6"
);
// A deposit's id is that of its log: only the time determines which is newer.
static DEPOSITS: [Stmt; 2] = both_ways!(
    "office.deposits",
    "SELECT {{deposit d}} FROM deposit d WHERE d.tenant = $1 AND $2 LIKE '%,' || d.state || ',%' \
     AND d.seen_at >= $3 AND d.seen_at < $4",
    "(d.seen_at, d.id)",
    "($5, $6)",
    "d.seen_at DESC, d.id DESC",
    "d.seen_at, d.id",
    "$7"
);

pub(crate) static STATEMENTS: &[&Stmt] = &[
    &WALLETS[0],
    &WALLETS[1],
    &REQUESTS[0],
    &REQUESTS[1],
    &ORDERS[0],
    &ORDERS[1],
    &DEPOSITS[0],
    &DEPOSITS[1],
];

/// One page of a list without a total.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sheet<T> {
    /// Its rows; none beyond the end.
    pub rows: Vec<T>,
    /// Whether more rows follow in the direction in which the page was read.
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

impl Store {
    /// A page of a tenant's wallets, newest first.
    pub async fn office_wallets(
        &self,
        tenant: TenantId,
        filter: &WalletFilter,
        page: KeysetWanted,
    ) -> Result<KeysetPage<Wallet>, StoreError> {
        let params = vec![
            tenant.0.into(),
            names(&filter.states, &WalletState::ALL, WalletState::name),
            names(&filter.levels, &KycLevel::ALL, KycLevel::name),
            filter.customer_id.as_deref().unwrap_or_default().into(),
        ];
        let place = (Marked::Id, |it: &Wallet| Mark::of_id(it.created_at, it.id.0));
        self.keyset_page(&WALLETS, params, page, place).await
    }

    /// A page of a tenant's payment requests, newest first.
    pub async fn office_requests(
        &self,
        tenant: TenantId,
        wanted: &Wanted<RequestState>,
        page: KeysetWanted,
    ) -> Result<KeysetPage<PaymentRequest>, StoreError> {
        let params = params(tenant, wanted, &RequestState::ALL, RequestState::name);
        let place = (Marked::Id, |it: &PaymentRequest| Mark::of_id(it.created_at, it.id.0));
        self.keyset_page(&REQUESTS, params, page, place).await
    }

    /// A page of a tenant's exchange orders, newest first.
    pub async fn office_orders(
        &self,
        tenant: TenantId,
        wanted: &Wanted<ExchangeState>,
        page: KeysetWanted,
    ) -> Result<KeysetPage<ExchangeOrder>, StoreError> {
        let params = params(tenant, wanted, &ExchangeState::ALL, ExchangeState::name);
        let place = (Marked::Id, |it: &ExchangeOrder| Mark::of_id(it.created_at, it.id.0));
        self.keyset_page(&ORDERS, params, page, place).await
    }

    /// A page of a tenant's deposits by when they were seen, newest first; orphaned ones only on
    /// request.
    pub async fn office_deposits(
        &self,
        tenant: TenantId,
        wanted: &Wanted<DepositState>,
        page: KeysetWanted,
    ) -> Result<KeysetPage<Deposit>, StoreError> {
        let shown: Vec<DepositState> = DepositState::ALL
            .into_iter()
            .filter(|state| *state != DepositState::Orphaned)
            .collect();
        let params = params(tenant, wanted, &shown, DepositState::name);
        let place = (Marked::TimeAndId, |it: &Deposit| Mark::of_id(it.seen_at, it.id.0));
        self.keyset_page(&DEPOSITS, params, page, place).await
    }
}

/// The parameters of a tenant's records in these states and this period.
pub(super) fn params<S: Copy>(
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
