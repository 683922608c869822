//! Reorganisations undo all effects, and transactions are mined again in other blocks.

use devchain::alloy_primitives::{B256, U256};
use devchain::{DevChain, Mining, Order, Reorg, ReorgFault};
use serde_json::{Value, json};

use crate::support::{LOGGER, OTHER, SOMEBODY, Wallet, call, chain, ether, number, quantity, send};

fn hashes(chain: &DevChain) -> Vec<Value> {
    let block = |number| {
        call(chain, "eth_getBlockByNumber", json!([quantity(number), false]))["hash"].clone()
    };
    (0..=chain.block_number()).map(block).collect()
}

fn logs(chain: &DevChain) -> usize {
    call(chain, "eth_getLogs", json!([{ "fromBlock": "0x0" }])).as_array().expect("a list").len()
}

/// Block 1 has a contract; each of the 40 blocks above pays OTHER one wei and writes a log.
fn busy() -> (DevChain, Vec<B256>) {
    let chain = chain();
    let logger = chain.deploy(SOMEBODY, LOGGER.to_vec()).expect("it works");
    let payer = Wallet::new(1);
    let pay = |nonce| {
        let tx = alloy_consensus::TxEip1559 {
            gas_limit: 100_000,
            input: vec![nonce as u8; 32].into(),
            ..crate::support::transfer(nonce, logger, 1)
        };
        send(&chain, &payer.sign(tx)).expect("it works")
    };
    let sent = (0..40).map(pay).collect();
    (chain, sent)
}

#[test]
fn balances_storage_logs_and_receipts_are_undone() {
    for depth in [1_u64, 2, 7, 32] {
        let (chain, sent) = busy();
        let logger = SOMEBODY.create(0);
        let before = hashes(&chain);
        chain.reorg(&Reorg { depth, ..Reorg::default() }).unwrap();

        let kept = 40 - depth;
        let after = hashes(&chain);
        assert_eq!(after.len(), before.len(), "depth {depth}: as many blocks as before");
        let same = before.iter().zip(&after).take_while(|(one, other)| one == other).count() as u64;
        assert_eq!(same, 2 + kept, "depth {depth}: all others are other blocks");
        assert_eq!(chain.balance(logger), U256::from(kept));
        assert_eq!(chain.nonce(Wallet::new(1).address), kept);
        let slot: U256 = call(&chain, "eth_getStorageAt", json!([logger, "0x0", "latest"]))
            .as_str()
            .unwrap()
            .parse()
            .unwrap();
        assert_eq!(slot.byte(0), (kept - 1) as u8);
        assert_eq!(logs(&chain) as u64, kept);
        for (index, hash) in sent.iter().enumerate() {
            let receipt = call(&chain, "eth_getTransactionReceipt", json!([hash]));
            assert_eq!(receipt.is_null(), index as u64 >= kept, "depth {depth}: receipt {index}");
        }
        for gone in &before[2 + kept as usize..] {
            assert_eq!(call(&chain, "eth_getBlockByHash", json!([gone, false])), Value::Null);
        }
    }
}

#[test]
fn reorganised_transactions_wait_and_are_mined_again() {
    let (chain, sent) = busy();
    chain.reorg(&Reorg { depth: 7, ..Reorg::default() }).unwrap();
    let waiting = call(&chain, "eth_getTransactionByHash", json!([sent[39]]));
    assert_eq!(waiting["blockHash"], Value::Null);
    chain.mine(1).unwrap();
    assert_eq!((chain.balance(SOMEBODY.create(0)), logs(&chain)), (U256::from(40), 40));
    let receipt = call(&chain, "eth_getTransactionReceipt", json!([sent[39]]));
    assert_eq!(number(&receipt["blockNumber"]), 42);
}

#[test]
fn transactions_come_back_in_other_blocks_of_the_same_height() {
    let (chain, sent) = busy();
    let place = |hash: &B256| call(&chain, "eth_getTransactionReceipt", json!([hash]));
    let before = place(&sent[39]);
    chain.reorg(&Reorg { depth: 1, reinclude: true, ..Reorg::default() }).unwrap();
    let after = place(&sent[39]);
    assert_eq!(after["blockNumber"], before["blockNumber"]);
    assert_ne!(after["blockHash"], before["blockHash"]);
    assert_eq!(after["logs"][0]["transactionHash"], before["logs"][0]["transactionHash"]);
    chain.reorg(&Reorg { depth: 7, reinclude: true, ..Reorg::default() }).unwrap();
    let together: Vec<_> =
        sent[33..].iter().map(|hash| number(&place(hash)["blockNumber"])).collect();
    assert_eq!(together, [35; 7]);
    assert_eq!(chain.balance(SOMEBODY.create(0)), U256::from(40));
}

