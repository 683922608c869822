//! All payments of a tenant with filters: cursor-paged, and as a file.

use axum::response::Response;
use domain::characters::with_ascii_digits;
use domain::country::Country;
use domain::currency::{Currency, StableCoin};
use domain::decimal::Decimal;
use domain::ids::PaymentId;
use domain::order::{FIELDS, Order};
use domain::payment::{Payment, PaymentState, ReviewState};
use domain::payment_search::{ACCOUNT_END_CHARS, Reading};
use domain::rail::RailId;
use domain::time::{Span, Timestamp};
use engine::backoffice::{IdFrom, PageFrom, PaymentMark, PaymentsPage, PaymentsWanted};
use engine::payments::Record;

use super::{day, masked, people_state};
use crate::export::{self, Csv};
use crate::lists::{HIDDEN, none, views, with_columns};
use crate::parts::grouped;
use crate::view::{Field, FormView, Section, page, query};
use crate::{Answer, Cell, Pager, Stop, Table, Visit, encoded, saved_views, typed_amount};
use http_api::payment_file::{COLUMNS, PaymentLine, order_cells};

const ROWS: usize = 50;
/// Payments per read of an export.
const EXPORT_ROWS: usize = 1_000;
/// Maximum number of payments in an export; for more, use the API.
const EXPORT_MAX: usize = 50_000;
/// Names of the filters in the query, with their labels.
const FILTERS: [(&str, &str); 11] = [
    ("status", "Status"),
    ("country", "Country"),
    ("from", "Accepted from"),
    ("to", "Accepted to"),
    ("least", "Amount at least"),
    ("most", "Amount at most"),
    ("currency", "Amount in"),
    ("account", "Account ending"),
    ("reference", "Reference"),
    ("rail", "Rail"),
    ("review", "Review"),
];
const VIEWS: [(&str, &str); 5] = [
    ("All", ""),
    ("Needs review", "status=for-people"),
    ("Unconfirmed", "status=unknown"),
    ("Failed", "status=failed"),
    ("Returned", "status=reversed"),
];
/// Labels of the review states.
const REVIEWS: [(ReviewState, &str); 4] = [
    (ReviewState::Waiting, "waiting"),
    (ReviewState::Approved, "approved"),
    (ReviewState::Refused, "rejected"),
    (ReviewState::NotNeeded, "not needed"),
];
/// Greatest amount that can be filtered by.
const AMOUNT_MAX: i64 = 1_000_000_000_000;
/// The filter that is not a state: payments held for review.
const FOR_PEOPLE: &str = "for-people";

/// Parses a position, `{microseconds}.{id}`.
fn parse_mark(text: &str) -> Option<PaymentMark> {
    let (at, id) = text.split_once('.')?;
    Some(PaymentMark { at: Timestamp(at.parse().ok()?), payment: PaymentId::parse(id)? })
}

fn wanted(visit: &Visit, limit: usize, from: Option<PageFrom>) -> Result<PaymentsWanted, Stop> {
    let asked = visit.query();
    let no = |name, what: &str| Stop::wrong(name, format!("Unknown {what}."));
    let state = asked
        .given("status")
        .filter(|text| *text != FOR_PEOPLE)
        .map(|text| PaymentState::parse(text).ok_or_else(|| no("status", "status")))
        .transpose()?;
    let country = asked
        .given("country")
        .map(|text| Country::parse(text).ok_or_else(|| no("country", "country")))
        .transpose()?;
    let review = asked
        .given("review")
        .map(|text| ReviewState::parse(text).ok_or_else(|| no("review", "review state")))
        .transpose()?;
    Ok(PaymentsWanted {
        countries: country.into_iter().collect(),
        states: state.into_iter().collect(),
        start: day(visit, "from")?,
        end: day(visit, "to")?.map(|end| end + Span::days(1)),
        review,
        rail: asked.given("rail").map(RailId::new),
        reference: asked.given("reference").map(str::to_owned),
        amount: amount(visit)?,
        account: account(visit)?,
        from,
        limit,
    })
}

/// The page after or before a payment.
fn from(visit: &Visit) -> Result<Option<PageFrom>, Stop> {
    let read = |name| {
        let no_place = || Stop::Invalid("Unknown position in the list.".to_owned());
        let text = visit.query().given(name);
        text.map(|text| parse_mark(text).ok_or_else(no_place)).transpose()
    };
    let after = read("after")?.map(PageFrom::After);
    Ok(after.or(read("before")?.map(PageFrom::Before)))
}

