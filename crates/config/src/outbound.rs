//! `[outbound.<name>]`: how a destination is reached. The same keys wherever something is called, by
//! the name of the table; `[outbound.default]` is the one of callers that name none, and has the
//! values of keys that another table omits.

use std::iter;
use std::path::{Path, PathBuf};
use std::time::Duration;

use adapters::outbound::{
    self, Authentication, ClientAuthentication, Encoding, Grant, Identity, JwsAlgorithm, JwsKey,
    OAuth2, Proxy, Settings, Signing,
};
use secrecy::SecretString;
use serde::Deserialize;
use toml::{Table, Value};

use super::chain::OfChain;
use super::secret::Secret;
use super::sections::Config;
use super::validate::{Faults, is_http_url};

/// The table of callers that name none.
pub const DEFAULT: &str = "default";
/// `proxy`: that of the environment.
const PROXY_ENVIRONMENT: &str = "environment";
/// `proxy`: none, even if the environment names one.
const PROXY_NONE: &str = "none";
/// Headers of a signature, unless the table names another.
const JWS_HEADER: &str = "x-jws-signature";
const HMAC_HEADER: &str = "x-signature";

/// `authentication` of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AuthenticationKind {
    None,
    Basic,
    Bearer,
    Header,
    Query,
    #[serde(rename = "oauth2")]
    OAuth2,
}

/// `grant` of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GrantKind {
    ClientCredentials,
    Password,
}

/// `client_authentication` of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClientAuthenticationKind {
    Basic,
    Body,
    PrivateKeyJwt,
}

/// `signature` of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SignatureKind {
    None,
    Jws,
    Hmac,
}

/// `signature_algorithm` of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum AlgorithmKind {
    #[serde(rename = "RS256")]
    Rs256,
    #[serde(rename = "PS256")]
    Ps256,
    #[serde(rename = "ES256")]
    Es256,
    #[serde(rename = "EdDSA")]
    EdDsa,
}

/// `signature_encoding` of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EncodingKind {
    Hex,
    Base64,
}

/// The keys of a table `[outbound.<name>]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Outbound {
    pub certificate_file: PathBuf,
    pub key_file: PathBuf,
    pub authority_file: PathBuf,
    pub system_authorities: bool,
    pub proxy: Secret,
    pub user_agent: String,
    pub redirects: usize,
    pub connect_timeout_ms: u64,
    pub request_timeout_ms: u64,
    pub retries: u32,
    pub authentication: AuthenticationKind,
    pub user: String,
    pub password: Secret,
    pub token: Secret,
    pub header_name: String,
    pub header_value: Secret,
    pub query_name: String,
    pub query_value: Secret,
    pub token_url: String,
    pub grant: GrantKind,
    pub client_id: String,
    pub client_secret: Secret,
    pub client_authentication: ClientAuthenticationKind,
    pub scope: String,
    pub audience: String,
    pub assertion_audience: String,
    pub signature: SignatureKind,
    pub signature_header: String,
    pub signature_algorithm: AlgorithmKind,
    pub signature_key_file: PathBuf,
    pub signature_key_id: String,
    pub signature_unencoded: bool,
    pub signature_secret: Secret,
    pub signature_encoding: EncodingKind,
}

/// Completes the tables with the keys of `[outbound.default]`.
pub(super) fn inherit(config: &mut Table) {
    let Some(Value::Table(tables)) = config.get_mut("outbound") else { return };
    let Some(Value::Table(usual)) = tables.get(DEFAULT).cloned() else { return };
    for own in tables.iter_mut().filter_map(|(_, table)| table.as_table_mut()) {
        for (key, value) in &usual {
            own.entry(key.clone()).or_insert_with(|| value.clone());
        }
    }
}

impl Config {
    /// The table that a caller names; `None` if there is none of that name.
    pub(super) fn outbound_table(&self, name: &str) -> Option<(&str, &Outbound)> {
        let name = if name.is_empty() { DEFAULT } else { name };
        self.outbound.get_key_value(name).map(|(name, table)| (name.as_str(), table))
    }

