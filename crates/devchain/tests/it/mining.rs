//! Timing of blocks, and their timestamps.

use std::sync::Arc;
use std::time::Duration;

use devchain::{DevChain, Mining, Options};
use serde_json::json;

use crate::support::{HandClock, OTHER, Wallet, call, number, options, send};

fn with_clock(mining: Mining) -> (DevChain, HandClock) {
    let clock = HandClock::at(2_000_000_000);
    let options = Options { mining, clock: Arc::new(clock.clone()), ..options() };
    (DevChain::open(options).expect("it works"), clock)
}

#[test]
fn block_times_follow_the_clock_and_strictly_increase() {
    let (chain, clock) = with_clock(Mining::ByHand);
    let mut times = Vec::new();
    for millis in [0, 400, 700, 5_000] {
        clock.advance_millis(millis);
        chain.mine(1).unwrap();
        times.push(chain.block_time() - 2_000_000_000);
    }
    assert_eq!(times, [0, 1, 2, 6]);
}

#[test]
fn time_can_be_advanced() {
    let (chain, _) = with_clock(Mining::Instant);
    let before = chain.block_time();
    chain.let_pass(48 * 3_600);
    assert_eq!(chain.block_time(), before);
    chain.mine(1).unwrap();
    assert!(chain.block_time() >= before + 48 * 3_600);
}

#[test]
fn manual_mode_mines_only_on_request() {
    let (chain, _) = with_clock(Mining::ByHand);
    send(&chain, &Wallet::new(1).pays(0, OTHER)).unwrap();
    assert_eq!(chain.block_number(), 0);
    chain.mine(1).unwrap();
    assert_eq!(number(&call(&chain, "eth_getBalance", json!([OTHER]))), 1);
}

#[test]
fn a_transaction_that_is_not_executable_yet_makes_no_block() {
    let (chain, _) = with_clock(Mining::Instant);
    send(&chain, &Wallet::new(1).pays(1, OTHER)).unwrap();
    assert_eq!(chain.block_number(), 0);
    send(&chain, &Wallet::new(1).pays(0, OTHER)).unwrap();
    assert_eq!((chain.block_number(), chain.nonce(Wallet::new(1).address)), (1, 2));
}

/// Lets the miner run until it waits again.
async fn settle() {
    for _ in 0..20 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn the_miner_keeps_its_interval_until_it_is_stopped() {
    let (chain, clock) = with_clock(Mining::Every(Duration::from_secs(2)));
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let miner = tokio::spawn({
        let chain = chain.clone();
        async move { chain.mine_forever(async { drop(stopped.await) }).await }
    });
    settle().await;
    send(&chain, &Wallet::new(1).pays(0, OTHER)).unwrap();
    let mut heights = Vec::new();
    for _ in 0..6 {
        clock.advance_millis(1_000);
        settle().await;
        heights.push(chain.block_number());
    }
    assert_eq!(heights, [0, 1, 1, 2, 2, 3]);
    assert_eq!(number(&call(&chain, "eth_getBalance", json!([OTHER]))), 1);

    // A clock jump yields one block, not thousands.
    clock.advance_millis(86_400_000);
    settle().await;
    assert_eq!(chain.block_number(), 4);

    stop.send(()).unwrap();
    miner.await.unwrap();
}

#[tokio::test]
async fn the_interval_can_be_changed_while_the_miner_waits() {
    let (chain, clock) = with_clock(Mining::Every(Duration::from_secs(1_000)));
    let miner = tokio::spawn({
        let chain = chain.clone();
        async move { chain.mine_forever(std::future::pending()).await }
    });
    settle().await;
    chain.set_mining(Mining::Every(Duration::from_millis(500)));
    settle().await;
    for _ in 0..4 {
        clock.advance_millis(500);
        settle().await;
    }
    assert_eq!(chain.block_number(), 4);
    chain.set_mining(Mining::ByHand);
    settle().await;
    clock.advance_millis(10_000);
    settle().await;
    assert_eq!(chain.block_number(), 4);
    miner.abort();
}

#[tokio::test]
async fn no_block_is_made_for_an_interval_that_ends_as_the_mode_changes() {
    const INTERVAL: Duration = Duration::from_millis(500);
    let (chain, clock) = with_clock(Mining::Every(INTERVAL));
    let miner = tokio::spawn({
        let chain = chain.clone();
        async move { chain.mine_forever(std::future::pending()).await }
    });
    settle().await;
    // Both are ready at once, and the miner handles either first.
    for _ in 0..32 {
        clock.advance_millis(500);
        chain.set_mining(Mining::ByHand);
        settle().await;
        assert_eq!(chain.block_number(), 0);
        chain.set_mining(Mining::Every(INTERVAL));
        settle().await;
    }
    miner.abort();
}
