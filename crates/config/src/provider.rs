//! `[console.oidc]`: the identity provider for console users.

use adapters::oidc;
use adapters::outbound::is_on_this_machine;
use domain::characters::entered;
use domain::identity::NameClaim;
use secrecy::SecretString;
use serde::{Deserialize, Deserializer};

use super::outbound::usual;
use super::secret::Secret;
use super::sections::Config;
use super::validate::{Faults, is_http_url};

/// How long a connection to the provider, and an exchange with it, may take: a user is waiting.
const CONNECT_MS: u64 = 5_000;
const EXCHANGE_MS: u64 = 10_000;
/// Maximum length of the link's label.
const LABEL_MAX_CHARS: usize = 60;

/// The keys of the section `[console.oidc]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Oidc {
    pub issuer: String,
    pub client_id: String,
    pub client_secret: Secret,
    pub client_authentication: ClientAuthenticationChoice,
    pub outbound: String,
    pub label: String,
    #[serde(deserialize_with = "claim")]
    pub claim: NameClaim,
}

/// `client_authentication` of the section.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClientAuthenticationChoice {
    /// What the provider lists, preferably `Basic`.
    Auto,
    Basic,
    Post,
}

impl ClientAuthenticationChoice {
    const fn setting(self) -> Option<oidc::ClientAuthentication> {
        match self {
            ClientAuthenticationChoice::Auto => None,
            ClientAuthenticationChoice::Basic => Some(oidc::ClientAuthentication::Basic),
            ClientAuthenticationChoice::Post => Some(oidc::ClientAuthentication::Post),
        }
    }
}

fn claim<'de, D: Deserializer<'de>>(deserializer: D) -> Result<NameClaim, D::Error> {
    let text = String::deserialize(deserializer)?;
    let known = || NameClaim::ALL.map(|claim| format!("{:?}", claim.name())).join(", ");
    NameClaim::parse(&text)
        .ok_or_else(|| serde::de::Error::custom(format!("must be one of {}", known())))
}

impl Config {
    /// The identity provider; `None` if none is configured.
    pub fn identity_provider(&self) -> Option<oidc::Settings> {
        let Oidc {
            issuer, client_id, client_secret, client_authentication, outbound, claim, ..
        } = &self.console.oidc;
        (!issuer.is_empty()).then(|| oidc::Settings {
            issuer: issuer.clone(),
            client_id: client_id.clone(),
            client_secret: (!client_secret.is_empty())
                .then(|| SecretString::from(client_secret.expose())),
            client_authentication: client_authentication.setting(),
            claim: *claim,
            outbound: self.destination(outbound, usual(CONNECT_MS, EXCHANGE_MS)),
        })
    }
}

fn has_user(url: &str) -> bool {
    reqwest::Url::parse(url).is_ok_and(|url| !url.username().is_empty() || url.password().is_some())
}

pub(super) fn faults(config: &Config, faults: &mut Faults) {
    let oidc = &config.console.oidc;
    if oidc.issuer.is_empty() {
        return;
    }
    // Exactly as the provider writes it (OpenID Connect Core 1.0, section 2): no query, no
    // fragment.
    let plain =
        is_http_url(&oidc.issuer) && !oidc.issuer.contains(['?', '#']) && !has_user(&oidc.issuer);
    faults.check(
        "console.oidc.issuer",
        plain,
        "must be the provider's issuer, a URL without user, query and fragment",
    );
    let fine = !oidc.issuer.starts_with("http://") || is_on_this_machine(&oidc.issuer);
    faults.check(
        "console.oidc.issuer",
        fine,
        "must be https (plain http is permitted on this host)",
    );
    faults.check(
        "console.oidc.client_id",
        !oidc.client_id.trim().is_empty(),
        "is missing: the provider has to identify this installation",
    );
    let sayable = entered(&oidc.label, LABEL_MAX_CHARS).is_some();
    faults.check(
        "console.oidc.label",
        sayable,
        &format!("must have 1 to {LABEL_MAX_CHARS} characters"),
    );
    faults.check(
        "console.oidc.issuer",
        config.console.enabled,
        "has no effect while console.enabled is false",
    );
}

