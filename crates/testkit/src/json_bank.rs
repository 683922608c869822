//! A bank with an API of its own, as several in our corridors have one: JSON over OAuth 2 with short
//! tokens, its own ids and states, amounts in minor units, and signed notifications instead of answers.
//! It shares no code with a connector, and fails on demand.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse as _, Json, Response};
use axum::routing::{get, post};
use hmac::{Hmac, KeyInit as _, Mac as _};
use serde::Deserialize;
use serde_json::{Value, json};
use sha2::Sha256;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

use crate::tokens::{TokenClient, TokenServer};

/// Account numbers with these endings do not exist, or are closed.
pub const UNKNOWN_ACCOUNT: &str = "0000";
pub const CLOSED_ACCOUNT: &str = "0001";
/// The holder of every other account.
pub const HOLDER: &str = "Asha Khan";
/// Timeout of one notification.
const NOTIFY_TIMEOUT: Duration = Duration::from_secs(10);

/// What the bank does wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JsonBankFault {
    /// Answers 503 and does nothing.
    Down,
    /// Makes a transfer and closes the connection without an answer.
    LosesAnswers,
    /// Notifies of the outcome before it answers the request for the transfer.
    NotifiesFirst,
    /// Notifies of everything twice.
    NotifiesTwice,
    /// Answers 503 to questions about transfers.
    HidesTransfers,
    /// Has no transfer, if it is asked for one.
    ForgetsTransfers,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// The bank's own id.
    pub id: String,
    pub reference: String,
    pub amount_minor: i64,
    pub currency: String,
    pub account: String,
    /// `PENDING`, `COMPLETED`, `FAILED`, `RETURNED` or `CANCELLED`.
    pub state: &'static str,
    pub failure: Option<&'static str>,
}

impl Transfer {
    fn body(&self) -> Value {
        json!({
            "transferId": self.id,
            "clientReference": self.reference,
            "amountMinor": self.amount_minor,
            "ccy": self.currency,
            "state": self.state,
            "failureCode": self.failure,
        })
    }
}

#[derive(Default)]
struct Books {
    transfers: BTreeMap<String, Transfer>,
    fault: Option<JsonBankFault>,
    /// Whether transfers complete by themselves.
    completes: bool,
    notify: Option<SocketAddr>,
    events: usize,
}

struct Shared {
    tokens: TokenServer,
    secret: String,
    books: Mutex<Books>,
}

impl Shared {
    fn books(&self) -> MutexGuard<'_, Books> {
        self.books.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn refused(&self, headers: &HeaderMap) -> Option<Response> {
        let given = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
        if !given.is_some_and(|given| self.tokens.accepts(given)) {
            let body = json!({ "code": "TOKEN_EXPIRED" });
            return Some((StatusCode::UNAUTHORIZED, Json(body)).into_response());
        }
        (self.books().fault == Some(JsonBankFault::Down))
            .then(|| StatusCode::SERVICE_UNAVAILABLE.into_response())
    }

    /// Notifies of a transfer's state; returns the statuses of the answers.
    async fn notify(&self, transfer: &Transfer) -> Vec<u16> {
        let (to, times, number) = {
            let mut books = self.books();
            books.events += 1;
            let twice = books.fault == Some(JsonBankFault::NotifiesTwice);
            (books.notify, if twice { 2 } else { 1 }, books.events)
        };
        let Some(to) = to else { return Vec::new() };
        let mut event = transfer.body();
        event["eventId"] = json!(format!("EV-{number}"));
        let body = event.to_string();
        let mut mac = Hmac::<Sha256>::new_from_slice(self.secret.as_bytes()).expect("any length");
        mac.update(body.as_bytes());
        let signature: String =
            mac.finalize().into_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
        let mut statuses = Vec::new();
        for _ in 0..times {
            match tokio::time::timeout(NOTIFY_TIMEOUT, send(to, &body, &signature)).await {
                Ok(Ok(status)) => statuses.push(status),
                other => tracing::warn!(?other, "a notification of the JSON bank failed"),
            }
        }
        statuses
    }
}

