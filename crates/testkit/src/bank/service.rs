//! The running bank: one core behind a lock, the task that executes due events, and the transports.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use domain::ports::{BoxFuture, Clock};
use domain::time::{Span, Timestamp};
use tokio::sync::{Notify, watch};
use tokio::task::JoinHandle;

use super::book::{BookFault, Journal};
use super::core::{
    BankCore, Behaviour, BookLine, BookTotals, Faults, Mistake, Outcome, Restored, Standing,
    SteerFault,
};
use super::directory::{self, DirectoryConfig};
use super::iso::Header;
use super::server;

/// Time for which the bank collects due events before it writes again.
const TICK_MILLIS: u64 = 3;
/// Pause before a book that could not be written is tried again.
const UNWRITTEN_RETRY_MILLIS: i64 = 200;
/// Time for open requests to end when the bank stops.
const STOP_MILLIS: u64 = 2_000;
/// Default time for which an answer is withheld before the connection closes: with the five seconds
/// to the first inquiry, less than the ten within which the bank is inquired again (`decisions.md`,
/// "Sandbox values").
const HANG_SECONDS: i64 = 4;

#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Timestamp(i64::try_from(since.as_micros()).unwrap_or(i64::MAX))
    }

    fn sleep_until(&self, until: Timestamp) -> BoxFuture<'static, ()> {
        let wait = until - self.now();
        Box::pin(tokio::time::sleep(wait.to_duration()))
    }
}

/// Configuration of a bank.
#[derive(Clone)]
pub struct BankConfig {
    pub behaviour: Behaviour,
    /// HTTP address (port 0: any); `None` disables HTTP.
    pub listen: Option<SocketAddr>,
    /// Rails served through a directory.
    pub directories: Vec<DirectoryConfig>,
    /// File of the book; `None` means in memory.
    pub book: Option<PathBuf>,
    /// Time for which an answer is withheld before the connection closes (`0006`).
    pub hang: Span,
    pub clock: Arc<dyn Clock>,
}

impl Default for BankConfig {
    /// The sandbox's timing, any port of 127.0.0.1, a book in memory.
    fn default() -> BankConfig {
        BankConfig {
            behaviour: Behaviour::default(),
            listen: Some(SocketAddr::from(([127, 0, 0, 1], 0))),
            directories: Vec::new(),
            book: None,
            hang: Span::secs(HANG_SECONDS),
            clock: Arc::new(SystemClock),
        }
    }
}

