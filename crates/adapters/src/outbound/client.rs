//! The client: prepares a request as its destination demands, sends it, and reads a bounded answer.

use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use domain::time::Timestamp;
use reqwest::header::{
    ACCEPT_ENCODING, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue,
    WWW_AUTHENTICATE,
};
use reqwest::{ClientBuilder, Method, NoProxy, Response, StatusCode, Url, redirect, retry};
use secrecy::{ExposeSecret as _, SecretString};

use super::address::{is_allowed, shown};
use super::fault::{Fault, cannot_have_arrived, causes};
use super::files::{self, Current};
use super::oauth::{Token, Tokens};
use super::pauses::{self, Pauses};
use super::secrets::Secrets;
use super::settings::{Authentication, IDENTITY, Proxy, Settings, SetupError, USER_AGENT};
use super::signing::{Assertions, Signer};

/// Idle timeout of connections: shorter than that of most servers, so that few requests meet a
/// closed connection and end up indeterminate.
const IDLE_CONNECTION: Duration = Duration::from_secs(20);
/// The wait before the first repetition; each further one is twice as long.
const FIRST_WAIT: Duration = Duration::from_millis(200);
/// A request that would have to wait longer is not repeated.
const WAIT_MAX: Duration = Duration::from_secs(5);

pub struct Request {
    method: Method,
    url: Url,
    headers: HeaderMap,
    body: Vec<u8>,
    repeatable: bool,
    timeout: Option<Duration>,
}

impl Request {
    /// A request that is sent once.
    pub fn new(method: Method, url: Url, body: impl Into<Vec<u8>>) -> Request {
        let (headers, body) = (HeaderMap::new(), body.into());
        Request { method, url, headers, body, repeatable: false, timeout: None }
    }

    /// A GET, which may be repeated.
    pub fn get(url: Url) -> Request {
        Request::new(Method::GET, url, []).repeatable()
    }

    /// A POST, which is sent once.
    pub fn post(url: Url, content_type: HeaderValue, body: impl Into<Vec<u8>>) -> Request {
        Request::new(Method::POST, url, body).header(CONTENT_TYPE, content_type)
    }

    #[must_use]
    pub fn header(mut self, name: HeaderName, value: HeaderValue) -> Request {
        self.headers.insert(name, value);
        self
    }

    /// Declares that a repetition has no effect of its own.
    #[must_use]
    pub fn repeatable(self) -> Request {
        Request { repeatable: true, ..self }
    }

    /// Replaces the settings' timeout.
    #[must_use]
    pub fn timeout(self, timeout: Duration) -> Request {
        Request { timeout: Some(timeout), ..self }
    }
}

/// A client of one destination. Clones share connections, tokens and pauses.
#[derive(Clone)]
pub struct Client(Arc<Inner>);

struct Inner {
    settings: Settings,
    addresses: Vec<Url>,
    /// Header of the authentication, unless it is a token.
    fixed: Option<(HeaderName, HeaderValue)>,
    tokens: Option<Tokens>,
    secrets: Secrets,
    files: Vec<PathBuf>,
    current: Mutex<Current<Arc<Loaded>>>,
    pauses: Pauses,
}

/// What depends on files.
struct Loaded {
    http: reqwest::Client,
    signer: Option<Signer>,
    assertions: Option<Assertions>,
    certificate: Option<Certificate>,
}

impl fmt::Debug for Client {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let addresses: Vec<String> = self.0.addresses.iter().map(shown).collect();
        out.debug_struct("Client").field("addresses", &addresses).finish_non_exhaustive()
    }
}

impl Client {
    /// A client for these addresses; `key` is the configuration's name for them. Opens no connection
    /// yet.
    pub fn new(settings: &Settings, key: &str, addresses: &[&str]) -> Result<Client, SetupError> {
        Client::hiding(settings, key, addresses, &[])
    }

