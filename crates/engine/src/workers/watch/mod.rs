//! Watches the chain: takes its blocks in one by one, notices reorganisations, sees deposits and lets them count. One
//! node at a time. A block's deposits are saved before the block itself: a crash brings the block again.

use std::sync::Arc;

use domain::chain::{Block, BlockAt, BlockHash, ChainFault, ChainLog, Heads};
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

mod count;
mod logs;
mod reorg;
mod tokens;

/// Wait before the role is asked for again, or a node that did not answer.
const RETRY: Span = Span::secs(2);
/// The role is renewed this often during its lease.
const RENEWALS_PER_LEASE: i64 = 4;
/// A block's time and ours differ by less.
const CLOCKS_DIFFER: Span = Span::mins(15);
/// Further behind than this, blocks are taken in by ranges.
const RANGE_FROM: u64 = 8;
/// The most blocks of a range; halved where a node has too much to say, doubled where it has not.
const RANGE_MAX: u64 = 2_000;

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
}

impl Default for Memory {
    fn default() -> Memory {
        Memory { held: None, range: RANGE_MAX }
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
    /// Blocks that the next range asks for at most.
    range: u64,
}

/// Whether a round brought news.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Round {
    /// There is more to take in.
    More,
    /// Everything is taken in.
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
            Some(Round::UpToDate) => workers.pause(workers.world.tuning.poll, &mut stop).await,
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
        while self.watch_round(wallets, &mut memory).await == Some(Round::More) {}
    }

    /// One look at the chain; `None` = somebody else has the role, or something does not answer.
    async fn watch_round(&self, wallets: &WalletWorld, memory: &mut Memory) -> Option<Round> {
        let role = self.watcher_role(wallets, memory).await?;
        let chain = wallets.chain.as_ref();
        let mut watch = Watch { workers: self, wallets, chain, role, tip: None, range: memory.range };
        let done = watch.round().await;
        memory.range = watch.range;
        match done {
            Ok(round) => Some(round),
            Err(trouble) => {
                memory.held = None;
                tracing::warn!(%trouble, "the chain cannot be taken in now");
                metrics::counter!("corridor_chain_faults_total").increment(1);
                if let Trouble::Chain(ChainFault::Disagreement(number)) = trouble {
                    let what = format!("two nodes do not agree about block {number}");
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
        let heads = self.chain.heads().await?;
        self.tip = self.workers.store.chain_headers(1).await?.pop();
        let Some(tip) = self.tip else {
            let Some(first) = self.first_block(&heads.latest).await? else { return Ok(Round::UpToDate) };
            self.take_in(&first, &[]).await?;
            return Ok(Round::More);
        };
        match self.standing(&tip, &heads).await? {
            Standing::Here => {}
            Standing::Ahead => return Ok(Round::UpToDate),
            Standing::Gone => {
                self.rewind(&heads).await?;
                return Ok(Round::More);
            }
        }
        let behind = heads.latest.number.saturating_sub(tip.number);
        metrics::gauge!("corridor_chain_head_lag_blocks").set(u32::try_from(behind).unwrap_or(u32::MAX));
        if behind > RANGE_FROM {
            self.catch_up(&tip, &heads).await?;
        } else if behind > 0 && !self.next_block(&tip).await? {
            return Ok(Round::More);
        }
        // In every round: where blocks come faster than they are taken in, none finds the watcher at the newest one.
        self.count(&heads).await?;
        if behind > 1 {
            return Ok(Round::More);
        }
        Ok(Round::UpToDate)
    }

    /// The block to begin behind: nobody can have paid a vault before the first wallet was made. `None` = the node does
    /// not tell the block now.
    async fn first_block(&self, latest: &Block) -> Result<Option<Block>, Trouble> {
        let Some(since) = self.workers.store.first_wallet_at().await? else { return Ok(Some(*latest)) };
        let (mut block, mut back) = (*latest, 1);
        while block.at + CLOCKS_DIFFER > since && block.number > 0 {
            let number = latest.number.saturating_sub(back);
            let Some(earlier) = self.chain.block(BlockAt::Number(number)).await? else { return Ok(None) };
            (block, back) = (earlier, back.saturating_mul(2));
        }
        Ok(Some(block))
    }

    /// Where the newest block that was taken in stands.
    async fn standing(&self, tip: &Block, heads: &Heads) -> Result<Standing, Trouble> {
        let latest = &heads.latest;
        if latest.number < tip.number {
            // A node that knows less of the same chain has lost nothing: it lags, or another one answers now.
            let kept = self.workers.store.chain_headers(usize::try_from(HEADERS_KEPT).unwrap_or(usize::MAX)).await?;
            let same = kept.iter().any(|header| (header.number, header.hash) == (latest.number, latest.hash));
            return Ok(if same { Standing::Ahead } else { Standing::Gone });
        }
        let there = if latest.number == tip.number {
            Some(*latest)
        } else {
            self.chain.block(BlockAt::Number(tip.number)).await?
        };
        let here = there.is_some_and(|there| there.hash == tip.hash);
        Ok(if here { Standing::Here } else { Standing::Gone })
    }

    /// Takes the block behind the tip in; `false` = it does not follow the tip, the chain was reorganised meanwhile.
    async fn next_block(&mut self, tip: &Block) -> Result<bool, Trouble> {
        let Some(block) = self.chain.block(BlockAt::Number(tip.number + 1)).await? else { return Ok(false) };
        if block.parent != tip.hash {
            return Ok(false);
        }
        let logs = self.chain.logs(block.hash, &[]).await?;
        let kept = self.take_logs(&block, &logs).await?;
        self.take_in(&block, &kept).await?;
        Ok(true)
    }

    /// Takes many blocks in at once: those with logs of ours, and the last one. Where the last one is the same before and
    /// after the logs were read, they are all that its chain has; what else is reorganised meanwhile, the next round finds.
    async fn catch_up(&mut self, tip: &Block, heads: &Heads) -> Result<(), Trouble> {
        let (from, to) = (tip.number + 1, (tip.number + self.range).min(heads.latest.number));
        let Some(last) = self.chain.block(BlockAt::Number(to)).await? else { return Ok(()) };
        let logs = match self.chain.logs_in(from, to, &[]).await {
            Err(ChainFault::TooMuch) if self.range > 1 => {
                self.range /= 2;
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
            self.range = (self.range * 2).min(RANGE_MAX);
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

const fn place(block: &Block) -> Place {
    Place { number: block.number, block: block.hash }
}
