//! POST /v2/account-checks, and payments to accounts that a bank cannot credit.

use domain::country::Country;
use domain::order::example;
use http_api::server::deadline::ANSWER_WITHIN;
use serde_json::json;
use tokio::net::TcpListener;

use crate::harness::connector::connected;
use crate::harness::{Answer, Bank, On, Setup, on_both_stores};

on_both_stores! {
    a_bank_is_asked_about_an_account
    what_is_no_account_is_refused_by_the_orders_rules
    account_numbers_cannot_be_tried_out
    an_accounts_faults_are_reported_all_at_once
    a_repeated_check_gets_the_first_answer
    a_quote_says_what_the_bank_says_about_the_account
    a_quote_that_is_refused_or_repeated_asks_no_bank
    a_payment_to_a_closed_account_is_refused_where_the_rail_requires_the_check
    a_check_that_is_off_or_impossible_refuses_nothing
    a_bank_that_is_silent_delays_a_payment_and_refuses_nothing
}

const PAK: Country = Country::Pak;

fn check_body(ending: &str) -> String {
    json!({
        "country": "PAK",
        "beneficiary_account_number": example::account_ending(PAK, ending),
        "bank_branch_code": "SCBLPKKX",
        "beneficiary_name": "Ali Raza",
    })
    .to_string()
}

async fn check(bank: &Bank, ending: &str) -> Answer {
    bank.post("/v2/account-checks", check_body(ending)).send().await
}

async fn a_bank_is_asked_about_an_account(on: On) {
    let bank = Bank::new(on).await;
    for (ending, result, name) in [
        ("6702", "match", None),
        ("0001", "closed", None),
        ("0002", "not_found", None),
        ("0021", "no_match", None),
        ("0022", "close_match", Some("A*** R***")),
        ("0023", "unavailable", None),
        ("0024", "not_supported", None),
    ] {
        let answer = check(&bank, ending).await.ok();
        assert_eq!(answer.names(), ["result", "account_name"]);
        assert_eq!(answer["result"].text(), result, "{ending}");
        match name {
            Some(name) => assert_eq!(answer["account_name"].text(), name),
            None => assert_eq!(answer["account_name"], crate::harness::Json::Null),
        }
    }
}

async fn what_is_no_account_is_refused_by_the_orders_rules(on: On) {
    let bank = Bank::new(on).await;
    let call = |body: &str| bank.post("/v2/account-checks", body).send();
    assert_eq!(
        call("{}").await.fault_kinds(),
        [
            "body.country missing",
            "body.beneficiary_account_number missing",
            "body.bank_branch_code missing",
            "body.beneficiary_name missing",
        ]
    );
    let body = |account: &str, branch: &str| {
        json!({ "country": "PAK", "beneficiary_account_number": account, "bank_branch_code": branch,
                "beneficiary_name": "Ali Raza" })
        .to_string()
    };
    for (account, branch, kinds) in [
        (
            "PK00SCBL0000001123456702",
            "SCBLPKKX",
            &["body.beneficiary_account_number invalid_iban"][..],
        ),
        ("PK36SCBL0000001123456702", "x", &["body.bank_branch_code invalid_branch_code"]),
        ("PK36SCBL0000001123456702", "HABBPKKA", &["body.bank_branch_code branch_iban_mismatch"]),
    ] {
        assert_eq!(call(&body(account, branch)).await.fault_kinds(), kinds, "{account} {branch}");
    }
    let only_india = Bank::agreed(on, |policy| policy.countries = [Country::Ind].into()).await;
    check(&only_india, "6702").await.refused(403, "corridor_not_enabled");
}

