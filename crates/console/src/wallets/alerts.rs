//! Open alerts, and closing those that were handled. A recurrence opens a new alert.

use domain::time::Timestamp;
use domain::wallet_effects::{Alert, AlertKind};
use uuid::Uuid;

use crate::export::{self, Csv};
use crate::view::{Field, FormView, Section, age, page, words};
use crate::{Answer, Cell, Stop, Table, Visit};

/// Maximum number of alerts shown, as on the command line.
const SHOWN_MAX: usize = 1_000;

/// The page of an alert's subject, if it has one.
fn subject(visit: &Visit, alert: &Alert) -> Result<Cell, Stop> {
    // Alerts without a payment concern the tenant; they are on the reconciliation page.
    let is_tenant = alert.subject == visit.tenant_id()?.0;
    let below = match alert.kind {
        AlertKind::DeliveryDead => "/webhooks/deliveries/",
        AlertKind::Payout => "/orders/",
        AlertKind::DeepReorg | AlertKind::DirectDeposit => "/deposits/",
        AlertKind::BlacklistByIssuer | AlertKind::ListedNames => "/wallets/",
        AlertKind::Discrepancy | AlertKind::RailMismatch if is_tenant => {
            return Ok(Cell::id_link(visit.href("/reconciliation"), alert.subject));
        }
        AlertKind::Discrepancy | AlertKind::Recall => "/payments/",
        // A payment or an order's payout, a request or a wallet: the search knows which.
        AlertKind::RailMismatch | AlertKind::ListedDust => "/search?q=",
        AlertKind::ReceiverGone
        | AlertKind::TokenChanged
        | AlertKind::ControllerAdmin
        | AlertKind::UnsupportedAsset
        | AlertKind::Transaction
        | AlertKind::LowGas
        | AlertKind::ChainMismatch
        | AlertKind::ChainNode
        | AlertKind::Relay
        | AlertKind::RateSource
        | AlertKind::SanctionList
        | AlertKind::RailFaults => return Ok(Cell::id(alert.subject)),
    };
    Ok(Cell::id_link(visit.href(&format!("{below}{}", alert.subject)), alert.subject))
}

async fn open(visit: &Visit) -> Result<Vec<(Timestamp, Alert)>, Stop> {
    Ok(visit.console().store().alerts(visit.tenant_id()?, SHOWN_MAX).await?)
}

pub(super) async fn list(visit: Visit) -> Answer {
    let (alerts, now) = (open(&visit).await?, visit.console().now());
    let may = visit.may_use("POST", "/console/t/{tenant}/alerts/close");
    let row = |(at, alert): &(Timestamp, Alert)| -> Result<Vec<Cell>, Stop> {
        let mut row = vec![
            Cell::text(words(alert.kind.name())),
            Cell::When(*at),
            Cell::number(age(*at, now)),
            subject(&visit, alert)?,
            Cell::text(alert.what.as_str()),
        ];
        if may {
            row.push(Cell::link(visit.href(&format!("/alerts?alert={}", alert.id())), "Close …"));
        }
        Ok(row)
    };
    let mut head = vec!["Kind", "Since", "Age", "Subject", "Description"];
    head.extend(may.then_some("Close"));
    let table =
        Table::new("Open alerts", &head, alerts.iter().map(row).collect::<Result<Vec<_>, Stop>>()?)
            .or("No open alerts.");
    let mut sections = Vec::new();
    let chosen = visit.query().given("alert").and_then(|text| Uuid::parse_str(text).ok());
    if let Some((_, alert)) = alerts.iter().find(|(_, alert)| may && Some(alert.id()) == chosen) {
        let form = FormView::new(
            "close",
            "Close this alert",
            visit.href("/alerts/close"),
            "Close the alert",
        )
        .says(format!("{}: {}", words(alert.kind.name()), alert.what))
        .field(Field::hidden("alert", alert.id()));
        sections.push(Section { forms: vec![form.why()], ..Section::default() });
    }
    let links = export::links(&visit, "alerts", "");
    sections.push(Section { links, table: Some(table), ..Section::default() });
    page(&visit, "Alerts", sections)
}

pub(super) async fn export(visit: Visit) -> Answer {
    let mut csv = Csv::new(&visit, &["alert_id", "kind", "since", "subject", "description"]);
    for (at, alert) in open(&visit).await? {
        csv.row([
            alert.id().to_string(),
            alert.kind.name().to_owned(),
            at.to_string(),
            alert.subject.to_string(),
            alert.what,
        ]);
    }
    csv.taken(&visit, "alerts.csv").await
}

pub(super) async fn close(visit: Visit) -> Answer {
    let why = visit.why()?.to_owned();
    let wanted = Uuid::parse_str(visit.form().text("alert")).map_err(|_| Stop::NotFound)?;
    let alerts = open(&visit).await?;
    let (_, alert) = alerts.iter().find(|(_, alert)| alert.id() == wanted).ok_or(Stop::NotFound)?;
    // The store records the actor and the reason in the same commit.
    visit.console().store().close_alert(visit.tenant_id()?, alert, visit.deed(&why)).await?;
    Ok(visit.done(&visit.href("/alerts"), "Closed. A recurrence opens a new alert."))
}
