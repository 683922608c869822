//! Scenarios of the wallet service. The simulated sender pays test links by itself; the cents
//! select the outcome.

use serde_json::{Value, json};
use uuid::Uuid;

use super::super::failure::Failure;
use super::scenarios::Way;
use super::{Stage, text};

/// A fictitious account of the documentation's bank.
const IBAN: &str = "PK36SCBL0000001123456702";
/// An amount that is approved.
const USUAL: &str = "25.00";
/// An amount whose tokens the sandbox does not move for an order.
const NOT_BEGUN: &str = "1.02";
/// Longer than one hour, the validity of the request and of the block, in seconds.
const AN_HOUR_OVER_S: u32 = 3_660;

pub async fn play(stage: &Stage, way: Way) -> Result<(), Failure> {
    match way {
        Way::Deposit { amount } => {
            let wallet = wallet(stage).await?;
            request(stage, &wallet, amount).await.map(drop)
        }
        Way::RequestExpires => expired(stage).await.map(drop),
        Way::DepositLate => {
            let request = expired(stage).await?;
            paid(stage, &request).await
        }
        Way::RequestCancelled => {
            let wallet = wallet(stage).await?;
            let (request, _) = request(stage, &wallet, USUAL).await?;
            stage.post(&format!("/v1/sdk/payment-requests/{request}/cancel"), &json!({})).await?;
            stage.report("cancelled", &request)
        }
        Way::DepositHeld => {
            let wallet = wallet(stage).await?;
            let (request, _) = request(stage, &wallet, USUAL).await?;
            block(stage, &wallet, None).await?;
            paid(stage, &request).await
        }
        Way::DepositBlacklisted => {
            let wallet = wallet(stage).await?;
            let (_, escrow) = request(stage, &wallet, USUAL).await?;
            blacklist(stage, &wallet).await?;
            // Blacklisting cancels the request, so the payment goes straight to its address.
            stage
                .post(
                    &format!("/sandbox/faucet?address={escrow}&amount={USUAL}&currency=USDC"),
                    &json!({}),
                )
                .await?;
            stage.report("paid", &escrow)
        }
        Way::Order { amount } => order(stage, amount).await.map(drop),
        Way::OrderCancelled => {
            // The sandbox leaves the tokens of this order untouched, so there is time to cancel it.
            let order = order(stage, NOT_BEGUN).await?;
            stage.post(&format!("/v1/sdk/orders/{order}/cancel"), &json!({})).await?;
            stage.report("cancelled", &order)
        }
        other => control(stage, other).await,
    }
}

/// The bank's actions on wallets.
async fn control(stage: &Stage, way: Way) -> Result<(), Failure> {
    let wallet = wallet(stage).await?;
    match way {
        Way::Wallet => Ok(()),
        Way::WalletBlocked => block(stage, &wallet, None).await,
        Way::WalletUnblocked => {
            block(stage, &wallet, None).await?;
            let body = json!({ "unblock_reason": "corridor trigger" });
            stage.post(&format!("/v1/sdk/wallets/{wallet}/unblock"), &body).await?;
            stage.report("unblocked", &wallet)
        }
        Way::WalletUnblocksItself => {
            block(stage, &wallet, Some(1)).await?;
            stage.advance(AN_HOUR_OVER_S).await
        }
        Way::WalletBlacklisted => blacklist(stage, &wallet).await,
        other => Err(Failure::Usage(format!("{other:?} is not a wallet scenario"))),
    }
}

/// Provisions a wallet for a fictitious customer.
async fn wallet(stage: &Stage) -> Result<String, Failure> {
    let customer = format!("trigger-{}", Uuid::new_v4().simple());
    let body = json!({
        "customer_id": customer, "customer_email": "customer@example.com", "customer_phone": "+923001234567",
        "kyc_level": "COMPREHENSIVE",
    });
    let answer = stage.post("/v1/sdk/wallets/provision", &body).await?;
    let wallet = text(&answer, "wallet_id")?.to_owned();
    stage.report("wallet", &wallet)?;
    Ok(wallet)
}

/// A payment request and its address.
async fn request(stage: &Stage, wallet: &str, amount: &str) -> Result<(String, String), Failure> {
    let body = json!({
        "wallet_id": wallet, "amount": { "type": "crypto", "value": amount, "currency": "USDC" },
        "purpose": "corridor trigger", "expires_in_hours": 1,
    });
    let answer = stage.post("/v1/sdk/payment-requests", &body).await?;
    let request = text(&answer, "payment_request_id")?.to_owned();
    stage.report("payment request", &request)?;
    Ok((request, text(&answer, "escrow_address")?.to_owned()))
}

/// An expired payment request that the simulated sender does not pay by itself.
async fn expired(stage: &Stage) -> Result<String, Failure> {
    let wallet = wallet(stage).await?;
    let (request, _) = request(stage, &wallet, USUAL).await?;
    stage.post(&format!("/sandbox/payment-requests/{request}/leave"), &json!({})).await?;
    stage.advance(AN_HOUR_OVER_S).await?;
    Ok(request)
}

/// Lets the simulated sender pay at once, whatever the request's state.
async fn paid(stage: &Stage, request: &str) -> Result<(), Failure> {
    stage.post(&format!("/sandbox/payment-requests/{request}/pay"), &json!({})).await?;
    stage.report("paid", request)
}

async fn block(
    stage: &Stage,
    wallet: &str,
    auto_unblock_hours: Option<u32>,
) -> Result<(), Failure> {
    let mut body = json!({ "reason": "PENDING_INVESTIGATION", "details": "corridor trigger" });
    if let Some(hours) = auto_unblock_hours {
        body["auto_unblock_hours"] = Value::from(hours);
    }
    stage.post(&format!("/v1/sdk/wallets/{wallet}/block"), &body).await?;
    stage.report("blocked", wallet)
}

async fn blacklist(stage: &Stage, wallet: &str) -> Result<(), Failure> {
    let body = json!({
        "regulatory_authority": "corridor trigger", "regulatory_reference_number": Uuid::new_v4().to_string(),
        "reason": "made up", "effective_date": jiff::Timestamp::now().strftime("%Y-%m-%d").to_string(),
    });
    stage.post(&format!("/v1/sdk/wallets/{wallet}/blacklist"), &body).await?;
    stage.report("blacklisted", wallet)
}

async fn order(stage: &Stage, amount: &str) -> Result<String, Failure> {
    let none = || {
        Failure::Usage(
            "--wallet-id required: a wallet with USDC (a running sandbox has one)".to_owned(),
        )
    };
    let wallet = stage.funded.as_deref().ok_or_else(none)?;
    let body = json!({
        "order_type": "EXCHANGE", "wallet_id": wallet, "amount": amount, "from_currency": "USDC", "to_currency": "PKR",
        "bank_account": { "iban": IBAN, "account_holder_name": "Ayesha Khan" },
    });
    let answer = stage.post("/v1/sdk/orders", &body).await?;
    let order = text(&answer, "order_id")?.to_owned();
    stage.report("order", &order)?;
    Ok(order)
}
