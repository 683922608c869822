//! Stopping payments: cancelling what no bank has, recalling what one has. An answer of the bank
//! changes the recall alone; money moves only with the bank's reports (ADR 44).

use domain::audit::Via;
use domain::country::Country;
use domain::currency::StableCoin;
use domain::ids::PaymentId;
use domain::ledger::AccountCode;
use domain::time::Span;
use domain::wallet_effects::AlertKind;
use testkit::bank::{Behaviour, DelayRange, Faults};
use testkit::wait::AT_MOST;

use crate::harness::client::PREFUND_MINOR;
use crate::harness::{Bank, Json, On, Setup, on_both_stores};

on_both_stores! {
    a_payment_that_no_bank_has_is_cancelled_once
    a_payment_that_a_bank_has_is_not_cancelled
    a_cancellation_and_a_submission_never_both_win
    a_recalled_payment_that_comes_back_is_reversed
    an_accepted_recall_without_the_money_books_nothing_and_raises_an_alert
    a_refused_recall_leaves_the_payment_and_another_may_follow
    an_unanswered_recall_raises_an_alert_and_a_user_closes_it
    a_bank_may_decide_later
    a_payment_that_is_not_executed_yet_is_stopped
    what_cannot_be_recalled_is_refused_by_name
    a_recall_travels_over_a_directory
}

const PAK: Country = Country::Pak;

/// A service whose bank returns money after a moment.
async fn bank(on: On) -> Bank {
    let behaviour =
        Behaviour { return_after: DelayRange::millis(1_500, 1_500), ..Behaviour::instant() };
    Bank::alone(on, Setup::new().bank(behaviour)).await
}

