//! A chain with a funded sender, signing keys, and small contracts.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use alloy_consensus::{SignableTransaction, TxEip1559, TxEip2930, TxEnvelope, TxLegacy};
use alloy_eips::eip2718::Encodable2718 as _;
use alloy_eips::eip7702::{Authorization, SignedAuthorization};
use devchain::alloy_primitives::{Address, B256, Bytes, Signature, TxKind, U256, hex, keccak256};
use devchain::{DevChain, Options, RpcFault};
use domain::ports::{BoxFuture, Clock};
use domain::time::Timestamp;
use k256::ecdsa::SigningKey;
use serde_json::{Value, json};

pub const CHAIN_ID: u64 = 31_337;
pub const GWEI: u128 = 1_000_000_000;
pub const SOMEBODY: Address = Address::repeat_byte(0x11);
pub const OTHER: Address = Address::repeat_byte(0x22);

/// Returns 42 for any call.
pub const FORTY_TWO: [u8; 22] = hex!("600a600c600039600a6000f3602a60005260206000f3");
/// Code that always reverts with `Error("no")`.
pub const REFUSER: [u8; 46] = hex!(
    "6022600c60003960226000f3"
    "62461bcd60e51b60005260206004526002602452616e6f60f01b60445260646000fd"
);
/// Stores the first word of its call data in slot 0, and logs all of it with the topic 7.
pub const LOGGER: [u8; 31] =
    hex!("6013600c60003960136000f3" "6000356000553660006000376007366000a100");

pub fn ether(count: u64) -> U256 {
    U256::from(count) * U256::from(10).pow(U256::from(18))
}

/// An account with a key and a nonce that the test counts.
pub struct Wallet {
    key: SigningKey,
    pub address: Address,
}

impl Wallet {
    pub fn new(number: u8) -> Wallet {
        let key = SigningKey::from_slice(&[number; 32]).expect("it works");
        let public = key.verifying_key().to_encoded_point(false);
        let address = Address::from_slice(&keccak256(&public.as_bytes()[1..])[12..]);
        Wallet { key, address }
    }

    pub fn sign<T: SignableTransaction<Signature>>(&self, tx: T) -> Bytes
    where
        TxEnvelope: From<alloy_consensus::Signed<T>>,
    {
        let (signature, recovery) =
            self.key.sign_prehash_recoverable(tx.signature_hash().as_slice()).expect("it works");
        let signature = Signature::from((signature, recovery));
        TxEnvelope::from(tx.into_signed(signature)).encoded_2718().into()
    }

    /// Gives this account a contract's code (EIP-7702).
    pub fn authorize(&self, authorization: Authorization) -> SignedAuthorization {
        let signature = self.sign_hash(authorization.signature_hash());
        authorization.into_signed(signature)
    }

    fn sign_hash(&self, hash: B256) -> Signature {
        let signed = self.key.sign_prehash_recoverable(hash.as_slice());
        Signature::from(signed.expect("a signature"))
    }

    /// Pays one wei to an account.
    pub fn pays(&self, nonce: u64, to: Address) -> Bytes {
        self.sign(transfer(nonce, to, 1))
    }
}

/// An EIP-1559 transfer at a tip of one gwei.
pub fn transfer(nonce: u64, to: Address, wei: u64) -> TxEip1559 {
    TxEip1559 {
        chain_id: CHAIN_ID,
        nonce,
        gas_limit: 21_000,
        max_fee_per_gas: 10 * GWEI,
        max_priority_fee_per_gas: GWEI,
        to: TxKind::Call(to),
        value: U256::from(wei),
        access_list: Default::default(),
        input: Bytes::new(),
    }
}

pub fn legacy(nonce: u64, to: Address, gas_price: u128) -> TxLegacy {
    let (to, value, input) = (TxKind::Call(to), U256::from(1), Bytes::new());
    TxLegacy { chain_id: Some(CHAIN_ID), nonce, gas_price, gas_limit: 21_000, to, value, input }
}

