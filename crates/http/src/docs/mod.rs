//! The documentation pages, rendered on the first request: OpenAPI documents and the repository's
//! guides.
//!
//! All content is local: pages, one style sheet, and one script that searches the start page and
//! signs requests in the browser without sending anything. API pages come from the documents,
//! guides from `docs/`.

mod document;
mod guide_page;
mod guides;
mod html;
mod index;
mod layout;
mod markdown;
mod page;
mod schema;
mod snippets;

pub use guide_page::{guide, signing};
pub use guides::{GUIDES, Guide, REFERENCE};
pub use index::index;
pub use page::page;

/// A document, its path and the path of its page.
#[derive(Clone, Copy, Debug)]
pub struct Described {
    pub document: &'static str,
    /// Path of the document.
    pub document_path: &'static str,
    /// Path of its page.
    pub page_path: &'static str,
}

/// Path of the style sheet.
pub const STYLE_PATH: &str = "/docs/style.css";
pub const STYLE: &str = include_str!("style.css");
/// Path of the script.
pub const SCRIPT_PATH: &str = "/docs/docs.js";
pub const SCRIPT: &str = include_str!("docs.js");
/// Path of the signing page.
pub const SIGNING_PATH: &str = "/docs/signing";
