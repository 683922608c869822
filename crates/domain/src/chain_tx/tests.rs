//! Rules of intents and transactions, one test per rule.

use proptest::prelude::*;
use uuid::Uuid;

use super::states::{IntentTrigger, Move, TxTrigger};
use super::*;
use crate::chain::{Authorization, Call, ChainNumber, EcdsaSignature, Movement, Signed, Word};
use crate::decision::JobChange;
use crate::deposit::tests::config;
use crate::job::JobKind;
use crate::test_values::{TENANT, monday};
use crate::time::Span;
use crate::wallet_effects::WalletEffects;

const SIGNER: Address = Address([5; 20]);
const FEES: Fees = Fees { max_fee: 1_000, max_priority_fee: 100 };

fn movement(number: u128) -> Movement {
    let word = |byte| Word([byte; 32]);
    let number = u8::try_from(number).expect("small");
    Movement {
        intent: word(number),
        reference: word(2),
        recipient: Address([3; 20]),
        token: Address([4; 20]),
        amount: 1,
    }
}

fn intent(number: u128) -> Intent {
    let id = IntentId(Uuid::from_u128(number));
    let (subject, plan) = (Uuid::from_u128(number), Plan::Release(movement(number)));
    Intent::new(id, TENANT, ChainNumber::FIRST, subject, plan, monday())
}

fn intent_of(kind: IntentKind) -> Intent {
    let (word, address) = (Word([1; 32]), Address([2; 20]));
    let blacklist = |coin| Plan::Blacklist { coin, token: address, account: address };
    let plan = match kind {
        IntentKind::Release => Plan::Release(movement(1)),
        IntentKind::Debit => Plan::Debit(movement(1)),
        IntentKind::ReturnDebit => Plan::ReturnDebit { debit: word, intent: word },
        IntentKind::Sweep => Plan::Sweep { token: address, amount: 1 },
        IntentKind::ProposeRefund => Plan::ProposeRefund { movement: movement(1), to: address },
        IntentKind::ExecuteRefund => Plan::ExecuteRefund { intent: word },
        IntentKind::SetFrozen => Plan::SetFrozen { account: address, frozen: true, case: word },
        IntentKind::SetLegalHold => Plan::SetLegalHold { vault: address, held: true, case: word },
        IntentKind::BlacklistUsdc => blacklist(StableCoin::Usdc),
        IntentKind::BlacklistUsdt => blacklist(StableCoin::Usdt),
        IntentKind::SponsoredTransfer => sponsored(address, word),
        IntentKind::Deploy => Plan::Deploy,
    };
    Intent { plan, ..intent(1) }
}

fn sponsored(address: Address, word: Word) -> Plan {
    let (from, to, nonce) = (address, address, word);
    let authorization =
        Authorization { from, to, value: 1, valid_after: 0, valid_before: 1, nonce };
    let signature = EcdsaSignature { r: word, s: word, v: 27 };
    Plan::SponsoredTransfer { token: address, authorization, signature, gas_limit: 1 }
}

fn taking() -> Taking {
    Taking {
        id: ChainTxId(Uuid::from_u128(0xe1)),
        tenant: TENANT,
        chain: ChainNumber::FIRST,
        role: KeyRole::Operator,
        signer: SIGNER,
        controller: Address([6; 20]),
        chain_nonce: 4,
        gas_limit: 100_000,
        fees: FEES,
    }
}

fn taken() -> (ChainTx, Vec<Intent>) {
    let mut intents = vec![intent(1), intent(2)];
    let (tx, _) = take(taking(), 0, &mut intents, monday()).expect("waiting");
    (tx, intents)
}

fn sign(tx: &mut ChainTx, cancels: bool) -> Result<WalletEffects, TxRefusal> {
    let number = u8::try_from(tx.attempts.len() + 1).expect("few");
    tx.signed(Signed { hash: TxHash([number; 32]), raw: vec![number] }, FEES, cancels, monday())
}

fn in_block(tx: &ChainTx, number: u64, failed: &[IntentId]) -> Mined {
    let byte = u8::try_from(number).expect("small");
    Mined {
        place: BlockRef { number, block: BlockHash([byte; 32]) },
        attempt: tx.attempts.last().map_or(1, |last| last.number),
        succeeded: true,
        failed: failed.to_vec(),
    }
}

