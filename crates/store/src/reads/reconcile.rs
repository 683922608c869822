//! Booked balances of vaults next to the sums of their logs; an account's transfers by reason; and
//! the amounts that rails reported as paid. For reconciliation: the chain itself is queried
//! elsewhere.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use domain::chain::{Address, ChainNumber};
use domain::currency::{Currency, StableCoin};
use domain::ids::{PaymentRequestId, TenantId, WalletId};
use domain::ledger::{Account, AccountCode};
use domain::rail::RailId;
use uuid::Uuid as Id;

use super::page::most;
use crate::error::StoreError;
use crate::sql::Kind::{Bytes, Int, Text, Uuid};
use crate::sql::Stmt;
use crate::store::{Store, read};

static ACCOUNTS: Stmt = Stmt::written(
    "reconcile.accounts",
    "SELECT {{account a}} FROM account a WHERE a.tenant = $1 AND a.class = 'own' AND a.code > $2 \
     AND a.code NOT LIKE 'shortfall:%' ORDER BY a.code LIMIT $3",
);
static ESCROWS: Stmt = Stmt::by_keys(
    "reconcile.escrows",
    &[("tenant", Uuid), ("id", Uuid)],
    "SELECT r.id, r.escrow, r.chain FROM {{keys}} JOIN payment_request r ON r.tenant = k.tenant AND r.id = k.id",
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
    "SELECT w.id, w.address, w.chain FROM {{keys}} JOIN wallet w ON w.tenant = k.tenant AND w.id = k.id",
);
static LOGGED: Stmt = Stmt::by_keys(
    "reconcile.logged",
    &[("chain", Int), ("vault", Bytes), ("coin", Text)],
    "SELECT k.vault, k.coin, (SELECT CAST(COALESCE(SUM(l.amount), 0) AS BIGINT) FROM chain_log l \
     WHERE l.vault = k.vault AND l.coin = k.coin AND l.chain = k.chain) FROM {{keys}}",
);
// Only final transfers: a reservation moves nothing.
// Direct transfers to a wallet wait in suspense, while its vault already holds them.
static MOVING_IN: Stmt = Stmt::written(
    "reconcile.moving_in",
    "SELECT d.chain, d.wallet, d.request, d.coin, CASE WHEN d.state IN ('seen', 'suspended', 'refunding') THEN d.state \
     ELSE 'beside' END, CAST(SUM(d.amount) AS BIGINT) FROM deposit d WHERE d.tenant = $1 \
     AND (d.state IN ('seen', 'suspended', 'refunding') OR (d.pot = 'suspense' AND d.request IS NULL)) \
     GROUP BY 1, 2, 3, 4, 5",
);
static MOVING_BACK: Stmt = Stmt::written(
    "reconcile.moving_back",
    "SELECT e.chain, e.wallet, e.coin, CAST(SUM(e.amount) AS BIGINT) FROM exchange_order e \
     WHERE e.tenant = $1 AND e.state = 'returning' GROUP BY 1, 2, 3",
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
    &MOVING_IN,
    &MOVING_BACK,
    &NOSTROS,
    &SETTLED,
];

