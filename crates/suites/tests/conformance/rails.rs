//! Bank statements, discrepancies with them, and unmatched reports.

use std::collections::BTreeMap;

use domain::attempt::Attempt;
use domain::bank_statement::{BankStatement, BreakKind, RailBreak, StatementEntry};
use domain::currency::Currency;
use domain::ids::{AttemptId, PaymentId, TenantId};
use domain::money::Money;
use domain::payment::Payment;
use domain::rail::RailId;
use domain::rail_ids::ReportIds;
use domain::time::{Span, Timestamp};
use domain::wallet_effects::{Alert, AlertKind};
use store::{Lacking, PageTaken, RailFindings, SentMessage, UnmatchedContent};
use uuid::Uuid;

use crate::world::World;

fn rail() -> RailId {
    RailId::new("pak-raast")
}

fn entry(
    number: i64,
    attempt: Option<AttemptId>,
    payment: Option<PaymentId>,
    amount: Money,
) -> StatementEntry {
    let ids = ReportIds {
        instruction: attempt.map(AttemptId::instruction_id),
        end_to_end: payment.map(PaymentId::end_to_end_id),
        ..ReportIds::default()
    };
    StatementEntry {
        number,
        is_credit: false,
        is_own: false,
        amount,
        charges: None,
        ids,
        batch: None,
        reference: Some(format!("R-{number}")),
        booked: "2026-11-22".to_owned(),
    }
}

fn page(
    id: &str,
    entries: Vec<StatementEntry>,
    (from, to): (Timestamp, Timestamp),
) -> BankStatement {
    let turnover = entries
        .iter()
        .map(|it| if it.is_credit { it.amount.minor } else { -it.amount.minor })
        .sum();
    BankStatement {
        id: id.to_owned(),
        page: 1,
        is_last: true,
        account: "NOSTRO".to_owned(),
        currency: Currency::Pkr,
        from: Some(from),
        to,
        opening: Some(1_000_000),
        closing: Some(1_000_000 + turnover),
        turnover,
        entries,
        source: "camt.053 B-1".to_owned(),
        digest: Uuid::from_u128(1),
    }
}

/// A payment that the rail has paid.
async fn settled(world: &World, tenant: TenantId, reference: &str) -> (Payment, Attempt) {
    let payment = world.payment(tenant, None).await;
    world.attempt(&payment, &rail()).await;
    world.reference(&payment, reference).await;
    let attempt = world.store.attempts(tenant, payment.id).await.expect("read").remove(0);
    (payment, attempt)
}

async fn period(world: &World) -> (Timestamp, Timestamp) {
    let now = world.now().await;
    (now - Span::hours(1), now + Span::hours(1))
}

pub async fn an_attempt_is_found_by_each_of_its_ids(world: World) {
    const MESSAGE: &str = "0123456789abcdef01234567-2";
    let tenant = world.tenant("demobank", 1_000_000_000).await;
    let (old, before) = settled(&world, tenant, "N-1").await;
    let (payment, attempt) = settled(&world, tenant, "N-2").await;
    let store = &world.store;
    for _ in 0..2 {
        // A message that is sent again is stored already.
        let attempts = vec![(attempt.id, payment.id)];
        let message = SentMessage { rail: &rail(), id: Some(MESSAGE.to_owned()), attempts };
        store.keep_sent(&[message]).await.expect("kept");
    }
    let find = |ids: ReportIds, over: RailId| async move {
        let found = store.rail_candidates(&over, std::iter::once(&ids)).await.expect("read");
        found.find(&ids, None).map(|it| (it.tenant, it.payment, it.attempt)).ok()
    };
    let (uetr, end_to_end) = (attempt.id.to_string(), payment.id.end_to_end_id());
    let of = |change: fn(&mut ReportIds, String), id: &str| {
        let mut ids = ReportIds::default();
        change(&mut ids, id.to_owned());
        ids
    };
    for ids in [
        of(|it, id| it.uetr = Some(id), &uetr),
        of(|it, id| it.uetr = Some(id), &uetr[..16]),
        of(|it, id| it.end_to_end = Some(id), &end_to_end.to_uppercase()),
        of(|it, id| it.end_to_end = Some(id), &end_to_end[..16]),
        of(|it, id| it.message = Some(id), MESSAGE),
        of(|it, id| it.block = Some(id), &MESSAGE[..16]),
        of(|it, id| it.reference = Some(id), "N-2"),
    ] {
        assert_eq!(
            find(ids.clone(), rail()).await,
            Some((tenant, payment.id, attempt.id)),
            "{ids:?}"
        );
        assert_eq!(
            find(ids.clone(), RailId::new("pak-ibft")).await,
            None,
            "over another rail: {ids:?}"
        );
    }
    // An attempt sent before ids were stored is found by its whole ids.
    for ids in [
        of(|it, id| it.uetr = Some(id), &before.id.to_string()),
        of(|it, id| it.end_to_end = Some(id), &old.id.end_to_end_id()),
    ] {
        assert_eq!(find(ids, rail()).await, Some((tenant, old.id, before.id)));
    }
}

