//! An identity provider over OpenID Connect: discovery, the authorization code flow with PKCE, the
//! ID token (OpenID Connect Core 1.0 and Discovery 1.0, RFC 6749, 7636, 9207). Only the ID token is
//! trusted, and only after its signature is verified. Everything else is bounded in size and time,
//! and logged shortened to one line.
//!
//! Mapping a subject to a console user happens elsewhere. Access tokens are never used.

mod exchange;
#[cfg(any(test, feature = "fuzz"))]
pub(crate) mod fuzz;
mod id_token;
mod keys;
mod metadata;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use domain::characters::one_line;
use domain::identity::{Identity, IdentityFault, NameClaim, SignInAnswer, SignInQuestion};
use domain::ports::{BoxFuture, IdentityProvider};
use domain::time::{Span, Timestamp};
use secrecy::SecretString;
use tokio::sync::Mutex;

use self::id_token::{Expected, IdToken};
use self::keys::{Algorithm, KeyFault, KeySet};
pub use self::metadata::ClientAuthentication;
use self::metadata::Metadata;
use crate::outbound::{self, Client, SetupError};

/// Cache lifetime of the discovery document and the keys: a revoked key stays valid for at most
/// this long.
const KEPT: Span = Span::mins(10);
/// How often keys are fetched again for tokens that name an unknown key, within [`REFETCH_WINDOW`].
const REFETCHES_MAX: u32 = 5;
const REFETCH_WINDOW: Span = Span::mins(1);
/// Maximum length of an authorization code.
const CODE_MAX_BYTES: usize = 8 * 1024;
/// Maximum number of characters of the provider's text in a log line.
const TOLD_MAX_CHARS: usize = 200;

/// Settings of a provider.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The issuer, exactly as the provider writes it.
    pub issuer: String,
    pub client_id: String,
    /// The client secret; `None` = a public client, protected by PKCE alone.
    pub client_secret: Option<SecretString>,
    /// How the client sends its secret; `None` = as the provider says that it supports it.
    pub client_authentication: Option<ClientAuthentication>,
    /// The claim that identifies users.
    pub claim: NameClaim,
    /// How its servers are reached; they authenticate this client by its secret.
    pub outbound: outbound::Settings,
}

/// A provider over HTTPS, or on this machine.
pub struct Provider {
    client: Client,
    settings: Settings,
    known: Mutex<Known>,
    /// Number of failed fetches: callers that waited for a failed one share its result.
    failures: AtomicU64,
}

/// Cached data of the provider.
#[derive(Default)]
struct Known {
    metadata: Option<(Arc<Metadata>, Timestamp)>,
    keys: Option<(Arc<KeySet>, Timestamp)>,
    refetched: Option<(u32, Timestamp)>,
    fault: Option<IdentityFault>,
}

/// The provider is unreachable, or its data cannot be understood.
fn away(why: impl Into<String>) -> IdentityFault {
    IdentityFault::Away(format!("the identity provider: {}", why.into()))
}

/// The provider's data is rejected.
fn refused(why: impl Into<String>) -> IdentityFault {
    IdentityFault::Refused(why.into())
}

/// A text of the provider, shortened for a log line.
fn told(text: &str) -> String {
    one_line(text, TOLD_MAX_CHARS)
}

fn is_fresh(at: Timestamp, now: Timestamp) -> bool {
    (now - at).0.abs() < KEPT.0
}

impl Provider {
    /// A provider. Nothing is fetched before the first sign-in.
    pub fn new(settings: Settings) -> Result<Provider, SetupError> {
        let client = Client::new(&settings.outbound, "console.oidc.issuer", &[&settings.issuer])?;
        let (known, failures) = (Mutex::default(), AtomicU64::new(0));
        Ok(Provider { client, settings, known, failures })
    }

    async fn metadata(&self, now: Timestamp) -> Result<Arc<Metadata>, IdentityFault> {
        let before = self.failures.load(Ordering::Acquire);
        let mut known = self.known.lock().await;
        if let Some((metadata, at)) = &known.metadata
            && is_fresh(*at, now)
        {
            return Ok(metadata.clone());
        }
        let body =
            self.fetched(&mut known, &metadata::url_of(&self.settings.issuer), before).await?;
        let metadata = Arc::new(Metadata::read(&body, &self.settings.issuer)?);
        known.metadata = Some((metadata.clone(), now));
        Ok(metadata)
    }

