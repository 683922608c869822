//! A webhook delivery: its body, and every attempt with the endpoint's answer.

use domain::delivery::DeliveryAttempt;
use domain::ids::EventId;
use domain::wallet_event::Aggregate;

use super::webhooks::tone;
use crate::view::{FormView, Section, instant, page};
use crate::{Answer, Cell, Table, Tone, Visit};

/// Characters of an answer shown in the list of attempts; the latest is shown in full.
const SHORT_CHARS: usize = 80;

pub(super) async fn show(visit: Visit) -> Answer {
    let (caller, id) = (visit.caller()?, visit.id(EventId::parse)?);
    let wallets = &visit.console().wallets;
    let (record, attempts) = wallets.find_delivery(&caller, id).await?;
    let delivery = &record.delivery;
    let about = match delivery.aggregate {
        Aggregate::Request(id) => Cell::id_link(visit.href(&format!("/requests/{id}")), id),
        Aggregate::Order(id) => Cell::id_link(visit.href(&format!("/orders/{id}")), id),
        Aggregate::Wallet(id) => Cell::id_link(visit.href(&format!("/wallets/{id}")), id),
        Aggregate::Payment(id) => Cell::id_link(visit.href(&format!("/payments/{id}")), id),
        Aggregate::Quote(id) => Cell::id(id),
    };
    let facts = vec![
        ("Status", Cell::state(delivery.state.name(), tone(delivery.state))),
        ("Event", Cell::text(record.event.kind_name())),
        ("Id", Cell::id(delivery.event)),
        ("About", about),
        ("Sequence", Cell::number(delivery.version)),
        ("Happened", Cell::When(record.event.at())),
        ("Next attempt", instant(delivery.next_at)),
        ("Delivered", instant(delivery.delivered_at)),
        ("Tries", Cell::number(delivery.attempts)),
    ];
    let rows = attempts.iter().map(attempt_row).collect();
    let head = ["Attempt", "Time", "HTTP status", "Took", "Result", "Answer"];
    let table = Table::new("Attempts", &head, rows).or("No attempts yet.");
    let body = String::from_utf8_lossy(&wallets.envelope(&record.event)?).into_owned();
    let mut exact = vec![("Request body".to_owned(), body)];
    let newest = attempts.last().filter(|attempt| !attempt.body.is_empty());
    exact.extend(newest.map(|attempt| ("Latest answer".to_owned(), attempt.body.clone())));
    let mut sections = vec![
        Section { facts, ..Section::default() },
        Section { title: "Tries".to_owned(), table: Some(table), ..Section::default() },
        Section { title: "Bodies".to_owned(), exact, ..Section::default() },
    ];
    if visit.may_use("POST", "/console/t/{tenant}/webhooks/deliveries/{id}/resend") {
        let to = visit.href(&format!("/webhooks/deliveries/{id}/resend"));
        let form = FormView::new("resend", "Redeliver", to, "Resend")
            .says("Resends the same body under the same id, by which the endpoint recognizes a duplicate.");
        sections.push(Section { forms: vec![form.why()], ..Section::default() });
    }
    page(&visit, "Delivery", sections)
}

fn attempt_row(attempt: &DeliveryAttempt) -> Vec<Cell> {
    let result = match &attempt.fault {
        None => Cell::state("received", Tone::Good),
        Some(fault) => Cell::state(fault.as_str(), Tone::Bad),
    };
    let short: String = attempt.body.chars().take(SHORT_CHARS).collect();
    vec![
        Cell::number(attempt.number),
        Cell::When(attempt.at),
        attempt.status.map_or(Cell::Empty, Cell::number),
        Cell::number(format!("{} ms", attempt.took.0 / 1_000)),
        result,
        Cell::maybe(Some(short).filter(|short| !short.is_empty())),
    ]
}

pub(super) async fn resend(visit: Visit) -> Answer {
    let (id, why) = (visit.id(EventId::parse)?, visit.why()?.to_owned());
    visit.console().wallets.require_endpoint_in_use(&visit.caller()?).await?;
    visit.console().wallets.redeliver(&visit.caller()?, id, visit.deed(&why), None).await?;
    Ok(visit
        .done(&visit.href(&format!("/webhooks/deliveries/{id}")), "The delivery was queued again."))
}
