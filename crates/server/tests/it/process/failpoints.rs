//! The service exits at each failpoint once, and its successor takes over.

use std::time::{Duration, Instant};

use engine::failpoint::Failpoint;
use testkit::wait;

use super::checker::judge;
use super::load::Load;
use super::random::Random;
use super::rig::Rig;
use super::seed;

/// Timeout for reaching a failpoint; those that only a successor reaches need a lease and an
/// inquiry.
const REACHED_AT_MOST: Duration = Duration::from_secs(90);
/// Payments between two exits, so that each successor inherits work.
const INHERITED: usize = 10;
const CLIENTS: usize = 2;

#[tokio::test(flavor = "multi_thread")]
async fn whatever_place_the_service_ends_at_its_successor_pays_everything_once() {
    // Release builds have no failpoints.
    if !cfg!(debug_assertions) {
        return;
    }
    let seed = seed(0xFA11);
    let rig = Rig::start(seed, None).await;
    let (random, begun) = (Random::new(seed), Instant::now());
    let mut node = rig.node("node");
    let load = Load::start(rig.api.clone(), vec![node.address.clone()], CLIENTS, seed);
    for (place, leaves_work) in places(&random) {
        node.process.kill();
        let (mut doomed, address) = rig.installation.serve_or_end("node", &[("CORRIDOR_FAILPOINT", &place)]);
        if let Some(address) = address {
            load.move_to(vec![address]);
        }
        let reached = wait::until_async(REACHED_AT_MOST, || std::future::ready(doomed.ended().is_some())).await;
        assert!(reached, "seed {seed}: nothing led to {place}: {}", doomed.log_tail());
        let status = doomed.wait_for_end();
        assert!(!status.success() && status.code().is_none(), "{place}: ended with {status}, not by its own hand");
        if leaves_work {
            // The successor has to reach it: it immediately takes over its predecessor's leases.
            continue;
        }
        node = rig.node("node");
        load.move_to(vec![node.address.clone()]);
        let enough = load.accepted() + INHERITED;
        let goes_on = wait::until_async(REACHED_AT_MOST, || std::future::ready(load.accepted() >= enough)).await;
        assert!(goes_on, "seed {seed}: no progress after {place}: {}", node.process.log_tail());
    }
    let notes = load.stop().await;
    rig.heal_bank();
    let verdict = judge(&rig, &node.address, &notes).await;
    let (places, unclear) = (Failpoint::ALL.len(), notes.unclear);
    eprintln!("{places} places in {:?} (seed {seed}), {unclear} unclear writes: {verdict:?}", begun.elapsed());
    node.process.stop();
}

/// Every failpoint once, with the number of earlier passes, and whether the successor inherits its
/// effects: a service inquires about attempts that were saved and never sent.
fn places(random: &Random) -> Vec<(String, bool)> {
    let mut places = Vec::new();
    for point in Failpoint::ALL {
        let asks = [Failpoint::BeforeInquiry, Failpoint::AfterInquiry, Failpoint::BeforeSendingAgain].contains(&point);
        if asks {
            places.push((Failpoint::BeforeCall.name().to_owned(), true));
        }
        places.push((format!("{}:{}", point.name(), if asks { 1 } else { 1 + random.below(3) }), false));
    }
    places
}

#[test]
fn a_place_that_does_not_exist_is_refused() {
    if !cfg!(debug_assertions) {
        return;
    }
    let installation = super::harness::Installation::new();
    let done = super::harness::finish(installation.command(&["serve"]).env("CORRIDOR_FAILPOINT", "nowhere"));
    assert_eq!(done.code, 2, "{}", done.stderr);
    assert!(done.stderr.contains("nowhere"), "{}", done.stderr);
}
