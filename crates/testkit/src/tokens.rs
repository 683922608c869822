//! A token endpoint (OAuth 2) with a protected resource, which is as strict as a careful one and fails
//! on demand. `accepts` guards other resources.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::extract::{Form, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse as _, Json, Response};
use axum::routing::{any, post};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// The type of assertions that are JWTs (RFC 7523, section 2.2).
const ASSERTION_TYPE: &str = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

/// What the endpoint does instead of its work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenFault {
    /// Answers 503 to every request.
    Down,
    /// Refuses, and repeats the request in its error.
    EchoesRequest,
}

/// Who may get a token.
#[derive(Clone, Debug)]
pub struct TokenClient {
    pub id: String,
    pub secret: String,
    /// User and password, for the password grant instead of that of the client.
    pub user: Option<(String, String)>,
}

struct Shared {
    client: TokenClient,
    state: Mutex<TokenState>,
    lifetime_s: AtomicU64,
}

#[derive(Default)]
struct TokenState {
    issued: usize,
    valid: Vec<String>,
    forms: Vec<HashMap<String, String>>,
    granted: usize,
    refused: usize,
    fault: Option<TokenFault>,
    assertions: Option<AssertionCheck>,
}

/// Whether a JWT is one that the client has signed, with the right claims.
type AssertionCheck = Box<dyn Fn(&str) -> bool + Send>;

/// A running endpoint. Dropping it stops listening.
pub struct TokenServer {
    address: SocketAddr,
    shared: Arc<Shared>,
    task: JoinHandle<()>,
}

impl TokenServer {
    /// Listens on any port of 127.0.0.1.
    pub async fn start(client: TokenClient) -> std::io::Result<TokenServer> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let address = listener.local_addr()?;
        let lifetime_s = AtomicU64::new(300);
        let shared = Arc::new(Shared { client, state: Mutex::default(), lifetime_s });
        let routes = Router::new()
            .route("/token", post(token))
            .route("/api", any(resource))
            .with_state(Arc::clone(&shared));
        let task = tokio::spawn(async move {
            if let Err(fault) = axum::serve(listener, routes).await {
                tracing::error!(%fault, "token endpoint failed");
            }
        });
        Ok(TokenServer { address, shared, task })
    }

    pub fn token_url(&self) -> String {
        format!("http://{}/token", self.address)
    }

    /// A resource that answers 200 to a valid token and 401 to any other.
    pub fn resource_url(&self) -> String {
        format!("http://{}/api", self.address)
    }

    pub fn set_lifetime_s(&self, seconds: u64) {
        self.shared.lifetime_s.store(seconds, Ordering::Relaxed);
    }

    pub fn set_fault(&self, fault: Option<TokenFault>) {
        self.state().fault = fault;
    }

    /// Accepts the client also by a signed assertion.
    pub fn accept_assertions(&self, check: impl Fn(&str) -> bool + Send + 'static) {
        self.state().assertions = Some(Box::new(check));
    }

    /// Ends the validity of every token.
    pub fn revoke(&self) {
        self.state().valid.clear();
    }

    /// The number of issued tokens.
    pub fn issued(&self) -> usize {
        self.state().issued
    }

    /// The forms of the requests for tokens.
    pub fn forms(&self) -> Vec<HashMap<String, String>> {
        self.state().forms.clone()
    }

    /// The requests to the resource: granted and refused.
    pub fn requests(&self) -> (usize, usize) {
        let state = self.state();
        (state.granted, state.refused)
    }

    /// Whether the value of an `Authorization` header is a valid token.
    pub fn accepts(&self, authorization: &str) -> bool {
        let token = authorization.strip_prefix("Bearer ");
        token.is_some_and(|token| self.state().valid.iter().any(|valid| valid == token))
    }

    fn state(&self) -> std::sync::MutexGuard<'_, TokenState> {
        self.shared.state()
    }
}

impl Shared {
    fn state(&self) -> std::sync::MutexGuard<'_, TokenState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for TokenServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn token(
    State(shared): State<Arc<Shared>>,
    headers: HeaderMap,
    Form(form): Form<HashMap<String, String>>,
) -> Response {
    let mut state = shared.state();
    state.forms.push(form.clone());
    match state.fault {
        Some(TokenFault::Down) => return StatusCode::SERVICE_UNAVAILABLE.into_response(),
        Some(TokenFault::EchoesRequest) => {
            let authorization = authorization(&headers);
            let echo = json!({ "error": format!("bad: {form:?} {authorization}") });
            return (StatusCode::BAD_REQUEST, Json(echo)).into_response();
        }
        None => {}
    }
    let TokenClient { id, secret, user } = &shared.client;
    let field = |name: &str| form.get(name).map(String::as_str).unwrap_or_default();
    let basic = format!("Basic {}", STANDARD.encode(format!("{id}:{secret}")));
    let in_form = field("client_id") == id && field("client_secret") == secret;
    let is_asserted = field("client_assertion_type") == ASSERTION_TYPE
        && state.assertions.as_ref().is_some_and(|check| check(field("client_assertion")));
    if authorization(&headers) != basic && !in_form && !is_asserted {
        let refusal = json!({ "error": "invalid_client" });
        return (StatusCode::UNAUTHORIZED, Json(refusal)).into_response();
    }
    let is_granted = match user {
        None => field("grant_type") == "client_credentials",
        Some((user, password)) => {
            field("grant_type") == "password"
                && field("username") == user
                && field("password") == password
        }
    };
    if !is_granted {
        let refusal = json!({ "error": "invalid_grant" });
        return (StatusCode::BAD_REQUEST, Json(refusal)).into_response();
    }
    state.issued += 1;
    let token = format!("token-{}-{}", state.issued, uuid::Uuid::new_v4().simple());
    state.valid.push(token.clone());
    // As text, as several banks write it.
    let lifetime = shared.lifetime_s.load(Ordering::Relaxed).to_string();
    let answer =
        json!({ "access_token": token, "token_type": "BearerToken", "expires_in": lifetime });
    Json(answer).into_response()
}

async fn resource(State(shared): State<Arc<Shared>>, headers: HeaderMap) -> Response {
    let mut state = shared.state();
    let given = authorization(&headers);
    let token = given.strip_prefix("Bearer ").unwrap_or_default();
    if state.valid.iter().any(|valid| valid == token) {
        state.granted += 1;
        return "granted".into_response();
    }
    state.refused += 1;
    let challenge = [(header::WWW_AUTHENTICATE, "Bearer error=\"invalid_token\"")];
    (StatusCode::UNAUTHORIZED, challenge, format!("refused: {given}")).into_response()
}

fn authorization(headers: &HeaderMap) -> &str {
    headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok()).unwrap_or_default()
}
