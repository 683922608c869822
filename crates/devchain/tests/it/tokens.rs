//! The sandbox's USDC on the chain: the wallet service's operations, and a full block of transfers.

use alloy_consensus::TxEip1559;
use devchain::alloy_primitives::{Address, B256, Bytes, U256, hex, keccak256};
use devchain::{DevChain, Mining, Options, Unsigned};
use serde_json::{Value, json};

use crate::support::{OTHER, SOMEBODY, Wallet, call, number, options, send, transfer};

const USDC: &str = include_str!("../../../../contracts/artifacts/SandboxUsdc.json");
const ADMIN: Address = Address::repeat_byte(0xad);

fn encode(signature: &str, words: &[B256]) -> Bytes {
    let mut data = keccak256(signature)[..4].to_vec();
    words.iter().for_each(|word| data.extend(word));
    data.into()
}

fn units(amount: u64) -> B256 {
    U256::from(amount).into()
}

/// A chain with the token; the admin holds every role.
fn with_token(options: Options) -> (DevChain, Address) {
    let chain = DevChain::open(options).expect("it works");
    let artifact: Value = serde_json::from_str(USDC).expect("it works");
    let mut code = hex::decode(artifact["bytecode"].as_str().expect("a text")).expect("it works");
    (0..4).for_each(|_| code.extend(ADMIN.into_word()));
    let token = chain.deploy(ADMIN, code).expect("it works");
    act(
        &chain,
        token,
        encode("configureMinter(address,uint256)", &[ADMIN.into_word(), units(u64::MAX)]),
    );
    (chain, token)
}

fn act(chain: &DevChain, token: Address, data: Bytes) {
    let outcome = chain.transact_as(ADMIN, Some(token), data, U256::ZERO).expect("it works");
    assert!(outcome.succeeded, "{:?}", devchain::revert_reason(&outcome.output));
}

fn mint(chain: &DevChain, token: Address, to: Address, amount: u64) {
    act(chain, token, encode("mint(address,uint256)", &[to.into_word(), units(amount)]));
}

fn balance(chain: &DevChain, token: Address, of: Address) -> U256 {
    U256::from_be_slice(
        &chain
            .ask(OTHER, token, encode("balanceOf(address)", &[of.into_word()]))
            .expect("it works"),
    )
}

fn token_transfer(nonce: u64, token: Address, to: Address, amount: u64) -> TxEip1559 {
    let input = encode("transfer(address,uint256)", &[to.into_word(), units(amount)]);
    TxEip1559 { gas_limit: 70_000, input, ..transfer(nonce, token, 0) }
}

#[test]
fn a_signed_transfer_moves_tokens_and_emits_the_log() {
    let (chain, token) = with_token(options());
    let payer = Wallet::new(1);
    mint(&chain, token, payer.address, 100);
    let hash = send(&chain, &payer.sign(token_transfer(0, token, OTHER, 60))).unwrap();
    assert_eq!(
        (balance(&chain, token, payer.address), balance(&chain, token, OTHER)),
        (U256::from(40), U256::from(60))
    );
    let topics = [
        keccak256("Transfer(address,address,uint256)"),
        payer.address.into_word(),
        OTHER.into_word(),
    ];
    let logs = call(
        &chain,
        "eth_getLogs",
        json!([{ "address": token, "topics": [topics[0], null, topics[2]] }]),
    );
    assert_eq!((&logs[0]["topics"], &logs[0]["data"]), (&json!(topics), &json!(units(60))));
    assert_eq!(logs[0]["transactionHash"], json!(hash));
}

#[test]
fn a_blacklisted_account_gets_the_reason() {
    let (chain, token) = with_token(options());
    mint(&chain, token, OTHER, 100);
    act(&chain, token, encode("blacklist(address)", &[OTHER.into_word()]));
    let data = encode("transfer(address,uint256)", &[SOMEBODY.into_word(), units(1)]);
    let fault =
        chain.call("eth_call", json!([{ "from": OTHER, "to": token, "data": data }])).unwrap_err();
    assert_eq!(
        (fault.code, fault.message.as_str()),
        (3, "execution reverted: Blacklistable: account is blacklisted")
    );
}

/// As many as in a minute of a busy day, in one block, without signatures, which are slow to create
/// in debug builds.
#[test]
fn a_thousand_transfers_fit_one_block() {
    let (chain, token) = with_token(Options { gas_limit: 100_000_000, ..options() });
    mint(&chain, token, SOMEBODY, 1_000);
    let payee = |index: u64| Address::from_word(keccak256(index.to_be_bytes()));
    let pay = |index| Unsigned {
        gas_limit: 70_000,
        ..Unsigned::call(
            SOMEBODY,
            token,
            encode("transfer(address,uint256)", &[payee(index).into_word(), units(1)]),
        )
    };
    let outcomes = chain.transact_all((0..1_000).map(pay).collect()).unwrap();
    assert!(outcomes.iter().all(|outcome| outcome.succeeded));
    assert_eq!(
        (balance(&chain, token, SOMEBODY), balance(&chain, token, payee(999))),
        (U256::ZERO, U256::from(1))
    );
    let block = call(&chain, "eth_getBlockByNumber", json!(["latest", false]));
    assert_eq!(block["transactions"].as_array().unwrap().len(), 1_000);
    assert_eq!(
        number(&block["gasUsed"]),
        outcomes.iter().map(|outcome| outcome.gas_used).sum::<u64>()
    );
    let logs = call(&chain, "eth_getLogs", json!([{ "blockHash": block["hash"] }]));
    assert_eq!(number(&logs[999]["logIndex"]), 999);
}

#[test]
fn signed_transfers_wait_for_a_block_together() {
    let (chain, token) = with_token(Options { mining: Mining::ByHand, ..options() });
    let payer = Wallet::new(1);
    mint(&chain, token, payer.address, 20);
    for nonce in 0..20 {
        send(&chain, &payer.sign(token_transfer(nonce, token, OTHER, 1))).unwrap();
    }
    chain.mine(1).unwrap();
    assert_eq!(balance(&chain, token, OTHER), U256::from(20));
}
