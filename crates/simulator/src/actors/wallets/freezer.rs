//! An officer who blocks a wallet in the middle of what is being done with its money: while a release or a debit waits for
//! its transaction, or is signed and not mined.

use std::sync::Arc;

use domain::time::Span;

use super::customers::Programs;
use crate::audit::Auditor;
use crate::random::Random;
use crate::run::{Owner, Pace};

/// Schedules with such an officer, in thousandths.
const SCHEDULES_PER_MILLE: u64 = 250;
/// How often they look, and for how long.
const EVERY: Span = Span::millis(300);
const LOOKS: u32 = 300;
/// Whether they block a wallet that they see, in thousandths, and how often at most.
const BLOCKED_PER_MILLE: u64 = 120;
const BLOCKS: u32 = 2;

/// Begins the officer's task, in some seeds.
pub(super) fn begin(programs: &Programs, auditor: &Arc<Auditor>, seed: u64) {
    let mut random = Random::stream(seed, "freezer");
    if !random.chance(SCHEDULES_PER_MILLE) {
        return;
    }
    programs.truth.begin(1);
    let (programs, auditor) = (programs.clone(), auditor.clone());
    programs.sim.clone().spawn(Owner::World, "freezer", async move {
        watch(&programs, &auditor, &mut random).await;
        programs.truth.end();
    });
}

async fn watch(programs: &Programs, auditor: &Auditor, random: &mut Random) {
    let mut blocks = 0;
    for _ in 0..LOOKS {
        if blocks == BLOCKS {
            return;
        }
        programs.sim.sleep_until(programs.sim.now() + EVERY, Pace::Exact).await;
        for wallet in auditor.moving_wallets() {
            if blocks < BLOCKS && random.chance(BLOCKED_PER_MILLE) {
                blocks += 1;
                programs.block(wallet, None).await;
                programs.sim.sleep(Span::millis(random.between(0, 30_000))).await;
                programs.unblock(wallet).await;
            }
        }
    }
}
