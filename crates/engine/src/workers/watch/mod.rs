//! Watches a chain: ingests its blocks in order, detects reorganizations, records deposits and
//! counts them. One node at a time. A block's deposits are saved before the block itself: a crash
//! ingests the block again.

use std::collections::BTreeMap;
use std::sync::Arc;

use domain::chain::{Address, Block, BlockAt, BlockHash, ChainFault, ChainLog, ChainNumber};
use domain::chain_tx::BlockRef;
use domain::deposit::Deposit;
use domain::deposit::arrive::NOT_COUNTED;
use domain::ids::TenantId;
use domain::ports::Chain;
use domain::time::{Span, Timestamp};
use domain::wallet_effects::{Alert, AlertKind};
use store::{HEADER_EVERY, HEADERS_KEPT, HeldRole, StoreError};
use tokio::sync::Mutex;

use super::{Stop, Workers};
use crate::alerts;
use crate::command::chain::ChainAction;
use crate::command::deposits::{DepositAction, DepositRef};
use crate::command::{Action, Command, Outcome, Refused};
use crate::context::{ChainContext, ConfiguredChain};
use crate::error::EngineError;
use crate::failpoint::{self, Failpoint};

mod again;
mod count;
mod logs;
mod nodes;
mod reorg;
mod rescan;
mod tokens;

/// Retry delay for the lease, or for a node that did not answer.
const RETRY: Span = Span::secs(2);
/// Lease renewals per lease.
const RENEWALS_PER_LEASE: i64 = 4;
/// Upper bound on the difference between a block's time and ours.
const CLOCKS_DIFFER: Span = Span::mins(15);
/// If the watcher lags by more than this, blocks are ingested in ranges.
const RANGE_FROM: u64 = 8;
/// Maximum number of blocks per range; halved if a query fails, growing again gradually.
const RANGE_MAX: u64 = 2_000;
/// Ranges until a size that failed is tried again.
const REFUSED_FOR: u32 = 64;
/// Maximum pause between two polls of the chain: a quarter of Ethereum's block time.
const LOOK_MAX: Span = Span::secs(3);
/// Number of blocks from which the block time is derived.
const TIMED_BLOCKS: usize = 16;
/// Maximum time without verifying that the latest block is still in the chain.
const CHECKED_MAX: Span = Span::secs(18);