pub async fn a_payment_without_an_attempt_is_named_by_its_id(world: World) {
    let tenant = world.tenant("demobank", 1_000_000_000).await;
    let other = world.tenant("otherbank", 1_000_000_000).await;
    let (first, second) = (world.payment(tenant, None).await, world.payment(other, None).await);
    let of = |id: String| ReportIds { end_to_end: Some(id), ..ReportIds::default() };
    let uetr = ReportIds { uetr: Some(second.id.0.to_string()), ..ReportIds::default() };
    let named = |ids: Vec<ReportIds>| {
        let store = &world.store;
        async move {
            let found = store.payments_named(ids.iter()).await.expect("read");
            let mut found: Vec<_> = found.into_iter().map(|it| (it.tenant, it.id)).collect();
            found.sort();
            found
        }
    };
    let mut both = vec![(tenant, first.id), (other, second.id)];
    both.sort();
    assert_eq!(named(vec![of(first.id.end_to_end_id()), uetr]).await, both);
    let unpaid = async || {
        let ids = [of(first.id.end_to_end_id())];
        let found = world.store.unpaid_named(ids.iter()).await.expect("read");
        found.into_iter().map(|it| it.id).collect::<Vec<_>>()
    };
    assert_eq!(unpaid().await, [first.id]);
    let strange = AttemptId(Uuid::from_u128(7)).instruction_id();
    assert_eq!(named(vec![of(strange), of("NOTPROVIDED".to_owned())]).await, []);
    assert_eq!(named(Vec::new()).await, []);
}

pub async fn a_batch_booking_is_kept_as_its_transactions(world: World) {
    const MESSAGE: &str = "fedcba9876543210fedcba98-2";
    let tenant = world.tenant("demobank", 1_000_000_000).await;
    let (first, one) = settled(&world, tenant, "N-1").await;
    let (second, two) = settled(&world, tenant, "N-2").await;
    let store = &world.store;
    store
        .keep_sent(&[SentMessage {
            rail: &rail(),
            id: Some(MESSAGE.to_owned()),
            attempts: vec![(one.id, first.id), (two.id, second.id)],
        }])
        .await
        .expect("kept");
    let (period, sum) =
        (period(&world).await, Money::new(one.amount.minor + two.amount.minor, Currency::Pkr));
    let batch = |amount| StatementEntry {
        ids: ReportIds { message: Some(MESSAGE.to_owned()), ..ReportIds::default() },
        batch: Some(Some(2)),
        ..entry(1, None, None, amount)
    };
    let now = period.0;
    let kept = store.keep_statement(&rail(), &page("S-1", vec![batch(sum)], period), now).await;
    assert_eq!(kept, Ok(PageTaken::New));
    let found = store.open_bookings(None, 10).await.expect("read");
    let mut booked: Vec<_> =
        found.iter().map(|it| (it.attempt.id, it.entries[0].booking.amount)).collect();
    booked.sort_by_key(|it| it.0);
    let mut expected = vec![(one.id, one.amount), (two.id, two.amount)];
    expected.sort_by_key(|it| it.0);
    assert_eq!(booked, expected);
    let other = Money::new(sum.minor + 1, Currency::Pkr);
    let kept = store.keep_statement(&rail(), &page("S-2", vec![batch(other)], period), now).await;
    assert_eq!(kept, Ok(PageTaken::New));
    let unknown = store.unknown_entries(10).await.expect("read");
    assert_eq!(unknown.len(), 1, "a different sum matches nothing: {unknown:?}");
}

