//! Guards every request: the access table, the session, the tenant in the path, the form's token.

use std::net::SocketAddr;
use std::sync::Arc;

use askama::Template;
use axum::body::Body;
use axum::extract::{
    ConnectInfo, FromRequestParts as _, MatchedPath, RawPathParams, Request, State,
};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use domain::case_file::CASE_FILE_MAX_BYTES;
use domain::ids::TenantId;
use domain::user::{Scope, User};
use engine::backoffice::Waiting;
use engine::console::Stage;
use engine::wallets::Tenant;
use http::request::Parts;
use http::{HeaderMap, Method, StatusCode, header};
use percent_encoding::{AsciiSet, utf8_percent_encode};
use subtle::ConstantTimeEq as _;

use super::access::{self, AccessRow, Who};
use super::again::{self, Again, Retry};
use super::answer::{Stop, page_with, see_other};
use super::cookies::{self, Cookie};
use super::form::{Form, RESERVED};
use super::layout::{Frame, Look};
use super::provider::LEAVE;
use super::session::{QUICK, REFRESH, Signed, Token};
use super::state::{Console, Settings};
use super::upload;
use super::visit::{Inner, Visit};
use http_api::request_id::RequestId;
use http_api::server::body::{BodyError, BodyLimits, collect, is_encoded};

/// The page that leads to the first one of the user.
const HOME: &str = "/console";
/// The form field with the CSRF token.
const CSRF_FIELD: &str = "csrf";
pub(super) const LOGIN: &str = "/console/login";
/// The notices of the sign-in page after a session has ended: while the user read, or wrote a form.
const ENDED: &str = "Your session ended. Please sign in again.";
const NOT_SAVED: &str = "Your session ended. Nothing was saved. Please sign in again.";
/// The refusal of a form whose token belongs to an earlier session, or to none.
const EXPIRED: &str = "This form has expired. Please go back, reload the page and try again.";
/// The same where the form is shown again with a new token.
const EXPIRED_KEPT: &str = "You signed in again after this form was opened. Nothing was saved. \
     Please check the form and send it again.";
/// Maximum length of the path to return to after signing in.
pub(super) const NEXT_MAX_BYTES: usize = 2_000;
/// Maximum size of a form with a file. More than the largest file: a browser shows the message about
/// its size only if the whole form was read.
const FILE_FORM_MAX_BYTES: usize = 4 * CASE_FILE_MAX_BYTES;
/// Characters encoded in that path: all reserved ones except the slash.
const NOT_IN_NEXT: &AsciiSet = &RESERVED.remove(b'/');

impl AccessRow {
    /// Whether the row admits this user.
    pub(super) fn admits(&self, user: Option<&User>) -> bool {
        let role = match (self.who, user) {
            (Who::Anybody, _) => return true,
            (_, None) => return false,
            (Who::SignedIn, Some(_)) => true,
            (Who::Roles(roles), Some(user)) => user.has_any(roles),
        };
        role && (!self.installation || user.is_some_and(|user| user.scope == Scope::All))
    }
}

#[derive(Template)]
#[template(path = "console/stopped.html")]
struct StoppedPage<'a> {
    frame: Frame,
    words: &'a str,
}

/// The middleware of all pages.
pub(super) async fn layer(
    State(console): State<Arc<Console>>,
    request: Request,
    next: Next,
) -> Response {
    let settings = console.settings.clone();
    match enter(&console, request).await {
        Ok((visit, request)) => {
            let response = next.run(request).await;
            finish(&visit, response, &settings)
        }
        Err(Turned::Away(stop)) => stop.into_response(),
        Err(Turned::From(visit, stop)) => stopped(&visit, &stop),
        Err(Turned::Back(visit, stop)) => returned(&visit, &stop),
        Err(Turned::ToLogin { path, has_ended, words }) => {
            let mut response = see_other(&path);
            if has_ended {
                Cookie::Session.clear(response.headers_mut(), &settings);
            }
            if let Some(words) = words {
                cookies::say(response.headers_mut(), words, &settings);
            }
            response
        }
        Err(Turned::SignedOut) => StatusCode::UNAUTHORIZED.into_response(),
    }
}

