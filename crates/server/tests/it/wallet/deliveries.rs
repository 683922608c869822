//! Webhooks from outside: envelope, headers, signatures, retry schedule, order, endpoint responses,
//! addresses, and the list of deliveries (specification: "Events"; `decisions.md`: "Webhooks",
//! "Additions").

use domain::delivery::{Delivery, DeliveryState, SCHEDULE};
use domain::ids::EventId;
use domain::time::Span;
use secrecy::SecretString;
use store::{DeliveryFilter, Page};
use testkit::receiver::{Entry, Reaction, Verdict};
use testkit::wait::AT_MOST;

use super::exchange::EXCHANGE_COMPLETE;
use super::table::{MANAGER, MISSING};
use crate::harness::client::instant;
use crate::harness::wallet_bank::{IBAN, SECRET, refused};
use crate::harness::{Json, On, Setup, WalletBank, on_both_stores};

on_both_stores! {
    every_event_carries_every_field_of_the_table
    a_delivery_shows_its_event_and_its_tries
    a_redelivery_sends_the_same_bytes_again
    both_secrets_sign_while_one_is_changed
    a_webhook_is_tried_by_the_schedule_and_then_dead
    a_receiver_may_ask_for_more_time
    answers_that_are_no_success_are_tried_again
    a_receiver_that_is_gone_gets_nothing_until_it_is_enabled
    the_order_of_each_subject_is_kept
    a_receiver_that_takes_too_long_has_not_received
    an_endpoint_that_hangs_delays_no_other_tenant
    outside_a_sandbox_nothing_inward_is_reached
}

const BLOCK: &str =
    r#"{"reason":"SUSPICIOUS_ACTIVITY","details":"Three senders","auto_unblock_hours":72}"#;

/// Blocks a new wallet, which is the event's wallet.
async fn blocked(bank: &WalletBank, customer: &str) -> String {
    let wallet = bank.wallet(customer).await;
    bank.post(&format!("/v1/sdk/wallets/{wallet}/block"), BLOCK).send().await.ok();
    wallet
}

/// The delivery of a resource's event, once it matches. Polls the store, which costs no API calls.
async fn seen(bank: &WalletBank, subject: &str, is: impl Fn(&Delivery) -> bool) -> Delivery {
    let (store, tenant) = (bank.bank.running.store(), bank.bank.tenant.id);
    let last = std::sync::Mutex::new(None);
    let there = testkit::wait::until_async(AT_MOST, || async {
        let page = Page { page: 0, limit: 100 };
        let all =
            store.deliveries(tenant, &DeliveryFilter::default(), page).await.expect("read").rows;
        let mut about = all
            .into_iter()
            .map(|it| it.delivery)
            .filter(|it| it.aggregate.id().to_string() == subject);
        let found = about.find(|it| is(it));
        let is_there = found.is_some();
        *last.lock().expect("not poisoned") = found;
        is_there
    });
    assert!(there.await, "{subject}");
    last.into_inner().expect("not poisoned").expect("it is there")
}

/// The same as in the list.
async fn delivery(bank: &WalletBank, subject: &str, is: impl Fn(&Delivery) -> bool) -> Json {
    let id = seen(bank, subject, is).await.event.to_string();
    let page = bank.get("/v1/sdk/webhooks/deliveries?limit=100").send().await.ok();
    let mut listed = page["deliveries"].items().iter();
    listed.find(|it| it["delivery_id"].text() == id).expect("listed").clone()
}

/// A refusal that leaves time before the next attempt.
fn later(status: u16) -> Reaction {
    Reaction::Refuse { status, retry_after: Some("20".to_owned()) }
}

fn in_state(state: DeliveryState) -> impl Fn(&Delivery) -> bool {
    move |it| it.state == state
}

fn tried(attempts: i32) -> impl Fn(&Delivery) -> bool {
    move |it| it.attempts == attempts
}

