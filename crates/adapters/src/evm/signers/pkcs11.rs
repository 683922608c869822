//! Keys in a hardware security module or smart card, through PKCS#11. Private keys never leave it.
//!
//! Calls block, so they run on blocking threads, each with its own session from a pool.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{
    Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, TryLockError,
};
use std::time::{Duration, Instant};

use cryptoki::context::{CInitializeArgs, CInitializeFlags, Pkcs11};
use cryptoki::error::{Error, RvError};
use cryptoki::mechanism::Mechanism;
use cryptoki::object::{Attribute, AttributeType, KeyType, ObjectClass, ObjectHandle};
use cryptoki::session::{Session, UserType};
use cryptoki::slot::Slot;
use domain::chain::{Address, SignFault};
use domain::ports::BoxFuture;
use secrecy::{ExposeSecret as _, SecretString};
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

/// Minimum time between two initializations: other tokens of the module lose their sessions.
const RESTART_EVERY: Duration = Duration::from_secs(2);

/// The modules in use. The state of a module belongs to the process, whichever tokens use it.
static MODULES: Mutex<BTreeMap<PathBuf, Arc<Module>>> = Mutex::new(BTreeMap::new());

/// The idle sessions of a token.
type Pool = Arc<Mutex<Vec<Connection>>>;

/// A vendor's library, initialized.
struct Module {
    context: Pkcs11,
    /// Shared by calls, exclusive while the module is initialized again.
    state: RwLock<State>,
    /// Emptied before the module is finalized: later, a handle may be another session's.
    pools: Mutex<Vec<Pool>>,
    /// Token labels and PINs that were refused. Held during a login, so that each is tried once.
    refused: Mutex<Vec<(String, SecretString, String)>>,
}

struct State {
    /// How often the module was initialized again after a fault.
    generation: u64,
    restarted_at: Option<Instant>,
}

