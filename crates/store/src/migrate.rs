//! Migrations: embedded SQL, checksums, one process at a time.
//!
//! All missing migrations are applied in one transaction that starts by locking a row (PostgreSQL)
//! or the file (SQLite), so concurrent processes apply them once. An applied migration is never
//! edited: its text's checksum is stored, and a different text is refused.

use domain::hex::hex;
use domain::time::Timestamp;
use sha2::{Digest, Sha256};

use crate::driver::{Driver, Running, postgres, sqlite};
use crate::error::{DbError, StoreError};
use crate::sql::{Dialect, Stmt, statement};

struct Migration {
    version: i64,
    name: &'static str,
    text: &'static str,
}

const MIGRATIONS: [Migration; 41] = [
    Migration { version: 1, name: "first", text: include_str!("../migrations/0001_first.sql") },
    Migration { version: 2, name: "wallets", text: include_str!("../migrations/0002_wallets.sql") },
    Migration {
        version: 3,
        name: "kept answers",
        text: include_str!("../migrations/0003_kept_answers.sql"),
    },
    Migration { version: 4, name: "audit", text: include_str!("../migrations/0004_audit.sql") },
    Migration { version: 5, name: "console", text: include_str!("../migrations/0005_console.sql") },
    Migration {
        version: 6,
        name: "statements",
        text: include_str!("../migrations/0006_statements.sql"),
    },
    Migration { version: 7, name: "refunds", text: include_str!("../migrations/0007_refunds.sql") },
    Migration { version: 8, name: "policy", text: include_str!("../migrations/0008_policy.sql") },
    Migration {
        version: 9,
        name: "bank statements",
        text: include_str!("../migrations/0009_bank_statements.sql"),
    },
    Migration { version: 10, name: "sweeps", text: include_str!("../migrations/0010_sweeps.sql") },
    Migration {
        version: 11,
        name: "sender limits",
        text: include_str!("../migrations/0011_sender_limits.sql"),
    },
    Migration {
        version: 12,
        name: "legal hold",
        text: include_str!("../migrations/0012_legal_hold.sql"),
    },
    Migration {
        version: 13,
        name: "payment webhooks",
        text: include_str!("../migrations/0013_payment_webhooks.sql"),
    },
    Migration {
        version: 14,
        name: "refund addresses",
        text: include_str!("../migrations/0014_refund_addresses.sql"),
    },
    Migration {
        version: 15,
        name: "console provider",
        text: include_str!("../migrations/0015_console_provider.sql"),
    },
    Migration {
        version: 16,
        name: "lifted holds",
        text: include_str!("../migrations/0016_lifted_holds.sql"),
    },
    Migration {
        version: 17,
        name: "list copies",
        text: include_str!("../migrations/0017_list_copies.sql"),
    },
    Migration {
        version: 18,
        name: "rail ids",
        text: include_str!("../migrations/0018_rail_ids.sql"),
    },
    Migration {
        version: 19,
        name: "event subscriptions",
        text: include_str!("../migrations/0019_event_subscriptions.sql"),
    },
    Migration {
        version: 20,
        name: "submissions",
        text: include_str!("../migrations/0020_submissions.sql"),
    },
    Migration {
        version: 21,
        name: "payment search",
        text: include_str!("../migrations/0021_payment_search.sql"),
    },
    Migration {
        version: 22,
        name: "case work",
        text: include_str!("../migrations/0022_case_work.sql"),
    },
    Migration {
        version: 23,
        name: "refunding",
        text: include_str!("../migrations/0023_refunding.sql"),
    },
    Migration { version: 24, name: "brand", text: include_str!("../migrations/0024_brand.sql") },
    Migration {
        version: 25,
        name: "saved_views",
        text: include_str!("../migrations/0025_saved_views.sql"),
    },
    Migration {
        version: 26,
        name: "case_files",
        text: include_str!("../migrations/0026_case_files.sql"),
    },
    Migration {
        version: 27,
        name: "deposit_lists",
        text: include_str!("../migrations/0027_deposit_lists.sql"),
    },
    Migration {
        version: 28,
        name: "recalls",
        text: include_str!("../migrations/0028_recalls.sql"),
    },
    Migration { version: 29, name: "relays", text: include_str!("../migrations/0029_relays.sql") },
    Migration { version: 30, name: "chains", text: include_str!("../migrations/0030_chains.sql") },
    Migration {
        version: 31,
        name: "wallet_chains",
        text: include_str!("../migrations/0031_wallet_chains.sql"),
    },
    Migration {
        version: 32,
        name: "sponsored transfers",
        text: include_str!("../migrations/0032_sponsored_transfers.sql"),
    },
    Migration {
        version: 33,
        name: "delivery order",
        text: include_str!("../migrations/0033_delivery_order.sql"),
    },
    Migration {
        version: 34,
        name: "repeated messages",
        text: include_str!("../migrations/0034_repeated_messages.sql"),
    },
    Migration {
        version: 35,
        name: "repeated before",
        text: include_str!("../migrations/0035_repeated_before.sql"),
    },
    Migration {
        version: 36,
        name: "prefund references",
        text: include_str!("../migrations/0036_prefund_references.sql"),
    },
    Migration {
        version: 37,
        name: "deposit addresses",
        text: include_str!("../migrations/0037_deposit_addresses.sql"),
    },
    Migration {
        version: 38,
        name: "controller references",
        text: include_str!("../migrations/0038_controller_references.sql"),
    },
    Migration {
        version: 39,
        name: "failed releases",
        text: include_str!("../migrations/0039_failed_releases.sql"),
    },
    Migration {
        version: 40,
        name: "sweep token fees",
        text: include_str!("../migrations/0040_sweep_token_fees.sql"),
    },
    Migration {
        version: 41,
        name: "controller parts",
        text: include_str!("../migrations/0041_controller_parts.sql"),
    },
];