/// Why a request is refused.
enum Turned {
    /// Nothing is known for rendering a page.
    Away(Stop),
    /// A page explains it.
    From(Visit, Stop),
    /// The form comes back with a new token.
    Back(Visit, Stop),
    /// No user is signed in.
    ToLogin {
        path: String,
        /// Whether a session is over, for which the browser still has a cookie.
        has_ended: bool,
        /// What the sign-in page says about it.
        words: Option<&'static str>,
    },
    /// The same of a refresh: the page on which the user is says so, and the cookie stays for the page
    /// that the user opens next.
    SignedOut,
}

impl From<Stop> for Turned {
    fn from(stop: Stop) -> Turned {
        Turned::Away(stop)
    }
}

async fn enter(console: &Arc<Console>, request: Request) -> Result<(Visit, Request), Turned> {
    let (mut parts, body) = request.into_parts();
    let route = parts
        .extensions
        .get::<MatchedPath>()
        .map_or_else(String::new, |path| path.as_str().to_owned());
    let method = if parts.method == Method::HEAD { &Method::GET } else { &parts.method };
    let row = access::row(method.as_str(), &route).ok_or(Stop::Forbidden)?;
    let session = console.session_of(&parts.headers).await.map_err(Stop::from)?;
    let sign_in =
        Cookie::SignIn.read(&parts.headers, &console.settings).as_deref().and_then(Token::parse);
    let (csrf, signed, step) = match session {
        Some((token, signed)) if signed.stage == Stage::Open => (token.csrf(), Some(signed), None),
        Some((token, step)) => (token.csrf(), None, Some(step)),
        None => (sign_in.as_ref().map_or_else(String::new, Token::csrf), None, None),
    };
    let path = parts.uri.path_and_query().map_or_else(String::new, ToString::to_string);
    if row.who != Who::Anybody && signed.is_none() {
        if parts.headers.contains_key(REFRESH) {
            return Err(Turned::SignedOut);
        }
        let has_ended =
            step.is_none() && Cookie::Session.read(&parts.headers, &console.settings).is_some();
        let (path, words) = match *method == Method::GET {
            true => (login_path(&path), has_ended.then_some(ENDED)),
            // A refused form is not submitted again.
            false => (form_page(&parts.headers, &path), Some(NOT_SAVED)),
        };
        return Err(Turned::ToLogin { path, has_ended, words });
    }
    let again = parts.extensions.get::<Again>().cloned();
    let posted = parts.method == Method::POST;
    let form = if posted {
        Some(posted_form(console, &parts.headers, body, &csrf, row).await)
    } else {
        None
    };
    let (form, refused) = match form {
        None => (Form::default(), None),
        Some(Ok(form)) => (form, None),
        Some(Err(Unusable { form, stop })) => (form.unwrap_or_default(), Some(stop)),
    };
    let is_kept = form.pairs().next().is_some();
    let params =
        RawPathParams::from_request_parts(&mut parts, &()).await.map_err(|_| Stop::NotFound)?;
    let params: Vec<(String, String)> =
        params.iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    let tenants = tenants_of(console, signed.as_ref()).await?;
    let named = params.iter().find(|(name, _)| name == "tenant").map(|(_, tag)| tag);
    let tenant = named.and_then(|tag| tenants.iter().find(|tenant| tenant.tag == *tag)).cloned();
    let lost = named.is_some() && tenant.is_none();
    let last = Cookie::Tenant.read(&parts.headers, &console.settings);
    let counts = match &signed {
        Some(signed) if !posted && (has_navigation(&route) || route == HOME) => {
            Counts::of(console, signed, (&tenants, tenant.as_ref()), last.as_deref()).await?
        }
        _ => Counts {
            shown: tenant.as_ref().or(first_tenant(&tenants, &[], last.as_deref())).cloned(),
            ..Counts::default()
        },
    };
    let visit = Visit::new(Inner {
        csrf,
        tenants,
        tenant,
        params,
        form,
        route,
        path,
        // A refresh in another tab does not take the confirmation of the page that follows a form.
        done: cookies::said(&parts.headers, &console.settings)
            .filter(|_| !parts.headers.contains_key(REFRESH) && again.is_none()),
        retry: again.map(|Again(retry)| retry),
        signed,
        step,
        counts,
        last,
        ..Inner::of(console, &parts)
    });
    if !row.admits(visit.signed().map(|signed| &signed.user)) {
        return Err(Turned::From(visit, Stop::Forbidden));
    }
    if lost {
        return Err(Turned::From(visit, Stop::NotFound));
    }
    if let Some(stop) = refused {
        return Err(if is_kept { Turned::Back(visit, stop) } else { Turned::From(visit, stop) });
    }
    parts.extensions.insert(visit.clone());
    Ok((visit, Request::from_parts(parts, Body::empty())))
}