fn job(effects: &WalletEffects, subject: Uuid) -> Option<JobKind> {
    effects.jobs.iter().rev().find(|(of, _)| *of == subject).and_then(|(_, change)| match change {
        JobChange::Set(kind, _) => Some(*kind),
        JobChange::Done => None,
    })
}

#[test]
fn the_nonce_is_the_higher_of_ours_and_the_chains() {
    for (next, chain, expected) in [(0, 4, 4), (4, 4, 4), (9, 4, 9), (0, 0, 0)] {
        let taking = Taking { chain_nonce: chain, ..taking() };
        let (tx, effects) = take(taking, next, &mut [intent(1)], monday()).expect("waiting");
        assert_eq!(tx.nonce, expected);
        assert_eq!(job(&effects, tx.id.0), Some(JobKind::Transmit));
    }
}

#[test]
fn intents_are_assigned_once_and_share_only_a_fitting_call() {
    let (_, mut intents) = taken();
    let refused = take(taking(), 0, &mut intents, monday());
    assert_eq!(refused.map(drop), Err(TxRefusal::Intent(IntentState::Assigned)));
    let id = IntentId(Uuid::from_u128(9));
    let deploy = Intent::new(id, TENANT, ChainNumber::FIRST, TENANT.0, Plan::Deploy, monday());
    for mut mixed in [vec![intent(1), deploy.clone()], vec![deploy.clone(), deploy.clone()], vec![]]
    {
        assert_eq!(take(taking(), 0, &mut mixed, monday()).map(drop), Err(TxRefusal::Mixed));
    }
    assert_eq!(call(&[deploy]), Some(Call::One(Plan::Deploy)));
    assert_eq!(call(&[intent(1), intent(2)]), Some(Call::Release(vec![movement(1), movement(2)])));
    let debit = intent_of(IntentKind::Debit);
    assert_eq!(call(&[debit.clone(), debit.clone()]), Some(Call::Debit(vec![movement(1); 2])));
    assert_eq!(call(&[debit, intent(1)]), None, "a release is no debit");
}

#[test]
fn each_kind_is_signed_by_its_own_key() {
    for kind in IntentKind::ALL {
        assert_eq!(intent_of(kind).kind(), kind);
        let role = match kind {
            IntentKind::Release | IntentKind::Debit | IntentKind::ReturnDebit => KeyRole::Operator,
            IntentKind::Sweep | IntentKind::SponsoredTransfer | IntentKind::Deploy => {
                KeyRole::Operator
            }
            IntentKind::ProposeRefund | IntentKind::SetFrozen | IntentKind::SetLegalHold => {
                KeyRole::Compliance
            }
            IntentKind::ExecuteRefund => KeyRole::Approver,
            IntentKind::BlacklistUsdc | IntentKind::BlacklistUsdt => KeyRole::Blacklister,
        };
        assert_eq!(kind.role(), role, "{kind:?}");
        assert_eq!(IntentKind::parse(kind.name()), Some(kind));
    }
}

#[test]
fn only_a_cancellation_is_signed_for_a_cancelled_transaction() {
    let (mut tx, _) = taken();
    tx.call_off();
    assert_eq!(sign(&mut tx, false).map(drop), Err(TxRefusal::CancelWanted));
    assert!(sign(&mut tx, true).is_ok());
    assert_eq!((tx.state, tx.attempts.len()), (TxState::Broadcast, 1));
    assert!(!tx.wants_replacement(&config(), monday()), "it is already cancelled");
}

#[test]
fn a_stuck_transaction_is_replaced_at_an_eighth_more_up_to_the_cap() {
    let cap = config().max_fee_cap;
    let most = config().most_fees();
    assert_eq!(raised(FEES, FEES, most), Some(Fees { max_fee: 1_125, max_priority_fee: 113 }));
    let market = Fees { max_fee: 5_000, max_priority_fee: 50 };
    assert_eq!(raised(FEES, market, most), Some(Fees { max_fee: 5_000, max_priority_fee: 113 }));
    assert_eq!(raised(Fees { max_fee: cap, ..FEES }, FEES, most), None);
    assert_eq!(
        raised(FEES, Fees { max_fee: u128::MAX, max_priority_fee: u128::MAX }, most)
            .map(|it| it.max_fee),
        Some(cap)
    );
    let (mut tx, _) = taken();
    sign(&mut tx, false).expect("taken");
    let later = monday() + Span::secs(30);
    assert!(!tx.wants_replacement(&config(), later - Span::millis(1)));
    assert!(tx.wants_replacement(&config(), later));
    assert_eq!(tx.page().alerts.len() + tx.page().alerts.len(), 1, "one alert is raised");
    // Its alert ends when it is mined, and another one is due if it waits again after that.
    tx.mined(in_block(&tx, 7, &[]), later);
    tx.lost(later);
    assert_eq!(tx.page().alerts.len(), 1);
}

