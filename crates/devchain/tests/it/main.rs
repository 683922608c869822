//! The chain from outside: JSON-RPC, pool and mining, reorganisations, the disk.

mod accounts;
mod anvil;
mod blocks;
mod calls;
mod control;
mod disk;
mod fees;
mod hand;
mod logs;
mod mining;
mod pool;
mod protocol;
mod random;
mod reorg;
mod support;
mod tokens;
mod transactions;
mod views;
