//! Faults of the services that the sample signer and the sample connector call. The tests are in
//! Python, as the samples are.

use std::path::Path;
use std::process::Command;

use super::readme::present;

#[test]
fn samples_renew_refused_tokens_and_follow_no_redirects() {
    if !present("the tests of docs/signers and docs/connectors", &["python3"]) {
        return;
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/process/samples_test.py");
    let run = Command::new("python3").arg("-B").arg(script).env("NO_PROXY", "*").output();
    let run = run.expect("python3 runs");
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
}
