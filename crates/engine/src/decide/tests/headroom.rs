//! A sender's usage of a rail is counted where an attempt begins, whatever was read when the rail
//! was selected.

use domain::attempt::Attempt;
use domain::chain::Plan;
use domain::chain_tx::{Intent, IntentState};
use domain::country::Country;
use domain::ids::{IntentId, QuoteId};
use domain::job::{Job, JobKind};
use domain::ledger::{AccountCode, Transfer, TransferKind};
use domain::payment::{Payment, PaymentSnapshot, PaymentState, ReviewState};
use domain::policy::{RailConfig, RailKind};
use domain::quote::Charge;
use domain::rail::Submission;
use domain::rail_text::CharacterSet;
use domain::screening::Screened;
use domain::sender_limit::{Sender, SenderLimits, SenderUsage, UsageKey};
use jiff::tz::TimeZone;

use super::*;
use crate::command::PaymentAction;

const AMOUNT: i64 = 40;

fn egp(minor: i64) -> Money {
    Money::new(minor, Currency::Egp)
}

/// A rail that pays up to 100 a day and 1000 a month per sender.
pub(super) fn rail() -> RailConfig {
    RailConfig {
        id: RailId::new("egy-ipn"),
        country: Country::Egy,
        kind: RailKind::Instant,
        enabled: true,
        min: egp(1),
        max: egp(100),
        sender_limits: Some(SenderLimits {
            daily_max: Some(egp(100)),
            monthly_max: Some(egp(1_000)),
            zone: TimeZone::UTC,
        }),
        cost_minor: 0,
        hours: None,
        needs: BTreeSet::new(),
        banks: BTreeSet::new(),
        duplicate_detection: false,
        window: Span::mins(15),
        retryable_reasons: BTreeSet::new(),
        duplicate_reasons: BTreeSet::new(),
        max_batch: 1,
        character_set: CharacterSet::SwiftX,
        purpose: None,
        recalls: None,
        verify_account: domain::account_check::AccountChecks::Off,
    }
}

pub(crate) fn payment(number: u128) -> Payment {
    let coin = |minor| Money::new(minor, Currency::Usdt);
    Payment {
        id: PaymentId(Uuid::from_u128(number)),
        tenant: TENANT,
        country: Country::Egy,
        quote: QuoteId(Uuid::from_u128(number + 50)),
        external_id: None,
        amount: egp(AMOUNT),
        base: Money::new(1, Currency::Aed),
        charge: Charge { amount: coin(1), premium: coin(0), cost: coin(0) },
        remainder: egp(0),
        hold: TransferId(Uuid::from_u128(number + 70)),
        accepted_at: NOW,
        standing: PaymentSnapshot {
            state: PaymentState::Queued,
            state_at: NOW,
            msg: None,
            bank_reference: None,
            recall: None,
        },
        version: 1,
        review: ReviewState::NotNeeded,
        screened: Screened { score: 0, evidence: None, list_version: "1".to_owned(), stale: false },
        unclear_since: None,
        settled_at: None,
        attempt: None,
        recall: None,
    }
}

/// A batch with `payments` queued, each with its job under fence 1.
pub(super) fn batch(payments: &[Payment]) -> WorkingSet {
    let mut ws = WorkingSet::new(NOW);
    for payment in payments {
        let (tenant, subject, kind) = (TENANT, payment.id.0, JobKind::Submit);
        let leased_until = Some(NOW + Span::secs(60));
        let job = Job {
            tenant,
            subject,
            kind,
            run_at: NOW - Span::secs(1),
            fence: 1,
            leased_until,
            tries: 7,
        };
        ws.jobs.load((TENANT, subject), Some(job));
        ws.payments.load((TENANT, payment.id), payment.clone());
        let transfer = Transfer {
            id: payment.hold,
            tenant,
            debit: AccountCode::Prefund(StableCoin::Usdt),
            credit: AccountCode::InTransit(StableCoin::Usdt),
            amount: Money::new(1, Currency::Usdt),
            kind: TransferKind::Pending,
            pending: None,
            set: payment.hold,
            reason: "payment.reserve",
            subject: Some(subject),
            at: NOW,
        };
        let top_up =
            Transfer { debit: AccountCode::External(StableCoin::Usdt), ..transfer.clone() };
        let credit = AccountCode::Prefund(StableCoin::Usdt);
        let top_up =
            Transfer { credit, kind: TransferKind::Posted, reason: "prefund.top_up", ..top_up };
        ws.book(vec![top_up, transfer]).expect("booked");
        ws.keep();
    }
    ws
}

