//! Assigns intents to transactions: simulates them together, then has the engine assign the nonce.
//! Nothing is signed here.

use std::collections::BTreeMap;
use std::sync::PoisonError;

use domain::chain::{
    Address, Call, ChainFault, ChainNumber, Fees, IntentKind, KeyRole, Movement, Plan, SignFault,
    Simulated, TxHash, vault,
};
use domain::chain_tx::{self, Intent, IntentState, PAUSE_TIMEOUT, Taking, capped};
use domain::currency::StableCoin;
use domain::deposit::arrive::DROPPED_AFTER_BLOCKS;
use domain::deposit::{Deposit, DepositState, Halt, TokenState};
use domain::ids::{ChainTxId, DepositId, ExchangeId, IntentId, TenantId};
use domain::job::Job;
use domain::time::{Span, Timestamp};
use domain::wallet_effects::{Alert, AlertKind};
use domain::wallet_event::FailureReason;
use futures_util::future::join_all;

use super::Workers;
use super::standstill::{UNLISTED_OPERATOR, WAITING};
use super::unsent::{Key, UNSENT_FOR};
use crate::alerts;
use crate::batcher::fresh_id;
use crate::command::Action;
use crate::command::chain::{ChainAction, IntentKey, Subject};
use crate::command::deposits::DepositRef;
use crate::command::exchange::OrderKey;
use crate::context::{ChainContext, ChainContexts};
use crate::measure;

/// Retry delay if a node does not answer.
const SOON: Span = Span::secs(2);
/// Retry delay while the controller is being deployed.
const CONTROLLER_SOON: Span = Span::millis(500);
/// Retry delay of a token that is halted.
const PAUSED: Span = Span::secs(30);
/// A transaction's gas limit: its simulation plus half of it and this margin.
const GAS_MARGIN: u64 = 100_000;
/// Fees this many times the usual ones raise an alert; the usual ones are a moving average in which
/// the latest has the weight below.
const UNUSUAL: u128 = 10;
const FEE_WEIGHT: u128 = 16;
/// A transaction count ahead of our books is trusted after this time if no second node is
/// configured.
const CLAIM_BELIEVED: Span = Span::secs(60);
/// The claim expires after this time.
const CLAIM_FORGOTTEN: Span = Span::hours(1);
/// A signer that cannot pay for this many transactions like the current one is low on gas.
const LOW_GAS_TRANSACTIONS: u128 = 20;

/// An intent to be sent, with its job's fence.
type Held = (Intent, i64);

/// Tokens that are halted.
type Halted = BTreeMap<(ChainNumber, StableCoin), Halt>;

/// What an intent waits for, or why it fails.
enum Verdict {
    Needless,
    PutOff { after: Span, halt: Option<Halt> },
    Fails { why: String, reason: FailureReason, at_once: bool },
}

/// A tenant's channel to the chain: one of its operators' lanes, or that of another key.
#[derive(Clone)]
pub(super) struct Lane {
    pub(super) tenant: TenantId,
    pub(super) chain: ChainNumber,
    pub(super) role: KeyRole,
    pub(super) signer: Address,
    pub(super) controller: Address,
    /// The implementation that the controller's vaults clone.
    implementation: Address,
}

impl Lane {
    const fn key(&self) -> Key {
        let Lane { tenant, chain, role, signer, .. } = *self;
        Key { tenant, chain, role, signer }
    }

    /// Payer and payee: if either is on the token's blacklist, nothing moves.
    fn parties(&self, plan: &Plan) -> Vec<Address> {
        let payer = |it: &Movement| {
            vault::address(&self.controller, &self.implementation, &it.recipient, &it.reference)
        };
        match plan {
            Plan::Release(movement) | Plan::Debit(movement) => {
                vec![payer(movement), movement.recipient]
            }
            Plan::ProposeRefund { movement, to } => vec![payer(movement), *to],
            _ => Vec::new(),
        }
    }
}

/// How operators' actions of a tenant are distributed over their lanes.
struct Spread {
    operators: Result<Vec<Address>, SignFault>,
    vaults: Option<(Address, Address)>,
}

impl Spread {
    fn of(wallets: &ChainContext, tenant: TenantId) -> Spread {
        let vaults =
            wallets.contracts.controller(tenant).ok().map(|it| (it.address, it.implementation));
        Spread { operators: wallets.signer.operators(tenant), vaults }
    }

