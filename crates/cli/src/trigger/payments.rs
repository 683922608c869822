//! Scenarios of the payment service.

use serde_json::json;

use super::super::document;
use super::super::failure::Failure;
use super::super::order::OrderArgs;
use super::scenarios::Way;
use super::{Stage, text};
use client::{LastQuote, Quote};

/// Longer than the validity of a quote, in seconds.
const QUOTE_OVER_S: u32 = 1_801;
/// A near match of the shipped sample list: enough for a review, not for a rejection.
const NEARLY_LISTED: &str = "Zorb Quib";

pub async fn play(stage: &Stage, way: Way) -> Result<(), Failure> {
    match way {
        Way::Quote => quote(stage).await.map(drop),
        Way::QuoteExpires => {
            quote(stage).await?;
            stage.advance(QUOTE_OVER_S).await
        }
        Way::Payment { ending } => pay(stage, OrderArgs::ending(ending)).await,
        Way::PaymentHeld => pay(stage, OrderArgs::to(NEARLY_LISTED)).await,
        other => Err(Failure::Usage(format!("{other:?} is not a payment scenario"))),
    }
}

async fn quote(stage: &Stage) -> Result<LastQuote, Failure> {
    let asked = json!({ "country": "PAK", "currency": "AED", "amount": 500 });
    let answer = stage.client.post("/v2/quote", &asked.to_string()).await?;
    let quote: Quote = document::read(&answer.body)?;
    stage.report("quote", &quote.id)?;
    let base_url = stage.client.credentials().base_url.clone();
    Ok(LastQuote { base_url, quote: document::raw(answer.body)?, account: None, branch: None })
}

async fn pay(stage: &Stage, order: OrderArgs) -> Result<(), Failure> {
    let last = quote(stage).await?;
    let quote: Quote = document::read(last.quote.get())?;
    let answer = stage.client.post("/v2/payment", &order.document(&last, &quote, true)?).await?;
    stage.report("payment", text(&document::read(&answer.body)?, "id")?)
}
