//! A payment's page: the reason for its state, and its history.

use domain::country::Country;
use domain::user::Role;
use testkit::receiver::{ReceiverConfig, SimulatedReceiver};

use super::{has, lacks, officer};
use crate::harness::wallet_bank::SECRET;
use crate::harness::{Bank, On, on_both_stores};

on_both_stores! {
    a_paid_payment_tells_everything_in_order
    a_refused_payment_tells_why
    a_payment_in_review_names_the_pending_decision
    an_unknown_payment_is_resolved_by_two
    a_payment_that_came_back_shows_both_ways
    webhooks_stand_in_the_timeline
}

/// A near match of the sample list, for review.
const ALIKE: &str = "Zorblax Qibbletan";

/// The positions of these texts, which must be in this order.
#[track_caller]
fn in_order(page: &str, words: &[&str]) {
    let table = page.split_once("id=\"timeline\"").expect("the timeline").1;
    let mut from = 0;
    for word in words {
        let at = table[from..]
            .find(word)
            .unwrap_or_else(|| panic!("no {word:?} behind the others in {table}"));
        from += at + word.len();
    }
}

async fn a_paid_payment_tells_everything_in_order(on: On) {
    let bank = Bank::new(on).await;
    let id = bank.paid(Country::Pak, |order| order.text("external_id", "story-1")).await;
    let record = bank.reaches(Country::Pak, &id, "succeeded").await;
    let viewer = officer(&bank, &[Role::Viewer]).await;
    let page = viewer.get(&format!("/payments/{id}")).await.page();
    let reference = record["response"]["bank_reference"].text();
    has(
        &page,
        &[
            "reported it as paid on",
            "story-1",
            reference,
            &id.replace('-', ""),
            "payment.reserve",
            "payment.fx",
        ],
    );
    has(&page, &["nostro:", "in_transit:USDT", "settled", "GET /v2/events", "no decision needed"]);
    let order = record["order"]["beneficiary_name"].text();
    let (first, last) = order.split_once(' ').expect("two names");
    let letter = last.chars().next().expect("a letter");
    let state = "<span class=\"state good\">Paid</span></h1>";
    has(&page, &[&format!(" PKR · {first} {letter}. {state}")]);
    // The newest step first; its technical steps are folded and in order.
    in_order(
        &page,
        &[
            "reported it as paid</h3>",
            "Event payment.succeeded",
            "Sent to ",
            "InstrId",
            "Screened: clear",
            "Booked payment.reserve",
            "Event payment.queued",
            "Order accepted",
            "Quote created",
        ],
    );
    lacks(&page, &["Approve or reject the payment", "Record the outcome"]);
    viewer.get("/payments/6f0c0000-0000-4000-8000-000000000000").await.refused(404);
}

async fn a_refused_payment_tells_why(on: On) {
    let bank = Bank::new(on).await;
    let id = bank.paid(Country::Pak, |order| order.ending(Country::Pak, "0001")).await;
    bank.reaches(Country::Pak, &id, "failed").await;
    let viewer = officer(&bank, &[Role::Viewer]).await;
    let page = viewer.get(&format!("/payments/{id}")).await.page();
    has(
        &page,
        &[
            "The rail accepted it and then did not pay it:",
            "payment.void",
            "Event payment.failed",
            "<span class=\"state bad\">Failed</span>",
        ],
    );
}

async fn a_payment_in_review_names_the_pending_decision(on: On) {
    let bank = Bank::new(on).await;
    let id = bank.paid(Country::Pak, |order| order.from(ALIKE)).await;
    let compliance = officer(&bank, &[Role::Compliance]).await;
    let page = compliance.get(&format!("/payments/{id}")).await.page();
    has(
        &page,
        &[
            "A reviewer has to decide: screening scored",
            "Approve or reject the payment",
            "In review",
        ],
    );
    has(&compliance.get("/payments?status=for-people").await.page(), &[&id, "In review"]);
    // The other filters apply to what waits as well, on the page and in the file.
    for (filter, is_there) in
        [("country=PAK", true), ("country=IND", false), ("to=2020-01-01", false)]
    {
        let list = compliance.get(&format!("/payments?status=for-people&{filter}")).await.page();
        assert_eq!(list.contains(&id), is_there, "{filter}: {list}");
    }
    compliance.get("/payments?status=for-people&rail=pak-raast").await.refused(422);
    let treasury = officer(&bank, &[Role::Treasury]).await;
    for (country, rows) in [("PAK", 2), ("IND", 1)] {
        let path = format!("/payments/export.csv?status=for-people&country={country}");
        assert_eq!(treasury.get(&path).await.page().lines().count(), rows, "{country}");
    }
    has(&compliance.get("/overview").await.page(), &["Payments in review", "oldest waiting"]);
    let link = format!("/review/payments/{id}");
    has(&page, &[&link]);
    compliance
        .post(&format!("{link}/decide"), &[("verdict", "approve"), ("why", "another birth date")])
        .await
        .done();
    bank.reaches(Country::Pak, &id, "succeeded").await;
    let page = compliance.get(&format!("/payments/{id}")).await.page();
    has(&page, &["approved by a user", "reported it as paid"]);
    let deeds = bank.running.store().audit_about(bank.tenant.id, &id).await.expect("read");
    let request = deeds[0].deed.request_id.clone().expect("each request has an id");
    in_order(
        &page,
        &[
            &format!("{} approved ", compliance.login),
            "another birth date",
            "review.approve",
            &request,
            "Order accepted",
        ],
    );
    has(
        &compliance.get(&format!("/search?q={request}")).await.page(),
        &["Actions of the request", "review.approve", &id],
    );
    lacks(&page, &["Approve or reject the payment"]);
}

