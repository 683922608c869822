//! What a store is opened with: clock, keys, entropy, pool sizes, and the fault points that tests hang on to.

use std::fmt;
use std::sync::Arc;

use domain::ids::BatchId;
use domain::ports::Clock;
use domain::time::Span;
use secrecy::SecretBox;

/// Connections that write, unless said otherwise: two batches in flight, one administrative change, one lease.
pub const WRITERS_DEFAULT: usize = 4;
/// Connections that only read, unless said otherwise.
pub const READERS_DEFAULT: usize = 4;
/// How long a statement may take, unless said otherwise.
pub const STATEMENT_TIMEOUT_DEFAULT: Span = Span::secs(10);

/// Where random bytes come from.
pub trait Entropy: Send + Sync {
    /// Fills `bytes`.
    fn fill(&self, bytes: &mut [u8]);
}

/// The operating system's random numbers.
#[derive(Clone, Copy, Debug, Default)]
pub struct OsEntropy;

impl Entropy for OsEntropy {
    fn fill(&self, bytes: &mut [u8]) {
        // Without random numbers no id and no nonce may be made: there is nothing to fall back on.
        getrandom::fill(bytes).expect("the operating system gives random numbers");
    }
}

/// A place in a batch's commit where a test may make it fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultPoint {
    /// Decided, not yet committed.
    BeforeCommit,
    /// Committed, the caller not yet told.
    AfterCommit,
}

/// What happens at a [`FaultPoint`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultAction {
    /// Nothing.
    Proceed,
    /// Before the commit: it is rolled back and the caller told so (`Unavailable`).
    FailBefore,
    /// Before the commit: it is rolled back, but the caller cannot know (`CommitUnknown`).
    LoseCommit,
    /// After the commit: the acknowledgement is lost (`CommitUnknown`).
    LoseAck,
}

/// Makes commits fail, for the simulator and for tests.
pub trait Faults: Send + Sync {
    /// What happens to `batch` at `point`.
    fn at(&self, point: FaultPoint, batch: BatchId) -> FaultAction;
}

/// How a store is opened.
pub struct Options {
    /// The clock of ids and, on SQLite, of everything. On PostgreSQL batches are timed by the database's clock.
    pub clock: Arc<dyn Clock>,
    /// The newest key-encryption key: it seals.
    pub key_encryption_key: SecretBox<[u8; 32]>,
    /// Older key-encryption keys: they only open.
    pub previous_keys: Vec<SecretBox<[u8; 32]>>,
    /// Random bytes for ids, nonces and the first id key.
    pub entropy: Arc<dyn Entropy>,
    /// Connections that write (PostgreSQL; SQLite has one).
    pub writers: usize,
    /// Connections that only read.
    pub readers: usize,
    /// How long a statement may take.
    pub statement_timeout: Span,
    /// Where connections to PostgreSQL do their work; `None` = where they are first used.
    pub connections: Option<tokio::runtime::Handle>,
    /// Pages (of 4 KiB) beyond which an SQLite file does not grow, for tests: writing then fails as on a full disk.
    pub sqlite_pages_max: Option<u32>,
    /// Fault points, for tests.
    pub faults: Option<Arc<dyn Faults>>,
}

impl Options {
    /// The defaults around a clock and a key.
    pub fn new(clock: Arc<dyn Clock>, key_encryption_key: SecretBox<[u8; 32]>) -> Options {
        Options {
            clock,
            key_encryption_key,
            previous_keys: Vec::new(),
            entropy: Arc::new(OsEntropy),
            writers: WRITERS_DEFAULT,
            readers: READERS_DEFAULT,
            statement_timeout: STATEMENT_TIMEOUT_DEFAULT,
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
