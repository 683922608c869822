//! Watches the chain: takes its blocks in one by one, notices reorganisations, sees deposits and lets them count. One
//! node at a time. A block's deposits are saved before the block itself: a crash brings the block again.

use std::collections::BTreeMap;
use std::sync::Arc;

use domain::chain::{Address, Block, BlockAt, BlockHash, ChainFault, ChainLog};
use domain::chain_tx::Place;
use domain::ids::TenantId;
use domain::ports::Chain;
use domain::time::{Span, Timestamp};
use domain::wallet_effects::{Alert, AlertKind};
use store::{HEADERS_KEPT, HeldRole, StoreError};

use super::{Stop, Workers};
use crate::command::Action;
use crate::failpoint::{self, Failpoint};
use crate::world::WalletWorld;

mod again;
mod count;
mod logs;
mod nodes;
mod reorg;
mod rescan;
mod tokens;

/// Wait before the role is asked for again, or a node that did not answer.
const RETRY: Span = Span::secs(2);
/// The role is renewed this often during its lease.
const RENEWALS_PER_LEASE: i64 = 4;
/// A block's time and ours differ by less.
const CLOCKS_DIFFER: Span = Span::mins(15);
/// Further behind than this, blocks are taken in by ranges.
const RANGE_FROM: u64 = 8;
/// The most blocks of a range; halved where it is not answered, longer again by and by.
const RANGE_MAX: u64 = 2_000;
/// The longest pause between two looks at the chain: a quarter of the time that a block of Ethereum's takes.
const LOOK_MAX: Span = Span::secs(3);
/// How many blocks' times say how long a block takes.
const TIMED_BLOCKS: usize = 16;
/// The longest time for which the newest block is not looked for again.
const CHECKED_MAX: Span = Span::secs(18);

/// Why a round was not finished. What was done of it stays done, the rest is done in the next one.
#[derive(Debug, thiserror::Error)]
enum Trouble {
    #[error(transparent)]
    Chain(#[from] ChainFault),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("a command was not taken")]
    Command,
}

/// What the watcher keeps from one round to the next.
#[derive(Debug)]
struct Memory {
    /// The role, and since when it has been held without asking again.
    held: Option<(HeldRole, Timestamp)>,
    /// Blocks that the next range asks for at most.
    range: u64,
    /// The same for ranges that are read again.
    again: u64,
    /// When the newest block that was taken in was last seen to be in the chain.
    checked: Option<Timestamp>,
    /// How high the chain was last seen to be, and since when.
    height: Option<(u64, Timestamp)>,
    /// How long a block takes.
    block_time: Span,
    /// How nodes have served lately.
    nodes: nodes::Ward,
    /// When a vault was last looked through again because its balance is not what its logs add up to.
    looked_through: BTreeMap<Address, Timestamp>,
    /// How far blocks were read again, as the store has it; `None` = it is asked.
    read_again: Option<u64>,
    /// The rescan under way, as far as it is done.
    rescan: Option<rescan::Progress>,
    /// When wishes for rescans were looked for last.
    looked_for_wishes: Option<Timestamp>,
}

impl Default for Memory {
    fn default() -> Memory {
        Memory {
            held: None,
            range: RANGE_MAX,
            again: RANGE_MAX,
            checked: None,
            height: None,
            block_time: Span(0),
            nodes: nodes::Ward::default(),
            looked_through: BTreeMap::new(),
            read_again: None,
            rescan: None,
            looked_for_wishes: None,
        }
    }
}

impl Memory {
    /// How long a block takes is what is seen of it: half of what was seen before, half of the newest one. A pause, or a
    /// clock that was moved, is not taken for the pace of the chain at once. At first it is what blocks claim.
    fn note_height(&mut self, newest: u64, now: Timestamp, headers: &[Block]) {
        if self.block_time.0 == 0 {
            self.block_time = headers
                .first()
                .zip(headers.last())
                .map_or(Span(0), |(newest, oldest)| per_block(oldest.number, newest.number, newest.at - oldest.at));
        }
        match self.height {
            Some((height, _)) if height >= newest => {}
            Some((height, since)) => {
                let took = per_block(height, newest, now - since);
                let known = self.block_time;
                self.block_time = if known.0 == 0 { took } else { Span(known.0.midpoint(took.0.min(known.0 * 4))) };
                self.height = Some((newest, now));
            }
            None => self.height = Some((newest, now)),
        }
    }
}

/// One round.
struct Watch<'a> {
    workers: &'a Workers,
    wallets: &'a WalletWorld,
    chain: &'a dyn Chain,
    role: HeldRole,
    /// The newest block that was taken in.
    tip: Option<Block>,
    memory: &'a mut Memory,
}

