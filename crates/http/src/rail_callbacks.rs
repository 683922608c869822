//! `POST /rails/{id}/callbacks`: what a connector reports by itself. It is acknowledged once it is
//! stored, and never before.
//!
//! An unknown rail, one without callbacks and a wrong signature get the same response: it reveals
//! nothing about the installation. An address with many of them is not listened to for a while.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::rejection::PathRejection;
use axum::extract::{ConnectInfo, Path, State};
use axum::response::Response;
use axum::routing::post;
use domain::ports::{BoxFuture, Clock, Rail};
use domain::rail::{Callback, CallbackRefusal, RailId, Reports};
use engine::workers::Workers;
use http::request::Parts;
use http::{HeaderMap, Request, StatusCode};

use crate::address_windows::AddressWindows;
use crate::json_body::json_body;
use crate::problem::Problem;
use crate::request_id::RequestId;
use crate::server::body::BodyLimits;

/// Headers of a callback, by the Standard Webhooks specification.
const HEADERS: [&str; 3] = ["webhook-id", "webhook-timestamp", "webhook-signature"];
/// `Retry-After` in seconds of a callback that could not be stored.
const RETRY_AFTER_S: i64 = 1;
/// Refused callbacks of one address in a minute, after which none is read.
pub const REFUSED_PER_MINUTE: u32 = 60;
const REFUSED: &str = "callbacks";

/// What stores and applies reports.
pub trait ReportTaker: Send + Sync {
    /// Whether all of it is stored. If not, the sender repeats it.
    fn take<'a>(&'a self, rail: &'a dyn Rail, reports: &'a Reports) -> BoxFuture<'a, bool>;
}

impl ReportTaker for Workers {
    fn take<'a>(&'a self, rail: &'a dyn Rail, reports: &'a Reports) -> BoxFuture<'a, bool> {
        Box::pin(self.take_in(rail, reports))
    }
}

/// State of the route.
pub struct Callbacks {
    pub rails: BTreeMap<RailId, Arc<dyn Rail>>,
    pub taker: Arc<dyn ReportTaker>,
    /// By which signatures are recent.
    pub wall_clock: Arc<dyn Clock>,
    pub body: BodyLimits,
    pub refused: AddressWindows,
}

pub fn router(callbacks: Arc<Callbacks>) -> Router {
    Router::new().route("/rails/{id}/callbacks", post(take)).with_state(callbacks)
}

async fn take(
    State(callbacks): State<Arc<Callbacks>>,
    rail: Result<Path<String>, PathRejection>,
    request: Request<Body>,
) -> Response {
    let id = request.extensions().get::<RequestId>().cloned().unwrap_or_else(RequestId::fresh);
    let rail = rail.ok().and_then(|Path(rail)| callbacks.rails.get(&RailId::new(&rail)));
    let peer = request.extensions().get::<ConnectInfo<SocketAddr>>().map(|info| info.0.ip());
    let (parts, body) = request.into_parts();
    match callbacks.take(rail.map(AsRef::as_ref), peer, &parts, body).await {
        Ok(()) => {
            let mut response = Response::new(Body::empty());
            *response.status_mut() = StatusCode::NO_CONTENT;
            response
        }
        Err(problem) => problem.respond(&id),
    }
}

impl Callbacks {
    async fn take(
        &self,
        rail: Option<&dyn Rail>,
        peer: Option<IpAddr>,
        parts: &Parts,
        body: Body,
    ) -> Result<(), Problem> {
        let now = self.wall_clock.now();
        let allowance = self.refused.look(peer, REFUSED, REFUSED_PER_MINUTE, now);
        if let Some(seconds) = allowance.retry_after_s {
            return Err(Problem::too_many_requests(seconds));
        }
        let body = json_body(&parts.headers, body, self.body).await?;
        let [id, timestamp, signature] = HEADERS.map(|name| only(&parts.headers, name));
        let callback = Callback { id, timestamp, signature, body: &body };
        let read =
            rail.map_or(Err(CallbackRefusal::NotTaken), |it| it.read_callback(&callback, now));
        let (rail, (reports, unreadable)) = match (rail, read) {
            (Some(rail), Ok(reports)) => (rail, (reports, None)),
            // Kept for operators: it will not be readable later either.
            (Some(rail), Err(CallbackRefusal::Unreadable(why))) => {
                let unreadable = vec![format!("callback {id}: {why}")];
                (rail, (Reports { unreadable, ..Reports::default() }, Some(why)))
            }
            (rail, Err(refusal)) => {
                self.refused.take(peer, REFUSED, REFUSED_PER_MINUTE, now);
                return Err(refused(rail, refusal));
            }
            (None, Ok(_)) => return Err(unauthorized()),
        };
        if !self.taker.take(rail, &reports).await {
            count(rail, "not_stored");
            return Err(Problem::unavailable(RETRY_AFTER_S));
        }
        if let Some(why) = unreadable {
            count(rail, "unreadable");
            return Err(Problem::bad_request("unreadable_report", why));
        }
        count(rail, "taken");
        tracing::info!(rail = %rail.id(), callback = id, "rail callback stored");
        Ok(())
    }
}

/// The value of a header that may be sent once; empty if it is missing or repeated.
fn only<'a>(headers: &'a HeaderMap, name: &str) -> &'a str {
    let mut values = headers.get_all(name).iter();
    match (values.next().and_then(|value| value.to_str().ok()), values.next()) {
        (Some(value), None) => value,
        _ => "",
    }
}

fn refused(rail: Option<&dyn Rail>, why: CallbackRefusal) -> Problem {
    if let Some(rail) = rail {
        count(rail, "refused");
    }
    let rail = rail.map(|rail| rail.id().to_string());
    tracing::warn!(rail, %why, "rail callback refused");
    unauthorized()
}

fn unauthorized() -> Problem {
    Problem::unauthorized("The callback is not authenticated")
}

fn count(rail: &dyn Rail, outcome: &'static str) {
    metrics::counter!("corridor_rail_callbacks_total", "rail" => rail.id().to_string(), "outcome" => outcome)
        .increment(1);
}
