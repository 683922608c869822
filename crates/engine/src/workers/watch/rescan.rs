//! Fulfils wishes to look through blocks again, a part in each round, so that new blocks never wait for old ones.

use domain::chain::ChainFault;
use domain::time::Span;

use super::{RANGE_MAX, Trouble, Watch};
use crate::rescan::{self, Report, Target, Wish};

/// How often wishes are looked for where none is being fulfilled.
const LOOK_FOR_WISHES_EVERY: Span = Span::secs(1);

/// A wish, and how far it is fulfilled.
#[derive(Debug)]
pub(super) struct Progress {
    wish: Wish,
    /// What is still to be looked through, both included.
    left: Option<(u64, u64)>,
    /// Blocks of the next part at most.
    range: u64,
    blocks: usize,
    found: usize,
}

impl Watch<'_> {
    /// Does a part of the rescan under way; whether the next part can be done at once.
    pub(super) async fn go_on_rescanning(&mut self) -> Result<bool, Trouble> {
        let mut progress = match self.memory.rescan.take() {
            Some(progress) => progress,
            None => {
                let now = self.workers.clock().now();
                if self.memory.looked_for_wishes.is_some_and(|at| now - at < LOOK_FOR_WISHES_EVERY) {
                    return Ok(false);
                }
                self.memory.looked_for_wishes = Some(now);
                let Some(wish) = rescan::wishes(&self.workers.store).await?.first().copied() else { return Ok(false) };
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
        // A part that could not be done is done in a later round.
        let goes_on = (progress.left, progress.range) != before;
        self.memory.rescan = Some(progress);
        done.map(|()| goes_on)
    }

    async fn report(&self, wish: Wish, (blocks, found): (usize, usize), trouble: String) -> Result<(), Trouble> {
        let at = self.workers.clock().now();
        tracing::info!(target = %wish.target, blocks, found, trouble, "blocks were looked through again");
        Ok(rescan::fulfil(&self.workers.store, &Report { wish: wish.id, at, blocks, found, trouble }).await?)
    }

    /// What is to be looked through; `Err` = nothing is, and why.
    async fn begin(&mut self, wish: Wish) -> Result<Result<Progress, String>, Trouble> {
        let Some(tip) = self.tip else { return Ok(Err("no block was taken in yet".to_owned())) };
        let late = "it is in a block that is not taken in yet: it is found with that".to_owned();
        let left = match wish.target {
            Target::Tx(tx) => match self.chain.receipt(tx, &[]).await? {
                None => return Ok(Err("no node has this transaction in a block".to_owned())),
                Some(receipt) if receipt.block_number > tip.number => return Ok(Err(late)),
                Some(receipt) => (receipt.block_number, receipt.block_number),
            },
            Target::Vault(vault) => {
                let known = self.workers.store.watched(&[vault]).await?;
                if known.is_empty() {
                    return Ok(Err("it is the address of no wallet and no payment request".to_owned()));
                }
                let since = self.workers.store.first_wallet_at().await?;
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
            Target::Vault(vault) => self.chain.blocks_paying(vault, from, to).await.map_err(Trouble::from),
            Target::Blocks(..) => match self.chain.logs_in(from, to, &[]).await {
                Ok(logs) => self.differing(from, to, &logs).await.map(|blocks| blocks.into_iter().collect()),
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
