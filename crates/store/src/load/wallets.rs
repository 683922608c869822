//! Loads of the wallet service. A need that names none of its records runs none of its statements.

use domain::ids::TenantId;
use uuid::Uuid as Id;

use super::Loader;
use crate::error::StoreError;
use crate::need::{Customer, Need};
use crate::rows::{self, Keys};
use crate::sql::Kind::{Bytes, Int, Text, Uuid};
use crate::sql::{Columns, Fields, Stmt};
use crate::working_set::WorkingSet;

static WALLETS: Stmt = Stmt::by_keys(
    "load.wallets",
    &[("tenant", Uuid), ("id", Uuid)],
    "SELECT {{wallet w}} FROM {{keys}} JOIN wallet w ON w.tenant = k.tenant AND w.id = k.id",
);
static CUSTOMERS: Stmt = Stmt::by_keys(
    "load.customers",
    &[("tenant", Uuid), ("customer_id", Text), ("blockchain", Text)],
    "SELECT {{wallet w}} FROM {{keys}} JOIN wallet w \
     ON w.customer_id = k.customer_id AND w.blockchain = k.blockchain AND w.tenant = k.tenant",
);
static CUSTOMER_RECORDS: Stmt = Stmt::by_keys(
    "load.customer_records",
    &[("tenant", Uuid), ("customer_id", Text)],
    "SELECT {{customer c}} FROM {{keys}} JOIN customer c ON c.tenant = k.tenant AND c.customer_id = k.customer_id",
);
static REQUESTS: Stmt = Stmt::by_keys(
    "load.requests",
    &[("tenant", Uuid), ("id", Uuid)],
    "SELECT {{payment_request r}} FROM {{keys}} JOIN payment_request r ON r.tenant = k.tenant AND r.id = k.id",
);
static SENDERS: Stmt = Stmt::by_keys(
    "load.senders",
    &[("tenant", Uuid), ("id", Uuid), ("number", Int)],
    "SELECT {{sender_info s}} FROM {{keys}} JOIN sender_info s \
     ON s.request = k.id AND s.number = k.number AND s.tenant = k.tenant",
);
static DEPOSITS: Stmt = Stmt::by_keys(
    "load.deposits",
    &[("tenant", Uuid), ("id", Uuid)],
    "SELECT {{deposit d}} FROM {{keys}} JOIN deposit d ON d.tenant = k.tenant AND d.id = k.id",
);
static EXCHANGES: Stmt = Stmt::by_keys(
    "load.exchanges",
    &[("tenant", Uuid), ("id", Uuid)],
    "SELECT {{exchange_order e}} FROM {{keys}} JOIN exchange_order e ON e.tenant = k.tenant AND e.id = k.id",
);
static INTENTS: Stmt = Stmt::by_keys(
    "load.intents",
    &[("tenant", Uuid), ("id", Uuid)],
    "SELECT {{chain_intent i}} FROM {{keys}} JOIN chain_intent i ON i.tenant = k.tenant AND i.id = k.id",
);
static SWEEPS: Stmt = Stmt::by_keys(
    "load.sweeps",
    &[("tenant", Uuid), ("id", Uuid)],
    "SELECT {{sweep s}} FROM {{keys}} JOIN sweep s ON s.tenant = k.tenant AND s.id = k.id",
);
static CHAIN_TXS: Stmt = Stmt::by_keys(
    "load.chain_txs",
    &[("tenant", Uuid), ("id", Uuid)],
    "SELECT {{chain_tx t}} FROM {{keys}} JOIN chain_tx t ON t.tenant = k.tenant AND t.id = k.id",
);
static CHAIN_ATTEMPTS: Stmt = Stmt::by_keys(
    "load.chain_attempts",
    &[("tenant", Uuid), ("id", Uuid)],
    "SELECT {{chain_attempt a}} FROM {{keys}} JOIN chain_attempt a ON a.tenant = k.tenant AND a.tx = k.id \
     ORDER BY a.tenant, a.tx, a.number",
);
static SIGNERS: Stmt = Stmt::by_keys(
    "load.signers",
    &[("tenant", Uuid), ("signer", Bytes)],
    "SELECT {{chain_signer s}} FROM {{keys}} JOIN chain_signer s ON s.tenant = k.tenant AND s.signer = k.signer",
);
static ACCOUNTS: Stmt = Stmt::by_keys(
    "load.own_accounts",
    &[("tenant", Uuid), ("code", Text)],
    "SELECT {{account a}} FROM {{keys}} \
     JOIN account a ON a.tenant = k.tenant AND a.class = 'own' AND a.code = k.code",
);
static STREAMS: Stmt = Stmt::by_keys(
    "load.streams",
    &[("tenant", Uuid), ("id", Uuid)],
    "SELECT {{delivery_stream s}} FROM {{keys}} JOIN delivery_stream s ON s.tenant = k.tenant AND s.aggregate = k.id",
);
static DELIVERIES: Stmt = Stmt::by_keys(
    "load.deliveries",
    &[("tenant", Uuid), ("id", Uuid)],
    "SELECT {{delivery d}} FROM {{keys}} JOIN delivery d ON d.tenant = k.tenant AND d.event = k.id",
);
static RECEIVERS: Stmt = Stmt::by_keys(
    "load.receivers",
    &[("tenant", Uuid)],
    "SELECT {{webhook_endpoint e}} FROM {{keys}} JOIN webhook_endpoint e ON e.tenant = k.tenant",
);

