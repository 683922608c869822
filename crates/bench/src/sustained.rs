//! `bench sustained`: the highest constant rate at which payments are accepted, sent and settled for
//! as long as the load lasts, and how long one caller waits at half of it.

use std::time::Instant;

use anyhow::Context as _;
use domain::decimal::{Decimal, Rounding};
use http_api::write;

use super::checks::Checks;
use super::figures::{Quantiles, histogram, ms, whole, yes};
use super::installation::Installation;
use super::load::{Tally, micros};
use super::report::Meter;
use super::{Bench, Settings, with_server};

/// A rate holds if the payments that are not settled at the end are less than this much work.
const BACKLOG_MAX_S: u64 = 2;
/// Per cent of the load that have to be accepted within the measurement.
const ACCEPTED_MIN: u64 = 99;
/// The search ends when its bounds are this close, in per cent of the lower one.
const PRECISION: u64 = 4;
/// How much less is tried when a rate did not hold for the whole time, in per cent.
const STEP_DOWN: u64 = 4;
/// Rates that are tried for the whole time.
const PROOFS_MAX: usize = 5;
/// Commits of a single row that are measured.
const COMMITS: usize = 300;
/// The name of that row.
const COMMITTED: &str = "bench_commit";
/// Decimals of the ratio.
const RATIO_DECIMALS: u32 = 1;

/// What came of one rate.
#[derive(Clone, Debug)]
pub(super) struct Trial {
    /// Pairs per second that were started.
    pub(super) rate: u64,
    seconds: u64,
    pub(super) accepted: u64,
    pub(super) settled_per_s: Decimal,
    /// Payments that were not settled at the end of the load.
    backlog: u64,
    pub(super) errors: u64,
    pub(super) quote_us: Quantiles,
    pub(super) payment_us: Quantiles,
}

impl Trial {
    fn new(rate: u64, settings: &Settings, meter: &Meter, tally: &Tally) -> Trial {
        Trial {
            rate,
            seconds: settings.seconds,
            accepted: tally.pairs.len(),
            settled_per_s: meter.settled_per_s(),
            backlog: meter.after.backlog,
            errors: tally.errors.values().sum(),
            quote_us: Quantiles::of(&tally.quotes),
            payment_us: Quantiles::of(&tally.payments),
        }
    }

    /// The slower 99th percentile of quotes and payments, in commits.
    pub(super) fn waits(&self, commit: &Quantiles) -> Option<Decimal> {
        let slower = Decimal::new(self.quote_us.p99.max(self.payment_us.p99).into(), 0);
        let commit = Decimal::new(commit.p50.max(1).into(), 0);
        slower.checked_div(commit, RATIO_DECIMALS, Rounding::HalfEven)
    }

    fn holds(&self) -> bool {
        self.errors == 0
            && self.accepted * 100 >= self.rate * self.seconds * ACCEPTED_MIN
            && self.backlog <= self.rate * BACKLOG_MAX_S
    }
}

/// Halves the interval in which the highest rate lies.
#[derive(Clone, Copy, Debug)]
struct Search {
    holds: u64,
    fails: u64,
}

impl Search {
    /// The next rate, unless the bounds are close.
    fn next(&self) -> Option<u64> {
        let width = self.fails.saturating_sub(self.holds);
        let middle = self.holds + width / 2;
        (width * 100 > self.holds * PRECISION && middle > self.holds).then_some(middle)
    }

    fn note(&mut self, rate: u64, holds: bool) {
        if holds {
            self.holds = rate;
        } else {
            self.fails = rate;
        }
    }
}

/// Finds the highest rate that holds for `settings.seconds`, trying each for `trial_s` first.
///
/// # Errors
/// As [`super::run`].
pub async fn sustained(
    settings: &Settings,
    trial_s: u64,
    tell: &dyn Fn(&str),
) -> anyhow::Result<SustainedReport> {
    let work = async |bench: &mut Bench<'_>| bench.find_rate(settings, trial_s).await;
    let (found, store, checks) = with_server(settings, tell, work).await?;
    Ok(SustainedReport { settings: settings.clone(), store, found, checks })
}

impl Bench<'_> {
    async fn find_rate(&mut self, settings: &Settings, trial_s: u64) -> anyhow::Result<Found> {
        let brief = Settings { seconds: trial_s, open_loop: None, ..settings.clone() };
        let (_, burst) = self.measure(&brief).await?;
        let burst = burst.pairs.len() / trial_s.max(1);
        let mut trials = Vec::new();
        // A caller that waits for each answer cannot be overtaken by much: a rate above fails.
        let mut search = Search { holds: 0, fails: burst + burst / 4 + 1 };
        while let Some(rate) = search.next() {
            let trial = self.trial(&brief, rate).await?;
            search.note(rate, trial.holds());
            trials.push(trial);
        }
        let mut rate = search.holds;
        let mut held = None;
        for _ in 0..PROOFS_MAX {
            if rate == 0 {
                break;
            }
            let trial = self.trial(settings, rate).await?;
            trials.push(trial.clone());
            if trial.holds() {
                held = Some(trial);
                break;
            }
            rate -= (rate * STEP_DOWN).div_ceil(100);
        }
        let half = match &held {
            Some(trial) => Some(self.trial(&brief, (trial.rate / 2).max(1)).await?),
            None => None,
        };
        let commit = commits(self.installation).await?;
        Ok(Found { burst, trials, held, half, commit })
    }

    pub(super) async fn trial(&mut self, settings: &Settings, rate: u64) -> anyhow::Result<Trial> {
        let settings = Settings { open_loop: Some(rate), ..settings.clone() };
        let (meter, tally) = self.measure(&settings).await?;
        Ok(Trial::new(rate, &settings, &meter, &tally))
    }
}

