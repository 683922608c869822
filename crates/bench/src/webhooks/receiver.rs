//! The receiver: an HTTP server on this machine that verifies each webhook as a bank should,
//! records it, and answers. It never rejects a genuine one.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use adapters::webhooks::{
    Arrived, ID_HEADER, SIGNATURE_HEADER, TIMESTAMP_HEADER, WebhookSecret, verify,
};
use anyhow::Context as _;
use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use domain::ports::Clock as _;
use http::{HeaderMap, StatusCode, Uri, header};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use service::clock::WallClock;

/// Microseconds of a second.
const MICROS: i64 = 1_000_000;

/// One genuine webhook as received.
#[derive(Clone, Debug)]
pub(super) struct Request {
    pub(super) at: Instant,
    pub(super) path: String,
    pub(super) id: String,
    pub(super) timestamp: String,
    pub(super) signature: String,
    pub(super) body: Bytes,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Received {
    /// In order of arrival.
    pub(super) requests: Vec<Request>,
    /// Number of webhooks that were not genuine.
    pub(super) refused: u64,
}

struct Shared {
    secrets: [WebhookSecret; 1],
    received: Mutex<Received>,
}

pub(super) struct Receiver {
    /// The base URL of webhooks.
    pub(super) url: String,
    shared: Arc<Shared>,
    serving: JoinHandle<()>,
}

impl Receiver {
    /// Starts it on a free port.
    pub(super) async fn start(secret: WebhookSecret) -> anyhow::Result<Receiver> {
        let listener =
            TcpListener::bind(SocketAddr::from(([127, 0, 0, 1], 0))).await.context("a port")?;
        let url = format!("http://{}", listener.local_addr()?);
        let shared = Arc::new(Shared { secrets: [secret], received: Mutex::default() });
        let router = Router::new().fallback(take).with_state(shared.clone());
        let serving = tokio::spawn(async move {
            if let Err(error) = axum::serve(listener, router).await {
                tracing::error!(%error, "webhook receiver ended");
            }
        });
        Ok(Receiver { url, shared, serving })
    }

    /// Number of genuine webhooks since the last call of `take`.
    pub(super) fn count(&self) -> usize {
        self.shared.received.lock().unwrap_or_else(PoisonError::into_inner).requests.len()
    }

    /// Everything received since the last call.
    pub(super) fn take(&self) -> Received {
        std::mem::take(&mut *self.shared.received.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

async fn take(
    State(shared): State<Arc<Shared>>,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let text =
        |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let arrived = Arrived {
        id: text(ID_HEADER),
        timestamp: text(TIMESTAMP_HEADER),
        signature: text(SIGNATURE_HEADER),
        body: &body,
    };
    let genuine = verify(&shared.secrets, &arrived, WallClock.now().0 / MICROS);
    let request = Request {
        at: Instant::now(),
        path: uri.path().to_owned(),
        id: arrived.id.to_owned(),
        timestamp: arrived.timestamp.to_owned(),
        signature: arrived.signature.to_owned(),
        body: body.clone(),
    };
    let mut received = shared.received.lock().unwrap_or_else(PoisonError::into_inner);
    if genuine.is_err() {
        received.refused += 1;
        return StatusCode::UNAUTHORIZED.into_response();
    }
    received.requests.push(request);
    ([(header::CONTENT_TYPE, "application/json")], r#"{"received":true}"#).into_response()
}