pub(super) fn run(
    ws: &mut WorkingSet,
    payment: &Payment,
    action: PaymentAction,
    rails: Vec<RailConfig>,
) -> Outcome {
    let first_id = 1_000 + payment.id.0.as_u128() * 100;
    run_action(ws, Action::Payment(payment.id, action), rails, first_id)
}

fn run_action(
    ws: &mut WorkingSet,
    action: Action,
    rails: Vec<RailConfig>,
    first_id: u128,
) -> Outcome {
    let corridors = Corridors {
        corridors: BTreeMap::new(),
        rails,
        relations: BTreeSet::new(),
        submit_deadline: Span::mins(30),
        return_window: Span::days(90),
        recall_answer_window: Span::days(15),
        recall_money_window: Span::days(5),
    };
    let directory = BankDirectory::default();
    let rules = Rules { corridors: &corridors, directory: &directory, wallet: None };
    decide(ws, &Command { tenant: TENANT, action }, rules, &mut Ids(first_id))
}

fn usage_key(customer: &str) -> UsageKey {
    rail().usage_key(Sender::of_customer(TENANT, customer), NOW).expect("it counts")
}

fn begin(ws: &mut WorkingSet, payment: &Payment, usage_key: Option<UsageKey>) -> Outcome {
    run(
        ws,
        payment,
        PaymentAction::BeginAttempt { fence: 1, rail: rail().id, usage_key },
        vec![rail()],
    )
}

/// Returns the attempt that began.
pub(super) fn begun(outcome: Outcome) -> Attempt {
    let Outcome::Began(attempt) = outcome else { panic!("{outcome:?}") };
    *attempt
}

/// No attempt began; the payment is unchanged and selects a rail at once, with no attempt counted.
fn looks_again(ws: &WorkingSet, payment: &Payment, outcome: &Outcome) {
    assert!(matches!(outcome, Outcome::Done), "{outcome:?}");
    assert_eq!(ws.payments.get(&(TENANT, payment.id)), Some(payment));
    let job = ws.jobs.get(&(TENANT, payment.id.0)).cloned().flatten().expect("it goes on");
    let soon = NOW + Span::secs(1);
    assert_eq!(
        (job.kind, job.run_at, job.leased_until, job.tries),
        (JobKind::Submit, soon, None, 7)
    );
    assert!(ws.attempts.all().all(|(_, attempt)| attempt.payment != payment.id));
}

#[test]
fn payments_of_one_sender_in_one_batch_share_the_headroom() {
    let payments = [1, 2, 3, 4].map(payment);
    let mut ws = batch(&payments);
    let mine = Some(usage_key("C-1"));
    let first = begun(begin(&mut ws, &payments[0], mine.clone()));
    assert_eq!(first.sender, Some(usage_key("C-1").sender));
    begun(begin(&mut ws, &payments[1], mine.clone()));
    let third = begin(&mut ws, &payments[2], mine.clone());
    looks_again(&ws, &payments[2], &third);
    // Another sender has headroom of their own.
    begun(begin(&mut ws, &payments[3], Some(usage_key("C-2"))));
    // An attempt that certainly was not sent returns its headroom to the third payment.
    let answer = Submission::NotSent("connection refused".to_owned());
    let refused = PaymentAction::Submitted { attempt: first.id, answer };
    assert!(matches!(run(&mut ws, &payments[0], refused, vec![rail()]), Outcome::Done));
    begun(begin(&mut ws, &payments[2], mine));
}

#[test]
fn usage_before_the_batch_counts() {
    for (spent, has_room) in [
        (SenderUsage { day: 60, month: 60 }, true),
        (SenderUsage { day: 61, month: 61 }, false),
        (SenderUsage { day: 0, month: 960 }, true),
        (SenderUsage { day: 0, month: 961 }, false),
    ] {
        let payment = payment(1);
        let mut ws = batch(std::slice::from_ref(&payment));
        ws.usage_by_rail.load((TENANT, usage_key("C-1")), spent);
        let outcome = begin(&mut ws, &payment, Some(usage_key("C-1")));
        if has_room {
            begun(outcome);
        } else {
            looks_again(&ws, &payment, &outcome);
        }
    }
}

