//! A span around every request, named by OpenTelemetry's HTTP conventions and continuing the caller's trace.

use axum::extract::{MatchedPath, Request};
use axum::middleware::Next;
use axum::response::Response;
use http_api::request_id::RequestId;
use tracing::Instrument as _;
use tracing_opentelemetry::OpenTelemetrySpanExt as _;

use crate::telemetry::continue_trace;

/// Middleware: inside it everything that is logged or traced belongs to the request.
pub(super) async fn layer(request: Request, next: Next) -> Response {
    let route = request.extensions().get::<MatchedPath>().map_or("", MatchedPath::as_str);
    let id = request.extensions().get::<RequestId>().map_or("", RequestId::as_str);
    let span = tracing::info_span!(
        "request",
        otel.kind = "server",
        otel.name = %format_args!("{} {route}", request.method()),
        http.request.method = %request.method(),
        http.route = route,
        url.path = request.uri().path(),
        request_id = id,
    );
    continue_trace(&span, request.headers());
    let response = next.run(request).instrument(span.clone()).await;
    let status = response.status();
    // For the trace alone: a line of the log that stands inside the request was written before.
    span.set_attribute("http.response.status_code", i64::from(status.as_u16()));
    span.in_scope(|| tracing::debug!(status = status.as_u16(), "answered"));
    response
}