pub(super) static ALL: &[&Stmt] = &[
    &WALLETS,
    &CUSTOMERS,
    &CUSTOMER_RECORDS,
    &REQUESTS,
    &SENDERS,
    &DEPOSITS,
    &EXCHANGES,
    &INTENTS,
    &SWEEPS,
    &CHAIN_TXS,
    &CHAIN_ATTEMPTS,
    &SIGNERS,
    &ACCOUNTS,
    &STREAMS,
    &DELIVERIES,
    &RECEIVERS,
];

/// The table of the working set that receives a load's rows.
#[derive(Clone, Copy, Debug)]
pub(super) enum Into {
    Wallets,
    Customers,
    CustomerRecords,
    Requests,
    Senders,
    Deposits,
    Exchanges,
    Intents,
    Sweeps,
    ChainTxs,
    ChainAttempts,
    Signers,
    Accounts,
    Streams,
    Deliveries,
    Receivers,
}

/// The ids of a need's records whose jobs are loaded with them.
pub(super) fn with_jobs(need: &Need) -> impl Iterator<Item = (TenantId, Id)> {
    let ids = need.wallets.iter().map(|(tenant, id)| (*tenant, id.0));
    let ids = ids.chain(need.requests.iter().map(|(tenant, id)| (*tenant, id.0)));
    let ids = ids.chain(need.deposits.iter().map(|(tenant, id)| (*tenant, id.0)));
    let ids = ids.chain(need.exchanges.iter().map(|(tenant, id)| (*tenant, id.0)));
    let ids = ids.chain(need.intents.iter().map(|(tenant, id)| (*tenant, id.0)));
    let ids = ids.chain(need.chain_txs.iter().map(|(tenant, id)| (*tenant, id.0)));
    let ids = ids.chain(need.deliveries.iter().map(|(tenant, id)| (*tenant, id.0)));
    ids.chain(need.jobs.iter().copied())
}

pub(super) fn loads(need: &Need, loader: &mut Loader<'_>) {
    macro_rules! by_id {
        ($($field:ident: $stmt:ident, $into:ident;)+) => {$(
            let mut ids = need.$field.iter().map(|(tenant, id)| (*tenant, id.0));
            loader.add_ids(&$stmt, &mut ids, super::Into::Wallet(Into::$into));
        )+};
    }
    by_id! {
        wallets: WALLETS, Wallets;
        requests: REQUESTS, Requests;
        deposits: DEPOSITS, Deposits;
        exchanges: EXCHANGES, Exchanges;
        intents: INTENTS, Intents;
        sweeps: SWEEPS, Sweeps;
        chain_txs: CHAIN_TXS, ChainTxs;
        chain_txs: CHAIN_ATTEMPTS, ChainAttempts;
        deliveries: DELIVERIES, Deliveries;
    }
    loader.add_ids(&STREAMS, &mut need.streams.iter().copied(), super::Into::Wallet(Into::Streams));
    let mut columns = Columns::new([Uuid, Uuid, Int].into_iter(), need.senders.len());
    for (tenant, (request, number)) in &need.senders {
        columns.uuid(tenant.0).uuid(loader.keys.stored(request.0)).int((*number).into());
    }
    loader.add(&SENDERS, columns, super::Into::Wallet(Into::Senders));
    let mut columns = Columns::new([Uuid, Text, Text].into_iter(), need.customers.len());
    for (tenant, customer) in &need.customers {
        columns.uuid(tenant.0).text(customer.customer_id.clone()).text(customer.blockchain.clone());
    }
    loader.add(&CUSTOMERS, columns, super::Into::Wallet(Into::Customers));
    let mut columns = Columns::new([Uuid, Text].into_iter(), need.customer_records.len());
    need.customer_records
        .iter()
        .for_each(|(tenant, id)| _ = columns.uuid(tenant.0).text(id.clone()));
    loader.add(&CUSTOMER_RECORDS, columns, super::Into::Wallet(Into::CustomerRecords));
    let mut columns = Columns::new([Uuid, Bytes].into_iter(), need.signers.len());
    need.signers
        .iter()
        .for_each(|(tenant, signer)| _ = columns.uuid(tenant.0).bytes(signer.0.to_vec()));
    loader.add(&SIGNERS, columns, super::Into::Wallet(Into::Signers));
    let mut columns = Columns::new([Uuid, Text].into_iter(), need.accounts.len());
    need.accounts
        .iter()
        .for_each(|(tenant, code)| _ = columns.uuid(tenant.0).text(code.to_string()));
    loader.add(&ACCOUNTS, columns, super::Into::Wallet(Into::Accounts));
    let mut columns = Columns::new([Uuid].into_iter(), need.receivers.len());
    need.receivers.iter().for_each(|(tenant, ())| _ = columns.uuid(tenant.0));
    loader.add(&RECEIVERS, columns, super::Into::Wallet(Into::Receivers));
}

