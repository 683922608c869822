//! Saved rows of the wallet service equal loaded and read ones.

use std::collections::BTreeSet;
use std::fmt::Debug;

use domain::chain::{
    Address, Authorization, ChainNumber, EcdsaSignature, KeyRole, Plan, TxHash, Word,
};
use domain::chain_tx::{Intent, IntentState, Mined, TxState};
use domain::currency::{Currency, StableCoin};
use domain::decimal::Decimal;
use domain::decision::IdSource;
use domain::deposit::{Decision, DepositBucket, DepositState, ReviewVerdict};
use domain::exchange::{ExchangeState, Fate, OrderFailure, Recredit};
use domain::ids::{
    AttemptId, DepositId, EventId, ExchangeId, IntentId, PaymentRequestId, RefundToId, SweepId,
    TransferId, WalletId,
};
use domain::ledger::AccountCode;
use domain::money::Money;
use domain::payment_request::{
    Asked, Received, RefundTo, RequestState, SenderDetails, SubmissionHold,
};
use domain::risk::{Assessment, Check, Hold, ReasonCode, RiskResult};
use domain::screening::Screened;
use domain::sweep::{Sweep, SweepState};
use domain::time::{Span, Timestamp};
use domain::wallet::{
    Blacklisting, Block, BlockReason, KycLevel, TriggeredBy, Wallet, WalletState,
};
use domain::wallet_event::{Aggregate, FailureReason};
use store::ExecuteError;
use store::need::{IdempotencyKey, Need};
use store::working_set::{IdempotencyRecord, Made, SignerRow, SponsoredGas, Table, WorkingSet};
use uuid::Uuid;

use crate::wallet_world::{
    COIN, SIGNER, attempt, chain_tx, credit, customer, movement, place, refund, release, sender,
    wallet, wallet_need, word,
};
use crate::world::{World, tenant_need};

/// Runs a batch that names `need` and expects exactly this row.
async fn finds<K, V>(
    world: &World,
    need: &Need,
    table: fn(&WorkingSet) -> &Table<K, V>,
    key: K,
    row: &V,
) where
    K: Eq + std::hash::Hash + Clone + Sync,
    V: Clone + PartialEq + Debug + Sync,
{
    world.execute(need, |ws, _| assert_eq!(table(ws).get(&key), Some(row))).await.expect("loaded");
}

pub async fn a_wallet_is_loaded_as_it_was_saved(world: World) {
    let tenant = world.tenant("demobank", 0).await;
    let bare = world.wallet(tenant, "C-1").await;
    let mut need = wallet_need(&bare);
    finds(&world, &need, |ws| &ws.wallets, (tenant, bare.id), &bare).await;
    assert_eq!(world.store.wallet(tenant, bare.id).await, Ok(Some(bare.clone())));
    assert_eq!(
        world.store.wallet_of_customer(tenant, "C-1", ChainNumber::FIRST).await,
        Ok(Some(bare.clone()))
    );
    assert_eq!(world.store.wallet_of_customer(tenant, "C-1", ChainNumber(2)).await, Ok(None));

    let at = bare.created_at + Span::mins(1);
    let full = Wallet {
        kyc_level: KycLevel::Enhanced,
        state: WalletState::Blacklisted,
        last_activity_at: at,
        unblocked_at: Some(at),
        unblock_reason: Some("The senders are relatives".to_owned()),
        block: Some(Block {
            reason: BlockReason::SuspiciousActivity,
            details: "\u{202e}looks \"odd\"\n".to_owned(),
            at,
            auto_unblock_at: Some(at + Span::hours(5)),
            triggered_by: TriggeredBy::Automatic,
        }),
        blacklisting: Some(Blacklisting {
            authority: "SBP".to_owned(),
            reference: "R-77".to_owned(),
            reason: "order".to_owned(),
            effective_date: at.date(),
            ordered_at: at,
            at: Some(at),
        }),
        superseded: Some(Blacklisting {
            authority: "FIA".to_owned(),
            reference: "R-76".to_owned(),
            reason: "order".to_owned(),
            effective_date: at.date(),
            ordered_at: at,
            at: None,
        }),
        chain_blacklisted: true,
        frozen_on_chain: true,
        freeze: Some(IntentId(world.store.ids().next())),
        follow_up: true,
        events: 4,
        version: 2,
        ..bare.clone()
    };
    let change = |ws: &mut WorkingSet, _: &mut dyn IdSource| {
        ws.wallets.put((tenant, full.id), full.clone());
        ws.keep();
    };
    world.execute(&need, change).await.expect("saved");
    need.wallets.clear();
    need.customers.insert((tenant, customer("C-1")));
    finds(&world, &need, |ws| &ws.wallets, (tenant, full.id), &full).await;
    finds(&world, &need, |ws| &ws.customers, (tenant, customer("C-1")), &full.id).await;
    assert_eq!(world.store.wallet(tenant, full.id).await, Ok(Some(full)));
}

