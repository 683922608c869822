//! The review queue, oldest first: deposits, refunds, payments held by screening or with an unknown
//! outcome, payouts of orders, and changed tokens.

use domain::decimal::Decimal;
use domain::deposit::{Deposit, DepositState};
use domain::exchange::{ExchangeOrder, ExchangeState};
use domain::ids::PaymentId;
use domain::money::Money;
use domain::payment::{PaymentState, ReviewState};
use domain::rail::{Finding, RailStatus};
use engine::console::Deed;
use engine::payments::{self, Record};
use engine::wallets::{Page, Wanted};

use super::evidence::entry_card;
use super::view::{Card, Field, FormView, Section, age, coins, page, pager, sheet, words};
use super::{SEEN, as_shown, deposit_row, doubt_shown, order, order_row};
use crate::{Answer, Cell, Stop, Table, Tone, Visit};
use http_api::wallet_v1::render::money;

/// Maximum number of open refunds and payouts that are searched.
const LOOKED_THROUGH: Page = Page { page: 0, limit: 500 };
/// Maximum number of alerts that are counted.
const ALERTS_MAX: usize = 1_000;

/// The possible outcomes of a payment: value, label and meaning.
const BECAME: [(&str, &str, RailStatus); 6] = [
    ("processing", "the bank has it and will report", RailStatus::Accepted),
    ("succeeded", "it was paid", RailStatus::Settled),
    ("rejected", "the bank never accepted it", RailStatus::Rejected),
    ("failed", "the bank accepted it and did not pay", RailStatus::Rejected),
    ("reversed", "it was cancelled and refunded", RailStatus::Cancelled),
    (RETURNED, "it was paid and came back", RailStatus::Returned),
];
/// The only change that a succeeded payment can undergo.
const RETURNED: &str = "returned";
const REFERENCE: &str = "reference";
const CHARGES: &str = "charges";
const REFERENCE_MAX_CHARS: usize = 140;

pub(super) async fn queue(visit: Visit) -> Answer {
    let alerts = visit.console().store().alerts(visit.tenant_id()?, ALERTS_MAX).await?.len();
    let links = vec![
        (visit.href("/alerts"), format!("Alerts: {alerts} open")),
        (visit.href("/deposits"), "All deposits".to_owned()),
        ("/console/approvals".to_owned(), "Proposals waiting for approval".to_owned()),
    ];
    let sections = vec![
        Section { links, ..Section::default() },
        deposits(&visit).await?,
        held_payments(&visit).await?,
        refunds(&visit).await?,
        payouts(&visit).await?,
    ];
    page(&visit, "Review queue", sections)
}

async fn deposits(visit: &Visit) -> Result<Section, Stop> {
    let now = visit.console().now();
    let found = visit.console().wallets.reviews(&visit.caller()?, sheet(visit)).await?;
    let row = |deposit: &Deposit| {
        let assessed = deposit.assessment.as_ref();
        let level = assessed.map(|it| format!("{} {}", it.score, it.level().name()));
        vec![
            Cell::id_link(visit.href(&format!("/deposits/{}", deposit.id)), deposit.id),
            Cell::number(age(deposit.state_at, now)),
            coins(deposit.minor, deposit.coin),
            level.map_or(Cell::Empty, Cell::number),
            Cell::maybe(assessed.map(|it| words(it.reason.name()))),
            Cell::id_link(visit.href(&format!("/wallets/{}", deposit.wallet)), deposit.wallet),
        ]
    };
    let rows: Vec<_> = found.rows.iter().map(row).collect();
    let behind = u64::from(sheet(visit).page + 1) * u64::from(sheet(visit).limit);
    let pager = pager(visit, &visit.href("/review"), &[], rows.len(), found.total > behind);
    let head = ["Deposit", "Waiting", "Amount", "Score", "Reason", "Wallet"];
    let table = Table::new("Deposits to review", &head, rows).or("No deposits need a review.").paged(pager);
    Ok(Section { title: format!("Deposits: {}", found.total), table: Some(table), ..Section::default() })
}

fn question(record: &Record) -> &'static str {
    if record.payment.standing.state == PaymentState::Unknown { "Outcome unknown" } else { "Held by screening" }
}

