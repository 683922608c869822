//! Webhook signatures by the Standard Webhooks specification (1.0.0): HMAC-SHA256 over
//! `{webhook-id}.{webhook-timestamp}.{body}`. Used by senders and verifiers; retries are decided
//! elsewhere.

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use subtle::ConstantTimeEq as _;

/// The event's id, the same at every attempt.
pub const ID_HEADER: &str = "webhook-id";
/// The time of this attempt, in UNIX seconds.
pub const TIMESTAMP_HEADER: &str = "webhook-timestamp";
/// One signature per active secret, separated by spaces.
pub const SIGNATURE_HEADER: &str = "webhook-signature";
/// Maximum difference between a webhook's timestamp and the receiver's clock, in both directions.
pub const TOLERANCE_S: i64 = 300;
const SECRET_PREFIX: &str = "whsec_";
/// Prefix of signatures of this version.
const VERSION: &str = "v1";
/// Minimum length of a secret: 16 bytes.
const SECRET_MIN_BYTES: usize = 16;
/// Maximum number of signatures examined per header.
const SIGNATURES_MAX: usize = 16;
/// Secrets come with and without padding.
const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// A secret as keyed HMAC state: it cannot be printed, and never leaves this type.
#[derive(Clone)]
pub struct WebhookSecret(Hmac<Sha256>);

/// Why a text is not a secret. Does not contain the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SecretFault {
    #[error("a webhook secret is whsec_ followed by base64")]
    NotBase64,
    #[error("a webhook secret has at least {SECRET_MIN_BYTES} bytes")]
    TooShort,
}

impl WebhookSecret {
    /// Parses `whsec_<base64>`, also without the prefix.
    pub fn parse(text: &str) -> Result<WebhookSecret, SecretFault> {
        let encoded = text.strip_prefix(SECRET_PREFIX).unwrap_or(text);
        let key = LENIENT.decode(encoded).map_err(|_| SecretFault::NotBase64)?;
        if key.len() < SECRET_MIN_BYTES {
            return Err(SecretFault::TooShort);
        }
        Hmac::new_from_slice(&key).map(WebhookSecret).map_err(|_| SecretFault::NotBase64)
    }

    /// Formats random bytes as a secret.
    pub fn text_of(random: &[u8; 32]) -> String {
        format!("{SECRET_PREFIX}{}", LENIENT.encode(random))
    }

    /// Whether another secret signs as this one: texts of one key differ in prefix and padding.
    pub fn signs_like(&self, other: &WebhookSecret) -> bool {
        self.mac("", "", b"") == other.mac("", "", b"")
    }

    fn mac(&self, id: &str, timestamp: &str, body: &[u8]) -> [u8; 32] {
        let mut mac = self.0.clone();
        for part in [id.as_bytes(), b".", timestamp.as_bytes(), b".", body] {
            mac.update(part);
        }
        mac.finalize().into_bytes().into()
    }
}

/// The value of `webhook-signature`: one signature for each secret.
pub fn sign(secrets: &[WebhookSecret], id: &str, timestamp_s: i64, body: &[u8]) -> String {
    let timestamp = timestamp_s.to_string();
    let one = |secret: &WebhookSecret| {
        format!("{VERSION},{}", LENIENT.encode(secret.mac(id, &timestamp, body)))
    };
    secrets.iter().map(one).collect::<Vec<_>>().join(" ")
}

/// A webhook as its receiver sees it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Arrived<'a> {
    /// Value of the header `webhook-id`.
    pub id: &'a str,
    /// Value of the header `webhook-timestamp`.
    pub timestamp: &'a str,
    /// Value of the header `webhook-signature`.
    pub signature: &'a str,
    /// The body's bytes as received, before any parsing.
    pub body: &'a [u8],
}