pub async fn a_request_is_loaded_with_the_senders_that_are_named(world: World) {
    let tenant = world.tenant("demobank", 0).await;
    let wallet = world.wallet(tenant, "C-1").await;
    let bare = world.request(&wallet).await;
    let mut need = tenant_need(tenant);
    need.requests.insert((tenant, bare.id));
    need.senders.insert((tenant, (bare.id, 3)));
    finds(&world, &need, |ws| &ws.requests, (tenant, bare.id), &bare).await;
    let mut full = bare.clone();
    for asked in [
        Asked::Crypto { coin: StableCoin::Usdt, minor: 5 },
        Asked::Fiat {
            currency: Currency::Pkr,
            micros: 7_000_000_000,
            usdc: 25_000_000,
            usdt: 25_000_001,
        },
    ] {
        full.asked = asked;
        full.purpose = Some("family".to_owned());
        full.state = RequestState::Paid;
        full.received = Received { usdc: 25_000_000, usdt: 1 };
        full.paid_at = Some(full.created_at + Span::mins(3));
        (full.late, full.wrong_asset, full.confirming) = (true, true, 2);
        (full.held_at, full.lift) = (full.paid_at, Some(IntentId(Uuid::new_v4())));
        full.submissions += 2;
        full.submission_holds.push(SubmissionHold {
            escrow: Address([7; 20]),
            held_at: full.paid_at,
            lift: full.lift,
        });
        full.events += 1;
        full.version += 1;
        let change = |ws: &mut WorkingSet, ids: &mut dyn IdSource| {
            ws.requests.put((tenant, full.id), full.clone());
            for (number, name) in [(full.submissions - 1, "Ali"), (full.submissions, "Alia")] {
                ws.add_sender(sender(&full, (number, name), ws.now, ids), &full);
                let of = &ws.senders.get(&(tenant, full.id, number)).expect("put").details;
                assert_eq!(of.first_name.as_deref(), Some(name));
            }
            ws.keep();
        };
        world.execute(&need, change).await.expect("saved");
        finds(&world, &need, |ws| &ws.requests, (tenant, full.id), &full).await;
        assert_eq!(world.store.request(tenant, full.id).await, Ok(Some(full.clone())));
        assert_eq!(world.store.request_by_token(&full.token).await, Ok(Some(full.clone())));
    }
    let said = world.store.sender_infos(tenant, full.id).await.expect("read");
    let names: Vec<_> = said.iter().filter_map(|info| info.details.first_name.as_deref()).collect();
    assert_eq!(names, ["Ali", "Alia", "Ali", "Alia"], "in order of submission");
    assert_eq!(
        said.iter().map(|info| info.number).collect::<Vec<_>>(),
        [Some(1), Some(2), Some(3), Some(4)]
    );
    finds(&world, &need, |ws| &ws.senders, (tenant, full.id, 3), &said[2]).await;
    assert_eq!(world.store.request_by_token("pay-").await, Ok(None));
}