/// The bounds of an amount and its currency.
fn amount(visit: &Visit) -> Result<Option<Reading>, Stop> {
    let asked = visit.query();
    let bound = |name, label: &str| {
        let wrong = || Stop::wrong(name, format!("{label}: enter an amount such as 37,910.50."));
        let is_fine =
            |value: &Decimal| *value >= Decimal::ZERO && *value <= Decimal::from_int(AMOUNT_MAX);
        let read = |text: &str| {
            typed_amount(text).and_then(|it| Decimal::parse_exact(&it)).filter(is_fine)
        };
        asked.given(name).map(|text| read(text).ok_or_else(wrong)).transpose()
    };
    let (least, most) = (bound("least", "Amount at least")?, bound("most", "Amount at most")?);
    let unknown = || Stop::wrong("currency", "Unknown currency.");
    let currency = asked.given("currency");
    let currency = currency.map(|text| Currency::parse(text).ok_or_else(unknown)).transpose()?;
    if least.is_none() && most.is_none() && currency.is_none() {
        return Ok(None);
    }
    Ok(Some(Reading::Amount {
        low: least.unwrap_or(Decimal::ZERO),
        high: most.unwrap_or(Decimal::from_int(AMOUNT_MAX)),
        currencies: currency.into_iter().collect(),
    }))
}

/// The end of the beneficiary's account.
fn account(visit: &Visit) -> Result<Option<Reading>, Stop> {
    let Some(text) = visit.query().given("account") else { return Ok(None) };
    let reading = Reading::account(&with_ascii_digits(text));
    match reading.term() {
        Some(_) => Ok(Some(reading)),
        None => {
            let rule =
                format!("Account ending: enter at least {ACCOUNT_END_CHARS} letters or digits.");
            Err(Stop::wrong("account", rule))
        }
    }
}

/// A page of matching payments.
async fn found(visit: &Visit, limit: usize, from: Option<PageFrom>) -> Result<PaymentsPage, Stop> {
    let (store, tenant) = (visit.console().store(), visit.tenant_id()?);
    let wanted = wanted(visit, limit, from)?;
    if visit.query().text("status") != FOR_PEOPLE {
        return Ok(store.payments_page(tenant, &wanted).await?);
    }
    if wanted.rail.is_some() {
        let rule = "Payments that need review cannot be filtered by rail.";
        return Err(Stop::wrong("rail", rule));
    }
    in_review(visit, &wanted).await
}

/// A page of the payments that need review, oldest first: read on until it is full.
async fn in_review(visit: &Visit, wanted: &PaymentsWanted) -> Result<PaymentsPage, Stop> {
    let (store, tenant) = (visit.console().store(), visit.tenant_id()?);
    let mark_of = |payment: &Payment| PaymentMark { at: payment.accepted_at, payment: payment.id };
    let (mark, is_backward) = match wanted.from {
        None => (None, false),
        Some(PageFrom::After(mark)) => (Some(mark), false),
        Some(PageFrom::Before(mark)) => (Some(mark), true),
    };
    let way = if is_backward { IdFrom::Before } else { IdFrom::After };
    let (mut records, mut from) = (Vec::new(), mark.map(|mark| way(mark.payment)));
    let further = loop {
        let page = store.payments_in_review(tenant, from, wanted.limit - records.len()).await?;
        let end = if is_backward { page.rows.first() } else { page.rows.last() };
        let further = end.filter(|_| page.more).map(|record| mark_of(&record.payment));
        from = further.map(|mark| way(mark.payment));
        let fitting = page.rows.into_iter().filter(|record| wanted.admits(record));
        match is_backward {
            true => records.splice(..0, fitting).for_each(drop),
            false => records.extend(fitting),
        }
        if further.is_none() || records.len() >= wanted.limit {
            break further;
        }
    };
    let back = if is_backward { records.last() } else { records.first() };
    let back = mark.map(|mark| back.map_or(mark, |record| mark_of(&record.payment)));
    let (previous, next) = if is_backward { (further, back) } else { (back, further) };
    Ok(PaymentsPage { records, next, previous, is_cut: false })
}

/// The state in people's words.
pub(super) fn state_cell(record: &Record) -> Cell {
    let (word, tone) = people_state(&record.payment);
    Cell::state(word, tone)
}

/// The amount that the beneficiary receives, as a link to the payment.
fn amount_link(visit: &Visit, payment: &Payment) -> Cell {
    Cell::link(
        visit.href(&format!("/payments/{}", payment.id)),
        grouped(&payment.amount.to_string()),
    )
}

const HEAD: [&str; 9] = [
    "Beneficiary receives",
    "Status",
    "Beneficiary",
    "Account",
    "Accepted",
    "Payer pays",
    "Country",
    "External id",
    "Payment",
];