/// Reason against starting in production.
pub(super) fn refusals(config: &Config) -> Option<String> {
    let plain = config.console.oidc.issuer.starts_with("http://");
    plain.then(|| "console.oidc.issuer: must be https".to_owned())
}

#[cfg(test)]
mod tests {
    use super::super::Sources;
    use super::*;

    fn load(given: &[(&str, &str)]) -> Result<Config, String> {
        let overrides =
            given.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        Config::load(&Sources { overrides, ..Sources::default() })
            .map_err(|error| error.to_string())
    }

    #[test]
    fn no_identity_provider_is_configured_by_default() {
        assert!(load(&[]).expect("valid").identity_provider().is_none());
    }

    #[test]
    fn a_provider_needs_an_issuer_and_a_client_id() {
        let whole = [
            ("console.oidc.issuer", "https://id.bank.example/realms/staff/"),
            ("console.oidc.client_id", "corridor"),
            ("console.oidc.client_secret", "s3cret"),
            ("console.oidc.claim", "upn"),
        ];
        let config = load(&whole).expect("valid");
        let settings = config.identity_provider().expect("a provider");
        assert_eq!(settings.issuer, "https://id.bank.example/realms/staff/", "unchanged");
        assert_eq!((settings.claim, settings.client_secret.is_some()), (NameClaim::Upn, true));
        use oidc::ClientAuthentication::{Basic, Post};
        for (written, expected) in [("auto", None), ("basic", Some(Basic)), ("post", Some(Post))] {
            let given = [&whole[..], &[("console.oidc.client_authentication", written)]].concat();
            let settings = load(&given).expect(written).identity_provider();
            assert_eq!(settings.expect("a provider").client_authentication, expected, "{written}");
        }
        assert_eq!(settings.client_authentication, None);
        let wrong = [&whole[..], &[("console.oidc.client_authentication", "body")]].concat();
        let message = load(&wrong).expect_err("another table's word");
        assert!(message.contains("client_authentication"), "{message}");
        assert!(!format!("{:?}", config.console).contains("s3cret"));
        let public =
            load(&[&whole[..2], &[("console.oidc.client_secret", "")]].concat()).expect("valid");
        assert!(public.identity_provider().expect("a provider").client_secret.is_none());
    }

    #[test]
    fn faults_name_their_key() {
        let issuer = |url| [("console.oidc.issuer", url), ("console.oidc.client_id", "corridor")];
        for fine in [
            "https://id.example",
            "https://id.example/realms/staff@bank.example",
            "http://127.0.0.1:9000/x",
            "http://localhost",
            "http://[::1]:1",
        ] {
            assert!(load(&issuer(fine)).is_ok(), "{fine}");
        }
        for wrong in [
            "id.example",
            "ftp://id.example",
            "http://id.example",
            "http://localhost.id.example",
            "http://localhost:9000@id.example",
            "https://user@id.example/x",
            "https://:password@id.example",
            "http://10.0.0.7",
            "https://id.example?x=1",
            "https://id.example#x",
        ] {
            let message = load(&issuer(wrong)).expect_err(wrong);
            assert!(message.contains("console.oidc.issuer"), "{message}");
        }
        let message =
            load(&[("console.oidc.issuer", "https://id.example")]).expect_err("no client_id");
        assert!(message.contains("console.oidc.client_id: is missing"), "{message}");
        let message = load(&[("console.oidc.claim", "name")]).expect_err("an ambiguous claim");
        assert!(
            message.contains("must be one of \"email\", \"preferred_username\", \"upn\", \"sub\""),
            "{message}"
        );
        let blank = [&issuer("https://id.example")[..], &[("console.oidc.label", " ")]].concat();
        assert!(load(&blank).expect_err("nothing to click").contains("console.oidc.label"));
        let off = [&issuer("https://id.example")[..], &[("console.enabled", "false")]].concat();
        assert!(load(&off).expect_err("no console").contains("has no effect"));
    }

    #[test]
    fn production_wants_https() {
        let config = load(&[
            ("environment", "production"),
            ("console.oidc.issuer", "http://localhost:9000"),
            ("console.oidc.client_id", "corridor"),
        ]);
        assert_eq!(
            refusals(&config.expect("valid")),
            Some("console.oidc.issuer: must be https".to_owned())
        );
    }
}
