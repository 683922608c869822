//! A provider's discovery document (OpenID Connect Discovery 1.0) with its endpoints. Accepted only
//! if it names exactly the configured issuer.

use domain::identity::{IdentityFault, NameClaim, SignInQuestion};
use serde::Deserialize;

use super::{Settings, away, told};
use crate::fetch;

/// Path of the document below the issuer.
const WELL_KNOWN: &str = "/.well-known/openid-configuration";

/// Client authentication at the token endpoint (RFC 6749, section 2.3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ClientAuthentication {
    /// `client_secret_basic`: in the header `Authorization`.
    Basic,
    /// `client_secret_post`: in the request's body.
    Post,
}

/// A provider's discovery document.
#[derive(Debug)]
pub(super) struct Metadata {
    authorization_endpoint: reqwest::Url,
    pub(super) token_endpoint: String,
    pub(super) jwks_uri: String,
    /// `None` = it supports neither method.
    pub(super) authentication: Option<ClientAuthentication>,
    /// Whether its answers name their issuer (RFC 9207).
    pub(super) names_itself: bool,
}

/// The document in JSON form. Other members are ignored.
#[derive(Deserialize)]
struct Written {
    issuer: String,
    authorization_endpoint: String,
    token_endpoint: String,
    jwks_uri: String,
    token_endpoint_auth_methods_supported: Option<Vec<String>>,
    #[serde(default)]
    authorization_response_iss_parameter_supported: bool,
}

/// URL of a provider's discovery document.
pub(super) fn url_of(issuer: &str) -> String {
    format!("{}{WELL_KNOWN}", issuer.strip_suffix('/').unwrap_or(issuer))
}

impl Metadata {
    pub(super) fn read(body: &[u8], issuer: &str) -> Result<Metadata, IdentityFault> {
        let written: Written = serde_json::from_slice(body).map_err(|error| {
            away(format!(
                "its discovery document cannot be read (line {} column {})",
                error.line(),
                error.column()
            ))
        })?;
        if written.issuer != issuer {
            return Err(away(format!(
                "its discovery document names another issuer, {:?}",
                told(&written.issuer)
            )));
        }
        for endpoint in
            [&written.authorization_endpoint, &written.token_endpoint, &written.jwks_uri]
        {
            let downgraded = issuer.starts_with("https://") && !endpoint.starts_with("https://");
            if downgraded || fetch::check_scheme(endpoint).is_err() {
                return Err(away(format!("{:?} must be https", told(endpoint))));
            }
        }
        let endpoint = reqwest::Url::parse(&written.authorization_endpoint);
        Ok(Metadata {
            authorization_endpoint: endpoint
                .map_err(|error| away(format!("authorization_endpoint: {error}")))?,
            token_endpoint: written.token_endpoint,
            jwks_uri: written.jwks_uri,
            authentication: authentication(
                written.token_endpoint_auth_methods_supported.as_deref(),
            ),
            names_itself: written.authorization_response_iss_parameter_supported,
        })
    }

    /// The URL to which the browser is redirected.
    pub(super) fn sign_in_url(
        &self,
        settings: &Settings,
        asked: &SignInQuestion,
    ) -> Result<String, IdentityFault> {
        let mut url = self.authorization_endpoint.clone();
        url.query_pairs_mut()
            .append_pair("response_type", "code")
            .append_pair("client_id", &settings.client_id)
            .append_pair("redirect_uri", &asked.redirect_uri)
            .append_pair("scope", scope(settings.claim))
            .append_pair("state", &asked.state)
            .append_pair("nonce", &asked.nonce)
            .append_pair("code_challenge", &asked.challenge)
            .append_pair("code_challenge_method", "S256");
        Ok(url.into())
    }
}

/// Only the scopes that the claim needs (OpenID Connect Core 1.0, section 5.4).
const fn scope(claim: NameClaim) -> &'static str {
    match claim {
        NameClaim::Email => "openid email",
        NameClaim::PreferredUsername | NameClaim::Upn => "openid profile",
        NameClaim::Subject => "openid",
    }
}

