//! Tests of controllers' addresses and of the calls to them.

use domain::chain::{Movement, TxHash};
use domain::currency::StableCoin;

use super::super::signers::{DigestSigner, LocalKey};
use super::*;

/// Keccak-256 of the controller's creation code. A change of it requires a new
/// [`CONTROLLER_VERSION`]: tenants keep their existing addresses.
const CODE_OF_VERSION: (u32, &str) =
    (1, "0xe917023a648ae3bd5af56c84eb97bca1c89c28a541b48085d16dc870d407402f");

fn tenant(number: u128) -> TenantId {
    TenantId(uuid::Uuid::from_u128(number))
}

fn owners(admin: u8, treasury: u8) -> Owners {
    Owners { admin: Address([admin; 20]), treasury: Address([treasury; 20]) }
}

fn contracts(sources: &[(u128, ControllerSource)]) -> EvmContracts {
    let sources =
        sources.iter().map(|(number, source)| (tenant(*number), source.clone())).collect();
    EvmContracts::new(Arc::new(TenantKeys::sandbox("seed".into())), sources).expect("contracts")
}

#[test]
fn a_code_change_requires_a_new_version() {
    let code = Artifact::parse(artifact::CONTROLLER).expect("artifact").creation_code(&[]);
    let hash = TxHash(vault::hash(&[&code]).0).to_string();
    assert_eq!(
        (CONTROLLER_VERSION, hash.as_str()),
        CODE_OF_VERSION,
        "raise the version when the code changes"
    );
}

#[test]
fn a_controllers_address_depends_on_tenant_and_owners() {
    let computed = |admin, treasury| ControllerSource::Computed(owners(admin, treasury));
    let known = contracts(&[
        (1, computed(1, 2)),
        (2, computed(1, 2)),
        (3, computed(1, 3)),
        (4, computed(2, 2)),
    ]);
    let mut addresses: Vec<_> = (1..=4)
        .map(|number| known.controller(tenant(number)).expect("controller").address)
        .collect();
    let one = known.controller(tenant(1)).expect("controller");
    assert_eq!(one.implementation, vault::first_created(&one.address));
    assert_eq!(one.version, CONTROLLER_VERSION);
    addresses.sort();
    addresses.dedup();
    assert_eq!(addresses.len(), 4);
}

#[test]
fn a_deployed_controller_is_kept_and_not_redeployed() {
    let there =
        Controller { address: Address([7; 20]), implementation: Address([8; 20]), version: 1 };
    let known = contracts(&[(1, ControllerSource::Deployed(there.clone()))]);
    assert_eq!(known.controller(tenant(1)), Ok(there.clone()));
    let again = known.target(tenant(1), Address([1; 20]), there.address, &Call::DeployController);
    assert!(again.is_err());
}

#[test]
fn calls_that_would_revert_are_rejected_before_signing() {
    let key =
        TenantKeys::sandbox("seed".into()).address(tenant(1), KeyRole::Approver).expect("key");
    let admin_is_approver =
        ControllerSource::Computed(Owners { admin: key, treasury: Address([1; 20]) });
    let known = contracts(&[(1, admin_is_approver), (2, ControllerSource::Computed(owners(1, 2)))]);
    assert!(matches!(known.controller(tenant(1)), Err(SignFault::Failed(_))));
    assert!(matches!(known.controller(tenant(9)), Err(SignFault::Failed(_))));
    let elsewhere =
        known.target(tenant(2), Address([1; 20]), Address([2; 20]), &Call::DeployController);
    assert!(elsewhere.is_err(), "the keys were replaced since");
    let some_keys = [(
        tenant(2),
        KeyRole::Operator,
        Arc::new(LocalKey::from_bytes(&[1; 32]).expect("key")) as Arc<dyn DigestSigner>,
    )];
    let keys = Arc::new(TenantKeys::new(some_keys).expect("keys"));
    let sources = HashMap::from([(tenant(2), ControllerSource::Computed(owners(1, 2)))]);
    let known = EvmContracts::new(keys, sources).expect("contracts");
    assert_eq!(known.controller(tenant(2)), Err(SignFault::NoKey(KeyRole::Compliance)));
}

#[test]
fn a_sandbox_has_a_controller_for_every_tenant() {
    let sandbox = |seed: &str| {
        let keys = Arc::new(TenantKeys::sandbox(seed.into()));
        let known = EvmContracts::sandbox(keys, &seed.into()).expect("contracts");
        known.controller(tenant(5)).expect("controller").address
    };
    assert_eq!(sandbox("seed"), sandbox("seed"));
    assert_ne!(sandbox("seed"), sandbox("another seed"));
}

#[test]
fn calls_have_the_right_target() {
    let known = contracts(&[(1, ControllerSource::Computed(owners(1, 2)))]);
    let controller = known.controller(tenant(1)).expect("controller").address;
    let (from, token) = (Address([3; 20]), Address([4; 20]));
    let word = Word([5; 32]);
    let movement = Movement { intent: word, reference: word, recipient: from, token, amount: 1 };
    let function = |signature: &str| abi::selector(signature).to_vec();
    let blacklist = |coin| Call::Blacklist { token, coin, account: from };
    for (call, to, start) in [
        (
            Call::Release(vec![movement]),
            controller,
            function("releaseBatch((bytes32,bytes32,address,address,uint256)[])"),
        ),
        (
            Call::Debit(vec![movement]),
            controller,
            function("debitBatch((bytes32,bytes32,address,address,uint256)[])"),
        ),
        (Call::Sweep { token: from, amount: 7 }, controller, function("sweep(address,uint256)")),
        (
            Call::ReturnDebit { debit: word, intent: word },
            controller,
            function("returnDebit(bytes32,bytes32)"),
        ),
        (
            Call::ProposeRefund { movement, to: from },
            controller,
            function("proposeRefund((bytes32,bytes32,address,address,uint256),address)"),
        ),
        (Call::CancelRefund { intent: word }, controller, function("cancelRefund(bytes32)")),
        (Call::ExecuteRefund { intent: word }, controller, function("executeRefund(bytes32)")),
        (
            Call::SetFrozen { account: from, frozen: true, case: word },
            controller,
            function("setFrozen(address,bool,bytes32)"),
        ),
        (blacklist(StableCoin::Usdc), token, function("blacklist(address)")),
        (blacklist(StableCoin::Usdt), token, function("addBlackList(address)")),
        (
            Call::DeployController,
            CREATE2_DEPLOYER,
            vault::hash(&[b"corridor.controller", tenant(1).0.as_bytes()]).0.to_vec(),
        ),
        (Call::Cancel, from, vec![]),
    ] {
        let target = known.target(tenant(1), from, controller, &call).expect("target");
        assert_eq!(target.to, to, "{call:?}");
        assert!(target.data.starts_with(&start), "{call:?}");
        assert_eq!(target.data.is_empty(), call == Call::Cancel);
    }
}
