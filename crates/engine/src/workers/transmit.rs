//! Tracks our transactions to completion: signs, broadcasts what is saved, replaces what is stuck
//! or no longer wanted, detects what is mined and what a reorganization undid. Findings become
//! commands; only bytes that a command has saved are ever broadcast.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, VecDeque};

use domain::chain::{
    Address, BlockHash, Broadcast, Call, ChainFault, ChainLog, ChainNumber, Depth, Fees,
    IntentKind, LogEvent, Movement, Plan, Receipt, Sighting, Signed, Unsigned, Word, intent_word,
    vault,
};
use domain::chain_tx::{
    self, BlockRef, ChainTx, Intent, LOOK_EVERY, Mined, STUCK, Taking, TxAttempt, TxState,
};
use domain::currency::StableCoin;
use domain::deposit::VaultLog;
use domain::ids::{ChainTxId, DepositId, ExchangeId, IntentId};
use domain::job::Job;
use domain::time::{Span, Timestamp};
use domain::wallet_effects::{Alert, AlertKind};
use futures_util::future::join_all;
use store::StoreError;

use super::Workers;
use super::unsent::{Key, UNSENT_FOR};
use crate::alerts;
use crate::batcher::fresh_id;
use crate::command::chain::{ChainAction, Subject, TxKey};
use crate::command::deposits::DepositRef;
use crate::command::exchange::OrderKey;
use crate::command::{Action, Outcome};
use crate::context::{ChainContext, ChainContexts};
use crate::failpoint::{self, Failpoint};

/// Gas limit of a no-op transaction.
const CANCEL_GAS: u64 = 30_000;
/// What the alert about a rejected broadcast says. It ends once the transaction is mined.
const REJECTED: &str = "the node rejected a transaction: ";
/// Beginning of an alert about one that is not accepted. It ends once it is accepted or mined.
const UNACCEPTED: &str =
    "the nodes have refused the fees of a transaction for more than 10 minutes";
/// A transaction that is not mined is rebroadcast at this interval, and at every pass at first.
const BROADCAST_AGAIN: Span = Span::secs(15);
/// A gap below an open transaction is filled after this time, at most this many nonces at once.
const GAP_AFTER: Span = Span::secs(15);
const GAP_MAX: u64 = 16;
/// A signature that is this late raises an alert.
const UNSIGNED_FOR: Span = Span::mins(2);
/// A nonce that a foreign transaction has used for this long is lost.
const SUPERSEDED_AFTER: Span = Span::mins(30);

/// A mined attempt, the controller's errors for intents that failed individually, and the receipt.
type Found = (Mined, Vec<(IntentId, String)>, Receipt);

/// A leased job with its transaction and intents.
struct Case {
    job: Job,
    tx: ChainTx,
    intents: Vec<Intent>,
}

impl Case {
    fn key(&self) -> TxKey {
        TxKey::of(&self.tx, &self.intents)
    }

    /// Whether its next signature has been due for long enough to alert an operator.
    fn signature_is_late(&self, wallets: &ChainContext, now: Timestamp) -> bool {
        let replaced_after = Span::secs(wallets.config.replace_after_s.into());
        let last = self.tx.attempts.last();
        let due = last.map_or(self.tx.created_at, |last| last.at + replaced_after);
        now - due >= UNSIGNED_FOR
    }
}

impl Workers {
    /// Processes leased `transmit` jobs.
    pub(super) async fn transmit(&self, wallets: &ChainContexts, jobs: Vec<Job>) {
        self.end_unsent().await;
        // One signer's transactions in nonce order: a node that holds back gaps accepts them
        // sooner.
        let mut cases = join_all(jobs.into_iter().map(|job| self.tx_case(job))).await;
        cases.sort_by_key(|case| {
            case.as_ref().map(|case| (case.tx.chain, case.tx.signer, case.tx.nonce))
        });
        join_all(cases.into_iter().flatten().map(|case| self.follow_tx(wallets, case))).await;
    }

    async fn tx_case(&self, job: Job) -> Option<Case> {
        let read = async {
            let Some(tx) = self.store.chain_tx(job.tenant, ChainTxId(job.subject)).await? else {
                return Ok(None);
            };
            let intents = self.store.intents(job.tenant, &tx.intents).await?;
            Ok::<_, store::StoreError>(Some((tx, intents)))
        };
        match read.await {
            Ok(found) => found.map(|(tx, intents)| Case { job, tx, intents }),
            Err(error) => {
                tracing::warn!(%error, tx = %job.subject, "transaction read failed, will retry");
                None
            }
        }
    }

