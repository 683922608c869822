//! A pair of servers: a primary and its standby, with promotion, and with the ways in which a former
//! primary returns.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};

use super::PostgresFault;
use super::cluster::{Address, Cluster, Options, Own, launch_on_free_port, start_dir};
use crate::wait;

/// How long `pg_promote` waits, in seconds.
const PROMOTED_WITHIN_S: u32 = 60;
/// Settings that the running server changes, in its data directory. The last value counts.
const OWN_SETTINGS: &str = "postgresql.auto.conf";

impl Cluster {
    /// A standby of this server, with a directory and a port of its own.
    ///
    /// # Errors
    /// The server is external, or the base backup or the standby failed.
    pub fn standby(&self, name: &str, options: &Options) -> Result<Cluster, PostgresFault> {
        let primary = self.own("standby")?;
        let (mut plan, watchdog) = start_dir(options)?;
        let password = plan.dir.join("password");
        std::fs::copy(primary.plan.dir.join("password"), password)
            .map_err(PostgresFault::io("copying the password"))?;
        self.base_backup(&plan, name)?;
        let server = launch_on_free_port(&mut plan, options)?;
        let address = Address {
            base: self
                .address
                .base
                .replace(&format!(":{}", primary.plan.port), &format!(":{}", plan.port)),
            ..self.address.clone()
        };
        let own = Own { plan, server: Some(server).into(), watchdog: watchdog.into() };
        Ok(Cluster::made(address, self.psql.clone(), own))
    }

    /// Starts this server, which was stopped or killed, as a standby with a new copy of `primary`.
    ///
    /// # Errors
    /// A server is external, or the base backup or the standby failed.
    pub fn rebuild(&self, primary: &Cluster, name: &str) -> Result<(), PostgresFault> {
        let own = self.own("rebuild")?;
        std::fs::remove_dir_all(own.plan.data())
            .map_err(PostgresFault::io("removing a former primary's data"))?;
        primary.base_backup(&own.plan, name)?;
        self.restart()
    }

    /// Starts this server, which was stopped orderly, as a standby of `primary` with its own data.
    ///
    /// # Errors
    /// A server is external, or the standby does not start.
    pub fn demote(&self, primary: &Cluster, name: &str) -> Result<(), PostgresFault> {
        let own = self.own("demote")?;
        let conninfo = primary.conninfo(name)?;
        self.append(&format!("primary_conninfo = '{conninfo}'\n{STANDBY_SETTINGS}"))?;
        std::fs::write(own.plan.data().join("standby.signal"), "")
            .map_err(PostgresFault::io("writing standby.signal"))?;
        self.restart()
    }

    /// Makes this standby the primary; it waits for no standby until it has one.
    ///
    /// # Errors
    /// The server is not a standby, or is down.
    pub fn promote(&self) -> Result<(), PostgresFault> {
        let promoted = self.admin(&format!("SELECT pg_promote(true, {PROMOTED_WITHIN_S})"))?;
        if promoted == "t" {
            return Ok(());
        }
        Err(PostgresFault::Failed { program: "pg_promote", output: self.log_tail() })
    }

    /// Changes a setting of the running server.
    ///
    /// # Errors
    /// The server is a standby or is down.
    pub fn configure(&self, setting: &str, value: &str) -> Result<(), PostgresFault> {
        self.admin(&format!("ALTER SYSTEM SET {setting} = '{value}'"))?;
        self.admin("SELECT pg_reload_conf()").map(|_| ())
    }

    /// Has every commit wait for the standby of this name, and waits until it keeps up.
    ///
    /// # Errors
    /// The server is down, or the standby does not stream in time.
    pub fn wait_for_standby(&self, name: &str) -> Result<(), PostgresFault> {
        self.configure("synchronous_standby_names", name)?;
        let asked = format!(
            "SELECT sync_state FROM pg_stat_replication WHERE application_name = '{name}' \
             AND state = 'streaming'"
        );
        let streams = || self.admin(&asked).is_ok_and(|state| state == "sync");
        if wait::until(wait::AT_MOST, streams) {
            return Ok(());
        }
        Err(PostgresFault::Failed { program: "the standby", output: self.log_tail() })
    }

