//! Encodes calls and decodes their results (Solidity contract ABI) for the few functions in use.
//!
//! USDT's `transfer` returns nothing, so its result is never decoded: only bools of getters are.

use domain::chain::{Address, Authorization, EcdsaSignature, Movement, Word, vault};
use domain::currency::StableCoin;
use serde_json::{Value, json};

use super::hex;

/// The first four bytes of call data: the selector of a function or an error.
pub(super) type Selector = [u8; 4];

const WORD_BYTES: usize = 32;

// The controller's roles.
const HAS_ROLE: &str = "hasRole(bytes32,address)";
const GRANT_ROLE: &str = "grantRole(bytes32,address)";

// The controller's records.
const STATE_OF: &str = "stateOf(bytes32)";

// Tokens.
const BALANCE_OF: &str = "balanceOf(address)";
const IS_BLACKLISTED_USDC: &str = "isBlacklisted(address)";
const IS_BLACKLISTED_USDT: &str = "isBlackListed(address)";
/// Of Tether's later contracts: Avalanche's, and those of USDT0.
const IS_BLOCKED_USDT: &str = "isBlocked(address)";
const PAUSED: &str = "paused()";
const DECIMALS: &str = "decimals()";
const NAME: &str = "name()";
const VERSION: &str = "version()";

// Tokens with EIP-3009.
const DOMAIN_SEPARATOR: &str = "DOMAIN_SEPARATOR()";
const AUTHORIZATION_STATE: &str = "authorizationState(address,bytes32)";
const TRANSFER_WITH_AUTHORIZATION: &str = "transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,uint8,bytes32,bytes32)";

// The fee oracle of the OP Stack.
const DATA_FEE: &str = "getL1FeeUpperBound(uint256)";

/// The selector of a function or error with this signature.
pub(super) fn selector(signature: &str) -> Selector {
    let hash = topic(signature).0;
    [hash[0], hash[1], hash[2], hash[3]]
}

/// The first topic of an event with this signature.
pub(super) fn topic(signature: &str) -> Word {
    vault::hash(&[signature.as_bytes()])
}

/// Arguments under construction, one word each.
#[derive(Default)]
pub(super) struct Input(Vec<u8>);

impl Input {
    /// Call data of a function.
    pub(super) fn call(signature: &str) -> Input {
        Input(selector(signature).to_vec())
    }

    pub(super) fn word(mut self, word: &Word) -> Input {
        self.0.extend_from_slice(&word.0);
        self
    }

    pub(super) fn address(mut self, address: &Address) -> Input {
        self.0.extend_from_slice(&[0; WORD_BYTES - 20]);
        self.0.extend_from_slice(&address.0);
        self
    }

    pub(super) fn number(mut self, number: u128) -> Input {
        self.0.extend_from_slice(&[0; WORD_BYTES - 16]);
        self.0.extend_from_slice(&number.to_be_bytes());
        self
    }

    pub(super) fn flag(self, flag: bool) -> Input {
        self.number(u128::from(flag))
    }

    /// A dynamic string in the tail of the arguments: its length, then its bytes padded to whole
    /// words.
    pub(super) fn text(mut self, text: &str) -> Input {
        self = self.number(text.len() as u128);
        self.0.extend_from_slice(text.as_bytes());
        let whole = text.len().next_multiple_of(WORD_BYTES);
        self.0.extend(std::iter::repeat_n(0, whole - text.len()));
        self
    }

    pub(super) fn movement(self, movement: &Movement) -> Input {
        self.word(&movement.intent)
            .word(&movement.reference)
            .address(&movement.recipient)
            .address(&movement.token)
            .number(u128::from(movement.amount))
    }

    /// An array as the only argument: its offset, its length, its items.
    pub(super) fn movements(self, movements: &[Movement]) -> Input {
        let head = self.number(WORD_BYTES as u128).number(movements.len() as u128);
        movements.iter().fold(head, Input::movement)
    }

    pub(super) fn finish(self) -> Vec<u8> {
        self.0
    }
}

pub(super) fn data_fee(bytes: usize) -> Vec<u8> {
    Input::call(DATA_FEE).number(bytes as u128).finish()
}

pub(super) fn balance_of(account: &Address) -> Vec<u8> {
    Input::call(BALANCE_OF).address(account).finish()
}

/// The calls of a stablecoin's contracts that tell whether an account is on the issuer's list. Each
/// contract has one of them at most, and reverts on the others.
pub(super) fn is_blacklisted(coin: StableCoin, account: &Address) -> Vec<Vec<u8>> {
    let functions: &[&str] = match coin {
        StableCoin::Usdc => &[IS_BLACKLISTED_USDC],
        StableCoin::Usdt => &[IS_BLACKLISTED_USDT, IS_BLOCKED_USDT],
    };
    functions.iter().map(|function| Input::call(function).address(account).finish()).collect()
}

