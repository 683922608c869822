//! The code samples of `docs/snippets`, each run in its own language if installed: they sign calls
//! that a sandbox accepts, and distinguish valid webhooks from forged ones.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use super::harness::{Finished, Installation, finish};
use super::readme::present;
use super::sandbox::Sandbox;

/// A language: its directory, the required program, and the commands for its two files.
struct Language {
    name: &'static str,
    program: &'static str,
    sign: &'static [&'static str],
    verify: &'static [&'static str],
}

const LANGUAGES: [Language; 7] = [
    Language {
        name: "shell",
        program: "curl",
        sign: &["bash", "sign.sh"],
        verify: &["bash", "verify.sh"],
    },
    Language {
        name: "python",
        program: "python3",
        sign: &["python3", "sign.py"],
        verify: &["python3", "verify.py"],
    },
    Language {
        name: "typescript",
        program: "node",
        sign: &["node", "sign.mjs"],
        verify: &["node", "verify.mjs"],
    },
    // The launcher compiles: it needs the compiler module, which a plain runtime lacks.
    Language {
        name: "java",
        program: "javac",
        sign: &["java", "Sign.java"],
        verify: &["java", "Verify.java"],
    },
    Language {
        name: "csharp",
        program: "dotnet",
        sign: &["dotnet", "run", "Sign.cs"],
        verify: &["dotnet", "run", "Verify.cs", "--"],
    },
    Language {
        name: "go",
        program: "go",
        sign: &["go", "run", "sign.go"],
        verify: &["go", "run", "verify.go"],
    },
    Language {
        name: "php",
        program: "php",
        sign: &["php", "sign.php"],
        verify: &["php", "verify.php"],
    },
];

/// The vector of the Standard Webhooks libraries.
const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const OTHER_SECRET: &str = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD";
const ID: &str = "msg_p5jXN8AQM9LWM0D4loKWxJek";
const SENT: &str = "1614265330";
const SIGNATURE: &str = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";
const BODY: &str = r#"{"test": 2432232314}"#;

/// A webhook as received, and the expected verdict.
struct Arrived<'a> {
    what: &'a str,
    secret: &'a str,
    id: &'a str,
    sent: &'a str,
    signature: &'a str,
    now: &'a str,
    body: &'a str,
    genuine: bool,
}

const GOOD: Arrived<'static> = Arrived {
    what: "as published",
    secret: SECRET,
    id: ID,
    sent: SENT,
    signature: SIGNATURE,
    now: "1614265331",
    body: BODY,
    genuine: true,
};

fn directory(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/snippets").join(name)
}

/// The installed languages. Missing ones are reported and are no failure, since they are not part
/// of the project.
fn here() -> Vec<&'static Language> {
    let there = |language: &&Language| {
        let (name, program) = (language.name, language.program);
        let found = Command::new("sh")
            .args(["-c", &format!("command -v {program}")])
            .stdout(Stdio::null())
            .status();
        let found = found.is_ok_and(|status| status.success());
        if !found {
            let said = writeln!(
                std::io::stderr().lock(),
                "\n-- NOT RUN: docs/snippets/{name} (not installed: {program})"
            );
            said.expect("stderr");
        }
        found
    };
    LANGUAGES.iter().filter(there).collect()
}

/// Runs a file of a language in its own directory, where compilers may write files.
fn run(
    language: &Language,
    command: &[&str],
    installation: &Installation,
    env: &[(&str, &str)],
    input: &str,
) -> Finished {
    let work = installation.path().join(language.name);
    std::fs::create_dir_all(&work).expect("a directory");
    for entry in std::fs::read_dir(directory(language.name)).expect("the snippets") {
        let path = entry.expect("an entry").path();
        std::fs::copy(&path, work.join(path.file_name().expect("a name"))).expect("copied");
    }
    run_in(&work, command, installation, env, input)
}