/// A provider that lists no method supports `client_secret_basic` (Discovery 1.0, section 3).
fn authentication(supported: Option<&[String]>) -> Option<ClientAuthentication> {
    let Some(supported) = supported else { return Some(ClientAuthentication::Basic) };
    let takes = |way: &str| supported.iter().any(|known| known == way);
    if takes("client_secret_basic") {
        Some(ClientAuthentication::Basic)
    } else {
        takes("client_secret_post").then_some(ClientAuthentication::Post)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn description(issuer: &str, token_endpoint: &str, more: &str) -> Vec<u8> {
        format!(
            r#"{{"issuer":"{issuer}","authorization_endpoint":"https://id.example/authorize?tenant=7",
            "token_endpoint":"{token_endpoint}","jwks_uri":"https://keys.example/jwks"{more}}}"#
        )
        .into_bytes()
    }

    #[test]
    fn metadata_must_be_the_issuers_own_and_use_https() {
        let issuer = "https://id.example/realm";
        let read = |body: Vec<u8>| {
            Metadata::read(&body, issuer).map(drop).map_err(|fault| fault.to_string())
        };
        assert_eq!(read(description(issuer, "https://id.example/token", "")), Ok(()));
        for (body, why) in [
            (
                description("https://id.example/realm/", "https://id.example/token", ""),
                "another issuer",
            ),
            (description("https://evil.example", "https://id.example/token", ""), "another issuer"),
            (description(issuer, "http://id.example/token", ""), "must be https"),
            (description(issuer, "http://127.0.0.1/token", ""), "must be https"),
            (description(issuer, "ftp://id.example/token", ""), "must be https"),
            (b"{}".to_vec(), "cannot be read"),
            (b"<html>".to_vec(), "cannot be read"),
        ] {
            let fault = read(body).expect_err(why);
            assert!(fault.contains(why), "{fault}");
        }
        assert_eq!(url_of(issuer), "https://id.example/realm/.well-known/openid-configuration");
        assert_eq!(
            url_of("https://id.example/"),
            "https://id.example/.well-known/openid-configuration"
        );
    }

    #[test]
    fn the_client_authentication_is_one_that_the_provider_supports() {
        let way = |more: &str| {
            let body = description("https://id.example", "https://id.example/token", more);
            Metadata::read(&body, "https://id.example").expect("read").authentication
        };
        let supported =
            |ways: &str| format!(r#","token_endpoint_auth_methods_supported":[{ways}]"#);
        assert_eq!(way(""), Some(ClientAuthentication::Basic));
        let both = supported(r#""client_secret_post","client_secret_basic""#);
        assert_eq!(way(&both), Some(ClientAuthentication::Basic));
        assert_eq!(way(&supported(r#""client_secret_post""#)), Some(ClientAuthentication::Post));
        assert_eq!(way(&supported(r#""private_key_jwt""#)), None);
    }

    #[test]
    fn the_authorization_url_contains_all_parameters() {
        let body = description("https://id.example", "https://id.example/token", "");
        let metadata = Metadata::read(&body, "https://id.example").expect("read");
        let settings = Settings {
            issuer: "https://id.example".to_owned(),
            client_id: "corridor & co".to_owned(),
            client_secret: None,
            claim: NameClaim::Email,
            outbound: crate::outbound::Settings::default(),
        };
        let question = SignInQuestion {
            redirect_uri: "https://bank.example/console/login/oidc/callback".to_owned(),
            state: "s".to_owned(),
            nonce: "n".to_owned(),
            challenge: "c".to_owned(),
        };
        assert_eq!(
            metadata.sign_in_url(&settings, &question).expect("a URL"),
            "https://id.example/authorize?tenant=7&response_type=code&client_id=corridor+%26+co&\
             redirect_uri=https%3A%2F%2Fbank.example%2Fconsole%2Flogin%2Foidc%2Fcallback&scope=openid+email&state=s&nonce=n&\
             code_challenge=c&code_challenge_method=S256"
        );
    }
}
