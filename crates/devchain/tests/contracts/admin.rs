//! Pause, replacement of the treasury, and accidental ether.

use revm::primitives::{Address, U256};

use crate::tenant::{
    ADMIN, APPROVER, COMPLIANCE, Item, OPERATOR, PAYER, STRANGER, TREASURY, Tenant, intent,
    reference,
};

const WALLET: Address = Address::new([0x33; 20]);
const HOUR: u64 = 3600;

#[test]
fn nothing_moves_while_paused() {
    let mut tenant = Tenant::new();
    let escrow = tenant.vault(reference(1), WALLET);
    let wallet = tenant.vault(reference(2), tenant.controller);
    tenant.fund(tenant.usdc, escrow, 500);
    tenant.fund(tenant.usdc, wallet, 500);
    let release = tenant.escrow_item(intent(1), reference(1), WALLET, 100);
    let debit = tenant.wallet_item(intent(2), reference(2), 100);
    let refund = Item { intent: intent(3), ..release };
    tenant.debit(OPERATOR, &[debit]).must();
    tenant.propose_refund(COMPLIANCE, &refund, PAYER).must();
    tenant.pause(OPERATOR).must();
    let next = Item { intent: intent(4), ..debit };
    for refused in [
        tenant.release(OPERATOR, &[release]),
        tenant.debit(OPERATOR, &[next]),
        tenant.return_debit(OPERATOR, debit.intent, intent(5)),
        tenant.sweep(OPERATOR, tenant.usdc, 1),
        tenant.execute_refund(APPROVER, refund.intent),
        tenant.pause(COMPLIANCE),
    ] {
        assert_eq!(refused.refusal(), "EnforcedPause");
    }
    // Compliance functions still work.
    tenant.set_frozen(COMPLIANCE, escrow, true).must();
    tenant.set_legal_hold(COMPLIANCE, wallet, true).must();
    tenant.cancel_refund(COMPLIANCE, refund.intent).must();
    tenant.unpause(ADMIN).must();
    tenant.return_debit(OPERATOR, debit.intent, intent(5)).must();
}

#[test]
fn replacing_the_treasury_takes_48_hours() {
    let mut tenant = Tenant::new();
    tenant.fund(tenant.usdc, tenant.controller, 300);
    assert_eq!(tenant.apply_treasury(ADMIN).refusal(), "TreasuryNotProposed");
    assert_eq!(tenant.propose_treasury(ADMIN, STRANGER).must().events(), ["TreasuryProposed"]);
    tenant.evm.advance(48 * HOUR - 1);
    assert_eq!(tenant.apply_treasury(ADMIN).refusal(), "TooEarly");
    tenant.sweep(OPERATOR, tenant.usdc, 100).must();
    assert_eq!(tenant.balance(tenant.usdc, TREASURY), 100, "the old one is paid until then");
    tenant.evm.advance(1);
    assert_eq!(tenant.apply_treasury(ADMIN).must().events(), ["TreasuryChanged"]);
    tenant.sweep(OPERATOR, tenant.usdc, 200).must();
    assert_eq!(tenant.balance(tenant.usdc, STRANGER), 200);
    assert_eq!(tenant.apply_treasury(ADMIN).refusal(), "TreasuryNotProposed");
}

#[test]
fn a_new_proposal_restarts_the_delay() {
    let mut tenant = Tenant::new();
    tenant.propose_treasury(ADMIN, STRANGER).must();
    tenant.evm.advance(47 * HOUR);
    tenant.propose_treasury(ADMIN, PAYER).must();
    tenant.evm.advance(2 * HOUR);
    assert_eq!(tenant.apply_treasury(ADMIN).refusal(), "TooEarly");
    tenant.evm.advance(46 * HOUR);
    tenant.apply_treasury(ADMIN).must();
    let treasury = tenant.evm.look(tenant.controller, "treasury()", &[]);
    assert_eq!(Address::from_slice(&treasury[12..]), PAYER);
}

#[test]
fn the_treasury_is_an_external_address() {
    let mut tenant = Tenant::new();
    for bad in [Address::ZERO, tenant.controller] {
        assert_eq!(tenant.propose_treasury(ADMIN, bad).refusal(), "BadTreasury");
    }
}

#[test]
fn ether_is_rescued_from_deployed_and_future_vaults() {
    let mut tenant = Tenant::new();
    tenant.evm.give_ether(PAYER, 1_000);
    let escrow = tenant.vault(reference(1), WALLET);
    assert!(tenant.evm.pay(PAYER, escrow, 400).ok, "no contract exists that could refuse it");
    assert_eq!(
        tenant.rescue_eth(ADMIN, reference(1), WALLET, Address::ZERO).refusal(),
        "ZeroAddress"
    );
    let outcome = tenant.rescue_eth(ADMIN, reference(1), WALLET, TREASURY).must();
    assert_eq!(outcome.events(), ["EthRescued"]);
    assert_eq!(tenant.evm.ether(TREASURY), U256::from(400));
    assert!(!tenant.evm.pay(PAYER, escrow, 400).ok, "a deployed vault accepts none");
}

#[test]
fn a_controller_has_only_ether_from_before_its_deployment() {
    let mut tenant = Tenant::new();
    tenant.evm.give_ether(PAYER, 1_000);
    assert!(!tenant.evm.pay(PAYER, tenant.controller, 1).ok);
    tenant.evm.give_ether(tenant.controller, 70);
    let rescue = "rescueControllerEth(address)";
    assert_eq!(tenant.call(ADMIN, rescue, &[Address::ZERO.into()]).refusal(), "ZeroAddress");
    tenant.call(ADMIN, rescue, &[TREASURY.into()]).must();
    assert_eq!(tenant.evm.ether(TREASURY), U256::from(70));
}

#[test]
fn ether_on_legal_hold_stays() {
    let mut tenant = Tenant::new();
    let escrow = tenant.vault(reference(1), WALLET);
    tenant.evm.give_ether(escrow, 400);
    tenant.set_legal_hold(COMPLIANCE, escrow, true).must();
    assert_eq!(tenant.rescue_eth(ADMIN, reference(1), WALLET, TREASURY).refusal(), "OnLegalHold");
}