pub async fn a_page_of_a_statement_is_kept_once(world: World) {
    let tenant = world.tenant("demobank", 1_000_000_000).await;
    let (payment, attempt) = settled(&world, tenant, "N-1").await;
    let period = period(&world).await;
    let mut first =
        page("S-1", vec![entry(1, Some(attempt.id), Some(payment.id), attempt.amount)], period);
    first.entries.push(StatementEntry {
        is_own: true,
        is_credit: true,
        ..entry(2, None, None, attempt.amount)
    });
    let now = period.0;
    let store = &world.store;
    let keep = |page: BankStatement| async move { store.keep_statement(&rail(), &page, now).await };
    assert_eq!(keep(first.clone()).await, Ok(PageTaken::New));
    assert_eq!(
        keep(BankStatement { source: "camt.053 B-2".to_owned(), ..first.clone() }).await,
        Ok(PageTaken::Known)
    );
    let other = BankStatement { digest: Uuid::from_u128(2), entries: Vec::new(), ..first.clone() };
    assert_eq!(keep(other).await, Ok(PageTaken::Other));
    let impossible = BankStatement { page: 0, ..first.clone() };
    let rejected = keep(impossible).await;
    assert!(matches!(rejected, Ok(PageTaken::Rejected(_))), "not for ever again: {rejected:?}");
    // More than an index of PostgreSQL holds.
    let long =
        (0..1_000).map(|it| Uuid::from_u128(it * 0x1234_5678_9abc_def1).to_string()).collect();
    let kept = keep(BankStatement { id: long, entries: Vec::new(), ..first.clone() }).await;
    assert!(matches!(kept, Ok(PageTaken::New | PageTaken::Rejected(_))), "{kept:?}");
    let found = store.open_bookings(None, 10).await.expect("read");
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].attempt.id, found[0].entries.len()), (attempt.id, 1));
    let it = &found[0].entries[0];
    assert_eq!(
        (it.booking.amount, it.booking.is_credit, it.is_open),
        (attempt.amount, false, true)
    );
    assert_eq!(
        (it.reference.as_deref(), it.booked.as_str(), it.read_at),
        (Some("R-1"), "2026-11-22", now)
    );
    assert!(
        store.open_bookings(Some(attempt.id), 10).await.expect("read").is_empty(),
        "after the mark"
    );
    assert!(
        store.unknown_entries(10).await.expect("read").is_empty(),
        "the account's own bookings are not compared"
    );
    store.close_entries(std::slice::from_ref(&it.place)).await.expect("closed");
    assert!(store.open_bookings(None, 10).await.expect("read").is_empty());
    // Further bookings about it: both are compared again.
    let second =
        page("S-2", vec![entry(1, Some(attempt.id), None, attempt.amount)], (period.1, period.1));
    assert_eq!(keep(second).await, Ok(PageTaken::New));
    let found = store.open_bookings(None, 10).await.expect("read");
    assert_eq!(found[0].entries.iter().map(|it| it.is_open).collect::<Vec<_>>(), [false, true]);
}

