//! What a search found, grouped by kind: payments first, each with what lists show of it.

use engine::backoffice::Found;
use engine::payments::Record;
use uuid::Uuid;

use super::payment_list::first_cells;
use super::quotes;
use crate::view::Section;
use crate::wallets::{deposit_row, money_of, order_row, request_row, wallet_list};
use crate::{Cell, Row, Stop, Table, Visit};

/// Records shown of each kind.
const SHOWN_MAX: usize = 50;
const PAYMENTS: [&str; 6] =
    ["Beneficiary receives", "Status", "Beneficiary", "Account", "Accepted", "Payment"];

/// The kind in plural, the heading's columns and the rows.
type Group = (&'static str, &'static [&'static str], Vec<Row>);

/// The page of a result.
pub(super) fn place(visit: &Visit, found: &Found) -> String {
    visit.href(&match found {
        Found::Payment(id) => format!("/payments/{id}"),
        Found::Quote(id) => format!("/quotes/{id}"),
        Found::Wallet(id) => format!("/wallets/{id}"),
        Found::Request(id) => format!("/requests/{id}"),
        Found::Deposit(id) => format!("/deposits/{id}"),
        Found::Order(id) => format!("/orders/{id}"),
        Found::Delivery(id) => format!("/webhooks/deliveries/{id}"),
        Found::Transfer(id) => format!("/ledger/transfers/{id}"),
    })
}

/// One section per kind, without those that are empty.
pub(super) async fn sections(visit: &Visit, found: &[Found]) -> Result<Vec<Section>, Stop> {
    let mut groups = vec![payments(visit, found).await?];
    groups.extend(wallet_things(visit, found).await?);
    groups.push(quotes(visit, found).await?);
    groups.push(others(visit, found).await?);
    let section = |(title, head, rows): Group| Section {
        title: title.to_owned(),
        table: Some(Table::new(title, head, rows)),
        ..Section::default()
    };
    Ok(groups.into_iter().filter(|(_, _, rows)| !rows.is_empty()).map(section).collect())
}

fn payment_row(visit: &Visit, record: &Record) -> Row {
    let mut row = Vec::from(first_cells(visit, record));
    row.push(Cell::id(record.payment.id));
    row
}

async fn payments(visit: &Visit, found: &[Found]) -> Result<Group, Stop> {
    let ids: Vec<_> = found
        .iter()
        .filter_map(|it| if let Found::Payment(id) = it { Some(*id) } else { None })
        .take(SHOWN_MAX)
        .collect();
    let mut records = visit.console().store().records(visit.tenant_id()?, &ids).await?;
    records.sort_by_key(|record| std::cmp::Reverse(record.payment.accepted_at));
    let rows = records.iter().map(|record| payment_row(visit, record)).collect();
    Ok(("Payments", &PAYMENTS, rows))
}

async fn wallet_things(visit: &Visit, found: &[Found]) -> Result<[Group; 4], Stop> {
    let (store, tenant) = (visit.console().store(), visit.tenant_id()?);
    let [mut wallets, mut requests, mut deposits, mut orders] = [const { Vec::new() }; 4];
    for it in found {
        match it {
            Found::Wallet(id) if wallets.len() < SHOWN_MAX => {
                let wallet = store.wallet(tenant, *id).await?;
                wallets.extend(wallet.map(|it| wallet_list::row(visit, &it)));
            }
            Found::Request(id) if requests.len() < SHOWN_MAX => {
                let request = store.request(tenant, *id).await?;
                if let Some(it) = request {
                    let money = money_of(visit, std::slice::from_ref(&it)).await?(&it);
                    requests.push(request_row(visit, &it, &money));
                }
            }
            Found::Deposit(id) if deposits.len() < SHOWN_MAX => {
                let deposit = store.deposit(tenant, *id).await?;
                deposits.extend(deposit.map(|it| deposit_row(visit, &it)));
            }
            Found::Order(id) if orders.len() < SHOWN_MAX => {
                let order = store.exchange(tenant, *id).await?;
                orders.extend(order.map(|it| order_row(visit, &it)));
            }
            _ => {}
        }
    }
    Ok([
        (
            "Deposits",
            &["Deposit", "State", "Amount", "Last change", "First seen", "Wallet"],
            deposits,
        ),
        ("Orders", &["Order", "State", "Amount", "Last change", "Created", "Wallet"], orders),
        (
            "Payment requests",
            &["Request", "Status", "Requested", "Received", "Created", "Expires"],
            requests,
        ),
        ("Wallets", &wallet_list::HEAD, wallets),
    ])
}

async fn quotes(visit: &Visit, found: &[Found]) -> Result<Group, Stop> {
    let (store, tenant) = (visit.console().store(), visit.tenant_id()?);
    let mut rows = Vec::new();
    for it in found {
        if let Found::Quote(id) = it
            && rows.len() < SHOWN_MAX
        {
            rows.extend(store.quote(tenant, *id).await?.map(|quote| quotes::row(visit, &quote)));
        }
    }
    Ok(("Quotes", &quotes::HEAD, rows))
}

/// Events of webhooks, and transfers whose owner has no page.
async fn others(visit: &Visit, found: &[Found]) -> Result<Group, Stop> {
    let (store, tenant) = (visit.console().store(), visit.tenant_id()?);
    let link = |it: &Found, id: Uuid| Cell::id_link(place(visit, it), id);
    let mut rows = Vec::new();
    for it in found.iter().take(SHOWN_MAX) {
        match it {
            Found::Delivery(id) => {
                if let Some(record) = store.delivery(tenant, *id).await? {
                    rows.push(vec![
                        link(it, id.0),
                        Cell::text(format!("webhook {}", record.event.kind_name())),
                        Cell::text(record.delivery.state.name()),
                        Cell::When(record.delivery.created_at),
                    ]);
                }
            }
            Found::Transfer(id) => {
                if let Some(transfer) = store.transfer(tenant, *id).await? {
                    rows.push(vec![
                        link(it, id.0),
                        Cell::text("transfer"),
                        Cell::text(transfer.reason.as_str()),
                        Cell::When(transfer.at),
                    ]);
                }
            }
            _ => {}
        }
    }
    Ok(("Events and transfers", &["Id", "Kind", "State or reason", "Time"], rows))
}
