//! Control of the simulated parties, in `mock` and `test` only: the bank's own book, a payment's
//! outcome, and the bank's statements. Never part of production.
//!
//! In `mock` no real money is involved and the calls need no token. In `test` they need one like
//! any other call, and reach only the caller's own payments, because other clients may reach that
//! service.

mod bank_statement;

use std::net::SocketAddr;
use std::sync::Arc;

use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{ConnectInfo, Path, Query, Request, State};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use axum::{Extension, Router};
use domain::ids::{PaymentId, TenantId};
use domain::ports::Clock as _;
use domain::time::Span;
use engine::payments::{Payments, StoreError};
use http_api::payments_v2::Api;
use http_api::problem::Problem;
use http_api::request_id::RequestId;
use http_api::write;
use reqwest::StatusCode;
use serde::Deserialize;
use store::CLOCK_OFFSET;
use testkit::bank::{BookKind, BookLine, Outcome, SimulatedBank, SteerFault};

use super::clock::BusinessClock;
use super::routes::Parts;
use super::sandbox_chain_api::{self, ChainApi};
use super::world::FreshRates;

/// Maximum step of the clock, in seconds (400 days).
const ADVANCE_MAX_S: i64 = 400 * 86_400;

/// The dependencies of the calls.
pub(super) struct SandboxApi {
    payments: Payments,
    bank: Option<Arc<SimulatedBank>>,
    clock: BusinessClock,
    rates: FreshRates,
    /// Held while the clock is advanced, so that the stored offset matches it.
    moving: tokio::sync::Mutex<()>,
    /// Verifies tokens, if they are required.
    gate: Option<Arc<Api>>,
}

/// The tenant whose payments a call may reach; `None`: any.
#[derive(Clone, Copy)]
pub(super) struct Reach(pub(super) Option<TenantId>);

impl SandboxApi {
    /// `gate` verifies the calls' tokens; without it none is required.
    pub(super) fn of(parts: &Parts<'_>, gate: Option<Arc<Api>>) -> Arc<SandboxApi> {
        Arc::new(SandboxApi {
            payments: parts.payments.clone(),
            bank: parts.bank.clone(),
            clock: parts.clock.clone(),
            rates: parts.rates.clone(),
            moving: tokio::sync::Mutex::default(),
            gate,
        })
    }

    fn bank(&self) -> Result<&SimulatedBank, Problem> {
        self.simulated_bank().ok_or_else(|| {
            Problem::bad_request("no_simulated_bank", "No rail of this installation is simulated")
        })
    }

    /// Whether the caller is one of several tenants.
    async fn is_shared(&self, reach: Reach) -> Result<bool, StoreError> {
        Ok(reach.0.is_some() && self.payments.store().tenants().await?.len() > 1)
    }

    /// The simulated bank, if there is one.
    pub(super) fn simulated_bank(&self) -> Option<&SimulatedBank> {
        self.bank.as_deref()
    }

    /// How far the business clock is ahead.
    pub(super) fn ahead(&self) -> Span {
        self.clock.ahead()
    }

    /// Advances the business clock.
    pub(super) async fn advance(&self, span: Span) -> Result<(), StoreError> {
        let moving = self.moving.lock().await;
        let ahead = Span(self.clock.ahead().0.saturating_add(span.0));
        // Stored first: the clock must never go back after a restart.
        self.payments.store().set_meta(CLOCK_OFFSET, &ahead.0.to_string()).await?;
        self.clock.advance(span);
        drop(moving);
        // The sandbox's rates are refreshed at once, so that a step of the clock does not make them
        // stale.
        if let FreshRates::Embedded(rates) = &self.rates {
            rates.tick(self.clock.now());
        }
        Ok(())
    }
}

/// The possible outcomes of an order at the simulated bank, by the names of the payment's states,
/// with descriptions.
pub(super) const ENDINGS: [(&str, &str, Outcome); 5] = [
    ("succeeded", "paid", Outcome::Settle),
    ("failed", "not paid", Outcome::Fail),
    ("reversed", "paid, and came back", Outcome::Return),
    ("canceled", "cancelled and refunded", Outcome::Cancel),
    ("unknown", "the bank does not know", Outcome::Unknown),
];

