//! Secrets of access keys and of webhooks: sealed as one list, at most two valid at a time while one takes the other's
//! place.

use std::borrow::Cow;

use domain::time::{Span, Timestamp};
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use crate::error::StoreError;
use crate::sealed::{Place, Vault};

/// Secrets that may be valid at the same time.
pub const SECRETS_MAX: usize = 2;

/// A secret of an access key, or one that signs webhooks.
#[derive(Clone)]
pub struct KeySecret {
    /// The secret as issued. An access key's HS256 key is this text's own bytes.
    pub secret: SecretString,
    /// From when.
    pub created_at: Timestamp,
    /// Until when; `None` = until it is replaced.
    pub valid_until: Option<Timestamp>,
}

/// A secret as it is stored, inside the seal.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SecretRow<'a> {
    #[serde(borrow)]
    secret: Cow<'a, str>,
    created_at: i64,
    valid_until: Option<i64>,
}

pub(super) fn seal(vault: &Vault, place: Place<'_>, secrets: &[KeySecret]) -> Result<Vec<u8>, StoreError> {
    let rows: Vec<SecretRow<'_>> = secrets
        .iter()
        .map(|secret| SecretRow {
            secret: secret.secret.expose_secret().into(),
            created_at: secret.created_at.0,
            valid_until: secret.valid_until.map(|until| until.0),
        })
        .collect();
    let plain = serde_json::to_vec(&rows)
        .map(Zeroizing::new)
        .map_err(|error| StoreError::Corrupt(format!("{}: {error}", place.column)))?;
    Ok(vault.seal(place, &plain))
}

pub(super) fn open(vault: &Vault, place: Place<'_>, sealed: &[u8]) -> Result<Vec<KeySecret>, StoreError> {
    let plain = vault.open(place, sealed)?;
    // Only the kind of error is told: its text could quote the secret.
    let rows: Vec<SecretRow<'_>> = serde_json::from_slice(&plain)
        .map_err(|error| StoreError::Corrupt(format!("{}: {:?} error", place.column, error.classify())))?;
    let secret = |row: SecretRow<'_>| KeySecret {
        secret: SecretString::from(&*row.secret),
        created_at: Timestamp(row.created_at),
        valid_until: row.valid_until.map(Timestamp),
    };
    Ok(rows.into_iter().map(secret).collect())
}

/// Those that are valid at `now`, the newest first.
pub(super) fn valid(secrets: &[KeySecret], now: Timestamp) -> impl Iterator<Item = &SecretString> {
    let valid = secrets.iter().filter(move |secret| secret.valid_until.is_none_or(|until| now < until));
    valid.map(|secret| &secret.secret)
}

/// Puts a new secret first; the one before it stays valid for `overlap`, older ones go.
pub(super) fn rotate(secrets: &mut Vec<KeySecret>, new: SecretString, overlap: Span, now: Timestamp) {
    secrets.truncate(SECRETS_MAX - 1);
    for old in secrets.iter_mut() {
        let end = now + overlap;
        old.valid_until = Some(old.valid_until.map_or(end, |until| until.min(end)));
    }
    secrets.insert(0, KeySecret { secret: new, created_at: now, valid_until: None });
}
