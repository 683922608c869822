//! Incoming transactions: individually, of a request, held, waiting for the chain, in review, and
//! summed up.

use std::collections::BTreeMap;

use domain::chain::ChainNumber;
use domain::currency::StableCoin;
use domain::deposit::{Deposit, DepositBucket, DepositState};
use domain::ids::{DepositId, PaymentRequestId, TenantId, WalletId};
use domain::payment_request::{PaymentRequest, RequestMoney};
use domain::risk::{Assessment, Velocity};
use domain::time::{Span, Timestamp};

use super::keyset::{KeysetPage, KeysetWanted, Mark, Marked};
use super::page::{Listed, Page, most};
use crate::error::StoreError;
use crate::sql::Kind::Uuid;
use crate::sql::{Stmt, Value};
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
    "SELECT {{deposit d}} FROM deposit d WHERE d.request = $2 AND d.tenant = $1 ORDER BY d.seen_at, d.id",
);
// $3 holds the wanted states between commas.
static IN_STATES: Stmt = Stmt::written(
    "deposit.in_states",
    "SELECT {{deposit d}} FROM deposit d WHERE d.wallet = $2 AND d.tenant = $1 \
     AND $3 LIKE '%,' || d.state || ',%' ORDER BY d.seen_at, d.id LIMIT $4",
);
static WAITING: Stmt = Stmt::written(
    "deposit.waiting",
    "SELECT {{deposit d}} FROM deposit d WHERE d.chain = $1 AND d.state IN ('seen', 'suspended') AND d.height <= $2 \
     ORDER BY d.height, d.tenant, d.id LIMIT $3",
);
static FROM_HEIGHT: Stmt = Stmt::written(
    "deposit.from_height",
    "SELECT {{deposit d}} FROM deposit d WHERE d.chain = $1 AND d.height >= $2 ORDER BY d.height, d.tenant, d.id",
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
static TO_REVIEW: [Stmt; 2] = [
    Stmt::written(
        "deposit.to_review",
        "SELECT {{deposit d}} FROM deposit d WHERE d.state = 'in_review' AND d.tenant = $1 \
         AND (d.seen_at, d.id) > ($2, $3) ORDER BY d.seen_at, d.id LIMIT $4",
    ),
    Stmt::written(
        "deposit.to_review_older",
        "SELECT {{deposit d}} FROM deposit d WHERE d.state = 'in_review' AND d.tenant = $1 \
         AND (d.seen_at, d.id) < ($2, $3) ORDER BY d.seen_at DESC, d.id DESC LIMIT $4",
    ),
];
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
static OF_WALLET: Stmt = Stmt::written(
    "deposit.of_wallet",
    "SELECT {{deposit d}} FROM deposit d WHERE d.wallet = $2 AND d.tenant = $1 \
     AND d.seen_at <= $3 ORDER BY d.seen_at DESC, d.id DESC LIMIT $4",
);
static MONEY: Stmt = Stmt::by_keys(
    "deposit.money",
    &[("tenant", Uuid), ("request", Uuid)],
    "SELECT d.request, d.state, d.pot, d.coin, CAST(SUM(d.amount) AS BIGINT) FROM {{keys}} \
     JOIN deposit d ON d.tenant = k.tenant AND d.request = k.request \
     WHERE d.state NOT IN ('seen', 'orphaned') GROUP BY d.request, d.state, d.pot, d.coin",
);

pub(crate) static STATEMENTS: &[&Stmt] = &[
    &OF_WALLET,
    &MONEY,
    &ONE,
    &OF_REQUEST,
    &IN_STATES,
    &WAITING,
    &DUST,
    &FROM_HEIGHT,
    &IN_REVIEW,
    &IN_REVIEW_TOTAL,
    &TO_REVIEW[0],
    &TO_REVIEW[1],
    &COUNTED,
    &REFUSED,
];

impl Store {
    pub async fn deposit(
        &self,
        tenant: TenantId,
        id: DepositId,
    ) -> Result<Option<Deposit>, StoreError> {
        self.one(&ONE, (tenant, id)).await
    }

    /// Deposits in the escrow of a wallet's request, in order, orphaned ones included.
    pub async fn deposits_of_request(
        &self,
        tenant: TenantId,
        request: PaymentRequestId,
    ) -> Result<Vec<Deposit>, StoreError> {
        self.many(&OF_REQUEST, (tenant, request)).await
    }

    /// The latest deposits to a wallet that were seen at this instant or earlier, newest first.
    pub async fn deposits_of_wallet(
        &self,
        tenant: TenantId,
        wallet: WalletId,
        until: Timestamp,
        limit: usize,
    ) -> Result<Vec<Deposit>, StoreError> {
        self.many(&OF_WALLET, (tenant, wallet, until, most(limit))).await
    }

    /// Where the funds received for a tenant's payment requests are. Requests without deposits are
    /// omitted.
    pub async fn money_of_requests(
        &self,
        tenant: TenantId,
        requests: &[PaymentRequest],
    ) -> Result<BTreeMap<PaymentRequestId, RequestMoney>, StoreError> {
        let mut found: BTreeMap<PaymentRequestId, RequestMoney> = BTreeMap::new();
        if requests.is_empty() {
            return Ok(found);
        }
        let wanted = requests.iter().map(|request| (tenant, request.id));
        let sums: Vec<(PaymentRequestId, DepositState, DepositBucket, StableCoin, i64)> =
            self.many_by(&MONEY, wanted).await?;
        for (request, state, pot, coin, minor) in sums {
            found.entry(request).or_default().add((state, pot), coin, minor);
        }
        Ok(found)
    }

    /// Other dust of the same coin in the vault of a deposit, largest first.
    pub async fn dust_beside(
        &self,
        deposit: &Deposit,
        limit: usize,
    ) -> Result<Vec<Deposit>, StoreError> {
        let vault = deposit.request.map_or(deposit.wallet.0, |request| request.0);
        let params = (
            deposit.tenant,
            deposit.wallet,
            deposit.coin,
            vault,
            deposit.request.is_none(),
            deposit.submission.unwrap_or_default(),
            deposit.id,
            most(limit),
        );
        let mut dust: Vec<Deposit> = self.many(&DUST, params).await?;
        dust.retain(|it| it.to == deposit.to);
        Ok(dust)
    }

    /// Deposits of a wallet in one of these states, in order.
    pub async fn deposits_in(
        &self,
        tenant: TenantId,
        wallet: WalletId,
        states: &[DepositState],
        limit: usize,
    ) -> Result<Vec<Deposit>, StoreError> {
        let states: Vec<&str> = states.iter().map(|state| state.name()).collect();
        let states = Value::from(format!(",{},", states.join(",")));
        self.many(&IN_STATES, (tenant, wallet, states, most(limit))).await
    }

    /// Deposits of all tenants that wait for their chain, because they do not count yet or were
    /// reorganized away, up to this height: lowest first.
    pub async fn waiting_deposits(
        &self,
        chain: ChainNumber,
        height: u64,
        limit: usize,
    ) -> Result<Vec<Deposit>, StoreError> {
        self.many(&WAITING, (chain, height, most(limit))).await
    }

    /// A chain's deposits of all tenants, in any state, from this height on: a reorganization may affect
    /// them.
    pub async fn deposits_from_height(
        &self,
        chain: ChainNumber,
        height: u64,
    ) -> Result<Vec<Deposit>, StoreError> {
        self.many(&FROM_HEIGHT, (chain, height)).await
    }

    /// A page of the deposits that wait for review, longest waiting first.
    pub async fn deposits_in_review(
        &self,
        tenant: TenantId,
        page: Page,
    ) -> Result<Listed<Deposit>, StoreError> {
        self.listed((&IN_REVIEW_TOTAL, &IN_REVIEW), tenant, page).await
    }

    /// The same list turned from a row: a decision in the meantime shifts none.
    pub async fn deposits_to_review(
        &self,
        tenant: TenantId,
        page: KeysetWanted,
    ) -> Result<KeysetPage<Deposit>, StoreError> {
        let mark = |it: &Deposit| Mark::of_id(it.seen_at, it.id.0);
        let place = (Marked::OldestTimeAndId, mark);
        self.keyset_page(&TO_REVIEW, vec![tenant.0.into()], page, place).await
    }

    /// A wallet's recent receipts and rejections, without `except`. Rejections of one payment
    /// request count once, and those of `except`'s own request do not count: anyone with the link
    /// could repeat them. A request with a rejection for more than an entered name is one of those.
    pub async fn velocity(
        &self,
        tenant: TenantId,
        wallet: WalletId,
        (except, request): (DepositId, Option<PaymentRequestId>),
        now: Timestamp,
    ) -> Result<Velocity, StoreError> {
        const MARGIN: Span = Span::days(7);
        let params = |window: Span| (tenant, wallet, except, now - window, now - window - MARGIN);
        let (day_count, day_minor) = self.only(&COUNTED, params(DAY)).await?;
        let (_, month_minor): (u32, i64) = self.only(&COUNTED, params(MONTH)).await?;
        let refused: Vec<Deposit> = self.many(&REFUSED, params(MONTH)).await?;
        let by_screening = refused.iter().filter(|deposit| deposit.decision.is_none());
        // By what is one cause: the request, or else the deposit itself.
        let mut causes: BTreeMap<uuid::Uuid, bool> = BTreeMap::new();
        for deposit in by_screening.filter(|it| it.request.is_none() || it.request != request) {
            let cause = deposit.request.map_or(deposit.id.0, |request| request.0);
            let is_name = deposit.assessment.as_ref().is_some_and(Assessment::is_for_a_name);
            *causes.entry(cause).or_insert(true) &= is_name;
        }
        let count = |names: bool| {
            let counted = causes.values().filter(|is_name| **is_name == names).count();
            u32::try_from(counted).unwrap_or(u32::MAX)
        };
        let (month_rejections, month_names) = (count(false), count(true));
        Ok(Velocity { day_count, day_minor, month_minor, month_rejections, month_names })
    }
}
