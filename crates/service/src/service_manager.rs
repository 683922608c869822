//! Notifies a service manager about this process: ready, stopping, still alive (the protocol of
//! `sd_notify(3)`, which systemd and others implement). Without `NOTIFY_SOCKET` nothing is sent;
//! nothing ever waits for it.

use std::io;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::time::Duration;

/// The service manager's socket: a path, or a name in the abstract namespace after an `@`.
const ENV_SOCKET: &str = "NOTIFY_SOCKET";
/// The watchdog's timeout, in microseconds.
const ENV_WATCHDOG_US: &str = "WATCHDOG_USEC";
/// The process that the watchdog is meant for.
const ENV_WATCHDOG_PID: &str = "WATCHDOG_PID";

/// A notification for the service manager.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum News {
    /// The service accepts requests.
    Ready,
    /// New requests are rejected; those in flight are finished.
    Stopping,
    /// The process still works.
    Alive,
}

impl News {
    const fn text(self) -> &'static str {
        match self {
            News::Ready => "READY=1\nSTATUS=serving",
            News::Stopping => "STOPPING=1\nSTATUS=finishing the requests under way",
            News::Alive => "WATCHDOG=1",
        }
    }
}

/// The service manager of this process, if there is one.
#[derive(Debug, Default)]
pub struct ServiceManager {
    socket: Option<(UnixDatagram, SocketAddr)>,
    alive_every: Option<Duration>,
}

impl ServiceManager {
    /// The one named by the environment. If it is unreachable, this is logged and ignored: the
    /// service manager itself notices the missing notification.
    pub fn of_process() -> ServiceManager {
        let variable = |name: &str| std::env::var(name).ok().filter(|text| !text.is_empty());
        let Some(name) = variable(ENV_SOCKET) else { return ServiceManager::default() };
        match open(&name) {
            Ok(socket) => {
                let alive_every = interval(
                    variable(ENV_WATCHDOG_US),
                    variable(ENV_WATCHDOG_PID),
                    std::process::id(),
                );
                ServiceManager { socket: Some(socket), alive_every }
            }
            Err(error) => {
                tracing::warn!(%error, socket = name, "service manager unreachable, notifications are skipped");
                ServiceManager::default()
            }
        }
    }

    pub fn notify(&self, news: News) {
        let Some((socket, address)) = &self.socket else { return };
        if let Err(error) = socket.send_to_addr(news.text().as_bytes(), address) {
            tracing::warn!(%error, ?news, "notifying the service manager failed");
        }
    }

    /// Notifies the watchdog twice in each interval; never returns. Run it on the runtime that does
    /// the work, so that a stuck runtime misses the watchdog too.
    pub async fn stay_alive(&self) {
        let Some(every) = self.alive_every else { return std::future::pending().await };
        let mut ticks = tokio::time::interval(every);
        loop {
            ticks.tick().await;
            self.notify(News::Alive);
        }
    }
}

fn open(name: &str) -> io::Result<(UnixDatagram, SocketAddr)> {
    let socket = UnixDatagram::unbound()?;
    socket.set_nonblocking(true)?;
    Ok((socket, address(name)?))
}

#[cfg(target_os = "linux")]
fn address(name: &str) -> io::Result<SocketAddr> {
    use std::os::linux::net::SocketAddrExt as _;
    match name.strip_prefix('@') {
        Some(name) => SocketAddr::from_abstract_name(name),
        None => SocketAddr::from_pathname(name),
    }
}

#[cfg(not(target_os = "linux"))]
fn address(name: &str) -> io::Result<SocketAddr> {
    SocketAddr::from_pathname(name)
}

/// Half of the watchdog's timeout, if it is meant for process `own`.
fn interval(allowed_us: Option<String>, pid: Option<String>, own: u32) -> Option<Duration> {
    let is_ours = pid.is_none_or(|pid| pid.parse() == Ok(own));
    let allowed_us: u64 = allowed_us.filter(|_| is_ours)?.parse().ok()?;
    (allowed_us > 1).then(|| Duration::from_micros(allowed_us / 2))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heard(listener: &UnixDatagram) -> String {
        let mut buffer = [0; 256];
        let length = listener.recv(&mut buffer).expect("a notification arrives");
        String::from_utf8_lossy(&buffer[..length]).into_owned()
    }

    #[test]
    fn notifications_go_to_the_socket() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("notify");
        let listener = UnixDatagram::bind(&path).expect("a socket");
        let socket = open(path.to_str().expect("UTF-8")).expect("opens");
        let manager = ServiceManager { socket: Some(socket), alive_every: None };
        for (news, text) in
            [(News::Ready, "READY=1"), (News::Alive, "WATCHDOG=1"), (News::Stopping, "STOPPING=1")]
        {
            manager.notify(news);
            assert_eq!(heard(&listener).lines().next(), Some(text));
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn names_in_the_abstract_namespace_are_reached() {
        let name = format!("corridor-test-{}", uuid::Uuid::new_v4());
        let listener = UnixDatagram::bind_addr(&address(&format!("@{name}")).expect("a name"))
            .expect("a socket");
        let manager = ServiceManager {
            socket: Some(open(&format!("@{name}")).expect("opens")),
            alive_every: None,
        };
        manager.notify(News::Ready);
        assert!(heard(&listener).starts_with("READY=1\n"));
    }

    #[test]
    fn a_missing_service_manager_is_ignored() {
        let dir = tempfile::tempdir().expect("a directory");
        let socket = open(dir.path().join("absent").to_str().expect("UTF-8")).expect("opens");
        ServiceManager { socket: Some(socket), alive_every: None }.notify(News::Ready);
    }

    #[test]
    fn the_watched_process_notifies_twice_per_interval() {
        let text = |text: &str| Some(text.to_owned());
        let half = Some(Duration::from_secs(15));
        assert_eq!(interval(text("30000000"), None, 7), half);
        assert_eq!(interval(text("30000000"), text("7"), 7), half);
        for (allowed, pid) in
            [(text("30000000"), text("8")), (None, None), (text("0"), None), (text("x"), None)]
        {
            assert_eq!(interval(allowed, pid, 7), None);
        }
    }

    #[tokio::test]
    async fn a_living_process_notifies_the_watchdog_repeatedly() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("notify");
        let listener = tokio::net::UnixDatagram::bind(&path).expect("a socket");
        let socket = open(path.to_str().expect("UTF-8")).expect("opens");
        let manager =
            ServiceManager { socket: Some(socket), alive_every: Some(Duration::from_millis(1)) };
        let listening = async {
            let mut buffer = [0; 64];
            for _ in 0..3 {
                let length = listener.recv(&mut buffer).await.expect("a notification arrives");
                assert_eq!(&buffer[..length], b"WATCHDOG=1");
            }
        };
        tokio::select! {
            () = manager.stay_alive() => unreachable!("it never returns"),
            () = listening => {}
        }
    }
}
