//! Alerts that end by themselves, with the next action that shows that their cause is over.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use domain::ids::TenantId;
use domain::time::{Span, Timestamp};
use domain::wallet_effects::Alert;
use uuid::Uuid;

use super::Workers;
use crate::alerts;

/// Another process may have raised an alert: it is ended again after this time, without being known
/// to be open.
const ENDED_EVERY: Span = Span::mins(1);

/// When this process last ended each alert, by its id.
#[derive(Debug, Default)]
pub(super) struct Passing(Mutex<BTreeMap<Uuid, Timestamp>>);

impl Passing {
    fn raised(&self, alert: &Alert) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&alert.id());
    }

    /// The cause is over; returns whether to end the alert.
    fn is_over(&self, alert: &Alert, now: Timestamp) -> bool {
        let mut ended = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let last = ended.get(&alert.id()).copied();
        let is_due = last.is_none_or(|last| last > now || now - last >= ENDED_EVERY);
        if is_due {
            ended.insert(alert.id(), now);
        }
        is_due
    }
}

impl Workers {
    /// Raises an alert until [`Workers::ends`].
    pub(super) async fn raise_until_over(&self, tenant: TenantId, alert: Alert) {
        self.passing.raised(&alert);
        self.raise(tenant, alert).await;
    }

    /// Ends the alerts about the subject of `name` that are over. `name` identifies the question, which
    /// is asked once a minute.
    pub(super) async fn ends_where(
        &self,
        tenant: TenantId,
        name: &Alert,
        is_over: impl Fn(&Alert) -> bool,
    ) {
        if self.passing.is_over(name, self.clock().now()) {
            alerts::end_about(&self.store, (tenant, name.subject), is_over).await;
        }
    }

    /// Ends an alert if it is open.
    pub(super) async fn ends(&self, tenant: TenantId, alert: &Alert) {
        if self.passing.is_over(alert, self.clock().now()) {
            alerts::end(&self.store, tenant, alert).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use domain::wallet_effects::AlertKind;

    use super::*;

    #[test]
    fn an_alert_is_ended_when_it_was_raised_and_once_a_minute_otherwise() {
        let (passing, start) = (Passing::default(), Timestamp(0));
        let alert = |what: &str| Alert {
            kind: AlertKind::LowGas,
            subject: Uuid::from_u128(1),
            what: what.to_owned(),
        };
        assert!(passing.is_over(&alert("one"), start), "another process may have raised it");
        assert!(!passing.is_over(&alert("one"), start + Span::secs(59)));
        assert!(passing.is_over(&alert("other"), start + Span::secs(59)));
        passing.raised(&alert("one"));
        assert!(passing.is_over(&alert("one"), start + Span::secs(59)));
        assert!(passing.is_over(&alert("one"), start + Span::secs(119)));
        assert!(passing.is_over(&alert("one"), start), "the clock was set back");
    }
}