fn run_in(
    work: &Path,
    command: &[&str],
    installation: &Installation,
    env: &[(&str, &str)],
    input: &str,
) -> Finished {
    let mut process = Command::new(command[0]);
    process.args(&command[1..]).current_dir(work);
    installation.environment(&mut process);
    process
        .env("GOCACHE", installation.path().join("go-cache"))
        .env("GOFLAGS", "-mod=mod")
        // A locale that writes numbers in other digits.
        .env("LC_ALL", "ar_EG.UTF-8")
        .env("JAVA_TOOL_OPTIONS", "-Duser.language=ar -Duser.country=EG")
        .envs(env.iter().copied());
    process.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = process.spawn().expect("it starts");
    // A program without input may exit before it is written.
    let _written = child.stdin.take().expect("a pipe").write_all(input.as_bytes());
    let output = child.wait_with_output().expect("it ends");
    Finished {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8(output.stdout).expect("UTF-8"),
        stderr: String::from_utf8(output.stderr).expect("UTF-8"),
    }
}

#[test]
fn each_language_signs_calls_that_both_services_accept() {
    let mut installation = Installation::new();
    let sandbox = Sandbox::start(&installation, &["--no-demo-data"]);
    let variables = installation.json(&["env"]).remove(0);
    for (name, value) in variables.as_object().expect("an object") {
        installation.set(name, value.as_str().expect("a text"));
    }
    for language in here() {
        let done = run(language, language.sign, &installation, &[], "");
        assert_eq!(done.code, 0, "{}: {}{}", language.name, done.stdout, done.stderr);
        let answers: Vec<Value> = done
            .stdout
            .lines()
            .map(|line| serde_json::from_str(line).expect("a JSON value a line"))
            .collect();
        let [quote, wallet] = answers.as_slice() else {
            panic!("{}: {}", language.name, done.stdout)
        };
        assert_eq!(
            (&quote["country"], &quote["amount"]),
            (&"PAK".into(), &500.into()),
            "{}",
            language.name
        );
        assert_eq!(wallet["wallet_id"], sandbox.text("wallet_id"), "{}", language.name);
        // A wrong key is refused, and the program reports it.
        let wrong = run(
            language,
            language.sign,
            &installation,
            &[("CORRIDOR_SECRET_KEY", "not the key")],
            "",
        );
        assert_ne!(wrong.code, 0, "{}: {}", language.name, wrong.stdout);
    }
}

/// The programs beside the operations, with the keys that a sandbox fills in: one for each service
/// and method.
#[tokio::test]
async fn each_sample_of_the_documentation_runs_as_it_is_copied() {
    let installation = Installation::new();
    let sandbox = Sandbox::start(&installation, &["--no-demo-data"]);
    drop(rustls::crypto::ring::default_provider().install_default());
    let http = reqwest::Client::builder().no_proxy().build().expect("a client");
    for language in here() {
        let file = language.sign.last().expect("a file");
        let extension = file.rsplit('.').next().expect("an extension");
        let work = installation.path().join(format!("{}-samples", language.name));
        std::fs::create_dir_all(&work).expect("a directory");
        for (operation, member) in [
            ("payment/createQuote", "amount_destination"),
            ("payment/followEvents", "next"),
            ("wallet/createPaymentRequest", "payment_link"),
            ("wallet/listOrders", "orders"),
        ] {
            let page = format!("{}/{operation}.{extension}", sandbox.text("docs_url"));
            let answer = http.get(page).send().await.expect("an answer");
            let program = answer.error_for_status().expect("a program").text().await;
            std::fs::write(work.join(file), program.expect("text")).expect("written");
            let done = run_in(&work, language.sign, &installation, &[], "");
            let name = language.name;
            assert_eq!(done.code, 0, "{name}, {operation}: {}{}", done.stdout, done.stderr);
            let answer: Value = serde_json::from_str(&done.stdout).expect("one JSON value");
            assert!(!answer[member].is_null(), "{name}, {operation}: {answer}");
        }
    }
}