    async fn follow_tx(&self, wallets: &ChainContexts, case: Case) {
        let Some(wallets) = self.chain_of(wallets, case.tx.chain) else { return };
        let followed = match case.tx.state {
            TxState::Taken => self.sign_first(wallets, &case).await,
            TxState::Broadcast => self.look_for(wallets, &case).await,
            TxState::Mined => self.look_at(wallets, &case).await,
            TxState::Succeeded | TxState::Reverted | TxState::Cancelled => return,
        };
        if let Err(fault) = followed {
            tracing::warn!(%fault, tx = %case.tx.id, "transaction tracking failed, will retry");
            if let ChainFault::Disagreement(_) = fault {
                self.alert_about(&case, AlertKind::ChainMismatch, fault.to_string()).await;
            } else if case.tx.state == TxState::Mined {
                self.unconfirmed(&case).await;
            }
            self.look_later(&case, false).await;
        }
    }

    async fn sign_first(&self, wallets: &ChainContext, case: &Case) -> Result<(), ChainFault> {
        let fees = chain_tx::capped(case.tx.fees, wallets.config.most_fees());
        self.sign(wallets, case, fees, case.tx.cancel_wanted).await
    }

    /// Signs, has the bytes saved, and only then broadcasts them. While the key does not sign, those
    /// that are saved are broadcast again.
    async fn sign(
        &self,
        wallets: &ChainContext,
        case: &Case,
        fees: Fees,
        cancels: bool,
    ) -> Result<(), ChainFault> {
        let call = if cancels { Some(Call::Cancel) } else { chain_tx::call(&case.intents) };
        let Some(call) = call else {
            tracing::error!(tx = %case.tx.id, "transaction has no call");
            return Ok(());
        };
        let gas_limit = if cancels { CANCEL_GAS } else { case.tx.gas_limit };
        let ChainTx { tenant, controller, signer, nonce, .. } = case.tx;
        let unsigned = Unsigned { tenant, controller, signer, nonce, call, gas_limit, fees };
        let is_late = case.signature_is_late(wallets, self.clock().now());
        let key = Key::of(&case.tx);
        let Some(attempt) = self.unsigned.begin(key, self.clock().now()) else {
            return self.look_again(wallets, case, false).await;
        };
        let signed = match wallets.signer.sign(&unsigned).await {
            Ok(signed) => {
                let failed = self.unsigned.signed(key);
                if failed || is_late {
                    alerts::end(&self.store, tenant, &self.unsigned_alert(&case.tx)).await;
                }
                signed
            }
            Err(fault) => {
                self.unsigned.failed(key, attempt, self.clock().now());
                tracing::warn!(%fault, tx = %case.tx.id, "transaction signing failed, will retry");
                if is_late {
                    self.raise(tenant, self.unsigned_alert(&case.tx)).await;
                }
                return self.look_again(wallets, case, false).await;
            }
        };
        failpoint::reach(Failpoint::BeforeSigned);
        let Signed { hash, raw } = signed.clone();
        let (tx, fence, signed) = (case.key(), case.job.fence, Box::new(signed));
        let action = ChainAction::Signed { tx, fence, signed, fees, cancels };
        match self.report(tenant, case.tx.id.0, Action::Chain(action)).await {
            Some(Outcome::Done) => self.broadcast(wallets, case, &raw).await,
            // It must no longer happen: the signed bytes are discarded and were never broadcast.
            Some(Outcome::CalledOff) => {
                tracing::info!(tx = %case.tx.id, %hash, "transaction cancelled before broadcast")
            }
            _ => {}
        }
        Ok(())
    }

