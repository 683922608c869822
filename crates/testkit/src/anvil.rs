//! Foundry's anvil for tests: a third-party development chain. One process per requesting test,
//! ended with the test process in any case.

use std::io::{self, BufRead as _, BufReader, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// Path of the binary if it is not in `contracts/node_modules`.
pub const ENV_BINARY: &str = "CORRIDOR_ANVIL";
const INSTALLED: &str = "contracts/node_modules/@foundry-rs";
const BINARY: &str = "bin/anvil";
/// Number of states in memory, more than a service follows back. None are kept on disk: anvil 1.7.1
/// loses the code of contracts when it loads one from there, as in a deep reorganisation.
const STATES_KEPT: &str = "300";
/// Output that signals readiness.
const READY: &str = "Listening on ";
/// Ends anvil when the pipe to this shell closes, which the kernel does when the test process ends;
/// ends itself when anvil ends.
const SCRIPT: &str = r#"
exec 3<&0
"$0" "$@" </dev/null 3<&- &
pid=$!
(cat <&3; kill -KILL "$pid") >/dev/null 2>&1 &
wait "$pid"
"#;

/// Path of the binary; `None` if it is not installed, after reporting on standard error (past the
/// test runner's capture) that `part` was skipped.
pub fn for_tests(part: &str) -> io::Result<Option<PathBuf>> {
    if let Some(binary) = find() {
        return Ok(Some(binary));
    }
    let mut out = io::stderr().lock();
    writeln!(
        out,
        "\n!! LEFT OUT: {part} on anvil (not installed: npm ci in contracts/; ./test does it)"
    )?;
    Ok(None)
}

fn find() -> Option<PathBuf> {
    if let Some(binary) = std::env::var_os(ENV_BINARY).filter(|binary| !binary.is_empty()) {
        // Configured but missing: starting it reports the error.
        return Some(PathBuf::from(binary));
    }
    // Tests run in the directory of their crate; the platform's package contains the binary.
    let here = std::env::current_dir().ok()?;
    let packages = here.ancestors().map(|dir| dir.join(INSTALLED)).find(|dir| dir.is_dir())?;
    let mut packages: Vec<PathBuf> =
        packages.read_dir().ok()?.filter_map(|entry| Some(entry.ok()?.path())).collect();
    packages.sort();
    packages.into_iter().map(|package| package.join(BINARY)).find(|binary| binary.is_file())
}

/// A chain that mines only on request (`evm_mine`).
#[derive(Debug)]
pub struct Anvil {
    shell: Child,
    /// URL of its JSON-RPC server.
    pub url: String,
}

impl Anvil {
    /// Starts a process with this chain id and waits until it answers.
    ///
    /// # Errors
    /// The binary cannot be started, or ends before it answers.
    pub fn start(binary: &Path, chain_id: u64) -> io::Result<Anvil> {
        let mut shell = Command::new("/bin/sh")
            .args(["-c", SCRIPT])
            .arg(binary)
            .args([
                "--host",
                "127.0.0.1",
                "--port",
                "0",
                "--no-mining",
                "--chain-id",
                &chain_id.to_string(),
            ])
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
        // It keeps writing: a full pipe would block it.
        std::thread::spawn(move || lines.for_each(drop));
        Ok(anvil)
    }
}

impl Drop for Anvil {
    fn drop(&mut self) {
        drop(self.shell.stdin.take());
        // A process that cannot be awaited has already ended.
        let _ = self.shell.wait();
    }
}
