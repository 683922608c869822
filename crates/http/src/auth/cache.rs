//! A bounded cache in front of a [`KeyRing`]: keys with their HMAC states, never the result of a
//! verification.
//!
//! A revoked or suspended key is refused at the latest after [`KeyCache`]'s time to live.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};

use super::key::{Found, KeyRing, VerifiedKey};

/// Maximum number of cached keys; a service has far fewer.
const KNOWN_MAX: usize = 16_384;
/// Maximum number of cached unknown names. Separate, so that guesses evict no real key.
const UNKNOWN_MAX: usize = 4_096;

type Entries<T> = RwLock<HashMap<Box<str>, (T, Instant)>>;

/// Caches the results of `inner` briefly.
pub struct KeyCache<R> {
    inner: R,
    time_to_live: Duration,
    known: Entries<Arc<VerifiedKey>>,
    unknown: Entries<()>,
}

impl<R: KeyRing> KeyCache<R> {
    /// A cache whose entries live for `time_to_live`.
    pub fn new(inner: R, time_to_live: Duration) -> KeyCache<R> {
        KeyCache { inner, time_to_live, known: RwLock::default(), unknown: RwLock::default() }
    }

    /// Clears the cache: the next lookups go to the underlying ring.
    pub fn clear(&self) {
        self.known.write().unwrap_or_else(PoisonError::into_inner).clear();
        self.unknown.write().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// The key ring behind the cache.
    pub const fn inner(&self) -> &R {
        &self.inner
    }

    fn remembered(&self, access_key: &str) -> Option<Option<Arc<VerifiedKey>>> {
        if let Some(key) = fresh(&self.known, access_key, self.time_to_live) {
            return Some(Some(key));
        }
        fresh(&self.unknown, access_key, self.time_to_live).map(|()| None)
    }

    fn remember(&self, access_key: &str, found: Option<&Arc<VerifiedKey>>) {
        match found {
            Some(key) => {
                keep(&self.known, access_key, Arc::clone(key), self.time_to_live, KNOWN_MAX)
            }
            None => keep(&self.unknown, access_key, (), self.time_to_live, UNKNOWN_MAX),
        }
    }
}

impl<R: KeyRing> KeyRing for KeyCache<R> {
    fn find<'a>(&'a self, access_key: &'a str) -> Found<'a> {
        Box::pin(async move {
            if let Some(remembered) = self.remembered(access_key) {
                return Ok(remembered);
            }
            let found = self.inner.find(access_key).await?;
            self.remember(access_key, found.as_ref());
            Ok(found)
        })
    }
}

fn fresh<T: Clone>(entries: &Entries<T>, access_key: &str, time_to_live: Duration) -> Option<T> {
    let entries = entries.read().unwrap_or_else(PoisonError::into_inner);
    let (entry, since) = entries.get(access_key)?;
    (since.elapsed() < time_to_live).then(|| entry.clone())
}

fn keep<T>(entries: &Entries<T>, access_key: &str, entry: T, time_to_live: Duration, max: usize) {
    let mut entries = entries.write().unwrap_or_else(PoisonError::into_inner);
    if entries.len() >= max {
        entries.retain(|_, (_, since)| since.elapsed() < time_to_live);
    }
    if entries.len() >= max {
        entries.clear();
    }
    entries.insert(access_key.into(), (entry, Instant::now()));
}