    async fn broadcast(&self, wallets: &ChainContext, case: &Case, raw: &[u8]) {
        failpoint::reach(Failpoint::BeforeBroadcast);
        let told = wallets.chain.broadcast(raw).await;
        failpoint::reach(Failpoint::AfterBroadcast);
        self.note_acceptance(case, &told).await;
        match told {
            Broadcast::Accepted | Broadcast::AlreadyKnown => {}
            // It, or another of its attempts, is mined: detected in the next pass.
            Broadcast::NonceTooLow => {
                tracing::debug!(tx = %case.tx.id, "broadcast rejected: nonce already used")
            }
            // Replaced later.
            Broadcast::Underpriced => {
                tracing::info!(tx = %case.tx.id, "broadcast rejected: transaction underpriced")
            }
            Broadcast::InsufficientFunds => self.cannot_pay(case).await,
            Broadcast::Refused(why) => {
                let what = format!("{REJECTED}{why}");
                self.alert_about(case, AlertKind::Transaction, what).await;
            }
            Broadcast::Indeterminate(why) => {
                tracing::warn!(tx = %case.tx.id, %why, "broadcast outcome unknown")
            }
        }
    }

    async fn cannot_pay(&self, case: &Case) {
        self.unfunded.note(case.tx.id, self.clock().now());
        let (role, signer) = (case.tx.role.name(), case.tx.signer);
        let what = format!("the {role} key {signer} cannot pay for gas");
        self.alert_about(case, AlertKind::LowGas, what).await;
    }

    /// Whether a transaction waits at the highest fee for another reason than gas that its key lacks,
    /// or has lacked a short time ago.
    async fn is_stuck(&self, wallets: &ChainContext, case: &Case) -> bool {
        let Some(last) = case.tx.attempts.last().filter(|_| !case.tx.paged) else { return false };
        // Missing gas shows when it is broadcast again.
        let funded =
            Span::secs(wallets.config.replace_after_s.into()).max(Span(2 * BROADCAST_AGAIN.0));
        if self.unfunded.is_recent(case.tx.id, funded, self.clock().now()) {
            return false;
        }
        let gas_limit = if last.cancels { CANCEL_GAS } else { case.tx.gas_limit };
        let cost = u128::from(gas_limit).saturating_mul(last.fees.max_fee);
        match wallets.chain.gas_balance(case.tx.signer).await {
            Ok(balance) if balance >= cost => return true,
            Ok(_) => self.cannot_pay(case).await,
            Err(fault) => tracing::warn!(%fault, tx = %case.tx.id, "gas balance read failed"),
        }
        false
    }

    /// Operators learn of a transaction whose fees stay too low, however often they are raised.
    async fn note_acceptance(&self, case: &Case, told: &Broadcast) {
        let (tx, now) = (case.tx.id, self.clock().now());
        let is_unaccepted = match told {
            Broadcast::Accepted | Broadcast::AlreadyKnown | Broadcast::NonceTooLow => {
                if self.unaccepted.accepted(tx) {
                    let is_it = |alert: &Alert| alert.what.contains(UNACCEPTED);
                    alerts::end_about(&self.store, (case.tx.tenant, tx.0), is_it).await;
                }
                false
            }
            Broadcast::Underpriced => self.unaccepted.refused(tx, now),
            // They raise alerts of their own, nodes without an answer those of the chain.
            Broadcast::InsufficientFunds | Broadcast::Refused(_) | Broadcast::Indeterminate(_) => {
                false
            }
        };
        if is_unaccepted {
            self.alert_about(case, AlertKind::Transaction, UNACCEPTED.to_owned()).await;
        }
    }

    /// The alert that a key does not sign.
    fn unsigned_alert(&self, tx: &ChainTx) -> Alert {
        let ChainTx { tenant, chain, role, signer, .. } = tx;
        let minutes = UNSIGNED_FOR.0 / Span::mins(1).0;
        let role = role.name();
        let what = format!(
            "the {role} key {signer} has not signed for more than {minutes} minutes, its transactions wait"
        );
        let what = self.said_of(*chain, what);
        Alert { kind: AlertKind::Transaction, subject: tenant.0, what }
    }

    async fn alert_about(&self, case: &Case, kind: AlertKind, what: String) {
        let what = self.said_of(case.tx.chain, what);
        self.raise(case.tx.tenant, Alert { kind, subject: case.tx.id.0, what }).await;
    }