pub async fn entries_are_given_to_the_attempts_that_they_name(world: World) {
    let tenant = world.tenant("demobank", 1_000_000_000).await;
    let (payment, attempt) = settled(&world, tenant, "N-1").await;
    let (other, _) = settled(&world, tenant, "N-2").await;
    let period = period(&world).await;
    let amount = attempt.amount;
    let entries = vec![
        entry(1, Some(attempt.id), Some(payment.id), amount),
        entry(2, None, Some(payment.id), amount),
        entry(3, Some(attempt.id), Some(other.id), amount),
        entry(4, Some(AttemptId(Uuid::from_u128(9))), None, amount),
        entry(5, None, Some(PaymentId(Uuid::from_u128(9))), amount),
        entry(6, None, None, amount),
    ];
    let statement = page("S-1", entries, period);
    world.store.keep_statement(&rail(), &statement, period.0).await.expect("kept");
    let found = world.store.open_bookings(None, 10).await.expect("read");
    let numbers =
        |entries: &[store::RailEntry]| entries.iter().map(|it| it.place.number).collect::<Vec<_>>();
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].attempt.id, numbers(&found[0].entries)), (attempt.id, vec![1, 2]));
    let unknown = world.store.unknown_entries(10).await.expect("read");
    assert_eq!(numbers(&unknown), [3, 4, 5, 6], "contradictory, foreign, unknown, silent");
    // Over another rail they match nothing.
    let elsewhere = RailId::new("pak-ibft");
    world.store.keep_statement(&elsewhere, &statement, period.0).await.expect("kept");
    assert_eq!(world.store.unknown_entries(100).await.expect("read").len(), 10);
}

pub async fn payouts_without_an_entry_are_found(world: World) {
    let tenant = world.tenant("demobank", 1_000_000_000).await;
    let (_, booked) = settled(&world, tenant, "N-1").await;
    let (_, lacking) = settled(&world, tenant, "N-2").await;
    assert!(
        world.store.covered().await.expect("read").is_empty(),
        "no statement, nothing to compare with"
    );
    let period = period(&world).await;
    let statement = page("S-1", vec![entry(1, Some(booked.id), None, booked.amount)], period);
    world.store.keep_statement(&rail(), &statement, period.0).await.expect("kept");
    let covered = world.store.covered().await.expect("read").remove(0);
    assert_eq!(
        (&covered.rail, covered.currency, covered.from, covered.to),
        (&rail(), Currency::Pkr, period.0, period.1)
    );
    let unbooked = |until, lacking| world.store.unbooked(tenant, &covered, until, lacking, 10);
    let found = unbooked(period.1, Lacking::Payout).await.expect("read");
    assert_eq!(found.iter().map(|it| it.id).collect::<Vec<_>>(), [lacking.id]);
    assert!(
        unbooked(period.0, Lacking::Payout).await.expect("read").is_empty(),
        "still within its grace period"
    );
    assert!(
        unbooked(period.1, Lacking::Return).await.expect("read").is_empty(),
        "nothing came back"
    );
    let other = TenantId(Uuid::from_u128(77));
    assert_eq!(
        world.store.unbooked(other, &covered, period.1, Lacking::Payout, 10).await,
        Ok(Vec::new())
    );
}

/// Periods of dates, two statements a day, ids in no order of texts.
pub async fn statements_that_end_together_follow_their_balances(world: World) {
    let (from, to) = period(&world).await;
    let store = &world.store;
    let ends = [to, to, to + Span::days(1)];
    for (id, (opening, closing), to) in [("S-9", (5, 7)), ("S-10", (7, 9)), ("S-11", (9, 4))]
        .into_iter()
        .zip(ends)
        .map(|((id, it), to)| (id, it, to))
    {
        let balances = BankStatement {
            opening: Some(opening),
            closing: Some(closing),
            turnover: closing - opening,
            ..page(id, Vec::new(), (from, to))
        };
        store.keep_statement(&rail(), &balances, from).await.expect("kept");
    }
    let wrong = BankStatement {
        opening: Some(1),
        closing: Some(2),
        turnover: 1,
        ..page("S-12", Vec::new(), (from, to + Span::days(1)))
    };
    store.keep_statement(&rail(), &wrong, from).await.expect("kept");
    let open = store.open_sheets().await.expect("read");
    let before: BTreeMap<&str, Option<i64>> =
        open.iter().map(|(it, before)| (it.id.as_str(), *before)).collect();
    let expected = [("S-10", Some(7)), ("S-11", Some(9)), ("S-12", Some(7)), ("S-9", None)];
    assert_eq!(before, BTreeMap::from(expected), "S-12 continues none");
}

