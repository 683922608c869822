//! Reviewers' decisions about an order: one that screening withholds, and a payout whose outcome is
//! unknown. Never pays a second time.

use super::order::{OrderCase, OrderRefusal};
use super::states::{OrderStep, OrderTrigger};
use super::{ExchangeState, Fate, OrderFailure};
use crate::attempt::Attempt;
use crate::chain::ChainConfig;
use crate::decision::{Cx, JobChange};
use crate::job::JobKind;
use crate::rail::Finding;
use crate::screening::{Screened, Verdict};
use crate::wallet_effects::WalletEffects;

impl OrderCase {
    /// Records the decision about an order that screening withholds, and closes its alert. With the
    /// screening that a release rests on, it goes on as if its name had been clean: its debit under
    /// the timeout that it has had since its creation, or its payout. Without one it is rejected: it
    /// fails for a neutral reason and its tokens are free again.
    ///
    /// # Errors
    /// [`OrderRefusal::NotWithheld`]; to a release also [`OrderRefusal::Listed`],
    /// [`OrderRefusal::OlderLists`], [`OrderRefusal::Frozen`] and [`OrderRefusal::NoToken`].
    pub fn review(
        &mut self,
        release: Option<Screened>,
        chain: &ChainConfig,
        cx: &mut Cx<'_>,
    ) -> Result<WalletEffects, OrderRefusal> {
        self.check_withheld(cx)?;
        let mut effects = WalletEffects::default();
        let is_debited = self.order.state == ExchangeState::Debited;
        let Some(screened) = release else {
            match self.order.state.on(OrderTrigger::ReviewRejected) {
                OrderStep::To(state) => {
                    self.end_unpaid(state, OrderFailure::PayoutFailed, &mut effects, cx);
                }
                _ if is_debited => effects.merge(self.no_route(cx)),
                _ => return Err(OrderRefusal::NotWithheld),
            }
            return Ok(effects);
        };
        if !self.order.is_releasable() || screened.verdict() == Verdict::Hit {
            return Err(OrderRefusal::Listed);
        }
        if self.wallet.state.is_frozen() {
            return Err(OrderRefusal::Frozen(self.wallet.state));
        }
        chain.token(self.order.coin).ok_or(OrderRefusal::NoToken)?;
        let alert = self.order.withheld_alert();
        self.rescreened(screened, cx)?;
        effects.closed.extend(alert);
        self.order.fate = Fate::Open;
        if is_debited {
            effects.jobs.push((self.order.id.0, JobChange::Set(JobKind::Payout, cx.now)));
        } else {
            self.want_debit(chain, &mut effects, cx);
        }
        Ok(effects)
    }

    /// Records the match that the screening before a release found: it is added to the evidence and
    /// replaces the alert. After an exact one the order can only be rejected.
    ///
    /// # Errors
    /// [`OrderRefusal::NotWithheld`]; [`OrderRefusal::Listed`] if that was known;
    /// [`OrderRefusal::OlderLists`].
    pub fn found_match(
        &mut self,
        screened: Screened,
        cx: &Cx<'_>,
    ) -> Result<WalletEffects, OrderRefusal> {
        self.check_withheld(cx)?;
        if !self.order.is_releasable() {
            return Err(OrderRefusal::Listed);
        }
        let closed = self.order.withheld_alert().into_iter().collect();
        let mut effects = WalletEffects { closed, ..WalletEffects::default() };
        self.rescreened(screened, cx)?;
        effects.alerts.extend(self.order.withheld_alert());
        Ok(effects)
    }

    /// Replaces the screening result by a later one.
    ///
    /// # Errors
    /// [`OrderRefusal::OlderLists`]
    pub fn rescreened(&mut self, screened: Screened, cx: &Cx<'_>) -> Result<(), OrderRefusal> {
        self.order.screened = Some(match &self.order.screened {
            Some(known) if screened.is_older_than(&known.list_version, cx.now) => {
                return Err(OrderRefusal::OlderLists);
            }
            Some(known) => screened.with_known(known),
            None => screened,
        });
        self.order.version += 1;
        Ok(())
    }

    /// Refuses a decision about an order that does not wait for one.
    fn check_withheld(&self, cx: &Cx<'_>) -> Result<(), OrderRefusal> {
        // An order past its timeout is about to be cancelled.
        let is_late = self.order.undecided_until().is_some_and(|until| cx.now >= until);
        if !self.order.is_withheld() || is_late {
            return Err(OrderRefusal::NotWithheld);
        }
        Ok(())
    }

    /// Records the outcome of an unknown payout, or the return of a settled one, as established by
    /// two users. A payout in progress is the rail's to report: it can still be paid. Of one that a
    /// rail reported before the debit, the debit follows: done if it was paid, else never.
    ///
    /// # Errors
    /// [`OrderRefusal::Conflict`] if no outcome is to be recorded.
    pub fn resolve(
        &mut self,
        attempt: &mut Attempt,
        finding: &Finding,
        evidence: &str,
        cx: &mut Cx<'_>,
    ) -> Result<WalletEffects, OrderRefusal> {
        if self.order.open_to(finding).is_none() {
            return Err(OrderRefusal::Conflict(self.order.state));
        }
        let report = attempt.report_of(finding, evidence);
        if self.order.is_reported() {
            return self.established(attempt, &report, cx);
        }
        Ok(self.heard(attempt, &report, None, cx))
    }
}