#[test]
fn a_dropped_transaction_is_never_seen_again() {
    let (chain, sent) = busy();
    chain
        .reorg(&Reorg { depth: 2, drop: vec![sent[38]], reinclude: true, ..Reorg::default() })
        .unwrap();
    assert_eq!(call(&chain, "eth_getTransactionByHash", json!([sent[38]])), Value::Null);
    // The nonce of the transaction after it is too high now: it waits.
    assert_eq!(
        call(&chain, "eth_getTransactionByHash", json!([sent[39]]))["blockHash"],
        Value::Null
    );
    chain.mine(1).unwrap();
    assert_eq!(logs(&chain), 38);
}

#[test]
fn the_order_can_change_except_within_a_sender() {
    let order = |order| {
        let options = devchain::Options { mining: Mining::ByHand, ..crate::support::options() };
        let chain = DevChain::open(options).unwrap();
        for nonce in 0..3 {
            for number in 1..=3 {
                send(&chain, &Wallet::new(number).pays(nonce, OTHER)).unwrap();
            }
        }
        chain.mine(1).unwrap();
        chain.reorg(&Reorg { depth: 1, reinclude: true, order, ..Reorg::default() }).unwrap();
        let block = call(&chain, "eth_getBlockByNumber", json!(["latest", true]));
        let txs = block["transactions"].as_array().unwrap().clone();
        txs.iter()
            .map(|tx| (tx["from"].as_str().unwrap().to_owned(), number(&tx["nonce"])))
            .collect::<Vec<_>>()
    };
    let same = order(Order::Same);
    let mut reversed = order(Order::Reversed);
    assert_eq!(same.len(), 9);
    assert_ne!(same, reversed);
    for txs in [&same, &reversed, &order(Order::Shuffled(5))] {
        for sender in txs.iter().map(|(sender, _)| sender) {
            let nonces: Vec<_> =
                txs.iter().filter(|(from, _)| from == sender).map(|(_, nonce)| *nonce).collect();
            assert_eq!(nonces, [0, 1, 2]);
        }
    }
    assert_eq!(order(Order::Shuffled(5)), order(Order::Shuffled(5)));
    assert_ne!(order(Order::Shuffled(5)), order(Order::Shuffled(6)));
    reversed.reverse();
    let senders =
        |txs: &[(String, u64)]| txs.iter().map(|(sender, _)| sender.clone()).collect::<Vec<_>>();
    assert_eq!(senders(&reversed), senders(&same));
}

#[test]
fn set_balances_stay() {
    let chain = chain();
    chain.set_balance(SOMEBODY, ether(5)).unwrap();
    chain.mine(2).unwrap();
    chain.set_balance(OTHER, ether(7)).unwrap();
    chain.reorg(&Reorg { depth: 2, ..Reorg::default() }).unwrap();
    assert_eq!((chain.balance(SOMEBODY), chain.balance(OTHER)), (ether(5), ether(7)));
    // But not before they were set.
    assert_eq!(call(&chain, "eth_getBalance", json!([SOMEBODY, "0x0"])), json!("0x0"));
}

#[test]
fn as_deep_as_256_blocks_and_no_deeper() {
    let chain = chain();
    chain.mine(300).unwrap();
    let before = hashes(&chain);
    let deep = |depth| chain.reorg(&Reorg { depth, ..Reorg::default() });
    assert!(matches!(deep(257), Err(ReorgFault::TooDeep { depth: 257, most: 256 })));
    assert_eq!(hashes(&chain), before);
    deep(256).unwrap();
    let after = hashes(&chain);
    assert_eq!((&before[44], before[45] == after[45]), (&after[44], false));
    assert!(matches!(deep(301), Err(ReorgFault::TooDeep { .. })));
}

#[test]
fn the_first_block_stays() {
    let chain = chain();
    chain.mine(2).unwrap();
    let genesis = hashes(&chain)[0].clone();
    chain.reorg(&Reorg { depth: 2, ..Reorg::default() }).unwrap();
    assert_eq!(hashes(&chain)[0], genesis);
    assert!(matches!(
        chain.reorg(&Reorg { depth: 3, ..Reorg::default() }),
        Err(ReorgFault::TooDeep { most: 2, .. })
    ));
}

#[test]
fn new_blocks_keep_the_times_of_the_replaced_ones() {
    let chain = chain();
    chain.let_pass(1_000);
    chain.mine(1).unwrap();
    chain.let_pass(2_000);
    chain.mine(2).unwrap();
    let times = |chain: &DevChain| {
        let time = |number| number_of(chain, number);
        (1..=3).map(time).collect::<Vec<_>>()
    };
    let before = times(&chain);
    chain.reorg(&Reorg { depth: 3, ..Reorg::default() }).unwrap();
    assert_eq!(times(&chain), before);
}

fn number_of(chain: &DevChain, block: u64) -> u64 {
    number(&call(chain, "eth_getBlockByNumber", json!([quantity(block), false]))["timestamp"])
}
