//! The operator console's reads of payments and books.

use std::collections::BTreeMap;

use domain::chain::Address;
use domain::country::Country;
use domain::currency::{Currency, StableCoin};
use domain::decimal::Decimal;
use domain::deposit::{Deposit, DepositBucket, DepositState};
use domain::ids::{EventId, IntentId, PaymentId, TenantId};
use domain::job::JobKind;
use domain::ledger::AccountCode;
use domain::payment::{Payment, PaymentState, ReviewState};
use domain::payment_search::Reading;
use domain::quote::QuoteState;
use domain::rail::{RailId, RailReport, RailStatus};
use domain::time::{Span, Timestamp};
use domain::user::Scope;
use domain::wallet_effects::{Alert, AlertKind};
use store::{
    Backlog, Found, IdFrom, KeysetFrom, KeysetWanted, PageFrom, PaymentMark, PaymentsWanted,
    TrialLine, Waiting, Wanted,
};
use uuid::Uuid;

use crate::wallet_world::{chain_tx, refund, release};
use crate::world::{World, payment_need, put_effects};

fn foreign() -> TenantId {
    TenantId(Uuid::new_v4())
}

fn first(limit: usize) -> PaymentsWanted {
    PaymentsWanted { limit, ..PaymentsWanted::default() }
}

async fn page(
    world: &World,
    tenant: TenantId,
    wanted: &PaymentsWanted,
) -> (Vec<Payment>, Option<PaymentMark>) {
    let page = world.store.payments_page(tenant, wanted).await.expect("read");
    (page.records.into_iter().map(|record| record.payment).collect(), page.next)
}

/// Pays a payment out; returns it in its new state.
async fn paid(
    world: &World,
    tenant: TenantId,
    external_id: Option<&str>,
    reference: &str,
) -> Payment {
    let payment = world.payment(tenant, external_id).await;
    pay_out(world, &payment, reference).await;
    world.store.payment_record(tenant, payment.id).await.expect("read").expect("there").payment
}

async fn pay_out(world: &World, payment: &Payment, reference: &str) {
    world.attempt(payment, &RailId::new("pak-raast")).await;
    world.reference(payment, reference).await;
}

/// The rail returns a paid payment.
async fn returned(world: &World, payment: &Payment) -> Payment {
    let mut given_back = None;
    let decide = |ws: &mut store::working_set::WorkingSet,
                  ids: &mut dyn domain::decision::IdSource| {
        let mut it = ws.payments.get(&(payment.tenant, payment.id)).cloned().expect("loaded");
        let id = it.attempt.expect("begun");
        let mut attempt = ws.attempts.get(&(payment.tenant, id)).cloned().expect("loaded");
        let report = RailReport {
            attempt: id,
            status: RailStatus::Returned,
            reason: None,
            info: None,
            bank_reference: None,
            return_id: None,
            amount: None,
            source: "pacs.004".to_owned(),
            further_reasons: Vec::new(),
            charges: None,
        };
        let cx = &mut domain::decision::Cx { now: ws.now, ids };
        let effects =
            domain::payment::report::apply(&mut it, &mut attempt, &report, None, Span::days(5), cx);
        ws.attempts.put((payment.tenant, id), attempt);
        put_effects(ws, &it, effects);
        ws.keep();
        given_back = Some(it);
    };
    world.execute(&payment_need(payment), decide).await.expect("saved");
    given_back.expect("returned")
}

