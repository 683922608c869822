//! What the cache returns, and when it returns nothing.

use domain::currency::{Currency, StableCoin};
use domain::decimal::Decimal;
use domain::ids::PaymentId;
use domain::ledger::AccountCode;
use domain::money::Money;
use domain::quote::{Charge, Offer};
use uuid::Uuid;

use super::*;

const ONE: TenantId = TenantId(Uuid::from_u128(1));
const TWO: TenantId = TenantId(Uuid::from_u128(2));
/// The store's clock, and the node's own, which differs.
const STORE: Timestamp = Timestamp(1_795_000_000_000_000);
const OWN: Timestamp = Timestamp(1_795_000_007_000_000);

fn tenants(tenants: &[TenantId]) -> Need {
    Need { tenants: tenants.iter().copied().collect(), ..Need::default() }
}

/// The rows needed to create a quote.
fn to_quote(tenant: TenantId) -> Need {
    Need { open_quotes: [(tenant, Country::Pak)].into(), ..tenants(&[tenant]) }
}

/// The rows needed to accept an order.
fn to_pay(tenant: TenantId, quote: u128) -> Need {
    Need { quotes: [(tenant, QuoteId(Uuid::from_u128(quote)))].into(), ..to_quote(tenant) }
}

fn quote(tenant: TenantId, number: u128, state: QuoteState) -> Quote {
    let (coin, local) = (Money::new(1, Currency::Usdt), Money::new(100, Currency::Pkr));
    Quote {
        id: QuoteId(Uuid::from_u128(number)),
        tenant,
        offer: Offer {
            country: Country::Pak,
            amount: Money::new(100, Currency::Aed),
            amount_destination: local,
            rate: Decimal::new(1, 0),
            wallet_rate: Decimal::new(1, 0),
            coin: StableCoin::Usdt,
            charge: Charge { amount: coin, premium: coin, cost: coin },
            remainder: local,
            min_destination: local,
            max_destination: local,
            account: None,
            branch: None,
        },
        created_at: STORE,
        expires_at: STORE + Span::mins(5),
        state,
        payment: (state == QuoteState::Used).then_some(PaymentId(Uuid::from_u128(number))),
    }
}

fn account(tenant: TenantId, posted: i64) -> Account {
    Account {
        credits_posted: posted,
        ..Account::empty(tenant, AccountCode::Prefund(StableCoin::Usdt))
    }
}

const fn head(seq: i64) -> Head {
    Head { payment_seq: seq, wallet_seq: 0, payment_webhooks: false }
}

/// A batch's rows at the store's time, with the tenant's head, account and count of open quotes at
/// `found`.
fn found(tenant: TenantId, found: i64) -> WorkingSet {
    let mut rows = WorkingSet::new(STORE);
    rows.heads.load(tenant, head(found));
    rows.accounts.load((tenant, account(tenant, found).code), account(tenant, found));
    rows.open_quotes.load((tenant, Country::Pak), found);
    rows
}

/// Commits a batch of these rows, loaded when the node's own clock showed [`OWN`].
fn loaded(memory: &Cache, need: &Need, mut rows: WorkingSet) {
    memory.look(&mut rows, OWN..OWN);
    memory.learn_loaded(need, &rows);
}

/// The batch leaves them at `left`.
fn leave(mut rows: WorkingSet, tenant: TenantId, left: i64) -> WorkingSet {
    rows.heads.put(tenant, head(left));
    rows.accounts.put((tenant, account(tenant, left).code), account(tenant, left));
    rows.open_quotes.put((tenant, Country::Pak), left);
    rows.keep();
    rows
}

fn put(rows: &mut WorkingSet, quote: Quote) {
    rows.quotes.put((quote.tenant, quote.id), quote);
    rows.keep();
}

/// Caches a loaded batch that took its tenant from one number to the other.
fn load(memory: &Cache, tenant: TenantId, from: i64, to: i64) {
    loaded(memory, &to_quote(tenant), leave(found(tenant, from), tenant, to));
}

