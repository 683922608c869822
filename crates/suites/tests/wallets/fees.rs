//! Fees that nodes ask for.

use std::sync::atomic::Ordering;

use domain::chain::Address;
use domain::wallet::Wallet;
use domain::wallet_effects::AlertKind;

use crate::world::{COIN, Setup, TENANT, World, with};

/// Releases one more deposit at this fee; returns the alerts about fees so far.
async fn alerts_after_release_at(world: &World, wallet: &Wallet, max_fee: u64) -> usize {
    world.chain.max_fee.store(max_fee, Ordering::SeqCst);
    let request = world.request(wallet, COIN).await;
    let asked = world.chain.fees_asked.load(Ordering::SeqCst);
    world.pay_by(&request, "Ayesha", "Khan", Address([0xaa; 20]), COIN).await;
    world.work().await;
    assert!(world.chain.fees_asked.load(Ordering::SeqCst) > asked, "a transaction was begun");
    let alerts = world.store.alerts(TENANT, 100).await.expect("readable");
    let is_fee = |kind, what: &str| kind == AlertKind::Transaction && what.contains("gas price");
    alerts.iter().filter(|(_, alert)| is_fee(alert.kind, &alert.what)).count()
}

/// The usual fee is a moving average in which the latest has a weight of one sixteenth.
#[test]
fn ten_times_the_usual_fee_raises_an_alert() {
    with(Setup::default(), async |world| {
        world.chain.works.store(true, Ordering::SeqCst);
        let wallet = world.wallet().await;
        for (fee, alerts) in [(1_000, 0), (9_999, 0), (15_619, 0), (24_399, 0)] {
            assert_eq!(alerts_after_release_at(&world, &wallet, fee).await, alerts, "{fee}");
        }
        // The usual one is (24,399 + 15 × 2,440) / 16 = 3,812 now.
        assert_eq!(alerts_after_release_at(&world, &wallet, 38_120).await, 1);
        assert_eq!(alerts_after_release_at(&world, &wallet, 400_000).await, 1, "the same alert");
    });
}
