//! A tenant with its controller, the two tokens, and the accounts around them.

use revm::primitives::{Address, B256, Log, U256, keccak256};

use crate::abi::{self, Arg};
use crate::artifacts;
use crate::evm::{Evm, Outcome};

const fn person(n: u8) -> Address {
    Address::new([n; 20])
}

pub const DEPLOYER: Address = person(0x0d);
pub const ADMIN: Address = person(0xad);
pub const OPERATOR: Address = person(0x0b);
pub const COMPLIANCE: Address = person(0xc0);
pub const APPROVER: Address = person(0xab);
pub const TREASURY: Address = person(0x7e);
/// Has no funds and no role.
pub const STRANGER: Address = person(0x57);
/// The account that pays into escrows.
pub const PAYER: Address = person(0x9a);
/// Issuer of both tokens: all roles of USDC, owner of USDT.
pub const ISSUER: Address = person(0x15);

/// Between the announcement and the effect of what the admin gives away.
pub const ADMIN_DELAY_S: u64 = 48 * 3600;
/// The payer's initial balance per token.
pub const PAYERS_FUNDS: u64 = 1_000_000_000_000;
pub const ITEM: &str = "(bytes32,bytes32,address,address,uint256)";

/// One movement out of a vault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Item {
    pub intent: B256,
    pub reference: B256,
    pub recipient: Address,
    pub token: Address,
    pub amount: U256,
}

impl Item {
    pub fn words(&self) -> Vec<abi::Word> {
        vec![
            self.intent.0,
            self.reference.0,
            abi::word(self.recipient),
            abi::word(self.token),
            abi::word(self.amount),
        ]
    }
}

#[derive(Clone)]
pub struct Tenant {
    pub evm: Evm,
    pub controller: Address,
    pub usdc: Address,
    pub usdt: Address,
}

pub fn intent(n: u64) -> B256 {
    keccak256(format!("intent {n}"))
}

pub fn reference(n: u64) -> B256 {
    keccak256(format!("reference {n}"))
}

pub fn role(name: &str) -> B256 {
    if name == "ADMIN" { B256::ZERO } else { keccak256(name) }
}

/// Creation code of a controller with these accounts.
pub fn controller_code(people: [Address; 5]) -> Vec<u8> {
    with_arguments(artifacts::controller(), people)
}

fn with_arguments(code: Vec<u8>, people: [Address; 5]) -> Vec<u8> {
    [code, abi::encode(&people.map(Arg::from))].concat()
}

/// The sandbox's USDC with all roles held by the issuer.
pub fn deploy_usdc(evm: &mut Evm) -> Address {
    evm.deploy(DEPLOYER, [artifacts::usdc(), abi::encode(&[ISSUER; 4].map(Arg::from))].concat())
}

pub fn deploy_usdt(evm: &mut Evm) -> Address {
    let args = abi::encode(&[0.into(), ISSUER.into()]);
    evm.deploy(DEPLOYER, [artifacts::usdt(), args].concat())
}

impl Tenant {
    pub fn new() -> Tenant {
        Tenant::with_usdc(deploy_usdc)
    }

    /// With another contract instead of USDC.
    pub fn with_usdc(deploy: impl FnOnce(&mut Evm) -> Address) -> Tenant {
        Tenant::with(artifacts::controller(), deploy)
    }

    /// With another controller's creation code.
    pub fn with_controller(code: Vec<u8>) -> Tenant {
        Tenant::with(code, deploy_usdc)
    }

    fn with(controller: Vec<u8>, deploy: impl FnOnce(&mut Evm) -> Address) -> Tenant {
        let mut evm = Evm::new();
        let usdc = deploy(&mut evm);
        let usdt = deploy_usdt(&mut evm);
        let people = [ADMIN, OPERATOR, COMPLIANCE, APPROVER, TREASURY];
        let controller = evm.deploy(DEPLOYER, with_arguments(controller, people));
        let mut tenant = Tenant { evm, controller, usdc, usdt };
        tenant.issue();
        tenant
    }

    fn issue(&mut self) {
        let (usdc, usdt) = (self.usdc, self.usdt);
        self.on(
            usdc,
            ISSUER,
            "configureMinter(address,uint256)",
            &[ISSUER.into(), U256::MAX.into()],
        )
        .must();
        self.on(usdc, ISSUER, "mint(address,uint256)", &[PAYER.into(), PAYERS_FUNDS.into()]).must();
        self.on(usdt, ISSUER, "issue(uint256)", &[PAYERS_FUNDS.into()]).must();
        self.on(usdt, ISSUER, "transfer(address,uint256)", &[PAYER.into(), PAYERS_FUNDS.into()])
            .must();
    }