pub(super) fn put(
    ws: &mut WorkingSet,
    into: Into,
    fields: &mut Fields<'_>,
    keys: &Keys,
) -> Result<(), StoreError> {
    macro_rules! put {
        ($row:expr, $table:ident, $it:ident => $key:expr) => {{
            let $it = $row;
            ws.$table.load($key, $it);
        }};
    }
    match into {
        Into::Wallets => put!(rows::wallet::read(fields, keys)?, wallets, it => (it.tenant, it.id)),
        Into::Customers => {
            let it = rows::wallet::read(fields, keys)?;
            let customer =
                Customer { customer_id: it.customer_id.clone(), blockchain: it.blockchain.clone() };
            ws.customers.load((it.tenant, customer), it.id);
            ws.wallets.load((it.tenant, it.id), it);
        }
        Into::CustomerRecords => {
            let record = rows::small::read_customer(fields)?;
            ws.customer_records.load((record.tenant, record.customer_id), record.kyc_level);
        }
        Into::Requests => {
            put!(rows::request::read(fields, keys)?, requests, it => (it.tenant, it.id))
        }
        Into::Senders => {
            let info = rows::request::read_sender(fields, keys)?;
            let number = info
                .number
                .ok_or_else(|| StoreError::Corrupt("a submission has no number".to_owned()))?;
            ws.senders.load((info.tenant, info.request, number), info);
        }
        Into::Deposits => {
            put!(rows::deposit::read(fields, keys)?, deposits, it => (it.tenant, it.id))
        }
        Into::Exchanges => {
            put!(rows::exchange::read(fields, keys)?, exchanges, it => (it.tenant, it.id))
        }
        Into::Intents => put!(rows::intent::read(fields, keys)?, intents, it => (it.tenant, it.id)),
        Into::Sweeps => put!(rows::sweep::read(fields, keys)?, sweeps, it => (it.tenant, it.id)),
        Into::ChainTxs => {
            put!(rows::chain_tx::read(fields, keys)?, chain_txs, it => (it.tenant, it.id))
        }
        Into::ChainAttempts => {
            let (key, attempt) = rows::chain_tx::read_attempt(fields, keys)?;
            let tx = ws.chain_txs.loaded_mut(&key);
            let tx = tx.ok_or_else(|| {
                StoreError::Corrupt("a signed attempt has no transaction".to_owned())
            })?;
            tx.attempts.push(attempt);
        }
        Into::Signers => {
            let (key, row) = rows::chain::read_signer(fields)?;
            ws.signers.load(key, row);
        }
        Into::Receivers => {
            let (tenant, row) = rows::delivery::read_receiver(fields)?;
            ws.receivers.load(tenant, row);
        }
        Into::Accounts => {
            put!(rows::ledger::read_account(fields)?, accounts, it => (it.tenant, it.code.clone()));
        }
        Into::Streams => {
            put!(rows::delivery::read_stream(fields, keys)?, streams, it => (it.tenant, it.aggregate.id()))
        }
        Into::Deliveries => {
            put!(rows::delivery::read(fields, keys)?, deliveries, it => (it.tenant, it.event))
        }
    }
    Ok(())
}
