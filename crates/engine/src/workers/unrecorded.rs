//! Reports of payouts that these books have not sent: an earlier life of the installation sent them,
//! before its database was restored from a backup.

use std::collections::{BTreeMap, BTreeSet};

use domain::attempt::Attempt;
use domain::bank_statement::BankStatement;
use domain::currency::Currency;
use domain::exchange::{ExchangeOrder, ExchangeState, ReportedAmount};
use domain::ids::{PaymentId, TenantId};
use domain::money::Money;
use domain::payment::{Payment, PaymentState};
use domain::ports::Rail;
use domain::rail::{About, BankReport, RailId, RailStatus, ReportContent};
use domain::rail_ids::{self, ReportIds, Unmatched};
use domain::sender_limit::Sender;
use domain::wallet_effects::{Alert, AlertKind};
use store::{StoreError, UnmatchedContent};

use super::Workers;
use super::collect::{reported, unmatched};
use crate::command::exchange::{ExchangeAction, OrderKey};
use crate::command::{Action, Outcome, PaymentAction, Refused};

/// The payments whose ids these are, in full.
fn named(ids: &ReportIds) -> BTreeSet<PaymentId> {
    ids.strong().filter_map(rail_ids::whole).map(PaymentId).collect()
}

/// Whether a report over `rail` is about an attempt of these books: one that the rail has refused, or one
/// whose own id it gives (rails may share an account, and so its statements). The payment's id alone does
/// not tell: it is that of each of its attempts.
fn is_about(attempt: &Attempt, rail: &RailId, ids: &ReportIds) -> bool {
    let mut own = [&ids.uetr, &ids.instruction].into_iter().flatten();
    attempt.rail == *rail && !attempt.was_not_sent()
        || own.any(|id| rail_ids::whole(id) == Some(attempt.id.0))
}

/// What users do about a payout of what has ended here.
const ENDED: &str = "see \"paid after its end\" in the runbook";

/// Whether a report says that the bank pays, or has the instruction.
const fn pays(status: &RailStatus) -> bool {
    matches!(status, RailStatus::Received | RailStatus::Accepted | RailStatus::Settled)
}

/// What a report of a payout that was not sent over this rail means, for users. `what` is a payment or
/// an exchange order with its id.
fn unsent(what: &str, state: &str, is_held: bool, is_sent: bool) -> String {
    match (is_held, is_sent) {
        (true, _) => format!(
            "these books have not sent {what}: it is held and will not be sent; record its outcome"
        ),
        (false, true) => {
            format!("these books have sent {what} over another rail, and it is {state}")
        }
        (false, false) => {
            format!("these books have not sent {what}, and it is {state}")
        }
    }
}

/// The amount that a report names of one payout in this currency; of several, it may be a sum.
fn amount_of(report: &BankReport, currency: Currency) -> Option<ReportedAmount> {
    let ReportContent { amount, other_amounts, charges, .. } = &report.said;
    let is_one = matches!(report.about, About::One(_));
    let named = || amount.iter().chain(other_amounts).copied();
    let amount = named().find(|it| it.currency == currency).or(*amount).filter(|_| is_one)?;
    Some(ReportedAmount { amount, may_have_charges: has(*charges) })
}

fn has(charges: Option<Money>) -> bool {
    charges.is_some_and(|it| it.minor != 0)
}

/// A report or booking of one payout.
struct Told<'a> {
    ids: &'a ReportIds,
    /// The report, for users.
    what: &'a str,
    paid: Option<ReportedAmount>,
    /// Whether it says that the bank pays.
    pays: bool,
}