async fn an_accounts_faults_are_reported_all_at_once(on: On) {
    let bank = Bank::new(on).await;
    let account = r#""country":"PAK","beneficiary_account_number":"PK00SCBL0000001123456702""#;
    let faults = bank.post("/v2/account-checks", format!("{{{account}}}")).send().await;
    assert_eq!(
        faults.fault_kinds(),
        [
            "body.beneficiary_account_number invalid_iban",
            "body.bank_branch_code missing",
            "body.beneficiary_name missing",
        ]
    );
    let quote = format!(r#"{{{account},"currency":"AED","amount":0,"check_account":true}}"#);
    assert_eq!(
        bank.post("/v2/quote", quote).send().await.fault_kinds(),
        [
            "body.amount greater_than",
            "body.beneficiary_account_number invalid_iban",
            "body.bank_branch_code missing",
            "body.beneficiary_name missing",
        ]
    );
}

async fn a_repeated_check_gets_the_first_answer(on: On) {
    let bank = Bank::new(on).await;
    let keyed = |ending, key| {
        let call = bank.post("/v2/account-checks", check_body(ending));
        call.header("idempotency-key", key).send()
    };
    let replayed = |answer: &Answer| answer.header("idempotent-replayed") == Some("true");
    let first = keyed("0022", "k").await;
    assert_eq!(first.ok()["result"].text(), "close_match");
    let again = keyed("0022", "k").await;
    assert_eq!((replayed(&again), &again.body), (true, &first.body));
    keyed("6702", "k").await.fault("header.idempotency-key", "idempotency_mismatch");
    assert!(!replayed(&first) && !replayed(&keyed("0022", "another").await));
    // Without an answer, the bank is asked again.
    for _ in 0..2 {
        let silent = keyed("0023", "silent").await;
        assert_eq!((silent.ok()["result"].text(), replayed(&silent)), ("unavailable", false));
    }
}

/// A quote request that has its account checked.
async fn quote_with_check(bank: &Bank, ending: &str, key: &str) -> Answer {
    let body = json!({
        "country": "PAK",
        "currency": "AED",
        "amount": 100,
        "check_account": true,
        "beneficiary_account_number": example::account_ending(PAK, ending),
        "bank_branch_code": "SCBLPKKX",
        "beneficiary_name": "Ali Raza",
    });
    bank.post("/v2/quote", body.to_string()).header("idempotency-key", key).send().await
}

async fn a_quote_says_what_the_bank_says_about_the_account(on: On) {
    let bank = Bank::new(on).await;
    for (ending, result) in [("6702", "match"), ("0001", "closed"), ("0023", "unavailable")] {
        let answer = quote_with_check(&bank, ending, ending).await;
        let quote = answer.ok();
        assert_eq!(quote["account_check"].names(), ["result", "account_name"]);
        assert_eq!(quote["account_check"]["result"].text(), result, "{ending}");
        let again = quote_with_check(&bank, ending, ending).await;
        assert_eq!(
            (again.header("idempotent-replayed"), &again.body),
            (Some("true"), &answer.body)
        );
        let shown = bank.get(&format!("/v2/quote/{}?country=PAK", quote["id"].text())).send().await;
        assert!(shown.ok().get("account_check").is_none(), "it is not stored");
    }
}

/// One check a second is allowed: a second one within that time would get 429.
async fn a_quote_that_is_refused_or_repeated_asks_no_bank(on: On) {
    let setup = Setup::new()
        .set("environment", "test")
        .set("limits.account_check_per_s", "1")
        .set("limits.account_check_burst", "1");
    let bank = Bank::alone(on, setup).await;
    let body = |amount: &str| {
        let account = example::account_ending(PAK, "6702");
        format!(
            r#"{{"country":"PAK","currency":"AED","amount":{amount},"check_account":true,
            "beneficiary_account_number":"{account}","bank_branch_code":"SCBLPKKX",
            "beneficiary_name":"Ali Raza"}}"#
        )
    };
    let quote = |amount, key: &'static str| {
        bank.post("/v2/quote", body(amount)).header("idempotency-key", key).send()
    };
    let first = quote("100", "k").await;
    assert_eq!(first.ok()["account_check"]["result"].text(), "match");
    for _ in 0..5 {
        quote("0.01", "small").await.fault("body.amount", "amount_below_min");
        quote("101", "k").await.fault("header.idempotency-key", "idempotency_mismatch");
        let again = quote("100", "k").await;
        assert_eq!((again.status, &again.body), (200, &first.body));
    }
    bank.finish().await;
}

