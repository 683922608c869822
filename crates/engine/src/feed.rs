//! Tells whoever follows a log, and idle workers, that a commit has brought something new. A hint only: everybody
//! reads the store, and looks by itself now and then for what other nodes wrote.

use tokio::sync::watch;

/// A counter that rises with every commit of this node.
#[derive(Clone, Debug)]
pub struct Feed {
    sender: std::sync::Arc<watch::Sender<u64>>,
}

impl Default for Feed {
    fn default() -> Feed {
        Feed { sender: std::sync::Arc::new(watch::channel(0).0) }
    }
}

impl Feed {
    /// Something was committed.
    pub fn announce(&self) {
        self.sender.send_modify(|count| *count += 1);
    }

    /// A receiver whose `changed()` completes after the next announcement.
    pub fn follow(&self) -> watch::Receiver<u64> {
        self.sender.subscribe()
    }
}
