//! The README's commands, run exactly as printed.

use std::fs::File;
use std::io::Write as _;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::Value;
use testkit::wait;

use super::harness::{Finished, Installation, READY_AT_MOST, finish, program};
use super::sandbox::Sandbox;

const README: &str = include_str!("../../../../../README.md");

/// The fenced blocks of one language, in order.
fn blocks(document: &str, language: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut open: Option<(bool, String)> = None;
    for line in document.lines() {
        match (&mut open, line.strip_prefix("```")) {
            (None, Some(fence)) => open = Some((fence.trim() == language, String::new())),
            (Some(_), Some(_)) => {
                found.extend(open.take().filter(|(wanted, _)| *wanted).map(|(_, text)| text))
            }
            (Some((_, text)), None) => {
                text.push_str(line);
                text.push('\n');
            }
            (None, None) => {}
        }
    }
    found
}

/// The only block of a document that contains `words`.
pub(super) fn block_of(document: &str, language: &str, words: &str) -> String {
    let mut matching = blocks(document, language).into_iter().filter(|block| block.contains(words));
    let found =
        matching.next().unwrap_or_else(|| panic!("there is no {language} block with {words:?}"));
    assert_eq!(matching.next(), None, "there are two {language} blocks with {words:?}");
    found
}

fn block(language: &str, words: &str) -> String {
    block_of(README, language, words)
}

/// A checkout in which the program was built with `--release`, as for the README's reader.
fn checkout(installation: &Installation) -> PathBuf {
    let root = installation.path().join("checkout");
    let release = root.join("target/release");
    std::fs::create_dir_all(&release).expect("a directory");
    std::os::unix::fs::symlink(program(), release.join("corridor")).expect("a link");
    root
}

pub(super) fn bash(installation: &Installation, directory: &Path, script: &str) -> Finished {
    let path = directory.join("script.sh");
    std::fs::write(&path, script).expect("written");
    // Interactive shells expand aliases; scripts have to enable it.
    let mut command = Command::new("bash");
    command
        .args(["-O", "expand_aliases", "-e"])
        .arg(&path)
        .current_dir(directory)
        .stdin(Stdio::null());
    installation.environment(&mut command);
    finish(&mut command)
}

/// Whether the programs are installed; reports the omitted part otherwise (python3 and curl are not
/// part of the project).
pub(crate) fn present(part: &str, programs: &[&str]) -> bool {
    let there = |program: &&str| {
        let found = Command::new("sh")
            .args(["-c", &format!("command -v {program}")])
            .stdout(Stdio::null())
            .status();
        found.is_ok_and(|status| status.success())
    };
    let missing: Vec<&&str> = programs.iter().filter(|program| !there(program)).collect();
    if !missing.is_empty() {
        let said = writeln!(
            std::io::stderr().lock(),
            "\n!! LEFT OUT: {part} (not installed: {missing:?})"
        );
        said.expect("stderr");
    }
    missing.is_empty()
}

#[test]
fn the_first_payment_works_as_in_the_readme() {
    if !present("README.md's first payment", &["bash"]) {
        return;
    }
    let installation = Installation::new();
    let directory = checkout(&installation);
    let _sandbox = Sandbox::start(&installation, &["--no-demo-data"]);
    let done = bash(&installation, &directory, &block("sh", "corridor pay --watch"));
    assert_eq!(done.code, 0, "{}{}", done.stdout, done.stderr);
    let places: Vec<Option<usize>> = ["queued", "processing", "succeeded", "bank reference"]
        .iter()
        .map(|word| done.stdout.find(word))
        .collect();
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{}", done.stdout);
}

#[test]
fn the_signed_calls_run_as_they_are_printed() {
    if !present("README.md's curl and Python examples", &["bash", "curl", "openssl", "python3"]) {
        return;
    }
    let installation = Installation::new();
    let directory = checkout(&installation);
    let _sandbox = Sandbox::start(&installation, &["--no-demo-data"]);
    let curl = bash(&installation, &directory, &block("sh", "curl -sS"));
    assert_eq!(curl.code, 0, "{}", curl.stderr);
    let quote: Value = serde_json::from_str(&curl.stdout).expect("JSON");
    assert_eq!((&quote["country"], &quote["amount"]), (&"PAK".into(), &500.into()), "{quote}");

    std::fs::write(directory.join("example.py"), block("python", "hashlib")).expect("written");
    let script = "eval \"$(target/release/corridor env)\"\npython3 example.py\n";
    let python = bash(&installation, &directory, script);
    assert_eq!(python.code, 0, "{}{}", python.stdout, python.stderr);
    assert!(python.stdout.contains("'country': 'PAK'"), "{}", python.stdout);
}

#[test]
fn the_two_commands_are_those_that_exist() {
    // Building and the full suite, which other tests do not run. The commands themselves must
    // exist.
    let sandbox = block("sh", "cargo run --release -- sandbox");
    assert_eq!(sandbox.trim(), "cargo run --release -- sandbox");
    assert_eq!(block("sh", "./test").trim(), "./test");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    assert!(root.join("test").is_file());
    // `cargo run` without a name runs the default member's only program.
    let workspace = std::fs::read_to_string(root.join("Cargo.toml")).expect("Cargo.toml");
    assert!(workspace.contains("default-members = [\"crates/server\"]"), "{workspace}");
}

/// The README's endpoint with its output in a file; stopped on drop.
struct Receiver(Child);