    /// The same with further secrets, which the caller sends by itself.
    pub fn hiding(
        settings: &Settings,
        key: &str,
        addresses: &[&str],
        hidden: &[&str],
    ) -> Result<Client, SetupError> {
        let fault = |rule: &str| SetupError { key: key.to_owned(), rule: rule.to_owned() };
        let mut urls = Vec::with_capacity(addresses.len() + 1);
        for address in addresses {
            let url = Url::parse(address).map_err(|_| fault("is not an http(s) URL"))?;
            if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
                return Err(fault("is not an http(s) URL"));
            }
            if !is_allowed(&url) && settings.has_credentials() {
                return Err(fault(
                    "must be https: credentials are not sent in plain text (except to this machine)",
                ));
            }
            if !is_allowed(&url) && !settings.plain_http {
                return Err(fault("must be https (plain http is allowed to this machine only)"));
            }
            urls.push(url);
        }
        let tokens = match &settings.authentication {
            Authentication::OAuth2(oauth) => {
                let url =
                    Url::parse(&oauth.token_url).ok().filter(is_allowed).ok_or_else(|| {
                        settings.fault(
                            "token_url",
                            "must be an https URL (plain http is allowed to this machine only)",
                        )
                    })?;
                Some(Tokens::new(oauth, url, settings))
            }
            _ => None,
        };
        let mut secrets = Secrets::of(settings, &urls);
        hidden.iter().for_each(|secret| secrets.add(secret));
        let files = files::watched(settings);
        let stamps = files::stamps(&files);
        let loaded = load(settings, &urls)?;
        Ok(Client(Arc::new(Inner {
            fixed: fixed_header(settings)?,
            settings: settings.clone(),
            addresses: urls,
            tokens,
            secrets,
            files,
            current: Mutex::new(Current::new(stamps, Arc::new(loaded))),
            pauses: Pauses::default(),
        })))
    }

    pub fn settings(&self) -> &Settings {
        &self.0.settings
    }

    /// When the client certificate expires.
    pub fn certificate_expires(&self) -> Option<Timestamp> {
        self.current().certificate.as_ref().map(|(_, expires)| *expires)
    }

    /// A text with this destination's secrets masked.
    pub fn masked(&self, text: String) -> String {
        self.0.secrets.mask(text)
    }

    /// Sends a request, and a repeatable one again while the retry budget lasts.
    pub async fn send(&self, request: Request) -> Result<Answer, Fault> {
        let inner = &self.0;
        let mut left = if request.repeatable { inner.settings.retries } else { 0 };
        let mut wait = FIRST_WAIT;
        let mut may_renew = request.repeatable;
        loop {
            inner.pauses.check(&request.url)?;
            let outcome = self.send_once(&request).await;
            let asked = match &outcome {
                Ok(answer) if answer.refuses_token && may_renew => {
                    may_renew = false;
                    continue;
                }
                Ok(answer) if !is_transient(answer.status()) => None,
                Ok(answer) => Some(answer.asked_pause().unwrap_or(wait)),
                Err(_) => Some(wait),
            };
            match asked {
                Some(asked) if left > 0 && asked <= WAIT_MAX => {
                    tokio::time::sleep(asked).await;
                    left -= 1;
                    wait *= 2;
                }
                _ => return outcome.map(|answer| self.heard(&request.url, answer)),
            }
        }
    }

    /// Remembers the pause that an answer asks for.
    fn heard(&self, url: &Url, answer: Answer) -> Answer {
        if let Some(asked) = answer.asked_pause() {
            let pause = asked.min(self.0.settings.pause_max);
            self.0.pauses.set(url, answer.status(), pause);
        }
        answer
    }

    async fn send_once(&self, request: &Request) -> Result<Answer, Fault> {
        let inner = &self.0;
        let loaded = self.current();
        // Elsewhere, after a redirect, the credentials are none of the server's business.
        let is_ours = inner.addresses.iter().any(|own| own.origin() == request.url.origin());
        let mut url = request.url.clone();
        if let Authentication::Query { name, value } = &inner.settings.authentication
            && is_ours
        {
            url.query_pairs_mut().append_pair(name, value.expose_secret());
        }
        let mut builder = loaded
            .http
            .request(request.method.clone(), url)
            .headers(request.headers.clone())
            .timeout(request.timeout.unwrap_or(inner.settings.request_timeout));
        let mut secrets = inner.secrets.clone();
        let mut token = None;
        if is_ours {
            if let Some((name, value)) = &inner.fixed {
                builder = builder.header(name, value);
            }
            if let Some(tokens) = &inner.tokens {
                let held = tokens.token(&loaded.http, loaded.assertions.as_ref()).await;
                let held = held.map_err(Fault::NotSent)?;
                builder = builder.header(AUTHORIZATION, &held.authorization);
                secrets.add(bearer(&held));
                token = Some(held);
            }
            if let Some(signer) = loaded.signer.as_ref().filter(|_| !request.body.is_empty()) {
                let (name, value) = signer.sign(&request.body).map_err(Fault::NotSent)?;
                builder = builder.header(name, value);
            }
        }
        if !request.body.is_empty() {
            builder = builder.body(request.body.clone());
        }
        let response = builder.send().await.map_err(|error| self.fault(error, &loaded))?;
        let mut refuses_token = false;
        if response.status() == StatusCode::UNAUTHORIZED
            && let (Some(tokens), Some(token)) = (&inner.tokens, &token)
        {
            tokens.forget(token).await;
            refuses_token = true;
        }
        Ok(Answer { response, secrets, refuses_token })
    }

    fn fault(&self, error: reqwest::Error, loaded: &Loaded) -> Fault {
        let not_sent = cannot_have_arrived(&error);
        let mut text = self.masked(causes(&error.without_url()));
        if let Some((file, expires)) = &loaded.certificate
            && *expires < now()
        {
            text = format!("{text} (the certificate in {} expired on {expires})", file.display());
        }
        if not_sent { Fault::NotSent(text) } else { Fault::Unclear(text) }
    }

    /// The client with the files as they are now. While they are incomplete, the last complete ones
    /// stay in use.
    fn current(&self) -> Arc<Loaded> {
        let inner = &self.0;
        let mut current = inner.current.lock().unwrap_or_else(PoisonError::into_inner);
        let load = || load(&inner.settings, &inner.addresses).map(Arc::new);
        refresh(&inner.settings, &inner.files, &mut current, load);
        Arc::clone(&current.loaded)
    }
}

