//! The matrix of attempts against `corridors.md` ("ISO 20022 status → payment") and `decisions.md` ("Attempts").

use super::AttemptState::{Accepted, Cancelled, Failed, Indeterminate, Refused, Returned, Sending, Settled};
use super::*;
use crate::states_doc::rail_statuses;

/// Every move that the decisions allow.
const DECIDED: [(AttemptState, AttemptState); 16] = [
    (Sending, Accepted),
    (Sending, Refused),
    (Sending, Indeterminate),
    (Sending, Settled),
    (Sending, Cancelled),
    (Sending, Returned),
    (Indeterminate, Accepted),
    (Indeterminate, Refused),
    (Indeterminate, Settled),
    (Indeterminate, Cancelled),
    (Indeterminate, Returned),
    (Accepted, Settled),
    (Accepted, Failed),
    (Accepted, Cancelled),
    (Accepted, Returned),
    (Settled, Returned),
];

fn cells() -> impl Iterator<Item = (AttemptState, RailStatus, Outcome)> {
    AttemptState::ALL.into_iter().flat_map(|state| {
        rail_statuses().into_iter().map(move |status| {
            let outcome = state.on(&status);
            (state, status, outcome)
        })
    })
}

#[test]
fn attempts_move_as_decided_and_not_otherwise() {
    let mut taken = Vec::new();
    for (from, status, outcome) in cells() {
        // Only the rail's own "I do not know" takes an acceptance back into doubt, and repeats itself.
        if let Outcome::Moves(to, _) = outcome
            && status != RailStatus::Unknown
        {
            assert!(DECIDED.contains(&(from, to)), "{from:?} on {status:?}: {to:?}");
            taken.push((from, to));
        }
    }
    let missing: Vec<_> =
        DECIDED.iter().filter(|(_, to)| *to != Indeterminate).filter(|it| !taken.contains(it)).collect();
    assert_eq!(missing, [] as [&(AttemptState, AttemptState); 0]);
}

#[test]
fn a_rail_that_does_not_know_puts_only_open_attempts_in_doubt() {
    for state in AttemptState::ALL {
        let expected = match state {
            Sending | Indeterminate | Accepted => Outcome::Moves(Indeterminate, Trigger::RailUnknown),
            Refused | Settled | Failed | Returned | Cancelled => Outcome::Contradicts,
        };
        assert_eq!(state.on(&RailStatus::Unknown), expected, "{state:?}");
    }
}

#[test]
fn an_ended_attempt_moves_only_from_settled_to_returned() {
    let ended = [Refused, Settled, Failed, Returned, Cancelled];
    let moves: Vec<_> = cells()
        .filter(|(from, _, outcome)| ended.contains(from) && matches!(outcome, Outcome::Moves(..)))
        .map(|(from, status, _)| (from, status))
        .collect();
    assert_eq!(moves, [(Settled, RailStatus::Returned)]);
}

/// A payment is paid at most once: what makes way for another attempt is never a state in which money may move.
#[test]
fn a_refusal_only_comes_before_acceptance_and_is_final() {
    for (from, status, outcome) in cells() {
        if let Outcome::Moves(Refused, trigger) = outcome {
            assert!([Sending, Indeterminate].contains(&from));
            assert_eq!((status, trigger), (RailStatus::Rejected, Trigger::Refused));
        }
    }
    assert_eq!(AttemptState::ALL.into_iter().filter(|state| state.is_refused()).collect::<Vec<_>>(), [Refused]);
}

#[test]
fn a_receipt_promises_nothing_and_an_unknown_code_is_for_a_person() {
    for state in AttemptState::ALL {
        assert_eq!(state.on(&RailStatus::Received), Outcome::Known, "{state:?}");
        assert_eq!(state.on(&RailStatus::Unrecognised("ZZZZ".to_owned())), Outcome::Contradicts, "{state:?}");
    }
}

#[test]
fn repeating_what_brought_an_attempt_where_it_is_is_no_news() {
    for (from, status, outcome) in cells() {
        if let Outcome::Moves(to, _) = outcome
            && status != RailStatus::Unknown
        {
            assert_eq!(to.on(&status), Outcome::Known, "{from:?}, then {status:?} twice");
        }
    }
}

#[test]
fn names_read_back_and_nothing_else_does() {
    for state in AttemptState::ALL {
        assert_eq!(AttemptState::parse(state.name()), Some(state));
    }
    for wrong in ["", "Sending", "canceled", "unknown"] {
        assert_eq!(AttemptState::parse(wrong), None, "{wrong}");
    }
}
