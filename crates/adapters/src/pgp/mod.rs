//! OpenPGP for files that are exchanged with a bank: outgoing ones are signed and encrypted, incoming
//! ones decrypted and verified. Nothing is returned of a message whose signature is missing or wrong.

#[cfg(any(test, feature = "fuzz"))]
pub(crate) mod fuzz;
mod keys;
mod packets;

use std::io::{self, Read as _};
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use ::pgp::composed::{ArmorOptions, Message, MessageBuilder, SignedSecretKey};
use ::pgp::crypto::hash::HashAlgorithm;
use ::pgp::crypto::sym::SymmetricKeyAlgorithm;
use ::pgp::packet::SignatureType;
use ::pgp::types::{KeyDetails as _, Password, SigningKey};
use domain::time::Timestamp;
use rand_core::OsRng;
use secrecy::{ExposeSecret as _, SecretString};

use keys::Certificate;

/// What is signed and decrypted to try the keys.
const PROBE: &[u8] = b"probe";
/// Layers of compression that are unpacked.
const MAX_LAYERS: usize = 3;
/// How far the clock of the bank may be ahead.
const CLOCK_SKEW: Duration = Duration::from_secs(24 * 60 * 60);

/// What is done to the files of one direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Protection {
    pub signed: bool,
    pub encrypted: bool,
}

#[derive(Clone, Debug)]
pub struct Settings {
    /// Our secret key: it signs what is sent, and decrypts what arrives.
    pub key_file: PathBuf,
    pub passphrase: Option<SecretString>,
    /// The bank's public keys. What is sent is encrypted to each that is valid; what arrives is signed
    /// by one of them.
    pub bank_key_files: Vec<PathBuf>,
    pub outgoing: Protection,
    pub incoming: Protection,
    /// Whether outgoing files are text (ASCII armor).
    pub armor: bool,
    /// Follows the names of outgoing files.
    pub suffix: String,
}

/// Why the keys cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    #[error("{0}: {1}")]
    File(String, io::Error),
    #[error("{0}")]
    Key(String),
}

/// Why nothing is read from a file.
#[derive(Debug, thiserror::Error)]
pub(crate) enum OpenError {
    /// It may be the beginning of a message.
    #[error("{0}")]
    Cut(String),
    #[error("{0}")]
    Refused(String),
}

pub(crate) struct Pgp {
    settings: Settings,
    secret: SignedSecretKey,
    passphrase: Password,
    own: Certificate,
    bank: Vec<Certificate>,
}

impl Pgp {
    /// Reads the keys, which the process keeps. Blocking.
    pub(crate) fn new(settings: &Settings) -> Result<Pgp, SetupError> {
        let named = |path: &PathBuf| {
            let path = path.display().to_string();
            move |error| SetupError::File(path, error)
        };
        let secret = keys::read_secret(&settings.key_file).map_err(named(&settings.key_file))?;
        let own = Certificate {
            file: settings.key_file.display().to_string(),
            key: secret.to_public_key(),
        };
        let bank = settings
            .bank_key_files
            .iter()
            .map(|path| keys::read_public(path).map_err(named(path)))
            .collect::<Result<Vec<_>, _>>()?;
        let passphrase = password(settings);
        let pgp = Pgp { settings: settings.clone(), secret, passphrase, own, bank };
        pgp.check(SystemTime::now()).map_err(SetupError::Key)?;
        Ok(pgp)
    }

