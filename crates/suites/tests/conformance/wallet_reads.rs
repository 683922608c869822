//! Lists, searches and sums of wallet data.

use domain::chain::{Address, ChainNumber};
use domain::currency::StableCoin;
use domain::decision::IdSource;
use domain::deposit::{Decision, Deposit, DepositBucket, DepositKind, DepositState, ReviewVerdict};
use domain::exchange::ExchangeState;
use domain::ids::{DepositId, TenantId};
use domain::ledger::{AccountCode, Transfer, TransferKind};
use domain::money::Money;
use domain::payment_request::{Received, RequestMoney, RequestState};
use domain::risk::Velocity;
use domain::time::{Span, Timestamp};
use domain::wallet::{Wallet, WalletState};
use store::working_set::WorkingSet;
use store::{KeysetWanted, Listed, MovingKind, Page, TransactionKind};
use uuid::Uuid;

use crate::wallet_office::turned;
use crate::wallet_world::{self, COIN, credit, wallet_need};
use crate::world::{World, tenant_need};

const FIRST: Page = Page { page: 0, limit: 100 };

fn ids(page: &Listed<store::Transaction>) -> Vec<Uuid> {
    page.rows.iter().map(store::Transaction::id).collect()
}

pub async fn the_money_of_requests_is_added_up_by_where_it_is(world: World) {
    let tenant = world.tenant("demobank", 0).await;
    let wallet = world.wallet(tenant, "C-1").await;
    let (one, two, none) =
        (world.request(&wallet).await, world.request(&wallet).await, world.request(&wallet).await);
    for (number, request, state, pot) in [
        (1, &one, DepositState::Completed, DepositBucket::Wallet),
        (2, &one, DepositState::Completed, DepositBucket::Wallet),
        (3, &one, DepositState::Rejected, DepositBucket::Escrow),
        (4, &one, DepositState::Seen, DepositBucket::Nowhere),
        (5, &one, DepositState::Failed, DepositBucket::Nowhere),
        (6, &two, DepositState::InReview, DepositBucket::Escrow),
        (8, &two, DepositState::Failed, DepositBucket::Escrow),
    ] {
        world.deposit(&wallet, Some(request), number, |it| (it.state, it.pot) = (state, pot)).await;
    }
    world.deposit(&wallet, None, 7, |_| {}).await;
    let requests = [one.clone(), two.clone(), none.clone()];
    let money = world.store.money_of_requests(tenant, &requests).await.expect("read");
    let deposits = |count: i64| Received { usdc: count * 25 * COIN, usdt: 0 };
    let of_one =
        RequestMoney { released: deposits(2), rejected: deposits(1), ..RequestMoney::default() };
    let of_two = RequestMoney { held: deposits(2), failed: deposits(1), ..RequestMoney::default() };
    assert_eq!(money, [(one.id, of_one), (two.id, of_two)].into());
    assert_eq!(world.store.money_of_requests(tenant, &[]).await, Ok([].into()));
    let foreign = world.store.money_of_requests(TenantId(Uuid::new_v4()), &requests).await;
    assert_eq!(foreign, Ok([].into()));
}

