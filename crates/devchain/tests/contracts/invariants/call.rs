//! One call of a run, with all that it needs to be repeated.

use revm::primitives::{Address, B256, Bytes};

use super::stage::{EVIL, Role, Stage};
use crate::abi::{self, Arg};
use crate::batch;
use crate::evm::Outcome;
use crate::tenant::{ISSUER, ITEM, Item, PAYER, intent, reference};

#[derive(Clone, Debug)]
pub struct Call {
    pub from: Address,
    pub act: Act,
}

#[derive(Clone, Debug)]
pub enum Act {
    Release(Vec<Item>),
    Debit(Vec<Item>),
    ReleaseItem(Item),
    DebitItem(Item),
    Return {
        debit: u64,
        intent: u64,
    },
    Sweep {
        token: Address,
        amount: u64,
    },
    Propose {
        item: Item,
        to: Address,
    },
    Execute(u64),
    Cancel(u64),
    Freeze {
        account: Address,
        on: bool,
    },
    Hold {
        account: Address,
        on: bool,
    },
    Pause,
    Unpause,
    ProposeTreasury(Address),
    ApplyTreasury,
    CancelTreasury,
    ProposeRole(Role, Address),
    CancelRole(Role, Address),
    Grant(Role, Address),
    Revoke(Role, Address),
    Renounce(Role, Address),
    BeginTransfer(Address),
    CancelTransfer,
    AcceptTransfer,
    RescueEth {
        reference: B256,
        recipient: Address,
        to: Address,
    },
    RescueControllerEth(Address),
    /// Straight to a vault, past the controller.
    VaultPays {
        vault: Address,
        token: Address,
        amount: u64,
    },
    /// From now on the evil contract makes this call whenever it is called.
    Trap(Box<Act>),
    // Not of the controller.
    Fund {
        token: Address,
        to: Address,
        amount: u64,
    },
    Ether {
        to: Address,
        wei: u64,
    },
    Wait {
        hours: u64,
    },
    Blacklist {
        token: Address,
        account: Address,
        on: bool,
    },
    PauseToken {
        token: Address,
        on: bool,
    },
    Fee {
        basis_points: u64,
    },
}

impl Act {
    /// For the counts of a run.
    pub fn name(&self) -> String {
        let text = format!("{self:?}");
        let end = text.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(text.len());
        text[..end].to_owned()
    }

    /// Whether the evil contract may be called in the course of it.
    pub fn may_call_back(&self) -> bool {
        match self {
            Act::Release(items) | Act::Debit(items) => items.iter().any(|it| it.token == EVIL),
            Act::Sweep { token, .. } => *token == EVIL,
            Act::Return { .. } | Act::Execute(_) => true,
            Act::RescueEth { to, .. } | Act::RescueControllerEth(to) | Act::Ether { to, .. } => {
                *to == EVIL
            }
            _ => false,
        }
    }

