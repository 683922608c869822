//! Settings of sessions. A direct connection gets them once; behind a pooler in transaction mode, where
//! each transaction may have another server session, every transaction sets its own.

use domain::time::Span;
use tokio_postgres::Client;
use tokio_postgres::error::SqlState;

use super::connect::Role;
use super::failure;
use crate::error::DbError;
use crate::sql::{Stmt, Value};

/// How long a transaction may idle between its two flights before the server ends it, in
/// milliseconds. A node decides within some; one whose answers do not come back holds a tenant's head
/// for as long.
const IDLE_IN_TRANSACTION_MAX_MS: i64 = 1_000;

/// Settings of every session.
fn common(statement_timeout: Span) -> [String; 4] {
    let timeout_ms = statement_timeout.0 / 1_000;
    [
        format!("SET statement_timeout = {timeout_ms}"),
        format!("SET lock_timeout = {timeout_ms}"),
        format!("SET idle_in_transaction_session_timeout = {IDLE_IN_TRANSACTION_MAX_MS}"),
        "SET TIME ZONE 'UTC'".to_owned(),
    ]
}

/// Every statement of a writer or reader finds its rows by key: a plan made while a table was small
/// must not scan it whole later, nor may a page of a few rows join or sort everything. Joins run in
/// the order in which they are written, from the key to what it references.
const BY_KEY: [&str; 6] = [
    "SET enable_seqscan = off",
    "SET enable_bitmapscan = off",
    "SET enable_hashjoin = off",
    "SET enable_mergejoin = off",
    "SET join_collapse_limit = 1",
    "SET jit = off",
];
const READ_ONLY: [&str; 1] = ["SET default_transaction_read_only = on"];
const WRITE: [&str; 3] = [
    "SET synchronous_commit = on",
    "SET default_transaction_isolation = 'read committed'",
    "SET plan_cache_mode = force_generic_plan",
];

/// Applies them to a session of one client's own.
pub(super) async fn set_up(
    client: &Client,
    role: Role,
    statement_timeout: Span,
) -> Result<(), DbError> {
    let (access, plans): (&[&str], &[&str]) = match role {
        Role::Writer => (&WRITE, &BY_KEY),
        Role::Reader => (&READ_ONLY, &BY_KEY),
        Role::Auditor => (&READ_ONLY, &[]),
    };
    let common = common(statement_timeout);
    let settings = common
        .iter()
        .map(String::as_str)
        .chain(access.iter().copied())
        .chain(plans.iter().copied());
    for setting in settings {
        match client.batch_execute(setting).await {
            Ok(()) => {}
            // Other engines that speak the protocol may not know a planner setting, and do not need
            // it.
            Err(error) if is_unknown(&error) => {
                tracing::debug!(setting, "database setting not supported, ignored")
            }
            Err(error) => return Err(failure::meaning(&error)),
        }
    }
    Ok(())
}

fn is_unknown(error: &tokio_postgres::Error) -> bool {
    error.code().is_some_and(|code| {
        [SqlState::UNDEFINED_OBJECT, SqlState::FEATURE_NOT_SUPPORTED].contains(code)
    })
}

/// The same within a transaction, whose first statement it is; returns the timeline of the server, and
/// 0 from a standby. `$1`: statement timeout in milliseconds, `$2`: idle timeout likewise, `$3`: whether
/// it only reads, `$4`: whether plans are by key alone.
pub(super) static SETTINGS: Stmt = Stmt::written(
    "settings",
    "SELECT CASE WHEN pg_is_in_recovery() THEN 0 ELSE
        ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::bigint END,
    set_config('statement_timeout', $1, true), set_config('lock_timeout', $1, true),
    set_config('idle_in_transaction_session_timeout', $2, true), set_config('timezone', 'UTC', true),
    set_config('transaction_read_only', $3, true), set_config('synchronous_commit', 'on', true),
    set_config('enable_seqscan', $4, true), set_config('enable_bitmapscan', $4, true),
    set_config('enable_hashjoin', $4, true), set_config('enable_mergejoin', $4, true),
    set_config('join_collapse_limit', CASE WHEN $4 = 'off' THEN '1' ELSE '8' END, true),
    set_config('jit', $4, true)",
);

