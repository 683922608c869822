//! All wallets of a tenant with filters, as a page and as a file.

use domain::wallet::{KycLevel, Wallet, WalletState};
use engine::wallets::WalletFilter;

use crate::export::{self, Csv};
use crate::lists::none;
use crate::view::{Field, FormView, Section, asked, latest, page, query, turned, turns};
use crate::{Answer, Cell, Stop, Table, Tone, Visit, saved_views};

const FILTERS: [&str; 3] = ["status", "level", "customer"];

pub(super) const fn tone(state: WalletState) -> Tone {
    match state {
        WalletState::Active => Tone::Good,
        WalletState::Pending => Tone::Busy,
        WalletState::Blocked => Tone::Warn,
        WalletState::Blacklisted => Tone::Bad,
    }
}

fn filter(visit: &Visit) -> Result<WalletFilter, Stop> {
    Ok(WalletFilter {
        states: asked(visit, "status", WalletState::parse)?,
        levels: asked(visit, "level", KycLevel::parse)?,
        customer_id: visit.query().given("customer").map(str::to_owned),
    })
}

pub const HEAD: [&str; 6] =
    ["Wallet", "Customer", "Status", "KYC level", "Created", "Last activity"];

pub fn row(visit: &Visit, wallet: &Wallet) -> Vec<Cell> {
    vec![
        Cell::id_link(visit.href(&format!("/wallets/{}", wallet.id)), wallet.id),
        Cell::text(wallet.customer_id.as_str()),
        Cell::state(wallet.state.name(), tone(wallet.state)),
        Cell::text(wallet.kyc_level.name()),
        Cell::When(wallet.created_at),
        Cell::When(wallet.last_activity_at),
    ]
}

pub(super) async fn list(visit: Visit) -> Answer {
    let saved = match saved_views::of(&visit, "wallets").await? {
        Ok(saved) => Some(saved),
        Err(opening) => return Ok(opening),
    };
    let (tenant, filter) = (visit.tenant_id()?, filter(&visit)?);
    let found = visit.console().store().office_wallets(tenant, &filter, turned(&visit)?).await?;
    let rows: Vec<_> = found.rows.iter().map(|wallet| row(&visit, wallet)).collect();
    let pager = turns(&visit, &visit.href("/wallets"), &FILTERS, &found);
    let table = Table::new("Wallets", &HEAD, rows)
        .or(none(&visit, "No wallets yet.", "No wallets match.", &FILTERS))
        .paged(pager);
    let filters = FormView::filters(vec![
        Field::one_of("status", "Status", WalletState::ALL.map(WalletState::name))
            .or_all()
            .as_asked(visit.query()),
        Field::one_of("level", "KYC level", KycLevel::ALL.map(KycLevel::name))
            .or_all()
            .as_asked(visit.query()),
        Field::line("customer", "Customer id").as_asked(visit.query()),
    ]);
    let mut links = export::links(&visit, "wallets", &query(&visit, &FILTERS));
    links.extend(latest(&visit, &visit.href("/wallets"), &FILTERS));
    page(
        &visit,
        "Wallets",
        vec![Section {
            links,
            saved,
            filters: Some(filters),
            table: Some(table),
            ..Section::default()
        }],
    )
}

pub(super) async fn export(visit: Visit) -> Answer {
    let (tenant, filter) = (visit.tenant_id()?, filter(&visit)?);
    let mut csv = Csv::new(
        &visit,
        &["wallet_id", "customer_id", "status", "kyc_level", "created_at", "last_activity_at"],
    );
    let store = visit.console().store();
    super::every_page(
        |page| Box::pin(store.office_wallets(tenant, &filter, page)),
        |wallet| {
            csv.row([
                wallet.id.to_string(),
                wallet.customer_id,
                wallet.state.name().to_owned(),
                wallet.kyc_level.name().to_owned(),
                wallet.created_at.to_string(),
                wallet.last_activity_at.to_string(),
            ]);
        },
    )
    .await?;
    csv.taken(&visit, "wallets.csv").await
}