#[test]
fn a_tip_has_a_cap_of_its_own_and_replacements_stay_possible_below_it() {
    const GWEI: u128 = 1_000_000_000;
    let most = Fees { max_fee: 200 * GWEI, max_priority_fee: 3 * GWEI };
    // A node that asks for a tip of 400 gwei, as one did (findings B, F7).
    let asked = Fees { max_fee: 440 * GWEI, max_priority_fee: 400 * GWEI };
    let mut fees = capped(asked, most);
    assert_eq!(fees, Fees { max_fee: 200 * GWEI, max_priority_fee: 3 * GWEI / 2 });
    let usual = Fees { max_fee: 20 * GWEI, max_priority_fee: GWEI };
    assert_eq!(capped(usual, most), usual);
    // It asks for the same tip when a usual transaction is replaced.
    let asked = Fees { max_fee: 20 * GWEI, ..asked };
    fees = usual;
    let mut raises = 0;
    while let Some(next) = raised(fees, asked, most) {
        assert!(next.max_priority_fee <= most.max_priority_fee && next.max_fee <= most.max_fee);
        (fees, raises) = (next, raises + 1);
    }
    assert!(raises >= 5, "{raises}");
    assert!(fees.max_priority_fee > 2 * GWEI);
}

#[test]
fn a_transaction_at_the_cap_is_cancelled_at_the_same_fees() {
    let (mut tx, _) = taken();
    sign(&mut tx, false).expect("taken");
    let most = config().most_fees();
    tx.attempts[0].fees = most;
    assert_eq!(tx.replacement_fees(FEES, &config()), None, "it is wanted: it waits");
    tx.call_off();
    assert_eq!(tx.replacement_fees(FEES, &config()), Some(most));
    sign(&mut tx, true).expect("cancelled");
    tx.attempts[1].fees = most;
    assert_eq!(tx.replacement_fees(FEES, &config()), None, "the cancellation is broadcast again");
}

#[test]
fn a_cancelled_unmined_transaction_is_replaced_at_once() {
    let (mut tx, _) = taken();
    sign(&mut tx, false).expect("taken");
    tx.call_off();
    assert!(tx.wants_replacement(&config(), monday()));
}

#[test]
fn outcomes_are_reported_once_at_depth_per_intent() {
    let (mut tx, intents) = taken();
    sign(&mut tx, false).expect("taken");
    let mined = in_block(&tx, 7, &[intents[1].id]);
    tx.mined(mined, monday());
    let (ended, effects) = tx.over(monday());
    assert_eq!(
        ended,
        [(intents[0].id, Ended::Done(TxHash([1; 32]))), (intents[1].id, Ended::Failed)]
    );
    assert_eq!((tx.state, job(&effects, tx.id.0)), (TxState::Succeeded, None));
    assert!(tx.over(monday()).0.is_empty(), "reported once");
}

#[test]
fn a_reverted_transaction_fails_all_and_a_cancellation_attempts_none() {
    for (cancels, succeeded, expected, state) in [
        (false, false, Ended::Failed, TxState::Reverted),
        (true, true, Ended::NotTried, TxState::Cancelled),
    ] {
        let (mut tx, intents) = taken();
        sign(&mut tx, cancels).expect("taken");
        tx.mined(Mined { succeeded, ..in_block(&tx, 7, &[]) }, monday());
        let (ended, _) = tx.over(monday());
        assert_eq!(ended, intents.iter().map(|intent| (intent.id, expected)).collect::<Vec<_>>());
        assert_eq!(tx.state, state);
    }
}

#[test]
fn a_reorganisation_brings_a_mined_transaction_back_to_broadcast() {
    let (mut tx, _) = taken();
    sign(&mut tx, false).expect("taken");
    tx.mined(in_block(&tx, 7, &[]), monday());
    let effects = tx.lost(monday());
    assert_eq!((tx.state, tx.mined.clone()), (TxState::Broadcast, None));
    assert_eq!((job(&effects, tx.id.0), effects.alerts.len()), (Some(JobKind::Transmit), 0));
}

