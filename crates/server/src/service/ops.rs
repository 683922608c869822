//! What the SRE asks: is it alive, is it ready, what does it count.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use domain::job::JobKind;
use domain::time::Span;
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
    let counts = payments.store().job_counts().await?;
    let runnable = |kind: &JobKind| *kind != JobKind::Review;
    let due = counts.iter().filter(|count| runnable(&count.kind) && count.oldest <= now);
    let oldest = due.map(|count| now - count.oldest).max().unwrap_or(Span(0));
    set("corridor_job_oldest_due_seconds", oldest.0 / 1_000_000);
    let waiting = |kind| counts.iter().find(|count| count.kind == kind).map_or(0, |count| count.count);
    set("corridor_jobs_due", waiting(JobKind::Submit) + waiting(JobKind::Inquire));
    set("corridor_review_queue_items", waiting(JobKind::Review));
    Ok(())
}

/// Sets a gauge to a whole number. The recorder keeps gauges as floating point; these never leave the exact range.
fn set(name: &'static str, value: i64) {
    metrics::gauge!(name).set(u32::try_from(value.max(0)).unwrap_or(u32::MAX));
}