/// Why a round was not finished. Completed work stays; the next round does the rest.
#[derive(Debug, thiserror::Error)]
enum Trouble {
    #[error(transparent)]
    Chain(#[from] ChainFault),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("command was not accepted")]
    Command,
}

/// The watcher's state between rounds.
#[derive(Debug)]
struct Memory {
    /// The lease, and since when it has been held without renewal.
    held: Option<(HeldRole, Timestamp)>,
    /// Maximum number of blocks of the next range.
    range: RangeSize,
    /// Same for ranges that are re-read.
    again: RangeSize,
    /// When the latest ingested block was last verified to be in the chain.
    checked: Option<Timestamp>,
    /// The last observed chain height, and since when.
    height: Option<(u64, Timestamp)>,
    block_time: Span,
    /// The nodes' recent health.
    nodes: nodes::Ward,
    /// How long the final blocks have stood still.
    finality: count::Finality,
    /// When a vault was last rescanned because its balance differs from the sum of its logs, and the
    /// time until the next rescan.
    looked_through: BTreeMap<Address, (Timestamp, Span)>,
    /// Height up to which blocks were re-read; `None` = not loaded from the store.
    read_again: Option<u64>,
    /// Whether no rewind of a former holder of the lease is left unfinished.
    is_rewound: bool,
    /// The rescan in progress.
    rescan: Option<rescan::Progress>,
    /// Requests that could not begin yet.
    unbegun: rescan::Unbegun,
    /// When wishes for rescans were looked for last.
    looked_for_wishes: Option<Timestamp>,
    /// Whether nodes contradict each other about a block in which a deposit waits.
    is_contradicted: bool,
    /// What could not be applied, by tenant and subject.
    aside: Mutex<BTreeMap<(TenantId, uuid::Uuid), Alert>>,
}

impl Default for Memory {
    fn default() -> Memory {
        Memory {
            held: None,
            range: RangeSize::default(),
            again: RangeSize::default(),
            checked: None,
            height: None,
            block_time: Span(0),
            nodes: nodes::Ward::default(),
            finality: count::Finality::default(),
            looked_through: BTreeMap::new(),
            read_again: None,
            is_rewound: false,
            rescan: None,
            unbegun: rescan::Unbegun::default(),
            looked_for_wishes: None,
            is_contradicted: false,
            aside: Mutex::default(),
        }
    }
}

impl Memory {
    /// Updates the block time: half the previous value, half the latest observation. A pause, or a
    /// clock change, does not count as the chain's pace at once. Initially it is derived from block
    /// timestamps.
    fn note_height(&mut self, newest: u64, now: Timestamp, headers: &[Block]) {
        if self.block_time.0 == 0 {
            self.block_time =
                headers.first().zip(headers.last()).map_or(Span(0), |(newest, oldest)| {
                    per_block(oldest.number, newest.number, newest.at - oldest.at)
                });
        }
        match self.height {
            Some((height, _)) if height >= newest => {}
            Some((height, since)) => {
                let took = per_block(height, newest, now - since);
                let known = self.block_time;
                self.block_time = if known.0 == 0 {
                    took
                } else {
                    Span(known.0.midpoint(took.0.min(known.0 * 4)))
                };
                self.height = Some((newest, now));
            }
            None => self.height = Some((newest, now)),
        }
    }
}

/// The state of one round.
struct Watch<'a> {
    workers: &'a Workers,
    wallets: &'a ChainContext,
    chain: &'a dyn Chain,
    role: HeldRole,
    /// The latest ingested block.
    tip: Option<Block>,
    /// The unsupported tokens recorded so far, as read in this round.
    strange: Mutex<logs::Strange>,
    memory: &'a mut Memory,
}

/// The result of a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Round {
    /// There is more to ingest.
    More,
    /// A block was ingested, and there is none after it: the next one is not due for a while.
    Fresh,
    /// Everything was already ingested.
    UpToDate,
}

/// The status of the latest ingested block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standing {
    /// The block is in the chain.
    Here,
    /// Above the node's current head.
    Ahead,
    /// No longer in the chain.
    Gone,
}

/// The result of ingesting the next block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    Taken,
    /// The answering node does not have it.
    Missing,
    /// It does not follow the latest ingested one.
    Other,
}

pub(super) async fn watch(workers: Arc<Workers>, chain: Arc<ConfiguredChain>, mut stop: Stop) {
    let wallets = tokio::select! {
        biased;
        wallets = chain.when_numbered() => wallets,
        _ = stop.wait_for(|stop| *stop) => return,
    };
    let mut memory = Memory::default();
    while !*stop.borrow() {
        let round = workers.watch_round(wallets, &mut memory);
        let done = tokio::select! {
            biased;
            done = round => done,
            _ = stop.wait_for(|stop| *stop) => break,
        };
        match done {
            Some(Round::More) => {}
            Some(Round::Fresh) => workers.pause(workers.quarters(&memory, 3), &mut stop).await,
            Some(Round::UpToDate) => workers.pause(workers.quarters(&memory, 1), &mut stop).await,
            None => workers.pause(RETRY, &mut stop).await,
        }
    }
    workers.hand_on(&role_name(wallets)).await;
}

fn role_name(wallets: &ChainContext) -> String {
    wallets.config.number.key("watch")
}

impl Workers {
    /// Ingests everything that the chain has now, once.
    pub(super) async fn watch_once(&self, wallets: &ChainContext) {
        let mut memory = Memory::default();
        while matches!(
            self.watch_round(wallets, &mut memory).await,
            Some(Round::More | Round::Fresh)
        ) {}
    }

    /// This many quarters of the block time, capped at mainnet's block time.
    fn quarters(&self, memory: &Memory, count: i64) -> Span {
        let quarter = Span(memory.block_time.0 / 4).min(LOOK_MAX);
        Span(quarter.0 * count).max(self.world.tuning.poll)
    }