    /// Checks whether one of its attempts was mined.
    async fn look_for(&self, wallets: &ChainContext, case: &Case) -> Result<(), ChainFault> {
        if let Some(found) = self.mined(wallets, case).await? {
            return self.tell_mined(wallets, case, found).await;
        }
        let now = self.clock().now();
        let counts = wallets.chain.nonces(case.tx.signer).await?;
        let used = counts.lowest() > case.tx.nonce;
        self.fill_gap(wallets, case, counts.highest()).await?;
        let is_over = used && !counts.is_lone() && now - case.tx.state_at >= SUPERSEDED_AFTER;
        if is_over && self.mined(wallets, case).await?.is_none() {
            // An earlier life of the installation may have sent the one that has the nonce.
            let executed = self.executed_of(wallets, case, |_| true).await?;
            self.end_waiting(case).await;
            self.tell_about(case, ChainAction::Superseded { tx: case.key(), executed }).await;
            return Ok(());
        }
        if case.tx.wants_replacement(&wallets.config, now) && !used {
            let asked = wallets.chain.higher_fees().await?;
            if let Some(fees) = case.tx.replacement_fees(asked, &wallets.config) {
                return self.sign(wallets, case, fees, case.tx.cancel_wanted).await;
            }
            let stuck = self.is_stuck(wallets, case).await;
            self.look_again(wallets, case, stuck).await?;
        } else {
            self.look_again(wallets, case, false).await?;
        }
        Ok(())
    }

    /// It is not mined: it is retried later, and rebroadcast while it is wanted. What took effect
    /// before a reorganization is not rebroadcast before the watcher knows the fate of its
    /// deposits.
    async fn look_again(
        &self,
        wallets: &ChainContext,
        case: &Case,
        stuck: bool,
    ) -> Result<(), ChainFault> {
        let abreast = case.tx.settled.is_none()
            || self.is_watched(case.tx.chain, wallets.chain.head().await?, None).await;
        let action = ChainAction::Look { tx: case.key(), fence: case.job.fence, stuck, abreast };
        let outcome = self.report(case.tx.tenant, case.tx.id.0, Action::Chain(action)).await;
        let now = self.clock().now();
        let last = case.tx.attempts.last().filter(|last| is_time_to_repeat(case, last, now));
        let Some(last) =
            last.filter(|last| last.cancels || abreast && matches!(outcome, Some(Outcome::Done)))
        else {
            return Ok(());
        };
        self.broadcast(wallets, case, &last.raw).await;
        Ok(())
    }

    /// Fills nonces that the chain expects and that none of our transactions has, since all later
    /// ones of the signer wait for them. Not at once: nodes propagate transactions in any order.
    async fn fill_gap(
        &self,
        wallets: &ChainContext,
        case: &Case,
        count: u64,
    ) -> Result<(), ChainFault> {
        let ChainTx { tenant, chain, role, signer, controller, nonce, .. } = case.tx;
        if count >= nonce || self.clock().now() - case.tx.created_at < GAP_AFTER {
            return Ok(());
        }
        let unreadable = |error| ChainFault::Unreachable(format!("nonces cannot be read: {error}"));
        let until = nonce.min(count.saturating_add(GAP_MAX));
        let taken =
            self.store.taken_nonces(chain, signer, count, until).await.map_err(unreadable)?;
        let missing: Vec<u64> = (count..until).filter(|it| !taken.contains(it)).collect();
        if missing.is_empty() {
            return Ok(());
        }
        let fees = chain_tx::capped(wallets.chain.fees().await?, wallets.config.most_fees());
        for chain_nonce in missing {
            let id = ChainTxId(fresh_id(&self.store));
            let taking = Taking {
                id,
                tenant,
                chain,
                role,
                signer,
                controller,
                chain_nonce,
                gas_limit: CANCEL_GAS,
                fees,
            };
            self.report(
                tenant,
                id.0,
                Action::Chain(ChainAction::Fill { taking: Box::new(taking) }),
            )
            .await;
        }
        Ok(())
    }

    /// Checks whether it is still in its block, and deep enough.
    async fn look_at(&self, wallets: &ChainContext, case: &Case) -> Result<(), ChainFault> {
        match self.mined(wallets, case).await? {
            Some(found) => self.tell_mined(wallets, case, found).await,
            // It is rebroadcast in the next pass, if it is still wanted then.
            None => {
                self.tell_about(case, ChainAction::Lost { tx: case.key() }).await;
                Ok(())
            }
        }
    }

