//! The view of a link for every state of its request and deposits.

use domain::payment_request::Received;

use super::*;
use crate::wallet_v1::samples::{T0, deposit, request};

/// The only payment of its sender.
fn one(
    deposit: &Deposit,
    request: &PaymentRequest,
    confirmations: Option<(u64, u64)>,
) -> Option<Incoming> {
    Incoming::of(deposit, request, &deposit.sent_with([deposit]), confirmations)
}

fn view(request: &PaymentRequest, arrived: &[DepositState], known: bool) -> View {
    let told = |state: &DepositState| one(&deposit(*state), request, Some((1, 12)));
    let arrived = arrived.iter().filter_map(told).collect();
    View::of(request, arrived, true, known, T0)
}

#[test]
fn a_recipient_is_shown_by_first_name_and_initial() {
    for (given, shown) in [
        ("Nila Sarkar", "Nila S."),
        ("Muhammad Bilal Khan", "Muhammad K."),
        ("  Ana   de la Cruz ", "Ana C."),
        ("Suharto", "Suharto"),
        ("Ali (home)", "Ali h."),
        ("Maria 2", "Maria"),
        ("محمد علی", "محمد ع."),
        ("नीला सरकार", "नीला स."),
        ("राम किशोर", "राम कि."),
        ("Trần Thị Ánh", "Trần Á."),
        ("E\u{301}lise E\u{301}toile", "E\u{301}lise E\u{301}."),
        ("123", "123"),
    ] {
        assert_eq!(short_name(given), shown, "{given}");
    }
}

#[test]
fn the_address_comes_after_the_details() {
    let asked = request();
    assert_eq!(view(&asked, &[], false), View::Details { arrived: vec![], part: None });
    let offers = vec![Offer { coin: StableCoin::Usdc, minor: Some(25_500_000) }];
    assert_eq!(
        view(&asked, &[], true),
        View::Send { offers, arrived: vec![], part: None, back: Back::No, sponsored: None }
    );
}

#[test]
fn a_token_that_the_chain_lacks_is_not_offered() {
    for has in StableCoin::ALL {
        let is_on_chain = |coin| coin == has;
        let crypto = request().asked;
        assert_eq!(is_payable_in(&crypto, is_on_chain), has == StableCoin::Usdc);
        assert!(is_payable_in(&Asked::Flexible, is_on_chain));
        let flexible = PaymentRequest { asked: Asked::Flexible, ..request() };
        let mut shown = view(&flexible, &[], true);
        shown.offer_only(is_on_chain);
        let View::Send { offers, .. } = shown else { panic!("{shown:?}") };
        assert_eq!(offers, [Offer { coin: has, minor: None }]);
    }
}

#[test]
fn a_flexible_request_offers_both_coins_and_a_fiat_one_what_each_must_be() {
    let flexible = PaymentRequest { asked: Asked::Flexible, ..request() };
    let any = StableCoin::ALL.map(|coin| Offer { coin, minor: None });
    assert_eq!(
        view(&flexible, &[], true),
        View::Send {
            offers: any.to_vec(),
            arrived: vec![],
            part: None,
            back: Back::No,
            sponsored: None
        }
    );
    let asked = Asked::Fiat {
        currency: domain::currency::Currency::Pkr,
        micros: 2_800_000_000,
        usdc: 10_000_000,
        usdt: 10_050_000,
    };
    let View::Send { offers, .. } = view(&PaymentRequest { asked, ..request() }, &[], true) else {
        panic!("the address is shown");
    };
    assert_eq!(
        offers.iter().map(|offer| offer.minor).collect::<Vec<_>>(),
        [Some(10_000_000), Some(10_050_000)]
    );
    assert_eq!(amount_asked(&asked), Some(("2,800.00".to_owned(), "PKR")));
    assert_eq!(amount_asked(&Asked::Flexible), None);
}