#[test]
fn each_language_tells_genuine_webhooks_from_forged_ones() {
    let both = format!("{OTHER_SECRET} {SECRET}");
    let among = format!("v1,AAAA v2,{} {SIGNATURE}", &SIGNATURE[3..]);
    let arrived = [
        GOOD,
        Arrived { what: "two secrets", secret: &both, ..GOOD },
        Arrived { what: "two signatures", signature: &among, ..GOOD },
        Arrived { what: "at the end of its time", now: "1614265630", ..GOOD },
        Arrived {
            what: "a body that was changed",
            body: r#"{"test": 2432232315}"#,
            genuine: false,
            ..GOOD
        },
        Arrived {
            what: "a body with a line end",
            body: "{\"test\": 2432232314}\n",
            genuine: false,
            ..GOOD
        },
        Arrived { what: "another id", id: "msg_p5jXN8AQM9LWM0D4loKWxJel", genuine: false, ..GOOD },
        Arrived { what: "another timestamp", sent: "1614265331", genuine: false, ..GOOD },
        Arrived { what: "no timestamp", sent: "now", genuine: false, ..GOOD },
        Arrived { what: "too old", now: "1614265631", genuine: false, ..GOOD },
        Arrived { what: "too new", now: "1614265029", genuine: false, ..GOOD },
        Arrived { what: "another secret", secret: OTHER_SECRET, genuine: false, ..GOOD },
        Arrived {
            what: "another version",
            signature: &SIGNATURE.replace("v1", "v2"),
            genuine: false,
            ..GOOD
        },
        Arrived { what: "no signature", signature: "", genuine: false, ..GOOD },
    ];
    let installation = Installation::new();
    for language in here() {
        for given in &arrived {
            let args = [given.id, given.sent, given.signature, given.now];
            let command = [language.verify, &args].concat();
            let env = [("CORRIDOR_WEBHOOK_SECRET", given.secret)];
            let done = run(language, &command, &installation, &env, given.body);
            let (said, code) = if given.genuine { ("genuine", 0) } else { ("forged", 1) };
            let (name, what) = (language.name, given.what);
            assert_eq!(
                (done.stdout.trim(), done.code),
                (said, code),
                "{name}, {what}: {}",
                done.stderr
            );
        }
    }
}

#[test]
fn the_signing_helper_of_the_documentation_makes_tokens_that_are_accepted() {
    if !present("the signing helper of /docs/signing", &["node"]) {
        return;
    }
    let mut installation = Installation::new();
    let _sandbox = Sandbox::start(&installation, &["--no-demo-data"]);
    let variables = installation.json(&["env"]).remove(0);
    for (name, value) in variables.as_object().expect("an object") {
        installation.set(name, value.as_str().expect("a text"));
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/process/signing_helper.mjs");
    let mut node = Command::new("node");
    node.arg(script).stdin(Stdio::null());
    installation.environment(&mut node);
    let done = finish(&mut node);
    assert_eq!(done.code, 0, "{}{}", done.stdout, done.stderr);
    let told: Value = serde_json::from_str(&done.stdout).expect("JSON");
    assert_eq!(
        (&told["signed"], &told["status"], &told["quote"]["country"]),
        (&"Signed.".into(), &200.into(), &"PAK".into())
    );
    assert_eq!(told["steps"].as_array().map(Vec::len), Some(7), "{told}");
    // The claim matches the body, and the secret key is never shown.
    let secret = variables["CORRIDOR_SECRET_KEY"].as_str().expect("a text");
    assert!(!told["steps"].to_string().contains(secret), "{told}");
    assert_eq!(
        (&told["genuine"], &told["tampered"]),
        (&"Genuine.".into(), &"Forged: refuse it.".into())
    );
    assert!(told["old"].as_str().is_some_and(|said| said.contains("too old")), "{told}");
}

#[test]
fn every_language_of_the_documentation_is_here() {
    let mut names: Vec<String> = std::fs::read_dir(directory(""))
        .expect("the snippets")
        .map(|entry| entry.expect("an entry"))
        .filter(|entry| entry.path().is_dir())
        .map(|entry| entry.file_name().into_string().expect("UTF-8"))
        .collect();
    names.sort();
    let mut tested: Vec<&str> = LANGUAGES.iter().map(|language| language.name).collect();
    tested.sort_unstable();
    assert_eq!(names, tested);
}
