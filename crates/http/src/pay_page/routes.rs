//! The addresses of the payment page. The token in the path is the only capability there is: no cookie, no session, and
//! nothing that another site's form could use in a visitor's name.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::rejection::PathRejection;
use axum::extract::{ConnectInfo, Path, State};
use axum::response::Response;
use axum::routing::get;
use domain::ids::SenderInfoId;
use engine::wallets::{Denied, PayPage, Wallets};
use http::{HeaderMap, HeaderValue, Request, StatusCode, header};

use super::form::Form;
use super::pages::{self, Frame, Target};
use super::view::{Incoming, View};
use super::{STYLE, qr};
use crate::address_windows::AddressWindows;
use crate::decode::query::Query;
use crate::limits::Allowance;
use crate::server::body::{BodyLimits, collect, is_encoded};
use crate::wallet_v1::render::Links;

/// Longest token that is looked up.
const TOKEN_MAX_CHARS: usize = 128;
/// Requests of one address in a minute; a page that waits reads itself again every few seconds.
pub const REQUESTS_PER_WINDOW: u32 = 300;
/// Forms that one address may send in a minute.
pub const FORMS_PER_WINDOW: u32 = 20;
const CONTENT_SECURITY_POLICY: &str =
    "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// What the pages are made of.
pub struct Pages {
    wallets: Wallets,
    settings: Settings,
    addresses: AddressWindows,
}

/// What the pages are set up with.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Where payment links lead.
    pub links: Links,
    /// Whether no real money is moved.
    pub sandbox: bool,
    /// Bounds of a form.
    pub body: BodyLimits,
}

/// What is looked at of a visit.
struct Visit {
    peer: Option<IpAddr>,
    query: Option<String>,
}

impl Visit {
    fn of(request: &Request<Body>) -> Visit {
        let peer = request.extensions().get::<ConnectInfo<SocketAddr>>().map(|info| info.0.ip());
        Visit { peer, query: request.uri().query().map(str::to_owned) }
    }
}

/// Why there is no page.
enum Stopped {
    TooMany(Allowance),
    Closed,
    Refused(StatusCode),
    Failed,
}

impl From<Denied> for Stopped {
    fn from(denied: Denied) -> Stopped {
        match denied {
            Denied::NotFound(_) | Denied::NotOffered => Stopped::Closed,
            denied => {
                tracing::error!(%denied, "a payment page could not be served");
                Stopped::Failed
            }
        }
    }
}

impl From<askama::Error> for Stopped {
    fn from(error: askama::Error) -> Stopped {
        tracing::error!(%error, "a payment page could not be written");
        Stopped::Failed
    }
}

/// The routes under the base URL.
pub fn router(wallets: Wallets, settings: Settings) -> Router {
    let pages = Arc::new(Pages { wallets, settings, addresses: AddressWindows::default() });
    Router::new()
        .route("/pay/style.css", get(style))
        .route("/pay/{token}", get(show).post(submit))
        .route("/pay/{token}/qr.svg", get(link_code))
        .route("/pay/{token}/{submission}", get(show_known))
        .with_state(pages)
}

async fn style() -> Response {
    answer(StatusCode::OK, "text/css; charset=utf-8", STYLE.to_owned(), "public, max-age=3600")
}

async fn show(
    State(pages): State<Arc<Pages>>,
    token: Result<Path<String>, PathRejection>,
    request: Request<Body>,
) -> Response {
    respond(pages.page(named(token), None, Visit::of(&request)).await)
}

async fn show_known(
    State(pages): State<Arc<Pages>>,
    path: Result<Path<(String, String)>, PathRejection>,
    request: Request<Body>,
) -> Response {
    let (token, submission) = path.map(|Path(both)| both).unwrap_or_default();
    respond(pages.page(token, Some(submission), Visit::of(&request)).await)
}

async fn submit(
    State(pages): State<Arc<Pages>>,
    token: Result<Path<String>, PathRejection>,
    request: Request<Body>,
) -> Response {
    respond(pages.take_form(named(token), request).await)
}

async fn link_code(
    State(pages): State<Arc<Pages>>,
    token: Result<Path<String>, PathRejection>,
    request: Request<Body>,
) -> Response {
    respond(pages.link_code(&named(token), Visit::of(&request)).await)
}

fn named(token: Result<Path<String>, PathRejection>) -> String {
    token.map(|Path(token)| token).unwrap_or_default()
}

impl Pages {
    /// The page of a link, for a visitor who has sent his details if `submission` is one of those of the link.
    async fn page(&self, token: String, submission: Option<String>, visit: Visit) -> Result<Response, Stopped> {
        self.count(&visit, "page", REQUESTS_PER_WINDOW)?;
        let page = self.find(&token).await?;
        let known = submission.as_deref().and_then(SenderInfoId::parse).filter(|id| page.senders.contains(id));
        if submission.is_some() && known.is_none() {
            return Ok(see_other(&format!("/pay/{token}")));
        }
        let view = self.view(&page, known.is_some());
        let target = match (&view, known) {
            (View::Closed, _) => return Err(Stopped::Closed),
            (View::Send { offers, .. }, Some(submission)) => {
                let coin = Query::of(visit.query.as_deref()).optional("coin", |_, given| Ok(given.to_owned()));
                let path = format!("/pay/{token}/{submission}");
                Target::of(offers, coin.as_deref(), &self.network(), page.request.escrow.to_string(), path)
            }
            _ => None,
        };
        Ok(html(StatusCode::OK, pages::page(&view, &self.frame(&page), &Form::default(), target.as_ref())?))
    }

