//! kill -9 of the service at random moments during remittances, on an independent implementation of
//! a chain.

use std::time::Instant;

use testkit::wait::AT_MOST;
use testkit::{anvil, circle, wait};

use super::super::random::Random;
use super::super::{faults, seed};
use super::ground::Kind;
use super::remittances::Remittances;
use super::verdict::judge;
use super::world::{Setup, Signer, World};

#[tokio::test(flavor = "multi_thread")]
async fn killed_again_and_again_each_deposit_counts_once() {
    let part = "kill -9 of the wallet service";
    let Some(binary) = anvil::for_tests(part).expect("standard error") else { return };
    let Some(code) = circle::for_tests(part).expect("Circle's artifacts") else { return };
    let Some(cluster) = testkit::postgres::for_tests(part).expect("PostgreSQL") else { return };
    let url = cluster.database("wallets_killed").expect("a database");
    let seed = seed(0xC1C1);
    let kind = Kind::Anvil(binary);
    let setup =
        Setup { kind, circle: Some(code), store_url: Some(&url), signer: Signer::Seed, seed };
    let mut world = World::start(setup).await;
    let (random, begun) = (Random::new(seed), Instant::now());
    let mut node = world.node().await;
    let mut remittances = Remittances::start(&world, &node).await;
    let kills = faults(10, 100);
    for _ in 0..kills {
        remittances.ask(&world, &node).await;
        let arrived = world.receiver.book().entries().len();
        remittances.pay(&world).await;
        remittances.exchange(&world, &node.address).await;
        // A random moment: after this many webhooks and blocks.
        let (webhooks, blocks) = (random.below(5), random.below(30));
        let from = world.ground.rpc().height().await;
        let come = || async {
            let arrived = world.receiver.book().entries().len() - arrived;
            arrived as u64 >= webhooks && world.ground.rpc().height().await >= from + blocks
        };
        assert!(wait::until_async(AT_MOST, come).await, "seed {seed}: {}", node.process.log_tail());
        node.process.kill();
        node = world.successor();
        remittances.make_clear(&world, &node).await;
    }
    world.rig.heal_bank();
    judge(&world, &node, &remittances).await;
    let (paid, orders) = (remittances.paid.len(), remittances.orders.len());
    eprintln!(
        "{kills} kills in {:?} (seed {seed}): {paid} deposits, {orders} orders",
        begun.elapsed()
    );
    node.process.stop();
}
