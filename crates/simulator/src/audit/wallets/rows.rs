//! What the auditor reads about the wallet service, behind the store's back.

use rusqlite::Connection;

use super::super::rows::{Key, query, value};

/// The newest block that was taken in: its height and hash.
pub(in crate::audit) fn chain_seen(
    connection: &Connection,
) -> rusqlite::Result<Option<(u64, [u8; 32])>> {
    let sql = "SELECT number, hash FROM chain_block ORDER BY number DESC LIMIT 1";
    let found = query(connection, sql, [], |row| Ok((row.get::<_, i64>(0)?, row.get(1)?)))?;
    Ok(found.into_iter().find_map(|(number, hash)| Some((u64::try_from(number).ok()?, hash))))
}

/// Whether blocks are still to be looked through again.
pub(in crate::audit) fn rescans_wait(connection: &Connection) -> rusqlite::Result<bool> {
    let sql = "SELECT COUNT(*) FROM meta WHERE name = 'chain.rescan.wanted' AND value <> ''";
    Ok(value::<i64>(connection, sql)? > 0)
}

/// How many deposits wait for the chain.
pub(in crate::audit) fn waiting(connection: &Connection) -> rusqlite::Result<i64> {
    value(connection, "SELECT COUNT(*) FROM deposit WHERE state IN ('seen', 'suspended')")
}

/// The deposits that wait for the chain, a line each.
pub(in crate::audit) fn waiting_for_chain(
    connection: &Connection,
) -> rusqlite::Result<Vec<String>> {
    let sql = "SELECT state || ' ' || hex(tx) || ' at height ' || COALESCE(height, 'none') \
               FROM deposit WHERE state IN ('seen', 'suspended')";
    query(connection, sql, [], |row| row.get(0))
}

/// The transactions of the signers that wait for one, a line each: what holds a nonce up is among
/// them, whether it waits or not.
pub(in crate::audit) fn held_up_transactions(
    connection: &Connection,
) -> rusqlite::Result<Vec<String>> {
    let sql = "SELECT hex(t.signer) || ' ' || t.nonce || ' ' || t.state || ' in block ' || COALESCE(t.block_number, 'none') \
               FROM chain_tx t WHERE EXISTS (SELECT 1 FROM chain_tx o WHERE o.signer = t.signer AND \
               o.state IN ('taken', 'broadcast', 'mined')) ORDER BY t.signer, t.nonce";
    query(connection, sql, [], |row| row.get(0))
}

/// A deposit as the books need it.
pub(in crate::audit) struct DepositRow {
    pub tenant: Key,
    pub id: Key,
    pub wallet: Key,
    pub request: Option<Key>,
    /// The submission whose escrow it came to.
    pub submission: Option<i64>,
    pub coin: String,
    pub amount: i64,
    pub state: String,
    pub pot: String,
    pub tx: [u8; 32],
    pub ordinal: u32,
    /// Whether it is in the chain, as far as the service knows.
    pub placed: bool,
}

pub(in crate::audit) fn deposits(connection: &Connection) -> rusqlite::Result<Vec<DepositRow>> {
    let sql = "SELECT tenant, id, wallet, request, coin, amount, state, pot, tx, ordinal, height IS NOT NULL, submission \
               FROM deposit";
    query(connection, sql, [], |row| {
        Ok(DepositRow {
            tenant: row.get(0)?,
            id: row.get(1)?,
            wallet: row.get(2)?,
            request: row.get(3)?,
            coin: row.get(4)?,
            amount: row.get(5)?,
            state: row.get(6)?,
            pot: row.get(7)?,
            tx: row.get(8)?,
            ordinal: row.get(9)?,
            placed: row.get(10)?,
            submission: row.get(11)?,
        })
    })
}

/// An order as the books need it.
pub(in crate::audit) struct OrderRow {
    pub tenant: Key,
    pub id: Key,
    pub wallet: Key,
    pub coin: String,
    pub amount: i64,
    pub payout: i64,
    pub state: String,
    /// The rail of its newest attempt, and how that stands.
    pub attempt: Option<(String, String)>,
    /// Whether its coins were given back.
    pub given_back: bool,
    /// Whether they are to be.
    pub recredited: bool,
    /// Whether they cannot be.
    pub barred: bool,
}