#[test]
fn a_payment_in_progress_is_not_requested_again() {
    for known in [false, true] {
        let seen = view(&request(), &[DepositState::Seen], known);
        assert!(matches!(&seen, View::Status { arrived, .. } if arrived.len() == 1), "{seen:?}");
        assert_eq!((seen.step(), seen.is_waiting()), (3, true));
    }
}

#[test]
fn what_another_sends_keeps_no_sender_from_paying_but_what_completes_the_request() {
    let seen = |minor| {
        let deposit = Deposit { minor, ..deposit(DepositState::Seen) };
        one(&deposit, &request(), None).expect("shown").of_another()
    };
    let shown = |minor, known| View::of(&request(), vec![seen(minor)], true, known, T0);
    for known in [false, true] {
        assert!(!matches!(shown(1, known), View::Status { .. }), "{known}");
        assert!(matches!(shown(25_500_000, known), View::Status { .. }), "{known}");
    }
    assert!(
        matches!(shown(1, true), View::Send { offers, .. } if offers[0].minor == Some(25_500_000))
    );
}

#[test]
fn money_in_another_token_is_not_asked_for_again_while_the_bank_has_it() {
    let asked = PaymentRequest { wrong_asset: true, ..request() };
    let shown = |state, is_own: bool, known| {
        let sent = Deposit { coin: StableCoin::Usdt, ..deposit(state) };
        let incoming = one(&sent, &asked, None).expect("shown");
        assert!(!incoming.is_accepted);
        let incoming = if is_own { incoming } else { incoming.of_another() };
        View::of(&asked, vec![incoming], true, known, T0)
    };
    for (state, held) in [
        (DepositState::Seen, true),
        (DepositState::Screening, true),
        (DepositState::InReview, true),
        (DepositState::Held, true),
        (DepositState::Suspended, true),
        (DepositState::Rejected, true),
        (DepositState::LegalHold, true),
        (DepositState::Refunding, true),
        // Sent back, or accepted one for one: what is still asked for can be sent.
        (DepositState::Refunded, false),
        (DepositState::Approved, false),
        (DepositState::Completed, false),
        (DepositState::Dust, false),
    ] {
        let own = shown(state, true, true);
        assert_eq!(matches!(own, View::Status { .. }), held, "{state:?}");
        assert_eq!(matches!(own, View::Send { .. }), !held, "{state:?}");
        // What one sender does keeps no other from paying.
        assert!(matches!(shown(state, false, true), View::Send { .. }), "{state:?}");
    }
    assert!(matches!(shown(DepositState::InReview, true, false), View::Details { .. }));
}

/// A sender whose payment was refused is not asked to send to the same address again; everybody
/// else is, for the whole amount.
#[test]
fn a_refused_sender_is_not_asked_for_the_rest() {
    let minor = 10_000_000;
    let shown = |deposit: &Deposit, is_own: bool, known| {
        let refused = if deposit.is_refused() { minor } else { 0 };
        let asked = PaymentRequest {
            received: Received { usdc: minor, usdt: 0 },
            refused: Received { usdc: refused, usdt: 0 },
            ..request()
        };
        let incoming = one(deposit, &asked, None).expect("shown");
        let incoming = if is_own { incoming } else { incoming.of_another() };
        View::of(&asked, vec![incoming], true, known, T0)
    };
    let part = |state| Deposit { minor, ..deposit(state) };
    let suspended = |back_to| Deposit { back_to, ..part(DepositState::Suspended) };
    let dropped = Deposit { pot: DepositBucket::Nowhere, ..part(DepositState::Failed) };
    for (deposit, refused) in [
        (part(DepositState::Screening), false),
        (part(DepositState::Held), false),
        (part(DepositState::InReview), false),
        (part(DepositState::Approved), false),
        (part(DepositState::Completed), false),
        (part(DepositState::Dust), false),
        (suspended(Some(DepositState::InReview)), false),
        (dropped, false),
        (part(DepositState::Failed), true),
        (part(DepositState::Rejected), true),
        (part(DepositState::LegalHold), true),
        (part(DepositState::Refunding), true),
        (part(DepositState::Refunded), true),
        (suspended(Some(DepositState::Rejected)), true),
        (suspended(Some(DepositState::LegalHold)), true),
    ] {
        let own = shown(&deposit, true, true);
        assert_eq!(matches!(own, View::Send { .. }), !refused, "{:?}", deposit.state);
        assert_eq!(own.is_open(), refused, "{:?}", deposit.state);
        let left = if deposit.is_refused() { 25_500_000 } else { 15_500_000 };
        let View::Send { offers, .. } = shown(&deposit, false, true) else {
            panic!("others can pay: {:?}", deposit.state)
        };
        assert_eq!(offers[0].minor, Some(left), "{:?}", deposit.state);
        let stranger = shown(&deposit, false, false);
        assert!(matches!(stranger, View::Details { .. }), "{:?}", deposit.state);
        assert_eq!(stranger.part().is_none(), deposit.is_refused(), "{:?}", deposit.state);
    }
}

