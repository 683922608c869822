//! Fetches the reports that a rail keeps for us. One node at a time per rail; reports are applied
//! before they are acknowledged to the rail, so a crash fetches them again and nothing is lost.

use std::sync::Arc;

use domain::ids::{ExchangeId, PaymentId, TenantId};
use domain::ports::Rail;
use domain::rail::{
    self, About, BankReport, RailFault, RailReport, RailStatus, ReportContent, Reports,
};
use domain::rail_ids::Unmatched;
use domain::time::{Span, Timestamp};
use futures_util::future::join_all;
use store::UnmatchedContent;

use super::conditions::{Conditions, unfetched};
use super::silence::Silence;
use super::{Stop, Workers};
use crate::command::exchange::{ExchangeAction, OrderKey};
use crate::command::{Action, Command, Outcome, PaymentAction, Refused};
use crate::error::EngineError;
use crate::failpoint::{self, Failpoint};
use crate::measure;

/// Retry delay after a rail or the lease acquisition failed.
const RETRY: Span = Span::secs(2);
/// How long the stored cursor of a rail's reports may lag behind the applied ones.
const STORED_AFTER: Span = Span::millis(500);
/// Lease renewals per lease.
const RENEWALS_PER_LEASE: i64 = 4;
/// Maximum number of reports looked up, and applied concurrently.
const APPLIED_AT_ONCE: usize = 256;

/// Why a page of reports is not fetched and stored.
enum Missed {
    ByRail,
    ByStore,
}

/// The result of processing a report.
enum Taken {
    /// It is applied, contains nothing new, or is recorded as a discrepancy.
    Applied,
    /// It matches none of our records: it is stored as received.
    UnmatchedReport(UnmatchedContent),
    /// It must be fetched again.
    Not,
}

/// A report as text for operators: message, status and attempt.
fn told(report: &RailReport, about: &str) -> String {
    let amount = report.amount.map_or_else(String::new, |amount| format!(" over {amount}"));
    let reference = report
        .bank_reference
        .as_ref()
        .map_or_else(String::new, |text| format!(", reference {text}"));
    let (source, status, attempt) = (&report.source, &report.status, report.attempt);
    format!("{source} reports {status}{amount} of {attempt}{reference}: {about}")
}

/// A report that matches no attempt, as text for operators.
pub(super) fn unmatched(rail: &dyn Rail, report: &BankReport, why: &Unmatched) -> String {
    let source = &report.said.source;
    tracing::warn!(rail = %rail.id(), source, %why, "rail report matches no attempt, operator alert raised");
    metrics::counter!("corridor_foreign_reports_total", "rail" => rail.id().to_string())
        .increment(1);
    format!("{}: {why}", reported(report))
}

/// A report with its ids, as text for operators.
pub(super) fn reported(report: &BankReport) -> String {
    let ReportContent { status, amount, source, reasons, .. } = &report.said;
    let over = amount.map_or_else(String::new, |amount| format!(" over {amount}"));
    let reason = reasons.first().map_or_else(String::new, |code| format!(" ({code})"));
    let about = match &report.about {
        About::One(ids) => ids.told(),
        About::Rest { of, .. } | About::Batch { of, .. } => format!("all of {}", of.told()),
    };
    format!("{source} reports {status}{reason}{over} of {about}")
}

/// The reports in chunks of whole messages: one that contradicts itself proves nothing, wherever it
/// does.
fn messages(mut reports: &[BankReport]) -> Vec<&[BankReport]> {
    let mut chunks = Vec::new();
    while !reports.is_empty() {
        let size = reports.len().min(APPLIED_AT_ONCE);
        let (chunk, rest) = reports.split_at(size);
        let last = chunk.last().map(|it| &it.said.source);
        let more = rest.iter().take_while(|it| Some(&it.said.source) == last).count();
        let (chunk, rest) = reports.split_at(size + more);
        chunks.push(chunk);
        reports = rest;
    }
    chunks
}

/// A collector's position in a rail's reports.
#[derive(Debug, Default)]
struct Place {
    /// Since when the lease has been held without renewal.
    held_since: Option<Timestamp>,
    /// The cursor after all applied reports; `None` = to be read.
    cursor: Option<Option<String>>,
    /// When the stored cursor fell behind `cursor`; `None` = it is current.
    behind_since: Option<Timestamp>,
    silence: Silence,
    conditions: Conditions,
}

