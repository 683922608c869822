//! Tests of the signer: what is signed, for which tenant, and with which key.

use domain::chain::{Call, ChainNumber, Depth, Fees, Plan};
use domain::ports::{ChainSigner as _, Contracts as _};
use uuid::Uuid;

use super::*;

fn config() -> ChainConfig {
    ChainConfig {
        number: ChainNumber::FIRST,
        name: "ethereum".to_owned(),
        chain_id: 31337,
        tokens: Vec::new(),
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

fn tenant(number: u128) -> TenantId {
    TenantId(Uuid::from_u128(number))
}

struct Fixture {
    signer: EvmSigner,
    unsigned: Unsigned,
}

fn fixture() -> Fixture {
    let keys = Arc::new(TenantKeys::sandbox("seed".into()));
    let contracts =
        Arc::new(EvmContracts::sandbox(Arc::clone(&keys), &"seed".into()).expect("contracts"));
    let controller = contracts.controller(tenant(1)).expect("controller").address;
    let operator = keys.address(tenant(1), KeyRole::Operator).expect("key");
    let unsigned = Unsigned {
        tenant: tenant(1),
        controller,
        signer: operator,
        nonce: 5,
        call: Call::Cancel,
        gas_limit: 21_000,
        fees: Fees { max_fee: 3, max_priority_fee: 2 },
    };
    Fixture { signer: EvmSigner::new(&config(), keys, contracts), unsigned }
}

#[tokio::test]
async fn the_same_input_is_the_same_transaction() {
    let Fixture { signer, unsigned } = fixture();
    let signed = signer.sign(&unsigned).await.expect("signed");
    assert_eq!(signer.sign(&unsigned).await, Ok(signed.clone()));
    let other = Unsigned { nonce: 6, ..unsigned };
    assert_ne!(signer.sign(&other).await, Ok(signed));
}

#[tokio::test]
async fn a_tenants_transaction_is_signed_by_its_own_keys_only() {
    let Fixture { signer, unsigned } = fixture();
    let foreign = Unsigned { tenant: tenant(2), ..unsigned.clone() };
    assert!(matches!(signer.sign(&foreign).await, Err(SignFault::Failed(_))));
    let nobodys = Unsigned { signer: Address([9; 20]), ..unsigned };
    assert!(matches!(signer.sign(&nobodys).await, Err(SignFault::Failed(_))));
}

#[tokio::test]
async fn only_the_own_controller_is_deployed() {
    let Fixture { signer, unsigned } = fixture();
    let deploys = Unsigned { call: Call::One(Plan::Deploy), ..unsigned.clone() };
    assert!(signer.sign(&deploys).await.is_ok());
    let elsewhere = Unsigned { controller: Address([9; 20]), ..deploys };
    assert!(matches!(signer.sign(&elsewhere).await, Err(SignFault::Failed(_))));
}

#[tokio::test]
async fn a_transaction_never_asks_for_more_gas_than_a_chain_takes() {
    let Fixture { signer, unsigned } = fixture();
    let most = Unsigned { gas_limit: TX_GAS_MAX, ..unsigned.clone() };
    let beyond = Unsigned { gas_limit: u64::MAX, ..unsigned.clone() };
    let signed = signer.sign(&most).await;
    assert_eq!(signer.sign(&beyond).await, signed);
    assert_ne!(signer.sign(&unsigned).await, signed);
}
