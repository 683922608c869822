//! The payment service's events as webhooks (`decisions.md`, "Webhooks": the same way, off by
//! default), to an endpoint that verifies them.

use domain::country::Country;
use domain::delivery::{DeliveryState, SCHEDULE};
use domain::time::Span;
use store::{DeliveryFilter, DeliveryRecord, EventsOf, Page};
use testkit::connect_proxy::ConnectProxy;
use testkit::receiver::{Entry, Reaction, ReceiverConfig, SimulatedReceiver, Verdict};
use testkit::tls_front::{FrontCertificates, TlsFront};
use testkit::wait;

use crate::authority::Authority;
use crate::harness::wallet_bank::SECRET;
use crate::harness::{Bank, Json, On, Setup, WalletBank, on_both_stores};

on_both_stores! {
    payment_events_are_not_sent_unless_turned_on
    all_events_of_a_payment_come_in_order_as_the_log_has_them
    a_receiver_that_refuses_payment_events_is_tried_until_they_are_dead
    an_event_that_was_given_up_is_listed_and_sent_again
    switched_off_nothing_more_is_sent
    an_endpoint_behind_a_proxy_knows_us_by_our_certificate
}

const WHO: &str = "test";

/// An endpoint for a bank's webhooks.
async fn receiving(bank: &Bank) -> SimulatedReceiver {
    let receiver =
        SimulatedReceiver::start(ReceiverConfig::with(&[SECRET])).await.expect("a receiver");
    let store = bank.running.store();
    store
        .add_webhook(bank.tenant.id, &receiver.url(), SECRET.to_owned().into(), WHO)
        .await
        .expect("added");
    receiver
}

async fn switch(bank: &Bank, on: bool) {
    bank.running.store().set_payment_webhooks(bank.tenant.id, on, WHO).await.expect("switched");
}

async fn deliveries(bank: &Bank) -> Vec<DeliveryRecord> {
    let filter = DeliveryFilter { of: EventsOf::Payments, ..DeliveryFilter::default() };
    let page = Page { page: 0, limit: 100 };
    bank.running.store().deliveries(bank.tenant.id, &filter, page).await.expect("read").rows
}

/// The webhooks about a quote or payment, once there are this many.
async fn arrived(receiver: &SimulatedReceiver, about: &str, count: usize) -> Vec<Entry> {
    let found = || {
        let book = receiver.book();
        book.entries()
            .iter()
            .filter(|it| it.subject.as_deref() == Some(about))
            .cloned()
            .collect::<Vec<_>>()
    };
    assert!(
        wait::until_async(wait::AT_MOST, || async { found().len() >= count }).await,
        "{:?}",
        found()
    );
    found()
}

async fn payment_events_are_not_sent_unless_turned_on(on: On) {
    let bank = Bank::new(on).await;
    let receiver = receiving(&bank).await;
    let before = bank.paid(Country::Pak, |order| order).await;
    bank.reaches(Country::Pak, &before, "succeeded").await;
    assert_eq!(deliveries(&bank).await, []);
    switch(&bank, true).await;
    let after = bank.any_quote().await;
    // All expected webhooks have arrived; an unwanted one would have arrived as well.
    assert_eq!(arrived(&receiver, after.id(), 1).await.len(), 1);
    assert_eq!(receiver.book().entries().len(), 1);
    assert_eq!(deliveries(&bank).await.len(), 1);
}