    /// A document of the provider, one fetch at a time. Callers that waited for a fetch that failed
    /// (the count was `before` when they arrived) do not start another one each.
    async fn fetched(
        &self,
        known: &mut Known,
        url: &str,
        before: u64,
    ) -> Result<Vec<u8>, IdentityFault> {
        if self.failures.load(Ordering::Acquire) > before
            && let Some(fault) = &known.fault
        {
            return Err(fault.clone());
        }
        let fetched = exchange::get(&self.client, url).await;
        if let Err(fault) = &fetched {
            known.fault = Some(fault.clone());
            self.failures.fetch_add(1, Ordering::Release);
        }
        fetched
    }

    /// The number of usable keys, if the provider answers correctly: a diagnosis for operators.
    ///
    /// # Errors
    /// The provider does not answer, or not correctly, or no sign-in can succeed.
    pub async fn look(&self, now: Timestamp) -> Result<usize, IdentityFault> {
        let metadata = self.metadata(now).await?;
        metadata.check(&self.settings)?;
        match self.keys(&metadata, None, now).await?.count() {
            0 => Err(away(format!(
                "it has no usable key for ID tokens, which may be signed with {}",
                Algorithm::names()
            ))),
            keys => Ok(keys),
        }
    }

    /// The provider's keys; newer ones than `not` if a refetch is still allowed.
    async fn keys(
        &self,
        metadata: &Metadata,
        not: Option<&Arc<KeySet>>,
        now: Timestamp,
    ) -> Result<Arc<KeySet>, IdentityFault> {
        let before = self.failures.load(Ordering::Acquire);
        let mut known = self.known.lock().await;
        if let Some((keys, at)) = &known.keys
            && is_fresh(*at, now)
            && not.is_none_or(|old| !Arc::ptr_eq(old, keys))
        {
            return Ok(keys.clone());
        }
        if not.is_some() && !known.may_refetch(now) {
            return Err(refused(
                "the ID token names an unknown key, and the refetch limit is reached",
            ));
        }
        let body = self.fetched(&mut known, &metadata.jwks_uri, before).await?;
        let keys = Arc::new(KeySet::read(&body)?);
        known.keys = Some((keys.clone(), now));
        Ok(keys)
    }

    async fn verify(
        &self,
        metadata: &Metadata,
        token: &IdToken<'_>,
        now: Timestamp,
    ) -> Result<(), IdentityFault> {
        let keys = self.keys(metadata, None, now).await?;
        match keys.verify(token) {
            Err(KeyFault::Unknown) => self.keys(metadata, Some(&keys), now).await?.verify(token),
            other => other,
        }
        .map_err(|fault| refused(format!("the ID token: {fault}")))
    }

    async fn question_url(
        &self,
        question: &SignInQuestion,
        now: Timestamp,
    ) -> Result<String, IdentityFault> {
        let metadata = self.metadata(now).await?;
        metadata.sign_in_url(&self.settings, question)
    }

    async fn redeemed(
        &self,
        answer: &SignInAnswer,
        now: Timestamp,
    ) -> Result<Identity, IdentityFault> {
        let metadata = self.metadata(now).await?;
        match &answer.issuer {
            Some(issuer) if *issuer != self.settings.issuer => {
                return Err(refused(format!(
                    "the answer names another issuer, {:?}",
                    told(issuer)
                )));
            }
            None if metadata.names_itself => {
                return Err(refused("the answer does not name its issuer"));
            }
            _ => {}
        }
        if answer.code.is_empty() || answer.code.len() > CODE_MAX_BYTES {
            return Err(refused("the answer has no code, or one that is too long"));
        }
        let compact = exchange::redeem(&self.client, &metadata, &self.settings, answer).await?;
        let token = IdToken::split(&compact)?;
        self.verify(&metadata, &token, now).await?;
        let expected = Expected { settings: &self.settings, nonce: &answer.nonce, now };
        token.identity(&expected)
    }
}

impl Known {
    fn may_refetch(&mut self, now: Timestamp) -> bool {
        let (count, since) = match self.refetched {
            Some((count, since)) if (now - since).0.abs() < REFETCH_WINDOW.0 => (count + 1, since),
            _ => (1, now),
        };
        self.refetched = Some((count, since));
        count <= REFETCHES_MAX
    }
}

impl IdentityProvider for Provider {
    fn sign_in_url<'a>(
        &'a self,
        question: &'a SignInQuestion,
        now: Timestamp,
    ) -> BoxFuture<'a, Result<String, IdentityFault>> {
        Box::pin(self.question_url(question, now))
    }

    fn redeem<'a>(
        &'a self,
        answer: &'a SignInAnswer,
        now: Timestamp,
    ) -> BoxFuture<'a, Result<Identity, IdentityFault>> {
        Box::pin(self.redeemed(answer, now))
    }
}
