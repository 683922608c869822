//! Deposits whose amount has left their escrow under an id that these books do not have: released or
//! refunded after the backup that the books were restored from. A later release or refund would be paid
//! from the escrow's other deposits.

use domain::chain::{
    ChainFault, Executed, IntentOnChain, Movement, Plan, Receipt, TxHash, Word, intent_word, vault,
};
use domain::chain_tx::Intent;
use domain::deposit::Deposit;
use domain::ids::DepositId;
use domain::ports::Controller;

use super::super::Workers;
use super::{Found, Judged, RANGE_MAX, Sought, Wanted};
use crate::context::ChainContext;

/// Movements out of the escrows of a deposit's request that these books have.
pub(super) struct Known {
    /// The controller's ids of their intents.
    intents: Vec<Word>,
    /// Other deposits of the same amount in the same escrow that have left it, each with the transaction
    /// and the controller's ids of its intents.
    taken: Vec<(TxHash, Vec<Word>)>,
}

impl Known {
    /// The log of a transaction by which the amount has left the escrow, to any address.
    pub(super) fn log_of(&self, wanted: &Wanted, receipt: &Receipt) -> Option<Executed> {
        let (vault, token, _, amount) = wanted.movement?;
        let is_it = |log: &&Executed| {
            matches!(log.as_what, IntentOnChain::Released | IntentOnChain::Refunded)
                && (log.about, log.vault, log.token, log.amount)
                    == (wanted.about, vault, token, amount)
                && !self.intents.contains(&log.intent)
        };
        receipt.executed.iter().filter(is_it).nth(self.taken_of(receipt)).copied()
    }

    /// How many of a transaction's movements under other ids are those of other deposits.
    fn taken_of(&self, receipt: &Receipt) -> usize {
        let is_in = |id: &Word| receipt.executed.iter().any(|log| log.intent == *id);
        let taken = self.taken.iter().filter(|(tx, _)| *tx == receipt.tx);
        taken.filter(|(_, own)| !own.iter().any(is_in)).count()
    }
}

/// Whether the amount has left the escrow by what the books are about to do; if not, how.
pub(super) fn agrees(wanted: &Wanted, log: &Executed) -> Result<(), String> {
    if log.as_what == wanted.as_what {
        return Ok(());
    }
    let done = match log.as_what {
        IntentOnChain::Refunded => "refunded",
        _ => "released",
    };
    Err(format!("the deposit was {done} to {}, under an id that these books do not have", log.to))
}

/// The movement out of the escrow that an intent makes or prepares, and what the controller's log of it
/// is.
fn movement(intent: &Intent, of_deposit: &[Intent]) -> Option<(Movement, IntentOnChain)> {
    match intent.plan {
        Plan::Release(movement) => Some((movement, IntentOnChain::Released)),
        Plan::ProposeRefund { movement, .. } => Some((movement, IntentOnChain::Refunded)),
        Plan::ExecuteRefund { intent: proposal } => {
            of_deposit.iter().find_map(|it| match it.plan {
                Plan::ProposeRefund { movement, .. } if movement.intent == proposal => {
                    Some((movement, IntentOnChain::Refunded))
                }
                _ => None,
            })
        }
        _ => None,
    }
}

/// A deposit in an escrow, and all of its request's.
struct InEscrow {
    deposit: Deposit,
    all: Vec<Deposit>,
    movement: Movement,
    as_what: IntentOnChain,
}

impl InEscrow {
    fn is_like_it(&self, other: &Deposit) -> bool {
        let place = |it: &Deposit| (it.to, it.coin, it.minor);
        other.id != self.deposit.id && place(other) == place(&self.deposit)
    }
}

/// The transaction by which a deposit left its escrow.
fn left_in(deposit: &Deposit) -> Option<TxHash> {
    deposit.release_tx.or(deposit.refund.as_ref().and_then(|refund| refund.tx))
}

fn unreadable(error: store::StoreError) -> ChainFault {
    ChainFault::Unreachable(format!("deposits cannot be read: {error}"))
}

impl Workers {
    /// Handles an intent whose amount has left its escrow under another id; `false` if it has not.
    pub(in super::super) async fn has_left_before(
        &self,
        wallets: &ChainContext,
        (intent, fence): (&Intent, i64),
    ) -> Result<bool, ChainFault> {
        let Some(it) = self.in_escrow(intent).await.map_err(unreadable)? else { return Ok(false) };
        let of = wallets.contracts.controller(intent.tenant);
        let of = of.map_err(|fault| ChainFault::Unreachable(fault.to_string()))?;
        Ok(self.may_have_left(wallets, &of, &it).await?
            && self.is_executed_before(wallets, &of, (intent, fence)).await?)
    }

