//! The guard of every operation: authentication, roles, rate limits and reading of the request, in
//! the documented order (`decisions.md`: 401, 403, 429, then the request itself). Every response
//! carries the three rate limit headers.

use std::net::{IpAddr, SocketAddr};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::response::Response;
use bytes::Bytes;
use domain::audit::AuditContext;
use domain::fault::Fault;
use domain::ports::Clock;
use engine::command::Idempotency;
use engine::payments::{Caller, Reply, Store};
use engine::wallets::Listed;
use futures_util::FutureExt as _;
use http::request::Parts;
use http::{HeaderValue, Method, Request, StatusCode, header};

use super::decode::Page;
use super::limits::{Permits, Unreadable, Windows, permits_of};
use super::operations::{Operation, RolePolicy};
use super::refusals::RETRY_AFTER_S;
use super::render;
use crate::address_windows::{AddressWindows, shown};
use crate::audit_context::audit_context;
use crate::auth::{self, AuthFault, KeyCache, KeyRing, Rules, Verifier};
use crate::idempotency::{self, IDEMPOTENT_REPLAYED, PATIENCE, Turn, UnderWay};
use crate::key_ring::{BELIEVED_FOR, Policies, StoreKeys, Tenants};
use crate::limits::Allowance;
use crate::measured::Measured;
use crate::problem::WalletProblem;
use crate::request_id::RequestId;
use crate::server::body::{BodyError, BodyLimits, ENCODED, collect, is_encoded, is_json};
use crate::wallet_groups::{Group, GroupLimits};
use crate::write::{self, ObjectWriter};

/// Settings of the operations.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The rules for tokens.
    pub rules: Rules,
    /// Requests per window of each group.
    pub limits: GroupLimits,
    /// Limits of a request's body.
    pub body: BodyLimits,
}

/// The rules that apply to every request.
pub struct Guard {
    settings: Settings,
    verifier: Verifier,
    policies: Arc<dyn Policies>,
    windows: Windows,
    strangers: AddressWindows,
    under_way: UnderWay,
    clock: Arc<dyn Clock>,
    wall_clock: Arc<dyn Clock>,
}

/// The dependencies of the guard.
pub struct Sources {
    pub keys: Arc<dyn KeyRing>,
    pub policies: Arc<dyn Policies>,
    /// The permit counter shared by all nodes.
    pub permits: Arc<dyn Permits>,
    /// The business clock, which dates errors.
    pub clock: Arc<dyn Clock>,
    /// The wall clock, for tokens and windows.
    pub wall_clock: Arc<dyn Clock>,
}

impl Sources {
    /// Keys, tenants and permits from the store.
    pub fn of_store(store: &Store, clock: Arc<dyn Clock>, wall_clock: Arc<dyn Clock>) -> Sources {
        let keys =
            KeyCache::new(StoreKeys { store: store.clone(), clock: clock.clone() }, BELIEVED_FOR);
        let policies = Tenants::new(store.clone());
        Sources {
            keys: Arc::new(keys),
            policies: Arc::new(policies),
            permits: permits_of(store),
            clock,
            wall_clock,
        }
    }
}

pub(super) struct Admitted {
    /// The path parameter; empty if there is none.
    pub(super) id: String,
    pub(super) caller: Caller,
    pub(super) access_key: Box<str>,
    /// The roles in the token.
    pub(super) roles: Vec<String>,
    pub(super) parts: Parts,
    pub(super) body: Bytes,
    pub(super) idempotency: Option<Idempotency>,
}

impl Admitted {
    /// The caller's action with its reason.
    pub(super) fn audit_context(&self, why: &str) -> AuditContext {
        audit_context(&self.access_key, &self.roles, &self.parts, why)
    }
}

/// The successful result of an operation.
pub(super) struct Answer {
    pub(super) body: Vec<u8>,
    /// Whether an earlier request created the resource.
    pub(super) replayed: bool,
}