/// An answer whose body has not been read.
pub struct Answer {
    response: Response,
    secrets: Secrets,
    /// 401 to a request with an access token; the next one gets another token.
    refuses_token: bool,
}

/// Why a body is not complete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BodyFault {
    TooLarge,
    Broken(String),
}

impl Answer {
    pub fn status(&self) -> StatusCode {
        self.response.status()
    }

    pub fn headers(&self) -> &HeaderMap {
        self.response.headers()
    }

    /// Whether the server states that it refused the access token (RFC 6750, section 3.1), which proves
    /// that it did nothing else.
    pub fn names_invalid_token(&self) -> bool {
        let challenges = self.headers().get_all(WWW_AUTHENTICATE).into_iter();
        let mut texts = challenges.filter_map(|value| value.to_str().ok());
        self.refuses_token && texts.any(|text| text.contains("invalid_token"))
    }

    /// The pause that the server asks for.
    pub fn asked_pause(&self) -> Option<Duration> {
        pauses::asked(self.status(), self.headers())
    }

    /// The whole body, at most `max_bytes`. In that of an error our secrets are masked: some servers
    /// send back the request.
    pub async fn body(self, max_bytes: usize) -> Result<Vec<u8>, BodyFault> {
        let is_error = !self.status().is_success();
        let bytes = read(self.response, max_bytes).await?;
        Ok(if is_error { self.secrets.mask_bytes(bytes) } else { bytes })
    }
}

pub(super) async fn read(mut response: Response, max_bytes: usize) -> Result<Vec<u8>, BodyFault> {
    let mut bytes = Vec::new();
    let broken = |error: reqwest::Error| BodyFault::Broken(causes(&error.without_url()));
    while let Some(chunk) = response.chunk().await.map_err(broken)? {
        if bytes.len() + chunk.len() > max_bytes {
            return Err(BodyFault::TooLarge);
        }
        bytes.extend_from_slice(&chunk);
    }
    Ok(bytes)
}

const fn is_transient(status: StatusCode) -> bool {
    matches!(status.as_u16(), 429 | 502 | 503 | 504)
}

pub(super) fn now() -> Timestamp {
    Timestamp(jiff::Timestamp::now().as_microsecond())
}

