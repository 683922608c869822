//! Keys in a hardware security module or smart card, through PKCS#11. Private keys never leave it.
//!
//! Calls block, so they run on blocking threads, each with its own session from a pool.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use cryptoki::context::{CInitializeArgs, CInitializeFlags, Pkcs11};
use cryptoki::error::{Error, RvError};
use cryptoki::mechanism::Mechanism;
use cryptoki::object::{Attribute, AttributeType, KeyType, ObjectClass, ObjectHandle};
use cryptoki::session::{Session, UserType};
use cryptoki::slot::Slot;
use domain::chain::{Address, SignFault};
use domain::ports::Answer;
use secrecy::SecretString;
use tokio::sync::Semaphore;

use super::der::{Der, OBJECT_IDENTIFIER, OCTET_STRING, SECP256K1};
use super::{
    DigestSigner, KeyError, Signature, address_of, check_address, digest, public_key, recoverable,
};

/// Size of a public key in SEC1 form, and of a signature.
const POINT_BYTES: usize = 65;
const SIGNATURE_BYTES: usize = 64;

/// The location of the keys.
#[derive(Clone, Debug)]
pub struct Pkcs11Settings {
    /// Path of the vendor's library.
    pub module: PathBuf,
    /// Label of the token.
    pub token: String,
    pub pin: SecretString,
    /// Maximum number of concurrent signatures.
    pub max_sessions: usize,
}

/// A token: its keys, and its sessions.
pub struct Pkcs11Token {
    context: Pkcs11,
    slot: Slot,
    pin: SecretString,
    permits: Semaphore,
    idle: Mutex<Vec<Connection>>,
}

/// A session with the handles of the keys it has used. A session is limited to one thread at a
/// time.
struct Connection {
    session: Session,
    keys: HashMap<String, ObjectHandle>,
}

impl Pkcs11Token {
    /// Loads the library and logs in. Blocks.
    ///
    /// # Errors
    /// [`KeyError::Pkcs11`]
    pub fn open(settings: &Pkcs11Settings) -> Result<Arc<Pkcs11Token>, KeyError> {
        let context = Pkcs11::new(&settings.module).map_err(broken)?;
        match context.initialize(CInitializeArgs::new(CInitializeFlags::OS_LOCKING_OK)) {
            // Another token of the same library is already open.
            Ok(()) | Err(Error::Pkcs11(RvError::CryptokiAlreadyInitialized, _)) => {}
            Err(error) => return Err(broken(error)),
        }
        let mut slots = Vec::new();
        for slot in context.get_slots_with_initialized_token().map_err(broken)? {
            if context.get_token_info(slot).map_err(broken)?.label() == settings.token {
                slots.push(slot);
            }
        }
        let &[slot] = &slots[..] else {
            return Err(KeyError::Pkcs11(format!(
                "{} tokens are labelled {:?}",
                slots.len(),
                settings.token
            )));
        };
        let token = Pkcs11Token {
            context,
            slot,
            pin: settings.pin.clone(),
            permits: Semaphore::new(settings.max_sessions.max(1)),
            idle: Mutex::default(),
        };
        let first = token.connect().map_err(broken)?;
        token.keep(first);
        Ok(Arc::new(token))
    }

    /// The secp256k1 key pair with this label. Blocks.
    ///
    /// # Errors
    /// [`KeyError::Pkcs11`], [`KeyError::NotAKey`], [`KeyError::Address`]
    pub fn key(
        self: &Arc<Self>,
        label: &str,
        expected: Option<Address>,
    ) -> Result<Pkcs11Signer, KeyError> {
        let mut connection = self.take().map_err(broken)?;
        let sec1 = connection.public_point(label)?;
        connection.private_key(label)?;
        self.keep(connection);
        let address = check_address(address_of(&public_key(&sec1)?), expected)?;
        Ok(Pkcs11Signer { token: Arc::clone(self), label: label.to_owned(), address })
    }