pub(super) async fn collect(workers: Arc<Workers>, rail: Arc<dyn Rail>, mut stop: Stop) {
    let role = format!("collect:{}", rail.id());
    let mut place = Place::default();
    while !*stop.borrow() {
        if !workers.holds(&role, &mut place).await {
            workers.pause(RETRY, &mut stop).await;
            continue;
        }
        let begun = workers.clock().now();
        let round = workers.collect_page(rail.as_ref(), &mut place);
        let fetched = tokio::select! {
            biased;
            fetched = round => fetched,
            _ = stop.wait_for(|stop| *stop) => break,
        };
        if !matches!(fetched, Err(Missed::ByStore)) {
            workers.heard(rail.as_ref(), fetched.is_ok(), &mut place).await;
        }
        if fetched.is_ok() {
            workers.rest(begun, &mut stop).await;
        } else {
            place.cursor = None;
            workers.pause(RETRY, &mut stop).await;
        }
    }
    workers.store_place(rail.as_ref(), &mut place).await;
    workers.hand_on(&role).await;
}

impl Workers {
    /// Whether this node collects the rail's reports. The lease is renewed long before it expires.
    async fn holds(&self, role: &str, place: &mut Place) -> bool {
        let (now, lease) = (self.clock().now(), self.world.tuning.lease);
        if place.held_since.is_some_and(|since| now - since < Span(lease.0 / RENEWALS_PER_LEASE)) {
            return true;
        }
        // Two concurrent collectors do no harm: a known report changes nothing.
        let held = match self.store.lease_role(role, &self.owner, lease).await {
            Ok(held) => held.is_some(),
            Err(error) if self.outage.counts(&error, role) => false,
            Err(error) => {
                tracing::warn!(%error, role, "collector lease acquisition failed, will retry");
                false
            }
        };
        if !held || place.held_since.is_none() {
            *place = Place::default();
        }
        place.held_since = held.then_some(now);
        held
    }

    /// Fetches and applies one page from the stored cursor; returns whether the rail answered and
    /// the cursor was stored.
    pub(super) async fn collect_once(&self, rail: &dyn Rail) -> bool {
        let mut place = Place::default();
        self.collect_page(rail, &mut place).await.is_ok()
            && self.store_place(rail, &mut place).await
    }

    /// Operators learn of a rail whose returns and statements do not arrive.
    async fn heard(&self, rail: &dyn Rail, answered: bool, place: &mut Place) {
        let alert = place.silence.alert(answered, self.clock().now());
        let what = || unfetched(&rail.id().0);
        self.alert_of_rail(alert, what).await;
    }

    async fn collect_page(&self, rail: &dyn Rail, place: &mut Place) -> Result<(), Missed> {
        if place.cursor.is_none() {
            match self.store.rail_cursor(rail.id()).await {
                Ok(cursor) => (place.cursor, place.behind_since) = (Some(cursor), None),
                Err(error) => {
                    tracing::warn!(%error, rail = %rail.id(), "report cursor read failed, will retry");
                    return Err(Missed::ByStore);
                }
            }
        }
        let failed = |fault: RailFault| {
            tracing::warn!(%fault, "rail report fetch failed, will retry");
            measure::rail_fault(rail.id());
            Missed::ByRail
        };
        let cursor = place.cursor.as_ref().and_then(Option::as_deref);
        let page = rail.collect(cursor).await.map_err(failed)?;
        failpoint::reach(Failpoint::BeforeReports);
        if !self.take_in(rail, &page).await {
            return Err(Missed::ByStore);
        }
        self.take_conditions(rail.id(), &page.conditions, &mut place.conditions).await;
        rail.confirm_stored().await.map_err(failed)?;
        if !page.is_empty() && page.cursor.as_deref().is_some_and(|next| Some(next) == cursor) {
            // Otherwise the next fetch would begin before it, and seem to go on.
            if !self.store_place(rail, place).await {
                return Err(Missed::ByStore);
            }
            let reason =
                "its page ends where it begins: what follows would never be fetched".to_owned();
            return Err(failed(RailFault { rail: rail.id().clone(), reason }));
        }
        let now = self.clock().now();
        let stored = match page.cursor {
            Some(cursor) => {
                place.cursor = Some(Some(cursor));
                let since = *place.behind_since.get_or_insert(now);
                // During consecutive pages the cursor is stored only occasionally: a crash fetches
                // some pages again.
                now - since < STORED_AFTER || self.store_place(rail, place).await
            }
            None => self.store_place(rail, place).await,
        };
        if stored { Ok(()) } else { Err(Missed::ByStore) }
    }

