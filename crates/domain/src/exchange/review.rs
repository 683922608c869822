//! Reviewers' decisions about an order: one that screening withholds, and a payout whose outcome is
//! unknown. Never pays a second time.

use super::order::{OrderCase, OrderRefusal};
use super::states::{OrderStep, OrderTrigger};
use super::{Fate, OrderFailure};
use crate::attempt::Attempt;
use crate::chain::ChainConfig;
use crate::payment::Cx;
use crate::rail::Finding;
use crate::wallet_effects::WalletEffects;

impl OrderCase {
    /// Records the decision about an order that screening withholds. Approved, it begins as if its
    /// name had been clean, under the timeout that it has had since its creation. Rejected, it
    /// fails for a neutral reason and its tokens are free again. Either way its alert is closed.
    ///
    /// # Errors
    /// [`OrderRefusal::NotWithheld`]; to an approval also [`OrderRefusal::Listed`],
    /// [`OrderRefusal::Frozen`] and [`OrderRefusal::NoToken`].
    pub fn review(
        &mut self,
        approve: bool,
        chain: &ChainConfig,
        cx: &mut Cx<'_>,
    ) -> Result<WalletEffects, OrderRefusal> {
        // An order past its timeout is about to be cancelled.
        if !self.order.is_withheld() || cx.now >= self.order.times_out_at {
            return Err(OrderRefusal::NotWithheld);
        }
        let closed = self.order.withheld_alert().into_iter().collect();
        let mut effects = WalletEffects { closed, ..WalletEffects::default() };
        if !approve {
            let OrderStep::To(state) = self.order.state.on(OrderTrigger::ReviewRejected) else {
                return Err(OrderRefusal::NotWithheld);
            };
            self.end_unpaid(state, OrderFailure::PayoutFailed, &mut effects, cx);
            return Ok(effects);
        }
        if !self.order.is_releasable() {
            return Err(OrderRefusal::Listed);
        }
        if self.wallet.state.is_frozen() {
            return Err(OrderRefusal::Frozen(self.wallet.state));
        }
        chain.token(self.order.coin).ok_or(OrderRefusal::NoToken)?;
        self.order.fate = Fate::Open;
        self.order.version += 1;
        self.want_debit(chain, &mut effects, cx);
        Ok(effects)
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