/// Reason why the bank cannot start or continue.
#[derive(Debug, thiserror::Error)]
pub enum BankFault {
    #[error(transparent)]
    Book(#[from] BookFault),
    /// The address cannot be bound.
    #[error("the simulated bank cannot listen on {address}: {source}")]
    Listen { address: SocketAddr, source: std::io::Error },
    /// A directory cannot be created.
    #[error("the simulated bank cannot use the directory {path}: {source}")]
    Directory { path: PathBuf, source: std::io::Error },
    /// It has stopped: on request, or because its book failed.
    #[error("the simulated bank has stopped")]
    Stopped,
}

pub(super) type Core = BankCore<Journal>;

/// State shared by the tasks.
pub(super) struct Shared {
    /// `None` once the bank has stopped: a bank whose book is damaged must not continue.
    core: Mutex<Option<Core>>,
    pub clock: Arc<dyn Clock>,
    pub hang: Span,
    /// Incremented for new reports.
    pub reported: watch::Sender<u64>,
    /// Whether connections are refused.
    pub down: watch::Sender<bool>,
    /// Whether the bank is stopping.
    pub stopping: watch::Sender<bool>,
    taken: Notify,
    started: Timestamp,
    messages: AtomicU64,
    /// Whether the book's last write failed.
    unwritten: AtomicBool,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Option<Core>> {
        self.core.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Works on the core and makes the result durable before returning it. While the book cannot be
    /// written (a full disk), nothing is answered, and what was taken in waits to be written; a
    /// damaged book stops the bank.
    pub fn with_core<T>(
        &self,
        work: impl FnOnce(&mut Core) -> Result<T, BookFault>,
    ) -> Result<T, BankFault> {
        let mut guard = self.lock();
        let core = guard.as_mut().ok_or(BankFault::Stopped)?;
        let result = work(core).and_then(|value| core.commit().map(|()| value));
        match &result {
            Ok(_) => {
                if self.unwritten.swap(false, Ordering::Relaxed) {
                    tracing::info!("simulated bank book is written again");
                }
            }
            Err(fault @ BookFault::File { .. }) => {
                if !self.unwritten.swap(true, Ordering::Relaxed) {
                    tracing::error!(%fault, "simulated bank book cannot be written, will retry");
                }
            }
            Err(fault) => {
                tracing::error!(%fault, "simulated bank book failed, stopping");
                *guard = None;
            }
        }
        Ok(result?)
    }

    /// Header of a new message.
    pub fn header(&self) -> Header {
        let number = self.messages.fetch_add(1, Ordering::Relaxed);
        Header { id: format!("SB-{:x}-{number:x}", self.started.0), created_at: self.clock.now() }
    }

    /// Current faults; none once the bank has stopped.
    pub fn faults(&self) -> Faults {
        self.lock().as_ref().map_or(Faults::NONE, |core| core.behaviour().faults)
    }

    /// Notifies the task of accepted or changed orders.
    pub fn wake(&self) {
        self.taken.notify_one();
    }

    /// Executes all due events; returns the next due time.
    fn tick(&self) -> Result<Option<Timestamp>, BankFault> {
        let now = self.clock.now();
        let (news, next) = self.with_core(|core| {
            let closed = core.close_due(now)?;
            Ok((closed || !core.due(now)?.is_empty(), core.next_due()))
        })?;
        if news {
            self.reported.send_modify(|count| *count += 1);
        }
        Ok(next)
    }
}

/// Completes when the bank stops.
pub(super) async fn stopped(mut stopping: watch::Receiver<bool>) {
    // The sender is in `Shared`, which every waiting task holds: it cannot be dropped first.
    let _gone = stopping.wait_for(|stop| *stop).await;
}

async fn run_ticks(shared: Arc<Shared>) {
    loop {
        let next = match shared.tick() {
            Ok(next) => next,
            Err(BankFault::Book(BookFault::File { .. })) => {
                shared.reported.send_modify(|count| *count += 1);
                Some(shared.clock.now() + Span::millis(UNWRITTEN_RETRY_MILLIS))
            }
            Err(_stopped) => return,
        };
        let due = async {
            match next {
                Some(at) => shared.clock.sleep_until(at).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = stopped(shared.stopping.subscribe()) => return,
            () = shared.taken.notified() => {}
            () = due => {}
        }
        tokio::time::sleep(Duration::from_millis(TICK_MILLIS)).await;
    }
}

/// The running bank. Dropping it stops it, without waiting; [`SimulatedBank::stop`] waits.
pub struct SimulatedBank {
    shared: Arc<Shared>,
    address: Option<SocketAddr>,
    tasks: Vec<JoinHandle<()>>,
}

impl SimulatedBank {
    /// Opens the book and starts to serve.
    pub async fn start(config: BankConfig) -> Result<SimulatedBank, BankFault> {
        let now = config.clock.now();
        let (journal, restored) = match &config.book {
            Some(path) => Journal::open(path, now)?,
            None => (Journal::in_memory(), Restored::empty(now)),
        };
        let down = config.behaviour.faults.down;
        let core = BankCore::resume(config.behaviour, journal, restored);
        let shared = Arc::new(Shared {
            core: Mutex::new(Some(core)),
            clock: config.clock,
            hang: config.hang,
            reported: watch::Sender::new(0),
            down: watch::Sender::new(down),
            stopping: watch::Sender::new(false),
            taken: Notify::new(),
            started: now,
            messages: AtomicU64::new(0),
            unwritten: AtomicBool::new(false),
        });
        let mut bank =
            SimulatedBank { shared: Arc::clone(&shared), address: None, tasks: Vec::new() };
        if let Some(address) = config.listen {
            let (address, task) = server::listen(Arc::clone(&shared), address).await?;
            bank.address = Some(address);
            bank.tasks.push(task);
        }
        for directory in config.directories {
            bank.tasks.push(directory::watch(Arc::clone(&shared), directory)?);
        }
        bank.tasks.push(tokio::spawn(run_ticks(shared)));
        Ok(bank)
    }

    /// Address of the HTTP server.
    pub fn address(&self) -> Option<SocketAddr> {
        self.address
    }

    /// The base URL of a rail, without a trailing slash.
    pub fn url(&self, rail: &str) -> Option<String> {
        self.address.map(|address| format!("http://{address}/{rail}"))
    }

    /// The book's lines for an EndToEndId, of all rails, oldest first.
    pub fn book(&self, end_to_end_id: &str) -> Result<Vec<BookLine>, BankFault> {
        self.shared.with_core(|core| core.lines(end_to_end_id))
    }

    /// Totals of the book.
    pub fn book_totals(&self) -> Result<BookTotals, BankFault> {
        self.shared.with_core(|core| Ok(core.totals().clone()))
    }

    /// Ends the newest order of an EndToEndId with this outcome, now.
    pub fn steer(
        &self,
        end_to_end_id: &str,
        outcome: Outcome,
    ) -> Result<Standing, SteerFault<BankFault>> {
        let now = self.shared.clock.now();
        let result = self.shared.with_core(|core| match core.steer(end_to_end_id, outcome, now) {
            Err(SteerFault::Book(fault)) => Err(fault),
            other => Ok(other),
        });
        match result.map_err(SteerFault::Book)? {
            Ok(standing) => {
                self.shared.reported.send_modify(|count| *count += 1);
                Ok(standing)
            }
            Err(SteerFault::Illegal { status, wanted, legal }) => {
                Err(SteerFault::Illegal { status, wanted, legal })
            }
            Err(SteerFault::NotFound) => Err(SteerFault::NotFound),
            Err(SteerFault::Book(fault)) => Err(SteerFault::Book(fault.into())),
        }
    }

    /// Ends the period of every account now and sends its statement; the one with the booking of
    /// the mistake's EndToEndId contains the mistake. `false` means that this id has no booking
    /// since the last statements, and no statement was made.
    pub fn close_statements(&self, mistake: Option<(Mistake, &str)>) -> Result<bool, BankFault> {
        let now = self.shared.clock.now();
        let closed = self.shared.with_core(|core| core.close_statements(now, mistake))?;
        self.shared.reported.send_modify(|count| *count += 1);
        Ok(closed)
    }

    pub fn faults(&self) -> Faults {
        self.shared.faults()
    }

    /// Changes the faults from now on; accepted orders keep their outcome.
    pub fn set_faults(&self, faults: Faults) -> Result<(), BankFault> {
        self.shared.with_core(|core| {
            core.set_faults(faults);
            Ok(())
        })?;
        self.shared.down.send_replace(faults.down);
        Ok(())
    }

    /// Ends open requests, closes the book and waits until everything has stopped.
    pub async fn stop(mut self) {
        self.shared.stopping.send_replace(true);
        for mut task in std::mem::take(&mut self.tasks) {
            if tokio::time::timeout(Duration::from_millis(STOP_MILLIS), &mut task).await.is_err() {
                task.abort();
            }
        }
        *self.shared.lock() = None;
    }
}

impl Drop for SimulatedBank {
    fn drop(&mut self) {
        self.shared.stopping.send_replace(true);
    }
}
