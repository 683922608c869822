//! A chain with tokens and a tenant's controller, and the steps of the tests.

use std::sync::Arc;

use adapters::evm::deploy::{CircleCode, CircleRoles, Deployer, Minter, circle_usdc};
use adapters::evm::signers::{LocalKey, TenantKeys};
use adapters::evm::{CREATE2_DEPLOYER, EvmChain, EvmContracts, EvmSigner, Transport};
use domain::chain::vault::{self, VaultKind};
use domain::chain::{
    Address, Broadcast, Call, ChainConfig, ChainNumber, Depth, Fees, KeyRole, Movement, Plan,
    Receipt, Signed, Simulated, Token, Unsigned, Word,
};
use domain::currency::StableCoin;
use domain::ids::TenantId;
use domain::ports::{BoxFuture, Chain as _, ChainSigner as _, Clock, Contracts as _, Controller};
use domain::time::Timestamp;
use testkit::circle::FiatToken;
use uuid::Uuid;

use crate::ground::{CHAIN_ID, Ground};

pub const ETHER: u128 = 1_000_000_000_000_000_000;
const SEED: &str = "seed of the tests";

pub struct World {
    pub ground: Ground,
    pub chain: EvmChain,
    pub signer: EvmSigner,
    staff: Staff,
    pub minter: Minter,
    pub tenant: TenantId,
    pub controller: Controller,
    pub usdc: Address,
    pub usdt: Address,
}

pub fn config(tokens: Vec<Token>) -> ChainConfig {
    ChainConfig {
        number: ChainNumber::FIRST,
        name: "ethereum".to_owned(),
        chain_id: CHAIN_ID,
        tokens,
        small_below: 0,
        small_depth: Depth::Blocks(1),
        medium_below: 0,
        medium_depth: Depth::Blocks(1),
        large_depth: Depth::Blocks(1),
        settled_depth: Depth::Blocks(1),
        explorer_tx_url: String::new(),
        batch_max: 20,
        replace_after_s: 60,
        max_fee_cap: u128::MAX,
        max_tip_cap: u128::MAX,
        min_tip: 100_000_000,
        gas_coin: "ETH".to_owned(),
        sponsor: None,
        block_age_max: None,
        release_min: domain::chain::ReleaseMin::Fixed(0),
        sweep: domain::chain::SweepTerms { at_minor: i64::MAX, every: domain::time::Span::days(1) },
    }
}

/// The clock is stopped: a failed node rests for ever, and no node fails twice.
struct StillClock;

impl Clock for StillClock {
    fn now(&self) -> Timestamp {
        Timestamp(0)
    }

    fn sleep_until(&self, _: Timestamp) -> BoxFuture<'static, ()> {
        Box::pin(std::future::pending())
    }
}

fn clock() -> Arc<dyn Clock> {
    Arc::new(StillClock)
}

/// The signer and the contracts.
pub struct Staff {
    pub keys: Arc<TenantKeys>,
    pub contracts: Arc<EvmContracts>,
}

impl Staff {
    /// With keys that are kept in memory.
    pub fn sandbox() -> Staff {
        let keys = Arc::new(TenantKeys::sandbox(SEED.into()));
        let contracts = EvmContracts::sandbox(Arc::clone(&keys), &SEED.into()).expect("contracts");
        Staff { keys, contracts: Arc::new(contracts) }
    }

    /// The same with wallets that wait for a controller of version 1.
    pub fn of_version_1() -> Staff {
        let staff = Staff::sandbox();
        let controller = released(&staff.keys, &staff.contracts);
        assert_eq!(staff.contracts.keep_awaited(tenant(), controller, None), Ok(true));
        staff
    }
}

/// The controller of version 1 of a tenant's keys and owners.
fn released(keys: &TenantKeys, contracts: &EvmContracts) -> Controller {
    let artifact = include_str!("../../../../contracts/released/1/CorridorController.json");
    let artifact: serde_json::Value = serde_json::from_str(artifact).expect("JSON");
    let digits = artifact["bytecode"].as_str().and_then(|hex| hex.strip_prefix("0x")).expect("hex");
    let byte = |at| u8::from_str_radix(&digits[at..at + 2], 16).expect("a byte");
    let mut code: Vec<u8> = (0..digits.len()).step_by(2).map(byte).collect();
    let owners = contracts.owners(tenant()).expect("admin and treasury");
    let key = |role| keys.address(tenant(), role).expect("key");
    let [operator, compliance, approver] =
        [KeyRole::Operator, KeyRole::Compliance, KeyRole::Approver].map(key);
    for account in [owners[0], operator, compliance, approver, owners[1]] {
        code.extend([0; 12]);
        code.extend(account.0);
    }
    let salt = vault::hash(&[b"corridor.controller", tenant().0.as_bytes()]);
    let address = vault::create2(&CREATE2_DEPLOYER, &salt, &vault::hash(&[&code]));
    Controller { address, implementation: vault::first_created(&address), version: 1 }
}

