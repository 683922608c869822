//! Wraps every request: its id, a span named by OpenTelemetry's HTTP conventions that continues the
//! caller's trace, and an answer even if the handler panics. One layer only, because each one costs
//! every request an allocation and a copy of everything within.

use std::panic::AssertUnwindSafe;

use axum::extract::{MatchedPath, Request};
use axum::middleware::Next;
use axum::response::Response;
use domain::ports::Clock as _;
use futures_util::FutureExt as _;
use http_api::problem::{Problem, WalletProblem};
use http_api::request_id::RequestId;
use http_api::server::deadline::{self, Deadline};
use tracing::Instrument as _;
use tracing_opentelemetry::OpenTelemetrySpanExt as _;

use crate::clock::WallClock;
use crate::telemetry::continue_trace;

/// When a client may try again.
const RETRY_AFTER_S: i64 = 1;

/// Middleware: everything logged or traced within it belongs to the request.
pub(super) async fn layer(mut request: Request, next: Next) -> Response {
    let id = RequestId::settle(&mut request);
    let own_id = id.clone();
    let route = request.extensions().get::<MatchedPath>().map_or("", MatchedPath::as_str);
    let span = tracing::info_span!(
        "request",
        otel.kind = "server",
        otel.name = %format_args!("{} {route}", request.method()),
        http.request.method = %request.method(),
        http.route = route,
        url.path = shown_path(request.uri().path(), route),
        request_id = id.as_str(),
    );
    continue_trace(&span, request.headers());
    let (request, deadline) = Deadline::of(request, deadline::ANSWER_WITHIN);
    let is_wallets = request.uri().path().starts_with("/v1/");
    let answering = async move {
        match deadline {
            None => next.run(request).await,
            Some(deadline) => tokio::select! {
                biased;
                answer = next.run(request) => answer,
                () = deadline.passed() => too_late(is_wallets, &own_id),
            },
        }
    };
    // A panic leaves no shared state half-done: commands are decided elsewhere.
    let answered = AssertUnwindSafe(answering).catch_unwind().instrument(span.clone()).await;
    let mut response = answered.unwrap_or_else(|_| {
        span.in_scope(|| tracing::error!("a request panicked"));
        Problem::internal().respond(&id)
    });
    let status = response.status();
    // For the trace only: log lines within the request are already written.
    span.set_attribute("http.response.status_code", i64::from(status.as_u16()));
    span.in_scope(|| tracing::debug!(status = status.as_u16(), "answered"));
    id.write(response.headers_mut());
    response
}

/// A request's path for logs and traces. Who knows the path of a payment page acts for its sender:
/// only its route is shown.
fn shown_path<'a>(path: &'a str, route: &'a str) -> &'a str {
    match (path.starts_with("/pay/"), route) {
        (false, _) => path,
        (true, "") => "/pay/",
        (true, route) => route,
    }
}

/// The answer to a request that waits for the store. What it asked for may still be done: a repeat with
/// its key tells.
fn too_late(is_wallets: bool, id: &RequestId) -> Response {
    tracing::debug!("request reached its deadline");
    if is_wallets {
        WalletProblem::store_away(RETRY_AFTER_S).respond(id, WallClock.now())
    } else {
        Problem::store_away(RETRY_AFTER_S).respond(id)
    }
}

#[cfg(test)]
mod tests {
    use axum::Router;
    use axum::body::Body;
    use axum::routing::get;
    use http_api::request_id::X_REQUEST_ID;
    use tower::ServiceExt as _;

    use super::*;

    async fn panics() {
        panic!("a handler's panic");
    }

    #[test]
    fn no_credential_of_a_payment_page_is_shown() {
        let route = "/pay/{token}/{submission}";
        assert_eq!(shown_path("/pay/k3y/0123", route), route);
        assert_eq!(shown_path("/pay/k3y/not/a/page", ""), "/pay/");
        assert_eq!(shown_path("/v2/payments/1", "/v2/payments/{id}"), "/v2/payments/1");
    }

    #[tokio::test]
    async fn a_request_whose_handler_panics_is_answered_under_its_id() {
        let app = Router::new().route("/", get(panics)).layer(axum::middleware::from_fn(layer));
        let request = Request::get("/")
            .header(X_REQUEST_ID, "mine-1")
            .body(Body::empty())
            .expect("a request");
        let response = app.oneshot(request).await.expect("an answer");
        assert_eq!(
            (response.status().as_u16(), &response.headers()[X_REQUEST_ID]),
            (500, &"mine-1".parse().expect("a value"))
        );
        let body = axum::body::to_bytes(response.into_body(), 1_000).await.expect("a body");
        assert!(String::from_utf8_lossy(&body).contains("mine-1"), "{body:?}");
    }
}
