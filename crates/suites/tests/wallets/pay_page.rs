//! The data of a payment link's page.

use domain::chain::{Address, BlockHash, ChainLog, LogEvent, Receipt, TxHash};
use domain::deposit::DepositState;
use domain::ids::SenderInfoId;
use domain::payment_request::SenderDetails;
use domain::payment_request::refund_to::ANSWERS_MAX;
use domain::screening::Verdict;
use domain::time::Span;
use domain::wallet::BlacklistOrder;
use engine::wallets::{Answered, Denied, Found};

use crate::outside::{CONTROLLER, LISTED};
use crate::world::{COIN, Setup, TENANT, USDC, with};

#[test]
fn a_page_shows_the_request_and_its_payments_progress() {
    with(Setup::default(), async |world| {
        let wallet = world.wallet().await;
        let request = world.request(&wallet, COIN).await;
        let page = world.wallets.pay_page(&request.token).await.expect("there");
        assert_eq!((page.request, page.tenant.id, page.closed), (request.clone(), TENANT, false));
        assert!(page.arrivals.is_empty() && page.senders.is_empty());

        let said = world
            .wallets
            .submit_sender(&request.token, SenderDetails::default(), None)
            .await
            .expect("there");
        let seen = world
            .found_at(
                world.vault(&request, Some(&said)),
                domain::chain::Address([1; 20]),
                USDC,
                COIN,
            )
            .await;
        let page = world.wallets.pay_page(&request.token).await.expect("there");
        assert_eq!(page.senders.len(), 1);
        assert_eq!(
            page.arrivals.iter().map(|it| it.confirmations).collect::<Vec<_>>(),
            [Some((1, 3))]
        );
        world.counted(seen).await;
        let page = world.wallets.pay_page(&request.token).await.expect("there");
        assert_eq!(page.arrivals.iter().map(|it| it.confirmations).collect::<Vec<_>>(), [None]);
    });
}

#[test]
fn a_deposit_belongs_to_the_submission_whose_address_was_paid() {
    with(Setup::default(), async |world| {
        let wallet = world.wallet().await;
        let request = world.request(&wallet, COIN).await;
        let named = |name: &str| SenderDetails {
            first_name: Some(name.to_owned()),
            ..SenderDetails::default()
        };
        let mut said = Vec::new();
        for name in ["One", "Two"] {
            said.push(
                world
                    .wallets
                    .submit_sender(&request.token, named(name), None)
                    .await
                    .expect("there"),
            );
            world.clock.pass(Span::secs(1));
        }
        let seen = world
            .found_at(world.vault(&request, Some(&said[0])), Address([1; 20]), USDC, COIN)
            .await;
        world.clock.pass(Span::secs(1));
        let unnamed = world.found(&request, Address([1; 20]), USDC, COIN).await;
        world.wallets.submit_sender(&request.token, named("Three"), None).await.expect("there");
        assert_eq!((seen.sender, seen.submission), (named("One"), Some(1)));
        assert_eq!((unnamed.sender, unnamed.submission), (SenderDetails::default(), None));
        let page = world.wallets.pay_page(&request.token).await.expect("there");
        let is_of = |at: usize| {
            page.arrivals.iter().map(|it| page.senders[at].may_be_of(&it.deposit)).collect()
        };
        let own: [Vec<bool>; 3] = [is_of(0), is_of(1), is_of(2)];
        assert_eq!(own, [vec![true, false], vec![false, false], vec![false, false]]);
        let kept = world.store.sender_infos(TENANT, request.id).await.expect("readable");
        assert_eq!(kept.len(), 3, "each submission is a separate row");
    });
}

#[test]
fn a_blacklisted_wallets_page_is_closed_and_an_unknown_link_is_not_found() {
    with(Setup::default(), async |world| {
        let wallet = world.wallet().await;
        let request = world.request(&wallet, COIN).await;
        let order = BlacklistOrder {
            authority: "FIA".to_owned(),
            reference: "R-1".to_owned(),
            reason: "court".to_owned(),
            effective_date: jiff::civil::date(2026, 1, 1),
        };
        world
            .wallets
            .blacklist(&world.caller(), wallet.id, order, "test", None)
            .await
            .expect("may be");
        assert!(world.wallets.pay_page(&request.token).await.expect("there").closed);
        let unknown = world.wallets.submit_sender("nonsense", SenderDetails::default(), None).await;
        assert!(matches!(unknown, Err(Denied::NotFound(_))));
    });
}

/// A transaction in block 1 that pays an amount to an address.
fn paid(event: LogEvent, succeeded: bool) -> Receipt {
    let (tx, block) = (TxHash([7; 32]), BlockHash([1; 32]));
    let log = ChainLog {
        block_number: 1,
        block,
        tx,
        log_index: 0,
        ordinal: 0,
        contract: Address([3; 20]),
        event,
    };
    Receipt {
        tx,
        block_number: 1,
        block,
        succeeded,
        gas_used: 50_000,
        logs: vec![log],
        refusals: vec![],
        executed: Vec::new(),
    }
}