/// The sign-in page for a user on the way to the page of a form that was sent to `action`. Many
/// forms are sent to an address without a page, which refused ones are shown at.
fn form_page(headers: &HeaderMap, action: &str) -> String {
    let page = again::referer(headers).filter(|page| page != action);
    page.map_or(LOGIN.to_owned(), |page| login_path(&page))
}

impl Inner {
    /// The request's own data, before a user is known.
    fn of(console: &Arc<Console>, parts: &Parts) -> Inner {
        let text = |name| {
            parts
                .headers
                .get(name)
                .and_then(|value| value.to_str().ok())
                .unwrap_or_default()
                .to_owned()
        };
        Inner {
            console: Arc::clone(console),
            signed: None,
            step: None,
            csrf: String::new(),
            tenants: Vec::new(),
            tenant: None,
            params: Vec::new(),
            query: Form::of(parts.uri.query().unwrap_or_default()),
            form: Form::default(),
            route: String::new(),
            path: String::new(),
            peer: parts.extensions.get::<ConnectInfo<SocketAddr>>().map(|info| info.0.ip()),
            user_agent: text(header::USER_AGENT),
            look: Cookie::Look
                .read(&parts.headers, &console.settings)
                .map(|text| Look::parse(&text))
                .unwrap_or_default(),
            departure: Cookie::Departure
                .read(&parts.headers, &console.settings)
                .as_deref()
                .and_then(Token::parse),
            request_id: parts
                .extensions
                .get::<RequestId>()
                .map_or_else(String::new, ToString::to_string),
            done: None,
            retry: None,
            counts: Counts::default(),
            last: None,
            is_read: parts.method == Method::GET,
            is_refresh: parts.headers.contains_key(REFRESH),
            is_quick_refresh: parts.headers.get(REFRESH).is_some_and(|kind| kind == QUICK),
        }
    }
}

/// Whether the answer is a page with the navigation: not a file, a receipt or a redirect.
pub(super) fn has_navigation(route: &str) -> bool {
    let without = [".csv", "/file", "/{file}", "/receipt", "/console", "/logo", ".css"];
    !without.iter().any(|end| route.ends_with(end))
}

/// The page for unknown paths: the same for every user except for the navigation.
pub(super) async fn lost(State(console): State<Arc<Console>>, request: Request) -> Response {
    let (parts, _body) = request.into_parts();
    let visit = match stranger(&console, &parts).await {
        Ok(inner) => Visit::new(inner),
        Err(stop) => return stop.into_response(),
    };
    stopped(&visit, &Stop::NotFound)
}