#[test]
fn amounts_are_grouped_and_converted() {
    for (minor, shown) in [
        (1, "0.000001 USDC"),
        (999_000_000, "999.00 USDC"),
        (1_000_000_000, "1,000.00 USDC"),
        (1_234_567_123_456, "1,234,567.123456 USDC"),
    ] {
        assert_eq!(amount(StableCoin::Usdc, minor), shown);
    }
    let rate = |text| Decimal::parse(text).expect("a rate");
    let aed = about(25_500_000, rate("3.6725"), Currency::Aed);
    assert_eq!(aed.as_deref(), Some("93.65 AED"));
    let round = about(125_500_000, rate("3.6725"), Currency::Aed);
    assert_eq!(round.as_deref(), Some("460.90 AED"));
    let pkr = about(25_500_000, rate("278.5"), Currency::Pkr);
    assert_eq!(pkr.as_deref(), Some("7,101.75 PKR"));
}

#[test]
fn what_is_left_of_a_partial_payment_can_be_sent() {
    let partial = PaymentRequest { received: Received { usdc: 12_750_000, usdt: 0 }, ..request() };
    let View::Send { offers, arrived, part, back: Back::No, sponsored: None } =
        view(&partial, &[DepositState::Completed], true)
    else {
        panic!("the address is shown");
    };
    let half = Part { coin: StableCoin::Usdc, have: 12_750_000, whole: 25_500_000 };
    assert_eq!(part, Some(half));
    assert_eq!(
        (offers, arrived.len()),
        (vec![Offer { coin: StableCoin::Usdc, minor: Some(12_750_000) }], 1)
    );
    assert!(
        matches!(view(&partial, &[DepositState::Completed], false), View::Details { arrived, .. } if arrived.len() == 1)
    );
}

#[test]
fn a_link_that_takes_nothing_looks_the_same_whatever_the_reason() {
    let expired = PaymentRequest { state: RequestState::Expired, ..request() };
    let cancelled = PaymentRequest { state: RequestState::Cancelled, ..request() };
    let overdue = PaymentRequest { expires_at: T0, ..request() };
    for link in [&expired, &cancelled, &overdue] {
        for known in [false, true] {
            assert_eq!(view(link, &[], known), View::Closed);
            assert_eq!(view(link, &[DepositState::Orphaned], known), View::Closed);
        }
    }
    assert_eq!(View::of(&request(), vec![], false, true, T0), View::Closed);
}