/// The routes below `/sandbox`.
pub(super) fn router(api: Arc<SandboxApi>, chain: Option<Arc<ChainApi>>) -> Router {
    let own = Router::new()
        .route("/sandbox/bank/book", get(book))
        .route("/sandbox/bank/statement", post(bank_statement::close))
        .route("/sandbox/payments/{id}/{state}", post(steer))
        .route("/sandbox/clock", get(show_clock).post(advance_clock))
        .with_state(api.clone());
    let all = match chain {
        Some(chain) => own.merge(sandbox_chain_api::router(chain)),
        None => own,
    };
    all.route_layer(from_fn_with_state(api, admit))
}

async fn admit(
    State(api): State<Arc<SandboxApi>>,
    id: RequestId,
    mut request: Request,
    next: Next,
) -> Response {
    let reach = match &api.gate {
        None => Reach(None),
        Some(gate) => {
            let peer =
                request.extensions().get::<ConnectInfo<SocketAddr>>().map(|info| info.0.ip());
            match gate.authenticate(request.headers(), peer).await {
                Ok(tenant) => Reach(Some(tenant)),
                Err(problem) => return problem.respond(&id),
            }
        }
    };
    request.extensions_mut().insert(reach);
    next.run(request).await
}

fn unreadable_query(rejection: &QueryRejection) -> Problem {
    Problem::bad_request("invalid_query", rejection.body_text())
}

#[derive(Deserialize)]
struct BookQuery {
    external_id: Option<String>,
    payment_id: Option<String>,
}

/// The bank's book: one line per payout (and per return).
async fn book(
    State(api): State<Arc<SandboxApi>>,
    Extension(reach): Extension<Reach>,
    id: RequestId,
    query: Result<Query<BookQuery>, QueryRejection>,
) -> Response {
    match book_lines(&api, reach, query).await {
        Ok(lines) => {
            let body = write::object(|out| {
                out.array("lines", |out| {
                    lines.iter().for_each(|line| out.object(|out| write_line(out, line)))
                });
            });
            json(StatusCode::OK, body)
        }
        Err(problem) => problem.respond(&id),
    }
}

async fn book_lines(
    api: &SandboxApi,
    reach: Reach,
    query: Result<Query<BookQuery>, QueryRejection>,
) -> Result<Vec<BookLine>, Problem> {
    let Query(query) = query.map_err(|rejection| unreadable_query(&rejection))?;
    let bank = api.bank()?;
    let payments = match (&query.external_id, &query.payment_id) {
        (Some(external), _) => {
            by_external_id(&api.payments, reach, external).await.map_err(|error| failed(&error))?
        }
        (None, Some(id)) => vec![reachable(&api.payments, reach, id).await?],
        (None, None) => {
            return Err(Problem::bad_request("missing_query", "Give external_id or payment_id"));
        }
    };
    let mut lines = Vec::new();
    for payment in payments {
        lines.extend(bank.book(&payment.end_to_end_id()).map_err(|error| failed(&error))?);
    }
    Ok(lines)
}

/// The bank does not know tenants; a sandbox has few.
async fn by_external_id(
    payments: &Payments,
    reach: Reach,
    external_id: &str,
) -> Result<Vec<PaymentId>, StoreError> {
    let tenants = match reach.0 {
        Some(tenant) => vec![tenant],
        None => payments.store().tenants().await?.into_iter().map(|tenant| tenant.id).collect(),
    };
    let mut found = Vec::new();
    for tenant in tenants {
        found.extend(payments.store().payment_id_by_external(tenant, external_id).await?);
    }
    Ok(found)
}

/// The payment with this id, if the call may reach it.
async fn reachable(payments: &Payments, reach: Reach, id: &str) -> Result<PaymentId, Problem> {
    let id = PaymentId::parse(id).ok_or_else(unknown_payment)?;
    let Some(tenant) = reach.0 else { return Ok(id) };
    let record =
        payments.store().payment_record(tenant, id).await.map_err(|error| failed(&error))?;
    record.map(|record| record.payment.id).ok_or_else(unknown_payment)
}

fn write_line(out: &mut write::ObjectWriter<'_>, line: &BookLine) {
    out.text("kind", if line.kind == BookKind::Paid { "paid" } else { "returned" });
    out.text("rail", &line.rail);
    out.text("end_to_end_id", &line.end_to_end_id);
    out.text("instruction_id", &line.instruction_id);
    out.text("uetr", &line.uetr);
    out.money("amount", line.amount);
    out.text("currency", line.amount.currency.code());
    out.text("account", &line.account);
    out.text("beneficiary", &line.beneficiary);
    out.text("reference", &line.reference);
    out.time("at", line.at);
}

