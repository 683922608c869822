//! Commands that wait for their batch are executed.

use std::pin::pin;

use domain::chain::Address;
use domain::time::Span;
use futures_util::FutureExt as _;

use crate::world::{COIN, Setup, USDC, with};

/// Polls of all other futures within which a command must be answered.
const ROUNDS: u32 = 10_000;

#[test]
fn a_workers_command_is_executed_whenever_the_callers_turn_ends() {
    with(Setup::default(), async |world| {
        let wallet = world.wallet().await;
        // The turn of two milliseconds ends at each of the batcher's clock reads in turn.
        for step in 1..=60 {
            let request = world.request(&wallet, COIN).await;
            world.clock.pass_at_each_look(Span(step * 50));
            // Callers are answered, and a worker reports right after.
            world.request(&wallet, COIN).await;
            let mut told = pin!(world.found(&request, Address([0xaa; 20]), USDC, COIN));
            let mut rounds = 0;
            while told.as_mut().now_or_never().is_none() {
                rounds += 1;
                assert!(
                    rounds < ROUNDS,
                    "the batcher is not woken if each clock read takes {} µs",
                    step * 50
                );
                tokio::task::yield_now().await;
            }
            world.clock.pass_at_each_look(Span(0));
        }
    });
}