    /// The lane of an intent; the first one if no operator signs it or it cannot be determined.
    fn lane(&self, intent: &Intent) -> usize {
        let (Ok(operators), Some((controller, implementation)), KeyRole::Operator) =
            (&self.operators, &self.vaults, intent.kind().role())
        else {
            return 0;
        };
        let vault = |it: &Movement| {
            vault::address(controller, implementation, &it.recipient, &it.reference)
        };
        chain_tx::lane_of(intent, operators.len(), vault)
    }

    /// The signer of an intent.
    fn signer(&self, intent: &Intent) -> Result<Address, SignFault> {
        let lane = self.lane(intent);
        let operators = self.operators.as_ref().map_err(SignFault::clone)?;
        operators.get(lane).copied().ok_or(SignFault::NoKey(KeyRole::Operator))
    }
}

/// The lane of intents that are sent together; `None` if there are none.
fn lane(
    wallets: &ChainContext,
    lanes: &Spread,
    tenant: TenantId,
    held: &[Held],
) -> Result<Option<Lane>, SignFault> {
    let Some((first, _)) = held.first() else { return Ok(None) };
    let role = first.kind().role();
    let signer = match role {
        KeyRole::Operator => lanes.signer(first)?,
        role => wallets.signer.address(tenant, role)?,
    };
    let contracts = wallets.contracts.controller(tenant)?;
    let (controller, implementation) = (contracts.address, contracts.implementation);
    let chain = wallets.config.number;
    Ok(Some(Lane { tenant, chain, role, signer, controller, implementation }))
}

impl Workers {
    /// Processes leased `send_intent` jobs.
    pub(super) async fn send_intents(&self, wallets: &ChainContexts, jobs: Vec<Job>) {
        self.end_unsent().await;
        let mut by_tenant: BTreeMap<TenantId, Vec<(IntentId, i64)>> = BTreeMap::new();
        for job in jobs {
            by_tenant.entry(job.tenant).or_default().push((IntentId(job.subject), job.fence));
        }
        let halted: Halted = match self.store.token_states().await {
            Ok(states) => {
                let halt = |it: &TokenState| Some(((it.chain, it.coin), it.halt()?));
                states.iter().filter_map(halt).collect()
            }
            Err(error) => return tracing::warn!(%error, "token state read failed, will retry"),
        };
        join_all(
            by_tenant
                .into_iter()
                .map(|(tenant, jobs)| self.send_for(wallets, tenant, jobs, &halted)),
        )
        .await;
    }

    async fn send_for(
        &self,
        wallets: &ChainContexts,
        tenant: TenantId,
        jobs: Vec<(IntentId, i64)>,
        halted: &Halted,
    ) {
        let ids: Vec<IntentId> = jobs.iter().map(|(id, _)| *id).collect();
        let intents = match self.store.intents(tenant, &ids).await {
            Ok(intents) => intents,
            Err(error) => return tracing::warn!(%error, "intent read failed, will retry"),
        };
        let fences: BTreeMap<IntentId, i64> = jobs.into_iter().collect();
        let mut by_chain: BTreeMap<ChainNumber, Vec<Held>> = BTreeMap::new();
        for intent in intents.into_iter().filter(|intent| intent.state == IntentState::Waiting) {
            let Some(fence) = fences.get(&intent.id).copied() else { continue };
            by_chain.entry(intent.chain).or_default().push((intent, fence));
        }
        join_all(by_chain.into_iter().filter_map(|(chain, held)| {
            let world = self.chain_of(wallets, chain)?;
            Some(self.send_on(world, tenant, held, halted))
        }))
        .await;
    }

    /// Sends a tenant's intents of one chain.
    async fn send_on(
        &self,
        wallets: &ChainContext,
        tenant: TenantId,
        waiting: Vec<Held>,
        halted: &Halted,
    ) {
        let lanes = Spread::of(wallets, tenant);
        let mut batches: BTreeMap<(IntentKind, usize), Vec<Held>> = BTreeMap::new();
        let mut alone: Vec<Vec<Held>> = Vec::new();
        for (intent, fence) in waiting {
            let halt = intent.coin.and_then(|coin| halted.get(&(intent.chain, coin)).copied());
            if halt.is_some() && !intent.is_never_given_up() {
                self.put_off_halted(wallets, &(intent, fence), halt).await;
            } else if let Some(verdict) = self.deposit_waits(&intent).await {
                self.tell_verdict(&(intent, fence), verdict).await;
            } else if intent.kind().is_batched() && intent.tries == 0 {
                batches
                    .entry((intent.kind(), lanes.lane(&intent)))
                    .or_default()
                    .push((intent, fence));
            } else {
                // An intent that failed once is sent alone, so that it does not fail others.
                alone.push(vec![(intent, fence)]);
            }
        }
        let most = wallets.config.batch_max.max(1);
        let together = batches.values().flat_map(|held| held.chunks(most).map(<[Held]>::to_vec));
        join_all(
            together.chain(alone).map(|held| self.send_together(wallets, &lanes, tenant, held)),
        )
        .await;
    }

