//! Block, unblock, blacklist, and their effects on dependents.

use std::sync::atomic::Ordering;

use domain::chain::{IntentKind, Plan};
use domain::chain_tx::IntentState;
use domain::deposit::{DepositKind, DepositState};
use domain::payment_request::RequestState;
use domain::time::Span;
use domain::wallet::{
    BlacklistOrder, BlockOrder, BlockReason, TriggeredBy, Wallet, WalletRefusal, WalletState,
};
use domain::wallet_effects::AlertKind;
use domain::wallet_event::{FailureReason, WalletEvent, WalletEventKind};
use engine::command::Refused;
use engine::command::wallets::WalletAction;
use engine::command::{Action, Command};
use engine::wallets::Denied;

use crate::world::{COIN, Setup, TENANT, World, with};

fn order(hours: Option<i64>) -> BlockOrder {
    BlockOrder {
        reason: BlockReason::SuspiciousActivity,
        details: "odd".to_owned(),
        auto_unblock_hours: hours,
        triggered_by: TriggeredBy::Manual,
    }
}

fn regulator(world: &World, reference: &str, in_days: i64) -> BlacklistOrder {
    use domain::ports::Clock as _;
    BlacklistOrder {
        authority: "FIA".to_owned(),
        reference: reference.to_owned(),
        reason: "court order".to_owned(),
        effective_date: (world.clock.now() + Span::days(in_days)).date(),
    }
}

async fn block(world: &World, wallet: &Wallet, hours: Option<i64>) -> Wallet {
    world
        .wallets
        .block(&world.caller(), wallet.id, order(hours), "test", None)
        .await
        .expect("may be blocked")
        .made
}

async fn freezes(world: &World, wallet: &Wallet) -> Vec<bool> {
    let open = world.store.open_intents(TENANT, wallet.id).await.expect("readable");
    let frozen = |plan: &Plan| match plan {
        Plan::SetFrozen { frozen, .. } => Some(*frozen),
        _ => None,
    };
    open.iter()
        .filter(|intent| intent.state == IntentState::Waiting)
        .filter_map(|it| frozen(&it.plan))
        .collect()
}

#[test]
fn a_block_notifies_the_bank_freezes_on_the_chain_and_expires() {
    with(Setup::default(), async |world| {
        let wallet = world.wallet().await;
        let blocked = block(&world, &wallet, Some(2)).await;
        assert_eq!(blocked.state, WalletState::Blocked);
        world.work().await;
        assert_eq!(world.bank.kinds(), ["wallet-blocked"]);
        assert_eq!(freezes(&world, &wallet).await, [true]);
        let again =
            world.wallets.block(&world.caller(), wallet.id, order(None), "test", None).await;
        let conflict = WalletRefusal::Conflict(WalletState::Blocked);
        assert!(matches!(again, Err(Denied::Refused(Refused::Wallet(why))) if why == conflict));
        world.later(Span::secs(7_199)).await;
        assert_eq!(world.wallet_now(wallet.id).await.state, WalletState::Blocked);
        world.later(Span::secs(5)).await;
        let ended = world.wallet_now(wallet.id).await;
        assert_eq!((ended.state, ended.unblocked_at.is_some()), (WalletState::Active, true));
        world.later(Span::secs(5)).await;
        assert_eq!(
            freezes(&world, &wallet).await,
            Vec::<bool>::new(),
            "an unsent call is not reverted on the chain"
        );
    });
}

#[test]
fn a_blocked_wallet_cannot_request_payments() {
    with(Setup::default(), async |world| {
        let wallet = world.wallet().await;
        block(&world, &wallet, None).await;
        let asked = engine::wallets::NewRequestAsked {
            wallet: wallet.id,
            amount: domain::payment_request::AmountAsked::Flexible,
            purpose: None,
            recipient_name: None,
            expires_in_hours: 24,
        };
        let refused = world.wallets.create_request(&world.caller(), asked, None).await;
        let frozen = WalletRefusal::Frozen(WalletState::Blocked);
        assert!(matches!(refused, Err(Denied::Refused(Refused::Wallet(why))) if why == frozen));
    });
}

