//! Screens deposits: the sender's name, the payer's address and its proximity to listed ones, the
//! tokens' blacklists, the wallet's recent receipts. `domain::risk` decides on the findings; this
//! module only collects them.

use std::collections::{BTreeMap, BTreeSet};

use domain::chain::ChainFault;
use domain::chain_tx;
use domain::deposit::dust::RIDERS_MAX;
use domain::deposit::{Deposit, DepositState};
use domain::ids::{DepositId, TenantId};
use domain::job::Job;
use domain::payment_request::PaymentRequest;
use domain::ports::AnalysisFault;
use domain::risk::proximity::{
    Nearness, Proximity, ProximityAnswer, ProximityQuestion, ProximityTerms,
};
use domain::risk::{self, Assessment, Findings, RiskResult, Subject, sandbox};
use domain::screening::{Screened, Verdict};
use domain::time::Span;
use domain::wallet::Wallet;
use domain::wallet_policy::WalletPolicy;
use futures_util::future::join_all;
use store::StoreError;

use super::Workers;
use crate::command::Action;
use crate::command::deposits::{DepositAction, DepositRef};
use crate::context::{ChainContext, ChainContexts};

/// A deposit with the stored data for its assessment.
struct Case {
    deposit: Deposit,
    wallet: Wallet,
    request: Option<PaymentRequest>,
}

/// Delay before a deposit that could not be screened is retried; doubled with each retry up to the
/// maximum.
const RETRY: Span = Span::secs(2);
const RETRY_MAX: Span = Span::mins(1);
/// The number of doublings that exceed the maximum.
const DOUBLINGS_MAX: i32 = 5;

