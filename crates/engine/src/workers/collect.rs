//! Fetches the reports that a rail keeps for us. One node at a time per rail; reports are applied before the rail is
//! told that they are safe, so a crash brings them again and nothing is lost.

use std::sync::Arc;

use domain::ids::{ExchangeId, PaymentId, TenantId};
use domain::ports::Rail;
use domain::rail::{About, BankReport, RailReport, Reports, Said};
use domain::rail_ids::Unmatched;
use domain::time::{Span, Timestamp};
use futures_util::future::join_all;

use super::{Stop, Workers};
use crate::batcher::EngineError;
use crate::command::exchange::{ExchangeAction, OrderKey};
use crate::command::{Action, Command, Outcome, PaymentAction, Refused};
use crate::failpoint::{self, Failpoint};
use crate::planted::{self, Planted};

/// Wait before a rail is tried again after it failed, or before the role is asked for again.
const RETRY: Span = Span::secs(2);
/// How long the stored place in a rail's reports may lag behind what was applied.
const STORED_AFTER: Span = Span::millis(500);
/// The role is renewed this often during its lease.
const RENEWALS_PER_LEASE: i64 = 4;
/// Reports applied at once.
const APPLIED_AT_ONCE: usize = 256;

/// What became of a report.
enum Taken {
    /// It is applied, or says nothing new, or is noted where it contradicts what is known.
    Applied,
    /// It is about nothing of ours: it is kept as it came.
    Stray(String),
    /// It must come again.
    Not,
}

/// A report in words, for a person: which message said what of which attempt.
fn told(report: &RailReport, about: &str) -> String {
    let amount = report.amount.map_or_else(String::new, |amount| format!(" over {amount}"));
    let reference = report.bank_reference.as_ref().map_or_else(String::new, |text| format!(", reference {text}"));
    let (source, status, attempt) = (&report.source, &report.status, report.attempt);
    format!("{source} reports {status:?}{amount} of {attempt}{reference}: {about}")
}

/// A report that is about no attempt of ours, for a person.
fn unmatched(rail: &dyn Rail, report: &BankReport, why: &Unmatched) -> String {
    let Said { status, amount, source, reasons, .. } = &report.said;
    tracing::warn!(rail = %rail.id(), source, %why, "rail report matches no attempt, operator alert raised");
    metrics::counter!("corridor_foreign_reports_total", "rail" => rail.id().to_string()).increment(1);
    let over = amount.map_or_else(String::new, |amount| format!(" over {amount}"));
    let reason = reasons.first().map_or_else(String::new, |code| format!(" ({code})"));
    let about = match &report.about {
        About::One(ids) => ids.told(),
        About::Rest { of, .. } | About::Batch { of, .. } => format!("all of {}", of.told()),
    };
    format!("{source} reports {status:?}{reason}{over} of {about}: {why}")
}

/// How far a collector is with a rail's reports.
#[derive(Debug, Default)]
struct Place {
    /// Since when the role has been held without asking again.
    held_since: Option<Timestamp>,
    /// The position behind everything that was applied; `None` = not known, to be read.
    cursor: Option<Option<String>>,
    /// When the stored position fell behind `cursor`; `None` = it has not.
    behind_since: Option<Timestamp>,
}

pub(super) async fn collect(workers: Arc<Workers>, rail: Arc<dyn Rail>, mut stop: Stop) {
    let role = format!("collect:{}", rail.id());
    let mut place = Place::default();
    while !*stop.borrow() {
        if !workers.holds(&role, &mut place).await {
            workers.pause(RETRY, &mut stop).await;
            continue;
        }
        let round = workers.collect_page(rail.as_ref(), &mut place);
        let fetched = tokio::select! {
            biased;
            fetched = round => fetched,
            _ = stop.wait_for(|stop| *stop) => break,
        };
        if !fetched {
            place.cursor = None;
            workers.pause(RETRY, &mut stop).await;
        }
    }
    workers.store_place(rail.as_ref(), &mut place).await;
    workers.hand_on(&role).await;
}