async fn send(to: SocketAddr, body: &str, signature: &str) -> std::io::Result<u16> {
    let mut stream = TcpStream::connect(to).await?;
    let request = format!(
        "POST /bank/notifications HTTP/1.1\r\nhost: {to}\r\ncontent-type: application/json\r\n\
         x-bank-signature: {signature}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).await?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await?;
    let status = answer.split(' ').nth(1).and_then(|status| status.parse().ok());
    status.ok_or_else(|| std::io::Error::other("no HTTP status"))
}

/// A running bank. Dropping it stops listening.
pub struct JsonBank {
    address: SocketAddr,
    shared: Arc<Shared>,
    task: JoinHandle<()>,
}

impl JsonBank {
    /// Listens on any port of 127.0.0.1; `secret` signs its notifications.
    pub async fn start(client: TokenClient, secret: &str) -> std::io::Result<JsonBank> {
        let tokens = TokenServer::start(client).await?;
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let address = listener.local_addr()?;
        let books = Mutex::new(Books { completes: true, ..Books::default() });
        let shared = Arc::new(Shared { tokens, secret: secret.to_owned(), books });
        let routes = Router::new()
            .route("/api/transfers", post(transfer).get(find))
            .route("/api/transfers/{id}/cancel", post(cancel))
            .route("/api/accounts/lookup", get(lookup))
            .with_state(Arc::clone(&shared));
        let task = tokio::spawn(async move {
            if let Err(fault) = axum::serve(listener, routes).await {
                tracing::error!(%fault, "JSON bank failed");
            }
        });
        Ok(JsonBank { address, shared, task })
    }

    pub fn url(&self) -> String {
        format!("http://{}/api", self.address)
    }

    pub fn tokens(&self) -> &TokenServer {
        &self.shared.tokens
    }

    /// Where notifications go (`/bank/notifications`).
    pub fn notify_at(&self, address: SocketAddr) {
        self.shared.books().notify = Some(address);
    }

    pub fn set_fault(&self, fault: Option<JsonBankFault>) {
        self.shared.books().fault = fault;
    }

    /// Whether transfers complete by themselves from now on.
    pub fn set_completes(&self, completes: bool) {
        self.shared.books().completes = completes;
    }

    /// Has this transfer, by no request to its API.
    pub fn add(&self, transfer: Transfer) {
        self.shared.books().transfers.insert(transfer.reference.clone(), transfer);
    }

    /// Every transfer, by its client's reference.
    pub fn transfers(&self) -> Vec<Transfer> {
        self.shared.books().transfers.values().cloned().collect()
    }

    /// Changes a transfer's state and notifies of it; returns the statuses of the answers.
    pub async fn changes(
        &self,
        reference: &str,
        state: &'static str,
        failure: Option<&'static str>,
    ) -> Vec<u16> {
        let changed = self.shared.books().transfers.get_mut(reference).map(|transfer| {
            (transfer.state, transfer.failure) = (state, failure);
            transfer.clone()
        });
        match changed {
            Some(transfer) => self.shared.notify(&transfer).await,
            None => Vec::new(),
        }
    }
}

impl Drop for JsonBank {
    fn drop(&mut self) {
        self.task.abort();
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Wanted {
    client_reference: String,
    amount_minor: i64,
    ccy: String,
    credit_account: String,
    credit_name: String,
    narrative: String,
}

async fn transfer(
    State(shared): State<Arc<Shared>>,
    headers: HeaderMap,
    Json(wanted): Json<Wanted>,
) -> Response {
    if let Some(refused) = shared.refused(&headers) {
        return refused;
    }
    let refused = |code: &str| {
        (StatusCode::UNPROCESSABLE_ENTITY, Json(json!({ "code": code }))).into_response()
    };
    if wanted.amount_minor <= 0 || wanted.credit_name.is_empty() || wanted.narrative.len() > 140 {
        return refused("INVALID_REQUEST");
    }
    if let Some(code) = account_fault(&wanted.credit_account) {
        return refused(code);
    }
    let (made, fault, completes) = {
        let mut books = shared.books();
        if books.transfers.contains_key(&wanted.client_reference) {
            return refused("DUPLICATE_REFERENCE");
        }
        let made = Transfer {
            id: format!("TRF{:06}", books.transfers.len() + 1),
            reference: wanted.client_reference.clone(),
            amount_minor: wanted.amount_minor,
            currency: wanted.ccy,
            account: wanted.credit_account,
            state: "PENDING",
            failure: None,
        };
        books.transfers.insert(wanted.client_reference, made.clone());
        (made, books.fault, books.completes)
    };
    if fault == Some(JsonBankFault::NotifiesFirst) {
        shared.notify(&complete(&shared, &made.reference)).await;
    } else if completes {
        let (shared, reference) = (Arc::clone(&shared), made.reference.clone());
        tokio::spawn(async move { shared.notify(&complete(&shared, &reference)).await });
    }
    if fault == Some(JsonBankFault::LosesAnswers) {
        // The connection ends in the middle of the answer.
        let broken = futures_util::stream::iter([Err::<Vec<u8>, _>(std::io::Error::other("lost"))]);
        return axum::body::Body::from_stream(broken).into_response();
    }
    (StatusCode::CREATED, Json(made.body())).into_response()
}

fn complete(shared: &Shared, reference: &str) -> Transfer {
    let mut books = shared.books();
    let transfer = books.transfers.get_mut(reference).expect("it was just made");
    transfer.state = "COMPLETED";
    transfer.clone()
}

fn account_fault(account: &str) -> Option<&'static str> {
    match account {
        unknown if unknown.ends_with(UNKNOWN_ACCOUNT) => Some("ACCOUNT_UNKNOWN"),
        closed if closed.ends_with(CLOSED_ACCOUNT) => Some("ACCOUNT_CLOSED"),
        _ => None,
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct OfReference {
    client_reference: String,
}

async fn find(
    State(shared): State<Arc<Shared>>,
    headers: HeaderMap,
    Query(query): Query<OfReference>,
) -> Response {
    if let Some(refused) = shared.refused(&headers) {
        return refused;
    }
    let books = shared.books();
    if books.fault == Some(JsonBankFault::HidesTransfers) {
        return StatusCode::SERVICE_UNAVAILABLE.into_response();
    }
    let shown = books.fault != Some(JsonBankFault::ForgetsTransfers);
    let found = books.transfers.get(&query.client_reference).filter(|_| shown).map(Transfer::body);
    Json(json!({ "items": found.into_iter().collect::<Vec<_>>() })).into_response()
}

/// Only a transfer that is not completed can be cancelled.
async fn cancel(
    State(shared): State<Arc<Shared>>,
    headers: HeaderMap,
    Path(id): Path<String>,
) -> Response {
    if let Some(refused) = shared.refused(&headers) {
        return refused;
    }
    let mut books = shared.books();
    let Some(transfer) = books.transfers.values_mut().find(|transfer| transfer.id == id) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    if transfer.state != "PENDING" {
        return (StatusCode::CONFLICT, Json(json!({ "code": "NOT_CANCELLABLE" }))).into_response();
    }
    transfer.state = "CANCELLED";
    Json(transfer.body()).into_response()
}

#[derive(Deserialize)]
struct Lookup {
    account: String,
}

async fn lookup(
    State(shared): State<Arc<Shared>>,
    headers: HeaderMap,
    Query(query): Query<Lookup>,
) -> Response {
    if let Some(refused) = shared.refused(&headers) {
        return refused;
    }
    let body = match account_fault(&query.account) {
        Some("ACCOUNT_UNKNOWN") => return StatusCode::NOT_FOUND.into_response(),
        Some(_) => json!({ "status": "CLOSED", "holder": HOLDER }),
        None => json!({ "status": "ACTIVE", "holder": HOLDER }),
    };
    Json(body).into_response()
}
