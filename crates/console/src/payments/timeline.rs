//! A payment's story: the reason for its state, and what happened in order, including users' actions
//! and webhooks. Its order, attempts and bookings are below.

use std::borrow::Cow;

use domain::attempt::{Attempt, AttemptState};
use domain::audit::Entry;
use domain::delivery::{DeliveryAttempt, DeliveryState};
use domain::event::EventKind;
use domain::ids::PaymentId;
use domain::order::{FIELDS, Field};
use domain::payment::{Discrepancy, PaymentState, ReviewState};
use domain::time::Timestamp;
use engine::backoffice::{self, Case, StoredTransfer};
use engine::console::Approval;
use engine::payments::Record;
use engine::wallets::DeliveryRecord;

use super::{duration_text, masked, people_state, recall, receipt};
use crate::audit;
use crate::parts::grouped;
use crate::view::{Moment, Section, Story, instant, known, steps, story_page};
use crate::wallets::delivery_tone;
use crate::{Answer, Cell, Stop, Table, Tone, Visit, encoded};

/// The page for deciding on a payment.
const REVIEW: &str = "/console/t/{tenant}/review/payments/{id}";

pub(super) async fn show(visit: Visit) -> Answer {
    let (title, story, sections) = story(&visit, visit.id(PaymentId::parse)?).await?;
    story_page(&visit, &title, story, sections)
}

/// The title, the story and the sections below it.
pub(crate) async fn story(
    visit: &Visit,
    id: PaymentId,
) -> Result<(String, Story, Vec<Section>), Stop> {
    let (store, tenant) = (visit.console().store(), visit.tenant_id()?);
    let case = backoffice::case(store, tenant, id).await?.ok_or(Stop::NotFound)?;
    let told = Told {
        proposals: store.approvals_about(Some(tenant), &id.to_string()).await?,
        deeds: audit::about(visit, &[id.to_string()]).await?,
        deliveries: deliveries(visit, &case).await?,
        case,
    };
    let case = &told.case;
    let story = Story {
        list: Some((visit.href("/payments"), "Payments")),
        state: Some(state_of(case)),
        says: vec![parties(case), backoffice::why(case, visit.console().now())],
        links: links(visit, &told),
        steps: steps(
            [moments(visit, &told), audit::proposed(visit, &told.proposals).await?].concat(),
        ),
        side: vec![facts(visit, case), people(case), receipt::section(visit, &case.record)],
        ..Story::default()
    };
    let mut sections = vec![order(case), webhooks(visit, &told), attempts(case)];
    sections.extend(recall::section(case));
    sections.push(transfers(visit, &case.transfers));
    Ok((headline(&case.record), story, sections))
}

/// All that the page tells.
struct Told {
    case: Case,
    proposals: Vec<Approval>,
    deeds: Vec<Entry>,
    /// With the newest attempt of each.
    deliveries: Vec<(DeliveryRecord, Option<DeliveryAttempt>)>,
}

/// What was paid, what arrives, and for which person.
pub(crate) fn headline(record: &Record) -> String {
    let payment = &record.payment;
    format!(
        "{} → {} · {}",
        grouped(&payment.base.to_string()),
        grouped(&payment.amount.to_string()),
        masked::short_name(&record.order.beneficiary_name)
    )
}

fn parties(case: &Case) -> String {
    let order = &case.record.order;
    format!(
        "From {} to {}, account {} at {}.",
        order.sender_name,
        order.beneficiary_name,
        masked::account(&order.beneficiary_account_number),
        order.bank_name
    )
}

/// The state in people's words. An outcome that users recorded is not the rail's.
fn state_of(case: &Case) -> (String, Tone) {
    let (word, tone) = people_state(&case.record.payment);
    let state = case.record.payment.standing.state;
    let is_recorded = state.is_terminal()
        && case.attempts.last().is_some_and(|attempt| attempt.recorded().is_some());
    match is_recorded {
        true => (format!("{word}, recorded by users"), tone),
        false => (word.to_owned(), tone),
    }
}