    /// The mined attempt, with the controller's errors for failed intents. All attempts of a
    /// transaction share one nonce, so at most one is mined.
    async fn mined(
        &self,
        wallets: &ChainContext,
        case: &Case,
    ) -> Result<Option<Found>, ChainFault> {
        let controllers = [case.tx.controller];
        for attempt in case.tx.attempts.iter().rev() {
            if let Some(receipt) = wallets.chain.receipt(attempt.hash, &controllers).await? {
                let refusals = refusals(&case.tx, &case.intents, &receipt);
                return Ok(Some((
                    mined(&case.tx, &case.intents, attempt, &receipt),
                    refusals,
                    receipt,
                )));
            }
        }
        Ok(None)
    }

    /// Has the block saved first. The transaction is final if that block is deep, ingested by the
    /// watcher and still there: a watcher that finds it gone later finds the transaction with it.
    async fn tell_mined(
        &self,
        wallets: &ChainContext,
        case: &Case,
        (mined, refusals, receipt): Found,
    ) -> Result<(), ChainFault> {
        let known = case.tx.mined.as_ref() == Some(&mined);
        let place = mined.place;
        let tell = |over, fees, executed| ChainAction::Mined {
            tx: case.key(),
            mined: Box::new(mined.clone()),
            over,
            refusals: refusals.clone(),
            fees,
            executed,
        };
        if !known {
            self.end_waiting(case).await;
            self.tell_about(case, tell(false, Vec::new(), Vec::new())).await;
        }
        // Nothing is final above what the watcher has: the nodes are spared until then.
        let is_ingested = self.is_watched(case.tx.chain, place.number, None).await;
        let sighting = match is_ingested && self.is_settled(wallets, place.number).await? {
            true => Some(wallets.chain.confirms(&receipt, &[case.tx.controller]).await?),
            false => None,
        };
        match sighting {
            Some(Sighting::Absent) => {
                // A reorganisation does so once, a node that is wrong again and again.
                self.unconfirmed(case).await;
                self.tell_about(case, ChainAction::Lost { tx: case.key() }).await;
                return Ok(());
            }
            Some(Sighting::Open) => {
                let what = format!("too few nodes have the receipt of {}", receipt.tx);
                return Err(ChainFault::Unreachable(what));
            }
            Some(Sighting::Confirmed) => self.confirmed(case).await,
            None => {
                let is_old = self.clock().now() - case.tx.state_at >= UNSENT_FOR;
                if known && is_old && !is_ingested {
                    let what = format!("block {} of {} was not ingested", place.number, receipt.tx);
                    return Err(ChainFault::Unreachable(what));
                }
            }
        }
        if sighting.is_some()
            && self.is_watched(case.tx.chain, place.number, Some(place.block)).await
        {
            let fees = self.fees(wallets, case, &mined, &receipt).await?;
            let executed = self.executed_before(wallets, case, &mined).await?;
            let mut over = tell(true, fees, executed);
            if let ChainAction::Mined { tx, .. } = &mut over {
                self.name_rivals(case, tx).await.map_err(|error| {
                    ChainFault::Unreachable(format!("its subjects cannot be read: {error}"))
                })?;
            }
            self.tell_about(case, over).await;
        } else if known {
            self.look_later(case, false).await;
        }
        Ok(())
    }

    /// It no longer waits to be mined: ends the alerts about that.
    async fn end_waiting(&self, case: &Case) {
        self.unaccepted.accepted(case.tx.id);
        self.unfunded.forget(case.tx.id);
        let is_over = |alert: &Alert| {
            let is_of_waiting =
                [REJECTED, UNACCEPTED, STUCK].iter().any(|it| alert.what.contains(it));
            is_of_waiting || alert.kind == AlertKind::LowGas
        };
        alerts::end_about(&self.store, (case.tx.tenant, case.tx.id.0), is_over).await;
    }

    /// Too few nodes have its receipt.
    async fn unconfirmed(&self, case: &Case) {
        let (key, now) = (Key::of(&case.tx), self.clock().now());
        if self.unsent.failed(key, case.tx.intents.iter().copied(), now) {
            self.raise(case.tx.tenant, self.unsent_alert(key)).await;
        }
    }

    /// Enough nodes have its receipt.
    async fn confirmed(&self, case: &Case) {
        let (key, now) = (Key::of(&case.tx), self.clock().now());
        let is_late = now - case.tx.state_at >= UNSENT_FOR;
        if self.unsent.answered(key, case.tx.intents.iter().copied(), is_late, now) {
            alerts::end(&self.store, case.tx.tenant, &self.unsent_alert(key)).await;
        }
    }

