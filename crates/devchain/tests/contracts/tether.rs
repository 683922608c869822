//! Quirks of the sandbox's USDT, all of which have caused losses with the real one.

use revm::primitives::{Address, U256};

use crate::abi::Arg;
use crate::evm::{GAS_MAX, Outcome};
use crate::tenant::{ISSUER, PAYER, PAYERS_FUNDS, STRANGER, Tenant, transfers};

const HOME: Address = Address::new([0x44; 20]);

/// A call of USDT.
fn usdt(tenant: &mut Tenant, by: Address, signature: &str, args: &[Arg]) -> Outcome {
    let token = tenant.usdt;
    tenant.on(token, by, signature, args)
}

fn transfer(tenant: &mut Tenant, by: Address, to: Address, amount: u64) -> Outcome {
    usdt(tenant, by, "transfer(address,uint256)", &[to.into(), amount.into()])
}

fn approve(tenant: &mut Tenant, spender: Address, amount: impl Into<Arg>) -> Outcome {
    usdt(tenant, PAYER, "approve(address,uint256)", &[spender.into(), amount.into()])
}

fn transfer_from(tenant: &mut Tenant, by: Address, to: Address, amount: u64) -> Outcome {
    let args = [PAYER.into(), to.into(), amount.into()];
    usdt(tenant, by, "transferFrom(address,address,uint256)", &args)
}

fn total(tenant: &mut Tenant) -> U256 {
    let token = tenant.usdt;
    U256::from_be_slice(&tenant.evm.look(token, "totalSupply()", &[]))
}

#[test]
fn nothing_is_returned() {
    let mut tenant = Tenant::new();
    assert!(transfer(&mut tenant, PAYER, HOME, 1).must().output.is_empty());
    assert!(approve(&mut tenant, HOME, 1).must().output.is_empty());
    assert!(transfer_from(&mut tenant, HOME, HOME, 1).must().output.is_empty());
}

#[test]
fn an_allowance_goes_through_zero() {
    let mut tenant = Tenant::new();
    approve(&mut tenant, HOME, 5).must();
    assert_eq!(approve(&mut tenant, HOME, 6).refusal(), "");
    approve(&mut tenant, HOME, 0).must();
    approve(&mut tenant, HOME, 6).must();
}

#[test]
fn an_infinite_allowance_stays() {
    let mut tenant = Tenant::new();
    approve(&mut tenant, HOME, U256::MAX).must();
    transfer_from(&mut tenant, HOME, HOME, 9).must();
    let token = tenant.usdt;
    let left = tenant.evm.look(token, "allowance(address,address)", &[PAYER.into(), HOME.into()]);
    assert_eq!(U256::from_be_slice(&left), U256::MAX);
}

#[test]
fn only_the_payers_blacklisting_counts() {
    let mut tenant = Tenant::new();
    transfer(&mut tenant, PAYER, HOME, 10).must();
    approve(&mut tenant, HOME, 10).must();
    tenant.blacklist(tenant.usdt, HOME);
    assert_eq!(transfer(&mut tenant, HOME, PAYER, 1).refusal(), "");
    transfer(&mut tenant, PAYER, HOME, 1).must();
    transfer_from(&mut tenant, HOME, STRANGER, 1).must();
    tenant.blacklist(tenant.usdt, PAYER);
    assert_eq!(transfer_from(&mut tenant, HOME, STRANGER, 1).refusal(), "");
}

#[test]
fn a_fee_is_a_separate_transfer_and_comes_first() {
    let mut tenant = Tenant::new();
    tenant.fee(19, 1);
    let token = tenant.usdt;
    let logs = transfer(&mut tenant, PAYER, HOME, 10_000).must().logs;
    let expected =
        [(token, PAYER, ISSUER, U256::from(19)), (token, PAYER, HOME, U256::from(9_981))];
    assert_eq!(transfers(&logs), expected);
    // At most one unit, however much is sent.
    let logs = transfer(&mut tenant, PAYER, HOME, 900_000_000_000).must().logs;
    assert_eq!(transfers(&logs)[0].3, U256::from(1_000_000));
    // Too little for a fee: one log.
    assert_eq!(transfers(&transfer(&mut tenant, PAYER, HOME, 500).must().logs).len(), 1);
    for (basis_points, coins) in [(20, 1), (1, 50)] {
        let args = [basis_points.into(), Arg::from(coins)];
        assert_eq!(usdt(&mut tenant, ISSUER, "setParams(uint256,uint256)", &args).refusal(), "");
    }
}

