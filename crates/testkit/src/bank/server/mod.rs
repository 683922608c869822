//! The bank over HTTP, per rail under `/{rail}`: `POST payments` (pain.001 → pain.002), `POST
//! inquiries` (pacs.028 → pain.002), `POST recalls` (camt.056 → camt.029, or 202), `GET reports?after=&wait=` (one document of the oldest new
//! reports, or 204), `GET book?end_to_end_id=`.
//!
//! It decides nothing: it parses, calls the core, and writes. Connection faults (hanging, lost
//! answers, being down) are injected here.

pub(crate) mod connection;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{ConnectInfo, DefaultBodyLimit, Path, Query, Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use domain::time::Span;
use serde::Deserialize;
use tokio::task::JoinHandle;
use tokio::time::Instant;

use self::connection::{Cut, Door};
use super::core::{Answer, InstructionView, Page, QueryView, RecallReply, Standing};
use super::iso::{self, Message, Original};
use super::service::{BankFault, Shared, stopped};

/// A message of 1,000 transactions takes about 2 MiB.
const BODY_MAX_BYTES: usize = 16 << 20;
/// Maximum reports per document.
const REPORTS_MAX: usize = 1_000;
/// Maximum wait for reports.
const WAIT_MAX_SECONDS: u64 = 60;
/// Header with the cursor after the last report of a document.
const CURSOR_HEADER: &str = "x-report-cursor";

/// Starts to serve on `address`; returns the address and the task.
pub(super) async fn listen(
    shared: Arc<Shared>,
    address: SocketAddr,
) -> Result<(SocketAddr, JoinHandle<()>), BankFault> {
    let fault = |source| BankFault::Listen { address, source };
    let door = Door::bind(address, shared.down.subscribe()).await.map_err(fault)?;
    let bound = door.address();
    let stop = stopped(shared.stopping.subscribe());
    let routes = Router::new()
        .route("/{rail}/payments", post(payments))
        .route("/{rail}/inquiries", post(inquiries))
        .route("/{rail}/recalls", post(recalls))
        .route("/{rail}/reports", get(reports))
        .route("/{rail}/book", get(book))
        .layer(DefaultBodyLimit::max(BODY_MAX_BYTES))
        .layer(middleware::from_fn_with_state(Arc::clone(&shared), line))
        .with_state(shared);
    let service = routes.into_make_service_with_connect_info::<Cut>();
    let task = tokio::spawn(async move {
        if let Err(fault) = axum::serve(door, service).with_graceful_shutdown(stop).await {
            tracing::error!(%fault, "simulated bank server failed");
        }
    });
    Ok((bound, task))
}

/// End of a request.
enum Reply {
    Ready(Response),
    /// The connection breaks at once.
    Lost,
    /// The connection hangs, then breaks.
    Hang,
}

impl From<BankFault> for Reply {
    fn from(_: BankFault) -> Reply {
        // A stopped bank does not answer; the reason was logged when it stopped.
        Reply::Lost
    }
}

/// A response that is never sent: the cut connection drops it.
#[derive(Clone, Copy)]
struct NoAnswer;

impl Reply {
    fn xml(text: String) -> Reply {
        Reply::Ready(([(header::CONTENT_TYPE, "application/xml")], text).into_response())
    }

    fn refusal(text: String) -> Reply {
        Reply::Ready((StatusCode::BAD_REQUEST, text).into_response())
    }

