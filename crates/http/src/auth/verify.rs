//! The verifier: one algorithm, one path, no choice left to the token (RFC 8725; `decisions.md`,
//! "JWT").

use std::net::IpAddr;
use std::sync::Arc;

use domain::ids::TenantId;
use domain::policy::Environment;
use domain::time::Timestamp;
use http::{HeaderMap, header};
use subtle::ConstantTimeEq as _;

use super::fault::{AuthErrorDetail, AuthFault, Refused};
use super::key::{AccessKey, KeyRing, Service, SigningKey, VerifiedKey};
use super::token::{Claims, Token};

/// Maximum length of the `authorization` header.
pub const AUTHORIZATION_MAX_BYTES: usize = 8 * 1024;
/// Tolerated clock skew in seconds.
pub const LEEWAY_S: i64 = 60;

const SCHEME: &str = "bearer";

/// The token rules of this installation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rules {
    /// The environment that keys must be for.
    pub environment: Environment,
    /// The service that keys must be for.
    pub service: Service,
    /// `aud` and `iss`; a trailing slash is ignored.
    pub api_url: String,
    /// Maximum `exp − iat` in seconds, unless the key has its own.
    pub max_lifetime_s: i64,
}

impl Rules {
    /// The rules with the lifetime that `decisions.md` sets for this environment and service.
    pub fn new(environment: Environment, service: Service, api_url: impl Into<String>) -> Rules {
        let max_lifetime_s = match (service, environment) {
            (Service::Pay, Environment::Production) => 300,
            (Service::Wallet, Environment::Mock) => 24 * 3_600,
            _ => 3_600,
        };
        Rules { environment, service, api_url: api_url.into(), max_lifetime_s }
    }

    /// The detail of a 401 in this environment.
    pub const fn candour(&self) -> AuthErrorDetail {
        match self.environment {
            Environment::Production => AuthErrorDetail::Terse,
            Environment::Test | Environment::Mock => AuthErrorDetail::Frank,
        }
    }

    fn is_api_url(&self, url: &str) -> bool {
        let without_slash = |url: &str| url.strip_suffix('/').map(str::len).unwrap_or(url.len());
        url[..without_slash(url)] == self.api_url[..without_slash(&self.api_url)]
    }
}

/// Verifies the tokens of one service.
pub struct Verifier {
    keys: Arc<dyn KeyRing>,
    rules: Rules,
    /// Stands in for a missing key, so that an unknown key takes as long as a wrong signature.
    stranger: SigningKey,
}

#[derive(Clone, Debug)]
pub struct Caller {
    /// The key of the token.
    pub key: Arc<VerifiedKey>,
    /// `roles` and `role`, as in the token.
    pub roles: Vec<String>,
    signer: SigningKey,
    hmac: Option<[u8; 32]>,
}

impl Caller {
    /// The tenant of the key.
    pub fn tenant(&self) -> TenantId {
        self.key.tenant
    }

    /// Checks the `hmac` claim against the raw body of a POST: it must match if present, and must
    /// be present if the key requires it.
    ///
    /// # Errors
    /// [`AuthFault::HmacMismatch`], [`AuthFault::HmacRequired`]
    pub fn vouches_for(&self, body: &[u8]) -> Result<(), AuthFault> {
        match &self.hmac {
            Some(claimed) if self.signer.verifies(body, claimed) => Ok(()),
            Some(_) => Err(AuthFault::HmacMismatch),
            None if self.key.require_hmac => Err(AuthFault::HmacRequired),
            None => Ok(()),
        }
    }
}

impl Verifier {
    /// A verifier with these keys.
    pub fn new(keys: Arc<dyn KeyRing>, rules: Rules) -> Verifier {
        Verifier { keys, rules, stranger: SigningKey::new(b"the secret of no key") }
    }

    /// The rules in use.
    pub const fn rules(&self) -> &Rules {
        &self.rules
    }

