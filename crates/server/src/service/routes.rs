//! The whole HTTP face of a process: operations, description, health, and in a sandbox the simulated parties.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use domain::policy::Environment;
use domain::time::Span;
use engine::payments::Payments;
use http_api::auth::{Rules, Service as ApiService};
use http_api::limits::{Rate, Rates};
use http_api::payments_v2::{self, Api};
use http_api::problem::Problem;
use http_api::request_id::{self, RequestId};
use http_api::server::Settings;
use http_api::server::body::BodyLimits;
use testkit::bank::SimulatedBank;
use tokio::sync::watch;
use tower_http::catch_panic::CatchPanicLayer;

use super::Role;
use super::clock::BusinessClock;
use super::ops::{self, Ops};
use super::sandbox_api::{self, SandboxApi};
use crate::config::Config;
use crate::telemetry::Exposition;

/// What the routes are made of.
pub(super) struct Parts<'a> {
    pub config: &'a Config,
    pub payments: Payments,
    pub public_url: &'a str,
    pub role: Role,
    pub metrics: Exposition,
    pub bank: Option<Arc<SimulatedBank>>,
    pub clock: BusinessClock,
    pub stopping: watch::Receiver<bool>,
}

pub(super) fn router(parts: &Parts<'_>) -> Router {
    let ops = Ops { payments: parts.payments.clone(), metrics: parts.metrics.clone(), stopping: parts.stopping.clone() };
    let mut router = ops::router(Arc::new(ops));
    if parts.role != Role::Worker {
        let api = Api::new(parts.payments.clone(), settings(parts.config, parts.public_url, parts.stopping.clone()));
        router = router.merge(payments_v2::router(api)).merge(http_api::openapi::router());
        if parts.config.environment != Environment::Production {
            router = router.merge(sandbox_api::router(SandboxApi::of(parts)));
        }
    }
    router
        .fallback(|id: RequestId| async move { Problem::no_such_route().respond(&id) })
        .method_not_allowed_fallback(|id: RequestId| async move { Problem::method_not_allowed().respond(&id) })
        .layer(CatchPanicLayer::custom(|_| Problem::internal().respond(&RequestId::fresh())))
        .layer(axum::middleware::from_fn(request_id::layer))
}

fn settings(config: &Config, public_url: &str, stopping: watch::Receiver<bool>) -> payments_v2::Settings {
    let limits = &config.limits;
    let mut rules = Rules::new(config.environment, ApiService::Pay, public_url);
    rules.max_lifetime_s = config.token_max_age_s().into();
    payments_v2::Settings {
        rules,
        rates: Rates {
            create_quote: Rate::new(limits.quote_per_s, limits.quote_burst),
            create_payment: Rate::new(limits.payment_per_s, limits.payment_burst),
            get_one: Rate::new(limits.get_per_s, limits.get_burst),
            list: Rate::new(limits.list_per_s, limits.list_burst),
            off: !config.limits_on(),
        },
        streams_per_key: limits.streams_per_key as usize,
        body: BodyLimits {
            max_bytes: config.http.max_body_bytes,
            read_timeout: Duration::from_secs(config.http.body_timeout_s),
        },
        event_retention: Span::days(config.payments.event_retention_days.into()),
        stopping,
    }
}

pub(super) fn server_settings(config: &Config) -> Settings {
    Settings {
        tls: None,
        connections_max: config.http.max_connections,
        head_read_timeout: Duration::from_secs(config.http.header_timeout_s),
        drain_timeout: Duration::from_secs(config.http.drain_timeout_s),
    }
}
