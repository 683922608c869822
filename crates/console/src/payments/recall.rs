//! Stopping a payment: cancelling one that no rail has, and recalling one that a rail has. Each has
//! a page of its own that states the consequences.

use domain::attempt::Attempt;
use domain::ids::PaymentId;
use domain::payment::{Payment, PaymentState};
use domain::recall::{RECALL_TEXT_MAX_CHARS, Recall, RecallReason, RecallState};
use engine::backoffice::{self, Case};

use crate::parts::Table;
use crate::view::{Field, FormView, Moment, Section, instant, page};
use crate::{Answer, Cell, Stop, Tone, Visit};

const CANCEL: &str = "/console/t/{tenant}/payments/{id}/cancel";
const RECALL: &str = "/console/t/{tenant}/payments/{id}/recall";

/// The reasons that a user can choose.
const REASONS: [(RecallReason, &str); 9] = [
    (RecallReason::Customer, "the customer asks for it"),
    (RecallReason::Duplicate, "it is a duplicate"),
    (RecallReason::Fraud, "fraud, or a suspicion of it"),
    (RecallReason::Technical, "a technical problem"),
    (RecallReason::Undue, "it was not justified"),
    (RecallReason::WrongAccount, "wrong account number"),
    (RecallReason::WrongAmount, "wrong amount"),
    (RecallReason::WrongAgent, "wrong bank"),
    (RecallReason::WrongCurrency, "wrong currency"),
];

/// The state in people's words.
const fn words(state: RecallState) -> (&'static str, Tone) {
    match state {
        RecallState::Requested => ("Being sent", Tone::Busy),
        RecallState::Sent => ("Waiting for the bank", Tone::Busy),
        RecallState::Accepted => ("Agreed, money not back", Tone::Warn),
        RecallState::Refused => ("Refused", Tone::Bad),
        RecallState::Unanswered => ("No answer", Tone::Warn),
        RecallState::Returned => ("Returned", Tone::Good),
        RecallState::Closed => ("Closed", Tone::Plain),
    }
}

/// Whether no rail can have the payment.
fn is_unsent(payment: &Payment, last: Option<&Attempt>) -> bool {
    payment.standing.state == PaymentState::Queued
        && last.is_none_or(|attempt| attempt.state.is_refused())
}

/// Whether a rail has or may have money of it.
fn is_at_a_bank(payment: &Payment, last: Option<&Attempt>) -> bool {
    let state = payment.standing.state;
    (!state.is_terminal() || state == PaymentState::Succeeded) && !is_unsent(payment, last)
}

fn open(case: &Case) -> Option<&Recall> {
    case.recalls.first().filter(|recall| recall.state.is_open())
}

/// The way to stop the payment, if there is one.
pub(super) fn link(visit: &Visit, case: &Case) -> Option<(String, String)> {
    let (payment, last) = (&case.record.payment, case.attempts.last());
    let to = |below: &str| visit.href(&format!("/payments/{}/{below}", payment.id));
    if is_unsent(payment, last) && visit.may_use("GET", CANCEL) {
        return Some((to("cancel"), "Cancel the payment".to_owned()));
    }
    let is_open = open(case).is_some();
    let text = if is_open { "View the recall" } else { "Recall the payment" };
    let may = visit.may_use("GET", RECALL) && is_at_a_bank(payment, last);
    may.then(|| (to("recall"), text.to_owned()))
}

/// The recalls, newest first; `None` without any.
pub(super) fn section(case: &Case) -> Option<Section> {
    let row = |recall: &Recall| {
        let (text, tone) = words(recall.state);
        vec![
            Cell::state(text, tone),
            Cell::text(recall.reason.name()),
            Cell::maybe(recall.text.clone()),
            Cell::When(recall.created_at),
            instant(recall.sent_at),
            Cell::When(recall.state_at),
            Cell::maybe(answer(recall)),
            Cell::id(recall.id),
        ]
    };
    let head = [
        "State",
        "Reason",
        "Explanation",
        "Requested",
        "Sent",
        "Changed",
        "Bank's answer",
        "Recall",
    ];
    let rows: Vec<_> = case.recalls.iter().map(row).collect();
    let table = (!rows.is_empty()).then(|| Table::new("Recalls", &head, rows))?;
    Some(Section { title: "Recalls".to_owned(), table: Some(table), ..Section::default() })
}

fn answer(recall: &Recall) -> Option<String> {
    let parts = [recall.bank_reason.as_deref(), recall.bank_text.as_deref()];
    let text = parts.into_iter().flatten().collect::<Vec<_>>().join(": ");
    Some(text).filter(|text| !text.is_empty())
}

/// What happened to the recalls.
pub(super) fn moments(case: &Case) -> Vec<Moment> {
    let mut moments = Vec::new();
    for recall in &case.recalls {
        let (rail, reason) = (&recall.rail, recall.reason.name());
        let asked = format!("Recall requested from {rail}: {reason}");
        moments.push(
            Moment::new(recall.created_at, 5, Tone::Busy, asked)
                .detail(recall.text.clone().unwrap_or_default()),
        );
        let title = match recall.state {
            RecallState::Requested | RecallState::Sent => continue,
            RecallState::Accepted => format!("{rail} agreed to the recall; the money is not back"),
            RecallState::Refused => format!("{rail} refused the recall"),
            RecallState::Unanswered => format!("{rail} has not answered the recall"),
            RecallState::Returned => "The recall is complete".to_owned(),
            RecallState::Closed => "The recall is closed".to_owned(),
        };
        let tone = words(recall.state).1;
        let detail = answer(recall).unwrap_or_default();
        moments.push(Moment::new(recall.state_at, 9, tone, title).detail(detail));
        let source = recall.source.as_deref().unwrap_or("Corridor");
        let text = format!("Recall {} {}, source {source}", recall.id, recall.state.name());
        moments.push(Moment::technical(recall.state_at, 10, text));
    }
    moments
}