impl Answer {
    /// A response whose body is a JSON object.
    pub(super) fn object(fill: impl FnOnce(&mut ObjectWriter<'_>)) -> Answer {
        Answer { body: write::object(fill), replayed: false }
    }

    /// A resource that this or an identical earlier request created.
    pub(super) fn made<T>(reply: Reply<T>, fill: impl FnOnce(&mut ObjectWriter<'_>, &T)) -> Answer {
        Answer { body: write::object(|out| fill(out, &reply.made)), replayed: reply.replayed }
    }

    /// A page of a list.
    pub(super) fn listed<T>(
        name: &str,
        page: Page,
        listed: &Listed<T>,
        each: impl Fn(&mut ObjectWriter<'_>, &T),
    ) -> Answer {
        Answer::object(|out| {
            out.array(name, |items| {
                listed.rows.iter().for_each(|row| items.object(|out| each(out, row)))
            });
            render::pagination(out, page, listed.total);
        })
    }
}

impl Guard {
    /// Makes a guard that reads from `sources`.
    pub fn new(sources: Sources, settings: Settings) -> Guard {
        let Sources { keys, policies, permits, clock, wall_clock } = sources;
        Guard {
            verifier: Verifier::new(keys, settings.rules.clone()),
            policies,
            windows: Windows::new(permits, settings.limits),
            strangers: AddressWindows::default(),
            under_way: UnderWay::new(PATIENCE),
            clock,
            wall_clock,
            settings,
        }
    }

    /// Passes an accepted request to `serve` and turns its result, or the refusal, into a response.
    pub(super) async fn handle<F>(
        &self,
        operation: &'static Operation,
        id: String,
        request: Request<Body>,
        serve: impl FnOnce(Admitted) -> F,
    ) -> Response
    where
        F: Future<Output = Result<Answer, WalletProblem>>,
    {
        let request_id =
            request.extensions().get::<RequestId>().cloned().unwrap_or_else(RequestId::fresh);
        let measured = Measured::begin(operation.name, &self.wall_clock);
        let mut allowance = self.untouched(operation.group);
        let answer = match self.admit(operation, id, request, &mut allowance).await {
            Ok((admitted, turn)) => {
                let answer = AssertUnwindSafe(serve(admitted)).catch_unwind().await;
                drop(turn);
                // A panic is also answered in this service's format.
                answer.unwrap_or_else(|_| {
                    tracing::error!(operation = operation.name, "operation panicked");
                    Err(WalletProblem::internal())
                })
            }
            Err(problem) => Err(problem),
        };
        let response = self.respond(answer, &request_id, allowance);
        measured.end(response.status());
        response
    }

    /// The response to a request without an operation. It is not authenticated, so it counts
    /// against the client's address.
    pub(super) fn refuse(&self, request: &Request<Body>, problem: WalletProblem) -> Response {
        let id = request.extensions().get::<RequestId>().cloned().unwrap_or_else(RequestId::fresh);
        let mut allowance = self.untouched(Group::of_path(request.uri().path()));
        let peer = request.extensions().get::<ConnectInfo<SocketAddr>>().map(|info| info.0.ip());
        let counted =
            self.count_stranger(peer, Group::of_path(request.uri().path()), &mut allowance);
        self.respond(Err(counted.err().unwrap_or(problem)), &id, allowance)
    }

    async fn admit(
        &self,
        operation: &'static Operation,
        id: String,
        request: Request<Body>,
        allowance: &mut Allowance,
    ) -> Result<(Admitted, Option<Turn>), WalletProblem> {
        let (parts, body) = request.into_parts();
        let peer = parts.extensions.get::<ConnectInfo<SocketAddr>>().map(|info| info.0.ip());
        let now = self.wall_clock.now();
        let proven = match self.verifier.verify(&parts.headers, peer, now).await {
            Ok(proven) => proven,
            Err(refused) => return Err(self.turn_away(&refused, peer, operation.group, allowance)),
        };
        let tenant = proven.tenant();
        *allowance = self
            .windows
            .take(tenant, operation.group, now)
            .await
            .map_err(|error| unreadable(&error))?;
        let policy = self.policies.of(tenant).await.map_err(|error| {
            tracing::error!(%error, "reading a tenant failed");
            WalletProblem::unavailable(RETRY_AFTER_S)
        })?;
        let policy = policy.ok_or_else(WalletProblem::internal)?;
        let roles =
            if policy.wallet.strict_roles { RolePolicy::Strict } else { RolePolicy::Default };
        if let Some(lacking) = operation.lacking(roles, &proven.roles) {
            let message = format!("The token requires the role {}", lacking.name());
            return Err(WalletProblem::forbidden(message).with("required_role", lacking.name()));
        }
        if !allowance.is_granted() {
            metrics::counter!("corridor_rate_limited_total", "operation" => operation.name)
                .increment(1);
            return Err(WalletProblem::too_many_requests(allowance));
        }
        let body = if parts.method == Method::POST {
            self.body(&parts, body).await?
        } else {
            Bytes::new()
        };
        // Tenants can require a body hash only for the payment service's POSTs; here a present
        // claim must match.
        if parts.method == Method::POST
            && let Err(fault @ AuthFault::HmacMismatch) = proven.vouches_for(&body)
        {
            return Err(self.refused(&fault.into()));
        }
        let idempotency = idempotency::of(&parts, &body).map_err(|malformed| {
            WalletProblem::from(vec![Fault::new(
                "Idempotency-Key",
                "invalid_idempotency_key",
                malformed.0,
            )])
        })?;
        let turn = self
            .under_way
            .turn_of(tenant, &parts, idempotency.as_ref())
            .await
            .map_err(|_| still_under_way())?;
        let caller = Caller { tenant, policy };
        let access_key = proven.key.access_key.clone();
        Ok((
            Admitted { id, caller, access_key, roles: proven.roles, parts, body, idempotency },
            turn,
        ))
    }

    /// The response to an unauthenticated caller: counted against the address, and 429 beyond its
    /// limit.
    fn turn_away(
        &self,
        refused: &auth::Refused,
        peer: Option<IpAddr>,
        group: Group,
        allowance: &mut Allowance,
    ) -> WalletProblem {
        let problem = self.refused(refused);
        if matches!(refused, auth::Refused::Unavailable(_)) {
            return problem;
        }
        self.count_stranger(peer, group, allowance).err().unwrap_or(problem)
    }

    fn count_stranger(
        &self,
        peer: Option<IpAddr>,
        group: Group,
        allowance: &mut Allowance,
    ) -> Result<(), WalletProblem> {
        let limit = self.settings.limits.of(group);
        *allowance = self.strangers.take(peer, group.name(), limit, self.wall_clock.now());
        if allowance.is_granted() {
            Ok(())
        } else {
            Err(WalletProblem::too_many_requests(allowance))
        }
    }

    fn refused(&self, refused: &auth::Refused) -> WalletProblem {
        refused.note();
        refused.wallet_problem(self.verifier.rules().candour())
    }

    /// The body of a POST; an empty one needs no content type.
    async fn body(&self, parts: &Parts, body: Body) -> Result<Bytes, WalletProblem> {
        let limits = self.settings.body;
        let invalid =
            |status, message: String| WalletProblem::new(status, "INVALID_REQUEST", message);
        if is_encoded(&parts.headers) {
            return Err(invalid(StatusCode::UNSUPPORTED_MEDIA_TYPE, ENCODED.to_owned()));
        }
        let body = collect(body, limits).await.map_err(|error| match error {
            BodyError::TooLarge => invalid(
                StatusCode::PAYLOAD_TOO_LARGE,
                format!("The body is larger than {} bytes", limits.max_bytes),
            ),
            BodyError::TooSlow => {
                invalid(StatusCode::REQUEST_TIMEOUT, "The body did not arrive in time".to_owned())
            }
            BodyError::Broken => WalletProblem::invalid_request("The body is incomplete"),
        })?;
        if !body.is_empty() && !is_json(&parts.headers) {
            return Err(WalletProblem::invalid_request("The body must be application/json"));
        }
        Ok(body)
    }

    /// A window in an unknown state.
    fn untouched(&self, group: Group) -> Allowance {
        let limit = self.settings.limits.of(group);
        shown(limit, limit, self.wall_clock.now())
    }

    fn respond(
        &self,
        answer: Result<Answer, WalletProblem>,
        id: &RequestId,
        allowance: Allowance,
    ) -> Response {
        let mut response = match answer {
            Ok(answer) => served(answer),
            Err(problem) => problem.respond(id, self.clock.now()),
        };
        let headers = response.headers_mut();
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        // A refusal may set its own Retry-After.
        Allowance { retry_after_s: None, ..allowance }.write(headers);
        response
    }
}

fn served(answer: Answer) -> Response {
    let mut response = Response::new(Body::from(answer.body));
    response
        .headers_mut()
        .insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    if answer.replayed {
        response
            .headers_mut()
            .insert(IDEMPOTENT_REPLAYED.clone(), HeaderValue::from_static("true"));
    }
    response
}

fn still_under_way() -> WalletProblem {
    WalletProblem::conflict("A request with this key is still in progress")
        .of_field("Idempotency-Key")
        .retry_after(RETRY_AFTER_S)
}

fn unreadable(error: &Unreadable) -> WalletProblem {
    tracing::error!(%error, "drawing a rate limit permit failed");
    WalletProblem::unavailable(RETRY_AFTER_S)
}

#[cfg(test)]
#[path = "guard_tests.rs"]
pub(super) mod tests;
