//! The store's own keys, sealed like all secrets: the key of the id permutation, created by the
//! first migration, and the key that signs the audit log, created on first use.

use domain::hex::hex;
use domain::ids::TenantId;
use uuid::Uuid;
use zeroize::Zeroizing;

use crate::driver::Step;
use crate::error::{DbError, StoreError};
use crate::sealed::AssociatedData;
use crate::sql::Stmt;
use crate::store::Store;

const ID_KEY: &str = "ids";
const AUDIT_KEY: &str = "audit";

static PUT: Stmt = Stmt::written(
    "store_key.put",
    "INSERT INTO store_key (name, sealed) VALUES ($1, $2) ON CONFLICT DO NOTHING",
);
static GET: Stmt = Stmt::written("store_key.get", "SELECT sealed FROM store_key WHERE name = $1");

/// What is in use, by kind and id of the key-encryption key. `substr` reads the id (see `sealed`).
static SEALED: Stmt = Stmt::written(
    "store_key.sealed_kinds",
    "SELECT kind, key_id, COUNT(*) FROM ( \
       SELECT 'access keys' AS kind, substr(secrets, 2, 4) AS key_id FROM access_key \
         WHERE revoked_at IS NULL \
       UNION ALL SELECT 'webhook endpoints', substr(secrets, 2, 4) FROM webhook_endpoint \
         WHERE disabled_at IS NULL \
       UNION ALL SELECT 'one-time codes of console users', substr(totp, 2, 4) FROM console_user \
         WHERE totp IS NOT NULL AND disabled_at IS NULL \
     ) sealed GROUP BY kind, key_id ORDER BY kind, key_id",
);
/// The oldest and the newest row of each tenant: keys follow each other, and these tables are too large
/// to be read whole. Each is one step in the index of a primary key. Deliveries and answers kept for
/// repeated requests are left out: they are removed after days.
macro_rules! ends {
    ($(($kind:literal, $table:literal, $key:literal, $sealed:literal))+) => {
        concat!(
            "SELECT kind, key_id FROM (SELECT '' AS kind, NULL AS key_id",
            $(
                " UNION ALL SELECT '", $kind, "', (SELECT substr(", $sealed, ", 2, 4) FROM ", $table,
                " it WHERE it.tenant = tenant.id ORDER BY it.", $key, " LIMIT 1) FROM tenant",
                " UNION ALL SELECT '", $kind, "', (SELECT substr(", $sealed, ", 2, 4) FROM ", $table,
                " it WHERE it.tenant = tenant.id ORDER BY it.", $key, " DESC LIMIT 1) FROM tenant",
            )+
            ") sampled WHERE key_id IS NOT NULL GROUP BY kind, key_id ORDER BY kind, key_id"
        )
    };
}
static SEALED_DOCUMENTS: Stmt = Stmt::written(
    "store_key.sealed_documents",
    ends! {
        ("payment orders", "payment_order", "payment", "document")
        ("wallets", "wallet", "id", "document")
        ("payment requests", "payment_request", "id", "document")
        ("deposits", "deposit", "id", "document")
        ("exchange orders", "exchange_order", "id", "document")
        ("chain intents", "chain_intent", "id", "document")
        ("chain transactions", "chain_tx", "id", "document")
        ("wallet events", "wallet_event", "seq", "document")
        ("approvals", "approval", "id", "document")
        ("recalls", "recall", "id", "document")
        ("details of senders", "sender_info", "request", "document")
        ("refund addresses", "refund_address", "request", "document")
        ("notes of cases", "case_note", "subject", "body")
        ("files of cases", "case_file", "subject", "name")
    },
);
/// The access keys in use alone: their table is that of the first schema.
static SEALED_ACCESS: Stmt = Stmt::written(
    "store_key.sealed_access_keys",
    "SELECT substr(secrets, 2, 4), COUNT(*) FROM access_key WHERE revoked_at IS NULL GROUP BY 1",
);

pub(crate) static STATEMENTS: &[&Stmt] = &[&PUT, &GET, &SEALED, &SEALED_DOCUMENTS, &SEALED_ACCESS];

/// Values of a kind that are sealed with one key-encryption key, which is not configured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unopenable {
    /// As in `access keys`.
    pub kind: String,
    /// Id of the key-encryption key, in hexadecimal.
    pub key_id: String,
    /// `None` for kinds of which only the oldest and the newest of each tenant are looked at.
    pub count: Option<i64>,
}

impl std::fmt::Display for Unopenable {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Some(count) = self.count {
            write!(out, "{count} ")?;
        }
        write!(out, "{} (key-encryption key {})", self.kind, self.key_id)
    }
}

/// What is in use and not opened by the configured key-encryption keys: all secrets, and the documents
/// among the oldest and newest of each tenant.
pub(crate) async fn unopenable(store: &Store) -> Result<Vec<Unopenable>, StoreError> {
    let mut unopenable = Vec::new();
    for (stmt, is_counted) in [(&SEALED, true), (&SEALED_DOCUMENTS, false)] {
        for row in &store.query(stmt, Vec::new()).await? {
            let mut fields = row.fields();
            let (kind, key_id) = (fields.text()?.to_owned(), fields.bytes()?);
            if !store.vault().has_key(key_id) {
                let count = is_counted.then(|| fields.int()).transpose()?;
                unopenable.push(Unopenable { kind, key_id: hex(key_id), count });
            }
        }
    }
    Ok(unopenable)
}

/// The number of access keys in use, if the configured key-encryption keys open none of them;
/// otherwise 0, as before the first migration.
pub(crate) async fn locked_access_keys(store: &Store) -> Result<i64, StoreError> {
    let rows = match store.driver().query(&SEALED_ACCESS, Vec::new()).await {
        Err(DbError::Absent(_)) => return Ok(0),
        rows => rows?,
    };
    let mut locked = 0;
    for row in &rows {
        let mut fields = row.fields();
        if store.vault().has_key(fields.bytes()?) {
            return Ok(0);
        }
        locked += fields.int()?;
    }
    Ok(locked)
}

/// Keys belong to no tenant.
const fn place(name: &str) -> AssociatedData<'_> {
    AssociatedData {
        tenant: TenantId(Uuid::nil()),
        column: "store_key.sealed",
        row: name.as_bytes(),
    }
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
