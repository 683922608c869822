//! The guard of every operation: authentication, rate limits and reading of the request, in the
//! documented order (`decisions.md`, "Precedence": 401, 403, 429, then the request itself).

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::response::Response;
use bytes::Bytes;
use domain::audit::AuditContext;
use domain::ids::TenantId;
use domain::ports::Clock;
use domain::time::Timestamp;
use engine::command::Idempotency;
use engine::payments::{Caller, Denied, Payments};
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Method, Request, StatusCode, header};

use crate::audit_context::audit_context;
use crate::auth::{self, KeyCache, Rules, Verifier};
use crate::compressed;
use crate::idempotency::{self, IDEMPOTENT_REPLAYED, Turn, UnderWay};
use crate::json_body::json_body;
use crate::kept_answers;
use crate::key_ring::{BELIEVED_FOR, StoreKeys, Tenants};
use crate::limits::{Allowance, Limits, Operation, Rates};
use crate::measured::Measured;
use crate::problem::Problem;
use crate::request_id::RequestId;
use crate::server::body::BodyLimits;

/// `Retry-After` in seconds for a request whose key is still in progress.
const RETRY_AFTER_S: i64 = 1;

/// Settings of the operations.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The rules for tokens.
    pub rules: Rules,
    /// The rate limits of each key.
    pub rates: Rates,
    /// Maximum number of concurrent event streams per key.
    pub streams_per_key: usize,
    /// Heartbeat interval of an idle stream.
    pub heartbeat: Duration,
    /// Timeout for a request that waits for the first one with its Idempotency-Key.
    pub patience: Duration,
    /// Limits of a request's body.
    pub body: BodyLimits,
    /// Becomes true when the service stops; streams end then.
    pub stopping: tokio::sync::watch::Receiver<bool>,
}

/// State shared by the operations.
pub struct Api {
    pub(super) payments: Payments,
    pub(super) settings: Settings,
    verifier: Verifier,
    tenants: Tenants,
    limits: Limits,
    under_way: UnderWay,
    streams: Mutex<HashMap<Box<str>, usize>>,
}

pub(super) struct Admitted {
    pub(super) caller: Caller,
    pub(super) access_key: Box<str>,
    pub(super) parts: Parts,
    pub(super) body: Bytes,
    pub(super) idempotency: Option<Idempotency>,
}

impl Admitted {
    /// The address that the request came from.
    pub(super) fn peer(&self) -> Option<IpAddr> {
        peer_of(&self.parts)
    }

    /// The caller's action with its reason.
    pub(super) fn audit_context(&self, why: &str) -> AuditContext {
        audit_context(&self.access_key, &[], &self.parts, why)
    }
}

fn peer_of(parts: &Parts) -> Option<IpAddr> {
    parts.extensions.get::<ConnectInfo<SocketAddr>>().map(|info| info.0.ip())
}

/// The successful result of an operation.
pub(super) struct Answer {
    body: Body,
    content_type: &'static str,
    replayed: bool,
    streamed: bool,
}

impl Answer {
    pub(super) fn json(body: Vec<u8>) -> Answer {
        Answer {
            body: body.into(),
            content_type: "application/json",
            replayed: false,
            streamed: false,
        }
    }

    pub(super) fn made(body: Vec<u8>, replayed: bool) -> Answer {
        Answer { replayed, ..Answer::json(body) }
    }

    pub(super) const fn stream(body: Body, content_type: &'static str) -> Answer {
        Answer { body, content_type, replayed: false, streamed: true }
    }
}

impl Api {
    /// The operations of the payment service.
    pub fn new(payments: Payments, settings: Settings) -> Arc<Api> {
        let keys =
            StoreKeys { store: payments.store().clone(), clock: payments.world().clock.clone() };
        let keys = KeyCache::new(keys, BELIEVED_FOR);
        Arc::new(Api {
            verifier: Verifier::new(Arc::new(keys), settings.rules.clone()),
            tenants: Tenants::new(payments.store().clone()),
            limits: Limits::new(settings.rates),
            under_way: UnderWay::new(settings.patience),
            streams: Mutex::default(),
            payments,
            settings,
        })
    }