async fn an_unknown_payment_is_resolved_by_two(on: On) {
    let bank = Bank::new(on).await;
    let id = bank.paid(Country::Pak, |order| order.ending(Country::Pak, "0004")).await;
    bank.reaches(Country::Pak, &id, "unknown").await;
    let maker = officer(&bank, &[Role::Operator]).await;
    let page = maker.get(&format!("/payments/{id}")).await.page();
    has(
        &page,
        &["has not reported its outcome", "two reviewers have to confirm it", "Record the outcome"],
    );
    has(&maker.get("/payments?status=for-people").await.page(), &[&id]);
    has(&maker.get("/overview").await.page(), &["Unknown payments"]);
    let fields = [("became", "succeeded"), ("why", "line 14 of the statement")];
    let approval = maker.post(&format!("/review/payments/{id}/resolve"), &fields).await.done();
    let page = maker.get(&format!("/payments/{id}")).await.page();
    has(
        &page,
        &[
            &format!("was proposed by {} and is waiting for approval", maker.login),
            &approval,
            "has not reported its outcome",
        ],
    );
    let checker = officer(&bank, &[Role::Approver]).await;
    // The proposal shows the case that it is about.
    let card = checker.fetch(&approval).await.page();
    has(&card, &["View the whole case", &format!("/payments/{id}\""), "Beneficiary", "pak-raast"]);
    checker.send(&format!("{approval}/approve"), &[("note", "seen it too")]).await.done();
    bank.reaches(Country::Pak, &id, "succeeded").await;
    let page = maker.get(&format!("/payments/{id}")).await.page();
    has(&page, &["line 14 of the statement", "seen it too", "has not confirmed it."]);
    let authors = format!("{} and {} recorded on", maker.login, checker.login);
    has(&page, &[&authors, "that it was paid (reason: line 14 of the statement)"]);
    lacks(&page, &["reported it as paid"]);
    has(&page, &["Paid, recorded by users"]);
    in_order(
        &page,
        &[
            "payment.resolve",
            &format!("{} approved: Resolve", checker.login),
            &format!("{} proposed: Resolve", maker.login),
            "Outcome unknown",
        ],
    );
    let proposed = bank
        .running
        .store()
        .audit_about(bank.tenant.id, approval.rsplit('/').next().expect("an id"))
        .await;
    for entry in proposed.expect("read") {
        has(&page, &[&entry.deed.request_id.expect("each request has an id")]);
    }
}

async fn a_payment_that_came_back_shows_both_ways(on: On) {
    let bank = Bank::new(on).await;
    let id = bank.paid(Country::Pak, |order| order.ending(Country::Pak, "0003")).await;
    bank.reaches(Country::Pak, &id, "reversed").await;
    let viewer = officer(&bank, &[Role::Viewer]).await;
    let page = viewer.get(&format!("/payments/{id}")).await.page();
    has(
        &page,
        &[
            "It was paid on",
            "and came back",
            "payment.post",
            "payment.return",
            "Event payment.reversed",
        ],
    );
}

async fn webhooks_stand_in_the_timeline(on: On) {
    let bank = Bank::new(on).await;
    let receiver =
        SimulatedReceiver::start(ReceiverConfig::with(&[SECRET])).await.expect("a receiver");
    let (store, tenant) = (bank.running.store(), bank.tenant.id);
    let secret = SECRET.to_owned().into();
    store.add_webhook(tenant, &receiver.url(), secret, "test").await.expect("added");
    store.set_payment_webhooks(tenant, true, "test").await.expect("switched");
    let id = bank.paid(Country::Pak, |order| order).await;
    bank.reaches(Country::Pak, &id, "succeeded").await;
    let viewer = officer(&bank, &[Role::Viewer]).await;
    let page = async || viewer.get(&format!("/payments/{id}")).await.page();
    let told = || async { page().await.contains("Webhook payment.succeeded delivered") };
    assert!(testkit::wait::until_async(testkit::wait::AT_MOST, told).await);
    let page = page().await;
    in_order(
        &page,
        &["Webhook payment.succeeded delivered", "Answered 2", "Webhook payment.queued delivered"],
    );
    has(&page, &["/webhooks/deliveries/"]);
    lacks(&page, &["None were sent for this payment"]);
}