/// Records applied migrations. Created before the first one; the lock row serializes concurrent
/// runs.
const NOTES: &str = "\
CREATE TABLE IF NOT EXISTS migration_lock (id {{int}} NOT NULL PRIMARY KEY);
CREATE TABLE IF NOT EXISTS schema_version (version {{int}} NOT NULL PRIMARY KEY, name TEXT NOT NULL, \
 checksum TEXT NOT NULL, at {{int}} NOT NULL);
INSERT INTO migration_lock (id) VALUES (1) ON CONFLICT DO NOTHING;
";
const LOCK: &str = "SELECT id FROM migration_lock WHERE id = 1 FOR UPDATE";
/// Waits for running batches and blocks new ones: a rewritten table must not lose what an older
/// version, which serves until the end, commits in the meantime.
const LOCK_HEADS: &str = "SELECT tenant FROM tenant_head ORDER BY tenant FOR UPDATE";
const APPLIED: &str = "SELECT version, checksum FROM schema_version ORDER BY version";
/// Two processes may create the tables above concurrently: one of them fails and retries.
const NOTES_TRIES_MAX: u32 = 5;

pub(crate) static VERSIONS: Stmt = Stmt::written(
    "migrate.versions",
    "SELECT version, checksum FROM schema_version ORDER BY version",
);

/// The result of a migration run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MigrationReport {
    /// The migrations that this run applied, such as `"1 first"`.
    pub applied: Vec<String>,
    /// The current schema version.
    pub version: i64,
}

/// Applies all missing migrations.
pub(crate) fn migrate(
    driver: &Driver,
    now: Timestamp,
) -> Running<'_, Result<MigrationReport, StoreError>> {
    Box::pin(async move {
        let applied = match driver {
            Driver::Sqlite(database) => on_sqlite(database, now).await?,
            Driver::Postgres(database) => on_postgres(database, now).await?,
        };
        Ok(MigrationReport { applied, version: newest() })
    })
}

fn newest() -> i64 {
    MIGRATIONS.last().map_or(0, |newest| newest.version)
}

/// The report of a run without missing migrations.
pub(crate) fn nothing() -> MigrationReport {
    MigrationReport { applied: Vec::new(), version: newest() }
}

/// Checks that the schema is exactly the one that this program creates.
pub(crate) async fn check(driver: &Driver) -> Result<(), StoreError> {
    let Some(missing) = missing(driver).await? else {
        return Err(StoreError::Schema(
            "the database has not been migrated: run corridor migrate".to_owned(),
        ));
    };
    match missing.first() {
        None => Ok(()),
        Some(next) => Err(StoreError::Schema(format!(
            "migration {} ({}) is not applied",
            next.version, next.name
        ))),
    }
}

/// Checks that this program can migrate the schema.
pub(crate) async fn check_migratable(driver: &Driver) -> Result<(), StoreError> {
    missing(driver).await.map(drop)
}

/// The migrations that are not applied yet; `None` if the database has never been migrated.
async fn missing(driver: &Driver) -> Result<Option<&'static [Migration]>, StoreError> {
    let rows = match driver.query(&VERSIONS, Vec::new()).await {
        Err(DbError::Absent(_)) => return Ok(None),
        other => other?,
    };
    let mut applied = Vec::with_capacity(rows.len());
    for row in &rows {
        let mut fields = row.fields();
        applied.push((fields.int()?, fields.text()?.to_owned()));
    }
    pending(&applied).map(Some)
}

/// The migrations that are not applied yet, or why the applied ones do not match.
fn pending(applied: &[(i64, String)]) -> Result<&'static [Migration], StoreError> {
    if applied.len() > MIGRATIONS.len() {
        let newest = applied.len();
        return Err(StoreError::Schema(format!(
            "the database is at version {newest}, newer than this program"
        )));
    }
    for ((version, checksum), migration) in applied.iter().zip(&MIGRATIONS) {
        if *version != migration.version || *checksum != migration.checksum() {
            let (version, name) = (migration.version, migration.name);
            return Err(StoreError::Schema(format!(
                "migration {version} ({name}) was applied with a different text"
            )));
        }
    }
    Ok(&MIGRATIONS[applied.len()..])
}