/// The file's columns that each column of the list shows.
const SHOWN: [&[&str]; HEAD.len()] = [
    &["amount_destination", "currency_destination"],
    &["status"],
    &["beneficiary_name"],
    &["beneficiary_account_number"],
    &["accepted_at"],
    &["amount", "currency"],
    &["country"],
    &["external_id"],
    &["id"],
];

/// What a payment is recognised by: the first cells of its row.
pub(super) fn first_cells(visit: &Visit, record: &Record) -> [Cell; 5] {
    let (payment, order) = (&record.payment, &record.order);
    [
        amount_link(visit, payment),
        state_cell(record),
        Cell::text(masked::name(&order.beneficiary_name)),
        Cell::text(masked::account(&order.beneficiary_account_number)),
        Cell::When(payment.accepted_at),
    ]
}

fn row(visit: &Visit, record: &Record) -> Vec<Cell> {
    let payment = &record.payment;
    let mut row = Vec::from(first_cells(visit, record));
    row.extend([
        Cell::number(payment.base),
        Cell::text(payment.country.alpha3()),
        payment.external_id.as_ref().map_or(Cell::Empty, Cell::id),
        Cell::id(payment.id),
    ]);
    row
}

fn filters(visit: &Visit) -> FormView {
    let world = visit.console().payments.world();
    let mut states = vec![(FOR_PEOPLE, "needs review")];
    states.extend(PaymentState::ALL.map(|state| (state.name(), state.name())));
    let countries = Country::ALL.map(Country::alpha3).map(|name| (name, name));
    let mut currencies: Vec<_> = Currency::ALL.map(Currency::code).map(|code| (code, code)).into();
    currencies.retain(|(code, _)| StableCoin::parse(code).is_none());
    let rails: Vec<&str> = world.corridors.rails.iter().map(|rail| &*rail.id.0).collect();
    let rails: Vec<_> = rails.into_iter().map(|rail| (rail, rail)).collect();
    let reviews = REVIEWS.map(|(state, label)| (state.name(), label));
    let fields = vec![
        Field::choice("status", "Status", &states).or_all(),
        Field::choice("country", "Country", &countries).or_all(),
        Field::day("from", "Accepted from"),
        Field::day("to", "to"),
        Field::line("least", "Amount at least"),
        Field::line("most", "at most"),
        Field::choice("currency", "in", &currencies).or_all(),
        Field::line("account", "Account ending"),
        Field::line("reference", "Reference, from its beginning"),
        Field::choice("rail", "Rail", &rails).or_all(),
        Field::choice("review", "Review", &reviews).or_all(),
    ];
    let mut fields: Vec<Field> =
        fields.into_iter().map(|field| field.as_asked(visit.query())).collect();
    fields.push(Field::hidden(HIDDEN, visit.query().text(HIDDEN)));
    FormView { title: "Filter".to_owned(), ..FormView::filters(fields) }
}

/// The filters in use, each with the list's address without it.
fn chips(visit: &Visit) -> Vec<(String, String)> {
    let chip = |(name, label): &(&'static str, &str)| {
        let given = visit.query().given(name)?;
        let value = match (*name, REVIEWS.iter().find(|(state, _)| state.name() == given)) {
            ("review", Some((_, word))) => *word,
            _ if given == FOR_PEOPLE => "needs review",
            _ => given,
        };
        let others: Vec<&str> = kept().into_iter().filter(|other| other != name).collect();
        let href = format!("{}?{}", visit.href("/payments"), query(visit, &others));
        Some((href, format!("{label}: {value}")))
    };
    FILTERS.iter().filter_map(chip).collect()
}

fn names() -> [&'static str; FILTERS.len()] {
    FILTERS.map(|(name, _)| name)
}

/// The fields of the query that links within the list keep.
fn kept() -> Vec<&'static str> {
    names().into_iter().chain([HIDDEN]).collect()
}

fn pager(visit: &Visit, found: &PaymentsPage) -> Pager {
    let link = |way: &str, mark: PaymentMark| {
        let place = encoded(&format!("{}.{}", mark.at.0, mark.payment));
        format!("{}?{}&{way}={place}", visit.href("/payments"), query(visit, &kept()))
    };
    let shown = match found.records.len() {
        0 => String::new(),
        count => format!("{count} payments"),
    };
    Pager {
        previous: found.previous.map(|mark| link("before", mark)),
        next: found.next.map(|mark| link("after", mark)),
        shown,
    }
}

