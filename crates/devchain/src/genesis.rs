//! Block 0: prefunded accounts and the deterministic CREATE2 deployer, which real chains have too.

use alloy_consensus::Header;
use alloy_consensus::constants::{EMPTY_OMMER_ROOT_HASH, EMPTY_ROOT_HASH, EMPTY_WITHDRAWALS};
use alloy_eips::eip7685::EMPTY_REQUESTS_HASH;
use alloy_primitives::{Address, B256, Bytes, U256, address, hex, keccak256};

use crate::block::{Block, extra_data, state_root};
use crate::options::Options;
use crate::state::{Account, Changes};

/// The deterministic deployer: call it with 32 bytes of salt and the creation code.
pub const CREATE2_DEPLOYER: Address = address!("0x4e59b44847b379578588920cA78FbF26c0B4956C");
const CREATE2_DEPLOYER_CODE: [u8; 69] = hex!(
    "7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffe03601600081602082378035828234f58015156039578182fd5b8082525050506014600cf3"
);
/// Wei per gas of block 0.
const INITIAL_BASE_FEE: u64 = 1_000_000_000;

/// State of block 0.
pub(crate) fn state(options: &Options) -> Changes {
    let deployer = Bytes::from_static(&CREATE2_DEPLOYER_CODE);
    let code_hash = keccak256(&deployer);
    let mut changes = Changes::default();
    for (address, wei) in &options.prefunded {
        let account = Account { balance: *wei, ..Account::NONE };
        changes.accounts.insert(*address, account.if_any());
    }
    let account = Account { nonce: 1, balance: U256::ZERO, code_hash };
    changes.accounts.insert(CREATE2_DEPLOYER, Some(account));
    changes.codes.insert(code_hash, deployer);
    changes
}

/// Makes block 0 of a new chain.
pub(crate) fn block(options: &Options, state: &Changes) -> Block {
    let header = Header {
        ommers_hash: EMPTY_OMMER_ROOT_HASH,
        state_root: state_root(B256::from(U256::from(options.chain_id)), state, &[]),
        transactions_root: EMPTY_ROOT_HASH,
        receipts_root: EMPTY_ROOT_HASH,
        gas_limit: options.gas_limit,
        timestamp: options.genesis_time,
        extra_data: extra_data(0),
        base_fee_per_gas: Some(INITIAL_BASE_FEE),
        withdrawals_root: Some(EMPTY_WITHDRAWALS),
        blob_gas_used: Some(0),
        excess_blob_gas: Some(0),
        parent_beacon_block_root: Some(B256::ZERO),
        requests_hash: Some(EMPTY_REQUESTS_HASH),
        ..Header::default()
    };
    Block::seal(header, Default::default())
}
