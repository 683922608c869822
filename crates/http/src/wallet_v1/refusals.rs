//! Maps the engine's refusals to responses (specification: "Errors"; `decisions.md`, "Wallet
//! Service v1").

use domain::deposit::{DepositRefusal, DepositStatus};
use domain::exchange::OrderRefusal;
use domain::money::Money;
use domain::payment_request::RequestConflict;
use domain::wallet::{WalletRefusal, WalletState};
use engine::command::Refused;
use engine::context::NoRate;
use engine::error::EngineError;
use engine::wallets::Denied;
use http::StatusCode;

use super::render;
use crate::problem::WalletProblem;

/// `Retry-After` in seconds of a busy or unreachable service.
pub(super) const RETRY_AFTER_S: i64 = 1;

/// The resource that a request names. Another tenant's resource gets the same response as a missing
/// one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Named {
    Wallet,
    PaymentRequest,
    Order,
    Transaction,
    Delivery,
}

impl Named {
    const ALL: [Named; 5] =
        [Named::Wallet, Named::PaymentRequest, Named::Order, Named::Transaction, Named::Delivery];

    /// The field with its id.
    const fn field(self) -> &'static str {
        match self {
            Named::Wallet => "wallet_id",
            Named::PaymentRequest => "payment_request_id",
            Named::Order => "order_id",
            Named::Transaction => "transaction_id",
            Named::Delivery => "delivery_id",
        }
    }

    /// 404 with the field that names it.
    pub(super) fn not_found(self) -> WalletProblem {
        let message = match self {
            Named::Wallet => "Wallet not found",
            Named::PaymentRequest => "Payment request not found",
            Named::Order => "Order not found",
            Named::Transaction => "Transaction not found",
            Named::Delivery => "Delivery not found",
        };
        WalletProblem::not_found(message).of_field(self.field())
    }
}

/// The response to a request that was not served.
pub(super) fn denied(denied: Denied) -> WalletProblem {
    match denied {
        Denied::NotFound(field) => {
            match Named::ALL.into_iter().find(|named| named.field() == field) {
                Some(named) => named.not_found(),
                None => WalletProblem::not_found("Not found").of_field(field),
            }
        }
        Denied::Invalid(fault) => WalletProblem::from(vec![fault]),
        Denied::Refused(refusal) => refused(refusal),
        Denied::Unpayable { min, max } => unpayable(min, max),
        Denied::RateUnavailable(NoRate::Missing(..)) => WalletProblem::unavailable(RETRY_AFTER_S)
            .saying("No current exchange rate is available"),
        Denied::RateUnavailable(off_peg @ NoRate::OffPeg(..)) => {
            WalletProblem::unavailable(RETRY_AFTER_S).saying(off_peg.to_string())
        }
        Denied::ListsStale => {
            tracing::error!(
                "exchange order refused: the sanctions lists are too old to screen its account holder"
            );
            WalletProblem::unavailable(RETRY_AFTER_S)
        }
        Denied::Engine(EngineError::Internal) => WalletProblem::internal(),
        Denied::Engine(EngineError::Busy) => WalletProblem::unavailable(RETRY_AFTER_S),
        Denied::Engine(EngineError::Unavailable | EngineError::CommitUnknown) => {
            WalletProblem::store_away(RETRY_AFTER_S)
        }
        Denied::WebhooksOff => {
            WalletProblem::conflict("Webhooks are off: set the endpoint or enable webhooks first")
        }
        Denied::NotOffered => {
            WalletProblem::unavailable(RETRY_AFTER_S).saying("The wallet service is not enabled")
        }
        Denied::ChainNotInUse => WalletProblem::unavailable(RETRY_AFTER_S)
            .saying("This blockchain is not in use at present"),
        Denied::Keys(error) => {
            tracing::error!(%error, "using a tenant's keys failed");
            WalletProblem::unavailable(RETRY_AFTER_S)
        }
        Denied::Chain(fault) => {
            tracing::warn!(%fault, "the chain could not be read");
            WalletProblem::unavailable(RETRY_AFTER_S)
        }
        Denied::Store(error) => {
            tracing::error!(%error, "reading from the store failed");
            WalletProblem::store_away(RETRY_AFTER_S)
        }
    }
}