#[test]
fn what_has_come_is_followed_after_the_link_has_ended() {
    let paid = PaymentRequest {
        state: RequestState::Paid,
        received: Received { usdc: 25_500_000, usdt: 0 },
        ..request()
    };
    let expired = PaymentRequest { state: RequestState::Expired, ..request() };
    for link in [&paid, &expired] {
        for (state, step, waiting) in [
            (DepositState::Seen, 3, true),
            (DepositState::Held, 4, true),
            (DepositState::Screening, 4, true),
            (DepositState::InReview, 4, true),
            (DepositState::Approved, 4, true),
            (DepositState::Suspended, 4, true),
            (DepositState::Completed, 5, false),
            (DepositState::Rejected, 5, false),
            (DepositState::LegalHold, 5, false),
            (DepositState::Refunding, 5, false),
            (DepositState::Refunded, 5, false),
            (DepositState::Failed, 5, false),
        ] {
            let shown = view(link, &[state], false);
            assert!(matches!(shown, View::Status { .. }), "{state:?}");
            assert_eq!((shown.step(), shown.is_waiting()), (step, waiting), "{state:?}");
        }
    }
    let late = PaymentRequest { expires_at: T0, late: true, ..expired };
    assert!(matches!(
        view(&late, &[DepositState::Screening], false),
        View::Status { notices, .. } if notices == [Notice::Late]
    ));
}

#[test]
fn a_page_is_another_one_when_what_is_to_be_done_changes_and_the_same_while_confirmations_come() {
    let paid = PaymentRequest { state: RequestState::Paid, ..request() };
    let seen = |have| {
        let arrived =
            one(&deposit(DepositState::Seen), &paid, Some((have, 12))).into_iter().collect();
        View::of(&paid, arrived, true, true, T0).shape()
    };
    assert_eq!(seen(1), seen(11));
    let partial = PaymentRequest { received: Received { usdc: 12_750_000, usdt: 0 }, ..request() };
    let shapes = [
        view(&request(), &[], false).shape(),
        view(&request(), &[], true).shape(),
        view(&partial, &[DepositState::Completed], true).shape(),
        seen(1),
        view(&paid, &[DepositState::Screening], true).shape(),
        view(&paid, &[DepositState::Completed], true).shape(),
        view(&paid, &[DepositState::Rejected], true).shape(),
        view(&paid, &[DepositState::Rejected], false).shape(),
        view(&paid, &[DepositState::Refunding], true).shape(),
        view(&paid, &[DepositState::Refunding], false).shape(),
        View::Closed.shape(),
    ];
    for (at, shape) in shapes.iter().enumerate() {
        assert!(!shapes[at + 1..].contains(shape), "{shape} twice");
    }
}

#[test]
fn only_senders_of_rejected_payments_are_asked_for_a_refund_address() {
    let paid = PaymentRequest { state: RequestState::Paid, ..request() };
    for (state, back) in [
        (DepositState::Rejected, Back::Asks),
        (DepositState::LegalHold, Back::Asks),
        (DepositState::Failed, Back::Asks),
        (DepositState::Refunding, Back::Fixed),
        (DepositState::Refunded, Back::No),
        (DepositState::Seen, Back::No),
        (DepositState::Held, Back::No),
        (DepositState::Screening, Back::No),
        (DepositState::InReview, Back::No),
        (DepositState::Approved, Back::No),
        (DepositState::Completed, Back::No),
        (DepositState::Suspended, Back::No),
    ] {
        let elsewhere = if back == Back::Asks { Back::Elsewhere } else { Back::No };
        assert_eq!(view(&paid, &[state], true).back(), back, "{state:?}");
        assert_eq!(view(&paid, &[state], false).back(), elsewhere, "{state:?}");
        // Together with a completed payment, and while more may be sent.
        assert_eq!(view(&paid, &[DepositState::Completed, state], true).back(), back, "{state:?}");
        let open = view(&request(), &[state], true);
        assert!(state == DepositState::Seen || open.back() == back, "{open:?}");
    }
    let both = view(&paid, &[DepositState::Refunding, DepositState::Rejected], true);
    assert_eq!((both.back(), both.coins_asked_about().as_str()), (Back::Asks, "USDC"));
}

