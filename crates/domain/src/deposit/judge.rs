//! Decisions about a counted deposit: by screening, by a reviewer, by the wallet's state.

use super::case::{Case, DepositRefusal, Terms};
use super::states::{Step, Trigger};
use super::{Decision, DepositState, ReviewVerdict};
use crate::decision::Cx;
use crate::risk::{Assessment, Hold, ReasonCode, RiskResult};
use crate::screening::{Screened, Verdict};
use crate::wallet::BlockOrder;
use crate::wallet::{BlockReason, TriggeredBy, WalletState};
use crate::wallet_effects::{Alert, AlertKind, WalletEffects};
use crate::wallet_event::{FailureReason, WalletEvent};

/// Details reported to the bank when screening blocks a wallet.
pub const RISK_DETAILS: &str = "Blocked by the risk check of an incoming transaction";
/// Details reported to the bank when a reviewer blocks a wallet.
pub const REVIEW_DETAILS: &str = "Blocked in the review of an incoming transaction";

/// Alert about a wallet that is paid under listed names; one, however many deposits arrive.
const NAMES_REPEAT: &str = "senders repeatedly entered listed names: each deposit is on legal hold; decide whether to \
                            block the wallet";

impl Case {
    /// Records a screening result.
    ///
    /// # Errors
    /// [`DepositRefusal::State`]: it is no longer being screened.
    pub fn screened(
        &mut self,
        assessment: Assessment,
        terms: Terms<'_>,
        cx: &mut Cx<'_>,
    ) -> Result<WalletEffects, DepositRefusal> {
        if self.deposit.state == DepositState::Dust {
            return Ok(self.dust_screened(assessment, terms, cx));
        }
        // A deposit of a since blocked wallet waits, whatever was found, and is screened again
        // afterwards.
        if self.deposit.state == DepositState::Screening && self.wallet.state.is_frozen() {
            return Ok(self.wallet_changed(cx));
        }
        let assessment = match assessment.result {
            // It could not be released: a reviewer decides.
            RiskResult::Approved if self.escrow_is_held() => Assessment {
                result: RiskResult::ManualReview,
                reason: ReasonCode::EscrowHeld,
                ..assessment
            },
            _ => assessment,
        };
        let trigger = match (assessment.result, assessment.hold) {
            (RiskResult::Approved, _) => Trigger::RiskApproved,
            (RiskResult::ManualReview, _) => Trigger::RiskReview,
            (RiskResult::Rejected | RiskResult::Blocked, Some(Hold::Legal)) => Trigger::RiskLegal,
            (RiskResult::Rejected, _) | (RiskResult::Blocked, Some(Hold::Refundable)) => {
                Trigger::RiskRejected
            }
            (RiskResult::Blocked, None) => Trigger::RiskHeld,
        };
        let state = self.allowed(trigger)?;
        let mut effects = WalletEffects::default();
        let blocks = assessment.result == RiskResult::Blocked;
        if assessment.names_repeat() {
            effects.alerts.push(Alert {
                kind: AlertKind::ListedNames,
                subject: self.wallet.id.0,
                what: NAMES_REPEAT.to_owned(),
            });
        }
        self.judged(state, assessment, terms, &mut effects, cx);
        if blocks {
            let reason = BlockReason::RiskThresholdExceeded;
            self.block(reason, RISK_DETAILS, TriggeredBy::Automatic, &mut effects, cx);
        }
        Ok(effects)
    }

    /// State after a trigger that may be refused.
    pub(super) fn allowed(&self, trigger: Trigger) -> Result<DepositState, DepositRefusal> {
        match self.deposit.state.on(trigger) {
            Step::To(state) => Ok(state),
            Step::Back | Step::Stays | Step::Refused | Step::Person => Err(self.deposit.refused()),
        }
    }

