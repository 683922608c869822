//! Reads with a single answer: blocks, accounts, tokens. Each answer is checked against the
//! request.

use std::cmp::Reverse;

use domain::chain::{
    Address, Block, BlockAt, BlockHash, ChainFault, Heads, IntentOnChain, NonceReports, Word,
};
use domain::currency::StableCoin;
use serde_json::{Value, json};

use super::EvmChain;
use super::quorum::{Said, disagreement, no_node};
use crate::evm::abi;
use crate::evm::hex::{self, Hex};
use crate::evm::rpc::{Endpoint, Outcome, Request, RpcFault, height, read};
use crate::evm::wire::Header;

pub(super) const BLOCK_BY_NUMBER: &str = "eth_getBlockByNumber";
const CALL: &str = "eth_call";
/// Balances requested in one message.
const BALANCES_AT_ONCE: usize = 50;

pub(super) fn malformed(what: impl Into<String>) -> RpcFault {
    RpcFault::Malformed(what.into())
}

/// A block without its transactions.
pub(super) fn header_params(at: Value) -> Value {
    json!([at, false])
}

pub(super) async fn header(endpoint: &Endpoint, at: BlockAt) -> Result<Option<Header>, RpcFault> {
    let params = match at {
        BlockAt::Number(number) => header_params(height(number)),
        BlockAt::Latest => header_params(json!("latest")),
    };
    let header: Option<Header> = endpoint.ask(BLOCK_BY_NUMBER, params).await?;
    let found = header.as_ref().map(Header::block);
    match (at, found) {
        (BlockAt::Number(number), Some(block)) if block.number != number => {
            Err(malformed(format!("block {} instead of {number}", block.number)))
        }
        _ => Ok(header),
    }
}

pub(super) async fn block(endpoint: &Endpoint, at: BlockAt) -> Result<Option<Block>, RpcFault> {
    Ok(header(endpoint, at).await?.map(|header| header.block()))
}

impl EvmChain {
    /// A block from the first healthy node. If that node lacks it, another may have it.
    pub(super) async fn read_block(&self, at: BlockAt) -> Result<Option<Block>, ChainFault> {
        let header = self.first(|node| Box::pin(header(node, at))).await?;
        Ok(header.map(|header| {
            self.remember(&header);
            header.block()
        }))
    }

    /// The heads that a quorum of nodes has reached, each for itself: neither one node that claims
    /// too much nor, if there are more of them, one that is stuck decides. A node that does not
    /// report a finalized block counts as having none. Depths count from the newest block: too few
    /// answers for a quorum are a fault, not a head.
    pub(super) async fn read_heads(&self) -> Result<Heads, ChainFault> {
        let Said { answers, fault } = self.every(|node| Box::pin(heads_of(node))).await;
        answers.iter().for_each(|(node, heads)| node.note_head(heads.latest.number));
        let all: Vec<Heads> = answers.into_iter().map(|(_, heads)| heads).collect();
        let mut blocks: Vec<Block> = all.iter().map(|heads| heads.latest).collect();
        blocks.sort_by_key(|block| Reverse(block.number));
        let quorum = self.needed().checked_sub(1).and_then(|others| blocks.get(others));
        let latest = *quorum.ok_or_else(|| fault.unwrap_or_else(no_node))?;
        let safe = self.reached(all.iter().filter_map(|heads| heads.safe));
        let finalized = self.reached(all.iter().filter_map(|heads| heads.finalized));
        Ok(Heads { latest, safe, finalized })
    }

    /// The block with this hash at this height, if as many nodes have it as money needs. Its hash
    /// does not show a wrong time: that has to be the same, too.
    pub(super) async fn read_agreed_block(
        &self,
        number: u64,
        hash: BlockHash,
    ) -> Result<Option<Block>, ChainFault> {
        let said = self.every(|node| Box::pin(block(node, BlockAt::Number(number)))).await;
        let (mut having, mut other): (Vec<(&Endpoint, Block)>, _) = (Vec::new(), None);
        for (node, block) in said.answers {
            match block {
                Some(block) if block.hash == hash => having.push((node, block)),
                Some(_) => other = other.or(Some(node)),
                None => {}
            }
        }
        match (other, having.first()) {
            (Some(other), Some((having, _))) => {
                return Err(disagreement(format!("block {number}"), having, other));
            }
            (Some(_), None) if self.nodes.len() > 1 => {
                return Err(ChainFault::Disagreement(format!("block {number}")));
            }
            _ => {}
        }
        if let Some((one, first)) = having.first()
            && let Some((two, _)) = having.iter().find(|(_, block)| block.at != first.at)
        {
            return Err(disagreement(format!("the time of block {number}"), one, two));
        }
        match said.fault {
            _ if having.len() >= self.needed() => Ok(having.first().map(|(_, block)| *block)),
            Some(fault) => Err(fault),
            None => Ok(None),
        }
    }

