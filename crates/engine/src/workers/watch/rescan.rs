//! Executes rescan requests, a part in each round, so that new blocks never wait for old ones.

use std::collections::BTreeMap;

use domain::chain::ChainFault;
use domain::time::{Span, Timestamp};
use domain::wallet_effects::AlertKind;
use uuid::Uuid;

use super::{RangeSize, Trouble, Watch};
use crate::rescan::{self, Report, Target, Wish};

/// Blocks that the nodes do not return for this long end the request: nodes that deleted their
/// history never will, and the next request waits.
const PATIENCE: Span = Span::mins(10);
/// Interval at which new requests are looked up.
const LOOK_FOR_WISHES_EVERY: Span = Span::secs(1);

/// Requests that could not begin yet: since when, and when that was last tried.
#[derive(Debug, Default)]
pub(super) struct Unbegun(BTreeMap<Uuid, (Timestamp, Timestamp)>);

impl Unbegun {
    /// The request to begin next: the oldest that has not failed to begin, else the one that was
    /// tried longest ago.
    fn next(&mut self, wishes: &[Wish]) -> Option<Wish> {
        self.0.retain(|id, _| wishes.iter().any(|wish| wish.id == *id));
        wishes.iter().min_by_key(|wish| self.0.get(&wish.id).map(|(_, tried)| *tried)).copied()
    }

    /// Whether there is one that has not failed to begin.
    fn leaves_any(&self, wishes: &[Wish]) -> bool {
        wishes.iter().any(|wish| !self.0.contains_key(&wish.id))
    }

    /// The nodes do not return what the request needs to begin. `true` = it is given up.
    fn failed(&mut self, wish: Uuid, now: Timestamp) -> bool {
        let (since, tried) = self.0.entry(wish).or_insert((now, now));
        *tried = now;
        now - *since >= PATIENCE
    }
}

/// A request and its progress.
#[derive(Debug)]
pub(super) struct Progress {
    wish: Wish,
    /// The remaining blocks, inclusive.
    left: Option<(u64, u64)>,
    /// Maximum number of blocks of the next part.
    range: RangeSize,
    blocks: usize,
    found: usize,
    /// Since when the nodes have not returned the next block.
    failing_since: Option<Timestamp>,
    /// What was not scanned.
    trouble: String,
}

impl Progress {
    /// The nodes do not return the next block. Ends the request after a while.
    fn failed(&mut self, why: &str, now: Timestamp) {
        let since = *self.failing_since.get_or_insert(now);
        if let Some((from, end)) = self.left.filter(|_| now - since >= PATIENCE) {
            self.left = None;
            self.trouble = format!("blocks {from} to {end} were not scanned: {why}");
        }
    }
}