    /// Polls the chain once; `None` = another process holds the lease, or a dependency does not
    /// answer.
    async fn watch_round(&self, wallets: &ChainContext, memory: &mut Memory) -> Option<Round> {
        let role = self.watcher_role(wallets, memory).await?;
        self.look_after_nodes(wallets, memory).await;
        let chain = wallets.chain.as_ref();
        let (tip, strange) = (None, Mutex::default());
        let done =
            Watch { workers: self, wallets, chain, role, tip, strange, memory: &mut *memory }
                .round()
                .await;
        let fault = match &done {
            Err(Trouble::Chain(fault)) => Some(fault),
            _ => None,
        };
        let failed = fault.filter(|it| !matches!(it, ChainFault::Disagreement(_)));
        self.ingestion_fails(wallets.config.number, memory, failed).await;
        let contradict = std::mem::take(&mut memory.is_contradicted)
            || matches!(fault, Some(ChainFault::Disagreement(_)));
        self.nodes_contradict(wallets.config.number, memory, contradict).await;
        match done {
            Ok(round) => Some(round),
            Err(trouble) => {
                memory.held = None;
                tracing::warn!(%trouble, "chain ingestion failed, will retry");
                let name = wallets.config.name.clone();
                metrics::counter!("corridor_chain_faults_total", "chain" => name).increment(1);
                None
            }
        }
    }

    /// The watcher's lease, if this node holds it. It is renewed long before it expires; writes
    /// without the lease are refused.
    async fn watcher_role(&self, wallets: &ChainContext, memory: &mut Memory) -> Option<HeldRole> {
        let (now, lease) = (self.clock().now(), self.world.tuning.lease);
        if let Some((role, since)) = &memory.held
            && now - *since < Span(lease.0 / RENEWALS_PER_LEASE)
        {
            return Some(role.clone());
        }
        let name = role_name(wallets);
        let fence = match self.store.lease_role(&name, &self.owner, lease).await {
            Ok(fence) => fence,
            Err(error) if self.outage.counts(&error, &name) => None,
            Err(error) => {
                tracing::warn!(%error, role = name, "watcher lease acquisition failed, will retry");
                None
            }
        };
        let role = fence.map(|fence| HeldRole { name, owner: self.owner.clone(), fence });
        if role.as_ref() != memory.held.as_ref().map(|(role, _)| role) {
            // Another process may have held it in between, or our write failed.
            memory.read_again = None;
            memory.is_rewound = false;
        }
        memory.held = role.clone().map(|role| (role, now));
        role
    }

    /// Alerts every tenant's operators about a chain.
    async fn alert_everybody(&self, chain: ChainNumber, kind: AlertKind, what: &str) {
        let what = self.said_of(chain, what.to_owned());
        alerts::raise_everywhere(&self.store, kind, &what).await;
    }
}

