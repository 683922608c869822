//! The description of Payment Service v2: the OpenAPI 3.1 document and a page for people made from it.
//!
//! The document is written by hand in `docs/openapi/payment.json`; tests hold it against the decoders, the routes, the
//! refusals and the renderings, so neither can drift from the other (`docs/adr`, hand-authored OpenAPI). Public: it
//! asks for no token, and it tells nothing about the installation that serves it.

use axum::Router;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use bytes::Bytes;
use http::header;

use crate::docs;

/// The document, as it is served.
pub const PAYMENT: &str = include_str!("../../../docs/openapi/payment.json");

const CONTENT_SECURITY_POLICY: &str =
    "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// `GET /openapi/payment.json`, and for people `GET /docs` with its style sheet.
pub fn router() -> Router {
    let page = docs::page(PAYMENT).expect("the embedded document is JSON: a test reads it");
    let page = Bytes::from(page);
    Router::new()
        .route(
            "/openapi/payment.json",
            get(|| async { asset("application/json", Bytes::from_static(PAYMENT.as_bytes())) }),
        )
        .route("/docs", get(move || async move { asset("text/html; charset=utf-8", page.clone()) }))
        .route(
            docs::STYLE_PATH,
            get(|| async { asset("text/css; charset=utf-8", Bytes::from_static(docs::STYLE.as_bytes())) }),
        )
}

fn asset(content_type: &'static str, body: Bytes) -> Response {
    let headers = [
        (header::CONTENT_TYPE, content_type),
        (header::CONTENT_SECURITY_POLICY, CONTENT_SECURITY_POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, "no-cache"),
    ];
    (headers, body).into_response()
}

#[cfg(test)]
mod tests;
