//! Reports in several banks' dialects, matched to our attempts.

use super::*;
use crate::currency::Currency;

const MESSAGE: &str = "0123456789abcdef01234567-2";

fn uuid(number: u128) -> Uuid {
    // Ids are random: two of them differ in their first digits.
    Uuid::from_u128(number.wrapping_mul(0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C835) | 1)
}

fn pkr(minor: i64) -> Money {
    Money::new(minor, Currency::Pkr)
}

fn candidate(payment: u128, number: i32, sent: &[(&str, usize)]) -> Candidate {
    let attempt =
        if number == 1 { payment } else { payment * 100 + u128::from(number.unsigned_abs()) };
    Candidate {
        tenant: TenantId(uuid(999)),
        payment: PaymentId(uuid(payment)),
        attempt: AttemptId(uuid(attempt)),
        number,
        state: AttemptState::Sending,
        amount: pkr(i64::try_from(payment).expect("small") * 100),
        reference: Some(format!("FT-{payment}-{number}")),
        sent: sent
            .iter()
            .map(|(message, position)| SentIn {
                message: (*message).to_owned(),
                position: *position,
            })
            .collect(),
        recalls: Vec::new(),
    }
}

/// Two payments of one message, one with an earlier attempt, and one of another message.
fn ours() -> Candidates {
    let refused = Candidate { state: AttemptState::Refused, ..candidate(1, 1, &[]) };
    Candidates::new(vec![
        refused,
        candidate(1, 2, &[(MESSAGE, 1)]),
        candidate(2, 1, &[(MESSAGE, 2)]),
        candidate(3, 1, &[("fedcba9876543210fedcba98-1", 1)]),
    ])
}

fn end_to_end(payment: u128) -> String {
    PaymentId(uuid(payment)).end_to_end_id()
}

fn instruction(attempt: u128) -> String {
    AttemptId(uuid(attempt)).instruction_id()
}

fn ids(change: impl FnOnce(&mut ReportIds)) -> ReportIds {
    let mut ids = ReportIds::default();
    change(&mut ids);
    ids
}

fn found(ids: &ReportIds, amount: Option<Money>) -> Result<AttemptId, Unmatched> {
    ours().find(ids, amount).map(|it| it.attempt)
}

fn some(text: &str) -> Option<String> {
    Some(text.to_owned())
}

/// decisions: any of our ids is a match unless another one contradicts it.
#[test]
fn any_of_our_ids_is_sufficient() {
    let live = AttemptId(uuid(102));
    let uetr = live.to_string();
    for (ids, dialect) in [
        (ids(|it| it.uetr = some(&uetr)), "the UETR alone"),
        (ids(|it| it.instruction = some(&instruction(102))), "the InstrId alone"),
        (
            ids(|it| it.end_to_end = some(&end_to_end(1))),
            "the EndToEndId alone: the attempt that may have paid",
        ),
        (ids(|it| it.uetr = some(&uetr.to_uppercase())), "in other case"),
        (ids(|it| it.uetr = some(&uetr.replace('-', ""))), "without hyphens"),
        (ids(|it| it.uetr = some(&uetr[..35])), "cut to 35 characters"),
        (ids(|it| it.uetr = some(&uetr[..16])), "a UETR cut to 16 characters"),
        (
            ids(|it| it.instruction = some(&instruction(102)[..16].to_uppercase())),
            "cut to 16 characters, in capitals",
        ),
        (
            ids(|it| it.end_to_end = some(&end_to_end(1)[..16])),
            "an EndToEndId cut to 16 characters",
        ),
        (
            ids(|it| (it.instruction, it.end_to_end) = (some("HOST000042"), some(&end_to_end(1)))),
            "with the bank's own number",
        ),
        (
            ids(|it| (it.instruction, it.end_to_end) = (some("NOTPROVIDED"), some(&end_to_end(1)))),
            "with a placeholder",
        ),
        (
            ids(|it| (it.message, it.end_to_end) = (some(MESSAGE), some(&end_to_end(1)))),
            "with the message that carried it",
        ),
        (
            ids(|it| (it.uetr, it.message) = (some(&uetr), some("BANK-77"))),
            "with a message of the bank's own",
        ),
    ] {
        assert_eq!(found(&ids, None), Ok(live), "{dialect}");
    }
}

