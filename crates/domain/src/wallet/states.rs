//! The wallet's state machine: what each trigger does in each state (`decisions.md`, "block", "unblock", "blacklist").

use super::WalletState;

/// What can happen to a wallet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WalletTrigger {
    /// The tenant's controller is on the chain.
    ChainReady,
    /// The bank blocks it.
    Block,
    /// The risk system blocks it.
    RiskBlock,
    /// The bank unblocks it.
    Unblock,
    /// The bank unblocks it while an order to blacklist it waits for its day.
    UnblockUnderOrder,
    /// `auto_unblock_hours` have passed.
    BlockRanOut,
    /// An order to blacklist it that is in force today.
    BlacklistNow,
    /// An order to blacklist it on a later day.
    BlacklistLater,
    /// The day of such an order has come.
    DayCame,
}

impl WalletTrigger {
    /// Every trigger.
    pub const ALL: [WalletTrigger; 9] = [
        WalletTrigger::ChainReady,
        WalletTrigger::Block,
        WalletTrigger::RiskBlock,
        WalletTrigger::Unblock,
        WalletTrigger::UnblockUnderOrder,
        WalletTrigger::BlockRanOut,
        WalletTrigger::BlacklistNow,
        WalletTrigger::BlacklistLater,
        WalletTrigger::DayCame,
    ];

    /// The words in `docs/states.md`.
    pub const fn name(self) -> &'static str {
        match self {
            WalletTrigger::ChainReady => "controller is on the chain",
            WalletTrigger::Block => "block",
            WalletTrigger::RiskBlock => "risk system blocks",
            WalletTrigger::Unblock => "unblock",
            WalletTrigger::UnblockUnderOrder => "unblock, blacklist ordered for later",
            WalletTrigger::BlockRanOut => "auto_unblock_hours passed",
            WalletTrigger::BlacklistNow => "blacklist, effective today or before",
            WalletTrigger::BlacklistLater => "blacklist, effective later",
            WalletTrigger::DayCame => "effective date came",
        }
    }
}

/// What a trigger does to a wallet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WalletStep {
    /// It is in this state now.
    To(WalletState),
    /// Nothing: it is so already, or was overtaken.
    Stays,
    /// Nothing, and the caller is told 409 CONFLICT.
    Conflict,
}

impl WalletState {
    /// The matrix state × trigger.
    pub const fn on(self, trigger: WalletTrigger) -> WalletStep {
        use WalletState::{Active, Blacklisted, Blocked, Pending};
        use WalletStep::{Conflict, Stays, To};
        match (trigger, self) {
            (WalletTrigger::ChainReady, Pending) => To(Active),
            (WalletTrigger::ChainReady, _) => Stays,

            (WalletTrigger::Block | WalletTrigger::RiskBlock, Active | Pending) => To(Blocked),
            (WalletTrigger::Block, Blocked | Blacklisted) => Conflict,
            (WalletTrigger::RiskBlock, Blocked | Blacklisted) => Stays,

            (WalletTrigger::Unblock | WalletTrigger::BlockRanOut, Blocked) => To(Active),
            (WalletTrigger::Unblock, _) | (WalletTrigger::UnblockUnderOrder, _) => Conflict,
            (WalletTrigger::BlockRanOut, _) => Stays,

            (WalletTrigger::BlacklistNow, Active | Blocked | Pending) => To(Blacklisted),
            (WalletTrigger::BlacklistLater, Active | Pending) => To(Blocked),
            (WalletTrigger::BlacklistLater, Blocked) => Stays,
            (WalletTrigger::BlacklistNow | WalletTrigger::BlacklistLater, Blacklisted) => Conflict,

            (WalletTrigger::DayCame, Blocked) => To(Blacklisted),
            (WalletTrigger::DayCame, _) => Stays,
        }
    }
}