/// What a round brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Round {
    /// There is more to take in.
    More,
    /// A block was taken in, and there is none after it: the next one is not due for a while.
    Fresh,
    /// Everything was taken in before.
    UpToDate,
}

/// Where the newest block that was taken in stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standing {
    /// In the chain.
    Here,
    /// Ahead of what the node knows now.
    Ahead,
    /// No longer in the chain.
    Gone,
}

/// What became of taking the next block in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    Taken,
    /// The node that answers does not have it.
    Missing,
    /// It does not follow the newest one that was taken in.
    Other,
}

pub(super) async fn watch(workers: Arc<Workers>, wallets: WalletWorld, mut stop: Stop) {
    let mut memory = Memory::default();
    while !*stop.borrow() {
        let round = workers.watch_round(&wallets, &mut memory);
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
    workers.hand_on(&role_name(&wallets)).await;
}

fn role_name(wallets: &WalletWorld) -> String {
    format!("watch:{}", wallets.config.name)
}

impl Workers {
    /// Takes in all that the chain has now, once.
    pub(super) async fn watch_once(&self, wallets: &WalletWorld) {
        let mut memory = Memory::default();
        while matches!(self.watch_round(wallets, &mut memory).await, Some(Round::More | Round::Fresh)) {}
    }

    /// So many quarters of the time that a block takes, and not longer than a block of mainnet's.
    fn quarters(&self, memory: &Memory, count: i64) -> Span {
        let quarter = Span(memory.block_time.0 / 4).min(LOOK_MAX);
        Span(quarter.0 * count).max(self.world.tuning.poll)
    }

    /// One look at the chain; `None` = another process has the role, or something does not answer.
    async fn watch_round(&self, wallets: &WalletWorld, memory: &mut Memory) -> Option<Round> {
        let role = self.watcher_role(wallets, memory).await?;
        self.look_after_nodes(wallets, memory).await;
        let chain = wallets.chain.as_ref();
        let done = Watch { workers: self, wallets, chain, role, tip: None, memory: &mut *memory }.round().await;
        match done {
            Ok(round) => Some(round),
            Err(trouble) => {
                memory.held = None;
                tracing::warn!(%trouble, "the chain cannot be taken in now");
                metrics::counter!("corridor_chain_faults_total").increment(1);
                if let Trouble::Chain(ChainFault::Disagreement(what)) = trouble {
                    let what = format!("two nodes do not agree about {what}");
                    self.alert_everybody(AlertKind::ChainMismatch, &what).await;
                }
                None
            }
        }
    }

    /// The watcher's role, if this node has it. It is asked for again long before its lease runs out; whoever writes
    /// without having it any more is refused.
    async fn watcher_role(&self, wallets: &WalletWorld, memory: &mut Memory) -> Option<HeldRole> {
        let (now, lease) = (self.clock().now(), self.world.tuning.lease);
        if let Some((role, since)) = &memory.held
            && now - *since < Span(lease.0 / RENEWALS_PER_LEASE)
        {
            return Some(role.clone());
        }
        let name = role_name(wallets);
        let fence = match self.store.lease_role(&name, &self.owner, lease).await {
            Ok(fence) => fence,
            Err(error) => {
                tracing::warn!(%error, role = name, "the watcher's role cannot be asked for now");
                None
            }
        };
        let role = fence.map(|fence| HeldRole { name, owner: self.owner.clone(), fence });
        if role.as_ref() != memory.held.as_ref().map(|(role, _)| role) {
            // Another process may have had it in between, or a write of ours failed.
            memory.read_again = None;
        }
        memory.held = role.clone().map(|role| (role, now));
        role
    }

    /// Calls a person of every tenant.
    async fn alert_everybody(&self, kind: AlertKind, what: &str) {
        match self.store.tenants().await {
            Ok(tenants) => {
                for tenant in tenants {
                    self.raise(tenant.id, Alert { kind, subject: tenant.id.0, what: what.to_owned() }).await;
                }
            }
            Err(error) => tracing::warn!(%error, what, "a person has to look, and tenants cannot be read now"),
        }
    }
}

impl Watch<'_> {
    async fn round(&mut self) -> Result<Round, Trouble> {
        let newest = self.chain.head().await?;
        let headers = self.workers.store.chain_headers(TIMED_BLOCKS).await?;
        self.tip = headers.first().copied();
        self.memory.note_height(newest, self.workers.clock().now(), &headers);
        let Some(tip) = self.tip else {
            let Some(latest) = self.chain.block(BlockAt::Latest).await? else { return Ok(Round::UpToDate) };
            let since = self.workers.store.first_wallet_at().await?;
            // Two blocks, so that their times say how long one takes.
            let before = self.chain.block(BlockAt::Number(latest.number.saturating_sub(1))).await?;
            let start = if since.is_none() { before } else { self.block_before(&latest, since).await? };
            let Some(first) = start else { return Ok(Round::UpToDate) };
            self.take_in(&first, &[]).await?;
            return Ok(Round::More);
        };
        let behind = newest.saturating_sub(tip.number);
        metrics::gauge!("corridor_chain_head_lag_blocks").set(u32::try_from(behind).unwrap_or(u32::MAX));
        if !self.is_checked(newest, &tip) {
            match self.standing(&tip, newest).await? {
                Standing::Here => self.memory.checked = Some(self.workers.clock().now()),
                Standing::Ahead => return Ok(Round::UpToDate),
                Standing::Gone => {
                    self.rewind(newest).await?;
                    return Ok(Round::More);
                }
            }
        }
        let mut round = if behind > 1 { Round::More } else { Round::UpToDate };
        if behind > RANGE_FROM {
            self.catch_up(&tip, newest).await?;
        } else if behind > 0 {
            match self.next_block(&tip).await? {
                Next::Taken if behind == 1 => round = Round::Fresh,
                Next::Taken => {}
                Next::Missing => return Ok(Round::UpToDate),
                Next::Other => {
                    // Seen to be in the chain before: that is asked again now.
                    self.memory.checked = None;
                    if self.standing(&tip, newest).await? == Standing::Gone {
                        self.rewind(newest).await?;
                        return Ok(Round::More);
                    }
                    return Ok(Round::UpToDate);
                }
            }
            self.memory.checked = Some(self.workers.clock().now());
        }
        // In every round: where blocks come faster than they are taken in, none finds the watcher at the newest one.
        self.count(newest).await?;
        self.read_again(newest).await?;
        let goes_on = self.go_on_rescanning().await?;
        Ok(if goes_on { Round::More } else { round })
    }

    /// Whether nothing need be asked about the newest block that was taken in: the next one names it as its parent, and
    /// as long as none is overdue the chain is asked for nothing but its height.
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

    /// A block that is older than `since`, and not much older; `latest` for `None`. `Ok(None)` = the node does not tell the
    /// block now.
    async fn block_before(&self, latest: &Block, since: Option<Timestamp>) -> Result<Option<Block>, Trouble> {
        // Nothing can have been paid to a vault before the first wallet was made.
        let Some(since) = since else { return Ok(Some(*latest)) };
        let (mut block, mut back) = (*latest, 1);
        while block.at + CLOCKS_DIFFER > since && block.number > 0 {
            let number = latest.number.saturating_sub(back);
            let Some(earlier) = self.chain.block(BlockAt::Number(number)).await? else { return Ok(None) };
            (block, back) = (earlier, back.saturating_mul(2));
        }
        Ok(Some(block))
    }

    /// Where the newest block that was taken in stands. A node that does not have it lags: only another block in its
    /// place shows that it is gone.
    async fn standing(&self, tip: &Block, newest: u64) -> Result<Standing, Trouble> {
        if newest >= tip.number {
            return Ok(if self.chain.is_gone(tip).await? { Standing::Gone } else { Standing::Here });
        }
        let kept = self.workers.store.chain_headers(usize::try_from(HEADERS_KEPT).unwrap_or(usize::MAX)).await?;
        // Further back than headers are kept: a node that has less was set up from the start.
        let Some(known) = kept.iter().find(|header| header.number <= newest) else { return Ok(Standing::Ahead) };
        Ok(if self.chain.is_gone(known).await? { Standing::Gone } else { Standing::Ahead })
    }

    /// Takes the block after the tip in.
    async fn next_block(&mut self, tip: &Block) -> Result<Next, Trouble> {
        let Some(block) = self.chain.block(BlockAt::Number(tip.number + 1)).await? else { return Ok(Next::Missing) };
        if block.parent != tip.hash {
            return Ok(Next::Other);
        }
        let logs = self.chain.logs(block.hash, &[]).await?;
        let kept = self.take_logs(&block, &logs).await?;
        self.take_in(&block, &kept).await?;
        Ok(Next::Taken)
    }

    /// Takes many blocks in at once: those with logs of ours, and the last one. Where the last one is the same before and
    /// after the logs were read, they are all that its chain has; what else is reorganised meanwhile, the next round finds.
    async fn catch_up(&mut self, tip: &Block, newest: u64) -> Result<(), Trouble> {
        let (from, to) = (tip.number + 1, (tip.number + self.memory.range).min(newest));
        let Some(last) = self.chain.block(BlockAt::Number(to)).await? else { return Ok(()) };
        let logs = match self.chain.logs_in(from, to, &[]).await {
            Err(ChainFault::TooMuch) if self.memory.range > 1 => {
                self.memory.range /= 2;
                return Ok(());
            }
            other => other?,
        };
        for of_block in logs.chunk_by(|one, other| one.block == other.block) {
            let Some(first) = of_block.first() else { continue };
            if !self.concerns_us(of_block).await? || first.block_number == to {
                continue;
            }
            if !self.extend((first.block_number, first.block), of_block).await? {
                return Ok(());
            }
        }
        let of_last: Vec<_> = logs.iter().filter(|log| log.block_number == to).copied().collect();
        let foreign = of_last.iter().any(|log| log.block != last.hash);
        if !foreign && self.extend((to, last.hash), &of_last).await? {
            self.memory.range = grown(self.memory.range);
        }
        Ok(())
    }

    /// Takes a block in that is further up than the next one; `false` = it is not in the chain that the tip is in, which
    /// was reorganised meanwhile. The tip is asked for last: while it is there, no block below it was exchanged unseen.
    async fn extend(&mut self, (number, hash): (u64, BlockHash), logs: &[ChainLog]) -> Result<bool, Trouble> {
        let block = self.chain.block(BlockAt::Number(number)).await?.filter(|block| block.hash == hash);
        let (Some(block), Some(tip)) = (block, self.tip) else { return Ok(false) };
        let follows = block.parent == tip.hash
            || self.chain.block(BlockAt::Number(tip.number)).await?.is_some_and(|there| there.hash == tip.hash);
        if follows {
            let kept = self.take_logs(&block, logs).await?;
            self.take_in(&block, &kept).await?;
        }
        Ok(follows)
    }

    async fn take_in(&mut self, block: &Block, kept: &[domain::deposit::VaultLog]) -> Result<(), Trouble> {
        failpoint::reach(Failpoint::BeforeBlock);
        self.workers.store.take_block_in(&self.role, block, kept).await?;
        failpoint::reach(Failpoint::AfterBlock);
        self.tip = Some(*block);
        Ok(())
    }

    /// Has something done that must be done before this round goes on.
    async fn must(&self, tenant: TenantId, subject: uuid::Uuid, action: Action) -> Result<(), Trouble> {
        let command = crate::command::Command { tenant, action };
        match self.workers.engine.execute(command).await {
            Ok(crate::command::Outcome::Refused(refused)) => {
                tracing::warn!(%subject, %refused, "what the chain says was refused");
                Err(Trouble::Command)
            }
            Ok(_) => Ok(()),
            // It would panic again: it is logged, and not allowed to hold up every block behind it.
            Err(crate::batcher::EngineError::Internal) => {
                tracing::error!(%subject, "what the chain says could not be applied");
                Ok(())
            }
            Err(error) => {
                tracing::warn!(%subject, %error, "what the chain says was not taken; it comes again");
                Err(Trouble::Command)
            }
        }
    }
}

