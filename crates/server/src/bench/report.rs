//! What a run found, for people and for programs. Quantiles leave the histogram as whole microseconds and are shown as
//! exact decimals.

use std::time::{Duration, Instant};

use domain::decimal::Decimal;
use hdrhistogram::Histogram;
use http_api::write::{self, ObjectWriter};

use super::Settings;
use super::checks::Checks;
use super::exposition::Sizes;
use super::load::Tally;

/// The server and its store at one instant.
#[derive(Clone, Debug)]
pub(super) struct Moment {
    pub(super) at: Instant,
    /// Payments answered 200 so far.
    pub(super) accepted: u64,
    /// Payments that are not at their end.
    pub(super) backlog: u64,
    /// Commands per batch so far.
    pub(super) batches: Sizes,
}

/// What was read beside the clients.
#[derive(Clone, Debug)]
pub(super) struct Meter {
    /// When measuring began.
    pub(super) before: Moment,
    /// When measuring ended.
    pub(super) after: Moment,
    /// How long the rest took to settle.
    pub(super) drain: Duration,
    /// Payments that were not at their end even then.
    pub(super) left: u64,
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

/// Microseconds.
#[derive(Clone, Copy, Debug)]
struct Quantiles {
    p50: u64,
    p99: u64,
    p999: u64,
    max: u64,
}

impl Quantiles {
    fn of(histogram: &Histogram<u64>) -> Quantiles {
        Quantiles {
            p50: histogram.value_at_quantile(0.5),
            p99: histogram.value_at_quantile(0.99),
            p999: histogram.value_at_quantile(0.999),
            max: histogram.max(),
        }
    }
}

/// Microseconds as milliseconds.
fn ms(micros: u64) -> Decimal {
    Decimal::new(micros.into(), 3)
}

/// `count` in `span`, per second, to one decimal.
fn per_second(count: u64, span: Duration) -> Decimal {
    let tenths = u128::from(count) * 10_000_000 / span.as_micros().max(1);
    Decimal::new(i128::try_from(tenths).unwrap_or(i128::MAX), 1)
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
        // What is accepted and has no job any more is at its end.
        let ended = |moment: &Moment| moment.accepted.saturating_sub(moment.backlog);
        let settled = ended(&meter.after).saturating_sub(ended(&meter.before));
        Report {
            clients: settings.clients as u64,
            tenants: settings.tenants as u64,
            seconds: settings.seconds,
            open_loop: settings.open_loop,
            preload: settings.preload,
            store,
            pairs: tally.pairs.len(),
            pair_us: Quantiles::of(&tally.pairs),
            payment_us: Quantiles::of(&tally.payments),
            settled_per_s: per_second(settled, meter.after.at - meter.before.at),
            backlog: meter.after.backlog,
            drain_ms: u64::try_from(meter.drain.as_millis()).unwrap_or(u64::MAX),
            left: meter.left,
            batches: batches.count(),
            batch_p50: batches.median(),
            errors: tally.errors.iter().map(|(kind, count)| (kind.clone(), *count)).collect(),
            checks,
        }
    }

    /// Why the run proves nothing, if it does not.
    pub fn failure(&self) -> Option<String> {
        let Checks { answered, unclear, rows, .. } = self.checks;
        if !self.checks.agree() {
            let differing = self.checks.differing.join("; ");
            return Some(format!(
                "answers and rows do not agree: {answered} accepted, {unclear} unclear, {rows} in the store {differing}"
            ));
        }
        if !self.checks.balanced() {
            return Some(format!("the ledger does not balance: {}", self.checks.book_faults.join("; ")));
        }
        (self.pairs == 0).then(|| format!("not one pair was completed: {:?}", self.errors))
    }

    fn payments_per_s(&self) -> Decimal {
        per_second(self.pairs, Duration::from_secs(self.seconds))
    }

    fn error_count(&self) -> u64 {
        self.errors.iter().map(|(_, count)| count).sum()
    }

