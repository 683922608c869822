//! The wallet's state machine: the effect of each trigger in each state (`decisions.md`, "block",
//! "unblock", "blacklist").

use super::WalletState;

names! {
    /// Trigger of a wallet.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum WalletTrigger: "Label in `docs/states.md`." {
        /// The tenant's controller was deployed.
        ChainReady = "controller deployed",
        /// The bank blocks it.
        Block = "block",
        /// The risk system blocks it.
        RiskBlock = "risk system blocks",
        /// A reviewer of a deposit blocks it: replaces an earlier block.
        ReviewBlock = "reviewer blocks",
        /// The bank unblocks it.
        Unblock = "unblock",
        /// The bank unblocks it while a blacklist order awaits its effective date.
        UnblockUnderOrder = "unblock, future blacklist order pending",
        /// The hours of `auto_unblock_hours` have passed since the block.
        BlockRanOut = "auto_unblock_hours elapsed",
        /// A blacklist order effective today.
        BlacklistNow = "blacklist, effective today or before",
        /// A blacklist order with a future effective date.
        BlacklistLater = "blacklist, effective later",
        /// The effective date has come.
        DayCame = "effective date reached",
    }
}

/// Effect of a trigger on a wallet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WalletStep {
    /// The wallet changes to this state, which its orders and deposits follow.
    To(WalletState),
    /// Nothing changes: it already has this state, or the trigger is outdated.
    Stays,
    /// Nothing changes, and the caller gets 409 CONFLICT.
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
            (WalletTrigger::ReviewBlock, Active | Pending | Blocked) => To(Blocked),
            (WalletTrigger::ReviewBlock, Blacklisted) => Stays,

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
