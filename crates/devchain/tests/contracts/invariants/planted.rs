//! Bugs that the random calls have to find: each patch of `contracts/planted` changes the controller
//! as a careless hand might. Needs the compiler (`npm ci` in `contracts/`).

use std::error::Error;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use revm::primitives::hex;
use serde_json::Value;

use super::run::{self, CALLS_A_RUN, Failure};
use super::scenario::SCENARIOS;
use super::stage::Stage;
use crate::tenant::Tenant;

type Fallible<T = ()> = Result<T, Box<dyn Error>>;

const CONTRACTS: &str = "../../contracts";
const PATCHED: &str = "CorridorController.sol";
/// Rounds of one run of each scenario.
const ROUNDS_MAX: usize = 25;

struct Bug {
    name: String,
    /// The rule that it breaks.
    rule: String,
    source: String,
}

/// Patches each apply to the sources on their own.
fn bugs() -> Fallible<Vec<Bug>> {
    let source = fs::read_to_string(Path::new(CONTRACTS).join("src").join(PATCHED))?;
    let mut bugs = Vec::new();
    for entry in fs::read_dir(Path::new(CONTRACTS).join("planted"))? {
        let path = entry?.path();
        let text = fs::read_to_string(&path)?;
        let named = |what: &str| format!("{}: {what}", path.display());
        let begin = text.find("--- a/").ok_or_else(|| named("no patch"))?;
        let (about, patch) = text.split_at(begin);
        let rule = about.lines().find_map(|line| line.strip_prefix("Rule: "));
        let patch = diffy::Patch::from_str(patch)?;
        bugs.push(Bug {
            name: path.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
            rule: rule.ok_or_else(|| named("no rule"))?.to_owned(),
            source: diffy::apply(&source, &patch).map_err(|error| named(&error.to_string()))?,
        });
    }
    bugs.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(bugs)
}

/// Compiles all of them below `dir`.
fn compile(bugs: &[Bug], dir: &Path) -> Fallible {
    let contracts = Path::new(CONTRACTS).canonicalize()?;
    let mut roots: Vec<PathBuf> = Vec::new();
    for bug in bugs {
        let root = dir.join(&bug.name);
        fs::create_dir_all(root.join("src"))?;
        for file in ["ICorridorController.sol", "Vault.sol"] {
            fs::copy(contracts.join("src").join(file), root.join("src").join(file))?;
        }
        fs::write(root.join("src").join(PATCHED), &bug.source)?;
        roots.push(root);
    }
    let built = Command::new("node")
        .args(["build.mjs", "--controllers"])
        .args(roots)
        .current_dir(contracts)
        .output()?;
    let said = String::from_utf8_lossy(&built.stderr);
    if built.status.success() { Ok(()) } else { Err(said.into()) }
}

fn creation_code(dir: &Path, bug: &Bug) -> Fallible<Vec<u8>> {
    let text = fs::read_to_string(dir.join(&bug.name).join("CorridorController.json"))?;
    let artifact: Value = serde_json::from_str(&text)?;
    Ok(hex::decode(artifact["bytecode"].as_str().ok_or("no bytecode")?)?)
}

/// The first failure, after how many calls, and the scenario that shows it.
fn hunt(start: &Stage, seed: u64) -> Option<(u64, &'static str, Box<Failure>)> {
    let mut seeds: Vec<_> = SCENARIOS.iter().map(|scenario| run::seeds(seed, scenario)).collect();
    let mut calls = 0;
    for _ in 0..ROUNDS_MAX {
        for (scenario, seeds) in SCENARIOS.iter().zip(&mut seeds) {
            calls += CALLS_A_RUN;
            if let Err(failure) = run::explore(start, scenario, seeds.next()?, CALLS_A_RUN) {
                return Some((calls, scenario.name, failure));
            }
        }
    }
    None
}

#[test]
fn every_planted_bug_is_found() -> Fallible {
    if !Path::new(CONTRACTS).join("node_modules/solc").is_dir() {
        let mut out = std::io::stderr().lock();
        writeln!(
            out,
            "\n!! LEFT OUT: planted bugs of the contracts (no compiler: npm ci in contracts/; ./test does it)"
        )?;
        return Ok(());
    }
    let (bugs, dir) = (bugs()?, tempfile::tempdir()?);
    compile(&bugs, dir.path())?;
    let mut missed = Vec::new();
    for bug in &bugs {
        let code = creation_code(dir.path(), bug)?;
        let start = Stage::new(Tenant::with_controller(code));
        match hunt(&start, super::seed()) {
            Some((calls, scenario, failure)) => {
                println!("{}: within {calls} calls, {scenario}\n{failure}", bug.name);
                if failure.violation.rule != bug.rule {
                    missed.push(format!("{}: {}", bug.name, failure.violation.rule));
                }
            }
            None => missed.push(bug.name.clone()),
        }
    }
    assert!(bugs.len() >= 15 && missed.is_empty(), "not found, or by another rule: {missed:?}");
    Ok(())
}
