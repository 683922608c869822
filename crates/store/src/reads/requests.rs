//! Payment requests, and senders' submissions.

use domain::ids::{PaymentRequestId, TenantId, WalletId};
use domain::payment_request::{PaymentRequest, RefundTo, RequestState, SenderInfo};
use domain::time::Timestamp;

use super::page::{Listed, Page};
use crate::error::StoreError;
use crate::rows;
use crate::sql::{Stmt, Value};
use crate::store::Store;

static ONE: Stmt = Stmt::written(
    "request.one",
    "SELECT {{payment_request r}} FROM payment_request r WHERE r.tenant = $1 AND r.id = $2",
);
static BY_TOKEN: Stmt = Stmt::written(
    "request.by_token",
    "SELECT {{payment_request r}} FROM payment_request r WHERE r.token_digest = $1",
);
// $3 holds the wanted states between commas.
static LIST: Stmt = Stmt::written(
    "request.list",
    "SELECT {{payment_request r}} FROM payment_request r WHERE r.wallet = $2 AND r.tenant = $1 \
     AND $3 LIKE '%,' || r.state || ',%' ORDER BY r.created_at DESC, r.id DESC LIMIT $4 OFFSET $5",
);
static LIST_TOTAL: Stmt = Stmt::written(
    "request.list_total",
    "SELECT COUNT(*) FROM payment_request r WHERE r.wallet = $2 AND r.tenant = $1 \
     AND $3 LIKE '%,' || r.state || ',%'",
);
// Across tenants: for a sandbox that simulates their senders.
static NEW: Stmt = Stmt::written(
    "request.new",
    "SELECT {{payment_request r}} FROM payment_request r WHERE r.created_at > $1 AND r.state IN ('ACTIVE', 'EXPIRED') \
     ORDER BY r.created_at, r.id LIMIT $2",
);
static SENDERS: Stmt = Stmt::written(
    "request.senders",
    "SELECT {{sender_info s}} FROM sender_info s WHERE s.tenant = $1 AND s.request = $2 ORDER BY s.id",
);

static REFUND_ADDRESSES: Stmt = Stmt::written(
    "request.refund_addresses",
    "SELECT {{refund_address a}} FROM refund_address a WHERE a.tenant = $1 AND a.request = $2 ORDER BY a.at, a.id",
);

pub(crate) static STATEMENTS: &[&Stmt] =
    &[&ONE, &BY_TOKEN, &LIST, &LIST_TOTAL, &NEW, &SENDERS, &REFUND_ADDRESSES];

impl Store {
    pub async fn request(
        &self,
        tenant: TenantId,
        id: PaymentRequestId,
    ) -> Result<Option<PaymentRequest>, StoreError> {
        self.one(&ONE, (tenant, id)).await
    }

    /// The payment request of a link's token, of any tenant.
    pub async fn request_by_token(
        &self,
        token: &str,
    ) -> Result<Option<PaymentRequest>, StoreError> {
        self.one(&BY_TOKEN, rows::request::token_digest(token)).await
    }

    /// A page of a wallet's payment requests, newest first.
    pub async fn list_requests(
        &self,
        tenant: TenantId,
        wallet: WalletId,
        state: Option<RequestState>,
        page: Page,
    ) -> Result<Listed<PaymentRequest>, StoreError> {
        let states = state.map_or_else(|| RequestState::ALL.to_vec(), |state| vec![state]);
        let states: Vec<&str> = states.into_iter().map(RequestState::name).collect();
        let states = Value::from(format!(",{},", states.join(",")));
        self.listed((&LIST_TOTAL, &LIST), (tenant, wallet, states), page).await
    }

    /// Payment requests of all tenants that were made after an instant and wait for funds, or did
    /// until they expired, oldest first. For a sandbox with simulated senders, which reads every
    /// request.
    pub async fn new_requests(
        &self,
        after: Timestamp,
        limit: usize,
    ) -> Result<Vec<PaymentRequest>, StoreError> {
        self.many(&NEW, (after, limit)).await
    }

    /// Senders' submissions for a request, in order.
    pub async fn sender_infos(
        &self,
        tenant: TenantId,
        request: PaymentRequestId,
    ) -> Result<Vec<SenderInfo>, StoreError> {
        self.many(&SENDERS, (tenant, request)).await
    }

    /// Refund addresses that senders entered for a request, in order.
    pub async fn refund_addresses(
        &self,
        tenant: TenantId,
        request: PaymentRequestId,
    ) -> Result<Vec<RefundTo>, StoreError> {
        self.many(&REFUND_ADDRESSES, (tenant, request)).await
    }
}