    /// One JSON object.
    pub fn json(&self) -> Vec<u8> {
        let whole = |out: &mut ObjectWriter<'_>, name: &str, value: u64| {
            out.number(name, Decimal::new(value.into(), 0));
        };
        write::object(|out| {
            out.text("bench", "payments");
            out.text("store", self.store);
            whole(out, "clients", self.clients);
            whole(out, "tenants", self.tenants);
            whole(out, "seconds", self.seconds);
            whole(out, "preload", self.preload);
            out.number_or_null("open_loop", self.open_loop.map(|rate| Decimal::new(rate.into(), 0)));
            out.number("payments_per_s", self.payments_per_s());
            out.number("p50_ms", ms(self.pair_us.p50));
            out.number("p99_ms", ms(self.pair_us.p99));
            out.number("p999_ms", ms(self.pair_us.p999));
            out.number("max_ms", ms(self.pair_us.max));
            out.number("payment_p50_ms", ms(self.payment_us.p50));
            out.number("payment_p99_ms", ms(self.payment_us.p99));
            out.number("payment_p999_ms", ms(self.payment_us.p999));
            whole(out, "pairs", self.pairs);
            out.number_or_null("batch_p50", self.batch_p50.map(|size| Decimal::new(size.into(), 0)));
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

    /// Names and values for people.
    pub fn rows(&self) -> Vec<(&'static str, String)> {
        let quantiles = |q: &Quantiles| {
            format!("p50 {} ms, p99 {} ms, p99.9 {} ms, max {} ms", ms(q.p50), ms(q.p99), ms(q.p999), ms(q.max))
        };
        let yes = |flag: bool| if flag { "yes" } else { "NO" };
        let errors = self.errors.iter().map(|(kind, count)| format!("{count} x {kind}")).collect::<Vec<_>>().join("; ");
        let loop_kind = self.open_loop.map_or("closed loop".to_owned(), |rate| format!("open loop, {rate} pairs/s"));
        vec![
            ("store", self.store.to_owned()),
            ("load", format!("{} clients, {} tenants, {} s, {loop_kind}", self.clients, self.tenants, self.seconds)),
            ("payments/s", self.payments_per_s().to_string()),
            ("quote + payment", quantiles(&self.pair_us)),
            ("payment", quantiles(&self.payment_us)),
            ("batch", format!("p50 {} commands, {} batches", self.batch_p50.unwrap_or(0), self.batches)),
            ("settled/s", self.settled_per_s.to_string()),
            ("backlog", format!("{} at the end, {} after {} ms", self.backlog, self.left, self.drain_ms)),
            ("errors", if errors.is_empty() { "none".to_owned() } else { errors }),
            (
                "answers agree",
                format!("{}: {} accepted, {} rows", yes(self.checks.agree()), self.checks.answered, self.checks.rows),
            ),
            ("ledger balances", yes(self.checks.balanced()).to_owned()),
        ]
    }
}

/// A kind of error as the name of a member: names are written as they are.
fn plain(kind: &str) -> String {
    kind.chars().map(|c| if c.is_ascii_graphic() && c != '"' && c != '\\' || c == ' ' { c } else { '?' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(edit: impl FnOnce(&mut Tally, &mut Checks)) -> Report {
        let at = Instant::now();
        let sizes = |text: &str| Sizes::read(text, "b");
        let before = Moment { at, accepted: 100, backlog: 40, batches: sizes("b_bucket{le=\"1\"} 3\n") };
        let after = Moment {
            at: at + Duration::from_secs(2),
            accepted: 1_100,
            backlog: 140,
            batches: sizes("b_bucket{le=\"1\"} 3\nb_bucket{le=\"2\"} 9\n"),
        };
        let meter = Meter { before, after, drain: Duration::from_millis(1_500), left: 0 };
        let mut tally = Tally::default();
        for latency in 1..=1_000 {
            tally.pairs.record(latency * 10).expect("in bounds");
            tally.payments.record(latency * 5).expect("in bounds");
        }
        let mut checks = Checks { answered: 1_100, rows: 1_100, ..Checks::default() };
        edit(&mut tally, &mut checks);
        let settings = Settings {
            clients: 64,
            seconds: 2,
            warm_up_s: 1,
            tenants: 1,
            preload: 0,
            drain_s: 60,
            database_url: None,
            open_loop: None,
            countries: vec![],
        };
        Report::new(&settings, "sqlite", &meter, &tally, checks)
    }

    #[test]
    fn the_json_has_the_agreed_keys() {
        let report = report(|tally, _| tally.errors.extend([("payment: 503 \"x\"".to_owned(), 2)]));
        let json: serde_json::Value = serde_json::from_slice(&report.json()).expect("JSON");
        for (key, expected) in [
            ("payments_per_s", "500"),
            ("p50_ms", "5.003"),
            ("p99_ms", "9.903"),
            ("p999_ms", "9.991"),
            ("batch_p50", "2"),
            ("errors", "2"),
            ("settled_per_s", "450"),
            ("backlog", "140"),
        ] {
            assert_eq!(json[key].to_string(), expected, "{key}");
        }
        assert_eq!(json["errors_by_kind"]["payment: 503 ?x?"], 2);
        assert_eq!((&json["answers_agree"], &json["ledger_balances"]), (&true.into(), &true.into()));
        assert_eq!(report.failure(), None);
        assert!(report.rows().iter().any(|(name, value)| *name == "payments/s" && value == "500"));
    }

    #[test]
    fn a_run_that_proves_nothing_says_so() {
        let missing = report(|_, checks| checks.rows -= 1).failure().expect("a failure");
        assert!(missing.contains("1100 accepted, 0 unclear, 1099 in the store"), "{missing}");
        let crooked = report(|_, checks| checks.book_faults.push("x".to_owned())).failure().expect("a failure");
        assert!(crooked.contains("does not balance"), "{crooked}");
        assert!(report(|tally, _| tally.pairs.reset()).failure().is_some());
    }
}