#[test]
fn stale_or_missing_usage_is_read_again() {
    let payment = payment(1);
    let yesterday = rail().usage_key(usage_key("C-1").sender, NOW - Span::days(1));
    let elsewhere = Some(UsageKey { rail: RailId::new("egy-ach"), ..usage_key("C-1") });
    for seen in [None, yesterday, elsewhere] {
        let mut ws = batch(std::slice::from_ref(&payment));
        let outcome = begin(&mut ws, &payment, seen);
        looks_again(&ws, &payment, &outcome);
    }
}

#[test]
fn a_rail_without_limits_counts_no_usage() {
    let payment = payment(1);
    let mut ws = batch(std::slice::from_ref(&payment));
    let free = RailConfig { sender_limits: None, ..rail() };
    let action = PaymentAction::BeginAttempt {
        fence: 1,
        rail: rail().id,
        usage_key: Some(usage_key("C-1")),
    };
    assert_eq!(begun(run(&mut ws, &payment, action, vec![free])).sender, None);
}

#[test]
fn a_payment_that_is_past_routing_keeps_its_job() {
    let mut processing = payment(1);
    processing.standing.state = PaymentState::Processing;
    let mut ws = batch(std::slice::from_ref(&processing));
    let before = ws.jobs.get(&(TENANT, processing.id.0)).cloned();
    let outcome = begin(&mut ws, &processing, None);
    assert!(matches!(outcome, Outcome::Refused(Refused::Stale(_))), "{outcome:?}");
    assert_eq!(ws.jobs.get(&(TENANT, processing.id.0)).cloned(), before);
}

/// The rail was selected for the amount before it was priced.
#[test]
fn a_payout_that_its_price_takes_out_of_the_rails_limits_selects_a_rail_again() {
    let (wallet, debit) = (wallet(), IntentId(Uuid::from_u128(8)));
    let order = ExchangeOrder {
        state: ExchangeState::Debited,
        priced_at: None,
        debit: Some(debit),
        attempt: None,
        unclear_since: None,
        ..order(&wallet)
    };
    let paid = Intent {
        state: IntentState::Done,
        ..Intent::new(debit, TENANT, wallet.chain, order.id.0, Plan::Deploy, NOW)
    };
    let pkr = |minor| Money::new(minor, Currency::Pkr);
    let up_to = |max: i64| RailConfig {
        id: RailId::new("pak-raast"),
        country: Country::Pak,
        min: pkr(1),
        max: pkr(max),
        sender_limits: None,
        ..rail()
    };
    let job = Job {
        tenant: TENANT,
        subject: order.id.0,
        kind: JobKind::Payout,
        run_at: NOW - Span::secs(1),
        fence: 1,
        leased_until: Some(NOW + Span::secs(60)),
        tries: 3,
    };
    let (key, id) = (OrderKey::of(&order), order.id);
    let mut ws = WorkingSet::new(NOW);
    ws.jobs.load((TENANT, id.0), Some(job));
    ws.wallets.load((TENANT, wallet.id), wallet);
    ws.intents.load((TENANT, debit), paid);
    ws.exchanges.load((TENANT, id), order);
    let begin = |ws: &mut WorkingSet, max| {
        let action = ExchangeAction::BeginPayout {
            fence: 1,
            rail: RailId::new("pak-raast"),
            usage_key: None,
            mid: Decimal::new(27_950, 2),
        };
        run_action(ws, Action::Exchange(key.clone(), action), vec![up_to(max)], 2_000)
    };
    let outcome = begin(&mut ws, 27_735);
    assert!(matches!(&outcome, Outcome::Exchange(_)), "{outcome:?}");
    let now = ws.exchanges.get(&(TENANT, id)).cloned().expect("there");
    // The next selection is made for the amount that is now fixed.
    assert_eq!((now.state, now.payout), (ExchangeState::Debited, pkr(27_810)));
    let job = ws.jobs.get(&(TENANT, id.0)).cloned().flatten().expect("it goes on");
    assert_eq!((job.kind, job.leased_until, job.tries), (JobKind::Payout, None, 3));
    ws.jobs.put((TENANT, id.0), Some(Job { leased_until: Some(NOW + Span::secs(60)), ..job }));
    assert_eq!(begun(begin(&mut ws, 27_810)).amount, pkr(27_810));
}