#[test]
fn a_final_transaction_is_broadcast_again_and_reports_only_changes() {
    let (mut tx, intents) = taken();
    sign(&mut tx, false).expect("taken");
    tx.mined(in_block(&tx, 7, &[]), monday());
    tx.over(monday());
    let effects = tx.lost(monday());
    assert_eq!((tx.state, effects.alerts.len()), (TxState::Broadcast, 1));
    let mut same = tx.clone();
    same.mined(in_block(&same, 8, &[]), monday());
    let (ended, effects) = same.over(monday());
    assert_eq!((ended, effects.alerts.len()), (vec![], 0));
    tx.mined(in_block(&tx, 8, &[intents[0].id]), monday());
    let (ended, effects) = tx.over(monday());
    assert_eq!((ended, effects.alerts.len()), (vec![(intents[0].id, Ended::Undone)], 1));
}

#[test]
fn a_failed_transaction_that_takes_effect_after_a_reorganisation_is_reported() {
    let (mut tx, intents) = taken();
    sign(&mut tx, false).expect("taken");
    tx.mined(in_block(&tx, 7, &[intents[0].id]), monday());
    let (ended, _) = tx.over(monday());
    assert_eq!(
        ended,
        [(intents[0].id, Ended::Failed), (intents[1].id, Ended::Done(TxHash([1; 32])))]
    );
    tx.lost(monday());
    tx.mined(in_block(&tx, 8, &[]), monday());
    let (ended, effects) = tx.over(monday());
    assert_eq!(
        (ended, effects.alerts.len()),
        (vec![(intents[0].id, Ended::AfterAll(TxHash([1; 32])))], 0)
    );
}

#[test]
fn a_nonce_used_by_a_foreign_transaction_frees_the_intents_and_raises_an_alert() {
    let (mut tx, intents) = taken();
    sign(&mut tx, false).expect("taken");
    let (ended, effects) = tx.superseded(monday());
    assert_eq!(ended.len(), intents.len());
    assert!(ended.iter().all(|(_, ended)| *ended == Ended::NotTried));
    assert_eq!((tx.state, effects.alerts.len()), (TxState::Cancelled, 1));
}

#[test]
fn a_settled_transaction_whose_nonce_a_foreign_one_uses_after_a_reorganisation_is_undone() {
    let (mut tx, intents) = taken();
    sign(&mut tx, false).expect("taken");
    tx.mined(in_block(&tx, 7, &[intents[0].id]), monday());
    tx.over(monday());
    tx.lost(monday());
    let (ended, effects) = tx.superseded(monday());
    assert_eq!(ended, [(intents[1].id, Ended::Undone)], "the other one failed, and was retried");
    assert_eq!((tx.state, effects.alerts.len()), (TxState::Cancelled, 1));
}

#[test]
fn an_intent_is_retried_five_times_with_backoff_and_then_given_up() {
    let mut intent = intent(1);
    let mut waits = Vec::new();
    for tries in 1..TRIES_MAX {
        let (given_up, effects) = intent.failed("reverted", RetryPolicy::Limited, monday());
        assert!(!given_up, "{tries}");
        waits.extend(effects.jobs.iter().filter_map(|(_, change)| match change {
            JobChange::Set(JobKind::SendIntent, at) => Some(*at - monday()),
            _ => None,
        }));
    }
    assert_eq!(waits, [5, 10, 20, 40].map(Span::secs));
    let (given_up, effects) = intent.failed("reverted", RetryPolicy::Limited, monday());
    assert_eq!((given_up, intent.state), (true, IntentState::Failed));
    assert_eq!(effects.jobs, [(intent.id.0, JobChange::Done)]);
}

#[test]
fn intents_that_must_complete_are_retried_until_they_succeed() {
    for kind in IntentKind::ALL {
        let mut intent = intent_of(kind);
        let mut alerts = 0;
        for _ in 0..TRIES_MAX * 3 {
            alerts += intent.failed("reverted", RetryPolicy::Limited, monday()).1.alerts.len();
        }
        let never =
            matches!(kind, IntentKind::ReturnDebit | IntentKind::Deploy | IntentKind::SetLegalHold);
        assert_eq!(intent.state == IntentState::Waiting, never, "{kind:?}");
        assert!(!never || alerts == 3, "an alert recurs");
    }
}