pub const fn tenant() -> TenantId {
    TenantId(Uuid::from_u128(7))
}

/// Gas price of all transactions that are not about fees.
pub const PLENTY: Fees = Fees { max_fee: 100_000_000_000, max_priority_fee: 1_000_000_000 };

impl World {
    /// With the sandbox's tokens, or with Circle's USDC in place of the sandbox's.
    pub async fn new(ground: Ground, circle: Option<&FiatToken>) -> World {
        World::of(ground, circle, Staff::sandbox()).await
    }

    pub async fn of(ground: Ground, circle: Option<&FiatToken>, staff: Staff) -> World {
        let Staff { keys, contracts } = &staff;
        let tenant = tenant();
        let minter = Minter::new(&SEED.into(), CHAIN_ID).expect("minter");
        let key = |role| keys.address(tenant, role).expect("key");
        for account in KeyRole::ALL.map(key).into_iter().chain([minter.address()]) {
            ground.fund(account, 100 * ETHER).await;
        }
        let [usdc, usdt] = minter.tokens().map(|token| token.address);
        let mut world = World {
            chain: EvmChain::new(
                &config(minter.tokens().to_vec()),
                Arc::clone(contracts),
                vec![ground.transport()],
                &clock(),
            ),
            signer: EvmSigner::new(&config(vec![]), Arc::clone(keys), Arc::clone(contracts)),
            controller: contracts.controller(tenant).expect("controller"),
            ground,
            staff,
            minter,
            tenant,
            usdc,
            usdt,
        };
        world.deploy_tokens().await;
        if let Some(code) = circle {
            world.use_circle(code).await;
        }
        let receipt = world.send(KeyRole::Operator, Call::One(Plan::Deploy)).await;
        assert!(receipt.succeeded);
        world
    }

    fn key(&self, role: KeyRole) -> Address {
        self.staff.keys.address(self.tenant, role).expect("key")
    }

    async fn deploy_tokens(&self) {
        assert_eq!(self.chain.is_deployed(self.usdc).await, Ok(false));
        let mut script = self.minter.script(0, PLENTY);
        self.minter.deploy(&mut script, self.key(KeyRole::Blacklister)).expect("script");
        self.run(&script.finish()).await;
    }

    /// Sends transactions that must succeed, each in its own block.
    pub async fn run(&self, transactions: &[Signed]) -> Vec<Receipt> {
        let mut receipts = Vec::new();
        for signed in transactions {
            assert_eq!(self.chain.broadcast(&signed.raw).await, Broadcast::Accepted);
            self.ground.mine(1).await;
            let receipt =
                self.chain.receipt(signed.hash, &[self.controller.address]).await.expect("answer");
            let receipt = receipt.expect("mined");
            assert!(receipt.succeeded, "transaction {} of {}", receipts.len(), transactions.len());
            receipts.push(receipt);
        }
        receipts
    }