    /// Passes an accepted request to `serve` and turns its result, or the refusal, into a response.
    pub(super) async fn handle<F>(
        self: Arc<Self>,
        operation: Operation,
        name: &'static str,
        request: Request<Body>,
        serve: impl FnOnce(Arc<Api>, Admitted) -> F,
    ) -> Response
    where
        F: Future<Output = Result<Answer, Problem>>,
    {
        let id = request.extensions().get::<RequestId>().cloned().unwrap_or_else(RequestId::fresh);
        let measured = Measured::begin(name, &self.wall_clock());
        let mut allowance = self.limits.untouched(operation);
        let answer = match self.admit(operation, name, request, &mut allowance).await {
            Ok((admitted, _turn)) => serve(self.clone(), admitted).await,
            Err(problem) => Err(problem),
        };
        if answer.as_ref().is_err_and(|problem| problem.status() == StatusCode::TOO_MANY_REQUESTS) {
            // After any 429 (streams are counted separately) the remaining requests are reported as
            // 0.
            allowance.remaining = 0;
        }
        let mut response = answer.map_or_else(|problem| problem.respond(&id), respond);
        let retry_after = response.headers().get(header::RETRY_AFTER).cloned();
        allowance.write(response.headers_mut());
        if let Some(value) = retry_after {
            response.headers_mut().insert(header::RETRY_AFTER, value);
        }
        measured.end(response.status());
        response
    }

    /// Takes an account check from the tenant's bucket for a request of another operation.
    pub(super) fn takes_account_check(&self, admitted: &Admitted) -> Result<(), Problem> {
        let tenant = admitted.caller.tenant.to_string();
        within(&self.limits.take(&tenant, Operation::CheckAccount, self.now()), "check_account")
    }

    /// The stored response to the first request with this one's key, where the store's records
    /// cannot reproduce it.
    pub(super) async fn answered_before(
        &self,
        admitted: &Admitted,
    ) -> Result<Option<Answer>, Problem> {
        let Some(asked) = &admitted.idempotency else { return Ok(None) };
        let (store, tenant) = (self.payments.store(), admitted.caller.tenant);
        let before = kept_answers::answered_before(store, tenant, asked).await;
        let before =
            before.map_err(|refused| super::refusals::problem(Denied::Refused(refused)))?;
        Ok(before.map(|body| Answer::made(body, true)))
    }

    /// Stores the response to the first request with a key.
    pub(super) async fn keep_answer(&self, admitted: &Admitted, body: &[u8]) {
        if let Some(asked) = &admitted.idempotency {
            let tenant = admitted.caller.tenant;
            kept_answers::keep(self.payments.store(), tenant, asked, body).await;
        }
    }

    /// The response to a request of no operation: it takes from no bucket.
    pub(super) fn refuse(&self, request: &Request<Body>, problem: Problem) -> Response {
        let id = request.extensions().get::<RequestId>().cloned().unwrap_or_else(RequestId::fresh);
        let mut response = problem.respond(&id);
        self.limits.untouched(Operation::GetOne).write(response.headers_mut());
        response
    }

    async fn admit(
        &self,
        operation: Operation,
        name: &'static str,
        request: Request<Body>,
        allowance: &mut Allowance,
    ) -> Result<(Admitted, Option<Turn>), Problem> {
        let (parts, body) = request.into_parts();
        let now = self.now();
        let peer = peer_of(&parts);
        let proven = self.verifier.verify(&parts.headers, peer, self.wall_clock().now()).await;
        let proven = proven.map_err(|refused| self.refused(&refused))?;
        *allowance = match operation {
            Operation::CheckAccount => {
                self.limits.take(&proven.tenant().to_string(), operation, now)
            }
            _ => self.limits.take(&proven.key.access_key, operation, now),
        };
        within(allowance, name)?;
        let body = if parts.method == Method::POST {
            json_body(&parts.headers, body, self.settings.body).await?
        } else {
            Bytes::new()
        };
        if parts.method == Method::POST {
            proven.vouches_for(&body).map_err(|fault| self.refused(&fault.into()))?;
        }
        let tenant = proven.tenant();
        let policy = self
            .tenants
            .policy(tenant)
            .await
            .map_err(|error| super::refusals::problem(error.into()))?;
        let policy = policy.ok_or_else(Problem::internal)?;
        let idempotency = idempotency::of(&parts, &body).map_err(|malformed| {
            Problem::invalid_header("idempotency-key", "invalid_idempotency_key", malformed.0)
        })?;
        let turn = self
            .under_way
            .turn_of(tenant, &parts, idempotency.as_ref())
            .await
            .map_err(|_| still_under_way())?;
        let caller = Caller { tenant, policy };
        Ok((
            Admitted {
                caller,
                access_key: proven.key.access_key.clone(),
                parts,
                body,
                idempotency,
            },
            turn,
        ))
    }