impl Watch<'_> {
    /// Executes a part of the rescan in progress; returns whether the next part can follow at once.
    pub(super) async fn go_on_rescanning(&mut self) -> Result<bool, Trouble> {
        let mut progress = match self.memory.rescan.take() {
            Some(progress) => progress,
            None => {
                let now = self.workers.clock().now();
                if self.memory.looked_for_wishes.is_some_and(|at| now - at < LOOK_FOR_WISHES_EVERY)
                {
                    return Ok(false);
                }
                self.memory.looked_for_wishes = Some(now);
                let wishes = rescan::wishes(&self.workers.store, self.number()).await?;
                let Some(wish) = self.memory.unbegun.next(&wishes) else { return Ok(false) };
                match self.begin(wish).await {
                    Ok(Ok(progress)) => progress,
                    Ok(Err(trouble)) => {
                        return self.report(wish, (0, 0), trouble).await.map(|()| true);
                    }
                    Err(Trouble::Chain(fault)) => {
                        self.not_begun(wish, &fault, now).await?;
                        let goes_on = self.memory.unbegun.leaves_any(&wishes);
                        if goes_on {
                            self.memory.looked_for_wishes = None;
                        }
                        return Ok(goes_on);
                    }
                    Err(trouble) => return Err(trouble),
                }
            }
        };
        let before = (progress.left, progress.range);
        let done = match self.part(&mut progress).await {
            Err(Trouble::Chain(fault)) => {
                tracing::warn!(%fault, target = %progress.wish.target, "block rescan failed, will retry");
                progress.failed(&fault.to_string(), self.workers.clock().now());
                Ok(())
            }
            done => done,
        };
        if done.is_ok() && progress.left.is_none() {
            // There may be another one.
            self.memory.looked_for_wishes = None;
            if progress.failing_since.is_some() {
                self.alert_given_up(progress.wish, &progress.trouble).await;
            }
            self.report(progress.wish, (progress.blocks, progress.found), progress.trouble).await?;
            return Ok(true);
        }
        // A part that failed is retried in a later round.
        let goes_on = (progress.left, progress.range) != before;
        self.memory.rescan = Some(progress);
        done.map(|()| goes_on)
    }

    /// The nodes do not return what a request needs to begin: others come first, and after a while
    /// it is given up.
    async fn not_begun(
        &mut self,
        wish: Wish,
        fault: &ChainFault,
        now: Timestamp,
    ) -> Result<(), Trouble> {
        tracing::warn!(%fault, target = %wish.target, "block rescan could not begin, will retry");
        if !self.memory.unbegun.failed(wish.id, now) {
            return Ok(());
        }
        let trouble = format!("it could not begin: {fault}");
        self.alert_given_up(wish, &trouble).await;
        self.report(wish, (0, 0), trouble).await
    }

    async fn alert_given_up(&self, wish: Wish, trouble: &str) {
        let what = format!("the rescan of {} was given up: {trouble}", wish.target);
        self.workers.alert_everybody(self.number(), AlertKind::ChainNode, &what).await;
    }

    async fn report(
        &self,
        wish: Wish,
        (blocks, found): (usize, usize),
        trouble: String,
    ) -> Result<(), Trouble> {
        let at = self.workers.clock().now();
        tracing::info!(target = %wish.target, blocks, found, trouble, "block rescan finished");
        let report = Report { wish: wish.id, target: wish.target, at, blocks, found, trouble };
        Ok(rescan::fulfil(&self.workers.store, self.number(), &report).await?)
    }

    /// The blocks to rescan; `Err` = none, and why.
    async fn begin(&mut self, wish: Wish) -> Result<Result<Progress, String>, Trouble> {
        let Some(tip) = self.tip else {
            return Ok(Err("no block has been ingested yet".to_owned()));
        };
        let late =
            "its block has not been ingested yet: it will be found with that block".to_owned();
        let mut trouble = String::new();
        let left = match wish.target {
            Target::Tx(tx) => match self.chain.receipt(tx, &[]).await? {
                None => return Ok(Err("no node has this transaction in a block".to_owned())),
                Some(receipt) if receipt.block_number > tip.number => return Ok(Err(late)),
                Some(receipt) => (receipt.block_number, receipt.block_number),
            },
            Target::Vault(vault) => {
                let known = self.workers.store.watched(&[vault]).await?;
                if !known.iter().any(|known| known.chain == self.number()) {
                    let why = "the address belongs to no wallet or payment request on this chain";
                    return Ok(Err(why.to_owned()));
                }
                let since = self.workers.store.first_wallet_at(self.number()).await?;
                let (first, is_all) = self.block_before(&tip, since).await?;
                if !is_all {
                    trouble = format!(
                        "the nodes do not return the blocks below {} since the first wallet",
                        first.number
                    );
                }
                (first.number, tip.number)
            }
            Target::Blocks(from, _) if from > tip.number => return Ok(Err(late)),
            Target::Blocks(from, to) => (from, to.min(tip.number)),
        };
        Ok(Ok(Progress {
            wish,
            left: Some(left),
            range: RangeSize::default(),
            blocks: 0,
            found: 0,
            failing_since: None,
            trouble,
        }))
    }

    /// Newest blocks first: they are the likelier ones, and nodes that deleted old blocks have them.
    async fn part(&mut self, progress: &mut Progress) -> Result<(), Trouble> {
        let Some((first, to)) = progress.left else { return Ok(()) };
        let from = first.max(to.saturating_sub(progress.range.blocks - 1));
        let blocks: Result<Vec<u64>, Trouble> = match progress.wish.target {
            Target::Tx(_) => Ok(vec![to]),
            // One block is read in any case: something of it may have been put aside.
            Target::Blocks(first, last) if first == last => Ok(vec![to]),
            Target::Vault(vault) => {
                self.chain.blocks_paying(vault, from, to).await.map_err(Trouble::from)
            }
            Target::Blocks(..) => match self.chain.logs_in(from, to, &[]).await {
                Ok(logs) => {
                    self.differing(from, to, &logs).await.map(|blocks| blocks.into_iter().collect())
                }
                Err(fault) => Err(fault.into()),
            },
        };
        let blocks = match blocks {
            Err(Trouble::Chain(ChainFault::TooMuch)) if progress.range.blocks > 1 => {
                progress.range.halve();
                return Ok(());
            }
            other => other?,
        };
        for number in blocks.into_iter().rev() {
            progress.left = Some((first, number));
            let Some(found) = self.read_block_of_all(number).await? else {
                progress.failed("too few nodes have them", self.workers.clock().now());
                return Ok(());
            };
            progress.failing_since = None;
            progress.blocks += 1;
            progress.found += found;
        }
        progress.failing_since = None;
        progress.range.grow();
        progress.left = from.checked_sub(1).filter(|next| *next >= first).map(|to| (first, to));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_that_cannot_begin_gives_way_and_ends_after_ten_minutes() {
        let wish = |id| Wish { id: Uuid::from_u128(id), target: Target::Blocks(5, 9) };
        let at = |minutes| Timestamp(0) + Span::mins(minutes);
        let (wishes, mut unbegun) = ([wish(1), wish(2)], Unbegun::default());
        assert_eq!(unbegun.next(&wishes), Some(wish(1)));
        assert!(!unbegun.failed(wish(1).id, at(0)));
        assert!(unbegun.leaves_any(&wishes) && !unbegun.leaves_any(&wishes[..1]));
        assert_eq!(unbegun.next(&wishes), Some(wish(2)), "it gives way");
        assert!(!unbegun.failed(wish(2).id, at(1)));
        assert_eq!(unbegun.next(&wishes), Some(wish(1)), "they take turns");
        assert!(!unbegun.failed(wish(1).id, at(9)));
        assert_eq!(unbegun.next(&wishes), Some(wish(2)));
        assert!(unbegun.failed(wish(1).id, at(10)), "it is given up");
        assert_eq!(unbegun.next(&[]), None);
        assert!(unbegun.0.is_empty(), "what is fulfilled is forgotten");
    }

    #[test]
    fn blocks_that_the_nodes_do_not_return_for_ten_minutes_end_a_request() {
        let wish = Wish { id: uuid::Uuid::nil(), target: Target::Blocks(5, 9) };
        let mut progress = Progress {
            wish,
            left: Some((5, 8)),
            range: RangeSize::default(),
            blocks: 1,
            found: 0,
            failing_since: None,
            trouble: String::new(),
        };
        let at = |minutes| Timestamp(0) + Span::mins(minutes);
        for minutes in [1, 10] {
            progress.failed("too few nodes have them", at(minutes));
            assert_eq!((progress.left, progress.trouble.as_str()), (Some((5, 8)), ""));
        }
        progress.failed("too few nodes have them", at(11));
        let trouble = "blocks 5 to 8 were not scanned: too few nodes have them";
        assert_eq!((progress.left, progress.trouble.as_str()), (None, trouble));
    }
}
