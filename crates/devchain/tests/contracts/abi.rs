//! Encoding and decoding of calls (the contract ABI), as far as these tests need it.

use revm::primitives::{Address, B256, Bytes, U256, keccak256};

pub type Word = [u8; 32];

/// One argument of a call.
#[derive(Clone, Debug)]
pub enum Arg {
    /// A value of 32 bytes, or a struct of such values.
    Words(Vec<Word>),
    /// A value of type `string` or `bytes`.
    Text(Vec<u8>),
    /// An array of `count` elements that are each a value or a struct of values.
    Array { count: usize, words: Vec<Word> },
}

pub fn word(value: impl Into<Arg>) -> Word {
    match value.into() {
        Arg::Words(words) if words.len() == 1 => words[0],
        other => panic!("not one word: {other:?}"),
    }
}

impl From<U256> for Arg {
    fn from(value: U256) -> Arg {
        Arg::Words(vec![value.to_be_bytes()])
    }
}

impl From<u64> for Arg {
    fn from(value: u64) -> Arg {
        U256::from(value).into()
    }
}

impl From<B256> for Arg {
    fn from(value: B256) -> Arg {
        Arg::Words(vec![value.0])
    }
}

impl From<Address> for Arg {
    fn from(value: Address) -> Arg {
        value.into_word().into()
    }
}

impl From<bool> for Arg {
    fn from(value: bool) -> Arg {
        u64::from(value).into()
    }
}

impl From<&str> for Arg {
    fn from(value: &str) -> Arg {
        Arg::Text(value.as_bytes().to_vec())
    }
}

/// The first four bytes of the hash of a signature.
pub fn selector(signature: &str) -> [u8; 4] {
    keccak256(signature)[..4].try_into().unwrap()
}

/// A call's bytes: selector and arguments.
pub fn call(signature: &str, args: &[Arg]) -> Bytes {
    [&selector(signature)[..], &encode(args)].concat().into()
}

/// Arguments without a selector, for constructors.
pub fn encode(args: &[Arg]) -> Vec<u8> {
    let head: usize = args
        .iter()
        .map(|arg| if let Arg::Words(words) = arg { 32 * words.len() } else { 32 })
        .sum();
    let (mut heads, mut tails) = (Vec::new(), Vec::new());
    for arg in args {
        match arg {
            Arg::Words(words) => heads.extend(words.concat()),
            Arg::Text(text) => {
                heads.extend(word((head + tails.len()) as u64));
                tails.extend(word(text.len() as u64));
                tails.extend(text);
                tails.resize(tails.len().next_multiple_of(32), 0);
            }
            Arg::Array { count, words } => {
                heads.extend(word((head + tails.len()) as u64));
                tails.extend(word(*count as u64));
                tails.extend(words.concat());
            }
        }
    }
    [heads, tails].concat()
}

/// The n-th word of an answer.
pub fn nth(data: &[u8], n: usize) -> Word {
    data[32 * n..32 * (n + 1)].try_into().unwrap()
}

pub fn number(word: Word) -> U256 {
    U256::from_be_bytes(word)
}

pub fn address(word: Word) -> Address {
    Address::from_word(B256::from(word))
}

/// An answer that is one array of `bool`.
pub fn bools(data: &[u8]) -> Vec<bool> {
    let count: usize = number(nth(data, 1)).to();
    (0..count).map(|n| number(nth(data, 2 + n)) == U256::from(1)).collect()
}

/// `bytes` or `string` whose offset is the n-th word.
pub fn text(data: &[u8], n: usize) -> &[u8] {
    let at: usize = number(nth(data, n)).to();
    let len: usize = number(data[at..at + 32].try_into().unwrap()).to();
    &data[at + 32..at + 32 + len]
}