async fn held_payments(visit: &Visit) -> Result<Section, Stop> {
    let now = visit.console().now();
    let found = payments::waiting(visit.console().store(), visit.tenant_id()?).await?;
    let row = |record: &Record| {
        let payment = &record.payment;
        let screened = &payment.screened;
        vec![
            Cell::id_link(visit.href(&format!("/review/payments/{}", payment.id)), payment.id),
            Cell::text(question(record)),
            Cell::number(age(payment.accepted_at, now)),
            Cell::number(format!("{} {}", money(payment.amount), payment.amount.currency.code())),
            Cell::number(screened.score),
            Cell::maybe(screened.evidence.clone()),
        ]
    };
    let head = ["Payment", "Reason", "Waiting", "Amount", "Score", "List entry"];
    let rows: Vec<_> = found.iter().map(row).collect();
    let title = format!("Payments: {}", rows.len());
    let table = Table::new("Payments to review", &head, rows).or("No payments need a review.");
    Ok(Section { title, table: Some(table), ..Section::default() })
}

async fn refunds(visit: &Visit) -> Result<Section, Stop> {
    let wanted = Wanted { states: vec![DepositState::Refunding], ..Wanted::default() };
    let found = visit.console().store().office_deposits(visit.tenant_id()?, &wanted, LOOKED_THROUGH).await?;
    let asks = |deposit: &&Deposit| deposit.refund.as_ref().is_some_and(|it| it.approved_by.is_none());
    let row = |deposit: &Deposit| {
        let mut row = deposit_row(visit, deposit);
        row.truncate(4);
        row.push(Cell::maybe(deposit.refund.as_ref().map(|refund| refund.proposed_by.clone())));
        row
    };
    let rows: Vec<_> = found.rows.iter().filter(asks).map(row).collect();
    let title = format!("Refunds: {}", rows.len());
    let head = ["Deposit", "State", "Amount", "Proposed", "Proposed by"];
    let table = Table::new("Refunds to approve", &head, rows).or("No refunds need an approval.");
    Ok(Section { title, table: Some(table), ..Section::default() })
}

async fn payouts(visit: &Visit) -> Result<Section, Stop> {
    let store = visit.console().store();
    let wanted = Wanted { states: vec![ExchangeState::Paying], ..Wanted::default() };
    let found = store.office_orders(visit.tenant_id()?, &wanted, LOOKED_THROUGH).await?;
    let unclear = |order: &&ExchangeOrder| order.unclear_beyond_window;
    let row = |order: &ExchangeOrder| order_row(visit, order).into_iter().take(5).collect();
    let rows: Vec<Vec<Cell>> = found.rows.iter().filter(unclear).map(row).collect();
    let title = format!("Order payouts: {}", rows.len());
    let head = ["Order", "State", "Amount", "Last change", "Created"];
    let table = Table::new("Payouts with an unknown outcome", &head, rows).or("No payouts with an unknown outcome.");
    let says = vec!["Payouts that were returned after settlement are listed under alerts.".to_owned()];
    Ok(Section { title, says, table: Some(table), ..Section::default() })
}

async fn payment(visit: &Visit) -> Result<Record, Stop> {
    let (tenant, id) = (visit.tenant_id()?, visit.id(PaymentId::parse)?);
    visit.console().store().payment_record(tenant, id).await?.ok_or(Stop::NotFound)
}

