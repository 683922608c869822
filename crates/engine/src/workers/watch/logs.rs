//! Applies a block's logs: coins entering or leaving vaults, unsupported tokens, blacklists,
//! pauses.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use domain::chain::{
    Address, Announcement, Block, ChainLog, ChainNumber, LogEvent, ReleaseMin, TxHash,
};
use domain::currency::StableCoin;
use domain::deposit::arrive::Found;
use domain::deposit::{UnsupportedAsset, VaultLog, Watched};
use domain::ids::TenantId;
use domain::wallet::WalletState;
use domain::wallet_effects::{Alert, AlertKind};
use futures_util::future::join_all;

use super::{Trouble, Watch, place};
use crate::alerts;
use crate::command::Action;
use crate::command::chain::ChainAction;
use crate::command::deposits::{DepositAction, DepositRef};

/// Maximum number of unsupported-token transfers recorded per tenant.
const UNSUPPORTED_MAX: usize = 1_000;
/// The same of one token contract.
const OF_ONE_TOKEN_MAX: usize = 100;

/// Each tenant's recorded transfers of unsupported tokens, by chain, transaction and place in it, with
/// their contracts.
pub(super) type Strange = BTreeMap<TenantId, BTreeMap<(ChainNumber, TxHash, u32), Address>>;

/// The vaults of this chain, and those of other chains that were paid here: the same address can
/// exist on every chain.
#[derive(Default)]
pub(super) struct Vaults {
    own: BTreeMap<Address, Watched>,
    elsewhere: BTreeMap<Address, Watched>,
}

impl Vaults {
    pub(super) fn get(&self, address: &Address) -> Option<&Watched> {
        self.own.get(address)
    }

    pub(super) fn contains_key(&self, address: &Address) -> bool {
        self.own.contains_key(address)
    }

    /// Whether the logs concern no vault at all.
    fn is_empty(&self) -> bool {
        self.own.is_empty() && self.elsewhere.is_empty()
    }
}

