//! Quotes: the list, and a single quote.

use domain::ids::QuoteId;
use domain::quote::{Quote, QuoteState};

use crate::lists::{HIDDEN, none, with_columns};
use crate::view::{Section, latest, page, turned, turns};
use crate::{Answer, Cell, Stop, Table, Tone, Visit};

pub(super) const HEAD: [&str; 8] = [
    "Quote",
    "State",
    "Country",
    "Payer pays",
    "Beneficiary receives",
    "Rate",
    "Created",
    "Expires",
];

/// The current state: a quote that has just expired may not be marked yet.
fn state(visit: &Visit, quote: &Quote) -> Cell {
    match quote.state {
        QuoteState::Active if quote.is_past(visit.console().now()) => {
            Cell::state("expired", Tone::Plain)
        }
        QuoteState::Active => Cell::state("active", Tone::Busy),
        QuoteState::Used => Cell::state("used", Tone::Good),
        QuoteState::Expired => Cell::state("expired", Tone::Plain),
    }
}

pub(super) fn row(visit: &Visit, quote: &Quote) -> Vec<Cell> {
    let offer = &quote.offer;
    vec![
        Cell::id_link(visit.href(&format!("/quotes/{}", quote.id)), quote.id),
        state(visit, quote),
        Cell::text(offer.country.alpha3()),
        Cell::number(offer.amount),
        Cell::number(offer.amount_destination),
        Cell::number(offer.rate),
        Cell::When(quote.created_at),
        Cell::When(quote.expires_at),
    ]
}

pub(super) async fn list(visit: Visit) -> Answer {
    let (path, names) = (visit.href("/quotes"), [HIDDEN]);
    let found = visit.console().store().office_quotes(visit.tenant_id()?, turned(&visit)?).await?;
    let rows: Vec<_> = found.rows.iter().map(|quote| row(&visit, quote)).collect();
    let table = Table::new("Quotes", &HEAD, rows)
        .or(none(&visit, "No quotes yet.", "No quotes here.", &names))
        .paged(turns(&visit, &path, &names, &found));
    let links = latest(&visit, &path, &names).into_iter().collect();
    let table = Some(with_columns(&visit, &path, &[], table));
    page(&visit, "Quotes", vec![Section { links, table, ..Section::default() }])
}

pub(super) async fn show(visit: Visit) -> Answer {
    let id = visit.id(QuoteId::parse)?;
    let quote =
        visit.console().payments.find_quote(&visit.caller()?, id).await?.ok_or(Stop::NotFound)?;
    let offer = &quote.offer;
    let payment = quote.payment.map(|id| Cell::id_link(visit.href(&format!("/payments/{id}")), id));
    let facts = vec![
        ("State", state(&visit, &quote)),
        ("Quote", Cell::id(quote.id)),
        ("Used by payment", payment.unwrap_or(Cell::Empty)),
        ("Country", Cell::text(offer.country.alpha3())),
        ("Payer pays", Cell::number(offer.amount)),
        ("Beneficiary receives", Cell::number(offer.amount_destination)),
        ("Rate", Cell::number(offer.rate)),
        ("Mid rate of the stablecoin", Cell::number(offer.wallet_rate)),
        ("Debited for the amount", Cell::number(offer.charge.amount)),
        ("Debited as service fee", Cell::number(offer.charge.premium)),
        ("Debited for the rail", Cell::number(offer.charge.cost)),
        ("Minimum payout", Cell::number(offer.min_destination)),
        ("Maximum payout", Cell::number(offer.max_destination)),
        ("Bound to an account", Cell::text(if offer.account.is_some() { "yes" } else { "no" })),
        ("Bound to a branch", Cell::maybe(offer.branch.clone())),
        ("Made", Cell::When(quote.created_at)),
        ("Expires", Cell::When(quote.expires_at)),
    ];
    let events = visit.console().store().events_of(visit.tenant_id()?, id.0).await?;
    let row = |event: &domain::event::Event| {
        vec![
            Cell::text(event.kind.name()),
            Cell::When(event.at),
            Cell::number(event.seq),
            Cell::id(event.id),
        ]
    };
    let rows: Vec<_> = events.iter().map(row).collect();
    let table = Table::new("Events", &["Event", "Time", "Sequence", "Id"], rows)
        .or("Its events have expired.");
    let events = Section { title: "Events".to_owned(), table: Some(table), ..Section::default() };
    page(&visit, "Quote", vec![Section { facts, ..Section::default() }, events])
}
