//! Many seeds, on all cores, for a while: first those that failed once, then one after the other.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use domain::time::Span;
use serde::Serialize;

use crate::bench::Bench;
use crate::faults;
use crate::planted::{self, Bug};
use crate::schedule::{self, Played};
use crate::services::{About, Services};

/// One seed in so many runs twice.
const TWICE_EVERY: u64 = 100;
/// Failing seeds after which a campaign ends early.
const FAILURES_MAX: usize = 20;
/// Payments and deposits without which a schedule does not count.
pub const INCOMING_MIN: usize = 10;

/// Seeds that failed once; they run first, for ever.
const SEEDS: &str = include_str!("../seeds.txt");

/// What a campaign found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Findings {
    /// Number of schedules that ran.
    pub schedules: u64,
    /// Violations of all of them.
    pub violations: u64,
    /// How often a node was killed.
    pub crashes: u64,
    /// Whole days of simulated time.
    pub simulated_days: u64,
    /// Number of accepted payments.
    pub payments: u64,
    pub deposits: u64,
    pub orders: u64,
    /// Webhooks that receivers have got.
    pub webhooks: u64,
    /// How often the newest blocks of a chain were replaced.
    pub reorganisations: u64,
    /// Number of sweeps to treasuries.
    pub sweeps: u64,
    /// Schedules with wallets in them.
    pub schedules_with_wallets: u64,
    /// Number of faults that happened.
    pub faults: u64,
    /// Schedules that ran with faults.
    pub schedules_with_faults: u64,
    /// Seeds that ran twice and did the same.
    pub repeated: u64,
    /// Seeds that failed, with what was found first.
    pub failures: Vec<(u64, Vec<String>)>,
    #[serde(skip)]
    micros: i64,
}

impl Findings {
    fn add(&mut self, played: &Played) {
        self.payments += played.payments as u64;
        self.deposits += played.deposits as u64;
        self.orders += played.orders as u64;
        self.webhooks += played.webhooks as u64;
        self.sweeps += played.sweeps as u64;
        self.reorganisations += played.reorganisations as u64;
    }
}

/// How a campaign runs.
#[derive(Clone, Copy, Debug)]
pub struct Plan<'a> {
    /// The first seed after those that failed once.
    pub first: u64,
    /// How long the campaign runs.
    pub time: Duration,
    /// Maximum number of schedules.
    pub schedules_max: u64,
    /// Which of them; a bug is looked for in all seeds that can show it.
    pub about: About,
    /// Threads, one world each.
    pub threads: usize,
    /// The bug to look for, if any; the campaign ends when a seed finds it.
    pub bug: Option<&'a Bug>,
}

/// The seeds of `seeds.txt`: one per line, with a remark after `#`.
pub fn old_seeds() -> Vec<u64> {
    let number = |line: &str| line.split('#').next().and_then(|text| text.trim().parse().ok());
    SEEDS.lines().filter_map(number).collect()
}

struct Shared<'a> {
    plan: Plan<'a>,
    old: Vec<u64>,
    next: AtomicU64,
    drawn: AtomicU64,
    stop: AtomicBool,
    deadline: Instant,
    findings: Mutex<Findings>,
}

impl Shared<'_> {
    fn findings(&self) -> MutexGuard<'_, Findings> {
        self.findings.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next seed; the old ones run whatever the time. A bug is looked for in the seeds that can show it.
    fn draw(&self) -> Option<u64> {
        if self.drawn.fetch_add(1, Ordering::Relaxed) >= self.plan.schedules_max {
            return None;
        }
        loop {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            if self.stop.load(Ordering::Relaxed) {
                return None;
            }
            let old = self.old.len() as u64;
            if let Some(seed) = usize::try_from(number).ok().and_then(|number| self.old.get(number))
            {
                return Some(*seed);
            }
            if Instant::now() >= self.deadline {
                return None;
            }
            let seed = self.plan.first.wrapping_add(number - old);
            let plays = match self.plan.bug {
                None => self.plan.about.plays(seed),
                Some(bug) => Services::of(seed).may_show(bug),
            };
            if plays {
                return Some(seed);
            }
        }
    }
}

/// Runs a campaign.
///
/// # Errors
/// The bench does not work. What the service does wrong is among the findings.
pub fn run(plan: Plan<'_>) -> anyhow::Result<Findings> {
    let old = if plan.bug.is_none() { old_seeds() } else { Vec::new() };
    let deadline = Instant::now() + plan.time;
    let shared = Shared {
        plan,
        old,
        next: AtomicU64::new(0),
        drawn: AtomicU64::new(0),
        stop: AtomicBool::new(false),
        deadline,
        findings: Mutex::default(),
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> =
            (0..plan.threads.max(1)).map(|_| scope.spawn(|| work(&shared))).collect();
        let ended = threads.into_iter().map(|thread| match thread.join() {
            Ok(result) => result,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        ended.collect::<anyhow::Result<Vec<()>>>()
    })?;
    let mut findings = shared.findings().clone();
    findings.failures.sort();
    findings.simulated_days = u64::try_from(findings.micros / Span::days(1).0).unwrap_or(0);
    Ok(findings)
}

fn work(shared: &Shared<'_>) -> anyhow::Result<()> {
    let bug = shared.plan.bug;
    bug.map_or(Ok(()), planted::plant)?;
    let bench = Bench::new()?;
    while let Some(seed) = shared.draw() {
        let report = schedule::run(&bench, seed, faults::draw(seed), false)?;
        let mut violations = report.violations.clone();
        if report.played.incoming() < INCOMING_MIN && violations.is_empty() {
            violations.push(format!("only {}", report.played));
        }
        let twice = seed % TWICE_EVERY == 0 && violations.is_empty();
        if twice && schedule::run(&bench, seed, faults::draw(seed), false)?.hash != report.hash {
            violations.push("ran twice and did not do the same".to_owned());
        }
        if let Some(bug) = bug {
            violations.retain(|violation| bug.explains(violation));
        }
        let mut findings = shared.findings();
        findings.schedules += 1;
        findings.violations += violations.len() as u64;
        findings.crashes += u64::from(report.crashes);
        findings.micros += report.simulated.0;
        findings.add(&report.played);
        findings.schedules_with_wallets += u64::from(Services::of(seed).wallets);
        findings.faults += report.fired as u64;
        findings.schedules_with_faults += u64::from(!faults::draw(seed).is_empty());
        findings.repeated += u64::from(twice);
        if !violations.is_empty() {
            findings.failures.push((seed, violations));
            if bug.is_some() || findings.failures.len() >= FAILURES_MAX {
                shared.stop.store(true, Ordering::Relaxed);
            }
        }
    }
    Ok(())
}
