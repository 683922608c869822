//! Tests of controllers' addresses and of the calls to them.

use domain::chain::{Movement, TxHash, Word};
use domain::currency::StableCoin;

use super::super::abi;
use super::super::signers::{DigestSigner, LocalKey};
use super::*;

/// Keccak-256 of the controllers' creation codes. A change of the current one requires a new
/// [`CONTROLLER_VERSION`], the others never change: addresses that were given out belong to them.
const CODES_OF_VERSIONS: [(u32, &str); 2] = [
    (2, "0xda156a7c348a046dde03fd6f173ccbb1e182931ae1470bb5845cf4066e9c8765"),
    (1, "0xe917023a648ae3bd5af56c84eb97bca1c89c28a541b48085d16dc870d407402f"),
];

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
    for ((version, code), of_version) in CODES.into_iter().zip(CODES_OF_VERSIONS) {
        let code = Artifact::parse(code).expect("artifact").creation_code(&[]);
        let hash = TxHash(vault::hash(&[&code]).0).to_string();
        assert_eq!((version, hash.as_str()), of_version, "raise the version when the code changes");
    }
}

#[test]
fn a_controller_that_wallets_wait_for_is_made_with_the_code_of_its_version() {
    let known = contracts(&[(1, ControllerSource::Computed(owners(1, 2)))]);
    let made = known.creations(tenant(1), owners(1, 2)).expect("every version");
    let [current, first] = &made[..] else { panic!("two versions") };
    assert_eq!((current.controller.version, first.controller.version), (CONTROLLER_VERSION, 1));
    assert_eq!(known.controller(tenant(1)), Ok(current.controller.clone()), "nothing waits");

    let deploy = |controller: &Controller| {
        known.target(tenant(1), Address([1; 20]), controller.address, &Call::One(Plan::Deploy))
    };
    for made in &made {
        assert_eq!(deploy(&made.controller).map(|target| target.data), Ok(made.data.clone()));
    }
    assert_eq!(known.keep_awaited(tenant(1), first.controller.clone(), None), Ok(true));
    assert_eq!(
        known.controller(tenant(1)),
        Ok(first.controller.clone()),
        "new wallets wait with it"
    );
}

#[test]
fn a_controller_of_other_keys_or_owners_is_not_waited_for() {
    let there =
        Controller { address: Address([7; 20]), implementation: Address([8; 20]), version: 1 };
    let known = contracts(&[
        (1, ControllerSource::Computed(owners(1, 2))),
        (2, ControllerSource::Deployed(there.clone())),
    ]);
    let of_others = known.creations(tenant(1), owners(3, 2)).expect("every version");
    for made in of_others {
        assert_eq!(known.keep_awaited(tenant(1), made.controller, None), Ok(false));
    }
    assert_eq!(
        known.keep_awaited(tenant(2), there, None),
        Ok(false),
        "the configuration comes first"
    );
    assert!(
        known.keep_awaited(tenant(9), known.controller(tenant(1)).expect("one"), None).is_err()
    );
}

/// Its address was given out before a key, the admin or the treasury was replaced.
#[test]
fn a_controller_of_earlier_keys_or_owners_is_deployed_from_what_was_kept_of_it() {
    let computed = |admin, treasury| ControllerSource::Computed(owners(admin, treasury));
    let before = contracts(&[(1, computed(1, 2))]);
    let (address, parts) = before.made_today(tenant(1)).expect("known").expect("of today");
    let awaited = before.controller(tenant(1)).expect("one");
    assert_eq!(awaited.address, address);
    let deploy = |of: &EvmContracts| {
        let call = Call::One(Plan::Deploy);
        of.target(tenant(1), Address([1; 20]), address, &call).map(|target| target.data)
    };
    let data = deploy(&before).expect("of today");
    for (admin, treasury) in [(3, 2), (1, 3), (3, 4)] {
        let now = contracts(&[(1, computed(admin, treasury))]);
        let of_others = parts.map(|part| if part == parts[1] { Address([9; 20]) } else { part });
        for kept in [None, Some(of_others)] {
            assert_eq!(now.keep_awaited(tenant(1), awaited.clone(), kept), Ok(false));
            assert!(deploy(&now).is_err());
        }
        assert_eq!(now.keep_awaited(tenant(1), awaited.clone(), Some(parts)), Ok(true));
        assert_eq!(now.controller(tenant(1)), Ok(awaited.clone()));
        assert_eq!(deploy(&now), Ok(data.clone()));
        assert_eq!(now.made_today(tenant(1)), Ok(None), "it is kept already");
    }
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
    let again = known.target(tenant(1), Address([1; 20]), there.address, &Call::One(Plan::Deploy));
    assert!(again.is_err());
}

