//! The contracts of `contracts/`, carried out by the interpreter: what each function does and refuses, that money goes
//! nowhere else, that addresses are those that `domain` computes, and that the sandbox's USDC behaves as Circle's own.
//! Works on the committed bytecode, never on sources.

#![expect(clippy::unwrap_used, reason = "helpers of tests: clippy excuses test functions alone")]

mod abi;
mod admin;
mod artifacts;
mod batch;
mod circle;
mod differential;
mod escrow;
mod evm;
mod gas;
mod random;
mod refund;
mod roles;
mod tenant;
mod tether;
mod vectors;
mod wallet;
