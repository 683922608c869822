//! What the auditor reads about the wallet service, behind the store's back.

use rusqlite::Connection;

use super::super::rows::{Key, query, value};

/// Height of the newest block that was taken in; 0 = none was.
pub(in crate::audit) fn chain_seen(connection: &Connection) -> rusqlite::Result<i64> {
    value(connection, "SELECT COALESCE(MAX(number), 0) FROM chain_block")
}

/// How many deposits wait for the chain.
pub(in crate::audit) fn waiting(connection: &Connection) -> rusqlite::Result<i64> {
    value(connection, "SELECT COUNT(*) FROM deposit WHERE state IN ('seen', 'suspended')")
}

/// A deposit as the books need it.
pub(in crate::audit) struct DepositRow {
    pub tenant: Key,
    pub id: Key,
    pub wallet: Key,
    pub request: Option<Key>,
    pub coin: String,
    pub amount: i64,
    pub state: String,
    pub pot: String,
    pub tx: [u8; 32],
    pub ordinal: u32,
    /// Whether it is in the chain, as far as the service knows.
    pub placed: bool,
}

/// Every deposit.
pub(in crate::audit) fn deposits(connection: &Connection) -> rusqlite::Result<Vec<DepositRow>> {
    let sql =
        "SELECT tenant, id, wallet, request, coin, amount, state, pot, tx, ordinal, height IS NOT NULL FROM deposit";
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
}

/// Every order.
pub(in crate::audit) fn orders(connection: &Connection) -> rusqlite::Result<Vec<OrderRow>> {
    let sql = "SELECT o.tenant, o.id, o.wallet, o.coin, o.amount, o.payout, o.state, a.rail, a.state, \
               EXISTS (SELECT 1 FROM chain_intent i WHERE i.tenant = o.tenant AND i.subject = o.id \
               AND i.kind = 'return_debit' AND i.state = 'done') FROM exchange_order o LEFT JOIN attempt a \
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
        })
    })
}
