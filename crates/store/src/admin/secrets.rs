//! Secrets of access keys and webhooks, sealed as one list. During a rotation old and new secrets
//! overlap, each until its announced expiry.

use std::borrow::Cow;

use domain::time::{Span, Timestamp};
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use crate::error::StoreError;
use crate::sealed::{AssociatedData, Vault};

/// What ends the secrets of an access key at once. Its rotations always overlap.
pub(super) const OF_KEY: &str = "create another access key and revoke this one";
/// What ends the secrets of a webhook endpoint at once.
pub(super) const OF_WEBHOOK: &str = "end all of them with an overlap of 0";

/// Maximum number of concurrently valid secrets.
pub const SECRETS_MAX: usize = 4;

/// A secret of an access key, or one that signs webhooks.
#[derive(Clone)]
pub struct KeySecret {
    /// The secret as issued. An access key's HS256 key is this text's own bytes.
    pub secret: SecretString,
    /// Start of its validity.
    pub created_at: Timestamp,
    /// End of its validity; `None` = until it is replaced.
    pub valid_until: Option<Timestamp>,
}

/// A secret as stored, inside the seal.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SecretRow<'a> {
    #[serde(borrow)]
    secret: Cow<'a, str>,
    created_at: i64,
    valid_until: Option<i64>,
}

pub(super) fn seal(
    vault: &Vault,
    place: AssociatedData<'_>,
    secrets: &[KeySecret],
) -> Result<Vec<u8>, StoreError> {
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

pub(super) fn open(
    vault: &Vault,
    place: AssociatedData<'_>,
    sealed: &[u8],
) -> Result<Vec<KeySecret>, StoreError> {
    let plain = vault.open(place, sealed)?;
    // Only the kind of error is reported: its text could quote the secret.
    let rows: Vec<SecretRow<'_>> = serde_json::from_slice(&plain).map_err(|error| {
        StoreError::Corrupt(format!("{}: {:?} error", place.column, error.classify()))
    })?;
    let secret = |row: SecretRow<'_>| KeySecret {
        secret: SecretString::from(&*row.secret),
        created_at: Timestamp(row.created_at),
        valid_until: row.valid_until.map(Timestamp),
    };
    Ok(rows.into_iter().map(secret).collect())
}

/// The secrets that are valid at `now`, newest first.
pub(super) fn valid(secrets: &[KeySecret], now: Timestamp) -> impl Iterator<Item = &SecretString> {
    let valid =
        secrets.iter().filter(move |secret| secret.valid_until.is_none_or(|until| now < until));
    valid.map(|secret| &secret.secret)
}

/// Puts a new secret first. Its predecessor stays valid for `overlap`, and older secrets keep their
/// announced expiry; without an overlap all of them expire now. `otherwise` says what ends them at
/// once.
///
/// # Errors
/// `Conflict` if the maximum number is valid already.
pub(super) fn rotate(
    secrets: &mut Vec<KeySecret>,
    new: SecretString,
    overlap: Span,
    now: Timestamp,
    otherwise: &str,
) -> Result<(), StoreError> {
    secrets.retain(|old| old.valid_until.is_none_or(|until| now < until));
    if overlap <= Span(0) {
        secrets.clear();
    }
    if secrets.len() >= SECRETS_MAX {
        let first = secrets.iter().filter_map(|old| old.valid_until).min();
        let until = first.map(|until| format!(" until {until}")).unwrap_or_default();
        return Err(StoreError::Conflict(format!(
            "{SECRETS_MAX} secrets are valid{until}: rotate again after that, or {otherwise}"
        )));
    }
    for old in secrets.iter_mut() {
        old.valid_until.get_or_insert(now + overlap);
    }
    secrets.insert(0, KeySecret { secret: new, created_at: now, valid_until: None });
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp(1_795_244_268_000_000);

    fn rotated(
        secrets: &mut Vec<KeySecret>,
        new: &str,
        overlap: Span,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        rotate(secrets, SecretString::from(new), overlap, now, OF_KEY)
    }

    fn valid_at(secrets: &[KeySecret], now: Timestamp) -> Vec<&str> {
        valid(secrets, now).map(|secret| secret.expose_secret()).collect()
    }

    #[test]
    fn each_secret_is_valid_until_its_announced_expiry() {
        let mut secrets = Vec::new();
        rotated(&mut secrets, "a", Span::hours(24), NOW).expect("the first");
        rotated(&mut secrets, "b", Span::hours(24), NOW).expect("rotated");
        // A shorter overlap does not shorten an announced validity, a longer one does not extend
        // it.
        rotated(&mut secrets, "c", Span::hours(1), NOW + Span::hours(1)).expect("rotated");
        assert_eq!(valid_at(&secrets, NOW + Span::hours(1)), ["c", "b", "a"]);
        assert_eq!(valid_at(&secrets, NOW + Span::hours(2)), ["c", "a"]);
        assert_eq!(valid_at(&secrets, NOW + Span::hours(24) - Span::secs(1)), ["c", "a"]);
        assert_eq!(valid_at(&secrets, NOW + Span::hours(24)), ["c"]);
    }

    #[test]
    fn a_rotation_without_overlap_ends_every_other_secret() {
        let mut secrets = Vec::new();
        for secret in ["a", "b", "c"] {
            rotated(&mut secrets, secret, Span::hours(24), NOW).expect("rotated");
        }
        rotated(&mut secrets, "d", Span(0), NOW).expect("rotated at once");
        assert_eq!(valid_at(&secrets, NOW), ["d"]);
    }

    #[test]
    fn a_rotation_beyond_the_limit_is_refused() {
        let mut secrets = Vec::new();
        for secret in ["a", "b", "c", "d"] {
            rotated(&mut secrets, secret, Span::hours(24), NOW).expect("rotated");
        }
        let Err(StoreError::Conflict(why)) = rotated(&mut secrets, "e", Span::hours(24), NOW)
        else {
            panic!("not refused")
        };
        assert!(why.contains(&(NOW + Span::hours(24)).to_string()), "{why}");
        assert!(why.ends_with(
            "rotate again after that, or create another access key and revoke this one"
        ));
        assert_eq!(valid_at(&secrets, NOW), ["d", "c", "b", "a"]);
        rotated(&mut secrets, "e", Span::hours(1), NOW + Span::hours(24))
            .expect("the earlier secrets have expired");
        assert_eq!(valid_at(&secrets, NOW + Span::hours(24)), ["e", "d"]);
    }
}