pub(super) async fn list(visit: Visit) -> Answer {
    let saved = match saved_views::of(&visit, "payments").await? {
        Ok(saved) => Some(saved),
        Err(opening) => return Ok(opening),
    };
    let found = found(&visit, ROWS, from(&visit)?).await?;
    let asked = query(&visit, &names());
    let rows: Vec<_> = found.records.iter().map(|record| row(&visit, record)).collect();
    let mut says = Vec::new();
    let is_short = rows.len() < ROWS && visit.query().given("before").is_none();
    if is_short && found.is_cut {
        let looked_at = wanted(&visit, ROWS, None)?.looked_at_max();
        says.push(format!(
            "This page searched a part of the payments, about {looked_at} of each country. Next continues after them."
        ));
    }
    let empty = match found.next.is_some() {
        true => "None among these; Next looks further back.",
        false => none(&visit, "No payments yet.", "No payments match.", &names()),
    };
    let table = Table::new("Payments", &HEAD, rows).or(empty).paged(pager(&visit, &found));
    let mut links = Vec::new();
    if visit.query().given("after").or(visit.query().given("before")).is_some() {
        let latest = format!("{}?{asked}", visit.href("/payments"));
        links.push((latest, "Back to the latest".to_owned()));
    }
    links.extend(export::links(&visit, "payments", &query(&visit, &kept())));
    page(
        &visit,
        "Payments",
        vec![Section {
            says,
            links,
            views: views(&visit, &visit.href("/payments"), &names(), &VIEWS),
            saved,
            filters: Some(filters(&visit)),
            chips: chips(&visit),
            table: Some(with_columns(&visit, &visit.href("/payments"), &names(), table)),
            ..Section::default()
        }],
    )
}

/// A field of the order, with names and account number masked.
fn cell(name: &str, order: &Order) -> String {
    let field = FIELDS.iter().find(|field| field.name == name);
    let text = field.and_then(|field| field.shown(order)).unwrap_or_default();
    match name {
        "beneficiary_name" | "sender_name" => masked::name(&text),
        "beneficiary_account_number" => masked::account(&text),
        _ => text.into_owned(),
    }
}

/// A payment's row, with names and account number masked.
fn line(record: &Record) -> PaymentLine {
    let payment = &record.payment;
    let (standing, charge) = (&payment.standing, &payment.charge);
    PaymentLine {
        id: payment.id.to_string(),
        external_id: payment.external_id.clone().unwrap_or_default(),
        status: standing.state.name().to_owned(),
        accepted_at: payment.accepted_at.to_string(),
        changed_at: standing.state_at.to_string(),
        country: payment.country.alpha3().to_owned(),
        quote: payment.quote.to_string(),
        amount: payment.base.decimal().to_string(),
        currency: payment.base.currency.code().to_owned(),
        amount_destination: payment.amount.decimal().to_string(),
        currency_destination: payment.amount.currency.code().to_owned(),
        rate: record.quote.offer.rate.to_string(),
        wallet_amount: charge.amount.decimal().to_string(),
        wallet_premium: charge.premium.decimal().to_string(),
        wallet_txn_cost: charge.cost.decimal().to_string(),
        wallet_currency: charge.amount.currency.code().to_owned(),
        bank_reference: standing.bank_reference.clone().unwrap_or_default(),
        msg: standing.msg.clone().unwrap_or_default(),
        order: order_cells(|field| cell(field, &record.order)),
    }
}

pub(super) async fn export(visit: Visit) -> Result<Response, Stop> {
    let mut csv = Csv::shown(&visit, COLUMNS, &SHOWN);
    let (mut count, mut from) = (0, None);
    loop {
        let page = found(&visit, EXPORT_ROWS, from).await?;
        count += page.records.len();
        page.records.iter().for_each(|record| csv.row(line(record).cells()));
        if count > EXPORT_MAX {
            let words = format!(
                "More than {EXPORT_MAX} payments match. Narrow the filter, or use the API."
            );
            return Err(Stop::Refused(words));
        }
        from = page.next.map(PageFrom::After);
        if from.is_none() {
            return csv.taken(&visit, "payments.csv").await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_shows_columns_that_the_file_has() {
        for name in SHOWN.concat() {
            assert!(COLUMNS.contains(&name), "{name}");
        }
    }

    #[test]
    fn a_mark_reads_back() {
        let id = PaymentId(uuid::Uuid::from_u128(7));
        let found = parse_mark(&format!("17.{id}"));
        assert_eq!(found, Some(PaymentMark { at: Timestamp(17), payment: id }));
        for wrong in ["", "17", "x.y", ".", "17.", &format!(".{id}")] {
            assert_eq!(parse_mark(wrong), None, "{wrong}");
        }
    }
}
