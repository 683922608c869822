//! The contracts of `contracts/`, executed by the interpreter: effects and refusals of each
//! function, permitted destinations of money, addresses as computed by `domain`, and the sandbox's
//! USDC compared with Circle's own. Uses the committed bytecode, never sources.

#![expect(clippy::unwrap_used, reason = "helpers of tests: clippy excuses test functions alone")]

mod abi;
mod admin;
mod artifacts;
mod authorizations;
mod batch;
mod circle;
mod delays;
mod differential;
mod escrow;
mod evm;
mod gas;
mod invariants;
mod random;
mod refund;
mod roles;
mod tenant;
mod tether;
mod vectors;
mod wallet;