async fn account_numbers_cannot_be_tried_out(on: On) {
    let setup = Setup::new()
        .set("environment", "test")
        .set("limits.account_check_per_s", "1")
        .set("limits.account_check_burst", "2");
    let bank = Bank::alone(on, setup).await;
    // Another key of the same tenant shares the limit; another tenant does not.
    let second =
        bank.another_key(domain::policy::Environment::Test, service::tenancy::KeyService::Pay);
    let second = bank.with_key(second.await);
    assert_eq!(check(&second, "6702").await.status, 200);
    let use_up = async || while check(&bank, "6702").await.status != 429 {};
    use_up().await;
    let mut refused = check(&second, "6702").await;
    // A second that passed in between grants one more.
    if refused.status != 429 {
        use_up().await;
        refused = check(&second, "6702").await;
    }
    refused.refused(429, "rate_limited");
    assert_eq!(refused.header("retry-after"), Some("1"));
    let mut refused = quote_with_check(&bank, "6702", "k").await;
    if refused.status != 429 {
        use_up().await;
        refused = quote_with_check(&bank, "6702", "another").await;
    }
    refused.refused(429, "rate_limited");
    let other = Bank::at(&bank.running).await;
    assert_eq!(check(&other, "6702").await.status, 200);
    drop((second, other));
    bank.finish().await;
}

/// A service whose only rail checks accounts as configured.
async fn checking(on: On, when: &str) -> Bank {
    let setup = Setup::new().set("rails_enabled", "[\"pak-raast\"]");
    Bank::alone(on, setup.set("rails.pak-raast.verify_account", when)).await
}

async fn a_payment_to_a_closed_account_is_refused_where_the_rail_requires_the_check(on: On) {
    let bank = checking(on, "require").await;
    for (ending, rule) in [("0001", "account_closed"), ("0002", "account_not_found")] {
        let quote = bank.quote(PAK, domain::currency::Currency::Aed, "100").await;
        let answer = bank.pay(&quote.order().ending(PAK, ending)).await;
        answer.fault("body.beneficiary_account_number", rule);
        // The quote is not used up.
        assert_eq!(bank.pay(&quote.order().ending(PAK, "6702")).await.status, 200);
    }
    // What is refused anyway is refused as such, and the bank is not asked.
    let used = bank.quote(PAK, domain::currency::Currency::Aed, "100").await;
    assert_eq!(bank.pay(&used.order().ending(PAK, "6702")).await.status, 200);
    bank.pay(&used.order().ending(PAK, "0001")).await.refused(400, "quote_used");
    // A wrong name, and no answer, are the bank's to judge.
    for ending in ["0021", "0022", "0023", "0024"] {
        let id = bank.paid(PAK, |order| order.ending(PAK, ending)).await;
        bank.reaches(PAK, &id, "succeeded").await;
    }
    bank.finish().await;
}

async fn a_check_that_is_off_or_impossible_refuses_nothing(on: On) {
    for (when, result) in [("off", "not_supported"), ("inform", "closed")] {
        let bank = checking(on, when).await;
        assert_eq!(check(&bank, "0001").await.ok()["result"].text(), result);
        let id = bank.paid(PAK, |order| order.ending(PAK, "0001")).await;
        bank.reaches(PAK, &id, "failed").await;
        bank.finish().await;
    }
}

async fn a_bank_that_is_silent_delays_a_payment_and_refuses_nothing(on: On) {
    let silent = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("http://{}", silent.local_addr().expect("bound"));
    let setup = Setup::new().set("rails_enabled", "[\"pak-raast\"]");
    let setup = connected(setup, "pak-raast", &url, "whsec_c2lsZW50LXNpbGVudC1zaWxlbnQ=");
    let bank = Bank::alone(on, setup.set("rails.pak-raast.verify_account", "require")).await;
    let quote = bank.quote(PAK, domain::currency::Currency::Aed, "100").await;
    let begun = std::time::Instant::now();
    assert_eq!(bank.pay(&quote.order().ending(PAK, "6702")).await.status, 200);
    assert!(begun.elapsed() < ANSWER_WITHIN, "{:?}", begun.elapsed());
    bank.finish().await;
}