/// The arrivals about a resource, accepted or not.
fn arrivals(bank: &WalletBank, subject: &str) -> Vec<Entry> {
    let book = bank.receiver.book();
    book.entries()
        .iter()
        .filter(|entry| entry.subject.as_deref() == Some(subject))
        .cloned()
        .collect()
}

async fn arrived(bank: &WalletBank, subject: &str, count: usize) -> Vec<Entry> {
    let there = || async { arrivals(bank, subject).len() >= count };
    assert!(testkit::wait::until_async(AT_MOST, there).await, "{:?}", arrivals(bank, subject));
    arrivals(bank, subject)
}

const ABOUT: [&str; 3] = ["payment_request_id", "wallet_id", "customer_id"];

/// Path segment, type and `data` fields from the specification's table.
const EVENTS: [(&str, &str, &[&str]); 6] = [
    (
        "payment-received",
        "payment.received",
        &[
            "amount",
            "currency",
            "blockchain",
            "tx_hash",
            "from_address",
            "to_address",
            "confirmations",
            "sender_info",
            "status",
        ],
    ),
    (
        "risk-check-complete",
        "risk_check.complete",
        &[
            "risk_check_result",
            "risk_score",
            "risk_level",
            "checks_performed",
            "decision_reason",
            "next_action",
        ],
    ),
    (
        "transfer-complete",
        "transfer.complete",
        &["amount", "currency", "transfer_tx_hash", "status", "completed_at"],
    ),
    ("exchange-complete", "exchange.complete", &EXCHANGE_COMPLETE),
    (
        "wallet-blocked",
        "wallet.blocked",
        &[
            "wallet_id",
            "customer_id",
            "reason",
            "details",
            "blocked_at",
            "auto_unblock_at",
            "triggered_by",
        ],
    ),
    ("transaction-failed", "transaction.failed", &["failure_reason", "error_message", "failed_at"]),
];

async fn every_event_carries_every_field_of_the_table(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.wallet("events").await;
    let (good, _) = bank.deposit(&wallet, "100.00", "COMPLETED").await;
    let (bad, _) = bank.deposit(&wallet, "25.01", "REJECTED").await;
    let order =
        bank.order_call(&wallet, "40.00", "").send().await.ok()["order_id"].text().to_owned();
    bank.order_reaches(&wallet, &order, "SETTLED").await;
    bank.post(&format!("/v1/sdk/wallets/{wallet}/block"), BLOCK).send().await.ok();
    let (good, bad) = (good["payment_request_id"].text(), bad["payment_request_id"].text());
    for (subject, count) in [(good, 3), (bad, 3), (order.as_str(), 1), (wallet.as_str(), 1)] {
        bank.webhooks(subject, count).await;
    }
    let entries: Vec<Entry> =
        [good, bad, &order, &wallet].iter().flat_map(|it| arrivals(&bank, it)).collect();
    for (segment, kind, fields) in EVENTS {
        let entry = entries
            .iter()
            .find(|entry| entry.event_type == kind)
            .unwrap_or_else(|| panic!("no {kind}"));
        assert_eq!(entry.arrival.path, format!("/webhooks/wallet/{segment}"));
        assert_eq!(entry.verdict, Verdict::Genuine);
        let body = Json::read(&entry.arrival.body);
        assert_eq!(body.names(), ["event_id", "event_type", "timestamp", "data"]);
        assert_eq!((body["event_id"].text(), body["event_type"].text()), (entry.id(), kind));
        instant(&body["timestamp"]);
        let data = &body["data"];
        let about: &[&str] = if fields.contains(&"customer_id") { &[] } else { &ABOUT };
        // Additions to the specification follow its own fields.
        let added: &[&str] = match kind {
            "payment.received" => &["transaction_id"],
            "exchange.complete" => &[],
            _ => &["transaction_id", "tx_hash"],
        };
        assert_eq!(data.names(), [about, fields, added].concat(), "{kind}");
        assert_eq!(
            (data["wallet_id"].text(), data["customer_id"].text()),
            (wallet.as_str(), "events")
        );
        contents(kind, data, (good, bad));
    }
}

