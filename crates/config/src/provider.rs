//! `[console.oidc]`: the identity provider that people of the console sign in at.

use adapters::oidc;
use domain::identity::NameClaim;
use secrecy::SecretString;
use serde::{Deserialize, Deserializer};

use super::secret::Secret;
use super::sections::Config;
use super::validate::{Faults, is_http_url};

/// Longest label of the link to it.
const LABEL_MAX_CHARS: usize = 60;

/// `[console.oidc]`
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "the keys are documented in reference.toml")]
pub struct Oidc {
    pub issuer: String,
    pub client_id: String,
    pub client_secret: Secret,
    pub label: String,
    #[serde(deserialize_with = "claim")]
    pub claim: NameClaim,
}

fn claim<'de, D: Deserializer<'de>>(deserializer: D) -> Result<NameClaim, D::Error> {
    let text = String::deserialize(deserializer)?;
    let known = || NameClaim::ALL.map(|claim| format!("{:?}", claim.name())).join(", ");
    NameClaim::parse(&text).ok_or_else(|| serde::de::Error::custom(format!("must be one of {}", known())))
}

impl Oidc {
    /// What the adapter is set up with; `None` where nobody signs in there.
    pub fn settings(&self) -> Option<oidc::Settings> {
        (!self.issuer.is_empty()).then(|| oidc::Settings {
            issuer: self.issuer.clone(),
            client_id: self.client_id.clone(),
            client_secret: (!self.client_secret.is_empty()).then(|| SecretString::from(self.client_secret.expose())),
            claim: self.claim,
        })
    }
}

pub(super) fn faults(config: &Config, faults: &mut Faults) {
    let oidc = &config.console.oidc;
    if oidc.issuer.is_empty() {
        return;
    }
    // Written exactly as the provider writes it (OpenID Connect Core 1.0, section 2): no query, no fragment.
    let plain = is_http_url(&oidc.issuer) && !oidc.issuer.contains(['?', '#']);
    faults.check("console.oidc.issuer", plain, "must be the provider's issuer, a URL without query and fragment");
    let here = ["http://127.0.0.1", "http://[::1]", "http://localhost"];
    let near = here.iter().any(|start| {
        oidc.issuer.strip_prefix(start).is_some_and(|rest| rest.is_empty() || rest.starts_with([':', '/']))
    });
    let fine = near || !oidc.issuer.starts_with("http://");
    faults.check("console.oidc.issuer", fine, "must be https (plain http to this machine itself excepted)");
    faults.check("console.oidc.client_id", !oidc.client_id.trim().is_empty(), "is missing: the provider must know us");
    let label = oidc.label.trim();
    let sayable = !label.is_empty() && label.chars().count() <= LABEL_MAX_CHARS && !label.chars().any(char::is_control);
    faults.check("console.oidc.label", sayable, &format!("must have 1 to {LABEL_MAX_CHARS} characters"));
    faults.check("console.oidc.issuer", config.console.enabled, "is of no use while console.enabled is false");
}

/// Why production does not start.
pub(super) fn refusals(config: &Config) -> Option<String> {
    let plain = config.console.oidc.issuer.starts_with("http://");
    plain.then(|| "console.oidc.issuer: must be https".to_owned())
}

#[cfg(test)]
mod tests {
    use super::super::Sources;
    use super::*;

    fn load(given: &[(&str, &str)]) -> Result<Config, String> {
        let overrides = given.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        Config::load(&Sources { overrides, ..Sources::default() }).map_err(|error| error.to_string())
    }

    #[test]
    fn nobody_signs_in_elsewhere_by_default() {
        assert!(load(&[]).expect("valid").console.oidc.settings().is_none());
    }

    #[test]
    fn a_provider_is_known_by_its_issuer_and_knows_us() {
        let whole = [
            ("console.oidc.issuer", "https://id.bank.example/realms/staff/"),
            ("console.oidc.client_id", "corridor"),
            ("console.oidc.client_secret", "s3cret"),
            ("console.oidc.claim", "upn"),
        ];
        let config = load(&whole).expect("valid");
        let settings = config.console.oidc.settings().expect("a provider");
        assert_eq!(settings.issuer, "https://id.bank.example/realms/staff/", "as it was written");
        assert_eq!((settings.claim, settings.client_secret.is_some()), (NameClaim::Upn, true));
        assert!(config.fetches_over_tls());
        assert!(!format!("{:?}", config.console).contains("s3cret"));
        let public = load(&[&whole[..2], &[("console.oidc.client_secret", "")]].concat()).expect("valid");
        assert!(public.console.oidc.settings().expect("a provider").client_secret.is_none());
    }

    #[test]
    fn what_is_wrong_is_named() {
        let issuer = |url| [("console.oidc.issuer", url), ("console.oidc.client_id", "corridor")];
        for fine in ["https://id.example", "http://127.0.0.1:9000/x", "http://localhost", "http://[::1]:1"] {
            assert!(load(&issuer(fine)).is_ok(), "{fine}");
        }
        for wrong in [
            "id.example",
            "ftp://id.example",
            "http://id.example",
            "http://localhost.id.example",
            "http://10.0.0.7",
            "https://id.example?x=1",
            "https://id.example#x",
        ] {
            let told = load(&issuer(wrong)).expect_err(wrong);
            assert!(told.contains("console.oidc.issuer"), "{told}");
        }
        let told = load(&[("console.oidc.issuer", "https://id.example")]).expect_err("nobody knows us");
        assert!(told.contains("console.oidc.client_id: is missing"), "{told}");
        let told = load(&[("console.oidc.claim", "name")]).expect_err("names that several have");
        assert!(told.contains("must be one of \"email\", \"preferred_username\", \"upn\", \"sub\""), "{told}");
        let blank = [&issuer("https://id.example")[..], &[("console.oidc.label", " ")]].concat();
        assert!(load(&blank).expect_err("nothing to click").contains("console.oidc.label"));
        let off = [&issuer("https://id.example")[..], &[("console.enabled", "false")]].concat();
        assert!(load(&off).expect_err("no console").contains("of no use"));
    }

    #[test]
    fn production_wants_https() {
        let config = load(&[
            ("environment", "production"),
            ("console.oidc.issuer", "http://localhost:9000"),
            ("console.oidc.client_id", "corridor"),
        ]);
        assert_eq!(refusals(&config.expect("valid")), Some("console.oidc.issuer: must be https".to_owned()));
    }
}
