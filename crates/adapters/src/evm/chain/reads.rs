//! Questions with one answer: blocks, accounts, tokens. Each answer is held against the question.

use domain::chain::{Address, Block, BlockAt, BlockHash, ChainFault, Heads};
use serde_json::{Value, json};

use super::EvmChain;
use crate::evm::abi;
use crate::evm::hex::{self, Hex};
use crate::evm::rpc::{Endpoint, Request, RpcFault, height, read};
use crate::evm::wire::Header;

const BLOCK_BY_NUMBER: &str = "eth_getBlockByNumber";

fn malformed(what: impl Into<String>) -> RpcFault {
    RpcFault::Malformed(what.into())
}

/// A block without its transactions.
fn header_params(at: Value) -> Value {
    json!([at, false])
}

pub(super) async fn block(endpoint: &Endpoint, at: BlockAt) -> Result<Option<Block>, RpcFault> {
    let params = match at {
        BlockAt::Number(number) => header_params(height(number)),
        BlockAt::Latest => header_params(json!("latest")),
    };
    let header: Option<Header> = endpoint.ask(BLOCK_BY_NUMBER, params).await?;
    let block = header.map(Header::block);
    match (at, block) {
        (BlockAt::Number(number), Some(block)) if block.number != number => {
            Err(malformed(format!("block {} instead of {number}", block.number)))
        }
        _ => Ok(block),
    }
}

impl EvmChain {
    /// All three heads from one node at one time.
    pub(super) async fn read_heads(&self) -> Result<Heads, RpcFault> {
        let tags = ["latest", "safe", "finalized"];
        let requests = tags.map(|tag| Request::new(BLOCK_BY_NUMBER, header_params(json!(tag))));
        let mut answers = self.primary.ask_all(&requests).await?.into_iter();
        let mut next = || answers.next().ok_or_else(|| malformed("a request without an answer"));
        let latest = read::<Header>(BLOCK_BY_NUMBER, next()?)?.block();
        // A node that knows no such tag, or has no such block yet, says so with an error or null.
        let mut height_of = || match next()? {
            Ok(answer) => Ok(read::<Option<Header>>(BLOCK_BY_NUMBER, Ok(answer))?.map(|header| header.block().number)),
            Err(_) => Ok(None),
        };
        let (safe, finalized) = (height_of()?, height_of()?);
        let newest = latest.number;
        if safe.is_some_and(|safe| safe > newest) || finalized.is_some_and(|last| last > safe.unwrap_or(newest)) {
            return Err(malformed(format!("heads {newest}, safe {safe:?}, finalized {finalized:?} cannot be")));
        }
        Ok(Heads { latest, safe, finalized })
    }

    pub(super) async fn second_agrees(&self, number: u64, hash: BlockHash) -> Result<bool, ChainFault> {
        let Some(second) = &self.second else { return Ok(true) };
        let block = block(second, BlockAt::Number(number)).await.map_err(|fault| fault.at(second.name()))?;
        match block {
            Some(block) if block.hash != hash => Err(ChainFault::Disagreement(number)),
            other => Ok(other.is_some()),
        }
    }

    pub(super) async fn read_nonce(&self, account: Address) -> Result<u64, RpcFault> {
        let params = json!([account.to_string(), "latest"]);
        Ok(self.primary.ask::<Hex<u64>>("eth_getTransactionCount", params).await?.0)
    }

    pub(super) async fn read_gas_balance(&self, account: Address) -> Result<u128, RpcFault> {
        Ok(self.primary.ask::<Hex<u128>>("eth_getBalance", json!([account.to_string(), "latest"])).await?.0)
    }

    pub(super) async fn read_deployed(&self, contract: Address) -> Result<bool, RpcFault> {
        let params = json!([contract.to_string(), "latest"]);
        Ok(!self.primary.ask::<Hex<Vec<u8>>>("eth_getCode", params).await?.0.is_empty())
    }

    pub(super) async fn read_token_balance(&self, token: Address, account: Address) -> Result<u64, RpcFault> {
        Ok(abi::capped(&self.view(token, &abi::balance_of(&account)).await?))
    }

    pub(super) async fn read_blacklisted(&self, token: Address, account: Address) -> Result<bool, RpcFault> {
        let known = self.tokens.iter().find(|known| known.address == token);
        let coin = known.ok_or_else(|| malformed(format!("{token} is none of the coins")))?.coin;
        self.flag(token, &abi::is_blacklisted(coin, &account)).await
    }

    pub(super) async fn read_paused(&self, token: Address) -> Result<bool, RpcFault> {
        self.flag(token, &abi::paused()).await
    }

    pub(super) async fn read_operator(&self, controller: Address, account: Address) -> Result<bool, RpcFault> {
        self.flag(controller, &abi::is_operator(&account)).await
    }

    async fn flag(&self, contract: Address, data: &[u8]) -> Result<bool, RpcFault> {
        let word = self.view(contract, data).await?;
        abi::flag(&word).ok_or_else(|| malformed(format!("{contract} answers what is no bool")))
    }

    /// A getter that answers one word.
    async fn view(&self, contract: Address, data: &[u8]) -> Result<[u8; 32], RpcFault> {
        let call = json!({"to": contract.to_string(), "data": hex::data(data)});
        let Hex(answer) = self.primary.ask::<Hex<Vec<u8>>>("eth_call", json!([call, "latest"])).await?;
        // Where there is no contract, the answer is empty.
        abi::one_word(&answer).ok_or_else(|| malformed(format!("{contract} answers {} bytes", answer.len())))
    }
}
