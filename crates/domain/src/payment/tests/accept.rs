//! Acceptance: every refusal in the order of precedence, its lack of side effects, and what
//! acceptance writes.

use super::super::accept::{IN_REVIEW, Refusal, Submission, accept};
use super::super::{Cx, Effects, JobChange, Payment, PaymentState, ReviewState};
use crate::country::Country;
use crate::currency::{Currency, StableCoin};
use crate::event::EventKind;
use crate::fault::Fault;
use crate::ids::PaymentId;
use crate::job::JobKind;
use crate::ledger::Account;
use crate::quote::{Quote, QuoteState, QuoteStep, QuoteTrigger};
use crate::test_values::{
    Books, CHARGE_MINOR, HOLD, Ids, OTHER_PAYMENT, PAYMENT, QUOTE, accepted, dec, monday, quote,
    submission,
};
use crate::time::{Span, Timestamp};

/// All inputs of acceptance.
struct Desk {
    quote: Option<Quote>,
    submission: Submission,
    taken: Option<PaymentId>,
    bound: Vec<Fault>,
    prefund: Account,
    now: Timestamp,
}

impl Desk {
    fn new() -> Desk {
        Desk {
            quote: Some(quote()),
            submission: submission(0),
            taken: None,
            bound: Vec::new(),
            prefund: prefund(CHARGE_MINOR),
            now: monday(),
        }
    }

    fn accept(&mut self) -> Result<(Payment, Effects), Refusal> {
        let mut ids = Ids::new();
        let mut cx = Cx { now: self.now, ids: &mut ids };
        accept(
            self.quote.as_mut(),
            &self.submission,
            self.taken,
            &self.bound,
            &self.prefund,
            &mut cx,
        )
    }
}

fn prefund(minor: i64) -> Account {
    Books::with_prefund(StableCoin::Usdt, minor).prefund()
}

const fn name(refusal: &Refusal) -> &'static str {
    match refusal {
        Refusal::ExternalIdConflict(_) => "external_id_conflict",
        Refusal::QuoteNotFound => "quote_not_found",
        Refusal::QuoteUsed(_) => "quote_used",
        Refusal::QuoteExpired => "quote_expired",
        Refusal::Mismatch(_) => "mismatch",
        Refusal::InsufficientBalance { .. } => "insufficient_balance",
    }
}

fn use_up(desk: &mut Desk) {
    if let Some(quote) = &mut desk.quote {
        (quote.state, quote.payment) = (QuoteState::Used, Some(OTHER_PAYMENT));
    }
}

/// Changes a valid submission so that it is refused for one reason.
type Break = fn(&mut Desk);

/// All refusals, each with its provocation, by descending precedence (`decisions.md`, "Errors").
const FAULTS: [(&str, Break); 6] = [
    ("external_id_conflict", |desk| desk.taken = Some(OTHER_PAYMENT)),
    ("quote_not_found", |desk| desk.quote = None),
    ("quote_used", use_up),
    ("quote_expired", |desk| desk.now = monday() + Span::secs(300)),
    ("mismatch", |desk| desk.submission.order.amount = dec("37912.06")),
    ("insufficient_balance", |desk| desk.prefund = prefund(CHARGE_MINOR - 1)),
];

#[test]
fn of_two_faults_the_one_of_higher_precedence_is_reported() {
    for (first, (told, earlier)) in FAULTS.iter().enumerate() {
        for (other, later) in &FAULTS[first..] {
            let mut desk = Desk::new();
            later(&mut desk);
            earlier(&mut desk);
            let before = desk.quote.clone();
            let refusal = desk.accept().expect_err(told);
            assert_eq!(name(&refusal), *told, "with {other}");
            assert_eq!(desk.quote, before, "{told} with {other} touched the quote");
        }
    }
}

#[test]
fn refusals_name_their_cause() {
    let told = |break_it: Break| {
        let mut desk = Desk::new();
        break_it(&mut desk);
        desk.accept().expect_err("broken").to_string()
    };
    let other = OTHER_PAYMENT;
    assert_eq!(told(FAULTS[0].1), format!("external_id is already used by payment {other}"));
    assert_eq!(told(FAULTS[2].1), format!("The quote is already used by payment {other}"));
    assert_eq!(
        told(FAULTS[5].1),
        "The prefund account is too low: 136.847373 USDT available, 136.847374 USDT needed"
    );
}