#[test]
fn exceeding_the_balance_burns_all_gas() {
    let mut tenant = Tenant::new();
    let beyond_balance = transfer(&mut tenant, STRANGER, HOME, 1);
    assert_eq!((beyond_balance.refusal(), beyond_balance.gas), (String::new(), GAS_MAX));
    let beyond_allowance = transfer_from(&mut tenant, HOME, HOME, 1);
    assert_eq!((beyond_allowance.refusal(), beyond_allowance.gas), (String::new(), GAS_MAX));
    tenant.fee(1, 1);
    let overflow =
        usdt(&mut tenant, PAYER, "transfer(address,uint256)", &[HOME.into(), U256::MAX.into()]);
    assert_eq!((overflow.refusal(), overflow.gas), (String::new(), GAS_MAX));
}

#[test]
fn money_appears_and_vanishes_without_a_transfer() {
    let mut tenant = Tenant::new();
    let issued = usdt(&mut tenant, ISSUER, "issue(uint256)", &[7.into()]).must();
    assert_eq!(issued.events(), ["Issue"]);
    let redeemed = usdt(&mut tenant, ISSUER, "redeem(uint256)", &[2.into()]).must();
    assert_eq!(redeemed.events(), ["Redeem"]);
    assert_eq!(tenant.balance(tenant.usdt, ISSUER), 5);
    assert_eq!(usdt(&mut tenant, ISSUER, "redeem(uint256)", &[6.into()]).refusal(), "");
    assert_eq!(usdt(&mut tenant, ISSUER, "issue(uint256)", &[U256::MAX.into()]).refusal(), "");
    let destroy =
        |tenant: &mut Tenant| usdt(tenant, ISSUER, "destroyBlackFunds(address)", &[PAYER.into()]);
    assert_eq!(destroy(&mut tenant).refusal(), "");
    tenant.blacklist(tenant.usdt, PAYER);
    assert_eq!(destroy(&mut tenant).must().events(), ["DestroyedBlackFunds"]);
    assert_eq!(tenant.balance(tenant.usdt, PAYER), 0);
    assert_eq!(total(&mut tenant), U256::from(5));
}

#[test]
fn a_pause_stops_transfers_and_not_approvals() {
    let mut tenant = Tenant::new();
    assert_eq!(usdt(&mut tenant, ISSUER, "unpause()", &[]).refusal(), "");
    assert_eq!(usdt(&mut tenant, ISSUER, "pause()", &[]).must().events(), ["Pause"]);
    assert_eq!(usdt(&mut tenant, ISSUER, "pause()", &[]).refusal(), "");
    assert_eq!(transfer(&mut tenant, PAYER, HOME, 1).refusal(), "");
    approve(&mut tenant, HOME, 1).must();
    assert_eq!(transfer_from(&mut tenant, HOME, HOME, 1).refusal(), "");
    assert_eq!(usdt(&mut tenant, ISSUER, "unpause()", &[]).must().events(), ["Unpause"]);
    transfer(&mut tenant, PAYER, HOME, 1).must();
}

#[test]
fn owner_functions_are_restricted_to_the_owner() {
    let mut tenant = Tenant::new();
    let account = || Arg::from(HOME);
    for (signature, args) in [
        ("issue(uint256)", vec![1.into()]),
        ("redeem(uint256)", vec![1.into()]),
        ("addBlackList(address)", vec![account()]),
        ("removeBlackList(address)", vec![account()]),
        ("destroyBlackFunds(address)", vec![account()]),
        ("setParams(uint256,uint256)", vec![1.into(), 1.into()]),
        ("pause()", vec![]),
        ("deprecate(address)", vec![account()]),
        ("transferOwnership(address)", vec![account()]),
    ] {
        assert_eq!(usdt(&mut tenant, STRANGER, signature, &args).refusal(), "", "{signature}");
    }
    let deprecated = usdt(&mut tenant, ISSUER, "deprecate(address)", &[account()]).must();
    assert_eq!(deprecated.events(), ["Deprecate"]);
    usdt(&mut tenant, ISSUER, "transferOwnership(address)", &[Address::ZERO.into()]).must();
    let token = tenant.usdt;
    assert_eq!(Address::from_slice(&tenant.evm.look(token, "getOwner()", &[])[12..]), ISSUER);
    usdt(&mut tenant, ISSUER, "transferOwnership(address)", &[account()]).must();
    assert_eq!(usdt(&mut tenant, ISSUER, "issue(uint256)", &[1.into()]).refusal(), "");
}

#[test]
fn tokens_can_be_sent_to_the_zero_address() {
    let mut tenant = Tenant::new();
    transfer(&mut tenant, PAYER, Address::ZERO, 1).must();
    assert_eq!(tenant.balance(tenant.usdt, Address::ZERO), 1);
    assert_eq!(total(&mut tenant), U256::from(PAYERS_FUNDS));
}
