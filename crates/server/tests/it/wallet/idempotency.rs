//! `Idempotency-Key` of every operation that changes something: a repeated request gets the first
//! response and has no second effect (`decisions.md`: "Idempotency-Key"; other body → 422
//! VALIDATION_FAILED).

use domain::time::Span;
use futures_util::future::join_all;

use super::table::{MANAGER, MISSING, Op};
use crate::harness::client::Call;
use crate::harness::wallet_bank::refused;
use crate::harness::{Answer, Json, On, Setup, WalletBank, on_both_stores};

on_both_stores! {
    every_operation_answers_a_repetition_as_it_answered_first
    another_body_under_the_same_key_is_refused_by_every_operation
    concurrent_repetitions_have_one_effect
    a_refused_outcome_is_not_remembered
    a_key_is_scoped_to_its_tenant_method_and_path
    a_key_is_1_to_255_printable_characters
    a_key_on_a_read_means_nothing
    answers_are_kept_for_72_hours_and_over_a_restart
}

const BLOCK: &str = r#"{"reason":"SUSPICIOUS_ACTIVITY","details":"A test"}"#;
const OTHER_BLOCK: &str =
    r#"{"reason":"PENDING_INVESTIGATION","details":"Another","auto_unblock_hours":5}"#;
const BLACKLIST: &str = r#"{"regulatory_authority":"FIA","regulatory_reference_number":"R-1","reason":"A test","effective_date":"2020-01-01"}"#;

fn keyed(call: Call, key: &str) -> Call {
    call.header("idempotency-key", key)
}

fn is_replay(answer: &Answer) -> bool {
    answer.header("idempotent-replayed") == Some("true")
}

/// A request with its key, and the first response.
#[derive(Default)]
struct Asked {
    all: Vec<(String, String, String, Vec<u8>)>,
}

impl Asked {
    /// Sends a request with a new key; the response must be a first one.
    async fn first(&mut self, bank: &WalletBank, path: &str, body: &str) -> Json {
        let key = format!("key {}", self.all.len());
        let answer = keyed(bank.post(path, body), &key).send().await;
        assert!(!is_replay(&answer), "{answer:?}");
        let read = answer.ok();
        self.all.push((key, path.to_owned(), body.to_owned(), answer.body));
        self.same(bank, 1).await;
        read
    }

    /// The last requests get their first responses again.
    async fn same(&self, bank: &WalletBank, last: usize) {
        for (key, path, body, first) in self.all.iter().rev().take(last) {
            let again = keyed(bank.post(path, body.as_str()), key).send().await;
            assert_eq!(again.status, 200, "{again:?}");
            assert!(is_replay(&again), "{again:?}");
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            assert_eq!(text(&again.body), text(first), "{path}");
            assert_eq!(again.header("content-type"), Some("application/json"));
        }
    }
}