/// The pending decision and open proposals.
fn links(visit: &Visit, told: &Told) -> Vec<(String, String)> {
    let payment = &told.case.record.payment;
    let mut links = Vec::new();
    let is_unknown = payment.standing.state == PaymentState::Unknown;
    if (payment.review == ReviewState::Waiting || is_unknown) && visit.may_use("GET", REVIEW) {
        let words = if is_unknown { "Record the outcome" } else { "Approve or reject the payment" };
        links.push((visit.href(&format!("/review/payments/{}", payment.id)), words.to_owned()));
    }
    links.extend(recall::link(visit, &told.case));
    let now = visit.console().now();
    for proposal in told.proposals.iter().filter(|proposal| proposal.is_open(now)) {
        let words = format!(
            "{} was proposed by {} and is waiting for approval",
            proposal.deed.title(),
            proposal.maker.login
        );
        links.push((format!("/console/approvals/{}", proposal.id), words));
    }
    links
}

fn facts(visit: &Visit, case: &Case) -> Section {
    let payment = &case.record.payment;
    let (quote, reference) = (payment.quote, payment.standing.bank_reference.as_ref());
    let facts = vec![
        ("Payment", Cell::id(payment.id)),
        ("External id", payment.external_id.as_ref().map_or(Cell::Empty, Cell::id)),
        ("Bank reference", reference.map_or(Cell::Empty, Cell::id)),
        ("Rail", Cell::maybe(case.attempts.last().map(|attempt| attempt.rail.to_string()))),
        ("Accepted", Cell::When(payment.accepted_at)),
        (
            "Settled after",
            Cell::maybe(payment.settled_at.map(|at| duration_text(at - payment.accepted_at))),
        ),
        ("Debited", payment.charge.total().map_or(Cell::Empty, Cell::number)),
        ("Quote", Cell::id_link(visit.href(&format!("/quotes/{quote}")), quote)),
        ("Screening", Cell::text(screening(case))),
        ("Status in the API", Cell::text(payment.standing.state.name())),
        ("Since", Cell::When(payment.standing.state_at)),
        ("Message to the client", Cell::maybe(payment.standing.msg.clone())),
        ("EndToEndId", Cell::id(payment.id.end_to_end_id())),
        (
            "Next",
            Cell::maybe(
                case.job.as_ref().map(|job| format!("{} at {}", job.kind.name(), job.run_at)),
            ),
        ),
    ];
    Section { title: "Payment".to_owned(), facts: known(facts), ..Section::default() }
}

fn people(case: &Case) -> Section {
    let order = &case.record.order;
    let facts = vec![
        ("Sender", Cell::text(order.sender_name.as_str())),
        ("Relation", Cell::text(order.sender_relation.as_str())),
        ("Beneficiary", Cell::text(order.beneficiary_name.as_str())),
        ("Country", Cell::text(order.country.name())),
    ];
    Section { title: "Parties".to_owned(), facts, ..Section::default() }
}

fn screening(case: &Case) -> String {
    let payment = &case.record.payment;
    let screened = &payment.screened;
    let stale = if screened.stale { ", too old" } else { "" };
    let found = screened.evidence.as_ref().map(|it| format!(" against {it}")).unwrap_or_default();
    let decision = match payment.review {
        ReviewState::NotNeeded => "no decision needed",
        ReviewState::Waiting => "waiting for a decision",
        ReviewState::Approved => "approved by a user",
        ReviewState::Refused => "refused",
    };
    format!("{} of 100{found}; lists {}{stale}; {decision}", screened.score, screened.list_version)
}

fn moments(visit: &Visit, told: &Told) -> Vec<Moment> {
    let case = &told.case;
    let mut moments = asked(visit, case, &told.deeds);
    case.attempts.iter().for_each(|attempt| tried(case, attempt, &mut moments));
    let contradicted = |(at, discrepancy): &(Timestamp, Discrepancy)| {
        Moment::new(*at, 6, Tone::Bad, "The rail contradicted itself").detail(&discrepancy.what)
    };
    moments.extend(case.discrepancies.iter().map(contradicted));
    moments.extend(recall::moments(case));
    booked(&case.transfers, &mut moments);
    emitted(case, &mut moments);
    moments.extend(told.deliveries.iter().map(|it| delivered(visit, it)));
    moments.extend(audit::moments(visit, &told.deeds));
    moments
}

/// An entry of the audit log about a later screening, and the values of the one before it.
const SCREENED_AGAIN: &str = "payment.screened";

