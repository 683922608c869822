//! Recalls: saved rows equal loaded rows, one is open at a time, and what is written to a bank is
//! sealed.

use domain::country::Country;
use domain::currency::Currency;
use domain::decision::{Cx, JobChange};
use domain::ids::{RecallId, TenantId};
use domain::money::Money;
use domain::payment::Payment;
use domain::policy::{RailConfig, RailKind};
use domain::rail::{About, BankReport, RailId, RailStatus, RecallAnswer, ReportContent};
use domain::rail_ids::{ReportIds, Unmatched};
use domain::rail_text::CharacterSet;
use domain::recall::{self, NewRecall, Recall, RecallReason, RecallState};
use domain::time::Span;
use store::SentMessage;
use store::need::Need;
use store::working_set::WorkingSet;
use uuid::Uuid;

use crate::constraints::{CHECK, UNIQUE, copy, other, refused};
use crate::world::{World, payment_need, put_effects};

const TEXT: &str = "the payer was deceived";

/// A payment that a rail may have.
async fn sent(world: &World) -> Payment {
    let tenant = world.tenant("demobank", 1_000_000_000).await;
    let payment = world.payment(tenant, None).await;
    world.attempt(&payment, &RailId::new("pak-raast")).await;
    let record = world.store.payment_record(tenant, payment.id).await.expect("read");
    record.expect("there").payment
}

fn raast() -> RailConfig {
    let pkr = |minor| Money::new(minor, Currency::Pkr);
    RailConfig {
        id: RailId::new("pak-raast"),
        country: Country::Pak,
        kind: RailKind::Instant,
        enabled: true,
        min: pkr(1),
        max: pkr(1_000_000_000),
        sender_limits: None,
        cost_minor: 0,
        hours: None,
        needs: [].into(),
        banks: [].into(),
        duplicate_detection: false,
        window: Span::mins(15),
        retryable_reasons: [].into(),
        duplicate_reasons: [].into(),
        max_batch: 1,
        character_set: CharacterSet::SwiftX,
        purpose: None,
        recalls: Some("camt.056.001.08".to_owned()),
        verify_account: domain::account_check::AccountChecks::Off,
    }
}

fn need(payment: &Payment) -> Need {
    let mut need = payment_need(payment);
    need.recalls.insert((payment.tenant, payment.id));
    need
}

fn loaded(ws: &WorkingSet, payment: &Payment) -> (Payment, Option<Recall>) {
    let it = ws.payments.get(&(payment.tenant, payment.id)).cloned().expect("loaded");
    let newest = it.recall.and_then(|id| ws.recalls.get(&(it.tenant, id)).cloned());
    (it, newest)
}

async fn requested(world: &World, payment: &Payment) -> Recall {
    let mut made = None;
    world
        .execute(&need(payment), |ws, ids| {
            let (mut it, newest) = loaded(ws, payment);
            let last = it.attempt.and_then(|id| ws.attempts.get(&(it.tenant, id)).cloned());
            let rail = raast();
            let id = RecallId(ids.next());
            let new = NewRecall { id, reason: RecallReason::Fraud, text: Some(TEXT.to_owned()) };
            let cx = &mut Cx { now: ws.now, ids };
            let asked =
                recall::request(&mut it, last.as_ref(), newest.as_ref(), new, Some(&rail), cx);
            let (recall, effects) = asked.expect("may be recalled");
            put_effects(ws, &it, effects.payment);
            ws.recalls.put((it.tenant, recall.id), recall.clone());
            ws.set_job(it.tenant, recall.id.0, effects.job.expect("a job"));
            ws.keep();
            made = Some(recall);
        })
        .await
        .expect("saved");
    made.expect("made")
}

/// Moves the newest recall on, as a whole commit.
async fn moved(world: &World, payment: &Payment, to: RecallState) -> Recall {
    let mut changed = None;
    world
        .execute(&need(payment), |ws, _| {
            let (mut it, newest) = loaded(ws, payment);
            let mut recall = newest.expect("loaded");
            let job = ws.jobs.get(&(it.tenant, recall.id.0)).cloned().flatten();
            assert_eq!(job.is_some(), recall.state.is_open(), "its job is loaded with it");
            (recall.state, recall.state_at) = (to, ws.now);
            recall.sent_at = Some(ws.now);
            recall.bank_reason = Some("LEGL".to_owned());
            recall.bank_text = Some("court order".to_owned());
            recall.source = Some("camt.029 R-1".to_owned());
            it.standing.recall = Some(to);
            ws.recalls.put((it.tenant, recall.id), recall.clone());
            ws.payments.put((it.tenant, it.id), it.clone());
            ws.set_job(it.tenant, recall.id.0, JobChange::Done);
            ws.keep();
            changed = Some(recall);
        })
        .await
        .expect("saved");
    changed.expect("changed")
}

pub async fn a_recall_lives_through_all_its_rows(world: World) {
    let payment = sent(&world).await;
    let (store, tenant) = (&world.store, payment.tenant);
    let recall = requested(&world, &payment).await;
    assert_eq!(store.recall(tenant, recall.id).await, Ok(Some(recall.clone())));
    let record = store.payment_record(tenant, payment.id).await.expect("read").expect("there");
    let shown = (record.payment.recall, record.payment.standing.recall);
    assert_eq!(shown, (Some(recall.id), Some(RecallState::Requested)));
    let events = store.events_of(tenant, payment.id.0).await.expect("read");
    let standing = events.last().and_then(|event| event.standing.clone()).expect("a snapshot");
    assert_eq!(standing.recall, Some(RecallState::Requested));
    let job = store.job_of(tenant, recall.id.0).await.expect("read").expect("a job");
    assert_eq!(job.kind.name(), "recall");
    world.pass(Span::secs(5)).await;
    let refused = moved(&world, &payment, RecallState::Refused).await;
    assert_eq!(store.recall(tenant, recall.id).await, Ok(Some(refused.clone())));
    assert_eq!(store.job_of(tenant, recall.id.0).await, Ok(None));
    world.pass(Span::secs(5)).await;
    let second = requested(&world, &payment).await;
    assert_eq!(store.recalls(tenant, payment.id).await, Ok(vec![second, refused]), "newest first");
}

