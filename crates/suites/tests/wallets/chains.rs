//! What a chain's node and keys have to do before anything moves on it.

use std::sync::atomic::Ordering;

use domain::chain::{BlockHash, ChainConfig, ChainFault, ChainNumber, Receipt, TxHash};
use domain::time::Span;
use domain::wallet_effects::AlertKind;
use engine::alerts;
use engine::chains::{NotNamed, number};

use crate::world::{COIN, Setup, TENANT, World, with};

const OTHER_ID: u64 = 8_453;

async fn named(world: &World, chain_id: u64, is_first: bool) -> Result<u16, NotNamed> {
    let offered = world.wallets.offered().expect("offered").first();
    let config = ChainConfig { chain_id, ..(*offered.config).clone() };
    let number = number(&world.store, &config, world.chain.as_ref(), is_first).await?;
    Ok(number.0)
}

#[test]
fn a_chain_has_no_number_before_a_node_answers() {
    with(Setup::default(), async |world| {
        world.chain.silent.store(true, Ordering::SeqCst);
        let unreachable = NotNamed::Node(ChainFault::Unreachable("silent".to_owned()));
        assert_eq!(named(&world, OTHER_ID, false).await, Err(unreachable.clone()));
        assert_eq!(world.store.known_chains().await, Ok(Vec::new()), "nothing was entered");
        world.chain.silent.store(false, Ordering::SeqCst);
        assert_eq!(named(&world, OTHER_ID, false).await, Ok(2), "the first is that of [chain]");
        assert_eq!(named(&world, 1, true).await, Ok(1));
        // A known one is looked up.
        world.chain.silent.store(true, Ordering::SeqCst);
        assert_eq!(named(&world, OTHER_ID, false).await, Ok(2));
        assert_eq!(named(&world, 10, false).await, Err(unreachable));
    });
}

#[test]
fn a_named_chain_ends_alerts_about_an_id_that_was_configured_in_error() {
    with(Setup::default(), async |world| {
        let offered = world.wallets.offered().expect("offered").first();
        let name = &offered.config.name;
        let raise = async |what: &str| {
            alerts::raise_everywhere(&world.store, AlertKind::ChainNode, what).await;
        };
        let wrong_id = "nothing runs on this chain: none of its nodes has answered what a start asks of chain 10";
        raise(&format!("{name}: {wrong_id}")).await;
        let kept = [
            format!("{name}-2: {wrong_id}"),
            format!("{name}: deposits wait: too few nodes confirm blocks that are deep enough"),
        ];
        for what in &kept {
            raise(what).await;
        }
        assert_eq!(named(&world, 1, true).await, Ok(1));
        let open = world.store.alerts(TENANT, 10).await.expect("readable");
        let mut open: Vec<String> = open.into_iter().map(|(_, alert)| alert.what).collect();
        open.retain(|what| what.starts_with(name));
        open.sort();
        assert_eq!(open, kept);
    });
}

#[test]
fn a_chain_has_no_number_while_a_token_is_not_the_configured_coin() {
    with(Setup::default(), async |world| {
        world.chain.decimals.store(18, Ordering::SeqCst);
        let refused = named(&world, OTHER_ID, false).await.expect_err("amounts would be wrong");
        let said = refused.to_string();
        assert!(said.ends_with(" has 18 decimals, and USDC has 6"), "{said}");
        world.chain.decimals.store(u8::MAX, Ordering::SeqCst);
        let refused = named(&world, OTHER_ID, false).await.expect_err("it is no token");
        assert!(matches!(refused, NotNamed::NoToken { .. }), "{refused}");
        assert_eq!(world.store.known_chains().await, Ok(Vec::new()), "nothing was entered");
        world.chain.decimals.store(6, Ordering::SeqCst);
        assert_eq!(named(&world, OTHER_ID, false).await, Ok(2));
        // Before the tokens are deployed, as in a sandbox, they cannot be asked.
        world.chain.decimals.store(0, Ordering::SeqCst);
        assert_eq!(named(&world, 10, false).await, Ok(3));
    });
}

#[test]
fn what_is_older_than_the_numbers_belongs_to_the_chain_with_its_blocks() {
    with(Setup::default(), async |world| {
        world.chain.height.store(3, Ordering::SeqCst);
        world.work().await;
        let ingested = world.store.chain_headers(ChainNumber::FIRST, 9).await.expect("readable");
        let oldest = ingested.last().expect("ingested").number;
        assert!(oldest > 0, "{ingested:?}");
        // Another chain with the configured id, and one that is not that high yet.
        world.chain.branch.store(1, Ordering::SeqCst);
        assert_eq!(named(&world, 1, true).await, Err(NotNamed::OtherChain));
        world.chain.height.store(0, Ordering::SeqCst);
        assert_eq!(named(&world, 1, true).await, Err(NotNamed::OtherChain));
        assert_eq!(world.store.known_chains().await, Ok(Vec::new()), "nothing was entered");
        assert_eq!(named(&world, OTHER_ID, false).await, Ok(2), "a further chain is no concern");
        world.chain.branch.store(0, Ordering::SeqCst);
        world.chain.height.store(3, Ordering::SeqCst);
        assert_eq!(named(&world, 1, true).await, Ok(1));
    });
}

