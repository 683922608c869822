//! Releases that a reorganization restores after they were given up, and those that were requested
//! in their place.

use domain::chain::{
    BlockHash, Fees, IntentKind, KeyRole, Movement, Plan, TxHash, Word, intent_word,
};
use domain::chain_tx::{BlockRef, ChainTx, Intent, IntentState, Mined, TxAttempt, TxState};
use domain::deposit::arrive::Found;
use domain::deposit::{Deposit, DepositBucket, DepositState, Watched};
use domain::ids::{ChainTxId, DepositId, IntentId};
use domain::job::JobKind;
use domain::ledger::{Account, AccountCode};
use domain::payment_request::SenderDetails;
use domain::wallet_effects::AlertKind;

use super::*;
use crate::command::chain::{ChainAction, IntentKey, Subject, TxKey};
use crate::command::deposits::DepositRef;
use crate::command::exchange::OrderKey;

const OLD: IntentId = IntentId(Uuid::from_u128(0x11));
const LATER: IntentId = IntentId(Uuid::from_u128(0x12));
const OF_DUST: IntentId = IntentId(Uuid::from_u128(0x13));
const TX: ChainTxId = ChainTxId(Uuid::from_u128(0x21));
const OTHER_TX: ChainTxId = ChainTxId(Uuid::from_u128(0x22));
const MINOR: i64 = 25_000_000;
const DUST: i64 = 400_000;

fn place(number: u64) -> BlockRef {
    BlockRef { number, block: BlockHash([u8::try_from(number).expect("small"); 32]) }
}

/// A deposit that counts as released.
fn deposit(wallet: &Wallet, log: u8, minor: i64, release: IntentId) -> Deposit {
    let vault = Watched {
        address: wallet.address,
        tenant: TENANT,
        chain: wallet.chain,
        wallet: wallet.id,
        request: None,
        submission: None,
    };
    let found = Found {
        chain_id: 1,
        vault,
        coin: StableCoin::Usdc,
        minor,
        from: Address([9; 20]),
        tx: TxHash([log; 32]),
        ordinal: 0,
        place: place(3),
        paid_at: NOW,
    };
    Deposit {
        place: Some(found.place),
        state: DepositState::Completed,
        pot: DepositBucket::Wallet,
        release: Some(release),
        completed_at: Some(NOW),
        ..found.deposit(SenderDetails::default(), NOW)
    }
}

fn release(id: IntentId, of: &Deposit, riders: &[DepositId], state: IntentState) -> Intent {
    let movement = Movement {
        intent: intent_word(TENANT, id),
        reference: Word([2; 32]),
        recipient: Address([3; 20]),
        token: Address([4; 20]),
        amount: of.minor.unsigned_abs(),
    };
    let plan = Plan::Release(movement);
    Intent {
        wallet: Some(of.wallet),
        coin: Some(of.coin),
        riders: riders.to_vec(),
        state,
        tx: (state == IntentState::Assigned).then_some(OTHER_TX),
        ..Intent::new(id, TENANT, of.chain, of.id.0, plan, NOW)
    }
}

fn mined(number: u64, failed: &[IntentId]) -> Mined {
    Mined { place: place(number), attempt: 1, succeeded: true, failed: failed.to_vec() }
}

/// A transaction in a deep block that executes the old release, which it once did not.
fn tx() -> ChainTx {
    let fees = Fees { max_fee: 10, max_priority_fee: 1 };
    let attempt =
        TxAttempt { number: 1, cancels: false, hash: TxHash([8; 32]), raw: vec![1], fees, at: NOW };
    ChainTx {
        id: TX,
        tenant: TENANT,
        chain: ChainNumber::FIRST,
        role: KeyRole::Operator,
        signer: Address([5; 20]),
        controller: Address([6; 20]),
        nonce: 4,
        intents: vec![OLD],
        gas_limit: 100_000,
        fees,
        state: TxState::Mined,
        cancel_wanted: false,
        attempts: vec![attempt],
        mined: Some(mined(9, &[])),
        paged: false,
        settled: Some(mined(7, &[OLD])),
        created_at: NOW,
        state_at: NOW,
        version: 3,
    }
}

