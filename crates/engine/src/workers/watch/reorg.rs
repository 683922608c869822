//! Reorganizations: return to the last block still in the chain and undo everything above it.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use domain::chain::{Block, BlockAt, ChainFault};
use domain::chain_tx::{BlockRef, ChainTx};
use domain::deposit::Deposit;
use domain::wallet_effects::AlertKind;
use futures_util::future::join_all;
use futures_util::{StreamExt as _, stream};

use super::{Trouble, Watch};
use crate::command::Action;
use crate::command::chain::{ChainAction, TxKey};
use crate::command::deposits::DepositAction;

/// Store key of the height that an unfinished rewind returns to; empty = none is unfinished.
const REWINDING: &str = "chain.rewinding";

/// Recorded blocks read at once in search of an ancestor.
const PLACES_AT_ONCE: usize = 64;
/// Concurrent queries about recorded blocks.
const ASKED_AT_ONCE: usize = 64;

impl Watch<'_> {
    /// Finishes a rewind that another holder of the role, or a fault, cut short. The chain may have
    /// returned to the blocks above its ancestor since: what was undone there is found again
    /// only if they are ingested again.
    pub(super) async fn finish_rewind(&mut self) -> Result<(), Trouble> {
        let kept = self.workers.store.meta(&self.number().key(REWINDING)).await?;
        if let Some(kept) = kept.and_then(|text| text.parse::<u64>().ok()) {
            tracing::warn!(ancestor = kept, "unfinished chain reorganization resumed");
            self.undo_above(kept).await?;
        }
        self.memory.is_rewound = true;
        Ok(())
    }

    pub(super) async fn kept_headers(&self) -> Result<Vec<Block>, Trouble> {
        Ok(self.workers.store.chain_headers(self.number(), usize::MAX).await?)
    }

    /// Walks back to the common ancestor and undoes everything above it.
    pub(super) async fn rewind(&mut self) -> Result<(), Trouble> {
        let headers = self.kept_headers().await?;
        let mut ancestor = None;
        for header in &headers {
            let there = self.chain.block(BlockAt::Number(header.number)).await?;
            if there.is_some_and(|there| there.hash == header.hash) {
                ancestor = Some(header.number);
                break;
            }
            // Nothing is undone on one node's word.
            if there.is_some() && !self.chain.is_gone(header).await? {
                let what = format!("too few nodes say that block {} was replaced", header.number);
                return Err(ChainFault::Unreachable(what).into());
            }
        }
        let oldest = headers.last().map_or(0, |header| header.number);
        let kept = match ancestor {
            Some(ancestor) => ancestor,
            None => self.ancestor_below(oldest).await?,
        };
        let tip = headers.first().map_or(0, |header| header.number);
        let depth = tip.saturating_sub(kept);
        tracing::warn!(depth, ancestor = kept, "chain reorganization detected");
        let name = self.wallets.config.name.clone();
        metrics::counter!("corridor_chain_reorgs_total", "chain" => name).increment(1);
        let key = self.number().key(REWINDING);
        self.workers.store.set_meta_as(&self.role, &key, &kept.to_string()).await?;
        if ancestor.is_none() {
            let what = format!(
                "a reorganization reaches below block {oldest}, the oldest one tracked: what the chain has above block {kept} is ingested again"
            );
            self.workers.alert_everybody(self.number(), AlertKind::DeepReorg, &what).await;
        }
        self.undo_above(kept).await
    }

    /// No stored header is in the chain: returns the highest block below them that is, and in which
    /// something is recorded, or else the one below all that are recorded. Nothing that the books have
    /// is between the two.
    async fn ancestor_below(&self, oldest: u64) -> Result<u64, Trouble> {
        let mut lowest = oldest;
        loop {
            let places =
                self.workers.store.places_below(self.number(), lowest, PLACES_AT_ONCE).await?;
            let Some(last) = places.last() else { return self.ancestor_of_txs(lowest).await };
            // If the lowest one is gone, so are those above it.
            if !self.is_replaced(*last).await? {
                for place in &places {
                    if !self.is_replaced(*place).await? {
                        return Ok(place.number);
                    }
                }
            }
            lowest = last.number;
        }
    }

    /// The same by our transactions alone.
    async fn ancestor_of_txs(&self, lowest: u64) -> Result<u64, Trouble> {
        let txs = self.workers.store.chain_txs_from_height(self.number(), 0).await?;
        let places = txs.iter().filter_map(|tx| Some(tx.mined.as_ref()?.place));
        let mut places: Vec<BlockRef> = places.filter(|place| place.number < lowest).collect();
        places.sort_unstable_by_key(|place| Reverse(place.number));
        for place in &places {
            if !self.is_replaced(*place).await? {
                return Ok(place.number);
            }
        }
        Ok(places.last().map_or(lowest, |place| place.number).saturating_sub(1))
    }

    /// Whether a block is no longer in the chain: nothing is undone on one node's word.
    async fn is_replaced(&self, place: BlockRef) -> Result<bool, Trouble> {
        let number = place.number;
        let Some(there) = self.chain.block(BlockAt::Number(number)).await? else {
            let what = format!("no node has block {number}, which may have been replaced");
            return Err(ChainFault::Unreachable(what).into());
        };
        if there.hash == place.block {
            return Ok(false);
        }
        if !self.chain.is_gone(&Block { hash: place.block, ..there }).await? {
            let what = format!("too few nodes say that block {number} was replaced");
            return Err(ChainFault::Unreachable(what).into());
        }
        Ok(true)
    }

    /// Deposits and transactions are notified first, contracts with events there are queried again,
    /// then the headers are deleted. Of what is recorded above the ancestor and below the next stored
    /// header, the blocks that are still in the chain stay.
    async fn undo_above(&mut self, kept: u64) -> Result<(), Trouble> {
        let deposits = self.workers.store.deposits_from_height(self.number(), kept + 1).await?;
        let txs = self.workers.store.chain_txs_from_height(self.number(), kept + 1).await?;
        let headers = self.kept_headers().await?;
        let gone = headers.iter().map(|header| header.number).filter(|it| *it > kept).min();
        let places = deposits.iter().filter_map(|deposit| deposit.place);
        let places = places.chain(txs.iter().filter_map(|tx| Some(tx.mined.as_ref()?.place)));
        let unsure = places.filter(|place| gone.is_none_or(|gone| place.number < gone));
        let unsure: BTreeSet<_> = unsure.map(|place| (place.number, place.block)).collect();
        let asked: Vec<_> = unsure
            .into_iter()
            .map(async |(number, block)| {
                let is_replaced = self.is_replaced(BlockRef { number, block }).await?;
                Ok::<_, Trouble>((!is_replaced).then_some((number, block)))
            })
            .collect();
        let asked: Vec<_> = stream::iter(asked).buffered(ASKED_AT_ONCE).collect().await;
        let stay: Result<Vec<_>, Trouble> = asked.into_iter().collect();
        let stay: BTreeSet<_> = stay?.into_iter().flatten().collect();
        let is_lost =
            |place: &BlockRef| place.number > kept && !stay.contains(&(place.number, place.block));
        // The height that was ingested: one node may claim any.
        let height = headers.first().map_or(kept, |header| header.number);
        self.forget_deposits(&deposits, is_lost, height).await?;
        self.forget_transactions(&txs, is_lost).await?;
        self.ask_issuers_again(kept).await?;
        self.workers.store.rewind_chain(&self.role, self.number(), kept).await?;
        self.read_again_from(kept).await?;
        // If no stored header is in the chain, ingestion restarts from the ancestor.
        if self.workers.store.chain_headers(self.number(), 1).await?.is_empty()
            && let Some(block) = self.chain.block(BlockAt::Number(kept)).await?
        {
            self.take_in(&block, &[]).await?;
        }
        let key = self.number().key(REWINDING);
        self.workers.store.set_meta_as(&self.role, &key, "").await?;
        self.memory.checked = None;
        Ok(())
    }

    async fn forget_deposits(
        &self,
        moved: &[Deposit],
        is_lost: impl Fn(&BlockRef) -> bool,
        height: u64,
    ) -> Result<(), Trouble> {
        let lost =
            moved.iter().filter_map(|deposit| Some((deposit, deposit.place.filter(&is_lost)?)));
        let told = join_all(lost.map(|(deposit, block)| {
            let action = DepositAction::Lost { block, height };
            self.must_deposit(deposit, None, action)
        }));
        told.await.into_iter().collect()
    }

    async fn forget_transactions(
        &self,
        moved: &[ChainTx],
        is_lost: impl Fn(&BlockRef) -> bool,
    ) -> Result<(), Trouble> {
        for tx in moved.iter().filter(|tx| tx.mined.as_ref().is_some_and(|it| is_lost(&it.place))) {
            let intents = self.workers.store.intents(tx.tenant, &tx.intents).await?;
            let action = ChainAction::Lost { tx: TxKey::of(tx, &intents) };
            self.must(tx.tenant, tx.id.0, Action::Chain(action)).await?;
        }
        Ok(())
    }
}