pub async fn refund_addresses_are_stored_per_answer(world: World) {
    let tenant = world.tenant("demobank", 0).await;
    let other = world.tenant("other", 0).await;
    let wallet = world.wallet(tenant, "C-1").await;
    let (request, quiet) = (world.request(&wallet).await, world.request(&wallet).await);
    let given = world
        .put(tenant, |ws, ids| {
            let from = sender(&request, (1, "Ali"), ws.now, ids);
            ws.add_sender(from.clone(), &request);
            let answer = |byte, evidence: Option<&str>, ids: &mut dyn IdSource| RefundTo {
                id: RefundToId(ids.next()),
                tenant,
                request: request.id,
                sender: from.id,
                to: Address([byte; 20]),
                screened: Screened {
                    score: byte,
                    evidence: evidence.map(str::to_owned),
                    list_version: "2026-11-20/ab".to_owned(),
                    stale: evidence.is_some(),
                },
                at: ws.now,
            };
            let given = [
                answer(9, None, ids),
                answer(100, Some("sample 7 \"Jane\""), ids),
                answer(9, None, ids),
            ];
            given.iter().for_each(|answer| ws.add_refund_address(answer.clone()));
            given
        })
        .await;
    assert_eq!(
        world.store.refund_addresses(tenant, request.id).await,
        Ok(given.to_vec()),
        "in order of submission"
    );
    assert_eq!(world.store.refund_addresses(tenant, quiet.id).await, Ok(Vec::new()));
    assert_eq!(
        world.store.refund_addresses(other, request.id).await,
        Ok(Vec::new()),
        "of its own tenant only"
    );
}

fn assessment(at: Timestamp) -> Assessment {
    Assessment {
        result: RiskResult::Rejected,
        score: 91,
        checks: Check::ALL.to_vec(),
        reason: ReasonCode::SanctionedName,
        hold: Some(Hold::Legal),
        list_version: "2026-11-20/ab".to_owned(),
        policy_version: "1".to_owned(),
        evidence: vec!["sample 7 \"Jane\"".to_owned()],
        decided_by: Some("amal".to_owned()),
        at,
    }
}

pub async fn a_deposit_is_loaded_as_it_was_saved(world: World) {
    let tenant = world.tenant("demobank", 0).await;
    let wallet = world.wallet(tenant, "C-1").await;
    let request = world.request(&wallet).await;
    let bare = world.deposit(&wallet, Some(&request), 100, |_| {}).await;
    let mut need = tenant_need(tenant);
    need.deposits.insert((tenant, bare.id));
    finds(&world, &need, |ws| &ws.deposits, (tenant, bare.id), &bare).await;
    let (at, mut ids) = (bare.seen_at + Span::mins(1), world.store.ids());
    let mut full = bare.clone();
    (full.place, full.lost_at) = (None, Some(u64::from(u32::MAX)));
    full.sender = SenderDetails {
        first_name: Some("Ali".to_owned()),
        last_name: Some("Example".to_owned()),
        email: Some("ali@example.com".to_owned()),
        phone_number: Some("+971501234567".to_owned()),
        custodial_provider: Some("Sample Exchange".to_owned()),
    };
    (full.state, full.state_at, full.back_to) =
        (DepositState::Refunding, at, Some(DepositState::Rejected));
    (full.pot, full.hold, full.credited_at) =
        (DepositBucket::Escrow, Some(TransferId(ids.next())), Some(at));
    (full.disputed, full.concern, full.spoiled) = (true, Some(ReasonCode::WrongAsset), true);
    (full.is_dust, full.riders) = (true, vec![DepositId(ids.next())]);
    full.assessment = Some(assessment(at));
    full.decision = Some(Decision {
        verdict: ReviewVerdict::LegalHold,
        by: "amal".to_owned(),
        note: "seen".to_owned(),
        at,
    });
    (full.release, full.release_tx) = (Some(IntentId(ids.next())), Some(TxHash(word(5))));
    (full.release_fee, full.is_deducted) = (Some(3), true);
    (full.completed_at, full.failure) = (Some(at), Some(FailureReason::ComplianceRejected));
    full.refund = Some(refund(Address([8; 20])));
    full.version = 2;
    let change = |ws: &mut WorkingSet, _: &mut dyn IdSource| {
        ws.deposits.put((tenant, full.id), full.clone());
        ws.keep();
    };
    world.execute(&need, change).await.expect("saved");
    finds(&world, &need, |ws| &ws.deposits, (tenant, full.id), &full).await;
    assert_eq!(world.store.deposit(tenant, full.id).await, Ok(Some(full)));
}

