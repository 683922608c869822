//! The routes, generated from the table of operations, and the fallbacks.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::routing::{any, get, post};
use domain::chain::ChainNumber;
use domain::ports::Clock;
use engine::command::Idempotency;
use engine::wallets::Wallets;
use http::{Request, StatusCode};
use tracing::Instrument as _;

use super::guard::{Admitted, Answer, Guard};
use super::operations::{self, Operation};
use super::refusals::RETRY_AFTER_S;
use super::render::Links;
use super::{exchange, log, refusals, request, review, wallet};
use crate::address_windows::shown;
use crate::kept_answers;
use crate::problem::WalletProblem;
use crate::request_id::RequestId;
use crate::wallet_groups::{Group, GroupLimits};

/// State shared by the operations.
pub struct Api {
    pub(super) guard: Guard,
    pub(super) wallets: Wallets,
    pub(super) links: Links,
}

impl Api {
    /// The operations of the wallet service.
    pub fn new(guard: Guard, wallets: Wallets, links: Links) -> Arc<Api> {
        Arc::new(Api { guard, wallets, links })
    }

    /// The response to a request with a key: that of its first request, whatever the resource's
    /// current state.
    async fn answered_once<F>(
        self: Arc<Self>,
        asked: Idempotency,
        admitted: Admitted,
        serve: impl Fn(Arc<Api>, Admitted) -> F + Send + 'static,
    ) -> Result<Answer, WalletProblem>
    where
        F: Future<Output = Result<Answer, WalletProblem>> + Send + 'static,
    {
        let tenant = admitted.caller.tenant;
        let store = self.wallets.store();
        let before = kept_answers::answered_before(store, tenant, &asked).await;
        if let Some(body) = before.map_err(refusals::refused)? {
            return Ok(Answer { body, replayed: true });
        }
        // Continues if the caller disconnects: a retry needs the response.
        let work = async move {
            let answer = serve(self.clone(), admitted).await?;
            // A reconstructed response is not stored: it would outlive the record that it came
            // from.
            if !answer.replayed {
                kept_answers::keep(self.wallets.store(), tenant, &asked, &answer.body).await;
            }
            Ok(answer)
        };
        let ended = tokio::spawn(work.in_current_span()).await;
        ended.unwrap_or_else(|ended| match ended.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            // The service is stopping.
            Err(_) => Err(WalletProblem::unavailable(RETRY_AFTER_S)),
        })
    }

    /// URL prefix of links to a chain's transactions.
    pub(super) fn explorer(&self, chain: ChainNumber) -> &str {
        self.wallets.offered_on(chain).map_or("", |offered| &offered.config.explorer_tx_url)
    }
}

/// The routes under the base URL, and v1's errors for all other paths under `/v1/sdk`.
pub fn router(api: Arc<Api>) -> Router {
    let router = Router::new();
    let router = mount(router, &operations::PROVISION, wallet::provision);
    let router = mount(router, &operations::GET_WALLET, wallet::get);
    let router = mount(router, &operations::BLOCK, wallet::block);
    let router = mount(router, &operations::UNBLOCK, wallet::unblock);
    let router = mount(router, &operations::BLACKLIST, wallet::blacklist);
    let router = mount(router, &operations::CREATE_REQUEST, request::create);
    let router = mount(router, &operations::LIST_REQUESTS, request::list);
    let router = mount(router, &operations::CANCEL_REQUEST, request::cancel);
    let router = mount(router, &operations::LIST_TRANSACTIONS, request::transactions);
    let router = mount(router, &operations::GET_RATE, exchange::rate);
    let router = mount(router, &operations::CREATE_ORDER, exchange::create);
    let router = mount(router, &operations::LIST_ORDERS, exchange::list);
    let router = mount(router, &operations::CANCEL_ORDER, exchange::cancel);
    let router = mount(router, &operations::GET_REQUEST, request::get);
    let router = mount(router, &operations::GET_TRANSACTION, request::transaction);
    let router = mount(router, &operations::GET_ORDER, exchange::get);
    let router = mount(router, &operations::LIST_REVIEWS, review::list);
    let router = mount(router, &operations::GET_REVIEW, review::get);
    let router = mount(router, &operations::DECIDE_REVIEW, review::decide);
    let router = mount(router, &operations::LIST_DELIVERIES, log::deliveries);
    let router = mount(router, &operations::REDELIVER, log::redeliver);
    let router = mount(router, &operations::LIST_EVENTS, log::events);
    router
        .method_not_allowed_fallback(no_such_method)
        .route("/v1/sdk", any(no_such_path))
        .route("/v1/sdk/", any(no_such_path))
        .route("/v1/sdk/{*path}", any(no_such_path))
        .with_state(api)
}