    async fn send_together(
        &self,
        wallets: &ChainContext,
        lanes: &Spread,
        tenant: TenantId,
        held: Vec<Held>,
    ) {
        let lane = match lane(wallets, lanes, tenant, &held) {
            Ok(Some(lane)) => lane,
            Ok(None) => return,
            Err(fault) => return self.without_lane(wallets, tenant, &held, &fault).await,
        };
        if let Some((first, _)) = held.first() {
            let name = self.no_lane_alert(lane.chain, first, None);
            let is_over = |it: &Alert| it.kind == name.kind && it.what.starts_with(&name.what);
            self.ends_where(tenant, &name, is_over).await;
        }
        let key = lane.key();
        let ids = || held.iter().map(|(intent, _)| intent.id);
        let Err(fault) = self.simulate_and_take(wallets, &lane, &held).await else {
            let now = self.clock().now();
            let is_late = held.iter().any(|(intent, _)| now - intent.state_at >= UNSENT_FOR);
            if self.unsent.answered(key, ids(), is_late, now) {
                alerts::end(&self.store, tenant, &self.unsent_alert(key)).await;
            }
            return;
        };
        self.sending_failed(&lane, &held, &fault).await;
    }

    /// Puts off intents for a fault, with an alert if it lasts.
    async fn sending_failed(&self, lane: &Lane, held: &[Held], fault: &ChainFault) {
        let (tenant, key) = (lane.tenant, lane.key());
        let ids = held.iter().map(|(intent, _)| intent.id);
        tracing::warn!(%fault, %tenant, "intent submission failed, will retry");
        if let ChainFault::Disagreement(_) | ChainFault::Reverted { .. } = fault {
            let what = self.said_of(lane.chain, fault.to_string());
            let alert = Alert { kind: AlertKind::ChainMismatch, subject: tenant.0, what };
            self.raise(tenant, alert).await;
        } else if self.unsent.failed(key, ids, self.clock().now()) {
            self.raise(tenant, self.unsent_alert(key)).await;
        }
        self.tell_all(held, || Verdict::PutOff { after: SOON, halt: None }).await;
    }

    /// The configuration lacks the key or the controller that these intents need. Whether the chain has
    /// executed them cannot be asked, and the next start may complete it: they wait. What is never given
    /// up has an alert of its own.
    async fn without_lane(
        &self,
        wallets: &ChainContext,
        tenant: TenantId,
        held: &[Held],
        fault: &SignFault,
    ) {
        use IntentKind::{Deploy, SetLegalHold, SponsoredTransfer};
        let Some((first, _)) = held.first() else { return };
        if matches!(first.kind(), SponsoredTransfer | SetLegalHold | Deploy) {
            let (why, reason) = (fault.to_string(), FailureReason::OnChainRevert);
            let fails = || Verdict::Fails { why: why.clone(), reason, at_once: true };
            return self.tell_all(held, fails).await;
        }
        let alert = self.no_lane_alert(wallets.config.number, first, Some(fault));
        self.raise_until_over(tenant, alert).await;
        self.tell_all(held, || Verdict::PutOff { after: PAUSED, halt: None }).await;
    }

    /// The alert about a missing key or controller; without the fault, how it begins.
    fn no_lane_alert(
        &self,
        chain: ChainNumber,
        intent: &Intent,
        fault: Option<&SignFault>,
    ) -> Alert {
        let role = intent.kind().role().name();
        let why = fault.map(ToString::to_string).unwrap_or_default();
        let what = format!(
            "the {role} key's actions wait until the tenant's key and controller are configured: {why}"
        );
        let what = self.said_of(chain, what);
        Alert { kind: AlertKind::Transaction, subject: intent.tenant.0, what }
    }

    /// Ends the alerts about what no longer waits for nodes.
    pub(super) async fn end_unsent(&self) {
        for key in self.unsent.recovered_keys(self.clock().now()) {
            alerts::end(&self.store, key.tenant, &self.unsent_alert(key)).await;
        }
    }

    /// The alert that the nodes keep a key's actions waiting.
    pub(super) fn unsent_alert(&self, Key { tenant, chain, role, signer }: Key) -> Alert {
        let (minutes, role) = (UNSENT_FOR.0 / Span::mins(1).0, role.name());
        let what = format!(
            "{WAITING}{role} key {signer} have waited for more than {minutes} minutes: the nodes do not answer what sending or confirming them needs"
        );
        let what = self.said_of(chain, what);
        Alert { kind: AlertKind::Transaction, subject: tenant.0, what }
    }