    /// Adds to the key what replaced intents that were given up, which may take effect after all, and
    /// what a deposit names in place of a release that was not called off in time.
    async fn name_rivals(&self, case: &Case, key: &mut TxKey) -> Result<(), StoreError> {
        let tenant = case.tx.tenant;
        for (intent, key) in case.intents.iter().zip(&mut key.intents) {
            let is_given_up = intent.state.is_terminal();
            if let Subject::Order(of) = &mut key.subject
                && is_given_up
                && let Some(order) = self.store.exchange(tenant, of.order).await?
            {
                let named = OrderKey::of(&order);
                of.intents.extend(named.intents);
                of.intents.sort_unstable();
                of.intents.dedup();
            }
            let Subject::Deposit(of) = &mut key.subject else { continue };
            let is_release = intent.kind() == IntentKind::Release;
            if !is_given_up && !is_release {
                continue;
            }
            let deposit = self.store.deposit(tenant, of.id).await?;
            let names_it = deposit.as_ref().is_none_or(|it| it.release == Some(intent.id));
            if is_release && names_it && !is_given_up {
                continue;
            }
            let later = self.store.intents_for(tenant, intent.subject).await?;
            let later = later.iter().filter(|it| it.kind() == intent.kind());
            of.intents.extend(later.map(|it| it.id));
            if let Some(deposit) = deposit {
                of.intents.extend(DepositRef::of(&deposit, None).intents);
                of.riders.extend(deposit.riders);
            }
            for rider in &intent.riders {
                let rider = self.store.deposit(tenant, *rider).await?;
                of.intents.extend(rider.and_then(|it| it.release));
            }
            of.intents.sort_unstable();
            of.intents.dedup();
            of.riders.sort_unstable();
            of.riders.dedup();
        }
        Ok(())
    }

    /// Whether a block is deep enough for its contents to count.
    pub(super) async fn is_settled(
        &self,
        wallets: &ChainContext,
        number: u64,
    ) -> Result<bool, ChainFault> {
        let depth = wallets.config.settled_depth;
        if let Depth::Blocks(blocks) = depth {
            // One node's word is cheap, and proves only that it is not deep enough.
            let claimed = (wallets.chain.head().await? + 1).checked_sub(blocks);
            if claimed.is_none_or(|newest| newest < number) {
                return Ok(false);
            }
        }
        let newest = wallets.config.newest_at(&wallets.chain.heads().await?, depth);
        Ok(newest.is_some_and(|newest| newest >= number))
    }

    /// The failed intents that the controller has executed in another transaction.
    async fn executed_before(
        &self,
        wallets: &ChainContext,
        case: &Case,
        mined: &Mined,
    ) -> Result<Vec<IntentId>, ChainFault> {
        let attempt = case.tx.attempts.iter().find(|attempt| attempt.number == mined.attempt);
        if attempt.is_none_or(|attempt| attempt.cancels) {
            return Ok(Vec::new());
        }
        let has_failed = |it: &Intent| !mined.succeeded || mined.failed.contains(&it.id);
        self.executed_of(wallets, case, has_failed).await
    }

    /// Those of its intents that the controller has executed.
    async fn executed_of(
        &self,
        wallets: &ChainContext,
        case: &Case,
        is_asked: impl Fn(&Intent) -> bool,
    ) -> Result<Vec<IntentId>, ChainFault> {
        let mut executed = Vec::new();
        for intent in case.intents.iter().filter(|it| is_asked(it)) {
            let state = self.is_executed(wallets, case.tx.controller, &intent.plan).await?;
            executed.extend(state.map(|_| intent.id));
        }
        Ok(executed)
    }

