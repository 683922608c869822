//! All payments of a tenant with filters: cursor-paged, and as a file.

use axum::response::Response;
use domain::country::Country;
use domain::ids::PaymentId;
use domain::order::{FIELDS, Order};
use domain::payment::{Payment, PaymentState, ReviewState};
use domain::time::{Span, Timestamp};
use engine::office::{LOOKED_AT_MAX, PaymentMark, PaymentsPage, PaymentsWanted};
use engine::payments::Record;

use super::{day, masked, payment_tone};
use crate::export::Csv;
use crate::parts::grouped;
use crate::view::{Field, FormView, Section, page, query};
use crate::{Answer, Cell, Pager, Stop, Table, Tone, Visit, encoded};
use http_api::payment_file::{COLUMNS, PaymentLine, order_cells};

const ROWS: usize = 50;
/// Payments per read of an export.
const EXPORT_ROWS: usize = 1_000;
/// Maximum number of payments in an export; for more, use the API.
const EXPORT_MAX: usize = 50_000;
const FILTERS: [&str; 4] = ["status", "country", "from", "to"];
/// The filter that is not a state: payments held for review.
const FOR_PEOPLE: &str = "for-people";

/// Parses a position, `{microseconds}.{id}`.
fn mark(text: &str) -> Option<PaymentMark> {
    let (at, id) = text.split_once('.')?;
    Some(PaymentMark { at: Timestamp(at.parse().ok()?), payment: PaymentId::parse(id)? })
}

/// The position after which a page starts.
fn after(visit: &Visit) -> Result<Option<PaymentMark>, Stop> {
    let read = |text: &str| mark(text).ok_or_else(|| Stop::Invalid("Unknown place.".to_owned()));
    visit.query().given("after").map(read).transpose()
}

fn wanted(visit: &Visit, limit: usize) -> Result<PaymentsWanted, Stop> {
    let asked = visit.query();
    let no = |what: &str| Stop::Invalid(format!("Unknown {what}."));
    let state = asked
        .given("status")
        .map(|text| PaymentState::parse(text).ok_or_else(|| no("status")))
        .transpose()?;
    let country = asked
        .given("country")
        .map(|text| Country::parse(text).ok_or_else(|| no("country")))
        .transpose()?;
    Ok(PaymentsWanted {
        countries: country.into_iter().collect(),
        states: state.into_iter().collect(),
        start: day(visit, "from")?,
        end: day(visit, "to")?.map(|end| end + Span::days(1)),
        after: after(visit)?,
        limit,
    })
}

/// A page of matching payments.
async fn found(visit: &Visit) -> Result<PaymentsPage, Stop> {
    let (store, tenant) = (visit.console().store(), visit.tenant_id()?);
    if visit.query().text("status") == FOR_PEOPLE {
        let after = after(visit)?.map(|mark| mark.payment);
        let page = store.payments_in_review(tenant, after, ROWS).await?;
        let last = page.rows.last().filter(|_| page.more).map(|record| &record.payment);
        let next = last.map(|last| PaymentMark { at: last.accepted_at, payment: last.id });
        return Ok(PaymentsPage { records: page.rows, next });
    }
    Ok(store.payments_page(tenant, &wanted(visit, ROWS)?).await?)
}

/// The state, with an indication of a pending review.
pub(super) fn state_cell(record: &Record) -> Cell {
    let payment = &record.payment;
    match payment.review {
        ReviewState::Waiting => Cell::state("in review", Tone::Warn),
        _ => Cell::state(payment.standing.state.name(), payment_tone(payment.standing.state)),
    }
}

/// The amount that the beneficiary receives, as a link to the payment.
pub(super) fn amount_link(visit: &Visit, payment: &Payment) -> Cell {
    Cell::link(
        visit.href(&format!("/payments/{}", payment.id)),
        grouped(&payment.amount.to_string()),
    )
}

