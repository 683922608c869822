//! Verification of webhooks: HMAC-SHA256 according to the Standard Webhooks specification,
//! implemented independently to reveal faults of the sender's own code.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD};
use domain::time::{Span, Timestamp};
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

use super::core::Arrival;

/// Permitted deviation of a webhook's timestamp.
const TOLERANCE: Span = Span::mins(5);

/// Verdict about an arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Signed with a known secret, recently.
    Genuine,
    /// A header is missing or unreadable.
    Unreadable,
    /// Signed more than five minutes before or after now.
    Stale,
    /// No signature by a known secret.
    Forged,
}

/// The bytes of `whsec_<base64>`; `None` if it is malformed.
pub(super) fn secret_bytes(text: &str) -> Option<Vec<u8>> {
    let encoded = text.strip_prefix("whsec_")?;
    STANDARD.decode(encoded).or_else(|_| STANDARD_NO_PAD.decode(encoded)).ok()
}

pub(super) fn judge(secrets: &[Vec<u8>], arrival: &Arrival, now: Timestamp) -> Verdict {
    let (Some(id), Some(timestamp), Some(signature)) =
        (&arrival.id, &arrival.timestamp, &arrival.signature)
    else {
        return Verdict::Unreadable;
    };
    let Ok(seconds) = timestamp.parse::<i64>() else { return Verdict::Unreadable };
    let signed = [id.as_bytes(), b".", timestamp.as_bytes(), b".", &arrival.body].concat();
    let genuine = secrets.iter().any(|secret| {
        let Ok(mac) = Hmac::<Sha256>::new_from_slice(secret) else { return false };
        let given =
            signature.split(' ').filter_map(|one| STANDARD.decode(one.strip_prefix("v1,")?).ok());
        given
            .into_iter()
            .any(|given| mac.clone().chain_update(&signed).verify_slice(&given).is_ok())
    });
    let age = now - Timestamp(seconds.saturating_mul(1_000_000));
    match genuine {
        false => Verdict::Forged,
        // The timestamp has whole seconds.
        true if age.0 > TOLERANCE.0 + 1_000_000 || age < Span(-TOLERANCE.0) => Verdict::Stale,
        true => Verdict::Genuine,
    }
}