impl Watch<'_> {
    /// The number of the watched chain.
    fn number(&self) -> ChainNumber {
        self.wallets.config.number
    }

    async fn round(&mut self) -> Result<Round, Trouble> {
        let newest = self.chain.head().await?;
        if !self.memory.is_rewound {
            self.finish_rewind().await?;
        }
        let headers = self.workers.store.chain_headers(self.number(), TIMED_BLOCKS).await?;
        self.tip = headers.first().copied();
        self.memory.note_height(newest, self.workers.clock().now(), &headers);
        let Some(tip) = self.tip else {
            let Some(latest) = self.chain.block(BlockAt::Latest).await? else {
                return Ok(Round::UpToDate);
            };
            let since = self.workers.store.first_wallet_at(self.number()).await?;
            // Two blocks, so that their timestamps yield the block time.
            let before = self.chain.block(BlockAt::Number(latest.number.saturating_sub(1))).await?;
            let start = match since {
                None => before,
                Some(_) => match self.block_before(&latest, since).await? {
                    (first, true) => Some(first),
                    (_, false) => None,
                },
            };
            let Some(first) = start else { return Ok(Round::UpToDate) };
            self.take_in(&first, &[]).await?;
            return Ok(Round::More);
        };
        let behind = newest.saturating_sub(tip.number);
        let name = self.wallets.config.name.clone();
        metrics::gauge!("corridor_chain_head_lag_blocks", "chain" => name)
            .set(u32::try_from(behind).unwrap_or(u32::MAX));
        if !self.is_checked(newest, &tip) {
            match self.standing(&tip, newest).await? {
                Standing::Here => self.memory.checked = Some(self.workers.clock().now()),
                Standing::Ahead => return Ok(Round::UpToDate),
                Standing::Gone => {
                    self.rewind().await?;
                    return Ok(Round::More);
                }
            }
        }
        let mut round = if behind > 1 { Round::More } else { Round::UpToDate };
        if behind > RANGE_FROM {
            if !self.catch_up(&tip, newest).await? {
                round = Round::UpToDate;
            }
        } else if behind > 0 {
            match self.next_block(&tip).await? {
                Next::Taken if behind == 1 => round = Round::Fresh,
                Next::Taken => {}
                Next::Missing => return Ok(Round::UpToDate),
                Next::Other => {
                    // It was in the chain before: verify that now.
                    self.memory.checked = None;
                    if self.standing(&tip, newest).await? == Standing::Gone {
                        self.rewind().await?;
                        return Ok(Round::More);
                    }
                    return Ok(Round::UpToDate);
                }
            }
            self.memory.checked = Some(self.workers.clock().now());
        }
        // In every round: if blocks arrive faster than they are ingested, the watcher never reaches
        // the latest one.
        self.count(newest).await?;
        self.read_again(newest).await?;
        let goes_on = self.go_on_rescanning().await?;
        Ok(if goes_on { Round::More } else { round })
    }

    /// Whether the latest ingested block needs no verification: the next one names it as its
    /// parent, and until that is overdue only the chain's height is polled.
    fn is_checked(&self, newest: u64, tip: &Block) -> bool {
        let behind = newest.checked_sub(tip.number);
        let now = self.workers.clock().now();
        let overdue = Span(self.memory.block_time.0 * 3 / 2).min(CHECKED_MAX);
        match behind {
            Some(0) => self.memory.checked.is_some_and(|at| now - at < overdue),
            Some(behind) => behind <= RANGE_FROM,
            None => false,
        }
    }

    /// A block older than `since`, and not much older; `latest` for `None`. With `false`, the nodes
    /// do not return it, and the block is the oldest that they did return.
    async fn block_before(
        &self,
        latest: &Block,
        since: Option<Timestamp>,
    ) -> Result<(Block, bool), Trouble> {
        // No vault can have been paid before the first wallet was provisioned.
        let Some(since) = since else { return Ok((*latest, true)) };
        let (mut block, mut back) = (*latest, 1);
        while block.at + CLOCKS_DIFFER > since && block.number > 0 {
            let number = latest.number.saturating_sub(back);
            let earlier = match self.chain.block(BlockAt::Number(number)).await {
                Ok(Some(earlier)) => earlier,
                Ok(None) => return Ok((block, false)),
                // Some nodes answer with an error for blocks that they have deleted.
                Err(ChainFault::Unreachable(why)) if back > 1 => {
                    tracing::warn!(why, number, "an old block is not returned");
                    return Ok((block, false));
                }
                Err(fault) => return Err(fault.into()),
            };
            (block, back) = (earlier, back.saturating_mul(2));
        }
        Ok((block, true))
    }

    /// The status of the latest ingested block. A node that does not have it lags: only a different
    /// block in its place proves that it is gone.
    async fn standing(&self, tip: &Block, newest: u64) -> Result<Standing, Trouble> {
        if newest >= tip.number {
            return Ok(if self.chain.is_gone(tip).await? {
                Standing::Gone
            } else {
                Standing::Here
            });
        }
        let kept = self.kept_headers().await?;
        // A node that is further back than a node can lag was set up from scratch.
        let known = kept.iter().find(|header| header.number <= newest);
        let Some(known) = known.filter(|it| it.number + HEADERS_KEPT >= tip.number) else {
            return Ok(Standing::Ahead);
        };
        Ok(if self.chain.is_gone(known).await? { Standing::Gone } else { Standing::Ahead })
    }

    /// Ingests the block after the tip.
    async fn next_block(&mut self, tip: &Block) -> Result<Next, Trouble> {
        let Some(block) = self.chain.block(BlockAt::Number(tip.number + 1)).await? else {
            return Ok(Next::Missing);
        };
        if block.parent != tip.hash {
            return Ok(Next::Other);
        }
        let logs = self.chain.logs(block.hash, &[]).await?;
        let kept = self.take_logs(&block, &logs).await?;
        self.take_in(&block, &kept).await?;
        Ok(Next::Taken)
    }

    /// Ingests many blocks at once: those with our logs, and the last one. If the last one is
    /// the same before and after the logs were read, the logs are complete for its chain; other
    /// reorganizations are found in the next round. Returns whether the next round may follow at
    /// once.
    async fn catch_up(&mut self, tip: &Block, newest: u64) -> Result<bool, Trouble> {
        let (from, most) = (tip.number + 1, (tip.number + self.memory.range.blocks).min(newest));
        // Ends at a header that is kept for long, if there is one.
        let kept = most - most % HEADER_EVERY;
        let to = if most < newest && kept >= from { kept } else { most };
        // A node that claims blocks that it does not have is asked for the next one.
        let Some(last) = self.chain.block(BlockAt::Number(to)).await? else {
            return Ok(self.next_block(tip).await? == Next::Taken);
        };
        let logs = match self.chain.logs_in(from, to, &[]).await {
            Err(ChainFault::TooMuch) if self.memory.range.blocks > 1 => {
                self.memory.range.halve();
                return Ok(true);
            }
            other => other?,
        };
        for of_block in logs.chunk_by(|one, other| one.block == other.block) {
            let Some(first) = of_block.first() else { continue };
            if !self.concerns_us(of_block).await? || first.block_number == to {
                continue;
            }
            if !self.extend((first.block_number, first.block), of_block).await? {
                return Ok(false);
            }
        }
        let of_last: Vec<_> = logs.iter().filter(|log| log.block_number == to).copied().collect();
        let foreign = of_last.iter().any(|log| log.block != last.hash);
        let extended = !foreign && self.extend((to, last.hash), &of_last).await?;
        if extended {
            self.memory.range.grow();
        }
        Ok(extended)
    }

    /// Ingests a block above the next one; `false` = it is not in the tip's chain, which was
    /// reorganized in between. The tip is checked last: while it is in the chain, no block below it
    /// was replaced.
    async fn extend(
        &mut self,
        (number, hash): (u64, BlockHash),
        logs: &[ChainLog],
    ) -> Result<bool, Trouble> {
        let block =
            self.chain.block(BlockAt::Number(number)).await?.filter(|block| block.hash == hash);
        let (Some(block), Some(tip)) = (block, self.tip) else { return Ok(false) };
        let follows = block.parent == tip.hash
            || self
                .chain
                .block(BlockAt::Number(tip.number))
                .await?
                .is_some_and(|there| there.hash == tip.hash);
        if follows {
            // A range comes from one node, which may have changed what cannot be read.
            let compared = match logs.iter().any(|log| log.event.is_undecodable()) {
                true => Some(self.chain.logs(hash, &[]).await?),
                false => None,
            };
            let kept = self.take_logs(&block, compared.as_deref().unwrap_or(logs)).await?;
            self.take_in(&block, &kept).await?;
        }
        Ok(follows)
    }

    async fn take_in(
        &mut self,
        block: &Block,
        kept: &[domain::deposit::VaultLog],
    ) -> Result<(), Trouble> {
        failpoint::reach(Failpoint::BeforeBlock);
        let number = self.number();
        self.workers.store.take_block_in(&self.role, number, block, kept).await?;
        failpoint::reach(Failpoint::AfterBlock);
        self.tip = Some(*block);
        Ok(())
    }

    /// Executes a command before this round continues. What a paused process found is refused once
    /// another node has taken the role: that node has read these deposits and would not look at them
    /// again. What the ledger refuses, or what the program cannot decide, is put aside: it would fail
    /// again, and must not block all later blocks.
    async fn must(
        &self,
        tenant: TenantId,
        subject: uuid::Uuid,
        action: Action,
    ) -> Result<(), Trouble> {
        let aside = self.aside(subject, block_of(&action));
        let action = Action::UnderRole(self.role.clone(), Box::new(action));
        match self.workers.engine.execute(Command { tenant, action }).await {
            Ok(Outcome::Refused(Refused::Ledger(why))) => {
                self.put_aside(tenant, aside, &why).await;
                Ok(())
            }
            Ok(Outcome::Refused(refused)) => {
                tracing::warn!(%subject, %refused, "chain event rejected");
                Err(Trouble::Command)
            }
            Ok(_) => {
                if let Some(alert) = self.memory.aside.lock().await.remove(&(tenant, subject)) {
                    alerts::end(&self.workers.store, tenant, &alert).await;
                }
                Ok(())
            }
            Err(error @ EngineError::Internal) => {
                self.put_aside(tenant, aside, &error.to_string()).await;
                Ok(())
            }
            Err(error) => {
                tracing::warn!(%subject, %error, "chain event processing failed, will be read again");
                Err(Trouble::Command)
            }
        }
    }

    /// The same about a known deposit. What nodes disagreed about is settled once the deposit counts
    /// or is lost.
    async fn must_deposit(
        &self,
        deposit: &Deposit,
        late: Option<Span>,
        action: DepositAction,
    ) -> Result<(), Trouble> {
        let (tenant, subject) = (deposit.tenant, deposit.id.0);
        let settles = deposit.disputed && !matches!(action, DepositAction::Disputed(_));
        let named = DepositRef::of(deposit, late);
        self.must(tenant, subject, Action::Deposit(named, action)).await?;
        if settles && !self.memory.aside.lock().await.contains_key(&(tenant, subject)) {
            let is_over = |it: &Alert| {
                it.kind == AlertKind::ChainMismatch && it.what.starts_with(NOT_COUNTED)
            };
            alerts::end_about(&self.workers.store, (tenant, subject), is_over).await;
        }
        Ok(())
    }

    /// Alerts an operator about what could not be applied, once however often it fails.
    async fn put_aside(&self, tenant: TenantId, alert: Alert, why: &str) {
        let key = (tenant, alert.subject);
        if self.memory.aside.lock().await.insert(key, alert.clone()).as_ref() != Some(&alert) {
            tracing::error!(subject = %alert.subject, why, "chain event could not be applied, put aside");
            self.workers.raise(tenant, alert).await;
        }
    }

    fn aside(&self, subject: uuid::Uuid, block: Option<u64>) -> Alert {
        let what = match block {
            Some(block) => format!(
                "a movement in block {block} could not be booked and was put aside: the watcher's log says why. Then run \
                 corridor chain rescan --from {block} --to {block}"
            ),
            None => "what the chain shows could not be applied: the watcher's log says why. A deposit is tried again"
                .to_owned(),
        };
        let what = self.workers.said_of(self.number(), what);
        Alert { kind: AlertKind::ChainMismatch, subject, what }
    }
}