/// Why a webhook is rejected, in the order of the checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unbelievable {
    /// A header is missing or empty.
    #[error("the header {0} is missing")]
    Missing(&'static str),
    /// The timestamp is not a number.
    #[error("webhook-timestamp is not UNIX seconds")]
    Timestamp,
    /// The timestamp is too old.
    #[error(
        "webhook-timestamp is more than {TOLERANCE_S} s old: an old or replayed message, or a clock that is wrong"
    )]
    TooOld,
    /// The timestamp is in the future.
    #[error("webhook-timestamp is more than {TOLERANCE_S} s in the future: a clock is wrong")]
    TooNew,
    /// None of the secrets made any of the signatures.
    #[error(
        "no signature of webhook-signature was made with this secret over this id, timestamp and body"
    )]
    Signature,
}

/// Verifies that the webhook was signed recently with one of the secrets. Takes the same time for
/// every wrong signature.
pub fn verify(
    secrets: &[WebhookSecret],
    arrived: &Arrived<'_>,
    now_s: i64,
) -> Result<(), Unbelievable> {
    for (name, value) in [
        (ID_HEADER, arrived.id),
        (TIMESTAMP_HEADER, arrived.timestamp),
        (SIGNATURE_HEADER, arrived.signature),
    ] {
        if value.is_empty() {
            return Err(Unbelievable::Missing(name));
        }
    }
    let digits = arrived.timestamp.bytes().all(|byte| byte.is_ascii_digit());
    let sent_s: i64 =
        arrived.timestamp.parse().ok().filter(|_| digits).ok_or(Unbelievable::Timestamp)?;
    if sent_s < now_s.saturating_sub(TOLERANCE_S) {
        return Err(Unbelievable::TooOld);
    }
    if sent_s > now_s.saturating_add(TOLERANCE_S) {
        return Err(Unbelievable::TooNew);
    }
    let signatures: Vec<Vec<u8>> =
        arrived.signature.split(' ').filter_map(signature_bytes).take(SIGNATURES_MAX).collect();
    let made_with = |secret: &WebhookSecret| {
        let expected = secret.mac(arrived.id, arrived.timestamp, arrived.body);
        signatures.iter().any(|given| given.ct_eq(&expected).into())
    };
    if secrets.iter().any(made_with) { Ok(()) } else { Err(Unbelievable::Signature) }
}

