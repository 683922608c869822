//! What the books say that vaults hold, beside what the vaults' logs add up to; and what moved over an account, by
//! reason. For reconciliation: the chain itself is asked elsewhere.

use std::collections::HashMap;

use domain::chain::Address;
use domain::currency::StableCoin;
use domain::ids::TenantId;
use domain::ledger::{Account, AccountCode};
use uuid::Uuid as Id;

use super::page::most;
use crate::error::StoreError;
use crate::rows::{self, coin, fixed};
use crate::sql::Kind::{Bytes, Text, Uuid};
use crate::sql::{Columns, Row, Stmt};
use crate::store::Store;

static ACCOUNTS: Stmt = Stmt::written(
    "reconcile.accounts",
    "SELECT {{account a}} FROM account a WHERE a.tenant = $1 AND a.class = 'own' AND a.code > $2 \
     ORDER BY a.code LIMIT $3",
);
static ESCROWS: Stmt = Stmt::by_keys(
    "reconcile.escrows",
    &[("tenant", Uuid), ("id", Uuid)],
    "SELECT r.id, r.escrow FROM {{keys}} JOIN payment_request r ON r.tenant = k.tenant AND r.id = k.id",
);
static WALLETS: Stmt = Stmt::by_keys(
    "reconcile.wallets",
    &[("tenant", Uuid), ("id", Uuid)],
    "SELECT w.id, w.address FROM {{keys}} JOIN wallet w ON w.tenant = k.tenant AND w.id = k.id",
);
static LOGGED: Stmt = Stmt::by_keys(
    "reconcile.logged",
    &[("vault", Bytes), ("coin", Text)],
    "SELECT k.vault, k.coin, (SELECT CAST(COALESCE(SUM(l.amount), 0) AS BIGINT) FROM chain_log l \
     WHERE l.vault = k.vault AND l.coin = k.coin) FROM {{keys}}",
);
// Only what is final: a reservation moves nothing.
static BY_REASON: Stmt = Stmt::written(
    "reconcile.by_reason",
    "SELECT t.reason, CAST(SUM(CASE WHEN t.debit = $2 THEN t.amount ELSE 0 END) AS BIGINT), \
     CAST(SUM(CASE WHEN t.credit = $2 THEN t.amount ELSE 0 END) AS BIGINT) FROM transfer t \
     WHERE t.tenant = $1 AND (t.debit = $2 OR t.credit = $2) AND t.kind IN ('posted', 'post_pending') \
     GROUP BY t.reason ORDER BY t.reason",
);

pub(crate) static STATEMENTS: &[&Stmt] = &[&ACCOUNTS, &ESCROWS, &WALLETS, &LOGGED, &BY_REASON];

/// What a vault should hold of one coin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VaultBooks {
    /// Where it is.
    pub address: Address,
    /// Which coin.
    pub coin: StableCoin,
    /// What the books say. Between a transaction and the depth at which it counts they are behind the chain; what is
    /// reserved there is what may have moved already.
    pub account: Account,
    /// What the vault's logs add up to, in minor units.
    pub logged: i64,
}

/// What moved over an account for one reason, in minor units.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReasonSum {
    /// The transfers' reason.
    pub reason: String,
    /// What it took from the account.
    pub debited: i64,
    /// What it gave to the account.
    pub credited: i64,
}

/// The vault that an account stands for.
const fn vault(code: &AccountCode) -> Option<(bool, Id, StableCoin)> {
    match code {
        AccountCode::Escrow(request, coin) => Some((true, request.0, *coin)),
        AccountCode::Wallet(wallet, coin) => Some((false, wallet.0, *coin)),
        _ => None,
    }
}

impl Store {
    /// Vaults of a tenant that money has ever been booked for, by the codes of their accounts, behind that of `after`.
    ///
    /// # Errors
    /// The database cannot be reached, or a row is not readable.
    pub async fn vault_books(
        &self,
        tenant: TenantId,
        after: Option<&AccountCode>,
        limit: usize,
    ) -> Result<Vec<VaultBooks>, StoreError> {
        let keys = self.id_keys().await?;
        let after = after.map_or_else(String::new, AccountCode::to_string);
        let rows = self.query(&ACCOUNTS, vec![tenant.0.into(), after.into(), most(limit)]).await?;
        let mut accounts = Vec::with_capacity(rows.len());
        let mut wanted = [false, true].map(|_| Columns::new([Uuid, Uuid].into_iter(), 0));
        for row in &rows {
            let account = rows::ledger::read_account(&mut row.fields())?;
            let Some((escrow, id, coin)) = vault(&account.code) else { continue };
            wanted[usize::from(escrow)].uuid(tenant.0).uuid(keys.stored(id));
            accounts.push((id, coin, account));
        }
        let [wallets, escrows] = wanted;
        let mut addresses = HashMap::new();
        for row in self.query_keys(&WALLETS, wallets).await?.iter().chain(&self.query_keys(&ESCROWS, escrows).await?) {
            let mut fields = row.fields();
            addresses.insert(keys.public(fields.uuid()?), Address(fixed(&mut fields)?));
        }
        let mut vaults = Vec::with_capacity(accounts.len());
        for (id, coin, account) in accounts {
            let address = addresses.get(&id).copied();
            let address =
                address.ok_or_else(|| StoreError::Corrupt(format!("{} is the account of nothing", account.code)))?;
            vaults.push(VaultBooks { address, coin, account, logged: 0 });
        }
        self.add_logged(&mut vaults).await?;
        Ok(vaults)
    }

    async fn add_logged(&self, vaults: &mut [VaultBooks]) -> Result<(), StoreError> {
        let mut columns = Columns::new([Bytes, Text].into_iter(), vaults.len());
        for it in vaults.iter() {
            columns.bytes(it.address.0.to_vec()).text(it.coin.currency().code());
        }
        let mut logged = HashMap::new();
        for row in &self.query_keys(&LOGGED, columns).await? {
            let mut fields = row.fields();
            logged.insert((Address(fixed(&mut fields)?), coin(&mut fields)?), fields.int()?);
        }
        for it in vaults {
            it.logged = logged.get(&(it.address, it.coin)).copied().unwrap_or(0);
        }
        Ok(())
    }

    /// What finally moved over an account, by reason. Reads all transfers of the tenant.
    ///
    /// # Errors
    /// The database cannot be reached.
    pub async fn sums_by_reason(&self, tenant: TenantId, account: &AccountCode) -> Result<Vec<ReasonSum>, StoreError> {
        let params = vec![tenant.0.into(), account.to_string().into()];
        let answers = self.driver().snapshot(vec![(&BY_REASON, params)]).await?;
        let sum = |row: &Row| {
            let mut fields = row.fields();
            let reason = fields.text()?.to_owned();
            Ok(ReasonSum { reason, debited: fields.int()?, credited: fields.int()? })
        };
        answers.iter().flatten().map(sum).collect()
    }
}