pub async fn sheets_are_put_together_from_pages(world: World) {
    let (from, to) = period(&world).await;
    let store = &world.store;
    let keep = |page: BankStatement| async move {
        store.keep_statement(&rail(), &page, from).await.expect("kept")
    };
    let whole = BankStatement {
        opening: Some(5),
        closing: Some(7),
        turnover: 2,
        ..page("S-1", Vec::new(), (from, to))
    };
    keep(whole.clone()).await;
    let later = (to, to + Span::hours(1));
    let parts = page("S-2", Vec::new(), later);
    keep(BankStatement { page: 2, opening: None, closing: Some(9), turnover: 1, ..parts.clone() })
        .await;
    let open = || async { world.store.open_sheets().await.expect("read") };
    let sheets = open().await;
    assert_eq!(
        sheets.iter().map(|(it, before)| (it.id.as_str(), *before)).collect::<Vec<_>>(),
        [("S-1", None), ("S-2", Some(7))]
    );
    assert!(sheets[0].0.is_whole() && !sheets[1].0.is_whole());
    keep(BankStatement { is_last: false, opening: Some(7), closing: None, turnover: 1, ..parts })
        .await;
    let sheet = open().await.remove(1).0;
    assert!(sheet.is_whole());
    assert_eq!(
        (sheet.opening, sheet.closing, sheet.turnover, sheet.pages),
        (Some(7), Some(9), 2, 2)
    );
    world.store.close_sheet(&sheet).await.expect("closed");
    assert_eq!(open().await.iter().map(|(it, _)| it.id.as_str()).collect::<Vec<_>>(), ["S-1"]);
    let newest = world.store.newest_statements(10).await.expect("read");
    assert_eq!(newest.iter().map(|it| it.id.as_str()).collect::<Vec<_>>(), ["S-2", "S-1"]);
    // One between them, read later: its successor is compared once more, and nothing else.
    let first = open().await.remove(0).0;
    world.store.close_sheet(&first).await.expect("closed");
    keep(page("S-1b", Vec::new(), (to, to + Span::mins(30)))).await;
    let open = open().await;
    assert_eq!(
        open.iter().map(|(it, before)| (it.id.as_str(), *before)).collect::<Vec<_>>(),
        [("S-1b", Some(7)), ("S-2", Some(1_000_000))]
    );
}

fn broken(subject: u128, what: &str) -> RailBreak {
    RailBreak {
        rail: rail(),
        kind: BreakKind::Amount,
        subject: Uuid::from_u128(subject),
        what: what.to_owned(),
    }
}

