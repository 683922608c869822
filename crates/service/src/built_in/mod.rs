//! The chain built into the program, for the sandbox and tests. In a build without the feature
//! `embedded-chain` its type is uninhabited, and opening a chain returns an error.

#[cfg(not(feature = "embedded-chain"))]
mod absent;
#[cfg(feature = "embedded-chain")]
mod present;

#[cfg(not(feature = "embedded-chain"))]
pub use absent::BuiltInChain;
#[cfg(feature = "embedded-chain")]
pub use present::BuiltInChain;
