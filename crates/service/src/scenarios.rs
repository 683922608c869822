//! The port through which the console of a sandbox plays scenarios: the command line's `trigger` implements it, so that
//! both make things happen through the APIs alone.

use client::Credentials;
use domain::ports::Answer;
use http_api::auth::Service;

/// What happened, and the id of what was made.
pub type Made = Vec<(String, String)>;

/// Scenarios that can be played, each by its name.
pub trait Scenarios: Send + Sync {
    /// Names of all scenarios, and what each makes happen.
    fn all(&self) -> Vec<(&'static str, &'static str)>;

    /// Whether a scenario moves the business clock, which all tenants share.
    fn moves_clock(&self, name: &str) -> bool;

    /// Which API a scenario is played through.
    ///
    /// # Errors
    /// No scenario has that name.
    fn service(&self, name: &str) -> Result<Service, String>;

    /// Plays a scenario with a key for its [`Scenarios::service`]. `funded` is a wallet that exchanges take from.
    ///
    /// # Errors
    /// The API's answer, in words for a person.
    fn play<'a>(
        &'a self,
        name: &'a str,
        funded: Option<String>,
        credentials: Credentials,
    ) -> Answer<'a, Result<Made, String>>;
}