impl Watch<'_> {
    /// Whether any of the logs concerns one of our vaults, a token itself, or may concern a
    /// controller.
    pub(super) async fn concerns_us(&self, logs: &[ChainLog]) -> Result<bool, Trouble> {
        let about_contracts = |log: &ChainLog| {
            matches!(
                log.event,
                LogEvent::Paused
                    | LogEvent::Unpaused
                    | LogEvent::CodeChanged
                    | LogEvent::Announced { .. }
                    | LogEvent::Undecodable { .. }
            )
        };
        if logs.iter().any(about_contracts) {
            return Ok(true);
        }
        let vaults = self.vaults(logs).await?;
        Ok(!vaults.is_empty() || !self.payers(logs, &vaults).await?.is_empty())
    }

    /// The controllers that pay addresses other than vaults in these logs: such payments go to
    /// their treasuries. Tenants are read only if there is one.
    async fn payers(
        &self,
        logs: &[ChainLog],
        vaults: &Vaults,
    ) -> Result<BTreeSet<Address>, Trouble> {
        let outside = |log: &ChainLog| match log.event {
            LogEvent::Transfer { from, to, value } if value > 0 => {
                (!vaults.contains_key(&from) && !vaults.contains_key(&to)).then_some(from)
            }
            _ => None,
        };
        let payers: BTreeSet<Address> = logs.iter().filter_map(outside).collect();
        if payers.is_empty() {
            return Ok(payers);
        }
        let tenants = self.workers.store.tenants().await?;
        // A controller that cannot be determined has no keys, and so has never moved anything.
        let known =
            tenants.iter().filter_map(|tenant| self.wallets.contracts.controller(tenant.id).ok());
        Ok(known
            .map(|controller| controller.address)
            .filter(|address| payers.contains(address))
            .collect())
    }

    pub(super) async fn vaults(&self, logs: &[ChainLog]) -> Result<Vaults, Trouble> {
        let mut addresses: Vec<Address> =
            logs.iter().flat_map(|log| parties(&log.event)).flatten().collect();
        addresses.sort_unstable();
        addresses.dedup();
        let mut vaults = Vaults::default();
        for vault in self.workers.store.watched(&addresses).await? {
            let is_own = vault.chain == self.number();
            let of = if is_own { &mut vaults.own } else { &mut vaults.elsewhere };
            of.insert(vault.address, vault);
        }
        Ok(vaults)
    }

    /// Applies a block's logs; returns the vault movements to store.
    pub(super) async fn take_logs(
        &self,
        block: &Block,
        logs: &[ChainLog],
    ) -> Result<Vec<VaultLog>, Trouble> {
        self.put_logs_aside(logs).await;
        let vaults = self.vaults(logs).await?;
        let sweeping = self.payers(logs, &vaults).await?;
        let to_vault = |log: &ChainLog| match log.event {
            LogEvent::Transfer { from, to, .. } if vaults.contains_key(&to) => {
                Some((log.tx, log.contract, from))
            }
            _ => None,
        };
        let returns: BTreeSet<_> = logs.iter().filter_map(to_vault).collect();
        let mut kept = Vec::new();
        let mut found = Vec::new();
        for log in logs {
            match log.event {
                LogEvent::Transfer { from, to, value } if value > 0 && from != to => {
                    let Some(coin) = self.wallets.config.coin(&log.contract) else { continue };
                    if let Some(vault) = vaults.elsewhere.get(&to) {
                        self.unsupported(block, log, *vault, (from, value)).await?;
                        self.went_astray(vault, coin, value).await;
                    }
                    let Ok(minor) = i64::try_from(value) else {
                        tracing::error!(tx = %log.tx, value, "transfer exceeds the token's total supply");
                        continue;
                    };
                    let number = self.number();
                    let moved = |vault, minor| vault_log(number, block, log, vault, coin, minor);
                    kept.extend(vaults.get(&from).map(|vault| moved(vault.address, -minor)));
                    kept.extend(vaults.get(&to).map(|vault| moved(vault.address, minor)));
                    // A controller's payment to an address that is not a vault goes to its
                    // treasury; beside one to a vault, which sweeps have not, it is the token's fee.
                    let swept = sweeping.contains(&from)
                        && !vaults.contains_key(&to)
                        && !returns.contains(&(log.tx, log.contract, from));
                    kept.extend(swept.then(|| moved(from, -minor)));
                    if let Some(vault) = vaults.get(&to)
                        && !self.is_our_own(vaults.get(&from), from, vault).await?
                    {
                        found.push(self.found(block, log, *vault, (coin, minor, from)));
                    }
                }
                LogEvent::UnsupportedTransfer { from, to, value } if value > 0 => {
                    if let Some(vault) = vaults.get(&to).or(vaults.elsewhere.get(&to)) {
                        self.unsupported(block, log, *vault, (from, value)).await?;
                    }
                }
                LogEvent::FundsDestroyed { account, value } if value > 0 => {
                    if let Some(vault) = vaults.get(&account) {
                        kept.extend(self.destroyed(block, log, vault, value).await);
                    }
                }
                LogEvent::Blacklisted(account) => {
                    self.blacklisted(block, log, vaults.get(&account), true).await?
                }
                LogEvent::UnBlacklisted(account) => {
                    self.blacklisted(block, log, vaults.get(&account), false).await?
                }
                LogEvent::Paused | LogEvent::Unpaused | LogEvent::CodeChanged => {
                    self.token_says(block, log).await?
                }
                LogEvent::Announced { change, account } => {
                    self.announced(block, log.contract, change, account).await?
                }
                // Zero values are ignored; the other events of our controllers are in the receipts
                // of our own transactions.
                _ => {}
            }
        }
        for taken in join_all(found.iter().map(|found| self.tell_found(found))).await {
            taken?;
        }
        Ok(kept)
    }

    /// Alerts operators about tokens' logs that do not have the form of their event: whatever they
    /// moved is not booked. One alert for each token and event while it is open: a contract that was
    /// replaced may emit all its events like this.
    async fn put_logs_aside(&self, logs: &[ChainLog]) {
        let mut alerted = BTreeSet::new();
        for log in logs {
            let LogEvent::Undecodable { event, .. } = log.event else { continue };
            let (number, tx, log_index) = (log.block_number, log.tx, log.log_index);
            tracing::error!(number, %tx, log_index, contract = %log.contract, event, "token log cannot be read, put aside");
            if !alerted.insert((log.contract, event)) {
                continue;
            }
            let token = self.wallets.config.coin(&log.contract);
            let token = token
                .map_or_else(|| log.contract.to_string(), |it| it.currency().code().to_owned());
            let beginning = self.workers.said_of(
                self.number(),
                format!("{token} emitted the event {event} in a form that cannot be read"),
            );
            let what = format!(
                "{beginning}: log {log_index} of transaction {tx} in block {number} (contract {}) was put aside, and nothing was \
                 booked from it. The watcher's log names further ones",
                log.contract
            );
            let store = &self.workers.store;
            alerts::raise_unless_open(store, AlertKind::TokenChanged, &beginning, &what).await;
        }
    }

    /// Alerts the tenant whose controller's admin announced a change. Another contract's events are
    /// ignored.
    async fn announced(
        &self,
        block: &Block,
        contract: Address,
        change: Announcement,
        account: Address,
    ) -> Result<(), Trouble> {
        let change = match change {
            Announcement::Role => "the role compliance or approver for",
            Announcement::Treasury => "the treasury",
            Announcement::Admin => "the admin",
        };
        for tenant in self.workers.store.tenants().await? {
            let known = self.wallets.contracts.controller(tenant.id);
            if known.is_ok_and(|controller| controller.address == contract) {
                let what = format!(
                    "the controller's admin announced {change} {account} (block {}): it can take effect in 48 hours; \
                     if the bank did not decide this, cancel it at once",
                    block.number
                );
                let what = self.workers.said_of(self.number(), what);
                let alert = Alert { kind: AlertKind::ControllerAdmin, subject: tenant.id.0, what };
                self.workers.raise(tenant.id, alert).await;
            }
        }
        Ok(())
    }

    /// Whether a transfer to a vault is our own: a release from one of the wallet's escrows, or
    /// a debit that the controller returns.
    async fn is_our_own(
        &self,
        payer: Option<&Watched>,
        from: Address,
        vault: &Watched,
    ) -> Result<bool, Trouble> {
        if vault.request.is_some() {
            return Ok(false);
        }
        if let Some(payer) = payer {
            return Ok(payer.wallet == vault.wallet && payer.request.is_some());
        }
        let wallet = self.workers.store.wallet(vault.tenant, vault.wallet).await?;
        Ok(wallet.is_some_and(|wallet| wallet.controller == from))
    }

    fn found(
        &self,
        block: &Block,
        log: &ChainLog,
        vault: Watched,
        (coin, minor, from): (StableCoin, i64, Address),
    ) -> Found {
        Found {
            chain_id: self.wallets.config.chain_id,
            vault,
            coin,
            minor,
            from,
            tx: log.tx,
            ordinal: log.ordinal,
            place: place(block),
            paid_at: block.at,
        }
    }

    async fn tell_found(&self, found: &Found) -> Result<(), Trouble> {
        let named = DepositRef::found(found);
        let (tenant, subject) = (found.vault.tenant, named.id.0);
        self.must(tenant, subject, Action::Deposit(named, DepositAction::Found(*found))).await
    }

    /// Alerts an operator about money that a sender paid on the wrong chain.
    async fn went_astray(&self, vault: &Watched, coin: StableCoin, value: u64) {
        if value < ReleaseMin::LEAST.unsigned_abs() {
            return;
        }
        let what = format!(
            "{} was sent on {}, which is not the chain of this address: it is not credited",
            coin.currency().code(),
            self.wallets.config.name
        );
        let alert = Alert { kind: AlertKind::UnsupportedAsset, subject: vault.subject(), what };
        self.workers.raise(vault.tenant, alert).await;
    }

    /// Records a token that is not configured, or that was sent on another chain than the vault's,
    /// with an alert for the first one. Anyone can create logs like these, by the thousand in a
    /// block: what is recorded is read once in a round.
    async fn unsupported(
        &self,
        block: &Block,
        log: &ChainLog,
        vault: Watched,
        (from, value): (Address, u64),
    ) -> Result<(), Trouble> {
        let key = (self.number(), log.tx, log.ordinal);
        let mut strange = self.strange.lock().await;
        let known = match strange.entry(vault.tenant) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(unread) => {
                let recorded = self.workers.store.unsupported_assets(vault.tenant, UNSUPPORTED_MAX);
                let of = |it: UnsupportedAsset| ((it.chain, it.tx, it.ordinal), it.token);
                unread.insert(recorded.await?.into_iter().map(of).collect())
            }
        };
        // Beyond the limits it is spam: the recorded ones suffice, and leave room for other tokens.
        if known.contains_key(&key)
            || known.len() >= UNSUPPORTED_MAX
            || known.values().filter(|token| **token == log.contract).count() >= OF_ONE_TOKEN_MAX
        {
            return Ok(());
        }
        let tell = known.is_empty();
        known.insert(key, log.contract);
        drop(strange);
        let asset = UnsupportedAsset {
            chain: self.number(),
            vault,
            token: log.contract,
            from,
            value,
            place: place(block),
            tx: log.tx,
            ordinal: log.ordinal,
            at: self.workers.clock().now(),
        };
        let action = Action::Chain(ChainAction::Unsupported { asset: Box::new(asset), tell });
        self.must(vault.tenant, vault.subject(), action).await
    }

    /// The coins of a blacklisted vault are destroyed.
    async fn destroyed(
        &self,
        block: &Block,
        log: &ChainLog,
        vault: &Watched,
        value: u64,
    ) -> Option<VaultLog> {
        let what = format!("the issuer destroyed {value} minor units that a vault held");
        let alert = Alert { kind: AlertKind::ChainMismatch, subject: vault.subject(), what };
        self.workers.raise(vault.tenant, alert).await;
        let coin = self.wallets.config.coin(&log.contract)?;
        let minor = -i64::try_from(value).ok()?;
        Some(vault_log(self.number(), block, log, vault.address, coin, minor))
    }

    /// A token's own blacklist added or removed a vault's address. If that was not ordered here, an
    /// operator is alerted.
    async fn blacklisted(
        &self,
        block: &Block,
        log: &ChainLog,
        vault: Option<&Watched>,
        blacklisted: bool,
    ) -> Result<(), Trouble> {
        let Some(vault) = vault else { return Ok(()) };
        let Some(coin) = self.wallets.config.coin(&log.contract) else { return Ok(()) };
        if !(blacklisted && self.is_blacklisted_here(vault).await?) {
            let subject = if vault.request.is_some() { "an escrow" } else { "a wallet" };
            let verb = if blacklisted { "on" } else { "off" };
            let what = format!("{subject} is {verb} the blacklist of {}", coin.currency().code());
            let alert = Alert { kind: AlertKind::TokenChanged, subject: vault.subject(), what };
            self.workers.raise(vault.tenant, alert).await;
        }
        if vault.request.is_some() || coin != StableCoin::Usdc {
            return Ok(());
        }
        self.blacklist_says(block, vault, blacklisted).await
    }

    /// Whether a vault is a wallet that was blacklisted on a regulator's order.
    async fn is_blacklisted_here(&self, vault: &Watched) -> Result<bool, Trouble> {
        if vault.request.is_some() {
            return Ok(false);
        }
        let wallet = self.workers.store.wallet(vault.tenant, vault.wallet).await?;
        Ok(wallet.is_some_and(|wallet| wallet.state == WalletState::Blacklisted))
    }
}

/// The addresses of an event that may be vaults.
const fn parties(event: &LogEvent) -> [Option<Address>; 2] {
    match event {
        LogEvent::Transfer { from, to, .. } => [Some(*from), Some(*to)],
        LogEvent::UnsupportedTransfer { to, .. } => [Some(*to), None],
        LogEvent::Blacklisted(account) | LogEvent::UnBlacklisted(account) => [Some(*account), None],
        LogEvent::FundsDestroyed { account, .. } => [Some(*account), None],
        _ => [None, None],
    }
}

const fn vault_log(
    chain: ChainNumber,
    block: &Block,
    log: &ChainLog,
    vault: Address,
    coin: StableCoin,
    minor: i64,
) -> VaultLog {
    VaultLog {
        chain,
        place: place(block),
        log_index: log.log_index,
        tx: log.tx,
        ordinal: log.ordinal,
        vault,
        coin,
        minor,
    }
}