/// The cached numbers of head, account and count of open quotes.
fn numbers(rows: &WorkingSet, tenant: TenantId) -> [Option<i64>; 3] {
    assert!(rows.is_unchanged());
    let account = rows.accounts.loaded(&(tenant, account(tenant, 0).code));
    let open = rows.open_quotes.loaded(&(tenant, Country::Pak));
    [
        rows.heads.loaded(&tenant).map(|head| head.payment_seq),
        account.map(|it| it.credits_posted),
        open.copied(),
    ]
}

fn recalled(memory: &Cache, need: &Need) -> Option<[Option<i64>; 3]> {
    memory.recall(need, OWN, 0).map(|rows| numbers(&rows, ONE))
}

#[test]
fn the_cache_is_empty_before_a_loaded_batch() {
    let memory = Cache::default();
    assert!(memory.recall(&to_quote(ONE), OWN, 0).is_none());
    memory.learn(&to_quote(ONE), &leave(found(ONE, 0), ONE, 1));
    assert!(memory.recall(&to_quote(ONE), OWN, 0).is_none(), "the store's clock has not been read");
    load(&memory, ONE, 1, 2);
    assert_eq!(recalled(&memory, &to_quote(ONE)), Some([Some(2); 3]));
}

#[test]
fn cached_rows_equal_the_last_batch() {
    let memory = Cache::default();
    let mut rows = leave(found(ONE, 3), ONE, 5);
    rows.quotes.load((ONE, QuoteId(Uuid::from_u128(10))), quote(ONE, 10, QuoteState::Active));
    rows.quotes.load((ONE, QuoteId(Uuid::from_u128(11))), quote(ONE, 11, QuoteState::Active));
    put(&mut rows, quote(ONE, 11, QuoteState::Used));
    put(&mut rows, quote(ONE, 12, QuoteState::Active));
    put(&mut rows, quote(ONE, 13, QuoteState::Expired));
    loaded(&memory, &to_quote(ONE), rows);
    for (number, active) in [(10, true), (11, false), (12, true), (13, false)] {
        let rows = memory.recall(&to_pay(ONE, number), OWN, 0);
        assert_eq!(rows.is_some(), active, "quote {number}");
        let Some(rows) = rows else { continue };
        assert_eq!(numbers(&rows, ONE), [Some(5); 3]);
        let key = (ONE, QuoteId(Uuid::from_u128(number)));
        assert_eq!(rows.quotes.loaded(&key), Some(&quote(ONE, number, QuoteState::Active)));
    }
    // A batch on cached rows updates the cache, too.
    let mut rows = leave(memory.recall(&to_pay(ONE, 10), OWN, 0).expect("remembered"), ONE, 7);
    put(&mut rows, quote(ONE, 10, QuoteState::Used));
    memory.learn(&to_pay(ONE, 10), &rows);
    assert_eq!(recalled(&memory, &to_quote(ONE)), Some([Some(7); 3]));
    assert_eq!(recalled(&memory, &to_pay(ONE, 10)), None, "used");
    assert_eq!(recalled(&memory, &to_pay(ONE, 12)), Some([Some(7); 3]));
}

#[test]
fn consecutive_batches_must_find_this_nodes_own_writes() {
    let memory = Cache::default();
    let is_recalled = || memory.recall(&to_quote(ONE), OWN, 2).is_some();
    // What each batch found and left, and whether the next one is decided on the cache.
    for (from, to, expected) in [
        (0, 1, false),
        (1, 2, false),
        (2, 3, true),
        (3, 4, true),
        (6, 7, false),
        (7, 8, false),
        (7, 9, false),
        (9, 10, false),
        (10, 11, true),
    ] {
        load(&memory, ONE, from, to);
        assert_eq!(is_recalled(), expected, "from {from} to {to}");
    }
    memory.learn(&to_quote(ONE), &leave(found(ONE, 11), ONE, 12));
    assert!(is_recalled());
    load(&memory, ONE, 12, 13);
    assert!(is_recalled(), "a batch on cached rows is this node's own, too");
}

