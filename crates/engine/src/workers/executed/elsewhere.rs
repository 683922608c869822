//! Deposits whose amount has left their escrow under an id that these books do not have: released or
//! refunded after the backup that the books were restored from. A later release or refund would be paid
//! from the escrow's other deposits.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use domain::chain::{
    ChainFault, ChainNumber, Executed, IntentOnChain, Movement, Plan, Receipt, TxHash, Word,
    intent_word, vault,
};
use domain::chain_tx::Intent;
use domain::coin_amount;
use domain::deposit::{Deposit, VaultLog};
use domain::ids::DepositId;
use domain::ports::Controller;
use domain::time::Timestamp;

use super::super::Workers;
use super::{Found, Judged, Sought, Wanted};
use crate::context::ChainContext;

/// Why an intent is held whose escrow has lost tokens by a movement that is not like it.
const LESS_THAN_HELD: &str =
    "tokens have left the escrow that these books do not know of: it has less than they hold there";

/// Movements out of the escrows of a deposit's request that these books have.
pub(super) struct Known {
    /// The controller's ids of their intents.
    intents: Vec<Word>,
    /// Other deposits of the same amount in the same escrow that have left it, each with the transaction
    /// and the controller's ids of its intents.
    taken: Vec<(TxHash, Vec<Word>)>,
    /// Block of the deposit: what left the escrow before is not its amount.
    since: u64,
}

impl Known {
    /// The log of a transaction by which the amount has left the escrow, to any address.
    pub(super) fn log_of(&self, wanted: &Wanted, receipt: &Receipt) -> Option<Executed> {
        let (vault, token, _, amount) = wanted.movement?;
        if receipt.block_number < self.since {
            return None;
        }
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

/// The chains whose vault logs include everything that an earlier life of the installation has sent.
pub(in super::super) struct CaughtUp {
    /// When this process started: the earlier life was over.
    since: Timestamp,
    chains: Mutex<BTreeSet<ChainNumber>>,
}

impl CaughtUp {
    pub(in super::super) fn since(since: Timestamp) -> CaughtUp {
        CaughtUp { since, chains: Mutex::default() }
    }

    fn chains(&self) -> MutexGuard<'_, BTreeSet<ChainNumber>> {
        self.chains.lock().unwrap_or_else(PoisonError::into_inner)
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
    /// Whether another deposit leaves the same escrow by a movement of the same amount. Dust leaves it
    /// with the deposit that it is released with.
    fn is_like_it(&self, other: &Deposit) -> bool {
        let place = |it: &Deposit| (it.to, it.coin);
        let is_rider = self.all.iter().any(|it| {
            it.riders.contains(&other.id)
                && it.release_tx.is_some_and(|tx| left_in(other) == Some(tx))
        });
        let riders = self.all.iter().filter(|it| {
            other.release_tx.is_some()
                && other.riders.contains(&it.id)
                && it.release_tx == other.release_tx
        });
        let minor = other.minor + riders.map(|it| it.minor).sum::<i64>();
        let is_other = other.id != self.deposit.id && !is_rider;
        is_other
            && place(other) == place(&self.deposit)
            && u64::try_from(minor) == Ok(self.movement.amount)
    }

    /// First block by which it can have left.
    fn since(&self) -> u64 {
        self.deposit.place.map_or(0, |place| place.number)
    }

    /// What the books hold in the escrow, in minor units of its coin.
    fn held(&self) -> i64 {
        let is_there = |it: &&Deposit| {
            (it.to, it.coin) == (self.deposit.to, self.deposit.coin) && it.is_held_in_escrow()
        };
        self.all.iter().filter(is_there).map(|it| it.minor).sum()
    }

    /// Transactions by which more has left the escrow than the books know.
    fn unknown(&self, logs: &[VaultLog]) -> BTreeSet<TxHash> {
        let (coin, since) = (self.deposit.coin, self.since());
        let of_it = |it: &&Deposit| (it.to, it.coin) == (self.deposit.to, coin);
        let known = self.all.iter().filter(of_it);
        let known = known.filter_map(|it| Some((left_in(it)?, it.minor)));
        let logs = logs.iter().filter(|log| log.coin == coin && log.place.number >= since);
        left_unknown(logs, known)
    }
}

/// Transactions whose logs take more out of a vault than the deposits that are known to have left by them.
fn left_unknown<'a>(
    logs: impl Iterator<Item = &'a VaultLog>,
    known: impl Iterator<Item = (TxHash, i64)>,
) -> BTreeSet<TxHash> {
    let mut left = BTreeMap::<TxHash, i64>::new();
    for log in logs.filter(|log| log.minor < 0) {
        *left.entry(log.tx).or_default() -= log.minor;
    }
    for (tx, minor) in known {
        left.entry(tx).and_modify(|left| *left -= minor);
    }
    left.into_iter().filter(|(_, left)| *left > 0).map(|(tx, _)| tx).collect()
}

/// The transaction by which a deposit left its escrow.
fn left_in(deposit: &Deposit) -> Option<TxHash> {
    deposit.release_tx.or(deposit.refund.as_ref().and_then(|refund| refund.tx))
}

fn unreadable(error: store::StoreError) -> ChainFault {
    ChainFault::Unreachable(format!("deposits cannot be read: {error}"))
}

impl Workers {
    /// Whether the vault logs of a chain include what an earlier life of the installation has sent: the
    /// watcher's newest block is not older than this process. A sandbox moves its clock, and does not wait.
    pub(in super::super) async fn is_caught_up(
        &self,
        wallets: &ChainContext,
    ) -> Result<bool, ChainFault> {
        let chain = wallets.config.number;
        if wallets.sandbox || self.caught_up.chains().contains(&chain) {
            return Ok(true);
        }
        let tip = self.store.chain_headers(chain, 1).await.map_err(unreadable)?;
        let is_caught_up = tip.first().is_some_and(|tip| tip.at >= self.caught_up.since);
        if is_caught_up {
            self.caught_up.chains().insert(chain);
        }
        Ok(is_caught_up)
    }