/// The booked balance of a vault in one coin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VaultBooks {
    pub chain: ChainNumber,
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
    pub chain: ChainNumber,
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
    pub async fn vault_books(
        &self,
        tenant: TenantId,
        after: Option<&AccountCode>,
        limit: usize,
    ) -> Result<Vec<VaultBooks>, StoreError> {
        let after = after.map_or_else(String::new, AccountCode::to_string);
        let found: Vec<Account> = self.many(&ACCOUNTS, (tenant, &after, most(limit))).await?;
        let vaults = found.into_iter().filter_map(|account| Some((vault(&account.code)?, account)));
        let accounts: Vec<((bool, Id, StableCoin), Account)> = vaults.collect();
        // A vault of several coins has several accounts.
        let ids = |escrows: bool| -> BTreeSet<(TenantId, Id)> {
            let of_kind = accounts.iter().filter(|((escrow, ..), _)| *escrow == escrows);
            of_kind.map(|((_, id, _), _)| (tenant, *id)).collect()
        };
        let mut others: HashMap<Id, Vec<Address>> = HashMap::new();
        let submissions: Vec<(Id, Address)> =
            self.many_by(&SUBMISSIONS, ids(true).into_iter()).await?;
        for (request, address) in submissions {
            others.entry(request).or_default().push(address);
        }
        type Row = (Id, Address, ChainNumber);
        let mut found: Vec<Row> = self.many_by(&WALLETS, ids(false).into_iter()).await?;
        found.extend(self.many_by::<Row>(&ESCROWS, ids(true).into_iter()).await?);
        let addresses: HashMap<Id, (Address, ChainNumber)> =
            found.into_iter().map(|(id, address, chain)| (id, (address, chain))).collect();
        let mut vaults = Vec::with_capacity(accounts.len());
        for ((_, id, coin), account) in accounts {
            let address = addresses.get(&id).copied();
            let (address, chain) = address.ok_or_else(|| {
                StoreError::Corrupt(format!("{} belongs to no vault", account.code))
            })?;
            let others = others.get(&id).cloned().unwrap_or_default();
            vaults.push(VaultBooks { chain, address, others, coin, account, logged: 0 });
        }
        self.add_logged(&mut vaults).await?;
        Ok(vaults)
    }

    async fn add_logged(&self, vaults: &mut [VaultBooks]) -> Result<(), StoreError> {
        let mut logged = HashMap::new();
        for chain in vaults.iter().map(|it| it.chain).collect::<BTreeSet<_>>() {
            let of_chain = vaults.iter().filter(|it| it.chain == chain);
            let wanted: Vec<(Address, StableCoin)> =
                of_chain.flat_map(|it| it.all().map(|address| (address, it.coin))).collect();
            logged.extend(self.logged_of(chain, &wanted).await?);
        }
        for it in vaults {
            let sums = it.all().filter_map(|address| logged.get(&(address, it.coin)));
            it.logged = sums.sum();
        }
        Ok(())
    }

    /// The sums of vaults' logs on a chain in minor units, by vault and coin.
    pub async fn logged_of(
        &self,
        chain: ChainNumber,
        vaults: &[(Address, StableCoin)],
    ) -> Result<HashMap<(Address, StableCoin), i64>, StoreError> {
        if vaults.is_empty() {
            return Ok(HashMap::new());
        }
        let logged: Vec<((Address, StableCoin), i64)> =
            self.many_by(&LOGGED, vaults.iter().map(|(vault, of)| (chain, vault, *of))).await?;
        Ok(logged.into_iter().collect())
    }

    /// The sum of a vault's logs, or of a controller's payments to a treasury, in minor units.
    pub async fn logged(
        &self,
        chain: ChainNumber,
        vault: Address,
        of: StableCoin,
    ) -> Result<i64, StoreError> {
        let logged = self.logged_of(chain, &[(vault, of)]).await?;
        Ok(logged.get(&(vault, of)).copied().unwrap_or_default())
    }

    /// Coins on which chain and books may currently differ. Reads all deposits and orders of the
    /// tenant.
    pub async fn moving(&self, tenant: TenantId) -> Result<Vec<Moving>, StoreError> {
        let keys = self.id_keys().await?;
        let params = || vec![tenant.0.into()];
        let answers =
            self.driver().snapshot(vec![(&MOVING_IN, params()), (&MOVING_BACK, params())]).await?;
        let [deposits, orders] = answers.as_slice() else {
            return Err(StoreError::Corrupt("expected two results".to_owned()));
        };
        let mut found = Vec::new();
        type Row = (ChainNumber, WalletId, Option<PaymentRequestId>, StableCoin, String, i64);
        let deposits: Vec<Row> = read(deposits, &keys)?;
        for (chain, wallet, request, coin, kind, minor) in deposits {
            let kind = match kind.as_str() {
                "refunding" => MovingKind::Refunding,
                "beside" => MovingKind::Beside,
                _ => MovingKind::Arriving,
            };
            let account = request.map_or(AccountCode::Wallet(wallet, coin), |request| {
                AccountCode::Escrow(request, coin)
            });
            found.push(Moving { chain, account, kind, minor });
        }
        let orders: Vec<(ChainNumber, WalletId, StableCoin, i64)> = read(orders, &keys)?;
        for (chain, wallet, coin, minor) in orders {
            let account = AccountCode::Wallet(wallet, coin);
            found.push(Moving { chain, account, kind: MovingKind::Returning, minor });
        }
        Ok(found)
    }

    /// The amount that each rail reported as paid for a tenant, next to our account at its bank, as
    /// of one instant. Reads all attempts of the tenant.
    pub async fn rail_books(&self, tenant: TenantId) -> Result<Vec<RailBooks>, StoreError> {
        let params = || vec![tenant.0.into()];
        let answers =
            self.driver().snapshot(vec![(&NOSTROS, params()), (&SETTLED, params())]).await?;
        let [nostros, settled] = answers.as_slice() else {
            return Err(StoreError::Corrupt("expected two results".to_owned()));
        };
        let keys = self.id_keys().await?;
        let nostros = read(nostros, &keys)?.into_iter();
        let mut books: BTreeMap<AccountCode, RailBooks> = nostros
            .map(|account: Account| (account.code.clone(), RailBooks { account, settled: 0 }))
            .collect();
        let sums: Vec<(RailId, Currency, i64)> = read(settled, &keys)?;
        for (rail, currency, sum) in sums {
            let code = AccountCode::Nostro(rail, currency);
            let empty = || RailBooks { account: Account::empty(tenant, code.clone()), settled: 0 };
            books.entry(code.clone()).or_insert_with(empty).settled = sum;
        }
        Ok(books.into_values().collect())
    }
}
