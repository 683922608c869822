//! Starts and stops the real program: an installation (data directory, configuration, environment),
//! its commands, and its long-running processes, which can be killed, frozen and stopped.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;
use testkit::wait;

/// Timeout for a process to be ready: generous, because a loaded machine runs many tests at once.
pub const READY_AT_MOST: Duration = Duration::from_secs(60);
/// Timeout for a process to stop.
pub const END_AT_MOST: Duration = Duration::from_secs(60);
/// Lines of a log that a failure shows.
const LOG_TAIL_LINES: usize = 30;

/// The program under test: the one that was built with this executable, and so lies beside it.
/// Test executables are in a directory below.
pub fn program() -> PathBuf {
    let own = std::env::current_exe().expect("an executable");
    let dir = own.parent().expect("a directory");
    let dir = if dir.ends_with("deps") { dir.parent().expect("a directory") } else { dir };
    dir.join("corridor")
}

/// The output and exit code of a command.
#[derive(Debug)]
pub struct Finished {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

/// An installation: a data directory, the program, and the environment that its processes share.
pub struct Installation {
    dir: TempDir,
    program: PathBuf,
    env: Vec<(String, String)>,
}

impl Default for Installation {
    fn default() -> Installation {
        Installation::new()
    }
}

impl Installation {
    /// Without a configuration file.
    pub fn new() -> Installation {
        let dir = tempfile::tempdir().expect("a directory");
        Installation { dir, program: program(), env: Vec::new() }
    }

    /// With this configuration file.
    pub fn configured(text: &str) -> Installation {
        let mut made = Installation::new();
        let path = made.path().join("corridor.toml");
        std::fs::write(&path, text).expect("the configuration is written");
        made.set("CORRIDOR_CONFIG", path.display().to_string());
        made
    }

    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    /// Replaces the program for all later processes, by that of another version.
    pub fn use_program(&mut self, program: PathBuf) {
        self.program = program;
    }

    pub fn program(&self) -> &Path {
        &self.program
    }

    /// Sets an environment variable for all later processes.
    pub fn set(&mut self, name: &str, value: impl Into<String>) {
        self.env.push((name.to_owned(), value.into()));
    }

    /// A command of the program, not yet started. It inherits no `CORRIDOR_…` variable of the test
    /// run.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(args).stdin(Stdio::null());
        self.environment(&mut command);
        command
    }

    /// Applies this installation's environment to a command.
    pub fn environment(&self, command: &mut Command) {
        for (name, _) in
            std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("CORRIDOR_"))
        {
            command.env_remove(name);
        }
        command.env_remove("RUST_LOG").env("CORRIDOR_DATA_DIR", self.path());
        command.envs(self.env.iter().map(|(name, value)| (name, value)));
    }

    /// Runs a command to its end.
    pub fn run(&self, args: &[&str]) -> Finished {
        finish(&mut self.command(args))
    }

    /// Runs a command that must succeed, and returns its output.
    pub fn ok(&self, args: &[&str]) -> String {
        let done = self.run(args);
        assert_eq!(done.code, 0, "corridor {}: {}{}", args.join(" "), done.stdout, done.stderr);
        done.stdout
    }

    /// Creates these users of the console, for decisions that take two.
    pub fn create_users(&self, logins: &[&str]) {
        for login in logins {
            self.create_user(login, &["--role", "admin", "--role", "compliance", "--all-tenants"]);
        }
    }

    /// Creates a user of the console, in the name of one that is there, or else their own.
    pub fn create_user(&self, login: &str, access: &[&str]) {
        let there = self.json(&["users", "list"]);
        let by = there.first().and_then(|user| user["login"].as_str()).unwrap_or(login);
        let create = ["users", "create", login, "--by", by, "--why", "new colleague"];
        self.ok(&[&create[..], access].concat());
    }

    /// Books tokens that were received for a tenant, by a user of the console.
    pub fn top_up(&self, by: &str, tenant: &str, coin: &str, amount: &str) {
        let money = ["--tenant", tenant, "--coin", coin, "--amount", amount];
        let why = ["--reference", "received", "--by", by, "--why", "seen in the treasury"];
        self.ok(&[&["tenants", "top-up"][..], &money, &why].concat());
    }

    /// Runs a command that must succeed with `--output json`, and returns the printed values, one
    /// per line.
    pub fn json(&self, args: &[&str]) -> Vec<Value> {
        let text = self.ok(&[args, &["--output", "json"]].concat());
        text.lines().map(|line| serde_json::from_str(line).expect("a JSON value a line")).collect()
    }

    /// Starts a long-running command with its output in files.
    pub fn start(&self, name: &str, args: &[&str], env: &[(&str, &str)]) -> Process {
        let mut command = self.command(args);
        command.envs(env.iter().copied());
        Process::spawn(command, self.path(), name)
    }

    /// Starts `serve` and waits until it is ready.
    pub fn serve(&self, name: &str, env: &[(&str, &str)]) -> Node {
        let (process, address) = self.serve_or_end(name, env);
        let Some(address) = address else {
            panic!("serve did not come up: {}", process.log_tail());
        };
        Node { process, address }
    }

    /// Starts `serve` and waits until it is ready or has exited, which may happen first if its
    /// predecessor left work.
    pub fn serve_or_end(&self, name: &str, env: &[(&str, &str)]) -> (Process, Option<String>) {
        self.serve_as("all", name, env)
    }

    /// The same with only part of the roles.
    pub fn serve_as(
        &self,
        role: &str,
        name: &str,
        env: &[(&str, &str)],
    ) -> (Process, Option<String>) {
        // Payments only: several nodes share one data directory here, and the built-in chain
        // belongs to one process.
        let env = [&[("CORRIDOR_WALLETS__ENABLED", "false")], env].concat();
        let mut process = self.start(name, &["serve", "--role", role], &env);
        let address = process.serves();
        (process, address)
    }
}