    async fn deliver(self, shared: &Shared) -> Response {
        match self {
            Reply::Ready(response) => return response,
            Reply::Lost => {}
            Reply::Hang => wait(shared, shared.hang).await,
        }
        let mut response = StatusCode::SERVICE_UNAVAILABLE.into_response();
        response.extensions_mut().insert(NoAnswer);
        response
    }
}

/// Waits, but not beyond the bank's end.
async fn wait(shared: &Shared, span: Span) {
    let time = span.to_duration();
    tokio::select! {
        () = tokio::time::sleep(time) => {}
        () = stopped(shared.stopping.subscribe()) => {}
    }
}

async fn line(
    State(shared): State<Arc<Shared>>,
    ConnectInfo(cut): ConnectInfo<Cut>,
    request: Request,
    next: Next,
) -> Response {
    let faults = shared.faults();
    if faults.answer_delay > Span(0) {
        wait(&shared, faults.answer_delay).await;
    }
    if *shared.down.borrow() {
        cut.cut();
        return Response::new(Body::empty());
    }
    let response = next.run(request).await;
    if response.extensions().get::<NoAnswer>().is_some() {
        cut.cut();
    }
    response
}

async fn payments(
    State(shared): State<Arc<Shared>>,
    Path(rail): Path<String>,
    body: String,
) -> Response {
    let reply = match iso::read(&body) {
        Ok(Message::Payments { id, name, payments }) => {
            take_payments(&shared, &rail, Original { id: &id, name }, &payments)
        }
        Ok(_) => Reply::refusal("expected a pain.001 here".to_owned()),
        Err(fault) => Reply::refusal(fault.to_string()),
    };
    reply.deliver(&shared).await
}

fn take_payments(
    shared: &Shared,
    rail: &str,
    original: Original<'_>,
    payments: &[InstructionView],
) -> Reply {
    let now = shared.clock.now();
    let taken = shared.with_core(|core| {
        let mut standings = Vec::with_capacity(payments.len());
        for view in payments {
            if let Answer::Reported(standing) = core.receive(rail, view, now)? {
                standings.push(standing);
            }
        }
        Ok((standings, core.drops_answer()))
    });
    shared.wake();
    match taken {
        Err(fault) => fault.into(),
        Ok((_, true)) => Reply::Lost,
        Ok((standings, false)) if standings.is_empty() => Reply::Hang,
        Ok((standings, false)) => {
            Reply::xml(iso::status_document(&shared.header(), original, &standings))
        }
    }
}

async fn inquiries(
    State(shared): State<Arc<Shared>>,
    Path(rail): Path<String>,
    body: String,
) -> Response {
    let reply = match iso::read(&body) {
        Ok(Message::Inquiries { id, queries }) => {
            match answer_inquiries(&shared, &rail, &id, &queries) {
                Ok(text) => Reply::xml(text),
                Err(fault) => fault.into(),
            }
        }
        Ok(_) => Reply::refusal("expected a pacs.028 here".to_owned()),
        Err(fault) => Reply::refusal(fault.to_string()),
    };
    reply.deliver(&shared).await
}

/// The pain.002 that answers a pacs.028, without unknown orders.
pub(super) fn answer_inquiries(
    shared: &Shared,
    rail: &str,
    message: &str,
    queries: &[QueryView],
) -> Result<String, BankFault> {
    let known: Vec<Standing> = shared.with_core(|core| {
        let mut known = Vec::with_capacity(queries.len());
        for query in queries {
            known.extend(core.inquire(rail, query)?);
        }
        Ok(known)
    })?;
    Ok(iso::status_document(
        &shared.header(),
        Original { id: message, name: "pacs.028.001.03" },
        &known,
    ))
}

async fn recalls(
    State(shared): State<Arc<Shared>>,
    Path(rail): Path<String>,
    body: String,
) -> Response {
    let reply = match iso::read(&body) {
        Ok(Message::Recall { case, query }) => match answer_recall(&shared, &rail, &case, &query) {
            Ok(Some(text)) => Reply::xml(text),
            Ok(None) => Reply::Ready(StatusCode::ACCEPTED.into_response()),
            Err(fault) => fault.into(),
        },
        Ok(_) => Reply::refusal("expected a camt.056 here".to_owned()),
        Err(fault) => Reply::refusal(fault.to_string()),
    };
    reply.deliver(&shared).await
}

/// The camt.029 that answers a camt.056; `None` if the bank does not answer.
pub(super) fn answer_recall(
    shared: &Shared,
    rail: &str,
    case: &str,
    query: &QueryView,
) -> Result<Option<String>, BankFault> {
    let now = shared.clock.now();
    let reply = shared.with_core(|core| core.recall(rail, query, now))?;
    shared.wake();
    shared.reported.send_modify(|count| *count += 1);
    Ok(match reply {
        RecallReply::Silent => None,
        RecallReply::Answered(note) => {
            Some(iso::resolution_document(&shared.header(), Some(case), &[note]))
        }
    })
}

#[derive(Deserialize)]
struct ReportsQuery {
    #[serde(default)]
    after: String,
    #[serde(default)]
    wait: u64,
}

async fn reports(
    State(shared): State<Arc<Shared>>,
    Path(rail): Path<String>,
    Query(query): Query<ReportsQuery>,
) -> Response {
    let deadline = Instant::now() + Duration::from_secs(query.wait.min(WAIT_MAX_SECONDS));
    let mut reported = shared.reported.subscribe();
    loop {
        reported.mark_unchanged();
        let after = Some(query.after.as_str()).filter(|text| !text.is_empty());
        match shared.with_core(|core| core.collect(&rail, after, REPORTS_MAX)) {
            Err(fault) => return Reply::from(fault).deliver(&shared).await,
            Ok(page) if page.kind().is_none() => {}
            Ok(page) => return page_response(&shared, &page),
        }
        let over = tokio::select! {
            waited = tokio::time::timeout_at(deadline, reported.changed()) => !matches!(waited, Ok(Ok(()))),
            () = stopped(shared.stopping.subscribe()) => true,
        };
        if over {
            return StatusCode::NO_CONTENT.into_response();
        }
    }
}

fn page_response(shared: &Shared, page: &Page) -> Response {
    let cursor = page.cursor.clone().unwrap_or_default();
    let head =
        [(header::CONTENT_TYPE.as_str(), "application/xml".to_owned()), (CURSOR_HEADER, cursor)];
    (head, page_document(shared, page)).into_response()
}

/// The document of a page of reports, or of a statement.
pub(super) fn page_document(shared: &Shared, page: &Page) -> String {
    if let Some(statement) = &page.statement {
        return iso::statement_document(&shared.header(), statement);
    }
    let standings: Vec<&Standing> = page.reports.iter().map(|report| &report.standing).collect();
    iso::reports_document(&shared.header(), &standings)
}

#[derive(Deserialize)]
struct BookQuery {
    end_to_end_id: String,
}

async fn book(
    State(shared): State<Arc<Shared>>,
    Path(rail): Path<String>,
    Query(query): Query<BookQuery>,
) -> Response {
    let lines = shared.with_core(|core| core.lines(&query.end_to_end_id));
    let reply = match lines {
        Ok(mut lines) => {
            lines.retain(|line| *line.rail == *rail);
            Reply::Ready(axum::Json(lines).into_response())
        }
        Err(fault) => fault.into(),
    };
    reply.deliver(&shared).await
}