    /// Deploys Circle's USDC, mints, and uses it as this chain's USDC.
    async fn use_circle(&mut self, code: &FiatToken) {
        let admin = LocalKey::from_bytes(&[77; 32]).expect("key");
        let deployer = LocalKey::from_bytes(&[78; 32]).expect("key");
        for account in [admin.address(), deployer.address()] {
            self.ground.fund(account, ETHER).await;
        }
        let minter = self.minter.address();
        let roles = CircleRoles {
            master_minter: minter,
            pauser: minter,
            blacklister: self.key(KeyRole::Blacklister),
            owner: minter,
        };
        let implementation = |checker: Address| code.implementation(checker.0).expect("code");
        let code = CircleCode {
            signature_checker: code.signature_checker.clone(),
            implementation: &implementation,
            proxy: code.proxy.clone(),
        };
        let (deployer, admin) =
            (Deployer { key: &deployer, nonce: 0 }, Deployer { key: &admin, nonce: 0 });
        let (usdc, transactions) =
            circle_usdc(deployer, admin, (CHAIN_ID, PLENTY), &code, &roles).expect("transactions");
        self.run(&transactions).await;
        self.usdc = usdc;
        let tokens = [(StableCoin::Usdc, self.usdc), (StableCoin::Usdt, self.usdt)];
        let tokens = tokens.map(|(coin, address)| Token { coin, address }).to_vec();
        self.chain = self.chain_over(tokens, self.ground.transport(), None);
        let nonce = self.chain.nonce(minter).await.expect("nonce");
        let mut script = self.minter.script(nonce, PLENTY);
        script.mint(usdc, 1_000_000_000_000).expect("script");
        self.run(&script.finish()).await;
    }

    /// The same contracts through other nodes.
    pub fn chain_over(
        &self,
        tokens: Vec<Token>,
        first: Arc<dyn Transport>,
        second: Option<Arc<dyn Transport>>,
    ) -> EvmChain {
        let nodes = std::iter::once(first).chain(second).collect();
        EvmChain::new(&config(tokens), Arc::clone(&self.staff.contracts), nodes, &clock())
    }

    /// Pays from the minter's balance; returns the outcome.
    pub async fn pay(&self, token: Address, to: Address, amount: u64) -> Receipt {
        let nonce = self.chain.nonce(self.minter.address()).await.expect("nonce");
        let mut script = self.minter.script(nonce, PLENTY);
        script.transfer(token, to, amount).expect("script");
        self.run(&script.finish()).await.remove(0)
    }

    pub async fn simulate(&self, role: KeyRole, call: &Call) -> Simulated {
        let simulated =
            self.chain.simulate(self.tenant, self.key(role), self.controller.address, call);
        simulated.await.expect("simulation")
    }

    /// The transaction, with the simulation's gas and the chain's fees and nonce.
    pub async fn unsigned(&self, role: KeyRole, call: Call) -> Unsigned {
        let gas_limit = match self.simulate(role, &call).await {
            Simulated::Works { gas, .. } => gas,
            Simulated::Reverts(reason) => panic!("{call:?}: {reason}"),
        };
        let signer = self.key(role);
        Unsigned {
            tenant: self.tenant,
            controller: self.controller.address,
            signer,
            nonce: self.chain.nonce(signer).await.expect("nonce"),
            call,
            gas_limit,
            fees: self.chain.fees().await.expect("fees"),
        }
    }

    pub async fn sign(&self, unsigned: &Unsigned) -> Signed {
        self.signer.sign(unsigned).await.expect("signature")
    }

    /// Simulates, signs, broadcasts, mines.
    pub async fn send(&self, role: KeyRole, call: Call) -> Receipt {
        let signed = self.sign(&self.unsigned(role, call).await).await;
        assert_eq!(self.chain.broadcast(&signed.raw).await, Broadcast::Accepted);
        self.ground.mine(1).await;
        let receipt =
            self.chain.receipt(signed.hash, &[self.controller.address]).await.expect("answer");
        receipt.expect("mined")
    }

    /// Reference and address of a customer's wallet.
    pub fn wallet(&self, number: u128) -> (Word, Address) {
        self.vault(VaultKind::Wallet, number, self.controller.address)
    }

    /// Reference and address of an escrow that pays `wallet`.
    pub fn escrow(&self, number: u128, wallet: Address) -> (Word, Address) {
        self.vault(VaultKind::Escrow, number, wallet)
    }

    fn vault(&self, kind: VaultKind, number: u128, recipient: Address) -> (Word, Address) {
        let reference = vault::reference(kind, self.tenant, Uuid::from_u128(number));
        let Controller { address, implementation, .. } = &self.controller;
        (reference, vault::address(address, implementation, &recipient, &reference))
    }

    pub async fn balance(&self, token: Address, account: Address) -> u64 {
        self.chain.token_balance(token, account).await.expect("balance")
    }
}

pub fn intent(number: u8) -> Word {
    Word([number; 32])
}

pub const fn movement(
    intent: Word,
    reference: Word,
    recipient: Address,
    token: Address,
    amount: u64,
) -> Movement {
    Movement { intent, reference, recipient, token, amount }
}