pub(in crate::audit) fn orders(connection: &Connection) -> rusqlite::Result<Vec<OrderRow>> {
    let sql = "SELECT o.tenant, o.id, o.wallet, o.coin, o.amount, o.payout, o.state, a.rail, a.state, \
               EXISTS (SELECT 1 FROM chain_intent i WHERE i.tenant = o.tenant AND i.subject = o.id \
               AND i.kind = 'return_debit' AND i.state = 'done'), \
               EXISTS (SELECT 1 FROM chain_intent i WHERE i.tenant = o.tenant AND i.subject = o.id \
               AND i.kind = 'return_debit'), \
               EXISTS (SELECT 1 FROM chain_intent i WHERE i.tenant = o.tenant AND i.subject = o.id \
               AND i.kind = 'return_debit' AND i.state = 'failed') AND EXISTS (SELECT 1 FROM chain_intent i \
               WHERE i.tenant = o.tenant AND i.subject = o.id AND i.kind = 'debit' AND i.state = 'done') FROM exchange_order o LEFT JOIN attempt a \
               ON a.tenant = o.tenant AND a.id = (SELECT MAX(n.id) FROM attempt n WHERE n.tenant = o.tenant \
               AND n.payment = o.id)";
    query(connection, sql, [], |row| {
        let rail: Option<String> = row.get(7)?;
        let attempt = match rail {
            Some(rail) => Some((rail, row.get(8)?)),
            None => None,
        };
        Ok(OrderRow {
            tenant: row.get(0)?,
            id: row.get(1)?,
            wallet: row.get(2)?,
            coin: row.get(3)?,
            amount: row.get(4)?,
            payout: row.get(5)?,
            state: row.get(6)?,
            attempt,
            given_back: row.get(9)?,
            recredited: row.get(10)?,
            barred: row.get(11)?,
        })
    })
}

/// A sweep as the books need it: whose, which coin, how much, how it stands.
pub(in crate::audit) type SweepRow = (Key, String, i64, String);

pub(in crate::audit) fn sweeps(connection: &Connection) -> rusqlite::Result<Vec<SweepRow>> {
    let sql = "SELECT tenant, coin, amount, state FROM sweep";
    query(connection, sql, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))
}

/// Coins that were sent back to a controller: whose, which, how many.
pub(in crate::audit) type Funded = (Key, String, i64);

