//! The disk: the same chain after a restart, whatever was truncated.

use std::fs::{self, OpenOptions};
use std::path::Path;

use devchain::alloy_primitives::U256;
use devchain::{DevChain, DiskFault, Options, Reorg};
use serde_json::{Value, json};

use crate::support::{LOGGER, OTHER, SOMEBODY, Wallet, call, ether, fingerprint, options, send};

fn open(dir: &Path) -> DevChain {
    try_open(dir).expect("it works")
}

fn try_open(dir: &Path) -> Result<DevChain, DiskFault> {
    DevChain::open(Options { data_dir: Some(dir.to_owned()), ..options() })
}

/// Executes some of everything.
fn live(chain: &DevChain) {
    let payer = Wallet::new(1);
    let first = chain.nonce(payer.address);
    let logger = chain.deploy(SOMEBODY, LOGGER.to_vec()).expect("it works");
    chain.transact_as(OTHER, Some(logger), vec![1; 32], U256::ZERO).expect("it works");
    chain.mine(5).expect("it works");
    send(chain, &payer.pays(first, OTHER)).expect("it works");
    chain.let_pass(500);
    chain.mine(3).expect("it works");
    chain.set_balance(SOMEBODY, ether(3)).expect("it works");
    send(chain, &payer.pays(first + 1, OTHER)).expect("it works");
    chain.reorg(&Reorg { depth: 4, reinclude: true, ..Reorg::default() }).expect("it works");
    chain.mine(2).expect("it works");
    chain.set_balance(OTHER, ether(4)).expect("it works");
}

#[test]
fn a_restart_changes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let chain = open(dir.path());
    for round in 0..3 {
        live(&chain);
        let before = fingerprint(&chain);
        drop(chain.clone());
        if round == 1 {
            chain.snapshot().unwrap();
        }
        assert_eq!(fingerprint(&chain), before, "round {round}");
    }
    let before = fingerprint(&chain);
    drop(chain);
    let chain = open(dir.path());
    assert_eq!(fingerprint(&chain), before);
    // It continues as it would have, reorganisations included.
    let depth = chain.block_number();
    chain.reorg(&Reorg { depth, ..Reorg::default() }).unwrap();
    assert_eq!(chain.balance(OTHER), ether(4));
    let after = fingerprint(&chain);
    drop(chain);
    assert_eq!(fingerprint(&open(dir.path())), after);
}

#[test]
fn each_step_survives_a_crash_right_after_it() {
    let dir = tempfile::tempdir().unwrap();
    let payer = Wallet::new(1);
    let steps: [fn(&DevChain, &Wallet); 7] = [
        |chain, _| chain.mine(1).unwrap(),
        |chain, _| chain.mine(2).unwrap(),
        |chain, payer| assert!(send(chain, &payer.pays(chain.nonce(payer.address), OTHER)).is_ok()),
        |chain, _| chain.set_balance(SOMEBODY, ether(9)).unwrap(),
        |chain, _| chain.mine(1).unwrap(),
        |chain, _| chain.reorg(&Reorg { depth: 2, reinclude: true, ..Reorg::default() }).unwrap(),
        |chain, _| chain.snapshot().unwrap(),
    ];
    for round in 0..3 {
        for (index, step) in steps.iter().enumerate() {
            let chain = open(dir.path());
            step(&chain, &payer);
            let before = fingerprint(&chain);
            drop(chain);
            assert_eq!(fingerprint(&open(dir.path())), before, "round {round}, step {index}");
        }
    }
}

fn size(dir: &Path) -> u64 {
    fs::read_dir(dir)
        .expect("it works")
        .map(|entry| entry.expect("it works").metadata().expect("it works").len())
        .sum()
}

#[test]
fn empty_blocks_need_no_space() {
    let dir = tempfile::tempdir().unwrap();
    let chain = open(dir.path());
    chain.mine(2).unwrap();
    let before = size(dir.path());
    chain.mine(200).unwrap();
    assert_eq!(size(dir.path()), before);
    let before = fingerprint(&chain);
    drop(chain);
    assert_eq!(fingerprint(&open(dir.path())), before);
}

#[test]
fn a_long_tail_becomes_a_snapshot() {
    let dir = tempfile::tempdir().unwrap();
    let chain = open(dir.path());
    chain.mine(950).unwrap();
    live(&chain);
    assert!(dir.path().join("tail.0").exists());
    chain.mine(200).unwrap();
    assert!(!dir.path().join("tail.0").exists() && dir.path().join("tail.1").exists());
    assert!(size(dir.path()) < 1 << 20, "{} bytes", size(dir.path()));
    let before = fingerprint(&chain);
    drop(chain);
    assert_eq!(fingerprint(&open(dir.path())), before);
}