#[test]
fn actions_that_the_nodes_keep_waiting_raise_an_alert_that_ends_once_they_are_sent() {
    with(Setup::default(), async |world| {
        let wallet = world.wallet().await;
        let request = world.request(&wallet, 25 * COIN).await;
        let payer = domain::chain::Address([0xaa; 20]);
        world.pay_by(&request, "Ayesha", "Khan", payer, 25 * COIN).await;
        world.work().await;
        let alerts = async || {
            let alerts = world.store.alerts(TENANT, 10).await.expect("readable");
            let unsent = |what: &String| what.contains("have waited");
            alerts.into_iter().map(|(_, alert)| alert.what).filter(unsent).collect::<Vec<_>>()
        };
        world.later(Span::secs(30)).await;
        assert_eq!(alerts().await, [""; 0]);
        for _ in 0..3 {
            world.later(Span::mins(1)).await;
        }
        let raised = alerts().await;
        assert_eq!(raised.len(), 1, "one alert: {raised:?}");
        assert!(raised[0].starts_with("actions of the operator key 0x5151"), "{raised:?}");
        world.chain.works.store(true, Ordering::SeqCst);
        world.later(Span::mins(1)).await;
        assert_eq!(alerts().await, [""; 0]);
    });
}

/// The action waited for something else before.
#[test]
fn a_node_that_fails_once_raises_no_alert_about_an_old_action() {
    with(Setup { deployed: false, ..Setup::default() }, async |world| {
        world.chain.works.store(true, Ordering::SeqCst);
        let wallet = world.wallet().await;
        let request = world.request(&wallet, 25 * COIN).await;
        let payer = domain::chain::Address([0xaa; 20]);
        world.pay_by(&request, "Ayesha", "Khan", payer, 25 * COIN).await;
        for _ in 0..5 {
            world.later(Span::mins(1)).await;
        }
        world.chain.works.store(false, Ordering::SeqCst);
        world.chain.deployed.store(true, Ordering::SeqCst);
        world.later(Span::secs(3)).await;
        let alerts = world.store.alerts(TENANT, 10).await.expect("readable");
        assert!(!alerts.iter().any(|(_, alert)| alert.what.contains("have waited")), "{alerts:?}");
    });
}

#[test]
fn what_the_data_of_transactions_costs_counts_against_a_keys_balance() {
    for (data_fee, is_low) in [(0, false), (1_000_000, true)] {
        with(Setup::default(), async move |world| {
            world.chain.works.store(true, Ordering::SeqCst);
            world.chain.data_fee.store(data_fee, Ordering::SeqCst);
            world.chain.gas.store(10_000_000, Ordering::SeqCst);
            let request = world.request(&world.wallet().await, 25 * COIN).await;
            let payer = domain::chain::Address([0xaa; 20]);
            world.pay_by(&request, "Ayesha", "Khan", payer, 25 * COIN).await;
            world.work().await;
            let alerts = world.store.alerts(TENANT, 10).await.expect("readable");
            let low = alerts.iter().any(|(_, alert)| alert.what.contains("is low on gas"));
            assert_eq!(low, is_low, "{alerts:?}");
        });
    }
}

#[test]
fn a_key_that_does_not_sign_for_minutes_raises_an_alert_that_ends_with_a_signature() {
    with(Setup::default(), async |world| {
        world.chain.works.store(true, Ordering::SeqCst);
        let wallet = world.wallet().await;
        let request = world.request(&wallet, 25 * COIN).await;
        let payer = domain::chain::Address([0xaa; 20]);
        world.pay_by(&request, "Ayesha", "Khan", payer, 25 * COIN).await;
        world.work().await;
        let alerts = async || {
            let alerts = world.store.alerts(TENANT, 10).await.expect("readable");
            let unsigned = |what: &String| what.contains("has not signed");
            alerts.into_iter().map(|(_, alert)| alert.what).filter(unsigned).collect::<Vec<_>>()
        };
        world.later(Span::secs(30)).await;
        assert_eq!(alerts().await, [""; 0]);
        for _ in 0..3 {
            world.later(Span::mins(1)).await;
        }
        let raised = alerts().await;
        assert_eq!(raised.len(), 1, "one alert: {raised:?}");
        assert!(raised[0].starts_with("the operator key 0x5151"), "{raised:?}");
        world.keys.signs.store(true, Ordering::SeqCst);
        world.later(Span::mins(1)).await;
        assert_eq!(alerts().await, [""; 0]);
    });
}