    /// Tries what is needed of each key, so that a wrong one is named before the first payment.
    fn check(&self, now: SystemTime) -> Result<(), String> {
        let Settings { outgoing, incoming, .. } = &self.settings;
        let fault = |what: &str, error: ::pgp::errors::Error| {
            self.own.unusable(&format!("cannot {what}, is the passphrase right? {error}"))
        };
        if outgoing.signed {
            let mut probe = MessageBuilder::from_bytes("", PROBE);
            probe.sign(self.signer(now)?, password(&self.settings), HashAlgorithm::Sha512);
            probe.to_vec(OsRng).map_err(|error| fault("sign", error))?;
        }
        if incoming.encrypted {
            let recipient = self.own.encrypting(now)?;
            let probe = MessageBuilder::from_bytes("", PROBE);
            let mut probe = probe.seipd_v1(OsRng, SymmetricKeyAlgorithm::AES256);
            probe.encrypt_to_key(OsRng, recipient).map_err(|error| fault("encrypt", error))?;
            let sealed = probe.to_vec(OsRng).map_err(|error| fault("encrypt", error))?;
            Message::from_bytes(sealed.as_slice())
                .and_then(|message| message.decrypt(&self.passphrase, &self.secret).map(drop))
                .map_err(|error| fault("decrypt", error))?;
        }
        let none = || "no key of the bank is configured".to_owned();
        if outgoing.encrypted {
            self.recipients(now)?;
        }
        if incoming.signed {
            let usable = self.bank.iter().map(|key| key.verifying(now).map(drop));
            usable.reduce(Result::or).unwrap_or_else(|| Err(none()))?;
        }
        Ok(())
    }

    /// When the first key expires that is used and valid.
    pub(crate) fn expires(&self) -> Option<Timestamp> {
        let now = SystemTime::now();
        let all = self.bank.iter().chain([&self.own]);
        let dates = all.filter_map(|key| key.expires(now).ok().flatten());
        dates.min().map(keys::timestamp)
    }

    /// The name of an outgoing file.
    pub(crate) fn name(&self, name: &str) -> String {
        format!("{name}{}", self.settings.suffix)
    }

    /// Our part that signs: the newest subkey that may, or the primary key.
    fn signer(&self, now: SystemTime) -> Result<&dyn SigningKey, String> {
        let verifying = self.own.verifying(now)?;
        let may_sign = |print: ::pgp::types::Fingerprint| {
            verifying.iter().any(|key| key.fingerprint() == print)
        };
        let subkeys = self.secret.secret_subkeys.iter().map(|subkey| &subkey.key);
        let newest = subkeys
            .filter(|key| may_sign(key.fingerprint()))
            .max_by_key(|key| key.created_at())
            .map(|key| -> &dyn SigningKey { key });
        let primary = &self.secret.primary_key;
        let primary = may_sign(primary.fingerprint()).then_some(primary as &dyn SigningKey);
        newest.or(primary).ok_or_else(|| self.own.unusable("has no secret part that signs"))
    }

    /// The valid keys of the bank. Without one nothing is sent.
    fn recipients(
        &self,
        now: SystemTime,
    ) -> Result<Vec<&::pgp::composed::SignedPublicSubKey>, String> {
        let all = self.bank.iter().map(|key| key.encrypting(now));
        let (valid, faults): (Vec<_>, Vec<_>) = all.partition(Result::is_ok);
        let valid: Vec<_> = valid.into_iter().flatten().collect();
        if valid.is_empty() {
            let faults: Vec<String> = faults.into_iter().filter_map(Result::err).collect();
            return Err(if faults.is_empty() {
                "no key of the bank is configured".to_owned()
            } else {
                faults.join("; ")
            });
        }
        Ok(valid)
    }

    /// Signs and encrypts as configured.
    pub(crate) fn seal(&self, content: Vec<u8>) -> Result<Vec<u8>, String> {
        let Protection { signed, encrypted } = self.settings.outgoing;
        if !signed && !encrypted {
            return Ok(content);
        }
        let now = SystemTime::now();
        let failed = |error: ::pgp::errors::Error| format!("PGP: {error}");
        let signer = if signed { Some(self.signer(now)?) } else { None };
        let mut builder = MessageBuilder::from_bytes("", content);
        if let Some(signer) = signer {
            builder.sign(signer, password(&self.settings), HashAlgorithm::Sha512);
        }
        let options = ArmorOptions::default();
        if !encrypted {
            return match self.settings.armor {
                true => builder.to_armored_string(OsRng, options).map(String::into_bytes),
                false => builder.to_vec(OsRng),
            }
            .map_err(failed);
        }
        let mut builder = builder.seipd_v1(OsRng, SymmetricKeyAlgorithm::AES256);
        for recipient in self.recipients(now)? {
            builder.encrypt_to_key(OsRng, recipient).map_err(failed)?;
        }
        match self.settings.armor {
            true => builder.to_armored_string(OsRng, options).map(String::into_bytes),
            false => builder.to_vec(OsRng),
        }
        .map_err(failed)
    }