    /// An idle session, or a new one.
    fn take(&self) -> Result<Connection, Error> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        idle.map_or_else(|| self.connect(), Ok)
    }

    fn keep(&self, connection: Connection) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(connection);
    }

    fn connect(&self) -> Result<Connection, Error> {
        let session = self.context.open_ro_session(self.slot)?;
        match session.login(UserType::User, Some(&self.pin)) {
            // One login covers all sessions of a process.
            Ok(()) | Err(Error::Pkcs11(RvError::UserAlreadyLoggedIn, _)) => {}
            Err(error) => return Err(error),
        }
        Ok(Connection { session, keys: HashMap::new() })
    }

    /// Blocks until the module has answered.
    fn sign(&self, label: &str, digest: &[u8; 32]) -> Result<Vec<u8>, KeyError> {
        let mut connection = self.take().map_err(broken)?;
        let signed = connection.private_key(label).and_then(|key| {
            connection.session.sign(&Mechanism::Ecdsa, key, digest).map_err(broken)
        });
        match signed {
            Ok(signature) => {
                self.keep(connection);
                Ok(signature)
            }
            Err(error) => {
                // The token may have been restarted: all sessions are invalid then.
                self.idle.lock().unwrap_or_else(PoisonError::into_inner).clear();
                Err(error)
            }
        }
    }
}

impl Connection {
    fn private_key(&mut self, label: &str) -> Result<ObjectHandle, KeyError> {
        if let Some(key) = self.keys.get(label) {
            return Ok(*key);
        }
        let key = self.find(ObjectClass::PRIVATE_KEY, label)?;
        self.keys.insert(label.to_owned(), key);
        Ok(key)
    }

    /// The only elliptic-curve key of this class and label.
    fn find(&self, class: ObjectClass, label: &str) -> Result<ObjectHandle, KeyError> {
        let template = [
            Attribute::Class(class),
            Attribute::KeyType(KeyType::EC),
            Attribute::Label(label.as_bytes().to_vec()),
        ];
        match self.session.find_objects(&template).map_err(broken)?[..] {
            [key] => Ok(key),
            ref keys => Err(KeyError::Pkcs11(format!(
                "{} objects of class {class} labelled {label:?}",
                keys.len()
            ))),
        }
    }

    /// The point of the public key, in SEC1 form.
    fn public_point(&self, label: &str) -> Result<Vec<u8>, KeyError> {
        let key = self.find(ObjectClass::PUBLIC_KEY, label)?;
        let wanted = [AttributeType::EcParams, AttributeType::EcPoint];
        let (mut curve, mut point) = (None, None);
        for attribute in self.session.get_attributes(key, &wanted).map_err(broken)? {
            match attribute {
                Attribute::EcParams(params) => curve = Some(params),
                Attribute::EcPoint(bytes) => point = Some(bytes),
                _ => {}
            }
        }
        if Der(&curve.unwrap_or_default()).only(OBJECT_IDENTIFIER) != Some(&SECP256K1[..]) {
            return Err(KeyError::NotAKey(format!("{label:?} is on another curve")));
        }
        let point = point.unwrap_or_default();
        // The standard wraps the point in an octet string; some tokens do not.
        let inner = if point.len() == POINT_BYTES {
            Some(&point[..])
        } else {
            Der(&point).only(OCTET_STRING)
        };
        inner
            .map(<[u8]>::to_vec)
            .ok_or_else(|| KeyError::NotAKey(format!("{label:?} has no readable point")))
    }
}

/// One key of a token.
pub struct Pkcs11Signer {
    token: Arc<Pkcs11Token>,
    label: String,
    address: Address,
}

impl Pkcs11Signer {
    async fn sign_digest(&self, digest: [u8; 32]) -> Result<Signature, SignFault> {
        let failed = |error: &dyn std::fmt::Display| SignFault::Failed(error.to_string());
        let _permit = self.token.permits.acquire().await.map_err(|error| failed(&error))?;
        let (token, label) = (Arc::clone(&self.token), self.label.clone());
        let signed = tokio::task::spawn_blocking(move || token.sign(&label, &digest)).await;
        let signature = signed.map_err(|error| failed(&error))?.map_err(|error| failed(&error))?;
        if signature.len() != SIGNATURE_BYTES {
            return Err(SignFault::Failed(format!(
                "PKCS#11: a signature of {} bytes",
                signature.len()
            )));
        }
        let (r, s) = signature.split_at(SIGNATURE_BYTES / 2);
        recoverable(&digest, r, s, &self.address)
    }
}

impl DigestSigner for Pkcs11Signer {
    fn address(&self) -> Address {
        self.address
    }

    fn sign<'a>(&'a self, unsigned: &'a [u8]) -> Answer<'a, Result<Signature, SignFault>> {
        Box::pin(self.sign_digest(digest(unsigned)))
    }
}

fn broken(error: Error) -> KeyError {
    KeyError::Pkcs11(error.to_string())
}

#[cfg(test)]
#[path = "pkcs11_tests.rs"]
mod tests;
