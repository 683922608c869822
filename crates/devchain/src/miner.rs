//! Blocks at an interval. Nothing runs by itself: whoever opened the chain spawns the future.

use std::future::pending;
use std::pin::pin;

use domain::time::{Span, Timestamp};

use crate::DevChain;
use crate::disk::DiskFault;
use crate::options::Mining;

impl DevChain {
    /// When blocks are made from now on.
    pub fn set_mining(&self, mining: Mining) {
        self.change(|chain| chain.mining = mining);
        self.shared.mining_changed.notify_one();
    }

    /// Makes blocks at the interval that is set, until `stop` is ready. One caller at a time.
    ///
    /// A block is executed and written to the disk on the thread that polls this: milliseconds where little happens.
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
                        tracing::error!(%fault, "the embedded chain made no block");
                    }
                }
            }
        }
    }

    /// The mode is read under the lock that the block is made under: no block follows a change to another mode.
    fn mine_if_at_intervals(&self) -> Result<(), DiskFault> {
        let now = self.now();
        self.change(|chain| match chain.mining {
            Mining::Every(_) => chain.mine(now),
            Mining::Instant | Mining::ByHand => Ok(()),
        })
    }

    fn interval(&self) -> Option<Span> {
        match self.look(|chain| chain.mining) {
            Mining::Every(interval) => Some(Span(i64::try_from(interval.as_micros()).unwrap_or(i64::MAX))),
            Mining::Instant | Mining::ByHand => None,
        }
    }

    /// Keeps the beat; where it fell behind by more than one block, it begins anew.
    fn next_due(&self, last: Option<Timestamp>, interval: Span) -> Timestamp {
        let now = self.shared.clock.now();
        last.map(|last| last + interval).filter(|next| *next + interval >= now).unwrap_or(now + interval)
    }
}
