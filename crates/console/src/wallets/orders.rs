//! All exchange orders of a tenant with filters, as a page and as a file.

use domain::coin_amount;
use domain::exchange::ExchangeState;
use engine::wallets::Wanted;

use super::order_row;
use crate::export::Csv;
use crate::view::{Field, FormView, Section, amount_text, asked, page, pager, query, sheet};
use crate::{Answer, Cell, Stop, Table, Visit};
use http_api::wallet_v1::render::money;

const FILTERS: [&str; 1] = ["state"];

fn wanted(visit: &Visit) -> Result<Wanted<ExchangeState>, Stop> {
    Ok(Wanted { states: asked(visit, "state", ExchangeState::parse)?, ..Wanted::default() })
}

pub(super) async fn list(visit: Visit) -> Answer {
    let (tenant, wanted) = (visit.tenant_id()?, wanted(&visit)?);
    let found = visit.console().store().office_orders(tenant, &wanted, sheet(&visit)).await?;
    let row = |order| {
        let mut row = order_row(&visit, order);
        row.insert(3, Cell::number(amount_text(order.payout)));
        row
    };
    let rows: Vec<_> = found.rows.iter().map(row).collect();
    let head = ["Order", "State", "Amount", "Pays out", "Last change", "Created", "Wallet"];
    let pager = pager(&visit, &visit.href("/orders"), &FILTERS, rows.len(), found.more);
    let table = Table::new("Exchange orders", &head, rows).or("No orders match.").paged(pager);
    let state = Field::one_of("state", "State", ExchangeState::ALL.map(ExchangeState::name));
    let filters = FormView::filters(vec![state.or_all().as_asked(visit.query())]);
    let file = format!("{}?{}", visit.href("/orders/export.csv"), query(&visit, &FILTERS));
    let links = vec![(file, "Download as CSV".to_owned())];
    page(
        &visit,
        "Exchange orders",
        vec![Section { links, filters: Some(filters), table: Some(table), ..Section::default() }],
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
    let mut csv = Csv::new(&head);
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