pub async fn payments_are_listed_newest_first_after_a_mark(world: World) {
    let tenant = world.tenant("demobank", 10_000_000_000).await;
    let mut made = Vec::new();
    for number in 0..7 {
        made.push(world.payment(tenant, None).await);
        // Two of one instant are distinguished by their ids.
        if number != 3 {
            world.pass(Span::secs(1)).await;
        }
    }
    made[2] = world.refuse(&made[2]).await;
    made.reverse();
    let mut seen = Vec::new();
    let mut wanted = first(3);
    loop {
        let (payments, next) = page(&world, tenant, &wanted).await;
        seen.extend(payments);
        let Some(mark) = next else { break };
        wanted.from = Some(PageFrom::After(mark));
    }
    assert_eq!(seen, made);
    let (exact, next) = page(&world, tenant, &first(7)).await;
    assert_eq!((exact.len(), next), (7, None));
    let rejected = PaymentsWanted { states: vec![PaymentState::Rejected], ..first(3) };
    assert_eq!(page(&world, tenant, &rejected).await, (vec![made[4].clone()], None));
    let elsewhere = PaymentsWanted { countries: vec![Country::Ind], ..first(3) };
    assert_eq!(page(&world, tenant, &elsewhere).await, (Vec::new(), None));
    let between = PaymentsWanted {
        start: Some(made[5].accepted_at),
        end: Some(made[1].accepted_at),
        ..first(10)
    };
    assert_eq!(
        page(&world, tenant, &between).await,
        (made[2..=5].to_vec(), None),
        "from inclusive, to exclusive"
    );
    assert_eq!(page(&world, foreign(), &first(10)).await, (Vec::new(), None));
}

pub async fn pages_of_payments_lead_both_ways(world: World) {
    let tenant = world.tenant("demobank", 10_000_000_000).await;
    let mut made = Vec::new();
    for number in 0..7 {
        made.push(world.payment(tenant, None).await.id);
        // Two of one instant are distinguished by their ids.
        if number != 3 {
            world.pass(Span::secs(1)).await;
        }
    }
    made.reverse();
    let read = async |from| {
        let wanted = PaymentsWanted { from, ..first(3) };
        let page = world.store.payments_page(tenant, &wanted).await.expect("read");
        let ids: Vec<_> = page.records.iter().map(|record| record.payment.id).collect();
        (ids, page.previous, page.next)
    };
    let (ids, previous, next) = read(None).await;
    assert_eq!((ids, previous), (made[..3].to_vec(), None));
    let (ids, previous, next) = read(next.map(PageFrom::After)).await;
    assert_eq!(ids, made[3..6]);
    let (ids, _, end) = read(next.map(PageFrom::After)).await;
    assert_eq!((ids, end), (made[6..].to_vec(), None));
    let (ids, newest, back) = read(previous.map(PageFrom::Before)).await;
    assert_eq!((ids, newest), (made[..3].to_vec(), None), "the first page again");
    assert_eq!(read(back.map(PageFrom::After)).await.0, made[3..6], "and the second");
    let last = next.expect("a third page");
    let (ids, newer, _) = read(Some(PageFrom::Before(last))).await;
    assert_eq!(ids, made[2..5], "those before the last of the second page");
    assert_eq!(read(newer.map(PageFrom::Before)).await.0, made[..2]);
}

pub async fn payments_are_listed_by_amount_account_reference_rail_and_review(world: World) {
    let tenant = world.tenant("demobank", 10_000_000_000).await;
    let paid = paid(&world, tenant, Some("INV-2026-1"), "FT-77").await;
    let other = world.payment(tenant, Some("INV-2025-1")).await;
    let is = async |wanted: PaymentsWanted, expected: &[&Payment]| {
        let found: Vec<_> =
            page(&world, tenant, &wanted).await.0.into_iter().map(|it| it.id).collect();
        assert_eq!(found, expected.iter().map(|it| it.id).collect::<Vec<_>>(), "{wanted:?}");
    };
    for (reference, expected) in [
        ("INV-2026", vec![&paid]),
        ("INV-20", vec![&other, &paid]),
        ("FT-7", vec![&paid]),
        ("x", vec![]),
    ] {
        is(PaymentsWanted { reference: Some(reference.to_owned()), ..first(9) }, &expected).await;
    }
    for (rail, expected) in [("pak-raast", vec![&paid]), ("pak-ibft", vec![])] {
        is(PaymentsWanted { rail: Some(RailId::new(rail)), ..first(9) }, &expected).await;
    }
    let whole = [&other, &paid];
    for (end, expected) in [("6702", &whole[..]), ("16702", &whole[..0]), ("9999", &whole[..0])] {
        let account = Some(Reading::account(end));
        is(PaymentsWanted { account, ..first(9) }, expected).await;
    }
    let value = paid.amount.decimal();
    for (currencies, expected) in
        [(vec![paid.amount.currency], &whole[..]), (vec![Currency::Vnd], &whole[..0])]
    {
        let amount = Some(Reading::about(value, currencies));
        is(PaymentsWanted { amount, ..first(9) }, expected).await;
    }
    // What only looks alike to the database does not end a page.
    let number = Decimal::from_int(paid.amount.minor);
    for unlike in [
        PaymentsWanted { account: Some(Reading::account("16702")), ..first(1) },
        PaymentsWanted { amount: Some(Reading::amount(number, Vec::new())), ..first(1) },
    ] {
        assert_eq!(page(&world, tenant, &unlike).await, (Vec::new(), None), "{unlike:?}");
    }
    for (review, expected) in [(paid.review, &whole[..]), (ReviewState::Waiting, &whole[..0])] {
        is(PaymentsWanted { review: Some(review), ..first(9) }, expected).await;
    }
    let all = PaymentsWanted {
        reference: Some("INV".to_owned()),
        rail: Some(RailId::new("pak-raast")),
        account: Some(Reading::account("6702")),
        amount: Some(Reading::about(value, Vec::new())),
        states: vec![paid.standing.state],
        ..first(9)
    };
    is(all, &[&paid]).await;
}

