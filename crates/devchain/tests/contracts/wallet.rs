//! Debits out of wallets, their return, and the treasury's sweep.

use revm::primitives::{Address, U256};

use crate::abi;
use crate::tenant::{
    self, COMPLIANCE, ISSUER, Item, OPERATOR, STRANGER, TREASURY, Tenant, failures, intent,
    reference, transfers,
};

/// A tenant with an executable debit of 500.
fn funded() -> (Tenant, Item, Address) {
    let mut tenant = Tenant::new();
    let wallet = tenant.vault(reference(1), tenant.controller);
    tenant.fund(tenant.usdc, wallet, 500);
    let item = tenant.wallet_item(intent(1), reference(1), 500);
    (tenant, item, wallet)
}

#[track_caller]
fn refused(tenant: &mut Tenant, item: &Item, reason: &str) {
    let outcome = tenant.debit(OPERATOR, std::slice::from_ref(item)).must();
    assert_eq!(failures(&outcome), [(item.intent, reason.to_owned())]);
    assert_eq!(transfers(&outcome.logs), []);
}

#[test]
fn a_debit_moves_tokens_to_the_controller_and_emits_it() {
    let (mut tenant, item, wallet) = funded();
    let outcome = tenant.debit(OPERATOR, &[item]).must();
    assert_eq!(abi::bools(&outcome.output), [true]);
    assert_eq!(outcome.events(), ["Transfer", "Debited"]);
    assert_eq!(outcome.logs[1].topics()[1..], [item.intent, item.reference]);
    let said =
        [abi::word(wallet), abi::word(tenant.usdc), abi::word(tenant.controller), abi::word(500)];
    assert_eq!(outcome.logs[1].data.data[..], said.concat());
    assert_eq!(tenant.balance(tenant.usdc, tenant.controller), 500);
    assert_eq!(tenant.state(item.intent), "Debited");
}

#[test]
fn only_wallets_are_debited() {
    let (mut tenant, item, _) = funded();
    let escrow = tenant.vault(reference(2), STRANGER);
    tenant.fund(tenant.usdc, escrow, 500);
    refused(
        &mut tenant,
        &Item { reference: reference(2), recipient: STRANGER, ..item },
        "NotAWallet",
    );
}

#[test]
fn a_debit_has_the_checks_of_a_release() {
    let (mut tenant, item, wallet) = funded();
    refused(&mut tenant, &Item { amount: U256::ZERO, ..item }, "NothingToMove");
    refused(&mut tenant, &Item { amount: U256::from(501), ..item }, "HoldsLess");
    let mut frozen = tenant.clone();
    frozen.set_frozen(COMPLIANCE, wallet, true).must();
    refused(&mut frozen, &item, "AccountFrozen");
    let mut frozen = tenant.clone();
    frozen.set_frozen(COMPLIANCE, tenant.controller, true).must();
    refused(&mut frozen, &item, "AccountFrozen");
    let mut held = tenant.clone();
    held.set_legal_hold(COMPLIANCE, wallet, true).must();
    refused(&mut held, &item, "OnLegalHold");
    tenant.debit(OPERATOR, &[item]).must();
    tenant.fund(tenant.usdc, wallet, 500);
    refused(&mut tenant, &item, "IntentUsed");
}

#[test]
fn an_intent_is_refused_across_functions() {
    let (mut tenant, debit, wallet) = funded();
    let escrow = tenant.vault(reference(2), STRANGER);
    tenant.fund(tenant.usdc, escrow, 500);
    tenant.fund(tenant.usdc, wallet, 500);
    let release = tenant.escrow_item(debit.intent, reference(2), STRANGER, 500);
    tenant.debit(OPERATOR, &[debit]).must();
    let outcome = tenant.release(OPERATOR, &[release]).must();
    assert_eq!(failures(&outcome), [(release.intent, "IntentUsed".to_owned())]);
    assert_eq!(tenant.propose_refund(COMPLIANCE, &release, STRANGER).refusal(), "IntentUsed");
    assert_eq!(tenant.return_debit(OPERATOR, debit.intent, debit.intent).refusal(), "IntentUsed");
    // An intent used by a return or a proposal is used for the others.
    tenant.return_debit(OPERATOR, debit.intent, intent(2)).must();
    refused(&mut tenant, &Item { intent: intent(2), ..debit }, "IntentUsed");
    tenant.propose_refund(COMPLIANCE, &Item { intent: intent(3), ..release }, STRANGER).must();
    refused(&mut tenant, &Item { intent: intent(3), ..debit }, "IntentUsed");
}