/// What a payout is for.
#[derive(Clone, Copy, Debug)]
enum Owed<'a> {
    Payment(&'a Payment),
    Order(&'a ExchangeOrder),
}

impl Owed<'_> {
    const fn tenant(self) -> TenantId {
        match self {
            Owed::Payment(payment) => payment.tenant,
            Owed::Order(order) => order.tenant,
        }
    }

    /// Currency of the payout.
    const fn currency(self) -> Currency {
        match self {
            Owed::Payment(payment) => payment.amount.currency,
            Owed::Order(order) => order.payout.currency,
        }
    }

    /// Its id in messages to rails.
    const fn payment(self) -> PaymentId {
        match self {
            Owed::Payment(payment) => payment.id,
            Owed::Order(order) => PaymentId(order.id.0),
        }
    }

    /// Whether it may still be sent, now or after a refusal of the attempt that is under way.
    fn may_be_sent(self) -> bool {
        match self {
            Owed::Payment(payment) => {
                matches!(payment.standing.state, PaymentState::Queued | PaymentState::Unknown)
            }
            Owed::Order(order) => order.state.is_unpaid() || order.state == ExchangeState::Paying,
        }
    }

    /// The alert that a bank pays it although it has ended here without a payout; `None` if it has not.
    fn ended_alert(self) -> Option<Alert> {
        match self {
            Owed::Payment(payment) => {
                use PaymentState::{Canceled, Failed, Rejected, Reversed};
                let state = payment.standing.state;
                // One that was cancelled before it was sent is reversed.
                let is_ended = matches!(state, Rejected | Failed | Canceled | Reversed);
                let what = format!(
                    "a bank pays a payment that is {} here, and whose amount the client has again: {ENDED}",
                    state.name()
                );
                let kind = AlertKind::Discrepancy;
                is_ended.then_some(Alert { kind, subject: payment.id.0, what })
            }
            Owed::Order(order) => {
                let state = order.state;
                let is_ended = matches!(state, ExchangeState::Failed | ExchangeState::Cancelled);
                let what = format!(
                    "a bank pays out an exchange order that is {} here, and whose tokens are free in the books: \
                     block its wallet; {ENDED}",
                    state.name()
                );
                let kind = AlertKind::Payout;
                is_ended.then_some(Alert { kind, subject: order.id.0, what })
            }
        }
    }

    /// A report of it, as it was before it was held.
    fn stray(self, what: &str, is_held: bool) -> UnmatchedContent {
        let (name, state, is_sent) = match self {
            Owed::Payment(payment) => (
                format!("payment {}", payment.id),
                payment.standing.state.name(),
                payment.attempt.is_some(),
            ),
            Owed::Order(order) => (
                format!("exchange order {}", order.id),
                order.state.name(),
                // One that is in doubt already was not sent by these books.
                order.attempt.is_some() && order.doubt().is_none(),
            ),
        };
        let what = format!("{what}: {}", unsent(&name, state, is_held, is_sent));
        UnmatchedContent { what, owner: Some(self.tenant()) }
    }
}

impl Workers {
    /// Notes reports that match no attempt over the rail, and holds the unsent payments and exchange
    /// orders that they name; `false` if they must be fetched again.
    pub(super) async fn take_unmatched(
        &self,
        rail: &dyn Rail,
        reports: &[&BankReport],
        strays: &mut Vec<UnmatchedContent>,
    ) -> bool {
        let ids = || reports.iter().flat_map(|report| report.ids());
        let read = async {
            let payments = self.store.payments_named(ids()).await?;
            Ok::<_, StoreError>((payments, self.store.exchanges_named(ids()).await?))
        };
        let (payments, orders) = match read.await {
            Ok(found) => found,
            Err(error) => {
                tracing::warn!(%error, "payment read failed, reports will be fetched again");
                return false;
            }
        };
        let owed = payments.iter().map(Owed::Payment).chain(orders.iter().map(Owed::Order));
        let by_id: BTreeMap<PaymentId, Owed<'_>> = owed.map(|it| (it.payment(), it)).collect();
        let mut held = BTreeSet::new();
        // A report of one alone comes first: it may name the amount.
        let is_of_one = |report: &&&BankReport| matches!(report.about, About::One(_));
        let of_others = reports.iter().filter(|report| !is_of_one(report));
        for report in reports.iter().filter(is_of_one).chain(of_others) {
            let mut is_known = false;
            let about: BTreeMap<PaymentId, &ReportIds> = report
                .ids()
                .flat_map(|ids| named(ids).into_iter().map(move |id| (id, ids)))
                .collect();
            for (owed, ids) in about.iter().filter_map(|(id, ids)| Some((*by_id.get(id)?, *ids))) {
                is_known = true;
                let what = reported(report);
                let paid = amount_of(report, owed.currency());
                let pays = pays(&report.said.status);
                // One that only has the instruction may refuse it.
                let is_paid = pays && report.said.status != RailStatus::Received;
                let told = Told { ids, what: &what, paid, pays: is_paid };
                let Some(is_held) = self.hold_unsent(rail, owed, told).await else {
                    return false;
                };
                held.extend(is_held.then_some(owed.payment()));
                if pays && !self.alert_of_ended(rail, owed, ids).await {
                    return false;
                }
                strays.push(owed.stray(&what, held.contains(&owed.payment())));
            }
            if !is_known && !report.ids().all(|ids| ids.may_be_anothers) {
                strays.push(unmatched(rail, report, &Unmatched::Nothing).into());
            }
        }
        true
    }