#[test]
fn a_controller_in_use_is_kept_and_not_redeployed() {
    let old =
        Controller { address: Address([7; 20]), implementation: Address([8; 20]), version: 1 };
    let configured =
        Controller { address: Address([9; 20]), implementation: Address([8; 20]), version: 1 };
    let known = contracts(&[
        (1, ControllerSource::Computed(owners(1, 2))),
        (2, ControllerSource::Computed(owners(1, 2))),
        (3, ControllerSource::Deployed(configured.clone())),
    ]);
    let computed = known.controller(tenant(1)).expect("controller");
    known.keep(tenant(1), old.clone());
    known.keep(tenant(3), old.clone());
    assert_eq!(known.controller(tenant(1)), Ok(old.clone()));
    let again = known.target(tenant(1), Address([1; 20]), old.address, &Call::One(Plan::Deploy));
    assert!(again.is_err());
    assert_ne!(known.controller(tenant(2)), Ok(old));
    assert_eq!(known.controller(tenant(3)), Ok(configured), "the configuration comes first");
    known.keep(tenant(1), computed.clone());
    assert_eq!(known.controller(tenant(1)), Ok(computed));
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
        known.target(tenant(2), Address([1; 20]), Address([2; 20]), &Call::One(Plan::Deploy));
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
fn calls_go_to_functions_of_their_contracts() {
    let known = contracts(&[(1, ControllerSource::Computed(owners(1, 2)))]);
    let controller = known.controller(tenant(1)).expect("controller").address;
    let (from, token, word) = (Address([3; 20]), Address([4; 20]), Word([5; 32]));
    let movement = Movement { intent: word, reference: word, recipient: from, token, amount: 1 };
    let batches = ["releaseBatch", "debitBatch"]
        .map(|name| format!("{name}((bytes32,bytes32,address,address,uint256)[])"));
    let of_controller =
        |plan, signature, words| (plan, controller, artifact::CONTROLLER, signature, words);
    for (plan, to, code, signature, words) in [
        of_controller(Plan::Release(movement), &*batches[0], 7),
        of_controller(Plan::Debit(movement), &batches[1], 7),
        of_controller(Plan::Sweep { token, amount: 7 }, "sweep(address,uint256)", 2),
        of_controller(
            Plan::ReturnDebit { debit: word, intent: word },
            "returnDebit(bytes32,bytes32)",
            2,
        ),
        of_controller(
            Plan::ProposeRefund { movement, to: from },
            "proposeRefund((bytes32,bytes32,address,address,uint256),address)",
            6,
        ),
        of_controller(Plan::CancelRefund { intent: word }, "cancelRefund(bytes32)", 1),
        of_controller(Plan::ExecuteRefund { intent: word }, "executeRefund(bytes32)", 1),
        of_controller(
            Plan::SetFrozen { account: from, frozen: true, case: word },
            "setFrozen(address,bool,bytes32)",
            3,
        ),
        of_controller(
            Plan::SetLegalHold { vault: from, held: true, case: word },
            "setLegalHold(address,bool,bytes32)",
            3,
        ),
        (
            Plan::Blacklist { coin: StableCoin::Usdc, token, account: from },
            token,
            artifact::SANDBOX_USDC,
            "blacklist(address)",
            1,
        ),
        (
            Plan::Blacklist { coin: StableCoin::Usdt, token, account: from },
            token,
            artifact::SANDBOX_USDT,
            "addBlackList(address)",
            1,
        ),
    ] {
        let call = Call::of(&[plan]).expect("one plan");
        let target = known.target(tenant(1), from, controller, &call).expect("target");
        assert_eq!((target.to, &target.data[..4]), (to, &abi::selector(signature)[..]), "{call:?}");
        assert_eq!(target.data.len(), 4 + 32 * words, "{call:?}");
        let outputs =
            Artifact::parse(code).expect("artifact").outputs(signature).map(|it| it.concat());
        let each = if call.batch().is_empty() { "" } else { "bool[]" };
        assert_eq!(outputs.as_deref(), Some(each), "{call:?}");
    }
    let one = known.target(tenant(1), from, controller, &Call::One(Plan::Release(movement)));
    let batch = known.target(tenant(1), from, controller, &Call::Release(vec![movement]));
    assert_eq!(one.expect("target").data, batch.expect("target").data, "a batch of one");
    let deploy =
        known.target(tenant(1), from, controller, &Call::One(Plan::Deploy)).expect("target");
    assert_eq!(deploy.to, CREATE2_DEPLOYER);
    let salt = vault::hash(&[b"corridor.controller", tenant(1).0.as_bytes()]);
    assert!(deploy.data.starts_with(&salt.0));
    let cancel = known.target(tenant(1), from, controller, &Call::Cancel).expect("target");
    assert_eq!((cancel.to, cancel.data), (from, Vec::new()));
}

#[test]
fn flags_follow_their_account() {
    let known = contracts(&[(1, ControllerSource::Computed(owners(1, 2)))]);
    let (account, case) = (Address([1; 20]), Word([2; 32]));
    for plan in [
        Plan::SetFrozen { account, frozen: true, case },
        Plan::SetLegalHold { vault: account, held: true, case },
    ] {
        let target = known.target(tenant(1), account, account, &Call::One(plan)).expect("target");
        let arguments = &target.data[4..];
        assert_eq!((arguments[12], arguments[63], arguments[64]), (1, 1, 2), "{plan:?}");
    }
}
