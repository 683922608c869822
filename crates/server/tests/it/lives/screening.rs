//! Sanctions screening: its findings affect the payment's life, never the response that accepts it.

use domain::audit::{Entry, Via};
use domain::country::Country;
use domain::currency::StableCoin;
use domain::ids::PaymentId;
use domain::ledger::AccountCode;
use domain::payment::{Payment, ReviewState};
use domain::screening::{Party, Verdict};
use domain::time::Span;
use engine::backoffice;
use engine::command::Refused;
use engine::payments::Denied;
use reqwest::Method;
use store::AuditFilter;
use testkit::bank::Faults;
use testkit::wait::AT_MOST;

use crate::harness::{Answer, Bank, On, Order, Setup, on_both_stores};

on_both_stores! {
    accepting_never_tells_what_screening_found
    a_payment_in_review_waits_for_a_person
    an_approved_payment_is_paid
    a_payment_that_a_person_refuses_is_rejected_in_neutral_words
    a_listed_name_is_rejected_in_neutral_words
    both_sides_are_screened
    a_person_decides_once
    a_queued_payment_is_screened_again_on_newer_lists
    an_approval_counts_for_the_matches_shown_and_older_lists_decide_nothing
}

/// A near match of the sample list, for review.
const ALIKE: &str = "Zorblax Qibbletan";
/// A name of the sample list.
const LISTED: &str = "Zorblax Quibbleton";

const NEUTRAL: &str = "payment cannot be executed";

/// Screens a name, to confirm the tests' assumptions.
fn verdict(bank: &Bank, name: &str) -> Verdict {
    let world = bank.running.payments().world();
    world
        .screen
        .screen(&[Party { name, birthdate: None, country: Some("ARE") }], world.clock.now())
        .verdict()
}

async fn pay_from(bank: &Bank, sender: &str) -> (Answer, String) {
    let answer = bank.pay(&bank.any_quote().await.order().from(sender)).await;
    let id = answer.ok()["id"].text().to_owned();
    (answer, id)
}

async fn decide(bank: &Bank, id: &str, approve: bool) {
    let payment = PaymentId::parse(id).expect("an id");
    bank.running
        .payments()
        .review(bank.tenant.id, payment, approve, None, "test")
        .await
        .expect("decided");
}

/// The reserved part of the prefund.
async fn reserved(bank: &Bank) -> i64 {
    let accounts = bank.running.store().accounts(bank.tenant.id).await.expect("they can be read");
    let prefund =
        accounts.iter().find(|account| account.code == AccountCode::Prefund(StableCoin::Usdt));
    prefund.expect("a prefund").debits_pending
}

