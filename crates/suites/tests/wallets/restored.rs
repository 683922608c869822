//! Payments of books that were restored from a backup: banks report what these books have not sent, in
//! any order, and what has ended here.

use domain::attempt::{Attempt, AttemptState};
use domain::country::Country;
use domain::currency::{Currency, StableCoin};
use domain::decimal::Decimal;
use domain::ids::{PaymentId, QuoteId, TransferId};
use domain::job::JobKind;
use domain::ledger::Funding;
use domain::money::Money;
use domain::order::{Order, example};
use domain::payment::accept::Submission as NewPayment;
use domain::payment::{Payment, PaymentState};
use domain::policy::RailConfig;
use domain::quote::{Charge, Offer};
use domain::rail::{About, BankReport, RailId, RailStatus, ReportContent, Reports, Submission};
use domain::rail_ids::ReportIds;
use domain::screening::Screened;
use domain::time::Span;
use engine::command::{Action, Command, Outcome, PaymentAction};

use crate::executed::{booking, rail};
use crate::orders::{Reporting, said};
use crate::world::{COIN, Setup, TENANT, World, with};

const FIRST: &str = "pak-raast";
const OTHER: &str = "pak-ibft";

fn two_rails() -> Setup {
    let of = |id| RailConfig {
        id: RailId::new(id),
        retryable_reasons: ["AB08".to_owned()].into(),
        ..rail()
    };
    Setup { rails: vec![of(FIRST), of(OTHER)], ..Setup::default() }
}

fn offer() -> Offer {
    let usdt = |minor| Money::new(minor, Currency::Usdt);
    let pkr = |minor| Money::new(minor, Currency::Pkr);
    Offer {
        country: Country::Pak,
        amount: Money::new(100, Currency::Usd),
        amount_destination: pkr(27_840),
        rate: Decimal::new(27_840, 2),
        wallet_rate: Decimal::new(27_840, 2),
        coin: StableCoin::Usdt,
        charge: Charge { amount: usdt(1_000_000), premium: usdt(0), cost: usdt(0) },
        remainder: pkr(0),
        min_destination: pkr(1),
        max_destination: pkr(100_000_000),
        account: None,
        branch: None,
    }
}

async fn run(world: &World, action: Action) -> Outcome {
    world.engine.execute(Command { tenant: TENANT, action }).await.expect("answered")
}

async fn act(world: &World, payment: &Payment, action: PaymentAction) -> Outcome {
    run(world, Action::Payment(payment.id, action)).await
}

/// A queued payment.
async fn queued(world: &World) -> Payment {
    let (funding, coin, minor) = (Funding::TopUp, StableCoin::Usdt, 100 * COIN);
    let by = Box::new("test".into());
    run(world, Action::Fund { funding, coin, minor, reference: None, by }).await;
    let mut ids = world.store.ids();
    let (id, offer) = (QuoteId(ids.next()), Box::new(offer()));
    let ttl = Span::days(1);
    let quoted =
        run(world, Action::CreateQuote { id, offer, ttl, cap: None, idempotency: None }).await;
    let Outcome::Quoted(quote) = quoted else { panic!("{quoted:?}") };
    let amount = quote.expected_amount();
    let order = example::order(Country::Pak, quote.id, quote.offer.amount.currency, amount);
    let list_version = "lists-1".to_owned();
    let submission = Box::new(NewPayment {
        order: Order { account_is_iban: true, ..order.0 },
        screened: Screened { score: 0, evidence: None, list_version, stale: false },
        payment: PaymentId(ids.next()),
        hold: TransferId(ids.next()),
    });
    match run(world, Action::AcceptPayment { submission, idempotency: None }).await {
        Outcome::Accepted(payment) => *payment,
        other => panic!("{other:?}"),
    }
}

/// A worker has saved an attempt over a rail, and its call ended like this.
async fn sent(world: &World, payment: &Payment, rail: &str, answer: Submission) -> Attempt {
    let (key, lease) = ((TENANT, payment.id.0), Span::secs(1));
    let job = world.store.lease_job(key, JobKind::Submit, "test", lease).await.expect("leased");
    let (fence, rail) = (job.expect("due").fence, RailId::new(rail));
    let begun = PaymentAction::BeginAttempt { fence, rail, usage_key: None };
    let attempt = match act(world, payment, begun).await {
        Outcome::Began(attempt) => *attempt,
        other => panic!("{other:?}"),
    };
    act(world, payment, PaymentAction::Submitted { attempt: attempt.id, answer }).await;
    attempt
}

fn unsent() -> Submission {
    Submission::NotSent("no line".to_owned())
}

async fn now(world: &World, payment: &Payment) -> (Payment, Vec<Attempt>) {
    let records = world.store.records(TENANT, &[payment.id]).await.expect("readable");
    let attempts = world.store.attempts(TENANT, payment.id).await.expect("readable");
    (records.into_iter().next().expect("there").payment, attempts)
}

/// The only id that it gives is the payment's.
fn ids(payment: &Payment) -> ReportIds {
    ReportIds { end_to_end: Some(payment.id.end_to_end_id()), ..ReportIds::default() }
}

fn reports(payment: &Payment, statuses: &[RailStatus]) -> Reports {
    let report = |status: &RailStatus| {
        let reasons = match status {
            RailStatus::Rejected => vec!["AB08".to_owned()],
            _ => Vec::new(),
        };
        let said = said(status.clone(), Some(payment.amount));
        BankReport {
            about: About::One(ids(payment)),
            said: ReportContent { reasons, bank_reference: None, ..said },
        }
    };
    Reports { reports: statuses.iter().map(report).collect(), ..Reports::default() }
}