#[test]
fn ids_that_contradict_each_other_match_nothing() {
    for (ids, why) in [
        (
            ids(|it| (it.uetr, it.end_to_end) = (some(&uuid(2).to_string()), some(&end_to_end(3)))),
            "two payments",
        ),
        (
            ids(|it| {
                (it.instruction, it.uetr) = (some(&instruction(1)), some(&uuid(102).to_string()))
            }),
            "two attempts",
        ),
        (
            ids(|it| (it.uetr, it.message) = (some(&uuid(3).to_string()), some(MESSAGE))),
            "another of our messages",
        ),
    ] {
        assert_eq!(found(&ids, None), Err(Unmatched::Contradiction), "{why}");
    }
    for (ids, why) in [
        (ReportIds::default(), "no id"),
        (ids(|it| it.end_to_end = some("OTHERSYSTEM1")), "another system's"),
        (ids(|it| it.uetr = some(&uuid(77).to_string())), "of no attempt"),
        (ids(|it| it.uetr = some(&uuid(2).to_string()[..15])), "cut too short"),
        (ids(|it| it.uetr = some(&format!("{}0", uuid(2).simple()))), "longer than ours"),
    ] {
        assert_eq!(found(&ids, None), Err(Unmatched::Nothing), "{why}");
    }
}

#[test]
fn a_message_and_a_position_are_sufficient_if_the_amount_matches() {
    let alone = ids(|it| it.message = some("FEDCBA9876543210FEDCBA98-1"));
    assert_eq!(found(&alone, None), Ok(AttemptId(uuid(3))), "the only one of its message");
    assert_eq!(
        found(&ids(|it| it.block = some("fedcba9876543210")), None),
        Ok(AttemptId(uuid(3))),
        "by its block, cut"
    );
    let at = |place, of| ids(|it| (it.message, it.place) = (some(MESSAGE), Some((place, of))));
    assert_eq!(found(&at(2, 2), Some(pkr(200))), Ok(AttemptId(uuid(2))));
    for (ids, amount) in [
        (at(2, 2), None),
        (at(2, 2), Some(pkr(100))),
        (at(1, 1), Some(pkr(100))),
        (at(3, 3), Some(pkr(200))),
    ] {
        assert_eq!(
            found(&ids, amount).err().map(|it| matches!(it, Unmatched::Ambiguous(_))),
            Some(true),
            "{ids:?}"
        );
    }
    let another = ids(|it| {
        (it.message, it.end_to_end) = (some("fedcba9876543210fedcba98-1"), some("OTHERSYSTEM1"))
    });
    assert_eq!(
        found(&another, None),
        Err(Unmatched::Nothing),
        "an EndToEndId that is another system's"
    );
}

#[test]
fn a_unique_bank_reference_is_sufficient() {
    let by = |reference: &str| ids(|it| it.reference = some(reference));
    assert_eq!(found(&by("FT-2-1"), None), Ok(AttemptId(uuid(2))));
    assert_eq!(found(&by("ft-2-1"), None), Ok(AttemptId(uuid(2))));
    assert_eq!(found(&by("FT-9-9"), None), Err(Unmatched::Nothing));
    let same = |number| Candidate { reference: some("SAME"), ..candidate(number, 1, &[]) };
    let two = Candidates::new(vec![same(1), same(2)]);
    assert_eq!(two.find(&by("SAME"), None).err(), Some(Unmatched::Ambiguous(2)));
}

