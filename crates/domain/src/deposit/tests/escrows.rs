//! Each submission of sender details has its own escrow: a payment there does not affect any other
//! escrow.

use super::*;
use crate::chain::{ChainNumber, Plan, vault};
use crate::ids::SenderInfoId;
use crate::payment_request::{SUBMISSIONS_MAX, SenderInfo, TooManySubmissions};

fn named(first: &str) -> SenderDetails {
    SenderDetails { first_name: Some(first.to_owned()), ..SenderDetails::default() }
}

fn submit(world: &mut World, id: u128, first: &str) -> Result<SenderInfo, TooManySubmissions> {
    let request = world.case.request.as_mut().expect("a request");
    request.submit(SenderInfoId(Uuid::from_u128(id)), named(first), &wallet(), monday())
}

/// The case of a deposit to the escrow of a submission of the same request.
fn paid_to(world: &mut World, info: &SenderInfo, log: u8) {
    let vault = Watched {
        address: info.escrow.expect("has one"),
        tenant: TENANT,
        chain: ChainNumber::FIRST,
        wallet: WALLET,
        request: Some(REQUEST),
        submission: info.number,
    };
    let found = Found {
        chain_id: 31_337,
        vault,
        coin: StableCoin::Usdc,
        minor: MINOR,
        from: PAYER,
        tx: TxHash([log; 32]),
        ordinal: 0,
        place: place(100),
        paid_at: monday(),
    };
    world.case.deposit = found.deposit(info.details.clone(), monday());
    world.case.intents.clear();
    world.seen_in(100);
    world.counted();
}

#[test]
fn each_submission_has_its_own_address_derived_from_its_number() {
    let mut world = World::for_request();
    let own = world.case.request.as_ref().expect("a request").escrow;
    let (one, two) = (
        submit(&mut world, 1, "Imran").expect("taken"),
        submit(&mut world, 2, "Imran").expect("taken"),
    );
    assert_eq!((one.number, two.number), (Some(1), Some(2)));
    let escrow = |number| {
        let reference = vault::submission_reference(TENANT, REQUEST.0, number);
        vault::address(
            &wallet().controller,
            &wallet().implementation,
            &wallet().address,
            &reference,
        )
    };
    assert_eq!((one.escrow, two.escrow), (Some(escrow(1)), Some(escrow(2))));
    assert_eq!(std::collections::BTreeSet::from([own, escrow(1), escrow(2)]).len(), 3);
}

#[test]
fn a_request_limits_its_submissions() {
    let mut world = World::for_request();
    for number in 1..=SUBMISSIONS_MAX {
        assert_eq!(
            submit(&mut world, number.into(), "Imran").map(|info| info.number),
            Ok(Some(number))
        );
    }
    let before = world.case.request.clone();
    assert_eq!(submit(&mut world, 999, "Imran"), Err(TooManySubmissions));
    assert_eq!(world.case.request, before);
}

#[test]
fn a_release_moves_tokens_out_of_the_paid_escrow() {
    let mut world = World::for_request();
    let info = submit(&mut world, 1, "Imran").expect("taken");
    paid_to(&mut world, &info, 7);
    world.screened(RiskResult::Approved, None);
    let Plan::Release(movement) = world.case.intents[0].plan else { panic!("a movement") };
    assert_eq!(movement.reference, vault::submission_reference(TENANT, REQUEST.0, 1));
    assert_eq!(movement.recipient, wallet().address);
    world.released();
    assert_eq!(
        world.case.request.as_ref().map(|it| it.state.name()),
        Some("PAID"),
        "it counts towards the request"
    );
}

#[test]
fn a_hold_on_one_escrow_is_independent_of_the_others() {
    let mut world = World::for_request();
    let stranger = submit(&mut world, 1, "Zorblax").expect("taken");
    let honest = submit(&mut world, 2, "Imran").expect("taken");
    paid_to(&mut world, &stranger, 7);
    world.screened(RiskResult::Rejected, Some(Hold::Legal));
    let Plan::SetLegalHold { vault, held: true, .. } = world.case.intents[0].plan else {
        panic!("a hold")
    };
    assert_eq!(Some(vault), stranger.escrow);
    let held = world.case.intents[0].id;
    let (stopped, request) =
        (world.case.deposit.clone(), world.case.request.clone().expect("a request"));
    assert!(request.wants_told(held, &vault, true) && request.is_held(&vault));
    assert!(
        !request.is_held(&honest.escrow.expect("has one")) && !request.is_held(&request.escrow)
    );
    paid_to(&mut world, &honest, 8);
    world.screened(RiskResult::Approved, None);
    assert!(world.case.may_release(), "an honest payment continues");
    world.released();
    // Two users lift it; the controller lifts that escrow's hold alone.
    world.case.deposit = stopped;
    world.case.intents.clear();
    world.tries(|case, _, cx| case.lift_hold(false, cx)).expect("on hold");
    let lift = world.case.intents[0].clone();
    assert_eq!(
        lift.plan,
        Plan::SetLegalHold {
            vault,
            held: false,
            case: crate::deposit::hold::case_of(world.case.deposit.id)
        }
    );
    let id = world.case.deposit.id;
    world.does(|case, _, cx| {
        case.request.as_mut().expect("a request").escrow_lifted(lift.id, id, cx)
    });
    assert!(!world.case.escrow_is_held());
}
