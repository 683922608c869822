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
