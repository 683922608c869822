//! The search finds everything by any of its ids, and nothing of another bank.

use domain::country::Country;
use domain::ids::PaymentId;
use domain::user::Role;

use super::super::wallets::officer::Officer;
use super::{has, lacks, officer, page_at};
use crate::harness::{Bank, On, WalletBank, on_both_stores};

on_both_stores! {
    a_payment_is_found_by_each_of_its_ids
    wallets_and_what_belongs_to_them_are_found
    several_things_of_one_name_are_listed
    nothing_is_shown_of_another_bank
    invalid_searches_are_reported
}

fn encoded(text: &str) -> String {
    text.replace('%', "%25").replace(':', "%3A").replace(' ', "%20").replace('=', "%3D")
}

/// The page that a search opens.
async fn leads_to(officer: &Officer, text: &str) -> String {
    officer.get(&format!("/search?q={}", encoded(text))).await.done()
}

async fn finds_nothing(officer: &Officer, text: &str) {
    has(&officer.get(&format!("/search?q={}", encoded(text))).await.page(), &["No results for"]);
}

/// Every name of a payment.
async fn names(bank: &Bank, id: &str) -> Vec<String> {
    let (store, tenant) = (bank.running.store(), bank.tenant.id);
    let id = PaymentId::parse(id).expect("an id");
    let case = engine::office::case(store, tenant, id).await.expect("read").expect("there");
    let attempt = case.attempts.first().expect("an attempt");
    let mut names = vec![
        id.to_string(),
        id.to_string().to_uppercase(),
        id.end_to_end_id(),
        attempt.id.to_string(),
        attempt.id.instruction_id(),
        attempt.bank_reference.clone().expect("the bank's reference"),
        case.record.payment.external_id.clone().expect("an external_id"),
    ];
    names.extend(case.transfers.iter().map(|transfer| transfer.id.to_string()));
    let own = case.events.iter().filter(|event| !event.kind.is_of_quote());
    names.extend(own.map(|event| event.id.to_string()));
    names
}

async fn named_payment(bank: &Bank, external_id: &str) -> String {
    let id = bank.paid(Country::Pak, |order| order.text("external_id", external_id)).await;
    bank.reaches(Country::Pak, &id, "succeeded").await;
    id
}

async fn a_payment_is_found_by_each_of_its_ids(on: On) {
    let bank = Bank::new(on).await;
    let id = named_payment(&bank, "find me").await;
    let viewer = officer(&bank, &[Role::Viewer]).await;
    let names = names(&bank, &id).await;
    assert!(names.len() >= 15, "{names:?}");
    for name in names {
        assert_eq!(
            leads_to(&viewer, &name).await,
            format!("/console/t/{}/payments/{id}", bank.tenant.tag),
            "{name}"
        );
    }
    let page = page_at(&viewer, &leads_to(&viewer, "find me").await).await;
    has(&page, &["reported it as paid", &id]);
    let quote = bank.any_quote().await.id().to_owned();
    assert!(leads_to(&viewer, &quote).await.ends_with(&format!("/quotes/{quote}")));
    let treasury = officer(&bank, &[Role::Treasury]).await;
    has(
        &page_at(&treasury, &leads_to(&treasury, "prefund:USDT").await).await,
        &["payment.reserve", &id],
    );
}

async fn wallets_and_what_belongs_to_them_are_found(on: On) {
    let bank = WalletBank::new(on).await;
    let viewer = Officer::of(&bank, &[Role::Viewer]).await;
    let customer = format!("C-{}", bank.bank.tenant.tag);
    let wallet = bank.wallet(&customer).await;
    let shown = bank.get(&format!("/v1/sdk/wallets/{wallet}")).send().await.ok();
    let (request, deposit) = bank.deposit(&wallet, "25", "COMPLETED").await;
    let (store, tenant) = (bank.bank.running.store(), bank.bank.tenant.id);
    let id =
        domain::ids::PaymentRequestId::parse(request["payment_request_id"].text()).expect("an id");
    let escrow = store.request(tenant, id).await.expect("read").expect("there").escrow;
    let transaction = deposit["transaction_id"].text();
    for (name, leads) in [
        (wallet.as_str(), format!("/wallets/{wallet}")),
        (&customer, format!("/wallets/{wallet}")),
        (shown["wallet_address"].text(), format!("/wallets/{wallet}")),
        (request["payment_request_id"].text(), format!("/requests/{id}")),
        (&escrow.to_string(), format!("/requests/{id}")),
        (transaction, format!("/deposits/{transaction}")),
        (deposit["tx_hash"].text(), format!("/deposits/{transaction}")),
    ] {
        let to = leads_to(&viewer, name).await;
        assert!(to.ends_with(&leads), "{name}: {to}");
        viewer.fetch(&to).await.page();
    }
    let stranger = Officer::of(&WalletBank::new(on).await, &[Role::Viewer]).await;
    for name in [
        wallet.as_str(),
        &customer,
        shown["wallet_address"].text(),
        transaction,
        deposit["tx_hash"].text(),
    ] {
        finds_nothing(&stranger, name).await;
    }
}

async fn several_things_of_one_name_are_listed(on: On) {
    let bank = Bank::new(on).await;
    let first = named_payment(&bank, "twice").await;
    let reference = {
        let record = bank.record(Country::Pak, &first).await;
        record["response"]["bank_reference"].text().to_owned()
    };
    let second = named_payment(&bank, &reference).await;
    let viewer = officer(&bank, &[Role::Viewer]).await;
    let page = viewer.get(&format!("/search?q={}", encoded(&reference))).await.page();
    has(&page, &["2 results for", &first, &second]);
}

async fn nothing_is_shown_of_another_bank(on: On) {
    let (bank, other) = (Bank::new(on).await, Bank::new(on).await);
    let id = named_payment(&bank, "not yours").await;
    let stranger = officer(&other, &[Role::Treasury, Role::Compliance]).await;
    for name in names(&bank, &id).await {
        finds_nothing(&stranger, &name).await;
    }
    finds_nothing(&stranger, bank.any_quote().await.id()).await;
}

async fn invalid_searches_are_reported(on: On) {
    let bank = Bank::new(on).await;
    let viewer = officer(&bank, &[Role::Viewer]).await;
    has(&viewer.get("/search").await.page(), &["Enter an id"]);
    finds_nothing(&viewer, "unknown text").await;
    finds_nothing(&viewer, "0x0000000000000000000000000000000000000001").await;
    finds_nothing(&viewer, &format!("0x{}", "ab".repeat(32))).await;
    let page = viewer.get(&format!("/search?q={}", "x".repeat(129))).await.refused(422);
    has(&page, &["Enter at most 128 characters"]);
    let page = viewer.get("/search?q=%3Cscript%3Ealert(1)%3C/script%3E").await.page();
    lacks(&page, &["<script>alert"]);
}
