//! The wallet service as real processes on real chains: the same money flows on every chain, store
//! and signer, and their results when the process is killed between two steps. Judged by the public
//! API, the chain, the bank's ledger and the endpoint alone.

mod blocks;
mod exceptions;
mod failpoints;
mod flow;
mod freeze;
mod kills;
mod remittances;
mod verdict;
pub(super) mod world;

use chaos::chain as ground;
pub use chaos::chain::rpc;