fn length(path: &Path) -> u64 {
    std::fs::metadata(path).map_or(0, |meta| meta.len())
}

/// Runs any command to its end.
pub fn finish(command: &mut Command) -> Finished {
    let output = command.output().expect("the command runs");
    Finished {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8(output.stdout).expect("UTF-8 on stdout"),
        stderr: String::from_utf8(output.stderr).expect("UTF-8 on stderr"),
    }
}

fn serving_address(line: &str) -> Option<String> {
    let value: Value = serde_json::from_str(line).ok()?;
    (value["message"] == "serving")
        .then(|| value["address"].as_str().map(|address| format!("http://{address}")))?
}

/// A running process; killed when dropped.
pub struct Process {
    child: Child,
    out: PathBuf,
    err: PathBuf,
    /// Where this process's part of the files begins.
    read_from: (u64, u64),
    ended: Option<ExitStatus>,
}

impl Process {
    /// Starts a command with its output in files of `dir`.
    pub fn spawn(mut command: Command, dir: &Path, name: &str) -> Process {
        let (out, err) = (dir.join(format!("{name}.out")), dir.join(format!("{name}.log")));
        // Appended, so that the log of a killed process precedes its successor's.
        let open =
            |path: &Path| File::options().create(true).append(true).open(path).expect("a log file");
        let read_from = (length(&out), length(&err));
        command.stdout(open(&out)).stderr(open(&err));
        let child = command.spawn().expect("the program starts");
        Process { child, out, err, read_from, ended: None }
    }

    /// The address of a `serve`, once it is ready; `None` if it has exited.
    pub fn serves(&mut self) -> Option<String> {
        let mut address = None;
        wait::until(READY_AT_MOST, || {
            address = self.log().lines().find_map(serving_address);
            address.is_some() || self.ended().is_some()
        });
        address
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Its stdout so far.
    pub fn out(&self) -> String {
        tail_from(&self.out, self.read_from.0)
    }

    /// Its stderr so far.
    pub fn log(&self) -> String {
        tail_from(&self.err, self.read_from.1)
    }

    /// The last lines of its log, for failure messages.
    pub fn log_tail(&self) -> String {
        let log = self.log();
        let lines: Vec<&str> = log.lines().collect();
        lines[lines.len().saturating_sub(LOG_TAIL_LINES)..].join("\n")
    }

    /// Its exit status, if it has exited.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        if self.ended.is_none() {
            self.ended = self.child.try_wait().expect("the process can be waited for");
        }
        self.ended
    }

    /// kill -9, and waits for the exit.
    pub fn kill(&mut self) {
        if self.ended.is_none() {
            self.child.kill().expect("the process can be killed");
            self.ended = Some(self.child.wait().expect("the process can be waited for"));
        }
    }

    /// Sends a signal by its short name (`TERM`, `STOP`, `CONT`).
    pub fn signal(&self, name: &str) {
        // The shell's own `kill`: minimal systems have no such program.
        let script = format!("kill -{name} {}", self.id());
        let status = Command::new("/bin/sh").args(["-c", &script]).status().expect("a shell");
        assert!(status.success(), "SIG{name} could not be sent");
    }

    /// Waits until it exits by itself.
    pub fn wait_for_end(&mut self) -> ExitStatus {
        assert!(
            wait::until(END_AT_MOST, || self.ended().is_some()),
            "still running: {}",
            self.log_tail()
        );
        self.ended.expect("it has ended")
    }

    /// SIGTERM; it must end with exit code 0.
    pub fn stop(&mut self) {
        self.signal("TERM");
        let status = self.wait_for_end();
        assert!(status.success(), "{status}: {}", self.log_tail());
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

fn tail_from(path: &Path, from: u64) -> String {
    let bytes = std::fs::read(path).unwrap_or_default();
    let from = usize::try_from(from).unwrap_or(usize::MAX).min(bytes.len());
    String::from_utf8_lossy(&bytes[from..]).into_owned()
}

pub struct Node {
    pub process: Process,
    /// Of the form `http://127.0.0.1:port`.
    pub address: String,
}