pub async fn an_exchange_order_is_loaded_with_its_attempts(world: World) {
    let tenant = world.tenant("demobank", 0).await;
    let wallet = world.wallet(tenant, "C-1").await;
    let bare = world.exchange(&wallet, |_| {}).await;
    let mut need = tenant_need(tenant);
    need.exchanges.insert((tenant, bare.id));
    finds(&world, &need, |ws| &ws.exchanges, (tenant, bare.id), &bare).await;
    let (at, mut ids) = (bare.created_at + Span::mins(1), world.store.ids());
    let mut full = bare.clone();
    (full.rate, full.payout) = (Decimal::new(279_123_456_789, 9), Money::new(1, Currency::Pkr));
    (full.priced_at, full.locked_until) = (Some(at), Some(at));
    full.bank.account_number = Some("123".to_owned());
    (full.bank.bank_code, full.bank.bic) = (Some("SCBL".to_owned()), Some("SCBLPKKX".to_owned()));
    full.bank.bank_name = Some("Sample Bank".to_owned());
    (full.fate, full.state, full.state_at) = (Fate::Fails, ExchangeState::Paying, at);
    let evidence = Some("SAMPLE S-1 Zorblax Quibbleton".to_owned());
    full.screened =
        Some(Screened { score: 90, evidence, list_version: "lists-1".to_owned(), stale: false });
    (full.debit, full.debit_tx) = (Some(IntentId(ids.next())), Some(TxHash(word(8))));
    (full.give_back, full.attempt) = (Some(IntentId(ids.next())), Some(AttemptId(ids.next())));
    (full.unclear_since, full.unclear_beyond_window) = (Some(at), true);
    (full.failure, full.came_back) = (Some(OrderFailure::RateMoved), true);
    full.recredit = Some(Recredit::Done);
    (full.settlement_reference, full.settled_at) = (Some("FT-1".to_owned()), Some(at));
    (full.events, full.version) = (1, 2);
    let tried = domain::attempt::Attempt {
        id: full.attempt.expect("set"),
        tenant,
        payment: domain::ids::PaymentId(full.id.0),
        number: 1,
        rail: domain::rail::RailId::new("pak-raast"),
        state: domain::attempt::AttemptState::Sending,
        amount: full.payout,
        charges: 0,
        sender: None,
        created_at: at,
        state_at: at,
        reason: None,
        info: None,
        bank_reference: None,
        source: None,
        booking: Some("camt.054 FT-1".to_owned()),
        sent_again: true,
    };
    let change = |ws: &mut WorkingSet, _: &mut dyn IdSource| {
        ws.exchanges.put((tenant, full.id), full.clone());
        ws.attempts.put((tenant, tried.id), tried.clone());
        ws.keep();
    };
    world.execute(&need, change).await.expect("saved");
    finds(&world, &need, |ws| &ws.exchanges, (tenant, full.id), &full).await;
    finds(&world, &need, |ws| &ws.attempts, (tenant, tried.id), &tried).await;
    assert_eq!(world.store.exchange(tenant, full.id).await, Ok(Some(full)));
}

fn sponsored_transfer() -> Plan {
    let authorization = Authorization {
        from: Address([1; 20]),
        to: Address([2; 20]),
        value: u64::MAX,
        valid_after: 0,
        valid_before: 1_800_000_000,
        nonce: Word([3; 32]),
    };
    let signature = EcdsaSignature { r: Word([4; 32]), s: Word([5; 32]), v: 28 };
    Plan::SponsoredTransfer {
        token: Address([6; 20]),
        authorization,
        signature,
        gas_limit: 130_000,
    }
}