#[test]
fn a_deposit_for_a_blocked_wallet_waits_in_escrow_until_unblock_and_is_screened_then() {
    with(Setup::default(), async |world| {
        let wallet = world.wallet().await;
        let request = world.request(&wallet, 25 * COIN).await;
        block(&world, &wallet, None).await;
        world.work().await;
        let deposit = world.pay(&request, 25 * COIN).await;
        world.later(Span::secs(5)).await;
        let held = world.deposit_now(deposit.id).await;
        assert_eq!(
            (held.state, held.kind(), held.assessment),
            (DepositState::Held, DepositKind::Blocked, None)
        );
        let why = Some("The senders are relatives".to_owned());
        let unblocked = world
            .wallets
            .unblock(&world.caller(), wallet.id, why.clone(), "test", None)
            .await
            .expect("blocked");
        assert_eq!(unblocked.made.unblock_reason, why);
        let (kept, _) = world.wallets.find(&world.caller(), wallet.id).await.expect("a wallet");
        assert_eq!(kept.unblock_reason, why);
        // It explains that unblock and no other.
        block(&world, &wallet, None).await;
        let again = world
            .wallets
            .unblock(&world.caller(), wallet.id, None, "test", None)
            .await
            .expect("blocked");
        assert_eq!(again.made.unblock_reason, None);
        world.later(Span::secs(1)).await;
        let approved = world.deposit_now(deposit.id).await;
        assert_eq!(
            (approved.state, approved.kind()),
            (DepositState::Approved, DepositKind::Received)
        );
        let kinds = world.kinds().await;
        assert_eq!(
            kinds,
            [
                WalletEventKind::WalletBlocked,
                WalletEventKind::PaymentReceived,
                WalletEventKind::WalletBlocked,
                WalletEventKind::RiskCheckComplete
            ]
        );
    });
}

#[test]
fn a_deposit_that_was_being_screened_when_the_wallet_was_blocked_waits_too() {
    with(Setup::default(), async |world| {
        let wallet = world.wallet().await;
        let request = world.request(&wallet, 25 * COIN).await;
        let deposit = world.pay(&request, 25 * COIN).await;
        assert_eq!(deposit.state, DepositState::Screening);
        block(&world, &wallet, None).await;
        world.later(Span::secs(1)).await;
        assert_eq!(world.deposit_now(deposit.id).await.state, DepositState::Held);
    });
}

#[test]
fn a_blacklisted_wallet_loses_its_requests_and_its_deposits_are_rejected() {
    with(Setup::default(), async |world| {
        let wallet = world.wallet().await;
        let (waiting, unpaid) =
            (world.request(&wallet, 25 * COIN).await, world.request(&wallet, 26 * COIN).await);
        block(&world, &wallet, None).await;
        world.work().await;
        let held = world.pay(&waiting, COIN).await;
        let order = regulator(&world, "R-1", 0);
        let made = world
            .wallets
            .blacklist(&world.caller(), wallet.id, order, "test", None)
            .await
            .expect("may be")
            .made;
        assert_eq!(made.state, WalletState::Blacklisted);
        world.later(Span::secs(1)).await;
        for request in [waiting.id, unpaid.id] {
            let request =
                world.store.request(TENANT, request).await.expect("readable").expect("there");
            assert_eq!(request.state, RequestState::Cancelled);
        }
        assert_eq!(world.deposit_now(held.id).await.state, DepositState::Rejected);
        let late = world.pay(&unpaid, COIN).await;
        assert_eq!(late.state, DepositState::Rejected, "later deposits are rejected at once");
        let failed: Vec<FailureReason> = world
            .events()
            .await
            .iter()
            .filter_map(|entry| match &entry.event {
                WalletEvent::TransactionFailed { reason, .. } => Some(*reason),
                _ => None,
            })
            .collect();
        assert_eq!(failed, [FailureReason::AddressBlacklisted; 2]);
    });
}