/// The response to an engine refusal.
pub(super) fn refused(refused: Refused) -> WalletProblem {
    match refused {
        Refused::Wallet(refusal) => wallet(&refusal),
        Refused::Request(RequestConflict(state)) => {
            let message = format!("The payment request is {}", state.name());
            WalletProblem::conflict(message).with("current_status", state.name())
        }
        Refused::Deposit(refusal) => deposit(&refusal),
        Refused::Exchange(refusal) => order(&refusal),
        Refused::IdempotencyMismatch => {
            let message =
                "The key was already used with a different body; use a new key for a new request";
            WalletProblem::validation_failed(message).of_field("Idempotency-Key")
        }
        // Another request won the race; a retry may succeed.
        Refused::Moved | Refused::Stale(_) => WalletProblem::unavailable(RETRY_AFTER_S),
        refused => {
            tracing::error!(%refused, "request refused for an internal reason");
            WalletProblem::internal()
        }
    }
}

fn wallet(refusal: &WalletRefusal) -> WalletProblem {
    match refusal {
        WalletRefusal::KycRequired(level) => {
            let message = format!("The customer's KYC level must be at least {}", level.name());
            WalletProblem::new(StatusCode::FORBIDDEN, "KYC_REQUIRED", message)
                .of_field("kyc_level")
                .with_top_level("required_kyc_level", level.name())
        }
        WalletRefusal::Exists(id) => {
            let message = "The customer already has a wallet on this blockchain";
            WalletProblem::new(StatusCode::CONFLICT, "WALLET_EXISTS", message)
                .of_field("customer_id")
                .with_top_level("existing_wallet_id", id)
        }
        WalletRefusal::Ordered(day) => {
            let status = WalletState::Blocked.name();
            WalletProblem::conflict(format!(
                "The wallet is {status}: it will be blacklisted on {day}"
            ))
            .with("current_status", status)
            .with("effective_date", day)
        }
        WalletRefusal::Conflict(state) => {
            WalletProblem::conflict(format!("The wallet is {}", state.name()))
                .with("current_status", state.name())
        }
        WalletRefusal::Frozen(state) => frozen(*state),
    }
}

/// 422: the wallet's state does not allow it.
fn frozen(state: WalletState) -> WalletProblem {
    WalletProblem::validation_failed(format!("The wallet is {}", state.name()))
        .with("wallet_status", state.name())
}

/// 422 with the bounds of the amount.
fn unpayable(min: Money, max: Money) -> WalletProblem {
    let (code, min, max) = (min.currency.code(), render::money(min), render::money(max));
    let message = format!("The amount cannot be paid out: it must be {min} to {max} {code}");
    let problem = WalletProblem::validation_failed(message).of_field("amount");
    problem.with("min", min).with("max", max).with("currency", code)
}

fn deposit(refusal: &DepositRefusal) -> WalletProblem {
    let conflict = |status: &str| {
        WalletProblem::conflict("The transaction is not held for review")
            .with("current_status", status)
    };
    match refusal {
        DepositRefusal::State { shown, .. } => {
            conflict(shown.unwrap_or(DepositStatus::Pending).name())
        }
        DepositRefusal::Frozen(state) => frozen(*state),
        DepositRefusal::EscrowHeld => {
            WalletProblem::conflict("Funds in the escrow are on legal hold")
                .with("current_status", DepositStatus::ReceivedInEscrow.name())
        }
        DepositRefusal::Listed => WalletProblem::conflict("The transaction can only be rejected"),
        DepositRefusal::OtherMatch => {
            WalletProblem::conflict("The transaction's match has changed; review it again")
        }
        DepositRefusal::OlderLists => WalletProblem::unavailable(RETRY_AFTER_S),
        DepositRefusal::NothingHeld => conflict(DepositStatus::Rejected.name()),
        refusal => {
            tracing::error!(%refusal, "review refused for an internal reason");
            WalletProblem::internal()
        }
    }
}

