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
        url.path = recorded_path(request.uri().path(), route),
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
        match is_wallets {
            true => WalletProblem::internal().respond(&id, WallClock.now()),
            false => Problem::internal().respond(&id),
        }
    });
    let status = response.status();
    // For the trace only: log lines within the request are already written.
    span.set_attribute("http.response.status_code", i64::from(status.as_u16()));
    span.in_scope(|| tracing::debug!(status = status.as_u16(), "answered"));
    id.write(response.headers_mut());
    response
}

/// The path as traces and logs may have it. A path of the payment page contains the only credential of
/// a link or a receipt, so its route stands for it.
fn recorded_path<'a>(path: &'a str, route: &'a str) -> &'a str {
    let first = path.split('/').find(|part| !part.is_empty());
    if first.is_some_and(|first| first.eq_ignore_ascii_case("pay")) { route } else { path }
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
    use std::sync::{Arc, Mutex};

    use axum::Router;
    use axum::body::Body;
    use axum::routing::get;
    use http_api::request_id::X_REQUEST_ID;
    use tower::ServiceExt as _;

    use super::*;

    #[test]
    fn a_link_of_the_payment_page_is_in_no_span() {
        let route = "/pay/{token}/{submission}";
        for path in ["/pay/AAAA/1", "//pay/AAAA/1", "/PAY/AAAA/1"] {
            assert_eq!(recorded_path(path, route), route, "{path}");
        }
        assert_eq!(recorded_path("/pay/a/b/c/d/e", ""), "", "no route");
        for path in ["/", "/v2/payments/1", "/payments/pay"] {
            assert_eq!(recorded_path(path, "/other"), path);
        }
    }

    /// What is logged, with the spans of each line.
    #[derive(Clone, Default)]
    struct Log(Arc<Mutex<Vec<u8>>>);

    impl std::io::Write for Log {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().expect("the log").write(bytes)
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    /// Whether a span is of interest is remembered for the whole process: one test with a subscriber,
    /// or without, at a time.
    static ONE_AT_A_TIME: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());

    async fn warns() {
        tracing::warn!("a handler's warning");
    }

    #[tokio::test]
    async fn a_warning_within_a_request_of_the_payment_page_is_logged_without_its_link() {
        let _alone = ONE_AT_A_TIME.lock().await;
        let log = Log::default();
        let writer = log.clone();
        let subscriber =
            tracing_subscriber::fmt().json().with_writer(move || writer.clone()).finish();
        let _guard = tracing::subscriber::set_default(subscriber);
        let app = Router::new()
            .route("/pay/{token}/{submission}", get(warns))
            .route("/pay/receipt/{tenant}/{request}/{code}", get(warns))
            .layer(axum::middleware::from_fn(layer));
        for path in ["/pay/SECRET/SECRET", "/pay/receipt/bank/1/SECRET"] {
            let request = Request::get(path).body(Body::empty()).expect("a request");
            app.clone().oneshot(request).await.expect("an answer");
        }
        let logged = String::from_utf8(log.0.lock().expect("the log").clone()).expect("text");
        assert_eq!(logged.matches("a handler's warning").count(), 2, "{logged}");
        assert!(logged.contains("/pay/{token}/{submission}"), "{logged}");
        assert!(!logged.contains("SECRET"), "{logged}");
    }

    async fn panics() {
        panic!("a handler's panic");
    }

    #[tokio::test]
    async fn a_request_whose_handler_panics_is_answered_under_its_id() {
        let _alone = ONE_AT_A_TIME.lock().await;
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
