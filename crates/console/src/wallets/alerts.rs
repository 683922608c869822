//! Open alerts with filters, as a page and as a file, and closing those that were handled. A
//! recurrence opens a new alert.

use domain::time::Timestamp;
use domain::wallet_effects::{Alert, AlertKind};
use engine::wallets::{KeysetPage, Mark};
use uuid::Uuid;

use crate::export::{self, Csv};
use crate::lists::{HIDDEN, chips, dated_filters, none, period, with_columns};
use crate::view::{
    Field, FormView, Section, age, asked, latest, page, query, turned, turns, words,
};
use crate::{Answer, Cell, Stop, Table, Visit, saved_views};

/// Maximum number of open alerts that are read: the latest.
const READ_MAX: usize = 10_000;

const FILTERS: [(&str, &str); 3] = [("kind", "Kind"), ("from", "Since"), ("to", "Until")];
const NAMES: [&str; 4] = ["kind", "from", "to", HIDDEN];
/// Columns beside the one that closes alerts.
const HEAD: [&str; 5] = ["Kind", "Since", "Age", "Subject", "Description"];

type Open = (Timestamp, Alert);

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

/// All open alerts.
async fn open(visit: &Visit) -> Result<Vec<Open>, Stop> {
    Ok(visit.console().store().alerts(visit.tenant_id()?, READ_MAX).await?)
}

/// The open alerts that the query asks for.
async fn wanted(visit: &Visit) -> Result<Vec<Open>, Stop> {
    let kind = asked(visit, "kind", AlertKind::parse)?.pop();
    let (start, end) = period(visit)?;
    let mut alerts = open(visit).await?;
    alerts.retain(|(at, alert)| {
        kind.is_none_or(|kind| alert.kind == kind)
            && start.is_none_or(|start| *at >= start)
            && end.is_none_or(|end| *at < end)
    });
    Ok(alerts)
}

pub(super) async fn list(visit: Visit) -> Answer {
    let saved = match saved_views::of(&visit, "alerts").await? {
        Ok(saved) => Some(saved),
        Err(opening) => return Ok(opening),
    };
    let path = visit.href("/alerts");
    let mark = |(at, alert): &Open| Mark::of_id(*at, alert.id());
    let found = KeysetPage::of_all(wanted(&visit).await?, turned(&visit)?, mark);
    let may = visit.may_use("POST", "/console/t/{tenant}/alerts/close");
    let rows = found.rows.iter().map(|open| row(&visit, open, may));
    let mut head = HEAD.to_vec();
    head.extend(may.then_some("Close"));
    let table = Table::new("Open alerts", &head, rows.collect::<Result<Vec<_>, Stop>>()?)
        .or(none(&visit, "No open alerts.", "No open alerts match.", &NAMES))
        .paged(turns(&visit, &path, &NAMES, &found));
    let mut links = export::links(&visit, "alerts", &query(&visit, &NAMES));
    links.extend(latest(&visit, &path, &NAMES));
    let kind = Field::one_of("kind", "Kind", AlertKind::ALL.map(AlertKind::name));
    let list = Section {
        links,
        saved,
        filters: Some(dated_filters(&visit, kind, "Since")),
        chips: chips(&visit, &path, &FILTERS),
        table: Some(with_columns(&visit, &path, &NAMES[..3], table)),
        ..Section::default()
    };
    let closing = if may { closing(&visit).await? } else { None };
    page(&visit, "Alerts", closing.into_iter().chain([list]).collect())
}

fn row(visit: &Visit, (at, alert): &Open, may_close: bool) -> Result<Vec<Cell>, Stop> {
    let mut row = vec![
        Cell::text(words(alert.kind.name())),
        Cell::When(*at),
        Cell::number(age(*at, visit.console().now())),
        subject(visit, alert)?,
        Cell::text(alert.what.as_str()),
    ];
    if may_close {
        let asked = query(visit, &NAMES);
        let here = if asked.is_empty() { asked } else { format!("{asked}&") };
        let to = visit.href(&format!("/alerts?{here}alert={}", alert.id()));
        row.push(Cell::link(to, "Close …"));
    }
    Ok(row)
}

/// The form that closes the alert which the query names.
async fn closing(visit: &Visit) -> Result<Option<Section>, Stop> {
    let Some(chosen) = visit.query().given("alert").and_then(|text| Uuid::parse_str(text).ok())
    else {
        return Ok(None);
    };
    let alerts = open(visit).await?;
    let form = alerts.iter().find(|(_, alert)| alert.id() == chosen).map(|(_, alert)| {
        let to = visit.href("/alerts/close");
        FormView::new("close", "Close this alert", to, "Close the alert")
            .says(format!("{}: {}", words(alert.kind.name()), alert.what))
            .field(Field::hidden("alert", alert.id()))
            .why()
    });
    Ok(form.map(|form| Section { forms: vec![form], ..Section::default() }))
}

pub(super) async fn export(visit: Visit) -> Answer {
    let head = ["alert_id", "kind", "since", "subject", "description"];
    let shown: [&[&str]; HEAD.len()] = [&["kind"], &["since"], &[], &["subject"], &["description"]];
    let mut csv = Csv::shown(&visit, &head, &shown);
    for (at, alert) in wanted(&visit).await? {
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