    /// The settings of a destination: those of the named table over the caller's `usual` ones.
    pub(super) fn destination(&self, name: &str, usual: Settings) -> Settings {
        match self.outbound_table(name) {
            Some((name, table)) => table.settings(name, usual),
            // Validation refuses an unknown name.
            None => usual,
        }
    }

    /// The settings of each table by itself, for checks of its files.
    pub fn outbound_tables(&self) -> impl Iterator<Item = Settings> {
        self.outbound.iter().map(|(name, table)| table.settings(name, Settings::default()))
    }
}

impl Outbound {
    fn settings(&self, name: &str, usual: Settings) -> Settings {
        let millis = |given: u64, usual: Duration| match given {
            0 => usual,
            own => Duration::from_millis(own),
        };
        let given = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        Settings {
            table: format!("outbound.{name}"),
            identity: path(&self.certificate_file)
                .zip(path(&self.key_file))
                .map(|(certificate_file, key_file)| Identity { certificate_file, key_file }),
            authority_file: path(&self.authority_file),
            system_authorities: self.system_authorities,
            proxy: match self.proxy.expose() {
                PROXY_ENVIRONMENT => Proxy::Environment,
                PROXY_NONE => Proxy::Direct,
                _ => Proxy::Url(secret(&self.proxy)),
            },
            user_agent: given(&self.user_agent).or(usual.user_agent),
            redirects: self.redirects,
            authentication: self.authentication().unwrap_or(usual.authentication),
            signing: self.signing(),
            connect_timeout: millis(self.connect_timeout_ms, usual.connect_timeout),
            request_timeout: millis(self.request_timeout_ms, usual.request_timeout),
            retries: self.retries,
            pause_max: usual.pause_max,
            plain_http: usual.plain_http,
        }
    }

    fn authentication(&self) -> Option<Authentication> {
        let (user, password) = (self.user.clone(), secret(&self.password));
        Some(match self.authentication {
            AuthenticationKind::None => return None,
            AuthenticationKind::Basic => Authentication::Basic { user, password },
            AuthenticationKind::Bearer => Authentication::Bearer(secret(&self.token)),
            AuthenticationKind::Header => Authentication::Header {
                name: self.header_name.clone(),
                value: secret(&self.header_value),
            },
            AuthenticationKind::Query => Authentication::Query {
                name: self.query_name.clone(),
                value: secret(&self.query_value),
            },
            AuthenticationKind::OAuth2 => Authentication::OAuth2(Box::new(OAuth2 {
                token_url: self.token_url.clone(),
                grant: match self.grant {
                    GrantKind::ClientCredentials => Grant::ClientCredentials,
                    GrantKind::Password => Grant::Password { user, password },
                },
                client_id: self.client_id.clone(),
                client_secret: secret(&self.client_secret),
                client_authentication: match self.client_authentication {
                    ClientAuthenticationKind::Basic => ClientAuthentication::Basic,
                    ClientAuthenticationKind::Body => ClientAuthentication::Body,
                    ClientAuthenticationKind::PrivateKeyJwt => {
                        let audience = self.assertion_audience.clone();
                        ClientAuthentication::PrivateKeyJwt { key: self.jws_key(), audience }
                    }
                },
                scope: self.scope.clone(),
                audience: self.audience.clone(),
            })),
        })
    }

    fn signing(&self) -> Option<Signing> {
        let header = |usual: &str| match self.signature_header.as_str() {
            "" => usual.to_owned(),
            own => own.to_owned(),
        };
        Some(match self.signature {
            SignatureKind::None => return None,
            SignatureKind::Jws => Signing::Jws {
                header: header(JWS_HEADER),
                key: self.jws_key(),
                unencoded: self.signature_unencoded,
            },
            SignatureKind::Hmac => Signing::Hmac {
                header: header(HMAC_HEADER),
                secret: secret(&self.signature_secret),
                encoding: match self.signature_encoding {
                    EncodingKind::Hex => Encoding::Hex,
                    EncodingKind::Base64 => Encoding::Base64,
                },
            },
        })
    }

