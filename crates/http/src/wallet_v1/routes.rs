//! The routes, made from the table of operations, and what stands where there is none.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::routing::{any, get, post};
use domain::ids::TenantId;
use engine::payments::IdempotencyKey;
use engine::wallets::Wallets;
use http::{Request, StatusCode};

use super::gate::{Admitted, Answer, Gate};
use super::operations::{self, Operation};
use super::render::Links;
use super::{exchange, log, request, review, wallet};
use crate::problem::WalletProblem;

/// Everything that the operations share.
pub struct Api {
    pub(super) gate: Gate,
    pub(super) wallets: Wallets,
    pub(super) links: Links,
}

impl Api {
    /// The operations over the wallet service.
    pub fn new(gate: Gate, wallets: Wallets, links: Links) -> Arc<Api> {
        Arc::new(Api { gate, wallets, links })
    }

    /// The answer to a keyed request as the first one of its key read, whatever has become of the thing since. Where
    /// that could not be kept it reads as the thing is now.
    async fn as_first_answered(&self, tenant: TenantId, key: &IdempotencyKey, answer: Answer) -> Answer {
        let store = self.wallets.store();
        let kept = match answer.replayed {
            true => store.kept_answer(tenant, key).await,
            false => store.keep_answer(tenant, key, &answer.body).await.map(|()| None),
        };
        match kept {
            Ok(Some(body)) => Answer { body, ..answer },
            Ok(None) => answer,
            Err(error) => {
                tracing::warn!(%error, "what a key was answered with first is not at hand");
                answer
            }
        }
    }

    /// Prefix of links to transactions.
    pub(super) fn explorer(&self) -> String {
        self.wallets.offered().map(|offered| offered.config.explorer_tx_url.clone()).unwrap_or_default()
    }
}

/// The routes under the base URL, and v1's own words for all other paths under `/v1/sdk`.
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

/// Puts an operation where its row says.
fn mount<S, F>(router: Router<Arc<Api>>, operation: &'static Operation, serve: S) -> Router<Arc<Api>>
where
    S: Fn(Arc<Api>, Admitted) -> F + Clone + Send + Sync + 'static,
    F: Future<Output = Result<Answer, WalletProblem>> + Send,
{
    let handler = move |State(api): State<Arc<Api>>, id: Result<Path<String>, PathRejection>, asked: Request<Body>| {
        // What is not even text is nobody's id.
        let id = id.map(|Path(id)| id).unwrap_or_default();
        let served = api.clone();
        let serve = |admitted: Admitted| async move {
            let key = admitted.idempotency.as_ref().map(|asked| (admitted.caller.tenant, asked.key.clone()));
            let answer = serve(served.clone(), admitted).await?;
            match key {
                Some((tenant, key)) => Ok(served.as_first_answered(tenant, &key, answer).await),
                None => Ok(answer),
            }
        };
        async move { api.gate.handle(operation, id, asked, serve).await }
    };
    router.route(operation.path, if operation.is_post() { post(handler) } else { get(handler) })
}

async fn no_such_path(State(api): State<Arc<Api>>, request: Request<Body>) -> axum::response::Response {
    api.gate.refuse(&request, WalletProblem::not_found("There is no such path"))
}

async fn no_such_method(State(api): State<Arc<Api>>, request: Request<Body>) -> axum::response::Response {
    let message = "The path does not take this method";
    api.gate.refuse(&request, WalletProblem::new(StatusCode::METHOD_NOT_ALLOWED, "INVALID_REQUEST", message))
}
