//! A refused form comes back: the page that it was sent from, with the message and all that was
//! typed. Passwords are never shown again, since no page fills their fields. A list's filters are
//! the form of the list itself, and those of a download that of the page which offers it.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{ConnectInfo, Request, State};
use axum::middleware::Next;
use axum::response::Response;
use http::{Extensions, HeaderMap, Method, StatusCode, header};
use http_api::request_id::RequestId;
use tower::ServiceExt as _;

use super::answer::Stop;
use super::form::Form;
use super::guard::has_navigation;
use super::visit::Visit;

/// Pages that are tried: the one that the browser names, then those above the form's action.
const TRIES: usize = 4;

/// A refused form, which is shown again with its fields.
#[derive(Debug)]
pub(super) struct Retry {
    /// The path that it was sent to; empty for the filters of a page, which it sends to itself.
    pub(super) action: String,
    pub(super) form: Form,
    /// The wrong field, if the refusal names one.
    pub(super) field: Option<&'static str>,
    pub(super) words: String,
    status: StatusCode,
}

/// Marks the response to a refused form, and the request for the page that shows it again.
#[derive(Clone)]
pub(super) struct Again(pub(super) Arc<Retry>);

impl Retry {
    #[cfg(test)]
    pub(super) fn sample(
        action: &str,
        form: Form,
        field: Option<&'static str>,
        words: &str,
    ) -> Retry {
        let status = StatusCode::UNPROCESSABLE_ENTITY;
        Retry { action: action.to_owned(), form, field, words: words.to_owned(), status }
    }

    /// The form of this request, if the user can correct it or has to see why it is refused.
    pub(super) fn of(visit: &Visit, stop: &Stop) -> Option<Retry> {
        let (field, words) = match stop {
            Stop::Wrong(field, words) => (Some(*field), words),
            Stop::Invalid(words) | Stop::Refused(words) => (None, words),
            _ => return None,
        };
        let inner = visit.inner();
        let path = || inner.path.split('?').next().unwrap_or_default().to_owned();
        let (action, form) = match inner.is_read {
            false => (path(), inner.form.fields()),
            // Without a query there is nothing to correct, and a sign-in is not repeated.
            true if matches!(stop, Stop::Refused(_))
                || inner.signed.is_none()
                || inner.query.pairs().next().is_none() =>
            {
                return None;
            }
            true if has_navigation(&inner.route) => (String::new(), inner.query.clone()),
            true => (path(), inner.query.clone()),
        };
        Some(Retry { action, form, field, words: words.clone(), status: stop.status() })
    }
}

/// What a form's request says about the page that sent it.
struct Sent {
    is_read: bool,
    path: String,
    headers: HeaderMap,
    extensions: Extensions,
}

/// The page of the console that a request's `Referer` names.
pub(super) fn referer(headers: &HeaderMap) -> Option<String> {
    let text = headers.get(header::REFERER)?.to_str().ok()?;
    let (_, rest) = text.split_once("://")?;
    let path = &rest[rest.find('/')?..];
    path.starts_with("/console/").then(|| path.split('#').next().unwrap_or_default().to_owned())
}

impl Sent {
    fn of(request: &Request) -> Sent {
        let mut headers = request.headers().clone();
        headers.remove(header::CONTENT_LENGTH);
        headers.remove(header::CONTENT_TYPE);
        let mut extensions = Extensions::new();
        if let Some(peer) = request.extensions().get::<ConnectInfo<SocketAddr>>() {
            extensions.insert(*peer);
        }
        if let Some(id) = request.extensions().get::<RequestId>() {
            extensions.insert(id.clone());
        }
        let is_read = request.method() == Method::GET;
        Sent { is_read, path: request.uri().path().to_owned(), headers, extensions }
    }

    /// Pages that may have sent the form, the likeliest first.
    fn pages(&self, action: &str) -> Vec<String> {
        match self.is_read {
            // The empty query shows the whole list, and no saved view.
            true if action.is_empty() => vec![format!("{}?", self.path)],
            true => referer(&self.headers).into_iter().collect(),
            false => self.pages_above().collect(),
        }
    }

    fn pages_above(&self) -> impl Iterator<Item = String> {
        let above = std::iter::successors(Some(self.path.as_str()), |path| {
            path.rsplit_once('/')
                .map(|(above, _)| above)
                .filter(|above| above.len() > "/console".len())
        });
        referer(&self.headers).into_iter().chain(above.map(str::to_owned)).take(TRIES)
    }

    fn request(&self, page: &str, again: Again) -> Option<Request> {
        let mut request = Request::builder().uri(page).body(Body::empty()).ok()?;
        *request.headers_mut() = self.headers.clone();
        *request.extensions_mut() = self.extensions.clone();
        request.extensions_mut().insert(again);
        Some(request)
    }
}

/// The middleware around the guarded pages.
pub(super) async fn layer(State(pages): State<Router>, request: Request, next: Next) -> Response {
    let is_form = [Method::GET, Method::POST].contains(request.method());
    let sent = is_form.then(|| Sent::of(&request));
    let response = next.run(request).await;
    let refused = response.extensions().get::<Again>().cloned();
    let (Some(sent), Some(again)) = (sent, refused) else { return response };
    for page in sent.pages(&again.0.action) {
        let Some(request) = sent.request(&page, again.clone()) else { continue };
        let shown: Result<Response, Infallible> = pages.clone().oneshot(request).await;
        let Ok(mut shown) = shown;
        let kind = shown.headers().get(header::CONTENT_TYPE);
        let is_page = kind.is_some_and(|kind| kind.as_bytes().starts_with(b"text/html"));
        if shown.status() == StatusCode::OK && is_page {
            *shown.status_mut() = again.0.status;
            return shown;
        }
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(method: Method, path: &str, referer: &str) -> Sent {
        let mut request = Request::new(Body::empty());
        *request.method_mut() = method;
        *request.uri_mut() = path.parse().expect("a path");
        request.headers_mut().insert(header::REFERER, referer.parse().expect("a header"));
        Sent::of(&request)
    }

    #[test]
    fn a_form_comes_from_the_page_that_the_browser_names_or_one_above_its_action() {
        let sent = sent(
            Method::POST,
            "/console/t/bank/deposits/1/decide",
            "https://x/console/t/bank/deposits/1/decide?verdict=a#b",
        );
        assert_eq!(
            sent.pages("/console/t/bank/deposits/1/decide"),
            [
                "/console/t/bank/deposits/1/decide?verdict=a",
                "/console/t/bank/deposits/1/decide",
                "/console/t/bank/deposits/1",
                "/console/t/bank/deposits",
            ]
        );
    }

    #[test]
    fn pages_outside_the_console_are_not_shown() {
        for other in ["https://x/pay/1", "https://x", "null", "https://x/console"] {
            assert_eq!(
                sent(Method::POST, "/console/users", other).pages("/console/users"),
                ["/console/users"],
                "{other}"
            );
        }
    }

    #[test]
    fn filters_come_back_on_their_list_and_a_download_on_the_page_that_offers_it() {
        let list = "/console/t/bank/payments";
        let page = "https://x/console/t/bank/statements";
        assert_eq!(sent(Method::GET, list, page).pages(""), ["/console/t/bank/payments?"]);
        let file = "/console/t/bank/statements/file";
        assert_eq!(sent(Method::GET, file, page).pages(file), ["/console/t/bank/statements"]);
        assert!(sent(Method::GET, file, "null").pages(file).is_empty());
    }
}
