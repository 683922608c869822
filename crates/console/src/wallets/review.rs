//! The review queue, oldest first: deposits, refunds, payments and exchange orders held by screening
//! or with an unknown outcome.

use std::fmt::Display;

use domain::deposit::Deposit;
use domain::exchange::ExchangeOrder;
use domain::ids::{ExchangeId, PaymentId};
use domain::names::state_phrase;
use domain::payment::{Payment, PaymentState, ReviewState};
use domain::rail::RailStatus;
use engine::backoffice::{self, IdFrom};
use engine::console::ProposedAction;
use engine::payments::Record;
use engine::wallets::{KeysetFrom, KeysetWanted, Mark};
use uuid::Uuid;

use super::evidence::{Party, comparisons};
use super::{SEEN, as_shown, deposit_row, doubt_shown, history, outcome};
use crate::cases::{Assigned, Case};
use crate::inbox::MOST;
use crate::payments::{people_state, timeline};
use crate::view::{
    Field, FormView, Section, Story, age, amount_text, asked, coins, page, query, story_page, words,
};
use crate::{Answer, Cell, Pager, Stop, Table, Visit, case_files, cases};

/// Maximum number of alerts that are counted.
const ALERTS_MAX: usize = 1_000;
/// Deposits, payments or orders on a page.
const SHOWN: usize = 50;
/// The fields of the query with the neighbour of a page: the row after which it starts, and the one
/// before which it ends.
const ORDERS: [&str; 2] = ["orders_after", "orders_before"];
const PAYMENTS: [&str; 2] = ["payments_after", "payments_before"];
const DEPOSITS: [&str; 2] = ["deposits_after", "deposits_before"];
/// Why a payment or an order waits.
const HELD: &str = "Held by screening";
const UNKNOWN: &str = "Outcome unknown";

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
        failed_releases(&visit).await?,
        orders(&visit).await?,
    ];
    page(&visit, "Review queue", sections)
}

async fn deposits(visit: &Visit) -> Result<Section, Stop> {
    let now = visit.console().now();
    let from = from(visit, DEPOSITS, Mark::parse)?;
    let wanted = KeysetWanted { from: from.map(keyset), limit: SHOWN };
    let found = visit.console().store().deposits_to_review(visit.tenant_id()?, wanted).await?;
    let ids: Vec<Uuid> = found.rows.iter().map(|deposit| deposit.id.0).collect();
    let assigned = Assigned::of(visit, &ids).await?;
    let row = |deposit: &Deposit| {
        let assessed = deposit.assessment.as_ref();
        let level = assessed.map(|it| format!("{} {}", it.score, it.level().name()));
        vec![
            Cell::id_link(visit.href(&format!("/deposits/{}", deposit.id)), deposit.id),
            Cell::number(age(deposit.state_at, now)),
            coins(deposit.minor, deposit.coin),
            level.map_or(Cell::Empty, Cell::number),
            Cell::maybe(assessed.map(|it| words(it.reason.name()))),
            assigned.cell(deposit.id.0, now),
            Cell::id_link(visit.href(&format!("/wallets/{}", deposit.wallet)), deposit.wallet),
        ]
    };
    let rows: Vec<_> = found.rows.iter().map(row).collect();
    let head = ["Deposit", "Waiting", "Amount", "Score", "Reason", "Assignment", "Wallet"];
    let table = Table::new("Deposits to review", &head, rows).or("No deposits need a review.");
    let ends = Ends { previous: found.previous, next: found.next };
    Ok(sheet_of(visit, "Deposits", DEPOSITS, table, ends))
}

fn keyset(from: IdFrom<Mark>) -> KeysetFrom {
    match from {
        IdFrom::After(mark) => KeysetFrom::After(mark),
        IdFrom::Before(mark) => KeysetFrom::Before(mark),
    }
}

fn question(record: &Record) -> &'static str {
    if record.payment.standing.state == PaymentState::Unknown { UNKNOWN } else { HELD }
}