fn order(refusal: &OrderRefusal) -> WalletProblem {
    match refusal {
        OrderRefusal::Frozen(state) => frozen(*state),
        OrderRefusal::Amount => {
            WalletProblem::validation_failed("The amount cannot be paid out").of_field("amount")
        }
        OrderRefusal::CustomerLimit(exceeded) => {
            let message = format!("No more than {exceeded} can be paid to one customer");
            WalletProblem::validation_failed(message).of_field("amount")
        }
        OrderRefusal::NoToken => WalletProblem::unavailable(RETRY_AFTER_S),
        OrderRefusal::InsufficientBalance { requested, available } => {
            let code = requested.currency.code();
            let message = format!("The wallet's {code} balance is too low");
            WalletProblem::new(StatusCode::UNPROCESSABLE_ENTITY, "INSUFFICIENT_BALANCE", message)
                .with("requested_amount", render::money(*requested))
                .with("available_balance", render::money(*available))
                .with("currency", code)
        }
        OrderRefusal::Unfunded { .. } => WalletProblem::unavailable(RETRY_AFTER_S),
        OrderRefusal::NotWithheld => {
            WalletProblem::conflict("No decision about the order is pending")
        }
        OrderRefusal::OlderLists => WalletProblem::unavailable(RETRY_AFTER_S),
        OrderRefusal::OtherMatch => WalletProblem::conflict("The order's match has changed"),
        OrderRefusal::Listed => WalletProblem::conflict("The order can only be rejected"),
        OrderRefusal::Recredited => {
            WalletProblem::conflict("The order's tokens were returned already")
        }
        OrderRefusal::Reported(state) => {
            let message = "The order cannot be cancelled: its bank reports a payout";
            WalletProblem::conflict(message).with("current_status", state.status().name())
        }
        OrderRefusal::Conflict(state) => {
            let status = state.status().name();
            let why = state.why_not_cancelled().map(|why| format!(": {why}")).unwrap_or_default();
            WalletProblem::conflict(format!("The order is {status}{why}"))
                .with("current_status", status)
        }
    }
}

#[cfg(test)]
mod tests {
    use domain::currency::Currency;
    use domain::deposit::DepositState;
    use domain::exchange::ExchangeState;
    use domain::ids::WalletId;
    use domain::payment_request::RequestState;
    use domain::sender_limit::Exceeded;
    use domain::time::Timestamp;
    use domain::wallet::KycLevel;
    use serde_json::{Value, json};
    use uuid::Uuid;

    use super::*;
    use crate::request_id::RequestId;

    async fn told(refused: Refused) -> (u16, Value) {
        let answer = denied(Denied::Refused(refused)).respond(&RequestId::fresh(), Timestamp(0));
        let status = answer.status().as_u16();
        let body = axum::body::to_bytes(answer.into_body(), 10_000).await.expect("a body");
        let mut body: Value = serde_json::from_slice(&body).expect("JSON");
        let body = body.as_object_mut().expect("an object");
        for always in ["message", "request_id", "timestamp"] {
            assert!(body.remove(always).is_some_and(|text| text.is_string()), "{always}");
        }
        (status, Value::Object(body.clone()))
    }

    #[tokio::test]
    async fn an_amount_that_cannot_be_paid_out_is_answered_with_its_bounds() {
        let usdc = |minor| Money::new(minor, Currency::Usdc);
        let refused = Denied::Unpayable { min: usdc(3_609), max: usdc(1_804_000_000) };
        let answer = denied(refused).respond(&RequestId::fresh(), Timestamp(0));
        assert_eq!(answer.status().as_u16(), 422);
        let body = axum::body::to_bytes(answer.into_body(), 10_000).await.expect("a body");
        let body: Value = serde_json::from_slice(&body).expect("JSON");
        assert_eq!(
            body["details"],
            json!({"min": "0.003609", "max": "1804.00", "currency": "USDC"})
        );
        assert_eq!(
            body["message"],
            "The amount cannot be paid out: it must be 0.003609 to 1804.00 USDC"
        );
    }

