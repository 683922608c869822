//! Tests of the PKCS#11 signer against SoftHSM2, a software token.

use std::process::Command;

use super::super::LocalKey;
use super::*;
use testkit::softhsm::{self, PIN, TOKEN};
use testkit::wait;

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
    let unknown = Pkcs11Token::open(&settings(PIN, "no such token")).err().expect("refused");
    // It may still be starting.
    assert!(matches!(&unknown, KeyError::Pkcs11(_)) && !unknown.is_of_configuration());
    let missing = Pkcs11Settings { module: "no/such/module.so".into(), ..settings(PIN, TOKEN) };
    let missing = Pkcs11Token::open(&missing).err().expect("refused");
    assert!(matches!(&missing, KeyError::Pkcs11Setup(_)), "{missing}");
    let refused = |pin: &str| match Pkcs11Token::open(&settings(pin, TOKEN)) {
        Err(KeyError::Pkcs11Pin(why)) => why,
        other => panic!("{:?}", other.err()),
    };
    let open = || Pkcs11Token::open(&settings(PIN, TOKEN)).expect("token");
    refused_pins_are_not_tried_again(open, refused);
    let token = open();

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

    let other = Pkcs11Token::open(&settings(PIN, TOKEN)).expect("a second one of the module");
    let other = other.key(APPROVER.0, None).expect("key");
    a_token_that_was_away_is_found_again(&token, |number| {
        runtime.block_on(operator.sign_digest([number; 32])).map(drop)
    });
    runtime.block_on(other.sign_digest([1; 32])).expect("the other one signs, too");
    runtime.block_on(approver.sign_digest([1; 32])).expect("signature");
}

/// The token counts tries: a login resets the count, a wrong PIN raises it.
fn refused_pins_are_not_tried_again(
    open: impl Fn() -> Arc<Pkcs11Token>,
    refused: impl Fn(&str) -> String,
) {
    refused("wrong");
    // It is logged out with its last session.
    let module = Arc::clone(&open().module);
    let is_tried = || {
        let slot = module.slot(TOKEN).map_err(Fault::error).expect("slot");
        module.context.get_token_info(slot).expect("info").user_pin_count_low()
    };
    assert!(!is_tried());
    assert_eq!(refused("wrong"), refused("wrong"));
    assert!(!is_tried());
    refused("another wrong one");
    assert!(is_tried());
}

/// The directory of SoftHSM2's tokens is moved away and back.
fn a_token_that_was_away_is_found_again(
    token: &Pkcs11Token,
    sign: impl Fn(u8) -> Result<(), SignFault>,
) {
    let config = PathBuf::from(std::env::var_os(softhsm::ENV_CONFIG).expect("a token"));
    let (there, away) = (config.with_file_name("tokens"), config.with_file_name("away"));
    std::fs::rename(&there, &away).expect("moved away");
    lock(&token.idle).clear();
    for number in 0..3 {
        let fault = sign(number).expect_err("the token is away");
        assert!(matches!(fault, SignFault::Failed(_)), "{fault:?}");
    }
    std::fs::rename(&away, &there).expect("moved back");
    let is_back = wait::until(10 * RESTART_EVERY, || sign(5).is_ok());
    assert!(is_back, "found again: {:?}", sign(6));
}