async fn held_payments(visit: &Visit) -> Result<Section, Stop> {
    let now = visit.console().now();
    let from = from(visit, PAYMENTS, PaymentId::parse)?;
    let store = visit.console().store();
    let found = store.payments_in_review(visit.tenant_id()?, from, SHOWN).await?;
    let ids: Vec<Uuid> = found.rows.iter().map(|record| record.payment.id.0).collect();
    let assigned = Assigned::of(visit, &ids).await?;
    let row = |record: &Record| {
        let payment = &record.payment;
        let screened = &payment.screened;
        vec![
            Cell::id_link(visit.href(&format!("/review/payments/{}", payment.id)), payment.id),
            Cell::text(question(record)),
            Cell::number(age(payment.accepted_at, now)),
            Cell::number(amount_text(payment.amount)),
            Cell::number(screened.score),
            Cell::maybe(screened.evidence.clone()),
            assigned.cell(payment.id.0, now),
        ]
    };
    let head = ["Payment", "Reason", "Waiting", "Amount", "Score", "List entry", "Assignment"];
    let rows: Vec<_> = found.rows.iter().map(row).collect();
    let shown: Vec<Uuid> = found.rows.iter().map(|record| record.payment.id.0).collect();
    let from = from.map(|from| from.map(|id| id.0));
    let ends = Ends::of(from, &shown, found.more);
    let table = Table::new("Payments to review", &head, rows).or("No payments need a review.");
    Ok(sheet_of(visit, "Payments", PAYMENTS, table, ends))
}

