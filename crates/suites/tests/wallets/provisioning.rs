//! Provisioning, reading, and other tenants' wallets.

use std::sync::atomic::Ordering;

use domain::chain::IntentKind;
use domain::currency::Currency;
use domain::ids::WalletId;
use domain::money::Money;
use domain::time::Span;
use domain::wallet::{KycLevel, WalletRefusal, WalletState};
use domain::wallet_policy::WalletPolicy;
use engine::command::{Idempotency, Refused};
use engine::payments::IdempotencyKey;
use engine::wallets::{Denied, NewCustomer, Page};
use uuid::Uuid;

use crate::world::{OTHER, Setup, TENANT, World, with};

#[test]
fn a_customer_has_one_wallet_per_chain_and_tenant() {
    with(Setup::default(), async |world| {
        let caller = world.caller();
        let made =
            world.wallets.provision(&caller, World::customer("C-1"), None).await.expect("new").made;
        assert_eq!(
            (made.state, made.kyc_level, &*made.blockchain),
            (WalletState::Active, KycLevel::Basic, "ethereum")
        );
        let again = world.wallets.provision(&caller, World::customer("C-1"), None).await;
        assert!(
            matches!(again, Err(Denied::Refused(Refused::Wallet(WalletRefusal::Exists(id)))) if id == made.id)
        );
        let elsewhere =
            world.wallets.provision(&world.caller_of(OTHER), World::customer("C-1"), None).await;
        assert_ne!(elsewhere.expect("another tenant's customer").made.address, made.address);
    });
}

#[test]
fn another_chain_is_refused_with_its_field() {
    with(Setup::default(), async |world| {
        let customer =
            NewCustomer { blockchain: Some("solana".to_owned()), ..World::customer("C-1") };
        let refused = world.wallets.provision(&world.caller(), customer, None).await;
        assert!(matches!(refused, Err(Denied::Invalid(fault)) if fault.field == "blockchain"));
        let customer =
            NewCustomer { blockchain: Some("ethereum".to_owned()), ..World::customer("C-1") };
        assert!(world.wallets.provision(&world.caller(), customer, None).await.is_ok());
    });
}

#[test]
fn kyc_required_names_the_tenants_minimum() {
    let policy = WalletPolicy { minimum_kyc: KycLevel::Enhanced, ..WalletPolicy::default() };
    with(Setup { policy, ..Setup::default() }, async |world| {
        let refused = world.wallets.provision(&world.caller(), World::customer("C-1"), None).await;
        let expected = WalletRefusal::KycRequired(KycLevel::Enhanced);
        assert!(matches!(refused, Err(Denied::Refused(Refused::Wallet(why))) if why == expected));
        let customer =
            NewCustomer { kyc_level: Some(KycLevel::Comprehensive), ..World::customer("C-1") };
        let made = world
            .wallets
            .provision(&world.caller(), customer, None)
            .await
            .expect("well known")
            .made;
        assert_eq!(made.kyc_level, KycLevel::Comprehensive);
    });
}

#[test]
fn a_wallet_is_pending_until_the_controller_exists_and_has_it_deployed() {
    with(Setup { deployed: false, ..Setup::default() }, async |world| {
        let wallet = world.wallet().await;
        assert_eq!(wallet.state, WalletState::Pending);
        world.later(Span::secs(3)).await;
        assert_eq!(world.wallet_now(wallet.id).await.state, WalletState::Pending);
        let wanted = world.store.intents_for(TENANT, TENANT.0).await.expect("readable");
        assert!(
            matches!(&wanted[..], [intent] if intent.kind() == IntentKind::Deploy),
            "{wanted:?}"
        );
        world.chain.deployed.store(true, Ordering::SeqCst);
        world.later(Span::secs(3)).await;
        assert_eq!(world.wallet_now(wallet.id).await.state, WalletState::Active);
    });
}

#[test]
fn a_silent_chain_makes_wallets_pending_not_impossible() {
    with(Setup::default(), async |world| {
        world.chain.silent.store(true, Ordering::SeqCst);
        let wallet = world.wallet().await;
        assert_eq!(wallet.state, WalletState::Pending);
        world.chain.silent.store(false, Ordering::SeqCst);
        world.later(Span::secs(3)).await;
        assert_eq!(world.wallet_now(wallet.id).await.state, WalletState::Active);
    });
}

#[test]
fn the_same_idempotency_key_gets_the_same_wallet_and_another_body_is_refused() {
    with(Setup::default(), async |world| {
        let key = IdempotencyKey {
            scope: "POST /v1/sdk/wallets/provision".to_owned(),
            key: "k".to_owned(),
        };
        let once = Idempotency { key, body_hash: [1; 32] };
        let caller = world.caller();
        let provision = async |idempotency: Idempotency| {
            world.wallets.provision(&caller, World::customer("C-1"), Some(idempotency)).await
        };
        let first = provision(once.clone()).await.expect("new");
        let second = provision(once.clone()).await.expect("the same");
        assert_eq!((first.replayed, second.replayed, first.made.id), (false, true, second.made.id));
        let other = provision(Idempotency { body_hash: [2; 32], ..once }).await;
        assert!(matches!(other, Err(Denied::Refused(Refused::IdempotencyMismatch))));
    });
}

#[test]
fn a_foreign_wallet_answers_like_an_unknown_one() {
    with(Setup::default(), async |world| {
        let wallet = world.wallet().await;
        let page = Page { page: 0, limit: 20 };
        for (caller, id) in [
            (world.caller_of(OTHER), wallet.id),
            (world.caller(), WalletId(Uuid::from_u128(0x4000_8000_0000_0000_ffff))),
        ] {
            let wallets = &world.wallets;
            assert!(matches!(wallets.find(&caller, id).await, Err(Denied::NotFound("wallet_id"))));
            assert!(matches!(
                wallets.unblock(&caller, id, None, "test", None).await,
                Err(Denied::NotFound("wallet_id"))
            ));
            assert!(matches!(
                wallets.transactions(&caller, id, None, page).await,
                Err(Denied::NotFound("wallet_id"))
            ));
            assert!(matches!(
                wallets.list_requests(&caller, id, None, page).await,
                Err(Denied::NotFound("wallet_id"))
            ));
        }
    });
}

#[test]
fn a_new_wallet_has_zero_balances_and_no_value() {
    with(Setup::default(), async |world| {
        let wallet = world.wallet().await;
        let (found, held) = world.wallets.find(&world.caller(), wallet.id).await.expect("there");
        assert_eq!(found, wallet);
        let lines: Vec<_> =
            held.iter().map(|it| (it.coin.currency(), it.minor, it.available_minor)).collect();
        assert_eq!(lines, [(Currency::Usdc, 0, 0), (Currency::Usdt, 0, 0)]);
        let nothing = (Some(Money::new(0, Currency::Usd)), Some(Money::new(0, Currency::Pkr)));
        assert!(held.iter().all(|it| (it.value_usd, it.value_pkr) == nothing));
    });
}
