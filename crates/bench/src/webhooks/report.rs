//! The report of `bench webhooks`, as text and as JSON.

use std::time::Duration;

use domain::decimal::{Decimal, Rounding};
use http_api::write;

use super::super::figures::{per_second, whole, yes};
use super::checks::Checks;
use super::plain::Plain;
use super::receiver::Received;
use super::{WebhooksSettings, span};

/// Decimals of the ratio.
const RATIO_DECIMALS: u32 = 2;

/// The result of a run.
#[derive(Clone, Debug)]
pub struct WebhooksReport {
    store: &'static str,
    requests: u64,
    deliveries: u64,
    /// From the first webhook to the last.
    span: Duration,
    plain: Plain,
    checks: Checks,
}

impl WebhooksReport {
    pub(super) fn new(
        settings: &WebhooksSettings,
        store: &'static str,
        received: &Received,
        plain: Plain,
        checks: Checks,
    ) -> WebhooksReport {
        let deliveries = received.requests.len() as u64;
        WebhooksReport {
            store,
            requests: settings.requests as u64,
            deliveries,
            span: span(received),
            plain,
            checks,
        }
    }

    /// Why the run is invalid, if it is.
    pub fn failure(&self) -> Option<String> {
        self.checks.failure()
    }

    fn per_s(&self) -> Decimal {
        per_second(self.deliveries, self.span)
    }

    fn plain_per_s(&self) -> Decimal {
        per_second(self.plain.sent, self.plain.took)
    }

    /// Deliveries per request of the plain client; `None` = it sent none.
    fn ratio(&self) -> Option<Decimal> {
        self.per_s().checked_div(self.plain_per_s(), RATIO_DECIMALS, Rounding::HalfEven)
    }

    pub fn json(&self) -> Vec<u8> {
        write::object(|out| {
            out.text("bench", "webhooks");
            out.text("store", self.store);
            whole(out, "payment_requests", self.requests);
            whole(out, "deliveries", self.deliveries);
            out.number("deliveries_per_s", self.per_s());
            out.number("plain_per_s", self.plain_per_s());
            out.number_or_null("ratio", self.ratio());
            whole(out, "events", self.checks.events);
            whole(out, "received", self.checks.received);
            whole(out, "repeated", self.checks.repeated);
            whole(out, "out_of_order", self.checks.out_of_order);
            whole(out, "not_genuine", self.checks.refused);
            whole(out, "undelivered", self.checks.undelivered);
            out.flag("all_delivered", self.checks.failure().is_none());
        })
    }

    /// Names and values for display.
    pub fn rows(&self) -> Vec<(&'static str, String)> {
        let ratio = self.ratio().map_or_else(String::new, |ratio| format!(": {ratio} of it"));
        vec![
            ("store", self.store.to_owned()),
            (
                "load",
                format!("{} events of {} payment requests", self.checks.wanted, self.requests),
            ),
            ("deliveries/s", self.per_s().to_string()),
            ("plain client", format!("{} requests/s{ratio}", self.plain_per_s())),
            ("received", format!("{}, {} repeated", self.checks.received, self.checks.repeated)),
            ("out of order", self.checks.out_of_order.to_string()),
            ("not genuine", self.checks.refused.to_string()),
            ("all delivered", yes(self.checks.failure().is_none()).to_owned()),
        ]
    }
}