    /// A call of the controller.
    pub fn call(&mut self, from: Address, signature: &str, args: &[Arg]) -> Outcome {
        let to = self.controller;
        self.on(to, from, signature, args)
    }

    /// A call of another contract.
    pub fn on(&mut self, to: Address, from: Address, signature: &str, args: &[Arg]) -> Outcome {
        self.evm.send(from, to, abi::call(signature, args))
    }

    // --- the controller's functions ---

    pub fn release(&mut self, from: Address, items: &[Item]) -> Outcome {
        self.call(from, &format!("releaseBatch({ITEM}[])"), &[array(items)])
    }

    pub fn debit(&mut self, from: Address, items: &[Item]) -> Outcome {
        self.call(from, &format!("debitBatch({ITEM}[])"), &[array(items)])
    }

    pub fn return_debit(&mut self, from: Address, debit: B256, intent: B256) -> Outcome {
        self.call(from, "returnDebit(bytes32,bytes32)", &[debit.into(), intent.into()])
    }

    pub fn sweep(&mut self, from: Address, token: Address, amount: u64) -> Outcome {
        self.call(from, "sweep(address,uint256)", &[token.into(), amount.into()])
    }

    pub fn propose_refund(&mut self, from: Address, item: &Item, to: Address) -> Outcome {
        self.call(
            from,
            &format!("proposeRefund({ITEM},address)"),
            &[Arg::Words(item.words()), to.into()],
        )
    }

    pub fn execute_refund(&mut self, from: Address, intent: B256) -> Outcome {
        self.call(from, "executeRefund(bytes32)", &[intent.into()])
    }

    pub fn cancel_refund(&mut self, from: Address, intent: B256) -> Outcome {
        self.call(from, "cancelRefund(bytes32)", &[intent.into()])
    }

    pub fn set_frozen(&mut self, from: Address, account: Address, frozen: bool) -> Outcome {
        self.call(
            from,
            "setFrozen(address,bool,bytes32)",
            &[account.into(), frozen.into(), reference(99).into()],
        )
    }

    pub fn set_legal_hold(&mut self, from: Address, vault: Address, held: bool) -> Outcome {
        self.call(
            from,
            "setLegalHold(address,bool,bytes32)",
            &[vault.into(), held.into(), reference(99).into()],
        )
    }

    pub fn pause(&mut self, from: Address) -> Outcome {
        self.call(from, "pause()", &[])
    }

    pub fn unpause(&mut self, from: Address) -> Outcome {
        self.call(from, "unpause()", &[])
    }

    pub fn propose_treasury(&mut self, from: Address, next: Address) -> Outcome {
        self.call(from, "proposeTreasury(address)", &[next.into()])
    }

    pub fn apply_treasury(&mut self, from: Address) -> Outcome {
        self.call(from, "applyTreasury()", &[])
    }

    pub fn rescue_eth(
        &mut self,
        from: Address,
        reference: B256,
        recipient: Address,
        to: Address,
    ) -> Outcome {
        let args = [reference.into(), recipient.into(), to.into()];
        self.call(from, "rescueEth(bytes32,address,address)", &args)
    }

    pub fn grant(&mut self, from: Address, name: &str, account: Address) -> Outcome {
        self.call(from, "grantRole(bytes32,address)", &[role(name).into(), account.into()])
    }

    pub fn revoke(&mut self, from: Address, name: &str, account: Address) -> Outcome {
        self.call(from, "revokeRole(bytes32,address)", &[role(name).into(), account.into()])
    }

    pub fn propose_role(&mut self, from: Address, name: &str, account: Address) -> Outcome {
        self.call(from, "proposeRole(bytes32,address)", &[role(name).into(), account.into()])
    }

    pub fn cancel_role(&mut self, from: Address, name: &str, account: Address) -> Outcome {
        self.call(from, "cancelRole(bytes32,address)", &[role(name).into(), account.into()])
    }

    pub fn cancel_treasury(&mut self, from: Address) -> Outcome {
        self.call(from, "cancelTreasury()", &[])
    }

    pub fn begin_transfer(&mut self, from: Address, next: Address) -> Outcome {
        self.call(from, "beginDefaultAdminTransfer(address)", &[next.into()])
    }

