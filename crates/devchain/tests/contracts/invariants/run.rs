//! Runs of random calls, and what remains of one that fails: its seed and the fewest calls.

use std::collections::BTreeMap;
use std::fmt;

use super::book::{Book, Checked, Lost, Violation, ensure};
use super::call::Call;
use super::people::{People, Trust};
use super::rescue;
use super::rng::Rng;
use super::scenario::Scenario;
use super::stage::{Role, Stage};

/// A run begins from the start after so many calls.
pub const CALLS_A_RUN: u64 = 400;
/// How often the controller's state is compared with its logs.
const COMPARE_EVERY: usize = 100;

/// What happened in the runs of a scenario.
#[derive(Default)]
pub struct Tally {
    pub calls: u64,
    pub runs: u64,
    /// Per kind: made, and accepted.
    pub kinds: BTreeMap<String, (u64, u64)>,
    pub lost: Lost,
}

impl Tally {
    pub fn accepted(&self) -> u64 {
        self.kinds.values().map(|it| it.1).sum()
    }

    pub fn add(&mut self, other: Tally) {
        self.calls += other.calls;
        self.runs += other.runs;
        self.lose(&other.lost);
        for (kind, (made, accepted)) in other.kinds {
            let of = self.kinds.entry(kind).or_default();
            *of = (of.0 + made, of.1 + accepted);
        }
    }

    const fn lose(&mut self, lost: &Lost) {
        let mut period = 0;
        while period < 2 {
            self.lost.escrows[period] += lost.escrows[period];
            self.lost.wallets[period] += lost.wallets[period];
            period += 1;
        }
    }
}

/// A broken rule with all that repeats it.
#[derive(Debug)]
pub struct Failure {
    pub seed: u64,
    pub violation: Violation,
    pub calls: Vec<Call>,
}

impl fmt::Display for Failure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Violation { rule, details } = &self.violation;
        writeln!(out, "{rule}: {details}")?;
        writeln!(out, "seed {:#x}; the fewest calls that show it:", self.seed)?;
        self.calls.iter().try_for_each(|call| writeln!(out, "  {} {:?}", call.from, call.act))
    }
}

/// The state in the middle of a run.
struct Run<'a> {
    stage: Stage,
    book: Book,
    scenario: &'a Scenario,
    done: usize,
}

impl<'a> Run<'a> {
    fn new(start: &Stage, scenario: &'a Scenario) -> Run<'a> {
        let mut stage = start.clone();
        let book = Book::new(&mut stage);
        Run { stage, book, scenario, done: 0 }
    }

    /// Whether the call was accepted.
    fn step(&mut self, call: &Call) -> Checked<bool> {
        let outcome = call.execute(&mut self.stage);
        self.book.judge(call, &self.stage, &outcome)?;
        self.scenario.permits(&self.book.lost)?;
        self.done += 1;
        if self.done.is_multiple_of(COMPARE_EVERY) {
            self.book.compare(&mut self.stage)?;
        }
        Ok(outcome.ok)
    }

    fn end(&mut self) -> Checked {
        self.book.compare(&mut self.stage)?;
        if self.scenario.hostile.contains(&Role::Admin) {
            return Ok(());
        }
        rescue::check(&self.stage, &self.book)
    }
}

/// A run of fresh random calls.
pub fn explore(
    start: &Stage,
    scenario: &Scenario,
    seed: u64,
    calls: u64,
) -> Result<Tally, Box<Failure>> {
    let trust = Trust { hostile: scenario.hostile };
    let mut people = People { rng: Rng::new(seed), trust };
    let mut run = Run::new(start, scenario);
    let (mut made, mut tally) = (Vec::new(), Tally { calls, runs: 1, ..Tally::default() });
    let mut result = Ok(());
    for _ in 0..calls {
        let call = people.next(&run.stage, &run.book);
        made.push(call);
        let call = &made[made.len() - 1];
        match run.step(call) {
            Ok(accepted) => {
                let of = tally.kinds.entry(call.act.name()).or_default();
                *of = (of.0 + 1, of.1 + u64::from(accepted));
            }
            Err(violation) => {
                result = Err(violation);
                break;
            }
        }
    }
    match result.and_then(|()| run.end()) {
        Ok(()) => {
            tally.lost = run.book.lost;
            Ok(tally)
        }
        Err(violation) => Err(Box::new(shrink(start, scenario, seed, violation, made))),
    }
}

/// Repeats calls, without those that an honest account would not make.
fn replay(start: &Stage, scenario: &Scenario, calls: &[Call]) -> Checked {
    let trust = Trust { hostile: scenario.hostile };
    let mut run = Run::new(start, scenario);
    for call in calls {
        if trust.permits(call, &run.book) {
            run.step(call)?;
        }
    }
    run.end()
}

/// Leaves out calls as long as the same rule is broken.
fn shrink(
    start: &Stage,
    scenario: &Scenario,
    seed: u64,
    mut violation: Violation,
    mut calls: Vec<Call>,
) -> Failure {
    let mut size = calls.len().div_ceil(2);
    while size > 0 {
        let mut at = 0;
        while at < calls.len() {
            let mut fewer = calls.clone();
            fewer.drain(at..calls.len().min(at + size));
            match replay(start, scenario, &fewer) {
                Err(same) if same.rule == violation.rule => (violation, calls) = (same, fewer),
                _ => at += size,
            }
        }
        size /= 2;
    }
    Failure { seed, violation, calls }
}

/// The seeds of a scenario's runs.
pub fn seeds(first: u64, scenario: &Scenario) -> impl Iterator<Item = u64> {
    let salt = scenario
        .name
        .bytes()
        .fold(first, |sum, byte| sum.wrapping_mul(31).wrapping_add(u64::from(byte)));
    let mut rng = Rng::new(salt);
    std::iter::repeat_with(move || rng.draw())
}

/// As many runs as make up this number of calls.
pub fn campaign(
    start: &Stage,
    scenario: &Scenario,
    seed: u64,
    calls: u64,
) -> Result<Tally, Box<Failure>> {
    let mut tally = Tally::default();
    for seed in seeds(seed, scenario) {
        if tally.calls >= calls {
            break;
        }
        tally.add(explore(start, scenario, seed, CALLS_A_RUN)?);
    }
    Ok(tally)
}

/// A loss that the scenario does not allow is a violation.
pub fn refuse_loss(what: &'static str, lost: [u64; 2], allowed: [bool; 2]) -> Checked {
    let within = (0..2).all(|period| lost[period] == 0 || allowed[period]);
    ensure(within, "stolen", || format!("{what}: {lost:?} in the first two days and later"))
}
