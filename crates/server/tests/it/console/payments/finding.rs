//! The search finds everything by any of its ids, and nothing of another bank.

use domain::country::Country;
use domain::currency::Currency;
use domain::ids::PaymentId;
use domain::order::example::account_ending;
use domain::user::Role;
use store::AuditFilter;

use super::super::wallets::officer::Officer;
use super::{has, lacks, officer, page_at};
use crate::harness::{Bank, On, WalletBank, on_both_stores};
use crate::wallet::acts::sender;

on_both_stores! {
    a_payment_is_found_by_each_of_its_ids
    wallets_and_what_belongs_to_them_are_found
    several_things_of_one_name_are_listed
    nothing_is_shown_of_another_bank
    invalid_searches_are_reported
    the_beginning_of_an_id_is_enough
    a_newcomer_finds_a_payment_in_one_step
    results_are_grouped_and_masked
    a_search_for_a_person_needs_a_role_and_is_recorded
    a_sender_is_found_by_name_telephone_and_address
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
    let case = engine::backoffice::case(store, tenant, id).await.expect("read").expect("there");
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
    let stored = store
        .deposit(tenant, domain::ids::DepositId::parse(transaction).expect("an id"))
        .await
        .expect("read");
    let payer = stored.expect("there").from.to_string();
    for (name, leads) in [
        (wallet.as_str(), format!("/wallets/{wallet}")),
        (&customer, format!("/wallets/{wallet}")),
        (shown["wallet_address"].text(), format!("/wallets/{wallet}")),
        (request["payment_request_id"].text(), format!("/requests/{id}")),
        (&escrow.to_string(), format!("/requests/{id}")),
        (transaction, format!("/deposits/{transaction}")),
        (deposit["tx_hash"].text(), format!("/deposits/{transaction}")),
        (&payer, format!("/deposits/{transaction}")),
    ] {
        let to = leads_to(&viewer, name).await;
        assert!(to.ends_with(&leads), "{name}: {to}");
        viewer.fetch(&to).await.page();
    }
    for (name, leads) in [
        (&wallet[..8], format!("/wallets/{wallet}")),
        (&customer[..6], format!("/wallets/{wallet}")),
        (&shown["wallet_address"].text()[..10], format!("/wallets/{wallet}")),
        (&request["payment_request_id"].text()[..6], format!("/requests/{id}")),
        (&escrow.to_string()[..9], format!("/requests/{id}")),
        (&transaction[..12], format!("/deposits/{transaction}")),
        (&deposit["tx_hash"].text()[2..9], format!("/deposits/{transaction}")),
        (&payer[..9], format!("/deposits/{transaction}")),
    ] {
        let to = leads_to(&viewer, name).await;
        assert!(to.ends_with(&leads), "{name}: {to}");
    }
    let stranger = Officer::of(&WalletBank::new(on).await, &[Role::Viewer]).await;
    for name in [
        wallet.as_str(),
        &wallet[..8],
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
    has(&viewer.get("/search").await.page(), &["Enter what you know", "last 4 digits"]);
    finds_nothing(&viewer, "unknown text").await;
    finds_nothing(&viewer, "0x0000000000000000000000000000000000000001").await;
    finds_nothing(&viewer, &format!("0x{}", "ab".repeat(32))).await;
    let page = viewer.get(&format!("/search?q={}", "x".repeat(129))).await.refused(422);
    has(&page, &["Enter at most 128 characters"]);
    let page = viewer.get("/search?q=%3Cscript%3Ealert(1)%3C/script%3E").await.page();
    lacks(&page, &["<script>alert"]);
}

async fn the_beginning_of_an_id_is_enough(on: On) {
    let bank = Bank::new(on).await;
    let id = named_payment(&bank, "ORDER-2026/117").await;
    let viewer = officer(&bank, &[Role::Viewer]).await;
    let record = bank.record(Country::Pak, &id).await;
    let reference = record["response"]["bank_reference"].text().to_owned();
    let page = format!("/payments/{id}");
    for start in
        [&id[..6], &id[..8], &id[..13], &id[..8].to_uppercase(), "ORDER-2026", &reference[..6]]
    {
        let to = leads_to(&viewer, start).await;
        assert!(to.ends_with(&page), "{start}: {to}");
    }
    for part in ["026/117", "order-2026", "DER-20"] {
        let to = leads_to(&viewer, part).await;
        assert!(to.ends_with(&page), "{part}: {to}");
    }
    let quote = bank.any_quote().await.id().to_owned();
    assert!(leads_to(&viewer, &quote[..8]).await.ends_with(&format!("/quotes/{quote}")));
    finds_nothing(&viewer, &id[..5]).await;
    let stranger = officer(&Bank::new(on).await, &[Role::Viewer]).await;
    for start in [&id[..8], "ORDER-2026", "026/117", &reference[..6]] {
        finds_nothing(&stranger, start).await;
    }
}

/// A payment of this amount to an account with this ending.
async fn payment_to(bank: &Bank, name: &str, ending: &str, amount: &str) -> String {
    let quote = bank.quote(Country::Pak, Currency::Aed, amount).await;
    let account = account_ending(Country::Pak, ending);
    let order = quote.order().text("beneficiary_name", name);
    let answer = bank.pay(&order.text("beneficiary_account_number", &account)).await.ok();
    answer["id"].text().to_owned()
}

/// What the beneficiary of a payment receives, in whole rupees with groups of three digits.
async fn whole_amount(bank: &Bank, id: &str) -> String {
    let (store, tenant) = (bank.running.store(), bank.tenant.id);
    let record = store.payment_record(tenant, PaymentId::parse(id).expect("an id")).await;
    let rupees = record.expect("read").expect("there").payment.amount.minor / 100;
    format!("{},{:03}", rupees / 1_000, rupees % 1_000)
}

async fn a_newcomer_finds_a_payment_in_one_step(on: On) {
    let bank = Bank::new(on).await;
    let wanted = payment_to(&bank, "Bilal Samplekhan", "6702", "500").await;
    for (name, ending, amount) in [
        ("Bilal Samplekhan", "6702", "300"),
        ("Bilal Samplekhan", "4417", "500"),
        ("Asha Samplekar", "6702", "500"),
    ] {
        payment_to(&bank, name, ending, amount).await;
    }
    let operator = officer(&bank, &[Role::Operator]).await;
    let amount = whole_amount(&bank, &wanted).await;
    let today = bank.running.now().date();
    for words in [
        format!("Bilal, account ending 6702, about {amount} rupees"),
        format!("6702 {amount} bilal {today}"),
        format!("{amount} PKR Samplekhan 6702 today"),
    ] {
        let to = leads_to(&operator, &words).await;
        assert!(to.ends_with(&format!("/payments/{wanted}")), "{words}: {to}");
    }
    finds_nothing(&operator, &format!("Bilal 6702 {amount} 2020-01-01")).await;
    finds_nothing(&operator, &format!("Bilal 6702 {amount} INR")).await;
    let stranger = officer(&Bank::new(on).await, &[Role::Operator]).await;
    finds_nothing(&stranger, &format!("Bilal 6702 {amount}")).await;
}

async fn results_are_grouped_and_masked(on: On) {
    let bank = Bank::new(on).await;
    let first = payment_to(&bank, "Bilal Samplekhan", "6702", "500").await;
    let second = payment_to(&bank, "Asha Samplekar", "6702", "300").await;
    payment_to(&bank, "Sita Sampler", "4417", "300").await;
    let viewer = officer(&bank, &[Role::Viewer]).await;
    let page = viewer.get("/search?q=6702").await.page();
    has(&page, &["2 results for", "<h2>Payments</h2>", "B••• S•••", "A••• S•••", "•••6702"]);
    let amount = whole_amount(&bank, &first).await;
    has(&page, &[&format!("/payments/{first}\">{amount}"), &format!("/payments/{second}\">")]);
    lacks(&page, &["Bilal", "Samplekar", "<h2>Quotes</h2>", "4417"]);
    let page = viewer.get("/search?q=Samplekar").await.page();
    has(&page, &["Your roles do not allow searching by name, telephone number or e-mail"]);
}

async fn a_search_for_a_person_needs_a_role_and_is_recorded(on: On) {
    let bank = Bank::new(on).await;
    payment_to(&bank, "Bilal Samplekhan", "6702", "500").await;
    payment_to(&bank, "Bilal Samplekhan", "6702", "300").await;
    let (tenant, action) = (Some(bank.tenant.id), Some("search".to_owned()));
    let filter = AuditFilter { tenant, action, ..AuditFilter::default() };
    let recorded = async || bank.running.store().audit_entries(&filter, 10).await.expect("read");
    let viewer = officer(&bank, &[Role::Viewer, Role::Admin]).await;
    for text in ["Bilal", "%2B923001234567", "Bilal 6702", "6702", "unknown text"] {
        viewer.get(&format!("/search?q={}", text.replace(' ', "%20"))).await.page();
    }
    assert_eq!(recorded().await.len(), 0, "nothing was searched by name or telephone number");
    let compliance = officer(&bank, &[Role::Compliance]).await;
    let page = compliance.get("/search?q=bilal%20%2B923001234567").await.page();
    has(&page, &["2 results for", "recorded in the audit log"]);
    compliance.get("/search?q=6702").await.page();
    let entries = recorded().await;
    let [entry] = entries.as_slice() else { panic!("one entry: {entries:?}") };
    assert_eq!(
        (entry.note.action.as_str(), entry.note.subject.as_str()),
        ("search.person", "b••• •••67")
    );
    assert_eq!(entry.note.after.as_deref(), Some(r#"{"by":"name phone","found":2}"#));
    lacks(&format!("{entry:?}"), &["bilal", "1234567"]);
}

async fn a_sender_is_found_by_name_telephone_and_address(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.wallet("C-sender").await;
    let request = bank.request(&wallet, "25", "USDC").await;
    bank.introduced(&request, sender("Asha", "Samplekhan")).await;
    bank.paid(&request, "").await;
    let deposit = bank.newest(&wallet, "COMPLETED").await["transaction_id"].text().to_owned();
    let request = request["payment_request_id"].text();
    let compliance = Officer::of(&bank, &[Role::Compliance]).await;
    let today = bank.bank.running.now().date();
    for text in [
        "Asha Samplekhan".to_owned(),
        "%2B971500000001".to_owned(),
        "Sender@example.com".to_owned(),
        format!("sender@example.com 25 USDC {today}"),
    ] {
        let page = compliance.get(&format!("/search?q={}", text.replace(' ', "%20"))).await.page();
        has(&page, &["2 results for", "<h2>Deposits</h2>", "<h2>Payment requests</h2>"]);
        has(&page, &[&deposit, request, "recorded in the audit log"]);
    }
    let page = compliance.get(&format!("/search?q=25%20USDC%20{today}")).await.page();
    has(&page, &[&deposit, request]);
    lacks(&page, &["recorded in the audit log"]);
    finds_nothing(&compliance, "sender@example.com 26 USDC").await;
    let (tenant, action) = (Some(bank.bank.tenant.id), Some("search".to_owned()));
    let filter = AuditFilter { tenant, action, ..AuditFilter::default() };
    let entries = bank.bank.running.store().audit_entries(&filter, 10).await.expect("read");
    let by_address = entries.iter().find(|it| it.note.subject == "S•••@e•••").expect("masked");
    assert_eq!(by_address.note.after.as_deref(), Some(r#"{"by":"email","found":2}"#));
    let viewer = Officer::of(&bank, &[Role::Viewer]).await;
    let page = viewer.get("/search?q=sender@example.com").await.page();
    has(&page, &["Your roles do not allow searching by name, telephone number or e-mail"]);
    lacks(&page, &[&deposit]);
    let stranger = Officer::of(&WalletBank::new(on).await, &[Role::Compliance]).await;
    finds_nothing(&stranger, "sender@example.com").await;
}
