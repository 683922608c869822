//! Wallets, their balances, and their history.

use domain::chain::ChainNumber;
use domain::currency::StableCoin;
use domain::deposit::{Deposit, DepositKind};
use domain::exchange::ExchangeOrder;
use domain::ids::{TenantId, WalletId};
use domain::ledger::{Account, AccountCode};
use domain::ports::Controller;
use domain::time::Timestamp;
use domain::wallet::Wallet;

use super::keyset::{KeysetPage, KeysetWanted, Mark, Marked};
use super::page::{Listed, Page};
use crate::error::StoreError;
use crate::sql::Kind::Uuid;
use crate::sql::{Stmt, Value};
use crate::store::Store;

static ONE: Stmt = Stmt::written(
    "wallet.one",
    "SELECT {{wallet w}} FROM wallet w WHERE w.tenant = $1 AND w.id = $2",
);
static OF_CUSTOMER: Stmt = Stmt::written(
    "wallet.of_customer",
    "SELECT {{wallet w}} FROM wallet w WHERE w.customer_id = $2 AND w.chain = $3 AND w.replaced = 0 AND w.tenant = $1",
);
// The controller of a wallet that is not PENDING is deployed.
static NEWEST_READY: Stmt = Stmt::written(
    "wallet.newest_ready",
    "SELECT {{wallet w}} FROM wallet w WHERE w.chain = $2 AND w.state <> 'PENDING' AND w.tenant = $1 \
     ORDER BY w.created_at DESC, w.id DESC LIMIT 1",
);
static NEWEST_PENDING: Stmt = Stmt::written(
    "wallet.newest_pending",
    "SELECT {{wallet w}} FROM wallet w WHERE w.chain = $2 AND w.state = 'PENDING' AND w.tenant = $1 \
     ORDER BY w.created_at DESC, w.id DESC LIMIT 1",
);
static ACCOUNTS: Stmt = Stmt::written(
    "wallet.accounts",
    "SELECT {{account a}} FROM account a WHERE a.tenant = $1 AND a.class = 'own' AND a.code IN ($2, $3)",
);
// Orphaned deposits are hidden. $3 holds the wanted types between commas.
static TRANSACTIONS: Stmt = Stmt::written(
    "wallet.transactions",
    "SELECT x.exchange, x.id FROM (\
     SELECT CAST(0 AS BIGINT) AS exchange, d.id AS id, d.seen_at AS at FROM deposit d \
     WHERE d.wallet = $2 AND d.tenant = $1 AND d.state <> 'orphaned' AND $3 LIKE '%,' || d.kind || ',%' \
     UNION ALL SELECT CAST(1 AS BIGINT), e.id, e.created_at FROM exchange_order e \
     WHERE e.wallet = $2 AND e.tenant = $1 AND $3 LIKE '%,EXCHANGED,%') x \
     ORDER BY x.at DESC, x.id DESC LIMIT $4 OFFSET $5",
);
static TRANSACTIONS_TOTAL: Stmt = Stmt::written(
    "wallet.transactions_total",
    "SELECT (SELECT COUNT(*) FROM deposit d \
     WHERE d.wallet = $2 AND d.tenant = $1 AND d.state <> 'orphaned' AND $3 LIKE '%,' || d.kind || ',%') \
     + (SELECT COUNT(*) FROM exchange_order e WHERE e.wallet = $2 AND e.tenant = $1 AND $3 LIKE '%,EXCHANGED,%')",
);
/// The same from a row on, in one of both directions.
macro_rules! history {
    ($name:literal, $beyond:literal, $order:literal) => {
        Stmt::written(
            $name,
            concat!(
                "SELECT x.exchange, x.id, x.at FROM (\
                 SELECT CAST(0 AS BIGINT) AS exchange, d.id AS id, d.seen_at AS at FROM deposit d \
                 WHERE d.wallet = $2 AND d.tenant = $1 AND d.state <> 'orphaned' AND (d.seen_at, d.id) ",
                $beyond,
                " ($3, $4) UNION ALL SELECT CAST(1 AS BIGINT), e.id, e.created_at FROM exchange_order e \
                 WHERE e.wallet = $2 AND e.tenant = $1 AND (e.created_at, e.id) ",
                $beyond,
                " ($3, $4)) x ORDER BY ",
                $order,
                " LIMIT $5"
            ),
        )
    };
}
static HISTORY: [Stmt; 2] = [
    history!("wallet.history", "<", "x.at DESC, x.id DESC"),
    history!("wallet.history_newer", ">", "x.at, x.id"),
];
static DEPOSITS: Stmt = Stmt::by_keys(
    "wallet.deposits",
    &[("tenant", Uuid), ("id", Uuid)],
    "SELECT {{deposit d}} FROM {{keys}} JOIN deposit d ON d.tenant = k.tenant AND d.id = k.id",
);
static EXCHANGES: Stmt = Stmt::by_keys(
    "wallet.exchanges",
    &[("tenant", Uuid), ("id", Uuid)],
    "SELECT {{exchange_order e}} FROM {{keys}} JOIN exchange_order e ON e.tenant = k.tenant AND e.id = k.id",
);

