//! Random histories of a chain: restarts do not change them, and undone blocks leave no trace.

use devchain::alloy_primitives::U256;
use devchain::{DevChain, Options, Order, Reorg};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::support::{LOGGER, OTHER, SOMEBODY, Wallet, fingerprint, options, send};

#[derive(Clone, Debug)]
enum Step {
    Pay(u8),
    Log(u8),
    Deploy,
    Grant(u64),
    Mine(u64),
    LetPass(u64),
    Reorg(Reorg),
    Snapshot,
    Restart,
}

fn step() -> impl Strategy<Value = Step> {
    let order = prop_oneof![
        Just(Order::Same),
        Just(Order::Reversed),
        any::<u64>().prop_map(Order::Shuffled)
    ];
    let reorg = (1..12_u64, order).prop_map(|(depth, order)| Reorg {
        depth,
        reinclude: true,
        order,
        drop: Vec::new(),
    });
    prop_oneof![
        3 => (1..=3_u8).prop_map(Step::Pay),
        3 => any::<u8>().prop_map(Step::Log),
        1 => Just(Step::Deploy),
        1 => any::<u64>().prop_map(Step::Grant),
        3 => (1..20_u64).prop_map(Step::Mine),
        1 => (1..1_000_u64).prop_map(Step::LetPass),
        2 => reorg.prop_map(Step::Reorg),
        1 => Just(Step::Snapshot),
        3 => Just(Step::Restart),
    ]
}

fn take(chain: &DevChain, step: &Step) {
    let act = |to, data: Vec<u8>| chain.transact_as(SOMEBODY, to, data, U256::ZERO).expect("mined");
    match step {
        Step::Pay(number) => {
            let payer = Wallet::new(*number);
            send(chain, &payer.pays(chain.nonce(payer.address), OTHER)).expect("taken");
        }
        Step::Log(byte) => drop(act(Some(SOMEBODY.create(0)), vec![*byte; 32])),
        Step::Deploy => drop(act(None, LOGGER.to_vec())),
        Step::Grant(wei) => chain.set_balance(OTHER, U256::from(*wei)).expect("set"),
        Step::Mine(blocks) => chain.mine(*blocks).expect("mined"),
        Step::LetPass(seconds) => {
            chain.let_pass(*seconds);
            chain.mine(1).expect("mined");
        }
        Step::Reorg(reorg) => {
            let depth = reorg.depth.min(chain.block_number());
            chain.reorg(&Reorg { depth, ..reorg.clone() }).expect("replaced");
        }
        Step::Snapshot => chain.snapshot().expect("written"),
        Step::Restart => {}
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn restarts_change_nothing(steps in vec(step(), 1..24)) {
        let dir = tempfile::tempdir().expect("a directory");
        let open = || {
            DevChain::open(Options { data_dir: Some(dir.path().to_owned()), ..options() }).expect("a chain")
        };
        let in_memory = DevChain::open(options()).expect("a chain");
        let mut on_disk = open();
        for step in &steps {
            take(&in_memory, step);
            take(&on_disk, step);
            if matches!(step, Step::Restart) {
                drop(on_disk);
                on_disk = open();
            }
        }
        prop_assert_eq!(fingerprint(&on_disk), fingerprint(&in_memory));
    }

    #[test]
    fn undone_blocks_leave_no_trace(before in vec(step(), 0..8), undone in vec(step(), 1..16)) {
        let chain = DevChain::open(options()).expect("a chain");
        before.iter().for_each(|step| take(&chain, step));
        let accounts = |chain: &DevChain| {
            let all = (1..=3).map(|number| Wallet::new(number).address).chain([SOMEBODY, OTHER]);
            let logs = chain.call("eth_getLogs", serde_json::json!([{ "fromBlock": "0x0" }])).expect("logs");
            let slot = chain.call("eth_getStorageAt", serde_json::json!([SOMEBODY.create(0), "0x0"])).expect("slot");
            (all.map(|account| (chain.balance(account), chain.nonce(account))).collect::<Vec<_>>(), logs, slot)
        };
        let (height, seen) = (chain.block_number(), accounts(&chain));
        // Reorganisations would reach below; set balances stay by design.
        for step in undone.iter().filter(|step| !matches!(step, Step::Reorg(_) | Step::Grant(_))) {
            take(&chain, step);
        }
        chain.reorg(&Reorg { depth: chain.block_number() - height, ..Reorg::default() }).expect("replaced");
        prop_assert_eq!(accounts(&chain), seen);
    }
}
