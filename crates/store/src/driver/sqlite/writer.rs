//! The thread that owns a database file's only writing connection.

use rusqlite::Connection;
use tokio::sync::{mpsc, oneshot};

use crate::error::{DbError, StoreError};

/// Transactions queued for the writer; beyond them callers wait.
const WAITING_MAX: usize = 64;

type Work = Box<dyn FnOnce(&mut Connection) + Send>;

/// The channel to the writer's thread, which ends when this is dropped and its work is done.
pub(super) struct Writer {
    work: mpsc::Sender<Work>,
}

/// A result that the writer thread will send.
pub(super) struct Pending<T>(oneshot::Receiver<Result<T, DbError>>);

impl<T> Pending<T> {
    /// Returns the work's result.
    pub(super) async fn end(self) -> Result<T, DbError> {
        // The sender is dropped unused only if the work panicked, possibly while committing.
        self.0.await.unwrap_or_else(|_| {
            Err(DbError::InDoubt("the writer's work was interrupted".to_owned()))
        })
    }
}

impl Writer {
    pub(super) fn start(mut connection: Connection) -> Result<Writer, StoreError> {
        let (work, mut waiting) = mpsc::channel::<Work>(WAITING_MAX);
        let run = move || {
            while let Some(work) = waiting.blocking_recv() {
                // A panic in one piece of work has rolled its transaction back; the next one finds
                // a clean connection.
                let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                    work(&mut connection)
                }));
                if done.is_err() {
                    tracing::error!("transaction panicked, rolled back");
                }
            }
        };
        let thread = std::thread::Builder::new().name("sqlite-writer".to_owned());
        thread.spawn(run).map_err(|error| {
            StoreError::Unavailable(format!("writer thread could not be started: {error}"))
        })?;
        Ok(Writer { work })
    }

    /// Submits work; returns once it is queued, not when it is done.
    pub(super) async fn submit<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Connection) -> Result<T, DbError> + Send + 'static,
    ) -> Result<Pending<T>, DbError> {
        let (done, pending) = oneshot::channel();
        // The caller may be gone.
        let work: Work = Box::new(move |connection| _ = done.send(work(connection)));
        self.work
            .send(work)
            .await
            .map_err(|_| DbError::Unavailable("the writer's thread has ended".to_owned()))?;
        Ok(Pending(pending))
    }

    /// Submits work and waits for its result.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Connection) -> Result<T, DbError> + Send + 'static,
    ) -> Result<T, DbError> {
        self.submit(work).await?.end().await
    }
}
