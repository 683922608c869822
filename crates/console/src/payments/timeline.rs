//! A payment: the reason for its state, and its full history in order, including users' actions and
//! the requests that carried them.

use std::borrow::Cow;

use domain::attempt::{AttemptState, Recorded};
use domain::audit::Entry;
use domain::ids::PaymentId;
use domain::order::{FIELDS, Field};
use domain::payment::{PaymentState, ReviewState};
use domain::time::Timestamp;
use engine::console::Approval;
use engine::office::{self, Case, StoredTransfer};
use uuid::Uuid;

use super::payment_list::state_cell;
use super::{receipt, took};
use crate::audit;
use crate::view::{Section, page};
use crate::{Answer, Cell, Stop, Table, Tone, Visit, encoded};

/// The page for deciding on a payment.
const REVIEW: &str = "/console/t/{tenant}/review/payments/{id}";

/// A step of the history.
struct Step {
    at: Timestamp,
    /// At the same instant, a request precedes its consequences.
    order: u8,
    what: String,
    detail: String,
    who: String,
    id: Option<Uuid>,
    /// The request of a user's action, if recorded.
    request: Option<String>,
}

pub(super) async fn show(visit: Visit) -> Answer {
    let (tenant, id) = (visit.tenant_id()?, visit.id(PaymentId::parse)?);
    let store = visit.console().store();
    let case = office::case(store, tenant, id).await?.ok_or(Stop::NotFound)?;
    let proposals = store.approvals_about(Some(tenant), &id.to_string()).await?;
    let deeds = audit::about(&visit, &[id.to_string()]).await?;
    let names: Vec<String> = proposals.iter().map(|proposal| proposal.id.to_string()).collect();
    let decisions = audit::about(&visit, &names).await?;
    let sections = vec![
        standing(&visit, &case, &proposals),
        receipt::section(&visit, &case.record),
        Section {
            title: "Timeline".to_owned(),
            table: Some(steps(&case, &proposals, &deeds, &decisions)),
            ..Section::default()
        },
        attempts(&case),
        transfers(&visit, &case.transfers),
        order(&case),
        Section {
            title: "Webhooks".to_owned(),
            says: vec![
                "Payments have none. The client reads their events with GET /v2/events.".to_owned(),
            ],
            ..Section::default()
        },
    ];
    page(&visit, "Payment", sections)
}