    /// The length of the server's log; 0 for an external server.
    pub fn log_bytes(&self) -> u64 {
        self.log().and_then(|log| log.metadata().ok()).map_or(0, |meta| meta.len())
    }

    /// The server's log from there.
    pub fn log_from(&self, bytes: u64) -> String {
        let mut text = Vec::new();
        if let Some(mut log) = self.log()
            && log.seek(SeekFrom::Start(bytes)).is_ok()
        {
            // What cannot be read, fails the test that looks for it.
            log.read_to_end(&mut text).ok();
        }
        String::from_utf8_lossy(&text).into_owned()
    }

    fn log(&self) -> Option<File> {
        File::open(self.own.as_ref()?.plan.dir.join("log")).ok()
    }

    fn base_backup(&self, plan: &super::process::Plan, name: &str) -> Result<(), PostgresFault> {
        let mut command = plan.command("pg_basebackup");
        command.args(["--dbname", &self.conninfo(name)?, "--pgdata"]).arg(plan.data());
        command.args(["--wal-method=stream", "--write-recovery-conf", "--checkpoint=fast"]);
        let answer = command.output().map_err(PostgresFault::io("running pg_basebackup"))?;
        if !answer.status.success() {
            let output = String::from_utf8_lossy(&answer.stderr).into_owned();
            return Err(PostgresFault::Failed { program: "pg_basebackup", output });
        }
        append_to(plan, STANDBY_SETTINGS)
    }

    fn append(&self, lines: &str) -> Result<(), PostgresFault> {
        append_to(&self.own("configure")?.plan, lines)
    }

    fn conninfo(&self, name: &str) -> Result<String, PostgresFault> {
        let plan = &self.own("standby")?.plan;
        let password = std::fs::read_to_string(plan.dir.join("password"))
            .map_err(PostgresFault::io("reading the password"))?;
        let port = plan.port;
        Ok(format!(
            "host=127.0.0.1 port={port} user=corridor password={password} application_name={name} sslmode=disable"
        ))
    }
}

/// Of a standby: it waits for no other one if it is promoted, and its log shows every statement.
const STANDBY_SETTINGS: &str = "synchronous_standby_names = ''\nlog_statement = 'all'\n";

fn append_to(plan: &super::process::Plan, lines: &str) -> Result<(), PostgresFault> {
    let mut file = File::options()
        .append(true)
        .open(plan.data().join(OWN_SETTINGS))
        .map_err(PostgresFault::io("opening the server's settings"))?;
    file.write_all(lines.as_bytes()).map_err(PostgresFault::io("writing the server's settings"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(part: &str) -> Option<(Cluster, Cluster)> {
        if !super::super::wanted() {
            assert!(super::super::for_tests(part).expect("left out").is_none());
            return None;
        }
        let options = Options::default();
        let one = Cluster::start(&options).expect("a primary");
        let two = one.standby("two", &options).expect("a standby");
        one.wait_for_standby("two").expect("it streams");
        Some((one, two))
    }

    #[test]
    fn a_promoted_standby_has_what_was_committed_and_the_former_primary_follows_it() {
        let Some((one, two)) = pair("a promoted standby") else { return };
        one.admin("CREATE TABLE kept AS SELECT 7 AS n").expect("committed");
        one.kill().expect("killed");
        two.promote().expect("promoted");
        assert_eq!(two.admin("SELECT n FROM kept").expect("read"), "7");
        one.rebuild(&two, "one").expect("rebuilt");
        two.wait_for_standby("one").expect("it streams");
        two.admin("UPDATE kept SET n = 8").expect("committed");
        two.stop().expect("stopped");
        one.promote().expect("promoted");
        two.demote(&one, "two").expect("demoted");
        one.wait_for_standby("two").expect("it streams");
        assert_eq!(one.admin("SELECT n FROM kept").expect("read"), "8");
        assert_eq!(two.admin("SELECT pg_is_in_recovery()").expect("read"), "t");
        assert!(two.log_from(0).contains("SELECT pg_is_in_recovery()"), "it logs its statements");
        assert!(two.log_from(two.log_bytes()).is_empty());
    }
}
