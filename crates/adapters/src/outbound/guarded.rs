//! A client for addresses that others name, as tenants name their webhook endpoints.

use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use reqwest::dns::Resolve;
use reqwest::{Certificate, ClientBuilder};

use super::client::{built, configured, proxy_hosts, refresh};
use super::files::{self, Current};
use super::secrets::Secrets;
use super::settings::{Settings, SetupError};

type Finish = Box<dyn Fn(ClientBuilder) -> ClientBuilder + Send + Sync>;

/// It resolves endpoints and proxies with the caller's resolver, and has no credentials but a client
/// certificate.
pub struct GuardedClient {
    settings: Settings,
    roots: Vec<Certificate>,
    finish: Finish,
    secrets: Secrets,
    files: Vec<PathBuf>,
    current: Mutex<Current<reqwest::Client>>,
}

impl fmt::Debug for GuardedClient {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("GuardedClient")
            .field("table", &self.settings.table)
            .finish_non_exhaustive()
    }
}

impl GuardedClient {
    /// A client that trusts `roots` besides the settings' authorities. `resolver` gets the hosts of
    /// the proxies; `finish` adds the caller's own limits.
    ///
    /// # Errors
    /// A file or another setting is unusable, or the settings have credentials for a header.
    pub fn new<R: Resolve + 'static>(
        settings: Settings,
        roots: Vec<Certificate>,
        resolver: impl FnOnce(Vec<String>) -> R,
        finish: impl Fn(ClientBuilder) -> ClientBuilder + Send + Sync + 'static,
    ) -> Result<GuardedClient, SetupError> {
        if settings.has_credentials() {
            let rule = "must be \"none\", as must the signature: others name the addresses";
            return Err(settings.fault("authentication", rule));
        }
        let resolver = Arc::new(resolver(proxy_hosts(&settings)));
        let finish: Finish =
            Box::new(move |builder| finish(builder.dns_resolver(Arc::clone(&resolver))));
        let files = files::watched(&settings);
        let stamps = files::stamps(&files);
        let client = GuardedClient::load(&settings, &roots, &finish)?;
        let (secrets, current) =
            (Secrets::of(&settings, &[]), Mutex::new(Current::new(stamps, client)));
        Ok(GuardedClient { settings, roots, finish, secrets, files, current })
    }

    fn load(
        settings: &Settings,
        roots: &[Certificate],
        finish: &Finish,
    ) -> Result<reqwest::Client, SetupError> {
        let (builder, _) = configured(settings, true, roots.to_vec())?;
        built(settings, finish(builder))
    }

    /// Whether a proxy may connect in place of this client, which resolves names by itself.
    pub fn may_use_proxy(&self) -> bool {
        !proxy_hosts(&self.settings).is_empty()
    }

    /// A text with the proxy's password masked.
    pub fn masked(&self, text: String) -> String {
        self.secrets.mask(text)
    }

    /// The client with the files as they are now. While they are incomplete, the last complete ones
    /// stay in use.
    pub fn current(&self) -> reqwest::Client {
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        let load = || GuardedClient::load(&self.settings, &self.roots, &self.finish);
        refresh(&self.settings, &self.files, &mut current, load);
        current.loaded.clone()
    }
}