#[test]
fn usdc_contract_blacklist_applied_reflects_the_chain() {
    with(Setup::default(), async |world| {
        let wallet = world.wallet().await;
        let order = regulator(&world, "R-1", 0);
        // Our key may write the list; the chain has not executed it within the ten seconds that the
        // answer waits.
        let made = world
            .wallets
            .blacklist(&world.caller(), wallet.id, order.clone(), "test", None)
            .await
            .expect("may be")
            .made;
        assert!(!made.chain_blacklisted);
        let intents = world.store.intents_for(TENANT, wallet.id.0).await.expect("readable");
        let kinds: Vec<IntentKind> = intents.iter().map(|intent| intent.kind()).collect();
        for kind in [IntentKind::BlacklistUsdc, IntentKind::BlacklistUsdt] {
            assert!(kinds.contains(&kind), "{kinds:?}");
        }
        world.chain.blacklisted.lock().expect("not poisoned").insert(wallet.address);
        let again = world
            .wallets
            .blacklist(&world.caller(), wallet.id, order, "test", None)
            .await
            .expect("the same order")
            .made;
        assert!(again.chain_blacklisted, "a repeat shows the current value");
        assert_eq!((again.state, again.blacklisting), (made.state, made.blacklisting));
    });
}

#[test]
fn without_a_blacklister_key_an_operator_is_alerted_and_the_flag_follows_the_chain() {
    with(Setup::default(), async |world| {
        world.keys.no_blacklister.store(true, Ordering::SeqCst);
        let wallet = world.wallet().await;
        let order = regulator(&world, "R-1", 0);
        let made = world
            .wallets
            .blacklist(&world.caller(), wallet.id, order, "test", None)
            .await
            .expect("may be")
            .made;
        assert!(!made.chain_blacklisted);
        assert_eq!(world.store.intents_for(TENANT, wallet.id.0).await.expect("readable"), []);
        let alerts = world.store.alerts(TENANT, 10).await.expect("readable");
        assert!(
            matches!(&alerts[..], [(_, alert)] if alert.kind == AlertKind::BlacklistByIssuer),
            "{alerts:?}"
        );
        let says = Action::Wallet(wallet.id, WalletAction::ChainSays { blacklisted: true });
        world.engine.execute(Command { tenant: TENANT, action: says }).await.expect("answered");
        assert!(world.wallet_now(wallet.id).await.chain_blacklisted);
    });
}

#[test]
fn a_future_effective_date_blocks_now_and_blacklists_on_the_date() {
    with(Setup::default(), async |world| {
        let wallet = world.wallet().await;
        let request = world.request(&wallet, 25 * COIN).await;
        let order = regulator(&world, "R-1", 2);
        let made = world
            .wallets
            .blacklist(&world.caller(), wallet.id, order, "test", None)
            .await
            .expect("may be")
            .made;
        assert_eq!(made.state, WalletState::Blocked);
        let refused = world.wallets.unblock(&world.caller(), wallet.id, None, "test", None).await;
        assert!(matches!(
            refused,
            Err(Denied::Refused(Refused::Wallet(WalletRefusal::Ordered(_))))
        ));
        world.later(Span::hours(24)).await;
        assert_eq!(world.wallet_now(wallet.id).await.state, WalletState::Blocked);
        assert!(world.store.intents_for(TENANT, wallet.id.0).await.expect("readable").is_empty());
        world.later(Span::hours(24)).await;
        world.later(Span::secs(5)).await;
        assert_eq!(world.wallet_now(wallet.id).await.state, WalletState::Blacklisted);
        assert_eq!(world.store.intents_for(TENANT, wallet.id.0).await.expect("readable").len(), 2);
        let request =
            world.store.request(TENANT, request.id).await.expect("readable").expect("there");
        assert_ne!(request.state, RequestState::Active);
    });
}

#[test]
fn blacklist_from_blacklisted_is_a_conflict_and_repeating_the_reference_is_not() {
    with(Setup::default(), async |world| {
        let wallet = world.wallet().await;
        let blacklist = async |reference: &str| {
            world
                .wallets
                .blacklist(
                    &world.caller(),
                    wallet.id,
                    regulator(&world, reference, 0),
                    "test",
                    None,
                )
                .await
        };
        let first = blacklist("R-1").await.expect("may be").made;
        let same = blacklist("R-1").await.expect("the same order").made;
        assert_eq!((first.blacklisting, first.version), (same.blacklisting, same.version));
        let other = blacklist("R-2").await;
        let conflict = WalletRefusal::Conflict(WalletState::Blacklisted);
        assert!(matches!(other, Err(Denied::Refused(Refused::Wallet(why))) if why == conflict));
    });
}