/// A bank reports it in one of two ways.
fn paid(world: &World, payment: &Payment, is_statement: bool) -> Reports {
    match is_statement {
        true => Reports {
            statements: vec![booking(world, ids(payment), payment.amount)],
            ..Reports::default()
        },
        false => reports(payment, &[RailStatus::Settled]),
    }
}

async fn takes(world: &World, rail: &str, page: &Reports) {
    assert!(world.workers.take_in(&Reporting(RailId::new(rail)), page).await);
}

/// It is held over this rail as its attempt of this number, and stays so.
async fn assert_held(world: &World, payment: &Payment, rail: &str, number: usize) {
    for _ in 0..2 {
        let (payment, attempts) = now(world, payment).await;
        assert_eq!((payment.standing.state, attempts.len()), (PaymentState::Unknown, number));
        let held = attempts.last().expect("there");
        assert!(held.is_unrecorded() && held.rail == RailId::new(rail), "{held:?}");
        assert_eq!(payment.attempt, Some(held.id));
        world.later(Span::hours(1)).await;
    }
}

#[test]
fn a_payment_that_has_ended_raises_an_alert_if_a_bank_pays_it() {
    for (is_cancelled, ends) in [(false, PaymentState::Rejected), (true, PaymentState::Reversed)] {
        for is_statement in [true, false] {
            with(Setup::default(), async |world| {
                let payment = queued(&world).await;
                if is_cancelled {
                    let by = Box::new("test".into());
                    let cancel = PaymentAction::Cancel { idempotency: None, by };
                    act(&world, &payment, cancel).await;
                }
                // No rail pays it.
                world.work().await;
                assert_eq!(now(&world, &payment).await.0.standing.state, ends);
                let page = paid(&world, &payment, is_statement);
                let mut credit = page.clone();
                credit.reports.clear();
                for entry in credit.statements.iter_mut().flat_map(|it| &mut it.entries) {
                    entry.is_credit = true;
                }
                let alerts = async || {
                    let alerts = world.store.alerts(TENANT, 9).await.expect("readable");
                    let of = |what: &str| what.starts_with("a bank pays a payment that is ");
                    let texts = alerts.into_iter().filter(|(_, it)| it.subject == payment.id.0);
                    texts.map(|(_, it)| it.what).filter(|it| of(it)).collect::<Vec<_>>()
                };
                takes(&world, FIRST, &credit).await;
                assert_eq!(alerts().await, [""; 0], "that is no payout");
                for _ in 0..2 {
                    takes(&world, OTHER, &page).await;
                    let texts = alerts().await;
                    let [text] = &texts[..] else { panic!("{is_statement} {ends:?}: {texts:?}") };
                    assert!(text.contains(&format!("is {} here", ends.name())), "{text}");
                }
                assert_eq!(now(&world, &payment).await.0.standing.state, ends);
            });
        }
    }
}

/// Its newest attempt, or one before it: the network was down when the backup was made.
#[test]
fn a_bank_that_has_what_was_not_sent_holds_the_payment() {
    for is_newest in [true, false] {
        for is_statement in [true, false] {
            with(two_rails(), async |world| {
                let payment = queued(&world).await;
                sent(&world, &payment, FIRST, unsent()).await;
                if !is_newest {
                    sent(&world, &payment, OTHER, unsent()).await;
                }
                let page = paid(&world, &payment, is_statement);
                for _ in 0..2 {
                    takes(&world, FIRST, &page).await;
                }
                assert_held(&world, &payment, FIRST, if is_newest { 2 } else { 3 }).await;
            });
        }
    }
}

/// The first rail refused it and the second one paid it, after the backup.
#[test]
fn two_banks_are_read_in_any_order() {
    for is_second_first in [true, false] {
        for is_statement in [true, false] {
            with(two_rails(), async |world| {
                let payment = queued(&world).await;
                let unclear = Submission::Indeterminate("no answer".to_owned());
                sent(&world, &payment, FIRST, unclear).await;
                let refusal = reports(&payment, &[RailStatus::Rejected]);
                let payout = paid(&world, &payment, is_statement);
                if is_second_first {
                    for _ in 0..2 {
                        takes(&world, OTHER, &payout).await;
                        let (payment, attempts) = now(&world, &payment).await;
                        let (state, made) = (payment.standing.state, attempts.len());
                        assert_eq!((state, made), (PaymentState::Queued, 1), "it may be paid");
                    }
                    takes(&world, FIRST, &refusal).await;
                } else {
                    takes(&world, FIRST, &refusal).await;
                    takes(&world, OTHER, &payout).await;
                }
                assert_held(&world, &payment, OTHER, 2).await;
            });
        }
    }
}

/// However far apart it does.
#[test]
fn a_message_that_rejects_and_accepts_a_payout_proves_neither() {
    with(two_rails(), async |world| {
        let payment = queued(&world).await;
        sent(&world, &payment, FIRST, Submission::Indeterminate("no answer".to_owned())).await;
        let mut statuses = vec![RailStatus::Received; 300];
        (statuses[4], statuses[290]) = (RailStatus::Rejected, RailStatus::Accepted);
        takes(&world, FIRST, &reports(&payment, &statuses)).await;
        let (payment, attempts) = now(&world, &payment).await;
        assert_eq!(payment.standing.state, PaymentState::Queued);
        let [attempt] = &attempts[..] else { panic!("{attempts:?}") };
        assert_eq!(attempt.state, AttemptState::Indeterminate);
        let strays = world.store.strays(TENANT, 9).await.expect("readable");
        let [stray] = &strays[..] else { panic!("{strays:?}") };
        assert!(stray.report.what.contains("the message accepts it further on"), "{stray:?}");
    });
}