/// Its replacement, which is due, waits for a signature.
#[test]
fn what_is_signed_is_broadcast_again_while_its_key_does_not_sign() {
    with(Setup::default(), async |world| {
        world.chain.works.store(true, Ordering::SeqCst);
        world.keys.signs.store(true, Ordering::SeqCst);
        let request = world.request(&world.wallet().await, 25 * COIN).await;
        let payer = domain::chain::Address([0xaa; 20]);
        world.pay_by(&request, "Ayesha", "Khan", payer, 25 * COIN).await;
        world.work().await;
        world.keys.signs.store(false, Ordering::SeqCst);
        world.later(Span::mins(10)).await;
        for _ in 0..5 {
            let before = world.chain.broadcasts.load(Ordering::SeqCst);
            world.later(Span::secs(30)).await;
            assert!(world.chain.broadcasts.load(Ordering::SeqCst) > before);
        }
        let txs = world.store.open_chain_txs(10).await.expect("readable");
        assert_eq!((txs.len(), txs[0].attempts.len()), (1, 1), "nothing else was signed");
    });
}

/// The nodes have a transaction in block 1.
fn mined(world: &World, tx: TxHash) {
    let receipt = Receipt {
        tx,
        block_number: 1,
        block: BlockHash([1; 32]),
        succeeded: true,
        gas_used: 50_000,
        logs: Vec::new(),
        refusals: Vec::new(),
        executed: Vec::new(),
    };
    world.chain.receipts.lock().expect("not poisoned").insert(tx, receipt);
}

/// A transaction at the highest fee whose key lacks gas waits for gas. Once it has been funded for a
/// while it is stuck, until it is mined.
#[test]
fn an_alert_about_a_stuck_transaction_is_not_about_missing_gas_and_ends_once_it_is_mined() {
    with(Setup::default(), async |world| {
        world.chain.works.store(true, Ordering::SeqCst);
        world.keys.signs.store(true, Ordering::SeqCst);
        world.chain.max_fee.store(1_000, Ordering::SeqCst);
        world.chain.gas.store(1, Ordering::SeqCst);
        let request = world.request(&world.wallet().await, 25 * COIN).await;
        let payer = domain::chain::Address([0xaa; 20]);
        world.pay_by(&request, "Ayesha", "Khan", payer, 25 * COIN).await;
        world.work().await;
        let alerts = async || {
            let alerts = world.store.alerts(TENANT, 10).await.expect("readable");
            let count = |part: &str| alerts.iter().filter(|(_, it)| it.what.contains(part)).count();
            (count("is stuck"), count("cannot pay for gas"))
        };
        for _ in 0..3 {
            world.later(Span::mins(2)).await;
        }
        assert_eq!(alerts().await, (0, 1));
        world.chain.gas.store(0, Ordering::SeqCst);
        world.later(Span::secs(30)).await;
        assert_eq!(alerts().await, (0, 1), "funded a moment ago");
        world.later(Span::mins(2)).await;
        assert_eq!(alerts().await, (1, 1));
        let txs = world.store.open_chain_txs(10).await.expect("readable");
        mined(&world, txs[0].attempts[0].hash);
        world.later(Span::mins(1)).await;
        assert_eq!(alerts().await, (0, 0));
    });
}

#[test]
fn an_alert_about_a_rejected_broadcast_ends_once_the_transaction_is_mined() {
    with(Setup::default(), async |world| {
        world.chain.works.store(true, Ordering::SeqCst);
        world.keys.signs.store(true, Ordering::SeqCst);
        let request = world.request(&world.wallet().await, 25 * COIN).await;
        let payer = domain::chain::Address([0xaa; 20]);
        world.pay_by(&request, "Ayesha", "Khan", payer, 25 * COIN).await;
        world.work().await;
        let rejected = async || {
            let alerts = world.store.alerts(TENANT, 10).await.expect("readable");
            alerts.iter().filter(|(_, alert)| alert.what.contains("node rejected")).count()
        };
        assert_eq!(rejected().await, 1);
        let txs = world.store.open_chain_txs(10).await.expect("readable");
        mined(&world, txs[0].attempts[0].hash);
        world.later(Span::mins(1)).await;
        assert_eq!(rejected().await, 0);
    });
}
