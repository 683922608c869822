//! The staff's lists of wallets, requests, orders and deposits: newest first, filtered, per tenant.

use domain::decision::JobChange;
use domain::deposit::{Deposit, DepositState};
use domain::exchange::{ExchangeOrder, ExchangeState, Fate};
use domain::ids::{AttemptId, TenantId};
use domain::job::JobKind;
use domain::payment_request::RequestState;
use domain::time::Span;
use domain::wallet::{KycLevel, WalletState};
use store::{IdFrom, KeysetFrom, KeysetPage, KeysetWanted, Mark, WalletFilter, Wanted};
use uuid::Uuid;

use crate::world::{World, tenant_need};

const FIRST: KeysetWanted = KeysetWanted { from: None, limit: 100 };

/// Turns all pages of two rows forth and back, which show the same rows.
pub async fn turned<T: Clone + PartialEq + std::fmt::Debug>(
    read: impl AsyncFn(KeysetWanted) -> KeysetPage<T>,
) -> Vec<T> {
    let page = async |from| read(KeysetWanted { from, limit: 2 }).await;
    let mut pages = vec![page(None).await];
    assert_eq!(pages[0].previous, None);
    while let Some(next) = pages.last().and_then(|page| page.next) {
        pages.push(page(Some(KeysetFrom::After(next))).await);
    }
    let mut before: Option<Mark> = pages.last().and_then(|page| page.previous);
    for there in pages.iter().rev().skip(1) {
        let back = page(before.map(KeysetFrom::Before)).await;
        assert_eq!(back.rows, there.rows);
        assert!(back.next.is_some());
        before = back.previous;
    }
    assert_eq!(before, None, "the first page has none before it");
    pages.into_iter().flat_map(|page| page.rows).collect()
}

fn foreign() -> TenantId {
    TenantId(Uuid::new_v4())
}

pub async fn wallets_are_listed_newest_first(world: World) {
    let (tenant, other) = (world.tenant("demobank", 0).await, world.tenant("other", 0).await);
    let mut made = Vec::new();
    for customer in ["C-1", "C-2", "C-3"] {
        made.push(world.wallet(tenant, customer).await);
        world.pass(Span::secs(1)).await;
    }
    world.wallet(other, "C-2").await;
    made.reverse();
    let (all, none) = (
        WalletFilter::default(),
        WalletFilter { states: vec![WalletState::Blocked], ..WalletFilter::default() },
    );
    let list = async |filter: &WalletFilter, page| {
        world.store.office_wallets(tenant, filter, page).await.expect("read")
    };
    let sheet = list(&all, FIRST).await;
    assert_eq!((&sheet.rows, sheet.previous, sheet.next), (&made, None, None));
    assert_eq!(turned(async |page| list(&all, page).await).await, made);
    // What is added since shifts no row over a page's end.
    let first = list(&all, KeysetWanted { from: None, limit: 2 }).await;
    let newest = world.wallet(tenant, "C-4").await;
    let from = first.next.map(KeysetFrom::After);
    let second = list(&all, KeysetWanted { from, limit: 2 }).await;
    assert_eq!((&second.rows[..], second.next), (&made[2..], None));
    let from = second.previous.map(KeysetFrom::Before);
    let back = list(&all, KeysetWanted { from, limit: 2 }).await;
    assert_eq!(back.rows, made[..2]);
    let from = back.previous.map(KeysetFrom::Before);
    assert_eq!(list(&all, KeysetWanted { from, limit: 2 }).await.rows, [newest]);
    assert!(list(&none, FIRST).await.rows.is_empty());
    let (state, level) = (made[0].state, made[0].kyc_level);
    let same = WalletFilter {
        states: vec![state],
        levels: vec![level],
        customer_id: Some("C-2".to_owned()),
    };
    assert_eq!(
        list(&same, FIRST).await.rows,
        made[1..2],
        "exactly that customer's, and no other's"
    );
    let level = KycLevel::ALL.into_iter().find(|it| *it != level).expect("another level");
    assert!(
        list(&WalletFilter { levels: vec![level], ..all.clone() }, FIRST).await.rows.is_empty()
    );
    assert!(
        world.store.office_wallets(foreign(), &all, FIRST).await.expect("read").rows.is_empty()
    );
}