    /// Authenticates the caller with these headers from `peer`.
    ///
    /// # Errors
    /// The first failed check in the order of [`AuthFault`]; then a suspended key, then the
    /// address.
    pub async fn verify(
        &self,
        headers: &HeaderMap,
        peer: Option<IpAddr>,
        now: Timestamp,
    ) -> Result<Caller, Refused> {
        let token = Token::split(bearer(headers)?)?;
        let kid = token.kid()?;
        let access_key = AccessKey::parse(&kid).ok_or(AuthFault::Kid)?;
        if !access_key.is_for(self.rules.environment, self.rules.service) {
            return Err(AuthFault::KeyUse.into());
        }
        let (key, signer) = self.signer(&kid, &token).await?;
        let claims = Claims::read(&token.claims)?;
        self.judge(&claims, &key, now)?;
        admits(&key, peer)?;
        Ok(Caller { key, roles: claims.roles, signer, hmac: claims.hmac })
    }

    /// Checks a key that was verified before, without its token: it may have been revoked or
    /// suspended since, or its address list changed. Keys that cannot be read are not refused.
    ///
    /// # Errors
    /// Those of [`Verifier::verify`] for this key.
    pub async fn still_admits(
        &self,
        access_key: &str,
        peer: Option<IpAddr>,
    ) -> Result<(), Refused> {
        match self.keys.find(access_key).await {
            Ok(Some(key)) => admits(&key, peer),
            Ok(None) => Err(AuthFault::Signature.into()),
            Err(error) => {
                tracing::warn!(%error, "reading an access key again failed");
                Ok(())
            }
        }
    }

    /// The key `kid` and its secret that signed the token. An unknown key and a wrong signature
    /// take the same steps to the same result.
    async fn signer(
        &self,
        kid: &str,
        token: &Token<'_>,
    ) -> Result<(Arc<VerifiedKey>, SigningKey), Refused> {
        let Some(key) = self.keys.find(kid).await? else {
            let _ = self.stranger.verifies(token.signed, &token.signature);
            return Err(AuthFault::Signature.into());
        };
        let signer =
            key.signer_of(token.signed, &token.signature).cloned().ok_or(AuthFault::Signature)?;
        Ok((key, signer))
    }

    fn judge(&self, claims: &Claims, key: &VerifiedKey, now: Timestamp) -> Result<(), AuthFault> {
        let now = now.unix_seconds();
        let lives_s = claims.exp - claims.iat;
        let max_s = key.max_lifetime_s.unwrap_or(self.rules.max_lifetime_s);
        let verdicts = [
            (bool::from(claims.sub.as_bytes().ct_eq(key.access_key.as_bytes())), AuthFault::Sub),
            (claims.nbf.is_none_or(|nbf| nbf <= now + LEEWAY_S), AuthFault::Nbf),
            (now < claims.exp + LEEWAY_S, AuthFault::Expired),
            (claims.iat <= now + LEEWAY_S, AuthFault::IssuedInFuture),
            ((1..=max_s).contains(&lives_s), AuthFault::Lifetime { lives_s, max_s }),
            (claims.aud.iter().any(|aud| self.rules.is_api_url(aud)), AuthFault::Aud),
            (self.rules.is_api_url(&claims.iss), AuthFault::Iss),
        ];
        match verdicts.into_iter().find(|(holds, _)| !holds) {
            Some((_, fault)) => Err(fault),
            None => Ok(()),
        }
    }
}

/// Whether the key is in use and may be used from `peer`.
fn admits(key: &VerifiedKey, peer: Option<IpAddr>) -> Result<(), Refused> {
    if key.suspended {
        return Err(Refused::Suspended);
    }
    if !key.allowed_networks.is_empty() && !peer.is_some_and(|peer| key.allows(peer)) {
        return Err(Refused::AddressNotAllowed);
    }
    Ok(())
}

/// The token of `authorization: Bearer <token>`.
fn bearer(headers: &HeaderMap) -> Result<&str, AuthFault> {
    let mut values = headers.get_all(header::AUTHORIZATION).iter();
    let value = values.next().ok_or(AuthFault::Missing)?;
    if values.next().is_some() {
        return Err(AuthFault::Repeated);
    }
    if value.len() > AUTHORIZATION_MAX_BYTES {
        return Err(AuthFault::TooLong);
    }
    let value = value.to_str().map_err(|_| AuthFault::Scheme)?;
    let (scheme, token) = value.split_once(' ').ok_or(AuthFault::Scheme)?;
    let token = token.trim_start_matches(' ');
    if !scheme.eq_ignore_ascii_case(SCHEME) || token.is_empty() || token.contains(' ') {
        return Err(AuthFault::Scheme);
    }
    Ok(token)
}
