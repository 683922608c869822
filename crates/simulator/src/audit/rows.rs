//! What the auditor and the other parties read from the database, behind the store's back.

use std::sync::LazyLock;

use rusqlite::Connection;
use rusqlite::types::FromSql;

/// Rows of a statement, read with `read`.
pub(super) fn query<T>(
    connection: &Connection,
    sql: &str,
    params: impl rusqlite::Params,
    read: impl FnMut(&rusqlite::Row<'_>) -> rusqlite::Result<T>,
) -> rusqlite::Result<Vec<T>> {
    connection.prepare_cached(sql)?.query_map(params, read)?.collect()
}

pub(super) fn value<T: FromSql>(connection: &Connection, sql: &str) -> rusqlite::Result<T> {
    connection.prepare_cached(sql)?.query_row([], |row| row.get(0))
}

pub(super) type Key = [u8; 16];

/// Number of commits so far.
pub(super) fn commits(connection: &Connection) -> rusqlite::Result<i64> {
    value(connection, "SELECT COUNT(*) FROM batch")
}

/// Ids of rows that break a rule, with the rule's number. `question` as [`super::rules::Subject::question`] asks it.
pub(super) fn broken(
    connection: &Connection,
    question: &str,
    rules: usize,
    one: Option<(Key, Key)>,
) -> rusqlite::Result<Vec<(Key, usize)>> {
    let mut statement = connection.prepare_cached(question)?;
    let mut rows = match one {
        Some(one) => statement.query(one)?,
        None => statement.query([])?,
    };
    let mut broken = Vec::new();
    while let Some(row) = rows.next()? {
        for rule in 0..rules {
            if row.get::<_, i64>(rule + 1)? != 0 {
                broken.push((row.get(0)?, rule));
            }
        }
    }
    Ok(broken)
}

/// Payments whose attempts changed at or after an instant.
pub(super) fn touched_since(connection: &Connection, at: i64) -> rusqlite::Result<Vec<(Key, Key)>> {
    query(connection, "SELECT tenant, payment FROM attempt WHERE state_at >= ?1", [at], |row| {
        Ok((row.get(0)?, row.get(1)?))
    })
}

/// Recalls that count as sent.
pub(super) fn sent_recalls(connection: &Connection) -> rusqlite::Result<Vec<Key>> {
    query(connection, "SELECT id FROM recall WHERE sent_at IS NOT NULL", [], |row| row.get(0))
}

/// An event of a payment.
pub(super) struct EventRow {
    pub(super) tenant: Key,
    pub(super) seq: i64,
    pub(super) subject: Key,
    pub(super) kind: String,
    pub(super) state: Option<String>,
}

/// The events of all tenants whose number is above `after`, in order.
pub(super) fn events_after(
    connection: &Connection,
    tenant: Key,
    after: i64,
) -> rusqlite::Result<Vec<EventRow>> {
    let sql = "SELECT tenant, seq, subject, kind, state FROM event WHERE tenant = ?1 AND seq > ?2 ORDER BY seq";
    query(connection, sql, (tenant, after), |row| {
        Ok(EventRow {
            tenant: row.get(0)?,
            seq: row.get(1)?,
            subject: row.get(2)?,
            kind: row.get(3)?,
            state: row.get(4)?,
        })
    })
}

/// Every tenant that has written something, and its newest event's number.
pub(super) fn heads(connection: &Connection) -> rusqlite::Result<Vec<(Key, i64)>> {
    query(connection, "SELECT tenant, payment_seq FROM tenant_head", [], |row| {
        Ok((row.get(0)?, row.get(1)?))
    })
}

/// Attempts with the name of who took their payment's job last.
pub(super) fn attempts(connection: &Connection) -> rusqlite::Result<Vec<(Key, Option<String>)>> {
    let sql = "SELECT a.id, j.leased_by FROM attempt a \
               LEFT JOIN job j ON j.tenant = a.tenant AND j.subject = a.payment";
    query(connection, sql, [], |row| Ok((row.get(0)?, row.get(1)?)))
}

/// What payments that may be paid, or are, make of each tenant's rail and day: the day since 1970.
pub(super) fn paid_a_day(
    connection: &Connection,
) -> rusqlite::Result<Vec<(Key, String, i64, i64)>> {
    let sql = "SELECT a.tenant, a.rail, a.created_at / 86400000000, SUM(a.amount) FROM attempt a \
               JOIN payment p ON p.tenant = a.tenant AND p.id = a.payment \
               WHERE a.state = 'sending' OR a.state = 'indeterminate' OR a.state = 'accepted' OR a.state = 'settled' \
               GROUP BY 1, 2, 3";
    query(connection, sql, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))
}