/// The neighbour of a page of what waits.
fn from<I>(
    visit: &Visit,
    [after, before]: [&'static str; 2],
    parse: impl Fn(&str) -> Option<I>,
) -> Result<Option<IdFrom<I>>, Stop> {
    let (after, before) = (asked(visit, after, &parse)?.pop(), asked(visit, before, &parse)?.pop());
    Ok(after.map(IdFrom::After).or(before.map(IdFrom::Before)))
}

/// The rows beside which the neighbours of a page lie, if it has any.
struct Ends<M> {
    previous: Option<M>,
    next: Option<M>,
}

impl Ends<Uuid> {
    fn of(from: Option<IdFrom<Uuid>>, shown: &[Uuid], more: bool) -> Ends<Uuid> {
        let mark = from.map(|from| match from {
            IdFrom::After(mark) | IdFrom::Before(mark) => mark,
        });
        let is_backward = matches!(from, Some(IdFrom::Before(_)));
        let first = shown.first().copied().or(mark);
        let last = shown.last().copied().or(mark);
        Ends {
            previous: first.filter(|_| if is_backward { more } else { mark.is_some() }),
            next: last.filter(|_| is_backward || more),
        }
    }
}

/// A section with a page of what waits, and links to its other pages; the other tables stay where
/// they are.
fn sheet_of(
    visit: &Visit,
    what: &str,
    names: [&'static str; 2],
    table: Table,
    ends: Ends<impl Display>,
) -> Section {
    let mut others = [DEPOSITS, PAYMENTS, ORDERS].concat();
    others.retain(|name| !names.contains(name));
    let link = |more: &str| format!("{}?{}{more}", visit.href("/review"), query(visit, &others));
    let [after, before] = names;
    let next = ends.next.map(|id| link(&format!("&{after}={id}")));
    let previous = ends.previous.map(|id| link(&format!("&{before}={id}")));
    let is_first = names.iter().all(|name| visit.query().given(name).is_none());
    let (count, noun) = (table.rows.len(), what.to_lowercase());
    let title =
        if is_first && next.is_none() { format!("{what}: {count}") } else { what.to_owned() };
    let first = (!is_first).then(|| (link(""), format!("Back to the oldest {noun}")));
    let pager = Pager { previous, next, shown: format!("{count} {noun}") };
    let table = Some(table.paged(pager));
    Section { title, links: first.into_iter().collect(), table, ..Section::default() }
}

async fn refunds(visit: &Visit) -> Result<Section, Stop> {
    let found = visit.console().store().refunds_waiting(visit.tenant_id()?, MOST).await?;
    let row = |deposit: &Deposit| {
        let mut row = deposit_row(visit, deposit);
        row.truncate(4);
        row.push(Cell::maybe(deposit.refund.as_ref().map(|refund| refund.proposed_by.clone())));
        row
    };
    let rows: Vec<_> = found.iter().map(row).collect();
    let title = format!("Refunds: {}", rows.len());
    let head = ["Deposit", "State", "Amount", "Proposed", "Proposed by"];
    let table = Table::new("Refunds to approve", &head, rows).or("No refunds need an approval.");
    Ok(Section { title, table: Some(table), ..Section::default() })
}

async fn failed_releases(visit: &Visit) -> Result<Section, Stop> {
    let found = visit.console().store().failed_releases(visit.tenant_id()?, MOST).await?;
    let mut rows: Vec<_> = found.iter().map(|it| deposit_row(visit, it)).collect();
    rows.iter_mut().for_each(|row| row.truncate(4));
    let title = format!("Failed releases: {}", rows.len());
    let head = ["Deposit", "State", "Amount", "Failed"];
    let table = Table::new("Failed releases to refund", &head, rows)
        .or("No failed releases are in escrow.");
    Ok(Section { title, table: Some(table), ..Section::default() })
}

async fn orders(visit: &Visit) -> Result<Section, Stop> {
    let now = visit.console().now();
    let from = from(visit, ORDERS, ExchangeId::parse)?;
    let store = visit.console().store();
    let found = store.orders_in_review(visit.tenant_id()?, from, SHOWN).await?;
    let ids: Vec<Uuid> = found.rows.iter().map(|order| order.id.0).collect();
    let assigned = Assigned::of(visit, &ids).await?;
    let row = |order: &ExchangeOrder| {
        let screened = order.screened.as_ref().filter(|_| order.is_withheld());
        vec![
            Cell::id_link(visit.href(&format!("/orders/{}", order.id)), order.id),
            Cell::text(if order.is_withheld() { HELD } else { UNKNOWN }),
            Cell::number(age(order.state_at, now)),
            Cell::number(amount_text(order.payout)),
            screened.map_or(Cell::Empty, |screened| Cell::number(screened.score)),
            Cell::maybe(screened.and_then(|screened| screened.evidence.clone())),
            assigned.cell(order.id.0, now),
        ]
    };
    let rows: Vec<_> = found.rows.iter().map(row).collect();
    let head = ["Order", "Reason", "Waiting", "Pays out", "Score", "List entry", "Assignment"];
    let table = Table::new("Orders to review", &head, rows).or("No orders need a review.");
    let says =
        vec!["Payouts that were returned after settlement are listed under alerts.".to_owned()];
    let shown: Vec<Uuid> = found.rows.iter().map(|order| order.id.0).collect();
    let from = from.map(|from| from.map(|id| id.0));
    let ends = Ends::of(from, &shown, found.more);
    Ok(Section { says, ..sheet_of(visit, "Exchange orders", ORDERS, table, ends) })
}

async fn payment(visit: &Visit) -> Result<Record, Stop> {
    let (tenant, id) = (visit.tenant_id()?, visit.id(PaymentId::parse)?);
    visit.console().store().payment_record(tenant, id).await?.ok_or(Stop::NotFound)
}

/// The comparison of the parties with the list entries that they match, and what the sender did
/// before.
pub(crate) async fn payment_evidence(visit: &Visit, id: PaymentId) -> Result<Vec<Section>, Stop> {
    let store = visit.console().store();
    let record = store.payment_record(visit.tenant_id()?, id).await?.ok_or(Stop::NotFound)?;
    let screened = &record.payment.screened;
    let parties = Party::of_order(&record.order);
    let evidence = screened.evidence.as_deref().unwrap_or_default();
    let finding = "possible match";
    let mut sections = match evidence.is_empty() {
        true => Vec::new(),
        false => comparisons(visit, &parties, finding, evidence, &screened.list_version),
    };
    sections.extend(history::of_sender(visit, &record).await?);
    Ok(sections)
}

pub(super) async fn show_payment(visit: Visit) -> Answer {
    let record = payment(&visit).await?;
    let (payment, order) = (&record.payment, &record.order);
    let id = payment.id;
    let state = payment.standing.state;
    let held = payment.review == ReviewState::Waiting;
    let may = |deed: &str| {
        visit.may_use("POST", &format!("/console/t/{{tenant}}/review/payments/{{id}}/{deed}"))
    };
    let to = |deed: &str| visit.href(&format!("/review/payments/{id}/{deed}"));
    let mut forms = Vec::new();
    if held && may("decide") {
        let form = verdicts(&visit, payment)?;
        forms.push(form.field(Field::hidden(SEEN, payment.version)));
    }
    let doubt = payment.open_to(&RailStatus::Returned.into());
    if doubt.is_some() && may("resolve") {
        let is_unknown = state == PaymentState::Unknown;
        let title = if is_unknown { "Record the outcome" } else { "Record a return" };
        forms.push(outcome::form(title, to("resolve"), is_unknown, doubt));
    }
    let case = Case::Payment(id);
    let facts = vec![
        ("Payment", Cell::id_link(visit.href(&format!("/payments/{id}")), id)),
        ("Score", Cell::number(format!("{} of 100", payment.screened.score))),
        ("Review", Cell::text(words(payment.review.name()))),
        ("Accepted", Cell::When(payment.accepted_at)),
        ("List version", Cell::text(payment.screened.list_version.as_str())),
    ];
    let parties = vec![
        ("Sender", Cell::text(order.sender_name.as_str())),
        ("Beneficiary", Cell::text(order.beneficiary_name.as_str())),
        ("Relation", Cell::text(order.sender_relation.as_str())),
        ("Country", Cell::text(payment.country.name())),
    ];
    let is_pending = held || state == PaymentState::Unknown;
    let decision = Section { title: "Decision".to_owned(), forms, ..Section::default() };
    let mut side = vec![
        cases::assignment(&visit, case).await?,
        Section { title: "Parties".to_owned(), facts: parties, ..Section::default() },
        Section { title: "Payment".to_owned(), facts, ..Section::default() },
    ];
    // Recording the return of a payment is rare: it does not stand first.
    match is_pending {
        true => side.insert(0, decision),
        false => {
            side.rotate_left(1);
            side.push(decision);
        }
    }
    let case_of = backoffice::case(visit.console().store(), visit.tenant_id()?, id).await?;
    let why = case_of.map(|case| backoffice::why(&case, visit.console().now()));
    let mut links = vec![(visit.href(&format!("/payments/{id}")), "The whole payment".to_owned())];
    links.extend(cases::file_link(&visit, case));
    let (word, tone) = people_state(payment);
    let story = Story {
        list: Some((visit.href("/review"), "Review queue")),
        state: Some((word.to_owned(), tone)),
        says: why.into_iter().collect(),
        links,
        side,
        ..Story::default()
    };
    let mut sections = vec![super::waiting(&visit, id.0).await?];
    sections.extend(payment_evidence(&visit, id).await?);
    sections.push(cases::notes(&visit, case).await?);
    sections.push(case_files::section(&visit, case).await?);
    story_page(&visit, &timeline::headline(&record), story, sections)
}

fn verdicts(visit: &Visit, payment: &Payment) -> Result<FormView, Stop> {
    let to = visit.href(&format!("/review/payments/{}/decide", payment.id));
    let effect = outcome::effect(&visit.tenant()?.policy.wallet, payment.charge.amount.minor);
    Ok(outcome::verdict_form(to, Some("The payment continues."), effect))
}

/// The page on which a verdict is confirmed.
pub(super) async fn confirm_payment(visit: Visit) -> Answer {
    let record = payment(&visit).await?;
    let (payment, order) = (&record.payment, &record.order);
    let amount = amount_text(payment.amount);
    let facts = vec![
        ("Amount", Cell::number(&amount)),
        ("Sender", Cell::text(order.sender_name.as_str())),
        ("Beneficiary", Cell::text(order.beneficiary_name.as_str())),
    ];
    if payment.review != ReviewState::Waiting {
        let case = visit.href(&format!("/review/payments/{}", payment.id));
        return outcome::outdated(&visit, &case).await;
    }
    outcome::confirm(&visit, &verdicts(&visit, payment)?, &amount, facts, payment.version).await
}

pub(super) async fn decide_payment(visit: Visit) -> Answer {
    let (tenant, id, why) =
        (visit.tenant_id()?, visit.id(PaymentId::parse)?, visit.why()?.to_owned());
    let approve = outcome::is_approved(&visit)?;
    let payment = payment(&visit).await?.payment;
    let version = payment.version;
    as_shown(&visit, version).await?;
    let release = payment.charge.amount.minor;
    if approve && visit.tenant()?.policy.wallet.needs_second(release) {
        return visit.propose(ProposedAction::ReleasePayment { payment: id, version }, &why).await;
    }
    visit.console().payments.review(tenant, id, approve, Some(version), visit.deed(&why)).await?;
    let words =
        if approve { "Approved. The payment continues." } else { "The payment is rejected." };
    Ok(visit.done(&visit.href("/review"), words))
}

pub(super) async fn resolve_payment(visit: Visit) -> Answer {
    let why = visit.why()?.to_owned();
    let record = payment(&visit).await?;
    let became = outcome::finding(&visit, record.payment.amount)?;
    let Some(doubt) = record.payment.open_to(&became) else {
        let state = state_phrase(record.payment.standing.state.name());
        return Err(Stop::Refused(format!("The payment {state}: its outcome is already known.")));
    };
    as_shown(&visit, doubt_shown(doubt)).await?;
    visit
        .propose(ProposedAction::ResolvePayment { payment: record.payment.id, doubt, became }, &why)
        .await
}