/// v1's answer to every path under `/v1/sdk` of an installation without the wallet service.
pub fn router_without_wallets(clock: &Arc<dyn Clock>) -> Router {
    let clock = clock.clone();
    let absent = move |id: RequestId, request: Request<Body>| {
        let now = clock.now();
        let limit = GroupLimits::default().of(Group::of_path(request.uri().path()));
        let problem = WalletProblem::not_found("The wallet service is not enabled");
        let mut response = problem.respond(&id, now);
        shown(limit, limit, now).write(response.headers_mut());
        std::future::ready(response)
    };
    Router::new()
        .route("/v1/sdk", any(absent.clone()))
        .route("/v1/sdk/", any(absent.clone()))
        .route("/v1/sdk/{*path}", any(absent))
}

/// Adds an operation at its path.
fn mount<S, F>(
    router: Router<Arc<Api>>,
    operation: &'static Operation,
    serve: S,
) -> Router<Arc<Api>>
where
    S: Fn(Arc<Api>, Admitted) -> F + Clone + Send + Sync + 'static,
    F: Future<Output = Result<Answer, WalletProblem>> + Send + 'static,
{
    let handler = move |State(api): State<Arc<Api>>,
                        id: Result<Path<String>, PathRejection>,
                        asked: Request<Body>| {
        // Invalid text matches no id.
        let id = id.map(|Path(id)| id).unwrap_or_default();
        let served = api.clone();
        // A repeated request shows the chain's current state (`decisions.md`,
        // "usdc_contract_blacklist_applied").
        let keeps = operation.name != operations::BLACKLIST.name;
        let serve = move |admitted: Admitted| async move {
            match admitted.idempotency.clone().filter(|_| keeps) {
                Some(asked) => served.answered_once(asked, admitted, serve).await,
                None => serve(served, admitted).await,
            }
        };
        async move { api.guard.handle(operation, id, asked, serve).await }
    };
    router.route(operation.path, if operation.is_post() { post(handler) } else { get(handler) })
}

async fn no_such_path(
    State(api): State<Arc<Api>>,
    request: Request<Body>,
) -> axum::response::Response {
    api.guard.refuse(&request, WalletProblem::not_found("Path not found"))
}

async fn no_such_method(
    State(api): State<Arc<Api>>,
    request: Request<Body>,
) -> axum::response::Response {
    let message = "Method not allowed";
    api.guard.refuse(
        &request,
        WalletProblem::new(StatusCode::METHOD_NOT_ALLOWED, "INVALID_REQUEST", message),
    )
}

#[cfg(test)]
mod tests {
    use tower::ServiceExt as _;

    use super::*;
    use crate::wallet_v1::guard::tests::Standing;

    #[tokio::test]
    async fn without_wallets_v1_answers_in_its_own_form() {
        let clock: Arc<dyn Clock> = Arc::new(Standing);
        for path in ["/v1/sdk", "/v1/sdk/", "/v1/sdk/wallets/x"] {
            let request = Request::post(path).body(Body::empty()).expect("a request");
            let response =
                router_without_wallets(&clock).oneshot(request).await.expect("infallible");
            assert_eq!(response.status(), StatusCode::NOT_FOUND, "{path}");
            assert!(response.headers().contains_key("x-ratelimit-limit"), "{path}");
            let body = axum::body::to_bytes(response.into_body(), 4_096).await.expect("a body");
            let body: serde_json::Value = serde_json::from_slice(&body).expect("JSON");
            assert_eq!(body["error"], "NOT_FOUND", "{body}");
            assert_eq!(body["message"], "The wallet service is not enabled", "{body}");
        }
    }
}