    /// Emits the decision, then applies it.
    pub(super) fn judged(
        &mut self,
        state: DepositState,
        assessment: Assessment,
        terms: Terms<'_>,
        effects: &mut WalletEffects,
        cx: &mut Cx<'_>,
    ) {
        let event = WalletEvent::RiskCheckComplete {
            about: self.about(),
            result: assessment.result,
            score: assessment.score,
            level: assessment.level(),
            checks: assessment.checks.clone(),
            reason: assessment.reason,
            next: assessment.result.next_action(),
        };
        self.deposit.assessment = Some(assessment);
        self.tell(event, effects);
        match state {
            DepositState::Approved => self.approve(state, terms, effects, cx),
            DepositState::Rejected | DepositState::LegalHold => {
                self.enter(state, effects, cx);
                self.fail(FailureReason::ComplianceRejected, effects, cx);
            }
            _ => self.enter(state, effects, cx),
        }
    }

    fn block(
        &mut self,
        reason: BlockReason,
        details: &str,
        triggered_by: TriggeredBy,
        effects: &mut WalletEffects,
        cx: &Cx<'_>,
    ) {
        let order = BlockOrder {
            reason,
            details: details.to_owned(),
            auto_unblock_hours: None,
            triggered_by,
        };
        let cause = self.about().deposit;
        effects.merge(self.wallet.block_because_of(cause, order, cx.now));
    }

    /// Records a reviewer's decision.
    ///
    /// # Errors
    /// [`DepositRefusal::State`]; [`DepositRefusal::Frozen`]: nothing is approved for a frozen
    /// wallet; [`DepositRefusal::EscrowHeld`]: nor out of an escrow on legal hold.
    pub fn reviewed(
        &mut self,
        verdict: ReviewVerdict,
        by: &str,
        note: &str,
        terms: Terms<'_>,
        cx: &mut Cx<'_>,
    ) -> Result<WalletEffects, DepositRefusal> {
        let (trigger, result, reason) = match verdict {
            ReviewVerdict::Approve => {
                (Trigger::ReviewApproved, RiskResult::Approved, ReasonCode::ReviewApproved)
            }
            ReviewVerdict::Reject => {
                (Trigger::ReviewRejected, RiskResult::Rejected, ReasonCode::ReviewRejected)
            }
            ReviewVerdict::LegalHold => {
                (Trigger::ReviewLegal, RiskResult::Rejected, ReasonCode::ReviewRejected)
            }
            ReviewVerdict::Block => {
                (Trigger::ReviewRejected, RiskResult::Blocked, ReasonCode::ReviewRejected)
            }
        };
        let from = self.deposit.state;
        let state = self.allowed(trigger)?;
        if verdict == ReviewVerdict::Approve && self.wallet.state.is_frozen() {
            return Err(DepositRefusal::Frozen(self.wallet.state));
        }
        if verdict == ReviewVerdict::Approve && self.escrow_is_held() {
            return Err(DepositRefusal::EscrowHeld);
        }
        let mut effects = WalletEffects::default();
        effects.merge(self.count_reviewed(verdict, cx));
        self.deposit.decision =
            Some(Decision { verdict, by: by.to_owned(), note: note.to_owned(), at: cx.now });
        if from == DepositState::Rejected {
            // Already rejected and reported: only the kind of rejection changes.
            self.enter(state, &mut effects, cx);
            return Ok(effects);
        }
        let assessment = self.assessment_of(result, reason, state, by, cx);
        self.judged(state, assessment, terms, &mut effects, cx);
        if verdict == ReviewVerdict::Block {
            let reason = BlockReason::SuspiciousActivity;
            self.block(reason, REVIEW_DETAILS, TriggeredBy::Manual, &mut effects, cx);
        }
        Ok(effects)
    }