    /// Fees that token contracts kept from what intents moved, from the logs that the watcher saved.
    /// Of our tokens only USDT's contract can charge one.
    async fn fees(
        &self,
        wallets: &ChainContext,
        case: &Case,
        mined: &Mined,
        receipt: &Receipt,
    ) -> Result<Vec<(IntentId, i64)>, ChainFault> {
        let attempt = case.tx.attempts.iter().find(|attempt| attempt.number == mined.attempt);
        let Some(attempt) = attempt.filter(|attempt| mined.succeeded && !attempt.cancels) else {
            return Ok(Vec::new());
        };
        let unreadable =
            |error: StoreError| ChainFault::Unreachable(format!("logs cannot be read: {error}"));
        let mut left: BTreeMap<Address, VecDeque<i64>> = BTreeMap::new();
        let mut fees = Vec::new();
        for intent in case.intents.iter().filter(|it| !mined.failed.contains(&it.id)) {
            if intent.coin != Some(StableCoin::Usdt) {
                continue;
            }
            if let Plan::ReturnDebit { .. } = intent.plan {
                let fee = self.return_fee(wallets, intent, receipt).await.map_err(unreadable)?;
                fees.extend((fee > 0).then_some((intent.id, fee)));
                continue;
            }
            let moved = self.moved_by(wallets, case, intent).await.map_err(unreadable)?;
            let Some((account, amount)) = moved else { continue };
            if let Entry::Vacant(entry) = left.entry(account) {
                let logs = self.store.vault_logs(case.tx.chain, account).await;
                // One transaction may release several coins of an escrow.
                let is_of_it = |log: &&VaultLog| {
                    log.tx == attempt.hash && log.coin == StableCoin::Usdt && log.minor < 0
                };
                let logs = logs.map_err(unreadable)?;
                entry.insert(logs.iter().filter(is_of_it).map(|log| -log.minor).collect());
            }
            let fee = left.get_mut(&account).map_or(0, |moved| fee_of(amount, moved));
            fees.extend((fee > 0).then_some((intent.id, fee)));
        }
        Ok(fees)
    }

    /// The fee kept from an order's tokens on their way back, according to the receipt that enough nodes
    /// have: the wallet received the rest.
    async fn return_fee(
        &self,
        wallets: &ChainContext,
        intent: &Intent,
        receipt: &Receipt,
    ) -> Result<i64, StoreError> {
        let order = self.store.exchange(intent.tenant, ExchangeId(intent.subject)).await?;
        let Some(order) = order else { return Ok(0) };
        let wallet = self.store.wallet(intent.tenant, order.wallet).await?;
        let token = wallets.config.token(order.coin);
        let (Some(wallet), Some(token)) = (wallet, token) else { return Ok(0) };
        let received = |log: &ChainLog| match log.event {
            LogEvent::Transfer { from, to, value } if from == wallet.controller => {
                (log.contract == token && to == wallet.address).then_some(value)
            }
            _ => None,
        };
        Ok(missing_of(order.minor, receipt.logs.iter().find_map(received)))
    }

    /// The vault or controller that an intent's amount leaves, and that amount in minor units.
    async fn moved_by(
        &self,
        wallets: &ChainContext,
        case: &Case,
        intent: &Intent,
    ) -> Result<Option<(Address, u64)>, StoreError> {
        let (tenant, subject) = (intent.tenant, intent.subject);
        Ok(match intent.plan {
            Plan::Release(movement) | Plan::Debit(movement) => {
                let Ok(of) = wallets.contracts.controller(tenant) else { return Ok(None) };
                let Movement { recipient, reference, amount, .. } = &movement;
                let vault = vault::address(&of.address, &of.implementation, recipient, reference);
                Some((vault, *amount))
            }
            Plan::Sweep { amount, .. } => Some((case.tx.controller, amount)),
            Plan::ExecuteRefund { .. } => {
                let deposit = self.store.deposit(tenant, DepositId(subject)).await?;
                deposit.map(|it| (it.to, it.minor.unsigned_abs()))
            }
            _ => None,
        })
    }

    /// Whether the watcher has ingested this height, and has not another block there than this one:
    /// a watcher that does not know of a reorganization yet will not find what the new branch holds
    /// if that is reorganized away, too. If the store cannot be read, it counts as not ingested and
    /// is checked again.
    pub(super) async fn is_watched(
        &self,
        chain: ChainNumber,
        number: u64,
        block: Option<BlockHash>,
    ) -> bool {
        let read = async {
            let there = match block {
                Some(_) => self.store.chain_header(chain, number).await?,
                None => None,
            };
            Ok::<_, store::StoreError>((self.store.chain_headers(chain, 1).await?, there))
        };
        match read.await {
            Ok((newest, there)) => {
                let is_high = newest.first().is_some_and(|newest| newest.number >= number);
                is_high && there.is_none_or(|there| Some(there.hash) == block)
            }
            Err(error) => {
                tracing::warn!(%error, "watched height read failed");
                false
            }
        }
    }

