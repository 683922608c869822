//! A tenant's webhooks: endpoint, deliveries, and resending missed events.

use domain::audit::{Facts, Note};
use domain::delivery::DeliveryState;
use domain::time::Timestamp;
use domain::wallet_event::WalletEventKind;
use engine::wallets::{DeliveryFilter, DeliveryRecord, EventsOf};
use jiff::civil::Date;
use jiff::tz::TimeZone;

use crate::export::{self, Csv};
use crate::lists::{HIDDEN, none, with_columns};
use crate::view::{Field, FormView, Section, asked, instant, latest, page, turned, turns, words};
use crate::{Answer, Cell, Stop, Table, Tone, Visit};

const HEAD: [&str; 7] =
    ["Delivery", "Event", "Status", "Attempts", "Created", "Next attempt", "Last answer"];
const FILTERS: [&str; 5] = ["service", "status", "event", "from", "until"];
/// The services of events, with labels.
const EVENTS_OF: [(&str, &str); 2] =
    [("wallet", "the wallet service"), ("payment", "the payment service")];

pub(crate) const fn tone(state: DeliveryState) -> Tone {
    match state {
        DeliveryState::Delivered => Tone::Good,
        DeliveryState::Pending => Tone::Busy,
        DeliveryState::Dead => Tone::Bad,
        DeliveryState::Disabled => Tone::Warn,
    }
}

/// The start of a day (UTC) in a query or a form; `None` without one.
pub(super) fn day(text: Option<&str>) -> Result<Option<Timestamp>, Stop> {
    let wrong = || Stop::Invalid("Enter a day such as 2026-11-22.".to_owned());
    let Some(text) = text else { return Ok(None) };
    let day: Date = text.parse().map_err(|_| wrong())?;
    let begins = day.to_zoned(TimeZone::UTC).map_err(|_| wrong())?;
    Ok(Some(Timestamp(begins.timestamp().as_microsecond())))
}

fn filter(visit: &Visit) -> Result<DeliveryFilter, Stop> {
    let of = asked(visit, "service", EventsOf::parse)?.pop().unwrap_or_default();
    let bound =
        |name| day(visit.query().given(name)).map_err(|stop| Stop::wrong(name, stop.words()));
    Ok(DeliveryFilter {
        of,
        states: asked(visit, "status", DeliveryState::parse)?,
        kinds: asked(visit, "event", |name| of.kinds().into_iter().find(|kind| *kind == name))?,
        start: bound("from")?,
        end: bound("until")?,
    })
}

pub(super) async fn list(visit: Visit) -> Answer {
    let (caller, filter) = (visit.caller()?, filter(&visit)?);
    let console = visit.console();
    let page_wanted = turned(&visit)?;
    let found = console.store().office_deliveries(caller.tenant, &filter, page_wanted).await?;
    let undelivered = console.store().undelivered_counts(caller.tenant).await?;
    let row = |record: &DeliveryRecord| {
        let delivery = &record.delivery;
        let answer = delivery
            .last_fault
            .clone()
            .or_else(|| delivery.last_status.map(|status| status.to_string()));
        vec![
            Cell::id_link(
                visit.href(&format!("/webhooks/deliveries/{}", delivery.event)),
                delivery.event,
            ),
            Cell::text(record.event.kind_name()),
            Cell::state(delivery.state.name(), tone(delivery.state)),
            Cell::number(delivery.attempts),
            Cell::When(delivery.created_at),
            instant(delivery.next_at),
            Cell::maybe(answer),
        ]
    };
    let rows: Vec<_> = found.rows.iter().map(row).collect();
    let path = visit.href("/webhooks");
    let pager = turns(&visit, &path, &kept(), &found);
    let table = Table::new("Deliveries", &HEAD, rows)
        .or(none(&visit, "No deliveries yet.", "No deliveries match.", &FILTERS))
        .paged(pager);
    let query = visit.query();
    let kinds: Vec<_> = filter.of.kinds().into_iter().map(|kind| (kind, kind)).collect();
    let filters = FormView::filters(vec![
        Field::choice("service", "Events of", &EVENTS_OF).holding(filter.of.name()),
        Field::one_of("status", "Status", DeliveryState::ALL.map(DeliveryState::name))
            .or_all()
            .as_asked(query),
        Field::choice("event", "Event", &kinds).or_all().as_asked(query),
        Field::day("from", "From (UTC)").as_asked(query),
        Field::day("until", "Before (UTC)").as_asked(query),
        Field::hidden(HIDDEN, query.text(HIDDEN)),
    ]);
    let counts: Vec<String> =
        undelivered.iter().map(|(state, count)| format!("{count} {}", state.name())).collect();
    let says = if counts.is_empty() { "none".to_owned() } else { counts.join(", ") };
    let says = vec![format!("Not delivered: {says}")];
    let mut links =
        export::links(&visit, "webhooks/deliveries", &crate::view::query(&visit, &kept()));
    links.extend(latest(&visit, &path, &kept()));
    let deliveries = Section {
        title: "Deliveries".to_owned(),
        says,
        links,
        filters: Some(filters),
        table: Some(with_columns(&visit, &path, &FILTERS, table)),
        ..Section::default()
    };
    let mut sections = vec![
        super::receiver::section(&visit).await?,
        super::waiting_words(&visit, "webhook").await?,
    ];
    sections.extend(super::delivery_chart::section(&visit, &undelivered).await?);
    sections.extend([deliveries, super::receiver::control(&visit).await?]);
    page(&visit, "Webhooks", sections)
}

