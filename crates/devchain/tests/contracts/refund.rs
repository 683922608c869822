//! Refunds: proposed by compliance, executed by a different approver, never on legal hold.

use revm::primitives::{Address, B256, U256};

use crate::abi;
use crate::tenant::{
    ADMIN, APPROVER, COMPLIANCE, ISSUER, Item, OPERATOR, PAYER, STRANGER, Tenant, intent, reference,
};

const WALLET: Address = Address::new([0x33; 20]);
/// The sender's refund address.
const HOME: Address = Address::new([0x44; 20]);

fn funded() -> (Tenant, Item, Address) {
    let mut tenant = Tenant::new();
    let escrow = tenant.vault(reference(1), WALLET);
    tenant.fund(tenant.usdc, escrow, 500);
    let item = tenant.escrow_item(intent(1), reference(1), WALLET, 500);
    (tenant, item, escrow)
}

fn proposed() -> (Tenant, Item, Address) {
    let (mut tenant, item, escrow) = funded();
    tenant.propose_refund(COMPLIANCE, &item, HOME).must();
    (tenant, item, escrow)
}

#[test]
fn a_refund_takes_two_accounts() {
    let (mut tenant, item, escrow) = funded();
    let outcome = tenant.propose_refund(COMPLIANCE, &item, HOME).must();
    assert_eq!(outcome.events(), ["RefundProposed"]);
    assert_eq!(tenant.state(item.intent), "RefundProposed");
    assert_eq!(tenant.balance(tenant.usdc, HOME), 0);
    let outcome = tenant.execute_refund(APPROVER, item.intent).must();
    assert_eq!(outcome.events(), ["Transfer", "Refunded"]);
    assert_eq!(outcome.logs[1].topics()[1..], [item.intent, item.reference]);
    let said = [abi::word(escrow), abi::word(tenant.usdc), abi::word(HOME), abi::word(500)];
    assert_eq!(outcome.logs[1].data.data[..], said.concat());
    assert_eq!(tenant.balance(tenant.usdc, HOME), 500);
    assert_eq!(tenant.state(item.intent), "Refunded");
    assert_eq!(tenant.execute_refund(APPROVER, item.intent).refusal(), "NotProposed");
}

#[test]
fn the_proposer_never_executes_even_when_the_admin_changes_roles() {
    let (mut tenant, item, _) = proposed();
    let early = tenant.propose_role(ADMIN, "APPROVER", COMPLIANCE);
    assert_eq!(early.refusal(), "HoldsAnotherRole");
    tenant.revoke(ADMIN, "COMPLIANCE", COMPLIANCE).must();
    tenant.assign("APPROVER", COMPLIANCE);
    assert_eq!(tenant.execute_refund(COMPLIANCE, item.intent).refusal(), "SamePerson");
}

#[test]
fn a_proposal_ends_with_its_proposers_role() {
    let (mut tenant, item, _) = proposed();
    tenant.revoke(ADMIN, "COMPLIANCE", COMPLIANCE).must();
    assert_eq!(tenant.execute_refund(APPROVER, item.intent).refusal(), "ProposerLostRole");
}

#[test]
fn nothing_on_legal_hold_is_refunded() {
    let (mut tenant, item, escrow) = proposed();
    tenant.set_legal_hold(COMPLIANCE, escrow, true).must();
    assert_eq!(tenant.execute_refund(APPROVER, item.intent).refusal(), "OnLegalHold");
    let second = Item { intent: intent(2), ..item };
    assert_eq!(tenant.propose_refund(COMPLIANCE, &second, HOME).refusal(), "OnLegalHold");
    tenant.set_legal_hold(COMPLIANCE, escrow, false).must();
    tenant.execute_refund(APPROVER, item.intent).must();
}

#[test]
fn a_frozen_escrow_is_refunded_but_not_to_a_frozen_account() {
    let (mut tenant, item, escrow) = proposed();
    tenant.set_frozen(COMPLIANCE, escrow, true).must();
    tenant.set_frozen(COMPLIANCE, HOME, true).must();
    assert_eq!(tenant.execute_refund(APPROVER, item.intent).refusal(), "AccountFrozen");
    let second = Item { intent: intent(2), ..item };
    assert_eq!(tenant.propose_refund(COMPLIANCE, &second, HOME).refusal(), "AccountFrozen");
    tenant.set_frozen(COMPLIANCE, HOME, false).must();
    tenant.execute_refund(APPROVER, item.intent).must();
}

#[test]
fn compliance_and_approver_cancel_and_a_cancelled_intent_is_used_up() {
    for person in [COMPLIANCE, APPROVER] {
        let (mut tenant, item, _) = proposed();
        for other in [OPERATOR, ADMIN, STRANGER] {
            assert_eq!(tenant.cancel_refund(other, item.intent).refusal(), "NoRole");
        }
        assert_eq!(tenant.cancel_refund(person, item.intent).must().events(), ["RefundCancelled"]);
        assert_eq!(tenant.state(item.intent), "RefundCancelled");
        assert_eq!(tenant.execute_refund(APPROVER, item.intent).refusal(), "NotProposed");
        assert_eq!(tenant.cancel_refund(person, item.intent).refusal(), "NotProposed");
        assert_eq!(tenant.propose_refund(COMPLIANCE, &item, HOME).refusal(), "IntentUsed");
    }
}

#[test]
fn forbidden_refund_addresses_are_refused() {
    let (mut tenant, item, escrow) = funded();
    for to in [Address::ZERO, tenant.controller, escrow] {
        assert_eq!(tenant.propose_refund(COMPLIANCE, &item, to).refusal(), "BadRefundAddress");
    }
}

#[test]
fn invalid_proposals_are_refused() {
    let (mut tenant, item, _) = funded();
    let wallet = Item { recipient: tenant.controller, ..item };
    assert_eq!(tenant.propose_refund(COMPLIANCE, &wallet, HOME).refusal(), "NotAnEscrow");
    let nothing = Item { amount: U256::ZERO, ..item };
    assert_eq!(tenant.propose_refund(COMPLIANCE, &nothing, HOME).refusal(), "NothingToMove");
    tenant.propose_refund(COMPLIANCE, &item, HOME).must();
    assert_eq!(tenant.propose_refund(COMPLIANCE, &item, PAYER).refusal(), "IntentUsed");
    assert_eq!(tenant.execute_refund(APPROVER, B256::ZERO).refusal(), "NotProposed");
}

#[test]
fn a_since_released_amount_cannot_be_refunded() {
    let (mut tenant, item, _) = proposed();
    tenant.release(OPERATOR, &[Item { intent: intent(2), ..item }]).must();
    assert_eq!(tenant.execute_refund(APPROVER, item.intent).refusal(), "HoldsLess");
    assert_eq!(tenant.state(item.intent), "RefundProposed");
}

#[test]
fn a_refusal_of_the_token_leaves_the_proposal() {
    let (mut tenant, item, _) = proposed();
    tenant.blacklist(tenant.usdc, HOME);
    let refusal = tenant.execute_refund(APPROVER, item.intent).refusal();
    assert_eq!(refusal, "Blacklistable: account is blacklisted");
    tenant.on(tenant.usdc, ISSUER, "unBlacklist(address)", &[HOME.into()]).must();
    tenant.execute_refund(APPROVER, item.intent).must();
}