pub async fn a_wallets_history_is_merged_filtered_and_paged(world: World) {
    let tenant = world.tenant("demobank", 0).await;
    let (wallet, other) = (world.wallet(tenant, "C-1").await, world.wallet(tenant, "C-2").await);
    let request = world.request(&wallet).await;
    let mut made = Vec::new();
    for number in 1..=3 {
        made.push(world.deposit(&wallet, Some(&request), number, |_| {}).await.id.0);
        world.pass(Span::secs(1)).await;
        made.push(world.exchange(&wallet, |_| {}).await.id.0);
        world.pass(Span::secs(1)).await;
    }
    made.push(
        world.deposit(&wallet, Some(&request), 4, |it| it.state = DepositState::Held).await.id.0,
    );
    world.deposit(&wallet, Some(&request), 5, |it| it.state = DepositState::Orphaned).await;
    world.deposit(&other, None, 6, |_| {}).await;
    world.exchange(&other, |_| {}).await;
    made.reverse();
    let turned = turned(async |page| {
        world.store.wallet_history(tenant, wallet.id, page).await.expect("read")
    });
    assert_eq!(turned.await.iter().map(store::Transaction::id).collect::<Vec<_>>(), made);
    let list = |kind, page| world.store.transactions(tenant, wallet.id, kind, page);
    let all = list(None, FIRST).await.expect("read");
    assert_eq!((ids(&all), all.total), (made.clone(), 7), "newest first, orphaned ones are hidden");
    let blocked =
        list(Some(TransactionKind::Deposit(DepositKind::Blocked)), FIRST).await.expect("read");
    assert_eq!((ids(&blocked), blocked.total), (made[..1].to_vec(), 1));
    let received =
        list(Some(TransactionKind::Deposit(DepositKind::Received)), FIRST).await.expect("read");
    assert_eq!((ids(&received), received.total), (vec![made[2], made[4], made[6]], 3));
    let exchanged =
        list(Some(TransactionKind::Exchanged), Page { page: 1, limit: 2 }).await.expect("read");
    assert_eq!((ids(&exchanged), exchanged.total), (vec![made[5]], 3));
    let second = list(None, Page { page: 1, limit: 3 }).await.expect("read");
    assert_eq!((ids(&second), second.total), (made[3..6].to_vec(), 7));
    let behind = list(None, Page { page: 9, limit: 3 }).await.expect("read");
    assert_eq!((ids(&behind), behind.total), (Vec::new(), 7));
    let foreign = world
        .store
        .transactions(TenantId(Uuid::new_v4()), wallet.id, None, FIRST)
        .await
        .expect("read");
    assert_eq!((foreign.rows.len(), foreign.total), (0, 0));
    let first = KeysetWanted { from: None, limit: 10 };
    let foreign = world.store.wallet_history(TenantId(Uuid::new_v4()), wallet.id, first).await;
    assert_eq!(foreign.expect("read").rows, []);
    let orders = world
        .store
        .list_exchanges(tenant, wallet.id, Page { page: 0, limit: 2 })
        .await
        .expect("read");
    assert_eq!(orders.rows.iter().map(|it| it.id.0).collect::<Vec<_>>(), [made[1], made[3]]);
    assert_eq!(orders.total, 3);
}

pub async fn the_controller_in_use_is_that_of_the_newest_ready_wallet(world: World) {
    let tenant = world.tenant("demobank", 0).await;
    let in_use = || world.store.deployed_controller(tenant, ChainNumber::FIRST);
    assert_eq!(in_use().await, Ok(None));
    for (number, state) in
        [(1, WalletState::Active), (2, WalletState::Blocked), (3, WalletState::Pending)]
    {
        let name = format!("C-{number}");
        let provision = |ws: &mut WorkingSet, ids: &mut dyn IdSource| {
            let fresh = wallet_world::wallet(tenant, &name, ws.now, ids);
            let made = Wallet { controller: Address([number; 20]), state, ..fresh };
            ws.customers.put((tenant, wallet_world::customer(&name)), made.id);
            ws.wallets.put((tenant, made.id), made);
        };
        world.put(tenant, provision).await;
        world.pass(Span::secs(1)).await;
    }
    let found = in_use().await.expect("read").expect("a ready wallet");
    assert_eq!((found.address, found.version), (Address([2; 20]), 3));
    let elsewhere = world.store.deployed_controller(tenant, ChainNumber(2)).await;
    assert_eq!(elsewhere, Ok(None), "each chain has its own");
    let awaited = world.store.awaited_controller(tenant, ChainNumber::FIRST).await.expect("read");
    assert_eq!(awaited.map(|it| it.address), Some(Address([3; 20])));
    let elsewhere = world.store.awaited_controller(tenant, ChainNumber(2)).await;
    assert_eq!(elsewhere, Ok(None), "each chain has its own");
}

