//! The operator console under `/console`: server-rendered pages with plain links and forms that
//! work without a script (`docs/console.md`).
//!
//! Every request passes `guard`: the session, the user's roles (`access`), the tenant in the
//! path, and for changes the form's CSRF token. Pages read through the services that the APIs use
//! and make changes through their commands; nothing here decides about money.

mod access;
mod account;
mod again;
mod answer;
mod approval_case;
mod approval_changes;
mod approvals;
mod assets;
mod audit;
mod brand;
mod case_files;
mod cases;
mod cookies;
pub mod export;
mod form;
#[cfg(any(test, feature = "fuzz"))]
pub mod fuzz;
mod guard;
mod inbox;
mod kept;
mod layout;
mod lists;
mod login;
pub mod outside;
mod parts;
pub mod password;
mod payments;
pub mod provider;
mod routes;
mod saved_views;
mod session;
mod setup;
mod state;
pub mod totp;
mod tries;
mod upload;
mod users;
mod view;
mod visit;
mod wallets;

pub use answer::{Answer, Stop, html, see_other};
pub use form::{Form, encoded, typed_amount};
pub use layout::{Frame, Headline};
pub use parts::{Cell, Pager, Row, Table, Tone};
pub use routes::{Routes, router};
pub use state::{Console, Settings};
pub use visit::Visit;
