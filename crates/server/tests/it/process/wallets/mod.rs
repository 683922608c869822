//! The wallet service as real processes on real chains: the same flows of money on every chain, store and signer, and
//! what is left of them when the process is killed between two steps. Judged by the public API, the chain, the bank's
//! book and the receiver's alone.

mod blocks;
mod exceptions;
mod failpoints;
mod flow;
mod freeze;
mod ground;
mod kills;
mod remittances;
pub mod rpc;
mod verdict;
mod world;
