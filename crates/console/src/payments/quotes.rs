//! Quotes: the list, and a single quote.

use domain::ids::QuoteId;
use domain::quote::{Quote, QuoteState};

use crate::view::{Section, page};
use crate::{Answer, Cell, Pager, Stop, Table, Tone, Visit};

const ROWS: usize = 50;
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
    let after = visit.query().given("after");
    let no_place = || Stop::Invalid("Unknown position in the list.".to_owned());
    let after = after.map(|text| QuoteId::parse(text).ok_or_else(no_place)).transpose()?;
    let mut found =
        visit.console().store().quotes_before(visit.tenant_id()?, after, ROWS + 1).await?;
    let more = found.len() > ROWS;
    found.truncate(ROWS);
    let next =
        found.last().filter(|_| more).map(|last| visit.href(&format!("/quotes?after={}", last.id)));
    let rows: Vec<_> = found.iter().map(|quote| row(&visit, quote)).collect();
    let shown = if rows.is_empty() { String::new() } else { format!("{} quotes", rows.len()) };
    let table = Table::new("Quotes", &HEAD, rows).or("No quotes.").paged(Pager {
        previous: None,
        next,
        shown,
    });
    let links = after
        .map(|_| (visit.href("/quotes"), "Back to the latest".to_owned()))
        .into_iter()
        .collect();
    page(&visit, "Quotes", vec![Section { links, table: Some(table), ..Section::default() }])
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