fn bearer(token: &Token) -> &str {
    let text = token.authorization.to_str().unwrap_or_default();
    text.strip_prefix("Bearer ").unwrap_or(text)
}

fn fixed_header(settings: &Settings) -> Result<Option<(HeaderName, HeaderValue)>, SetupError> {
    let unusable =
        |key: &str| settings.fault(key, "contains characters that a header cannot carry");
    let value = |key: &str, text: String| {
        let mut value = HeaderValue::try_from(text).map_err(|_| unusable(key))?;
        value.set_sensitive(true);
        Ok(value)
    };
    Ok(match &settings.authentication {
        Authentication::None | Authentication::Query { .. } | Authentication::OAuth2(_) => None,
        Authentication::Basic { user, password } => {
            let pair = STANDARD.encode(format!("{user}:{}", password.expose_secret()));
            Some((AUTHORIZATION, value("password", format!("Basic {pair}"))?))
        }
        Authentication::Bearer(token) => {
            Some((AUTHORIZATION, value("token", format!("Bearer {}", token.expose_secret()))?))
        }
        Authentication::Header { name, value: text } => {
            let name = name.parse().map_err(|_| unusable("header_name"))?;
            Some((name, value("header_value", text.expose_secret().to_owned())?))
        }
    })
}

fn load(settings: &Settings, addresses: &[Url]) -> Result<Loaded, SetupError> {
    let token_url = match &settings.authentication {
        Authentication::OAuth2(oauth) => Url::parse(&oauth.token_url).ok(),
        _ => None,
    };
    // Loading the system's authorities takes time: not if nothing is encrypted.
    let uses_tls = addresses.iter().chain(&token_url).any(|url| url.scheme() == "https")
        || settings.redirects > 0
        || has_tls_proxy(settings);
    let (builder, certificate) = configured(settings, uses_tls, Vec::new())?;
    let builder = builder.default_headers(
        [(ACCEPT_ENCODING, HeaderValue::from_static(IDENTITY))].into_iter().collect(),
    );
    // Before the client, which is the expensive part.
    let (signer, assertions) = (Signer::of(settings)?, Assertions::of(settings)?);
    Ok(Loaded { http: built(settings, builder)?, signer, assertions, certificate })
}

/// The client certificate's file, and when it expires.
type Certificate = (PathBuf, Timestamp);

/// A builder with TLS, proxy, time-outs and User-Agent of the settings; `roots` are trusted, too.
pub(super) fn configured(
    settings: &Settings,
    uses_tls: bool,
    mut roots: Vec<reqwest::Certificate>,
) -> Result<(ClientBuilder, Option<Certificate>), SetupError> {
    let mut builder = plain()
        .user_agent(settings.user_agent.as_deref().unwrap_or(USER_AGENT))
        .connect_timeout(settings.connect_timeout)
        .pool_idle_timeout(IDLE_CONNECTION);
    if let Some(path) = &settings.authority_file {
        let own = files::authorities(path);
        roots.extend(own.map_err(|rule| settings.fault("authority_file", rule))?);
    }
    builder = match settings.system_authorities && uses_tls {
        true => builder.tls_certs_merge(roots),
        false => builder.tls_certs_only(roots),
    };
    builder = match &settings.proxy {
        Proxy::Direct => builder.no_proxy(),
        Proxy::Environment => environment_proxy(builder, settings)?,
        Proxy::Url(url) => builder.no_proxy().proxy(proxy(url).ok_or_else(|| {
            settings.fault("proxy", "must be \"environment\", \"none\" or an http(s) URL")
        })?),
    };
    let mut certificate = None;
    if let Some(identity) = &settings.identity {
        let loaded = files::identity(settings, identity, now())?;
        let pem = reqwest::Identity::from_pem(&loaded.pem);
        let pem = pem.map_err(|error| settings.fault("certificate_file", causes(&error)))?;
        builder = builder.identity(pem);
        certificate = Some((loaded.file, loaded.expires));
    }
    Ok((builder, certificate))
}

pub(super) fn built(
    settings: &Settings,
    builder: ClientBuilder,
) -> Result<reqwest::Client, SetupError> {
    builder.build().map_err(|error| {
        settings.fault("user_agent", format!("no HTTP client can be built: {}", causes(&error)))
    })
}

