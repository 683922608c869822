//! Rules of wallets, one test per rule.

use jiff::civil::{Date, date};
use proptest::prelude::*;
use uuid::Uuid;

use super::WalletState::{Active, Blacklisted, Blocked, Pending};
use super::*;
use crate::chain::vault::{self, VaultKind};
use crate::chain::{IntentKind, Plan};
use crate::chain_tx::{Intent, IntentState};
use crate::currency::StableCoin;
use crate::decision::{Cx, JobChange};
use crate::ids::WalletId;
use crate::job::JobKind;
use crate::test_values::{TENANT, monday, new_wallet};
use crate::time::Span;
use crate::wallet_effects::{AlertKind, WalletEffects};
use crate::wallet_event::{Aggregate, WalletEvent};

const WALLET: WalletId = WalletId(Uuid::from_u128(0xb1));
const OTHER: WalletId = WalletId(Uuid::from_u128(0xb2));

fn asked() -> Provision {
    new_wallet(WALLET)
}

fn wallet() -> Wallet {
    provision(asked(), KycLevel::Basic, None, monday()).expect("a wallet").0
}

/// A wallet in `state`, with the steps that lead there.
fn wallet_in(state: WalletState) -> Wallet {
    match state {
        Pending => {
            provision(Provision { deployed: false, ..asked() }, KycLevel::Basic, None, monday())
                .expect("made")
                .0
        }
        Active => wallet(),
        Blocked => {
            let mut wallet = wallet();
            wallet.block(manual(None), monday()).expect("active");
            wallet
        }
        Blacklisted => {
            let mut wallet = wallet();
            wallet.blacklist(order("R-0", monday().date()), monday()).expect("active");
            wallet
        }
    }
}

fn manual(auto_unblock_hours: Option<i64>) -> BlockOrder {
    BlockOrder {
        reason: BlockReason::SuspiciousActivity,
        details: "odd".to_owned(),
        auto_unblock_hours,
        triggered_by: TriggeredBy::Manual,
    }
}

fn automatic() -> BlockOrder {
    BlockOrder { triggered_by: TriggeredBy::Automatic, ..manual(None) }
}

fn order(reference: &str, effective_date: Date) -> BlacklistOrder {
    BlacklistOrder {
        authority: "FIA".to_owned(),
        reference: reference.to_owned(),
        reason: "court".to_owned(),
        effective_date,
    }
}

fn job(effects: &WalletEffects) -> JobChange {
    match &effects.jobs[..] {
        [(subject, change)] if *subject == WALLET.0 => *change,
        other => panic!("{other:?}"),
    }
}

fn due(at: Timestamp) -> JobChange {
    JobChange::Set(JobKind::WalletTimer, at)
}

#[test]
fn provisioning_computes_an_address_that_pays_the_controller_only() {
    let (wallet, effects) = provision(asked(), KycLevel::Basic, None, monday()).expect("a wallet");
    assert_eq!((wallet.state, wallet.kyc_level), (Active, KycLevel::Basic), "BASIC by default");
    let reference = vault::reference(VaultKind::Wallet, TENANT, WALLET.0);
    let expected =
        vault::address(&Address([1; 20]), &Address([2; 20]), &Address([1; 20]), &reference);
    assert_eq!(wallet.address, expected);
    assert_eq!(effects, WalletEffects::default());
}

#[test]
fn a_wallet_is_pending_only_until_the_controller_is_deployed() {
    let asked = Provision { deployed: false, ..asked() };
    let (mut wallet, effects) =
        provision(asked, KycLevel::Basic, None, monday()).expect("a wallet");
    assert_eq!((wallet.state, job(&effects)), (Pending, due(monday())));
    let effects = wallet.chain_ready(monday());
    assert_eq!((wallet.state, job(&effects)), (Active, due(monday())));
}