/// Requests for which a payment of the samples is unusual, and how.
fn unusual() -> [(PaymentRequest, RequestException); 3] {
    let paid = PaymentRequest { state: RequestState::Paid, ..request() };
    let asked = |coin, minor| Asked::Crypto { coin, minor };
    [
        (
            PaymentRequest { asked: asked(StableCoin::Usdc, 12_750_000), ..paid },
            RequestException::Overpaid,
        ),
        (
            PaymentRequest { expires_at: T0, state: RequestState::Expired, ..request() },
            RequestException::Late,
        ),
        (
            PaymentRequest { asked: asked(StableCoin::Usdt, 25_500_000), ..request() },
            RequestException::WrongAsset,
        ),
    ]
}

#[test]
fn held_payments_are_asked_about_only_with_a_visible_reason() {
    for (request, exception) in unusual() {
        let back = |state| view(&request, &[state], true).back();
        assert_eq!(back(DepositState::InReview), Back::Asks, "{exception:?}");
        assert_eq!(back(DepositState::Screening), Back::No, "{exception:?}");
        assert_eq!(back(DepositState::Completed), Back::No, "the recipient has it all");
    }
}

/// In one payment or in two, in whatever order they came.
#[test]
fn a_payment_that_is_too_much_and_late_is_called_both() {
    let paid = PaymentRequest { state: RequestState::Paid, ..request() };
    let at = |paid_at, minor| Deposit { paid_at, minor, ..deposit(DepositState::Completed) };
    let (early, late) = (paid.created_at, paid.expires_at);
    let both = vec![Notice::Overpaid, Notice::Late];
    for (deposits, told) in [
        (vec![at(late, 51_000_000)], both.clone()),
        (vec![at(early, 25_500_000), at(late, 25_500_000)], both.clone()),
        (vec![at(late, 25_500_000), at(early, 25_500_000)], both.clone()),
        (vec![at(late, 25_500_000), at(late, 1)], both),
        (vec![at(early, 25_500_000), at(early, 1)], vec![Notice::Overpaid]),
        (vec![at(early, 10_000_000), at(late, 15_500_000)], vec![Notice::Late]),
        (vec![at(early, 10_000_000), at(early, 15_500_000)], vec![]),
    ] {
        let sum = deposits.iter().map(|it| it.minor).sum();
        let sent = Received { usdc: sum, usdt: 0 };
        let arrived = deposits.iter().filter_map(|it| Incoming::of(it, &paid, &sent, None));
        let View::Status { notices, .. } = View::of(&paid, arrived.collect(), true, true, T0)
        else {
            panic!("a status: {deposits:?}")
        };
        assert_eq!(notices, told, "{deposits:?}");
    }
}

/// What another sender pays with the same link neither asks a sender nor tells them anything.
#[test]
fn a_deviation_of_another_s_payment_says_nothing_about_one_s_own() {
    let double = Received { usdc: 51_000_000, usdt: 25_500_000 };
    let paid = PaymentRequest {
        state: RequestState::Paid,
        received: double,
        late: true,
        wrong_asset: true,
        ..request()
    };
    for state in [DepositState::InReview, DepositState::Completed] {
        let own = one(&deposit(state), &paid, None).expect("shown");
        for (strange, _) in unusual() {
            let other = one(&deposit(DepositState::InReview), &strange, None).expect("shown");
            let shown = View::of(&paid, vec![own, other.of_another()], true, true, T0);
            let View::Status { notices, back, .. } = shown else { panic!("{shown:?}") };
            assert_eq!((notices, back), (vec![], Back::No), "{state:?}");
            let unknown = View::of(&paid, vec![own, other], true, false, T0);
            let View::Status { notices, .. } = unknown else { panic!("{unknown:?}") };
            assert_eq!(notices, [], "{state:?}");
        }
    }
}

#[test]
fn a_deposit_from_before_the_visitors_submission_is_not_theirs() {
    let incoming = one(&deposit(DepositState::Rejected), &request(), None).expect("shown");
    let paid = PaymentRequest { state: RequestState::Paid, ..request() };
    assert_eq!(View::of(&paid, vec![incoming], true, true, T0).back(), Back::Asks);
    assert_eq!(View::of(&paid, vec![incoming.of_another()], true, true, T0).back(), Back::No);
}
