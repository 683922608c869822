//! Two nodes on one PostgreSQL under load: one is killed, the other is frozen until its leases have
//! expired and then resumes, while a third takes over. Nothing is lost, nothing is paid twice.

use std::time::{Duration, Instant};

use testkit::wait;

use super::harness::Node;
use super::judge::judge;
use super::load::Load;
use super::random::Random;
use super::rig::{LEASE_S, Rig};
use super::{faults, seed};

const CLIENTS: usize = 6;
/// Longer than any lease.
const FROZEN: Duration = Duration::from_secs(LEASE_S + 2);

#[tokio::test(flavor = "multi_thread")]
async fn one_node_killed_and_one_frozen_past_its_lease_lose_nothing() {
    let cluster =
        testkit::postgres::for_tests("two nodes, one killed and one frozen").expect("PostgreSQL");
    let Some(cluster) = cluster else { return };
    let seed = seed(0x0D0E);
    let rig = Rig::start(seed, Some(&cluster.database("nodes").expect("a database"))).await;
    let (random, begun) = (Random::new(seed), Instant::now());
    let (mut first, mut second) = (rig.node("first"), rig.node("second"));
    let load = Load::start(rig.api.clone(), both(&first, &second), CLIENTS, seed);
    let rounds = faults(1, 20);
    for round in 0..rounds {
        progress(&load, 20 + random.below(30), &first).await;
        first.process.kill();
        load.move_to(vec![second.address.clone()]);
        // While it works: it has leases, calls to the bank and open transactions.
        progress(&load, 20 + random.below(30), &second).await;
        second.process.signal("STOP");
        let frozen = Instant::now();
        let third = rig.node(if round % 2 == 0 { "third" } else { "fourth" });
        load.move_to(vec![third.address.clone()]);
        let enough = load.accepted() + 50;
        let taken_over =
            || std::future::ready(frozen.elapsed() > FROZEN && load.accepted() >= enough);
        assert!(
            wait::until_async(wait::AT_MOST, taken_over).await,
            "seed {seed}: {}",
            third.process.log_tail()
        );
        let away = frozen.elapsed();
        second.process.signal("CONT");
        load.move_to(both(&second, &third));
        progress(&load, 50, &second).await;
        eprintln!("round {round}: frozen for {away:?}, {} payments so far", load.accepted());
        (first, second) = (second, third);
    }
    let notes = load.stop().await;
    rig.heal_bank();
    let verdict = judge(&rig, &first.address, &notes).await;
    let unclear = notes.unclear();
    eprintln!(
        "{rounds} rounds in {:?} (seed {seed}), {unclear} unclear writes: {verdict:?}",
        begun.elapsed()
    );
    assert_eq!(
        verdict.events,
        rig.api.all_events(&second.address).await.len(),
        "both nodes tell the same log"
    );
    first.process.stop();
    second.process.stop();
}

fn both(one: &Node, other: &Node) -> Vec<String> {
    vec![one.address.clone(), other.address.clone()]
}

/// Waits for this many more confirmed payments.
async fn progress(load: &Load, payments: u64, node: &Node) {
    let enough = load.accepted() + usize::try_from(payments).expect("a number of payments");
    let moved =
        wait::until_async(wait::AT_MOST, || std::future::ready(load.accepted() >= enough)).await;
    assert!(moved, "no progress: {}", node.process.log_tail());
}
