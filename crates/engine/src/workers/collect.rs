//! Fetches the reports that a rail keeps for us. One node at a time per rail; reports are applied before the rail is
//! told that they are safe, so a crash brings them again and nothing is lost.

use std::sync::Arc;

use domain::ids::{PaymentId, TenantId};
use domain::ports::Rail;
use domain::rail::{RailReport, Reports};
use domain::time::Span;
use futures_util::future::join_all;

use super::{Stop, Workers};
use crate::batcher::EngineError;
use crate::command::{Action, Command, PaymentAction};
use crate::failpoint::{self, Failpoint};
use crate::planted::{self, Planted};

/// Wait before a rail is tried again after it failed, or before the role is asked for again.
const RETRY: Span = Span::secs(2);
/// Reports applied at once.
const APPLIED_AT_ONCE: usize = 256;

pub(super) async fn collect(workers: Arc<Workers>, rail: Arc<dyn Rail>, mut stop: Stop) {
    let role = format!("collect:{}", rail.id());
    while !*stop.borrow() {
        // Two nodes that collect at the same time do no harm: a report that is known already changes nothing.
        match workers.store.lease_role(&role, &workers.owner, workers.world.tuning.lease).await {
            Ok(Some(_)) => {}
            Ok(None) => {
                workers.pause(RETRY, &mut stop).await;
                continue;
            }
            Err(error) => {
                tracing::warn!(%error, rail = %rail.id(), "the collector's role cannot be asked for now");
                workers.pause(RETRY, &mut stop).await;
                continue;
            }
        }
        let round = workers.collect_once(rail.as_ref());
        let fetched = tokio::select! {
            biased;
            fetched = round => fetched,
            _ = stop.wait_for(|stop| *stop) => break,
        };
        if !fetched {
            workers.pause(RETRY, &mut stop).await;
        }
    }
    workers.hand_on(&role).await;
}

impl Workers {
    /// Fetches and applies one page; whether the rail could be reached and the page was stored.
    pub(super) async fn collect_once(&self, rail: &dyn Rail) -> bool {
        let cursor = match self.store.rail_cursor(rail.id()).await {
            Ok(cursor) => cursor,
            Err(error) => {
                tracing::warn!(%error, rail = %rail.id(), "the report cursor cannot be read now");
                return false;
            }
        };
        match rail.collect(cursor.as_deref()).await {
            Ok(page) => {
                failpoint::reach(Failpoint::BeforeReports);
                self.take_in(rail, page).await
            }
            Err(fault) => {
                tracing::warn!(%fault, "reports cannot be fetched");
                metrics::counter!("corridor_rail_faults_total", "rail" => rail.id().to_string()).increment(1);
                false
            }
        }
    }

    async fn take_in(&self, rail: &dyn Rail, page: Reports) -> bool {
        for what in &page.unreadable {
            tracing::warn!(rail = %rail.id(), %what, "a report cannot be understood");
            metrics::counter!("corridor_unreadable_reports_total", "rail" => rail.id().to_string()).increment(1);
        }
        if let (true, Some(cursor)) = (planted::is(Planted::CursorBeforeReports), &page.cursor) {
            // The bug itself: whether it was stored does not matter to it.
            let _stored = self.store.set_rail_cursor(rail.id(), cursor).await;
        }
        for some in page.reports.chunks(APPLIED_AT_ONCE) {
            // All are looked up before the first is applied: what a rail says of one payment is applied in its order.
            let owners = join_all(some.iter().map(|report| self.owner(rail, report))).await;
            let applied = some.iter().zip(owners).map(|(report, owner)| self.take_report(report, owner));
            let applied = join_all(applied).await;
            if applied.contains(&false) {
                return false;
            }
        }
        let Some(cursor) = page.cursor else { return true };
        failpoint::reach(Failpoint::BeforeCursor);
        match self.store.set_rail_cursor(rail.id(), &cursor).await {
            Ok(()) => {
                failpoint::reach(Failpoint::AfterCursor);
                true
            }
            Err(error) => {
                tracing::warn!(%error, rail = %rail.id(), "the report cursor cannot be stored now");
                false
            }
        }
    }

    /// Whose attempt a report is about: `Ok(None)` for nobody's, `Err(())` where it must come again.
    async fn owner(&self, rail: &dyn Rail, report: &RailReport) -> Result<Option<(TenantId, PaymentId)>, ()> {
        match self.store.attempt_owner(rail.id(), report.attempt).await {
            Ok(Some(owner)) => Ok(Some(owner)),
            Ok(None) => {
                tracing::warn!(rail = %rail.id(), attempt = %report.attempt, source = %report.source, "a report is about no attempt of this rail");
                metrics::counter!("corridor_foreign_reports_total", "rail" => rail.id().to_string()).increment(1);
                Ok(None)
            }
            Err(error) => {
                tracing::warn!(%error, "the owner of a report cannot be read now");
                Err(())
            }
        }
    }

    /// Applies one report; `false` where it must come again. The engine has the command as soon as this is polled.
    async fn take_report(&self, report: &RailReport, owner: Result<Option<(TenantId, PaymentId)>, ()>) -> bool {
        let (tenant, payment) = match owner {
            Ok(Some(owner)) => owner,
            Ok(None) => return true,
            Err(()) => return false,
        };
        let action = Action::Payment(payment, PaymentAction::Report(report.clone()));
        match self.engine.execute(Command { tenant, action }).await {
            Ok(_) => true,
            Err(EngineError::Internal) => {
                // It would panic again: it is logged, counted, and not allowed to hold up every report behind it.
                tracing::error!(%payment, "a report could not be applied");
                true
            }
            Err(error) => {
                tracing::warn!(%payment, %error, "a report was not taken; it will be fetched again");
                false
            }
        }
    }
}
