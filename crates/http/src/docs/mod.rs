//! The documentation pages, made once, when the first one is asked for: OpenAPI documents and the repository's guides as HTML.
//!
//! Nothing is loaded from elsewhere: pages, one style sheet and one script, which searches the first page and signs
//! requests in the browser without sending anything. What the pages of the services say comes from the documents, what
//! the guides say from `docs/`.

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

/// A document and where it and its page are served.
#[derive(Clone, Copy, Debug)]
pub struct Described {
    /// The OpenAPI document.
    pub document: &'static str,
    /// Path of the document.
    pub document_path: &'static str,
    /// Path of its page.
    pub page_path: &'static str,
}

/// Where the style sheet is served.
pub const STYLE_PATH: &str = "/docs/style.css";
/// The style sheet.
pub const STYLE: &str = include_str!("style.css");
/// Where the script is served.
pub const SCRIPT_PATH: &str = "/docs/docs.js";
/// The script.
pub const SCRIPT: &str = include_str!("docs.js");
/// Where the page is served that signs requests.
pub const SIGNING_PATH: &str = "/docs/signing";