#[test]
fn refusals_to_provision_come_in_their_order() {
    let basic = Provision { kyc_level: Some(KycLevel::Basic), ..asked() };
    let refused = provision(basic.clone(), KycLevel::Enhanced, Some(OTHER), monday());
    assert_eq!(refused.map(drop), Err(WalletRefusal::KycRequired(KycLevel::Enhanced)));
    assert_eq!(
        provision(basic, KycLevel::Basic, Some(OTHER), monday()).map(drop),
        Err(WalletRefusal::Exists(OTHER))
    );
    let enhanced = Provision { kyc_level: Some(KycLevel::Enhanced), ..asked() };
    assert!(provision(enhanced, KycLevel::Enhanced, None, monday()).is_ok());
}

#[test]
fn block_is_from_active_and_pending_unblock_from_blocked_blacklist_from_all_but_itself() {
    for state in WalletState::ALL {
        let refused = Err(WalletRefusal::Conflict(state));
        let block = wallet_in(state).block(manual(None), monday()).map(drop);
        assert_eq!(
            block,
            if matches!(state, Active | Pending) { Ok(()) } else { refused.clone() },
            "block {state:?}"
        );
        let unblock = wallet_in(state).unblock(monday()).map(drop);
        assert_eq!(
            unblock,
            if state == Blocked { Ok(()) } else { refused.clone() },
            "unblock {state:?}"
        );
        let blacklist =
            wallet_in(state).blacklist(order("R-9", monday().date()), monday()).map(drop);
        assert_eq!(
            blacklist,
            if state == Blacklisted { refused } else { Ok(()) },
            "blacklist {state:?}"
        );
    }
}

#[test]
fn the_risk_system_blocks_only_unfrozen_wallets() {
    for state in WalletState::ALL {
        let mut wallet = wallet_in(state);
        let before = wallet.clone();
        let effects = wallet.block(automatic(), monday()).expect("never a conflict");
        if matches!(state, Active | Pending) {
            let Some(WalletEvent::WalletBlocked { triggered_by, .. }) =
                effects.events.first().map(|new| &new.event)
            else {
                panic!("{effects:?}")
            };
            assert_eq!((*triggered_by, wallet.state), (TriggeredBy::Automatic, Blocked));
        } else {
            assert_eq!((wallet, effects), (before, WalletEffects::default()));
        }
    }
}

#[test]
fn a_block_notifies_the_bank_and_ends_after_auto_unblock_hours() {
    let mut wallet = wallet();
    let effects = wallet.block(manual(Some(24)), monday()).expect("active");
    let [new] = &effects.events[..] else { panic!("{effects:?}") };
    assert_eq!((new.aggregate, new.version), (Aggregate::Wallet(WALLET), 1));
    let end = monday() + Span::hours(24);
    assert_eq!(
        new.event,
        WalletEvent::WalletBlocked {
            wallet: WALLET,
            customer: "C-1".to_owned(),
            reason: BlockReason::SuspiciousActivity,
            details: "odd".to_owned(),
            at: monday(),
            auto_unblock_at: Some(end),
            triggered_by: TriggeredBy::Manual,
            deposit: None,
        }
    );
    assert_eq!(job(&effects), due(monday()), "its dependents follow first");
    let seen = wallet.clone();
    assert_eq!(job(&wallet.followed_up(&seen, monday())), due(end));
    assert_eq!(job(&wallet.time_passed(end - Span::millis(1))), due(end));
    assert_eq!(wallet.state, Blocked);
    let effects = wallet.time_passed(end);
    assert_eq!((wallet.state, wallet.unblocked_at, effects.events.len()), (Active, Some(end), 0));
    assert_eq!(optional(&effects), [unblocked(None, end, TriggeredBy::Automatic)]);
    let seen = wallet.clone();
    assert_eq!(job(&wallet.followed_up(&seen, end)), JobChange::Done);
    wallet.block(manual(None), end).expect("active again");
    assert_eq!(wallet.events, 2, "the numbering of events continues");
}

#[test]
fn an_order_in_force_blacklists_at_once_and_its_repetition_changes_nothing() {
    let mut wallet = wallet_in(Blocked);
    let effects =
        wallet.blacklist(order("R-1", monday().date()), monday()).expect("allowed").expect("new");
    assert_eq!((wallet.state, effects.events.len()), (Blacklisted, 0));
    let before = wallet.clone();
    assert_eq!(
        wallet.blacklist(order("R-1", date(2030, 1, 1)), monday() + Span::days(1)),
        Ok(None)
    );
    assert_eq!(wallet, before);
    let other = wallet.blacklist(order("R-2", monday().date()), monday());
    assert_eq!(other, Err(WalletRefusal::Conflict(Blacklisted)));
}

