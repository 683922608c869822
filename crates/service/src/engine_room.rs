//! A thread of its own for the engine and for its connections to PostgreSQL. A batch that has been answered by the database
//! is decided at once: it does not queue behind the requests that the last batch let go, while the tenant's rows are locked.

use tokio::runtime::{Builder, Handle, Runtime};

/// The thread; it ends when this is dropped.
pub(super) struct EngineRoom {
    handle: Handle,
    runtime: Option<Runtime>,
}

impl EngineRoom {
    pub(super) fn open() -> std::io::Result<EngineRoom> {
        let runtime = Builder::new_multi_thread().worker_threads(1).thread_name("engine").enable_all().build()?;
        Ok(EngineRoom { handle: runtime.handle().clone(), runtime: Some(runtime) })
    }

    pub(super) const fn handle(&self) -> &Handle {
        &self.handle
    }
}

impl Drop for EngineRoom {
    fn drop(&mut self) {
        // Nobody may wait here: it is dropped among tasks of others.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}
