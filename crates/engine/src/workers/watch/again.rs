//! Re-reads blocks. No answer of a node proves that a block has no logs: each range is read once
//! more when it is deep, from another node if there is one. Omitted logs are ingested then,
//! invented ones are removed.

use std::collections::BTreeSet;

use domain::chain::{
    Address, Block, BlockAt, ChainFault, ChainLog, Depth, LogEvent, Receipt, Sighting, TransferAt,
};
use domain::chain_tx::BlockRef;
use domain::deposit::{Deposit, VaultLog};
use domain::time::Span;
use domain::wallet_effects::AlertKind;
use store::HEADERS_KEPT;

use super::{Trouble, Watch, place};
use crate::command::deposits::DepositAction;
use crate::rescan;

/// Store key of the height up to which blocks were re-read.
const READ_AGAIN: &str = "chain.read_again";
/// Minimum number of blocks re-read at once: one query for all of them.
const AT_ONCE: u64 = 8;
/// Depth at which blocks are re-read if small deposits count by the nodes' finalized head.
const DEEP: u64 = 64;
/// Time until a vault is rescanned whose balance differs from the sum of its logs. Doubled each time
/// up to the maximum.
const LOOK_THROUGH_AFTER: Span = Span::mins(1);
const LOOK_THROUGH_PAUSE_MAX: Span = Span::hours(6);

/// A vault's movement in a log: block, log index, vault, change in minor units.
type Moved = (u64, u32, Address, i64);