/// Checks the values of an event's fields.
fn contents(kind: &str, data: &Json, (good, bad): (&str, &str)) {
    match kind {
        "payment.received" => {
            assert_eq!((data["amount"].text(), data["currency"].text()), ("100.00", "USDC"));
            assert_eq!(
                (data["status"].text(), data["blockchain"].text()),
                ("RECEIVED_IN_ESCROW", "ethereum")
            );
            assert_eq!(data["payment_request_id"].text(), good);
            assert!(data["confirmations"].integer() >= 1);
            let sender = ["first_name", "last_name", "email", "phone_number", "custodial_provider"];
            assert_eq!(data["sender_info"].names(), sender);
        }
        "risk_check.complete" => {
            assert_eq!(
                (data["risk_check_result"].text(), data["risk_level"].text()),
                ("APPROVED", "LOW")
            );
            assert_eq!(data["next_action"].text(), "TRANSFER_TO_WALLET");
            assert!((0..=29).contains(&data["risk_score"].integer()));
            let checks: Vec<&str> =
                data["checks_performed"].items().iter().map(Json::text).collect();
            assert_eq!(checks, ["ON_CHAIN_ANALYSIS", "SANCTION_SCREENING", "SOURCE_VERIFICATION"]);
        }
        "transfer.complete" => {
            assert_eq!((data["amount"].text(), data["status"].text()), ("100.00", "COMPLETED"));
            instant(&data["completed_at"]);
        }
        "exchange.complete" => {
            assert_eq!((data["from_amount"].text(), data["status"].text()), ("40.00", "SETTLED"));
            assert_eq!(
                (data["order_type"].text(), data["to_currency"].text()),
                ("EXCHANGE", "PKR")
            );
            assert_eq!(data["bank_account"].names(), ["iban", "account_holder_name"]);
            assert_eq!(data["bank_account"]["iban"].text(), IBAN, "the whole of it");
            instant(&data["settled_at"]);
        }
        "wallet.blocked" => {
            assert_eq!(
                (data["reason"].text(), data["triggered_by"].text()),
                ("SUSPICIOUS_ACTIVITY", "MANUAL")
            );
            assert_eq!(data["details"].text(), "Three senders");
            assert_eq!(
                instant(&data["auto_unblock_at"]) - instant(&data["blocked_at"]),
                Span::hours(72)
            );
        }
        _ => {
            assert_eq!(
                (data["failure_reason"].text(), data["payment_request_id"].text()),
                ("COMPLIANCE_REJECTED", bad)
            );
            assert!(!data["error_message"].text().is_empty());
            instant(&data["failed_at"]);
        }
    }
}

