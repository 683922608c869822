//! What a call would do on the newest block, before a nonce is spent on it.

use domain::chain::{Address, Call, Simulated};
use domain::ids::TenantId;
use serde_json::json;

use super::EvmChain;
use crate::evm::abi;
use crate::evm::hex::{self, Hex};
use crate::evm::rpc::{NodeError, Request, RpcFault, read};

const CALL: &str = "eth_call";
const ESTIMATE: &str = "eth_estimateGas";

impl EvmChain {
    pub(super) async fn try_call(
        &self,
        tenant: TenantId,
        from: Address,
        controller: Address,
        call: &Call,
    ) -> Result<Simulated, RpcFault> {
        let target = self.contracts.target(tenant, from, controller, call);
        // What cannot even be written down would not work either.
        let target = match target {
            Ok(target) => target,
            Err(fault) => return Ok(Simulated::Reverts(fault.to_string())),
        };
        let (to, data) = (target.to.to_string(), hex::data(&target.data));
        let call_object = json!({"from": from.to_string(), "to": to, "data": data});
        let requests = [CALL, ESTIMATE].map(|method| Request::new(method, json!([call_object, "latest"])));
        let mut answers = self.primary.ask_all(&requests).await?.into_iter();
        let mut next = || answers.next().ok_or_else(|| RpcFault::Malformed("a request without an answer".to_owned()));
        let (answer, estimate) = (next()?, next()?);
        let (answer, estimate) = match (answer, estimate) {
            (Ok(answer), Ok(estimate)) => (answer, estimate),
            (Err(error), _) | (_, Err(error)) => return self.refused(error),
        };
        let Hex(answer) = read::<Hex<Vec<u8>>>(CALL, Ok(answer))?;
        let Hex(gas) = read::<Hex<u64>>(ESTIMATE, Ok(estimate))?;
        let each = match call {
            Call::Release(movements) | Call::Debit(movements) => abi::flags(&answer, movements.len())
                .ok_or_else(|| RpcFault::Malformed(format!("a batch answers {} bytes", answer.len())))?,
            _ => Vec::new(),
        };
        Ok(Simulated::Works { gas, each })
    }

    fn refused(&self, error: NodeError) -> Result<Simulated, RpcFault> {
        match &error.data {
            Some(data) if !data.is_empty() => Ok(Simulated::Reverts(self.contracts.reverts.describe(data))),
            _ if error.is_execution() => Ok(Simulated::Reverts(error.message)),
            _ => Err(RpcFault::Node(error)),
        }
    }
}
