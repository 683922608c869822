//! Which parts of an OpenPGP key may be used now: bound by the owner's signature, neither expired nor
//! revoked, and meant for the purpose. Only verified self-signatures count; others are ignored.

use std::io;
use std::path::Path;
use std::time::SystemTime;

use ::pgp::composed::{Deserializable as _, SignedPublicKey, SignedPublicSubKey, SignedSecretKey};
use ::pgp::packet::{PublicKey, Signature, SignatureType};
use ::pgp::types::{KeyDetails as _, Tag, VerifyingKey};
use domain::time::Timestamp;

/// A key of the bank, or the public half of our own.
pub(super) struct Certificate {
    /// Its file, for messages.
    pub(super) file: String,
    pub(super) key: SignedPublicKey,
}

pub(super) fn read_public(path: &Path) -> io::Result<Certificate> {
    let (key, _) = SignedPublicKey::from_reader_single(open(path)?)
        .map_err(|error| invalid(format!("is not a public OpenPGP key: {error}")))?;
    Ok(Certificate { file: path.display().to_string(), key })
}

pub(super) fn read_secret(path: &Path) -> io::Result<SignedSecretKey> {
    let (key, _) = SignedSecretKey::from_reader_single(open(path)?)
        .map_err(|error| invalid(format!("is not a secret OpenPGP key: {error}")))?;
    Ok(key)
}

fn open(path: &Path) -> io::Result<io::Cursor<Vec<u8>>> {
    std::fs::read(path).map(io::Cursor::new)
}

fn invalid(what: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

/// The usable part of a key: its signature, which states its uses and its expiry.
struct Bound<'a> {
    binding: &'a Signature,
    expires: Option<SystemTime>,
}

impl Certificate {
    /// The parts that verify a signature. An error says why there are none.
    pub(super) fn verifying(&self, now: SystemTime) -> Result<Vec<&dyn VerifyingKey>, String> {
        let primary = self.primary(now)?;
        let mut keys: Vec<&dyn VerifyingKey> = Vec::new();
        if primary.binding.key_flags().sign() && self.key.primary_key.algorithm().can_sign() {
            keys.push(&self.key.primary_key);
        }
        for (subkey, bound) in self.subkeys(now) {
            if bound.binding.key_flags().sign() {
                keys.push(&subkey.key);
            }
        }
        if keys.is_empty() { Err(self.unusable("has no valid part that signs")) } else { Ok(keys) }
    }

    /// The newest part that messages are encrypted to.
    pub(super) fn encrypting(&self, now: SystemTime) -> Result<&SignedPublicSubKey, String> {
        self.primary(now)?;
        let meant = |(_, bound): &(&SignedPublicSubKey, Bound<'_>)| {
            let flags = bound.binding.key_flags();
            flags.encrypt_comms() || flags.encrypt_storage()
        };
        let newest = self
            .subkeys(now)
            .filter(meant)
            .map(|(subkey, _)| subkey)
            .filter(|subkey| subkey.algorithm().can_encrypt())
            .max_by_key(|subkey| subkey.created_at());
        newest.ok_or_else(|| self.unusable("has no valid part to encrypt to"))
    }

    /// When the key, or the first of its parts that are valid now, expires.
    pub(super) fn expires(&self, now: SystemTime) -> Result<Option<SystemTime>, String> {
        let primary = self.primary(now)?;
        Ok(self
            .subkeys(now)
            .map(|(_, bound)| bound.expires)
            .chain([primary.expires])
            .flatten()
            .min())
    }

    pub(super) fn unusable(&self, why: &str) -> String {
        let fingerprint = self.key.fingerprint();
        format!("the PGP key {fingerprint} ({}) {why}", self.file)
    }

    fn primary(&self, now: SystemTime) -> Result<Bound<'_>, String> {
        let (primary, details) = (&self.key.primary_key, &self.key.details);
        if details.revocation_signatures.iter().any(|it| it.verify_key(primary).is_ok()) {
            return Err(self.unusable("is revoked"));
        }
        let own = details.users.iter().flat_map(|user| {
            let signed = user.signatures.iter();
            let of_user = move |it: &&Signature| {
                it.is_certification()
                    && it.verify_certification(primary, Tag::UserId, &user.id).is_ok()
            };
            signed.filter(of_user)
        });
        let direct = details.direct_signatures.iter().filter(|it| it.verify_key(primary).is_ok());
        let binding = newest(own.chain(direct))
            .ok_or_else(|| self.unusable("has no valid signature of its owner"))?;
        let expires = expiry(primary.created_at().into(), binding);
        match expires.filter(|at| *at <= now) {
            Some(at) => Err(self.unusable(&format!("expired on {}", shown(at)))),
            None => Ok(Bound { binding, expires }),
        }
    }

    /// The subkeys that are valid now, with their bindings.
    fn subkeys(&self, now: SystemTime) -> impl Iterator<Item = (&SignedPublicSubKey, Bound<'_>)> {
        let primary = &self.key.primary_key;
        self.key.public_subkeys.iter().filter_map(move |subkey| {
            let own = || {
                let of_owner =
                    |it: &&Signature| it.verify_subkey_binding(primary, &subkey.key).is_ok();
                subkey.signatures.iter().filter(of_owner)
            };
            if own().any(|it| it.typ() == Some(SignatureType::SubkeyRevocation)) {
                return None;
            }
            let binding = newest(own())?;
            if binding.key_flags().sign() && !is_signed_back(binding, subkey, primary) {
                return None;
            }
            let expires = expiry(subkey.created_at().into(), binding);
            expires.is_none_or(|at| at > now).then_some((subkey, Bound { binding, expires }))
        })
    }
}

/// A part that signs has to confirm that it belongs to the key.
fn is_signed_back(binding: &Signature, subkey: &SignedPublicSubKey, primary: &PublicKey) -> bool {
    binding
        .embedded_signature()
        .is_some_and(|back| back.verify_primary_key_binding(&subkey.key, primary).is_ok())
}

fn newest<'a>(signatures: impl Iterator<Item = &'a Signature>) -> Option<&'a Signature> {
    signatures.max_by_key(|signature| signature.created())
}

fn expiry(created: SystemTime, binding: &Signature) -> Option<SystemTime> {
    let lifetime: std::time::Duration = binding.key_expiration_time()?.into();
    // Zero means never.
    if lifetime.is_zero() { None } else { created.checked_add(lifetime) }
}

/// A time for messages.
pub(super) fn shown(time: SystemTime) -> String {
    timestamp(time).to_string()
}

pub(super) fn timestamp(time: SystemTime) -> Timestamp {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Timestamp(i64::try_from(since.as_micros()).unwrap_or(i64::MAX))
}
