//! Compares the document's sample responses and events with the output of `wallet_v1::render`, byte
//! for byte.

use domain::chain::TxHash;
use domain::currency::{Currency, StableCoin};
use domain::decimal::Decimal;
use domain::delivery::{Delivery, DeliveryState};
use domain::deposit::{Decision, Deposit, DepositBucket, DepositState, ReviewVerdict};
use domain::exchange::price::Price;
use domain::exchange::{ExchangeOrder, ExchangeState, OrderFailure};
use domain::ids::EventId;
use domain::money::Money;
use domain::payment_request::{Asked, PaymentRequest, Received, RequestMoney, RequestState};
use domain::risk::{Assessment, Check, NextAction, ReasonCode, RiskLevel, RiskResult};
use domain::time::{Span, Timestamp};
use domain::wallet::{Blacklisting, Block, BlockReason, TriggeredBy, Wallet, WalletState};
use domain::wallet_event::{
    About, AboutDeposit, Aggregate, FailureReason, WalletEvent, WalletEventEntry, WalletEventKind,
};

use engine::wallets::{Held, Transaction};

use super::super::answers::sample;
use super::WALLET;
use crate::wallet_v1::decode::Page;
use crate::wallet_v1::render::{self, Links};
use crate::wallet_v1::samples::{T0, TENANT, deposit, order, request, sender, wallet};
use crate::write::{self, ObjectWriter};

const EXPLORER: &str = "https://etherscan.io/tx/";
const PAGE: Page = Page { page: 0, limit: 20 };

fn links() -> Links {
    Links { base_url: "https://pay.example.com".to_owned() }
}