    /// Whether another block has replaced one that was already processed: as many nodes as money
    /// needs say so. They outvote one that still has it, and not the other way round. If fewer
    /// answer, it is in doubt, and remains for now. A node with another block has to name the chain
    /// again: on another one, every block is another.
    pub(super) async fn is_replaced(&self, known: &Block) -> Result<bool, ChainFault> {
        let ask = async |node: &Endpoint| {
            let found = block(node, BlockAt::Number(known.number)).await?;
            if found.is_some_and(|found| found.hash != known.hash) {
                node.confirm_chain().await?;
            }
            Ok(found)
        };
        let said = self.every(|node| Box::pin(ask(node))).await;
        let found: Vec<(&Endpoint, BlockHash)> = said
            .answers
            .into_iter()
            .filter_map(|(node, block)| Some((node, block?.hash)))
            .collect();
        let with = |hash: BlockHash| found.iter().filter(|(_, other)| *other == hash).count();
        let here = found.iter().find(|(_, hash)| *hash == known.hash);
        let other =
            found.iter().filter(|(_, hash)| *hash != known.hash).max_by_key(|(_, it)| with(*it));
        let needed = self.needed();
        match (here, other, said.fault) {
            (Some(_), Some((_, hash)), _) if with(*hash) >= needed && with(known.hash) < needed => {
                Ok(true)
            }
            (Some((here, _)), Some((other, _)), _) => {
                Err(disagreement(format!("block {}", known.number), here, other))
            }
            (None, _, fault) if found.len() < needed => fault.map_or(Ok(false), Err),
            (_, other, _) => Ok(other.is_some()),
        }
    }

    /// Whether the contract has code: as many nodes say so as money needs, or all that answer. Nodes
    /// differ while the block of its deployment spreads: as long as neither side has as many, none
    /// has answered.
    pub(super) async fn read_deployed(&self, contract: Address) -> Result<bool, ChainFault> {
        let said = self.every(|node| Box::pin(is_deployed(node, contract))).await;
        let answers = said.any()?;
        let needed = self.needed().min(answers.len());
        let saying = |it: bool| answers.iter().filter(|is_there| **is_there == it).count();
        match (saying(true) >= needed, saying(false) >= needed) {
            (true, _) => Ok(true),
            (false, true) => Ok(false),
            (false, false) => {
                let what = format!("nodes differ on whether {contract} has code");
                Err(ChainFault::Unreachable(what))
            }
        }
    }

    pub(super) async fn read_nonces(&self, account: Address) -> Result<NonceReports, ChainFault> {
        let answered = self.every(|node| Box::pin(nonce(node, account))).await.any()?;
        let silent = self.nodes.len() - answered.len();
        Ok(NonceReports { answered, silent })
    }

    pub(super) async fn read_blacklisted(
        &self,
        token: Address,
        account: Address,
    ) -> Result<bool, ChainFault> {
        let known = self.tokens.iter().find(|known| known.address == token);
        let unknown =
            || malformed(format!("{token} is not a supported token")).at(self.first_name());
        let coin = known.ok_or_else(unknown)?.coin;
        let what = || format!("whether {account} is on the blacklist of {token}");
        let mut answer = Err(unknown());
        let on_empty = if coin == StableCoin::Usdt { OnEmpty::Reverts } else { OnEmpty::Fails };
        for data in abi::is_blacklisted(coin, &account) {
            answer = self.agreed_flag(token, data, what, on_empty).await;
            if !matches!(answer, Err(ChainFault::Reverted { .. })) {
                break;
            }
        }
        answer
    }

    pub(super) async fn read_paused(&self, token: Address) -> Result<bool, ChainFault> {
        let what = || format!("whether {token} is paused");
        self.agreed_flag(token, abi::paused(), what, OnEmpty::Fails).await
    }

    pub(super) async fn read_decimals(&self, token: Address) -> Result<Option<u64>, ChainFault> {
        let what = || format!("the decimals of {token}");
        let said = self
            .agreed(what, |node| Box::pin(async move { or_reverts(decimals(node, token).await) }));
        said.await?.map_err(|Reverts(fault)| fault.at(self.first_name()))
    }

    pub(super) async fn read_intent_state(
        &self,
        controller: Address,
        intent: &Word,
    ) -> Result<IntentOnChain, ChainFault> {
        let data = hex::data(&abi::state_of(intent));
        let data = data.as_str();
        let what = || format!("the state of intent {intent} in {controller}");
        let said = self.agreed(what, |node| {
            Box::pin(async move { or_reverts(intent_state(node, controller, data).await) })
        });
        said.await?.map_err(|Reverts(fault)| fault.at(self.first_name()))
    }