/// Why a deposit is not screened now.
#[derive(Debug, thiserror::Error)]
enum NotNow {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Chain(#[from] ChainFault),
    #[error(transparent)]
    Analysis(#[from] AnalysisFault),
    #[error("the last screening was on later lists")]
    OlderLists,
}

impl Workers {
    /// Processes leased `screen` jobs.
    pub(super) async fn screen(&self, wallets: &ChainContexts, jobs: Vec<Job>) {
        let policies = match self.wallet_policies(&jobs).await {
            Ok(policies) => policies,
            Err(error) => {
                return tracing::warn!(%error, "tenant read failed, deposit screening will be retried");
            }
        };
        join_all(
            jobs.iter()
                .filter_map(|job| Some(self.screen_one(wallets, job, policies.get(&job.tenant)?))),
        )
        .await;
    }

    /// The policies of the tenants of jobs that were leased together.
    async fn wallet_policies(
        &self,
        jobs: &[Job],
    ) -> Result<BTreeMap<TenantId, WalletPolicy>, StoreError> {
        let mut policies = BTreeMap::new();
        for tenant in jobs.iter().map(|job| job.tenant).collect::<BTreeSet<_>>() {
            policies.extend(
                self.store.tenant(tenant).await?.map(|owner| (tenant, owner.policy.wallet)),
            );
        }
        Ok(policies)
    }

    async fn screen_one(&self, wallets: &ChainContexts, job: &Job, policy: &WalletPolicy) {
        let case = match self.screen_case(job.tenant, DepositId(job.subject)).await {
            Ok(Some(case)) => case,
            Ok(None) => return,
            Err(error) => {
                return tracing::warn!(%error, deposit = %job.subject, "deposit read failed, will retry");
            }
        };
        let Some(wallets) = self.chain_of(wallets, case.deposit.chain) else { return };
        let action = match self.screened(wallets, &case, job, policy).await {
            Ok(Some(action)) => action,
            Ok(None) => return,
            Err(error) => {
                tracing::warn!(%error, deposit = %job.subject, "deposit screening failed, will retry");
                // A store that does not answer cannot be written either: the lease expires.
                if matches!(error, NotNow::Store(_)) {
                    return;
                }
                let until = self.clock().now() + retry_delay(job.tries);
                let named = DepositRef::of(&case.deposit, policy.accept_late);
                Action::Deposit(named, DepositAction::PutOff { fence: job.fence, until })
            }
        };
        self.report(job.tenant, job.subject, action).await;
    }

    /// The action for a deposit; `None` = not all of its escrow was notified.
    async fn screened(
        &self,
        wallets: &ChainContext,
        case: &Case,
        job: &Job,
        policy: &WalletPolicy,
    ) -> Result<Option<Action>, NotNow> {
        let is_dust = case.deposit.state == DepositState::Dust;
        if case.deposit.owes_a_hold() {
            let named = DepositRef::of(&case.deposit, policy.accept_late);
            return Ok(Some(Action::Deposit(named, DepositAction::KeepHeld { fence: job.fence })));
        }
        if case.deposit.state != DepositState::Screening && !is_dust {
            return self.after_hold(case, job, policy).await;
        }
        let mut named = DepositRef::of(&case.deposit, policy.accept_late);
        // A frozen wallet's deposits wait or are rejected, whatever screening finds.
        if case.wallet.state.is_frozen() && !is_dust {
            return Ok(Some(Action::Deposit(named, DepositAction::WalletChanged)));
        }
        let assessment = Box::new(self.assess(wallets, case, policy).await?);
        let release_min =
            if is_dust { self.release_min(wallets, std::iter::once(0)).await } else { 0 };
        let riders = self.assess_dust_beside(wallets, case, policy, release_min).await?;
        named.riders.extend(riders.iter().map(|(id, _)| *id));
        let action = DepositAction::Screened { fence: job.fence, assessment, riders, release_min };
        Ok(Some(Action::Deposit(named, action)))
    }

    /// Dust that may be released with a deposit, on the current lists. Skipped if all of it
    /// together is not worth a release.
    async fn assess_dust_beside(
        &self,
        wallets: &ChainContext,
        case: &Case,
        policy: &WalletPolicy,
        release_min: i64,
    ) -> Result<Vec<(DepositId, Assessment)>, NotNow> {
        let dust = self.store.dust_beside(&case.deposit, RIDERS_MAX).await?;
        let sum = dust.iter().fold(case.deposit.minor, |sum, it| sum.saturating_add(it.minor));
        let completes =
            case.request.as_ref().is_some_and(|it| it.would_complete(case.deposit.coin, sum));
        if sum < release_min && !completes {
            return Ok(Vec::new());
        }
        let mut assessed = Vec::with_capacity(dust.len());
        for deposit in dust {
            let id = deposit.id;
            let beside =
                Case { deposit, wallet: case.wallet.clone(), request: case.request.clone() };
            assessed.push((id, self.assess(wallets, &beside, policy).await?));
        }
        Ok(assessed)
    }

    /// The minimum amount worth a release, in minor units. Chain fees are read only if they can
    /// matter for one of these amounts; if the node does not answer, the minimum cost of a release
    /// applies.
    pub(super) async fn release_min(
        &self,
        wallets: &ChainContext,
        mut amounts: impl Iterator<Item = i64>,
    ) -> i64 {
        let terms = wallets.config.release_min;
        if amounts.all(|minor| terms.is_always_worth(minor)) {
            return terms.minor(None);
        }
        let chain = &wallets.chain;
        let read = async {
            let data_fee = chain.data_fee(chain_tx::bytes_of(1)).await?;
            Ok::<_, ChainFault>((chain.fees().await?, data_fee))
        };
        match read.await {
            Ok((fees, data_fee)) => terms.minor(Some((&fees, data_fee))),
            Err(fault) => {
                tracing::warn!(%fault, "fee read failed, using the minimum release cost");
                terms.minor(None)
            }
        }
    }

    /// Deposits that waited for an escrow whose hold is lifted are screened again. The job belongs
    /// to the deposit whose hold was lifted last.
    async fn after_hold(
        &self,
        case: &Case,
        job: &Job,
        policy: &WalletPolicy,
    ) -> Result<Option<Action>, NotNow> {
        if let Some(request) = &case.request
            && !request.is_held(&case.deposit.to)
        {
            let waiting = self.store.deposits_of_request(job.tenant, request.id).await?;
            let in_there =
                waiting.iter().filter(|it| it.to == case.deposit.to && it.waits_for_escrow());
            let told = join_all(in_there.map(|deposit| {
                let named = DepositRef::of(deposit, policy.accept_late);
                self.report(
                    job.tenant,
                    deposit.id.0,
                    Action::Deposit(named, DepositAction::EscrowFree),
                )
            }));
            if !told.await.iter().all(Option::is_some) {
                return Ok(None);
            }
        }
        let named = DepositRef::of(&case.deposit, policy.accept_late);
        Ok(Some(Action::Deposit(named, DepositAction::HoldFollowed { fence: job.fence })))
    }

    async fn screen_case(
        &self,
        tenant: TenantId,
        id: DepositId,
    ) -> Result<Option<Case>, StoreError> {
        let Some(deposit) = self.store.deposit(tenant, id).await? else { return Ok(None) };
        let Some(wallet) = self.store.wallet(tenant, deposit.wallet).await? else {
            return Ok(None);
        };
        let request = match deposit.request {
            Some(request) => self.store.request(tenant, request).await?,
            None => None,
        };
        Ok(Some(Case { deposit, wallet, request }))
    }

    async fn assess(
        &self,
        wallets: &ChainContext,
        case: &Case,
        policy: &WalletPolicy,
    ) -> Result<Assessment, NotNow> {
        let now = self.clock().now();
        let deposit = &case.deposit;
        let mut payer_flagged = false;
        for token in &wallets.config.tokens {
            payer_flagged |= wallets.lists(token.address, deposit.from).await?;
        }
        let name = self.world.screened_sender(&deposit.sender, now);
        let payer = wallets.addresses.screen(&deposit.from, now);
        if let Some(before) = &deposit.assessment
            && self.world.is_behind(&payer, &before.list_version, deposit.id.0)
        {
            return Err(NotNow::OlderLists);
        }
        let is_hit = |screened: &Screened| screened.verdict() == Verdict::Hit;
        let is_certain = payer_flagged || is_hit(&payer) || name.as_ref().is_some_and(is_hit);
        let found = Findings {
            proximity: self.proximity(wallets, deposit, is_certain).await?,
            proximity_terms: wallets
                .analysis
                .as_ref()
                .map_or(ProximityTerms::NONE, |analysis| analysis.terms),
            name,
            payer,
            payer_flagged,
            velocity: self
                .store
                .velocity(deposit.tenant, deposit.wallet, (deposit.id, deposit.request), now)
                .await?,
            concern: deposit.concern,
            blocked_before: deposit
                .assessment
                .as_ref()
                .is_some_and(|it| it.result == RiskResult::Blocked),
        };
        let cents =
            sandbox::cents(case.request.as_ref().map(|request| &request.asked), deposit.minor);
        let subject = Subject {
            minor: deposit.minor,
            sender: &deposit.sender,
            kyc: case.wallet.kyc_level,
            sandbox: sandbox::result(cents).filter(|_| wallets.sandbox),
        };
        Ok(risk::assess(&subject, &found, policy, now))
    }

    /// The payer's distance to a listed address. A provider that does not answer is asked again
    /// with every retry, for a limited time; a deposit that is rejected anyway does not wait for it.
    async fn proximity(
        &self,
        wallets: &ChainContext,
        deposit: &Deposit,
        is_certain: bool,
    ) -> Result<Proximity, AnalysisFault> {
        let Some(analysis) = &wallets.analysis else { return Ok(Proximity::NotAsked) };
        let Some(token) = wallets.config.token(deposit.coin) else {
            return Ok(Proximity::Unanswered(format!(
                "no token is configured for {}",
                deposit.coin.currency().code()
            )));
        };
        let question = ProximityQuestion {
            chain_id: wallets.config.chain_id,
            token,
            payer: deposit.from,
            tx: deposit.tx,
        };
        let answer = analysis.provider.proximity(&question).await;
        count(&answer, analysis.terms);
        match answer {
            Ok(answer) => Ok(Proximity::Answered(answer)),
            Err(fault) => {
                let waits =
                    !is_certain && self.clock().now() < deposit.state_at + analysis.patience;
                if waits { Err(fault) } else { Ok(Proximity::Unanswered(fault.to_string())) }
            }
        }
    }
}

fn retry_delay(tries: i32) -> Span {
    Span(RETRY.0 << tries.clamp(0, DOUBLINGS_MAX)).min(RETRY_MAX)
}

fn count(answer: &Result<ProximityAnswer, AnalysisFault>, terms: ProximityTerms) {
    let outcome = match answer {
        Ok(answer) => match answer.nearness(terms) {
            Nearness::Clean => "clean",
            Nearness::Near(_) => "near",
            Nearness::Listed => "listed",
        },
        Err(AnalysisFault::Silent(_)) => "silent",
        Err(AnalysisFault::Nonsense(_)) => "nonsense",
    };
    metrics::counter!("corridor_chain_analysis_total", "outcome" => outcome).increment(1);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retries_become_rarer_up_to_one_a_minute() {
        let delays =
            [-1, 0, 1, 2, 3, 4, 5, 6, i32::MAX].map(|tries| retry_delay(tries).0 / 1_000_000);
        assert_eq!(delays, [2, 2, 4, 8, 16, 32, 60, 60, 60]);
    }
}