impl Receiver {
    /// Runs it as in the README, but on a free port.
    fn start(installation: &Installation, directory: &Path, port: u16) -> Receiver {
        let receiver = block("python", "BaseHTTPRequestHandler").replace("9000", &port.to_string());
        std::fs::write(directory.join("receiver.py"), receiver).expect("written");
        // The shell is replaced by it, so that stopping it works.
        let script = block("sh", "python3 receiver.py").replace("python3", "exec python3");
        std::fs::write(directory.join("receiver.sh"), script).expect("written");
        let mut command = Command::new("bash");
        command
            .arg("receiver.sh")
            .current_dir(directory)
            .stdin(Stdio::null())
            .stderr(Stdio::null());
        command.stdout(File::create(directory.join("received")).expect("a file"));
        installation.environment(&mut command);
        let started = Receiver(command.spawn().expect("bash runs"));
        let listens = || TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_ok();
        assert!(wait::until(READY_AT_MOST, listens), "the receiver does not listen");
        started
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        // It may have exited by itself.
        let _ended = self.0.kill();
        let _status = self.0.wait();
    }
}

/// The valid events in the endpoint's output, in order; an invalid signature fails the test.
fn genuine_events(directory: &Path) -> Vec<(String, Value)> {
    let received = std::fs::read_to_string(directory.join("received")).expect("what it printed");
    // The last line may be incomplete.
    let whole = received.rsplit_once('\n').map_or("", |(whole, _)| whole);
    let event = |line: &str| {
        let (verdict, rest) = line.split_once(' ').expect("a verdict");
        assert_eq!(verdict, "genuine", "{line}");
        let event: Value =
            serde_json::from_str(rest.split_once(' ').expect("a path").1).expect("JSON");
        (event["event_type"].as_str().expect("a type").to_owned(), event["data"].clone())
    };
    whole.lines().map(event).collect()
}

#[test]
fn the_first_remittance_works_as_in_the_readme_with_genuine_webhooks() {
    if !present("README.md's first remittance", &["bash", "python3"]) {
        return;
    }
    let installation = Installation::new();
    let directory = checkout(&installation);
    let sandbox = Sandbox::start(&installation, &["--no-demo-data"]);
    let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
        .expect("a port")
        .local_addr()
        .expect("bound")
        .port();
    let _receiver = Receiver::start(&installation, &directory, port);
    let listen = block("sh", "listen --forward-to");
    assert!(listen.contains("listen --forward-to http://127.0.0.1:9000\n"), "{listen}");
    let url = format!("http://127.0.0.1:{port}");
    let secret = ("CORRIDOR_WEBHOOK_SECRET", sandbox.text("webhook_secret"));
    let listening = installation.start("listen", &["listen", "--forward-to", &url], &[secret]);
    let ready = || listening.log().contains("Forwarding to");
    assert!(wait::until(READY_AT_MOST, ready), "{}{}", listening.out(), listening.log_tail());

    let aliased = format!(
        "{}\n{}",
        "alias corridor=target/release/corridor",
        block("sh", "corridor requests create")
    );
    let done = bash(&installation, &directory, &aliased);
    assert_eq!(done.code, 0, "{}{}", done.stdout, done.stderr);
    for part in ["/pay/", "25.50 USDC", "PENDING"] {
        assert!(done.stdout.contains(part), "{part:?} is missing: {}", done.stdout);
    }
    let told = || genuine_events(&directory);
    let kinds = || told().into_iter().map(|(kind, _)| kind).collect::<Vec<_>>();
    assert!(wait::until(READY_AT_MOST, || kinds().len() >= 4), "{:?}", kinds());
    let of_request: Vec<String> =
        kinds().into_iter().filter(|kind| kind != "exchange.complete").collect();
    assert_eq!(of_request, ["payment.received", "risk_check.complete", "transfer.complete"]);
    let exchanged =
        told().into_iter().find(|(kind, _)| kind == "exchange.complete").expect("the exchange").1;
    assert_eq!(
        (&exchanged["from_amount"], &exchanged["to_currency"]),
        (&"10.00".into(), &"PKR".into())
    );
    // 1,000.00 initially, 25.50 received, 10.00 exchanged.
    let wallet = installation.json(&["wallets", "get"]).remove(0);
    let assets = wallet["balance"]["assets"].as_array().expect("assets").clone();
    let usdc = assets.iter().find(|asset| asset["currency"] == "USDC").expect("USDC");
    assert_eq!(usdc["amount"], "1015.50");
    assert_eq!(installation.json(&["orders", "list"])[0]["status"], "SETTLED");

    // A separate wallet completes the whole flow, confirmed by the chain and the bank as well.
    let before = kinds().len();
    std::fs::write(directory.join("flow.py"), block("python", "balance_of")).expect("written");
    let flow = bash(&installation, &directory, &block("sh", "python3 flow.py"));
    assert_eq!(flow.code, 0, "{}{}", flow.stdout, flow.stderr);
    let lines: Vec<&str> = flow.stdout.lines().collect();
    let [balances, paid] = lines[..] else { panic!("two lines, not {lines:?}") };
    assert_eq!(balances, "on the chain 25.00, in the API 25.00 USDC");
    let amounts = paid.strip_prefix("the bank paid ").and_then(|rest| rest.split_once(" for "));
    assert!(
        amounts.is_some_and(|(paid, ordered)| paid == ordered && paid.ends_with(" PKR")),
        "{paid}"
    );
    assert!(wait::until(READY_AT_MOST, || kinds().len() >= before + 4), "{:?}", kinds());
    let way = ["payment.received", "risk_check.complete", "transfer.complete", "exchange.complete"];
    assert_eq!(kinds()[before..], way);
}