pub(crate) static STATEMENTS: &[&Stmt] = &[
    &ONE,
    &OF_CUSTOMER,
    &NEWEST_READY,
    &NEWEST_PENDING,
    &ACCOUNTS,
    &TRANSACTIONS,
    &TRANSACTIONS_TOTAL,
    &HISTORY[0],
    &HISTORY[1],
    &DEPOSITS,
    &EXCHANGES,
];

fn controller_of(wallet: Wallet) -> Controller {
    Controller {
        address: wallet.controller,
        implementation: wallet.implementation,
        version: wallet.code_version,
    }
}

/// `type` of the specification's transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransactionKind {
    /// Shown as `RECEIVED` or `BLOCKED`.
    Deposit(DepositKind),
    Exchanged,
}

/// An entry of a wallet's history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Transaction {
    Deposit(Box<Deposit>),
    /// Coins exchanged, or to be exchanged.
    Exchange(Box<ExchangeOrder>),
}

impl Transaction {
    /// The chain of its wallet.
    pub const fn chain(&self) -> ChainNumber {
        match self {
            Transaction::Deposit(deposit) => deposit.chain,
            Transaction::Exchange(order) => order.chain,
        }
    }
}

/// The wanted types between commas.
fn kinds(kind: Option<TransactionKind>) -> Value {
    const EXCHANGED: &str = "EXCHANGED";
    let deposits = DepositKind::ALL.map(DepositKind::name).join(",");
    let wanted = match kind {
        None => format!(",{deposits},{EXCHANGED},"),
        Some(TransactionKind::Deposit(kind)) => format!(",{},", kind.name()),
        Some(TransactionKind::Exchanged) => format!(",{EXCHANGED},"),
    };
    wanted.into()
}

impl Store {
    pub async fn wallet(
        &self,
        tenant: TenantId,
        id: WalletId,
    ) -> Result<Option<Wallet>, StoreError> {
        self.one(&ONE, (tenant, id)).await
    }

    /// The wallet of a customer on a chain.
    pub async fn wallet_of_customer(
        &self,
        tenant: TenantId,
        customer_id: &str,
        chain: ChainNumber,
    ) -> Result<Option<Wallet>, StoreError> {
        self.one(&OF_CUSTOMER, (tenant, customer_id, chain)).await
    }

    /// The deployed controller of a tenant's wallets on a chain; of the newest wallet if there are
    /// several. `None` if no wallet has been ready yet.
    pub async fn deployed_controller(
        &self,
        tenant: TenantId,
        chain: ChainNumber,
    ) -> Result<Option<Controller>, StoreError> {
        let newest: Option<Wallet> = self.one(&NEWEST_READY, (tenant, chain)).await?;
        Ok(newest.map(controller_of))
    }

