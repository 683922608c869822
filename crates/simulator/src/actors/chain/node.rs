//! The chain as one service node sees it: endpoints that are slow, late, silent, or lose what they are sent.

use std::collections::BTreeSet;
use std::sync::Arc;

use domain::chain::{
    Address, Block, BlockAt, BlockHash, Broadcast, Call, ChainFault, ChainLog, Fees, Heads,
    LogEvent, NodeReport, NonceReports, Receipt, Sighting, Simulated, TransferAt, TxHash, Unsigned,
};
use domain::currency::StableCoin;
use domain::ids::TenantId;
use domain::ports::{BoxFuture, Chain};
use domain::time::Span;

use super::blocks::{Blocks, FINAL_BEHIND, SAFE_BEHIND};
use super::contracts::{self, GAS_PER_ITEM, State};
use super::endpoint::Endpoint;
use super::keys::kind;
use super::quorum::{Endpoints, unreachable};
use super::{ChainWorld, is_within, short};
use crate::faults::{CallFault, Fault};
use crate::installation::START;
use crate::run::{NodeNumber, Owner};

/// How long a service node waits for an answer.
const TIMEOUT: Span = Span::secs(5);
/// The block producer's tip per unit of gas, in wei.
const TIP: u128 = 1_000_000_000;
/// Maximum logs of one answer.
const LOGS_MAX: usize = 24;
/// Wei of every key.
const GAS_MONEY: u128 = u128::MAX / 2;

/// The way of one service node to the chain.
pub struct ChainNode {
    pub node: NodeNumber,
    pub world: Arc<ChainWorld>,
}

impl ChainNode {
    async fn die(&self) -> ! {
        self.world.sim.crash(self.node);
        std::future::pending().await
    }

    fn is_down(&self) -> bool {
        let since = self.world.sim.now() - START;
        let faults = &self.world.faults;
        faults.all().iter().enumerate().any(|(number, fault)| match fault {
            Fault::ChainDown { after, span } => {
                is_within(since, *after, *span) && faults.fire(number)
            }
            _ => false,
        })
    }

    /// Asks a question: the answer is that of the moment at which it arrives.
    async fn ask<T: Send>(
        &self,
        question: impl FnOnce(&Blocks, &Endpoints) -> Result<T, ChainFault> + Send,
    ) -> Result<T, ChainFault> {
        let world = &self.world;
        let fault = world.faults.chain_question();
        if fault == Some(CallFault::CrashBefore) {
            self.die().await;
        }
        world.sim.sleep(world.way()).await;
        if self.is_down() {
            return unreachable("connection refused");
        }
        if matches!(
            fault,
            Some(CallFault::LoseMessage | CallFault::LoseAnswer | CallFault::Late(_))
        ) {
            world.sim.sleep(TIMEOUT).await;
            return unreachable("no answer in time");
        }
        let answer = {
            let blocks = world.now();
            let endpoints = world.endpoints(&blocks);
            question(&blocks, &endpoints)
        };
        if matches!(fault, Some(CallFault::CrashDuring | CallFault::CrashAfter)) {
            self.die().await;
        }
        answer
    }

    /// Delivers a transaction, now or after a while.
    fn deliver(world: &ChainWorld, hash: TxHash, tx: &Unsigned) -> Broadcast {
        let fee = world.base_fee(world.sim.now());
        let mut blocks = world.now();
        let said = blocks.offer(hash, tx, fee);
        let forgotten = said == Broadcast::Accepted && world.faults.is_forgotten();
        if forgotten {
            blocks.forget(hash);
        }
        drop(blocks);
        let lost = if forgotten { ", and forgotten" } else { "" };
        world.sim.trace(format_args!(
            "broadcast {} {tx} {}: {said:?}{lost}",
            short(hash),
            kind(tx)
        ));
        world.stir();
        said
    }
}