/// A job: tenant, subject, when it is due, and who took it last.
pub(super) type JobRow = (Key, Key, i64, Option<String>);

/// Jobs of payments without a lease. There are few jobs, so a scan is fastest: `+` keeps SQLite
/// from an index lookup for each of the three kinds.
pub(super) fn free_jobs(connection: &Connection) -> rusqlite::Result<Vec<JobRow>> {
    let sql = "SELECT tenant, subject, run_at, leased_by FROM job WHERE leased_until IS NULL \
               AND (+kind = 'submit' OR +kind = 'inquire' OR +kind = 'review')";
    query(connection, sql, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))
}

/// Number of attempts and of transfers.
pub(super) fn counts(connection: &Connection) -> rusqlite::Result<(i64, i64)> {
    let sql = "SELECT (SELECT COUNT(*) FROM attempt), (SELECT COUNT(*) FROM transfer)";
    connection.prepare_cached(sql)?.query_row([], |row| Ok((row.get(0)?, row.get(1)?)))
}

/// Top-ups of prefund accounts in the ledger, and in the audit log.
pub(super) fn top_ups(connection: &Connection) -> rusqlite::Result<(i64, i64)> {
    let sql = "SELECT (SELECT COUNT(*) FROM transfer WHERE reason = 'prefund.top_up'), \
        (SELECT COUNT(*) FROM audit_entry WHERE action = 'prefund.top_up')";
    connection.prepare_cached(sql)?.query_row([], |row| Ok((row.get(0)?, row.get(1)?)))
}

/// A transfer: tenant, debit, credit, amount, kind.
pub(super) type TransferRow = (Key, String, String, i64, String);

pub(super) fn transfers(connection: &Connection) -> rusqlite::Result<Vec<TransferRow>> {
    query(connection, "SELECT tenant, debit, credit, amount, kind FROM transfer", [], |row| {
        Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?))
    })
}

/// An account: tenant, code, and debits pending, debits posted, credits pending, credits posted.
pub(super) type AccountRow = (Key, String, [i64; 4]);

pub(super) fn accounts(connection: &Connection) -> rusqlite::Result<Vec<AccountRow>> {
    let sql = "SELECT tenant, code, debits_pending, debits_posted, credits_pending, credits_posted FROM account";
    query(connection, sql, [], |row| {
        Ok((row.get(0)?, row.get(1)?, [row.get(2)?, row.get(3)?, row.get(4)?, row.get(5)?]))
    })
}

/// A payment as the books need it.
pub(super) struct Booked {
    pub(super) tenant: Key,
    pub(super) state: String,
    pub(super) coin: String,
    /// Charged for amount, premium and cost.
    pub(super) charge: [i64; 3],
    pub(super) amount: i64,
    pub(super) settled: bool,
    /// The newest attempt's rail and currency.
    pub(super) rail: Option<(String, String)>,
}

/// Every payment as the books need it.
pub(super) fn booked(connection: &Connection) -> rusqlite::Result<Vec<Booked>> {
    let sql = "SELECT p.tenant, p.state, p.coin, p.charge_amount, p.charge_premium, p.charge_cost, p.amount, \
               p.settled_at IS NOT NULL, a.rail, a.currency FROM payment p \
               LEFT JOIN attempt a ON a.tenant = p.tenant AND a.id = p.attempt";
    query(connection, sql, [], |row| {
        let (rail, currency): (Option<String>, Option<String>) = (row.get(8)?, row.get(9)?);
        Ok(Booked {
            tenant: row.get(0)?,
            state: row.get(1)?,
            coin: row.get(2)?,
            charge: [row.get(3)?, row.get(4)?, row.get(5)?],
            amount: row.get(6)?,
            settled: row.get(7)?,
            rail: rail.zip(currency),
        })
    })
}

