//! Executes rescan requests, a part in each round, so that new blocks never wait for old ones.

use domain::chain::ChainFault;
use domain::time::{Span, Timestamp};

use super::{RANGE_MAX, Trouble, Watch, grown};
use crate::rescan::{self, Report, Target, Wish};

/// Blocks that the nodes do not return for this long end the request: nodes that deleted their
/// history never will, and the next request waits.
const PATIENCE: Span = Span::mins(10);
/// Interval at which new requests are looked up.
const LOOK_FOR_WISHES_EVERY: Span = Span::secs(1);

/// A request and its progress.
#[derive(Debug)]
pub(super) struct Progress {
    wish: Wish,
    /// The remaining blocks, inclusive.
    left: Option<(u64, u64)>,
    /// Maximum number of blocks of the next part.
    range: u64,
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
                let Some(wish) =
                    rescan::wishes(&self.workers.store, self.number()).await?.first().copied()
                else {
                    return Ok(false);
                };
                match self.begin(wish).await? {
                    Ok(progress) => progress,
                    Err(trouble) => return self.report(wish, (0, 0), trouble).await.map(|()| true),
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
            self.report(progress.wish, (progress.blocks, progress.found), progress.trouble).await?;
            return Ok(true);
        }
        // A part that failed is retried in a later round.
        let goes_on = (progress.left, progress.range) != before;
        self.memory.rescan = Some(progress);
        done.map(|()| goes_on)
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
            range: RANGE_MAX,
            blocks: 0,
            found: 0,
            failing_since: None,
            trouble,
        }))
    }

    /// Newest blocks first: they are the likelier ones, and nodes that deleted old blocks have them.
    async fn part(&mut self, progress: &mut Progress) -> Result<(), Trouble> {
        let Some((first, to)) = progress.left else { return Ok(()) };
        let from = first.max(to.saturating_sub(progress.range - 1));
        let blocks: Result<Vec<u64>, Trouble> = match progress.wish.target {
            Target::Tx(_) => Ok(vec![to]),
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
            Err(Trouble::Chain(ChainFault::TooMuch)) if progress.range > 1 => {
                progress.range /= 2;
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
        (progress.failing_since, progress.range) = (None, grown(progress.range));
        progress.left = from.checked_sub(1).filter(|next| *next >= first).map(|to| (first, to));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_that_the_nodes_do_not_return_for_ten_minutes_end_a_request() {
        let wish = Wish { id: uuid::Uuid::nil(), target: Target::Blocks(5, 9) };
        let mut progress = Progress {
            wish,
            left: Some((5, 8)),
            range: RANGE_MAX,
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
