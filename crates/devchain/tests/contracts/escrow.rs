//! Releases: from an escrow to the recipient that its address commits to, once per intent.

use revm::primitives::{Address, U256};

use crate::abi;
use crate::tenant::{
    self, COMPLIANCE, ISSUER, Item, OPERATOR, STRANGER, Tenant, failures, intent, reference,
    transfers,
};

/// A customer's wallet from an escrow's perspective.
const WALLET: Address = Address::new([0x33; 20]);

/// A tenant with a releasable item of 500.
fn funded() -> (Tenant, Item, Address) {
    let mut tenant = Tenant::new();
    let escrow = tenant.vault(reference(1), WALLET);
    tenant.fund(tenant.usdc, escrow, 500);
    let item = tenant.escrow_item(intent(1), reference(1), WALLET, 500);
    (tenant, item, escrow)
}

/// Releases one item that must fail without failing the batch.
#[track_caller]
fn refused(tenant: &mut Tenant, item: &Item, reason: &str) {
    let outcome = tenant.release(OPERATOR, std::slice::from_ref(item)).must();
    assert_eq!(failures(&outcome), [(item.intent, reason.to_owned())]);
    assert_eq!(abi::bools(&outcome.output), [false]);
    assert_eq!(transfers(&outcome.logs), []);
}

#[test]
fn a_release_pays_the_committed_recipient_and_emits_it() {
    let (mut tenant, item, escrow) = funded();
    let outcome = tenant.release(OPERATOR, &[item]).must();
    assert_eq!(abi::bools(&outcome.output), [true]);
    assert_eq!(outcome.events(), ["Transfer", "Released"]);
    let released = &outcome.logs[1];
    assert_eq!(released.address, tenant.controller);
    assert_eq!(released.topics()[1..], [item.intent, item.reference]);
    let said = [abi::word(escrow), abi::word(tenant.usdc), abi::word(WALLET), abi::word(500)];
    assert_eq!(released.data.data[..], said.concat());
    assert_eq!(tenant.balance(tenant.usdc, WALLET), 500);
    assert_eq!(tenant.balance(tenant.usdc, escrow), 0);
    assert_eq!(tenant.state(item.intent), "Released");
}

#[test]
fn an_intent_is_executed_once() {
    let (mut tenant, item, escrow) = funded();
    tenant.fund(tenant.usdc, escrow, 500);
    tenant.release(OPERATOR, &[item]).must();
    refused(&mut tenant, &item, "IntentUsed");
    assert_eq!(tenant.balance(tenant.usdc, WALLET), 500);
}

#[test]
fn an_escrow_that_is_paid_again_is_released_again() {
    let (mut tenant, item, escrow) = funded();
    tenant.release(OPERATOR, &[item]).must();
    tenant.fund(tenant.usdc, escrow, 70);
    tenant.release(OPERATOR, &[Item { intent: intent(2), amount: U256::from(70), ..item }]).must();
    assert_eq!(tenant.balance(tenant.usdc, WALLET), 570);
}

#[test]
fn a_failed_intent_may_be_retried() {
    let (mut tenant, item, escrow) = funded();
    tenant.set_frozen(COMPLIANCE, escrow, true).must();
    refused(&mut tenant, &item, "AccountFrozen");
    assert_eq!(tenant.state(item.intent), "Unknown");
    assert!(!tenant.evm.has_code(escrow), "a failure leaves no trace");
    tenant.set_frozen(COMPLIANCE, escrow, false).must();
    let outcome = tenant.release(OPERATOR, &[item]).must();
    assert_eq!(abi::bools(&outcome.output), [true]);
}

#[test]
fn nothing_is_released_from_or_to_frozen_and_held_accounts() {
    let (tenant, item, escrow) = funded();
    for account in [escrow, WALLET] {
        let mut tenant_ = tenant.clone();
        tenant_.set_frozen(COMPLIANCE, account, true).must();
        refused(&mut tenant_, &item, "AccountFrozen");
        let mut tenant_ = tenant.clone();
        tenant_.set_legal_hold(COMPLIANCE, account, true).must();
        refused(&mut tenant_, &item, "OnLegalHold");
    }
}

