//! Acting as any account.

use devchain::alloy_primitives::{Bytes, U256};
use devchain::{CREATE2_DEPLOYER, HandFault, TX_GAS_MAX, Unsigned};
use serde_json::json;

use crate::support::{FORTY_TWO, OTHER, REFUSER, SOMEBODY, call, chain, ether};

#[test]
fn a_contract_is_deployed_and_answers() {
    let chain = chain();
    let contract = chain.deploy(SOMEBODY, FORTY_TWO.to_vec()).unwrap();
    let answer = chain.ask(SOMEBODY, contract, Bytes::new()).unwrap();
    assert_eq!(U256::from_be_slice(&answer), U256::from(42));
    assert_eq!((chain.block_number(), chain.nonce(SOMEBODY)), (1, 1));
}

#[test]
fn the_deployer_creates_the_contract_at_the_computed_address() {
    let chain = chain();
    let salt = [7; 32];
    let data = [salt.as_slice(), FORTY_TWO.as_slice()].concat();
    let outcome = chain.transact_as(SOMEBODY, Some(CREATE2_DEPLOYER), data, U256::ZERO).unwrap();
    let expected = CREATE2_DEPLOYER.create2_from_code(salt, FORTY_TWO);
    assert!(outcome.succeeded);
    assert_eq!(outcome.output, Bytes::copy_from_slice(expected.as_slice()));
    assert_eq!(chain.code(expected).len(), 10);
}

#[test]
fn gas_is_free_and_value_is_not() {
    let chain = chain();
    let refused = chain.transact_as(SOMEBODY, Some(OTHER), Bytes::new(), U256::from(1));
    assert!(matches!(refused, Err(HandFault::NotExecuted(_))), "{refused:?}");
    chain.set_balance(SOMEBODY, ether(1)).unwrap();
    chain.transact_as(SOMEBODY, Some(OTHER), Bytes::new(), ether(1)).unwrap();
    assert_eq!((chain.balance(SOMEBODY), chain.balance(OTHER)), (U256::ZERO, ether(1)));
}

#[test]
fn contracts_can_act() {
    let chain = chain();
    let contract = chain.deploy(SOMEBODY, FORTY_TWO.to_vec()).unwrap();
    chain.set_balance(contract, U256::from(5)).unwrap();
    chain.transact_as(contract, Some(OTHER), Bytes::new(), U256::from(5)).unwrap();
    assert_eq!(chain.balance(OTHER), U256::from(5));
}

#[test]
fn a_revert_is_an_outcome_and_an_error_of_a_query() {
    let chain = chain();
    let contract = chain.deploy(SOMEBODY, REFUSER.to_vec()).unwrap();
    let outcome = chain.transact_as(OTHER, Some(contract), Bytes::new(), U256::ZERO).unwrap();
    assert!(!outcome.succeeded && outcome.logs.is_empty());
    assert_eq!(devchain::revert_reason(&outcome.output).as_deref(), Some("no"));
    let Err(HandFault::Reverted(output)) = chain.ask(OTHER, contract, Bytes::new()) else {
        panic!()
    };
    assert_eq!(output, outcome.output);
    // Creation code that reverts creates no contract.
    assert!(matches!(chain.deploy(OTHER, REFUSER[12..].to_vec()), Err(HandFault::Reverted(_))));
}

#[test]
fn a_block_of_calls_is_atomic() {
    let chain = chain();
    chain.set_balance(SOMEBODY, U256::from(2)).unwrap();
    let pay = Unsigned {
        value: U256::from(1),
        gas_limit: 21_000,
        ..Unsigned::call(SOMEBODY, OTHER, vec![])
    };
    assert!(chain.transact_all(vec![pay.clone(); 3]).is_err());
    assert_eq!((chain.block_number(), chain.balance(OTHER)), (0, U256::ZERO));
    let outcomes = chain.transact_all(vec![pay.clone(); 2]).unwrap();
    assert_eq!(outcomes.iter().map(|outcome| outcome.block_number).collect::<Vec<_>>(), [1, 1]);
    assert_ne!(outcomes[0].hash, outcomes[1].hash);
    let too_much = Unsigned { gas_limit: TX_GAS_MAX + 1, ..pay };
    assert!(matches!(chain.transact_all(vec![too_much]), Err(HandFault::NotExecuted(_))));
}

#[test]
fn an_unsigned_transaction_is_a_normal_transaction() {
    let chain = chain();
    let outcome = chain.transact_as(SOMEBODY, Some(OTHER), Bytes::new(), U256::ZERO).unwrap();
    let receipt = call(&chain, "eth_getTransactionReceipt", json!([outcome.hash]));
    assert_eq!(
        (&receipt["from"], &receipt["effectiveGasPrice"]),
        (&json!(SOMEBODY), &json!("0x0"))
    );
}
