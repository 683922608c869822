//! kill -9 of the service at random moments under load, on SQLite and on PostgreSQL: nothing
//! acknowledged is lost, nothing is paid twice.

use std::time::Instant;

use testkit::wait;

use super::judge::judge;
use super::load::Load;
use super::random::Random;
use super::rig::Rig;
use super::{faults, seed};

const CLIENTS: usize = 4;

#[tokio::test(flavor = "multi_thread")]
async fn killed_again_and_again_on_sqlite_nothing_is_lost_or_paid_twice() {
    let seed = seed(0x5149);
    killed(&Rig::start(seed, None).await, seed, faults(18, 500)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_again_and_again_on_postgresql_nothing_is_lost_or_paid_twice() {
    let cluster = testkit::postgres::for_tests("kill -9 of the service").expect("PostgreSQL");
    let Some(cluster) = cluster else { return };
    let seed = seed(0x5051);
    let url = cluster.database("killed").expect("a database");
    killed(&Rig::start(seed, Some(&url)).await, seed, faults(12, 500)).await;
}

async fn killed(rig: &Rig, seed: u64, kills: u64) {
    let random = Random::new(seed);
    let begun = Instant::now();
    let mut node = rig.node("node");
    let load = Load::start(rig.api.clone(), vec![node.address.clone()], CLIENTS, seed);
    for _ in 0..kills {
        // A moment in the clients' activity, or one in the bank's.
        let (requests, paid) =
            (load.requests() + 5 + random.below(120), paid(rig) + 1 + random.below(20));
        let by_bank = random.chance(40);
        let come = || {
            std::future::ready(if by_bank {
                self::paid(rig) >= paid
            } else {
                load.requests() >= requests
            })
        };
        let moment = wait::until_async(wait::AT_MOST, come).await;
        assert!(moment, "seed {seed}: no progress: {}", node.process.log_tail());
        node.process.kill();
        node = rig.node("node");
        load.move_to(vec![node.address.clone()]);
    }
    let notes = load.stop().await;
    let under_fire = begun.elapsed();
    rig.heal_bank();
    let verdict = judge(rig, &node.address, &notes).await;
    let (unclear, repeated) = (notes.unclear(), notes.repeated());
    eprintln!(
        "{kills} kills in {under_fire:?} (seed {seed}), {unclear} unclear writes, {repeated} repeated; all ended after {:?}: \
         {verdict:?}",
        begun.elapsed()
    );
    assert!(verdict.payments as u64 > kills, "too few payments for a verdict");
    node.process.stop();
}

fn paid(rig: &Rig) -> u64 {
    rig.bank.book_totals().expect("the bank's book").rails.values().map(|sums| sums.paid).sum()
}
