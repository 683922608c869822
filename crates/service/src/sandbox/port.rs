//! The process that holds a TCP port, as far as the system reveals it.

use std::fs;

/// The process that listens on `port`, or a text for an unknown one.
pub fn holder(port: u16) -> String {
    let unknown = || "another process".to_owned();
    let Some(inode) = listening_inode(port) else { return unknown() };
    let Ok(processes) = fs::read_dir("/proc") else { return unknown() };
    for process in processes.flatten() {
        let name = process.file_name();
        let Some(pid) = name.to_str().filter(|name| name.bytes().all(|byte| byte.is_ascii_digit()))
        else {
            continue;
        };
        if holds(pid, &inode) {
            let command = fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
            return format!("{} (pid {pid})", command.trim());
        }
    }
    unknown()
}

/// The inode of the socket that listens on `port` (Linux: /proc/net/tcp).
fn listening_inode(port: u16) -> Option<String> {
    const LISTEN: &str = "0A";
    let wanted = format!(":{port:04X}");
    ["/proc/net/tcp", "/proc/net/tcp6"].into_iter().find_map(|table| {
        let table = fs::read_to_string(table).ok()?;
        table.lines().skip(1).find_map(|line| {
            let fields: Vec<&str> = line.split_whitespace().collect();
            let listens = fields.get(3) == Some(&LISTEN)
                && fields.get(1).is_some_and(|local| local.ends_with(&wanted));
            listens.then(|| fields.get(9).map(|inode| (*inode).to_owned())).flatten()
        })
    })
}

fn holds(pid: &str, inode: &str) -> bool {
    let socket = format!("socket:[{inode}]");
    let Ok(files) = fs::read_dir(format!("/proc/{pid}/fd")) else { return false };
    files
        .flatten()
        .any(|file| fs::read_link(file.path()).is_ok_and(|link| link.to_string_lossy() == socket))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_holder_of_our_own_port_is_this_process() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = listener.local_addr().expect("an address").port();
        assert!(
            holder(port).ends_with(&format!("(pid {})", std::process::id())),
            "{}",
            holder(port)
        );
    }
}