    async fn simulate_and_take(
        &self,
        wallets: &ChainContext,
        lane: &Lane,
        held: &[Held],
    ) -> Result<(), ChainFault> {
        let intents: Vec<Intent> = held.iter().map(|(intent, _)| intent.clone()).collect();
        let Some(call) = chain_tx::call(&intents) else { return Ok(()) };
        let deploys = matches!(call, Call::One(Plan::Deploy));
        if wallets.chain.is_deployed(lane.controller).await? == deploys {
            return self.around_the_controller(lane, held, deploys).await;
        }
        let lane = &self.on_duty(wallets, lane).await?;
        match wallets.chain.simulate(lane.tenant, lane.signer, lane.controller, &call).await? {
            // Its gas limit is in the budget.
            Simulated::Works { gas, .. } if call.gas_limit().is_some_and(|limit| gas > limit) => {
                for one in held {
                    self.tell_why(wallets, lane, one, "it needs more gas than was reserved")
                        .await?;
                }
                Ok(())
            }
            Simulated::Works { gas, each } => {
                self.controller_works(wallets, lane, &call).await;
                let gas_limit = call
                    .gas_limit()
                    .unwrap_or_else(|| gas.saturating_add(gas / 2).saturating_add(GAS_MARGIN));
                let works = |at: usize| each.get(at).copied().unwrap_or(true);
                let mut working = Vec::with_capacity(held.len());
                for (at, one) in held.iter().enumerate() {
                    if let Some(verdict) = self.refund_is_listed(wallets, &one.0).await? {
                        self.tell_verdict(one, verdict).await;
                    } else if works(at) || one.0.unchecked {
                        working.push(one);
                    } else {
                        self.tell_why(wallets, lane, one, "the controller rejects it").await?;
                    }
                }
                let taken = self.not_left_before(wallets, lane, working).await?;
                self.take(wallets, lane, gas_limit, taken).await
            }
            // They fail together: each is diagnosed on its own.
            Simulated::Reverts(why) => {
                for one in held {
                    self.tell_why(wallets, lane, one, &why).await?;
                }
                Ok(())
            }
        }
    }

    /// Those whose amount the chain has not moved before. While that cannot be known, releases and refunds
    /// are put off.
    async fn not_left_before(
        &self,
        wallets: &ChainContext,
        lane: &Lane,
        working: Vec<&Held>,
    ) -> Result<Vec<(IntentKey, i64)>, ChainFault> {
        let concerns_any = working.iter().any(|(intent, _)| intent.plan.pays_from_escrow());
        let is_caught_up = !concerns_any || self.is_caught_up(wallets).await?;
        let suspected =
            join_all(working.iter().map(|(intent, _)| self.may_have_left_before(intent))).await;
        let mut taken = Vec::with_capacity(working.len());
        // One after the other: what one of them is found to be is not the next one's of the same escrow.
        for (one, suspected) in working.into_iter().zip(suspected) {
            let (intent, fence) = one;
            if !is_caught_up && intent.plan.pays_from_escrow() {
                self.tell_verdict(one, Verdict::PutOff { after: SOON, halt: None }).await;
                continue;
            }
            let has_left = match (suspected, wallets.contracts.controller(lane.tenant)) {
                (Ok(true), Ok(of)) => self.is_executed_before(wallets, &of, (intent, *fence)).await,
                (Ok(true), Err(fault)) => Err(ChainFault::Unreachable(fault.to_string())),
                (suspected, _) => suspected,
            };
            match has_left {
                Ok(true) => {}
                Ok(false) => taken.push((IntentKey::of(intent), *fence)),
                Err(fault) => {
                    self.sending_failed(lane, std::slice::from_ref(one), &fault).await;
                }
            }
        }
        Ok(taken)
    }

    /// Handles a lane whose operator the controller does not know: until it does, the first
    /// operator stands in.
    async fn on_duty(&self, wallets: &ChainContext, lane: &Lane) -> Result<Lane, ChainFault> {
        let first = match lane.role {
            KeyRole::Operator => {
                wallets.signer.address(lane.tenant, lane.role).unwrap_or(lane.signer)
            }
            _ => lane.signer,
        };
        if lane.signer == first || wallets.chain.is_operator(lane.controller, lane.signer).await? {
            return Ok(lane.clone());
        }
        // A sandbox's admin grants the role shortly.
        if !wallets.sandbox {
            let (signer, controller) = (lane.signer, lane.controller);
            let what = format!(
                "{signer}{UNLISTED_OPERATOR}, but the controller {controller} does not list it"
            );
            let what = self.said_of(lane.chain, what);
            self.raise(
                lane.tenant,
                Alert { kind: AlertKind::Transaction, subject: lane.tenant.0, what },
            )
            .await;
        }
        Ok(Lane { signer: first, ..lane.clone() })
    }