/// The score and the lists of the screening at acceptance: a later one that changed something has
/// replaced it in the payment, and names it in the audit log.
fn first_screening(case: &Case, deeds: &[Entry]) -> (String, String) {
    let screened = &case.record.payment.screened;
    let first = deeds.iter().filter(|entry| entry.note.action == SCREENED_AGAIN);
    let first = first.min_by_key(|entry| entry.seq).and_then(|entry| entry.note.before.as_deref());
    let facts = first.and_then(|facts| serde_json::from_str::<serde_json::Value>(facts).ok());
    let fact = |name: &str| Some(facts.as_ref()?.get(name)?.as_str()?.to_owned());
    (
        fact("score").unwrap_or_else(|| screened.score.to_string()),
        fact("list_version").unwrap_or_else(|| screened.list_version.clone()),
    )
}

fn asked(visit: &Visit, case: &Case, deeds: &[Entry]) -> Vec<Moment> {
    let (payment, quote) = (&case.record.payment, &case.record.quote);
    let offer = &quote.offer;
    let rate = format!(
        "1 {} = {} {}",
        offer.amount.currency.code(),
        offer.rate,
        offer.amount_destination.currency.code()
    );
    let (score, lists) = first_screening(case, deeds);
    let screened = match (&payment.review, payment.screened.evidence.is_some()) {
        (ReviewState::NotNeeded, _) => ("Screened: clear", Tone::Good),
        (_, true) => ("Screened: a name resembles a list entry", Tone::Warn),
        (_, false) => ("Screened: a reviewer decides", Tone::Warn),
    };
    let reference = payment.external_id.as_ref().map(|id| format!("External id {id}"));
    vec![
        Moment::new(quote.created_at, 0, Tone::Plain, "Quote created")
            .detail(rate)
            .link(visit.href(&format!("/quotes/{}", quote.id)), "View the quote"),
        Moment::new(payment.accepted_at, 1, Tone::Plain, "Order accepted from the client")
            .detail(reference.unwrap_or_default()),
        Moment::new(payment.accepted_at, 2, screened.1, screened.0)
            .detail(format!("{score} of 100 on lists {lists}")),
    ]
}

/// An order sent to a rail, and its last report.
fn tried(case: &Case, attempt: &Attempt, moments: &mut Vec<Moment>) {
    let rail = &attempt.rail;
    if attempt.is_unrecorded() {
        let title = format!("{rail} reported it, and it was not sent from here");
        let reported = attempt.info.clone().unwrap_or_default();
        moments.push(Moment::new(attempt.state_at, 5, Tone::Warn, title).detail(reported));
        return;
    }
    let word = if attempt.was_not_sent() { "Not sent" } else { "Sent" };
    let sent = format!("{word} to {rail}, attempt {}", attempt.number);
    moments.push(Moment::new(attempt.created_at, 5, Tone::Busy, sent));
    let ids =
        format!("{}, InstrId {}, UETR {}", attempt.amount, attempt.id.instruction_id(), attempt.id);
    moments.push(Moment::technical(attempt.created_at, 6, ids));
    let (title, tone) = match attempt.state {
        AttemptState::Sending => return,
        AttemptState::Accepted => (format!("{rail} accepted it"), Tone::Busy),
        AttemptState::Settled => (format!("{rail} reported it as paid"), Tone::Good),
        AttemptState::Refused if attempt.was_not_sent() => {
            (format!("It did not reach {rail}"), Tone::Warn)
        }
        AttemptState::Refused => (format!("{rail} rejected it"), Tone::Bad),
        AttemptState::Failed => (format!("{rail} did not pay it"), Tone::Bad),
        AttemptState::Returned => (format!("{rail} returned it"), Tone::Bad),
        AttemptState::Cancelled => (format!("{rail} cancelled it"), Tone::Bad),
        AttemptState::Indeterminate => (format!("No clear answer from {rail}"), Tone::Warn),
    };
    let source = attempt.source.as_deref().unwrap_or("Corridor");
    let report = format!("Attempt {} {}, source {source}", attempt.number, attempt.state.name());
    let reported = match attempt.recorded() {
        // The people and their reason; the rail has reported nothing.
        Some(recorded) => {
            let (word, tone) = people_state(&case.record.payment);
            let who = recorded.people.map_or_else(
                || "two users".to_owned(),
                |(maker, checker)| format!("{maker} and {checker}"),
            );
            Moment::new(attempt.state_at, 7, tone, format!("Recorded by {who}: {word}"))
                .detail(format!("“{}” {rail} has not confirmed it.", recorded.why))
        }
        None => {
            let reasons = [attempt.reason.as_deref(), attempt.info.as_deref()];
            let detail = reasons.into_iter().flatten().collect::<Vec<_>>().join(": ");
            let reference = attempt.bank_reference.as_ref();
            let reference = reference.filter(|_| detail.is_empty());
            let detail =
                reference.map_or(detail, |reference| format!("Bank reference {reference}"));
            Moment::new(attempt.state_at, 7, tone, title).detail(detail)
        }
    };
    moments.push(reported);
    moments.push(Moment::technical(attempt.state_at, 8, report));
}

