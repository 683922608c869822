//! Access keys and their secrets. Secrets are sealed, exposed only to the code that checks
//! signatures, and overlap during a rotation.

use std::fmt;

use domain::audit::{AuditContext, Facts, Note};
use domain::ids::TenantId;
use domain::time::{Span, Timestamp};
use secrecy::SecretString;

use super::secrets::{self, KeySecret};
use crate::driver::Step;
use crate::error::StoreError;
use crate::rows::Keys;
use crate::rows::column::Made;
use crate::rows::record::{record, whole_rows};
use crate::sealed::AssociatedData;
use crate::sql::Stmt;
use crate::store::Store;

static INSERT: Stmt = Stmt::insert("access_key.insert", &ACCESS_KEY);
static ONE: Stmt = Stmt::written(
    "access_key.one",
    "SELECT {{access_key a}} FROM access_key a WHERE a.access_key = $1",
);
static OF_TENANT: Stmt = Stmt::written(
    "access_key.of_tenant",
    "SELECT {{access_key a}} FROM access_key a WHERE a.tenant = $1 ORDER BY a.created_at, a.access_key",
);
static SET_SECRETS: Stmt = Stmt::written(
    "access_key.set_secrets",
    "UPDATE access_key SET secrets = $3 WHERE access_key = $1 AND secrets = $2 AND revoked_at IS NULL",
);
static REVOKE: Stmt = Stmt::written(
    "access_key.revoke",
    "UPDATE access_key SET revoked_at = {{now}} WHERE access_key = $2 AND revoked_at IS NULL",
);
static SUSPEND: Stmt = Stmt::written(
    "access_key.suspend",
    "UPDATE access_key SET suspended = $2 WHERE access_key = $1",
);
static ALLOW: Stmt = Stmt::written(
    "access_key.allow",
    "UPDATE access_key SET allowed_ips = $2 WHERE access_key = $1",
);

pub(crate) static STATEMENTS: &[&Stmt] =
    &[&INSERT, &ONE, &OF_TENANT, &SET_SECRETS, &REVOKE, &SUSPEND, &ALLOW];

#[derive(Clone)]
pub struct KeyRow {
    /// The public key id.
    pub access_key: String,
    /// The tenant that owns it.
    pub tenant: TenantId,
    /// Its use (`live_pay`, `test_wallet` …).
    pub use_name: String,
    /// Its secrets, newest first, expired ones included.
    pub secrets: Vec<KeySecret>,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was permanently revoked.
    pub revoked_at: Option<Timestamp>,
    /// Whether it is suspended.
    pub suspended: bool,
    /// Addresses and networks that may use it; empty = all.
    pub allowed_ips: Vec<String>,
}

impl KeyRow {
    /// The secrets that are valid at `now`, newest first.
    pub fn valid_secrets(&self, now: Timestamp) -> impl Iterator<Item = &SecretString> {
        secrets::valid(&self.secrets, now)
    }
}

impl fmt::Debug for KeyRow {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("KeyRow")
            .field("access_key", &self.access_key)
            .field("tenant", &self.tenant)
            .field("use_name", &self.use_name)
            .field("revoked_at", &self.revoked_at)
            .field("suspended", &self.suspended)
            .finish_non_exhaustive()
    }
}

fn place(tenant: TenantId, access_key: &str) -> AssociatedData<'_> {
    AssociatedData { tenant, column: "access_key.secrets", row: access_key.as_bytes() }
}

fn sealed(it: &KeyRow, keys: &Keys) -> Result<Made<Vec<u8>>, StoreError> {
    secrets::seal(&keys.vault, place(it.tenant, &it.access_key), &it.secrets).map(Made)
}

/// A key with its sealed secrets.
struct SealedKey(KeyRow, Vec<u8>);

record! {
    ACCESS_KEY = "access_key" of it: KeyRow read as SealedKey with keys {
        Key { access_key: String }
        Kept {
            tenant: TenantId, use_name: String, sealed as secrets: Made<Vec<u8>> = sealed(it, keys)?,
            created_at: Timestamp, revoked_at: Option<Timestamp>, suspended: bool,
            allowed_ips: Made<String> = Made(it.allowed_ips.join(" ")),
        }
    } => {
        let secrets = secrets::open(&keys.vault, place(tenant, &access_key), &sealed.0)?;
        let allowed_ips = split(&allowed_ips.0);
        let key = KeyRow {
            access_key, tenant, use_name, secrets, created_at, revoked_at, suspended, allowed_ips,
        };
        SealedKey(key, sealed.0)
    }
}

/// A key's facts for the audit log: everything except its secrets.
fn facts(key: &KeyRow) -> Facts {
    let state = match (key.revoked_at, key.suspended) {
        (Some(_), _) => "revoked",
        (None, true) => "suspended",
        (None, false) => "active",
    };
    let secrets = i64::try_from(key.secrets.len()).unwrap_or(i64::MAX);
    let facts =
        Facts::new().text("use", &key.use_name).text("state", state).number("secrets", secrets);
    facts.text("allowed_ips", key.allowed_ips.join(" "))
}

