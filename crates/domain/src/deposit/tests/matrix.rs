//! The matrix of `decisions.md`, "Incoming transaction", written independently.

use std::collections::BTreeSet;

use crate::deposit::DepositState::{
    self, Approved, Completed, Dust, Failed, Held, InReview, LegalHold, Orphaned, Refunded,
    Refunding, Rejected, Screening, Seen, Suspended,
};
use crate::deposit::states::{Step, Trigger};

/// All permitted steps, except *back*.
const DECIDED: [(DepositState, DepositState); 44] = [
    (Seen, Orphaned),
    (Seen, Screening),
    (Seen, Held),
    (Seen, Rejected),
    // Not worth a release until it accumulates or another deposit's release includes it.
    (Seen, Dust),
    (Dust, Approved),
    (Dust, InReview),
    (Dust, Suspended),
    // The release of another deposit that includes it does not happen.
    (Approved, Dust),
    (Orphaned, Seen),
    (Held, Screening),
    (Held, Rejected),
    (Held, Suspended),
    (Screening, Held),
    (Screening, InReview),
    (Screening, Approved),
    (Screening, Rejected),
    (Screening, LegalHold),
    (Screening, Suspended),
    (InReview, Approved),
    (InReview, Rejected),
    (InReview, LegalHold),
    // The other holds in its escrow are lifted.
    (InReview, Screening),
    (InReview, Suspended),
    (Approved, Completed),
    (Approved, Failed),
    (Approved, Held),
    // Another deposit put its escrow on legal hold.
    (Approved, InReview),
    (Approved, Rejected),
    (Approved, Suspended),
    (Completed, Suspended),
    (Rejected, LegalHold),
    (Rejected, Refunding),
    (Rejected, Suspended),
    (LegalHold, Suspended),
    (LegalHold, Rejected),
    (Refunding, Refunded),
    (Failed, Refunding),
    // A reorganisation restored a refund that had been given up.
    (Rejected, Refunded),
    (Failed, Refunded),
    (Failed, Suspended),
    (Suspended, Completed),
    (Suspended, Failed),
    // Never a step of its own: the target of returning from a refund or a suspension.
    (Refunding, Rejected),
];

fn cells() -> impl Iterator<Item = (DepositState, Trigger, Step)> {
    DepositState::ALL.into_iter().flat_map(|state| {
        Trigger::ALL.into_iter().map(move |trigger| (state, trigger, state.on(trigger)))
    })
}

#[test]
fn only_the_decided_steps_exist() {
    let taken: BTreeSet<_> = cells()
        .filter_map(|(from, _, step)| match step {
            Step::To(to) => Some((from, to)),
            _ => None,
        })
        .collect();
    let mut decided = BTreeSet::from(DECIDED);
    decided.remove(&(Refunding, Rejected));
    assert_eq!(taken, decided);
}

#[test]
fn only_suspended_or_refunding_deposits_go_back() {
    let back: BTreeSet<_> =
        cells().filter(|(_, _, step)| *step == Step::Back).map(|(from, ..)| from).collect();
    assert_eq!(back, BTreeSet::from([Suspended, Refunding]));
}

#[test]
fn a_legal_hold_prevents_refund_and_release_until_it_is_lifted() {
    for trigger in Trigger::ALL {
        let step = LegalHold.on(trigger);
        let is_lifted = trigger == Trigger::HoldLifted && step == Step::To(Rejected);
        let allowed = is_lifted
            || matches!(step, Step::Stays | Step::Refused | Step::Person | Step::To(Suspended));
        assert!(allowed, "{trigger:?}: {step:?}");
    }
}

#[test]
fn only_approved_deposits_are_released() {
    for (from, trigger, step) in cells() {
        if step == Step::To(Completed) {
            assert!(
                matches!(from, Approved | Suspended) && trigger == Trigger::ReleaseDone,
                "{from:?} {trigger:?}"
            );
        }
        if step == Step::To(Approved) {
            let decided = matches!(trigger, Trigger::RiskApproved | Trigger::ReviewApproved);
            // Only assessed and clean dust is gathered: see `tests/dust.rs`.
            assert!(
                decided || (from, trigger) == (Dust, Trigger::Gathered),
                "{from:?} {trigger:?}"
            );
        }
    }
}

#[test]
fn only_commands_of_screening_and_users_are_refused() {
    for (from, trigger, step) in cells() {
        let of_people = matches!(
            trigger,
            Trigger::RiskApproved
                | Trigger::RiskReview
                | Trigger::RiskRejected
                | Trigger::RiskLegal
                | Trigger::RiskHeld
                | Trigger::ReviewApproved
                | Trigger::ReviewRejected
                | Trigger::ReviewLegal
                | Trigger::HoldLifted
                | Trigger::RefundWithdrawn
                | Trigger::RefundAsked
        );
        assert!(
            step != Step::Refused || of_people,
            "{from:?} {trigger:?}: facts are never refused"
        );
        assert!(
            step != Step::Stays || !of_people,
            "{from:?} {trigger:?}: a decision gets an answer"
        );
    }
}
