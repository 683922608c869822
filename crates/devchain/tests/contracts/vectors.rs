//! Addresses: those computed by `domain` before deployment equal those of the contracts.

use domain::chain::vault::{self, VaultKind};
use domain::chain::{Address as DomainAddress, Word};
use domain::ids::TenantId;
use proptest::prelude::*;
use revm::primitives::{Address, B256, hex, keccak256};
use uuid::Uuid;

use crate::evm::{Evm, GAS_MAX};
use crate::tenant::{self, ADMIN, APPROVER, COMPLIANCE, OPERATOR, STRANGER, TREASURY, Tenant};
use crate::{abi, artifacts};

const CREATE2_DEPLOYER_CODE: [u8; 69] = hex!(
    "7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffe03601600081602082378035828234f58015156039578182fd5b8082525050506014600cf3"
);
const CREATE2_DEPLOYER: Address = Address::new(hex!("4e59b44847b379578588920cA78FbF26c0B4956C"));

fn domain(address: Address) -> DomainAddress {
    DomainAddress(address.0.0)
}

fn contract(address: DomainAddress) -> Address {
    Address::new(address.0)
}

fn implementation(tenant: &mut Tenant) -> Address {
    let controller = tenant.controller;
    abi::address(abi::nth(&tenant.evm.look(controller, "vaultImplementation()", &[]), 0))
}

fn random_address() -> impl Strategy<Value = Address> {
    any::<[u8; 20]>().prop_map(Address::new)
}

#[test]
fn the_implementation_is_the_controllers_first_contract() {
    let mut tenant = Tenant::new();
    let computed = vault::first_created(&domain(tenant.controller));
    assert_eq!(implementation(&mut tenant), contract(computed));
    assert!(tenant.evm.has_code(contract(computed)));
}

#[test]
fn vault_addresses_match_those_of_domain() {
    let mut tenant = Tenant::new();
    let (controller, implementation) =
        (domain(tenant.controller), domain(implementation(&mut tenant)));
    proptest!(ProptestConfig::with_cases(64), |(reference: [u8; 32], recipient in random_address())| {
        let mut tenant = tenant.clone();
        let computed = vault::address(&controller, &implementation, &domain(recipient), &Word(reference));
        prop_assert_eq!(tenant.vault(B256::from(reference), recipient), contract(computed));
    });
}

/// Fixed values detect a simultaneous change on both sides: published addresses must never change.
#[test]
fn references_and_addresses_never_change() {
    let tenant = TenantId(Uuid::from_u128(0x0192_0000_0000_7000_8000_0000_0000_0001));
    let subject = Uuid::from_u128(0x0192_0000_0000_7000_8000_0000_0000_0002);
    let controller = DomainAddress([0x11; 20]);
    let implementation = vault::first_created(&controller);
    let lines: Vec<String> = [VaultKind::Escrow, VaultKind::Wallet]
        .map(|kind| {
            let reference = vault::reference(kind, tenant, subject);
            let address = vault::address(
                &controller,
                &implementation,
                &DomainAddress([0x22; 20]),
                &reference,
            );
            format!("{} {reference} {address}", kind.name())
        })
        .to_vec();
    insta::assert_snapshot!(lines.join("\n"), @r"
    escrow 0x6ea2c09a940a04fdb931e80698f674ebbd0f96423b85b5952b33c762ad6e7090 0x31fAAe4ba3Cd53e5d2047D318687705a3440e10a
    wallet 0x45727f41c3a8e4045e67dca0faf22dc95a7364a52d0a7dd79ab9000f666a0725 0x128c1D5A00d83722658c92618cE8885D17bb52E7
    ");
}

#[test]
fn the_controllers_address_follows_from_its_code_and_salt() {
    let mut evm = Evm::new();
    evm.put_code(CREATE2_DEPLOYER, &CREATE2_DEPLOYER_CODE);
    let code = tenant::controller_code([ADMIN, OPERATOR, COMPLIANCE, APPROVER, TREASURY]);
    let salt = keccak256("a tenant");
    let computed = vault::create2(&domain(CREATE2_DEPLOYER), &Word(salt.0), &vault::hash(&[&code]));
    let made = evm.send(STRANGER, CREATE2_DEPLOYER, [&salt[..], &code].concat().into()).must();
    assert_eq!(Address::from_slice(&made.output), contract(computed));
    assert!(evm.has_code(contract(computed)));
    let implementation = vault::first_created(&computed);
    let told = evm.look(contract(computed), "vaultImplementation()", &[]);
    assert_eq!(abi::address(abi::nth(&told, 0)), contract(implementation));
    assert!(made.gas < GAS_MAX, "one transaction is enough");
}

#[test]
fn a_vault_that_was_paid_before_it_existed_is_deployed_at_that_address() {
    let mut tenant = Tenant::new();
    let escrow = tenant.vault(tenant::reference(1), STRANGER);
    tenant.fund(tenant.usdc, escrow, 500);
    assert!(!tenant.evm.has_code(escrow));
    let item = tenant.escrow_item(tenant::intent(1), tenant::reference(1), STRANGER, 500);
    tenant.release(OPERATOR, &[item]).must();
    assert!(tenant.evm.has_code(escrow));
    let told = tenant.evm.look(escrow, "recipient()", &[]);
    assert_eq!(
        abi::address(abi::nth(&told, 0)),
        STRANGER,
        "the clone's code ends with its recipient"
    );
}

#[test]
fn another_recipient_yields_another_and_empty_address() {
    let mut tenant = Tenant::new();
    let escrow = tenant.vault(tenant::reference(1), TREASURY);
    tenant.fund(tenant.usdc, escrow, 500);
    let lie = tenant.escrow_item(tenant::intent(1), tenant::reference(1), OPERATOR, 500);
    assert_ne!(tenant.vault(lie.reference, lie.recipient), escrow);
    let outcome = tenant.release(OPERATOR, &[lie]).must();
    assert_eq!(tenant::failures(&outcome), [(lie.intent, "HoldsLess".to_owned())]);
    assert_eq!(tenant.balance(tenant.usdc, escrow), 500);
}

#[test]
fn every_artifact_names_its_contract() {
    assert!(!artifacts::controller().is_empty());
    assert!(artifacts::controller_functions().contains(&"releaseBatch"));
}