async fn all_events_of_a_payment_come_in_order_as_the_log_has_them(on: On) {
    let bank = Bank::new(on).await;
    let receiver = receiving(&bank).await;
    switch(&bank, true).await;
    let quote = bank.any_quote().await;
    let id = bank.pay(&quote.order()).await.ok()["id"].text().to_owned();
    bank.reaches(Country::Pak, &id, "succeeded").await;
    let of_payment = arrived(&receiver, &id, 3).await;
    let of_quote = arrived(&receiver, quote.id(), 2).await;
    let paths =
        |entries: &[Entry]| entries.iter().map(|it| it.arrival.path.clone()).collect::<Vec<_>>();
    let expected = ["payment-queued", "payment-processing", "payment-succeeded"];
    assert_eq!(paths(&of_payment), expected.map(|segment| format!("/webhooks/payment/{segment}")));
    assert_eq!(
        paths(&of_quote),
        ["quote-created", "quote-used"].map(|segment| format!("/webhooks/payment/{segment}"))
    );
    let logged = bank.events_after(0).await;
    for entry in of_payment.iter().chain(&of_quote) {
        assert_eq!((entry.verdict, entry.taken), (Verdict::Genuine, true));
        let event =
            logged.iter().find(|event| event["id"].text() == entry.id()).expect("it is in the log");
        assert_eq!(Json::read(&entry.arrival.body), *event, "the same bytes say the same");
        assert_eq!(event["type"].text(), entry.event_type);
    }
    assert_eq!(logged.len(), 5);
}

async fn a_receiver_that_refuses_payment_events_is_tried_until_they_are_dead(on: On) {
    let bank = Bank::alone(on, Setup::new()).await;
    let receiver = receiving(&bank).await;
    switch(&bank, true).await;
    receiver.with(|core| core.set_usual(Reaction::refuse(500)));
    let quote = bank.any_quote().await;
    for attempt in 1..=SCHEDULE.len() {
        let entries = arrived(&receiver, quote.id(), attempt).await;
        let (tries, others) = entries.split_at(attempt);
        assert!(
            tries
                .iter()
                .all(|it| (it.id(), &it.arrival.body) == (tries[0].id(), &tries[0].arrival.body))
        );
        assert!(tries.iter().all(|it| it.event_type == "quote.created"), "the next one waits");
        // The next one is sent as soon as the last attempt has failed.
        assert!(others.is_empty() || attempt == SCHEDULE.len(), "one try after the other");
        let tried = i32::try_from(attempt).expect("few");
        let noted =
            || async { deliveries(&bank).await.iter().any(|it| it.delivery.attempts == tried) };
        assert!(wait::until_async(wait::AT_MOST, noted).await);
        let all = deliveries(&bank).await;
        let first = all.iter().find(|it| it.delivery.version == 1).expect("there");
        let Some(next) = first.delivery.next_at else { break };
        // By now the quote has expired, and its second event waits for the first.
        bank.advance(Span((next - bank.running.now()).0.max(0) + 1_000_000)).await;
    }
    let dead = || async {
        deliveries(&bank)
            .await
            .iter()
            .any(|it| it.delivery.version == 1 && it.delivery.state == DeliveryState::Dead)
    };
    assert!(wait::until_async(wait::AT_MOST, dead).await);
    let alerts = bank.running.store().alerts(bank.tenant.id, 10).await.expect("read");
    assert!(
        alerts.iter().any(|(_, alert)| alert
            .what
            .contains("webhook delivery failed, will not retry (quote ")),
        "{alerts:?}"
    );
    receiver.with(|core| core.set_usual(Reaction::Take));
    let next = || async {
        let book = receiver.book();
        book.taken_about(quote.id()).iter().any(|it| it.event_type == "quote.expired")
    };
    let waited = wait::until_async(wait::AT_MOST, || async {
        bank.advance(Span::mins(3)).await;
        next().await
    });
    assert!(waited.await, "the next one goes on");
    bank.finish().await;
}

