//! A thread of its own for the engine and its connections to PostgreSQL. When the database has
//! answered a batch, the next decision runs immediately: it does not queue behind the requests
//! released by the last batch while the tenant's rows are locked.

use tokio::runtime::{Builder, Handle, Runtime};

/// The thread; it ends when this value is dropped.
pub(super) struct EngineRoom {
    handle: Handle,
    runtime: Option<Runtime>,
}

impl EngineRoom {
    pub(super) fn open() -> std::io::Result<EngineRoom> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("engine")
            .enable_all()
            .build()?;
        Ok(EngineRoom { handle: runtime.handle().clone(), runtime: Some(runtime) })
    }

    pub(super) const fn handle(&self) -> &Handle {
        &self.handle
    }
}

impl Drop for EngineRoom {
    fn drop(&mut self) {
        // Must not block: it is dropped on a runtime thread.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}
