//! The sandbox's two tokens, their addresses, and their holder: one key derived from the sandbox's
//! seed.

use domain::chain::{Address, Fees, SignFault, Token, Word, vault};
use domain::currency::StableCoin;
use secrecy::SecretString;

use super::Script;
use crate::evm::abi::Input;
use crate::evm::artifact::{self, Artifact};
use crate::evm::contracts::{CREATE2_DEPLOYER, ContractsError};
use crate::evm::signers::{LocalKey, derive};

/// Minor units minted of each token: 10^12 whole tokens.
const SUPPLY: u64 = 1_000_000_000_000_000_000;

/// Mints the sandbox's tokens and pays them out.
pub struct Minter {
    key: LocalKey,
    chain_id: u64,
    usdc: (Address, Vec<u8>),
    usdt: (Address, Vec<u8>),
}

impl Minter {
    /// The same seed gives the same key and the same tokens.
    pub fn new(seed: &SecretString, chain_id: u64) -> Result<Minter, ContractsError> {
        let key = derive(seed, &[b"corridor.sandbox.minter"])?;
        let own = key.address();
        let usdc = Input::default().address(&own).address(&own).address(&own).address(&own);
        let usdt = Input::default().number(u128::from(SUPPLY)).address(&own);
        let creation =
            |json: &str, arguments: Input| -> Result<(Address, Vec<u8>), ContractsError> {
                let code = Artifact::parse(json)?.creation_code(&arguments.finish());
                Ok((vault::create2(&CREATE2_DEPLOYER, &salt(), &vault::hash(&[&code])), code))
            };
        let usdc = creation(artifact::SANDBOX_USDC, usdc)?;
        let usdt = creation(artifact::SANDBOX_USDT, usdt)?;
        Ok(Minter { key, chain_id, usdc, usdt })
    }

    /// The account that holds the tokens and pays for gas.
    pub const fn address(&self) -> Address {
        self.key.address()
    }

    /// The tokens' addresses, deployed or not.
    pub const fn tokens(&self) -> [Token; 2] {
        [
            Token { coin: StableCoin::Usdc, address: self.usdc.0 },
            Token { coin: StableCoin::Usdt, address: self.usdt.0 },
        ]
    }

    /// Transactions from this nonce on.
    pub const fn script(&self, nonce: u64, fees: Fees) -> Script<'_> {
        Script::new(&self.key, self.chain_id, nonce, fees)
    }

    /// Deploys both tokens and mints the whole supply to the minter. From then on `blacklister` can
    /// blacklist.
    pub fn deploy(&self, script: &mut Script<'_>, blacklister: Address) -> Result<(), SignFault> {
        for (_, code) in [&self.usdc, &self.usdt] {
            script.deploy(CREATE2_DEPLOYER, [&salt().0[..], code].concat())?;
        }
        script.mint(self.usdc.0, SUPPLY)?;
        script.call(
            self.usdc.0,
            Input::call("updateBlacklister(address)").address(&blacklister).finish(),
        )?;
        script.call(
            self.usdt.0,
            Input::call("transferOwnership(address)").address(&blacklister).finish(),
        )
    }
}

fn salt() -> Word {
    vault::hash(&[b"corridor.sandbox.token"])
}