    /// Holds the unsent payments and exchange orders that a statement books, and alerts operators about
    /// those that have ended; `false` if it must be fetched again.
    pub(super) async fn hold_booked(
        &self,
        rail: &dyn Rail,
        page: &BankStatement,
        strays: &mut Vec<UnmatchedContent>,
    ) -> Result<bool, StoreError> {
        let entries = || page.entries.iter().filter(|entry| !entry.is_own && !entry.is_credit);
        let ids = || entries().map(|entry| &entry.ids);
        let unpaid = self.store.unpaid_named(ids()).await?;
        let orders = self.store.exchanges_named(ids()).await?;
        let owed = unpaid.iter().map(Owed::Payment).chain(orders.iter().map(Owed::Order));
        let owed = owed.filter(|it| it.may_be_sent() || it.ended_alert().is_some());
        let owed: BTreeMap<PaymentId, Owed<'_>> = owed.map(|it| (it.payment(), it)).collect();
        for entry in entries() {
            for it in named(&entry.ids).iter().filter_map(|id| owed.get(id)) {
                let (source, number, amount) = (&page.source, entry.number, entry.amount);
                let what = format!("{source} books {amount} as entry {number}");
                let may_have_charges = has(entry.charges);
                let paid = ReportedAmount { amount, may_have_charges };
                let paid = Some(paid).filter(|_| entry.batch.is_none());
                let told = Told { ids: &entry.ids, what: &what, paid, pays: true };
                match self.hold_unsent(rail, *it, told).await {
                    Some(true) => strays.push(it.stray(&what, true)),
                    // Reconciliation reports an entry that matches no attempt.
                    Some(false) if self.alert_of_ended(rail, *it, &entry.ids).await => {}
                    Some(false) => return Ok(false),
                    None => return Ok(false),
                }
            }
        }
        Ok(true)
    }

    /// Operators learn of what a bank pays although it has ended here, unless it may be an attempt of
    /// these books; `false` if that is not known.
    async fn alert_of_ended(&self, rail: &dyn Rail, owed: Owed<'_>, ids: &ReportIds) -> bool {
        let Some(alert) = owed.ended_alert() else { return true };
        let tenant = owed.tenant();
        match self.store.attempts(tenant, owed.payment()).await {
            // Rails may share an account: a payout that was returned is booked there, too.
            Ok(made)
                if made.iter().any(|it| {
                    is_about(it, rail.id(), ids) || !it.state.is_refused() && !it.was_not_sent()
                }) => {}
            Ok(_) => self.raise(tenant, alert).await,
            Err(error) => {
                tracing::warn!(%error, "attempt read failed, reports will be fetched again");
                return false;
            }
        }
        true
    }

