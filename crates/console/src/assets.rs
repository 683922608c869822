//! The style sheet, the script, the icons and the typeface, all embedded.

use std::sync::LazyLock;

use axum::Router;
use axum::response::Response;
use axum::routing::get;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::StatusCode;
use http_api::pay_page::assets::ASSETS;
use sha2::{Digest as _, Sha256};

use super::answer::answer;

/// The style sheet of the pages.
pub const STYLE: &str = concat!(include_str!("style.css"), include_str!("stories.css"));
/// The script for live regions, copying and keys. Every page works without it.
pub const SCRIPT: &str = include_str!("console.js");
/// The sprite: each icon is a symbol.
const SPRITE: &str = include_str!("../assets/icons.svg");
/// Inter, reduced to the letters of the pages; other letters come from the system's typefaces.
const TYPEFACE: &[u8] = include_bytes!("../assets/inter.woff2");
const TYPEFACE_LICENCE: &str = include_str!("../assets/inter-OFL.txt");

pub const ICON_PATH: &str = "/console/icon.svg";
/// The path of the sprite.
pub const ICONS: &str = "/console/icons.svg";

/// The path of the receipts' style sheet.
pub const RECEIPT_STYLE_PATH: &str = "/console/receipt.css";

const CACHING: &str = "public, max-age=3600";

/// The style sheet's address, which changes with its content: a page never meets an older one in
/// the browser's cache.
pub fn style_path() -> &'static str {
    static PATH: LazyLock<String> = LazyLock::new(|| versioned("/console/style.css", STYLE));
    &PATH
}

/// The script's address, likewise.
pub fn script_path() -> &'static str {
    static PATH: LazyLock<String> = LazyLock::new(|| versioned("/console/console.js", SCRIPT));
    &PATH
}

fn versioned(path: &str, content: &str) -> String {
    let digest = Sha256::digest(content);
    format!("{path}?v={}", URL_SAFE_NO_PAD.encode(&digest[..6]))
}

/// The routes; their content is public.
pub fn router() -> Router {
    let text = |kind: &'static str, body: &'static str| {
        get(move || async move { answer(StatusCode::OK, kind, body.into(), CACHING) })
    };
    let svg = "image/svg+xml";
    Router::new()
        .route(ICON_PATH, get(icon))
        .route(ICONS, text(svg, SPRITE))
        .route("/console/style.css", text("text/css; charset=utf-8", STYLE))
        .route(RECEIPT_STYLE_PATH, text("text/css; charset=utf-8", http_api::receipt::STYLE))
        .route("/console/console.js", text("text/javascript; charset=utf-8", SCRIPT))
        .route("/console/inter.woff2", get(typeface))
        .route("/console/inter-OFL.txt", text("text/plain; charset=utf-8", TYPEFACE_LICENCE))
}

async fn icon() -> Response {
    answer(StatusCode::OK, "image/svg+xml", ASSETS.icon.body.into(), CACHING)
}

async fn typeface() -> Response {
    answer(StatusCode::OK, "font/woff2", TYPEFACE.into(), CACHING)
}