#[test]
fn only_escrows_are_released() {
    let (mut tenant, item, _) = funded();
    // Only a debit, which can be returned, moves tokens out of a wallet.
    let wallet = tenant.vault(reference(2), tenant.controller);
    tenant.fund(tenant.usdc, wallet, 500);
    let from_wallet = Item { reference: reference(2), recipient: tenant.controller, ..item };
    refused(&mut tenant, &from_wallet, "NotAnEscrow");
    refused(&mut tenant, &Item { recipient: Address::ZERO, ..item }, "NotAnEscrow");
}

#[test]
fn amounts_are_positive_and_within_the_balance() {
    let (mut tenant, item, _) = funded();
    refused(&mut tenant, &Item { amount: U256::ZERO, ..item }, "NothingToMove");
    refused(&mut tenant, &Item { amount: U256::from(501), ..item }, "HoldsLess");
    refused(&mut tenant, &Item { amount: U256::MAX, ..item }, "HoldsLess");
    let part = Item { amount: U256::from(499), ..item };
    tenant.release(OPERATOR, &[part]).must();
    assert_eq!(tenant.balance(tenant.usdc, WALLET), 499);
}

#[test]
fn a_contract_that_is_not_a_token_is_refused() {
    let (mut tenant, item, _) = funded();
    refused(&mut tenant, &Item { token: STRANGER, ..item }, "");
}

#[test]
fn usdt_which_returns_nothing_is_released() {
    let (mut tenant, item, escrow) = funded();
    tenant.fund(tenant.usdt, escrow, 300);
    let item = Item { token: tenant.usdt, amount: U256::from(300), ..item };
    tenant.release(OPERATOR, &[item]).must();
    assert_eq!(tenant.balance(tenant.usdt, WALLET), 300);
}

#[test]
fn a_usdt_fee_is_deducted_from_the_release() {
    let (mut tenant, item, escrow) = funded();
    tenant.fund(tenant.usdt, escrow, 100_000);
    tenant.fee(10, 49);
    let item = Item { token: tenant.usdt, amount: U256::from(100_000), ..item };
    let outcome = tenant.release(OPERATOR, &[item]).must();
    assert_eq!(
        transfers(&outcome.logs),
        [
            (tenant.usdt, escrow, ISSUER, U256::from(100)),
            (tenant.usdt, escrow, WALLET, U256::from(99_900)),
        ]
    );
}

#[test]
fn the_tokens_refusals_are_propagated() {
    let (tenant, usdc_item, escrow) = funded();
    let mut tenant_ = tenant.clone();
    tenant_.blacklist(tenant.usdc, WALLET);
    refused(&mut tenant_, &usdc_item, "Blacklistable: account is blacklisted");
    let mut tenant_ = tenant.clone();
    tenant_.on(tenant.usdc, ISSUER, "pause()", &[]).must();
    refused(&mut tenant_, &usdc_item, "Pausable: paused");
    let mut tenant_ = tenant.clone();
    tenant_.fund(tenant.usdt, escrow, 500);
    tenant_.blacklist(tenant.usdt, escrow);
    refused(&mut tenant_, &Item { token: tenant.usdt, ..usdc_item }, "");
}

#[test]
fn a_blacklisted_wallet_still_receives_usdt() {
    let (mut tenant, item, escrow) = funded();
    tenant.fund(tenant.usdt, escrow, 500);
    tenant.blacklist(tenant.usdt, WALLET);
    tenant.release(OPERATOR, &[Item { token: tenant.usdt, ..item }]).must();
    assert_eq!(tenant.balance(tenant.usdt, WALLET), 500);
}

#[test]
fn a_vault_obeys_its_controller_alone() {
    let (mut tenant, item, escrow) = funded();
    tenant.release(OPERATOR, &[Item { amount: U256::from(1), ..item }]).must();
    let implementation = {
        let told = tenant.evm.look(tenant.controller, "vaultImplementation()", &[]);
        abi::address(abi::nth(&told, 0))
    };
    for vault in [escrow, implementation] {
        for caller in [OPERATOR, COMPLIANCE, tenant::ADMIN, STRANGER, WALLET] {
            let args = [tenant.usdc.into(), caller.into(), 499.into()];
            let paid = tenant.on(vault, caller, "pay(address,address,uint256)", &args);
            assert_eq!(paid.refusal(), "NotController");
            let paid = tenant.on(vault, caller, "payEth(address)", &[caller.into()]);
            assert_eq!(paid.refusal(), "NotController");
        }
    }
}
