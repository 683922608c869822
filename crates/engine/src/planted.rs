//! Bugs that the simulator plants to prove that it would find them (docs/adr/0008-planted-bugs.md).
//!
//! Compiled only with the feature `planted-bugs`, which only the simulator enables, and inactive
//! until a thread plants one. Otherwise `is` is the constant `false` and its branches are
//! removed.

/// A bug that tests plant on purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Planted {
    /// No bug is planted.
    Nothing,
    /// A payment whose attempt is unclear is sent again without asking the rail first.
    NoInquiry,
    /// Events are written after the commit, in one of their own.
    EventOutsideCommit,
    /// A used quote can be used again (the simulator drops the schema's guard too).
    NoQuoteGuard,
    /// A worker that once held a job may act on it forever.
    StaleLease,
    /// Callers are answered before the commit.
    AnswerBeforeCommit,
    /// A quote never expires.
    NoQuoteExpiry,
    /// A rail that does not know an attempt is taken to have rejected it.
    NotFoundIsRefusal,
    /// A message without an answer is taken as not sent.
    SilenceIsRefusal,
    /// Reports are acknowledged before they are applied.
    CursorBeforeReports,
    /// A commit of unknown outcome is taken as failed.
    DoubtIsFailure,
    /// A commit of unknown outcome is taken as landed.
    DoubtIsSuccess,
    /// No inquiry is scheduled for a payment that was sent.
    ForgottenInquiry,
    /// A rejected payment keeps its reservation.
    KeptReservation,
    /// Sanction lists of any age clear names.
    StaleListsClear,
    /// A transaction's nonce is read from the chain, ignoring those assigned before (the simulator
    /// drops the schema's constraint too).
    NonceOutsideCommit,
    /// A deposit is credited as soon as it is seen.
    CreditBeforeDepth,
    /// A release is signed whatever the wallet's state.
    ReleaseUnchecked,
    /// Coins returned to a wallet are booked twice.
    ReturnedTwice,
    /// A webhook is marked as delivered before the endpoint answers.
    EarlyAcknowledgement,
    /// A deposit that is not worth a release is judged like any other.
    DustIsJudged,
    /// A deposit is attributed to the latest submission of details, at whichever address it arrived.
    LastSubmissionPays,
}

impl Planted {
    /// Every bug of payments.
    pub const ALL: [Planted; 14] = [
        Planted::NoInquiry,
        Planted::EventOutsideCommit,
        Planted::NoQuoteGuard,
        Planted::StaleLease,
        Planted::AnswerBeforeCommit,
        Planted::NoQuoteExpiry,
        Planted::NotFoundIsRefusal,
        Planted::SilenceIsRefusal,
        Planted::CursorBeforeReports,
        Planted::DoubtIsFailure,
        Planted::DoubtIsSuccess,
        Planted::ForgottenInquiry,
        Planted::KeptReservation,
        Planted::StaleListsClear,
    ];

    /// Bugs of the wallet service: found only by schedules that move coins.
    pub const OF_WALLETS: [Planted; 7] = [
        Planted::NonceOutsideCommit,
        Planted::CreditBeforeDepth,
        Planted::ReleaseUnchecked,
        Planted::ReturnedTwice,
        Planted::EarlyAcknowledgement,
        Planted::DustIsJudged,
        Planted::LastSubmissionPays,
    ];

    pub const fn name(self) -> &'static str {
        match self {
            Planted::Nothing => "nothing",
            Planted::NoInquiry => "no_inquiry_before_resubmission",
            Planted::EventOutsideCommit => "event_outside_the_commit",
            Planted::NoQuoteGuard => "no_quote_guard",
            Planted::StaleLease => "stale_lease_accepted",
            Planted::AnswerBeforeCommit => "answer_before_commit",
            Planted::NoQuoteExpiry => "no_quote_expiry",
            Planted::NotFoundIsRefusal => "not_found_is_refusal",
            Planted::SilenceIsRefusal => "silence_is_refusal",
            Planted::CursorBeforeReports => "cursor_before_reports",
            Planted::DoubtIsFailure => "doubt_is_failure",
            Planted::DoubtIsSuccess => "doubt_is_success",
            Planted::ForgottenInquiry => "forgotten_inquiry",
            Planted::KeptReservation => "kept_reservation",
            Planted::StaleListsClear => "stale_lists_clear",
            Planted::NonceOutsideCommit => "nonce_outside_the_commit",
            Planted::CreditBeforeDepth => "credit_before_depth",
            Planted::ReleaseUnchecked => "release_not_rechecked",
            Planted::ReturnedTwice => "returned_twice",
            Planted::EarlyAcknowledgement => "early_acknowledgement",
            Planted::DustIsJudged => "dust_is_judged",
            Planted::LastSubmissionPays => "last_submission_pays",
        }
    }
}

#[cfg(feature = "planted-bugs")]
mod switch {
    use std::cell::Cell;

    use super::Planted;

    thread_local! {
        static PLANTED: Cell<Planted> = const { Cell::new(Planted::Nothing) };
    }

    /// Removes the bug when dropped.
    #[must_use]
    #[derive(Debug)]
    pub struct Roots(());

    impl Drop for Roots {
        fn drop(&mut self) {
            PLANTED.set(Planted::Nothing);
        }
    }

    /// Plants a bug in everything that this thread runs.
    pub fn plant(bug: Planted) -> Roots {
        PLANTED.set(bug);
        Roots(())
    }

    pub(crate) fn is(bug: Planted) -> bool {
        PLANTED.get() == bug
    }
}

#[cfg(feature = "planted-bugs")]
pub(crate) use switch::is;
#[cfg(feature = "planted-bugs")]
pub use switch::{Roots, plant};

/// Whether a bug is planted: never.
#[cfg(not(feature = "planted-bugs"))]
pub(crate) const fn is(_: Planted) -> bool {
    false
}