/// Ledger entries: one step per linked set.
fn booked(transfers: &[StoredTransfer], moments: &mut Vec<Moment>) {
    for set in transfers.chunk_by(|a, b| a.set == b.set) {
        let Some(first) = set.first() else { continue };
        let parts: Vec<String> = set
            .iter()
            .map(|transfer| {
                format!("{} {}", transfer.reason, grouped(&transfer.amount.to_string()))
            })
            .collect();
        let text = format!("Booked {} ({})", parts.join(", "), first.set);
        moments.push(Moment::technical(first.at, 3, text));
    }
}

/// Events for the client.
fn emitted(case: &Case, moments: &mut Vec<Moment>) {
    for event in &case.events {
        let snapshot = event.standing.as_ref();
        let words = [
            snapshot.and_then(|it| it.msg.clone()),
            snapshot.and_then(|it| it.bank_reference.clone()),
        ];
        let words: Vec<String> = words.into_iter().flatten().collect();
        let more = if words.is_empty() { String::new() } else { format!(": {}", words.join(", ")) };
        if event.kind == EventKind::PaymentUnknown {
            let detail = "The rail has not confirmed it. Nothing is sent a second time.";
            let step = Moment::new(event.at, 4, Tone::Warn, "Outcome unknown").detail(detail);
            moments.push(step);
        }
        let text = format!("Event {}{more} ({})", event.kind.name(), event.id);
        moments.push(Moment::technical(event.at, 4, text));
    }
}

/// The deliveries of its and its quote's events, each with its newest attempt.
async fn deliveries(
    visit: &Visit,
    case: &Case,
) -> Result<Vec<(DeliveryRecord, Option<DeliveryAttempt>)>, Stop> {
    let (store, tenant) = (visit.console().store(), visit.tenant_id()?);
    let mut found = Vec::new();
    for event in &case.events {
        if let Some(delivery) = store.delivery(tenant, event.id).await? {
            let attempt = store.delivery_attempts(tenant, event.id).await?.pop();
            found.push((delivery, attempt));
        }
    }
    Ok(found)
}

fn delivered(
    visit: &Visit,
    (record, attempt): &(DeliveryRecord, Option<DeliveryAttempt>),
) -> Moment {
    let (delivery, name) = (&record.delivery, record.event.kind_name());
    let (title, tone) = match delivery.state {
        DeliveryState::Delivered => (format!("Webhook {name} delivered"), Tone::Good),
        DeliveryState::Pending => (format!("Webhook {name} is waiting"), Tone::Busy),
        DeliveryState::Dead => (format!("Webhook {name} was given up"), Tone::Bad),
        DeliveryState::Disabled => (format!("Webhook {name} was not sent"), Tone::Plain),
    };
    let at = attempt.as_ref().map_or(delivery.created_at, |attempt| attempt.at);
    let detail = attempt.as_ref().map_or_else(String::new, |attempt| {
        let millis = attempt.took.0 / 1_000;
        match (attempt.status, &attempt.fault) {
            (Some(status), None) => format!("Answered {status} in {millis} ms."),
            (Some(status), Some(_)) => format!("Attempt {}: answered {status}.", attempt.number),
            (None, fault) => {
                format!("Attempt {}: {}.", attempt.number, fault.as_deref().unwrap_or("no answer"))
            }
        }
    });
    let href = visit.href(&format!("/webhooks/deliveries/{}", delivery.event));
    Moment::new(at, 11, tone, title).detail(detail).link(href, "View the delivery")
}