/// A deposit with dust whose old release moved both, and the releases that each has had since.
struct Released {
    ws: WorkingSet,
    ids: [DepositId; 2],
    old: Intent,
}

impl Released {
    fn with(old: IntentState, later: IntentState) -> Released {
        let wallet = wallet();
        let dust = deposit(&wallet, 21, DUST, OF_DUST);
        let main = deposit(&wallet, 20, MINOR, LATER);
        let old = release(OLD, &main, &[dust.id], old);
        let ids = [main.id, dust.id];
        let mut ws = WorkingSet::new(NOW + Span::hours(1));
        let of_dust = release(OF_DUST, &dust, &[], IntentState::Waiting);
        for intent in [old.clone(), release(LATER, &main, &[], later), of_dust] {
            ws.intents.load((TENANT, intent.id), intent);
        }
        for deposit in [main, dust] {
            ws.deposits.load((TENANT, deposit.id), deposit);
        }
        ws.wallets.load((TENANT, wallet.id), wallet);
        ws.chain_txs.load((TENANT, TX), tx());
        Released { ws, ids, old }
    }

    /// It is deep enough.
    fn over(&mut self) {
        let named = self.releases().into_iter().flatten();
        let mut key = IntentKey::of(&self.old);
        if let Subject::Deposit(of) = &mut key.subject {
            of.intents.extend([LATER, OF_DUST]);
            of.intents.extend(named);
            of.intents.sort_unstable();
            of.intents.dedup();
        }
        self.is_over(TX, key);
    }

    fn is_over(&mut self, tx: ChainTxId, key: IntentKey) {
        let action = ChainAction::Mined {
            tx: TxKey { tx, intents: vec![key] },
            mined: Box::new(mined(9, &[])),
            over: true,
            refusals: Vec::new(),
            fees: Vec::new(),
            executed: Vec::new(),
        };
        let outcome = decided(&mut self.ws, Action::Chain(action));
        assert!(matches!(outcome, Outcome::Done), "{outcome:?}");
    }

    fn alerts(&self) -> Vec<&str> {
        self.ws.raised().map(|alert| alert.what.as_str()).collect()
    }

    fn states(&self) -> [IntentState; 3] {
        [OLD, LATER, OF_DUST].map(|id| self.ws.intents.get(&(TENANT, id)).expect("loaded").state)
    }

    fn releases(&self) -> [Option<IntentId>; 2] {
        self.ids.map(|id| self.ws.deposits.get(&(TENANT, id)).expect("loaded").release)
    }

    fn tx_state(&self) -> TxState {
        self.ws.chain_txs.get(&(TENANT, TX)).expect("loaded").state
    }
}

#[test]
fn a_restored_release_is_done_and_the_later_ones_are_withdrawn() {
    use IntentState::{Cancelled, Done, Failed, Waiting};
    for given_up in [Cancelled, Failed] {
        let mut released = Released::with(given_up, Waiting);
        released.over();
        assert_eq!(released.states(), [Done, Cancelled, Cancelled], "{given_up:?}");
        assert_eq!(released.releases(), [Some(OLD); 2]);
        assert_eq!(released.tx_state(), TxState::Succeeded);
        assert_eq!(released.ws.intents.get(&(TENANT, OLD)).and_then(|it| it.tx), Some(TX));
    }
}

#[test]
fn a_restored_release_waits_until_a_sent_one_is_called_off() {
    use IntentState::{Assigned, Cancelled, Done};
    let mut released = Released::with(Cancelled, Assigned);
    released.over();
    // It is no longer its deposit's: its transaction calls it off.
    assert_eq!((released.releases(), released.tx_state()), ([Some(OLD); 2], TxState::Mined));
    assert_eq!(released.states(), [Cancelled, Assigned, Cancelled]);
    let key = (TENANT, LATER);
    let later = released.ws.intents.get(&key).cloned().expect("loaded");
    released.ws.intents.put(key, Intent { state: Cancelled, tx: None, ..later });
    released.over();
    assert_eq!(
        (released.states(), released.tx_state()),
        ([Done, Cancelled, Cancelled], TxState::Succeeded)
    );
}