    async fn agreed_flag(
        &self,
        contract: Address,
        data: Vec<u8>,
        what: impl Fn() -> String,
        on_empty: OnEmpty,
    ) -> Result<bool, ChainFault> {
        let data = hex::data(&data);
        let data = data.as_str();
        let said = self.agreed(what, |node| {
            Box::pin(async move { or_reverts(read_flag(node, contract, data, on_empty).await) })
        });
        said.await?.map_err(|Reverts(fault)| fault.at(self.first_name()))
    }

    pub(super) async fn read_balances(
        &self,
        token: Address,
        accounts: &[Address],
    ) -> Result<Vec<u64>, ChainFault> {
        let mut balances = Vec::with_capacity(accounts.len());
        for some in accounts.chunks(BALANCES_AT_ONCE) {
            balances.extend(self.first(|node| Box::pin(balances_of(node, token, some))).await?);
        }
        Ok(balances)
    }

    pub(super) async fn read_balance_after(
        &self,
        token: Address,
        account: Address,
        after: &Block,
    ) -> Result<Option<u64>, ChainFault> {
        let said = self.every(|node| Box::pin(balance_after(node, token, account, *after))).await;
        let late = said.answers.iter().any(|(_, balance)| balance.is_none());
        let known = said.answers.into_iter().filter_map(|(node, balance)| Some((node, balance?)));
        let known = Said { answers: known.collect(), fault: said.fault };
        let what = || format!("what {account} holds of {token} after block {}", after.number);
        match self.settle(known, what) {
            Ok(balance) => Ok(Some(balance)),
            Err(ChainFault::Unreachable(_)) if late => Ok(None),
            Err(fault) => Err(fault),
        }
    }
}

/// All three heads from one node in one request. Only the newest block is required: a node that does
/// not support a tag, or has no block for it yet, returns an error or null, and some return nonsense.
async fn heads_of(node: &Endpoint) -> Result<Heads, RpcFault> {
    let tags = ["latest", "safe", "finalized"];
    let requests = tags.map(|tag| Request::new(BLOCK_BY_NUMBER, header_params(json!(tag))));
    let (latest, safe, finalized) = match node.ask_each_of(&requests).await {
        Ok([latest, safe, finalized]) => {
            let latest: Header = read(BLOCK_BY_NUMBER, latest)?;
            (latest.block(), height_of(node, safe), height_of(node, finalized))
        }
        // The tags may be what it answers nonsense to.
        Err(fault @ RpcFault::Malformed(_)) => match block(node, BlockAt::Latest).await {
            Ok(Some(latest)) => (latest, None, None),
            _ => return Err(fault),
        },
        Err(fault) => return Err(fault),
    };
    // The nodes of one load balancer differ by a block, and instant finality has none between them.
    let safe = safe.map(|safe| safe.min(latest.number));
    let finalized = finalized.map(|finalized| finalized.min(safe.unwrap_or(latest.number)));
    Ok(Heads { latest, safe, finalized })
}

fn height_of(node: &Endpoint, outcome: Outcome) -> Option<u64> {
    let header = read::<Option<Header>>(BLOCK_BY_NUMBER, outcome).unwrap_or_else(|fault| {
        tracing::debug!(node = node.name(), %fault, "block tag read failed, counts as unsupported");
        None
    });
    Some(header?.block().number)
}

pub(super) async fn nonce(node: &Endpoint, account: Address) -> Result<u64, RpcFault> {
    let params = json!([account.to_string(), "latest"]);
    Ok(node.ask::<Hex<u64>>("eth_getTransactionCount", params).await?.0)
}

pub(super) async fn gas_balance(node: &Endpoint, account: Address) -> Result<u128, RpcFault> {
    Ok(node.ask::<Hex<u128>>("eth_getBalance", json!([account.to_string(), "latest"])).await?.0)
}

async fn is_deployed(node: &Endpoint, contract: Address) -> Result<bool, RpcFault> {
    let params = json!([contract.to_string(), "latest"]);
    Ok(!node.ask::<Hex<Vec<u8>>>("eth_getCode", params).await?.0.is_empty())
}

pub(super) async fn is_operator(
    node: &Endpoint,
    controller: Address,
    account: Address,
) -> Result<bool, RpcFault> {
    flag(node, controller, &hex::data(&abi::is_operator(&account))).await
}

/// A contract's answer to a call on the newest block.
async fn call(node: &Endpoint, contract: Address, data: &str) -> Result<Vec<u8>, RpcFault> {
    let call = json!({"to": contract.to_string(), "data": data});
    let answered = node.ask::<Hex<Vec<u8>>>(CALL, json!([call, "latest"])).await;
    answered.map(|Hex(answer)| answer).map_err(|fault| fault.of_call(contract))
}