    /// What does not count by itself counts towards its request from its approval on, and no longer
    /// once a later review decides otherwise.
    fn count_reviewed(&mut self, verdict: ReviewVerdict, cx: &Cx<'_>) -> WalletEffects {
        let paid = (self.deposit.coin, self.deposit.minor);
        let was_taken = self.deposit.is_approved();
        match (self.deposit.concern, &mut self.request) {
            (Some(ReasonCode::TooLate | ReasonCode::WrongAsset), Some(request)) => {
                match (was_taken, verdict == ReviewVerdict::Approve) {
                    (false, true) => request.review_approved(paid, cx.now),
                    (true, false) => {
                        // It does not count at all from now on.
                        if std::mem::take(&mut self.deposit.is_deducted) {
                            request.refusal_dropped(paid);
                        }
                        request.review_withdrawn(paid)
                    }
                    _ => WalletEffects::default(),
                }
            }
            _ => WalletEffects::default(),
        }
    }

    /// Records matches that the screening before an approval found: they are added to the evidence.
    ///
    /// # Errors
    /// [`DepositRefusal::State`]: it is no longer in review.
    pub fn found_match(
        &mut self,
        found: &[Screened],
        cx: &Cx<'_>,
    ) -> Result<WalletEffects, DepositRefusal> {
        self.allowed(Trigger::ReviewApproved)?;
        let refused = self.deposit.refused();
        let assessment = self.deposit.assessment.as_mut().ok_or(refused)?;
        for screened in found {
            let code = match screened.verdict() {
                Verdict::Hit => ReasonCode::SanctionedName,
                _ => ReasonCode::PossibleMatch,
            };
            let entry = screened.evidence.as_deref().unwrap_or("unnamed entry");
            assessment.evidence.push(format!("{}: {entry}", code.name()));
            assessment.score = assessment.score.max(screened.score);
            assessment.list_version.clone_from(&screened.list_version);
        }
        // Who looked at it before has not seen this.
        self.deposit.state_at = cx.now;
        self.deposit.version += 1;
        Ok(WalletEffects::default())
    }

    /// A decision rests on the lists of this later screening, which found nothing new.
    pub fn rests_on(&mut self, screened: &Screened) {
        if let Some(assessment) = &mut self.deposit.assessment {
            assessment.list_version.clone_from(&screened.list_version);
        }
    }

    /// The screening result, with the reviewer's decision in place of its own.
    fn assessment_of(
        &self,
        result: RiskResult,
        reason: ReasonCode,
        state: DepositState,
        by: &str,
        cx: &Cx<'_>,
    ) -> Assessment {
        let hold = match state {
            DepositState::Rejected => Some(Hold::Refundable),
            DepositState::LegalHold => Some(Hold::Legal),
            _ => None,
        };
        let found = self.deposit.assessment.clone();
        let found = found.unwrap_or_else(|| Assessment {
            result,
            score: 0,
            checks: Vec::new(),
            reason,
            hold,
            list_version: String::new(),
            policy_version: String::new(),
            evidence: Vec::new(),
            decided_by: None,
            at: cx.now,
        });
        Assessment { result, reason, hold, decided_by: Some(by.to_owned()), at: cx.now, ..found }
    }

    /// The wallet's state changed: brings the deposit in line.
    pub fn wallet_changed(&mut self, cx: &mut Cx<'_>) -> WalletEffects {
        let mut effects = WalletEffects::default();
        let trigger = match self.wallet.state {
            WalletState::Active | WalletState::Pending => Trigger::WalletUnblocked,
            WalletState::Blocked => Trigger::WalletBlocked,
            WalletState::Blacklisted => Trigger::WalletBlacklisted,
        };
        if let Some(state) = self.next(trigger) {
            self.enter(state, &mut effects, cx);
            if state == DepositState::Rejected {
                self.fail(FailureReason::AddressBlacklisted, &mut effects, cx);
            }
        }
        effects
    }
}

impl DepositState {
    /// Whether a wallet that enters this state moves the deposit with it, see
    /// [`Case::wallet_changed`].
    pub const fn moves_with(self, wallet: WalletState) -> bool {
        let trigger = match wallet {
            WalletState::Active | WalletState::Pending => Trigger::WalletUnblocked,
            WalletState::Blocked => Trigger::WalletBlocked,
            WalletState::Blacklisted => Trigger::WalletBlacklisted,
        };
        matches!(self.on(trigger), Step::To(_))
    }
}