pub async fn payments_in_review_are_counted_and_listed(world: World) {
    let tenant = world.tenant("demobank", 10_000_000_000).await;
    let (held, stuck) = (world.payment(tenant, None).await, world.payment(tenant, None).await);
    world.payment(tenant, None).await;
    let decide = |ws: &mut store::working_set::WorkingSet,
                  _: &mut dyn domain::decision::IdSource| {
        let mut it = ws.payments.get(&(tenant, stuck.id)).cloned().expect("loaded");
        it.standing.state = PaymentState::Unknown;
        ws.payments.put((tenant, stuck.id), it);
        let (soon, now) = (ws.now + Span::hours(1), ws.now);
        ws.set_job(tenant, stuck.id.0, domain::decision::JobChange::Set(JobKind::Inquire, soon));
        ws.set_job(tenant, held.id.0, domain::decision::JobChange::Set(JobKind::Review, now));
        ws.keep();
    };
    let mut need = payment_need(&stuck);
    need.payments.insert((tenant, held.id));
    world.execute(&need, decide).await.expect("saved");
    let waiting = async |from, limit| {
        let page = world.store.payments_in_review(tenant, from, limit).await.expect("read");
        (page.rows.iter().map(|it| it.payment.id).collect::<Vec<_>>(), page.more)
    };
    let (after, before) = (|id| Some(IdFrom::After(id)), |id| Some(IdFrom::Before(id)));
    assert_eq!(waiting(None, 2).await, (vec![held.id, stuck.id], false));
    assert_eq!(waiting(None, 1).await, (vec![held.id], true));
    assert_eq!(waiting(after(held.id), 1).await, (vec![stuck.id], false));
    assert_eq!(waiting(after(stuck.id), 1).await, (Vec::new(), false));
    assert_eq!(waiting(before(stuck.id), 1).await, (vec![held.id], false));
    assert_eq!(waiting(before(held.id), 1).await, (Vec::new(), false));
    let last = PaymentId(uuid::Uuid::max());
    assert_eq!(waiting(before(last), 1).await, (vec![stuck.id], true), "the nearest ones");
    assert_eq!(waiting(before(last), 2).await, (vec![held.id, stuck.id], false));
    let unknown = world.store.unknown_payments(tenant).await.expect("read");
    assert_eq!(unknown, Backlog { count: 1, oldest: Some(stuck.standing.state_at) });
    assert_eq!(world.store.jobs_of_kind(tenant, JobKind::Review).await.expect("read").count, 1);
    assert_eq!(
        world.store.jobs_of_kind(foreign(), JobKind::Review).await.expect("read"),
        Backlog::default()
    );
    let elsewhere = world.store.payments_in_review(foreign(), None, 10).await.expect("read");
    assert!(elsewhere.rows.is_empty());
    let alert = Alert { kind: AlertKind::Payout, subject: held.id.0, what: "held".to_owned() };
    world.store.raise_alert(tenant, &alert).await.expect("raised");
    for scope in [Scope::All, Scope::Tenant(tenant)] {
        let waiting = world.store.waiting(tenant, scope, 10).await.expect("read");
        assert_eq!(waiting, Waiting { reviews: 2, alerts: 1, ..Waiting::default() });
        assert_eq!(waiting.all(), 3);
    }
    let elsewhere = world.store.waiting(foreign(), Scope::All, 10).await.expect("read");
    assert_eq!(elsewhere, Waiting::default());
}

