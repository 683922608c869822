//! A few dozen seeds, twice: no violation, the same trace both times; and the five bugs of the acceptance, found.

use std::time::Duration;

use engine::planted::Planted;
use simulator::bench::{Bench, QuoteGuard};
use simulator::campaign::{PAYMENTS_MIN, old_seeds};
use simulator::{faults, planted, schedule};

/// Seeds that every test run goes through, beside those that failed once.
const SEEDS: std::ops::Range<u64> = 0..24;
/// More than any of the bugs needs on a slow machine.
const HUNT_MAX: Duration = Duration::from_secs(300);

#[test]
fn seeds_are_clean_and_repeat() {
    let bench = Bench::new(QuoteGuard::On).expect("a database in memory");
    for seed in old_seeds().into_iter().chain(SEEDS) {
        let run = || schedule::run(&bench, seed, faults::draw(seed), false).expect("the bench works");
        let (first, again) = (run(), run());
        assert_eq!(first.violations, [""; 0], "seed {seed}");
        assert!(first.payments >= PAYMENTS_MIN, "seed {seed}: {} payments", first.payments);
        assert_eq!(first, again, "seed {seed} does not repeat");
    }
}

#[test]
fn without_faults_nothing_crashes_and_everything_ends_sooner() {
    let bench = Bench::new(QuoteGuard::On).expect("a database in memory");
    let seed = (0..).find(|seed| !faults::draw(*seed).is_empty()).expect("most seeds have faults");
    let report = schedule::run(&bench, seed, Vec::new(), true).expect("the bench works");
    assert_eq!((report.crashes, report.fired), (0, 0));
    assert!(report.lines.iter().any(|line| line.contains("payment.succeeded")), "{:#?}", report.lines);
}

#[test]
fn the_bugs_of_the_acceptance_are_found() {
    let bugs = [
        Planted::NoInquiry,
        Planted::EventOutsideCommit,
        Planted::NoQuoteGuard,
        Planted::StaleLease,
        Planted::AnswerBeforeCommit,
    ];
    for bug in bugs {
        let hunt = planted::hunt(bug, 1, HUNT_MAX, 2).expect("the bench works");
        assert!(hunt.found, "{hunt:?}");
        assert!(hunt.clean_without, "{hunt:?}");
    }
}