    /// Stores the cursor of the applied reports if it has changed.
    async fn store_place(&self, rail: &dyn Rail, place: &mut Place) -> bool {
        let (Some(Some(cursor)), Some(_)) = (&place.cursor, place.behind_since) else {
            return true;
        };
        failpoint::reach(Failpoint::BeforeCursor);
        match self.store.set_rail_cursor(rail.id(), cursor).await {
            Ok(()) => {
                failpoint::reach(Failpoint::AfterCursor);
                place.behind_since = None;
                true
            }
            Err(error) => {
                tracing::warn!(%error, rail = %rail.id(), "report cursor write failed, reports will be fetched again");
                false
            }
        }
    }

    /// Applies what a rail reported; `false` if it must be fetched, or sent, again.
    pub async fn take_in(&self, rail: &dyn Rail, page: &Reports) -> bool {
        let mut strays: Vec<UnmatchedContent> =
            page.unreadable.iter().cloned().map(UnmatchedContent::from).collect();
        for what in &page.unreadable {
            tracing::warn!(rail = %rail.id(), %what, "rail report parsing failed");
            metrics::counter!("corridor_unreadable_reports_total", "rail" => rail.id().to_string())
                .increment(1);
        }
        for some in messages(&page.reports) {
            let Some(found) = self.matched(rail, some, &mut strays).await else { return false };
            for some in found.chunks(APPLIED_AT_ONCE) {
                let applied = some.iter().map(|(owner, report)| self.take_report(*owner, report));
                for taken in join_all(applied).await {
                    match taken {
                        Taken::Applied => {}
                        Taken::UnmatchedReport(what) => strays.push(what),
                        Taken::Not => return false,
                    }
                }
            }
        }
        // After the reports: by then the data that a statement refers to is known.
        let kept = match self.take_statements(rail, &page.statements, &mut strays).await {
            Ok(false) => return false,
            Ok(true) => self.keep_strays(rail, &strays).await,
            Err(error) => Err(error),
        };
        if let Err(error) = &kept {
            tracing::warn!(%error, rail = %rail.id(), "rail notice write failed, reports will be fetched again");
        }
        kept.is_ok()
    }

    /// The reports of some messages to apply, each with the payment or exchange order that it is about;
    /// `None` if they must be fetched again. All are looked up before the first is applied: a rail's
    /// reports of one payment are applied in order.
    async fn matched(
        &self,
        rail: &dyn Rail,
        reports: &[BankReport],
        strays: &mut Vec<UnmatchedContent>,
    ) -> Option<Vec<((TenantId, PaymentId), RailReport)>> {
        let mut found = Vec::with_capacity(reports.len());
        let mut unknown = Vec::new();
        for some in reports.chunks(APPLIED_AT_ONCE) {
            let ids = some.iter().flat_map(BankReport::ids);
            let candidates = match self.store.rail_candidates(rail.id(), ids).await {
                Ok(candidates) => candidates,
                Err(error) => {
                    tracing::warn!(%error, "attempt read failed, reports will be fetched again");
                    return None;
                }
            };
            for report in some {
                match report.of_attempts(&candidates) {
                    Ok(of) => found.extend(
                        of.into_iter().map(|(it, report)| ((it.tenant, it.payment), report)),
                    ),
                    Err(Unmatched::Nothing) => unknown.push(report),
                    Err(why) => strays.push(unmatched(rail, report, &why).into()),
                }
            }
        }
        if !self.take_unmatched(rail, &unknown, strays).await {
            return None;
        }
        let contradictory = rail::contradictory(found.iter().map(|(_, report)| report));
        found.retain(|(_, report)| {
            let is_sure = contradictory.is_empty()
                || !contradictory.contains(&(report.attempt, report.source.clone()));
            if !is_sure && report.status == RailStatus::Rejected {
                let what = told(report, "the message accepts it further on");
                strays.push(what.into());
            }
            is_sure
        });
        Some(found)
    }

