//! Control of the simulated sender and of the sandbox's tokens, in `mock` and `test` only: pays a
//! request now, gives tokens away. Never part of production; a part of `sandbox_api`, which
//! authenticates its calls.

use std::sync::Arc;

use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{Path, Query, State};
use axum::response::{IntoResponse as _, Response};
use axum::routing::post;
use axum::{Extension, Router};
use domain::chain::{Address, TxHash};
use domain::currency::StableCoin;
use domain::ids::PaymentRequestId;
use domain::money::Money;
use domain::payment_request::{PaymentRequest, RequestState};
use engine::context::ChainContext;
use engine::wallets::Wallets;
use http_api::problem::WalletProblem;
use http_api::request_id::RequestId;
use http_api::write;
use reqwest::StatusCode;
use serde::Deserialize;

use super::chain::{CannotPay, ChainSide, Faucet};
use super::sandbox_api::Reach;
use super::sender::Sender;

/// Maximum number of tokens given away at once: 1,000,000.
const FAUCET_MAX_MINOR: i64 = 1_000_000_000_000;

/// The dependencies of the calls.
pub(super) struct ChainApi {
    wallets: Wallets,
    sender: Sender,
    faucet: Arc<Faucet>,
}

impl ChainApi {
    /// `None` if the first chain's tokens cannot be minted here.
    pub(super) fn of(wallets: &Wallets, chains: &[ChainSide]) -> Option<Arc<ChainApi>> {
        Some(Arc::new(ChainApi {
            wallets: wallets.clone(),
            sender: Sender::of(wallets, chains)?,
            faucet: chains.first()?.faucet.clone()?,
        }))
    }

    /// The simulated sender pays a request now.
    pub(super) async fn pay(
        &self,
        request: &PaymentRequest,
        amount: Option<(StableCoin, i64)>,
    ) -> anyhow::Result<Vec<TxHash>> {
        // Paid on request: the sender must not pay it a second time by itself.
        self.sender.leave_alone(request).await?;
        self.sender.pay(request, amount).await
    }

    /// Gives tokens to an address.
    pub(super) async fn give(
        &self,
        coin: StableCoin,
        to: Address,
        minor: i64,
    ) -> anyhow::Result<TxHash> {
        self.faucet.give(coin, to, u64::try_from(minor)?).await
    }
}

/// The routes below `/sandbox`.
pub(super) fn router(api: Arc<ChainApi>) -> Router {
    Router::new()
        .route("/sandbox/payment-requests/{id}/pay", post(pay))
        .route("/sandbox/payment-requests/{id}/leave", post(leave))
        .route("/sandbox/faucet", post(give))
        .with_state(api)
}

#[derive(Deserialize)]
struct PayQuery {
    currency: Option<String>,
    amount: Option<String>,
}

/// The simulated sender pays a request now, by the requested amount or a given one.
async fn pay(
    State(api): State<Arc<ChainApi>>,
    Extension(reach): Extension<Reach>,
    id: RequestId,
    request: Result<Path<String>, PathRejection>,
    query: Result<Query<PayQuery>, QueryRejection>,
) -> Response {
    // An id that is not even text matches nothing.
    let request = request.map(|Path(request)| request).unwrap_or_default();
    let paid = paid(&api, reach, &request, query).await;
    answer(&api, &id, paid)
}

async fn paid(
    api: &ChainApi,
    reach: Reach,
    request: &str,
    query: Result<Query<PayQuery>, QueryRejection>,
) -> Result<Done, WalletProblem> {
    let Query(query) =
        query.map_err(|rejection| WalletProblem::invalid_request(rejection.body_text()))?;
    let amount = match (&query.currency, &query.amount) {
        (None, None) => None,
        (coin, Some(amount)) => Some((coin_of(coin.as_deref())?, minor_of(amount)?)),
        (Some(_), None) => {
            return Err(WalletProblem::invalid_request("amount is missing").of_field("amount"));
        }
    };
    let request = find(api, reach, request).await?;
    if request.state == RequestState::Cancelled {
        let message = "A cancelled request cannot be paid; ACTIVE, PAID and EXPIRED ones can";
        return Err(WalletProblem::conflict(message).with("current_status", request.state.name()));
    }
    let hashes = api.pay(&request, amount).await.map_err(|error| unpaid(&error))?;
    let offered = api.wallets.offered_on(request.chain);
    Ok((offered.map_or_else(|_| String::new(), explorer), hashes))
}

/// The simulated sender never pays a request by itself.
async fn leave(
    State(api): State<Arc<ChainApi>>,
    Extension(reach): Extension<Reach>,
    id: RequestId,
    request: Result<Path<String>, PathRejection>,
) -> Response {
    let request = request.map(|Path(request)| request).unwrap_or_default();
    let left = left(&api, reach, &request).await;
    answer(&api, &id, left)
}