/// The fields of the query that links within the list keep.
fn kept() -> Vec<&'static str> {
    FILTERS.into_iter().chain([HIDDEN]).collect()
}

pub(super) async fn export(visit: Visit) -> Answer {
    let (tenant, filter) = (visit.tenant_id()?, filter(&visit)?);
    let head = [
        "event_id",
        "event",
        "status",
        "attempts",
        "created_at",
        "next_attempt_at",
        "delivered_at",
        "last_status",
        "last_failure",
        "sequence",
    ];
    let shown: [&[&str]; HEAD.len()] = [
        &["event_id"],
        &["event"],
        &["status"],
        &["attempts"],
        &["created_at"],
        &["next_attempt_at"],
        &["last_status", "last_failure"],
    ];
    let mut csv = Csv::shown(&visit, &head, &shown);
    let store = visit.console().store();
    let at = |at: Option<Timestamp>| at.map(|at| at.to_string()).unwrap_or_default();
    super::every_page(
        |page| Box::pin(store.office_deliveries(tenant, &filter, page)),
        |DeliveryRecord { delivery, event }| {
            csv.row([
                delivery.event.to_string(),
                event.kind_name().to_owned(),
                delivery.state.name().to_owned(),
                delivery.attempts.to_string(),
                delivery.created_at.to_string(),
                at(delivery.next_at),
                at(delivery.delivered_at),
                delivery.last_status.map(|status| status.to_string()).unwrap_or_default(),
                delivery.last_fault.unwrap_or_default(),
                event.seq().to_string(),
            ]);
        },
    )
    .await?;
    csv.taken(&visit, "deliveries.csv").await
}

/// Resends missed events since a day, oldest first.
pub(super) async fn recover(visit: Visit) -> Answer {
    let (caller, why) = (visit.caller()?, visit.why()?.to_owned());
    let since = day(visit.form().given("since"))
        .map_err(|stop| Stop::wrong("since", stop.words()))?
        .ok_or_else(|| Stop::wrong("since", "Please enter a day."))?;
    let wallets = &visit.console().wallets;
    let lost = wallets.lost_since(&caller, since).await?;
    wallets.recover(&caller, &lost, &visit.deed(&why)).await?;
    let more = if lost.more { " More remain: repeat the resend." } else { "" };
    let late = match lost.untold.len() {
        0 => String::new(),
        count => format!(" Earlier payment events queued: {count}."),
    };
    let words = format!("Deliveries queued again: {}.{late}{more}", lost.deliveries.len());
    Ok(visit.done(&visit.href("/webhooks"), &words))
}

/// Sends a fictitious event to the endpoint; the page shows the answer.
pub(super) async fn example(visit: Visit) -> Answer {
    let caller = visit.caller()?;
    let kind = WalletEventKind::parse(visit.form().text("event"));
    let kind = kind.ok_or_else(|| Stop::wrong("event", "Please choose an event."))?;
    let (aggregate, event) = visit.console().outside.example(kind);
    let sent = visit.console().wallets.send_example(&caller, aggregate, event).await;
    let (message, answer) = sent.map_err(|denied| match denied {
        engine::wallets::Denied::NotFound(_) => {
            Stop::Refused("No endpoint is configured, or webhooks are disabled.".to_owned())
        }
        denied => denied.into(),
    })?;
    let mut facts = Facts::new().text("event", kind.name());
    if let Some(status) = answer.status {
        facts = facts.number("status", status.into());
    }
    visit.took(Note::new("webhook.example", "webhook", caller.tenant).after(facts)).await?;
    let (word, tone) = match &answer.result {
        domain::webhook::DeliveryResult::Received => ("received".to_owned(), Tone::Good),
        domain::webhook::DeliveryResult::NotReceived(why) => (why.clone(), Tone::Bad),
        domain::webhook::DeliveryResult::Gone => {
            ("410: the endpoint is gone".to_owned(), Tone::Bad)
        }
    };
    let facts = vec![
        ("Event", Cell::text(kind.name())),
        ("Result", Cell::state(words(&word), tone)),
        ("HTTP status", answer.status.map_or(Cell::Empty, Cell::number)),
        ("Took", Cell::number(format!("{} ms", answer.took.0 / 1_000))),
        ("Path", Cell::text(message.path.as_str())),
        ("Id", Cell::id(message.id)),
    ];
    let body = String::from_utf8_lossy(&message.body).into_owned();
    let exact = vec![("Request body".to_owned(), body), ("Answer".to_owned(), answer.body)];
    let links = vec![visit.back("/webhooks", "Back to the webhooks")];
    let says = vec!["The test event is not stored.".to_owned()];
    page(
        &visit,
        "Test event sent",
        vec![Section { says, links, facts, exact, ..Section::default() }],
    )
}
