//! The API documentation of both services: OpenAPI 3.1 documents and the pages generated from them.
//!
//! The documents in `docs/openapi` are written by hand; tests compare them with the decoders,
//! routes, refusals and renderings, so neither can drift (`docs/adr`, hand-authored OpenAPI). They
//! are public: they need no token and reveal nothing about the installation.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use axum::Router;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use bytes::Bytes;
use http::{HeaderMap, StatusCode, header};

use crate::accept::Accepted;
use crate::docs::{self, Described};
use crate::problem::Problem;
use crate::request_id::RequestId;

/// The document of Payment Service v2, as served.
pub const PAYMENT: &str = include_str!("../../../docs/openapi/payment.json");
/// The document of Wallet Service v1, as served.
pub const WALLET: &str = include_str!("../../../docs/openapi/wallet.json");

/// Both services, with the paths of their documents and pages.
const SERVICES: [Described; 2] = [
    Described {
        document: PAYMENT,
        document_path: "/openapi/payment.json",
        page_path: "/docs/payment",
    },
    Described {
        document: WALLET,
        document_path: "/openapi/wallet.json",
        page_path: "/docs/wallet",
    },
];

/// `connect-src` is explicit because it keeps the signing helper's keys on its page.
const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; connect-src 'none'; script-src 'self'; style-src 'self'; \
     base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Pages and documents by path, rendered on the first request.
static ASSETS: LazyLock<BTreeMap<&'static str, (&'static str, Bytes)>> = LazyLock::new(|| {
    let readable = "the embedded documents are JSON: a test reads them";
    let mut assets = BTreeMap::from([
        ("/docs", (HTML, Bytes::from(docs::index(&SERVICES).expect(readable)))),
        (docs::SIGNING_PATH, (HTML, Bytes::from(docs::signing()))),
        (docs::STYLE_PATH, ("text/css; charset=utf-8", Bytes::from_static(docs::STYLE.as_bytes()))),
        (
            docs::SCRIPT_PATH,
            ("text/javascript; charset=utf-8", Bytes::from_static(docs::SCRIPT.as_bytes())),
        ),
    ]);
    for guide in guides() {
        assets.insert(guide.page_path, (HTML, Bytes::from(docs::guide(guide))));
    }
    for service in SERVICES {
        assets.insert(
            service.document_path,
            ("application/json", Bytes::from_static(service.document.as_bytes())),
        );
        assets
            .insert(service.page_path, (HTML, Bytes::from(docs::page(&service).expect(readable))));
    }
    assets
});

fn guides() -> impl Iterator<Item = &'static docs::Guide> {
    docs::GUIDES.iter().chain(&docs::REFERENCE)
}

/// Routes: `GET /openapi/payment.json`, `GET /openapi/wallet.json`, and the pages from `GET /docs`
/// on: one per service, the guides and the reference.
pub fn router() -> Router {
    let of_services =
        SERVICES.into_iter().flat_map(|service| [service.document_path, service.page_path]);
    let of_docs = ["/docs", docs::SIGNING_PATH, docs::STYLE_PATH, docs::SCRIPT_PATH];
    let paths = of_docs.into_iter().chain(guides().map(|guide| guide.page_path)).chain(of_services);
    paths.fold(Router::new(), |router, path| {
        router.route(path, get(move || async move { asset(path) }))
    })
}

/// `GET /` outside production: redirects browsers to the documentation.
pub async fn root(id: RequestId, headers: HeaderMap) -> Response {
    if Accepted::of(&headers).named("text/html") > 0 {
        return (StatusCode::SEE_OTHER, [(header::LOCATION, "/docs"), (header::VARY, "accept")])
            .into_response();
    }
    Problem::no_such_route().respond(&id)
}

const HTML: &str = "text/html; charset=utf-8";

fn asset(path: &str) -> Response {
    let Some((content_type, body)) = ASSETS.get(path) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let headers = [
        (header::CONTENT_TYPE, *content_type),
        (header::CONTENT_SECURITY_POLICY, CONTENT_SECURITY_POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, "no-cache"),
    ];
    (headers, body.clone()).into_response()
}

#[cfg(test)]
mod tests;
