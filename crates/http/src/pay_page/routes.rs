//! Routes of the payment page. The token in the path is the only credential: there is no session
//! that a forged form could abuse. The one cookie grants no access (`cookie`).

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::response::Response;
use axum::routing::get;
use engine::wallets::Wallets;
use http::{Method, Request, StatusCode};

use super::answers::{FOR_GOOD, NEVER, Stopped, answer, see_other};
use super::assets::ASSETS;
use super::served::{Pages, Settings};
use super::visit::Visit;

/// The first segment of every path.
const PAY: &str = "pay";

type Token = Result<Path<String>, PathRejection>;
type TokenAnd = Result<Path<(String, String)>, PathRejection>;

/// The routes under the base URL.
pub fn router(wallets: Wallets, settings: Settings) -> Router {
    let pages = Arc::new(Pages::new(wallets, settings));
    Router::new()
        .route("/pay/assets/{name}", get(asset))
        .route("/pay/brand/{name}", get(brand))
        .route("/pay/receipt/{tenant}/{request}/{code}", get(receipt))
        .route("/pay/{token}", get(show).post(submit))
        .route("/pay/{token}/qr.svg", get(link_code))
        .route("/pay/{token}/status", get(status))
        .route("/pay/{token}/stream", get(follow))
        .route("/pay/{token}/{submission}", get(show_known).post(answer_back))
        .route("/pay/{token}/{submission}/authorization", get(authorization).post(authorize))
        .route("/pay/{token}/{submission}/status", get(status_known))
        .route("/pay/{token}/{submission}/stream", get(follow_known))
        .with_state(pages)
}

/// The answer to a reader who asks for an address below `/pay` that is not one of the routes, in
/// their language: a link with a slash at its end leads on, others are not available. `None` for
/// every other request.
pub fn astray(request: &Request<Body>) -> Option<Response> {
    let first = request.uri().path().split('/').nth(1).unwrap_or_default();
    let is_read = [Method::GET, Method::HEAD].contains(request.method());
    if !is_read || !first.eq_ignore_ascii_case(PAY) {
        return None;
    }
    let here = Visit::of(request).here;
    let plain = here.path.trim_end_matches('/');
    if plain == here.path || plain.len() <= "/".len() + PAY.len() {
        return Some(Stopped::Closed.respond(&here));
    }
    let query = request.uri().query().map(|query| format!("?{query}")).unwrap_or_default();
    Some(see_other(&format!("{plain}{query}")))
}

async fn asset(name: Token) -> Response {
    match ASSETS.find(&named(name)) {
        Some((asset, true)) => answer(StatusCode::OK, asset.content_type, asset.body, FOR_GOOD),
        Some((asset, false)) => answer(StatusCode::OK, asset.content_type, asset.body, NEVER),
        None => answer(StatusCode::NOT_FOUND, "text/plain; charset=utf-8", "", NEVER),
    }
}

async fn brand(State(pages): State<Arc<Pages>>, name: Token, request: Request<Body>) -> Response {
    let visit = Visit::of(&request);
    respond(pages.brand(&named(name), &visit).await, &visit)
}

async fn receipt(
    State(pages): State<Arc<Pages>>,
    path: Result<Path<(String, String, String)>, PathRejection>,
    request: Request<Body>,
) -> Response {
    let visit = Visit::of(&request);
    let named = path.map(|Path(named)| named).unwrap_or_default();
    respond(pages.receipt(named, &visit).await, &visit)
}

async fn show(State(pages): State<Arc<Pages>>, token: Token, request: Request<Body>) -> Response {
    let visit = Visit::of(&request);
    respond(pages.page(named(token), None, &visit).await, &visit)
}

async fn show_known(
    State(pages): State<Arc<Pages>>,
    path: TokenAnd,
    request: Request<Body>,
) -> Response {
    let visit = Visit::of(&request);
    let (token, submission) = token_and_id(path);
    respond(pages.page(token, Some(submission), &visit).await, &visit)
}

async fn submit(State(pages): State<Arc<Pages>>, token: Token, request: Request<Body>) -> Response {
    let visit = Visit::of(&request);
    respond(pages.take_form(named(token), &visit, request).await, &visit)
}

async fn answer_back(
    State(pages): State<Arc<Pages>>,
    path: TokenAnd,
    request: Request<Body>,
) -> Response {
    let visit = Visit::of(&request);
    let (token, submission) = token_and_id(path);
    respond(pages.take_address(token, submission, &visit, request).await, &visit)
}

