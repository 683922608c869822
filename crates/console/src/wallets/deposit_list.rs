//! All deposits of a tenant with filters, as a page and as a file.

use domain::coin_amount;
use domain::deposit::{Deposit, DepositState};
use engine::wallets::Wanted;

use super::{deposit_people, deposit_tone};
use crate::export::{self, Csv};
use crate::lists::{HIDDEN, chips, dated_filters, none, period, views, with_columns};
use crate::payments::masked;
use crate::view::{Field, Section, asked, coins_text, latest, page, query, turned, turns};
use crate::{Answer, Cell, Stop, Table, Visit, saved_views};

const FILTERS: [(&str, &str); 3] = [("state", "State"), ("from", "Seen from"), ("to", "Seen to")];
const NAMES: [&str; 4] = ["state", "from", "to", HIDDEN];
const VIEWS: [(&str, &str); 7] = [
    ("All", ""),
    ("In review", "state=in_review"),
    ("On hold", "state=held"),
    ("Failed", "state=failed"),
    ("Rejected", "state=rejected"),
    ("Being refunded", "state=refunding"),
    ("On legal hold", "state=legal_hold"),
];

fn wanted(visit: &Visit) -> Result<Wanted<DepositState>, Stop> {
    let (start, end) = period(visit)?;
    Ok(Wanted { states: asked(visit, "state", DepositState::parse)?, start, end })
}

const HEAD: [&str; 7] =
    ["Amount", "State", "Sender", "First seen", "Last change", "Wallet", "Deposit"];

fn row(visit: &Visit, deposit: &Deposit) -> Vec<Cell> {
    let to = visit.href(&format!("/deposits/{}", deposit.id));
    vec![
        Cell::link(to, coins_text(deposit.minor, deposit.coin)),
        Cell::state(deposit_people(deposit.state), deposit_tone(deposit.state)),
        Cell::maybe(deposit.sender.name().map(|name| masked::name(&name))),
        Cell::When(deposit.seen_at),
        Cell::When(deposit.state_at),
        Cell::id_link(visit.href(&format!("/wallets/{}", deposit.wallet)), deposit.wallet),
        Cell::id(deposit.id),
    ]
}

pub(super) async fn list(visit: Visit) -> Answer {
    let saved = match saved_views::of(&visit, "deposits").await? {
        Ok(saved) => Some(saved),
        Err(opening) => return Ok(opening),
    };
    let (tenant, wanted, path) = (visit.tenant_id()?, wanted(&visit)?, visit.href("/deposits"));
    let found = visit.console().store().office_deposits(tenant, &wanted, turned(&visit)?).await?;
    let rows: Vec<_> = found.rows.iter().map(|deposit| row(&visit, deposit)).collect();
    let pager = turns(&visit, &path, &NAMES, &found);
    let table = Table::new("Deposits", &HEAD, rows)
        .or(none(&visit, "No deposits yet.", "No deposits match.", &NAMES))
        .paged(pager);
    let state = Field::one_of("state", "State", DepositState::ALL.map(DepositState::name));
    let mut links = export::links(&visit, "deposits", &query(&visit, &NAMES));
    links.extend(latest(&visit, &path, &NAMES));
    page(
        &visit,
        "Deposits",
        vec![Section {
            links,
            views: views(&visit, &path, &NAMES[..3], &VIEWS),
            saved,
            filters: Some(dated_filters(&visit, state, "Seen from")),
            chips: chips(&visit, &path, &FILTERS),
            table: Some(with_columns(&visit, &path, &NAMES[..3], table)),
            ..Section::default()
        }],
    )
}

pub(super) async fn export(visit: Visit) -> Answer {
    let (tenant, wanted) = (visit.tenant_id()?, wanted(&visit)?);
    let head = [
        "transaction_id",
        "wallet_id",
        "payment_request_id",
        "state",
        "amount",
        "currency",
        "from_address",
        "tx_hash",
        "risk_score",
        "reason",
        "seen_at",
        "credited_at",
        "completed_at",
    ];
    let shown: [&[&str]; HEAD.len()] = [
        &["amount", "currency"],
        &["state"],
        &[],
        &["seen_at"],
        &[],
        &["wallet_id"],
        &["transaction_id"],
    ];
    let mut csv = Csv::shown(&visit, &head, &shown);
    let store = visit.console().store();
    super::every_page(
        |page| Box::pin(store.office_deposits(tenant, &wanted, page)),
        |deposit| {
            let assessed = deposit.assessment.as_ref();
            csv.row([
                deposit.id.to_string(),
                deposit.wallet.to_string(),
                deposit.request.map(|request| request.to_string()).unwrap_or_default(),
                deposit.state.name().to_owned(),
                coin_amount::show(deposit.minor),
                deposit.coin.currency().code().to_owned(),
                deposit.from.to_string(),
                deposit.tx.to_string(),
                assessed.map(|it| it.score.to_string()).unwrap_or_default(),
                assessed.map(|it| it.reason.name().to_owned()).unwrap_or_default(),
                deposit.seen_at.to_string(),
                deposit.credited_at.map(|at| at.to_string()).unwrap_or_default(),
                deposit.completed_at.map(|at| at.to_string()).unwrap_or_default(),
            ]);
        },
    )
    .await?;
    csv.taken(&visit, "deposits.csv").await
}
