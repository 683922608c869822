//! Tests of the PKCS#11 signer against SoftHSM2, a software token.

use std::process::Command;

use super::super::LocalKey;
use super::*;
use testkit::softhsm::{self, PIN, TOKEN};

const OPERATOR: (&str, [u8; 32]) = ("operator", [21; 32]);
const APPROVER: (&str, [u8; 32]) = ("approver", [22; 32]);
/// Names the library for the child process.
const ENV_MODULE: &str = "CORRIDOR_TEST_SOFTHSM_MODULE";
/// Enough signatures to cover high and low values of s, and both parities.
const SIGNATURES: u8 = 32;

/// SoftHSM2 reads its configuration from the environment, so this test reruns itself in a child
/// process.
#[test]
fn a_token_signs_for_its_own_keys_only() {
    if let Some(module) = std::env::var_os(ENV_MODULE) {
        return with_token(PathBuf::from(module));
    }
    let dir = tempfile::tempdir().expect("directory");
    let keys = [OPERATOR, APPROVER];
    let Some(token) = softhsm::for_tests("PKCS#11 signer", dir.path(), &keys).expect("SoftHSM2")
    else {
        return;
    };
    let name = format!("{}::a_token_signs_for_its_own_keys_only", module_path!());
    let (_, name) = name.split_once("::").expect("a path within the crate");
    let mut child = Command::new(std::env::current_exe().expect("this program"));
    child.args(["--exact", name, "--nocapture"]);
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
    let settings = |pin: &str, label: &str| Pkcs11Settings {
        module: module.clone(),
        token: label.to_owned(),
        pin: pin.into(),
        max_sessions: 3,
    };
    assert!(matches!(Pkcs11Token::open(&settings(PIN, "no such token")), Err(KeyError::Pkcs11(_))));
    assert!(matches!(Pkcs11Token::open(&settings("wrong", TOKEN)), Err(KeyError::Pkcs11(_))));
    let token = Pkcs11Token::open(&settings(PIN, TOKEN)).expect("token");

    let address = |key: &[u8; 32]| LocalKey::from_bytes(key).expect("key").address();
    assert!(matches!(token.key("no such key", None), Err(KeyError::Pkcs11(_))));
    let other = token.key(OPERATOR.0, Some(address(&APPROVER.1)));
    assert!(matches!(other, Err(KeyError::Address { .. })));
    let operator = token.key(OPERATOR.0, Some(address(&OPERATOR.1))).expect("key");
    let approver = token.key(APPROVER.0, None).expect("key");
    assert_eq!(approver.address(), address(&APPROVER.1));

    let runtime = tokio::runtime::Builder::new_multi_thread().build().expect("runtime");
    runtime.block_on(async {
        let signing = (0..SIGNATURES).map(|number| {
            let signer = if number % 2 == 0 { &operator } else { &approver };
            signer.sign_digest([number; 32])
        });
        for signature in futures_util::future::join_all(signing).await {
            let signature = signature.expect("signature");
            assert!(signature.s[0] < 0x80, "{signature:?}");
        }
        assert!(token.idle.lock().expect("sessions").len() <= 3);
    });
    // All sessions were logged out, as after a restart: one signature fails, and the next one logs
    // in again.
    let session = token.take().expect("session");
    session.session.logout().expect("logout");
    token.keep(session);
    assert!(matches!(runtime.block_on(operator.sign_digest([1; 32])), Err(SignFault::Failed(_))));
    runtime.block_on(operator.sign_digest([1; 32])).expect("signature");
}
