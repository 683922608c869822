//! Access control: every state-changing function, called by every account.

use std::collections::BTreeSet;

use revm::primitives::{Address, U256};

use crate::abi::Arg;
use crate::artifacts;
use crate::evm::{Evm, Outcome};
use crate::tenant::{
    ADMIN, ADMIN_DELAY_S, APPROVER, COMPLIANCE, Item, OPERATOR, PAYER, STRANGER, TREASURY, Tenant,
    controller_code, intent, reference, role,
};

const EVERYBODY: [Address; 5] = [ADMIN, OPERATOR, COMPLIANCE, APPROVER, STRANGER];
const WITHOUT_ROLE: &str = "AccessControlUnauthorizedAccount";

struct Rule {
    function: &'static str,
    allowed: &'static [Address],
    /// Refusal of all other accounts.
    refusal: &'static str,
    call: fn(&mut Tenant, Address) -> Outcome,
}

const fn rule(
    function: &'static str,
    allowed: &'static [Address],
    refusal: &'static str,
    call: fn(&mut Tenant, Address) -> Outcome,
) -> Rule {
    Rule { function, allowed, refusal, call }
}

/// In the context of [`world`] each of these calls succeeds for the permitted accounts.
const RULES: [Rule; 26] = [
    rule("releaseBatch", &[OPERATOR], WITHOUT_ROLE, |t, by| t.release(by, &[escrow_item(t, 10)])),
    rule("debitBatch", &[OPERATOR], WITHOUT_ROLE, |t, by| {
        let item = t.wallet_item(intent(11), reference(2), 1);
        t.debit(by, &[item])
    }),
    rule("releaseItem", &[], "NotSelf", |t, by| {
        let signature = "releaseItem((bytes32,bytes32,address,address,uint256))";
        t.call(by, signature, &[item_arg(&escrow_item(t, 12))])
    }),
    rule("debitItem", &[], "NotSelf", |t, by| {
        let signature = "debitItem((bytes32,bytes32,address,address,uint256))";
        let item = t.wallet_item(intent(13), reference(2), 1);
        t.call(by, signature, &[item_arg(&item)])
    }),
    rule("returnDebit", &[OPERATOR], WITHOUT_ROLE, |t, by| {
        t.return_debit(by, intent(1), intent(14))
    }),
    rule("sweep", &[OPERATOR], WITHOUT_ROLE, |t, by| t.sweep(by, t.usdc, 1)),
    rule("proposeRefund", &[COMPLIANCE], WITHOUT_ROLE, |t, by| {
        t.propose_refund(by, &escrow_item(t, 15), STRANGER)
    }),
    rule("executeRefund", &[APPROVER], WITHOUT_ROLE, |t, by| t.execute_refund(by, intent(2))),
    rule("cancelRefund", &[COMPLIANCE, APPROVER], "NoRole", |t, by| t.cancel_refund(by, intent(2))),
    rule("setFrozen", &[COMPLIANCE], WITHOUT_ROLE, |t, by| t.set_frozen(by, STRANGER, true)),
    rule("setLegalHold", &[COMPLIANCE], WITHOUT_ROLE, |t, by| t.set_legal_hold(by, STRANGER, true)),
    rule("pause", &[ADMIN, OPERATOR, COMPLIANCE, APPROVER], "NoRole", |t, by| t.pause(by)),
    rule("unpause", &[ADMIN], WITHOUT_ROLE, |t, by| {
        t.pause(OPERATOR).must();
        t.unpause(by)
    }),
    rule("proposeTreasury", &[ADMIN], WITHOUT_ROLE, |t, by| t.propose_treasury(by, STRANGER)),
    rule("applyTreasury", &[ADMIN], WITHOUT_ROLE, |t, by| t.apply_treasury(by)),
    rule("rescueEth", &[ADMIN], WITHOUT_ROLE, |t, by| {
        t.rescue_eth(by, reference(1), STRANGER, TREASURY)
    }),
    rule("rescueControllerEth", &[ADMIN], WITHOUT_ROLE, |t, by| {
        t.call(by, "rescueControllerEth(address)", &[TREASURY.into()])
    }),
    rule("grantRole", &[ADMIN], WITHOUT_ROLE, |t, by| t.grant(by, "OPERATOR", TREASURY)),
    rule("revokeRole", &[ADMIN], WITHOUT_ROLE, |t, by| t.revoke(by, "APPROVER", APPROVER)),
    rule("proposeRole", &[ADMIN], WITHOUT_ROLE, |t, by| t.propose_role(by, "APPROVER", PAYER)),
    rule("cancelRole", &[ADMIN], WITHOUT_ROLE, |t, by| t.cancel_role(by, "APPROVER", TREASURY)),
    rule("cancelTreasury", &[ADMIN], WITHOUT_ROLE, |t, by| t.cancel_treasury(by)),
    rule("beginDefaultAdminTransfer", &[ADMIN], WITHOUT_ROLE, |t, by| t.begin_transfer(by, PAYER)),
    rule("cancelDefaultAdminTransfer", &[ADMIN], WITHOUT_ROLE, |t, by| t.cancel_transfer(by)),
    rule("acceptDefaultAdminTransfer", &[STRANGER], "AccessControlInvalidDefaultAdmin", |t, by| {
        t.accept_transfer(by)
    }),
    // Every account may renounce its own role, never another's.
    rule("renounceRole", &[OPERATOR], "AccessControlBadConfirmation", |t, by| {
        t.call(by, "renounceRole(bytes32,address)", &[role("OPERATOR").into(), OPERATOR.into()])
    }),
];