async fn every_operation_answers_a_repetition_as_it_answered_first(on: On) {
    let bank = WalletBank::new(on).await;
    let mut asked = Asked::default();
    let provision = r#"{"customer_id":"once","customer_email":"c@example.com","customer_phone":"+923001234567","kyc_level":"COMPREHENSIVE"}"#;
    let made = asked.first(&bank, "/v1/sdk/wallets/provision", provision).await;
    // The bank's first wallet is PENDING until its controller is on chain, and repeats keep that
    // response.
    assert_eq!(made["status"].text(), "PENDING");
    let wallet = made["wallet_id"].text().to_owned();
    let is_active = |shown: &Json| (shown["status"].text() == "ACTIVE").then(|| shown.clone());
    bank.once(&format!("/v1/sdk/wallets/{wallet}"), is_active).await;
    let of_wallet = |what: &str| format!("/v1/sdk/wallets/{wallet}/{what}");
    let request = format!(r#"{{"wallet_id":"{wallet}","amount":{{"type":"flexible"}}}}"#);
    let request =
        asked.first(&bank, "/v1/sdk/payment-requests", &request).await["payment_request_id"]
            .text()
            .to_owned();
    asked.first(&bank, &format!("/v1/sdk/payment-requests/{request}/cancel"), "").await;
    bank.deposit(&wallet, "100.00", "COMPLETED").await;
    let order = order_body(&wallet, "10.00");
    let order = asked.first(&bank, "/v1/sdk/orders", &order).await["order_id"].text().to_owned();
    bank.order_reaches(&wallet, &order, "SETTLED").await;
    // An amount whose order does not start before it times out.
    let order =
        bank.order_call(&wallet, "1.02", "").send().await.ok()["order_id"].text().to_owned();
    asked.first(&bank, &format!("/v1/sdk/orders/{order}/cancel"), "").await;
    let (_, review) = bank.deposit(&wallet, "25.02", "RECEIVED_IN_ESCROW").await;
    let review = format!("/v1/sdk/reviews/{}", review["transaction_id"].text());
    bank.once("/v1/sdk/reviews", |page| page["reviews"].items().first().cloned()).await;
    asked.first(&bank, &review, r#"{"decision":"approve","note":"known"}"#).await;
    bank.newest(&wallet, "COMPLETED").await;
    // The state moves on: blocked, unblocked, blocked for another reason, unblocked again.
    asked.first(&bank, &of_wallet("block"), BLOCK).await;
    asked.first(&bank, &of_wallet("unblock"), r#"{"unblock_reason":"cleared"}"#).await;
    asked.first(&bank, &of_wallet("block"), OTHER_BLOCK).await;
    asked.first(&bank, &of_wallet("unblock"), "").await;
    let delivery = bank.get("/v1/sdk/webhooks/deliveries?status=delivered").send().await.ok();
    let delivery = delivery["deliveries"][0]["delivery_id"].text().to_owned();
    asked.first(&bank, &format!("/v1/sdk/webhooks/deliveries/{delivery}/redeliver"), "").await;
    asked.first(&bank, &of_wallet("blacklist"), BLACKLIST).await;
    asked.same(&bank, asked.all.len()).await;
    let paths: std::collections::BTreeSet<usize> =
        asked.all.iter().map(|(_, path, ..)| operation_of(path)).collect();
    assert_eq!(paths.len(), Op::posts().len(), "every operation was repeated");
}

/// The operation of a path.
fn operation_of(path: &str) -> usize {
    let fits = |op: &Op| {
        let (theirs, ours): (Vec<&str>, Vec<&str>) =
            (op.path.split('/').collect(), path.split('/').collect());
        theirs.len() == ours.len()
            && theirs.iter().zip(ours).all(|(their, our)| their.starts_with('{') || *their == our)
    };
    Op::posts().iter().position(fits).expect("an operation")
}

fn order_body(wallet: &str, amount: &str) -> String {
    format!(
        r#"{{"order_type":"EXCHANGE","wallet_id":"{wallet}","amount":"{amount}","from_currency":"USDC","to_currency":"PKR","bank_account":{{"iban":"{}","account_holder_name":"Demo"}}}}"#,
        crate::harness::wallet_bank::IBAN
    )
}

async fn another_body_under_the_same_key_is_refused_by_every_operation(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.wallet("other").await;
    let provision = |id: &str| {
        format!(
            r#"{{"customer_id":"{id}","customer_email":"c@example.com","customer_phone":"+923001234567"}}"#
        )
    };
    let request = format!(r#"{{"wallet_id":"{wallet}","amount":{{"type":"flexible"}}}}"#);
    let block = format!("/v1/sdk/wallets/{wallet}/block");
    for (path, body, other) in [
        ("/v1/sdk/wallets/provision", provision("a"), provision("b")),
        ("/v1/sdk/payment-requests", request.clone(), format!("{request} ")),
        (block.as_str(), BLOCK.to_owned(), OTHER_BLOCK.to_owned()),
    ] {
        keyed(bank.post(path, body.as_str()), "k").send().await.ok();
        let answer = keyed(bank.post(path, other), "k").send().await;
        let refusal = refused(&answer, 422, "VALIDATION_FAILED", Some("Idempotency-Key"));
        assert_eq!(refusal.names(), ["error", "message", "field", "request_id", "timestamp"]);
        assert!(!is_replay(&answer));
        assert!(
            is_replay(&keyed(bank.post(path, body), "k").send().await),
            "the first is still there"
        );
    }
    let none = bank.get("/v1/sdk/events").send().await.ok();
    let blocks = none["events"]
        .items()
        .iter()
        .filter(|event| event["event_type"].text() == "wallet.blocked")
        .count();
    assert_eq!(blocks, 1, "blocked once");
}

async fn concurrent_repetitions_have_one_effect(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.wallet("at once").await;
    bank.deposit(&wallet, "100.00", "COMPLETED").await;
    let provisions =
        join_all((0..8).map(|_| keyed(bank.provision_call("eight"), "p").send())).await;
    let request = format!(r#"{{"wallet_id":"{wallet}","amount":{{"type":"flexible"}}}}"#);
    let requests = join_all(
        (0..8).map(|_| keyed(bank.post("/v1/sdk/payment-requests", request.as_str()), "r").send()),
    )
    .await;
    let orders =
        join_all((0..8).map(|_| keyed(bank.order_call(&wallet, "100.00", ""), "o").send())).await;
    for answers in [&provisions, &requests, &orders] {
        assert_eq!(answers.iter().filter(|answer| !is_replay(answer)).count(), 1, "{answers:?}");
        assert!(
            answers.iter().all(|answer| answer.status == 200 && answer.body == answers[0].body),
            "{answers:?}"
        );
    }
    let listed = bank.get(&format!("/v1/sdk/orders?wallet_id={wallet}")).send().await.ok();
    assert_eq!(listed["pagination"]["total_count"].number(), "1");
}

async fn a_refused_outcome_is_not_remembered(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.wallet("refused").await;
    let order = || keyed(bank.order_call(&wallet, "50.00", ""), "k").send();
    refused(&order().await, 422, "INSUFFICIENT_BALANCE", None);
    bank.deposit(&wallet, "100.00", "COMPLETED").await;
    let made = order().await;
    assert!(!is_replay(&made));
    made.ok();
    // Nor for a body with an invalid structure, or a missing resource.
    let path = format!("/v1/sdk/wallets/{wallet}/block");
    let answer = keyed(bank.post(&path, r#"{"reason":"NONE","details":"x"}"#), "b").send().await;
    refused(&answer, 400, "INVALID_REQUEST", Some("reason"));
    let first = keyed(bank.post(&path, BLOCK), "b").send().await;
    assert!(!is_replay(&first));
    first.ok();
    let nobody =
        keyed(bank.post(&format!("/v1/sdk/wallets/{MISSING}/block"), BLOCK), "b").send().await;
    refused(&nobody, 404, "NOT_FOUND", Some("wallet_id"));
}

async fn a_key_is_scoped_to_its_tenant_method_and_path(on: On) {
    let (bank, other) = (WalletBank::new(on).await, WalletBank::new(on).await);
    let first = keyed(bank.provision_call("one"), "k").send().await.ok();
    let theirs = keyed(other.provision_call("one"), "k").send().await;
    assert!(!is_replay(&theirs));
    assert_ne!(theirs.ok()["wallet_id"], first["wallet_id"]);
    let second = bank.wallet("two").await;
    for wallet in [first["wallet_id"].text(), &second] {
        let blocked =
            keyed(bank.post(&format!("/v1/sdk/wallets/{wallet}/block"), BLOCK), "k").send().await;
        assert!(!is_replay(&blocked));
        assert_eq!(blocked.ok()["wallet_id"].text(), wallet);
    }
}

async fn a_key_is_1_to_255_printable_characters(on: On) {
    let bank = WalletBank::new(on).await;
    for op in Op::posts() {
        for key in ["", &"k".repeat(256), "a\tb", "schlüssel"] {
            let answer = keyed(op.call(&bank, MANAGER, MISSING), key).send().await;
            let body = refused(&answer, 400, "INVALID_REQUEST", Some("Idempotency-Key"));
            assert_eq!(
                body["message"].text(),
                "Idempotency-Key: Must be 1 to 255 printable characters"
            );
        }
    }
    for (at, key) in ["k", &"k".repeat(255), "a b~!\"#"].iter().enumerate() {
        keyed(bank.provision_call(&format!("c{at}")), key).send().await.ok();
    }
}

async fn a_key_on_a_read_means_nothing(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.wallet("read").await;
    let path = format!("/v1/sdk/wallets/{wallet}");
    for _ in 0..2 {
        let shown = keyed(bank.get(&path), "k").send().await;
        assert!(!is_replay(&shown));
        shown.ok();
    }
}

async fn answers_are_kept_for_72_hours_and_over_a_restart(on: On) {
    let bank = WalletBank::alone(on, Setup::with_wallets()).await;
    let first = keyed(bank.provision_call("kept"), "k").send().await;
    first.ok();
    let bank = bank.restart().await;
    bank.bank.advance(Span::hours(71)).await;
    let again = keyed(bank.provision_call("kept"), "k").send().await;
    assert_eq!((is_replay(&again), again.status, &again.body), (true, 200, &first.body));
    bank.bank.advance(Span::hours(2)).await;
    // Expires to the second, whether or not the record was pruned: a second wallet for the same
    // customer.
    assert_eq!(keyed(bank.provision_call("kept"), "k").send().await.status, 409);
    bank.finish().await;
}
