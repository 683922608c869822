//! The service exits at each failpoint of the wallets' flow once, on a chain that keeps running,
//! and its successor takes over.

use std::time::Instant;

use engine::failpoint::Failpoint;
use testkit::wait;

use super::super::random::Random;
use super::super::{faults, seed};
use super::ground::Kind;
use super::remittances::Remittances;
use super::verdict::judge;
use super::world::{END_AT_MOST, Setup, Signer, World};

/// Minimum number of commits of two payments and an exchange, however many share one: each is a
/// step before or after which the service may exit.
const COMMITS: u64 = 16;
const OF_PAYOUTS: [Failpoint; 6] = [
    Failpoint::BeforeCall,
    Failpoint::AfterCall,
    Failpoint::AfterAnswers,
    Failpoint::BeforeReports,
    Failpoint::BeforeCursor,
    Failpoint::AfterCursor,
];
/// Failpoints that are reached if a predecessor saved a payout and never sent it.
const OF_HEIRS: [Failpoint; 3] =
    [Failpoint::BeforeInquiry, Failpoint::AfterInquiry, Failpoint::BeforeSendingAgain];

/// Worlds that share the failpoints: each of them spends most of its time waiting.
const WORLDS: usize = 3;

#[test]
fn whatever_place_the_service_ends_at_each_deposit_counts_once() {
    // Release builds have no failpoints.
    if !cfg!(debug_assertions) {
        return;
    }
    let seed = seed(0xFA17);
    let places = places(&Random::new(seed));
    std::thread::scope(|scope| {
        for world in 0..WORLDS {
            let its: Vec<String> =
                places.iter().skip(world).step_by(WORLDS).flatten().cloned().collect();
            scope.spawn(move || {
                let runtime = tokio::runtime::Builder::new_multi_thread()
                    .enable_all()
                    .build()
                    .expect("a runtime");
                runtime.block_on(ends_at(seed, its));
            });
        }
    });
}

/// A world whose service exits at these failpoints, one after the other.
async fn ends_at(seed: u64, places: Vec<String>) {
    let setup =
        Setup { kind: Kind::Embedded, circle: None, store_url: None, signer: Signer::Seed, seed };
    let mut world = World::start(setup).await;
    let begun = Instant::now();
    let mut node = world.node().await;
    let mut remittances = Remittances::start(&world, &node).await;
    for place in &places {
        for _ in 0..2 {
            remittances.ask(&world, &node).await;
        }
        node.process.kill();
        // One payment arrives while the service is down, and one while it runs.
        remittances.pay(&world).await;
        let (mut doomed, address) = world.doomed(("CORRIDOR_FAILPOINT", place));
        remittances.pay(&world).await;
        if let Some(address) = address {
            remittances.exchange(&world, &address).await;
        }
        let reached =
            wait::until_async(END_AT_MOST, || std::future::ready(doomed.ended().is_some())).await;
        assert!(reached, "seed {seed}: nothing led to {place}: {}", doomed.log_tail());
        let status = doomed.wait_for_end();
        assert!(
            !status.success() && status.code().is_none(),
            "{place}: ended with {status}, not by its own hand"
        );
        node = world.successor();
        remittances.make_clear(&world, &node).await;
    }
    world.rig.heal_bank();
    judge(&world, &node, &remittances).await;
    let (paid, orders) = (remittances.paid.len(), remittances.orders.len());
    eprintln!(
        "{} places in {:?} (seed {seed}): {paid} deposits, {orders} orders",
        places.len(),
        begun.elapsed()
    );
    node.process.stop();
}

/// Every failpoint: those of wallets, those of payouts, and random commits (all of them in a long
/// run), by number of passes. Dependent failpoints are adjacent.
fn places(random: &Random) -> Vec<Vec<String>> {
    let mut places: Vec<Vec<String>> = Vec::new();
    for point in Failpoint::OF_WALLETS.into_iter().chain(OF_PAYOUTS) {
        places.push(vec![point.name().to_owned()]);
    }
    for point in OF_HEIRS {
        places.push([Failpoint::BeforeCall, point].map(|point| point.name().to_owned()).to_vec());
    }
    let (some, all) = (4, COMMITS);
    let drawn = faults(some, all);
    for nth in 0..drawn {
        let passed = if drawn == all { nth } else { random.below(COMMITS) };
        for point in [Failpoint::BeforeCommit, Failpoint::AfterCommit] {
            places.push(vec![format!("{}:{}", point.name(), 1 + passed)]);
        }
    }
    places
}