pub async fn every_plan_of_an_intent_is_kept(world: World) {
    let tenant = world.tenant("demobank", 0).await;
    let wallet = world.wallet(tenant, "C-1").await;
    let deposit = world.deposit(&wallet, None, 1, |_| {}).await;
    let (one, two) = (Word(word(1)), Word(word(2)));
    let hold = |held| Plan::SetLegalHold { vault: Address([5; 20]), held, case: one };
    let blacklist =
        |coin| Plan::Blacklist { coin, token: Address([6; 20]), account: wallet.address };
    let plans = [
        Plan::Release(movement(3)),
        Plan::Debit(movement(5)),
        Plan::ReturnDebit { debit: one, intent: two },
        Plan::Sweep { token: Address([6; 20]), amount: 7 },
        Plan::ProposeRefund { movement: movement(4), to: Address([5; 20]) },
        Plan::CancelRefund { intent: Word([4; 32]) },
        Plan::ExecuteRefund { intent: one },
        Plan::SetFrozen { account: wallet.address, frozen: true, case: two },
        // A hold is lifted and placed again.
        hold(true),
        hold(false),
        hold(true),
        blacklist(StableCoin::Usdc),
        blacklist(StableCoin::Usdt),
        sponsored_transfer(),
        Plan::Deploy,
    ];
    let made = world
        .put(tenant, |ws, ids| {
            let made = plans.map(|plan| Intent { plan, ..release(&deposit, ws.now, ids) });
            made.iter().for_each(|intent| ws.intents.put((tenant, intent.id), intent.clone()));
            made
        })
        .await;
    let ids: Vec<IntentId> = made.iter().rev().map(|intent| intent.id).collect();
    let read = world.store.intents(tenant, &ids).await.expect("read");
    assert!(read.iter().rev().eq(&made), "in the order asked for: {read:?}");
    assert_eq!(world.store.intents_for(tenant, deposit.id.0).await, Ok(made.to_vec()));
    let mut full = made[0].clone();
    let tx = world.put(tenant, |ws, ids| chain_tx(tenant, 0, ws.now, ids)).await;
    (full.state, full.tx) = (IntentState::Assigned, Some(tx.id));
    (full.wallet, full.request, full.coin) =
        (full.wallet, Some(PaymentRequestId(Uuid::new_v4())), None);
    full.riders = vec![deposit.id];
    full.short_since = Some(full.created_at);
    (full.unchecked, full.tries, full.failure, full.version) =
        (true, 3, Some("reverted".to_owned()), 2);
    let mut need = tenant_need(tenant);
    need.intents.insert((tenant, full.id));
    let change = |ws: &mut WorkingSet, _: &mut dyn IdSource| {
        assert_eq!(ws.intents.get(&(tenant, full.id)), Some(&made[0]));
        ws.intents.put((tenant, full.id), full.clone());
        ws.keep();
    };
    world.execute(&need, change).await.expect("saved");
    finds(&world, &need, |ws| &ws.intents, (tenant, full.id), &full).await;
}

pub async fn a_sweep_is_kept_and_there_is_one_at_a_time_of_a_coin(world: World) {
    let tenant = world.tenant("demobank", 0).await;
    let begun = |coin, ws: &WorkingSet, ids: &mut dyn IdSource| Sweep {
        id: SweepId(ids.next()),
        tenant,
        chain: ChainNumber::FIRST,
        coin,
        minor: 40,
        state: SweepState::Sending,
        state_at: ws.now,
        began_at: ws.now,
        hold: TransferId(ids.next()),
        intent: IntentId(ids.next()),
        tx: None,
        token_fee: Some(0),
        version: 1,
    };
    let put = |sweep: Sweep| {
        move |ws: &mut WorkingSet, _: &mut dyn IdSource| {
            ws.sweeps.put((tenant, sweep.id), sweep.clone());
            ws.keep();
        }
    };
    let [usdc, usdt] = world
        .put(tenant, |ws, ids| {
            let made = StableCoin::ALL.map(|coin| begun(coin, ws, ids));
            made.iter().for_each(|sweep| ws.sweeps.put((tenant, sweep.id), sweep.clone()));
            made
        })
        .await;
    let mut need = tenant_need(tenant);
    need.sweeps.insert((tenant, usdc.id));
    finds(&world, &need, |ws| &ws.sweeps, (tenant, usdc.id), &usdc).await;
    assert_eq!(
        world.store.sweeps(tenant, 9).await,
        Ok(vec![usdt.clone(), usdc.clone()]),
        "the newest first"
    );
    let mut ids = world.store.ids();
    let another = Sweep { id: SweepId(ids.next()), hold: TransferId(ids.next()), ..usdc.clone() };
    let refused = world.execute(&tenant_need(tenant), put(another.clone())).await;
    assert!(refused.is_err(), "one is under way: {refused:?}");
    let done = Sweep {
        state: SweepState::Done,
        state_at: usdc.state_at + Span::mins(1),
        tx: Some(TxHash(word(6))),
        token_fee: Some(3),
        version: 2,
        ..usdc
    };
    world.execute(&need, put(done.clone())).await.expect("saved");
    finds(&world, &need, |ws| &ws.sweeps, (tenant, done.id), &done).await;
    assert_eq!(world.store.sweep(tenant, done.id).await, Ok(Some(done)));
    world.execute(&tenant_need(tenant), put(another)).await.expect("the next one");
}