#[test]
fn of_two_releases_that_took_effect_the_later_one_stays_the_deposits() {
    use IntentState::{Cancelled, Done};
    let mut released = Released::with(Cancelled, Done);
    released.over();
    assert_eq!(released.states(), [Cancelled, Done, Cancelled], "one of a deposit is done");
    assert_eq!(
        (released.releases(), released.tx_state()),
        ([Some(LATER), Some(OLD)], TxState::Succeeded)
    );
}

/// The later one is mined while the transaction of the earlier one waits for it to be called off.
#[test]
fn two_releases_that_both_took_effect_after_waiting_are_named() {
    use IntentState::{Assigned, Cancelled, Done};
    let mut released = Released::with(Cancelled, Assigned);
    released.over();
    assert!(!released.alerts().iter().any(|what| what.contains("released twice")));
    let intents = vec![LATER];
    let settled = None;
    let later = ChainTx { id: OTHER_TX, intents, settled, mined: Some(mined(9, &[])), ..tx() };
    released.ws.chain_txs.load((TENANT, OTHER_TX), later);
    let intent = released.ws.intents.get(&(TENANT, LATER)).cloned().expect("loaded");
    let mut key = IntentKey::of(&intent);
    if let Subject::Deposit(of) = &mut key.subject {
        of.intents.push(OLD);
        of.riders.push(released.ids[1]);
    }
    released.is_over(OTHER_TX, key);
    assert_eq!(released.releases()[0], Some(LATER), "it took effect");
    released.over();
    assert_eq!(released.states(), [Cancelled, Done, Cancelled]);
    assert_eq!(released.releases(), [Some(LATER), Some(OLD)]);
    assert_eq!(released.tx_state(), TxState::Succeeded);
    assert!(released.alerts().iter().any(|what| what.contains("released twice")));
}

/// Intents other than releases follow the chain, too.
#[test]
fn a_freeze_that_took_effect_after_all_is_aligned_with_the_wallet() {
    let mut released = Released::with(IntentState::Failed, IntentState::Done);
    let known = wallet();
    let plan = Plan::SetFrozen { account: known.address, frozen: true, case: Word([1; 32]) };
    released.old = Intent {
        wallet: Some(known.id),
        state: IntentState::Failed,
        ..Intent::new(OLD, TENANT, known.chain, OLD.0, plan, NOW)
    };
    released.ws.intents.put((TENANT, OLD), released.old.clone());
    released.is_over(TX, IntentKey::of(&released.old.clone()));
    assert_eq!(released.states()[0], IntentState::Done);
    let wallet = released.ws.wallets.get(&(TENANT, known.id)).expect("loaded");
    assert!(wallet.frozen_on_chain, "as on the chain, until it is lifted there");
    assert_eq!(released.alerts(), [""; 0]);
}

/// The controller does not execute an intent twice: another transaction would be refused for ever.
#[test]
fn a_restored_intent_that_is_being_retried_is_done() {
    for (state, tx) in [(IntentState::Waiting, None), (IntentState::Assigned, Some(OTHER_TX))] {
        let mut released = Released::with(IntentState::Cancelled, IntentState::Cancelled);
        released.old = Intent { state, tx, ..released.old };
        released.ws.intents.put((TENANT, OLD), released.old.clone());
        let key = (TENANT, released.ids[0]);
        let main = released.ws.deposits.get(&key).cloned().expect("loaded");
        released.ws.deposits.put(key, Deposit { release: Some(OLD), ..main });
        released.over();
        assert_eq!(released.states()[0], IntentState::Done, "{state:?}");
        // The other transaction's end changes nothing.
        let other = ChainTx { id: OTHER_TX, settled: None, ..tx_of_other() };
        released.ws.chain_txs.load((TENANT, OTHER_TX), other);
        let action = ChainAction::Mined {
            tx: TxKey { tx: OTHER_TX, intents: vec![IntentKey::of(&released.old)] },
            mined: Box::new(mined(9, &[OLD])),
            over: true,
            refusals: Vec::new(),
            fees: Vec::new(),
            executed: Vec::new(),
        };
        decided(&mut released.ws, Action::Chain(action));
        let intent = released.ws.intents.get(&(TENANT, OLD)).cloned().expect("loaded");
        assert_eq!((intent.state, intent.tx, intent.tries), (IntentState::Done, Some(TX), 0));
    }
}