    /// Whether the refund address is now on the token contract's blacklist: some contracts pay such
    /// addresses all the same.
    async fn refund_is_listed(
        &self,
        wallets: &ChainContext,
        intent: &Intent,
    ) -> Result<Option<Verdict>, ChainFault> {
        if intent.kind() != IntentKind::ExecuteRefund {
            return Ok(None);
        }
        let deposit = match self.store.deposit(intent.tenant, DepositId(intent.subject)).await {
            Ok(deposit) => deposit.filter(|it| it.state == DepositState::Refunding),
            Err(error) => {
                return Err(ChainFault::Unreachable(format!(
                    "the deposit cannot be read: {error}"
                )));
            }
        };
        let Some((deposit, to)) =
            deposit.and_then(|it| it.refund.as_ref().map(|refund| refund.to).map(|to| (it, to)))
        else {
            return Ok(None);
        };
        let Some(token) = wallets.config.token(deposit.coin) else { return Ok(None) };
        let coin = deposit.coin.currency().code();
        let listed = wallets.lists(token, to).await?;
        let why = format!("its address is on the blacklist of {coin}'s contract");
        Ok(listed.then_some(Verdict::Fails {
            why,
            reason: FailureReason::AddressBlacklisted,
            at_once: true,
        }))
    }

    /// Nothing can be called before the controller is deployed, and it is deployed only once.
    async fn around_the_controller(
        &self,
        lane: &Lane,
        held: &[Held],
        deploys: bool,
    ) -> Result<(), ChainFault> {
        if deploys {
            tracing::info!(tenant = %lane.tenant, "controller is already deployed");
            self.tell_all(held, || Verdict::Needless).await;
            return Ok(());
        }
        self.report(lane.tenant, lane.tenant.0, Action::Chain(ChainAction::Deploy(lane.chain)))
            .await;
        self.tell_all(held, || Verdict::PutOff { after: CONTROLLER_SOON, halt: None }).await;
        Ok(())
    }

    /// Reports that an intent would fail and why, or that its purpose was already achieved.
    async fn tell_why(
        &self,
        wallets: &ChainContext,
        lane: &Lane,
        one: &Held,
        why: &str,
    ) -> Result<(), ChainFault> {
        let (intent, fence) = one;
        let of = wallets.contracts.controller(lane.tenant);
        if let Ok(of) = of
            && self.is_executed_before(wallets, &of, (intent, *fence)).await?
        {
            return Ok(());
        }
        if let Some((lost, tx)) = self.released_before(intent).await? {
            let action = ChainAction::ReleasedBefore {
                intent: IntentKey::of(intent),
                fence: *fence,
                lost,
                tx,
            };
            self.report(intent.tenant, intent.id.0, Action::Chain(action)).await;
            return Ok(());
        }
        let verdict = self.diagnose(wallets, lane, intent, why).await?;
        self.tell_verdict(one, verdict).await;
        Ok(())
    }

    /// What a release or refund waits for after a reorganization. If its deposit is out of the chain,
    /// it waits until the deposit is back, and is given up with it. If an earlier release of the
    /// deposit was undone, it waits until that one's transaction is final: it may take effect again.
    async fn deposit_waits(&self, intent: &Intent) -> Option<Verdict> {
        if !intent.plan.pays_from_escrow() {
            return None;
        }
        let is_release = intent.kind() == IntentKind::Release;
        let read = async {
            let id = DepositId(intent.subject);
            let deposit = self.store.deposit(intent.tenant, id).await?;
            // Not for one that has never been released.
            let is_concerned = |it: &Deposit| !is_release || it.completed_at.is_some();
            let Some(deposit) = deposit.filter(is_concerned) else {
                return Ok::<_, store::StoreError>(None);
            };
            let is_undone = deposit.state == DepositState::Completed || !is_release;
            if !is_undone || deposit.place.is_some() {
                let is_undecided = is_release && self.earlier_release_is_open(intent).await?;
                return Ok(is_undecided.then_some(Verdict::PutOff { after: PAUSED, halt: None }));
            }
            let lost = deposit.lost_at.unwrap_or(u64::MAX).saturating_add(DROPPED_AFTER_BLOCKS);
            let tip = self.store.chain_headers(intent.chain, 1).await?;
            if tip.first().is_none_or(|tip| tip.number < lost) {
                return Ok(Some(Verdict::PutOff { after: PAUSED, halt: None }));
            }
            let why = "its deposit was reorganized away and did not return".to_owned();
            let reason = FailureReason::TransactionDropped;
            Ok(Some(Verdict::Fails { why, reason, at_once: true }))
        };
        read.await.unwrap_or_else(|error| {
            tracing::warn!(%error, intent = %intent.id, "deposit read failed, its intent will be retried");
            Some(Verdict::PutOff { after: SOON, halt: None })
        })
    }