fn optional(effects: &WalletEffects) -> Vec<WalletEvent> {
    assert!(effects.optional.iter().all(|new| new.aggregate == Aggregate::Wallet(WALLET)));
    effects.optional.iter().map(|new| new.event.clone()).collect()
}

fn unblocked(reason: Option<&str>, at: Timestamp, triggered_by: TriggeredBy) -> WalletEvent {
    let reason = reason.map(str::to_owned);
    WalletEvent::WalletUnblocked {
        wallet: WALLET,
        customer: "C-1".to_owned(),
        reason,
        at,
        triggered_by,
    }
}

fn blacklisted(effective_date: jiff::civil::Date, at: Option<Timestamp>) -> WalletEvent {
    let order = order("R-1", effective_date);
    WalletEvent::WalletBlacklisted {
        wallet: WALLET,
        customer: "C-1".to_owned(),
        authority: order.authority,
        reference: order.reference,
        effective_date,
        at,
    }
}

#[test]
fn unblock_and_blacklisting_are_reported_to_subscribers() {
    let mut wallet = wallet();
    wallet.block(manual(None), monday()).expect("active");
    let effects = wallet.unblock_because(Some("relatives".to_owned()), monday()).expect("blocked");
    assert_eq!(optional(&effects), [unblocked(Some("relatives"), monday(), TriggeredBy::Manual)]);
    assert_eq!((effects.events, wallet.unblock_reason.as_deref()), (Vec::new(), Some("relatives")));
    let today = monday().date();
    let effects = wallet.blacklist(order("R-1", today), monday()).expect("allowed").expect("new");
    assert_eq!(
        (optional(&effects), effects.events),
        (vec![blacklisted(today, Some(monday()))], Vec::new())
    );
    assert_eq!(wallet.blacklist(order("R-1", today), monday()), Ok(None), "reported once");
}

#[test]
fn an_order_for_a_wallet_whose_chain_is_not_in_use_blocks_now_and_blacklists_with_the_chain() {
    let mut wallet = wallet();
    let today = monday().date();
    let ordered = wallet.blacklist_with_chain(order("R-1", today), monday()).expect("allowed");
    assert_eq!((wallet.state, ordered.expect("new").jobs.len()), (Blocked, 1));
    assert_eq!(wallet.unblock(monday()), Err(WalletRefusal::Ordered(today)));
    let second = wallet.blacklist_with_chain(order("R-2", today), monday());
    assert!(second.expect("replaces it").is_some());
    wallet.time_passed(monday());
    assert_eq!(wallet.state, Blacklisted);
}

#[test]
fn a_future_effective_date_blocks_now_and_blacklists_on_the_date() {
    let mut wallet = wallet();
    let day = date(2026, 11, 25);
    let effects = wallet.blacklist(order("R-1", day), monday()).expect("allowed").expect("new");
    assert_eq!(
        (wallet.state, effects.events.len()),
        (Blocked, 1),
        "blocked at once, and reported to the bank"
    );
    assert_eq!(optional(&effects), [blacklisted(day, None)], "the order is reported too");
    assert_eq!(wallet.unblock(monday()), Err(WalletRefusal::Ordered(day)), "the order is pending");
    assert_eq!(wallet.blacklist(order("R-1", day), monday()), Ok(None));
    assert_eq!(wallet.blacklist(order("R-2", day), monday()), Err(WalletRefusal::Ordered(day)));
    let midnight = crate::test_values::at("2026-11-25T00:00:00Z");
    let seen = wallet.clone();
    assert_eq!(job(&wallet.followed_up(&seen, monday())), due(midnight));
    wallet.time_passed(midnight - Span::millis(1));
    assert_eq!(wallet.state, Blocked);
    let effects = wallet.time_passed(midnight);
    assert_eq!(wallet.state, Blacklisted);
    assert_eq!(
        (optional(&effects), effects.events),
        (vec![blacklisted(day, Some(midnight))], Vec::new())
    );
    assert_eq!(wallet.blacklisting.as_ref().and_then(|order| order.at), Some(midnight));
}

