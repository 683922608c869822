//! The documentation page: an OpenAPI document as plain HTML, made once when a process starts.
//!
//! No script, no image, no address outside: one page and one style sheet. Everything on it comes from the document;
//! nothing is told here that the document does not say.

mod document;
mod html;
mod page;
mod schema;

pub use page::page;

/// Where the style sheet is served.
pub const STYLE_PATH: &str = "/docs/style.css";
/// The style sheet.
pub const STYLE: &str = include_str!("style.css");
