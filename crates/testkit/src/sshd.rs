//! OpenSSH's server for tests: the system's `sshd`, as the user of the test, with keys and files of its
//! own on a port of its own. Installs nothing.

use std::fs;
use std::io::{self, Read as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::wait;
use crate::watched::{Watched, is_wanted};

/// Set to anything but `0` or empty: this run includes OpenSSH's server, and its absence is a failure.
pub const ENV_WANTED: &str = "CORRIDOR_TEST_SSHD";
/// Passphrase of the client's key.
pub const PASSPHRASE: &str = "correct horse";

/// Debian installs it where ordinary users have no path to.
const SSHD: &str = "/usr/sbin/sshd";
const SFTP_SERVER: &str = "/usr/lib/openssh/sftp-server";
/// Runs the SFTP server. If the file `cut` says so, ends the connection at a rename: `before` it is
/// executed, or `after`. If a file `full` exists, no file may be larger than 64 bytes.
const CUTTER: &str = r#"
import os, resource, signal, struct, subprocess, sys, threading
base, files, server = sys.argv[1:4]

def limit():
    path = os.path.join(base, "full")
    if os.path.exists(path):
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (64, 64))

process = subprocess.Popen(
    [server, "-d", files], stdin=subprocess.PIPE, stdout=subprocess.PIPE, preexec_fn=limit, restore_signals=False
)
hold = threading.Event()

def cut():
    process.kill()
    os._exit(1)

def exactly(stream, count):
    data = b""
    while len(data) < count:
        more = stream.read(count - len(data))
        if not more:
            process.stdin.close()
            sys.exit(0)
        data += more
    return data

def answers():
    while True:
        head = process.stdout.read(4)
        if len(head) < 4:
            os._exit(0)
        body = process.stdout.read(struct.unpack(">I", head)[0])
        if hold.is_set():
            cut()
        sys.stdout.buffer.write(head + body)
        sys.stdout.buffer.flush()

threading.Thread(target=answers, daemon=True).start()
while True:
    head = exactly(sys.stdin.buffer, 4)
    body = exactly(sys.stdin.buffer, struct.unpack(">I", head)[0])
    renames = body[0] == 18 or (body[0] == 200 and b"posix-rename" in body[:40])
    marker = os.path.join(base, "cut")
    if renames and os.path.exists(marker):
        with open(marker) as file:
            when = file.read().strip()
        os.remove(marker)
        if when == "before":
            cut()
        hold.set()
    process.stdin.write(head + body)
    process.stdin.flush()
"#;

/// A running server. Its files and keys survive a restart.
pub struct Sshd {
    dir: PathBuf,
    port: u16,
    watched: Option<Watched>,
}

/// A server with directories `out` and `in`; `None` if the run does not include it, after reporting
/// on standard error that `part` was skipped.
///
/// # Errors
/// The run includes it, and it is missing or does not start.
pub fn for_tests(part: &str, dir: &Path) -> io::Result<Option<Sshd>> {
    if !is_wanted(ENV_WANTED, part, "OpenSSH's server")? {
        return Ok(None);
    }
    let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port();
    let mut server = Sshd { dir: dir.to_owned(), port, watched: None };
    for name in ["out", "in"] {
        fs::create_dir_all(server.files().join(name))?;
    }
    // Where a server of root separates its privileges; of other users it does not.
    let separated = Path::new("/run/sshd");
    if user()? == "root" && !separated.exists() {
        fs::create_dir_all(separated)?;
    }
    server.new_host_keys()?;
    server.key("client", "ed25519", PASSPHRASE)?;
    server.key("rsa", "rsa", "")?;
    server.key("stranger", "ed25519", "")?;
    let public = |name: &str| fs::read_to_string(dir.join(format!("{name}.pub")));
    fs::write(dir.join("authorized_keys"), public("client")? + &public("rsa")?)?;
    fs::write(dir.join("cutter.py"), CUTTER)?;
    server.start()?;
    Ok(Some(server))
}

