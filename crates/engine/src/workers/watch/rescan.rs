//! Executes rescan requests, a part in each round, so that new blocks never wait for old ones.

use domain::chain::ChainFault;
use domain::time::Span;

use super::{RANGE_MAX, Trouble, Watch};
use crate::rescan::{self, Report, Target, Wish};

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
        let done = self.part(&mut progress).await;
        if done.is_ok() && progress.left.is_none() {
            // There may be another one.
            self.memory.looked_for_wishes = None;
            self.report(progress.wish, (progress.blocks, progress.found), String::new()).await?;
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
                let first = self.block_before(&tip, since).await?;
                (first.map_or(tip.number, |first| first.number), tip.number)
            }
            Target::Blocks(from, _) if from > tip.number => return Ok(Err(late)),
            Target::Blocks(from, to) => (from, to.min(tip.number)),
        };
        Ok(Ok(Progress { wish, left: Some(left), range: RANGE_MAX, blocks: 0, found: 0 }))
    }

    async fn part(&mut self, progress: &mut Progress) -> Result<(), Trouble> {
        let Some((from, end)) = progress.left else { return Ok(()) };
        let to = end.min(from.saturating_add(progress.range - 1));
        let blocks: Result<Vec<u64>, Trouble> = match progress.wish.target {
            Target::Tx(_) => Ok(vec![from]),
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
        for number in blocks {
            let Some(found) = self.read_block_of_all(number).await? else {
                // Too few nodes have it now.
                progress.left = Some((number, end));
                return Ok(());
            };
            progress.blocks += 1;
            progress.found += found;
        }
        progress.left = to.checked_add(1).filter(|next| *next <= end).map(|next| (next, end));
        Ok(())
    }
}
