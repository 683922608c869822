//! What the SRE asks: is it alive, is it ready, what does it count.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use domain::ports::Clock as _;
use engine::payments::Payments;
use http_api::write;
use reqwest::StatusCode;
use tokio::sync::watch;

use crate::telemetry::Exposition;

/// What the answers are made of.
pub struct Ops {
    /// The payment service.
    pub payments: Payments,
    /// The metrics.
    pub metrics: Exposition,
    /// Whether the service is stopping.
    pub stopping: watch::Receiver<bool>,
}

/// `/livez`, `/readyz` and `/metrics`.
pub fn router(ops: Arc<Ops>) -> Router {
    Router::new()
        .route("/livez", get(|| async { "ok\n" }))
        .route("/readyz", get(ready))
        .route("/metrics", get(metrics))
        .with_state(ops)
}

async fn ready(State(ops): State<Arc<Ops>>) -> Response {
    let checks = [
        ("store", ops.payments.store().ready().await.map_err(|error| error.to_string())),
        ("draining", if *ops.stopping.borrow() { Err("the service is stopping".to_owned()) } else { Ok(()) }),
    ];
    let healthy = checks.iter().all(|(_, check)| check.is_ok());
    let body = write::object(|out| {
        out.text("status", if healthy { "ready" } else { "not_ready" });
        out.object("checks", |out| {
            for (name, check) in &checks {
                out.text(name, check.as_ref().err().map_or("ok", String::as_str));
            }
        });
    });
    let status = if healthy { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    (status, [("content-type", "application/json")], body).into_response()
}

async fn metrics(State(ops): State<Arc<Ops>>) -> Response {
    let now = ops.payments.world().clock.now();
    if let Err(error) = gauges(&ops.payments, now).await {
        tracing::warn!(%error, "gauges that need the store were not brought up to date");
    }
    ([("content-type", "text/plain; version=0.0.4")], ops.metrics.render()).into_response()
}

/// Gauges that are read when they are asked for.
async fn gauges(payments: &Payments, now: domain::time::Timestamp) -> Result<(), store::StoreError> {
    for (kind, count) in payments.store().job_counts(now).await? {
        metrics::gauge!("corridor_jobs", "kind" => kind.name()).set(count.total);
        metrics::gauge!("corridor_job_oldest_seconds", "kind" => kind.name()).set(count.oldest_s);
    }
    Ok(())
}
