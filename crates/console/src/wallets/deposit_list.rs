//! All deposits of a tenant with filters, as a page and as a file.

use domain::coin_amount;
use domain::deposit::DepositState;
use engine::wallets::Wanted;

use super::deposit_row;
use crate::export::Csv;
use crate::view::{Field, FormView, Section, asked, page, pager, query, sheet};
use crate::{Answer, Stop, Table, Visit};

const FILTERS: [&str; 1] = ["state"];

fn wanted(visit: &Visit) -> Result<Wanted<DepositState>, Stop> {
    Ok(Wanted { states: asked(visit, "state", DepositState::parse)?, ..Wanted::default() })
}

pub(super) async fn list(visit: Visit) -> Answer {
    let (tenant, wanted) = (visit.tenant_id()?, wanted(&visit)?);
    let found = visit.console().store().office_deposits(tenant, &wanted, sheet(&visit)).await?;
    let rows: Vec<_> = found.rows.iter().map(|deposit| deposit_row(&visit, deposit)).collect();
    let head = ["Deposit", "State", "Amount", "Last change", "First seen", "Wallet"];
    let pager = pager(&visit, &visit.href("/deposits"), &FILTERS, rows.len(), found.more);
    let table = Table::new("Deposits", &head, rows).or("No deposits match.").paged(pager);
    let state = Field::one_of("state", "State", DepositState::ALL.map(DepositState::name));
    let filters = FormView::filters(vec![state.or_all().as_asked(visit.query())]);
    let file = format!("{}?{}", visit.href("/deposits/export.csv"), query(&visit, &FILTERS));
    let links = vec![(file, "Download as CSV".to_owned())];
    page(
        &visit,
        "Deposits",
        vec![Section { links, filters: Some(filters), table: Some(table), ..Section::default() }],
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
    let mut csv = Csv::new(&head);
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