/// A request for an unknown path.
async fn stranger(console: &Arc<Console>, parts: &Parts) -> Result<Inner, Stop> {
    let inner = Inner::of(console, parts);
    let Some((token, signed)) = console.session_of(&parts.headers).await? else { return Ok(inner) };
    if signed.stage != Stage::Open {
        return Ok(inner);
    }
    let tenants = tenants_of(console, Some(&signed)).await?;
    Ok(Inner { csrf: token.csrf(), tenants, signed: Some(signed), ..inner })
}

/// The sign-in page for a user on the way to a page.
pub(super) fn login_path(path: &str) -> String {
    if path == "/console" || path.len() > NEXT_MAX_BYTES {
        return LOGIN.to_owned();
    }
    format!("{LOGIN}?next={}", utf8_percent_encode(path, NOT_IN_NEXT))
}

/// The same through the identity provider.
pub(super) fn provider_path(next: &str) -> String {
    login_path(next).replacen(LOGIN, LEAVE, 1)
}

async fn tenants_of(console: &Console, signed: Option<&Signed>) -> Result<Vec<Arc<Tenant>>, Stop> {
    let Some(signed) = signed else { return Ok(Vec::new()) };
    let all = console.store().tenants().await?;
    Ok(all.into_iter().filter(|tenant| signed.user.scope.covers(tenant.id)).map(Arc::new).collect())
}

/// How much waits, for the navigation.
#[derive(Debug, Default)]
pub(super) struct Counts {
    /// The tenant that the navigation leads to; `None` without a navigation.
    pub(super) shown: Option<Arc<Tenant>>,
    /// For users of that tenant.
    pub(super) backlog: Waiting,
    /// At each tenant, without proposals about the installation; empty for users of one tenant.
    pub(super) by_tenant: Vec<(TenantId, Waiting)>,
}

impl Counts {
    /// Counts for a page of the named tenant, or of none. `last` is the tag of the last tenant whose
    /// pages were opened.
    async fn of(
        console: &Console,
        signed: &Signed,
        (tenants, named): (&[Arc<Tenant>], Option<&Arc<Tenant>>),
        last: Option<&str>,
    ) -> Result<Counts, Stop> {
        let by_tenant = match tenants {
            [_, _, ..] => console.waiting_by_tenant(tenants).await?,
            _ => Vec::new(),
        };
        let Some(shown) = named.or(first_tenant(tenants, &by_tenant, last)).cloned() else {
            return Ok(Counts::default());
        };
        let backlog = console.waiting(shown.id, signed.user.scope).await?;
        Ok(Counts { shown: Some(shown), backlog, by_tenant })
    }

    /// The tenants besides the shown one at which something waits, with how much.
    pub(super) fn elsewhere(&self) -> impl Iterator<Item = (TenantId, &Waiting)> {
        let shown = self.shown.as_ref().map(|tenant| tenant.id);
        let others = self.by_tenant.iter().filter(move |(id, _)| Some(*id) != shown);
        others.filter(|(_, waiting)| waiting.all() > 0).map(|(id, waiting)| (*id, waiting))
    }

    /// Proposals in the user's scope: the page of proposals lists all of them.
    pub(super) fn approvals(&self) -> u64 {
        self.backlog.approvals + self.elsewhere().map(|(_, waiting)| waiting.approvals).sum::<u64>()
    }
}

/// The tenant whose pages open first: the last one used, or the first at which something waits.
fn first_tenant<'a>(
    tenants: &'a [Arc<Tenant>],
    counts: &[(TenantId, Waiting)],
    last: Option<&str>,
) -> Option<&'a Arc<Tenant>> {
    let busy = counts.iter().find(|(_, waiting)| waiting.all() > 0).map(|(id, _)| *id);
    let used = tenants.iter().find(|tenant| Some(tenant.tag.as_str()) == last);
    used.or_else(|| tenants.iter().find(|tenant| Some(tenant.id) == busy)).or(tenants.first())
}

/// Why a form is not used.
struct Unusable {
    /// What was typed, if a page of the console certainly sent it.
    form: Option<Form>,
    stop: Stop,
}