/// Reads the coins sent back to every controller.
pub(in crate::audit) fn funded(connection: &Connection) -> rusqlite::Result<Vec<Funded>> {
    let sql = "SELECT tenant, currency, SUM(amount) FROM transfer WHERE reason = 'sweep.fund' GROUP BY tenant, currency";
    query(connection, sql, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
}

/// Open tasks for operators: kind, tenant and subject.
pub(in crate::audit) fn chores(
    connection: &Connection,
) -> rusqlite::Result<Vec<(String, Key, Key)>> {
    let sql = "SELECT 'refund', d.tenant, d.id FROM deposit d WHERE d.state IN ('rejected', 'failed') \
               AND d.pot = 'escrow' AND d.height IS NOT NULL \
               UNION ALL SELECT 'lift', d.tenant, d.id FROM deposit d WHERE d.state = 'legal_hold' \
               UNION ALL SELECT 'approve', d.tenant, d.id FROM deposit d \
               JOIN job j ON j.tenant = d.tenant AND j.subject = d.id AND j.kind = 'review_deposit' \
               WHERE d.state = 'refunding' \
               UNION ALL SELECT 'recredit', o.tenant, o.id FROM exchange_order o WHERE o.state = 'settled' \
               AND EXISTS (SELECT 1 FROM attempt a WHERE a.tenant = o.tenant AND a.payment = o.id \
               AND a.state IN ('returned', 'cancelled')) AND NOT EXISTS (SELECT 1 FROM chain_intent i \
               WHERE i.tenant = o.tenant AND i.subject = o.id AND i.kind = 'return_debit') \
               UNION ALL SELECT 'switch_on', w.tenant, w.tenant FROM webhook_endpoint w WHERE w.disabled_at IS NOT NULL \
               UNION ALL SELECT 'redeliver', d.tenant, d.event FROM delivery d JOIN webhook_endpoint w \
               ON w.tenant = d.tenant AND w.disabled_at IS NULL WHERE d.state IN ('dead', 'disabled') ORDER BY 1, 2, 3";
    query(connection, sql, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
}

/// How things stand: kind (by its place in `Kind::ALL`), tenant, id, version, state.
pub(super) type Standing = (u8, Key, Key, i64, String);

/// Active wallets with a release or a debit under way.
pub(in crate::audit) fn moving_wallets(
    connection: &Connection,
) -> rusqlite::Result<Vec<(Key, Key)>> {
    let sql = "SELECT DISTINCT w.tenant, w.id FROM chain_intent i JOIN wallet w ON w.tenant = i.tenant AND w.id = i.wallet \
               WHERE (i.state = 'waiting' OR i.state = 'assigned') AND (i.kind = 'release' OR i.kind = 'debit') \
               AND w.state = 'ACTIVE' ORDER BY 1, 2";
    query(connection, sql, [], |row| Ok((row.get(0)?, row.get(1)?)))
}

/// Where a deposit is in the chain, and of how many minor units; `None` = it is in no block.
pub(super) fn place(
    connection: &Connection,
    (tenant, id): (Key, Key),
) -> rusqlite::Result<Option<(u64, i64)>> {
    let sql =
        "SELECT height, amount FROM deposit WHERE tenant = ?1 AND id = ?2 AND height IS NOT NULL";
    let found =
        query(connection, sql, (tenant, id), |row| Ok((row.get::<_, i64>(0)?, row.get(1)?)))?;
    Ok(found.into_iter().find_map(|(height, minor)| Some((u64::try_from(height).ok()?, minor))))
}

/// The newest row of what was signed and saved. Nothing is ever removed from there.
pub(super) fn signed(connection: &Connection) -> rusqlite::Result<i64> {
    value(connection, "SELECT COALESCE(MAX(rowid), 0) FROM chain_attempt")
}

/// A new row, what it is about, and who took the job of that last.
pub(super) type Holder = (i64, Key, Option<String>);

/// What was signed since: the transaction, and who has its job.
pub(super) fn signers_after(connection: &Connection, row: i64) -> rusqlite::Result<Vec<Holder>> {
    let sql = "SELECT a.rowid, a.tx, j.leased_by FROM chain_attempt a \
               LEFT JOIN job j ON j.tenant = a.tenant AND j.subject = a.tx WHERE a.rowid > ?1 ORDER BY 1";
    query(connection, sql, [row], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
}

/// Tries to deliver since: the event, and who has its job, if it is not delivered.
pub(super) fn triers_after(connection: &Connection, row: i64) -> rusqlite::Result<Vec<Holder>> {
    let sql = "SELECT a.rowid, a.event, j.leased_by FROM delivery_attempt a \
               LEFT JOIN job j ON j.tenant = a.tenant AND j.subject = a.event WHERE a.rowid > ?1 ORDER BY 1";
    query(connection, sql, [row], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
}

/// Something that was signed to move a wallet's money: hash, wallet, transaction, and whether it does again what a
/// reorganisation undid.
pub(super) type SignedRow = ([u8; 32], Key, Key, bool);

/// Everything that was signed since to move a wallet's money.
pub(super) fn signed_moves(connection: &Connection, row: i64) -> rusqlite::Result<Vec<SignedRow>> {
    let sql = "SELECT a.hash, i.wallet, a.tx, COALESCE(d.state = 'completed', 0) OR COALESCE(o.state NOT IN ('pending', 'debiting'), 0) \
               FROM chain_attempt a JOIN chain_intent i ON i.tenant = a.tenant AND i.tx = a.tx \
               AND i.kind IN ('release', 'debit') \
               LEFT JOIN deposit d ON d.tenant = i.tenant AND d.id = i.subject \
               LEFT JOIN exchange_order o ON o.tenant = i.tenant AND o.id = i.subject WHERE a.cancels = 0 AND a.rowid > ?1";
    query(connection, sql, [row], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))
}

/// Signers whose transactions more than one node follows at `now`.
pub(super) fn shared_lanes(connection: &Connection, now: i64) -> rusqlite::Result<Vec<[u8; 20]>> {
    let sql = "SELECT t.signer FROM job j JOIN chain_tx t ON t.tenant = j.tenant AND t.id = j.subject \
               WHERE j.kind = 'transmit' AND j.leased_until > ?1 GROUP BY t.signer HAVING COUNT(DISTINCT j.leased_by) > 1";
    query(connection, sql, [now], |row| row.get(0))
}

/// Whether something signed is saved.
pub(super) fn is_saved(connection: &Connection, hash: [u8; 32]) -> rusqlite::Result<bool> {
    let sql = "SELECT EXISTS (SELECT 1 FROM chain_attempt WHERE hash = ?1)";
    connection.prepare_cached(sql)?.query_row([hash], |row| row.get(0))
}

/// A new event of the wallet service: its place, its kind, its aggregate, its number there.
pub(super) type WalletEventRow = (i64, String, Key, i64);

/// The wallet events of a tenant behind `after`.
pub(super) fn events_after(
    connection: &Connection,
    tenant: Key,
    after: i64,
) -> rusqlite::Result<Vec<WalletEventRow>> {
    let sql = "SELECT seq, kind, aggregate, version FROM wallet_event WHERE tenant = ?1 AND seq > ?2 ORDER BY seq";
    query(connection, sql, (tenant, after), |row| {
        Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
    })
}

/// Every tenant with the number of its newest wallet event.
pub(super) fn heads(connection: &Connection) -> rusqlite::Result<Vec<(Key, i64)>> {
    query(connection, "SELECT tenant, wallet_seq FROM tenant_head", [], |row| {
        Ok((row.get(0)?, row.get(1)?))
    })
}

/// A vault, as tables name it.
pub(super) struct VaultRow {
    pub tenant: Key,
    /// The wallet, or the request.
    pub id: Key,
    pub address: [u8; 20],
    /// The wallet's state; `None` for an escrow.
    pub state: Option<String>,
    /// The submission whose escrow it is.
    pub submission: Option<i64>,
}

/// Every wallet's and every escrow's address, those of submissions after those of their requests.
pub(super) fn vaults(connection: &Connection) -> rusqlite::Result<Vec<VaultRow>> {
    let sql = "SELECT tenant, id, address, state, NULL FROM wallet \
               UNION ALL SELECT tenant, id, escrow, NULL, NULL FROM payment_request \
               UNION ALL SELECT tenant, request, address, NULL, submission FROM watched_address \
               WHERE submission IS NOT NULL";
    query(connection, sql, [], |row| {
        Ok(VaultRow {
            tenant: row.get(0)?,
            id: row.get(1)?,
            address: row.get(2)?,
            state: row.get(3)?,
            submission: row.get(4)?,
        })
    })
}

/// An intent: tenant, id, kind, subject, state.
pub(super) type IntentRow = (Key, Key, String, Key, String);

pub(super) fn intents(connection: &Connection) -> rusqlite::Result<Vec<IntentRow>> {
    let sql = "SELECT tenant, id, kind, subject, state FROM chain_intent";
    query(connection, sql, [], |row| {
        Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?))
    })
}

/// A delivery: tenant, event, aggregate, number there, state.
pub(super) type DeliveryRow = (Key, Key, Key, i64, String);

/// Every delivery, by aggregate and number.
pub(super) fn deliveries(connection: &Connection) -> rusqlite::Result<Vec<DeliveryRow>> {
    let sql =
        "SELECT tenant, event, aggregate, version, state FROM delivery ORDER BY aggregate, version";
    query(connection, sql, [], |row| {
        Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?))
    })
}

/// Aggregates some of whose events were given up or go nowhere: they may be delivered later, in whatever order.
pub(super) fn given_up(connection: &Connection) -> rusqlite::Result<Vec<Key>> {
    query(
        connection,
        "SELECT aggregate FROM delivery WHERE state IN ('dead', 'disabled')",
        [],
        |row| row.get(0),
    )
}

/// What a person is called for: about what.
pub(super) fn alerts(connection: &Connection) -> rusqlite::Result<Vec<Key>> {
    let sql = "SELECT subject FROM alert WHERE kind IN ('deep_reorg', 'chain_mismatch', 'transaction', 'payout')";
    query(connection, sql, [], |row| row.get(0))
}
