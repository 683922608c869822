//! Ends sessions whose node does not go on in the middle of a transaction: its machine is paused, or
//! its answers do not arrive. The locks would stay as long as the node does; the server's own limit
//! (`idle_in_transaction_session_timeout`) covers neither a flight that arrived in part nor the node's
//! other sessions, which would get the lock next, one after the other.

use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio_postgres::SimpleQueryMessage;

use super::connect::{APPLICATION, Connector};
use super::failure;
use crate::error::DbError;

/// Timeout of a check.
const CHECK_TIMEOUT: Duration = Duration::from_secs(5);

/// Of this service's sessions, on any node: those that others wait for and that have neither worked nor
/// waited for a lock for `LIMIT` milliseconds, and those of the same node that wait for a lock. A session
/// that only reads has no `backend_xid`.
const END_STUCK: &str = "WITH mine AS MATERIALIZED (
        SELECT pid, application_name, state, wait_event_type, backend_xid, state_change
        FROM pg_stat_activity WHERE application_name LIKE 'APPLICATION%' AND usename = current_user
        AND datname = current_database() AND pid <> pg_backend_pid()),
    blocking AS MATERIALIZED (
        SELECT DISTINCT unnest(pg_blocking_pids(pid)) AS pid FROM mine WHERE wait_event_type = 'Lock'),
    stuck AS MATERIALIZED (
        SELECT pid, application_name FROM mine WHERE backend_xid IS NOT NULL
        AND wait_event_type = 'Client' AND pid IN (SELECT pid FROM blocking)
        AND state_change < clock_timestamp() - LIMIT * interval '1 millisecond')
    SELECT pg_terminate_backend(pid) FROM mine WHERE pid IN (SELECT pid FROM stuck)
    OR wait_event_type = 'Lock' AND application_name <> 'APPLICATION'
    AND application_name IN (SELECT application_name FROM stuck)";

impl Connector {
    /// Ends them; returns how many. One check runs at a time, on a separate connection.
    pub(super) async fn end_stuck(&self, longer_than: Duration) -> Result<usize, DbError> {
        if self.checking.swap(true, Ordering::Relaxed) {
            return Ok(0);
        }
        let checked = tokio::time::timeout(CHECK_TIMEOUT, self.check(longer_than)).await;
        self.checking.store(false, Ordering::Relaxed);
        checked.unwrap_or_else(|_| {
            Err(DbError::Unavailable("the check for stuck sessions timed out".to_owned()))
        })
    }

    async fn check(&self, longer_than: Duration) -> Result<usize, DbError> {
        let (_, opened) = self.open_any().await?;
        let asked = END_STUCK
            .replace("APPLICATION", APPLICATION)
            .replace("LIMIT", &longer_than.as_millis().to_string());
        let ended = opened.client.simple_query(&asked).await;
        let is_row = |answer: &&SimpleQueryMessage| matches!(answer, SimpleQueryMessage::Row(_));
        ended
            .map(|answers| answers.iter().filter(is_row).count())
            .map_err(|error| failure::meaning(&error))
    }
}
