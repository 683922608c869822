//! Webhooks to a bank are not rate limited (specification, "Limits": "incoming webhooks:
//! unlimited").

use domain::delivery::DeliveryState;
use domain::ids::WalletId;
use domain::wallet::{BlockOrder, BlockReason, TriggeredBy};
use engine::payments::Caller;
use engine::wallets::NewCustomer;
use futures_util::future::join_all;
use http_api::wallet_groups::{Group, GroupLimits};
use store::{DeliveryFilter, Page};
use testkit::wait::AT_MOST;

use crate::harness::{On, Setup, WalletBank, on_both_stores};

on_both_stores! {
    an_endpoint_gets_more_events_a_minute_than_any_caller_may_request
}

/// Concurrent wallets, each blocked: every event is independent of the others.
async fn blocked(bank: &WalletBank, number: usize) {
    let tenant = &bank.bank.tenant;
    let caller = Caller { tenant: tenant.id, policy: tenant.policy.clone().into() };
    let wallets = bank.bank.running.wallets();
    // Not through the API, whose own rate limits are not the subject here.
    let customer = NewCustomer {
        customer_id: format!("C-{number}"),
        email: "asha@example.com".to_owned(),
        phone: "+923001234567".to_owned(),
        blockchain: None,
        kyc_level: None,
    };
    let wallet: WalletId = wallets.provision(&caller, customer, None).await.expect("made").made.id;
    let order = BlockOrder {
        reason: BlockReason::SuspiciousActivity,
        details: "Three senders".to_owned(),
        auto_unblock_hours: None,
        triggered_by: TriggeredBy::Manual,
    };
    wallets.block(&caller, wallet, order, "test", None).await.expect("blocked");
}

async fn an_endpoint_gets_more_events_a_minute_than_any_caller_may_request(on: On) {
    let bank = WalletBank::alone(on, Setup::with_wallets()).await;
    let limits = GroupLimits::default();
    let most = Group::ALL.into_iter().map(|group| limits.of(group)).max().expect("some");
    let events = usize::try_from(most).expect("small") + 50;
    join_all((0..events).map(|number| blocked(&bank, number))).await;
    let all_taken = || async { bank.receiver.book().taken().len() >= events };
    assert!(
        testkit::wait::until_async(AT_MOST, all_taken).await,
        "{} of {events}",
        bank.receiver.book().taken().len()
    );

    let book = bank.receiver.book();
    assert_eq!(
        (book.entries().len(), book.taken().len()),
        (events, events),
        "each came once, and none was sent away"
    );
    let times: Vec<_> = book.entries().iter().map(|entry| entry.at).collect();
    let (first, last) = (times.iter().min().expect("some"), times.iter().max().expect("some"));
    assert!(*last - *first < domain::time::Span::mins(1), "{first} to {last}");
    let (store, tenant) = (bank.bank.running.store(), bank.bank.tenant.id);
    let delivered =
        DeliveryFilter { states: vec![DeliveryState::Delivered], ..DeliveryFilter::default() };
    let mut seen = 0;
    let told = || async {
        store.deliveries(tenant, &delivered, Page { page: 0, limit: 1 }).await.expect("read").total
    };
    let noted = || async { usize::try_from(told().await).expect("small") == events };
    assert!(testkit::wait::until_async(AT_MOST, noted).await);
    for page in 0..3 {
        let page =
            store.deliveries(tenant, &delivered, Page { page, limit: 100 }).await.expect("read");
        for row in page.rows {
            let it = row.delivery;
            assert_eq!(
                (it.attempts, it.last_status, it.next_at),
                (1, Some(200), None),
                "the first try was enough"
            );
            seen += 1;
        }
    }
    assert_eq!(seen, events);
    bank.finish().await;
}
