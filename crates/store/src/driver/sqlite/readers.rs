//! Reader connections of a database file, each used by one blocking thread at a time. They never
//! wait for the writer.

use std::sync::{Arc, Mutex, PoisonError};

use domain::time::Span;
use rusqlite::Connection;
use tokio::sync::Semaphore;

use super::connection;
use crate::error::DbError;
use crate::options::Options;

pub(super) struct Readers {
    path: String,
    timeout: Span,
    idle: Arc<Mutex<Vec<Connection>>>,
    permits: Semaphore,
}

impl Readers {
    pub(super) fn new(path: &str, options: &Options) -> Readers {
        Readers {
            path: path.to_owned(),
            timeout: options.statement_timeout,
            idle: Arc::default(),
            permits: Semaphore::new(options.readers.max(1)),
        }
    }

    /// Runs `work` on a reader connection.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Connection) -> Result<T, DbError> + Send + 'static,
    ) -> Result<T, DbError> {
        let closed = |_| DbError::Unavailable("the readers are closed".to_owned());
        let _permit = self.permits.acquire().await.map_err(closed)?;
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let (path, timeout, home) = (self.path.clone(), self.timeout, Arc::clone(&self.idle));
        let read = move || {
            let mut connection = match idle {
                Some(connection) => connection,
                None => connection::open_reader(&path, timeout)?,
            };
            let result = work(&mut connection);
            home.lock().unwrap_or_else(PoisonError::into_inner).push(connection);
            result
        };
        tokio::task::spawn_blocking(read).await.unwrap_or_else(|error| {
            Err(DbError::Unavailable(format!("a read was interrupted: {error}")))
        })
    }
}
