//! `eth_getLogs`: by block or range, contracts, and topics.

use alloy_primitives::{Address, B256, Bloom, BloomInput, Log};
use serde_json::{Map, Value};

use super::fault::RpcFault;
use super::params::{self, BlockId, Params, at};
use super::show;
use crate::block::Block;
use crate::sight::Sight;

/// Maximum contracts, and maximum choices per topic.
const CHOICES_MAX: usize = 1_000;
/// Number of topics of a log.
const TOPICS_MAX: usize = 4;

struct Filter {
    /// An empty list matches any contract.
    contracts: Vec<Address>,
    /// Permitted topics per position; empty means any.
    topics: Vec<Vec<B256>>,
}

pub(crate) fn logs(sight: &Sight<'_>, params: Params<'_>, most: usize) -> Result<Value, RpcFault> {
    let fields = params
        .get(0)?
        .as_object()
        .ok_or_else(|| RpcFault::params("invalid argument 0: not an object"))?;
    let filter = Filter::read(fields)?;
    let mut found = Vec::new();
    for block in blocks(sight, fields)? {
        if !filter.may_be_in(&block.header.logs_bloom) {
            continue;
        }
        let all = (0..block.body.txs.len()).flat_map(|index| show::logs(sight, block, index));
        for log in all.filter(|shown| filter.takes(shown.log)) {
            if found.len() >= most {
                return Err(RpcFault::too_many_logs(most));
            }
            found.push(log.to_json());
        }
    }
    Ok(Value::Array(found))
}

fn blocks<'a>(sight: &Sight<'a>, fields: &Map<String, Value>) -> Result<Vec<&'a Block>, RpcFault> {
    let field = |name: &str| fields.get(name).filter(|value| !value.is_null());
    let (from, to) = (field("fromBlock"), field("toBlock"));
    if let Some(hash) = field("blockHash") {
        if from.is_some() || to.is_some() {
            let what =
                "cannot specify both BlockHash and FromBlock/ToBlock, choose one or the other";
            return Err(RpcFault::params(format!("invalid argument 0: {what}")));
        }
        let hash = params::hash(hash).map_err(at(0))?;
        return Ok(vec![sight.by_hash(&hash).ok_or_else(|| RpcFault::server("unknown block"))?]);
    }
    let (from, to) = (height(sight, from)?, height(sight, to)?);
    if from > to {
        return Err(RpcFault::params("invalid block range params"));
    }
    // An incomplete list would be a wrong answer.
    if from < sight.chain.history.complete_from() {
        return Err(RpcFault::pruned());
    }
    Ok(sight.chain.history.range(from, to.min(sight.head_number())).collect())
}

fn height(sight: &Sight<'_>, value: Option<&Value>) -> Result<u64, RpcFault> {
    Ok(match value.map(params::block_id).transpose().map_err(at(0))? {
        Some(BlockId::Number(number)) => number,
        Some(BlockId::Safe) => sight.safe_number(),
        Some(BlockId::Finalized) => sight.finalized_number(),
        Some(BlockId::Hash(_)) => return Err(at(0)("a number or a name is expected".to_owned())),
        Some(BlockId::Latest | BlockId::Pending) | None => sight.head_number(),
    })
}

impl Filter {
    fn read(fields: &Map<String, Value>) -> Result<Filter, RpcFault> {
        let contracts = choices(fields.get("address"), params::address)?;
        let topics = match fields.get("topics") {
            None | Some(Value::Null) => Vec::new(),
            Some(Value::Array(places)) if places.len() <= TOPICS_MAX => places
                .iter()
                .map(|place| choices(Some(place), params::hash))
                .collect::<Result<_, _>>()?,
            Some(Value::Array(_)) => return Err(RpcFault::params("exceed max topics")),
            Some(_) => return Err(at(0)("topics: a list is expected".to_owned())),
        };
        Ok(Filter { contracts, topics })
    }

    /// Whether a block with this bloom can have a matching log.
    fn may_be_in(&self, bloom: &Bloom) -> bool {
        let contains = |bytes: &[u8]| bloom.contains_input(BloomInput::Raw(bytes));
        let has_contract =
            self.contracts.is_empty() || self.contracts.iter().any(|one| contains(one.as_slice()));
        has_contract
            && self.topics.iter().all(|place| {
                place.is_empty() || place.iter().any(|topic| contains(topic.as_slice()))
            })
    }

    fn takes(&self, log: &Log) -> bool {
        let has_contract = self.contracts.is_empty() || self.contracts.contains(&log.address);
        has_contract
            && self.topics.len() <= log.topics().len()
            && self
                .topics
                .iter()
                .zip(log.topics())
                .all(|(place, topic)| place.is_empty() || place.contains(topic))
    }
}

/// One value, a list of them, or nothing.
fn choices<T>(
    value: Option<&Value>,
    parse: fn(&Value) -> Result<T, String>,
) -> Result<Vec<T>, RpcFault> {
    match value {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::Array(values)) if values.len() > CHOICES_MAX => {
            Err(RpcFault::params("exceed max addresses or topics"))
        }
        Some(Value::Array(values)) => {
            values.iter().map(parse).collect::<Result<_, _>>().map_err(at(0))
        }
        Some(one) => Ok(vec![parse(one).map_err(at(0))?]),
    }
}