pub async fn requests_and_orders_are_listed_by_state_and_time(world: World) {
    let tenant = world.tenant("demobank", 0).await;
    let (one, two) = (world.wallet(tenant, "C-1").await, world.wallet(tenant, "C-2").await);
    let (mut requests, mut orders) = (Vec::new(), Vec::new());
    for wallet in [&one, &two, &one] {
        requests.push(world.request(wallet).await.id);
        orders.push(world.exchange(wallet, |_| {}).await.id);
        world.pass(Span::secs(1)).await;
    }
    let last = world.now().await;
    requests.push(world.request(&two).await.id);
    let settled = world.exchange(&one, |it| it.state = ExchangeState::Settled).await.id;
    requests.reverse();
    orders.reverse();
    let store = &world.store;
    let all = store.office_requests(tenant, &Wanted::default(), FIRST).await.expect("read");
    assert_eq!(all.rows.iter().map(|it| it.id).collect::<Vec<_>>(), requests, "of all wallets");
    let wanted = Wanted { states: vec![RequestState::Active], start: None, end: Some(last) };
    let before =
        turned(async |page| store.office_requests(tenant, &wanted, page).await.expect("read"));
    assert_eq!(before.await.iter().map(|it| it.id).collect::<Vec<_>>(), requests[1..]);
    let paid = Wanted { states: vec![RequestState::Paid], ..Wanted::default() };
    assert!(store.office_requests(tenant, &paid, FIRST).await.expect("read").rows.is_empty());
    let wanted = Wanted { start: Some(last), ..Wanted::default() };
    let since = store.office_orders(tenant, &wanted, FIRST).await.expect("read");
    assert_eq!(since.rows.iter().map(|it| it.id).collect::<Vec<_>>(), [settled]);
    let open = Wanted { states: vec![ExchangeState::Pending], ..Wanted::default() };
    let open =
        turned(async |page| store.office_orders(tenant, &open, page).await.expect("read")).await;
    assert_eq!(open.iter().map(|it| it.id).collect::<Vec<_>>(), orders);
    assert!(
        store
            .office_orders(foreign(), &Wanted::default(), FIRST)
            .await
            .expect("read")
            .rows
            .is_empty()
    );
    assert!(
        store
            .office_requests(foreign(), &Wanted::default(), FIRST)
            .await
            .expect("read")
            .rows
            .is_empty()
    );
}

pub async fn orders_in_review_are_paged_oldest_first(world: World) {
    let (tenant, other) = (world.tenant("demobank", 0).await, world.tenant("other", 0).await);
    let (wallet, foreign) = (world.wallet(tenant, "C-1").await, world.wallet(other, "C-1").await);
    let withheld = |it: &mut ExchangeOrder| it.fate = Fate::Withheld;
    let unknown = |it: &mut ExchangeOrder| {
        it.state = ExchangeState::Paying;
        it.attempt = Some(AttemptId(it.id.0));
        it.unclear_since = Some(it.created_at);
        it.unclear_beyond_window = true;
    };
    let put = async |wallet, kind, change: &(dyn Fn(&mut ExchangeOrder) + Sync)| {
        let order = world.exchange(wallet, change).await;
        let job = JobChange::Set(kind, order.times_out_at);
        world.put(order.tenant, |ws, _| ws.set_job(order.tenant, order.id.0, job)).await;
        world.pass(Span::secs(1)).await;
        order.id
    };
    let (waits, asks) = (JobKind::Exchange, JobKind::InquirePayout);
    let one = put(&wallet, waits, &withheld).await;
    put(&wallet, waits, &|_| {}).await;
    let two = put(&wallet, asks, &unknown).await;
    put(&wallet, asks, &|it| it.state = ExchangeState::Paying).await;
    put(&foreign, waits, &withheld).await;
    let three = put(&wallet, waits, &withheld).await;
    let (after, before) = (|id| Some(IdFrom::After(id)), |id| Some(IdFrom::Before(id)));
    let read = async |from, limit| {
        let sheet = world.store.orders_in_review(tenant, from, limit).await.expect("read");
        (sheet.rows.iter().map(|it| it.id).collect::<Vec<_>>(), sheet.more)
    };
    assert_eq!(read(None, 3).await, (vec![one, two, three], false));
    assert_eq!(read(None, 2).await, (vec![one, two], true));
    assert_eq!(read(before(three), 1).await, (vec![two], true), "the nearest ones");
    assert_eq!(read(before(three), 2).await, (vec![one, two], false));
    // An order that was decided in between shifts no other over the page's end.
    let mut need = tenant_need(tenant);
    need.jobs.insert((tenant, one.0));
    let done = world.execute(&need, |ws, _| {
        ws.set_job(tenant, one.0, JobChange::Done);
        ws.keep();
    });
    done.await.expect("saved");
    assert_eq!(read(None, 3).await, (vec![two, three], false));
    assert_eq!(read(after(two), 2).await, (vec![three], false));
    assert_eq!(read(after(three), 2).await, (Vec::new(), false));
}