/// The reason for its state, the pending decision, its key data.
fn standing(visit: &Visit, case: &Case, proposals: &[Approval]) -> Section {
    let record = &case.record;
    let payment = &record.payment;
    let now = visit.console().now();
    let mut links = Vec::new();
    let asks =
        payment.review == ReviewState::Waiting || payment.standing.state == PaymentState::Unknown;
    if asks && visit.may_use("GET", REVIEW) {
        let words = match payment.standing.state {
            PaymentState::Unknown => "Record the outcome",
            _ => "Approve or reject the payment",
        };
        links.push((visit.href(&format!("/review/payments/{}", payment.id)), words.to_owned()));
    }
    for proposal in proposals.iter().filter(|proposal| proposal.is_open(now)) {
        let words = format!(
            "{} was proposed by {} and is waiting for approval",
            proposal.deed.title(),
            proposal.maker.login
        );
        links.push((format!("/console/approvals/{}", proposal.id), words));
    }
    let quote = payment.quote;
    let reference = payment.standing.bank_reference.as_ref();
    let facts = vec![
        ("Status", state_cell(record)),
        ("Since", Cell::When(payment.standing.state_at)),
        ("Message to the client", Cell::maybe(payment.standing.msg.clone())),
        ("Payment", Cell::id(payment.id)),
        ("EndToEndId", Cell::id(payment.id.end_to_end_id())),
        ("External id", payment.external_id.as_ref().map_or(Cell::Empty, Cell::id)),
        ("Bank reference", reference.map_or(Cell::Empty, Cell::id)),
        ("Quote", Cell::id_link(visit.href(&format!("/quotes/{quote}")), quote)),
        ("Country", Cell::text(payment.country.alpha3())),
        ("Payer pays", Cell::number(payment.base)),
        ("Beneficiary receives", Cell::number(payment.amount)),
        ("Debited", payment.charge.total().map_or(Cell::Empty, Cell::number)),
        ("Accepted", Cell::When(payment.accepted_at)),
        ("Settled after", Cell::maybe(payment.settled_at.map(|at| took(at - payment.accepted_at)))),
        ("Screening", Cell::text(screening(case))),
        (
            "Next",
            Cell::maybe(
                case.job.as_ref().map(|job| format!("{} at {}", job.kind.name(), job.run_at)),
            ),
        ),
    ];
    Section { says: vec![office::why(case, now)], links, facts, ..Section::default() }
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

fn steps(case: &Case, proposals: &[Approval], deeds: &[Entry], decisions: &[Entry]) -> Table {
    let mut steps = Vec::new();
    asked(case, deeds, &mut steps);
    tried(case, &mut steps);
    booked(&case.transfers, &mut steps);
    told(case, &mut steps);
    decided(proposals, decisions, &mut steps);
    done(deeds, &mut steps);
    steps.sort_by_key(|step| (step.at, step.order));
    let row = |step: Step| {
        vec![
            Cell::When(step.at),
            Cell::text(step.what),
            Cell::text(step.detail),
            Cell::text(step.who),
            step.id.map_or(Cell::Empty, Cell::id),
            step.request.map_or(Cell::Empty, Cell::id),
        ]
    };
    let rows = steps.into_iter().map(row).collect();
    Table::new("Timeline, oldest first", &["Time", "Event", "Details", "By", "Id", "Request"], rows)
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

fn asked(case: &Case, deeds: &[Entry], steps: &mut Vec<Step>) {
    let (payment, quote) = (&case.record.payment, &case.record.quote);
    let by_client = || "client".to_owned();
    steps.push(Step {
        at: quote.created_at,
        order: 0,
        what: "Quote created".to_owned(),
        detail: format!(
            "{} → {} at {}",
            quote.offer.amount, quote.offer.amount_destination, quote.offer.rate
        ),
        who: by_client(),
        id: Some(quote.id.0),
        request: None,
    });
    let (score, lists) = first_screening(case, deeds);
    steps.push(Step {
        at: payment.accepted_at,
        order: 1,
        what: "Order accepted".to_owned(),
        detail: format!("screening scored {score} on lists {lists}"),
        who: by_client(),
        id: Some(payment.id.0),
        request: None,
    });
}

/// Orders sent to rails, and their reports.
fn tried(case: &Case, steps: &mut Vec<Step>) {
    for attempt in &case.attempts {
        steps.push(Step {
            at: attempt.created_at,
            order: 4,
            what: format!("Attempt {} over {}", attempt.number, attempt.rail),
            detail: format!("{} with InstrId {}", attempt.amount, attempt.id.instruction_id()),
            who: "Corridor".to_owned(),
            id: Some(attempt.id.0),
            request: None,
        });
        if attempt.state == AttemptState::Sending {
            continue;
        }
        let said = [attempt.reason.as_deref(), attempt.info.as_deref()]
            .into_iter()
            .flatten()
            .collect::<Vec<_>>();
        let source = attempt.source.as_deref().unwrap_or("Corridor");
        steps.push(Step {
            at: attempt.state_at,
            order: 5,
            what: format!("Attempt {} {}", attempt.number, attempt.state.name()),
            detail: said.join(": "),
            who: match attempt.recorded() {
                Some(Recorded { why, people: Some((maker, checker)) }) => {
                    format!("{maker} with {checker} ({why})")
                }
                Some(Recorded { why, people: None }) => format!("two users ({why})"),
                None if attempt.source.is_some() => format!("{} ({source})", attempt.rail),
                None => source.to_owned(),
            },
            id: None,
            request: None,
        });
    }
    for (at, discrepancy) in &case.discrepancies {
        steps.push(Step {
            at: *at,
            order: 6,
            what: "Contradictory report".to_owned(),
            detail: discrepancy.what.clone(),
            who: "rail".to_owned(),
            id: None,
            request: None,
        });
    }
}

/// Ledger entries: one step per linked set.
fn booked(transfers: &[StoredTransfer], steps: &mut Vec<Step>) {
    let mut last: Option<(domain::ids::TransferId, usize)> = None;
    for transfer in transfers {
        match last {
            Some((set, at)) if set == transfer.set => {
                let more = format!(", {} {}", transfer.reason, transfer.amount);
                steps[at].detail.push_str(&more);
            }
            _ => {
                last = Some((transfer.set, steps.len()));
                steps.push(Step {
                    at: transfer.at,
                    order: 2,
                    what: "Booked".to_owned(),
                    detail: format!("{} {}", transfer.reason, transfer.amount),
                    who: "Corridor".to_owned(),
                    id: Some(transfer.set.0),
                    request: None,
                });
            }
        }
    }
}

/// Events for the client.
fn told(case: &Case, steps: &mut Vec<Step>) {
    for event in &case.events {
        let standing = event.standing.as_ref();
        let words = [
            standing.and_then(|it| it.msg.clone()),
            standing.and_then(|it| it.bank_reference.clone()),
        ];
        steps.push(Step {
            at: event.at,
            order: 3,
            what: format!("Event {}", event.kind.name()),
            detail: words.into_iter().flatten().collect::<Vec<_>>().join(", "),
            who: "Corridor".to_owned(),
            id: Some(event.id.0),
            request: None,
        });
    }
}

/// Users' proposals and decisions.
fn decided(proposals: &[Approval], decisions: &[Entry], steps: &mut Vec<Step>) {
    for proposal in proposals {
        let name = proposal.id.to_string();
        let request = |proposed: bool| {
            let of_it = |entry: &&Entry| {
                entry.note.subject == name && (entry.note.action == "approval.propose") == proposed
            };
            decisions.iter().find(of_it)?.deed.request_id.clone()
        };
        steps.push(Step {
            at: proposal.created_at,
            order: 7,
            what: format!("{} proposed", proposal.deed.title()),
            detail: proposal.why.clone(),
            who: proposal.maker.login.clone(),
            id: Some(proposal.id.0),
            request: request(true),
        });
        if let Some((checker, at)) = &proposal.decided {
            steps.push(Step {
                at: *at,
                order: 8,
                what: format!("{}: {}", proposal.deed.title(), proposal.state.name()),
                detail: proposal.outcome.clone(),
                who: checker.login.clone(),
                id: Some(proposal.id.0),
                request: request(false),
            });
        }
    }
}

/// Users' actions on the payment, from the audit log.
fn done(deeds: &[Entry], steps: &mut Vec<Step>) {
    for entry in deeds {
        steps.push(Step {
            at: entry.at,
            order: 9,
            what: match entry.note.action.as_str() {
                SCREENED_AGAIN => format!("Screened again (audit entry {})", entry.seq),
                action => format!("{action} (audit entry {})", entry.seq),
            },
            detail: entry.deed.why.clone(),
            who: audit::people(&entry.deed),
            id: None,
            request: entry.deed.request_id.clone(),
        });
    }
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
