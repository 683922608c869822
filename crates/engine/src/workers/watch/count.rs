//! Finality: which deposits are deep enough to count. Verified first with every node and with the
//! vault's balance.

use std::collections::{BTreeMap, BTreeSet};

use domain::chain::{Address, Block, BlockAt, BlockHash, ChainFault, Depth, Heads, Sighting};
use domain::chain_tx::BlockRef;
use domain::currency::StableCoin;
use domain::deposit::arrive::DROPPED_AFTER_BLOCKS;
use domain::deposit::{Deposit, DepositState, VaultLog};
use domain::ids::TenantId;
use domain::time::{Span, Timestamp};
use futures_util::future::join_all;
use futures_util::{StreamExt as _, stream};

use super::{Trouble, Watch};
use crate::command::deposits::DepositAction;

/// Maximum number of deposits per pass.
const COUNT_MAX: usize = 10_000;
/// How far below the newest block a balance is read that a node does not know at its own block:
/// without an archive nodes keep the balances of 128 blocks, those of Avalanche of 32.
const BALANCES_KEPT: [u64; 2] = [64, 16];
/// Any chain of this height has a `safe` and a `finalized` block.
const UNREPORTED_AFTER: u64 = 200;
/// Any chain has a newer `safe` and `finalized` block after this.
const STALLED_AFTER: Span = Span::mins(30);
/// Concurrent queries to a node.
const ASKED_AT_ONCE: usize = 64;
/// Findings reported at once, so that batches fill up.
const TOLD_AT_ONCE: usize = 1_024;

/// The next step for a deposit that waits for the chain.
enum Finding {
    Counts {
        confirmations: u64,
        release_min: i64,
        /// Time of its block.
        paid_at: Timestamp,
    },
    Gone(BlockRef),
    Mismatch(String),
    /// Its vault's balance differs from the sum of its logs.
    Differs(String),
    /// Enough nodes have its block, which does not contain it.
    Absent(BlockRef),
    /// It is in an ingested block of this height other than the recorded one, which a suspended
    /// process of a version without fenced reports recorded too late.
    Elsewhere(u64),
    Dropped,
    /// It is deep enough, and too few nodes confirm it.
    Unconfirmed,
    Waits,
}

/// Since when the final blocks have had their heights.
#[derive(Debug, Default)]
pub(super) struct Finality {
    safe: Option<(u64, Timestamp)>,
    finalized: Option<(u64, Timestamp)>,
}

impl Finality {
    fn note(&mut self, heads: &Heads, now: Timestamp) {
        let moved = |known: &mut Option<(u64, Timestamp)>, height: Option<u64>| {
            let Some(height) = height else { return };
            if known.is_none_or(|(known, _)| known != height) {
                *known = Some((height, now));
            }
        };
        moved(&mut self.safe, heads.safe);
        moved(&mut self.finalized, heads.finalized);
    }

    fn stands_still(&self, depth: Depth, now: Timestamp) -> bool {
        let known = match depth {
            Depth::Blocks(_) => None,
            Depth::Safe => self.safe,
            Depth::Finalized => self.finalized,
        };
        known.is_some_and(|(_, since)| now - since > STALLED_AFTER)
    }
}

