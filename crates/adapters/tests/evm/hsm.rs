//! The flows of money with all keys of the tenant in a hardware security module, simulated in
//! software.

use std::collections::HashMap;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;

use adapters::evm::signers::{DigestSigner, Pkcs11Settings, Pkcs11Token, TenantKeys};
use adapters::evm::{ControllerSource, EvmContracts, Owners};
use domain::chain::{Address, KeyRole};
use testkit::softhsm::{self, PIN, TOKEN};

use crate::flows::every_flow;
use crate::ground::{Ground, embedded};
use crate::world::{Staff, World, tenant};

/// Names the library for the child process.
const ENV_MODULE: &str = "CORRIDOR_TEST_SOFTHSM_MODULE";
const NAME: &str = "hsm::money_moves_with_keys_inside_an_hsm";

/// SoftHSM2 reads its configuration from the environment, so this test reruns itself in a child
/// process.
#[test]
fn money_moves_with_keys_inside_an_hsm() {
    if let Some(module) = std::env::var_os(ENV_MODULE) {
        return with_token(PathBuf::from(module));
    }
    let dir = tempfile::tempdir().expect("directory");
    let keys = [31, 32, 33, 34].map(|byte| [byte; 32]);
    let named: Vec<_> = KeyRole::ALL.map(KeyRole::name).into_iter().zip(keys).collect();
    let Some(token) = softhsm::for_tests("flows of money", dir.path(), &named).expect("SoftHSM2")
    else {
        return;
    };
    let mut child = Command::new(std::env::current_exe().expect("this program"));
    child.args(["--exact", NAME, "--nocapture"]);
    let output = child
        .env(softhsm::ENV_CONFIG, &token.config)
        .env(ENV_MODULE, &token.module)
        .output()
        .expect("child");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && said.contains("1 passed"),
        "{said}{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

fn with_token(module: PathBuf) {
    let settings =
        Pkcs11Settings { module, token: TOKEN.to_owned(), pin: PIN.into(), max_sessions: 2 };
    let token = Pkcs11Token::open(&settings).expect("token");
    let key = |role: KeyRole| {
        let key: Arc<dyn DigestSigner> = Arc::new(token.key(role.name(), None).expect("key"));
        (tenant(), role, key)
    };
    let keys = Arc::new(TenantKeys::new(KeyRole::ALL.map(key)).expect("keys"));
    let owners = Owners { admin: Address([0xad; 20]), treasury: Address([0x7e; 20]) };
    let sources = HashMap::from([(tenant(), ControllerSource::Computed(owners))]);
    let contracts = Arc::new(EvmContracts::new(Arc::clone(&keys), sources).expect("contracts"));
    let runtime =
        tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("runtime");
    runtime.block_on(async {
        let world = World::of(Ground::Embedded(embedded()), None, Staff { keys, contracts }).await;
        every_flow(&world).await;
    });
}
