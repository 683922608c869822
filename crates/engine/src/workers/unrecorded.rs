//! Reports of payouts that these books have not sent: an earlier life of the installation sent them,
//! before its database was restored from a backup.

use std::collections::BTreeSet;

use domain::bank_statement::BankStatement;
use domain::ids::PaymentId;
use domain::payment::{Payment, PaymentState};
use domain::ports::Rail;
use domain::rail::BankReport;
use domain::rail_ids::{self, ReportIds, Unmatched};
use store::{StoreError, StrayReport};

use super::Workers;
use super::collect::{reported, unmatched};
use crate::command::{Action, Outcome, PaymentAction};

/// Whether any of these ids is a payment's, in full.
fn names(ids: &ReportIds, payment: PaymentId) -> bool {
    ids.strong().filter_map(rail_ids::whole).any(|id| id == payment.0)
}

/// What a report of a payout that was not sent over this rail means, for users.
fn unsent(payment: PaymentId, state: PaymentState, is_held: bool, is_sent: bool) -> String {
    let state = state.name();
    match (is_held, is_sent) {
        (true, _) => format!(
            "these books have not sent payment {payment}: it is held and will not be sent; record its outcome"
        ),
        (false, true) => {
            format!("these books have sent payment {payment} over another rail, and it is {state}")
        }
        (false, false) => {
            format!("these books have not sent payment {payment}, and it is {state}")
        }
    }
}

/// The same of a payment, as it was before it was held.
fn stray(what: &str, payment: &Payment, is_held: bool) -> StrayReport {
    let (state, is_sent) = (payment.standing.state, payment.attempt.is_some());
    let what = format!("{what}: {}", unsent(payment.id, state, is_held, is_sent));
    StrayReport { what, owner: Some(payment.tenant) }
}

impl Workers {
    /// Notes reports that match no attempt over the rail, and holds the queued payments that they
    /// name; `false` if they must be fetched again.
    pub(super) async fn take_unmatched(
        &self,
        rail: &dyn Rail,
        reports: &[&BankReport],
        strays: &mut Vec<StrayReport>,
    ) -> bool {
        let ids = reports.iter().flat_map(|report| report.ids());
        let payments = match self.store.payments_named(ids).await {
            Ok(payments) => payments,
            Err(error) => {
                tracing::warn!(%error, "payment read failed, reports will be fetched again");
                return false;
            }
        };
        let mut held = BTreeSet::new();
        for report in reports {
            let mut is_known = false;
            let is_named = |it: &&Payment| report.ids().any(|ids| names(ids, it.id));
            for payment in payments.iter().filter(is_named) {
                is_known = true;
                let what = reported(report);
                let Some(is_held) = self.hold_unsent(rail, payment, &what).await else {
                    return false;
                };
                held.extend(is_held.then_some(payment.id));
                strays.push(stray(&what, payment, held.contains(&payment.id)));
            }
            if !is_known && !report.ids().all(|ids| ids.may_be_anothers) {
                strays.push(unmatched(rail, report, &Unmatched::Nothing).into());
            }
        }
        true
    }

    /// Holds the queued payments that a statement books; `false` if it must be fetched again.
    pub(super) async fn hold_booked(
        &self,
        rail: &dyn Rail,
        page: &BankStatement,
        strays: &mut Vec<StrayReport>,
    ) -> Result<bool, StoreError> {
        let entries = || page.entries.iter().filter(|entry| !entry.is_own);
        let payments = self.store.payments_named(entries().map(|entry| &entry.ids)).await?;
        let queued: Vec<Payment> = payments
            .into_iter()
            .filter(|payment| payment.standing.state == PaymentState::Queued)
            .collect();
        for entry in entries() {
            for payment in queued.iter().filter(|it| names(&entry.ids, it.id)) {
                let (source, number, amount) = (&page.source, entry.number, entry.amount);
                let what = format!("{source} books {amount} as entry {number}");
                match self.hold_unsent(rail, payment, &what).await {
                    Some(true) => strays.push(stray(&what, payment, true)),
                    // Reconciliation reports an entry that matches no attempt.
                    Some(false) => {}
                    None => return Ok(false),
                }
            }
        }
        Ok(true)
    }

    /// Whether the payment is held because of a report; `None` if that is not known.
    async fn hold_unsent(&self, rail: &dyn Rail, payment: &Payment, why: &str) -> Option<bool> {
        let (rail, why) = (rail.id().clone(), why.to_owned());
        let action = Action::Payment(payment.id, PaymentAction::ReportedUnsent { rail, why });
        match self.apply(payment.tenant, payment.id, action).await? {
            Outcome::Refused(_) | Outcome::Panicked => Some(false),
            _ => {
                tracing::warn!(payment = %payment.id, "rail reported a payment that was not sent, payment held");
                Some(true)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    #[test]
    fn a_whole_id_of_any_field_names_a_payment() {
        let id = PaymentId(Uuid::from_u128(0x019a_bcde_f012_7345_8678_9abc_def0_1234));
        let plain = id.end_to_end_id();
        let of = |change: fn(&mut ReportIds, String), id: &str| {
            let mut ids = ReportIds::default();
            change(&mut ids, id.to_owned());
            ids
        };
        for it in [
            of(|it, id| it.end_to_end = Some(id), &plain),
            of(|it, id| it.end_to_end = Some(id), &format!(" {} ", plain.to_uppercase())),
            of(|it, id| it.uetr = Some(id), &id.to_string()),
            of(|it, id| it.instruction = Some(id), &plain),
        ] {
            assert!(names(&it, id), "{it:?}");
            assert!(!names(&it, PaymentId(Uuid::from_u128(7))), "{it:?}");
        }
        for it in [
            of(|it, id| it.end_to_end = Some(id), "NOTPROVIDED"),
            of(|it, id| it.end_to_end = Some(id), &plain[..16]),
            of(|it, id| it.message = Some(id), &plain),
            of(|it, id| it.reference = Some(id), &plain),
        ] {
            assert!(!names(&it, id), "{it:?}");
        }
    }

    #[test]
    fn the_text_says_whether_the_payment_is_held() {
        let id = PaymentId(Uuid::from_u128(7));
        for (state, is_held, is_sent, expected) in [
            (PaymentState::Queued, true, false, "is held and will not be sent"),
            (PaymentState::Queued, true, true, "is held and will not be sent"),
            (PaymentState::Queued, false, true, "over another rail, and it is queued"),
            (PaymentState::Succeeded, false, true, "over another rail, and it is succeeded"),
            (PaymentState::Reversed, false, false, "have not sent payment"),
        ] {
            let told = unsent(id, state, is_held, is_sent);
            assert!(told.contains(expected), "{told}");
        }
    }
}
