//! Booked balances of vaults next to the sums of their logs; an account's transfers by reason; and
//! the amounts that rails reported as paid. For reconciliation: the chain itself is queried
//! elsewhere.

use std::collections::{BTreeMap, HashMap};

use domain::chain::Address;
use domain::currency::StableCoin;
use domain::ids::{PaymentRequestId, TenantId, WalletId};
use domain::ledger::{Account, AccountCode};
use domain::rail::RailId;
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
static SUBMISSIONS: Stmt = Stmt::by_keys(
    "reconcile.submissions",
    &[("tenant", Uuid), ("id", Uuid)],
    "SELECT v.request, v.address FROM {{keys}} JOIN watched_address v ON v.request = k.id AND v.tenant = k.tenant \
     WHERE v.submission IS NOT NULL ORDER BY v.request, v.submission",
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
// Only final transfers: a reservation moves nothing.
static BY_REASON: Stmt = Stmt::written(
    "reconcile.by_reason",
    "SELECT t.reason, CAST(SUM(CASE WHEN t.debit = $2 THEN t.amount ELSE 0 END) AS BIGINT), \
     CAST(SUM(CASE WHEN t.credit = $2 THEN t.amount ELSE 0 END) AS BIGINT) FROM transfer t \
     WHERE t.tenant = $1 AND (t.debit = $2 OR t.credit = $2) AND t.kind IN ('posted', 'post_pending') \
     GROUP BY t.reason ORDER BY t.reason",
);
// Direct transfers to a wallet wait in suspense, while its vault already holds them.
static MOVING_IN: Stmt = Stmt::written(
    "reconcile.moving_in",
    "SELECT d.wallet, d.request, d.coin, CASE WHEN d.state IN ('seen', 'suspended', 'refunding') THEN d.state \
     ELSE 'beside' END, CAST(SUM(d.amount) AS BIGINT) FROM deposit d WHERE d.tenant = $1 \
     AND (d.state IN ('seen', 'suspended', 'refunding') OR (d.pot = 'suspense' AND d.request IS NULL)) \
     GROUP BY 1, 2, 3, 4",
);
static MOVING_BACK: Stmt = Stmt::written(
    "reconcile.moving_back",
    "SELECT e.wallet, e.coin, CAST(SUM(e.amount) AS BIGINT) FROM exchange_order e \
     WHERE e.tenant = $1 AND e.state = 'returning' GROUP BY 1, 2",
);
static NOSTROS: Stmt = Stmt::written(
    "reconcile.nostros",
    "SELECT {{account a}} FROM account a WHERE a.tenant = $1 AND a.code LIKE 'nostro:%' ORDER BY a.code",
);
static SETTLED: Stmt = Stmt::written(
    "reconcile.settled",
    "SELECT a.rail, a.currency, CAST(SUM(CASE WHEN a.state = 'settled' THEN a.amount ELSE 0 END + a.charges) AS BIGINT) \
     FROM attempt a WHERE a.tenant = $1 AND (a.state = 'settled' OR a.charges > 0) GROUP BY 1, 2",
);

pub(crate) static STATEMENTS: &[&Stmt] = &[
    &ACCOUNTS,
    &ESCROWS,
    &SUBMISSIONS,
    &WALLETS,
    &LOGGED,
    &BY_REASON,
    &MOVING_IN,
    &MOVING_BACK,
    &NOSTROS,
    &SETTLED,
];

/// The booked balance of a vault in one coin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VaultBooks {
    pub address: Address,
    /// The escrows of a payment request's submissions: its account covers all of them.
    pub others: Vec<Address>,
    pub coin: StableCoin,
    /// The account. Between a transaction and the depth at which it counts, the books are behind
    /// the chain; reserved amounts may have moved already.
    pub account: Account,
    /// The sum of all these vaults' logs, in minor units.
    pub logged: i64,
}

impl VaultBooks {
    /// Every vault that the account covers.
    pub fn all(&self) -> impl Iterator<Item = Address> + '_ {
        std::iter::once(self.address).chain(self.others.iter().copied())
    }
}