impl From<Stop> for Unusable {
    fn from(stop: Stop) -> Unusable {
        Unusable { form: None, stop }
    }
}

/// The form of a POST, if a page of the console sent it.
async fn posted_form(
    console: &Console,
    headers: &HeaderMap,
    body: Body,
    csrf: &str,
    row: &AccessRow,
) -> Result<Form, Unusable> {
    if !is_own_page(headers, &console.settings) {
        return Err(Stop::Forbidden.into());
    }
    let unreadable = || {
        let words = "The form could not be read. Please go back and try again.";
        Stop::Invalid(words.to_owned())
    };
    let kind =
        headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let expected =
        if row.takes_file { "multipart/form-data" } else { "application/x-www-form-urlencoded" };
    if is_encoded(headers) || !kind.starts_with(expected) {
        return Err(unreadable().into());
    }
    let form = if row.takes_file {
        let limits = BodyLimits { max_bytes: FILE_FORM_MAX_BYTES, ..console.settings.body };
        let too_large = |error| match error {
            BodyError::TooLarge => Stop::Invalid(format!(
                "File: must have at most {} MiB.",
                CASE_FILE_MAX_BYTES / (1024 * 1024)
            )),
            _ => unreadable(),
        };
        let body = collect(body, limits).await.map_err(too_large)?;
        upload::parse(kind, body).await.ok_or_else(unreadable)?
    } else {
        let body = collect(body, console.settings.body).await.map_err(|_| unreadable())?;
        Form::of(std::str::from_utf8(&body).unwrap_or_default())
    };
    let given = form.text(CSRF_FIELD);
    if csrf.is_empty() || !bool::from(given.as_bytes().ct_eq(csrf.as_bytes())) {
        // Before the sign-in, and where a browser does not say who sent the form, nothing comes back.
        let is_kept = row.who != Who::Anybody && names_its_page(headers);
        return Err(match is_kept {
            true => Unusable { form: Some(form), stop: Stop::Refused(EXPIRED_KEPT.to_owned()) },
            false => Stop::Refused(EXPIRED.to_owned()).into(),
        });
    }
    Ok(form)
}

/// Whether the browser names the site of the page that sent the request.
fn names_its_page(headers: &HeaderMap) -> bool {
    headers.contains_key(header::ORIGIN)
        || headers.get("sec-fetch-site").is_some_and(|site| site == "same-origin")
}

/// Whether the browser reports the request as same-origin, or reports nothing.
fn is_own_page(headers: &HeaderMap, settings: &Settings) -> bool {
    let text = |name: &str| headers.get(name).map(|value| value.to_str().unwrap_or_default());
    let site = text("sec-fetch-site").is_none_or(|site| site == "same-origin" || site == "none");
    let host = text("host").unwrap_or_default();
    let own = |origin: &str| {
        let authority = origin.split_once("://").map_or("", |(_, authority)| authority);
        origin == settings.base_url || (!host.is_empty() && authority == host)
    };
    site && text("origin").is_none_or(own)
}

/// Finishes a response: refusals become pages, and a confirmation is shown once.
fn finish(visit: &Visit, response: Response, settings: &Settings) -> Response {
    let mut response = match response.extensions().get::<Stop>().cloned() {
        Some(stop) => returned(visit, &stop),
        None => response,
    };
    let is_page = response
        .headers()
        .get(header::CONTENT_TYPE)
        .is_some_and(|kind| kind.as_bytes().starts_with(b"text/html"));
    if is_page && response.status().is_success() {
        remember(visit, response.headers_mut(), settings);
    }
    if is_page && visit.inner().done.is_some() {
        Cookie::Done.clear(response.headers_mut(), settings);
    }
    response
}