pub async fn quotes_come_newest_first(world: World) {
    let tenant = world.tenant("demobank", 0).await;
    let mut made = Vec::new();
    for _ in 0..5 {
        made.push(world.quote(tenant).await);
    }
    made.reverse();
    let read = async |from| {
        let page = KeysetWanted { from, limit: 2 };
        world.store.office_quotes(tenant, &Wanted::default(), None, page).await.expect("read")
    };
    let first = read(None).await;
    assert_eq!((&first.rows[..], first.previous), (&made[..2], None));
    let second = read(first.next.map(KeysetFrom::After)).await;
    assert_eq!(second.rows, made[2..4]);
    let third = read(second.next.map(KeysetFrom::After)).await;
    assert_eq!((&third.rows[..], third.next), (&made[4..], None));
    // Back the same way, with a quote made in between.
    world.quote(tenant).await;
    let back = read(third.previous.map(KeysetFrom::Before)).await;
    assert_eq!(back.rows, made[2..4]);
    let back = read(back.previous.map(KeysetFrom::Before)).await;
    assert_eq!(back.rows, made[..2]);
    assert!(back.previous.is_some() && back.next == first.next);
    let page = KeysetWanted { from: None, limit: 2 };
    let elsewhere = world.store.office_quotes(foreign(), &Wanted::default(), None, page).await;
    assert!(elsewhere.expect("read").rows.is_empty());
}

pub async fn quotes_are_filtered_by_state_country_and_time(world: World) {
    let tenant = world.tenant("demobank", 10_000_000_000).await;
    let used = world.payment(tenant, None).await.quote;
    world.pass(Span::secs(1)).await;
    let open = world.quote(tenant).await;
    let list = async |wanted: Wanted<QuoteState>, country| {
        let page = KeysetWanted { from: None, limit: 10 };
        let found = world.store.office_quotes(tenant, &wanted, country, page).await.expect("read");
        found.rows.iter().map(|quote| quote.id).collect::<Vec<_>>()
    };
    let in_state = |state| Wanted { states: vec![state], ..Wanted::default() };
    let (start, end) = (Some(open.created_at), Some(open.created_at));
    for (wanted, country, is) in [
        (Wanted::default(), None, &[open.id, used][..]),
        (in_state(QuoteState::Used), None, &[used]),
        (in_state(QuoteState::Active), None, &[open.id]),
        (in_state(QuoteState::Expired), None, &[]),
        (Wanted::default(), Some(open.offer.country), &[open.id, used]),
        (Wanted::default(), Some(Country::Ind), &[]),
        (Wanted { start, ..Wanted::default() }, None, &[open.id]),
        (Wanted { end, ..Wanted::default() }, None, &[used]),
    ] {
        assert_eq!(list(wanted.clone(), country).await, is, "{wanted:?} {country:?}");
    }
}

