//! Batches: each item succeeds or fails individually, whatever a token does.

use revm::primitives::{Address, Bytes, U256};

use crate::abi;
use crate::evm::GAS_MAX;
use crate::tenant::{ADMIN, COMPLIANCE, Item, OPERATOR, Tenant, failures, intent, reference};

/// Address of the unusual tokens.
const STRANGE: Address = Address::new([0x99; 20]);
/// An item that fails with less gas may have run out of it.
const AMPLE: u64 = 800_000;
/// Gas of a batch and its transaction without the items.
const BESIDE: u64 = 120_000;
/// Offset in [`token`] of the code for all other calls.
const BODY_AT: usize = 15;

/// A contract that answers `balanceOf` with the highest number and runs `otherwise` for any other
/// call.
fn token(otherwise: &[u8]) -> Vec<u8> {
    // selector == balanceOf(address) ? jump after `otherwise`
    let mut code = vec![0x5f, 0x35, 0x60, 0xe0, 0x1c, 0x63];
    code.extend(abi::selector("balanceOf(address)"));
    let target = u16::try_from(BODY_AT + otherwise.len()).unwrap();
    code.extend([0x14, 0x61]);
    code.extend(target.to_be_bytes());
    code.push(0x57);
    assert_eq!(code.len(), BODY_AT);
    code.extend(otherwise);
    // return 2^256 - 1
    code.extend([0x5b, 0x5f, 0x19, 0x5f, 0x52, 0x60, 0x20, 0x5f, 0xf3]);
    code
}

/// Code of a contract that always returns true.
pub fn agreeable() -> Vec<u8> {
    token(&[0x60, 0x01, 0x5f, 0x52, 0x60, 0x20, 0x5f, 0xf3])
}

/// A customer's wallet per item.
fn wallet(n: u64) -> Address {
    Address::left_padding_from(&(0x1000 + n).to_be_bytes())
}

/// A tenant with releasable items of 100 each.
fn funded(count: u64) -> (Tenant, Vec<Item>) {
    let mut tenant = Tenant::new();
    let items: Vec<Item> =
        (0..count).map(|n| tenant.escrow_item(intent(n), reference(n), wallet(n), 100)).collect();
    for item in &items {
        let escrow = tenant.vault(item.reference, item.recipient);
        tenant.fund(tenant.usdc, escrow, 100);
    }
    (tenant, items)
}

#[test]
fn one_bad_item_does_not_stop_the_others() {
    let (mut tenant, items) = funded(5);
    let escrow = tenant.vault(items[1].reference, items[1].recipient);
    tenant.set_frozen(COMPLIANCE, escrow, true).must();
    tenant.blacklist(tenant.usdc, items[3].recipient);
    let outcome = tenant.release(OPERATOR, &items).must();
    assert_eq!(abi::bools(&outcome.output), [true, false, true, false, true]);
    assert_eq!(
        failures(&outcome),
        [
            (items[1].intent, "AccountFrozen".to_owned()),
            (items[3].intent, "Blacklistable: account is blacklisted".to_owned()),
        ]
    );
    for (item, expected) in items.iter().zip([100, 0, 100, 0, 100]) {
        assert_eq!(tenant.balance(tenant.usdc, item.recipient), expected);
    }
}

#[test]
fn an_intent_is_executed_once_within_a_batch() {
    let (mut tenant, mut items) = funded(2);
    items[1].intent = items[0].intent;
    let outcome = tenant.release(OPERATOR, &items).must();
    assert_eq!(abi::bools(&outcome.output), [true, false]);
    assert_eq!(failures(&outcome), [(items[0].intent, "IntentUsed".to_owned())]);
}

#[test]
fn an_empty_batch_does_nothing() {
    let (mut tenant, _) = funded(0);
    let outcome = tenant.release(OPERATOR, &[]).must();
    assert!(outcome.logs.is_empty());
}

#[test]
fn a_token_that_burns_all_gas_burns_its_own_share_alone() {
    let (mut tenant, mut items) = funded(6);
    tenant.evm.put_code(STRANGE, &token(&[0xfe]));
    for burning in [0, 3, 5] {
        items[burning].token = STRANGE;
    }
    let data = batch_call(&items);
    let short = tenant.evm.send_with_gas(OPERATOR, tenant.controller, data.clone(), 6 * AMPLE);
    assert_eq!(short.refusal(), "NotEnoughGas");
    let outcome =
        tenant.evm.send_with_gas(OPERATOR, tenant.controller, data, 6 * AMPLE + BESIDE).must();
    assert_eq!(abi::bools(&outcome.output), [false, true, true, false, true, false]);
    assert_eq!(failures(&outcome).len(), 3);
}