fn tx_of_other() -> ChainTx {
    ChainTx { mined: Some(mined(9, &[OLD])), nonce: 5, ..tx() }
}

/// A transaction whose release is no longer its deposit's, or whose dust was lost, is called off.
#[test]
fn a_release_that_is_not_its_deposits_or_lost_its_dust_is_not_broadcast_again() {
    for (release, dust, outcome) in [(OLD, true, true), (LATER, true, false), (OLD, false, false)] {
        let mut released = Released::with(IntentState::Done, IntentState::Cancelled);
        let ids = released.ids;
        for (id, there) in ids.into_iter().zip([true, dust]) {
            let known = released.ws.deposits.get(&(TENANT, id)).cloned().expect("loaded");
            let place = known.place.filter(|_| there);
            let riders = if id == ids[0] { vec![ids[1]] } else { Vec::new() };
            let changed = Deposit { release: Some(release), riders, place, ..known };
            released.ws.deposits.put((TENANT, id), changed);
        }
        let waits = ChainTx { state: TxState::Broadcast, mined: None, ..tx() };
        released.ws.chain_txs.put((TENANT, TX), waits);
        let job = domain::job::Job {
            tenant: TENANT,
            subject: TX.0,
            kind: domain::job::JobKind::Transmit,
            run_at: NOW,
            fence: 1,
            leased_until: Some(NOW + Span::hours(2)),
            tries: 0,
        };
        released.ws.jobs.load((TENANT, TX.0), Some(job));
        let tx = TxKey { tx: TX, intents: vec![IntentKey::of(&released.old)] };
        let look = ChainAction::Look { tx, fence: 1, stuck: false, abreast: true };
        let found = decided(&mut released.ws, Action::Chain(look));
        assert_eq!(matches!(found, Outcome::Done), outcome, "{found:?}");
        assert_eq!(matches!(found, Outcome::CalledOff), !outcome, "{found:?}");
    }
}

