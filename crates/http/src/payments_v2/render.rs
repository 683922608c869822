//! Renders the specification's resources as JSON, straight from domain values. A request, a list, a
//! replay and an event produce the same bytes.

use domain::account_check::AccountAnswer;
use domain::event::Event;
use domain::order::{FIELDS, Field, Form, Order, TIMESTAMP};
use domain::payment::{Payment, PaymentSnapshot, PaymentState};
use domain::quote::Quote;
use domain::recall::Recall;

use crate::write::{self, ArrayWriter, ObjectWriter};

use engine::payments::{EventRecord, EventSubject, Record};

/// Version of the event envelope.
const EVENT_VERSION: &str = "1";

pub fn quote(out: &mut ObjectWriter<'_>, quote: &Quote) {
    let offer = &quote.offer;
    out.plain("id", quote.id);
    out.text("country", offer.country.alpha3());
    out.text("currency", offer.amount.currency.code());
    out.money("amount", offer.amount);
    out.money("amount_destination", offer.amount_destination);
    out.number("rate", offer.rate);
    out.time("timestamp", quote.created_at);
    out.time("expires", quote.expires_at);
    out.number("wallet_rate", offer.wallet_rate);
    out.money("min_amount_destination", offer.min_destination);
    out.money("max_amount_destination", offer.max_destination);
    out.text("wallet_currency", offer.charge.amount.currency.code());
    out.money("wallet_amount", offer.charge.amount);
    out.money("wallet_premium", offer.charge.premium);
    out.money("wallet_txn_cost", offer.charge.cost);
}

/// A payment response with the payment's status at `standing`.
pub fn response(out: &mut ObjectWriter<'_>, payment: &Payment, standing: &PaymentSnapshot) {
    out.plain("id", payment.id);
    out.time("timestamp", standing.state_at);
    out.text("status", standing.state.name());
    out.text_or_null("msg", standing.msg.as_deref());
    out.money("amount", payment.amount);
    out.text("amount_currency", payment.amount.currency.code());
    out.money("base_amount", payment.base);
    out.text("base_currency", payment.base.currency.code());
    out.money("wallet_amount", payment.charge.amount);
    out.text("wallet_currency", payment.charge.amount.currency.code());
    out.money("wallet_premium", payment.charge.premium);
    out.money("wallet_txn_cost", payment.charge.cost);
    out.text_or_null("bank_reference", standing.bank_reference.as_deref());
    // An addition: a reversed payment was paid before, or cancelled.
    if standing.state == PaymentState::Reversed {
        out.time_or_null("settled_at", payment.settled_at);
    }
    // An addition, absent until there is a recall.
    if let Some(recall) = standing.recall {
        out.text("recall_status", recall.name());
    }
}

/// A recall of a payment.
pub fn recall(out: &mut ObjectWriter<'_>, recall: &Recall) {
    out.plain("id", recall.id);
    out.plain("payment_id", recall.payment);
    out.text("status", recall.state.name());
    out.time("timestamp", recall.state_at);
    out.text("reason", recall.reason.name());
    out.text_or_null("text", recall.text.as_deref());
    out.time("created_at", recall.created_at);
    out.time_or_null("sent_at", recall.sent_at);
    out.text_or_null("bank_reason", recall.bank_reason.as_deref());
    out.text_or_null("bank_message", recall.bank_text.as_deref());
}

/// The answer to POST /v2/account-checks.
pub fn account_check(out: &mut ObjectWriter<'_>, answer: &AccountAnswer) {
    out.text("result", answer.name());
    let name = match answer {
        AccountAnswer::CloseMatch(name) => name.as_deref(),
        _ => None,
    };
    out.text_or_null("account_name", name);
}

/// The answer to POST /v2/payment: always as accepted, whatever the current status, and without
/// screening results.
pub fn accepted(out: &mut ObjectWriter<'_>, payment: &Payment) {
    let standing = PaymentSnapshot {
        state: PaymentState::Queued,
        state_at: payment.accepted_at,
        msg: None,
        bank_reference: None,
        recall: None,
    };
    response(out, payment, &standing);
}

/// An order as accepted.
pub fn order(out: &mut ObjectWriter<'_>, order: &Order, payment: &Payment) {
    order_fields(out, order, Field::is_output);
    out.time(TIMESTAMP, payment.accepted_at);
}

/// The members of an order for which `wanted` holds, absent values as null.
pub fn order_fields(out: &mut ObjectWriter<'_>, order: &Order, wanted: impl Fn(&Field) -> bool) {
    for field in FIELDS.iter().filter(|field| wanted(field)) {
        match (field.form, field.shown(order)) {
            (Form::Number | Form::Flag, Some(value)) => out.document(field.name, value.as_bytes()),
            (_, value) => out.text_or_null(field.name, value.as_deref()),
        }
    }
}

/// A payment record with the payment's status at `standing`.
pub fn record(out: &mut ObjectWriter<'_>, record: &Record, standing: &PaymentSnapshot) {
    out.plain("id", record.payment.id);
    out.object("order", |out| order(out, &record.order, &record.payment));
    out.object("response", |out| response(out, &record.payment, standing));
    out.object("quote", |out| quote(out, &record.quote));
}

/// A list of payment records with their current status.
pub fn records(out: &mut ArrayWriter<'_>, records: &[Record]) {
    for each in records {
        out.object(|out| record(out, each, &each.payment.standing));
    }
}

/// An event as in the log: also the body of its webhook.
pub fn event_body(entry: &EventRecord) -> Vec<u8> {
    write::object(|out| event(out, entry))
}

/// An event: the envelope, and the resource at the time of the event.
pub fn event(out: &mut ObjectWriter<'_>, entry: &EventRecord) {
    envelope(out, &entry.event);
    out.object("data", |out| match &entry.subject {
        EventSubject::Quote(of) => quote(out, of),
        EventSubject::Payment(of) => {
            let standing = entry.event.standing.as_ref().unwrap_or(&of.payment.standing);
            record(out, of, standing);
        }
    });
}

fn envelope(out: &mut ObjectWriter<'_>, event: &Event) {
    out.plain("id", event.id);
    out.integer("seq", event.seq);
    out.text("type", event.kind.name());
    out.text("version", EVENT_VERSION);
    out.time("occurred_at", event.at);
}