#[test]
fn a_fault_that_needs_an_operator_raises_an_alert_at_once() {
    let mut intent = intent_of(IntentKind::SetLegalHold);
    let why = "no compliance key is configured";
    let (given_up, effects) = intent.failed(why, RetryPolicy::NoRetry, monday());
    assert_eq!(
        (given_up, intent.state),
        (false, IntentState::Waiting),
        "it is retried until there is one"
    );
    assert!(
        effects.alerts.iter().all(|alert| alert.what.contains(why)) && effects.alerts.len() == 1
    );
    for _ in 0..TRIES_MAX * 3 {
        assert_eq!(
            intent.failed(why, RetryPolicy::NoRetry, monday()).1.alerts,
            [],
            "the alert is already known"
        );
    }
    let other =
        intent.failed("the compliance key is another one", RetryPolicy::NoRetry, monday()).1.alerts;
    assert_eq!(other.len(), 1, "another cause");
}

#[test]
fn intents_reported_as_done_are_retried_until_they_succeed() {
    for kind in IntentKind::ALL {
        let mut intent = Intent { unchecked: true, ..intent_of(kind) };
        let alerts: Vec<_> = (0..TRIES_MAX * 3)
            .flat_map(|_| intent.failed("frozen", RetryPolicy::UntilSuccess, monday()).1.alerts)
            .collect();
        assert_eq!((intent.state, alerts.len()), (IntentState::Waiting, 3), "{kind:?}");
        assert!(
            intent.failed("frozen", RetryPolicy::NoRetry, monday()).0 != intent.is_never_given_up(),
            "{kind:?}"
        );
    }
}

#[test]
fn a_failing_return_raises_one_alert_about_its_order() {
    let order = Uuid::from_u128(0x0d);
    let mut intent = Intent { subject: order, ..intent_of(IntentKind::ReturnDebit) };
    let why = "Blacklistable: account is blacklisted";
    let alerts: Vec<_> = (0..TRIES_MAX * 3)
        .flat_map(|_| intent.failed(why, RetryPolicy::Limited, monday()).1.alerts)
        .collect();
    assert!(
        alerts.iter().all(|alert| alert.subject == order && alert.what.contains(why)),
        "{alerts:?}"
    );
    assert!(
        alerts.windows(2).all(|pair| pair[0] == pair[1]),
        "the same row, however often: {alerts:?}"
    );
}

#[test]
fn an_assigned_intent_is_not_withdrawn() {
    let (_, mut intents) = taken();
    assert!(!intents[0].withdraw(monday()).0);
    assert_eq!(intents[0].state, IntentState::Assigned);
    intents[0].not_tried(monday());
    assert!(intents[0].withdraw(monday()).0);
    assert_eq!(intents[0].state, IntentState::Cancelled);
}

#[test]
fn only_reorganisations_leave_terminal_states() {
    for state in IntentState::ALL.into_iter().filter(|state| state.is_terminal()) {
        for trigger in IntentTrigger::ALL {
            let left = matches!(state.on(trigger), Move::To(_) | Move::Alarming(_));
            let by = if state == IntentState::Done {
                IntentTrigger::Undone
            } else {
                IntentTrigger::Restored
            };
            assert_eq!(left, trigger == by, "{state:?} {trigger:?}");
        }
    }
    for state in TxState::ALL.into_iter().filter(|state| state.is_final()) {
        for trigger in TxTrigger::ALL {
            let left = matches!(state.on(trigger), Move::To(_) | Move::Alarming(_));
            assert_eq!(left, trigger == TxTrigger::Lost, "{state:?} {trigger:?}");
        }
    }
}

#[test]
fn an_undone_intent_is_retried_elsewhere() {
    let (mut tx, intents) = taken();
    sign(&mut tx, false).expect("signed");
    let mut over = |succeeded: bool| {
        let mined = Mined { succeeded, ..in_block(&tx, 7, &[]) };
        tx.mined(mined, monday());
        let (told, _) = tx.over(monday());
        tx.lost(monday());
        told
    };
    let both = |ended| intents.iter().map(|intent| (intent.id, ended)).collect::<Vec<_>>();
    assert_eq!(over(true), both(Ended::Done(TxHash([1; 32]))));
    assert_eq!(over(false), both(Ended::Undone));
    assert_eq!(
        over(true),
        both(Ended::AfterAll(TxHash([1; 32]))),
        "another transaction retries them, or they are given up"
    );
    assert_eq!(over(false), both(Ended::Undone), "once more");
}