pub async fn requests_are_listed_by_state(world: World) {
    let tenant = world.tenant("demobank", 0).await;
    let (wallet, other) = (world.wallet(tenant, "C-1").await, world.wallet(tenant, "C-2").await);
    let mut made = Vec::new();
    for _ in 0..5 {
        made.push(world.request(&wallet).await);
        world.pass(Span::secs(1)).await;
    }
    world.request(&other).await;
    (made[1].state, made[1].version) = (RequestState::Paid, 2);
    let mut need = tenant_need(tenant);
    need.requests.insert((tenant, made[1].id));
    world
        .execute(&need, |ws, _| {
            ws.requests.put((tenant, made[1].id), made[1].clone());
            ws.keep();
        })
        .await
        .expect("saved");
    made.reverse();
    let list = |state, page| world.store.list_requests(tenant, wallet.id, state, page);
    let all = list(None, FIRST).await.expect("read");
    assert_eq!((&all.rows, all.total), (&made, 5));
    let paid = list(Some(RequestState::Paid), FIRST).await.expect("read");
    assert_eq!((paid.rows, paid.total), (made[3..4].to_vec(), 1));
    let active = list(Some(RequestState::Active), Page { page: 1, limit: 3 }).await.expect("read");
    assert_eq!((active.rows, active.total), (made[4..].to_vec(), 4));
    let none = list(Some(RequestState::Cancelled), FIRST).await.expect("read");
    assert_eq!((none.rows.len(), none.total), (0, 0));
}

fn numbers(deposits: &[Deposit]) -> Vec<u64> {
    deposits.iter().filter_map(Deposit::height).collect()
}

pub async fn deposits_are_found_by_what_they_wait_for(world: World) {
    let (tenant, other) = (world.tenant("demobank", 0).await, world.tenant("other", 0).await);
    let (wallet, foreign) = (world.wallet(tenant, "C-1").await, world.wallet(other, "C-1").await);
    let request = world.request(&wallet).await;
    for (number, state) in [
        (10, DepositState::Seen),
        (11, DepositState::Held),
        (12, DepositState::InReview),
        (13, DepositState::Completed),
        (14, DepositState::Held),
    ] {
        world.deposit(&wallet, Some(&request), number, |it| it.state = state).await;
        world.pass(Span::secs(1)).await;
    }
    let lost = |it: &mut Deposit| {
        (it.state, it.place, it.lost_at) = (DepositState::Suspended, None, Some(12))
    };
    world.deposit(&foreign, None, 15, lost).await;
    world.deposit(&foreign, None, 16, |_| {}).await;
    let store = &world.store;
    assert_eq!(
        numbers(&store.waiting_deposits(ChainNumber::FIRST, 15, 9).await.expect("read")),
        [10, 12],
        "of all tenants"
    );
    assert_eq!(
        numbers(&store.waiting_deposits(ChainNumber::FIRST, 99, 9).await.expect("read")),
        [10, 12, 16]
    );
    assert_eq!(
        numbers(&store.waiting_deposits(ChainNumber::FIRST, 99, 1).await.expect("read")),
        [10]
    );
    assert_eq!(
        numbers(&store.deposits_from_height(ChainNumber::FIRST, 12).await.expect("read")),
        [12, 12, 13, 14, 16]
    );
    assert_eq!(
        numbers(&store.deposits_of_request(tenant, request.id).await.expect("read")),
        [10, 11, 12, 13, 14]
    );
    let review = store.deposits_in_review(tenant, FIRST).await.expect("read");
    assert_eq!((numbers(&review.rows), review.total), (vec![12], 1));
    let review = store.deposits_in_review(other, FIRST).await.expect("read");
    assert_eq!((review.rows.len(), review.total), (0, 0));
}

/// A deposit that counted this long ago.
async fn counted(
    world: &World,
    wallet: &Wallet,
    number: u64,
    ago: Span,
    state: DepositState,
) -> Deposit {
    world
        .deposit(wallet, None, number, |it| {
            it.seen_at = it.seen_at - ago;
            (it.credited_at, it.state, it.pot) = (Some(it.seen_at), state, DepositBucket::Escrow);
        })
        .await
}

