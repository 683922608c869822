//! The outside world: rails, chains, rates, sanction lists, the bank directory, the banks' receivers of webhooks,
//! the identity provider of their people.
//!
//! Each module speaks one outside party's language and turns it into values of the domain. None decides about money.

pub mod bank_directory;
pub mod evm;
pub mod oidc;
pub mod rails;
pub mod rates;
pub mod screening;
pub mod webhooks;

mod fetch;
pub use fetch::FetchError;