impl Watch<'_> {
    /// Checks the deposits that wait for the chain, which is `newest` blocks high.
    pub(super) async fn count(&mut self, newest: u64) -> Result<(), Trouble> {
        let waiting = self.workers.store.waiting_deposits(self.number(), newest, COUNT_MAX).await?;
        if waiting.is_empty() {
            self.workers.money_waits(self.number(), self.memory, false).await;
            return Ok(());
        }
        let heads = match self.heads_for(&waiting, newest).await {
            Ok(heads) => heads,
            Err(fault) => {
                tracing::warn!(%fault, "chain heads read failed, deposits wait");
                self.workers.money_waits(self.number(), self.memory, true).await;
                return Ok(());
            }
        };
        self.memory.finality.note(&heads, self.workers.clock().now());
        let (blocks, is_contradicted) = self.judge_blocks(&waiting, &heads).await?;
        self.memory.is_contradicted |= is_contradicted;
        let release_min =
            self.workers.release_min(self.wallets, waiting.iter().map(|it| it.minor)).await;
        let mut policies: BTreeMap<TenantId, Option<Span>> = BTreeMap::new();
        let (mut unconfirmed, mut again, mut differing) = (false, BTreeSet::new(), BTreeSet::new());
        for some in waiting.chunks(TOLD_AT_ONCE) {
            let asked: Vec<_> = some
                .iter()
                .map(|deposit| self.find_out(deposit, &blocks, &heads, release_min))
                .collect();
            let findings: Vec<_> = stream::iter(asked).buffered(ASKED_AT_ONCE).collect().await;
            let findings = findings.into_iter().collect::<Result<Vec<_>, Trouble>>()?;
            for (deposit, finding) in some.iter().zip(&findings) {
                match finding {
                    Finding::Unconfirmed => unconfirmed = true,
                    Finding::Absent(BlockRef { number, .. }) | Finding::Elsewhere(number) => {
                        _ = again.insert(*number)
                    }
                    Finding::Differs(_) => _ = differing.insert(deposit.to),
                    _ => {}
                }
                if matches!(finding, Finding::Counts { .. })
                    && !policies.contains_key(&deposit.tenant)
                {
                    policies
                        .insert(deposit.tenant, self.workers.accept_late(deposit.tenant).await?);
                }
            }
            let told = some.iter().zip(findings).map(|(deposit, finding)| async {
                let late = policies.get(&deposit.tenant).copied().flatten();
                self.tell_finding(deposit, finding, late).await
            });
            for told in join_all(told).await {
                told?;
            }
        }
        self.workers.money_waits(self.number(), self.memory, unconfirmed).await;
        for number in again {
            self.read_block_of_all(number).await?;
        }
        for vault in differing {
            self.look_through(vault).await?;
        }
        Ok(())
    }

    /// The heights that a quorum of nodes has reached; one node's word on the height alone if all
    /// deposits count by blocks and none is deep enough even so.
    async fn heads_for(&self, waiting: &[Deposit], newest: u64) -> Result<Heads, ChainFault> {
        let Some(tip) = self.tip else { return self.chain.heads().await };
        let latest = Block { number: newest, ..tip };
        let claimed = Heads { latest, safe: None, finalized: None };
        let needs_more = |deposit: &Deposit| {
            !matches!(self.wallets.config.deposit_depth(deposit.minor), Depth::Blocks(_))
                || deposit.place.is_some_and(|place| self.is_deep(deposit, place, &claimed))
        };
        if waiting.iter().any(needs_more) { self.chain.heads().await } else { Ok(claimed) }
    }

    /// For each block in which deposits wait: whether enough nodes still have it. Also returns
    /// whether nodes contradict each other about any of them: deposits in other blocks do not wait
    /// for it.
    async fn judge_blocks(
        &self,
        waiting: &[Deposit],
        heads: &Heads,
    ) -> Result<(Verdicts, bool), Trouble> {
        let (mut blocks, mut is_contradicted) = (Verdicts::new(), false);
        for deposit in waiting {
            let Some(place) = deposit.place else { continue };
            // Two deposits may be recorded in different blocks of one height.
            let key = (place.number, place.block);
            if blocks.contains_key(&key) || !self.is_deep(deposit, place, heads) {
                continue;
            }
            let here = self.chain.block(BlockAt::Number(place.number)).await?;
            let said = match here {
                // A node without a block of this height lags.
                None => Ok(Verdict::NotYet),
                Some(other) if other.hash != place.block => {
                    let known = Block { hash: place.block, ..other };
                    let gone = self.chain.is_gone(&known).await;
                    gone.map(|gone| if gone { Verdict::Gone } else { Verdict::NotYet })
                }
                Some(_) => {
                    let agreed = self.chain.agreed_block(place.number, place.block).await;
                    agreed.map(|it| it.map_or(Verdict::NotYet, |block| Verdict::Agreed(block.at)))
                }
            };
            let verdict = match said {
                Ok(verdict) => verdict,
                Err(
                    ChainFault::Unreachable(_) | ChainFault::TooMuch | ChainFault::Reverted { .. },
                ) => Verdict::NotYet,
                Err(ChainFault::Disagreement(what)) => {
                    tracing::warn!(what, "nodes disagree, deposits wait");
                    is_contradicted = true;
                    Verdict::NotYet
                }
            };
            blocks.insert(key, verdict);
        }
        Ok((blocks, is_contradicted))
    }

    fn is_deep(&self, deposit: &Deposit, place: BlockRef, heads: &Heads) -> bool {
        let depth = self.wallets.config.deposit_depth(deposit.minor);
        self.wallets.config.newest_at(heads, depth).is_some_and(|newest| newest >= place.number)
    }

    /// The height up to which the chain was scanned: an absent log may still appear in a block not
    /// yet ingested.
    fn seen_to(&self) -> u64 {
        self.tip.map_or(0, |tip| tip.number)
    }

    /// A deposit waits for nodes if no quorum of them reports the block that it needs at all, or if
    /// that stands still.
    fn why_not_deep(&self, deposit: &Deposit, heads: &Heads) -> Finding {
        let config = &self.wallets.config;
        let depth = config.deposit_depth(deposit.minor);
        let is_unreported = config.newest_at(heads, depth).is_none();
        let is_old = heads.latest.number >= UNREPORTED_AFTER;
        let now = self.workers.clock().now();
        if is_unreported && is_old || self.memory.finality.stands_still(depth, now) {
            Finding::Unconfirmed
        } else {
            Finding::Waits
        }
    }

    async fn find_out(
        &self,
        deposit: &Deposit,
        blocks: &Verdicts,
        heads: &Heads,
        release_min: i64,
    ) -> Result<Finding, Trouble> {
        let Some(place) = deposit.place else {
            let lost = deposit.lost_at.unwrap_or(u64::MAX);
            let long = self.seen_to() >= lost.saturating_add(DROPPED_AFTER_BLOCKS);
            let dropped = long && deposit.state == DepositState::Suspended;
            return if dropped {
                self.unless_elsewhere(deposit, Finding::Dropped).await
            } else {
                Ok(Finding::Waits)
            };
        };
        // After a deep reorganization its block has yet to be ingested again, with its vault's logs.
        if place.number > self.seen_to() {
            return Ok(Finding::Waits);
        }
        if !self.is_deep(deposit, place, heads) {
            return Ok(self.why_not_deep(deposit, heads));
        }
        let paid_at = match blocks.get(&(place.number, place.block)) {
            Some(Verdict::Agreed(at)) => *at,
            Some(Verdict::Gone) => {
                return self.unless_elsewhere(deposit, Finding::Gone(place)).await;
            }
            Some(Verdict::NotYet) => return Ok(Finding::Unconfirmed),
            None => return Ok(Finding::Waits),
        };
        let found = match self.missing_receipts(deposit, place).await {
            Ok(None) => self.compare(deposit.to, deposit.coin, place).await,
            other => other,
        };
        match found {
            Ok(None) => {
                let confirmations = heads.latest.number.saturating_sub(place.number) + 1;
                Ok(Finding::Counts { confirmations, release_min, paid_at })
            }
            Ok(Some(finding)) => Ok(finding),
            Err(ChainFault::Disagreement(what)) => {
                Ok(Finding::Mismatch(format!("nodes disagree about {what}")))
            }
            Err(fault) => {
                tracing::warn!(%fault, deposit = %deposit.id, "deposit confirmation failed, will retry");
                Ok(Finding::Unconfirmed)
            }
        }
    }

    /// `finding`, unless an ingested block has the deposit's log.
    async fn unless_elsewhere(
        &self,
        deposit: &Deposit,
        finding: Finding,
    ) -> Result<Finding, Trouble> {
        let logs = self.workers.store.vault_logs(self.number(), deposit.to).await?;
        let is_its = |log: &&VaultLog| {
            (log.tx, log.ordinal) == (deposit.tx, deposit.ordinal) && log.minor > 0
        };
        let elsewhere = logs.iter().find(|log| is_its(log) && Some(log.place) != deposit.place);
        Ok(elsewhere.map_or(finding, |log| Finding::Elsewhere(log.place.number)))
    }

    /// Compares a deposit with each node's receipt of its transaction; `None` = enough of them have
    /// it.
    async fn missing_receipts(
        &self,
        deposit: &Deposit,
        place: BlockRef,
    ) -> Result<Option<Finding>, ChainFault> {
        let Some(token) = self.wallets.config.token(deposit.coin) else {
            return Ok(Some(Finding::Waits));
        };
        Ok(match self.chain.sees(&deposit.transfer_at(place, token)).await? {
            Sighting::Confirmed => None,
            Sighting::Absent => Some(Finding::Absent(place)),
            Sighting::Open => Some(Finding::Unconfirmed),
        })
    }

    /// Compares a vault's balance after a block with the sum of its logs; `None` = equal. The block
    /// is the deposit's own, which enough nodes have; nodes do not keep old balances, so it is a
    /// newer one for an old deposit, as old as nodes know it.
    async fn compare(
        &self,
        vault: Address,
        coin: StableCoin,
        at: BlockRef,
    ) -> Result<Option<Finding>, ChainFault> {
        let unreadable = |error| ChainFault::Unreachable(format!("logs cannot be read: {error}"));
        let (Some(token), Some(tip)) = (self.wallets.config.token(coin), self.tip) else {
            return Ok(Some(Finding::Waits));
        };
        let newer = BALANCES_KEPT.map(|kept| tip.number.saturating_sub(kept));
        let mut newer = newer.into_iter().filter(|newer| *newer > at.number);
        let mut number = at.number;
        let holds = loop {
            match (self.balance_after(token, vault, number).await, newer.next()) {
                (Err(ChainFault::Unreachable(_) | ChainFault::Reverted { .. }), Some(next)) => {
                    number = next;
                }
                (said, _) => break said?,
            }
        };
        let Some(holds) = holds else { return Ok(Some(Finding::Unconfirmed)) };
        let logs = self.workers.store.vault_logs(self.number(), vault).await.map_err(unreadable)?;
        let counts = |log: &&VaultLog| log.coin == coin && log.place.number <= number;
        let sum: i128 = logs.iter().filter(counts).map(|log| i128::from(log.minor)).sum();
        if u64::try_from(sum).is_ok_and(|sum| sum == holds) {
            return Ok(None);
        }
        let what = format!(
            "vault {vault} holds {holds} after block {number}, but its logs add up to {sum}"
        );
        Ok(Some(Finding::Differs(what)))
    }

    /// `None` = too few nodes have a block of this height.
    async fn balance_after(
        &self,
        token: Address,
        vault: Address,
        number: u64,
    ) -> Result<Option<u64>, ChainFault> {
        match self.chain.block(BlockAt::Number(number)).await? {
            Some(block) => self.chain.balance_after(token, vault, &block).await,
            None => Ok(None),
        }
    }

    async fn tell_finding(
        &self,
        deposit: &Deposit,
        finding: Finding,
        late: Option<Span>,
    ) -> Result<(), Trouble> {
        let action = match finding {
            Finding::Counts { confirmations, release_min, paid_at } => {
                DepositAction::Counted { confirmations, release_min, paid_at }
            }
            // Its time to return counts from the height up to which the chain was scanned.
            Finding::Gone(block) => DepositAction::Lost { block, height: self.seen_to() },
            Finding::Mismatch(_) | Finding::Differs(_) if deposit.disputed => return Ok(()),
            Finding::Mismatch(what) | Finding::Differs(what) => DepositAction::Disputed(what),
            Finding::Dropped => DepositAction::Dropped { height: self.seen_to() },
            // The block is re-read.
            Finding::Absent(_) | Finding::Elsewhere(_) | Finding::Unconfirmed | Finding::Waits => {
                return Ok(());
            }
        };
        self.must_deposit(deposit, late, action).await
    }
}

/// Verdicts on each block in which deposits wait, by number and hash.
type Verdicts = BTreeMap<(u64, BlockHash), Verdict>;

/// The verdict on a block in which deposits wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    /// Enough nodes have it, of this time.
    Agreed(Timestamp),
    /// Too few nodes have reached this height.
    NotYet,
    /// It is not in the chain.
    Gone,
}
