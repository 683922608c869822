//! Sample events of every kind, produced by the code for real ones. No real money is involved.

use domain::chain::{Address, TxHash};
use domain::currency::{Currency, StableCoin};
use domain::decimal::Decimal;
use domain::exchange::OrderFailure;
use domain::ids::{DepositId, EventId, ExchangeId, PaymentRequestId, TenantId, WalletId};
use domain::money::Money;
use domain::payment_request::SenderDetails;
use domain::risk::{self, ReasonCode, RiskLevel, RiskResult};
use domain::time::{Span, Timestamp};
use domain::wallet::{BlockReason, TriggeredBy};
use domain::wallet_event::{
    About, AboutDeposit, Aggregate, FailureReason, WalletEvent, WalletEventEntry, WalletEventKind,
};
use http_api::wallet_v1::render::event_body;
use serde_json::{Value, json};
use uuid::Uuid;

/// 25.00 USDC in the token's smallest units.
const PAID_MINOR: i64 = 25_000_000;

/// The subjects of sample events.
#[derive(Clone, Debug)]
pub struct Subjects {
    /// Member `payment_request_id` of the events.
    pub request: PaymentRequestId,
    /// Member `wallet_id` of the events.
    pub wallet: WalletId,
    /// Member `customer_id` of the events.
    pub customer: String,
}

impl Subjects {
    /// The same wallet with a payment request of its own.
    pub fn elsewhere(&self) -> Subjects {
        Subjects { request: PaymentRequestId(Uuid::new_v4()), ..self.clone() }
    }
}

/// One event, as sent.
#[derive(Clone, Debug)]
pub struct Sample {
    /// The `event_id`, also sent as `webhook-id`.
    pub id: String,
    /// The path below the endpoint's base.
    pub path: String,
    /// The envelope, as sent in the webhook's body.
    pub body: Vec<u8>,
}

/// An event of that kind that happened at `now`.
pub fn event(kind: WalletEventKind, subjects: &Subjects, now: Timestamp) -> Sample {
    let id = EventId(Uuid::new_v4());
    let entry = WalletEventEntry {
        id,
        tenant: TenantId(Uuid::nil()),
        seq: 1,
        aggregate: Aggregate::Wallet(subjects.wallet),
        version: 1,
        at: now,
        event: happened(kind, subjects, now),
    };
    Sample { id: id.to_string(), path: path(&kind.segment()), body: event_body(&entry) }
}

/// The same with a future, unknown type.
pub fn event_of_later(subjects: &Subjects, now: Timestamp) -> Sample {
    let id = Uuid::new_v4().to_string();
    let data =
        json!({ "wallet_id": subjects.wallet.to_string(), "customer_id": subjects.customer });
    let body = json!({ "event_id": id, "event_type": "certificate.probe", "timestamp": now.to_string(), "data": data });
    Sample { id, path: path("certificate-probe"), body: body.to_string().into_bytes() }
}

/// The same event with an unknown member in its data.
pub fn with_member_of_later(sample: Sample) -> Sample {
    let Ok(mut envelope) = serde_json::from_slice::<Value>(&sample.body) else { return sample };
    envelope["data"]["member_of_a_later_version"] = json!({ "list": [1, null] });
    Sample { body: envelope.to_string().into_bytes(), ..sample }
}

fn path(segment: &str) -> String {
    format!("/webhooks/wallet/{segment}")
}

/// Names are not ASCII: this exposes a receiver that verifies the signature over a re-encoded body.
pub fn happened(kind: WalletEventKind, subjects: &Subjects, now: Timestamp) -> WalletEvent {
    let deposit = Some(AboutDeposit { id: DepositId(Uuid::new_v4()), tx: TxHash([0xaa; 32]) });
    let about = About {
        request: Some(subjects.request),
        wallet: subjects.wallet,
        customer: subjects.customer.clone(),
        deposit,
    };
    let (wallet, customer, coin) = (subjects.wallet, subjects.customer.clone(), StableCoin::Usdc);
    match kind {
        WalletEventKind::PaymentReceived => WalletEvent::PaymentReceived {
            about,
            minor: PAID_MINOR,
            coin,
            blockchain: "ethereum".to_owned(),
            tx: TxHash([0xaa; 32]),
            from: Address([0xbb; 20]),
            to: Address([0xcc; 20]),
            confirmations: 12,
            sender: sender(),
        },
        WalletEventKind::RiskCheckComplete => WalletEvent::RiskCheckComplete {
            about,
            result: RiskResult::Approved,
            score: 4,
            level: RiskLevel::Low,
            checks: risk::Check::ALL.to_vec(),
            reason: ReasonCode::ChecksPassed,
            next: RiskResult::Approved.next_action(),
        },
        WalletEventKind::TransferComplete => WalletEvent::TransferComplete {
            about,
            minor: PAID_MINOR,
            coin,
            tx: TxHash([0xdd; 32]),
            at: now,
        },
        WalletEventKind::ExchangeComplete => WalletEvent::ExchangeComplete {
            order: ExchangeId(Uuid::new_v4()),
            wallet,
            customer,
            minor: 10_000_000,
            coin,
            paid: Money::new(277_356, Currency::Pkr),
            rate: Decimal::new(27_875, 2),
            reference: "CERTIFY-1".to_owned(),
            iban: Some("PK36SCBL0000001123456702".to_owned()),
            holder: "عائشہ خان".to_owned(),
            at: now,
        },
        WalletEventKind::WalletBlocked => WalletEvent::WalletBlocked {
            wallet,
            customer,
            reason: BlockReason::PendingInvestigation,
            details: "Sample event".to_owned(),
            at: now,
            auto_unblock_at: Some(now + Span::hours(24)),
            triggered_by: TriggeredBy::Manual,
            deposit: None,
        },
        WalletEventKind::TransactionFailed => WalletEvent::TransactionFailed {
            about,
            reason: FailureReason::OnChainRevert,
            message: "The transfer did not succeed".to_owned(),
            at: now,
        },
        WalletEventKind::OrderFailed => ended(OrderFailure::PayoutFailed, subjects, now),
        WalletEventKind::OrderCancelled => ended(OrderFailure::CancelledByUser, subjects, now),
        WalletEventKind::PaymentRequestExpired => WalletEvent::RequestExpired {
            about: About { deposit: None, ..about },
            expires_at: now,
            at: now,
        },
        WalletEventKind::WalletUnblocked => WalletEvent::WalletUnblocked {
            wallet,
            customer,
            reason: Some("Made up".to_owned()),
            at: now,
            triggered_by: TriggeredBy::Manual,
        },
        WalletEventKind::WalletBlacklisted => WalletEvent::WalletBlacklisted {
            wallet,
            customer,
            authority: "Sample authority".to_owned(),
            reference: "CERTIFY-1".to_owned(),
            effective_date: now.date(),
            at: Some(now),
        },
    }
}

fn sender() -> SenderDetails {
    let text = |text: &str| Some(text.to_owned());
    SenderDetails {
        first_name: text("محمد"),
        last_name: text("Müller-O'Brien"),
        email: text("sender@example.com"),
        phone_number: text("+971501234567"),
        custodial_provider: text("Example Exchange"),
    }
}

fn ended(reason: OrderFailure, subjects: &Subjects, now: Timestamp) -> WalletEvent {
    WalletEvent::OrderEnded {
        order: ExchangeId(Uuid::new_v4()),
        wallet: subjects.wallet,
        customer: subjects.customer.clone(),
        minor: 10_000_000,
        coin: StableCoin::Usdc,
        cancelled: reason == OrderFailure::CancelledByUser,
        reason,
        at: now,
    }
}
