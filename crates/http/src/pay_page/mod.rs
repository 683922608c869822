//! The payment page that a payment link opens: HTML that works in every browser, in eight
//! languages, with an optional script (`docs/pay-page.md`). The token in its path is the
//! only credential. The page never shows the recipient's wallet or customer.

mod answers;
pub mod assets;
mod authorization;
mod back;
mod brand;
mod cookie;
mod find;
pub mod form;
#[cfg(any(test, feature = "fuzz"))]
pub(crate) mod fuzz;
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

pub use routes::{astray, router};
pub use served::{FINDS_PER_WINDOW, FORMS_PER_WINDOW, REQUESTS_PER_WINDOW, Settings};
