//! The signal that ends the tasks of a process.

/// Signals shutdown: work in progress completes, no new work begins.
pub type Stop = tokio::sync::watch::Receiver<bool>;
