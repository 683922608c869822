//! All exchange orders of a tenant with filters, as a page and as a file.

use domain::coin_amount;
use domain::exchange::{ExchangeOrder, ExchangeState};
use engine::wallets::Wanted;

use super::{order_people, order_tone};
use crate::export::{self, Csv};
use crate::lists::{HIDDEN, chips, dated_filters, none, period, views, with_columns};
use crate::payments::masked;
use crate::view::{Field, Section, amount_text, asked, coins, latest, page, query, turned, turns};
use crate::{Answer, Cell, Stop, Table, Visit, saved_views};
use http_api::wallet_v1::render::money;

const FILTERS: [(&str, &str); 3] =
    [("state", "State"), ("from", "Created from"), ("to", "Created to")];
const NAMES: [&str; 4] = ["state", "from", "to", HIDDEN];
const VIEWS: [(&str, &str); 5] = [
    ("All", ""),
    ("Paying out", "state=paying"),
    ("Settled", "state=settled"),
    ("Returning", "state=returning"),
    ("Failed", "state=failed"),
];

fn wanted(visit: &Visit) -> Result<Wanted<ExchangeState>, Stop> {
    let (start, end) = period(visit)?;
    Ok(Wanted { states: asked(visit, "state", ExchangeState::parse)?, start, end })
}

const HEAD: [&str; 8] =
    ["Pays out", "State", "Beneficiary", "Amount", "Created", "Last change", "Wallet", "Order"];

fn row(visit: &Visit, order: &ExchangeOrder) -> Vec<Cell> {
    let to = visit.href(&format!("/orders/{}", order.id));
    vec![
        Cell::link(to, amount_text(order.payout)),
        Cell::state(order_people(order), order_tone(order)),
        Cell::text(masked::name(&order.bank.holder)),
        coins(order.minor, order.coin),
        Cell::When(order.created_at),
        Cell::When(order.state_at),
        Cell::id_link(visit.href(&format!("/wallets/{}", order.wallet)), order.wallet),
        Cell::id(order.id),
    ]
}

pub(super) async fn list(visit: Visit) -> Answer {
    let saved = match saved_views::of(&visit, "orders").await? {
        Ok(saved) => Some(saved),
        Err(opening) => return Ok(opening),
    };
    let (tenant, wanted, path) = (visit.tenant_id()?, wanted(&visit)?, visit.href("/orders"));
    let found = visit.console().store().office_orders(tenant, &wanted, turned(&visit)?).await?;
    let rows: Vec<_> = found.rows.iter().map(|order| row(&visit, order)).collect();
    let pager = turns(&visit, &path, &NAMES, &found);
    let table = Table::new("Exchange orders", &HEAD, rows)
        .or(none(&visit, "No orders yet.", "No orders match.", &NAMES))
        .paged(pager);
    let state = Field::one_of("state", "State", ExchangeState::ALL.map(ExchangeState::name));
    let mut links = export::links(&visit, "orders", &query(&visit, &NAMES));
    links.extend(latest(&visit, &path, &NAMES));
    page(
        &visit,
        "Exchange orders",
        vec![Section {
            links,
            views: views(&visit, &path, &NAMES[..3], &VIEWS),
            saved,
            filters: Some(dated_filters(&visit, state, "Created from")),
            chips: chips(&visit, &path, &FILTERS),
            table: Some(with_columns(&visit, &path, &NAMES[..3], table)),
            ..Section::default()
        }],
    )
}

pub(super) async fn export(visit: Visit) -> Answer {
    let (tenant, wanted) = (visit.tenant_id()?, wanted(&visit)?);
    let head = [
        "order_id",
        "wallet_id",
        "status",
        "state",
        "amount",
        "currency",
        "payout",
        "payout_currency",
        "rate",
        "spread",
        "failure_reason",
        "settlement_reference",
        "created_at",
        "settled_at",
    ];
    let shown: [&[&str]; HEAD.len()] = [
        &["payout", "payout_currency"],
        &["state"],
        &[],
        &["amount", "currency"],
        &["created_at"],
        &[],
        &["wallet_id"],
        &["order_id"],
    ];
    let mut csv = Csv::shown(&visit, &head, &shown);
    let store = visit.console().store();
    super::every_page(
        |page| Box::pin(store.office_orders(tenant, &wanted, page)),
        |order| {
            csv.row([
                order.id.to_string(),
                order.wallet.to_string(),
                order.state.status().name().to_owned(),
                order.state.name().to_owned(),
                coin_amount::show(order.minor),
                order.coin.currency().code().to_owned(),
                money(order.payout),
                order.payout.currency.code().to_owned(),
                order.rate.to_string(),
                order.spread.to_string(),
                order.failure.map(|why| why.name().to_owned()).unwrap_or_default(),
                order.settlement_reference.clone().unwrap_or_default(),
                order.created_at.to_string(),
                order.settled_at.map(|at| at.to_string()).unwrap_or_default(),
            ]);
        },
    )
    .await?;
    csv.taken(&visit, "orders.csv").await
}
