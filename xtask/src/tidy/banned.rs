//! Rule `banned`: calls with a better replacement, depending on the place.
//!
//! Calls that are wrong everywhere are in `clippy.toml` as well, which resolves imports.

use super::Finding;
use super::rust_source::RustSource;
use super::tree::Tree;

const RULE: &str = "banned";

struct Ban {
    /// As written; the preceding character must not belong to a longer name.
    call: &'static str,
    instead: &'static str,
    /// Where it is banned.
    applies: fn(&RustSource, usize) -> bool,
}

const CLOCK: &str = "take the time from the command or the Clock port";
const PRINT: &str = "a library answers or traces; printing belongs to the binary";
const WAIT: &str = "wait for a condition with testkit::wait::until";

const BANS: [Ban; 15] = [
    Ban { call: "thread::sleep", instead: WAIT, applies: everywhere },
    Ban { call: "sleep(", instead: WAIT, applies: in_tests },
    Ban { call: "sleep_until(", instead: WAIT, applies: in_tests },
    Ban { call: "SystemTime::now", instead: CLOCK, applies: away_from_clocks },
    Ban { call: "Instant::now", instead: CLOCK, applies: away_from_clocks },
    Ban { call: "Timestamp::now", instead: CLOCK, applies: away_from_clocks },
    Ban { call: "Zoned::now", instead: CLOCK, applies: away_from_clocks },
    Ban { call: "println!", instead: PRINT, applies: in_libraries },
    Ban { call: "print!", instead: PRINT, applies: in_libraries },
    Ban { call: "eprintln!", instead: PRINT, applies: in_libraries },
    Ban { call: "eprint!", instead: PRINT, applies: in_libraries },
    Ban {
        call: ".unwrap()",
        instead: "answer an error that names what was wrong",
        applies: outside_tests,
    },
    Ban {
        call: ".savepoint(",
        instead: "one transaction per batch; savepoints are not portable",
        applies: everywhere,
    },
    Ban {
        call: "#[allow(",
        instead: "#[expect(…, reason = \"…\")], which reports itself when it is not needed",
        applies: everywhere,
    },
    Ban {
        call: "#![allow(",
        instead: "#![expect(…, reason = \"…\")], which reports itself when it is not needed",
        applies: everywhere,
    },
];

pub fn check(tree: &Tree) -> Vec<Finding> {
    tree.rust().iter().flat_map(check_file).collect()
}

fn check_file(source: &RustSource) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (line, code) in source.numbered_code() {
        for ban in BANS.iter().filter(|ban| (ban.applies)(source, line) && calls(code, ban.call)) {
            let name = ban.call.trim_end_matches('(');
            findings.push(Finding::new(
                &source.path,
                line,
                RULE,
                format!("{name}: instead, {}", ban.instead),
            ));
        }
    }
    findings
}

/// Whether the code contains `call`: not the end of a longer name, a method or a definition of that
/// name.
fn calls(code: &str, call: &str) -> bool {
    let begins_name = call.starts_with(char::is_alphabetic);
    code.match_indices(call).any(|(at, _)| {
        let before = code[..at].chars().next_back();
        let is_definition = code[..at].ends_with("fn ");
        !begins_name
            || !is_definition
                && !before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == '.')
    })
}

fn everywhere(_: &RustSource, _: usize) -> bool {
    true
}

fn in_tests(source: &RustSource, line: usize) -> bool {
    source.is_test_line(line)
}

fn outside_tests(source: &RustSource, line: usize) -> bool {
    !source.is_test_line(line)
}

/// The crates that may read a clock, and HTTP's server loop, which times connections.
fn away_from_clocks(source: &RustSource, line: usize) -> bool {
    let has_clock = matches!(
        source.room(),
        "adapters"
            | "bench"
            | "chaos"
            | "cli"
            | "client"
            | "config"
            | "server"
            | "service"
            | "testkit"
            | "simulator"
            | "xtask"
    );
    let server_loop = source.path.starts_with("crates/http/src/serve");
    outside_tests(source, line) && !has_clock && !server_loop
}

fn in_libraries(source: &RustSource, line: usize) -> bool {
    let binary = source.path.ends_with("/build.rs") || source.path.contains("/src/bin/");
    let prints =
        matches!(source.room(), "chaos" | "cli" | "server" | "simulator" | "xtask") || binary;
    outside_tests(source, line) && !prints
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, code: &str) -> Vec<String> {
        let tree = Tree::of(&[(path, code)]);
        check(&tree)
            .iter()
            .map(|finding| finding.message.split(':').next().unwrap().to_owned() + "…")
            .collect()
    }

    #[test]
    fn the_place_decides() {
        const LIB: &str = "crates/engine/src/lib.rs";
        const TEST: &str = "crates/engine/tests/it/main.rs";
        for (path, code, expected) in [
            (LIB, "let x = a.unwrap();", 1),
            (TEST, "let x = a.unwrap();", 0),
            (LIB, "std::thread::sleep(d);", 1),
            (TEST, "thread::sleep(d);", 2),
            (LIB, "tokio::time::sleep(d).await;", 0),
            (TEST, "tokio::time::sleep(d).await;", 1),
            (TEST, "sleep(d).await;", 1),
            (TEST, "fn sleep_until(&self, until: Timestamp) {}", 0),
            (TEST, "clock.sleep(d).await; oversleep(d);", 0),
            (LIB, "let t = Instant::now();", 1),
            (TEST, "let t = Instant::now();", 0),
            ("crates/adapters/src/rates.rs", "let t = SystemTime::now();", 0),
            ("crates/http/src/serve.rs", "let t = Instant::now();", 0),
            ("crates/http/src/lib.rs", "let t = Instant::now();", 1),
            (LIB, "println!(\"x\");", 1),
            (LIB, "eprint!(\"x\");", 1),
            (LIB, "my_println!(\"x\");", 0),
            ("crates/server/src/main.rs", "println!(\"x\");", 0),
            (LIB, "let s = \"println!\"; // .unwrap()", 0),
            (LIB, "#[allow(dead_code)]", 1),
            ("crates/store/src/lib.rs", "let inner = tx.savepoint()?;", 1),
        ] {
            assert_eq!(found(path, code).len(), expected, "{path}: {code}");
        }
    }

    #[test]
    fn the_replacement_is_named() {
        let tree = Tree::of(&[("crates/engine/src/lib.rs", "fn a() {\n    b.unwrap();\n}\n")]);
        let line = check(&tree)[0].to_string();
        assert_eq!(
            line,
            "crates/engine/src/lib.rs:2: banned: .unwrap(): instead, answer an error that names what was wrong"
        );
    }
}