async fn recall(bank: &Bank, id: &str) -> Json {
    let path = format!("/v2/payments/{id}/recalls?country=PAK");
    bank.post(&path, r#"{"reason":"FRAD","text":"the payer was deceived"}"#).send().await.ok()
}

async fn recalls(bank: &Bank, id: &str) -> Vec<Json> {
    let path = format!("/v2/payments/{id}/recalls?country=PAK");
    bank.get(&path).send().await.ok().items().to_vec()
}

/// The newest recall, once it is in `state`.
async fn recall_reaches(bank: &Bank, id: &str, state: &str) -> Json {
    let there = testkit::wait::until_async(AT_MOST, || async {
        recalls(bank, id).await.first().is_some_and(|it| it["status"].text() == state)
    });
    assert!(there.await, "{:?}", recalls(bank, id).await);
    recalls(bank, id).await.remove(0)
}

async fn paid(bank: &Bank, ending: &str, state: &str) -> String {
    let id = bank.paid(PAK, |order| order.ending(PAK, ending)).await;
    bank.reaches(PAK, &id, state).await;
    id
}

async fn status(bank: &Bank, id: &str) -> (String, Option<String>) {
    let response = bank.record(PAK, id).await["response"].clone();
    let recall = response.get("recall_status").map(|state| state.text().to_owned());
    (response["status"].text().to_owned(), recall)
}

/// What the tenant has left, and what is reserved.
async fn prefund(bank: &Bank) -> (i64, i64) {
    let accounts = bank.running.store().accounts(bank.tenant.id).await.expect("read");
    let code = AccountCode::Prefund(StableCoin::Usdt);
    let account = accounts.iter().find(|it| it.code == code).expect("a prefund");
    (account.available().minor, account.debits_pending)
}

/// The payment's events: each one's type, with the recall's status if there is one.
async fn events_of(bank: &Bank, id: &str) -> Vec<String> {
    let events = bank.events_after(0).await;
    let own = events.iter().filter(|event| event["data"]["id"].text() == id);
    let shown = own.map(|event| {
        let recall = event["data"]["response"].get("recall_status");
        let recall = recall.map(|state| format!(" {}", state.text()));
        format!("{}{}", event["type"].text(), recall.unwrap_or_default())
    });
    shown.collect()
}

/// What every book account of the tenant holds: posted and pending, by account.
async fn ledger(bank: &Bank) -> Vec<(String, i64, i64, i64, i64)> {
    let accounts = bank.running.store().accounts(bank.tenant.id).await.expect("read");
    let row = |it: &domain::ledger::Account| {
        let pending = (it.debits_pending, it.credits_pending);
        (format!("{:?}", it.code), it.debits_posted, it.credits_posted, pending.0, pending.1)
    };
    accounts.iter().map(row).collect()
}

async fn alerts(bank: &Bank) -> Vec<String> {
    let alerts = bank.running.store().alerts(bank.tenant.id, 100).await.expect("read");
    let own = alerts.into_iter().filter(|(_, alert)| alert.kind == AlertKind::Recall);
    own.map(|(_, alert)| alert.what).collect()
}

async fn audited(bank: &Bank, id: &str, action: &str) -> Vec<domain::audit::Entry> {
    let filter = store::AuditFilter {
        tenant: Some(bank.tenant.id),
        subject: Some(id.to_owned()),
        ..Default::default()
    };
    let noted = bank.running.store().audit_entries(&filter, 9).await.expect("read");
    noted.into_iter().filter(|entry| entry.note.action == action).collect()
}

async fn a_payment_that_no_bank_has_is_cancelled_once(on: On) {
    let bank = bank(on).await;
    let away = Faults { down: true, ..Faults::NONE };
    bank.running.bank().set_faults(away).expect("the bank runs");
    let id = bank.paid(PAK, |order| order.text("external_id", "INV-1")).await;
    let path = format!("/v2/payments/{id}/cancel?country=PAK");
    let cancel = || bank.post(&path, r#"{"reason":"ordered twice"}"#);
    // An attempt may be under way towards the bank that is away.
    let done =
        testkit::wait::until_async(AT_MOST, || async { cancel().send().await.status == 200 });
    assert!(done.await, "{}", cancel().send().await.json());
    let record = bank.record(PAK, &id).await;
    assert_eq!(cancel().send().await.ok(), record, "repeating it answers the same");
    let keyed = cancel().header("idempotency-key", "k1").send().await;
    assert_eq!(keyed.ok(), record);
    let again = cancel().header("idempotency-key", "k1").send().await;
    assert_eq!((again.header("idempotent-replayed"), again.ok()), (Some("true"), record.clone()));
    let external = "/v2/payments/INV-1/cancel?country=PAK&external=true";
    assert_eq!(bank.post(external, "{}").send().await.ok(), record);
    assert_eq!(record["response"]["status"].text(), "reversed");
    assert_eq!(record["response"]["msg"].text(), "cancelled before it was sent");
    assert_eq!(prefund(&bank).await, (PREFUND_MINOR, 0), "the hold is released");
    assert_eq!(bank.history(&id).await, ["payment.queued", "payment.reversed"]);
    let noted = audited(&bank, &id, "payment.cancel").await;
    assert_eq!(noted.len(), 1, "one entry, however often it is repeated");
    assert_eq!((noted[0].deed.via, noted[0].deed.why.as_str()), (Via::Api, "ordered twice"));
    bank.running.bank().set_faults(Faults::NONE).expect("the bank runs");
    bank.advance(Span::mins(1)).await;
    assert!(bank.book(&id).await.is_empty());
    bank.finish().await;
}

async fn a_payment_that_a_bank_has_is_not_cancelled(on: On) {
    let bank = Bank::new(on).await;
    for (ending, state) in [("0005", "processing"), ("6702", "succeeded"), ("0001", "failed")] {
        let id = paid(&bank, ending, state).await;
        let path = format!("/v2/payments/{id}/cancel?country=PAK");
        let refused = bank.post(&path, "{}").send().await.refused(409, "payment_not_cancellable");
        assert_eq!(refused["status"].text(), state);
    }
    let id = paid(&bank, "0005", "processing").await;
    for (path, status, code) in [
        (format!("/v2/payments/{id}/cancel?country=IND"), 400, "payment_not_found"),
        (format!("/v2/payments/{id}/recalls?country=IND"), 400, "payment_not_found"),
    ] {
        bank.post(&path, r#"{"reason":"CUST"}"#).send().await.refused(status, code);
    }
    let stranger = Bank::new(on).await;
    let path = format!("/v2/payments/{id}/cancel?country=PAK");
    stranger.post(&path, "{}").send().await.refused(400, "payment_not_found");
}

/// Whatever the timing: either it is cancelled and the bank has nothing, or it is not.
async fn a_cancellation_and_a_submission_never_both_win(on: On) {
    let bank = bank(on).await;
    let mut cancelled = 0;
    for number in 0..12 {
        let id = bank.paid(PAK, |order| order).await;
        if number % 3 == 1 {
            bank.reaches(PAK, &id, "succeeded").await;
        }
        let path = format!("/v2/payments/{id}/cancel?country=PAK");
        let answer = bank.post(&path, "{}").send().await;
        if answer.status == 200 {
            cancelled += 1;
            assert_eq!(status(&bank, &id).await.0, "reversed");
            assert!(bank.book(&id).await.is_empty(), "cancelled and paid");
        } else {
            answer.refused(409, "payment_not_cancellable");
            bank.reaches(PAK, &id, "succeeded").await;
            assert_eq!(bank.book(&id).await.len(), 1);
        }
    }
    assert!(cancelled < 12, "paid ones are not cancelled");
    bank.finish().await;
}

async fn a_recalled_payment_that_comes_back_is_reversed(on: On) {
    let bank = bank(on).await;
    let id = paid(&bank, "0011", "succeeded").await;
    let made = recall(&bank, &id).await;
    assert_eq!((made["status"].text(), made["payment_id"].text()), ("requested", id.as_str()));
    let record = bank.reaches(PAK, &id, "reversed").await;
    let recall = recall_reaches(&bank, &id, "returned").await;
    assert_eq!(record["response"]["msg"].text().split(':').next(), Some("AC04"));
    assert_eq!(recall["id"], made["id"]);
    assert_eq!(
        (recall["reason"].text(), recall["text"].text()),
        ("FRAD", "the payer was deceived")
    );
    assert!(recall.get("sent_at").is_some_and(|at| *at != Json::Null));
    assert_eq!(status(&bank, &id).await.1.as_deref(), Some("returned"));
    assert_eq!(
        events_of(&bank, &id).await,
        [
            "payment.queued",
            "payment.processing",
            "payment.succeeded",
            "payment.updated requested",
            "payment.updated accepted",
            "payment.reversed accepted",
            "payment.updated returned",
        ]
    );
    let kinds: Vec<String> =
        bank.book(&id).await.iter().map(|line| line["kind"].text().to_owned()).collect();
    assert_eq!(kinds, ["paid", "returned"]);
    let noted = audited(&bank, &id, "payment.recall").await;
    assert_eq!((noted.len(), noted[0].deed.why.as_str()), (1, "the payer was deceived"));
    assert_eq!(alerts(&bank).await, Vec::<String>::new());
    bank.finish().await;
}

async fn an_accepted_recall_without_the_money_books_nothing_and_raises_an_alert(on: On) {
    let bank = bank(on).await;
    let id = paid(&bank, "0012", "succeeded").await;
    let before = prefund(&bank).await;
    recall(&bank, &id).await;
    recall_reaches(&bank, &id, "accepted").await;
    assert_eq!((status(&bank, &id).await.0.as_str(), prefund(&bank).await), ("succeeded", before));
    bank.advance(Span::days(5)).await;
    let there = testkit::wait::until_async(AT_MOST, || async { !alerts(&bank).await.is_empty() });
    assert!(there.await);
    assert!(alerts(&bank).await[0].contains("the money has not come back"));
    assert_eq!((status(&bank, &id).await.0.as_str(), prefund(&bank).await), ("succeeded", before));
    // The money comes after all: the return books it, once, and settles the alert.
    let end_to_end = PaymentId::parse(&id).expect("an id").end_to_end_id();
    let returned = testkit::bank::Outcome::Return;
    bank.running.bank().steer(&end_to_end, returned).expect("returned");
    bank.reaches(PAK, &id, "reversed").await;
    recall_reaches(&bank, &id, "returned").await;
    assert_eq!(alerts(&bank).await, Vec::<String>::new());
    assert!(prefund(&bank).await.0 > before.0);
    bank.finish().await;
}

async fn a_refused_recall_leaves_the_payment_and_another_may_follow(on: On) {
    let bank = bank(on).await;
    let id = paid(&bank, "0013", "succeeded").await;
    let booked = ledger(&bank).await;
    let path = format!("/v2/payments/{id}/recalls?country=PAK");
    let keyed = || bank.post(&path, r#"{"reason":"CUST"}"#).header("idempotency-key", "r1");
    let made = keyed().send().await;
    let first = made.ok();
    let refused = recall_reaches(&bank, &id, "refused").await;
    assert_eq!(refused["bank_reason"].text(), "LEGL");
    let replayed = keyed().send().await;
    assert_eq!(
        (replayed.header("idempotent-replayed"), replayed.status, &replayed.body),
        (Some("true"), 200, &made.body)
    );
    assert_eq!(status(&bank, &id).await, ("succeeded".to_owned(), Some("refused".to_owned())));
    let second = recall(&bank, &id).await;
    assert_ne!(second["id"], first["id"]);
    recall_reaches(&bank, &id, "refused").await;
    let ids: Vec<Json> = recalls(&bank, &id).await.iter().map(|it| it["id"].clone()).collect();
    assert_eq!(ids, [second["id"].clone(), first["id"].clone()], "newest first");
    assert_eq!(status(&bank, &id).await.0, "succeeded");
    assert_eq!(
        events_of(&bank, &id).await[3..],
        [
            "payment.updated requested",
            "payment.updated refused",
            "payment.updated requested",
            "payment.updated refused",
        ]
    );
    assert_eq!(ledger(&bank).await, booked, "a refused recall books nothing");
    assert_eq!(bank.book(&id).await.len(), 1, "the bank paid once, and nothing came back");
    assert_eq!(alerts(&bank).await, Vec::<String>::new());
    bank.finish().await;
}

async fn an_unanswered_recall_raises_an_alert_and_a_user_closes_it(on: On) {
    let bank = bank(on).await;
    let id = paid(&bank, "0015", "succeeded").await;
    let booked = ledger(&bank).await;
    recall(&bank, &id).await;
    recall_reaches(&bank, &id, "sent").await;
    let path = format!("/v2/payments/{id}/recalls?country=PAK");
    bank.post(&path, r#"{"reason":"DUPL"}"#).send().await.refused(409, "recall_open");
    bank.advance(Span::days(15)).await;
    let recall = recall_reaches(&bank, &id, "unanswered").await;
    assert!(alerts(&bank).await[0].contains("has not been answered in time"));
    assert_eq!(ledger(&bank).await, booked, "silence books nothing");
    let (payments, tenant) = (bank.running.payments(), bank.tenant.id);
    let payment = PaymentId::parse(&id).expect("an id");
    let closed = domain::ids::RecallId::parse(recall["id"].text()).expect("an id");
    payments.close_recall(tenant, payment, closed, "omar").await.expect("closed");
    assert_eq!(status(&bank, &id).await, ("succeeded".to_owned(), Some("closed".to_owned())));
    assert_eq!(alerts(&bank).await, Vec::<String>::new());
    assert_eq!(audited(&bank, &id, "recall.close").await.len(), 1);
    assert_eq!(
        events_of(&bank, &id).await[3..],
        [
            "payment.updated requested",
            "payment.updated sent",
            "payment.updated unanswered",
            "payment.updated closed",
        ]
    );
    assert_eq!(ledger(&bank).await, booked);
    assert_eq!(bank.book(&id).await.len(), 1);
    bank.finish().await;
}

async fn a_bank_may_decide_later(on: On) {
    let bank = bank(on).await;
    let id = paid(&bank, "0014", "succeeded").await;
    recall(&bank, &id).await;
    bank.reaches(PAK, &id, "reversed").await;
    recall_reaches(&bank, &id, "returned").await;
    bank.finish().await;
}

async fn a_payment_that_is_not_executed_yet_is_stopped(on: On) {
    let bank = bank(on).await;
    let id = paid(&bank, "0005", "processing").await;
    recall(&bank, &id).await;
    bank.reaches(PAK, &id, "reversed").await;
    recall_reaches(&bank, &id, "returned").await;
    assert_eq!(prefund(&bank).await, (PREFUND_MINOR, 0), "the hold is released, once");
    assert!(bank.book(&id).await.is_empty());
    bank.finish().await;
}

async fn what_cannot_be_recalled_is_refused_by_name(on: On) {
    let setup = Setup::new().set("rails.pak-raast.recalls", "");
    let bank = Bank::alone(on, setup).await;
    let paid_out = paid(&bank, "6702", "succeeded").await;
    let failed = paid(&bank, "0001", "failed").await;
    let at = |id: &str| format!("/v2/payments/{id}/recalls?country=PAK");
    let body = r#"{"reason":"CUST"}"#;
    let refused = bank.post(&at(&paid_out), body).send().await.refused(409, "rail_cannot_recall");
    assert_eq!(refused["rail"].text(), "pak-raast");
    let refused = bank.post(&at(&failed), body).send().await.refused(409, "payment_not_recallable");
    assert_eq!(refused["status"].text(), "failed");
    let wrong = bank.post(&at(&paid_out), r#"{"reason":"NONE"}"#).send().await;
    wrong.fault("body.reason", "enum");
    let long = format!(r#"{{"reason":"CUST","text":"{}"}}"#, "x".repeat(106));
    bank.post(&at(&paid_out), long).send().await.fault("body.text", "string_too_long");
    assert!(recalls(&bank, &paid_out).await.is_empty());
    bank.finish().await;
}

/// The message is a file, and so is the answer.
async fn a_recall_travels_over_a_directory(on: On) {
    let shared = tempfile::tempdir().expect("a directory");
    let path = shared.path().to_str().expect("UTF-8");
    let setup = ["transport", "directory"].map(|key| format!("rails.pak-raast.{key}"));
    let setup = Setup::new()
        .set(&setup[0], "directory")
        .set(&setup[1], path)
        .set("rails.pak-raast.report_wait_s", "0")
        .set("rails.pak-raast.recalls", "camt.056.001.08")
        .set("rails.pak-raast.retryable_reasons", "[\"AB08\"]")
        .set("rails.pak-raast.debtor_name", "Demo Bank")
        .set("rails.pak-raast.debtor_account", "1")
        .set("rails.pak-raast.debtor_agent", "DEMOAEAD");
    let bank = Bank::alone(on, setup).await;
    let id = bank.paid(PAK, |order| order).await;
    let payment = PaymentId::parse(&id).expect("an id");
    let attempted = testkit::wait::until_async(AT_MOST, || async {
        let attempts = bank.running.store().attempts(bank.tenant.id, payment).await.expect("read");
        !attempts.is_empty()
    });
    assert!(attempted.await);
    // Sent, and not answered yet: only a recall can stop it.
    let cancel = format!("/v2/payments/{id}/cancel?country=PAK");
    bank.post(&cancel, "{}").send().await.refused(409, "payment_not_cancellable");
    let made = recall(&bank, &id).await;
    recall_reaches(&bank, &id, "sent").await;
    let name = format!("{}-recall.xml", made["id"].text().replace('-', ""));
    let sent = std::fs::read_to_string(shared.path().join("out").join(name)).expect("written");
    assert!(sent.contains("<OrgnlMsgNmId>pain.001.001.09</OrgnlMsgNmId>"), "{sent}");
    let case = payment.end_to_end_id();
    let put = |name: &str, text: String| {
        let dir = shared.path().join("in");
        let hidden = dir.join(format!(".{name}"));
        std::fs::write(&hidden, text).expect("written");
        std::fs::rename(hidden, dir.join(name)).expect("renamed");
    };
    let answer = |status: &str| {
        format!(
            "<Document xmlns=\"urn:iso:std:iso:20022:tech:xsd:camt.029.001.09\"><RsltnOfInvstgtn><Assgnmt><Id>R-{status}\
             </Id></Assgnmt><RslvdCase><Id>{case}</Id></RslvdCase><Sts><Conf>{status}</Conf></Sts></RsltnOfInvstgtn>\
             </Document>"
        )
    };
    put("1.xml", answer("CNCL"));
    let recall = recall_reaches(&bank, &id, "accepted").await;
    assert!(recall.get("bank_reason").is_some_and(|code| *code == Json::Null));
    // The promise alone leaves the payment open: the hold stays until the bank reports.
    assert_eq!(status(&bank, &id).await.0, "queued");
    assert_ne!(prefund(&bank).await.1, 0);
    put(
        "2.xml",
        format!(
            "<Document xmlns=\"urn:iso:std:iso:20022:tech:xsd:pain.002.001.10\"><CstmrPmtStsRpt><GrpHdr><MsgId>S-1\
             </MsgId></GrpHdr><OrgnlPmtInfAndSts><TxInfAndSts><OrgnlEndToEndId>{case}</OrgnlEndToEndId>\
             <TxSts>RJCT</TxSts><StsRsnInf><Rsn><Cd>AB08</Cd></Rsn></StsRsnInf></TxInfAndSts></OrgnlPmtInfAndSts>\
             </CstmrPmtStsRpt></Document>"
        ),
    );
    bank.reaches(PAK, &id, "reversed").await;
    recall_reaches(&bank, &id, "returned").await;
    assert_eq!(prefund(&bank).await, (PREFUND_MINOR, 0));
    // A bank that asks for money back is heard.
    put(
        "3.xml",
        format!(
            "<Document xmlns=\"urn:iso:std:iso:20022:tech:xsd:camt.056.001.08\"><FIToFIPmtCxlReq><Assgnmt><Id>Q-1</Id>\
             </Assgnmt><Undrlyg><TxInf><OrgnlEndToEndId>{case}</OrgnlEndToEndId><CxlRsnInf><Rsn><Cd>FRAD</Cd></Rsn>\
             </CxlRsnInf></TxInf></Undrlyg></FIToFIPmtCxlReq></Document>"
        ),
    );
    let filed = testkit::wait::until_async(AT_MOST, || async {
        let found = bank.running.store().discrepancies(bank.tenant.id, 9).await.expect("read");
        found.iter().any(|(_, it)| it.what.contains("request to return the payment (FRAD)"))
    });
    assert!(filed.await);
    bank.finish().await;
}
