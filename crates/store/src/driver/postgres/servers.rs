//! The servers of an address, and which of them is the primary.
//!
//! With several hosts (or `target_session_attrs=read-write`) a connection is used only if its server
//! proves to be the primary when it is made: it is not in recovery, no later timeline of the same
//! cluster is known, and it commits a record, which waits for its synchronous standby. A server that
//! was superseded by that standby cannot commit it. A record a second proves it for open connections.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio_postgres::config::{Host, TargetSessionAttrs};
use tokio_postgres::{Client, Config, SimpleQueryMessage};

use crate::error::{DbError, StoreError};

/// How long a server may take for the record that proves it.
const PROOF_TIMEOUT: Duration = Duration::from_secs(3);

/// In recovery or not, its timeline (0 in recovery), and its cluster.
const STANDING: &str = "SELECT CASE WHEN pg_is_in_recovery() THEN 0 ELSE
    ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::bigint END,
    (SELECT system_identifier FROM pg_control_system())";
/// A record without content whose commit waits for the synchronous standby.
const PROOF: &str =
    "SET synchronous_commit = on; SELECT pg_logical_emit_message(true, 'corridor', 'proof')";

/// The servers of an address, and what is known about their cluster.
pub(super) struct Servers {
    pub(super) each: Vec<Config>,
    /// Whether each connection has to be proven to lead to the primary.
    pub(super) guarded: bool,
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    /// Identifies the cluster: equal on its primary and standbys.
    system: Option<String>,
    /// The latest timeline of a primary; each promotion begins a later one.
    timeline: i64,
    /// The timeline of the last server that did not prove itself.
    unproven: Option<i64>,
}

/// What a server says about itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Standing {
    /// Timeline of its WAL; 0 in recovery, on a standby.
    pub(super) timeline: i64,
    pub(super) system: String,
}

/// What a standing means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Usable,
    /// Usable, and whatever was connected before is not.
    Promoted,
    Refused(String),
}

impl Servers {
    pub(super) fn of(config: &Config) -> Result<Servers, StoreError> {
        let attrs = config.get_target_session_attrs();
        if attrs == TargetSessionAttrs::ReadOnly {
            return Err(StoreError::Config(
                "target_session_attrs must be read-write: Corridor writes".to_owned(),
            ));
        }
        let count = config.get_hosts().len().max(config.get_hostaddrs().len());
        let guarded = count > 1 || attrs == TargetSessionAttrs::ReadWrite;
        // The library would query it once more.
        let each = match count {
            0 | 1 => {
                let mut only = config.clone();
                only.target_session_attrs(TargetSessionAttrs::Any);
                vec![only]
            }
            several => (0..several).map(|at| one_of(config, at)).collect(),
        };
        Ok(Servers { each, guarded, known: Mutex::default() })
    }

    /// Judges a server by what it says, and remembers the latest timeline.
    pub(super) fn judge(&self, standing: &Standing) -> Verdict {
        let mut known = self.known();
        match &known.system {
            Some(system) if *system != standing.system => {
                return Verdict::Refused("belongs to another cluster".to_owned());
            }
            Some(_) => {}
            None => known.system = Some(standing.system.clone()),
        }
        judge_timeline(&mut known, standing.timeline)
    }

    /// The same by the timeline alone.
    pub(super) fn judge_timeline(&self, timeline: i64) -> Verdict {
        judge_timeline(&mut self.known(), timeline)
    }

    /// Has a server prove itself. Where the last proof failed, only the watch asks for another one:
    /// a server that waits for its standby keeps each session that waits with it.
    pub(super) async fn prove(
        &self,
        client: &Client,
        timeline: i64,
        by_watch: bool,
    ) -> Result<(), DbError> {
        if !by_watch && self.is_unproven(timeline) {
            return Err(unproven());
        }
        match tokio::time::timeout(PROOF_TIMEOUT, client.simple_query(PROOF)).await {
            Ok(Ok(_)) => {
                self.known().unproven = None;
                Ok(())
            }
            Ok(Err(error)) => Err(super::failure::meaning(&error)),
            Err(_) => {
                self.known().unproven = Some(timeline);
                Err(unproven())
            }
        }
    }

    /// Whether the last proof that was asked for on this timeline failed.
    pub(super) fn is_unproven(&self, timeline: i64) -> bool {
        self.known().unproven == Some(timeline)
    }