pub async fn the_gas_of_sponsored_transfers_is_kept_by_chain_and_day(world: World) {
    let tenant = world.tenant("demobank", 0).await;
    let key = |chain, day| (tenant, (ChainNumber(chain), day));
    let mut need = tenant_need(tenant);
    need.sponsored_gas.extend([key(1, 20_000), key(1, 20_001), key(2, 20_000)]);
    for gas in [130_000, 260_000] {
        let spend = |ws: &mut WorkingSet, _: &mut dyn IdSource| {
            ws.sponsored_gas.put(key(1, 20_000), SponsoredGas { gas });
            ws.keep();
        };
        world.execute(&need, spend).await.expect("saved");
        finds(&world, &need, |ws| &ws.sponsored_gas, key(1, 20_000), &SponsoredGas { gas }).await;
    }
    let others = |ws: &mut WorkingSet, _: &mut dyn IdSource| {
        assert_eq!(ws.sponsored_gas.get(&key(1, 20_001)), None);
        assert_eq!(ws.sponsored_gas.get(&key(2, 20_000)), None);
    };
    world.execute(&need, others).await.expect("loaded");
}

pub async fn a_transaction_keeps_all_that_was_signed(world: World) {
    let tenant = world.tenant("demobank", 0).await;
    let bare = world
        .put(tenant, |ws, ids| {
            let tx = chain_tx(tenant, 0, ws.now, ids);
            ws.signers.put(
                (tenant, (ChainNumber::FIRST, SIGNER)),
                SignerRow { role: KeyRole::Operator, next_nonce: 1 },
            );
            ws.chain_txs.put((tenant, tx.id), tx.clone());
            tx
        })
        .await;
    let mut need = tenant_need(tenant);
    need.chain_txs.insert((tenant, bare.id));
    need.signers.insert((tenant, (ChainNumber::FIRST, SIGNER)));
    finds(&world, &need, |ws| &ws.chain_txs, (tenant, bare.id), &bare).await;
    let mut full = bare.clone();
    for number in 1..=3 {
        full.attempts.push(attempt(number, 70 + u64::from(number.unsigned_abs()), full.created_at));
        (full.state, full.cancel_wanted, full.paged) = (TxState::Broadcast, true, true);
        full.version += 1;
        let change = |ws: &mut WorkingSet, _: &mut dyn IdSource| {
            let next =
                ws.signers.get(&(tenant, (ChainNumber::FIRST, SIGNER))).expect("loaded").next_nonce
                    + 1;
            ws.signers.put(
                (tenant, (ChainNumber::FIRST, SIGNER)),
                SignerRow { role: KeyRole::Operator, next_nonce: next },
            );
            ws.chain_txs.put((tenant, full.id), full.clone());
            ws.keep();
        };
        world.execute(&need, change).await.expect("saved");
        finds(&world, &need, |ws| &ws.chain_txs, (tenant, full.id), &full).await;
    }
    let operator = SignerRow { role: KeyRole::Operator, next_nonce: 4 };
    finds(&world, &need, |ws| &ws.signers, (tenant, (ChainNumber::FIRST, SIGNER)), &operator).await;
    let failed = vec![IntentId(Uuid::new_v4())];
    full.intents = [failed.as_slice(), &[IntentId(Uuid::new_v4())]].concat();
    full.mined = Some(Mined { place: place(9), attempt: 2, succeeded: true, failed });
    (full.settled, full.state) = (full.mined.clone(), TxState::Succeeded);
    full.version += 1;
    let change = |ws: &mut WorkingSet, _: &mut dyn IdSource| {
        ws.chain_txs.put((tenant, full.id), full.clone());
        ws.keep();
    };
    world.execute(&need, change).await.expect("saved");
    assert_eq!(world.store.chain_tx(tenant, full.id).await, Ok(Some(full.clone())));
    let forget = |ws: &mut WorkingSet, _: &mut dyn IdSource| {
        let mut forgetful = full.clone();
        forgetful.attempts.remove(0);
        forgetful.version += 1;
        ws.chain_txs.put((tenant, full.id), forgetful);
        ws.keep();
    };
    let refused = world.execute(&need, forget).await;
    assert!(
        matches!(refused, Err(ExecuteError::Corrupt(_))),
        "signed attempts are immutable: {refused:?}"
    );
}

