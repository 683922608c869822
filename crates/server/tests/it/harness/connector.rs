//! The sample connector of `docs/connectors` in its own process, between the JSON bank and a doorway to
//! a service that starts later.

use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use tempfile::TempDir;
use testkit::json_bank::JsonBank;
use testkit::tokens::TokenClient;

use super::Setup;

pub const CALLBACK_SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
pub const CONNECTOR_TOKEN: &str = "connector-token";
const NOTIFICATION_SECRET: &str = "notification-secret";
const BODY_MAX_BYTES: usize = 1 << 20;

/// Forwards the connector's callbacks to a service whose address is known later.
pub struct Doorway {
    pub address: SocketAddr,
    state: Arc<DoorwayState>,
}

#[derive(Default)]
struct DoorwayState {
    target: OnceLock<String>,
    /// Callbacks that are refused with 503 before any is forwarded.
    closed_for: AtomicUsize,
    /// The id of each callback, and the status of its answer.
    passed: Mutex<Vec<(String, u16)>>,
}

impl Doorway {
    async fn start() -> Doorway {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let state = Arc::new(DoorwayState::default());
        let router = Router::new().fallback(pass).with_state(state.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        Doorway { address, state }
    }

    pub fn leads_to(&self, url: &str) {
        self.state.target.set(url.to_owned()).expect("set once");
    }

    /// Refuses the next callbacks.
    pub fn closes_for(&self, callbacks: usize) {
        self.state.closed_for.store(callbacks, Ordering::Relaxed);
    }

    /// The callbacks so far: id and status of the answer.
    pub fn passed(&self) -> Vec<(String, u16)> {
        self.state.passed.lock().expect("not poisoned").clone()
    }
}

async fn pass(State(state): State<Arc<DoorwayState>>, request: Request) -> Response {
    let (head, body) = request.into_parts();
    let id = head.headers.get("webhook-id").and_then(|id| id.to_str().ok()).unwrap_or_default();
    let id = id.to_owned();
    let closed = state
        .closed_for
        .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
    let status = match (state.target.get(), closed) {
        (Some(target), Err(_)) => {
            let body = axum::body::to_bytes(body, BODY_MAX_BYTES).await.expect("a body");
            let client = reqwest::Client::builder().no_proxy().build().expect("a client");
            let mut headers = head.headers;
            headers.remove("host");
            let sent = client.post(format!("{target}{}", head.uri)).headers(headers).body(body);
            sent.send().await.map_or(StatusCode::BAD_GATEWAY, |answer| answer.status())
        }
        _ => StatusCode::SERVICE_UNAVAILABLE,
    };
    state.passed.lock().expect("not poisoned").push((id, status.as_u16()));
    (status, Body::empty()).into_response()
}

/// The sample connector and its bank.
pub struct SampleConnector {
    pub address: SocketAddr,
    pub bank: JsonBank,
    pub doorway: Doorway,
    process: Child,
    _dir: TempDir,
}

impl SampleConnector {
    pub async fn start(rail: &str) -> SampleConnector {
        let client =
            TokenClient { id: "corridor".to_owned(), secret: "bank-secret".to_owned(), user: None };
        let bank = JsonBank::start(client, NOTIFICATION_SECRET).await.expect("a bank");
        let doorway = Doorway::start().await;
        let dir = tempfile::tempdir().expect("a directory");
        let program =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/connectors/connector.py");
        let mut process = Command::new("python3")
            .args([Path::new("-B"), &program])
            .env("LISTEN", "127.0.0.1:0")
            .env("BANK_URL", bank.url())
            .env("BANK_TOKEN_URL", bank.tokens().token_url())
            .env("BANK_CLIENT_ID", "corridor")
            .env("BANK_CLIENT_SECRET", "bank-secret")
            .env("BANK_NOTIFICATION_SECRET", NOTIFICATION_SECRET)
            .env("CONNECTOR_TOKEN", CONNECTOR_TOKEN)
            .env("CALLBACK_URL", format!("http://{}/rails/{rail}/callbacks", doorway.address))
            .env("CALLBACK_SECRET", CALLBACK_SECRET)
            .env("JOURNAL", dir.path().join("journal.db"))
            .env("FORWARD_EVERY_S", "0.1")
            .env("NO_PROXY", "*")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("python3 runs the sample connector");
        let mut line = String::new();
        let stdout = process.stdout.take().expect("piped");
        BufReader::new(stdout).read_line(&mut line).expect("its address");
        let address = line.trim().rsplit(' ').next().and_then(|text| text.parse().ok());
        let address = address.unwrap_or_else(|| panic!("{line:?} is no address"));
        bank.notify_at(address);
        SampleConnector { address, bank, doorway, process, _dir: dir }
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// An installation whose only rail leads to this connector.
    pub fn setup(&self, rail: &str) -> Setup {
        connected(Setup::new(), rail, &self.url(), CALLBACK_SECRET)
            .set("rails_enabled", &format!("[\"{rail}\"]"))
    }
}

impl Drop for SampleConnector {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A setup whose rail leads to a connector.
pub fn connected(setup: Setup, rail: &str, url: &str, callback_secret: &str) -> Setup {
    let keys = [
        ("transport", "connector"),
        ("url", url),
        ("token", CONNECTOR_TOKEN),
        ("callback_secret", callback_secret),
        ("recalls", "connector"),
        ("duplicate_detection", "false"),
    ];
    keys.iter().fold(setup, |setup, (key, value)| setup.set(&format!("rails.{rail}.{key}"), value))
}
