//! The report of `bench payments`, as text and as JSON.

use std::time::{Duration, Instant};

use domain::decimal::Decimal;
use http_api::write;

use super::Settings;
use super::checks::Checks;
use super::exposition::Sizes;
use super::figures::{Quantiles, ms, per_second, plain, whole, yes};
use super::load::Tally;

/// State of the server and its store at one instant.
#[derive(Clone, Debug)]
pub(super) struct Moment {
    pub(super) at: Instant,
    /// Payments answered with 200 so far.
    pub(super) accepted: u64,
    /// Payments that are not complete.
    pub(super) backlog: u64,
    /// Commands per batch so far.
    pub(super) batches: Sizes,
}

/// Readings taken outside of the clients.
#[derive(Clone, Debug)]
pub(super) struct Meter {
    /// At the start of measuring.
    pub(super) before: Moment,
    /// At the end of measuring.
    pub(super) after: Moment,
    /// How long the remaining payments took to settle.
    pub(super) drain: Duration,
    /// Payments that were still not complete then.
    pub(super) left: u64,
}

impl Meter {
    pub(super) fn settled_per_s(&self) -> Decimal {
        // An accepted payment without a job is complete.
        let ended = |moment: &Moment| moment.accepted.saturating_sub(moment.backlog);
        let settled = ended(&self.after).saturating_sub(ended(&self.before));
        per_second(settled, self.after.at - self.before.at)
    }
}

/// The result of a run.
#[derive(Clone, Debug)]
pub struct Report {
    clients: u64,
    tenants: u64,
    seconds: u64,
    open_loop: Option<u64>,
    preload: u64,
    store: &'static str,
    pairs: u64,
    pair_us: Quantiles,
    quote_us: Quantiles,
    payment_us: Quantiles,
    settled_per_s: Decimal,
    backlog: u64,
    drain_ms: u64,
    left: u64,
    batches: u64,
    batch_p50: Option<u64>,
    errors: Vec<(String, u64)>,
    checks: Checks,
}

impl Report {
    pub(super) fn new(
        settings: &Settings,
        store: &'static str,
        meter: &Meter,
        tally: &Tally,
        checks: Checks,
    ) -> Report {
        let batches = meter.after.batches.since(&meter.before.batches);
        Report {
            clients: settings.clients as u64,
            tenants: settings.tenants as u64,
            seconds: settings.seconds,
            open_loop: settings.open_loop,
            preload: settings.preload,
            store,
            pairs: tally.pairs.len(),
            pair_us: Quantiles::of(&tally.pairs),
            quote_us: Quantiles::of(&tally.quotes),
            payment_us: Quantiles::of(&tally.payments),
            settled_per_s: meter.settled_per_s(),
            backlog: meter.after.backlog,
            drain_ms: u64::try_from(meter.drain.as_millis()).unwrap_or(u64::MAX),
            left: meter.left,
            batches: batches.count(),
            batch_p50: batches.median(),
            errors: tally.errors.iter().map(|(kind, count)| (kind.clone(), *count)).collect(),
            checks,
        }
    }

    /// Why the run is invalid, if it is.
    pub fn failure(&self) -> Option<String> {
        self.checks.failure().or_else(|| {
            (self.pairs == 0).then(|| format!("no pair was completed: {:?}", self.errors))
        })
    }

    fn payments_per_s(&self) -> Decimal {
        per_second(self.pairs, Duration::from_secs(self.seconds))
    }

    fn error_count(&self) -> u64 {
        self.errors.iter().map(|(_, count)| count).sum()
    }

    pub fn json(&self) -> Vec<u8> {
        write::object(|out| {
            out.text("bench", "payments");
            out.text("store", self.store);
            whole(out, "clients", self.clients);
            whole(out, "tenants", self.tenants);
            whole(out, "seconds", self.seconds);
            whole(out, "preload", self.preload);
            out.number_or_null(
                "open_loop",
                self.open_loop.map(|rate| Decimal::new(rate.into(), 0)),
            );
            out.number("payments_per_s", self.payments_per_s());
            out.number("p50_ms", ms(self.pair_us.p50));
            out.number("p99_ms", ms(self.pair_us.p99));
            out.number("p999_ms", ms(self.pair_us.p999));
            out.number("max_ms", ms(self.pair_us.max));
            out.number("quote_p50_ms", ms(self.quote_us.p50));
            out.number("quote_p99_ms", ms(self.quote_us.p99));
            out.number("payment_p50_ms", ms(self.payment_us.p50));
            out.number("payment_p99_ms", ms(self.payment_us.p99));
            out.number("payment_p999_ms", ms(self.payment_us.p999));
            whole(out, "pairs", self.pairs);
            out.number_or_null(
                "batch_p50",
                self.batch_p50.map(|size| Decimal::new(size.into(), 0)),
            );
            whole(out, "batches", self.batches);
            out.number("settled_per_s", self.settled_per_s);
            whole(out, "backlog", self.backlog);
            whole(out, "drain_ms", self.drain_ms);
            whole(out, "not_settled", self.left);
            whole(out, "errors", self.error_count());
            out.object("errors_by_kind", |kinds| {
                self.errors.iter().for_each(|(kind, count)| whole(kinds, &plain(kind), *count))
            });
            whole(out, "accepted", self.checks.answered);
            whole(out, "unclear", self.checks.unclear);
            whole(out, "rows", self.checks.rows);
            whole(out, "rows_compared", self.checks.compared);
            out.flag("answers_agree", self.checks.agree());
            out.flag("ledger_balances", self.checks.balanced());
        })
    }

    /// Names and values for display.
    pub fn rows(&self) -> Vec<(&'static str, String)> {
        let errors = self
            .errors
            .iter()
            .map(|(kind, count)| format!("{count} x {kind}"))
            .collect::<Vec<_>>()
            .join("; ");
        let loop_kind = self
            .open_loop
            .map_or("closed loop".to_owned(), |rate| format!("open loop, {rate} pairs/s"));
        vec![
            ("store", self.store.to_owned()),
            (
                "load",
                format!(
                    "{} clients, {} tenants, {} s, {loop_kind}",
                    self.clients, self.tenants, self.seconds
                ),
            ),
            ("payments/s", self.payments_per_s().to_string()),
            ("quote + payment", self.pair_us.told()),
            ("quote", self.quote_us.told()),
            ("payment", self.payment_us.told()),
            (
                "batch",
                format!("p50 {} commands, {} batches", self.batch_p50.unwrap_or(0), self.batches),
            ),
            ("settled/s", self.settled_per_s.to_string()),
            (
                "backlog",
                format!("{} at the end, {} after {} ms", self.backlog, self.left, self.drain_ms),
            ),
            ("errors", if errors.is_empty() { "none".to_owned() } else { errors }),
            (
                "answers agree",
                format!(
                    "{}: {} accepted, {} rows",
                    yes(self.checks.agree()),
                    self.checks.answered,
                    self.checks.rows
                ),
            ),
            ("ledger balances", yes(self.checks.balanced()).to_owned()),
        ]
    }
}
