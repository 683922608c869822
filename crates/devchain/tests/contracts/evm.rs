//! A chain without blocks: one state, one clock, sequential transactions. Gas is free, and nothing
//! is signed.

use revm::bytecode::Bytecode;
use revm::context::result::{ExecutionResult, Output};
use revm::context::{BlockEnv, CfgEnv, TxEnv};
use revm::database::{CacheDB, EmptyDB};
use revm::database_interface::DatabaseRef as _;
use revm::primitives::hardfork::SpecId;
use revm::primitives::{Address, Bytes, Log, TxKind, U256};
use revm::{Context, ExecuteCommitEvm as _, ExecuteEvm as _, MainBuilder as _, MainContext as _};

use crate::abi;
use crate::artifacts;

/// Maximum gas of one transaction (EIP-7825).
pub const GAS_MAX: u64 = 1 << 24;
pub const START: u64 = 1_800_000_000;

/// A chain state; clones are independent of each other.
#[derive(Clone)]
pub struct Evm {
    db: CacheDB<EmptyDB>,
    now: u64,
}

/// Result of a transaction.
#[derive(Clone, Debug)]
pub struct Outcome {
    pub ok: bool,
    /// Return data or revert reason; empty if all gas was burned.
    pub output: Bytes,
    pub logs: Vec<Log>,
    pub gas: u64,
    created: Option<Address>,
}

impl Outcome {
    /// Names of the events, in order.
    pub fn events(&self) -> Vec<&'static str> {
        self.logs.iter().map(|log| artifacts::event(&log.topics()[0])).collect()
    }

    /// Reason of the refusal.
    pub fn refusal(&self) -> String {
        assert!(!self.ok, "it worked: {self:?}");
        artifacts::refusal(&self.output)
    }

    #[track_caller]
    pub fn must(self) -> Outcome {
        assert!(self.ok, "refused: {}", artifacts::refusal(&self.output));
        self
    }
}

impl Evm {
    pub fn new() -> Evm {
        Evm { db: CacheDB::new(EmptyDB::default()), now: START }
    }

    #[track_caller]
    pub fn deploy(&mut self, from: Address, code: Vec<u8>) -> Address {
        self.try_deploy(from, code).must().created.unwrap()
    }

    pub fn try_deploy(&mut self, from: Address, code: Vec<u8>) -> Outcome {
        self.transact(from, TxKind::Create, code.into(), U256::ZERO, GAS_MAX)
    }

    /// A call that changes the state.
    pub fn send(&mut self, from: Address, to: Address, data: Bytes) -> Outcome {
        self.transact(from, TxKind::Call(to), data, U256::ZERO, GAS_MAX)
    }

    pub fn send_with_gas(&mut self, from: Address, to: Address, data: Bytes, gas: u64) -> Outcome {
        self.transact(from, TxKind::Call(to), data, U256::ZERO, gas)
    }

    /// A payment of ether.
    pub fn pay(&mut self, from: Address, to: Address, wei: u64) -> Outcome {
        self.transact(from, TxKind::Call(to), Bytes::new(), U256::from(wei), GAS_MAX)
    }

    /// A call that must succeed and changes nothing.
    #[track_caller]
    pub fn look(&mut self, to: Address, signature: &str, args: &[abi::Arg]) -> Bytes {
        let tx = self.tx(
            Address::ZERO,
            TxKind::Call(to),
            abi::call(signature, args),
            U256::ZERO,
            GAS_MAX,
        );
        let result =
            context(self.now).with_db(&mut self.db).build_mainnet().transact(tx).unwrap().result;
        outcome(result).must().output
    }

    /// Seconds since 1970.
    pub const fn now(&self) -> u64 {
        self.now
    }

    pub fn advance(&mut self, seconds: u64) {
        self.now += seconds;
    }

    pub fn give_ether(&mut self, to: Address, wei: u64) {
        let info = self.db.basic_ref(to).unwrap().unwrap_or_default();
        self.db.insert_account_info(to, info.with_balance(U256::from(wei)));
    }

    pub fn ether(&self, of: Address) -> U256 {
        self.db.basic_ref(of).unwrap().map_or(U256::ZERO, |account| account.balance)
    }

    /// Sets the code of an address without a deployment.
    pub fn put_code(&mut self, at: Address, code: &[u8]) {
        let mut info = self.db.basic_ref(at).unwrap().unwrap_or_default();
        let code = Bytecode::new_raw(Bytes::copy_from_slice(code));
        info.code_hash = code.hash_slow();
        info.code = Some(code);
        self.db.insert_account_info(at, info);
    }

    pub fn has_code(&self, at: Address) -> bool {
        self.db.basic_ref(at).unwrap().is_some_and(|account| !account.is_empty_code_hash())
    }

    fn transact(
        &mut self,
        from: Address,
        kind: TxKind,
        data: Bytes,
        wei: U256,
        gas: u64,
    ) -> Outcome {
        let tx = self.tx(from, kind, data, wei, gas);
        outcome(
            context(self.now).with_db(&mut self.db).build_mainnet().transact_commit(tx).unwrap(),
        )
    }

    fn tx(&self, caller: Address, kind: TxKind, data: Bytes, value: U256, gas_limit: u64) -> TxEnv {
        let nonce = self.db.basic_ref(caller).unwrap().map_or(0, |account| account.nonce);
        TxEnv { caller, kind, data, value, gas_limit, nonce, gas_price: 0, ..TxEnv::default() }
    }
}

fn context(now: u64) -> revm::handler::MainnetContext<EmptyDB> {
    let mut cfg = CfgEnv::new_with_spec(SpecId::OSAKA);
    // Contracts may send transactions here: some tests need one in a role.
    cfg.disable_eip3607 = true;
    cfg.disable_block_gas_limit = true;
    let block =
        BlockEnv { number: U256::from(1), timestamp: U256::from(now), ..BlockEnv::default() };
    Context::mainnet().with_cfg(cfg).with_block(block)
}

fn outcome(result: ExecutionResult) -> Outcome {
    let gas = result.tx_gas_used();
    match result {
        ExecutionResult::Success { output, logs, .. } => {
            let created = if let Output::Create(_, address) = output { address } else { None };
            Outcome { ok: true, output: output.into_data(), logs, gas, created }
        }
        ExecutionResult::Revert { output, .. } => {
            Outcome { ok: false, output, logs: Vec::new(), gas, created: None }
        }
        ExecutionResult::Halt { .. } => {
            Outcome { ok: false, output: Bytes::new(), logs: Vec::new(), gas, created: None }
        }
    }
}
