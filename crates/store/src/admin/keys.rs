//! The store's own keys, sealed like all secrets: the key of the id permutation, created by the
//! first migration, and the key that signs the audit log, created on first use.

use domain::ids::TenantId;
use uuid::Uuid;
use zeroize::Zeroizing;

use crate::driver::Step;
use crate::error::{DbError, StoreError};
use crate::sealed::Place;
use crate::sql::Stmt;
use crate::store::Store;

const ID_KEY: &str = "ids";
const AUDIT_KEY: &str = "audit";

static PUT: Stmt = Stmt::written(
    "store_key.put",
    "INSERT INTO store_key (name, sealed) VALUES ($1, $2) ON CONFLICT DO NOTHING",
);
static GET: Stmt = Stmt::written("store_key.get", "SELECT sealed FROM store_key WHERE name = $1");

pub(crate) static STATEMENTS: &[&Stmt] = &[&PUT, &GET];

/// Keys belong to no tenant.
const fn place(name: &str) -> Place<'_> {
    Place { tenant: TenantId(Uuid::nil()), column: "store_key.sealed", row: name.as_bytes() }
}

/// Creates a key unless it exists.
async fn make<const BYTES: usize>(store: &Store, name: &str) -> Result<(), StoreError> {
    let mut key = Zeroizing::new([0_u8; BYTES]);
    store.options().entropy.fill(&mut key[..]);
    let sealed = store.vault().seal(place(name), &key[..]);
    store.write(vec![Step::any(&PUT, vec![name.into(), sealed.into()])]).await.map(drop)
}

fn open<const BYTES: usize>(
    store: &Store,
    name: &str,
    sealed: &[u8],
) -> Result<[u8; BYTES], StoreError> {
    let plain = store.vault().open(place(name), sealed)?;
    plain
        .as_slice()
        .try_into()
        .map_err(|_| StoreError::Corrupt(format!("store_key.sealed is not a valid key {name}")))
}

/// Creates the key of the id permutation unless it exists.
pub(crate) async fn make_id_key(store: &Store) -> Result<(), StoreError> {
    make::<16>(store, ID_KEY).await
}

/// Whether there is a key of the id permutation, readable or not.
pub(crate) async fn has_id_key(store: &Store) -> Result<bool, StoreError> {
    match store.driver().query(&GET, vec![ID_KEY.into()]).await {
        // The first migration makes the table.
        Err(DbError::Absent(_)) => Ok(false),
        rows => Ok(!rows?.is_empty()),
    }
}

/// Reads the key of the id permutation.
pub(crate) async fn id_key(store: &Store) -> Result<[u8; 16], StoreError> {
    let rows = match store.driver().query(&GET, vec![ID_KEY.into()]).await {
        Err(DbError::Absent(_)) => {
            return Err(StoreError::Schema(
                "the database has not been migrated: run corridor migrate".to_owned(),
            ));
        }
        other => other?,
    };
    let row = rows.first().ok_or_else(|| {
        StoreError::Schema("the database has not been migrated: run corridor migrate".to_owned())
    })?;
    open(store, ID_KEY, row.fields().bytes()?)
}

/// The key that signs the audit log, created if missing. The first one created stays.
pub(crate) async fn audit_key(store: &Store) -> Result<Zeroizing<[u8; 32]>, StoreError> {
    let mut rows = store.query(&GET, vec![AUDIT_KEY.into()]).await?;
    if rows.is_empty() {
        make::<32>(store, AUDIT_KEY).await?;
        rows = store.query(&GET, vec![AUDIT_KEY.into()]).await?;
    }
    let row =
        rows.first().ok_or_else(|| StoreError::Corrupt("a stored key is missing".to_owned()))?;
    open(store, AUDIT_KEY, row.fields().bytes()?).map(Zeroizing::new)
}