    /// Authenticates a tenant by its headers, for routes beside the operations. Not rate
    /// limited.
    ///
    /// # Errors
    /// 401, 403, or 503 if the keys cannot be read.
    pub async fn authenticate(
        &self,
        headers: &HeaderMap,
        peer: Option<IpAddr>,
    ) -> Result<TenantId, Problem> {
        let proven = self.verifier.verify(headers, peer, self.wall_clock().now()).await;
        proven.map(|caller| caller.tenant()).map_err(|refused| self.refused(&refused))
    }

    /// Checks the key of a request that lasts, before more is sent to its caller.
    ///
    /// # Errors
    /// 401 or 403 if a request with this key would be refused now.
    pub(super) async fn still_admits(
        &self,
        access_key: &str,
        peer: Option<IpAddr>,
    ) -> Result<(), Problem> {
        let admitted = self.verifier.still_admits(access_key, peer).await;
        admitted.map_err(|refused| self.refused(&refused))
    }

    fn refused(&self, refused: &auth::Refused) -> Problem {
        refused.note();
        refused.problem(self.verifier.rules().candour())
    }

    /// Tokens are checked against the wall clock, whatever a sandbox's business clock shows.
    fn wall_clock(&self) -> Arc<dyn Clock> {
        self.payments.world().wall_clock.clone()
    }

    pub(super) fn now(&self) -> Timestamp {
        self.payments.world().clock.now()
    }

    /// Takes one of a key's event streams; dropping the returned value releases it.
    pub(super) fn take_stream(self: &Arc<Self>, access_key: &str) -> Result<StreamPermit, Problem> {
        let mut streams = self.streams.lock().unwrap_or_else(PoisonError::into_inner);
        let open = streams.entry(access_key.into()).or_insert(0);
        if *open >= self.settings.streams_per_key {
            let message =
                format!("At most {} event streams per key", self.settings.streams_per_key);
            return Err(Problem::new(StatusCode::TOO_MANY_REQUESTS, "too_many_streams", message)
                .retry_after(1));
        }
        *open += 1;
        metrics::gauge!("corridor_event_streams").increment(1);
        Ok(StreamPermit { api: self.clone(), access_key: access_key.into() })
    }
}

/// An open event stream of a key.
pub(super) struct StreamPermit {
    api: Arc<Api>,
    access_key: Box<str>,
}

impl Drop for StreamPermit {
    fn drop(&mut self) {
        metrics::gauge!("corridor_event_streams").decrement(1);
        let mut streams = self.api.streams.lock().unwrap_or_else(PoisonError::into_inner);
        match streams.get_mut(&self.access_key) {
            Some(open) if *open > 1 => *open -= 1,
            _ => {
                streams.remove(&self.access_key);
            }
        }
    }
}

/// 429 and its metric, if a request of an operation exceeds its limit.
fn within(allowance: &Allowance, name: &'static str) -> Result<(), Problem> {
    allowance.retry_after_s.map_or(Ok(()), |seconds| {
        metrics::counter!("corridor_rate_limited_total", "operation" => name).increment(1);
        Err(Problem::too_many_requests(seconds))
    })
}

fn still_under_way() -> Problem {
    let message = "A request with this Idempotency-Key is still in progress";
    Problem::new(StatusCode::CONFLICT, "request_under_way", message).retry_after(RETRY_AFTER_S)
}

fn respond(answer: Answer) -> Response {
    let mut response = Response::new(answer.body);
    response
        .headers_mut()
        .insert(header::CONTENT_TYPE, HeaderValue::from_static(answer.content_type));
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    if answer.streamed {
        compressed::mark_stream(response.headers_mut());
    }
    if answer.replayed {
        response
            .headers_mut()
            .insert(IDEMPOTENT_REPLAYED.clone(), HeaderValue::from_static("true"));
    }
    response
}