#[test]
fn a_future_order_removes_the_automatic_end_of_a_block() {
    let mut wallet = wallet();
    wallet.block(manual(Some(1)), monday()).expect("active");
    let effects = wallet
        .blacklist(order("R-1", date(2026, 11, 25)), monday())
        .expect("allowed")
        .expect("new");
    assert_eq!(effects.events, [], "it was blocked already");
    assert_eq!(optional(&effects), [blacklisted(date(2026, 11, 25), None)]);
    wallet.time_passed(monday() + Span::hours(2));
    assert_eq!(wallet.state, Blocked);
    // Another authority's order effective today does not wait for the first order's date.
    wallet.blacklist(order("R-2", monday().date()), monday()).expect("allowed");
    assert_eq!(wallet.state, Blacklisted);
}

#[test]
fn an_order_that_another_supersedes_is_answered_as_it_was() {
    let mut wallet = wallet();
    let day = date(2026, 11, 25);
    wallet.blacklist(order("R-1", day), monday()).expect("allowed").expect("new");
    let first = wallet.clone();
    assert_eq!(first.clone().as_ordered("R-1"), first);
    wallet.blacklist(order("R-2", monday().date()), monday()).expect("allowed").expect("new");
    let second = wallet.clone();
    for reference in ["R-1", "R-2"] {
        let again = wallet.blacklist(order(reference, day), monday() + Span::hours(1));
        assert_eq!(again, Ok(None), "{reference}");
        assert_eq!(wallet, second, "{reference}");
    }
    let shown = wallet.clone().as_ordered("R-1");
    assert_eq!((shown.state, shown.blacklisting), (Blocked, first.blacklisting));
    assert_eq!(wallet.clone().as_ordered("R-2"), second);
    let third = wallet.blacklist(order("R-3", monday().date()), monday());
    assert_eq!(third, Err(WalletRefusal::Conflict(Blacklisted)));
}

#[test]
fn a_frozen_wallet_cannot_request_anything() {
    for state in WalletState::ALL {
        let refused = if state.is_frozen() { Err(WalletRefusal::Frozen(state)) } else { Ok(()) };
        assert_eq!(wallet_in(state).require_unfrozen(), refused);
    }
}

#[test]
fn the_on_chain_blacklist_flag_is_recorded_without_other_changes() {
    let mut wallet = wallet_in(Blacklisted);
    let before = wallet.clone();
    wallet.chain_says(true);
    assert_eq!(wallet, Wallet { chain_blacklisted: true, version: before.version + 1, ..before });
    let told = wallet.clone();
    wallet.chain_says(true);
    assert_eq!(wallet, told);
}

#[test]
fn a_change_during_the_follow_up_causes_another() {
    let mut wallet = wallet();
    wallet.block(manual(None), monday()).expect("active");
    let seen = wallet.clone();
    wallet.unblock(monday() + Span::secs(1)).expect("blocked");
    assert_eq!(job(&wallet.followed_up(&seen, monday())), due(monday()));
    assert!(wallet.follow_up);
}

#[test]
fn only_known_names_parse() {
    for state in WalletState::ALL {
        assert_eq!(WalletState::parse(state.name()), Some(state));
    }
    for level in KycLevel::ALL {
        assert_eq!(KycLevel::parse(level.name()), Some(level));
    }
    for reason in BlockReason::ALL {
        assert_eq!(BlockReason::parse(reason.name()), Some(reason));
    }
    for who in TriggeredBy::ALL {
        assert_eq!(TriggeredBy::parse(who.name()), Some(who));
    }
    for wrong in ["", "active", "FROZEN"] {
        assert_eq!((WalletState::parse(wrong), KycLevel::parse(wrong)), (None, None));
        assert_eq!((BlockReason::parse(wrong), TriggeredBy::parse(wrong)), (None, None));
    }
}

