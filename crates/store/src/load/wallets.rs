//! Loads of the wallet service. A need that names none of its records runs none of its statements.

use domain::chain_tx::{ChainTx, Intent};
use domain::delivery::{Delivery, DeliveryStream};
use domain::deposit::Deposit;
use domain::exchange::ExchangeOrder;
use domain::ids::TenantId;
use domain::ledger::Account;
use domain::payment_request::{PaymentRequest, SenderInfo};
use domain::sweep::Sweep;
use domain::wallet::Wallet;
use uuid::Uuid as Id;

use super::{Into, Loader, into};
use crate::admin::customers::CustomerRecord;
use crate::error::StoreError;
use crate::need::{Customer, Need};
use crate::rows::Keys;
use crate::rows::column::Get;
use crate::sql::Kind::{Bytes, Int, Text, Uuid};
use crate::sql::{Fields, Stmt};
use crate::working_set::WorkingSet;

static WALLETS: Stmt = Stmt::by_keys(
    "load.wallets",
    &[("tenant", Uuid), ("id", Uuid)],
    "SELECT {{wallet w}} FROM {{keys}} JOIN wallet w ON w.tenant = k.tenant AND w.id = k.id",
);
static CUSTOMERS: Stmt = Stmt::by_keys(
    "load.customers",
    &[("tenant", Uuid), ("customer_id", Text), ("chain", Int)],
    "SELECT {{wallet w}} FROM {{keys}} JOIN wallet w \
     ON w.customer_id = k.customer_id AND w.chain = k.chain AND w.replaced = 0 AND w.tenant = k.tenant",
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
    &[("tenant", Uuid), ("chain", Int), ("signer", Bytes)],
    "SELECT {{chain_signer s}} FROM {{keys}} JOIN chain_signer s \
     ON s.tenant = k.tenant AND s.chain = k.chain AND s.signer = k.signer",
);
static SPONSORED_GAS: Stmt = Stmt::by_keys(
    "load.sponsored_gas",
    &[("tenant", Uuid), ("chain", Int), ("day", Int)],
    "SELECT {{sponsored_gas s}} FROM {{keys}} JOIN sponsored_gas s \
     ON s.tenant = k.tenant AND s.chain = k.chain AND s.day = k.day",
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
    &SPONSORED_GAS,
    &ACCOUNTS,
    &STREAMS,
    &DELIVERIES,
    &RECEIVERS,
];

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

pub(super) fn loads(need: &Need, load: &mut Loader<'_>) -> Result<(), StoreError> {
    macro_rules! by_id {
        ($($table:ident: $record:ty, $stmt:ident;)+) => {$(
            let into: Into = into!($table, it: $record => (it.tenant, it.id));
            load.add(&$stmt, need.$table.iter().copied(), into)?;
        )+};
    }
    by_id! {
        wallets: Wallet, WALLETS;
        requests: PaymentRequest, REQUESTS;
        deposits: Deposit, DEPOSITS;
        exchanges: ExchangeOrder, EXCHANGES;
        intents: Intent, INTENTS;
        sweeps: Sweep, SWEEPS;
        chain_txs: ChainTx, CHAIN_TXS;
    }
    load.add(&CHAIN_ATTEMPTS, need.chain_txs.iter().copied(), chain_attempt)?;
    let delivery: Into = into!(deliveries, it: Delivery => (it.tenant, it.event));
    load.add(&DELIVERIES, need.deliveries.iter().copied(), delivery)?;
    let stream: Into = into!(streams, it: DeliveryStream => (it.tenant, it.aggregate.id()));
    load.add(&STREAMS, need.streams.iter().copied(), stream)?;
    let senders = need.senders.iter();
    let senders = senders.map(|(tenant, (request, number))| (*tenant, *request, *number));
    load.add(&SENDERS, senders, sender)?;
    let customers = need.customers.iter();
    let customers = customers.map(|(tenant, it)| (*tenant, &it.customer_id, it.chain));
    load.add(&CUSTOMERS, customers, customer)?;
    let records = need.customer_records.iter().map(|(tenant, id)| (*tenant, id));
    load.add(&CUSTOMER_RECORDS, records, customer_record)?;
    let signers = need.signers.iter();
    let signers = signers.map(|(tenant, (chain, signer))| (*tenant, *chain, signer));
    load.add(&SIGNERS, signers, into!(signers))?;
    let gas = need.sponsored_gas.iter();
    let gas = gas.map(|(tenant, (chain, day))| (*tenant, *chain, *day));
    load.add(&SPONSORED_GAS, gas, into!(sponsored_gas))?;
    let accounts = need.accounts.iter().map(|(tenant, code)| (*tenant, code));
    load.add(&ACCOUNTS, accounts, into!(accounts, it: Account => (it.tenant, it.code.clone())))?;
    load.add(&RECEIVERS, need.receivers.iter().map(|(tenant, ())| *tenant), into!(receivers))
}

fn customer(ws: &mut WorkingSet, fields: &mut Fields<'_>, keys: &Keys) -> Result<(), StoreError> {
    let it = Wallet::get(fields, keys)?;
    let customer = Customer { customer_id: it.customer_id.clone(), chain: it.chain };
    ws.customers.load((it.tenant, customer), it.id);
    ws.wallets.load((it.tenant, it.id), it);
    Ok(())
}

fn customer_record(
    ws: &mut WorkingSet,
    fields: &mut Fields<'_>,
    keys: &Keys,
) -> Result<(), StoreError> {
    let it = CustomerRecord::get(fields, keys)?;
    ws.customer_records.load((it.tenant, it.customer_id), it.kyc_level);
    Ok(())
}

fn sender(ws: &mut WorkingSet, fields: &mut Fields<'_>, keys: &Keys) -> Result<(), StoreError> {
    let it = SenderInfo::get(fields, keys)?;
    let number = it.number;
    let number =
        number.ok_or_else(|| StoreError::Corrupt("a submission has no number".to_owned()))?;
    ws.senders.load((it.tenant, it.request, number), it);
    Ok(())
}

fn chain_attempt(
    ws: &mut WorkingSet,
    fields: &mut Fields<'_>,
    keys: &Keys,
) -> Result<(), StoreError> {
    let (key, attempt) = Get::get(fields, keys)?;
    let tx = ws.chain_txs.loaded_mut(&key);
    let tx =
        tx.ok_or_else(|| StoreError::Corrupt("a signed attempt has no transaction".to_owned()))?;
    tx.attempts.push(attempt);
    Ok(())
}