/// The minimum gas with which the call does not revert, found like `eth_estimateGas` does.
fn estimate(tenant: &Tenant, data: &Bytes) -> u64 {
    let (mut too_little, mut enough) = (21_000, GAS_MAX);
    while enough - too_little > 1 {
        let gas = too_little.midpoint(enough);
        let outcome =
            tenant.clone().evm.send_with_gas(OPERATOR, tenant.controller, data.clone(), gas);
        if outcome.ok { enough = gas } else { too_little = gas }
    }
    enough
}

#[test]
fn the_estimated_gas_suffices_for_every_executable_item() {
    let (mut tenant, items) = funded(7);
    tenant.blacklist(tenant.usdc, items[2].recipient);
    for count in [1, 2, 3, 7] {
        let data = batch_call(&items[..count]);
        let gas = estimate(&tenant, &data);
        let outcome =
            tenant.clone().evm.send_with_gas(OPERATOR, tenant.controller, data, gas).must();
        let expected: Vec<bool> = (0..count).map(|n| n != 2).collect();
        assert_eq!(abi::bools(&outcome.output), expected, "{count} items with {gas} gas");
        assert!(gas < outcome.gas * 3 / 2, "{gas} are estimated where {} are used", outcome.gas);
    }
}

#[test]
fn a_lack_of_gas_never_looks_like_failed_items() {
    let (mut tenant, items) = funded(3);
    tenant.blacklist(tenant.usdc, items[1].recipient);
    let data = batch_call(&items);
    for gas in (60_000..3_000_000).step_by(2_777) {
        let outcome =
            tenant.clone().evm.send_with_gas(OPERATOR, tenant.controller, data.clone(), gas);
        if outcome.ok {
            assert_eq!(abi::bools(&outcome.output), [true, false, true], "with {gas} gas");
            assert_eq!(
                failures(&outcome)[0].1,
                "Blacklistable: account is blacklisted",
                "with {gas} gas"
            );
        } else {
            assert!(["NotEnoughGas", ""].contains(&outcome.refusal().as_str()), "with {gas} gas");
        }
    }
}

/// The most expensive case: USDT reverts without data, which looks like running out of gas.
#[test]
fn a_silent_refusal_counts_with_ample_gas_and_twenty_fit_into_a_transaction() {
    let (mut tenant, mut items) = funded(20);
    for item in &mut items {
        item.token = tenant.usdt;
    }
    let escrow = tenant.vault(items[0].reference, items[0].recipient);
    tenant.fund(tenant.usdt, escrow, 100);
    tenant.blacklist(tenant.usdt, escrow);
    let data = batch_call(&items);
    let gas = estimate(&tenant, &data);
    assert!((20 * AMPLE..20 * AMPLE + BESIDE).contains(&gas), "{gas}");
    let outcome = tenant.evm.send_with_gas(OPERATOR, tenant.controller, data, gas).must();
    assert_eq!(failures(&outcome)[0], (items[0].intent, String::new()));
}

#[test]
fn a_long_reason_is_truncated() {
    let (mut tenant, mut items) = funded(2);
    // revert(0, 20_000)
    tenant.evm.put_code(STRANGE, &token(&[0x61, 0x4e, 0x20, 0x5f, 0xfd]));
    items[0].token = STRANGE;
    let outcome = tenant.release(OPERATOR, &items).must();
    assert_eq!(abi::bools(&outcome.output), [false, true]);
    assert_eq!(abi::text(&outcome.logs[0].data.data, 0).len(), 256);
}

#[test]
fn a_tokens_refusal_counts() {
    let (mut tenant, mut items) = funded(1);
    // return false
    tenant.evm.put_code(STRANGE, &token(&[0x5f, 0x5f, 0x52, 0x60, 0x20, 0x5f, 0xf3]));
    items[0].token = STRANGE;
    let outcome = tenant.release(OPERATOR, &items).must();
    assert_eq!(failures(&outcome), [(items[0].intent, "SafeERC20FailedOperation".to_owned())]);
}

