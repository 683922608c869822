//! The payment page behind a payment link: HTML that works everywhere, in eight languages, and a little script for those
//! who have one (`experience.md`, "Pay page"). The token in its path is all that a visitor needs and all that he is told:
//! the recipient's wallet and customer appear nowhere.

mod answers;
pub mod assets;
mod back;
mod cookie;
mod find;
pub mod form;
pub mod language;
pub mod live;
pub mod pages;
pub mod qr;
mod receipt;
mod routes;
mod served;
mod stream;
pub mod target;
pub mod view;
mod visit;
pub mod way;
pub mod words;

pub use routes::router;
pub use served::{FINDS_PER_WINDOW, FORMS_PER_WINDOW, REQUESTS_PER_WINDOW, Settings};