    /// Whether nothing has become known since that speaks against a server on this timeline.
    pub(super) fn is_current(&self, timeline: i64) -> bool {
        let known = self.known();
        known.timeline == timeline && known.unproven != Some(timeline)
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn judge_timeline(known: &mut Known, timeline: i64) -> Verdict {
    if timeline == 0 {
        return Verdict::Refused("is a standby".to_owned());
    }
    if timeline < known.timeline {
        let latest = known.timeline;
        return Verdict::Refused(format!(
            "is a superseded primary (timeline {timeline}, the latest is {latest})"
        ));
    }
    let is_first = known.timeline == 0;
    let is_later = timeline > known.timeline;
    known.timeline = timeline;
    if is_later && !is_first { Verdict::Promoted } else { Verdict::Usable }
}

/// One host of an address, with everything else that the address says.
fn one_of(config: &Config, at: usize) -> Config {
    let mut one = Config::new();
    match config.get_hosts().get(at) {
        Some(Host::Tcp(host)) => one.host(host),
        #[cfg(unix)]
        Some(Host::Unix(path)) => one.host_path(path),
        None => &mut one,
    };
    if let Some(address) = config.get_hostaddrs().get(at) {
        one.hostaddr(*address);
    }
    let ports = config.get_ports();
    if let Some(port) = ports.get(at).or_else(|| ports.first()) {
        one.port(*port);
    }
    if let Some(user) = config.get_user() {
        one.user(user);
    }
    if let Some(password) = config.get_password() {
        one.password(password);
    }
    if let Some(name) = config.get_dbname() {
        one.dbname(name);
    }
    if let Some(options) = config.get_options() {
        one.options(options);
    }
    if let Some(name) = config.get_application_name() {
        one.application_name(name);
    }
    if let Some(timeout) = config.get_connect_timeout() {
        one.connect_timeout(*timeout);
    }
    if let Some(timeout) = config.get_tcp_user_timeout() {
        one.tcp_user_timeout(*timeout);
    }
    if let Some(interval) = config.get_keepalives_interval() {
        one.keepalives_interval(interval);
    }
    if let Some(retries) = config.get_keepalives_retries() {
        one.keepalives_retries(retries);
    }
    one.ssl_mode(config.get_ssl_mode()).ssl_negotiation(config.get_ssl_negotiation());
    one.channel_binding(config.get_channel_binding());
    one.keepalives(config.get_keepalives()).keepalives_idle(config.get_keepalives_idle());
    one
}

/// The name of a server for messages, without its password.
pub(super) fn name(config: &Config) -> String {
    let host = match config.get_hosts().first() {
        Some(Host::Tcp(host)) => host.clone(),
        #[cfg(unix)]
        Some(Host::Unix(path)) => path.display().to_string(),
        None => config.get_hostaddrs().first().map(ToString::to_string).unwrap_or_default(),
    };
    format!("{host}:{}", config.get_ports().first().unwrap_or(&5_432))
}

/// A failure to connect, with the server and the database that were wanted.
pub(super) fn named(config: &Config, error: DbError) -> DbError {
    let database = config.get_dbname().map_or_else(String::new, |name| format!("/{name}"));
    match error {
        DbError::Unavailable(why) => {
            DbError::Unavailable(format!("{}{database}: {why}", name(config)))
        }
        other => other,
    }
}

/// Asks a server about itself.
pub(super) async fn ask(client: &Client) -> Result<Standing, DbError> {
    let answers =
        client.simple_query(STANDING).await.map_err(|error| super::failure::meaning(&error))?;
    let row = answers.iter().find_map(|answer| match answer {
        SimpleQueryMessage::Row(row) => Some(row),
        _ => None,
    });
    let read = |at: usize| row.and_then(|row| row.get(at));
    let standing = read(0).and_then(|timeline| timeline.parse().ok()).zip(read(1));
    standing
        .map(|(timeline, system)| Standing { timeline, system: system.to_owned() })
        .ok_or_else(|| DbError::Corrupt("the server did not state its timeline".to_owned()))
}

fn unproven() -> DbError {
    DbError::Unavailable(
        "the server commits nothing: its synchronous standby is away or was promoted".to_owned(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn servers(address: &str) -> Servers {
        Servers::of(&address.parse().expect("an address")).expect("servers")
    }

    fn standing(timeline: i64, system: &str) -> Standing {
        Standing { timeline, system: system.to_owned() }
    }

    #[test]
    fn each_host_gets_its_port_and_what_the_address_says() {
        let several = servers("postgres://u:p%40@a:1,b:2/db?connect_timeout=3&sslmode=disable");
        assert!(several.guarded);
        let names: Vec<String> = several.each.iter().map(name).collect();
        assert_eq!(names, ["a:1", "b:2"]);
        for each in &several.each {
            assert_eq!((each.get_user(), each.get_dbname()), (Some("u"), Some("db")));
            assert_eq!(each.get_password(), Some(&b"p@"[..]));
            assert_eq!(each.get_connect_timeout(), Some(&Duration::from_secs(3)));
        }
        assert!(!servers("postgres://u@a/db").guarded);
        assert!(servers("postgres://u@a/db?target_session_attrs=read-write").guarded);
        let read_only = "postgres://u@a,b/db?target_session_attrs=read-only".parse();
        assert!(Servers::of(&read_only.expect("an address")).is_err());
    }

    #[test]
    fn a_failure_to_connect_names_the_server_and_the_database() {
        let failed = |address: &str| {
            let each = servers(address).each;
            named(&each[0], DbError::Unavailable("refused".to_owned())).to_string()
        };
        assert_eq!(failed("postgres://u:secret@a:1/db"), "unavailable: a:1/db: refused");
        assert_eq!(failed("postgres://u@a"), "unavailable: a:5432: refused");
    }

    #[test]
    fn a_standby_an_older_timeline_and_another_cluster_are_refused() {
        let servers = servers("postgres://u@a,b/db");
        assert!(matches!(servers.judge(&standing(0, "7")), Verdict::Refused(_)));
        assert_eq!(servers.judge(&standing(3, "7")), Verdict::Usable);
        assert_eq!(servers.judge(&standing(3, "7")), Verdict::Usable);
        assert_eq!(servers.judge(&standing(4, "7")), Verdict::Promoted);
        assert!(matches!(servers.judge(&standing(3, "7")), Verdict::Refused(_)));
        assert!(matches!(servers.judge(&standing(5, "8")), Verdict::Refused(_)));
        assert!(matches!(servers.judge_timeline(3), Verdict::Refused(_)));
        assert_eq!(servers.judge_timeline(4), Verdict::Usable);
        assert!(servers.is_current(4) && !servers.is_current(3));
    }
}
