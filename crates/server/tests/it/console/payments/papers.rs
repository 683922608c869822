//! Downloads: receipts of payments, statements of accounts.

use domain::country::Country;
use domain::user::Role;
use store::AuditFilter;

use super::{has, lacks, officer};
use crate::console::wallets::officer::Officer;
use crate::harness::{Bank, Json, On, WalletBank, on_both_stores};

on_both_stores! {
    a_receipt_is_printed_for_the_bank_and_for_its_customer
    a_prefunded_account_has_statements_in_three_forms
    a_wallet_has_statements
    who_takes_statements_is_decided_by_roles_and_noted
    deeds_stand_on_the_pages_of_what_they_were_done_to
}

async fn a_receipt_is_printed_for_the_bank_and_for_its_customer(on: On) {
    let bank = Bank::new(on).await;
    let id = bank.paid(Country::Pak, |order| order.text("beneficiary_name", "Ali Khan")).await;
    bank.reaches(Country::Pak, &id, "succeeded").await;
    let viewer = officer(&bank, &[Role::Viewer]).await;
    let page = viewer.get(&format!("/payments/{id}")).await.page();
    let path = format!("/payments/{id}/receipt");
    has(&page, &[&path, "<h2>Receipt</h2>", "for=\"receipt-lang\""]);
    let receipt = viewer.get(&path).await.page();
    has(
        &receipt,
        &["<html lang=\"en\"", "/console/receipt.css", "Ali Khan", &id, &bank.tenant.name, "•••• "],
    );
    lacks(&receipt, &["<style", "<script", "style="]);
    has(&receipt, &["Charged to the sending bank"]);
    let for_customer = viewer.get(&format!("{path}?for=customer&lang=ur")).await.page();
    has(&for_customer, &["lang=\"ur\"", "dir=\"rtl\""]);
    let in_english = viewer.get(&format!("{path}?for=customer")).await.page();
    lacks(&in_english, &["Charged to the sending bank"]);
    assert!(viewer.fetch("/console/receipt.css").await.page().contains("@media print"));
    viewer.get(&format!("{path}?lang=xx")).await.refused(422);
    viewer.get(&format!("{path}?for=everybody")).await.refused(422);
    viewer.get("/payments/6f0c0000-0000-4000-8000-000000000000/receipt").await.refused(404);
    let stranger = officer(&Bank::new(on).await, &[Role::Viewer]).await;
    stranger.get(&path).await.refused(404);
    lacks(&viewer.get(&format!("/payments/{id}")).await.page(), &["export.receipt"]);
}

async fn a_prefunded_account_has_statements_in_three_forms(on: On) {
    let bank = Bank::new(on).await;
    let id = bank.paid(Country::Pak, |order| order).await;
    bank.reaches(Country::Pak, &id, "succeeded").await;
    let treasury = officer(&bank, &[Role::Treasury]).await;
    let page = treasury.get("/statements").await.page();
    has(&page, &["prefund:USDT", "for=\"statement-from\"", "for=\"statement-format\"", "camt.053"]);
    let file = async |query: &str| {
        treasury.get(&format!("/statements/file?account=prefund:USDT&{query}")).await
    };
    let csv = file("format=csv").await.page();
    has(&csv, &["opening_balance", "movement", "closing_balance", &id]);
    let json = Json::read(file("format=json").await.page().as_bytes());
    assert_eq!(json["account"].text(), "prefund:USDT");
    let camt = file("format=camt053").await.page();
    has(&camt, &["camt.053.001.08", "<Ntry>", "prefund:USDT"]);
    let today = bank.running.now().date();
    has(&file(&format!("from={today}&to={today}&format=csv")).await.page(), &["closing_balance"]);
    for wrong in [
        "format=pdf",
        "from=2999-01-01",
        "to=2999-01-01",
        "from=2026-02-02&to=2026-02-01",
        "from=x",
    ] {
        file(wrong).await.refused(422);
    }
    treasury.get("/statements/file?account=nostro:pak-raast:PKR").await.refused(422);
    treasury.get("/statements/file?account=prefund:USDC").await.refused(409);
    has(
        &treasury.get("/ledger/account?code=prefund:USDT").await.page(),
        &["/statements?account=prefund%3AUSDT"],
    );
}