/// An account's transfers for one reason, in minor units.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReasonSum {
    pub reason: String,
    /// Amount debited, in minor units.
    pub debited: i64,
    /// Amount credited, in minor units.
    pub credited: i64,
}

/// Why a vault's on-chain balance may differ from its account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MovingKind {
    /// Sent directly to the wallet: the vault holds it, and the books keep it in suspense.
    Beside,
    /// On the chain and not booked yet, or reorganized away and possibly returning.
    Arriving,
    /// Possibly being refunded to the sender already.
    Refunding,
    /// Possibly being returned by the controller already.
    Returning,
}

/// Coins of one vault on which chain and books may differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moving {
    /// The account of the vault that holds or held them.
    pub account: AccountCode,
    pub kind: MovingKind,
    /// Amount in minor units.
    pub minor: i64,
}

/// The amount that a rail reported as paid, next to our account at its bank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RailBooks {
    /// The account; zero if it has no bookings.
    pub account: Account,
    /// The amount that the rail reported as paid and not returned, in minor units.
    pub settled: i64,
}

/// The vault of an account.
const fn vault(code: &AccountCode) -> Option<(bool, Id, StableCoin)> {
    match code {
        AccountCode::Escrow(request, coin) => Some((true, request.0, *coin)),
        AccountCode::Wallet(wallet, coin) => Some((false, wallet.0, *coin)),
        _ => None,
    }
}

