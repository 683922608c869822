//! The chain as one service node sees it: nodes that are slow, behind, silent, or lose what they are told.

use std::sync::Arc;

use domain::chain::{
    Address, Block, BlockAt, BlockHash, Broadcast, Call, ChainFault, ChainLog, Fees, Heads, LogEvent, Receipt,
    Simulated, TxHash, Unsigned,
};
use domain::ids::TenantId;
use domain::ports::{Answer, Chain};
use domain::time::Span;

use super::blocks::{self, Blocks, FINAL_BEHIND, SAFE_BEHIND, View};
use super::contracts::{self, GAS_PER_ITEM, State};
use super::keys::kind;
use super::{ChainWorld, is_within, short};
use crate::faults::{CallFault, Fault};
use crate::installation::START;
use crate::run::{NodeNumber, Owner};

/// How long a service node waits for an answer.
const TIMEOUT: Span = Span::secs(5);
/// What whoever mines a block gets for a unit of gas, in wei.
const TIP: u128 = 1_000_000_000;
/// Logs of one answer at most.
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
            Fault::ChainDown { after, span } => is_within(since, *after, *span) && faults.fire(number),
            _ => false,
        })
    }

    fn unreachable<T>(why: &str) -> Result<T, ChainFault> {
        Err(ChainFault::Unreachable(why.to_owned()))
    }

    /// Asks a question: the answer is that of the moment at which it arrives.
    async fn ask<T: Send>(&self, question: impl FnOnce(&Blocks, &View, &State) -> T + Send) -> Result<T, ChainFault> {
        let world = &self.world;
        let fault = world.faults.chain_question();
        if fault == Some(CallFault::CrashBefore) {
            self.die().await;
        }
        world.sim.sleep(world.way()).await;
        if self.is_down() {
            return ChainNode::unreachable("connection refused");
        }
        if matches!(fault, Some(CallFault::LoseMessage | CallFault::LoseAnswer | CallFault::Late(_))) {
            world.sim.sleep(TIMEOUT).await;
            return ChainNode::unreachable("no answer in time");
        }
        let behind = world.lag(|fault| match fault {
            Fault::FirstNodeLags { after, span, blocks } => Some((*after, *span, *blocks)),
            _ => None,
        });
        let answer = {
            let blocks = world.now();
            let view = blocks.view_behind(behind);
            let state = blocks.state_at(view.height);
            question(&blocks, &view, &state)
        };
        if matches!(fault, Some(CallFault::CrashDuring | CallFault::CrashAfter)) {
            self.die().await;
        }
        Ok(answer)
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
        world.sim.trace(format_args!("broadcast {} {tx} {}: {said:?}{lost}", short(hash), kind(tx)));
        world.stir();
        said
    }
}

