//! Made-up events of the six kinds, with every field of the specification's table. Nobody's money is behind them.

use domain::time::{Span, Timestamp};
use domain::wallet_event::WalletEventKind;
use serde_json::{Value, json};
use uuid::Uuid;

/// What made-up events are about.
#[derive(Clone, Debug)]
pub struct About {
    /// `payment_request_id`
    pub request: String,
    /// `wallet_id`
    pub wallet: String,
    /// `customer_id`
    pub customer: String,
}

/// One event, as it is sent.
#[derive(Clone, Debug)]
pub struct Sample {
    /// `event_id`, and `webhook-id`.
    pub id: String,
    /// The path below the receiver's base.
    pub path: String,
    /// The envelope.
    pub body: Vec<u8>,
}

/// The path of a kind of event.
pub fn path(segment: &str) -> String {
    format!("/webhooks/wallet/{segment}")
}

/// An event of that kind that happened at `now`.
pub fn event(kind: WalletEventKind, about: &About, now: Timestamp) -> Sample {
    envelope(kind.segment(), kind.name(), &data(kind, about, now), now)
}

/// An event of any type.
pub fn envelope(segment: &str, event_type: &str, data: &Value, now: Timestamp) -> Sample {
    let id = Uuid::new_v4().to_string();
    let body = json!({ "event_id": id, "event_type": event_type, "timestamp": now.to_string(), "data": data });
    Sample { id, path: path(segment), body: body.to_string().into_bytes() }
}

/// The data of an event of that kind. Names are not ASCII: who verifies a body that was decoded and encoded again shows.
pub fn data(kind: WalletEventKind, about: &About, now: Timestamp) -> Value {
    let About { request, wallet, customer } = about;
    let hash = |first: char| format!("0x{}", String::from(first).repeat(64));
    let address = |first: char| format!("0x{}", String::from(first).repeat(40));
    match kind {
        WalletEventKind::PaymentReceived => json!({
            "payment_request_id": request, "wallet_id": wallet, "customer_id": customer,
            "amount": "25.00", "currency": "USDC", "blockchain": "ethereum",
            "tx_hash": hash('a'), "from_address": address('b'), "to_address": address('c'), "confirmations": 12,
            "sender_info": {
                "first_name": "محمد", "last_name": "Müller-O'Brien", "email": "sender@example.com",
                "phone_number": "+971501234567", "custodial_provider": "Example Exchange",
            },
            "status": "RECEIVED_IN_ESCROW",
        }),
        WalletEventKind::RiskCheckComplete => json!({
            "payment_request_id": request, "wallet_id": wallet, "customer_id": customer,
            "risk_check_result": "APPROVED", "risk_score": 4, "risk_level": "LOW",
            "checks_performed": ["ON_CHAIN_ANALYSIS", "SANCTION_SCREENING", "SOURCE_VERIFICATION"],
            "decision_reason": "CLEAR: no finding", "next_action": "TRANSFER_TO_WALLET",
        }),
        WalletEventKind::TransferComplete => json!({
            "payment_request_id": request, "wallet_id": wallet, "customer_id": customer,
            "amount": "25.00", "currency": "USDC", "transfer_tx_hash": hash('d'), "status": "COMPLETED",
            "completed_at": now.to_string(),
        }),
        WalletEventKind::ExchangeComplete => json!({
            "order_id": Uuid::new_v4().to_string(), "order_type": "EXCHANGE",
            "wallet_id": wallet, "customer_id": customer,
            "from_amount": "10.00", "from_currency": "USDC", "to_amount": "2773.56", "to_currency": "PKR",
            "exchange_rate": "278.75", "settlement_reference": "CERTIFY-1",
            "bank_account": { "iban": "PK36SCBL0000001123456702", "account_holder_name": "عائشہ خان" },
            "status": "SETTLED", "settled_at": now.to_string(),
        }),
        WalletEventKind::WalletBlocked => json!({
            "wallet_id": wallet, "customer_id": customer,
            "reason": "PENDING_INVESTIGATION", "details": "Made up by corridor certify", "blocked_at": now.to_string(),
            "auto_unblock_at": (now + Span::hours(24)).to_string(), "triggered_by": "MANUAL",
        }),
        WalletEventKind::TransactionFailed => json!({
            "payment_request_id": request, "wallet_id": wallet, "customer_id": customer,
            "failure_reason": "ON_CHAIN_REVERT", "error_message": "The transfer did not succeed",
            "failed_at": now.to_string(),
        }),
    }
}
