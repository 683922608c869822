//! Circle's own USDC (FiatToken v2.2 behind its proxy), from the creation code that Circle
//! publishes.

use domain::chain::{Address, Fees, SignFault, Signed};

use super::Script;
use crate::evm::abi::Input;
use crate::evm::signers::LocalKey;

const WORD: u128 = 32;
/// A string of at most one word: its length and its bytes.
const TEXT: u128 = 2 * WORD;
const NAME: &str = "USD Coin";
const SYMBOL: &str = "USDC";
const CURRENCY: &str = "USD";
const DECIMALS: u128 = 6;

/// The contracts to deploy.
pub struct CircleCode<'a> {
    /// Creation code of the library.
    pub signature_checker: Vec<u8>,
    /// Creation code of the implementation, linked with the library at this address.
    pub implementation: &'a dyn Fn(Address) -> Vec<u8>,
    /// Creation code of the proxy; its constructor takes the implementation's address.
    pub proxy: Vec<u8>,
}

/// Role holders. The proxy's admin is its deployer and has no other rights.
#[derive(Clone, Copy, Debug)]
pub struct CircleRoles {
    /// May name minters and their allowances.
    pub master_minter: Address,
    /// May pause all transfers.
    pub pauser: Address,
    /// May put addresses on the blacklist.
    pub blacklister: Address,
    /// May name the other role holders.
    pub owner: Address,
}

/// The signer and its next nonce.
#[derive(Clone, Copy)]
pub struct Deployer<'a> {
    pub key: &'a LocalKey,
    pub nonce: u64,
}

/// USDC's future address, and the transactions that deploy it: each has to be mined before the next
/// is sent.
pub fn circle_usdc(
    deployer: Deployer<'_>,
    admin: Deployer<'_>,
    (chain_id, fees): (u64, Fees),
    code: &CircleCode<'_>,
    roles: &CircleRoles,
) -> Result<(Address, Vec<Signed>), SignFault> {
    let mut contracts = Script::new(deployer.key, chain_id, deployer.nonce, fees);
    let checker = contracts.create(code.signature_checker.clone())?;
    let implementation = contracts.create((code.implementation)(checker))?;
    let mut transactions = contracts.finish();

    let mut proxies = Script::new(admin.key, chain_id, admin.nonce, fees);
    let argument = Input::default().address(&implementation).finish();
    let proxy = proxies.create([&code.proxy[..], &argument].concat())?;
    transactions.extend(proxies.finish());

    let mut calls = Script::new(deployer.key, chain_id, deployer.nonce + 2, fees);
    for call in [
        initialize(roles),
        Input::call("initializeV2(string)").number(WORD).text(NAME),
        Input::call("initializeV2_1(address)").address(&roles.owner),
        // An empty array of accounts to blacklist, then the symbol.
        Input::call("initializeV2_2(address[],string)")
            .number(2 * WORD)
            .number(3 * WORD)
            .number(0)
            .text(SYMBOL),
    ] {
        calls.call(proxy, call.finish())?;
    }
    transactions.extend(calls.finish());
    Ok((proxy, transactions))
}

fn initialize(roles: &CircleRoles) -> Input {
    const HEAD: u128 = 8 * WORD;
    Input::call("initialize(string,string,string,uint8,address,address,address,address)")
        .number(HEAD)
        .number(HEAD + TEXT)
        .number(HEAD + 2 * TEXT)
        .number(DECIMALS)
        .address(&roles.master_minter)
        .address(&roles.pauser)
        .address(&roles.blacklister)
        .address(&roles.owner)
        .text(NAME)
        .text(SYMBOL)
        .text(CURRENCY)
}
