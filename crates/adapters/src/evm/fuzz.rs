//! Fuzz targets of what nodes and key stores answer.

use domain::chain::{Address, Depth, Heads, Token};
use domain::currency::StableCoin;

use super::logs::Ours;
use super::reverts::Reverts;
use super::rpc::{self, RpcFault};
use super::signers;
use super::wire::{FeeHistory, Header, Log, TxReceipt};

/// The contracts of the seeds.
const USDC: Address = Address([0xc0; 20]);
const USDT: Address = Address([0xd0; 20]);
const CONTROLLER: Address = Address([0xe0; 20]);

/// A node's answer to one or two requests, its result read as each type.
pub(crate) fn answer(bytes: &[u8]) {
    for result in rpc::fuzz::results(bytes) {
        if let Ok(header) = rpc::read::<Header>("eth_getBlockByNumber", Ok(result.clone())) {
            let _bloom = header.bloom();
            let latest = header.block();
            let heads = Heads { latest, safe: None, finalized: None };
            for blocks in [1, 12, u64::MAX] {
                let deep = heads.newest_at(Depth::Blocks(blocks));
                assert!(deep.is_none_or(|height| height <= latest.number), "{latest:?}");
            }
        }
        if let Ok(receipt) = rpc::read::<TxReceipt>("eth_getTransactionReceipt", Ok(result.clone()))
        {
            read_logs(receipt.logs);
        }
        let _fees: Result<FeeHistory, RpcFault> = rpc::read("eth_feeHistory", Ok(result.clone()));
    }
}

/// Logs: those that are read are in the order of the chain, and none is read twice.
pub(crate) fn logs(bytes: &[u8]) {
    if let Ok(logs) = serde_json::from_slice::<Vec<Log>>(bytes) {
        read_logs(logs);
    }
}

fn read_logs(logs: Vec<Log>) {
    let tokens = [
        Token { coin: StableCoin::Usdc, address: USDC },
        Token { coin: StableCoin::Usdt, address: USDT },
    ];
    let ours = Ours { tokens: &tokens, controllers: &[CONTROLLER] };
    let reverts = Reverts::new().expect("the contracts' artifacts");
    for (_, reason) in ours.refusals(&logs, |data| reverts.describe(data)) {
        assert!(!reason.chars().any(char::is_control), "{reason:?}");
    }
    let count = logs.len();
    let Ok(read) = ours.read(logs, |_| true) else { return };
    assert!(read.len() <= count);
    let places = read.iter().map(|log| (log.block_number, log.log_index));
    assert!(places.clone().zip(places.skip(1)).all(|(one, next)| one < next), "{read:?}");
}

pub(crate) fn der(bytes: &[u8]) {
    signers::fuzz::der(bytes);
}