    /// The controller for which the newest of a tenant's wallets waits on a chain. `None` if none waits.
    pub async fn awaited_controller(
        &self,
        tenant: TenantId,
        chain: ChainNumber,
    ) -> Result<Option<Controller>, StoreError> {
        let newest: Option<Wallet> = self.one(&NEWEST_PENDING, (tenant, chain)).await?;
        Ok(newest.map(controller_of))
    }

    /// A wallet's balances: one account per coin, in the coins' order; empty before the first
    /// booking.
    pub async fn wallet_accounts(
        &self,
        tenant: TenantId,
        wallet: WalletId,
    ) -> Result<[Account; 2], StoreError> {
        let codes = StableCoin::ALL.map(|coin| AccountCode::Wallet(wallet, coin));
        let [one, two] = &codes;
        let found: Vec<Account> = self.many(&ACCOUNTS, (tenant, one, two)).await?;
        let mut accounts = codes.map(|code| Account::empty(tenant, code));
        for found in found {
            if let Some(account) = accounts.iter_mut().find(|account| account.code == found.code) {
                *account = found;
            }
        }
        Ok(accounts)
    }

    /// A page of a wallet's history, newest first: deposits by when they were seen, orders by when
    /// they were created.
    pub async fn transactions(
        &self,
        tenant: TenantId,
        wallet: WalletId,
        kind: Option<TransactionKind>,
        page: Page,
    ) -> Result<Listed<Transaction>, StoreError> {
        let wanted = (tenant, wallet, kinds(kind));
        let Listed { rows, total } =
            self.listed((&TRANSACTIONS_TOTAL, &TRANSACTIONS), wanted, page).await?;
        Ok(Listed { rows: self.entries(tenant, rows).await?, total })
    }

    /// A wallet's history, newest first, turned from an entry.
    pub async fn wallet_history(
        &self,
        tenant: TenantId,
        wallet: WalletId,
        page: KeysetWanted,
    ) -> Result<KeysetPage<Transaction>, StoreError> {
        let mark = |(_, id, at): &(bool, uuid::Uuid, Timestamp)| Mark::of_id(*at, *id);
        let place = (Marked::TimeAndId, mark);
        let keys = self.id_keys().await?;
        let params = vec![tenant.0.into(), keys.stored(wallet.0).into()];
        let mut found = self.keyset_page(&HISTORY, params, page, place).await?;
        let order = found.rows.drain(..).map(|(exchange, id, _)| (exchange, id)).collect();
        let rows = self.entries(tenant, order).await?;
        Ok(found.with_rows(rows))
    }

    /// Deposits and orders in this order.
    async fn entries(
        &self,
        tenant: TenantId,
        order: Vec<(bool, uuid::Uuid)>,
    ) -> Result<Vec<Transaction>, StoreError> {
        let ids = |exchanges: bool| {
            let ids = order.iter().filter(move |(exchange, _)| *exchange == exchanges);
            ids.map(|(_, id)| (tenant, *id))
        };
        let deposits: Vec<Deposit> = self.many_by(&DEPOSITS, ids(false)).await?;
        let orders: Vec<ExchangeOrder> = self.many_by(&EXCHANGES, ids(true)).await?;
        let deposits = deposits.into_iter().map(|it| Transaction::Deposit(Box::new(it)));
        let orders = orders.into_iter().map(|it| Transaction::Exchange(Box::new(it)));
        let mut rows: Vec<Transaction> = deposits.chain(orders).collect();
        rows.sort_by_key(|it| order.iter().position(|(_, id)| *id == it.id()));
        Ok(rows)
    }
}

impl Transaction {
    /// The id of the deposit or order.
    pub fn id(&self) -> uuid::Uuid {
        match self {
            Transaction::Deposit(deposit) => deposit.id.0,
            Transaction::Exchange(order) => order.id.0,
        }
    }
}
