//! The style sheet, the script and the icon, all embedded.

use axum::Router;
use axum::response::Response;
use axum::routing::get;
use http::StatusCode;
use http_api::pay_page::assets::ASSETS;

use super::answer::answer;

/// The style sheet of the pages.
pub const STYLE: &str = concat!(include_str!("style.css"), include_str!("stories.css"));
/// The script for live regions. Every page works without it.
pub const SCRIPT: &str = include_str!("console.js");

pub const ICON_PATH: &str = "/console/icon.svg";

/// The path of the receipts' style sheet.
pub const RECEIPT_STYLE_PATH: &str = "/console/receipt.css";

const CACHING: &str = "public, max-age=3600";

/// The routes; their content is public.
pub fn router() -> Router {
    Router::new()
        .route(ICON_PATH, get(icon))
        .route("/console/style.css", get(style))
        .route(RECEIPT_STYLE_PATH, get(receipt_style))
        .route("/console/console.js", get(script))
}

async fn style() -> Response {
    answer(StatusCode::OK, "text/css; charset=utf-8", STYLE.into(), CACHING)
}

async fn icon() -> Response {
    answer(StatusCode::OK, "image/svg+xml", ASSETS.icon.body.into(), CACHING)
}

async fn receipt_style() -> Response {
    answer(StatusCode::OK, "text/css; charset=utf-8", http_api::receipt::STYLE.into(), CACHING)
}

async fn script() -> Response {
    answer(StatusCode::OK, "text/javascript; charset=utf-8", SCRIPT.into(), CACHING)
}