/// Parameters of [`SETTINGS`], in their order.
pub(super) fn settings(role: Role, statement_timeout: Span) -> Vec<Value> {
    let on_off = |on: bool| Value::Text(if on { "on" } else { "off" }.to_owned());
    vec![
        Value::Text((statement_timeout.0 / 1_000).to_string()),
        Value::Text(IDLE_IN_TRANSACTION_MAX_MS.to_string()),
        on_off(role != Role::Writer),
        on_off(role == Role::Auditor),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reads::list::STATEMENTS;
    use crate::sql::Dialect;

    /// 20,000 payments of one tenant and country.
    const PAYMENTS: &str = "\
        INSERT INTO payment (tenant, id, country, quote, amount, base_currency, base, coin, charge_amount, \
          charge_premium, charge_cost, remainder, hold, accepted_at, state, state_at, version, review, \
          screen_score, screen_list, screen_stale) \
        SELECT '00000000-0000-0000-0000-000000000001', gen_random_uuid(), 'PAK', gen_random_uuid(), 1, 'AED', 1, \
          'USDC', 0, 0, 0, 0, gen_random_uuid(), n, 'succeeded', n, 1, 'not_needed', 0, '', 0 \
        FROM generate_series(1, 20000) n; ANALYZE payment";

    #[tokio::test(flavor = "multi_thread")]
    async fn a_reader_reads_deep_pages_in_the_order_of_the_lists_index() {
        let cluster = testkit::postgres::for_tests("plans of lists").expect("PostgreSQL");
        let Some(cluster) = cluster else { return };
        let url = cluster.database("plans_of_lists").expect("a database");
        let connected = tokio_postgres::connect(&url, tokio_postgres::NoTls).await;
        let (client, connection) = connected.expect("connects");
        let driver = tokio::spawn(connection);
        client.batch_execute(&crate::migrate::schema(Dialect::Postgres)).await.expect("made");
        client.batch_execute(PAYMENTS).await.expect("filled");
        set_up(&client, Role::Reader, Span::secs(30)).await.expect("set up");
        let between = "'00000000-0000-0000-0000-000000000001', 'PAK', 0, 9000000000000000000";
        for (name, more) in [
            ("list.newest", "20, 19000"),
            ("list.oldest", "20, 19000"),
            ("list.newest_in_states", "20, 19000, ',succeeded,failed,'"),
            ("list.oldest_in_states", "20, 19000, ',succeeded,failed,'"),
            ("list.after", "'00000000-0000-0000-0000-000000000000', 20"),
        ] {
            let stmt = STATEMENTS.iter().find(|stmt| stmt.name == name).expect(name);
            for mode in ["force_custom_plan", "force_generic_plan"] {
                let prepare = format!(
                    "SET plan_cache_mode = {mode}; PREPARE page AS {}",
                    stmt.sql(Dialect::Postgres)
                );
                client.batch_execute(&prepare).await.expect(name);
                let explain = format!("EXPLAIN EXECUTE page({between}, {more})");
                let lines = client.simple_query(&explain).await.expect(name);
                let lines = lines.iter().filter_map(|line| match line {
                    tokio_postgres::SimpleQueryMessage::Row(row) => row.get(0),
                    _ => None,
                });
                let plan = lines.collect::<Vec<_>>().join("\n");
                assert!(plan.contains("payment_list"), "{name}, {mode}: {plan}");
                assert!(!plan.contains("Sort"), "{name}, {mode}: {plan}");
                client.batch_execute("DEALLOCATE page").await.expect("forgotten");
            }
        }
        drop(client);
        driver.abort();
    }
}