    /// Applies one report. The engine receives the command on the first poll.
    async fn take_report(
        &self,
        (tenant, payment): (TenantId, PaymentId),
        report: &RailReport,
    ) -> Taken {
        let action = Action::Payment(payment, PaymentAction::Report(report.clone()));
        let applied = match self.apply(tenant, payment, action).await {
            Some(Outcome::Refused(Refused::NotFound)) if self.world.wallet.is_some() => {
                self.take_payout_report(tenant, payment, report).await
            }
            applied => applied,
        };
        let stray = |why: &str| {
            Taken::UnmatchedReport(UnmatchedContent {
                what: told(report, why),
                owner: Some(tenant),
            })
        };
        match applied {
            None => Taken::Not,
            Some(Outcome::Panicked) => stray("the report could not be applied to the attempt"),
            Some(Outcome::Refused(why)) => stray(&format!("the report was refused: {why}")),
            Some(_) => Taken::Applied,
        }
    }

    /// Applies a report about a payout of an exchange order.
    async fn take_payout_report(
        &self,
        tenant: TenantId,
        payment: PaymentId,
        report: &RailReport,
    ) -> Option<Outcome> {
        let order = match self.store.exchange(tenant, ExchangeId(payment.0)).await {
            Ok(Some(order)) => order,
            Ok(None) => return Some(Outcome::Refused(Refused::NotFound)),
            Err(error) => {
                tracing::warn!(%error, order = %payment, "order read failed, report will be fetched again");
                return None;
            }
        };
        let action = Action::Exchange(OrderKey::of(&order), ExchangeAction::Report(report.clone()));
        match self.apply(tenant, payment, action).await {
            // Its related records differ from those read: try again.
            Some(Outcome::Refused(Refused::Moved)) | None => None,
            applied => applied,
        }
    }

    /// The outcome of a report's command; `None` if it must be fetched again.
    pub(super) async fn apply(
        &self,
        tenant: TenantId,
        payment: PaymentId,
        action: Action,
    ) -> Option<Outcome> {
        match self.engine.execute(Command { tenant, action }).await {
            Ok(outcome) => Some(outcome),
            Err(EngineError::Internal) => {
                // It would panic again: log and count it, and do not let it block the reports after
                // it.
                tracing::error!(%payment, "rail report could not be applied");
                Some(Outcome::Panicked)
            }
            Err(error) => {
                tracing::warn!(%payment, %error, "rail report processing failed, will be fetched again");
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use domain::ids::AttemptId;
    use uuid::Uuid;

    use super::*;

    #[test]
    fn no_message_is_split() {
        let of = |source: &str, count: usize| {
            let report = BankReport::from(RailReport {
                attempt: AttemptId(Uuid::from_u128(7)),
                status: RailStatus::Received,
                reason: None,
                further_reasons: Vec::new(),
                info: None,
                bank_reference: None,
                return_id: None,
                amount: None,
                charges: None,
                source: source.to_owned(),
            });
            vec![report; count]
        };
        let sizes = |page: &[(&str, usize)]| -> Vec<usize> {
            let reports: Vec<_> = page.iter().flat_map(|(it, count)| of(it, *count)).collect();
            let chunks = messages(&reports);
            assert_eq!(chunks.concat(), reports);
            chunks.iter().map(|chunk| chunk.len()).collect()
        };
        assert_eq!(sizes(&[]), [0; 0]);
        assert_eq!(sizes(&[("a", 1), ("b", 255)]), [256]);
        assert_eq!(sizes(&[("a", 300)]), [300]);
        assert_eq!(sizes(&[("a", 256), ("b", 3)]), [256, 3]);
        assert_eq!(sizes(&[("a", 200), ("b", 100), ("c", 300)]), [300, 300]);
        assert_eq!(sizes(&[("a", 1), ("b", 600), ("c", 9)]), [601, 9]);
    }
}
