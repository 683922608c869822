//! The EVM adapter on real chains: the same tests on the embedded chain and on anvil, with the
//! sandbox's tokens and with Circle's own USDC.

mod flows;
mod ground;
mod hsm;
mod sending;
mod watching;
mod world;