impl Chain for ChainNode {
    fn head(&self) -> BoxFuture<'_, Result<u64, ChainFault>> {
        Box::pin(self.ask(|_, endpoints| Ok(endpoints.first()?.view.height)))
    }

    fn heads(&self) -> BoxFuture<'_, Result<Heads, ChainFault>> {
        Box::pin(self.ask(|blocks, endpoints| {
            let view = &endpoints.first()?.view;
            // One endpoint alone says nothing about how deep a block is.
            if !endpoints.is_quorum() {
                return unreachable("no answer in time");
            }
            let lowest =
                endpoints.serving().map(|endpoint| endpoint.view.height).min().unwrap_or(0);
            let behind = |by: u64| Some(lowest.saturating_sub(by));
            let latest = view.block(blocks.start(), lowest);
            let latest = latest.ok_or_else(|| ChainFault::Unreachable("no block".to_owned()))?;
            Ok(Heads { latest, safe: behind(SAFE_BEHIND), finalized: behind(FINAL_BEHIND) })
        }))
    }

    fn block(&self, at: BlockAt) -> BoxFuture<'_, Result<Option<Block>, ChainFault>> {
        Box::pin(self.ask(move |blocks, endpoints| {
            let view = &endpoints.first()?.view;
            Ok(match at {
                BlockAt::Number(number) => view.block(blocks.start(), number),
                BlockAt::Latest => view.block(blocks.start(), view.height),
            })
        }))
    }

    fn logs<'a>(
        &'a self,
        block: BlockHash,
        controllers: &'a [Address],
    ) -> BoxFuture<'a, Result<Vec<ChainLog>, ChainFault>> {
        Box::pin(self.ask(move |blocks, endpoints| {
            Ok(concerning(endpoints.block_logs(blocks, block)?, controllers))
        }))
    }

    fn logs_in<'a>(
        &'a self,
        from: u64,
        to: u64,
        controllers: &'a [Address],
    ) -> BoxFuture<'a, Result<Vec<ChainLog>, ChainFault>> {
        Box::pin(self.ask(move |blocks, endpoints| {
            bounded(
                Endpoints::range_logs(blocks, endpoints.serving(), (from, to))?,
                (from, to),
                controllers,
            )
        }))
    }

    fn logs_again<'a>(
        &'a self,
        from: u64,
        to: u64,
        controllers: &'a [Address],
    ) -> BoxFuture<'a, Result<Vec<ChainLog>, ChainFault>> {
        Box::pin(self.ask(move |blocks, endpoints| {
            bounded(
                Endpoints::range_logs(blocks, endpoints.serving().rev(), (from, to))?,
                (from, to),
                controllers,
            )
        }))
    }

    fn blocks_paying(
        &self,
        account: Address,
        from: u64,
        to: u64,
    ) -> BoxFuture<'_, Result<Vec<u64>, ChainFault>> {
        Box::pin(self.ask(move |blocks, endpoints| {
            endpoints.first()?;
            let pays = |log: &ChainLog| matches!(log.event, LogEvent::Transfer { to, .. } if to == account);
            let able = endpoints.serving().filter(|endpoint| endpoint.gives_range(from, to));
            let logs: Vec<Vec<ChainLog>> = able.map(|endpoint| endpoint.logs(blocks, from, to)).collect();
            if logs.is_empty() {
                return Err(ChainFault::TooMuch);
            }
            let paying: BTreeSet<u64> =
                logs.iter().flatten().filter(|log| pays(log)).map(|log| log.block_number).collect();
            Ok(paying.into_iter().collect())
        }))
    }

    fn agreed_block(
        &self,
        number: u64,
        hash: BlockHash,
    ) -> BoxFuture<'_, Result<Option<Block>, ChainFault>> {
        Box::pin(self.ask(move |blocks, endpoints| {
            let view = &endpoints.first()?.view;
            let there = endpoints.have_block(number, hash)?;
            Ok(view.block(blocks.start(), number).filter(|_| there))
        }))
    }

    fn is_gone<'a>(&'a self, block: &'a Block) -> BoxFuture<'a, Result<bool, ChainFault>> {
        Box::pin(self.ask(|_, endpoints| endpoints.have_replaced(block.number, block.hash)))
    }

    fn sees<'a>(&'a self, transfer: &'a TransferAt) -> BoxFuture<'a, Result<Sighting, ChainFault>> {
        Box::pin(self.ask(|blocks, endpoints| {
            let at = (transfer.tx, transfer.block_number, transfer.block);
            endpoints.sighting(blocks, at, |receipt| transfer.is_in(receipt))
        }))
    }

    fn confirms<'a>(
        &'a self,
        receipt: &'a Receipt,
        controllers: &'a [Address],
    ) -> BoxFuture<'a, Result<Sighting, ChainFault>> {
        Box::pin(self.ask(move |blocks, endpoints| {
            let at = (receipt.tx, receipt.block_number, receipt.block);
            endpoints.sighting(blocks, at, |other| read(other.clone(), controllers) == *receipt)
        }))
    }

    fn receipt<'a>(
        &'a self,
        tx: TxHash,
        controllers: &'a [Address],
    ) -> BoxFuture<'a, Result<Option<Receipt>, ChainFault>> {
        Box::pin(self.ask(move |blocks, endpoints| {
            match endpoints.serving().find_map(|endpoint| endpoint.receipt(blocks, tx)) {
                Some(receipt) => Ok(Some(read(receipt, controllers))),
                // One that does not answer may have it.
                None if !endpoints.is_quorum() => unreachable("no answer in time"),
                None => Ok(None),
            }
        }))
    }

    fn nonce(&self, account: Address) -> BoxFuture<'_, Result<u64, ChainFault>> {
        Box::pin(self.ask(move |_, endpoints| Ok(endpoints.first()?.nonce(account))))
    }

    fn nonces(&self, account: Address) -> BoxFuture<'_, Result<NonceReports, ChainFault>> {
        Box::pin(self.ask(move |_, endpoints| {
            endpoints.first()?;
            let answered: Vec<u64> =
                endpoints.serving().map(|endpoint| endpoint.nonce(account)).collect();
            Ok(NonceReports { silent: endpoints.0.len() - answered.len(), answered })
        }))
    }

    fn fees(&self) -> BoxFuture<'_, Result<Fees, ChainFault>> {
        Box::pin(async {
            self.ask(|_, endpoints| endpoints.first().map(|_| ())).await?;
            let base = self.world.base_fee(self.world.sim.now());
            Ok(Fees { max_fee: 2 * base + TIP, max_priority_fee: TIP })
        })
    }

    fn gas_balance(&self, _: Address) -> BoxFuture<'_, Result<u128, ChainFault>> {
        Box::pin(self.ask(|_, endpoints| endpoints.first().map(|_| GAS_MONEY)))
    }

    fn token_balance(
        &self,
        token: Address,
        account: Address,
    ) -> BoxFuture<'_, Result<u64, ChainFault>> {
        Box::pin(self.ask(move |blocks, endpoints| {
            let first = endpoints.first()?;
            Ok(first.balance(blocks, &first.state, first.view.height, token, account))
        }))
    }

    fn balance_after<'a>(
        &'a self,
        token: Address,
        account: Address,
        block: &'a Block,
    ) -> BoxFuture<'a, Result<Option<u64>, ChainFault>> {
        Box::pin(self.ask(move |blocks, endpoints| {
            endpoints.first()?;
            // One that is on another fork, or not that far, does not know.
            let has_it =
                |endpoint: &&Endpoint| endpoint.view.hash(block.number) == Some(block.hash);
            let is_truth = blocks.view().hash(block.number) == Some(block.hash);
            let mut able = endpoints.serving().filter(|endpoint| is_truth && has_it(endpoint));
            let (Some(one), Some(other)) = (able.next(), able.next()) else {
                return if endpoints.is_quorum() {
                    Ok(None)
                } else {
                    unreachable("no answer in time")
                };
            };
            let state = blocks.state_at(block.number);
            let [one, other] = [one, other]
                .map(|endpoint| endpoint.balance(blocks, &state, block.number, token, account));
            if one == other {
                Ok(Some(one))
            } else {
                Err(ChainFault::Disagreement(format!(
                    "what {account} holds after block {}",
                    block.number
                )))
            }
        }))
    }

    fn is_blacklisted(
        &self,
        token: Address,
        account: Address,
    ) -> BoxFuture<'_, Result<bool, ChainFault>> {
        let listed = move |state: &State| {
            state.coins.get(&token).is_some_and(|coin| coin.blacklist.contains(&account))
        };
        Box::pin(self.ask(move |_, endpoints| {
            endpoints
                .agreed(|| format!("the blacklist of {token}"), |endpoint| listed(&endpoint.state))
        }))
    }

    fn decimals(&self, _: Address) -> BoxFuture<'_, Result<Option<u64>, ChainFault>> {
        Box::pin(self.ask(|_, endpoints| {
            endpoints.first()?;
            Ok(Some(StableCoin::Usdc.currency().minor_units().into()))
        }))
    }

    fn is_paused(&self, token: Address) -> BoxFuture<'_, Result<bool, ChainFault>> {
        let paused = move |state: &State| state.coins.get(&token).is_some_and(|coin| coin.paused);
        Box::pin(self.ask(move |_, endpoints| {
            endpoints
                .agreed(|| format!("whether {token} is paused"), |endpoint| paused(&endpoint.state))
        }))
    }

    fn is_operator(
        &self,
        controller: Address,
        account: Address,
    ) -> BoxFuture<'_, Result<bool, ChainFault>> {
        Box::pin(self.ask(move |blocks, endpoints| {
            endpoints.first()?;
            Ok(blocks
                .law
                .offices
                .get(&controller)
                .is_some_and(|office| office.operators.contains(&account)))
        }))
    }

    fn is_deployed(&self, contract: Address) -> BoxFuture<'_, Result<bool, ChainFault>> {
        Box::pin(self.ask(move |_, endpoints| {
            endpoints.first()?;
            Ok(endpoints
                .serving()
                .all(|endpoint| endpoint.state.controllers.contains_key(&contract)))
        }))
    }

    fn simulate<'a>(
        &'a self,
        _: TenantId,
        from: Address,
        controller: Address,
        call: &'a Call,
    ) -> BoxFuture<'a, Result<Simulated, ChainFault>> {
        Box::pin(self.ask(move |blocks, endpoints| {
            let mut draft = (*endpoints.first()?.state).clone();
            let executed = contracts::call(&mut draft, &blocks.law, from, controller, call);
            if !executed.succeeded {
                return Ok(Simulated::Reverts(executed.why));
            }
            let items = u64::try_from(executed.each.len()).unwrap_or(1).max(1);
            Ok(Simulated::Works { gas: items * GAS_PER_ITEM, each: executed.each })
        }))
    }

    fn broadcast<'a>(&'a self, raw: &'a [u8]) -> BoxFuture<'a, Broadcast> {
        Box::pin(async move {
            let world = &self.world;
            let Some((hash, tx)) = world.register.find(raw) else {
                return Broadcast::Refused("these bytes were never signed".to_owned());
            };
            world.note_broadcast(hash);
            let fault = world.faults.broadcast();
            if fault == Some(CallFault::CrashBefore) {
                self.die().await;
            }
            if self.is_down() {
                return Broadcast::Indeterminate("connection refused".to_owned());
            }
            let way = world.way();
            let late = match fault {
                Some(CallFault::Late(by) | CallFault::Twice(by)) => Some(by),
                Some(CallFault::CrashDuring) => Some(way),
                _ => None,
            };
            if let Some(by) = late {
                let (world, tx) = (world.clone(), tx.clone());
                world.sim.clone().spawn(Owner::World, "late broadcast", async move {
                    world.sim.sleep(by).await;
                    let _nobody_hears = ChainNode::deliver(&world, hash, &tx);
                });
            }
            match fault {
                Some(CallFault::CrashDuring) => self.die().await,
                Some(CallFault::LoseMessage | CallFault::Late(_)) => {
                    world.sim.sleep(TIMEOUT).await;
                    return Broadcast::Indeterminate("no answer in time".to_owned());
                }
                _ => {}
            }
            world.sim.sleep(way).await;
            let said = ChainNode::deliver(world, hash, &tx);
            match fault {
                Some(CallFault::CrashAfter) => self.die().await,
                Some(CallFault::LoseAnswer) => {
                    world.sim.sleep(TIMEOUT).await;
                    Broadcast::Indeterminate("no answer in time".to_owned())
                }
                _ => said,
            }
        })
    }

    // No question that a fault could meet: it shows how endpoints are.
    fn survey(&self, _: Option<Block>) -> BoxFuture<'_, Vec<NodeReport>> {
        let is_down = self.is_down();
        let endpoints = self.world.endpoints(&self.world.now());
        let head = |(name, endpoint): (&str, &Endpoint)| NodeReport {
            name: name.to_owned(),
            head: match is_down || endpoint.is_silent() {
                true => Err("no answer in time".to_owned()),
                false => Ok(endpoint.view.height),
            },
        };
        let reports =
            ["first node", "second node"].into_iter().zip(&endpoints.0).map(head).collect();
        Box::pin(std::future::ready(reports))
    }
}

/// A receipt with those of its logs that the service asks for.
fn read(receipt: Receipt, controllers: &[Address]) -> Receipt {
    Receipt { logs: concerning(receipt.logs.clone(), controllers), ..receipt }
}

/// The logs of a range that the service asks for, where they are not too many.
fn bounded(
    logs: Vec<ChainLog>,
    (from, to): (u64, u64),
    controllers: &[Address],
) -> Result<Vec<ChainLog>, ChainFault> {
    let logs = concerning(logs, controllers);
    if logs.len() > LOGS_MAX && from < to { Err(ChainFault::TooMuch) } else { Ok(logs) }
}

/// What the service asks for: logs of coins, of the given controllers, and transfers of other tokens.
fn concerning(mut logs: Vec<ChainLog>, controllers: &[Address]) -> Vec<ChainLog> {
    logs.retain(|log| match log.event {
        LogEvent::IntentDone(_)
        | LogEvent::IntentFailed(_)
        | LogEvent::RefundCancelled(_)
        | LogEvent::Swept { .. }
        | LogEvent::FrozenSet { .. }
        | LogEvent::LegalHoldSet { .. } => controllers.contains(&log.contract),
        _ => true,
    });
    logs
}