/// Addresses are stored in one column, separated by spaces.
fn split(text: &str) -> Vec<String> {
    text.split_ascii_whitespace().map(str::to_owned).collect()
}

impl Store {
    /// Adds an access key.
    ///
    /// # Errors
    /// `Conflict` if it exists already.
    pub async fn insert_key(
        &self,
        key: &KeyRow,
        by: impl Into<AuditContext>,
    ) -> Result<(), StoreError> {
        let note = Note::new("key.create", "access_key", &key.access_key).after(facts(key));
        let row = whole_rows(std::slice::from_ref(key), &*self.id_keys().await?)?;
        self.noted(key.tenant, by.into(), note, vec![Step::each(&INSERT, row)]).await
    }

    /// Returns an access key with its secrets opened.
    ///
    /// # Errors
    /// The database cannot be reached, or the secrets do not open.
    pub async fn key(&self, access_key: &str) -> Result<Option<KeyRow>, StoreError> {
        let found: Option<SealedKey> = self.one(&ONE, access_key).await?;
        Ok(found.map(|SealedKey(key, _)| key))
    }

    /// A tenant's access keys, oldest first.
    ///
    /// # Errors
    /// The database cannot be reached, or secrets do not open.
    pub async fn keys(&self, tenant: TenantId) -> Result<Vec<KeyRow>, StoreError> {
        let keys: Vec<SealedKey> = self.many(&OF_TENANT, tenant).await?;
        Ok(keys.into_iter().map(|SealedKey(key, _)| key).collect())
    }

    /// Adds a new secret to a key; the previous one stays valid for `overlap`, older ones until
    /// their announced expiry.
    ///
    /// # Errors
    /// `NotFound` if the key does not exist; `Conflict` if it is revoked or was changed
    /// concurrently, or the maximum number is valid already.
    pub async fn rotate_key(
        &self,
        access_key: &str,
        secret: SecretString,
        overlap: Span,
        by: impl Into<AuditContext>,
    ) -> Result<(), StoreError> {
        let found = self.one(&ONE, access_key).await?;
        let SealedKey(mut key, old) = found.ok_or(StoreError::NotFound("access key"))?;
        let before = facts(&key);
        let now = self.options().clock.now();
        secrets::rotate(&mut key.secrets, secret, overlap, now, secrets::OF_KEY)?;
        let after = facts(&key).number("overlap_s", overlap.0 / 1_000_000);
        let note = Note::new("key.rotate", "access_key", access_key).before(before).after(after);
        let params =
            vec![access_key.into(), old.into(), sealed(&key, &*self.id_keys().await?)?.0.into()];
        self.noted(key.tenant, by.into(), note, vec![Step::one(&SET_SECRETS, params)]).await
    }

    /// Permanently revokes a key.
    ///
    /// # Errors
    /// `Conflict` if the key does not exist or is revoked already.
    pub async fn revoke_key(
        &self,
        access_key: &str,
        by: impl Into<AuditContext>,
    ) -> Result<(), StoreError> {
        let params = vec![self.now_param(), access_key.into()];
        let now = self.options().clock.now();
        self.change_key(access_key, "key.revoke", by.into(), Step::one(&REVOKE, params), |key| {
            key.revoked_at = Some(now)
        })
        .await
    }

    /// Suspends or resumes a key.
    ///
    /// # Errors
    /// `Conflict` if the key does not exist.
    pub async fn suspend_key(
        &self,
        access_key: &str,
        suspended: bool,
        by: impl Into<AuditContext>,
    ) -> Result<(), StoreError> {
        let action = if suspended { "key.suspend" } else { "key.resume" };
        let step = Step::one(&SUSPEND, vec![access_key.into(), i64::from(suspended).into()]);
        self.change_key(access_key, action, by.into(), step, |key| key.suspended = suspended).await
    }

    /// Restricts a key to these addresses and networks; none = no restriction.
    ///
    /// # Errors
    /// `Conflict` if the key does not exist.
    pub async fn set_key_ips(
        &self,
        access_key: &str,
        allowed_ips: &[String],
        by: impl Into<AuditContext>,
    ) -> Result<(), StoreError> {
        let step = Step::one(&ALLOW, vec![access_key.into(), allowed_ips.join(" ").into()]);
        self.change_key(access_key, "key.allow", by.into(), step, |key| {
            key.allowed_ips = allowed_ips.to_vec()
        })
        .await
    }

    /// Changes an existing key and records its state before and after.
    async fn change_key(
        &self,
        access_key: &str,
        action: &str,
        deed: AuditContext,
        step: Step,
        change: impl Fn(&mut KeyRow) + Send + Sync,
    ) -> Result<(), StoreError> {
        let read = async || {
            let found = self.key(access_key).await?;
            found.ok_or_else(|| {
                StoreError::Conflict(format!("access key {access_key} does not exist"))
            })
        };
        let tenant = read().await?.tenant;
        let (step, change, read) = (&step, &change, &read);
        let changed = async || {
            let mut key = read().await?;
            let before = facts(&key);
            change(&mut key);
            Ok((
                Note::new(action, "access_key", access_key).before(before).after(facts(&key)),
                vec![step.clone()],
            ))
        };
        self.noted_as_read(tenant, deed, changed).await
    }
}
