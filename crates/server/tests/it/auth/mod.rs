//! Authentication: tokens, keys, addresses.

mod hmac;
mod keys;
pub mod vectors;