pub async fn velocity_counts_what_came_and_what_was_refused(world: World) {
    let tenant = world.tenant("demobank", 0).await;
    let (wallet, other) = (world.wallet(tenant, "C-1").await, world.wallet(tenant, "C-2").await);
    let now = world.now().await;
    let this = counted(&world, &wallet, 1, Span::secs(1), DepositState::Screening).await;
    counted(&world, &wallet, 2, Span::hours(23), DepositState::Completed).await;
    counted(&world, &wallet, 3, Span::hours(25), DepositState::Rejected).await;
    counted(&world, &wallet, 4, Span::days(29), DepositState::LegalHold).await;
    counted(&world, &wallet, 5, Span::days(31), DepositState::Rejected).await;
    counted(&world, &wallet, 6, Span::hours(1), DepositState::Suspended).await;
    counted(&world, &other, 7, Span::hours(1), DepositState::Completed).await;
    world.deposit(&wallet, None, 8, |_| {}).await;
    let by_hand = |it: &mut Deposit| {
        (it.credited_at, it.state) = (Some(it.seen_at), DepositState::Refunded);
        let (by, note, at) = ("amal".to_owned(), String::new(), it.seen_at);
        it.decision = Some(Decision { verdict: ReviewVerdict::Reject, by, note, at });
    };
    world.deposit(&wallet, None, 9, by_hand).await;
    let amount = 25 * COIN;
    let expected = Velocity {
        day_count: 2,
        day_minor: 2 * amount,
        month_minor: 4 * amount,
        month_rejections: 2,
        month_names: 0,
    };
    assert_eq!(world.store.velocity(tenant, wallet.id, (this.id, None), now).await, Ok(expected));
    let none = DepositId(Uuid::new_v4());
    let with_this = world.store.velocity(tenant, wallet.id, (none, None), now).await.expect("read");
    assert_eq!((with_this.day_count, with_this.month_minor), (3, 5 * amount));
    let empty = world.store.velocity(TenantId(Uuid::new_v4()), wallet.id, (none, None), now).await;
    assert_eq!(empty, Ok(Velocity::default()));
}

pub async fn open_orders_of_a_wallet_are_found(world: World) {
    let tenant = world.tenant("demobank", 0).await;
    let wallet = world.wallet(tenant, "C-1").await;
    let mut open = Vec::new();
    for state in ExchangeState::ALL {
        let order = world.exchange(&wallet, |it| it.state = state).await;
        if !state.is_terminal() {
            open.push(order);
        }
    }
    assert_eq!(world.store.open_exchanges(tenant, wallet.id, 99).await, Ok(open.clone()));
    assert_eq!(world.store.open_exchanges(tenant, wallet.id, 2).await, Ok(open[..2].to_vec()));
}

fn escrow_to_wallet(
    wallet: &Wallet,
    request: &domain::payment_request::PaymentRequest,
    at: Timestamp,
    ids: &mut dyn domain::decision::IdSource,
) -> Transfer {
    let (from, to) = (
        AccountCode::Escrow(request.id, StableCoin::Usdc),
        AccountCode::Wallet(wallet.id, StableCoin::Usdc),
    );
    let kind = TransferKind::Pending;
    Transfer {
        debit: from,
        kind,
        ..credit(wallet.tenant, to, 10 * COIN, "deposit.release", at, ids)
    }
}