    /// Decrypts and verifies as configured; at most `limit` bytes and one more.
    pub(crate) fn open(&self, content: &[u8], limit: usize) -> Result<Vec<u8>, OpenError> {
        self.opened(content, limit).map_err(|why| match packets::is_cut(content) {
            true => OpenError::Cut(why),
            false => OpenError::Refused(why),
        })
    }

    fn opened(&self, content: &[u8], limit: usize) -> Result<Vec<u8>, String> {
        let Protection { signed, encrypted } = self.settings.incoming;
        if !signed && !encrypted {
            return Ok(content.to_vec());
        }
        let content = packets::of(content)?;
        let message = Message::from_bytes(content.as_ref())
            .map_err(|error| format!("is not a PGP message: {error}"))?;
        let message = match (message.is_encrypted(), encrypted) {
            (true, _) => message
                .decrypt(&self.passphrase, &self.secret)
                .map_err(|error| format!("cannot be decrypted with our PGP key: {error}"))?,
            (false, true) => return Err("is not encrypted".to_owned()),
            (false, false) => message,
        };
        let mut message = message;
        for _ in 0..MAX_LAYERS {
            if !message.is_compressed() {
                break;
            }
            message =
                message.decompress().map_err(|error| format!("cannot be decompressed: {error}"))?;
        }
        if signed && !message.is_signed() {
            return Err("is not signed".to_owned());
        }
        let mut text = Vec::new();
        // The integrity of the whole is only known at its end.
        let read = message.by_ref().take(limit as u64 + 1).read_to_end(&mut text);
        read.map_err(|error| format!("cannot be decrypted: {error}"))?;
        if text.len() > limit {
            return Err(format!("holds more than {limit} bytes"));
        }
        if signed {
            self.verify(&message)?;
        }
        Ok(text)
    }

    /// Whether any signature of the message is the bank's.
    fn verify(&self, message: &Message<'_>) -> Result<(), String> {
        let Message::Signed { reader, .. } = message else {
            return Err("is not signed".to_owned());
        };
        let now = SystemTime::now();
        let mut faults = Vec::new();
        for certificate in &self.bank {
            let keys = match certificate.verifying(now) {
                Ok(keys) => keys,
                Err(why) => {
                    faults.push(why);
                    continue;
                }
            };
            let by = |key: &&dyn ::pgp::types::VerifyingKey| {
                (0..reader.num_signatures())
                    .filter_map(|at| message.verify_nested_explicit(at, *key).ok())
                    .any(|signature| is_sound(signature, now))
            };
            if keys.iter().any(by) {
                return Ok(());
            }
        }
        let why =
            if faults.is_empty() { String::new() } else { format!(" ({})", faults.join("; ")) };
        Err(format!("its signature is not by a key of the bank{why}"))
    }
}

fn password(settings: &Settings) -> Password {
    match &settings.passphrase {
        Some(passphrase) => Password::from(passphrase.expose_secret()),
        None => Password::empty(),
    }
}

/// Whether a valid signature is one over a document, by a hash that is still sound, and not of the
/// future.
fn is_sound(signature: &::pgp::packet::Signature, now: SystemTime) -> bool {
    let hash = matches!(
        signature.hash_alg(),
        Some(
            HashAlgorithm::Sha256
                | HashAlgorithm::Sha384
                | HashAlgorithm::Sha512
                | HashAlgorithm::Sha224
                | HashAlgorithm::Sha3_256
                | HashAlgorithm::Sha3_512
        )
    );
    let document = matches!(signature.typ(), Some(SignatureType::Binary | SignatureType::Text));
    let created = signature.created().map(SystemTime::from);
    hash && document && created.is_some_and(|at| at <= now + CLOCK_SKEW)
}
