//! Routes of the pages. They are public: they need no token and reveal nothing about the
//! installation. A sandbox fills its keys in.

use std::sync::{Arc, OnceLock};

use axum::Router;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, StatusCode, Uri, header};
use serde::Deserialize;

use super::assets::{ASSETS, Asset, ICON_PATH};
use super::pages::{Pages, Reach};
use super::{SEARCH_PATH, SandboxKeys, landing as landing_page, missing, search};
use crate::accept::Accepted;
use crate::problem::Problem;
use crate::request_id::RequestId;

const HTML: &str = "text/html; charset=utf-8";
const MARKDOWN: &str = "text/markdown; charset=utf-8";
const TEXT: &str = "text/plain; charset=utf-8";

/// Longer questions are cut.
const QUESTION_CHARS_MAX: usize = 200;

/// What every page may load, and what it may reach. `connect-src` and `form-action` are explicit
/// because they keep the signing helper's keys on its page.
fn policy(reach: Reach) -> &'static str {
    macro_rules! policy {
        ($connect:literal, $form:literal) => {
            concat!(
                "default-src 'none'; connect-src ",
                $connect,
                "; script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self'; ",
                "base-uri 'none'; form-action ",
                $form,
                "; frame-ancestors 'none'"
            )
        };
    }
    match reach {
        Reach::Search => policy!("'none'", "'self'"),
        Reach::Sealed => policy!("'none'", "'none'"),
        Reach::Server => policy!("'self'", "'self'"),
    }
}

/// The documentation of a process.
#[derive(Default)]
pub struct Site {
    keys: OnceLock<SandboxKeys>,
    plain: OnceLock<Pages>,
    filled: OnceLock<Pages>,
}

impl Site {
    /// Fills in the keys of a sandbox. The first call counts.
    pub fn fill_in(&self, keys: SandboxKeys) {
        self.keys.get_or_init(|| keys);
    }

    pub(super) fn keys(&self) -> Option<&SandboxKeys> {
        self.keys.get()
    }

    pub(super) fn pages(&self) -> &Pages {
        let keys = self.keys();
        let pages = if keys.is_some() { &self.filled } else { &self.plain };
        pages.get_or_init(|| {
            Pages::render(keys).expect("the embedded documents are JSON: a test reads them")
        })
    }

    /// Pages with keys are not kept by browsers.
    fn answer(&self, content_type: &'static str, reach: Reach, body: impl Into<Bytes>) -> Response {
        let cache = if self.keys().is_some() { "no-store" } else { "no-cache" };
        let headers = [
            (header::CONTENT_TYPE, content_type),
            (header::CONTENT_SECURITY_POLICY, policy(reach)),
            (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
            (header::REFERRER_POLICY, "no-referrer"),
            (header::CACHE_CONTROL, cache),
        ];
        (headers, body.into()).into_response()
    }
}

/// Routes: `/docs` and everything below it, `/llms.txt`, `/favicon.ico`.
pub fn router(site: Arc<Site>) -> Router {
    Router::new()
        .route("/docs", get(page))
        .route("/docs.md", get(page))
        .route("/docs/", get(page))
        .route("/docs/{*path}", get(page))
        .route(SEARCH_PATH, get(found))
        .route("/llms.txt", get(llms))
        .route("/favicon.ico", get(favicon))
        .with_state(site)
}

/// `GET /`: three doors for browsers.
pub async fn landing(State(site): State<Arc<Site>>, id: RequestId, headers: HeaderMap) -> Response {
    if Accepted::of(&headers).named("text/html") == 0 {
        return Problem::no_such_route().respond(&id);
    }
    let mut response = site.answer(HTML, Reach::Search, landing_page::page(site.keys().is_some()));
    response.headers_mut().insert(header::VARY, HeaderValue::from_static("accept"));
    response
}

async fn page(
    State(site): State<Arc<Site>>,
    uri: Uri,
    id: RequestId,
    headers: HeaderMap,
) -> Response {
    let path = uri.path();
    if let Some(redirect) = without_slash(&uri) {
        return redirect;
    }
    if let Some(asset) = ASSETS.iter().find(|asset| asset.path == path) {
        return asset_response(asset);
    }
    let pages = site.pages();
    if let Some(page) = pages.by_path.get(path) {
        return site.answer(HTML, page.reach, page.html.clone());
    }
    if let Some(page) = path.strip_suffix(".md").and_then(|path| pages.by_path.get(path)) {
        return site.answer(MARKDOWN, Reach::Sealed, page.markdown.clone());
    }
    match pages.programs.get(path) {
        Some(program) => site.answer(TEXT, Reach::Sealed, program.clone()),
        None => no_such_page(&site, &headers, &id),
    }
}

/// 308 to the address without its trailing slashes, if it has any.
fn without_slash(uri: &Uri) -> Option<Response> {
    let path = uri.path().strip_suffix('/')?.trim_end_matches('/');
    let query = uri.query().map(|query| format!("?{query}")).unwrap_or_default();
    let address = HeaderValue::try_from(format!("{path}{query}")).ok()?;
    Some((StatusCode::PERMANENT_REDIRECT, [(header::LOCATION, address)]).into_response())
}

/// 404: a page for browsers, JSON for other clients.
fn no_such_page(site: &Site, headers: &HeaderMap, id: &RequestId) -> Response {
    let mut response = if Accepted::of(headers).named("text/html") == 0 {
        Problem::no_such_route().respond(id)
    } else {
        site.answer(HTML, Reach::Search, missing::page(&site.pages().nav))
    };
    *response.status_mut() = StatusCode::NOT_FOUND;
    response.headers_mut().insert(header::VARY, HeaderValue::from_static("accept"));
    response
}

/// What is searched for.
#[derive(Debug, Default, Deserialize)]
struct Asked {
    #[serde(default)]
    q: String,
}

/// `GET /docs/search?q=…`. A query that cannot be read asks nothing.
async fn found(
    State(site): State<Arc<Site>>,
    asked: Result<Query<Asked>, QueryRejection>,
) -> Response {
    let question = asked.map(|Query(asked)| asked.q).unwrap_or_default();
    let question: String = question.chars().take(QUESTION_CHARS_MAX).collect();
    let pages = site.pages();
    site.answer(HTML, Reach::Search, search::page(&pages.index, &pages.nav, &question))
}

async fn llms(State(site): State<Arc<Site>>) -> Response {
    site.answer(TEXT, Reach::Sealed, site.pages().llms.clone())
}

async fn favicon() -> Response {
    match ASSETS.iter().find(|asset| asset.path == ICON_PATH) {
        Some(icon) => asset_response(icon),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

fn asset_response(asset: &Asset) -> Response {
    let headers = [
        (header::CONTENT_TYPE, asset.content_type),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::CACHE_CONTROL, "no-cache"),
    ];
    (headers, asset.bytes()).into_response()
}
