//! The sandbox's USDC compared with Circle's: the same random calls yield the same answers, logs
//! and state.

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use revm::primitives::{Address, U256};

use crate::abi::{self, Arg};
use crate::circle::{self, Roles};
use crate::evm::Evm;

const SEED: u64 = 0x0c14_c1e0;
const SEQUENCES: u32 = 200;
const CALLS_MAX: usize = 80;

const ROLES: Roles = Roles {
    master_minter: Address::new([0xa1; 20]),
    pauser: Address::new([0xa2; 20]),
    blacklister: Address::new([0xa3; 20]),
    owner: Address::new([0xa4; 20]),
};
const MINTER: Address = Address::new([0xb1; 20]);
const HOLDERS: [Address; 3] =
    [Address::new([0xb2; 20]), Address::new([0xb3; 20]), Address::new([0xb4; 20])];
/// Number of accounts, plus the zero address and the token itself.
const ACCOUNTS: usize = 10;

#[derive(Clone, Copy, Debug)]
enum Kind {
    Account,
    Amount,
}
use Kind::{Account, Amount};

/// Function, arguments, intended caller.
type Function = (&'static str, &'static [Kind], &'static [Address]);

const CHANGES: [Function; 18] = [
    ("transfer(address,uint256)", &[Account, Amount], &HOLDERS),
    ("transfer(address,uint256)", &[Account, Amount], &HOLDERS),
    ("transferFrom(address,address,uint256)", &[Account, Account, Amount], &HOLDERS),
    ("approve(address,uint256)", &[Account, Amount], &HOLDERS),
    ("increaseAllowance(address,uint256)", &[Account, Amount], &HOLDERS),
    ("decreaseAllowance(address,uint256)", &[Account, Amount], &HOLDERS),
    ("mint(address,uint256)", &[Account, Amount], &[MINTER]),
    ("burn(uint256)", &[Amount], &[MINTER]),
    ("configureMinter(address,uint256)", &[Account, Amount], &[ROLES.master_minter]),
    ("removeMinter(address)", &[Account], &[ROLES.master_minter]),
    ("blacklist(address)", &[Account], &[ROLES.blacklister]),
    ("unBlacklist(address)", &[Account], &[ROLES.blacklister]),
    ("pause()", &[], &[ROLES.pauser]),
    ("unpause()", &[], &[ROLES.pauser]),
    ("updateMasterMinter(address)", &[Account], &[ROLES.owner]),
    ("updateBlacklister(address)", &[Account], &[ROLES.owner]),
    ("updatePauser(address)", &[Account], &[ROLES.owner]),
    ("transferOwnership(address)", &[Account], &[ROLES.owner]),
];
const VIEWS: [&str; 11] = [
    "totalSupply()",
    "paused()",
    "owner()",
    "masterMinter()",
    "pauser()",
    "blacklister()",
    "name()",
    "symbol()",
    "currency()",
    "decimals()",
    "version()",
];
const VIEWS_OF_ACCOUNTS: [&str; 4] = [
    "balanceOf(address)",
    "isBlacklisted(address)",
    "isMinter(address)",
    "minterAllowance(address)",
];

#[derive(Clone, Debug)]
struct Call {
    signature: &'static str,
    by: usize,
    args: Vec<Value>,
}

#[derive(Clone, Debug)]
enum Value {
    Account(usize),
    Amount(U256),
}

fn account(token: Address, index: usize) -> Address {
    let named = [ROLES.master_minter, ROLES.pauser, ROLES.blacklister, ROLES.owner, MINTER];
    named.into_iter().chain(HOLDERS).chain([Address::ZERO, token]).nth(index).unwrap()
}

fn any_call() -> impl Strategy<Value = Call> {
    prop::sample::select(&CHANGES[..]).prop_flat_map(|(signature, kinds, callers)| {
        let entitled = (0..ACCOUNTS - 2)
            .prop_filter("meant", move |n| callers.contains(&account(Address::ZERO, *n)));
        let by = prop_oneof![9 => entitled, 1 => 0..ACCOUNTS - 2];
        let args: Vec<_> = kinds.iter().map(|kind| any_value(*kind)).collect();
        (by, args).prop_map(move |(by, args)| Call { signature, by, args })
    })
}

fn any_value(kind: Kind) -> BoxedStrategy<Value> {
    match kind {
        // Mostly the accounts that exchange tokens.
        Account => prop_oneof![3 => 4..8_usize, 1 => 0..ACCOUNTS].prop_map(Value::Account).boxed(),
        Amount => prop_oneof![
            20 => (0..1_000_u64).prop_map(U256::from),
            1 => Just(U256::ZERO),
            1 => Just(U256::MAX),
            1 => Just((U256::from(1) << 255) - U256::from(1)),
            1 => Just(U256::from(1) << 255),
            1 => any::<[u8; 32]>().prop_map(U256::from_be_bytes),
        ]
        .prop_map(Value::Amount)
        .boxed(),
    }
}

/// All readable state of the token.
fn state(evm: &mut Evm, token: Address) -> Vec<(String, Vec<u8>)> {
    let mut state: Vec<_> =
        VIEWS.map(|view| (view.to_owned(), evm.look(token, view, &[]).to_vec())).to_vec();
    for one in (0..ACCOUNTS).map(|n| account(token, n)) {
        for view in VIEWS_OF_ACCOUNTS {
            state.push((format!("{view} {one}"), evm.look(token, view, &[one.into()]).to_vec()));
        }
        for other in (0..ACCOUNTS).map(|n| account(token, n)) {
            let allowance =
                evm.look(token, "allowance(address,address)", &[one.into(), other.into()]);
            state.push((format!("allowance {one} {other}"), allowance.to_vec()));
        }
    }
    state
}

/// A minter with an allowance, and three holders.
fn begin(evm: &mut Evm, token: Address) {
    let configure =
        abi::call("configureMinter(address,uint256)", &[MINTER.into(), U256::MAX.into()]);
    evm.send(ROLES.master_minter, token, configure).must();
    for to in HOLDERS.into_iter().chain([MINTER]) {
        evm.send(MINTER, token, abi::call("mint(address,uint256)", &[to.into(), 2_000.into()]))
            .must();
    }
}

#[test]
fn the_sandboxs_usdc_behaves_like_circles() -> std::io::Result<()> {
    let Some(circles) = testkit::circle::for_tests("the sandbox's USDC compared with Circle's")?
    else {
        return Ok(());
    };
    let (mut theirs, mut ours) = (Evm::new(), Evm::new());
    let token = circle::deploy(&mut theirs, &circles, ROLES);
    assert_eq!(circle::deploy_ours(&mut ours, ROLES), token);
    begin(&mut theirs, token);
    begin(&mut ours, token);
    assert_eq!(state(&mut ours, token), state(&mut theirs, token));

    let config = ProptestConfig {
        rng_seed: RngSeed::Fixed(SEED),
        failure_persistence: None,
        ..ProptestConfig::with_cases(SEQUENCES)
    };
    proptest!(config, |(calls in prop::collection::vec(any_call(), 1..CALLS_MAX))| {
        let (mut theirs, mut ours) = (theirs.clone(), ours.clone());
        for call in &calls {
            let args: Vec<Arg> = call.args.iter().map(|value| match value {
                Value::Account(index) => account(token, *index).into(),
                Value::Amount(amount) => (*amount).into(),
            }).collect();
            let data = abi::call(call.signature, &args);
            let by = account(token, call.by);
            let (expected, found) = (theirs.send(by, token, data.clone()), ours.send(by, token, data));
            prop_assert_eq!(
                (found.ok, &found.output, &found.logs),
                (expected.ok, &expected.output, &expected.logs),
                "{:?}", call
            );
        }
        prop_assert_eq!(state(&mut ours, token), state(&mut theirs, token));
    });
    Ok(())
}

/// Checks that calls succeed at all: a comparison of refusals alone would prove little.
#[test]
fn the_compared_calls_mostly_work() -> std::io::Result<()> {
    let mut evm = Evm::new();
    let token = circle::deploy_ours(&mut evm, ROLES);
    begin(&mut evm, token);
    for (signature, kinds, callers) in CHANGES {
        if matches!(
            signature,
            "transferFrom(address,address,uint256)" | "decreaseAllowance(address,uint256)"
        ) {
            continue;
        }
        let args: Vec<Arg> = kinds
            .iter()
            .map(|kind| match kind {
                Account => HOLDERS[1].into(),
                Amount => Arg::from(5),
            })
            .collect();
        evm.clone().send(callers[0], token, abi::call(signature, &args)).must();
    }
    Ok(())
}
