//! An identity provider over OpenID Connect: discovery, the authorization code flow with PKCE, the ID token (OpenID Connect
//! Core 1.0 and Discovery 1.0, RFC 6749, 7636, 9207). Only its ID token is believed, and only behind its signature; what
//! else comes back is bounded in size and time and told of with its text cut to what fits a line.
//!
//! Which person of ours somebody is, it does not decide. Access tokens are never used.

mod exchange;
mod id_token;
mod keys;
mod metadata;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use domain::identity::{Identity, IdentityFault, NameClaim, SignInAnswer, SignInQuestion};
use domain::ports::{Answer, IdentityProvider};
use domain::time::{Span, Timestamp};
use secrecy::SecretString;
use tokio::sync::Mutex;

use self::id_token::{Expected, IdToken};
use self::keys::{KeyFault, KeySet};
use self::metadata::Metadata;

/// How long the provider's description and its keys are believed: a key that it takes back is good for so long at most.
const KEPT: Span = Span::mins(10);
/// How often keys are fetched again for tokens that name an unknown one, in [`REFETCH_WINDOW`].
const REFETCHES_MAX: u32 = 5;
const REFETCH_WINDOW: Span = Span::mins(1);
/// Longest authorization code that is passed on.
const CODE_MAX_BYTES: usize = 8 * 1024;
/// Most characters of a text of the provider's in a log line.
const TOLD_MAX_CHARS: usize = 200;

/// How a provider is spoken to.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The issuer, exactly as the provider writes it.
    pub issuer: String,
    /// Who we are there.
    pub client_id: String,
    /// What proves it; `None` = a public client, which PKCE alone protects.
    pub client_secret: Option<SecretString>,
    /// Which claim names people.
    pub claim: NameClaim,
}

/// A provider behind HTTPS, or on this very machine.
pub struct Provider {
    client: reqwest::Client,
    settings: Settings,
    known: Mutex<Known>,
    /// How many fetches have failed: whoever waited for one of them takes its answer.
    failures: AtomicU64,
}

/// What is known of the provider.
#[derive(Default)]
struct Known {
    metadata: Option<(Arc<Metadata>, Timestamp)>,
    keys: Option<(Arc<KeySet>, Timestamp)>,
    refetched: Option<(u32, Timestamp)>,
    fault: Option<IdentityFault>,
}

/// What the provider says is not to be understood.
fn away(why: impl Into<String>) -> IdentityFault {
    IdentityFault::Away(format!("the identity provider: {}", why.into()))
}

/// What it says is not believed.
fn refused(why: impl Into<String>) -> IdentityFault {
    IdentityFault::Refused(why.into())
}

/// A text of the provider's as a log line may have it.
fn told(text: &str) -> String {
    text.chars().filter(|letter| !letter.is_control()).take(TOLD_MAX_CHARS).collect()
}

fn is_fresh(at: Timestamp, now: Timestamp) -> bool {
    (now - at).0.abs() < KEPT.0
}

impl Provider {
    /// A provider. The client must not follow redirects. Nothing is fetched before somebody signs in.
    pub fn new(client: reqwest::Client, settings: Settings) -> Provider {
        Provider { client, settings, known: Mutex::default(), failures: AtomicU64::new(0) }
    }

    async fn metadata(&self, now: Timestamp) -> Result<Arc<Metadata>, IdentityFault> {
        let before = self.failures.load(Ordering::Acquire);
        let mut known = self.known.lock().await;
        if let Some((metadata, at)) = &known.metadata
            && is_fresh(*at, now)
        {
            return Ok(metadata.clone());
        }
        let body = self.fetched(&mut known, &metadata::url_of(&self.settings.issuer), before).await?;
        let metadata = Arc::new(Metadata::read(&body, &self.settings.issuer)?);
        known.metadata = Some((metadata.clone(), now));
        Ok(metadata)
    }

    /// A document of the provider's, one at a time. Those who waited behind a fetch that failed (there were `before` of those
    /// when they came) do not wait for another one each.
    async fn fetched(&self, known: &mut Known, url: &str, before: u64) -> Result<Vec<u8>, IdentityFault> {
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

    /// How many usable keys it has, where it answers as it should: for whoever looks after an installation.
    ///
    /// # Errors
    /// It does not answer, or not as it should.
    pub async fn look(&self, now: Timestamp) -> Result<usize, IdentityFault> {
        let metadata = self.metadata(now).await?;
        match self.keys(&metadata, None, now).await?.count() {
            0 => Err(away("it has no key that ID tokens may be signed with")),
            keys => Ok(keys),
        }
    }

    /// The provider's keys; newer ones than `not` where that may still be asked for.
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
            return Err(refused("the ID token names an unknown key, and the keys were fetched again too often lately"));
        }
        let body = self.fetched(&mut known, &metadata.jwks_uri, before).await?;
        let keys = Arc::new(KeySet::read(&body)?);
        known.keys = Some((keys.clone(), now));
        Ok(keys)
    }

    async fn verify(&self, metadata: &Metadata, token: &IdToken<'_>, now: Timestamp) -> Result<(), IdentityFault> {
        let keys = self.keys(metadata, None, now).await?;
        match keys.verify(token) {
            Err(KeyFault::Unknown) => self.keys(metadata, Some(&keys), now).await?.verify(token),
            other => other,
        }
        .map_err(|fault| refused(format!("the ID token: {fault}")))
    }

    async fn question_url(&self, question: &SignInQuestion, now: Timestamp) -> Result<String, IdentityFault> {
        let metadata = self.metadata(now).await?;
        metadata.sign_in_url(&self.settings, question)
    }

    async fn redeemed(&self, answer: &SignInAnswer, now: Timestamp) -> Result<Identity, IdentityFault> {
        let metadata = self.metadata(now).await?;
        match &answer.issuer {
            Some(issuer) if *issuer != self.settings.issuer => {
                return Err(refused(format!("the answer is of another issuer, {:?}", told(issuer))));
            }
            None if metadata.names_itself => return Err(refused("the answer does not say of which issuer it is")),
            _ => {}
        }
        if answer.code.is_empty() || answer.code.len() > CODE_MAX_BYTES {
            return Err(refused("the answer has no code, or one without end"));
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
    ) -> Answer<'a, Result<String, IdentityFault>> {
        Box::pin(self.question_url(question, now))
    }

    fn redeem<'a>(&'a self, answer: &'a SignInAnswer, now: Timestamp) -> Answer<'a, Result<Identity, IdentityFault>> {
        Box::pin(self.redeemed(answer, now))
    }
}
