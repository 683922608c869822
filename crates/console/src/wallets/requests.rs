//! Payment requests: requested and received amounts, senders, and cancelling.

use domain::coin_amount;
use domain::currency::StableCoin;
use domain::deposit::Deposit;
use domain::ids::PaymentRequestId;
use domain::payment_request::{Asked, PaymentRequest, RequestMoney, RequestState, SenderInfo};
use engine::wallets::{KeysetPage, Wanted};

use super::{
    asked_for, asked_text, both_coins, deposit_row, money_of, request_row, request_state, wanted,
};
use crate::audit;
use crate::export::{self, Csv};
use crate::lists::none;
use crate::view::{
    Field, FormView, Section, asked, instant, latest, page, page_about, query, turned, turns,
};
use crate::{Answer, Cell, Headline, Stop, Table, Visit, saved_views};

const FILTERS: [&str; 1] = ["status"];

fn wanted(visit: &Visit) -> Result<Wanted<RequestState>, Stop> {
    Ok(Wanted { states: asked(visit, "status", RequestState::parse)?, ..Wanted::default() })
}

pub(super) async fn list(visit: Visit) -> Answer {
    let saved = match saved_views::of(&visit, "requests").await? {
        Ok(saved) => Some(saved),
        Err(opening) => return Ok(opening),
    };
    let (tenant, wanted) = (visit.tenant_id()?, wanted(&visit)?);
    let found = visit.console().store().office_requests(tenant, &wanted, turned(&visit)?).await?;
    let money = money_of(&visit, &found.rows).await?;
    let row = |request: &PaymentRequest| {
        let mut row = request_row(&visit, request, &money(request));
        row.push(Cell::id_link(
            visit.href(&format!("/wallets/{}", request.wallet)),
            request.wallet,
        ));
        row
    };
    let rows: Vec<_> = found.rows.iter().map(row).collect();
    let head = ["Request", "Status", "Requested", "Received", "Created", "Expires", "Wallet"];
    let pager = turns(&visit, &visit.href("/requests"), &FILTERS, &found);
    let table = Table::new("Payment requests", &head, rows)
        .or(none(&visit, "No payment requests yet.", "No payment requests match.", &FILTERS))
        .paged(pager);
    let status = Field::one_of("status", "Status", RequestState::ALL.map(RequestState::name));
    let filters = FormView::filters(vec![status.or_all().as_asked(visit.query())]);
    let mut links = export::links(&visit, "requests", &query(&visit, &FILTERS));
    links.extend(latest(&visit, &visit.href("/requests"), &FILTERS));
    page(
        &visit,
        "Payment requests",
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
    let (tenant, wanted) = (visit.tenant_id()?, wanted(&visit)?);
    let head = [
        "payment_request_id",
        "wallet_id",
        "status",
        "amount_type",
        "amount",
        "currency",
        "received_usdc",
        "received_usdt",
        "exception",
        "purpose",
        "created_at",
        "expires_at",
        "paid_at",
        "released_usdc",
        "released_usdt",
    ];
    let mut csv = Csv::new(&visit, &head);
    let store = visit.console().store();
    super::every_page(
        |page| {
            let wanted = &wanted;
            Box::pin(async move {
                let found = store.office_requests(tenant, wanted, page).await?;
                let KeysetPage { rows, previous, next } = found;
                let money = store.money_of_requests(tenant, &rows).await?;
                let known =
                    |request: &PaymentRequest| money.get(&request.id).copied().unwrap_or_default();
                let rows = rows.into_iter().map(|request| (known(&request), request)).collect();
                Ok(KeysetPage { rows, previous, next })
            })
        },
        |(money, request): (RequestMoney, PaymentRequest)| {
            let (kind, amount, currency) = match request.asked {
                Asked::Crypto { coin, minor } => {
                    ("crypto", coin_amount::show(minor), coin.currency().code())
                }
                Asked::Fiat { currency, micros, .. } => {
                    ("fiat", coin_amount::show(micros), currency.code())
                }
                Asked::Flexible => ("flexible", String::new(), ""),
            };
            csv.row([
                request.id.to_string(),
                request.wallet.to_string(),
                request.state.name().to_owned(),
                kind.to_owned(),
                amount,
                currency.to_owned(),
                coin_amount::show(request.received.of(StableCoin::Usdc)),
                coin_amount::show(request.received.of(StableCoin::Usdt)),
                request.exception_for_bank(&money).name().to_owned(),
                request.purpose.clone().unwrap_or_default(),
                request.created_at.to_string(),
                request.expires_at.to_string(),
                request.paid_at.map(|at| at.to_string()).unwrap_or_default(),
                coin_amount::show(money.released.of(StableCoin::Usdc)),
                coin_amount::show(money.released.of(StableCoin::Usdt)),
            ]);
        },
    )
    .await?;
    csv.taken(&visit, "payment-requests.csv").await
}

pub(super) async fn show(visit: Visit) -> Answer {
    let (caller, id) = (visit.caller()?, visit.id(PaymentRequestId::parse)?);
    let console = visit.console();
    let request = console.wallets.find_request(&caller, id).await?;
    let deposits = console.store().deposits_of_request(caller.tenant, id).await?;
    let senders = console.store().sender_infos(caller.tenant, id).await?;
    let answers = console.store().refund_addresses(caller.tenant, id).await?;
    let wanted = (!answers.is_empty()).then(|| wanted::table(&answers, &senders));
    let mut money = RequestMoney::default();
    deposits.iter().for_each(|it| money.add((it.state, it.pot), it.coin, it.minor));
    let row = |deposit: &Deposit| {
        let mut row = deposit_row(&visit, deposit);
        row.truncate(5);
        row.push(Cell::id(deposit.from));
        row
    };
    let head = ["Deposit", "State", "Amount", "Last change", "First seen", "From"];
    let deposits =
        Table::new("Deposits", &head, deposits.iter().map(row).collect()).or("No deposits yet.");
    let row = |info: &SenderInfo| {
        let said = &info.details;
        vec![
            Cell::When(info.at),
            Cell::maybe(said.name()),
            Cell::maybe(said.email.clone()),
            Cell::maybe(said.phone_number.clone()),
            Cell::maybe(said.custodial_provider.clone()),
            info.escrow.map_or(Cell::Empty, Cell::id),
        ]
    };
    let head = ["Submitted", "Name", "Email", "Phone", "Pays from", "Pays to"];
    let senders = Table::new("Sender details", &head, senders.iter().map(row).collect())
        .or("No sender details yet.");
    let mut sections = vec![
        Section { facts: facts(&visit, &request, &money), ..Section::default() },
        Section { title: "Deposits".to_owned(), table: Some(deposits), ..Section::default() },
        Section { title: "Senders".to_owned(), table: Some(senders), ..Section::default() },
    ];
    let title = "Refund addresses of senders".to_owned();
    sections.extend(wanted.map(|table| Section {
        title,
        table: Some(table),
        ..Section::default()
    }));
    sections.push(audit::section(&visit, &id.to_string()).await?);
    let may = visit.may_use("POST", "/console/t/{tenant}/requests/{id}/cancel");
    if may && request.state == RequestState::Active {
        let to = visit.href(&format!("/requests/{id}/cancel"));
        let form = FormView::new("cancel", "Cancel", to, "Cancel the request")
            .says("The link no longer shows an address. Payments to the address are still received and screened.");
        sections.push(Section {
            title: "Control".to_owned(),
            forms: vec![form.why().danger()],
            ..Section::default()
        });
    }
    let headline = Headline {
        list: (visit.href("/requests"), "Requests"),
        text: asked_text(&request),
        state: request_state(&request, &money),
        why: String::new(),
    };
    page_about(&visit, headline, sections)
}

fn facts(
    visit: &Visit,
    request: &PaymentRequest,
    money: &RequestMoney,
) -> Vec<(&'static str, Cell)> {
    vec![
        ("Status in the API", Cell::text(request.state.name())),
        ("Request", Cell::id(request.id)),
        (
            "Wallet",
            Cell::id_link(visit.href(&format!("/wallets/{}", request.wallet)), request.wallet),
        ),
        ("Requested", asked_for(request)),
        ("Received", both_coins(&request.received)),
        ("In the wallet", both_coins(&money.released)),
        ("Exception", Cell::text(request.exception_for_bank(money).name())),
        ("Purpose", Cell::maybe(request.purpose.clone())),
        ("Recipient", Cell::maybe(request.recipient_name.clone())),
        ("Escrow address", Cell::id(request.escrow)),
        ("Created", Cell::When(request.created_at)),
        ("Expires", Cell::When(request.expires_at)),
        ("Paid", instant(request.paid_at)),
    ]
}

pub(super) async fn cancel(visit: Visit) -> Answer {
    let (id, why) = (visit.id(PaymentRequestId::parse)?, visit.why()?.to_owned());
    visit.console().wallets.cancel_request_by(&visit.caller()?, id, visit.deed(&why)).await?;
    Ok(visit.done(&visit.href(&format!("/requests/{id}")), "The request is cancelled."))
}
