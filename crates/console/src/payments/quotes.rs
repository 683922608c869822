//! Quotes: the list with filters, as a page and as a file, and a single quote.

use domain::country::Country;
use domain::ids::QuoteId;
use domain::quote::{Quote, QuoteState};
use engine::wallets::Wanted;

use crate::export::{self, Csv};
use crate::lists::{HIDDEN, chips, dated_filters, none, period, views, with_columns};
use crate::view::{Field, Section, asked, latest, page, query, turned, turns};
use crate::wallets::every_page;
use crate::{Answer, Cell, Stop, Table, Tone, Visit, saved_views};

const FILTERS: [(&str, &str); 4] =
    [("state", "State"), ("country", "Country"), ("from", "Created from"), ("to", "Created to")];
const NAMES: [&str; 5] = ["state", "country", "from", "to", HIDDEN];
const VIEWS: [(&str, &str); 4] =
    [("All", ""), ("Active", "state=active"), ("Used", "state=used"), ("Expired", "state=expired")];

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

fn wanted(visit: &Visit) -> Result<(Wanted<QuoteState>, Option<Country>), Stop> {
    let (start, end) = period(visit)?;
    let states = asked(visit, "state", QuoteState::parse)?;
    let country = asked(visit, "country", Country::parse)?.pop();
    Ok((Wanted { states, start, end }, country))
}

pub(super) async fn list(visit: Visit) -> Answer {
    let saved = match saved_views::of(&visit, "quotes").await? {
        Ok(saved) => Some(saved),
        Err(opening) => return Ok(opening),
    };
    let (path, (wanted, country)) = (visit.href("/quotes"), wanted(&visit)?);
    let (store, tenant) = (visit.console().store(), visit.tenant_id()?);
    let found = store.office_quotes(tenant, &wanted, country, turned(&visit)?).await?;
    let rows: Vec<_> = found.rows.iter().map(|quote| row(&visit, quote)).collect();
    let table = Table::new("Quotes", &HEAD, rows)
        .or(none(&visit, "No quotes yet.", "No quotes match.", &NAMES))
        .paged(turns(&visit, &path, &NAMES, &found));
    let mut links = export::links(&visit, "quotes", &query(&visit, &NAMES));
    links.extend(latest(&visit, &path, &NAMES));
    let state = Field::one_of("state", "State", QuoteState::ALL.map(QuoteState::name));
    let mut filters = dated_filters(&visit, state, "Created from");
    let countries: Vec<_> = Country::ALL.iter().map(|it| (it.alpha3(), it.name())).collect();
    let country = Field::choice("country", "Country", &countries).or_all();
    filters.fields.insert(1, country.as_asked(visit.query()));
    let section = Section {
        links,
        views: views(&visit, &path, &NAMES[..4], &VIEWS),
        saved,
        filters: Some(filters),
        chips: chips(&visit, &path, &FILTERS),
        table: Some(with_columns(&visit, &path, &NAMES[..4], table)),
        ..Section::default()
    };
    page(&visit, "Quotes", vec![section])
}

pub(super) async fn export(visit: Visit) -> Answer {
    let (tenant, (wanted, country)) = (visit.tenant_id()?, wanted(&visit)?);
    let head = [
        "quote_id",
        "state",
        "country",
        "amount",
        "currency",
        "amount_destination",
        "currency_destination",
        "rate",
        "created_at",
        "expires_at",
        "payment_id",
    ];
    let shown: [&[&str]; HEAD.len()] = [
        &["quote_id"],
        &["state"],
        &["country"],
        &["amount", "currency"],
        &["amount_destination", "currency_destination"],
        &["rate"],
        &["created_at"],
        &["expires_at"],
    ];
    let mut csv = Csv::shown(&visit, &head, &shown);
    let (store, now) = (visit.console().store(), visit.console().now());
    every_page(
        |page| Box::pin(store.office_quotes(tenant, &wanted, country, page)),
        |quote| {
            let (offer, is_past) = (&quote.offer, quote.is_past(now));
            let is_over = quote.state == QuoteState::Active && is_past;
            let state = if is_over { QuoteState::Expired } else { quote.state };
            csv.row([
                quote.id.to_string(),
                state.name().to_owned(),
                offer.country.alpha3().to_owned(),
                offer.amount.decimal().to_string(),
                offer.amount.currency.code().to_owned(),
                offer.amount_destination.decimal().to_string(),
                offer.amount_destination.currency.code().to_owned(),
                offer.rate.to_string(),
                quote.created_at.to_string(),
                quote.expires_at.to_string(),
                quote.payment.map(|payment| payment.to_string()).unwrap_or_default(),
            ]);
        },
    )
    .await?;
    csv.taken(&visit, "quotes.csv").await
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
