//! The attempt matrix, checked against `corridors.md` ("ISO 20022 status → payment") and
//! `decisions.md` ("Attempts").

use super::AttemptState::{
    Accepted, Cancelled, Failed, Indeterminate, Refused, Returned, Sending, Settled,
};
use super::*;
use crate::states_doc::rail_statuses;

/// All transitions that the decisions allow.
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
fn attempts_make_only_the_decided_transitions() {
    let mut taken = Vec::new();
    for (from, status, outcome) in cells() {
        // Only the rail's own unknown status makes an accepted attempt unresolved, and it may
        // repeat.
        if let Outcome::Moves(to, _) = outcome
            && status != RailStatus::Unknown
        {
            assert!(DECIDED.contains(&(from, to)), "{from:?} on {status:?}: {to:?}");
            taken.push((from, to));
        }
    }
    let missing: Vec<_> = DECIDED
        .iter()
        .filter(|(_, to)| *to != Indeterminate)
        .filter(|it| !taken.contains(it))
        .collect();
    assert_eq!(missing, [] as [&(AttemptState, AttemptState); 0]);
}

#[test]
fn an_unknown_rail_status_makes_only_open_attempts_unresolved() {
    for state in AttemptState::ALL {
        let expected = match state {
            Sending | Indeterminate | Accepted => {
                Outcome::Moves(Indeterminate, Trigger::RailUnknown)
            }
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

/// A payment is paid at most once: no state that permits another attempt allows money to move.
#[test]
fn a_refusal_only_comes_before_acceptance_and_is_final() {
    for (from, status, outcome) in cells() {
        if let Outcome::Moves(Refused, trigger) = outcome {
            assert!([Sending, Indeterminate].contains(&from));
            assert_eq!((status, trigger), (RailStatus::Rejected, Trigger::Refused));
        }
    }
    assert_eq!(
        AttemptState::ALL.into_iter().filter(|state| state.is_refused()).collect::<Vec<_>>(),
        [Refused]
    );
}

#[test]
fn a_receipt_changes_nothing_and_an_unknown_code_needs_review() {
    for state in AttemptState::ALL {
        assert_eq!(state.on(&RailStatus::Received), Outcome::Known, "{state:?}");
        assert_eq!(
            state.on(&RailStatus::Unrecognised("ZZZZ".to_owned())),
            Outcome::Contradicts,
            "{state:?}"
        );
    }
}

#[test]
fn a_repeated_status_changes_nothing() {
    for (from, status, outcome) in cells() {
        if let Outcome::Moves(to, _) = outcome
            && status != RailStatus::Unknown
        {
            assert_eq!(to.on(&status), Outcome::Known, "{from:?}, then {status:?} twice");
        }
    }
}

#[test]
fn only_known_names_parse() {
    for state in AttemptState::ALL {
        assert_eq!(AttemptState::parse(state.name()), Some(state));
    }
    for wrong in ["", "Sending", "canceled", "unknown"] {
        assert_eq!(AttemptState::parse(wrong), None, "{wrong}");
    }
}

/// decisions: "A reason that says 'duplicate' … proves that the bank has the instruction: … never `refused`."
#[test]
fn a_duplicate_is_never_a_refusal() {
    use crate::rail::DUPLICATE_REASONS;
    use crate::test_values::{Case, say};
    let own = ["B017", "b017 ", "am05"];
    for code in DUPLICATE_REASONS.into_iter().chain(own) {
        let rejected = |reason: &str| RailReport {
            reason: Some(reason.to_owned()),
            ..say(RailStatus::Rejected)
        };
        let further = || RailReport { further_reasons: vec![code.to_owned()], ..rejected("NARR") };
        for report in [rejected(code), further()] {
            for state in AttemptState::ALL {
                let case = Case::sending();
                let attempt = Attempt { state, ..case.attempt.clone() };
                let heard = attempt.hear(&report, Some(&case.rail));
                match state {
                    Sending | Indeterminate | Accepted => {
                        assert_eq!(
                            heard,
                            Heard::Moves(Indeterminate, Trigger::RailUnknown, None),
                            "{code} {state:?}"
                        );
                    }
                    Settled | Returned | Cancelled => {
                        assert_eq!(heard, Heard::Known(None), "{code} {state:?}")
                    }
                    Refused | Failed => {
                        assert!(matches!(heard, Heard::Contradicts(_)), "{code} {state:?}")
                    }
                }
            }
        }
    }
    let case = Case::sending();
    let other = RailReport { reason: Some("B017".to_owned()), ..say(RailStatus::Rejected) };
    let heard = case.attempt.hear(&other, None);
    assert_eq!(
        heard,
        Heard::Moves(Refused, Trigger::Refused, None),
        "a code that no profile lists is a refusal"
    );
}

#[test]
fn an_attempt_reported_as_duplicate_is_at_the_bank() {
    use crate::test_values::{Case, say};
    let mut case = Case::sending();
    let rail = case.rail.clone();
    assert!(!case.attempt.is_at_the_bank(Some(&rail)));
    case.hear(&RailReport {
        reason: Some("NARR".to_owned()),
        further_reasons: vec!["DU03".to_owned()],
        ..say(RailStatus::Rejected)
    });
    assert_eq!((case.attempt.state, case.attempt.reason.as_deref()), (Indeterminate, Some("DU03")));
    assert!(case.attempt.is_at_the_bank(Some(&rail)));
    case.hear(&say(RailStatus::Accepted));
    assert!(!case.attempt.is_at_the_bank(Some(&rail)));
}

#[test]
fn a_second_booking_of_a_payout_is_seen() {
    use crate::test_values::{Case, say};
    let booked = |status: RailStatus, source: &str, reference: Option<&str>| RailReport {
        source: source.to_owned(),
        bank_reference: reference.map(str::to_owned),
        ..say(status)
    };
    let mut case = Case::sending();
    // A status report's reference is another one than that of the booking.
    case.hear(&booked(RailStatus::Settled, "pain.002 P-1", Some("PX-1")));
    case.hear(&booked(RailStatus::Settled, "camt.054 N-1", Some("FT-1")));
    for (source, reference) in [
        ("camt.054 N-1", Some("FT-1")),
        ("camt.054 N-2", Some("FT-1")),
        ("camt.054 N-2", Some("  FT-1\n")),
        ("camt.054 N-3", None),
        ("pain.002 P-2", Some("PX-2")),
    ] {
        let again = booked(RailStatus::Settled, source, reference);
        assert_eq!(case.attempt.hear(&again, None), Heard::Known(None), "{source}");
    }
    case.hear(&booked(RailStatus::Settled, "camt.052 R-1", Some("R1 FT-1")));
    let in_report = booked(RailStatus::Settled, "camt.052 R-2", Some("R1 FT-2"));
    let said =
        "camt.052 R-2 books the payout as R1 FT-2, and it was booked before: camt.052 R1 FT-1";
    assert_eq!(case.attempt.hear(&in_report, None), Heard::Contradicts(said.to_owned()));
    let second = booked(RailStatus::Settled, "camt.054 N-1", Some("FT-2"));
    let said = "camt.054 N-1 books the payout as FT-2, and it was booked before: camt.054 FT-1";
    assert_eq!(case.attempt.hear(&second, None), Heard::Contradicts(said.to_owned()));
    case.hear(&booked(RailStatus::Returned, "camt.054 N-4", Some("FT-3")));
    assert_eq!(case.attempt.state, Returned);
    let again = booked(RailStatus::Returned, "camt.054 N-5", Some("FT-4"));
    let twice =
        "camt.054 N-5 returns the payout as FT-4, and it was returned before: camt.054-return FT-3";
    assert_eq!(case.attempt.hear(&again, None), Heard::Contradicts(twice.to_owned()));
    // A pacs.004 is the same return as that booking, and its own id tells it from another one.
    let returned = |message: &str, id: &str| RailReport {
        return_id: Some(id.to_owned()),
        ..booked(RailStatus::Returned, message, None)
    };
    case.hear(&returned("pacs.004 R-1", "RTR-1"));
    let repeated = case.attempt.hear(&returned("pacs.004 R-2", "RTR-1"), None);
    assert_eq!(repeated, Heard::Known(None));
    let other = case.attempt.hear(&returned("pacs.004 R-3", "RTR-2"), None);
    let twice = "pacs.004 R-3 returns the payout as RTR-2, and it was returned before: pacs.004-return RTR-1";
    assert_eq!(other, Heard::Contradicts(twice.to_owned()));
    let first = booked(RailStatus::Settled, "camt.054 N-1", Some("FT-1"));
    assert_eq!(case.attempt.hear(&first, None), Heard::Known(None), "read once more");
    assert_eq!(case.attempt.hear(&second, None), Heard::Contradicts(said.to_owned()));
}

/// The payout's reference stays, and the return is found by its own.
#[test]
fn a_return_has_references_of_its_own() {
    use crate::test_values::{Case, say};
    let booked = |status: RailStatus, source: &str, reference: &str| RailReport {
        source: source.to_owned(),
        bank_reference: Some(reference.to_owned()),
        ..say(status)
    };
    let mut case = Case::sending();
    assert!(case.attempt.return_references().is_empty());
    case.hear(&booked(RailStatus::Settled, "camt.054 N-1", "FT-1"));
    assert!(case.attempt.return_references().is_empty(), "that is the payout's");
    case.hear(&booked(RailStatus::Returned, "camt.054 N-2", "RET1"));
    case.attempt.note_line(format!("{RETURN_CHARGES} 50"));
    case.hear(&booked(RailStatus::Returned, "camt.052 R-1", "ret1"));
    case.hear(&booked(RailStatus::Returned, "callback m1", " RET 2 "));
    assert_eq!(case.attempt.return_references(), ["RET1", "RET 2"]);
    assert_eq!(case.attempt.bank_reference.as_deref(), Some("FT-1"));
    // Without a payout's reference, the return's is the attempt's.
    let mut case = Case::sending();
    case.hear(&booked(RailStatus::Returned, "camt.054 N-2", "RET1"));
    assert_eq!(case.attempt.bank_reference.as_deref(), Some("RET1"));
    assert!(case.attempt.return_references().is_empty());
}

#[test]
fn a_payout_that_was_reported_beside_an_attempt_is_read_as_it_was_noted() {
    use crate::test_values::{Case, pkr, say};
    let mut attempt = Case::sending().attempt;
    assert_eq!(attempt.reported(), None);
    attempt.note_booking(&RailReport {
        source: "camt.054 N-1".to_owned(),
        bank_reference: Some("FT-1".to_owned()),
        ..say(RailStatus::Settled)
    });
    attempt.note_line(format!("{RETURN_CHARGES} 50"));
    let others = attempt.booking.clone().expect("noted");
    let sender = Some(Sender::of_customer(attempt.tenant, "C-1"));
    let paid = |amount, may_have_charges| Some(ReportedAmount { amount, may_have_charges });
    let unknown = Money::new(5, crate::currency::Currency::Usd);
    for (sender, paid, known) in [
        (None, None, None),
        (sender, None, None),
        (sender, paid(pkr(5), false), paid(pkr(5), false)),
        (None, paid(pkr(5), true), paid(pkr(5), true)),
        // Its amount is known from before.
        (None, paid(unknown, true), paid(pkr(5), true)),
    ] {
        let (rail, why) = (RailId::new("pak-ibft"), "camt.054 B-1 reports settled".to_owned());
        let payout = ReportedPayout { rail, sender, paid, why };
        attempt.note_reported(&payout);
        attempt.note_reported(&payout);
        assert_eq!(attempt.reported(), Some(ReportedPayout { paid: known, ..payout }));
        let noted = attempt.booking.as_deref().expect("noted");
        assert_eq!(noted.lines().count(), others.lines().count() + 1, "{noted}");
        assert!(noted.starts_with(&others), "{noted}");
    }
    let why = "camt.054 B-1\nreturn-charges 9".to_owned();
    let rail = RailId::new("pak-ibft");
    attempt.note_reported(&ReportedPayout { rail, sender: None, paid: None, why });
    assert_eq!(attempt.return_charges(), Some(50), "a bank's text stays on its line");
}

/// A connector names its bookings by one reference, whichever way its reports come.
#[test]
fn a_second_booking_of_a_connector_is_seen() {
    use crate::test_values::{Case, say};
    let report = |status: RailStatus, source: &str, reference: Option<&str>| RailReport {
        source: source.to_owned(),
        bank_reference: reference.map(str::to_owned),
        ..say(status)
    };
    let (paid, back) = (RailStatus::Settled, RailStatus::Returned);
    let mut case = Case::sending();
    case.hear(&report(RailStatus::Accepted, "connector answer", Some("REQ-1")));
    case.hear(&report(paid.clone(), "callback m1", Some("TRX-A")));
    let repeated = [
        ("callback m1", Some("TRX-A")),
        ("callback m2", Some(" TRX-A")),
        ("callback m3", None),
        ("connector answer", Some("TRX-A")),
        ("connector report 1 before 17", Some("TRX-A")),
    ];
    let second = ["callback m4", "connector answer", "connector report 1 before 17"];
    let check = |case: &Case, status: &RailStatus, first: &str| {
        for (source, reference) in repeated {
            let reference = reference.map(|it| it.replace("TRX-A", first));
            let again = report(status.clone(), source, reference.as_deref());
            assert_eq!(case.attempt.hear(&again, None), Heard::Known(None), "{again:?}");
        }
        for source in second {
            let again = report(status.clone(), source, Some("OTHER"));
            let heard = case.attempt.hear(&again, None);
            assert!(matches!(heard, Heard::Contradicts(_)), "{again:?} {heard:?}");
        }
    };
    check(&case, &paid, "TRX-A");
    // A return that the connector reports about the payout names the payout.
    case.hear(&report(back.clone(), "callback m5", Some("TRX-A")));
    assert_eq!(case.attempt.state, Returned);
    let own = report(back.clone(), "callback m6", Some("RET-A"));
    assert_eq!(case.attempt.hear(&own, None), Heard::Known(None));
    case.hear(&own);
    check(&case, &back, "RET-A");
    check(&case, &paid, "TRX-A");
    let said = "callback m7 books the payout as TRX-C, and it was booked before: connector TRX-A";
    let after = report(paid, "callback m7", Some("TRX-C"));
    assert_eq!(case.attempt.hear(&after, None), Heard::Contradicts(said.to_owned()));
    assert_eq!(case.attempt.bank_reference.as_deref(), Some("TRX-A"));
}

/// The API calls it the bank's reference of the payment: the return has another one.
#[test]
fn a_return_does_not_replace_the_payouts_reference() {
    use crate::test_values::{Case, say};
    let report = |status: RailStatus, source: &str, reference: Option<&str>| RailReport {
        source: source.to_owned(),
        bank_reference: reference.map(str::to_owned),
        ..say(status)
    };
    for (debit, credit, expected) in [
        (Some("D1"), Some("C1"), Some("D1")),
        (Some("D1"), None, Some("D1")),
        (None, Some("C1"), Some("C1")),
        (None, None, None),
    ] {
        for (paid, back) in [("camt.054 1", "camt.054 2"), ("callback 1", "callback 2")] {
            let mut case = Case::sending();
            case.hear(&report(RailStatus::Settled, paid, debit));
            case.hear(&report(RailStatus::Returned, back, credit));
            let shown = case.payment.standing.bank_reference.as_deref();
            assert_eq!((case.attempt.bank_reference.as_deref(), shown), (expected, expected));
        }
    }
}

/// Several messages report one return: its charges are those of the first.
#[test]
fn a_return_is_compared_with_what_is_booked_of_it() {
    use crate::currency::Currency;
    use crate::test_values::{Case, say};
    let pkr = |minor| Some(Money::new(minor, Currency::Pkr));
    let own = Case::sending().attempt.amount.minor;
    let report = |status: RailStatus, less: i64, charges: i64| RailReport {
        amount: pkr(if status == RailStatus::Returned { own - less } else { own + less }),
        charges: pkr(charges).filter(|charges| charges.minor > 0),
        ..say(status)
    };
    let back = |less, charges| report(RailStatus::Returned, less, charges);
    // Of a payout with and without charges of its own; a bank's report, or what two users recorded.
    for (of_payout, recorded) in [(0, false), (300, false), (0, true), (300, true)] {
        let returned = |less: i64| {
            let mut case = Case::sending();
            case.hear(&report(RailStatus::Settled, of_payout, of_payout));
            let found = Finding { charges: less, ..Finding::from(RailStatus::Returned) };
            let recorded = recorded.then(|| case.attempt.report_of(&found, "letter"));
            let effects = case.hear(&recorded.unwrap_or_else(|| back(less, less)));
            assert_eq!((case.attempt.state, case.attempt.charges), (Returned, of_payout + less));
            let booked = effects.transfers.iter().filter(|it| it.reason == "rail.charges");
            assert_eq!(booked.count(), usize::from(less > 0));
            case
        };
        let case = returned(1_000);
        for same in [back(1_000, 0), back(1_000, 1_000), say(RailStatus::Returned)] {
            assert_eq!(case.attempt.hear(&same, None), Heard::Known(None), "{of_payout} {same:?}");
        }
        for other in [back(0, 0), back(999, 0), back(999, 999), back(2_000, 2_000), back(1_300, 0)]
        {
            let heard = case.attempt.hear(&other, None);
            assert!(matches!(heard, Heard::Contradicts(_)), "{of_payout} {other:?} {heard:?}");
        }
        // Of a return in full, whatever the payout cost.
        let case = returned(0);
        assert_eq!(case.attempt.hear(&back(0, 0), None), Heard::Known(None), "{of_payout}");
        let less = case.attempt.hear(&back(1_000, 0), None);
        assert!(matches!(less, Heard::Contradicts(_)), "{less:?}");
    }
    let mut case = Case::sending();
    case.hear(&report(RailStatus::Settled, 0, 0));
    let found = Finding { charges: 1_000, ..Finding::from(RailStatus::Returned) };
    case.hear(&case.attempt.report_of(&found, "letter"));
    let full = RailReport { source: "camt.054 N-9".to_owned(), ..back(0, 0) };
    let Heard::Contradicts(what) = case.attempt.hear(&full, None) else { panic!("silent") };
    assert!(what.contains("; charges of 10.00 PKR are booked for its return"), "{what}");
}

/// A disabled rail may have been disabled because of what it has; another one may have paid.
#[test]
fn a_message_is_repeated_over_an_enabled_rail_and_beside_no_other_payout() {
    use crate::test_values::Case;
    let mut case = Case::sending();
    case.rail.duplicate_detection = true;
    assert!(case.attempt.is_to_be_sent_again(Some(&case.rail)));
    assert!(!case.attempt.is_to_be_sent_again(None));
    let disabled = RailConfig { enabled: false, ..case.rail.clone() };
    assert!(!case.attempt.is_to_be_sent_again(Some(&disabled)));
    let (rail, why) = (RailId::new("pak-ibft"), "as paid".to_owned());
    case.attempt.note_reported(&ReportedPayout { rail, sender: None, paid: None, why });
    assert!(!case.attempt.is_to_be_sent_again(Some(&case.rail)));
}

/// realworld, kind B: a refusal of one copy of a message proves nothing about another.
#[test]
fn a_refusal_of_a_repetition_is_none_of_the_first_message() {
    use crate::test_values::{Case, say};
    let case = || {
        let mut case = Case::sending();
        case.rail.duplicate_detection = true;
        let rail = Some(&case.rail);
        assert!(case.attempt.is_to_be_sent_again(rail));
        case.attempt.sent_again = true;
        case.attempt.asked_in_vain(&mut None, case.now);
        assert!(case.attempt.is_to_be_sent_again(rail), "not answered");
        case
    };
    let refusal =
        |code: &str| RailReport { reason: Some(code.to_owned()), ..say(RailStatus::Rejected) };
    let unknown = Heard::Moves(Indeterminate, Trigger::RailUnknown, None);
    for code in ["AM04", "AC06", "AB08", "TM01", "NARR", "DT01"] {
        let mut case = case();
        assert_eq!(case.attempt.hear(&refusal(code), Some(&case.rail)), unknown, "{code}");
        case.hear(&refusal(code));
        let again = case.attempt.is_to_be_sent_again(Some(&case.rail));
        assert!(!again, "a bank that judges a repetition detects no duplicates");
        assert_eq!(
            case.attempt.hear(&refusal("AC01"), Some(&case.rail)),
            unknown,
            "of either copy"
        );
        // Users who have asked the bank know.
        let found = case.attempt.report_of(&RailStatus::Rejected.into(), "bank letter");
        let heard = case.attempt.hear(&found, Some(&case.rail));
        assert_eq!(heard, Heard::Moves(Refused, Trigger::Refused, None));
        case.hear(&found);
        let read_again = case.attempt.hear(&refusal(code), Some(&case.rail));
        assert_eq!(read_again, Heard::Known(None), "{code}: what they recorded");
    }
    // What the bank has recognised as a repetition is not paid: there is one message.
    for code in ["AM05", "B017"] {
        let mut case = case();
        case.hear(&refusal(code));
        assert_eq!((case.attempt.state, case.attempt.sent_again), (Indeterminate, false), "{code}");
        let heard = case.attempt.hear(&refusal("AC01"), Some(&case.rail));
        assert_eq!(heard, Heard::Moves(Refused, Trigger::Refused, None), "{code}");
    }
    // What only resembles a duplicate, or leaves it open, recognises nothing.
    for text in ["Reference reused", "Second payment", "Already processed"] {
        let mut loose = case();
        loose.hear(&RailReport { info: Some(text.to_owned()), ..refusal("NARR") });
        assert_eq!(
            (loose.attempt.state, loose.attempt.sent_again),
            (Indeterminate, true),
            "{text}"
        );
    }
    let mut open = case();
    let timeout = Some("Timeout, outcome unknown".to_owned());
    open.hear(&RailReport { info: timeout, ..refusal("MS03") });
    assert_eq!((open.attempt.state, open.attempt.sent_again), (Indeterminate, true));
    assert_eq!(open.attempt.hear(&refusal("AC04"), Some(&open.rail)), unknown);
    let mut accepted = case();
    let text = Some("payment is being processed".to_owned());
    accepted.hear(&RailReport { info: text, ..say(RailStatus::Accepted) });
    assert_eq!(accepted.attempt.hear(&refusal("AM04"), Some(&accepted.rail)), unknown);
}

/// realworld: "with charges the difference is a charge".
#[test]
fn only_charges_explain_a_difference() {
    use crate::currency::Currency;
    use crate::test_values::{Case, say};
    let pkr = |minor| Some(Money::new(minor, Currency::Pkr));
    let attempt = Case::sending().attempt;
    let own = attempt.amount.minor;
    let heard = |status: RailStatus, amount, charges| {
        attempt.hear(&RailReport { amount, charges, ..say(status) }, None)
    };
    let moves = |heard| match heard {
        Heard::Moves(_, _, charge) => Some(charge),
        Heard::Known(_) | Heard::Contradicts(_) => None,
    };
    for (status, amount, charges, expected) in [
        (RailStatus::Settled, pkr(own), None, Some(None)),
        (RailStatus::Settled, pkr(own), pkr(500), Some(None)),
        (RailStatus::Settled, pkr(own + 500), pkr(500), Some(pkr(500))),
        (RailStatus::Settled, pkr(own + 500), pkr(499), None),
        (RailStatus::Settled, pkr(own + 500), None, None),
        (RailStatus::Settled, pkr(own - 500), pkr(500), None),
        (RailStatus::Returned, pkr(own - 500), pkr(500), Some(pkr(500))),
        (RailStatus::Returned, pkr(own - 500), None, None),
        (RailStatus::Returned, pkr(own + 500), pkr(500), None),
        (RailStatus::Accepted, pkr(own + 500), pkr(500), None),
        (RailStatus::Returned, pkr(own - own / 2), pkr(own / 2), Some(pkr(own / 2))),
        (RailStatus::Returned, pkr(own - own / 2 - 1), pkr(own / 2 + 1), None),
        (RailStatus::Returned, pkr(1), pkr(own - 1), None),
        (RailStatus::Settled, pkr(own + own / 2 + 1), pkr(own / 2 + 1), None),
        (RailStatus::Returned, pkr(0), pkr(own), None),
        (RailStatus::Settled, pkr(own * 2), pkr(own), None),
        (RailStatus::Settled, Some(Money::new(own, Currency::Inr)), None, None),
        (RailStatus::Settled, pkr(own + 500), Some(Money::new(500, Currency::Inr)), None),
    ] {
        assert_eq!(
            moves(heard(status.clone(), amount, charges)),
            expected,
            "{status:?} {amount:?} {charges:?}"
        );
    }
    let found = Finding { charges: own - 1, ..Finding::from(RailStatus::Returned) };
    let established = attempt.report_of(&found, "letter of 2026-11-20");
    assert_eq!(moves(attempt.hear(&established, None)), Some(pkr(own - 1)), "two users did");
    // The booking with the charges follows a status: the charges are booked then, once.
    let mut settled = Attempt { state: Settled, ..attempt };
    let booking =
        RailReport { amount: pkr(own + 500), charges: pkr(500), ..say(RailStatus::Settled) };
    assert_eq!(settled.hear(&booking, None), Heard::Known(pkr(500)));
    settled.charges = 500;
    assert_eq!(settled.hear(&booking, None), Heard::Known(None));
    // So does the booking of a return, and the payout's own may be read after its return.
    let mut returned = Attempt { state: Returned, charges: 0, ..settled };
    let less =
        RailReport { amount: pkr(own - 500), charges: pkr(500), ..say(RailStatus::Returned) };
    for late in [less, booking] {
        returned.charges = 0;
        assert_eq!(returned.hear(&late, None), Heard::Known(pkr(500)), "{:?}", late.status);
        returned.charges = 500;
        assert_eq!(returned.hear(&late, None), Heard::Known(None), "{:?}", late.status);
    }
}

/// Banks say "duplicate" in their own words, too: in a proprietary code, or in the text beside a code
/// that leaves the reason to it.
#[test]
fn a_duplicate_in_a_banks_own_words_is_never_a_refusal() {
    use crate::test_values::{Case, say};
    let heard = |codes: &[&str], info: Option<&str>| {
        let mut codes = codes.iter().map(|code| (*code).to_owned());
        let report = RailReport {
            reason: codes.next(),
            further_reasons: codes.collect(),
            info: info.map(str::to_owned),
            ..say(RailStatus::Rejected)
        };
        let mut case = Case::sending();
        let heard = case.attempt.hear(&report, Some(&case.rail));
        if let Heard::Moves(state, ..) = heard {
            case.attempt.note(state, &report, None, crate::time::Timestamp(1));
            assert_eq!(case.attempt.is_at_the_bank(None), state == Indeterminate, "{report:?}");
        }
        heard
    };
    let unknown = Heard::Moves(Indeterminate, Trigger::RailUnknown, None);
    let refused = Heard::Moves(Refused, Trigger::Refused, None);
    let duplicates: [(&[&str], Option<&str>); 42] = [
        // A bank's own codes may have four characters, as ISO's have.
        (&["E001"], Some("already credited")),
        (&["0094"], Some("already credited")),
        (&["1234"], Some("Payment already processed")),
        (&["DUP1"], Some("already processed")),
        (&["T123"], Some("transaction already exists")),
        (&["9999"], Some("already credited")),
        (&["XX99", "E001"], Some("already credited")),
        (&["0000"], Some("Approved")),
        (&["PAID"], None),
        // One that only looks like one of ISO's.
        (&["AC99"], Some("already credited")),
        (&["AC01", "NARR"], Some("already credited")),
        (&["AC01", "narr"], Some("Transaction successful")),
        (&["00"], Some("Approved")),
        (&["000"], None),
        (&["NARR"], Some("Credit posted manually by branch")),
        (&["TXN_SUCCESS"], None),
        (&["E1"], Some("Transaction successful")),
        (&[], Some("paid at counter")),
        (&["NARR"], Some("Reference has been used before")),
        (&["NARR"], Some("Transaction ID exists")),
        (&["FF01"], Some("transaction is in process")),
        (&["D01"], Some("Opération en doublon")),
        (&["NARR"], Some("Giao dịch bị trùng")),
        (&["MS03"], Some("Timeout, outcome unknown")),
        (&["MS02"], Some("paiement déjà effectué")),
        (&["AC01"], Some("عملية مكررة")),
        (&["NARR"], Some("same payment is being processed")),
        (&["E9"], Some("Zahlung bereits ausgeführt")),
        (&["DUPLICATE_FILE"], None),
        (&["AM05 - Duplication"], None),
        (&["E102/DU01"], None),
        (&["Duplicated EndToEndId"], None),
        (&["NARR"], Some("Payment already processed on 2026-11-25")),
        (&["narr"], Some("Payment already processed on 2026-11-25")),
        (&["ms03"], Some("Previously processed")),
        (&["NARR"], Some("Doppelte Einreichung (Duplikat)")),
        (&["MS03"], Some("MsgId must be unique")),
        (&["E-77"], Some("file already received")),
        (&[], Some("duplicate payment")),
        (&["FF01"], Some("AM05: see text")),
        (&["AC01"], Some("DUPLICATE OF FT26330")),
        (&["NARR", "AM05"], None),
    ];
    for (codes, info) in duplicates {
        assert_eq!(heard(codes, info), unknown, "{codes:?} {info:?}");
    }
    let refusals: [(&[&str], Option<&str>); 17] = [
        (&["E001"], Some("account does not exist")),
        (&["9999"], None),
        (&["AC04", "NARR"], Some("account closed")),
        (&["TM01"], Some("received after cut-off")),
        (&["0"], Some("beneficiary refuses")),
        (&["AC04", "000"], None),
        (&["005"], Some("do not honour")),
        (&["NARR"], Some("could not be credited")),
        (&["AC06"], Some("account blocked until KYC is completed")),
        (&["NARR"], Some("account does not exist")),
        (&["NARR"], Some("no such account exists at this branch")),
        (&["AC04"], Some("the account was already closed")),
        (&["AC01"], Some("unique identification number is wrong")),
        (&["NARR"], Some("beneficiary refuses")),
        (&["E-77"], None),
        (&[], None),
        (&[], Some("no such account")),
    ];
    for (codes, info) in refusals {
        assert_eq!(heard(codes, info), refused, "{codes:?} {info:?}");
    }
    // A code that would have the payment sent over another rail proves nothing beside these words.
    for (code, info) in [
        ("TM01", "already processed"),
        ("AB08", "Credit posted"),
        (" TM01", "Timeout, outcome unknown"),
    ] {
        let mut case = Case::sending();
        case.rail.retryable_reasons = ["AB08", "TM01"].map(str::to_owned).into();
        let report = RailReport {
            reason: Some(code.to_owned()),
            info: Some(info.to_owned()),
            ..say(RailStatus::Rejected)
        };
        assert_eq!(case.attempt.hear(&report, Some(&case.rail)), unknown, "{code} {info}");
        let later = RailReport { info: Some("cut-off".to_owned()), ..report.clone() };
        assert_eq!(case.attempt.hear(&later, Some(&case.rail)), refused, "{code}");
        case.attempt.note(Indeterminate, &report, Some(&case.rail), crate::time::Timestamp(1));
        assert!(case.attempt.is_at_the_bank(Some(&case.rail)), "{code} {info}");
    }
    // Why a submission was unclear is not the bank's text.
    let mut case = Case::sending();
    assert!(case.attempt.unclear("Address already in use", crate::time::Timestamp(1)));
    assert!(!case.attempt.is_at_the_bank(None));
}