pub async fn the_message_of_an_attempt_is_found(world: World) {
    let payment = sent(&world).await;
    let (attempt, raast) = (payment.attempt.expect("begun"), RailId::new("pak-raast"));
    assert_eq!(world.store.message_of(attempt, &raast).await, Ok(None));
    let message = "0123456789abcdef01234567-1";
    let attempts = vec![(attempt, payment.id)];
    let sent = SentMessage { rail: &raast, id: Some(message.to_owned()), attempts };
    world.store.keep_sent(&[sent]).await.expect("kept");
    let found = world.store.message_of(attempt, &raast).await;
    assert_eq!(found, Ok(Some(message.to_owned())));
    assert_eq!(world.store.message_of(attempt, &RailId::new("pak-ibft")).await, Ok(None));
}

pub async fn a_recall_is_known_by_its_message(world: World) {
    let payment = sent(&world).await;
    let (attempt, raast) = (payment.attempt.expect("begun"), RailId::new("pak-raast"));
    let attempts = vec![(attempt, payment.id)];
    let message =
        SentMessage { rail: &raast, id: Some("0123456789abcdef01234567-1".into()), attempts };
    world.store.keep_sent(&[message]).await.expect("kept");
    let recall = requested(&world, &payment).await;
    let about = |message: String| {
        let ids = ReportIds { message: Some(message), ..ReportIds::of_attempt(attempt) };
        let said = ReportContent { source: "pain.002 B-1".to_owned(), ..said(RailStatus::Settled) };
        (ids.clone(), BankReport { about: About::One(ids), said })
    };
    for (message, status) in [
        (recall.id.message_id(), RailStatus::Recall(RecallAnswer::Pending)),
        (recall.id.message_id()[..20].to_owned(), RailStatus::Recall(RecallAnswer::Pending)),
        ("0123456789abcdef01234567-1".to_owned(), RailStatus::Settled),
        ("BANK-1".to_owned(), RailStatus::Settled),
    ] {
        let (ids, report) = about(message);
        let found = world.store.rail_candidates(&raast, std::iter::once(&ids)).await.expect("read");
        let heard = report.of_attempts(&found).expect("matched");
        let heard: Vec<_> =
            heard.into_iter().map(|(it, report)| (it.attempt, report.status)).collect();
        assert_eq!(heard, [(attempt, status)], "{ids:?}");
    }
    // By itself, from when its message is about to be sent.
    let mut found = Vec::new();
    for _ in 0..3 {
        for id in [recall.id.message_id(), recall.id.message_id()[..16].to_owned()] {
            let ids = ReportIds { instruction: Some(id), ..ReportIds::default() };
            let ours =
                world.store.rail_candidates(&raast, std::iter::once(&ids)).await.expect("read");
            let said = said(RailStatus::Recall(RecallAnswer::Accepted));
            let report = BankReport { about: About::One(ids), said };
            let heard = report.of_attempts(&ours).map(|it| it.first().map(|(it, _)| it.attempt));
            found.push(heard);
        }
        world.store.keep_recall(&raast, recall.id, attempt).await.expect("kept");
    }
    let (before, after) = found.split_at(2);
    assert!(before.iter().all(|it| *it == Err(Unmatched::Nothing)), "{before:?}");
    assert!(after.iter().all(|it| *it == Ok(Some(attempt))), "{after:?}");
    let message = world.store.message_of(attempt, &raast).await;
    assert_eq!(message, Ok(Some("0123456789abcdef01234567-1".to_owned())), "not the recall's");
}

fn said(status: RailStatus) -> ReportContent {
    ReportContent {
        status,
        reasons: Vec::new(),
        info: None,
        bank_reference: None,
        return_id: None,
        account: None,
        amount: None,
        other_amounts: Vec::new(),
        charges: None,
        source: String::new(),
    }
}

pub async fn a_payment_has_one_open_recall(world: World) {
    let payment = sent(&world).await;
    requested(&world, &payment).await;
    let columns =
        "tenant, id, payment, attempt, rail, created_at, reason, state, state_at, document";
    let id = other(&world);
    let second = columns.replacen("id,", &format!("{id},"), 1);
    for state in ["requested", "sent", "accepted", "unanswered"] {
        let another = second.replace("state,", &format!("'{state}',"));
        refused(&world, &copy("recall", columns, &another), UNIQUE).await;
    }
    refused(&world, "UPDATE recall SET state = 'lost'", CHECK).await;
    let ended = second.replace("state,", "'refused',");
    if let Some(done) = world.sql(&copy("recall", columns, &ended)).await {
        assert_eq!(done, Ok(1), "an ended one does not stand in its way");
    }
}

pub async fn what_is_written_to_a_bank_is_sealed_and_the_tenants_own(world: World) {
    let payment = sent(&world).await;
    let recall = requested(&world, &payment).await;
    let stranger = TenantId(Uuid::from_u128(99));
    assert_eq!(world.store.recall(stranger, recall.id).await, Ok(None));
    assert_eq!(world.store.recalls(stranger, payment.id).await, Ok(Vec::new()));
    let found =
        format!("UPDATE recall SET rail = rail WHERE CAST(document AS TEXT) LIKE '%{TEXT}%'");
    if let Some(done) = world.sql(&found).await {
        assert_eq!(done, Ok(0));
    }
}