impl Store {
    /// A tenant's vaults with bookings, by their account codes, after that of `after`.
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
        let mut others: HashMap<Id, Vec<Address>> = HashMap::new();
        for row in &self.query_keys(&SUBMISSIONS, escrows.clone()).await? {
            let mut fields = row.fields();
            others
                .entry(keys.public(fields.uuid()?))
                .or_default()
                .push(Address(fixed(&mut fields)?));
        }
        let mut addresses = HashMap::new();
        for row in self
            .query_keys(&WALLETS, wallets)
            .await?
            .iter()
            .chain(&self.query_keys(&ESCROWS, escrows).await?)
        {
            let mut fields = row.fields();
            addresses.insert(keys.public(fields.uuid()?), Address(fixed(&mut fields)?));
        }
        let mut vaults = Vec::with_capacity(accounts.len());
        for (id, coin, account) in accounts {
            let address = addresses.get(&id).copied();
            let address = address.ok_or_else(|| {
                StoreError::Corrupt(format!("{} belongs to no vault", account.code))
            })?;
            let others = others.get(&id).cloned().unwrap_or_default();
            vaults.push(VaultBooks { address, others, coin, account, logged: 0 });
        }
        self.add_logged(&mut vaults).await?;
        Ok(vaults)
    }

    async fn add_logged(&self, vaults: &mut [VaultBooks]) -> Result<(), StoreError> {
        let wanted: Vec<(Address, StableCoin)> =
            vaults.iter().flat_map(|it| it.all().map(|address| (address, it.coin))).collect();
        let logged = self.logged_of(&wanted).await?;
        for it in vaults {
            let sums = it.all().filter_map(|address| logged.get(&(address, it.coin)));
            it.logged = sums.sum();
        }
        Ok(())
    }

    /// The sums of vaults' logs in minor units, by vault and coin.
    ///
    /// # Errors
    /// The database cannot be reached.
    pub async fn logged_of(
        &self,
        vaults: &[(Address, StableCoin)],
    ) -> Result<HashMap<(Address, StableCoin), i64>, StoreError> {
        let mut columns = Columns::new([Bytes, Text].into_iter(), vaults.len());
        for (vault, of) in vaults {
            columns.bytes(vault.0.to_vec()).text(of.currency().code());
        }
        let mut logged = HashMap::with_capacity(vaults.len());
        if vaults.is_empty() {
            return Ok(logged);
        }
        for row in &self.query_keys(&LOGGED, columns).await? {
            let mut fields = row.fields();
            logged.insert((Address(fixed(&mut fields)?), coin(&mut fields)?), fields.int()?);
        }
        Ok(logged)
    }

    /// The sum of a vault's logs, or of a controller's payments to a treasury, in minor units.
    ///
    /// # Errors
    /// The database cannot be reached.
    pub async fn logged(&self, vault: Address, of: StableCoin) -> Result<i64, StoreError> {
        let mut columns = Columns::new([Bytes, Text].into_iter(), 1);
        columns.bytes(vault.0.to_vec()).text(of.currency().code());
        let rows = self.query_keys(&LOGGED, columns).await?;
        let Some(row) = rows.first() else { return Ok(0) };
        let mut fields = row.fields();
        fields.skip(2);
        fields.int()
    }

    /// Coins on which chain and books may currently differ. Reads all deposits and orders of the
    /// tenant.
    ///
    /// # Errors
    /// The database cannot be reached, or a row is not readable.
    pub async fn moving(&self, tenant: TenantId) -> Result<Vec<Moving>, StoreError> {
        let keys = self.id_keys().await?;
        let params = || vec![tenant.0.into()];
        let answers =
            self.driver().snapshot(vec![(&MOVING_IN, params()), (&MOVING_BACK, params())]).await?;
        let [deposits, orders] = answers.as_slice() else {
            return Err(StoreError::Corrupt("expected two results".to_owned()));
        };
        let mut found = Vec::new();
        for row in deposits {
            let mut fields = row.fields();
            let wallet = WalletId(keys.public(fields.uuid()?));
            let request = fields.opt_uuid()?.map(|request| PaymentRequestId(keys.public(request)));
            let coin = coin(&mut fields)?;
            let kind = match fields.text()? {
                "refunding" => MovingKind::Refunding,
                "beside" => MovingKind::Beside,
                _ => MovingKind::Arriving,
            };
            let account = request.map_or(AccountCode::Wallet(wallet, coin), |request| {
                AccountCode::Escrow(request, coin)
            });
            found.push(Moving { account, kind, minor: fields.int()? });
        }
        for row in orders {
            let mut fields = row.fields();
            let wallet = WalletId(keys.public(fields.uuid()?));
            let account = AccountCode::Wallet(wallet, coin(&mut fields)?);
            found.push(Moving { account, kind: MovingKind::Returning, minor: fields.int()? });
        }
        Ok(found)
    }

    /// The amount that each rail reported as paid for a tenant, next to our account at its bank, as
    /// of one instant. Reads all attempts of the tenant.
    ///
    /// # Errors
    /// The database cannot be reached, or a row is not readable.
    pub async fn rail_books(&self, tenant: TenantId) -> Result<Vec<RailBooks>, StoreError> {
        let params = || vec![tenant.0.into()];
        let answers =
            self.driver().snapshot(vec![(&NOSTROS, params()), (&SETTLED, params())]).await?;
        let [nostros, settled] = answers.as_slice() else {
            return Err(StoreError::Corrupt("expected two results".to_owned()));
        };
        let mut books = BTreeMap::new();
        for row in nostros {
            let account = rows::ledger::read_account(&mut row.fields())?;
            books.insert(account.code.clone(), RailBooks { account, settled: 0 });
        }
        for row in settled {
            let mut fields = row.fields();
            let rail = RailId::new(fields.text()?);
            let code = AccountCode::Nostro(rail, rows::currency(&mut fields)?);
            let empty = || RailBooks { account: Account::empty(tenant, code.clone()), settled: 0 };
            books.entry(code.clone()).or_insert_with(empty).settled = fields.int()?;
        }
        Ok(books.into_values().collect())
    }

    /// Final transfers of an account, summed up by reason. Reads all transfers of the tenant.
    ///
    /// # Errors
    /// The database cannot be reached.
    pub async fn sums_by_reason(
        &self,
        tenant: TenantId,
        account: &AccountCode,
    ) -> Result<Vec<ReasonSum>, StoreError> {
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