    fn jws_key(&self) -> JwsKey {
        JwsKey {
            algorithm: match self.signature_algorithm {
                AlgorithmKind::Rs256 => JwsAlgorithm::Rs256,
                AlgorithmKind::Ps256 => JwsAlgorithm::Ps256,
                AlgorithmKind::Es256 => JwsAlgorithm::Es256,
                AlgorithmKind::EdDsa => JwsAlgorithm::EdDsa,
            },
            file: self.signature_key_file.clone(),
            id: self.signature_key_id.clone(),
        }
    }

    /// Whether the client authenticates with a signed assertion.
    fn has_assertions(&self) -> bool {
        self.authentication == AuthenticationKind::OAuth2
            && self.client_authentication == ClientAuthenticationKind::PrivateKeyJwt
    }

    /// Whether a bank can tell by this table who calls it.
    pub(super) fn authenticates(&self) -> bool {
        self.authentication != AuthenticationKind::None || !is_blank(&self.certificate_file)
    }
}

/// The bearer token of a caller's own key, where it has one.
pub(super) fn bearer(token: &Secret) -> Authentication {
    match token.is_empty() {
        true => Authentication::None,
        false => Authentication::Bearer(secret(token)),
    }
}

fn secret(secret: &Secret) -> SecretString {
    SecretString::from(secret.expose())
}

fn path(path: &Path) -> Option<PathBuf> {
    (!is_blank(path)).then(|| path.to_owned())
}

fn is_blank(path: &Path) -> bool {
    path.as_os_str().is_empty()
}

pub(super) fn faults(config: &Config, faults: &mut Faults) {
    for (name, table) in &config.outbound {
        let form = (1..=64).contains(&name.len())
            && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-');
        faults.check(
            format!("outbound.{name}"),
            form,
            "the name must be 1 to 64 lower-case letters, digits and hyphens",
        );
        connection(name, table, faults);
        authentication(name, table, faults);
        signature(name, table, faults);
    }
    references(config, faults);
}

fn connection(name: &str, table: &Outbound, faults: &mut Faults) {
    let key = |part: &str| format!("outbound.{name}.{part}");
    match (is_blank(&table.certificate_file), is_blank(&table.key_file)) {
        (false, true) => faults.add(key("key_file"), "is missing: a certificate needs its key"),
        (true, false) => {
            faults.add(key("certificate_file"), "is missing: a key needs its certificate");
        }
        _ => {}
    }
    faults.check(
        key("authority_file"),
        table.system_authorities || !is_blank(&table.authority_file),
        "is missing: without system_authorities nothing would be trusted",
    );
    let proxy = table.proxy.expose();
    faults.check(
        key("proxy"),
        [PROXY_ENVIRONMENT, PROXY_NONE].contains(&proxy) || is_http_url(proxy),
        "must be \"environment\", \"none\" or the URL of an HTTP proxy",
    );
    let is_header = table.user_agent.bytes().all(|byte| matches!(byte, b' '..=b'~'));
    faults.check(key("user_agent"), is_header, "must be printable ASCII");
    faults.within(key("redirects"), table.redirects, 0, 10);
    faults.within(key("retries"), table.retries, 0, 5);
    for (part, millis, most) in [
        ("connect_timeout_ms", table.connect_timeout_ms, 60_000),
        ("request_timeout_ms", table.request_timeout_ms, 120_000),
    ] {
        let fits = millis == 0 || (100..=most).contains(&millis);
        faults.check(key(part), fits, &format!("must be 100 to {most}, or 0 for the caller's own"));
    }
}

/// A key, whether it has a value, whether the kind uses it, and whether the kind needs it.
type Use<'a> = (&'a str, bool, bool, bool);

