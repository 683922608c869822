//! A few dozen seeds, twice: no violation, the same trace both times.

use simulator::bench::Bench;
use simulator::campaign::{INCOMING_MIN, old_seeds};
use simulator::faults;
use simulator::schedule::{self, Played};
use simulator::services::Services;

/// Seeds that every test run goes through, beside those that failed once.
const SEEDS: std::ops::Range<u64> = 0..24;

#[test]
fn seeds_are_clean_and_repeat() {
    let bench = Bench::new().expect("a database in memory");
    for seed in old_seeds().into_iter().chain(SEEDS) {
        let run =
            || schedule::run(&bench, seed, faults::draw(seed), false).expect("the bench works");
        let (first, again) = (run(), run());
        assert_eq!(first.violations, [""; 0], "seed {seed}");
        assert!(first.played.incoming() >= INCOMING_MIN, "seed {seed}: {}", first.played);
        assert_eq!(first, again, "seed {seed} does not repeat");
    }
}

#[test]
fn without_faults_nothing_crashes_and_everything_ends_sooner() {
    let bench = Bench::new().expect("a database in memory");
    let both = Services { payments: true, wallets: true };
    let seed = (0..).find(|seed| !faults::draw(*seed).is_empty() && Services::of(*seed) == both);
    let report =
        schedule::run(&bench, seed.expect("a seed"), Vec::new(), true).expect("the bench works");
    assert_eq!((report.crashes, report.fired, report.played.reorganisations), (0, 0, 0));
    for event in
        ["payment.succeeded", "payment.received", "transfer.complete", "receiver answers 200"]
    {
        assert!(
            report.lines.iter().any(|line| line.contains(event)),
            "no {event} in {:#?}",
            report.lines
        );
    }
    let Played { payments, deposits, webhooks, .. } = report.played;
    assert!(payments > 0 && deposits > 0 && webhooks > 0, "{}", report.played);
}
