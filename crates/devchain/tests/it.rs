//! The chain from outside.

use devchain::alloy_primitives::{Address, Bytes, U256, hex};
use devchain::{CREATE2_DEPLOYER, DevChain, Options};

const SOMEBODY: Address = Address::repeat_byte(0x11);

/// Returns 42 for whatever it is asked.
const FORTY_TWO: [u8; 22] = hex!("600a600c600039600a6000f3602a60005260206000f3");

#[test]
fn a_contract_is_deployed_and_answers() {
    let chain = DevChain::open(Options::for_tests()).unwrap();
    let contract = chain.deploy(SOMEBODY, FORTY_TWO.to_vec()).unwrap();
    let answer = chain.ask(SOMEBODY, contract, Bytes::new()).unwrap();
    assert_eq!(U256::from_be_slice(&answer), U256::from(42));
    assert_eq!((chain.block_number(), chain.nonce(SOMEBODY)), (1, 1));
}

#[test]
fn the_deployer_makes_the_contract_at_the_address_that_was_computed_before() {
    let chain = DevChain::open(Options::for_tests()).unwrap();
    let salt = [7; 32];
    let data = [salt.as_slice(), FORTY_TWO.as_slice()].concat();
    let outcome = chain.transact_as(SOMEBODY, Some(CREATE2_DEPLOYER), data, U256::ZERO).unwrap();
    let expected = CREATE2_DEPLOYER.create2_from_code(salt, FORTY_TWO);
    assert!(outcome.succeeded);
    assert_eq!(outcome.output, Bytes::copy_from_slice(expected.as_slice()));
    assert_eq!(chain.code(expected).len(), 10);
}