fn check_uses(name: &str, kind: &str, uses: &[Use<'_>], faults: &mut Faults) {
    for (part, is_set, is_used, is_needed) in uses {
        let key = format!("outbound.{name}.{part}");
        faults.check(&key, *is_set || !is_needed, &format!("is missing while {kind}"));
        faults.check(
            &key,
            !is_set || *is_used,
            &format!("has no effect while {kind}: a table has one kind of it"),
        );
    }
}

fn authentication(name: &str, table: &Outbound, faults: &mut Faults) {
    use AuthenticationKind as Kind;
    let kind = table.authentication;
    let key = |part: &str| format!("outbound.{name}.{part}");
    faults.check(
        key("authentication"),
        name != DEFAULT || kind == Kind::None,
        "must be \"none\": the table applies to every destination that names no other",
    );
    let (basic, header, oauth2) = (kind == Kind::Basic, kind == Kind::Header, kind == Kind::OAuth2);
    let password = basic || oauth2 && table.grant == GrantKind::Password;
    let (bearer, query) = (kind == Kind::Bearer, kind == Kind::Query);
    let uses = [
        ("user", !table.user.is_empty(), password, password),
        ("password", !table.password.is_empty(), password, password),
        ("token", !table.token.is_empty(), bearer, bearer),
        ("header_name", !table.header_name.is_empty(), header, header),
        ("header_value", !table.header_value.is_empty(), header, header),
        ("query_name", !table.query_name.is_empty(), query, query),
        ("query_value", !table.query_value.is_empty(), query, query),
        ("token_url", !table.token_url.is_empty(), oauth2, oauth2),
        ("client_id", !table.client_id.is_empty(), oauth2, oauth2),
        ("client_secret", !table.client_secret.is_empty(), oauth2, false),
        ("scope", !table.scope.is_empty(), oauth2, false),
        ("audience", !table.audience.is_empty(), oauth2, false),
    ];
    check_uses(name, &format!("authentication is {:?}", kind.name()), &uses, faults);
    faults.check(
        key("client_secret"),
        table.client_secret.is_empty() || !table.has_assertions(),
        "has no effect while client_authentication is \"private_key_jwt\": the key of signature_key_file takes its place",
    );
    faults.check(
        key("assertion_audience"),
        table.assertion_audience.is_empty() || table.has_assertions(),
        "has no effect unless client_authentication is \"private_key_jwt\"",
    );
    faults.check(
        key("token_url"),
        table.token_url.is_empty() || is_http_url(&table.token_url),
        "must be an https URL",
    );
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    faults.check(
        key("header_name"),
        table.header_name.bytes().all(is_token),
        "is not the name of a header",
    );
    for (part, text) in [("token", &table.token), ("header_value", &table.header_value)] {
        faults.check(key(part), is_header_value(text), HEADER_VALUE);
    }
}

impl AuthenticationKind {
    const fn name(self) -> &'static str {
        match self {
            AuthenticationKind::None => "none",
            AuthenticationKind::Basic => "basic",
            AuthenticationKind::Bearer => "bearer",
            AuthenticationKind::Header => "header",
            AuthenticationKind::Query => "query",
            AuthenticationKind::OAuth2 => "oauth2",
        }
    }
}

const HEADER_VALUE: &str = "contains characters that a header cannot carry";

fn is_header_value(text: &Secret) -> bool {
    text.expose().bytes().all(|byte| matches!(byte, b' '..=b'~'))
}

fn signature(name: &str, table: &Outbound, faults: &mut Faults) {
    let kind = table.signature;
    let (jws, hmac) = (kind == SignatureKind::Jws, kind == SignatureKind::Hmac);
    faults.check(
        format!("outbound.{name}.signature"),
        name != DEFAULT || kind == SignatureKind::None,
        "must be \"none\": the table applies to every destination that names no other",
    );
    let has_key = jws || table.has_assertions();
    let said = match kind {
        _ if table.has_assertions() && !jws => "client_authentication is \"private_key_jwt\"",
        SignatureKind::None => "signature is \"none\"",
        SignatureKind::Jws => "signature is \"jws\"",
        SignatureKind::Hmac => "signature is \"hmac\"",
    };
    let uses = [
        ("signature_header", !table.signature_header.is_empty(), jws || hmac, false),
        ("signature_key_file", !is_blank(&table.signature_key_file), has_key, has_key),
        ("signature_key_id", !table.signature_key_id.is_empty(), has_key, false),
        ("signature_unencoded", table.signature_unencoded, jws, false),
        ("signature_secret", !table.signature_secret.is_empty(), hmac, hmac),
    ];
    check_uses(name, said, &uses, faults);
}

