//! The books.

use domain::currency::StableCoin;
use domain::ledger::{AccountCode, TransferKind};
use domain::rail::RailId;
use store::BookFault;

use crate::world::World;

pub async fn balances_are_the_fold_of_the_transfers(world: World) {
    let tenant = world.tenant("demobank", 1_000_000_000).await;
    let (held, settled, refused) = (
        world.payment(tenant, None).await,
        world.payment(tenant, None).await,
        world.payment(tenant, None).await,
    );
    world.attempt(&settled, &RailId::new("pak-raast")).await;
    world.reference(&settled, "FT-1").await;
    world.refuse(&refused).await;
    assert_eq!(world.store.verify_books(tenant).await, Ok(Vec::new()));
    let accounts = world.store.accounts(tenant).await.expect("read");
    let prefund = accounts
        .iter()
        .find(|it| it.code == AccountCode::Prefund(StableCoin::Usdt))
        .expect("there");
    let charge = held.charge.total().expect("fits").minor;
    assert_eq!((prefund.debits_pending, prefund.debits_posted), (charge, charge));
    assert_eq!(prefund.available().minor, 1_000_000_000 - 2 * charge);
}

pub async fn a_wrong_balance_is_named(world: World) {
    let tenant = world.tenant("demobank", 1_000_000_000).await;
    world.payment(tenant, None).await;
    let Some(done) = world
        .sql("UPDATE account SET credits_posted = credits_posted + 1 WHERE code = 'prefund:USDT'")
        .await
    else {
        return;
    };
    assert_eq!(done, Ok(1));
    let sums = world.store.currency_sums(tenant).await.expect("read");
    assert_eq!(sums.get(&domain::currency::Currency::Usdt), Some(&1));
    let faults = world.store.verify_books(tenant).await.expect("verified");
    let [BookFault::Sums { stored, recomputed }] = faults.as_slice() else { panic!("{faults:?}") };
    assert_eq!(stored.credits_posted, recomputed.credits_posted + 1);
    world
        .sql("DELETE FROM account WHERE code = 'external:USDT'")
        .await
        .expect("beside")
        .expect("deleted");
    world
        .sql("UPDATE transfer SET pending = set_id, kind = 'void_pending' WHERE kind = 'posted'")
        .await;
    let faults = world.store.verify_books(tenant).await.expect("verified");
    assert!(faults.contains(&BookFault::LooseEnds(1)), "{faults:?}");
    assert!(faults.len() >= 3, "{faults:?}");
}

pub async fn transfers_are_read_in_pages(world: World) {
    let tenant = world.tenant("demobank", 1_000_000_000).await;
    let held = world.payment(tenant, None).await;
    world.attempt(&held, &RailId::new("pak-raast")).await;
    world.reference(&held, "FT-1").await;
    let whole = world.store.transfers(tenant, None, 1_000).await.expect("read");
    assert_eq!(whole[0].reason, "prefund.top_up");
    let hold = whole.iter().find(|it| it.id == held.hold).expect("the reservation");
    assert_eq!(
        (hold.kind, hold.subject, hold.amount),
        (TransferKind::Pending, Some(held.id.0), held.charge.total().expect("fits"))
    );
    let post = whole.iter().find(|it| it.kind == TransferKind::PostPending).expect("its end");
    assert_eq!(post.pending, Some(held.hold));
    let mut paged = Vec::new();
    while let Some(next) = {
        let after = paged.last().map(|it: &store::StoredTransfer| it.id);
        let page = world.store.transfers(tenant, after, 2).await.expect("read");
        (!page.is_empty()).then_some(page)
    } {
        paged.extend(next);
    }
    assert_eq!(paged, whole);
}

/// Proves the invariant I14.
pub async fn amounts_paid_by_rails_are_read_with_our_accounts(world: World) {
    let tenant = world.tenant("demobank", 1_000_000_000).await;
    let (settled, open) = (world.payment(tenant, None).await, world.payment(tenant, None).await);
    let rail = RailId::new("pak-raast");
    world.attempt(&settled, &rail).await;
    world.reference(&settled, "FT-1").await;
    world.attempt(&open, &rail).await;
    let books = world.store.rail_books(tenant).await.expect("read");
    let [books] = books.as_slice() else { panic!("{books:?}") };
    assert_eq!(books.account.code, AccountCode::Nostro(rail, settled.amount.currency));
    assert_eq!(
        (books.settled, books.account.balance().minor),
        (settled.amount.minor, -settled.amount.minor)
    );
    if world.sql("DELETE FROM account WHERE code LIKE 'nostro:%'").await.is_some() {
        let books = world.store.rail_books(tenant).await.expect("read");
        let shown: Vec<_> =
            books.iter().map(|it| (it.settled, it.account.balance().minor)).collect();
        assert_eq!(
            shown,
            [(settled.amount.minor, 0)],
            "an amount paid and never booked is included"
        );
    }
}
