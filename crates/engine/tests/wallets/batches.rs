//! What waits for its batch is not forgotten.

use domain::chain::Address;
use domain::time::Span;

use crate::world::{COIN, Setup, USDC, with};

/// How often everything else is let go on until a command must have been answered.
const ROUNDS: usize = 10_000;

#[test]
fn a_worker_s_command_is_executed_whenever_the_callers_turn_ends() {
    with(Setup::default(), async |world| {
        let (wallet, world) = (world.wallet().await, std::rc::Rc::new(world));
        // The turn, of two milliseconds, ends at each of the batcher's looks at the clock.
        for step in 1..=60 {
            let request = world.request(&wallet, COIN).await;
            world.clock.pass_at_each_look(Span(step * 50));
            // Callers are answered, and a worker reports right behind.
            world.request(&wallet, COIN).await;
            let local = tokio::task::LocalSet::new();
            let reporting = world.clone();
            let told =
                local.spawn_local(async move { reporting.found(&request, Address([0xaa; 20]), USDC, COIN).await });
            let rounds = async {
                for _ in 0..ROUNDS {
                    if told.is_finished() {
                        return;
                    }
                    tokio::task::yield_now().await;
                }
            };
            local.run_until(rounds).await;
            assert!(told.is_finished(), "nobody wakes the batcher where each look takes {} µs", step * 50);
            world.clock.pass_at_each_look(Span(0));
        }
    });
}