/// A payment that a person has to look at.
pub struct Open {
    pub tenant: Key,
    pub payment: Key,
    /// Its newest attempt: stored id, rail, when it began.
    pub attempt: Option<(Key, String, i64)>,
    /// Whether it waits for a decision about its names.
    pub in_review: bool,
    /// Whether it is an exchange order.
    pub is_order: bool,
}

/// Payments and orders that a person has to look at: held, unknown, or being processed since before `slow_since`.
pub(super) fn for_people(connection: &Connection, slow_since: i64) -> rusqlite::Result<Vec<Open>> {
    let sql = "SELECT p.tenant, p.id, p.state = 'queued', a.id, a.rail, a.created_at, 0 FROM payment p \
               LEFT JOIN attempt a ON a.tenant = p.tenant AND a.id = p.attempt \
               WHERE p.state = 'unknown' OR (p.state = 'queued' AND p.review = 'waiting') \
               OR (p.state = 'processing' AND a.created_at < ?1) \
               UNION ALL SELECT o.tenant, o.id, 0, a.id, a.rail, a.created_at, 1 FROM exchange_order o \
               JOIN attempt a ON a.tenant = o.tenant AND a.payment = o.id AND a.state <> 'refused' \
               WHERE o.state = 'paying' AND (a.state = 'indeterminate' OR a.created_at < ?1)";
    query(connection, sql, [slow_since], |row| {
        let attempt: Option<Key> = row.get(3)?;
        let attempt = match attempt {
            Some(id) => Some((id, row.get(4)?, row.get(5)?)),
            None => None,
        };
        Ok(Open {
            tenant: row.get(0)?,
            payment: row.get(1)?,
            in_review: row.get(2)?,
            attempt,
            is_order: row.get(6)?,
        })
    })
}

/// A job that waits for people, once they were called: a release that a reorganisation undid after the wallet was blocked, or
/// its escrow put on legal hold; a sweep of coins that a reorganisation took from the controller after they were paid for.
const FOR_PEOPLE: &str = "kind = 'sweep' AND tries > 1 AND EXISTS (SELECT 1 FROM alert a WHERE a.tenant = job.tenant \
    AND a.kind IN ('deep_reorg', 'transaction')) OR kind = 'send_intent' AND EXISTS (SELECT 1 FROM chain_intent i \
    JOIN deposit d ON d.id = i.subject WHERE i.id = job.subject AND i.kind = 'release' AND d.state = 'completed' AND \
    EXISTS (SELECT 1 FROM alert a WHERE a.subject = d.id AND a.kind = 'transaction') AND (\
    EXISTS (SELECT 1 FROM wallet w WHERE w.id = d.wallet AND w.state IN ('BLOCKED', 'BLACKLISTED')) OR \
    EXISTS (SELECT 1 FROM deposit h WHERE h.request = d.request AND h.state = 'legal_hold')))";

/// When the next job or quote is due.
pub(super) fn next_due(connection: &Connection) -> rusqlite::Result<Option<i64>> {
    static SQL: LazyLock<String> = LazyLock::new(|| {
        format!(
            "SELECT MIN(at) FROM (SELECT MIN(MAX(run_at, COALESCE(leased_until, run_at))) AS at FROM job \
         WHERE kind NOT IN ('review', 'review_deposit') AND NOT ({FOR_PEOPLE}) \
         UNION ALL SELECT MIN(expires_at) FROM quote WHERE state = 'active')"
        )
    });
    value(connection, &SQL)
}

/// Whether [`open_jobs`] has any.
pub(super) fn has_open_jobs(connection: &Connection, beyond: i64) -> rusqlite::Result<bool> {
    static SQL: LazyLock<String> = LazyLock::new(|| {
        format!(
            "SELECT EXISTS (SELECT 1 FROM job \
             WHERE NOT (kind IN ('expire_request', 'wallet_timer') AND run_at > ?1) AND NOT ({FOR_PEOPLE}))"
        )
    });
    connection.prepare_cached(&SQL)?.query_row([beyond], |row| row.get(0))
}

