//! Location of PostgreSQL's programs, and the ordinary user that may run the server. Searches,
//! never installs.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use super::PostgresFault;

/// Debian and Ubuntu install each major version separately, outside PATH.
const DEBIAN_VERSIONS: &str = "/usr/lib/postgresql";
const NEEDED: [&str; 3] = ["postgres", "initdb", "psql"];
/// Users for a server started by a root-owned test process, in this order.
pub(super) const ORDINARY_USERS: [&str; 2] = ["postgres", "nobody"];

/// A directory with a complete PostgreSQL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binaries {
    dir: PathBuf,
}

impl Binaries {
    /// Searches Debian's version directories, newest first, then PATH.
    ///
    /// # Errors
    /// [`PostgresFault::NotFound`] lists every searched directory.
    pub fn find() -> Result<Binaries, PostgresFault> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let mut candidates = version_dirs(Path::new(DEBIAN_VERSIONS));
        candidates.extend(std::env::split_paths(&path));
        first_complete(&candidates).ok_or_else(|| {
            let looked: Vec<_> = candidates.iter().map(|dir| dir.display().to_string()).collect();
            PostgresFault::NotFound { looked: looked.join(", ") }
        })
    }

    /// Full path of one program.
    pub fn program(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }
}

/// `<root>/<version>/bin`, newest version first; empty if there are none.
pub(super) fn version_dirs(root: &Path) -> Vec<PathBuf> {
    let mut found: Vec<(u32, PathBuf)> = std::fs::read_dir(root)
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| {
            Some((entry.file_name().to_str()?.parse().ok()?, entry.path().join("bin")))
        })
        .collect();
    found.sort_by_key(|(version, _)| std::cmp::Reverse(*version));
    found.into_iter().map(|(_, dir)| dir).collect()
}

pub(super) fn first_complete(candidates: &[PathBuf]) -> Option<Binaries> {
    let complete = |dir: &&PathBuf| NEEDED.iter().all(|name| dir.join(name).is_file());
    candidates.iter().find(complete).map(|dir| Binaries { dir: dir.clone() })
}

/// Numeric user and group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct User {
    pub uid: u32,
    pub gid: u32,
}

/// The user to switch to: `None` if this process has an ordinary user. `ours` is a file that this
/// process created.
pub(super) fn ordinary_user(ours: &Path) -> Result<Option<User>, PostgresFault> {
    let owner =
        std::fs::metadata(ours).map_err(PostgresFault::io("asking for our own user"))?.uid();
    if owner != 0 {
        return Ok(None);
    }
    let passwd =
        std::fs::read_to_string("/etc/passwd").map_err(PostgresFault::io("reading the users"))?;
    pick_user(&passwd).map(Some).ok_or(PostgresFault::NoOrdinaryUser)
}

pub(super) fn pick_user(passwd: &str) -> Option<User> {
    ORDINARY_USERS.iter().find_map(|wanted| {
        passwd.lines().find_map(|line| {
            let mut fields = line.split(':');
            let name = fields.next()?;
            let uid = fields.nth(1)?.parse().ok()?;
            let gid = fields.next()?.parse().ok()?;
            (name == *wanted && uid != 0).then_some(User { uid, gid })
        })
    })
}