    /// The call data, where the controller is called.
    fn data(&self) -> Option<Bytes> {
        let plain = |signature: &str, args: &[Arg]| Some(abi::call(signature, args));
        let of_role = |function: &str, role: Role, account: Address| {
            plain(&format!("{function}(bytes32,address)"), &[role.id().into(), account.into()])
        };
        let flagged = |function: &str, account: Address, on: bool| {
            let args = [account.into(), on.into(), reference(99).into()];
            plain(&format!("{function}(address,bool,bytes32)"), &args)
        };
        match self {
            Act::Release(items) => plain(&format!("releaseBatch({ITEM}[])"), &[array(items)]),
            Act::Debit(items) => plain(&format!("debitBatch({ITEM}[])"), &[array(items)]),
            Act::ReleaseItem(item) => {
                plain(&format!("releaseItem({ITEM})"), &[Arg::Words(item.words())])
            }
            Act::DebitItem(item) => {
                plain(&format!("debitItem({ITEM})"), &[Arg::Words(item.words())])
            }
            Act::Return { debit, intent: id } => {
                plain("returnDebit(bytes32,bytes32)", &[intent(*debit).into(), intent(*id).into()])
            }
            Act::Sweep { token, amount } => {
                plain("sweep(address,uint256)", &[(*token).into(), (*amount).into()])
            }
            Act::Propose { item, to } => {
                let args = [Arg::Words(item.words()), (*to).into()];
                plain(&format!("proposeRefund({ITEM},address)"), &args)
            }
            Act::Execute(id) => plain("executeRefund(bytes32)", &[intent(*id).into()]),
            Act::Cancel(id) => plain("cancelRefund(bytes32)", &[intent(*id).into()]),
            Act::Freeze { account, on } => flagged("setFrozen", *account, *on),
            Act::Hold { account, on } => flagged("setLegalHold", *account, *on),
            Act::Pause => plain("pause()", &[]),
            Act::Unpause => plain("unpause()", &[]),
            Act::ProposeTreasury(next) => plain("proposeTreasury(address)", &[(*next).into()]),
            Act::ApplyTreasury => plain("applyTreasury()", &[]),
            Act::CancelTreasury => plain("cancelTreasury()", &[]),
            Act::ProposeRole(role, account) => of_role("proposeRole", *role, *account),
            Act::CancelRole(role, account) => of_role("cancelRole", *role, *account),
            Act::Grant(role, account) => of_role("grantRole", *role, *account),
            Act::Revoke(role, account) => of_role("revokeRole", *role, *account),
            Act::Renounce(role, account) => of_role("renounceRole", *role, *account),
            Act::BeginTransfer(next) => {
                plain("beginDefaultAdminTransfer(address)", &[(*next).into()])
            }
            Act::CancelTransfer => plain("cancelDefaultAdminTransfer()", &[]),
            Act::AcceptTransfer => plain("acceptDefaultAdminTransfer()", &[]),
            Act::RescueEth { reference, recipient, to } => {
                let args = [(*reference).into(), (*recipient).into(), (*to).into()];
                plain("rescueEth(bytes32,address,address)", &args)
            }
            Act::RescueControllerEth(to) => plain("rescueControllerEth(address)", &[(*to).into()]),
            _ => None,
        }
    }
}

impl Call {
    pub fn execute(&self, stage: &mut Stage) -> Outcome {
        if let Some(data) = self.act.data() {
            let controller = stage.tenant.controller;
            return stage.tenant.evm.send(self.from, controller, data);
        }
        let tenant = &mut stage.tenant;
        let usdc = tenant.usdc;
        match &self.act {
            Act::VaultPays { vault, token, amount } => {
                let args = [(*token).into(), self.from.into(), (*amount).into()];
                tenant.on(*vault, self.from, "pay(address,address,uint256)", &args)
            }
            Act::Trap(act) => {
                let data = act.data().unwrap_or_default();
                stage.is_trapped = true;
                tenant.evm.put_code(EVIL, &batch::calling_back(tenant.controller, &data));
                tenant.evm.pay(PAYER, PAYER, 0)
            }
            Act::Fund { token, to, amount } => {
                let args = [(*to).into(), (*amount).into()];
                tenant.on(*token, PAYER, "transfer(address,uint256)", &args)
            }
            Act::Ether { to, wei } => tenant.evm.pay(PAYER, *to, *wei),
            Act::Wait { hours } => {
                tenant.evm.advance(hours * 3600);
                tenant.evm.pay(PAYER, PAYER, 0)
            }
            Act::Blacklist { token, account, on } => {
                let name = match (*token == usdc, on) {
                    (true, true) => "blacklist(address)",
                    (true, false) => "unBlacklist(address)",
                    (false, true) => "addBlackList(address)",
                    (false, false) => "removeBlackList(address)",
                };
                tenant.on(*token, ISSUER, name, &[(*account).into()])
            }
            Act::PauseToken { token, on } => {
                tenant.on(*token, ISSUER, if *on { "pause()" } else { "unpause()" }, &[])
            }
            Act::Fee { basis_points } => {
                let (usdt, args) = (tenant.usdt, [(*basis_points).into(), 49.into()]);
                tenant.on(usdt, ISSUER, "setParams(uint256,uint256)", &args)
            }
            other => unreachable!("{other:?} calls the controller"),
        }
    }
}

fn array(items: &[Item]) -> Arg {
    Arg::Array { count: items.len(), words: items.iter().flat_map(Item::words).collect() }
}