/// A contract reverts a call. Nodes word it differently.
struct Reverts(RpcFault);

impl PartialEq for Reverts {
    fn eq(&self, _: &Reverts) -> bool {
        true
    }
}

/// That a contract reverts is an answer, on which nodes have to agree.
fn or_reverts<T>(said: Result<T, RpcFault>) -> Result<Result<T, Reverts>, RpcFault> {
    match said {
        Err(fault @ RpcFault::Reverted { .. }) => Ok(Err(Reverts(fault))),
        other => other.map(Ok),
    }
}

/// What an answer without data means.
#[derive(Clone, Copy, PartialEq, Eq)]
enum OnEmpty {
    Fails,
    /// A USDT contract without the function answers with nothing, if it does not revert.
    Reverts,
}

pub(super) async fn flag(node: &Endpoint, contract: Address, data: &str) -> Result<bool, RpcFault> {
    read_flag(node, contract, data, OnEmpty::Fails).await
}

async fn read_flag(
    node: &Endpoint,
    contract: Address,
    data: &str,
    on_empty: OnEmpty,
) -> Result<bool, RpcFault> {
    let answer = call(node, contract, data).await?;
    if answer.is_empty() && on_empty == OnEmpty::Reverts {
        return Err(RpcFault::empty(contract));
    }
    abi::flag(&one_word(contract, &answer)?)
        .ok_or_else(|| malformed(format!("{contract} returned a value that is not a bool")))
}

async fn intent_state(
    node: &Endpoint,
    controller: Address,
    data: &str,
) -> Result<IntentOnChain, RpcFault> {
    let answer = call(node, controller, data).await?;
    let state = usize::try_from(abi::capped(&one_word(controller, &answer)?)).ok();
    let known = state.and_then(|state| IntentOnChain::ALL.get(state).copied());
    known.ok_or_else(|| malformed(format!("{controller} returned an unknown state of an intent")))
}

/// A number of wei, at most `u64::MAX`.
pub(super) async fn wei(node: &Endpoint, contract: Address, data: &str) -> Result<u128, RpcFault> {
    let answer = call(node, contract, data).await?;
    Ok(u128::from(abi::capped(&one_word(contract, &answer)?)))
}

async fn decimals(node: &Endpoint, token: Address) -> Result<Option<u64>, RpcFault> {
    let answer = call(node, token, &hex::data(&abi::decimals())).await?;
    if answer.is_empty() {
        return Ok(None);
    }
    Ok(Some(abi::capped(&one_word(token, &answer)?)))
}

/// The result of a getter. It is empty if there is no contract.
fn one_word(contract: Address, answer: &[u8]) -> Result<[u8; 32], RpcFault> {
    abi::one_word(answer)
        .ok_or_else(|| malformed(format!("{contract} returned {} bytes", answer.len())))
}

fn balance_request(token: Address, account: Address, at: Value) -> Request {
    let call = json!({"to": token.to_string(), "data": hex::data(&abi::balance_of(&account))});
    Request::new(CALL, json!([call, at]))
}

pub(super) async fn balances_of(
    node: &Endpoint,
    token: Address,
    accounts: &[Address],
) -> Result<Vec<u64>, RpcFault> {
    let requests: Vec<Request> =
        accounts.iter().map(|account| balance_request(token, *account, json!("latest"))).collect();
    let answers = match &requests[..] {
        [] => return Ok(Vec::new()),
        requests => node.ask_all(requests).await?,
    };
    let balance = |answer| {
        let read = read::<Hex<Vec<u8>>>(CALL, answer);
        let Hex(answer) = read.map_err(|fault| fault.of_call(token))?;
        Ok(abi::capped(&one_word(token, &answer)?))
    };
    answers.into_iter().map(balance).collect()
}

/// `None` = the node does not have that block.
async fn balance_after(
    node: &Endpoint,
    token: Address,
    account: Address,
    after: Block,
) -> Result<Option<u64>, RpcFault> {
    let at = height(after.number);
    let requests = [
        balance_request(token, account, at.clone()),
        Request::new(BLOCK_BY_NUMBER, header_params(at)),
    ];
    let [balance, header] = node.ask_each_of(&requests).await?;
    let header: Option<Header> = read(BLOCK_BY_NUMBER, header)?;
    if header.is_none_or(|header| header.block().hash != after.hash) {
        return Ok(None);
    }
    let read = read::<Hex<Vec<u8>>>(CALL, balance);
    let Hex(answer) = read.map_err(|fault| fault.of_call(token))?;
    Ok(Some(abi::capped(&one_word(token, &answer)?)))
}
