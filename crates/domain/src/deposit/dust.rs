//! Deposits that are not worth a release. They are recorded and screened, but block no wallet or
//! release and do not count towards refusals. They wait in their vault until they add up to a
//! release, complete the request, or another deposit's release includes them: one movement then
//! moves them all.

use super::case::{Case, Terms};
use super::states::Trigger;
use super::{Deposit, DepositState};
use crate::chain::{Plan, TxHash};
use crate::decision::{Cx, JobChange};
use crate::ids::{DepositId, IntentId};
use crate::payment_request::PaymentRequest;
use crate::risk::{Assessment, Hold, ReasonCode, RiskResult};
use crate::wallet_effects::{Alert, AlertKind, WalletEffects};

/// Maximum number of dust deposits per release: the largest first.
pub const RIDERS_MAX: usize = 32;

impl Case {
    /// It is deep enough, but not worth a release.
    pub(super) fn credit_dust(
        &mut self,
        terms: Terms<'_>,
        confirmations: u64,
        effects: &mut WalletEffects,
        cx: &mut Cx<'_>,
    ) {
        let Some(state) = self.next(Trigger::CountedDust) else { return };
        self.deposit.credited_at = Some(cx.now);
        self.deposit.disputed = false;
        self.deposit.is_dust = true;
        self.enter(state, effects, cx);
        if let Some(request) = &mut self.request {
            effects.merge(request.dust_counted(self.deposit.paid_at, cx.now));
            let event = self.received(terms, confirmations);
            self.tell(event, effects);
        }
    }

    /// Records the assessment of dust. It has no further effect, unless clean dust is now worth a
    /// release.
    pub(super) fn dust_screened(
        &mut self,
        assessment: Assessment,
        terms: Terms<'_>,
        cx: &mut Cx<'_>,
    ) -> WalletEffects {
        let mut effects = WalletEffects {
            jobs: vec![(self.deposit.id.0, JobChange::Done)],
            ..WalletEffects::default()
        };
        self.keep_finding(&assessment, &mut effects);
        let is_stopped = self.wallet.state.is_frozen() || self.escrow_is_held();
        if assessment.result != RiskResult::Approved || is_stopped {
            return effects;
        }
        let sum = self.riders.iter().filter(|it| self.may_ride(it, terms)).map(|it| it.minor);
        let sum = sum.fold(self.deposit.minor, i64::saturating_add);
        let completes =
            self.request.as_ref().is_some_and(|it| it.would_complete(self.deposit.coin, sum));
        if sum < terms.release_min && !completes {
            return effects;
        }
        let concern = self.weigh_in(terms, &mut effects, cx);
        let (trigger, assessment) = match concern {
            None => (Trigger::Gathered, assessment),
            Some(reason) => {
                let review = Assessment { result: RiskResult::ManualReview, reason, ..assessment };
                (Trigger::GatheredForReview, review)
            }
        };
        if let Some(state) = self.next(trigger) {
            self.judged(state, assessment, terms, &mut effects, cx);
        }
        effects
    }

    /// Other dust of its vault was assessed with it.
    pub fn riders_screened(&mut self, assessments: &[(DepositId, Assessment)]) -> WalletEffects {
        let mut effects = WalletEffects::default();
        for (id, assessment) in assessments {
            let at =
                self.riders.iter().position(|it| it.id == *id && it.state == DepositState::Dust);
            if let Some(at) = at {
                self.with_rider(at, |case| case.keep_finding(assessment, &mut effects));
            }
        }
        effects
    }

    /// Raises one compliance alert per request or wallet, however many deposits arrive.
    fn keep_finding(&mut self, assessment: &Assessment, effects: &mut WalletEffects) {
        let deposit = &self.deposit;
        let is_known =
            deposit.assessment.as_ref().is_some_and(|before| before.hold == Some(Hold::Legal));
        if assessment.hold == Some(Hold::Legal) && !is_known {
            let subject = deposit.request.map_or(deposit.wallet.0, |request| request.0);
            let what = "a deposit that is too little to be judged is from, or in the name of, a listed party: it is \
                        recorded, and stays where it is";
            effects.alerts.push(Alert {
                kind: AlertKind::ListedDust,
                subject,
                what: what.to_owned(),
            });
        }
        self.deposit.assessment = Some(assessment.clone());
        self.deposit.version += 1;
    }

    /// From now on its amount counts towards its request. Returns the reason for a mandatory
    /// review, if any.
    fn weigh_in(
        &mut self,
        terms: Terms<'_>,
        effects: &mut WalletEffects,
        cx: &Cx<'_>,
    ) -> Option<ReasonCode> {
        if !std::mem::take(&mut self.deposit.is_dust) {
            return None;
        }
        self.wallet.touch(cx.now);
        let deposit = &self.deposit;
        let paid = (deposit.coin, deposit.minor);
        let (concern, more) =
            self.request.as_mut()?.gathered(paid, deposit.paid_at, terms.accept_late, cx.now);
        effects.merge(more);
        self.deposit.concern = concern;
        concern
    }