/// Both halves of a refund, before and after it was booked: it would be paid from another deposit of
/// the escrow. The cancellation of a proposal does not wait.
#[test]
fn a_refund_whose_deposit_left_the_chain_is_neither_taken_nor_broadcast() {
    let movement = |of: &Deposit| match release(OLD, of, &[], IntentState::Waiting).plan {
        Plan::Release(movement) => movement,
        other => panic!("{other:?}"),
    };
    let word = Word([7; 32]);
    let to = Address([8; 20]);
    for (is_booked, is_there) in [(false, true), (false, false), (true, true), (true, false)] {
        for (number, is_wanted) in [(0, is_there), (1, is_there), (2, true)] {
            let wallet = wallet();
            let known = deposit(&wallet, 20, MINOR, LATER);
            let plan = match number {
                0 => Plan::ProposeRefund { movement: movement(&known), to },
                1 => Plan::ExecuteRefund { intent: word },
                _ => Plan::CancelRefund { intent: word },
            };
            let refund = domain::deposit::Refund {
                to,
                proposed_by: "ann".to_owned(),
                screened: domain::screening::Screened {
                    score: 0,
                    evidence: None,
                    list_version: "1".to_owned(),
                    stale: false,
                },
                propose: if number == 1 { LATER } else { OLD },
                proposed: number == 1,
                approved_by: None,
                screened_again: None,
                execute: (number == 1).then_some(OLD),
                tx: None,
            };
            let state = if is_booked { DepositState::Refunded } else { DepositState::Refunding };
            let place = known.place.filter(|_| is_there);
            let known = Deposit { state, place, refund: Some(refund), release: None, ..known };
            let intent = Intent { plan, ..release(OLD, &known, &[], IntentState::Waiting) };
            let key = IntentKey::of(&intent);
            let job = |subject, kind| domain::job::Job {
                tenant: TENANT,
                subject,
                kind,
                run_at: NOW,
                fence: 1,
                leased_until: Some(NOW + Span::hours(2)),
                tries: 0,
            };
            let begin = |intent: Intent, subject, kind| {
                let mut ws = WorkingSet::new(NOW + Span::hours(1));
                ws.jobs.load((TENANT, subject), Some(job(subject, kind)));
                ws.intents.load((TENANT, OLD), intent);
                ws.wallets.load((TENANT, wallet.id), wallet.clone());
                ws.deposits.load((TENANT, known.id), known.clone());
                ws
            };
            let taking = domain::chain_tx::Taking {
                id: TX,
                tenant: TENANT,
                chain: ChainNumber::FIRST,
                role: plan.kind().role(),
                signer: Address([5; 20]),
                controller: Address([6; 20]),
                chain_nonce: 0,
                gas_limit: 100_000,
                fees: Fees { max_fee: 10, max_priority_fee: 1 },
            };
            let intents = vec![(key.clone(), 1)];
            let take = ChainAction::Take { taking: Box::new(taking), intents };
            let mut ws = begin(intent.clone(), OLD.0, JobKind::SendIntent);
            let found = decided(&mut ws, Action::Chain(take));
            let what = format!("{plan:?} {state:?} {is_there}");
            assert_eq!(matches!(found, Outcome::Taken(_)), is_wanted, "{what}: {found:?}");
            let kept = ws.intents.get(&(TENANT, OLD)).expect("loaded").state;
            let expected = if is_wanted { IntentState::Assigned } else { IntentState::Waiting };
            assert_eq!(kept, expected, "{what}");
            let assigned = Intent { state: IntentState::Assigned, tx: Some(TX), ..intent };
            let mut ws = begin(assigned, TX.0, JobKind::Transmit);
            let sent = ChainTx { state: TxState::Broadcast, mined: None, settled: None, ..tx() };
            ws.chain_txs.load((TENANT, TX), sent);
            let tx = TxKey { tx: TX, intents: vec![key] };
            let look = ChainAction::Look { tx, fence: 1, stuck: false, abreast: true };
            let found = decided(&mut ws, Action::Chain(look));
            assert_eq!(matches!(found, Outcome::Done), is_wanted, "{what}: {found:?}");
        }
    }
}

/// The release of a deposit that is gone was paid by a later one, less the token's fee: so was the later
/// one's, and the wallet owes nothing.
#[test]
fn a_release_that_a_later_deposit_paid_takes_its_fee_along() {
    const FEE: i64 = 25_000;
    let wallet = wallet();
    let gone = Deposit {
        place: None,
        lost_at: Some(3),
        release_tx: Some(TxHash([8; 32])),
        release_fee: Some(FEE),
        ..deposit(&wallet, 20, MINOR, OLD)
    };
    let later = Deposit {
        state: DepositState::Approved,
        pot: DepositBucket::Suspense,
        completed_at: None,
        ..deposit(&wallet, 21, MINOR, LATER)
    };
    let mut ws = WorkingSet::new(NOW + Span::hours(1));
    let [has, lacks, suspense] = [
        AccountCode::Wallet(wallet.id, StableCoin::Usdc),
        AccountCode::Shortfall(wallet.id, StableCoin::Usdc),
        AccountCode::Suspense(StableCoin::Usdc),
    ];
    for (code, minor) in [(&has, MINOR - FEE), (&suspense, MINOR)] {
        let account = Account { credits_posted: minor, ..Account::empty(TENANT, code.clone()) };
        ws.accounts.load((TENANT, code.clone()), account);
    }
    let intent = release(LATER, &later, &[], IntentState::Waiting);
    let job = domain::job::Job {
        tenant: TENANT,
        subject: LATER.0,
        kind: domain::job::JobKind::SendIntent,
        run_at: NOW,
        fence: 1,
        leased_until: Some(NOW + Span::hours(2)),
        tries: 0,
    };
    ws.jobs.load((TENANT, LATER.0), Some(job));
    let lost = DepositRef::of(&gone, None);
    let tx = TxHash([8; 32]);
    let action = ChainAction::ReleasedBefore { intent: IntentKey::of(&intent), fence: 1, lost, tx };
    let of_gone = release(OLD, &gone, &[], IntentState::Done);
    for intent in [intent, of_gone] {
        ws.intents.load((TENANT, intent.id), intent);
    }
    ws.wallets.load((TENANT, wallet.id), wallet);
    let ids = [gone.id, later.id];
    for deposit in [gone, later] {
        ws.deposits.load((TENANT, deposit.id), deposit);
    }
    let outcome = decided(&mut ws, Action::Chain(action));
    assert!(matches!(outcome, Outcome::Done), "{outcome:?}");
    let [gone, later] = ids.map(|id| ws.deposits.get(&(TENANT, id)).expect("loaded"));
    assert_eq!((gone.state, later.state), (DepositState::Failed, DepositState::Completed));
    assert_eq!((later.release_tx, later.release_fee), (Some(tx), Some(FEE)));
    let minor = |code| ws.account(TENANT, code).balance().minor;
    assert_eq!([minor(&has), minor(&lacks), minor(&suspense)], [MINOR - FEE, 0, 0]);
}

