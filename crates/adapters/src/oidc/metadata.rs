//! A provider's discovery document (OpenID Connect Discovery 1.0) with its endpoints. Accepted only
//! if it names exactly the configured issuer.

use domain::identity::{IdentityFault, NameClaim, SignInQuestion};
use serde::Deserialize;

use super::keys::Algorithm;
use super::{Settings, away, told};
use crate::fetch;

/// Path of the document below the issuer.
const WELL_KNOWN: &str = "/.well-known/openid-configuration";

/// Client authentication at the token endpoint (RFC 6749, section 2.3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClientAuthentication {
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
    response_types: Option<Vec<String>>,
    grant_types: Option<Vec<String>>,
    signing_algorithms: Option<Vec<String>>,
}

/// The document in JSON form; an optional member may be null. Other members are ignored.
#[derive(Deserialize)]
struct Written {
    issuer: String,
    authorization_endpoint: String,
    token_endpoint: String,
    jwks_uri: String,
    token_endpoint_auth_methods_supported: Option<Vec<String>>,
    authorization_response_iss_parameter_supported: Option<bool>,
    response_types_supported: Option<Vec<String>>,
    grant_types_supported: Option<Vec<String>>,
    id_token_signing_alg_values_supported: Option<Vec<String>>,
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
            names_itself: written.authorization_response_iss_parameter_supported == Some(true),
            response_types: written.response_types_supported,
            grant_types: written.grant_types_supported,
            signing_algorithms: written.id_token_signing_alg_values_supported,
        })
    }

    /// How the client with these settings authenticates itself at the token endpoint; `None` for a
    /// public client.
    pub(super) fn client_authentication(
        &self,
        settings: &Settings,
    ) -> Result<Option<ClientAuthentication>, IdentityFault> {
        if settings.client_secret.is_none() {
            return Ok(None);
        }
        match settings.client_authentication.or(self.authentication) {
            Some(way) => Ok(Some(way)),
            None => Err(away(
                "its token endpoint takes neither client_secret_basic nor client_secret_post",
            )),
        }
    }

    /// Why no sign-in can succeed, as far as the document says so. A provider that does not list what
    /// it supports may support it.
    pub(super) fn check(&self, settings: &Settings) -> Result<(), IdentityFault> {
        self.client_authentication(settings)?;
        let lacks = |list: &Option<Vec<String>>, wanted: &dyn Fn(&str) -> bool| {
            list.as_ref()
                .filter(|all| !all.iter().any(|one| wanted(one)))
                .map(|all| told(&all.join(", ")))
        };
        let listed = [
            ("response type \"code\"", lacks(&self.response_types, &|one| one == "code")),
            (
                "grant type \"authorization_code\"",
                lacks(&self.grant_types, &|one| one == "authorization_code"),
            ),
            (
                "accepted algorithm of ID tokens",
                lacks(&self.signing_algorithms, &|one| Algorithm::parse(one).is_some()),
            ),
        ];
        match listed.into_iter().find_map(|(what, listed)| Some((what, listed?))) {
            Some((what, listed)) => Err(away(format!("it supports no {what}, only {listed}"))),
            None => Ok(()),
        }
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
    fn the_configured_client_authentication_goes_before_that_of_the_provider() {
        use ClientAuthentication::{Basic, Post};
        let supported =
            |ways: &str| format!(r#","token_endpoint_auth_methods_supported":[{ways}]"#);
        let both = r#""client_secret_basic","client_secret_post""#;
        for (ways, configured, has_secret, expected) in [
            (both, None, true, Ok(Some(Basic))),
            (both, Some(Post), true, Ok(Some(Post))),
            (both, Some(Basic), true, Ok(Some(Basic))),
            (r#""client_secret_post""#, None, true, Ok(Some(Post))),
            (r#""private_key_jwt""#, None, true, Err(())),
            (r#""private_key_jwt","tls_client_auth""#, Some(Post), true, Ok(Some(Post))),
            (r#""private_key_jwt""#, None, false, Ok(None)),
            (both, Some(Post), false, Ok(None)),
        ] {
            let body =
                description("https://id.example", "https://id.example/token", &supported(ways));
            let metadata = Metadata::read(&body, "https://id.example").expect("read");
            let mut settings = settings(configured);
            settings.client_secret = has_secret.then(|| "secret".into());
            let found = metadata.client_authentication(&settings).map_err(drop);
            assert_eq!(found, expected, "{ways} {configured:?}");
            assert_eq!(metadata.check(&settings).map_err(drop), expected.map(drop), "{ways}");
        }
    }

    fn settings(client_authentication: Option<ClientAuthentication>) -> Settings {
        Settings {
            issuer: "https://id.example".to_owned(),
            client_id: "corridor".to_owned(),
            client_secret: None,
            client_authentication,
            claim: NameClaim::Email,
            outbound: crate::outbound::Settings::default(),
        }
    }

    #[test]
    fn a_provider_that_cannot_sign_anyone_in_is_found_by_its_document() {
        for (more, fault) in [
            ("", None),
            (r#","response_types_supported":null,"grant_types_supported":null"#, None),
            (r#","authorization_response_iss_parameter_supported":null"#, None),
            (r#","token_endpoint_auth_methods_supported":null"#, None),
            (r#","response_types_supported":["code","code id_token"]"#, None),
            (r#","response_types_supported":["id_token","code id_token"]"#, Some("id_token")),
            (r#","grant_types_supported":["implicit"]"#, Some("implicit")),
            (r#","grant_types_supported":["authorization_code"]"#, None),
            (r#","id_token_signing_alg_values_supported":["RS512","HS256"]"#, Some("RS512")),
            (r#","id_token_signing_alg_values_supported":["RS512","RS256"]"#, None),
        ] {
            let body = description("https://id.example", "https://id.example/token", more);
            let metadata = Metadata::read(&body, "https://id.example").expect(more);
            assert!(!metadata.names_itself, "{more}");
            match (metadata.check(&settings(None)), fault) {
                (Ok(()), None) => {}
                (Err(found), Some(words)) => {
                    assert!(found.to_string().contains(words), "{more}: {found}");
                }
                (found, _) => panic!("{more}: {found:?}"),
            }
        }
    }

    #[test]
    fn the_authorization_url_contains_all_parameters() {
        let body = description("https://id.example", "https://id.example/token", "");
        let metadata = Metadata::read(&body, "https://id.example").expect("read");
        let settings = Settings {
            issuer: "https://id.example".to_owned(),
            client_id: "corridor & co".to_owned(),
            client_secret: None,
            client_authentication: None,
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