    /// Whether a release of the deposit can include this dust.
    fn may_ride(&self, dust: &Deposit, terms: Terms<'_>) -> bool {
        let of = &self.deposit;
        let is_good = dust.assessment.as_ref().is_some_and(|it| it.result == RiskResult::Approved);
        let concern = |it: &PaymentRequest| {
            it.concern_about(dust.coin, dust.paid_at, terms.accept_late).is_some()
        };
        let is_there = dust.state == DepositState::Dust && dust.place.is_some();
        let is_beside = dust.id != of.id && (dust.to, dust.coin) == (of.to, of.coin);
        is_there && is_beside && is_good && !self.request.as_ref().is_some_and(concern)
    }

    /// Adds dust of its vault to its release; returns the added minor units.
    pub(super) fn take_along(
        &mut self,
        release: IntentId,
        terms: Terms<'_>,
        effects: &mut WalletEffects,
        cx: &mut Cx<'_>,
    ) -> u64 {
        self.deposit.riders.clear();
        let mut sum: u64 = 0;
        if self.deposit.spoiled {
            return sum;
        }
        for at in 0..self.riders.len() {
            if self.deposit.riders.len() >= RIDERS_MAX || !self.may_ride(&self.riders[at], terms) {
                continue;
            }
            self.deposit.riders.push(self.riders[at].id);
            sum = sum.saturating_add(self.riders[at].minor.unsigned_abs());
            self.with_rider(at, |case| {
                case.weigh_in(terms, effects, cx);
                if let Some(state) = case.next(Trigger::Gathered) {
                    case.enter(state, effects, cx);
                }
                case.deposit.release = Some(release);
            });
        }
        sum
    }

    /// Dust paid directly to the wallet needs no movement: it is credited with the deposit.
    pub(super) fn complete_dust(
        &mut self,
        terms: Terms<'_>,
        effects: &mut WalletEffects,
        cx: &mut Cx<'_>,
    ) {
        for at in 0..self.riders.len() {
            if !self.may_ride(&self.riders[at], terms) {
                continue;
            }
            self.with_rider(at, |case| {
                case.weigh_in(terms, effects, cx);
                if let Some(state) = case.next(Trigger::Gathered) {
                    case.enter(state, effects, cx);
                    case.deposit.completed_at = Some(cx.now);
                    case.enter(DepositState::Completed, effects, cx);
                }
            });
        }
    }

    /// Whether all dust in its release is still in it and `fits`.
    pub(super) fn riders_are(&self, fits: impl Fn(&Deposit) -> bool) -> bool {
        self.deposit.riders.iter().all(|id| {
            let rider = self.riders.iter().find(|it| it.id == *id);
            rider.is_some_and(|it| it.release == self.deposit.release && fits(it))
        })
    }

    /// Its release does not happen: its dust waits for another one. Dust that counts as released,
    /// because a reorganisation undid the release, gets one of its own.
    pub(super) fn leave_riders(&mut self, effects: &mut WalletEffects, cx: &mut Cx<'_>) {
        let release = self.deposit.release;
        let plan = self.intent(release).map(|intent| intent.plan);
        for at in 0..self.riders.len() {
            if !self.deposit.riders.contains(&self.riders[at].id)
                || self.riders[at].release != release
            {
                continue;
            }
            self.with_rider(at, |case| {
                case.deposit.release = None;
                case.deposit.version += 1;
                if let (DepositState::Completed, Some(Plan::Release(movement))) =
                    (case.deposit.state, &plan)
                {
                    case.release_alone(*movement, effects, cx);
                }
                if let Some(state) = case.next(Trigger::LeftBehind) {
                    case.enter(state, effects, cx);
                }
            });
        }
        self.deposit.riders.clear();
    }

    /// Its release took effect in `tx` and moved its riders too; returns the deposit's own part of
    /// the `fee`.
    pub(super) fn riders_released(
        &mut self,
        tx: TxHash,
        fee: i64,
        effects: &mut WalletEffects,
        cx: &mut Cx<'_>,
    ) -> i64 {
        let release = self.deposit.release;
        let own = fee.min(self.deposit.minor);
        let mut left = fee - own;
        for at in 0..self.riders.len() {
            if !self.deposit.riders.contains(&self.riders[at].id)
                || self.riders[at].release != release
            {
                continue;
            }
            let share = left.min(self.riders[at].minor);
            left -= share;
            effects.merge(self.with_rider(at, |case| case.one_released(tx, share, cx)));
        }
        own
    }

    /// Decides about one of its riders with the same wallet, request and intents.
    pub(super) fn with_rider<T>(&mut self, at: usize, decide: impl FnOnce(&mut Case) -> T) -> T {
        std::mem::swap(&mut self.deposit, &mut self.riders[at]);
        let made = decide(self);
        std::mem::swap(&mut self.deposit, &mut self.riders[at]);
        made
    }
}