impl Migration {
    /// SHA-256 of the text as embedded, the same on both engines.
    fn checksum(&self) -> String {
        hex(&Sha256::digest(self.text.as_bytes()))
    }

    /// The text, and the statement that records it as applied.
    fn script(&self, dialect: Dialect, now: Timestamp) -> String {
        let (version, name, checksum) = (self.version, self.name, self.checksum());
        let note = format!(
            "INSERT INTO schema_version (version, name, checksum, at) VALUES ({version}, '{name}', '{checksum}', {});",
            now.0
        );
        format!("{}\n{note}\n", in_dialect(self.text, dialect))
    }

    fn title(&self) -> String {
        format!("{} {}", self.version, self.name)
    }
}

/// Replaces a script's dialect placeholders.
fn in_dialect(text: &str, dialect: Dialect) -> String {
    let mut out = String::with_capacity(text.len() * 2);
    // Comments may mention the placeholders.
    for line in text.lines().filter(|line| !line.trim_start().starts_with("--")) {
        let mut rest = line;
        while let Some((before, word, after)) = statement::next_word(rest) {
            out.push_str(before);
            out.push_str(&meaning(word, dialect));
            rest = after;
        }
        out.push_str(rest);
        out.push('\n');
    }
    match dialect {
        Dialect::Postgres => out,
        Dialect::Sqlite => compare_one_by_one(&out),
    }
}

/// Rewrites `CHECK (column IN (a, b, c))` as `CHECK (column = a OR column = b OR column = c)`: for
/// a list of more than two, SQLite fills a temporary index with the list for every row that is
/// written.
fn compare_one_by_one(script: &str) -> String {
    const CHECK: &str = "CHECK (";
    let mut out = String::with_capacity(script.len() * 2);
    let mut rest = script;
    while let Some(at) = rest.find(CHECK) {
        let (before, condition) = rest.split_at(at + CHECK.len());
        out.push_str(before);
        rest = condition;
        let Some((column, list)) = condition.split_once(" IN (") else { continue };
        let Some((values, behind)) = list.split_once(')') else { continue };
        let is_all = column.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
            && behind.starts_with(')');
        if is_all {
            let terms: Vec<String> =
                values.split(',').map(|value| format!("{column} = {}", value.trim())).collect();
            out.push_str(&terms.join(" OR "));
            rest = behind;
        }
    }
    out.push_str(rest);
    out
}

fn meaning(word: &str, dialect: Dialect) -> String {
    let (word, number) = word.split_once(' ').unwrap_or((word, ""));
    let fixed = match (dialect, word) {
        (Dialect::Postgres, "int") => "BIGINT",
        (Dialect::Postgres, "uuid") => "UUID",
        (Dialect::Postgres, "bytes") => "BYTEA",
        (Dialect::Postgres, "key") => "TEXT COLLATE \"C\"",
        (Dialect::Postgres, "clustered" | "heap") => {
            return format!("WITH (fillfactor = {number})");
        }
        (Dialect::Sqlite, "int") => "INTEGER",
        (Dialect::Sqlite, "uuid" | "bytes") => "BLOB",
        (Dialect::Sqlite, "key") => "TEXT",
        (Dialect::Sqlite, "clustered") => "STRICT, WITHOUT ROWID",
        (Dialect::Sqlite, "heap") => "STRICT",
        (_, other) => panic!("unknown placeholder {other:?} in a migration"),
    };
    fixed.to_owned()
}

async fn on_sqlite(database: &sqlite::Sqlite, now: Timestamp) -> Result<Vec<String>, StoreError> {
    let work = move |connection: &mut rusqlite::Connection| {
        let transaction = sqlite::begin(connection)?;
        sqlite::script(&transaction, &in_dialect(NOTES, Dialect::Sqlite))?;
        let applied = sqlite::run(&transaction, &VERSIONS, &[])?;
        let mut known = Vec::new();
        for row in &applied.rows {
            let mut fields = row.fields();
            known.push((fields.int()?, fields.text()?.to_owned()));
        }
        let mut titles = Vec::new();
        for migration in pending(&known)? {
            sqlite::script(&transaction, &migration.script(Dialect::Sqlite, now))?;
            titles.push(migration.title());
        }
        // A database in memory stays small, and a simulator makes thousands of them.
        if transaction.path().is_some_and(|path| !path.is_empty()) {
            sqlite::describe_tables(&transaction).map_err(sqlite::failure)?;
        }
        sqlite::commit(transaction)?;
        Ok(titles)
    };
    Ok(database.on_writer(work).await?)
}