async fn case(visit: &Visit) -> Result<Case, Stop> {
    let id = visit.id(PaymentId::parse)?;
    backoffice::case(visit.console().store(), visit.tenant_id()?, id).await?.ok_or(Stop::NotFound)
}

fn facts(case: &Case) -> Vec<(&'static str, Cell)> {
    let (payment, order) = (&case.record.payment, &case.record.order);
    vec![
        ("Payment", Cell::id(payment.id)),
        ("Amount", Cell::number(payment.amount)),
        ("Beneficiary", Cell::text(order.beneficiary_name.as_str())),
        ("Status in the API", Cell::text(payment.standing.state.name())),
        ("Rail", Cell::maybe(case.attempts.last().map(|attempt| attempt.rail.to_string()))),
    ]
}

/// A page with the payment's facts and one form.
fn asking(visit: &Visit, title: &str, case: &Case, form: Option<FormView>) -> Answer {
    let back = visit.href(&format!("/payments/{}", case.record.payment.id));
    let sections = vec![
        Section { facts: facts(case), ..Section::default() },
        Section {
            forms: form.into_iter().collect(),
            links: vec![(back, "Back to the payment".to_owned())],
            ..Section::default()
        },
    ];
    page(visit, title, sections)
}

pub(super) async fn ask_to_cancel(visit: Visit) -> Answer {
    let case = case(&visit).await?;
    let payment = &case.record.payment;
    if !is_unsent(payment, case.attempts.last()) {
        let words = "This payment was sent to a rail or has ended: it cannot be cancelled.";
        return Err(Stop::Refused(words.to_owned()));
    }
    let to = visit.href(&format!("/payments/{}/cancel", payment.id));
    let form = FormView::new("cancel", "", to, "Cancel the payment").says(
        "No rail has received it, and none will. The reserved amount is released, and the client sees the payment as \
         reversed. This cannot be undone. If it is sent in the meantime, nothing is cancelled.",
    );
    asking(&visit, "Cancel this payment?", &case, Some(form.why().danger()))
}

pub(super) async fn cancel(visit: Visit) -> Answer {
    let (id, why) = (visit.id(PaymentId::parse)?, visit.why()?.to_owned());
    let payments = &visit.console().payments;
    payments.cancel(visit.tenant_id()?, id, visit.deed(&why), None).await?;
    Ok(visit.done(&visit.href(&format!("/payments/{id}")), "The payment is cancelled."))
}

pub(super) async fn ask_to_recall(visit: Visit) -> Answer {
    let case = case(&visit).await?;
    let payment = &case.record.payment;
    if let Some(recall) = open(&case) {
        let closable = recall.is_closable(visit.console().now());
        let to = visit.href(&format!("/payments/{}/recall/close", payment.id));
        let form = closable.then(|| {
            FormView::new("close", "", to, "Close the recall")
                .says("The payment stays as it is. A return that arrives later is still booked.")
                .why()
                .danger()
        });
        let title = format!("Recall: {}", words(recall.state).0.to_lowercase());
        return asking(&visit, &title, &case, form);
    }
    if !is_at_a_bank(payment, case.attempts.last()) {
        let words = "No rail has money of this payment: there is nothing to recall.";
        return Err(Stop::Refused(words.to_owned()));
    }
    let to = visit.href(&format!("/payments/{}/recall", payment.id));
    let reasons: Vec<(&str, &str)> =
        REASONS.iter().map(|(reason, text)| (reason.name(), *text)).collect();
    let form = FormView::new("recall", "", to, "Request the recall")
        .says(
            "The bank is asked to return the payment; it may refuse. Nothing is booked until the money is back. If \
             the bank turns out not to have it, it is cancelled and not sent again.",
        )
        .field(Field::choice("code", "Reason for the bank", &reasons).unchosen())
        .field(Field::line("text", "Explanation for the bank").optional());
    asking(&visit, "Recall this payment?", &case, Some(form.why().danger()))
}

pub(super) async fn recall(visit: Visit) -> Answer {
    let (id, why) = (visit.id(PaymentId::parse)?, visit.why()?.to_owned());
    let reason = RecallReason::parse(visit.form().text("code"));
    let reason = reason.ok_or_else(|| Stop::wrong("code", "Please choose the reason."))?;
    let text = visit.form().given("text").map(str::to_owned);
    if text.as_ref().is_some_and(|text| text.chars().count() > RECALL_TEXT_MAX_CHARS) {
        let words = format!("An explanation has at most {RECALL_TEXT_MAX_CHARS} characters.");
        return Err(Stop::wrong("text", words));
    }
    let payments = &visit.console().payments;
    payments.recall(visit.tenant_id()?, id, (reason, text), visit.deed(&why), None).await?;
    Ok(visit.done(&visit.href(&format!("/payments/{id}")), "The recall is requested."))
}

pub(super) async fn close(visit: Visit) -> Answer {
    let why = visit.why()?.to_owned();
    let case = case(&visit).await?;
    let id = case.record.payment.id;
    let recall =
        open(&case).ok_or_else(|| Stop::Refused("This payment has no open recall.".to_owned()))?;
    let payments = &visit.console().payments;
    payments.close_recall(visit.tenant_id()?, id, recall.id, visit.deed(&why)).await?;
    Ok(visit.done(&visit.href(&format!("/payments/{id}")), "The recall is closed."))
}