pub(super) async fn show_payment(visit: Visit) -> Answer {
    let record = payment(&visit).await?;
    let (payment, order) = (&record.payment, &record.order);
    let id = payment.id;
    let state = payment.standing.state;
    let held = payment.review == ReviewState::Waiting;
    let tone = if held || state == PaymentState::Unknown { Tone::Warn } else { Tone::Plain };
    let facts = vec![
        ("Status", Cell::state(state.name(), tone)),
        ("Payment", Cell::id_link(visit.href(&format!("/payments/{id}")), id)),
        ("Amount", Cell::number(format!("{} {}", money(payment.amount), payment.amount.currency.code()))),
        ("Country", Cell::text(payment.country.alpha3())),
        ("Accepted", Cell::When(payment.accepted_at)),
        ("Review", Cell::text(words(payment.review.name()))),
        ("Score", Cell::number(format!("{} of 100", payment.screened.score))),
        ("List version", Cell::text(payment.screened.list_version.as_str())),
    ];
    let people = vec![
        ("Sender", Cell::text(order.sender_name.as_str())),
        ("Beneficiary", Cell::text(order.beneficiary_name.as_str())),
        ("Relation", Cell::text(order.sender_relation.as_str())),
    ];
    let mut cards = vec![Card { title: "Parties".to_owned(), facts: people }];
    let entry = payment.screened.evidence.as_deref();
    cards.extend(entry.map(|entry| entry_card("name", entry, &payment.screened.list_version)));
    let may = |deed: &str| visit.may_use("POST", &format!("/console/t/{{tenant}}/review/payments/{{id}}/{deed}"));
    let to = |deed: &str| visit.href(&format!("/review/payments/{id}/{deed}"));
    let mut forms = Vec::new();
    if held && may("decide") {
        let verdicts = [("approve", "approve: the payment continues"), ("reject", "reject it")];
        let form = FormView::new("decide", "Approve or reject", to("decide"), "Decide")
            .says("The decision takes effect at once.");
        forms.push(form.field(Field::choice("verdict", "Decision", &verdicts)).why().danger());
    }
    let doubt = payment.open_to(&RailStatus::Returned.into());
    if doubt.is_some() && may("resolve") {
        let fits = |it: &&(&str, &str, RailStatus)| state == PaymentState::Unknown || it.0 == RETURNED;
        let choices: Vec<(&str, &str)> = BECAME.iter().filter(fits).map(|(value, words, _)| (*value, *words)).collect();
        let form = FormView::new("resolve", "Record the outcome", to("resolve"), "Propose")
            .says("Only with evidence, such as the bank statement. Another user has to approve it.");
        let form = form.field(Field::choice("became", "Outcome", &choices));
        let form = form
            .field(Field::line(REFERENCE, "Bank reference, if it was paid").optional())
            .field(Field::line(CHARGES, "Charges that the bank deducted from the return").optional());
        let form = match doubt {
            Some(doubt) => form.field(Field::hidden(SEEN, doubt_shown(doubt))),
            None => form,
        };
        forms.push(form.why().danger());
    }
    let sections = vec![
        Section { facts, cards, ..Section::default() },
        super::waiting(&visit, id.0).await?,
        Section { forms, ..Section::default() },
    ];
    page(&visit, "Payment in review", sections)
}

pub(super) async fn decide_payment(visit: Visit) -> Answer {
    let (tenant, id, why) = (visit.tenant_id()?, visit.id(PaymentId::parse)?, visit.why()?.to_owned());
    let (approve, words) = match visit.form().text("verdict") {
        "approve" => (true, "Approved. The payment continues."),
        "reject" => (false, "The payment is rejected."),
        _ => return Err(Stop::Invalid("Please choose a decision.".to_owned())),
    };
    visit.console().payments.review(tenant, id, approve, visit.deed(&why)).await?;
    Ok(visit.done(&visit.href("/review"), words))
}

pub(super) async fn resolve_payment(visit: Visit) -> Answer {
    let why = visit.why()?.to_owned();
    let record = payment(&visit).await?;
    let became = finding(&visit, record.payment.amount)?;
    let Some(doubt) = record.payment.open_to(&became) else {
        let state = record.payment.standing.state.name();
        return Err(Stop::Refused(format!("The payment is {state}: its outcome is already known.")));
    };
    as_shown(&visit, doubt_shown(doubt))?;
    visit.propose(Deed::ResolvePayment { payment: record.payment.id, doubt, became }, &why).await
}

/// The outcome in the form.
fn finding(visit: &Visit, amount: Money) -> Result<Finding, Stop> {
    let status = order::became(visit, &BECAME)?;
    let text = |name: &str| Some(visit.form().text(name).trim()).filter(|text| !text.is_empty());
    let reference = text(REFERENCE).map(str::to_owned);
    if reference.is_some() && status != RailStatus::Settled {
        return Err(Stop::Invalid("A bank reference requires the outcome that the payment was paid.".to_owned()));
    }
    if reference.as_ref().is_some_and(|reference| reference.chars().count() > REFERENCE_MAX_CHARS) {
        return Err(Stop::Invalid(format!("A bank reference has at most {REFERENCE_MAX_CHARS} characters.")));
    }
    let charges = match text(CHARGES) {
        None => 0,
        Some(_) if status != RailStatus::Returned => {
            return Err(Stop::Invalid("Charges require the outcome that the payment was returned.".to_owned()));
        }
        Some(text) => {
            let charges = Decimal::parse(text).ok().and_then(|value| Money::exact(value, amount.currency));
            let charges = charges.filter(|charges| charges.minor > 0 && charges.minor < amount.minor);
            let rule = || Stop::Invalid("Charges must be more than 0 and less than the amount.".to_owned());
            charges.ok_or_else(rule)?.minor
        }
    };
    let never_accepted = visit.form().text("became") == "rejected";
    Ok(Finding { status, never_accepted, reference, charges })
}