    /// Takes the sender's details and leads him on; a faulty form is shown again.
    async fn take_form(&self, token: String, request: Request<Body>) -> Result<Response, Stopped> {
        self.count(&Visit::of(&request), "form", FORMS_PER_WINDOW)?;
        if is_cross_site(request.headers()) {
            return Err(Stopped::Refused(StatusCode::FORBIDDEN));
        }
        if is_encoded(request.headers()) {
            return Err(Stopped::Refused(StatusCode::UNSUPPORTED_MEDIA_TYPE));
        }
        let body = collect(request.into_body(), self.settings.body).await;
        let body = body.map_err(|_| Stopped::Refused(StatusCode::BAD_REQUEST))?;
        let page = self.find(&token).await?;
        let view = self.view(&page, false);
        match (&view, Form::read(&body)) {
            (View::Details { .. }, Ok(details)) => {
                let submission = self.wallets.submit_sender(&token, details).await?;
                Ok(see_other(&format!("/pay/{token}/{submission}")))
            }
            (View::Details { .. }, Err(form)) => {
                let again = pages::page(&view, &self.frame(&page), &form, None)?;
                Ok(html(StatusCode::UNPROCESSABLE_ENTITY, again))
            }
            (View::Closed, _) => Err(Stopped::Closed),
            // Something has come in the meantime: there is nothing to be sent now.
            _ => Ok(see_other(&format!("/pay/{token}"))),
        }
    }

    /// The link as a QR code.
    async fn link_code(&self, token: &str, visit: Visit) -> Result<Response, Stopped> {
        self.count(&visit, "page", REQUESTS_PER_WINDOW)?;
        let page = self.find(token).await?;
        let code = qr::code(&self.settings.links.payment_link(&page.request.token)).ok_or(Stopped::Failed)?;
        Ok(answer(StatusCode::OK, "image/svg+xml", qr::svg(&code), "no-store"))
    }

    fn count(&self, visit: &Visit, group: &'static str, limit: u32) -> Result<(), Stopped> {
        let now = self.wallets.world().wall_clock.now();
        let allowance = self.addresses.take(visit.peer, group, limit, now);
        if allowance.is_granted() { Ok(()) } else { Err(Stopped::TooMany(allowance)) }
    }

    async fn find(&self, token: &str) -> Result<PayPage, Stopped> {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        if token.is_empty() || token.len() > TOKEN_MAX_CHARS || !token.bytes().all(plain) {
            return Err(Stopped::Closed);
        }
        Ok(self.wallets.pay_page(token).await?)
    }

    /// What is to be shown, for a visitor who has said who he is or not.
    fn view(&self, page: &PayPage, known: bool) -> View {
        let arrived = page.arrivals.iter();
        let arrived = arrived.filter_map(|arrival| Incoming::of(&arrival.deposit, arrival.confirmations)).collect();
        View::of(&page.request, arrived, !page.closed, known, self.wallets.world().clock.now())
    }

    fn frame(&self, page: &PayPage) -> Frame {
        Frame::of(&page.request, &page.tenant.name, self.settings.sandbox)
    }

    /// The chain's name, for people.
    fn network(&self) -> String {
        let name = self.wallets.world().wallet.as_ref().map(|wallet| wallet.config.name.clone()).unwrap_or_default();
        let mut letters = name.chars();
        letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
    }
}

/// Whether a browser says that another site's page has sent this.
fn is_cross_site(headers: &HeaderMap) -> bool {
    headers.get("sec-fetch-site").is_some_and(|site| site == "cross-site")
}

fn respond(page: Result<Response, Stopped>) -> Response {
    let plain = |status, text: &str| answer(status, "text/plain; charset=utf-8", text.to_owned(), "no-store");
    match page {
        Ok(response) => response,
        Err(Stopped::Closed) => match pages::closed() {
            Ok(page) => html(StatusCode::NOT_FOUND, page),
            Err(error) => respond(Err(error.into())),
        },
        Err(Stopped::TooMany(allowance)) => {
            let text = "Too many requests from your network. Please try again in a minute.\n";
            let mut response = plain(StatusCode::TOO_MANY_REQUESTS, text);
            allowance.write(response.headers_mut());
            response
        }
        Err(Stopped::Refused(status)) => plain(status, "This form could not be read. Please go back and try again.\n"),
        Err(Stopped::Failed) => {
            let mut response = plain(StatusCode::SERVICE_UNAVAILABLE, "Please try again in a moment.\n");
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("5"));
            response
        }
    }
}

fn html(status: StatusCode, page: String) -> Response {
    answer(status, "text/html; charset=utf-8", page, "no-store")
}

/// 303: what comes next is read with GET, so that reloading it sends nothing twice.
fn see_other(path: &str) -> Response {
    let mut response = answer(StatusCode::SEE_OTHER, "text/plain; charset=utf-8", String::new(), "no-store");
    if let Ok(path) = HeaderValue::from_str(path) {
        response.headers_mut().insert(header::LOCATION, path);
    }
    response
}

fn answer(status: StatusCode, content_type: &'static str, body: String, caching: &'static str) -> Response {
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    for (name, value) in [
        (header::CONTENT_TYPE, content_type),
        (header::CACHE_CONTROL, caching),
        (header::CONTENT_SECURITY_POLICY, CONTENT_SECURITY_POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::HeaderName::from_static("x-robots-tag"), "noindex"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}