/// Maximum number of blocks of the next range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct RangeSize {
    blocks: u64,
    /// The size that failed last.
    refused: Option<u64>,
    /// Ranges that were answered since then.
    answered: u32,
}

impl Default for RangeSize {
    fn default() -> RangeSize {
        RangeSize { blocks: RANGE_MAX, refused: None, answered: 0 }
    }
}

impl RangeSize {
    /// A range of this size failed. One that follows another failure may show an outage instead of a
    /// limit.
    fn halve(&mut self) {
        let half = (self.blocks / 2).max(1);
        let refused = (self.answered > 0).then_some(self.blocks);
        *self = RangeSize { blocks: half, refused, answered: 0 };
    }

    /// After a range that was answered the next one may be slightly longer, up to the size that
    /// failed, and beyond it after [`REFUSED_FOR`] ranges: the node may have changed.
    fn grow(&mut self) {
        self.answered = self.answered.saturating_add(1);
        if self.answered > REFUSED_FOR {
            self.refused = None;
        }
        let most = self.refused.map_or(RANGE_MAX, |refused| (refused - 1).max(1));
        self.blocks = (self.blocks + self.blocks / 4 + 1).min(most);
    }
}

/// The block to read again for what could not be recorded or undone.
fn block_of(action: &Action) -> Option<u64> {
    match action {
        Action::Deposit(_, DepositAction::Found(found)) => Some(found.place.number),
        Action::Deposit(_, DepositAction::Lost { block, .. }) => Some(block.number),
        Action::Chain(ChainAction::Unsupported { asset, .. }) => Some(asset.place.number),
        _ => None,
    }
}