pub async fn deposits_are_listed_by_when_they_were_seen(world: World) {
    let tenant = world.tenant("demobank", 0).await;
    let wallet = world.wallet(tenant, "C-1").await;
    let request = world.request(&wallet).await;
    let mut made = Vec::new();
    for (number, state) in [
        (1, DepositState::Rejected),
        (2, DepositState::InReview),
        (3, DepositState::Orphaned),
        (4, DepositState::Rejected),
    ] {
        made.push(world.deposit(&wallet, Some(&request), number, |it| it.state = state).await.id);
        world.pass(Span::secs(1)).await;
    }
    let store = &world.store;
    let list = async |states: Vec<DepositState>, page| {
        let wanted = Wanted { states, ..Wanted::default() };
        let sheet = store.office_deposits(tenant, &wanted, page).await.expect("read");
        (sheet.rows.iter().map(|it| it.id).collect::<Vec<_>>(), sheet.next.is_some())
    };
    assert_eq!(
        list(Vec::new(), FIRST).await,
        (vec![made[3], made[1], made[0]], false),
        "without the orphaned one"
    );
    assert_eq!(list(vec![DepositState::Orphaned], FIRST).await.0, [made[2]]);
    assert_eq!(
        list(vec![DepositState::Rejected], KeysetWanted { from: None, limit: 1 }).await,
        (vec![made[3]], true)
    );
    let all = Wanted::default();
    let all = turned(async |page| store.office_deposits(tenant, &all, page).await.expect("read"));
    assert_eq!(all.await.iter().map(|it| it.id).collect::<Vec<_>>(), [made[3], made[1], made[0]]);
    assert!(
        store
            .office_deposits(foreign(), &Wanted::default(), FIRST)
            .await
            .expect("read")
            .rows
            .is_empty()
    );
}

pub async fn a_decision_shifts_no_deposit_that_waits_for_review(world: World) {
    let tenant = world.tenant("demobank", 0).await;
    let wallet = world.wallet(tenant, "C-1").await;
    let request = world.request(&wallet).await;
    let mut made = Vec::new();
    for number in 1..=5 {
        let waits = |it: &mut Deposit| it.state = DepositState::InReview;
        made.push(world.deposit(&wallet, Some(&request), number, waits).await);
        world.pass(Span::secs(1)).await;
    }
    world.deposit(&wallet, Some(&request), 6, |it| it.state = DepositState::Held).await;
    let store = &world.store;
    let read = async |page| store.deposits_to_review(tenant, page).await.expect("read");
    assert_eq!(turned(read).await, made, "the longest waiting first");
    let page = async |from| read(KeysetWanted { from, limit: 2 }).await;
    let first = page(None).await;
    // A colleague decides on what the first page shows.
    let mut need = tenant_need(tenant);
    need.deposits.extend(made[..2].iter().map(|it| (tenant, it.id)));
    let decided = world.execute(&need, |ws, _| {
        for deposit in &made[..2] {
            let decided = Deposit { state: DepositState::Rejected, ..deposit.clone() };
            ws.deposits.put((tenant, deposit.id), decided);
        }
        ws.keep();
    });
    decided.await.expect("saved");
    let second = page(first.next.map(KeysetFrom::After)).await;
    assert_eq!(second.rows, made[2..4], "none is skipped");
    assert_eq!(page(None).await.rows, made[2..4]);
    let page = KeysetWanted { from: None, limit: 2 };
    assert_eq!(store.deposits_to_review(foreign(), page).await.expect("read").rows, []);
}
