//! The accounts and vaults of a run, and its beginning.

use domain::chain::{self, vault};
use revm::primitives::{Address, B256};

use crate::batch;
use crate::tenant::{
    ADMIN, APPROVER, COMPLIANCE, OPERATOR, PAYER, STRANGER, TREASURY, Tenant, reference, role,
};

const fn account(n: u8) -> Address {
    Address::new([n; 20])
}

/// The second account of each role, and a second treasury: the bank's own.
pub const ADMIN_2: Address = account(0xa2);
pub const OPERATOR_2: Address = account(0x02);
pub const COMPLIANCE_2: Address = account(0xc2);
pub const APPROVER_2: Address = account(0xa3);
pub const TREASURY_2: Address = account(0x72);
/// Where honest compliance sends refunds.
pub const HOME: Address = account(0x44);
/// A customer's own address, to which an escrow pays.
pub const CUSTOMER: Address = account(0x33);
pub const THIEF: Address = account(0x66);
pub const ACCOMPLICE: Address = account(0x67);
/// A contract that is a token, a recipient of ether and a holder of roles, and calls the controller
/// back whenever it is called.
pub const EVIL: Address = account(0xe1);
/// Never honest.
pub const OUTSIDERS: [Address; 4] = [THIEF, ACCOMPLICE, EVIL, STRANGER];

/// Initial balance of each vault and of the controller per token.
const START: u64 = 20_000;
/// Escrows that pay the first two wallets, a customer's address, and a wallet again.
const ESCROWS: u64 = 4;
const WALLETS: u64 = 3;

/// A role of the controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    Admin,
    Operator,
    Compliance,
    Approver,
}

impl Role {
    pub const ALL: [Role; 4] = [Role::Admin, Role::Operator, Role::Compliance, Role::Approver];

    pub const fn name(self) -> &'static str {
        match self {
            Role::Admin => "ADMIN",
            Role::Operator => "OPERATOR",
            Role::Compliance => "COMPLIANCE",
            Role::Approver => "APPROVER",
        }
    }

    pub fn id(self) -> B256 {
        role(self.name())
    }

    pub fn of_id(id: B256) -> Option<Role> {
        Role::ALL.into_iter().find(|role| role.id() == id)
    }

    /// The bank's own accounts for this role: the first has it from the start.
    pub const fn own(self) -> [Address; 2] {
        match self {
            Role::Admin => [ADMIN, ADMIN_2],
            Role::Operator => [OPERATOR, OPERATOR_2],
            Role::Compliance => [COMPLIANCE, COMPLIANCE_2],
            Role::Approver => [APPROVER, APPROVER_2],
        }
    }

    /// The role that an account of the bank is meant for.
    pub fn meant_for(account: Address) -> Option<Role> {
        Role::ALL.into_iter().find(|role| role.own().contains(&account))
    }
}

/// A vault with its commitment.
#[derive(Clone, Copy, Debug)]
pub struct Vault {
    pub reference: B256,
    pub recipient: Address,
    pub address: Address,
}

#[derive(Clone)]
pub struct Stage {
    pub tenant: Tenant,
    pub escrows: Vec<Vault>,
    pub wallets: Vec<Vault>,
    /// Whether [`EVIL`] calls the controller when it is called.
    pub is_trapped: bool,
}

impl Stage {
    pub fn new(mut tenant: Tenant) -> Stage {
        let controller = tenant.controller;
        let wallets: Vec<Vault> =
            (ESCROWS..ESCROWS + WALLETS).map(|n| vault_of(controller, n, controller)).collect();
        let recipients = [wallets[0].address, wallets[1].address, CUSTOMER, wallets[0].address];
        let escrows: Vec<Vault> = (0..ESCROWS)
            .zip(recipients)
            .map(|(n, recipient)| vault_of(controller, n, recipient))
            .collect();
        for token in [tenant.usdc, tenant.usdt] {
            for vault in escrows.iter().chain(&wallets) {
                tenant.fund(token, vault.address, START);
            }
            tenant.fund(token, controller, START);
        }
        tenant.evm.give_ether(PAYER, u64::MAX);
        tenant.evm.put_code(EVIL, &batch::agreeable());
        Stage { tenant, escrows, wallets, is_trapped: false }
    }

    pub fn vaults(&self) -> impl Iterator<Item = &Vault> {
        self.escrows.iter().chain(&self.wallets)
    }

    pub const fn tokens(&self) -> [Address; 2] {
        [self.tenant.usdc, self.tenant.usdt]
    }

    /// Accounts whose key, or in the evil contract's case whose code, can send a call.
    pub fn senders(&self) -> Vec<Address> {
        let own = Role::ALL.into_iter().flat_map(Role::own);
        own.chain(OUTSIDERS).chain([TREASURY, TREASURY_2, HOME, CUSTOMER]).collect()
    }

    /// Every account that a call may name.
    pub fn accounts(&self) -> Vec<Address> {
        let vaults = self.vaults().map(|vault| vault.address);
        vaults.chain(self.senders()).chain([self.tenant.controller, Address::ZERO]).collect()
    }
}

/// The vault with this number, as `domain` computes it.
fn vault_of(controller: Address, n: u64, recipient: Address) -> Vault {
    let reference = reference(n);
    Vault { reference, recipient, address: vault_address(controller, reference, recipient) }
}

pub fn vault_address(controller: Address, reference: B256, recipient: Address) -> Address {
    let of = |address: Address| chain::Address(address.0.0);
    let implementation = vault::first_created(&of(controller));
    let reference = chain::Word(reference.0);
    Address::new(vault::address(&of(controller), &implementation, &of(recipient), &reference).0)
}