async fn a_delivery_shows_its_event_and_its_tries(on: On) {
    let bank = WalletBank::new(on).await;
    bank.receiver.script([later(500)]);
    let wallet = blocked(&bank, "shown").await;
    let first = delivery(&bank, &wallet, tried(1)).await;
    let names = [
        "delivery_id",
        "event_id",
        "event_type",
        "subject",
        "position",
        "status",
        "attempts",
        "created_at",
        "next_attempt_at",
        "delivered_at",
        "last_status",
        "last_error",
    ];
    assert_eq!(first.names(), names);
    assert_eq!((first["status"].text(), first["last_status"].number()), ("pending", "500"));
    assert_eq!((first["last_error"].text(), &first["delivered_at"]), ("HTTP 500", &Json::Null));
    assert_eq!(first["subject"].to_string(), format!(r#"{{"wallet_id":"{wallet}"}}"#));
    assert_eq!((first["event_type"].text(), first["position"].number()), ("wallet.blocked", "1"));
    assert!(instant(&first["next_attempt_at"]) > instant(&first["created_at"]));
    let done = delivery(&bank, &wallet, in_state(DeliveryState::Delivered)).await;
    assert_eq!((done["attempts"].number(), done["last_status"].number()), ("2", "200"));
    assert_eq!((&done["last_error"], &done["next_attempt_at"]), (&Json::Null, &Json::Null));
    assert!(instant(&done["delivered_at"]) >= instant(&first["next_attempt_at"]));
    let of = async |status: &str| {
        let page =
            bank.get(&format!("/v1/sdk/webhooks/deliveries?status={status}")).send().await.ok();
        page["pagination"]["total_count"].number().to_owned()
    };
    for (status, count) in [("pending", "0"), ("delivered", "1"), ("dead", "0"), ("disabled", "0")]
    {
        assert_eq!(of(status).await, count, "{status}");
    }
}

async fn a_redelivery_sends_the_same_bytes_again(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = blocked(&bank, "again").await;
    let done = delivery(&bank, &wallet, in_state(DeliveryState::Delivered)).await;
    let path = format!("/v1/sdk/webhooks/deliveries/{}/redeliver", done["delivery_id"].text());
    let answer = bank.post(&path, "").send().await.ok();
    assert_eq!(answer.names(), done.names());
    assert_eq!(answer["delivery_id"], done["delivery_id"]);
    let entries = arrived(&bank, &wallet, 2).await;
    assert_eq!(entries[0].arrival.body, entries[1].arrival.body);
    assert_eq!(
        (entries[0].id(), &entries[0].arrival.path),
        (entries[1].id(), &entries[1].arrival.path)
    );
    assert!(entries[1].taken && entries[1].repeated, "the receiver knows it again");
    assert_eq!(entries[0].id(), done["event_id"].text());
    delivery(&bank, &wallet, |it| it.attempts == 2 && it.state == DeliveryState::Delivered).await;
    let unknown =
        bank.post(&format!("/v1/sdk/webhooks/deliveries/{MISSING}/redeliver"), "").send().await;
    refused(&unknown, 404, "NOT_FOUND", Some("delivery_id"));
}

async fn both_secrets_sign_while_one_is_changed(on: On) {
    const NEW: &str = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD";
    let bank = WalletBank::alone(on, Setup::with_wallets()).await;
    let store = bank.bank.running.store();
    let tenant = bank.bank.tenant.id;
    let signatures = |entries: &[Entry]| {
        entries[0].arrival.signature.clone().expect("signed").split(' ').count()
    };
    let before = blocked(&bank, "before").await;
    assert_eq!(signatures(&arrived(&bank, &before, 1).await), 1);
    store
        .rotate_webhook_secret(tenant, SecretString::from(NEW), Span::hours(24), "test")
        .await
        .expect("rotated");
    let during = blocked(&bank, "during").await;
    let entries = arrived(&bank, &during, 1).await;
    assert_eq!(
        (signatures(&entries), entries[0].verdict),
        (2, Verdict::Genuine),
        "the bank knows the old one"
    );
    bank.receiver.with(|core| core.set_secrets(&[NEW]));
    let also = blocked(&bank, "also").await;
    let entries = arrived(&bank, &also, 1).await;
    assert_eq!(
        (signatures(&entries), entries[0].verdict),
        (2, Verdict::Genuine),
        "and the new one"
    );
    bank.bank.advance(Span::hours(25)).await;
    let after = blocked(&bank, "after").await;
    let entries = arrived(&bank, &after, 1).await;
    assert_eq!((signatures(&entries), entries[0].verdict), (1, Verdict::Genuine));
    bank.receiver.with(|core| core.set_secrets(&[SECRET]));
    let forged = blocked(&bank, "forged").await;
    assert_eq!(
        arrived(&bank, &forged, 1).await[0].verdict,
        Verdict::Forged,
        "the old one signs no more"
    );
    bank.finish().await;
}

async fn a_webhook_is_tried_by_the_schedule_and_then_dead(on: On) {
    let bank = WalletBank::alone(on, Setup::with_wallets()).await;
    bank.receiver.with(|core| core.set_usual(Reaction::refuse(503)));
    let wallet = blocked(&bank, "given_up").await;
    let (store, tenant) = (bank.bank.running.store(), bank.bank.tenant.id);
    let first = delivery(&bank, &wallet, tried(1)).await;
    let event = EventId::parse(first["event_id"].text()).expect("an id");
    for (attempt, delay) in (1..).zip(SCHEDULE.into_iter().skip(1)) {
        let shown = delivery(&bank, &wallet, tried(attempt)).await;
        let attempts = store.delivery_attempts(tenant, event).await.expect("read");
        let last = attempts.last().expect("a try");
        let waits = instant(&shown["next_attempt_at"]) - last.at;
        let around = Span(delay.0 / 5 + 1_000);
        assert!(
            (waits.0 - delay.0).abs() <= around.0,
            "after try {attempt}: {waits:?} for {delay:?}"
        );
        assert_eq!((last.status, shown["status"].text()), (Some(503), "pending"));
        let missing = instant(&shown["next_attempt_at"]) - bank.bank.running.now();
        if missing > Span(0) {
            bank.bank.advance(Span(missing.0 + 1_000_000)).await;
        }
    }
    let dead = delivery(&bank, &wallet, in_state(DeliveryState::Dead)).await;
    assert_eq!((dead["attempts"].number(), &dead["next_attempt_at"]), ("12", &Json::Null));
    assert_eq!((dead["last_status"].number(), dead["last_error"].text()), ("503", "HTTP 503"));
    let alerts = store.alerts(tenant, 100).await.expect("read");
    assert!(alerts.iter().any(|(_, alert)| alert.kind.name() == "delivery_dead"), "{alerts:?}");
    let tries = arrivals(&bank, &wallet);
    assert_eq!(tries.len(), 12);
    assert!(bank.receiver.book().changed().is_empty(), "the same id and bytes at every try");
    // A manual redelivery succeeds.
    bank.receiver.with(|core| core.set_usual(Reaction::Take));
    let path = format!("/v1/sdk/webhooks/deliveries/{}/redeliver", dead["delivery_id"].text());
    bank.post(&path, "").send().await.ok();
    delivery(&bank, &wallet, in_state(DeliveryState::Delivered)).await;
    bank.finish().await;
}

async fn a_receiver_may_ask_for_more_time(on: On) {
    let bank = WalletBank::new(on).await;
    for (at, (asked, least, most)) in
        [("600", 600, 600), ("1000000", 86_400, 86_400), ("1", 4, 6)].into_iter().enumerate()
    {
        bank.receiver
            .script([Reaction::Refuse { status: 429, retry_after: Some(asked.to_owned()) }]);
        let wallet = blocked(&bank, &format!("later{at}")).await;
        let shown = seen(&bank, &wallet, tried(1)).await;
        let attempts =
            bank.bank.running.store().delivery_attempts(bank.bank.tenant.id, shown.event).await;
        let waits = shown.next_at.expect("another try") - attempts.expect("read")[0].at;
        assert!(Span::secs(least) <= waits && waits <= Span::secs(most), "{asked}: {waits:?}");
    }
}

async fn answers_that_are_no_success_are_tried_again(on: On) {
    let nowhere = || Reaction::Redirect("http://127.0.0.1:1/elsewhere".to_owned());
    for (reaction, status, why) in [
        (Reaction::Deny, Some("200"), r#"the answer has "received": false"#),
        (nowhere(), Some("302"), "HTTP 302: redirects are not followed"),
        (Reaction::refuse(404), Some("404"), "HTTP 404"),
        (Reaction::refuse(401), Some("401"), "HTTP 401"),
        (Reaction::Close, None, ""),
    ] {
        let bank = WalletBank::new(on).await;
        // Twice: half a minute remains before the third attempt.
        bank.receiver.script([reaction.clone(), reaction]);
        let wallet = blocked(&bank, "again").await;
        let shown = delivery(&bank, &wallet, |it| it.attempts >= 1).await;
        let shown_status = match &shown["last_status"] {
            Json::Null => None,
            status => Some(status.number()),
        };
        assert_eq!((shown["status"].text(), shown_status), ("pending", status), "{shown}");
        let told = shown["last_error"].text();
        assert!(if why.is_empty() { !told.is_empty() } else { told == why }, "{shown}");
    }
    // Any 2xx is a success, whatever the body.
    let bank = WalletBank::new(on).await;
    bank.receiver.script([Reaction::refuse(204)]);
    let wallet = blocked(&bank, "no_content").await;
    delivery(&bank, &wallet, in_state(DeliveryState::Delivered)).await;
}

async fn a_receiver_that_is_gone_gets_nothing_until_it_is_enabled(on: On) {
    let bank = WalletBank::new(on).await;
    bank.receiver.script([Reaction::refuse(410)]);
    let first = blocked(&bank, "gone").await;
    let gone = delivery(&bank, &first, in_state(DeliveryState::Disabled)).await;
    assert_eq!(gone["last_error"].text(), "the endpoint is gone (410)");
    let (store, tenant) = (bank.bank.running.store(), bank.bank.tenant.id);
    assert!(store.webhook(tenant).await.expect("read").expect("there").disabled.is_some());
    let second = blocked(&bank, "while-disabled").await;
    delivery(&bank, &second, in_state(DeliveryState::Disabled)).await;
    assert!(arrivals(&bank, &second).is_empty(), "nothing is sent");
    let alerts = store.alerts(tenant, 100).await.expect("read");
    assert!(alerts.iter().any(|(_, alert)| alert.kind.name() == "receiver_gone"), "{alerts:?}");
    store.enable_webhook(tenant, "test").await.expect("enabled");
    let path = format!("/v1/sdk/webhooks/deliveries/{}/redeliver", gone["delivery_id"].text());
    bank.call_as(MANAGER, reqwest::Method::POST, &path, None).send().await.ok();
    delivery(&bank, &first, in_state(DeliveryState::Delivered)).await;
    let third = blocked(&bank, "afterwards").await;
    delivery(&bank, &third, in_state(DeliveryState::Delivered)).await;
    assert!(arrivals(&bank, &second).is_empty(), "missed events are sent on request only");
}

async fn the_order_of_each_subject_is_kept(on: On) {
    let bank = WalletBank::new(on).await;
    // The first event of each resource fails: only its own later events wait.
    bank.receiver.script([later(500)]);
    let slow = blocked(&bank, "slow").await;
    bank.post(&format!("/v1/sdk/wallets/{slow}/unblock"), "").send().await.ok();
    bank.post(&format!("/v1/sdk/wallets/{slow}/block"), BLOCK).send().await.ok();
    let waiting = delivery(&bank, &slow, |it| it.version == 2).await;
    assert_eq!((waiting["status"].text(), waiting["attempts"].number()), ("pending", "0"));
    assert_eq!(waiting["next_attempt_at"], Json::Null, "it waits for the one before it");
    let quick = blocked(&bank, "quick").await;
    bank.webhooks(&quick, 1).await;
    bank.webhooks(&slow, 2).await;
    let positions: Vec<Json> =
        arrivals(&bank, &slow).iter().map(|entry| Json::read(&entry.arrival.body)).collect();
    let at: Vec<_> = positions.iter().map(|body| instant(&body["data"]["blocked_at"])).collect();
    assert_eq!(at.len(), 3, "the first twice, then the second");
    assert!(at[0] == at[1] && at[1] < at[2]);
}

async fn a_receiver_that_takes_too_long_has_not_received(on: On) {
    let bank = WalletBank::new(on).await;
    bank.receiver.script([Reaction::TakeLate(Span::secs(40)), Reaction::TakeLate(Span::secs(40))]);
    let wallet = blocked(&bank, "late").await;
    let shown = delivery(&bank, &wallet, tried(1)).await;
    assert_eq!(
        (shown["status"].text(), shown["last_error"].text()),
        ("pending", "no complete answer in time")
    );
    let event = EventId::parse(shown["event_id"].text()).expect("an id");
    let attempts = bank
        .bank
        .running
        .store()
        .delivery_attempts(bank.bank.tenant.id, event)
        .await
        .expect("read");
    assert!((Span::secs(14)..Span::secs(25)).contains(&attempts[0].took), "{:?}", attempts[0].took);
}

async fn an_endpoint_that_hangs_delays_no_other_tenant(on: On) {
    // More requests than there are rounds of other work, each at another time.
    const HANGING: usize = 9;
    let (hangs, answers) = (WalletBank::new(on).await, WalletBank::new(on).await);
    hangs.receiver.script(vec![Reaction::TakeLate(Span::secs(40)); HANGING]);
    let quick = answers.wallet("quick").await;
    let mut slow = Vec::new();
    for number in 0..HANGING {
        slow.push(hangs.wallet(&format!("slow-{number}")).await);
    }
    let block = async |bank: &WalletBank, wallet: &str| {
        bank.post(&format!("/v1/sdk/wallets/{wallet}/block"), BLOCK).send().await.ok();
    };
    for wallet in &slow {
        block(&hangs, wallet).await;
    }
    let under_way = async || hangs.receiver.book().entries().len() >= HANGING;
    assert!(testkit::wait::until_async(AT_MOST, under_way).await, "all are sent at once");
    block(&answers, &quick).await;
    let received = seen(&answers, &quick, in_state(DeliveryState::Delivered)).await;
    assert_eq!(received.attempts, 1);
    for wallet in &slow {
        let hanging = seen(&hangs, wallet, |_| true).await;
        assert_eq!(hanging.attempts, 0, "the other tenant's event waited for this one");
    }
}

async fn outside_a_sandbox_nothing_inward_is_reached(on: On) {
    let bank = WalletBank::alone(on, Setup::with_wallets().set("environment", "test")).await;
    let (store, tenant) = (bank.bank.running.store(), bank.bank.tenant.id);
    let port = bank.receiver.address().port();
    let (mut path, mut wallet) = (String::new(), String::new());
    let addresses = [
        (bank.receiver.url(), "must begin with https://"),
        (
            format!("https://127.0.0.1:{port}"),
            "127.0.0.1 is loopback: webhooks go to the internet only",
        ),
        (format!("https://2130706433:{port}"), "127.0.0.1 is loopback"),
        (format!("https://[::1]:{port}"), "::1 is loopback"),
        (format!("https://[::ffff:127.0.0.1]:{port}"), "is an IPv4 address written as IPv6"),
        (format!("https://localhost:{port}"), "is loopback"),
        ("https://10.0.0.1".to_owned(), "10.0.0.1 is private"),
        ("https://192.168.1.1".to_owned(), "192.168.1.1 is private"),
        ("https://169.254.169.254".to_owned(), "169.254.169.254 is link-local"),
        ("https://[fd00:ec2::254]".to_owned(), "is private"),
        ("https://user:word@192.0.2.1".to_owned(), "must not hold a user name"),
    ];
    for (tries, (url, why)) in (1..).zip(addresses) {
        store.set_webhook_url(tenant, &url, "test").await.expect("set");
        if path.is_empty() {
            wallet = blocked(&bank, "inward").await;
            let shown = delivery(&bank, &wallet, |_| true).await;
            path = format!("/v1/sdk/webhooks/deliveries/{}/redeliver", shown["delivery_id"].text());
        } else {
            bank.post(&path, "").send().await.ok();
        }
        let refused = |it: &Delivery| {
            it.attempts >= tries && it.last_fault.as_ref().is_some_and(|it| it.contains(why))
        };
        let shown = delivery(&bank, &wallet, refused).await;
        assert!(shown["last_error"].text().contains(why), "{url}: {shown}");
        assert_eq!(
            (shown["status"].text(), &shown["last_status"]),
            ("pending", &Json::Null),
            "{url}"
        );
    }
    assert!(bank.receiver.book().entries().is_empty());
    bank.finish().await;
}