/// Sets the outcome of a payment's newest order at the bank.
async fn steer(
    State(api): State<Arc<SandboxApi>>,
    Extension(reach): Extension<Reach>,
    id: RequestId,
    path: Result<Path<(String, String)>, PathRejection>,
) -> Response {
    // An id that is not even text matches nothing.
    let (payment, state) = path.map(|Path(both)| both).unwrap_or_default();
    match steered(&api, reach, &payment, &state).await {
        Ok(status) => json(StatusCode::OK, write::object(|out| out.text("bank_status", &status))),
        Err(problem) => problem.respond(&id),
    }
}

async fn steered(
    api: &SandboxApi,
    reach: Reach,
    payment: &str,
    state: &str,
) -> Result<String, Problem> {
    let known = ENDINGS.iter().find(|(name, ..)| *name == state);
    let outcome = known.map(|(.., outcome)| *outcome).ok_or_else(|| {
        let legal = ENDINGS.map(|(name, ..)| name).join(", ");
        Problem::bad_request("unknown_state", format!("Must be one of {legal}"))
    })?;
    let payment = reachable(&api.payments, reach, payment).await?;
    match api.bank()?.steer(&payment.end_to_end_id(), outcome) {
        Ok(standing) => Ok(format!("{:?}", standing.status)),
        Err(SteerFault::NotFound) => {
            Err(Problem::conflict("not_at_the_bank", "The bank has no order of this payment yet")
                .retry_after(1))
        }
        Err(fault @ SteerFault::Illegal { .. }) => {
            Err(Problem::new(StatusCode::CONFLICT, "illegal_move", fault.to_string()))
        }
        Err(SteerFault::Book(error)) => Err(failed(&error)),
    }
}

fn unknown_payment() -> Problem {
    Problem::bad_request("payment_not_found", "Payment not found")
}

fn failed(error: &dyn std::fmt::Display) -> Problem {
    tracing::error!(%error, "sandbox call failed");
    Problem::internal()
}

async fn show_clock(State(api): State<Arc<SandboxApi>>) -> Response {
    json(StatusCode::OK, clock_body(&api))
}

#[derive(Deserialize)]
struct AdvanceQuery {
    seconds: String,
}

/// Advances the business clock: quotes expire, deadlines pass; tokens keep the wall clock. All
/// tenants share it, so that none of several may move it for the others.
async fn advance_clock(
    State(api): State<Arc<SandboxApi>>,
    Extension(reach): Extension<Reach>,
    id: RequestId,
    query: Result<Query<AdvanceQuery>, QueryRejection>,
) -> Response {
    let query = match query {
        Ok(Query(query)) => query,
        Err(rejection) => return unreadable_query(&rejection).respond(&id),
    };
    let seconds = query.seconds.parse().ok().filter(|it| (1..=ADVANCE_MAX_S).contains(it));
    let Some(seconds) = seconds else {
        let message = format!("seconds must be a whole number from 1 to {ADVANCE_MAX_S}");
        return Problem::bad_request("invalid_seconds", message).respond(&id);
    };
    match api.is_shared(reach).await {
        Ok(false) => {}
        Ok(true) => return shared_clock().respond(&id),
        Err(error) => return failed(&error).respond(&id),
    }
    match api.advance(Span::secs(seconds)).await {
        Ok(()) => json(StatusCode::OK, clock_body(&api)),
        Err(error) => failed(&error).respond(&id),
    }
}

fn shared_clock() -> Problem {
    let message = "All tenants share one clock: advance it on the sandbox page of the console, as a \
                   user for all tenants";
    Problem::new(StatusCode::FORBIDDEN, "shared_clock", message)
}

fn clock_body(api: &SandboxApi) -> Vec<u8> {
    write::object(|out| {
        out.time("now", api.clock.now());
        out.integer("ahead_seconds", api.clock.ahead().0 / 1_000_000);
    })
}

fn json(status: StatusCode, body: Vec<u8>) -> Response {
    (status, [("content-type", "application/json")], body).into_response()
}
