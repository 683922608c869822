//! The settings of one destination, as the configuration gives them.

use std::path::PathBuf;
use std::time::Duration;

use secrecy::SecretString;

/// The User-Agent of requests, unless the settings have another.
pub(super) const USER_AGENT: &str = concat!("corridor/", env!("CARGO_PKG_VERSION"));
/// The only content coding that is asked for: bodies come as they are.
pub(crate) const IDENTITY: &str = "identity";

#[derive(Clone, Debug)]
pub struct Settings {
    /// The table of the configuration, with which errors begin: `outbound.bank`.
    pub table: String,
    /// Client certificate for mutual TLS.
    pub identity: Option<Identity>,
    /// PEM file of trusted authorities.
    pub authority_file: Option<PathBuf>,
    /// Whether the system's authorities are trusted besides those of `authority_file`.
    pub system_authorities: bool,
    pub proxy: Proxy,
    /// `User-Agent` of the requests; `None` = `corridor/<version>`.
    pub user_agent: Option<String>,
    /// How many redirects of one document are followed.
    pub redirects: usize,
    pub authentication: Authentication,
    /// Signature of each body that is sent.
    pub signing: Option<Signing>,
    pub connect_timeout: Duration,
    /// Timeout for a complete answer, including the connection.
    pub request_timeout: Duration,
    /// How often a repeatable request is repeated.
    pub retries: u32,
    /// The longest pause that is kept, whatever a server asks for.
    pub pause_max: Duration,
    /// Whether plain HTTP beyond this machine is allowed; never with credentials.
    pub plain_http: bool,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            table: "outbound.default".to_owned(),
            identity: None,
            authority_file: None,
            system_authorities: true,
            proxy: Proxy::Environment,
            user_agent: None,
            redirects: 0,
            authentication: Authentication::None,
            signing: None,
            connect_timeout: Duration::from_secs(5),
            request_timeout: Duration::from_secs(30),
            retries: 0,
            pause_max: Duration::from_secs(3_600),
            plain_http: false,
        }
    }
}

/// A certificate and its key, in PEM files that are read again when they change.
#[derive(Clone, Debug)]
pub struct Identity {
    pub certificate_file: PathBuf,
    pub key_file: PathBuf,
}

#[derive(Clone, Debug)]
pub enum Proxy {
    /// That of `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`; never for this machine itself.
    Environment,
    Direct,
    /// This one for every address; its URL may contain a password.
    Url(SecretString),
}

#[derive(Clone, Debug)]
pub enum Authentication {
    None,
    Basic {
        user: String,
        password: SecretString,
    },
    Bearer(SecretString),
    Header {
        name: String,
        value: SecretString,
    },
    /// A parameter of the address.
    Query {
        name: String,
        value: SecretString,
    },
    OAuth2(Box<OAuth2>),
}

/// A token endpoint (RFC 6749), which may be on another host than the destination.
#[derive(Clone, Debug)]
pub struct OAuth2 {
    pub token_url: String,
    pub grant: Grant,
    pub client_id: String,
    /// Empty for a public client.
    pub client_secret: SecretString,
    pub client_authentication: ClientAuthentication,
    /// Empty = not sent.
    pub scope: String,
    /// Empty = not sent.
    pub audience: String,
}

#[derive(Clone, Debug)]
pub enum Grant {
    ClientCredentials,
    Password { user: String, password: SecretString },
}

#[derive(Clone, Debug)]
pub enum ClientAuthentication {
    Basic,
    Body,
    /// An assertion that the client signs (RFC 7523), instead of a secret; an empty `audience` is the
    /// token URL.
    PrivateKeyJwt {
        key: JwsKey,
        audience: String,
    },
}

/// A key of JWS signatures.
#[derive(Clone, Debug)]
pub struct JwsKey {
    pub algorithm: JwsAlgorithm,
    /// PEM file of the key, read again when it changes.
    pub file: PathBuf,
    /// `kid`; empty = omitted.
    pub id: String,
}

#[derive(Clone, Debug)]
pub enum Signing {
    /// A JWS with detached payload (RFC 7515, appendix F).
    Jws {
        header: String,
        key: JwsKey,
        /// The payload is signed as it is (`b64: false`, RFC 7797).
        unencoded: bool,
    },
    /// HMAC-SHA256 of the body.
    Hmac { header: String, secret: SecretString, encoding: Encoding },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JwsAlgorithm {
    Rs256,
    /// With a salt as long as the digest (RFC 7518, section 3.5).
    Ps256,
    Es256,
    EdDsa,
}

impl JwsAlgorithm {
    /// The value of `alg`.
    pub const fn name(self) -> &'static str {
        match self {
            JwsAlgorithm::Rs256 => "RS256",
            JwsAlgorithm::Ps256 => "PS256",
            JwsAlgorithm::Es256 => "ES256",
            JwsAlgorithm::EdDsa => "EdDSA",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    Hex,
    Base64,
}

/// Why a client cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{key}: {rule}")]
pub struct SetupError {
    /// The dotted key of the configuration.
    pub key: String,
    pub rule: String,
}

impl Settings {
    pub(super) fn fault(&self, key: &str, rule: impl Into<String>) -> SetupError {
        SetupError { key: format!("{}.{key}", self.table), rule: rule.into() }
    }

    pub(super) fn has_credentials(&self) -> bool {
        !matches!(self.authentication, Authentication::None) || self.signing.is_some()
    }
}
