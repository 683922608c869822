//! The sandbox's two tokens, their addresses, and whoever has the coins: one key out of the sandbox's seed.

use domain::chain::{Address, Fees, SignFault, Token, Word, vault};
use domain::currency::StableCoin;
use secrecy::SecretString;

use super::Script;
use crate::evm::abi::Input;
use crate::evm::artifact::{self, Artifact};
use crate::evm::contracts::{CREATE2_DEPLOYER, ContractsError};
use crate::evm::signers::{LocalKey, derive};

/// Minor units of each coin that come into being: 10^12 coins.
const SUPPLY: u64 = 1_000_000_000_000_000_000;

/// Creates the sandbox's coins and pays them out.
pub struct Minter {
    key: LocalKey,
    chain_id: u64,
    usdc: (Address, Vec<u8>),
    usdt: (Address, Vec<u8>),
}

impl Minter {
    /// The same seed gives the same key and the same tokens.
    ///
    /// # Errors
    /// [`ContractsError`]
    pub fn new(seed: &SecretString, chain_id: u64) -> Result<Minter, ContractsError> {
        let key = derive(seed, &[b"corridor.sandbox.minter"])?;
        let own = key.address();
        let usdc = Input::default().address(&own).address(&own).address(&own).address(&own);
        let usdt = Input::default().number(u128::from(SUPPLY)).address(&own);
        let creation = |json: &str, arguments: Input| -> Result<(Address, Vec<u8>), ContractsError> {
            let code = Artifact::parse(json)?.creation_code(&arguments.finish());
            Ok((vault::create2(&CREATE2_DEPLOYER, &salt(), &vault::hash(&[&code])), code))
        };
        let usdc = creation(artifact::SANDBOX_USDC, usdc)?;
        let usdt = creation(artifact::SANDBOX_USDT, usdt)?;
        Ok(Minter { key, chain_id, usdc, usdt })
    }

    /// Who has the coins, and pays for gas.
    pub const fn address(&self) -> Address {
        self.key.address()
    }

    /// The tokens, whether they are deployed yet or not.
    pub const fn tokens(&self) -> [Token; 2] {
        [Token { coin: StableCoin::Usdc, address: self.usdc.0 }, Token { coin: StableCoin::Usdt, address: self.usdt.0 }]
    }

    /// Transactions from this nonce on.
    pub const fn script(&self, nonce: u64, fees: Fees) -> Script<'_> {
        Script::new(&self.key, self.chain_id, nonce, fees)
    }

    /// Deploys both tokens and gives the minter all coins. From then on `blacklister` blacklists.
    ///
    /// # Errors
    /// [`SignFault`]
    pub fn deploy(&self, script: &mut Script<'_>, blacklister: Address) -> Result<(), SignFault> {
        for (_, code) in [&self.usdc, &self.usdt] {
            script.deploy(CREATE2_DEPLOYER, [&salt().0[..], code].concat())?;
        }
        script.mint(self.usdc.0, SUPPLY)?;
        script.call(self.usdc.0, Input::call("updateBlacklister(address)").address(&blacklister).finish())?;
        script.call(self.usdt.0, Input::call("transferOwnership(address)").address(&blacklister).finish())
    }
}

fn salt() -> Word {
    vault::hash(&[b"corridor.sandbox.token"])
}
