//! The payment page behind a payment link: plain HTML that works everywhere, without a script (`experience.md`, "Pay
//! page"). The token in its path is all that a visitor needs and all that he is told: the recipient's wallet and
//! customer appear nowhere.

pub mod form;
pub mod pages;
pub mod qr;
mod routes;
pub mod view;

pub use routes::{FORMS_PER_WINDOW, REQUESTS_PER_WINDOW, Settings, router};

/// The style sheet of the pages.
pub const STYLE: &str = include_str!("style.css");