async fn on_postgres(
    database: &postgres::Postgres,
    now: Timestamp,
) -> Result<Vec<String>, StoreError> {
    let mut lease = database.writer().await?;
    lease.is_dirty();
    let failed = |error: &tokio_postgres::Error| StoreError::from(postgres::meaning(error));
    let client = lease.client()?;
    let mut tries = 1;
    while let Err(error) = client.batch_execute(&in_dialect(NOTES, Dialect::Postgres)).await {
        if tries == NOTES_TRIES_MAX || error.as_db_error().is_none() {
            return Err(failed(&error));
        }
        tries += 1;
    }
    client.batch_execute("BEGIN").await.map_err(|error| failed(&error))?;
    client.query(LOCK, &[]).await.map_err(|error| failed(&error))?;
    let rows = client.query(APPLIED, &[]).await.map_err(|error| failed(&error))?;
    let applied: Vec<(i64, String)> = rows.iter().map(|row| (row.get(0), row.get(1))).collect();
    let mut titles = Vec::new();
    let missing = pending(&applied)?;
    if !missing.is_empty() && !applied.is_empty() {
        client.query(LOCK_HEADS, &[]).await.map_err(|error| failed(&error))?;
    }
    for migration in missing {
        let script = migration.script(Dialect::Postgres, now);
        client.batch_execute(&script).await.map_err(|error| failed(&error))?;
        titles.push(migration.title());
    }
    client.batch_execute("COMMIT").await.map_err(|error| failed(&error))?;
    lease.is_clean();
    Ok(titles)
}