fn webhooks(visit: &Visit, told: &Told) -> Section {
    let row = |(record, _): &(DeliveryRecord, Option<DeliveryAttempt>)| {
        let delivery = &record.delivery;
        let href = visit.href(&format!("/webhooks/deliveries/{}", delivery.event));
        vec![
            Cell::link(href, record.event.kind_name()),
            Cell::state(delivery.state.name(), delivery_tone(delivery.state)),
            Cell::number(delivery.attempts),
            instant(delivery.delivered_at),
        ]
    };
    let rows: Vec<_> = told.deliveries.iter().map(row).collect();
    let title = "Webhooks".to_owned();
    if rows.is_empty() {
        let says =
            "None were sent for this payment. The client reads its events with GET /v2/events.";
        return Section { title, says: vec![says.to_owned()], ..Section::default() };
    }
    let table = Table::new("Deliveries", &["Event", "State", "Attempts", "Delivered"], rows);
    Section { title, table: Some(table), ..Section::default() }
}

fn attempts(case: &Case) -> Section {
    let row = |attempt: &domain::attempt::Attempt| {
        let tone = match attempt.state {
            AttemptState::Settled => Tone::Good,
            AttemptState::Sending | AttemptState::Accepted => Tone::Busy,
            AttemptState::Indeterminate => Tone::Warn,
            AttemptState::Refused
            | AttemptState::Failed
            | AttemptState::Returned
            | AttemptState::Cancelled => Tone::Bad,
        };
        vec![
            Cell::number(attempt.number),
            Cell::text(attempt.rail.to_string()),
            Cell::state(attempt.state.name(), tone),
            Cell::number(attempt.amount),
            Cell::When(attempt.created_at),
            Cell::When(attempt.state_at),
            Cell::maybe(attempt.reason.clone()),
            Cell::id(attempt.id),
            attempt.bank_reference.as_ref().map_or(Cell::Empty, Cell::id),
        ]
    };
    let head = [
        "Number",
        "Rail",
        "State",
        "Amount",
        "Started",
        "Changed",
        "Reason",
        "UETR",
        "Bank reference",
    ];
    let rows = case.attempts.iter().map(row).collect();
    let table = Table::new("Attempts", &head, rows).or("Not sent to a rail yet.");
    Section { title: "Attempts".to_owned(), table: Some(table), ..Section::default() }
}

/// A transfer's row, linked to its accounts.
pub(super) fn transfer_row(visit: &Visit, transfer: &StoredTransfer) -> Vec<Cell> {
    let account = |code: &domain::ledger::AccountCode| {
        let code = code.to_string();
        match visit.may_use("GET", "/console/t/{tenant}/ledger/account") {
            true => {
                Cell::id_link(visit.href(&format!("/ledger/account?code={}", encoded(&code))), code)
            }
            false => Cell::id(code),
        }
    };
    vec![
        Cell::When(transfer.at),
        Cell::text(transfer.reason.as_str()),
        Cell::text(transfer.kind.name()),
        account(&transfer.debit),
        account(&transfer.credit),
        Cell::number(transfer.amount),
    ]
}

fn transfers(visit: &Visit, transfers: &[StoredTransfer]) -> Section {
    let rows = transfers.iter().map(|transfer| transfer_row(visit, transfer)).collect();
    let head = ["Time", "Reason", "Kind", "Debit", "Credit", "Amount"];
    let table = Table::new("Transfers", &head, rows).or("No transfers.");
    Section { title: "Ledger".to_owned(), table: Some(table), ..Section::default() }
}

/// Sender and beneficiary, unmasked for investigations.
fn order(case: &Case) -> Section {
    let order = &case.record.order;
    let cell = |field: &Field| match (field.name, field.shown(order)) {
        ("beneficiary_account_number", Some(number)) => Cell::id(number),
        (_, value) => Cell::maybe(value.map(Cow::into_owned)),
    };
    let fact = |field: &Field| Some((field.label?, cell(field)));
    let facts = FIELDS.iter().filter_map(fact).collect();
    Section { title: "Order".to_owned(), facts, ..Section::default() }
}
