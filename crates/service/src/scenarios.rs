//! The port through which a sandbox's console plays scenarios: the command line's `trigger`
//! implements it, so that both act through the APIs alone.

use client::Credentials;
use domain::ports::BoxFuture;
use http_api::auth::Service;

/// The result, and the id of the created object.
pub type Made = Vec<(String, String)>;

/// Scenarios that can be played, by name.
pub trait Scenarios: Send + Sync {
    /// Names and descriptions of all scenarios.
    fn all(&self) -> Vec<(&'static str, &'static str)>;

    /// Whether a scenario advances the business clock, which all tenants share.
    fn moves_clock(&self, name: &str) -> bool;

    /// The API that a scenario uses.
    ///
    /// # Errors
    /// No scenario has that name.
    fn service(&self, name: &str) -> Result<Service, String>;

    /// Plays a scenario with a key for its [`Scenarios::service`]. `funded` is a wallet for
    /// exchanges.
    ///
    /// # Errors
    /// The API's error, worded for the user.
    fn play<'a>(
        &'a self,
        name: &'a str,
        funded: Option<String>,
        credentials: Credentials,
    ) -> BoxFuture<'a, Result<Made, String>>;
}
