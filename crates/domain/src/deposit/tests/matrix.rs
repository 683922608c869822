//! The matrix against `decisions.md`, "Incoming transaction", written down a second time.

use std::collections::BTreeSet;

use crate::deposit::DepositState::{
    self, Approved, Completed, Dust, Failed, Held, InReview, LegalHold, Orphaned, Refunded, Refunding, Rejected,
    Screening, Seen, Suspended,
};
use crate::deposit::states::{Step, Trigger};

/// Every step that is allowed; *back* apart.
const DECIDED: [(DepositState, DepositState); 42] = [
    (Seen, Orphaned),
    (Seen, Screening),
    (Seen, Held),
    (Seen, Rejected),
    // Not worth a release: until it is, or goes along with another deposit's.
    (Seen, Dust),
    (Dust, Approved),
    (Dust, InReview),
    (Dust, Suspended),
    // Its release, that of another deposit, does not happen.
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
    // What else was on hold in its escrow is on hold no more.
    (InReview, Screening),
    (InReview, Suspended),
    (Approved, Completed),
    (Approved, Failed),
    (Approved, Held),
    // Its escrow came on legal hold for something else in it.
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
    (Failed, Suspended),
    (Suspended, Completed),
    (Suspended, Failed),
    // Never taken by a step of its own: where a refund or a suspension goes back to.
    (Refunding, Rejected),
];

fn cells() -> impl Iterator<Item = (DepositState, Trigger, Step)> {
    DepositState::ALL
        .into_iter()
        .flat_map(|state| Trigger::ALL.into_iter().map(move |trigger| (state, trigger, state.on(trigger))))
}

#[test]
fn the_steps_are_those_of_the_decisions_and_no_others() {
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
fn only_what_is_suspended_or_refunded_goes_back() {
    let back: BTreeSet<_> = cells().filter(|(_, _, step)| *step == Step::Back).map(|(from, ..)| from).collect();
    assert_eq!(back, BTreeSet::from([Suspended, Refunding]));
}

#[test]
fn what_is_on_legal_hold_is_never_given_back_or_released_before_that_is_lifted() {
    for trigger in Trigger::ALL {
        let step = LegalHold.on(trigger);
        let is_lifted = trigger == Trigger::HoldLifted && step == Step::To(Rejected);
        let allowed = is_lifted || matches!(step, Step::Stays | Step::Refused | Step::Person | Step::To(Suspended));
        assert!(allowed, "{trigger:?}: {step:?}");
    }
}

#[test]
fn nothing_is_released_that_was_not_approved() {
    for (from, trigger, step) in cells() {
        if step == Step::To(Completed) {
            assert!(matches!(from, Approved | Suspended) && trigger == Trigger::ReleaseDone, "{from:?} {trigger:?}");
        }
        if step == Step::To(Approved) {
            let decided = matches!(trigger, Trigger::RiskApproved | Trigger::ReviewApproved);
            // Only what was assessed, and found good, is gathered: see `tests/dust.rs`.
            assert!(decided || (from, trigger) == (Dust, Trigger::Gathered), "{from:?} {trigger:?}");
        }
    }
}

#[test]
fn refused_commands_are_those_of_screening_and_of_people() {
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
        assert!(step != Step::Refused || of_people, "{from:?} {trigger:?}: facts are never refused");
        assert!(step != Step::Stays || !of_people, "{from:?} {trigger:?}: who decides is told");
    }
}
