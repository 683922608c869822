//! Blocks at an interval. Nothing runs automatically: the owner of the chain spawns the future.

use std::future::pending;
use std::pin::pin;

use domain::time::{Span, Timestamp};

use crate::DevChain;
use crate::disk::DiskFault;
use crate::options::Mining;

impl DevChain {
    /// Changes the mining mode.
    pub fn set_mining(&self, mining: Mining) {
        self.change(|chain| chain.mining = mining);
        self.shared.mining_changed.notify_one();
    }

    /// Mines blocks at the configured interval until `stop` is ready. One caller at a time.
    ///
    /// A block is executed and written to disk on the polling thread, usually within milliseconds.
    pub async fn mine_forever(&self, stop: impl Future<Output = ()>) {
        let mut stop = pin!(stop);
        let mut due: Option<Timestamp> = None;
        loop {
            let interval = self.interval();
            let next = interval.map(|interval| self.next_due(due, interval));
            let wait = async {
                match next {
                    Some(next) => self.shared.clock.sleep_until(next).await,
                    None => pending().await,
                }
            };
            tokio::select! {
                () = &mut stop => return,
                () = self.shared.mining_changed.notified() => due = None,
                () = wait => {
                    due = next;
                    if let Err(fault) = self.mine_if_at_intervals() {
                        tracing::error!(%fault, "mining a block of the embedded chain failed");
                    }
                }
            }
        }
    }

    /// The mode is read under the lock that mining holds: no block follows a change to another
    /// mode.
    fn mine_if_at_intervals(&self) -> Result<(), DiskFault> {
        let now = self.now();
        self.change(|chain| match chain.mining {
            Mining::Every(_) => chain.mine(now),
            Mining::Instant | Mining::ByHand => Ok(()),
        })
    }

    fn interval(&self) -> Option<Span> {
        match self.look(|chain| chain.mining) {
            Mining::Every(interval) => {
                Some(Span(i64::try_from(interval.as_micros()).unwrap_or(i64::MAX)))
            }
            Mining::Instant | Mining::ByHand => None,
        }
    }

    /// Keeps the interval; restarts it after falling more than one block behind.
    fn next_due(&self, last: Option<Timestamp>, interval: Span) -> Timestamp {
        let now = self.shared.clock.now();
        last.map(|last| last + interval)
            .filter(|next| *next + interval >= now)
            .unwrap_or(now + interval)
    }
}