fn check(name: &str, fill: impl FnOnce(&mut ObjectWriter<'_>)) {
    let written = String::from_utf8(write::object(fill)).expect("UTF-8");
    assert_eq!(written, sample(WALLET, name), "{name}");
}

/// A list with one entry.
fn check_list(name: &str, entries: &str, fill: impl FnOnce(&mut ObjectWriter<'_>)) {
    check(name, |out| {
        out.array(entries, |items| items.object(fill));
        render::pagination(out, PAGE, 1);
    });
}

fn held() -> [Held; 2] {
    let line = |coin, minor, available_minor, usd, pkr| Held {
        coin,
        minor,
        available_minor,
        value_usd: Some(Money::new(usd, Currency::Usd)),
        value_pkr: Some(Money::new(pkr, Currency::Pkr)),
    };
    let usdc = line(StableCoin::Usdc, 1_000_000_000, 900_000_000, 100_000, 27_875_000);
    [usdc, line(StableCoin::Usdt, 500_000_000, 500_000_000, 50_000, 13_937_500)]
}

#[test]
fn wallets_are_written_as_the_document_shows_them() {
    check("provisionedWallet", |out| render::provisioned(out, &wallet()));
    check("wallet", |out| render::found_wallet(out, &wallet(), &held()));
    let block = Block {
        reason: BlockReason::SuspiciousActivity,
        details: "Several senders with one name".to_owned(),
        at: T0 + Span::mins(30),
        auto_unblock_at: Some(T0 + Span::mins(30) + Span::hours(72)),
        triggered_by: TriggeredBy::Manual,
    };
    let blocked = Wallet { state: WalletState::Blocked, block: Some(block), ..wallet() };
    check("blockedWallet", |out| render::blocked(out, &blocked));
    let why = Some("The senders are relatives".to_owned());
    let unblocked =
        Wallet { unblocked_at: Some(T0 + Span::hours(5)), unblock_reason: why, ..wallet() };
    check("unblockedWallet", |out| render::unblocked(out, &unblocked));
    let order = Blacklisting {
        authority: "Federal Investigation Agency".to_owned(),
        reference: "FIA-2026-0417".to_owned(),
        reason: "Court order".to_owned(),
        effective_date: jiff::civil::date(2026, 11, 21),
        ordered_at: T0 + Span::hours(6),
        at: Some(T0 + Span::hours(6)),
    };
    let blacklisted = Wallet {
        state: WalletState::Blacklisted,
        blacklisting: Some(order),
        chain_blacklisted: true,
        ..wallet()
    };
    check("blacklistedWallet", |out| render::blacklisted(out, &blacklisted));
}

#[test]
fn payment_requests_are_written_as_the_document_shows_them() {
    check("createdRequest", |out| render::created_request(out, &request(), &links()));
    let paid = PaymentRequest {
        state: RequestState::Paid,
        received: Received { usdc: 25_500_000, usdt: 0 },
        paid_at: Some(T0 + Span::mins(3)),
        ..request()
    };
    let mut money = RequestMoney::default();
    money.add((DepositState::Completed, DepositBucket::Wallet), StableCoin::Usdc, 25_500_000);
    check_list("requestList", "payment_requests", |out| {
        render::listed_request(out, &paid, &money, &links())
    });
    // The sender has paid; the customer has received nothing yet.
    let mut refused = RequestMoney::default();
    refused.add((DepositState::Rejected, DepositBucket::Escrow), StableCoin::Usdc, 25_500_000);
    check("rejectedRequest", |out| render::found_request(out, &paid, &refused, &links()));
    let asked = Asked::Fiat {
        currency: Currency::Pkr,
        micros: 7_000_000_000,
        usdc: 25_112_108,
        usdt: 25_112_108,
    };
    let cancelled = PaymentRequest { state: RequestState::Cancelled, asked, ..request() };
    let nothing = RequestMoney::default();
    check("cancelledRequest", |out| render::listed_request(out, &cancelled, &nothing, &links()));
}

fn settled() -> ExchangeOrder {
    ExchangeOrder {
        settlement_reference: Some("RAAST-2026112100042".to_owned()),
        settled_at: Some(T0 + Span::mins(8)),
        ..order(ExchangeState::Settled)
    }
}

#[test]
fn transactions_and_orders_are_written_as_the_document_shows_them() {
    let exchanged = Transaction::Exchange(Box::new(settled()));
    let received = Transaction::Deposit(Box::new(deposit(DepositState::Completed)));
    check("transactionList", |out| {
        out.array("transactions", |items| {
            items.object(|out| render::listed_transaction(out, &exchanged, EXPLORER));
            items.object(|out| render::listed_transaction(out, &received, EXPLORER));
        });
        render::pagination(out, PAGE, 2);
    });
    check("transaction", |out| render::found_transaction(out, &received, EXPLORER));
    check("foundOrder", |out| render::found_order(out, &settled()));
    let quoted = Price::new(Currency::Pkr, Decimal::new(27_875, 2), 50)
        .quote(Some(100_000_000), T0)
        .expect("a quote");
    check("rate", |out| render::quoted(out, StableCoin::Usdc, &quoted));
    check("order", |out| render::created_order(out, &order(ExchangeState::Pending)));
    // A repeated request gets the first response.
    let applied = ExchangeOrder {
        rate: Decimal::new(27_900, 2),
        payout: Money::new(2_776_050, Currency::Pkr),
        ..settled()
    };
    check("order", |out| render::created_order(out, &applied));
    check_list("orderList", "orders", |out| render::listed_order(out, &settled()));
    let cancelled = ExchangeOrder {
        failure: Some(OrderFailure::CancelledByUser),
        ..order(ExchangeState::Cancelled)
    };
    check("cancelledOrder", |out| render::listed_order(out, &cancelled));
}

#[test]
fn an_orders_failure_is_shown_once_its_tokens_are_returned() {
    let failing =
        |state| ExchangeOrder { failure: Some(OrderFailure::PayoutFailed), ..order(state) };
    let written = |order: &ExchangeOrder| {
        String::from_utf8(write::object(|out| render::listed_order(out, order)))
    };
    let returning = written(&failing(ExchangeState::Returning)).expect("UTF-8");
    assert!(
        returning.contains("\"status\":\"PROCESSING\"") && !returning.contains("PAYOUT_FAILED"),
        "{returning}"
    );
    let failed = written(&failing(ExchangeState::Failed)).expect("UTF-8");
    assert!(
        failed.contains("\"status\":\"FAILED\"")
            && failed.contains("\"failure_reason\":\"PAYOUT_FAILED\"")
    );
}

fn in_review() -> Deposit {
    let assessment = Assessment {
        result: RiskResult::ManualReview,
        score: 45,
        checks: Check::ALL.to_vec(),
        reason: ReasonCode::AmountAboveLimit,
        hold: None,
        list_version: "2026-11-20 4f1c9a".to_owned(),
        policy_version: "1".to_owned(),
        evidence: vec!["25.50 is more than 20.00".to_owned()],
        decided_by: None,
        at: T0 + Span::mins(2),
    };
    Deposit { assessment: Some(assessment), ..deposit(DepositState::InReview) }
}

#[test]
fn reviews_are_written_as_the_document_shows_them() {
    check("review", |out| render::review(out, &in_review(), EXPLORER));
    check_list("reviewList", "reviews", |out| render::review(out, &in_review(), EXPLORER));
    let decision = Decision {
        verdict: ReviewVerdict::Approve,
        by: "demobank-test_wallet-Q1T9sVb0eXgm".to_owned(),
        note: "Called the sender".to_owned(),
        at: T0 + Span::mins(20),
    };
    let decided = Deposit { decision: Some(decision), ..deposit(DepositState::Approved) };
    check("decidedReview", |out| render::reviewed(out, &decided));
}

#[test]
fn deliveries_are_written_as_the_document_shows_them() {
    let delivery = Delivery {
        event: EventId::parse("0d2c9f6e-6b0e-4a8b-8a63-5e0c6a5f1c22").expect("an id"),
        tenant: TENANT,
        aggregate: Aggregate::Request(request().id),
        version: 1,
        state: DeliveryState::Pending,
        tries: 0,
        attempts: 3,
        created_at: T0 + Span::mins(2),
        next_at: Some(T0 + Span::mins(5)),
        delivered_at: None,
        last_status: Some(503),
        last_fault: Some("HTTP status 503".to_owned()),
        revision: 4,
    };
    check("delivery", |out| {
        render::delivery(out, &delivery, WalletEventKind::PaymentReceived.name())
    });
    check_list("deliveryList", "deliveries", |out| {
        render::delivery(out, &delivery, WalletEventKind::PaymentReceived.name());
    });
}

fn about() -> About {
    let of = deposit(DepositState::Screening);
    let deposit = Some(AboutDeposit { id: of.id, tx: of.tx });
    About {
        request: Some(request().id),
        wallet: wallet().id,
        customer: wallet().customer_id,
        deposit,
    }
}

fn events() -> [(&'static str, Span, WalletEvent); 11] {
    let (of, at) = (deposit(DepositState::Screening), T0 + Span::mins(4));
    [
        (
            "paymentReceived",
            Span::mins(2),
            WalletEvent::PaymentReceived {
                about: about(),
                minor: of.minor,
                coin: of.coin,
                blockchain: "ethereum".to_owned(),
                tx: of.tx,
                from: of.from,
                to: of.to,
                confirmations: 12,
                sender: sender(),
            },
        ),
        (
            "riskCheckComplete",
            Span::mins(3),
            WalletEvent::RiskCheckComplete {
                about: about(),
                result: RiskResult::Approved,
                score: 5,
                level: RiskLevel::Low,
                checks: Check::ALL.to_vec(),
                reason: ReasonCode::ChecksPassed,
                next: NextAction::TransferToWallet,
            },
        ),
        (
            "transferComplete",
            Span::mins(4),
            WalletEvent::TransferComplete {
                about: about(),
                minor: of.minor,
                coin: of.coin,
                tx: TxHash([0xcd; 32]),
                at,
            },
        ),
        (
            "exchangeComplete",
            Span::mins(8),
            WalletEvent::ExchangeComplete {
                order: settled().id,
                wallet: wallet().id,
                customer: wallet().customer_id,
                minor: settled().minor,
                coin: settled().coin,
                paid: settled().payout,
                rate: settled().rate,
                reference: "RAAST-2026112100042".to_owned(),
                iban: settled().bank.iban,
                holder: settled().bank.holder,
                at: T0 + Span::mins(8),
            },
        ),
        (
            "walletBlocked",
            Span::mins(30),
            WalletEvent::WalletBlocked {
                wallet: wallet().id,
                customer: wallet().customer_id,
                reason: BlockReason::SuspiciousActivity,
                details: "Several senders with one name".to_owned(),
                at: T0 + Span::mins(30),
                auto_unblock_at: Some(T0 + Span::mins(30) + Span::hours(72)),
                triggered_by: TriggeredBy::Manual,
                deposit: None,
            },
        ),
        (
            "transactionFailed",
            Span::mins(4),
            WalletEvent::TransactionFailed {
                about: about(),
                reason: FailureReason::ComplianceRejected,
                message: "The payment was not accepted".to_owned(),
                at,
            },
        ),
        ("orderFailed", Span::mins(8), ended(OrderFailure::PayoutFailed, T0 + Span::mins(8))),
        ("orderCancelled", Span::mins(1), ended(OrderFailure::CancelledByUser, T0 + Span::mins(1))),
        (
            "paymentRequestExpired",
            Span::hours(24),
            WalletEvent::RequestExpired {
                about: About { deposit: None, ..about() },
                expires_at: request().expires_at,
                at: T0 + Span::hours(24),
            },
        ),
        (
            "walletUnblocked",
            Span::hours(5),
            WalletEvent::WalletUnblocked {
                wallet: wallet().id,
                customer: wallet().customer_id,
                reason: Some("The senders are relatives".to_owned()),
                at: T0 + Span::hours(5),
                triggered_by: TriggeredBy::Manual,
            },
        ),
        (
            "walletBlacklisted",
            Span::hours(6),
            WalletEvent::WalletBlacklisted {
                wallet: wallet().id,
                customer: wallet().customer_id,
                authority: "Federal Investigation Agency".to_owned(),
                reference: "FIA-2026-0417".to_owned(),
                effective_date: jiff::civil::date(2026, 12, 1),
                at: None,
            },
        ),
    ]
}

fn ended(reason: OrderFailure, at: Timestamp) -> WalletEvent {
    WalletEvent::OrderEnded {
        order: settled().id,
        wallet: wallet().id,
        customer: wallet().customer_id,
        minor: settled().minor,
        coin: settled().coin,
        cancelled: reason == OrderFailure::CancelledByUser,
        reason,
        at,
    }
}

fn entry(seq: i64, after: Span, event: WalletEvent) -> WalletEventEntry {
    let aggregate = match &event {
        WalletEvent::ExchangeComplete { order, .. } | WalletEvent::OrderEnded { order, .. } => {
            Aggregate::Order(*order)
        }
        WalletEvent::WalletBlocked { wallet, .. }
        | WalletEvent::WalletUnblocked { wallet, .. }
        | WalletEvent::WalletBlacklisted { wallet, .. } => Aggregate::Wallet(*wallet),
        _ => Aggregate::Request(request().id),
    };
    WalletEventEntry {
        id: aggregate.event_id(TENANT, seq),
        tenant: TENANT,
        seq,
        aggregate,
        version: seq,
        at: T0 + after,
        event,
    }
}

#[test]
fn events_are_written_as_the_document_shows_them() {
    for ((name, after, event), seq) in events().into_iter().zip(1..) {
        check(name, |out| render::event(out, &entry(seq, after, event)));
    }
    let [(_, after, event), ..] = events();
    check("eventPage", |out| {
        out.array("events", |items| {
            items.object(|out| render::logged_event(out, &entry(1, after, event)))
        });
        out.plain("next", 1);
    });
}
