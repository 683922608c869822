//! Wraps every request: its id, a span named by OpenTelemetry's HTTP conventions that continues the
//! caller's trace, and an answer even if the handler panics. One layer only, because each one costs
//! every request an allocation and a copy of everything within.

use std::panic::AssertUnwindSafe;
use std::time::Duration;

use axum::extract::{MatchedPath, Request, State};
use axum::middleware::Next;
use axum::response::Response;
use domain::ports::Clock as _;
use futures_util::FutureExt as _;
use http_api::problem::{Problem, WalletProblem};
use http_api::request_id::RequestId;
use http_api::server::Refusals;
use http_api::server::deadline::Deadline;
use tracing::Instrument as _;
use tracing_opentelemetry::OpenTelemetrySpanExt as _;

use crate::clock::WallClock;
use crate::telemetry::continue_trace;

/// When a client may try again.
const RETRY_AFTER_S: i64 = 1;

/// Settings of the layer.
#[derive(Clone, Debug)]
pub(super) struct Around {
    /// States the rate limits in the layer's own errors.
    pub refusals: Refusals,
    /// How long a client waits for an answer that the store delays.
    pub answer_within: Duration,
}

/// Middleware: everything logged or traced within it belongs to the request.
pub(super) async fn layer(
    State(around): State<Around>,
    mut request: Request,
    next: Next,
) -> Response {
    let id = RequestId::settle(&mut request);
    let uri = request.uri().clone();
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
    let (request, deadline) = Deadline::of(request, around.answer_within);
    let is_wallets = request.uri().path().starts_with("/v1/");
    let answering = async move {
        match deadline {
            None => Some(next.run(request).await),
            Some(deadline) => tokio::select! {
                biased;
                answer = next.run(request) => Some(answer),
                () = deadline.passed() => None,
            },
        }
    };
    // A panic leaves no shared state half-done: commands are decided elsewhere.
    let answered = AssertUnwindSafe(answering).catch_unwind().instrument(span.clone()).await;
    let mut response = match answered {
        Ok(Some(response)) => response,
        failed => {
            let of_failure = if failed.is_ok() { too_late } else { panicked };
            let mut response = span.in_scope(|| of_failure(is_wallets, &id));
            around.refusals.state_limits(uri.path(), response.headers_mut());
            response
        }
    };
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

fn panicked(is_wallets: bool, id: &RequestId) -> Response {
    tracing::error!("a request panicked");
    if is_wallets {
        WalletProblem::internal().respond(id, WallClock.now())
    } else {
        Problem::internal().respond(id)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use axum::body::Body;
    use axum::http::{HeaderName, StatusCode};
    use axum::routing::get;
    use axum::{Extension, Router};
    use http_api::limits::{Rates, X_RATELIMIT_LIMIT};
    use http_api::request_id::X_REQUEST_ID;
    use http_api::wallet_groups::GroupLimits;
    use tokio::sync::oneshot;
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
            .route("/pay/receipt/{tenant}/{request}/{code}", get(warns));
        let app = within(app);
        for path in ["/pay/SECRET/SECRET", "/pay/receipt/bank/1/SECRET"] {
            let request = Request::get(path).body(Body::empty()).expect("a request");
            app.clone().oneshot(request).await.expect("an answer");
        }
        let logged = String::from_utf8(log.0.lock().expect("the log").clone()).expect("text");
        assert_eq!(logged.matches("a handler's warning").count(), 2, "{logged}");
        assert!(logged.contains("/pay/{token}/{submission}"), "{logged}");
        assert!(!logged.contains("SECRET"), "{logged}");
    }

    const WITHIN: Duration = Duration::from_millis(50);

    /// `app` within the layer.
    fn within(app: Router) -> Router {
        let refusals = Refusals::new(Arc::new(WallClock));
        let refusals = refusals.with_limits(Rates::default(), GroupLimits::default());
        let around = Around { refusals, answer_within: WITHIN };
        app.layer(axum::middleware::from_fn_with_state(around, layer))
    }

    async fn panics() {
        panic!("a handler's panic");
    }

    /// The status, the request's id and the stated limit of an answer.
    async fn answered(app: Router, request: Request) -> (u16, String, Option<String>) {
        let response = app.oneshot(request).await.expect("an answer");
        let text = |name: &HeaderName| {
            let value = response.headers().get(name)?;
            Some(value.to_str().expect("text").to_owned())
        };
        let id = text(&X_REQUEST_ID).expect("an id");
        (response.status().as_u16(), id, text(&X_RATELIMIT_LIMIT))
    }

    #[tokio::test]
    async fn a_panic_in_an_api_states_the_limits_of_its_service() {
        let _alone = ONE_AT_A_TIME.lock().await;
        for (path, limit) in
            [("/v2/quote", Some("50")), ("/v1/sdk/orders", Some("50")), ("/x", None)]
        {
            let app = within(Router::new().route(path, get(panics)));
            let request = Request::get(path).header(X_REQUEST_ID, "mine-1");
            let request = request.body(Body::empty()).expect("a request");
            let expected = (500, "mine-1".to_owned(), limit.map(str::to_owned));
            assert_eq!(answered(app, request).await, expected, "{path}");
        }
    }

    async fn never() {
        std::future::pending().await
    }

    #[tokio::test]
    async fn an_answer_that_takes_too_long_states_the_limits_of_its_service() {
        let _alone = ONE_AT_A_TIME.lock().await;
        for (path, limit) in [("/v2/quote", "50"), ("/v1/sdk/wallets/x", "100")] {
            let app = within(Router::new().route(path, get(never)));
            let request = Request::get(path).body(Body::empty()).expect("a request");
            let (status, _, stated) = answered(app, request).await;
            assert_eq!((status, stated.as_deref()), (503, Some(limit)), "{path}");
        }
    }

    #[tokio::test]
    async fn a_request_that_waits_for_another_one_has_no_deadline_until_it_goes_on() {
        let _alone = ONE_AT_A_TIME.lock().await;
        let (begin, begun) = oneshot::channel();
        let (end, ended) = oneshot::channel::<()>();
        let channels = Arc::new(Mutex::new(Some((begin, ended))));
        let waits = move |Extension(deadline): Extension<Deadline>| async move {
            let _paused = deadline.pause();
            let (begin, ended) = channels.lock().expect("a lock").take().expect("one request");
            begin.send(()).expect("it is awaited");
            ended.await.expect("it ends");
            StatusCode::CONFLICT
        };
        let request = |path: &str| Request::get(path).body(Body::empty()).expect("a request");
        let waiting = within(Router::new().route("/v2/payment", get(waits)));
        let waiting = tokio::spawn(answered(waiting, request("/v2/payment")));
        begun.await.expect("it waits");
        // Another one, which began later, reaches its deadline.
        let app = within(Router::new().route("/v2/quote", get(never)));
        assert_eq!(answered(app, request("/v2/quote")).await.0, 503);
        end.send(()).expect("it still waits");
        assert_eq!(waiting.await.expect("an answer").0, 409);
    }

    #[tokio::test]
    async fn a_request_whose_handler_panics_is_answered_under_its_id() {
        let _alone = ONE_AT_A_TIME.lock().await;
        let app = within(Router::new().route("/", get(panics)));
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