async fn accepting_never_tells_what_screening_found(on: On) {
    let bank = Bank::new(on).await;
    let names =
        [("Omar Testwell", Verdict::Clean), (ALIKE, Verdict::Review), (LISTED, Verdict::Hit)];
    let mut shapes = Vec::new();
    for (name, expected) in names {
        assert_eq!(verdict(&bank, name), expected, "{name}");
        let (answer, id) = pay_from(&bank, name).await;
        let accepted = answer.ok();
        let text =
            accepted.to_string().replace(&id, "ID").replace(accepted["timestamp"].text(), "AT");
        let mut headers: Vec<String> =
            answer.headers.keys().map(|name| name.as_str().to_owned()).collect();
        headers.sort();
        shapes.push((text, headers, answer.header("content-length").map(str::to_owned)));
    }
    assert!(shapes[0].0.contains(r#""status":"queued","msg":null"#));
    assert_eq!(shapes[0], shapes[1]);
    assert_eq!(shapes[0], shapes[2]);
}

async fn a_payment_in_review_waits_for_a_person(on: On) {
    let bank = Bank::new(on).await;
    let order = bank.any_quote().await.order().from(ALIKE);
    let call = |order: &Order| bank.pay_call(order).header("idempotency-key", "k");
    let accepted = call(&order).send().await;
    let id = accepted.ok()["id"].text().to_owned();
    let record = bank.record(Country::Pak, &id).await;
    assert_eq!(record["response"]["status"].text(), "queued");
    assert_eq!(record["response"]["msg"].text(), "in review");
    assert_eq!(bank.history(&id).await, ["payment.queued", "payment.updated"]);
    let events = bank.events_after(0).await;
    let of_payment: Vec<_> =
        events.iter().filter(|event| event["data"]["id"].text() == id).collect();
    assert_eq!(of_payment[0]["data"]["response"]["msg"].to_string(), "null");
    assert_eq!(of_payment[1]["data"]["response"]["msg"].text(), "in review");
    // A repeated request reveals no more than the first response.
    assert_eq!(call(&order).send().await.body, accepted.body);
    let steer = format!("/sandbox/payments/{id}/succeeded");
    bank.unsigned(Method::POST, &steer, None).send().await.refused(409, "not_at_the_bank");
    assert!(bank.book(&id).await.is_empty());
    assert!(reserved(&bank).await > 0, "the money stays reserved");
}

async fn an_approved_payment_is_paid(on: On) {
    let bank = Bank::new(on).await;
    let (_, id) = pay_from(&bank, ALIKE).await;
    decide(&bank, &id, true).await;
    let record = bank.reaches(Country::Pak, &id, "succeeded").await;
    assert_eq!(record["response"]["msg"].to_string(), "null");
    assert_eq!(bank.book(&id).await.len(), 1);
    let history = bank.history(&id).await;
    assert_eq!(history.last().map(String::as_str), Some("payment.succeeded"));
}

async fn a_payment_that_a_person_refuses_is_rejected_in_neutral_words(on: On) {
    let bank = Bank::new(on).await;
    let (_, id) = pay_from(&bank, ALIKE).await;
    decide(&bank, &id, false).await;
    let record = bank.reaches(Country::Pak, &id, "rejected").await;
    assert_eq!(record["response"]["msg"].text(), NEUTRAL);
    assert!(bank.book(&id).await.is_empty());
    assert_eq!(reserved(&bank).await, 0);
}

async fn a_listed_name_is_rejected_in_neutral_words(on: On) {
    let bank = Bank::new(on).await;
    let (_, id) = pay_from(&bank, LISTED).await;
    let record = bank.reaches(Country::Pak, &id, "rejected").await;
    assert_eq!(record["response"]["msg"].text(), NEUTRAL);
    assert_eq!(bank.history(&id).await, ["payment.queued", "payment.rejected"]);
    assert!(bank.book(&id).await.is_empty());
    assert_eq!(reserved(&bank).await, 0);
}

async fn both_sides_are_screened(on: On) {
    let bank = Bank::new(on).await;
    let id = bank.paid(Country::Pak, |order| order.text("beneficiary_name", LISTED)).await;
    bank.reaches(Country::Pak, &id, "rejected").await;
    let id = bank.paid(Country::Ind, |order| order.text("beneficiary_name", ALIKE)).await;
    assert_eq!(bank.record(Country::Ind, &id).await["response"]["msg"].text(), "in review");
}

async fn a_person_decides_once(on: On) {
    let bank = Bank::new(on).await;
    let (_, id) = pay_from(&bank, ALIKE).await;
    decide(&bank, &id, false).await;
    let payment = PaymentId::parse(&id).expect("an id");
    let again = bank.running.payments().review(bank.tenant.id, payment, true, None, "test").await;
    assert!(again.is_err(), "a refusal cannot be taken back");
    bank.reaches(Country::Pak, &id, "rejected").await;
    assert!(bank.book(&id).await.is_empty());
}

async fn a_queued_payment_is_screened_again_on_newer_lists(on: On) {
    let dir = tempfile::tempdir().expect("a directory");
    let file = dir.path().join("list.csv");
    let write = |day: u8, name: &str| {
        let list = format!(
            "#corridor-sanctions name=TEST published=2026-11-0{day}\n\
             uid,kind,name,aliases,weak_aliases,birthdates,countries,addresses\n\
             T-1,person,{name},,,,,\n"
        );
        std::fs::write(&file, list).expect("written");
    };
    write(1, "Unrelated Person");
    let lists = format!("[{{ locations = [\"{}\"] }}]", file.display());
    let bank = Bank::alone(on, Setup::new().set("screening.lists", &lists)).await;
    bank.running.bank().set_faults(Faults { down: true, ..Faults::NONE }).expect("the bank runs");
    let mut ids = Vec::new();
    for name in [LISTED, ALIKE, "Omar Testwell"] {
        ids.push(bank.paid(Country::Pak, |order| order.text("beneficiary_name", name)).await);
    }
    for id in &ids {
        let record = bank.record(Country::Pak, id).await;
        assert_eq!(record["response"]["status"].text(), "queued", "{record}");
        assert_eq!(record["response"]["msg"].to_string(), "null", "{record}");
    }
    write(2, LISTED);
    let bank = bank.restart().await;
    bank.running.bank().set_faults(Faults::NONE).expect("the bank runs");
    let shown = async |id: &str| {
        let record = bank.record(Country::Pak, id).await;
        let shown = &record["response"];
        format!("{} {}", shown["status"].text(), shown["msg"])
    };
    let wanted =
        ["rejected \"payment cannot be executed\"", "queued \"in review\"", "succeeded null"];
    for (id, wanted) in ids.iter().zip(wanted) {
        let there = testkit::wait::until_async(AT_MOST, || async {
            bank.advance(Span::secs(15)).await;
            shown(id).await == wanted
        });
        assert!(there.await, "{wanted}: {}", shown(id).await);
    }
    // A reviewer sees what it is held for, and what they decide is final on the same lists.
    let payment = PaymentId::parse(&ids[1]).expect("an id");
    let record = bank.running.store().payment_record(bank.tenant.id, payment).await;
    let payment = record.expect("it can be read").expect("a payment").payment;
    assert!(payment.screened.list_version.contains("2026-11-02"), "{:?}", payment.screened);
    assert_eq!(payment.screened.evidence, Some(format!("TEST T-1 {LISTED} (93)")));
    decide(&bank, &ids[1], true).await;
    bank.reaches(Country::Pak, &ids[1], "succeeded").await;
    // What found nothing is recorded too: once, with the lists that it was screened on.
    let again = async |id: &str| {
        let subject = Some(id.to_owned());
        let filter =
            AuditFilter { tenant: Some(bank.tenant.id), subject, ..AuditFilter::default() };
        let noted = bank.running.store().audit_entries(&filter, 9).await.expect("read");
        let is = |entry: &Entry| entry.note.action == "payment.screened";
        noted.into_iter().filter(is).collect::<Vec<_>>()
    };
    let clean = again(&ids[2]).await;
    let [clean] = &clean[..] else { panic!("{clean:?}") };
    let after = clean.note.after.as_deref().unwrap_or_default();
    assert!(after.contains(r#""screening":"clean""#) && after.contains("2026-11-02"), "{clean:?}");
    assert_eq!((clean.deed.via, &clean.deed.who[..]), (Via::Program, "screening"));
    assert_eq!(again(&ids[1]).await.len(), 1, "the same lists make no further entry");
    let booked = [0, 1, 2].map(|at| bank.book(&ids[at]));
    let booked: Vec<_> =
        futures_util::future::join_all(booked).await.iter().map(Vec::len).collect();
    assert_eq!(booked, [0, 1, 1]);
    bank.finish().await;
}

async fn an_approval_counts_for_the_matches_shown_and_older_lists_decide_nothing(on: On) {
    let dir = tempfile::tempdir().expect("a directory");
    let file = dir.path().join("list.csv");
    let write = |day: u8, names: &[&str]| {
        let entry = |(at, name): (usize, &&str)| format!("T-{at},person,{name},,,,,\n");
        let entries: String = names.iter().enumerate().map(entry).collect();
        let list = format!(
            "#corridor-sanctions name=TEST published=2026-11-0{day}\n\
             uid,kind,name,aliases,weak_aliases,birthdates,countries,addresses\n{entries}"
        );
        std::fs::write(&file, list).expect("written");
    };
    let other = "Zorblax Quibbletin";
    write(2, &[LISTED, "Unrelated Person"]);
    let lists = format!("[{{ locations = [\"{}\"] }}]", file.display());
    let bank = Bank::alone(on, Setup::new().set("screening.lists", &lists)).await;
    bank.running.bank().set_faults(Faults { down: true, ..Faults::NONE }).expect("the bank runs");
    let (_, id) = pay_from(&bank, ALIKE).await;
    let payment = PaymentId::parse(&id).expect("an id");
    let stored = async |bank: &Bank| {
        let record = bank.running.store().payment_record(bank.tenant.id, payment).await;
        record.expect("it can be read").expect("a payment").payment
    };
    let shown = stored(&bank).await;
    let named = |payment: &Payment| {
        payment.screened.matches().map(|(entry, _)| entry.to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(named(&shown), [format!("TEST T-0 {LISTED}")]);
    // Another version of the case than the reviewer saw.
    let payments = bank.running.payments();
    let seen = Some(shown.version - 1);
    let refused = payments.review(bank.tenant.id, payment, true, seen, "test").await;
    assert!(matches!(refused, Err(Denied::Refused(Refused::NotAsSeen))), "{refused:?}");
    let seen = Some(shown.version);
    payments.review(bank.tenant.id, payment, true, seen, "test").await.expect("approved");

    // Lists that were published before: nothing is sent, and nothing is decided.
    write(1, &[LISTED, other]);
    let bank = bank.restart().await;
    bank.running.bank().set_faults(Faults::NONE).expect("the bank runs");
    let fence = async || {
        let case = backoffice::case(bank.running.store(), bank.tenant.id, payment).await;
        case.expect("it can be read").expect("a case").job.expect("a job").fence
    };
    let (first, waits) = (fence().await, stored(&bank).await);
    let was_looked_at = async || {
        bank.advance(Span::secs(15)).await;
        fence().await > first + 2
    };
    assert!(testkit::wait::until_async(AT_MOST, was_looked_at).await);
    assert_eq!((stored(&bank).await, bank.book(&id).await.len()), (waits, 0));

    // A later list with a further match: it waits again, for a decision about both.
    write(3, &[LISTED, other]);
    let bank = bank.restart().await;
    bank.running.bank().set_faults(Faults::NONE).expect("the bank runs");
    let is_held = async || {
        bank.advance(Span::secs(15)).await;
        stored(&bank).await.review == ReviewState::Waiting
    };
    assert!(testkit::wait::until_async(AT_MOST, is_held).await);
    let held = stored(&bank).await;
    assert_eq!(named(&held), [format!("TEST T-0 {LISTED}"), format!("TEST T-1 {other}")]);
    let subject = Some(id.clone());
    let filter = AuditFilter { tenant: Some(bank.tenant.id), subject, ..AuditFilter::default() };
    let noted = bank.running.store().audit_entries(&filter, 9).await.expect("read");
    let again = noted.iter().find(|entry| entry.note.action == "payment.screened");
    let again = again.expect("the screening is recorded");
    assert_eq!((again.deed.via, &again.deed.who[..]), (Via::Program, "screening"));
    let fact = |facts: &Option<String>, day: u8| {
        facts.as_ref().is_some_and(|facts| facts.contains(&format!("TEST 2026-11-0{day}")))
    };
    assert!(fact(&again.note.before, 2) && fact(&again.note.after, 3), "{again:?}");
    decide(&bank, &id, true).await;
    bank.reaches(Country::Pak, &id, "succeeded").await;
    assert_eq!(bank.book(&id).await.len(), 1);
    bank.finish().await;
}