/// It took effect before a reorganization, and does again, in its own transaction or in one that it was
/// repeated in: the token's contract has kept another fee.
#[test]
fn what_is_mined_again_is_booked_with_its_new_fee() {
    for kind in [IntentKind::Debit, IntentKind::ReturnDebit] {
        for (last, known, fee) in
            [(TX, 7, 7), (TX, 7, 9), (TX, 7, 0), (OTHER_TX, 7, 9), (OTHER_TX, 0, 9)]
        {
            let wallet = wallet();
            let of = super::order(&wallet);
            let (intent, token, amount) = (Word([1; 32]), Address([7; 20]), MINOR.unsigned_abs());
            let reference = Word([2; 32]);
            let recipient = Address([8; 20]);
            let plan = match kind {
                IntentKind::Debit => {
                    Plan::Debit(Movement { intent, reference, recipient, token, amount })
                }
                _ => Plan::ReturnDebit { debit: intent, intent },
            };
            let is_debit = kind == IntentKind::Debit;
            let order = ExchangeOrder {
                state: if is_debit { ExchangeState::Paying } else { ExchangeState::Failed },
                debit: is_debit.then_some(OLD),
                debit_tx: is_debit.then_some(TxHash([7; 32])),
                give_back: (!is_debit).then_some(OLD),
                debit_fee: Some(known),
                return_fee: Some(known),
                ..of
            };
            let done = Intent {
                wallet: Some(order.wallet),
                coin: Some(order.coin),
                state: IntentState::Done,
                tx: Some(last),
                ..Intent::new(OLD, TENANT, order.chain, order.id.0, plan, NOW)
            };
            let has = match kind {
                IntentKind::Debit => AccountCode::Unswept(order.chain, order.coin),
                _ => AccountCode::Wallet(order.wallet, order.coin),
            };
            let mut ws = WorkingSet::new(NOW + Span::hours(1));
            let account = Account { credits_posted: 100, ..Account::empty(TENANT, has.clone()) };
            ws.accounts.load((TENANT, has.clone()), account);
            ws.wallets.load((TENANT, wallet.id), wallet);
            // In a transaction of before it was executed elsewhere, it had failed.
            let before = if last == TX { &[][..] } else { &[OLD] };
            let tx = ChainTx { settled: Some(mined(7, before)), ..tx() };
            ws.chain_txs.load((TENANT, TX), tx);
            let key =
                IntentKey { subject: Subject::Order(OrderKey::of(&order)), ..IntentKey::of(&done) };
            ws.intents.load((TENANT, OLD), done);
            ws.exchanges.load((TENANT, order.id), order.clone());
            let action = ChainAction::Mined {
                tx: TxKey { tx: TX, intents: vec![key] },
                mined: Box::new(mined(9, &[])),
                over: true,
                refusals: Vec::new(),
                fees: if fee > 0 { vec![(OLD, fee)] } else { Vec::new() },
                executed: Vec::new(),
            };
            let outcome = decided(&mut ws, Action::Chain(action));
            assert!(matches!(outcome, Outcome::Done), "{outcome:?}");
            let shortfall = AccountCode::Shortfall(order.wallet, order.coin);
            let balance = |code| ws.account(TENANT, code).balance().minor;
            let held = balance(&has) + balance(&shortfall);
            assert_eq!(held, 100 + known - fee, "{kind:?} {last:?} {known} {fee}");
            let order = ws.exchanges.get(&(TENANT, order.id)).expect("loaded");
            let booked = if is_debit { order.debit_fee } else { order.return_fee };
            assert_eq!(booked, Some(fee));
            let tx = ws.chain_txs.get(&(TENANT, TX)).and_then(ChainTx::mined_hash);
            assert!(!is_debit || order.debit_tx == tx, "{:?}", order.debit_tx);
            let told = ws.raised().filter(|it| it.kind == AlertKind::TokenChanged).count();
            assert_eq!(told, usize::from(fee > 0), "{kind:?} {last:?} {known} {fee}");
        }
    }
}