#[test]
fn a_batch_that_found_another_head_forgets_open_quotes() {
    let memory = Cache::default();
    let none_counted = |seq| {
        let mut rows = WorkingSet::new(STORE);
        rows.heads.load(ONE, head(seq));
        rows
    };
    load(&memory, ONE, 0, 1);
    loaded(&memory, &tenants(&[ONE]), none_counted(1));
    assert_eq!(
        recalled(&memory, &to_quote(ONE)),
        Some([Some(1), None, Some(1)]),
        "the head shows that no other node wrote"
    );
    loaded(&memory, &tenants(&[ONE]), none_counted(2));
    assert_eq!(recalled(&memory, &to_quote(ONE)), None);
    assert_eq!(recalled(&memory, &tenants(&[ONE])), Some([Some(2), None, None]));
}

#[test]
fn a_clock_reading_is_valid_for_one_second() {
    let memory = Cache::default();
    load(&memory, ONE, 0, 1);
    for (since, believed) in [
        (Span(-1), false),
        (Span(0), true),
        (Span::millis(300), true),
        (CLOCK_BELIEVED, true),
        (Span(CLOCK_BELIEVED.0 + 1), false),
    ] {
        let now = memory.recall(&to_quote(ONE), OWN + since, 0).map(|rows| rows.now);
        assert_eq!(now, believed.then_some(STORE + since), "{since:?}");
    }
}

#[test]
fn time_does_not_precede_a_tenants_last_batch() {
    let memory = Cache::default();
    let now = |need: &Need, since| memory.recall(need, OWN + since, 0).map(|rows| rows.now);
    let mut rows = leave(found(ONE, 0), ONE, 1);
    rows.now = STORE + Span::millis(500);
    loaded(&memory, &to_quote(ONE), rows);
    // Another reading, of a clock that was set back in between.
    load(&memory, TWO, 0, 1);
    for (need, since, expected) in [
        (to_quote(ONE), 0, 500),
        (to_quote(ONE), 499, 500),
        (to_quote(ONE), 700, 700),
        (to_quote(TWO), 0, 0),
        (tenants(&[ONE, TWO]), 100, 500),
    ] {
        assert_eq!(
            now(&need, Span::millis(since)),
            Some(STORE + Span::millis(expected)),
            "{need:?} after {since} ms"
        );
    }
}

#[test]
fn evicted_rows_are_not_returned() {
    let memory = Cache::default();
    load(&memory, ONE, 0, 1);
    load(&memory, TWO, 0, 1);
    memory.forget(&BTreeSet::from([ONE]));
    for (need, expected) in
        [(to_quote(ONE), false), (to_quote(TWO), true), (tenants(&[ONE, TWO]), false)]
    {
        assert_eq!(memory.recall(&need, OWN, 0).is_some(), expected, "{need:?}");
    }
    load(&memory, ONE, 1, 2);
    assert!(memory.recall(&to_quote(ONE), OWN, 1).is_none(), "counting starts over");
    assert!(memory.recall(&to_quote(ONE), OWN, 0).is_some());
}

#[test]
fn one_missing_row_makes_the_cache_miss() {
    let memory = Cache::default();
    let mut rows = leave(found(ONE, 0), ONE, 1);
    put(&mut rows, quote(ONE, 10, QuoteState::Active));
    loaded(&memory, &to_quote(ONE), rows);
    let ind = Need { open_quotes: [(ONE, Country::Ind)].into(), ..to_quote(ONE) };
    let stream = Need { streams: [(ONE, Uuid::from_u128(10))].into(), ..to_pay(ONE, 10) };
    let receiver = Need { receivers: [(ONE, ())].into(), ..to_quote(ONE) };
    for (what, need, expected) in [
        ("all of them", to_pay(ONE, 10), true),
        ("an unknown quote", to_pay(ONE, 11), false),
        ("another tenant's quote", to_pay(TWO, 10), false),
        ("an unknown country", ind, false),
        ("an unknown tenant", to_quote(TWO), false),
        ("an unknown tenant beside a known one", tenants(&[ONE, TWO]), false),
        ("delivery positions", stream, false),
        ("the endpoint's state", receiver, false),
    ] {
        assert_eq!(memory.recall(&need, OWN, 0).is_some(), expected, "{what}");
    }
}