#[derive(Clone, Debug)]
enum Step {
    Block(bool, Option<i64>),
    Unblock,
    Blacklist(u8, i64),
    Time(i64),
    FollowUp,
    Chain(bool),
    Ready,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        (any::<bool>(), proptest::option::of(1_i64..100))
            .prop_map(|(by_risk, hours)| Step::Block(by_risk, hours)),
        Just(Step::Unblock),
        (0_u8..3, -2_i64..5).prop_map(|(reference, days)| Step::Blacklist(reference, days)),
        (0_i64..72).prop_map(Step::Time),
        Just(Step::FollowUp),
        any::<bool>().prop_map(Step::Chain),
        Just(Step::Ready),
    ];
    proptest::collection::vec(step, 0..30)
}

proptest! {
    /// Under any sequence of steps: BLACKLISTED is final; a pending check has a job; each
    /// transition to BLOCKED from an unfrozen state is exactly one event; versions have no gaps.
    #[test]
    fn the_rules_hold_on_every_walk(steps in steps()) {
        let mut wallet = wallet_in(Pending);
        let (mut now, mut job_at, mut events) = (monday(), Some(monday()), 0);
        for step in steps {
            let before = wallet.clone();
            let by_risk = |yes| if yes { TriggeredBy::Automatic } else { TriggeredBy::Manual };
            let effects = match step {
                Step::Block(risk, auto_unblock_hours) => {
                    let order = BlockOrder { auto_unblock_hours, triggered_by: by_risk(risk), ..manual(None) };
                    wallet.block(order, now).unwrap_or_default()
                }
                Step::Unblock => wallet.unblock(now).unwrap_or_default(),
                Step::Blacklist(reference, days) => {
                    let day = (now + Span::days(days)).date();
                    wallet.blacklist(order(&format!("R-{reference}"), day), now).unwrap_or_default().unwrap_or_default()
                }
                Step::Time(hours) => {
                    now = now + Span::hours(hours);
                    wallet.time_passed(now)
                }
                Step::FollowUp => {
                    let seen = wallet.clone();
                    wallet.followed_up(&seen, now)
                }
                Step::Chain(says) => {
                    wallet.chain_says(says);
                    WalletEffects::default()
                }
                Step::Ready => wallet.chain_ready(now),
            };
            if let Some((_, change)) = effects.jobs.last() {
                job_at = match change {
                    JobChange::Set(JobKind::WalletTimer, at) => Some(*at),
                    JobChange::Set(..) => panic!("a wallet has no such job"),
                    JobChange::Done => None,
                };
            }
            let entered = !before.state.is_frozen() && wallet.state == Blocked;
            prop_assert_eq!(effects.events.len(), usize::from(entered));
            for event in &effects.events {
                events += 1;
                prop_assert_eq!((event.version, event.aggregate), (events, Aggregate::Wallet(WALLET)));
            }
            prop_assert_eq!(wallet.events, events);
            prop_assert!(before.state != Blacklisted || wallet.state == Blacklisted);
            prop_assert!(before.state == Pending || wallet.state != Pending);
            prop_assert!(wallet.version > before.version || wallet == before, "a change without a new version");
            let waits = wallet.follow_up || wallet.freeze.is_some() || wallet.state == Pending || wallet.ordered_for().is_some()
                || (wallet.state == Blocked && wallet.block.as_ref().is_some_and(|b| b.auto_unblock_at.is_some()));
            prop_assert_eq!(waits, job_at.is_some(), "{:?}", wallet);
            prop_assert!(wallet.state != Blocked || wallet.block.is_some());
        }
    }
}

fn freeze_of(wallet: &mut Wallet, under_way: Option<Intent>) -> Vec<(bool, IntentState)> {
    let mut ids = crate::test_values::Ids::new();
    let (intents, effects) =
        wallet.align_freeze(under_way, &mut Cx { now: monday(), ids: &mut ids });
    let sends = intents.iter().filter(|intent| intent.state == IntentState::Waiting);
    let jobs: Vec<_> =
        effects.jobs.iter().filter(|(_, change)| *change != JobChange::Done).collect();
    assert_eq!(jobs.len(), sends.count(), "waiting intents are sent");
    let frozen = |intent: &Intent| matches!(intent.plan, Plan::SetFrozen { frozen: true, .. });
    intents.iter().map(|intent| (frozen(intent), intent.state)).collect()
}

