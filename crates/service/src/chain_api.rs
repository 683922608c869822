//! The built-in chain over HTTP: JSON-RPC at the server's root (further chains: `/chains/<name>`), as browser wallets call it, and a
//! page that shows a transaction. Only with the built-in chain.

use axum::Router;
use axum::body::Bytes;
use axum::extract::rejection::{BytesRejection, PathRejection};
use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, options, post};
use domain::chain::TxHash;
use http::{HeaderName, HeaderValue, StatusCode, header};
use http_api::problem::Problem;
use http_api::request_id::RequestId;
use serde_json::{Value, json};

use super::built_in::BuiltInChain;

/// Any origin may call it: a browser wallet is an extension with its own origin.
const CORS: [(HeaderName, &str); 3] = [
    (header::ACCESS_CONTROL_ALLOW_ORIGIN, "*"),
    (header::ACCESS_CONTROL_ALLOW_METHODS, "POST, OPTIONS"),
    (header::ACCESS_CONTROL_ALLOW_HEADERS, "content-type"),
];
/// The fields of a transaction on the page, by the members of its receipt.
const SHOWN: [(&str, &str); 7] = [
    ("Status", "status"),
    ("Block", "blockNumber"),
    ("Block hash", "blockHash"),
    ("From", "from"),
    ("To", "to"),
    ("Gas used", "gasUsed"),
    ("Gas price (wei)", "effectiveGasPrice"),
];

/// The first chain's `path` is empty.
pub(super) fn router(path: &str, chain: BuiltInChain) -> Router {
    let root = if path.is_empty() { "/" } else { path };
    Router::new()
        .route(root, post(rpc))
        .route(root, options(preflight))
        .route(&format!("{path}/explorer/tx/{{hash}}"), get(transaction))
        .with_state(chain)
}

async fn rpc(
    State(chain): State<BuiltInChain>,
    id: RequestId,
    body: Result<Bytes, BytesRejection>,
) -> Response {
    let body = match body {
        Ok(body) => body,
        Err(rejection) => {
            let status = rejection.status();
            return Problem::new(status, "unreadable_body", "The body is too large or incomplete")
                .respond(&id);
        }
    };
    let mut response = chain.serve_bytes(&body).await.into_response();
    response
        .headers_mut()
        .insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    with_cors(response)
}

async fn preflight() -> Response {
    with_cors(StatusCode::NO_CONTENT.into_response())
}

fn with_cors(mut response: Response) -> Response {
    for (name, value) in CORS {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

async fn transaction(
    State(chain): State<BuiltInChain>,
    hash: Result<Path<String>, PathRejection>,
) -> Response {
    let Some(hash) = hash.ok().and_then(|Path(hash)| TxHash::parse(&hash)) else {
        return page(StatusCode::NOT_FOUND, "This is not a transaction hash.", None);
    };
    match chain.call("eth_getTransactionReceipt", json!([hash.to_string()])) {
        Ok(Value::Null) => {
            page(StatusCode::NOT_FOUND, "The transaction is not in the chain.", None)
        }
        Ok(receipt) => page(StatusCode::OK, &hash.to_string(), Some(&receipt)),
        Err(fault) => {
            tracing::warn!(%fault, "the built-in chain does not answer");
            page(StatusCode::SERVICE_UNAVAILABLE, "The chain does not answer.", None)
        }
    }
}

/// Its content is either fixed or hexadecimal digits of the chain.
fn page(status: StatusCode, title: &str, receipt: Option<&Value>) -> Response {
    let mut body = format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">\
         <title>Transaction</title><h1>Sandbox transaction</h1><p>No real money.</p><p><code>{title}</code></p>"
    );
    if let Some(receipt) = receipt {
        body.push_str("<table>");
        for (name, member) in SHOWN {
            let value = receipt.get(member).and_then(Value::as_str).unwrap_or_default();
            let value = match (member, value) {
                ("status", "0x1") => "succeeded",
                ("status", _) => "reverted",
                (_, value) => value,
            };
            body.push_str(&format!(
                "<tr><th scope=\"row\">{name}</th><td><code>{value}</code></td></tr>"
            ));
        }
        body.push_str("</table>");
    }
    let headers = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (
            header::CONTENT_SECURITY_POLICY,
            "default-src 'none'; frame-ancestors 'none'; base-uri 'none'",
        ),
        (header::CACHE_CONTROL, "no-store"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ];
    (status, headers, body).into_response()
}