#[test]
fn a_debit_is_returned_once_and_exactly() {
    let (mut tenant, item, wallet) = funded();
    tenant.debit(OPERATOR, &[Item { amount: U256::from(300), ..item }]).must();
    let outcome = tenant.return_debit(OPERATOR, item.intent, intent(2)).must();
    assert_eq!(outcome.events(), ["Transfer", "DebitReturned"]);
    assert_eq!(outcome.logs[1].topics()[1..], [intent(2), item.intent]);
    let said = [abi::word(wallet), abi::word(tenant.usdc), abi::word(300)];
    assert_eq!(outcome.logs[1].data.data[..], said.concat());
    assert_eq!(tenant.balance(tenant.usdc, wallet), 500);
    assert_eq!(tenant.state(item.intent), "DebitReturned");
    assert_eq!(tenant.state(intent(2)), "Return");
    assert_eq!(tenant.return_debit(OPERATOR, item.intent, intent(3)).refusal(), "NotDebited");
}

#[test]
fn only_debits_are_returned() {
    let (mut tenant, _, _) = funded();
    let escrow = tenant.vault(reference(2), STRANGER);
    tenant.fund(tenant.usdc, escrow, 500);
    let release = tenant.escrow_item(intent(5), reference(2), STRANGER, 500);
    tenant.release(OPERATOR, &[release]).must();
    assert_eq!(tenant.return_debit(OPERATOR, intent(5), intent(6)).refusal(), "NotDebited");
    assert_eq!(tenant.return_debit(OPERATOR, intent(7), intent(8)).refusal(), "NotDebited");
}

#[test]
fn a_frozen_wallet_gets_its_money_back() {
    let (mut tenant, item, wallet) = funded();
    tenant.debit(OPERATOR, &[item]).must();
    tenant.set_frozen(COMPLIANCE, wallet, true).must();
    tenant.return_debit(OPERATOR, item.intent, intent(2)).must();
    assert_eq!(tenant.balance(tenant.usdc, wallet), 500);
    refused(&mut tenant, &Item { intent: intent(3), ..item }, "AccountFrozen");
}

#[test]
fn a_swept_debit_cannot_be_returned_until_it_is_funded_again() {
    let (mut tenant, item, wallet) = funded();
    tenant.debit(OPERATOR, &[item]).must();
    tenant.sweep(OPERATOR, tenant.usdc, 200).must();
    assert_eq!(tenant.return_debit(OPERATOR, item.intent, intent(2)).refusal(), "HoldsLess");
    assert_eq!(tenant.state(item.intent), "Debited");
    tenant.fund(tenant.usdc, tenant.controller, 200);
    tenant.return_debit(OPERATOR, item.intent, intent(2)).must();
    assert_eq!(tenant.balance(tenant.usdc, wallet), 500);
}

#[test]
fn a_sweep_goes_to_the_treasury_and_is_limited_to_the_balance() {
    let (mut tenant, item, _) = funded();
    tenant.debit(OPERATOR, &[item]).must();
    assert_eq!(tenant.sweep(OPERATOR, tenant.usdc, 501).refusal(), "HoldsLess");
    let outcome = tenant.sweep(OPERATOR, tenant.usdc, 500).must();
    assert_eq!(outcome.events(), ["Transfer", "Swept"]);
    assert_eq!(tenant.balance(tenant.usdc, TREASURY), 500);
    tenant.set_frozen(COMPLIANCE, TREASURY, true).must();
    assert_eq!(tenant.sweep(OPERATOR, tenant.usdc, 0).refusal(), "AccountFrozen");
}