    /// Whether an intent's amount may have left its escrow under another id.
    pub(in super::super) async fn may_have_left_before(
        &self,
        intent: &Intent,
    ) -> Result<bool, ChainFault> {
        match self.in_escrow(intent).await.map_err(unreadable)? {
            Some(it) => self.may_have_left(&it).await,
            None => Ok(false),
        }
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
        if !self.is_caught_up(wallets).await? {
            return Ok(Some(Judged::Shallow));
        }
        let Movement { reference, recipient, token, amount, .. } = it.movement;
        let vault = vault::address(&of.address, &of.implementation, &recipient, &reference);
        let balance = wallets.chain.token_balance(token, vault).await?;
        let may_have_left = self.may_have_left(&it).await?;
        if balance >= amount && !may_have_left {
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
            Found::Nowhere if may_have_left && i128::from(balance) < i128::from(it.held()) => {
                let [has, held] = [i64::try_from(balance).unwrap_or(i64::MAX), it.held()];
                let [has, held] = [has, held].map(coin_amount::show);
                Some(Judged::Disagrees(format!("{LESS_THAN_HELD}: {has} of {held}")))
            }
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
        Ok(Known { intents, taken, since: it.since() })
    }

    /// Whether more tokens have left the escrow in a transaction than the deposits that left by it, unless
    /// it is one of these books' that is yet to be booked.
    async fn may_have_left(&self, it: &InEscrow) -> Result<bool, ChainFault> {
        let logs = self.store.vault_logs(it.deposit.chain, it.deposit.to).await;
        let unknown = it.unknown(&logs.map_err(unreadable)?);
        if unknown.is_empty() {
            return Ok(false);
        }
        let open = self.store.open_chain_txs(usize::MAX).await.map_err(unreadable)?;
        let is_own = |tx| open.iter().flat_map(|it| &it.attempts).any(|it| it.hash == tx);
        Ok(unknown.into_iter().any(|tx| !is_own(tx)))
    }
}

#[cfg(test)]
mod tests {
    use domain::chain::{Address, BlockHash};
    use domain::chain_tx::BlockRef;
    use domain::currency::StableCoin;

    use super::*;

    /// A batch releases several deposits of an escrow in one transaction.
    #[test]
    fn a_transaction_is_known_only_as_far_as_booked_deposits_left_by_it() {
        let [tx, another] = [1, 2].map(|it| TxHash([it; 32]));
        let log = |tx, log_index, minor| VaultLog {
            chain: ChainNumber::FIRST,
            place: BlockRef { number: 1, block: BlockHash([1; 32]) },
            log_index,
            tx,
            ordinal: log_index,
            vault: Address([1; 20]),
            coin: StableCoin::Usdt,
            minor,
        };
        // The contract kept a fee of 1 from each.
        let logs = [(0, 100), (1, -24), (2, -1), (3, -24), (4, -1)];
        let logs = logs.map(|(at, minor)| log(tx, at, minor));
        for (known, expected) in [
            (vec![], true),
            (vec![(tx, 25)], true),
            (vec![(tx, 25), (another, 25)], true),
            (vec![(tx, 25), (tx, 25)], false),
            (vec![(tx, 50)], false),
        ] {
            let found = left_unknown(logs.iter(), known.iter().copied());
            assert_eq!(found.contains(&tx), expected, "{known:?}");
        }
    }

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
        for (taken, since, expected) in [
            (vec![], 1, Some(other)),
            // The deposit is newer.
            (vec![], 2, None),
            // It is the log under its own id.
            (vec![(tx, vec![absent, own])], 1, Some(other)),
            (vec![(another, vec![absent])], 1, Some(other)),
            (vec![(tx, vec![absent])], 1, None),
            (vec![(tx, vec![])], 1, None),
        ] {
            let known = Known { intents: vec![own, absent], taken: taken.clone(), since };
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