/// The same as parameters of `eth_call`.
pub fn blacklist_calls(coin: StableCoin, token: &Address) -> Vec<Value> {
    let call = |data: Vec<u8>| json!({"to": token.to_string(), "data": hex::data(&data)});
    is_blacklisted(coin, token).into_iter().map(call).collect()
}

pub(super) fn is_operator(account: &Address) -> Vec<u8> {
    Input::call(HAS_ROLE).word(&operator_role()).address(account).finish()
}

/// Call data that makes an account an operator.
pub(super) fn grant_operator(account: &Address) -> Vec<u8> {
    Input::call(GRANT_ROLE).word(&operator_role()).address(account).finish()
}

/// The controller's role `OPERATOR`.
fn operator_role() -> Word {
    domain::chain::vault::hash(&[b"OPERATOR"])
}

pub(super) fn state_of(intent: &Word) -> Vec<u8> {
    Input::call(STATE_OF).word(intent).finish()
}

pub(crate) fn decimals() -> Vec<u8> {
    Input::call(DECIMALS).finish()
}

pub(super) fn paused() -> Vec<u8> {
    Input::call(PAUSED).finish()
}

/// Getters of a token's EIP-712 domain: name, version, separator.
pub(super) fn signing_domain() -> [Vec<u8>; 3] {
    [NAME, VERSION, DOMAIN_SEPARATOR].map(|getter| Input::call(getter).finish())
}

pub(super) fn authorization_state(authorizer: &Address, nonce: &Word) -> Vec<u8> {
    Input::call(AUTHORIZATION_STATE).address(authorizer).word(nonce).finish()
}

pub(super) fn transfer_with_authorization(
    authorization: &Authorization,
    signature: &EcdsaSignature,
) -> Input {
    let Authorization { from, to, value, valid_after, valid_before, nonce } = authorization;
    Input::call(TRANSFER_WITH_AUTHORIZATION)
        .address(from)
        .address(to)
        .number((*value).into())
        .number((*valid_after).into())
        .number((*valid_before).into())
        .word(nonce)
        .number(signature.v.into())
        .word(&signature.r)
        .word(&signature.s)
}

/// Decodes a result of exactly one word.
pub(super) fn one_word(answer: &[u8]) -> Option<[u8; WORD_BYTES]> {
    answer.try_into().ok()
}

/// A word that is 0 or 1.
pub(super) fn flag(word: &[u8; WORD_BYTES]) -> Option<bool> {
    match word.split_last()? {
        (last @ 0..=1, rest) if rest.iter().all(|byte| *byte == 0) => Some(*last == 1),
        _ => None,
    }
}

/// Decodes a word as an address: its upper bytes must be zero.
pub(super) fn address(word: &[u8; WORD_BYTES]) -> Option<Address> {
    let (zeros, rest) = word.split_first_chunk::<12>()?;
    (*zeros == [0; 12]).then_some(Address(rest.try_into().ok()?))
}

/// Decodes a word as a number, capped at [`u64::MAX`].
pub(super) fn capped(word: &[u8; WORD_BYTES]) -> u64 {
    let (upper, lower) = word.split_at(WORD_BYTES - 8);
    match lower.try_into() {
        Ok(lower) if upper.iter().all(|byte| *byte == 0) => u64::from_be_bytes(lower),
        _ => u64::MAX,
    }
}

/// The word at this offset, counted in words.
pub(super) fn word_at(data: &[u8], at: usize) -> Option<&[u8; WORD_BYTES]> {
    data.get(at * WORD_BYTES..)?.first_chunk()
}

/// Decodes a result that is an array of `count` bools and nothing else.
pub(super) fn flags(answer: &[u8], count: usize) -> Option<Vec<bool>> {
    let is_whole = answer.len() == (2 + count) * WORD_BYTES
        && capped(word_at(answer, 0)?) == WORD_BYTES as u64
        && capped(word_at(answer, 1)?) == count as u64;
    if !is_whole {
        return None;
    }
    (0..count).map(|at| flag(word_at(answer, 2 + at)?)).collect()
}

/// Decodes a string or byte string that is the only value.
pub(super) fn only_bytes(data: &[u8]) -> Option<&[u8]> {
    if capped(word_at(data, 0)?) != WORD_BYTES as u64 {
        return None;
    }
    let length = usize::try_from(capped(word_at(data, 1)?)).ok()?;
    data.get(2 * WORD_BYTES..)?.get(..length)
}

#[cfg(test)]
#[path = "abi_tests.rs"]
mod tests;
