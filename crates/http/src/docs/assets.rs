//! The files that pages load: style sheet, font, icon, scripts. All of them are in the program.

use bytes::Bytes;

/// A file and its path.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asset {
    pub(super) path: &'static str,
    pub(super) content_type: &'static str,
    pub(super) body: &'static [u8],
}

impl Asset {
    pub(super) fn bytes(&self) -> Bytes {
        Bytes::from_static(self.body)
    }
}

pub(super) const STYLE_PATH: &str = "/docs/docs.css";
pub(super) const ICON_PATH: &str = "/docs/favicon.svg";
/// On every page: copying, the language of samples, keys.
pub(super) const SCRIPT_PATH: &str = "/docs/docs.js";
/// Signatures, for the two that follow.
pub(super) const TOKENS_PATH: &str = "/docs/tokens.js";
/// Signs a request step by step; it sends no data.
pub(super) const SIGNING_SCRIPT_PATH: &str = "/docs/signing.js";
/// Tries operations; only in a sandbox.
pub(super) const TRY_PATH: &str = "/docs/try.js";

const CSS: &str = "text/css; charset=utf-8";
const JAVASCRIPT: &str = "text/javascript; charset=utf-8";

macro_rules! asset {
    ($path:expr, $content_type:expr, $file:literal) => {
        Asset {
            path: $path,
            content_type: $content_type,
            body: include_bytes!(concat!("assets/", $file)),
        }
    };
}

pub(super) const ASSETS: [Asset; 8] = [
    asset!(STYLE_PATH, CSS, "docs.css"),
    asset!("/docs/inter.woff2", "font/woff2", "inter.woff2"),
    // The licence of the font goes where the font goes.
    asset!("/docs/inter-OFL.txt", "text/plain; charset=utf-8", "inter-OFL.txt"),
    asset!(ICON_PATH, "image/svg+xml", "favicon.svg"),
    asset!(SCRIPT_PATH, JAVASCRIPT, "docs.js"),
    asset!(TOKENS_PATH, JAVASCRIPT, "tokens.js"),
    asset!(SIGNING_SCRIPT_PATH, JAVASCRIPT, "signing.js"),
    asset!(TRY_PATH, JAVASCRIPT, "try.js"),
];
