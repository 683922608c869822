//! The chain that is built into the program, for the sandbox and tests. A build without the feature `embedded-chain` has
//! none: nothing there can be made of the type, and opening one says so.

#[cfg(not(feature = "embedded-chain"))]
mod absent;
#[cfg(feature = "embedded-chain")]
mod present;

#[cfg(not(feature = "embedded-chain"))]
pub use absent::BuiltInChain;
#[cfg(feature = "embedded-chain")]
pub use present::BuiltInChain;
