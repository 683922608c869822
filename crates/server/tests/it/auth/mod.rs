//! Who may call: tokens, keys, addresses.

mod hmac;
mod keys;
pub pub mod vectors;
