//! The documentation pages: OpenAPI documents as plain HTML, made once when a process starts.
//!
//! No script, no image, no address outside: a page for each document, one that leads to them, and one style sheet.
//! Everything on them comes from the documents; nothing is told here that they do not say.

mod document;
mod html;
mod page;
mod schema;

pub use page::{index, page};

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