pub async fn books_of_vaults_stand_beside_their_logs(world: World) {
    let tenant = world.tenant("demobank", 0).await;
    let wallet = world.wallet(tenant, "C-1").await;
    let request = world.request(&wallet).await;
    let escrow = AccountCode::Escrow(request.id, StableCoin::Usdc);
    world
        .put(tenant, |ws, ids| {
            let held = escrow_to_wallet(&wallet, &request, ws.now, ids);
            let end = Transfer {
                id: domain::ids::TransferId(ids.next()),
                kind: TransferKind::PostPending,
                pending: Some(held.id),
                ..held.clone()
            };
            let transfers = vec![
                credit(tenant, escrow.clone(), 25 * COIN, "deposit.credit", ws.now, ids),
                held.clone(),
                end,
                Transfer {
                    amount: Money::new(COIN, held.amount.currency),
                    ..escrow_to_wallet(&wallet, &request, ws.now, ids)
                },
                credit(
                    tenant,
                    AccountCode::Treasury(ChainNumber::FIRST, StableCoin::Usdc),
                    COIN,
                    "sweep",
                    ws.now,
                    ids,
                ),
            ];
            ws.book(transfers).expect("booked");
        })
        .await;
    assert_eq!(world.store.verify_books(tenant).await, Ok(Vec::new()));
    let codes: Vec<AccountCode> =
        world.store.accounts(tenant).await.expect("read").into_iter().map(|it| it.code).collect();
    assert!(
        codes.contains(&escrow)
            && codes.contains(&AccountCode::Treasury(ChainNumber::FIRST, StableCoin::Usdc))
    );
    let sums = world.store.currency_sums(tenant).await.expect("read");
    assert_eq!(
        sums,
        [(domain::currency::Currency::Usdc, 0)].into(),
        "vaults are summed up with all others"
    );
    let books = world.store.vault_books(tenant, None, 99).await.expect("read");
    let shown: Vec<_> = books
        .iter()
        .map(|it| (it.address, it.account.balance().minor, it.account.available().minor))
        .collect();
    assert_eq!(
        shown,
        [(request.escrow, 15 * COIN, 14 * COIN), (wallet.address, 10 * COIN, 10 * COIN)]
    );
    assert!(books.iter().all(|it| it.logged == 0 && it.coin == StableCoin::Usdc));
    assert_eq!(world.store.vault_books(tenant, None, 1).await.as_deref(), Ok(&books[..1]));
    assert_eq!(world.store.vault_books(tenant, Some(&escrow), 9).await.as_deref(), Ok(&books[1..]));
    // Reserved funds never drop below zero, whatever a batch attempts.
    let mut need = wallet_need(&wallet);
    need.accounts.insert((tenant, escrow.clone()));
    let overdraft = world
        .execute(&need, |ws, ids| {
            let too_much = Money::new(15 * COIN, domain::currency::Currency::Usdc);
            let transfer =
                Transfer { amount: too_much, ..escrow_to_wallet(&wallet, &request, ws.now, ids) };
            assert!(ws.book(vec![transfer]).is_err(), "14 are free");
            ws.discard();
        })
        .await;
    assert!(overdraft.is_ok());
    let sql = format!(
        "UPDATE account SET debits_posted = debits_posted + {} WHERE code = '{escrow}'",
        15 * COIN
    );
    crate::constraints::refused(&world, &sql, crate::constraints::CHECK).await;
}

pub async fn open_records_have_a_job(world: World) {
    let tenant = world.tenant("demobank", 0).await;
    let wallet = world.wallet(tenant, "C-1").await;
    let request = world.request(&wallet).await;
    let screening = world.deposit(&wallet, None, 1, |it| it.state = DepositState::Screening).await;
    world.deposit(&wallet, None, 2, |it| it.state = DepositState::Completed).await;
    let order = world.exchange(&wallet, |_| {}).await;
    world.exchange(&wallet, |it| it.state = ExchangeState::Debiting).await;
    let expected = |skip: &[Uuid]| -> Vec<(String, TenantId, Uuid)> {
        [
            ("deposit", screening.id.0),
            ("exchange_order", order.id.0),
            ("payment_request", request.id.0),
        ]
        .into_iter()
        .filter(|(_, id)| !skip.contains(id))
        .map(|(what, id)| (what.to_owned(), tenant, id))
        .collect()
    };
    assert_eq!(world.store.wallet_things_without_job(9).await, Ok(expected(&[])));
    let mut need = tenant_need(tenant);
    need.deposits.insert((tenant, screening.id));
    need.jobs.insert((tenant, order.id.0));
    let set = |ws: &mut store::working_set::WorkingSet, _: &mut dyn domain::decision::IdSource| {
        for (id, kind) in [
            (screening.id.0, domain::job::JobKind::Screen),
            (order.id.0, domain::job::JobKind::Exchange),
        ] {
            ws.set_job(tenant, id, domain::decision::JobChange::Set(kind, ws.now));
        }
        ws.keep();
    };
    world.execute(&need, set).await.expect("saved");
    assert_eq!(
        world.store.wallet_things_without_job(9).await,
        Ok(expected(&[screening.id.0, order.id.0]))
    );
    let seen = |ws: &mut store::working_set::WorkingSet, _: &mut dyn domain::decision::IdSource| {
        assert!(
            ws.jobs.get(&(tenant, screening.id.0)).is_some_and(Option::is_some),
            "loaded with its deposit"
        );
        assert!(ws.jobs.get(&(tenant, order.id.0)).is_some_and(Option::is_some), "loaded by name");
    };
    world.execute(&need, seen).await.expect("loaded");
}

