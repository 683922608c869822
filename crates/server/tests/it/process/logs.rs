//! The logs of a running `serve`.

use serde_json::Value;
use testkit::wait;

use super::harness::Installation;

const CONFIG: &str = "[http]\nlisten = \"127.0.0.1:0\"\n[telemetry]\nlog_format = \"json\"\n";

/// Decision "X-Request-Id": the same id in logs, traces and error bodies. Traces are spans of the
/// same name.
#[tokio::test]
async fn a_request_is_found_in_the_log_by_its_id() {
    drop(rustls::crypto::ring::default_provider().install_default());
    let installation = Installation::configured(CONFIG);
    let mut node = installation.serve("node", &[]);
    let http = reqwest::Client::builder().no_proxy().build().expect("a client");
    let call = http
        .get(format!("{}/v2/payments?country=PAK", node.address))
        .header("x-request-id", "mine-1");
    let answer = call.send().await.expect("an answer");
    assert_eq!(answer.status().as_u16(), 401);
    let body: Value = serde_json::from_str(&answer.text().await.expect("a body")).expect("JSON");
    assert_eq!(body["detail"]["request_id"], "mine-1");
    let of_request = |line: &Value| {
        line["span"]["request_id"] == "mine-1" && line["span"]["http.route"] == "/v2/payments"
    };
    let written = || {
        node.process
            .log()
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok())
            .any(|line| of_request(&line))
    };
    assert!(wait::until(wait::AT_MOST, written), "{}", node.process.log_tail());
    node.process.stop();
}
