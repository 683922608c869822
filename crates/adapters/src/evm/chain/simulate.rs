//! Simulates a call on the newest block before a nonce is spent on it. One node's success is
//! enough, since the chain settles it. A failure may end a payment, so it needs a quorum.

use domain::chain::{Address, Call, ChainFault, Simulated};
use domain::ids::TenantId;
use serde_json::json;

use super::EvmChain;
use super::quorum::disagreement;
use crate::evm::abi;
use crate::evm::hex::{self, Hex};
use crate::evm::rpc::{Endpoint, NodeError, Request, RpcFault, read};

const CALL: &str = "eth_call";
const ESTIMATE: &str = "eth_estimateGas";

impl EvmChain {
    pub(super) async fn try_call(
        &self,
        tenant: TenantId,
        from: Address,
        controller: Address,
        call: &Call,
    ) -> Result<Simulated, ChainFault> {
        let target = self.contracts.target(tenant, from, controller, call);
        // A call that cannot be encoded would fail as well.
        let target = match target {
            Ok(target) => target,
            Err(fault) => return Ok(Simulated::Reverts(fault.to_string())),
        };
        let (to, data) = (target.to.to_string(), hex::data(&target.data));
        let call_object = json!({"from": from.to_string(), "to": to, "data": data});
        let requests =
            [CALL, ESTIMATE].map(|method| Request::new(method, json!([call_object, "latest"])));
        let simulated = self.first(|node| Box::pin(self.simulated(node, &requests, call))).await?;
        if self.needed() < 2 || works_whole(&simulated) {
            return Ok(simulated);
        }
        let said = self.every(|node| Box::pin(self.simulated(node, &requests, call))).await;
        let (same, other): (Vec<_>, Vec<_>) =
            said.answers.iter().partition(|(_, answer)| is_same(&simulated, answer));
        if let Some((other, _)) = other.first() {
            let what = "whether a call would work".to_owned();
            return Err(match same.first() {
                Some((one, _)) => disagreement(what, one, other),
                None => ChainFault::Disagreement(what),
            });
        }
        match said.fault {
            Some(fault) if same.len() < self.needed() => Err(fault),
            _ => Ok(simulated),
        }
    }

    async fn simulated(
        &self,
        node: &Endpoint,
        requests: &[Request; 2],
        call: &Call,
    ) -> Result<Simulated, RpcFault> {
        let [answer, estimate] = node.ask_each_of(requests).await?;
        let (answer, estimate) = match (answer, estimate) {
            (Ok(answer), Ok(estimate)) => (answer, estimate),
            (Err(error), _) | (_, Err(error)) => return self.refused(node, error),
        };
        let Hex(answer) = read::<Hex<Vec<u8>>>(CALL, Ok(answer))?;
        let Hex(gas) = read::<Hex<u64>>(ESTIMATE, Ok(estimate))?;
        let each = match call.batch() {
            [] => Vec::new(),
            movements => abi::flags(&answer, movements.len()).ok_or_else(|| {
                RpcFault::Malformed(format!("a batch returned {} bytes", answer.len()))
            })?,
        };
        Ok(Simulated::Works { gas, each })
    }

    /// A revert ends a payment after a few attempts, so whatever else a node answers is its own
    /// fault.
    fn refused(&self, node: &Endpoint, error: NodeError) -> Result<Simulated, RpcFault> {
        tracing::warn!(node = node.name(), %error, "simulation failed");
        let (reverts, data) = (&self.contracts.reverts, error.data.as_deref().unwrap_or_default());
        match reverts.known(data) {
            Some(reason) => Ok(Simulated::Reverts(reason)),
            None if !error.is_revert() => Err(RpcFault::Node(error)),
            None if data.is_empty() => Ok(Simulated::Reverts(error.message)),
            None => Ok(Simulated::Reverts(reverts.describe(data))),
        }
    }
}

fn works_whole(simulated: &Simulated) -> bool {
    matches!(simulated, Simulated::Works { each, .. } if each.iter().all(|works| *works))
}

/// Nodes word rejections differently, and estimate gas differently.
fn is_same(one: &Simulated, other: &Simulated) -> bool {
    match (one, other) {
        (Simulated::Works { each: one, .. }, Simulated::Works { each: other, .. }) => one == other,
        (Simulated::Reverts(_), Simulated::Reverts(_)) => true,
        _ => false,
    }
}