/// A range that was answered: the next one may be a little longer. What was too much a moment ago is not tried at once.
fn grown(range: u64) -> u64 {
    (range + range / 4 + 1).min(RANGE_MAX)
}

fn per_block(from: u64, to: u64, took: Span) -> Span {
    let blocks = i64::try_from(to.saturating_sub(from)).unwrap_or(i64::MAX);
    Span(took.0.max(0).checked_div(blocks).unwrap_or(0))
}

const fn place(block: &Block) -> Place {
    Place { number: block.number, block: block.hash }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: i64) -> Timestamp {
        Timestamp(0) + Span::millis(millis)
    }

    #[test]
    fn the_pace_of_a_chain_is_what_is_seen_of_it() {
        let block = |number, secs: i64| {
            let hash = BlockHash([u8::try_from(number).expect("small"); 32]);
            Block { number, hash, parent: hash, at: at(secs * 1_000) }
        };
        let mut memory = Memory::default();
        memory.note_height(2, at(0), &[block(2, 24), block(1, 12)]);
        assert_eq!(memory.block_time, Span::secs(12), "as blocks claim");
        memory.note_height(2, at(3_000), &[]);
        memory.note_height(3, at(12_000), &[]);
        assert_eq!(memory.block_time, Span::secs(12));
        // A clock that was moved by a day, and then the old pace.
        memory.note_height(4, at(86_400_000), &[]);
        assert_eq!(memory.block_time, Span::secs(30));
        for more in 1..6_u32 {
            memory.note_height(4 + u64::from(more), at(86_400_000 + 12_000 * i64::from(more)), &[]);
        }
        assert!(memory.block_time < Span::secs(13), "{:?}", memory.block_time);
        // A chain whose blocks come fast although they claim a second each.
        let mut memory = Memory::default();
        memory.note_height(2, at(0), &[block(2, 2), block(1, 1)]);
        for more in 1..8_u32 {
            memory.note_height(2 + u64::from(more), at(40 * i64::from(more)), &[]);
        }
        assert!(memory.block_time < Span::millis(60), "{:?}", memory.block_time);
    }

    #[test]
    fn a_range_grows_by_and_by_up_to_its_bound() {
        let mut range = 1;
        for expected in [2, 3, 4, 6, 8, 11] {
            range = grown(range);
            assert_eq!(range, expected);
        }
        assert_eq!((grown(1_900), grown(RANGE_MAX)), (RANGE_MAX, RANGE_MAX));
    }
}
