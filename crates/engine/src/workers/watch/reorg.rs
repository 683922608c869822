//! Reorganizations: return to the last block still in the chain and undo everything above it.

use domain::chain::{Block, BlockAt, ChainFault};
use domain::chain_tx::Place;
use domain::wallet_effects::AlertKind;
use futures_util::future::join_all;
use store::HEADERS_KEPT;

use super::{Trouble, Watch};
use crate::command::Action;
use crate::command::chain::{ChainAction, TxKey};
use crate::command::deposits::{DepositAction, DepositRef};

/// Store key of the height that an unfinished rewind returns to; empty = none is unfinished.
const REWINDING: &str = "chain.rewinding";

impl Watch<'_> {
    /// Finishes a rewind that another holder of the role, or a fault, cut short. The chain may have
    /// returned to the blocks above its ancestor since: what was undone there is found again
    /// only if they are ingested again.
    pub(super) async fn finish_rewind(&mut self, newest: u64) -> Result<(), Trouble> {
        let kept = self.workers.store.meta(&self.number().key(REWINDING)).await?;
        if let Some(kept) = kept.and_then(|text| text.parse::<u64>().ok()) {
            let headers = self.kept_headers().await?;
            // An earlier version that ran in between has ingested further without finishing it.
            if headers.last().is_none_or(|oldest| kept + 1 >= oldest.number) {
                tracing::warn!(ancestor = kept, "unfinished chain reorganization resumed");
                self.undo_above(kept, newest).await?;
            }
        }
        self.memory.is_rewound = true;
        Ok(())
    }

    pub(super) async fn kept_headers(&self) -> Result<Vec<Block>, Trouble> {
        let all = usize::try_from(HEADERS_KEPT).unwrap_or(usize::MAX);
        Ok(self.workers.store.chain_headers(self.number(), all).await?)
    }

    /// Walks back to the common ancestor and undoes everything above it.
    pub(super) async fn rewind(&mut self, newest: u64) -> Result<(), Trouble> {
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
        let kept = ancestor.unwrap_or_else(|| oldest.saturating_sub(1));
        let tip = headers.first().map_or(0, |header| header.number);
        let depth = tip.saturating_sub(kept);
        tracing::warn!(depth, ancestor = kept, "chain reorganization detected");
        let name = self.wallets.config.name.clone();
        metrics::counter!("corridor_chain_reorgs_total", "chain" => name).increment(1);
        let key = self.number().key(REWINDING);
        self.workers.store.set_meta_as(&self.role, &key, &kept.to_string()).await?;
        self.undo_above(kept, newest).await?;
        if ancestor.is_none() {
            let what =
                format!("a reorganization reaches below block {oldest}, the oldest one tracked");
            self.workers.alert_everybody(self.number(), AlertKind::DeepReorg, &what).await;
            // No stored block is in the chain: ingestion restarts from here.
            if let Some(block) = self.chain.block(BlockAt::Number(kept)).await? {
                self.take_in(&block, &[]).await?;
            }
        }
        Ok(())
    }

    /// Deposits and transactions are notified first, contracts with events there are queried again,
    /// then the headers are deleted.
    async fn undo_above(&mut self, kept: u64, newest: u64) -> Result<(), Trouble> {
        self.forget_deposits(kept, newest).await?;
        self.forget_transactions(kept).await?;
        self.ask_issuers_again(kept).await?;
        self.workers.store.rewind_chain(&self.role, self.number(), kept).await?;
        self.read_again_from(kept).await?;
        let key = self.number().key(REWINDING);
        self.workers.store.set_meta_as(&self.role, &key, "").await?;
        self.memory.checked = None;
        Ok(())
    }

    async fn forget_deposits(&self, kept: u64, height: u64) -> Result<(), Trouble> {
        let moved = self.workers.store.deposits_from_height(self.number(), kept + 1).await?;
        let gone = |place: &Place| place.number > kept;
        let lost = moved.iter().filter_map(|deposit| Some((deposit, deposit.place.filter(gone)?)));
        let told = join_all(lost.map(|(deposit, block)| {
            let action = DepositAction::Lost { block, height };
            let named = DepositRef::of(deposit, None);
            self.must(deposit.tenant, deposit.id.0, Action::Deposit(named, action))
        }));
        told.await.into_iter().collect()
    }

    async fn forget_transactions(&self, kept: u64) -> Result<(), Trouble> {
        let moved = self.workers.store.chain_txs_from_height(self.number(), kept + 1).await?;
        for tx in moved {
            let intents = self.workers.store.intents(tx.tenant, &tx.intents).await?;
            let action = ChainAction::Lost { tx: TxKey::of(&tx, &intents) };
            self.must(tx.tenant, tx.id.0, Action::Chain(action)).await?;
        }
        Ok(())
    }
}