    /// Whether it is held because of a report; `None` if that is not known. While an attempt may be
    /// refused, the report is noted with it: it is held then.
    async fn hold_unsent(
        &self,
        rail: &dyn Rail,
        owed: Owed<'_>,
        Told { ids, what: why, paid, pays }: Told<'_>,
    ) -> Option<bool> {
        if !owed.may_be_sent() {
            return Some(false);
        }
        let (tenant, id) = (owed.tenant(), owed.payment());
        let made = match self.store.attempts(tenant, id).await {
            Ok(made) => made,
            Err(error) => {
                tracing::warn!(%error, "attempt read failed, reports will be fetched again");
                return None;
            }
        };
        let open = made.iter().find(|it| !it.state.is_refused());
        let is_news = match open {
            Some(it) if it.is_assumed() => pays,
            Some(it) if !it.may_be_refused() || !pays && it.reported().is_some() => false,
            _ => !made.iter().any(|it| is_about(it, rail.id(), ids)),
        };
        if !is_news {
            return Some(false);
        }
        let is_held = open.is_none_or(Attempt::is_assumed);
        let (rail, why) = (rail.id().clone(), why.to_owned());
        let action = match owed {
            Owed::Payment(payment) => {
                let sender = self.sender_of(payment).await?;
                Action::Payment(payment.id, PaymentAction::ReportedUnsent { rail, sender, why })
            }
            Owed::Order(order) => {
                let action = ExchangeAction::ReportedUnsent { rail, why, paid };
                Action::Exchange(OrderKey::of(order), action)
            }
        };
        match self.apply(tenant, id, action).await? {
            // Its related records differ from those read: try again.
            Outcome::Refused(Refused::Moved) => None,
            Outcome::Refused(_) | Outcome::Panicked => Some(false),
            _ if !is_held => Some(false),
            _ => {
                tracing::warn!(payment = %id, "rail reported a payment that was not sent, payment held");
                Some(true)
            }
        }
    }

    /// The sender of a payment; `None` if it cannot be read.
    async fn sender_of(&self, payment: &Payment) -> Option<Sender> {
        match self.store.records(payment.tenant, &[payment.id]).await {
            Ok(records) => records.first().map(|it| Sender::of_order(payment.tenant, &it.order)),
            Err(error) => {
                tracing::warn!(%error, "order read failed, reports will be fetched again");
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use domain::attempt::{AttemptState, NOT_SENT};
    use domain::ids::AttemptId;
    use domain::time::Timestamp;
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
            assert_eq!(named(&it), BTreeSet::from([id]), "{it:?}");
        }
        for it in [
            of(|it, id| it.end_to_end = Some(id), "NOTPROVIDED"),
            of(|it, id| it.end_to_end = Some(id), &plain[..16]),
            of(|it, id| it.message = Some(id), &plain),
            of(|it, id| it.reference = Some(id), &plain),
        ] {
            assert!(!named(&it).contains(&id), "{it:?}");
        }
    }

    #[test]
    fn a_report_is_about_an_attempt_that_its_rail_refused_or_that_it_names() {
        let id = |number| Uuid::from_u128(number);
        let attempt = |rail: &str, reason: &str| Attempt {
            id: AttemptId(id(2)),
            tenant: TenantId(id(1)),
            payment: PaymentId(id(3)),
            number: 2,
            rail: RailId::new(rail),
            state: AttemptState::Refused,
            amount: Money::new(1, Currency::Pkr),
            charges: 0,
            sender: None,
            created_at: Timestamp(0),
            state_at: Timestamp(0),
            reason: Some(reason.to_owned()),
            info: None,
            bank_reference: None,
            source: None,
            booking: None,
            sent_again: false,
        };
        let of_payment = ReportIds { end_to_end: Some(id(3).to_string()), ..ReportIds::default() };
        let foreign = ReportIds { instruction: Some(id(9).to_string()), ..of_payment.clone() };
        let own = ReportIds { uetr: Some(id(2).to_string()), ..of_payment.clone() };
        for (rail, reason, ids, expected) in [
            ("pak-raast", "AC04", &of_payment, true),
            ("pak-raast", NOT_SENT, &of_payment, false),
            ("pak-ibft", "AC04", &of_payment, false),
            ("pak-ibft", "AC04", &foreign, false),
            ("pak-ibft", "AC04", &own, true),
        ] {
            let is_about = is_about(&attempt(rail, reason), &RailId::new("pak-raast"), ids);
            assert_eq!(is_about, expected, "{rail} {reason} {ids:?}");
        }
    }

    #[test]
    fn the_text_says_whether_the_payment_is_held() {
        for (state, is_held, is_sent, expected) in [
            (PaymentState::Queued, true, false, "is held and will not be sent"),
            (PaymentState::Queued, true, true, "is held and will not be sent"),
            (PaymentState::Queued, false, true, "over another rail, and it is queued"),
            (PaymentState::Succeeded, false, true, "over another rail, and it is succeeded"),
            (PaymentState::Reversed, false, false, "have not sent payment"),
        ] {
            let told = unsent("payment 7", state.name(), is_held, is_sent);
            assert!(told.contains(expected), "{told}");
        }
    }
}
