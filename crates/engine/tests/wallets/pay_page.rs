//! What the page behind a link is told.

use domain::payment_request::SenderDetails;
use domain::time::Span;
use domain::wallet::BlacklistOrder;
use engine::wallets::Denied;

use crate::world::{COIN, Setup, TENANT, USDC, with};

#[test]
fn a_page_knows_the_request_and_how_far_its_payments_are() {
    with(Setup::default(), async |world| {
        let wallet = world.wallet().await;
        let request = world.request(&wallet, COIN).await;
        let page = world.wallets.pay_page(&request.token).await.expect("there");
        assert_eq!((page.request, page.tenant.id, page.closed), (request.clone(), TENANT, false));
        assert!(page.arrivals.is_empty() && page.senders.is_empty());

        world.wallets.submit_sender(&request.token, SenderDetails::default()).await.expect("there");
        let seen = world.found(&request, domain::chain::Address([1; 20]), USDC, COIN).await;
        let page = world.wallets.pay_page(&request.token).await.expect("there");
        assert!(!page.senders.is_empty());
        assert_eq!(page.arrivals.iter().map(|it| it.confirmations).collect::<Vec<_>>(), [Some((1, 3))]);
        world.counted(seen).await;
        let page = world.wallets.pay_page(&request.token).await.expect("there");
        assert_eq!(page.arrivals.iter().map(|it| it.confirmations).collect::<Vec<_>>(), [None]);
    });
}

#[test]
fn a_deposit_takes_the_last_details_before_it_was_seen() {
    with(Setup::default(), async |world| {
        let wallet = world.wallet().await;
        let request = world.request(&wallet, COIN).await;
        let named = |name: &str| SenderDetails { first_name: Some(name.to_owned()), ..SenderDetails::default() };
        for name in ["One", "Two"] {
            world.wallets.submit_sender(&request.token, named(name)).await.expect("there");
            world.clock.pass(Span::secs(1));
        }
        let seen = world.found(&request, domain::chain::Address([1; 20]), USDC, COIN).await;
        world.wallets.submit_sender(&request.token, named("Three")).await.expect("there");
        assert_eq!(world.deposit_now(seen.id).await.sender, named("Two"));
        let kept = world.store.sender_infos(TENANT, request.id).await.expect("readable");
        assert_eq!(kept.len(), 3, "each submission is a row of its own");
    });
}

#[test]
fn a_blacklisted_wallets_page_is_closed_and_an_unknown_link_leads_nowhere() {
    with(Setup::default(), async |world| {
        let wallet = world.wallet().await;
        let request = world.request(&wallet, COIN).await;
        let order = BlacklistOrder {
            authority: "FIA".to_owned(),
            reference: "R-1".to_owned(),
            reason: "court".to_owned(),
            effective_date: jiff::civil::date(2026, 1, 1),
        };
        world.wallets.blacklist(&world.caller(), wallet.id, order, None).await.expect("may be");
        assert!(world.wallets.pay_page(&request.token).await.expect("there").closed);
        let unknown = world.wallets.submit_sender("nonsense", SenderDetails::default()).await;
        assert!(matches!(unknown, Err(Denied::NotFound(_))));
    });
}