pub fn with_access_list(nonce: u64, to: Address) -> TxEip2930 {
    TxEip2930 {
        chain_id: CHAIN_ID,
        nonce,
        gas_price: 2 * GWEI,
        gas_limit: 30_000,
        to: TxKind::Call(to),
        value: U256::from(1),
        access_list: vec![alloy_eips::eip2930::AccessListItem {
            address: to,
            storage_keys: vec![B256::ZERO],
        }]
        .into(),
        input: Bytes::new(),
    }
}

/// A chain with one block per transaction, whose first three wallets are funded.
pub fn chain() -> DevChain {
    DevChain::open(options()).expect("it works")
}

pub fn options() -> Options {
    Options { prefunded: rich(), ..Options::for_tests() }
}

pub fn rich() -> Vec<(Address, U256)> {
    (1..=3).map(|number| (Wallet::new(number).address, ether(1_000))).collect()
}

/// Sends a signed transaction.
pub fn send(chain: &DevChain, raw: &Bytes) -> Result<B256, RpcFault> {
    let hash = chain.call("eth_sendRawTransaction", json!([raw.to_string()]))?;
    Ok(hash.as_str().expect("a text").parse().expect("readable"))
}

#[track_caller]
pub fn call(chain: &DevChain, method: &str, params: Value) -> Value {
    chain.call(method, params).unwrap_or_else(|fault| panic!("{method}: {fault}"))
}

#[track_caller]
pub fn refused(chain: &DevChain, method: &str, params: Value) -> (i64, String) {
    let fault = chain.call(method, params).expect_err(method);
    (fault.code, fault.message)
}

/// Parses a quantity of an answer.
#[track_caller]
pub fn number(value: &Value) -> u64 {
    let digits = value
        .as_str()
        .unwrap_or_else(|| panic!("not a quantity: {value}"))
        .strip_prefix("0x")
        .expect("it works");
    u64::from_str_radix(digits, 16).expect("it works")
}

pub fn quantity(number: u64) -> Value {
    json!(format!("{number:#x}"))
}

/// All visible data of a chain, to compare two of them.
pub fn fingerprint(chain: &DevChain) -> Vec<Value> {
    let head = chain.block_number();
    let mut seen: Vec<Value> = (head.saturating_sub(300)..=head)
        .map(|number| call(chain, "eth_getBlockByNumber", json!([quantity(number), true])))
        .collect();
    seen.push(call(chain, "eth_getLogs", json!([{ "fromBlock": "0x0" }])));
    for account in rich().into_iter().map(|(address, _)| address).chain([SOMEBODY, OTHER]) {
        for method in ["eth_getBalance", "eth_getTransactionCount", "eth_getCode"] {
            seen.push(call(chain, method, json!([account, "latest"])));
        }
    }
    seen
}

/// A manually set clock. Waiting ends when it is set late enough.
#[derive(Clone)]
pub struct HandClock {
    micros: Arc<AtomicI64>,
    moved: Arc<tokio::sync::Notify>,
}

impl HandClock {
    pub fn at(seconds: i64) -> HandClock {
        HandClock { micros: Arc::new(AtomicI64::new(seconds * 1_000_000)), moved: Arc::default() }
    }

    pub fn advance_millis(&self, millis: i64) {
        self.micros.fetch_add(millis * 1_000, Ordering::SeqCst);
        self.moved.notify_waiters();
    }
}

impl Clock for HandClock {
    fn now(&self) -> Timestamp {
        Timestamp(self.micros.load(Ordering::SeqCst))
    }

    fn sleep_until(&self, until: Timestamp) -> BoxFuture<'static, ()> {
        let clock = self.clone();
        Box::pin(async move {
            loop {
                let moved = clock.moved.notified();
                if clock.now() >= until {
                    return;
                }
                moved.await;
            }
        })
    }
}
