//! Who may call: tokens, keys, addresses.

mod hmac;
mod keys;
mod vectors;
