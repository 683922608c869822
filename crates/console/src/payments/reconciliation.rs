//! Discrepancies between the ledger, the chain, the rails and bank statements, as of the last
//! reconciliation, and rail reports that are contradictory or match no payment.

use axum::response::Response;
use domain::bank_statement::RailBreak;
use domain::payment::Discrepancy;
use domain::time::Timestamp;
use domain::wallet_effects::Alert;
use engine::reconcile::{self, Break, Covered, Report, UnmatchedReport};

use crate::view::{FormView, Section, page, words};
use crate::{Answer, Cell, Stop, Table, Tone, Visit, encoded};

/// Maximum number of alerts and contradictions shown.
const READ_MAX: usize = 500;

/// What the last comparison covers.
const WHOLE: &str = "The comparison covers the whole installation; the discrepancies below are this tenant's. Of a tenant \
    that was created after it, it says nothing.";

/// Whether a discrepancy has an open alert, and since when.
fn called(alerts: &[(Timestamp, Alert)], it: &Break) -> [Cell; 2] {
    let account = it.account.to_string();
    match alerts.iter().find(|(_, alert)| alert.what.contains(&account)) {
        Some((since, _)) => [Cell::state("open", Tone::Bad), Cell::When(*since)],
        None => [Cell::state("new", Tone::Warn), Cell::Empty],
    }
}

async fn breaks(visit: &Visit, report: &Report) -> Result<Section, Stop> {
    let tenant = visit.tenant_id()?;
    let alerts = visit.console().store().alerts(tenant, READ_MAX).await?;
    let row = |it: &Break| {
        let money = |minor| domain::money::Money::new(minor, it.account.currency());
        let ledger = match it.least == it.most {
            true => money(it.least).to_string(),
            false => format!("{} to {}", money(it.least), money(it.most)),
        };
        let [state, since] = called(&alerts, it);
        let code = it.account.to_string();
        vec![
            Cell::id_link(visit.href(&format!("/ledger/account?code={}", encoded(&code))), code),
            Cell::text(it.side.name()),
            Cell::number(money(it.said)),
            Cell::number(ledger),
            state,
            since,
        ]
    };
    let rows: Vec<_> = report.breaks.iter().filter(|it| it.tenant == tenant).map(row).collect();
    let title = format!("Discrepancies: {}", rows.len());
    let head = ["Account", "Compared with", "External balance", "Ledger balance", "State", "Since"];
    let table = Table::new("Discrepancies", &head, rows).or("No discrepancies.");
    Ok(Section { title, table: Some(table), ..Section::default() })
}

async fn contradictions(visit: &Visit) -> Result<Section, Stop> {
    let found = visit.console().store().discrepancies(visit.tenant_id()?, READ_MAX).await?;
    let row = |(at, it): &(Timestamp, Discrepancy)| {
        vec![
            Cell::When(*at),
            Cell::id_link(visit.href(&format!("/payments/{}", it.payment)), it.payment),
            Cell::text(it.what.as_str()),
        ]
    };
    let rows: Vec<_> = found.iter().map(row).collect();
    let title = format!("Contradictory reports: {}", rows.len());
    let says = vec!["These reports changed nothing. Contact the bank.".to_owned()];
    let table = Table::new("Reports of rails", &["First reported", "Payment", "Report"], rows)
        .or("No contradictory reports.");
    Ok(Section { title, says, table: Some(table), ..Section::default() })
}

/// The period covered by the statements of each rail's account.
async fn statements(visit: &Visit) -> Result<Section, Stop> {
    let covered = visit.console().store().covered().await?;
    let row = |it: &Covered| {
        vec![
            Cell::text(it.rail.to_string()),
            Cell::text(it.currency.code()),
            Cell::When(it.from),
            Cell::When(it.to),
        ]
    };
    let head = ["Rail", "Currency", "From", "To"];
    let table = Table::new("Statements", &head, covered.iter().map(row).collect())
        .or("No bank statement (camt.053) received yet.");
    Ok(Section { title: "Bank statements".to_owned(), table: Some(table), ..Section::default() })
}

async fn statement_breaks(visit: &Visit) -> Result<Section, Stop> {
    let tenant = visit.tenant_id()?;
    let found = visit.console().store().rail_breaks(tenant, READ_MAX).await?;
    let row = |(since, it): &(Timestamp, RailBreak)| {
        let about = match it.subject == tenant.0 {
            true => Cell::Empty,
            // A payment or an order's payout: the search knows which.
            false => Cell::id_link(visit.href(&format!("/search?q={}", it.subject)), it.subject),
        };
        vec![
            Cell::When(*since),
            Cell::text(words(it.kind.name())),
            Cell::text(it.rail.to_string()),
            about,
            Cell::text(it.what.as_str()),
        ]
    };
    let rows: Vec<_> = found.iter().map(row).collect();
    let title = format!("Bank statement discrepancies: {}", rows.len());
    let says = vec![
        "Each is an open alert. A later statement closes it, or an operator closes the alert."
            .to_owned(),
    ];
    let head = ["Since", "Kind", "Rail", "Subject", "Description"];
    let table = Table::new("Bank statement discrepancies", &head, rows)
        .or("The bank statements match the ledger.");
    Ok(Section { title, says, table: Some(table), ..Section::default() })
}

async fn strays(visit: &Visit) -> Result<Section, Stop> {
    let found = visit.console().store().strays(visit.tenant_id()?, READ_MAX).await?;
    let row = |it: &UnmatchedReport| {
        vec![
            Cell::When(it.at),
            Cell::text(it.rail.to_string()),
            Cell::text(it.report.what.as_str()),
        ]
    };
    let rows: Vec<_> = found.iter().map(row).collect();
    let title = format!("Unmatched reports: {}", rows.len());
    let table = Table::new("Unmatched reports", &["First reported", "Rail", "Report"], rows)
        .or("Every report matches a payment.");
    Ok(Section { title, table: Some(table), ..Section::default() })
}

pub(super) async fn show(visit: Visit) -> Answer {
    let last = reconcile::last(visit.console().store()).await?;
    let mut forms = Vec::new();
    if visit.may_use("POST", "/console/t/{tenant}/reconciliation/compare") {
        let action = visit.href("/reconciliation/compare");
        let says = "The service reconciles shortly. Reload the page to see the result.";
        forms.push(FormView::new("compare", "Reconcile now", action, "Reconcile").says(says));
    }
    let first = match &last {
        Some(report) => {
            let facts = vec![
                ("Compared", Cell::When(report.at)),
                ("Balances on the chain, all tenants", Cell::number(report.vaults)),
                ("Accounts at rails, all tenants", Cell::number(report.rails)),
            ];
            let says = vec![WHOLE.to_owned()];
            Section { says, facts, forms, ..Section::default() }
        }
        None => {
            let says = vec![
                "No reconciliation yet. A running service reconciles every ten minutes.".to_owned(),
            ];
            Section { says, forms, ..Section::default() }
        }
    };
    let mut sections = vec![first];
    if let Some(report) = &last {
        sections.push(breaks(&visit, report).await?);
    }
    sections.push(statement_breaks(&visit).await?);
    sections.push(contradictions(&visit).await?);
    sections.push(strays(&visit).await?);
    sections.push(statements(&visit).await?);
    page(&visit, "Reconciliation", sections)
}

pub(super) async fn compare(visit: Visit) -> Result<Response, Stop> {
    reconcile::want(visit.console().store()).await?;
    Ok(visit.done(&visit.href("/reconciliation"), "Reconciliation requested."))
}
