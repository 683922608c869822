//! Options of a store: clock, keys, entropy, pool sizes, and fault points for tests.

use std::fmt;
use std::sync::Arc;

use domain::ids::BatchId;
use domain::ports::Clock;
use domain::time::Span;
use secrecy::SecretBox;

/// Default number of writing connections: two batches in flight, one administrative change, one
/// lease.
pub const WRITERS_DEFAULT: usize = 4;
/// Default number of read-only connections.
pub const READERS_DEFAULT: usize = 4;
pub const STATEMENT_TIMEOUT_DEFAULT: Span = Span::secs(10);

/// A source of random bytes.
pub trait Entropy: Send + Sync {
    fn fill(&self, bytes: &mut [u8]);
}

/// The operating system's random numbers.
#[derive(Clone, Copy, Debug, Default)]
pub struct OsEntropy;

impl Entropy for OsEntropy {
    fn fill(&self, bytes: &mut [u8]) {
        // Without random numbers no id or nonce may be created: there is no fallback.
        getrandom::fill(bytes).expect("the operating system provides random numbers");
    }
}

/// A point in a batch's commit at which a test can inject a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultPoint {
    /// Decided, not yet committed.
    BeforeCommit,
    /// Committed, the caller not yet answered.
    AfterCommit,
}

/// The fault at a [`FaultPoint`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultAction {
    /// No fault: the commit proceeds.
    Proceed,
    /// Before the commit: it is rolled back and the caller receives `Unavailable`.
    FailBefore,
    /// Before the commit: it is rolled back, but the caller receives `CommitUnknown`.
    LoseCommit,
    /// After the commit: the acknowledgement is lost (`CommitUnknown`).
    LoseAck,
}

/// Injects faults into commits, for the simulator and for tests.
pub trait Faults: Send + Sync {
    /// Returns the fault of `batch` at `point`.
    fn at(&self, point: FaultPoint, batch: BatchId) -> FaultAction;
}

/// Options for opening a store.
pub struct Options {
    /// The clock of ids and, on SQLite, of everything. On PostgreSQL batches use the database's
    /// clock.
    pub clock: Arc<dyn Clock>,
    /// The latest key-encryption key, used for sealing.
    pub key_encryption_key: SecretBox<[u8; 32]>,
    /// Older key-encryption keys, used only for opening.
    pub previous_keys: Vec<SecretBox<[u8; 32]>>,
    /// Random bytes for ids, nonces and the first id key.
    pub entropy: Arc<dyn Entropy>,
    /// Writing connections (PostgreSQL; SQLite has one).
    pub writers: usize,
    /// Number of read-only connections.
    pub readers: usize,
    pub statement_timeout: Span,
    /// Whether a pooler in transaction mode, such as PgBouncer, is in between (PostgreSQL).
    pub pooler: bool,
    /// Runtime for connections to PostgreSQL; `None` = the one that first uses them.
    pub connections: Option<tokio::runtime::Handle>,
    /// Maximum size of a SQLite file in pages of 4 KiB, for tests: writes then fail as on a full
    /// disk.
    pub sqlite_pages_max: Option<u32>,
    /// Fault points, for tests.
    pub faults: Option<Arc<dyn Faults>>,
}

impl Options {
    /// The defaults for a clock and a key.
    pub fn new(clock: Arc<dyn Clock>, key_encryption_key: SecretBox<[u8; 32]>) -> Options {
        Options {
            clock,
            key_encryption_key,
            previous_keys: Vec::new(),
            entropy: Arc::new(OsEntropy),
            writers: WRITERS_DEFAULT,
            readers: READERS_DEFAULT,
            statement_timeout: STATEMENT_TIMEOUT_DEFAULT,
            pooler: false,
            connections: None,
            sqlite_pages_max: None,
            faults: None,
        }
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Options")
            .field("writers", &self.writers)
            .field("readers", &self.readers)
            .field("statement_timeout", &self.statement_timeout)
            .finish_non_exhaustive()
    }
}
