//! The OpenAPI 3.1 documents of both services, and of the connectors that they call.
//!
//! The documents in `docs/openapi` are written by hand; tests compare them with the decoders,
//! routes, refusals and renderings, so neither can drift (`docs/adr`, hand-authored OpenAPI). They
//! are public: they need no token and reveal nothing about the installation.

use std::borrow::Cow;

use axum::Router;
use axum::body::Bytes;
use axum::response::IntoResponse as _;
use axum::routing::get;
use domain::country::Country;
use http::header;

/// The document of Payment Service v2, as served.
pub const PAYMENT: &str = include_str!("../../../docs/openapi/payment.json");
pub const PAYMENT_PATH: &str = "/openapi/payment.json";
/// The document of Wallet Service v1, as served.
pub const WALLET: &str = include_str!("../../../docs/openapi/wallet.json");
pub const WALLET_PATH: &str = "/openapi/wallet.json";
/// The contract of connectors to banks.
pub const CONNECTOR: &str = include_str!("../../../docs/openapi/connector.json");
pub const CONNECTOR_PATH: &str = "/openapi/connector.json";
/// The contract of remote signers.
pub const SIGNER: &str = include_str!("../../../docs/openapi/signer.json");
pub const SIGNER_PATH: &str = "/openapi/signer.json";

/// The currencies that an exchange pays out, as in [`WALLET`].
const PAYOUT_CURRENCIES: &str = r#""PayoutCurrency": { "type": "string", "enum": ["PKR"]"#;

/// The default of `blockchain`, as in [`WALLET`], and its description.
const BLOCKCHAIN: &str = r#""default": "ethereum","#;
const NAME_OF_BLOCKCHAIN: &str = "Name of the blockchain; an unknown one is refused.";

/// The document of Wallet Service v1 of an installation whose exchanges pay out to these
/// destinations, and whose wallets are on these chains.
pub fn wallet(exchange_to: &[Country], chains: &[String]) -> String {
    let codes = exchange_to.iter().map(|country| format!("{:?}", country.currency().code()));
    let codes = codes.collect::<Vec<_>>().join(", ");
    let document = WALLET.replace(PAYOUT_CURRENCIES, &PAYOUT_CURRENCIES.replace("\"PKR\"", &codes));
    let Some(first) = chains.first() else { return document };
    let named = format!("Name of the blockchain, one of: {}.", chains.join(", "));
    document
        .replace(BLOCKCHAIN, &BLOCKCHAIN.replace("ethereum", first))
        .replace(NAME_OF_BLOCKCHAIN, &named)
}

/// Serves the documents, with the installation's countries and chains.
pub fn router(exchange_to: &[Country], chains: &[String]) -> Router {
    let document = |text: Cow<'static, str>| {
        let text = Bytes::from(text.into_owned());
        let headers = [
            (header::CONTENT_TYPE, "application/json"),
            (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
            (header::REFERRER_POLICY, "no-referrer"),
            (header::CACHE_CONTROL, "no-cache"),
        ];
        get(move || std::future::ready((headers.clone(), text.clone()).into_response()))
    };
    let wallet = wallet(exchange_to, chains);
    Router::new()
        .route(PAYMENT_PATH, document(PAYMENT.into()))
        .route(WALLET_PATH, document(wallet.into()))
        .route(CONNECTOR_PATH, document(CONNECTOR.into()))
        .route(SIGNER_PATH, document(SIGNER.into()))
}

#[cfg(test)]
mod tests;