impl Workers {
    /// Whether this node collects the rail's reports. The role is asked for again long before its lease runs out.
    async fn holds(&self, role: &str, place: &mut Place) -> bool {
        let (now, lease) = (self.clock().now(), self.world.tuning.lease);
        if place.held_since.is_some_and(|since| now - since < Span(lease.0 / RENEWALS_PER_LEASE)) {
            return true;
        }
        // Two nodes that collect at the same time do no harm: a report that is known already changes nothing.
        let held = match self.store.lease_role(role, &self.owner, lease).await {
            Ok(held) => held.is_some(),
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

    /// Fetches and applies one page, from where the store says; whether the rail could be reached and the place stored.
    pub(super) async fn collect_once(&self, rail: &dyn Rail) -> bool {
        let mut place = Place::default();
        self.collect_page(rail, &mut place).await && self.store_place(rail, &mut place).await
    }

    async fn collect_page(&self, rail: &dyn Rail, place: &mut Place) -> bool {
        if place.cursor.is_none() {
            match self.store.rail_cursor(rail.id()).await {
                Ok(cursor) => (place.cursor, place.behind_since) = (Some(cursor), None),
                Err(error) => {
                    tracing::warn!(%error, rail = %rail.id(), "report cursor read failed, will retry");
                    return false;
                }
            }
        }
        let page = match rail.collect(place.cursor.as_ref().and_then(Option::as_deref)).await {
            Ok(page) => page,
            Err(fault) => {
                tracing::warn!(%fault, "rail report fetch failed, will retry");
                metrics::counter!("corridor_rail_faults_total", "rail" => rail.id().to_string()).increment(1);
                return false;
            }
        };
        failpoint::reach(Failpoint::BeforeReports);
        if !self.take_in(rail, &page).await {
            return false;
        }
        let now = self.clock().now();
        match page.cursor {
            Some(cursor) => {
                place.cursor = Some(Some(cursor));
                let since = *place.behind_since.get_or_insert(now);
                // While page follows page the place is stored now and then only: a crash brings some pages again.
                now - since < STORED_AFTER || self.store_place(rail, place).await
            }
            None => self.store_place(rail, place).await,
        }
    }

    /// Stores how far the reports are applied, where that is not known yet.
    async fn store_place(&self, rail: &dyn Rail, place: &mut Place) -> bool {
        let (Some(Some(cursor)), Some(_)) = (&place.cursor, place.behind_since) else { return true };
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

    /// Applies a page; `false` where it must come again.
    async fn take_in(&self, rail: &dyn Rail, page: &Reports) -> bool {
        let mut strays = page.unreadable.clone();
        for what in &page.unreadable {
            tracing::warn!(rail = %rail.id(), %what, "rail report parsing failed");
            metrics::counter!("corridor_unreadable_reports_total", "rail" => rail.id().to_string()).increment(1);
        }
        if let (true, Some(cursor)) = (planted::is(Planted::CursorBeforeReports), &page.cursor) {
            // The bug itself: whether it was stored does not matter to it.
            let _stored = self.store.set_rail_cursor(rail.id(), cursor).await;
        }
        for some in page.reports.chunks(APPLIED_AT_ONCE) {
            // All are looked up before the first is applied: what a rail says of one payment is applied in its order.
            let ids = some.iter().flat_map(BankReport::ids);
            let candidates = match self.store.rail_candidates(rail.id(), ids).await {
                Ok(candidates) => candidates,
                Err(error) => {
                    tracing::warn!(%error, "attempt read failed, reports will be fetched again");
                    return false;
                }
            };
            let mut found = Vec::with_capacity(some.len());
            for report in some {
                match report.of_attempts(&candidates) {
                    Ok(of) => found.extend(of.into_iter().map(|(it, report)| ((it.tenant, it.payment), report))),
                    Err(why) => strays.push(unmatched(rail, report, &why)),
                }
            }
            let applied = found.iter().map(|(owner, report)| self.take_report(*owner, report));
            for taken in join_all(applied).await {
                match taken {
                    Taken::Applied => {}
                    Taken::Stray(what) => strays.push(what),
                    Taken::Not => return false,
                }
            }
        }
        // Behind the reports: what a statement says of them is known by then.
        let kept = match self.take_statements(rail, &page.statements, &mut strays).await {
            Ok(()) => self.keep_strays(rail, &strays).await,
            Err(error) => Err(error),
        };
        if let Err(error) = &kept {
            tracing::warn!(%error, rail = %rail.id(), "rail notice write failed, reports will be fetched again");
        }
        kept.is_ok()
    }

    /// Applies one report. The engine has the command as soon as this is polled.
    async fn take_report(&self, (tenant, payment): (TenantId, PaymentId), report: &RailReport) -> Taken {
        let action = Action::Payment(payment, PaymentAction::Report(report.clone()));
        let applied = match self.apply(tenant, payment, action).await {
            Some(Outcome::Refused(Refused::NotFound)) if self.world.wallet.is_some() => {
                self.take_payout_report(tenant, payment, report).await
            }
            applied => applied,
        };
        match applied {
            None => Taken::Not,
            Some(Outcome::Panicked) => Taken::Stray(told(report, "an attempt that it could not be applied to")),
            Some(Outcome::Refused(why)) => Taken::Stray(told(report, &format!("an attempt that refuses it: {why}"))),
            Some(_) => Taken::Applied,
        }
    }

    /// Applies a report about an attempt that pays no payment out, but an exchange order.
    async fn take_payout_report(&self, tenant: TenantId, payment: PaymentId, report: &RailReport) -> Option<Outcome> {
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
            // It belongs to other things by now than were read: once more.
            Some(Outcome::Refused(Refused::Moved)) | None => None,
            applied => applied,
        }
    }

    /// What came of a report's command; `None` where it must come again.
    async fn apply(&self, tenant: TenantId, payment: PaymentId, action: Action) -> Option<Outcome> {
        match self.engine.execute(Command { tenant, action }).await {
            Ok(outcome) => Some(outcome),
            Err(EngineError::Internal) => {
                // It would panic again: it is logged, counted, and not allowed to hold up every report behind it.
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