/// Checks that each named table exists, and that no caller has two kinds of authentication.
fn references(config: &Config, faults: &mut Faults) {
    let Config { rates, screening, .. } = config;
    let unset = Secret::default();
    let mut callers: Vec<(String, &str, &Secret)> = Vec::new();
    for rail in &config.rails {
        callers.push((format!("rails.{}", rail.id), &rail.outbound, &rail.token));
    }
    callers.push(("rates".to_owned(), &rates.outbound, &rates.token));
    for source in &rates.sources {
        // The section's token is not sent to a source with a table of its own.
        callers.push(("rates.sources".to_owned(), &source.outbound, &unset));
    }
    for list in &screening.lists {
        callers.push(("screening.lists".to_owned(), &list.outbound, &unset));
    }
    let analysis = &screening.chain_analysis;
    callers.push(("screening.chain_analysis".to_owned(), &analysis.outbound, &analysis.api_key));
    let chains = iter::once(("chain".to_owned(), &config.chain));
    let named = config.chains.iter().map(|(name, chain)| (format!("chains.{name}"), chain));
    for (section, chain) in chains.chain(named) {
        let tables = chain.node_outbounds.iter();
        callers.extend(tables.map(|name| (section.clone(), &**name, &unset)));
        let keys = &chain.keys;
        callers.push((format!("{section}.keys"), &keys.kms_outbound, &unset));
        callers.push((format!("{section}.keys.remote"), &keys.remote_outbound, &unset));
    }
    callers.push(("console.oidc".to_owned(), &config.console.oidc.outbound, &unset));
    callers.push(("telemetry".to_owned(), &config.telemetry.outbound, &unset));
    callers.push(("webhooks".to_owned(), &config.webhooks.outbound, &unset));
    for (section, name, token) in callers {
        let is_keys = section.starts_with("chain") && section.ends_with(".keys");
        let key = match section.as_str() {
            _ if is_keys => format!("{section}.kms_outbound"),
            _ if section.ends_with(".keys.remote") => format!("{section}_outbound"),
            nodes if nodes == "chain" || nodes.starts_with("chains.") => {
                format!("{nodes}.node_outbounds")
            }
            other => format!("{other}.outbound"),
        };
        faults.check(&section, is_header_value(token), HEADER_VALUE);
        let Some((_, table)) = config.outbound_table(name) else {
            let known: Vec<&str> = config.outbound.keys().map(String::as_str).collect();
            faults.add(key, format!("{name:?} is not one of the tables {}", known.join(", ")));
            continue;
        };
        let has_own = table.authentication != AuthenticationKind::None;
        faults.check(
            &key,
            !has_own || token.is_empty(),
            "two kinds of authentication: the section has a token of its own, remove one of them",
        );
        let is_authenticated = section == "console.oidc" || is_keys;
        faults.check(
            &key,
            !is_authenticated || !has_own && table.signature == SignatureKind::None,
            "two kinds of authentication: requests there already carry the section's own credentials",
        );
        // Unnamed, the table of defaults does not apply to webhooks.
        let is_of_tenants = section == "webhooks" && !name.is_empty();
        faults.check(
            &key,
            !is_of_tenants || !has_own && table.signature == SignatureKind::None,
            "must name a table without authentication and signature: tenants choose the endpoints, which would get them",
        );
    }
    for OfChain { section, config } in config.by_chain() {
        faults.check(
            format!("{section}.node_outbounds"),
            config.chain.node_outbounds.len() <= config.node_urls().len().max(1),
            "names more tables than there are nodes",
        );
    }
}

/// [`outbound::Settings`] with a caller's own time-outs.
pub(super) fn usual(connect_timeout_ms: u64, request_timeout_ms: u64) -> Settings {
    outbound::Settings {
        connect_timeout: Duration::from_millis(connect_timeout_ms),
        request_timeout: Duration::from_millis(request_timeout_ms),
        ..Settings::default()
    }
}