pub async fn accounts_of_vaults_are_loaded_by_name(world: World) {
    let tenant = world.tenant("demobank", 0).await;
    let (one, two) = (world.wallet(tenant, "C-1").await, world.wallet(tenant, "C-2").await);
    let code = |wallet: &Wallet| AccountCode::Wallet(wallet.id, StableCoin::Usdc);
    world
        .put(tenant, |ws, ids| {
            let transfers = [&one, &two].map(|wallet| {
                credit(tenant, code(wallet), 5 * COIN, "deposit.credit", ws.now, ids)
            });
            ws.book(transfers.to_vec()).expect("booked");
        })
        .await;
    let mut need = tenant_need(tenant);
    need.accounts.insert((tenant, code(&one)));
    let seen = |ws: &mut WorkingSet, _: &mut dyn IdSource| {
        assert_eq!(ws.account(tenant, &code(&one)).balance().minor, 5 * COIN);
        assert!(ws.accounts.get(&(tenant, code(&two))).is_none(), "not named, not loaded");
        assert_eq!(
            ws.account(tenant, &AccountCode::External(StableCoin::Usdc)).balance().minor,
            -10 * COIN
        );
    };
    world.execute(&need, seen).await.expect("loaded");
    let unseen = |ws: &mut WorkingSet, ids: &mut dyn IdSource| {
        ws.book(vec![credit(tenant, code(&two), COIN, "deposit.credit", ws.now, ids)])
            .expect("booked");
        ws.keep();
    };
    assert_eq!(
        world.execute(&need, unseen).await,
        Err(ExecuteError::Contended),
        "nothing is booked blindly"
    );
    let [usdc, usdt] = world.store.wallet_accounts(tenant, two.id).await.expect("read");
    assert_eq!((usdc.balance().minor, usdt.balance().minor), (5 * COIN, 0));
    assert_eq!((usdc.code, usdt.code), (code(&two), AccountCode::Wallet(two.id, StableCoin::Usdt)));
    assert_eq!(world.store.verify_books(tenant).await, Ok(Vec::new()));
}

pub async fn records_of_idempotency_keys_are_stored(world: World) {
    let tenant = world.tenant("demobank", 0).await;
    let id = Uuid::new_v4();
    let made = [
        Made::Wallet(WalletId(id)),
        Made::Request(PaymentRequestId(id)),
        Made::Exchange(ExchangeId(id)),
        Made::Deposit(DepositId(id)),
        Made::Event(EventId(id)),
    ];
    let key =
        |at: usize| (tenant, IdempotencyKey { scope: "POST".to_owned(), key: at.to_string() });
    let need = Need {
        idempotency: (0..made.len()).map(key).collect::<BTreeSet<_>>(),
        ..tenant_need(tenant)
    };
    let put = |ws: &mut WorkingSet, _: &mut dyn IdSource| {
        for (at, made) in made.into_iter().enumerate() {
            ws.idempotency.put(key(at), IdempotencyRecord { body_hash: [3; 32], made, at: ws.now });
        }
        ws.keep();
    };
    world.execute(&need, put).await.expect("saved");
    let seen = |ws: &mut WorkingSet, _: &mut dyn IdSource| {
        let found = (0..made.len()).map(|at| ws.idempotency.get(&key(at)).expect("loaded").made);
        assert!(found.eq(made));
    };
    world.execute(&need, seen).await.expect("loaded");
}

