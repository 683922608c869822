//! Authorizations of a token (EIP-3009): whether it has them, and which were used.

use domain::chain::{Address, ChainFault, SigningDomain, Word};
use serde_json::json;

use super::EvmChain;
use super::reads::flag;
use crate::evm::abi;
use crate::evm::hex::{self, Hex};
use crate::evm::rpc::{Endpoint, Outcome, Request, RpcFault, read};

const CALL: &str = "eth_call";
/// Longer names and versions are not shown to a wallet.
const TEXT_MAX_BYTES: usize = 64;

impl EvmChain {
    /// All nodes must agree. The separator is computed here again, so that no node can have a
    /// sender sign for another contract or chain.
    pub(super) async fn read_signing_domain(
        &self,
        token: Address,
    ) -> Result<Option<SigningDomain>, ChainFault> {
        let what = || format!("the signing domain of {token}");
        self.agreed(what, |node| Box::pin(domain_of(node, token, self.chain_id))).await
    }

    pub(super) async fn read_authorization_used(
        &self,
        token: Address,
        authorizer: Address,
        nonce: Word,
    ) -> Result<bool, ChainFault> {
        let data = hex::data(&abi::authorization_state(&authorizer, &nonce));
        let what = || format!("whether an authorization of {authorizer} is used");
        self.agreed(what, |node| Box::pin(flag(node, token, &data))).await
    }
}

async fn domain_of(
    node: &Endpoint,
    token: Address,
    chain_id: u64,
) -> Result<Option<SigningDomain>, RpcFault> {
    let [name, version, separator] = abi::signing_domain();
    let state = abi::authorization_state(&token, &Word([0; 32]));
    let requests = [name, version, separator, state].map(|data| {
        let call = json!({"to": token.to_string(), "data": hex::data(&data)});
        Request::new(CALL, json!([call, "latest"]))
    });
    let [name, version, separator, state] = node.ask_each_of(&requests).await?;
    let answers = (said(name)?, said(version)?, said(separator)?, said(state)?);
    let (Some(name), Some(version), Some(separator), Some(state)) = answers else {
        return Ok(None);
    };
    let has_state = abi::one_word(&state).is_some_and(|word| abi::flag(&word).is_some());
    let (Some(name), Some(version), true) = (text(&name), text(&version), has_state) else {
        return Ok(None);
    };
    let domain = SigningDomain { name, version, chain_id, token };
    Ok((separator == domain.separator().0).then_some(domain))
}

/// The result of a getter; `None` if the contract has no such function.
fn said(answer: Outcome) -> Result<Option<Vec<u8>>, RpcFault> {
    match answer {
        Err(error) if error.is_revert() => Ok(None),
        answer => read::<Hex<Vec<u8>>>(CALL, answer).map(|Hex(bytes)| Some(bytes)),
    }
}

fn text(answer: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(abi::only_bytes(answer)?).ok()?;
    (!text.is_empty() && text.len() <= TEXT_MAX_BYTES).then(|| text.to_owned())
}