#[test]
fn all_mismatches_are_reported_at_once_in_field_order() {
    let mut desk = Desk::new();
    desk.submission.order.country = Country::Ind;
    desk.submission.order.currency = Currency::Sar;
    desk.submission.order.amount = dec("37912.0501");
    desk.bound = ["bank_branch_code", "beneficiary_account_number"]
        .map(|field| Fault::new(field, "beneficiary_mismatch", "The quote was made for another"))
        .into();
    let Err(Refusal::Mismatch(faults)) = desk.accept() else { panic!("must not be accepted") };
    let told: Vec<_> = faults.iter().map(|fault| (fault.field, fault.rule)).collect();
    assert_eq!(
        told,
        [
            ("country", "country_mismatch"),
            ("currency", "currency_mismatch"),
            ("amount", "amount_mismatch"),
            ("bank_branch_code", "beneficiary_mismatch"),
            ("beneficiary_account_number", "beneficiary_mismatch"),
        ]
    );
    let expected: Vec<_> =
        faults.iter().flat_map(|fault| &fault.context).map(|(_, value)| value.as_str()).collect();
    assert_eq!(expected, ["PAK", "AED", "37912.05"]);
}

#[test]
fn the_amount_is_compared_to_four_decimals() {
    for (amount, fits) in
        [("37912.05", true), ("37912.05004", true), ("37912.0501", false), ("37912.049", false)]
    {
        let mut desk = Desk::new();
        desk.submission.order.amount = dec(amount);
        assert_eq!(desk.accept().is_ok(), fits, "{amount}");
        if fits {
            let (payment, _) = Desk { quote: Some(quote()), ..desk }.accept().expect(amount);
            assert_eq!(payment.amount.to_string(), "37912.05 PKR", "the quote's amount is booked");
        }
    }
}

#[test]
fn the_last_instant_before_expiry_is_in_time() {
    let mut desk = Desk::new();
    desk.now = monday() + Span::secs(300) - Span(1);
    assert!(desk.accept().is_ok());
}

#[test]
fn acceptance_follows_the_quotes_matrix() {
    for state in QuoteState::ALL {
        let mut desk = Desk::new();
        if let Some(quote) = &mut desk.quote {
            quote.state = state;
            quote.payment = (state == QuoteState::Used).then_some(OTHER_PAYMENT);
        }
        match (QuoteState::on(Some(state), QuoteTrigger::Used), desk.accept()) {
            (QuoteStep::To(to), Ok(_)) => assert_eq!(desk.quote.map(|quote| quote.state), Some(to)),
            (QuoteStep::Refused(code), Err(refusal)) => assert_eq!(code, name(&refusal)),
            (step, result) => panic!("{state:?}: {step:?}, but {result:?}"),
        }
    }
}

#[test]
fn a_clean_order_is_queued_with_its_hold_its_events_and_its_job() {
    let (payment, effects, quote) = accepted(0);
    assert_eq!((payment.id, payment.hold, payment.version), (PAYMENT, HOLD, 1));
    assert_eq!(
        (payment.standing.state, payment.standing.msg.as_deref()),
        (PaymentState::Queued, None)
    );
    assert_eq!((payment.review, payment.attempt), (ReviewState::NotNeeded, None));
    assert_eq!((quote.state, quote.payment), (QuoteState::Used, Some(PAYMENT)));
    let events: Vec<_> =
        effects.events.iter().map(|event| (event.kind, event.subject, event.version)).collect();
    assert_eq!(
        events,
        [(EventKind::QuoteUsed, QUOTE.0, 2), (EventKind::PaymentQueued, PAYMENT.0, 1)]
    );
    assert_eq!(effects.job, Some(JobChange::Set(JobKind::Submit, monday())));
    assert_eq!(effects.discrepancy, None);
}

/// No tipping off: the first event is the same whatever screening found.
#[test]
fn the_first_event_never_shows_the_screening_result() {
    let (_, clean, _) = accepted(0);
    for (score, review, msg, events, job) in [
        (84, ReviewState::NotNeeded, None, 2, JobKind::Submit),
        (85, ReviewState::Waiting, Some(IN_REVIEW), 3, JobKind::Review),
        (94, ReviewState::Waiting, Some(IN_REVIEW), 3, JobKind::Review),
        (95, ReviewState::Refused, None, 2, JobKind::Submit),
    ] {
        let (payment, effects, _) = accepted(score);
        assert_eq!((payment.review, payment.standing.msg.as_deref()), (review, msg), "{score}");
        assert_eq!(payment.standing.state, PaymentState::Queued, "{score}");
        assert_eq!(effects.events[..2], clean.events, "{score}");
        assert_eq!(effects.events.len(), events, "{score}");
        assert_eq!(payment.version, i64::try_from(events).expect("few") - 1, "{score}");
        assert_eq!(effects.job, Some(JobChange::Set(job, monday())), "{score}");
        assert_eq!(effects.transfers, clean.transfers, "{score}");
    }
}