impl Watch<'_> {
    /// Re-reads blocks that have reached the depth at which a small deposit counts.
    pub(super) async fn read_again(&mut self, newest: u64) -> Result<(), Trouble> {
        let Some(tip) = self.tip else { return Ok(()) };
        let deep = match self.wallets.config.small_depth {
            Depth::Blocks(blocks) => blocks.max(1),
            Depth::Safe | Depth::Finalized => DEEP,
        };
        let Some(until) = (newest.min(tip.number) + 1).checked_sub(deep) else { return Ok(()) };
        let done = match self.memory.read_again {
            Some(done) => done,
            None => {
                self.kept_read_again().await?.unwrap_or_else(|| until.saturating_sub(HEADERS_KEPT))
            }
        };
        self.memory.read_again = Some(done);
        if until < done + AT_ONCE {
            return Ok(());
        }
        // Without vaults there is nothing to find.
        if self.workers.store.first_wallet_at(self.number()).await?.is_none() {
            return self.read_again_to(until).await;
        }
        let (from, to) = (done + 1, until.min(done + self.memory.again.blocks));
        let logs = match self.chain.logs_again(from, to, &[]).await {
            Err(ChainFault::TooMuch) if self.memory.again.blocks > 1 => {
                self.memory.again.halve();
                return Ok(());
            }
            // Ingested deposits count regardless if nodes confirm them.
            Err(fault @ (ChainFault::Unreachable(_) | ChainFault::TooMuch)) => {
                tracing::warn!(%fault, from, to, "block re-read failed, will retry");
                return Ok(());
            }
            other => other?,
        };
        for number in self.differing(from, to, &logs).await? {
            if self.read_block_again(number, &logs).await?.is_none() {
                return Ok(());
            }
        }
        self.memory.again.grow();
        self.read_again_to(to).await
    }

    async fn kept_read_again(&self) -> Result<Option<u64>, Trouble> {
        let kept = self.workers.store.meta(&self.number().key(READ_AGAIN)).await?;
        Ok(kept.and_then(|text| text.parse().ok()))
    }

    async fn read_again_to(&mut self, number: u64) -> Result<(), Trouble> {
        let key = self.number().key(READ_AGAIN);
        self.workers.store.set_meta_as(&self.role, &key, &number.to_string()).await?;
        self.memory.read_again = Some(number);
        Ok(())
    }

    /// Blocks above this height have changed: they are re-read in their turn.
    pub(super) async fn read_again_from(&mut self, kept: u64) -> Result<(), Trouble> {
        let done = self.kept_read_again().await?;
        if done.is_some_and(|done| done > kept) { self.read_again_to(kept).await } else { Ok(()) }
    }

    /// The blocks of a range whose logs differ from the stored ones.
    pub(super) async fn differing(
        &self,
        from: u64,
        to: u64,
        logs: &[ChainLog],
    ) -> Result<BTreeSet<u64>, Trouble> {
        let said = self.moves(logs).await?;
        let kept = self.workers.store.vault_logs_between(self.number(), from, to).await?;
        let addresses: Vec<Address> =
            kept.iter().map(|log| log.vault).collect::<BTreeSet<_>>().into_iter().collect();
        // Payments of controllers to treasuries are stored as well.
        let watched = self.workers.store.watched(&addresses).await?;
        let of_chain = watched.iter().filter(|vault| vault.chain == self.number());
        let watched: BTreeSet<Address> = of_chain.map(|vault| vault.address).collect();
        let of_vault = |log: &&VaultLog| watched.contains(&log.vault);
        let kept: BTreeSet<Moved> = kept.iter().filter(of_vault).map(moved).collect();
        Ok(said.symmetric_difference(&kept).map(|(number, ..)| *number).collect())
    }

    /// The vaults' movements in logs.
    async fn moves(&self, logs: &[ChainLog]) -> Result<BTreeSet<Moved>, Trouble> {
        let vaults = self.vaults(logs).await?;
        let mut moves = BTreeSet::new();
        for log in logs.iter().filter(|log| self.wallets.config.coin(&log.contract).is_some()) {
            let mut add = |vault: Address, minor: i64| {
                if vaults.contains_key(&vault) {
                    moves.insert((log.block_number, log.log_index, vault, minor));
                }
            };
            match log.event {
                LogEvent::Transfer { from, to, value } if value > 0 && from != to => {
                    let Ok(minor) = i64::try_from(value) else { continue };
                    add(from, -minor);
                    add(to, minor);
                }
                LogEvent::FundsDestroyed { account, value } if value > 0 => {
                    let Ok(minor) = i64::try_from(value) else { continue };
                    add(account, -minor);
                }
                _ => {}
            }
        }
        Ok(moves)
    }

    /// Re-reads one ingested block from all nodes.
    pub(super) async fn read_block_of_all(
        &mut self,
        number: u64,
    ) -> Result<Option<usize>, Trouble> {
        let shown = self.chain.logs_again(number, number, &[]).await?;
        self.read_block_again(number, &shown).await
    }

    /// Re-reads one ingested block and stores its logs, and those of `shown` that enough nodes confirm;
    /// returns how many transfers to our vaults had been omitted. `None` = too few nodes have the block,
    /// or one of those logs, now.
    pub(super) async fn read_block_again(
        &mut self,
        number: u64,
        shown: &[ChainLog],
    ) -> Result<Option<usize>, Trouble> {
        if self.tip.is_none_or(|tip| tip.number < number) {
            return Ok(None);
        }
        let Some(block) = self.chain.block(BlockAt::Number(number)).await? else { return Ok(None) };
        if self.chain.agreed_block(number, block.hash).await?.is_none() {
            return Ok(None);
        }
        let logs = self.chain.logs(block.hash, &[]).await?;
        // Tokens' own states may have changed since.
        let moving = |log: &&ChainLog| {
            matches!(log.event, LogEvent::Transfer { .. } | LogEvent::FundsDestroyed { .. })
                || log.event.is_undecodable()
        };
        let mut logs: Vec<ChainLog> = logs.iter().filter(moving).copied().collect();
        for log in self.not_in(&logs, shown, &block).await? {
            match self.sighting_of(&log).await? {
                Sighting::Confirmed => logs.push(log),
                Sighting::Absent => {}
                Sighting::Open => return Ok(None),
            }
        }
        logs.sort_by_key(|log| log.log_index);
        let mut kept = self.take_logs(&block, &logs).await?;
        let before = self.workers.store.vault_logs_between(self.number(), number, number).await?;
        let before: Vec<VaultLog> =
            before.into_iter().filter(|log| log.place.block == block.hash).collect();
        let is_new = |log: &&VaultLog| !before.iter().any(|known| moved(known) == moved(log));
        let found = kept.iter().filter(is_new).count();
        let mut gone = 0;
        for log in before {
            if kept.iter().any(|known| moved(known) == moved(&log)) {
                continue;
            }
            // A log missing from this answer may have been omitted from it.
            if self.is_absent(&log).await? { gone += 1 } else { kept.push(log) }
        }
        self.forget_absent(&block).await?;
        let chain = self.number();
        self.workers.store.amend_block(&self.role, chain, block.hash, &kept).await?;
        if found > 0 || gone > 0 {
            tracing::warn!(number, found, gone, "re-read block differs from the ingested block");
            let what = format!(
                "block {number} was re-read: a node had omitted {found} transfers and invented {gone}"
            );
            self.workers.alert_everybody(chain, AlertKind::ChainNode, &what).await;
        }
        Ok(Some(found))
    }

    /// Logs of `shown` that move our coins from or to vaults and are missing in `logs`.
    async fn not_in(
        &self,
        logs: &[ChainLog],
        shown: &[ChainLog],
        block: &Block,
    ) -> Result<Vec<ChainLog>, Trouble> {
        let vaults = self.vaults(shown).await?;
        let is_missing = |log: &&ChainLog| {
            let LogEvent::Transfer { from, to, value } = log.event else { return false };
            let is_ours = value > 0 && (vaults.contains_key(&from) || vaults.contains_key(&to));
            let is_here =
                log.block == block.hash && self.wallets.config.coin(&log.contract).is_some();
            is_ours && is_here && !logs.iter().any(|known| known.log_index == log.log_index)
        };
        Ok(shown.iter().filter(is_missing).copied().collect())
    }

    /// Whether enough nodes have a transfer that one of them returned.
    async fn sighting_of(&self, log: &ChainLog) -> Result<Sighting, Trouble> {
        let LogEvent::Transfer { from, to, value } = log.event else { return Ok(Sighting::Absent) };
        let transfer = TransferAt {
            block_number: log.block_number,
            block: log.block,
            tx: log.tx,
            ordinal: log.ordinal,
            token: log.contract,
            from,
            to,
            value,
        };
        Ok(self.chain.sees(&transfer).await?)
    }

    /// Drops deposits from a block that does not contain them, as confirmed by enough nodes, and from
    /// one that this block has replaced: those that were put aside when it was.
    async fn forget_absent(&self, block: &Block) -> Result<(), Trouble> {
        let known = self.workers.store.deposits_from_height(self.number(), block.number).await?;
        let at_height = |it: &Deposit| it.place.filter(|place| place.number == block.number);
        for (deposit, at) in known.iter().filter_map(|it| Some((it, at_height(it)?))) {
            if at != place(block) || self.is_deposit_absent(deposit, at).await? {
                let height = self.tip.map_or(block.number, |tip| tip.number);
                let action = DepositAction::Lost { block: at, height };
                self.must_deposit(deposit, None, action).await?;
            }
        }
        Ok(())
    }

    async fn is_deposit_absent(&self, deposit: &Deposit, at: BlockRef) -> Result<bool, Trouble> {
        let Some(token) = self.wallets.config.token(deposit.coin) else { return Ok(false) };
        Ok(self.chain.sees(&deposit.transfer_at(at, token)).await? == Sighting::Absent)
    }

    /// Whether no node has a stored log. A receipt that enough nodes have decides.
    async fn is_absent(&self, log: &VaultLog) -> Result<bool, Trouble> {
        let Some(receipt) = self.chain.receipt(log.tx, &[]).await? else { return Ok(true) };
        if self.chain.confirms(&receipt, &[]).await? != Sighting::Confirmed {
            return Ok(false);
        }
        Ok((receipt.block_number, receipt.block) != (log.place.number, log.place.block)
            || !has(&receipt, log))
    }

    /// Rescans a vault whose balance differs from the sum of its logs, but not in every round.
    pub(super) async fn look_through(&mut self, vault: Address) -> Result<(), Trouble> {
        let now = self.workers.clock().now();
        self.memory
            .looked_through
            .retain(|_, (at, _)| now - *at < Span(LOOK_THROUGH_PAUSE_MAX.0 * 2));
        let pause = match self.memory.looked_through.get(&vault) {
            Some((at, pause)) if now - *at < *pause => return Ok(()),
            Some((_, pause)) => Span(pause.0 * 2).min(LOOK_THROUGH_PAUSE_MAX),
            None => LOOK_THROUGH_AFTER,
        };
        self.memory.looked_through.insert(vault, (now, pause));
        rescan::want_if_new(&self.workers.store, self.number(), rescan::Target::Vault(vault))
            .await?;
        Ok(())
    }
}

const fn moved(log: &VaultLog) -> Moved {
    (log.place.number, log.log_index, log.vault, log.minor)
}

/// Whether a receipt contains a stored log.
fn has(receipt: &Receipt, log: &VaultLog) -> bool {
    receipt.logs.iter().any(|it| {
        it.log_index == log.log_index
            && match it.event {
                LogEvent::Transfer { from, to, value } => {
                    let party = if log.minor > 0 { to } else { from };
                    // A controller's payment is stored under its own address.
                    party == log.vault && value == log.minor.unsigned_abs()
                }
                LogEvent::FundsDestroyed { account, value } => {
                    account == log.vault && value == log.minor.unsigned_abs()
                }
                _ => false,
            }
    })
}