#[test]
fn a_whole_message_means_its_unlisted_transactions() {
    let of = ids(|it| it.message = some(MESSAGE));
    let rest_beside = |listed: &[Listed]| {
        ours()
            .rest_of(&of, listed)
            .map(|all| all.iter().map(|it| it.attempt).collect::<BTreeSet<_>>())
    };
    let rest = |listed: &[ReportIds]| {
        let all = listed.iter().map(|ids| Listed { ids: ids.clone(), ..Listed::default() });
        rest_beside(&all.collect::<Vec<_>>())
    };
    assert_eq!(rest(&[]), Ok([AttemptId(uuid(102)), AttemptId(uuid(2))].into()));
    assert_eq!(
        rest(&[ids(|it| it.end_to_end = some(&end_to_end(2)))]),
        Ok([AttemptId(uuid(102))].into())
    );
    // One that is not identified may be any of them, unless the same status applies to it.
    let unknown = ids(|it| it.end_to_end = some("OTHERSYSTEM1"));
    assert_eq!(rest(std::slice::from_ref(&unknown)), Err(Unmatched::Listed));
    let alike = Listed { ids: unknown.clone(), may_be_rest: true, amount: None };
    assert_eq!(rest_beside(&[alike]).map(|all| all.len()), Ok(2));
    let elsewhere = ReportIds { message: some("BANK-7"), ..unknown };
    assert_eq!(rest(&[elsewhere]).map(|all| all.len()), Ok(2), "it is of another message");
    let at = |amount| Listed {
        ids: ids(|it| (it.message, it.place) = (some(MESSAGE), Some((2, 2)))),
        amount,
        may_be_rest: false,
    };
    assert_eq!(
        rest_beside(&[at(Some(pkr(200)))]),
        Ok([AttemptId(uuid(102))].into()),
        "by its position and amount"
    );
    assert_eq!(rest_beside(&[at(None)]), Err(Unmatched::Listed));
    let foreign = ids(|it| it.message = some("BANK-1"));
    assert_eq!(ours().rest_of(&foreign, &[]).err(), Some(Unmatched::Nothing));
}

#[test]
fn a_batch_booking_is_the_sum_of_its_transactions_or_nothing() {
    let of = ids(|it| (it.message, it.block) = (some(MESSAGE), some(MESSAGE)));
    let booked = |minor, count| ours().booked(&of, pkr(minor), None, count).map(|all| all.len());
    assert_eq!(booked(300, Some(2)), Ok(2));
    assert_eq!(booked(300, None), Ok(2));
    assert_eq!(
        booked(300, Some(3)).err(),
        Some(Unmatched::Sum { booked: pkr(300), ours: pkr(300), count: Some((3, 2)) })
    );
    assert_eq!(
        booked(299, None).err(),
        Some(Unmatched::Sum { booked: pkr(299), ours: pkr(300), count: None })
    );
    let refused = Candidate { state: AttemptState::Refused, ..candidate(1, 1, &[(MESSAGE, 1)]) };
    let part = Candidates::new(vec![refused, candidate(2, 1, &[(MESSAGE, 2)])]);
    let found = part
        .booked(&of, pkr(200), None, None)
        .map(|all| all.iter().map(|(it, _)| it.attempt).collect::<Vec<_>>());
    assert_eq!(
        found,
        Ok(vec![AttemptId(uuid(2))]),
        "an individually refused attempt is not booked"
    );
}

/// Charges of a batch are those of its largest transaction, so that the sum is what was booked.
#[test]
fn charges_of_a_batch_explain_its_sum() {
    let of = ids(|it| it.message = some(MESSAGE));
    let parts = |minor, charges: Option<i64>| {
        let candidates = ours();
        let found = candidates.booked(&of, pkr(minor), charges.map(pkr), Some(2));
        found.map(|all| all.into_iter().filter_map(|it| it.1).collect::<Vec<_>>())
    };
    let paid = parts(310, Some(10)).expect("explained");
    let mut minors: Vec<i64> = paid.iter().map(|it| it.minor).collect();
    assert_eq!((minors.len(), minors.iter().sum::<i64>()), (2, 310));
    minors.sort_unstable();
    assert_eq!(minors, [100, 210]);
    assert_eq!(parts(290, Some(10)).map(|it| it.iter().map(|it| it.minor).sum::<i64>()), Ok(290));
    assert_eq!(parts(300, Some(10)).map(|it| it.iter().map(|it| it.minor).sum::<i64>()), Ok(300));
    for (minor, charges) in [(310, None), (310, Some(9)), (311, Some(10))] {
        assert!(matches!(parts(minor, charges), Err(Unmatched::Sum { .. })), "{minor} {charges:?}");
    }
}