impl Chain for ChainNode {
    fn heads(&self) -> Answer<'_, Result<Heads, ChainFault>> {
        Box::pin(async {
            let heads = self.ask(|blocks, view, _| {
                let latest = view.block(blocks.start(), view.height)?;
                let behind = |by: u64| Some(view.height.saturating_sub(by));
                Some(Heads { latest, safe: behind(SAFE_BEHIND), finalized: behind(FINAL_BEHIND) })
            });
            heads.await?.map_or_else(|| ChainNode::unreachable("no block"), Ok)
        })
    }

    fn block(&self, at: BlockAt) -> Answer<'_, Result<Option<Block>, ChainFault>> {
        Box::pin(self.ask(move |blocks, view, _| match at {
            BlockAt::Number(number) => view.block(blocks.start(), number),
            BlockAt::Latest => view.block(blocks.start(), view.height),
        }))
    }

    fn logs<'a>(
        &'a self,
        block: BlockHash,
        controllers: &'a [Address],
    ) -> Answer<'a, Result<Vec<ChainLog>, ChainFault>> {
        Box::pin(async move {
            let logs = self.ask(|blocks, view, _| {
                let number = view.number_of(block)?;
                Some(concerning(blocks.logs(number, number), controllers))
            });
            logs.await?.map_or_else(|| ChainNode::unreachable("unknown block"), Ok)
        })
    }

    fn logs_in<'a>(
        &'a self,
        from: u64,
        to: u64,
        controllers: &'a [Address],
    ) -> Answer<'a, Result<Vec<ChainLog>, ChainFault>> {
        Box::pin(async move {
            let logs = self.ask(|blocks, view, _| concerning(blocks.logs(from, to.min(view.height)), controllers));
            let logs = logs.await?;
            if logs.len() > LOGS_MAX && from < to { Err(ChainFault::TooMuch) } else { Ok(logs) }
        })
    }

    fn agrees(&self, number: u64, hash: BlockHash) -> Answer<'_, Result<bool, ChainFault>> {
        Box::pin(async move {
            let second = self.world.second_view();
            self.ask(|_, _, _| ()).await?;
            match second.hash(number) {
                None => Ok(false),
                Some(known) if known == hash => Ok(true),
                Some(_) => Err(ChainFault::Disagreement(format!("block {number}"))),
            }
        })
    }

    fn receipt<'a>(
        &'a self,
        tx: TxHash,
        controllers: &'a [Address],
    ) -> Answer<'a, Result<Option<Receipt>, ChainFault>> {
        Box::pin(self.ask(move |blocks, view, _| {
            let mut receipt = blocks.receipt(tx, view.height)?;
            receipt.logs = concerning(receipt.logs.iter(), controllers);
            Some(receipt)
        }))
    }

    fn nonce(&self, account: Address) -> Answer<'_, Result<u64, ChainFault>> {
        Box::pin(self.ask(move |_, _, state| blocks::nonce(state, account)))
    }

    fn fees(&self) -> Answer<'_, Result<Fees, ChainFault>> {
        Box::pin(async {
            self.ask(|_, _, _| ()).await?;
            let base = self.world.base_fee(self.world.sim.now());
            Ok(Fees { max_fee: 2 * base + TIP, max_priority_fee: TIP })
        })
    }

    fn gas_balance(&self, _: Address) -> Answer<'_, Result<u128, ChainFault>> {
        Box::pin(self.ask(|_, _, _| GAS_MONEY))
    }

    fn token_balance(&self, token: Address, account: Address) -> Answer<'_, Result<u64, ChainFault>> {
        let holds = move |state: &State| state.coins.get(&token)?.balances.get(&account).copied();
        Box::pin(self.ask(move |_, _, state| holds(state).unwrap_or(0)))
    }

    fn balance_after<'a>(
        &'a self,
        token: Address,
        account: Address,
        block: &'a Block,
    ) -> Answer<'a, Result<Option<u64>, ChainFault>> {
        Box::pin(self.ask(move |blocks, view, _| {
            let there = view.block(blocks.start(), block.number)?;
            let state = blocks.state_at(block.number);
            let holds = state.coins.get(&token).and_then(|coin| coin.balances.get(&account).copied());
            (there.hash == block.hash).then(|| holds.unwrap_or(0))
        }))
    }

    fn is_blacklisted(&self, token: Address, account: Address) -> Answer<'_, Result<bool, ChainFault>> {
        let listed = move |state: &State| state.coins.get(&token).is_some_and(|coin| coin.blacklist.contains(&account));
        Box::pin(self.ask(move |_, _, state| listed(state)))
    }

    fn is_paused(&self, token: Address) -> Answer<'_, Result<bool, ChainFault>> {
        Box::pin(self.ask(move |_, _, state| state.coins.get(&token).is_some_and(|coin| coin.paused)))
    }

    fn is_operator(&self, controller: Address, account: Address) -> Answer<'_, Result<bool, ChainFault>> {
        Box::pin(self.ask(move |blocks, _, _| {
            blocks.law.offices.get(&controller).is_some_and(|office| office.operators.contains(&account))
        }))
    }

    fn is_deployed(&self, contract: Address) -> Answer<'_, Result<bool, ChainFault>> {
        Box::pin(self.ask(move |_, _, state| state.controllers.contains_key(&contract)))
    }

    fn simulate<'a>(
        &'a self,
        _: TenantId,
        from: Address,
        controller: Address,
        call: &'a Call,
    ) -> Answer<'a, Result<Simulated, ChainFault>> {
        Box::pin(self.ask(move |blocks, _, state| {
            let mut draft = state.clone();
            let executed = contracts::call(&mut draft, &blocks.law, from, controller, call);
            if !executed.succeeded {
                return Simulated::Reverts(executed.why);
            }
            let items = u64::try_from(executed.each.len()).unwrap_or(1).max(1);
            Simulated::Works { gas: items * GAS_PER_ITEM, each: executed.each }
        }))
    }

    fn broadcast<'a>(&'a self, raw: &'a [u8]) -> Answer<'a, Broadcast> {
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
}

/// What the service asks for: logs of coins, of the given controllers, and transfers of other tokens.
fn concerning<'a>(logs: impl Iterator<Item = &'a ChainLog>, controllers: &[Address]) -> Vec<ChainLog> {
    let concerns = |log: &&ChainLog| match log.event {
        LogEvent::IntentDone(_)
        | LogEvent::IntentFailed(_)
        | LogEvent::RefundCancelled(_)
        | LogEvent::Swept { .. }
        | LogEvent::FrozenSet { .. }
        | LogEvent::LegalHoldSet { .. } => controllers.contains(&log.contract),
        _ => true,
    };
    logs.filter(concerns).copied().collect()
}
