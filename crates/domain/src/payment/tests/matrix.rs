//! The matrices of `decisions.md`, "States", written independently as plain pairs.

use std::collections::BTreeSet;

use crate::attempt::{AttemptState, Outcome};
use crate::event::EventKind;
use crate::payment::PaymentState::{
    Canceled, Failed, Pending, Processing, Queued, Rejected, Reversed, Succeeded, Unknown,
};
use crate::payment::{PaymentState, ReviewState, Step, Trigger};
use crate::rail::RailStatus;
use crate::states_doc::rail_statuses;

/// All steps that the decisions' table permits.
pub const DECIDED: [(PaymentState, PaymentState); 14] = [
    (Queued, Processing),
    (Queued, Rejected),
    (Queued, Unknown),
    (Queued, Reversed),
    (Processing, Unknown),
    (Processing, Succeeded),
    (Processing, Failed),
    (Processing, Reversed),
    (Unknown, Processing),
    (Unknown, Succeeded),
    (Unknown, Rejected),
    (Unknown, Failed),
    (Unknown, Reversed),
    (Succeeded, Reversed),
];

fn cells() -> impl Iterator<Item = (PaymentState, Trigger, Step)> {
    PaymentState::ALL.into_iter().flat_map(|state| {
        Trigger::ALL.into_iter().map(move |trigger| (state, trigger, state.on(trigger)))
    })
}

#[test]
fn only_the_decided_steps_exist() {
    let mut taken = BTreeSet::new();
    for (from, trigger, step) in cells() {
        if let Step::Through(path) = step {
            assert!(!path.is_empty(), "{from:?} {trigger:?}");
            let mut at = from;
            for to in path {
                assert!(DECIDED.contains(&(at, *to)), "{from:?} {trigger:?}: {at:?} to {to:?}");
                taken.insert((at, *to));
                at = *to;
            }
        }
    }
    assert_eq!(taken, BTreeSet::from(DECIDED), "a decided step that no trigger takes");
}

#[test]
fn terminal_states_never_change_except_a_returned_success() {
    let left: Vec<_> = cells()
        .filter(|(from, _, step)| from.is_terminal() && matches!(step, Step::Through(_)))
        .collect();
    assert_eq!(left, [(Succeeded, Trigger::Returned, Step::Through(&[Reversed]))]);
}

#[test]
fn the_deprecated_states_are_neither_entered_nor_left() {
    for (from, trigger, step) in cells() {
        if let Step::Through(path) = step {
            assert!(!path.contains(&Pending) && !path.contains(&Canceled), "{from:?} {trigger:?}");
        }
        if [Pending, Canceled].contains(&from) {
            assert_eq!(step, Step::Contradicts, "{from:?} {trigger:?}");
        }
    }
}

#[test]
fn final_triggers_lead_to_the_decided_states() {
    for (trigger, froms, end) in [
        (Trigger::Accepted, &[Queued, Unknown][..], Processing),
        (Trigger::Refused, &[Queued], Rejected),
        (Trigger::Refused, &[Processing, Unknown], Failed),
        (Trigger::FoundRefused, &[Unknown], Rejected),
        (Trigger::NoRoute, &[Queued], Rejected),
        (Trigger::ComplianceRefused, &[Queued], Rejected),
        (Trigger::DeadlinePassed, &[Queued], Rejected),
        (Trigger::Withdrawn, &[Queued], Reversed),
        (Trigger::WindowPassed, &[Queued, Processing], Unknown),
        (Trigger::RailUnknown, &[Queued, Processing], Unknown),
        (Trigger::Settled, &[Queued, Processing, Unknown], Succeeded),
        (Trigger::Failed, &[Queued, Processing, Unknown], Failed),
        (Trigger::Cancelled, &[Queued, Processing, Unknown], Reversed),
        (Trigger::Returned, &[Queued, Processing, Unknown, Succeeded], Reversed),
    ] {
        for from in froms {
            let Step::Through(path) = from.on(trigger) else {
                panic!("{from:?} {trigger:?} has no step")
            };
            assert_eq!(path.last(), Some(&end), "{from:?} {trigger:?}");
        }
    }
    for state in PaymentState::ALL {
        assert_eq!(state.on(Trigger::ReturnedLate), Step::Contradicts, "{state:?}");
    }
}

/// Payment and attempt are two machines that move together: no report that changes an attempt
/// contradicts its payment, in any reachable state.
#[test]
fn the_two_matrices_never_disagree_in_a_state_that_can_be_reached() {
    let start = (Queued, AttemptState::Sending);
    let (mut seen, mut open) = (vec![start], vec![start]);
    while let Some((payment, attempt)) = open.pop() {
        let mut next = Vec::new();
        for status in rail_statuses() {
            if let Outcome::Moves(to, trigger) = attempt.on(&status) {
                let step = payment.on(trigger);
                assert_ne!(step, Step::Contradicts, "{payment:?}/{attempt:?} on {status:?}");
                next.push((arrived(payment, step), to));
            }
            if attempt.on(&status) == Outcome::Known
                && payment == Unknown
                && status == RailStatus::Accepted
            {
                next.push((arrived(payment, payment.on(Trigger::Accepted)), attempt));
            }
        }
        if !payment.is_terminal() {
            next.push((arrived(payment, payment.on(Trigger::WindowPassed)), attempt));
        }
        if attempt == AttemptState::Sending {
            next.push((payment, AttemptState::Indeterminate));
            next.push((arrived(payment, payment.on(Trigger::Refused)), AttemptState::Refused));
        }
        for pair in next.into_iter().filter(|pair| !seen.contains(pair)).collect::<Vec<_>>() {
            seen.push(pair);
            open.push(pair);
        }
    }
    for (payment, attempt) in seen {
        let ends = match attempt {
            AttemptState::Sending | AttemptState::Indeterminate => &[Queued, Unknown][..],
            AttemptState::Accepted => &[Processing, Unknown],
            AttemptState::Refused => &[Rejected, Failed],
            AttemptState::Settled => &[Succeeded],
            AttemptState::Failed => &[Failed],
            AttemptState::Returned | AttemptState::Cancelled => &[Reversed],
        };
        assert!(ends.contains(&payment), "{payment:?} with an attempt that is {attempt:?}");
    }
}

fn arrived(from: PaymentState, step: Step) -> PaymentState {
    match step {
        Step::Through(path) => path.last().copied().unwrap_or(from),
        Step::Stays | Step::Contradicts => from,
    }
}

#[test]
fn only_known_names_parse() {
    for state in PaymentState::ALL {
        assert_eq!(PaymentState::parse(state.name()), Some(state));
        assert!(!EventKind::of(state).is_of_quote());
    }
    for state in ReviewState::ALL {
        assert_eq!(ReviewState::parse(state.name()), Some(state));
    }
    for kind in EventKind::ALL {
        assert_eq!(EventKind::parse(kind.name()), Some(kind));
    }
    for wrong in ["", "Queued", "cancelled", "done"] {
        assert_eq!(PaymentState::parse(wrong), None, "{wrong}");
        assert_eq!(ReviewState::parse(wrong), None, "{wrong}");
        assert_eq!(EventKind::parse(wrong), None, "{wrong}");
    }
}