    #[tokio::test]
    async fn each_refusal_has_its_status_code_field_and_details() {
        let usdc = |minor| Money::new(minor, Currency::Usdc);
        let existing = Uuid::from_u128(1).to_string();
        for (refused, status, body) in [
            (
                WalletRefusal::KycRequired(KycLevel::Enhanced).into(),
                403,
                json!({"error": "KYC_REQUIRED", "field": "kyc_level", "required_kyc_level": "ENHANCED",
                       "details": {"required_kyc_level": "ENHANCED"}}),
            ),
            (
                WalletRefusal::Exists(WalletId(Uuid::from_u128(1))).into(),
                409,
                json!({"error": "WALLET_EXISTS", "field": "customer_id", "existing_wallet_id": existing,
                       "details": {"existing_wallet_id": existing}}),
            ),
            (
                WalletRefusal::Conflict(WalletState::Blacklisted).into(),
                409,
                json!({"error": "CONFLICT", "details": {"current_status": "BLACKLISTED"}}),
            ),
            (
                WalletRefusal::Ordered(jiff::civil::date(2027, 12, 4)).into(),
                409,
                json!({"error": "CONFLICT", "details": {"current_status": "BLOCKED", "effective_date": "2027-12-04"}}),
            ),
            (
                WalletRefusal::Frozen(WalletState::Blocked).into(),
                422,
                json!({"error": "VALIDATION_FAILED", "details": {"wallet_status": "BLOCKED"}}),
            ),
            (
                OrderRefusal::Frozen(WalletState::Blacklisted).into(),
                422,
                json!({"error": "VALIDATION_FAILED", "details": {"wallet_status": "BLACKLISTED"}}),
            ),
            (
                OrderRefusal::Reported(ExchangeState::Pending).into(),
                409,
                json!({"error": "CONFLICT", "details": {"current_status": "PENDING"}}),
            ),
            (
                OrderRefusal::InsufficientBalance {
                    requested: usdc(100_000_000),
                    available: usdc(25_500_000),
                }
                .into(),
                422,
                json!({"error": "INSUFFICIENT_BALANCE",
                       "details": {"requested_amount": "100.00", "available_balance": "25.50", "currency": "USDC"}}),
            ),
            (
                OrderRefusal::Amount.into(),
                422,
                json!({"error": "VALIDATION_FAILED", "field": "amount"}),
            ),
            (
                OrderRefusal::CustomerLimit(Exceeded::Daily(Money::new(100, Currency::Pkr))).into(),
                422,
                json!({"error": "VALIDATION_FAILED", "field": "amount"}),
            ),
            (
                OrderRefusal::Conflict(ExchangeState::Paying).into(),
                409,
                json!({"error": "CONFLICT", "details": {"current_status": "PROCESSING"}}),
            ),
            (
                RequestConflict(RequestState::Paid).into(),
                409,
                json!({"error": "CONFLICT", "details": {"current_status": "PAID"}}),
            ),
            (
                DepositState::Completed.refused().into(),
                409,
                json!({"error": "CONFLICT", "details": {"current_status": "COMPLETED"}}),
            ),
            (
                // As GET shows it: a reorganisation suspended a deposit that was rejected.
                DepositRefusal::State {
                    state: DepositState::Suspended,
                    shown: Some(DepositStatus::Rejected),
                }
                .into(),
                409,
                json!({"error": "CONFLICT", "details": {"current_status": "REJECTED"}}),
            ),
            (
                Refused::IdempotencyMismatch,
                422,
                json!({"error": "VALIDATION_FAILED", "field": "Idempotency-Key"}),
            ),
            (Refused::Moved, 503, json!({"error": "SERVICE_UNAVAILABLE"})),
            (Refused::Ledger("x".to_owned()), 500, json!({"error": "INTERNAL_ERROR"})),
        ] {
            assert_eq!(told(refused).await, (status, body));
        }
    }

    #[tokio::test]
    async fn a_missing_resource_gets_the_same_message_everywhere() {
        for named in Named::ALL {
            let told = |problem: WalletProblem| {
                let answer = problem.respond(&RequestId::of(&http::HeaderMap::new()), Timestamp(0));
                async { axum::body::to_bytes(answer.into_body(), 10_000).await.expect("a body") }
            };
            let (at_once, later) = (
                told(named.not_found()).await,
                told(denied(Denied::NotFound(named.field()))).await,
            );
            let without_id = |body: &[u8]| {
                let mut body: Value = serde_json::from_slice(body).expect("JSON");
                body["request_id"].take();
                body
            };
            assert_eq!(without_id(&at_once), without_id(&later));
            assert_eq!(without_id(&later)["field"], named.field());
        }
    }
}