/// Why no session can be opened.
#[derive(Debug)]
enum Fault {
    /// The token or its device does not answer: another initialization may help.
    Away(KeyError),
    Other(KeyError),
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Module {
    /// The module at a path, loaded and initialized at its first use.
    fn at(path: &Path) -> Result<Arc<Module>, KeyError> {
        // A name without a directory is searched for by the loader.
        let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let mut modules = lock(&MODULES);
        if let Some(module) = modules.get(&path) {
            return Ok(Arc::clone(module));
        }
        let context =
            Pkcs11::new(&path).map_err(|error| KeyError::Pkcs11Setup(error.to_string()))?;
        initialize(&context).map_err(broken)?;
        let module = Arc::new(Module {
            context,
            state: RwLock::new(State { generation: 0, restarted_at: None }),
            pools: Mutex::default(),
            refused: Mutex::default(),
        });
        modules.insert(path, Arc::clone(&module));
        Ok(module)
    }

    /// Every use of a session holds this.
    fn calls(&self) -> RwLockReadGuard<'_, State> {
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Access while nothing else is called; `None` if something is.
    fn quiet(&self) -> Option<RwLockWriteGuard<'_, State>> {
        match self.state.try_write() {
            Ok(state) => Some(state),
            Err(TryLockError::Poisoned(state)) => Some(state.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// Initializes the module again, unless that happened after `generation` or another token is in
    /// use. Returns whether to try again.
    fn restart(&self, generation: u64) -> bool {
        let Some(mut state) = self.quiet() else { return false };
        if state.generation != generation {
            return true;
        }
        if state.restarted_at.is_some_and(|at| at.elapsed() < RESTART_EVERY) {
            return false;
        }
        state.restarted_at = Some(Instant::now());
        for pool in lock(&self.pools).iter() {
            lock(pool).clear();
        }
        if let Err(error) = self.context.clone().finalize() {
            tracing::info!(%error, "PKCS#11 module not finalized, initializing it again");
        }
        if let Err(error) = initialize(&self.context) {
            tracing::warn!(%error, "PKCS#11 module initialization failed, will retry");
            return false;
        }
        state.generation += 1;
        tracing::warn!("token did not answer, PKCS#11 module initialized again");
        true
    }

    /// The only slot whose token has this label.
    fn slot(&self, label: &str) -> Result<Slot, Fault> {
        let mut slots = Vec::new();
        for slot in self.context.get_slots_with_initialized_token().map_err(of_session)? {
            if self.context.get_token_info(slot).map_err(of_session)?.label() == label {
                slots.push(slot);
            }
        }
        match slots[..] {
            [slot] => Ok(slot),
            // An HSM, or one partition of it, may still be starting.
            [] => {
                let why = format!("no token is labelled {label:?} at present");
                Err(Fault::Away(KeyError::Pkcs11(why)))
            }
            _ => {
                let why = format!("{} tokens are labelled {label:?}", slots.len());
                Err(Fault::Away(KeyError::Pkcs11Setup(why)))
            }
        }
    }

    /// Logs in, which covers all sessions of the process. A refused PIN is never tried again: a few
    /// tries lock a token.
    fn login(&self, session: &Session, label: &str, pin: &SecretString) -> Result<(), Fault> {
        let mut refused = lock(&self.refused);
        let is_it = |(of, old, _): &&(String, SecretString, String)| {
            of == label && old.expose_secret() == pin.expose_secret()
        };
        if let Some((_, _, why)) = refused.iter().find(is_it) {
            return Err(Fault::Other(KeyError::Pkcs11Pin(why.clone())));
        }
        match session.login(UserType::User, Some(pin)) {
            Ok(()) | Err(Error::Pkcs11(RvError::UserAlreadyLoggedIn, _)) => Ok(()),
            Err(error) if is_of_pin(&error) => {
                let why = error.to_string().trim_end_matches('.').to_owned();
                refused.push((label.to_owned(), pin.clone(), why.clone()));
                Err(Fault::Other(KeyError::Pkcs11Pin(why)))
            }
            Err(error) => Err(of_session(error)),
        }
    }
}

fn initialize(context: &Pkcs11) -> Result<(), Error> {
    match context.initialize(CInitializeArgs::new(CInitializeFlags::OS_LOCKING_OK)) {
        Ok(()) | Err(Error::Pkcs11(RvError::CryptokiAlreadyInitialized, _)) => Ok(()),
        Err(error) => Err(error),
    }
}

/// Whether a login failed because of the PIN.
const fn is_of_pin(error: &Error) -> bool {
    let Error::Pkcs11(error, _) = error else { return false };
    matches!(
        error,
        RvError::PinIncorrect
            | RvError::PinInvalid
            | RvError::PinLenRange
            | RvError::PinExpired
            | RvError::PinLocked
            | RvError::UserPinNotInitialized
    )
}

/// Whether the token, its device or the whole module failed.
const fn is_away(error: &Error) -> bool {
    let Error::Pkcs11(error, _) = error else { return false };
    matches!(
        error,
        RvError::GeneralError
            | RvError::FunctionFailed
            | RvError::DeviceError
            | RvError::DeviceMemory
            | RvError::DeviceRemoved
            | RvError::TokenNotPresent
            | RvError::TokenNotRecognized
            | RvError::SlotIdInvalid
            | RvError::SessionClosed
            | RvError::SessionHandleInvalid
            | RvError::CryptokiNotInitialized
    )
}

fn of_session(error: Error) -> Fault {
    match is_away(&error) {
        true => Fault::Away(broken(error)),
        false => Fault::Other(broken(error)),
    }
}

impl Fault {
    fn error(self) -> KeyError {
        match self {
            Fault::Away(error) | Fault::Other(error) => error,
        }
    }
}

/// A token: its keys, and its sessions.
pub struct Pkcs11Token {
    module: Arc<Module>,
    label: String,
    pin: SecretString,
    permits: Semaphore,
    idle: Pool,
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
    /// [`KeyError::Pkcs11`], [`KeyError::Pkcs11Setup`], [`KeyError::Pkcs11Pin`]
    pub fn open(settings: &Pkcs11Settings) -> Result<Arc<Pkcs11Token>, KeyError> {
        let module = Module::at(&settings.module)?;
        let idle = Pool::default();
        lock(&module.pools).push(Arc::clone(&idle));
        let token = Pkcs11Token {
            module,
            label: settings.token.clone(),
            pin: settings.pin.clone(),
            permits: Semaphore::new(settings.max_sessions.max(1)),
            idle,
        };
        token.on_session(|_| Ok(()))?;
        Ok(Arc::new(token))
    }

    /// The secp256k1 key pair with this label. Blocks.
    ///
    /// # Errors
    /// [`KeyError::Pkcs11`], [`KeyError::Pkcs11Pin`], [`KeyError::NotAKey`], [`KeyError::Address`]
    pub fn key(
        self: &Arc<Self>,
        label: &str,
        expected: Option<Address>,
    ) -> Result<Pkcs11Signer, KeyError> {
        let sec1 = self.on_session(|connection| {
            connection.private_key(label)?;
            connection.public_point(label)
        })?;
        let address = check_address(address_of(&public_key(&sec1)?), expected)?;
        Ok(Pkcs11Signer { token: Arc::clone(self), label: label.to_owned(), address })
    }

    /// Calls on an idle session or a new one. If the token does not answer, the module is initialized
    /// again: some modules never find a token again that was away. Blocks.
    fn on_session<T>(
        &self,
        call: impl Fn(&mut Connection) -> Result<T, KeyError>,
    ) -> Result<T, KeyError> {
        let (away, generation) = {
            let state = self.module.calls();
            match self.take() {
                Ok(connection) => return self.used(connection, call),
                Err(Fault::Other(error)) => return Err(error),
                Err(Fault::Away(error)) => (error, state.generation),
            }
        };
        if !self.module.restart(generation) {
            return Err(away);
        }
        let _calls = self.module.calls();
        let connection = self.take().map_err(Fault::error)?;
        self.used(connection, call)
    }

    fn used<T>(
        &self,
        mut connection: Connection,
        call: impl Fn(&mut Connection) -> Result<T, KeyError>,
    ) -> Result<T, KeyError> {
        let result = call(&mut connection);
        match &result {
            Ok(_) => self.keep(connection),
            // The token may have been restarted: all sessions are invalid then.
            Err(_) => lock(&self.idle).clear(),
        }
        result
    }

    /// An idle session, or a new one.
    fn take(&self) -> Result<Connection, Fault> {
        let idle = lock(&self.idle).pop();
        idle.map_or_else(|| self.connect(), Ok)
    }

    fn keep(&self, connection: Connection) {
        lock(&self.idle).push(connection);
    }

    fn connect(&self) -> Result<Connection, Fault> {
        let slot = self.module.slot(&self.label)?;
        let session = self.module.context.open_ro_session(slot).map_err(of_session)?;
        self.module.login(&session, &self.label, &self.pin)?;
        Ok(Connection { session, keys: HashMap::new() })
    }

    /// Blocks until the module has answered.
    fn sign(&self, label: &str, digest: &[u8; 32]) -> Result<Vec<u8>, KeyError> {
        self.on_session(|connection| {
            let key = connection.private_key(label)?;
            connection.session.sign(&Mechanism::Ecdsa, key, digest).map_err(broken)
        })
    }
}

impl Drop for Pkcs11Token {
    fn drop(&mut self) {
        let _calls = self.module.calls();
        lock(&self.idle).clear();
        lock(&self.module.pools).retain(|pool| !Arc::ptr_eq(pool, &self.idle));
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

    fn sign<'a>(&'a self, unsigned: &'a [u8]) -> BoxFuture<'a, Result<Signature, SignFault>> {
        Box::pin(self.sign_digest(digest(unsigned)))
    }
}

fn broken(error: Error) -> KeyError {
    KeyError::Pkcs11(error.to_string())
}

#[cfg(test)]
#[path = "pkcs11_tests.rs"]
mod tests;