/// The jobs that are to be done yet, a line each: kind, subject, when it is due, how often it was tried. Those that wait
/// for people, and timers of wallets and requests beyond an instant, are not.
pub(super) fn open_jobs(connection: &Connection, beyond: i64) -> rusqlite::Result<Vec<String>> {
    let sql = format!(
        "SELECT kind || ' ' || hex(subject) || ' at ' || run_at || ', tries ' || tries || COALESCE((SELECT ', ' || i.kind \
         || ' of a ' || d.state || ' deposit of ' || d.amount || ', ' || w.state || ' wallet' FROM chain_intent i \
         JOIN deposit d ON d.id = i.subject JOIN wallet w ON w.id = d.wallet WHERE i.id = job.subject), '') FROM job \
         WHERE NOT (kind IN ('expire_request', 'wallet_timer') AND run_at > ?1) AND NOT ({FOR_PEOPLE})"
    );
    query(connection, &sql, [beyond], |row| row.get(0))
}

/// How far a rail's reports have been taken in.
pub(super) fn cursor(connection: &Connection, rail: &str) -> rusqlite::Result<Option<String>> {
    let found = query(connection, "SELECT mark FROM rail_cursor WHERE rail = ?1", [rail], |row| {
        row.get(0)
    })?;
    Ok(found.into_iter().next())
}

/// A payment at the end: stored id, state, and whether a discrepancy is noted.
pub(super) type Ended = (Key, String, bool);

pub(super) fn payments(connection: &Connection) -> rusqlite::Result<Vec<Ended>> {
    let sql = "SELECT p.id, p.state, EXISTS (SELECT 1 FROM discrepancy d WHERE d.tenant = p.tenant \
               AND d.payment = p.id) FROM payment p";
    query(connection, sql, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
}

/// Whether there is a payment.
pub(super) fn has_payment(
    connection: &Connection,
    tenant: Key,
    payment: Key,
) -> rusqlite::Result<bool> {
    let sql = "SELECT EXISTS (SELECT 1 FROM payment WHERE tenant = ?1 AND id = ?2)";
    connection.prepare_cached(sql)?.query_row((tenant, payment), |row| row.get(0))
}

/// The review of a payment, and when it was accepted.
pub(super) fn review(
    connection: &Connection,
    tenant: Key,
    payment: Key,
) -> rusqlite::Result<Option<(String, i64)>> {
    let sql = "SELECT CASE WHEN state = 'reversed' AND review = 'not_needed' THEN 'ended' ELSE review END, accepted_at \
               FROM payment WHERE tenant = ?1 AND id = ?2";
    let found = query(connection, sql, (tenant, payment), |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(found.into_iter().next())
}

/// Empties every table but those that hold keys and the schema's version.
pub fn empty(connection: &Connection) -> rusqlite::Result<()> {
    let tables = query(
        connection,
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT IN ('store_key', 'meta', 'audit_head') \
         AND name NOT LIKE 'sqlite_%' AND name NOT LIKE '%migration%' AND name NOT LIKE '%schema%' ORDER BY name",
        [],
        |row| row.get::<_, String>(0),
    )?;
    tables.iter().try_for_each(|table| {
        connection.prepare_cached(&format!("DELETE FROM {table}"))?.execute([]).map(drop)
    })?;
    super::wallets::changes::forget(connection)?;
    // What the watcher remembers there of its chain, which is another one each time, and the newest comparison.
    let remembered = "DELETE FROM meta WHERE name LIKE 'chain.%' OR name LIKE 'reconciliation.%'";
    connection.prepare_cached(remembered)?.execute([])?;
    // The installation's own chain begins with the schema, which stays.
    connection.prepare_cached("DELETE FROM audit_head WHERE tenant <> zeroblob(16)")?.execute([])?;
    connection
        .prepare_cached("UPDATE audit_head SET seq = 0, hash = zeroblob(32)")?
        .execute([])
        .map(drop)
}