    async fn look_later(&self, case: &Case, stuck: bool) {
        let action =
            ChainAction::Look { tx: case.key(), fence: case.job.fence, stuck, abreast: false };
        self.tell_about(case, action).await;
    }

    async fn tell_about(&self, case: &Case, action: ChainAction) {
        self.report(case.tx.tenant, case.tx.id.0, Action::Chain(action)).await;
    }
}

/// The fee kept from `amount`: the fee is a transfer of its own, and the net amount comes last. If
/// the logs do not add up to the amount, no fee is reported: reconciliation finds what is missing.
fn fee_of(amount: u64, moved: &mut VecDeque<i64>) -> i64 {
    let Ok(amount) = i64::try_from(amount) else { return 0 };
    let (mut sum, mut last) = (0, 0);
    while sum < amount
        && let Some(next) = moved.pop_front()
    {
        (sum, last) = (sum + next, next);
    }
    if sum == amount { amount - last } else { 0 }
}

/// What is missing of an amount that arrived, in minor units; 0 if the receipt does not show it.
fn missing_of(minor: i64, received: Option<u64>) -> i64 {
    let received = received.and_then(|received| i64::try_from(received).ok());
    received.map_or(0, |received| minor.saturating_sub(received).max(0))
}

fn is_time_to_repeat(case: &Case, last: &TxAttempt, now: Timestamp) -> bool {
    let since = last.at.max(case.tx.state_at);
    let intervals = |at: Timestamp| (at - since).0.div_euclid(BROADCAST_AGAIN.0);
    // However rarely it is looked at: an interval has passed since the look before.
    let before = case.job.run_at - LOOK_EVERY;
    // The other times are the database's, to which this node's clock may be behind.
    let now = now.max(case.job.run_at);
    intervals(now) < 1 || intervals(now) > intervals(before)
}

/// The result of a receipt. Only intents that the controller reports as executed were executed.
fn mined(tx: &ChainTx, intents: &[Intent], attempt: &TxAttempt, receipt: &Receipt) -> Mined {
    let says =
        |event| receipt.logs.iter().any(|log| log.contract == tx.controller && log.event == event);
    let done = |intent: &&Intent| attempt.cancels || intent.plan.evidence().is_none_or(says);
    let failed = intents.iter().filter(|intent| !done(intent)).map(|intent| intent.id).collect();
    Mined {
        place: BlockRef { number: receipt.block_number, block: receipt.block },
        attempt: attempt.number,
        succeeded: receipt.succeeded,
        failed: if receipt.succeeded { failed } else { Vec::new() },
    }
}

/// Why intents failed individually. Controller events that match none of them are ignored.
fn refusals(tx: &ChainTx, intents: &[Intent], receipt: &Receipt) -> Vec<(IntentId, String)> {
    let known = |word| intents.iter().find(|intent| intent_word(tx.tenant, intent.id) == word);
    let named = |(word, why): &(Word, String)| Some((known(*word)?.id, why.clone()));
    receipt.refusals.iter().filter_map(named).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fee_is_what_left_the_escrow_before_what_arrived() {
        let cases: [(u64, &[i64], [i64; 2], usize); 6] = [
            (100, &[100], [0, 0], 0),
            (100, &[1, 99], [1, 0], 0),
            // Two releases from one escrow, each with its fee.
            (100, &[1, 99, 2, 98], [1, 2], 0),
            (100, &[100, 3, 97], [0, 3], 0),
            // Not what was released, or not all of it: no fee is reported.
            (100, &[60], [0, 0], 0),
            (100, &[150, 1], [0, 0], 0),
        ];
        for (amount, moved, fees, left) in cases {
            let mut moved: VecDeque<i64> = moved.iter().copied().collect();
            assert_eq!([fee_of(amount, &mut moved), fee_of(amount, &mut moved)], fees, "{moved:?}");
            assert_eq!(moved.len(), left);
        }
        assert_eq!(fee_of(u64::MAX, &mut VecDeque::from([1])), 0);
        for (received, missing) in [(Some(60), 0), (Some(59), 1), (Some(61), 0), (None, 0)] {
            assert_eq!(missing_of(60, received), missing, "{received:?}");
        }
    }
}