    /// A movement of the same amount out of the same escrow, under an id that these books do not have: the
    /// deposit arrived, or was refunded, after the backup. `None` if nothing suggests it.
    pub(super) async fn left_elsewhere(
        &self,
        wallets: &ChainContext,
        of: &Controller,
        intent: &Intent,
    ) -> Result<Option<Judged>, ChainFault> {
        let Some(it) = self.in_escrow(intent).await.map_err(unreadable)? else { return Ok(None) };
        let Movement { reference, recipient, token, amount, .. } = it.movement;
        let vault = vault::address(&of.address, &of.implementation, &recipient, &reference);
        if wallets.chain.token_balance(token, vault).await? >= amount
            && !self.may_have_left(wallets, of, &it).await?
        {
            return Ok(None);
        }
        let wanted = Wanted {
            intent: it.movement.intent,
            as_what: it.as_what,
            about: reference,
            movement: Some((vault, token, recipient, amount)),
            known: Some(self.known_of(&it).await.map_err(unreadable)?),
        };
        let sought = Sought::Elsewhere(intent, wanted, it.deposit.paid_at);
        Ok(match self.look_down(wallets, of, &sought).await? {
            Found::Judged(judged) => Some(judged),
            Found::Unfinished => Some(Judged::Shallow),
            Found::Nowhere => None,
        })
    }

    async fn in_escrow(&self, intent: &Intent) -> Result<Option<InEscrow>, store::StoreError> {
        if !intent.plan.pays_from_escrow() {
            return Ok(None);
        }
        let tenant = intent.tenant;
        let deposit = self.store.deposit(tenant, DepositId(intent.subject)).await?;
        let Some((deposit, request)) = deposit.and_then(|it| it.request.map(|of| (it, of))) else {
            return Ok(None);
        };
        let of_deposit = self.store.intents_for(tenant, deposit.id.0).await?;
        let Some((movement, as_what)) = movement(intent, &of_deposit) else { return Ok(None) };
        let all = self.store.deposits_of_request(tenant, request).await?;
        Ok(Some(InEscrow { deposit, all, movement, as_what }))
    }

    async fn known_of(&self, it: &InEscrow) -> Result<Known, store::StoreError> {
        let (mut intents, mut taken) = (Vec::new(), Vec::new());
        for deposit in &it.all {
            let of_it = self.store.intents_for(deposit.tenant, deposit.id.0).await?;
            let own: Vec<Word> = of_it.iter().map(|it| intent_word(it.tenant, it.id)).collect();
            intents.extend(own.iter().copied());
            let tx = left_in(deposit).filter(|_| it.is_like_it(deposit));
            taken.extend(tx.map(|tx| (tx, own)));
        }
        Ok(Known { intents, taken })
    }

    /// Whether tokens have left the escrow in a transaction by which no deposit of these books did,
    /// or may have in a block that the watcher has yet to ingest.
    async fn may_have_left(
        &self,
        wallets: &ChainContext,
        of: &Controller,
        it: &InEscrow,
    ) -> Result<bool, ChainFault> {
        let (chain, vault) = (it.deposit.chain, it.deposit.to);
        let logs = self.store.vault_logs(chain, vault).await.map_err(unreadable)?;
        let is_known = |tx| it.all.iter().any(|deposit| left_in(deposit) == Some(tx));
        if logs.iter().any(|log| log.minor < 0 && !is_known(log.tx)) {
            return Ok(true);
        }
        let tip = self.store.chain_headers(chain, 1).await.map_err(unreadable)?;
        let next = tip.first().map_or(0, |tip| tip.number + 1);
        let head = wallets.chain.head().await?;
        if next > head {
            return Ok(false);
        }
        if head - next >= RANGE_MAX {
            let what = format!("blocks {next} to {head} have yet to be ingested");
            return Err(ChainFault::Unreachable(what));
        }
        let reference = it.movement.reference;
        Ok(!wallets.chain.executing(of.address, reference, next, head).await?.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use domain::chain::Address;

    use super::*;

    /// One transaction may have made several releases of one amount to one escrow's recipient.
    #[test]
    fn a_release_under_another_id_is_taken_by_a_deposit_that_has_none_of_its_own_there() {
        let [own, other, absent] = [1, 2, 3].map(|it| Word([it; 32]));
        let [tx, another] = [1, 2].map(|it| TxHash([it; 32]));
        let [vault, token, to] = [1, 2, 3].map(|it| Address([it; 20]));
        let log = |intent, log_index| Executed {
            as_what: IntentOnChain::Released,
            intent,
            about: Word([6; 32]),
            vault,
            token,
            to,
            amount: 60,
            log_index,
        };
        let receipt = Receipt {
            tx,
            block_number: 1,
            block: domain::chain::BlockHash([1; 32]),
            succeeded: true,
            gas_used: 1,
            logs: Vec::new(),
            refusals: Vec::new(),
            executed: vec![log(own, 1), log(other, 2)],
        };
        for (taken, expected) in [
            (vec![], Some(other)),
            // It is the log under its own id.
            (vec![(tx, vec![absent, own])], Some(other)),
            (vec![(another, vec![absent])], Some(other)),
            (vec![(tx, vec![absent])], None),
            (vec![(tx, vec![])], None),
        ] {
            let known = Known { intents: vec![own, absent], taken: taken.clone() };
            let wanted = Wanted {
                intent: absent,
                as_what: IntentOnChain::Released,
                about: Word([6; 32]),
                movement: Some((vault, token, to, 60)),
                known: Some(known),
            };
            let found = wanted.log_of(&receipt).map(|log| log.intent);
            assert_eq!(found, expected, "{taken:?}");
        }
    }
}
