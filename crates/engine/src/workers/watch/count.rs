//! Finality: which deposits are deep enough to count. Asked of every node, and of the vault's balance, before.

use std::collections::{BTreeMap, BTreeSet};

use domain::chain::{Address, BlockAt, Heads};
use domain::chain_tx::Place;
use domain::currency::StableCoin;
use domain::deposit::arrive::DROPPED_AFTER_BLOCKS;
use domain::deposit::{Deposit, DepositState};
use domain::ids::TenantId;
use domain::time::Span;
use futures_util::future::join_all;
use futures_util::{StreamExt as _, stream};

use super::{Trouble, Watch};
use crate::command::Action;
use crate::command::deposits::{DepositAction, DepositRef};
use crate::planted::{self, Planted};

/// The most deposits of one look.
const COUNT_MAX: usize = 10_000;
/// Questions to a node under way at once.
const ASKED_AT_ONCE: usize = 64;
/// Findings that are told at once, so that batches are full.
const TOLD_AT_ONCE: usize = 1_024;

/// What is to be done about a deposit that waits for the chain.
enum Finding {
    Counts { confirmations: u64, release_min: i64 },
    Gone(Place),
    Mismatch(String),
    Dropped,
    Waits,
}

impl Watch<'_> {
    /// Looks through the deposits that wait for the chain.
    pub(super) async fn count(&self, heads: &Heads) -> Result<(), Trouble> {
        let waiting = self.workers.store.waiting_deposits(heads.latest.number, COUNT_MAX).await?;
        if waiting.is_empty() {
            return Ok(());
        }
        let blocks = self.judge_blocks(&waiting, heads).await?;
        let release_min = self.workers.release_min(self.wallets, waiting.iter().map(|it| it.minor)).await;
        let tenants: BTreeSet<TenantId> = waiting.iter().map(|deposit| deposit.tenant).collect();
        let mut policies: BTreeMap<TenantId, Option<Span>> = BTreeMap::new();
        for tenant in tenants {
            policies.insert(tenant, self.workers.accept_late(tenant).await?);
        }
        for some in waiting.chunks(TOLD_AT_ONCE) {
            let asked: Vec<_> =
                some.iter().map(|deposit| self.find_out(deposit, &blocks, heads, release_min)).collect();
            let findings: Vec<_> = stream::iter(asked).buffered(ASKED_AT_ONCE).collect().await;
            let told = some.iter().zip(findings).map(|(deposit, finding)| async {
                let finding = finding?;
                let late = policies.get(&deposit.tenant).copied().flatten();
                self.tell_finding(deposit, finding, late, heads).await
            });
            for told in join_all(told).await {
                told?;
            }
        }
        Ok(())
    }

    /// For each block that deposits wait in: whether this node still has it, and whether every other one agrees.
    async fn judge_blocks(
        &self,
        waiting: &[Deposit],
        heads: &Heads,
    ) -> Result<BTreeMap<u64, (Place, Verdict)>, Trouble> {
        let mut blocks = BTreeMap::new();
        for deposit in waiting {
            let Some(place) = deposit.place else { continue };
            if blocks.contains_key(&place.number) || !self.is_deep(deposit, place, heads) {
                continue;
            }
            let here = self.chain.block(BlockAt::Number(place.number)).await?;
            let verdict = match here {
                Some(block) if block.hash != place.block => Verdict::Gone,
                None => Verdict::Gone,
                Some(_) if self.chain.agrees(place.number, place.block).await? => Verdict::Agreed,
                Some(_) => Verdict::NotYet,
            };
            blocks.insert(place.number, (place, verdict));
        }
        Ok(blocks)
    }

    fn is_deep(&self, deposit: &Deposit, place: Place, heads: &Heads) -> bool {
        let depth = self.wallets.config.deposit_depth(deposit.minor);
        let deep = heads.newest_at(depth).is_some_and(|newest| newest >= place.number);
        deep || planted::is(Planted::CreditBeforeDepth)
    }

    /// How far the chain has been looked through: what is not in there may still come in a block that was not taken in yet.
    fn seen_to(&self) -> u64 {
        self.tip.map_or(0, |tip| tip.number)
    }

    async fn find_out(
        &self,
        deposit: &Deposit,
        blocks: &BTreeMap<u64, (Place, Verdict)>,
        heads: &Heads,
        release_min: i64,
    ) -> Result<Finding, Trouble> {
        let Some(place) = deposit.place else {
            let lost = deposit.lost_at.unwrap_or(u64::MAX);
            let long = self.seen_to() >= lost.saturating_add(DROPPED_AFTER_BLOCKS);
            let dropped = long && deposit.state == DepositState::Suspended;
            return Ok(if dropped { Finding::Dropped } else { Finding::Waits });
        };
        if !self.is_deep(deposit, place, heads) {
            return Ok(Finding::Waits);
        }
        match blocks.get(&place.number) {
            Some((known, Verdict::Agreed)) if *known == place => {}
            Some((known, _)) if *known != place => return Ok(Finding::Gone(place)),
            Some((_, Verdict::Gone)) => return Ok(Finding::Gone(place)),
            _ => return Ok(Finding::Waits),
        }
        if let Some(finding) = self.compare(deposit.to, deposit.coin, heads).await? {
            return Ok(finding);
        }
        let confirmations = heads.latest.number.saturating_sub(place.number) + 1;
        Ok(Finding::Counts { confirmations, release_min })
    }

    /// Compares what a vault holds with what its logs add up to; `None` = they are the same. The balance is the newest
    /// block's, so the comparison means something only while that is the block that was taken in last.
    async fn compare(&self, vault: Address, coin: StableCoin, heads: &Heads) -> Result<Option<Finding>, Trouble> {
        let Some(token) = self.wallets.config.token(coin) else { return Ok(Some(Finding::Waits)) };
        let sum = self.workers.store.vault_sum(vault, coin).await?;
        let holds = self.chain.token_balance(token, vault).await?;
        if u64::try_from(sum).is_ok_and(|sum| sum == holds) {
            return Ok(None);
        }
        let same_block = self.tip.is_some_and(|tip| tip.hash == heads.latest.hash)
            && self.chain.heads().await?.latest.hash == heads.latest.hash;
        Ok(Some(if same_block {
            Finding::Mismatch(format!("vault {vault} holds {holds}, its logs add up to {sum}"))
        } else {
            Finding::Waits
        }))
    }

    async fn tell_finding(
        &self,
        deposit: &Deposit,
        finding: Finding,
        late: Option<Span>,
        heads: &Heads,
    ) -> Result<(), Trouble> {
        let height = heads.latest.number;
        let action = match finding {
            Finding::Counts { confirmations, release_min } => DepositAction::Counted { confirmations, release_min },
            Finding::Gone(block) => DepositAction::Lost { block, height },
            Finding::Mismatch(_) if deposit.disputed => return Ok(()),
            Finding::Mismatch(what) => DepositAction::Disputed(what),
            Finding::Dropped => DepositAction::Dropped { height: self.seen_to() },
            Finding::Waits => return Ok(()),
        };
        let named = DepositRef::of(deposit, late);
        self.must(deposit.tenant, deposit.id.0, Action::Deposit(named, action)).await
    }
}

/// What is known of a block that deposits wait in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    /// Every node has it.
    Agreed,
    /// A second node is not that far yet.
    NotYet,
    /// It is not in the chain.
    Gone,
}