pub async fn accepted_payments_are_counted_over_a_period(world: World) {
    let tenant = world.tenant("demobank", 10_000_000_000).await;
    let slice = Span::days(1);
    let mut made = Vec::new();
    // How long payments take, a little more by the clock, and to what that is rounded down.
    for (took, unit) in [
        (Span::secs(59), Span::millis(100)),
        (Span::secs(61), Span::secs(1)),
        (Span::mins(61), Span::mins(1)),
        (Span::mins(25 * 60 + 30), Span::hours(1)),
    ] {
        let payment = world.payment(tenant, None).await;
        world.pass(took).await;
        pay_out(&world, &payment, "FT").await;
        let paid = world.store.payment_record(tenant, payment.id).await.expect("read");
        let settled_at = paid.and_then(|paid| paid.payment.settled_at).expect("paid");
        let took = (settled_at - payment.accepted_at).0 / unit.0 * unit.0;
        made.push((payment, Some(Span(took)), PaymentState::Succeeded));
        world.pass(slice).await;
    }
    let last = world.payment(tenant, None).await;
    made.extend([(last.clone(), None, PaymentState::Queued)]);
    let read = async |tenant, start, end| {
        let mut found = world.store.tallies(tenant, start, end, slice, 9).await.expect("read");
        found.tallies.sort_by_key(|it| it.slice);
        found
    };
    let (start, end) = (made[0].0.accepted_at, last.accepted_at + Span(1));
    let of =
        |(payment, took, state): &(Payment, Option<Span>, PaymentState)| store::OverviewCount {
            country: Country::Pak,
            slice: usize::try_from((payment.accepted_at - start).0 / slice.0).expect("later"),
            state: *state,
            took: *took,
            count: 1,
            amount: payment.amount,
            charge: payment.charge.amount,
        };
    let all: Vec<store::OverviewCount> = made.iter().map(of).collect();
    let of_all = |tallies: &[store::OverviewCount]| store::Tallies {
        shortened: Vec::new(),
        tallies: tallies.into(),
    };
    assert_eq!(read(tenant, start, end).await, of_all(&all));
    assert_eq!(read(tenant, start, last.accepted_at).await, of_all(&all[..4]));
    assert_eq!(read(tenant, start + Span(1), end).await.tallies.len(), 4);
    assert_eq!(read(foreign(), start, end).await, of_all(&[]));
    // Of more payments than are counted, the latest.
    let found = world.store.tallies(tenant, start, end, slice, 2).await.expect("read");
    assert_eq!(found.shortened, [(Country::Pak, made[3].0.accepted_at)]);
    let mut counted = found.tallies;
    counted.sort_by_key(|it| it.slice);
    assert_eq!(counted, all[3..]);
    // Alike in everything that counts.
    let twin = world.payment(tenant, None).await;
    let found = read(tenant, start, twin.accepted_at + Span(1)).await.tallies;
    let both = (
        last.amount.minor + twin.amount.minor,
        last.charge.amount.minor + twin.charge.amount.minor,
    );
    let tally = found.last().expect("counted");
    assert_eq!((found.len(), tally.count), (5, 2));
    assert_eq!((tally.amount.minor, tally.charge.minor), both);
}

fn sums(lines: &[TrialLine]) -> BTreeMap<Currency, i64> {
    let mut sums = BTreeMap::new();
    for line in lines {
        *sums.entry(line.currency).or_default() += line.balance().minor;
    }
    sums
}

pub async fn a_trial_balance_is_that_of_its_time(world: World) {
    let tenant = world.tenant("demobank", 10_000_000_000).await;
    let balance = async |at, most| world.store.trial_balance(tenant, at, most).await.expect("read");
    let now = async |at: Option<Timestamp>| balance(at, 1_000).await.expect("not too long ago");
    let mut known = Vec::new();
    for reference in ["FT-1", "FT-2", "FT-3"] {
        let payment = paid(&world, tenant, None, reference).await;
        world.payment(tenant, None).await;
        returned(&world, &payment).await;
        let at = world.now().await;
        known.push((at, now(None).await));
        world.pass(Span::hours(3)).await;
    }
    for (at, lines) in &known {
        let mut then = now(Some(*at)).await;
        // An account that first moved later is included with zero sums.
        then.retain(|line| {
            lines.iter().any(|known| known.name == line.name) || line.balance().minor != 0
        });
        assert_eq!(then, *lines);
        assert!(sums(&then).values().all(|sum| *sum == 0), "{then:?}");
    }
    assert_ne!(known[0].1, known[2].1);
    let prefund = known[2].1.iter().find(|line| line.name == "prefund:USDT").expect("there");
    let code = AccountCode::Prefund(StableCoin::Usdt);
    let account = world.store.account(tenant, &code).await.expect("read").expect("there");
    assert_eq!((prefund.account.as_ref(), prefund.balance()), (Some(&code), account.balance()));
    assert!(world.store.shared_accounts(tenant).await.expect("read").contains(&account));
    assert!(
        now(Some(Timestamp(known[0].0.0 - Span::days(1).0)))
            .await
            .iter()
            .all(|it| it.balance().minor == 0)
    );
    // An earlier time is computed only within a limit on its cost. Clocks may differ by an hour.
    let since = known[1].0;
    let moved = world.store.transfers(tenant, None, 1_000).await.expect("read");
    let moved = moved.iter().filter(|it| it.at > since - Span::hours(1)).count();
    assert!(balance(Some(since), moved).await.is_some());
    assert_eq!(balance(Some(since), moved - 1).await, None);
    assert!(balance(None, 0).await.is_some(), "the current balance reverts no transfers");
    assert_eq!(
        world.store.trial_balance(foreign(), None, 0).await.expect("read"),
        Some(Vec::new())
    );
}