pub async fn breaks_are_noted_once_and_closed_with_their_alerts(world: World) {
    let tenant = world.tenant("demobank", 1_000_000_000).await;
    let at = world.now().await;
    let note = |breaks: Vec<RailBreak>, complete: &[BreakKind]| {
        let complete = complete.iter().copied().collect();
        let breaks = breaks.into_iter().map(|it| (tenant, it)).collect();
        let findings = RailFindings { breaks, complete, told: Vec::new() };
        let store = world.store.clone();
        async move { store.note_rail_findings(&findings, at).await.expect("noted") }
    };
    let all = [BreakKind::Amount];
    let state = || async {
        let breaks = world.store.rail_breaks(tenant, 10).await.expect("read");
        let alerts = world.store.alerts(tenant, 10).await.expect("read");
        assert_eq!(breaks.len(), alerts.len(), "each is an open alert");
        assert_eq!(world.store.rail_break_count().await, Ok(breaks.len()));
        let mut found: Vec<RailBreak> = breaks.into_iter().map(|(_, it)| it).collect();
        found.sort_by(|one, other| one.what.cmp(&other.what));
        found
    };
    let (one, two) = (broken(1, "one"), broken(2, "two"));
    let noted = note(vec![one.clone(), two.clone()], &all).await;
    assert_eq!((noted.raised.len(), noted.healed), (2, 0));
    assert!(noted.raised.iter().all(|alert| alert.kind == AlertKind::RailMismatch));
    let noted = note(vec![one.clone(), two.clone()], &all).await;
    assert_eq!((noted.raised.len(), noted.healed), (0, 0), "found again");
    assert_eq!(state().await, [one.clone(), two.clone()]);
    // A kind that was not searched completely never counts as resolved.
    assert_eq!(note(vec![one.clone()], &[BreakKind::Missing]).await.healed, 0);
    assert_eq!(note(vec![one.clone()], &all).await.healed, 1);
    assert_eq!(state().await, std::slice::from_ref(&one), "with its alert");
    assert_eq!(
        note(vec![one.clone(), two.clone()], &all).await.raised.len(),
        1,
        "a resolved discrepancy can recur"
    );
    // An operator closes it, and it stays closed.
    let alert =
        Alert { kind: AlertKind::RailMismatch, subject: two.subject, what: two.what.clone() };
    world.store.close_alert(tenant, &alert, "ayesha").await.expect("closed");
    assert_eq!(state().await, std::slice::from_ref(&one));
    assert_eq!(note(vec![one.clone(), two], &all).await, store::RailNoted::default());
    assert_eq!(state().await, [one]);
}

pub async fn unmatched_reports_are_kept_once(world: World) {
    let tenant = world.tenant("demobank", 1_000_000_000).await;
    let other = world.tenant("otherbank", 1_000_000_000).await;
    let owned = |what: &str, owner| UnmatchedContent { what: what.to_owned(), owner };
    let strays = [owned("pain.002 B-1: one", None), owned("pain.002 B-1: two", Some(tenant))];
    let store = &world.store;
    assert_eq!(store.new_strays(&rail(), &strays).await.as_deref(), Ok(&strays[..]));
    let what = "rail pak-raast: pain.002 B-1: one, and 1 more".to_owned();
    let alert = Alert { kind: AlertKind::Discrepancy, subject: tenant.0, what };
    let at = world.now().await;
    store.keep_strays(&rail(), &strays, &[(tenant, alert.clone())], at).await.expect("kept");
    assert_eq!(store.new_strays(&rail(), &strays).await, Ok(Vec::new()));
    assert_eq!(
        store.new_strays(&RailId::new("pak-ibft"), &strays[..1]).await.map(|new| new.len()),
        Ok(1)
    );
    store.keep_strays(&rail(), &strays, &[], at + Span::hours(1)).await.expect("kept again");
    let mut found = store.strays(tenant, 10).await.expect("read");
    found.sort_by(|one, other| one.report.cmp(&other.report));
    assert_eq!(found.iter().map(|it| it.report.clone()).collect::<Vec<_>>(), strays);
    let of_another = store.strays(other, 10).await.expect("read");
    let of_another: Vec<_> = of_another.iter().map(|it| &it.report).collect();
    assert_eq!(of_another, [&strays[0]], "another tenant's payments are not its business");
    assert!(found.iter().all(|it| it.at == at && it.rail == rail()), "as they came first");
    let alerts = store.alerts(tenant, 10).await.expect("read");
    assert_eq!(alerts.into_iter().map(|(_, alert)| alert).collect::<Vec<_>>(), [alert]);
}