/// Its transaction failed because the controller had executed the debit in another one: the order is not
/// called off, whatever happened to its wallet, until that one is found.
#[test]
fn a_debit_that_failed_because_it_was_executed_before_is_not_called_off() {
    for (is_executed, is_superseded) in [(true, false), (false, false), (true, true), (false, true)]
    {
        let mut wallet = wallet();
        if is_executed {
            wallet.state = WalletState::Blocked;
        }
        let mut ws = WorkingSet::new(NOW + Span::hours(1));
        let state = ExchangeState::Debiting;
        let order = ExchangeOrder { state, debit: Some(OLD), ..super::order(&wallet) };
        let movement = Movement {
            intent: intent_word(TENANT, OLD),
            reference: Word([2; 32]),
            recipient: Address([8; 20]),
            token: Address([7; 20]),
            amount: MINOR.unsigned_abs(),
        };
        let debit = Intent {
            wallet: Some(order.wallet),
            coin: Some(order.coin),
            state: IntentState::Assigned,
            tx: Some(TX),
            ..Intent::new(OLD, TENANT, order.chain, order.id.0, Plan::Debit(movement), NOW)
        };
        ws.wallets.load((TENANT, wallet.id), wallet);
        ws.exchanges.load((TENANT, order.id), order.clone());
        ws.intents.load((TENANT, OLD), debit.clone());
        let waits = match is_superseded {
            true => ChainTx { settled: None, mined: None, state: TxState::Broadcast, ..tx() },
            false => ChainTx { settled: None, mined: Some(mined(9, &[OLD])), ..tx() },
        };
        ws.chain_txs.load((TENANT, TX), waits);
        let executed = if is_executed { vec![OLD] } else { Vec::new() };
        let subject = Subject::Order(OrderKey::of(&order));
        let key = IntentKey { subject, ..IntentKey::of(&debit) };
        let tx = TxKey { tx: TX, intents: vec![key] };
        let action = match is_superseded {
            true => ChainAction::Superseded { tx, executed },
            false => ChainAction::Mined {
                tx,
                mined: Box::new(mined(9, &[OLD])),
                over: true,
                refusals: Vec::new(),
                fees: Vec::new(),
                executed,
            },
        };
        let outcome = decided(&mut ws, Action::Chain(action));
        assert!(matches!(outcome, Outcome::Done), "{outcome:?}");
        let intent = ws.intents.get(&(TENANT, OLD)).expect("loaded");
        let state = ws.exchanges.get(&(TENANT, order.id)).expect("loaded").state;
        let expected = match (is_executed, is_superseded) {
            (true, _) => (IntentState::Waiting, 0, ExchangeState::Debiting),
            (false, false) => (IntentState::Waiting, 1, ExchangeState::Pending),
            (false, true) => (IntentState::Waiting, 0, ExchangeState::Pending),
        };
        assert_eq!((intent.state, intent.tries, state), expected, "{is_executed} {is_superseded}");
    }
}