pub async fn accounts_show_what_moved_over_them(world: World) {
    let tenant = world.tenant("demobank", 10_000_000_000).await;
    for reference in ["FT-1", "FT-2"] {
        paid(&world, tenant, None, reference).await;
    }
    let code = AccountCode::Prefund(StableCoin::Usdt);
    let mut expected = world.store.transfers(tenant, None, 1_000).await.expect("read");
    expected.retain(|it| it.debit == code || it.credit == code);
    expected.reverse();
    let mut seen = Vec::new();
    let read = async |from| {
        let page = world.store.account_transfers(tenant, &code, from, 2).await.expect("read");
        assert!(page.transfers.len() <= 2);
        page
    };
    let mut page = read(None).await;
    assert_eq!(page.previous, None);
    loop {
        seen.extend(page.transfers.clone());
        let Some(next) = page.next else { break };
        page = read(Some(IdFrom::After(next))).await;
    }
    assert_eq!(seen, expected);
    assert_eq!(seen.len(), 5, "a top-up, and a reservation and its end each");
    let mut back = page.transfers;
    while let Some(previous) = page.previous {
        page = read(Some(IdFrom::Before(previous))).await;
        back.splice(..0, page.transfers.clone());
        assert!(page.next.is_some());
    }
    assert_eq!(back, expected);
    assert_eq!(
        world.store.account_transfers(foreign(), &code, None, 9).await.expect("read"),
        Default::default()
    );
}

pub async fn a_payments_story_is_all_there(world: World) {
    let tenant = world.tenant("demobank", 10_000_000_000).await;
    let open = world.payment(tenant, None).await;
    let other = paid(&world, tenant, None, "FT-1").await;
    let payment = paid(&world, tenant, None, "FT-2").await;
    world.pass(Span::hours(30)).await;
    let payment = returned(&world, &payment).await;
    let reasons = async |payment: &Payment| {
        let transfers = world.store.payment_transfers(tenant, payment).await.expect("read");
        assert!(transfers.iter().all(|it| it.subject == Some(payment.id.0)));
        transfers.into_iter().map(|it| it.reason).collect::<Vec<_>>()
    };
    assert_eq!(reasons(&open).await, ["payment.reserve"]);
    let settled = [
        "payment.reserve",
        "payment.post",
        "payment.fx",
        "payment.premium",
        "payment.rail_cost",
        "payment.fx",
    ];
    assert_eq!(reasons(&other).await, settled);
    assert_eq!(
        reasons(&payment).await,
        [&settled[..], &["payment.return", "payment.return"]].concat()
    );
    let mut whole = world.store.transfers(tenant, None, 1_000).await.expect("read");
    whole.retain(|it| it.subject == Some(payment.id.0));
    assert_eq!(world.store.payment_transfers(tenant, &payment).await.expect("read"), whole);

    let events = world.store.events_of(tenant, payment.id.0).await.expect("read");
    assert_eq!(
        events.iter().map(|it| it.version).collect::<Vec<_>>(),
        (1..=payment.version).collect::<Vec<_>>()
    );
    assert_eq!(events.last().and_then(|it| it.standing.clone()), Some(payment.standing.clone()));
    assert!(world.store.events_of(foreign(), payment.id.0).await.expect("read").is_empty());
    assert_eq!(
        world.store.job_of(tenant, open.id.0).await.expect("read").map(|it| it.kind),
        Some(JobKind::Submit)
    );
    assert_eq!(world.store.job_of(tenant, payment.id.0).await, Ok(None));
    assert_eq!(world.store.job_of(foreign(), open.id.0).await, Ok(None));
    let attempt = payment.attempt.expect("begun");
    assert!(
        world.store.discrepancies_of(tenant, payment.id, attempt).await.expect("read").is_empty()
    );
}

