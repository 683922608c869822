//! Reviewers' decisions about an order: one that screening withholds, and a payout whose outcome is
//! unknown. Never pays a second time.

use super::order::{OrderCase, OrderRefusal};
use super::states::{OrderStep, OrderTrigger};
use super::{Fate, OrderFailure};
use crate::attempt::Attempt;
use crate::chain::ChainConfig;
use crate::decision::Cx;
use crate::rail::Finding;
use crate::screening::{Screened, Verdict};
use crate::wallet_effects::WalletEffects;

impl OrderCase {
    /// Records the decision about an order that screening withholds, and closes its alert. With the
    /// screening that a release rests on, it begins as if its name had been clean, under the
    /// timeout that it has had since its creation. Without one it is rejected: it fails for a
    /// neutral reason and its tokens are free again.
    ///
    /// # Errors
    /// [`OrderRefusal::NotWithheld`]; to a release also [`OrderRefusal::Listed`],
    /// [`OrderRefusal::Frozen`] and [`OrderRefusal::NoToken`].
    pub fn review(
        &mut self,
        release: Option<Screened>,
        chain: &ChainConfig,
        cx: &mut Cx<'_>,
    ) -> Result<WalletEffects, OrderRefusal> {
        let mut effects = self.close_alert(cx)?;
        let Some(screened) = release else {
            let OrderStep::To(state) = self.order.state.on(OrderTrigger::ReviewRejected) else {
                return Err(OrderRefusal::NotWithheld);
            };
            self.end_unpaid(state, OrderFailure::PayoutFailed, &mut effects, cx);
            return Ok(effects);
        };
        if !self.order.is_releasable() || screened.verdict() == Verdict::Hit {
            return Err(OrderRefusal::Listed);
        }
        if self.wallet.state.is_frozen() {
            return Err(OrderRefusal::Frozen(self.wallet.state));
        }
        chain.token(self.order.coin).ok_or(OrderRefusal::NoToken)?;
        self.order.fate = Fate::Open;
        self.order.screened = Some(screened);
        self.order.version += 1;
        self.want_debit(chain, &mut effects, cx);
        Ok(effects)
    }

    /// Records the match that the screening before a release found: it replaces the evidence and the
    /// alert. After an exact one the order can only be rejected.
    ///
    /// # Errors
    /// [`OrderRefusal::NotWithheld`]; [`OrderRefusal::Listed`] if that was known.
    pub fn found_match(
        &mut self,
        screened: Screened,
        cx: &Cx<'_>,
    ) -> Result<WalletEffects, OrderRefusal> {
        let mut effects = self.close_alert(cx)?;
        if !self.order.is_releasable() {
            return Err(OrderRefusal::Listed);
        }
        self.order.screened = Some(screened);
        self.order.version += 1;
        effects.alerts.extend(self.order.withheld_alert());
        Ok(effects)
    }

    /// Closes the alert of a withheld order, which a decision about it does first.
    fn close_alert(&self, cx: &Cx<'_>) -> Result<WalletEffects, OrderRefusal> {
        // An order past its timeout is about to be cancelled.
        if !self.order.is_withheld() || cx.now >= self.order.times_out_at {
            return Err(OrderRefusal::NotWithheld);
        }
        let closed = self.order.withheld_alert().into_iter().collect();
        Ok(WalletEffects { closed, ..WalletEffects::default() })
    }

    /// Records the outcome of an unknown payout, or the return of a settled one, as established by
    /// two users. A payout in progress is the rail's to report: it can still be paid.
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
        Ok(self.heard(attempt, &report, None, cx))
    }
}