/// Charges leave something of each payment, and explain one set of payments.
#[test]
fn charges_that_explain_too_much_explain_nothing() {
    let of = ids(|it| it.message = some(MESSAGE));
    let found = |candidates: &Candidates, minor, charges| {
        candidates.booked(&of, pkr(minor), Some(pkr(charges)), None).map(|all| all.len())
    };
    assert!(matches!(found(&ours(), 50, 250), Err(Unmatched::Sum { .. })), "more than the largest");
    let refused = Candidate { state: AttemptState::Refused, ..candidate(1, 1, &[(MESSAGE, 1)]) };
    let part = Candidates::new(vec![refused, candidate(2, 1, &[(MESSAGE, 2)])]);
    assert_eq!(found(&part, 200, 5), Ok(1));
    assert!(matches!(found(&part, 250, 50), Err(Unmatched::Sum { .. })), "all of 300, or 200");
}

/// Which of several a sum leaves out is a guess: a repeated report about one is not about another.
#[test]
fn a_sum_without_ids_is_not_about_those_that_are_left() {
    let refused = Candidate { state: AttemptState::Refused, ..candidate(1, 1, &[(MESSAGE, 1)]) };
    let part = Candidates::new(vec![refused, candidate(2, 1, &[(MESSAGE, 2)])]);
    let alone = ids(|it| (it.message, it.place) = (some(MESSAGE), Some((1, 1))));
    for minor in [100, 200] {
        let found = part.find_all(&alone, Some(pkr(minor)), None);
        assert!(matches!(found, Err(Unmatched::Ambiguous(_))), "{minor}: {found:?}");
    }
}

/// A booking that names a message and lists nothing else of it is about the whole message.
#[test]
fn a_message_alone_with_its_sum_is_all_of_it() {
    let at = |of| ids(|it| (it.message, it.place) = (some(MESSAGE), Some((1, of))));
    let found = |ids: &ReportIds, amount: Option<i64>| {
        ours().find_all(ids, amount.map(pkr), None).map(|all| all.len())
    };
    assert_eq!(found(&at(1), Some(300)), Ok(2));
    for (ids, amount) in [(at(1), Some(100)), (at(1), None), (at(3), Some(300))] {
        assert!(matches!(found(&ids, amount), Err(Unmatched::Ambiguous(_))), "{ids:?} {amount:?}");
    }
    let anothers = ReportIds { end_to_end: some("OTHERSYSTEM1"), ..at(1) };
    assert_eq!(found(&anothers, Some(300)), Err(Unmatched::Nothing));
}

/// Placeholders are not ids: they neither match nor contradict.
#[test]
fn placeholders_name_nothing() {
    let shared = Candidate { reference: some("NONREF"), ..candidate(1, 1, &[(MESSAGE, 1)]) };
    let one = Candidates::new(vec![shared]);
    for nothing in
        ["NONREF", "notprovided", "Not Provided", "N/A", "0000000000", "-", ".", "", "UNKNOWN"]
    {
        let by_reference = ids(|it| it.reference = some(nothing));
        assert_eq!(one.find(&by_reference, None).err(), Some(Unmatched::Nothing), "{nothing}");
        let by_message = ids(|it| (it.message, it.end_to_end) = (some(MESSAGE), some(nothing)));
        assert!(one.find(&by_message, None).is_ok(), "{nothing}");
    }
    let punctuated = Candidate { reference: some("A-12/3"), ..candidate(2, 1, &[]) };
    let found = Candidates::new(vec![punctuated]);
    let by = |text: &str| found.find(&ids(|it| it.reference = some(text)), None).is_ok();
    assert!(by(" a-12/3 ") && !by("A-1/23") && !by("A123"));
}

/// A long number is a bank's own id: it hides neither a reference nor an id elsewhere.
#[test]
fn long_numbers_are_not_ours() {
    for (id, expected) in [
        (instruction(102).as_str(), true),
        (instruction(102)[..16].to_uppercase().as_str(), true),
        (MESSAGE, true),
        ("00000000000000000000000000000001", true),
        ("20261125000001234567", false),
        ("2026-11-25-0000-1234", false),
        ("FT26330ABCDEFGHIJ", false),
        ("OTHERSYSTEM1", false),
    ] {
        assert_eq!(ids(|it| it.instruction = some(id)).may_be_ours(), expected, "{id}");
    }
}