/// The worst case: the token is the operator, and calls back during the payment.
#[test]
fn reentrancy_is_impossible() {
    let (tenant, items) = funded(2);
    let inner = [
        batch_call(&items[1..]),
        crate::abi::call("sweep(address,uint256)", &[tenant.usdc.into(), 0.into()]),
        crate::abi::call("returnDebit(bytes32,bytes32)", &[intent(7).into(), intent(8).into()]),
    ];
    for call in inner {
        let mut tenant = tenant.clone();
        let code = token(&calls(tenant.controller, &call));
        tenant.evm.put_code(STRANGE, &[code, call.to_vec()].concat());
        tenant.revoke(ADMIN, "OPERATOR", OPERATOR).must();
        tenant.grant(ADMIN, "OPERATOR", STRANGE).must();
        let outcome = tenant.release(STRANGE, &[Item { token: STRANGE, ..items[0] }]).must();
        assert_eq!(
            failures(&outcome),
            [(items[0].intent, "ReentrancyGuardReentrantCall".to_owned())]
        );
    }
}

/// Code that calls `to` with the bytes at the end of the contract, and propagates a revert.
fn calls(to: Address, data: &[u8]) -> Vec<u8> {
    const LEN: usize = 58;
    const TRUE: [u8; 9] = [0x5b, 0x60, 0x01, 0x5f, 0x52, 0x60, 0x20, 0x5f, 0xf3];
    let push =
        |number: usize| [&[0x61][..], &u16::try_from(number).unwrap().to_be_bytes()].concat();
    let behind = token(&[0; LEN]).len();
    let code = [
        // codecopy(0, offset, len)
        push(data.len()),
        push(behind),
        vec![0x5f, 0x39],
        // call(gas, to, 0, 0, len, 0, 0)
        vec![0x5f, 0x5f],
        push(data.len()),
        vec![0x5f, 0x5f, 0x73],
        to.to_vec(),
        vec![0x5a, 0xf1],
        // returndatacopy(0, 0, all); on failure revert with it
        vec![0x3d, 0x5f, 0x5f, 0x3e],
        push(BODY_AT + LEN - TRUE.len()),
        vec![0x57, 0x3d, 0x5f, 0xfd],
        TRUE.to_vec(),
    ]
    .concat();
    assert_eq!(code.len(), LEN);
    code
}

/// A token that calls `to` with these bytes whenever it is called, and agrees to everything whatever
/// comes of it.
pub fn calling_back(to: Address, data: &[u8]) -> Vec<u8> {
    const LEN: usize = 47;
    let push =
        |number: usize| [&[0x61][..], &u16::try_from(number).unwrap().to_be_bytes()].concat();
    let body = [
        // codecopy(0, offset, len)
        push(data.len()),
        push(token(&[0; LEN]).len()),
        vec![0x5f, 0x39],
        // call(gas, to, 0, 0, len, 0, 0)
        vec![0x5f, 0x5f],
        push(data.len()),
        vec![0x5f, 0x5f, 0x73],
        to.to_vec(),
        vec![0x5a, 0xf1, 0x50],
        // return true
        vec![0x60, 0x01, 0x5f, 0x52, 0x60, 0x20, 0x5f, 0xf3],
    ]
    .concat();
    assert_eq!(body.len(), LEN);
    [token(&body), data.to_vec()].concat()
}

fn batch_call(items: &[Item]) -> Bytes {
    let words = items.iter().flat_map(|item| {
        let args =
            [item.intent.into(), item.reference.into(), item.recipient.into(), item.token.into()];
        args.into_iter().chain([abi::Arg::from(item.amount)]).map(abi::word)
    });
    let array = abi::Arg::Array { count: items.len(), words: words.collect() };
    abi::call("releaseBatch((bytes32,bytes32,address,address,uint256)[])", &[array])
}

#[test]
fn a_debit_and_a_release_do_not_mix() {
    let (mut tenant, items) = funded(1);
    let wallet = tenant.vault(reference(50), tenant.controller);
    tenant.fund(tenant.usdc, wallet, 100);
    let debit = tenant.wallet_item(intent(50), reference(50), 100);
    let outcome = tenant.release(OPERATOR, &[items[0], debit]).must();
    assert_eq!(failures(&outcome), [(debit.intent, "NotAnEscrow".to_owned())]);
    let outcome = tenant
        .debit(OPERATOR, &[Item { intent: intent(51), amount: U256::from(1), ..items[0] }, debit])
        .must();
    assert_eq!(failures(&outcome), [(intent(51), "NotAWallet".to_owned())]);
    assert_eq!(abi::bools(&outcome.output), [false, true]);
}
