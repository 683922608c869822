//! The store's own key: that of the id permutation, made at the first migration and sealed like everything secret.

use domain::ids::TenantId;
use uuid::Uuid;

use crate::driver::Step;
use crate::error::{DbError, StoreError};
use crate::sealed::Place;
use crate::sql::Stmt;
use crate::store::Store;

const ID_KEY: &str = "ids";

static PUT: Stmt =
    Stmt::written("store_key.put", "INSERT INTO store_key (name, sealed) VALUES ($1, $2) ON CONFLICT DO NOTHING");
static GET: Stmt = Stmt::written("store_key.get", "SELECT sealed FROM store_key WHERE name = $1");

pub(crate) static STATEMENTS: &[&Stmt] = &[&PUT, &GET];

/// It belongs to no tenant.
const PLACE: Place<'static> = Place { tenant: TenantId(Uuid::nil()), column: "store_key.sealed", row: b"ids" };

/// Makes the key where there is none.
pub(crate) async fn make_id_key(store: &Store) -> Result<(), StoreError> {
    let mut key = [0_u8; 16];
    store.options().entropy.fill(&mut key);
    let sealed = store.vault().seal(PLACE, &key);
    store.write(vec![Step::any(&PUT, vec![ID_KEY.into(), sealed.into()])]).await.map(drop)
}

/// Reads the key.
pub(crate) async fn id_key(store: &Store) -> Result<[u8; 16], StoreError> {
    let rows = match store.driver().query(&GET, vec![ID_KEY.into()]).await {
        Err(DbError::Refused(_)) => return Err(StoreError::Schema("the database has not been migrated".to_owned())),
        other => other?,
    };
    let row = rows.first().ok_or_else(|| StoreError::Schema("the database has not been migrated".to_owned()))?;
    let plain = store.vault().open(PLACE, row.fields().bytes()?)?;
    <[u8; 16]>::try_from(plain.as_slice()).map_err(|_| StoreError::Corrupt("store_key.sealed is no id key".to_owned()))
}
