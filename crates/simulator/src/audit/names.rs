//! What is decided about names, against the list servers: no payment and no deposit passes by itself unless a screening
//! found its name on none of the lists that the node had taken, and those were not too old to clear a name.

use domain::deposit::Deposit;
use domain::ids::{PaymentId, TenantId};
use domain::risk::{ReasonCode, RiskResult};
use domain::screening::Verdict;
use domain::time::Timestamp;

use super::{Auditor, rows};
use crate::actors::ListWorld;
use crate::installation::{NAME_IN_REVIEW, NAME_LISTED};

impl Auditor {
    /// A client is about to be answered that this payment to `name` is accepted.
    pub fn check_screened(&self, tenant: TenantId, payment: PaymentId, name: &str) {
        let stored = self.store.stored_id(payment.0).into_bytes();
        let found = self
            .read(|connection| rows::review(connection, tenant.0.into_bytes(), stored))
            .flatten();
        let Some((review, accepted_at)) = found else { return };
        let Some(lists) = &self.lists else {
            // Without lists, names alone say what screening finds.
            let is_clean = name != NAME_LISTED && name != NAME_IN_REVIEW;
            if !is_clean && review == "not_needed" {
                self.violation(format!("I12: {payment} to {name} passed without a review"));
            }
            return;
        };
        let found = |verdict| lists.has_found(Some(name), verdict, Timestamp(accepted_at));
        let is_right = match review.as_str() {
            "not_needed" => found(Verdict::Clean),
            // It may have been cancelled while it waited for a review.
            "ended" => found(Verdict::Clean) || found(Verdict::Review),
            "waiting" | "approved" => found(Verdict::Review),
            // A person may have refused it too.
            _ => found(Verdict::Hit) || found(Verdict::Review),
        };
        if !is_right {
            self.violation(format!(
                "I12: the review of {payment} to {name} is {review}, and no screening found that"
            ));
        }
    }

    /// What was decided about deposits, at the end.
    pub(super) fn check_senders(&self, deposits: &[Deposit]) {
        let Some(lists) = &self.lists else { return };
        deposits.iter().for_each(|deposit| self.check_sender(lists, deposit));
    }

    fn check_sender(&self, lists: &ListWorld, deposit: &Deposit) {
        let Some(assessment) = deposit.assessment.as_ref().filter(|it| it.decided_by.is_none())
        else {
            return;
        };
        let names = [deposit.sender.first_name.as_deref(), deposit.sender.last_name.as_deref()];
        let name = names.into_iter().flatten().collect::<Vec<_>>().join(" ");
        let name = (!name.is_empty()).then_some(name.as_str());
        let found = |verdict| lists.has_found(name, verdict, assessment.at);
        let is_right = match (assessment.result, assessment.reason) {
            (RiskResult::Approved, _) => found(Verdict::Clean),
            (_, ReasonCode::SanctionedName) => found(Verdict::Hit),
            (_, ReasonCode::PossibleMatch | ReasonCode::ListsOutdated) => found(Verdict::Review),
            _ => true,
        };
        if !is_right {
            let (id, reason) = (deposit.id, assessment.reason.name());
            self.violation(format!(
                "I12: deposit {id} of {name:?} was assessed as {reason}, and no screening found that"
            ));
        }
    }
}