#[test]
fn the_number_of_cached_tenants_is_bounded() {
    let memory = Cache::default();
    let tenant = |number: usize| TenantId(Uuid::from_u128(number as u128));
    let is_recalled = |number| memory.recall(&to_quote(tenant(number)), OWN, 0).is_some();
    for number in 0..TENANTS_MAX {
        load(&memory, tenant(number), 0, 1);
    }
    assert!(is_recalled(0) && is_recalled(TENANTS_MAX - 1));
    load(&memory, tenant(TENANTS_MAX), 0, 1);
    assert!(!is_recalled(0) && is_recalled(TENANTS_MAX));
    assert!(memory.state().tenants.len() <= TENANTS_MAX);
}

#[test]
fn the_number_of_cached_quotes_is_bounded() {
    let memory = Cache::default();
    let is_recalled = |number: usize| memory.recall(&to_pay(ONE, number as u128), OWN, 0).is_some();
    let learn = |numbers: std::ops::Range<usize>| {
        // One by one: quotes of one batch have no order.
        for number in numbers {
            let mut rows = found(ONE, 0);
            put(&mut rows, quote(ONE, number as u128, QuoteState::Active));
            loaded(&memory, &to_quote(ONE), rows);
        }
    };
    learn(1..QUOTES_MAX + 1);
    assert!(is_recalled(1) && is_recalled(QUOTES_MAX));
    learn(QUOTES_MAX + 1..QUOTES_MAX + 3);
    for (number, expected) in [(1, false), (2, false), (3, true), (QUOTES_MAX + 2, true)] {
        assert_eq!(is_recalled(number), expected, "quote {number}");
    }
    let state = memory.state();
    assert_eq!((state.quotes.len(), state.oldest.len()), (QUOTES_MAX, QUOTES_MAX));
}

#[test]
fn a_loaded_batch_is_decided_no_earlier_than_the_last_one_of_its_tenants() {
    let memory = Cache::default();
    loaded(&memory, &to_quote(ONE), leave(found(ONE, 0), ONE, 1));
    let recalled = memory.recall(&to_quote(ONE), OWN + Span::millis(900), 0).expect("remembered");
    memory.learn(&to_quote(ONE), &leave(recalled, ONE, 2));
    // The node's clock was ahead: on the store's clock no time has passed.
    let (mut same, mut other) = (found(ONE, 2), found(TWO, 0));
    let later = OWN + Span::millis(900);
    memory.look(&mut same, later..later);
    memory.look(&mut other, later..later);
    assert_eq!((same.now, other.now), (STORE + Span::millis(900), STORE));
}

#[test]
fn a_store_clock_that_is_set_back_delays_no_batch() {
    let memory = Cache::default();
    let mut ahead = leave(found(ONE, 0), ONE, 1);
    ahead.now = STORE + Span::hours(5);
    loaded(&memory, &to_quote(ONE), ahead);
    let mut right = found(TWO, 0);
    memory.look(&mut right, OWN..OWN);
    assert!(
        memory.recall(&to_quote(ONE), OWN, 0).is_none(),
        "the tenant's last batch was hours ahead"
    );
    let mut his = found(ONE, 1);
    memory.look(&mut his, OWN..OWN);
    assert_eq!(his.now, STORE);
}

#[test]
fn a_clock_that_jumped_during_loading_is_not_trusted() {
    let memory = Cache::default();
    let is_recalled = |own: Timestamp| memory.recall(&to_quote(ONE), own, 0).is_some();
    for (leapt, expected) in [
        (Span(0), true),
        (CLOCK_BELIEVED, true),
        (Span(CLOCK_BELIEVED.0 + 1), false),
        (Span::hours(24), false),
        (Span(-1), false),
    ] {
        let (mut rows, after) = (found(ONE, 0), OWN + leapt);
        memory.look(&mut rows, OWN..after);
        memory.learn_loaded(&to_quote(ONE), &rows);
        assert_eq!(is_recalled(after), expected, "{leapt:?} later");
    }
}
