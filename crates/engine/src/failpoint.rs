//! Named points at which a test ends the process at once, as `kill -9` would, to see how the next
//! process recovers.
//!
//! Compiled only with debug assertions, and inactive unless armed at startup; otherwise `reach`
//! does nothing.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

/// A point of failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failpoint {
    /// A batch is complete and not yet handed to the store.
    BeforeCommit,
    /// A batch is committed, no caller has been answered.
    AfterCommit,
    /// Attempts are saved, the rail has not been called.
    BeforeCall,
    /// The rail answered, its answer is not saved.
    AfterCall,
    /// The rail's answers are saved.
    AfterAnswers,
    /// Attempts of an earlier process are about to be inquired about.
    BeforeInquiry,
    /// The rail reported their outcomes, its answer is not saved.
    AfterInquiry,
    /// Its answer is saved; a message that it never received is about to be sent again.
    BeforeSendingAgain,
    /// Reports are fetched and not applied.
    BeforeReports,
    /// Reports are applied, the rail's cursor is not advanced.
    BeforeCursor,
    /// The cursor after the reports is saved.
    AfterCursor,
    /// A transaction has its nonce and is signed; the signature is neither saved nor sent.
    BeforeSigned,
    /// The signed transaction is saved, no node has it.
    BeforeBroadcast,
    /// Nodes have the transaction.
    AfterBroadcast,
    /// The deposits of a block are saved, the block itself is not.
    BeforeBlock,
    /// The block is saved too.
    AfterBlock,
    /// A webhook is about to be sent.
    BeforeDelivery,
    /// The endpoint answered, the answer is not saved.
    AfterDelivery,
    /// A broker acknowledged events, the relay's cursor is not advanced.
    BeforeRelayCursor,
}

impl Failpoint {
    /// Points that payments alone never reach.
    pub const OF_WALLETS: [Failpoint; 7] = [
        Failpoint::BeforeSigned,
        Failpoint::BeforeBroadcast,
        Failpoint::AfterBroadcast,
        Failpoint::BeforeBlock,
        Failpoint::AfterBlock,
        Failpoint::BeforeDelivery,
        Failpoint::AfterDelivery,
    ];
}

impl Failpoint {
    /// Every point that payments reach.
    pub const ALL: [Failpoint; 11] = [
        Failpoint::BeforeCommit,
        Failpoint::AfterCommit,
        Failpoint::BeforeCall,
        Failpoint::AfterCall,
        Failpoint::AfterAnswers,
        Failpoint::BeforeInquiry,
        Failpoint::AfterInquiry,
        Failpoint::BeforeSendingAgain,
        Failpoint::BeforeReports,
        Failpoint::BeforeCursor,
        Failpoint::AfterCursor,
    ];

    fn every() -> impl Iterator<Item = Failpoint> {
        let of_wallets = Failpoint::ALL.into_iter().chain(Failpoint::OF_WALLETS);
        of_wallets.chain([Failpoint::BeforeRelayCursor])
    }

    pub const fn name(self) -> &'static str {
        match self {
            Failpoint::BeforeCommit => "before_commit",
            Failpoint::AfterCommit => "after_commit",
            Failpoint::BeforeCall => "before_call",
            Failpoint::AfterCall => "after_call",
            Failpoint::AfterAnswers => "after_answers",
            Failpoint::BeforeInquiry => "before_inquiry",
            Failpoint::AfterInquiry => "after_inquiry",
            Failpoint::BeforeSendingAgain => "before_sending_again",
            Failpoint::BeforeReports => "before_reports",
            Failpoint::BeforeCursor => "before_cursor",
            Failpoint::AfterCursor => "after_cursor",
            Failpoint::BeforeSigned => "before_signed",
            Failpoint::BeforeBroadcast => "before_broadcast",
            Failpoint::AfterBroadcast => "after_broadcast",
            Failpoint::BeforeBlock => "before_block",
            Failpoint::AfterBlock => "after_block",
            Failpoint::BeforeDelivery => "before_delivery",
            Failpoint::AfterDelivery => "after_delivery",
            Failpoint::BeforeRelayCursor => "before_relay_cursor",
        }
    }
}

struct Armed {
    at: Failpoint,
    /// Passes left before the process ends.
    passes: AtomicU32,
}

static ARMED: OnceLock<Armed> = OnceLock::new();

/// Arms a point: `name`, or `name:3` for its third pass. Returns `false` if the name is unknown or
/// a point is armed already.
pub fn arm(text: &str) -> bool {
    let (name, count) = text.split_once(':').unwrap_or((text, "1"));
    let at = Failpoint::every().find(|point| point.name() == name);
    let (Some(at), Ok(count @ 1..)) = (at, count.parse::<u32>()) else { return false };
    ARMED.set(Armed { at, passes: AtomicU32::new(count - 1) }).is_ok()
}

/// Ends the process if this point is armed.
pub(crate) fn reach(point: Failpoint) {
    if !cfg!(debug_assertions) {
        return;
    }
    let Some(armed) = ARMED.get().filter(|armed| armed.at == point) else { return };
    let passed =
        armed.passes.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
    if passed.is_err() {
        std::process::abort();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_different_and_others_are_refused() {
        for point in Failpoint::every() {
            assert_eq!(Failpoint::every().filter(|other| other.name() == point.name()).count(), 1);
        }
        for text in ["", "before", "before_commit:0", "before_commit:x", "before_commit:1:2"] {
            assert!(!arm(text), "{text}");
        }
    }
}