async fn left(api: &ChainApi, reach: Reach, request: &str) -> Result<Done, WalletProblem> {
    let request = find(api, reach, request).await?;
    api.sender.leave_alone(&request).await.map_err(|error| unpaid(&error))?;
    Ok((String::new(), Vec::new()))
}

async fn find(api: &ChainApi, reach: Reach, id: &str) -> Result<PaymentRequest, WalletProblem> {
    let unknown =
        || WalletProblem::not_found("Payment request not found").of_field("payment_request_id");
    let id = PaymentRequestId::parse(id).ok_or_else(unknown)?;
    let store = api.wallets.store();
    let tenants = match reach.0 {
        Some(tenant) => vec![tenant],
        None => store
            .tenants()
            .await
            .map_err(|error| failed(&error))?
            .into_iter()
            .map(|tenant| tenant.id)
            .collect(),
    };
    for tenant in tenants {
        if let Some(request) = store.request(tenant, id).await.map_err(|error| failed(&error))? {
            return Ok(request);
        }
    }
    Err(unknown())
}

#[derive(Deserialize)]
struct FaucetQuery {
    address: String,
    amount: String,
    currency: Option<String>,
}

/// Gives tokens to an address: to a browser wallet for the pay page, or to an escrow.
async fn give(
    State(api): State<Arc<ChainApi>>,
    id: RequestId,
    query: Result<Query<FaucetQuery>, QueryRejection>,
) -> Response {
    let given = given(&api, query).await;
    answer(&api, &id, given)
}

async fn given(
    api: &ChainApi,
    query: Result<Query<FaucetQuery>, QueryRejection>,
) -> Result<Done, WalletProblem> {
    let Query(query) =
        query.map_err(|rejection| WalletProblem::invalid_request(rejection.body_text()))?;
    let wrong = || {
        WalletProblem::invalid_request("must be 0x and 40 hexadecimal digits").of_field("address")
    };
    let to = Address::parse(&query.address).ok_or_else(wrong)?;
    let (coin, minor) = (coin_of(query.currency.as_deref())?, minor_of(&query.amount)?);
    let hash = api.give(coin, to, minor).await.map_err(|error| unpaid(&error))?;
    let offered = api.wallets.offered();
    Ok((offered.map_or_else(|_| String::new(), |it| explorer(it.first())), vec![hash]))
}

fn coin_of(text: Option<&str>) -> Result<StableCoin, WalletProblem> {
    let coin = StableCoin::parse(text.unwrap_or("USDC"));
    coin.ok_or_else(|| WalletProblem::invalid_request("must be USDC or USDT").of_field("currency"))
}

fn minor_of(text: &str) -> Result<i64, WalletProblem> {
    let wrong = || {
        WalletProblem::invalid_request("must be an amount up to 1000000, like \"10.00\"")
            .of_field("amount")
    };
    let amount = domain::decimal::Decimal::parse(text).map_err(|_| wrong())?;
    let money = Money::exact(amount, StableCoin::Usdc.currency()).ok_or_else(wrong)?;
    if (1..=FAUCET_MAX_MINOR).contains(&money.minor) { Ok(money.minor) } else { Err(wrong()) }
}

/// The URL prefix of a chain's transactions, and their hashes.
type Done = (String, Vec<TxHash>);

fn explorer(of: &ChainContext) -> String {
    of.config.explorer_tx_url.clone()
}

fn answer(api: &ChainApi, id: &RequestId, done: Result<Done, WalletProblem>) -> Response {
    match done {
        Ok((explorer, hashes)) => {
            let body = write::object(|out| {
                out.array("transactions", |out| {
                    for hash in &hashes {
                        out.object(|out| {
                            out.text("tx_hash", &hash.to_string());
                            out.text("blockchain_explorer_url", &format!("{explorer}{hash}"));
                        });
                    }
                });
            });
            (StatusCode::OK, [("content-type", "application/json")], body).into_response()
        }
        Err(problem) => problem.respond(id, api.wallets.world().clock.now()),
    }
}

/// A payment that the chain does not take is a conflict; every other failure is the service's own.
fn unpaid(error: &anyhow::Error) -> WalletProblem {
    match error.downcast_ref::<CannotPay>() {
        Some(reason) => WalletProblem::conflict(format!("It cannot be paid: {reason}")),
        None => failed(&format!("{error:#}")),
    }
}

fn failed(error: &dyn std::fmt::Display) -> WalletProblem {
    tracing::error!(%error, "sandbox call failed");
    WalletProblem::internal()
}