#[test]
fn a_senders_transaction_is_looked_up_for_this_request_only() {
    with(Setup::default(), async |world| {
        let wallet = world.wallet().await;
        let request = world.request(&wallet, COIN).await;
        let said = world
            .wallets
            .submit_sender(&request.token, SenderDetails::default(), None)
            .await
            .expect("there");
        let another =
            world.wallets.submit_sender(&request.token, SenderDetails::default(), None).await;
        let (shown, another) =
            (said.escrow.expect("has one"), another.expect("there").escrow.expect("has one"));
        let page = world.wallets.pay_page(&request.token).await.expect("there");
        let (from, to, value) = (Address([9; 20]), request.escrow, 25_000_000);
        let elsewhere = Address([8; 20]);
        let find = async |receipt: Option<Receipt>| {
            let receipts = receipt.map(|receipt| (receipt.tx, receipt)).into_iter().collect();
            *world.chain.receipts.lock().expect("not poisoned") = receipts;
            world
                .wallets
                .find_payment(&page, page.senders.first(), TxHash([7; 32]))
                .await
                .expect("looked up")
        };
        for (receipt, found) in [
            (None, Found::NotYet),
            (
                Some(paid(LogEvent::Transfer { from, to, value }, true)),
                Found::Confirming(Some((1, 3))),
            ),
            (
                Some(paid(LogEvent::Transfer { from, to: shown, value }, true)),
                Found::Confirming(Some((1, 3))),
            ),
            (Some(paid(LogEvent::Transfer { from, to: another, value }, true)), Found::Elsewhere),
            (Some(paid(LogEvent::Transfer { from, to, value: 0 }, true)), Found::Elsewhere),
            (Some(paid(LogEvent::Transfer { from, to: elsewhere, value }, true)), Found::Elsewhere),
            (
                Some(paid(LogEvent::UnsupportedTransfer { from, to, value }, true)),
                Found::OtherToken,
            ),
            (
                Some(paid(LogEvent::UnsupportedTransfer { from, to: elsewhere, value }, true)),
                Found::Elsewhere,
            ),
            (Some(paid(LogEvent::Transfer { from, to, value }, false)), Found::Reverted),
        ] {
            assert_eq!(find(receipt.clone()).await, found, "{receipt:?}");
        }
        world.chain.silent.store(true, std::sync::atomic::Ordering::SeqCst);
        assert_eq!(find(None).await, Found::Unclear);
        let seen = world.found(&request, from, USDC, COIN).await;
        let page = world.wallets.pay_page(&request.token).await.expect("there");
        let known = world.wallets.find_payment(&page, None, seen.tx).await;
        assert_eq!(known.expect("looked up"), Found::Known, "without asking the chain");
    });
}

#[test]
fn refund_addresses_are_screened_and_stored_up_to_a_limit() {
    with(Setup::default(), async |world| {
        let wallet = world.wallet().await;
        let request = world.request(&wallet, COIN).await;
        let early =
            world.wallets.submit_sender(&request.token, SenderDetails::default(), None).await;
        let early = early.expect("there").id;
        let answer =
            async |sender, to| world.wallets.answer_where_back(&request.token, sender, to).await;
        let own = |byte| Address([byte; 20]);
        assert_eq!(
            answer(early, own(1)).await.expect("there"),
            Answered::NotAsked,
            "no deposit yet"
        );
        let deposit = world.pay_by(&request, "Edgar", "Evil", own(0x99), COIN).await;
        world.work().await;
        assert_eq!(world.deposit_now(deposit.id).await.state, DepositState::LegalHold);
        assert_eq!(
            answer(early, own(1)).await.expect("there"),
            Answered::NotAsked,
            "another sender's deposit"
        );
        let sender = world.wallets.pay_page(&request.token).await.expect("there").senders[1].id;
        for ours in [request.escrow, wallet.address, CONTROLLER, wallet.implementation, own(0)] {
            assert_eq!(answer(sender, ours).await.expect("there"), Answered::Unusable, "{ours}");
        }
        let stranger = answer(SenderInfoId(uuid::Uuid::nil()), own(1)).await;
        assert!(matches!(stranger, Err(Denied::NotFound(_))), "{stranger:?}");
        world.chain.blacklisted.lock().expect("not poisoned").insert(own(2));
        for to in [own(1), LISTED, own(2)] {
            assert_eq!(answer(sender, to).await.expect("there"), Answered::Kept, "{to}");
            assert_eq!(
                answer(sender, to).await.expect("there"),
                Answered::Kept,
                "the same again is one answer"
            );
        }
        world.chain.silent.store(true, std::sync::atomic::Ordering::SeqCst);
        assert_eq!(
            answer(sender, own(3)).await.expect("there"),
            Answered::Kept,
            "by the lists alone"
        );
        let given = world.store.refund_addresses(TENANT, request.id).await.expect("readable");
        let found: Vec<_> = given.iter().map(|it| (it.to, it.screened.verdict())).collect();
        let (clean, hit) = (Verdict::Clean, Verdict::Hit);
        assert_eq!(found, [(own(1), clean), (LISTED, hit), (own(2), hit), (own(3), clean)]);
        assert!(
            given[2].screened.evidence.as_deref().is_some_and(|it| it.contains("blacklist")),
            "{given:?}"
        );
        for byte in 4..u8::try_from(ANSWERS_MAX).expect("few") {
            assert_eq!(answer(sender, own(0x80 + byte)).await.expect("there"), Answered::Kept);
        }
        assert_eq!(answer(sender, own(0x77)).await.expect("there"), Answered::NotAsked);
        assert_eq!(
            world.store.refund_addresses(TENANT, request.id).await.expect("readable").len(),
            ANSWERS_MAX
        );
    });
}
