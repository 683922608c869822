//! Runs the code and commands of docs/guides/receiving-webhooks.md as printed; `corridor certify`
//! certifies the endpoint from the guide.

use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};

use testkit::wait;

use super::harness::{Installation, finish};
use super::readme::{bash, block_of, present};

const DOCUMENT: &str = include_str!("../../../../../docs/guides/receiving-webhooks.md");
const SECRET: &str = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD";

/// The guide's endpoint, running; stopped on drop.
struct Copied {
    process: Child,
    url: String,
}

impl Copied {
    fn start(installation: &Installation) -> Copied {
        let script = installation.path().join("receiver.py");
        std::fs::write(&script, block_of(DOCUMENT, "python", "BaseHTTPRequestHandler"))
            .expect("written");
        let unused = TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("bound");
        let mut command = Command::new("python3");
        command.arg(script).arg(unused.port().to_string()).env("CORRIDOR_WEBHOOK_SECRET", SECRET);
        let process =
            command.stdin(Stdio::null()).stdout(Stdio::null()).spawn().expect("python3 runs");
        assert!(
            wait::until(wait::AT_MOST, || TcpStream::connect(unused).is_ok()),
            "the receiver does not listen"
        );
        Copied { process, url: format!("http://{unused}") }
    }
}

impl Drop for Copied {
    fn drop(&mut self) {
        // It may have exited by itself.
        let _ended = self.process.kill();
        let _status = self.process.wait();
    }
}

#[test]
fn the_receiver_of_the_document_is_certified() {
    if !present("the receiver of docs/guides/receiving-webhooks.md", &["python3"]) {
        return;
    }
    let mut installation = Installation::new();
    installation.set("CORRIDOR_WEBHOOK_SECRET", SECRET);
    let receiver = Copied::start(&installation);
    let junit = installation.path().join("certify.xml");
    let certify =
        ["certify", "--receiver", &receiver.url, "--junit", junit.to_str().expect("UTF-8")];
    let found = installation.json(&certify);
    assert_eq!(
        (&found[0]["certified"], &found[0]["warnings"]),
        (&true.into(), &0.into()),
        "{found:?}"
    );
    assert!(std::fs::read_to_string(junit).expect("JUnit's XML").contains("failures=\"0\""));

    // The same endpoint, called with a secret that it does not know.
    let stranger = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    let done = finish(
        installation
            .command(&["certify", "--receiver", &receiver.url])
            .env("CORRIDOR_WEBHOOK_SECRET", stranger),
    );
    assert_eq!(done.code, 1, "{}{}", done.stdout, done.stderr);
    assert!(
        done.stdout.contains("FAILED") && done.stderr.contains("checks failed"),
        "{}{}",
        done.stdout,
        done.stderr
    );
    drop(receiver);
    assert_eq!(installation.run(&["certify", "--receiver", "http://127.0.0.1:9"]).code, 3);
}

#[test]
fn the_commands_of_the_document_sign_and_check_by_hand() {
    if !present(
        "docs/guides/receiving-webhooks.md by hand",
        &["bash", "curl", "openssl", "od", "python3"],
    ) {
        return;
    }
    let mut installation = Installation::new();
    installation.set("CORRIDOR_WEBHOOK_SECRET", SECRET);
    let receiver = Copied::start(&installation);
    installation.set("RECEIVER", &receiver.url);
    let script = block_of(DOCUMENT, "sh", "--data-binary");
    let done = bash(
        &installation,
        installation.path(),
        &format!("{script}\necho $id $timestamp $signature"),
    );
    assert_eq!(done.code, 0, "{}{}", done.stdout, done.stderr);
    let lines: Vec<&str> = done.stdout.lines().collect();
    assert!(lines[0].contains("processed_at") && lines[0].ends_with("genuine"), "{lines:?}");
    let [id, timestamp, signature] = lines[1].split(' ').collect::<Vec<_>>()[..] else {
        panic!("{lines:?}")
    };

    // The program verifies the same webhook, and creates the same signature.
    let body = installation.path().join("event.json").display().to_string();
    let signed = installation.json(&["events", "sign", &body, "--timestamp", timestamp]);
    assert_eq!(signed[0]["webhook-signature"], signature);
    assert_eq!(signed[0]["webhook-id"], id);
    let verify =
        ["events", "verify", &body, "--id", id, "--timestamp", timestamp, "--signature", signature];
    assert_eq!(installation.ok(&verify), "genuine\n");
    let later = (timestamp.parse::<i64>().expect("seconds") + 301).to_string();
    for (more, why) in [
        (["--at", &later], "old"),
        (["--secret", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"], "secret"),
    ] {
        let done = installation.run(&[&verify[..], &more[..]].concat());
        assert_eq!(done.code, 1, "{}", done.stdout);
        assert!(
            done.stderr.contains("not genuine") && done.stderr.contains(why),
            "{}",
            done.stderr
        );
    }
    assert_eq!(installation.run(&["events", "sign", "/no/such/file"]).code, 2);
}
