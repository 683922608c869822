//! Foundry's anvil for tests: a development chain that somebody else wrote. One process for each test that asks, gone with
//! the test process, however that ended.

use std::io::{self, BufRead as _, BufReader, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// Names the binary when it is not below `contracts/node_modules`.
pub const ENV_BINARY: &str = "CORRIDOR_ANVIL";
const INSTALLED: &str = "contracts/node_modules/@foundry-rs";
const BINARY: &str = "bin/anvil";
/// So many states are kept in memory, and none on disk: where anvil 1.7.1 takes one from there, as it does for a
/// reorganisation of some depth, the contracts in it have no code any more. More than a service follows back.
const STATES_KEPT: &str = "300";
/// What it says when it can be asked.
const READY: &str = "Listening on ";
/// Ends anvil when the pipe to this shell closes, which the kernel does when we are gone; ends itself when anvil ends.
const SCRIPT: &str = r#"
exec 3<&0
"$0" "$@" </dev/null 3<&- &
pid=$!
(cat <&3; kill -KILL "$pid") >/dev/null 2>&1 &
wait "$pid"
"#;

/// The binary; `None` when it is not installed, after saying on standard error (past the test runner's capture) that
/// `part` was left out.
///
/// # Errors
/// Standard error cannot be written.
pub fn for_tests(part: &str) -> io::Result<Option<PathBuf>> {
    if let Some(binary) = find() {
        return Ok(Some(binary));
    }
    let mut out = io::stderr().lock();
    writeln!(out, "\n!! LEFT OUT: {part} on anvil (not installed: npm ci in contracts/; ./test does it)")?;
    Ok(None)
}

fn find() -> Option<PathBuf> {
    if let Some(binary) = std::env::var_os(ENV_BINARY).filter(|binary| !binary.is_empty()) {
        // Named, but not there: starting it says so.
        return Some(PathBuf::from(binary));
    }
    // Tests run in the directory of their crate; the package of this machine's platform holds the binary.
    let here = std::env::current_dir().ok()?;
    let packages = here.ancestors().map(|dir| dir.join(INSTALLED)).find(|dir| dir.is_dir())?;
    let mut packages: Vec<PathBuf> = packages.read_dir().ok()?.filter_map(|entry| Some(entry.ok()?.path())).collect();
    packages.sort();
    packages.into_iter().map(|package| package.join(BINARY)).find(|binary| binary.is_file())
}

/// A chain that makes blocks only when told to (`evm_mine`).
#[derive(Debug)]
pub struct Anvil {
    shell: Child,
    /// Where it answers.
    pub url: String,
}

impl Anvil {
    /// Starts one with this chain id and waits until it answers.
    ///
    /// # Errors
    /// The binary cannot be started, or ends before it answers.
    pub fn start(binary: &Path, chain_id: u64) -> io::Result<Anvil> {
        let mut shell = Command::new("/bin/sh")
            .args(["-c", SCRIPT])
            .arg(binary)
            .args(["--host", "127.0.0.1", "--port", "0", "--no-mining", "--chain-id", &chain_id.to_string()])
            .args(["--prune-history", STATES_KEPT])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()?;
        let output = shell.stdout.take().ok_or_else(|| io::Error::other("no output of anvil"))?;
        let mut anvil = Anvil { shell, url: String::new() };
        let mut lines = BufReader::new(output).lines();
        while let Some(line) = lines.next().transpose()? {
            if let Some(address) = line.strip_prefix(READY) {
                anvil.url = format!("http://{address}");
                break;
            }
        }
        if anvil.url.is_empty() {
            return Err(io::Error::other(format!("{} ended before it answered", binary.display())));
        }
        // It writes on: a full pipe would stop it.
        std::thread::spawn(move || lines.for_each(drop));
        Ok(anvil)
    }
}

impl Drop for Anvil {
    fn drop(&mut self) {
        drop(self.shell.stdin.take());
        // What cannot be waited for is gone already.
        let _ = self.shell.wait();
    }
}