/// The whole schema as one script.
#[cfg(test)]
pub(crate) fn schema(dialect: Dialect) -> String {
    let texts = MIGRATIONS.iter().map(|migration| migration.text);
    std::iter::once(NOTES).chain(texts).map(|text| in_dialect(text, dialect)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_placeholder_of_the_migrations_is_known_in_both_dialects() {
        for migration in &MIGRATIONS {
            for dialect in [Dialect::Postgres, Dialect::Sqlite] {
                let script = migration.script(dialect, Timestamp(0));
                assert!(!script.contains("{{") && !script.contains("--"), "{script}");
            }
        }
    }

    #[test]
    fn sqlite_compares_check_values_one_by_one() {
        let script = "state TEXT CHECK (state IN ('a', 'b',\n 'c')), CHECK ((kind IN ('d', 'e')) = (x IS NULL)), n INTEGER CHECK (n > 0)";
        assert_eq!(
            compare_one_by_one(script),
            "state TEXT CHECK (state = 'a' OR state = 'b' OR state = 'c'), CHECK ((kind IN ('d', 'e')) = (x IS NULL)), \
             n INTEGER CHECK (n > 0)"
        );
        let database = rusqlite::Connection::open_in_memory().expect("opened");
        database.execute_batch(&schema(Dialect::Sqlite)).expect("made");
        let fills_a_list = |stmt: &&Stmt| {
            let mut explained = database
                .prepare(&format!("EXPLAIN {}", stmt.sql(Dialect::Sqlite)))
                .expect("prepared");
            let params = rusqlite::params_from_iter(
                (0..explained.parameter_count()).map(|_| rusqlite::types::Null),
            );
            let mut steps =
                explained.query_map(params, |row| row.get::<_, String>(1)).expect("explained");
            steps.any(|step| step.expect("a text") == "OpenEphemeral")
        };
        let slow: Vec<&str> =
            crate::save::ALL.iter().copied().filter(fills_a_list).map(|stmt| stmt.name).collect();
        assert_eq!(slow, [""; 0]);
    }

    #[test]
    fn an_edited_or_newer_schema_is_refused() {
        let right: Vec<(i64, String)> =
            MIGRATIONS.iter().map(|it| (it.version, it.checksum())).collect();
        assert!(pending(&[]).is_ok_and(|missing| missing.len() == MIGRATIONS.len()));
        assert!(pending(&right[..1]).is_ok_and(|missing| missing.len() == MIGRATIONS.len() - 1));
        assert!(pending(&right).is_ok_and(<[Migration]>::is_empty));
        assert!(matches!(pending(&[(1, "other".to_owned())]), Err(StoreError::Schema(_))));
        let newer = [right.as_slice(), &[(6, String::new())]].concat();
        assert!(matches!(pending(&newer), Err(StoreError::Schema(_))));
    }

    #[test]
    fn idempotency_records_survive_the_second_migration() {
        let database = rusqlite::Connection::open_in_memory().expect("opened");
        let apply = |text: &str| database.execute_batch(text).expect("applied");
        apply(&in_dialect(NOTES, Dialect::Sqlite));
        apply(&MIGRATIONS[0].script(Dialect::Sqlite, Timestamp(0)));
        apply("INSERT INTO tenant_head (tenant, payment_seq) VALUES (x'01', 7)");
        apply(
            "INSERT INTO idempotency VALUES (x'01', 'POST /v2/quote', 'k', x'02', 'quote', x'03', 9)",
        );
        apply(&MIGRATIONS[1].script(Dialect::Sqlite, Timestamp(0)));
        let count =
            |text: &str| database.query_row(text, [], |row| row.get::<_, i64>(0)).expect("counted");
        let kept = "SELECT COUNT(*) FROM idempotency WHERE scope = 'POST /v2/quote' AND made = x'03' AND at = 9";
        assert_eq!(count(kept), 1);
        assert_eq!(
            count("SELECT COUNT(*) FROM tenant_head WHERE payment_seq = 7 AND wallet_seq = 0"),
            1
        );
    }

    #[test]
    fn of_two_wallets_that_a_renamed_chain_left_the_newest_counts() {
        let database = rusqlite::Connection::open_in_memory().expect("opened");
        let apply = |text: &str| database.execute_batch(text).expect("applied");
        apply(&in_dialect(NOTES, Dialect::Sqlite));
        let at = MIGRATIONS.iter().position(|it| it.name == "wallet_chains").expect("there");
        MIGRATIONS[..at].iter().for_each(|it| apply(&it.script(Dialect::Sqlite, Timestamp(0))));
        apply("INSERT INTO tenant_head (tenant, payment_seq) VALUES (x'01', 7)");
        let columns = "tenant, id, customer_id, blockchain, address, created_at, kyc_level, state, last_activity_at, \
                       version, document";
        for (id, customer, blockchain, at) in
            [("02", "c-1", "ethereum", 5), ("03", "c-1", "eth", 6), ("04", "c-2", "ethereum", 5)]
        {
            let address = format!("x'{}'", id.repeat(20));
            apply(&format!(
                "INSERT INTO wallet ({columns}) VALUES (x'01', x'{id}', '{customer}', '{blockchain}', {address}, {at}, \
                 'BASIC', 'ACTIVE', 5, 1, x'00')"
            ));
        }
        apply(&MIGRATIONS[at].script(Dialect::Sqlite, Timestamp(0)));
        let mut ranks =
            database.prepare("SELECT replaced FROM wallet ORDER BY id").expect("prepared");
        let ranks = ranks.query_map([], |row| row.get::<_, i64>(0)).expect("read");
        assert_eq!(ranks.collect::<Result<Vec<_>, _>>(), Ok(vec![1, 0, 0]));
    }

    #[test]
    fn existing_deliveries_stay_and_no_tenant_gets_payment_events() {
        let database = rusqlite::Connection::open_in_memory().expect("opened");
        let apply = |text: &str| database.execute_batch(text).expect("applied");
        apply(&in_dialect(NOTES, Dialect::Sqlite));
        let widened =
            MIGRATIONS.iter().position(|it| it.name == "payment webhooks").expect("there");
        MIGRATIONS[..widened]
            .iter()
            .for_each(|it| apply(&it.script(Dialect::Sqlite, Timestamp(0))));
        apply("INSERT INTO tenant_head (tenant, payment_seq) VALUES (x'01', 7)");
        apply(
            "INSERT INTO delivery VALUES (x'01', x'02', 'order', x'03', 4, 5, 'dead', 12, 13, NULL, NULL, 500, 'f', 14)",
        );
        apply("INSERT INTO delivery_stream VALUES (x'01', x'03', 'order', 5, 4)");
        apply(&MIGRATIONS[widened].script(Dialect::Sqlite, Timestamp(0)));
        let count =
            |text: &str| database.query_row(text, [], |row| row.get::<_, i64>(0)).expect("counted");
        let kept = "SELECT COUNT(*) FROM delivery WHERE event = x'02' AND aggregate = x'03' AND version = 4 \
                    AND created_at = 5 AND state = 'dead' AND tries = 12 AND attempts = 13 AND last_status = 500 \
                    AND last_fault = 'f' AND revision = 14";
        assert_eq!(count(kept), 1);
        assert_eq!(
            count(
                "SELECT COUNT(*) FROM delivery_stream WHERE open_version = 5 AND newest_version = 4"
            ),
            1
        );
        assert_eq!(count("SELECT COUNT(*) FROM tenant_head WHERE payment_webhooks <> 0"), 0);
        apply("INSERT INTO delivery_stream VALUES (x'01', x'04', 'payment', 1, 1)");
    }

    #[test]
    fn deliveries_that_were_replayed_before_their_order_was_kept_go_on() {
        let database = rusqlite::Connection::open_in_memory().expect("opened");
        let apply = |text: &str| database.execute_batch(text).expect("applied");
        apply(&in_dialect(NOTES, Dialect::Sqlite));
        let at = MIGRATIONS.iter().position(|it| it.name == "delivery order").expect("there");
        MIGRATIONS[..at].iter().for_each(|it| apply(&it.script(Dialect::Sqlite, Timestamp(0))));
        for (aggregate, open, newest, states) in [
            ("0a", 4, 5, ["pending", "delivered", "pending", "pending", "pending"].as_slice()),
            ("0b", 2, 2, ["dead", "pending"].as_slice()),
        ] {
            for (version, state) in states.iter().enumerate() {
                let version = version + 1;
                apply(&format!(
                    "INSERT INTO delivery VALUES (x'01', x'{aggregate}0{version}', 'order', x'{aggregate}', {version}, 5, \
                     '{state}', 0, 0, NULL, 6, NULL, NULL, 1)"
                ));
            }
            apply(&format!(
                "INSERT INTO delivery_stream VALUES (x'01', x'{aggregate}', 'order', {open}, {newest})"
            ));
        }
        apply(&MIGRATIONS[at].script(Dialect::Sqlite, Timestamp(0)));
        let mut read = database
            .prepare(
                "SELECT open_version, newest_version, replays_due, replays_waiting FROM delivery_stream ORDER BY aggregate",
            )
            .expect("prepared");
        let found =
            read.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)));
        let found: Result<Vec<(i64, i64, String, String)>, _> = found.expect("read").collect();
        let text = String::from;
        assert_eq!(
            found,
            Ok(vec![(4, 5, text("1,3"), text("")), (2, 2, text(""), text(""))]),
            "they have their jobs"
        );
    }

    #[test]
    fn an_existing_policy_gets_the_first_version() {
        let database = rusqlite::Connection::open_in_memory().expect("opened");
        let apply = |text: &str| database.execute_batch(text).expect("applied");
        apply(&in_dialect(NOTES, Dialect::Sqlite));
        let numbered = MIGRATIONS.iter().position(|it| it.name == "policy").expect("there");
        MIGRATIONS[..numbered]
            .iter()
            .for_each(|it| apply(&it.script(Dialect::Sqlite, Timestamp(0))));
        let before = r#"{"premium_bps":25,"wallet":{"version":"default-1","spread_bps":50}}"#;
        apply(&format!(
            "INSERT INTO tenant (id, tag, name, policy, created_at) VALUES (x'01', 'a', 'A', '{before}', 0)"
        ));
        apply(&MIGRATIONS[numbered].script(Dialect::Sqlite, Timestamp(0)));
        let after: String =
            database.query_row("SELECT policy FROM tenant", [], |row| row.get(0)).expect("read");
        assert_eq!(after, before.replace("\"default-1\"", "1"));
    }

    #[test]
    fn an_existing_attempt_counts_as_no_usage() {
        let database = rusqlite::Connection::open_in_memory().expect("opened");
        let apply = |text: &str| database.execute_batch(text).expect("applied");
        apply(&in_dialect(NOTES, Dialect::Sqlite));
        let limits = MIGRATIONS.iter().position(|it| it.name == "sender limits").expect("there");
        MIGRATIONS[..limits].iter().for_each(|it| apply(&it.script(Dialect::Sqlite, Timestamp(0))));
        apply(
            "INSERT INTO attempt (tenant, id, payment, number, rail, state, amount, currency, created_at, state_at, slot) \
             VALUES (x'01', x'02', x'03', 1, 'egy-ipn', 'settled', 7, 'EGP', 4, 5, 0)",
        );
        apply(&MIGRATIONS[limits].script(Dialect::Sqlite, Timestamp(0)));
        let kept = "SELECT COUNT(*) FROM attempt WHERE state = 'settled' AND amount = 7 AND sender IS NULL";
        assert_eq!(database.query_row(kept, [], |row| row.get::<_, i64>(0)).expect("counted"), 1);
    }

    /// Orders as booked before sweeps existed: one settled, one reserved, one in progress, one
    /// whose payout was returned, and one that was then recredited; and a deposit in suspense.
    const BOOKED_BEFORE: [(&str, &str, i64, &str, &str, u8); 20] = [
        ("wallet", "treasury", 100, "pending", "exchange.reserve", 1),
        ("wallet", "treasury", 100, "post_pending", "exchange.debit", 1),
        ("treasury", "fx_position", 99, "posted", "exchange.fx", 1),
        ("treasury", "fee_income", 1, "posted", "exchange.spread", 1),
        ("wallet", "treasury", 50, "pending", "exchange.reserve", 2),
        ("wallet", "treasury", 30, "pending", "exchange.reserve", 3),
        ("wallet", "treasury", 30, "post_pending", "exchange.debit", 3),
        ("wallet", "treasury", 200, "pending", "exchange.reserve", 4),
        ("wallet", "treasury", 200, "post_pending", "exchange.debit", 4),
        ("treasury", "fx_position", 198, "posted", "exchange.fx", 4),
        ("treasury", "fee_income", 2, "posted", "exchange.spread", 4),
        ("fx_position", "suspense", 198, "posted", "exchange.payout_returned", 4),
        ("wallet", "treasury", 400, "pending", "exchange.reserve", 5),
        ("wallet", "treasury", 400, "post_pending", "exchange.debit", 5),
        ("treasury", "fx_position", 396, "posted", "exchange.fx", 5),
        ("treasury", "fee_income", 4, "posted", "exchange.spread", 5),
        ("fx_position", "suspense", 396, "posted", "exchange.payout_returned", 5),
        ("suspense", "wallet", 396, "posted", "exchange.return", 5),
        ("fee_income", "wallet", 4, "posted", "exchange.return", 5),
        ("external", "suspense", 7, "posted", "deposit.suspend", 6),
    ];

    #[test]
    fn existing_legal_holds_are_queued_for_the_chain() {
        let database = rusqlite::Connection::open_in_memory().expect("opened");
        let apply = |text: &str| database.execute_batch(text).expect("applied");
        apply(&in_dialect(NOTES, Dialect::Sqlite));
        let numbered = MIGRATIONS.iter().position(|it| it.name == "legal hold").expect("there");
        MIGRATIONS[..numbered]
            .iter()
            .for_each(|it| apply(&it.script(Dialect::Sqlite, Timestamp(0))));
        for (id, request, state) in
            [(1, "x'0a'", "legal_hold"), (2, "NULL", "legal_hold"), (3, "x'0a'", "rejected")]
        {
            apply(&format!(
                "INSERT INTO deposit VALUES (x'01', x'0{id}', x'0b', {request}, 'USDC', 5, x'{id:064x}', 0, 0, 7, '{state}', \
                 'RECEIVED', 'escrow', 0, 1, x'00')"
            ));
        }
        apply(
            "INSERT INTO chain_intent VALUES (x'01', x'0c', 'set_frozen', x'0c', x'0b', 0, 'done', NULL, 1, x'00')",
        );
        apply(&MIGRATIONS[numbered].script(Dialect::Sqlite, Timestamp(0)));
        let owed: Vec<(Vec<u8>, String)> = {
            let mut read = database.prepare("SELECT subject, kind FROM job").expect("read");
            let rows = read.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).expect("read");
            rows.collect::<Result<_, _>>().expect("read")
        };
        assert_eq!(
            owed,
            [(vec![1], "screen".to_owned())],
            "wallets have no escrow, and a rejection is not a hold"
        );
        let kept = "SELECT COUNT(*) FROM chain_intent WHERE kind = 'set_frozen' AND state = 'done'";
        assert_eq!(database.query_row(kept, [], |row| row.get::<_, i64>(0)), Ok(1));
        apply(
            "INSERT INTO chain_intent VALUES (x'01', x'0d', 'set_legal_hold', x'01', x'0b', 0, 'waiting', NULL, 1, x'00')",
        );
    }

    #[test]
    fn existing_rows_belong_to_the_first_chain() {
        let database = rusqlite::Connection::open_in_memory().expect("opened");
        let apply = |text: &str| database.execute_batch(text).expect("applied");
        apply(&in_dialect(NOTES, Dialect::Sqlite));
        let chains = MIGRATIONS.iter().position(|it| it.name == "chains").expect("there");
        MIGRATIONS[..chains]
            .iter()
            .for_each(|migration| apply(&migration.script(Dialect::Sqlite, Timestamp(0))));
        let (word, address) = (format!("x'{:064x}'", 7), format!("x'{:040x}'", 9));
        let before = [
            ("chain_signer", format!("x'01', {address}, 'operator', 5")),
            ("chain_block", format!("12, {word}, {word}, 0")),
            ("chain_log", format!("{word}, 3, {address}, 12, {word}, 0, 'USDC', 40")),
            ("token_state", "'USDT', 1, 0, 11".to_owned()),
            (
                "unsupported_asset",
                format!(
                    "x'01', {word}, 0, x'0b', NULL, {address}, {address}, {address}, '7', 12, {word}, 0"
                ),
            ),
            ("watched_address", format!("{address}, x'01', x'0b', NULL, NULL")),
            (
                "chain_intent",
                "x'01', x'0c', 'deploy', x'01', NULL, 0, 'waiting', NULL, 1, x'00'".to_owned(),
            ),
        ];
        for (table, values) in &before {
            apply(&format!("INSERT INTO {table} VALUES ({values})"));
        }
        apply(&MIGRATIONS[chains].script(Dialect::Sqlite, Timestamp(0)));
        for (table, _) in &before {
            let sql = format!("SELECT COUNT(*), SUM(chain) FROM {table}");
            let found = database.query_row(&sql, [], |row| Ok((row.get(0)?, row.get(1)?)));
            assert_eq!(found, Ok((1_i64, 1_i64)), "{table}");
        }
        let kept = "SELECT next_nonce FROM chain_signer";
        assert_eq!(database.query_row(kept, [], |row| row.get::<_, i64>(0)), Ok(5));
        // The same key, nonce, height, token and intent on another chain.
        apply(&format!("INSERT INTO chain_signer VALUES (x'01', 2, {address}, 'operator', 0)"));
        apply(&format!("INSERT INTO chain_block VALUES (2, 12, {word}, {word}, 0)"));
        apply("INSERT INTO token_state VALUES (2, 'USDT', 0, 0, 1)");
        apply(
            "INSERT INTO chain_intent VALUES (x'01', x'0d', 'deploy', x'01', NULL, 0, 'waiting', NULL, 1, x'00', 2)",
        );
        let again = "INSERT INTO chain_intent VALUES (x'01', x'0e', 'deploy', x'01', NULL, 0, 'waiting', NULL, 1, x'00', 2)";
        assert!(database.execute_batch(again).is_err(), "one per chain");
    }

    #[test]
    fn existing_intents_outlive_a_further_kind() {
        let database = rusqlite::Connection::open_in_memory().expect("opened");
        let apply = |text: &str| database.execute_batch(text).expect("applied");
        apply(&in_dialect(NOTES, Dialect::Sqlite));
        let at = MIGRATIONS.iter().position(|it| it.name == "sponsored transfers").expect("there");
        MIGRATIONS[..at].iter().for_each(|it| apply(&it.script(Dialect::Sqlite, Timestamp(0))));
        let add = |id: &str, kind: &str| {
            let row = format!("x'01', {id}, '{kind}', {id}, NULL, 0, 'waiting', NULL, 1, x'00', 2");
            database.execute_batch(&format!("INSERT INTO chain_intent VALUES ({row})"))
        };
        add("x'0a'", "deploy").expect("added");
        assert!(add("x'0b'", "sponsored_transfer").is_err());
        apply(&MIGRATIONS[at].script(Dialect::Sqlite, Timestamp(0)));
        add("x'0b'", "sponsored_transfer").expect("added");
        let kept = "SELECT COUNT(*) FROM chain_intent WHERE chain = 2";
        assert_eq!(database.query_row(kept, [], |row| row.get::<_, i64>(0)), Ok(2));
        let again = "INSERT INTO chain_intent VALUES (x'01', x'0c', 'deploy', x'0a', NULL, 0, 'waiting', NULL, 1, x'00', 2)";
        assert!(database.execute_batch(again).is_err(), "one per kind, subject and chain");
    }

    #[test]
    fn existing_treasury_bookings_become_the_controllers_balance() {
        let database = rusqlite::Connection::open_in_memory().expect("opened");
        let apply = |text: &str| database.execute_batch(text).expect("applied");
        apply(&in_dialect(NOTES, Dialect::Sqlite));
        let sweeps = MIGRATIONS.iter().position(|it| it.name == "sweeps").expect("there");
        MIGRATIONS[..sweeps]
            .iter()
            .for_each(|migration| apply(&migration.script(Dialect::Sqlite, Timestamp(0))));
        for (number, (debit, credit, amount, kind, reason, order)) in
            BOOKED_BEFORE.iter().enumerate()
        {
            let pending = if *kind == "post_pending" {
                format!("x'{:02x}'", number - 1)
            } else {
                "NULL".to_owned()
            };
            apply(&format!(
                "INSERT INTO transfer VALUES (x'01', x'{number:02x}', '{debit}:USDC', '{credit}:USDC', {amount}, 'USDC', \
                 '{kind}', {pending}, x'{number:02x}', '{reason}', x'{order:02x}', 0)"
            ));
        }
        apply("INSERT INTO account VALUES (x'01', 'shared', 'treasury:USDC', 700, 0, 0, 730)");
        apply(&MIGRATIONS[sweeps].script(Dialect::Sqlite, Timestamp(0)));
        let account = |code: &str| {
            let sql = "SELECT debits_pending, debits_posted, credits_pending, credits_posted FROM account WHERE code = ?1";
            let read =
                |row: &rusqlite::Row<'_>| Ok([row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?]);
            database.query_row(sql, [format!("{code}:USDC")], read).unwrap_or([-1; 4])
        };
        assert_eq!(
            account("unswept"),
            [0, 400, 50, 730],
            "330 with the controller, 50 on their way there"
        );
        assert_eq!(account("exchanged"), [0, 700, 0, 396]);
        assert_eq!(account("payout_suspense"), [0, 0, 0, 204]);
        assert_eq!((account("suspense"), account("fee_income")), ([0, 0, 0, 7], [0, 0, 0, 1]));
        assert_eq!(account("treasury"), [-1; 4], "nothing was swept");
        // 330 - 304 + 204: the order in progress, and the one whose coins are still to be returned.
        let owed: i64 = ["unswept", "exchanged", "payout_suspense"]
            .map(|code| account(code)[3] - account(code)[1])
            .iter()
            .sum();
        assert_eq!(owed, 30 + 200);
    }
}
