//! Acceptance of an order: all conditions, in the order in which they are reported (`decisions.md`,
//! "Precedence").

use super::{
    Cx, Effects, JobChange, NewEvent, Payment, PaymentSnapshot, PaymentState, ReviewState, booking,
};
use crate::event::EventKind;
use crate::fault::Fault;
use crate::ids::{PaymentId, TransferId};
use crate::job::JobKind;
use crate::ledger::Account;
use crate::money::Money;
use crate::order::Order;
use crate::quote::{Quote, QuoteState};
use crate::screening::{Screened, Verdict};

/// Message of a payment in review.
pub const IN_REVIEW: &str = "in review";
/// Message of a payment that compliance rejected: neutral on purpose.
pub const NOT_EXECUTABLE: &str = "payment cannot be executed";

/// Reason for refusing an order. The order of the variants is the precedence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The tenant already used this external_id.
    #[error("external_id is already used by payment {0}")]
    ExternalIdConflict(PaymentId),
    /// The quote does not exist or belongs to another tenant.
    #[error("The quote was not found")]
    QuoteNotFound,
    /// Another payment uses the quote.
    #[error("The quote is already used by payment {0}")]
    QuoteUsed(PaymentId),
    /// The quote has expired.
    #[error("The quote has expired; request a new one")]
    QuoteExpired,
    /// The order does not match its quote.
    #[error("the order does not match its quote: {}", crate::fault::listed(.0))]
    Mismatch(Vec<Fault>),
    /// The prefund account cannot cover the debit.
    #[error("The prefund account is too low: {available} available, {needed} needed")]
    InsufficientBalance {
        /// Available amount of the account.
        available: Money,
        /// Cost of the payment.
        needed: Money,
    },
}

/// An order to accept, with the results of checks made in memory.
#[derive(Clone, Debug)]
pub struct Submission {
    /// Order that has passed all field rules of its country.
    pub order: Order,
    /// Screening result of its names.
    pub screened: Screened,
    /// Id of the payment.
    pub payment: PaymentId,
    /// Id of its reservation.
    pub hold: TransferId,
}

/// Accepts an order. `taken` is the payment that already has the order's external_id; `bound`
/// states whether the order's account and branch match those of the quote.
pub fn accept(
    quote: Option<&mut Quote>,
    submission: &Submission,
    taken: Option<PaymentId>,
    bound: &[Fault],
    prefund: &Account,
    cx: &mut Cx<'_>,
) -> Result<(Payment, Effects), Refusal> {
    if let Some(payment) = taken {
        return Err(Refusal::ExternalIdConflict(payment));
    }
    let quote = quote.ok_or(Refusal::QuoteNotFound)?;
    usable(quote, cx)?;
    fits(quote, &submission.order, bound)?;
    let payment = queued(quote, submission, cx);
    let hold = booking::reserve(&payment);
    let available = prefund.available();
    if available.minor < hold.amount.minor {
        return Err(Refusal::InsufficientBalance { available, needed: hold.amount });
    }
    quote.state = QuoteState::Used;
    quote.payment = Some(payment.id);
    let mut effects = Effects { transfers: vec![hold], ..Effects::default() };
    effects.events.push(NewEvent {
        kind: EventKind::QuoteUsed,
        subject: quote.id.0,
        version: 2,
        standing: None,
    });
    Ok(start(payment, effects, cx))
}

fn usable(quote: &Quote, cx: &Cx<'_>) -> Result<(), Refusal> {
    match (quote.state, quote.payment) {
        (QuoteState::Used, Some(payment)) => Err(Refusal::QuoteUsed(payment)),
        (QuoteState::Used, None) | (QuoteState::Expired, _) => Err(Refusal::QuoteExpired),
        (QuoteState::Active, _) if quote.is_past(cx.now) => Err(Refusal::QuoteExpired),
        (QuoteState::Active, _) => Ok(()),
    }
}

fn fits(quote: &Quote, order: &Order, bound: &[Fault]) -> Result<(), Refusal> {
    let offer = &quote.offer;
    let mut faults = Vec::new();
    if order.country != offer.country {
        let message = format!("The quote is for {}", offer.country.alpha3());
        faults.push(
            Fault::new("country", "country_mismatch", message)
                .with("expected", offer.country.alpha3()),
        );
    }
    if order.currency != offer.amount.currency {
        let code = offer.amount.currency.code();
        let message = format!("The quote is in {code}");
        faults.push(Fault::new("currency", "currency_mismatch", message).with("expected", code));
    }
    if !quote.is_paid_by(order.amount) {
        let expected = quote.expected_amount();
        let message = format!(
            "Must equal the quote's rate times its amount: {expected}; send back the quote's amount_destination"
        );
        faults.push(Fault::new("amount", "amount_mismatch", message).with("expected", expected));
    }
    faults.extend(bound.iter().cloned());
    if faults.is_empty() { Ok(()) } else { Err(Refusal::Mismatch(faults)) }
}

fn queued(quote: &Quote, submission: &Submission, cx: &Cx<'_>) -> Payment {
    let review = match submission.screened.verdict() {
        Verdict::Clean => ReviewState::NotNeeded,
        Verdict::Review => ReviewState::Waiting,
        Verdict::Hit => ReviewState::Refused,
    };
    Payment {
        id: submission.payment,
        tenant: quote.tenant,
        country: quote.offer.country,
        quote: quote.id,
        external_id: submission.order.external_id.clone(),
        amount: quote.offer.amount_destination,
        base: quote.offer.amount,
        charge: quote.offer.charge,
        remainder: quote.offer.remainder,
        hold: submission.hold,
        accepted_at: cx.now,
        standing: PaymentSnapshot {
            state: PaymentState::Queued,
            state_at: cx.now,
            msg: None,
            bank_reference: None,
            recall: None,
        },
        version: 0,
        review,
        screened: submission.screened.clone(),
        unclear_since: None,
        settled_at: None,
        attempt: None,
        recall: None,
    }
}

/// The first event and the first job. The answer to the client is the same whatever screening found
/// (no tipping off): a review shows in later events only, a hit is rejected by the job.
fn start(mut payment: Payment, mut effects: Effects, cx: &Cx<'_>) -> (Payment, Effects) {
    payment.record(EventKind::PaymentQueued, &mut effects);
    let kind = match payment.review {
        ReviewState::Waiting => {
            payment.wait_for_review(&mut effects);
            JobKind::Review
        }
        ReviewState::NotNeeded | ReviewState::Approved | ReviewState::Refused => JobKind::Submit,
    };
    effects.job = Some(JobChange::Set(kind, cx.now));
    (payment, effects)
}