fn row(visit: &Visit, record: &Record) -> Vec<Cell> {
    let (payment, order) = (&record.payment, &record.order);
    vec![
        Cell::id_link(visit.href(&format!("/payments/{}", payment.id)), payment.id),
        state_cell(record),
        Cell::text(payment.country.alpha3()),
        Cell::number(payment.base),
        Cell::number(payment.amount),
        Cell::When(payment.accepted_at),
        Cell::text(masked::name(&order.beneficiary_name)),
        Cell::text(masked::account(&order.beneficiary_account_number)),
        payment.external_id.as_ref().map_or(Cell::Empty, Cell::id),
    ]
}

fn filters(visit: &Visit) -> FormView {
    let mut states = vec![("", "all"), (FOR_PEOPLE, "needs review")];
    states.extend(PaymentState::ALL.map(|state| (state.name(), state.name())));
    let mut countries = vec![("", "all")];
    countries.extend(Country::ALL.map(|country| (country.alpha3(), country.alpha3())));
    FormView::filters(vec![
        Field::choice("status", "Status", &states).as_asked(visit.query()),
        Field::choice("country", "Country", &countries).as_asked(visit.query()),
        Field::day("from", "Accepted from").optional().as_asked(visit.query()),
        Field::day("to", "to").optional().as_asked(visit.query()),
    ])
}

pub(super) async fn list(visit: Visit) -> Answer {
    let found = found(&visit).await?;
    let asked = query(&visit, &FILTERS);
    let link = |more: &str| format!("{}?{asked}{more}", visit.href("/payments"));
    let next = found.next.map(|mark| {
        link(&format!("&after={}", encoded(&format!("{}.{}", mark.at.0, mark.payment))))
    });
    let rows: Vec<_> = found.records.iter().map(|record| row(&visit, record)).collect();
    let mut says = Vec::new();
    if next.is_some() && rows.len() < ROWS {
        says.push(format!(
            "This page searched the latest {LOOKED_AT_MAX} payments of each country. Next continues after them."
        ));
    }
    let shown = if rows.is_empty() { String::new() } else { format!("{} payments", rows.len()) };
    let head = [
        "Payment",
        "Status",
        "Country",
        "Payer pays",
        "Beneficiary receives",
        "Accepted",
        "Beneficiary",
        "Account",
        "External id",
    ];
    let table = Table::new("Payments", &head, rows).or("No payments match.").paged(Pager {
        previous: None,
        next,
        shown,
    });
    let mut links = Vec::new();
    if visit.query().given("after").is_some() {
        links.push((link(""), "Back to the latest".to_owned()));
    }
    if visit.may_use("GET", "/console/t/{tenant}/payments/export.csv") {
        links.push((
            format!("{}?{asked}", visit.href("/payments/export.csv")),
            "Download as CSV".to_owned(),
        ));
    }
    page(
        &visit,
        "Payments",
        vec![Section {
            says,
            links,
            filters: Some(filters(&visit)),
            table: Some(table),
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
    let mut csv = Csv::new(COLUMNS);
    if visit.query().text("status") == FOR_PEOPLE {
        found(&visit).await?.records.iter().for_each(|record| csv.row(line(record).cells()));
        return csv.taken(&visit, "payments.csv").await;
    }
    let (tenant, mut wanted) = (visit.tenant_id()?, wanted(&visit, EXPORT_ROWS)?);
    let mut count = 0;
    loop {
        let page = visit.console().store().payments_page(tenant, &wanted).await?;
        count += page.records.len();
        page.records.iter().for_each(|record| csv.row(line(record).cells()));
        if count > EXPORT_MAX {
            let words = format!(
                "More than {EXPORT_MAX} payments match. Narrow the filter, or use the API."
            );
            return Err(Stop::Refused(words));
        }
        wanted.after = page.next;
        if wanted.after.is_none() {
            return csv.taken(&visit, "payments.csv").await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_reads_back() {
        let id = PaymentId(uuid::Uuid::from_u128(7));
        let found = mark(&format!("17.{id}"));
        assert_eq!(found, Some(PaymentMark { at: Timestamp(17), payment: id }));
        for wrong in ["", "17", "x.y", ".", "17.", &format!(".{id}")] {
            assert_eq!(mark(wrong), None, "{wrong}");
        }
    }
}