type Scheme = fn(String) -> reqwest::Result<reqwest::Proxy>;

/// The variables of the environment's proxies.
const PROXIES: [(&str, Scheme); 3] = [
    ("HTTPS_PROXY", reqwest::Proxy::https),
    ("HTTP_PROXY", reqwest::Proxy::http),
    ("ALL_PROXY", reqwest::Proxy::all),
];

/// A variable of the environment, in upper or lower case.
fn variable(name: &str) -> Option<String> {
    let given = std::env::var(name).or_else(|_| std::env::var(name.to_ascii_lowercase()));
    given.ok().filter(|text| !text.is_empty())
}

/// The proxies of the environment, for all but this machine.
fn environment_proxy(
    builder: ClientBuilder,
    settings: &Settings,
) -> Result<ClientBuilder, SetupError> {
    const HERE: &str = "localhost,127.0.0.0/8,::1";
    let around = variable("NO_PROXY").map_or_else(String::new, |own| format!("{own},"));
    let around = NoProxy::from_string(&format!("{around}{HERE}"));
    let mut builder = builder.no_proxy();
    for (name, scheme) in PROXIES {
        if let Some(url) = variable(name) {
            let proxy = scheme(url).map_err(|_| {
                settings.fault("proxy", format!("{name} is not the URL of an HTTP proxy"))
            })?;
            builder = builder.proxy(proxy.no_proxy(around.clone()));
        }
    }
    Ok(builder)
}

/// Whether the way to the proxy itself is encrypted.
fn has_tls_proxy(settings: &Settings) -> bool {
    match &settings.proxy {
        Proxy::Direct => false,
        Proxy::Environment => {
            PROXIES.iter().filter_map(|(name, _)| variable(name)).any(|url| is_tls(&url))
        }
        Proxy::Url(url) => is_tls(url.expose_secret()),
    }
}

fn is_tls(url: &str) -> bool {
    Url::parse(url).is_ok_and(|url| url.scheme() == "https")
}

/// Only HTTP and TLS proxies; the URL never reaches a message.
fn proxy(url: &SecretString) -> Option<reqwest::Proxy> {
    let url = Url::parse(url.expose_secret()).ok()?;
    (matches!(url.scheme(), "http" | "https") && url.has_host())
        .then(|| reqwest::Proxy::all(url).ok())?
}

/// What all clients have in common: no redirect, no repetition, no `Referer`.
fn plain() -> ClientBuilder {
    // Every caller installs the same provider, so an earlier one is fine.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder()
        .redirect(redirect::Policy::none())
        .retry(retry::never())
        .referer(false)
}

/// The hosts of the proxies that the settings may lead through, in lower case.
pub(super) fn proxy_hosts(settings: &Settings) -> Vec<String> {
    let urls: Vec<String> = match &settings.proxy {
        Proxy::Direct => Vec::new(),
        Proxy::Environment => PROXIES.iter().filter_map(|(name, _)| variable(name)).collect(),
        Proxy::Url(url) => vec![url.expose_secret().to_owned()],
    };
    let host = |url: String| {
        // The environment's may lack the scheme.
        let url = if url.contains("://") { url } else { format!("http://{url}") };
        Url::parse(&url).ok()?.host_str().map(str::to_ascii_lowercase)
    };
    urls.into_iter().filter_map(host).collect()
}

/// Loads a client again if its files have changed. An unusable state of them replaces nothing, and they
/// are read again for each request until they are usable.
pub(super) fn refresh<T>(
    settings: &Settings,
    files: &[PathBuf],
    current: &mut Current<T>,
    load: impl FnOnce() -> Result<T, SetupError>,
) {
    let stamps = files::stamps(files);
    if stamps == current.stamps {
        current.failure = None;
        return;
    }
    match load() {
        Ok(changed) => {
            tracing::info!(table = settings.table, "certificate files reloaded");
            *current = Current::new(stamps, changed);
        }
        Err(error) => {
            let error = error.to_string();
            if current.failure.as_ref() != Some(&error) {
                tracing::warn!(
                    error,
                    "changed certificate files are not usable, the last ones stay"
                );
                current.failure = Some(error);
            }
        }
    }
}
