//! Wallets, their balances, and their history.

use domain::currency::StableCoin;
use domain::deposit::{Deposit, DepositKind};
use domain::exchange::ExchangeOrder;
use domain::ids::{TenantId, WalletId};
use domain::ledger::{Account, AccountCode};
use domain::wallet::Wallet;

use super::page::{Listed, Page, total};
use crate::error::StoreError;
use crate::rows;
use crate::sql::Kind::Uuid;
use crate::sql::{Columns, Stmt, Value};
use crate::store::Store;

static ONE: Stmt = Stmt::written(
    "wallet.one",
    "SELECT {{wallet w}} FROM wallet w WHERE w.tenant = $1 AND w.id = $2",
);
static OF_CUSTOMER: Stmt = Stmt::written(
    "wallet.of_customer",
    "SELECT {{wallet w}} FROM wallet w WHERE w.customer_id = $2 AND w.blockchain = $3 AND w.tenant = $1",
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

pub(crate) static STATEMENTS: &[&Stmt] =
    &[&ONE, &OF_CUSTOMER, &ACCOUNTS, &TRANSACTIONS, &TRANSACTIONS_TOTAL, &DEPOSITS, &EXCHANGES];

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
    /// A wallet.
    ///
    /// # Errors
    /// The database cannot be reached, or the row is not readable. The same for every read here.
    pub async fn wallet(
        &self,
        tenant: TenantId,
        id: WalletId,
    ) -> Result<Option<Wallet>, StoreError> {
        let keys = self.id_keys().await?;
        let rows = self.query(&ONE, vec![tenant.0.into(), keys.stored(id.0).into()]).await?;
        rows.first().map(|row| rows::wallet::read(&mut row.fields(), &keys)).transpose()
    }

    /// The wallet of a customer on a chain.
    ///
    /// # Errors
    /// As [`Store::wallet`].
    pub async fn wallet_of_customer(
        &self,
        tenant: TenantId,
        customer_id: &str,
        blockchain: &str,
    ) -> Result<Option<Wallet>, StoreError> {
        let keys = self.id_keys().await?;
        let rows = self
            .query(&OF_CUSTOMER, vec![tenant.0.into(), customer_id.into(), blockchain.into()])
            .await?;
        rows.first().map(|row| rows::wallet::read(&mut row.fields(), &keys)).transpose()
    }

    /// A wallet's balances: one account per coin, in the coins' order; empty before the first
    /// booking.
    ///
    /// # Errors
    /// As [`Store::wallet`].
    pub async fn wallet_accounts(
        &self,
        tenant: TenantId,
        wallet: WalletId,
    ) -> Result<[Account; 2], StoreError> {
        let codes = StableCoin::ALL.map(|coin| AccountCode::Wallet(wallet, coin));
        let [one, two] = codes.each_ref().map(|code| Value::from(code.to_string()));
        let rows = self.query(&ACCOUNTS, vec![tenant.0.into(), one, two]).await?;
        let mut accounts = codes.map(|code| Account::empty(tenant, code));
        for row in &rows {
            let found = rows::ledger::read_account(&mut row.fields())?;
            if let Some(account) = accounts.iter_mut().find(|account| account.code == found.code) {
                *account = found;
            }
        }
        Ok(accounts)
    }

    /// A page of a wallet's history, newest first: deposits by when they were seen, orders by when
    /// they were created.
    ///
    /// # Errors
    /// As [`Store::wallet`].
    pub async fn transactions(
        &self,
        tenant: TenantId,
        wallet: WalletId,
        kind: Option<TransactionKind>,
        page: Page,
    ) -> Result<Listed<Transaction>, StoreError> {
        let keys = self.id_keys().await?;
        let params = vec![tenant.0.into(), keys.stored(wallet.0).into(), kinds(kind)];
        let total = total(&self.query(&TRANSACTIONS_TOTAL, params.clone()).await?)?;
        let rows = self.query(&TRANSACTIONS, [params, page.params().into()].concat()).await?;
        let mut order = Vec::with_capacity(rows.len());
        let mut wanted = [true, false].map(|_| Columns::new([Uuid, Uuid].into_iter(), 0));
        for row in &rows {
            let mut fields = row.fields();
            let (exchange, stored) = (fields.flag()?, fields.uuid()?);
            wanted[usize::from(exchange)].uuid(tenant.0).uuid(stored);
            order.push(keys.public(stored));
        }
        let [deposits, exchanges] = wanted;
        let mut found = Vec::with_capacity(order.len());
        for row in &self.query_keys(&DEPOSITS, deposits).await? {
            found.push(Transaction::Deposit(Box::new(rows::deposit::read(
                &mut row.fields(),
                &keys,
            )?)));
        }
        for row in &self.query_keys(&EXCHANGES, exchanges).await? {
            found.push(Transaction::Exchange(Box::new(rows::exchange::read(
                &mut row.fields(),
                &keys,
            )?)));
        }
        found.sort_by_key(|it| order.iter().position(|id| *id == it.id()));
        Ok(Listed { rows: found, total })
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