#[test]
fn a_restored_intent_is_done_in_the_restored_transaction() {
    let (tx, intents) = taken();
    let mut given_up = intent(3);
    given_up.withdraw(monday());
    for mut restored in [intents[0].clone(), intent(3), given_up] {
        let version = restored.version;
        let effects = restored.restored(tx.id, monday());
        assert_eq!((restored.state, restored.tx), (IntentState::Done, Some(tx.id)));
        assert_eq!(effects.jobs, [(restored.id.0, JobChange::Done)]);
        assert_eq!(restored.version, version + 1);
        // Another transaction has it now.
        let other = ChainTxId(Uuid::from_u128(0xe2));
        assert!(restored.restored(other, monday()).jobs.is_empty());
        assert_eq!((restored.tx, restored.version), (Some(other), version + 2));
    }
}

#[derive(Clone, Debug)]
enum Act {
    Sign(bool),
    CallOff,
    Mine(u64, bool, bool),
    Lose,
    Over,
    Superseded,
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let act = prop_oneof![
        any::<bool>().prop_map(Act::Sign),
        Just(Act::CallOff),
        (7_u64..10, any::<bool>(), any::<bool>())
            .prop_map(|(number, succeeded, fails)| Act::Mine(number, succeeded, fails)),
        Just(Act::Lose),
        Just(Act::Over),
        Just(Act::Superseded),
    ];
    proptest::collection::vec(act, 0..40)
}

proptest! {
    /// I1 for our own transactions: under any sequence of acts, each intent's end is reported once
    /// until a reorganisation undoes it, an open transaction has a job, and attempts are
    /// append-only.
    #[test]
    fn an_outcome_is_reported_once(sequence in acts()) {
        let (mut tx, intents) = taken();
        let mut told: std::collections::BTreeMap<IntentId, bool> = std::collections::BTreeMap::new();
        let mut has_job = true;
        for act in sequence {
            let attempts = tx.attempts.len();
            let mut ended = Vec::new();
            let effects = match act {
                Act::Sign(cancels) => sign(&mut tx, cancels).unwrap_or_default(),
                Act::CallOff => { tx.call_off(); WalletEffects::default() }
                Act::Mine(number, succeeded, fails) if !tx.attempts.is_empty() => {
                    let failed = if fails { vec![intents[0].id] } else { Vec::new() };
                    let mined = Mined { succeeded, ..in_block(&tx, number, &failed) };
                    tx.mined(mined, monday())
                }
                Act::Mine(..) => WalletEffects::default(),
                Act::Lose => tx.lost(monday()),
                Act::Over => { let (all, effects) = tx.over(monday()); ended = all; effects }
                Act::Superseded => { let (all, effects) = tx.superseded(monday()); ended = all; effects }
            };
            for (subject, change) in &effects.jobs {
                if *subject == tx.id.0 {
                    has_job = matches!(change, JobChange::Set(..));
                }
            }
            for (id, how) in ended {
                let before = told.insert(id, matches!(how, Ended::Done(_) | Ended::AfterAll(_)));
                let expected = match how {
                    Ended::Undone => Some(true),
                    Ended::AfterAll(_) => Some(false),
                    Ended::Done(_) | Ended::Failed | Ended::NotTried => None,
                };
                prop_assert_eq!(before, expected, "{:?}", how);
            }
            prop_assert!(tx.attempts.len() >= attempts);
            prop_assert_eq!(has_job, !tx.state.is_final(), "{:?}", tx.state);
        }
    }
}

#[test]
fn each_chain_has_a_deployment_of_its_own() {
    let [first, second] = [ChainNumber::FIRST, ChainNumber(2)].map(|it| deploy_id(TENANT, it));
    assert_ne!(first, second);
    // As in installations that had one chain.
    let known = crate::chain::vault::hash(&[b"corridor.deploy", TENANT.0.as_bytes()]);
    assert_eq!(first.0.as_bytes()[..6], known.0[..6]);
    assert_eq!([ChainNumber::FIRST, ChainNumber(2)].map(|it| it.key("lane")), ["lane", "lane:2"]);
}