/// I14: in-flight amounts are distinguished from discrepancies.
pub async fn permitted_differences_of_chain_and_books_are_summed_up(world: World) {
    let tenant = world.tenant("demobank", 0).await;
    let wallet = world.wallet(tenant, "C-1").await;
    let request = world.request(&wallet).await;
    for (number, state) in
        [(1, DepositState::Seen), (2, DepositState::Seen), (3, DepositState::Suspended)]
    {
        world.deposit(&wallet, Some(&request), number, |it| it.state = state).await;
    }
    world.deposit(&wallet, Some(&request), 4, |it| it.state = DepositState::Refunding).await;
    let completed =
        |it: &mut Deposit| (it.state, it.pot) = (DepositState::Completed, DepositBucket::Wallet);
    world.deposit(&wallet, Some(&request), 5, completed).await;
    world
        .deposit(&wallet, None, 6, |it| {
            (it.state, it.pot) = (DepositState::InReview, DepositBucket::Suspense)
        })
        .await;
    let back = world.exchange(&wallet, |it| it.state = ExchangeState::Returning).await;
    world.exchange(&wallet, |it| it.state = ExchangeState::Debiting).await;
    let one = world.store.deposits_of_request(tenant, request.id).await.expect("read")[0].minor;
    let (escrow, held) = (
        AccountCode::Escrow(request.id, StableCoin::Usdc),
        AccountCode::Wallet(wallet.id, StableCoin::Usdc),
    );
    let moving = world.store.moving(tenant).await.expect("read");
    let sum = |account: &AccountCode, kind| -> i64 {
        moving
            .iter()
            .filter(|it| (&it.account, it.kind) == (account, kind))
            .map(|it| it.minor)
            .sum()
    };
    assert_eq!(
        sum(&escrow, MovingKind::Arriving),
        3 * one,
        "seen, or reorganized away and possibly returning"
    );
    assert_eq!(sum(&escrow, MovingKind::Refunding), one);
    assert_eq!(sum(&held, MovingKind::Beside), one, "directly to the wallet");
    assert_eq!(sum(&AccountCode::Wallet(wallet.id, back.coin), MovingKind::Returning), back.minor);
    assert_eq!(
        moving.iter().map(|it| it.minor).sum::<i64>(),
        5 * one + back.minor,
        "and nothing else"
    );
    assert_eq!(world.store.moving(TenantId(Uuid::new_v4())).await, Ok(Vec::new()));
}

pub async fn dust_is_found_by_its_vault_the_largest_first(world: World) {
    let tenant = world.tenant("demobank", 0).await;
    let (wallet, other) = (world.wallet(tenant, "C-1").await, world.wallet(tenant, "C-2").await);
    let (request, another) = (world.request(&wallet).await, world.request(&wallet).await);
    let shown = Address([0x51; 20]);
    let at = |submission: Option<u32>, minor: i64| {
        move |it: &mut Deposit| {
            (it.state, it.minor, it.submission) = (DepositState::Dust, minor, submission);
            it.to = if submission.is_some() { shown } else { it.to };
        }
    };
    let this = world
        .deposit(&wallet, Some(&request), 1, |it| (it.submission, it.to) = (Some(1), shown))
        .await;
    let small = world.deposit(&wallet, Some(&request), 2, at(Some(1), 5)).await;
    let large = world.deposit(&wallet, Some(&request), 3, at(Some(1), 7)).await;
    let own = world.deposit(&wallet, Some(&request), 4, at(None, 6)).await;
    world.deposit(&wallet, Some(&another), 5, at(Some(1), 6)).await;
    world.deposit(&other, None, 6, at(None, 6)).await;
    let direct = world.deposit(&wallet, None, 7, at(None, 6)).await;
    world.deposit(&wallet, Some(&request), 8, |it| (it.submission, it.to) = (Some(1), shown)).await;
    let beside = async |deposit: &Deposit, limit| {
        world.store.dust_beside(deposit, limit).await.expect("read")
    };
    assert_eq!(beside(&this, 9).await, [large.clone(), small.clone()]);
    assert_eq!(beside(&this, 1).await, std::slice::from_ref(&large));
    assert_eq!(beside(&large, 9).await, [small]);
    assert_eq!((beside(&own, 9).await, beside(&direct, 9).await), (vec![], vec![]));
    let unnamed = world.deposit(&wallet, Some(&request), 9, |_| {}).await;
    assert_eq!(beside(&unnamed, 9).await, [own]);
}