/// How long a commit of a single row takes, one after the other, without other load.
pub(super) async fn commits(installation: &Installation) -> anyhow::Result<Quantiles> {
    let mut took = histogram();
    for nth in 0..COMMITS {
        let began = Instant::now();
        installation.store.set_meta(COMMITTED, &nth.to_string()).await.context("a commit")?;
        took.saturating_record(micros(began.elapsed()));
    }
    Ok(Quantiles::of(&took))
}

#[derive(Clone, Debug)]
struct Found {
    /// Pairs per second of clients that wait for each answer.
    burst: u64,
    trials: Vec<Trial>,
    /// The highest rate that held.
    held: Option<Trial>,
    /// Half of that rate, for the latencies.
    half: Option<Trial>,
    commit: Quantiles,
}

/// The result of a run.
#[derive(Clone, Debug)]
pub struct SustainedReport {
    settings: Settings,
    store: &'static str,
    found: Found,
    checks: Checks,
}

impl SustainedReport {
    /// Why the run is invalid, if it is.
    pub fn failure(&self) -> Option<String> {
        self.checks.failure().or_else(|| {
            self.found.held.is_none().then(|| "no rate held for the whole time".to_owned())
        })
    }

    fn waits(&self) -> Option<Decimal> {
        self.found.half.as_ref()?.waits(&self.found.commit)
    }

    pub fn json(&self) -> Vec<u8> {
        let (settings, found) = (&self.settings, &self.found);
        write::object(|out| {
            out.text("bench", "sustained");
            out.text("store", self.store);
            whole(out, "clients", settings.clients as u64);
            whole(out, "tenants", settings.tenants as u64);
            whole(out, "seconds", settings.seconds);
            whole(out, "preload", settings.preload);
            whole(out, "burst_per_s", found.burst);
            let held = found.held.as_ref();
            out.number_or_null("sustained_per_s", held.map(|it| Decimal::new(it.rate.into(), 0)));
            out.number_or_null("settled_per_s", held.map(|it| it.settled_per_s));
            out.number_or_null("backlog", held.map(|it| Decimal::new(it.backlog.into(), 0)));
            let half = found.half.as_ref();
            out.number_or_null("half_per_s", half.map(|it| Decimal::new(it.rate.into(), 0)));
            out.number_or_null("quote_p50_ms", half.map(|it| ms(it.quote_us.p50)));
            out.number_or_null("quote_p99_ms", half.map(|it| ms(it.quote_us.p99)));
            out.number_or_null("payment_p50_ms", half.map(|it| ms(it.payment_us.p50)));
            out.number_or_null("payment_p99_ms", half.map(|it| ms(it.payment_us.p99)));
            out.number("commit_p50_ms", ms(found.commit.p50));
            out.number_or_null("waits_commits", self.waits());
            whole(out, "accepted", self.checks.answered);
            whole(out, "rows", self.checks.rows);
            out.flag("answers_agree", self.checks.agree());
            out.flag("ledger_balances", self.checks.balanced());
        })
    }

    /// Names and values for display.
    pub fn rows(&self) -> Vec<(&'static str, String)> {
        let (settings, found) = (&self.settings, &self.found);
        let trial = |it: &Trial| {
            let holds = if it.holds() { "holds" } else { "does not hold" };
            format!(
                "{} for {} s {holds}: {} accepted, {} settled/s, {} left, {} errors",
                it.rate, it.seconds, it.accepted, it.settled_per_s, it.backlog, it.errors
            )
        };
        let held = found.held.as_ref().map_or("none".to_owned(), |it| it.rate.to_string());
        let mut rows = vec![
            ("store", self.store.to_owned()),
            ("load", format!("{} clients, {} tenants", settings.clients, settings.tenants)),
            ("burst, pairs/s", found.burst.to_string()),
        ];
        rows.extend(found.trials.iter().map(|it| ("tried", trial(it))));
        rows.push(("sustained/s", held));
        if let Some(half) = &found.half {
            rows.push(("at half", half.rate.to_string()));
            rows.push(("quote", half.quote_us.told()));
            rows.push(("payment", half.payment_us.told()));
        }
        rows.push(("one commit", found.commit.told()));
        if let Some(waits) = self.waits() {
            rows.push(("p99 in commits", waits.to_string()));
        }
        rows.push(("answers agree", yes(self.checks.agree()).to_owned()));
        rows.push(("ledger balances", yes(self.checks.balanced()).to_owned()));
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_search_ends_close_below_what_holds() {
        for capacity in [1, 2, 57, 999, 2_400, 5_000] {
            let mut search = Search { holds: 0, fails: 5_001 };
            let mut tried = 0;
            while let Some(rate) = search.next() {
                search.note(rate, rate <= capacity);
                tried += 1;
            }
            let Search { holds, fails } = search;
            assert!((holds..fails).contains(&capacity), "{capacity}: {holds} to {fails}");
            assert!(fails - holds <= 1 + holds * PRECISION / 100, "{capacity}: {holds} to {fails}");
            assert!(tried <= 14, "{capacity}: {tried}");
        }
    }

    #[test]
    fn a_rate_holds_if_nothing_is_left_behind() {
        let quantiles = Quantiles::of(&histogram());
        let good = Trial {
            rate: 100,
            seconds: 10,
            accepted: 995,
            settled_per_s: Decimal::new(100, 0),
            backlog: 200,
            errors: 0,
            quote_us: quantiles,
            payment_us: quantiles,
        };
        assert!(good.holds());
        for bad in [
            Trial { accepted: 989, ..good.clone() },
            Trial { backlog: 201, ..good.clone() },
            Trial { errors: 1, ..good.clone() },
        ] {
            assert!(!bad.holds(), "{bad:?}");
        }
    }
}
