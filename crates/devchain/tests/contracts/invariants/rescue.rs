//! Nothing is blocked for ever: from any state, an admin with two days brings every token to the
//! customer or the bank.

use revm::primitives::{Address, U256};

use super::book::{Book, Checked, ensure};
use super::stage::{Role, Stage, Vault};
use crate::tenant::{ADMIN_DELAY_S, ISSUER, Item, Tenant, intent};

const FRESH_OPERATOR: Address = Address::new([0xf0; 20]);
const FRESH_COMPLIANCE: Address = Address::new([0xf1; 20]);
const FRESH_APPROVER: Address = Address::new([0xf2; 20]);
/// No run uses numbers from here on.
const FRESH_INTENT: u64 = 1_000_000;

/// What the admin alone can do, on a copy of the state.
pub fn check(stage: &Stage, book: &Book) -> Checked {
    let mut stage = stage.clone();
    issuers_relent(&mut stage);
    replace_everybody(&mut stage.tenant, book)?;
    for account in book.frozen.iter().chain(&book.on_hold) {
        let tenant = &mut stage.tenant;
        works(tenant.set_frozen(FRESH_COMPLIANCE, *account, false).ok, "unfreeze")?;
        works(tenant.set_legal_hold(FRESH_COMPLIANCE, *account, false).ok, "lift a hold")?;
    }
    empty(&mut stage)
}

fn works(ok: bool, what: &str) -> Checked {
    ensure(ok, "blocked for ever", || what.to_owned())
}

/// Issuers' blacklists and pauses are not the controller's.
fn issuers_relent(stage: &mut Stage) {
    let accounts = stage.accounts();
    let [usdc, usdt] = stage.tokens();
    for (token, unlist) in [(usdc, "unBlacklist(address)"), (usdt, "removeBlackList(address)")] {
        // USDT refuses to end a pause that is not one.
        let _paused = stage.tenant.on(token, ISSUER, "unpause()", &[]);
        for account in &accounts {
            stage.tenant.on(token, ISSUER, unlist, &[(*account).into()]).must();
        }
    }
    stage.tenant.fee(0, 0);
}

fn replace_everybody(tenant: &mut Tenant, book: &Book) -> Checked {
    let admin = book.roles.iter().find(|it| *it.1 == Role::Admin).map(|it| *it.0);
    let Some(admin) = admin else { return works(false, "there is no admin") };
    for (account, role) in book.roles.iter().filter(|it| *it.1 != Role::Admin) {
        works(tenant.revoke(admin, role.name(), *account).ok, "revoke")?;
    }
    works(tenant.grant(admin, "OPERATOR", FRESH_OPERATOR).ok, "grant OPERATOR")?;
    let fresh = [("COMPLIANCE", FRESH_COMPLIANCE), ("APPROVER", FRESH_APPROVER)];
    for (role, account) in fresh {
        works(tenant.propose_role(admin, role, account).ok, "propose a role")?;
    }
    tenant.evm.advance(ADMIN_DELAY_S);
    for (role, account) in fresh {
        works(tenant.grant(admin, role, account).ok, "grant a role")?;
    }
    if book.paused {
        works(tenant.unpause(admin).ok, "unpause")?;
    }
    Ok(())
}

/// Escrows first: they pay wallets.
fn empty(stage: &mut Stage) -> Checked {
    let mut number = FRESH_INTENT;
    for vaults in [stage.escrows.clone(), stage.wallets.clone()] {
        let is_escrow = vaults[0].recipient != stage.tenant.controller;
        let items = all_of(stage, &vaults, &mut number);
        let outcome = if is_escrow {
            stage.tenant.release(FRESH_OPERATOR, &items)
        } else {
            stage.tenant.debit(FRESH_OPERATOR, &items)
        };
        let all = outcome.ok && crate::abi::bools(&outcome.output).iter().all(|done| *done);
        works(all, if is_escrow { "release" } else { "debit" })?;
    }
    let controller = stage.tenant.controller;
    for token in stage.tokens() {
        let held = stage.tenant.balance(token, controller);
        works(stage.tenant.sweep(FRESH_OPERATOR, token, held).ok, "sweep")?;
        for account in stage.vaults().map(|it| it.address).chain([controller]).collect::<Vec<_>>() {
            let left = stage.tenant.balance(token, account);
            ensure(left == 0, "blocked for ever", || format!("{left} in {account}"))?;
        }
    }
    Ok(())
}

/// A movement of everything that each vault holds.
fn all_of(stage: &mut Stage, vaults: &[Vault], number: &mut u64) -> Vec<Item> {
    let mut items = Vec::new();
    for token in stage.tokens() {
        for vault in vaults {
            let held = stage.tenant.balance(token, vault.address);
            if held > 0 {
                *number += 1;
                let Vault { reference, recipient, .. } = *vault;
                let amount = U256::from(held);
                items.push(Item { intent: intent(*number), reference, recipient, token, amount });
            }
        }
    }
    items
}
