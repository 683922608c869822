//! The OpenAPI 3.1 documents of both services.
//!
//! The documents in `docs/openapi` are written by hand; tests compare them with the decoders,
//! routes, refusals and renderings, so neither can drift (`docs/adr`, hand-authored OpenAPI). They
//! are public: they need no token and reveal nothing about the installation.

use axum::Router;
use axum::response::IntoResponse as _;
use axum::routing::get;
use http::header;

/// The document of Payment Service v2, as served.
pub const PAYMENT: &str = include_str!("../../../docs/openapi/payment.json");
pub const PAYMENT_PATH: &str = "/openapi/payment.json";
/// The document of Wallet Service v1, as served.
pub const WALLET: &str = include_str!("../../../docs/openapi/wallet.json");
pub const WALLET_PATH: &str = "/openapi/wallet.json";

/// Routes: both documents.
pub fn router() -> Router {
    let document = |text: &'static str| {
        let headers = [
            (header::CONTENT_TYPE, "application/json"),
            (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
            (header::REFERRER_POLICY, "no-referrer"),
            (header::CACHE_CONTROL, "no-cache"),
        ];
        get(move || async move { (headers, text).into_response() })
    };
    Router::new().route(PAYMENT_PATH, document(PAYMENT)).route(WALLET_PATH, document(WALLET))
}

#[cfg(test)]
mod tests;