fn per_block(from: u64, to: u64, took: Span) -> Span {
    let blocks = i64::try_from(to.saturating_sub(from)).unwrap_or(i64::MAX);
    Span(took.0.max(0).checked_div(blocks).unwrap_or(0))
}

const fn place(block: &Block) -> BlockRef {
    BlockRef { number: block.number, block: block.hash }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: i64) -> Timestamp {
        Timestamp(0) + Span::millis(millis)
    }

    #[test]
    fn the_block_time_follows_observations() {
        let block = |number, secs: i64| {
            let hash = BlockHash([u8::try_from(number).expect("small"); 32]);
            Block { number, hash, parent: hash, at: at(secs * 1_000) }
        };
        let mut memory = Memory::default();
        memory.note_height(2, at(0), &[block(2, 24), block(1, 12)]);
        assert_eq!(memory.block_time, Span::secs(12), "from block timestamps");
        memory.note_height(2, at(3_000), &[]);
        memory.note_height(3, at(12_000), &[]);
        assert_eq!(memory.block_time, Span::secs(12));
        // A clock that was changed by a day, and then the previous pace.
        memory.note_height(4, at(86_400_000), &[]);
        assert_eq!(memory.block_time, Span::secs(30));
        for more in 1..6_u32 {
            memory.note_height(4 + u64::from(more), at(86_400_000 + 12_000 * i64::from(more)), &[]);
        }
        assert!(memory.block_time < Span::secs(13), "{:?}", memory.block_time);
        // A chain whose blocks arrive fast although their timestamps are a second apart.
        let mut memory = Memory::default();
        memory.note_height(2, at(0), &[block(2, 2), block(1, 1)]);
        for more in 1..8_u32 {
            memory.note_height(2 + u64::from(more), at(40 * i64::from(more)), &[]);
        }
        assert!(memory.block_time < Span::millis(60), "{:?}", memory.block_time);
    }

    #[test]
    fn a_range_grows_gradually_up_to_its_bound() {
        let mut range = RangeSize { blocks: 1, ..RangeSize::default() };
        for expected in [2, 3, 4, 6, 8, 11] {
            range.grow();
            assert_eq!(range.blocks, expected);
        }
        for blocks in [1_900, RANGE_MAX] {
            let mut range = RangeSize { blocks, ..RangeSize::default() };
            range.grow();
            assert_eq!(range.blocks, RANGE_MAX);
        }
    }

    #[test]
    fn a_size_that_failed_is_tried_again_after_many_ranges_only() {
        let mut range = RangeSize { blocks: 2, answered: 1, ..RangeSize::default() };
        range.halve();
        assert_eq!(range.blocks, 1);
        for _ in 0..REFUSED_FOR {
            range.grow();
            assert_eq!(range.blocks, 1);
        }
        range.grow();
        assert_eq!(range.blocks, 2);
        // One after the other, as while nodes are away: it grows at once when they are back.
        let mut range = RangeSize { answered: 9, ..RangeSize::default() };
        for _ in 0..12 {
            range.halve();
        }
        assert_eq!(range, RangeSize { blocks: 1, refused: None, answered: 0 });
        range.grow();
        assert_eq!(range.blocks, 2);
        let mut range = RangeSize { blocks: 1, refused: Some(1), answered: 0 };
        range.grow();
        assert_eq!(range.blocks, 1, "one block is always asked for");
    }
}