#[test]
fn with_a_fee_a_return_sends_the_debited_amount() {
    let (mut tenant, item, wallet) = funded();
    tenant.fund(tenant.usdt, wallet, 100_000);
    tenant.fee(10, 49);
    let item = Item { token: tenant.usdt, amount: U256::from(100_000), ..item };
    tenant.debit(OPERATOR, &[item]).must();
    assert_eq!(tenant.balance(tenant.usdt, tenant.controller), 99_900);
    // The fee is missing here: it has to be replaced first.
    assert_eq!(tenant.return_debit(OPERATOR, item.intent, intent(2)).refusal(), "HoldsLess");
    tenant.fee(0, 0);
    tenant.fund(tenant.usdt, tenant.controller, 100);
    let outcome = tenant.return_debit(OPERATOR, item.intent, intent(2)).must();
    assert_eq!(
        transfers(&outcome.logs),
        [(tenant.usdt, tenant.controller, wallet, U256::from(100_000))]
    );
}

#[test]
fn a_refusal_of_the_token_leaves_the_debit_returnable() {
    let (mut tenant, item, wallet) = funded();
    tenant.debit(OPERATOR, &[item]).must();
    tenant.blacklist(tenant.usdc, wallet);
    let refusal = tenant.return_debit(OPERATOR, item.intent, intent(2)).refusal();
    assert_eq!(refusal, "Blacklistable: account is blacklisted");
    tenant.on(tenant.usdc, ISSUER, "unBlacklist(address)", &[wallet.into()]).must();
    tenant.return_debit(OPERATOR, item.intent, intent(2)).must();
}

#[test]
fn an_amount_beyond_the_stored_width_is_not_debited() {
    let (mut tenant, item, _) = funded();
    // A contract that claims to hold everything and to pay anything.
    let token = Address::new([0x99; 20]);
    tenant.evm.put_code(token, &crate::batch::agreeable());
    refused(
        &mut tenant,
        &Item { token, amount: U256::from(1) << 80, ..item },
        "SafeCastOverflowedUintDowncast",
    );
    let most = Item { token, amount: (U256::from(1) << 80) - U256::from(1), ..item };
    let outcome = tenant.debit(OPERATOR, &[most]).must();
    assert_eq!(tenant::failures(&outcome), []);
}

/// A record has a byte for the token: tokens beyond the 255th are stored beside it.
#[test]
fn a_debit_of_any_token_is_returned_in_that_token() {
    const TOKENS: u64 = 257;
    let token = |n: u64| Address::left_padding_from(&(0xbeef_0000_u64 + n).to_be_bytes());
    let (mut tenant, usdc, wallet) = funded();
    for batch in (0..TOKENS).collect::<Vec<_>>().chunks(16) {
        let items: Vec<Item> = batch
            .iter()
            .map(|n| {
                tenant.evm.put_code(token(*n), &crate::batch::agreeable());
                let amount = U256::from(10 + n);
                Item { intent: intent(1_000 + n), token: token(*n), amount, ..usdc }
            })
            .collect();
        assert_eq!(failures(&tenant.debit(OPERATOR, &items).must()), []);
    }
    tenant.debit(OPERATOR, &[usdc]).must();
    for n in [0, 254, 255, 256] {
        let outcome = tenant.return_debit(OPERATOR, intent(1_000 + n), intent(2_000 + n)).must();
        let said = [abi::word(wallet), abi::word(token(n)), abi::word(10 + n)];
        assert_eq!(outcome.logs[0].data.data[..], said.concat());
    }
    tenant.return_debit(OPERATOR, usdc.intent, intent(2)).must();
    assert_eq!(tenant.balance(tenant.usdc, wallet), 500);
}