/// Any prefix of the tail is an earlier chain.
#[test]
fn a_truncated_tail_is_an_earlier_chain() {
    let dir = tempfile::tempdir().unwrap();
    let chain = open(dir.path());
    let (payer, tail) = (Wallet::new(1), dir.path().join("tail.0"));
    let head = |chain: &DevChain| {
        call(chain, "eth_getBlockByNumber", json!(["latest", false]))["hash"].clone()
    };
    let mut pasts: Vec<(u64, Value)> = vec![(0, head(&chain))];
    for nonce in 0..3 {
        send(&chain, &payer.pays(nonce, OTHER)).unwrap();
        pasts.push((fs::metadata(&tail).unwrap().len(), head(&chain)));
    }
    drop(chain);
    let whole = fs::read(&tail).unwrap();
    for length in (0..=whole.len()).rev().step_by(97).chain([1, 5, 13]) {
        fs::write(&tail, &whole[..length]).unwrap();
        let (bytes, expected) =
            pasts.iter().rev().find(|(bytes, _)| *bytes <= length as u64).unwrap();
        let chain = open(dir.path());
        assert_eq!(head(&chain), *expected, "{length} bytes");
        assert_eq!(fs::metadata(&tail).unwrap().len(), *bytes, "the rest is gone");
        drop(chain);
    }
}

#[test]
fn a_chain_continues_after_a_truncated_tail() {
    let dir = tempfile::tempdir().unwrap();
    let chain = open(dir.path());
    live(&chain);
    drop(chain);
    let tail = dir.path().join("tail.0");
    let length = fs::metadata(&tail).unwrap().len();
    OpenOptions::new().write(true).open(&tail).unwrap().set_len(length - 3).unwrap();
    let chain = open(dir.path());
    chain.mine(3).unwrap();
    live(&chain);
    let before = fingerprint(&chain);
    drop(chain);
    assert_eq!(fingerprint(&open(dir.path())), before);
}

#[test]
fn a_run_whose_last_write_was_torn_loses_one_block_at_most() {
    let dir = tempfile::tempdir().unwrap();
    let chain = open(dir.path());
    chain.mine(5).unwrap();
    let hash = call(&chain, "eth_getBlockByNumber", json!(["0x4", false]))["hash"].clone();
    drop(chain);
    let path = dir.path().join("run");
    let whole = fs::read(&path).unwrap();
    for at in 0..whole.len() {
        if whole[at] == 0 {
            continue;
        }
        let mut torn = whole.clone();
        torn[at] ^= 0xff;
        fs::write(&path, &torn).unwrap();
        let chain = open(dir.path());
        let head = chain.block_number();
        assert!((4..=5).contains(&head), "byte {at}: block {head}");
        assert_eq!(call(&chain, "eth_getBlockByNumber", json!(["0x4", false]))["hash"], hash);
    }
}

#[test]
fn an_unfinished_snapshot_is_harmless() {
    let dir = tempfile::tempdir().unwrap();
    let chain = open(dir.path());
    live(&chain);
    let before = fingerprint(&chain);
    drop(chain);
    fs::write(dir.path().join("snapshot.new"), b"half").unwrap();
    fs::write(dir.path().join("tail.1"), b"").unwrap();
    assert_eq!(fingerprint(&open(dir.path())), before);
    assert!(!dir.path().join("tail.1").exists());
}

#[test]
fn a_damaged_snapshot_is_reported_and_not_replaced() {
    let dir = tempfile::tempdir().unwrap();
    drop(open(dir.path()));
    let path = dir.path().join("snapshot");
    let mut bytes = fs::read(&path).unwrap();
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    fs::write(&path, &bytes).unwrap();
    assert!(matches!(try_open(dir.path()), Err(DiskFault::Damaged { .. })));
    assert_eq!(fs::read(&path).unwrap(), bytes);
}

#[test]
fn one_process_at_a_time() {
    let dir = tempfile::tempdir().unwrap();
    let chain = open(dir.path());
    assert!(matches!(try_open(dir.path()), Err(DiskFault::InUse { .. })));
    drop(chain);
    open(dir.path());
}

#[test]
fn the_chain_of_another_id_is_not_opened() {
    let dir = tempfile::tempdir().unwrap();
    drop(open(dir.path()));
    let other = Options { chain_id: 1, data_dir: Some(dir.path().to_owned()), ..options() };
    assert!(matches!(
        DevChain::open(other),
        Err(DiskFault::OtherChain { found: 31_337, wanted: 1 })
    ));
}