pub async fn every_id_leads_to_its_thing(world: World) {
    let tenant = world.tenant("demobank", 10_000_000_000).await;
    let payment = paid(&world, tenant, Some("A-1"), "FT-1").await;
    let wallet = world.wallet(tenant, "C-1").await;
    let request = world.request(&wallet).await;
    let deposit = world.deposit(&wallet, Some(&request), 7, |_| {}).await;
    let refunded = world
        .deposit(&wallet, None, 8, |it| {
            it.from = Address([6; 20]);
            it.refund = Some(refund(Address([5; 20])));
        })
        .await;
    let order = world.exchange(&wallet, |_| {}).await;
    let itself = [Found::Payment(payment.id)];
    let transfers = world.store.payment_transfers(tenant, &payment).await.expect("read");
    let events = world.store.events_of(tenant, payment.id.0).await.expect("read");
    let of_quote = world.store.events_of(tenant, payment.quote.0).await.expect("read");
    for (id, leads_to) in [
        (payment.id.0, itself[0]),
        (payment.quote.0, Found::Quote(payment.quote)),
        (payment.attempt.expect("begun").0, itself[0]),
        (transfers[2].id.0, itself[0]),
        (events[0].id.0, itself[0]),
        (events.last().expect("some").id.0, itself[0]),
        (of_quote[0].id.0, Found::Quote(payment.quote)),
        (wallet.id.0, Found::Wallet(wallet.id)),
        (request.id.0, Found::Request(request.id)),
        (deposit.id.0, Found::Deposit(deposit.id)),
        (order.id.0, Found::Order(order.id)),
    ] {
        assert_eq!(world.store.find_uuid(tenant, id).await, Ok(vec![leads_to]), "{leads_to:?}");
        assert_eq!(world.store.find_uuid(foreign(), id).await, Ok(Vec::new()), "{leads_to:?}");
    }
    for nothing in [Uuid::nil(), Uuid::max(), Uuid::new_v4()] {
        assert_eq!(world.store.find_uuid(tenant, nothing).await, Ok(Vec::new()));
        assert_eq!(world.store.event_by_id(tenant, EventId(nothing)).await, Ok(None));
    }
    for (text, leads_to) in
        [("A-1", itself[0]), ("FT-1", itself[0]), ("C-1", Found::Wallet(wallet.id))]
    {
        assert_eq!(world.store.find_reference(tenant, text).await, Ok(vec![leads_to]), "{text}");
        assert_eq!(world.store.find_reference(foreign(), text).await, Ok(Vec::new()), "{text}");
    }
    assert_eq!(
        world.store.find_reference(tenant, "FT-").await,
        Ok(Vec::new()),
        "exact, not a part of it"
    );
    for (address, leads_to) in [
        (wallet.address, vec![Found::Wallet(wallet.id)]),
        (request.escrow, vec![Found::Request(request.id)]),
        (deposit.from, vec![Found::Deposit(deposit.id)]),
        (Address([6; 20]), vec![Found::Deposit(refunded.id)]),
        (Address([5; 20]), vec![Found::Deposit(refunded.id)]),
        (Address([7; 20]), Vec::new()),
    ] {
        assert_eq!(world.store.find_address(tenant, &address).await, Ok(leads_to), "{address}");
        assert_eq!(world.store.find_address(foreign(), &address).await, Ok(Vec::new()));
    }
    assert_eq!(
        world.store.find_hash(tenant, &deposit.tx).await,
        Ok(vec![Found::Deposit(deposit.id)])
    );
    assert_eq!(world.store.find_hash(foreign(), &deposit.tx).await, Ok(Vec::new()));
}