/// Keeps the tenant of the page for the pages that have none.
fn remember(visit: &Visit, headers: &mut HeaderMap, settings: &Settings) {
    let inner = visit.inner();
    let Some(tenant) = inner.tenant.as_ref().filter(|_| inner.tenants.len() > 1) else { return };
    if !inner.is_refresh && inner.last.as_deref() != Some(tenant.tag.as_str()) {
        Cookie::Tenant.set(headers, &tenant.tag, settings);
    }
}

/// A refusal. If the form can come back, the page that sent it is shown in place of this one.
fn returned(visit: &Visit, stop: &Stop) -> Response {
    let mut response = stopped(visit, stop);
    if let Some(retry) = Retry::of(visit, stop) {
        response.extensions_mut().insert(Again(Arc::new(retry)));
    }
    response
}

fn stopped(visit: &Visit, stop: &Stop) -> Response {
    let title = match stop {
        Stop::NotFound => "Not found",
        Stop::Forbidden => "Not allowed",
        Stop::Invalid(_) | Stop::Wrong(..) => "Please check the form",
        Stop::Refused(_) => "Not possible",
        Stop::TooMany => "Too many attempts",
        Stop::Unavailable => "Not available right now",
    };
    let page = StoppedPage { frame: visit.frame(title), words: stop.words() };
    page_with(stop.status(), &page).unwrap_or_else(IntoResponse::into_response)
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use domain::currency::StableCoin;
    use domain::policy::TenantPolicy;
    use domain::wallet_policy::WalletPolicy;
    use uuid::Uuid;

    use super::*;

    fn tenants() -> Vec<Arc<Tenant>> {
        let tenant = |(tag, number): (&str, u128)| {
            let (id, tag) = (TenantId(Uuid::from_u128(number)), tag.to_owned());
            let policy = TenantPolicy {
                settlement_coin: StableCoin::Usdt,
                premium_bps: 0,
                margin_bps: 0,
                margin_bps_by_country: BTreeMap::new(),
                countries: BTreeSet::new(),
                require_hmac: true,
                wallet: WalletPolicy::default(),
            };
            Arc::new(Tenant { id, name: tag.clone(), tag, policy })
        };
        [("alpha", 1), ("beta", 2), ("gamma", 3)].map(tenant).into()
    }

    fn counts(of: [u64; 3]) -> Vec<(TenantId, Waiting)> {
        let count = |(at, reviews): (usize, u64)| {
            let waiting = Waiting { reviews, approvals: reviews, ..Waiting::default() };
            (tenants()[at].id, waiting)
        };
        of.into_iter().enumerate().map(count).collect()
    }

    #[test]
    fn the_tenant_that_opens_first_is_the_last_one_or_one_with_work() {
        for (waiting, last, expected) in [
            ([0, 0, 0], None, "alpha"),
            ([0, 0, 4], None, "gamma"),
            ([0, 1, 4], None, "beta"),
            ([0, 1, 4], Some("alpha"), "alpha"),
            ([0, 1, 4], Some("gamma"), "gamma"),
            // Of another user in this browser, or gone.
            ([0, 1, 4], Some("delta"), "beta"),
            ([0, 0, 0], Some(""), "alpha"),
        ] {
            let tenants = tenants();
            let found = first_tenant(&tenants, &counts(waiting), last);
            assert_eq!(found.map(|it| it.tag.as_str()), Some(expected), "{waiting:?} {last:?}");
        }
        assert_eq!(first_tenant(&[], &[], Some("alpha")), None);
    }

    #[test]
    fn what_waits_elsewhere_is_what_waits_at_the_other_tenants() {
        let backlog = Waiting { approvals: 2, ..Waiting::default() };
        let shown = Some(Arc::clone(&tenants()[1]));
        let counts = Counts { shown, backlog, by_tenant: counts([0, 1, 4]) };
        let elsewhere: Vec<TenantId> = counts.elsewhere().map(|(id, _)| id).collect();
        assert_eq!(elsewhere, [tenants()[2].id]);
        assert_eq!(counts.approvals(), 6);
    }
}
