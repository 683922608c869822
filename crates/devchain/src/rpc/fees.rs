//! Current and past gas fees.

use serde_json::{Value, json};

use super::fault::RpcFault;
use super::params::{self, Params, at};
use super::read::{get, wei};
use super::show::quantity;
use crate::block::{Block, next_base_fee};
use crate::sight::Sight;

/// Suggested tip, in wei per gas.
pub(crate) const TIP: u64 = 1_000_000_000;
/// Maximum blocks of one history.
const BLOCKS_MAX: u64 = 1_024;
/// Maximum percentiles of one history.
const PERCENTILES_MAX: usize = 100;
/// Resolution of percentiles, in parts of a hundredth.
const PERCENTILE_SCALE: u64 = 1_000_000;
/// Decimals of a ratio: more than a reader's binary fraction can hold.
const RATIO_DIGITS: u32 = 21;

pub(crate) fn gas_price(sight: &Sight<'_>) -> Value {
    wei(u128::from(sight.head().base_fee()) + u128::from(TIP))
}

pub(crate) fn history(sight: &Sight<'_>, params: Params<'_>) -> Result<Value, RpcFault> {
    let count = count(params)?.min(BLOCKS_MAX);
    let newest = get(sight, params.block(1)?)?;
    let percentiles = percentiles(params)?;
    let oldest = (newest.number() + 1).saturating_sub(count);
    let blocks: Vec<_> =
        (oldest..=newest.number()).rev().map_while(|number| sight.block(number)).collect();
    if count == 0 || blocks.is_empty() {
        return Ok(json!({ "oldestBlock": "0x0", "gasUsedRatio": null }));
    }
    let oldest = blocks.last().map_or(oldest, |block| block.number());
    let in_order = || blocks.iter().rev();
    let next = match sight.block(newest.number() + 1) {
        Some(next) => next.base_fee(),
        None if newest.number() == sight.chain.head().number() => sight.chain.next_base_fee(),
        None => next_base_fee(&newest.header),
    };
    let mut base_fees: Vec<_> = in_order().map(|block| quantity(block.base_fee())).collect();
    base_fees.push(quantity(next));
    let ratios: Vec<_> =
        in_order().map(|block| ratio(block.header.gas_used, block.header.gas_limit)).collect();
    let mut history = json!({
        "oldestBlock": quantity(oldest),
        "baseFeePerGas": base_fees,
        "gasUsedRatio": ratios,
        "baseFeePerBlobGas": vec!["0x1"; blocks.len() + 1],
        "blobGasUsedRatio": vec![0; blocks.len()],
    });
    if let Some(percentiles) = percentiles {
        history["reward"] = in_order().map(|block| rewards(block, &percentiles)).collect();
    }
    Ok(history)
}

/// A quantity or a plain number.
fn count(params: Params<'_>) -> Result<u64, RpcFault> {
    let value = params.get(0)?;
    value.as_u64().map_or_else(|| params::number(value).map_err(at(0)), Ok)
}

/// In millionths of a hundredth; `None` if not requested.
fn percentiles(params: Params<'_>) -> Result<Option<Vec<u64>>, RpcFault> {
    let Some(values) = params.optional(2) else { return Ok(None) };
    let values = values
        .as_array()
        .ok_or_else(|| RpcFault::params("invalid argument 2: a list is expected"))?;
    let invalid = |what: String| RpcFault::server(format!("invalid reward percentile: {what}"));
    if values.len() > PERCENTILES_MAX {
        return Err(invalid(format!("over the query limit {PERCENTILES_MAX}")));
    }
    let parse =
        |value: &Value| scaled(&value.to_string()).ok_or_else(|| invalid(value.to_string()));
    let parsed = values.iter().map(parse).collect::<Result<Vec<_>, _>>()?;
    match parsed.is_sorted()
        && parsed.iter().all(|percentile| *percentile <= 100 * PERCENTILE_SCALE)
    {
        true => Ok(Some(parsed).filter(|parsed| !parsed.is_empty())),
        false => Err(invalid("they rise from 0 to 100".to_owned())),
    }
}

/// A decimal number in millionths. Further digits are truncated.
fn scaled(text: &str) -> Option<u64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits = format!("{:0<width$}", fraction.get(..6).unwrap_or(fraction), width = 6);
    whole.parse::<u64>().ok()?.checked_mul(PERCENTILE_SCALE)?.checked_add(digits.parse().ok()?)
}

/// A fraction as a JSON number.
fn ratio(used: u64, limit: u64) -> Value {
    const ONE: u128 = 10_u128.pow(RATIO_DIGITS);
    let scaled = u128::from(used).saturating_mul(ONE) / u128::from(limit.max(1));
    let (whole, fraction) = (scaled / ONE, scaled % ONE);
    let text = match fraction {
        0 => whole.to_string(),
        _ => format!("{whole}.{fraction:0width$}", width = RATIO_DIGITS as usize),
    };
    serde_json::from_str(&text).unwrap_or_default()
}

/// A block's tips at these percentiles of its gas.
fn rewards(block: &Block, percentiles: &[u64]) -> Value {
    let txs = block.body.txs.iter().zip(&block.body.receipts);
    let mut tips: Vec<_> =
        txs.map(|(tx, receipt)| (tx.tip(block.base_fee()), receipt.gas_used)).collect();
    tips.sort_unstable();
    let reward = |percentile: &u64| {
        let wanted = u128::from(block.header.gas_used) * u128::from(*percentile)
            / u128::from(100 * PERCENTILE_SCALE);
        let mut sum = 0;
        let at = tips.iter().find(|(_, gas)| {
            sum += u128::from(*gas);
            sum >= wanted
        });
        wei(at.or(tips.last()).map_or(0, |(tip, _)| *tip))
    };
    percentiles.iter().map(reward).collect()
}
