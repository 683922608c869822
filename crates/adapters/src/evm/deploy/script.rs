//! Transactions of one key in memory: signed immediately, sent by the caller in this order.

use domain::chain::{Address, Fees, SignFault, Signed, vault};

use crate::evm::abi::{self, Input};
use crate::evm::rlp::List;
use crate::evm::signers::LocalKey;
use crate::evm::transaction::Transaction;

/// Gas limit of deployments: enough for Corridor's and Circle's contracts.
const CREATE_GAS: u64 = 6_000_000;
/// Gas limit of token calls.
const CALL_GAS: u64 = 300_000;
/// Gas limit of a plain payment, also to a contract that inspects it.
const PAY_GAS: u64 = 50_000;

/// A sequence of transactions of one key.
pub struct Script<'a> {
    key: &'a LocalKey,
    chain_id: u64,
    nonce: u64,
    fees: Fees,
    signed: Vec<Signed>,
}

impl<'a> Script<'a> {
    /// Starts at this nonce.
    pub const fn new(key: &'a LocalKey, chain_id: u64, nonce: u64, fees: Fees) -> Script<'a> {
        Script { key, chain_id, nonce, fees, signed: Vec::new() }
    }

    pub const fn signer(&self) -> Address {
        self.key.address()
    }

    pub fn call(&mut self, to: Address, data: Vec<u8>) -> Result<(), SignFault> {
        self.add(Some(to), data, 0, CALL_GAS)
    }

    pub fn pay(&mut self, to: Address, wei: u128) -> Result<(), SignFault> {
        self.add(Some(to), Vec::new(), wei, PAY_GAS)
    }

    /// Pays tokens from the signer's balance.
    pub fn transfer(
        &mut self,
        token: Address,
        to: Address,
        minor_units: u64,
    ) -> Result<(), SignFault> {
        let input =
            Input::call("transfer(address,uint256)").address(&to).number(u128::from(minor_units));
        self.call(token, input.finish())
    }

    /// Makes the signer, USDC's master minter, a minter and mints to its account.
    pub fn mint(&mut self, usdc: Address, minor_units: u64) -> Result<(), SignFault> {
        let own = self.signer();
        let arguments =
            |function| Input::call(function).address(&own).number(u128::from(minor_units)).finish();
        self.call(usdc, arguments("configureMinter(address,uint256)"))?;
        self.call(usdc, arguments("mint(address,uint256)"))
    }

    /// Pauses a token whose pauser the signer is.
    pub fn pause(&mut self, token: Address) -> Result<(), SignFault> {
        self.call(token, Input::call("pause()").finish())
    }

    /// Makes an account an operator of a controller whose admin the signer is.
    pub fn grant_operator(
        &mut self,
        controller: Address,
        account: Address,
    ) -> Result<(), SignFault> {
        self.call(controller, abi::grant_operator(&account))
    }

    /// Creates a contract with a plain CREATE; returns its address.
    pub fn create(&mut self, code: Vec<u8>) -> Result<Address, SignFault> {
        let list = List::default().bytes(&self.signer().0).number(u128::from(self.nonce)).finish();
        let mut address = [0; 20];
        address.copy_from_slice(&vault::hash(&[&list]).0[12..]);
        self.add(None, code, 0, CREATE_GAS)?;
        Ok(Address(address))
    }

    /// Calls a contract that creates another.
    pub(super) fn deploy(&mut self, to: Address, data: Vec<u8>) -> Result<(), SignFault> {
        self.add(Some(to), data, 0, CREATE_GAS)
    }

    fn add(
        &mut self,
        to: Option<Address>,
        data: Vec<u8>,
        value: u128,
        gas_limit: u64,
    ) -> Result<(), SignFault> {
        let (chain_id, nonce, fees) = (self.chain_id, self.nonce, self.fees);
        let transaction = Transaction { chain_id, nonce, fees, gas_limit, to, value, data };
        let signature = self.key.sign_now(&transaction.digest())?;
        self.signed.push(transaction.signed(&signature));
        self.nonce += 1;
        Ok(())
    }

    /// The transactions, in sending order.
    pub fn finish(self) -> Vec<Signed> {
        self.signed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contracts_are_created_where_ethereum_puts_them() {
        // The first three contracts of anvil's first account.
        let key = "ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80".into();
        let key = LocalKey::from_hex(&key, true).expect("key");
        let mut script = Script::new(&key, 31337, 0, Fees { max_fee: 1, max_priority_fee: 1 });
        let made = [(); 3].map(|()| script.create(vec![0]).expect("transaction").to_string());
        assert_eq!(
            made,
            [
                "0x5FbDB2315678afecb367f032d93F642f64180aa3",
                "0xe7f1725E7734CE288F8367e1Bb143E90bb3F0512",
                "0x9fE46736679d2D9a65F0992F2272dE9f3c7fa6e0",
            ]
        );
        assert_eq!(script.finish().len(), 3);
    }
}
