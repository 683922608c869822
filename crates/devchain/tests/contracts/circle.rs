//! Circle's own USDC on the test chain, deployed as Circle does: library, implementation, proxy,
//! four initialisations.

use revm::primitives::Address;
use testkit::circle::FiatToken;

use crate::abi::{self, Arg};
use crate::artifacts;
use crate::evm::Evm;

/// Creates the contracts and, as the proxy's admin, cannot call the token.
const CREATOR: Address = Address::new([0xcc; 20]);
/// Number of contracts created before the token.
const BEFORE: usize = 2;

/// Holders of the roles.
#[derive(Clone, Copy)]
pub struct Roles {
    pub master_minter: Address,
    pub pauser: Address,
    pub blacklister: Address,
    pub owner: Address,
}

impl Roles {
    /// One account with all roles.
    pub fn one(account: Address) -> Roles {
        Roles { master_minter: account, pauser: account, blacklister: account, owner: account }
    }

    fn args(self) -> [Arg; 4] {
        [self.master_minter, self.pauser, self.blacklister, self.owner].map(Arg::from)
    }
}

/// Deploys Circle's contracts and returns the proxy's address.
pub fn deploy(evm: &mut Evm, token: &FiatToken, roles: Roles) -> Address {
    let library = evm.deploy(CREATOR, token.signature_checker.clone());
    let implementation = evm.deploy(CREATOR, token.implementation(library.0.0).unwrap());
    let proxy =
        evm.deploy(CREATOR, [token.proxy.clone(), abi::encode(&[implementation.into()])].concat());
    let names = ["USD Coin".into(), "USDC".into(), "USD".into(), Arg::from(6)];
    let first: Vec<Arg> = names.into_iter().chain(roles.args()).collect();
    let no_accounts = Arg::Array { count: 0, words: Vec::new() };
    for (signature, args) in [
        (
            "initialize(string,string,string,uint8,address,address,address,address)",
            first.as_slice(),
        ),
        ("initializeV2(string)", &["USD Coin".into()]),
        ("initializeV2_1(address)", &[roles.owner.into()]),
        ("initializeV2_2(address[],string)", &[no_accounts, "USDC".into()]),
    ] {
        evm.send(roles.owner, proxy, abi::call(signature, args)).must();
    }
    proxy
}

/// The sandbox's token, at the same address as Circle's.
pub fn deploy_ours(evm: &mut Evm, roles: Roles) -> Address {
    for _ in 0..BEFORE {
        evm.deploy(CREATOR, Vec::new());
    }
    evm.deploy(CREATOR, [artifacts::usdc(), abi::encode(&roles.args())].concat())
}