async fn a_wallet_has_statements(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.wallet("statement").await;
    bank.deposit(&wallet, "25.00", "COMPLETED").await;
    let auditor = Officer::of(&bank, &[Role::Auditor]).await;
    has(
        &auditor.get(&format!("/wallets/{wallet}")).await.page(),
        &[&format!("/statements?wallet={wallet}")],
    );
    let page = auditor.get(&format!("/statements?wallet={wallet}")).await.page();
    let account = format!("wallet:{wallet}:USDC");
    has(&page, &[&account]);
    let csv = auditor.get(&format!("/statements/file?account={account}&format=csv")).await.page();
    has(&csv, &["25.000000", "movement"]);
    let stranger = Officer::of(&WalletBank::new(on).await, &[Role::Auditor]).await;
    stranger.get(&format!("/statements/file?account={account}")).await.refused(409);
}

async fn who_takes_statements_is_decided_by_roles_and_noted(on: On) {
    let bank = Bank::new(on).await;
    let id = bank.paid(Country::Pak, |order| order).await;
    bank.reaches(Country::Pak, &id, "succeeded").await;
    let viewer = officer(&bank, &[Role::Viewer]).await;
    viewer.get("/statements").await.refused(403);
    viewer.get("/statements/file?account=prefund:USDT").await.refused(403);
    lacks(&viewer.get("/payments").await.page(), &["/statements\""]);
    let treasury = officer(&bank, &[Role::Treasury]).await;
    treasury.get("/statements/file?account=prefund:USDT&format=json").await.page();
    viewer.get(&format!("/payments/{id}/receipt?for=customer&lang=vi")).await.page();
    let action = Some("export".to_owned());
    let filter = AuditFilter { tenant: Some(bank.tenant.id), action, ..AuditFilter::default() };
    let noted = bank.running.store().audit_entries(&filter, 10).await.expect("read");
    let shown: Vec<_> = noted
        .iter()
        .map(|it| (it.note.action.as_str(), it.note.subject.as_str(), it.deed.who.as_str()))
        .collect();
    let expected = [
        ("export.receipt", &*id, &*viewer.login),
        ("export.statement", "prefund:USDT", &*treasury.login),
    ];
    assert_eq!(shown, expected);
    let after = noted[1].note.after.clone().expect("an after image");
    has(&after, &["\"format\":\"json\"", "\"from\":", "\"movements\":"]);
}

async fn deeds_stand_on_the_pages_of_what_they_were_done_to(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.wallet("deeds").await;
    let request = bank.request(&wallet, "25.00", "USDC").await;
    let request = request["payment_request_id"].text();
    let operator = Officer::of(&bank, &[Role::Operator, Role::Auditor]).await;
    has(&operator.get(&format!("/wallets/{wallet}")).await.page(), &["No activity by users."]);
    operator
        .post(&format!("/requests/{request}/cancel"), &[("why", "asked for twice")])
        .await
        .done();
    has(
        &operator.get(&format!("/requests/{request}")).await.page(),
        &[
            &format!("{} cancelled payment request {}", operator.login, &request[..8]),
            "asked for twice",
        ],
    );
    let block = [("reason", "SUSPICIOUS_ACTIVITY"), ("why", "looks odd"), ("hours", "")];
    operator.post(&format!("/wallets/{wallet}/block"), &block).await.done();
    let page = operator.get(&format!("/wallets/{wallet}")).await.page();
    has(&page, &[" blocked wallet ", "looks odd", "/console/audit/entries/"]);
    let store = bank.bank.running.store();
    let noted = store.audit_about(bank.bank.tenant.id, &wallet).await.expect("read");
    let by = noted[0].deed.request_id.clone().expect("each request has an id");
    has(&page, &[&by]);
    let found = operator.get(&format!("/search?q={by}")).await.page();
    has(&found, &["Actions of the request", "wallet.block", &format!("/wallets/{wallet}")]);
    let proposed = operator
        .post(&format!("/wallets/{wallet}/unblock"), &[("why", "it was nothing")])
        .await
        .done();
    has(
        &operator.get(&format!("/wallets/{wallet}")).await.page(),
        &[" made proposal ", "unblock a wallet", "it was nothing"],
    );
    assert!(proposed.starts_with("/console/approvals/"), "{proposed}");
}