    pub fn cancel_transfer(&mut self, from: Address) -> Outcome {
        self.call(from, "cancelDefaultAdminTransfer()", &[])
    }

    pub fn accept_transfer(&mut self, from: Address) -> Outcome {
        self.call(from, "acceptDefaultAdminTransfer()", &[])
    }

    /// Proposes a role, waits, and grants it.
    pub fn assign(&mut self, name: &str, account: Address) {
        self.propose_role(ADMIN, name, account).must();
        self.evm.advance(ADMIN_DELAY_S);
        self.grant(ADMIN, name, account).must();
    }

    // --- queries ---

    pub fn has_role(&mut self, name: &str, account: Address) -> bool {
        let args = [role(name).into(), account.into()];
        let answer = self.evm.look(self.controller, "hasRole(bytes32,address)", &args);
        abi::number(abi::nth(&answer, 0)) == U256::from(1)
    }

    pub fn vault(&mut self, reference: B256, recipient: Address) -> Address {
        let controller = self.controller;
        let answer = self.evm.look(
            controller,
            "vaultOf(bytes32,address)",
            &[reference.into(), recipient.into()],
        );
        abi::address(abi::nth(&answer, 0))
    }

    /// The name of the intent's state.
    pub fn state(&mut self, intent: B256) -> &'static str {
        const NAMES: [&str; 8] = [
            "Unknown",
            "Released",
            "Debited",
            "DebitReturned",
            "Return",
            "RefundProposed",
            "Refunded",
            "RefundCancelled",
        ];
        let answer = self.evm.look(self.controller, "stateOf(bytes32)", &[intent.into()]);
        NAMES[abi::number(abi::nth(&answer, 0)).to::<usize>()]
    }

    pub fn balance(&mut self, token: Address, of: Address) -> u64 {
        abi::number(abi::nth(&self.evm.look(token, "balanceOf(address)", &[of.into()]), 0)).to()
    }

    // --- tokens ---

    pub fn fund(&mut self, token: Address, to: Address, amount: u64) {
        self.on(token, PAYER, "transfer(address,uint256)", &[to.into(), amount.into()]).must();
    }

    pub fn blacklist(&mut self, token: Address, account: Address) {
        let name = if token == self.usdc { "blacklist(address)" } else { "addBlackList(address)" };
        self.on(token, ISSUER, name, &[account.into()]).must();
    }

    pub fn fee(&mut self, basis_points: u64, max_coins: u64) {
        let usdt = self.usdt;
        self.on(
            usdt,
            ISSUER,
            "setParams(uint256,uint256)",
            &[basis_points.into(), max_coins.into()],
        )
        .must();
    }

    // --- movements ---

    /// A movement of USDC out of a wallet: its recipient is the controller.
    pub fn wallet_item(&self, intent: B256, reference: B256, amount: u64) -> Item {
        Item {
            intent,
            reference,
            recipient: self.controller,
            token: self.usdc,
            amount: U256::from(amount),
        }
    }

    /// A movement of USDC out of an escrow.
    pub fn escrow_item(
        &self,
        intent: B256,
        reference: B256,
        recipient: Address,
        amount: u64,
    ) -> Item {
        Item { intent, reference, recipient, token: self.usdc, amount: U256::from(amount) }
    }
}

fn array(items: &[Item]) -> Arg {
    Arg::Array { count: items.len(), words: items.iter().flat_map(Item::words).collect() }
}

/// Contents of `IntentFailed`: the intent and the name of the reason.
pub fn failures(outcome: &Outcome) -> Vec<(B256, String)> {
    let failed =
        outcome.logs.iter().filter(|log| artifacts::event(&log.topics()[0]) == "IntentFailed");
    failed.map(|log| (log.topics()[1], artifacts::refusal(abi::text(&log.data.data, 0)))).collect()
}

/// `Transfer` logs: token, from, to, value.
pub fn transfers(logs: &[Log]) -> Vec<(Address, Address, Address, U256)> {
    let transfers = logs.iter().filter(|log| artifacts::event(&log.topics()[0]) == "Transfer");
    let end = |log: &Log, n: usize| Address::from_word(log.topics()[n]);
    transfers
        .map(|log| {
            (log.address, end(log, 1), end(log, 2), abi::number(abi::nth(&log.data.data, 0)))
        })
        .collect()
}
