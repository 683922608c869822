//! What the admin gives away takes effect two days after its announcement; what it takes away, at
//! once.

use revm::primitives::Address;

use crate::tenant::{
    ADMIN, ADMIN_DELAY_S, APPROVER, COMPLIANCE, OPERATOR, PAYER, STRANGER, TREASURY, Tenant,
};

const NEXT: Address = Address::new([0x4e; 20]);

#[test]
fn roles_that_refund_are_granted_after_two_days() {
    for role in ["COMPLIANCE", "APPROVER"] {
        let mut tenant = Tenant::new();
        assert_eq!(tenant.grant(ADMIN, role, NEXT).refusal(), "RoleNotProposed");
        assert_eq!(tenant.propose_role(ADMIN, role, NEXT).must().events(), ["RoleProposed"]);
        tenant.evm.advance(ADMIN_DELAY_S - 1);
        assert_eq!(tenant.grant(ADMIN, role, NEXT).refusal(), "TooEarly");
        tenant.evm.advance(1);
        assert_eq!(tenant.grant(ADMIN, role, PAYER).refusal(), "RoleNotProposed");
        assert_eq!(tenant.grant(ADMIN, role, NEXT).must().events(), ["RoleGranted"]);
        assert!(tenant.has_role(role, NEXT));
        // A proposal is used once.
        tenant.revoke(ADMIN, role, NEXT).must();
        assert_eq!(tenant.grant(ADMIN, role, NEXT).refusal(), "RoleNotProposed");
    }
}

#[test]
fn a_proposal_is_for_one_of_the_two_roles() {
    let mut tenant = Tenant::new();
    tenant.propose_role(ADMIN, "COMPLIANCE", NEXT).must();
    tenant.evm.advance(ADMIN_DELAY_S);
    assert_eq!(tenant.grant(ADMIN, "APPROVER", NEXT).refusal(), "RoleNotProposed");
    for role in ["ADMIN", "OPERATOR"] {
        assert_eq!(tenant.propose_role(ADMIN, role, NEXT).refusal(), "RoleWithoutDelay");
    }
}

#[test]
fn a_proposed_role_is_cancelled_or_proposed_again() {
    let mut tenant = Tenant::new();
    tenant.propose_role(ADMIN, "APPROVER", NEXT).must();
    tenant.evm.advance(ADMIN_DELAY_S);
    tenant.propose_role(ADMIN, "APPROVER", NEXT).must();
    assert_eq!(tenant.grant(ADMIN, "APPROVER", NEXT).refusal(), "TooEarly");
    tenant.evm.advance(ADMIN_DELAY_S);
    let cancelled = tenant.cancel_role(ADMIN, "APPROVER", NEXT).must();
    assert_eq!(cancelled.events(), ["RoleProposalCancelled"]);
    assert_eq!(tenant.grant(ADMIN, "APPROVER", NEXT).refusal(), "RoleNotProposed");
    assert_eq!(tenant.cancel_role(ADMIN, "APPROVER", NEXT).refusal(), "RoleNotProposed");
}

#[test]
fn an_account_that_has_received_another_role_is_not_granted_a_second_one() {
    let mut tenant = Tenant::new();
    tenant.propose_role(ADMIN, "APPROVER", NEXT).must();
    tenant.grant(ADMIN, "OPERATOR", NEXT).must();
    tenant.evm.advance(ADMIN_DELAY_S);
    assert_eq!(tenant.grant(ADMIN, "APPROVER", NEXT).refusal(), "HoldsAnotherRole");
}

#[test]
fn operators_are_granted_at_once_and_every_role_is_revoked_at_once() {
    let mut tenant = Tenant::new();
    tenant.grant(ADMIN, "OPERATOR", NEXT).must();
    assert!(tenant.has_role("OPERATOR", NEXT));
    for (role, account) in
        [("OPERATOR", OPERATOR), ("COMPLIANCE", COMPLIANCE), ("APPROVER", APPROVER)]
    {
        tenant.revoke(ADMIN, role, account).must();
        assert!(!tenant.has_role(role, account));
    }
}

#[test]
fn the_admin_changes_in_two_steps_after_two_days() {
    let mut tenant = Tenant::new();
    assert_eq!(
        tenant.begin_transfer(ADMIN, NEXT).must().events(),
        ["DefaultAdminTransferScheduled"]
    );
    tenant.evm.advance(ADMIN_DELAY_S);
    assert_eq!(tenant.accept_transfer(NEXT).refusal(), "AccessControlEnforcedDefaultAdminDelay");
    tenant.evm.advance(1);
    assert_eq!(tenant.accept_transfer(ADMIN).refusal(), "AccessControlInvalidDefaultAdmin");
    assert_eq!(tenant.accept_transfer(NEXT).must().events(), ["RoleRevoked", "RoleGranted"]);
    assert!(tenant.has_role("ADMIN", NEXT) && !tenant.has_role("ADMIN", ADMIN));
    assert_eq!(
        tenant.grant(ADMIN, "OPERATOR", STRANGER).refusal(),
        "AccessControlUnauthorizedAccount"
    );
    tenant.grant(NEXT, "OPERATOR", STRANGER).must();
}

#[test]
fn a_transfer_of_the_admin_is_cancelled() {
    let mut tenant = Tenant::new();
    tenant.begin_transfer(ADMIN, NEXT).must();
    tenant.evm.advance(ADMIN_DELAY_S + 1);
    tenant.cancel_transfer(ADMIN).must();
    assert_eq!(tenant.accept_transfer(NEXT).refusal(), "AccessControlInvalidDefaultAdmin");
}

/// Without an admin no pause could be ended.
#[test]
fn there_is_always_exactly_one_admin() {
    let mut tenant = Tenant::new();
    let rules = "AccessControlEnforcedDefaultAdminRules";
    assert_eq!(tenant.grant(ADMIN, "ADMIN", NEXT).refusal(), rules);
    assert_eq!(tenant.revoke(ADMIN, "ADMIN", ADMIN).refusal(), rules);
    let renounce = [crate::tenant::role("ADMIN").into(), ADMIN.into()];
    assert_eq!(
        tenant.call(ADMIN, "renounceRole(bytes32,address)", &renounce).refusal(),
        "AccessControlEnforcedDefaultAdminDelay"
    );
    assert_eq!(tenant.begin_transfer(ADMIN, Address::ZERO).refusal(), "ZeroAddress");
}

#[test]
fn the_delay_is_fixed() {
    let mut tenant = Tenant::new();
    let change = tenant.call(ADMIN, "changeDefaultAdminDelay(uint48)", &[0.into()]);
    assert_eq!(change.refusal(), "DelayIsFixed");
    assert_eq!(tenant.call(ADMIN, "rollbackDefaultAdminDelay()", &[]).refusal(), "DelayIsFixed");
}

#[test]
fn a_proposed_treasury_is_cancelled() {
    let mut tenant = Tenant::new();
    assert_eq!(tenant.cancel_treasury(ADMIN).refusal(), "TreasuryNotProposed");
    tenant.propose_treasury(ADMIN, NEXT).must();
    tenant.evm.advance(ADMIN_DELAY_S);
    assert_eq!(tenant.cancel_treasury(ADMIN).must().events(), ["TreasuryProposalCancelled"]);
    assert_eq!(tenant.apply_treasury(ADMIN).refusal(), "TreasuryNotProposed");
    let treasury = tenant.evm.look(tenant.controller, "treasury()", &[]);
    assert_eq!(Address::from_slice(&treasury[12..]), TREASURY);
}