async fn an_event_that_was_given_up_is_listed_and_sent_again(on: On) {
    let bank = WalletBank::new(on).await;
    switch(&bank.bank, true).await;
    let store = bank.bank.running.store();
    store.disable_webhook(bank.bank.tenant.id, "maintenance", WHO).await.expect("disabled");
    let quote = bank.bank.any_quote().await;
    let listed =
        bank.get("/v1/sdk/webhooks/deliveries?service=payment&status=disabled").send().await.ok();
    let entry = &listed["deliveries"].items()[0];
    assert_eq!(
        (entry["event_type"].text(), entry["subject"]["quote_id"].text()),
        ("quote.created", quote.id())
    );
    assert_eq!(listed["pagination"]["total_count"].integer(), 1);
    let wallets = bank.get("/v1/sdk/webhooks/deliveries").send().await.ok();
    assert_eq!(wallets["deliveries"].items().len(), 0, "the wallet service is the default");
    let wrong = bank.get("/v1/sdk/webhooks/deliveries?service=both").send().await;
    crate::harness::wallet_bank::refused(&wrong, 400, "INVALID_REQUEST", Some("service"));
    store.enable_webhook(bank.bank.tenant.id, WHO).await.expect("enabled");
    let path = format!("/v1/sdk/webhooks/deliveries/{}/redeliver", entry["delivery_id"].text());
    bank.post(&path, "").send().await.ok();
    let entries = arrived(&bank.receiver, quote.id(), 1).await;
    assert_eq!((entries[0].id(), entries[0].verdict), (entry["event_id"].text(), Verdict::Genuine));
    let events = bank.bank.events_after(0).await;
    assert_eq!(Json::read(&entries[0].arrival.body), events[0]);
}

async fn switched_off_nothing_more_is_sent(on: On) {
    let bank = Bank::new(on).await;
    let receiver = receiving(&bank).await;
    switch(&bank, true).await;
    let first = bank.any_quote().await;
    arrived(&receiver, first.id(), 1).await;
    switch(&bank, false).await;
    bank.pay(&first.order()).await.ok();
    assert_eq!(deliveries(&bank).await.len(), 1, "of before");
    switch(&bank, true).await;
    let second = bank.any_quote().await;
    arrived(&receiver, second.id(), 1).await;
    let about_first = arrived(&receiver, first.id(), 1).await;
    assert_eq!(about_first.len(), 1, "events in between are not sent automatically");
}

/// The table that `webhooks.outbound` names: proxy, client certificate and private authority.
async fn an_endpoint_behind_a_proxy_knows_us_by_our_certificate(on: On) {
    let directory = tempfile::tempdir().expect("a directory");
    let at = |name: &str, text: &str| {
        let path = directory.path().join(name);
        std::fs::write(&path, text).expect("written");
        path.display().to_string()
    };
    let (theirs, ours) = (Authority::new(), Authority::new());
    let server = theirs.server(&["localhost"]);
    let certificates = FrontCertificates {
        certificate: &server.certificate,
        key: &server.key,
        client_authority: Some(&ours.pem),
    };
    let receiver =
        SimulatedReceiver::start(ReceiverConfig::with(&[SECRET])).await.expect("a receiver");
    let front = TlsFront::start(&certificates, receiver.address()).await.expect("a front");
    let proxy = ConnectProxy::start(&[], Some("corridor:pr0xy")).await.expect("a proxy");
    let issued = ours.client("corridor");
    let setup = [
        ("webhooks.outbound", "hooks".to_owned()),
        ("outbound.hooks.certificate_file", at("client.pem", &issued.certificate)),
        ("outbound.hooks.key_file", at("client.key", &issued.key)),
        ("outbound.hooks.authority_file", at("ca.pem", &theirs.pem)),
        ("outbound.hooks.system_authorities", "false".to_owned()),
        ("outbound.hooks.proxy", format!("http://corridor:pr0xy@{}", proxy.address())),
    ];
    let setup = setup.iter().fold(Setup::new(), |setup, (key, value)| setup.set(key, value));
    let bank = Bank::alone(on, setup).await;
    let url = format!("https://localhost:{}", front.address().port());
    let store = bank.running.store();
    let added = store.add_webhook(bank.tenant.id, &url, SECRET.to_owned().into(), WHO).await;
    added.expect("added");
    switch(&bank, true).await;
    let quote = bank.any_quote().await;
    let entries = arrived(&receiver, quote.id(), 1).await;
    assert_eq!((entries[0].verdict, entries[0].taken), (Verdict::Genuine, true));
    let target = format!("localhost:{}", front.address().port());
    assert!(!proxy.targets().is_empty() && proxy.targets().iter().all(|it| *it == target));
    assert!(!front.clients().is_empty());
    bank.finish().await;
}