fn escrow_item(tenant: &Tenant, n: u64) -> Item {
    tenant.escrow_item(intent(n), reference(1), STRANGER, 1)
}

fn item_arg(item: &Item) -> Arg {
    let words = [
        item.intent.into(),
        item.reference.into(),
        item.recipient.into(),
        item.token.into(),
        Arg::from(item.amount),
    ];
    Arg::Words(words.into_iter().map(crate::abi::word).collect())
}

/// A funded escrow, a funded wallet, a returnable debit, and proposals of a refund, a treasury, an
/// approver and an admin.
fn world() -> Tenant {
    let mut tenant = Tenant::new();
    let escrow = tenant.vault(reference(1), STRANGER);
    let wallet = tenant.vault(reference(2), tenant.controller);
    tenant.fund(tenant.usdc, escrow, 100);
    tenant.fund(tenant.usdc, wallet, 100);
    let debit = tenant.wallet_item(intent(1), reference(2), 50);
    tenant.debit(OPERATOR, &[debit]).must();
    let refund = Item { amount: U256::from(10), ..escrow_item(&tenant, 2) };
    tenant.propose_refund(COMPLIANCE, &refund, STRANGER).must();
    tenant.propose_treasury(ADMIN, STRANGER).must();
    tenant.propose_role(ADMIN, "APPROVER", TREASURY).must();
    tenant.begin_transfer(ADMIN, STRANGER).must();
    tenant.evm.advance(ADMIN_DELAY_S + 1);
    tenant
}

#[test]
fn every_function_is_restricted_to_its_roles() {
    let world = world();
    for rule in &RULES {
        for by in EVERYBODY {
            let outcome = (rule.call)(&mut world.clone(), by);
            if rule.allowed.contains(&by) {
                let failed = outcome.events().contains(&"IntentFailed");
                assert!(outcome.ok && !failed, "{} by {by} is refused: {outcome:?}", rule.function);
            } else {
                assert_eq!(outcome.refusal(), rule.refusal, "{} by {by}", rule.function);
            }
        }
    }
}

#[test]
fn every_function_is_covered() {
    let ruled: BTreeSet<_> = RULES.iter().map(|rule| rule.function).collect();
    assert_eq!(ruled, artifacts::controller_functions().into_iter().collect());
}

#[test]
fn one_account_holds_one_role() {
    let mut tenant = Tenant::new();
    let holders = [
        ("ADMIN", ADMIN),
        ("OPERATOR", OPERATOR),
        ("COMPLIANCE", COMPLIANCE),
        ("APPROVER", APPROVER),
    ];
    for (held, account) in holders {
        let asked = [
            ("ADMIN", tenant.begin_transfer(ADMIN, account)),
            ("OPERATOR", tenant.grant(ADMIN, "OPERATOR", account)),
            ("COMPLIANCE", tenant.propose_role(ADMIN, "COMPLIANCE", account)),
            ("APPROVER", tenant.propose_role(ADMIN, "APPROVER", account)),
        ];
        for (name, outcome) in asked {
            if name == held {
                assert!(outcome.ok, "an existing role changes nothing");
            } else {
                assert_eq!(
                    outcome.refusal(),
                    "HoldsAnotherRole",
                    "{name} for the holder of {held}"
                );
            }
        }
    }
    for outcome in [
        tenant.grant(ADMIN, "OPERATOR", Address::ZERO),
        tenant.propose_role(ADMIN, "APPROVER", Address::ZERO),
        tenant.begin_transfer(ADMIN, Address::ZERO),
    ] {
        assert_eq!(outcome.refusal(), "ZeroAddress");
    }
}

#[test]
fn a_controller_starts_with_four_roles_and_a_treasury() {
    let good = [ADMIN, OPERATOR, COMPLIANCE, APPROVER, TREASURY];
    let with = |at: usize, account: Address| {
        let mut people = good;
        people[at] = account;
        Evm::new().try_deploy(STRANGER, controller_code(people))
    };
    for at in 0..4 {
        let zero = if at == 0 { "AccessControlInvalidDefaultAdmin" } else { "ZeroAddress" };
        assert_eq!(with(at, Address::ZERO).refusal(), zero);
        assert_eq!(with(at, good[(at + 1) % 4]).refusal(), "HoldsAnotherRole");
    }
    assert_eq!(with(4, Address::ZERO).refusal(), "BadTreasury");
}