/// The user that the server lets in.
pub fn user() -> io::Result<String> {
    let output = Command::new("id").arg("-un").output()?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

impl Sshd {
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Directory in which sessions start.
    pub fn files(&self) -> PathBuf {
        self.dir.join("files")
    }

    /// A private key: `client` with [`PASSPHRASE`], `rsa` without one, and `stranger`, which is refused.
    pub fn key_file(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }

    /// The fingerprint of the host key of a kind, `ed25519` or `rsa`, as `ssh-keygen` prints it.
    pub fn fingerprint(&self, kind: &str) -> io::Result<String> {
        let file = self.dir.join(format!("host_{kind}.pub"));
        let output = Command::new("ssh-keygen").arg("-lf").arg(file).output()?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        text.split_whitespace()
            .find(|word| word.starts_with("SHA256:"))
            .map(str::to_owned)
            .ok_or_else(|| io::Error::other(format!("ssh-keygen -lf: {text}")))
    }

    /// Gives the server other host keys from its next start.
    pub fn new_host_keys(&self) -> io::Result<()> {
        self.key("host_ed25519", "ed25519", "")?;
        self.key("host_rsa", "rsa", "")
    }

    /// Ends the connection at the next rename, before or after it is executed.
    pub fn cut_at_rename(&self, executed: bool) -> io::Result<()> {
        fs::write(self.dir.join("cut"), if executed { "after" } else { "before" })
    }

    /// Whether later connections can write no more than 64 bytes to a file, as on a full disk.
    pub fn fill(&self, full: bool) -> io::Result<()> {
        let path = self.dir.join("full");
        if full { fs::write(path, "") } else { fs::remove_file(path) }
    }

    /// Starts it, if it does not run, and waits until it greets its clients.
    pub fn start(&mut self) -> io::Result<()> {
        if self.watched.is_some() {
            return Ok(());
        }
        let (dir, files) = (self.dir.display(), self.files());
        let config = format!(
            "Port {}\nListenAddress 127.0.0.1\nHostKey {dir}/host_ed25519\nHostKey {dir}/host_rsa\nPidFile none\n\
             UsePAM no\nStrictModes no\nPermitRootLogin yes\nAuthorizedKeysFile {dir}/authorized_keys\n\
             Subsystem sftp /usr/bin/env python3 {dir}/cutter.py {dir} {} {SFTP_SERVER}\nMaxStartups 100\n",
            self.port,
            files.display()
        );
        let path = self.dir.join("sshd.conf");
        fs::write(&path, config)?;
        let log = self.dir.join("sshd.log");
        let command = [SSHD, "-D", "-e", "-f", &path.display().to_string()];
        self.watched = Some(Watched::start(&command, &log)?);
        if wait::until(wait::AT_MOST, || self.greets()) {
            return Ok(());
        }
        let log = fs::read_to_string(log).unwrap_or_default();
        Err(io::Error::other(format!("{SSHD} did not start (Debian: openssh-server): {log}")))
    }

    /// kill -9. Connections that are open last until their clients end them.
    pub fn kill(&mut self) -> io::Result<()> {
        self.watched.take().map_or(Ok(()), |mut watched| watched.kill())
    }

    fn key(&self, name: &str, kind: &str, passphrase: &str) -> io::Result<()> {
        let path = self.dir.join(name);
        for old in [path.clone(), self.dir.join(format!("{name}.pub"))] {
            if old.exists() {
                fs::remove_file(old)?;
            }
        }
        let made = Command::new("ssh-keygen")
            .args(["-q", "-t", kind, "-N", passphrase, "-f"])
            .arg(&path)
            .output()?;
        match made.status.success() {
            true => Ok(()),
            false => Err(io::Error::other(String::from_utf8_lossy(&made.stderr).into_owned())),
        }
    }

    fn greets(&self) -> bool {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, self.port));
        let greeting = || -> io::Result<[u8; 4]> {
            let mut stream = TcpStream::connect_timeout(&address, Duration::from_secs(1))?;
            stream.set_read_timeout(Some(Duration::from_secs(1)))?;
            let mut text = [0; 4];
            stream.read_exact(&mut text)?;
            Ok(text)
        };
        greeting().is_ok_and(|text| &text == b"SSH-")
    }
}