/// The bytes of a `v1` signature; other versions are ignored.
fn signature_bytes(signature: &str) -> Option<Vec<u8>> {
    let (version, encoded) = signature.split_once(',')?;
    if version != VERSION {
        return None;
    }
    LENIENT.decode(encoded).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    // The test vector of the Standard Webhooks libraries.
    const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    const ID: &str = "msg_p5jXN8AQM9LWM0D4loKWxJek";
    const AT: i64 = 1_614_265_330;
    const BODY: &[u8] = br#"{"test": 2432232314}"#;
    const SIGNATURE: &str = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";

    fn secret(text: &str) -> WebhookSecret {
        WebhookSecret::parse(text).expect("a secret")
    }

    fn arrived(signature: &str) -> Arrived<'_> {
        Arrived { id: ID, timestamp: "1614265330", signature, body: BODY }
    }

    #[test]
    fn the_published_vector_is_signed_as_published() {
        assert_eq!(sign(&[secret(SECRET)], ID, AT, BODY), SIGNATURE);
        assert_eq!(verify(&[secret(SECRET)], &arrived(SIGNATURE), AT), Ok(()));
    }

    #[test]
    fn the_prefix_and_the_padding_may_be_left_out() {
        let bare = secret("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");
        assert_eq!(sign(&[bare], ID, AT, BODY), SIGNATURE);
        let of = |text: &str| sign(&[secret(text)], ID, AT, BODY);
        assert_eq!(
            of("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLw"),
            of("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLw==")
        );
    }

    #[test]
    fn during_rotation_each_secret_finds_its_signature() {
        let old = secret(SECRET);
        let new = secret(&WebhookSecret::text_of(&[7; 32]));
        let both = sign(&[new.clone(), old.clone()], ID, AT, BODY);
        assert_eq!(both.split(' ').count(), 2);
        for known in [vec![old.clone()], vec![new.clone()], vec![old, new]] {
            assert_eq!(verify(&known, &arrived(&both), AT), Ok(()));
        }
        let another = secret(&WebhookSecret::text_of(&[8; 32]));
        assert_eq!(verify(&[another], &arrived(&both), AT), Err(Unbelievable::Signature));
    }

    #[test]
    fn other_versions_are_passed_over() {
        let among = format!("v1,AAAA v2,{} v1a,xyz nonsense {SIGNATURE}", "A".repeat(43));
        assert_eq!(verify(&[secret(SECRET)], &arrived(&among), AT), Ok(()));
        for wrong in [
            "v2,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
            "g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
            "v1,",
            "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1O",
            "v1",
            "v1, g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
        ] {
            assert_eq!(
                verify(&[secret(SECRET)], &arrived(wrong), AT),
                Err(Unbelievable::Signature),
                "{wrong}"
            );
        }
    }

    #[test]
    fn every_signed_part_counts() {
        let known = [secret(SECRET)];
        let good = arrived(SIGNATURE);
        for changed in [
            Arrived { id: "msg_p5jXN8AQM9LWM0D4loKWxJel", ..good },
            Arrived { timestamp: "1614265331", ..good },
            Arrived { timestamp: "01614265330", ..good },
            Arrived { body: br#"{"test": 2432232315}"#, ..good },
        ] {
            assert_eq!(verify(&known, &changed, AT), Err(Unbelievable::Signature), "{changed:?}");
        }
        assert_eq!(verify(&[], &good, AT), Err(Unbelievable::Signature));
    }

    #[test]
    fn old_and_future_webhooks_are_refused_before_their_signature_is_looked_at() {
        let known = [secret(SECRET)];
        for (ahead, verdict) in [
            (TOLERANCE_S, Ok(())),
            (-TOLERANCE_S, Ok(())),
            (TOLERANCE_S + 1, Err(Unbelievable::TooOld)),
            (-TOLERANCE_S - 1, Err(Unbelievable::TooNew)),
        ] {
            assert_eq!(verify(&known, &arrived(SIGNATURE), AT + ahead), verdict, "{ahead}");
            let forged = verify(&known, &arrived("v1,AAAA"), AT + ahead);
            assert_eq!(forged, verdict.and(Err(Unbelievable::Signature)), "{ahead}");
        }
    }

    #[test]
    fn missing_or_non_numeric_headers_are_named() {
        let known = [secret(SECRET)];
        let good = arrived(SIGNATURE);
        for (changed, fault) in [
            (Arrived { id: "", ..good }, Unbelievable::Missing(ID_HEADER)),
            (Arrived { timestamp: "", ..good }, Unbelievable::Missing(TIMESTAMP_HEADER)),
            (Arrived { signature: "", ..good }, Unbelievable::Missing(SIGNATURE_HEADER)),
            (Arrived { timestamp: "hello", ..good }, Unbelievable::Timestamp),
            (Arrived { timestamp: "-1614265330", ..good }, Unbelievable::Timestamp),
            (Arrived { timestamp: "+1614265330", ..good }, Unbelievable::Timestamp),
            (Arrived { timestamp: "99999999999999999999", ..good }, Unbelievable::Timestamp),
            (Arrived { timestamp: "1614265330.5", ..good }, Unbelievable::Timestamp),
        ] {
            assert_eq!(verify(&known, &changed, AT), Err(fault), "{changed:?}");
        }
    }

    #[test]
    fn invalid_secrets_are_rejected() {
        for (text, fault) in [
            ("", SecretFault::TooShort),
            ("whsec_", SecretFault::TooShort),
            ("whsec_c2hvcnQ=", SecretFault::TooShort),
            ("whsec_not base64 at all!", SecretFault::NotBase64),
            ("WHSEC_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", SecretFault::NotBase64),
        ] {
            assert_eq!(WebhookSecret::parse(text).err(), Some(fault), "{text}");
        }
        // Longer than a block of SHA-256: hashed first (RFC 2104).
        let long = secret(&format!("whsec_{}", LENIENT.encode([1; 100])));
        assert!(sign(&[long], ID, AT, BODY).starts_with("v1,"));
    }
}