pub async fn foreign_wallet_things_are_not_found(world: World) {
    let (one, two) = (world.tenant("one", 0).await, world.tenant("two", 0).await);
    let wallet = world.wallet(one, "C-1").await;
    let request = world.request(&wallet).await;
    let deposit = world.deposit(&wallet, Some(&request), 1, |_| {}).await;
    let order = world.exchange(&wallet, |_| {}).await;
    let tx = world
        .put(one, |ws, ids| {
            let mut tx = chain_tx(one, 0, ws.now, ids);
            tx.attempts.push(attempt(1, 71, ws.now));
            ws.chain_txs.put((one, tx.id), tx.clone());
            ws.add_sender(sender(&request, (1, "Ali"), ws.now, ids), &request);
            tx
        })
        .await;
    let store = &world.store;
    assert_eq!(store.wallet(two, wallet.id).await, Ok(None));
    assert_eq!(store.wallet_of_customer(two, "C-1", ChainNumber::FIRST).await, Ok(None));
    assert_eq!(store.request(two, request.id).await, Ok(None));
    assert_eq!(store.sender_infos(two, request.id).await, Ok(Vec::new()));
    assert_eq!(store.deposit(two, deposit.id).await, Ok(None));
    assert_eq!(store.deposits_of_request(two, request.id).await, Ok(Vec::new()));
    assert_eq!(store.exchange(two, order.id).await, Ok(None));
    assert_eq!(store.chain_tx(two, tx.id).await, Ok(None));
    assert_eq!(store.undelivered(two, Aggregate::Request(request.id)).await, Ok(Vec::new()));
    let mut need = tenant_need(two);
    need.wallets.insert((two, wallet.id));
    need.customers.insert((two, customer("C-1")));
    need.requests.insert((two, request.id));
    need.senders.insert((two, (request.id, 1)));
    need.deposits.insert((two, deposit.id));
    need.exchanges.insert((two, order.id));
    need.chain_txs.insert((two, tx.id));
    let seen = |ws: &mut WorkingSet, _: &mut dyn IdSource| {
        assert!(ws.wallets.all().next().is_none() && ws.customers.all().next().is_none());
        assert!(ws.requests.all().next().is_none() && ws.senders.all().next().is_none());
        assert!(ws.deposits.all().next().is_none() && ws.exchanges.all().next().is_none());
        assert!(ws.chain_txs.all().next().is_none());
    };
    world.execute(&need, seen).await.expect("loaded");
    // Customers of different tenants may have the same name.
    world.wallet(two, "C-1").await;
}

pub async fn a_command_sees_every_row_once(world: World) {
    let tenant = world.tenant("demobank", 0).await;
    let (first, second) = (world.wallet(tenant, "C-1").await, world.wallet(tenant, "C-2").await);
    let mut need = wallet_need(&first);
    need.wallets.insert((tenant, second.id));
    let seen = |ws: &mut WorkingSet, ids: &mut dyn IdSource| {
        let put = |ws: &mut WorkingSet, wallet: &Wallet, events| {
            ws.wallets.put((tenant, wallet.id), Wallet { events, ..wallet.clone() });
        };
        put(ws, &first, 1);
        ws.keep();
        put(ws, &first, 2);
        put(ws, &wallet(tenant, "C-3", ws.now, ids), 3);
        let mut events: Vec<i64> = ws.wallets.all().map(|(_, wallet)| wallet.events).collect();
        events.sort_unstable();
        assert_eq!(events, [0, 2, 3]);
        ws.discard();
        assert_eq!(ws.wallets.all().count(), 2);
        ws.wallets = Table::default();
    };
    world.execute(&need, seen).await.expect("loaded");
    assert_eq!(
        world.store.wallet(tenant, second.id).await.map(|it| it.map(|it: Wallet| it.events)),
        Ok(Some(0))
    );
}