fn intent_of(wallet: &Wallet, frozen: bool, state: IntentState) -> Intent {
    let plan = Plan::SetFrozen { account: wallet.address, frozen, case: case_of(wallet.id) };
    let id = wallet.freeze.expect("one is in progress");
    Intent { state, ..Intent::new(id, TENANT, wallet.chain, id.0, plan, monday()) }
}

#[test]
fn a_block_also_freezes_on_the_chain_and_its_end_unfreezes() {
    let mut wallet = wallet_in(Blocked);
    assert_eq!(freeze_of(&mut wallet, None), [(true, IntentState::Waiting)]);
    let under_way = intent_of(&wallet, true, IntentState::Assigned);
    assert_eq!(freeze_of(&mut wallet, Some(under_way)), [], "one at a time");
    let done = intent_of(&wallet, true, IntentState::Done);
    assert_eq!(freeze_of(&mut wallet, Some(done)), []);
    assert_eq!((wallet.frozen_on_chain, wallet.freeze), (true, None));
    wallet.unblock(monday()).expect("blocked");
    assert_eq!(freeze_of(&mut wallet, None), [(false, IntentState::Waiting)]);
    let done = intent_of(&wallet, false, IntentState::Done);
    assert_eq!(freeze_of(&mut wallet, Some(done)), []);
    assert!(!wallet.frozen_on_chain);
}

#[test]
fn an_outdated_freeze_is_withdrawn_or_undone_and_a_failed_one_is_repeated() {
    let mut wallet = wallet_in(Blocked);
    freeze_of(&mut wallet, None);
    wallet.unblock(monday()).expect("blocked");
    let mut signed = wallet.clone();
    let waiting = intent_of(&wallet, true, IntentState::Waiting);
    assert_eq!(freeze_of(&mut wallet, Some(waiting)), [(true, IntentState::Cancelled)]);
    assert_eq!(wallet.freeze, None);
    // An assigned intent may take effect: it is undone afterwards.
    let assigned = intent_of(&signed, true, IntentState::Assigned);
    assert_eq!(freeze_of(&mut signed, Some(assigned)), []);
    let done = intent_of(&signed, true, IntentState::Done);
    assert_eq!(freeze_of(&mut signed, Some(done)), [(false, IntentState::Waiting)]);

    let mut blocked = wallet_in(Blocked);
    freeze_of(&mut blocked, None);
    let failed = intent_of(&blocked, true, IntentState::Failed);
    assert_eq!(freeze_of(&mut blocked, Some(failed)), [(true, IntentState::Waiting)]);
}

#[test]
fn a_blacklisted_wallet_is_added_to_writable_blacklists_else_an_alert_is_raised() {
    let wallet = wallet_in(Blacklisted);
    let mut ids = crate::test_values::Ids::new();
    let mut cx = Cx { now: monday(), ids: &mut ids };
    let tokens = [(StableCoin::Usdc, Address([8; 20])), (StableCoin::Usdt, Address([9; 20]))];
    let (intents, effects) = wallet.blacklist_on_chain(&tokens, &mut cx);
    let kinds: Vec<_> = intents.iter().map(|intent| (intent.kind(), intent.subject)).collect();
    let expected =
        [IntentKind::BlacklistUsdc, IntentKind::BlacklistUsdt].map(|kind| (kind, WALLET.0));
    assert_eq!((kinds, effects.jobs.len(), effects.alerts.len()), (expected.to_vec(), 2, 0));
    let (intents, effects) = wallet.blacklist_on_chain(&[], &mut cx);
    assert_eq!(
        (intents, effects.alerts.first().map(|alert| alert.kind)),
        (vec![], Some(AlertKind::BlacklistByIssuer))
    );
    let (intents, effects) = wallet_in(Blocked).blacklist_on_chain(&tokens, &mut cx);
    assert_eq!((intents, effects), (vec![], WalletEffects::default()));
}
