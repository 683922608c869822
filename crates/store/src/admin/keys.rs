//! The store's own keys, sealed like all secrets: the key of the id permutation, created by the
//! first migration, and the key that signs the audit log, created on first use.

use std::collections::BTreeMap;

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

/// By kind and id of the key-encryption key: what is in use, and the newest answer. `substr` reads the
/// id (see `sealed`).
static SEALED: Stmt = Stmt::written(
    "store_key.sealed_kinds",
    "SELECT kind, key_id, COUNT(*), MAX(at) FROM ( \
       SELECT 'access keys' AS kind, substr(secrets, 2, 4) AS key_id, created_at AS at FROM access_key \
         WHERE revoked_at IS NULL \
       UNION ALL SELECT 'webhook endpoints', substr(secrets, 2, 4), created_at FROM webhook_endpoint \
         WHERE disabled_at IS NULL \
       UNION ALL SELECT 'one-time codes of console users', substr(totp, 2, 4), created_at FROM console_user \
         WHERE totp IS NOT NULL AND disabled_at IS NULL \
       UNION ALL SELECT 'kept answers', substr(answer, 2, 4), at FROM \
         (SELECT answer, at FROM kept_answer ORDER BY at DESC LIMIT 1) newest \
     ) sealed GROUP BY kind, key_id ORDER BY kind, key_id",
);

pub(crate) static STATEMENTS: &[&Stmt] = &[&PUT, &GET, &SEALED];

/// Values of a kind that are sealed with a key-encryption key that is not configured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unopenable {
    /// As in `access keys`.
    pub kind: String,
    pub count: i64,
    /// Whether the newest of them is one: it was sealed with a newer key than those configured.
    pub is_newest: bool,
}

impl std::fmt::Display for Unopenable {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{} {}", self.count, self.kind)
    }
}

/// What the configured key-encryption keys do not open, by kind.
pub(crate) async fn unopenable(store: &Store) -> Result<Vec<Unopenable>, StoreError> {
    let rows = store.query(&SEALED, Vec::new()).await?;
    let mut kinds: BTreeMap<String, (i64, i64, i64)> = BTreeMap::new();
    for row in &rows {
        let mut fields = row.fields();
        let (kind, is_known) = (fields.text()?.to_owned(), store.vault().knows(fields.bytes()?));
        let (count, at) = (fields.int()?, fields.int()?);
        let (unknown, newest, newest_unknown) =
            kinds.entry(kind).or_insert((0, i64::MIN, i64::MIN));
        *newest = at.max(*newest);
        if !is_known {
            *unknown += count;
            *newest_unknown = at.max(*newest_unknown);
        }
    }
    let unopenable = kinds.into_iter().map(|(kind, (count, newest, newest_unknown))| Unopenable {
        kind,
        count,
        is_newest: newest_unknown == newest,
    });
    Ok(unopenable.filter(|it| it.count > 0).collect())
}

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