async fn authorization(
    State(pages): State<Arc<Pages>>,
    path: TokenAnd,
    request: Request<Body>,
) -> Response {
    pages.authorization(token_and_id(path), &Visit::of(&request)).await
}

async fn authorize(
    State(pages): State<Arc<Pages>>,
    path: TokenAnd,
    request: Request<Body>,
) -> Response {
    let visit = Visit::of(&request);
    pages.take_authorization(token_and_id(path), &visit, request).await
}

async fn link_code(
    State(pages): State<Arc<Pages>>,
    token: Token,
    request: Request<Body>,
) -> Response {
    let visit = Visit::of(&request);
    respond(pages.link_code(&named(token), &visit).await, &visit)
}

async fn status(State(pages): State<Arc<Pages>>, token: Token, request: Request<Body>) -> Response {
    pages.tell(named(token), None, &Visit::of(&request)).await
}

async fn status_known(
    State(pages): State<Arc<Pages>>,
    path: TokenAnd,
    request: Request<Body>,
) -> Response {
    let (token, submission) = token_and_id(path);
    pages.tell(token, Some(submission), &Visit::of(&request)).await
}

async fn follow(State(pages): State<Arc<Pages>>, token: Token, request: Request<Body>) -> Response {
    let visit = Visit::of(&request);
    respond(pages.open(named(token), None, &visit).await, &visit)
}

async fn follow_known(
    State(pages): State<Arc<Pages>>,
    path: TokenAnd,
    request: Request<Body>,
) -> Response {
    let visit = Visit::of(&request);
    let (token, submission) = token_and_id(path);
    respond(pages.open(token, Some(submission), &visit).await, &visit)
}

fn named(token: Token) -> String {
    token.map(|Path(token)| token).unwrap_or_default()
}

fn token_and_id(path: TokenAnd) -> (String, String) {
    path.map(|Path(both)| both).unwrap_or_default()
}

fn respond(page: Result<Response, Stopped>, visit: &Visit) -> Response {
    page.unwrap_or_else(|stopped| stopped.respond(&visit.here))
}

#[cfg(test)]
mod tests {
    use http::header::{CONTENT_TYPE, LOCATION};

    use super::*;

    fn asked(method: Method, uri: &str) -> Option<Response> {
        let request = Request::builder().method(method).uri(uri).header("accept-language", "ur");
        astray(&request.body(Body::empty()).expect("a request"))
    }

    #[tokio::test]
    async fn a_wrong_address_of_a_link_is_a_page_in_the_readers_language() {
        for uri in ["/pay", "/pay/", "/PAY/AAAA", "/pay/a/b/c/d", "/Pay?lang=hi"] {
            let page = asked(Method::GET, uri).expect("a page");
            assert_eq!(page.status(), StatusCode::NOT_FOUND, "{uri}");
            assert_eq!(page.headers()[CONTENT_TYPE], "text/html; charset=utf-8", "{uri}");
            let body = axum::body::to_bytes(page.into_body(), 100_000).await.expect("a body");
            let language = if uri.contains("hi") { "hi" } else { "ur" };
            let page = String::from_utf8_lossy(&body);
            assert!(page.contains(&format!("<html lang=\"{language}\"")), "{uri}");
        }
    }

    #[test]
    fn a_slash_at_the_end_leads_to_the_link() {
        for (uri, to) in [
            ("/pay/AAAA/", "/pay/AAAA"),
            ("/pay/AAAA//?lang=ur&coin=USDT", "/pay/AAAA?lang=ur&coin=USDT"),
            ("/pay/AAAA/1/", "/pay/AAAA/1"),
        ] {
            let led = asked(Method::GET, uri).expect("a redirect");
            assert_eq!(
                (led.status(), &led.headers()[LOCATION]),
                (StatusCode::SEE_OTHER, &http::HeaderValue::from_static(to))
            );
        }
    }

    #[test]
    fn other_requests_are_not_for_readers() {
        for (method, uri) in [
            (Method::GET, "/payments/"),
            (Method::GET, "/"),
            (Method::POST, "/pay/"),
            (Method::GET, "/v2/pay/"),
        ] {
            assert!(asked(method, uri).is_none(), "{uri}");
        }
    }
}
