//! EVM chains: the ports `Chain`, `ChainSigner` and `Contracts` over JSON-RPC.
//!
//! Bytes are encoded and decoded here, without a client library: every field of a transaction,
//! every nonce and every retry is the engine's decision. This module makes no decision about money,
//! keeps no state that another process would need, and repeats no request.

mod abi;
mod artifact;
mod bloom;
mod chain;
mod contracts;
pub mod deploy;
#[cfg(any(test, feature = "fuzz"))]
pub(crate) mod fuzz;
mod hex;
mod logs;
mod reverts;
mod rlp;
mod rpc;
mod signer;
pub mod signers;
mod transaction;
mod wire;

pub use abi::blacklist_calls;
pub use artifact::ArtifactError;
pub use chain::EvmChain;
pub use contracts::{
    CONTROLLER_VERSION, CREATE2_DEPLOYER, ContractsError, ControllerSource, EvmContracts, Owners,
    Parts,
};
pub use logs::block_logs_filter;
pub use rpc::{HttpSettings, HttpTransport, Transport, TransportFault, ask_node};
pub use signer::EvmSigner;
pub use transaction::{Transaction, hash_of};
