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
    let rest = |listed: &[ReportIds]| {
        ours()
            .rest_of(&of, listed)
            .map(|all| all.iter().map(|it| it.attempt).collect::<BTreeSet<_>>())
    };
    assert_eq!(rest(&[]), Ok([AttemptId(uuid(102)), AttemptId(uuid(2))].into()));
    assert_eq!(
        rest(&[ids(|it| it.end_to_end = some(&end_to_end(2)))]),
        Ok([AttemptId(uuid(102))].into())
    );
    assert_eq!(rest(&[ids(|it| it.end_to_end = some("OTHERSYSTEM1"))]).map(|all| all.len()), Ok(2));
    let foreign = ids(|it| it.message = some("BANK-1"));
    assert_eq!(ours().rest_of(&foreign, &[]).err(), Some(Unmatched::Nothing));
}

#[test]
fn a_batch_booking_is_the_sum_of_its_transactions_or_nothing() {
    let of = ids(|it| (it.message, it.block) = (some(MESSAGE), some(MESSAGE)));
    let booked = |minor, count| ours().booked(&of, pkr(minor), count).map(|all| all.len());
    assert_eq!(booked(300, Some(2)), Ok(2));
    assert_eq!(booked(300, None), Ok(2));
    assert_eq!(
        booked(300, Some(3)).err(),
        Some(Unmatched::Sum { booked: pkr(300), ours: pkr(300) })
    );
    assert_eq!(booked(299, None).err(), Some(Unmatched::Sum { booked: pkr(299), ours: pkr(300) }));
    let refused = Candidate { state: AttemptState::Refused, ..candidate(1, 1, &[(MESSAGE, 1)]) };
    let part = Candidates::new(vec![refused, candidate(2, 1, &[(MESSAGE, 2)])]);
    let found = part
        .booked(&of, pkr(200), None)
        .map(|all| all.iter().map(|it| it.attempt).collect::<Vec<_>>());
    assert_eq!(
        found,
        Ok(vec![AttemptId(uuid(2))]),
        "an individually refused attempt is not booked"
    );
}