pub async fn a_freeze_leads_to_its_wallet(world: World) {
    let tenant = world.tenant("demobank", 0).await;
    let wallet = world.wallet(tenant, "C-1").await;
    let need = crate::wallet_world::wallet_need(&wallet);
    let (mut hash, mut frozen) = (None, None);
    let decide = |ws: &mut store::working_set::WorkingSet,
                  ids: &mut dyn domain::decision::IdSource| {
        let id = IntentId(ids.next());
        let case = domain::chain::Word([7; 32]);
        let plan = domain::chain::Plan::SetFrozen { account: wallet.address, frozen: true, case };
        let intent = domain::chain_tx::Intent::new(id, tenant, wallet.chain, id.0, plan, ws.now);
        let intent = domain::chain_tx::Intent { wallet: Some(wallet.id), ..intent };
        let mut tx = chain_tx(tenant, 0, ws.now, ids);
        tx.intents = vec![id];
        tx.attempts = vec![crate::wallet_world::attempt(1, 77, ws.now)];
        hash = tx.attempts.first().map(|attempt| attempt.hash);
        frozen = Some(id);
        ws.intents.put((tenant, id), intent);
        ws.chain_txs.put((tenant, tx.id), tx);
        ws.keep();
    };
    world.execute(&need, decide).await.expect("saved");
    let found = vec![Found::Wallet(wallet.id)];
    let id = frozen.expect("made").0;
    assert_eq!(world.store.find_uuid(tenant, id).await, Ok(found.clone()), "as an alert names it");
    assert_eq!(world.store.find_hash(tenant, &hash.expect("signed")).await, Ok(found));
}

pub async fn an_outgoing_transaction_leads_to_its_purpose(world: World) {
    let tenant = world.tenant("demobank", 0).await;
    let wallet = world.wallet(tenant, "C-1").await;
    let request = world.request(&wallet).await;
    let deposit = world.deposit(&wallet, Some(&request), 7, |_| {}).await;
    let need = crate::wallet_world::wallet_need(&wallet);
    let mut hash = None;
    let mut intent_id = None;
    let decide = |ws: &mut store::working_set::WorkingSet,
                  ids: &mut dyn domain::decision::IdSource| {
        let intent = release(&deposit, ws.now, ids);
        let mut tx = chain_tx(tenant, 0, ws.now, ids);
        tx.intents = vec![intent.id];
        tx.attempts = vec![crate::wallet_world::attempt(1, 77, ws.now)];
        hash = tx.attempts.first().map(|attempt| attempt.hash);
        intent_id = Some(intent.id);
        ws.intents.put((tenant, intent.id), intent);
        ws.chain_txs.put((tenant, tx.id), tx);
        ws.keep();
    };
    world.execute(&need, decide).await.expect("saved");
    let found = vec![Found::Deposit(deposit.id)];
    assert_eq!(world.store.find_hash(tenant, &hash.expect("signed")).await, Ok(found.clone()));
    assert_eq!(world.store.find_hash(foreign(), &hash.expect("signed")).await, Ok(Vec::new()));
    assert_eq!(world.store.find_uuid(tenant, intent_id.expect("made").0).await, Ok(found));
    let unreleased = world.store.unreleased(tenant).await.expect("read");
    let [unreleased] = unreleased.as_slice() else { panic!("{unreleased:?}") };
    assert_eq!((unreleased.count, unreleased.amount.minor), (1, deposit.minor));
    assert!(world.store.unreleased(foreign()).await.expect("read").is_empty());
    let mut failed = Vec::new();
    for (number, pot) in [(8, DepositBucket::Escrow), (9, DepositBucket::Nowhere)] {
        let change = |it: &mut Deposit| (it.state, it.pot) = (DepositState::Failed, pot);
        failed.push(world.deposit(&wallet, Some(&request), number, change).await);
    }
    failed.truncate(1);
    assert_eq!(world.store.failed_releases(tenant, 9).await, Ok(failed));
    assert_eq!(world.store.failed_releases(foreign(), 9).await, Ok(Vec::new()));
    let unreleased = world.store.unreleased(tenant).await.expect("read");
    assert_eq!((unreleased[0].count, unreleased[0].amount.minor), (2, 2 * deposit.minor));
    let waiting = world.store.waiting(tenant, Scope::Tenant(tenant), 9).await.expect("read");
    assert_eq!(waiting.reviews, 1);
}