    /// Whether a transaction with an earlier release of the deposit, alone or as dust of another
    /// one, was final once and is not at present.
    async fn earlier_release_is_open(&self, intent: &Intent) -> Result<bool, store::StoreError> {
        let moves_it = |it: &Intent| {
            let is_in =
                it.subject == intent.subject || it.riders.contains(&DepositId(intent.subject));
            it.kind() == IntentKind::Release && it.id != intent.id && is_in
        };
        for tx in self.store.open_chain_txs(usize::MAX).await? {
            if tx.tenant == intent.tenant && tx.settled.is_some() {
                let intents = self.store.intents(tx.tenant, &tx.intents).await?;
                if intents.iter().any(moves_it) {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// The deposit whose release has already moved this one's amount: of the same escrow and
    /// amount, reorganized away, and released from later receipts.
    async fn released_before(
        &self,
        intent: &Intent,
    ) -> Result<Option<(DepositRef, TxHash)>, ChainFault> {
        if intent.kind() != IntentKind::Release {
            return Ok(None);
        }
        let read = async {
            let Some(deposit) =
                self.store.deposit(intent.tenant, DepositId(intent.subject)).await?
            else {
                return Ok(None);
            };
            let Some(request) = deposit.request else { return Ok(None) };
            let all = self.store.deposits_of_request(deposit.tenant, request).await?;
            let logs = self.store.vault_logs(deposit.chain, deposit.to).await?;
            let is_free =
                |tx| !all.iter().any(|it| it.place.is_some() && it.release_tx == Some(tx));
            // A fee is a transfer of its own.
            let left = |tx, minor: i64| {
                logs.iter().any(|log| (log.tx, log.coin, log.minor) == (tx, deposit.coin, -minor))
            };
            let is_it = |it: &&Deposit| {
                let same = (it.to, it.coin, it.minor) == (deposit.to, deposit.coin, deposit.minor);
                same && it.id != deposit.id && it.place.is_none()
            };
            let released = |it: &Deposit| {
                let arrived = it.minor - it.known_fee();
                let tx = it.release_tx.filter(|tx| is_free(*tx) && left(*tx, arrived))?;
                Some((DepositRef::of(it, None), tx))
            };
            Ok::<_, store::StoreError>(all.iter().filter(is_it).find_map(released))
        };
        read.await
            .map_err(|error| ChainFault::Unreachable(format!("deposits cannot be read: {error}")))
    }

    /// Why an intent would fail, as far as the chain reveals it.
    async fn diagnose(
        &self,
        wallets: &ChainContext,
        lane: &Lane,
        intent: &Intent,
        why: &str,
    ) -> Result<Verdict, ChainFault> {
        let fails = |reason, at_once| Verdict::Fails { why: why.to_owned(), reason, at_once };
        if let Some(standstill) = self.standstill(wallets, lane, &intent.plan, why).await? {
            self.raise_until_over(lane.tenant, self.standstill_alert(lane, standstill)).await;
            return Ok(Verdict::PutOff { after: PAUSED, halt: None });
        }
        if let Some(verdict) = self.refund_is_listed(wallets, intent).await? {
            return Ok(verdict);
        }
        let Some(token) = intent.coin.and_then(|coin| wallets.config.token(coin)) else {
            return Ok(fails(FailureReason::OnChainRevert, false));
        };
        // Its sender waits on the page, where other ways to pay are shown.
        if intent.kind() == IntentKind::SponsoredTransfer {
            return Ok(fails(FailureReason::OnChainRevert, true));
        }
        let is_paused = match wallets.chain.is_paused(token).await {
            // A contract without an answer to that gives no reason.
            Err(ChainFault::Reverted { .. }) => false,
            answer => answer?,
        };
        if is_paused {
            return Ok(Verdict::PutOff { after: PAUSED, halt: Some(Halt::Paused) });
        }
        let parties = lane.parties(&intent.plan).into_iter().chain(self.returned_to(intent).await?);
        for party in parties {
            if wallets.lists(token, party).await? {
                return Ok(fails(FailureReason::AddressBlacklisted, true));
            }
        }
        Ok(fails(FailureReason::OnChainRevert, false))
    }

    /// The wallet that a debit's tokens return to, if the token's contract asks whether the payee is
    /// on its blacklist: USDT's asks about the payer alone.
    async fn returned_to(&self, intent: &Intent) -> Result<Option<Address>, ChainFault> {
        let (IntentKind::ReturnDebit, Some(StableCoin::Usdc), Some(wallet)) =
            (intent.kind(), intent.coin, intent.wallet)
        else {
            return Ok(None);
        };
        let wallet = self.store.wallet(intent.tenant, wallet).await.map_err(|error| {
            ChainFault::Unreachable(format!("the wallet cannot be read: {error}"))
        })?;
        Ok(wallet.map(|wallet| wallet.address))
    }

    async fn take(
        &self,
        wallets: &ChainContext,
        lane: &Lane,
        gas_limit: u64,
        intents: Vec<(IntentKey, i64)>,
    ) -> Result<(), ChainFault> {
        if intents.is_empty() {
            return Ok(());
        }
        let asked = wallets.chain.fees().await?;
        self.compare_fees(wallets, lane.tenant, asked).await;
        let fees = capped(asked, wallets.config.most_fees());
        let bytes = chain_tx::bytes_of(intents.len());
        // It only decides about an alert.
        let data_fee = wallets.chain.data_fee(bytes).await.unwrap_or_else(|fault| {
            tracing::warn!(%fault, "data fee read failed");
            0
        });
        let cost = u128::from(gas_limit).saturating_mul(fees.max_fee).saturating_add(data_fee);
        let needed = cost.saturating_mul(LOW_GAS_TRANSACTIONS);
        let has = wallets.chain.gas_balance(lane.signer).await?;
        measure::gas(&wallets.config.name, lane.role, lane.signer, has);
        let what = format!("the {} key {} is low on gas", lane.role.name(), lane.signer);
        let what = self.said_of(lane.chain, what);
        let low = Alert { kind: AlertKind::LowGas, subject: lane.tenant.0, what };
        if has < needed {
            self.raise_until_over(lane.tenant, low).await;
        } else if has >= needed.saturating_mul(2) {
            // Not with the next smaller transaction.
            self.ends(lane.tenant, &low).await;
        }
        let taking = Box::new(Taking {
            id: ChainTxId(fresh_id(&self.store)),
            tenant: lane.tenant,
            chain: lane.chain,
            role: lane.role,
            signer: lane.signer,
            controller: lane.controller,
            chain_nonce: self.believed_nonce(wallets, lane).await?,
            gas_limit,
            fees,
        });
        let id = taking.id;
        self.report(lane.tenant, id.0, Action::Chain(ChainAction::Take { taking, intents })).await;
        Ok(())
    }

    /// A signer's transaction count on the chain, as far as nodes can be trusted: a count ahead of
    /// our own books would leave a gap that blocks everything after it until it is filled.
    async fn believed_nonce(&self, wallets: &ChainContext, lane: &Lane) -> Result<u64, ChainFault> {
        let unreadable = |error| ChainFault::Unreachable(format!("nonces cannot be read: {error}"));
        let counts = wallets.chain.nonces(lane.signer).await?;
        let next = self.store.next_nonce(lane.tenant, lane.chain, lane.signer).await;
        let next = next.map_err(unreadable)?;
        let lowest = counts.lowest();
        if counts.highest() <= next.unwrap_or(0) {
            return Ok(lowest);
        }
        let claim = || {
            let known = next.unwrap_or(0);
            ChainFault::Unreachable(format!(
                "{lowest} transactions of {} are claimed, {known} are known",
                lane.signer
            ))
        };
        let Some(next) = next else {
            // A key that has signed nothing here may have been used elsewhere before.
            return if counts.is_lone() { Err(claim()) } else { Ok(lowest) };
        };
        let what =
            format!("a node reports more transactions of {} than were signed here", lane.signer);
        let what = self.said_of(lane.chain, what);
        let more = Alert { kind: AlertKind::ChainNode, subject: lane.tenant.0, what };
        self.raise(lane.tenant, more).await;
        if lowest <= next {
            return Ok(lowest);
        }
        // The nodes agree: the key is used elsewhere, or these books are older than the chain.
        if counts.is_agreed() {
            return Ok(lowest);
        }
        // A node that is silent now may contradict it later.
        if counts.is_lone() {
            return Err(claim());
        }
        // No other node is configured: this one must keep claiming it for a while.
        let key = lane.chain.key(&format!("chain.nonce_claim:{:?}", lane.signer));
        let known = self.store.meta(&key).await.map_err(unreadable)?;
        let known =
            known.as_deref().and_then(|text| text.split_once(' ')).and_then(|(count, since)| {
                Some((count.parse::<u64>().ok()?, Timestamp(since.parse().ok()?)))
            });
        let now = self.clock().now();
        match known {
            Some((count, since)) if count == lowest && now - since < CLAIM_FORGOTTEN => {
                if now - since >= CLAIM_BELIEVED {
                    return Ok(lowest);
                }
            }
            _ => self
                .store
                .set_meta(&key, &format!("{lowest} {}", now.0))
                .await
                .map_err(unreadable)?,
        }
        Err(claim())
    }

    /// Alerts an operator if gas costs ten times the usual price; fees are capped regardless.
    async fn compare_fees(&self, wallets: &ChainContext, tenant: TenantId, asked: Fees) {
        let is_high = {
            let mut usual = self.usual_fees.lock().unwrap_or_else(PoisonError::into_inner);
            let usual = usual.entry(wallets.config.number).or_insert(asked.max_fee);
            let known = *usual;
            let most = known.saturating_mul(UNUSUAL);
            let moved =
                known.saturating_mul(FEE_WEIGHT - 1).saturating_add(asked.max_fee.min(most));
            *usual = moved / FEE_WEIGHT;
            asked.max_fee >= most && most > 0
        };
        let what =
            "the gas price is ten times the usual one, or a node reports it wrongly".to_owned();
        let what = self.said_of(wallets.config.number, what);
        let high = Alert { kind: AlertKind::Transaction, subject: tenant.0, what };
        if is_high {
            self.raise_until_over(tenant, high).await;
        } else {
            self.ends(tenant, &high).await;
        }
    }

    /// An intent whose token is halted waits, and may end after the longest wait, unless the controller
    /// has executed it before.
    async fn put_off_halted(&self, wallets: &ChainContext, one: &Held, halt: Option<Halt>) {
        let (intent, fence) = one;
        let is_executed = async {
            if self.clock().now() - intent.created_at < PAUSE_TIMEOUT {
                return Ok(false);
            }
            let of = wallets.contracts.controller(intent.tenant);
            let of = of.map_err(|fault| ChainFault::Unreachable(fault.to_string()))?;
            Ok::<_, ChainFault>(
                wallets.chain.is_deployed(of.address).await?
                    && self.is_executed_before(wallets, &of, (intent, *fence)).await?,
            )
        };
        match is_executed.await {
            Ok(true) => {}
            Ok(false) => {
                self.tell_verdict(one, Verdict::PutOff { after: PAUSED, halt }).await;
            }
            Err(fault) => {
                tracing::warn!(%fault, intent = %intent.id, "intent state read failed, will retry");
                self.tell_verdict(one, Verdict::PutOff { after: SOON, halt: None }).await;
            }
        }
    }

    async fn tell_all(&self, held: &[Held], verdict: impl Fn() -> Verdict) {
        join_all(held.iter().map(|one| self.tell_verdict(one, verdict()))).await;
    }

    async fn tell_verdict(&self, (intent, fence): &Held, verdict: Verdict) {
        let (mut key, fence) = (IntentKey::of(intent), *fence);
        if intent.kind() == IntentKind::ReturnDebit && matches!(verdict, Verdict::Fails { .. }) {
            // Whether it can ever succeed depends on the debit.
            match self.store.exchange(intent.tenant, ExchangeId(intent.subject)).await {
                Ok(Some(order)) => key.subject = Subject::Order(OrderKey::of(&order)),
                Ok(None) => {}
                Err(error) => {
                    tracing::warn!(%error, intent = %intent.id, "order read failed, its return will be retried");
                }
            }
        }
        let action = match verdict {
            Verdict::Needless => ChainAction::Needless { intent: key, fence },
            Verdict::PutOff { after, halt } => {
                ChainAction::PutOff { intent: key, fence, until: self.clock().now() + after, halt }
            }
            Verdict::Fails { why, reason, at_once } => {
                ChainAction::Fails { intent: key, fence, why, reason, at_once }
            }
        };
        self.report(intent.tenant, intent.id.0, Action::Chain(action)).await;
    }

    /// Raises an alert outside of any commit.
    pub(super) async fn raise(&self, tenant: TenantId, alert: Alert) {
        alerts::raise(&self.store, tenant, &alert).await;
    }
}
